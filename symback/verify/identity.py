"""Proof that two expressions are one function: evaluation in a finite field.

An expression is a rational function of its inputs and of transcendental atoms (exp x,
log x, erf x, √x ...).  It is evaluated at random elements of a field of p elements, an
atom being a random element that is remembered by the *value* of its argument, so that
equal arguments give equal atoms; exp turns sums into products, log products into sums,
tanh is written with exp, sin and cos are points of a circle, roots are roots.  What is
equal by these relations is equal as a function.  If the two sides are not, their
difference is a rational function whose numerator vanishes at a random point of a random
field with a chance that `_bound` bounds (Schwartz 1980, Zippel 1979):

- its degree over p, where exponents count with their common denominator, and a root of
  order b multiplies it by b (the norm of the difference is a rational function);
- for each two atoms, the chance that different arguments are given one atom;
- the chance that the random prime divides all coefficients: their height over the
  length of p, among all primes that could have been drawn.

Square roots need more: √v for v = y² is y or −y, and a point decides which.  Over the
trials, whether each v is a square is noted; if these bits are linearly independent, no
product of the v is a constant times a square, all signs of the roots are conjugate, and
the norm speaks for the true one.  If they are not, nothing is proved.

Agreement is therefore proof up to a printed error; disagreement proves nothing, for not
every identity of atoms is known here.  A sign that the digits have decided (|u| is u or
−u) is `assumed`: the proof holds where it is so.

>>> from symback.verify.concolic import Tape
>>> tape = Tape(30)
>>> x = tape.input("x", 0.5)
>>> a = (x + 1) ** 2 - x * x
>>> prove([(a, 2 * x + 1), (a, 2 * x)])[0].error < 1e-12
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from random import SystemRandom
from typing import Any

from .concolic import Concolic, reachable
from .deadline import Clock, TimedOut
from .field import Poisoned, Trial, Unknown, Unlucky
from .primes import WITNESSES, count_bits, draw

__all__ = ["Identity", "prove"]

BITS = (192, 640, 1280)
"""Lengths of primes; the longer ones serve deep recurrences and many roots."""

TRIALS = 2

MORE = 24
"""Trials beyond the number of square roots, which tell whether they are independent."""

RETRIES = 400
"""Attempts at a point where nothing is divided by zero and all roots exist."""

LIMIT = 1e-12
"""The largest error that may be called proof."""

PER_NODE = 8
"""Powers of atoms that one function multiplies or adds at most."""


@dataclass(frozen=True)
class Identity:
    """Whether two expressions were proved equal, and the chance that this is luck.

    assumed : the nodes whose sign the proof takes from their digits.
    """

    proved: bool
    error: float = 1.0
    trials: int = 0
    assumed: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Size:
    """What bounds the chance of luck, as logarithms to base 2.

    degree : of any value, roots counted as atoms.  height : the length of coefficients.
    atoms : how many, which may each be confused with another.
    """

    degree: float
    height: float
    atoms: float


def _log_sum(a: float, b: float) -> float:
    """Return log2(2**a + 2**b)."""
    high, low = max(a, b), min(a, b)
    return high + math.log2(1.0 + 2.0 ** (low - high)) if low > -math.inf else high


def _size(nodes: list[Concolic], needed: set[int], trial: Trial) -> _Size:
    """Bound numerators' and denominators' degrees, as rational functions of atoms."""
    none = -math.inf
    top: list[float] = [none] * len(nodes)
    low: list[float] = [none] * len(nodes)
    weight = math.log2(max(float(trial.weight), 1.0)) + math.log2(trial.denominator)
    constants = 1.0
    largest = 0.0
    atoms = 2
    for index in sorted(needed):
        node = nodes[index]
        args = [a.index for a in node.args]
        op = node.op
        if op in ("add", "sub"):
            a, b = args
            top[index] = max(_log_sum(top[a], low[b]), _log_sum(top[b], low[a]))
            low[index] = _log_sum(low[a], low[b])
        elif op == "mul":
            top[index] = _log_sum(top[args[0]], top[args[1]])
            low[index] = _log_sum(low[args[0]], low[args[1]])
        elif op == "div":
            top[index] = _log_sum(top[args[0]], low[args[1]])
            low[index] = _log_sum(low[args[0]], top[args[1]])
        elif op == "pow" and _whole(node.args[1]) is not None:
            n = abs(_whole(node.args[1]) or 0)
            both = max(top[args[0]], low[args[0]])
            top[index] = low[index] = both + math.log2(n) if n else none
        elif op == "stop":
            top[index], low[index] = top[args[0]], low[args[0]]
        elif op in ("input", "pi", "euler_gamma"):
            atoms += 1
            top[index] = 1.0  # some atoms are squares of what is drawn
        elif op == "const":
            constants += _length(node.payload)
        elif op not in ("inf", "nan"):
            # Products of powers of atoms, whose exponents have a common denominator.
            atoms += 2 + 2 * len(args)
            inner = none
            for a in args:
                inner = _log_sum(inner, _log_sum(top[a], low[a]))
            own = math.log2(PER_NODE) + max(weight, 0.0)
            top[index] = low[index] = _log_sum(own, inner + 1)
        largest = max(largest, _log_sum(top[index], low[index]))
    # Leaves are quotients of values and powers: twice the degree of either.
    degree = largest + weight + 2
    height = degree + math.log2(constants + math.log2(atoms) + 1)
    return _Size(degree, height, math.log2(atoms))


def _length(c: Fraction) -> int:
    return c.numerator.bit_length() + c.denominator.bit_length()


def _whole(node: Concolic) -> int | None:
    if node.op == "const" and node.payload.denominator == 1:
        return int(node.payload)
    return None


def _bound(bits: int, size: _Size, trial: Trial) -> tuple[float, float]:
    """Return log2 of the chance of luck at a random point, and by the prime."""
    orders = len(trial.roots) * math.log2(max(2, trial.denominator))
    # The norm of a difference: its degree and that of what the roots are of.
    degree = 2 * size.degree + orders
    pairs = 2 * size.atoms + 1
    point = degree + pairs - (bits - 1)
    prime = size.height + degree + pairs - math.log2(bits - 1) - count_bits(bits)
    return point, _log_sum(prime, -2.0 * WITNESSES)


def _distinct(numbers: set[int]) -> bool:
    """Return whether numbers are no squares and have no common factors."""
    known = sorted(numbers)
    squares = any(math.isqrt(n) ** 2 == n for n in known)
    pairs = (math.gcd(a, b) for k, a in enumerate(known) for b in known[:k])
    return not squares and all(g == 1 for g in pairs)


def _independent(trials: list[tuple[bool, ...]]) -> bool:
    """Return whether the bits of the trials, and a constant one, are independent."""
    width = len(trials[0]) + 1
    basis: dict[int, int] = {}
    for bits in trials:
        row = 1 | sum(1 << (k + 1) for k, bit in enumerate(bits) if bit)
        while row:
            lead = row.bit_length()
            if lead not in basis:
                basis[lead] = row
                break
            row ^= basis[lead]
    return len(basis) == width


def _positive(nodes: list[Concolic], needed: set[int]) -> frozenset[int]:
    """Return the nodes that have a logarithm or a root: where it is defined."""
    found = set()
    for index in needed:
        node = nodes[index]
        if node.op == "log" or (node.op == "pow" and _whole(node.args[1]) is None):
            found.add(node.args[0].index)
    return frozenset(found)


def prove(
    pairs: Sequence[tuple[Concolic, Concolic]], clock: Clock | None = None
) -> list[Identity]:
    """Try to prove that the members of each pair are equal wherever they are defined.

    All pairs must be of one tape.  What a clock cuts short is not proved.
    """
    results = [Identity(a is b, 0.0 if a is b else 1.0) for a, b in pairs]
    open_pairs = [i for i, r in enumerate(results) if not r.proved]
    if not open_pairs:
        return results
    try:
        for bits in BITS:
            found = _prove_with(bits, [pairs[i] for i in open_pairs], clock)
            if found is not None:
                for i, one in zip(open_pairs, found, strict=True):
                    results[i] = one
                break
    except Unknown:
        if len(open_pairs) > 1:
            # An infinity in one must not spoil the others.
            for i in open_pairs:
                results[i] = prove([pairs[i]], clock)[0]
    except TimedOut:
        pass
    return results


def _prove_with(
    bits: int, pairs: list[tuple[Concolic, Concolic]], clock: Clock | None
) -> list[Identity] | None:
    """Return what is proved in a field of this length, None if it is too small."""
    nodes = pairs[0][0].home.nodes
    needed = reachable(n for pair in pairs for n in pair)
    order = sorted(needed)
    positive = _positive(nodes, needed)
    prime, random = draw(bits), SystemRandom()
    alive = list(range(len(pairs)))
    characters: list[tuple[bool, ...]] = []
    assumed: set[int] = set()
    wanted, attempts = TRIALS, 0
    point = luck = -math.inf
    sizes: dict[Any, _Size] = {}
    agreed = 0
    while len(characters) < wanted or agreed < TRIALS:
        attempts += 1
        if attempts > RETRIES + wanted:
            return [Identity(False)] * len(pairs)
        if clock is not None:
            clock.check()
        trial = Trial(prime, random.getrandbits(128), nodes, positive)
        try:
            for count, index in enumerate(order):
                if count % 512 == 0 and clock is not None:
                    clock.check()
                with suppress(Poisoned):
                    trial.value(nodes[index])
        except Unlucky:
            # A denominator may divide (p − 1)/2: another prime will do.
            prime = draw(bits) if attempts % 8 == 0 else prime
            characters = characters if attempts % 8 else []
            agreed = agreed if attempts % 8 else 0
            continue
        key = (trial.weight, trial.denominator)
        if key not in sizes:
            sizes[key] = _size(nodes, needed, trial)
        bound = _bound(bits, sizes[key], trial)
        point, luck = max(point, bound[0]), max(luck, bound[1])
        if max(point * TRIALS, luck) > math.log2(LIMIT) - 1:
            return None
        with suppress(Poisoned):
            alive = [
                k for k in alive if trial.value(pairs[k][0]) == trial.value(pairs[k][1])
            ]
            agreed += 1
        if not alive:
            break
        if not _distinct(trial.numbers):
            return [Identity(False)] * len(pairs)
        assumed |= trial.assumed
        row = tuple(trial.characters.values())
        if characters and len(row) > len(characters[0]):
            characters = []
        if not characters or len(row) == len(characters[0]):
            characters.append(row)
        wanted = len(row) + MORE if row else TRIALS
    if alive and characters[0] and not _independent(characters):
        alive = []
    trials = agreed
    error = 2.0 ** max(-1000.0, point * agreed) + 2.0 ** max(-1000.0, luck)
    made = Identity(True, error, trials, frozenset(assumed))
    return [made if k in alive else Identity(False) for k in range(len(pairs))]
