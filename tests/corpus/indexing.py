"""Reading by integers, slices, steps, ellipsis, masks and integer arrays."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw


@case(draw(5, seed=1), kinds="index")
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@case(draw(4, 3, seed=2), kinds="index")
def assorted_slices(A):
    return (
        np.sum(A[1:3] ** 2)
        + np.sum(A[::-1, 0] * np.arange(4.0))
        + A[-1, -2] ** 3
        + np.sum(A[..., 1])
        + np.sum(A[::2, ::2])
    )


@case(draw(5, seed=3), np.array([0, 3, 3, 1]), wrt="x", kinds="index fancy")
def gather_with_repeats(x, idx):
    return np.sum(x[idx] ** 2 * np.arange(1.0, 5.0))


@case(draw(4, 3, seed=4), np.array([2, 0, 1, 1]), wrt="logits", kinds="index fancy")
def cross_entropy(logits, labels):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


@case(draw(3, 2, seed=5), [[0, 2], [1, 1]], wrt="E", kinds="index fancy")
def embedding_lookup(E, tokens):
    rows = E[np.array(tokens)]
    return np.sum(rows.mean(axis=1) ** 2)


@case(draw(6, seed=6), kinds="index mask")
def mask_depends_on_x(x):
    return np.sum(x[x > 0] ** 2) + np.sum(x[np.abs(x) < 0.5])


@case(draw(3, 4, seed=7), np.array([True, False, True]), wrt="A", kinds="index mask")
def rows_by_mask(A, keep):
    B = A[keep]
    return np.sum(B @ B.T)


@case(draw(3, 3, seed=8), kinds="index fancy")
def upper_triangle(A):
    i, j = np.triu_indices(3, k=1)
    return np.sum(A[i, j] ** 2) * np.prod(A[np.diag_indices(3)])


@case(draw(4, seed=9), 1, wrt="x", kinds="index runtime_index")
def runtime_integer_index(x, k):
    return x[k] ** 2 * x[k + 1] + x[-k]


@case(draw(5, seed=10), kinds="index runtime_index")
def index_of_maximum(x):
    i = np.argmax(x)
    order = np.argsort(x)
    return x[i] ** 2 + np.sum(x[order[:2]])


@case(draw(3, 4, 2, seed=11), kinds="index")
def ellipsis_and_newaxis(T):
    a = T[..., 0]
    b = T[0, :, None]
    return np.sum(a**2) + np.sum(b * np.ones((4, 3, 2)))


@case(draw(4, 3, seed=12), np.array([0, 2]), wrt="A", kinds="index fancy")
def mixed_slice_and_array(A, cols):
    return np.sum(A[1:, cols] ** 2) + np.sum(A[[0, 1], :] * 3.0) + np.sum(A[:, cols][0])


@case(draw(5, seed=13), kinds="index")
def take_and_windows(x):
    w = np.array([0.25, 0.5, 0.25])
    s = 0.0
    for i in range(len(x) - 2):
        s += (w @ x[i : i + 3]) ** 2
    return s + np.sum(np.take(x, [0, 0, 4]))


@case(draw(3, seed=14), kinds="index fancy")
def gathered_with_repeats_then_looped(b):
    first = b[-3]
    t = 0.0
    for e in b[[2, 0, 2]]:
        t = 0.8 * t + e
    return np.tanh(t) * first + np.sum(b * b)
