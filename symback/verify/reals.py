"""Real arithmetic at a chosen number of digits, with IEEE's rules for 0, ∞ and NaN.

mpmath raises on 1/0 and turns complex on log(-1); a NumPy program goes on with ±inf
and NaN, and so does everything here.  There is no overflow: exp(800) is a number.

>>> reals = Reals(30)
>>> reals.divide(reals.number(1), reals.number(0))
mpf('+inf')
>>> reals.call("log", reals.number(-1))
mpf('nan')
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

__all__ = ["FUNCTIONS", "Reals"]

Mpf = Any
"""An `mpmath.mpf` of some context; mpmath publishes no types."""

HUGE = 10**9
"""Beyond this argument `exp` is taken for 0 or ∞: no loss in float64 comes near it."""


def _expint(c: Any, x: Mpf) -> Mpf:
    return c.e1(x)


def _erfinv(c: Any, x: Mpf) -> Mpf:
    if abs(x) >= 1:
        return c.inf * c.sign(x) if abs(x) == 1 else c.nan
    # mpmath's own erfinv starts from a float64 guess and is exact to full precision.
    return c.erfinv(x)


FUNCTIONS: dict[str, Callable[..., Mpf]] = {
    "exp": lambda c, x: c.exp(x),
    "log": lambda c, x: c.log(x),
    "sin": lambda c, x: c.sin(x),
    "cos": lambda c, x: c.cos(x),
    "tan": lambda c, x: c.tan(x),
    "asin": lambda c, x: c.asin(x),
    "acos": lambda c, x: c.acos(x),
    "atan": lambda c, x: c.atan(x),
    "atan2": lambda c, y, x: c.atan2(y, x),
    "sinh": lambda c, x: c.sinh(x),
    "cosh": lambda c, x: c.cosh(x),
    "tanh": lambda c, x: c.tanh(x),
    "asinh": lambda c, x: c.asinh(x),
    "acosh": lambda c, x: c.acosh(x),
    "atanh": lambda c, x: c.atanh(x),
    "erf": lambda c, x: c.erf(x),
    "erfc": lambda c, x: c.erfc(x),
    "erfi": lambda c, x: c.erfi(x),
    "erfinv": _erfinv,
    "gamma": lambda c, x: c.gamma(x),
    "loggamma": lambda c, x: c.log(abs(c.gamma(x))) if x < 0 else c.loggamma(x),
    "polygamma": lambda c, n, x: c.psi(int(n), x),
    "besselj": lambda c, n, x: c.besselj(n, x),
    "bessely": lambda c, n, x: c.bessely(n, x),
    "besseli": lambda c, n, x: c.besseli(n, x),
    "besselk": lambda c, n, x: c.besselk(n, x),
    "expint1": _expint,
    "expint": lambda c, n, x: c.expint(n, x),
    "ellipf": lambda c, phi, m: c.ellipf(phi, m),
    "ellipeinc": lambda c, phi, m: c.ellipe(phi, m),
    "airyai": lambda c, x: c.airyai(x),
    "airybi": lambda c, x: c.airybi(x),
    "airyaiprime": lambda c, x: c.airyai(x, derivative=1),
    "airybiprime": lambda c, x: c.airybi(x, derivative=1),
    "Ei": lambda c, x: c.ei(x),
    "Si": lambda c, x: c.si(x),
    "Ci": lambda c, x: c.ci(x),
    "Shi": lambda c, x: c.shi(x),
    "Chi": lambda c, x: c.chi(x),
    "lambertw": lambda c, x: c.lambertw(x),
    "zeta": lambda c, s, a: c.zeta(s, a),
    "ellipk": lambda c, m: c.ellipk(m),
    "ellipe": lambda c, m: c.ellipe(m),
    "dilog": lambda c, x: c.polylog(2, x),
    "betainc": lambda c, a, b, x: c.betainc(a, b, 0, x, regularized=True),
    "lowergamma": lambda c, a, x: c.gammainc(a, 0, x),
    "uppergamma": lambda c, a, x: c.gammainc(a, x),
    "fresnels": lambda c, x: c.fresnels(x),
    "fresnelc": lambda c, x: c.fresnelc(x),
    "hyp1f1": lambda c, a, b, x: c.hyp1f1(a, b, x),
    "hyp2f1": lambda c, a, b, d, x: c.hyp2f1(a, b, d, x),
}
"""Functions of one or more real numbers, by SymPy's name where it has one."""

AT_INFINITY: dict[str, tuple[object, object]] = {
    "exp": (0, "inf"),
    "log": ("nan", "inf"),
    "tanh": (-1, 1),
    "erf": (-1, 1),
    "erfc": (2, 0),
    "sinh": ("-inf", "inf"),
    "cosh": ("inf", "inf"),
    "asinh": ("-inf", "inf"),
    "loggamma": ("inf", "inf"),
}
"""Limits at −∞ and +∞ where a program may reach them."""


class Reals:
    """Arithmetic on mpf values with a working precision of `digits` decimal digits."""

    def __init__(self, digits: int) -> None:
        self.context = mpmath.MPContext()
        self.context.dps = digits
        self.digits = digits
        self.zero = self.context.mpf(0)
        self.one = self.context.mpf(1)
        self.inf = self.context.inf
        self.nan = self.context.nan

    def number(self, x: Any) -> Mpf:
        """Return an int, float, Fraction or mpf as a value of this precision."""
        if isinstance(x, Fraction):
            return self.context.mpf(x.numerator) / self.context.mpf(x.denominator)
        return self.context.mpf(x)

    def finite(self, x: Mpf) -> bool:
        """Return whether x is neither infinite nor NaN."""
        return bool(self.context.isfinite(x))

    def is_nan(self, x: Mpf) -> bool:
        """Return whether x is NaN."""
        return bool(x != x)

    def divide(self, a: Mpf, b: Mpf) -> Mpf:
        """Return a / b; a zero divisor gives ±∞ or NaN."""
        if b == 0:
            if a == 0 or a != a:
                return self.nan
            return self.inf if a > 0 else -self.inf
        return a / b

    def power(self, a: Mpf, b: Mpf) -> Mpf:
        """Return a ** b over the reals, NaN where that is complex."""
        if b == 0:
            return self.one
        if a != a or b != b:
            return self.nan
        if a == 0:
            if b > 0:
                return self.zero
            return self.inf
        whole = self.context.isint(b)
        if a < 0 and not whole:
            return self.nan
        if not self.finite(a) or not self.finite(b):
            return self.context.mpf(self._limit_power(a, b))
        return a ** (int(b) if whole else b)

    def _limit_power(self, a: Mpf, b: Mpf) -> Mpf:
        size = abs(a)
        if not self.finite(b):
            if size == 1:
                return self.one
            grows = (size > 1) == (b > 0)
            return self.inf if grows else self.zero
        result = self.inf if b > 0 else self.zero
        odd = self.context.isint(b) and int(b) % 2 == 1
        return -result if a < 0 and odd else result

    def call(self, name: str, *args: Mpf) -> Mpf:
        """Return the function `name` of `FUNCTIONS` at args, NaN outside its domain."""
        if any(a != a for a in args):
            return self.nan
        first = args[0]
        if len(args) == 1 and not self.finite(first):
            below, above = AT_INFINITY.get(name, ("nan", "nan"))
            return self.context.mpf(above if first > 0 else below)
        if name == "exp" and abs(first) > HUGE:
            return self.inf if first > 0 else self.zero
        if name == "log" and first <= 0:
            return -self.inf if first == 0 else self.nan
        try:
            result = FUNCTIONS[name](self.context, *args)
        except (ValueError, ZeroDivisionError, OverflowError):
            return self._pole(name, *args)
        if isinstance(result, self.context.mpc):
            return result.real if result.imag == 0 else self.nan
        return self.context.mpf(result)

    def _pole(self, name: str, *args: Mpf) -> Mpf:
        if name in ("loggamma", "besselk", "expint1", "ellipk", "gamma"):
            return self.inf
        if name in ("bessely", "Ei", "Ci", "Chi"):
            return -self.inf
        if name == "atanh" and abs(args[0]) == 1:
            return self.inf * args[0]
        return self.nan
