"""Which variables are needed at the same time, and which can therefore be one.

Sets of variables are integers with a bit for each: graphs may be large.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

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
    Variable,
    While,
    mask_of,
)

__all__ = ["Interference", "coalesce"]


class Interference:
    """Finds, for each variable, what else is alive when it is set.

    `alive[v]` are the variables that hold something needed right after v is set, other
    than a copy of what v was set from; `kept` are the pairs whose target is read.
    """

    def __init__(
        self, statements: list[Statement], names: Names, parameters: Sequence[int]
    ) -> None:
        self.names = names
        self.alive: dict[int, int] = {}
        self.kept: set[int] = set()
        self._after_loop: list[int] = []
        self._cache: dict[int, int] = {}
        live = self._block(statements, 0)
        all_parameters = mask_of(parameters)
        for number in parameters:
            self._set(number, live | all_parameters)

    def _used(self, tree: ast.AST | None) -> int:
        if tree is None:
            return 0
        mask = self._cache.get(id(tree))
        if mask is None:
            mask = self._cache[id(tree)] = self.names.used(tree)
        return mask

    def _set(self, number: int, live: int) -> None:
        self.alive[number] = self.alive.get(number, 0) | (live & ~(1 << number))

    def _block(self, statements: list[Statement], live: int) -> int:
        """Return what is alive before statements, given what is alive after them."""
        for statement in reversed(statements):
            live = self._statement(statement, live)
        return live

    def _statement(self, statement: Statement, live: int) -> int:
        match statement:
            case Set(targets, value):
                numbers = [t for t in targets if t is not None]
                together = mask_of(numbers)
                for number in numbers:
                    self._set(number, live | together)
                return (live & ~together) | self._used(value)
            case Move(pairs):
                return self._move(pairs, live)
            case Do(made):
                return live | self._used(made)
            case If(test, then, orelse):
                other = self._block(orelse, live)
                # What an exception leads to must find its values as they were.
                after = live | other if statement.catch is not None else live
                return self._block(then, after) | other | self._used(test)
            case For(_, iter, body):
                each = statement.numbers
                together = mask_of(each)
                self._after_loop.append(live)
                head, before = live, None
                while head != before:
                    before = head
                    entry = self._block(body, head)
                    for number in each:
                        self._set(number, entry | together)
                    head |= entry & ~together
                self._after_loop.pop()
                return head | self._used(iter)
            case While(first, test, body):
                self._after_loop.append(live)
                head, before = 0, None
                while head != before:
                    before = head
                    tested = live | self._block(body, head) | self._used(test)
                    head |= self._block(first, tested)
                self._after_loop.pop()
                return head
            case Break(test):
                after = self._after_loop[-1]
                return after | self._used(test) | (live if test is not None else 0)
            case Return(value):
                return self._used(value)

    def _move(self, pairs: list[Pair], live: int) -> int:
        targets = mask_of(p.target for p in pairs)
        needed = targets & live
        before = live & ~targets
        for pair in pairs:
            used = self._used(pair.value)
            if not needed >> pair.target & 1:
                continue  # nobody reads it: the pair is not printed
            self.kept.add(id(pair))
            before |= used
            copied = used if isinstance(pair.value, ast.Name) else 0
            # A copy may live in the same place as what it copies.
            self._set(pair.target, (live | needed) & ~(copied & ~targets))
        return before


class Classes:
    """Variables that are to be one, as growing classes."""

    def __init__(self, variables: list[Variable], interference: Interference) -> None:
        self.variables = variables
        self.leader = list(range(len(variables)))
        self.members = [1 << n for n in range(len(variables))]
        self.alive = [interference.alive.get(n, 0) for n in range(len(variables))]

    def find(self, number: int) -> int:
        """Return the variable that stands for a class."""
        while self.leader[number] != number:
            self.leader[number] = self.leader[self.leader[number]]
            number = self.leader[number]
        return number

    def apart(self, one: int, other: int) -> bool:
        """Return whether two classes are needed at the same time."""
        return bool(
            self.alive[one] & self.members[other]
            or self.alive[other] & self.members[one]
        )

    def join(self, one: int, other: int) -> int:
        """Make one class of two; the more meaningful name stays."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return one
        first, second = self.variables[one], self.variables[other]
        if (second.rank, -other) > (first.rank, -one):
            one, other = other, one
        self.leader[other] = one
        self.members[one] |= self.members[other]
        self.alive[one] |= self.alive[other]
        return one


def coalesce(
    statements: list[Statement],
    variables: list[Variable],
    interference: Interference,
) -> Classes:
    """Let variables that a `Move` connects be one wherever that is right and readable.

    A variable with the user's name does not become one with another name: the user
    wrote ``h = h0``, so that is what the reader sees.
    """
    classes = Classes(variables, interference)
    for first in (True, False):
        for move in _moves(statements):
            if move.first is not first:
                continue
            for pair in move.pairs:
                if isinstance(pair.value, ast.Name):
                    source = interference.names.variables.get(pair.value)
                    if source is not None:
                        _try(classes, pair.target, source, in_place=first)
    return classes


def _moves(statements: list[Statement]) -> list[Move]:
    """Return all moves, those of inner loops first: they run most often."""
    found: list[Move] = []
    for statement in statements:
        match statement:
            case If(_, then, orelse):
                found += _moves(then) + _moves(orelse)
            case For(_, _, body):
                found += _moves(body)
            case While(head, _, body):
                found += _moves(head) + _moves(body)
            case _:
                pass
    found += [s for s in statements if isinstance(s, Move)]
    return found


def _try(classes: Classes, one: int, other: int, in_place: bool) -> None:
    one, other = classes.find(one), classes.find(other)
    if one == other or classes.apart(one, other):
        return
    first, second = classes.variables[one], classes.variables[other]
    high = max(first.rank, second.rank)
    low = min(first.rank, second.rank)
    if high >= 2 and first.name != second.name and (low > 0 or high == 3):
        return
    if high == 3 and not in_place and first.name != second.name:
        return
    classes.join(one, other)
