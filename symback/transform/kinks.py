"""Kinks that cancel: several uses that test one zero take their slopes from one side.

``np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))`` is smooth, but where z is 0 the
conventions of its parts contradict each other: `maximum` takes the slope from the left,
`abs` the mean of both sides.  The derivative of what is smooth is the limit from either
side, so long as all parts take the same one.  Where all conventions agree, or a value
is tested once, the table of conventions stands.

A part tests the zero of a linear form: ``np.abs(2 - z)`` and ``np.maximum(z, 2)`` test
the same one, from opposite sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..graph import Arg, Block, Node, Value, leaves
from ..operations import REGISTRY, Rule
from ..operations.arithmetic import abs_from_left, abs_from_right
from .activity import mentions

__all__ = ["one_sided"]

ABSOLUTE = frozenset("np.abs np.absolute np.fabs builtins.abs math.fabs".split())
LARGER = frozenset("np.maximum np.fmax builtins.max".split())
SMALLER = frozenset("np.minimum np.fmin builtins.min".split())
CLIPPED = frozenset({"np.clip"})
ORDERED = {
    **dict.fromkeys(("gt", "np.greater", "le", "np.less_equal"), 0.0),
    **dict.fromkeys(("ge", "np.greater_equal", "lt", "np.less"), 1.0),
}
"""Comparisons of x and y, by the side of x - y whose branch they take at a tie."""

NEGATIVE = ("neg", "np.negative")
SUM, DIFFERENCE = ("add", "np.add"), ("sub", "np.subtract")
PRODUCT, QUOTIENT = ("mul", "np.multiply"), ("truediv", "np.divide", "np.true_divide")
MOST_TERMS = 4
"""Longer sums are taken for values of their own."""

Terms = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Form:
    """A linear form: coefficients by the numbers of values, and a constant."""

    terms: Terms
    constant: float = 0.0

    def scaled(self, factor: float) -> Form:
        return Form(
            tuple((n, c * factor) for n, c in self.terms), self.constant * factor
        )

    def plus(self, other: Form) -> Form:
        total = dict(self.terms)
        for number, coefficient in other.terms:
            total[number] = total.get(number, 0.0) + coefficient
        kept = tuple(sorted((n, c) for n, c in total.items() if c))
        return Form(kept, self.constant + other.constant)


@dataclass(frozen=True)
class Test:
    """A node that tests the zero of a value.

    key : names the zero.  positive : the form tested rises with the key's.
    side : the weight of the slope beyond the zero, where the form is positive, in what
        the conventions say.  forced : the program itself says it.
    bound : which of several zeros of the node it is.
    """

    node: Node
    key: Form
    positive: bool
    side: float
    forced: bool = False
    bound: int = 0

    @property
    def turned(self) -> float:
        """Return the side as the key sees it."""
        return self.side if self.positive else 1 - self.side


class Forms:
    """Linear forms of values; equal computations have equal forms."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.forms: dict[Value, Form] = {}

    def of(self, arg: Arg) -> Form | None:
        """Return an argument's form, None if it is no number."""
        if isinstance(arg, Value):
            if arg not in self.forms:
                self.forms[arg] = self.own(arg)
            return self.forms[arg]
        if isinstance(arg, int | float) and not isinstance(arg, bool):
            return Form((), float(arg))
        return None

    def own(self, key: object) -> Form:
        """Return the form of what is no sum of other things."""
        return Form(((self.numbers.setdefault(key, len(self.numbers)), 1.0),))

    def see(self, node: Node) -> None:
        """Note the form of a node's output; nodes come in the order of the program."""
        if len(node.outs) != 1 or node.blocks or node.op.acts:
            return
        found = self.linear(node)
        if found is None or not 0 < len(found.terms) <= MOST_TERMS:
            key = (node.op, self.key(node.args), self.key(dict(node.kwargs)))
            found = self.own(key)
        self.forms[node.outs[0]] = found

    def linear(self, node: Node) -> Form | None:
        """Return a sum, a difference or a multiple as a form."""
        forms = [self.of(arg) for arg in node.args]
        if node.kwargs or not forms or None in forms:
            return None
        first = forms[0]
        assert first is not None
        if node.op in NEGATIVE:
            return first.scaled(-1.0)
        second = forms[1] if len(forms) == 2 else None
        if second is None:
            return None
        if node.op in SUM:
            return first.plus(second)
        if node.op in DIFFERENCE:
            return first.plus(second.scaled(-1.0))
        if node.op in PRODUCT:
            if first.terms:
                first, second = second, first
            return None if first.terms else second.scaled(first.constant)
        if node.op in QUOTIENT and not second.terms and second.constant:
            return first.scaled(1 / second.constant)
        return None

    def key(self, arg: Arg) -> object:
        """Return what an argument is equal to when it is computed again."""
        if isinstance(arg, Value):
            return self.of(arg)
        if isinstance(arg, tuple | list):
            return (type(arg), *map(self.key, arg))
        if isinstance(arg, dict):
            return tuple((k, self.key(v)) for k, v in arg.items())
        if isinstance(arg, slice):
            return (slice, self.key(arg.start), self.key(arg.stop), self.key(arg.step))
        if isinstance(arg, int | float | complex | str | type(None)):
            return (type(arg), arg)
        return id(arg)

    def tested(self, x: Arg, y: Arg) -> tuple[Form, bool] | None:
        """Return the name of the zero of x - y, and whether it rises with it."""
        left, right = self.of(x), self.of(y)
        if left is None or right is None:
            return None
        form = left.plus(right.scaled(-1.0))
        if not form.terms or not np.isfinite(form.constant):
            return None
        scale = form.terms[0][1]
        return form.scaled(1 / scale), scale > 0


def one_sided(
    block: Block, defs: Mapping[Value, Node], varied: set[Value]
) -> dict[Node, Rule]:
    """Return the rules of nodes whose usual slopes at a kink contradict others'."""
    groups: dict[Form, list[Test]] = {}
    for test in _tests(block, _needed(block, defs), varied):
        groups.setdefault(test.key, []).append(test)
    sides: dict[Node, dict[int, bool]] = {}
    for group in groups.values():
        if len({test.turned for test in group}) < 2:
            continue
        forced = [test for test in group if test.forced]
        decided = forced or [test for test in group if test.side != 0.5]
        right = decided[0].turned == 1.0
        for test in group:
            if not test.forced and test.turned != float(right):
                sides.setdefault(test.node, {})[test.bound] = right == test.positive
    return {node: _rule(node, right) for node, right in sides.items()}


def _needed(block: Block, defs: Mapping[Value, Node]) -> set[Node]:
    """Return the nodes that the results depend on."""
    needed: set[Node] = set()
    todo = [v for v in leaves(block.results) if isinstance(v, Value)]
    while todo:
        node = defs.get(todo.pop())
        if node is None or node in needed:
            continue
        needed.add(node)
        todo += node.inputs
        for inner in node.blocks:
            todo += [v for v in leaves(inner.results) if isinstance(v, Value)]
    return needed


def _tests(block: Block, needed: set[Node], varied: set[Value]) -> Iterator[Test]:
    """Give the nodes that test zeros of values which the parameters move."""
    forms = Forms()
    nodes = list(block.walk())
    choosing = _conditions(nodes)
    for node in nodes:
        forms.see(node)
        args = node.args
        if node not in needed or not mentions((args, dict(node.kwargs)), varied):
            continue
        active = [mentions(arg, varied) for arg in args]
        if node.op in ABSOLUTE:
            found = [(0, args[0], 0.0, 0.5, False)]
        elif node.op in LARGER | SMALLER and len(args) == 2 and not node.kwargs:
            # A tie with a constant goes to the constant.
            side = 0.5 if all(active) else float(active[1])
            side = 1 - side if node.op in SMALLER else side
            found = [(0, args[0], args[1], side, False)]
        elif node.op in CLIPPED and active[0] and not any(active[1:]):
            found = [(k, args[0], b, float(k), False) for k, b in _bounds(node)]
        elif node.op in ORDERED and node.outs[0] in choosing:
            found = [(0, args[0], args[1], ORDERED[node.op], True)]
        else:
            continue
        for bound, x, y, side, forced in found:
            tested = forms.tested(x, y)
            if tested is not None:
                yield Test(node, *tested, side, forced, bound)


def _conditions(nodes: list[Node]) -> set[Value]:
    """Return the truth values that choose between values, or are multiplied with."""
    found: set[Value] = set()
    for node in nodes:
        if node.op in ("np.where", "np.select", "np.choose", "if"):
            part = node.args[:1]
        elif node.op in PRODUCT:
            part = node.args
        else:
            continue
        found.update(v for v in leaves(part) if isinstance(v, Value))
    return found


def _bounds(node: Node) -> Iterator[tuple[int, Arg]]:
    """Give the lower bound of a `clip` as number 0, the upper one as number 1."""
    for k, names in enumerate((("a_min", "min"), ("a_max", "max"))):
        given = [node.kwargs[n] for n in names if n in node.kwargs]
        given += node.args[k + 1 : k + 2]
        for bound in given:
            if bound is not None:
                yield k, bound


def _rule(node: Node, right: dict[int, bool]) -> Rule:
    """Return a node's rule with its slopes at a tie taken from the sides given."""
    usual = REGISTRY[node.op]
    if node.op in ABSOLUTE:
        return replace(usual, texts=(abs_from_right if right[0] else abs_from_left,))
    if node.op in CLIPPED:
        # Strictly inside, but for the bounds that are taken from the inner side.
        inner = {0: right.get(0, False), 1: not right.get(1, True)}
        tests = []
        for k, bound in _bounds(node):
            name = "a_min" if node.args[k + 1 : k + 2] == (bound,) else ""
            name = name.replace("min", "max") if k else name
            if not name:
                pairs = (("a_min", "min"), ("a_max", "max"))[k]
                name = next(n for n in pairs if n in node.kwargs)
            sign = "<" if k else ">"
            tests.append(f"(a {sign}{'=' * inner[k]} {name})")
        return replace(usual, texts=(" & ".join(tests), *usual.texts[1:]))
    # With x - y from the right the larger one of equal values is x.
    larger = right[0] if node.op in LARGER else not right[0]
    if node.op in SMALLER:
        texts = ("x <= y", "y < x") if larger else ("x < y", "y <= x")
    else:
        texts = ("x >= y", "y > x") if larger else ("x > y", "y >= x")
    if node.op in ("np.fmax", "np.fmin"):
        texts = (f"({texts[0]}) | np.isnan(y)", f"({texts[1]}) | np.isnan(x)")
    return replace(usual, texts=texts, tie=())
