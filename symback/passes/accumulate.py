"""Sums that grow in a loop grow in place.

``W_bar = W_bar + np.outer(g, h)`` makes a new array in each iteration.  Where the types
say that nothing changes but the numbers, and nobody else holds the array, the loop adds
to it: the node becomes ``index_add`` at all of its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..graph import Arg, Block, Graph, Node, Value
from .aliases import INPLACE
from .conflicts import Search

__all__ = ["accumulate"]

ATTEMPTS = 16
"""Sums that are tried one by one where not all of them can grow in place."""


def accumulate(graph: Graph, owned: set[Value]) -> Graph:
    """Return the graph whose loops add in place to the arrays that are theirs.

    `owned` are values of which it is known that their memory may be changed.
    """
    sums = list(_sums(graph.block))
    if not sums:
        return graph
    whole = _grown(graph, set(sums))
    if not Search(whole, owned).cuts():
        return whole
    chosen: set[Node] = set()
    for node in sums[:ATTEMPTS]:
        if not Search(_grown(graph, chosen | {node}), owned).cuts():
            chosen.add(node)
    return _grown(graph, chosen)


def _sums(block: Block) -> Iterator[Node]:
    """Yield the nodes that add to what a loop carries on."""
    for node in block.nodes:
        if node.op in ("for", "while"):
            yield from _carried_sums(node)
        for nested in node.blocks:
            yield from _sums(nested)


def _carried_sums(node: Node) -> Iterator[Node]:
    body, count = node.blocks[-1], len(node.args[-1])
    made = {out: inner for inner in body.nodes for out in inner.outs}
    flags = 1 if node.kwargs.get("breaks") else 0
    params = body.params[len(body.params) - count :]
    for param, value in zip(params, body.results[flags : flags + count], strict=True):
        found: list[Node] = []
        while isinstance(value, Value) and value is not param and value in made:
            step = made[value]
            if step.op == "add" and _keeps_type(step.args[0], step.out):
                found.append(step)
            elif step.op not in INPLACE:
                break
            value = step.args[0]
        if value is param:
            yield from found


def _keeps_type(value: Arg, out: Value) -> bool:
    """Return whether adding to an array changes neither its shape nor its dtype."""
    if not isinstance(value, Value) or value.type is None or out.type is None:
        return False
    known = value.type.is_array and "?" not in value.type.dims
    return known and value.type.rank > 0 and value.type == out.type


def _grown(graph: Graph, sums: set[Node]) -> Graph:
    """Return the graph with these sums made in place."""

    def grow(block: Block) -> Block:
        nodes = tuple(map(change, block.nodes))
        return Block(block.params, nodes, block.results)

    def change(node: Node) -> Node:
        if node in sums:
            args = (node.args[0], Ellipsis, node.args[1])
            return replace(node, op="index_add", args=args)
        return (
            replace(node, blocks=tuple(map(grow, node.blocks))) if node.blocks else node
        )

    return replace(graph, block=grow(graph.block)) if sums else graph
