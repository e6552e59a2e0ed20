"""Roots of sums of squares: lengths, however they are spelled.

A smooth value that is nowhere negative has slope 0 where it is 0, so the root's slope
there, 0 times infinity for the chain rule, has the subgradient 0: no length changes by
less than that of `np.linalg.norm` at the origin.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..graph import Arg, Node, Value
from ..operation import REQUIRED, Rule
from .activity import mentions
from .spelling import spelled

__all__ = ["match_root"]

MOVED = frozenset(
    "getitem np.reshape np.ravel np.squeeze np.expand_dims np.transpose np.asarray "
    "np.array np.copy astype builtins.float item np.float64 np.float32 np.broadcast_to "
    "np.diagonal np.diag np.moveaxis np.swapaxes np.real".split()
)
"""Operations whose result holds entries of their first argument."""

SUMMED = frozenset(
    "np.sum np.mean np.nansum np.nanmean np.cumsum np.trace builtins.sum".split()
)
PRODUCTS = frozenset("np.dot np.inner np.vdot matmul np.matmul np.vecdot".split())


def match_root(
    node: Node, defs: Mapping[Value, Node], varied: set[Value]
) -> tuple[Rule, dict[str, Arg]] | None:
    """Return the rule of a root of a sum of squares: its slope at 0 is finite."""
    op, args = spelled(node)
    if op != "pow" or not isinstance(args[1], float) or not 0 < args[1] < 1:
        return None
    if not mentions(args[0], varied) or not _is_squares(args[0], defs, 0):
        return None
    text = f"{args[1]!r} * out / safe(x)" if args[1] != 0.5 else "0.5 / safe(out)"
    rule = Rule("closed", "elementwise", ("x",), (text,), (REQUIRED,))
    return rule, {"x": args[0]}


def _is_squares(arg: Arg, defs: Mapping[Value, Node], depth: int) -> bool:
    """Say whether a value is a sum of squares: smooth, and nowhere negative."""
    node = defs.get(arg) if isinstance(arg, Value) else None
    if node is None or node.blocks or depth > 20:
        return False
    op, args = spelled(node)
    first = args[0] if args else None

    def squares(one: Arg) -> bool:
        return _is_squares(one, defs, depth + 1)

    if op == "pow":
        return isinstance(args[1], int | float) and args[1] > 0 and args[1] % 2 == 0
    if op in SUMMED | MOVED:
        return squares(first)
    if op == "add":
        return all(squares(a) or _is_positive(a) or a == 0 for a in args)
    if op == "mul":
        return all(_is_positive(a) or squares(a) for a in args)
    if op == "truediv":
        return squares(first) and (_is_positive(args[1]) or _is_count(args[1], defs))
    if op in PRODUCTS and len(args) == 2 and args[0] is args[1]:
        known = first.type if isinstance(first, Value) else None
        return op == "np.vdot" or (known is not None and known.rank == 1)
    if op == "np.einsum" and len(args) == 3 and args[1] is args[2]:
        text = args[0] if isinstance(args[0], str) else ""
        inputs = text.partition("->")[0].replace(" ", "").split(",")
        return len(inputs) == 2 and inputs[0] == inputs[1]
    return False


def _is_positive(arg: Arg) -> bool:
    return isinstance(arg, int | float) and arg > 0


def _is_count(arg: Arg, defs: Mapping[Value, Node]) -> bool:
    node = defs.get(arg) if isinstance(arg, Value) else None
    return node is not None and node.op in ("dim", "np.size", "builtins.len")
