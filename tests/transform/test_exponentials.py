"""Compositions that overflow inside, over the whole range of float64, against mpmath.

Wherever the loss is finite its slope is a number, and where the loss is right the slope
is that of differences taken with hundreds of digits.  A slope may be off by rounding of
the loss itself: by 1e-13 of the loss over the argument.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

import symback

MAGNITUDES = [10.0**k for k in (-308, -200, -100, -20, -8, -3)]
MAGNITUDES += [0.3, 1.0, 3.0, 17.0, 40.0, 300.0, 350.0, 690.0, 705.0, 712.0, 760.0]
MAGNITUDES += [10.0**k for k in (3, 5, 8, 20, 100, 154, 200, 300, 307)]
POINTS = [sign * size for sign in (1, -1) for size in MAGNITUDES]
FAR = 2e5
"""mpmath's exponentials of more than this take too long."""


def limited(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that refuses far arguments."""

    def call(x: Any) -> Any:
        if abs(x) > FAR:
            raise OverflowError
        return function(x)

    return call


EXACT = SimpleNamespace(
    **{name: limited(getattr(mpmath, name)) for name in "exp cosh sinh tanh".split()},
    expm1=limited(mpmath.expm1),
    log=mpmath.log,
    log1p=mpmath.log1p,
    sqrt=mpmath.sqrt,
    arctan=mpmath.atan,
    square=lambda x: x * x,
    power=lambda x, y: x**y,
    reciprocal=lambda x: 1 / x,
)


def exact(text: str, x: float) -> tuple[float, float] | None:
    """Return value and slope by differences with many digits; None if x is too far."""
    function = eval(f"lambda x: {text}", {"np": EXACT})
    with mpmath.workdps(700 if abs(x) < 1e6 else 60):
        at = mpmath.mpf(x)
        step = at * mpmath.mpf(10) ** -25
        try:
            difference = function(at + step) - function(at - step)
            value = float(mpmath.re(function(at)))
            return value, float(mpmath.re(difference / (2 * step)))
        except (OverflowError, ValueError, ZeroDivisionError):
            return None


def written(text: str) -> Callable[[Any], Any]:
    """Return the function of x that a text is."""
    source, file = f"def f(x):\n    return {text}\n", f"<exponential {text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


TEXTS = """
(1 + np.exp(-x)) ** -1
1 / (1 + np.exp(-x))
1 / (1 + np.exp(-x)) ** 2
(1 + np.exp(x)) ** -0.5
np.power(1 + np.exp(-x), -1)
np.reciprocal(1 + np.exp(-x))
2 / (np.exp(x) + np.exp(-x))
1 / (2 + 3 * np.exp(2 * x))
1 / (x * (1 + np.exp(x)))
x / (1 + np.exp(-x))
np.exp(x) / (1 + np.exp(x))
np.exp(x) / (1 + np.exp(x)) ** 0.5
(np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))
1 / np.cosh(x)
np.cosh(x) ** -2
1 / np.sinh(x)
1 / np.expm1(x)
1 / np.exp(x)
np.exp(x) ** -1
x / np.exp(x)
np.sqrt(1 + np.exp(x))
np.log(1 + np.exp(x))
np.log(1 + np.exp(x) + np.exp(2 * x))
np.log(2 + 3 * np.exp(x))
np.log(np.exp(x) - 1)
np.log(np.cosh(x))
np.log(np.sinh(x))
np.log(x * np.exp(-x))
np.log(1 - np.exp(-np.exp(x)))
np.log1p(np.exp(x))
np.log1p(2 * np.exp(-x))
np.log1p(-np.exp(-x))
np.exp(-np.exp(x))
np.exp(x - np.exp(x))
np.exp(-np.exp(-x) - x)
np.exp(-np.exp(x) + np.exp(-x))
np.exp(-x * np.exp(x))
np.exp(-2 * np.exp(-3 * x))
np.exp(-np.cosh(x))
np.exp(-1 / x)
np.exp(-1 / x**2)
np.exp(-(x**-2))
np.exp(-(x**2))
np.exp(-x * x / 2) * x
np.exp(-(x**4))
1 - np.exp(-np.exp(x))
np.expm1(-np.exp(x))
np.tanh(np.exp(x))
np.arctan(np.exp(x))
np.tanh(1 / x)
np.tanh(x**-1)
1 / (1 + x**2)
1 / np.sqrt(1 + np.square(x))
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the user's own overflow
def test_slope_over_the_range_of_floats(text: str) -> None:
    f = written(text)
    gradient = symback.differentiable(f, witness=None).grad_fn
    compared = 0
    for x in map(np.float64, POINTS):
        value = f(x)
        if not np.isfinite(value):
            continue
        found, true = gradient(x), exact(text, float(x))
        assert not np.isnan(found), f"at {x}"
        if true is not None and value == pytest.approx(true[0], rel=1e-6, abs=0.0):
            rounding = 1e-13 * abs(value / x) + 1e-290
            assert found == pytest.approx(true[1], rel=1e-9, abs=rounding), f"at {x}"
            compared += 1
    assert compared >= 5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logistic_density_far_out() -> None:
    f = written("np.exp(-x) / (1 + np.exp(-x)) ** 2")
    for x in (-300.0, -100.0, -1.0, 2.0, 30.0, 300.0):
        true = exact("np.exp(-x) / (1 + np.exp(-x)) ** 2", x)
        assert true is not None
        assert symback.grad(f)(x) == pytest.approx(true[1], rel=1e-9, abs=0.0)


def test_several_parameters() -> None:
    """Growth curves, by hand: at t = 1000 they have saturated, at -1000 not begun."""

    def gompertz(t, a, b, c):
        return a * np.exp(-b * np.exp(-c * t))

    gradient = symback.grad(gompertz, wrt=("t", "a", "b", "c"))
    with np.errstate(over="ignore"):
        assert gradient(np.float64(-1000.0), 2.0, 3.0, 1.0) == (0.0, 0.0, 0.0, 0.0)
        assert gradient(np.float64(1000.0), 2.0, 3.0, 1.0) == (0.0, 1.0, 0.0, 0.0)

    def logistic(t, k, b, r):
        return k / (1 + b * np.exp(-r * t))

    gradient = symback.grad(logistic, wrt=("t", "k", "b", "r"))
    e = math.exp(-1.0)
    s = 1 + 3 * e
    expected = (2 * 3 * e * 0.5 / s**2, 1 / s, -2 * e / s**2, 2 * 3 * e * 2.0 / s**2)
    assert gradient(2.0, 2.0, 3.0, 0.5) == pytest.approx(expected, rel=1e-13)
    with np.errstate(over="ignore"):
        assert gradient(np.float64(-2000.0), 2.0, 3.0, 0.5) == (0.0, 0.0, 0.0, 0.0)


def test_arrays_and_precision() -> None:
    x = np.array([[-800.0, 0.0, 800.0]] * 2, np.float32)
    b = np.array([1.0, 2.0], np.float32)[:, None]

    def loss(x, b):
        return np.sum((b + np.exp(-x)) ** -1)

    with np.errstate(over="ignore"):
        x_bar, b_bar = symback.grad(loss, wrt=(0, 1))(x, b)
    assert x_bar.dtype == b_bar.dtype == np.float32
    np.testing.assert_allclose(x_bar, [[0, 0.25, 0], [0, 1 / 9, 0]], rtol=1e-6)
    np.testing.assert_allclose(b_bar, [[-1.25], [-1 / 4 - 1 / 9]], rtol=1e-6)


def test_of_the_module_math() -> None:
    assert symback.grad(lambda x: math.log1p(math.exp(x)))(-800.0) == 0.0
    assert symback.grad(lambda x: 1 / math.cosh(x))(700.0) == pytest.approx(
        -2 * math.exp(-700.0), rel=1e-12
    )
    assert symback.grad(lambda x: math.exp(-math.exp(x)))(700.0) == 0.0
    assert symback.grad(lambda x: 1 / (1 + math.exp(x)))(700.0) == pytest.approx(
        -math.exp(-700.0), rel=1e-12
    )
