"""The generated source with a probe in every expression of its backward part.

A probe notes what an expression gives and can put something else in its place; so one
can ask which single value, put right, makes the whole gradient right.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .loaded import Loaded, code_holder

__all__ = ["Probed", "Reading"]

PROBE = "_symback_probe"

PLACE = re.compile(r"#\s*([\w.\-]+\.\w+|<[^>]+>):(\d+)")
"""The comment that names the user's line."""


@dataclass(frozen=True)
class Reading:
    """One value of one expression: its number, how often it had run, what it gave."""

    probe: int
    count: int
    value: Any


class _Insert(ast.NodeTransformer):
    """Wraps expressions from a line on."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.lines: list[int] = []
        self.texts: list[str] = []

    def probe(self, node: ast.expr, line: int, text: str) -> ast.expr:
        self.lines.append(line)
        self.texts.append(text)
        name = ast.Name(PROBE, ast.Load())
        number = ast.Constant(len(self.lines) - 1)
        return ast.Call(name, [number, node], [])

    def wrapped(self, node: ast.expr) -> ast.expr:
        line = node.lineno
        text = ast.unparse(node)
        inner = self.generic_visit(node)
        assert isinstance(inner, ast.expr)
        if line < self.first_line:
            return inner
        return self.probe(inner, line, text)

    visit_BinOp = visit_UnaryOp = wrapped  # noqa: N815 - ast's names

    def visit_Call(self, node: ast.Call) -> ast.expr:
        line, text = node.lineno, ast.unparse(node)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
            node.func.value = self.visit(node.func.value)
        if line < self.first_line:
            return node
        return self.probe(node, line, text)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            node.slice = self.visit(node.slice)
            return node
        return self.wrapped(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "T" and isinstance(node.ctx, ast.Load):
            return self.wrapped(node)
        inner = self.generic_visit(node)
        assert isinstance(inner, ast.expr)
        return inner

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.value, ast.Name) and node.lineno >= self.first_line:
            line, text = node.lineno, ast.unparse(node)
            node.value = self.probe(node.value, line, text)
            node.targets = [self.visit(t) for t in node.targets]
            return node
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        line, text = node.lineno, ast.unparse(node)
        target = node.target
        self.generic_visit(node)
        while isinstance(target, ast.Subscript):
            target = target.value  # type: ignore[assignment] # an expression
        if line < self.first_line or not isinstance(target, ast.Name):
            return node
        again = self.probe(ast.Name(target.id, ast.Load()), line, text)
        return [node, ast.Assign([ast.Name(target.id, ast.Store())], again)]

    def visit_Return(self, node: ast.Return) -> Any:
        if isinstance(node.value, ast.Tuple):
            value, gradient = node.value.elts
            node.value.elts = [value, self._results(gradient)]
        return node

    def _results(self, node: ast.expr) -> ast.expr:
        if isinstance(node, (ast.Tuple, ast.List)):
            node.elts = [self._results(e) for e in node.elts]
            return node
        if isinstance(node, (ast.Name, ast.Constant)):
            return self.probe(node, node.lineno, ast.unparse(node))
        visited = self.visit(node)
        assert isinstance(visited, ast.expr)
        return visited


def _is_module(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "math", "scipy")


def _backward_line(source: str) -> int:
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() == "# backward":
            return number
    return 1


def user_lines(source: str) -> dict[int, int]:
    """Return the user's line that each emitted line stands for, by its comment.

    Lines without a comment belong to the one above.
    """
    found: dict[int, int] = {}
    current = 0
    for number, line in enumerate(source.splitlines(), 1):
        match = PLACE.search(line)
        if match:
            current = int(match.group(2))
        if current:
            found[number] = current
    return found


class Probed:
    """A judged function with probes.

    file : where the lines of a given one are; "" for a generated text.
    """

    def __init__(self, loaded: Loaded) -> None:
        source, name = loaded.source, loaded.name
        if loaded.given:
            source = textwrap.dedent(source)
        tree = ast.parse(source)
        insert = _Insert(_backward_line(source))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                node.decorator_list = []
                insert.generic_visit(node)
        ast.fix_missing_locations(tree)
        self.file = loaded.file if loaded.given else ""
        self.first = loaded.first
        self.lines = insert.lines
        self.texts = insert.texts
        self.places = user_lines(source)
        self.source = source.splitlines()
        self.readings: list[Reading] = []
        self._counts: dict[int, int] = {}
        self._put: Mapping[int, Sequence[Any]] = {}
        namespace: dict[str, Any] = {"__name__": "symback_probed"}
        held = code_holder(loaded.function) if loaded.given else None
        if held is not None:
            namespace = dict(held.__globals__)
            with contextlib.suppress(ValueError):  # a name that is not yet assigned
                namespace |= inspect.getclosurevars(held).nonlocals
        namespace[PROBE] = self._probe
        exec(compile(tree, "<probed>", "exec"), namespace)
        made = namespace[name]
        if held is not None:
            made.__defaults__, made.__kwdefaults__ = (
                held.__defaults__,
                held.__kwdefaults__,
            )
            if isinstance(loaded.function, types.MethodType):
                made = types.MethodType(made, loaded.function.__self__)
        self.function: Callable[..., Any] = made

    def line(self, number: int) -> tuple[str, int]:
        """Return the text of a line, and its number in the file that it is from."""
        return self.source[number - 1].strip(), number + self.first - 1

    def _probe(self, number: int, value: Any) -> Any:
        real = isinstance(value, (float, np.floating)) or (
            isinstance(value, np.ndarray) and value.dtype.kind == "f"
        )
        if not real:
            return value
        count = self._counts.get(number, 0)
        self._counts[number] = count + 1
        put = self._put.get(number)
        if put is not None and count < len(put):
            value = self._replaced(value, put[count])
        self.readings.append(Reading(number, count, np.array(value)))
        return value

    def _replaced(self, value: Any, new: Any) -> Any:
        if isinstance(value, np.ndarray):
            return np.array(new, dtype=value.dtype).reshape(value.shape)
        return type(value)(new)

    def run(
        self,
        call: Callable[[Callable[..., Any]], Any],
        put: Mapping[int, Sequence[Any]] | None = None,
    ) -> Any:
        """Run with some readings replaced; returns the gradient.

        call : calls a function with the arguments of the generated one.
        """
        self.readings, self._counts, self._put = [], {}, put or {}
        with np.errstate(all="ignore"):
            return call(self.function)[1]
