"""What a loop carries from one iteration to the next.

The body is lowered again and again until the names that it changes, their structure and
their types are the same before and after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..assumptions import Assumptions
from ..graph import UNDEFINED, Arg, Node, Value
from ..infer import Sampler
from ..types import Type
from .abstract import Array, ListRef
from .conditions import Conditions
from .core import State, Unassigned
from .joins import Meeting
from .templates import Option, Template, fused

__all__ = ["Carried", "Plan"]

MAX_ROUNDS = 8
"""Times that a loop's body is lowered until what it carries no longer changes."""


class Carried(Conditions):
    """Find what a loop's body carries.

    carryings : what each loop carried when it was last lowered, by its place among the
        loops around it.
    loop_place, loop_count : the loop being lowered, and how many it has met inside.
    """

    def __init__(self, assumed: Assumptions, sampler: Sampler | None = None) -> None:
        super().__init__(assumed, sampler)
        self.carryings: dict[tuple[int, ...], Carrying] = {}
        self.loop_place: tuple[int, ...] = ()
        self.loop_count = 0

    def settle(self, once: Callable[[], Any]) -> Plan:
        """Lower a loop's body until what it carries, and its types, do not change."""
        before = dict(self.state)
        span = self.span()
        outside = len(self.nodes)
        place = (*self.loop_place, self.loop_count)
        self.loop_count += 1
        after = self.loop_place, self.loop_count
        carrying = self.expected(place, before)
        first = self.counter
        self.conditional += 1
        try:
            for _ in range(MAX_ROUNDS + 8):
                del self.nodes[outside:]
                self.state = dict(before)
                # Each attempt numbers its cells, and its loops, alike.
                self.counter = max(first, *carrying.slots, 0)
                self.loop_place, self.loop_count = place, 0
                try:
                    found = self.attempt(once, before, carrying, span)
                except Unassigned as need:
                    # An earlier iteration may have assigned it.
                    key = ("n", need.frame, need.name)
                    if key in carrying.templates or need.frame != self.frame.number:
                        raise
                    found = Carrying(
                        {**carrying.templates, key: Template("array")},
                        None,
                        carrying.slots,
                    )
                if isinstance(found, Plan):
                    if not carrying.slots:
                        self.carryings[place] = carrying
                    return found
                carrying = found
        finally:
            self.conditional -= 1
            self.loop_place, self.loop_count = after
        raise self.refuse(
            "what this loop carries keeps changing its structure",
            "give the names that it assigns one structure before the loop.",
        )

    def expected(self, place: tuple[int, ...], before: State) -> Carrying:
        """Return what a loop carried when the loop around it was lowered before.

        So a loop within loops is lowered a few times, not a few times for each time
        that those around it are.
        """
        known = self.carryings.get(place)
        if known is None or not all(map(_values_only, known.templates.values())):
            return Carrying({})
        self.met = Meeting(before, before, (Counter(), Counter()), Counter())
        inits: list[Arg] = []
        for key, template in known.templates.items():
            held = self.held(before, key)
            if held is UNDEFINED or not _alike(template, self.join_undefined(held, 1)):
                return Carrying({})
            inits += self.flatten(template, held)
        types = known.types or [None] * len(inits)
        joined = [
            self.types.join(Value(None, kind), init, True) if known.types else None
            for kind, init in zip(types, inits, strict=True)
        ]
        return Carrying(known.templates, joined if known.types else None)

    def attempt(
        self,
        once: Callable[[], Any],
        before: State,
        carrying: Carrying,
        span: Any,
    ) -> Plan | Carrying:
        """Lower the body once; return the settled loop, or what to carry instead."""
        templates, types = carrying.templates, carrying.types
        slots = list(carrying.slots)
        inits: list[Arg] = []
        self.met = Meeting(before, before, (Counter(), Counter()), Counter())
        for key, template in templates.items():
            inits += self.flatten(template, self.held(before, key))
        params: list[Value] = []
        hints = self.hints(templates)
        for number, init in enumerate(inits):
            name = init.name if isinstance(init, Value) else None
            kind = types[number] if types is not None else self.type_of(init)
            params.append(Value(hints[number] or name, kind))
            if init is UNDEFINED and kind is None:
                # What it is is what the first iteration assigns.
                self.types.unset.add(params[-1])
        self.rebuild(templates, iter(params))
        inside = dict(self.state)
        unset = not self.types.unset.isdisjoint(params)
        self.unsettled += unset
        try:
            nodes, after, result = self.nested(once)
        finally:
            self.unsettled -= unset
        marks = {
            k: v
            for k, v in after.items()
            if k[0] == "ro" and ("h", k[1]) in before and before.get(k) != v
        }
        # What an iteration keeps in a list, the next one must know of.
        before.update(marks)
        self.meet(before, after)
        self.met.slots = slots
        wanted = self.carried_now(templates, before, inside, after)
        marks |= self.marked_slots(before, after)
        if wanted != templates or slots != carrying.slots or marks:
            return Carrying(wanted, None, slots)
        nexts, joined = self.close(templates, inits, params, nodes, after)
        if any(not _same_type(p.type, t) for p, t in zip(params, joined, strict=True)):
            return Carrying(templates, joined, slots)
        return Plan(
            templates,
            tuple(inits),
            params,
            nodes,
            nexts,
            result,
            before,
            after,
            span,
        )

    def carried_now(
        self,
        templates: dict[Any, Template],
        before: State,
        inside: State,
        after: State,
    ) -> dict[Any, Template]:
        """Return the templates of what the body changed, first those there were."""
        found: dict[Any, Template] = {}
        for key in dict.fromkeys([*templates, *before, *after]):
            if key[0] in ("ro", "t", "f", "d") or key in self.slot_keys():
                continue
            a, b = self.held(inside, key), self.held(after, key)
            if key not in templates and (a is b or self.same(a, b)):
                continue
            if key[0] == "h" and key not in before and self.base(key) is UNDEFINED:
                continue
            first = self.join(self.held(before, key), b)
            if key in templates:
                first = self.wider(templates[key], first)
            elif first.kind == "same":
                continue
            found[key] = replace(first, draft=not templates)
        for slot in self.met.slots or ():
            held = self.slot_content(slot, after)
            if held is not UNDEFINED:
                first = self.join_undefined(held, 1)
                key = ("h", slot)
                if key in templates:
                    first = self.wider(templates[key], first)
                found[key] = first
            elif ("h", slot) in templates:
                found["h", slot] = templates["h", slot]
        return found

    def marked_slots(self, before: State, after: State) -> State:
        """Note, and return, what is new of the memory that slots hold."""
        found: State = {}
        for cell, slot in self.met.moves.items():
            if cell in self.argument_cells:
                self.argument_cells.add(slot)
            mark = after.get(("ro", cell))
            if mark is not None and before.get(("ro", slot)) != mark:
                found["ro", slot] = mark
        before.update(found)
        return found

    def slot_keys(self) -> set[Any]:
        """Return the keys of the cells of what several carried names may refer to."""
        return {("h", slot) for slot in self.met.slots or ()}

    def slot_content(self, slot: int, after: State) -> Any:
        """Return what a carried cell holds after an iteration."""
        for cell, moved in self.met.moves.items():
            if moved == slot:
                return self.held(after, ("h", cell))
        return UNDEFINED

    def wider(self, known: Template, found: Template) -> Template:
        """Return a template that covers what a name was and what it is found to be."""
        if known.kind == "choice" and found.kind in ("array", "choice", "leaf"):
            if known.draft:
                return found
            more = found.options or fused([Option("own")], [])
            options = fused(list(more), [], known.options)
            self.too_many(len(options))
            marks = known.marks | found.marks
            return replace(known, options=options, marks=marks)
        if known.kind == found.kind == "either" and not known.draft:
            return replace(known, options=fused(list(found.options), [], known.options))
        if known.kind == "array" and found.kind == "array":
            return replace(found, marks=known.marks | found.marks)
        if known.parts and len(known.parts) == len(found.parts):
            if (known.kind, known.names) == (found.kind, found.names):
                parts = tuple(map(self.wider, known.parts, found.parts))
                return replace(known, parts=parts, group=found.group)
        return known if _alike(known, found) else found

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
        after: State,
    ) -> tuple[list[Arg], list[Type | None]]:
        """Return the next values, and the types that cover them and the first ones."""
        kept, self.nodes = self.nodes, nodes
        nexts: list[Arg] = []
        slots = self.slot_keys()
        for key, template in templates.items():
            held = self.held(after, key)
            if key in slots:
                held = self.slot_content(key[1], after)
            nexts += self.flatten(template, held)
        self.nodes = kept
        joined = [
            self.types.join(UNDEFINED if i is UNDEFINED else p, n, carried=True)
            for p, i, n in zip(params, inits, nexts, strict=True)
        ]
        return nexts, joined

    def finish(self, plan: Plan, node: Node) -> None:
        """Append a loop's node and give its names their final values."""
        self.state = dict(plan.before)
        for key, mark in plan.after.items():
            if key[0] == "ro":
                self.state[key] = mark
        self.append(node)
        self.rebuild(plan.templates, iter(node.outs))
        for param, value in zip(plan.params, node.outs, strict=True):
            if param.name and value.name is None:
                object.__setattr__(value, "name", param.name)


@dataclass(frozen=True)
class Carrying:
    """What the next attempt at a loop's body is to carry.

    types : of the carried values, or None for those of their first values.
    """

    templates: dict[Any, Template]
    types: list[Type | None] | None = None
    slots: list[int] = field(default_factory=list)


@dataclass
class Plan:
    """A loop's body and what it carries."""

    templates: dict[Any, Template]
    inits: tuple[Arg, ...]
    params: list[Value]
    nodes: list[Node]
    nexts: list[Arg]
    result: Any
    before: State
    after: State
    span: Any

    def __post_init__(self) -> None:
        self.outs = [Value(p.name, p.type) for p in self.params]


def _values_only(template: Template) -> bool:
    """Say whether a template is of values alone, and names no cell."""
    if template.kind == "tuple":
        return all(map(_values_only, template.parts))
    return template.kind == "leaf" or (template.kind == "array" and not template.group)


def _alike(a: Template, b: Template) -> bool:
    """Say whether a carried name's template covers what was found in the body."""
    if a.kind == b.kind and a.kind in ("leaf", "array", "alias"):
        return bool(a.group == b.group)
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
    """Say whether the type of a carried value covers what was found after the body."""
    if a is None or b is None:
        return a is b
    if a.kind == b.kind == "list":
        empty = [not (t.samples and t.samples[0]) for t in (a, b)]
        return empty[0] == empty[1]
    if a.is_array and b.is_array and a.dtype == b.dtype and a.rank == b.rank:
        # A size that is unlike all others covers any; each join gives it a new name.
        pairs = zip(a.dims, b.dims, strict=True)
        return all(p == q or (p[0] == "?" and q[0] == "?") for p, q in pairs)
    return a == b
