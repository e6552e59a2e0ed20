"""Loops in reverse: a ``for`` over the same range the other way round.

What it needs of the forward body is kept in lists, one item an iteration, unless it is
a counter, an invariant, or cheap to compute again from those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..graph import Arg, Block, Loop, Node, Value, substitute
from .context import Context, Cots
from .cotangents import Cotangent
from .recompute import Recompute, defined

__all__ = ["reverse_loop"]


@dataclass
class Iteration:
    """The backward of one iteration, before it becomes a loop.

    state : the cotangents of carried values that it carries, sums : those of values
    from outside that it adds to; nexts, next_sums : after it.
    walked : cotangents of collected lists, and the parameters that are their items.
    items : the cotangents of the walked lists' items.
    """

    state: list[Value]
    sums: list[Value]
    inner: Cots = field(default_factory=dict)
    walked: list[tuple[Value, Value]] = field(default_factory=list)
    forward: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    nexts: list[Arg] = field(default_factory=list)
    next_sums: list[Arg] = field(default_factory=list)
    items: list[tuple[int, Arg]] = field(default_factory=list)

    @property
    def results(self) -> tuple[Arg, ...]:
        """Return what the loop's block results in."""
        return *self.nexts, *self.next_sums, *(item for _, item in self.items)


def reverse_loop(context: Context, node: Node, cots: Cots) -> Node:
    """Reverse a loop; return it with the lists that its backward needs."""
    loop = Loop.of(node)
    inside = defined(loop.body) | set(loop.body.params)
    with context.build.at(node.span):
        incoming = {
            out: context.bars.final(out, cots.pop(out))
            for out in node.outs
            if out in cots
        }
    context.found.update(incoming)
    # A loop within loops is reversed again with them: what it carries is known then.
    known, outside = context.loops.get(node, ([], []))
    begun = {k for k, out in enumerate(loop.finals) if out in incoming}
    state = sorted(begun.union(known))
    sums = list(outside)
    while True:
        once = _iteration(context, loop, incoming, state, sums)
        more = [
            k
            for k, param in enumerate(loop.carried)
            if param in once.inner and k not in state and param in context.varied
        ]
        outer = [v for v in once.inner if v not in inside and v not in sums]
        if not more and not outer:
            break
        state = sorted({*state, *more})
        sums += outer
    context.loops[node] = state, sums
    return _close(context, loop, state, sums, once, incoming, cots)


def _iteration(
    context: Context,
    loop: Loop,
    incoming: dict[Value, Arg],
    state: list[int],
    sums: list[Value],
) -> Iteration:
    """Reverse a loop's body once, for the given carried cotangents and sums."""
    build, bars = context.build, context.bars

    def bar(primal: Value) -> Value:
        return Value(bars.named(primal), bars.like(primal))

    def incoming_bar(k: int) -> Value:
        # It has the shape of what the iteration ends with: arrays may grow or shrink.
        following = loop.nexts[k]
        like = following if isinstance(following, Value) else loop.carried[k]
        return Value(bars.named(loop.carried[k]), bars.like(like))

    once = Iteration([incoming_bar(k) for k in state], [bar(v) for v in sums])
    inner = once.inner
    with build.nested() as once.nodes:
        with build.at(loop.origin.span):
            for value, param in zip(sums, once.sums, strict=True):
                inner[value] = Cotangent(param)
            for k, param in zip(state, once.state, strict=True):
                following = loop.nexts[k]
                if isinstance(following, Value):
                    final = loop.finals[k]
                    begun: Arg = param
                    if bars.may_lack(final) and bars.may_be_number(
                        incoming.get(final, 0.0)
                    ):
                        begun = bars.stretched(param, final)
                    context.accumulate(following, Cotangent(begun), inner)
            for out, item in zip(loop.lists, loop.items, strict=True):
                if out in incoming and isinstance(item, Value):
                    param = bar(item)
                    once.walked.append((out, param))
                    context.accumulate(item, Cotangent(param), inner)
        once.forward = context.sweep(loop.nodes, inner)
        with build.at(loop.origin.span):
            once.nexts = [
                _end(context, loop.carried[k], inner, param)
                for k, param in zip(state, once.state, strict=True)
            ]
            once.next_sums = [_end(context, v, inner) for v in sums]
            once.items = [
                (k, _end(context, param, inner))
                for k, param in enumerate(loop.walks)
                if param in inner
            ]
    return once


def _end(
    context: Context, primal: Value, inner: Cots, like: Value | None = None
) -> Arg:
    """Return a value's final cotangent at the end of an iteration's backward.

    like : the cotangent before it; it has a shape where the primal lacks a value.
    """
    found = inner.get(primal)
    if found is not None:
        return context.bars.final(primal, found)
    known = primal.type
    if like is not None and known is not None and known.is_array:
        if context.bars.may_lack(primal):
            return context.build.emit("np.zeros_like", like)
    return context.bars.zeros(primal)


def _close(
    context: Context,
    loop: Loop,
    state: list[int],
    sums: list[Value],
    once: Iteration,
    incoming: dict[Value, Arg],
    cots: Cots,
) -> Node:
    """Append the backward loop and return the forward one."""
    build = context.build
    node, index = loop.origin, loop.index
    draft = Block((), tuple(once.nodes), once.results)
    known = {*once.state, *once.sums, *(param for _, param in once.walked)}
    inside = defined(Block((), tuple(once.forward))) | set(loop.body.params)
    needed = [v for v in draft.free() if v in inside and v not in known]
    counted = loop.stop is not None or index is None
    name = index.name if index is not None else None
    position = Value(name, build.types.integer())
    again = Recompute(
        build.defs, once.forward, inside, index, position, allowed=not counted
    )
    kept = again.choose(needed)
    params = {v: Value(v.name, v.type) for v in kept}
    forward, saved, trips = _augmented(context, loop, once.forward, kept, counted)
    back = substitute(
        Block((), (*again.prelude, *draft.nodes), draft.results),
        {**again.changed, **params},
    )
    with build.at(node.span):
        lists = [_walked(context, loop, value) for value in saved]
        lists += [_walked(context, loop, incoming[out]) for out, _ in once.walked]
        starts = _starts(context, loop, state, sums, incoming, cots)
        bounds = loop.bounds
        if counted or bounds is None:
            stop = build.emit("builtins.len", saved[0]) if saved else trips
            bounds = (0, stop, 1)
        outs = [Value(p.name, p.type) for p in (*once.state, *once.sums)]
        given = [Value(None, None) for _ in once.items]
        walks = [params[v] for v in kept] + [param for _, param in once.walked]
        block = Block(
            (position, *walks, *once.state, *once.sums), back.nodes, back.results
        )
        build.control(
            "for",
            (bounds, tuple(lists), tuple(starts)),
            {"reverse": not loop.reverse, "breaks": False},
            (*outs, *given),
            (block,),
        )
        # The sums hold what was there before; what the loop began with adds to them.
        for value, out in zip(sums, outs[len(state) :], strict=True):
            cots[value] = Cotangent(out)
        for k, out in zip(state, outs, strict=False):
            init = loop.inits[k]
            if isinstance(init, Value):
                context.accumulate(init, Cotangent(out), cots)
        for (k, _), out in zip(once.items, given, strict=True):
            bar = out if loop.reverse else build.emit("list_reverse", out)
            context.accumulate(loop.walked[k], Cotangent(bar), cots)
    return forward


def _walked(context: Context, loop: Loop, items: Arg) -> Arg:
    """Return a list that the loop collected, as its backward walks it."""
    return context.build.emit("list_reverse", items) if loop.reverse else items


def _starts(
    context: Context,
    loop: Loop,
    state: list[int],
    sums: list[Value],
    incoming: dict[Value, Arg],
    cots: Cots,
) -> list[Arg]:
    """Return the cotangents that the backward loop begins with."""
    bars = context.bars
    starts: list[Arg] = []
    for k in state:
        final = loop.finals[k]
        begin = incoming.get(final)
        starts.append(bars.zeros(final) if begin is None else bars.solid(final, begin))
    for value in sums:
        old = cots.pop(value, None)
        begun = bars.zeros(value) if old is None else bars.final(value, old)
        starts.append(bars.solid(value, begun))
    return starts


def _augmented(
    context: Context,
    loop: Loop,
    nodes: Sequence[Node],
    kept: list[Value],
    counted: bool,
) -> tuple[Node, list[Value], Value | None]:
    """Return the forward loop with a list for each kept value, and a trip count."""
    types = context.build.types
    trips: Value | None = None
    made = replace(loop, nodes=tuple(nodes))
    if counted and not kept:
        kind = types.of_samples((2, 3, 5))
        number, following = Value("trips", kind), Value("trips", kind)
        trips = Value("trips", kind)
        step = Node("add", (number, 1), {}, (following,), (), loop.origin.span)
        test = loop.test
        if test is not None:
            test = replace(test, params=(*test.params, Value("trips", kind)))
        made = replace(
            made,
            nodes=(*nodes, step),
            carried=(*loop.carried, number),
            inits=(*loop.inits, 0),
            nexts=(*loop.nexts, following),
            finals=(*loop.finals, trips),
            test=test,
        )
    saved = []
    for value in kept:
        name = f"{value.name}_saved" if value.name else None
        kind = None
        if value.type is not None and value.type.samples:
            kind = types.of_samples(tuple([s] for s in value.type.samples))
        saved.append(Value(name, kind))
    made = replace(made, items=(*loop.items, *kept), lists=(*loop.lists, *saved))
    forward = made.node
    context.build.defs.update(dict.fromkeys(forward.outs, forward))
    context.bars.primal.update(forward.outs)
    return forward, saved, trips
