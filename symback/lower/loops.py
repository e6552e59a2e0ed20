"""Loops: unrolled where the structure is known, else one graph node."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..graph import UNDEFINED, Arg, Node, Value, map_leaves
from ..types import Type
from .abstract import (
    Array,
    DictRef,
    Iterable,
    Known,
    ListRef,
    NeedStatic,
    Obj,
    Shape,
    Tup,
    View,
    always,
)
from .core import Unassigned
from .joins import Template
from .statements import Statements

__all__ = ["Loops"]

MAX_UNROLLED = 2000
"""Iterations that may be written out one after the other."""

MAX_WRITTEN = 128
"""Iterations of a loop that is written out because of what its lists hold."""

MAX_ROUNDS = 8
"""Times that a loop's body is lowered until what it carries no longer changes."""


class Loops(Statements):
    """Lower loops and comprehensions."""

    looped: set[Value]

    # What can be walked

    def iterate(self, item: Any) -> Iterable:
        if isinstance(item, Iterable):
            return item
        if isinstance(item, Tup):
            return Iterable(items=item.items)
        if isinstance(item, Obj):
            method = self.attribute(item, "__iter__")
            return self.iterate(self.call_value(method, [], {}))
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, tuple):
                return Iterable(items=held)
            length = self.emit("builtins.len", held.leaves[0])
            return Iterable(length=length, item=lambda i: self.run_item(held, i))
        if isinstance(item, DictRef):
            return Iterable(items=tuple(map(self.key_item, self.content(item.cell))))
        if isinstance(item, Known):
            try:
                return Iterable(items=tuple(map(self.key_item, item.value)))
            except TypeError:
                raise self.refuse(
                    f"{self.describe(item)} cannot be looped over"
                ) from None
        if isinstance(item, Array | View | Value):
            return self.iterate_array(item)
        if isinstance(item, Shape):
            raise self.refuse("the shape of an array of unknown rank cannot be walked")
        raise self.refuse(f"{self.describe(item)} cannot be looped over")

    def iterate_array(self, item: Any) -> Iterable:
        """Walk the first axis of an array."""
        value = self.operand(item)
        if self.mode == "generic" and value in self.parameters:
            # It may be a list or a tuple: then its gradient is one as well.
            self.looped.add(value)
        known = value.type if isinstance(value, Value) else None
        if known is not None and known.is_array:
            if not known.rank:
                raise self.refuse("a 0-dimensional array cannot be looped over")
            length: Any = self.shape_of(value).items[0]
            length = length.value if isinstance(length, Known) else length
        elif known is not None:
            raise self.refuse("a number cannot be looped over")
        else:
            length = self.emit("builtins.len", value)
        return Iterable(length=length, item=lambda i: self.array_item(item, i))

    def listed(self, item: Iterable) -> Any:
        if item.items is not None:
            return self.new_list(list(item.items))
        result = self.new_list([])
        self.loop(item, lambda one: self.list_append(result, one))
        return result

    # Statements

    def do_For(self, node: ast.For) -> None:
        walked = self.iterate(self.value(node.iter))
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

        self.loop(walked, body, flags)
        self.after_loop(brk, node.orelse)

    def assign_item(self, target: ast.expr, item: Any) -> None:
        """Assign a loop's item; a comprehension's names are its own."""
        if isinstance(target, ast.Name):
            self.state["n", self.frame.number, target.id] = item
            self.christen(item, target.id)
        elif isinstance(target, ast.Tuple | ast.List) and not any(
            isinstance(t, ast.Starred) for t in target.elts
        ):
            items = self.unpacked(item, len(target.elts), target)
            if len(items) != len(target.elts):
                raise self.refuse(
                    f"{len(items)} items cannot be unpacked into {len(target.elts)} "
                    "names",
                    None,
                    target,
                )
            for one, part in zip(target.elts, items, strict=True):
                self.assign_item(one, part)
        else:
            self.assign(target, item)

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

    # Comprehensions

    def comprehend(self, node: Any, produce: Callable[[], None]) -> None:
        names: set[str] = {
            n.id
            for g in node.generators
            for n in ast.walk(g.target)
            if isinstance(n, ast.Name)
        }
        keys = [("n", self.frame.number, n) for n in sorted(names)]
        hidden = {k: self.state.pop(k) for k in keys if k in self.state}

        def level(number: int) -> None:
            if number == len(node.generators):
                produce()
                return
            one = node.generators[number]
            walked = self.iterate(self.value(one.iter))

            def body(item: Any) -> None:
                with self.at(one.target):
                    self.assign_item(one.target, item)
                conditions(0)

            def conditions(k: int) -> None:
                if k == len(one.ifs):
                    level(number + 1)
                    return
                test = self.test(one.ifs[k])
                self.choose(test, lambda: conditions(k + 1), lambda: None)

            self.loop(walked, body)

        level(0)
        for key in keys:
            self.state.pop(key, None)
        self.state.update(hidden)

    def lazily(self, node: ast.GeneratorExp, walked: Iterable) -> Any:
        target = node.generators[0].target
        frame = self.frame
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        keys = [("n", frame.number, n) for n in names]
        make = walked.item or (lambda i: i)

        def item(index: Any) -> Any:
            hidden = {k: self.state.pop(k) for k in keys if k in self.state}
            self.stack.append(frame)
            try:
                with self.at(target):
                    self.assign_item(target, make(index))
                return self.value(node.elt)
            finally:
                self.stack.pop()
                for key in keys:
                    self.state.pop(key, None)
                self.state.update(hidden)

        return Iterable(length=walked.length, item=item, range=walked.range)

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
        counted = all(isinstance(b, int) for b in (start, stop, step))
        count = len(range(start, stop, step)) if counted else 1000
        self.longest_loop = max(self.longest_loop, count)
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
            wish = self.sampler.integer()
            types = [self.type_of(b) for b in bounds]
            known = wish
            if all(t is not None and t.samples for t in types):
                walks = [
                    range(*(int(t.samples[which]) for t in types if t is not None))
                    for which in (0, 1)
                ]
                places = [
                    walk[min(k, len(walk) - 1)] if walk else max(walk.stop - 1, 0)
                    for walk, k in zip(walks, wish.samples, strict=True)
                ]
                if places[0] == places[1]:
                    others = [(0, p) for p in walks[0]] + [(1, p) for p in walks[1]]
                    for which, place in others:
                        if place != places[which]:
                            places[which] = place
                            break
                # Two equal samples would claim that it is always one.
                if places[0] == places[1] == 1:
                    places = []
                known = Type("python", "int", (), tuple(places))
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

        def step(number: int) -> None:
            while number < len(items):
                item = items[number]
                body(item[0](item[1]) if lazy else item)
                number += 1
                done = self.flagged(flags)
                if isinstance(done, Known):
                    if done.value:
                        return
                    continue
                if number < len(items):
                    self.choose(self.negate(done), partial(go_on, number), always(None))
                return

        def go_on(number: int) -> None:
            self.state.update({k: Known(False) for k in flags if k in self.state})
            step(number)

        if len(items) > MAX_UNROLLED:
            raise self.refuse(f"a loop over {len(items)} items would be written out")
        step(0)

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
            sizes = [
                len(begun.args)
                + len(range(*(int(t.samples[w]) for t in types if t is not None)))
                for w in (0, 1)
            ]
            self.sampler.by_key["length", out] = (sizes[0], sizes[1])

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

    # What a loop carries

    def settle(self, once: Callable[[], Any]) -> Plan:
        """Lower a loop's body until what it carries, and its types, do not change."""
        before = dict(self.state)
        span = self.span()
        templates: dict[Any, Template] = {}
        types: list[Type | None] | None = None
        self.conditional += 1
        try:
            for _ in range(MAX_ROUNDS + 8):
                try:
                    plan = self.attempt(once, before, templates, types, span)
                except Unassigned as need:
                    # An earlier iteration may have assigned it.
                    key = ("n", need.frame, need.name)
                    if key in templates or need.frame != self.frame.number:
                        raise
                    self.state = dict(before)
                    templates, types = {**templates, key: Template("array")}, None
                    continue
                if plan is not None:
                    return plan
                templates, types = dict(self.next_templates), self.next_types
        finally:
            self.conditional -= 1
        raise self.refuse(
            "what this loop carries keeps changing its structure",
            "give the names that it assigns one structure before the loop.",
        )

    next_templates: dict[Any, Template]
    next_types: list[Type | None] | None

    def attempt(
        self,
        once: Callable[[], Any],
        before: dict[Any, Any],
        templates: dict[Any, Template],
        types: list[Type | None] | None,
        span: Any,
    ) -> Plan | None:
        """Lower the body once with the given carried names."""
        self.state = dict(before)
        outside = len(self.nodes)
        inits: list[Arg] = []
        for key, template in templates.items():
            inits += self.flatten(template, self.held(before, key))
        params: list[Value] = []
        hints = self.hints(templates)
        for number, init in enumerate(inits):
            name = init.name if isinstance(init, Value) else None
            kind = types[number] if types is not None else self.type_of(init)
            params.append(Value(hints[number] or name, kind))
        values = iter(params)
        for key, template in templates.items():
            self.state[key] = self.instantiate(template, values)
        inside = dict(self.state)
        nodes, _, result = self.nested(once)
        after = self.state
        # Names that changed and are not carried yet.
        self.left, self.right = inside, after
        found: dict[Any, Template] = {}
        for key in dict.fromkeys([*before, *after]):
            if key[0] in ("m", "ro", "t", "f"):
                continue
            a = inside.get(key, self.base(key))
            b = after.get(key, self.base(key))
            if a is b or (key[0] == "h" and key not in before and a is UNDEFINED):
                continue
            if key[0] == "h" and key not in before and self.base(key) is UNDEFINED:
                continue
            if self.same(a, b):
                continue
            original = self.held(before, key)
            self.left = before if key not in templates else inside
            first = self.join(original if key not in templates else a, b)
            self.left = inside
            if key in templates and _alike(templates[key], first):
                continue
            if first.kind == "same":
                continue
            found[key] = first
        marks = {
            k: v
            for k, v in after.items()
            if k[0] in ("m", "ro") and ("h", k[1]) in before and before.get(k) != v
        }
        # What an iteration appends to a list or aliases, the next one must know of.
        before.update(marks)
        if found or marks:
            del self.nodes[outside:]
            self.state = dict(before)
            self.next_templates = {**templates, **found}
            self.next_types = None
            return None
        return self.close(
            templates, inits, params, nodes, result, before, after, span, outside
        )

    def held(self, state: dict[Any, Any], key: Any) -> Any:
        """Return what a key holds in a state, captured containers included."""
        return state.get(key, self.base(key))

    def hints(self, templates: dict[Any, Template]) -> list[str | None]:
        """Return the user's names of carried values."""
        names: list[str | None] = []
        for key, template in templates.items():
            name = None
            if key[0] == "n" and template.width == 1:
                name = key[2]
            elif key[0] == "h" and template.width == 1:
                name = self.name_of_cell(key[1])
            names += [name] * template.width
        return names

    def name_of_cell(self, cell: int) -> str | None:
        """Return the first of the user's names for a list or array."""
        for key, item in self.state.items():
            if (
                key[0] == "n"
                and isinstance(item, ListRef | Array)
                and item.cell == cell
            ):
                return str(key[2])
        return None

    def close(
        self,
        templates: dict[Any, Template],
        inits: list[Arg],
        params: list[Value],
        nodes: list[Node],
        result: Any,
        before: dict[Any, Any],
        after: dict[Any, Any],
        span: Any,
        outside: int,
    ) -> Plan | None:
        """Compute next values and types; settled if the types cover both."""
        kept, self.nodes = self.nodes, nodes
        nexts: list[Arg] = []
        for key, template in templates.items():
            nexts += self.flatten(template, after.get(key, UNDEFINED))
        nodes, self.nodes = self.nodes, kept
        joined = [
            self.join_types(UNDEFINED if i is UNDEFINED else p, n)
            for p, i, n in zip(params, inits, nexts, strict=True)
        ]
        if any(not _same_type(p.type, t) for p, t in zip(params, joined, strict=True)):
            del self.nodes[outside:]
            self.state = dict(before)
            self.next_templates, self.next_types = templates, joined
            return None
        return Plan(
            templates, tuple(inits), params, nodes, nexts, result, before, after, span
        )

    def finish(self, plan: Plan, node: Node) -> None:
        """Append a loop's node and give its names their final values."""
        marks = {k: v for k, v in plan.after.items() if k[0] in ("m", "ro")}
        self.state = dict(plan.before)
        for key, mark in marks.items():
            if ("h", key[1]) in self.state or key in self.state:
                self.state[key] = mark
        self.append(node)
        values = iter(node.outs)
        for key, template in plan.templates.items():
            self.state[key] = self.instantiate(template, values)
        for key, value in zip(plan.outs_names(), node.outs, strict=True):
            if key and value.name is None:
                object.__setattr__(value, "name", key)


class Plan:
    """A loop's body and what it carries."""

    def __init__(
        self,
        templates: dict[Any, Template],
        inits: tuple[Arg, ...],
        params: list[Value],
        nodes: list[Node],
        nexts: list[Arg],
        result: Any,
        before: dict[Any, Any],
        after: dict[Any, Any],
        span: Any,
    ) -> None:
        self.templates = templates
        self.inits = inits
        self.params = params
        self.nodes = nodes
        self.nexts = nexts
        self.result = result
        self.before = before
        self.after = after
        self.span = span
        self.outs = [Value(p.name, p.type) for p in params]

    def outs_names(self) -> list[str | None]:
        """Return the names of the outputs: those of the carried values."""
        return [p.name for p in self.params]


def _alike(a: Template, b: Template) -> bool:
    """Say whether a carried name's template covers what was found in the body."""
    if a.kind == b.kind and a.kind in ("leaf", "array"):
        return True
    if b.kind == "same":
        return True
    if (a.kind, b.kind) in (("array", "leaf"),):
        return True
    if a.kind == b.kind == "runlist":
        return bool(a.like == b.like)
    if a.kind == b.kind == "poison":
        return True
    if a.kind == b.kind and len(a.parts) == len(b.parts):
        return all(map(_alike, a.parts, b.parts)) and a.names == b.names
    return False


def _same_type(a: Type | None, b: Type | None) -> bool:
    if a is None or b is None:
        return a is b
    if a.kind == b.kind == "list":
        empty = [not (t.samples and t.samples[0]) for t in (a, b)]
        return empty[0] == empty[1]
    return a == b
