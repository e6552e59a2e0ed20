"""Applying a rule: from the text of a partial or a pullback to nodes.

The rule's text is lowered with its names bound, and what is never a rule's is added:
multiplying by the cotangent, summing over broadcast axes, masking.
"""

from __future__ import annotations

import ast
import difflib
import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from .. import runtime
from ..errors import MissingRuleError
from ..graph import Arg, Node, Value, leaves
from ..lower.abstract import Known, ListRef, RunList, Tup
from ..operations import REGISTRY, Rule, helpers
from .activity import mentions
from .cotangents import Cotangent, Mask
from .loops import Loops

__all__ = ["SINGULAR", "Applying", "spoken"]

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


CHOOSING = ("np.where", "np.select", "np.choose")
"""Operations that look at each entry of one argument only: the others hold anything."""


RULE_NAMES: dict[str, Any] = {
    **{name: getattr(helpers, name) for name in helpers.__all__},
    "np": np,
    "math": math,
    "runtime": runtime,
}
"""The names that rule texts may use; the lowering knows SciPy's."""


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.expr:
    """Return a rule's text as a tree."""
    return ast.parse(text, mode="eval").body


class Applying(Loops):
    """Apply the rule of a node to the cotangents of its outputs."""

    risky: set[Value]

    def rule_of(self, node: Node) -> Rule | None:
        """Return the rule of a node's operation."""
        found = REGISTRY.get(node.op)
        if found is None and node.op in ALIASES:
            found = REGISTRY.get(ALIASES[node.op])
        return found

    def no_rule(self, node: Node) -> MissingRuleError:
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

    # Applying a rule

    def apply(
        self,
        rule: Rule,
        bound: dict[str, Any],
        node: Node,
        outs: dict[Value, Cotangent],
        cots: dict[Value, Cotangent],
    ) -> None:
        """Add a rule's contributions to the cotangents of the active arguments."""
        active = [p for p in rule.params if mentions(bound[p], self.varied)]
        names: dict[str, Any] = {
            p.lstrip("*"): self.abstract(a) for p, a in bound.items()
        }
        single = len(node.outs) == 1
        many = rule.outs[0].startswith("*")
        if many:
            names[rule.outs[0][1:]] = Tup(tuple(map(self.abstract, node.outs)))
        for title, out in zip(rule.outs, node.outs, strict=False):
            names[title] = self.abstract(out)
        texts = dict(zip(rule.params, rule.texts, strict=True))
        if rule.tie and len(active) > 1:
            texts.update(zip(rule.params, rule.tie, strict=False))
        if rule.kind == "pullback" and many:
            finals = [
                self.zeros(out) if out not in outs else self.final(out, outs[out])
                for out in node.outs
            ]
            names[f"{rule.outs[0][1:]}_bar"] = Tup(tuple(map(self.abstract, finals)))
        elif rule.kind == "pullback":
            for title, out in zip(rule.outs, node.outs, strict=False):
                # None: the loss does not read this one of several outputs.
                final = self.final(out, outs[out]) if out in outs else None
                names[f"{title}_bar"] = self.abstract(final)
        for param in active:
            text = texts[param]
            if text is None:
                if rule.kind in ("zero",):
                    continue
                raise MissingRuleError(
                    f"`{spoken(node.op)}` has no derivative by `{param.lstrip('*')}`",
                    node.span,
                    "keep this argument constant.",
                )
            result = self.evaluate(text, names, node)
            if rule.kind == "pullback":
                self.distribute(bound[param], result, cots, node)
                continue
            assert single
            primal = bound[param]
            assert isinstance(primal, Value)
            out = node.outs[0]
            is_mask = rule.kind == "select" and not (rule.tie and len(active) > 1)
            self.elementwise(rule, out, outs[out], primal, result, is_mask, cots, node)

    def evaluate(self, text: Any, names: dict[str, Any], node: Node) -> Any:
        """Lower a rule's text or function and return the abstract result."""
        tree = parsed(text) if isinstance(text, str) else text
        return self.low.rule_text(tree, names, RULE_NAMES, node.span)

    def elementwise(
        self,
        rule: Rule,
        out: Value,
        cot: Cotangent,
        primal: Value,
        result: Any,
        is_mask: bool,
        cots: dict[Value, Cotangent],
        node: Node,
    ) -> None:
        """Multiply by a partial, or mark by a mask, and unbroadcast."""
        partial = self.low.operand(result)
        if cot.place is not None:
            cot = Cotangent(self.final(out, cot), cot.mask)
        if is_mask and node.op in CHOOSING:
            if isinstance(partial, bool | int) and not partial:
                return
            made = self.masked(cot, partial)
        elif is_mask:
            if isinstance(partial, bool | int) and not partial:
                return
            made = self.kept(cot, partial)
        else:
            if isinstance(partial, int | float) and partial == 0:
                return
            value = self.times(cot.value, partial)
            state = cot.state
            linear = not isinstance(partial, Value)
            if (
                cot.mask is not None
                and not linear
                and self.dangerous(cot.mask, rule, node)
            ):
                state = "dirty"
            risky = cot.risky or (not linear and self.singular(rule, node))
            made = Cotangent(value, cot.mask, state, None, cot.thick, risky)
        if self.stretches(node, primal, out):
            if not self.known(made.value, primal) and primal.type is None:
                made = replace(made, thick=True)
                self.accumulate(primal, made, cots)
                return
            value = self.clean(made)
            if self.thin(value, out):
                value = self.widen(value, out)
            made = Cotangent(self.unbroadcast(value, primal))
        self.accumulate(primal, made, cots)

    def thin(self, value: Arg, out: Value) -> bool:
        """Say whether a cotangent has fewer entries than its primal."""
        return self.known(value, out) and not self.same_shape(value, out)

    def dangerous(self, mask: Mask, rule: Rule, node: Node) -> bool:
        """Say whether a partial may turn the zeros of unused entries into NaN."""
        if mask.strong:
            return True
        return self.singular(rule, node) or any(v in self.risky for v in node.inputs)

    def singular(self, rule: Rule, node: Node) -> bool:
        """Say whether an operation's slope may be infinite at a finite point."""
        if node.op in ("pow", "np.power") and isinstance(node.args[1], int):
            return node.args[1] < 1
        if node.op == "truediv" and not isinstance(node.args[1], Value):
            return False
        return rule.singular or node.op in SINGULAR

    def stretches(self, node: Node, primal: Value, out: Value) -> bool:
        """Say whether an argument may have been broadcast."""
        if primal.type is not None and out.type is not None:
            return primal.type.dims != out.type.dims or "?" in out.type.dims
        return len(set(node.inputs)) > 1

    def kept(self, cot: Cotangent, partial: Arg) -> Cotangent:
        """Multiply by a mask; where it is False the partials may be anything."""
        if isinstance(partial, bool | int) and partial:
            return cot
        if cot.risky and cot.mask is None:
            # Zero times infinity is no number: choose instead of multiplying.
            mask = Mask(lambda: partial, False, partial)
            return Cotangent(cot.value, mask, "dirty", None, cot.thick, True)
        value = self.low.emit("mul", cot.value, partial)
        if cot.mask is not None:
            return Cotangent(value, cot.mask, cot.state, None, cot.thick)
        return Cotangent(
            value, Mask(lambda: partial, False, partial), "clean", None, cot.thick
        )

    def masked(self, cot: Cotangent, partial: Arg) -> Cotangent:
        """Pass a cotangent on to the entries of a mask only."""
        if isinstance(partial, bool | int) and partial:
            return cot
        inner = cot.mask
        if cot.state == "clean" or inner is None:
            mask = Mask(lambda: partial, True, partial)
            return Cotangent(cot.value, mask, "raw", None, cot.thick)
        outer = inner
        both = Mask(lambda: self.low.emit("and_", outer.make(), partial), True)
        return Cotangent(cot.value, both, cot.state, None, cot.thick)

    def distribute(
        self, arg: Arg, result: Any, cots: dict[Value, Cotangent], node: Node
    ) -> None:
        """Give a pullback's result to the values of its argument."""
        if isinstance(arg, Value):
            value = self.low.operand(result)
            made = self.low.defs.get(value) if isinstance(value, Value) else None
            if (
                made is not None
                and made.op == "np.broadcast_to"
                and value.name is None
                and arg.type is not None
                and self.low.type_of(made.args[0]) is not None
            ):
                value = made.args[0]
            self.accumulate(arg, Cotangent(value, self.taken(arg, node)), cots)
            return
        if isinstance(result, ListRef | Tup):
            items = self.low.sequence_items(result)
            if items is not None:
                for inner, item in zip(arg, items, strict=False):
                    if mentions(inner, self.varied):
                        self.distribute(inner, item, cots, node)
                return
        raise MissingRuleError(
            f"`{spoken(node.op)}` cannot be differentiated by this argument", node.span
        )

    def taken(self, arg: Value, node: Node) -> Mask | None:
        """Return the mask of the entries that a reduction takes, if not all."""
        low = self.low
        where = node.kwargs.get("where", True)
        if where is not True and node.args and node.args[0] is arg:
            return Mask(lambda: where)
        if node.op.startswith("np.nan") and node.args and node.args[0] is arg:
            return Mask(lambda: low.emit("invert", low.emit("np.isnan", arg)))
        return None

    def abstract(self, arg: Arg) -> Any:
        """Return a node's argument as an abstract value."""
        low = self.low
        if isinstance(arg, Value):
            if arg.type is not None and arg.type.kind == "list":
                cell = low.fresh()
                low.state["h", cell] = RunList((arg,))
                return ListRef(cell)
            return arg
        if isinstance(arg, tuple):
            return Tup(tuple(map(self.abstract, arg)))
        if isinstance(arg, list):
            return low.new_list([self.abstract(a) for a in arg])
        if isinstance(arg, slice) and any(isinstance(a, Value) for a in leaves(arg)):
            return slice(
                *(
                    None if p is None else self.abstract(p)
                    for p in (arg.start, arg.stop, arg.step)
                )
            )
        return Known(arg)


def spoken(op: str) -> str:
    """Return an operation's name as the user writes it."""
    return op.removeprefix("builtins.")
