"""Entries chosen, sorted, compared with neighbours or looked up in tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import runtime
from ..operation import FRESH, may_view, view
from .helpers import (
    count,
    is_constant,
    is_sequence,
    known_rank,
    part,
    positions,
    unreduce,
)
from .registry import pullback, zero

Array = Any


def take_of(out_bar: Array, a: Array, indices: Any, axis: Any, mode: Any) -> Array:
    """Put the entries back where they were taken from; repeats are added."""
    places = np.take(positions(a), indices, axis=axis, mode=mode)
    return runtime.gather_pullback(out_bar, places, a)


def take_along_axis_of(out_bar: Array, arr: Array, indices: Any, axis: Any) -> Array:
    """Put the entries back where they were taken from; repeats are added."""
    places = np.take_along_axis(positions(arr), indices, axis=axis)
    return runtime.gather_pullback(out_bar, places, arr)


def compress_of(out_bar: Array, condition: Any, a: Array, axis: Any) -> Array:
    """Put the kept entries back among zeros."""
    places = np.compress(condition, positions(a), axis=axis)
    return runtime.gather_pullback(out_bar, places, a)


def diag_of(out_bar: Array, v: Array, k: Any) -> Array:
    """Take the diagonal out of a matrix, or put it into a matrix of zeros."""
    if np.ndim(v) == 1:
        return np.diag(out_bar) if is_constant(k) and k == 0 else np.diag(out_bar, k)
    v_bar = np.zeros_like(v)
    rows = np.arange(len(out_bar))
    if is_constant(k) and k == 0:
        v_bar[rows, rows] = out_bar
    elif k > 0:
        v_bar[rows, rows + k] = out_bar
    else:
        v_bar[rows - k, rows] = out_bar
    return v_bar


def diagonal_of(out_bar: Array, a: Array, offset: Any, axis1: Any, axis2: Any) -> Array:
    """Put the diagonals back among zeros."""
    places = np.diagonal(positions(a), offset, axis1, axis2)
    return runtime.gather_pullback(out_bar, places, a)


def trace_of(out_bar: Array, a: Array, offset: Any, axis1: Any, axis2: Any) -> Array:
    """Put the cotangent on the diagonal."""
    rows, columns = np.shape(a)[axis1], np.shape(a)[axis2]
    if is_constant(offset) and offset == 0:
        eye = np.eye(rows, columns, dtype=a.dtype)
    else:
        eye = np.eye(rows, columns, offset, dtype=a.dtype)
    if known_rank(a) and np.ndim(a) == 2:
        return out_bar * (eye.T if axis1 in (1, -1) else eye)
    moved = np.expand_dims(out_bar, (-2, -1)) * eye
    return np.moveaxis(moved, (-2, -1), (axis1, axis2))


def linalg_diagonal_of(out_bar: Array, x: Array, offset: Any) -> Array:
    """Put the diagonals of the last two axes back among zeros."""
    return diagonal_of(out_bar, x, offset, -2, -1)


def linalg_trace_of(out_bar: Array, x: Array, offset: Any) -> Array:
    """Put the cotangent on the diagonals of the last two axes."""
    return trace_of(out_bar, x, offset, -2, -1)


def sort_of(out_bar: Array, a: Array, axis: Any) -> Array:
    """Send each sorted entry back to its place: along the permutation chosen."""
    if axis is None:
        order = np.argsort(a, axis=None, kind="stable")
        return np.reshape(out_bar[np.argsort(order)], np.shape(a))
    order = np.argsort(a, axis=axis, kind="stable")
    return np.take_along_axis(out_bar, np.argsort(order, axis=axis), axis=axis)


def partition_of(out_bar: Array, a: Array, kth: Any, axis: Any) -> Array:
    """Send each entry back to its place."""
    order = np.argpartition(a, kth, axis=axis)
    if axis is None:
        return np.reshape(out_bar[np.argsort(order)], np.shape(a))
    return np.take_along_axis(out_bar, np.argsort(order, axis=axis), axis=axis)


def ranks(a: Array, axis: Any) -> Array:
    """Return each entry's place in the sorted order along an axis, or several."""
    if axis is None:
        order = np.argsort(a, axis=None, kind="stable")
        return np.reshape(np.argsort(order), np.shape(a))
    if isinstance(axis, tuple):
        ends = tuple(range(-len(axis), 0))
        moved = np.moveaxis(a, axis, ends)
        flat = np.reshape(moved, (*np.shape(moved)[: -len(axis)], -1))
        return np.moveaxis(np.reshape(ranks(flat, -1), np.shape(moved)), ends, axis)
    return np.argsort(np.argsort(a, axis=axis, kind="stable"), axis=axis)


def median_of(out_bar: Array, a: Array, axis: Any, keepdims: Any) -> Array:
    """Pass to the middle entry, or half to each of the two middle ones."""
    size = count(a, axis)
    half = 0.5 * unreduce(out_bar, axis, keepdims)
    rank = ranks(a, axis)
    low = np.where(rank == (size - 1) // 2, half, 0.0)
    return low + np.where(rank == size // 2, half, 0.0)


def nanmedian_of(out_bar: Array, a: Array, axis: Any, keepdims: Any) -> Array:
    """Pass to the middle number, or half to each of the two: NaN sorts to the end."""
    kept: Any = axis is not None
    size = np.sum(np.logical_not(np.isnan(a)), axis=axis, keepdims=kept)
    half = 0.5 * unreduce(out_bar, axis, keepdims)
    rank = ranks(a, axis)
    low = np.where(rank == (size - 1) // 2, half, 0.0)
    return low + np.where(rank == size // 2, half, 0.0)


def quantile_weights(q: Any, size: Any) -> tuple[Any, Any, Any]:
    """Return the two neighbours of a quantile and the weight of the upper one."""
    place = q * (size - 1)
    low = math.floor(place)
    return low, min(low + 1, size - 1), place - low


def quantile_share(out_bar: Array, rank: Array, q: Any, size: Any) -> Array:
    """Give the two neighbours of a quantile their weights."""
    low, high, weight = quantile_weights(q, size)
    down = np.where(rank == low, (1 - weight) * out_bar, 0.0)
    return down + np.where(rank == high, weight * out_bar, 0.0)


def quantile_of(out_bar: Array, a: Array, q: Any, axis: Any, keepdims: Any) -> Array:
    """Pass to the two neighbours of a quantile by their weights."""
    size = count(a, axis)
    rank = ranks(a, axis)
    if not is_sequence(q) and (is_constant(q) or np.ndim(q) == 0):
        return quantile_share(unreduce(out_bar, axis, keepdims), rank, q, size)
    total = np.zeros_like(a)
    for k in range(len(q)):
        g = unreduce(out_bar[k], axis, keepdims)
        total = total + quantile_share(g, rank, q[k], size)
    return total


def percentile_of(out_bar: Array, a: Array, q: Any, axis: Any, keepdims: Any) -> Array:
    """Pass to the two neighbours of a percentile by their weights."""
    if is_sequence(q):
        return quantile_of(out_bar, a, [x / 100 for x in q], axis, keepdims)
    return quantile_of(out_bar, a, q / 100, axis, keepdims)


def undiff(out_bar: Array, axis: Any) -> Array:
    """Return the cotangent of one round of differences."""
    return -np.diff(out_bar, axis=axis, prepend=0.0, append=0.0)


def ediff1d_of(out_bar: Array, ary: Array) -> Array:
    """Return the cotangent of the differences of the flattened array."""
    return np.reshape(undiff(out_bar, 0), np.shape(ary))


def diff_framed(out_bar: Array, n: Any, axis: Any) -> Array:
    """Return the cotangent of the array with what was put before and after it."""
    if is_constant(n) and n == 1:
        return undiff(out_bar, axis)
    for _ in range(n):
        out_bar = undiff(out_bar, axis)
    return out_bar


def diff_of(
    out_bar: Array, a: Array, n: Any, axis: Any, prepend: Any, append: Any
) -> Array:
    """Return the part of the cotangent that belongs to the array."""
    framed = diff_framed(out_bar, n, axis)
    if prepend is None and append is None:
        if is_constant(n) and n <= 1:
            return framed
        # Fewer entries than rounds of differences: none of them is used.
        return part(framed, axis, 0, np.shape(a)[axis])
    start: Any = 0
    if prepend is not None:
        start = 1 if np.ndim(prepend) == 0 else np.shape(prepend)[axis]
    return np.take(framed, np.arange(start, start + np.shape(a)[axis]), axis=axis)


def diff_prepend(out_bar: Array, n: Any, axis: Any, prepend: Any) -> Array:
    """Return the front part."""
    size = 1 if np.ndim(prepend) == 0 else np.shape(prepend)[axis]
    framed = np.take(diff_framed(out_bar, n, axis), np.arange(size), axis=axis)
    return runtime.unbroadcast(framed, prepend)


def diff_append(out_bar: Array, n: Any, axis: Any, append: Any) -> Array:
    """Return the back part."""
    size = 1 if np.ndim(append) == 0 else np.shape(append)[axis]
    framed = np.take(diff_framed(out_bar, n, axis), np.arange(-size, 0), axis=axis)
    return runtime.unbroadcast(framed, append)


def unique_of(out_bar: Array, out: Array, ar: Array) -> Array:
    """Send each value back to where it stood; equal entries share."""
    place = np.searchsorted(out, ar)
    times = np.bincount(np.ravel(place), minlength=len(out))
    return np.take(out_bar / times, place)


pullback("np.take(a, indices, axis=None, out_=None, mode='raise')", take_of)
pullback("np.take_along_axis(arr, indices, axis=-1)", take_along_axis_of)
pullback("np.compress(condition, a, axis=None)", None, compress_of)
pullback(
    "np.extract(condition, arr)",
    None,
    "runtime.gather_pullback(out_bar, np.extract(condition, positions(arr)), arr)",
)
pullback(
    "runtime.gather_pullback(out_bar_, places, x)",
    *("runtime.unbroadcast(np.take(out_bar, places), out_bar_)", None, "0.0"),
)
pullback("np.diag(v, k=0)", diag_of, alias=may_view(0, read_only=True))
pullback("np.diagflat(v, k=0)", "np.reshape(np.diag(out_bar, k), np.shape(v))")
for name in ("np.diagonal", "np.trace"):
    pullback(
        f"{name}(a, offset=0, axis1=0, axis2=1)",
        diagonal_of if name == "np.diagonal" else trace_of,
        alias=view(0, read_only=True) if name == "np.diagonal" else FRESH,
    )
pullback(
    "np.linalg.diagonal(x, offset=0)",
    linalg_diagonal_of,
    alias=view(0, read_only=True),
)
pullback("np.linalg.trace(x, offset=0)", linalg_trace_of)
pullback("np.tril(m, k=0)", "np.tril(out_bar, k)")
pullback("np.triu(m, k=0)", "np.triu(out_bar, k)")
pullback("np.sort(a, axis=-1, kind=None)", sort_of)
pullback("np.partition(a, kth, axis=-1)", partition_of)
pullback(
    "np.median(a, axis=None, out_=None, overwrite_input=False, keepdims=False)",
    median_of,
)
pullback(
    "np.nanmedian(a, axis=None, out_=None, overwrite_input=False, keepdims=False)",
    nanmedian_of,
)
TAIL = "q, axis=None, out_=None, overwrite_input=False, method='linear', keepdims=False"
LINEAR = (("method", ("linear",)),)
pullback(f"np.quantile(a, {TAIL})", quantile_of, only=LINEAR)
pullback(f"np.percentile(a, {TAIL})", percentile_of, only=LINEAR)
pullback(
    "np.diff(a, n=1, axis=-1, prepend=None, append=None)",
    *(diff_of, None, None, diff_prepend, diff_append),
    alias=may_view(0),  # where n is 0
)
pullback("np.ediff1d(ary)", ediff1d_of)
pullback("np.unique(ar)", unique_of, kink="equal entries: equal shares")
pullback("np.unwrap(p, discont=None, axis=-1)", "out_bar")

zero(
    "np.argmax(a, axis=None, out_=None, keepdims=False)",
    "np.argmin(a, axis=None, out_=None, keepdims=False)",
    "np.nanargmax(a, axis=None)",
    "np.nanargmin(a, axis=None)",
    "np.argsort(a, axis=-1, kind=None)",
    "np.argpartition(a, kth, axis=-1)",
    "np.lexsort(keys, axis=-1)",
    "np.searchsorted(a, v, side='left', sorter=None)",
    "np.digitize(x, bins, right=False)",
    "np.nonzero(a)",
    "np.flatnonzero(a)",
    "np.argwhere(a)",
    "np.count_nonzero(a, axis=None, keepdims=False)",
    "np.isin(element, test_elements)",
    "runtime.winners(index, x)",
)
