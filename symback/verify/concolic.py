"""Elements that record what they stand for: a SymPy expression and its digits.

A `Tape` holds the expressions as a graph in which equal subexpressions are one object,
so that nothing is ever written out twice.  `Concolic.expr` is the SymPy expression.
A comparison is decided by the digits and noted as a `Condition`: all of them together
are the region in which the recorded expressions are the program.

>>> tape = Tape(30)
>>> x = tape.input("x", 0.5)
>>> y = 2 * x + 1 if x > 0 else -x
>>> y.expr, [str(c) for c in tape.conditions]
(2*x + 1, ['x > 0'])
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .deadline import Clock
from .elements import Element, Home, SymbolicValueError, decide
from .reals import Reals
from .sizes import Size

__all__ = ["Concolic", "Condition", "Tape"]

COMMUTATIVE = {"add", "mul"}
CONSTANTS = {"pi", "e", "euler_gamma", "inf", "nan"}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
STATES = {"is finite": "is not finite", "is nan": "is not nan"}
AT_ZERO = {
    "exp": 1,
    "sin": 0,
    "cos": 1,
    "tan": 0,
    "tanh": 0,
    "sinh": 0,
    "cosh": 1,
    "asin": 0,
    "atan": 0,
    "asinh": 0,
    "atanh": 0,
    "erf": 0,
    "erfc": 1,
    "erfi": 0,
    "erfinv": 0,
}


class Concolic(Element):
    """One node of a tape: an operation, its arguments and its digits.

    active : whether it depends on an input that is differentiated; `constant`: on none.
    size : operations of the expression when written out as a tree.
    """

    __slots__ = (
        "_expr",
        "active",
        "args",
        "constant",
        "home",
        "index",
        "op",
        "payload",
        "size",
        "value",
    )

    home: Tape

    def __init__(
        self,
        home: Tape,
        op: str,
        args: tuple[Concolic, ...],
        payload: Any,
        value: Any,
    ) -> None:
        self.home = home
        self.op = op
        self.args = args
        self.payload = payload
        self.value = value
        self.index = len(home.nodes)
        self.constant: bool = op != "input" and all(a.constant for a in args)
        self.active: bool = op != "stop" and any(a.active for a in args)
        self.size = 1 + sum(a.size for a in args) if args else 0
        self._expr: Any = None

    @property
    def expr(self) -> Any:
        """Return the SymPy expression; large ones take long, see `size`."""
        from .expressions import to_sympy

        return to_sympy(self)

    def __repr__(self) -> str:
        return f"<{self.op} {self.home.reals.context.nstr(self.value, 8)}>"

    __hash__ = Element.__hash__


@dataclass(frozen=True)
class Condition:
    """A comparison that the program made: `left relation right` was true.

    side : "function" for the user's program, "gradient" for the generated one.
    tie : both sides were equal, and one of them is differentiated.
    asked, answer : the relation as the program wrote it, and what it got.
    A state ("is finite", "is nan" or the opposite) is a relation without a right side.
    """

    left: Concolic
    relation: str
    right: Concolic
    asked: str
    answer: bool
    tie: bool
    side: str
    file: str
    line: int

    def holds(self, values: list[Any]) -> bool:
        """Return whether it holds for other digits of the nodes."""
        left, right = values[self.left.index], values[self.right.index]
        if self.relation.startswith("is"):
            state = left != left if self.relation.endswith("nan") else left - left == 0
            return bool(state) != (" not " in self.relation)
        return decide(left, self.relation, right)

    def text(self, limit: int = 40) -> str:
        """Return it as mathematics, or by its line where it is long."""
        if self.left.size + self.right.size > limit:
            return f"the comparison on line {self.line}"
        left, right = self.left, self.right
        relation = self.relation
        if relation in MIRRORED and left.constant and not right.constant:
            left, right, relation = right, left, MIRRORED[relation]
        from .expressions import readable

        if relation.startswith("is"):
            return f"{readable(left.expr)} {relation}"
        return f"{readable(left.expr)} {relation} {readable(right.expr)}"

    def __str__(self) -> str:
        return self.text()


@dataclass
class Watch:
    """Which files belong to the user and which to the generated program."""

    files: dict[str, str] = field(default_factory=dict)
    side: str = "function"

    def place(self) -> tuple[str, int]:
        """Return the innermost line of the watched files that is running."""
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if name in self.files:
                return name, frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment] # None ends the loop
        return "", 0


class Tape(Home):
    """All expressions of one run, at one point.

    digits : of the values, beyond which comparisons are ties.
    limit : the number of nodes at which recording gives up with `SymbolicValueError`.
    """

    def __init__(
        self,
        digits: int = 70,
        *,
        clock: Clock | None = None,
        exact: bool = True,
        limit: int = 300_000,
    ) -> None:
        self.reals = Reals(digits)
        self.exact = exact
        self.clock = clock
        self.limit = limit
        self.steps = 0  # operations done, those that were known already among them
        self.patience = 0  # the steps after which a run is taken for endless; 0: never
        self.nodes: list[Concolic] = []
        self.inputs: dict[str, Concolic] = {}
        self.watch = Watch()
        self.recorder: Any = None
        self.signs: dict[int, int] = {}  # known from the form of nodes, by index
        self.undefined = False  # whether a NaN has decided a comparison
        self._table: dict[Any, Concolic] = {}
        self._conditions: dict[Any, Condition] = {}

    @property
    def conditions(self) -> list[Condition]:
        """Return the comparisons made so far, each once."""
        return list(self._conditions.values())

    def input(self, name: str, value: Any, active: bool = True) -> Concolic:
        """Make an input with a value; its symbol has this name."""
        node = self._add("input", (), name, self.reals.number(_plain(value)))
        node.active = active
        self.inputs[name] = node
        return node

    def lift(self, x: Any) -> Concolic:
        """Return a number as a constant; a float is exactly its binary fraction."""
        x = _plain(x)
        if isinstance(x, float) and (x != x or x in (float("inf"), float("-inf"))):
            return self._constant("nan", None) if x != x else self._infinite(x > 0)
        return self._constant("const", Fraction(x))

    def constant(self, name: str) -> Concolic:
        return self._constant(name, None)

    def _infinite(self, positive: bool) -> Concolic:
        return self._constant("inf", 1 if positive else -1)

    def _constant(self, op: str, payload: Any) -> Concolic:
        found = self._table.get((op, payload))
        if found is not None:
            return found
        c = self.reals.context
        if op == "const":
            value = self.reals.number(payload)
        elif op == "inf":
            value = c.inf * payload
        else:
            value = {"nan": c.nan, "pi": +c.pi, "e": +c.e, "euler_gamma": +c.euler}[op]
        return self._add(op, (), payload, value, key=(op, payload))

    def _add(
        self,
        op: str,
        args: tuple[Concolic, ...],
        payload: Any,
        value: Any,
        key: Any = None,
    ) -> Concolic:
        node = Concolic(self, op, args, payload, value)
        self.nodes.append(node)
        if key is not None:
            self._table[key] = node
        if node.index % 256 == 0 and self.clock is not None:
            self.clock.check()
        if node.index > self.limit:
            raise SymbolicValueError(f"more than {self.limit:,} operations")
        return node

    def operate(self, op: str, a: Element, b: Element) -> Concolic:
        if not isinstance(a, Concolic) or not isinstance(b, Concolic):
            raise SymbolicValueError("elements of different kinds were mixed")
        if self.recorder is not None and not self.recorder.depth:
            result: Concolic = self.recorder.run(op, self._operate, (op, a, b), {})
            return result
        return self._operate(op, a, b)

    def _operate(self, op: str, a: Concolic, b: Concolic) -> Concolic:
        simple = self._simple(op, a, b)
        return self._node(op, a, b) if simple is None else simple

    def _node(self, op: str, *args: Concolic) -> Concolic:
        if op in COMMUTATIVE and args[0].index > args[1].index:
            args = (args[1], args[0])
        key = (op, *(a.index for a in args))
        self.steps += 1
        if self.patience and self.steps > self.patience:
            raise SymbolicValueError(f"more than {self.patience:,} operations")
        found = self._table.get(key)
        if found is not None:
            return found
        return self._add(
            op, args, None, self.evaluate(op, [a.value for a in args]), key
        )

    def evaluate(self, op: str, values: list[Any]) -> Any:
        """Return the digits of an operation from its arguments' digits."""
        if op == "add":
            return values[0] + values[1]
        if op == "sub":
            return values[0] - values[1]
        if op == "mul":
            return values[0] * values[1]
        if op == "div":
            return self.reals.divide(*values)
        if op == "pow":
            return self.reals.power(*values)
        if op in ("stop", "copy"):
            return values[0]
        return self.reals.call(op, *values)

    def _simple(self, op: str, a: Concolic, b: Concolic) -> Concolic | None:
        """Return the result where arithmetic on constants gives it at once.

        Never changes what a NaN or an infinity among the values would give.
        """
        if a.op == "const" and b.op == "const":
            return self._fold(op, a.payload, b.payload)
        if {a.op, b.op} & {"inf", "nan"} and a.constant and b.constant:
            return self._special(op, a, b)
        x = a.payload if a.op == "const" else None
        y = b.payload if b.op == "const" else None
        finite = self.reals.finite
        if op == "add":
            return b if x == 0 else a if y == 0 else None
        if op == "sub":
            if y == 0:
                return a
            return self.lift(0) if a is b and finite(a.value) else None
        if op == "mul":
            if x == 1 or y == 1:
                return b if x == 1 else a
            if (x == 0 and finite(b.value)) or (y == 0 and finite(a.value)):
                return self.lift(0)
            return None
        if op == "div":
            if y == 1:
                return a
            return self.lift(0) if x == 0 and finite(b.value) and b.value else None
        if y is not None and (y == 1 or y == 0):
            return a if y == 1 else self.lift(1)
        return None

    def _special(self, op: str, a: Concolic, b: Concolic) -> Concolic:
        value = self.evaluate(op, [a.value, b.value])
        if value != value:
            return self.constant("nan")
        if not self.reals.finite(value):
            return self._infinite(value > 0)
        return (
            self.lift(int(value))
            if self.reals.context.isint(value)
            else self._node(op, a, b)
        )

    def _fold(self, op: str, x: Fraction, y: Fraction) -> Concolic | None:
        if op == "add":
            return self.lift(x + y)
        if op == "sub":
            return self.lift(x - y)
        if op == "mul":
            return self.lift(x * y)
        if op == "div":
            if y == 0:
                return self.constant("nan") if x == 0 else self._infinite(x > 0)
            return self.lift(x / y)
        if y.denominator == 1 and abs(y) <= 64:
            if x == 0 and y < 0:
                return self._infinite(True)
            return self.lift(x ** int(y))
        if y == Fraction(1, 2) and x >= 0:
            root = Fraction(_isqrt(x.numerator), _isqrt(x.denominator))
            return self.lift(root) if root * root == x else None
        return None

    def call(self, name: str, *args: Any) -> Concolic:
        if self.recorder is not None and not self.recorder.depth:
            result: Concolic = self.recorder.run(name, self._call, (name, *args), {})
            return result
        return self._call(name, *args)

    def _call(self, name: str, *args: Any) -> Concolic:
        nodes = tuple(a if isinstance(a, Concolic) else self.lift(a) for a in args)
        first = nodes[0]
        if len(nodes) == 1:
            if first.op == "const" and first.payload == 0 and name in AT_ZERO:
                return self.lift(AT_ZERO[name])
            if name == "log" and first.op == "const" and first.payload == 1:
                return self.lift(0)
            if first.op in ("inf", "nan"):
                value = self.reals.call(name, first.value)
                return self.lift(float(value))
            if name == "log" and first.value == 0 and first.constant:
                return self._infinite(False)
        return self._node(name, *nodes)

    def stop(self, x: Element) -> Concolic:
        if not isinstance(x, Concolic):
            return self.lift(x)
        return x if x.constant else self._node("stop", x)

    def compare(self, a: Element, relation: str, b: Element) -> bool:
        if not isinstance(a, Concolic) or not isinstance(b, Concolic):
            raise SymbolicValueError("elements of different kinds were mixed")
        x, y = a.value, b.value
        answer = decide(x, relation, y)
        if a is b or (a.constant and b.constant):
            return answer
        if not (self.reals.finite(x) and self.reals.finite(y)):
            self.undefined |= self.reals.is_nan(x) or self.reals.is_nan(y)
            return answer
        key = (a.index, relation, b.index)
        if key not in self._conditions:
            tie = self._tie(x, y) and (a.active or b.active)
            holds = relation if answer else OPPOSITE[relation]
            file, line = self.watch.place()
            self._conditions[key] = Condition(
                a, holds, b, relation, answer, tie, self.watch.side, file, line
            )
        return answer

    def ask(self, x: Element, state: str) -> bool:
        answer = super().ask(x, state)
        if isinstance(x, Concolic) and not x.constant:
            zero = self.lift(0)
            holds = state if answer else STATES[state]
            file, line = self.watch.place()
            condition = Condition(
                x, holds, zero, state, answer, False, self.watch.side, file, line
            )
            self._conditions.setdefault((x.index, state), condition)
        return answer

    def _tie(self, x: Any, y: Any) -> bool:
        scale = max(abs(x), abs(y))
        return bool(
            abs(x - y) <= scale * self.reals.context.mpf(10) ** (10 - self.reals.digits)
        )

    def replay(
        self,
        inputs: dict[str, Any],
        reals: Reals | None = None,
        roots: Iterable[Concolic] | None = None,
    ) -> list[Any]:
        """Return the digits of all nodes at other inputs, by node index.

        With `roots`, only what they need; the rest is None.
        """
        other = Tape(reals.digits if reals else self.reals.digits)
        other.clock = self.clock
        needed = None if roots is None else reachable(roots)
        values: list[Any] = [None] * len(self.nodes)
        for node in self.nodes:
            if needed is not None and node.index not in needed:
                continue
            if node.op == "input":
                values[node.index] = other.reals.number(inputs[node.payload])
            elif node.args:
                values[node.index] = other.evaluate(
                    node.op, [values[a.index] for a in node.args]
                )
            else:
                values[node.index] = other._constant(node.op, node.payload).value
            if node.index % 256 == 0 and self.clock is not None:
                self.clock.check()
        return values


def reachable(roots: Iterable[Concolic]) -> set[int]:
    """Return the indices of all nodes that the roots are made of."""
    found: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.index not in found:
            found.add(node.index)
            stack.extend(node.args)
    return found


def _plain(x: Any) -> Any:
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, Size):
        return int(x)
    return int(x) if isinstance(x, bool) else x


def _isqrt(n: int) -> int:
    import math

    return math.isqrt(n)
