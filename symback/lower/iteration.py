"""What can be walked, and comprehensions, which walk it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..graph import Value
from .abstract import Array, DictRef, Iterable, Known, ListRef, Obj, Shape, Tup, View
from .conditions import Conditions

__all__ = ["Iteration"]


class Iteration(Conditions):
    """Walk containers, arrays and ranges."""

    looped: set[Value]

    # What can be walked

    def iterate(self, item: Any) -> Iterable:
        item = self.settled(item)
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
