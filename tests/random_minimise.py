"""The shortest program that still shows a fault, by taking parts away one by one."""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from tests.random_programs import Program

__all__ = ["minimised"]

BUDGET = 400
"""Programs that are tried."""


def minimised(program: Program, still: Callable[[Program], bool]) -> Program:
    """Return a shorter program of which `still` says that it shows the same fault."""
    best, tried = program, 0
    going = True
    while going:
        going = False
        for smaller in shorter(best):
            tried += 1
            if tried > BUDGET:
                return best
            if still(smaller):
                best, going = smaller, True
                break
    return best


def shorter(program: Program) -> Iterator[Program]:
    """Yield programs with a part less, the largest parts first."""
    tree = ast.parse(program.text)
    where = next(
        k
        for k, n in enumerate(tree.body)
        if isinstance(n, ast.FunctionDef) and n.name == "loss"
    )
    for changed in smaller_bodies(tree.body[where]):
        new = copy.copy(tree)
        new.body = [*tree.body[:where], changed, *tree.body[where + 1 :]]
        head = program.text[: program.text.index("def loss(")]
        text = head + ast.unparse(ast.fix_missing_locations(changed)) + "\n"
        yield dataclasses.replace(program, text=text)


def smaller_bodies(function: Any) -> Iterator[Any]:
    """Yield the function without a statement, or with one in a simpler form."""
    yield from simpler_expressions(function, function.body[-1:])
    count = sum(1 for _ in holders(function))
    for number in range(count):
        length = len(list(holders(function))[number])
        for place in reversed(range(length)):
            for inner in (False, True):
                made = copy.deepcopy(function)
                body = list(holders(made))[number]
                gone = body.pop(place)
                if inner:
                    inside = getattr(gone, "body", None)
                    if not isinstance(inside, list):
                        continue
                    body[place:place] = inside
                elif not body:
                    continue
                yield made
    yield from simpler_expressions(function, function.body)


def simpler_expressions(function: Any, statements: list[Any]) -> Iterator[Any]:
    """Yield the function with an expression of some statements in a simpler form."""
    first = len(function.body) - len(statements)
    within = list(expressions(ast.Module(statements, [])))
    for number, (_, _, value) in enumerate(within):
        for option in range(len(simpler(value))):
            made = copy.deepcopy(function)
            there = ast.Module(made.body[first:], [])
            node, field, old = list(expressions(there))[number]
            set_field(node, field, simpler(old)[option])
            yield made


def holders(function: Any) -> Iterator[list[Any]]:
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body


def expressions(function: Any) -> Iterator[tuple[Any, Any, Any]]:
    for node in ast.walk(function):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.BinOp | ast.Call | ast.IfExp | ast.UnaryOp):
                yield node, (name, None), value
            elif isinstance(value, list):
                for k, item in enumerate(value):
                    if isinstance(item, ast.BinOp | ast.Call | ast.IfExp):
                        yield node, (name, k), item


def set_field(node: Any, field: tuple[str, int | None], value: Any) -> None:
    name, number = field
    if number is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[number] = value


def simpler(value: Any) -> list[Any]:
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.Call):
        return list(value.args)
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    return [value.operand]
