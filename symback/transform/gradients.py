"""The result: gradients with the structure, shape and dtype of their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Arg, Node, Value
from ..types import Type
from .applying import Applying
from .cotangents import Cotangent

__all__ = ["Gradients"]

VIEWS = (
    "np.transpose",
    "getitem",
    "np.reshape",
    "np.ravel",
    "np.broadcast_to",
    "np.squeeze",
    "np.expand_dims",
    "np.swapaxes",
    "np.moveaxis",
    "np.real",
)
"""Operations whose result may share memory with their argument."""


class Gradients(Applying):
    """Give each parameter a gradient of its own memory."""

    given: set[Value | None]
    primal_nodes: set[Node]

    # The result

    def gradient(self, tree: Any, cots: dict[Value, Cotangent]) -> Arg:
        """Build a gradient with its parameter's structure."""
        if tree.kind == "leaf":
            return self.leaf_gradient(tree.value, cots)
        if tree.kind == "static":
            return None
        items = [self.gradient(t, cots) for t in tree.items]
        if tree.kind == "tuple":
            return tuple(items)
        if tree.kind == "list":
            return items
        fields = dict(zip(tree.keys, items, strict=True))
        if tree.kind == "dict":
            return fields
        return self.low.emit("struct", tree.value, fields)

    def leaf_gradient(self, value: Value, cots: dict[Value, Cotangent]) -> Arg:
        """Return the gradient by one number or array: its shape, its dtype, its own."""
        low = self.low
        cot = cots.get(value)
        if cot is None:
            return self.zeros(value)
        node = low.defs.get(cot.value) if isinstance(cot.value, Value) else None
        low.fixed_span = node.span if node is not None else None
        try:
            return self.own(value, cot)
        finally:
            low.fixed_span = None

    def own(self, value: Value, cot: Cotangent) -> Arg:
        """Return the final cotangent as an array that shares no memory."""
        low = self.low
        known = value.type
        final = self.final(value, cot)
        if not isinstance(final, Value):
            if known is not None and known.is_array:
                return low.emit("np.full_like", value, final, name=f"{value.name}_bar")
            return final
        if known is None and not self.settled(final):
            final = low.emit("runtime.unbroadcast", final, value)
        if (
            known is not None
            and known.is_scalar
            and final.type is not None
            and (final.type.is_array)
        ):
            final = low.emit("getitem", final, ())
        node = low.defs.get(final)
        if _kind(final.type) == "c" and _kind(known) == "f":
            final = low.emit("np.real", final)
            node = low.defs.get(final)
        found = final.type
        if (
            known is not None
            and known.is_array
            and node is not None
            and node.op == "np.broadcast_to"
        ):
            final = low.emit("np.full_like", value, node.args[0])
        elif (
            known is not None
            and found is not None
            and found.dtype != known.dtype
            and known.kind in ("array", "numpy")
        ):
            if not known.is_integral and found.kind in ("array", "numpy"):
                final = low.emit("astype", final, np.dtype(known.dtype).type)
        if known is not None and known.is_array and not known.rank:
            final = low.emit("np.asarray", final, dtype=np.dtype(known.dtype).type)
        base = self.base(final)
        shared = base is None or base in self.given
        if (known is None or known.is_array) and shared:
            final = low.emit("np.copy", final)
            base = final
        self.given.add(base)
        if final.name is None and value.name and final in low.defs:
            self.christen(final, f"{value.name}_bar")
        self.found[value] = final
        return final

    def settled(self, value: Value) -> bool:
        """Say whether a value of unknown type has been given its primal's shape."""
        node = self.low.defs.get(value)
        return node is not None and node.op.startswith("runtime.")

    def base(self, value: Value) -> Value | None:
        """Return the backward value whose memory this shares; None for a primal's."""
        node = self.low.defs.get(value)
        while node is not None and node.op in VIEWS and isinstance(node.args[0], Value):
            value = node.args[0]
            node = self.low.defs.get(value)
        return value if node is not None and node not in self.primal_nodes else None


def _kind(known: Type | None) -> str:
    """Return NumPy's letter for a type's kind of number."""
    if (
        known is None
        or not known.dtype
        or known.kind not in ("array", "numpy", "python")
    ):
        return ""
    return {"f": "f", "c": "c", "i": "i", "b": "b"}.get(known.dtype[0], "")
