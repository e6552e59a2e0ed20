"""Discrete Fourier transforms: linear maps whose matrices are symmetric.

Cotangents pair without conjugation, so the pullback of a transform is the transform
itself, cut or filled up to the argument's length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .helpers import from_last, part, to_last
from .registry import pullback, zero

Array = Any


def fit(x_bar: Array, a: Array, n: Any, axis: Any) -> Array:
    """Cut a cotangent to the length of `a`; zeros for what a transform to n cut off."""
    if n is None:
        return x_bar
    kept = part(x_bar, axis, 0, np.shape(a)[axis])
    return np.concatenate([kept, np.zeros_like(part(a, axis, n, None))], axis=axis)


def fft_of(out_bar: Array, a: Array, n: Any, axis: Any, norm: Any) -> Array:
    """Transform the cotangent."""
    return fit(np.fft.fft(out_bar, axis=axis, norm=norm), a, n, axis)


def ifft_of(out_bar: Array, a: Array, n: Any, axis: Any, norm: Any) -> Array:
    """Transform the cotangent inversely."""
    return fit(np.fft.ifft(out_bar, axis=axis, norm=norm), a, n, axis)


def rfft_of(out_bar: Array, a: Array, n: Any, axis: Any, norm: Any) -> Array:
    """Transform the half that was kept, as if the other half were zero."""
    size = np.shape(a)[axis] if n is None else n
    full = np.fft.fft(out_bar, size, axis=axis, norm=norm)
    return fit(np.real(full), a, n, axis)


def irfft_of(out_bar: Array, a: Array, n: Any, axis: Any, norm: Any) -> Array:
    """Count the entries twice that stand for their mirror image too."""
    full = to_last(np.fft.ifft(out_bar, axis=axis, norm=norm), axis)
    size = np.shape(full)[-1]
    k = np.arange(size // 2 + 1)
    kept = full[..., : size // 2 + 1]
    half = from_last(np.where((k == 0) | (2 * k == size), kept, 2 * kept), axis)
    return half if n is None else fit(half, a, size // 2 + 1, axis)


def fftn_axes(a: Array, s: Any, axes: Any) -> Any:
    """Return the axes that an n-dimensional transform runs over."""
    if axes is not None:
        return tuple(axes)
    return tuple(range(-(np.ndim(a) if s is None else len(s)), 0))


def fit_all(x_bar: Array, a: Array, s: Any, axes: Any) -> Array:
    """Cut or fill up along every axis."""
    if s is None:
        return x_bar
    places = fftn_axes(a, s, axes)
    for k in range(len(s)):
        # Along the axes not yet cut the cotangent is as long as the result was.
        kept = part(x_bar, places[k], 0, np.shape(a)[places[k]])
        missing = part(a, places[k], s[k], None)
        for j in range(k + 1, len(s)):
            missing = np.take(missing, np.zeros(s[j], dtype=int), axis=places[j])
        x_bar = np.concatenate([kept, np.zeros_like(missing)], axis=places[k])
    return x_bar


def fftn_of(out_bar: Array, a: Array, s: Any, axes: Any, norm: Any) -> Array:
    """Transform the cotangent."""
    full = np.fft.fftn(out_bar, axes=fftn_axes(a, s, axes), norm=norm)
    return fit_all(full, a, s, axes)


def ifftn_of(out_bar: Array, a: Array, s: Any, axes: Any, norm: Any) -> Array:
    """Transform the cotangent inversely."""
    full = np.fft.ifftn(out_bar, axes=fftn_axes(a, s, axes), norm=norm)
    return fit_all(full, a, s, axes)


def rfftn_of(out_bar: Array, a: Array, axes: Any, norm: Any) -> Array:
    """Transform back along the whole axes, then along the half one."""
    places = fftn_axes(a, None, axes)
    inner = np.fft.fftn(out_bar, axes=places[:-1], norm=norm)
    return rfft_of(inner, a, None, places[-1], norm)


def irfftn_of(out_bar: Array, a: Array, axes: Any, norm: Any) -> Array:
    """Transform back along the half axis, then along the whole ones."""
    places = fftn_axes(a, None, axes)
    inner = irfft_of(out_bar, a, None, places[-1], norm)
    return np.fft.ifftn(inner, axes=places[:-1], norm=norm)


pullback("np.fft.fft(a, n=None, axis=-1, norm=None)", fft_of)
pullback("np.fft.ifft(a, n=None, axis=-1, norm=None)", ifft_of)
pullback("np.fft.rfft(a, n=None, axis=-1, norm=None)", rfft_of)
pullback("np.fft.irfft(a, n=None, axis=-1, norm=None)", irfft_of)
for name, axes in (("2", "(-2, -1)"), ("n", "None")):
    pullback(f"np.fft.fft{name}(a, s=None, axes={axes}, norm=None)", fftn_of)
    pullback(f"np.fft.ifft{name}(a, s=None, axes={axes}, norm=None)", ifftn_of)
    # Without a change of lengths, which `s` would be.
    pullback(f"np.fft.rfft{name}(a, axes={axes}, norm=None)", rfftn_of)
    pullback(f"np.fft.irfft{name}(a, axes={axes}, norm=None)", irfftn_of)
pullback("np.fft.fftshift(x, axes=None)", "np.fft.ifftshift(out_bar, axes)")
pullback("np.fft.ifftshift(x, axes=None)", "np.fft.fftshift(out_bar, axes)")
zero("np.fft.fftfreq(n, d=1.0)", "np.fft.rfftfreq(n, d=1.0)")
