"""Whether a program holds constants that were rounded to float64.

Two gradients that differ by 1e-16 may differ because one holds √2 and the other
1.4142135623730951; or because one is wrong by a little.  The first is only believed
where such a constant can be seen.

>>> rounds_constants("def g(x):\\n    return 0.3989422804014327 * x", set())
True
>>> rounds_constants("def g(x):\\n    return 0.5 * x", set())
False
"""

from __future__ import annotations

import ast
from fractions import Fraction
from types import CodeType
from typing import Any

__all__ = ["code_rounds", "constants_of", "rounds_constants"]

SIMPLE = 2**20
"""Floats with a denominator up to this are taken for exact: 0.5, 0.375, 3.0."""

USUAL = {0.0, 1.0, 2.0, 0.5, 3.0, 4.0}
"""What derivatives bring with them, whatever the function's constants."""


def constants_of(code: CodeType) -> set[float]:
    """Return the floats in a function's code, nested functions included."""
    found: set[float] = set()
    for c in code.co_consts:
        if isinstance(c, float):
            found.add(c)
        elif isinstance(c, CodeType):
            found |= constants_of(c)
        elif isinstance(c, tuple):
            found |= {i for i in c if isinstance(i, float)}
    return found


def code_rounds(function: Any, known: set[float]) -> bool:
    """Return whether a function's own code, or what is known, holds inexact floats.

    (1 / 3) * x and x / 3 are one gradient to whoever writes it.
    """
    code = getattr(function, "__code__", None)
    own = set() if code is None else constants_of(code)
    return any(not _simple(x) for x in own | known)


def rounds_constants(source: str, known: set[float]) -> bool:
    """Return whether the source holds an inexact float that is not among the known.

    A quotient of plain numbers, rounded when the program runs, counts too.
    """
    tree = ast.parse(source)
    counters = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
    inexact = any(not _simple(x) for x in known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            new = node.value not in known and node.value not in USUAL
            # 10.0 is new and simple, but may be what 1 / 0.1 was rounded to.
            if new and (inexact or not _simple(node.value)):
                return True
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Pow)):
            if all(_plain(side, counters) for side in (node.left, node.right)):
                return True
    return False


def _simple(x: float) -> bool:
    if x != x or x in (float("inf"), float("-inf")):
        return True
    return Fraction(x).denominator <= SIMPLE


def _plain(node: Any, counters: set[str]) -> bool:
    """Return whether an expression is made of literals and loop counters alone."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, ast.Name):
        return node.id in counters
    if isinstance(node, ast.BinOp):
        return _plain(node.left, counters) and _plain(node.right, counters)
    if isinstance(node, ast.UnaryOp):
        return _plain(node.operand, counters)
    return False
