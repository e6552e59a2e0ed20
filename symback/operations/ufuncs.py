"""The methods of ufuncs: `reduce`, `accumulate` and `outer`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .helpers import gap, part, positions, softmax, to_last, unreduce
from .reductions import cumprod_of, cumsum_of, extreme_of, prod_of, sum_of
from .registry import pullback

Array = Any


def records_of(out_bar: Array, out: Array, a: Array, axis: Any) -> Array:
    """Send each running extreme back to the entry that set it."""
    running = to_last(out, axis)
    first = np.ones_like(running[..., :1], dtype=bool)
    new = np.concatenate([first, running[..., 1:] != running[..., :-1]], axis=-1)
    places = np.where(new, np.arange(np.shape(a)[axis]), 0)
    setter = np.maximum.accumulate(places, axis=-1)
    source = np.take_along_axis(to_last(positions(a), axis), setter, axis=-1)
    return runtime.gather_pullback(to_last(out_bar, axis), source, a)


def log_sum_of(out_bar: Array, a: Array, axis: Any, keepdims: Any) -> Array:
    """Multiply by the share of each entry in the sum."""
    return unreduce(out_bar, axis, keepdims) * softmax(a, axis)


def log_sums_of(out_bar: Array, out: Array, a: Array, axis: Any) -> Array:
    """Run back through the sums: t[i] = out'[i] + exp(out[i] - out[i + 1]) t[i + 1]."""
    ratio = np.exp(gap(part(out, axis, 0, -1), part(out, axis, 1, None)))
    ahead = np.concatenate([ratio, np.ones_like(part(a, axis, 0, 1))], axis=axis)
    t = runtime.scan(np.flip(ahead, axis), np.flip(out_bar, axis), axis)
    return np.exp(gap(a, out)) * np.flip(t, axis)


def flat(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of an outer operation as a matrix."""
    return np.reshape(out_bar, (np.size(a), np.size(b)))


def outer_sum_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Add up over the second argument."""
    return np.reshape(np.sum(flat(out_bar, a, b), axis=1), np.shape(a))


def outer_sum_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Add up over the first argument."""
    return np.reshape(np.sum(flat(out_bar, a, b), axis=0), np.shape(b))


def outer_difference_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Add up over the first argument, negated."""
    return -outer_sum_b(out_bar, a, b)


def outer_product_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Multiply by the second argument and add up over it."""
    return np.reshape(flat(out_bar, a, b) @ np.ravel(b), np.shape(a))


def outer_product_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Multiply by the first argument and add up over it."""
    return np.reshape(np.ravel(a) @ flat(out_bar, a, b), np.shape(b))


REDUCE = "axis=0, dtype=None, out_=None, keepdims=False"
pullback(f"np.add.reduce(a, {REDUCE}, initial=None, where=True)", sum_of)
pullback(f"np.multiply.reduce(a, {REDUCE}, initial=None, where=True)", prod_of)
for name in ("np.maximum", "np.minimum"):
    pullback(
        f"{name}.reduce(a, {REDUCE}, initial=None, where=True)",
        extreme_of,
        kink="the extreme entry is not unique: equal shares",
    )
    pullback(
        f"{name}.accumulate(a, axis=0)",
        records_of,
        kink="an extreme entry is not unique: to the first",
    )
pullback(f"np.logaddexp.reduce(a, {REDUCE})", log_sum_of)
pullback("np.logaddexp.accumulate(a, axis=0)", log_sums_of)
pullback("np.add.accumulate(a, axis=0, dtype=None)", cumsum_of)
pullback("np.multiply.accumulate(a, axis=0, dtype=None)", cumprod_of)
pullback("np.add.outer(a, b)", outer_sum_a, outer_sum_b)
pullback("np.subtract.outer(a, b)", outer_sum_a, outer_difference_b)
pullback("np.multiply.outer(a, b)", outer_product_a, outer_product_b)
