"""`scipy.special`: functions of statistics and physics.

SciPy is named here, never imported.  Derivatives by an order or a shape parameter that
no function of SciPy expresses have no text: they are refused, not guessed.  Formulas
without a source are in the NIST Digital Library of Mathematical Functions,
dlmf.nist.gov.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from .helpers import unreduce
from .registry import elementwise, pullback, zero
from .trigonometric import sinc_slope

Array = Any

SP = "scipy.special"
ROOT_PI = "math.sqrt(math.pi)"
ROOT_2PI = "math.sqrt(2 * math.pi)"


def special(call: str, *partials: Any, **fields: Any) -> None:
    """State the partials of a function of `scipy.special`."""
    elementwise(f"{SP}.{call}", *partials, **fields)


def logsumexp_weights(a: Array, out: Array, axis: Any, keepdims: Any) -> Array:
    """Return exp(a - logsumexp(a)); 0 where all entries are -inf."""
    return np.exp(a - unreduce(np.where(np.isfinite(out), out, 0.0), axis, keepdims))


def logsumexp_a(
    out_bar: Array, out: Array, a: Array, axis: Any, b: Any, keepdims: Any
) -> Array:
    """Multiply by the share of each entry in the sum."""
    share = logsumexp_weights(a, out, axis, keepdims)
    if b is not None:
        share = share * b
    return runtime.unbroadcast(unreduce(out_bar, axis, keepdims) * share, a)


def logsumexp_b(
    out_bar: Array, out: Array, a: Array, axis: Any, b: Any, keepdims: Any
) -> Array:
    """Multiply by the exponential that each weight stands before."""
    share = logsumexp_weights(a, out, axis, keepdims)
    return runtime.unbroadcast(unreduce(out_bar, axis, keepdims) * share, b)


def softmax_x(out_bar: Array, out: Array, axis: Any) -> Array:
    """Return s ∘ (s' - sum(s' ∘ s))."""
    return out * (out_bar - np.sum(out_bar * out, axis=axis, keepdims=True))


def log_softmax_x(out_bar: Array, out: Array, axis: Any) -> Array:
    """Return out' - softmax(x) sum(out')."""
    return out_bar - np.exp(out) * np.sum(out_bar, axis=axis, keepdims=True)


def exprel_slope(x: Array, out: Array) -> Array:
    """Return the slope of (exp(x) - 1) / x, by its series where |x| is small."""
    small = np.abs(x) < 0.03
    high = 1 / 30 + x * (1 / 144 + x * (1 / 840 + x / 5760))
    series = 1 / 2 + x * (1 / 3 + x * (1 / 8 + x * high))
    return np.where(small, series, (np.exp(x) - out) / np.where(small, 1.0, x))


def erfcx_slope(x: Array, out: Array) -> Array:
    """Return 2 x erfcx(x) - 2/√π, by its series where the two nearly cancel.

    Beyond 20 the first term that is left out is under 1e-13 of the whole.
    """
    far = x > 20.0
    t = 1 / np.where(far, x, 20.0) ** 2
    high = 1 - 3.5 * t * (1 - 4.5 * t * (1 - 5.5 * t * (1 - 6.5 * t)))
    series = -t / np.sqrt(np.pi) * (1 - 1.5 * t * (1 - 2.5 * t * high))
    return np.where(far, series, 2 * x * out - 2 / np.sqrt(np.pi))


def boxcox_lmbda(x: Array, lmbda: Array, out: Array) -> Array:
    """Return (x**λ log x - out) / λ, and log(x)**2 / 2 at λ = 0."""
    flat = lmbda == 0
    log = np.log(x)
    slope = (x**lmbda * log - out) / np.where(flat, 1.0, lmbda)
    return np.where(flat, 0.5 * log**2, slope)


def boxcox1p_lmbda(x: Array, lmbda: Array, out: Array) -> Array:
    """Return the slope of the Box-Cox transform of 1 + x by its exponent."""
    return boxcox_lmbda(1 + x, lmbda, out)


def inv_boxcox_lmbda(y: Array, lmbda: Array, out: Array) -> Array:
    """Return the slope of (1 + λ y)**(1/λ) by λ, and -exp(y) y**2 / 2 at λ = 0."""
    flat = lmbda == 0
    power = np.where(flat, 1.0, lmbda)
    slope = y / (power * (1 + power * y)) - np.log1p(power * y) / power**2
    return out * np.where(flat, -0.5 * y**2, slope)


# Sigmoids, and sums of exponentials.
special("expit(x)", "out * (1 - out)")
special("logit(x)", "1 / (x * (1 - x))", singular=True, domain="0 < x < 1")
special("log_expit(x)", "scipy.special.expit(-x)")
special("softplus(x)", "scipy.special.expit(x)")
pullback(
    f"{SP}.logsumexp(a, axis=None, b=None, keepdims=False)",
    *(logsumexp_a, None, logsumexp_b),
)
pullback(f"{SP}.softmax(x, axis=None)", softmax_x)
pullback(f"{SP}.log_softmax(x, axis=None)", log_softmax_x)

# Elementary functions under another name.
special("expm1(x)", "out + 1", singular=True)
special("log1p(x)", "1 / (1 + x)", singular=True, domain="x > -1")
special("cbrt(x)", "1 / (3 * out**2)", singular=True, domain="x != 0")
special("exp2(x)", "math.log(2) * out", singular=True)
special("exp10(x)", "math.log(10) * out", singular=True)
special("exprel(x)", exprel_slope)
special("cosm1(x)", "-np.sin(x)")
special("sinc(x)", sinc_slope)
special("cosdg(x)", f"-math.pi / 180 * {SP}.sindg(x)")
special("sindg(x)", f"math.pi / 180 * {SP}.cosdg(x)")
special("tandg(x)", "math.pi / 180 * (1 + out**2)", singular=True)

# Error functions and the normal distribution.
special("erf(x)", f"2 / {ROOT_PI} * np.exp(-(x**2))")
special("erfc(x)", f"-2 / {ROOT_PI} * np.exp(-(x**2))")
special("erfcx(x)", erfcx_slope, singular=True)
special("erfi(x)", f"2 / {ROOT_PI} * np.exp(x**2)", singular=True)
special("dawsn(x)", "1 - 2 * x * out")
special("erfinv(x)", f"{ROOT_PI} / 2 * np.exp(out**2)", singular=True)
special("erfcinv(x)", f"-{ROOT_PI} / 2 * np.exp(out**2)", singular=True)
special("ndtr(x)", f"np.exp(-0.5 * x**2) / {ROOT_2PI}")
special("log_ndtr(x)", f"math.sqrt(2 / math.pi) / {SP}.erfcx(-x / math.sqrt(2))")
special("ndtri(x)", f"{ROOT_2PI} * np.exp(0.5 * out**2)", singular=True)
special("wofz(x)", f"2j / {ROOT_PI} - 2 * x * out", singular=True)
special(
    "owens_t(h, a)",
    f"-np.exp(-0.5 * h**2) * {SP}.erf(a * h / math.sqrt(2)) / (2 * {ROOT_2PI})",
    "np.exp(-0.5 * h**2 * (1 + a**2)) / (2 * math.pi * (1 + a**2))",
)

# The gamma function and its family.
PSI = f"{SP}.digamma"
special("gamma(x)", f"out * {PSI}(x)", singular=True)
for name in ("gammaln", "loggamma"):
    special(f"{name}(x)", f"{PSI}(x)", singular=True)
special("rgamma(x)", f"-out * {PSI}(x)", singular=True)
for name in ("digamma", "psi"):
    special(f"{name}(x)", f"{SP}.polygamma(1, x)", singular=True)
special("polygamma(n, x)", None, f"{SP}.polygamma(n + 1, x)", singular=True)
special(
    "multigammaln(a, d)",
    f"np.sum({PSI}(np.expand_dims(a, -1) - 0.5 * np.arange(d)), axis=-1)",
    singular=True,
)
special("factorial(n)", f"out * {PSI}(n + 1)", singular=True)
special(
    "beta(a, b)",
    f"out * ({PSI}(a) - {PSI}(a + b))",
    f"out * ({PSI}(b) - {PSI}(a + b))",
    singular=True,
)
special(
    "betaln(a, b)",
    f"{PSI}(a) - {PSI}(a + b)",
    f"{PSI}(b) - {PSI}(a + b)",
    singular=True,
)
for name in ("binom(n, k)", "comb(n, k)"):
    special(
        name,
        f"out * ({PSI}(n + 1) - {PSI}(n - k + 1))",
        f"out * ({PSI}(n - k + 1) - {PSI}(k + 1))",
        singular=True,
    )
special(
    "poch(z, m)",
    f"out * ({PSI}(z + m) - {PSI}(z))",
    f"out * {PSI}(z + m)",
    singular=True,
)
GAMMA_PDF = "np.exp({sp}.xlogy(a - 1, {x}) - {x} - {sp}.gammaln(a))"
BETA_PDF = (
    "np.exp({sp}.xlogy(a - 1, {x}) + {sp}.xlog1py(b - 1, -{x}) - {sp}.betaln(a, b))"
)
special("gammainc(a, x)", None, GAMMA_PDF.format(sp=SP, x="x"), singular=True)
special("gammaincc(a, x)", None, "-" + GAMMA_PDF.format(sp=SP, x="x"), singular=True)
special("gammaincinv(a, y)", None, "1 / " + GAMMA_PDF.format(sp=SP, x="out"))
special("gammainccinv(a, y)", None, "-1 / " + GAMMA_PDF.format(sp=SP, x="out"))
special("betainc(a, b, x)", None, None, BETA_PDF.format(sp=SP, x="x"), singular=True)
special("betaincc(a, b, x)", None, None, "-" + BETA_PDF.format(sp=SP, x="x"))
special("betaincinv(a, b, y)", None, None, "1 / " + BETA_PDF.format(sp=SP, x="out"))
special("zeta(x, q)", None, f"-x * {SP}.zeta(x + 1, q)", singular=True)
zero(f"{SP}.gammasgn(x)", f"{SP}.round(x)")

# Entropies and robust losses.  Where x = 0 its factor wins over the pole of log(y).
special("xlogy(x, y)", "np.log(y)", "x / (y + ((x == 0) & (y == 0)))", singular=True)
special(
    "xlog1py(x, y)",
    "np.log1p(y)",
    "x / (1 + y + ((x == 0) & (y == -1)))",
    singular=True,
)
special("entr(x)", "-np.log(x) - 1", singular=True, domain="x > 0")
special("rel_entr(x, y)", "np.log(x / y) + 1", "-x / y", singular=True)
special("kl_div(x, y)", "np.log(x / y)", "1 - x / y", singular=True)
special(
    "huber(delta, r)",
    "np.maximum(np.abs(r) - delta, 0)",
    "np.clip(r, -delta, delta)",
)
special(
    "pseudo_huber(delta, r)",
    "2 * out / delta - r**2 / (delta * np.sqrt(1 + (r / delta) ** 2))",
    "r / np.sqrt(1 + (r / delta) ** 2)",
)
special("boxcox(x, lmbda)", "x ** (lmbda - 1)", boxcox_lmbda, singular=True)
special("boxcox1p(x, lmbda)", "(1 + x) ** (lmbda - 1)", boxcox1p_lmbda, singular=True)
special("inv_boxcox(y, lmbda)", "out ** (1 - lmbda)", inv_boxcox_lmbda, singular=True)

# Bessel functions, by their argument.
special("j0(x)", f"-{SP}.j1(x)")
special("j1(x)", f"0.5 * ({SP}.j0(x) - {SP}.jv(2, x))")
special("y0(x)", f"-{SP}.y1(x)", singular=True)
special("y1(x)", f"{SP}.y0(x) - out / x", singular=True)
special("i0(x)", f"{SP}.i1(x)", singular=True)
elementwise("np.i0(x)", f"{SP}.i1(x)", singular=True)
special("i1(x)", f"0.5 * ({SP}.i0(x) + {SP}.iv(2, x))", singular=True)
special("i0e(x)", f"{SP}.i1e(x) - np.sign(x) * out")
special("i1e(x)", f"0.5 * ({SP}.i0e(x) + {SP}.ive(2, x)) - np.sign(x) * out")
special("k0(x)", f"-{SP}.k1(x)", singular=True)
special("k1(x)", f"-{SP}.k0(x) - out / x", singular=True)
special("k0e(x)", f"out - {SP}.k1e(x)", singular=True)
special("k1e(x)", f"out - {SP}.k0e(x) - out / x", singular=True)
for name in ("jv", "jn", "yv", "yn"):
    special(
        f"{name}(v, z)",
        None,
        f"0.5 * ({SP}.{name}(v - 1, z) - {SP}.{name}(v + 1, z))",
        singular=True,
    )
special("iv(v, z)", None, f"0.5 * ({SP}.iv(v - 1, z) + {SP}.iv(v + 1, z))")
special(
    "ive(v, z)",
    None,
    f"0.5 * ({SP}.ive(v - 1, z) + {SP}.ive(v + 1, z)) - np.sign(z) * out",
)
for name in ("kv", "kn"):
    special(
        f"{name}(v, z)",
        None,
        f"-0.5 * ({SP}.kv(v - 1, z) + {SP}.kv(v + 1, z))",
        singular=True,
    )
special(
    "kve(v, z)",
    None,
    f"out - 0.5 * ({SP}.kve(v - 1, z) + {SP}.kve(v + 1, z))",
    singular=True,
)
special("spherical_jn(n, z)", None, f"n / z * out - {SP}.spherical_jn(n + 1, z)")

# Integrals and other transcendents.
special("exp1(x)", "-np.exp(-x) / x", singular=True)
special("expi(x)", "np.exp(x) / x", singular=True)
special("expn(n, x)", None, f"-{SP}.expn(n - 1, x)", singular=True)
special(
    "spence(z)",
    "np.where(z == 1, -1.0, np.log(z) / (1 - z + (z == 1)))",
    singular=True,
)
special("lambertw(z, k=0, tol=1e-08)", "np.exp(-out) / (1 + out)", singular=True)
special("wrightomega(z)", "out / (1 + out)")
FLAT = "(m == 0)"
special(
    "ellipk(m)",
    f"np.where(m == 0, math.pi / 8, ({SP}.ellipe(m) - (1 - m) * out)"
    f" / (2 * m * (1 - m) + {FLAT}))",
    singular=True,
)
special(
    "ellipe(m)",
    f"np.where(m == 0, -math.pi / 8, (out - {SP}.ellipk(m)) / (2 * m + {FLAT}))",
    singular=True,
)
ROOT = "np.sqrt(1 - m * np.sin(phi) ** 2)"
special(
    "ellipkinc(phi, m)",
    f"1 / {ROOT}",
    f"{SP}.ellipeinc(phi, m) / (2 * m * (1 - m)) - out / (2 * m)"
    f" - np.sin(2 * phi) / (4 * (1 - m) * {ROOT})",
    singular=True,
    domain="0 < m < 1",
)
special(
    "ellipeinc(phi, m)",
    ROOT,
    f"(out - {SP}.ellipkinc(phi, m)) / (2 * m)",
    singular=True,
    domain="0 < m < 1",
)
special("hyp1f1(a, b, x)", None, None, f"a / b * {SP}.hyp1f1(a + 1, b + 1, x)")
special(
    "hyp2f1(a, b, c, z)",
    *(None, None, None),
    f"a * b / c * {SP}.hyp2f1(a + 1, b + 1, c + 1, z)",
    singular=True,
)
special(
    "eval_hermite(n, x)", None, f"2 * n * {SP}.eval_hermite(np.maximum(n - 1, 0), x)"
)
special(
    "eval_hermitenorm(n, x)",
    None,
    f"n * {SP}.eval_hermitenorm(np.maximum(n - 1, 0), x)",
)
special(
    "eval_legendre(n, x)",
    None,
    f"n * (x * out - {SP}.eval_legendre(n - 1, x)) / (x**2 - 1)",
    singular=True,
)
special("eval_chebyt(n, x)", None, f"n * {SP}.eval_chebyu(n - 1, x)")
special(
    "eval_chebyu(n, x)",
    None,
    f"((n + 1) * {SP}.eval_chebyt(n + 1, x) - x * out) / (x**2 - 1)",
    singular=True,
)
pullback(
    f"{SP}.fresnel(z) -> s, c",
    "both(scaled(s_bar, np.sin(math.pi / 2 * z**2)),"
    " scaled(c_bar, np.cos(math.pi / 2 * z**2)))",
)
pullback(
    f"{SP}.sici(x) -> si, ci",
    "both(scaled(si_bar, np.sinc(x / math.pi)), scaled(ci_bar, np.cos(x) / x))",
)
pullback(
    f"{SP}.shichi(x) -> shi, chi",
    "both(scaled(shi_bar, np.sinh(x) / x), scaled(chi_bar, np.cosh(x) / x))",
)
pullback(
    f"{SP}.airy(z) -> ai, aip, bi, bip",
    "both(both(scaled(ai_bar, aip), scaled(aip_bar, z * ai)),"
    " both(scaled(bi_bar, bip), scaled(bip_bar, z * bi)))",
)

# Distribution functions of the normal's relatives, by their argument.
special(
    "stdtr(df, t)",
    None,
    f"np.exp(-0.5 * (df + 1) * np.log1p(t**2 / df) - {SP}.betaln(0.5 * df, 0.5))"
    " / np.sqrt(df)",
)
special(
    "chdtr(v, x)",
    None,
    f"0.5 * np.exp({SP}.xlogy(0.5 * v - 1, 0.5 * x) - 0.5 * x - {SP}.gammaln(0.5 * v))",
    singular=True,
)
special(
    "pdtr(k, m)",
    None,
    f"-np.exp({SP}.xlogy(np.floor(k), m) - m - {SP}.gammaln(np.floor(k) + 1))",
)
