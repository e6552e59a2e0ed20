"""Closed derivatives: equal to the composite's own, and right where that one fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symback.operations import CLOSED, Rule
from tests.rules.calls import complexes, numbers
from tests.rules.evaluate import NAMESPACE, numeric, pull

BY_CALL = {rule.call: rule for rule in CLOSED}


def function_of(rule: Rule) -> Callable[..., Any]:
    """Return the pattern as a function of its names."""
    params = ", ".join(rule.params)
    return eval(f"lambda {params}: {rule.call}", dict(NAMESPACE))  # type: ignore[no-any-return]


def cotangents(call: str, **values: Any) -> dict[str, Any]:
    """Return the rule's cotangents at some values, for a cotangent of 1."""
    rule = BY_CALL[call]
    args = tuple(values[name] for name in rule.params)
    function = function_of(rule)
    out = function(*args)
    one = 1.0 if np.ndim(out) == 0 else np.ones_like(out)
    return pull(rule, args, out_bar=one, function=function)


def values_of(rule: Rule) -> dict[str, Any]:
    """Return arguments that suit a pattern: positive numbers, scalars for math."""
    found: dict[str, Any] = {}
    for k, name in enumerate(rule.params):
        if name == "axis":
            found[name] = 1
        elif "math." in rule.call:
            found[name] = 0.6 + 0.3 * k
        elif "axis" in rule.params:
            found[name] = np.abs(numbers(2, 3, seed=k)) + 0.2
        else:
            found[name] = np.abs(numbers(3, seed=k)) + 0.2
    return found


@pytest.mark.parametrize("call", list(BY_CALL))
def test_pattern_against_differences(call: str) -> None:
    rule = BY_CALL[call]
    function = function_of(rule)
    values = values_of(rule)
    args = tuple(values.values())
    out = function(*args)
    weights = np.random.default_rng(3).uniform(0.5, 1.5, np.shape(out))
    weights = weights if np.ndim(out) else float(weights)
    bars = pull(rule, args, out_bar=weights, function=function)
    for k, name in enumerate(rule.params):
        if name == "axis":
            continue

        def loss(x: Any, k: int = k) -> float:
            return float(np.sum(weights * function(*args[:k], x, *args[k + 1 :])))

        np.testing.assert_allclose(
            bars[name], numeric(loss, args[k], 1e-3), rtol=1e-8, atol=1e-9
        )
        assert np.shape(bars[name]) == np.shape(args[k])


def compared(call: str, *args: Any) -> None:
    """Compare a rule with differences at arguments of another shape or kind."""
    rule = BY_CALL[call]
    function = function_of(rule)
    out = function(*args)
    rng = np.random.default_rng(3)
    weights: Any = rng.uniform(0.5, 1.5, np.shape(out))
    if np.iscomplexobj(out):
        weights = weights + 1j * rng.uniform(0.5, 1.5, np.shape(out))
    bars = pull(rule, args, out_bar=weights, function=function)

    def loss(x: Any) -> float:
        return float(np.real(np.sum(weights * function(x, *args[1:]))))

    np.testing.assert_allclose(
        bars["x"], numeric(loss, args[0], 1e-3), rtol=1e-7, atol=1e-8
    )


@pytest.mark.parametrize("product", ["x @ x", "np.dot(x, x)", "np.inner(x, x)"])
def test_the_root_of_a_product_of_matrices_is_no_length(product: str) -> None:
    compared(f"np.sqrt({product})", np.abs(numbers(3, 3)) + 0.2)


@pytest.mark.parametrize(
    "call",
    [
        "np.sqrt(x ** 2)",
        "np.sqrt(x * x)",
        "np.abs(x) ** 2",
        "np.linalg.norm(x) ** 2",
        "np.sqrt(np.sum(x ** 2))",
        "1 / (1 + np.exp(-x))",
        "np.log(np.sum(np.exp(x)))",
        "np.sqrt(np.var(x))",
        "np.sqrt(np.vdot(x, x))",
    ],
)
def test_complex_numbers(call: str) -> None:
    compared(call, complexes(3) + 0.3)


@pytest.mark.parametrize(
    "call",
    [
        "np.sqrt(np.sum(x ** 2, axis=axis))",
        "np.sqrt(np.mean(x ** 2, axis=axis))",
        "np.sqrt(np.var(x, axis=axis))",
        "np.linalg.norm(x, axis=axis) ** 2",
        "np.log(np.sum(np.exp(x), axis=axis))",
        "np.log(np.sum(np.exp(x), axis=axis, keepdims=True))",
    ],
)
@pytest.mark.parametrize("axis", [None, (0, 2), -1])
def test_all_kinds_of_axes(call: str, axis: Any) -> None:
    x = numbers(2, 3, 4)
    if "norm" in call and axis is None:
        x = numbers(4)
    compared(call, x, axis)


def test_no_pattern_stands_twice() -> None:
    assert len(BY_CALL) == len(CLOSED)


BIG = np.array([-800.0, 800.0])


@pytest.mark.parametrize(
    ("call", "want"),
    [
        ("np.log(1 + np.exp(x))", [0.0, 1.0]),
        ("np.log1p(np.exp(x))", [0.0, 1.0]),
        ("np.log(1 + np.exp(-x))", [-1.0, 0.0]),
        ("1 / (1 + np.exp(-x))", [0.0, 0.0]),
        ("1 / (1 + np.exp(x))", [0.0, 0.0]),
        ("np.log(1 / (1 + np.exp(-x)))", [1.0, 0.0]),
        ("np.log(1 - 1 / (1 + np.exp(-x)))", [0.0, -1.0]),
        ("np.log(np.cosh(x))", [-1.0, 1.0]),
        ("np.log(np.exp(x))", [1.0, 1.0]),
        ("np.log(np.sum(np.exp(x)))", [0.0, 1.0]),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the value itself overflows
def test_overflow(call: str, want: list[float]) -> None:
    np.testing.assert_array_equal(cotangents(call, x=BIG)["x"], want)


@pytest.mark.parametrize(
    ("call", "want"),
    [
        ("np.sqrt(x ** 2)", 0.0),
        ("np.sqrt(x * x)", 0.0),
        ("np.sqrt(x) ** 2", 1.0),
        ("x * np.sqrt(x)", 0.0),
        ("np.abs(x) ** 2", 0.0),
        ("np.linalg.norm(x) ** 2", 0.0),
        ("np.sqrt(np.sum(x ** 2))", 0.0),
        ("np.sqrt(np.mean(x ** 2))", 0.0),
        ("np.exp(np.log(x))", 1.0),
        ("1 / (1 / x)", 1.0),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 1 / 0 and log(0)
def test_origin(call: str, want: float) -> None:
    x = 0.0 if call.startswith("math") else np.zeros(2)
    np.testing.assert_array_equal(cotangents(call, x=x)["x"], want)


def test_lengths_at_the_origin() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    got = cotangents("np.sqrt(np.sum(x ** 2, axis=axis))", x=x, axis=1)["x"]
    np.testing.assert_allclose(got, [[0.0, 0.0], [0.6, 0.8]], rtol=1e-15)
    bars = cotangents("math.sqrt(x ** 2 + y ** 2)", x=0.0, y=0.0)
    assert bars == {"x": 0.0, "y": 0.0}
    got = cotangents("np.sqrt(np.var(x))", x=np.ones(3))["x"]
    np.testing.assert_array_equal(got, 0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # log(0)
def test_log_sum_exp_of_impossible_entries() -> None:
    x = np.array([-np.inf, 0.0, math.log(3.0)])
    got = cotangents("np.log(np.sum(np.exp(x)))", x=x)["x"]
    np.testing.assert_allclose(got, [0.0, 0.25, 0.75], rtol=1e-15)
    got = cotangents("np.log(np.sum(np.exp(x)))", x=np.full(2, -np.inf))["x"]
    np.testing.assert_array_equal(got, [0.0, 0.0])
