"""Expressions: each syntax node becomes an abstract value."""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Value
from ..infer import interrupts
from ..operations.registry import OPERATORS
from .abstract import (
    Array,
    DictRef,
    DictView,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Poison,
    RunList,
    Tup,
    View,
    Walker,
    Written,
    is_number,
)
from .branches import Branches
from .core import Frame, Raises

__all__ = ["Expressions"]

MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
"""Comparisons and what they are from the other side."""

_MISSING = object()


class Expressions(Branches, ABC):
    """Lower expressions; calls and loops are in the classes that build on this one."""

    def value(self, node: ast.expr) -> Any:
        """Return the abstract value of an expression."""
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            words = {
                "Yield": "a generator",
                "YieldFrom": "a generator",
                "Await": "await",
            }
            what = words.get(type(node).__name__, type(node).__name__.lower())
            raise self.refuse(
                f"{what} is outside the language that can be differentiated", None, node
            )
        with self.at(node):
            return method(node)

    # Implemented further up

    @abstractmethod
    def call_value(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call an abstract function."""

    @abstractmethod
    def iterate(self, item: Any) -> Iterable:
        """Return how to loop over an abstract value."""

    @abstractmethod
    def comprehend(self, node: Any, produce: Callable[[], None]) -> None:
        """Run the loops of a comprehension around `produce`."""

    @abstractmethod
    def lookup(self, name: str, node: ast.AST) -> Any:
        """Return what a name stands for."""

    @abstractmethod
    def bind_name(self, name: str, item: Any) -> None:
        """Make a name of the current frame stand for an abstract value."""

    @abstractmethod
    def attribute(self, item: Any, name: str) -> Any:
        """Return an attribute of an abstract value."""

    @abstractmethod
    def lambda_value(self, node: ast.Lambda) -> Any:
        """Return a lambda as an abstract function."""

    # Leaves

    def on_Constant(self, node: ast.Constant) -> Any:
        return Known(node.value)

    def on_Name(self, node: ast.Name) -> Any:
        item = self.lookup(node.id, node)
        if isinstance(item, Poison):
            reason = item.reason.replace("a name", f"`{node.id}`", 1)
            problem = self.refuse(reason, item.hint or None, node)
            raise self.written_out(problem)
        return item

    def on_NamedExpr(self, node: ast.NamedExpr) -> Any:
        item = self.value(node.value)
        assert isinstance(node.target, ast.Name)
        self.bind_name(node.target.id, item)
        return item

    def on_Lambda(self, node: ast.Lambda) -> Any:
        return self.lambda_value(node)

    def on_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for piece in node.values:
            if isinstance(piece, ast.Constant):
                parts.append(piece.value)
                continue
            assert isinstance(piece, ast.FormattedValue)
            item = self.value(piece.value)
            spec = self.value(piece.format_spec) if piece.format_spec else Known("")
            how = chr(piece.conversion) if piece.conversion > 0 else ""
            if isinstance(item, Known) and isinstance(spec, Known):
                shows: dict[str, Callable[[Any], Any]] = {
                    "r": repr,
                    "s": str,
                    "a": ascii,
                }
                shown = shows[how](item.value) if how else item.value
                parts.append(format(shown, spec.value))
            else:
                form = self.operand(spec) or None
                parts.append((self.operand(item), how or None, form))
        if all(isinstance(p, str) for p in parts):
            return Known("".join(parts))
        return self.emit("fstring", *parts)

    # Containers

    def on_Tuple(self, node: ast.Tuple) -> Any:
        return Tup(tuple(self.items(node.elts)))

    def on_List(self, node: ast.List) -> Any:
        return self.new_list(self.items(node.elts))

    def on_Set(self, node: ast.Set) -> Any:
        return self.new_set(self.items(node.elts))

    def new_set(self, items: Sequence[Any]) -> Known:
        """Return a set of known items; of others it is not known which are equal."""
        return Known(frozenset(map(self.key, items)))

    def on_Dict(self, node: ast.Dict) -> Any:
        held: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            item = self.value(value)
            if key is None:
                if not isinstance(item, DictRef):
                    raise self.refuse(
                        "only a dict can be spread with `**`", None, value
                    )
                held.update(self.content(item.cell))
            else:
                held[self.key(self.value(key))] = item
        return self.new_dict(held)

    def key(self, item: Any) -> Any:
        """Return a dict key, which must be known while lowering."""
        if isinstance(item, Known):
            return item.value
        if isinstance(item, Tup):
            return tuple(self.key(i) for i in item.items)
        if isinstance(item, Value):
            raise self.need_static(item, "a dict key must be known")
        raise self.refuse("a dict key must be known without running the function")

    def new_list(self, items: list[Any]) -> ListRef:
        """Return a new list of known length."""
        cell = self.fresh()
        self.state["h", cell] = tuple(items)
        return ListRef(cell)

    def new_dict(self, items: dict[Any, Any]) -> DictRef:
        """Return a new dict."""
        cell = self.fresh()
        self.state["h", cell] = items
        return DictRef(cell)

    def items(self, nodes: list[ast.expr]) -> list[Any]:
        """Return the values of expressions, spreading starred ones."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.known_items(self.value(node.value))
            else:
                found.append(self.value(node))
        return found

    def known_items(self, item: Any) -> list[Any]:
        """Return the items of an iterable whose length is known."""
        walked = self.iterate(item)
        if walked.items is None:
            if isinstance(walked.length, int):
                start, _, step = walked.range or (0, 0, 1)
                make = walked.item or (lambda i: i)
                steps = range(walked.length)
                return [make(Known(start + k * step)) for k in steps]
            raise self.need_static(walked.length, "the number of items must be known")
        return list(walked.items)

    def on_ListComp(self, node: ast.ListComp) -> Any:
        result = self.new_list([])

        def produce() -> None:
            self.list_append(result, self.value(node.elt))

        self.comprehend(node, produce)
        return result

    @abstractmethod
    def begin(self, item: Any) -> Walker:
        """Return an iterator over an abstract value."""

    def on_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        first = self.begin(self.value(node.generators[0].iter))
        self.frame.closures = True
        return self.stream("generated", self.comprehension_frame(node), node, first)

    @abstractmethod
    def stream(self, kind: str, *parts: Any, position: Any = None) -> Walker:
        """Return a new iterator."""

    @abstractmethod
    def comprehension_frame(self, node: Any) -> Frame:
        """Return a frame for the names of a comprehension."""

    def on_SetComp(self, node: ast.SetComp) -> Any:
        made = self.on_ListComp(node)  # type: ignore[arg-type]  # same fields
        return self.new_set(self.known_items(made))

    def on_DictComp(self, node: ast.DictComp) -> Any:
        result = self.new_dict({})

        def produce() -> None:
            key = self.key(self.value(node.key))
            held = dict(self.content(result.cell))
            held[key] = self.value(node.value)
            self.state["h", result.cell] = held

        self.comprehend(node, produce)
        return result

    def check_changeable(self, ref: ListRef) -> None:
        """Refuse to change a list outside the function, or one kept at run time."""
        self.check_inside(ref)
        reason = self.state.get(("ro", ref.cell))
        if reason:
            raise self.written_out(self.refuse(reason[0], reason[1]))

    def check_inside(self, ref: ListRef | DictRef) -> None:
        """A list outside the function is written to when the text runs."""
        if ref.cell in self.containers and isinstance(ref, ListRef):
            raise Written((id(self.containers[ref.cell][0]), None))

    containers: dict[int, tuple[Any, Any]]

    def list_append(self, ref: ListRef, item: Any) -> None:
        """Append to a list in its cell."""
        self.check_changeable(ref)
        held = self.content(ref.cell)
        if isinstance(held, tuple):
            self.state["h", ref.cell] = (*held, item)
            return
        shape = self.run_shape(held, (item,))
        held = self.run_list(held, shape)
        new = tuple(
            self.emit("list_append", column, leaf, name=column.name)
            for column, leaf in zip(held.leaves, self.item_leaves(item), strict=True)
        )
        self.state["h", ref.cell] = RunList(new, shape)

    # Operators

    def on_UnaryOp(self, node: ast.UnaryOp) -> Any:
        item = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.negate(self.truth(item))
        return self.operate(OPERATORS[type(node.op).__name__], item)

    def on_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        with self.at(node):
            return self.operate(OPERATORS[type(node.op).__name__], left, right)

    def operate(self, op: str, *items: Any) -> Any:
        """Apply an operator to abstract values."""
        items = tuple(self.settled(i) for i in items)
        if all(isinstance(i, Known) for i in items):
            folded = self.fold(op, items)
            if folded is not _MISSING:
                return folded
        if any(isinstance(i, DictView) for i in items):
            # The keys of a dict are a set to operators.
            return self.operate(
                op,
                *(
                    self.new_set(self.known_items(i)) if isinstance(i, DictView) else i
                    for i in items
                ),
            )
        if op == "or_" and all(isinstance(i, DictRef) for i in items):
            held = [self.content(i.cell) for i in items]
            return self.new_dict({**held[0], **held[1]})
        sequences = [i for i in items if isinstance(i, Tup | ListRef)]
        if sequences and any(self.numpy_like(i, op) for i in items):
            # NumPy makes an array of a list that meets one.
            items = tuple(
                self.call_op("np.array", [i], {}) if i in sequences else i
                for i in items
            )
            sequences = []
        if sequences and op in ("add", "mul"):
            joined = self.sequence_operator(op, items)
            if joined is not None:
                return joined
        if any(isinstance(i, Obj) for i in items):
            overloaded = self.overloaded(op, items)
            if overloaded is not None:
                return overloaded
        for item in items:
            if isinstance(item, DictRef | Function | Tup | ListRef) or (
                isinstance(item, Known)
                and not is_number(item)
                and not isinstance(item.value, np.generic)
            ):
                always = self.refuse(f"`{op}` does not apply to {self.describe(item)}")
                raise Raises(TypeError, always)
        return self.wrap(self.emit(op, *(self.operand(i) for i in items)))

    def stored_array(self, item: Any) -> Any:
        """Return what is put into an array; of lists and tuples NumPy makes one."""
        item = self.settled(item)
        if isinstance(item, Iterable):
            item = self.listed(item)
        if isinstance(item, Tup | ListRef):
            return self.call_op("np.array", [item], {})
        return item

    def numpy_like(self, item: Any, op: str) -> bool:
        """Say whether an operand is NumPy's, so that NumPy decides what happens."""
        if not isinstance(item, Array | View | Value):
            return False
        known = self.type_of(self.operand(item))
        if known is None:
            # Times a list it may be a count, which repeats it.
            return op != "mul"
        counts = op == "mul" and known.is_integral and not known.is_array
        return known.kind in ("array", "numpy") and not counts

    @abstractmethod
    def call_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function of NumPy, math or SciPy."""

    def overloaded(self, op: str, items: tuple[Any, ...]) -> Any:
        """Apply an operator that a user's class defines; None if it does not."""
        name = {"and_": "and", "or_": "or"}.get(op, op)
        order = [(items[0], f"__{name}__", items[1:])]
        if len(items) == 2:
            mirrored = MIRRORED.get(name, f"r{name}")
            order.append((items[1], f"__{mirrored}__", items[:1]))
        for item, method, rest in order:
            if isinstance(item, Obj):
                kind = self.content(item.cell)["__class__"]
                if method in dir(kind):
                    found = self.class_attribute(item, kind, method)
                    return self.call_value(found, list(rest), {})
        return None

    @abstractmethod
    def class_attribute(self, item: Any, kind: type, name: str) -> Any:
        """Read a method, property or class attribute of an object of a known class."""

    def fold(self, op: str, items: tuple[Any, ...]) -> Any:
        """Compute an operator of known operands, where the result prints as well."""
        values = [i.value for i in items]
        function = (lambda a, b: a in b) if op == "contains" else getattr(operator, op)
        try:
            result = function(*values)
        except Exception as problem:
            if interrupts(problem):
                raise
            # What fails in the user's function fails in the same way when it runs.
            if all(isinstance(v, int | float | complex) for v in values):
                return _MISSING
            failure = self.refuse(f"this fails whenever it runs: {problem}")
            raise Raises(type(problem), failure) from problem
        if isinstance(result, float | complex) and not isinstance(result, bool):
            short = len(repr(result)) <= 6 and all(len(repr(v)) <= 6 for v in values)
            if not short:
                return _MISSING
        return Known(result)

    def sequence_operator(self, op: str, items: tuple[Any, ...]) -> Any:
        """Concatenate or repeat tuples and lists of known length."""
        first, second = items
        if op == "mul":
            if isinstance(second, Tup | ListRef):
                first, second = second, first
            if isinstance(second, Known) and isinstance(second.value, int):
                held = self.sequence_items(first)
                if held is None:
                    return None
                made = held * second.value
                return (
                    Tup(tuple(made)) if isinstance(first, Tup) else self.new_list(made)
                )
            if (
                isinstance(second, Array | View)
                and self.type_of(self.operand(second)) is None
            ):
                second = self.operand(second)
            if isinstance(second, Value) and isinstance(first, ListRef):
                held = self.sequence_items(first)
                index = second.type is None or second.type.is_integral
                if index and held is not None and len(held) == 1:
                    return self.repeated(held[0], second)
            return None
        if type(first) is not type(second):
            return None
        held, more = self.sequence_items(first), self.sequence_items(second)
        if held is None or more is None:
            if isinstance(first, ListRef):
                copy = self.copy_list(first)
                self.list_extend(copy, second)
                return copy
            return None
        both = held + more
        return Tup(tuple(both)) if isinstance(first, Tup) else self.new_list(both)

    def repeated(self, item: Any, count: Value) -> Any:
        """Return ``[item] * count`` for a run-time count."""
        cell = self.fresh()
        made = self.emit("mul", [self.operand(item)], count)
        self.state["h", cell] = RunList((made,))
        return ListRef(cell)

    def copy_list(self, ref: ListRef) -> ListRef:
        """Return a new list with the same items."""
        cell = self.fresh()
        self.state["h", cell] = self.content(ref.cell)
        return ListRef(cell)

    @abstractmethod
    def list_extend(self, ref: ListRef, more: Any) -> None:
        """Extend a list in its cell."""

    def sequence_items(self, item: Any) -> list[Any] | None:
        """Return the items of a tuple or list of known length."""
        if isinstance(item, Tup):
            return list(item.items)
        held = self.content(item.cell)
        return list(held) if isinstance(held, tuple) else None

    @abstractmethod
    def ask_arguments(self, name: str, why: str, node: ast.AST | None = None) -> Any:
        """Return the error that asks for arguments before the source can be written."""

    # Attributes

    def on_Attribute(self, node: ast.Attribute) -> Any:
        item = self.value(node.value)
        with self.at(node):
            return self.attribute(item, node.attr)

    def on_Starred(self, node: ast.Starred) -> Any:
        raise self.refuse("a star is not supported here", None, node)
