"""What the helpers that generated code calls on run-time lists do to cotangents."""

from __future__ import annotations

from .registry import pullback

pullback("runtime.split_like(x, arrays, axis=0)", "np.concatenate(out_bar, axis=axis)")
pullback("runtime.list_add(items, index, parts)", "out_bar", None, "out_bar[index]")
