"""Reverse mode: a graph becomes the graph of its value and its cotangents.

After it, the graph's nodes are the primal's (its loops and branches also hand out what
the backward needs) followed by the backward's, and every varied value that reaches the
result has had its cotangent accumulated from all its uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InternalError, MissingRuleError, NotScalarError
from ..graph import (
    Arg,
    Block,
    Builder,
    Fragment,
    Graph,
    Inference,
    Loop,
    Node,
    Param,
    Tree,
    Value,
    leaves,
)
from ..types import Type
from .activity import mentions, varied_values
from .applying import SINGULAR, apply, no_rule, rule_of, spoken
from .branches import reverse_if
from .context import Context, Cots, Rules
from .cotangents import Cotangent, Cotangents
from .exponentials import match_exponential
from .gradients import Gradients
from .kinks import one_sided
from .loops import reverse_loop
from .patterns import match_closed
from .roots import match_root
from .structural import STRUCTURAL

__all__ = [
    "Joint",
    "differentiate",
    "parts_of",
    "stops",
    "transposed",
    "tree_of",
    "vjp",
]


@dataclass
class Joint:
    """A graph of value and cotangents.

    graph : its result is ``(value, cotangents)``.
    cotangents : the primal values' final cotangents, as far as they are made; a
        `Cotangent` stands for one that is zero except at its place, or holds anything
        where the program does not use the value.
    """

    graph: Graph
    cotangents: dict[Value, Arg | Cotangent] = field(default_factory=dict)


def vjp(
    graph: Graph,
    wrt: Sequence[str | Tree],
    types: Inference,
    rules: Rules,
    *,
    seed: float | None = 1.0,
    single: bool = False,
    sequences: frozenset[Value] = frozenset(),
) -> Graph:
    """Return the graph of a graph's value and of the cotangents of some parameters.

    Its result is ``(value, (bar, ...))``; with `single` the one `bar` stands alone.
    The parameters are the graph's, so the result can be differentiated again: choose
    what of it with `Graph.giving`, as ``joint.giving(joint.result[1])``.

    Args:
        graph: the primal.
        wrt: names of parameters that are numbers or arrays, or trees of any structure.
        types: what types the nodes that are made.
        rules: the graphs of rules.
        seed: the cotangent of a result that is one real number.  None: the graph has
            one parameter more, ``out_bar``, a cotangent of the result's structure.
        sequences: parameters without types that may be lists or tuples.

    Raises:
        NotScalarError: there is a seed, and the result is not a scalar.
        MissingRuleError: an operation on an active path has no rule.
    """
    trees = [tree_of(graph, one) for one in wrt]
    return differentiate(
        graph, trees, types, rules, seed=seed, single=single, sequences=sequences
    ).graph


def differentiate(
    graph: Graph,
    wrt: Sequence[Tree],
    types: Inference,
    rules: Rules,
    *,
    seed: float | None = 1.0,
    single: bool = False,
    sequences: frozenset[Value] = frozenset(),
) -> Joint:
    """Return the graph that `vjp` returns, and all cotangents in it."""
    build = Builder(types)
    build.role = "backward"
    graph = replace(graph, block=_primal(graph.block))
    sweep = _sweep_of(graph, wrt, build, rules, sequences)
    cots: Cots = {}
    params: tuple[Param, ...] = ()
    if seed is not None:
        loss = graph.result
        check_scalar(graph, build.defs)
        if isinstance(loss, Value) and loss in sweep.varied:
            cots[loss] = Cotangent(seed)
    else:
        bar = Value(_free_name("out_bar", graph), _cotangent_type(sweep, graph.result))
        params = (Param(str(bar.name), bar),)
        _seed(sweep, graph.result, bar, cots)
    parts = parts_of(graph, wrt)
    forward = [*parts, *sweep.sweep(graph.block.nodes, cots)]
    gradients = Gradients(sweep, cots)
    bars = tuple(gradients.gradient(tree) for tree in wrt)
    result = (graph.result, bars[0] if single else bars)
    block = build.finish(Block((), (*forward, *build.nodes), (result,)))
    errstate = dict(graph.errstate)
    if sweep.bars.guarded:
        errstate = {"divide": "ignore", "invalid": "ignore", **errstate}
    if sweep.bars.overflowing:
        errstate = {"over": "ignore", **errstate}
    made = replace(
        graph, block=block, errstate=errstate, params=(*graph.params, *params)
    )
    named = build.named()
    found = {v: _renamed(cot, named) for v, cot in sweep.found.items()}
    return Joint(made.check(), found)


def _renamed(found: Arg | Cotangent, named: Mapping[Value, Value]) -> Arg | Cotangent:
    if isinstance(found, Cotangent):
        return replace(found, value=named.get(found.value, found.value))
    return named.get(found, found) if isinstance(found, Value) else found


def tree_of(graph: Graph, one: str | Tree) -> Tree:
    if isinstance(one, Tree):
        return one
    for param in graph.params:
        if param.name == one:
            return Tree("leaf", param.value)
    raise InternalError(f"`{graph.name}` has no parameter `{one}`")


def _primal(block: Block) -> Block:
    """Return a block all of whose nodes are the primal's of this derivative."""
    nodes = tuple(
        replace(n, role="primal", blocks=tuple(map(_primal, n.blocks)))
        if n.blocks or n.role != "primal"
        else n
        for n in block.nodes
    )
    return Block(block.params, nodes, block.results)


def _sweep_of(
    graph: Graph,
    wrt: Sequence[Tree],
    build: Builder,
    rules: Rules,
    sequences: frozenset[Value],
) -> Sweep:
    """Return the sweep over a graph, with what is known of its values."""
    primal = {p.value for p in graph.params}
    indices: set[Value] = set()
    for node in graph.block.walk():
        build.defs.update(dict.fromkeys(node.outs, node))
        primal.update(node.outs)
        for block in node.blocks:
            primal.update(block.params)
        if node.op == "for":
            indices.add(node.blocks[0].params[0])
    roots = {leaf for tree in wrt for leaf in tree.leaf_values()}
    for tree in wrt:
        primal.update(tree.readers())
    sweep = Sweep(build, rules, Cotangents(build, primal, sequences), roots, indices)
    sweep.varied = varied_values(graph.block, roots, stops)
    sweep.sided = one_sided(graph.block, build.defs, sweep.varied)
    _mark_risky(sweep, graph.block)
    return sweep


def transposed(
    fragment: Fragment, inputs: Sequence[Value], types: Inference, rules: Rules
) -> tuple[dict[Value, Value], tuple[Node, ...], list[Arg | None]]:
    """Transpose a fragment that is linear in some inputs.

    Returns what stands for the cotangents of the result's leaves, the nodes, and the
    cotangents of the inputs, None where nothing reaches one.
    """
    params = tuple(Param(f"x{k}", v) for k, v in enumerate(fragment.inputs))
    block = Block((), _primal(Block((), fragment.nodes)).nodes, (fragment.result,))
    graph = Graph("transposed", params, block)
    build = Builder(types)
    trees = [Tree("leaf", value) for value in inputs]
    sweep = _sweep_of(graph, trees, build, rules, frozenset())
    cots: Cots = {}
    given: dict[Value, Value] = {}
    for leaf in leaves(fragment.result):
        if isinstance(leaf, Value) and leaf in sweep.varied and leaf not in given:
            given[leaf] = Value(None, sweep.bars.like(leaf))
            sweep.accumulate(leaf, Cotangent(given[leaf]), cots)
    forward = sweep.sweep(block.nodes, cots)
    found = [sweep.bars.final(v, cots[v]) if v in cots else None for v in inputs]
    return given, (*forward, *build.nodes), found


# The result


def _free_name(name: str, graph: Graph) -> str:
    taken = {p.name for p in graph.params}
    while name in taken:
        name += "_"
    return name


def _cotangent_type(context: Context, result: Arg) -> Type | None:
    return context.bars.like(result) if isinstance(result, Value) else None


def _seed(context: Context, result: Arg, bar: Value, cots: Cots) -> None:
    """Give the parts of a result what is theirs of a cotangent of its structure."""
    if isinstance(result, Value):
        context.accumulate(result, Cotangent(bar), cots)
        return
    parts: Iterable[tuple[Arg, Arg]] = ()
    if isinstance(result, tuple | list):
        parts = enumerate(result)
    elif isinstance(result, dict):
        parts = result.items()
    for key, part in parts:
        if not mentions(part, context.varied):
            continue
        known = context.bars.like(part) if isinstance(part, Value) else None
        name = context.bars.named(part) if isinstance(part, Value) else None
        piece = context.build.emit_as(known, "getitem", bar, key, name=name)
        _seed(context, part, piece, cots)


def parts_of(graph: Graph, wrt: Sequence[Tree]) -> list[Node]:
    """Return the nodes that take unused parts out of the parameters."""
    known = {p.value for p in graph.params}
    known.update(v for n in graph.block.nodes for v in n.outs)
    readers = {v: node for tree in wrt for v, node in tree.readers().items()}
    found: list[Node] = []

    def take(value: Value) -> None:
        node = readers.get(value)
        if value in known or node is None:
            return
        for base in node.inputs:
            take(base)
        known.add(value)
        found.append(node)

    todo = list(wrt)
    while todo:
        tree = todo.pop()
        if tree.kind in ("leaf", "struct") and tree.value is not None:
            take(tree.value)
        todo += tree.items
    return found


def check_scalar(graph: Graph, defs: Mapping[Value, Node]) -> None:
    """Refuse a loss that is not one number."""
    loss, span, name = graph.result, graph.source, graph.name
    if isinstance(loss, tuple | list | dict):
        what = {tuple: "a tuple", list: "a list", dict: "a dict"}[type(loss)]
        hint = "return the loss alone."
        raise NotScalarError(f"`{name}` returns {what}, not a scalar", span, hint)
    if loss is None and any(n.op == "raise" for n in graph.block.nodes):
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
        node = defs.get(loss)
        place = node.span if node is not None and node.span is not None else span
        raise NotScalarError(
            f"`{name}` returns an array, {known}, not a scalar",
            place,
            "sum it, or take its mean.",
        )


# Activity

STOPS = frozenset(
    "stop_gradient dim shape np.shape np.ndim np.size builtins.len fstring is_ is_not "
    "not_ contains builtins.bool builtins.int builtins.range".split()
)
"""Operations whose derivative is zero though they have no rule that says so."""


def stops(node: Node) -> bool:
    """Say whether a node's derivative is zero."""
    if node.op in STOPS:
        return True
    if node.op == "astype" and _integral_dtype(node.args[1]):
        return True
    if node.op == "attr":
        return node.args[1] in ("shape", "dtype", "ndim", "size")
    rule = rule_of(node)
    return rule is not None and rule.kind == "zero"


def _integral_dtype(kind: Arg) -> bool:
    if isinstance(kind, Value):
        return False
    try:
        return np.dtype(kind).kind in "iub"
    except TypeError:
        return False


def _mark_risky(context: Context, block: Block) -> None:
    """Note the values that may be infinite though the parameters are finite."""
    for node in block.walk():
        if node.op in ("for", "while"):
            loop = Loop.of(node)
            parts = zip(loop.inits, loop.nexts, strict=True)
            context.bars.carried.update(zip(loop.carried, parts, strict=True))
        risky = node.op in SINGULAR or any(v in context.risky for v in node.inputs)
        if node.op in ("pow", "np.power"):
            power = node.args[1]
            if isinstance(power, int) and power > 0:
                risky = any(v in context.risky for v in node.inputs)
        if node.op == "truediv" and not isinstance(node.args[1], Value):
            risky = any(v in context.risky for v in node.inputs)
        if risky:
            context.risky.update(node.outs)


# The sweep


class Sweep(Context):
    """The walk over the nodes, last ones first."""

    def sweep(self, nodes: Iterable[Node], cots: Cots) -> list[Node]:
        """Reverse some nodes; return them as the forward part needs them."""
        forward: list[Node] = []
        for node in reversed(tuple(nodes)):
            if not any(out in cots for out in node.outs) or (
                node.op in ("getitem", "attr") and node.outs[0] in self.roots
            ):
                # Not on the path; or a parameter is taken out of its container here.
                forward.append(node)
            elif node.op == "if":
                forward.append(reverse_if(self, node, cots))
            elif node.op in ("for", "while"):
                forward.append(reverse_loop(self, node, cots))
            else:
                forward.append(node)
                with self.build.at(node.span):
                    _reverse_node(self, node, cots)
        forward.reverse()
        return forward


def _reverse_node(context: Context, node: Node, cots: Cots) -> None:
    """Send the cotangents of a node's outputs to its inputs."""
    outs = {out: cots.pop(out) for out in node.outs if out in cots}
    if not mentions((node.args, dict(node.kwargs)), context.varied):
        return
    for out, cot in outs.items():
        if cot.place is None:
            context.own_name(cot.value, out.name)
        clean = cot.state == "clean" and cot.place is None
        context.found[out] = cot.value if clean else cot
    closed = None
    if len(node.outs) == 1:
        closed = match_closed(node, context.build.defs, context.varied)
        if closed is None:
            closed = match_exponential(node, context.build.defs, context.varied)
            context.bars.overflowing |= closed is not None
        closed = closed or match_root(node, context.build.defs, context.varied)
    if closed is not None:
        apply(context, *closed, node, outs, cots)
        return
    special = STRUCTURAL.get(node.op)
    if special is not None and special(context, node, outs, cots):
        return
    rule = context.sided.get(node) or rule_of(node)
    if rule is None:
        raise no_rule(node)
    bound = rule.bind(node.args, dict(node.kwargs))
    if isinstance(bound, str):
        raise MissingRuleError(
            f"the derivative of `{spoken(node.op)}` {bound}",
            node.span,
            "leave the argument out, or compute this outside.",
        )
    apply(context, rule, bound, node, outs, cots)
