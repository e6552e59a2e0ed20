"""Which values are printed inside the expression that uses them.

A value without a name that is used once, in the block that defines it, needs no
statement of its own, unless memory that it reads is written to before its use, or the
line would grow too long.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..graph import UNDEFINED, Arg, Block, Node, Value, leaves
from ..passes.aliases import Aliases
from ..passes.drop import raises
from .walk import Loops

__all__ = ["Plan", "boolean", "plan"]

WIDTH = 70
"""Characters that an expression may have before its parts get names."""

CHEAP_ATTRIBUTES = frozenset({"T", "size", "ndim", "shape", "dtype"})


@dataclass
class Plan:
    """What was decided: values without statements, and their definitions.

    `nodes` has the definition of every value that a node defines; `uses` counts where
    values are used; `same` are values that are other values; `branches` are the ``if``
    nodes that are expressions; `dead` are nodes that nothing which is printed needs.
    """

    inlined: set[Value] = field(default_factory=set)
    nodes: dict[Value, Node] = field(default_factory=dict)
    uses: Counter[Value] = field(default_factory=Counter)
    same: dict[Value, Arg] = field(default_factory=dict)
    branches: set[Node] = field(default_factory=set)
    dead: set[Node] = field(default_factory=set)

    def resolve(self, arg: Arg) -> Arg:
        """Return what a value is when it is only another name for something."""
        while isinstance(arg, Value) and arg in self.same:
            arg = self.same[arg]
        return arg


def plan(loops: Loops, aliases: Aliases | None) -> Plan:
    """Decide for every value of a graph; `aliases` are None if nothing is in place."""
    planner = _Planner(loops, aliases)
    planner.block(loops.graph.block)
    return planner.plan


def boolean(node: Node) -> str | None:
    """Return ``"and"`` or ``"or"`` where an ``if`` node is one of these.

    ``a and b`` is ``b if a else a``.
    """
    for word, position in (("and", 1), ("or", 0)):
        block = node.blocks[position]
        if not block.nodes and block.results == node.args and len(node.outs) == 1:
            return word
    return None


class _Planner:
    def __init__(self, loops: Loops, aliases: Aliases | None) -> None:
        self.plan = Plan()
        self.loops = loops
        self.aliases = aliases
        self.written: set[object] = set()
        self.width: dict[Value, int] = {}
        for node in loops.graph.block.walk():
            if aliases is not None and node.op.alias.writes:
                self.written |= aliases.sites(node.args[0])
            for out in node.outs:
                self.plan.nodes[out] = node
            if node.op == "stop_gradient":
                self.plan.same[node.out] = node.args[0]

    def block(
        self, block: Block, collected: Sequence[int] = (), tried: bool = False
    ) -> Counter[Value]:
        """Decide for the values of a block and return how often it uses each value.

        The results at the places `collected` are collected where they are defined, not
        at the end.  In a block that is `tried`, what may raise is printed.
        """
        places: dict[Value, list[int]] = {}
        total: Counter[Value] = Counter()
        end = len(block.nodes)
        for result in block.results:
            for value in self._values(result):
                places.setdefault(value, []).append(end)
                total[value] += 1
        for position in range(end - 1, -1, -1):
            node = block.nodes[position]
            needed = any(out in total for out in node.outs) or _acts(node)
            if not needed and not (tried and raises(node)):
                self.plan.dead.add(node)
                continue
            direct, nested = self._uses(node)
            for value, count in direct.items():
                places.setdefault(value, []).extend([position] * count)
            for value, count in nested.items():
                # Twice: what a nested block uses is not moved into it.
                places.setdefault(value, []).extend([position] * (count + 1))
            # Not with `+=`, which looks through all that is counted already.
            total.update(direct)
            total.update(nested)
        items = [block.results[k] for k in collected]
        lone = {v for v in items if isinstance(v, Value)}
        self._choose(block, places, lone)
        self._shorten(block)
        self.plan.uses.update(
            {v: total[v] for n in block.nodes for v in n.outs if v in total}
        )
        return total

    def _values(self, arg: Arg) -> list[Value]:
        """Return the values of an argument, looked through `same`."""
        found = (self.plan.resolve(leaf) for leaf in leaves(arg))
        return [
            v for leaf in found for v in leaves(leaf) if isinstance(v, Value)
        ]  # a value may be the same as a constant

    def _uses(self, node: Node) -> tuple[Counter[Value], Counter[Value]]:
        """Return how often a node's arguments and its nested blocks use each value."""
        if node.op == "stop_gradient":
            return Counter(), Counter()
        nested: Counter[Value] = Counter()
        for block in node.blocks:
            collected: list[int] = []
            if node.op in ("for", "while") and block is node.blocks[-1]:
                flags = 1 if node.kwargs.get("breaks") else 0
                collected = [
                    flags + k
                    for k in range(len(node.args[-1]), len(node.outs))
                    if isinstance(block.results[flags + k], Value)
                ]
            tried = "catch" in node.kwargs and block is node.blocks[0]
            nested += self.block(block, collected, tried)
        for block in node.blocks:
            for param in block.params:
                targets = self.loops.targets(param)
                self.plan.uses.update({v: nested[v] for v in (param, *targets)})
        args: Arg = (node.args, dict(node.kwargs))
        if node.op == "for" and not self._is_counted(node, nested):
            args = node.args[1:]
        direct = Counter(self._values(args))
        if node.op == "if" and self._is_expression(node):
            self.plan.branches.add(node)
            if boolean(node):
                nested -= Counter(self._values(node.args))
        return direct, nested

    def _is_counted(self, node: Node, nested: Counter[Value]) -> bool:
        """Return whether the text of a ``for`` mentions its range."""
        index, *walked = node.blocks[0].params[: 1 + len(node.args[1])]
        if not any(v in nested for param in walked for v in self.loops.targets(param)):
            return True
        return index in nested and not node.kwargs.get("whole")

    def _is_expression(self, node: Node) -> bool:
        """Return whether an ``if`` node can be printed as ``a if c else b``."""
        if len(node.outs) != 1 or "catch" in node.kwargs:
            return False
        width = 10
        for block in node.blocks:
            if not all(set(n.outs) <= self.plan.inlined for n in block.nodes):
                return False
            if not all(n.outs for n in block.nodes):
                return False
            if block.results[0] is UNDEFINED:
                return False
            width += self._measure(block.results[0])
        return width <= WIDTH

    def _choose(
        self, block: Block, places: dict[Value, list[int]], items: set[Value]
    ) -> None:
        """Inline what is used once, last nodes first, where nothing stands between."""
        moved: dict[int, int] = {}
        acting = [_has_effect(node) for node in block.nodes]
        effects = [k for k, acts in enumerate(acting) if acts]
        writes = [
            k
            for k, node in enumerate(block.nodes)
            if any(inner.op.alias.writes for inner in node.walk())
        ]
        for position in range(len(block.nodes) - 1, -1, -1):
            node = block.nodes[position]
            if len(node.outs) != 1 or not self._may_inline(node):
                continue
            (out,) = node.outs
            used = places.get(out, [])
            if self._is_cheap(node):
                self.plan.inlined.add(out)
                continue
            if out.name is not None or len(used) != 1:
                continue
            if out in items:
                self.plan.inlined.add(out)
                continue
            if used[0] < len(block.nodes) and not self._may_be_told(
                node, block.nodes[used[0]]
            ):
                continue
            place = moved.get(used[0], used[0])
            if acting[position]:
                free = place == position + 1
            else:
                free = not _between(effects, position, place)
            writers = [block.nodes[k] for k in _between(writes, position, place)]
            if free and self._may_pass(node, writers):
                self.plan.inlined.add(out)
                moved[position] = place

    def _may_be_told(self, node: Node, user: Node) -> bool:
        """Return whether a node may stand inside its user: not all fits in f-strings.

        Before Python 3.12 they hold neither their own quotes nor backslashes.
        """
        if user.op != "fstring":
            return True
        found = [*leaves(node.args), *leaves(dict(node.kwargs))]
        plain = not any(isinstance(leaf, (str, bytes)) for leaf in found)
        values = [self.plan.resolve(leaf) for leaf in found if isinstance(leaf, Value)]
        simple = all(v not in self.plan.nodes or v.name is not None for v in values)
        return plain and simple and not node.blocks

    def _may_inline(self, node: Node) -> bool:
        if node.op == "if":
            return node in self.plan.branches
        return (
            not node.blocks and not node.op.alias.writes and node.op != "stop_gradient"
        )

    def _is_cheap(self, node: Node) -> bool:
        """Return whether a value is shorter repeated than named: ``x.shape[0]``."""
        cheap = (
            node.op in ("dim", "shape")
            or (node.op == "np.transpose" and len(node.args) == 1 and not node.kwargs)
            or (node.op == "attr" and node.args[1] in CHEAP_ATTRIBUTES)
        )
        if not cheap or node.out.name is not None:
            return False
        if node.op == "attr" and not _is_array(node.args[0]):
            return False
        base = self.plan.resolve(node.args[0])
        if not isinstance(base, Value) or base in self.plan.inlined:
            return False
        made = self.plan.nodes.get(base)
        named = base.name is not None or made is None
        if self.aliases is not None and self.aliases.sites(base) & self.written:
            return False
        return named

    def _may_pass(self, node: Node, writers: Sequence[Node]) -> bool:
        """Return whether a node may be evaluated after others that write to memory."""
        if self.aliases is None or not writers:
            return True
        mutated = set().union(*map(self.aliases.mutated, writers))
        read = set().union(*map(self.aliases.reads, node.uses))
        return not (read & mutated)

    def _shorten(self, block: Block) -> None:
        """Give names to the longest parts of expressions that grew too long."""
        for node in block.nodes:
            total = self._node_width(node)
            parts = [v for v in self._values((node.args, dict(node.kwargs)))]
            parts = [v for v in parts if v in self.plan.inlined and v in self.width]
            parts.sort(key=lambda v: self.width[v], reverse=True)
            for part in parts:
                if total <= WIDTH or self.width[part] < 12:
                    break
                self.plan.inlined.discard(part)
                total -= self.width.pop(part) - 2
            if len(node.outs) == 1 and node.out in self.plan.inlined:
                self.width[node.out] = total

    def _node_width(self, node: Node) -> int:
        width = sum(map(self._measure, (*node.args, *node.kwargs.values())))
        if node in self.plan.branches:
            width += 10 + sum(self._measure(b.results[0]) for b in node.blocks)
        return width + len(node.op) // 2 + 2 * len(node.args) + 2 * len(node.kwargs)

    def _measure(self, arg: Arg) -> int:
        total = 0
        for leaf in leaves(arg):
            value = self.plan.resolve(leaf)
            if isinstance(value, Value):
                total += self.width.get(value, len(value.name or "t1"))
            else:
                total += len(str(value))
            total += 1
        return total


def _is_array(value: Arg) -> bool:
    return isinstance(value, Value) and value.type is not None and value.type.is_array


def _acts(node: Node) -> bool:
    """Return whether a node must stay though nobody uses what it makes."""
    return _has_effect(node) or not (node.outs or node.blocks)


def _between(places: Sequence[int], start: int, end: int) -> Sequence[int]:
    """Return the places after `start` and before `end`."""
    return places[bisect_right(places, start) : bisect_left(places, end)]


def _has_effect(node: Node) -> bool:
    return any(n.op.acts for n in node.walk())
