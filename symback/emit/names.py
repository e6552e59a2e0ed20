"""Names: the user's own wherever possible, the same on every run, never colliding."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Iterator

from ..graph import Graph
from .liveness import Classes
from .tree import (
    Break,
    Do,
    For,
    If,
    Move,
    Names,
    Return,
    Set,
    Statement,
    While,
    walk,
)

__all__ = ["name_everything"]


def name_everything(
    graph: Graph, statements: list[Statement], names: Names, classes: Classes
) -> tuple[list[str], str]:
    """Fill in every name; return import lines, and a name for what nobody reads.

    Variables with one name that are not needed at the same time share it; others get a
    number.  A parameter keeps its name even where it is that of a module or a builtin:
    then the module gets another one.
    """
    parameters = [p.name for p in graph.params]
    outer = sorted(set(names.globals.values()))
    imports, spelled = _imports(outer, set(parameters))
    outside = {n.split(".")[0] for n in spelled.values()}
    wanted = {v.name for v in classes.variables if v.name is not None and v.rank >= 0}
    blank = "_"
    while blank in wanted or blank in parameters:
        blank += "_"
    taken = set(keyword.kwlist) | outside
    given: dict[int, str] = {}
    # For each name, all variables that have it and all that are alive when one is set.
    members: dict[str, int] = {}
    alive: dict[str, int] = {}

    def fits(name: str, number: int) -> bool:
        return name not in taken and not (
            alive.get(name, 0) & classes.members[number]
            or members.get(name, 0) & classes.alive[number]
        )

    # The names of one base with a number, as far as they have been tried.
    series: dict[str, list[str]] = {}

    def give(name: str, number: int) -> None:
        given[number] = name
        members[name] = members.get(name, 0) | classes.members[number]
        alive[name] = alive.get(name, 0) | classes.alive[number]

    for number, name in enumerate(parameters):
        give(name, classes.find(number))
    counter = 0
    for number in map(classes.find, _order(statements, names)):
        if number in given:
            continue
        variable = classes.variables[number]
        if variable.rank < 0:
            given[number] = blank
            continue
        base = variable.name
        if variable.like is not None:
            like = given.get(classes.find(variable.like))
            same = like is not None and (base is None or like.startswith(f"{base}_"))
            if like is not None and same and fits(like, number):
                give(like, number)
                continue
        if base is None:
            counter += 1
            while f"t{counter}" in wanted | taken | set(parameters):
                counter += 1
            give(f"t{counter}", number)
            continue
        tried = series.setdefault(base, [base])
        mine, living = classes.members[number], classes.alive[number]
        for name in tried:
            # What `fits` asks, written out: a long series is tried for each of it.
            if alive.get(name, 0) & mine or members.get(name, 0) & living:
                continue
            if name not in taken and (name == base or name not in wanted):
                break
        else:
            name = f"{base}_{len(tried)}"
            tried.append(name)
            while not fits(name, number) or name in wanted:
                name = f"{base}_{len(tried)}"
                tried.append(name)
        give(name, number)
    for node, number in names.variables.items():
        node.id = given.get(classes.find(number), blank)
    for node, key in names.globals.items():
        node.id = spelled[key]
    if any("." in text for text in spelled.values()):
        for statement in walk(statements):
            _undot(statement)
    return imports, blank


def _undot(statement: Statement) -> None:
    """Make the dotted names in a statement's trees the attributes that they are."""
    visit = _Dotted().visit
    match statement:
        case Set() | Return():
            statement.value = visit(statement.value)
        case Move(pairs):
            for pair in pairs:
                pair.value = None if pair.value is None else visit(pair.value)
        case Do():
            statement.made = visit(statement.made)
        case If() | While():
            statement.test = visit(statement.test)
        case For():
            statement.iter = visit(statement.iter)
        case Break():
            statement.test = None if statement.test is None else visit(statement.test)


def _order(statements: Iterable[Statement], names: Names) -> Iterator[int]:
    """Yield variables in the order in which the text first mentions them."""
    for statement in statements:
        match statement:
            case Set(targets, value):
                yield from _mentioned(value, names)
                yield from (t for t in targets if t is not None)
            case Move(pairs):
                for pair in pairs:
                    yield from _mentioned(pair.value, names)
                    yield pair.target
            case Do(made):
                yield from _mentioned(made, names)
            case If(test, then, orelse):
                yield from _mentioned(test, names)
                yield from _order(then, names)
                yield from _order(orelse, names)
            case For(_, iter, body):
                yield from _mentioned(iter, names)
                yield from statement.numbers
                yield from _order(body, names)
            case While(head, test, body):
                yield from _order(head, names)
                yield from _mentioned(test, names)
                yield from _order(body, names)
            case Break(test):
                yield from _mentioned(test, names)
            case Return(value):
                yield from _mentioned(value, names)


def _mentioned(tree: ast.AST | None, names: Names) -> Iterator[int]:
    if tree is not None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node in names.variables:
                yield names.variables[node]


def _imports(
    outer: list[str], parameters: set[str]
) -> tuple[list[str], dict[str, str]]:
    """Return import lines and how each outside thing is spelled in the text."""
    lines: list[str] = []
    spelled: dict[str, str] = {}
    helpers: list[str] = []

    def free(name: str) -> str:
        while name in parameters or keyword.iskeyword(name):
            name += "_"
        return name

    if "np|math" in outer:
        outer = sorted({*outer, "np" if "np" in outer else "math"})
    for key in outer:
        root, _, rest = key.partition(".")
        if key == "np|math":
            continue
        if root == "builtins":
            if rest not in parameters:
                spelled[key] = rest
                continue
            module = free("builtins")
            spelled[key] = f"{module}.{rest}"
            line = "import builtins"
            line += f" as {module}" if module != "builtins" else ""
            if line not in lines:
                lines.append(line)
        elif root == "runtime":
            spelled[key] = free(rest)
            same = spelled[key] == rest
            helpers.append(rest if same else f"{rest} as {spelled[key]}")
        elif key == "np":
            spelled[key] = free("np")
            lines.append(f"import numpy as {spelled[key]}")
        elif root in parameters:
            spelled[key] = free(key.replace(".", "_"))
            lines.append(f"import {key} as {spelled[key]}")
        else:
            spelled[key] = key
            lines.append(f"import {key}")
    if "np|math" in outer:
        spelled["np|math"] = spelled["np" if "np" in spelled else "math"]
    plain = [line for line in lines if line.split()[1] in ("builtins", "math", "cmath")]
    others = [line for line in lines if line not in plain]
    lines = plain + [""] * bool(plain and others) + others
    if helpers:
        text = f"from symback.runtime import {', '.join(helpers)}"
        if len(text) > 88:
            inner = "".join(f"    {h},\n" for h in helpers)
            text = f"from symback.runtime import (\n{inner})"
        lines += [""] * bool(lines) + [text]
    return lines, spelled


class _Dotted(ast.NodeTransformer):
    """Replace names that were given a dotted text by attributes."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        first, *rest = node.id.split(".")
        tree: ast.expr = ast.Name(first, node.ctx)
        for part in rest:
            tree = ast.Attribute(tree, part, node.ctx)
        return tree if rest else node
