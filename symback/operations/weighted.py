"""Reductions that leave NaN out, and weighted averages."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .helpers import unreduce
from .reductions import (
    TAIL,
    cumprod_of,
    cumsum_of,
    extreme_of,
    masked,
    mean_of,
    prod_of,
    std_of,
    sum_of,
    var_of,
)
from .registry import pullback

Array = Any


def present(a: Array) -> Array:
    """Return where `a` is a number."""
    return np.logical_not(np.isnan(a))


def filled(a: Array, value: float) -> Array:
    """Return `a` with NaN replaced, so that what is not used cannot spread."""
    return np.where(np.isnan(a), value, a)


def nansum_of(out_bar: Array, a: Array, axis: Any, dtype: Any, keepdims: Any) -> Array:
    """Spread the cotangent over the numbers."""
    return sum_of(out_bar, a, axis, dtype, keepdims, present(a))


def nanmean_of(out_bar: Array, a: Array, axis: Any, dtype: Any, keepdims: Any) -> Array:
    """Spread the cotangent, divided by how many numbers there are."""
    return mean_of(out_bar, a, axis, dtype, keepdims, present(a))


def nanprod_of(out_bar: Array, a: Array, axis: Any, dtype: Any, keepdims: Any) -> Array:
    """Multiply the cotangent by the product of the other numbers."""
    there = present(a)
    return prod_of(out_bar, filled(a, 1.0), axis, dtype, keepdims, None, there)


def nanvar_of(
    out_bar: Array, a: Array, axis: Any, dtype: Any, ddof: Any, keepdims: Any
) -> Array:
    """Return the cotangent of the variance of the numbers."""
    clean, there = filled(a, 0.0), present(a)
    return var_of(out_bar, clean, axis, dtype, ddof, keepdims, there, None, None)


def nanstd_of(
    out_bar: Array,
    out: Array,
    a: Array,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
) -> Array:
    """Return the cotangent of the standard deviation of the numbers."""
    clean, there = filled(a, 0.0), present(a)
    return std_of(out_bar, out, clean, axis, dtype, ddof, keepdims, there, None, None)


def nanextreme_of(
    out_bar: Array, out: Array, a: Array, axis: Any, keepdims: Any
) -> Array:
    """Share the cotangent between the numbers that are the extreme one."""
    return extreme_of(out_bar, out, a, axis, keepdims, None, present(a))


def nancumsum_of(out_bar: Array, a: Array, axis: Any, dtype: Any) -> Array:
    """Return the sums of the cotangents from each number on."""
    return masked(cumsum_of(out_bar, a, axis, dtype), present(a))


def nancumprod_of(out_bar: Array, a: Array, axis: Any, dtype: Any) -> Array:
    """Return the cotangent of a running product of the numbers."""
    return masked(cumprod_of(out_bar, filled(a, 1.0), axis, dtype), present(a))


def weights_over(a: Array, axis: Any, weights: Array) -> Array:
    """Return the weights of an average, shaped to multiply `a`."""
    if axis is None or isinstance(axis, tuple) or np.ndim(weights) == np.ndim(a):
        return weights
    shape = [1] * np.ndim(a)
    shape[axis] = -1
    return np.reshape(weights, tuple(shape))


def weights_total(axis: Any, weights: Array, over: Array) -> Array:
    """Return the sums of the weights of an average, where the results stand."""
    if axis is None or np.ndim(weights) != np.ndim(over):
        return np.sum(weights)
    return np.sum(over, axis=axis, keepdims=True)


def average_of(
    out_bar: Array, a: Array, axis: Any, weights: Any, keepdims: Any
) -> Array:
    """Spread the cotangent by the weights."""
    if weights is None:
        return mean_of(out_bar, a, axis, None, keepdims, True)
    over = weights_over(a, axis, weights)
    g = unreduce(out_bar, axis, keepdims) * over / weights_total(axis, weights, over)
    return np.broadcast_to(g, np.shape(a))


def average_weights(
    out_bar: Array, out: Array, a: Array, axis: Any, weights: Any, keepdims: Any
) -> Array:
    """Multiply by the deviations from the average."""
    over = weights_over(a, axis, weights)
    g = unreduce(out_bar, axis, keepdims) / weights_total(axis, weights, over)
    w_bar = g * (a - unreduce(out, axis, keepdims))
    return np.reshape(runtime.unbroadcast(w_bar, over), np.shape(weights))


pullback(f"np.nansum(a, {TAIL})", nansum_of)
pullback(f"np.nanmean(a, {TAIL})", nanmean_of)
pullback(f"np.nanprod(a, {TAIL})", nanprod_of)
for name in ("np.nanvar", "np.nanstd"):
    pullback(
        f"{name}(a, axis=None, dtype=None, out_=None, ddof=0, keepdims=False)",
        nanvar_of if name == "np.nanvar" else nanstd_of,
    )
for name in ("np.nanmax", "np.nanmin"):
    pullback(f"{name}(a, axis=None, out_=None, keepdims=False)", nanextreme_of)
pullback("np.nancumsum(a, axis=None, dtype=None)", nancumsum_of)
pullback("np.nancumprod(a, axis=None, dtype=None)", nancumprod_of)
pullback(
    "np.average(a, axis=None, weights=None, returned=False, keepdims=False)",
    *(average_of, None, average_weights),
    only=(("returned", (False,)),),
)
