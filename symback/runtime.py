"""The few NumPy helpers that generated code may call.

Generated code calls them where the shapes are not known while it is written, and where
a line of NumPy cannot say what is meant.  They need nothing but NumPy.

>>> import numpy as np
>>> unbroadcast(np.ones((4, 3)), np.zeros(3))
array([4., 4., 4.])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "cofactor",
    "cofactor_pullback",
    "dot_pullback_a",
    "dot_pullback_b",
    "gather_pullback",
    "list_add",
    "matmul_pullback_a",
    "matmul_pullback_b",
    "owned",
    "scan",
    "split_like",
    "structure",
    "unbroadcast",
    "whole_convolution",
    "winners",
    "zeros_of",
]

Array = Any
"""Anything that NumPy computes with: Python scalars, NumPy scalars and arrays."""


def structure(like: Any, fields: dict[str, Any]) -> Any:
    """Return an object of the class of `like` with these attributes.

    Its constructor is not called: it may take or check anything.

    >>> class Square:
    ...     def __init__(self, side):
    ...         self.area = side**2
    >>> structure(Square(3.0), {"area": 2.0}).area
    2.0
    """
    made = object.__new__(type(like))
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def unbroadcast(x_bar: Array, x: Array) -> Array:
    """Sum a cotangent over the axes along which `x` was broadcast.

    The result has the shape of `x`, its precision if `x` is a float, and no imaginary
    part if `x` is real.  Where `x` is the larger one, the cotangent is repeated.

    >>> unbroadcast(np.ones((4, 3)), np.zeros((4, 1)))
    array([[3.],
           [3.],
           [3.],
           [3.]])
    >>> unbroadcast(np.ones(3), 2.0)
    3.0
    """
    if isinstance(x, (list, tuple)):
        parts = [unbroadcast(b, a) for b, a in zip(x_bar, x, strict=True)]
        if hasattr(x, "_fields"):
            return type(x)(*parts)
        return type(x)(parts)
    if isinstance(x_bar, list):
        x_bar = np.array(x_bar)
    if isinstance(x, (float, int)) and not isinstance(x, np.generic):
        return x_bar if type(x_bar) is float else float(np.sum(np.real(x_bar)))
    shape = np.shape(x)
    if np.shape(x_bar) != shape:
        lead = max(np.ndim(x_bar) - len(shape), 0)
        x_bar = np.sum(x_bar, axis=tuple(range(lead)))
        shift = len(shape) - np.ndim(x_bar)
        ones = [k for k in range(np.ndim(x_bar)) if shape[shift + k] == 1]
        x_bar = np.sum(x_bar, axis=tuple(ones), keepdims=True)
        if np.shape(x_bar) != shape:
            x_bar = np.array(np.broadcast_to(x_bar, shape))
    if not hasattr(x, "dtype"):
        return x_bar
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    if dtype.kind == "f" and np.iscomplexobj(x_bar):
        x_bar = np.real(x_bar)
    if not hasattr(x_bar, "dtype") or x_bar.dtype != dtype:
        x_bar = np.asarray(x_bar).astype(dtype)
    return np.asarray(x_bar) if isinstance(x, np.ndarray) else x_bar[()]


def zeros_of(x: Any) -> Any:
    """Return zeros shaped as a number, an array, or a list or tuple of them.

    >>> zeros_of((1.0, np.ones(2)))
    [0.0, array([0., 0.])]
    """
    if isinstance(x, (list, tuple)):
        return [zeros_of(part) for part in x]
    if isinstance(x, (float, int)) and not isinstance(x, np.generic):
        return 0.0
    return np.zeros_like(x)


def owned(x: Any) -> Any:
    """Return a number, an array, or a list or tuple of them, in memory of its own.

    >>> x = np.ones(2)
    >>> y, (z, number) = owned((x, [x, 1.0]))
    >>> np.shares_memory(x, y), np.shares_memory(y, z), number
    (False, False, 1.0)
    """
    if isinstance(x, (list, tuple)):
        parts = [owned(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return np.copy(x) if isinstance(x, np.ndarray) else x


def winners(index: Any, x: Array) -> Array:
    """Return which entries of ``v`` stay after ``x[index] = v``.

    Where an index names a place more than once the last write wins.  The mask has the
    shape of ``x[index]``.

    >>> winners(np.array([0, 0, 2]), np.zeros(3))
    array([False,  True,  True])
    """
    places = np.arange(np.size(x)).reshape(np.shape(x))[index]
    if np.ndim(places) == 0:
        return np.asarray(True)
    flat = places.reshape(-1)
    last = np.empty(np.size(x), dtype=np.intp)
    # NumPy assigns in order, so what is left in a place is the last that wrote it.
    last[flat] = np.arange(flat.size)
    return (last[flat] == np.arange(flat.size)).reshape(places.shape)


def split_like(x: Array, arrays: Any, axis: Any = 0) -> list[Array]:
    """Cut an array where `arrays` were concatenated.

    >>> [p.tolist() for p in split_like(np.arange(5), [np.zeros(2), np.zeros(3)])]
    [[0, 1], [2, 3, 4]]
    """
    if axis is None:
        ends = np.cumsum([np.size(a) for a in arrays])[:-1]
        parts = np.split(x, ends)
        return [np.reshape(p, np.shape(a)) for p, a in zip(parts, arrays, strict=True)]
    ends = np.cumsum([np.shape(a)[axis] for a in arrays])[:-1]
    return list(np.split(x, ends, axis=axis))


def add_lists(items: Any, others: Any) -> Any:
    """Return the sums of the items of two lists, or the sum of two arrays.

    >>> add_lists([1.0, 2.0], [0.5, 0.5])
    [1.5, 2.5]
    """
    if not isinstance(items, list):
        return items + others
    return [a + b for a, b in zip(items, others, strict=True)]


def list_add(items: list[Array], index: slice, parts: list[Array]) -> list[Array]:
    """Return a list with `parts` added to the items that a slice names.

    >>> list_add([1.0, 2.0, 3.0], slice(1, None), [10.0, 20.0])
    [1.0, 12.0, 23.0]
    """
    total = list(items)
    for k, part in zip(range(*index.indices(len(total))), parts, strict=True):
        total[k] = total[k] + part
    return total


def gather_pullback(out_bar: Array, places: Array, x: Array) -> Array:
    """Return the cotangent of `x` in ``np.ravel(x)[places]``: repeats are added.

    >>> gather_pullback(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), np.zeros(3))
    array([3., 0., 4.])
    """
    flat = np.ravel(places)
    weights = np.ravel(np.broadcast_to(out_bar, np.shape(places)))
    size = np.size(x)
    if np.iscomplexobj(weights):
        real = np.bincount(flat, weights.real, size)
        total: Array = real + 1j * np.bincount(flat, weights.imag, size)
    else:
        total = np.bincount(flat, weights, size)
    # Padding has places, if only of zeros, even where x has no entries.
    return unbroadcast(np.reshape(total[:size], np.shape(x)), x)


def whole_convolution(out_bar: Array, in1: Array, in2: Array, mode: str) -> Array:
    """Return the cotangent of a full convolution: zeros where `mode` cut it.

    >>> whole_convolution(np.ones(2), np.zeros(3), np.zeros(2), "valid")
    array([0., 1., 1., 0.])
    """
    pads = []
    for first, second, have in zip(
        np.shape(in1), np.shape(in2), np.shape(out_bar), strict=True
    ):
        missing = first + second - 1 - have
        start = (second - 1) // 2 if mode == "same" else missing // 2
        pads.append((start, missing - start))
    return np.pad(out_bar, pads)


def scan(a: Array, b: Array, axis: int = 0) -> Array:
    """Return s with ``s[i] = b[i] + a[i] * s[i - 1]`` along an axis, ``s[-1] = 0``.

    By doubling: each of the log2(n) rounds joins neighbouring stretches of the
    recurrence, so there is neither a loop over the entries nor a division.

    >>> scan(np.array([9.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([ 1.,  3., 10.])
    """
    dtype = np.result_type(a, b)
    factor = np.moveaxis(np.array(a, dtype=dtype), axis, 0)
    total = np.moveaxis(np.array(b, dtype=dtype), axis, 0)
    step = 1
    while step < len(total):
        total[step:] += factor[step:] * total[:-step]
        factor[step:] = factor[step:] * factor[:-step]
        step *= 2
    return np.moveaxis(total, 0, axis)


def cofactor(a: Array) -> Array:
    """Return the matrix of cofactors, ∂det(a)/∂a, of a square matrix or a stack.

    Right for singular matrices too, by the singular value decomposition.

    >>> cofactor(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12) + 0.0
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    a = np.asarray(a)
    u, s, vt = np.linalg.svd(a)
    n = s.shape[-1]
    if n and np.all(s[..., -1] > 1e-3 * s[..., 0]):
        # Well-conditioned: the inverse is as accurate, and cheaper to read.
        inverse = np.swapaxes(np.linalg.inv(a), -1, -2)
        result: Array = np.linalg.det(a)[..., None, None] * inverse
        return result
    ones = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    # det(u) and det(vt) are 1 or -1 (of modulus 1 if complex).
    sign = np.linalg.det(u) * np.linalg.det(vt)
    product = (u.conj() * (before * after)[..., None, :]) @ vt.conj()
    return sign[..., None, None] * product


def cofactor_pullback(out_bar: Array, a: Array) -> Array:
    """Return the cotangent of `a` through its matrix of cofactors.

    Right for singular matrices too.  For a diagonal S with the products P[i, j] of all
    its entries but the i-th and the j-th, a perturbation E changes the cofactors by
    -E[j, i] P[i, j] off the diagonal; on it, by the sum of E[k, k] P[i, k] over k != i.
    """
    a = np.asarray(a)
    u, s, vt = np.linalg.svd(a)
    size = s.shape[-1]
    eye = np.eye(size, dtype=bool)
    pairs = np.where(eye[:, None] | eye, 1.0, s[..., None, None, :])
    but_two = np.where(eye, 0.0, np.prod(pairs, axis=-1))
    sign = (np.linalg.det(u) * np.linalg.det(vt))[..., None, None]
    left, right = np.swapaxes(u, -1, -2).conj(), np.swapaxes(vt, -1, -2).conj()
    turned = sign * (left @ out_bar @ right)
    on = np.einsum("...ik,...ii->...k", but_two, turned)
    inner = on[..., None] * eye - np.swapaxes(turned * but_two, -1, -2)
    result: Array = u.conj() @ inner.astype(turned.dtype) @ vt.conj()
    return result


def matmul_pullback_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of `a` in ``a @ b``, whatever the ranks."""
    if np.ndim(b) == 1:
        product = np.expand_dims(out_bar, -1) * b
    elif np.ndim(a) == 1:
        product = np.squeeze(b @ np.expand_dims(out_bar, -1), -1)
    else:
        product = out_bar @ np.swapaxes(b, -1, -2)
    return unbroadcast(product, a)


def matmul_pullback_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of `b` in ``a @ b``, whatever the ranks."""
    if np.ndim(a) == 1:
        product = np.expand_dims(out_bar, -1 if np.ndim(b) == 1 else -2)
        product = product * (a if np.ndim(b) == 1 else a[:, None])
    elif np.ndim(b) == 1:
        product = np.squeeze(np.swapaxes(a, -1, -2) @ np.expand_dims(out_bar, -1), -1)
    else:
        product = np.swapaxes(a, -1, -2) @ out_bar
    return unbroadcast(product, b)


def dot_pullback_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of `a` in ``np.dot(a, b)``, whatever the ranks."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(out_bar * b, a)
    if np.ndim(b) == 1:
        return np.expand_dims(out_bar, -1) * b
    # out[i.., j.., m] = sum_k a[i.., k] b[j.., k, m]
    depth = np.shape(b)[-2]
    if not depth:
        return np.zeros_like(a)
    rows = np.size(b) // depth
    matrix = np.reshape(np.moveaxis(b, -2, -1), (rows, depth))
    flat = np.reshape(out_bar, (math.prod(np.shape(a)[:-1]), rows)) @ matrix
    return np.reshape(flat, np.shape(a))


def dot_pullback_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of `b` in ``np.dot(a, b)``, whatever the ranks."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(out_bar * a, b)
    if not np.size(b):
        return np.zeros_like(b)
    rows = math.prod(np.shape(a)[:-1])
    matrix = np.reshape(a, (rows, np.shape(a)[-1]))
    if np.ndim(b) == 1:
        return np.reshape(out_bar, rows) @ matrix
    moved = np.moveaxis(b, -2, -1)
    flat = np.reshape(out_bar, (rows, math.prod(moved.shape[:-1]))).T @ matrix
    return np.moveaxis(np.reshape(flat, moved.shape), -1, -2)
