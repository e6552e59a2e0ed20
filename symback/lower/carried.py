"""What a loop carries from one iteration to the next.

The body is lowered again and again until the names that it changes, their structure and
their types are the same before and after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..graph import UNDEFINED, Arg, Node, Value
from ..types import Type
from .abstract import Array, ListRef
from .conditions import Conditions
from .core import State, Unassigned
from .sharing import Sharing
from .templates import Template, grown

__all__ = ["Carried", "Plan"]

MAX_ROUNDS = 8
"""Times that a loop's body is lowered until what it carries no longer changes."""


class Carried(Conditions):
    """Find what a loop's body carries."""

    def settle(self, once: Callable[[], Any]) -> Plan:
        """Lower a loop's body until what it carries, and its types, do not change."""
        before = dict(self.state)
        span = self.span()
        outside = len(self.nodes)
        carrying = Carrying({})
        self.conditional += 1
        try:
            for _ in range(MAX_ROUNDS + 8):
                del self.nodes[outside:]
                self.state = dict(before)
                try:
                    found = self.attempt(once, before, carrying, span)
                except Unassigned as need:
                    # An earlier iteration may have assigned it.
                    key = ("n", need.frame, need.name)
                    if key in carrying.templates or need.frame != self.frame.number:
                        raise
                    found = Carrying({**carrying.templates, key: Template("array")})
                if isinstance(found, Plan):
                    return found
                carrying = found
        finally:
            self.conditional -= 1
        raise self.refuse(
            "what this loop carries keeps changing its structure",
            "give the names that it assigns one structure before the loop.",
        )

    def attempt(
        self,
        once: Callable[[], Any],
        before: State,
        carrying: Carrying,
        span: Any,
    ) -> Plan | Carrying:
        """Lower the body once; return the settled loop, or what to carry instead."""
        templates, types = carrying.templates, carrying.types
        inits: list[Arg] = []
        for key, template in templates.items():
            inits += self.flatten(template, self.held(before, key))
        params: list[Value] = []
        hints = self.hints(templates)
        for number, init in enumerate(inits):
            name = init.name if isinstance(init, Value) else None
            kind = types[number] if types is not None else self.type_of(init)
            params.append(Value(hints[number] or name, kind))
        self.left = self.right = before
        sharing = carrying.sharing | self.sharing(templates, before)
        self.rebuild(templates, iter(params), sharing)
        inside = dict(self.state)
        nodes, after, result = self.nested(once)
        found = self.newly_carried(templates, before, inside, after)
        marks = {
            k: v
            for k, v in after.items()
            if k[0] in ("m", "ro") and ("h", k[1]) in before and before.get(k) != v
        }
        # What an iteration appends to a list or aliases, the next one must know of.
        before.update(marks)
        if found or marks:
            return Carrying({**templates, **found})
        wider = self.wider(templates, before, after)
        more = self.sharing(templates, after)
        if wider != templates or not sharing.covers(more):
            # What one iteration makes share memory, the next one must know of.
            return Carrying(wider, types, sharing | more)
        nexts, joined = self.close(templates, inits, params, nodes, after)
        if any(not _same_type(p.type, t) for p, t in zip(params, joined, strict=True)):
            return Carrying(templates, joined, sharing)
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
            sharing,
        )

    def newly_carried(
        self,
        templates: dict[Any, Template],
        before: State,
        inside: State,
        after: State,
    ) -> dict[Any, Template]:
        """Return the templates of what the body changed and that was not carried so."""
        self.left, self.right = inside, after
        found: dict[Any, Template] = {}
        for key in dict.fromkeys([*before, *after]):
            if key[0] in ("m", "ro", "t", "f", "d"):
                continue
            a, b = self.held(inside, key), self.held(after, key)
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
        return found

    def wider(
        self,
        templates: dict[Any, Template],
        before: State,
        after: State,
    ) -> dict[Any, Template]:
        """Return the templates with the arrays that an iteration makes names of."""
        found = {}
        for key, template in templates.items():
            places = self.places(template, self.held(after, key), after)
            extra = [
                frozenset(
                    c
                    for c in (() if place is None else self.near(place, after))
                    if ("h", c) in before
                )
                for place in places
            ]
            found[key] = grown(template, iter(extra))
        return found

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
        for key, template in templates.items():
            nexts += self.flatten(template, after.get(key, UNDEFINED))
        self.nodes = kept
        joined = [
            self.join_types(UNDEFINED if i is UNDEFINED else p, n)
            for p, i, n in zip(params, inits, nexts, strict=True)
        ]
        return nexts, joined

    def finish(self, plan: Plan, node: Node) -> None:
        """Append a loop's node and give its names their final values."""
        marks = {k: v for k, v in plan.after.items() if k[0] in ("m", "ro")}
        self.state = dict(plan.before)
        for key, mark in marks.items():
            if ("h", key[1]) in self.state or key in self.state:
                self.state[key] = mark
        self.append(node)
        self.left = self.right = plan.after
        self.rebuild(plan.templates, iter(node.outs), plan.sharing)
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
    sharing: Sharing = field(default_factory=Sharing)


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
    sharing: Sharing

    def __post_init__(self) -> None:
        self.outs = [Value(p.name, p.type) for p in self.params]


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
