"""Sums that grow in a loop grow in place.

``W_bar = W_bar + np.outer(g, h)`` makes a new array in each iteration.  Where the types
say that nothing changes but the numbers, and nobody else holds the array, the loop adds
to it: the node becomes ``index_add`` at all of its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..graph import Arg, Block, Graph, Node, Value
from ..operation import operation
from .conflicts import Search

__all__ = ["accumulate"]

ATTEMPTS = 16
"""Sums that are tried one by one where not all of them can grow in place."""
DEEPEST = 100
"""Steps of an iteration in which a sum may grow."""


def accumulate(graph: Graph, owned: set[Value]) -> Graph:
    """Return the graph whose loops add in place to the arrays that are theirs.

    `owned` are values of which it is known that their memory may be changed.
    """
    sums = dict(_sums(graph.block))
    if not sums:
        return graph
    whole = _grown(graph, sums)
    if not Search(whole, owned).cuts():
        return whole
    chosen: dict[Node, int] = {}
    for node, place in list(sums.items())[:ATTEMPTS]:
        tried = {**chosen, node: place}
        if not Search(_grown(graph, tried), owned).cuts():
            chosen = tried
    return _grown(graph, chosen)


def _sums(block: Block) -> Iterator[tuple[Node, int]]:
    """Yield the nodes that add to what a loop carries on, and to which argument."""
    for node in block.nodes:
        if node.op in ("for", "while"):
            yield from _carried_sums(node)
        for nested in node.blocks:
            yield from _sums(nested)


def _carried_sums(node: Node) -> Iterator[tuple[Node, int]]:
    body, count = node.blocks[-1], len(node.args[-1])
    made = {out: inner for inner in body.nodes for out in inner.outs}
    flags = 1 if node.kwargs.get("breaks") else 0
    params = body.params[len(body.params) - count :]
    for param, value in zip(params, body.results[flags : flags + count], strict=True):
        yield from _steps(value, param, made, set()) or ()


def _steps(
    value: Arg,
    param: Value,
    made: dict[Value, Node],
    seen: set[Value],
    depth: int = 0,
) -> list[tuple[Node, int]] | None:
    """Return the sums that lead from a loop's parameter to a value, None if none do."""
    if value is param:
        return []
    if not isinstance(value, Value) or value not in made or value in seen:
        return None
    if depth > DEEPEST:
        return None
    seen.add(value)
    step = made[value]
    if step.op.alias.writes:
        return _steps(step.args[0], param, made, seen, depth + 1)
    if step.op == "add":
        for place, arg in enumerate(step.args):
            before = _steps(arg, param, made, seen, depth + 1)
            if before is not None and _keeps_type(arg, step.out):
                return [*before, (step, place)]
    return None


def _keeps_type(value: Arg, out: Value) -> bool:
    """Return whether adding to an array changes neither its shape nor its dtype."""
    if not isinstance(value, Value) or value.type is None or out.type is None:
        return False
    known = value.type.is_array and "?" not in value.type.dims
    return known and value.type.rank > 0 and value.type == out.type


def _grown(graph: Graph, sums: dict[Node, int]) -> Graph:
    """Return the graph with these sums made in place."""

    def grow(block: Block) -> Block:
        return Block(block.params, tuple(map(change, block.nodes)), block.results)

    def change(node: Node) -> Node:
        if node in sums:
            place = sums[node]
            args = (node.args[place], Ellipsis, node.args[1 - place])
            return replace(node, op=operation("index_add"), args=args)
        if not node.blocks:
            return node
        return replace(node, blocks=tuple(map(grow, node.blocks)))

    return replace(graph, block=grow(graph.block)) if sums else graph
