"""Drop what nothing uses: dead nodes, outputs of branches, what loops carry in vain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..graph import Arg, Block, Graph, Node, Value, leaves

__all__ = ["drop", "raises"]


def drop(graph: Graph) -> Graph:
    """Return the graph without nodes that neither its result nor an effect needs.

    >>> from symback.graph import Param
    >>> x, dead, y = Value("x"), Value("dead"), Value("y")
    >>> nodes = (Node("np.exp", (x,), outs=(dead,)), Node("neg", (x,), outs=(y,)))
    >>> graph = Graph("f", (Param("x", x),), Block((), nodes, (y,)))
    >>> [node.op for node in drop(graph)]
    ['neg']
    """
    live: set[Value] = set(_values(graph.block.results))
    nodes = _sweep(graph.block.nodes, live)
    return replace(graph, block=Block((), tuple(nodes), graph.block.results))


def _values(arg: Arg) -> list[Value]:
    return [a for a in leaves(arg) if isinstance(a, Value)]


HARMLESS = frozenset(
    "dim shape np.shape np.ndim np.size fstring add sub mul neg pos lt le gt ge eq ne "
    "is_ is_not not_ list list_append stop_gradient np.zeros_like np.ones_like".split()
)
"""Operations that raise nothing where their operands have types that fit."""


def raises(node: Node) -> bool:
    """Say whether a node may raise."""
    return any(not n.blocks and n.op not in HARMLESS for n in node.walk())


def _acts(node: Node) -> bool:
    """Say whether a node, or one nested in it, acts on the world."""
    return any(n.op.acts for n in node.walk())


def _sweep(
    nodes: tuple[Node, ...], live: set[Value], tried: bool = False
) -> list[Node]:
    """Keep the nodes that `live` needs, adding what they need to it.

    tried : keep those that may raise, too: the block is that of a ``try``.
    """
    kept: list[Node] = []
    for node in reversed(nodes):
        needed = any(out in live for out in node.outs) or _acts(node)
        if not needed and not (tried and raises(node)):
            continue
        if node.op == "if":
            node = _branch(node, live)
        elif node.op in ("for", "while"):
            node = _loop(node, live)
        live.update(node.inputs)
        for block in node.blocks:
            live.update(block.free())
        kept.append(node)
    kept.reverse()
    return kept


def _branch(node: Node, live: set[Value]) -> Node:
    used = [k for k, out in enumerate(node.outs) if out in live]
    blocks = []
    for number, block in enumerate(node.blocks):
        results = tuple(block.results[k] for k in used)
        inner = set(_values(results))
        tried = "catch" in node.kwargs and number == 0
        nodes = _sweep(block.nodes, inner, tried)
        blocks.append(Block((), tuple(nodes), results))
    outs = tuple(node.outs[k] for k in used)
    return replace(node, outs=outs, blocks=tuple(blocks))


def _loop(node: Node, live: set[Value]) -> Node:
    body = node.blocks[-1]
    is_for = node.op == "for"
    elements: tuple[Any, ...] = node.args[1] if is_for else ()
    inits = node.args[-1]
    lead = 1 + len(elements) if is_for else 0
    flags = 1 if node.kwargs.get("breaks") else 0
    carried = body.params[lead:]
    count = len(carried)
    kept = {k for k in range(count) if node.outs[k] in live}
    items = [k for k in range(count, len(node.outs)) if node.outs[k] in live]
    while True:
        results = [
            *body.results[:flags],
            *(body.results[flags + k] for k in sorted(kept)),
            *(body.results[flags + k] for k in items),
        ]
        inner = set(_values(results))
        nodes = _sweep(body.nodes, inner)
        if not is_for:
            test = node.blocks[0]
            wanted = set(_values(test.results))
            _sweep(test.nodes, wanted)
            more = {k for k, p in enumerate(test.params) if p in wanted}
        else:
            more = set()
        more |= {k for k, p in enumerate(carried) if p in inner}
        if more <= kept:
            break
        kept |= more
    order = sorted(kept)
    walked = [k for k in range(len(elements)) if body.params[1 + k] in inner]
    # A loop without bounds of its own would need one list: the range decides here.
    params = (
        *body.params[: 1 if is_for else 0],
        *(body.params[1 + k] for k in walked),
        *(carried[k] for k in order),
    )
    block = Block(tuple(params), tuple(nodes), tuple(results))
    blocks: tuple[Block, ...] = (block,)
    if not is_for:
        test = node.blocks[0]
        wanted = set(_values(test.results))
        tests = _sweep(test.nodes, wanted)
        params_ = tuple(test.params[k] for k in order)
        blocks = (Block(params_, tuple(tests), test.results), block)
    args: tuple[Arg, ...] = (tuple(inits[k] for k in order),)
    if is_for:
        args = (node.args[0], tuple(elements[k] for k in walked), *args)
    outs = tuple(node.outs[k] for k in (*order, *items))
    return replace(node, args=args, outs=outs, blocks=blocks)
