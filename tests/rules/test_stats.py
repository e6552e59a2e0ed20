"""`scipy.stats`: every distribution against differences of SciPy's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

from symback.operations.stats import CONTINUOUS, DISCRETE
from tests.rules.calls import numbers, positive
from tests.rules.cases import INSIDE, draw
from tests.rules.evaluate import check, pull, rule_of

RNG = np.random.default_rng(5)


def arguments(name: str, method: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return x, shapes, loc and scale inside the support."""
    rng = np.random.default_rng([len(name), len(method)])
    z, *shapes = (draw(rng, span, shape) for span in INSIDE[name])
    loc, scale = 0.3, 1.7
    if name == "vonmises":
        scale = 1.0
    x = loc + scale * z
    if method in ("ppf", "isf"):
        x = draw(rng, (0.2, 0.8), shape)
    return tuple(float(v) if np.ndim(v) == 0 else v for v in (x, *shapes, loc, scale))


@pytest.mark.parametrize("name", list(CONTINUOUS))
@pytest.mark.parametrize(
    "method", ["logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"]
)
def test_continuous(name: str, method: str) -> None:
    rule = rule_of(f"scipy.stats.{name}.{method}")
    function = getattr(getattr(scipy.stats, name), method)
    shapes = tuple(n.strip() for n in CONTINUOUS[name][0].split(",") if n)
    skip = () if "pdf" in method else shapes
    if name == "vonmises":
        # SciPy folds the circle: its scale is not one, and its cdf is a series.
        skip = (*skip, "scale")
    for shape in ((), (2,)):
        args = arguments(name, method, shape)
        faults = check(rule, *args, rtol=1e-6, step=1e-3, skip=skip, function=function)
        assert faults == [], args


@pytest.mark.parametrize("name", list(DISCRETE))
@pytest.mark.parametrize("method", ["logpmf", "pmf"])
def test_discrete(name: str, method: str) -> None:
    rule = rule_of(f"scipy.stats.{name}.{method}")
    function = getattr(getattr(scipy.stats, name), method)
    values: dict[str, Any] = {"mu": 1.7, "p": 0.35, "n": 6, "a": 1.3, "b": 2.2}
    if name == "nbinom":
        values["n"] = 6.5
    shapes = [values[n.strip()] for n in DISCRETE[name][0].split(",")]
    x = np.array([0, 1]) if name == "bernoulli" else np.array([1, 2, 4])
    faults = check(rule, x, *shapes, rtol=1e-7, function=function)
    assert faults == []
    shifted = check(rule, x + 2, *shapes, 2, rtol=1e-7, function=function)
    assert shifted == []


@pytest.mark.parametrize("name", ["poisson", "bernoulli", "binom", "geom"])
@pytest.mark.parametrize("method", ["cdf", "sf"])
def test_discrete_distribution_functions(name: str, method: str) -> None:
    rule = rule_of(f"scipy.stats.{name}.{method}")
    function = getattr(getattr(scipy.stats, name), method)
    shapes = {"poisson": (1.7,), "binom": (6, 0.35)}.get(name, (0.35,))
    x = np.array([0.0, 1.0]) if name == "bernoulli" else np.array([1.0, 2.5, 4.0])
    faults = check(rule, x, *shapes, rtol=1e-7, skip=("x",), function=function)
    assert faults == []
    faults = check(rule, x + 2, *shapes, 2, rtol=1e-7, skip=("x",), function=function)
    assert faults == []


@pytest.mark.parametrize("method", ["logpdf", "pdf"])
@pytest.mark.parametrize(
    ("x", "mean", "cov"),
    [
        (numbers(3), numbers(3, seed=1), positive(3)),
        (numbers(4, 3), numbers(3, seed=1), positive(3)),
        # SciPy reads the lower triangle.
        (numbers(4, 3), numbers(3, seed=1), positive(3) + np.triu(np.ones((3, 3)), 1)),
        (numbers(4, 3), numbers(3, seed=1), np.array([0.5, 1.5, 2.0])),
        (numbers(4, 3), numbers(3, seed=1), 1.7),
        (0.5, 0.2, 1.7),
    ],
)
def test_multivariate_normal(method: str, x: Any, mean: Any, cov: Any) -> None:
    rule = rule_of(f"scipy.stats.multivariate_normal.{method}")
    function = getattr(scipy.stats.multivariate_normal, method)
    assert check(rule, x, mean, cov, rtol=1e-7, function=function) == []


def test_dirichlet() -> None:
    rule = rule_of("scipy.stats.dirichlet.logpdf")
    alpha = np.array([1.2, 0.7, 2.5])
    x = np.array([0.2, 0.3, 0.5])
    faults = check(rule, x, alpha, skip=("x",), function=scipy.stats.dirichlet.logpdf)
    assert faults == []
    many = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]).T
    faults = check(
        rule, many, alpha, skip=("x",), function=scipy.stats.dirichlet.logpdf
    )
    assert faults == []
    density = rule_of("scipy.stats.dirichlet.pdf")
    for at in (x, many):
        faults = check(
            density, at, alpha, skip=("x",), function=scipy.stats.dirichlet.pdf
        )
        assert faults == []
    # Off the simplex SciPy refuses, so x is done by hand: (alpha - 1) / x.
    got = pull(rule, (x, alpha), {}, 2.0, function=scipy.stats.dirichlet.logpdf)["x"]
    np.testing.assert_allclose(got, 2 * (alpha - 1) / x, rtol=1e-15)


def test_multinomial() -> None:
    """By hand: SciPy normalises p, so differences would see that too."""
    rule = rule_of("scipy.stats.multinomial.logpmf")
    x, p = np.array([2, 0, 3]), np.array([0.25, 0.0, 0.75])
    function = scipy.stats.multinomial.logpmf
    got = pull(rule, (x, 5, p), {}, 1.0, function=function)["p"]
    np.testing.assert_allclose(got, [8.0, 0.0, 4.0], rtol=1e-15)


def test_chi2_of_a_fractional_degree() -> None:
    rule = rule_of("scipy.stats.chi2.logpdf")
    args = (np.array([0.7, 2.0]), 3.3)
    got = pull(rule, args, {}, np.ones(2), function=scipy.stats.chi2.logpdf)["x"]
    np.testing.assert_allclose(got, [0.4285714285714285, -0.175], rtol=1e-14)
