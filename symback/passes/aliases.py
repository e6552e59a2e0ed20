"""Which values of a graph may share memory.

Every value that is not a scalar has *sites*: the nodes and parameters that its memory
may come from.  Two values without a common site never share memory.  A site may hold
others, as a list holds its items: appending writes to the list, not to the items.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Arg, Block, Graph, Node, Value, leaves
from .kinds import Kinds

__all__ = ["Aliases", "Site", "has_inplace", "is_view"]

Site = Any
"""A value that a node or a parameter brings into being, or a node's constant."""


def has_inplace(graph: Graph) -> bool:
    """Return whether anything in a graph is done in place."""
    return any(node.op.alias.writes for node in graph.block.walk())


def is_view(node: Node) -> bool:
    """Return whether a node's result may be memory of its first argument, or in it."""
    alias = node.op.alias
    if node.op == "getitem":
        return not _copies(node.args[1])
    if node.blocks or alias.writes or alias.held:
        return False
    return bool(node.op.sources(node.args, node.kwargs))


class Aliases:
    """The sites of all values of a graph.

    `external` are the sites that must not be written to: a caller's memory, and views
    that NumPy makes read-only.
    """

    def __init__(self, graph: Graph) -> None:
        self._kinds = Kinds(graph)
        self._sites: dict[Value, set[Site]] = {}
        self._held: dict[Site, set[Site]] = {}
        self.external = {
            p.value for p in graph.params if not self._kinds.is_scalar(p.value)
        }
        for site in self.external:
            self._sites[site] = {site}
            self._held[site] = {site}
        for node in graph.block.walk():
            op = node.op
            if op.alias.read_only and op.sources(node.args, node.kwargs):
                self.external.update(node.outs)
        self._changed = True
        while self._changed:
            self._changed = False
            self._block(graph.block)

    def sites(self, value: Arg) -> set[Site]:
        """Return where the memory of a value itself may come from."""
        return self._sites.get(value, set()) if isinstance(value, Value) else set()

    def reads(self, value: Arg) -> set[Site]:
        """Return all sites that reading a value, or what it holds, may touch."""
        found: set[Site] = set()
        for leaf in leaves(value):
            found |= self.sites(leaf)
        return self._reach(found)

    def mutated(self, node: Node) -> set[Site]:
        """Return the sites that a node writes to, nested blocks included."""
        found: set[Site] = set()
        for inner in node.walk():
            if inner.op.alias.writes:
                found |= self.sites(inner.args[0])
        return found

    def _reach(self, sites: set[Site]) -> set[Site]:
        found: set[Site] = set()
        rest = list(sites)
        while rest:
            site = rest.pop()
            if site not in found:
                found.add(site)
                rest += self._held.get(site, ())
        return found

    def _contents(self, sites: Iterable[Site]) -> set[Site]:
        return {inner for site in sites for inner in self._held.get(site, ())}

    def _add(self, value: Value, sites: Iterable[Site]) -> None:
        if not self._kinds.is_scalar(value):
            self._grow(self._sites.setdefault(value, set()), sites)

    def _hold(self, containers: Iterable[Site], items: set[Site]) -> None:
        if items:
            for site in containers:
                self._grow(self._held.setdefault(site, set()), items)

    def _grow(self, known: set[Site], sites: Iterable[Site]) -> None:
        size = len(known)
        known.update(sites)
        self._changed = self._changed or len(known) > size

    def _arg(self, arg: Arg, key: Site) -> set[Site]:
        """Return the sites of an argument; a constant that can be changed is one."""
        if isinstance(arg, Value):
            return self.sites(arg)
        if isinstance(arg, (list, tuple, dict)):
            self._hold([key], {s for leaf in leaves(arg) for s in self.sites(leaf)})
            return {key}
        return {key} if isinstance(arg, np.ndarray) else set()

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            self._node(node)

    def _node(self, node: Node) -> None:
        op, args, outs = node.op, node.args, node.outs
        if op == "if":
            for block in node.blocks:
                self._block(block)
                for k, out in enumerate(outs):
                    if block.results[k] is not UNDEFINED:
                        self._add(out, self._arg(block.results[k], (block, k)))
        elif op in ("for", "while"):
            self._loop(node)
        elif op.alias.writes:
            self._inplace(node)
        elif op == "getitem":
            base = self._arg(args[0], (node, 0))
            if self._may_be_list(node):
                self._add(outs[0], self._contents(base))
            if _may_be_array(args[0]):
                self._add(outs[0], [outs[0]] if _copies(args[1]) else base)
        elif op.alias.held:
            self._container(node)
        elif op == "stop_gradient":
            self._add(outs[0], self._arg(args[0], (node, 0)))
        else:
            self._call(node)

    def _may_be_list(self, node: Node) -> bool:
        """Return whether what a node indexes may be a container."""
        value, index = node.args[0], node.args[1]
        kind = value.type.kind if isinstance(value, Value) and value.type else None
        if kind not in (None, "list", "tuple", "object") or self._kinds.is_array(value):
            return False
        return not isinstance(index, (tuple, list))

    def _inplace(self, node: Node) -> None:
        changed = self._arg(node.args[0], (node, 0))
        self._add(node.outs[0], changed)
        if node.op == "list_pop":
            self._add(node.outs[1], self._contents(changed))
        elif node.op == "list_append":
            self._hold(changed, self._arg(node.args[1], (node, 1)))
        elif self._may_be_list(node):
            # The sum that `index_add` puts into a list is a new object.
            new = self._arg(node.args[2], (node, 2)) if node.op == "setitem" else None
            self._hold(changed, {(node, 2)} if new is None else new)

    def _container(self, node: Node) -> None:
        """A new object holds what others are, or hold."""
        out, held = node.outs[0], node.op.alias.held
        self._add(out, [out])
        if held == "new":
            self._hold([out], {(node, "items")})
        if held == "new" or (held == "lists" and not self._kinds.is_list(out)):
            return
        sources = node.op.sources(node.args, node.kwargs)
        items = {s for leaf in leaves(sources) for s in self.sites(leaf)}
        self._hold([out], items if held == "items" else self._contents(items))

    def _call(self, node: Node) -> None:
        sources = node.op.sources(node.args, node.kwargs)
        taken = self._reach({s for leaf in leaves(sources) for s in self.sites(leaf)})
        if node.op.alias.of is None:
            # It may keep what it is given in whatever it is given.
            self._hold(taken, taken)
        for out in node.outs:
            self._add(out, [out])
            self._add(out, taken)
            self._hold([out], taken)

    def _loop(self, node: Node) -> None:
        inits, body = node.args[-1], node.blocks[-1]
        flags = 1 if node.kwargs.get("breaks") else 0
        lead = len(body.params) - len(inits)
        if node.op == "for":
            for param, walked in zip(body.params[1:lead], node.args[1], strict=True):
                self._add(param, self._contents(self._arg(walked, (node, "list"))))
        for k, out in enumerate(node.outs):
            result = body.results[flags + k]
            found = self._arg(result, (body, k)) if result is not UNDEFINED else set()
            if k >= len(inits):
                self._add(out, [out])
                self._hold([out], found)
                continue
            if inits[k] is not UNDEFINED:
                found = found | self._arg(inits[k], (node, k))
            for block in node.blocks:
                self._add(block.params[len(block.params) - len(inits) + k], found)
            self._add(out, found)
        for block in node.blocks:
            self._block(block)


def _may_be_array(value: Arg) -> bool:
    kind = value.type.kind if isinstance(value, Value) and value.type else None
    return kind in (None, "array", "object")


def _copies(index: Arg) -> bool:
    """Return whether indexing with this certainly copies: with arrays or lists."""
    if isinstance(index, tuple):
        return any(map(_copies, index))
    kind = index.type.kind if isinstance(index, Value) and index.type else ""
    return isinstance(index, (list, np.ndarray)) or kind in ("array", "list")
