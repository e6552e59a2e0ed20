"""One decorated function, called with one shape after another.

A specialised text serves every size with the same pattern of equal dimensions; these
tests change sizes, make dimensions equal by chance, shrink them to one and to zero,
and switch between dtypes, numbers and arrays, and check every gradient by differences.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symback
from tests import oracle

rng = np.random.default_rng


def normal(*shape: int) -> np.ndarray:
    return rng(sum(shape) + 7).normal(size=shape)


def layer(W, b, X, y):
    h = np.tanh(X @ W + b)
    return np.mean((h.sum(axis=1) - y) ** 2) + 0.1 * np.sum(W**2)


def pairwise(X, C):
    d2 = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=-1)
    return np.sum(np.exp(-d2) * np.arange(1.0, len(C) + 1))


def broadcast(a, b):
    return np.sum(np.sin(a * b) + a - 2.0 * b)


def loop(x, phi):
    total = 0.0
    for t in range(1, len(x)):
        total += (x[t] - phi * x[t - 1]) ** 2
    return total


def recurrence(x, A):
    h = np.zeros(A.shape[0])
    out = np.zeros((len(x), A.shape[0]))
    for t in range(len(x)):
        h = np.tanh(A @ h + x[t])
        out[t] = h
    return np.sum(out**2)


def listed(x):
    hs = [0.5]
    for v in x:
        hs.append(np.tanh(hs[-1] + v))
    return np.sum(np.array(hs) ** 2)


def softmax(X, W):
    z = X @ W
    z = z - z.max(axis=1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return np.sum(np.log(p)[:, 0])


def masked(x):
    y = x * 2.0
    y[y < 0] *= 0.1
    return np.sum(y**2) + np.sum(x[x > 0.3])


def standardise(X):
    Z = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + 0.1)
    return np.sum(Z**3)


def solve(A, b):
    S = A @ A.T + np.eye(len(b))
    return b @ np.linalg.solve(S, b) + np.linalg.slogdet(S)[1]


def triangle(A):
    s = 0.0
    for i in range(A.shape[0]):
        for j in range(min(i + 1, A.shape[1])):
            s += A[i, j] ** 2 * (j + 1)
    return s


def last_axis(T, w):
    return np.sum(np.tanh(T @ w) ** 2) + np.sum(T[..., 0])


def joined(a, b):
    v = np.concatenate([a, b, a[:1]])
    return np.sum(np.cumsum(v) ** 2)


def outer(a, b):
    M = np.outer(a, b)
    M[0] = 0.5 * M[-1]
    return np.sum(M**2) + np.trace(M)


def reshaped(X, w):
    flat = X.reshape(-1)
    return np.sum(flat * flat[::-1]) + np.sum(X.T.ravel()[: len(w)] * w)


#: Sizes in an order in which equal, one-sized and unequal dimensions follow each other.
PAIRS = [(3, 4), (4, 3), (2, 2), (1, 4), (4, 1), (5, 2), (1, 1), (3, 4), (2, 3)]
TRIPLES = [(3, 2, 4), (2, 2, 2), (4, 2, 2), (2, 4, 2), (1, 3, 2), (3, 1, 2), (3, 2, 1)]

CALLS: list[tuple[Callable[..., Any], Any, list[tuple[Any, ...]]]] = [
    (
        layer,
        ("W", "b"),
        [(normal(d, h), normal(h), normal(n, d), normal(n)) for n, d, h in TRIPLES],
    ),
    (pairwise, ("X", "C"), [(normal(n, d), normal(m, d)) for n, d, m in TRIPLES]),
    (
        broadcast,
        ("a", "b"),
        [
            (normal(*s), normal(*t))
            for s, t in itertools.product(
                [(3, 4), (1, 4), (3, 1), (4,), (1,), (), (1, 1)], repeat=2
            )
        ]
        + [(0.4, normal(3)), (normal(2, 2), 0.7), (0.3, 0.2), (0.1, normal())],
    ),
    (loop, ("x", "phi"), [(normal(n), 0.4) for n in (4, 2, 7, 1, 3)]),
    (recurrence, ("x", "A"), [(normal(n, d), normal(d, d)) for n, d in PAIRS]),
    (listed, "x", [(normal(n),) for n in (3, 1, 6, 2)]),
    (softmax, ("X", "W"), [(normal(n, d), normal(d, h)) for n, d, h in TRIPLES]),
    (masked, "x", [(normal(*s),) for s in ((5,), (1,), (3, 2), (8,), (2, 2))]),
    (standardise, "X", [(normal(n, d),) for n, d in PAIRS]),
    (solve, ("A", "b"), [(normal(n, m), normal(n)) for n, m in PAIRS]),
    (triangle, "A", [(normal(n, m),) for n, m in PAIRS]),
    (
        last_axis,
        ("T", "w"),
        [
            (normal(*s), normal(s[-1]))
            for s in ((2, 3), (3, 3), (2, 3, 4), (3, 3, 3), (1, 3), (3, 1), (2, 1, 2))
        ],
    ),
    (joined, ("a", "b"), [(normal(n), normal(m)) for n, m in PAIRS]),
    (outer, ("a", "b"), [(normal(n), normal(m)) for n, m in PAIRS]),
    (reshaped, ("X", "w"), [(normal(n, m), normal(n)) for n, m in PAIRS]),
]


def assert_right(f: Any, wrt: Any, args: tuple[Any, ...], where: str) -> None:
    """Assert one call's value and gradient."""
    fn = f.__wrapped__
    value, gradient = f.value_and_grad_fn(*args)
    expected = fn(*args)
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-14, err_msg=where)
    names, single = oracle.wrt_names(fn, wrt)
    bound, _ = oracle.bind(fn, args, {})
    faults = []
    for name, part in zip(names, (gradient,) if single else gradient, strict=True):
        numeric = oracle.numeric_gradient(fn, args, {}, name)
        faults += oracle.same_structure(part, bound.arguments[name], name)
        faults += oracle.mismatches(part, numeric, 1e-6, float(expected))
    assert not faults, f"{where}: {faults}"


@pytest.mark.parametrize(
    ("fn", "wrt", "calls"), CALLS, ids=lambda x: getattr(x, "__name__", "")
)
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_shapes(fn: Any, wrt: Any, calls: list[tuple[Any, ...]], order: str):
    f = symback.differentiable(fn, wrt=wrt)
    for args in calls if order == "forwards" else reversed(calls):
        assert_right(f, wrt, args, str([np.shape(a) for a in args]))


def test_dtypes_in_turn():
    f = symback.differentiable(layer, wrt=("W", "b"))
    args = (normal(2, 3), normal(3), normal(4, 2), normal(4))
    for dtype in (np.float64, np.float32, np.float64):
        typed = tuple(a.astype(dtype) for a in args)
        W_bar, b_bar = f.grad_fn(*typed)
        assert W_bar.dtype == b_bar.dtype == dtype
        exact = f.grad_fn(*args)[0]
        # float32 rounds at 6e-8, a few dozen operations deep.
        np.testing.assert_allclose(W_bar, exact, rtol=1e-4, atol=1e-5)


def test_mixed_dtypes():
    """A float32 parameter against float64 data keeps a float32 gradient."""
    f = symback.differentiable(layer, wrt=("W", "b"))
    W, b = normal(2, 3).astype(np.float32), normal(3)
    W_bar, b_bar = f.grad_fn(W, b, normal(4, 2), normal(4))
    assert (W_bar.dtype, b_bar.dtype) == (np.float32, np.float64)


def test_numbers_and_arrays_in_turn():
    f = symback.differentiable(broadcast, wrt=("a", "b"))
    for a in (0.5, np.float64(0.5), np.array(0.5), np.array([0.5]), 2, np.arange(3)):
        assert_right(f, ("a", "b"), (a, 1.25), repr(a))


def test_integer_data():
    """Integer arrays that are not differentiated stay integers."""
    f = symback.differentiable(layer, wrt=("W", "b"))
    X = np.arange(8).reshape(4, 2)
    assert_right(f, ("W", "b"), (normal(2, 3), normal(3), X, np.arange(4)), "int")


def test_memory_layouts_in_turn():
    """Transposed, strided, reversed and read-only arguments."""
    f = symback.differentiable(reshaped, wrt=("X", "w"))
    X, w = normal(4, 3), normal(3)
    read_only = X.copy()
    read_only.flags.writeable = False
    for view in (X, X.T.copy().T, X[::2], X[:, ::-1], np.asfortranarray(X), read_only):
        assert_right(f, ("X", "w"), (view, w), str(view.strides))


def test_one_array_as_two_arguments():
    f = symback.differentiable(outer, wrt=("a", "b"))
    a = normal(3)
    a_bar, b_bar = f.grad_fn(a, a)
    apart = f.grad_fn(a, a.copy())
    np.testing.assert_array_equal(a_bar, apart[0])
    np.testing.assert_array_equal(b_bar, apart[1])


def test_gradients_are_not_shared_between_calls():
    """The caller owns what it gets: writing into it changes nothing later."""
    f = symback.differentiable(pairwise, wrt=("X", "C"))
    X, C = normal(3, 2), normal(2, 2)
    first = f.grad_fn(X, C)
    kept = [part.copy() for part in first]
    for part in first:
        part[...] = np.nan
    second = f.grad_fn(X, C)
    for part, before in zip(second, kept, strict=True):
        np.testing.assert_array_equal(part, before)
    assert not any(np.shares_memory(p, q) for p in second for q in (X, C))
    assert not np.shares_memory(*second)


def linear(w, x):
    return np.sum(w * x)


def identity(a, b):
    return np.sum(a) + np.sum(a * b) + np.sum(b)


@pytest.mark.parametrize("fn", [linear, identity])
def test_gradients_do_not_share_memory_with_arguments(fn: Any):
    f = symback.differentiable(fn, wrt="all")
    args = (normal(3), normal(3))
    before = [a.copy() for a in args]
    for part in f.grad_fn(*args):
        part += 1.0  # must be writeable, and nobody else's
    for arg, copy in zip(args, before, strict=True):
        np.testing.assert_array_equal(arg, copy)
