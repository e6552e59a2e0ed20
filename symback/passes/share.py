"""Share equal computations: a node that repeats an earlier one gives way to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..graph import Block, Graph, Node, Value, replaced

__all__ = ["share"]

FRESH = frozenset(
    {
        "setitem",
        "index_add",
        "list_append",
        "list_pop",
        "list",
        "list_zeros",
        "np.zeros",
        "np.zeros_like",
        "np.empty",
        "np.copy",
        "np.ones",
        "np.full_like",
        "raise",
        "builtins.list",
    }
)
"""Operations whose results are mutated in place later: each keeps its own."""


def share(graph: Graph) -> Graph:
    """Return the graph with repeated computations done once.

    >>> from symback.graph import Param
    >>> x, a, b, y = Value("x"), Value(), Value(), Value("y")
    >>> nodes = (
    ...     Node("np.exp", (x,), outs=(a,)),
    ...     Node("np.exp", (x,), outs=(b,)),
    ...     Node("mul", (a, b), outs=(y,)),
    ... )
    >>> graph = Graph("f", (Param("x", x),), Block((), nodes, (y,)))
    >>> [node.op for node in share(graph)]
    ['np.exp', 'mul']
    """
    return replace(graph, block=_block(graph.block, {}, {}))


def _block(block: Block, changed: dict[Value, Value], seen: dict[Any, Any]) -> Block:
    """Share within a block; `seen` holds what the blocks around it have computed."""
    seen = dict(seen)
    nodes: list[Node] = []
    for node in block.nodes:
        args = replaced(node.args, changed)
        kwargs = replaced(dict(node.kwargs), changed)
        blocks = tuple(_block(b, changed, seen) for b in node.blocks)
        key = None
        if not blocks and not node.op.acts and node.op not in FRESH and node.outs:
            key = (node.op, _key(args), _key(kwargs))
        earlier = seen.get(key) if key is not None else None
        if earlier is not None:
            changed.update(zip(node.outs, earlier, strict=True))
            for old, out in zip(earlier, node.outs, strict=True):
                cotangent = out.name is not None and out.name.endswith("_bar")
                if old.name is None and out.name is not None and not cotangent:
                    # The value keeps the name that the user gave it.
                    object.__setattr__(old, "name", out.name)
            continue
        if key is not None:
            seen[key] = node.outs
        nodes.append(replace(node, args=args, kwargs=kwargs, blocks=blocks))
    return Block(block.params, tuple(nodes), replaced(block.results, changed))


def _key(arg: Any) -> Any:
    """Return a hashable stand-in for a node's argument, telling 1 from 1.0 and True."""
    if isinstance(arg, tuple | list):
        return (type(arg).__name__, *map(_key, arg))
    if isinstance(arg, dict):
        return ("dict", *((k, _key(v)) for k, v in arg.items()))
    if isinstance(arg, slice):
        return ("slice", _key(arg.start), _key(arg.stop), _key(arg.step))
    if isinstance(arg, Value):
        return arg
    return (type(arg).__name__, repr(arg))
