"""Applying a rule: from the graph of a partial or a pullback to nodes.

The rule's graph is inlined, and what is never a rule's is added: multiplying by the
cotangent, summing over broadcast axes, masking.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..errors import MissingRuleError
from ..graph import Arg, Node, Value
from ..operation import Rule, Text
from ..operations import REGISTRY
from .activity import mentions
from .context import Context, Cots
from .cotangents import Cotangent, Mask

__all__ = ["SINGULAR", "apply", "no_rule", "rule_of", "spoken"]

ALIASES = {
    "np.add": "add",
    "np.subtract": "sub",
    "np.multiply": "mul",
    "np.divide": "truediv",
    "np.true_divide": "truediv",
    "np.power": "pow",
    "np.negative": "neg",
    "np.positive": "pos",
    "np.matmul": "matmul",
    "np.absolute": "np.abs",
    "builtins.abs": "np.abs",
}
"""Operations that share another's rule."""

SINGULAR = (
    "truediv",
    "pow",
    "np.log",
    "np.sqrt",
    "np.arccos",
    "np.arcsin",
    "np.arctan2",
    "np.power",
    "np.divide",
    "np.reciprocal",
    "np.linalg.norm",
    "math.log",
    "math.sqrt",
    "np.log1p",
    "np.log2",
    "np.log10",
    "np.hypot",
    "np.cbrt",
)
"""Operations that can give an infinite value or slope at a finite point."""


SMALL = frozenset("int8 int16 int32 uint8 uint16 uint32 uint64".split())
"""Integers of which sums, squares and differences may wrap."""

CHOOSING = ("np.where", "np.select", "np.choose", "np.nan_to_num")
"""Operations that look at each entry of one argument only: the others hold anything."""


def rule_of(node: Node) -> Rule | None:
    """Return the rule of a node's operation."""
    return node.op.rule or REGISTRY.get(ALIASES.get(node.op, ""))


def no_rule(node: Node) -> MissingRuleError:
    """Return the error for an operation without a rule on an active path."""
    name = spoken(node.op)
    near = difflib.get_close_matches(node.op, REGISTRY, 1, 0.85)
    hint = (
        "write it with functions that have rules, or compute it outside and pass "
        "the result as an argument."
    )
    if near:
        hint = f"the nearest operation with a rule is `{spoken(near[0])}`; {hint}"
    return MissingRuleError(
        f"`{name}` has no derivative rule and lies on the path from the parameters "
        "to the loss",
        node.span,
        hint,
    )


def apply(
    context: Context,
    rule: Rule,
    bound: Mapping[str, Arg],
    node: Node,
    outs: Cots,
    cots: Cots,
) -> None:
    """Add a rule's contributions to the cotangents of the active arguments."""
    active = [p for p in rule.params if mentions(bound[p], context.varied)]
    names = _names(context, rule, bound, node, outs)
    texts = dict(zip(rule.params, rule.texts, strict=True))
    tie = bool(rule.tie) and len(active) > 1
    if tie:
        texts.update(zip(rule.params, rule.tie, strict=False))
    for param in active:
        text = texts[param]
        if text is None:
            if rule.kind == "zero":
                continue
            raise MissingRuleError(
                f"`{spoken(node.op)}` has no derivative by `{param.lstrip('*')}`",
                node.span,
                "keep this argument constant.",
            )
        if rule.kind == "elementwise" and text not in rule.params:
            result = _evaluated(context, text, _floats(context, names, node), node)
        else:
            result = _evaluated(context, text, names, node)
        if rule.kind == "pullback":
            _distribute(context, bound[param], result, cots, node)
            continue
        primal = bound[param]
        assert isinstance(primal, Value)
        _elementwise(context, rule, outs[node.out], primal, result, tie, cots, node)


def _names(
    context: Context, rule: Rule, bound: Mapping[str, Arg], node: Node, outs: Cots
) -> dict[str, Arg]:
    """Return what the names in a rule's texts stand for."""
    bars = context.bars
    names: dict[str, Arg] = {p.lstrip("*"): a for p, a in bound.items()}
    many = rule.outs[0].startswith("*")
    if many:
        names[rule.outs[0][1:]] = node.outs
    names.update(zip(rule.outs, node.outs, strict=False))
    if rule.kind == "pullback" and many:
        names[f"{rule.outs[0][1:]}_bar"] = tuple(
            bars.zeros(out) if out not in outs else bars.final(out, outs[out])
            for out in node.outs
        )
    elif rule.kind == "pullback":
        for title, out in zip(rule.outs, node.outs, strict=False):
            # None: the loss does not read this one of several outputs.
            final = bars.final(out, outs[out]) if out in outs else None
            names[f"{title}_bar"] = final
    return names


def _floats(context: Context, names: dict[str, Arg], node: Node) -> dict[str, Arg]:
    """Return names whose small integers are floats: a slope must not wrap.

    NumPy computes ``k**2`` of a `uint8` in `uint8`.
    """
    out = node.outs[0].type
    if node.op.startswith("scipy.") or out is None or not out.dtype.startswith("float"):
        return names
    found = dict(names)
    for name, arg in names.items():
        known = arg.type if isinstance(arg, Value) else None
        if known is not None and known.dtype in SMALL:
            dtype = np.dtype(out.dtype).type
            found[name] = context.build.emit("astype", arg, dtype)
    return found


def _evaluated(
    context: Context, text: Text, names: Mapping[str, Arg], node: Node
) -> Arg:
    """Inline the graph of a rule's text and return its result."""
    fragment, given = context.rules.fragment(text, names, node.span)
    return context.build.inline(fragment, given)


def _elementwise(
    context: Context,
    rule: Rule,
    cot: Cotangent,
    primal: Value,
    partial: Arg,
    tie: bool,
    cots: Cots,
    node: Node,
) -> None:
    """Multiply by a partial, or mark by a mask, and unbroadcast."""
    bars, out = context.bars, node.out
    if cot.place is not None:
        cot = Cotangent(bars.final(out, cot), cot.mask)
    if isinstance(partial, int | float) and partial == 0:
        return
    if rule.kind == "select" and not tie:
        choose = _masked if node.op in CHOOSING else _kept
        made = choose(context, cot, partial)
    else:
        value = bars.times(cot.value, partial)
        state = cot.state
        linear = not isinstance(partial, Value)
        if cot.mask is not None and not linear:
            if _dangerous(context, cot.mask, rule, node):
                state = "dirty"
        risky = cot.risky or (not linear and _singular(rule, node))
        made = Cotangent(value, cot.mask, state, None, cot.thick, risky)
    if _stretches(context, node, primal):
        if not bars.known(made.value, primal) and primal.type is None:
            context.accumulate(primal, replace(made, thick=True), cots)
            return
        value = bars.clean(made)
        if bars.known(value, out) and not context.build.same_shape(value, out):
            value = bars.widen(value, out)
        made = Cotangent(bars.unbroadcast(value, primal))
    context.accumulate(primal, made, cots)


def _dangerous(context: Context, mask: Mask, rule: Rule, node: Node) -> bool:
    """Say whether a partial may turn the zeros of unused entries into NaN."""
    if mask.strong:
        return True
    return _singular(rule, node) or any(v in context.risky for v in node.inputs)


def _singular(rule: Rule, node: Node) -> bool:
    """Say whether an operation's slope may be infinite at a finite point."""
    if node.op in ("pow", "np.power") and isinstance(node.args[1], int):
        return node.args[1] < 1
    if node.op == "truediv" and not isinstance(node.args[1], Value):
        return False
    return rule.singular or node.op in SINGULAR


def _stretches(context: Context, node: Node, primal: Value) -> bool:
    """Say whether an argument may have been broadcast."""
    out = node.out
    if primal.type is not None and out.type is not None:
        return primal.type.dims != out.type.dims or "?" in out.type.dims
    return not _alone(context, node, primal)


def _alone(context: Context, node: Node, primal: Value) -> bool:
    """Say whether a value is all that a node is computed from, entry by entry.

    A closed rule's argument may stand several nodes above: ``np.exp(x - c)`` has the
    exponent x, and c may be larger.
    """
    todo, seen = [node], {node}
    while todo:
        inputs = set(todo.pop().inputs)
        if len(inputs) != 1:
            return False
        (value,) = inputs
        if value is primal:
            continue
        made = context.build.defs.get(value)
        if made is None or made in seen:
            return False
        rule = rule_of(made)
        if rule is None or rule.kind not in ("elementwise", "select"):
            return False
        seen.add(made)
        todo.append(made)
    return True


def _kept(context: Context, cot: Cotangent, partial: Arg) -> Cotangent:
    """Multiply by a mask; where it is False the partials may be anything."""
    if isinstance(partial, bool | int) and partial:
        return cot
    if cot.risky and cot.mask is None:
        # Zero times infinity is no number: choose instead of multiplying.
        mask = Mask(lambda: partial, False, partial)
        return Cotangent(cot.value, mask, "dirty", None, cot.thick, True)
    value = context.build.emit("mul", cot.value, partial)
    if cot.mask is not None:
        return Cotangent(value, cot.mask, cot.state, None, cot.thick)
    return Cotangent(
        value, Mask(lambda: partial, False, partial), "clean", None, cot.thick
    )


def _masked(context: Context, cot: Cotangent, partial: Arg) -> Cotangent:
    """Pass a cotangent on to the entries of a mask only."""
    if isinstance(partial, bool | int) and partial:
        return cot
    inner = cot.mask
    if cot.state == "clean" or inner is None:
        mask = Mask(lambda: partial, True, partial)
        return Cotangent(cot.value, mask, "raw", None, cot.thick)
    build = context.build
    both = Mask(lambda: build.emit("and_", inner.make(), partial), True)
    return Cotangent(cot.value, both, cot.state, None, cot.thick)


def _distribute(
    context: Context, arg: Arg, result: Arg, cots: Cots, node: Node
) -> None:
    """Give a pullback's result to the values of its argument."""
    build = context.build
    if isinstance(arg, Value):
        value = result
        made = build.defs.get(value) if isinstance(value, Value) else None
        if (
            made is not None
            and made.op == "np.broadcast_to"
            and build.name_of(made.out) is None
            and arg.type is not None
            and build.type_of(made.args[0]) is not None
        ):
            value = made.args[0]
        context.accumulate(arg, Cotangent(value, _taken(context, arg, node)), cots)
        return
    if isinstance(result, list | tuple) and isinstance(arg, list | tuple):
        for inner, item in zip(arg, result, strict=False):
            if mentions(inner, context.varied):
                _distribute(context, inner, item, cots, node)
        return
    raise MissingRuleError(
        f"`{spoken(node.op)}` cannot be differentiated by this argument", node.span
    )


def _taken(context: Context, arg: Value, node: Node) -> Mask | None:
    """Return the mask of the entries that a reduction takes, if not all."""
    build = context.build
    where = node.kwargs.get("where", True)
    if where is not True and node.args and node.args[0] is arg:
        return Mask(lambda: where)
    if node.op.startswith("np.nan") and node.args and node.args[0] is arg:
        return Mask(lambda: build.emit("invert", build.emit("np.isnan", arg)))
    return None


def spoken(op: str) -> str:
    """Return an operation's name as the user writes it."""
    return op.removeprefix("builtins.")
