"""Factorisations of matrices, and what is built on them.

In the formulas X' is the cotangent of X, ∘ the entrywise product, and F the matrix with
F[i, j] = 1 / (w[j] - w[i]) off the diagonal and 0 on it.  Where two eigenvalues are
equal F is 0 too: a loss that does not depend on the choice of vectors among them does
not read it there.

Functions of symmetric matrices read one triangle.  The cotangent is that of what NumPy
computes: mirrored entries count twice in the triangle that is read, and the other one
gets zeros, so that it is right for any matrix and under any chain rule.

Cotangents pair without conjugation, dL = Re(sum(X' ∘ dX)), so the usual formulas, which
conjugate, are used between two conjugations where matrices are complex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .helpers import adjoint, as_read, is_complex, mirrored, spectral, swap
from .registry import pullback

Array = Any


def bar(x: Array) -> Array:
    """Turn a cotangent that pairs with conjugation into one that does not, or back."""
    if is_complex(x):
        return np.conj(x)
    return x


def hermitian(x: Array) -> Array:
    """Return the symmetric part, or the Hermitian one."""
    return 0.5 * (x + adjoint(x))


def identity_like(s: Array) -> Array:
    """Return an identity as large as a vector, of its dtype."""
    return np.eye(np.shape(s)[-1], dtype=s.dtype)


def cholesky_of(out_bar: Array, out: Array, upper: Any) -> Array:
    """Return L⁻ᵀ Φ(Lᵀ L') L⁻¹, in the triangle that is read.

    Φ keeps the lower triangle and halves its diagonal.
    """
    low = adjoint(out) if upper else out
    low_bar = adjoint(bar(out_bar)) if upper else bar(out_bar)
    product = adjoint(low) @ low_bar
    half = np.tril(product) - 0.5 * product * np.eye(np.shape(out)[-1], dtype=out.dtype)
    left = np.linalg.solve(adjoint(low), half)
    full = hermitian(np.linalg.solve(adjoint(low), adjoint(left)))
    return bar(as_read(full, not upper))


def inverse_gaps(w: Array) -> Array:
    """Return F[i, j] = 1 / (w[j] - w[i]), and 0 where the two are equal."""
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    equal = gaps == 0
    return np.where(equal, 0.0, 1 / np.where(equal, 1.0, gaps))


def eigh_full(w_bar: Array, v_bar: Array, w: Array, v: Array) -> Array:
    """Return V (diag(w') + F ∘ Vᵀ V') Vᵀ, made Hermitian."""
    if v_bar is None:
        return spectral(v, w_bar)
    inner = inverse_gaps(w) * (adjoint(v) @ bar(v_bar))
    if w_bar is not None:
        inner = inner + np.expand_dims(w_bar, -2) * identity_like(w)
    return hermitian(v @ inner @ adjoint(v))


def eigh_of(w_bar: Array, v_bar: Array, w: Array, v: Array, UPLO: Any) -> Array:
    """Return that cotangent, in the triangle that is read."""
    return bar(as_read(eigh_full(w_bar, v_bar, w, v), UPLO in ("L", "l")))


def eigvalsh_of(out_bar: Array, a: Array, UPLO: Any) -> Array:
    """Return V diag(w') Vᵀ, in the triangle that is read."""
    _, v = np.linalg.eigh(a, UPLO)
    return bar(as_read(spectral(v, out_bar), UPLO in ("L", "l")))


def eig_of(w_bar: Array, v_bar: Array, w: Array, v: Array) -> Array:
    """Return V⁻ᵀ (diag(w') + F ∘ Vᵀ V') Vᵀ; V' less what would change lengths."""
    if v_bar is None:
        inner = np.expand_dims(w_bar, -2) * identity_like(w)
    else:
        along = np.real(np.sum(v_bar * v, axis=-2, keepdims=True))
        inner = inverse_gaps(w) * (swap(v) @ (v_bar - np.conj(v) * along))
        if w_bar is not None:
            inner = inner + np.expand_dims(w_bar, -2) * identity_like(w)
    return np.linalg.solve(swap(v), inner @ swap(v))


def eigvals_of(out_bar: Array, a: Array) -> Array:
    """Return V⁻ᵀ diag(w') Vᵀ."""
    _, v = np.linalg.eig(a)
    return np.linalg.solve(swap(v), np.expand_dims(out_bar, -1) * swap(v))


def svd_of(
    u_bar: Array,
    s_bar: Array,
    vh_bar: Array,
    u: Array,
    s: Array,
    vh: Array,
    full_matrices: Any,
) -> Array:
    """Return the cotangent of a = U diag(s) Vᵀ.

    U ((F ∘ (Uᵀ U' - U'ᵀ U)) S + S (F ∘ (Vᵀ V' - V'ᵀ V)) + diag(s')) Vᵀ, with F of s²,
    and what leaves the spans of U and V: (1 - U Uᵀ) U' S⁻¹ Vᵀ and likewise for V.
    """
    size = np.shape(s)[-1]
    if u_bar is None and vh_bar is None:
        columns = u[..., :size] * np.expand_dims(s_bar, -2)
        return bar(columns @ vh[..., :size, :])
    v = adjoint(vh)
    row = np.expand_dims(s, -2)
    inverse = 1 / np.where(row == 0, 1.0, row)
    u1 = u[..., :size] if full_matrices else u
    v1 = v[..., :size] if full_matrices else v
    gaps = inverse_gaps(s**2)
    inner = 0.0
    total = 0.0
    if u_bar is not None:
        b = bar(u_bar)
        b1 = b[..., :size] if full_matrices else b
        turn = adjoint(u1) @ b1
        inner = gaps * (turn - adjoint(turn)) * row
        leaving = b1 - u1 @ turn
        if full_matrices:
            leaving = leaving - u[..., size:] @ (adjoint(b[..., size:]) @ u1)
        total = (leaving * inverse) @ adjoint(v1)
    if s_bar is not None:
        inner = inner + identity_like(s) * np.expand_dims(s_bar, -2)
    if vh_bar is not None:
        b = adjoint(bar(vh_bar))
        b1 = b[..., :size] if full_matrices else b
        turn = adjoint(v1) @ b1
        inner = inner + np.expand_dims(s, -1) * gaps * (turn - adjoint(turn))
        leaving = b1 - v1 @ turn
        if full_matrices:
            leaving = leaving - v[..., size:] @ (adjoint(b[..., size:]) @ v1)
        total = total + u1 @ adjoint(leaving * inverse)
    return bar(u1 @ inner @ adjoint(v1) + total)


def svdvals_of(out_bar: Array, x: Array) -> Array:
    """Return U diag(s') Vᵀ."""
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return bar((u * np.expand_dims(out_bar, -2)) @ vh)


def qr_of(q_bar: Array, r_bar: Array, q: Array, r: Array, a: Array) -> Array:
    """Return the cotangent of the reduced decomposition a = Q R.

    With the square part R = [U, W], a = [a₁, a₂]: a₂' = Q W', and a₁' = (B + Q M) U⁻ᵀ,
    where B = Q' + a₂ W'ᵀ and M mirrors the lower half of U U'ᵀ - Bᵀ Q.
    """
    size = np.shape(q)[-1]
    if q_bar is None:
        q_bar = np.zeros_like(q)
    if r_bar is None:
        r_bar = np.zeros_like(r)
    square, rest_bar = r[..., :size], r_bar[..., size:]
    b = q_bar + a[..., size:] @ swap(rest_bar)
    m = square @ swap(r_bar[..., :size]) - swap(b) @ q
    mirrored = np.tril(m) + swap(np.tril(m, -1))
    first = swap(np.linalg.solve(square, swap(b + q @ mirrored)))
    return np.concatenate([first, q @ rest_bar], axis=-1)


def pinv_of(out_bar: Array, out: Array, a: Array, hermitian: Any) -> Array:
    """Return the cotangent of the pseudo-inverse, of one triangle if `hermitian`."""
    if hermitian:
        full = bar(pinv_full(out_bar, out, mirrored(a, True)))
        return bar(as_read(0.5 * (full + adjoint(full)), True))
    return pinv_full(out_bar, out, a)


def pinv_full(out_bar: Array, out: Array, a: Array) -> Array:
    """Return the cotangent of the pseudo-inverse P at constant rank.

    -Pᵀ P' Pᵀ + (1 - a P) P'ᵀ P Pᵀ + Pᵀ P P'ᵀ (1 - P a).
    """
    p, p_bar = out, bar(out_bar)
    turned = adjoint(p_bar)
    first = turned @ p @ adjoint(p)
    second = adjoint(p) @ p @ turned
    total = first - a @ (p @ first) + second - (second @ p) @ a
    return bar(total - adjoint(p) @ p_bar @ adjoint(p))


def lstsq_a(x_bar: Array, residuals_bar: Array, x: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the matrix of a least-squares problem."""
    p = np.linalg.pinv(a)
    total = 0.0
    if x_bar is not None:
        g = x_bar if np.ndim(b) == 2 else x_bar[:, None]
        total = pinv_full(g @ swap(b if np.ndim(b) == 2 else b[:, None]), p, a)
    if residuals_bar is not None and np.size(residuals_bar) > 0:
        columns = x if np.ndim(b) == 2 else x[:, None]
        total = total + 2.0 * residual(x, a, b, residuals_bar) @ swap(columns)
    return total


def lstsq_b(x_bar: Array, residuals_bar: Array, x: Array, a: Array, b: Array) -> Array:
    """Return the cotangent of the right-hand side of a least-squares problem."""
    total = 0.0
    if x_bar is not None:
        total = swap(np.linalg.pinv(a)) @ x_bar
    if residuals_bar is not None and np.size(residuals_bar) > 0:
        left = residual(x, a, b, residuals_bar)
        total = total - 2.0 * (left if np.ndim(b) == 2 else left[:, 0])
    return total


def residual(x: Array, a: Array, b: Array, weights: Array) -> Array:
    """Return the columns a x - b, weighted."""
    left = a @ x - b
    return (left if np.ndim(b) == 2 else left[:, None]) * weights


def cond_of(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the ratio of the largest and smallest singular values."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    g = np.expand_dims(out_bar / s[..., -1], (-2, -1))
    first = u[..., :, :1] @ vh[..., :1, :]
    last = u[..., :, -1:] @ vh[..., -1:, :]
    return bar(g * (first - np.expand_dims(out, (-2, -1)) * last))


pullback("np.linalg.cond(x)", cond_of, singular=True)
pullback(
    "np.linalg.cholesky(a, upper=False)",
    cholesky_of,
    singular=True,
    source="I. Murray, Differentiation of the Cholesky decomposition (2016), eq. 10",
)
GILES = "M. B. Giles, Collected matrix derivative results for AD (2008)"
pullback("np.linalg.eigh(a, UPLO='L') -> w, v", eigh_of, source=f"{GILES}, 3.1")
pullback("np.linalg.eigvalsh(a, UPLO='L')", eigvalsh_of, source=f"{GILES}, 3.1")
pullback("np.linalg.eig(a) -> w, v", eig_of, singular=True, source=f"{GILES}, 3.1")
pullback("np.linalg.eigvals(a)", eigvals_of, singular=True, source=f"{GILES}, 3.1")
pullback(
    "np.linalg.svd(a, full_matrices=True) -> u, s, vh",
    svd_of,
    source="J. Townsend, Differentiating the singular value decomposition (2016)",
)
pullback("np.linalg.svdvals(x)", svdvals_of)
pullback(
    "np.linalg.qr(a) -> q, r",
    qr_of,
    singular=True,
    source="S. Walter and L. Lehmann, Algorithmic differentiation of linear algebra "
    "functions with application in optimum experimental design (2010)",
)
pullback(
    "np.linalg.pinv(a, rcond=None, hermitian=False)",
    pinv_of,
    source="G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses (1973)",
)
pullback("np.linalg.lstsq(a, b, rcond=None) -> x, residuals, rank, s", lstsq_a, lstsq_b)
