"""`for` over arrays, lists, zip, enumerate, reversed and dictionaries."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(5, seed=1), kinds="for_array")
def logsumexp_by_loop(x):
    m = np.max(x)
    s = 0.0
    for v in x:
        s += np.exp(v - m)
    return m + np.log(s)


@case(draw(2, 3, seed=2), draw(4, 3, seed=3), wrt=("W", "X"), kinds="for_array")
def rows_of_matrix(W, X):
    total = 0.0
    for x in X:
        h = np.tanh(W @ x)
        total += h @ h
    return total / len(X)


@case(draw(6, seed=4), 0.3, wrt=("ys", "alpha"), kinds="for_array")
def exponential_smoothing(ys, alpha):
    level = ys[0]
    sse = 0.0
    for y in ys[1:]:
        sse += (y - level) ** 2
        level = alpha * y + (1 - alpha) * level
    return sse


@case(
    [draw(2, 2, seed=5), draw(2, 2, seed=6), draw(2, 2, seed=7)],
    draw(2, seed=8),
    wrt=("Ws", "x"),
    kinds="for_list",
)
def deep_chain(Ws, x):
    for W in Ws:
        x = np.tanh(W @ x)
    return np.sum(x)


@case(0.8, kinds="for_list")
def list_of_constants(x):
    s = 0.0
    for c in [1.0, -0.5, 0.25]:
        s = s * x + c
    return s**2


@case(1.2, 0.3, wrt=("a", "b"), kinds="for_list")
def list_of_computed(a, b):
    total = 1.0
    for z in [a * b, a + b, np.sin(a)]:
        total *= z
    return total


@case(
    [(draw(3, 2, seed=9), draw(3, seed=10)), (draw(1, 3, seed=11), draw(1, seed=12))],
    draw(2, seed=13),
    wrt="layers",
    kinds="for_list",
    generic=False,
)
def mlp_layers(layers, x):
    for W, b in layers:
        x = np.tanh(W @ x + b)
    return x[0] ** 2


@case(
    draw(4, seed=14),
    draw(4, seed=15),
    positive(4, seed=16),
    wrt=("mu", "s"),
    kinds="zip",
)
def weighted_residuals(mu, y, s):
    nll = 0.0
    for m, v, sd in zip(mu, y, s):
        nll += 0.5 * ((v - m) / sd) ** 2 + np.log(sd)
    return nll


@case(
    [draw(2, 3, seed=17), draw(2, seed=18)],
    [0.3, 0.7],
    wrt=("parts", "lams"),
    kinds="zip",
    generic=False,
)
def penalties(parts, lams):
    return sum(lam * np.sum(p**2) for p, lam in zip(parts, lams))


@case(draw(5, 2, seed=19), draw(5, seed=20), draw(2, seed=21), wrt="w", kinds="zip")
def perceptron_hinge(X, y, w):
    loss = 0.0
    for x, t in zip(X, np.sign(y)):
        margin = t * (w @ x)
        if margin < 1.0:
            loss += 1.0 - margin
    return loss + 0.05 * w @ w


@case(draw(4, seed=22), kinds="enumerate")
def moments(x):
    s = 0.0
    for k, v in enumerate(x):
        s += (k + 1) * v ** (k + 1)
    return s


@case(draw(3, 2, seed=23), 0.9, wrt=("R", "g"), kinds="enumerate")
def discount_rows(R, g):
    total = 0.0
    for t, r in enumerate(R, start=1):
        total = total + g**t * np.sum(r * r)
    return total


@case((0.5, 1.5, -0.7), wrt="c", kinds="enumerate")
def polynomial_of_tuple(c):
    p = 0.0
    for k, a in enumerate(c):
        p += a * 1.3**k
    return np.exp(-p * p)


@case(draw(5, seed=24), kinds="reversed")
def reversed_array(x):
    acc = 0.0
    for v in reversed(x):
        acc = np.tanh(acc + v)
    return acc


@case([draw(2, 2, seed=25), draw(2, 2, seed=26)], wrt="Ms", kinds="reversed")
def product_from_the_right(Ms):
    P = np.eye(2)
    for M in reversed(Ms):
        P = M @ P
    return np.trace(P)


@case(0.4, 6, wrt="x", kinds="reversed")
def reversed_range(x, n):
    v = 0.0
    for k in reversed(range(n)):
        v = v * x + (k + 1)
    return v


@case(
    {"a": draw(2, seed=27), "b": draw(3, seed=28)},
    wrt="params",
    kinds="dict_items",
    generic=False,
)
def ridge_over_dict(params):
    reg = 0.0
    for name, p in params.items():
        reg += np.sum(p**2) * (2.0 if name == "a" else 1.0)
    return reg


@case(
    {"x": 0.3, "y": -1.2, "z": 0.8},
    {"x": 1.0, "y": 2.0, "z": 0.5},
    wrt=("point", "scale"),
    kinds="dict_items",
    generic=False,
)
def scaled_distance(point, scale):
    d = 0.0
    for key, v in point.items():
        d += (v / scale[key]) ** 2
    return np.sqrt(d)


@case(0.7, kinds="dict_items")
def local_dict_of_terms(x):
    terms = {"lin": x, "quad": x**2, "cub": x**3}
    coefficients = {"lin": 1.0, "quad": -0.5, "cub": 0.1}
    total = 0.0
    for k, t in terms.items():
        total += coefficients[k] * t
    for c in coefficients.values():
        total *= 1.0 + c
    return total


@case(draw(3, 2, seed=29), draw(3, seed=30), wrt="X", kinds="for_array enumerate zip")
def zip_of_enumerate(X, w):
    s = 0.0
    for i, (row, wi) in enumerate(zip(X, w)):
        s += (i + 1) * wi * np.prod(row)
    return s


@case(draw(2, 4, seed=31), kinds="for_array nested_loops")
def nested_array_loops(X):
    best = 0.0
    for row in X:
        acc = 1.0
        for v in row:
            acc = acc * (1.0 + v**2)
        best += np.log(acc)
    return best


@case(draw(3, 2, seed=32), kinds="for_array unpack", generic=False)
def unpack_rows(P):
    area = 0.0
    x0, y0 = P[-1]
    for x1, y1 in P:
        area += x0 * y1 - x1 * y0
        x0, y0 = x1, y1
    return 0.5 * area
