"""What stops the gradient while lowering."""

from __future__ import annotations

from typing import Any

from ...stop import stop_gradient
from ..abstract import DictRef, Known, ListRef, RunList, Tup
from .table import Args, Kwargs, intrinsic

__all__: list[str] = []


@intrinsic(stop_gradient)
def _stop_gradient(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0] if args else kwargs["x"]
    if isinstance(item, Known):
        return item
    if isinstance(item, Tup):
        items = tuple(_stop_gradient(low, [i], {}) for i in item.items)
        return Tup(items, item.like, item.names)
    if isinstance(item, ListRef | DictRef):
        held = low.content(item.cell)
        if isinstance(held, dict):
            return low.new_dict(
                {k: _stop_gradient(low, [v], {}) for k, v in held.items()}
            )
        if not isinstance(held, RunList):
            return low.new_list([_stop_gradient(low, [i], {}) for i in held])
    return low.wrap(low.emit("stop_gradient", low.operand(item)))
