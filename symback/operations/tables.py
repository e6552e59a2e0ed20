"""Tables and sampled functions: integrals, slopes, interpolation, convolution."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..operation import may_view
from .helpers import (
    conjugated,
    from_last,
    is_complex,
    safe,
    to_last,
)
from .indexing import undiff
from .registry import pullback

Array = Any


def trapezoid_y(out_bar: Array, y: Array, x: Any, dx: Any, axis: Any) -> Array:
    """Give each value half of the widths on its two sides."""
    moved = to_last(y, axis)
    width = dx if x is None else widths(y, x, axis)
    area = 0.5 * np.expand_dims(out_bar, -1) * width * np.ones_like(moved[..., 1:])
    edge = np.zeros_like(moved[..., :1])
    total = np.concatenate([area, edge], -1) + np.concatenate([edge, area], -1)
    return from_last(total, axis)


def widths(y: Array, x: Array, axis: Any) -> Array:
    """Return the widths between the abscissas, along the last axis."""
    if np.ndim(x) == 1:
        return np.diff(x)
    return np.diff(to_last(np.broadcast_to(x, np.shape(y)), axis))


def trapezoid_x(out_bar: Array, y: Array, x: Array, axis: Any) -> Array:
    """Give each abscissa the mean heights to its left, less those to its right."""
    moved = to_last(y, axis)
    height = 0.5 * (moved[..., 1:] + moved[..., :-1]) * np.expand_dims(out_bar, -1)
    if np.ndim(x) == 1:
        return runtime.unbroadcast(undiff(height, -1), x)
    return runtime.unbroadcast(from_last(undiff(height, -1), axis), x)


def trapezoid_dx(out_bar: Array, out: Array, x: Any, dx: Any) -> Array:
    """Divide the area by the step."""
    if x is not None:
        return np.zeros_like(dx)
    return runtime.unbroadcast(out_bar * out / dx, dx)


def gradient_of(out_bar: Array, f: Array, varargs: Any, axis: Any) -> Array:
    """Return the cotangent of differences between neighbours."""
    if isinstance(axis, int):
        step = varargs[0] if len(varargs) > 0 else 1.0
        return ungradient(out_bar, step, axis)
    if np.ndim(f) == 1:
        step = varargs[0] if len(varargs) > 0 else 1.0
        return ungradient(out_bar, step, 0)
    total = 0.0
    for k in range(np.ndim(f) if axis is None else len(axis)):
        step = 1.0
        if len(varargs) > 0:
            step = varargs[k] if len(varargs) > 1 else varargs[0]
        total = total + ungradient(out_bar[k], step, k if axis is None else axis[k])
    return total


def ungradient(out_bar: Array, step: Any, axis: Any) -> Array:
    """Return the cotangent of ``np.gradient`` along one axis.

    An inner slope is a f[i - 1] + b f[i] + c f[i + 1], an outer one a quotient.
    """
    g = to_last(out_bar, axis)
    inner = g[..., 1:-1]
    none = np.zeros_like(g[..., :1])
    if np.ndim(step) == 0:
        left, middle, right = -0.5 * inner / step, 0.0 * inner, 0.5 * inner / step
        first, last = g[..., :1] / step, g[..., -1:] / step
    else:
        width = np.diff(step)
        back, ahead = width[:-1], width[1:]
        left = -inner * ahead / (back * (back + ahead))
        middle = inner * (ahead - back) / (back * ahead)
        right = inner * back / (ahead * (back + ahead))
        first, last = g[..., :1] / width[:1], g[..., -1:] / width[-1:]
    rest = np.zeros_like(inner)
    total = np.concatenate([left, none, none], -1)
    total = total + np.concatenate([none, middle, none], -1)
    total = total + np.concatenate([none, none, right], -1)
    total = total + np.concatenate([-first, first, rest], -1)
    return from_last(total + np.concatenate([rest, -last, last], -1), axis)


def interp_cell(x: Array, xp: Array) -> Array:
    """Return the number of the interval in which each x lies."""
    last = np.maximum(len(xp) - 2, 0)
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, last)


def interp_next(k: Array, xp: Array) -> Array:
    """Return the right end of an interval; a table of one entry has none."""
    return np.minimum(k + 1, len(xp) - 1)


def interp_slope(x: Array, xp: Array, fp: Array) -> Array:
    """Return the slope of the piece at x; 0 outside the table."""
    k = interp_cell(x, xp)
    end = interp_next(k, xp)
    slope = (fp[end] - fp[k]) / safe(xp[end] - xp[k])
    return np.where((x >= xp[0]) & (x <= xp[-1]), slope, 0.0)


def interp_x(out_bar: Array, x: Array, xp: Array, fp: Array) -> Array:
    """Multiply by the slope of the piece."""
    return out_bar * interp_slope(x, xp, fp)


def interp_fp(out_bar: Array, x: Array, xp: Array, fp: Array) -> Array:
    """Share between the two ends of the piece; outside, all to the nearest end."""
    k = interp_cell(x, xp)
    end = interp_next(k, xp)
    weight = np.clip((x - xp[k]) / safe(xp[end] - xp[k]), 0.0, 1.0)
    lower = runtime.gather_pullback(out_bar * (1 - weight), k, fp)
    return lower + runtime.gather_pullback(out_bar * weight, end, fp)


def interp_xp(out_bar: Array, x: Array, xp: Array, fp: Array) -> Array:
    """Move the ends of the piece: minus the slope, shared as the values are."""
    g = -out_bar * interp_slope(x, xp, fp)
    return interp_fp(g, x, xp, xp)


def convolve_a(out_bar: Array, a: Array, v: Array, mode: Any) -> Array:
    """Correlate the cotangent with the other factor."""
    g = convolve_full(out_bar, a, v, mode)
    return np.correlate(g, conjugated(v), mode="valid")


def convolve_v(out_bar: Array, a: Array, v: Array, mode: Any) -> Array:
    """Correlate the cotangent with the other factor."""
    g = convolve_full(out_bar, a, v, mode)
    return np.correlate(g, conjugated(a), mode="valid")


def convolve_full(out_bar: Array, a: Array, v: Array, mode: Any) -> Array:
    """Return the cotangent of the full convolution: zeros where `mode` cut it."""
    if mode == "full":
        return out_bar
    total = len(a) + len(v) - 1
    start = (total - len(out_bar)) // 2
    return np.pad(out_bar, (start, total - len(out_bar) - start))


def correlate_a(out_bar: Array, a: Array, v: Array, mode: Any) -> Array:
    """Convolve the cotangent with the other factor, as a correlation is reversed."""
    return convolve_a(out_bar, a, np.flip(conjugated(v)), mode)


def correlate_v(out_bar: Array, a: Array, v: Array, mode: Any) -> Array:
    """Correlate the cotangent with the other factor, reversed."""
    v_bar = np.flip(convolve_v(out_bar, a, np.flip(conjugated(v)), mode))
    return conjugated(v_bar) if is_complex(v) else v_bar


def bincount_weights(out_bar: Array, x: Any, weights: Array) -> Array:
    """Read the cotangent where each weight was added."""
    return runtime.unbroadcast(np.take(out_bar, x), weights)


def histogram_weights(hist_bar: Array, edges: Array, a: Array) -> Array:
    """Read the cotangent of the bin in which each entry fell; 0 outside the bins."""
    if hist_bar is None:
        return np.zeros_like(a)
    bins = len(edges) - 1
    place: Array = np.searchsorted(edges, a, side="right") - 1
    # The last bin holds its right edge too.
    place = np.where(a == edges[bins], bins - 1, place)
    inside = (place >= 0) & (place < bins)
    return np.where(inside, np.take(hist_bar, np.clip(place, 0, bins - 1)), 0.0)


for name in ("np.trapezoid", "np.trapz"):
    pullback(
        f"{name}(y, x=None, dx=1.0, axis=-1)", trapezoid_y, trapezoid_x, trapezoid_dx
    )
pullback("np.gradient(f, *varargs, axis=None)", gradient_of)
pullback("np.interp(x, xp, fp)", interp_x, interp_xp, interp_fp)
pullback("np.convolve(a, v, mode='full')", convolve_a, convolve_v)
pullback("np.correlate(a, v, mode='valid')", correlate_a, correlate_v)
pullback("np.bincount(x, weights=None, minlength=0)", None, bincount_weights)
pullback(
    "np.histogram(a, bins=10, range=None, density_=None, weights=None) -> hist, edges",
    *(None, None, None, None, histogram_weights),
    alias=may_view(1),  # the edges, where they are given
)
