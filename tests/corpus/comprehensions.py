"""Comprehensions: with conditions, nested, over dicts, and generator expressions."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(4, seed=1), kinds="comprehension")
def squares(x):
    return np.sum(np.array([v**2 for v in x]) * np.arange(1.0, 5.0))


@case(0.7, kinds="comprehension")
def polynomial_features(x):
    phi = np.array([x**k for k in range(4)])
    return phi @ np.array([0.5, -1.0, 2.0, 0.25])


@case(draw(3, 2, seed=2), draw(2, seed=3), wrt=("centres", "x"), kinds="comprehension")
def rbf_features(centres, x):
    phi = [np.exp(-np.sum((x - c) ** 2)) for c in centres]
    return sum(phi) ** 2 + phi[0]


@case(draw(6, seed=4), kinds="comprehension_if")
def conditional_comprehension(x):
    kept = [v**2 for v in x if v > -0.5]
    return sum(kept) / len(kept)


@case(draw(5, seed=5), kinds="comprehension_if")
def condition_on_index(x):
    odd = [x[i] * i for i in range(len(x)) if i % 2 == 1]
    return np.prod(np.array(odd))


@case(draw(4, seed=6), kinds="comprehension_if")
def ternary_in_comprehension(x):
    y = np.array([v if v > 0 else 0.1 * v for v in x])
    return np.sum(y**2)


@case(draw(3, seed=7), kinds="comprehension_nested")
def outer_product_by_comprehension(x):
    K = np.array([[np.exp(-((a - b) ** 2)) for b in x] for a in x])
    return np.sum(K * np.array([[1.0, 2.0, 0.5], [0.1, 1.0, 3.0], [2.0, 1.0, 1.0]]))


@case(draw(3, seed=8), kinds="comprehension_nested")
def pairs(x):
    products = [x[i] * x[j] for i in range(3) for j in range(i)]
    return sum(p**2 for p in products)


@case(draw(2, 3, seed=9), kinds="comprehension_nested comprehension_if")
def flattened_with_condition(A):
    flat = [v**3 for row in A for v in row if v < 1.0]
    return sum(flat)


@case(draw(3, seed=10), kinds="comprehension_dict")
def dict_comprehension(x):
    d = {i: x[i] ** 2 for i in range(3)}
    return d[0] * d[1] + d[2]


@case({"a": 0.3, "b": 0.8}, wrt="p", kinds="comprehension_dict", generic=False)
def map_over_dict(p):
    q = {k: np.exp(v) for k, v in p.items()}
    return q["a"] * q["b"] + q["a"]


@case(
    {"w": draw(2, seed=11), "v": draw(2, seed=12)},
    {"w": 0.1 * draw(2, seed=13), "v": 0.2 * draw(2, seed=14)},
    wrt=("p", "g"),
    kinds="comprehension_dict",
    generic=False,
)
def sgd_step_loss(p, g):
    new = {k: p[k] - 0.5 * g[k] for k in p}
    return np.sum(new["w"] * new["v"])


@case(draw(4, seed=15), kinds="generator")
def sum_generator(x):
    return sum(v * w for v, w in zip(x, x[1:]))


@case(positive(4, seed=16), kinds="generator")
def max_of_generator(x):
    return max(v**2 for v in x) + min(np.log(v) for v in x)


@case(draw(3, seed=17), kinds="generator")
def tuple_of_generator(x):
    a, b, c = (np.tanh(v) for v in x)
    t = tuple(v * 2 for v in (a, b))
    return a * b * c + t[1]


@case(draw(3, seed=18), kinds="comprehension closure")
def scope_of_comprehension(x):
    v = 10.0
    ys = [v * 2 for v in x]
    return ys[0] * v + ys[1]


@case(0.5, 4, wrt="x", kinds="comprehension range_runtime")
def runtime_length_comprehension(x, n):
    return np.sum(np.array([np.sin(k * x) for k in range(1, n + 1)]) ** 2)


@case(draw(5, seed=19), kinds="comprehension_if set")
def set_membership(x):
    skip = {0, 3}
    return sum(x[i] ** 2 for i in range(5) if i not in skip)
