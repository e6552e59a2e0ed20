"""Proof that two expressions are one function: evaluation in a finite field.

An expression is a rational function of its inputs and of transcendental atoms (exp x,
log x, erf x, √x ...).  It is evaluated at random elements of a field of p elements, an
atom being a random element that is remembered by the *value* of its argument, so that
equal arguments give equal atoms; exp turns sums into products, log products into sums,
tanh is written with exp, sin and cos are points of a circle, roots are roots.  If two
different functions of degree d agree at a random point, that is luck of probability at
most d/p (Schwartz 1980, Zippel 1979).  Agreement is therefore proof up to a printed
error; disagreement proves nothing, for not every identity of atoms is known here.

The prime has (p − 1)/2 prime too: then every square has exactly one square root, cube
root ... that is a square itself, and fractional powers multiply as they should.

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
from dataclasses import dataclass

from .concolic import Concolic, reachable
from .deadline import Clock, TimedOut
from .field import Trial, Unknown, Unlucky

__all__ = ["Identity", "prove"]

FIELDS = (2**192 - 1280177, 2**640 - 12689177)
"""Safe primes modulo which 2, 3, 5, 7, 11 and 13 are squares; the larger one serves
deep recurrences of high degree."""

TRIALS = 2
TRIALS_WITH_ROOTS = 48
"""Modular roots have random signs: each trial accepts √(x²) = x with chance ½."""

RETRIES = 400
"""Attempts at a point where nothing is divided by zero and all roots exist."""


LIMIT = 1e-12
"""The largest error that may be called proof."""


@dataclass(frozen=True)
class Identity:
    """Whether two expressions were proved equal, and the chance that this is luck."""

    proved: bool
    error: float = 1.0
    trials: int = 0


def _degrees(nodes: list[Concolic], needed: set[int]) -> tuple[float, int]:
    """Bound the degree of the nodes as rational functions of the atoms.

    Returns the largest degree (of numerator and denominator together) and the number of
    atoms, which may each be confused with another.
    """
    top: list[float] = [0.0] * len(nodes)
    low: list[float] = [0.0] * len(nodes)
    denominators = 1
    atoms = 1
    for index in needed:
        node = nodes[index]
        if node.op == "const":
            small = node.payload.denominator
            denominators = max(denominators, small)
    for index in sorted(needed):
        node = nodes[index]
        args = [a.index for a in node.args]
        op = node.op
        if op in ("add", "sub"):
            a, b = args
            top[index] = max(top[a] + low[b], top[b] + low[a])
            low[index] = low[a] + low[b]
        elif op == "mul":
            top[index] = top[args[0]] + top[args[1]]
            low[index] = low[args[0]] + low[args[1]]
        elif op == "div":
            top[index] = top[args[0]] + low[args[1]]
            low[index] = low[args[0]] + top[args[1]]
        elif op == "pow" and _whole(node.args[1]) is not None:
            n = _whole(node.args[1]) or 0
            size = abs(n) * max(top[args[0]], low[args[0]])
            top[index] = low[index] = float(size)
        elif op == "stop":
            top[index], low[index] = top[args[0]], low[args[0]]
        elif op in ("input", "pi", "euler_gamma"):
            atoms += 1
            top[index] = 1.0
        elif op not in ("const", "inf", "nan"):
            # A product of powers of atoms, whose exponents have a common denominator.
            atoms += 1 + len(args)
            inner = sum(top[a] + low[a] for a in args)
            top[index] = low[index] = 128.0 * denominators + inner
    degree = max((top[i] + low[i] for i in needed), default=1.0)
    return degree, atoms


def _whole(node: Concolic) -> int | None:
    if node.op == "const" and node.payload.denominator == 1:
        return int(node.payload)
    return None


def _bound(prime: int, degree: float, atoms: int) -> float:
    """Return log2 of the chance that one trial accepts a false identity."""
    if degree == math.inf:
        return 0.0
    return math.log2(max(degree, 1.0)) + 2 * math.log2(atoms + 1) + 1 - math.log2(prime)


def prove(
    pairs: Sequence[tuple[Concolic, Concolic]],
    clock: Clock | None = None,
    seed: int = 20_250_101,
) -> list[Identity]:
    """Try to prove that the members of each pair are equal wherever they are defined.

    All pairs must be of one tape.  What a clock cuts short is not proved.
    """
    results = [Identity(a is b, 0.0 if a is b else 1.0) for a, b in pairs]
    open_pairs = [i for i, r in enumerate(results) if not r.proved]
    if not open_pairs:
        return results
    nodes = pairs[0][0].home.nodes
    needed = reachable(n for i in open_pairs for n in pairs[i])
    degree, atoms = _degrees(nodes, needed)
    for prime in FIELDS:
        bits = _bound(prime, degree, atoms)
        if bits * TRIALS < math.log2(LIMIT):
            break
    else:
        return results
    order = sorted(needed)
    trials = done = 0
    wanted = TRIALS
    attempts = 0
    while done < wanted and open_pairs:
        attempts += 1
        if attempts > RETRIES + wanted or (clock is not None and clock.over):
            return results
        trial = Trial(prime, seed + attempts, nodes)
        try:
            for count, index in enumerate(order):
                trial.value(nodes[index])
                if count % 512 == 0 and clock is not None:
                    clock.check()
        except Unlucky:
            continue
        except Unknown:
            return (
                _one_by_one(pairs, results, clock, seed) if len(pairs) > 1 else results
            )
        except TimedOut:
            return results
        if trial.roots:
            wanted = TRIALS_WITH_ROOTS
        open_pairs = [
            i
            for i in open_pairs
            if trial.value(pairs[i][0]) == trial.value(pairs[i][1])
        ]
        done += 1
        trials += 1
    error = 2.0 ** max(-1000.0, bits * trials)
    if wanted == TRIALS_WITH_ROOTS:
        error = max(error, 2.0**-trials)
    for i in open_pairs:
        results[i] = Identity(True, error, trials)
    return results


def _one_by_one(
    pairs: Sequence[tuple[Concolic, Concolic]],
    results: list[Identity],
    clock: Clock | None,
    seed: int,
) -> list[Identity]:
    """Prove each pair alone: an infinity in one must not spoil the others."""
    return [
        r if r.proved else prove([pair], clock, seed)[0]
        for pair, r in zip(pairs, results, strict=True)
    ]
