"""Random primes from a large set, drawn anew for each proof.

The set: the primes p of a given length with p ≡ 7 (mod 8), p ≡ 2 (mod 3), p ≡ 4
(mod 5), p ≡ 3 (mod 7), p ≡ 2 (mod 11) and p ≡ 3 (mod 13).  Then −1 is no square, 2, 3,
5, 7, 11 and 13 are squares, and (p − 1)/2 has none of these as a factor.  Of all
numbers of 192 bits one in 120,120 · 192 is of this kind: these are more than 2**166.

>>> p = draw(192)
>>> p.bit_length(), p % 8, pow(2, (p - 1) // 2, p)
(192, 7, 1)
"""

from __future__ import annotations

import math
from random import SystemRandom

__all__ = ["count_bits", "draw"]

RESIDUES = ((8, 7), (3, 2), (5, 4), (7, 3), (11, 2), (13, 3))

MODULUS = math.prod(m for m, _ in RESIDUES)

WITNESSES = 40
"""Rounds of the test of Miller and Rabin: a composite passes with chance 4**-40."""

_RANDOM = SystemRandom()


def _residue() -> int:
    return next(r for r in range(MODULUS) if all(r % m == a for m, a in RESIDUES))


_START = _residue()

_SMALL = math.prod(n for n in range(17, 2000) if all(n % d for d in range(2, n)))


def count_bits(bits: int) -> float:
    """Return log2 of a number that the set has more members than."""
    # One in φ(MODULUS) of the primes, and one number in about 0.7 · bits is prime.
    return bits - 1 - math.log2(MODULUS) - math.log2(bits)


def draw(bits: int) -> int:
    """Return a random prime of the set, of exactly `bits` bits."""
    low, high = (1 << (bits - 1)) // MODULUS + 1, (1 << bits) // MODULUS - 1
    while True:
        p = _RANDOM.randrange(low, high) * MODULUS + _START
        if math.gcd(p, _SMALL) == 1 and pow(2, p - 1, p) == 1 and _is_prime(p):
            return p


def _is_prime(p: int) -> bool:
    # p ≡ 3 (mod 4): the test has one step.
    half = (p - 1) // 2
    return all(
        pow(_RANDOM.randrange(2, p - 1), half, p) in (1, p - 1)
        for _ in range(WITNESSES)
    )
