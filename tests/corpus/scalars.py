"""Python floats and the math module."""

from __future__ import annotations

import math
from math import exp, log, sqrt

import numpy as np

from tests.corpus import case


@case(
    0.5,
    0.0,
    3.0,
    -1.0,
    2.0,
    1.0,
    wrt=("w", "b", "v", "c"),
    kinds="scalar",
    note="at the point z = 1, away from the kink",
)
def tiny_network(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return 0.5 * (s - y) ** 2


@case(100.0, 95.0, 0.75, 0.02, 0.25, wrt="all", kinds="scalar math")
def black_scholes(S, K, tau, r, sigma):
    v = sigma * sqrt(tau)
    d1 = (log(S / K) + (r + 0.5 * sigma**2) * tau) / v
    cdf1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
    cdf2 = 0.5 * (1.0 + math.erf((d1 - v) / math.sqrt(2.0)))
    return S * cdf1 - K * exp(-r * tau) * cdf2


@case(0.8, -0.3, wrt=("x", "y"), kinds="scalar math")
def trigonometry(x, y):
    return (
        math.sin(x) * math.cos(y) + math.atan2(y, x) + math.hypot(x, y) + math.tanh(y)
    )


@case(1.7, kinds="scalar math")
def math_functions(x):
    return (
        math.log1p(x)
        + math.expm1(0.1 * x)
        + math.log(x, 2)
        + math.pow(x, 1.5)
        + math.fabs(-x)
        + math.log10(x)
    )


@case(52.5, 13.4, 48.9, 2.35, wrt="all", kinds="scalar math")
def haversine(lat1, lon1, lat2, lon2):
    p1, p2 = math.radians(lat1), math.radians(lat2)
    dlat = p2 - p1
    dlon = math.radians(lon2 - lon1)
    a = math.sin(dlat / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(dlon / 2) ** 2
    return 2 * math.asin(math.sqrt(a))


@case(0.3, 0.7, 1.9, wrt=("a", "b", "c"), kinds="scalar")
def arithmetic(a, b, c):
    return -a / b + +(c**2) - (a - b) * c + a**3 / (b * c) - 2 / a


@case(1.5, kinds="scalar")
def used_many_times(x):
    y = x * x
    z = y * x + y
    return z * y + x / z


@case(2, kinds="scalar int_parameter")
def integer_parameter(x):
    return x * x + np.tanh(x)


@case(np.float64(0.6), kinds="scalar numpy_scalar")
def numpy_scalar_parameter(x):
    return math.exp(-x) * x**2


@case(0.7, 1.5, wrt=("x", "unused"), kinds="scalar")
def unused_parameter(x, unused):
    return math.cosh(x)


@case(0.4, 1.1, wrt=("x", "k"), kinds="scalar math while")
def series_until_small(x, k):
    term, total, n = 1.0, 1.0, 0
    while math.fabs(term) > 1e-14:
        n += 1
        term *= -x * k / n
        total += term
    return total
