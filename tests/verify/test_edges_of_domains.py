"""Right gradients at odd points are not called wrong: zeros, no value, overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback
from symback.verify import compare
from tests.verify.models import generated


def product(x):
    return np.prod(x)


def square(z):
    return np.real(z * np.conj(z))


def logarithm(x):
    return np.log(x) + x


def inverse(x):
    return np.sum(1.0 / x)


def exponential(x):
    return np.exp(x) + x


def test_a_slope_of_zero_is_zero() -> None:
    """Along any direction v, the product is t³·v₀·v₁·v₂ at zeros: its slope is 0."""
    found = symback.differentiable(product).compare(np.zeros(3))
    assert found.verdict == "proved"
    assert [w.agrees for w in found.witnesses] == [True, True]
    assert [w.got for w in found.witnesses] == [0.0, 0.0]


def test_a_wrong_slope_is_no_rounding_of_zero() -> None:
    source = "def g(x):\n    return np.prod(x), np.full(3, 1e-12)"
    found = compare(
        product, (np.zeros(3),), {}, wrt="x", generate=generated(source), points=0
    )
    assert found.verdict == "refuted"
    assert not any(w.agrees for w in found.witnesses)


@pytest.mark.parametrize("z", [1 + 2j, np.array(1 + 2j), np.complex64(1j)])
def test_complex_parameters_are_undecided(z: Any) -> None:
    found = symback.differentiable(square).compare(z)
    assert found.verdict == "undecided"
    assert [r.how for r in found.rows] == [
        "z is complex: only real parameters are compared"
    ]


@pytest.mark.parametrize(
    ("fn", "x", "value"),
    [(logarithm, -1.0, "nan"), (inverse, np.array([0.0, 1.0]), "inf")],
)
def test_no_value_is_undecided(fn: Any, x: Any, value: str) -> None:
    found = symback.differentiable(fn).compare(x)
    assert found.verdict == "undecided"
    assert not found.failure
    reason = f"the value at your point is {value}"
    assert all(r.how.startswith(reason) for r in found.rows)


def test_no_value_at_the_point_excuses_no_error_elsewhere() -> None:
    source = "def g(x):\n    return np.log(x) + x, 1 / x"
    found = compare(logarithm, (-1.0,), {}, wrt="x", generate=generated(source))
    assert found.verdict == "refuted"


def test_overflow_of_single_numbers_is_no_error() -> None:
    found = symback.differentiable(exponential).compare(800.0)
    assert found.verdict == "proved"
    assert any("OverflowError" in f for f in found.findings)


def test_division_by_zero_in_a_wrong_gradient_is_refuted() -> None:
    """The derivative of x² at 0 is 0, where 2·x·x/x has no value."""

    def loss(x):
        return x**2

    source = "def g(x):\n    return x**2, 2 * x * x / x"
    found = compare(loss, (0.0,), {}, wrt="x", generate=generated(source))
    assert found.verdict == "refuted"


def network(W, x):
    return np.sum(np.tanh(W @ x))


def test_a_comparison_without_time_lists_its_entries() -> None:
    """Nine entries of W and three of x."""
    f = symback.differentiable(network, wrt=("W", "x"))
    found = f.compare(np.ones((3, 3)), np.ones(3), seconds=0.0)
    assert found.verdict == "undecided"
    assert [r.name for r in found.rows][8:10] == ["W[2,2]", "x[0]"]
    assert {r.how for r in found.rows} == {"the time was over"}
    assert found.unfinished == "0 s are over: 0 of 12 entries proved"
