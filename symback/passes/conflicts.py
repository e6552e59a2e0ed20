"""What mutation in place would spoil, and the copies that prevent it.

A mutation is safe when its memory is no caller's, can be written to, and holds nothing
that is needed afterwards: later in its block, in the next iteration of a loop around
it, in a list that a loop collects, or in the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..graph import UNDEFINED, Arg, Block, Graph, Node, Value, leaves
from .aliases import Aliases, Site, is_view

__all__ = ["Cuts", "Search"]


@dataclass
class Cuts:
    """Where copies go: after values are made, or before they are handed on.

    `edges` are arguments of nodes and results of blocks, by owner and position.
    """

    values: set[Value] = field(default_factory=set)
    edges: set[tuple[Node | Block, int]] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.values or self.edges)


@dataclass
class _Place:
    """A node; `loop` is the innermost body around it, None for none."""

    node: Node
    loop: Block | None


class Search:
    """Finds the first mutation that is not safe, and the copies that make it so.

    `tried` are the outputs of mutations that targeted copies did not make safe: for
    these the whole argument is copied, and then it is among the `owned` values.
    """

    def __init__(
        self, graph: Graph, owned: set[Value], tried: set[Value] | None = None
    ) -> None:
        self.graph = graph
        self.tried = set() if tried is None else tried
        self.owned = owned
        self.aliases = Aliases(graph)
        self.made: dict[Value, _Place] = {}
        self.given: dict[Value, tuple[Node, Block]] = {}
        self.around: dict[Block, Node] = {}
        self.home: dict[Node, Block] = {}
        self.alive: dict[Node, set[Value]] = {}
        self.mutations: list[_Place] = []
        self.loops: dict[Value, tuple[Block, ...]] = {}
        self._place(graph.block, ())
        self._live(graph.block, set())

    def cuts(self, hasty: bool = False) -> Cuts:
        """Return where to copy next; nowhere when every mutation is safe.

        Parts of something larger come first, since what was made from them is fresh
        once they are.  A copy of something whole may make later mutations of it safe:
        they are looked at again in the next round, unless that is too slow (`hasty`).
        """
        parts, wholes = Cuts(), Cuts()
        touched: set[Site] = set()
        trying: set[Value] = set()
        for place in self.mutations:
            node = place.node
            if node.args[0] in self.owned:
                continue
            found = self._conflicts(place)
            parts.values |= found.values
            sites = self.aliases.sites(node.args[0])
            if not found.edges or (touched & sites and not hasty):
                continue
            touched |= sites
            trying.add(node.outs[0])
            if node.outs[0] in self.tried:
                wholes.edges.add((node, 0))
            else:
                wholes.edges |= found.edges
        if parts.values:
            return parts
        self.tried |= trying
        return wholes

    def _place(self, block: Block, loops: tuple[Block, ...]) -> None:
        for node in block.nodes:
            place = _Place(node, loops[-1] if loops else None)
            self.home[node] = block
            for out in node.outs:
                self.made[out] = place
                self.loops[out] = loops
            for nested in node.blocks:
                self.around[nested] = node
                for param in nested.params:
                    self.given[param] = (node, nested)
                    self.loops[param] = loops
                inner = (nested,) if node.op in ("for", "while") else ()
                self._place(nested, loops + inner)
            if node.op.alias.writes:
                self.mutations.append(place)

    def _live(self, block: Block, live: set[Value]) -> set[Value]:
        """Note what is alive after each mutation; return what is before the block."""
        live = live.union(_values(block.results))
        for node in reversed(block.nodes):
            live.difference_update(node.outs)
            if node.op.alias.writes:
                self.alive[node] = set(live)
            if node.op == "if":
                then, orelse = node.blocks
                other = self._live(orelse, live)
                # What an exception leads to needs its values as they were.
                after = live | other if "catch" in node.kwargs else live
                live = self._live(then, after) | other
            elif node.blocks:
                # What a loop reads from outside is needed in every iteration, and so
                # is a list that it walks.
                inside = live | {v for b in node.blocks for v in b.free()}
                inside |= set(_values(node.args[1])) if node.op == "for" else set()
                for nested in node.blocks:
                    self._live(nested, inside)
                live = inside
            live.update(node.inputs)
        return live

    # Conflicts

    def _conflicts(self, place: _Place) -> Cuts:
        """Return the copies that a mutation needs."""
        node = place.node
        changed = node.args[0]
        sites = self.aliases.sites(changed)
        cuts = Cuts()
        if not isinstance(changed, Value):
            return cuts
        if not sites:
            # Where it comes from is unknown: rather a copy too many.
            return Cuts(edges={(node, 0)})
        needed = self.alive[node]
        levels, loop = self._levels(changed, place)
        if loop is not None:
            # The memory was made in this very iteration: older values lie elsewhere.
            needed = {v for v in needed if self._is_inside(v, loop)}
        if sites & self.aliases.external:
            self._cut_external(changed, (node, 0), cuts, set())
            return cuts
        conflicts = [v for v in needed if self.aliases.reads(v) & sites]
        conflicts += self._collected(levels, sites, cuts)
        parts = {v for v in conflicts if v is not changed and self._is_part(v)}
        if parts:
            # What was made from views may be fresh once they are, views of views too.
            views = {v for v in parts if is_view(self.made[v].node)} or parts
            return Cuts(
                {v for v in views if views.isdisjoint(self.made[v].node.inputs)}
            )
        for value in conflicts:
            self._cut_value(value, place, cuts)
        return cuts

    def _levels(self, value: Value, place: _Place) -> tuple[list[Block], Block | None]:
        """Return the loops whose iterations share a mutation's memory, innermost first.

        And the loop around these, in each iteration of which the memory is made anew;
        None if it is older than all loops, or not known.
        """
        levels: list[Block] = []
        loop = place.loop
        while loop is not None and not self._is_own(value, loop):
            levels.append(loop)
            loop = self._loop_of(self.home[self.around[loop]])
        return levels, loop

    def _is_own(self, value: Arg, loop: Block) -> bool:
        """Return whether all memory of a value was made in one iteration of a loop."""
        seen: set[Value] = set()
        rest = [value]
        while rest:
            v = rest.pop()
            if not isinstance(v, Value) or v in seen:
                continue
            seen.add(v)
            if not self._is_inside(v, loop):
                return False
            if v in self.given:
                node, block = self.given[v]
                position = block.params.index(v)
                if position < len(block.params) - len(node.args[-1]):
                    return False
                rest += self._carried(node, position, block)
                continue
            node = self.made[v].node
            sources = self._sources(v, node)
            if sources is not None:
                rest += sources
                if node.op == "getitem" and not _is_array(node.args[0]):
                    return False
                if node.op in ("list_pop", "call", "method", "attr"):
                    return False
        return True

    def _sources(self, value: Value, node: Node) -> list[Arg] | None:
        """Return the arguments whose memory a value may be; None: its own."""
        if node.op.alias.writes or node.op == "stop_gradient":
            return [node.args[0]]
        if node.op == "if":
            k = node.outs.index(value)
            return [b.results[k] for b in node.blocks]
        if node.op in ("for", "while"):
            k = node.outs.index(value)
            if k >= len(node.args[-1]):
                return None
            body = node.blocks[-1]
            lead = len(body.params) - len(node.args[-1])
            return self._carried(node, lead + k, body)
        if self.aliases.sites(value) <= {value}:
            return None
        return [leaf for leaf in leaves((node.args, dict(node.kwargs)))]

    def _carried(self, node: Node, position: int, block: Block) -> list[Arg]:
        """Return what a carried parameter begins with and what it becomes."""
        inits, body = node.args[-1], node.blocks[-1]
        k = position - (len(block.params) - len(inits))
        flags = 1 if node.kwargs.get("breaks") else 0
        return [inits[k], body.results[flags + k]]

    def _is_inside(self, value: Value, loop: Block) -> bool:
        """Return whether a value is defined by an iteration of a loop, however deep."""
        return loop in self.loops.get(value, ())

    # Copies

    def _cut_external(
        self,
        value: Arg,
        edge: tuple[Node | Block, int],
        cuts: Cuts,
        seen: set[Value],
    ) -> None:
        """Copy wherever a caller's memory would enter what is written to."""
        if not isinstance(value, Value) or value in seen:
            return
        if not self.aliases.sites(value) & self.aliases.external:
            return
        if value not in self.made and value not in self.given:
            cuts.edges.add(edge)
            return
        seen.add(value)
        if value in self.given:
            node, block = self.given[value]
            lead = len(block.params) - len(node.args[-1])
            position = block.params.index(value) - lead
            if position < 0:
                cuts.values.add(value)
            else:
                self._cut_carried(node, position, cuts, seen)
            return
        node = self.made[value].node
        if node.op.alias.writes and value is node.outs[0]:
            self._cut_external(node.args[0], (node, 0), cuts, seen)
        elif node.op == "if":
            k = node.outs.index(value)
            for block in node.blocks:
                self._cut_external(block.results[k], (block, k), cuts, seen)
        elif node.op in ("for", "while"):
            self._cut_carried(node, node.outs.index(value), cuts, seen)
        else:
            cuts.values.add(value)

    def _cut_carried(self, node: Node, k: int, cuts: Cuts, seen: set[Value]) -> None:
        inits, body = node.args[-1], node.blocks[-1]
        flags = 1 if node.kwargs.get("breaks") else 0
        self._cut_external(inits[k], (node, k), cuts, seen)
        self._cut_external(body.results[flags + k], (body, flags + k), cuts, seen)

    def _cut_value(self, value: Value, place: _Place, cuts: Cuts) -> None:
        """Copy so that a value which is needed later is not what is written to."""
        cuts.edges.add(self._entry(value, place) or (place.node, 0))

    def _is_part(self, value: Value) -> bool:
        """Return whether a value may be a part of something else, a row say."""
        if value not in self.made or self.aliases.sites(value) <= {value}:
            return False
        node = self.made[value].node
        plumbing = node.blocks or node.op.alias.writes or node.op == "stop_gradient"
        return not plumbing and node.op.alias.held in ("", "lists")

    def _entry(self, value: Value, place: _Place) -> tuple[Node, int] | None:
        """Return the loop around a mutation that begins with a value, if any."""
        loop = place.loop
        while loop is not None:
            node = self.around[loop]
            for k, init in enumerate(node.args[-1]):
                if init is value and self._flows(node, k, place):
                    return (node, k)
            loop = self._loop_of(self.home[node])
        return None

    def _flows(self, node: Node, k: int, place: _Place) -> bool:
        """Return whether a loop's carried value may be what is written to."""
        lead = len(node.blocks[-1].params) - len(node.args[-1])
        param = node.blocks[-1].params[lead + k]
        changed = self.aliases.sites(place.node.args[0])
        return bool(self.aliases.sites(param) & changed)

    def _loop_of(self, block: Block) -> Block | None:
        """Return the innermost loop's body that a block is or is in."""
        while block in self.around:
            node = self.around[block]
            if node.op in ("for", "while"):
                return block
            block = self.home[node]
        return None

    def _collected(
        self, levels: list[Block], sites: set[Site], cuts: Cuts
    ) -> Iterator[Value]:
        """Copy what loops collect if a later iteration would write to it.

        Parts of something larger are yielded instead.
        """
        for loop in levels:
            node = self.around[loop]
            body = node.blocks[-1]
            flags = 1 if node.kwargs.get("breaks") else 0
            for k in range(len(node.args[-1]), len(node.outs)):
                item = body.results[flags + k]
                if self.aliases.reads(item) & sites:
                    if isinstance(item, Value) and self._is_part(item):
                        yield item
                    else:
                        self._cut_defined(item, (body, flags + k), cuts)

    def _cut_defined(
        self, value: Arg, edge: tuple[Node | Block, int], cuts: Cuts
    ) -> None:
        """Copy a value; where a path leaves it undefined, on the other paths."""
        place = self.made.get(value) if isinstance(value, Value) else None
        if place is None or place.node.op != "if" or not self._may_lack(value):
            cuts.edges.add(edge)
            return
        k = place.node.outs.index(value)
        for block in place.node.blocks:
            if isinstance(block.results[k], Value):
                self._cut_defined(block.results[k], (block, k), cuts)

    def _may_lack(self, value: Arg) -> bool:
        """Return whether a value is undefined on some path through branches."""
        if value is UNDEFINED:
            return True
        place = self.made.get(value) if isinstance(value, Value) else None
        if place is None or place.node.op != "if":
            return False
        k = place.node.outs.index(value)
        return any(self._may_lack(block.results[k]) for block in place.node.blocks)


def _values(arg: Arg) -> Iterator[Value]:
    return (leaf for leaf in leaves(arg) if isinstance(leaf, Value))


def _is_array(value: Arg) -> bool:
    return isinstance(value, Value) and value.type is not None and value.type.is_array
