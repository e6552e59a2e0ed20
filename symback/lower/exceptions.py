"""Exceptions that the function catches, where they are known and where they are not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import SymbackError, UnsupportedSyntaxError
from ..graph import Node
from .abstract import Known, NeedStatic, Poison, Tup, always
from .core import Raises, State, Unassigned
from .statements import Statements

__all__ = ["Exceptions"]

HARMLESS = frozenset(
    "dim shape np.shape np.ndim np.size fstring add sub mul neg pos lt le gt ge eq ne "
    "is_ is_not not_".split()
)
"""Operations that raise nothing where the types of their operands are known to fit."""


@dataclass(frozen=True)
class Clause:
    """An ``except`` clause: what it catches, by name and by class."""

    handler: ast.ExceptHandler
    names: tuple[str, ...]
    classes: tuple[type, ...]


class Exceptions(Statements):
    """Lower ``try``."""

    def do_Try(self, node: ast.Try) -> None:
        if not node.handlers:
            self.run(node.body)
            self.finally_(node.finalbody)
            return
        clauses = [Clause(h, *self.caught(h)) for h in node.handlers]
        node = self.after_harmless(node)
        before, count, mark = dict(self.state), len(self.nodes), len(self.stack)
        try:
            with self.at(node):
                fine = self.tried(node, clauses)
        except Raises as sure:
            for clause in clauses:
                if issubclass(sure.kind, clause.classes):
                    break
            else:
                raise
            # It raises whenever it runs: the handler is what happens.
            del self.nodes[count:], self.stack[mark:]
            self.state = self.dubious(node, before)
            self.handle(clause)
            fine = Known(False)
        if node.orelse:
            self.choose(
                self.truth(fine), lambda: self.unless_left(node.orelse), lambda: None
            )
        self.finally_(node.finalbody)

    def after_harmless(self, node: ast.Try) -> ast.Try:
        """Lower the first statements, as far as they raise nothing; return the rest."""
        body = node.body
        while len(body) > 1 and isinstance(body[0], ast.Assign | ast.AnnAssign):
            before = dict(self.state)
            try:
                nodes, _, _ = self.nested(partial(self.statement, body[0], []))
            except (SymbackError, NeedStatic, Raises, Unassigned):
                nodes = [Node("raise")]
            if not _harmless(nodes):
                self.state = before
                break
            self.nodes += nodes
            body = body[1:]
        rest = ast.Try(body, node.handlers, node.orelse, node.finalbody)
        return ast.copy_location(rest, node)

    def tried(self, node: ast.Try, clauses: Sequence[Clause]) -> Any:
        """Lower the body and the clauses; return whether nothing was raised."""
        before, span = dict(self.state), self.span()

        def body() -> tuple[list[Node], State, Any]:
            self.state = dict(before)
            found = self.nested(partial(self.run, node.body))
            written = (
                k for k in before if k[0] == "h" and self.state.get(k) is not before[k]
            )
            if any(written) and not _harmless(found[0]):
                raise self.refuse(
                    "an array or list is changed inside `try`",
                    "work on a copy made inside, and assign it at the end.",
                )
            return found

        self.conditional += 1
        try:
            nodes, state, _ = body()
            if _harmless(nodes):
                # No handler is ever reached.
                self.nodes += nodes
                self.state = state
                return Known(True)
            several = len(clauses) > 1
            state["t", 0] = Known(0 if several else True)
            for number, clause in enumerate(clauses, 1):
                self.state = self.dubious(node, before)
                handler = always(None) if several else partial(self.handle, clause)
                other = self.nested(handler)
                self.forget_dubious(before)
                self.state["t", 0] = Known(number if several else False)
                sides = [(nodes, state), (other[0], self.state)]
                made = partial(self.merge, True, before, sides, span, clause.names)
                nodes, state, which = self.nested(made)
                state["t", 0] = which
        finally:
            self.conditional -= 1
        self.nodes += nodes
        self.state = state
        which = self.state.pop(("t", 0))
        if not several:
            return which
        fine = self.emit("eq", which, 0)
        self.handled(which, fine, clauses)
        return fine

    def handled(self, which: Any, fine: Any, clauses: Sequence[Clause]) -> None:
        """Lower the handlers of several clauses after the ``try``, by number.

        Inside it, an exception that one of them raises would be caught by another.
        """

        def step(number: int) -> None:
            one = partial(self.handle, clauses[number])
            if number + 1 == len(clauses):
                one()
                return
            test = self.emit("eq", which, number + 1)
            self.choose(test, one, partial(step, number + 1))

        self.choose(self.negate(fine), partial(step, 0), always(None))

    def dubious(self, node: ast.Try, before: State) -> State:
        """Return the state in a handler: names that the body may have assigned."""
        state = dict(before)
        for statement in _before_the_end(node.body):
            for part in ast.walk(statement):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    key = ("n", self.frame.number, part.id)
                    if key in state:
                        state[key] = Poison(
                            f"what `{part.id}` holds here depends on where the body of "
                            "`try` raised",
                            "assign it after the `try`.",
                        )
        return state

    def forget_dubious(self, before: State) -> None:
        """Give names back what they hold where the handler leaves the function."""
        left = self.exited()
        if isinstance(left, Known) and left.value:
            for key, item in list(self.state.items()):
                if isinstance(item, Poison) and key in before:
                    self.state[key] = before[key]

    def handle(self, clause: Clause) -> None:
        """Lower a handler; where it cannot be lowered, it raises when it is reached."""
        handler = clause.handler
        if handler.name:
            self.poison_name(handler.name, f"`{handler.name}` cannot be used here")
        state, count, mark = dict(self.state), len(self.nodes), len(self.stack)
        try:
            self.go_on(handler.body)
        except UnsupportedSyntaxError as refusal:
            del self.nodes[count:], self.stack[mark:]
            self.state = state
            place = refusal.span.where if refusal.span else f"line {handler.lineno}"
            why = f"{place}: {refusal.message}"
            self.leave(self.emit("builtins.NotImplementedError", why))

    def unless_left(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements that run unless the block before them was left."""
        done = self.exited()
        if not isinstance(done, Known):
            self.choose(self.negate(done), lambda: self.go_on(body), lambda: None)
        elif not done.value:
            self.run(body)

    def finally_(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements that run however the block before them was left."""
        kept = {key: self.state[key] for key in self.frame.exits}
        self.state.update(dict.fromkeys(kept, Known(False)))
        self.run(body)
        for key, flag in kept.items():
            now = self.state[key]
            if isinstance(now, Known) and not now.value:
                self.state[key] = flag

    def caught(self, handler: ast.ExceptHandler) -> tuple[Any, tuple[type, ...]]:
        """Return the exceptions of an ``except`` clause: their names and classes."""
        kinds: list[Any] = [Known(Exception)]
        if handler.type is not None:
            found = self.value(handler.type)
            kinds = list(found.items) if isinstance(found, Tup) else [found]
        names = []
        for kind in kinds:
            thing = kind.value if isinstance(kind, Known) else None
            if not isinstance(thing, type):
                raise self.refuse("which exceptions are caught must be known")
            if thing.__module__ == "builtins":
                names.append(f"builtins.{thing.__name__}")
            elif thing is np.linalg.LinAlgError:
                names.append("np.linalg.LinAlgError")
            else:
                raise self.refuse("only Python's and NumPy's exceptions can be caught")
        return tuple(names), tuple(k.value for k in kinds)


def _harmless(nodes: Sequence[Node]) -> bool:
    return all(
        node.op in HARMLESS
        and all(v.type is not None for v in (*node.inputs, *node.outs))
        for node in nodes
    )


def _before_the_end(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements after which others may raise."""
    last = body[-1]
    found = list(body[:-1])
    if isinstance(last, ast.If):
        found += _before_the_end(last.body)
        found += _before_the_end(last.orelse) if last.orelse else []
    elif isinstance(last, ast.With):
        found += _before_the_end(last.body)
    elif isinstance(last, ast.Try) and not last.orelse and not last.finalbody:
        found += _before_the_end(last.body)
        for handler in last.handlers:
            found += _before_the_end(handler.body)
    elif isinstance(last, ast.For | ast.While | ast.Try | ast.Match):
        found.append(last)
    return found
