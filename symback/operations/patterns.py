"""The patterns of composite expressions, taken apart once.

>>> pattern("np.sqrt(x ** 2)")
Pattern(op='np.sqrt', args=(Pattern(op='pow', args=('x', Constant(value=2))),))
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache

from .registry import CLOSED, OPERATORS, Rule

__all__ = ["Constant", "Pattern", "Piece", "pattern", "patterns"]


@dataclass(frozen=True)
class Constant:
    """A number, a truth value or None."""

    value: float | int | bool | None


@dataclass(frozen=True)
class Pattern:
    """An operation whose arguments fit pieces: a name fits anything."""

    op: str
    args: tuple[Piece, ...]
    keywords: tuple[tuple[str, Piece], ...] = field(default=(), repr=False)


Piece = Pattern | Constant | str


def pattern(text: str) -> Piece:
    """Return the pattern that a text is."""
    return _piece(ast.parse(text, mode="eval").body)


def _piece(tree: ast.expr) -> Piece:
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Constant) and not isinstance(tree.value, (str, bytes)):
        value = tree.value
        assert value is None or isinstance(value, (int, float))
        return Constant(value)
    if isinstance(tree, ast.UnaryOp):
        inner = _piece(tree.operand)
        if isinstance(inner, Constant) and isinstance(tree.op, ast.USub):
            assert inner.value is not None
            return Constant(-inner.value)
        return Pattern(OPERATORS[type(tree.op).__name__], (inner,))
    if isinstance(tree, ast.BinOp):
        sides = (_piece(tree.left), _piece(tree.right))
        return Pattern(OPERATORS[type(tree.op).__name__], sides)
    assert isinstance(tree, ast.Call)
    keywords = tuple((str(k.arg), _piece(k.value)) for k in tree.keywords)
    return Pattern(ast.unparse(tree.func), tuple(map(_piece, tree.args)), keywords)


@lru_cache(maxsize=1)
def patterns() -> dict[str, list[tuple[Rule, Pattern]]]:
    """Return the closed rules and their patterns by the operation at the root."""
    found: dict[str, list[tuple[Rule, Pattern]]] = {}
    for rule in CLOSED:
        tree = pattern(rule.call)
        assert isinstance(tree, Pattern)
        found.setdefault(tree.op, []).append((rule, tree))
    return found
