"""Statements that choose: ``if`` and ``match``.

What follows a branch that leaves goes into the other branch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .abstract import Known, Tup, always
from .exceptions import Exceptions

__all__ = ["Conditions"]


class Conditions(Exceptions):
    """Lower ``if`` and ``match``."""

    def on_If(self, node: ast.If, rest: list[ast.stmt]) -> bool:
        test = self.test(node.test)
        return self.branch(
            test,
            lambda: self.run(node.body),
            lambda: self.run(node.orelse),
            rest,
            _exits(node.body),
            _exits(node.orelse),
        )

    def branch(
        self,
        test: Any,
        then: Callable[[], None],
        other: Callable[[], None],
        rest: list[ast.stmt],
        then_exits: bool,
        other_exits: bool,
    ) -> bool:
        """Lower two branches; what follows goes into the one that does not exit."""
        if isinstance(test, Known):
            (then if test.value else other)()
            return False
        if then_exits and rest and not other_exits:
            self.choose(test, then, lambda: self.then_rest(other, rest))
            return True
        if other_exits and rest and not then_exits:
            self.choose(test, lambda: self.then_rest(then, rest), other)
            return True
        self.choose(test, then, other)
        return False

    def then_rest(self, part: Callable[[], None], rest: list[ast.stmt]) -> None:
        """Run a branch and then what follows, unless the branch has exited."""
        part()
        done = self.exited()
        if isinstance(done, Known):
            if not done.value:
                self.run(rest)
            return
        self.choose(self.negate(done), lambda: self.go_on(rest), lambda: None)

    def on_Match(self, node: ast.Match, rest: list[ast.stmt]) -> bool:
        subject = self.value(node.subject)

        def case(number: int) -> None:
            if number == len(node.cases):
                return
            one = node.cases[number]
            test = self.matches(one.pattern, subject)
            if one.guard is not None:
                guard = one.guard
                test = self.choose(
                    test, lambda: self.truth(self.value(guard)), lambda: Known(False)
                )
            if isinstance(test, Known):
                if test.value:
                    self.run(one.body)
                else:
                    case(number + 1)
                return
            self.choose(test, lambda: self.run(one.body), lambda: case(number + 1))

        case(0)
        return False

    def matches(self, pattern: ast.pattern, subject: Any) -> Any:
        """Return whether a pattern matches; only constants, names and ``|``."""
        if isinstance(pattern, ast.MatchValue):
            value = self.value(pattern.value)
            return self.truth(self.compare(ast.Eq(), subject, value))
        if isinstance(pattern, ast.MatchSingleton):
            return self.identical(subject, Known(pattern.value), True)
        if isinstance(pattern, ast.MatchOr):
            result: Any = Known(False)
            for one in pattern.patterns:
                found = self.matches(one, subject)
                result = self.choose(found, always(Known(True)), always(result))
            return result
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                found = self.matches(pattern.pattern, subject)
            else:
                found = Known(True)
            if pattern.name is not None:
                self.bind_name(pattern.name, subject)
            return found
        if isinstance(pattern, ast.MatchSequence) and isinstance(subject, Tup):
            if len(pattern.patterns) != len(subject.items):
                return Known(False)
            result = Known(True)
            for one, item in zip(pattern.patterns, subject.items, strict=True):
                result = self.choose(
                    result, partial(self.matches, one, item), always(Known(False))
                )
            return result
        raise self.refuse(
            "only constants, names and `|` are supported in a pattern", None, pattern
        )


def _exits(body: Sequence[ast.stmt]) -> bool:
    """Say whether a block ends in return, raise, break or continue on every path."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return True
    if isinstance(last, ast.If):
        return _exits(last.body) and _exits(last.orelse)
    return False
