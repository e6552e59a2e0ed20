"""What the helpers that generated code calls on run-time lists do to cotangents."""

from __future__ import annotations

from typing import Any

from ..operation import holds, may_view
from .registry import pullback, zero


def items_of(out_bar: Any) -> Any:
    """Pass every item on."""
    return out_bar


def parts_of(out_bar: Any, index: Any) -> Any:
    """Take the items that were added to."""
    return out_bar[index]


pullback(
    "runtime.split_like(x, arrays, axis=0)",
    "np.concatenate(out_bar, axis=axis)",
    "0.0",
    alias=may_view(0),
)
pullback("runtime.add_lists(items, others)", items_of, items_of)
pullback(
    "runtime.list_add(items, index, parts)",
    *(items_of, None, parts_of),
    alias=holds(0, what="contents"),
)
zero("runtime.zeros_of(x)")
pullback("runtime.owned(x)", items_of, alias=holds(what="new"))
