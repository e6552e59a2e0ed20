"""SciPy's functions of symmetric matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.distance import cdist

from tests.rules.calls import numbers, positive
from tests.rules.evaluate import numeric, pull, rule_of


def symmetric(x: np.ndarray) -> np.ndarray:
    """Make any perturbation of the argument a symmetric one."""
    return 0.5 * (x + x.T)


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower: bool) -> None:
    a, weights = positive(3), numbers(3, 3, seed=3)

    def loss(x: Any) -> float:
        return float(np.sum(weights * scipy.linalg.cholesky(symmetric(x), lower=lower)))

    got = pull(rule_of("scipy.linalg.cholesky"), (a,), {"lower": lower}, weights)["a"]
    np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("b", [numbers(3), numbers(3, 2)])
def test_cho_factor_and_cho_solve(lower: bool, b: np.ndarray) -> None:
    """The chain from the matrix to the solution, through both rules."""
    a, weights = positive(3), numbers(*b.shape, seed=3)

    def loss(x: Any) -> float:
        factor = scipy.linalg.cho_factor(symmetric(x), lower=lower)
        return float(np.sum(weights * scipy.linalg.cho_solve(factor, b)))

    factor = scipy.linalg.cho_factor(a, lower=lower)
    back = pull(rule_of("scipy.linalg.cho_solve"), (factor, b), {}, weights)
    bars = (back["c_and_lower"][0], None)
    got = pull(rule_of("scipy.linalg.cho_factor"), (a,), {"lower": lower}, bars)["a"]
    np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-8, atol=1e-9)


def test_generalised_eigenproblem() -> None:
    a, b = numbers(3, 3) + numbers(3, 3).T, positive(3)
    _, v = scipy.linalg.eigh(a, b)
    w_weights, v_weights = numbers(3), numbers(3, 3, seed=2)

    def loss(x: Any, y: Any) -> float:
        values, vectors = scipy.linalg.eigh(symmetric(x), symmetric(y))
        return float(np.sum(w_weights * values) + np.sum(v_weights * vectors**2))

    bars = (w_weights, 2 * v_weights * v)
    got = pull(rule_of("scipy.linalg.eigh"), (a, b), {}, bars)
    want = numeric(lambda x: loss(x, b), a)
    np.testing.assert_allclose(got["a"], want, rtol=1e-7, atol=1e-8)
    want = numeric(lambda x: loss(a, x), b)
    np.testing.assert_allclose(got["b"], want, rtol=1e-7, atol=1e-8)
    got = pull(rule_of("scipy.linalg.eigvalsh"), (a,), {}, w_weights)["a"]
    want = numeric(lambda x: np.sum(w_weights * np.linalg.eigvalsh(symmetric(x))), a)
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)


def test_solve_of_a_matrix_said_to_be_symmetric() -> None:
    a, b, weights = positive(3), numbers(3), numbers(3, seed=4)

    def loss(x: Any) -> float:
        return float(weights @ scipy.linalg.solve(symmetric(x), b, assume_a="pos"))

    got = pull(rule_of("scipy.linalg.solve"), (a, b), {"assume_a": "pos"}, weights)["a"]
    np.testing.assert_allclose(got, numeric(loss, a), rtol=1e-8, atol=1e-9)


def test_coincident_points_have_no_pull() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    got = pull(
        rule_of("scipy.spatial.distance.cdist"), (x, x), {}, np.ones_like(cdist(x, x))
    )
    np.testing.assert_allclose(got["XA"], [[-0.6, -0.8], [0.6, 0.8]], rtol=1e-15)
