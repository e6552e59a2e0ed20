"""Subscripts: items of containers, and entries and views of arrays."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Any

import numpy as np

from ..graph import Node, Value, leaves
from .abstract import (
    Array,
    Choice,
    DictRef,
    Either,
    Iterable,
    Known,
    ListRef,
    Obj,
    Outer,
    RunList,
    Shape,
    Tup,
    View,
    always,
    is_number,
)
from .cells import MAX_OPTIONS
from .core import Raises
from .expressions import Expressions

__all__ = ["Subscripts"]


class Subscripts(Expressions):
    """Lower reading by an index."""

    def on_Subscript(self, node: ast.Subscript) -> Any:
        item = self.value(node.value)
        index = self.index(node.slice)
        with self.at(node):
            return self.getitem(item, index)

    def index(self, node: ast.expr) -> Any:
        """Return an index: an abstract value, a slice of them, or a tuple."""
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if p is None else self.value(p) for p in parts))
        if isinstance(node, ast.Tuple):
            found: list[Any] = []
            for element in node.elts:
                if isinstance(element, ast.Starred):
                    found += self.known_items(self.value(element.value))
                else:
                    found.append(self.index(element))
            return Tup(tuple(found))
        return self.value(node)

    def known_slice(self, index: slice) -> slice:
        """Return a slice of known integers, asking for them where they are not."""
        parts: list[Any] = []
        for part in (index.start, index.stop, index.step):
            if part is None or isinstance(part, Known):
                parts.append(None if part is None else part.value)
            else:
                raise self.need_static(part, "the bounds of this slice must be known")
        return slice(*parts)

    def getitem(self, item: Any, index: Any) -> Any:
        """Read ``item[index]``."""
        item = self.settled(item)
        if isinstance(item, Tup | ListRef):
            return self.sequence_item(item, index)
        if isinstance(item, DictRef):
            held = self.content(item.cell)
            if self.runtime_key(index) and held:
                return self.picked_key(held, index)
            key = self.key(index)
            factory = self.state.get(("f", item.cell))
            if key not in held and factory is not None:
                made = self.call_value(factory, [], {})
                self.state["h", item.cell] = {**held, key: made}
                return made
            if key not in held:
                raise Raises(KeyError, self.refuse(f"the dict has no key {key!r}"))
            return held[key]
        if isinstance(item, Known):
            if item.value is np.c_ or item.value is np.r_:
                return self.joined_arrays(item.value is np.c_, index)
            if isinstance(item.value, np.ndarray | np.generic):
                raise self.refuse("this array is not known here")
            with self.trying():
                if isinstance(index, slice):
                    return Known(item.value[self.known_slice(index)])
                if isinstance(index, Known):
                    return Known(item.value[index.value])
            raise self.need_static(self.operand(index), "this index must be known")
        if isinstance(item, Shape):
            return self.emit("getitem", item.value, self.operand(index))
        if isinstance(item, Iterable):
            return self.sequence_item(self.listed(item), index)
        if isinstance(item, Outer):
            return self.outer_method(item, "__getitem__", [index])
        if isinstance(item, Obj):
            method = self.attribute(item, "__getitem__")
            return self.call_value(method, [index], {})
        return self.array_item(item, index)

    def joined_arrays(self, columns: bool, index: Any) -> Any:
        """Lower ``np.c_[a, b]`` and ``np.r_[a, b]`` of arrays and numbers."""
        parts = list(index.items) if isinstance(index, Tup) else [index]
        if any(isinstance(p, Known) and isinstance(p.value, str) for p in parts):
            raise self.refuse("directives are not supported in `np.r_` and `np.c_`")
        parts = [self.joined_part(p) for p in parts]
        if columns:
            return self.call_op("np.column_stack", [Tup(tuple(parts))], {})
        flat = [self.call_op("np.atleast_1d", [p], {}) for p in parts]
        return self.call_op("np.concatenate", [Tup(tuple(flat))], {})

    def joined_part(self, part: Any) -> Any:
        """Return a list as an array, and a slice as the numbers that it stands for."""
        if isinstance(part, ListRef | Tup):
            return self.call_op("np.array", [part], {})
        if not isinstance(part, slice):
            return part
        start = Known(0) if part.start is None else part.start
        step = Known(1) if part.step is None else part.step
        if isinstance(step, Known) and isinstance(step.value, complex):
            count = Known(int(abs(step.value)))
            return self.call_op("np.linspace", [start, part.stop, count], {})
        return self.call_op("np.arange", [start, part.stop, step], {})

    def sequence_item(self, item: Any, index: Any) -> Any:
        """Read an item of a tuple or a list."""
        held = item.items if isinstance(item, Tup) else self.content(item.cell)
        if isinstance(held, RunList):
            return self.run_item(held, index)
        if isinstance(index, slice):
            part = list(held)[self.known_slice(index)]
            return Tup(tuple(part)) if isinstance(item, Tup) else self.new_list(part)
        if isinstance(index, Known):
            if not isinstance(index.value, int) or not (
                -len(held) <= index.value < len(held)
            ):
                outside = self.refuse(
                    f"index {index.value!r} is outside a sequence of {len(held)} items"
                )
                raise Raises(IndexError, outside)
            return held[index.value]
        position = self.operand(index)
        if self.picks(held):
            return self.picked(tuple(held), position)
        if self.picked_kind(held):
            return Either(tuple(held), self.tag_of(position, len(held)))
        found, param = self.origin(position)
        fixed = found is not None and self.indices[found]
        if fixed or param not in (None, "shape") or not all(map(is_number, held)):
            raise self.need_static(position, "an index into a list must be known")
        made = self.run_list(tuple(held), None)
        return self.wrap(self.emit("getitem", made.leaves[0], position))

    def picks(self, held: Any, *more: Any) -> bool:
        """Say whether an item picked at run time is one of a few that can be told."""
        items = (*held, *more)
        if self.mode == "generic" or self.fixed_span is not None:
            return False
        if not 0 < len(held) <= MAX_OPTIONS:
            return False
        arrays = any(isinstance(i, Array | View) for i in items)
        return arrays and all(map(is_number, items))

    def picked_kind(self, held: Any) -> bool:
        """Say whether a few lists, or a few dicts, can be told apart at run time."""
        if self.mode == "generic" or not 1 < len(held) <= MAX_OPTIONS:
            return False
        return any(all(isinstance(i, k) for i in held) for k in (ListRef, DictRef))

    def tag_of(self, position: Any, count: int) -> Any:
        """Return an index into `count` items as Python reads it: it may be negative."""
        known = self.type_of(position)
        walk = self.indices.get(position) if isinstance(position, Value) else None
        if walk is not None:
            return position
        tag = Value(None, known)
        self.append(Node("getitem", (range(count), position), {}, (tag,), (), None))
        return tag

    def picked(self, items: tuple[Any, ...], position: Any) -> Any:
        """Return the item of a list at a place that only the run knows."""
        tag = self.tag_of(position, len(items))
        one = Choice(None, "choose", (), Value(), (), (), items, tag)
        made = self.pick(one, self.loaded)
        made = self.operand(made)
        if not isinstance(made, Value):
            return self.as_item(made)
        return self.current(Choice(None, "choose", (), made, (), (), items, tag))

    def runtime_key(self, index: Any) -> bool:
        """Say whether only the run decides a dict's key."""
        return self.mode != "generic" and isinstance(index, Value)

    def picked_key(self, held: dict[Any, Any], index: Any) -> Any:
        """Return the value of a dict at a key that only the run knows."""
        keys = list(held)
        if len(keys) > MAX_OPTIONS:
            raise self.need_static(index, "a dict key must be known")

        def step(number: int) -> Any:
            if number == len(keys):
                return self.fail("KeyError", "the dict has no such key")
            test = self.truth(self.compare(ast.Eq(), index, Known(keys[number])))
            return self.choose(
                test, always(held[keys[number]]), lambda: step(number + 1)
            )

        return step(0)

    @abstractmethod
    def compare(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        """Apply a comparison operator."""

    def run_item(self, held: RunList, index: Any) -> Any:
        """Read an item, or a slice, of a list whose length is known at run time."""
        place = self.operand(index)
        read = iter([self.emit("getitem", leaf, place) for leaf in held.leaves])
        if isinstance(index, slice):
            cell = self.fresh()
            self.state["h", cell] = RunList(tuple(read), held.shape)
            return ListRef(cell)

        def rebuild(shape: Any) -> Any:
            if shape is None:
                item = self.wrap(next(read))
                if isinstance(item, Array | ListRef):
                    self.state["ro", item.cell] = (
                        "an item of a list with a run-time length is changed in place",
                        "make a copy first: `x = items[i].copy()`.",
                    )
                return item
            return Tup(tuple(rebuild(part) for part in shape))

        return rebuild(held.shape)

    def array_item(self, item: Any, index: Any) -> Any:
        """Read entries of an array; basic indices give a view of it."""
        base = self.operand(item)
        if isinstance(index, Known) and isinstance(index.value, str):
            known = base.type if isinstance(base, Value) else None
            if known is None:
                name = base.name if isinstance(base, Value) else None
                raise self.ask_arguments(name or "it", "is indexed by a string")
        place = self.operand(index)
        if self.mode == "generic" and base in self.parameters and type(place) is int:
            # It may be a tuple or a list: then its gradient is one as well.
            self.looped.add(base)
        value = self.emit("getitem", base, place)
        if value.type is not None and not value.type.is_array:
            return self.wrap(value)
        basic = self.basic_index(place)
        known = self.type_of(base)
        if value.type is None and basic and known is not None and known.is_array:
            parts = place if isinstance(place, tuple) else (place,)
            if len(parts) == known.rank and _integers(parts):
                return value
        if basic is False or not isinstance(item, Array | View):
            return self.wrap(value)
        if basic is None:
            self.uncertain.add(value)
        return View(item, "getitem", (place,), value, self.contents(item))

    @abstractmethod
    def outer_method(self, item: Outer, name: str, args: list[Any]) -> Any:
        """Call a method of a list outside the function, when the text runs."""

    uncertain: set[Value]
    parameters: set[Value]
    looped: set[Value]

    def basic_index(self, place: Any) -> bool | None:
        """Say whether an index makes a view; None if that cannot be told."""
        verdict: bool | None = True
        parts = place if isinstance(place, tuple) else (place,)
        for part in parts:
            if isinstance(part, list):
                return False
            for leaf in leaves(part):
                if not isinstance(leaf, Value):
                    continue
                if leaf.type is not None:
                    if leaf.type.is_array:
                        return False
                elif isinstance(part, slice):
                    continue
                else:
                    found, param = self.origin(leaf)
                    if found is None and param is None:
                        verdict = None
        return verdict


def _integers(parts: tuple[Any, ...]) -> bool:
    """Say whether all parts of an index are integers."""
    return all(isinstance(p, int | Value) for p in parts)
