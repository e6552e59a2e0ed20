"""Covariances, correlations and polynomials of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .registry import pullback

Array = Any


def variables(m: Array, rowvar: Any) -> Array:
    """Return observations as a matrix with a row for each variable."""
    if np.ndim(m) == 2 and not rowvar:
        return m.T
    return np.atleast_2d(m)


def back(x_bar: Array, m: Array, rowvar: Any) -> Array:
    """Undo `variables`."""
    if np.ndim(m) == 2 and not rowvar:
        return x_bar.T
    return np.reshape(x_bar, np.shape(m))


def together(m: Array, y: Any, rowvar: Any) -> Array:
    """Return the variables of both arguments, centred."""
    rows = variables(m, rowvar)
    if y is not None:
        rows = np.concatenate([rows, variables(y, rowvar)], axis=0)
    return rows - np.mean(rows, axis=1, keepdims=True)


def cov_rows(
    out_bar: Array, m: Array, y: Any, rowvar: Any, bias: Any, ddof: Any
) -> Array:
    """Return (C' + C'ᵀ) d / (n - ddof), where d are the deviations."""
    away = together(m, y, rowvar)
    count = np.shape(away)[1]
    if ddof is not None:
        free = count - ddof
    else:
        free = count if bias else count - 1
    g = np.reshape(out_bar, (len(away), len(away)))
    return (g + g.T) @ away / free


def cov_m(out_bar: Array, m: Array, y: Any, rowvar: Any, bias: Any, ddof: Any) -> Array:
    """Return the rows of the first argument."""
    x_bar = cov_rows(out_bar, m, y, rowvar, bias, ddof)
    return back(x_bar[: len(variables(m, rowvar))], m, rowvar)


def cov_y(out_bar: Array, m: Array, y: Any, rowvar: Any, bias: Any, ddof: Any) -> Array:
    """Return the rows of the second argument."""
    x_bar = cov_rows(out_bar, m, y, rowvar, bias, ddof)
    return back(x_bar[len(variables(m, rowvar)) :], y, rowvar)


def corrcoef_rows(out_bar: Array, out: Array, x: Array, y: Any, rowvar: Any) -> Array:
    """Go through the covariances: R = C / sqrt(diag C diag Cᵀ)."""
    away = together(x, y, rowvar)
    size = len(away)
    g = np.reshape(out_bar, (size, size)) + np.reshape(out_bar, (size, size)).T
    spread = np.sqrt(np.sum(away**2, axis=1))
    unit = away / spread[:, None]
    pulled = g @ unit
    along = np.sum(g * np.reshape(out, (size, size)), axis=1)
    return (pulled - along[:, None] * unit) / spread[:, None]


def corrcoef_x(out_bar: Array, out: Array, x: Array, y: Any, rowvar: Any) -> Array:
    """Return the rows of the first argument."""
    x_bar = corrcoef_rows(out_bar, out, x, y, rowvar)
    return back(x_bar[: len(variables(x, rowvar))], x, rowvar)


def corrcoef_y(out_bar: Array, out: Array, x: Array, y: Any, rowvar: Any) -> Array:
    """Return the rows of the second argument."""
    x_bar = corrcoef_rows(out_bar, out, x, y, rowvar)
    return back(x_bar[len(variables(x, rowvar)) :], y, rowvar)


def polyval_p(out_bar: Array, p: Array, x: Array) -> Array:
    """Multiply by the powers of x, the highest first."""
    return np.ravel(out_bar) @ np.vander(np.ravel(x), len(p))


def polyval_x(out_bar: Array, p: Array, x: Array) -> Array:
    """Multiply by the derivative polynomial."""
    return out_bar * np.polyval(np.polyder(p), x)


def polyder_of(out_bar: Array, p: Array) -> Array:
    """Multiply by the exponents; the constant has none."""
    scaled = out_bar * np.arange(len(p) - 1, 0, -1, dtype=p.dtype)
    return np.concatenate([scaled, np.zeros_like(p[-1:])])


def vander_of(out_bar: Array, x: Array, increasing: Any) -> Array:
    """Multiply by k x**(k - 1) and add up."""
    size = np.shape(out_bar)[1]
    powers = np.arange(size) if increasing else np.arange(size - 1, -1, -1)
    lower = x[:, None] ** np.maximum(powers - 1, 0)
    return np.sum(out_bar * powers * lower, axis=1)


pullback("np.cov(m, y=None, rowvar=True, bias=False, ddof=None)", cov_m, cov_y)
pullback("np.corrcoef(x, y=None, rowvar=True)", corrcoef_x, corrcoef_y, singular=True)
pullback("np.polyval(p, x)", polyval_p, polyval_x)
pullback("np.polyder(p)", polyder_of)
pullback("np.vander(x, N=None, increasing=False)", vander_of)
