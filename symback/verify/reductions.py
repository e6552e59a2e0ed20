"""Our versions of NumPy's means, variances, quantiles and other reductions."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from . import functions as fn
from .arrays import (
    OVERRIDES,
    as_array,
    elementwise,
    finish,
    implements,
    plain,
)
from .elements import SymbolicValueError
from .functions import element, home
from .numpy_functions import filled, into
from .numpy_functions import where as choose
from .ufuncs import apply_ufunc

__all__ = ["summed"]

# ---------------------------------------------------------------- reductions


def summed(x: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    options = {"axis": axis, "keepdims": keepdims}
    if where is not True:
        options |= {"where": where, "initial": 0}
    return apply_ufunc(home(), np.add, "reduce", (as_array(x, home()),), options)


def _count(x: Any, axis: Any, where: Any = True) -> Any:
    ones = np.broadcast_to(plain(where), np.shape(x)).astype(int)
    axes = tuple(axis) if isinstance(axis, list) else axis
    return ones.sum(axis=axes, keepdims=True)


def _shaped(x: Any, keepdims: bool, axis: Any) -> Any:
    if keepdims:
        return x
    x = plain(x)
    return finish(x.reshape(()) if axis is None else x.squeeze(axis=axis))[()]


@implements(np.mean)
def mean(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    total = summed(x, axis, True, where) / _count(x, axis, where)
    return into(out, _shaped(total, keepdims is True, axis))


@implements(np.var)
def var(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    x = as_array(x, home())
    count = _count(x, axis, where)
    middle = summed(x, axis, True, where) / count if mean is None else mean
    off = x - middle
    ddof = ddof if correction is None else correction
    total = summed(fn_abs_square(off), axis, True, where) / (count - ddof)
    return into(out, _shaped(total, keepdims is True, axis))


def fn_abs_square(x: Any) -> Any:
    """Return |x|² of real or complex entries."""
    return np.real(x * np.conjugate(x))


@implements(np.std)
def std(x: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    return into(out, finish(elementwise(fn.sqrt, var(x, *args, **kwargs))))


@implements(np.average)
def average(
    x: Any, axis: Any = None, weights: Any = None, keepdims: bool = False, **o: Any
) -> Any:
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    x, weights = as_array(x, home()), as_array(weights, home())
    if weights.shape != x.shape:
        shape = [1] * x.ndim
        shape[axis] = len(weights)
        weights = weights.reshape(shape)
    top = summed(x * weights, axis, True)
    bottom = summed(weights * np.ones(x.shape), axis, True)
    return _shaped(top / bottom, keepdims, axis)


@implements(np.ptp)
def ptp(x: Any, axis: Any = None, **options: Any) -> Any:
    return np.max(x, axis=axis, **options) - np.min(x, axis=axis, **options)


@implements(np.median)
def median(x: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    return quantile(x, 0.5, axis, keepdims=keepdims)


@implements(np.percentile)
def percentile(x: Any, q: Any, *args: Any, **kwargs: Any) -> Any:
    fraction = plain(q) / 100 if np.ndim(q) else plain(q)[()] / 100
    return quantile(x, fraction, *args, **kwargs)


@implements(np.quantile)
def quantile(
    x: Any, q: Any, axis: Any = None, keepdims: bool = False, method: str = "linear"
) -> Any:
    if method != "linear":
        raise SymbolicValueError(f"np.quantile(method={method!r}) has no symbolic form")
    x = as_array(x, home())
    rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    ordered = np.sort(rows, axis=0)

    def one(p: Any) -> Any:
        if not 0 <= p <= 1:
            raise ValueError("quantiles must lie between 0 and 1")
        place = p * (len(ordered) - 1)
        low = min(int(place), len(ordered) - 1)
        high = min(low + 1, len(ordered) - 1)
        part = place - low
        if part == 0:
            return ordered[low]
        return ordered[low] + part * (ordered[high] - ordered[low])

    if np.ndim(q):
        return np.stack([as_array(one(p), home()) for p in plain(q)])
    result = one(plain(q)[()])
    if keepdims:
        shape = [1] * x.ndim if axis is None else list(x.shape)
        if axis is not None:
            shape[axis] = 1
        return as_array(result, home()).reshape(shape)
    return result


def _without_nan(neutral: Any, function: Any) -> Callable[..., Any]:
    def reduction(x: Any, *args: Any, **kwargs: Any) -> Any:
        x = as_array(x, home())
        return function(choose(np.isnan(x), neutral, x), *args, **kwargs)

    return reduction


OVERRIDES[np.nansum] = _without_nan(0.0, np.sum)
OVERRIDES[np.nanprod] = _without_nan(1.0, np.prod)
OVERRIDES[np.nanmax] = _without_nan(-np.inf, np.max)
OVERRIDES[np.nanmin] = _without_nan(np.inf, np.min)
OVERRIDES[np.nancumsum] = _without_nan(0.0, np.cumsum)


@implements(np.nanmean)
def nanmean(x: Any, axis: Any = None, **options: Any) -> Any:
    return mean(x, axis, where=~np.isnan(x), **options)


@implements(np.nanvar)
def nanvar(x: Any, axis: Any = None, **options: Any) -> Any:
    return var(x, axis, where=~np.isnan(x), **options)


@implements(np.nanstd)
def nanstd(x: Any, axis: Any = None, **options: Any) -> Any:
    return np.sqrt(nanvar(x, axis, **options))


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    **options: Any,
) -> Any:
    x = as_array(m, home())
    x = x.reshape(1, -1) if x.ndim < 2 else x
    x = x if rowvar or len(x) == 1 else x.T
    if y is not None:
        other = as_array(y, home())
        other = other.reshape(1, -1) if other.ndim < 2 else other
        x = np.concatenate([x, other if rowvar or len(other) == 1 else other.T])
    off = x - mean(x, axis=1, keepdims=True)
    free = (0 if bias else 1) if ddof is None else ddof
    return np.squeeze(off @ off.T / (x.shape[1] - free))[()]


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    c = cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return c / c
    deviation = np.sqrt(np.diag(c))
    return c / deviation[:, None] / deviation[None, :]


@implements(np.bincount)
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is None:
        return np.bincount(plain(x), minlength=minlength)
    places = plain(x)
    total = filled(builtins.max(minlength, int(places.max()) + 1), element(0))
    np.add.at(total, places, as_array(weights, home()))
    return total
