"""Expressions: each syntax node becomes an abstract value."""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Block, Node, Value, leaves
from ..rules.registry import OPERATORS
from .abstract import (
    Array,
    DictRef,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Poison,
    RunList,
    Shape,
    Tup,
    View,
    always,
    is_number,
)
from .core import Raises
from .joins import Joins, Template

__all__ = ["Expressions"]

_MISSING = object()


class Expressions(Joins, ABC):
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
            raise self.refuse(reason, item.hint or None, node)
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
        return Tup(tuple(self.items(node.elts)))

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
                found += self.known_items(self.value(node.value), node)
            else:
                found.append(self.value(node))
        return found

    def known_items(self, item: Any, node: ast.AST | None = None) -> list[Any]:
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

    def on_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        one = node.generators[0]
        if len(node.generators) == 1 and not one.ifs:
            walked = self.iterate(self.value(one.iter))
            if walked.items is None:
                return self.lazily(node, walked)
        return self.on_ListComp(node)  # type: ignore[arg-type]  # same fields

    @abstractmethod
    def lazily(self, node: ast.GeneratorExp, walked: Iterable) -> Any:
        """Return a generator whose items are computed in the loop that takes them."""

    def on_SetComp(self, node: ast.SetComp) -> Any:
        return self.on_ListComp(node)  # type: ignore[arg-type]  # same fields

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
        """Refuse to change a container outside the function: nothing is dropped."""
        if ("h", ref.cell) in self.captured_cells:
            raise self.refuse(
                "a list or dict outside the function is changed",
                "return the value instead, or record it where the function is called.",
            )

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
        if all(isinstance(i, Known) for i in items):
            folded = self.fold(op, items)
            if folded is not _MISSING:
                return folded
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

    def call_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function of NumPy, math or SciPy."""
        raise NotImplementedError

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

    def on_Compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        result: Any = None
        rest = list(zip(node.ops, node.comparators, strict=True))

        def step(number: int, left: Any) -> Any:
            op, right_node = rest[number]
            right = self.value(right_node)
            with self.at(node):
                found = self.compare(op, left, right)
                if number + 1 == len(rest):
                    return found
                if isinstance(found, Known):
                    return step(number + 1, right) if found.value else found
                return self.choose(
                    self.truth(found), lambda: step(number + 1, right), lambda: found
                )

        result = step(0, left)
        return result

    def compare(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        """Apply a comparison operator."""
        if isinstance(op, ast.Is | ast.IsNot):
            return self.identical(left, right, isinstance(op, ast.Is))
        if isinstance(op, ast.In | ast.NotIn):
            found = self.contains(left, right)
            return found if isinstance(op, ast.In) else self.negate(found)
        name = OPERATORS[type(op).__name__]
        if isinstance(left, Tup | ListRef) and isinstance(right, Tup | ListRef):
            return self.compare_sequences(name, left, right)
        if isinstance(left, Shape) or isinstance(right, Shape):
            return self.emit(name, self.operand(left), self.operand(right))
        for one, other in ((left, right), (right, left)):
            known = isinstance(one, Known) and one.value is None
            known = known or (isinstance(one, Known) and isinstance(one.value, str))
            if known and not self.may_equal(other):
                return Known(name == "ne")
        if (
            name in ("eq", "ne")
            and isinstance(left, Known)
            and isinstance(right, Known)
        ):
            equal = left.value is right.value or left.value == right.value
            return Known(bool(equal) == (name == "eq"))
        return self.operate(name, left, right)

    def may_equal(self, item: Any) -> bool:
        """Say whether a value may turn out to be a string or None."""
        if isinstance(item, Known):
            return True
        if isinstance(item, Value | Array | View):
            value = item if isinstance(item, Value) else self.read(item)
            return value.type is None or value.type.dtype in ("str", "NoneType")
        return False

    def compare_sequences(self, name: str, left: Any, right: Any) -> Any:
        """Compare two tuples or lists entry by entry."""
        one, two = self.sequence_items(left), self.sequence_items(right)
        if name not in ("eq", "ne") or one is None or two is None:
            raise self.refuse("only equality of tuples and lists can be compared")
        if len(one) != len(two):
            return Known(name == "ne")
        result: Any = Known(True)
        for a, b in zip(one, two, strict=True):
            equal = self.truth(self.compare(ast.Eq(), a, b))
            result = self.choose(result, always(equal), always(Known(False)))
        return result if name == "eq" else self.negate(result)

    def identical(self, left: Any, right: Any, positive: bool) -> Any:
        """Lower ``is`` and ``is not``; with None it is decided by the type."""
        if isinstance(left, Known) and not isinstance(right, Known):
            left, right = right, left
        if isinstance(left, Known) and isinstance(right, Known):
            return Known((left.value is right.value) == positive)
        if isinstance(left, Value | Array | View):
            value = left if isinstance(left, Value) else self.read(left)
            if value.type is None and self.maybe_none(value):
                op = "is_" if positive else "is_not"
                return self.emit(op, value, self.operand(right))
        same = not isinstance(right, Known) and self.same(left, right)
        return Known(same == positive)

    def maybe_none(self, value: Value) -> bool:
        """Say whether a value of unknown type may be None: it passed through a join."""
        node = self.defs.get(value)
        return node is None or node.op in ("if", "for", "while")

    def contains(self, item: Any, container: Any) -> Any:
        """Lower ``in``."""
        if isinstance(container, DictRef):
            return Known(self.key(item) in self.content(container.cell))
        if isinstance(container, Known) and isinstance(item, Known):
            return Known(item.value in container.value)
        if isinstance(container, Tup | ListRef):
            found = self.sequence_items(container)
            if found is not None:
                result: Any = Known(False)
                for one in found:
                    equal = self.truth(self.compare(ast.Eq(), item, one))
                    if isinstance(equal, Known):
                        if equal.value:
                            return Known(True)
                        continue
                    result = self.choose(equal, always(Known(True)), always(result))
                return result
        return self.emit("contains", self.operand(item), self.operand(container))

    def negate(self, item: Any) -> Any:
        """Lower ``not`` of a truth value."""
        if isinstance(item, Known):
            return Known(not item.value)
        return self.emit("not_", self.operand(item))

    def truth(self, item: Any) -> Any:
        """Return a truth value: `Known` where it can be decided, else a graph value."""
        if isinstance(item, Known):
            return Known(bool(item.value))
        if isinstance(item, Tup):
            return Known(bool(item.items))
        if isinstance(item, ListRef | DictRef):
            held = self.content(item.cell)
            if isinstance(held, RunList):
                return self.emit("gt", self.emit("builtins.len", held.leaves[0]), 0)
            return Known(bool(held))
        if isinstance(item, Function | Obj):
            return Known(True)
        if isinstance(item, Shape):
            return item.value
        return self.operand(item)

    def test(self, node: ast.expr) -> Any:
        """Return the truth value of a condition, its operands' truth values with it."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.negate(self.test(node.operand))
        if not isinstance(node, ast.BoolOp):
            return self.truth(self.value(node))
        both = isinstance(node.op, ast.And)

        def step(number: int) -> Any:
            truth = self.test(node.values[number])
            if number + 1 == len(node.values):
                return truth
            if isinstance(truth, Known):
                return step(number + 1) if bool(truth.value) == both else truth

            def rest() -> Any:
                return step(number + 1)

            def kept() -> Any:
                return Known(not both)

            with self.at(node):
                return self.choose(
                    truth, rest if both else kept, kept if both else rest
                )

        return step(0)

    def on_BoolOp(self, node: ast.BoolOp) -> Any:
        both = isinstance(node.op, ast.And)

        def step(number: int) -> Any:
            item = self.value(node.values[number])
            if number + 1 == len(node.values):
                return item
            truth = self.truth(item)
            if isinstance(truth, Known):
                return step(number + 1) if bool(truth.value) == both else item

            def rest() -> Any:
                return step(number + 1)

            def kept() -> Any:
                return item

            with self.at(node):
                return self.choose(
                    truth, rest if both else kept, kept if both else rest
                )

        return step(0)

    def on_IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        with self.at(node):
            return self.choose(
                test, lambda: self.value(node.body), lambda: self.value(node.orelse)
            )

    # Branches

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
                nodes, state, result = self.nested(part)
                state["t", 0] = UNDEFINED if result is None else result
                sides.append((nodes, state))
        finally:
            self.conditional -= 1
        return self.merge(test, before, sides, span, catch)

    def merge(
        self, test: Any, before: Any, sides: Any, span: Any, catch: Any = None
    ) -> Any:
        """Make an ``if`` node of two lowered sides and join their states."""
        (nodes1, state1), (nodes2, state2) = sides
        self.left, self.right = state1, state2
        templates: dict[Any, Template] = {}
        kept: dict[Any, Any] = {}
        keys = dict.fromkeys([*before, *state1, *state2])
        for key in keys:
            a = state1.get(key, self.base(key))
            b = state2.get(key, self.base(key))
            if a is b:
                kept[key] = a
            elif key[0] == "h" and (key not in state1 or key not in state2):
                if key in before:
                    kept[key] = before[key]
                elif self.base(key) is not UNDEFINED:
                    templates[key] = self.join(a, b)
            elif key[0] in ("m", "ro", "f"):
                kept[key] = self.join_marks(key, a, b)
            else:
                self.left, self.right = state1, state2
                template = self.join(a, b)
                if template.kind == "same":
                    kept[key] = template.like
                else:
                    templates[key] = template
        results: list[tuple[Any, ...]] = []
        blocks = []
        for nodes, state in sides:
            self.nodes, outside = nodes, self.nodes
            self.state = state
            flat: list[Any] = []
            for key, template in templates.items():
                flat += self.flatten(template, state.get(key, self.base(key)))
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
        values = iter(outs)
        for key, template in templates.items():
            self.state[key] = self.instantiate(template, values)
        for key in [k for k in self.state if self.state[k] is UNDEFINED]:
            del self.state[key]
        result = self.state.pop(("t", 0), None)
        return result

    def base(self, key: Any) -> Any:
        """Return what a cell of a captured container holds at the start."""
        return self.captured_cells.get(key, UNDEFINED)

    captured_cells: dict[Any, Any]

    def join_marks(self, key: Any, a: Any, b: Any) -> Any:
        """Join what is known of a cell's aliases: the more careful of both."""
        if a is UNDEFINED or b is UNDEFINED:
            return b if a is UNDEFINED else a
        return a | b if key[0] == "m" else a

    def block(self, params: Any, nodes: list[Node], results: Any) -> Any:
        """Make a block."""
        return Block(tuple(params), tuple(nodes), tuple(results))

    # Subscripts

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
        if isinstance(item, Tup | ListRef):
            return self.sequence_item(item, index)
        if isinstance(item, DictRef):
            held, key = self.content(item.cell), self.key(index)
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
            if isinstance(index, slice):
                return Known(item.value[self.known_slice(index)])
            if isinstance(index, Known):
                return Known(item.value[index.value])
            raise self.need_static(self.operand(index), "this index must be known")
        if isinstance(item, Shape):
            return self.emit("getitem", item.value, self.operand(index))
        if isinstance(item, Iterable):
            return self.sequence_item(self.listed(item), index)
        if isinstance(item, Obj):
            method = self.attribute(item, "__getitem__")
            return self.call_value(method, [index], {})
        return self.array_item(item, index)

    def joined_arrays(self, columns: bool, index: Any) -> Any:
        """Lower ``np.c_[a, b]`` and ``np.r_[a, b]`` of arrays and numbers."""
        parts = list(index.items) if isinstance(index, Tup) else [index]
        strange = (slice, ListRef)
        if any(
            isinstance(p, strange)
            or (isinstance(p, Known) and isinstance(p.value, str))
            for p in parts
        ):
            raise self.refuse(
                "only arrays and numbers are supported in `np.r_` and `np.c_`"
            )
        if columns:
            return self.call_op("np.column_stack", [Tup(tuple(parts))], {})
        flat = [self.call_op("np.atleast_1d", [p], {}) for p in parts]
        return self.call_op("np.concatenate", [Tup(tuple(flat))], {})

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
        found, param = self.origin(position)
        fixed = found is not None and self.indices[found]
        if fixed or param not in (None, "shape") or not all(map(is_number, held)):
            raise self.need_static(position, "an index into a list must be known")
        made = self.run_list(tuple(held), None)
        return self.wrap(self.emit("getitem", made.leaves[0], position))

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
        value = self.emit("getitem", base, place)
        if value.type is not None and not value.type.is_array:
            return self.wrap(value)
        basic = self.basic_index(place)
        if basic is False or not isinstance(item, Array | View):
            return self.wrap(value)
        if basic is None:
            self.uncertain.add(value)
        assert isinstance(base, Value)
        return View(item, "getitem", (place,), value, base)

    uncertain: set[Value]

    @abstractmethod
    def ask_arguments(self, name: str, why: str, node: ast.AST | None = None) -> Any:
        """Return the error that asks for arguments before the source can be written."""

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

    # Attributes

    def on_Attribute(self, node: ast.Attribute) -> Any:
        item = self.value(node.value)
        with self.at(node):
            return self.attribute(item, node.attr)

    def on_Starred(self, node: ast.Starred) -> Any:
        raise self.refuse("a star is not supported here", None, node)


MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
"""Comparisons and what they are from the other side."""
