"""Arrays made from sizes and fill values, and from other arrays' shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..operation import EVERY, may_view
from .helpers import known_rank
from .registry import pullback, zero

Array = Any


def linspace_start(
    out_bar: Array, start: Array, stop: Array, num: Any, endpoint: Any, axis: Any
) -> Array:
    """Weight the cotangent by the nearness to the start."""
    weights = ramp(1.0, 0.0, start, stop, num, endpoint, axis)
    return runtime.unbroadcast(np.sum(out_bar * weights, axis=axis), start)


def linspace_stop(
    out_bar: Array, start: Array, stop: Array, num: Any, endpoint: Any, axis: Any
) -> Array:
    """Weight the cotangent by the nearness to the stop."""
    weights = ramp(0.0, 1.0, start, stop, num, endpoint, axis)
    return runtime.unbroadcast(np.sum(out_bar * weights, axis=axis), stop)


def ramp(
    a: float, b: float, start: Array, stop: Array, num: Any, endpoint: Any, axis: Any
) -> Array:
    """Return weights from a to b, shaped as what ``np.linspace(start, stop)`` gives."""
    if known_rank(start, stop) and np.ndim(start) == 0 and np.ndim(stop) == 0:
        return np.linspace(a, b, num, endpoint=endpoint)
    first, last = a * np.ones_like(start), b * np.ones_like(stop)
    return np.linspace(first, last, num, endpoint, axis=axis)


def logspace_bar(out_bar: Array, out: Array, base: Any) -> Array:
    """Return the cotangent of the exponents."""
    return out_bar * out * np.log(base)


def logspace_start(
    out_bar: Array,
    out: Array,
    start: Array,
    stop: Array,
    num: Any,
    endpoint: Any,
    base: Any,
    axis: Any,
) -> Array:
    """Go through the exponents, which are evenly spaced."""
    g = logspace_bar(out_bar, out, base)
    return linspace_start(g, start, stop, num, endpoint, axis)


def logspace_stop(
    out_bar: Array,
    out: Array,
    start: Array,
    stop: Array,
    num: Any,
    endpoint: Any,
    base: Any,
    axis: Any,
) -> Array:
    """Go through the exponents, which are evenly spaced."""
    g = logspace_bar(out_bar, out, base)
    return linspace_stop(g, start, stop, num, endpoint, axis)


def geomspace_start(
    out_bar: Array,
    out: Array,
    start: Array,
    stop: Array,
    num: Any,
    endpoint: Any,
    axis: Any,
) -> Array:
    """Go through the logarithms, which are evenly spaced."""
    return linspace_start(out_bar * out, start, stop, num, endpoint, axis) / start


def geomspace_stop(
    out_bar: Array,
    out: Array,
    start: Array,
    stop: Array,
    num: Any,
    endpoint: Any,
    axis: Any,
) -> Array:
    """Go through the logarithms, which are evenly spaced."""
    return linspace_stop(out_bar * out, start, stop, num, endpoint, axis) / stop


def arange_start(out_bar: Array, start: Any, stop: Any) -> Array:
    """Sum the cotangent: every entry moves with the start, if there is one."""
    if stop is None:
        return 0.0
    return np.sum(out_bar)


pullback(
    "np.full(shape, fill_value, dtype=None)",
    None,
    "runtime.unbroadcast(out_bar, fill_value)",
)
pullback(
    "np.full_like(a, fill_value, dtype=None)",
    "np.zeros_like(a)",
    "runtime.unbroadcast(out_bar, fill_value)",
)
pullback(
    "np.linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None,"
    " axis=0)",
    linspace_start,
    linspace_stop,
    only=(("retstep", (False,)),),
)
pullback(
    "np.logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0)",
    logspace_start,
    logspace_stop,
)
pullback(
    "np.geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0)",
    geomspace_start,
    geomspace_stop,
)
pullback(
    "np.arange(start, stop=None, step=1, dtype=None)",
    arange_start,
    "0.0",
    "np.sum(out_bar * np.arange(len(out_bar)))",
)
zero(
    "np.zeros(shape, dtype=None)",
    "np.ones(shape, dtype=None)",
    "np.empty(shape, dtype=None)",
    "np.eye(N, M=None, k=0, dtype=None)",
    "np.identity(n, dtype=None)",
    "np.tri(N, M=None, k=0, dtype=None)",
    "np.zeros_like(a, dtype=None)",
    "np.ones_like(a, dtype=None)",
    "np.empty_like(prototype, dtype=None)",
    "np.indices(dimensions)",
    "np.tril_indices(n, k=0, m=None)",
    "np.triu_indices(n, k=0, m=None)",
    "np.tril_indices_from(arr, k=0)",
    "np.triu_indices_from(arr, k=0)",
    "np.diag_indices(n, ndim=2)",
    "np.unravel_index(indices, shape, order='C')",
    "np.ravel_multi_index(multi_index, dims, mode='raise', order='C')",
)
zero("np.ix_(*args)", alias=may_view(*EVERY))
