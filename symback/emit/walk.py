"""Loops as a person writes them: over what they read, with each thing kept once.

``for i in range(len(X))`` whose body only reads ``X[i]`` walks X itself.  Lists that
collect the same items are one, and many lists that one loop collects for another are
one list of tuples.

>>> from symback.graph import Param
>>> X, total, n, i, x, s, out = map(Value, ["X", "t", None, "i", "x", "t", "t"])
>>> read, add = Node("getitem", (X, i), outs=(x,)), Node("add", (total, x), outs=(s,))
>>> length = Node("builtins.len", (X,), outs=(n,))
>>> body = Block((i, total), (read, add), (s,))
>>> loop = Node("for", ((0, n, 1), (), (0.0,)), {}, (out,), (body,))
>>> graph = Graph("f", (Param("X", X),), Block((), (length, loop), (out,)))
>>> [node.op for node in simpler_loops(graph).graph.block.nodes[1].blocks[0].nodes]
['add']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..graph import Arg, Block, Graph, Node, Value, leaves, map_leaves
from ..passes.aliases import Aliases, Site

__all__ = ["Loops", "simpler_loops"]

SEVERAL = 3
"""As many lists become one list of tuples."""


@dataclass
class Loops:
    """A graph with simpler loops.

    `unpacked` has the values in a tuple that a ``for`` walks, None for those that it
    does not use, by the parameter that stands for the tuple.  `taken` has, for what a
    loop takes from a list, what was put there.
    """

    graph: Graph
    unpacked: dict[Value, list[Value | None]] = field(default_factory=dict)
    taken: dict[Value, Arg] = field(default_factory=dict)

    def targets(self, param: Value) -> list[Value]:
        """Return what a loop's parameter is unpacked to, or itself."""
        return [v for v in self.unpacked.get(param, [param]) if v is not None]


def simpler_loops(graph: Graph, aliases: Aliases | None = None) -> Loops:
    """Return the graph with simpler loops, for printing.

    `aliases` must be given if anything is done in place.
    """
    if not any(node.op in ("for", "while") for node in graph.block.walk()):
        return Loops(graph)
    packer = _Packer(graph)
    packed = replace(graph, block=packer.block(graph.block))
    walked = replace(packed, block=_Reader(packed, aliases).block(packed.block))
    return Loops(walked, packer.unpacked, packer.taken)


@dataclass(frozen=True)
class _Part:
    """A list is the `place`-th part of the tuples in `whole`, `depth` lists down."""

    whole: Value
    place: int
    depth: int
    items: tuple[Arg, ...]


class _Uses:
    """How lists are used: walked by a loop, measured, collected again, or otherwise."""

    def __init__(self, graph: Graph) -> None:
        self.walked: dict[Value, list[tuple[Node, Value]]] = {}
        self.collected: dict[Value, list[tuple[Node, Value]]] = {}
        self.others: set[Value] = set(_values(graph.block.results))
        for node in graph.block.walk():
            args: Arg = (node.args, dict(node.kwargs))
            results = [r for block in node.blocks for r in block.results]
            if node.op in ("for", "while"):
                again = _collected(node)
                results = results[: len(results) - len(again)]
                for out, item in again:
                    if isinstance(item, Value):
                        self.collected.setdefault(item, []).append((node, out))
                    else:
                        results.append(item)
            if node.op == "for":
                args = (node.args[0], node.args[2])
                params = node.blocks[0].params[1:]
                for walked, param in zip(node.args[1], params, strict=False):
                    self.walked.setdefault(walked, []).append((node, param))
            elif node.op == "builtins.len":
                args = ()
            self.others.update(_values((args, results)))

    def only_walked(self, value: Value, depth: int = 1) -> bool:
        """Return whether a list, `depth` lists deep, is only walked and measured."""
        return (
            value not in self.others
            and all(
                depth == 1 or self.only_walked(param, depth - 1)
                for _, param in self.walked.get(value, ())
            )
            and all(
                self.only_walked(out, depth + 1)
                for _, out in self.collected.get(value, ())
            )
        )

    def path(self, value: Value, depth: int = 1) -> tuple[Node, ...]:
        """Return the loops through which a list goes until its items are walked."""
        found: tuple[Node, ...] = ()
        for node, param in self.walked.get(value, ()):
            found += (node,) + (self.path(param, depth - 1) if depth > 1 else ())
        for node, out in self.collected.get(value, ()):
            found += (node, *self.path(out, depth + 1))
        return found


class _Packer:
    """Keeps each item once, and many in one list."""

    def __init__(self, graph: Graph) -> None:
        self.uses = _Uses(graph)
        self.same: dict[Value, Value] = {}
        self.parts: dict[Value, _Part] = {}
        self.unpacked: dict[Value, list[Value | None]] = {}
        self.taken: dict[Value, Arg] = {}
        self.items: dict[Value, Arg] = {}

    def block(self, block: Block) -> Block:
        """Return a block with fewer lists."""
        nodes = tuple(map(self._node, block.nodes))
        return Block(block.params, nodes, self._new(block.results))

    def _new(self, arg: Any) -> Any:
        return map_leaves(self._value, arg)

    def _value(self, leaf: Any) -> Any:
        leaf = self._first(leaf)
        part = self.parts.get(leaf) if isinstance(leaf, Value) else None
        return leaf if part is None else part.whole

    def _first(self, leaf: Any) -> Any:
        """Return the value of which another one is a repetition."""
        while isinstance(leaf, Value) and leaf in self.same:
            leaf = self.same[leaf]
        return leaf

    def _node(self, node: Node) -> Node:
        if node.op == "for":
            node = self._walk(node)
        loop = node.op in ("for", "while")
        items = [item for _, item in _collected(node)] if loop else []
        args, kwargs = self._new(node.args), self._new(dict(node.kwargs))
        blocks = tuple(map(self.block, node.blocks))
        node = replace(node, args=args, kwargs=kwargs, blocks=blocks)
        return self._collect(node, items) if loop else node

    def _walk(self, node: Node) -> Node:
        """Let a loop walk each list once."""
        body = node.blocks[0]
        (bounds, elements, inits) = node.args
        seen: dict[Value, Value] = {}
        for param, element in zip(body.params[1:], elements, strict=False):
            walked = self._first(element)
            part = self.parts.get(walked)
            if part is None:
                if walked in seen:
                    self.same[param] = seen[walked]
                seen.setdefault(walked, param)
                self.taken[param] = self.items.get(walked)
                continue
            if part.whole not in seen:
                seen[part.whole] = Value()
            whole = seen[part.whole]
            if part.depth > 1:
                self.taken[whole] = self.items.get(part.whole)
                self.parts[param] = replace(part, whole=whole, depth=part.depth - 1)
                continue
            targets = self.unpacked.setdefault(whole, [None] * len(part.items))
            other = targets[part.place]
            if other is not None:
                self.same[param] = other
            else:
                targets[part.place] = param
                self.taken[param] = part.items[part.place]
        params = (body.params[0], *seen.values(), *body.params[1 + len(elements) :])
        block = Block(params, body.nodes, body.results)
        return replace(node, args=(bounds, tuple(seen), inits), blocks=(block,))

    def _collect(self, node: Node, items: list[Arg]) -> Node:
        """Let a loop collect each item once, and many together."""
        body = node.blocks[-1]
        made = {out for inner in body.nodes for out in inner.outs}
        count = len(node.outs) - len(items)
        kept: dict[Value, Arg] = {}
        first: dict[Any, Value] = {}
        groups: dict[tuple[bool, tuple[Node, ...]], list[tuple[Value, Arg]]] = {}
        for out, given in zip(node.outs[count:], items, strict=True):
            item = self._first(given)
            part = self.parts.get(item) if isinstance(item, Value) else None
            if part is not None:
                whole = first.setdefault(part.whole, Value())
                self.parts[out] = replace(part, whole=whole, depth=part.depth + 1)
                kept[whole] = self.items[whole] = part.whole
            elif not isinstance(item, Value) or not self.uses.only_walked(out):
                kept[out] = item
            elif item in first:
                self.same[out] = first[item]
            else:
                first[item] = out
                kept[out] = self.items[out] = item
                path = self.uses.path(out)
                groups.setdefault((item in made, path), []).append((out, item))
        for pairs in groups.values():
            if len(pairs) >= SEVERAL:
                together = tuple(item for _, item in pairs)
                whole = Value()
                for place, (out, _) in enumerate(pairs):
                    self.parts[out] = _Part(whole, place, 1, together)
                    del kept[out]
                kept[whole] = together
        results = body.results[: len(body.results) - len(items)] + tuple(kept.values())
        outs = (*node.outs[:count], *kept)
        block = Block(body.params, body.nodes, results)
        return replace(node, outs=outs, blocks=(*node.blocks[:-1], block))


class _Reader:
    """Lets loops walk the arrays of which they read one entry after the other."""

    def __init__(self, graph: Graph, aliases: Aliases | None) -> None:
        self.nodes = {out: n for n in graph.block.walk() for out in n.outs}
        self.same: dict[Value, Value] = {}
        self.aliases = aliases
        self.written: set[Site] = set()
        if aliases is not None:
            for node in graph.block.walk():
                if node.op.alias.writes:
                    self.written |= aliases.sites(node.args[0])

    def block(self, block: Block) -> Block:
        """Return a block whose loops walk what they read."""
        nodes = tuple(map(self._node, block.nodes))
        return Block(block.params, nodes, self._new(block.results))

    def _new(self, arg: Any) -> Any:
        return map_leaves(
            lambda a: self.same.get(a, a) if isinstance(a, Value) else a, arg
        )

    def _node(self, node: Node) -> Node:
        if node.op == "for":
            node = self._walked(node)
        args, kwargs = self._new(node.args), self._new(dict(node.kwargs))
        blocks = tuple(map(self.block, node.blocks))
        return replace(node, args=args, kwargs=kwargs, blocks=blocks)

    def _walked(self, node: Node) -> Node:
        (start, stop, step), elements, inits = node.args
        body = node.blocks[0]
        if (
            isinstance(start, Value)
            or isinstance(step, Value)
            or (start, step) != (0, 1)
        ):
            return node
        index = body.params[0]
        measured = str(stop) if isinstance(stop, int) else self._measured(stop)
        inside = {v for inner in body.walk() for v in inner.outs} | set(body.params)
        reads: dict[Value, Value] = {}
        kept: list[Node] = []
        for inner in body.nodes:
            if inner.op == "getitem" and inner.args[1] is index:
                read = inner.args[0]
                if read not in inside and self._is_whole(read, measured):
                    if read in reads:
                        self.same[inner.out] = reads[read]
                    reads.setdefault(read, inner.out)
                    continue
            kept.append(inner)
        kwargs = dict(node.kwargs)
        if not reads:
            return node
        if index in Block((), tuple(kept), body.results).free():
            if len(reads) != 1 or elements or kwargs.get("reverse"):
                return node
            # The index is exactly where the walk is: `enumerate`.
            kwargs["whole"] = True
        params = (index, *reads.values(), *body.params[1:])
        block = Block(params, tuple(kept), body.results)
        args = (node.args[0], (*reads, *elements), inits)
        return replace(node, args=args, kwargs=kwargs, blocks=(block,))

    def _measured(self, stop: Arg) -> Value | None:
        """Return what a length is the length of."""
        made = self.nodes.get(stop) if isinstance(stop, Value) else None
        if made is not None and (
            made.op == "builtins.len" or (made.op == "dim" and made.args[1] == 0)
        ):
            value: Arg = made.args[0]
            return value if isinstance(value, Value) else None
        return None

    def _is_whole(self, read: Arg, measured: Value | str | None) -> bool:
        """Return whether an array has the measured length and stays as it is."""
        if measured is None or not isinstance(read, Value):
            return False
        if self.aliases is not None and self.aliases.sites(read) & self.written:
            return False
        if read is measured:
            return True
        if isinstance(measured, str):
            return bool(read.type and read.type.dims[:1] == (measured,))
        one, other = read.type, measured.type
        if one is None or other is None or not one.dims or not other.dims:
            return False
        return one.dims[0] == other.dims[0] != "?"


def _collected(node: Node) -> list[tuple[Value, Arg]]:
    """Return the lists that a loop collects, each with its item."""
    count = len(node.args[-1])
    results = node.blocks[-1].results[1 if node.kwargs.get("breaks") else 0 :]
    return list(zip(node.outs[count:], results[count:], strict=True))


def _values(arg: Arg) -> Iterator[Value]:
    return (leaf for leaf in leaves(arg) if isinstance(leaf, Value))
