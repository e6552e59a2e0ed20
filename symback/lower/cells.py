"""Memory: what can be mutated lives in a cell, and views point into their base's cell.

Reading a name gives the value that its cell holds then, so that a write through one
name of an array is seen through all its names, exactly as in NumPy.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..assumptions import Refine
from ..graph import UNDEFINED, Arg, Value
from .abstract import (
    Array,
    Choice,
    DictRef,
    DictView,
    Either,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Partial,
    Poison,
    RunList,
    Shape,
    Stream,
    Tup,
    View,
    Walker,
)
from .core import Core, State, spoken

__all__ = ["MAX_OPTIONS", "Cells", "mentions", "rebased"]


MAX_OPTIONS = 8
"""Arrays that a name may be; beyond it the function is refused."""

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
        now = self.contents(ref)
        if len(now) == len(ref.of) and all(map(operator.is_, now, ref.of)):
            return ref.made
        if isinstance(ref, Choice):
            kept = self.kept(ref, now)

            def load(option: Any) -> Any:
                # What the choice was when made, it is while nothing below is new.
                view = isinstance(option, View) and kept.issuperset(mentions(option))
                return ref.made if view else self.loaded(option)

            return cast("Value", self.operand(self.pick(ref, load)))
        if ref.made in self.uncertain and ref.made.type is not None:
            raise self.ask_or_refuse(ref.made)
        base = self.read(ref.base)
        sure = base.type is not None and base.type.is_array
        if ref.made.type is None and not sure and self.may_be_entry(ref):
            # An entry of a vector is a number of its own; a row of a matrix changes.
            raise self.uncertain_view(ref.made)
        return self.viewed(ref, base)

    def loaded(self, item: Any) -> Any:
        """Return the value of an array reference, or a number as it is."""
        return self.read(item) if isinstance(item, Array | View) else item

    def contents(self, ref: Any) -> tuple[Any, ...]:
        """Return what the cells below a reference hold now."""
        cells = dict.fromkeys(mentions(ref))
        return tuple(self.held(self.state, ("h", c)) for c in cells)

    def kept(self, ref: View, now: tuple[Any, ...]) -> set[int]:
        """Return the cells below a reference that hold what they held."""
        cells = dict.fromkeys(mentions(ref))
        if len(cells) != len(ref.of):
            return set()
        held = zip(cells, now, ref.of, strict=True)
        return {cell for cell, one, before in held if one is before}

    def current(self, ref: Any) -> Any:
        """Note that what a reference was made with is what it holds now."""
        if isinstance(ref, View):
            object.__setattr__(ref, "of", self.contents(ref))
        return ref

    # One of several

    def pick(self, choice: Any, act: Callable[[Any], Any]) -> Any:
        """Do something with the option that is chosen at run time."""

        def step(number: int) -> Any:
            option = choice.options[number]
            if number + 1 == len(choice.options):
                return act(option)
            test = choice.tag
            if not choice.truth:
                test = self.emit("eq", choice.tag, number)
            return self.choose(test, lambda: act(option), lambda: step(number + 1))

        return step(0)

    @abstractmethod
    def choose(
        self,
        test: Any,
        then: Callable[[], Any],
        other: Callable[[], Any],
        catch: Any = None,
    ) -> Any:
        """Run one of two parts by a truth value, and return the abstract result."""

    def dispatch(self, ref: Any, act: Callable[[Any], Any]) -> Any:
        """Do something with each of the objects that a reference may be."""
        choice = ref
        while isinstance(choice, View) and not isinstance(choice, Choice):
            choice = choice.base
        if not isinstance(choice, Choice | Either):
            return act(ref)

        def one(option: Any) -> Any:
            self.dispatching += 1
            try:
                return self.dispatch(rebased(ref, option), act)
            finally:
                self.dispatching -= 1

        return self.pick(choice, one)

    def settled(self, item: Any) -> Any:
        """Return a list or dict to read from, where it is one of several."""
        if not isinstance(item, Either):
            return item

        def copied(option: Any) -> Any:
            cell = self.fresh()
            self.state["h", cell] = self.content(option.cell)
            return type(option)(cell)

        return self.pick(item, copied)

    def too_many(self, count: int) -> None:
        """Refuse a reference to too many objects."""
        if count > MAX_OPTIONS:
            raise self.written_out(
                self.refuse(
                    f"a name may be one of {count} arrays or lists: at most "
                    f"{MAX_OPTIONS} can be told apart",
                    "keep them in one array and write to its rows.",
                )
            )

    def uncertain_view(self, value: Value) -> Exception:
        """Return the error for a view that may not be one."""
        return self.refuse(
            "whether this is a view of an array that was changed cannot be told",
            "take a copy first.",
        )

    def write(self, ref: Array | View, value: Value) -> None:
        """Make `value` the content of an array, through its views if it is one."""
        if isinstance(ref, Choice):
            self.dispatch(ref, lambda one: self.write_one(one, value))
            return
        if isinstance(ref, View):
            if ref.made in self.uncertain and ref.made.type is not None:
                raise self.ask_or_refuse(ref.made)
            self.write(ref.base, self._written_back(ref, value))
            return
        self.write_one(ref, value)

    def write_one(self, ref: Any, value: Value) -> None:
        """Write to one of several arrays; a number among them cannot be written to."""
        if isinstance(ref, View):
            self.write(ref, value)
            return
        if not isinstance(ref, Array):
            self.fail("TypeError", "a number has no items to assign")
            return
        if ref.cell in self.outside_cells:
            if self.dispatching:
                self.fail("ValueError", "an array outside the function is changed")
                return
            raise self.refuse(
                "an array outside the function is changed",
                "work on a copy: `x = X.copy()`.",
            )
        reason = self.state.get(("ro", ref.cell))
        if reason:
            raise self.written_out(self.refuse(reason[0], reason[1]))
        if ref.cell in self.argument_cells:
            self.argument_changed = self.argument_changed or self.span()
        self.state["h", ref.cell] = value

    def fail(self, kind: str, message: str) -> None:
        """Raise at run time, on this path."""
        self.effect("raise", self.emit(f"builtins.{kind}", message))

    dispatching = 0
    unsettled = 0
    """How many loops around carry what has no type yet."""

    captured_cells: dict[Any, Any]
    uncertain: set[Value]

    @abstractmethod
    def ask_or_refuse(self, value: Value) -> Any:
        """Return the error for a write through what may or may not be a view."""

    def base(self, key: Any) -> Any:
        """Return what a cell of a captured container holds at the start."""
        return self.captured_cells.get(key, UNDEFINED)

    def held(self, state: State, key: Any) -> Any:
        """Return what a key holds in a state, captured containers included."""
        return state.get(key, self.base(key))

    def tally(self, state: State) -> Counter[int]:
        """Count how often the cells are mentioned by names and containers."""
        found: Counter[int] = Counter()
        for key, item in state.items():
            if key[0] in ("n", "x", "t", "h"):
                found.update(mentions(item))
        return found

    def may_be_entry(self, ref: View) -> bool:
        """Say whether a view may turn out to be a number."""
        return ref.op == "getitem" and _entry(ref.args[0])

    def viewed(self, ref: View, base: Arg) -> Value:
        """Apply what makes a view to an array."""
        args = (base, *ref.args)
        if ref.op == "np.einsum":
            args = (ref.args[0], base, *ref.args[1:])
        return self.emit(ref.op, *args, **dict(ref.kwargs))

    def _written_back(self, ref: View, value: Value) -> Value:
        """Return the base of a view with `value` in the view's place."""
        known = ref.made.type
        if known is not None and known.is_array:
            if not known.samples[0].flags.writeable:
                raise self.refuse(
                    "this array is read-only: NumPy does not let it be written",
                    "write to a copy, or into the array that it is made from.",
                )
        base = self.read(ref.base)
        if ref.op == "getitem":
            return self.emit("setitem", base, ref.args[0], value)
        kwargs = dict(ref.kwargs)
        if ref.op == "np.transpose" and not ref.args and not kwargs:
            return self.emit("np.transpose", value)
        if ref.op in ("np.swapaxes", "np.matrix_transpose", "np.flip"):
            return self.emit(ref.op, value, *ref.args, **kwargs)
        ordered = any(isinstance(a, str) and a != "C" for a in ref.args)
        if ref.op in RESHAPING and kwargs.get("order", "C") == "C" and not ordered:
            return self.emit("np.reshape", value, self.emit("shape", base))
        if ref.op == "np.moveaxis" and not kwargs:
            return self.emit("np.moveaxis", value, ref.args[1], ref.args[0])
        if ref.op == "np.real":
            imag = self.emit("np.imag", base)
            return self.emit("add", value, self.emit("mul", 1j, imag))
        if ref.op == "np.imag":
            real = self.emit("np.real", base)
            return self.emit("add", real, self.emit("mul", 1j, value))
        if known is None:
            raise self.refuse(
                f"assignment through a view made by `{spoken(ref.op)}` is not "
                "supported",
                "assign into the array itself, or into a copy.",
            )
        shape = self.emit("shape", base)
        places = self.emit("np.arange", self.emit("np.size", base))
        places = self.viewed(ref, self.emit("np.reshape", places, shape))
        flat = self.emit("setitem", self.emit("np.ravel", base), places, value)
        return self.emit("np.reshape", flat, shape)

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
        if isinstance(item, Either):
            return self.operand(self.settled(item))
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
        if isinstance(value, set | frozenset):
            # In an order that is the same in every run.
            value = tuple(sorted(value, key=repr))
        if isinstance(value, tuple) and all(
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
            Choice: "an array",
            Either: "a container",
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


def mentions(item: Any) -> Iterator[int]:
    """Yield the cells that an abstract value refers to, with repeats."""
    if isinstance(item, Choice | Either):
        for option in item.options:
            yield from mentions(option)
    elif isinstance(item, View):
        yield from mentions(item.base)
    elif isinstance(item, Array | ListRef | DictRef | DictView | Obj | Walker):
        yield item.cell
    elif isinstance(item, Stream):
        yield from mentions(item.parts)
    elif isinstance(item, Tup):
        yield from mentions(item.items)
    elif isinstance(item, tuple):
        for one in item:
            yield from mentions(one)
    elif isinstance(item, dict):
        for one in item.values():
            yield from mentions(one)
    elif isinstance(item, Iterable):
        yield from mentions(item.items or ())
    elif isinstance(item, Partial):
        yield from mentions((item.function, item.args, dict(item.kwargs)))


def rebased(ref: Any, option: Any) -> Any:
    """Return a reference with one of its options in the place of the choice."""
    if isinstance(ref, Choice | Either):
        return option
    return replace(ref, base=rebased(ref.base, option), of=())
