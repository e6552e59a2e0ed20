"""Recomputing: what a loop's backward makes again instead of keeping it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..graph import Block, Node, Value, map_leaves

__all__ = ["Recompute", "defined"]

CHEAP = frozenset(
    {
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "neg",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "not_",
        "getitem",
        "dim",
        "shape",
        "builtins.len",
        "np.transpose",
        "and_",
        "or_",
    }
)
"""Operations that the backward may repeat instead of keeping their result."""


class Recompute:
    """Decides what the backward of a loop computes again instead of keeping it.

    inside : the values that differ from one iteration to the next.
    index, position : the loop's index, and the backward's; `allowed`: whether the
        one is known from the other.
    changed : what stands for them in the backward.  prelude : the nodes that make them.
    """

    def __init__(
        self,
        defs: dict[Value, Node],
        forward: Iterable[Node],
        inside: set[Value],
        index: Value | None,
        position: Value,
        allowed: bool,
    ) -> None:
        self.defs = defs
        self.makers: Mapping[Value, Node] = {out: n for n in forward for out in n.outs}
        self.inside = inside
        self.index = index
        self.position = position
        self.allowed = allowed
        self.changed: dict[Value, Value] = {}
        self.prelude: list[Node] = []
        self.kept: list[Value] = []

    def choose(self, needed: Iterable[Value]) -> list[Value]:
        """Return what must be kept of some values; make the others again."""
        needed = list(needed)
        kept: list[Value] = []
        for value in needed:
            if not self.possible(value, kept):
                kept.append(value)
        kept = [value for value in kept if not self.is_entry(value, kept)]
        self.kept = kept
        for value in needed:
            if value not in kept:
                self.make(value)
        # What recomputation reads must be kept as well: `possible` has seen to it.
        return kept

    def is_entry(self, value: Value, kept: list[Value]) -> bool:
        """Say whether a value is a fixed part of an array that is kept anyway."""
        node = self.makers.get(value)
        if node is None or node.op != "getitem" or len(node.inputs) != 1:
            return False
        index = node.args[1]
        parts = index if isinstance(index, tuple) else (index,)
        basic = all(isinstance(p, int | slice | type(None)) for p in parts)
        return basic and node.args[0] in kept

    def possible(self, value: Value, kept: list[Value]) -> bool:
        """Say whether a value follows cheaply from the index, invariants and `kept`."""
        if value not in self.inside:
            return True
        if value is self.index:
            return self.allowed
        if value in kept:
            return True
        self.kept = kept
        node = self.makers.get(value)
        if node is None or node.op not in CHEAP or len(node.outs) != 1:
            return False
        if (
            node.op in ("add", "sub", "mul", "floordiv", "mod", "neg")
            and not (
                value.type is not None
                and value.type.is_integral
                and not value.type.is_array
            )
            and not self.counts(value)
        ):
            return False
        if node.op == "getitem" and node.inputs[0] in self.inside:
            # Its base changes from one iteration to the next: keep the entry, not it.
            return False
        return all(self.possible(v, kept) for v in node.inputs)

    def counts(self, value: Value) -> bool:
        """Say whether a value is computed from the index and constants only."""
        node = self.makers.get(value)
        return (
            node is not None
            and all(v is self.index or self.counts(v) for v in node.inputs)
            and bool(node.inputs)
        )

    def make(self, value: Value) -> Value:
        """Add the nodes that compute a value again to the backward's beginning."""
        if value not in self.inside:
            return value
        if value is self.index:
            self.changed[value] = self.position
            return self.position
        if value in self.changed:
            return self.changed[value]
        node = self.makers.get(value)
        if value in self.kept or node is None:
            return value
        args = map_leaves(
            lambda a: self.make(a) if isinstance(a, Value) else a, node.args
        )
        out = Value(value.name, value.type)
        again = replace(node, args=args, outs=(out,), role="backward")
        self.prelude.append(again)
        self.defs[out] = again
        self.changed[value] = out
        return out


def defined(block: Block) -> set[Value]:
    """Return the values that a block's own nodes define."""
    return {out for node in block.nodes for out in node.outs}
