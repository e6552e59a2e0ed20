"""Rearranging, joining and splitting arrays: the cotangent goes back the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..operation import EVERY, may_view, view
from .helpers import (
    cast_back,
    inverse_axes,
    is_sequence,
    item,
    known_rank,
    part,
    positions,
)
from .registry import pullback, zero

Array = Any


def transpose_of(out_bar: Array, axes: Any) -> Array:
    """Undo a permutation of axes."""
    if axes is None:
        return np.transpose(out_bar)
    return np.transpose(out_bar, inverse_axes(axes))


def concatenate_of(out_bar: Array, arrays: Any, axis: Any) -> Any:
    """Cut the cotangent where the arrays were joined."""
    bars = []
    start: Any = 0
    for a in arrays:
        if axis is None:
            stop = start + np.size(a)
            bars.append(np.reshape(out_bar[start:stop], np.shape(a)))
        else:
            stop = start + np.shape(a)[axis]
            bars.append(part(out_bar, axis, start, stop))
        start = stop
    return bars


def stack_of(out_bar: Array, arrays: Any, axis: Any) -> Any:
    """Take the slices of the new axis."""
    return [item(out_bar, axis, k) for k in range(len(arrays))]


def vstack_of(out_bar: Array, tup: Any) -> Any:
    """Cut along the rows; vectors and scalars were rows."""
    bars = []
    start: Any = 0
    for a in tup:
        stop = start + len(np.atleast_2d(a))
        bars.append(np.reshape(out_bar[start:stop], np.shape(a)))
        start = stop
    return bars


def hstack_of(out_bar: Array, tup: Any) -> Any:
    """Cut along the second axis, or the only one."""
    bars = []
    start: Any = 0
    for a in tup:
        if np.ndim(out_bar) == 1:
            stop = start + np.size(a)
            bars.append(np.reshape(out_bar[start:stop], np.shape(a)))
        else:
            stop = start + np.shape(a)[1]
            bars.append(out_bar[:, start:stop])
        start = stop
    return bars


def dstack_of(out_bar: Array, tup: Any) -> Any:
    """Cut along the third axis."""
    bars = []
    start: Any = 0
    for a in tup:
        stop = start + np.shape(np.atleast_3d(a))[2]
        bars.append(np.reshape(out_bar[:, :, start:stop], np.shape(a)))
        start = stop
    return bars


def column_stack_of(out_bar: Array, tup: Any) -> Any:
    """Cut along the columns; vectors were columns."""
    bars = []
    start: Any = 0
    for a in tup:
        if np.ndim(a) == 2:
            stop = start + np.shape(a)[1]
            bars.append(out_bar[:, start:stop])
        else:
            stop = start + 1
            bars.append(np.reshape(out_bar[:, start], np.shape(a)))
        start = stop
    return bars


def unpack(x_bar: Array, like: Any, index: Any) -> Any:
    """Return the entries of an array in the structure of nested lists."""
    if is_sequence(like):
        return [unpack(x_bar, like[k], (*index, k)) for k in range(len(like))]
    if index == ():
        return x_bar
    return x_bar[index]


def array_of(out_bar: Array, object: Any, dtype: Any) -> Any:
    """Take the entries back out of an array built from nested lists."""
    if is_sequence(object):
        return unpack(out_bar, object, ())
    return cast_back(out_bar, object, dtype)


def append_arr(out_bar: Array, arr: Array, values: Array, axis: Any) -> Array:
    """Return the front part."""
    return concatenate_of(out_bar, [arr, values], axis)[0]


def append_values(out_bar: Array, arr: Array, values: Array, axis: Any) -> Array:
    """Return the back part."""
    return concatenate_of(out_bar, [arr, values], axis)[1]


def roll_of(out_bar: Array, shift: Any, axis: Any) -> Array:
    """Roll back."""
    back = tuple([-k for k in shift]) if isinstance(shift, tuple) else -shift
    return np.roll(out_bar, back) if axis is None else np.roll(out_bar, back, axis)


def block_of(out_bar: Array, arrays: Any) -> Any:
    """Cut a block matrix back into its blocks: nested lists, innermost last axis."""
    return unblock(out_bar, arrays, -block_depth(arrays))


def block_depth(arrays: Any) -> int:
    """Return how deep the lists are nested.

    >>> block_depth([[1.0, 2.0], [3.0, 4.0]])
    2
    """
    return 1 + block_depth(arrays[0]) if is_sequence(arrays) else 0


def extent(a: Any, axis: int) -> Any:
    """Return the length along an axis of a block or of nested lists of blocks."""
    if is_sequence(a):
        return extent(a[0], axis)
    return 1 if np.ndim(a) < -axis else np.shape(a)[axis]


def unblock(x_bar: Array, arrays: Any, axis: int) -> Any:
    """Cut along `axis` for each item of a list, then along the next for its items."""
    if not is_sequence(arrays):
        return np.reshape(x_bar, np.shape(arrays))
    bars = []
    start: Any = 0
    for a in arrays:
        stop = start + extent(a, axis)
        bars.append(unblock(part(x_bar, axis, start, stop), a, axis + 1))
        start = stop
    return bars


def tile_of(out_bar: Array, A: Array, reps: Any) -> Array:
    """Add the copies."""
    if not known_rank(A) or not isinstance(reps, (int, tuple)):
        return runtime.gather_pullback(out_bar, np.tile(positions(A), reps), A)
    counts = (reps,) if isinstance(reps, int) else reps
    sizes = (1,) * (len(counts) - np.ndim(A)) + np.shape(A)
    counts = (1,) * (np.ndim(A) - len(counts)) + counts
    pairs = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    copies = np.reshape(out_bar, tuple(pairs))
    total = np.sum(copies, axis=tuple(range(0, len(pairs), 2)))
    return np.reshape(total, np.shape(A))


def repeat_of(out_bar: Array, a: Array, repeats: Any, axis: Any) -> Array:
    """Add the repeats."""
    if axis is None and isinstance(repeats, int):
        return np.reshape(
            np.sum(np.reshape(out_bar, (np.size(a), repeats)), axis=1), np.shape(a)
        )
    places = np.repeat(positions(a), repeats, axis)
    return runtime.gather_pullback(out_bar, places, a)


def pad_of(out_bar: Array, array: Array, pad_width: Any, mode: Any) -> Array:
    """Return the inside, with what a mode copied from it added where it came from."""
    places = np.pad(positions(array), pad_width, mode=mode)
    if mode == "constant":
        out_bar = np.where(pad_inside(array, pad_width), out_bar, 0.0)
    return runtime.gather_pullback(out_bar, places, array)


def pad_value(
    out_bar: Array, array: Array, pad_width: Any, constant_values: Any
) -> Array:
    """Sum the border."""
    border = np.where(pad_inside(array, pad_width), 0.0, out_bar)
    return runtime.unbroadcast(border, constant_values)


def pad_inside(array: Array, pad_width: Any) -> Array:
    """Return the mask of the entries that were there before."""
    return np.pad(np.ones(np.shape(array), dtype=bool), pad_width)


def meshgrid_of(outs_bar: Any, xi: Any, indexing: Any) -> Any:
    """Sum each grid over the other axes."""
    bars = []
    for k in range(len(xi)):
        place = 1 - k if indexing == "xy" and k < 2 and len(xi) > 1 else k
        axes = tuple([j for j in range(len(xi)) if j != place])
        bars.append(np.reshape(np.sum(outs_bar[k], axis=axes), np.shape(xi[k])))
    return bars


def broadcast_arrays_of(outs_bar: Any, args: Any) -> Any:
    """Sum each over the axes along which it was stretched."""
    return [runtime.unbroadcast(outs_bar[k], args[k]) for k in range(len(args))]


def hsplit_of(outs_bar: Any, ary: Array) -> Array:
    """Join the pieces again, along the second axis or the only one."""
    return np.concatenate(outs_bar, axis=0 if np.ndim(ary) == 1 else 1)


def delete_of(out_bar: Array, arr: Array, obj: Any, axis: Any) -> Array:
    """Put the kept entries back among zeros."""
    places = np.delete(positions(arr), obj, axis)
    return runtime.gather_pullback(out_bar, places, arr)


def insert_arr(out_bar: Array, arr: Array, obj: Any, values: Array, axis: Any) -> Array:
    """Put the old entries back; what was inserted came from elsewhere."""
    none = np.zeros(np.shape(values), dtype=int)
    places = np.insert(positions(arr) + 1, obj, none, axis)
    kept = np.where(places > 0, out_bar, 0.0)
    return runtime.gather_pullback(kept, np.maximum(places - 1, 0), arr)


def insert_values(
    out_bar: Array, arr: Array, obj: Any, values: Array, axis: Any
) -> Array:
    """Take the inserted entries out."""
    none = np.zeros(np.shape(arr), dtype=int)
    places = np.insert(none, obj, positions(values) + 1, axis)
    kept = np.where(places > 0, out_bar, 0.0)
    return runtime.gather_pullback(kept, np.maximum(places - 1, 0), values)


def rollaxis_of(out_bar: Array, axis: Any, start: Any) -> Array:
    """Move the axis back."""
    return np.moveaxis(out_bar, start if start <= axis else start - 1, axis)


RESHAPED = "np.reshape(out_bar, np.shape(a))"

pullback(
    "np.reshape(a, shape, order='C')",
    "np.reshape(out_bar, np.shape(a), order=order)",
    alias=may_view(0),
)
pullback(
    "np.ravel(a, order='C')",
    "np.reshape(out_bar, np.shape(a), order=order)",
    alias=may_view(0),
)
pullback("np.squeeze(a, axis=None)", RESHAPED, alias=view(0))
pullback("np.expand_dims(a, axis)", RESHAPED, alias=view(0))
for name in ("np.atleast_1d", "np.atleast_2d", "np.atleast_3d"):
    pullback(f"{name}(a)", RESHAPED, alias=view(0))
for name in ("np.transpose", "np.permute_dims"):
    pullback(f"{name}(a, axes=None)", transpose_of, alias=view(0))
for name in ("np.matrix_transpose", "np.linalg.matrix_transpose"):
    pullback(f"{name}(x)", "swap(out_bar)", alias=view(0))
pullback(
    "np.swapaxes(a, axis1, axis2)", "np.swapaxes(out_bar, axis1, axis2)", alias=view(0)
)
pullback(
    "np.moveaxis(a, source, destination)",
    "np.moveaxis(out_bar, destination, source)",
    alias=view(0),
)
pullback(
    "np.broadcast_to(array, shape)",
    "runtime.unbroadcast(out_bar, array)",
    alias=view(0, read_only=True),
)
pullback(
    "runtime.unbroadcast(x_bar, x)",
    *("runtime.unbroadcast(out_bar, x_bar)", "0.0"),
    alias=may_view(0),
)

for name in ("np.concatenate", "np.concat"):
    pullback(f"{name}(arrays, axis=0)", concatenate_of)
pullback("np.stack(arrays, axis=0)", stack_of)
pullback("np.vstack(tup)", vstack_of)
pullback("np.hstack(tup)", hstack_of)
pullback("np.dstack(tup)", dstack_of)
pullback("np.column_stack(tup)", column_stack_of)
pullback("np.block(arrays)", block_of)
pullback("np.append(arr, values, axis=None)", append_arr, append_values)
pullback("np.array(object, dtype=None)", array_of, alias=may_view(0, unless="copy"))
for name in ("np.asarray", "np.asanyarray", "np.ascontiguousarray"):
    pullback(f"{name}(object, dtype=None)", array_of, alias=may_view(0))
pullback("np.copy(a, order='K')", "out_bar")
pullback(
    "np.astype(x, dtype)",
    "cast_back(out_bar, x, dtype)",
    alias=may_view(0, unless="copy"),
)
# Called with an array of their own kind, they return that array.
for name in ("np.float64", "np.float32", "np.complex128", "np.complex64"):
    pullback(f"{name}(x)", "runtime.unbroadcast(out_bar, x)", alias=may_view(0))
zero(
    *("np.int64(x)", "np.int32(x)", "np.intp(x)", "np.bool_(x)", "np.bool(x)"),
    alias=may_view(0),
)

pullback("np.flip(m, axis=None)", "np.flip(out_bar, axis)", alias=view(0))
pullback("np.fliplr(m)", "np.fliplr(out_bar)", alias=view(0))
pullback("np.flipud(m)", "np.flipud(out_bar)", alias=view(0))
pullback("np.rot90(m, k=1, axes=(0, 1))", "np.rot90(out_bar, -k, axes)", alias=view(0))
pullback("np.roll(a, shift, axis=None)", roll_of)
pullback("np.tile(A, reps)", tile_of)
pullback("np.repeat(a, repeats, axis=None)", repeat_of)
pullback(
    "np.pad(array, pad_width, mode='constant', constant_values=0)",
    *(pad_of, None, None, pad_value),
    only=(("mode", ("constant", "edge", "reflect", "symmetric", "wrap")),),
)
pullback("np.delete(arr, obj, axis=None)", delete_of)
pullback("np.insert(arr, obj, values, axis=None)", insert_arr, None, insert_values)
pullback(
    "np.resize(a, new_shape)",
    "runtime.gather_pullback(out_bar, np.resize(positions(a), new_shape), a)",
)
pullback("np.rollaxis(a, axis, start=0)", rollaxis_of, alias=view(0))

# As many outputs as the call has; `outs_bar` is the tuple of their cotangents.
for name in ("np.split", "np.array_split"):
    pullback(
        f"{name}(ary, indices_or_sections, axis=0) -> *outs",
        "np.concatenate(outs_bar, axis=axis)",
        alias=view(0),
    )
pullback("np.hsplit(ary, indices_or_sections) -> *outs", hsplit_of, alias=view(0))
pullback(
    "np.vsplit(ary, indices_or_sections) -> *outs",
    "np.concatenate(outs_bar)",
    alias=view(0),
)
pullback(
    "np.dsplit(ary, indices_or_sections) -> *outs",
    "np.concatenate(outs_bar, axis=2)",
    alias=view(0),
)
pullback(
    "np.unstack(x, axis=0) -> *outs", "np.stack(outs_bar, axis=axis)", alias=view(0)
)
pullback(
    "np.meshgrid(*xi, indexing='xy') -> *outs",
    meshgrid_of,
    alias=may_view(*EVERY, unless="copy", read_only=True),
)
pullback(
    "np.broadcast_arrays(*args) -> *outs",
    broadcast_arrays_of,
    alias=view(*EVERY, read_only=True),
)
zero(
    "np.shape(a)",
    "np.ndim(a)",
    "np.size(a, axis=None)",
    "np.result_type(a)",
    "np.iscomplexobj(x)",
    "np.isrealobj(x)",
    "np.isscalar(element)",
    "np.issubdtype(arg1, arg2)",
)
