"""Fold what algebra knows without changing a value, a shape or a dtype."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..graph import Block, Graph, Node, Value, replaced

__all__ = ["fold"]


def fold(graph: Graph) -> Graph:
    """Return the graph with trivial operations gone.

    Only rewrites that keep every value: ``x * 1.0`` of a float, a double negation, a
    double transpose, a ``stop_gradient``, whose work is done.

    >>> from symback.graph import Param
    >>> x, a, y = Value("x"), Value(), Value("y")
    >>> nodes = (Node("neg", (x,), outs=(a,)), Node("neg", (a,), outs=(y,)))
    >>> graph = Graph("f", (Param("x", x),), Block((), nodes, (y,)))
    >>> fold(graph).result is x
    True
    """
    return replace(graph, block=_block(graph.block, {}, {}))


def _block(block: Block, changed: dict[Value, Any], defs: dict[Value, Node]) -> Block:
    nodes: list[Node] = []
    for node in block.nodes:
        args = replaced(node.args, changed)
        kwargs = replaced(dict(node.kwargs), changed)
        blocks = tuple(_block(b, changed, defs) for b in node.blocks)
        node = replace(node, args=args, kwargs=kwargs, blocks=blocks)
        found = _simpler(node, defs)
        if found is not None:
            changed[node.out] = found
            continue
        for out in node.outs:
            defs[out] = node
        nodes.append(node)
    return Block(block.params, tuple(nodes), replaced(block.results, changed))


def _simpler(node: Node, defs: dict[Value, Node]) -> Any:
    """Return the argument that a node's value equals, or None."""
    if node.op == "stop_gradient":
        return node.args[0]
    if node.op in ("neg", "np.transpose") and len(node.args) == 1 and not node.kwargs:
        inner = defs.get(node.args[0]) if isinstance(node.args[0], Value) else None
        if inner is not None and inner.op == node.op and len(inner.args) == 1:
            if inner.out.name is None and not inner.kwargs:
                return None if _without_axes(inner.args[0]) else inner.args[0]
        return None
    if node.op == "mul":
        for one, other in (node.args, node.args[::-1]):
            if type(one) is float and one == 1.0 and _is_float(other):
                return other
    if (
        node.op == "truediv"
        and type(node.args[1]) in (int, float)
        and node.args[1] == 1
    ):
        return node.args[0] if _is_float(node.args[0]) else None
    return None


def _is_float(arg: Any) -> bool:
    """Say whether multiplying by 1.0 would leave a value's dtype alone."""
    return (
        isinstance(arg, Value)
        and arg.type is not None
        and arg.type.dtype.startswith(("float", "complex"))
        and not _without_axes(arg)
    )


def _without_axes(arg: Any) -> bool:
    """Say whether an argument is an array without axes: products of it are numbers."""
    known = arg.type if isinstance(arg, Value) else None
    return known is not None and known.is_array and not known.rank
