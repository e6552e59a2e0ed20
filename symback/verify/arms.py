"""Which arms of a program's branches have run, and which never did.

An arm is what stands on one side of an `if`, a loop, a conditional expression, a `try`,
a `match`, or behind `and` and `or`.  Python tells the place of each instruction that
runs; an arm in whose text no instruction has run was not reached.  Arms that only raise
say no wrong number, and do not count.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .paths import Path

__all__ = ["Arm", "Reached"]

Place = tuple[int, int]
"""Line and column."""


@dataclass(frozen=True)
class Arm:
    """One side of a branch: where it stands."""

    file: str
    start: Place
    end: Place

    @property
    def code(self) -> str:
        """Return its first line."""
        return linecache.getline(self.file, self.start[0]).strip()

    def __str__(self) -> str:
        name = self.file.replace("\\", "/").rpartition("/")[2]
        place = "generated source" if name.startswith("<") else name
        return f"{place}:{self.start[0]} {self.code}"


class Reached:
    """The places of a program that have run, in all runs that were added."""

    def __init__(self) -> None:
        self.places: dict[str, set[Place]] = {}
        self._arms: dict[str, list[tuple[Arm, Arm | None]]] = {}

    def add(self, path: Path) -> None:
        """Add what one run has reached."""
        for (key, _), after in path.jumps.items():
            positions = path.positions[key]
            found = self.places.setdefault(key[0], set())
            for offset in after:
                line, _end, column, _last = positions[offset // 2]
                if line is not None and column is not None:
                    found.add((line, column))

    def arms(self) -> Iterator[Arm]:
        """Yield the arms of all functions that have run."""
        for file, places in self.places.items():
            if file not in self._arms:
                self._arms[file] = list(_arms(file))
            for arm, function in self._arms[file]:
                if function is None or _within(places, function):
                    yield arm

    def has(self, arm: Arm) -> bool:
        """Return whether an arm has run."""
        return _within(self.places.get(arm.file, set()), arm)

    def missing(self) -> list[Arm]:
        """Return the arms that have not run."""
        return [arm for arm in self.arms() if not self.has(arm)]


def _within(places: Iterable[Place], arm: Arm) -> bool:
    return any(arm.start <= p < arm.end for p in places)


def _arms(file: str) -> Iterator[tuple[Arm, Arm | None]]:
    """Yield the arms of a file, each with the function that it stands in."""
    text = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return

    def visit(node: ast.AST, function: Arm | None) -> Iterator[tuple[Arm, Arm | None]]:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            body = node.body
            function = _arm(file, [*body] if isinstance(body, list) else [body])
        for part in _sides(node):
            if not _harmless(part):
                yield _arm(file, part), function
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    yield from visit(tree, None)


def _sides(node: ast.AST) -> Iterator[list[ast.AST]]:
    if isinstance(node, ast.If | ast.For | ast.While):
        yield list(node.body)
        if node.orelse:
            yield list(node.orelse)
    elif isinstance(node, ast.IfExp):
        yield [node.body]
        yield [node.orelse]
    elif isinstance(node, ast.BoolOp):
        for value in node.values[1:]:
            yield [value]
    elif isinstance(node, ast.Try):
        for handler in node.handlers:
            yield list(handler.body)
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield list(case.body)


def _harmless(part: list[ast.AST]) -> bool:
    """Return whether an arm computes nothing: it raises, or is empty."""
    if isinstance(part[-1], ast.Raise):
        return True
    return all(
        isinstance(s, ast.Pass | ast.Continue | ast.Constant)
        or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in part
    )


def _arm(file: str, part: list[ast.AST]) -> Arm:
    first, last = part[0], part[-1]
    start = (getattr(first, "lineno", 0), getattr(first, "col_offset", 0))
    end = (getattr(last, "end_lineno", 0), getattr(last, "end_col_offset", 0))
    return Arm(file, start, end)
