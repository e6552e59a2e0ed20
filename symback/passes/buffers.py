"""Mutation becomes safe: what is written in place is memory that no one else needs.

In a graph ``setitem``, ``index_add``, ``list_append`` and ``list_pop`` leave their
argument alone.  After this pass the generated text may perform them on the argument's
own memory: wherever someone still needs the old contents, or where they are a caller's,
own memory: wherever someone still needs the old contents, or where they are a
caller's, a copy was inserted.  Copies are as small and as rare as can be told: a row
that was read is copied rather than the array, and before a loop rather than in it.
>>> from symback.graph import Block, Graph, Node, Param, Value
>>> x, y = Value("x"), Value("x")
>>> block = Block((), (Node("setitem", (x, 0, 1.0), outs=(y,)),), (y,))
>>> print(buffers(Graph("f", (Param("x", x),), block)))
graph f(x):
  x.2 = np.copy(x)
  x.3 = setitem(x.2, 0, 1.0)
  -> x.3
"""

from __future__ import annotations

from dataclasses import replace

from ..graph import Block, Graph, Node, Value
from .accumulate import accumulate
from .aliases import has_inplace
from .conflicts import Cuts, Search
from .kinds import Kinds

__all__ = ["buffers"]

PATIENCE = 20
"""Rounds after which a copy too many is better than another look at the whole graph."""


def buffers(graph: Graph) -> Graph:
    """Return the graph with the copies that make all mutation in place safe.

    Where a loop adds to an array of its own, it does so in place, too.
    """
    owned: set[Value] = set()
    if has_inplace(graph):
        graph = _with_copies(graph, owned)
    return accumulate(graph, owned).check()


def _with_copies(graph: Graph, owned: set[Value]) -> Graph:
    """Copy until nothing is spoilt; `owned` gets the copies made for one mutation."""
    tried: set[Value] = set()
    rounds = 0
    while True:
        cuts = Search(graph, owned, tried).cuts(hasty=rounds >= PATIENCE)
        if not cuts:
            return graph
        cutter = _Cutter(cuts, Kinds(graph), owned)
        graph = replace(graph, block=cutter.block(graph.block))
        rounds += 1


class _Cutter:
    """Rebuilds blocks with copies."""

    def __init__(self, cuts: Cuts, kinds: Kinds, owned: set[Value]) -> None:
        self.cuts = cuts
        self.kinds = kinds
        self.owned = owned

    def block(self, block: Block) -> Block:
        """Return the block with its copies, or itself where it needs none."""
        nodes: list[Node] = []
        params = list(block.params)
        for k, param in enumerate(params):
            if param in self.cuts.values:
                params[k] = Value(None, param.type)
                nodes.append(self._copy(params[k], param, None))
        for node in block.nodes:
            nodes += self._node(node)
        results = list(block.results)
        for k, result in enumerate(results):
            if (block, k) in self.cuts.edges:
                results[k] = Value(getattr(result, "name", None), result.type)
                nodes.append(self._copy(result, results[k], None))
        same = len(nodes) == len(block.nodes) and all(
            a is b for a, b in zip(nodes, block.nodes, strict=True)
        )
        return block if same else Block(tuple(params), tuple(nodes), tuple(results))

    def _node(self, node: Node) -> list[Node]:
        before: list[Node] = []
        after: list[Node] = []

        args = list(node.args)
        outs = list(node.outs)
        loop = node.op in ("for", "while")
        values = list(args[-1]) if loop else args
        for k, value in enumerate(values):
            if (node, k) in self.cuts.edges and isinstance(value, Value):
                becomes = node.blocks[-1].params[k - len(values)] if loop else outs[k]
                values[k] = Value(becomes.name, value.type)
                before.append(self._copy(value, values[k], node))
                if node.op.alias.writes:
                    self.owned.add(values[k])
        if loop:
            args[-1] = tuple(values)
        for k, out in enumerate(outs):
            if out in self.cuts.values:
                outs[k] = Value(None, out.type)
                after.append(self._copy(outs[k], out, node))
        blocks = tuple(map(self.block, node.blocks))
        changed = (
            before
            or after
            or any(a is not b for a, b in zip(blocks, node.blocks, strict=True))
        )
        if changed:
            node = replace(node, args=tuple(args), outs=tuple(outs), blocks=blocks)
        return [*before, node, *after]

    def _copy(self, value: Value, out: Value, node: Node | None) -> Node:
        """Return the node that copies a value."""
        is_list = self.kinds.is_list(value) or self.kinds.is_list(out)
        op = "builtins.list" if is_list else "np.copy"
        return Node(op, (value,), {}, (out,), (), node.span if node else None)
