"""Where paths meet: how two states become one.

A name that differs on two paths becomes a graph value (or several, for a tuple, a list
or a dict), an output of the branch or a parameter of the loop; a `Template` says how
the abstract value is taken apart and rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..errors import InternalError
from ..graph import UNDEFINED, Arg, Value
from ..types import Type
from .abstract import (
    Array,
    DictRef,
    Function,
    Known,
    ListRef,
    Obj,
    Partial,
    Poison,
    RunList,
    Tup,
    View,
    is_number,
)
from .core import State
from .sharing import Shares, Sharing
from .templates import Template, width

__all__ = ["Joins"]


class Joins(Shares):
    """Join abstract values and types."""

    def same(self, a: Any, b: Any) -> bool:
        """Say whether two abstract values are surely one."""
        if a is b:
            return True
        if type(a) is not type(b) or isinstance(a, Poison):
            return False
        if isinstance(a, tuple):
            return len(a) == len(b) and all(map(self.same, a, b))
        if isinstance(a, dict):
            return list(a) == list(b) and all(self.same(a[k], b[k]) for k in a)
        if isinstance(a, Tup):
            return self.same(a.items, b.items)
        if isinstance(a, RunList):
            return a.shape == b.shape and self.same(a.leaves, b.leaves)
        if isinstance(a, Known | Array | ListRef | DictRef):
            return bool(a == b)
        if isinstance(a, Obj):
            return bool(a.cell == b.cell)
        if isinstance(a, View):
            alike = a.op == b.op and a.made is b.made
            return bool(alike and self.same(a.base, b.base))
        return False

    def join(self, a: Any, b: Any) -> Template:
        """Return how two abstract values (or contents of cells) become one."""
        if self.same(a, b):
            return Template("same", like=a)
        for item, state in ((a, self.left), (b, self.right)):
            held = self.poison_of(item, state)
            if held is not None:
                return Template("poison", like=held)
        if a is UNDEFINED:
            return self.join_undefined(b)
        if b is UNDEFINED:
            return self.join_undefined(a)
        if is_number(a) and is_number(b):
            if isinstance(a, Array | View) or isinstance(b, Array | View):
                return Template("array", cells=self.memory(a, b))
            return Template("leaf")
        if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
            parts = tuple(map(self.join, a.items, b.items))
            return Template("tuple", parts, a.like, a.names)
        return self._join_containers(a, b)

    def rebuild(
        self,
        templates: dict[Any, Template],
        values: Iterator[Value],
        sharing: Sharing,
    ) -> None:
        """Set all keys of the state that have templates, and note what they share."""
        self.made_cells: list[int] = []
        for key, template in templates.items():
            self.state[key] = self.instantiate(template, values)
        for i, j in sharing.pairs:
            # On some path the two are one: changing one may change the other.
            cell, other = self.made_cells[i], self.made_cells[j]
            known = self.state.get(("m", cell), frozenset())
            self.state["m", cell] = known | {other}
        for number, reason in sharing.unwritable.items():
            self.state["ro", self.made_cells[number]] = reason

    def _new_cell(self, template: Template) -> int:
        """Return a cell for what one of several may be."""
        cell = self.fresh()
        if template.cells:
            self.state["m", cell] = template.cells
        self.made_cells.append(cell)
        return cell

    def _join_containers(self, a: Any, b: Any) -> Template:
        if isinstance(a, ListRef) and isinstance(b, ListRef):
            # Each side's content is read in its own state, when it is flattened.
            part = self.join(self.held_a(a), self.held_b(b))
            return Template("list", (part,), cells=self.memory(a, b))
        if isinstance(a, DictRef) and isinstance(b, DictRef):
            part = self.join(self.held_a(a), self.held_b(b))
            return Template("dict", (part,), cells=self.memory(a, b))
        if isinstance(a, Obj) and isinstance(b, Obj) and a.value is b.value:
            part = self.join(self.held_a(a), self.held_b(b))
            if part.kind != "poison":
                return Template("object", (part,), like=a)
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return Template("items", tuple(map(self.join, a, b)))
        if isinstance(a, tuple | RunList) and isinstance(b, tuple | RunList):
            return Template("runlist", like=self.run_shape(a, b))
        if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
            parts = tuple(self.join(a[k], b[k]) for k in a)
            return Template("dictitems", parts, names=tuple(a))
        return Template(
            "poison",
            like=Poison(
                f"a name is {self.describe(a)} on one path and {self.describe(b)} on "
                "another",
                "give it the same structure on both.",
            ),
        )

    def poison_of(self, item: Any, state: State) -> Poison | None:
        """Return the poison that a name holds or points at, if there is one."""
        if isinstance(item, Poison):
            return item
        cell = self.root(item)
        found = None if cell is None else state.get(("h", cell))
        return found if isinstance(found, Poison) else None

    def held_a(self, ref: Any) -> Any:
        """Return a container's content in the first of the states being joined."""
        return self.held(self.left, ("h", ref.cell))

    def held_b(self, ref: Any) -> Any:
        """Return a container's content in the second of the states being joined."""
        return self.held(self.right, ("h", ref.cell))

    def join_undefined(self, item: Any) -> Template:
        """Return the template of a name that has a value on one path only."""
        for state in (self.left, self.right):
            poison = self.poison_of(item, state)
            if poison is not None:
                return Template("poison", like=poison)
        if isinstance(item, Tup):
            parts = tuple(map(self.join_undefined, item.items))
            return Template("tuple", parts, item.like, item.names)
        if isinstance(item, Array | View):
            return Template("array", cells=self.memory(item))
        if is_number(item):
            return Template("leaf")
        if isinstance(item, ListRef):
            held = self.left.get(("h", item.cell), self.right.get(("h", item.cell)))
            if isinstance(held, RunList):
                part = Template("runlist", like=held.shape)
                return Template("list", (part,), cells=self.memory(item))
            if isinstance(held, tuple):
                parts = tuple(map(self.join_undefined, held))
                part = Template("items", parts)
                return Template("list", (part,), cells=self.memory(item))
        if isinstance(item, DictRef):
            held = self.left.get(("h", item.cell), self.right.get(("h", item.cell)))
            if isinstance(held, dict):
                parts = tuple(map(self.join_undefined, held.values()))
                part = Template("dictitems", parts, names=tuple(held))
                return Template("dict", (part,), cells=self.memory(item))
        if isinstance(item, Obj):
            key = ("h", item.cell)
            held = self.held(self.left, key)
            held = self.held(self.right, key) if held is UNDEFINED else held
            if not isinstance(held, dict):
                return Template("poison", like=held)
            parts = tuple(map(self.join_undefined, held.values()))
            part = Template("dictitems", parts, names=tuple(held))
            return Template("object", (part,), like=item)
        if isinstance(item, Known | Function | Partial | type):
            return Template("same", like=item)
        return Template(
            "poison", like=Poison("a name has a value on one of the paths only")
        )

    def run_shape(self, a: Any, b: Any) -> Any:
        """Return the common structure of the items of two lists."""
        shapes: list[Any] = []
        for held in (a, b):
            if isinstance(held, RunList):
                shapes.append(held.shape)
            else:
                shapes.extend(self.item_shape(i) for i in held)
        if not shapes:
            return None
        # An empty run-time list has no structure of its own yet.
        first = max(shapes, key=width)
        if any(s != first for s in shapes if s is not None or first is None):
            raise self.refuse(
                "the items of a list with a run-time length differ in structure",
                "append items of one kind: all numbers, or tuples of one length.",
            )
        return first

    def item_shape(self, item: Any) -> Any:
        """Return the structure of one item of a run-time list."""
        if isinstance(item, Tup):
            return tuple(map(self.item_shape, item.items))
        if isinstance(item, ListRef):
            held = self.state.get(("h", item.cell))
            if isinstance(held, RunList):
                return None
            if isinstance(held, tuple) and all(map(is_number, held)):
                if held:
                    return tuple(map(self.item_shape, held))
                return self._item_without_shape(item)
        if is_number(item):
            return None
        return self._item_without_shape(item)

    def _item_without_shape(self, item: Any) -> Any:
        """Ask for known items where an item cannot be kept in a run-time list."""
        if self.active_loops:
            # Written out iteration by iteration, the list's items are known.
            raise self.need_static(
                self.active_loops[-1], "the items of this list must be known"
            )
        raise self.refuse(
            f"{self.describe(item)} cannot be kept in a list whose length is known "
            "only at run time",
            "append numbers, arrays or tuples of them.",
        )

    def flatten(self, template: Template, item: Any) -> list[Arg]:
        """Return an abstract value as the graph values of a template."""
        if template.kind in ("same", "poison"):
            return []
        if item is UNDEFINED:
            if template.kind == "runlist":
                return [self.emit("list") for _ in range(template.width)]
            return [UNDEFINED] * template.width
        if template.kind in ("leaf", "array"):
            return [self.operand(item)]
        if template.kind == "tuple":
            items = item.items
        elif template.kind in ("list", "dict", "object"):
            return self.flatten(template.parts[0], self.content(item.cell))
        elif template.kind == "items":
            items = item
        elif template.kind == "dictitems":
            items = tuple(item.values())
        elif template.kind == "runlist":
            return list(self.run_list(item, template.like).leaves)
        else:
            raise InternalError(f"cannot flatten {template.kind}")
        found: list[Arg] = []
        for part, one in zip(template.parts, items, strict=True):
            found += self.flatten(part, one)
        return found

    def instantiate(self, template: Template, values: Iterator[Value]) -> Any:
        """Rebuild an abstract value, or a cell's content, from graph values."""
        kind = template.kind
        if kind in ("same", "poison"):
            return template.like
        if kind == "leaf":
            value = next(values)
            return value
        if kind == "array":
            cell = self._new_cell(template)
            self.state["h", cell] = next(values)
            return Array(cell)
        if kind == "tuple":
            items = tuple(self.instantiate(p, values) for p in template.parts)
            return Tup(items, template.like, template.names)
        if kind in ("list", "dict"):
            cell = self._new_cell(template)
            self.state["h", cell] = self.instantiate(template.parts[0], values)
            return ListRef(cell) if kind == "list" else DictRef(cell)
        if kind == "object":
            cell = self._new_cell(template)
            self.state["h", cell] = self.instantiate(template.parts[0], values)
            return replace(template.like, cell=cell)
        if kind == "items":
            return tuple(self.instantiate(p, values) for p in template.parts)
        if kind == "dictitems":
            return {
                k: self.instantiate(p, values)
                for k, p in zip(template.names, template.parts, strict=True)
            }
        if kind == "runlist":
            count = max(1, width(template.like))
            return RunList(tuple(next(values) for _ in range(count)), template.like)
        raise InternalError(f"cannot rebuild {kind}")

    def run_list(self, held: Any, shape: Any) -> RunList:
        """Return a list's content as a run-time list of the given structure."""
        count = max(1, width(shape))
        if isinstance(held, RunList):
            if held.shape == shape:
                return held
            # An empty list begun without structure.
            return RunList(tuple(self.emit("list") for _ in range(count)), shape)
        columns: list[list[Arg]] = [[] for _ in range(count)]
        for item in held:
            for column, leaf in zip(columns, self.item_leaves(item), strict=True):
                column.append(leaf)
        return RunList(tuple(self.emit("list", *c) for c in columns), shape)

    def item_leaves(self, item: Any) -> list[Arg]:
        """Return the graph values of one item of a run-time list."""
        if isinstance(item, Tup):
            return [leaf for i in item.items for leaf in self.item_leaves(i)]
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, tuple):
                self.state["ro", item.cell] = _IN_LIST
                return [leaf for i in held for leaf in self.item_leaves(i)]
        if isinstance(item, Array | View):
            cell = self.root(item)
            self.state["ro", cell] = _IN_LIST
        return [self.operand(item)]

    # Types where paths meet

    def join_types(self, a: Arg, b: Arg) -> Type | None:
        """Return a type that covers two arguments, or None."""
        return self.types.join(a, b)


_IN_LIST = (
    "an array that is an item of a list with a run-time length is changed in place",
    "append a copy (`items.append(x.copy())`), or write `x = x + ...`.",
)
