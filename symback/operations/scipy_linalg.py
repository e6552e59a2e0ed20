"""`scipy.linalg` and other parts of SciPy that work on arrays.

SciPy is named in texts, never imported, so what needs it is a text and not a function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .decompositions import (
    bar,
    cholesky_of,
    eigh_full,
    hermitian,
    inverse_gaps,
    pinv_full,
    svd_of,
    svdvals_of,
)
from .helpers import (
    adjoint,
    as_read,
    distance_weights,
    mirrored,
    spectral,
    swap,
    triangle,
)
from .linalg import norm_of, solve_a, solve_b
from .registry import pullback
from .tables import trapezoid_dx, trapezoid_x, trapezoid_y

Array = Any

SL = "scipy.linalg"


def cholesky_of_scipy(out_bar: Array, out: Array, lower: Any) -> Array:
    """Return the cotangent of the triangle that is read, SciPy's default the upper."""
    return cholesky_of(out_bar, out, not lower)


def cho_factor_of(c_bar: Array, c: Array, lower: Any) -> Array:
    """Return the cotangent from the triangle that holds the factor."""
    return cholesky_of(
        triangle(c_bar, lower, False), triangle(c, lower, False), not lower
    )


SYMMETRIC = ("sym", "symmetric")
HERMITIAN = ("her", "hermitian", "pos", "positive definite")


READ_IN_PART = (
    *SYMMETRIC,
    *HERMITIAN,
    *("diagonal", "upper triangular", "lower triangular"),
)


def seen_matrix(a: Array, lower: Any, assume_a: Any) -> Array:
    """Return the matrix that a solver sees: it may be told to read a part only."""
    if assume_a in HERMITIAN:
        return mirrored(a, lower)
    if assume_a in SYMMETRIC:
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        return (np.tril(a) if lower else np.triu(a)) + swap(half)
    if assume_a == "diagonal":
        return np.triu(np.tril(a))
    if assume_a == "upper triangular":
        return np.triu(a)
    if assume_a == "lower triangular":
        return np.tril(a)
    return a


def scipy_solve_a(
    out_bar: Array, out: Array, a: Array, b: Array, lower: Any, assume_a: Any
) -> Array:
    """Return the cotangent of the part of the matrix that is read."""
    full = solve_a(out_bar, out, seen_matrix(a, lower, assume_a), b)
    if assume_a in HERMITIAN:
        full = bar(full)
        return bar(as_read(0.5 * (full + adjoint(full)), lower))
    if assume_a in SYMMETRIC:
        return as_read(0.5 * (full + swap(full)), lower)
    return seen_matrix(full, lower, assume_a)


def scipy_solve_b(
    out_bar: Array, a: Array, b: Array, lower: Any, assume_a: Any
) -> Array:
    """Solve the transposed system."""
    return solve_b(out_bar, seen_matrix(a, lower, assume_a), b)


def scipy_eigh_a(w_bar: Array, v_bar: Array, w: Array, v: Array, lower: Any) -> Array:
    """Return the cotangent of the first matrix of a symmetric eigenproblem."""
    return bar(as_read(eigh_full(w_bar, v_bar, w, v), lower))


def scipy_eigh_b(w_bar: Array, v_bar: Array, w: Array, v: Array, lower: Any) -> Array:
    """Return the cotangent of B in A V = B V diag(w), Vᵀ B V = 1."""
    eye = np.eye(len(w), dtype=w.dtype)
    if v_bar is None:
        return -bar(as_read(spectral(v, w_bar * w), lower))
    turn = adjoint(v) @ bar(v_bar)
    inner = inverse_gaps(w) * turn * w + 0.5 * eye * turn
    if w_bar is not None:
        inner = inner + eye * (w_bar * w)
    return -bar(as_read(hermitian(v @ inner @ adjoint(v)), lower))


def scipy_pinv_of(out_bar: Array, out: Array, a: Array) -> Array:
    """Return the cotangent of the pseudo-inverse at constant rank."""
    return pinv_full(out_bar, out, a)


def scipy_norm_of(
    out_bar: Array, out: Array, a: Array, ord: Any, axis: Any, keepdims: Any
) -> Array:
    """Return the cotangent of a norm; 0 at the origin."""
    return norm_of(out_bar, out, a, ord, axis, keepdims)


def svdvals_of_scipy(out_bar: Array, a: Array) -> Array:
    """Return U diag(s') Vᵀ."""
    return svdvals_of(out_bar, a)


def block_diag_of(out_bar: Array, arrs: Any) -> Any:
    """Cut the blocks out."""
    bars = []
    row: Any = 0
    column: Any = 0
    for a in arrs:
        rows, columns = np.shape(np.atleast_2d(a))
        block = out_bar[row : row + rows, column : column + columns]
        bars.append(np.reshape(block, np.shape(a)))
        row = row + rows
        column = column + columns
    return bars


def cumulative_area(out_bar: Array, axis: Any, initial: Any) -> Array:
    """Return the cotangent of the areas between neighbours, along the last axis."""
    g = np.moveaxis(out_bar, axis, -1)
    if initial is not None:
        g = g[..., 1:]
    return np.flip(np.cumsum(np.flip(g, -1), axis=-1), -1)


def cumulative_y(
    out_bar: Array, y: Array, x: Any, dx: Any, axis: Any, initial: Any
) -> Array:
    """Give each value half of the widths on its two sides."""
    area = cumulative_area(out_bar, axis, initial)
    width = dx if x is None else np.diff(x)
    half = 0.5 * area * width
    edge = np.zeros_like(half[..., :1])
    total = np.concatenate([half, edge], -1) + np.concatenate([edge, half], -1)
    return np.moveaxis(total, -1, axis)


def cdist_a(out_bar: Array, out: Array, XA: Array, XB: Array, metric: Any) -> Array:
    """Pull each point towards the others; 0 between coincident points."""
    weights = distance_weights(out_bar, out, metric)
    return XA * np.sum(weights, axis=1, keepdims=True) - weights @ XB


def cdist_b(out_bar: Array, out: Array, XA: Array, XB: Array, metric: Any) -> Array:
    """Pull each point towards the others; 0 between coincident points."""
    weights = distance_weights(out_bar, out, metric).T
    return XB * np.sum(weights, axis=1, keepdims=True) - weights @ XA


FLIPPED = "(0 if trans in (1, 'T') else 1)"
TRIANGULAR = (
    f"{SL}.solve_triangular(a, out_bar, trans={FLIPPED}, lower=lower,"
    " unit_diagonal=unit_diagonal)"
)
pullback(
    f"{SL}.solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False,"
    f" overwrite_b=False, check_finite=True)",
    f"triangular_a(out, {TRIANGULAR}, b, trans, lower, unit_diagonal)",
    TRIANGULAR,
    singular=True,
    only=(("overwrite_b", (False,)),),
)
OWN = (("overwrite_a", (False,)),)
pullback(
    f"{SL}.cholesky(a, lower=False, overwrite_a=False, check_finite=True)",
    cholesky_of_scipy,
    singular=True,
    only=OWN,
)
pullback(
    f"{SL}.cho_factor(a, lower=False, overwrite_a=False, check_finite=True) -> c, low",
    cho_factor_of,
    singular=True,
    only=OWN,
)
pullback(
    f"{SL}.cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True)",
    f"cho_solve_factor(out, {SL}.cho_solve(c_and_lower, out_bar), c_and_lower, b)",
    f"{SL}.cho_solve(c_and_lower, out_bar)",
    singular=True,
    only=(("overwrite_b", (False,)),),
)
pullback(
    f"{SL}.solve(a, b, lower=False, overwrite_a=False, overwrite_b=False,"
    " check_finite=True, assume_a=None, transposed=False)",
    scipy_solve_a,
    scipy_solve_b,
    singular=True,
    only=(
        *OWN,
        ("overwrite_b", (False,)),
        ("transposed", (False,)),
        ("assume_a", (None, "gen", "general", *READ_IN_PART)),
    ),
)
pullback(
    f"{SL}.inv(a, overwrite_a=False, check_finite=True)",
    "-swap(out) @ out_bar @ swap(out)",
    singular=True,
    only=OWN,
)
pullback(
    f"{SL}.det(a, overwrite_a=False, check_finite=True)",
    "per_matrix(out_bar, a) * runtime.cofactor(a)",
    only=OWN,
)
pullback(f"{SL}.pinv(a, check_finite=True)", scipy_pinv_of)
pullback(f"{SL}.norm(a, ord=None, axis=None, keepdims=False)", scipy_norm_of)
pullback(
    f"{SL}.svd(a, full_matrices=True, compute_uv=True, overwrite_a=False,"
    " check_finite=True) -> u, s, vh",
    svd_of,
    only=(*OWN, ("compute_uv", (True,))),
)
pullback(
    f"{SL}.svdvals(a, overwrite_a=False, check_finite=True)",
    svdvals_of_scipy,
    only=OWN,
)
pullback(
    f"{SL}.eigh(a, b=None, lower=True, eigvals_only=False, overwrite_a=False,"
    " overwrite_b=False, type=1, check_finite=True) -> w, v",
    scipy_eigh_a,
    scipy_eigh_b,
    only=(
        *OWN,
        ("overwrite_b", (False,)),
        ("eigvals_only", (False,)),
        ("type", (1,)),
    ),
)
VECTORS = f"{SL}.eigh(a, b, lower=lower)[1]"
pullback(
    f"{SL}.eigvalsh(a, b=None, lower=True, overwrite_a=False, overwrite_b=False,"
    " type=1, check_finite=True)",
    f"conjugated(as_read(spectral({VECTORS}, out_bar), lower))",
    f"-conjugated(as_read(spectral({VECTORS}, out_bar * out), lower))",
    only=(*OWN, ("overwrite_b", (False,)), ("type", (1,))),
)
# A function of [[aᵀ, g], [0, aᵀ]] holds the function's derivative in its corner.
for name in (
    *("expm", "logm", "sqrtm", "cosm", "sinm", "tanm"),
    *("coshm", "sinhm", "tanhm"),
):
    pullback(
        f"{SL}.{name}(A)",
        f"{SL}.{name}(twin(A, out_bar))[: len(A), len(A) :]",
        source="R. Mathias, A chain rule for matrix functions and applications (1996)",
    )
pullback(
    f"{SL}.fractional_matrix_power(A, t)",
    f"{SL}.fractional_matrix_power(twin(A, out_bar), t)[: len(A), len(A) :]",
)
pullback(f"{SL}.block_diag(*arrs)", block_diag_of)
pullback(
    f"{SL}.toeplitz(c, r=None)",
    f"runtime.gather_pullback(out_bar, {SL}.toeplitz(positions(c)), c) if r is None"
    " else runtime.gather_pullback(np.tril(out_bar),"
    f" {SL}.toeplitz(positions(c), np.zeros_like(positions(r))), c)",
    "runtime.gather_pullback(np.triu(out_bar, 1),"
    f" np.triu({SL}.toeplitz(positions(c), positions(r)), 1), r)",
)
pullback(
    f"{SL}.solve_sylvester(a, b, q)",
    f"-{SL}.solve_sylvester(a.T, b.T, out_bar) @ out.T",
    f"-out.T @ {SL}.solve_sylvester(a.T, b.T, out_bar)",
    f"{SL}.solve_sylvester(a.T, b.T, out_bar)",
    singular=True,
)
LYAPUNOV = f"{SL}.solve_continuous_lyapunov(a.T, out_bar)"
pullback(
    f"{SL}.solve_continuous_lyapunov(a, q)",
    f"-({LYAPUNOV} @ out.T + {LYAPUNOV}.T @ out)",
    LYAPUNOV,
    singular=True,
)
DISCRETE = f"{SL}.solve_discrete_lyapunov(a.T, out_bar)"
pullback(
    f"{SL}.solve_discrete_lyapunov(a, q)",
    f"{DISCRETE} @ a @ out.T + {DISCRETE}.T @ a @ out",
    DISCRETE,
    singular=True,
)

SI = "scipy.integrate"
pullback(
    f"{SI}.trapezoid(y, x=None, dx=1.0, axis=-1)",
    trapezoid_y,
    trapezoid_x,
    trapezoid_dx,
)
pullback(
    f"{SI}.cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None)",
    *(cumulative_y, None, "runtime.unbroadcast(np.sum(out_bar * out) / dx, dx)"),
)
pullback(
    f"{SI}.simpson(y, x=None, dx=1.0, axis=-1)",
    "np.moveaxis(np.expand_dims(out_bar, -1)"
    f" * {SI}.simpson(np.eye(np.shape(y)[axis], dtype=y.dtype), x=x, dx=dx), -1, axis)",
)
METRICS = (("metric", ("euclidean", "sqeuclidean")),)
pullback(
    "scipy.spatial.distance.cdist(XA, XB, metric='euclidean')",
    cdist_a,
    cdist_b,
    only=METRICS,
    kink="coincident points: 0",
)
SQUARE = "scipy.spatial.distance.squareform(distance_weights(out_bar, out, metric))"
pullback(
    "scipy.spatial.distance.pdist(X, metric='euclidean')",
    f"X * np.sum({SQUARE}, axis=1, keepdims=True) - {SQUARE} @ X",
    only=METRICS,
    kink="coincident points: 0",
)
pullback(
    "scipy.spatial.distance.squareform(X, force='no', checks=True)",
    "scipy.spatial.distance.squareform(out_bar + out_bar.T, checks=False)"
    " if np.ndim(X) == 1 else np.triu(scipy.spatial.distance.squareform(out_bar))",
)

pullback(
    "runtime.whole_convolution(out_bar_, in1, in2, mode)",
    "np.reshape(out_bar[runtime.whole_convolution(np.ones_like(out_bar_), in1, in2,"
    " mode) > 0], np.shape(out_bar_))",
    *("0.0", "0.0"),
)
SG = "scipy.signal"
FULL = "whole_convolution(out_bar, in1, in2, mode)"
for name, method in (("convolve", ", method='auto'"), ("fftconvolve", "")):
    pullback(
        f"{SG}.{name}(in1, in2, mode='full'{method})",
        f"{SG}.correlate({FULL}, conjugated(in2), mode='valid')",
        f"{SG}.correlate({FULL}, conjugated(in1), mode='valid')",
    )
pullback(
    f"{SG}.correlate(in1, in2, mode='full', method='auto')",
    f"{SG}.convolve({FULL}, conjugated(in2), mode='valid')",
    f"conjugated(np.flip({SG}.correlate({FULL}, conjugated(in1), mode='valid')))",
)
