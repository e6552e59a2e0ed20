"""Loops in reverse: a ``for`` over the same range the other way round.

What it needs of the forward body is kept in lists, one append an iteration, unless it
is a counter, an invariant, or cheap to compute again from those.
"""

from __future__ import annotations

from typing import Any

from ..graph import Arg, Block, Node, Value
from .branches import Branches
from .cotangents import Cotangent
from .recompute import Recompute, defined, substitute

__all__ = ["Loops"]


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


class Loops(Branches):
    """Reverse ``for`` and ``while``."""

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
        inside = defined(body) | set(body.params)
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
        inside = defined(Block((), tuple(plan.forward))) | set(body.params)
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
        again = Recompute(
            self.low.defs, plan.forward, inside, index, position, changed, prelude
        )
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
