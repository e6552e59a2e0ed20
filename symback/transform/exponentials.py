"""Quotients, powers and logarithms of exponentials, and exponentials of exponentials.

The product of their parts' derivatives overflows, cancels or is 0 · ∞ where the truth
is finite: ``(1 + np.exp(-x)) ** -1`` at -800, ``np.exp(-np.exp(x))`` at 800.  Two forms
that are stable over the whole range replace it.

- Of a power, the slope is the value times the slope of its logarithm.  That of a
  product is the sum of its factors', that of a sum the sum of its terms' weighted by
  their shares; the share of ``exp(u)`` in ``exp(u) + b`` is ``1 / (1 + b * exp(-u))``.
- ``exp(v)`` times ``exp(u)`` is ``exp(v + u)``.

So the slope goes from the root to the exponents at once, past what overflows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..graph import Arg, Node, Value
from ..operation import REQUIRED, Rule
from .activity import mentions
from .spelling import spelled

__all__ = ["match_exponential"]

EXP = frozenset({"np.exp", "math.exp"})
EXPM1 = frozenset({"np.expm1", "math.expm1"})
COSH = frozenset({"np.cosh", "math.cosh"})
SINH = frozenset({"np.sinh", "math.sinh"})
LOG = frozenset({"np.log", "math.log"})
LOG1P = frozenset({"np.log1p", "math.log1p"})
DEEPEST = 12
"""Longer products and sums are left to the chain rule."""

Number = int | float


def match_exponential(
    node: Node, defs: Mapping[Value, Node], varied: set[Value]
) -> tuple[Rule, dict[str, Arg]] | None:
    """Return a rule from a node to the exponents it is built of, and what it names."""
    op, args = spelled(node)
    if not args or not mentions(args, varied):
        return None
    match = Match(defs, varied, node.outs[0])
    if op in EXP | EXPM1 and len(args) == 1:
        match.exponential(args[0], "out" if op in EXP else "(out + 1)")
    elif op in LOG | LOG1P and len(args) == 1:
        match.logarithm(args[0], plus_one=op in LOG1P)
    elif op == "truediv":
        match.power(args[1], -1)
        if match.found:
            match.add(args[0], f"1 / {match.name(args[1])}")
    elif op == "pow" and _is_number(args[1]):
        whole = isinstance(args[1], int) or float(args[1]).is_integer()
        if not whole or args[1] < 0:
            match.power(args[0], args[1])
    return match.rule() if match.found else None


def _is_number(arg: Arg) -> bool:
    return isinstance(arg, int | float) and not isinstance(arg, bool)


def _times(factor: Number, *texts: str) -> str:
    """Return a product, without what is 1.

    >>> _times(2, "out", "x"), _times(-1, "out"), _times(1)
    ('2 * out * x', '-out', '1')
    """
    if factor == int(factor):
        factor = int(factor)
    parts = [text for text in texts if text]
    if not parts:
        return repr(factor)
    product = " * ".join(parts)
    if factor in (1, -1):
        return product if factor == 1 else f"-{product}"
    return f"{factor!r} * {product}"


@dataclass(frozen=True)
class Slope:
    """A slope ``factor * times / over`` of a logarithm."""

    factor: Number
    times: str = ""
    over: str = ""

    def text(self, *parts: str) -> str:
        product = _times(self.factor, *parts, self.times)
        return f"{product} / ({self.over})" if self.over else product


@dataclass(frozen=True)
class Term:
    """A term of a sum: a number times a value, times an exponential if there is one.

    value : the whole term, without the number.
    """

    number: Number
    value: Arg
    weight: Arg = None
    exponent: Arg = None
    library: str = ""


@dataclass
class Match:
    """The slopes from a root to its leaves."""

    defs: Mapping[Value, Node]
    varied: set[Value]
    root: Value
    found: bool = False
    slopes: list[tuple[Value, Slope]] = field(default_factory=list)
    texts: list[tuple[Value, str]] = field(default_factory=list)
    names: dict[Value, str] = field(default_factory=dict)

    def name(self, arg: Arg) -> str:
        """Return the name of a value in the texts; numbers stand for themselves."""
        if isinstance(arg, Value):
            return self.names.setdefault(arg, f"x{len(self.names)}")
        return repr(arg)

    def node(self, arg: Arg) -> tuple[str, tuple[Arg, ...]]:
        """Return the operation that an argument is the result of."""
        made = self.defs.get(arg) if isinstance(arg, Value) else None
        return spelled(made) if made is not None and not made.blocks else ("", ())

    def add(self, leaf: Arg, text: str) -> None:
        """Note a partial by a leaf."""
        if isinstance(leaf, Value) and leaf in self.varied:
            self.texts.append((leaf, text))

    def slope(self, leaf: Arg, slope: Slope) -> None:
        """Note a slope of the logarithm by a leaf."""
        if isinstance(leaf, Value) and leaf in self.varied:
            self.slopes.append((leaf, slope))

    def rule(self) -> tuple[Rule, dict[str, Arg]]:
        """Return the rule that the texts make."""
        params = tuple(f"p{k}" for k in range(len(self.texts)))
        texts = tuple(text for _, text in self.texts)
        required = (REQUIRED,) * len(params)
        made = Rule("closed", "elementwise", params, texts, required, singular=True)
        bound: dict[str, Arg] = dict(
            zip(params, (v for v, _ in self.texts), strict=True)
        )
        bound.update((name, value) for value, name in self.names.items())
        return made, bound

    # Powers and logarithms

    def power(self, base: Arg, exponent: Number) -> None:
        """Match a power: its slope is a multiple of itself."""
        self.log_of(base, exponent, 0)
        self.finish("out")

    def logarithm(self, arg: Arg, plus_one: bool) -> None:
        """Match the logarithm of an argument, or of one more than it."""
        if plus_one:
            terms = [Term(1, 1), *self.terms(arg, 1, 0)]
            if not any(term.exponent is not None for term in terms):
                return
            self.found = True
            self.shares(terms, "", 1)
        else:
            self.log_of(arg, 1, 0)
        self.finish("")

    def finish(self, root: str) -> None:
        """Turn the slopes of the logarithm into partials of the root."""
        leaves = dict.fromkeys(leaf for leaf, _ in self.slopes)
        for leaf in leaves:
            slopes = [slope for other, slope in self.slopes if other is leaf]
            if len(slopes) == 1:
                text = slopes[0].text(root)
            else:
                total = " + ".join(slope.text() for slope in slopes)
                text = f"{root} * ({total})" if root else total
            self.texts.append((leaf, text))

    def log_of(self, arg: Arg, power: Number, depth: int) -> None:
        """Add the slopes of the logarithm of a product's power."""
        op, args = self.node(arg)
        if depth > DEEPEST or not mentions(arg, self.varied):
            return
        if op == "neg":
            self.log_of(args[0], power, depth + 1)
        elif op in ("mul", "truediv") and len(args) == 2:
            self.log_of(args[0], power, depth + 1)
            self.log_of(args[1], power if op == "mul" else -power, depth + 1)
        elif op == "pow" and _is_number(args[1]):
            self.log_of(args[0], power * args[1], depth + 1)
        elif op in EXP:
            self.found = True
            self.slope(args[0], Slope(power))
        elif op in COSH:
            self.found = True
            self.slope(args[0], Slope(power, f"np.tanh({self.name(args[0])})"))
        elif op in SINH:
            self.found = True
            self.slope(args[0], Slope(power, "", f"np.tanh({self.name(args[0])})"))
        elif op in EXPM1 | {"add", "sub"}:
            terms = list(self.terms(arg, 1, 0))
            if any(term.exponent is not None for term in terms):
                self.found = True
                self.shares(terms, self.name(arg), power)
            else:
                self.slope(arg, Slope(power, "", self.name(arg)))
        else:
            self.slope(arg, Slope(power, "", self.name(arg)))

    def shares(self, terms: list[Term], total: str, power: Number) -> None:
        """Add the slopes of the logarithm of a sum: its terms' by their shares."""
        # What is computed by `math` raises before it overflows.
        safe = all(t.library != "np" for t in terms)
        for term in terms:
            if term.exponent is None:
                rest = total or self.total(terms)
                self.slope(term.value, Slope(power * term.number, "", rest))
                continue
            weight = self.name(term.weight) if term.weight is not None else ""
            if self.nested(terms, term, total, power):
                continue
            over = self.relative(terms, term)
            if safe:
                rest = total or self.total(terms)
                share = Slope(power * term.number, self.name(term.value), rest)
            elif over == "1 - exp":
                down = self.negative(term.exponent)
                share = Slope(-power, "", f"np.expm1({down})")
            else:
                share = Slope(power, weight, over)
            self.slope(term.exponent, share)
            if term.weight is not None:
                self.slope(term.weight, Slope(power, "", over))

    def nested(self, terms: list[Term], term: Term, total: str, power: Number) -> bool:
        """Add the slopes of a term exp(v) whose v falls as fast as exponentials."""
        inner = list(self.terms(term.exponent, 1, 0))
        falls = [t.exponent is not None and t.number < 0 for t in inner]
        if not any(falls) or term.weight is not None or term.library != "np":
            return False
        v, total = self.name(term.exponent), total or self.total(terms)
        for one, fall in zip(inner, falls, strict=True):
            factor = power * term.number * one.number
            if fall and one.weight is None:
                product = f"np.exp({v} + {self.name(one.exponent)})"
                self.slope(one.exponent, Slope(factor, product, total))
            else:
                self.slope(one.value, Slope(factor, self.name(term.value), total))
        return True

    def total(self, terms: list[Term]) -> str:
        """Return the sum itself, of which no value is known."""
        return " + ".join(_times(t.number, self.name(t.value)) for t in terms)

    def relative(self, terms: list[Term], own: Term) -> str:
        """Return a sum divided by the exponential, and the number, of a term."""
        weight = "1" if own.weight is None else self.name(own.weight)
        parts = [weight]
        plain = own.weight is None
        for term in terms:
            if term is own:
                continue
            factor = term.number / own.number
            if term.exponent is None:
                down = f"np.exp({self.negative(own.exponent)})"
                if isinstance(term.value, int | float):
                    factor *= term.value
                    parts.append(_times(factor, down))
                    if plain and len(terms) == 2 and factor == -1:
                        return "1 - exp"
                else:
                    parts.append(_times(factor, self.name(term.value), down))
            else:
                apart = f"{self.name(term.exponent)} - {self.name(own.exponent)}"
                other = "" if term.weight is None else self.name(term.weight)
                parts.append(_times(factor, other, f"np.exp({apart})"))
        return " + ".join(parts)

    def negative(self, exponent: Arg) -> str:
        """Return minus an exponent."""
        op, args = self.node(exponent)
        return self.name(args[0]) if op == "neg" else f"-{self.name(exponent)}"

    def terms(self, arg: Arg, number: Number, depth: int) -> Iterator[Term]:
        """Give the terms of a sum."""
        op, args = self.node(arg)
        if depth > DEEPEST:
            yield Term(number, arg)
        elif op == "neg":
            yield from self.terms(args[0], -number, depth + 1)
        elif op in ("add", "sub"):
            yield from self.terms(args[0], number, depth + 1)
            sign = number if op == "add" else -number
            yield from self.terms(args[1], sign, depth + 1)
        elif op == "mul" and any(map(_is_number, args)):
            first, second = args if _is_number(args[0]) else args[::-1]
            yield from self.terms(second, number * first, depth + 1)
        elif op == "truediv" and _is_number(args[1]) and args[1]:
            yield from self.terms(args[0], number / args[1], depth + 1)
        elif op in EXP:
            library = op.partition(".")[0]
            yield Term(number, arg, None, args[0], library)
        elif op in EXPM1:
            library = op.partition(".")[0]
            yield Term(number, arg, None, args[0], library)
            yield Term(-number, 1)
        elif op == "mul":
            for weight, other in (args, args[::-1]):
                inner, exponents = self.node(other)
                if inner in EXP:
                    library = inner.partition(".")[0]
                    yield Term(number, arg, weight, exponents[0], library)
                    return
            yield Term(number, arg)
        else:
            yield Term(number, arg)

    # Exponentials of what overflows

    def exponential(self, arg: Arg, root: str) -> None:
        """Match exp(v), where v has terms that overflow before exp(v) does."""
        terms = list(self.terms(arg, 1, 0))
        grows = [self.node(term.value)[0] in COSH | SINH for term in terms]
        overflows = [t.exponent is not None and t.library == "np" for t in terms]
        powers = [self.whole_power(term.value) for term in terms]
        if not any(grows) and not any(overflows) and not any(powers):
            return
        self.found = True
        v = self.name(arg)
        for term, grown, over, power in zip(
            terms, grows, overflows, powers, strict=True
        ):
            if power is not None:
                base, whole, weight = power
                name = self.name(base)
                chain = f" * {name}" * (whole - 1) + f" / {name}" * (1 - whole)
                number = "" if weight is None else self.name(weight)
                start = _times(term.number * whole, root, number)
                self.add(base, start + chain)
                chain = f" * {name}" * whole + f" / {name}" * -whole
                self.add(weight, _times(term.number, root) + chain)
            elif over:
                product = f"np.exp({v} + {self.name(term.exponent)})"
                weight = "" if term.weight is None else self.name(term.weight)
                self.add(term.exponent, _times(term.number, weight, product))
                self.add(term.weight, _times(term.number, product))
            elif grown:
                op, (x,) = self.node(term.value)
                sign = "-" if op in COSH else "+"
                name = self.name(x)
                pair = f"(np.exp({v} + {name}) {sign} np.exp({v} - {name}))"
                self.add(x, _times(0.5 * term.number, pair))
            else:
                self.add(term.value, _times(term.number, root))

    def whole_power(self, arg: Arg) -> tuple[Arg, int, Arg] | None:
        """Return base, exponent and weight of a term ``w * x**n`` or ``w / x**n``.

        Multiplied with exp(v) factor by factor it does not overflow.  What has a name
        is left to the chain rule, as the user wrote it.
        """
        op, args = self.node(arg)
        if not isinstance(arg, Value) or arg.name is not None or len(args) != 2:
            return None
        if op == "pow" and args[1] in (2, 3, 4, -1, -2, -3, -4):
            assert isinstance(args[1], int | float)
            return args[0], int(args[1]), None
        if op == "mul" and args[0] is args[1]:
            return args[0], 2, None
        if op in ("mul", "truediv"):
            for weight, other in (args, args[::-1])[: 1 if op == "truediv" else 2]:
                inner = self.whole_power(other)
                if inner is not None and inner[2] is None:
                    base, power, _ = inner
                    weight = None if weight == 1 else weight
                    return base, power if op == "mul" else -power, weight
        if op == "truediv" and not _is_number(args[1]):
            return args[1], -1, None if args[0] == 1 else args[0]
        return None
