"""What is returned owns its memory: it is no argument's, no global's, nor shared.

>>> from symback.graph import Block, Graph, Node, Param, Value
>>> from symback.types import Type
>>> x, y = (Value(name, Type("array", "float64", ("n", "n"))) for name in "xy")
>>> block = Block((), (Node("np.transpose", (x,), outs=(y,)),), ((y, y),))
>>> print(own(Graph("f", (Param("x", x),), block)))
graph f(x: float64[n, n]):
  y: float64[n, n] = np.transpose(x)
  %1: float64[n, n] = np.copy(y)
  %2: float64[n, n] = np.copy(y)
  -> (%1, %2)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..graph import Block, Graph, Node, Value, leaves, map_leaves
from .aliases import Aliases, Site

__all__ = ["own"]


def own(graph: Graph) -> Graph:
    """Return the graph with copies of results whose memory is another's."""
    results = [v for v in leaves(graph.result) if isinstance(v, Value)]
    if all(v.type is not None and v.type.is_scalar for v in results):
        return graph
    aliases = Aliases(graph)
    made = {out: node for node in graph.block.nodes for out in node.outs}
    taken: set[Site] = set(aliases.external)
    copies: list[Node] = []

    def owned(leaf: Any) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        node = made.get(leaf)
        if node is not None and node.op.alias.held == "items":
            # A structure is built again of fields that are its own.
            args = list(node.args)
            for place in node.op.alias.of or ():
                if place < len(args):
                    args[place] = map_leaves(owned, args[place])
            if map_leaves(id, tuple(args)) == map_leaves(id, node.args):
                return leaf
            again = Value(leaf.name, leaf.type)
            copies.append(replace(node, args=tuple(args), outs=(again,)))
            return again
        sites = aliases.reads(leaf)
        if sites.isdisjoint(taken):
            taken.update(sites)
            return leaf
        span = made[leaf].span if leaf in made else None
        # Of what nothing is known, it may be a number or a list of arrays, too.
        is_array = leaf.type is not None and leaf.type.is_array
        op = "np.copy" if is_array else "runtime.owned"
        copy = Value(None, leaf.type)
        copies.append(Node(op, (leaf,), outs=(copy,), span=span))
        return copy

    result = map_leaves(owned, graph.result)
    block = graph.block
    nodes = (*block.nodes, *copies)
    return replace(graph, block=Block(block.params, nodes, (result,)))
