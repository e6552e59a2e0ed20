"""Circular and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .registry import elementwise

Array = Any


def sinc_slope(x: Array, out: Array) -> Array:
    """Return the slope of sin(pi x) / (pi x), by its series where |x| is small.

    The difference cos(pi x) - sinc(x) cancels to the size of x**2.  The series to x**7,
    whose next term is under 1e-14 of the first for |x| < 0.03, replaces it there.
    """
    small = np.abs(x) < 0.03
    safe = np.where(small, 1.0, x)
    t = (np.pi * x) ** 2
    series = -(np.pi**2) / 3 * x * (1 - t / 10 * (1 - t / 28 * (1 - t / 54)))
    return np.where(small, series, (np.cos(np.pi * x) - out) / safe)


elementwise("np.sin(x)", "np.cos(x)")
elementwise("np.cos(x)", "-np.sin(x)")
elementwise("np.tan(x)", "1 + out**2", singular=True)
for name in ("np.arcsin", "np.asin"):
    elementwise(
        f"{name}(x)",
        "1 / np.sqrt((1 - x) * (1 + x))",
        singular=True,
        domain="abs(x) < 1",
    )
for name in ("np.arccos", "np.acos"):
    elementwise(
        f"{name}(x)",
        "-1 / np.sqrt((1 - x) * (1 + x))",
        singular=True,
        domain="abs(x) < 1",
    )
for name in ("np.arctan", "np.atan"):
    elementwise(f"{name}(x)", "1 / (1 + x**2)")
for name in ("np.arctan2", "np.atan2"):
    elementwise(
        f"{name}(y, x)",
        "x / (x**2 + y**2)",
        "-y / (x**2 + y**2)",
        singular=True,
        domain="x != 0 or y != 0",
    )
elementwise("np.sinh(x)", "np.cosh(x)", singular=True)
elementwise("np.cosh(x)", "np.sinh(x)", singular=True)
elementwise("np.tanh(x)", "1 - out**2")
for name in ("np.arcsinh", "np.asinh"):
    elementwise(f"{name}(x)", "1 / np.sqrt(x**2 + 1)")
for name in ("np.arccosh", "np.acosh"):
    elementwise(f"{name}(x)", "1 / np.sqrt(x**2 - 1)", singular=True, domain="x > 1")
for name in ("np.arctanh", "np.atanh"):
    elementwise(f"{name}(x)", "1 / (1 - x**2)", singular=True, domain="abs(x) < 1")
elementwise("np.sinc(x)", sinc_slope)
for name in ("np.deg2rad", "np.radians"):
    elementwise(f"{name}(x)", "math.pi / 180")
for name in ("np.rad2deg", "np.degrees"):
    elementwise(f"{name}(x)", "180 / math.pi")
