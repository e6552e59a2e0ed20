"""Composite expressions in a graph: which closed rule a node is the root of."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from ..graph import Node, Value, leaves
from ..operations import CLOSED, Rule
from ..operations.registry import OPERATORS

__all__ = ["match_closed"]

AXIS_SECOND = frozenset(
    f"np.{n}" for n in "sum mean prod max min var std any all".split()
)
"""Functions whose second argument is the axis."""

COMMUTATIVE = frozenset({"add", "mul"})

SAME = {"np.square": "np.square", "np.absolute": "np.abs", "builtins.abs": "np.abs"}


@lru_cache(maxsize=1)
def _patterns() -> dict[str, list[tuple[Rule, ast.expr]]]:
    """Return the patterns by the operation at their root."""
    found: dict[str, list[tuple[Rule, ast.expr]]] = {}
    for rule in CLOSED:
        tree = ast.parse(rule.call, mode="eval").body
        found.setdefault(_root(tree), []).append((rule, tree))
    return found


def _root(tree: ast.expr) -> str:
    if isinstance(tree, ast.Call):
        return ast.unparse(tree.func)
    if isinstance(tree, ast.BinOp):
        return OPERATORS[type(tree.op).__name__]
    if isinstance(tree, ast.UnaryOp):
        return OPERATORS[type(tree.op).__name__]
    return ""


def match_closed(
    node: Node, defs: dict[Value, Node], varied: set[Value]
) -> tuple[Rule, dict[str, Any]] | None:
    """Return the first closed rule that a node is the root of, and its bound names."""
    for rule, tree in _patterns().get(node.op, ()):
        bound: dict[str, Any] = {}
        if _fits_node(tree, node, defs, bound) and set(bound) == set(rule.params):
            active = [
                p
                for p, arg in bound.items()
                if any(isinstance(a, Value) and a in varied for a in leaves(arg))
            ]
            texts = dict(zip(rule.params, rule.texts, strict=True))
            if active and all(
                texts[p] is not None and isinstance(bound[p], Value) for p in active
            ):
                return rule, bound
    return None


def _fits(
    tree: ast.expr, arg: Any, defs: dict[Value, Node], bound: dict[str, Any]
) -> bool:
    """Say whether an argument fits a pattern, binding its names."""
    if isinstance(tree, ast.Name):
        if tree.id in bound:
            found = bound[tree.id]
            return found is arg or (
                not isinstance(arg, Value)
                and not isinstance(found, Value)
                and found == arg
            )
        bound[tree.id] = arg
        return True
    if isinstance(tree, ast.Constant):
        return (
            not isinstance(arg, Value)
            and type(arg) in (int, float, bool, type(None))
            and isinstance(arg, bool) == isinstance(tree.value, bool)
            and bool(arg == tree.value)
        )
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.operand, ast.Constant):
        return not isinstance(arg, Value) and bool(arg == -tree.operand.value)  # type: ignore[operator]  # numbers
    if not isinstance(arg, Value):
        return False
    node = defs.get(arg)
    return (
        node is not None and len(node.outs) == 1 and _fits_node(tree, node, defs, bound)
    )


def _fits_node(
    tree: ast.expr, node: Node, defs: dict[Value, Node], bound: dict[str, Any]
) -> bool:
    """Say whether a node fits a pattern's root and its arguments the rest."""
    if _root(tree) != SAME.get(node.op, node.op):
        return False
    if isinstance(tree, ast.UnaryOp):
        return len(node.args) == 1 and _fits(tree.operand, node.args[0], defs, bound)
    if isinstance(tree, ast.BinOp):
        orders = [(0, 1), (1, 0)] if node.op in COMMUTATIVE else [(0, 1)]
        for first, second in orders:
            trial = dict(bound)
            if _fits(tree.left, node.args[first], defs, trial) and _fits(
                tree.right, node.args[second], defs, trial
            ):
                bound.update(trial)
                return True
        return False
    assert isinstance(tree, ast.Call)
    if len(tree.args) + len(tree.keywords) < len(node.args) + len(node.kwargs):
        return False
    given = dict(node.kwargs)
    if len(tree.args) > len(node.args):
        return False
    extra = list(node.args[len(tree.args) :])
    for pattern, arg in zip(tree.args, node.args, strict=False):
        if not _fits(pattern, arg, defs, bound):
            return False
    for keyword in tree.keywords:
        name = str(keyword.arg)
        if extra and name == "axis" and node.op in AXIS_SECOND:
            arg = extra.pop(0)
        elif name in given:
            arg = given.pop(name)
        else:
            return False
        if not _fits(keyword.value, arg, defs, bound):
            return False
    return not given and not extra
