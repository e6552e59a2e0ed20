"""Branches: two paths are lowered one after the other, then their states are joined.

Where the condition is known only one of them is lowered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..graph import UNDEFINED, Block, Node, Value
from .abstract import (
    DictRef,
    DictView,
    Function,
    Known,
    ListRef,
    Obj,
    RunList,
    Shape,
    Tup,
    Walker,
)
from .core import Raises
from .joins import Joins
from .templates import Template

__all__ = ["Branches"]


class Branches(Joins):
    """Lower two paths and what is true of a value."""

    def choose(
        self,
        test: Any,
        then: Callable[[], Any],
        other: Callable[[], Any],
        catch: Any = None,
    ) -> Any:
        """Run one of two parts by a truth value, and return the abstract result.

        With `catch`, names of exceptions, the second part runs where the first raises.
        """
        if catch is None and isinstance(test, Known):
            return then() if test.value else other()
        before = dict(self.state)
        span = self.span()
        self.conditional += 1
        try:
            sides = []
            for part in (then, other):
                self.state = dict(before)
                nodes, state, result = self.nested(partial(self.ended, part))
                state["t", 0] = UNDEFINED if result is None else result
                sides.append((nodes, state))
        finally:
            self.conditional -= 1
        around = getattr(self, "met", None)
        try:
            return self.merge(test, before, sides, span, catch)
        finally:
            if around is not None:
                self.met = around

    def ended(self, part: Callable[[], Any]) -> Any:
        """Run one side of a branch; what surely raises there raises at run time."""
        mark = len(self.stack)
        try:
            return part()
        except Raises as sure:
            if self.fixed_span is not None or sure.kind.__module__ != "builtins":
                raise
            del self.stack[mark:]
            text = getattr(sure.problem, "message", str(sure.problem))
            self.effect("raise", self.emit(f"builtins.{sure.kind.__name__}", text))
            self.state["d", 0] = True
            return None

    def one_side(self, test: Any, sides: Any, ends: list[bool], span: Any) -> Any:
        """Make an ``if`` of which a side ends in ``raise``: what follows is the other.

        After ``if bad: raise ...`` there is nothing to join.
        """
        stay = ends.index(False) if not all(ends) else 1
        blocks = [self.block((), nodes, ()) for nodes, _ in sides]
        nodes, state = sides[stay]
        if not all(ends):
            blocks[stay] = self.block((), [], ())
        self.append(Node("if", (test,), {}, (), tuple(blocks), span))
        if all(ends):
            state["d", 0] = True
        else:
            self.nodes += nodes
        self.state = state
        found = state.pop(("t", 0), None)
        return None if found is UNDEFINED else found

    def merge(
        self, test: Any, before: Any, sides: Any, span: Any, catch: Any = None
    ) -> Any:
        """Make an ``if`` node of two lowered sides and join their states."""
        ends = [state.pop(("d", 0), False) for _, state in sides]
        if catch is None and any(ends):
            return self.one_side(test, sides, ends, span)
        (nodes1, state1), (nodes2, state2) = sides
        self.meet(state1, state2, test if catch is None else None)
        templates: dict[Any, Template] = {}
        kept: dict[Any, Any] = {}
        keys = dict.fromkeys([*before, *state1, *state2])
        for key in keys:
            a, b = self.held(state1, key), self.held(state2, key)
            if a is b:
                kept[key] = a
            elif key[0] == "h" and (key not in state1 or key not in state2):
                if key in before:
                    kept[key] = before[key]
                elif self.base(key) is not UNDEFINED:
                    templates[key] = self.join(a, b)
            elif key[0] in ("ro", "f"):
                kept[key] = b if a is UNDEFINED else a
            else:
                template = self.join(a, b)
                if template.kind == "same":
                    kept[key] = template.like
                else:
                    templates[key] = template
        self.keep_cells(templates, kept)
        results: list[tuple[Any, ...]] = []
        blocks = []
        for nodes, state in sides:
            self.nodes, outside = nodes, self.nodes
            self.state = state
            flat: list[Any] = []
            for key, template in templates.items():
                flat += self.flatten(template, self.held(state, key))
            blocks.append(self.block((), nodes, tuple(flat)))
            results.append(tuple(flat))
            self.nodes = outside
        hints = [
            key[2] if key[0] == "n" and template.width == 1 else None
            for key, template in templates.items()
            for _ in range(template.width)
        ]
        outs = []
        for a, b, hint in zip(*results, hints, strict=True):
            outs.append(Value(hint, self.join_types(a, b)))
        self.state = kept
        if outs or any(nodes1) or any(nodes2):
            kwargs = {} if catch is None else {"catch": catch}
            self.append(Node("if", (test,), kwargs, tuple(outs), tuple(blocks), span))
        self.rebuild(templates, iter(outs))
        for key in [k for k in self.state if self.state[k] is UNDEFINED]:
            del self.state[key]
        result = self.state.pop(("t", 0), None)
        return result

    def keep_cells(self, templates: dict[Any, Template], kept: dict[Any, Any]) -> None:
        """Keep the cells that one path made and that several names may refer to."""
        known = {*templates, *kept}
        todo = list(templates.values())
        while todo:
            template = todo.pop()
            todo += template.parts
            for option in template.options:
                key = ("h", option.root)
                if option.root is None or key in known:
                    continue
                known.add(key)
                found = self.join(
                    self.held(self.met.left, key), self.held(self.met.right, key)
                )
                if found.kind == "same":
                    kept[key] = found.like
                else:
                    templates[key] = found
                    todo.append(found)

    def block(self, params: Any, nodes: list[Node], results: Any) -> Any:
        """Make a block."""
        return Block(tuple(params), tuple(nodes), tuple(results))

    def negate(self, item: Any) -> Any:
        """Lower ``not`` of a truth value."""
        if isinstance(item, Known):
            return Known(not item.value)
        return self.emit("not_", self.operand(item))

    def truth(self, item: Any) -> Any:
        """Return a truth value: `Known` where it can be decided, else a graph value."""
        if isinstance(item, Known):
            return Known(bool(item.value))
        item = self.settled(item)
        if isinstance(item, Tup):
            return Known(bool(item.items))
        if isinstance(item, Walker):
            return Known(True)
        if isinstance(item, ListRef | DictRef | DictView):
            held = self.content(item.cell)
            if isinstance(held, RunList):
                return self.emit("gt", self.emit("builtins.len", held.leaves[0]), 0)
            return Known(bool(held))
        if isinstance(item, Function | Obj):
            return Known(True)
        if isinstance(item, Shape):
            return item.value
        return self.operand(item)
