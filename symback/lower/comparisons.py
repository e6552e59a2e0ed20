"""Comparisons, and what Python decides by them: ``and``, ``or``, ``x if c else y``."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from ..graph import Value
from ..operations.registry import OPERATORS
from .abstract import (
    Array,
    Choice,
    DictRef,
    DictView,
    Either,
    Known,
    ListRef,
    Shape,
    Tup,
    View,
    Walker,
    always,
)
from .expressions import Expressions

__all__ = ["Comparisons"]


class Comparisons(Expressions):
    """Lower comparisons and short circuits."""

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
        if not isinstance(op, ast.Is | ast.IsNot):
            left, right = self.settled(left), self.settled(right)
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
            with self.trying():
                equal = left.value is right.value or left.value == right.value
                return Known(bool(equal) == (name == "eq"))
        if name in ("eq", "ne"):
            plain = Tup | ListRef | DictRef
            for one, other in ((left, right), (right, left)):
                if isinstance(one, plain) and self.is_plain_number(other):
                    # Python's numbers equal no container.
                    return Known(name == "ne")
        return self.operate(name, left, right)

    def is_plain_number(self, item: Any) -> bool:
        """Say whether a value is a number of Python's."""
        if isinstance(item, Known):
            return isinstance(item.value, int | float | complex | str | None)
        return isinstance(item, Value) and getattr(item.type, "kind", "") == "python"

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
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Choice | Either):
                return self.pick(one, partial(self.identical, other, positive=positive))
        if isinstance(left, Known) and isinstance(right, Known):
            return Known((left.value is right.value) == positive)
        if isinstance(left, Value | Array):
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
        if isinstance(container, Walker) or (
            isinstance(container, DictView) and container.kind != "keys"
        ):
            container = self.new_list(self.known_items(container))
        if isinstance(container, DictRef | DictView):
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
        return self.emit("contains", self.operand(container), self.operand(item))

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
