"""Branches in reverse: a branch on the same condition.

What it needs of the branch that was taken is handed out as outputs of the forward one.
"""

from __future__ import annotations

from typing import Any

from ..graph import UNDEFINED, Arg, Block, Node, Value
from .accumulation import Accumulation
from .cotangents import Cotangent
from .recompute import defined, substitute

__all__ = ["Branches"]


class Branches(Accumulation):
    """Reverse ``if``."""

    found: dict[Value, Arg]

    # Branches

    def reverse_if(self, node: Node, cots: dict[Value, Cotangent]) -> Node:
        """Reverse a branch; return it with the outputs that its backward needs."""
        outer: dict[Value, Arg] = {}
        seeds: list[tuple[int, Arg]] = []
        with self.placed(node):
            for k, out in enumerate(node.outs):
                if out in cots:
                    value = self.final(out, cots.pop(out))
                    fresh = isinstance(value, Value) and value in self.low.defs
                    if fresh and value.name is None and out.name:
                        self.christen(value, f"{out.name}_bar")
                    seeds.append((k, value))
                    self.found[out] = value
        sides = []
        for block in node.blocks:
            inner: dict[Value, Cotangent] = {}

            def part(block: Block = block, inner: Any = inner) -> list[Node]:
                with self.placed(node):
                    for k, value in seeds:
                        result = block.results[k]
                        if isinstance(result, Value):
                            self.accumulate(result, Cotangent(value), inner)
                return self.sweep(block.nodes, inner)

            outside, self.low.nodes = self.low.nodes, []
            forward = part()
            sides.append((forward, self.low.nodes, inner))
            self.low.nodes = outside
        own = [defined(block) for block in node.blocks]
        touched: dict[Value, None] = {}
        for k, (_, _, inner) in enumerate(sides):
            touched.update(dict.fromkeys(v for v in inner if v not in own[k]))
        for primal in touched:
            if primal in cots:
                with self.placed(node):
                    outer[primal] = self.final(primal, cots.pop(primal))
        blocks, kept, results = [], [], []
        for (forward, _, _), block in zip(sides, node.blocks, strict=True):
            kept.append(Block(block.params, tuple(forward), block.results))
        for _, nodes, inner in sides:
            outside, self.low.nodes = self.low.nodes, nodes
            flat: list[Arg] = []
            with self.placed(node):
                for primal in touched:
                    flat.append(self.joined(primal, outer.get(primal), inner))
            results.append(flat)
            blocks.append(self.low.nodes)
            self.low.nodes = outside
        outs = []
        for k, primal in enumerate(touched):
            kind = self.low.join_types(*(r[k] for r in results))
            outs.append(Value(self.named_bar(primal), kind))
            cots[primal] = Cotangent(outs[-1])
        made = [
            Block((), tuple(nodes), tuple(flat))
            for nodes, flat in zip(blocks, results, strict=True)
        ]
        forward_node, made, test = self.hand_out(node, kept, made)
        if outs:
            self.low.append(
                Node("if", (test,), {}, tuple(outs), tuple(made), node.span)
            )
        return forward_node

    def joined(
        self, primal: Value, before: Arg | None, inner: dict[Value, Cotangent]
    ) -> Arg:
        """Return a value's cotangent at the end of a branch's backward."""
        found = inner.get(primal)
        if found is None:
            value = self.zeros(primal) if before is None else before
        elif before is None:
            value = self.final(primal, found)
        else:
            value = self.final(primal, self.add(primal, Cotangent(before), found))
        return self.solid(primal, value)

    def hand_out(
        self, node: Node, kept: list[Block], made: list[Block]
    ) -> tuple[Node, list[Block], Arg]:
        """Make the values that a branch's backward needs outputs of the branch.

        Returns the branch, its backward's blocks, and which of them is to run.
        """
        test: Arg = node.args[0]
        results = [list(b.results) for b in kept]
        nodes = [list(b.nodes) for b in kept]
        outs = list(node.outs)
        changed: dict[Value, Value] = {}
        for k, block in enumerate(made):
            inside = defined(kept[k])
            for value in block.free():
                if value not in inside or value in changed:
                    continue
                out = Value(value.name, value.type)
                changed[value] = out
                outs.append(out)
                for j, side in enumerate(results):
                    side.append(value if j == k else self.lacking(value, nodes[j]))
        if "catch" in node.kwargs:
            # Which block ran is known only when it has run.
            test = Value("fine", self.low.type_of(True))
            outs.append(test)
            for side, fine in zip(results, (True, False), strict=True):
                side.append(fine)
        blocks = tuple(
            Block(b.params, tuple(n), tuple(r))
            for b, n, r in zip(kept, nodes, results, strict=True)
        )
        forward = Node("if", node.args, node.kwargs, tuple(outs), blocks, node.span)
        for out in forward.outs:
            self.low.defs[out] = forward
        if changed:
            made = [substitute(b, changed) for b in made]
        return forward, made, test

    def lacking(self, value: Value, nodes: list[Node]) -> Arg:
        """Return what stands for a value on a path that does not make it."""
        if value.type is None or value.type.kind != "list":
            return UNDEFINED
        empty = Value(None, value.type)
        nodes.append(Node("list", (), {}, (empty,), (), None))
        return empty
