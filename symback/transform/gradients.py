"""The result: gradients with the structure, shape and dtype of their parameters."""

from __future__ import annotations

import numpy as np

from ..graph import Arg, Tree, Value
from ..types import Type
from .context import Context, Cots

__all__ = ["Gradients"]


class Gradients:
    """Gives each parameter a gradient."""

    def __init__(self, context: Context, cots: Cots) -> None:
        self.context = context
        self.build = context.build
        self.cots = cots

    def gradient(self, tree: Tree) -> Arg:
        """Build a gradient with its parameter's structure."""
        if tree.kind == "leaf":
            assert tree.value is not None
            return self._leaf(tree.value)
        if tree.kind == "static":
            return None
        items = [self.gradient(t) for t in tree.items]
        if tree.kind == "tuple":
            return tuple(items)
        if tree.kind == "list":
            return items
        fields = dict(zip(tree.keys, items, strict=True))
        if tree.kind == "dict":
            return fields
        op = "struct" if tree.made else "runtime.structure"
        return self.build.emit(op, tree.value, fields)

    def _leaf(self, value: Value) -> Arg:
        """Return the gradient by one number or array: its shape and its dtype."""
        cot = self.cots.get(value)
        if cot is None:
            return self.context.bars.zeros(value)
        made = self.build.defs.get(cot.value) if isinstance(cot.value, Value) else None
        with self.build.at(made.span if made is not None else None):
            final = self.context.bars.final(value, cot)
            if isinstance(final, Value):
                return self._own(value, final)
            known = value.type
            if known is not None and known.is_array:
                name = self.context.bars.named(value)
                return self.build.emit("np.full_like", value, final, name=name)
            return final

    def _own(self, value: Value, final: Value) -> Value:
        """Return the final cotangent as the gradient."""
        known = value.type
        if known is None and not self._settled(final):
            final = self.build.emit("runtime.unbroadcast", final, value)
        if known is not None:
            if final.type is None and known.dtype in ("float32", "float16"):
                # What is not typed may have more precision than its parameter.
                final = self.build.emit("runtime.unbroadcast", final, value)
            final = self._typed(value, known, final)
        self.context.own_name(final, value.name)
        self.context.found[value] = final
        return final

    def _typed(self, value: Value, known: Type, final: Value) -> Value:
        """Give a gradient its parameter's kind, shape and dtype."""
        build = self.build
        if known.is_scalar and final.type is not None and final.type.is_array:
            final = build.emit("getitem", final, ())
        if _kind(final.type) == "c" and _kind(known) == "f":
            final = build.emit("np.real", final)
        node, found = build.defs.get(final), final.type
        if known.is_array and node is not None and node.op == "np.broadcast_to":
            final = build.emit("np.full_like", value, node.args[0])
        elif (
            found is not None
            and found.dtype != known.dtype
            and known.kind in ("array", "numpy")
            and not known.is_integral
            and found.kind in ("array", "numpy")
        ):
            final = build.emit("astype", final, np.dtype(known.dtype).type)
        if known.is_array and not known.rank:
            final = build.emit("np.asarray", final, dtype=np.dtype(known.dtype).type)
        return final

    def _settled(self, value: Value) -> bool:
        """Say whether a value of unknown type has been given its primal's shape."""
        node = self.build.defs.get(value)
        return node is not None and node.op.startswith("runtime.")


def _kind(known: Type | None) -> str:
    """Return NumPy's letter for a type's kind of number."""
    if (
        known is None
        or not known.dtype
        or known.kind not in ("array", "numpy", "python")
    ):
        return ""
    return {"f": "f", "c": "c", "i": "i", "b": "b"}.get(known.dtype[0], "")
