"""Functions of `scipy.special` of scalar elements.

Each is written with what SymPy has a function for, so that it can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .functions import (
    TABLE,
    Scalar,
    absolute,
    call,
    constant,
    cos,
    element,
    elementary,
    erf,
    erfc,
    exp,
    log,
    loggamma,
    radians,
    sin,
    sqrt,
)

__all__ = ["EVERYTHING", "SPECIAL"]


def expit(x: Scalar) -> Any:
    return 1 / (1 + exp(-element(x)))


def logit(p: Scalar) -> Any:
    p = element(p)
    return log(p / (1 - p))


def log_expit(x: Scalar) -> Any:
    return -log(1 + exp(-element(x)))


def softplus(x: Scalar) -> Any:
    return log(1 + exp(x))


def ndtr(x: Scalar) -> Any:
    """Φ(x), the normal distribution function: erfc(−x/√2)/2."""
    return erfc(-element(x) / sqrt(2)) / 2


def log_ndtr(x: Scalar) -> Any:
    return log(ndtr(x))


def ndtri(p: Scalar) -> Any:
    return sqrt(2) * call("erfinv", 2 * element(p) - 1)


def erfcinv(x: Scalar) -> Any:
    return call("erfinv", 1 - element(x))


def erfcx(x: Scalar) -> Any:
    x = element(x)
    return exp(x * x) * erfc(x)


def dawsn(x: Scalar) -> Any:
    x = element(x)
    return sqrt(constant("pi")) / 2 * exp(-(x * x)) * call("erfi", x)


def digamma(x: Scalar) -> Any:
    return call("polygamma", 0, x)


def polygamma(n: Scalar, x: Scalar) -> Any:
    return call("polygamma", n, x)


def xlogy(x: Scalar, y: Scalar) -> Any:
    x = element(x)
    return x * 0 if x == 0 else x * log(y)


def xlog1py(x: Scalar, y: Scalar) -> Any:
    return xlogy(x, 1 + element(y))


def entr(x: Scalar) -> Any:
    x = element(x)
    if x == 0:
        return element(0)
    return -x * log(x) if x > 0 else element(-np.inf)


def rel_entr(x: Scalar, y: Scalar) -> Any:
    x, y = element(x), element(y)
    return element(0) if x == 0 else x * log(x / y)


def kl_div(x: Scalar, y: Scalar) -> Any:
    return rel_entr(x, y) - element(x) + element(y)


def huber(delta: Scalar, r: Scalar) -> Any:
    delta, r = element(delta), element(r)
    if delta < 0:
        return element(np.inf)
    size = absolute(r)
    return r * r / 2 if size <= delta else delta * (size - delta / 2)


def pseudo_huber(delta: Scalar, r: Scalar) -> Any:
    delta, r = element(delta), element(r)
    return delta * delta * (sqrt(1 + (r / delta) ** 2) - 1)


def boxcox(x: Scalar, lam: Scalar) -> Any:
    x, lam = element(x), element(lam)
    return log(x) if lam == 0 else (x**lam - 1) / lam


def inv_boxcox(y: Scalar, lam: Scalar) -> Any:
    y, lam = element(y), element(lam)
    return exp(y) if lam == 0 else (lam * y + 1) ** (1 / lam)


def gamma(x: Scalar) -> Any:
    return call("gamma", x)


def betaln(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def beta(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return gamma(a) * gamma(b) / gamma(a + b)


def binom(n: Scalar, k: Scalar) -> Any:
    n, k = element(n), element(k)
    return gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))


def poch(z: Scalar, m: Scalar) -> Any:
    z, m = element(z), element(m)
    return gamma(z + m) / gamma(z)


def gammainc(a: Scalar, x: Scalar) -> Any:
    return call("lowergamma", a, x) / gamma(a)


def gammaincc(a: Scalar, x: Scalar) -> Any:
    return call("uppergamma", a, x) / gamma(a)


def bessel(name: str, order: int | None = None, scaled: int = 0) -> Callable[..., Any]:
    def function(*args: Scalar) -> Any:
        n, x = (order, args[0]) if order is not None else args
        value = call(name, n, x)
        if scaled:
            x = element(x)
            value = value * exp(x if scaled > 0 else -abs(x))
        return value

    return function


def exprel(x: Scalar) -> Any:
    x = element(x)
    return element(1) if x == 0 else (exp(x) - 1) / x


def cosm1(x: Scalar) -> Any:
    return cos(x) - 1


def spence(x: Scalar) -> Any:
    """∫ log t/(1 − t) dt from 1 to x, SciPy's sign of the dilogarithm."""
    return call("dilog", 1 - element(x))


def in_degrees(function: Callable[..., Any]) -> Callable[[Scalar], Any]:
    return lambda x: function(radians(x))


SPECIAL: dict[str, Callable[..., Any]] = {
    "erf": erf,
    "erfc": erfc,
    "erfi": elementary("erfi"),
    "erfinv": elementary("erfinv"),
    "erfcinv": erfcinv,
    "erfcx": erfcx,
    "dawsn": dawsn,
    "expit": expit,
    "logit": logit,
    "log_expit": log_expit,
    "softplus": softplus,
    "ndtr": ndtr,
    "log_ndtr": log_ndtr,
    "ndtri": ndtri,
    "gamma": gamma,
    "rgamma": lambda x: 1 / gamma(x),
    "gammaln": loggamma,
    "loggamma": loggamma,
    "lgamma": loggamma,
    "psi": digamma,
    "digamma": digamma,
    "polygamma": polygamma,
    "beta": beta,
    "betaln": betaln,
    "betainc": elementary("betainc"),
    "binom": binom,
    "poch": poch,
    "gammainc": gammainc,
    "gammaincc": gammaincc,
    "xlogy": xlogy,
    "xlog1py": xlog1py,
    "entr": entr,
    "rel_entr": rel_entr,
    "kl_div": kl_div,
    "huber": huber,
    "pseudo_huber": pseudo_huber,
    "boxcox": boxcox,
    "boxcox1p": lambda x, lam: boxcox(1 + element(x), lam),
    "inv_boxcox": inv_boxcox,
    "exprel": exprel,
    "cosm1": cosm1,
    "spence": spence,
    "exp1": elementary("expint1"),
    "expi": elementary("Ei"),
    "ellipk": elementary("ellipk"),
    "ellipe": elementary("ellipe"),
    "zeta": elementary("zeta"),
    "j0": bessel("besselj", 0),
    "j1": bessel("besselj", 1),
    "jv": bessel("besselj"),
    "jn": bessel("besselj"),
    "y0": bessel("bessely", 0),
    "y1": bessel("bessely", 1),
    "yv": bessel("bessely"),
    "yn": bessel("bessely"),
    "i0": bessel("besseli", 0),
    "i1": bessel("besseli", 1),
    "iv": bessel("besseli"),
    "i0e": bessel("besseli", 0, -1),
    "i1e": bessel("besseli", 1, -1),
    "ive": bessel("besseli", None, -1),
    "k0": bessel("besselk", 0),
    "k1": bessel("besselk", 1),
    "kv": bessel("besselk"),
    "kn": bessel("besselk"),
    "k0e": bessel("besselk", 0, 1),
    "k1e": bessel("besselk", 1, 1),
    "kve": bessel("besselk", None, 1),
    "sindg": in_degrees(sin),
    "cosdg": in_degrees(cos),
    "tandg": in_degrees(elementary("tan")),
    "hyp1f1": elementary("hyp1f1"),
    "hyp2f1": elementary("hyp2f1"),
    "wrightomega": lambda x: call("lambertw", exp(x)),
}
"""The functions of `scipy.special`, by their ufuncs' names."""

EVERYTHING: dict[str, Callable[..., Any]] = TABLE | SPECIAL
"""Every function of scalars, by its ufunc's name."""
