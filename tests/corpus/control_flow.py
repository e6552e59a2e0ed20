"""Branches: if, elif, else, ternaries, boolean operators, chains, `in` and walrus."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(0.8, 2.5, 1.0, wrt=("a", "r"), kinds="if elif")
def huber(a, r, delta):
    e = a * r - 1.2
    if abs(e) <= delta:
        return 0.5 * e**2
    else:
        return delta * (abs(e) - 0.5 * delta)


@case(1.7, kinds="if elif")
def cubic_spline_kernel(q):
    sigma = 2.0 / 3.0
    if q < 1.0:
        w = 1.0 - 1.5 * q**2 + 0.75 * q**3
    elif q < 2.0:
        w = 0.25 * (2.0 - q) ** 3
    else:
        w = 0.0
    return sigma * w


@case(52000.0, 0.02, wrt=("income", "rate"), kinds="if elif")
def tax(income, rate):
    due = 0.0
    if income > 40000:
        due += rate * (income - 40000) * 20
        top = 40000
    elif income > 10000:
        top = income
    else:
        return 0.0 * income
    due = due + 0.2 * (top - 10000)
    return due / 1000.0


@case(draw(4, seed=1), draw(4, seed=2), wrt=("w", "x"), kinds="if")
def signed_margin(w, x):
    m = np.dot(w, x)
    if m > 0:
        loss = np.log1p(np.exp(-m))
    if m <= 0:
        loss = np.log1p(np.exp(m)) - m
    return loss + 0.01 * np.sum(w**2)


@case(draw(5, seed=3), kinds="if")
def nested_branches(x):
    s = x.sum()
    y = x
    if s > 0:
        if x[0] > 0:
            y = x * s
        else:
            y = x - s
    elif x[1] > 0:
        y = np.exp(x)
    else:
        y = np.sin(x) * s
    return np.sum(y * y)


@case(0.3, kinds="ternary")
def leaky(x):
    slope = 1.0 if x > 0 else 0.01
    return slope * x**2


@case(draw(6, seed=4), kinds="ternary")
def ternary_chain(x):
    m = np.mean(x)
    gain = 2.0 if m > 0.5 else (m * 3.0 if m > -0.5 else np.cos(m))
    return gain * np.sum(x**2)


@case(1.4, -0.6, wrt=("a", "b"), kinds="ternary")
def softabs_pair(a, b):
    larger = a if a > b else b
    smaller = b if a > b else a
    return larger + np.log1p(np.exp(smaller - larger))


@case(0.4, 1.1, wrt=("x", "y"), kinds="and_or_not")
def in_unit_box(x, y):
    if x > 0 and x < 1 and y > 0 and y < 1:
        return x * y
    return x**2 + y**2


@case(1.3, -0.2, wrt=("x", "y"), kinds="and_or_not")
def quadrant(x, y):
    inside = x > 0 or y > 0
    if not inside:
        return x + y
    if not (x < 0) and not (y > 0):
        return x**2 - x * y
    return np.sin(x) * y


@case(0.0, 0.7, wrt="scale", kinds="and_or_not")
def default_by_or(temperature, scale):
    t = temperature or 2.0
    return np.exp(-scale / t) * t


@case(2.5, kinds="and_or_not")
def guarded_division(x):
    ok = x != 0 and 1.0 / x < 1.0
    return x * x if ok else -x


@case(0.55, kinds="chained")
def smoothstep(t):
    if 0.0 < t < 1.0:
        return t * t * (3.0 - 2.0 * t)
    return 0.0 if t <= 0 else 1.0


@case(0.2, 0.5, 0.9, wrt=("a", "b", "c"), kinds="chained")
def ordered(a, b, c):
    if a < b <= c:
        return (b - a) * (c - b)
    return a * b * c


@case(draw(5, seed=5), kinds="chained")
def band_energy(x):
    e = 0.0
    for v in x:
        if -0.8 <= v < 0.8:
            e += v**2
        else:
            e += abs(v)
    return e


@case(positive(4, seed=6), "relu", wrt="x", kinds="in")
def activation_by_name(x, kind):
    if kind in ("relu", "lrelu"):
        h = np.maximum(x - 0.9, 0.0)
    elif kind not in {"tanh", "sigmoid"}:
        h = x
    else:
        h = np.tanh(x)
    return np.sum(h**2)


@case(draw(6, seed=7), kinds="in")
def skip_some_indices(x):
    total = 0.0
    for i in range(len(x)):
        if i in (1, 4):
            continue
        total += x[i] ** 3
    return total


@case(
    {"w": draw(3, seed=8), "b": 0.4},
    draw(3, seed=9),
    wrt="p",
    kinds="in",
    generic=False,
)
def optional_bias(p, x):
    z = p["w"] @ x
    if "b" in p:
        z = z + p["b"]
    if "scale" in p:
        z = z * p["scale"]
    return z**2


@case(draw(4, seed=10), kinds="walrus")
def normalised_if_long(x):
    if (n := np.sqrt(np.sum(x**2))) > 1.0:
        x = x / n
    return np.sum(x**3) * n


@case(1.5, kinds="walrus")
def walrus_in_expression(x):
    y = (t := np.tanh(x)) * (1.0 - t**2)
    return y + t


@case(9.0, kinds="walrus while")
def halve_until_small(x):
    steps = 0
    while (x := x * 0.5) > 1.0:
        steps += 1
    return x * steps


@case(positive(5, seed=11), kinds="walrus comprehension_if")
def walrus_in_comprehension(x):
    return sum(y * y for v in x if (y := np.log(v)) > -0.5)
