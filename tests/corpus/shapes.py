"""Reshaping, transposing, joining and splitting."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw


@case(draw(6, seed=1), kinds="shape")
def reshape_and_matmul(x):
    A = x.reshape(2, 3)
    return np.sum(A @ A.T) + np.sum(np.reshape(x, (3, -1))[0] ** 2)


@case(draw(2, 3, 4, seed=2), kinds="shape")
def transpose_axes(T):
    A = np.transpose(T, (2, 0, 1))
    B = T.swapaxes(0, 1)
    return np.sum(A[0] * 2.0) + np.sum(B[1] ** 2) + np.sum(np.moveaxis(T, 0, -1)[0])


@case(draw(3, seed=3), draw(2, seed=4), wrt=("a", "b"), kinds="shape join")
def join_vectors(a, b):
    v = np.concatenate([a, b, a])
    w = np.hstack((b, a))
    return np.sum(v**2 * np.arange(8.0)) + np.sum(np.cumsum(w))


@case(draw(2, 2, seed=5), draw(2, seed=6), wrt=("A", "b"), kinds="shape join")
def bordered_matrix(A, b):
    top = np.column_stack([A, b])
    M = np.vstack([top, np.ones((1, 3))])
    return np.sum(M @ M)


@case(draw(6, seed=7), kinds="shape split")
def split_parameters(theta):
    w, b, log_s = np.split(theta, [3, 5])
    return np.sum(w**2) * np.sum(b) + np.exp(log_s[0])


@case(draw(2, 1, 3, seed=8), kinds="shape")
def squeeze_and_expand(x):
    y = np.squeeze(x)
    z = np.expand_dims(y, 0) + x.squeeze(1)[:, np.newaxis]
    return np.sum(z**2)


@case(draw(3, seed=9), kinds="shape")
def tile_repeat_roll(x):
    t = np.tile(x, 2)
    r = np.repeat(x, 2)
    return np.sum(t * np.roll(r, 1)) + np.sum(np.flip(x) * np.arange(3.0))


@case(draw(3, 3, seed=10), kinds="shape")
def diagonals_and_triangles(A):
    return (
        np.sum(np.diag(A) ** 2) + np.sum(np.triu(A, 1) ** 3) + np.trace(np.tril(A) @ A)
    )


@case(draw(3, seed=11), kinds="shape")
def shape_in_formula(x):
    n = x.shape[0]
    A = np.zeros((n, n)) + x
    return np.sum(A) / A.size + A.ndim * x[0] ** 2


@case(draw(4, seed=12), kinds="shape")
def pad_and_difference(x):
    y = np.pad(x, (1, 2))
    return np.sum((y[1:] - y[:-1]) ** 2)


@case(np.zeros((0, 3)), draw(3, seed=13), wrt=("X", "w"), kinds="shape empty")
def empty_batch(X, w):
    return np.sum((X @ w) ** 2) + 0.5 * np.sum(w**2)


@case(np.array(0.8), kinds="shape zero_d")
def zero_dimensional(x):
    return np.sin(x) * x


@case(draw(2, 3, seed=14), kinds="shape")
def stacked_axes(A):
    S = np.stack([A, A**2], axis=-1)
    return np.sum(S[..., 0] * S[..., 1]) + np.sum(S.transpose(2, 0, 1)[1, 0])
