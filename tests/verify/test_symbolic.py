"""`symbolic`: SymPy's loss and gradient for people."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import symback
from symback.verify import symbolic
from tests.verify.models import MODELS


def quadratic(W, x, k=2):
    return np.sum((W @ x) ** k) / 2


ARGS = (np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([3.0, 1.0]))


def test_structure_follows_the_parameters() -> None:
    found = symbolic(quadratic, ARGS, {}, wrt=("W", "x"))
    W_bar, x_bar = found.gradient
    assert isinstance(W_bar, sp.MatrixBase)
    assert W_bar.shape == (2, 2)
    assert x_bar.shape == (2,)
    assert str(found.value) == (
        "(W[0,0]*x[0] + W[0,1]*x[1])**2/2 + (W[1,0]*x[0] + W[1,1]*x[1])**2/2"
    )
    assert str(W_bar[0, 1]) == "x[1]*(W[0,0]*x[0] + W[0,1]*x[1])"
    single = symbolic(quadratic, ARGS, {}, wrt="x")
    assert single.gradient == x_bar


def test_lambdify_takes_the_parameters() -> None:
    found = symbolic(quadratic, ARGS, {}, wrt=("W", "x"))
    value, (W_bar, x_bar) = found.lambdify()(*ARGS)
    assert value == quadratic(*ARGS)
    assert np.allclose(W_bar, np.outer(ARGS[0] @ ARGS[1], ARGS[1]))
    assert np.allclose(x_bar, ARGS[0].T @ ARGS[0] @ ARGS[1])


def test_containers_and_options_in_lambdify() -> None:
    model = MODELS["network"]
    found = symbolic(model.loss, model.args, {}, wrt=model.wrt)
    value, gradient = found.lambdify()(*model.args)
    assert np.isclose(value, model.loss(*model.args))
    f = symback.differentiable(model.loss, wrt=model.wrt)
    expected = f.grad_fn(*model.args)
    assert np.allclose(gradient["hidden"][0][0], expected["hidden"][0][0])
    assert np.allclose(gradient["out"], expected["out"])


def test_latex_names_entries_and_floats() -> None:
    def loss(w1):
        return 0.1 * np.sum(w1**2)

    text = symbolic(loss, (np.array([1.0, 2.0]),), {}, wrt="w1").latex()
    assert r"\frac{\partial L}{\partial w_{1}[0]} &= " in text
    assert "0.1" in text
    assert "36028797018963968" not in text


def test_long_formulas_share_parts() -> None:
    model = MODELS["attention"]
    text = symbolic(model.loss, model.args, {}, wrt="Q").latex()
    assert "t_{0}" in text
    assert len(text) < 6000


def test_region_is_stated() -> None:
    def loss(x):
        return x**2 if x > 1 else x

    found = symbolic(loss, (2.0,), {}, wrt="x")
    assert found.region == ("x > 1",)
    assert "where x > 1" in str(found)


def test_what_sympy_cannot_run_says_where() -> None:
    def loss(A):
        return np.linalg.eigvals(A)[0]

    with pytest.raises(symback.NotDifferentiableError, match="eigvals") as caught:
        symbolic(loss, (np.eye(2),), {}, wrt="A")
    assert "return np.linalg.eigvals(A)[0]" in str(caught.value)


def test_huge_expressions_are_refused_with_a_cure() -> None:
    def loss(x):
        for _ in range(30):
            x = np.sin(x) * x + x
        return x

    with pytest.raises(symback.NotDifferentiableError, match="operations"):
        symbolic(loss, (0.5,), {}, wrt="x")
