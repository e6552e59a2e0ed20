"""Branches and loops in reverse.

A branch's backward is a branch on the same condition.  A loop's backward is a ``for``
over the same range the other way round; what it needs of the forward body is kept in
lists, one append an iteration, unless it is a counter, an invariant, or cheap to
compute again from those.
"""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from .. import runtime
from ..graph import UNDEFINED, Arg, Block, Node, Value, map_leaves
from ..rules import helpers
from .cotangents import Cotangent, Cotangents

__all__ = ["Control"]

CHEAP = frozenset(
    {
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "neg",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "not_",
        "getitem",
        "dim",
        "shape",
        "builtins.len",
        "np.transpose",
        "and_",
        "or_",
    }
)
"""Operations that the backward may repeat instead of keeping their result."""


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


RULE_NAMES: dict[str, Any] = {
    **{name: getattr(helpers, name) for name in helpers.__all__},
    "np": np,
    "math": math,
    "runtime": runtime,
}
"""The names that rule texts may use."""


class Control(Cotangents, ABC):
    """Reverse ``if``, ``for`` and ``while``."""

    varied: set[Value]
    found: dict[Value, Arg]

    def rule_names(self) -> dict[str, Any]:
        """Return the names that rule texts may use; the lowering knows SciPy's."""
        return RULE_NAMES

    def parsed(self, text: Any) -> Any:
        """Return a rule's text as a tree; functions stay as they are."""
        return _parsed(text) if isinstance(text, str) else text

    @abstractmethod
    def sweep(
        self, nodes: tuple[Node, ...] | list[Node], cots: dict[Value, Cotangent]
    ) -> list[Node]:
        """Reverse some nodes; return them as the forward part needs them."""

    @contextmanager
    def placed(self, node: Node) -> Iterator[None]:
        """Give the nodes made inside the place of the primal node they reverse."""
        before, self.low.fixed_span = self.low.fixed_span, node.span
        try:
            yield
        finally:
            self.low.fixed_span = before

    def accumulate(
        self, primal: Value, cotangent: Cotangent, cots: dict[Value, Cotangent]
    ) -> None:
        """Add a contribution to the cotangent of a primal value."""
        if primal not in self.varied:
            return
        if (
            isinstance(cotangent.value, int | float)
            and cotangent.place is None
            and (cotangent.value == 0)
        ):
            return
        cotangent = self.real(primal, cotangent)
        cots[primal] = self.add(primal, cots.get(primal), cotangent)

    def real(self, primal: Value, cotangent: Cotangent) -> Cotangent:
        """Keep the real part of what a real value gets from complex ones."""
        found, want = self.low.type_of(cotangent.value), primal.type
        if found is None or want is None or not found.dtype.startswith("complex"):
            return cotangent
        if want.dtype.startswith("complex") or want.kind == "list":
            return cotangent
        return replace(cotangent, value=self.low.emit("np.real", cotangent.value))

    def named_bar(self, primal: Value) -> str | None:
        """Return the name of a cotangent."""
        return f"{primal.name}_bar" if primal.name else None

    # Branches

    def reverse_if(self, node: Node, cots: dict[Value, Cotangent]) -> Node:
        """Reverse a branch; return it with the outputs that its backward needs."""
        outer: dict[Value, Arg] = {}
        seeds: list[tuple[int, Arg]] = []
        with self.placed(node):
            for k, out in enumerate(node.outs):
                if out in cots:
                    value = self.final(out, cots.pop(out))
                    fresh = isinstance(value, Value) and value in self.low.defs
                    if fresh and value.name is None and out.name:
                        object.__setattr__(value, "name", f"{out.name}_bar")
                    seeds.append((k, value))
                    self.found[out] = value
        sides = []
        for block in node.blocks:
            inner: dict[Value, Cotangent] = {}

            def part(block: Block = block, inner: Any = inner) -> list[Node]:
                with self.placed(node):
                    for k, value in seeds:
                        result = block.results[k]
                        if isinstance(result, Value):
                            self.accumulate(result, Cotangent(value), inner)
                return self.sweep(block.nodes, inner)

            outside, self.low.nodes = self.low.nodes, []
            forward = part()
            sides.append((forward, self.low.nodes, inner))
            self.low.nodes = outside
        own = [_defined(block) for block in node.blocks]
        touched: dict[Value, None] = {}
        for k, (_, _, inner) in enumerate(sides):
            touched.update(dict.fromkeys(v for v in inner if v not in own[k]))
        for primal in touched:
            if primal in cots:
                with self.placed(node):
                    outer[primal] = self.final(primal, cots.pop(primal))
        blocks, kept, results = [], [], []
        for (forward, _, _), block in zip(sides, node.blocks, strict=True):
            kept.append(Block(block.params, tuple(forward), block.results))
        for _, nodes, inner in sides:
            outside, self.low.nodes = self.low.nodes, nodes
            flat: list[Arg] = []
            with self.placed(node):
                for primal in touched:
                    flat.append(self.joined(primal, outer.get(primal), inner))
            results.append(flat)
            blocks.append(self.low.nodes)
            self.low.nodes = outside
        outs = []
        for k, primal in enumerate(touched):
            kind = self.low.join_types(*(r[k] for r in results))
            outs.append(Value(self.named_bar(primal), kind))
            cots[primal] = Cotangent(outs[-1])
        made = [
            Block((), tuple(nodes), tuple(flat))
            for nodes, flat in zip(blocks, results, strict=True)
        ]
        forward_node, made, test = self.hand_out(node, kept, made)
        if outs:
            self.low.append(
                Node("if", (test,), {}, tuple(outs), tuple(made), node.span)
            )
        return forward_node

    def joined(
        self, primal: Value, before: Arg | None, inner: dict[Value, Cotangent]
    ) -> Arg:
        """Return a value's cotangent at the end of a branch's backward."""
        found = inner.get(primal)
        if found is None:
            value = self.zeros(primal) if before is None else before
        elif before is None:
            value = self.final(primal, found)
        else:
            value = self.final(primal, self.add(primal, Cotangent(before), found))
        return self.solid(primal, value)

    def hand_out(
        self, node: Node, kept: list[Block], made: list[Block]
    ) -> tuple[Node, list[Block], Arg]:
        """Make the values that a branch's backward needs outputs of the branch.

        Returns the branch, its backward's blocks, and which of them is to run.
        """
        test: Arg = node.args[0]
        results = [list(b.results) for b in kept]
        nodes = [list(b.nodes) for b in kept]
        outs = list(node.outs)
        changed: dict[Value, Value] = {}
        for k, block in enumerate(made):
            inside = _defined(kept[k])
            for value in block.free():
                if value not in inside or value in changed:
                    continue
                out = Value(value.name, value.type)
                changed[value] = out
                outs.append(out)
                for j, side in enumerate(results):
                    side.append(value if j == k else self.lacking(value, nodes[j]))
        if "catch" in node.kwargs:
            # Which block ran is known only when it has run.
            test = Value("fine", self.low.type_of(True))
            outs.append(test)
            for side, fine in zip(results, (True, False), strict=True):
                side.append(fine)
        blocks = tuple(
            Block(b.params, tuple(n), tuple(r))
            for b, n, r in zip(kept, nodes, results, strict=True)
        )
        forward = Node("if", node.args, node.kwargs, tuple(outs), blocks, node.span)
        for out in forward.outs:
            self.low.defs[out] = forward
        if changed:
            made = [substitute(b, changed) for b in made]
        return forward, made, test

    def lacking(self, value: Value, nodes: list[Node]) -> Arg:
        """Return what stands for a value on a path that does not make it."""
        if value.type is None or value.type.kind != "list":
            return UNDEFINED
        empty = Value(None, value.type)
        nodes.append(Node("list", (), {}, (empty,), (), None))
        return empty

    # Loops

    def reverse_loop(self, node: Node, cots: dict[Value, Cotangent]) -> Node:
        """Reverse a loop; return it with the lists that its backward needs."""
        body = node.blocks[-1]
        is_for = node.op == "for"
        elements = node.args[1] if is_for else ()
        inits = node.args[-1]
        lead = 1 + len(elements) if is_for else 0
        flags = 1 if node.kwargs.get("breaks") else 0
        carried = body.params[lead:]
        nexts = body.results[flags : flags + len(carried)]
        items = body.results[flags + len(carried) :]
        finals, lists = node.outs[: len(carried)], node.outs[len(carried) :]
        inside = _defined(body) | set(body.params)
        with self.placed(node):
            incoming = {
                out: self.final(out, cots.pop(out)) for out in node.outs if out in cots
            }
        self.found.update(incoming)
        state = [k for k, out in enumerate(finals) if out in incoming]
        sums: list[Value] = []
        while True:
            plan = self.loop_backward(
                node, body, lead, carried, nexts, items, lists, incoming, state, sums
            )
            more = [
                k
                for k, p in enumerate(carried)
                if p in plan.inner and k not in state and p in self.varied
            ]
            outer = [v for v in plan.inner if v not in inside and v not in sums]
            if not more and not outer:
                break
            state = sorted({*state, *more})
            sums += outer
        return self.close_loop(
            node,
            body,
            lead,
            carried,
            elements,
            inits,
            flags,
            finals,
            state,
            sums,
            plan,
            incoming,
            cots,
        )

    def loop_backward(
        self,
        node: Node,
        body: Block,
        lead: int,
        carried: Any,
        nexts: Any,
        items: Any,
        lists: Any,
        incoming: dict[Value, Arg],
        state: list[int],
        sums: list[Value],
    ) -> LoopBackward:
        """Reverse a loop's body once, for the given carried cotangents and sums."""
        plan = LoopBackward()
        plan.state = [
            Value(self.named_bar(carried[k]), self.like(carried[k])) for k in state
        ]
        plan.sums = [Value(self.named_bar(v), self.like(v)) for v in sums]
        inner = plan.inner
        outside, self.low.nodes = self.low.nodes, []
        with self.placed(node):
            for value, param in zip(sums, plan.sums, strict=True):
                inner[value] = Cotangent(param)
            for k, param in zip(state, plan.state, strict=True):
                if isinstance(nexts[k], Value):
                    self.accumulate(nexts[k], Cotangent(param), inner)
            for out, item in zip(lists, items, strict=True):
                if out in incoming and isinstance(item, Value):
                    param = Value(self.named_bar(item), self.like(item))
                    plan.walked.append((out, param))
                    self.accumulate(item, Cotangent(param), inner)
        plan.forward = self.sweep(body.nodes, inner)
        with self.placed(node):
            plan.nexts = [self.end(carried[k], inner) for k in state]
            plan.next_sums = [self.end(v, inner) for v in sums]
            plan.items = [
                (k, self.end(p, inner))
                for k, p in enumerate(body.params[1:lead])
                if p in inner
            ]
        plan.nodes = self.low.nodes
        self.low.nodes = outside
        return plan

    def end(self, primal: Value, inner: dict[Value, Cotangent]) -> Arg:
        """Return a value's final cotangent at the end of an iteration's backward."""
        found = inner.get(primal)
        return self.zeros(primal) if found is None else self.final(primal, found)

    def close_loop(
        self,
        node: Node,
        body: Block,
        lead: int,
        carried: Any,
        elements: Any,
        inits: Any,
        flags: int,
        finals: Any,
        state: list[int],
        sums: list[Value],
        plan: LoopBackward,
        incoming: dict[Value, Arg],
        cots: dict[Value, Cotangent],
    ) -> Node:
        """Append the backward loop and return the forward one."""
        low = self.low
        is_for = node.op == "for"
        index = body.params[0] if is_for else None
        results = (*plan.nexts, *plan.next_sums, *(i for _, i in plan.items))
        draft = Block((), tuple(plan.nodes), results)
        known = {*plan.state, *plan.sums, *(p for _, p in plan.walked)}
        inside = _defined(Block((), tuple(plan.forward))) | set(body.params)
        needed = [v for v in draft.free() if v in inside and v not in known]
        counted = bool(node.kwargs.get("breaks")) or not is_for
        position = Value(
            index.name if index is not None else None,
            low.sampler.integer() if low.mode != "generic" else None,
        )
        low.indices[position] = False
        changed: dict[Value, Any] = {}
        prelude: list[Node] = []
        kept: list[Value] = []
        again = Recompute(self, plan.forward, inside, index, position, changed, prelude)
        if counted and index is not None:
            again.allowed = False
        for value in needed:
            if not again.possible(value, kept):
                kept.append(value)
        again.kept = kept
        for value in needed:
            if value not in kept:
                again.make(value)
        # What recomputation reads must be kept as well: `possible` has seen to it.
        params = {v: Value(v.name, v.type) for v in kept}
        changed.update(params)
        forward, saved, trips = self.augmented(
            node, plan.forward, kept, counted, carried, flags
        )
        back = substitute(Block((), (*prelude, *draft.nodes), draft.results), changed)
        lists_: list[Arg] = []
        with self.placed(node):
            for value in saved:
                walk = (
                    low.emit("list_reverse", value)
                    if node.kwargs.get("reverse")
                    else value
                )
                lists_.append(walk)
            for out, _ in plan.walked:
                walk = incoming[out]
                if node.kwargs.get("reverse"):
                    walk = low.emit("list_reverse", walk)
                lists_.append(walk)
            begin = [incoming.get(finals[k]) for k in state]
            starts: list[Arg] = [
                self.zeros(finals[k]) if b is None else self.solid(finals[k], b)
                for k, b in zip(state, begin, strict=True)
            ]
            for value in sums:
                old = cots.pop(value, None)
                begun = self.zeros(value) if old is None else self.final(value, old)
                starts.append(self.solid(value, begun))
            if counted:
                stop: Arg = low.emit("builtins.len", saved[0]) if saved else trips
                bounds: tuple[Arg, Arg, Arg] = (0, stop, 1)
            else:
                bounds = node.args[0]
        walked = [params[v] for v in kept] + [p for _, p in plan.walked]
        block = Block(
            (position, *walked, *plan.state, *plan.sums), back.nodes, back.results
        )
        outs = [Value(p.name, p.type) for p in (*plan.state, *plan.sums)]
        given = [Value(None, None) for _ in plan.items]
        loop = Node(
            "for",
            (bounds, tuple(lists_), tuple(starts)),
            {"reverse": not node.kwargs.get("reverse", False), "breaks": False},
            (*outs, *given),
            (block,),
            node.span,
        )
        low.append(loop)
        with self.placed(node):
            # The sums hold what was there before; what the loop began with adds to
            # them.
            for value, out in zip(sums, outs[len(state) :], strict=True):
                cots[value] = Cotangent(out)
            for k, out in zip(state, outs, strict=False):
                if isinstance(inits[k], Value):
                    self.accumulate(inits[k], Cotangent(out), cots)
            for (k, _), out in zip(plan.items, given, strict=True):
                bar = (
                    out if node.kwargs.get("reverse") else low.emit("list_reverse", out)
                )
                self.accumulate(elements[k], Cotangent(bar), cots)
        return forward

    def augmented(
        self,
        node: Node,
        nodes: list[Node],
        kept: list[Value],
        counted: bool,
        carried: Any,
        flags: int,
    ) -> tuple[Node, list[Value], Value | None]:
        """Return the forward loop with a list for each kept value, and a trip count."""
        low = self.low
        body = node.blocks[-1]
        params, results = list(body.params), list(body.results)
        outs, inits = list(node.outs), list(node.args[-1])
        extra = list(nodes)
        trips: Value | None = None
        count = len(carried)
        if counted and not kept:
            kind = low.sampler.type_of((2, 3)) if low.mode != "generic" else None
            number, following = Value("trips", kind), Value("trips", kind)
            extra.append(Node("add", (number, 1), {}, (following,), (), node.span))
            trips = Value("trips", kind)
            params.append(number)
            results.insert(flags + count, following)
            inits.append(0)
            outs.insert(count, trips)
        saved = []
        for value in kept:
            name = f"{value.name}_saved" if value.name else None
            kind = None
            if value.type is not None and value.type.samples:
                kind = low.sampler.type_of(tuple([s] for s in value.type.samples))
            saved.append(Value(name, kind))
            results.append(value)
        block = Block(tuple(params), tuple(extra), tuple(results))
        blocks: tuple[Block, ...] = (block,)
        if node.op == "while":
            first = node.blocks[0]
            more = tuple(Value(p.name, p.type) for p in params[len(first.params) :])
            blocks = (Block((*first.params, *more), first.nodes, first.results), block)
        args = (*node.args[:-1], tuple(inits))
        made = Node(node.op, args, node.kwargs, (*outs, *saved), blocks, node.span)
        for out in made.outs:
            low.defs[out] = made
        return made, saved, trips


class LoopBackward:
    """The backward of one iteration, before it becomes a loop."""

    def __init__(self) -> None:
        self.inner: dict[Value, Cotangent] = {}
        self.state: list[Value] = []
        self.sums: list[Value] = []
        self.walked: list[tuple[Value, Value]] = []
        self.forward: list[Node] = []
        self.nodes: list[Node] = []
        self.nexts: list[Arg] = []
        self.next_sums: list[Arg] = []
        self.items: list[tuple[int, Arg]] = []


class Recompute:
    """Decides what the backward of a loop computes again instead of keeping it."""

    def __init__(
        self,
        control: Control,
        forward: list[Node],
        inside: set[Value],
        index: Value | None,
        position: Value,
        changed: dict[Value, Any],
        prelude: list[Node],
    ) -> None:
        self.control = control
        self.makers = {out: n for n in forward for out in n.outs}
        self.inside = inside
        self.index = index
        self.position = position
        self.changed = changed
        self.prelude = prelude
        self.allowed = True
        self.kept: list[Value] = []

    def possible(self, value: Value, kept: list[Value]) -> bool:
        """Say whether a value follows cheaply from the index, invariants and `kept`."""
        if value not in self.inside:
            return True
        if value is self.index:
            return self.allowed
        if value in kept:
            return True
        self.kept = kept
        node = self.makers.get(value)
        if node is None or node.op not in CHEAP or len(node.outs) != 1:
            return False
        if (
            node.op in ("add", "sub", "mul", "floordiv", "mod", "neg")
            and not (
                value.type is not None
                and value.type.is_integral
                and not value.type.is_array
            )
            and not self.counts(value)
        ):
            return False
        if node.op == "getitem" and node.inputs[0] in self.inside:
            # Its base changes from one iteration to the next: keep the entry, not it.
            return False
        return all(self.possible(v, kept) for v in node.inputs)

    def counts(self, value: Value) -> bool:
        """Say whether a value is computed from the index and constants only."""
        node = self.makers.get(value)
        return (
            node is not None
            and all(v is self.index or self.counts(v) for v in node.inputs)
            and bool(node.inputs)
        )

    def make(self, value: Value) -> Value:
        """Add the nodes that compute a value again to the backward's beginning."""
        if value not in self.inside:
            return value
        if value is self.index:
            self.changed[value] = self.position
            return self.position
        if value in self.changed:
            found: Value = self.changed[value]
            return found
        node = self.makers.get(value)
        if value in self.kept or node is None:
            return value
        args = map_leaves(
            lambda a: self.make(a) if isinstance(a, Value) else a, node.args
        )
        out = Value(value.name, value.type)
        self.prelude.append(Node(node.op, args, node.kwargs, (out,), (), node.span))
        self.control.low.defs[out] = self.prelude[-1]
        self.changed[value] = out
        return out


def _defined(block: Block) -> set[Value]:
    """Return the values that a block's own nodes define."""
    return {out for node in block.nodes for out in node.outs}


def substitute(block: Block, changed: dict[Value, Any]) -> Block:
    """Return a block with some values it uses replaced, nested blocks included."""

    def swap(leaf: Any) -> Any:
        return changed.get(leaf, leaf) if isinstance(leaf, Value) else leaf

    nodes = []
    for node in block.nodes:
        blocks = tuple(substitute(b, changed) for b in node.blocks)
        args = map_leaves(swap, node.args)
        kwargs = map_leaves(swap, dict(node.kwargs))
        nodes.append(Node(node.op, args, kwargs, node.outs, blocks, node.span))
    results = map_leaves(swap, block.results)
    return Block(block.params, tuple(nodes), results)
