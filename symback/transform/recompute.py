"""Recomputing: what a loop's backward makes again instead of keeping it."""

from __future__ import annotations

from typing import Any

from ..graph import Block, Node, Value, map_leaves, replaced

__all__ = ["Recompute", "defined", "substitute"]

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
    """Decides what the backward of a loop computes again instead of keeping it."""

    def __init__(
        self,
        defs: dict[Value, Node],
        forward: list[Node],
        inside: set[Value],
        index: Value | None,
        position: Value,
        changed: dict[Value, Any],
        prelude: list[Node],
    ) -> None:
        self.defs = defs
        self.makers = {out: n for n in forward for out in n.outs}
        self.inside = inside
        self.index = index
        self.position = position
        self.changed = changed
        self.prelude = prelude
        self.allowed = True
        self.kept: list[Value] = []

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
            found: Value = self.changed[value]
            return found
        node = self.makers.get(value)
        if value in self.kept or node is None:
            return value
        args = map_leaves(
            lambda a: self.make(a) if isinstance(a, Value) else a, node.args
        )
        out = Value(value.name, value.type)
        self.prelude.append(Node(node.op, args, node.kwargs, (out,), (), node.span))
        self.defs[out] = self.prelude[-1]
        self.changed[value] = out
        return out


def defined(block: Block) -> set[Value]:
    """Return the values that a block's own nodes define."""
    return {out for node in block.nodes for out in node.outs}


def substitute(block: Block, changed: dict[Value, Any]) -> Block:
    """Return a block with some values it uses replaced, nested blocks included."""
    nodes = []
    for node in block.nodes:
        blocks = tuple(substitute(b, changed) for b in node.blocks)
        args = replaced(node.args, changed)
        kwargs = replaced(dict(node.kwargs), changed)
        nodes.append(Node(node.op, args, kwargs, node.outs, blocks, node.span))
    results = replaced(block.results, changed)
    return Block(block.params, tuple(nodes), results)
