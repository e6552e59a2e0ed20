"""Reductions over axes, and the running sums and products.

Everywhere `axis` is None, an integer or a tuple, and `where` marks the entries that
take part.  Entries that do not take part get a true zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .helpers import (
    cast_back,
    count,
    is_complex,
    is_constant,
    others,
    part,
    reverse_cumsum,
    spread,
    tally,
    unreduce,
)
from .registry import pullback

Array = Any


def masked(x_bar: Array, where: Any) -> Array:
    """Keep the entries that took part."""
    if where is True:
        return x_bar
    return np.where(where, x_bar, 0.0)


def taking_part(a: Array, axis: Any, where: Any) -> Any:
    """Return the number of entries that each result takes together."""
    if where is True:
        return count(a, axis)
    return tally(np.broadcast_to(where, np.shape(a)), axis, a.dtype)


def sum_of(
    out_bar: Array, a: Array, axis: Any, dtype: Any, keepdims: Any, where: Any
) -> Array:
    """Spread the cotangent over the entries that were added."""
    return cast_back(masked(spread(out_bar, a, axis, keepdims), where), a, dtype)


def mean_of(
    out_bar: Array, a: Array, axis: Any, dtype: Any, keepdims: Any, where: Any
) -> Array:
    """Spread the cotangent, divided by the number of entries."""
    if where is True:
        share = spread(out_bar / count(a, axis), a, axis, keepdims)
        return cast_back(share, a, dtype)
    share = unreduce(out_bar, axis, keepdims) / taking_part(a, axis, where)
    share = np.where(where, np.broadcast_to(share, np.shape(a)), 0.0)
    return cast_back(share, a, dtype)


def product_of_others(a: Array, axis: Any) -> Array:
    """Return for each entry the product of the others that a reduction multiplies."""
    if axis is None:
        return np.reshape(others(np.reshape(a, -1), 0), np.shape(a))
    if isinstance(axis, tuple):
        factor = 1.0
        rest = a
        for k in axis:
            factor = factor * others(rest, k)
            rest = np.prod(rest, axis=k, keepdims=True)
        return factor
    return others(a, axis)


def prod_of(
    out_bar: Array,
    a: Array,
    axis: Any,
    dtype: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Array:
    """Multiply the cotangent by the product of the other entries: zeros do no harm."""
    rest = a if where is True else np.where(where, a, 1.0)
    a_bar = unreduce(out_bar, axis, keepdims) * product_of_others(rest, axis)
    if initial is not None:
        a_bar = a_bar * initial
    return cast_back(masked(a_bar, where), a, dtype)


def prod_initial(
    out_bar: Array, a: Array, axis: Any, keepdims: Any, where: Any
) -> Array:
    """Multiply the cotangent by the product without the initial factor."""
    rest = a if where is True else np.where(where, a, 1.0)
    return np.sum(out_bar * np.prod(rest, axis=axis, keepdims=keepdims))


def extreme_of(
    out_bar: Array,
    out: Array,
    a: Array,
    axis: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> Array:
    """Share the cotangent equally between the entries that are the extreme one."""
    hits = a == unreduce(out, axis, keepdims)
    if where is not True:
        hits = hits & where
    ties = tally(hits, axis, a.dtype)
    if initial is not None:
        # Where `initial` is the extreme one, no entry is.
        ties = np.maximum(ties, 1.0)
    return np.where(hits, unreduce(out_bar, axis, keepdims) / ties, 0.0)


def ptp_of(out_bar: Array, a: Array, axis: Any, keepdims: Any) -> Array:
    """Pass to the largest entries, and negated to the smallest."""
    high = np.max(a, axis=axis, keepdims=keepdims)
    low = np.min(a, axis=axis, keepdims=keepdims)
    up = extreme_of(out_bar, high, a, axis, keepdims, None, True)
    return up - extreme_of(out_bar, low, a, axis, keepdims, None, True)


def centred(a: Array, axis: Any, where: Any, mean: Any) -> Array:
    """Return the deviations from the mean; conjugated if complex."""
    middle = mean
    if mean is None and where is not True:
        middle = np.mean(a, axis=axis, keepdims=True, where=where)
    elif mean is None and axis is None:
        middle = np.mean(a)
    elif mean is None:
        middle = np.mean(a, axis=axis, keepdims=True)
    return np.conj(a - middle) if is_complex(a) else a - middle


def freedom(a: Array, axis: Any, where: Any, ddof: Any, correction: Any) -> Any:
    """Return the number of entries less the degrees of freedom taken away."""
    taken = ddof if correction is None else correction
    entries = taking_part(a, axis, where)
    return entries if is_constant(taken) and taken == 0 else entries - taken


def var_of(
    out_bar: Array,
    a: Array,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
    correction: Any,
) -> Array:
    """Return 2 (a - mean) / (n - ddof) times the cotangent."""
    free = freedom(a, axis, where, ddof, correction)
    a_bar = centred(a, axis, where, mean) * (
        unreduce(out_bar, axis, keepdims) * 2.0 / free
    )
    return cast_back(masked(a_bar, where), a, dtype)


def std_of(
    out_bar: Array,
    out: Array,
    a: Array,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
    correction: Any,
) -> Array:
    """Return (a - mean) / ((n - ddof) std) times the cotangent; 0 where std is 0."""
    free = freedom(a, axis, where, ddof, correction)
    scale = unreduce(out_bar / (out + (out == 0)), axis, keepdims) / free
    a_bar = centred(a, axis, where, mean) * scale
    return cast_back(masked(a_bar, where), a, dtype)


def given_mean(
    out_bar: Array,
    a: Array,
    axis: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Array,
    correction: Any,
) -> Array:
    """Return the cotangent of the mean that was given to the variance."""
    a_bar = var_of(out_bar, a, axis, None, ddof, keepdims, where, mean, correction)
    return runtime.unbroadcast(-a_bar, mean)


def given_mean_std(
    out_bar: Array,
    out: Array,
    a: Array,
    axis: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Array,
    correction: Any,
) -> Array:
    """Return the cotangent of the mean that was given to the standard deviation."""
    a_bar = std_of(out_bar, out, a, axis, None, ddof, keepdims, where, mean, correction)
    return runtime.unbroadcast(-a_bar, mean)


def cumsum_of(out_bar: Array, a: Array, axis: Any, dtype: Any) -> Array:
    """Return the sums of the cotangents from each entry on."""
    if axis is None:
        return cast_back(np.reshape(reverse_cumsum(out_bar, 0), np.shape(a)), a, dtype)
    return cast_back(reverse_cumsum(out_bar, axis), a, dtype)


def cumprod_of_axis(out_bar: Array, a: Array, axis: Any) -> Array:
    """Return the cotangent of ``np.cumprod(a, axis)`` without a division.

    a_bar[i] = a[0] ... a[i - 1] r[i], where r[i] = out_bar[i] + a[i + 1] r[i + 1].
    """
    ones = np.ones_like(part(a, axis, 0, 1))
    before = np.cumprod(np.concatenate([ones, part(a, axis, 0, -1)], axis), axis)
    ahead = np.concatenate([part(a, axis, 1, None), ones], axis)
    rest = runtime.scan(np.flip(ahead, axis), np.flip(out_bar, axis), axis)
    return before * np.flip(rest, axis)


def cumprod_of(out_bar: Array, a: Array, axis: Any, dtype: Any) -> Array:
    """Return the cotangent of a running product; zeros do no harm."""
    if axis is None:
        flat = cumprod_of_axis(out_bar, np.reshape(a, -1), 0)
        return cast_back(np.reshape(flat, np.shape(a)), a, dtype)
    return cast_back(cumprod_of_axis(out_bar, a, axis), a, dtype)


def after(x: Array, axis: Any) -> Array:
    """Return `x` moved one place towards the end, with a zero before it."""
    return np.concatenate(
        [np.zeros_like(part(x, axis, 0, 1)), part(x, axis, 0, -1)], axis
    )


def scan_b(out_bar: Array, a: Array, axis: Any) -> Array:
    """Run the recurrence backwards: t[i] = out_bar[i] + a[i + 1] t[i + 1]."""
    ahead = after(np.flip(a, axis), axis)
    return np.flip(runtime.scan(ahead, np.flip(out_bar, axis), axis), axis)


def scan_a(out_bar: Array, out: Array, a: Array, axis: Any) -> Array:
    """Multiply each backward sum by the state that its factor multiplied."""
    return scan_b(out_bar, a, axis) * after(out, axis)


def initial_of(
    out_bar: Array, out: Array, a: Array, axis: Any, keepdims: Any, where: Any
) -> Array:
    """Pass to the initial value where no entry is the extreme one."""
    hits = (a == unreduce(out, axis, keepdims)) & where
    taken = np.any(hits, axis=axis, keepdims=keepdims)
    return np.sum(np.where(taken, 0.0, out_bar))


def cumulative_sum_of(
    out_bar: Array, x: Array, axis: Any, dtype: Any, include_initial: Any
) -> Array:
    """Return the sums of the cotangents from each entry on, the leading 0 left out."""
    along = 0 if axis is None else axis
    g = part(out_bar, along, 1, None) if include_initial else out_bar
    return cumsum_of(g, x, along, dtype)


def cumulative_prod_of(
    out_bar: Array, x: Array, axis: Any, dtype: Any, include_initial: Any
) -> Array:
    """Return the cotangent of a running product, the leading 1 left out."""
    along = 0 if axis is None else axis
    g = part(out_bar, along, 1, None) if include_initial else out_bar
    return cumprod_of(g, x, along, dtype)


TAIL = "axis=None, dtype=None, out_=None, keepdims=False"

pullback(
    f"np.sum(a, {TAIL}, initial=None, where=True)",
    *(sum_of, None, None, None, None, "np.sum(out_bar)"),
)
pullback(f"np.mean(a, {TAIL}, where=True)", mean_of)
pullback(
    f"np.prod(a, {TAIL}, initial=None, where=True)",
    *(prod_of, None, None, None, None, prod_initial),
)
for name in ("np.max", "np.amax", "np.min", "np.amin"):
    pullback(
        f"{name}(a, axis=None, out_=None, keepdims=False, initial=None, where=True)",
        *(extreme_of, None, None, None, initial_of),
        kink="the extreme entry is not unique: equal shares",
    )
pullback("np.ptp(a, axis=None, out_=None, keepdims=False)", ptp_of)
REST = "ddof=0, keepdims=False, where=True, mean=None, correction=None"
pullback(
    f"np.var(a, axis=None, dtype=None, out_=None, {REST})",
    *(var_of, None, None, None, None, None, None, given_mean),
)
pullback(
    f"np.std(a, axis=None, dtype=None, out_=None, {REST})",
    *(std_of, None, None, None, None, None, None, given_mean_std),
    kink="all entries are equal: 0",
)
pullback("np.cumsum(a, axis=None, dtype=None)", cumsum_of)
pullback("np.cumprod(a, axis=None, dtype=None)", cumprod_of)
pullback(
    "np.cumulative_sum(x, axis=None, dtype=None, include_initial=False)",
    cumulative_sum_of,
)
pullback(
    "np.cumulative_prod(x, axis=None, dtype=None, include_initial=False)",
    cumulative_prod_of,
)
pullback("runtime.scan(a, b, axis=0)", scan_a, scan_b)
