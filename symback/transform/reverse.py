"""Reverse mode: a primal graph becomes the graph of its value and gradient.

After it, the graph's nodes are the primal's (its loops and branches also hand out what
the backward needs) followed by the backward's, and every varied value that reaches the
loss has had its cotangent accumulated from all its uses.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import MissingRuleError, NotScalarError
from ..graph import Arg, Block, Graph, Node, Value
from .activity import mentions, varied_values
from .applying import SINGULAR, spoken
from .cotangents import Cotangent
from .gradients import Gradients
from .patterns import match_closed
from .structural import STRUCTURAL

__all__ = ["Joint", "reverse"]


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


class Reverse(Gradients):
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
            self.christen(value, f"{primal.name}_bar")
        clean = cot.state == "clean" and cot.place is None
        self.found[primal] = value if clean else cot
        return cot


def _integral_dtype(kind: Any) -> bool:
    if isinstance(kind, Value):
        return False
    try:
        return np.dtype(kind).kind in "iub"
    except TypeError:
        return False
