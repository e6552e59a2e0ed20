"""Typing a graph again, for other arguments, without returning to the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..types import Type
from .builder import Builder, Inference
from .form import Arg, Block, Node, Param, Value, replaced
from .graph import Graph
from .loop import Loop

__all__ = ["retype"]

MAX_ROUNDS = 8
"""Times that a loop's body is typed until what it carries no longer changes."""


def retype(graph: Graph, types: Inference, given: Mapping[Value, Type | None]) -> Graph:
    """Return the graph with its values typed for other arguments.

    Its values are new ones.  What the graph takes for known (sizes that are numbers in
    it, loops that were unrolled) must be true of the arguments.

    Args:
        graph: the graph.
        types: what types the nodes.
        given: the types of parameters and, of containers, of the parts read from them.

    >>> from .builder import Untyped
    >>> graph = Graph.parse("graph f(x: float):\\n  y: float = mul(x, 2.0)\\n  -> y")
    >>> print(retype(graph, Untyped(), {}))
    graph f(x):
      y = mul(x, 2.0)
      -> y
    """
    again = _Again(types, given)
    params = tuple(
        Param(p.name, again.fresh(p.value, given.get(p.value)), p.kind)
        for p in graph.params
    )
    again.copy(graph.block.nodes)
    result = replaced(graph.block.results, again.held)
    block = Block((), tuple(again.build.nodes), result)
    return replace(graph, params=params, block=block).check()


class _Again:
    """Copies nodes, typed anew.

    held : the new values of the old ones.
    """

    def __init__(self, types: Inference, given: Mapping[Value, Type | None]) -> None:
        self.types = types
        self.given = given
        self.build = Builder(types)
        self.held: dict[Value, Arg] = {}

    def fresh(self, old: Value, known: Type | None) -> Value:
        """Return the new value of an old one."""
        new = Value(old.name, known)
        self.held[old] = new
        return new

    def moved(self, arg: Arg) -> Arg:
        """Return a node's argument with the new values."""
        return replaced(arg, self.held)

    def copy(self, nodes: tuple[Node, ...]) -> None:
        """Append copies of nodes to the block being built."""
        for node in nodes:
            if node.op == "if":
                self._branch(node)
            elif node.op in ("for", "while"):
                self._loop(Loop.of(node))
            else:
                self._plain(node)

    def _plain(self, node: Node) -> None:
        args, kwargs = self.moved(node.args), self.moved(dict(node.kwargs))
        if len(node.outs) == 1:
            kinds = [self.types.output(node.op, args, kwargs)]
        else:
            kinds = self.types.outputs(node.op, args, kwargs, len(node.outs))
        outs = tuple(
            self.fresh(out, self.given.get(out, kind))
            for out, kind in zip(node.outs, kinds, strict=True)
        )
        self.build.append(replace(node, args=args, kwargs=kwargs, outs=outs))

    def _block(self, block: Block) -> Block:
        with self.build.nested() as nodes:
            self.copy(block.nodes)
        params = tuple(self.held[p] for p in block.params)
        return Block(params, tuple(nodes), self.moved(block.results))

    def _branch(self, node: Node) -> None:
        args = self.moved(node.args)
        first, second = (self._block(block) for block in node.blocks)
        sides = zip(first.results, second.results, strict=True)
        outs = tuple(
            self.fresh(out, self.types.join(a, b))
            for out, (a, b) in zip(node.outs, sides, strict=True)
        )
        made = replace(node, args=args, outs=outs, blocks=(first, second))
        self.build.append(made)

    def _loop(self, loop: Loop) -> None:
        inits, walked = self.moved(loop.inits), self.moved(loop.walked)
        if loop.index is not None:
            self.fresh(loop.index, self.types.integer())
        for items, walk in zip(walked, loop.walks, strict=True):
            self.fresh(walk, self._item(items))
        kinds = [self.types.type_of(init) for init in inits]
        for _ in range(MAX_ROUNDS):
            body = self._body(loop, kinds)
            results = body.results[len(body.results) - len(loop.origin.outs) :]
            nexts, items = results[: len(kinds)], results[len(kinds) :]
            joined = [
                self.types.join(param, following)
                for param, following in zip(
                    (self.held[p] for p in loop.carried), nexts, strict=True
                )
            ]
            if joined == kinds:
                break
            kinds = joined
        else:
            # What keeps changing is not known.
            kinds = [None] * len(kinds)
            body = self._body(loop, kinds)
            items = body.results[len(body.results) - len(loop.lists) :]
        blocks: tuple[Block, ...] = (body,)
        if loop.test is not None:
            for param, kind in zip(loop.test.params, kinds, strict=True):
                self.fresh(param, kind)
            blocks = (self._block(loop.test), body)
        finals = [self.fresh(v, k) for v, k in zip(loop.finals, kinds, strict=True)]
        lists = [
            self.fresh(out, self._listed(item))
            for out, item in zip(loop.lists, items, strict=True)
        ]
        node = loop.origin
        args: tuple[Arg, ...] = (inits,)
        if loop.bounds is not None:
            args = (self.moved(loop.bounds), walked, inits)
        made = replace(node, args=args, outs=(*finals, *lists), blocks=blocks)
        self.build.append(made)

    def _body(self, loop: Loop, kinds: list[Type | None]) -> Block:
        for param, kind in zip(loop.carried, kinds, strict=True):
            self.fresh(param, kind)
        return self._block(loop.body)

    def _item(self, items: Arg) -> Type | None:
        """Return the type of a list's items."""
        known = self.types.type_of(items)
        if known is None or not known.samples or not all(known.samples):
            return None
        return self.types.of_samples(tuple(sample[-1] for sample in known.samples))

    def _listed(self, item: Arg) -> Type | None:
        """Return the type of a list of items."""
        known = self.types.type_of(item)
        if known is None or not known.samples:
            return Type("list") if known is not None else None
        return self.types.of_samples(tuple([s] for s in known.samples))
