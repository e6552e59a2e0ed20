"""Reverse mode: a primal graph becomes the graph of its value and gradient.

After it, the graph's nodes are the primal's (its loops and branches also hand out what
the backward needs) followed by the backward's, and every varied value that reaches the
loss has had its cotangent accumulated from all its uses.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import MissingRuleError, NotScalarError
from ..graph import Arg, Block, Graph, Node, Value, leaves
from ..lower.abstract import Known, ListRef, RunList, Tup
from ..rules import REGISTRY, Rule
from ..types import Type
from .activity import mentions, varied_values
from .control import Control
from .cotangents import Cotangent, Mask
from .patterns import match_closed
from .structural import STRUCTURAL

__all__ = ["Joint", "reverse"]

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


@dataclass
class Joint:
    """A graph of value and gradient.

    graph : its result is ``(value, gradient)``.
    backward_from : the number of its first backward node.
    cotangents : the primal values' final cotangents, as far as they are made; a
        `Cotangent` stands for one that is zero except at its place, or holds anything
        where the program does not use the value.
    """

    graph: Graph
    backward_from: int
    cotangents: dict[Value, Arg] = field(default_factory=dict)


def reverse(
    low: Any, graph: Graph, wrt: list[tuple[str, Any]], title: str, single: bool = False
) -> Joint:
    """Differentiate a primal graph by some parameters.

    Args:
        low: the lowering that made the graph; it builds the backward's nodes.
        graph: the primal; its result must be one scalar.
        wrt: parameter names with their structures.
        title: the first comment of the text.
        single: give the only gradient itself, not a tuple of one.

    Raises:
        NotScalarError: the result is not a scalar.
        MissingRuleError: an operation on an active path has no rule.
    """
    return Reverse(low, graph).run(wrt, title, single)


class Reverse(Control):
    """The sweep over a graph, with what it has accumulated so far."""

    def __init__(self, low: Any, graph: Graph) -> None:
        super().__init__(low)
        self.graph = graph
        self.found: dict[Value, Arg] = {}
        self.given: set[Value | None] = set()
        self.primal_nodes = set(graph.block.walk())
        self.taken_out: dict[Value, Node] = dict(low.taken_out)
        self.risky: set[Value] = set()

    def run(self, wrt: list[tuple[str, Any]], title: str, single: bool) -> Joint:
        """Return the joint graph."""
        low, graph = self.low, self.graph
        loss = graph.result
        self.check_scalar(loss)
        roots: set[Value] = set()
        for _, trees in wrt:
            roots.update(trees.leaf_values())
        self.roots = roots
        self.varied = varied_values(graph.block, roots, self.stops)
        self.mark_risky(graph.block)
        low.nodes = []
        low.conditional += 1
        cots: dict[Value, Cotangent] = {}
        if isinstance(loss, Value) and loss in self.varied:
            cots[loss] = Cotangent(1.0)
        parts = self.parts([trees for _, trees in wrt])
        forward = [*parts, *self.sweep(graph.block.nodes, cots)]
        gradients = [self.gradient(trees, cots) for _, trees in wrt]
        backward = low.nodes
        result = (loss, gradients[0] if single else tuple(gradients))
        block = Block((), (*forward, *backward), (result,))
        errstate = dict(graph.errstate)
        if self.guarded:
            errstate = {"divide": "ignore", "invalid": "ignore", **errstate}
        low.conditional -= 1
        captured = tuple(p for p in low.captured if p not in graph.params)
        made = replace(
            graph,
            block=block,
            title=title,
            errstate=errstate,
            params=(*graph.params, *captured),
        )
        return Joint(made.check(), len(forward), dict(self.found))

    def parts(self, trees: list[Any]) -> list[Node]:
        """Return the nodes that take unused parts out of the parameters."""
        known = {p.value for p in self.graph.params}
        known.update(v for n in self.graph.block.nodes for v in n.outs)
        found: list[Node] = []

        def take(value: Value) -> None:
            node = self.taken_out.get(value)
            if value in known or node is None:
                return
            for base in node.inputs:
                take(base)
            known.add(value)
            found.append(node)

        todo = list(trees)
        while todo:
            tree = todo.pop()
            if tree.kind in ("leaf", "struct"):
                take(tree.value)
            todo += tree.items
        return found

    def check_scalar(self, loss: Arg) -> None:
        """Refuse a loss that is not one number."""
        hint = "sum it, or take its mean."
        span = self.graph.source
        name = self.graph.name
        if isinstance(loss, tuple | list | dict):
            what = {tuple: "a tuple", list: "a list", dict: "a dict"}[type(loss)]
            hint = "return the loss alone."
            raise NotScalarError(f"`{name}` returns {what}, not a scalar", span, hint)
        if loss is None and any(n.op == "raise" for n in self.graph.block.nodes):
            # It always raises: the user's exception is what there is to see.
            return
        if loss is None:
            raise NotScalarError(
                f"`{name}` returns None, not a scalar", span, "return the loss."
            )
        known = loss.type if isinstance(loss, Value) else None
        if known is not None and known.dtype.startswith("complex"):
            raise NotScalarError(
                f"`{name}` returns a complex number, not a real one",
                span,
                "return its real part, or its absolute value.",
            )
        if known is not None and known.rank:
            node = self.low.defs.get(loss)
            place = node.span if node is not None and node.span is not None else span
            raise NotScalarError(
                f"`{name}` returns an array, {known}, not a scalar", place, hint
            )

    # Activity

    def stops(self, node: Node) -> bool:
        """Say whether a node's derivative is zero."""
        if node.op in (
            "stop_gradient",
            "dim",
            "shape",
            "np.shape",
            "np.ndim",
            "np.size",
            "builtins.len",
            "fstring",
            "is_",
            "is_not",
            "not_",
            "contains",
            "builtins.bool",
            "builtins.int",
            "builtins.range",
        ):
            return True
        if node.op == "astype" and _integral_dtype(node.args[1]):
            return True
        if node.op == "attr":
            return node.args[1] in ("shape", "dtype", "ndim", "size")
        rule = self.rule_of(node)
        return rule is not None and rule.kind == "zero"

    def rule_of(self, node: Node) -> Rule | None:
        """Return the rule of a node's operation."""
        found = REGISTRY.get(node.op)
        if found is None and node.op in ALIASES:
            found = REGISTRY.get(ALIASES[node.op])
        return found

    def mark_risky(self, block: Block) -> None:
        """Note the values that may be infinite though the parameters are finite."""
        for node in block.walk():
            if node.op in ("for", "while"):
                inits, body = node.args[-1], node.blocks[-1]
                params = body.params[len(body.params) - len(inits) :]
                nexts = body.results[1 if node.kwargs.get("breaks") else 0 :]
                parts = zip(inits, nexts, strict=False)
                self.carried.update(zip(params, parts, strict=True))
            risky = node.op in SINGULAR or any(v in self.risky for v in node.inputs)
            if node.op in ("pow", "np.power"):
                power = node.args[1]
                if isinstance(power, int) and power > 0:
                    risky = any(v in self.risky for v in node.inputs)
            if node.op == "truediv" and not isinstance(node.args[1], Value):
                risky = any(v in self.risky for v in node.inputs)
            if risky:
                self.risky.update(node.outs)

    # The sweep

    def sweep(
        self, nodes: tuple[Node, ...] | list[Node], cots: dict[Value, Cotangent]
    ) -> list[Node]:
        """Reverse some nodes; return them as the forward part needs them."""
        forward: list[Node] = []
        for node in reversed(nodes):
            if not any(out in cots for out in node.outs) or (
                node.op in ("getitem", "attr") and node.outs[0] in self.roots
            ):
                # Not on the path; or a parameter is taken out of its container here.
                forward.append(node)
                continue
            if node.op == "if":
                forward.append(self.reverse_if(node, cots))
            elif node.op in ("for", "while"):
                forward.append(self.reverse_loop(node, cots))
            else:
                forward.append(node)
                with self.placed(node):
                    self.reverse_node(node, cots)
        forward.reverse()
        return forward

    def reverse_node(self, node: Node, cots: dict[Value, Cotangent]) -> None:
        """Send the cotangents of a node's outputs to its inputs."""
        outs = {out: cots.pop(out) for out in node.outs if out in cots}
        if not mentions((node.args, dict(node.kwargs)), self.varied):
            return
        for out, cot in outs.items():
            outs[out] = self.christened(out, cot)
        closed = None
        if len(node.outs) == 1:
            closed = match_closed(node, self.low.defs, self.varied)
        if closed is not None:
            self.apply(*closed, node, outs, cots)
            return
        special = STRUCTURAL.get(node.op)
        if special is not None and special(self, node, outs, cots):
            return
        rule = self.rule_of(node)
        if rule is None:
            raise self.no_rule(node)
        bound = rule.bind(node.args, dict(node.kwargs))
        if isinstance(bound, str):
            raise MissingRuleError(
                f"the derivative of `{spoken(node.op)}` {bound}",
                node.span,
                "leave the argument out, or compute this outside.",
            )
        self.apply(rule, bound, node, outs, cots)

    def christened(self, primal: Value, cot: Cotangent) -> Cotangent:
        """Give the cotangent of a named value its name, ``x_bar``."""
        value = cot.value
        fresh = (
            isinstance(value, Value) and value.name is None and value in self.low.defs
        )
        if fresh and primal.name and cot.place is None:
            object.__setattr__(value, "name", f"{primal.name}_bar")
        clean = cot.state == "clean" and cot.place is None
        self.found[primal] = value if clean else cot
        return cot

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
        tree = self.parsed(text)
        return self.low.rule_text(tree, names, self.rule_names(), node.span)

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

    # The result

    def gradient(self, tree: Any, cots: dict[Value, Cotangent]) -> Arg:
        """Build a gradient with its parameter's structure."""
        if tree.kind == "leaf":
            return self.leaf_gradient(tree.value, cots)
        if tree.kind == "static":
            return None
        items = [self.gradient(t, cots) for t in tree.items]
        if tree.kind == "tuple":
            return tuple(items)
        if tree.kind == "list":
            return items
        fields = dict(zip(tree.keys, items, strict=True))
        if tree.kind == "dict":
            return fields
        return self.low.emit("struct", tree.value, fields)

    def leaf_gradient(self, value: Value, cots: dict[Value, Cotangent]) -> Arg:
        """Return the gradient by one number or array: its shape, its dtype, its own."""
        low = self.low
        cot = cots.get(value)
        if cot is None:
            return self.zeros(value)
        node = low.defs.get(cot.value) if isinstance(cot.value, Value) else None
        low.fixed_span = node.span if node is not None else None
        try:
            return self.own(value, cot)
        finally:
            low.fixed_span = None

    def own(self, value: Value, cot: Cotangent) -> Arg:
        """Return the final cotangent as an array that shares no memory."""
        low = self.low
        known = value.type
        final = self.final(value, cot)
        if not isinstance(final, Value):
            if known is not None and known.is_array:
                return low.emit("np.full_like", value, final, name=f"{value.name}_bar")
            return final
        if known is None and not self.settled(final):
            final = low.emit("runtime.unbroadcast", final, value)
        if (
            known is not None
            and known.is_scalar
            and final.type is not None
            and (final.type.is_array)
        ):
            final = low.emit("getitem", final, ())
        node = low.defs.get(final)
        if _kind(final.type) == "c" and _kind(known) == "f":
            final = low.emit("np.real", final)
            node = low.defs.get(final)
        found = final.type
        if (
            known is not None
            and known.is_array
            and node is not None
            and node.op == "np.broadcast_to"
        ):
            final = low.emit("np.full_like", value, node.args[0])
        elif (
            known is not None
            and found is not None
            and found.dtype != known.dtype
            and known.kind in ("array", "numpy")
        ):
            if not known.is_integral and found.kind in ("array", "numpy"):
                final = low.emit("astype", final, np.dtype(known.dtype).type)
        if known is not None and known.is_array and not known.rank:
            final = low.emit("np.asarray", final, dtype=np.dtype(known.dtype).type)
        base = self.base(final)
        shared = base is None or base in self.given
        if (known is None or known.is_array) and shared:
            final = low.emit("np.copy", final)
            base = final
        self.given.add(base)
        if final.name is None and value.name and final in low.defs:
            object.__setattr__(final, "name", f"{value.name}_bar")
        self.found[value] = final
        return final

    def settled(self, value: Value) -> bool:
        """Say whether a value of unknown type has been given its primal's shape."""
        node = self.low.defs.get(value)
        return node is not None and node.op.startswith("runtime.")

    def base(self, value: Value) -> Value | None:
        """Return the backward value whose memory this shares; None for a primal's."""
        node = self.low.defs.get(value)
        while node is not None and node.op in VIEWS and isinstance(node.args[0], Value):
            value = node.args[0]
            node = self.low.defs.get(value)
        return value if node is not None and node not in self.primal_nodes else None


CHOOSING = ("np.where", "np.select", "np.choose")
"""Operations that look at each entry of one argument only: the others hold anything."""

VIEWS = (
    "np.transpose",
    "getitem",
    "np.reshape",
    "np.ravel",
    "np.broadcast_to",
    "np.squeeze",
    "np.expand_dims",
    "np.swapaxes",
    "np.moveaxis",
    "np.real",
)
"""Operations whose result may share memory with their argument."""


def spoken(op: str) -> str:
    """Return an operation's name as the user writes it."""
    return op.removeprefix("builtins.")


def _kind(known: Type | None) -> str:
    """Return NumPy's letter for a type's kind of number."""
    if (
        known is None
        or not known.dtype
        or known.kind not in ("array", "numpy", "python")
    ):
        return ""
    return {"f": "f", "c": "c", "i": "i", "b": "b"}.get(known.dtype[0], "")


def _integral_dtype(kind: Any) -> bool:
    if isinstance(kind, Value):
        return False
    try:
        return np.dtype(kind).kind in "iub"
    except TypeError:
        return False
