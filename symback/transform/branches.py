"""Branches in reverse: a branch on the same condition.

What it needs of the branch that was taken is handed out as outputs of the forward one.
"""

from __future__ import annotations

from dataclasses import replace

from ..graph import UNDEFINED, Arg, Block, Node, Value, substitute
from .context import Context, Cots
from .cotangents import Cotangent
from .recompute import defined

__all__ = ["reverse_if"]


def reverse_if(context: Context, node: Node, cots: Cots) -> Node:
    """Reverse a branch; return it with the outputs that its backward needs."""
    build, bars = context.build, context.bars
    outer: dict[Value, Arg] = {}
    seeds: list[tuple[int, Arg]] = []
    with build.at(node.span):
        for k, out in enumerate(node.outs):
            if out in cots:
                value = bars.final(out, cots.pop(out))
                context.own_name(value, out.name)
                seeds.append((k, value))
                context.found[out] = value
    kept: list[Block] = []
    sides: list[tuple[list[Node], Cots]] = []
    for block in node.blocks:
        inner: Cots = {}
        with build.nested() as nodes:
            with build.at(node.span):
                for k, value in seeds:
                    result = block.results[k]
                    if isinstance(result, Value):
                        bar = bars.shaped(value, node.outs[k])
                        context.accumulate(result, Cotangent(bar), inner)
            forward = context.sweep(block.nodes, inner)
        kept.append(Block(block.params, tuple(forward), block.results))
        sides.append((nodes, inner))
    own = [defined(block) for block in node.blocks]
    touched: dict[Value, None] = {}
    for k, (_, inner) in enumerate(sides):
        touched.update(dict.fromkeys(v for v in inner if v not in own[k]))
    with build.at(node.span):
        for primal in touched:
            if primal in cots:
                outer[primal] = bars.final(primal, cots.pop(primal))
    made = []
    for nodes, inner in sides:
        with build.into(nodes), build.at(node.span):
            flat = tuple(
                _joined(context, primal, outer.get(primal), inner) for primal in touched
            )
        made.append(Block((), tuple(nodes), flat))
    outs = []
    for k, primal in enumerate(touched):
        kind = build.types.join(*(block.results[k] for block in made))
        if bars.may_lack(primal):
            kind = kind or bars.like(primal)
        outs.append(Value(bars.named(primal), kind))
        cots[primal] = Cotangent(outs[-1])
    forward_node, made, test = _hand_out(context, node, kept, made)
    if outs:
        with build.at(node.span):
            build.control("if", (test,), {}, tuple(outs), tuple(made))
    return forward_node


def _joined(context: Context, primal: Value, before: Arg | None, inner: Cots) -> Arg:
    """Return a value's cotangent at the end of a branch's backward."""
    bars, found = context.bars, inner.get(primal)
    if found is None and before is None:
        value = bars.zeros(primal)
        if bars.may_lack(primal):
            # Nothing reads it on this path, where the value itself cannot be read.
            return value
    elif found is None:
        value = before
    elif before is None:
        value = bars.final(primal, found)
    else:
        value = bars.final(primal, bars.add(primal, Cotangent(before), found))
    return bars.solid(primal, value)


def _hand_out(
    context: Context, node: Node, kept: list[Block], made: list[Block]
) -> tuple[Node, list[Block], Arg]:
    """Make the values that a branch's backward needs outputs of the branch.

    Returns the branch, its backward's blocks, and which of them is to run.
    """
    build = context.build
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
                side.append(value if j == k else _lacking(value, nodes[j]))
    if "catch" in node.kwargs:
        # Which block ran is known only when it has run.
        test = Value("fine", build.type_of(True))
        outs.append(test)
        for side, fine in zip(results, (True, False), strict=True):
            side.append(fine)
    blocks = tuple(
        Block(b.params, tuple(n), tuple(r))
        for b, n, r in zip(kept, nodes, results, strict=True)
    )
    forward = replace(node, outs=tuple(outs), blocks=blocks)
    build.defs.update(dict.fromkeys(outs, forward))
    context.bars.primal.update(outs)
    if changed:
        made = [substitute(b, changed) for b in made]
    return forward, made, test


def _lacking(value: Value, nodes: list[Node]) -> Arg:
    """Return what stands for a value on a path that does not make it."""
    if value.type is None or value.type.kind != "list":
        return UNDEFINED
    empty = Value(None, value.type)
    nodes.append(Node("list", (), {}, (empty,)))
    return empty
