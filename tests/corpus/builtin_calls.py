"""Python's own sum, min, max, abs, len, round, float, int, divmod, pow, and .item()."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(3, 2, seed=1), kinds="sum")
def sum_of_rows(X):
    total = sum(X)
    return np.sum(total**2)


@case(0.4, 0.9, wrt=("a", "b"), kinds="sum")
def sum_with_start(a, b):
    return sum([a * b, a, b], a**2)


@case([draw(2, seed=2), draw(2, seed=3)], wrt="ws", kinds="sum")
def sum_of_generator(ws):
    return sum(np.sum(w**2) for w in ws) + sum((w[0] for w in ws))


@case(0.4, 0.9, -0.3, wrt=("a", "b", "c"), kinds="min_max")
def median_of_three(a, b, c):
    return a + b + c - min(a, b, c) - max(a, b, c) * 0.5


@case(positive(5, seed=4), kinds="min_max")
def range_of_array(x):
    return (max(x) - min(x)) ** 2


@case(0.8, kinds="min_max")
def clip_by_hand(x):
    return max(0.0, min(1.0, x)) ** 2 + max(x, 5.0)


@case(draw(4, 2, seed=5), kinds="min_max", generic=False)
def farthest_point(P):
    far = max(P, key=lambda p: p[0] ** 2 + p[1] ** 2)
    return far[0] * far[1]


@case(-1.3, draw(3, seed=6), wrt=("x", "v"), kinds="abs")
def abs_scalar_and_array(x, v):
    return abs(x) ** 3 + np.sum(abs(v) * x)


@case(draw(4, seed=7), kinds="abs")
def total_variation(x):
    tv = 0.0
    for i in range(len(x) - 1):
        tv += abs(x[i + 1] - x[i])
    return tv


@case(0.6, kinds="abs")
def abs_of_complex(x):
    z = np.exp(1j * x) + 0.5
    return abs(z) ** 2


@case(draw(4, seed=8), kinds="len")
def mean_by_len(x):
    return sum(x) / len(x) * x[0]


@case(draw(3, 4, seed=9), kinds="len")
def len_of_everything(A):
    names = ["a", "b"]
    table = {"k": 1.0, "l": 2.0}
    return np.sum(A) ** 2 * len(A) + len(A[0]) * A[0, 0] * len(names) + len(table)


@case(
    {"W": draw(2, 2, seed=10), "b": draw(2, seed=11)},
    wrt="p",
    kinds="len",
    generic=False,
)
def len_of_parameter(p):
    return sum(np.sum(v**2) for v in p.values()) / len(p)


@case(2.37, kinds="round")
def round_to_integer(x):
    return x * round(x) + x


@case(1.2345, kinds="round")
def fractional_part(x):
    return (x - round(x)) ** 2 * 3.0


@case(positive(4, seed=12), kinds="round")
def round_with_digits(x):
    q = round(float(x[0]), 1)
    return q * np.sum(x**2)


@case(draw(3, seed=13), kinds="float")
def float_of_element(x):
    a = float(x[1])
    return a**2 * float(np.sum(x))


@case(0.7, kinds="float")
def float_of_number(x):
    y = float(x) * float(2)
    return float(np.float64(y) ** 2)


@case(draw(1, seed=14), kinds="float")
def float_of_result(w):
    loss = np.dot(w, w) + w[0]
    return float(loss)


@case(3.7, kinds="int")
def int_has_no_gradient(x):
    n = int(x)
    return n * x**2


@case(draw(5, seed=15), 2.2, wrt="x", kinds="int")
def int_as_index(x, position):
    i = int(position)
    frac = position - i
    return (1 - frac) * x[i] ** 2 + frac * x[i + 1]


@case(positive(4, seed=16), kinds="int")
def int_of_sum(x):
    k = int(np.sum(x > 1.0)) + 1
    return x[0] ** k + np.sum(x)


@case(draw(3, seed=17), kinds="item")
def item_of_element(x):
    a = x[0].item()
    b = x.sum().item()
    return a * b


@case(draw(2, 2, seed=18), kinds="item")
def item_with_index(A):
    return A.item(0, 1) ** 2 + A.item(3)


@case(np.array(1.7), kinds="item")
def item_of_zero_d(x):
    v = x.item()
    return v**3


@case(0.9, kinds="pow")
def builtin_pow(x):
    return pow(x, 3) + pow(2.0, x)


@case(5.3, kinds="divmod", tol=1e-6)
def modulo_and_floor(x):
    q, r = divmod(x, 2.0)
    return r**2 + q * x + (x % 1.5) * (x // 1.5)


@case(draw(4, seed=19), kinds="any_all")
def any_and_all(x):
    if all(v > -10 for v in x) and any(x > 0):
        return np.sum(x**2)
    return np.sum(x)


@case(draw(4, seed=20), kinds="range_len")
def list_of_range(x):
    idx = list(range(len(x)))
    return sum(x[i] ** 2 * i for i in idx[1:])
