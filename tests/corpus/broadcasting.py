"""Broadcasting both ways: scalars, rows, columns, leading and inner axes."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw


@case(draw(3, 2, seed=1), draw(2, seed=2), wrt=("X", "b"), kinds="broadcast")
def bias_row(X, b):
    return np.sum(np.tanh(X + b) ** 2)


@case(draw(3, 1, seed=3), draw(1, 4, seed=4), wrt=("c", "r"), kinds="broadcast")
def column_times_row(c, r):
    return np.sum((c * r + c / (2.0 + r**2)) ** 2)


@case(0.7, draw(2, 3, seed=5), wrt=("s", "X"), kinds="broadcast")
def scalar_and_matrix(s, X):
    return np.mean((s * X - s) ** 2) + np.sum(X**2 / s)


@case(draw(4, 2, seed=6), draw(3, 2, seed=7), wrt=("X", "C"), kinds="broadcast")
def pairwise_distances(X, C):
    d2 = np.sum((X[:, None, :] - C[None, :, :]) ** 2, axis=-1)
    return np.sum(np.exp(-d2)) + np.mean(d2)


@case(draw(2, 1, 3, seed=8), draw(4, 1, seed=9), wrt=("a", "b"), kinds="broadcast")
def three_axes(a, b):
    return np.sum(np.maximum(a, b) * np.exp(-a * b))


@case(draw(3, seed=10), kinds="broadcast")
def outer_by_broadcast(x):
    K = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2)
    return np.sum(K * K.T) + np.sum(x[:, None] * np.ones((3, 2)))


@case(draw(1, seed=11), draw(4, seed=12), wrt=("a", "x"), kinds="broadcast")
def length_one_vector(a, x):
    return np.sum((a + x) ** 2 * a)


@case(draw(3, seed=13), np.array(0.5), wrt=("x", "s"), kinds="broadcast zero_d")
def zero_d_parameter(x, s):
    return np.sum(np.exp(s * x))


@case(draw(2, 3, seed=14), kinds="broadcast")
def centred_both_ways(K):
    Kc = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    return np.sum(Kc**2 * K)


@case(draw(3, seed=15), draw(2, 3, seed=16), wrt=("g", "X"), kinds="broadcast")
def layer_norm(g, X):
    mu = X.mean(axis=-1, keepdims=True)
    sd = np.sqrt(((X - mu) ** 2).mean(axis=-1, keepdims=True) + 1e-5)
    return np.sum((g * (X - mu) / sd)[:, 0] ** 3)
