"""Kinks that cancel: the derivative of what is smooth is right where its parts are not.

The expected slopes are those of the smooth functions, worked by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import symback


def gradient(f: Callable[..., Any], *args: Any, wrt: Any = 0) -> Any:
    """Return the gradient of the specialised text, once seen to be the generic's."""
    loss = symback.differentiable(f, wrt=wrt)
    found = loss.grad_fn(*args)
    namespace: dict[str, Any] = {}
    exec(loss.backward_source, namespace)
    generic = namespace[f"{f.__name__}_value_and_grad"](*args)[1]
    np.testing.assert_array_equal(found, generic)
    return found


def parts_of_the_identity(x):
    return np.sum(np.maximum(x, 0) + np.minimum(x, 0))


def positive_less_negative(x):
    return np.sum(np.maximum(x, 0) - np.maximum(-x, 0))


def scaled(x):
    return np.sum(2 * np.fabs(x) - np.maximum(-4 * x, 0))


def shifted(x):
    return np.sum(np.abs(2 - 2 * (x + 1)) - 4 * np.maximum(-x, 0) + x)


def divided(x):
    return np.sum(np.fmax(x / 2, 0) + np.fmin(0.5 * x, 0))


def clipped_below(x):
    return np.sum(np.clip(x, 0, None) + np.minimum(x, 0))


def clipped_above(x):
    return np.sum(np.clip(x, -1.0, a_max=0.0) + np.maximum(0, x))


def exponential_unit(x):
    return np.sum(np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1))


def truth_as_a_number(x):
    return np.sum(x * (x >= 0) + np.minimum(x, 0))


def written_twice(x):
    return np.sum(np.maximum(3 * x[:2], 0) - np.maximum(-(x[:2] * 3), 0)) + x[2]


def through_a_loop(x):
    y = x
    for _ in range(3):
        y = 2 * np.maximum(y, 0) - np.abs(y) + 0.5 * y
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (parts_of_the_identity, 1.0),
        (positive_less_negative, 1.0),
        (scaled, 2.0),
        (shifted, 3.0),
        (divided, 0.5),
        (clipped_below, 1.0),
        (clipped_above, 1.0),
        (exponential_unit, 1.0),
        (truth_as_a_number, 1.0),
        (written_twice, [3.0, 3.0, 1.0]),
        (through_a_loop, 1.5**3),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_smooth_sums(f: Callable[..., Any], slope: Any, dtype: Any) -> None:
    found = gradient(f, np.zeros(3, dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.broadcast_to(slope, 3), rtol=1e-6)
    # The same sides through zeros of the other sign.
    np.testing.assert_allclose(gradient(f, -np.zeros(3, dtype)), found, rtol=1e-6)


@pytest.mark.parametrize(
    "stable",
    [
        lambda z: np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))),
        lambda z: np.log1p(np.exp(-abs(z))) - np.minimum(-z, 0),
        lambda z: 0.5 * (z + np.abs(z)) + np.log(1 + np.exp(-np.abs(z))),
        lambda z: np.where(z >= 0, z, 0) + np.log1p(np.exp(-np.abs(z))),
        lambda z: np.where(z < 0, 0, z) + np.log1p(np.exp(-np.abs(-z))),
        lambda z: z * (z > 0) + np.log1p(np.exp(-np.abs(z))),
        lambda z: np.clip(z, 0, None) + np.log1p(np.exp(-np.abs(z))),
    ],
)
def test_stable_logistic_loss_at_zero_weights(stable: Callable[[Any], Any]) -> None:
    x, y = np.array([[1.0], [2.0]]), np.array([1.0, 0.0])

    def loss(w, x, y):
        z = x @ w
        return np.mean(stable(z) - z * y)

    f = symback.differentiable(loss)
    # The slope of log(1 + exp(z)) at 0 is 1/2, so x.T @ (1/2 - y) / 2.
    np.testing.assert_allclose(f.grad_fn(np.zeros(1), x, y), [0.25], rtol=1e-15)
    assert f.check(np.zeros(1), x, y).ok


def test_witnesses_agree_on_the_stable_logistic_loss() -> None:
    def loss(w, x, y):
        z = x @ w
        return np.mean(np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z))))

    f = symback.differentiable(loss)
    point = np.zeros(1), np.array([[1.0], [2.0]]), np.array([1.0, 0.0])
    assert f.check(*point).ok
    assert f.compare(*point).ok


def test_of_two_values() -> None:
    def larger(x, y):
        return np.maximum(x, y) + np.log1p(np.exp(-np.abs(y - x)))

    assert gradient(larger, 1.0, 1.0, wrt=(0, 1)) == (0.5, 0.5)
    assert gradient(larger, 1.0, 1.0) == 0.5


def test_of_python_numbers() -> None:
    def loss(z):
        return max(z, 0.0) - 0.3 * z + math.log1p(math.exp(-abs(z)))

    assert symback.grad(loss)(0.0) == pytest.approx(0.2, abs=1e-15)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda x: np.sum(np.abs(x) + np.abs(2 * x)), 0.0),
        (lambda x: np.sum(np.maximum(x, 0) + np.maximum(2 * x, 0)), 0.0),
        (lambda x: np.sum(np.abs(x)) + np.max(np.abs(x)), 0.0),
        # Different zeros.
        (lambda x: np.sum(np.abs(x) + np.maximum(x - 1, 0)), 0.0),
        # What reaches nothing.
        (lambda x: (np.maximum(x, 0), np.sum(np.abs(x)))[1], 0.0),
    ],
)
def test_the_table_stands_where_nothing_contradicts_it(f: Any, slope: float) -> None:
    np.testing.assert_array_equal(symback.grad(f)(np.zeros(2)), np.full(2, slope))


POINTS = np.array([[0.0, 0.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "f",
    [
        lambda p: np.sum(np.sum(p**2, axis=1) ** 0.5),
        lambda p: np.sum(np.power(np.sum(p * p, axis=-1), 0.5)),
        lambda p: np.sum(np.sqrt(np.einsum("ij,ij->i", p, p))),
        lambda p: np.sum((p[:, 0] ** 2 + p[:, 1] ** 2) ** 0.5),
        lambda p: np.sum(np.sqrt(p[:, 0] * p[:, 0] + np.square(p[:, 1]))),
        lambda p: np.sum(np.sqrt(np.square(p).sum(1))),
        lambda p: np.sum(np.sqrt(4 * np.sum(p**2, axis=1, keepdims=True))) / 2,
        lambda p: sum(math.sqrt(np.dot(p[i], p[i])) for i in range(2)),
        lambda p: sum(np.sqrt(p[i] @ p[i]) for i in range(2)),
    ],
)
def test_lengths_of_zero_rows(f: Any) -> None:
    """Of (3, 4) it is (0.6, 0.8), of the origin 0, however it is spelled."""
    expected = [[0.0, 0.0], [0.6, 0.8]]
    np.testing.assert_allclose(symback.grad(f)(POINTS), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.sqrt(x * x),
        lambda x: math.sqrt(x**2),
        lambda x: (x**2) ** 0.5,
        lambda x: np.power(x * x, 0.5),
        lambda x: x * x**0.5,
        lambda x: math.sqrt(x) * x,
    ],
)
def test_every_spelling_of_a_root_has_its_closed_form(f: Any) -> None:
    assert symback.grad(f)(0.0) == 0.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the user's own 0 / 0
def test_directions_of_zero_rows() -> None:
    def loss(p):
        unit = np.nan_to_num(p / np.linalg.norm(p, axis=1, keepdims=True))
        return np.sum(unit[:, 0])

    # Of x / r it is (y**2, -x y) / r**3.
    expected = [[0.0, 0.0], [16 / 125, -12 / 125]]
    np.testing.assert_allclose(symback.grad(loss)(POINTS), expected, rtol=1e-14)


def test_integers_wrap_as_they_do_in_the_program() -> None:
    x, k = np.array([0.5, 0.7, 0.9]), np.array([200, 100, 60], np.uint8)
    found = symback.grad(lambda x, k: np.sum(x * (k * 100)))(x, k)
    # 20000, 10000 and 6000 modulo 256.
    np.testing.assert_array_equal(found, [32.0, 16.0, 112.0])
    found = symback.grad(lambda x, k: np.sum(x * (-k)))(x, k)
    np.testing.assert_array_equal(found, [56.0, 156.0, 196.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slopes_do_not_wrap(dtype: Any) -> None:
    x, k = np.array([0.5, 0.7, 0.9], dtype), np.array([200, 100, 60], np.uint8)
    wide = k.astype(float)
    found = symback.grad(lambda x, k: np.sum(np.arctan2(x, k)))(x, k)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wide / (x**2 + wide**2), rtol=1e-6)
    found = symback.grad(lambda x, k: np.sum(k / x))(x, k)
    np.testing.assert_allclose(found, -wide / x**2, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # an infinite slope
@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [(math.sqrt, 0.0, np.inf), (math.asin, 1.0, np.inf), (math.acos, 1.0, -np.inf)],
)
def test_edges_of_domains_of_the_module_math(f: Any, x: float, slope: float) -> None:
    assert symback.grad(lambda x: f(x))(x) == slope


def test_scaled_complementary_error_function_far_out() -> None:
    # The series -1 / (√π x²) (1 - 3 / (2 x²) + ...).
    slope = symback.grad(lambda x: scipy.special.erfcx(x))(1e8)
    assert slope == pytest.approx(-1e-16 / math.sqrt(math.pi), rel=1e-12)
    slope = symback.grad(lambda x: scipy.special.log_ndtr(x))(-1e8)
    assert slope == pytest.approx(1e8, rel=1e-12)
