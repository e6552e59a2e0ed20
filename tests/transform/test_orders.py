"""Derivatives of derivatives: any order, any structure, any operation."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import symback
from symback.errors import NotScalarError, ShapeError, SymbackError
from tests.corpus import all_cases
from tests.transform.orders import assert_second_order

grad = symback.grad

MODULES = (
    "control_flow loops while_loops returns mutation grown_lists subtle_flow "
    "subtle_memory data views objects"
).split()
"""The subjects whose backwards have loops, branches, lists and writes."""

CASES = [
    case for case in all_cases() if case.id.split(".")[0] in MODULES and not case.kwargs
]


def names(case: Any) -> tuple[str, ...]:
    given = case.wrt if isinstance(case.wrt, tuple) else (case.wrt,)
    code = case.fn.__code__
    parameters = code.co_varnames[: code.co_argcount]
    if case.wrt == "all":
        return tuple(parameters)
    return tuple(parameters[w] if isinstance(w, int) else w for w in given)


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.id)
def test_second_order_of_programs(case: Any) -> None:
    try:
        grad(case.fn, wrt=names(case))(*case.fresh()[0])
    except SymbackError:
        return  # what the first order refuses is tested with the corpus
    assert_second_order(case.fn, case.fresh()[0], names(case))


class TestScalars:
    def test_to_the_fifth_order(self):
        def f(x):
            return np.exp(2.0 * x) + x**4

        # By hand: 2**k exp(2 x) and the derivatives of x**4.
        rest = [4 * 0.3**3, 12 * 0.3**2, 24 * 0.3, 24.0, 0.0]
        g = f
        for k in range(5):
            g = grad(g)
            assert g(0.3) == pytest.approx(2 ** (k + 1) * math.exp(0.6) + rest[k])

    def test_through_a_loop_a_branch_and_a_list(self):
        def f(x, n):
            items = []
            y = x
            for k in range(n):
                if k % 2 == 0:
                    y = y * x
                else:
                    y = y + 0.0 * x
                items.append(y)
            total = 0.0
            for item in items:
                total = total + item
            return total

        # n = 5: x², x², x³, x³, x⁴: second derivative 2·2 + 2·6 x + 12 x²,
        # third 12 + 24 x, fourth 24.
        x = 1.5
        second, third = grad(grad(f)), grad(grad(grad(f)))
        assert second(x, 5) == pytest.approx(4 + 12 * x + 12 * x**2)
        assert third(x, 5) == pytest.approx(12 + 24 * x)
        assert grad(third)(x, 5) == pytest.approx(24.0)

    def test_through_a_while_loop(self):
        def f(x):
            y = x
            while y < 50.0:
                y = y * x
            return y

        # 3**4 is the first power above 50.
        assert grad(grad(f))(3.0) == pytest.approx(12 * 3.0**2)
        assert grad(grad(grad(f)))(3.0) == pytest.approx(24 * 3.0)

    def test_through_writes(self):
        def f(x):
            a = np.zeros(3)
            a[0] = x
            for k in range(2):
                a[k + 1] = a[k] * a[k]
            return a[2] + a[1]

        # x⁴ + x²
        assert grad(grad(f))(2.0) == pytest.approx(12 * 4 + 2)
        assert grad(grad(grad(f)))(2.0) == pytest.approx(24 * 2)

    def test_a_value_with_its_gradient_is_differentiated_by_another(self):
        def f(x, y):
            return x**3 * y**2

        assert grad(grad(f), wrt="y")(2.0, 3.0) == pytest.approx(3 * 4 * 2 * 3)
        assert grad(grad(f, wrt=1), wrt=0)(2.0, 3.0) == pytest.approx(3 * 4 * 2 * 3)
        value, slope = symback.value_and_grad(grad(f))(2.0, 3.0)
        assert (value, slope) == (pytest.approx(108.0), pytest.approx(108.0))

    def test_integers_are_read_as_floats(self):
        def f(x, y):
            return x**2 * y**2

        assert grad(grad(f, wrt="x"), wrt="y")(3, 2) == 24.0


class TestSources:
    def test_before_any_call_and_for_arguments(self):
        def f(x):
            return np.sum(np.sin(x))

        second = grad(grad(f))
        assert "np.cos" in second.backward_source
        text = grad(grad(lambda x: np.sin(x) * x)).backward_source_for(1.0)
        assert "symback" not in text.split("\n\n")[1]

    def test_the_gradient_of_an_array_is_no_scalar(self):
        with pytest.raises(NotScalarError):
            grad(grad(lambda x: np.sum(x**2)))(np.ones(3))


Pair = namedtuple("Pair", "w b")


class TestVjp:
    def test_an_array(self):
        value, pull = symback.vjp(lambda a, b: a @ b, np.eye(2), np.array([2.0, 3.0]))
        assert value.tolist() == [2.0, 3.0]
        a_bar, b_bar = pull(np.array([1.0, 10.0]))
        assert a_bar.tolist() == [[2.0, 3.0], [20.0, 30.0]]
        assert b_bar.tolist() == [1.0, 10.0]

    def test_nested_results_and_parameters(self):
        def f(p, x):
            return {"sum": p.w * x + p.b, "rest": (p.b**2, [x, p.w[0]])}

        p, x = Pair(np.array([1.0, 2.0]), 3.0), np.array([5.0, 7.0])
        _, pull = symback.vjp(f, p, x)
        ones = np.ones(2)
        p_bar, x_bar = pull({"sum": ones, "rest": (1.0, [10 * ones, 100.0])})
        assert type(p_bar) is Pair
        assert p_bar.w.tolist() == [105.0, 7.0]
        assert p_bar.b == 8.0
        assert x_bar.tolist() == [11.0, 12.0]

    def test_a_returned_cotangent_owns_its_memory(self):
        _, pull = symback.vjp(lambda x: x, np.ones(3))
        given = np.ones(3)
        (bar,) = pull(given)
        assert not np.shares_memory(bar, given)

    def test_the_same_pullback_twice(self):
        _, pull = symback.vjp(lambda x: x**2, np.array([1.0, 2.0]))
        once, again = pull(np.ones(2))[0], pull(np.ones(2))[0]
        assert once.tolist() == again.tolist() == [2.0, 4.0]

    def test_a_cotangent_that_does_not_fit(self):
        _, pull = symback.vjp(lambda x: (x, x), np.ones(3))
        with pytest.raises(ShapeError, match="must be a tuple of 2"):
            pull(np.ones(3))
        with pytest.raises(ShapeError, match=r"out_bar\[1\]"):
            pull((np.ones(3), 1.0))

    def test_what_has_no_cotangent(self):
        def f(x, how, flag):
            return x * 2.0 if how == "twice" and flag else x

        _, pull = symback.vjp(f, 3.0, "twice", True)
        assert pull(1.0) == (2.0, None, None)

    def test_of_a_gradient(self):
        def f(x):
            return np.sum(x**3)

        x, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
        _, pull = symback.vjp(grad(f), x)
        assert pull(v)[0].tolist() == [6.0, -12.0]
