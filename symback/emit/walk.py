"""Loops as a person writes them: over what they read, with each thing kept once.

``for i in range(len(X))`` whose body only reads ``X[i]`` walks X itself, and lists that
collect the same items are one.

>>> from symback.graph import Param
>>> X, total, n, i, x, s, out = map(Value, ["X", "t", None, "i", "x", "t", "t"])
>>> read, add = Node("getitem", (X, i), outs=(x,)), Node("add", (total, x), outs=(s,))
>>> length = Node("builtins.len", (X,), outs=(n,))
>>> body = Block((i, total), (read, add), (s,))
>>> loop = Node("for", ((0, n, 1), (), (0.0,)), {}, (out,), (body,))
>>> graph = Graph("f", (Param("X", X),), Block((), (length, loop), (out,)))
>>> [node.op for node in walk_what_is_read(graph).block.nodes[1].blocks[0].nodes]
['add']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..graph import Arg, Block, Graph, Node, Value, leaves, map_leaves
from ..passes.aliases import INPLACE, Aliases, Site, has_inplace

__all__ = ["Pack", "packs", "walk_what_is_read"]

SEVERAL = 3
"""As many lists become one list of tuples."""


def walk_what_is_read(graph: Graph) -> Graph:
    """Return the graph with simpler loops, for printing."""
    if not any(node.op in ("for", "while") for node in graph.block.walk()):
        return graph
    return replace(graph, block=_Walker(graph).block(graph.block))


@dataclass(frozen=True)
class Pack:
    """Lists that one loop collects and another one walks: one list of tuples.

    `first` is whether the items exist when an iteration begins.
    """

    outs: tuple[Value, ...]
    items: tuple[Arg, ...]
    first: bool


def packs(graph: Graph) -> dict[Value, Pack]:
    """Return the lists that are better collected together, each with its pack."""
    found: dict[Value, Pack] = {}
    uses = _Uses(graph)
    for node in graph.block.walk():
        if node.op not in ("for", "while"):
            continue
        body = node.blocks[-1]
        made = {out for inner in body.nodes for out in inner.outs}
        groups: dict[tuple[Node, bool], list[tuple[Value, Arg]]] = {}
        for out, item in _collected(node):
            walkers = uses.walkers.get(out, [])
            if len(walkers) == 1 and uses.only_walked(out):
                first = not (isinstance(item, Value) and item in made)
                groups.setdefault((walkers[0], first), []).append((out, item))
        for (_, first), pairs in groups.items():
            if len(pairs) >= SEVERAL:
                outs, items = zip(*pairs, strict=True)
                found.update(dict.fromkeys(outs, Pack(outs, items, first)))
    return found


def _collected(node: Node) -> list[tuple[Value, Arg]]:
    """Return the lists that a loop collects, each with its item."""
    count = len(node.args[-1])
    results = node.blocks[-1].results[1 if node.kwargs.get("breaks") else 0 :]
    return list(zip(node.outs[count:], results[count:], strict=True))


class _Uses:
    """How a graph's values are used: walked by which loops, measured, or otherwise."""

    def __init__(self, graph: Graph) -> None:
        self.walkers: dict[Value, list[Node]] = {}
        self.others: set[Value] = set(_values(graph.block.results))
        for node in graph.block.walk():
            args: Arg = (node.args, dict(node.kwargs))
            if node.op == "for":
                for walked in node.args[1]:
                    self.walkers.setdefault(walked, []).append(node)
                args = (node.args[0], node.args[2])
            elif node.op == "builtins.len":
                args = ()
            self.others.update(_values(args))
            for block in node.blocks:
                self.others.update(_values(block.results))

    def only_walked(self, value: Value) -> bool:
        """Return whether a list is only walked and measured, never changed."""
        return value not in self.others


class _Walker:
    def __init__(self, graph: Graph) -> None:
        self.uses = _Uses(graph)
        self.nodes = {out: n for n in graph.block.walk() for out in n.outs}
        self.same: dict[Value, Value] = {}
        self.written: set[Site] = set()
        self.aliases: Aliases | None = None
        if has_inplace(graph):
            self.aliases = Aliases(graph)
            for node in graph.block.walk():
                if node.op in INPLACE:
                    self.written |= self.aliases.sites(node.args[0])

    def block(self, block: Block) -> Block:
        """Return a block with simpler loops."""
        nodes = tuple(map(self._node, block.nodes))
        return Block(block.params, nodes, self._new(block.results))

    def _new(self, arg: Any) -> Any:
        return map_leaves(lambda a: self.same.get(a, a) if _is(a) else a, arg)

    def _node(self, node: Node) -> Node:
        if node.op in ("for", "while"):
            node = self._once(node)
        if node.op == "for":
            node = self._walked(node)
        args = self._new(node.args)
        kwargs = self._new(dict(node.kwargs))
        blocks = tuple(map(self.block, node.blocks))
        return replace(node, args=args, kwargs=kwargs, blocks=blocks)

    def _once(self, node: Node) -> Node:
        """Collect each item once, and walk each list once."""
        body = node.blocks[-1]
        flags = 1 if node.kwargs.get("breaks") else 0
        count = len(node.args[-1])
        first: dict[Any, Value] = {}
        kept = list(range(count))
        for k, (out, item) in enumerate(_collected(node), count):
            if _is(item) and self.uses.only_walked(out):
                if item in first:
                    self.same[out] = first[item]
                    continue
                first[item] = out
            kept.append(k)
        results = body.results[:flags] + tuple(body.results[flags + k] for k in kept)
        outs = tuple(node.outs[k] for k in kept)
        params, args = body.params, node.args
        if node.op == "for":
            elements = self._new(args[1])
            seen: dict[Any, Value] = {}
            lead = []
            for param, walked in zip(params[1:], elements, strict=False):
                if walked in seen:
                    self.same[param] = seen[walked]
                else:
                    seen[walked] = param
                    lead.append(param)
            params = (params[0], *lead, *params[1 + len(elements) :])
            args = (args[0], tuple(seen), args[2])
        blocks = (*node.blocks[:-1], Block(params, body.nodes, results))
        return replace(node, args=args, outs=outs, blocks=blocks)

    def _walked(self, node: Node) -> Node:
        """Walk the arrays of which a loop reads one entry after the other."""
        (start, stop, step), elements, inits = node.args
        body = node.blocks[0]
        if start != 0 or step != 1 or _is(start) or _is(step):
            return node
        index = body.params[0]
        measured = self._measured(stop)
        inside = {v for inner in body.walk() for v in inner.outs} | set(body.params)
        reads: dict[Value, Value] = {}
        dropped: list[Node] = []
        for inner in body.nodes:
            if inner.op != "getitem" or inner.args[1] is not index:
                continue
            read = inner.args[0]
            if _is(read) and read not in inside and self._is_whole(read, measured):
                if read in reads:
                    self.same[inner.out] = reads[read]
                reads.setdefault(read, inner.out)
                dropped.append(inner)
        kept = tuple(n for n in body.nodes if n not in dropped)
        rest = Block((), kept, body.results)
        kwargs = dict(node.kwargs)
        if index in rest.free():
            if len(reads) != 1 or elements or kwargs.get("reverse"):
                return node
            # The index is exactly where the walk is: `enumerate`.
            kwargs["whole"] = True
        if not reads:
            return node
        params = (index, *reads.values(), *body.params[1:])
        block = Block(params, kept, body.results)
        args = (node.args[0], (*reads, *elements), inits)
        return replace(node, args=args, kwargs=kwargs, blocks=(block,))

    def _measured(self, stop: Arg) -> Value | None:
        """Return what a length is the length of."""
        made = self.nodes.get(stop) if _is(stop) else None
        if made is None:
            return None
        if made.op == "builtins.len" or (made.op == "dim" and made.args[1] == 0):
            value: Arg = made.args[0]
            return value if isinstance(value, Value) else None
        return None

    def _is_whole(self, read: Value, measured: Value | None) -> bool:
        """Return whether an array has the measured length and stays as it is."""
        if measured is None:
            return False
        if self.aliases is not None and self.aliases.sites(read) & self.written:
            return False
        if read is measured:
            return True
        one, other = read.type, measured.type
        if one is None or other is None or not one.dims or not other.dims:
            return False
        return one.dims[0] == other.dims[0] != "?"


def _is(arg: Any) -> bool:
    return isinstance(arg, Value)


def _values(arg: Arg) -> Iterator[Value]:
    return (leaf for leaf in leaves(arg) if isinstance(leaf, Value))
