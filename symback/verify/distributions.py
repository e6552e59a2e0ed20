"""Densities of `scipy.stats` as formulas, for elements.

Each formula is in standard form, of z = (x − loc)/scale; what follows from it (pdf from
logpdf, sf from cdf ...) is derived.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import functions as fn
from . import linear, special
from .arrays import as_array, elementwise, finish
from .elements import SymbolicValueError
from .functions import element, home

__all__ = ["StandInDistribution"]

Scalar = Any
MINUS_INF = -math.inf


def _pi() -> Any:
    return fn.constant("pi")


def _log_2pi() -> Any:
    return fn.log(2 * _pi())


def _norm(z: Scalar) -> Any:
    return -z * z / 2 - _log_2pi() / 2


def _inside(z: Scalar, value: Callable[[], Any], low: Any, high: Any = None) -> Any:
    """Return a log-density, −∞ outside [low, high]."""
    if z < low or (high is not None and z > high):
        return element(MINUS_INF)
    return value()


def _t(z: Scalar, df: Scalar) -> Any:
    df = element(df)
    return (
        fn.loggamma((df + 1) / 2)
        - fn.loggamma(df / 2)
        - fn.log(df * _pi()) / 2
        - (df + 1) / 2 * fn.log(1 + z * z / df)
    )


def _gamma(z: Scalar, a: Scalar) -> Any:
    a = element(a)
    return _inside(z, lambda: (a - 1) * fn.log(z) - z - fn.loggamma(a), 0)


def _beta(z: Scalar, a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return _inside(
        z,
        lambda: (a - 1) * fn.log(z) + (b - 1) * fn.log(1 - z) - special.betaln(a, b),
        0,
        1,
    )


def _chi2(z: Scalar, df: Scalar) -> Any:
    k = element(df) / 2
    return _inside(
        z, lambda: (k - 1) * fn.log(z) - z / 2 - k * fn.log(2) - fn.loggamma(k), 0
    )


def _lognorm(z: Scalar, s: Scalar) -> Any:
    s = element(s)
    return _inside(
        z,
        lambda: -((fn.log(z) / s) ** 2) / 2 - fn.log(s * z) - _log_2pi() / 2,
        0,
    )


def _weibull(z: Scalar, c: Scalar) -> Any:
    c = element(c)
    return _inside(z, lambda: fn.log(c) + (c - 1) * fn.log(z) - z**c, 0)


def _invgamma(z: Scalar, a: Scalar) -> Any:
    a = element(a)
    return _inside(z, lambda: -(a + 1) * fn.log(z) - fn.loggamma(a) - 1 / z, 0)


def _pareto(z: Scalar, b: Scalar) -> Any:
    b = element(b)
    return _inside(z, lambda: fn.log(b) - (b + 1) * fn.log(z), 1)


def _logistic(z: Scalar) -> Any:
    return -z - 2 * fn.log(1 + fn.exp(-z))


def _gennorm(z: Scalar, beta: Scalar) -> Any:
    beta = element(beta)
    return fn.log(beta / 2) - fn.loggamma(1 / beta) - abs(z) ** beta


def _skewnorm(z: Scalar, a: Scalar) -> Any:
    return fn.log(2) + _norm(z) + fn.log(special.ndtr(element(a) * z))


def _genextreme(z: Scalar, c: Scalar) -> Any:
    c = element(c)
    t = (1 - c * z) ** (1 / c)
    return fn.log(t) * (1 - c) - t


def _vonmises(z: Scalar, kappa: Scalar) -> Any:
    kappa = element(kappa)
    return kappa * fn.cos(z) - fn.log(2 * _pi() * home().call("besseli", 0, kappa))


def _truncnorm(z: Scalar, a: Scalar, b: Scalar) -> Any:
    mass = special.ndtr(b) - special.ndtr(a)
    return _inside(z, lambda: _norm(z) - fn.log(mass), element(a), element(b))


LOGPDF: dict[str, Callable[..., Any]] = {
    "norm": _norm,
    "t": _t,
    "gamma": _gamma,
    "beta": _beta,
    "chi2": _chi2,
    "lognorm": _lognorm,
    "weibull_min": _weibull,
    "invgamma": _invgamma,
    "pareto": _pareto,
    "logistic": _logistic,
    "gennorm": _gennorm,
    "skewnorm": _skewnorm,
    "genextreme": _genextreme,
    "vonmises": _vonmises,
    "truncnorm": _truncnorm,
    "expon": lambda z: _inside(z, lambda: -z, 0),
    "uniform": lambda z: _inside(z, lambda: element(0), 0, 1),
    "laplace": lambda z: -abs(z) - fn.log(2),
    "cauchy": lambda z: -fn.log(_pi() * (1 + z * z)),
    "gumbel_r": lambda z: -z - fn.exp(-z),
    "gumbel_l": lambda z: z - fn.exp(z),
    "halfnorm": lambda z: _inside(z, lambda: _norm(z) + fn.log(2), 0),
    "halfcauchy": lambda z: _inside(z, lambda: fn.log(2 / (_pi() * (1 + z * z))), 0),
    "rayleigh": lambda z: _inside(z, lambda: fn.log(z) - z * z / 2, 0),
    "maxwell": lambda z: _inside(
        z, lambda: fn.log(fn.sqrt(2 / _pi())) + 2 * fn.log(z) - z * z / 2, 0
    ),
    "powerlaw": lambda z, a: _inside(
        z, lambda: fn.log(a) + (element(a) - 1) * fn.log(z), 0, 1
    ),
}
"""log p(z; shapes)."""

CDF: dict[str, Callable[..., Any]] = {
    "norm": special.ndtr,
    "expon": lambda z: 1 - fn.exp(-z) if z > 0 else element(0),
    "uniform": lambda z: fn.clip(z, 0, 1),
    "laplace": lambda z: 1 - fn.exp(-z) / 2 if z > 0 else fn.exp(z) / 2,
    "logistic": special.expit,
    "cauchy": lambda z: element(1) / 2 + home().call("atan", z) / _pi(),
    "pareto": lambda z, b: 1 - z ** -element(b) if z > 1 else element(0),
    "gumbel_r": lambda z: fn.exp(-fn.exp(-z)),
    "gumbel_l": lambda z: 1 - fn.exp(-fn.exp(z)),
    "gamma": lambda z, a: special.gammainc(a, z),
    "chi2": lambda z, df: special.gammainc(element(df) / 2, z / 2),
    "weibull_min": lambda z, c: 1 - fn.exp(-(z ** element(c))),
    "halfnorm": lambda z: 2 * special.ndtr(z) - 1,
    "rayleigh": lambda z: 1 - fn.exp(-z * z / 2),
    "lognorm": lambda z, s: special.ndtr(fn.log(z) / s),
    "truncnorm": lambda z, a, b: (
        (special.ndtr(z) - special.ndtr(a)) / (special.ndtr(b) - special.ndtr(a))
    ),
    "beta": lambda z, a, b: home().call("betainc", a, b, z),
}
"""P(Z ≤ z; shapes)."""

PPF: dict[str, Callable[..., Any]] = {
    "norm": special.ndtri,
    "expon": lambda q: -fn.log(1 - element(q)),
    "uniform": element,
    "logistic": special.logit,
    "cauchy": lambda q: home().call("tan", _pi() * (element(q) - element(1) / 2)),
    "gumbel_r": lambda q: -fn.log(-fn.log(q)),
    "gumbel_l": lambda q: fn.log(-fn.log(1 - element(q))),
    "pareto": lambda q, b: (1 - element(q)) ** (-1 / element(b)),
}
"""The inverse of the distribution function."""


def _poisson(k: Scalar, mu: Scalar) -> Any:
    return special.xlogy(k, mu) - element(mu) - fn.loggamma(element(k) + 1)


def _binom(k: Scalar, n: Scalar, p: Scalar) -> Any:
    n, k = element(n), element(k)
    ways = fn.loggamma(n + 1) - fn.loggamma(k + 1) - fn.loggamma(n - k + 1)
    return ways + special.xlogy(k, p) + special.xlogy(n - k, 1 - element(p))


def _nbinom(k: Scalar, n: Scalar, p: Scalar) -> Any:
    n, k = element(n), element(k)
    ways = fn.loggamma(n + k) - fn.loggamma(k + 1) - fn.loggamma(n)
    return ways + n * fn.log(p) + special.xlogy(k, 1 - element(p))


LOGPMF: dict[str, Callable[..., Any]] = {
    "poisson": _poisson,
    "bernoulli": lambda k, p: _binom(k, 1, p),
    "binom": _binom,
    "nbinom": _nbinom,
    "geom": lambda k, p: fn.log(p) + special.xlogy(element(k) - 1, 1 - element(p)),
}
"""log P(K = k; parameters), with loc = 0."""


def _mvn_logpdf(x: Any, mean: Any = None, cov: Any = 1, **options: Any) -> Any:
    x = as_array(x, home())
    cov = as_array(cov, home())
    d = x.shape[-1] if x.ndim else 1
    if cov.ndim == 0:
        cov = cov * np.eye(d)
    elif cov.ndim == 1:
        cov = np.diag(cov)
    x = x.reshape(*x.shape[:-1], d) if x.ndim else x.reshape(1)
    off = x if mean is None else x - mean
    # SciPy reads the lower triangle.
    cov = linear.mirrored(cov)
    solved = linear.solve(cov, np.moveaxis(off, -1, 0).reshape(d, -1))
    solved = np.moveaxis(finish(solved).reshape(d, *off.shape[:-1]), 0, -1)
    quadratic = np.sum(off * solved, axis=-1)
    log_det = linear.slogdet(linear.matrix(cov))[1]
    return -(quadratic + d * _log_2pi() + log_det) / 2


def _dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    x, alpha = as_array(x, home()), as_array(alpha, home())
    if len(x) == len(alpha) - 1:
        x = np.concatenate([x, as_array([1 - np.sum(x, axis=0)], home())])
    total = elementwise(fn.loggamma, alpha)
    logs = np.sum((alpha - 1) * np.log(x), axis=0)
    return fn.loggamma(np.sum(alpha)) - np.sum(finish(total)) + logs


SPECIAL: dict[str, Callable[..., Any]] = {
    "multivariate_normal.logpdf": _mvn_logpdf,
    "multivariate_normal.pdf": lambda *a, **kw: np.exp(_mvn_logpdf(*a, **kw)),
    "dirichlet.logpdf": _dirichlet_logpdf,
    "dirichlet.pdf": lambda *a: np.exp(_dirichlet_logpdf(*a)),
}


class StandInDistribution:
    """One distribution of `scipy.stats`, whose densities take elements."""

    def __init__(self, name: str, real: Any) -> None:
        self.name = name
        self._real = real

    def __getattr__(self, method: str) -> Callable[..., Any]:
        special = SPECIAL.get(f"{self.name}.{method}")
        if special is not None:
            return lambda *a, **kw: finish(special(*a, **kw))
        function = self._formula(method)
        if function is None:

            def missing(*args: Any, **kwargs: Any) -> Any:
                raise SymbolicValueError(
                    f"scipy.stats.{self.name}.{method} has no symbolic form"
                )

            return missing
        return function

    def _formula(self, method: str) -> Callable[..., Any] | None:
        name = self.name
        if method in ("logpmf", "pmf") and name in LOGPMF:
            return self._discrete(LOGPMF[name], method)
        if method in ("logpdf", "pdf") and name in LOGPDF:
            return self._density(LOGPDF[name], method)
        if method in ("cdf", "sf", "logcdf", "logsf") and name in CDF:
            return self._probability(CDF[name], method)
        if method == "ppf" and name in PPF:
            return self._quantile(PPF[name])
        return None

    def _shapes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return (shapes, loc, scale) from the arguments after the first."""
        wanted = [s for s in (self._real.shapes or "").replace(" ", "").split(",") if s]
        given = dict(zip([*wanted, "loc", "scale"], args, strict=False)) | kwargs
        shapes = [given[s] for s in wanted]
        return shapes, given.get("loc", 0), given.get("scale", 1)

    def _density(self, formula: Callable[..., Any], method: str) -> Callable[..., Any]:
        def one(x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
            z = (element(x) - loc) / element(scale)
            result = formula(z, *shapes) - fn.log(scale)
            return result if method == "logpdf" else fn.exp(result)

        return self._spread(one)

    def _probability(
        self, formula: Callable[..., Any], method: str
    ) -> Callable[..., Any]:
        def one(x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
            p = formula((element(x) - loc) / element(scale), *shapes)
            p = 1 - p if method in ("sf", "logsf") else p
            return fn.log(p) if method.startswith("log") else p

        return self._spread(one)

    def _quantile(self, formula: Callable[..., Any]) -> Callable[..., Any]:
        def one(q: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
            return element(loc) + element(scale) * formula(q, *shapes)

        return self._spread(one)

    def _spread(self, one: Callable[..., Any]) -> Callable[..., Any]:
        def function(x: Any, *args: Any, **kwargs: Any) -> Any:
            shapes, loc, scale = self._shapes(args, kwargs)
            return finish(elementwise(one, x, loc, scale, *shapes))

        return function

    def _discrete(self, formula: Callable[..., Any], method: str) -> Callable[..., Any]:
        def one(k: Any, *parameters: Any) -> Any:
            result = formula(element(k), *parameters)
            return result if method == "logpmf" else fn.exp(result)

        def function(k: Any, *args: Any, **kwargs: Any) -> Any:
            shapes, loc, _ = self._shapes(args, kwargs)
            if not (isinstance(loc, int) and loc == 0):
                raise SymbolicValueError(
                    f"scipy.stats.{self.name} with loc has no symbolic form"
                )
            return finish(elementwise(one, k, *shapes))

        return function
