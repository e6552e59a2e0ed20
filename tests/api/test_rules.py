"""Rules of the user's own: used by name, checked when added, refused where wrong."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special

import symback
from symback import custom_vjp, defrule, differentiable, stop_gradient

X = np.array([-800.0, -0.5, 0.0, 1.5, 800.0])


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


defrule(softplus, "1 / (1 + np.exp(-np.maximum(x, -700)))", source="logistic function")


@differentiable
def of_softplus(x: Any) -> Any:
    return np.sum(softplus(2.0 * x))


def test_a_rule_is_used_though_the_source_could_be_read() -> None:
    value, gradient = of_softplus.value_and_grad_fn(X)
    assert value == of_softplus(X)
    # Worked by hand: 2 / (1 + exp(-2x)).
    expected = [0.0, 2 / (1 + math.e), 1.0, 2 / (1 + math.exp(-3)), 2.0]
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-200)
    for text in (of_softplus.backward_source, of_softplus.backward_source_for(X)):
        assert f"import {__name__}\n" in text
        assert f"{__name__}.softplus(" in text


def test_functions_that_no_module_gives_have_a_name_too() -> None:
    made = []
    for power in (2, 3):

        def cube(x: Any, power: int = power) -> Any:
            return x**power

        defrule(cube, "power * x**(power - 1)")
        made.append(cube)
    square, cube = made
    loss = differentiable(lambda x: np.sum(square(x) + cube(x)))
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(loss.grad_fn(x), 2 * x + 3 * x**2)
    assert "symback.own.cube(" in loss.backward_source_for(x)


def test_a_pullback_of_a_matrix_function() -> None:
    def energy(a: Any, v: Any) -> Any:
        return a @ v

    defrule(
        energy, "np.outer(out_bar, v)", "a.T @ out_bar", points=[(np.eye(2), X[:2])]
    )
    loss = differentiable(lambda a, v: np.sum(energy(a, v) ** 2), wrt=(0, 1))
    a, v = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])
    a_bar, v_bar = loss.grad_fn(a, v)
    # a v = (-1.5, -2.5), twice that outer v.
    np.testing.assert_allclose(a_bar, [[-1.5, 3.0], [-2.5, 5.0]])
    np.testing.assert_allclose(v_bar, [-18.0, -26.0])


def test_several_results() -> None:
    def polar(x: Any, y: Any) -> Any:
        return np.hypot(x, y), np.arctan2(y, x)

    defrule(
        polar,
        "r_bar * x / r - t_bar * y / r**2",
        "r_bar * y / r + t_bar * x / r**2",
        outs=("r", "t"),
    )

    def loss(x: float, y: float) -> Any:
        r, t = polar(x, y)
        return r * t

    found = symback.grad(loss, wrt=(0, 1))(3.0, 4.0)
    angle = math.atan2(4, 3)
    np.testing.assert_allclose(found, [0.6 * angle - 0.8, 0.8 * angle + 0.6])


def test_a_compiled_routine() -> None:
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.cbrt.restype = ctypes.c_double
    library.cbrt.argtypes = [ctypes.c_double]

    def cube_root(x: float) -> float:
        return float(library.cbrt(x))

    defrule(cube_root, "1 / (3 * out**2)")
    assert symback.grad(lambda x: cube_root(x) * x)(8.0) == pytest.approx(8 / 3)
    defrule(library.cbrt, "1 / (3 * out**2)", call="cbrt(x)")
    assert symback.grad(lambda x: library.cbrt(x))(8.0) == pytest.approx(1 / 12)


def test_a_function_of_a_library_without_a_rule() -> None:
    defrule(
        scipy.special.owens_t,
        "-np.exp(-x**2 / 2) * scipy.special.erf(x * y / 2**0.5) / (8 * np.pi)**0.5",
        "np.exp(-x**2 * (1 + y**2) / 2) / (2 * np.pi * (1 + y**2))",
    )
    loss = differentiable(lambda x: np.sum(scipy.special.owens_t(x, 0.5)))
    check = loss.check(np.array([0.3, 1.0]))
    assert check.ok, str(check)
    assert "scipy.special.owens_t(" in loss.backward_source_for(np.ones(2))


def test_a_rule_by_a_function() -> None:
    def cumulated(x: Any) -> Any:
        return np.cumsum(x)

    def pullback(out_bar: Any) -> Any:
        return np.cumsum(out_bar[::-1])[::-1]

    defrule(cumulated, pullback, pullback=True)
    loss = differentiable(lambda x: np.sum(cumulated(x) * np.array([1.0, 2.0, 3.0])))
    np.testing.assert_allclose(loss.grad_fn(np.ones(3)), [6.0, 5.0, 3.0])


def test_decorated_functions_and_later_rules() -> None:
    @differentiable
    def area(r: Any) -> Any:
        return np.pi * r**2

    loss = differentiable(lambda r: area(r) * 2.0)
    assert loss.grad_fn(1.5) == pytest.approx(6 * np.pi)
    defrule(area, "2 * np.pi * r")
    assert "area(" in loss.backward_source_for(1.5)
    with pytest.warns(UserWarning, match="`area` has a rule already"):
        defrule(area, "7.0", check=False)
    assert loss.grad_fn(1.5) == 14.0


@pytest.mark.parametrize(
    ("texts", "error", "what"),
    [
        (("x +",), symback.SymbackError, "no expression"),
        (("z * x",), symback.SymbackError, "uses `z`, which is not defined"),
        (("1", "1", "1"), symback.SymbackError, "2 parameters, but 3 texts"),
        ((), symback.SymbackError, "no text"),
        (("y", "2 * x"), symback.RefutedError, "by `y` is wrong"),
        (("y[0] * out_bar", "0"), symback.SymbackError, "by `x`|could not|index"),
        (("np.sum(y * out_bar)",), symback.ShapeError, r"gives shape \(\)"),
    ],
)
def test_a_wrong_rule_is_refused_and_leaves_no_trace(
    texts: tuple[str, ...], error: type[Exception], what: str
) -> None:
    def product(x: Any, y: Any) -> Any:
        return x * y

    if texts == ("y[0] * out_bar", "0"):
        texts = ("y * out_bar * 3", "0")
        what = "by `x` is wrong"
    with pytest.raises(error, match=what):
        defrule(product, *texts)
    loss = differentiable(lambda x: product(x, 3.0))
    assert loss.grad_fn(2.0) == 3.0
    assert "product(" not in loss.backward_source_for(2.0)


def test_what_cannot_be_tried_asks_for_points() -> None:
    def needs_five(x: Any) -> Any:
        return np.sum(x.reshape(5) ** 2)

    with pytest.raises(symback.SymbackError, match="could not be compared"):
        defrule(needs_five, "2 * x * out_bar")
    defrule(needs_five, "2 * x * out_bar", points=[(np.arange(5.0),)])
    with pytest.raises(symback.RefutedError):
        defrule(needs_five, "x * out_bar", points=[(np.arange(5.0),)])


def test_a_parameter_without_a_text_is_refused_by_name() -> None:
    def scaled(x: Any, k: Any) -> Any:
        return k * x

    defrule(scaled, "k")
    assert symback.grad(lambda x: scaled(x, 2.0))(1.0) == 2.0
    with pytest.raises(symback.MissingRuleError, match="by `k`"):
        symback.grad(lambda k: scaled(1.0, k))(1.0)


# Pairs


@custom_vjp
def depth(a: float, b: float) -> float:
    """Return the real root of u**3 + a u = b."""
    return float(scipy.optimize.brentq(lambda u: u**3 + a * u - b, -10, 10))


def depth_forward(a: float, b: float) -> tuple[float, Any]:
    u = depth(a, b)
    return u, (a, u)


def depth_pullback(residuals: Any, u_bar: float) -> tuple[float, float]:
    a, u = residuals
    b_bar = u_bar / (3 * u**2 + a)
    return -u * b_bar, b_bar


depth.defvjp(depth_forward, depth_pullback)


def test_a_root_by_the_implicit_function_theorem() -> None:
    @differentiable(wrt=("a", "w"))
    def loss(a: float, w: Any) -> Any:
        s = 0.0
        for k in range(3):
            s = s + depth(a, np.sum(w) + k) ** 2
        return s

    w = np.array([0.3, 0.2])
    assert loss.check(1.5, w).ok
    text = loss.backward_source_for(1.5, w)
    assert f"{__name__}.depth.forward(" in text
    assert f"{__name__}.depth.pullback(" in text
    # u**3 + u = 2 has the root 1, du/db = 1/4.
    assert symback.grad(depth_of_b)(2.0) == pytest.approx(0.25)


def depth_of_b(b: float) -> float:
    return depth(1.0, b)


def test_a_fixed_point_with_arrays() -> None:
    @custom_vjp
    def settled(a: Any, b: Any) -> Any:
        x = np.zeros_like(b)
        for _ in range(200):
            x = np.tanh(a @ x + b)
        return x

    def forward(a: Any, b: Any) -> Any:
        x = settled(a, b)
        return x, (a, x)

    def pullback(residuals: Any, x_bar: Any) -> Any:
        a, x = residuals
        slope = 1 - x**2
        b_bar = slope * np.linalg.solve(np.eye(len(x)) - a.T * slope, x_bar)
        return np.outer(b_bar, x), b_bar

    settled.defvjp(forward, pullback)
    a, b = np.array([[0.2, -0.3], [0.1, 0.4]]), np.array([0.5, -0.2])
    loss = differentiable(lambda a, b: np.sum(settled(a, b) ** 2), wrt=(0, 1))
    assert loss.check(a, b).ok
    assert "symback.own.settled.forward(" in loss.backward_source_for(a, b)


@pytest.mark.parametrize(
    ("pullback", "error", "what"),
    [
        (lambda r, b: (b,), symback.NotDifferentiableError, "returns 1 cotangents"),
        (lambda r, b: b, symback.NotDifferentiableError, "returns 1 cotangents"),
        (lambda r, b: (np.ones(2), b), symback.ShapeError, r"`x` a cotangent of shape"),
    ],
)
def test_a_pullback_of_a_wrong_structure_says_which(
    pullback: Any, error: type[Exception], what: str
) -> None:
    @custom_vjp
    def product(x: Any, y: Any) -> Any:
        return x * y

    product.defvjp(lambda x, y: (x * y, None), pullback)
    with pytest.raises(error, match=what):
        symback.grad(lambda x: product(x, 2.0))(1.0)


def test_a_forward_that_is_no_pair_is_refused() -> None:
    @custom_vjp
    def double(x: Any) -> Any:
        return 2 * x

    double.defvjp(lambda x: 2 * x, lambda r, b: 2 * b)
    with pytest.raises(symback.NotDifferentiableError, match="not a pair"):
        symback.grad(lambda x: double(x))(1.0)
    double.defvjp(lambda x: (2 * x, None), lambda r, b: 2 * b)
    assert symback.grad(lambda x: double(x))(1.0) == 2.0


# stop_gradient


def test_stop_gradient_in_every_container() -> None:
    def loss(x: Any) -> Any:
        first, rest = stop_gradient((x[0], {"a": x[1] ** 2, "b": [x * 2.0]}))
        return np.sum(x) * first + rest["a"] * x[1] + np.sum(rest["b"][0] * x)

    x = np.array([2.0, 3.0])
    # x0 (x0 + x1) + x1**3 + 2 x·x with the factors stop_gradient holds constant.
    assert loss(x) == 10 + 27 + 26
    np.testing.assert_allclose(symback.grad(loss)(x), [2 + 4, 2 + 9 + 6])


def test_stop_gradient_has_memory_of_its_own() -> None:
    def loss(x: Any) -> Any:
        y = x * 1.0
        z = stop_gradient(y)
        z[0] = 5.0
        return np.sum(y * z)

    x = np.array([2.0, 3.0])
    assert loss(x) == 19.0
    value, gradient = symback.value_and_grad(loss)(x)
    assert value == 19.0
    np.testing.assert_allclose(gradient, [5.0, 3.0])


def test_the_witness_takes_the_users_word_for_a_derivative() -> None:
    def sign(x: Any) -> Any:
        return np.sign(x)

    # A straight-through estimator: a derivative that is no slope.
    defrule(sign, "np.ones_like(x)", check=False)
    loss = differentiable(lambda x: np.sum(sign(x) * x), witness="gradient")
    x = np.array([0.5, -2.0])
    np.testing.assert_allclose(loss.grad_fn(x), np.sign(x) + x)
    loss = differentiable(lambda x: np.sum(stop_gradient(x) * x), witness="gradient")
    np.testing.assert_allclose(loss.grad_fn(x), x)
