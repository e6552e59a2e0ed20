"""Products of matrices and vectors, and `np.linalg`.

Stacks of matrices are allowed wherever NumPy allows them.  Formulas without a source
are in K. B. Petersen and M. S. Pedersen, The Matrix Cookbook (2012), section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .helpers import (
    is_complex,
    known_rank,
    per_matrix,
    safe,
    swap,
    tally,
    unreduce,
)
from .registry import pullback, zero

Array = Any


def matmul_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the left factor of ``a @ b``."""
    if not known_rank(a, b):
        return runtime.matmul_pullback_a(out_bar, a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar * b
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return np.outer(out_bar, b)
    if np.ndim(b) == 1:
        return out_bar[..., None] * b
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return b @ out_bar
    if np.ndim(a) == 1:
        return runtime.unbroadcast((b @ out_bar[..., None])[..., 0], a)
    return runtime.unbroadcast(out_bar @ swap(b), a)


def matmul_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the right factor of ``a @ b``."""
    if not known_rank(a, b):
        return runtime.matmul_pullback_b(out_bar, a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar * a
    if np.ndim(a) == 1 and np.ndim(b) == 2:
        return np.outer(a, out_bar)
    if np.ndim(a) == 1:
        return a[:, None] * out_bar[..., None, :]
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return a.T @ out_bar
    if np.ndim(b) == 1:
        return runtime.unbroadcast((swap(a) @ out_bar[..., None])[..., 0], b)
    return runtime.unbroadcast(swap(a) @ out_bar, b)


def dot_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the left factor of ``np.dot(a, b)``."""
    if not known_rank(a, b) or np.ndim(b) > 2:
        return runtime.dot_pullback_a(out_bar, a, b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return runtime.unbroadcast(out_bar * b, a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar * b
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return np.outer(out_bar, b)
    if np.ndim(b) == 1:
        return out_bar[..., None] * b
    if np.ndim(a) == 1:
        return b @ out_bar
    return out_bar @ b.T


def dot_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the right factor of ``np.dot(a, b)``."""
    if not known_rank(a, b) or np.ndim(a) > 2 or np.ndim(b) > 2:
        return runtime.dot_pullback_b(out_bar, a, b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return runtime.unbroadcast(out_bar * a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar * a
    if np.ndim(a) == 1:
        return np.outer(a, out_bar)
    return a.T @ out_bar


def outer_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the first factor of ``np.outer(a, b)``."""
    if known_rank(a, b) and np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar @ b
    return np.reshape(out_bar @ np.ravel(b), np.shape(a))


def outer_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the second factor of ``np.outer(a, b)``."""
    if known_rank(a, b) and np.ndim(a) == 1 and np.ndim(b) == 1:
        return a @ out_bar
    return np.reshape(np.ravel(a) @ out_bar, np.shape(b))


def inner_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the first factor of ``np.inner(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return runtime.unbroadcast(out_bar * b, a)
    rows = np.reshape(b, (-1, np.shape(b)[-1]))
    return np.reshape(np.reshape(out_bar, (-1, len(rows))) @ rows, np.shape(a))


def inner_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the second factor of ``np.inner(a, b)``."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return runtime.unbroadcast(out_bar * a, b)
    rows = np.reshape(a, (-1, np.shape(a)[-1]))
    return np.reshape(np.reshape(out_bar, (len(rows), -1)).T @ rows, np.shape(b))


def vdot_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the conjugated factor of ``np.vdot(a, b)``."""
    if is_complex(a) or is_complex(b):
        return np.reshape(np.conj(out_bar * b), np.shape(a))
    return np.reshape(out_bar * b, np.shape(a))


def vdot_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the plain factor of ``np.vdot(a, b)``."""
    if is_complex(a):
        return np.reshape(out_bar * np.conj(a), np.shape(b))
    return np.reshape(out_bar * a, np.shape(b))


def solve_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Solve the transposed system for the cotangent of the right-hand side."""
    if np.ndim(b) == 1:
        if known_rank(a) and np.ndim(a) == 2:
            return np.linalg.solve(a.T, out_bar)
        g = np.linalg.solve(swap(a), np.expand_dims(out_bar, -1))
        return runtime.unbroadcast(np.squeeze(g, -1), b)
    return runtime.unbroadcast(np.linalg.solve(swap(a), out_bar), b)


def solve_a(out_bar: Array, out: Array, a: Array, b: Array) -> Array:
    """Return minus the product of that solution with the solution itself."""
    if np.ndim(b) == 1:
        if known_rank(a) and np.ndim(a) == 2:
            return -np.outer(np.linalg.solve(a.T, out_bar), out)
        g = np.linalg.solve(swap(a), np.expand_dims(out_bar, -1))
        return -g * np.expand_dims(out, -2)
    return runtime.unbroadcast(-np.linalg.solve(swap(a), out_bar) @ swap(out), a)


def slogdet_of(logabsdet_bar: Array, a: Array) -> Array:
    """Return A⁻ᵀ times the cotangent; the sign is a step."""
    if logabsdet_bar is None:
        return np.zeros_like(a)
    return per_matrix(logabsdet_bar, a) * swap(np.linalg.inv(a))


def third_of(out_bar: Array, out_bar_: Array, a: Array) -> Array:
    """Return the third derivative of a determinant, contracted with two directions.

    With B = A⁻ᵀ, det's second differential along X and Y is
    det (tr(Bᵀ X) tr(Bᵀ Y) - tr(Bᵀ X Bᵀ Y)).
    """
    inverse = np.linalg.inv(a)
    x, y = inverse @ out_bar_, inverse @ out_bar
    tx = per_matrix(np.trace(x, axis1=-2, axis2=-1), a)
    ty = per_matrix(np.trace(y, axis1=-2, axis2=-1), a)
    both = per_matrix(np.trace(x @ y, axis1=-2, axis2=-1), a)
    det = per_matrix(np.linalg.det(a), a)
    inner = (tx * ty - both) * np.eye(np.shape(a)[-1], dtype=a.dtype)
    inner = inner - tx * y - ty * x + x @ y + y @ x
    return det * swap(inner @ inverse)


def direction(x: Array) -> Array:
    """Return ∂|x|/∂x; 0 at 0."""
    if is_complex(x):
        return np.conj(x) / safe(np.abs(x))
    return np.sign(x)


def euclidean(out_bar: Array, out: Array, x: Array, axis: Any, keepdims: Any) -> Array:
    """Return x / norm times the cotangent; 0 at the origin."""
    scale = unreduce(out_bar / safe(out), axis, keepdims)
    if is_complex(x):
        return np.conj(x) * scale
    return x * scale


def vector_norm(
    out_bar: Array, out: Array, x: Array, ord: Any, axis: Any, keepdims: Any
) -> Array:
    """Return the cotangent of a norm of vectors along `axis`."""
    if ord is None or ord == 2:
        return euclidean(out_bar, out, x, axis, keepdims)
    if ord == 1:
        return direction(x) * unreduce(out_bar, axis, keepdims)
    if ord == 0:
        return np.zeros_like(x)
    if ord == np.inf or ord == -np.inf:
        size = np.abs(x)
        hits = size == unreduce(out, axis, keepdims)
        ties = tally(hits, axis, size.dtype)
        share = unreduce(out_bar, axis, keepdims) / ties
        return direction(x) * np.where(hits, share, 0.0)
    ratio = np.abs(x) / unreduce(safe(out), axis, keepdims)
    if ord < 1:
        ratio = np.where(ratio == 0, 1.0, ratio)
    return direction(x) * ratio ** (ord - 1) * unreduce(out_bar, axis, keepdims)


def singular_norm(out_bar: Array, x: Array, ord: Any) -> Array:
    """Return the cotangent of the largest, smallest or sum of singular values."""
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    if ord == "nuc":
        # A zero singular value has the subgradient 0.
        kept = s > s[..., :1] * 1e-14
        weights = np.where(kept, out_bar, 0.0)
    else:
        best = s[..., :1] if ord == 2 else s[..., -1:]
        hits = s >= best * (1 - 1e-14) if ord == 2 else s <= best * (1 + 1e-14)
        ties = tally(hits, -1, s.dtype)
        weights = np.where(hits & (s > 0), out_bar / ties, 0.0)
    x_bar = (u * weights[..., None, :]) @ vt
    if is_complex(x):
        return np.conj(x_bar)
    return x_bar


def matrix_norm(
    out_bar: Array, out: Array, x: Array, ord: Any, axis: Any, keepdims: Any
) -> Array:
    """Return the cotangent of a norm of matrices over a pair of axes."""
    if ord is None or ord == "fro":
        return euclidean(out_bar, out, x, axis, keepdims)
    g = unreduce(out_bar, axis, keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        rows, columns = axis
        summed = rows if ord in (1, -1) else columns
        sums = np.sum(np.abs(x), axis=summed, keepdims=True)
        hits = sums == unreduce(out, axis, keepdims)
        ties = tally(hits, axis, sums.dtype)
        return direction(x) * np.where(hits, g / ties, 0.0)
    moved = np.moveaxis(x, axis, (-2, -1))
    if np.ndim(out_bar) == 0:
        # One matrix: its single weight has no axes to move.
        return np.moveaxis(singular_norm(out_bar, moved, ord), (-2, -1), axis)
    weight = np.moveaxis(g, axis, (-2, -1))[..., 0]
    return np.moveaxis(singular_norm(weight, moved, ord), (-2, -1), axis)


def norm_of(
    out_bar: Array, out: Array, x: Array, ord: Any, axis: Any, keepdims: Any
) -> Array:
    """Return the cotangent of ``np.linalg.norm``; 0 at the origin."""
    if ord is None or ord == "fro":
        return euclidean(out_bar, out, x, axis, keepdims)
    if isinstance(axis, tuple) and len(axis) == 2:
        return matrix_norm(out_bar, out, x, ord, axis, keepdims)
    if axis is None and isinstance(ord, str):
        return matrix_norm(out_bar, out, x, ord, (0, 1), keepdims)
    if axis is None:
        if np.ndim(x) == 2:
            return matrix_norm(out_bar, out, x, ord, (0, 1), keepdims)
        return vector_norm(out_bar, out, x, ord, 0, keepdims)
    return vector_norm(out_bar, out, x, ord, axis, keepdims)


def new_vector_norm(
    out_bar: Array, out: Array, x: Array, axis: Any, keepdims: Any, ord: Any
) -> Array:
    """Return the cotangent of ``np.linalg.vector_norm``."""
    return vector_norm(out_bar, out, x, ord, axis, keepdims)


def new_matrix_norm(
    out_bar: Array, out: Array, x: Array, keepdims: Any, ord: Any
) -> Array:
    """Return the cotangent of ``np.linalg.matrix_norm``."""
    return matrix_norm(out_bar, out, x, ord, (-2, -1), keepdims)


pullback("a @ b", matmul_a, matmul_b)
for name in ("np.matmul", "np.linalg.matmul"):
    pullback(f"{name}(a, b)", matmul_a, matmul_b)
pullback("np.dot(a, b)", dot_a, dot_b)
for name in ("np.outer", "np.linalg.outer"):
    pullback(f"{name}(a, b)", outer_a, outer_b)
pullback("np.inner(a, b)", inner_a, inner_b)
pullback("np.vdot(a, b)", vdot_a, vdot_b)
pullback("np.linalg.inv(a)", "-swap(out) @ out_bar @ swap(out)", singular=True)
pullback("np.linalg.solve(a, b)", solve_a, solve_b, singular=True)
pullback("np.linalg.det(a)", "per_matrix(out_bar, a) * runtime.cofactor(a)")
# The second derivative of a determinant is symmetric.
pullback("runtime.cofactor(a)", "runtime.cofactor_pullback(out_bar, a)")
pullback(
    "runtime.cofactor_pullback(out_bar_, a)",
    "runtime.cofactor_pullback(out_bar, a)",
    third_of,
    singular=True,
    domain="np.linalg.det(a) != 0",
)
pullback(
    "np.linalg.slogdet(a) -> sign, logabsdet",
    slogdet_of,
    singular=True,
)
pullback(
    "np.linalg.norm(x, ord=None, axis=None, keepdims=False)",
    norm_of,
    kink="x == 0: 0",
)
pullback(
    "np.linalg.vector_norm(x, axis=None, keepdims=False, ord=2)",
    new_vector_norm,
    kink="x == 0: 0",
)
pullback(
    "np.linalg.matrix_norm(x, keepdims=False, ord='fro')",
    new_matrix_norm,
    kink="x == 0: 0",
)
pullback(
    "runtime.matmul_pullback_a(out_bar_, a, b)",
    "np.matmul(out_bar, b)",
    "0.0",
    "runtime.matmul_pullback_b(out_bar_, out_bar, b)",
)
pullback(
    "runtime.matmul_pullback_b(out_bar_, a, b)",
    "np.matmul(a, out_bar)",
    "runtime.matmul_pullback_a(out_bar_, a, out_bar)",
    "0.0",
)
pullback(
    "runtime.dot_pullback_a(out_bar_, a, b)",
    "np.dot(out_bar, b)",
    "0.0",
    "runtime.dot_pullback_b(out_bar_, out_bar, b)",
)
pullback(
    "runtime.dot_pullback_b(out_bar_, a, b)",
    "np.dot(a, out_bar)",
    "runtime.dot_pullback_a(out_bar_, a, out_bar)",
    "0.0",
)
zero("np.linalg.matrix_rank(A, tol=None, hermitian=False)")
