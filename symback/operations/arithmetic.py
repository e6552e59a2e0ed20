"""Sums, products, quotients, powers and roots."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..operation import may_view, view
from .helpers import is_complex, is_constant, safe
from .registry import elementwise, pullback, select, zero

Array = Any


def power_base(x: Array, y: Array, out: Array) -> Array:
    """Return ∂(x**y)/∂x; finite at x = 0 wherever y >= 1 or y == 0."""
    if not is_constant(y):
        # The constant x**0 has slope 0 at x = 0 too: there the exponent -1 becomes 0.
        return y * x ** (y - 1 + ((x == 0) & (y == 0)))
    if y == 0:
        return 0.0
    if y == 1:
        return 1.0
    if y == 2:
        return 2 * x
    if y == 0.5:
        return 0.5 / out
    if y == -1:
        return -out / x
    if y < 0:
        return y * out / x
    return y * x ** (y - 1)


def power_exponent(x: Array, y: Array, out: Array) -> Array:
    """Return ∂(x**y)/∂y; 0 at x = 0."""
    if is_constant(x) and x != 0:
        return out * np.log(x)
    return out * np.log(np.where(x == 0, 1.0, x))


def divmod_x(r_bar: Array, x: Array) -> Array:
    """Pass the remainder's cotangent on; the quotient is a step."""
    return np.zeros_like(x) if r_bar is None else runtime.unbroadcast(r_bar, x)


def divmod_y(r_bar: Array, q: Array, y: Array) -> Array:
    """Multiply the remainder's cotangent by minus the quotient."""
    return np.zeros_like(y) if r_bar is None else runtime.unbroadcast(-q * r_bar, y)


def modf_of(fractional_bar: Array, x: Array) -> Array:
    """Pass the fractional part's cotangent on; the integral part is a step."""
    return np.zeros_like(x) if fractional_bar is None else fractional_bar


def frexp_of(mantissa_bar: Array, exponent: Any, x: Array) -> Array:
    """Divide the mantissa's cotangent by the power of 2; the exponent is a step."""
    if mantissa_bar is None:
        return np.zeros_like(x)
    return np.ldexp(mantissa_bar, -exponent)


def abs_slope(x: Array, out: Array) -> Array:
    """Return ∂|x|/∂x; 0 at 0."""
    if is_complex(x):
        return np.conj(x) / safe(out)
    return np.sign(x)


def abs_from_left(x: Array, out: Array) -> Array:
    """Return ∂|x|/∂x; at 0 the limit from the left."""
    if is_complex(x):
        return np.conj(x) / safe(out)
    return np.sign(x) - (x == 0)


def abs_from_right(x: Array, out: Array) -> Array:
    """Return ∂|x|/∂x; at 0 the limit from the right."""
    if is_complex(x):
        return np.conj(x) / safe(out)
    return np.sign(x) + (x == 0)


def angle_slope(x: Array, deg: Any) -> Array:
    """Return the slope of the phase of a complex number."""
    if deg:
        return -180j / (np.pi * x)
    return -1j / x


elementwise("x + y", "1", "1")
elementwise("x - y", "1", "-1")
elementwise("x * y", "y", "x")
elementwise("x / y", "1 / y", "-out / y", singular=True, domain="y != 0")
elementwise(
    "x ** y", power_base, power_exponent, singular=True, domain="x > 0 or y integer"
)
elementwise("x % y", "1", "-(x // y)", singular=True, kink="x % y == 0: 1")
elementwise("-x", "-1")
elementwise("+x", "1")
zero("x // y")

elementwise("np.add(x, y)", "1", "1")
elementwise("np.subtract(x, y)", "1", "-1")
elementwise("np.multiply(x, y)", "y", "x")
elementwise("np.negative(x)", "-1")
elementwise("np.positive(x)", "1")
for name in ("np.divide", "np.true_divide"):
    elementwise(f"{name}(x, y)", "1 / y", "-out / y", singular=True, domain="y != 0")
for name in ("np.power", "np.pow", "np.float_power"):
    elementwise(
        f"{name}(x, y)",
        power_base,
        power_exponent,
        singular=True,
        domain="x > 0 or y integer",
    )
for name in ("np.mod", "np.remainder"):
    elementwise(
        f"{name}(x, y)",
        "1",
        "-np.floor_divide(x, y)",
        singular=True,
        kink="out == 0: 1",
    )
elementwise("np.fmod(x, y)", "1", "-np.trunc(x / y)", singular=True)
zero("np.floor_divide(x, y)")
pullback("np.divmod(x, y) -> q, r", divmod_x, divmod_y)

pullback("np.modf(x) -> fractional, integral", modf_of)
pullback("np.frexp(x) -> mantissa, exponent", frexp_of)

elementwise("np.reciprocal(x)", "-out**2", singular=True, domain="x != 0")
elementwise("np.square(x)", "2 * x")
elementwise("np.sqrt(x)", "0.5 / out", singular=True, domain="x > 0")
elementwise("np.cbrt(x)", "1 / (3 * out**2)", singular=True, domain="x != 0")
for name in ("np.abs", "np.absolute"):
    elementwise(f"{name}(x)", abs_slope, kink="x == 0: 0")
elementwise("np.fabs(x)", "np.sign(x)", kink="x == 0: 0")
elementwise(
    "np.hypot(x, y)",
    "x / (out + (out == 0))",
    "y / (out + (out == 0))",
    kink="x == 0 and y == 0: 0",
)
elementwise("np.copysign(x, y)", "np.sign(x) * np.sign(out)", "0.0", kink="x == 0: 0")
elementwise("np.ldexp(x, n)", "2.0**n")
select(
    "np.nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)", "np.isfinite(x)"
)
elementwise("np.real(x)", "1", alias=view(0))
elementwise("np.imag(x)", "-1j", alias=may_view(0, read_only=True))
for name in ("np.conj", "np.conjugate"):
    # The convention pairs cotangent and tangent without conjugation: dL = Re(x_bar dx).
    pullback(f"{name}(x)", "np.conj(out_bar)")
elementwise("np.angle(x, deg=False)", angle_slope, singular=True, domain="x != 0")
zero(
    "np.signbit(x)",
    "np.spacing(x)",
    "np.heaviside(x, y)",
)
