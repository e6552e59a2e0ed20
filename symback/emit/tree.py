"""Statements with numbered variables: the form between the graph and the text.

Control flow is still structured, SSA is gone: a loop's carried value is one variable,
and `Move`s say where a value enters or leaves it.  Expressions are Python trees, and
the names in them are filled in last, when it is known which variables share one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..errors import Span

__all__ = [
    "Break",
    "Do",
    "For",
    "If",
    "Move",
    "Names",
    "Pair",
    "Return",
    "Set",
    "Statement",
    "Variable",
    "While",
    "mask_of",
    "walk",
]


@dataclass
class Variable:
    """A variable of the generated function.

    rank : how much its name means to the reader: 3 a parameter's, 2 one that the user
        gave to a variable, 1 one derived from those, 0 none, -1 for what nobody reads.
    """

    name: str | None
    rank: int
    like: int | None = None
    """The variable whose value it takes again: without a name, it takes that one's."""


@dataclass
class Set:
    """``a, b = value``; None stands for an output that nobody wants.

    `scalar` is whether ``a = a + b`` may be written as ``a += b``: no array is changed.
    """

    targets: list[int | None]
    value: ast.expr
    span: Span | None = None
    scalar: bool = False


@dataclass
class Pair:
    """One variable of a `Move` and what it takes over; None is an undefined value."""

    target: int
    value: ast.expr | None
    span: Span | None = None
    scalar: bool = False


@dataclass
class Move:
    """Several variables take over values at once."""

    pairs: list[Pair]
    first: bool = False
    """Whether the first pair must share its variable for mutation to stay in place."""


@dataclass
class Do:
    """A statement without targets of its own: an effect or a mutation."""

    made: ast.stmt
    span: Span | None = None


@dataclass
class If:
    """A branch; with `catch`, ``try: then`` and ``except catch: orelse``."""

    test: ast.expr
    then: list[Statement]
    orelse: list[Statement]
    span: Span | None = None
    catch: ast.expr | None = None


@dataclass
class For:
    """``for a, (b, c) in iter``: inner lists are tuples to unpack."""

    targets: list[int | list[int]]
    iter: ast.expr
    body: list[Statement]
    span: Span | None = None

    @property
    def numbers(self) -> list[int]:
        """Return all variables that an iteration sets."""
        flat: list[int] = []
        for target in self.targets:
            flat += target if isinstance(target, list) else [target]
        return flat


@dataclass
class While:
    """``while test: body``; `head` runs before each test."""

    head: list[Statement]
    test: ast.expr
    body: list[Statement]
    span: Span | None = None


@dataclass
class Break:
    """``if test: break``, or a plain ``break`` for None."""

    test: ast.expr | None


@dataclass
class Return:
    value: ast.expr
    span: Span | None = None


Statement = Set | Move | Do | If | For | While | Break | Return


def walk(statements: list[Statement]) -> Iterator[Statement]:
    """Yield all statements, nested ones included."""
    for statement in statements:
        yield statement
        if isinstance(statement, If):
            yield from walk(statement.then)
            yield from walk(statement.orelse)
        elif isinstance(statement, For):
            yield from walk(statement.body)
        elif isinstance(statement, While):
            yield from walk(statement.head)
            yield from walk(statement.body)


@dataclass
class Names:
    """What the names in expression trees stand for, until they get their text.

    `variables` are the numbered variables; `globals` are module aliases (``np``) and
    ``builtins.<name>`` and ``runtime.<name>``.
    """

    variables: dict[ast.Name, int] = field(default_factory=dict)
    globals: dict[ast.Name, str] = field(default_factory=dict)

    def variable(self, number: int, store: bool = False) -> ast.Name:
        """Return a new name for a variable."""
        name = ast.Name("", ast.Store() if store else ast.Load())
        self.variables[name] = number
        return name

    def builtin(self, text: str) -> ast.Name:
        """Return a new name for a builtin."""
        return self.outer(f"builtins.{text}")

    def outer(self, text: str) -> ast.Name:
        """Return a new name for something that the module imports."""
        name = ast.Name("", ast.Load())
        self.globals[name] = text
        return name

    def used(self, tree: ast.AST | None) -> int:
        """Return the variables in a tree, as a mask with a bit for each."""
        mask = 0
        if tree is not None:
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node in self.variables:
                    mask |= 1 << self.variables[node]
        return mask


def mask_of(numbers: Iterable[int]) -> int:
    """Return a mask with a bit for each variable.

    >>> bin(mask_of([0, 3]))
    '0b1001'
    """
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
