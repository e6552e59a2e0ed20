"""Composite expressions in a graph: which closed rule a node is the root of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ..graph import Arg, Node, Value
from ..operations import CLOSED, Rule
from ..operations.patterns import Constant, Pattern, Piece, patterns
from .activity import mentions
from .spelling import POWERS, SAME, spelled

__all__ = ["match_closed"]

AXIS_SECOND = frozenset(
    f"np.{n}" for n in "sum mean prod max min var std any all".split()
)
"""Functions whose second argument is the axis."""

COMMUTATIVE = frozenset({"add", "mul"})

Bound = dict[str, Arg]
"""What the names of a pattern stand for."""


def match_closed(
    node: Node, defs: Mapping[Value, Node], varied: set[Value]
) -> tuple[Rule, Bound] | None:
    """Return the first closed rule that a node is the root of, and its bound names."""
    for rule, pattern in _spelled_patterns().get(spelled(node)[0], ()):
        bound: Bound = {}
        if _fits_node(pattern, node, defs, bound) and set(bound) == set(rule.params):
            active = [p for p, arg in bound.items() if mentions(arg, varied)]
            texts = dict(zip(rule.params, rule.texts, strict=True))
            if active and all(
                texts[p] is not None and isinstance(bound[p], Value) for p in active
            ):
                return rule, bound
    return None


@lru_cache(maxsize=1)
def _spelled_patterns() -> dict[str, list[tuple[Rule, Pattern]]]:
    """Return the patterns by the operation at the root, in the first spelling."""
    found: dict[str, list[tuple[Rule, Pattern]]] = {}
    for rules in patterns().values():
        for rule, pattern in rules:
            piece = _spelled_piece(pattern)
            assert isinstance(piece, Pattern)
            found.setdefault(piece.op, []).append((rule, piece))
    order = {id(rule): k for k, rule in enumerate(CLOSED)}
    for rules in found.values():
        rules.sort(key=lambda pair: order[id(pair[0])])
    return found


def _spelled_piece(piece: Piece) -> Piece:
    """Return a pattern in the spelling that `spelled` gives nodes."""
    if not isinstance(piece, Pattern):
        return piece
    args = tuple(map(_spelled_piece, piece.args))
    keywords = tuple((name, _spelled_piece(arg)) for name, arg in piece.keywords)
    if keywords:
        return Pattern(piece.op, args, keywords)
    power = POWERS.get(piece.op)
    if power is not None:
        return Pattern("pow", (*args, Constant(power)))
    op = SAME.get(piece.op, piece.op)
    if op == "mul" and isinstance(args[0], str) and args[0] == args[1]:
        return Pattern("pow", (args[0], Constant(2)))
    return Pattern(op, args)


def _fits(piece: Piece, arg: Arg, defs: Mapping[Value, Node], bound: Bound) -> bool:
    """Say whether an argument fits a pattern, binding its names."""
    if isinstance(piece, str):
        if piece in bound:
            found = bound[piece]
            return found is arg or (
                not isinstance(arg, Value)
                and not isinstance(found, Value)
                and bool(found == arg)
            )
        bound[piece] = arg
        return True
    if isinstance(piece, Constant):
        return (
            not isinstance(arg, Value)
            and type(arg) in (int, float, bool, type(None))
            and isinstance(arg, bool) == isinstance(piece.value, bool)
            and bool(arg == piece.value)
        )
    node = defs.get(arg) if isinstance(arg, Value) else None
    return (
        node is not None
        and len(node.outs) == 1
        and _fits_node(piece, node, defs, bound)
    )


def _fits_node(
    pattern: Pattern, node: Node, defs: Mapping[Value, Node], bound: Bound
) -> bool:
    """Say whether a node fits a pattern's root and its arguments the rest."""
    op, given_args = spelled(node)
    if pattern.op != op:
        return False
    count = len(pattern.args)
    if op in COMMUTATIVE and count == len(given_args) == 2:
        for args in (given_args, given_args[::-1]):
            trial = dict(bound)
            if all(
                _fits(piece, arg, defs, trial)
                for piece, arg in zip(pattern.args, args, strict=True)
            ):
                bound.update(trial)
                return True
        return False
    given, extra = dict(node.kwargs), list(given_args[count:])
    if count + len(pattern.keywords) < len(given_args) + len(given):
        return False
    if count > len(given_args):
        return False
    for piece, arg in zip(pattern.args, given_args, strict=False):
        if not _fits(piece, arg, defs, bound):
            return False
    for name, piece in pattern.keywords:
        if extra and name == "axis" and node.op in AXIS_SECOND:
            arg = extra.pop(0)
        elif name in given:
            arg = given.pop(name)
        else:
            return False
        if not _fits(piece, arg, defs, bound):
            return False
    return not given and not extra
