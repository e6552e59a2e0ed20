"""Exponentials and logarithms."""

from __future__ import annotations

from .registry import elementwise

elementwise("np.exp(x)", "out", singular=True)
elementwise("np.exp2(x)", "math.log(2) * out", singular=True)
elementwise("np.expm1(x)", "out + 1", singular=True)
elementwise("np.log(x)", "1 / x", singular=True, domain="x > 0")
elementwise("np.log2(x)", "1 / (math.log(2) * x)", singular=True, domain="x > 0")
elementwise("np.log10(x)", "1 / (math.log(10) * x)", singular=True, domain="x > 0")
elementwise("np.log1p(x)", "1 / (1 + x)", singular=True, domain="x > -1")
elementwise(
    "np.logaddexp(x, y)",
    "1 / (1 + np.exp(gap(y, x)))",
    "1 / (1 + np.exp(gap(x, y)))",
)
elementwise(
    "np.logaddexp2(x, y)",
    "1 / (1 + np.exp2(gap(y, x)))",
    "1 / (1 + np.exp2(gap(x, y)))",
)
