"""Control flow where a name's value, type or existence depends on the path taken."""

from __future__ import annotations

import math

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(4, seed=1), kinds="for_array")
def integer_becomes_float(x):
    total = 0
    for v in x:
        total = total + v * v
    return total


@case(draw(2, 3, seed=2), kinds="for_array")
def number_becomes_array(X):
    total = 0
    for row in X:
        total += row**2
    return np.sum(total * np.array([1.0, 2.0, 3.0]))


@case(draw(5, seed=3), kinds="if for_array")
def first_defined_in_the_loop(x):
    for i, v in enumerate(x):
        if i == 0:
            best = v
        elif v > best:
            best = v
    return best**2


@case(0.4, True, wrt="x", kinds="if bool_option")
def defined_on_one_branch(x, double):
    if double:
        factor = 2.0 * x
    y = x**2
    if double:
        y = y * factor
    return y


@case(1.4, kinds="if")
def defined_on_one_runtime_branch(x):
    if x > 1.0:
        extra = x**2
    y = x
    if x > 1.0:
        y = y + extra
    return y


@case(draw(6, seed=4), kinds="break if")
def found_in_a_loop(x):
    found = None
    for v in x:
        if v < -0.2:
            found = v
            break
    if found is None:
        return np.sum(x)
    return found**3


@case(positive(5, seed=5), kinds="early_return helper return_in_loop")
def helper_returns_from_loop(x):
    def first_above(level):
        for v in x:
            if v > level:
                return v**2
        return 0.1 * x[0]

    total = 0.0
    for level in [0.5, 1.0, 5.0]:
        total += first_above(level)
    return total


@case(positive(4, seed=31), kinds="continue nested_loops break")
def break_continue_and_else(x):
    total = 0.0
    for i in range(4):
        for j in range(4):
            if j == i:
                continue
            if x[j] > 1.0:
                break
            total += x[i] * x[j]
        else:
            total += x[i] ** 2
            continue
        total *= 0.9
    return total


@case(0.9, kinds="while nested_loops")
def while_inside_for(x):
    total = 0.0
    for k in range(1, 5):
        y = x * k
        while y > 1.0:
            y = y - 1.0 + 0.1 * math.sin(y)
        total += y * k
    return total


@case(3.2, kinds="while nested_loops")
def for_inside_while(x):
    while x > 0.5:
        s = 0.0
        for k in range(3):
            s += x ** (k + 1) / 10.0
        x = 0.6 * x + 0.01 * s
    return x**2


@case(draw(5, seed=7), kinds="if nested_loops")
def running_extremes(x):
    lo = hi = x[0]
    score = 0.0
    for v in x[1:]:
        if v > hi:
            hi = v
        elif v < lo:
            lo = v
        score += (hi - lo) ** 2
    return score


@case(draw(4, seed=8), kinds="match for_list")
def interpreter(x):
    program = [("load", 0), ("mul", 1), ("sin", None), ("add", 2), ("mul", 3)]
    acc = 0.0
    for op, arg in program:
        if op == "load":
            acc = x[arg]
        elif op == "mul":
            acc = acc * x[arg]
        elif op == "add":
            acc = acc + x[arg]
        elif op == "sin":
            acc = math.sin(acc)
    return acc


@case(0.3, kinds="while walrus break")
def while_true_two_exits(x):
    n = 0
    while True:
        n += 1
        x = x + 0.3 * x * (1.0 - x)
        if x > 0.8:
            y = x * 2.0
            break
        if n > 30:
            y = x
            break
    return y


@case(draw(3, seed=9), kinds="ternary and_or_not")
def short_circuits(x):
    a = x[0] > 0 and math.log(abs(x[0])) > -5.0
    b = x[1] if a or x[2] > 0 else x[2]
    return b * np.sum(x) + (1.0 if not a else 2.0) * x[0]


@case(draw(3, seed=10), kinds="ternary")
def ternary_of_arrays(x):
    y = np.exp(x) if np.sum(x) > 0 else np.cos(x)
    z = y if y[0] > y[1] else y[::-1]
    return np.sum(z * np.arange(3.0))


@case(4, 0.3, wrt="x", kinds="range_runtime")
def bound_changes_in_the_loop(n, x):
    total = 0.0
    for i in range(n):
        n = n + 1
        total += x**n
    return total * n


@case(draw(4, seed=11), kinds="for_array")
def loop_variable_reassigned(x):
    total = 0.0
    for v in x:
        v = v * v
        if v > 0.5:
            v = math.sqrt(v)
        total += v
    return total + v


@case(0.7, kinds="closure while")
def closure_changed_by_a_loop(x):
    k = 0.0

    def f(v):
        return v * x + k

    total = 0.0
    while k < 3.0:
        total += f(total)
        k += 1.0
    return total


@case(0.8, kinds="recursion")
def mutual_recursion(x):
    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x)

    def odd(n, v):
        return v + 1.0 if n == 0 else even(n - 1, v + x)

    return even(6, 1.0) * odd(3, x)


def adaptive_simpson(f, a, b, depth):
    m = 0.5 * (a + b)
    whole = (b - a) / 6.0 * (f(a) + 4.0 * f(m) + f(b))
    left = (m - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + m)) + f(m))
    right = (b - m) / 6.0 * (f(m) + 4.0 * f(0.5 * (m + b)) + f(b))
    if depth == 0 or abs(left + right - whole) < 1e-4:
        return left + right
    return adaptive_simpson(f, a, m, depth - 1) + adaptive_simpson(f, m, b, depth - 1)


@case(1.3, 2.0, wrt=("k", "b"), kinds="recursion lambda", generic=False)
def adaptive_quadrature(k, b):
    return adaptive_simpson(lambda t: math.exp(-k * t * t), 0.0, b, 3)


@case(draw(3, seed=12), kinds="early_return")
def return_before_anything(x):
    if len(x) == 0:
        return 0.0
    if x.ndim > 1:
        return np.sum(x)
    return np.prod(x)


@case(draw(4, seed=13), kinds="for_array")
def unused_loop(x):
    y = np.sum(x**2)
    z = 0.0
    for v in x:
        z += v * 2.0
    print(f"{z:.3f}")
    return y


@case(0.5, kinds="while")
def zero_trips(x):
    y = x
    while y > 100.0:
        y = y * y
    return y * x


@case(draw(5, seed=14), kinds="sorted for_list", generic=False)
def greedy_pairs(x):
    order = sorted(range(len(x)), key=lambda i: x[i])
    total = 0.0
    for a, b in zip(order[::2], order[1::2]):
        total += x[a] * x[b] ** 2
    return total


@case(draw(6, seed=15), 3, wrt="x", kinds="while deque append")
def moving_window(x, width):
    window = []
    total = 0.0
    for v in x:
        window.append(v)
        if len(window) > width:
            window.pop(0)
        total += (sum(window) / len(window)) ** 2
    return total


@case(0.6, kinds="dict while", generic=False)
def state_in_a_dict(x):
    s = {"pos": x, "vel": 1.0, "n": 0}
    while s["n"] < 5:
        s["vel"] -= 0.1 * s["pos"]
        s["pos"] += 0.1 * s["vel"]
        s["n"] += 1
    return s["pos"] ** 2


@case(0.5, 1.5, wrt=("x", "y"), kinds="tuple while")
def state_in_a_tuple(x, y):
    state = (x, y)
    for _ in range(3):
        a, b = state
        state = (a * b, a + 0.5 * b)
    return state[0] - state[1] ** 2


@case(positive(3, seed=16), kinds="list while")
def state_in_a_list(x):
    s = [x[0], x[1], x[2]]
    for k in range(4):
        s[k % 3] = s[k % 3] * 0.5 + s[(k + 1) % 3] ** 2
    return s[0] + s[1] * s[2]


@case(0.7, kinds="runtime_list min_max")
def largest_of_a_grown_list(x):
    items = [x]
    if x < 0.0:
        items.append(2.0)
    return max(items) + sum(items)


@case(draw(4, seed=17), kinds="runtime_list min_max")
def running_maximum_by_list(a):
    items = [0.1]
    total = 0.0
    for v in a:
        total += max(items) - min(items)
        items.append(v)
    return total * max(items)


@case(0.41, kinds="list min_max")
def largest_of_one(x):
    items = [x]
    return max(items) * min(items, default=0.0)


@case(draw(3, seed=18), kinds="return_in_loop nested_loops")
def return_from_inner_of_two_zips(a):
    s = a[0]
    for u, v in zip(a, a):
        for p, q in zip(a, a):
            if u * q > 0.4:
                return s * p + v
            s = s + p * u
    return s


@case(draw(3, seed=19), draw(3, seed=21), wrt=("a", "b"), kinds="augassign_array if")
def in_place_in_an_inner_loop(a, b):
    for i in range(len(a) - 1, -1, -1):
        if b[i] > 0.2:
            for _ in range(2):
                a *= b
            a[0] = 0.3
        else:
            a[a > 0.5] = 0.83
    return np.sum(a * b)
