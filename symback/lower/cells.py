"""Memory: what can be mutated lives in a cell, and views point into their base's cell.

Reading a name gives the value that its cell holds then, so that a write through one
name of an array is seen through all its names, exactly as in NumPy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..assumptions import Refine
from ..graph import UNDEFINED, Arg, Value
from .abstract import (
    Array,
    DictRef,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Partial,
    Poison,
    RunList,
    Shape,
    Tup,
    View,
)
from .core import Core, State, spoken

__all__ = ["Cells"]


RESHAPING = frozenset(
    {
        "np.reshape",
        "np.ravel",
        "np.squeeze",
        "np.expand_dims",
        "np.atleast_1d",
        "np.atleast_2d",
        "np.atleast_3d",
    }
)
"""Views with the same entries in the same order."""


class Cells(Core):
    """Read and write cells, and make operands of what they hold."""

    def wrap(self, value: Value) -> Any:
        """Give a fresh value a cell if it can be mutated."""
        kind = value.type.kind if value.type is not None else "unknown"
        if kind in ("array", "unknown"):
            cell = self.fresh()
            self.state["h", cell] = value
            return Array(cell)
        if kind == "list":
            cell = self.fresh()
            self.state["h", cell] = RunList((value,))
            return ListRef(cell)
        return value

    def content(self, cell: int) -> Any:
        """Return what a cell holds, or refuse to read a poisoned one."""
        found = self.state["h", cell]
        if isinstance(found, Poison):
            raise self.written_out(self.refuse(found.reason, found.hint or None))
        return found

    def written_out(self, problem: Exception) -> Exception:
        """Return the exception to raise: first try again with the loops written out."""
        if self.mode == "generic" or self.unroll_all or not self.loops_met:
            return problem
        return Refine(replace(self.assumed, exact=True, unrolled=True), problem)

    def read(self, ref: Array | View) -> Value:
        """Return the current value of an array or a view."""
        if isinstance(ref, Array):
            return cast("Value", self.content(ref.cell))
        base = self.read(ref.base)
        if base is ref.of:
            return ref.made
        if ref.made.type is None and ref.op == "getitem" and _entry(ref.args[0]):
            # An entry of a vector is a number of its own; a row of a matrix changes.
            raise self.uncertain_view(ref.made)
        return self.emit(ref.op, base, *ref.args, **dict(ref.kwargs))

    def uncertain_view(self, value: Value) -> Exception:
        """Return the error for a view that may not be one."""
        return self.refuse(
            "whether this is a view of an array that was changed cannot be told",
            "take a copy first.",
        )

    def root(self, ref: Any) -> int | None:
        """Return the cell that a reference finally points into."""
        while isinstance(ref, View):
            ref = ref.base
        return ref.cell if isinstance(ref, Array | ListRef | DictRef) else None

    def write(self, ref: Array | View, value: Value) -> None:
        """Make `value` the content of an array, through its views if it is one."""
        if isinstance(ref, View):
            self.write(ref.base, self._written_back(ref, value))
            return
        if ref.cell in self.outside_cells:
            raise self.refuse(
                "an array outside the function is changed",
                "work on a copy: `x = X.copy()`.",
            )
        reason = self.state.get(("ro", ref.cell))
        if reason:
            raise self.written_out(self.refuse(reason[0], reason[1]))
        if not self.argument_cells.isdisjoint(self.near(ref.cell, self.state)):
            self.argument_changed = self.argument_changed or self.span()
        self._poison_aliases(ref.cell)
        self.state["h", ref.cell] = value

    captured_cells: dict[Any, Any]

    def base(self, key: Any) -> Any:
        """Return what a cell of a captured container holds at the start."""
        return self.captured_cells.get(key, UNDEFINED)

    def held(self, state: State, key: Any) -> Any:
        """Return what a key holds in a state, captured containers included."""
        return state.get(key, self.base(key))

    def near(self, cell: int, state: State) -> frozenset[int]:
        """Return the cell and those that may be the same memory in a state.

        This is symmetric but not transitive: where two names are swapped on one path,
        each may be either array, but never both the same one.
        """
        found = {cell, *state.get(("m", cell), ())}
        found.update(
            k[1] for k, cells in state.items() if k[0] == "m" and cell in cells
        )
        return frozenset(found)

    def _written_back(self, ref: View, value: Value) -> Value:
        base = self.read(ref.base)
        if ref.op == "getitem":
            return self.emit("setitem", base, ref.args[0], value)
        kwargs = dict(ref.kwargs)
        if ref.op == "np.transpose" and not ref.args and not kwargs:
            return self.emit("np.transpose", value)
        if ref.op == "np.swapaxes":
            return self.emit("np.swapaxes", value, *ref.args, **kwargs)
        if ref.op in RESHAPING and kwargs.get("order", "C") == "C":
            return self.emit("np.reshape", value, self.emit("shape", base))
        if ref.op == "np.moveaxis" and not kwargs:
            return self.emit("np.moveaxis", value, ref.args[1], ref.args[0])
        if ref.op == "np.flip":
            return self.emit("np.flip", value, *ref.args, **kwargs)
        if ref.op == "np.diagonal" and not ref.args and not kwargs:
            places = self.emit("np.arange", self.emit("dim", value, 0))
            return self.emit("setitem", base, (places, places), value)
        raise self.refuse(
            f"assignment through a view made by `{spoken(ref.op)}` is not supported",
            "assign into the array itself, or into a copy.",
        )

    def _poison_aliases(self, cell: int) -> None:
        """Forbid later reads of names that may or may not share this cell's memory."""
        poison = Poison(
            "this array may share memory with another that was changed in place, "
            "depending on the path taken",
            "use `.copy()` where the two names are made.",
        )
        for other in self.near(cell, self.state) - {cell}:
            if ("h", other) in self.state:
                self.state["h", other] = poison

    def operand(self, item: Any) -> Arg:
        """Return an abstract value as an argument of a node."""
        if isinstance(item, Value):
            return item
        if isinstance(item, Known):
            return self.constant(item)
        if isinstance(item, Array | View):
            return self.read(item)
        if isinstance(item, Tup):
            return tuple(self.operand(i) for i in item.items)
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, RunList):
                if len(held.leaves) != 1 or held.shape is not None:
                    raise self.refuse(
                        "a list of tuples with a length known only at run time "
                        "cannot be used here",
                        "append to one list for each member.",
                    )
                return held.leaves[0]
            return [self.operand(i) for i in held]
        if isinstance(item, Shape):
            return item.value
        if isinstance(item, DictRef):
            held = self.content(item.cell)
            return {k: self.operand(v) for k, v in held.items()}
        if isinstance(item, Obj) and item.value is not None:
            return item.value
        if isinstance(item, Poison):
            raise self.refuse(item.reason, item.hint or None)
        if isinstance(item, slice):
            return slice(
                *(
                    None if p is None else self.operand(p)
                    for p in (item.start, item.stop, item.step)
                )
            )
        if isinstance(item, Iterable):
            return self.operand(self.listed(item))
        if isinstance(item, Function | Partial):
            raise self.refuse("a function cannot be an operand here")
        raise self.refuse(f"{type(item).__name__} cannot be an operand here")

    def listed(self, item: Iterable) -> Any:
        """Return an iterable as a list; the loops do it for run-time lengths."""
        raise self.refuse("this iterable cannot be an operand here")

    def constant(self, item: Known) -> Arg:
        """Return a known object as a constant that can be printed, or refuse it."""
        value = item.value
        if value is None or value is Ellipsis:
            return value
        self.complex_seen = self.complex_seen or type(value) is complex
        if isinstance(value, bool | int | float | complex | str) and type(value) in (
            bool,
            int,
            float,
            complex,
            str,
        ):
            return value
        if isinstance(value, np.dtype | slice | range):
            return value
        if isinstance(value, type) and (
            value in (float, int, bool, complex, object)
            or issubclass(value, np.generic)
        ):
            return value
        if isinstance(value, tuple | frozenset) and all(
            isinstance(v, int | float | str | bool | None) for v in value
        ):
            return tuple(value)
        raise self.refuse(
            f"{type(item.value).__name__} objects cannot be used in a differentiated "
            "function"
        )

    def describe(self, item: Any) -> str:
        """Say in a word what an abstract value is."""
        words = {
            Tup: "a tuple",
            ListRef: "a list",
            DictRef: "a dict",
            Function: "a function",
            Partial: "a function",
            Array: "an array",
            View: "an array",
            Value: "a number",
            Obj: "an object",
            Iterable: "an iterator",
        }
        if isinstance(item, Known):
            if item.value is None:
                return "None"
            kinds = (bool, int, float, complex)
            known = isinstance(item.value, kinds)
            return "a number" if known else f"a {type(item.value).__name__}"
        return words.get(type(item), type(item).__name__)


def _entry(index: Arg) -> bool:
    """Say whether an index may name one entry: it has no slice, None or Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(p is None or p is Ellipsis or isinstance(p, slice) for p in parts)
