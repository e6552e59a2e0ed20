"""Factorisations: one triangle is read, and losses do not see a choice of sign."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.rules.calls import complexes, numbers, positive
from tests.rules.evaluate import numeric, pull, rule_of

LOPSIDED = positive(3) + np.triu(numbers(3, 3, seed=7), 1)
"""A matrix whose upper triangle is not the mirror of its lower one."""

HERMITIAN = complexes(3, 3) + np.conj(complexes(3, 3).T)


@pytest.mark.parametrize("a", [positive(3), positive(1), positive(2, 4), LOPSIDED])
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(a: np.ndarray, upper: bool) -> None:
    weights = numbers(*a.shape, seed=3)

    def loss(x: Any) -> float:
        out = np.linalg.cholesky(x, upper=upper)
        return float(np.sum(weights * out))

    rule = rule_of("np.linalg.cholesky")
    bars = pull(rule, (a,), {"upper": upper}, weights)
    np.testing.assert_allclose(bars["a"], numeric(loss, a), rtol=1e-8, atol=1e-9)


def test_cholesky_of_a_complex_matrix() -> None:
    a = HERMITIAN + 8 * np.eye(3)
    weights = complexes(3, 3)

    def loss(x: Any) -> float:
        out = np.linalg.cholesky(x)
        return float(np.real(np.sum(weights * out)))

    bars = pull(rule_of("np.linalg.cholesky"), (a,), {}, weights)
    np.testing.assert_allclose(bars["a"], numeric(loss, a), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("a", [positive(3), positive(2, 4), HERMITIAN, LOPSIDED])
def test_eigh(a: np.ndarray) -> None:
    """Eigenvalues, and the squared moduli of eigenvectors' entries."""
    w, v = np.linalg.eigh(a)
    w_weights, v_weights = numbers(*w.shape), numbers(*v.shape, seed=2)

    def loss(x: Any) -> float:
        values, vectors = np.linalg.eigh(x)
        squared = np.real(vectors * np.conj(vectors))
        return float(np.sum(w_weights * values) + np.sum(v_weights * squared))

    v_bar = 2 * v_weights * np.conj(v)
    bars = pull(rule_of("np.linalg.eigh"), (a,), {}, (w_weights, v_bar))
    np.testing.assert_allclose(bars["a"], numeric(loss, a), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("a", [positive(3), HERMITIAN, np.eye(3), LOPSIDED])
def test_eigenvalues_alone(a: np.ndarray) -> None:
    """A spectral function is smooth where eigenvalues are equal, too."""

    def loss(x: Any) -> float:
        return float(np.sum(np.linalg.eigvalsh(x) ** 2))

    w, v = np.linalg.eigh(a)
    want = numeric(loss, a)
    by_eigh = pull(rule_of("np.linalg.eigh"), (a,), {}, (2 * w, 0 * v))
    np.testing.assert_allclose(by_eigh["a"], want, rtol=1e-8, atol=1e-9)
    by_values = pull(rule_of("np.linalg.eigvalsh"), (a,), {}, 2 * w)
    np.testing.assert_allclose(by_values["a"], want, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    "a",
    [np.diag([1.0, 2.0, 4.0]) + 0.1 * numbers(3, 3), complexes(3, 3), numbers(4, 4)],
)
def test_eig(a: np.ndarray) -> None:
    """Complex eigenvalues, and the squared moduli of eigenvectors' entries."""
    w, v = np.linalg.eig(a)
    w_weights, v_weights = numbers(*w.shape), numbers(*v.shape, seed=2)

    def loss(x: Any) -> float:
        values, vectors = np.linalg.eig(x)
        squared = np.real(vectors * np.conj(vectors))
        squares = np.real(values * np.conj(values))
        return float(np.sum(w_weights * squares) + np.sum(v_weights * squared))

    bars = pull(
        rule_of("np.linalg.eig"),
        (a,),
        {},
        (2 * w_weights * np.conj(w), 2 * v_weights * np.conj(v)),
    )
    got = bars["a"] if np.iscomplexobj(a) else np.real(bars["a"])
    np.testing.assert_allclose(got, numeric(loss, a, 5e-4), rtol=1e-6, atol=1e-7)


def projector(u: np.ndarray, k: int) -> np.ndarray:
    """Return the projector on the columns from the k-th on."""
    return u[:, k:] @ u[:, k:].T


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_full_svd_reads_the_null_spaces(shape: tuple[int, int]) -> None:
    a = numbers(*shape)
    k = min(shape)
    left, right = (
        numbers(shape[0], shape[0], seed=5),
        numbers(shape[1], shape[1], seed=6),
    )

    def loss(x: Any) -> float:
        u, s, vh = np.linalg.svd(x)
        first = np.sum(left * projector(u, k)) + np.sum(right * projector(vh.T, k))
        return float(first + np.sum(left * projector(u, 1)) + np.sum(s**3))

    u, s, vh = np.linalg.svd(a)
    u_bar, v_bar = np.zeros_like(u), np.zeros_like(vh)
    u_bar[:, k:] = (left + left.T) @ u[:, k:]
    u_bar[:, 1:] += (left + left.T) @ u[:, 1:]
    v_bar[:, k:] = (right + right.T) @ vh.T[:, k:]
    bars = pull(rule_of("np.linalg.svd"), (a,), {}, (u_bar, 3 * s**2, v_bar.T))
    np.testing.assert_allclose(bars["a"], numeric(loss, a), rtol=1e-7, atol=1e-8)


def test_svd_of_a_complex_matrix() -> None:
    a = complexes(3, 2)
    weights = numbers(3, 2, seed=4)

    def loss(x: Any) -> float:
        u, s, _ = np.linalg.svd(x, full_matrices=False)
        return float(np.sum(weights * np.real(u * np.conj(u))) + np.sum(s**2))

    u, s, vh = np.linalg.svd(a, full_matrices=False)
    bars = pull(
        rule_of("np.linalg.svd"),
        (a,),
        {"full_matrices": False},
        (2 * weights * np.conj(u), 2 * s, np.zeros_like(vh)),
    )
    np.testing.assert_allclose(bars["a"], numeric(loss, a), rtol=1e-7, atol=1e-8)


def test_pinv_of_a_rank_one_matrix() -> None:
    """The pseudo-inverse of outer(a, b) is outer(b, a) / (|a|² |b|²)."""
    a, b = np.array([1.0, 2.0, -1.0]), np.array([0.5, 1.5])
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    bars = pull(rule_of("np.linalg.pinv"), (np.outer(a, b),), {}, weights)

    def loss(x: Any) -> float:
        return float(np.sum(weights * np.outer(b, x)) / (x @ x) / (b @ b))

    np.testing.assert_allclose(bars["a"] @ b, numeric(loss, a), rtol=1e-8)
