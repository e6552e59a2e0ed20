"""Writing into arrays: items, slices, masks, fancy indices, as NumPy does it."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(5, seed=1), 0.4, wrt=("x", "a"), kinds="setitem")
def recurrence_into_array(x, a):
    y = np.zeros(len(x))
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = a * y[t - 1] + x[t]
    return np.sum(y**2)


@case(
    draw(3, 3, seed=2),
    draw(3, seed=3),
    draw(4, 3, seed=4),
    wrt=("A", "pi", "B"),
    kinds="setitem",
)
def hmm_forward(A, pi, B):
    A = np.exp(A) / np.sum(np.exp(A), axis=1, keepdims=True)
    pi = np.exp(pi) / np.sum(np.exp(pi))
    lik = np.exp(-(B**2))
    alpha = np.zeros((4, 3))
    alpha[0] = pi * lik[0]
    for t in range(1, 4):
        alpha[t] = (alpha[t - 1] @ A) * lik[t]
    return np.log(np.sum(alpha[-1]))


@case(draw(4, seed=5), kinds="setitem overwritten")
def overwritten_entry_loses_gradient(x):
    y = x.copy()
    z = y[0] ** 2
    y[0] = 7.0
    y[1] = y[2]
    y[2] = 0.5
    return z + np.sum(y**3)


@case(draw(3, seed=6), kinds="setitem overwritten")
def read_before_overwrite(x):
    c = np.zeros(2)
    for i in range(3):
        c[0] = np.sin(x[i]) + c[0] * x[i]
        c[1] = c[0] * 2.0 + c[1]
    return c[1]


@case(draw(2, 2, seed=7), kinds="setitem overwritten")
def whole_row_overwritten(A):
    B = A**2
    B[0] = A[1] * 3.0
    B[1, :] = B[0] * B[1]
    return np.sum(B)


@case(draw(2, 3, seed=8), draw(3, seed=9), wrt=("X", "v"), kinds="set_slice")
def write_block(X, v):
    B = np.ones((4, 4))
    B[:2, 1:] = X
    B[3, ::2] = v[:2]
    B[2, -3:] = v * 2.0
    return np.sum(B @ B)


@case(draw(6, seed=10), kinds="set_slice")
def shift_in_place(x):
    y = np.empty_like(x)
    y[1:] = x[:-1]
    y[0] = x[-1]
    y[2:4] = y[3:5] * y[2:4]
    return np.sum(y * np.arange(6.0))


@case(0.7, draw(3, seed=11), wrt=("c", "row"), kinds="set_slice broadcast_write")
def broadcast_into_slice(c, row):
    M = np.zeros((3, 3))
    M[:] = row
    M[:, 1] = c
    M[2:, ...] *= c
    return np.sum(M**2)


@case(draw(6, seed=12), kinds="set_slice overlapping")
def overlapping_copy(x):
    y = x * 1.0
    y[1:] = y[:-1]
    y[:3] += y[3:]
    return np.sum(y**2)


@case(draw(6, seed=13), kinds="set_mask")
def relu_by_mask(x):
    y = x * 2.0
    y[y < 0] = 0.0
    return np.sum(y**2)


@case(draw(5, seed=14), 0.3, wrt=("x", "fill"), kinds="set_mask")
def fill_by_mask(x, fill):
    y = x.copy()
    y[np.abs(x) > 0.6] = fill
    return np.sum(np.exp(y))


@case(draw(6, seed=15), kinds="set_mask")
def masked_values(x):
    m = x > 0
    y = np.zeros_like(x)
    y[m] = np.sqrt(x[m])
    y[~m] = x[~m] ** 2
    return np.sum(y * np.arange(1.0, 7.0))


@case(positive(3, 3, seed=16), kinds="set_mask")
def mask_in_two_dimensions(A):
    B = A.copy()
    B[np.eye(3, dtype=bool)] = 0.0
    B[B > 1.2] *= 0.5
    return np.sum(B**2)


@case(draw(3, seed=17), kinds="set_fancy")
def last_write_wins(v):
    y = np.zeros(3)
    y[np.array([0, 0, 2])] = v
    return np.sum(y * np.array([1.0, 10.0, 100.0]))


@case(draw(5, seed=18), draw(2, seed=19), wrt=("x", "v"), kinds="set_fancy")
def scatter(x, v):
    y = x**2
    y[[3, 1]] = v
    return np.sum(np.cumsum(y) * np.arange(5.0))


@case(draw(3, 3, seed=20), draw(3, seed=21), wrt=("A", "d"), kinds="set_fancy")
def write_diagonal(A, d):
    B = A * 2.0
    i = np.arange(3)
    B[i, i] = d
    B[i, (i + 1) % 3] += d**2
    return np.sum(B**3)


@case(draw(4, seed=22), kinds="set_fancy augadd_fancy")
def buffered_add(v):
    y = np.ones(3)
    y[np.array([0, 0, 2, 1])] += v
    return np.sum(y * np.array([1.0, 10.0, 100.0]))


@case(draw(4, seed=23), np.array([2, 0, 2, 1]), wrt="v", kinds="augadd_fancy")
def buffered_multiply(v, idx):
    y = np.array([1.0, 2.0, 3.0])
    y[idx] *= v
    y[idx[:2]] -= v[:2] ** 2
    return np.sum(y**2)


@case(draw(5, seed=24), kinds="augadd_fancy")
def fancy_add_rows(x):
    A = np.zeros((3, 2))
    A[[0, 2]] += x[:2]
    A[[1, 1]] += x[2:4]
    A[:, 0] += x[4]
    return np.sum(A**2)


@case(draw(4, seed=25), np.array([0, 0, 2, 0]), wrt="v", kinds="add_at")
def add_at(v, idx):
    y = np.ones(3)
    np.add.at(y, idx, v)
    return np.sum(y**2)


@case(draw(5, 2, seed=26), np.array([1, 0, 1, 1, 2]), wrt="X", kinds="add_at")
def segment_sum(X, group):
    S = np.zeros((3, 2))
    np.add.at(S, group, X)
    return np.sum(np.tanh(S))


@case(draw(3, seed=27), kinds="add_at")
def subtract_at(x):
    H = np.zeros((2, 2))
    np.add.at(H, ([0, 1, 0], [1, 1, 1]), x)
    np.subtract.at(H, (0, 0), x[0] ** 2)
    return np.sum(H**2)


@case(draw(4, 3, seed=28), kinds="setitem")
def per_column_write(X):
    out = np.zeros(3)
    for j in range(X.shape[1]):
        col = X[:, j]
        out[j] = np.sum(col**2) / (1.0 + np.sum(col) ** 2)
    return np.prod(out)


@case(
    positive(4, seed=29),
    positive(3, seed=30),
    wrt=("x", "y"),
    kinds="setitem nested_loops",
)
def dtw_hard(x, y):
    D = np.full((5, 4), np.inf)
    D[0, 0] = 0.0
    for i in range(1, 5):
        for j in range(1, 4):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[-1, -1]
