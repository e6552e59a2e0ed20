"""`scipy.stats`: densities, distribution functions and quantiles.

A distribution is one row: its shape parameters, and the derivatives of its standard
log density by z and by each of them.  With z = (x - loc) / scale the rest follows:
∂logpdf/∂x = s / scale, ∂/∂loc = -s / scale and ∂/∂scale = -(1 + z s) / scale, where s
is the derivative by z; the derivative of the distribution function is the density.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .helpers import as_read, mirrored
from .registry import elementwise, pullback

Array = Any

ST = "scipy.stats"
PSI = "scipy.special.digamma"
LOCATED = "loc=0, scale=1"
Z = "standard(x, loc, scale)"
MILLS = (
    "np.exp(-0.5 * (a * z) ** 2 - scipy.special.log_ndtr(a * z))"
    " / math.sqrt(2 * math.pi)"
)
BETWEEN = "(scipy.special.ndtr(b) - scipy.special.ndtr(a)) / math.sqrt(2 * math.pi)"

CONTINUOUS: dict[str, tuple[str, str, tuple[str | None, ...]]] = {
    "norm": ("", "-z", ()),
    "expon": ("", "-1.0", ()),
    "uniform": ("", "0.0", ()),
    "laplace": ("", "-np.sign(z)", ()),
    "logistic": ("", "-np.tanh(0.5 * z)", ()),
    "cauchy": ("", "-2 * z / (1 + z**2)", ()),
    "halfnorm": ("", "-z", ()),
    "halfcauchy": ("", "-2 * z / (1 + z**2)", ()),
    "rayleigh": ("", "1 / z - z", ()),
    "maxwell": ("", "2 / z - z", ()),
    "arcsine": ("", "0.5 / (1 - z) - 0.5 / z", ()),
    "gumbel_r": ("", "np.exp(-z) - 1", ()),
    "gumbel_l": ("", "1 - np.exp(z)", ()),
    "t": (
        "df",
        "-(df + 1) * z / (df + z**2)",
        (
            f"0.5 * ({PSI}(0.5 * (df + 1)) - {PSI}(0.5 * df) - 1 / df"
            " - np.log1p(z**2 / df) + (df + 1) * z**2 / (df * (df + z**2)))",
        ),
    ),
    "chi2": (
        "df",
        "(0.5 * df - 1) / z - 0.5",
        (f"0.5 * (np.log(0.5 * z) - {PSI}(0.5 * df))",),
    ),
    "gamma": ("a", "(a - 1) / z - 1", (f"np.log(z) - {PSI}(a)",)),
    "invgamma": ("a", "1 / z**2 - (a + 1) / z", (f"-np.log(z) - {PSI}(a)",)),
    "loggamma": ("c", "c - np.exp(z)", (f"z - {PSI}(c)",)),
    "beta": (
        "a, b",
        "(a - 1) / z - (b - 1) / (1 - z)",
        (
            f"np.log(z) - {PSI}(a) + {PSI}(a + b)",
            f"np.log1p(-z) - {PSI}(b) + {PSI}(a + b)",
        ),
    ),
    "f": (
        "dfn, dfd",
        "(0.5 * dfn - 1) / z - 0.5 * (dfn + dfd) * dfn / (dfd + dfn * z)",
        (
            f"0.5 * ({PSI}(0.5 * (dfn + dfd)) - {PSI}(0.5 * dfn) + np.log(dfn / dfd)"
            " + 1 + np.log(z) - np.log1p(dfn / dfd * z)"
            " - (dfn + dfd) * z / (dfd + dfn * z))",
            f"0.5 * ({PSI}(0.5 * (dfn + dfd)) - {PSI}(0.5 * dfd) - dfn / dfd"
            " - np.log1p(dfn / dfd * z)"
            " + (dfn + dfd) * dfn * z / (dfd * (dfd + dfn * z)))",
        ),
    ),
    "lognorm": (
        "s",
        "-(1 + np.log(z) / s**2) / z",
        ("np.log(z) ** 2 / s**3 - 1 / s",),
    ),
    "weibull_min": (
        "c",
        "((c - 1) - c * z**c) / z",
        ("1 / c + np.log(z) * (1 - z**c)",),
    ),
    "pareto": ("b", "-(b + 1) / z", ("1 / b - np.log(z)",)),
    "powerlaw": ("a", "(a - 1) / z", ("1 / a + np.log(z)",)),
    "fisk": (
        "c",
        "(c - 1) / z - 2 * c * z ** (c - 1) / (1 + z**c)",
        ("1 / c + np.log(z) * (1 - 2 * z**c / (1 + z**c))",),
    ),
    "genpareto": (
        "c",
        "-(1 + c) / (1 + c * z)",
        ("np.log1p(c * z) / c**2 - (1 + 1 / c) * z / (1 + c * z)",),
    ),
    "genextreme": (
        "c",
        "(1 - c * z) ** (1 / c - 1) - (1 - c) / (1 - c * z)",
        (
            "((1 - c * z) ** (1 / c) - 1) * np.log1p(-c * z) / c**2"
            " + ((1 - c * z) ** (1 / c) / c - (1 / c - 1)) * z / (1 - c * z)",
        ),
    ),
    "invgauss": (
        "mu",
        "0.5 / z**2 - 1.5 / z - 0.5 / mu**2",
        ("z / mu**3 - 1 / mu**2",),
    ),
    "vonmises": (
        "kappa",
        "-kappa * np.sin(z)",
        ("np.cos(z) - scipy.special.i1e(kappa) / scipy.special.i0e(kappa)",),
    ),
    "skewnorm": ("a", f"a * {MILLS} - z", (f"z * {MILLS}",)),
    "truncnorm": (
        "a, b",
        "-z",
        (
            f"np.exp(-0.5 * a**2) / ({BETWEEN} * 2 * math.pi)",
            f"-np.exp(-0.5 * b**2) / ({BETWEEN} * 2 * math.pi)",
        ),
    ),
    "gennorm": (
        "beta",
        "-beta * np.abs(z) ** (beta - 1) * np.sign(z)",
        (
            f"1 / beta + {PSI}(1 / beta) / beta**2"
            " - np.abs(z) ** beta * np.log(np.abs(z))",
        ),
    ),
}
"""Shape parameters, ∂ log density / ∂z, and ∂ log density / ∂ each shape parameter."""

DISCRETE: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "poisson": ("mu", ("k / mu - 1",)),
    "bernoulli": ("p", ("k / p - (1 - k) / (1 - p)",)),
    "binom": ("n, p", (None, "k / p - (n - k) / (1 - p)")),
    "nbinom": (
        "n, p",
        (f"{PSI}(k + n) - {PSI}(n) + np.log(p)", "n / p - k / (1 - p)"),
    ),
    "geom": ("p", ("1 / p - (k - 1) / (1 - p)",)),
    "betabinom": (
        "n, a, b",
        (
            None,
            f"{PSI}(k + a) - {PSI}(n + a + b) - {PSI}(a) + {PSI}(a + b)",
            f"{PSI}(n - k + b) - {PSI}(n + a + b) - {PSI}(b) + {PSI}(a + b)",
        ),
    ),
}
"""Parameters, and ∂ log mass / ∂ each of them, at k = x - loc."""


FLOOR = "np.floor(standard(x, loc, 1))"
BELOW = {
    "poisson": f"{ST}.poisson.pmf({FLOOR}, mu)",
    "bernoulli": f"1.0 * ({FLOOR} == 0)",
    "binom": f"n * {ST}.binom.pmf({FLOOR}, n - 1, p)",
    "geom": f"-{FLOOR} * (1 - p) ** ({FLOOR} - 1)",
}
"""Minus the derivatives of distribution functions by the last parameter."""


def names(*groups: str) -> str:
    """Join lists of parameters, skipping empty ones.

    >>> names("x", "", "loc=0")
    'x, loc=0'
    """
    return ", ".join(group for group in groups if group)


def word(text: str, name: str, value: str) -> str:
    """Put an expression in place of a one-letter name.

    >>> word("z * np.zeta(z)", "z", "(x)")
    '(x) * np.zeta((x))'
    """
    out = ""
    for k, c in enumerate(text):
        before = text[k - 1] if k else " "
        after = text[k + 1] if k + 1 < len(text) else " "
        alone = not (before.isalnum() or before in "_.") and not (
            after.isalnum() or after == "_"
        )
        out += value if c == name and alone else c
    return out


def continuous(name: str, shapes: str, slope: str, by_shape: Any) -> None:
    """State the derivatives of a distribution's functions."""
    where = f"{ST}.{name}"
    given = names("x", shapes, "loc, scale")
    s = word(slope, "z", Z)
    by_scale = f"-over(1 + {Z} * ({s}), scale)"
    log_partials = [f"over({s}, scale)"]
    log_partials += [text and word(text, "z", Z) for text in by_shape]
    log_partials += [f"-over({s}, scale)", by_scale]
    call = names("x", shapes, LOCATED)
    elementwise(f"{where}.logpdf({call})", *log_partials, singular=True)
    partials = [text and f"out * ({text})" for text in log_partials]
    elementwise(f"{where}.pdf({call})", *partials, singular=True)
    unknown = [None] * len(by_shape)
    density = f"{where}.pdf({given})"
    share = f"np.exp({where}.logpdf({given}) - out)"
    for method, sign, factor in (
        ("cdf", "", density),
        ("sf", "-", density),
        ("logcdf", "", share),
        ("logsf", "-", share),
    ):
        flipped = "" if sign else "-"
        elementwise(
            f"{where}.{method}({call})",
            f"{sign}{factor}",
            *unknown,
            f"{flipped}{factor}",
            f"{flipped}{factor} * {Z}",
        )
    quantile = names("out", shapes, "loc, scale")
    for method, argument, sign in (("ppf", "q", ""), ("isf", "q", "-")):
        elementwise(
            f"{where}.{method}({names(argument, shapes, LOCATED)})",
            f"{sign}1 / {where}.pdf({quantile})",
            *unknown,
            "1",
            "standard(out, loc, scale)",
            singular=True,
        )


def discrete(name: str, shapes: str, by_shape: Any) -> None:
    """State the derivatives of a mass function and its logarithm by the parameters."""
    where = f"{ST}.{name}"
    texts = [text and word(text, "k", "standard(x, loc, 1)") for text in by_shape]
    call = names("x", shapes, "loc=0")
    elementwise(f"{where}.logpmf({call})", None, *texts, singular=True)
    masses = [text and f"out * ({text})" for text in texts]
    elementwise(f"{where}.pmf({call})", None, *masses, singular=True)
    below = BELOW.get(name)
    if below is not None:
        by_parameter = [None] * (len(texts) - 1)
        for method, sign in (("cdf", "-"), ("sf", "")):
            elementwise(f"{where}.{method}({call})", None, *by_parameter, sign + below)


def covariance(mean: Any, cov: Any) -> Array:
    """Return the covariance matrix that a number, a vector or a matrix stands for.

    Of a matrix SciPy reads the lower triangle.
    """
    if np.ndim(cov) == 2:
        return mirrored(cov, True)
    if np.ndim(cov) == 1:
        return np.diag(cov)
    return cov * np.eye(1 if mean is None or np.ndim(mean) == 0 else len(mean))


def mvn_deviations(x: Array, mean: Any, matrix: Array) -> tuple[Array, Array]:
    """Return rows x - mean, and the same multiplied by the inverse covariance."""
    away = x if mean is None else x - mean
    rows = np.reshape(away, (-1, np.shape(matrix)[0]))
    return rows, np.linalg.solve(matrix, rows.T).T


def mvn_x(out_bar: Array, x: Array, mean: Any, cov: Any) -> Array:
    """Return -C⁻¹ (x - mean) times the cotangent."""
    _, pulled = mvn_deviations(x, mean, covariance(mean, cov))
    return np.reshape(-np.reshape(out_bar, (-1, 1)) * pulled, np.shape(x))


def mvn_mean(out_bar: Array, x: Array, mean: Any, cov: Any) -> Array:
    """Return C⁻¹ (x - mean) times the cotangent, added up."""
    _, pulled = mvn_deviations(x, mean, covariance(mean, cov))
    total = np.sum(np.reshape(out_bar, (-1, 1)) * pulled, axis=0)
    return np.reshape(total, np.shape(mean))


def mvn_cov(out_bar: Array, x: Array, mean: Any, cov: Any) -> Array:
    """Return (C⁻¹ d dᵀ C⁻¹ - C⁻¹) / 2 times the cotangent, added up."""
    matrix = covariance(mean, cov)
    _, pulled = mvn_deviations(x, mean, matrix)
    weights = np.reshape(out_bar, (-1, 1))
    inner = (weights * pulled).T @ pulled - np.sum(weights) * np.linalg.inv(matrix)
    if np.ndim(cov) == 2:
        return as_read(0.5 * inner, True)
    if np.ndim(cov) == 1:
        return 0.5 * np.diagonal(inner)
    return 0.5 * np.trace(inner)


def mvn_pdf_x(out_bar: Array, out: Array, x: Array, mean: Any, cov: Any) -> Array:
    """Return the cotangent of x through the density."""
    return mvn_x(out_bar * out, x, mean, cov)


def mvn_pdf_mean(out_bar: Array, out: Array, x: Array, mean: Any, cov: Any) -> Array:
    """Return the cotangent of the mean through the density."""
    return mvn_mean(out_bar * out, x, mean, cov)


def mvn_pdf_cov(out_bar: Array, out: Array, x: Array, mean: Any, cov: Any) -> Array:
    """Return the cotangent of the covariance through the density."""
    return mvn_cov(out_bar * out, x, mean, cov)


def dirichlet_x(out_bar: Array, x: Array, alpha: Array) -> Array:
    """Return (alpha - 1) / x times the cotangent."""
    if np.ndim(x) == 1:
        return out_bar * (alpha - 1) / x
    return out_bar * (alpha - 1)[:, None] / x


def dirichlet_pdf_x(out_bar: Array, out: Array, x: Array, alpha: Array) -> Array:
    """Return the cotangent of x through the density."""
    return dirichlet_x(out_bar * out, x, alpha)


def multinomial_p(out_bar: Array, x: Array, p: Array) -> Array:
    """Return x / p times the cotangent; 0 where nothing was counted."""
    share = np.expand_dims(out_bar, -1) * x / (p + ((x == 0) & (p == 0)))
    return runtime.unbroadcast(share, p)


for name, (shapes, slope, by_shape) in CONTINUOUS.items():
    continuous(name, shapes, slope, by_shape)
for name, (shapes, by_shape) in DISCRETE.items():
    discrete(name, shapes, by_shape)
FULL_RANK = (("allow_singular", (False,)),)
pullback(
    f"{ST}.multivariate_normal.logpdf(x, mean=None, cov=1, allow_singular=False)",
    *(mvn_x, mvn_mean, mvn_cov),
    singular=True,
    only=FULL_RANK,
)
pullback(
    f"{ST}.multivariate_normal.pdf(x, mean=None, cov=1, allow_singular=False)",
    *(mvn_pdf_x, mvn_pdf_mean, mvn_pdf_cov),
    singular=True,
    only=FULL_RANK,
)
pullback(
    f"{ST}.dirichlet.logpdf(x, alpha)",
    dirichlet_x,
    f"out_bar * ({PSI}(np.sum(alpha)) - {PSI}(alpha)) + out_bar * np.log(x)"
    " if np.ndim(x) == 1 else"
    f" np.sum(out_bar) * ({PSI}(np.sum(alpha)) - {PSI}(alpha)) + np.log(x) @ out_bar",
    singular=True,
)
pullback(
    f"{ST}.dirichlet.pdf(x, alpha)",
    dirichlet_pdf_x,
    f"out_bar * out * ({PSI}(np.sum(alpha)) - {PSI}(alpha) + np.log(x))"
    " if np.ndim(x) == 1 else"
    f" np.sum(out_bar * out) * ({PSI}(np.sum(alpha)) - {PSI}(alpha))"
    " + np.log(x) @ (out_bar * out)",
    singular=True,
)
pullback(f"{ST}.multinomial.logpmf(x, n, p)", None, None, multinomial_p)
