"""The finite field in which expressions are evaluated at random points.

An atom (exp x, log x, erf x, √x ...) is a random element that is remembered by the
value of its argument.  exp turns sums into products, log products into sums, tanh is
written with exp, sin and cos are points of a circle, roots are roots.
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

from .concolic import Concolic
from .signs import sign_of

__all__ = ["Poisoned", "Trial", "Unknown", "Unlucky"]

TERMS = 200
"""Terms of a sum that are searched for a common exponential factor."""


ODD = {"erf", "erfi", "erfinv", "asin", "atan", "asinh", "atanh", "Si", "Shi"}


Residue = Any
"""An int of the field, or a pair (a, b) for a + b·i where a root asked for i² = −1."""


Terms = dict[Any, Fraction]
"""A sum of rational multiples of leaves; see `Trial.linear`."""


POISON = object()
"""In place of a value that needs a root which this point has not."""


class Unlucky(Exception):  # noqa: N818 - a reason to try again, not an error
    """This point divides by zero or has no root; another will do."""


class Poisoned(Exception):  # noqa: N818 - an answer, not an error
    """There is no root of this order here; what does not need it may go on."""


class Unknown(Exception):  # noqa: N818 - an answer, not an error
    """The expression has an infinity, a NaN or a degree beyond the field."""


class Trial:
    """One random point of the field.

    positive : nodes that are not negative where the expressions are defined.
    """

    def __init__(
        self,
        prime: int,
        seed: int,
        nodes: list[Concolic],
        positive: frozenset[int] = frozenset(),
    ) -> None:
        self.p = prime
        self.q = (prime - 1) // 2
        self.random = Random(seed)
        self.nodes = nodes
        self.memo: list[Residue] = [None] * len(nodes)
        self.atoms: dict[Any, Residue] = {}
        self.terms: dict[tuple[str, int], Terms] = {}
        # What the bound of the error needs: whether what has a square root is a square;
        # numbers that have one; all that has a root; the denominators of exponents, and
        # the largest sum of exponents.
        self.characters: dict[Any, bool] = {}
        self.numbers: set[int] = set()
        self.roots: set[Any] = set()
        self.denominator = 1
        self.weight = Fraction(1)
        # Nodes whose sign the digits have decided, by |u|; those where it mattered.
        self.decided: dict[Residue, int] = {}
        self.assumed: set[int] = set()
        self.positive = positive

    # -------------------------------------------------- the field and its extension

    def neg(self, a: Residue) -> Residue:
        if type(a) is int:
            return -a % self.p
        return (-a[0] % self.p, -a[1] % self.p)

    def add(self, a: Residue, b: Residue) -> Residue:
        if type(a) is int and type(b) is int:
            return (a + b) % self.p
        x, y = _pair(a), _pair(b)
        return self.pair((x[0] + y[0]) % self.p, (x[1] + y[1]) % self.p)

    def mul(self, a: Residue, b: Residue) -> Residue:
        if type(a) is int and type(b) is int:
            return a * b % self.p
        (a, b), (c, d) = _pair(a), _pair(b)
        return self.pair((a * c - b * d) % self.p, (a * d + b * c) % self.p)

    def inv(self, a: Residue) -> Residue:
        if type(a) is int:
            if a == 0:
                raise Unlucky
            return pow(a, -1, self.p)
        x, y = a
        size = pow(x * x + y * y, -1, self.p)
        return self.pair(x * size % self.p, -y * size % self.p)

    def pair(self, a: int, b: int) -> Residue:
        return (a, b) if b else a

    def power(self, a: Residue, n: int) -> Residue:
        """Return a**n for an integer n of either sign."""
        if n < 0:
            return self.power(self.inv(a), -n)
        if type(a) is int:
            return pow(a, n, self.p)
        result: Residue = 1
        while n:
            if n & 1:
                result = self.mul(result, a)
            a = self.mul(a, a)
            n >>= 1
        return result

    def rational(self, c: Fraction) -> int:
        return c.numerator * pow(c.denominator, -1, self.p) % self.p

    def is_square(self, a: int) -> bool:
        return pow(a, self.q, self.p) == 1

    def inverse(self, denominator: int) -> int:
        """Return the inverse of an exponent's denominator."""
        if math.gcd(denominator, self.q) != 1:
            raise Unlucky
        return pow(denominator, -1, self.q)

    def root(self, v: Residue, c: Fraction, key: Any) -> Residue:
        """Return v**c, the power that squares have among the squares.

        key : says which root it is, from one trial to the next.
        """
        if c.denominator == 1:
            return self.power(v, c.numerator)
        if type(v) is not int or v == 0:
            raise Unlucky
        self.roots.add(key)
        exponent = c.numerator * self.inverse(c.denominator) % self.q
        if c.denominator % 2 == 0:
            if key[0] == "log":
                self.characters[key] = self.is_square(v)
            elif key[1] > 13:
                self.numbers.add(key[1])
        if self.is_square(v):
            return pow(v, exponent, self.p)
        # v = −w with w a square; (−1)**c is i**k for a denominator 2·odd, ±1 for odd.
        part = pow(-v % self.p, exponent, self.p)
        if c.denominator % 2:
            return part if c.numerator % 2 == 0 else -part % self.p
        half = c.denominator // 2
        if half % 2 == 0:
            raise Poisoned
        turns = c.numerator * pow(half, -1, 4) % 4
        return self.mul(part, (1, (0, 1), self.p - 1, (0, self.p - 1))[turns])

    # -------------------------------------------------- atoms

    def draw(self) -> int:
        return self.random.randrange(2, self.p)

    def atom(self, key: Any) -> int:
        """Return the random element that stands for a leaf."""
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = self.draw()
        return found

    def square_atom(self, key: Any) -> int:
        """Return a random square: all its fractional powers exist."""
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = pow(self.draw(), 2, self.p)
        return found

    def oriented(self, h: Residue) -> tuple[Residue, int]:
        """Return h or −h, whichever comes first, and the sign: they are one leaf."""
        other = self.neg(h)
        first = _pair(h) <= _pair(other)
        return (h, 1) if first else (other, -1)

    # -------------------------------------------------- sums and products

    def linear(self, node: Concolic) -> Terms:
        """Write a node as Σ c·leaf; a leaf is 1, log|u| or any other value."""
        key = ("linear", node.index)
        found = self.terms.get(key)
        if found is None:
            found = self.terms[key] = self._linear(node)
        return found

    def _linear(self, node: Concolic) -> Terms:
        if node.op == "const":
            return {"1": node.payload}
        if node.op in ("add", "sub"):
            sign = 1 if node.op == "add" else -1
            return _merge(self.linear(node.args[0]), self.linear(node.args[1]), sign)
        if node.op == "mul":
            for factor, other in (node.args, node.args[::-1]):
                if factor.op == "const":
                    return _scaled(self.linear(other), factor.payload)
        if node.op == "div" and node.args[1].op == "const":
            return _scaled(self.linear(node.args[0]), 1 / node.args[1].payload)
        if node.op == "log":
            return self.logarithm(node.args[0])
        if node.op == "stop":
            return self.linear(node.args[0])
        h = self.value(node)
        if h == 0:
            return {}
        scale = self.content(node)
        leaf, sign = self.oriented(self.mul(h, self.inv(self.rational(scale))))
        return {("value", leaf): sign * scale}

    def content(self, node: Concolic) -> Fraction:
        """Return the rational factor of a product: ½ of (x/√2)², so that it is ½·x²."""
        scale = Fraction(1)
        if node.op in ("mul", "div", "pow"):
            for leaf, c in self.logarithm(node).items():
                if leaf[0] == "number" and c.denominator == 1 and abs(c) < 1000:
                    scale *= Fraction(leaf[1]) ** int(c)
        return scale

    def logarithm(self, node: Concolic) -> Terms:
        """Write log|node| as Σ c·leaf."""
        key = ("log", node.index)
        found = self.terms.get(key)
        if found is None:
            found = self.terms[key] = self._logarithm(node)
        return found

    def _logarithm(self, node: Concolic) -> Terms:
        if node.op == "mul":
            return _merge(self.logarithm(node.args[0]), self.logarithm(node.args[1]), 1)
        if node.op == "div":
            return _merge(
                self.logarithm(node.args[0]), self.logarithm(node.args[1]), -1
            )
        if node.op == "pow" and node.args[1].op == "const":
            return _scaled(self.logarithm(node.args[0]), node.args[1].payload)
        if node.op == "exp":
            return self.linear(node.args[0])
        if node.op == "stop":
            return self.logarithm(node.args[0])
        if node.op == "e":
            return {"1": Fraction(1)}
        if node.op == "const":
            return self._logarithm_of_number(abs(node.payload))
        h = self.value(node)
        # |u| is u or −u: where its form does not tell which, the digits do.
        size = h if node.value > 0 else self.neg(h)
        if not sign_of(node) and node.index not in self.positive:
            self.decided[size] = node.index
        if node.op in ("add", "sub"):
            # e^a + e^b = e^a (1 + e^(b − a)): whichever common factor comes out.
            factor = self._common_factor(node)
            if factor:
                rest = self.exponential(_scaled(factor, Fraction(-1)))
                return _merge(factor, {("log", self.mul(size, rest)): Fraction(1)}, 1)
        return {("log", size): Fraction(1)}

    def _common_factor(self, node: Concolic) -> Terms:
        """Return the exponent of e in the largest term of a sum."""
        stack, largest = [node], None
        for _ in range(2 * TERMS):
            if not stack:
                break
            term = stack.pop()
            if term.op in ("add", "sub"):
                stack.extend(term.args)
            elif largest is None or abs(term.value) > abs(largest.value):
                largest = term
        if stack or largest is None or largest.op not in ("exp", "mul", "div", "pow"):
            return {}
        if largest.value == 0:
            return {}
        terms = self.logarithm(largest)
        return {k: c for k, c in terms.items() if k == "1" or k[0] == "value"}

    def _logarithm_of_number(self, x: Fraction) -> Terms:
        if x == 0:
            raise Unknown
        terms: Terms = {}
        for sign, n in ((1, x.numerator), (-1, x.denominator)):
            for prime in (2, 3, 5, 7, 11, 13):
                while n % prime == 0:
                    n //= prime
                    terms = _merge(terms, {("number", prime): Fraction(sign)}, 1)
            if n > 1:
                terms = _merge(terms, {("number", n): Fraction(sign)}, 1)
        return terms

    def exponential(self, terms: Terms) -> Residue:
        """Return exp(Σ c·leaf) as a product of powers."""
        result: Residue = 1
        for leaf, c in terms.items():
            if c == 0:
                continue
            if leaf[0] in ("log", "number"):
                v = leaf[1] if leaf[0] == "log" else leaf[1] % self.p
                if leaf[0] == "log" and c % 2 and v in self.decided:
                    self.assumed.add(self.decided[v])
                factor = self.root(v, c, leaf)
            else:
                base = self.square_atom(("exp", leaf))
                exponent = c.numerator * self.inverse(c.denominator) % self.q
                factor = pow(base, exponent, self.p)
            result = self.mul(result, factor)
        self.count(terms)
        return result

    def count(self, terms: Terms, times: int = 1) -> None:
        """Note the exponents of a product of powers, for the bound of the error."""
        for c in terms.values():
            self.denominator = math.lcm(self.denominator, c.denominator)
        size = sum((abs(c) for c in terms.values()), Fraction(0))
        self.weight = max(self.weight, times * size)

    def total(self, terms: Terms) -> Residue:
        """Return Σ c·leaf itself."""
        result: Residue = 0
        for leaf, c in terms.items():
            value = 1 if leaf == "1" else leaf[1]
            if leaf[0] in ("log", "number"):
                value = self.atom(leaf)
            result = self.add(result, self.mul(self.rational(c), value))
        return result

    def circle(self, terms: Terms) -> tuple[int, int]:
        """Return (cos, sin) of Σ c·leaf by the addition theorems."""
        x, y = 1, 0
        for leaf, c in terms.items():
            # Angles are halved at most six times; other fractions are new leaves.
            fine = 64 % c.denominator == 0
            unit = Fraction(1, 64) if fine else abs(c)
            key = ("circle", leaf, unit)
            r = self.atom(key)
            size = self.inv((1 + r * r) % self.p)
            u, v = (1 - r * r) * size % self.p, 2 * r * size % self.p
            u, v = self._turn(u, v, int(c / unit))
            x, y = (x * u - y * v) % self.p, (x * v + y * u) % self.p
        self.count(terms, 256)
        return x, y

    def _turn(self, u: int, v: int, n: int) -> tuple[int, int]:
        if n < 0:
            v, n = -v % self.p, -n
        x, y = 1, 0
        while n:
            if n & 1:
                x, y = (x * u - y * v) % self.p, (x * v + y * u) % self.p
            u, v = (u * u - v * v) % self.p, 2 * u * v % self.p
            n >>= 1
        return x, y

    # -------------------------------------------------- evaluation

    def value(self, node: Concolic) -> Residue:
        """Return the element that a node evaluates to."""
        found = self.memo[node.index]
        if found is None:
            try:
                found = self.memo[node.index] = self._value(node)
            except Poisoned:
                self.memo[node.index] = POISON
                raise
        elif found is POISON:
            raise Poisoned
        return found

    def _value(self, node: Concolic) -> Residue:
        op, args = node.op, node.args
        if op == "input":
            return self.atom(("input", node.payload))
        if op == "const":
            return self.rational(node.payload)
        if op == "add":
            return self.add(self.value(args[0]), self.value(args[1]))
        if op == "sub":
            return self.add(self.value(args[0]), self.neg(self.value(args[1])))
        if op == "mul":
            return self.mul(self.value(args[0]), self.value(args[1]))
        if op == "div":
            return self.mul(self.value(args[0]), self.inv(self.value(args[1])))
        if op == "stop":
            return self.value(args[0])
        if op == "pow":
            return self._power(*args)
        if op in ("inf", "nan"):
            raise Unknown
        if op == "e":
            return self.exponential({"1": Fraction(1)})
        if op in ("pi", "euler_gamma"):
            return self.atom((op,))
        return self._function(op, args)

    def _power(self, base: Concolic, exponent: Concolic) -> Residue:
        if exponent.op == "const":
            c = exponent.payload
            if c.denominator == 1:
                return self.power(self.value(base), c.numerator)
            return self.exponential(_scaled(self.logarithm(base), c))
        # b**y = exp(y·log b), the product of two sums.
        terms: Terms = {}
        for leaf, c in self.linear(exponent).items():
            for other, k in self.logarithm(base).items():
                if leaf == "1":
                    one: Terms = {other: c * k}
                else:
                    h = self.mul(
                        self.total({leaf: Fraction(1)}),
                        self.total({other: Fraction(1)}),
                    )
                    key, sign = self.oriented(h)
                    one = {("value", key): c * k * sign}
                terms = _merge(terms, one, 1)
        return self.exponential(terms)

    def _function(self, op: str, args: tuple[Concolic, ...]) -> Residue:
        if op == "exp":
            return self.exponential(self.linear(args[0]))
        if op == "log":
            return self.total(self.logarithm(args[0]))
        if op in ("tanh", "sinh", "cosh"):
            t = self.exponential(self.linear(args[0]))
            s = self.inv(t)
            even, odd = self.add(t, s), self.add(t, self.neg(s))
            if op == "tanh":
                return self.mul(odd, self.inv(even))
            return self.mul(even if op == "cosh" else odd, pow(2, -1, self.p))
        if op in ("sin", "cos", "tan"):
            x, y = self.circle(self.linear(args[0]))
            if op == "tan":
                return y * self.inv(x) % self.p
            return y if op == "sin" else x
        if op == "erfc":
            return self.add(1, self.neg(self._function("erf", args)))
        if op == "acos":
            half_pi = self.atom(("pi",)) * pow(2, -1, self.p) % self.p
            return self.add(half_pi, self.neg(self._function("asin", args)))
        values = [self.value(a) for a in args]
        if op in ODD:
            leaf, sign = self.oriented(values[0])
            h = self.atom((op, leaf))
            return h if sign > 0 else -h % self.p
        return self.atom((op, *values))


def _pair(a: Residue) -> tuple[int, int]:
    return (a, 0) if type(a) is int else a


def _merge(a: Terms, b: Terms, sign: int) -> Terms:
    result = dict(a)
    for leaf, c in b.items():
        new = result.get(leaf, Fraction(0)) + sign * c
        if new:
            result[leaf] = new
        else:
            result.pop(leaf, None)
    return result


def _scaled(terms: Terms, c: Fraction) -> Terms:
    return {leaf: k * c for leaf, k in terms.items()} if c else {}
