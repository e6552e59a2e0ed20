"""SciPy's functions of symmetric matrices: one triangle is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.distance import cdist

from tests.rules.calls import complexes, numbers, positive
from tests.rules.evaluate import numeric, pull, rule_of


def lopsided(x: np.ndarray, lower: bool) -> np.ndarray:
    """Return a matrix with the triangle that is read of `x` and another of its own."""
    other = numbers(*x.shape, seed=9)
    return x + (np.triu(other, 1) if lower else np.tril(other, -1))


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower: bool) -> None:
    a, weights = lopsided(positive(3), lower), numbers(3, 3, seed=3)

    def loss(x: Any) -> float:
        return float(np.sum(weights * scipy.linalg.cholesky(x, lower=lower)))

    got = pull(rule_of("scipy.linalg.cholesky"), (a,), {"lower": lower}, weights)["a"]
    np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("b", [numbers(3), numbers(3, 2)])
def test_cho_factor_and_cho_solve(lower: bool, b: np.ndarray) -> None:
    """The chain from the matrix to the solution, through both rules."""
    a, weights = lopsided(positive(3), lower), numbers(*b.shape, seed=3)

    def loss(x: Any) -> float:
        factor = scipy.linalg.cho_factor(x, lower=lower)
        return float(np.sum(weights * scipy.linalg.cho_solve(factor, b)))

    factor = scipy.linalg.cho_factor(a, lower=lower)
    back = pull(rule_of("scipy.linalg.cho_solve"), (factor, b), {}, weights)
    bars = (back["c_and_lower"][0], None)
    got = pull(rule_of("scipy.linalg.cho_factor"), (a,), {"lower": lower}, bars)["a"]
    np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("lower", [False, True])
def test_generalised_eigenproblem(lower: bool) -> None:
    a = lopsided(numbers(3, 3) + numbers(3, 3).T, lower)
    b = lopsided(positive(3), lower)
    _, v = scipy.linalg.eigh(a, b, lower=lower)
    w_weights, v_weights = numbers(3), numbers(3, 3, seed=2)

    def loss(x: Any, y: Any) -> float:
        values, vectors = scipy.linalg.eigh(x, y, lower=lower)
        return float(np.sum(w_weights * values) + np.sum(v_weights * vectors**2))

    bars = (w_weights, 2 * v_weights * v)
    got = pull(rule_of("scipy.linalg.eigh"), (a, b), {"lower": lower}, bars)
    want = numeric(lambda x: loss(x, b), a)
    np.testing.assert_allclose(got["a"], want, rtol=1e-7, atol=1e-8)
    want = numeric(lambda x: loss(a, x), b)
    np.testing.assert_allclose(got["b"], want, rtol=1e-7, atol=1e-8)

    def values_only(x: Any, y: Any) -> float:
        return float(np.sum(w_weights * scipy.linalg.eigvalsh(x, y, lower=lower)))

    got = pull(rule_of("scipy.linalg.eigvalsh"), (a, b), {"lower": lower}, w_weights)
    want = numeric(lambda x: values_only(x, b), a)
    np.testing.assert_allclose(got["a"], want, rtol=1e-8, atol=1e-9)
    want = numeric(lambda x: values_only(a, x), b)
    np.testing.assert_allclose(got["b"], want, rtol=1e-8, atol=1e-9)


def test_generalised_eigenproblem_of_complex_matrices() -> None:
    a = complexes(3, 3) + np.conj(complexes(3, 3).T)
    b = positive(3) + 0.1 * np.tril(complexes(3, 3), -1)
    _, v = scipy.linalg.eigh(a, b)
    w_weights, v_weights = numbers(3), numbers(3, 3, seed=2)

    def loss(x: Any, y: Any) -> float:
        values, vectors = scipy.linalg.eigh(x, y)
        squares = np.real(vectors * np.conj(vectors))
        return float(np.sum(w_weights * values) + np.sum(v_weights * squares))

    bars = (w_weights, 2 * v_weights * np.conj(v))
    got = pull(rule_of("scipy.linalg.eigh"), (a, b), {}, bars)
    want = numeric(lambda x: loss(x, b), a)
    np.testing.assert_allclose(got["a"], want, rtol=1e-7, atol=1e-8)
    want = numeric(lambda x: loss(a, x), b)
    np.testing.assert_allclose(got["b"], want, rtol=1e-7, atol=1e-8)


ASSUMED = ("sym", "pos", "her", "diagonal", "upper triangular", "lower triangular")


@pytest.mark.parametrize("assume", ASSUMED)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("b", [numbers(3), numbers(3, 2)])
def test_solve_reads_what_is_assumed(assume: str, lower: bool, b: np.ndarray) -> None:
    a, weights = lopsided(positive(3), lower), numbers(*b.shape, seed=4)

    def loss(x: Any, b: Any) -> float:
        out = scipy.linalg.solve(x, b, assume_a=assume, lower=lower)
        return float(np.sum(weights * out))

    told = {"assume_a": assume, "lower": lower}
    got = pull(rule_of("scipy.linalg.solve"), (a, b), told, weights)
    want = numeric(lambda x: loss(x, b), a)
    np.testing.assert_allclose(got["a"], want, rtol=1e-8, atol=1e-9)
    want = numeric(lambda x: loss(a, x), b)
    np.testing.assert_allclose(got["b"], want, rtol=1e-8, atol=1e-9)


def test_solve_of_a_complex_symmetric_matrix() -> None:
    a = positive(3) + 1j * numbers(3, 3, seed=5)
    b, weights = complexes(3), 2 * complexes(3)[::-1]
    for assume in ("sym", "her"):

        def loss(x: Any, assume: str = assume) -> float:
            out = scipy.linalg.solve(x, b, assume_a=assume)
            return float(np.real(weights @ out))

        told = {"assume_a": assume}
        got = pull(rule_of("scipy.linalg.solve"), (a, b), told, weights)["a"]
        np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-8, atol=1e-9)


def test_pinv_of_one_triangle() -> None:
    a, weights = lopsided(positive(3), True), numbers(3, 3, seed=4)

    def loss(x: Any) -> float:
        return float(np.sum(weights * np.linalg.pinv(x, hermitian=True)))

    told = {"hermitian": True}
    got = pull(rule_of("np.linalg.pinv"), (a,), told, weights)["a"]
    np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-7, atol=1e-8)


def test_coincident_points_have_no_pull() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    got = pull(
        rule_of("scipy.spatial.distance.cdist"), (x, x), {}, np.ones_like(cdist(x, x))
    )
    np.testing.assert_allclose(got["XA"], [[-0.6, -0.8], [0.6, 0.8]], rtol=1e-15)
