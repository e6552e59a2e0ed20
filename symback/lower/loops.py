"""Loops: unrolled where the structure is known, else one graph node."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..graph import Arg, Node, Value, map_leaves
from ..infer import SAMPLES
from .abstract import Iterable, Known, NeedStatic
from .carried import Carried, Plan
from .iterators import Ended
from .walking import Walking

__all__ = ["Loops"]

MAX_UNROLLED = 2000
"""Iterations that may be written out one after the other."""

MAX_WRITTEN = 128
"""Iterations of a loop that is written out because of what its lists hold."""


class Loops(Walking, Carried):
    """Lower ``for`` and ``while``."""

    # Statements

    def do_For(self, node: ast.For) -> None:
        walked = self.value(node.iter)
        frame = self.frame
        brk = ("x", frame.number, f"brk{self.fresh()}")
        con = ("x", frame.number, f"con{self.fresh()}")
        self.state[brk] = Known(False)

        flags = [brk, *frame.exits]

        def body(item: Any) -> None:
            # An iteration begins only where no exit has been taken.
            self.state.update(dict.fromkeys((*flags, con), Known(False)))
            frame.exits += [brk, con]
            try:
                with self.at(node.target):
                    self.assign_item(node.target, item)
                self.run(node.body)
            finally:
                del frame.exits[-2:]
                self.state.pop(con, None)

        self.walk(walked, body, flags)
        self.after_loop(brk, node.orelse)

    def do_While(self, node: ast.While) -> None:
        frame = self.frame
        brk = ("x", frame.number, f"brk{self.fresh()}")
        con = ("x", frame.number, f"con{self.fresh()}")
        self.state[brk] = Known(False)

        def test() -> Any:
            return self.test(node.test)

        flags = [brk, *frame.exits]

        def body() -> None:
            self.state.update(dict.fromkeys((*flags, con), Known(False)))
            frame.exits += [brk, con]
            try:
                self.run(node.body)
            finally:
                del frame.exits[-2:]
                self.state.pop(con, None)

        self.while_loop(test, body, flags)
        self.after_loop(brk, node.orelse)

    def after_loop(self, brk: Any, orelse: list[ast.stmt]) -> None:
        """Lower the ``else`` of a loop: it runs unless the loop was left by break."""
        left = self.state.pop(brk)
        done = self.exited()
        if not orelse:
            return
        if isinstance(done, Known) and done.value:
            return
        if not isinstance(done, Known):
            left = done if isinstance(left, Known) else self.emit("or_", left, done)
        test = self.negate(left)
        if isinstance(test, Known):
            if test.value:
                self.run(orelse)
        else:
            self.choose(test, lambda: self.go_on(orelse), lambda: None)

    # The one `for`

    def loop(
        self,
        walked: Iterable,
        body: Callable[[Any], None],
        flags: Sequence[Any] = (),
    ) -> None:
        """Run a body for each item, unrolled or as a node.

        flags : the keys of the state that, once true, end the loop.
        """
        if walked.items is not None:
            self.unroll(list(walked.items), body, flags)
            return
        self.loops_met += 1
        start, stop, step = walked.range or (0, walked.length, 1)
        fixed = all(isinstance(b, int) for b in (start, stop, step))
        if fixed and not range(start, stop, step):
            return
        before = dict(self.state)
        count = len(self.nodes)
        if fixed and (self.unroll_all or self.fixed_span is not None):
            numbers = range(start, stop, step)
            if len(numbers) <= MAX_WRITTEN or self.fixed_span is not None:
                make = walked.item or (lambda i: i)
                self.unroll([(make, Known(k)) for k in numbers], body, flags, lazy=True)
                return
        index = self.new_index((start, stop, step), fixed)
        active = len(self.active_loops)
        self.active_loops.append(index)
        try:
            self.loop_node(walked, (start, stop, step), index, body, flags)
            return
        except NeedStatic as need:
            found, _ = self.origin(need.value)
            if found is not index:
                raise
            if not fixed:
                # What the number of iterations comes from must be known, then.
                bounds = [b for b in (start, stop, step) if isinstance(b, Value)]
                raise NeedStatic(bounds[0], need.why, need.span) from None
        finally:
            del self.active_loops[active:]
        del self.nodes[count:]
        self.state = before
        numbers = range(start, stop, step)
        if len(numbers) > MAX_UNROLLED:
            raise self.refuse(
                f"a loop of {len(numbers)} iterations would have to be written out",
                "index arrays instead of lists in it.",
            )
        make = walked.item or (lambda i: i)
        self.unroll([(make, Known(k)) for k in numbers], body, flags, lazy=True)

    def new_index(self, bounds: tuple[Arg, Arg, Arg], fixed: bool) -> Value:
        """Return a loop's index; its samples lie within the samples of its range."""
        known = None
        if self.mode != "generic":
            types = [self.type_of(b) for b in bounds]
            if all(t is not None and t.samples for t in types):
                known = self.sampler.index(
                    [
                        range(*(int(t.samples[which]) for t in types if t is not None))
                        for which in range(SAMPLES)
                    ]
                )
            else:
                known = self.sampler.integer()
        index = Value(None, known)
        self.indices[index] = fixed
        return index

    def unroll(
        self,
        items: list[Any],
        body: Callable[[Any], None],
        flags: Sequence[Any],
        lazy: bool = False,
    ) -> None:
        """Run a body once for each known item, guarding against an exit."""

        if len(items) > MAX_UNROLLED:
            raise self.refuse(f"a loop over {len(items)} items would be written out")

        def take(number: int) -> Any:
            if number >= len(items):
                raise Ended
            item = items[number]
            return item[0](item[1]) if lazy else item

        self.unroll_each(take, lambda number: number < len(items), body, flags)

    def flagged(self, flags: Sequence[Any]) -> Any:
        """Return whether one of some flags is set."""
        found = [self.state[key] for key in flags if key in self.state]
        if any(isinstance(f, Known) and f.value for f in found):
            return Known(True)
        values = [f for f in found if not isinstance(f, Known)]
        if not values:
            return Known(False)
        result = values[0]
        for value in values[1:]:
            result = self.emit("or_", result, value)
        return result

    def loop_node(
        self,
        walked: Iterable,
        bounds: tuple[Arg, Arg, Arg],
        index: Value,
        body: Callable[[Any], None],
        flags: Sequence[Any],
    ) -> None:
        """Lower a loop as one ``for`` node."""
        make = walked.item or (lambda i: i)

        def once() -> Any:
            body(make(index))
            return self.flagged(flags)

        plan = self.settle(once)
        stop = plan.result
        breaks = not (isinstance(stop, Known) and not stop.value)
        lead: list[Arg] = [] if not breaks else [self.operand(stop)]
        results = tuple(lead + plan.nexts)
        block = self.block((index, *plan.params), plan.nodes, results)
        node = Node(
            "for",
            (bounds, (), plan.inits),
            {"reverse": False, "breaks": breaks},
            tuple(plan.outs),
            (block,),
            plan.span,
        )
        if not breaks:
            self.measure_lists(plan, bounds)
        self.finish(plan, node)

    def measure_lists(self, plan: Plan, bounds: tuple[Arg, Arg, Arg]) -> None:
        """Note the lengths of lists that grow by one item in every iteration."""
        types = [self.type_of(b) for b in bounds]
        if any(t is None or not t.samples for t in types):
            return
        makers = {out: node for node in plan.nodes for out in node.outs}
        rows = zip(plan.inits, plan.params, plan.nexts, plan.outs, strict=True)
        for init, param, following, out in rows:
            node = makers.get(following) if isinstance(following, Value) else None
            begun = self.defs.get(init) if isinstance(init, Value) else None
            grows = node is not None and node.op == "list_append"
            if not grows or node is None or node.args[0] is not param:
                continue
            if begun is None or begun.op != "list":
                continue
            self.sampler.by_key["length", out] = tuple(
                len(begun.args)
                + len(range(*(int(t.samples[w]) for t in types if t is not None)))
                for w in range(SAMPLES)
            )

    def while_loop(
        self,
        test: Callable[[], Any],
        body: Callable[[], None],
        flags: Sequence[Any],
    ) -> None:
        """Lower a ``while``: the test in a block of its own if it only computes."""
        if self.unrolled_while(test, body, flags):
            return
        tests: dict[str, Any] = {}

        def once() -> Any:
            before = dict(self.state)
            nodes, state, found = self.nested(test)
            changed = any(
                state.get(k) is not before.get(k)
                for k in state
                if k[0] in "nhx" and k in before
            )
            tests["nodes"], tests["found"], tests["pure"] = nodes, found, not changed
            if changed or any(n.op in ("if", "for") for n in nodes):
                tests["pure"] = False
                self.nodes += nodes
                ended = self.negate(found)
                result: Any = None

                def rest() -> Any:
                    body()
                    return self.flagged(flags)

                result = self.choose(self.truth(ended), lambda: Known(True), rest)
                return result
            body()
            return self.flagged(flags)

        plan = self.settle(once)
        stop = plan.result
        breaks = not (isinstance(stop, Known) and not stop.value)
        lead: list[Arg] = [] if not breaks else [self.operand(stop)]
        block = self.block(plan.params, plan.nodes, tuple(lead + plan.nexts))
        if tests["pure"]:
            first = self.test_block(plan, tests)
        else:
            copies = tuple(Value(p.name, p.type) for p in plan.params)
            first = self.block(copies, [], (True,))
        loop = Node(
            "while",
            (plan.inits,),
            {"breaks": breaks},
            tuple(plan.outs),
            (first, block),
            plan.span,
        )
        self.finish(plan, loop)

    def test_block(self, plan: Plan, tests: dict[str, Any]) -> Any:
        """Make the condition block: the test's nodes with parameters of its own."""
        copies = {p: Value(p.name, p.type) for p in plan.params}

        def moved(leaf: Any) -> Any:
            return copies.get(leaf, leaf) if isinstance(leaf, Value) else leaf

        nodes = []
        for node in tests["nodes"]:
            outs = tuple(Value(o.name, o.type) for o in node.outs)
            args = map_leaves(moved, node.args)
            kwargs = map_leaves(moved, dict(node.kwargs))
            copies.update(zip(node.outs, outs, strict=True))
            nodes.append(Node(node.op, args, kwargs, outs, (), node.span))
        found = tests["found"]
        result = found.value if isinstance(found, Known) else moved(found)
        params = tuple(copies[p] for p in plan.params)
        return self.block(params, nodes, (result,))

    def unrolled_while(
        self, test: Callable[[], Any], body: Callable[[], None], flags: Sequence[Any]
    ) -> bool:
        """Run a ``while`` whose tests are all known, if the first one is."""
        before, count = dict(self.state), len(self.nodes)
        for number in range(MAX_UNROLLED):
            found = test()
            if not isinstance(found, Known):
                del self.nodes[count:]
                self.state = before
                return False
            if not found.value:
                return True
            if number > 64 and not isinstance(self.flagged(flags), Known):
                break
            body()
            done = self.flagged(flags)
            if not isinstance(done, Known):
                del self.nodes[count:]
                self.state = before
                return False
            if done.value:
                return True
        del self.nodes[count:]
        self.state = before
        return False
