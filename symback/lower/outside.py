"""What the function writes outside itself: counters, histories, running statistics.

Each write is an effect, done once and in order in the forward part; nothing flows back
through it.  Inside the call what was written is read from the state; what is written
is a parameter of the text, read anew at each call, and never taken as known.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Param, Value
from .abstract import Array, Known, Outer, View, Written
from .cells import mentions
from .names import Names, Path, is_callable_kind

__all__ = ["Outside"]


class Outside(Names):
    """Write to objects, lists, dicts and names outside the function."""

    def holder(self, thing: Any, path: Path) -> Value:
        """Return a parameter that is an object itself, read anew at each call."""
        key = ("holder", id(thing))
        if key not in self.captures:
            self.captures[key] = self.loose_value(path)
        value: Value = self.captures[key]
        return value

    def loose_value(self, path: Path, thing: Any = None) -> Value:
        """Return a parameter of which the text knows at most the type."""
        name = path.label
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        value = Value(name, None if thing is None else self.argument_type(thing))
        self.captured.append(Param(name, value, "captured"))
        self.capture_paths.append(path)
        self.loose.add(name)
        return value

    def written_value(self, thing: Any, path: Path) -> Any:
        """Return what is there before the call, of something that is written."""
        if isinstance(thing, int | float | np.number) and type(thing) is not bool:
            item = self.wrap(self.loose_value(path, thing))
            if isinstance(item, Array):
                key = ("h", item.cell)
                self.captured_cells[key] = self.state.pop(key)
            return item
        return self.capture(thing, path)

    def capture(self, thing: Any, path: Path) -> Any:
        if type(thing) is list and (id(thing), None) in self.written:
            return Outer(self.holder(thing, path))
        return super().capture(thing, path)

    def written_cell(self, thing: Any, path: Path) -> int | None:
        """Return the cell of what is written of an object, if anything is."""
        found = self.written_cells.get(id(thing))
        if found is None and any(owner == id(thing) for owner, _ in self.written):
            with self.outside_numbers():
                found = self.written_cells[id(thing)] = self.fresh()
                self.fill_written(found, thing, path)
        return found

    def fill_written(self, cell: int, thing: Any, path: Path) -> None:
        """Read what is there before the call of all that is written of an object."""
        held: dict[Any, Any] = {}
        self.captured_cells["h", cell] = held
        for owner, name in sorted(self.written, key=repr):
            if owner != id(thing):
                continue
            step = path.step("item" if type(thing) is dict else "attr", name)
            try:
                now = step.get()
            except (AttributeError, KeyError, ValueError):
                self.absent(thing, path, name)
                continue
            held[name] = self.written_value(now, step)

    def absent(self, thing: Any, path: Path, name: Any) -> None:
        """Take it as known that something is not there yet."""
        if type(thing) is dict:
            self.guards[path.step("keys", "")] = tuple(thing)
        else:
            self.guards[path.step("has", name)] = False

    def written_part(self, thing: Any, path: Path | None, name: Any) -> Any:
        """Return what an attribute that the function writes holds now, or UNDEFINED."""
        if path is None:
            return UNDEFINED
        cell = self.written_cell(thing, path)
        return UNDEFINED if cell is None else self.content(cell).get(name, UNDEFINED)

    def write_outside(self, thing: Any, path: Path, name: Any, item: Any) -> None:
        """Write an attribute of an object, or an item of a dict."""
        if (id(thing), name) not in self.written:
            raise Written((id(thing), name))
        cell = self.written_cell(thing, path)
        assert cell is not None
        if type(thing) is not dict:
            kind = thing if isinstance(thing, type) else type(thing)
            static = inspect.getattr_static(kind, name, None)
            if isinstance(static, property):
                raise self.refuse(f"the property `{name}` outside the function is set")
        self.state["h", cell] = {**self.content(cell), name: item}
        op = "set_item" if type(thing) is dict else "set_attribute"
        self.effect(op, self.holder(thing, path), name, self.given_away(item))

    def given_away(self, item: Any) -> Any:
        """Return what is handed outside: a copy of an array, which is its own."""
        if isinstance(item, Known) and is_callable_kind(item.value):
            raise self.refuse("a function is kept outside the function")
        if isinstance(item, Array | View):
            value = self.operand(item)
            if isinstance(value, Value) and value.type and value.type.is_array:
                for cell in mentions(item):
                    self.state["ro", cell] = (
                        "an array that is kept outside the function is changed",
                        "keep a copy: `x.copy()`.",
                    )
                return self.emit("np.copy", value)
            return value
        return self.operand(item)

    def outer_method(self, item: Outer, name: str, args: list[Any]) -> Any:
        """Call a method of a list outside the function, when the text runs."""
        given = tuple(map(self.given_away, args))
        if name in ("append", "extend", "insert", "clear", "reverse", "remove"):
            self.effect("method", item.value, name, given, {})
            return Known(None)
        return self.wrap(self.emit("method", item.value, name, given, {}))

    def outer_call(self, item: Outer, function: Any) -> Any:
        """Call one of Python's functions of a list outside the function."""
        return self.emit("call", function, (item.value,), {})
