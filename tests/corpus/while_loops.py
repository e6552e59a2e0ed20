"""`while` with a data-dependent number of trips, `break`, `continue`, loop `else`."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(7.0, kinds="while")
def babylonian_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


@case(0.9, 0.3, wrt=("M", "e"), kinds="while")
def kepler(M, e):
    E = M
    delta = 1.0
    while abs(delta) > 1e-13:
        delta = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E = E - delta
    return np.cos(E)


@case(0.2, 1.1, wrt=("x", "growth"), kinds="while")
def grow_to_threshold(x, growth):
    t = 0
    while x < 1.0:
        x = x * growth + 0.01
        t += 1
    return x + 0.001 * t


@case(draw(3, seed=1), kinds="while")
def shrink_array(x):
    while np.sum(x**2) > 0.5:
        x = 0.7 * x
    return np.sum(x**3)


@case(positive(6, seed=2), kinds="while")
def while_with_index(x):
    i = 0
    s = 0.0
    while i < len(x):
        s += x[i] * x[len(x) - 1 - i]
        i += 2
    return s


@case(1.0, 1.5, wrt=("a", "b"), kinds="while")
def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-12:
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return a


@case(positive(8, seed=3), kinds="break")
def stop_when_enough(x):
    total = 0.0
    for v in x:
        total += v**2
        if total > 3.0:
            break
    return total


@case(1.7, kinds="break while")
def newton_with_break(y):
    x = 1.0
    while True:
        f = np.exp(x) - y - x
        if abs(f) < 1e-12:
            break
        x -= f / (np.exp(x) - 1.0)
    return x**2


@case(draw(4, 3, seed=4), kinds="break nested_loops")
def inner_break(A):
    s = 0.0
    for row in A:
        for v in row:
            if v < -0.5:
                break
            s += v**2
        s *= 1.1
    return s


@case(draw(8, seed=5), kinds="continue")
def skip_negatives(x):
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s += np.sqrt(v)
    return s


@case(draw(7, seed=6), kinds="continue break")
def continue_and_break(x):
    acc = 1.0
    for i in range(len(x)):
        if x[i] < -1.0:
            continue
        acc = acc * (1.0 + 0.1 * x[i])
        if acc > 1.2:
            break
        acc += 0.01 * x[i] ** 2
    return acc


@case(draw(6, seed=7), kinds="continue while")
def while_continue(x):
    i = -1
    s = 0.0
    while i < len(x) - 1:
        i += 1
        if i % 2 == 0:
            continue
        s = s + x[i] ** 3
    return s


@case(positive(5, seed=8), kinds="loop_else break")
def else_not_reached(x):
    for v in x:
        y = v * 2.0
        if v > 1.2:
            y = v**3
            break
    else:
        y = np.sum(x)
    return y


@case(positive(4, seed=9), kinds="loop_else break")
def else_reached(x):
    s = 0.0
    for v in x:
        if v > 50.0:
            break
        s += np.log(v)
    else:
        s = s * x[0]
    return s


@case(2.0, kinds="loop_else while")
def while_else(x):
    n = 0
    while x > 1.0:
        x = 0.6 * x
        n += 1
    else:
        x = x**2 + n
    return x


@case(0.6, 0.2, wrt=("c_re", "c_im"), kinds="while break")
def escape_time(c_re, c_im):
    zr, zi = 0.0, 0.0
    for k in range(50):
        zr, zi = zr * zr - zi * zi + c_re, 2 * zr * zi + c_im
        r2 = zr * zr + zi * zi
        if r2 > 16.0:
            break
    return k + 1 - np.log2(0.5 * np.log(r2))
