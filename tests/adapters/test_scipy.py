"""SciPy's optimisers over containers of parameters."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.optimize

import symback
from symback.adapters.scipy import curve_fit, least_squares, minimize
from symback.structure import Structure

X = np.linspace(0.0, 4.0, 30)
Y = 2.0 * np.exp(-1.3 * X) + 0.5


def by_dict(p: dict[str, float], x: Any, y: Any) -> Any:
    return np.mean((p["a"] * np.exp(-p["k"] * x) + p["c"] - y) ** 2)


class Rates(NamedTuple):
    a: float
    k: float
    c: float


def by_fields(p: Rates, x: Any, y: Any) -> Any:
    return np.mean((p.a * np.exp(-p.k * x) + p.c - y) ** 2)


@dataclass
class Model:
    scale: Any
    rest: Any


def by_object(m: Model, x: Any, y: Any) -> Any:
    return np.mean((m.scale * np.exp(-m.rest[0] * x) + m.rest[1]["c"] - y) ** 2)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP", None])
def test_a_dict_is_fitted(method: str | None) -> None:
    start = {"a": 1.0, "k": 1.0, "c": 0.0}
    found = minimize(by_dict, start, (X, Y), method=method, tol=1e-12)
    assert list(found.params) == ["a", "k", "c"]
    np.testing.assert_allclose(list(found.params.values()), [2, 1.3, 0.5], atol=1e-4)
    assert start == {"a": 1.0, "k": 1.0, "c": 0.0}


def test_named_tuples_and_objects_keep_their_classes() -> None:
    found = minimize(by_fields, Rates(1.0, 1.0, 0.0), (X, Y), tol=1e-12)
    assert isinstance(found.params, Rates)
    np.testing.assert_allclose(found.params, [2, 1.3, 0.5], atol=1e-4)
    start = Model(np.array([1.0]), [np.float64(1.0), {"c": 0.0}])
    found = minimize(by_object, start, kwargs={"x": X, "y": Y}, tol=1e-12)
    assert isinstance(found.params, Model)
    np.testing.assert_allclose(found.params.scale, [2.0], atol=1e-4)
    np.testing.assert_allclose(found.params.rest[1]["c"], 0.5, atol=1e-4)


def test_several_parameters_by_wrt() -> None:
    @symback.differentiable(wrt=("a", "c"))
    def loss(x: Any, a: Any, k: float, c: Any) -> Any:
        return np.mean((a * np.exp(-k * x) + c - Y) ** 2)

    found = minimize(loss, (1.0, 0.0), (X, 1.3), tol=1e-12)
    np.testing.assert_allclose(found.params, (2.0, 0.5), atol=1e-5)
    with pytest.raises(ValueError, match="a, c"):
        minimize(loss, (1.0,), (X, 1.3))
    with pytest.raises(TypeError, match="2 arguments beside"):
        minimize(loss, (1.0, 0.0), (X, 1.3, 4))


def test_bounds_have_the_structure_of_the_parameters() -> None:
    bounds = {"a": (0.0, 1.5), "k": None, "c": (None, 0.4)}
    start = {"a": 1.0, "k": 1.0, "c": 0.0}
    found = minimize(by_dict, start, (X, Y), bounds=bounds)
    plain = scipy.optimize.minimize(
        lambda v: by_dict(dict(zip("akc", v, strict=True)), X, Y),
        [1.0, 1.0, 0.0],
        bounds=[(0.0, 1.5), (None, None), (None, 0.4)],
    )
    np.testing.assert_allclose(list(found.params.values()), plain.x, atol=1e-3)
    assert found.params["a"] <= 1.5
    with pytest.raises(ValueError, match="structure of the parameters"):
        minimize(by_dict, start, (X, Y), bounds={"a": (0, 1)})
    with pytest.raises(ValueError, match="not a pair"):
        minimize(by_dict, start, (X, Y), bounds={"a": 1, "k": None, "c": None})


def test_the_callback_gets_containers_and_can_stop() -> None:
    seen: list[Any] = []

    def callback(params: Any) -> None:
        seen.append(params)
        if len(seen) == 2:
            raise StopIteration

    found = minimize(by_dict, {"a": 1.0, "k": 1.0, "c": 0.0}, (X, Y), callback=callback)
    assert len(seen) == 2
    assert list(seen[0]) == ["a", "k", "c"]
    assert found.nit == 2


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    minimize(by_dict, {"a": 1.0, "k": 1.0, "c": 0.0}, (X, Y), progress=True)
    assert "iterations" in capsys.readouterr().out


def test_dtypes_are_kept() -> None:
    params = {"w": np.ones((2, 3), np.float32), "n": np.arange(2), "s": np.float32(1)}
    structure = Structure.of(params)
    made = structure.rebuilt(structure.vector(params))
    assert made["w"].dtype == np.float32
    assert made["w"].shape == (2, 3)
    assert made["n"].dtype == np.float64
    assert type(made["s"]) is np.float32


def test_what_is_no_number_is_refused_by_name() -> None:
    point = namedtuple("Point", "x label")
    with pytest.raises(symback.SymbackError, match=r"`\.label` is no real number"):
        minimize(by_fields, point(1.0, "a"), (X, Y))
    with pytest.raises(ValueError, match="the structure is"):
        Structure.of({"a": 1.0}).vector({"b": 1.0})


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg"])
def test_newton_methods_get_exact_products(method: str) -> None:
    def loss(p: dict[str, Any]) -> Any:
        a, b = p["a"], p["b"]
        return np.sum(100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2)

    start = {"a": np.array([-1.2, 0.5]), "b": np.array([1.0, 0.2])}
    found = minimize(loss, start, method=method, tol=1e-10)
    np.testing.assert_allclose(found.params["a"], [1.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(found.params["b"], [1.0, 1.0], atol=1e-6)
    assert found.nhev > 0


def test_products_by_several_parameters() -> None:
    @symback.differentiable(wrt=("a", "b"))
    def loss(a: Any, k: float, b: Any) -> Any:
        return np.sum(k * (a - 2.0) ** 2 + np.cosh(b - a))

    found = minimize(loss, (0.0, 1.0), (3.0,), method="Newton-CG", tol=1e-12)
    np.testing.assert_allclose(found.params, (2.0, 2.0), atol=1e-3)


def curve(p: dict[str, Any], x: Any) -> Any:
    return p["a"] * np.exp(-p["k"] * x) + p["c"]


def test_curve_fit_has_the_errors_of_scipy() -> None:
    noisy = Y + 0.01 * np.sin(17.0 * X)
    fit = curve_fit(curve, X, noisy, {"a": 1.0, "k": 1.0, "c": 0.0})
    popt, pcov = scipy.optimize.curve_fit(
        lambda x, a, k, c: a * np.exp(-k * x) + c, X, noisy, [1.0, 1.0, 0.0], ftol=1e-12
    )
    np.testing.assert_allclose(list(fit.params.values()), popt, rtol=1e-5)
    # SciPy's covariance is of a Jacobian by differences.
    np.testing.assert_allclose(fit.covariance, pcov, rtol=1e-3)
    np.testing.assert_allclose(
        list(fit.errors.values()), np.sqrt(np.diag(pcov)), rtol=1e-3
    )
    sigma = np.full(30, 0.02)
    known = curve_fit(
        curve,
        X,
        noisy,
        {"a": 1.0, "k": 1.0, "c": 0.0},
        sigma=sigma,
        absolute_sigma=True,
    )
    line = scipy.optimize.curve_fit(
        lambda x, a, k, c: a * np.exp(-k * x) + c,
        X,
        noisy,
        [1.0, 1.0, 0.0],
        sigma=sigma,
        absolute_sigma=True,
        ftol=1e-12,
    )[1]
    np.testing.assert_allclose(known.covariance, line, rtol=1e-3)


def test_the_errors_of_a_line_by_hand() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.array([0.1, 0.9, 2.2, 2.8])

    def line(p: Any, x: Any) -> Any:
        return p[0] + p[1] * x

    fit = curve_fit(line, x, y, np.zeros(2))
    # Slope 0.94, intercept 0.09; residuals' variance 0.082 / 2, Sxx = 5.
    np.testing.assert_allclose(fit.params, [0.09, 0.94], rtol=1e-9)
    residuals = y - 0.09 - 0.94 * x
    variance = np.sum(residuals**2) / 2
    np.testing.assert_allclose(fit.errors[1], np.sqrt(variance / 5), rtol=1e-9)


def test_least_squares_with_bounds() -> None:
    def residuals(p: dict[str, Any], x: Any, y: Any) -> Any:
        return curve(p, x) - y

    found = least_squares(residuals, {"a": 1.0, "k": 1.0, "c": 0.0}, (X, Y))
    np.testing.assert_allclose(list(found.params.values()), [2.0, 1.3, 0.5], rtol=1e-6)
    bounds = {"a": (0.0, 1.5), "k": None, "c": None}
    found = least_squares(
        residuals, {"a": 1.0, "k": 1.0, "c": 0.0}, (X, Y), bounds=bounds
    )
    assert found.params["a"] == pytest.approx(1.5, abs=1e-3)
