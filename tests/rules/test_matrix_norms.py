"""Norms of one matrix, whose slopes by hand are outer products of singular vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback
from tests.standalone import run_generic, run_specialised

# diag(3, -2) has the singular values 3 and 2, with u vᵀ = diag(1, 0) and diag(0, -1).
MATRIX = np.diag([3.0, -2.0])
LARGEST, SMALLEST = np.diag([1.0, 0.0]), np.diag([0.0, -1.0])


def spectral(x):
    return np.linalg.norm(x, 2)


def smallest(x):
    return np.linalg.norm(x, ord=-2, axis=(0, 1))


def nuclear(x):
    return np.linalg.norm(x, "nuc")


def kept(x):
    return np.linalg.norm(x, -2, keepdims=True)[0, 0]


def spectral_of_the_array_api(x):
    return np.linalg.matrix_norm(x, ord=2)


def stacked(x):
    return np.sum(np.linalg.norm(np.stack([x, x]), 2, axis=(1, 2)))


@pytest.mark.parametrize(
    ("fn", "value", "slope"),
    [
        (spectral, 3.0, LARGEST),
        (smallest, 2.0, SMALLEST),
        (nuclear, 5.0, LARGEST + SMALLEST),
        (kept, 2.0, SMALLEST),
        (spectral_of_the_array_api, 3.0, LARGEST),
        (stacked, 6.0, 2 * LARGEST),
    ],
)
@pytest.mark.parametrize("run", [run_specialised, run_generic])
def test_by_hand(fn: Any, value: float, slope: Any, run: Any):
    f = symback.differentiable(fn)
    found, gradient = run(f, 0, (MATRIX,), {})
    assert found == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(np.squeeze(gradient), slope, atol=1e-14)


def ordered(x, n):
    return np.linalg.norm(x, n)


@pytest.mark.parametrize(("n", "slope"), [(2, LARGEST), (-2, SMALLEST)])
def test_an_order_given_as_an_argument(n: int, slope: Any):
    np.testing.assert_allclose(symback.grad(ordered)(MATRIX, n), slope, atol=1e-14)
