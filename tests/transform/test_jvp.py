"""Forward mode: against differences, and against reverse mode by the inner product."""

from __future__ import annotations

import copy
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symback
from symback import hessian, hvp, jacobian, jvp
from symback.api.tangents import pushed
from symback.errors import SymbackError
from symback.structure import Structure
from tests import corpus
from tests.verify.rule_losses import losses

PARTS = 16
"""Tests that share the functions of the corpus."""

SINGLE = {"numpy_calls.single_precision"}
"""Functions that compute in float32."""


@pytest.mark.parametrize("part", range(PARTS))
def test_tangents_and_cotangents_of_the_corpus_agree(part: int, capsys: Any) -> None:
    """<x_bar, x_dot> is the tangent of a loss whose cotangent is one."""
    tried = 0
    for case in corpus.all_cases()[part::PARTS]:
        args, kwargs = case.fresh()
        try:
            gradient = symback.grad(case.fn, wrt=case.wrt)(*args, **kwargs)
        except SymbackError:
            continue  # tested elsewhere
        args, kwargs = case.fresh()
        of = pushed(case.fn, case.wrt)
        bound = of.bound(args, kwargs)
        form = Structure.of(of.point(bound))
        direction = np.random.default_rng(0).normal(size=form.size)
        dot = of.along(bound, form.rebuilt(direction))
        tolerance = 1e-6 if case.id in SINGLE else 1e-10
        expected = direction @ form.vector(gradient)
        assert dot == pytest.approx(expected, rel=tolerance, abs=tolerance), case.id
        tried += 1
    assert tried > 25


@pytest.mark.parametrize("part", range(4))
def test_tangents_of_every_rule_are_differences(part: int, tmp_path: Path) -> None:
    tried = 0
    for number, loss in enumerate(losses(tmp_path, 1)):
        if number % 4 != part or loss.op in {"np.float16", "np.float32", "np.half"}:
            continue
        try:
            with np.errstate(all="ignore"):
                value = loss.function(*copy.deepcopy(loss.args))
        except NameError:
            continue  # an operator that has no such spelling
        if value is None:
            continue
        of = pushed(loss.function, loss.wrt)
        try:
            bound = of.bound(copy.deepcopy(loss.args), {})
            form = Structure.of(of.point(bound))
            direction = np.random.default_rng(1).normal(size=form.size)
            with np.errstate(all="ignore"):
                dot = of.along(bound, form.rebuilt(direction))
        except SymbackError:
            continue  # a loss that reverse mode refuses, too
        start = form.vector(of.point(bound))

        def along(h: float, of: Any = of, bound: Any = bound, form: Any = form) -> Any:
            here = dict(bound)
            moved = form.rebuilt(start + h * direction)  # noqa: B023 - called at once
            here.update(zip(of._wrt, moved, strict=True))
            return loss.function(**here)  # noqa: B023

        with np.errstate(all="ignore"):
            slopes = [(along(h) - along(-h)) / (2 * h) for h in (1e-3, 5e-4, 2.5e-4)]
        better = [(4 * b - a) / 3 for a, b in itertools.pairwise(slopes)]
        error = abs(better[1] - better[0])
        # rtol=1e-6: differences of order four.
        bound_ = 1e-6 * max(1.0, abs(dot)) + 10 * error
        assert abs(dot - better[1]) <= bound_, loss.op
        tried += 1
    assert tried > 80


def test_a_loop_keeps_nothing() -> None:
    def f(x: Any, n: int) -> Any:
        for _ in range(n):
            x = np.sin(x) + 0.5 * x
        return x

    text = pushed(f, (0,)).source_for(0.3, 50)
    assert "saved" not in text
    assert "x_dot" in text
    value, dot = jvp(f, (0.3, 3), (1.0, None))
    x, expected = 0.3, 1.0
    for _ in range(3):
        expected *= math.cos(x) + 0.5
        x = math.sin(x) + 0.5 * x
    assert (value, dot) == pytest.approx((x, expected), rel=1e-14)


def test_results_of_any_structure() -> None:
    def f(p: dict[str, Any], k: float) -> Any:
        return {"sum": p["a"] + p["b"][0], "both": (p["a"] * k, np.sum(p["b"][0]))}

    p = {"a": 2.0, "b": [np.array([1.0, 2.0])]}
    p_dot = {"a": 1.0, "b": [np.array([0.0, 3.0])]}
    value, dot = jvp(f, (p, 4.0), (p_dot, 0.5))
    np.testing.assert_allclose(value["sum"], [3.0, 4.0])
    np.testing.assert_allclose(dot["sum"], [1.0, 4.0])
    assert dot["both"] == (4.0 + 1.0, 3.0)


def test_the_branch_not_taken_poisons_no_tangent() -> None:
    def f(x: Any) -> Any:
        return np.where(x > 0, np.sqrt(np.abs(x)), 0.0)

    x = np.array([-1.0, 0.0, 4.0])
    _, dot = jvp(f, (x,), (np.ones(3),))
    np.testing.assert_allclose(dot, [0.0, 0.0, 0.25])


def test_what_does_not_fit_is_refused() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * y

    with pytest.raises(symback.ShapeError, match="2 primals and 1 tangents"):
        jvp(f, (1.0, 2.0), (1.0,))
    with pytest.raises(symback.ShapeError, match=r"tangents\[0\].*primal has \(3,\)"):
        jvp(f, (np.ones(3), 2.0), (np.ones(2), 1.0))
    with pytest.raises(symback.NotDifferentiableError, match="nothing moves"):
        jvp(f, (1.0, 2.0), (None, None))


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hessian(x: Any) -> Any:
    """Work the Hessian out by hand."""
    n = len(x)
    made = np.zeros((n, n))
    for k in range(n - 1):
        made[k, k] += 1200 * x[k] ** 2 - 400 * x[k + 1] + 2
        made[k + 1, k + 1] += 200
        made[k, k + 1] = made[k + 1, k] = -400 * x[k]
    return made


def test_hessian_and_its_products() -> None:
    x = np.array([0.5, -0.3, 1.2, 0.8])
    expected = rosenbrock_hessian(x)
    found = hessian(rosenbrock)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(found, found.T)
    v = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(hvp(rosenbrock)(x, v), expected @ v, rtol=1e-12)
    text = hvp(rosenbrock).backward_source_for(x)
    assert "x_bar_dot" in text or "x_dot" in text


def test_hessians_of_containers() -> None:
    def f(p: Any, k: Any) -> Any:
        return k * p["a"] ** 2 * np.sum(p["w"] ** 3)

    p = {"a": 2.0, "w": np.array([1.0, -1.0])}
    found = hessian(f)(p, 3.0)
    np.testing.assert_allclose(found["a"]["a"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["a"]["w"], [36.0, 36.0])
    np.testing.assert_allclose(found["w"]["a"], [36.0, 36.0])
    np.testing.assert_allclose(found["w"]["w"], np.diag([72.0, -72.0]))
    both = hessian(f, wrt=("p", "k"))(p, 3.0)
    np.testing.assert_allclose(both[1][0]["w"], 12.0 * p["w"] ** 2)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians(mode: Any) -> None:
    def f(x: Any, k: Any) -> Any:
        return np.array([x[0] * x[1], k * x[1] ** 2, np.sin(x[0])])

    x = np.array([0.5, 2.0])
    expected = [[2.0, 0.5], [0.0, 12.0], [math.cos(0.5), 0.0]]
    np.testing.assert_allclose(jacobian(f, mode=mode)(x, 3.0), expected)
    by_x, by_k = jacobian(f, wrt=("x", "k"), mode=mode)(x, 3.0)
    np.testing.assert_allclose(by_x, expected)
    np.testing.assert_allclose(by_k, [0.0, 4.0, 0.0])


def test_the_jacobian_of_a_gradient_is_the_hessian() -> None:
    x = np.array([0.5, -0.3, 1.2])
    found = jacobian(symback.grad(rosenbrock))(x)
    np.testing.assert_allclose(found, rosenbrock_hessian(x), rtol=1e-12, atol=1e-10)
    third = jacobian(lambda x: x[0] ** 2 * x[1])
    with pytest.raises(symback.NotDifferentiableError, match="mode"):
        jacobian(third, mode="sideways")  # type: ignore[arg-type]


def test_orders_up_to_five_of_a_number() -> None:
    def f(x: float) -> Any:
        return np.sin(2.0 * x) * x

    x, g = 0.7, f
    # d^n/dx^n of x sin(2x), by Leibniz.
    for n in range(1, 6):
        g = symback.grad(g)
        phase = 2 * x + n * math.pi / 2
        expected = x * 2**n * math.sin(phase)
        expected += n * 2 ** (n - 1) * math.sin(phase - math.pi / 2)
        assert g(x) == pytest.approx(expected, rel=1e-12)
