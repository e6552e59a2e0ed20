"""What can be walked, and comprehensions, which walk it."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..graph import Value
from .abstract import (
    Array,
    DictRef,
    DictView,
    Iterable,
    Known,
    ListRef,
    Obj,
    Shape,
    Tup,
    View,
    Walker,
)
from .conditions import Conditions
from .core import Frame

__all__ = ["Iteration"]


class Iteration(Conditions):
    """Walk containers, arrays and ranges."""

    looped: set[Value]

    # What can be walked

    def iterate(self, item: Any) -> Iterable:
        item = self.settled(item)
        if isinstance(item, Iterable):
            return item
        if isinstance(item, Walker):
            return self.drained(item)
        if isinstance(item, DictView):
            held = self.content(item.cell)
            keys = tuple(map(self.key_item, held))
            views = {
                "keys": keys,
                "values": tuple(held.values()),
                "items": tuple(map(Tup, zip(keys, held.values(), strict=True))),
            }
            return Iterable(items=views[item.kind])
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

    def comprehension_frame(self, node: Any) -> Frame:
        """Return a frame for the names of a comprehension: they are its own."""
        targets = {
            n.id
            for g in node.generators
            for n in ast.walk(g.target)
            if isinstance(n, ast.Name)
        }
        given = {
            n.target.id
            for n in ast.walk(node)
            if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name)
        }
        around = self.frame
        frame = Frame(
            self.fresh(),
            around.source,
            around.live,
            around.number,
            frozenset(targets),
            frozenset(given),
        )
        self.frames[frame.number] = frame
        return frame

    def comprehend(
        self,
        node: Any,
        produce: Callable[[], None],
        frame: Frame | None = None,
        first: Any = None,
        flags: Sequence[Any] = (),
    ) -> None:
        """Run the loops of a comprehension, whose first iterable may be given."""
        if frame is None:
            first = self.value(node.generators[0].iter)
            frame = self.comprehension_frame(node)

        def level(number: int) -> None:
            if number == len(node.generators):
                produce()
                return
            one = node.generators[number]
            walked = self.value(one.iter) if number else first

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

            self.walk(walked, body, flags)

        self.stack.append(frame)
        try:
            level(0)
        finally:
            self.stack.pop()
            if not frame.closures:
                for name in frame.locals:
                    self.state.pop(("n", frame.number, name), None)

    def drained(self, walker: Walker) -> Iterable:
        """Return all that an iterator still gives; it has ended then."""
        walked = None if self.pushed(walker) else self.positional(walker)
        if walked is not None and walked.items is None:
            self.end(walker)
            return walked
        items = self.new_list([])
        self.walk(walker, lambda item: self.list_append(items, item))
        return self.iterate(items)

    @abstractmethod
    def pushed(self, walker: Walker) -> bool:
        """Say whether an iterator gives its items in loops of its own."""

    @abstractmethod
    def positional(self, walker: Walker) -> Iterable | None:
        """Return what an iterator still gives as items by number, if that can be."""

    @abstractmethod
    def end(self, walker: Walker) -> None:
        """Note that an iterator was walked to its end."""

    @abstractmethod
    def walk(
        self, item: Any, body: Callable[[Any], None], flags: Sequence[Any] = ()
    ) -> None:
        """Run a body for each item of what is walked, as long as no flag is set."""
