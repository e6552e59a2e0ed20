"""Gradients that people write: right ones, and ones that are wrong in no rule's way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RNG = np.random.default_rng(5)


@dataclass(frozen=True)
class Judged:
    """A loss, a gradient of it, and the arguments."""

    loss: Callable[..., Any]
    gradient: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[str, ...] | str = "x"


X3 = np.array([0.3, -1.2, 0.8])
X40 = RNG.normal(size=40).round(3)

WRONG: dict[str, Judged] = {}
RIGHT: dict[str, Judged] = {}


def wrong(*args: Any, wrt: Any = "x") -> Callable[..., Any]:
    def add(make: Callable[[], tuple[Any, Any]]) -> None:
        WRONG[make.__name__] = Judged(*make(), args, wrt)

    return add


def right(*args: Any, wrt: Any = "x") -> Callable[..., Any]:
    def add(make: Callable[[], tuple[Any, Any]]) -> None:
        RIGHT[make.__name__] = Judged(*make(), args, wrt)

    return add


def square(x):
    return np.sum(x**2)


def tanh(x):
    return np.sum(np.tanh(x))


# ---------------------------------------------------------------- wrong: index


@wrong(X3)
def one_index_off():
    def g(x):
        return np.roll(2 * x, 1)

    return square, g


@wrong(X40)
def last_entry_of_many():
    def g(x):
        d = 2 * x
        d[-1] = d[-2]
        return d

    return square, g


@wrong(X40)
def entry_thirty_one():
    def g(x):
        d = 2 * x
        d[31:32] *= 1.5
        return d

    return square, g


@wrong(X40)
def only_the_first_thirty():
    def g(x):
        d = 2 * x
        d[30:] = 0.0
        return d

    return square, g


@wrong(RNG.normal(size=(12, 9)).round(2))
def last_column():
    def g(x):
        d = 2 * x
        d[:, 8:] = 0
        return d

    return square, g


@wrong(RNG.normal(size=(7, 7)).round(2))
def transposed():
    def loss(x):
        return np.sum(np.triu(x) ** 2)

    def g(x):
        return 2 * np.triu(x).T

    return loss, g


@wrong(RNG.normal(size=50).round(2), np.arange(50) % 7)
def a_repeated_index_counts_once():
    def loss(x, k):
        return np.sum(x[k] ** 2)

    def g(x, k):
        d = np.zeros_like(x)
        d[k] += 2 * x[k]
        return d

    return loss, g


@wrong(X40)
def a_window_that_ends_early():
    def loss(x):
        return np.sum((x[1:] - x[:-1]) ** 2)

    def g(x):
        d = np.zeros_like(x)
        for i in range(len(x) - 2):
            r = 2 * (x[i + 1] - x[i])
            d[i + 1] += r
            d[i] -= r
        return d

    return loss, g


# ---------------------------------------------------------------- wrong: one branch


@wrong(1.5)
def the_other_branch():
    def loss(x):
        return x**2 if x > 0 else -3 * x

    def g(x):
        return 2 * x if x > 0 else 3.0

    return loss, g


@wrong(1.5)
def a_branch_far_away():
    def loss(x):
        return x**2

    def g(x):
        return 2 * x if x < 1000.0 else x

    return loss, g


@wrong(X3)
def a_mask_far_away():
    def g(x):
        return np.where(x > 50.0, x, 2 * x)

    return square, g


@wrong(X3)
def a_branch_on_the_sum():
    def g(x):
        if np.sum(x) < -200.0:
            return -2 * x
        return 2 * x

    return square, g


@wrong(np.array([0.5, 4.0, -3.0]))
def huber_inside_the_wrong_side():
    def loss(x):
        a = np.abs(x)
        return np.sum(np.where(a <= 1.0, 0.5 * x * x, a - 0.5))

    def g(x):
        return np.where(np.abs(x) <= 1.0, x, -np.sign(x))

    return loss, g


@wrong(0.7)
def a_branch_on_finiteness():
    def loss(x):
        return np.exp(x)

    def g(x):
        e = np.exp(x)
        return 1.0 if np.isfinite(e) else e

    return loss, g


@wrong(X3)
def a_branch_on_closeness():
    def g(x):
        return np.where(np.isclose(x, -1.2, atol=0.1), 0.0, 2 * x)

    return square, g


@wrong(X3)
def relu_mask_reversed():
    def loss(x):
        return np.sum(np.maximum(x, 0.0) ** 2)

    def g(x):
        return 2 * x * (x < 0)

    return loss, g


# ---------------------------------------------------------------- wrong: loops


@wrong(0.9)
def last_iteration():
    def loss(x):
        y = x
        for _ in range(6):
            y = np.sin(y) * x
        return y

    def g(x):
        y, d = x, 1.0
        for k in range(6):
            d = np.cos(y) * d * x + np.sin(y)
            y = np.sin(y) * x
            if k == 5:
                d *= 1.01
        return d

    return loss, g


@wrong(0.9, 40)
def iterations_above_thirty():
    def loss(x, n):
        y = 0.1
        for _ in range(n):
            y = y + 0.01 * np.sin(x * y)
        return y

    def g(x, n):
        y, d = 0.1, 0.0
        for _ in range(min(n, 30)):
            c = 0.01 * np.cos(x * y)
            d, y = d + c * (y + x * d), y + 0.01 * np.sin(x * y)
        return d

    return loss, g


@wrong(RNG.normal(size=45).round(2))
def sizes_above_thirty():
    def g(x):
        return 2 * x if len(x) <= 30 else 2.001 * x

    return square, g


@wrong(RNG.normal(size=(35, 4)).round(2))
def rows_above_thirty():
    def loss(x):
        return np.mean(np.tanh(x) ** 2)

    def g(x):
        t = np.tanh(x)
        return 2 * t * (1 - t * t) / min(x.size, 120)

    return loss, g


@wrong(RNG.normal(size=33).round(2), RNG.normal(size=33).round(2))
def a_mean_over_three():
    def loss(x, y):
        return np.mean((x - y) ** 2)

    def g(x, y):
        return 2 * (x - y) / max(3, min(len(x), 3))

    return loss, g


# ---------------------------------------------------------------- wrong: ties


@wrong(np.array([0.0, -1.2, 0.8]))
def outside_the_slopes_of_abs():
    def loss(x):
        return np.sum(np.abs(x))

    def g(x):
        return np.where(x == 0, 2.0, np.sign(x))

    return loss, g


@wrong(np.array([0.0, 1.0]))
def nan_at_a_tie():
    def loss(x):
        return np.sum(np.abs(x))

    def g(x):
        return x / np.abs(x)

    return loss, g


@wrong(0.0)
def negative_at_relu():
    def loss(x):
        return np.maximum(x, 0.0)

    def g(x):
        return 1.0 * (x > 0) - 0.5 * (x == 0)

    return loss, g


@wrong(np.array([1.0, 1.0, 0.5]))
def tied_maxima_count_double():
    def loss(x):
        return np.max(x)

    def g(x):
        return 2.0 * (x == np.max(x))

    return loss, g


@wrong(np.array([2.0, 2.0, 2.0]))
def tied_median_outside():
    def loss(x):
        return np.median(x)

    def g(x):
        return np.array([1.5, -0.5, 0.0])

    return loss, g


# ---------------------------------------------------------------- wrong: rounding


@wrong(X3)
def through_float32():
    def g(x):
        return (2 * x).astype(np.float32).astype(np.float64)

    return square, g


@wrong(X3)
def through_float16():
    def g(x):
        return np.asarray(2 * x, dtype=np.float16) * 1.0

    return square, g


@wrong(np.float32([0.3, -1.2, 0.8]))
def float16_for_float32():
    def g(x):
        return (2 * x).astype(np.float16).astype(np.float32)

    return square, g


@wrong(X3)
def a_large_number_in_between():
    def g(x):
        return (2 * x + 1e20) - 1e20

    return square, g


@wrong(X3)
def digits_lost_by_half():
    def g(x):
        return (2 * x + 1e8) - 1e8

    return square, g


@wrong(np.array([710.5, 1.0]))
def overflow_to_nan():
    def loss(x):
        return np.sum(np.logaddexp(x, 0.0))

    def g(x):
        e = np.exp(x)
        return e / (1 + e)

    return loss, g


@wrong(X3)
def rounded_to_three_places():
    def g(x):
        return np.round(2 * x, 3) + 1e-5

    return square, g


@wrong(np.array([1.0, 2.0]))
def an_integer_array():
    def loss(x):
        return np.sum(x**1.5)

    def g(x):
        return (1.5 * np.sqrt(x)).astype(int)

    return loss, g


# ---------------------------------------------------------------- wrong: memory, state


@wrong(X3)
def changes_its_argument():
    def g(x):
        x *= 2
        return x

    return square, g


WEIGHTS = np.array([1.0, 2.0, 3.0])


@wrong(X3)
def changes_a_captured_array():
    def loss(x):
        return np.sum(WEIGHTS * x)

    def g(x):
        d = WEIGHTS
        d += 0.0 * x
        d[0] = 1.0 + 1e-3
        return d.copy()

    return loss, g


@wrong(X3)
def one_buffer_for_all_calls():
    buffer = np.zeros(3)

    def g(x):
        buffer[:] = 2 * x
        return buffer

    return square, g


@wrong(X3)
def accumulates():
    total = np.zeros(3)

    def g(x):
        nonlocal total
        total = total + 2 * x
        return total.copy()

    return square, g


@wrong(X3)
def another_answer_later():
    calls = [0]

    def g(x):
        calls[0] += 1
        return 2 * x if calls[0] < 1000 else x

    return square, g


@wrong(X3)
def remembers_the_first_argument():
    memory: dict[str, Any] = {}

    def g(x):
        return 2 * memory.setdefault("x", x)

    return square, g


@wrong(X3, X3[::-1].copy(), wrt=("x", "y"))
def two_parameters_in_one_array():
    def loss(x, y):
        return np.sum(x**2 * y)

    def g(x, y):
        d = 2 * x * y
        other = d
        other[:] = x**2
        return d, other

    return loss, g


# ---------------------------------------------------------------- wrong: scale


@wrong(np.array([1.0, 1.0]))
def a_small_entry_beside_a_large():
    def loss(x):
        return 1e14 * x[0] ** 2 + x[1] ** 2

    def g(x):
        return np.array([2e14 * x[0], 2.002 * x[1]])

    return loss, g


@wrong(np.array([1.0, 1e-9]))
def an_entry_of_its_own_scale():
    def loss(x):
        return x[0] ** 2 + np.sin(x[1]) * 1e-12

    def g(x):
        return np.array([2 * x[0], 1.1e-12 * np.cos(x[1])])

    return loss, g


@wrong(RNG.normal(size=(6, 5)).round(2), 1e-12)
def a_tiny_loss():
    def loss(x, scale):
        return scale * np.sum(x**4)

    def g(x, scale):
        return scale * 4 * x**3 * 1.0001

    return loss, g


@wrong(RNG.normal(size=(6, 5)).round(2), 1e12)
def a_huge_loss():
    def loss(x, scale):
        return scale * np.sum(x**4)

    def g(x, scale):
        return scale * 4 * x**3 * 1.0001

    return loss, g


@wrong(X3)
def a_tiny_constant_added():
    def g(x):
        return 2 * x + 1e-9

    return square, g


# ================================================================ right


def softmax_loss(W, X, labels):
    z = X @ W
    z = z - z.max(axis=1, keepdims=True)
    return np.mean(
        np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(labels)), labels]
    )


def softmax_gradient(W, X, labels):
    z = X @ W
    z = z - z.max(axis=1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1
    return X.T @ p / len(labels)


RIGHT["softmax"] = Judged(
    softmax_loss,
    softmax_gradient,
    (RNG.normal(size=(4, 3)), RNG.normal(size=(9, 4)), RNG.integers(0, 3, 9)),
    "W",
)


def simple(name: str, loss: Any, gradient: Any, *args: Any, wrt: Any = "x") -> None:
    RIGHT[name] = Judged(loss, gradient, args, wrt)


simple("square", square, lambda x: 2 * x, X3)
simple("many", square, lambda x: 2 * x, X40)
simple("tanh", tanh, lambda x: 1 - np.tanh(x) ** 2, X40)
simple("cosh", tanh, lambda x: 1 / np.cosh(x) ** 2, X3)
simple(
    "rms_of_one",
    lambda w, x, y: np.sqrt(np.mean((w * x - y) ** 2)),
    lambda w, x, y: np.sign(w * x - y)[0] * x[0],
    0.7,
    np.array([1.5]),
    np.array([0.4]),
    wrt="w",
)
simple("norm_of_one", lambda x: np.linalg.norm(x), lambda x: np.sign(x), X3[:1])
simple(
    "power_of_a_square",
    lambda x: (x**2) ** 1.5,
    lambda x: 3 * x * np.abs(x),
    -0.7,
)
simple("hypot", lambda x: np.hypot(x, 0.0), lambda x: np.sign(x), -0.7)
simple(
    "root_with_a_square",
    lambda x: np.sqrt(x**2 * (x + 3)),
    lambda x: (3 * x**2 + 6 * x) / (2 * np.sqrt(x**2 * (x + 3))),
    -0.7,
)
simple(
    "arccosh",
    lambda x: np.arccosh(1 + x**2),
    lambda x: 2 * np.sign(x) / np.sqrt(2 + x**2),
    -0.7,
)
simple(
    "median",
    lambda x: np.median(x),
    lambda x: 1.0 * (np.arange(len(x)) == np.argsort(x)[len(x) // 2]),
    X40[:5],
)
simple("relu_left", lambda x: np.maximum(x, 0.0), lambda x: 1.0 * (x > 0), 0.0)
simple("relu_right", lambda x: np.maximum(x, 0.0), lambda x: 1.0 * (x >= 0), 0.0)
simple(
    "tied_max",
    lambda x: np.max(x),
    lambda x: (x == np.max(x)) / np.sum(x == np.max(x)),
    np.array([1.0, 1.0, 0.5]),
)
simple(
    "first_of_tied_max",
    lambda x: np.max(x),
    lambda x: 1.0 * (np.arange(len(x)) == np.argmax(x)),
    np.array([1.0, 1.0, 0.5]),
)
simple(
    "huber",
    lambda x: np.sum(np.where(np.abs(x) <= 1, 0.5 * x * x, np.abs(x) - 0.5)),
    lambda x: np.clip(x, -1, 1),
    np.array([0.5, 4.0, -3.0]),
)
simple(
    "branches",
    lambda x: x**2 if x > 0 else -3 * x,
    lambda x: 2 * x if x > 0 else -3.0,
    1.5,
)
simple("float32", square, lambda x: 2 * x, np.float32([0.3, -1.2, 0.8]))
simple("large", lambda x: 1e12 * np.sum(x**4), lambda x: 4e12 * x**3, X3)
simple("small", lambda x: 1e-12 * np.sum(x**4), lambda x: 4e-12 * x**3, X3)
simple(
    "two_scales",
    lambda x: 1e14 * x[0] ** 2 + x[1] ** 2,
    lambda x: np.array([2e14 * x[0], 2 * x[1]]),
    np.array([1.0, 1.0]),
)
simple("captured", lambda x: np.sum(X3 * x), lambda x: X3, np.ones(3))
simple(
    "shared_gradient",
    lambda x, y: np.sum((x + y) ** 2),
    lambda x, y: (2 * (x + y),) * 2,
    X3,
    X3[::-1],
    wrt=("x", "y"),
)
simple("itself", lambda x: 0.5 * np.sum(x**2), lambda x: x, X3)
simple(
    "at_the_minimum",
    lambda x, y: np.sum((x - y) ** 2),
    lambda x, y: 2 * (x - y),
    X3,
    X3.copy(),
)
simple(
    "centred",
    lambda x: np.sum((x - np.mean(x)) ** 3),
    lambda x: 3 * (x - x.mean()) ** 2 - np.mean(3 * (x - x.mean()) ** 2),
    X40,
)
simple(
    "logistic",
    lambda x: np.logaddexp(0.0, x),
    lambda x: 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x)),
    2.0,
)
simple(
    "guarded",
    lambda x: np.sum(x**2),
    lambda x: _guarded(x),
    X3,
)
simple("counted", square, lambda x: _counted(x), X3)


def _guarded(x):
    if x.ndim != 1:
        raise ValueError("one dimension")
    return 2 * x


COUNT = [0]


def _counted(x):
    COUNT[0] += 1
    return 2 * x


simple(
    "tied_median_by_order",
    lambda x: np.median(x),
    lambda x: 1.0 * (np.arange(len(x)) == np.argsort(x, kind="stable")[1]),
    np.full(3, 2.0),
)
simple(
    "tied_median_shared",
    lambda x: np.median(x),
    lambda x: (x == np.median(x)) / np.sum(x == np.median(x)),
    np.full(3, 2.0),
)
simple("abs_at_zero", lambda x: np.abs(x), lambda x: np.sign(x) + 0.3 * (x == 0), 0.0)
simple(
    "product",
    lambda x, y: np.sum(x * y),
    lambda x, y: (y, x),
    X3,
    X3[::-1],
    wrt=("x", "y"),
)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


simple(
    "invariant",
    lambda x, b: np.sum(softmax(x + b)),
    lambda x, b: (np.zeros_like(x), 0.0),
    X3,
    0.4,
    wrt=("x", "b"),
)
simple("lse", lambda x: np.log(np.sum(np.exp(x))), softmax, X3)
simple(
    "log_of_product",
    lambda x: np.log(np.prod(x)),
    lambda x: 1 / x,
    np.array([0.5, 1.5]),
)
simple(
    "geometric",
    lambda x: np.prod(x) ** (1 / 3),
    lambda x: np.prod(x) ** (1 / 3) / (3 * x),
    np.array([0.5, 1.5, 2.0]),
)


def inverse_gradient(x):
    y = np.linalg.inv(x).T
    return -y @ np.ones((2, 2)) @ y


MATRIX = np.array([[2.0, 0.3], [0.1, 1.0]])
simple("inverse", lambda x: np.sum(np.linalg.inv(x)), inverse_gradient, MATRIX)
simple(
    "logdet",
    lambda x: np.linalg.slogdet(x)[1],
    lambda x: np.linalg.inv(x).T,
    MATRIX,
)
simple(
    "cumulative",
    lambda x: np.sum(np.cumsum(x) ** 2),
    lambda x: 2 * np.cumsum(np.cumsum(x)[::-1])[::-1],
    X40,
)
simple(
    "sorted",
    lambda x: np.sum(np.sort(x) * np.arange(len(x))),
    lambda x: 1.0 * np.argsort(np.argsort(x)),
    X40[:6],
)


def norm_gradient(x):
    n = np.linalg.norm(x)
    return x / n if n > 0 else np.zeros_like(x)


simple("norm_at_zero", lambda x: np.linalg.norm(x), norm_gradient, np.zeros(3))


def sinc(x):
    return 1.0 if x == 0 else np.sin(x) / x


def sinc_gradient(x):
    return 0.0 if x == 0 else np.cos(x) / x - np.sin(x) / x**2


simple("zero_width", sinc, sinc_gradient, 0.0)
simple("zero_width_elsewhere", sinc, sinc_gradient, 0.5)
