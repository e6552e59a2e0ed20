"""Choices between values, and the comparisons and tests that decide them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .registry import pullback, select, zero

Array = Any


def clip_inside(a: Array, a_min: Any, a_max: Any, min: Any, max: Any) -> Array:
    """Return where `a` lies strictly between the bounds."""
    low = a_min if min is None else min
    high = a_max if max is None else max
    if low is None and high is None:
        return np.ones_like(a, dtype=bool)
    if low is None:
        return a < high
    if high is None:
        return a > low
    return (a > low) & (a < high)


def clip_low(a: Array, a_min: Any, a_max: Any, min: Any, max: Any) -> Array:
    """Return where the lower bound is the result."""
    low = a_min if min is None else min
    high = a_max if max is None else max
    if high is None:
        return a < low
    return (a < low) & (low < high)


def clip_high(a: Array, a_min: Any, a_max: Any, min: Any, max: Any) -> Array:
    """Return where the upper bound is the result: also where the bounds cross."""
    low = a_min if min is None else min
    high = a_max if max is None else max
    if low is None:
        return a > high
    return (a > high) | (low > high)


def select_choices(out_bar: Array, condlist: Any, choicelist: Any) -> Any:
    """Give each choice the entries where its condition is the first that holds."""
    bars = []
    rest = out_bar
    for condition, choice in zip(condlist, choicelist, strict=True):
        bars.append(runtime.unbroadcast(np.where(condition, rest, 0.0), choice))
        rest = np.where(condition, 0.0, rest)
    return bars


def select_default(out_bar: Array, condlist: Any, default: Any) -> Array:
    """Give the default the entries where no condition holds."""
    rest = out_bar
    for condition in condlist:
        rest = np.where(condition, 0.0, rest)
    return runtime.unbroadcast(rest, default)


def choose_choices(out_bar: Array, a: Array, choices: Any) -> Any:
    """Give each choice the entries where `a` names it."""
    return [
        runtime.unbroadcast(np.where(np.equal(a, k), out_bar, 0.0), choices[k])
        for k in range(len(choices))
    ]


HALF = ("(x > y) + 0.5 * (x == y)", "(y > x) + 0.5 * (x == y)")
"""The larger of two active values passes; equal ones share."""

select(
    "np.where(condition, x=None, y=None)",
    None,
    "condition",
    "np.logical_not(condition)",
)
select("np.maximum(x, y)", "x > y", "y > x", tie=HALF, kink="x == y")
select("np.minimum(x, y)", "x < y", "y < x", tie=(HALF[1], HALF[0]), kink="x == y")
select(
    "np.fmax(x, y)",
    "(x > y) | (np.isnan(y) & ~np.isnan(x))",
    "(y > x) | (np.isnan(x) & ~np.isnan(y))",
    tie=(
        "(x > y) + 0.5 * (x == y) + (np.isnan(y) & ~np.isnan(x))",
        "(y > x) + 0.5 * (x == y) + (np.isnan(x) & ~np.isnan(y))",
    ),
    kink="x == y",
)
select(
    "np.fmin(x, y)",
    "(x < y) | (np.isnan(y) & ~np.isnan(x))",
    "(y < x) | (np.isnan(x) & ~np.isnan(y))",
    tie=(
        "(x < y) + 0.5 * (x == y) + (np.isnan(y) & ~np.isnan(x))",
        "(y < x) + 0.5 * (x == y) + (np.isnan(x) & ~np.isnan(y))",
    ),
    kink="x == y",
)
select(
    "np.clip(a, a_min=None, a_max=None, min=None, max=None)",
    clip_inside,
    clip_low,
    clip_high,
    clip_low,
    clip_high,
    kink="a == a_min or a == a_max",
)
pullback(
    "np.select(condlist, choicelist, default=0)", None, select_choices, select_default
)
pullback("np.choose(a, choices)", None, choose_choices)

zero(
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x == y",
    "x != y",
    "x & y",
    "x | y",
    "x ^ y",
    "x << y",
    "x >> y",
    "~x",
    "not x",
    "x is y",
    "x is not y",
    "x in y",
    "np.less(x, y)",
    "np.less_equal(x, y)",
    "np.greater(x, y)",
    "np.greater_equal(x, y)",
    "np.equal(x, y)",
    "np.not_equal(x, y)",
    "np.logical_and(x, y)",
    "np.logical_or(x, y)",
    "np.logical_xor(x, y)",
    "np.logical_not(x)",
    "np.bitwise_and(x, y)",
    "np.bitwise_or(x, y)",
    "np.bitwise_xor(x, y)",
    "np.invert(x)",
    "np.isnan(x)",
    "np.isfinite(x)",
    "np.isinf(x)",
    "np.isposinf(x)",
    "np.isneginf(x)",
    "np.isreal(x)",
    "np.iscomplex(x)",
    "np.isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)",
    "np.allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)",
    "np.array_equal(a1, a2, equal_nan=False)",
    "np.array_equiv(a1, a2)",
    "np.any(a, axis=None, out_=None, keepdims=False, where=True)",
    "np.all(a, axis=None, out_=None, keepdims=False, where=True)",
)
