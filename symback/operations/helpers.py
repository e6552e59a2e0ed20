"""What several rules say alike: small functions in the language of users' functions.

Lowering inlines them, so they may hold assignments, ``if`` on what is known while
lowering, ``for`` over known structures, slices and calls of NumPy, and nothing else.
Four of them are questions that lowering answers itself: `known_rank`, `is_constant`,
`is_complex` and `is_sequence`.

>>> import numpy as np
>>> x = np.arange(6.0).reshape(2, 3)
>>> unreduce(np.sum(x, axis=1), 1, False).shape
(2, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import runtime

__all__ = [
    "adjoint",
    "as_read",
    "both",
    "cast_back",
    "cho_solve_factor",
    "conjugated",
    "count",
    "distance_weights",
    "gap",
    "inverse_axes",
    "is_complex",
    "is_constant",
    "is_sequence",
    "item",
    "known_rank",
    "mirrored",
    "others",
    "over",
    "part",
    "per_matrix",
    "positions",
    "reverse_cumsum",
    "safe",
    "scaled",
    "softmax",
    "spectral",
    "spread",
    "standard",
    "swap",
    "triangle",
    "triangular_a",
    "twin",
    "unreduce",
    "whole_convolution",
]

STATIC: set[Callable[..., Any]] = set()
"""Functions of constants: lowering may call them instead of inlining them."""

Array = Any
"""Anything that NumPy computes with: Python scalars, NumPy scalars and arrays."""


def known_rank(*values: Array) -> bool:
    """Return whether the ranks of these values are known; lowering answers itself."""
    return bool(values) or True


def is_constant(*values: Any) -> bool:
    """Return whether these values are known while lowering, which answers itself.

    Run as plain Python it is True of Python's own numbers and of None.
    """
    return all(isinstance(v, (int, float, complex, str, type(None))) for v in values)


def is_complex(value: Array) -> bool:
    """Return whether a value is complex; lowering answers from what it knows."""
    return np.iscomplexobj(value)


def is_sequence(value: Any) -> bool:
    """Return whether a value is a list or a tuple; lowering answers itself.

    What is not known to be one while lowering counts as an array.
    """
    return isinstance(value, (list, tuple))


def gap(x: Array, y: Array) -> Array:
    """Return ``x - y``, and 0 between two equal infinities.

    >>> gap(np.array([-np.inf, 2.0]), np.array([-np.inf, 0.5]))
    array([0. , 1.5])
    """
    if is_constant(x) and x == 0:
        return -y
    if (is_constant(x) and abs(x) < np.inf) or (is_constant(y) and abs(y) < np.inf):
        return x - y
    equal = np.isinf(x) & (x == y)
    return np.where(equal, 0.0, x) - np.where(equal, 0.0, y)


def swap(x: Array) -> Array:
    """Return a matrix, or each of a stack of matrices, transposed."""
    if known_rank(x) and np.ndim(x) == 2:
        return x.T
    return np.swapaxes(x, -1, -2)


def both(first: Any, second: Any) -> Any:
    """Add two contributions, of which an output without a cotangent has none."""
    if first is None:
        return second
    return first if second is None else first + second


def scaled(bar: Any, factor: Array) -> Any:
    """Multiply a cotangent, or return None for an output that has none."""
    return None if bar is None else bar * factor


def adjoint(x: Array) -> Array:
    """Return the conjugate transpose of a matrix, or of each of a stack."""
    if is_complex(x):
        return np.conj(swap(x))
    return swap(x)


def as_read(x: Array, lower: Any) -> Array:
    """Return a Hermitian cotangent as that of the one triangle that is read.

    >>> as_read(np.ones((2, 2)), True)
    array([[1., 0.],
           [2., 1.]])
    """
    if lower:
        return np.tril(x) + np.tril(x, -1)
    return np.triu(x) + np.triu(x, 1)


def spectral(v: Array, w: Array) -> Array:
    """Return V diag(w) Vᵀ."""
    return (v * np.expand_dims(w, -2)) @ adjoint(v)


def mirrored(x: Array, lower: Any) -> Array:
    """Return the Hermitian matrix that a function sees which reads one triangle.

    >>> mirrored(np.array([[1.0, 9.0], [2.0, 3.0]]), True)
    array([[1., 2.],
           [2., 3.]])
    """
    whole = np.tril(x) if lower else np.triu(x)
    whole = whole + adjoint(np.tril(x, -1) if lower else np.triu(x, 1))
    # On the diagonal no imaginary part is read.
    return 0.5 * (whole + adjoint(whole)) if is_complex(x) else whole


def per_matrix(x: Array, a: Array) -> Array:
    """Return `x`, one number a matrix of `a`, ready to be multiplied with `a`."""
    if known_rank(a) and np.ndim(a) == 2:
        return x
    return np.expand_dims(x, (-2, -1))


def unreduce(x: Array, axis: Any, keepdims: Any) -> Array:
    """Put the axes that a reduction removed back as axes of length 1."""
    if axis is None or keepdims:
        return x
    return np.expand_dims(x, axis)


def spread(x: Array, like: Array, axis: Any, keepdims: Any) -> Array:
    """Give every entry of `like` the reduced value that it was reduced to."""
    return np.broadcast_to(unreduce(x, axis, keepdims), np.shape(like))


def count(x: Array, axis: Any) -> Any:
    """Return how many entries a reduction of `x` over `axis` takes together."""
    if axis is None:
        return np.size(x)
    if isinstance(axis, tuple):
        total = 1
        for k in axis:
            total = total * np.shape(x)[k]
        return total
    return np.shape(x)[axis]


def cast_back(x_bar: Array, x: Array, dtype: Any) -> Array:
    """Undo what ``dtype=`` did to a cotangent; a cast to integers stops it."""
    if dtype is None:
        return x_bar
    if np.issubdtype(dtype, np.inexact):
        return runtime.unbroadcast(x_bar, x)
    return np.zeros_like(x)


def part(x: Array, axis: Any, start: Any, stop: Any) -> Array:
    """Return ``x[start:stop]`` along an axis."""
    if is_constant(axis):
        if axis == 0:
            return x[start:stop]
        if axis == 1:
            return x[:, start:stop]
        if axis == 2:
            return x[:, :, start:stop]
        if axis == -1:
            return x[..., start:stop]
        if axis == -2:
            return x[..., start:stop, :]
    return np.moveaxis(np.moveaxis(x, axis, 0)[start:stop], 0, axis)


def item(x: Array, axis: Any, k: Any) -> Array:
    """Return ``x[k]`` along an axis."""
    if is_constant(axis):
        if axis == 0:
            return x[k]
        if axis == 1:
            return x[:, k]
        if axis == -1:
            return x[..., k]
        if axis == -2:
            return x[..., k, :]
    return np.moveaxis(x, axis, 0)[k]


def safe(out: Array) -> Array:
    """Return `out` with 1 in place of 0, to divide by where the result is 0 anyway."""
    return out + (out == 0)


def softmax(x: Array, axis: Any) -> Array:
    """Return exp(x) / sum(exp(x)) without overflow; 0 where all entries are -inf."""
    top = largest(x, axis)
    e = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    return e / safe(total(e, axis))


def largest(x: Array, axis: Any) -> Array:
    """Return the maximum over an axis that is kept, or over all."""
    if axis is None:
        return np.max(x)
    return np.max(x, axis=axis, keepdims=True)


def total(x: Array, axis: Any) -> Array:
    """Return the sum over an axis that is kept, or over all."""
    if axis is None:
        return np.sum(x)
    return np.sum(x, axis=axis, keepdims=True)


def tally(hits: Array, axis: Any, dtype: Any) -> Array:
    """Return how many are true over an axis that is kept, or over all, as floats."""
    if axis is None:
        return np.sum(hits, dtype=dtype)
    return np.sum(hits, axis=axis, keepdims=True, dtype=dtype)


def to_last(x: Array, axis: Any) -> Array:
    """Move an axis to the end."""
    return x if is_constant(axis) and axis == -1 else np.moveaxis(x, axis, -1)


def from_last(x: Array, axis: Any) -> Array:
    """Move the last axis back to its place."""
    return x if is_constant(axis) and axis == -1 else np.moveaxis(x, -1, axis)


def standard(x: Array, loc: Any, scale: Any) -> Array:
    """Return ``(x - loc) / scale``, without what is known to do nothing."""
    moved = x if is_constant(loc) and loc == 0 else x - loc
    return over(moved, scale)


def over(x: Array, scale: Any) -> Array:
    """Return ``x / scale``, or x itself where the scale is known to be 1."""
    return x if is_constant(scale) and scale == 1 else x / scale


def distance_weights(out_bar: Array, out: Array, metric: Any) -> Array:
    """Return the factors of the differences of the points."""
    if metric == "sqeuclidean":
        return 2.0 * out_bar
    return out_bar / (out + (out == 0))


def whole_convolution(out_bar: Array, in1: Array, in2: Array, mode: Any) -> Array:
    """Return the cotangent of the full convolution: zeros where `mode` cut it."""
    if mode == "full":
        return out_bar
    if not known_rank(in1, in2):
        return runtime.whole_convolution(out_bar, in1, in2, mode)
    pads = []
    for k in range(np.ndim(in1)):
        first, second = np.shape(in1)[k], np.shape(in2)[k]
        missing = first + second - 1 - np.shape(out_bar)[k]
        start = (second - 1) // 2 if mode == "same" else missing // 2
        pads.append((start, missing - start))
    return np.pad(out_bar, tuple(pads))


def triangle(x: Array, lower: Any, unit: Any) -> Array:
    """Keep the triangle that was read."""
    if lower:
        return np.tril(x, -1) if unit else np.tril(x)
    return np.triu(x, 1) if unit else np.triu(x)


def triangular_a(
    out: Array, b_bar: Array, b: Array, trans: Any, lower: Any, unit: Any
) -> Array:
    """Return minus the product of both solutions, in the triangle that was read."""
    turned = trans in (1, "T")
    if np.ndim(b) == 1:
        product = np.outer(out, b_bar) if turned else np.outer(b_bar, out)
    else:
        product = out @ b_bar.T if turned else b_bar @ out.T
    return -triangle(product, lower, unit)


def cho_solve_factor(out: Array, b_bar: Array, c_and_lower: Any, b: Array) -> Any:
    """Return the cotangent of the factor: of L in L Lᵀ, or of U in Uᵀ U."""
    c, lower = c_and_lower
    full = np.outer(b_bar, out) if np.ndim(b) == 1 else b_bar @ out.T
    both = -(full + full.T)
    factor = triangle(c, lower, False)
    if lower:
        return [np.tril(both @ factor), None]
    return [np.triu(factor @ both), None]


def twin(a: Array, g: Array) -> Array:
    """Return [[aᵀ, g], [0, aᵀ]], whose function holds the function's derivative."""
    return np.block([[a.T, g], [np.zeros_like(a), a.T]])


def conjugated(x: Array) -> Array:
    """Return the complex conjugate, which is x itself if x is real."""
    return np.conj(x) if is_complex(x) else x


def positions(x: Array) -> Array:
    """Return an array shaped like `x` that numbers its entries.

    What a rearrangement does to it says where each entry went.
    """
    return np.reshape(np.arange(np.size(x)), np.shape(x))


def inverse_axes(axes: Any) -> Any:
    """Return the permutation that undoes ``np.transpose(x, axes)``.

    >>> inverse_axes((2, 0, -2))
    (1, 2, 0)
    """
    places = [k % len(axes) for k in axes]
    return tuple([places.index(k) for k in range(len(axes))])


STATIC.add(inverse_axes)


def reverse_cumsum(x: Array, axis: Any) -> Array:
    """Return the sums of each entry and those after it along an axis."""
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis)


def others(x: Array, axis: Any) -> Array:
    """Return for each entry the product of the others along an axis.

    No division, so zeros do no harm.

    >>> others(np.array([2.0, 0.0, 5.0]), 0)
    array([ 0., 10.,  0.])
    """
    ones = np.ones_like(part(x, axis, 0, 1))
    rest = np.flip(part(x, axis, 1, None), axis)
    before = np.cumprod(np.concatenate([ones, part(x, axis, 0, -1)], axis), axis)
    after = np.cumprod(np.concatenate([ones, rest], axis), axis)
    return before * np.flip(after, axis)
