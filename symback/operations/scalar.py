"""Python's own numbers: the module `math` and the built-in functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import runtime
from ..operation import EVERY, may_view
from .arithmetic import abs_slope, divmod_x, divmod_y, power_base, power_exponent
from .comparison import HALF
from .helpers import is_sequence
from .registry import elementwise, pullback, select, zero

Array = Any


def log_argument(x: Any, base: Any) -> Any:
    """Return the slope of ``math.log(x, base)`` in x."""
    if base is None:
        return 1 / x
    return 1 / (x * math.log(base))


def sum_items(out_bar: Array, iterable: Any) -> Any:
    """Pass the cotangent to every item that was added."""
    if is_sequence(iterable):
        return [runtime.unbroadcast(out_bar, x) for x in iterable]
    return np.broadcast_to(out_bar, np.shape(iterable))


def hypot_of(out_bar: Any, out: Any, coordinates: Any) -> Any:
    """Return each coordinate over the length, times the cotangent; 0 at the origin."""
    scale = out_bar / (out + (out == 0))
    return [x * scale for x in coordinates]


def pow_base(base: Array, exp: Array, out: Array) -> Array:
    """Return ∂pow(base, exp)/∂base."""
    return power_base(base, exp, out)


def pow_exponent(base: Array, exp: Array, out: Array) -> Array:
    """Return ∂pow(base, exp)/∂exp."""
    return power_exponent(base, exp, out)


elementwise("math.exp(x)", "out", singular=True)
elementwise("math.exp2(x)", "math.log(2) * out", singular=True)
elementwise("math.expm1(x)", "out + 1", singular=True)
elementwise(
    "math.log(x, base=None)",
    log_argument,
    "-out / (base * math.log(base))",
    singular=True,
    domain="x > 0",
)
elementwise("math.log2(x)", "1 / (math.log(2) * x)", singular=True, domain="x > 0")
elementwise("math.log10(x)", "1 / (math.log(10) * x)", singular=True, domain="x > 0")
elementwise("math.log1p(x)", "1 / (1 + x)", singular=True, domain="x > -1")
elementwise("math.sqrt(x)", "np.divide(0.5, out)", singular=True, domain="x > 0")
elementwise("math.cbrt(x)", "1 / (3 * out**2)", singular=True, domain="x != 0")
elementwise(
    "math.pow(x, y)",
    power_base,
    power_exponent,
    singular=True,
    domain="x > 0 or y integer",
)
elementwise("math.sin(x)", "math.cos(x)")
elementwise("math.cos(x)", "-math.sin(x)")
elementwise("math.tan(x)", "1 + out**2", singular=True)
elementwise(
    "math.asin(x)",
    "1 / np.sqrt((1 - x) * (1 + x))",
    singular=True,
    domain="abs(x) < 1",
)
elementwise(
    "math.acos(x)",
    "-1 / np.sqrt((1 - x) * (1 + x))",
    singular=True,
    domain="abs(x) < 1",
)
elementwise("math.atan(x)", "1 / (1 + x**2)")
elementwise(
    "math.atan2(y, x)",
    "x / (x**2 + y**2)",
    "-y / (x**2 + y**2)",
    singular=True,
    domain="x != 0 or y != 0",
)
elementwise("math.sinh(x)", "math.cosh(x)", singular=True)
elementwise("math.cosh(x)", "math.sinh(x)", singular=True)
elementwise("math.tanh(x)", "1 - out**2")
elementwise("math.asinh(x)", "1 / math.hypot(x, 1)")
elementwise(
    "math.acosh(x)", "1 / np.sqrt((x - 1) * (x + 1))", singular=True, domain="x > 1"
)
elementwise("math.atanh(x)", "1 / (1 - x**2)", singular=True, domain="abs(x) < 1")
elementwise("math.erf(x)", "2 / math.sqrt(math.pi) * math.exp(-(x**2))")
elementwise("math.erfc(x)", "-2 / math.sqrt(math.pi) * math.exp(-(x**2))")
elementwise("math.lgamma(x)", "scipy.special.digamma(x)", singular=True)
elementwise("math.gamma(x)", "out * scipy.special.digamma(x)", singular=True)
elementwise("math.degrees(x)", "180 / math.pi")
elementwise("math.radians(x)", "math.pi / 180")
elementwise("math.fabs(x)", "np.sign(x)", kink="x == 0: 0")
elementwise("math.copysign(x, y)", "np.sign(x) * np.sign(out)", "0.0", kink="x == 0: 0")
elementwise("math.fmod(x, y)", "1", "-math.trunc(x / y)", singular=True)
elementwise("math.remainder(x, y)", "1", "-round((x - out) / y)", singular=True)
elementwise("math.fma(x, y, z)", "y", "x", "1")
elementwise("math.ldexp(x, i)", "2.0**i")
pullback("math.hypot(*coordinates)", hypot_of, kink="all are 0: 0")
zero(
    "math.floor(x)",
    "math.ceil(x)",
    "math.trunc(x)",
    "math.isnan(x)",
    "math.isinf(x)",
    "math.isfinite(x)",
    "math.isclose(a, b, rel_tol=1e-09, abs_tol=0.0)",
    "math.comb(n, k)",
    "math.factorial(x)",
    "math.gcd(*integers)",
    "math.isqrt(n)",
)

elementwise("float(x)", "1")
elementwise("complex(real, imag=0)", "1", "1j")
elementwise("abs(x)", abs_slope, kink="x == 0: 0")
elementwise(
    "pow(base, exp)",
    pow_base,
    pow_exponent,
    singular=True,
)
select("max(x, y)", "x > y", "y > x", tie=HALF, kink="x == y", alias=may_view(*EVERY))
select(
    "min(x, y)",
    *("x < y", "y < x"),
    tie=(HALF[1], HALF[0]),
    kink="x == y",
    alias=may_view(*EVERY),
)
pullback(
    "sum(iterable, start=0)",
    *(sum_items, "runtime.unbroadcast(out_bar, start)"),
    alias=may_view(1),  # where there is nothing to add
)
pullback("divmod(x, y) -> q, r", divmod_x, divmod_y)
zero(
    "int(x)",
    "bool(x)",
    "round(number, ndigits=None)",
    "len(x)",
    "range(start, stop=None, step=1)",
    "isinstance(x, cls)",
    "str(x)",
    "repr(x)",
    "hash(x)",
    "id(x)",
    "any(iterable)",
    "all(iterable)",
    "type(x)",
)
zero("print(*objects)")
