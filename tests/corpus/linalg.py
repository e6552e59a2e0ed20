"""Products, solves, determinants, norms and decompositions."""

from __future__ import annotations

import numpy as np
from numpy.linalg import inv, solve

from tests.corpus import case, draw, spd


@case(
    draw(2, 3, seed=1),
    draw(3, 2, seed=2),
    draw(3, seed=3),
    wrt=("A", "B", "v"),
    kinds="linalg",
)
def products(A, B, v):
    return np.sum((A @ B) ** 2) + np.sum(A @ v) * np.dot(v, v) + np.sum(v @ B)


@case(spd(3, seed=4), draw(3, seed=5), wrt=("S", "y"), kinds="linalg")
def gaussian_nll(S, y):
    sign, logdet = np.linalg.slogdet(S)
    return 0.5 * y @ np.linalg.solve(S, y) + 0.5 * logdet


@case(spd(3, seed=6), draw(3, 2, seed=7), wrt=("A", "B"), kinds="linalg")
def solve_matrix(A, B):
    return np.sum(solve(A, B) ** 2) + np.trace(inv(A))


@case(draw(3, 3, seed=8), kinds="linalg")
def determinant_and_inverse(A):
    A = A + 3.0 * np.eye(3)
    return np.linalg.det(A) / 10.0 + np.sum(np.linalg.inv(A)[0] ** 2)


@case(draw(2, 3, seed=9), kinds="linalg")
def norms(A):
    return (
        np.linalg.norm(A) ** 3
        + np.sum(np.linalg.norm(A, axis=1))
        + np.linalg.norm(A[0], 1)
        + np.linalg.norm(A.ravel(), ord=3)
    )


@case(draw(3, 2, seed=10), kinds="linalg")
def cholesky_logdet(X):
    S = X @ X.T + np.eye(3)
    L = np.linalg.cholesky(S)
    return 2.0 * np.sum(np.log(np.diag(L))) + np.sum(L[1])


@case(draw(3, 3, seed=11), kinds="linalg")
def spectrum(B):
    S = B + B.T
    w, V = np.linalg.eigh(S)
    return np.sum(np.exp(w)) + np.sum(np.abs(V[0]) ** 2 * w)


@case(draw(3, seed=12), draw(2, seed=13), wrt=("a", "b"), kinds="linalg")
def outer_and_inner(a, b):
    M = np.outer(a, b)
    return np.sum(M @ M.T) + np.inner(a, a) + np.vdot(b, b) * np.trace(M[:2])


@case(draw(2, 3, seed=14), draw(3, 2, seed=15), wrt=("A", "B"), kinds="linalg einsum")
def einsum_forms(A, B):
    t = np.einsum("ij,jk->ik", A, B)
    return np.einsum("ii", t) + np.sum(np.einsum("ij,ji->i", A, B) ** 2)


@case(
    draw(4, 2, 3, seed=16),
    draw(4, 3, 2, seed=17),
    draw(3, seed=18),
    wrt=("A", "B", "v"),
    kinds="linalg batched",
)
def batched_matmul(A, B, v):
    return np.sum((A @ B) ** 2) + np.sum(A @ v)


@case(draw(4, 3, seed=19), draw(4, seed=20), 0.3, wrt=("X", "y", "lam"), kinds="linalg")
def ridge_by_normal_equations(X, y, lam):
    w = np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)
    r = y - X @ w
    return r @ r


@case(draw(2, 2, seed=21), kinds="linalg")
def matrix_exponential_series(A):
    E = np.eye(2)
    term = np.eye(2)
    for k in range(1, 9):
        term = term @ A / k
        E = E + term
    return np.sum(E**2)
