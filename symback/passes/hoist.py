"""Hoist what a loop computes again and again: invariants move in front of it."""

from __future__ import annotations

from dataclasses import replace

from ..graph import Block, Graph, Node, Value, leaves

__all__ = ["hoist"]

SAFE = frozenset(
    "add sub mul neg np.exp np.log np.sqrt np.square np.sin np.cos np.tanh np.abs "
    "np.transpose np.eye np.pi np.e math.pi math.e dim".split()
)
"""Operations that cannot fail on numbers and arrays that fit: a loop that never runs
loses nothing when they are done before it."""


def hoist(graph: Graph) -> Graph:
    """Return the graph with loop invariants computed once.

    >>> from symback.graph import Param
    >>> from symback.types import Type
    >>> real = Type("python", "float")
    >>> x, t, s, r, y = (Value(n, real) for n in "xtsry")
    >>> i = Value("i", Type("python", "int"))
    >>> body = Block(
    ...     (i, s),
    ...     (Node("mul", (x, 2.0), outs=(t,)), Node("add", (s, t), outs=(r,))),
    ...     (r,),
    ... )
    >>> loop = Node("for", ((0, 3, 1), (), (0.0,)), {}, (y,), (body,))
    >>> graph = Graph("f", (Param("x", x),), Block((), (loop,), (y,)))
    >>> [node.op for node in hoist(graph)]
    ['mul', 'for']
    """
    return replace(graph, block=_block(graph.block))


def _block(block: Block) -> Block:
    nodes: list[Node] = []
    for node in block.nodes:
        if node.blocks:
            node = replace(node, blocks=tuple(_block(b) for b in node.blocks))
        if node.op in ("for", "while"):
            body = node.blocks[-1]
            first, rest = _split(body)
            nodes += first
            kept = Block(body.params, tuple(rest), body.results)
            node = replace(node, blocks=(*node.blocks[:-1], kept))
        nodes.append(node)
    return Block(block.params, tuple(nodes), block.results)


def _split(body: Block) -> tuple[list[Node], list[Node]]:
    """Return a body's invariant nodes and the others."""
    inside = set(body.params)
    first, rest = [], []
    for node in body.nodes:
        if _is_safe(node) and not any(v in inside for v in node.inputs):
            first.append(node)
        else:
            rest.append(node)
            inside.update(node.outs)
    return first, rest


def _is_safe(node: Node) -> bool:
    """Say whether a node can neither fail nor be mutated later."""
    typed = all(
        leaf.type is not None and leaf.type.kind in ("python", "numpy", "array")
        for leaf in leaves(node.args)
        if isinstance(leaf, Value)
    )
    known = bool(node.outs) and node.outs[0].type is not None
    return node.op in SAFE and typed and known and not node.kwargs
