"""Forward mode: a graph becomes the graph of its value and its tangent.

After it each varied value is followed by its tangent, so a loop carries both and keeps
nothing: memory does not grow with the length of loops.  Partials are multiplied with;
a pullback, which is linear in the cotangent, is transposed.

>>> from symback.graph import Builder
>>> graph = Graph.parse("graph f(x):\\n  y = neg(x)\\n  -> y")
>>> print(jvp(graph, ["x"], Builder().types, None))  # no rule's text is needed here
graph f(x, x_dot):
  y = neg(x)
  y_dot = neg(x_dot)
  -> (y, y_dot)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..errors import MissingRuleError
from ..graph import (
    UNDEFINED,
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
    map_leaves,
)
from ..operation import Rule, Text
from ..types import Type
from .activity import mentions, varied_values
from .applying import CHOOSING, no_rule, rule_of, spoken
from .context import Rules
from .cotangents import Cotangents
from .exponentials import match_exponential
from .kinks import one_sided
from .patterns import match_closed
from .vjp import parts_of, stops, transposed, tree_of

__all__ = ["jvp"]


def jvp(
    graph: Graph, wrt: Sequence[str | Tree], types: Inference, rules: Rules
) -> Graph:
    """Return the graph of a graph's value and of its tangent: ``(value, value_dot)``.

    It has one parameter more for each of `wrt`, its tangent, after the graph's own; a
    container's is a container of the same structure.

    Args:
        graph: the primal.
        wrt: names of parameters that are numbers or arrays, or trees of any structure.
        types: what types the nodes that are made.
        rules: the graphs of rules.

    Raises:
        MissingRuleError: an operation on an active path has no rule.
    """
    trees = [tree_of(graph, one) for one in wrt]
    build = Builder(types)
    sweep = Forward(build, rules, graph, trees)
    params = sweep.tangents(graph, trees)
    build.nodes[:0] = parts_of(graph, trees)
    sweep.sweep(graph.block.nodes)
    result = (graph.result, sweep.dot_of(graph.result))
    block = build.finish(Block((), tuple(build.nodes), (result,)))
    named = build.named()
    made = tuple(replace(p, value=named.get(p.value, p.value)) for p in params)
    errstate = dict(graph.errstate)
    if sweep.bars.guarded:
        errstate = {"divide": "ignore", "invalid": "ignore", **errstate}
    if sweep.bars.overflowing:
        errstate = {"over": "ignore", **errstate}
    params = (*graph.params, *made)
    return replace(graph, block=block, params=params, errstate=errstate).check()


class Forward:
    """The walk over the nodes, first ones first.

    dots : the tangents of the values that depend on the parameters.
    """

    def __init__(
        self, build: Builder, rules: Rules, graph: Graph, trees: Sequence[Tree]
    ) -> None:
        self.build = build
        self.rules = rules
        self.dots: dict[Value, Arg] = {}
        primal = {p.value for p in graph.params}
        for node in graph.block.walk():
            build.defs.update(dict.fromkeys(node.outs, node))
            primal.update(node.outs)
        self.bars = Cotangents(build, primal, frozenset())
        self.roots = {leaf for tree in trees for leaf in tree.leaf_values()}
        self.varied = varied_values(graph.block, self.roots, stops)
        self.sided = one_sided(graph.block, build.defs, self.varied)

    # Parameters and results

    def tangents(self, graph: Graph, trees: Sequence[Tree]) -> tuple[Param, ...]:
        """Return the parameters that the tangents are, and take them apart."""
        taken = {p.name for p in graph.params}
        params = []
        for tree in trees:
            assert tree.value is not None
            name = f"{tree.value.name or 'x'}_dot"
            while name in taken:
                name += "_"
            taken.add(name)
            known = self.bars.like(tree.value) if tree.kind == "leaf" else None
            value = Value(name, known)
            params.append(Param(name, value))
            self._take(tree, value)
        return tuple(params)

    def _take(self, tree: Tree, dot: Value) -> None:
        if tree.kind == "leaf":
            assert tree.value is not None
            self.dots[tree.value] = dot
        for place, item in enumerate(tree.items):
            if item.kind == "static" or item.value is None:
                continue
            key = tree.keys[place] if tree.keys else place
            op = "attr" if tree.kind == "struct" else "getitem"
            known = self.bars.like(item.value) if item.kind == "leaf" else None
            name = f"{item.value.name}_dot" if item.value.name else None
            self._take(item, self.build.emit_as(known, op, dot, key, name=name))

    def dot_of(self, arg: Arg) -> Arg:
        """Return the tangent of a nested argument: zeros where nothing varies."""
        return map_leaves(self._dot, arg)

    def _dot(self, leaf: Arg) -> Arg:
        if not isinstance(leaf, Value):
            return leaf if leaf is UNDEFINED or leaf is None else 0.0
        found = self.dots.get(leaf)
        return self.bars.zeros(leaf) if found is None else found

    def give(self, out: Value, dot: Arg) -> None:
        """Note the tangent of a value and name it."""
        if isinstance(dot, Value) and out.name and dot not in self.bars.primal:
            self.build.christen(dot, f"{out.name}_dot")
        self.dots[out] = dot

    # The walk

    def sweep(self, nodes: Iterable[Node]) -> None:
        """Append nodes, each followed by those of its tangent."""
        for node in nodes:
            active = [out for out in node.outs if out in self.varied]
            if not active or all(out in self.roots for out in active):
                self.build.append(node)
                continue
            with self.build.at(node.span):
                if node.op == "if":
                    self._branch(node)
                elif node.op in ("for", "while"):
                    self._loop(node)
                else:
                    self.build.append(node)
                    self._plain(node)

    def _branch(self, node: Node) -> None:
        active = [k for k, out in enumerate(node.outs) if out in self.varied]
        blocks = []
        for block in node.blocks:
            with self.build.nested() as nodes:
                self.sweep(block.nodes)
                dots = [self._dot(block.results[k]) for k in active]
            results = (*block.results, *dots)
            blocks.append(Block(block.params, tuple(nodes), results))
        made = [self._like(node.outs[k]) for k in active]
        for k, dot in zip(active, made, strict=True):
            self.dots[node.outs[k]] = dot
        outs = (*node.outs, *made)
        self.build.append(replace(node, outs=outs, blocks=tuple(blocks)))

    def _like(self, primal: Value) -> Value:
        """Return a new value for a tangent."""
        name = f"{primal.name}_dot" if primal.name else None
        return Value(name, self.bars.like(primal))

    def _loop(self, node: Node) -> None:
        """Carry tangents beside what varies, walk and collect those of items."""
        loop = Loop.of(node)
        carried = [k for k, p in enumerate(loop.carried) if p in self.varied]
        walks = [k for k, p in enumerate(loop.walks) if p in self.varied]
        lists = [k for k, out in enumerate(loop.lists) if out in self.varied]
        walked = tuple(self._dot(loop.walked[k]) for k in walks)
        walk_dots = tuple(self._like(loop.walks[k]) for k in walks)
        inits = tuple(self._dot(loop.inits[k]) for k in carried)
        params = tuple(self._like(loop.carried[k]) for k in carried)
        for k, dot in zip(walks, walk_dots, strict=True):
            self.dots[loop.walks[k]] = dot
        for k, dot in zip(carried, params, strict=True):
            self.dots[loop.carried[k]] = dot
        with self.build.nested() as nodes:
            self.sweep(loop.nodes)
            nexts = tuple(self._dot(loop.nexts[k]) for k in carried)
            items = tuple(self._dot(loop.items[k]) for k in lists)
        finals = tuple(self._like(loop.finals[k]) for k in carried)
        made = tuple(self._like(loop.lists[k]) for k in lists)
        test = loop.test
        if test is not None:
            copies = tuple(Value(p.name, p.type) for p in params)
            test = Block((*test.params, *copies), test.nodes, test.results)
        whole = replace(
            loop,
            walked=(*loop.walked, *walked),
            walks=(*loop.walks, *walk_dots),
            inits=(*loop.inits, *inits),
            carried=(*loop.carried, *params),
            nexts=(*loop.nexts, *nexts),
            finals=(*loop.finals, *finals),
            items=(*loop.items, *items),
            lists=(*loop.lists, *made),
            test=test,
            nodes=tuple(nodes),
        )
        for k, dot in zip(carried, finals, strict=True):
            self.dots[loop.finals[k]] = dot
        for k, dot in zip(lists, made, strict=True):
            self.dots[loop.lists[k]] = dot
        self.build.append(whole.node)

    def _plain(self, node: Node) -> None:
        """Append the tangent of a node without blocks."""
        closed = None
        if len(node.outs) == 1:
            closed = match_closed(node, self.build.defs, self.varied)
            if closed is None:
                closed = match_exponential(node, self.build.defs, self.varied)
                self.bars.overflowing |= closed is not None
        if closed is not None:
            self._apply(*closed, node)
            return
        special = MOVING.get(node.op)
        if special is not None and special(self, node):
            return
        rule = self.sided.get(node) or rule_of(node)
        if rule is None:
            raise no_rule(node)
        bound = rule.bind(node.args, dict(node.kwargs))
        if isinstance(bound, str):
            raise MissingRuleError(
                f"the derivative of `{spoken(node.op)}` {bound}",
                node.span,
                "leave the argument out, or compute this outside.",
            )
        self._apply(rule, bound, node)

    # Rules

    def _apply(self, rule: Rule, bound: Mapping[str, Arg], node: Node) -> None:
        """Add up what each active argument contributes to the tangent."""
        active = [p for p in rule.params if mentions(bound[p], self.varied)]
        texts = dict(zip(rule.params, rule.texts, strict=True))
        tie = bool(rule.tie) and len(active) > 1
        if tie:
            texts.update(zip(rule.params, rule.tie, strict=False))
        sums: dict[Value, Arg] = {}
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
            if rule.kind == "pullback":
                found = self._transposed(rule, text, bound, bound[param], node)
            else:
                choice = rule.kind == "select" and not tie
                dot = self._dot(bound[param])
                found = {node.out: self._scaled(rule, text, bound, dot, choice, node)}
            for out, dot in found.items():
                sums[out] = self.bars.sum(sums[out], dot) if out in sums else dot
        for out in node.outs:
            if out in self.varied:
                dot = sums.get(out)
                if dot is None:
                    dot = self.bars.zeros(out)
                self.give(out, self._wide(self._real(dot, out), out))

    def _real(self, dot: Arg, out: Value) -> Arg:
        """Keep the real part of what a real value gets from complex ones."""
        found = self.build.type_of(dot)
        if found is None or out.type is None or not found.dtype.startswith("complex"):
            return dot
        if out.type.dtype.startswith("complex"):
            return dot
        return self.build.emit("np.real", dot)

    def _wide(self, dot: Arg, out: Value) -> Arg:
        """Return a tangent of the shape of its value."""
        if out.type is None:
            if isinstance(dot, int | float) or self._may_stretch(out):
                return self.build.emit("add", dot, self.bars.zeros(out))
            return dot
        if not out.type.rank:
            return dot
        if not isinstance(dot, Value):
            return self.build.emit("np.full_like", out, dot)
        return self.bars.widen(dot, out)

    def _may_stretch(self, out: Value) -> bool:
        """Say whether a value of unknown type may be larger than what made it."""
        node = self.build.defs[out]
        return len(set(node.inputs)) > 1

    def _names(
        self, rule: Rule, bound: Mapping[str, Arg], node: Node
    ) -> dict[str, Arg]:
        names: dict[str, Arg] = {p.lstrip("*"): a for p, a in bound.items()}
        if rule.outs[0].startswith("*"):
            names[rule.outs[0][1:]] = node.outs
        names.update(zip(rule.outs, node.outs, strict=False))
        return names

    def _scaled(
        self,
        rule: Rule,
        text: Text,
        bound: Mapping[str, Arg],
        dot: Arg,
        choice: bool,
        node: Node,
    ) -> Arg:
        """Return a tangent times a partial, or where a mask takes the argument."""
        names = self._names(rule, bound, node)
        fragment, given = self.rules.fragment(text, names, node.span)
        partial = self.build.inline(fragment, given)
        if isinstance(partial, bool | int | float) and not partial:
            return 0.0
        if not choice:
            return self.bars.times(dot, partial)
        if isinstance(partial, bool | int) and partial:
            return dot
        if node.op in CHOOSING or isinstance(partial, Value):
            return self.bars.chosen(partial, dot)
        return self.bars.times(dot, partial)

    def _transposed(
        self,
        rule: Rule,
        text: Text,
        bound: Mapping[str, Arg],
        arg: Arg,
        node: Node,
    ) -> dict[Value, Arg]:
        """Return what an argument's tangent contributes, by the pullback transposed."""
        names = self._names(rule, bound, node)
        ends = [Value(None, self.bars.like(out)) for out in node.outs]
        if rule.outs[0].startswith("*"):
            names[f"{rule.outs[0][1:]}_bar"] = tuple(ends)
        for title, end in zip(rule.outs, ends, strict=False):
            names[f"{title}_bar"] = end
        fragment, given = self.rules.fragment(text, names, node.span)
        inside = dict(zip(fragment.inputs, given, strict=True))
        bars = [i for i, outer in inside.items() if outer in ends]
        leaves, nodes, results = transposed(
            fragment, bars, self.build.types, self.rules
        )
        dots = _matched(fragment.result, self.dot_of(arg), leaves)
        inputs = (*fragment.inputs, *leaves.values())
        # A pullback is linear: of a cotangent itself only the shape can be needed.
        outs = dict(zip(ends, node.outs, strict=True))
        values = [outs.get(outer, outer) for outer in given]
        found = self.build.inline(
            Fragment(inputs, nodes, tuple(results)), [*values, *dots]
        )
        made: dict[Value, Arg] = {}
        for bar, dot in zip(bars, found, strict=True):
            if dot is not None:
                outer = inside[bar]
                assert isinstance(outer, Value)
                made[outs[outer]] = dot
        return made


def _matched(result: Arg, dots: Arg, leaves: Mapping[Value, Value]) -> list[Arg]:
    """Return the tangents that stand for the leaves of a pullback's result."""
    found: dict[Value, Arg] = {}

    def match(part: Arg, dot: Arg) -> None:
        if isinstance(part, Value):
            found.setdefault(part, dot)
        elif isinstance(part, tuple | list) and isinstance(dot, tuple | list):
            for inner, one in zip(part, dot, strict=False):
                match(inner, one)

    match(result, dots)
    return [found[leaf] for leaf in leaves]


# What moves numbers about: the same is done with tangents

Handler = Callable[[Forward, Node], bool]

MOVING: dict[str, Handler] = {}


def _moves(*ops: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        MOVING.update(dict.fromkeys(ops, handler))
        return handler

    return register


def _kind(arg: Arg) -> str:
    known = arg.type if isinstance(arg, Value) else None
    return known.kind if isinstance(known, Type) else ""


@_moves("neg", "pos", "getitem", "list_reverse", "builtins.list", "tolist", "item")
def _first(f: Forward, node: Node) -> bool:
    """Do with the tangent of the first argument what is done with it."""
    x = node.args[0]
    if not isinstance(x, Value) or mentions(node.args[1:], f.varied):
        return False
    f.give(
        node.out, f.build.emit(node.op, f.dots[x], *node.args[1:], **dict(node.kwargs))
    )
    return True


@_moves("np.copy", "astype", "builtins.float", "builtins.complex")
def _cast(f: Forward, node: Node) -> bool:
    return _first(f, node)


@_moves("list_pop", "unpack")
def _several(f: Forward, node: Node) -> bool:
    x = node.args[0]
    if not isinstance(x, Value):
        return False
    dots = f.build.emit_many(node.op, len(node.outs), f.dots[x])
    for out, dot in zip(node.outs, dots, strict=True):
        f.give(out, dot)
    return True


@_moves("np.split", "np.array_split", "np.vsplit", "np.hsplit", "np.dsplit")
def _split(f: Forward, node: Node) -> bool:
    x, *rest = node.args
    if not isinstance(x, Value):
        return False
    count = len(node.outs)
    dots = f.build.emit_many(node.op, count, f.dots[x], *rest, **dict(node.kwargs))
    for out, dot in zip(node.outs, dots, strict=True):
        f.give(out, dot)
    return True


@_moves("setitem", "index_add")
def _written(f: Forward, node: Node) -> bool:
    x, index, value = node.args
    base = f.dot_of(x)
    if isinstance(x, Value):
        base = f.bars.solid(x, base, indexed=True)
    change: Arg = 0.0
    if mentions(value, f.varied):
        change = f.dot_of(value)
    elif _kind(x) == "list" and isinstance(value, Value):
        change = f.bars.zeros(value)
    if node.op == "index_add" and not mentions(value, f.varied):
        f.give(node.out, base)
        return True
    f.give(node.out, f.build.emit(node.op, base, index, change))
    return True


@_moves("list", "list_append", "runtime.list_add", "runtime.add_lists")
def _lists(f: Forward, node: Node) -> bool:
    args = [f.dot_of(a) for a in node.args]
    if node.op == "runtime.list_add":
        args[1] = node.args[1]
    f.give(node.out, f.build.emit(node.op, *args))
    return True


@_moves("list_zeros", "runtime.zeros_of")
def _zeros(f: Forward, node: Node) -> bool:
    f.give(node.out, f.bars.zeros(node.out))
    return True


@_moves(
    "np.array",
    "np.asarray",
    "np.asanyarray",
    "np.ascontiguousarray",
    "np.stack",
    "np.vstack",
    "np.concatenate",
    "np.hstack",
)
def _joined(f: Forward, node: Node) -> bool:
    """Join the tangents of items as the items are joined."""
    if not node.args:
        return False
    items, *rest = node.args
    if mentions(rest, f.varied) or mentions(dict(node.kwargs), f.varied):
        return False
    f.give(node.out, f.build.emit(node.op, f.dot_of(items), *rest, **dict(node.kwargs)))
    return True


@_moves("mul")
def _repeated(f: Forward, node: Node) -> bool:
    """A list that is repeated: so is its tangent."""
    items, count = node.args
    if not isinstance(items, list):
        return False
    f.give(node.out, f.build.emit("mul", f.dot_of(items), count))
    return True


@_moves("struct", "runtime.structure")
def _struct(f: Forward, node: Node) -> bool:
    like, fields = node.args
    f.give(node.out, f.build.emit(node.op, like, f.dot_of(fields)))
    return True
