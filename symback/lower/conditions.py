"""Statements that choose: ``if`` and ``match``.

What follows a branch that leaves goes into the other branch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..graph import Value
from .abstract import Array, DictRef, DictView, Known, Obj, View, always
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
        """Return whether a pattern matches, and bind its names."""
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
        if isinstance(pattern, ast.MatchSequence):
            return self.matches_sequence(pattern, subject)
        if isinstance(pattern, ast.MatchMapping):
            return self.matches_mapping(pattern, subject)
        assert isinstance(pattern, ast.MatchClass)
        return self.matches_class(pattern, subject)

    def matches_all(self, pairs: Sequence[tuple[ast.pattern, Any]]) -> Any:
        """Return whether all of some patterns match their subjects."""
        result: Any = Known(True)
        for one, item in pairs:
            result = self.choose(
                result, partial(self.matches, one, item), always(Known(False))
            )
        return result

    def matches_sequence(self, pattern: ast.MatchSequence, subject: Any) -> Any:
        if isinstance(subject, Known | DictRef | DictView | Value | Array | View | Obj):
            # Neither strings, numbers nor arrays are sequences to a pattern.
            return Known(False)
        items = self.known_items(subject)
        stars = [
            k for k, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)
        ]
        count = len(pattern.patterns)
        if not stars:
            if len(items) != count:
                return Known(False)
            return self.matches_all(list(zip(pattern.patterns, items, strict=True)))
        if len(items) < count - 1:
            return Known(False)
        star, extra = stars[0], len(items) - count + 1
        one = pattern.patterns[star]
        assert isinstance(one, ast.MatchStar)
        rest = items[star : star + extra]
        patterns = [*pattern.patterns[:star], *pattern.patterns[star + 1 :]]
        others = [*items[:star], *items[star + extra :]]
        found = self.matches_all(list(zip(patterns, others, strict=True)))
        if one.name is not None:
            self.bind_name(one.name, self.new_list(rest))
        return found

    def matches_mapping(self, pattern: ast.MatchMapping, subject: Any) -> Any:
        if not isinstance(subject, DictRef):
            return Known(False)
        held = dict(self.content(subject.cell))
        keys = [self.key(self.value(k)) for k in pattern.keys]
        if any(k not in held for k in keys):
            return Known(False)
        pairs = [(p, held.pop(k)) for p, k in zip(pattern.patterns, keys, strict=True)]
        found = self.matches_all(pairs)
        if pattern.rest is not None:
            self.bind_name(pattern.rest, self.new_dict(held))
        return found

    def matches_class(self, pattern: ast.MatchClass, subject: Any) -> Any:
        kind = self.value(pattern.cls)
        test = self.call_value(Known(isinstance), [subject, kind], {})
        if not isinstance(test, Known) or not isinstance(kind, Known):
            raise self.refuse("which class this is must be known", None, pattern)
        if not test.value:
            return Known(False)
        names = getattr(kind.value, "__match_args__", ())
        if pattern.patterns and not names:
            return self.matches(pattern.patterns[0], subject)
        named = [*names[: len(pattern.patterns)], *pattern.kwd_attrs]
        return self.matches_all(
            [
                (one, self.attribute(subject, name))
                for one, name in zip(
                    [*pattern.patterns, *pattern.kwd_patterns], named, strict=True
                )
            ]
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
