"""From statements to lines of code, not yet laid out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import Span
from ..source import print_expression, print_statement
from .tree import (
    Break,
    Do,
    For,
    If,
    Move,
    Names,
    Pair,
    Return,
    Set,
    Statement,
    While,
)

__all__ = ["Line", "Lines"]

AUGMENTED = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@dataclass
class Line:
    """One statement, or the head of a compound one, and how deep it stands."""

    depth: int
    text: str
    span: Span | None = None


class Lines:
    """Turns statements whose names are filled in into lines."""

    def __init__(
        self,
        names: Names,
        kept: set[int],
        statements: list[Statement],
        blank: str,
    ) -> None:
        self.blank = blank
        self.texts = {number: n.id for n, number in names.variables.items()}
        self.kept = kept
        self.none: set[str] = set()
        self.shown: dict[int, bool] = {}
        self._bind(statements, set())

    def target(self, number: int | None) -> str:
        """Return the name of a variable, ``_`` for what nobody reads."""
        return self.blank if number is None else self.texts.get(number, self.blank)

    def lines(self, statements: Iterable[Statement], depth: int) -> list[Line]:
        """Return the lines of a block."""
        return [line for s in statements for line in self._statement(s, depth)]

    def _statement(self, statement: Statement, depth: int) -> Iterator[Line]:
        match statement:
            case Set(targets, value, span):
                text = ", ".join(map(self.target, targets))
                yield Line(depth, self._assign(text, value, statement.scalar), span)
            case Move(pairs):
                for together in self._ordered(pairs):
                    names = ", ".join(self.target(p.target) for p in together)
                    values = [p.value for p in together if p.value is not None]
                    value = values[0]
                    if len(values) > 1:
                        value = ast.Tuple([*values], ast.Load())
                    scalar = together[0].scalar and len(together) == 1
                    span = next((p.span for p in together if p.span), None)
                    yield Line(depth, self._assign(names, value, scalar), span)
            case Do(made, span):
                yield Line(depth, print_statement(made), span)
            case Return(value, span):
                yield Line(depth, print_statement(ast.Return(value)), span)
            case Break(test):
                if test is not None:
                    yield Line(depth, f"if {print_expression(test)}:")
                yield Line(depth + (test is not None), "break")
            case If():
                if self._shows(statement):
                    yield from self._if(statement, depth)
            case For(targets, iter, body, span):
                target = self._targets(targets)
                head = f"for {target} in {print_expression(iter)}:"
                yield Line(depth, head, span)
                yield from self._body(body, depth)
            case While(head, test, body, span):
                before = self.lines(head, depth + 1)
                if not before:
                    yield Line(depth, f"while {print_expression(test)}:", span)
                    yield from self._body(body, depth)
                    return
                yield Line(depth, "while True:", span)
                yield from before
                yield Line(depth + 1, f"if {print_expression(_negated(test))}:", span)
                yield Line(depth + 2, "break")
                yield from self.lines(body, depth + 1)

    def _targets(self, targets: list[int | list[int]]) -> str:
        parts = [
            ", ".join(map(self.target, t)) if isinstance(t, list) else self.target(t)
            for t in targets
        ]
        if len(parts) == 1:
            return parts[0]
        nested = zip(parts, targets, strict=True)
        return ", ".join(f"({p})" if isinstance(t, list) else p for p, t in nested)

    def _body(self, body: list[Statement], depth: int) -> list[Line]:
        return self.lines(body, depth + 1) or [Line(depth + 1, "pass")]

    def _if(self, statement: If, depth: int, word: str = "if") -> Iterator[Line]:
        test = statement.test
        then = [s for s in statement.then if self._shows(s)]
        orelse = [s for s in statement.orelse if self._shows(s)]
        if statement.catch is not None:
            yield Line(depth, "try:", statement.span)
            yield from self._body(then, depth)
            caught = print_expression(statement.catch)
            if isinstance(statement.catch, ast.Tuple):
                caught = f"({caught.strip('()')})"
            yield Line(depth, f"except {caught}:")
            yield from self._body(orelse, depth)
            return
        if not then and not orelse:
            # Only the test's effect is left.
            yield Line(depth, print_expression(test), statement.span)
            return
        if not then:
            then, orelse, test = orelse, [], _negated(test)
        yield Line(depth, f"{word} {print_expression(test)}:", statement.span)
        yield from self._body(then, depth)
        if len(orelse) == 1 and self._is_chained(orelse[0]):
            (inner,) = orelse
            assert isinstance(inner, If)
            yield from self._if(inner, depth, "elif")
        elif orelse:
            yield Line(depth, "else:")
            yield from self._body(orelse, depth)

    def _is_chained(self, statement: Statement) -> bool:
        """Return whether what stands alone under ``else`` reads better as ``elif``."""
        return (
            isinstance(statement, If)
            and statement.catch is None
            and any(map(self._shows, statement.then + statement.orelse))
        )

    def _shows(self, statement: Statement) -> bool:
        """Return whether a statement has any text."""
        shows = self.shown.get(id(statement))
        if shows is None:
            if isinstance(statement, Move):
                shows = bool(self._moved(statement.pairs))
            elif isinstance(statement, If):
                shows = any(map(self._shows, statement.then + statement.orelse))
                calls = (isinstance(n, ast.Call) for n in ast.walk(statement.test))
                shows = shows or statement.catch is not None or any(calls)
            else:
                shows = True
            self.shown[id(statement)] = shows
        return shows

    def _assign(self, target: str, value: ast.expr, scalar: bool) -> str:
        if (
            scalar
            and isinstance(value, ast.BinOp)
            and isinstance(value.op, AUGMENTED)
            and isinstance(value.left, ast.Name)
            and value.left.id == target
        ):
            store = ast.Name(target, ast.Store())
            return print_statement(ast.AugAssign(store, value.op, value.right))
        text = print_statement(ast.Expr(value))
        if isinstance(value, ast.Tuple) and text.startswith("("):
            text = text[1:-1] if len(value.elts) > 1 else text
        return f"{target} = {text}"

    def _moved(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Return the pairs that do something, with values."""
        found = []
        for pair in pairs:
            target = self.target(pair.target)
            if id(pair) not in self.kept:
                continue
            value = pair.value
            if value is None:
                if target not in self.none:
                    continue
                value = ast.Constant(None)
            if not self._stays(pair):
                found.append(Pair(pair.target, value, pair.span, pair.scalar))
        return found

    def _stays(self, pair: Pair) -> bool:
        """Say whether a variable takes over its own value, if it has one."""
        value = pair.value
        return isinstance(value, ast.Name) and value.id == self.target(pair.target)

    def _ordered(self, pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
        """Yield assignments in an order that overwrites nothing before it is read.

        What turns in a circle is assigned at once: ``a, b = b, a``.
        """
        rest = self._moved(pairs)
        while rest:
            for pair in rest:
                others = [_names(p.value) for p in rest if p is not pair and p.value]
                if not any(self.target(pair.target) in names for names in others):
                    break
            else:
                yield rest
                return
            rest.remove(pair)
            yield [pair]

    # Names without a value

    def _bind(self, statements: Iterable[Statement], bound: set[str]) -> set[str]:
        """Find the names that are read, though only to be handed on, without a value.

        A name that a path left unset is never used on that path, but it may be copied
        or collected: then it must be None instead.  Returns the names bound afterwards.
        """
        for statement in statements:
            match statement:
                case Set(targets, value):
                    self._asked(value, bound)
                    bound = bound | set(map(self.target, targets))
                case Move(pairs):
                    for pair in self._moved(pairs):
                        for name in _moved_names(pair.value):
                            self._read(name, bound)
                        self._asked(pair.value, bound)
                    bound = bound | {
                        self.target(p.target)
                        for p in pairs
                        if p.value is not None and not self._stays(p)
                    }
                case Do(made):
                    self._handed(made, bound)
                case Return(value):
                    self._read(value, bound)
                case If(_, then, orelse):
                    bound = self._bind(then, bound) & self._bind(orelse, bound)
                case For(_, _, body):
                    each = set(map(self.target, statement.numbers))
                    self._bind(body, bound | each)
                case While(head, _, body):
                    bound = self._bind(head, bound)
                    self._bind(body, bound)
                case Break():
                    pass
        return bound

    def _asked(self, tree: ast.expr | None, bound: set[str]) -> None:
        """Find the names that are asked for the shape of a value they may lack."""
        for node in () if tree is None else ast.walk(tree):
            match node:
                case ast.Call(ast.Attribute(_, "shape"), [ast.Name() as name]):
                    self._read(name, bound)
                case _:
                    pass

    def _handed(self, made: ast.stmt, bound: set[str]) -> None:
        match made:
            case ast.Expr(ast.Call(ast.Attribute(_, "append"), [item])):
                self._read(item, bound)
            case _:
                pass

    def _read(self, tree: ast.expr, bound: set[str]) -> None:
        # A choice is made by a test that is true only where there is a value.
        if not isinstance(tree, ast.IfExp):
            if isinstance(tree, ast.Tuple | ast.List):
                for item in tree.elts:
                    self._read(item, bound)
            else:
                self.none |= _names(tree) - bound


def _moved_names(tree: ast.expr | None) -> Iterator[ast.Name]:
    """Yield the variables of which a value may be taken over as it is."""
    if isinstance(tree, ast.IfExp):
        yield from _moved_names(tree.body)
        yield from _moved_names(tree.orelse)
    elif isinstance(tree, ast.Name):
        yield tree


def _names(tree: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)
