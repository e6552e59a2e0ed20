"""Sizes as linear forms of the sizes of the arguments, read from the samples.

>>> symbols = {"n": (36, 25, 40), "m": (37, 33, 17)}
>>> str(fitted((30, 19, 34), symbols)), str(fitted((73, 58, 57), symbols))
('n - 6', 'n + m')
>>> fitted((30, 19, 35), symbols) is None
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Linear", "Sizes", "fitted"]

Sizes = tuple[int, ...]
"""The sizes of one dimension, or the values of one integer, in the samples."""

FACTORS = (1, 2, 3, 4, 5, 6, 7, 8)
"""Multiples of a size that are tried."""


@dataclass(frozen=True)
class Linear:
    """A constant and whole multiples of the arguments' sizes."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def at(self, sizes: Mapping[str, int]) -> int:
        """Return the number that this is for some sizes."""
        return self.constant + sum(k * sizes[name] for name, k in self.terms)

    def minus(self, other: Linear) -> Linear:
        """Return the difference.

        >>> str(Linear((("n", 4),), 1).minus(Linear((("n", 1),), 3)))
        '3*n - 2'
        """
        found = dict(self.terms)
        for name, k in other.terms:
            found[name] = found.get(name, 0) - k
        terms = tuple((name, k) for name, k in found.items() if k)
        return Linear(terms, self.constant - other.constant)

    def plus(self, number: int) -> Linear:
        """Return the sum with a number."""
        return Linear(self.terms, self.constant + number)

    def times(self, factor: int) -> Linear:
        """Return a multiple."""
        return Linear(
            tuple((name, factor * k) for name, k in self.terms), factor * self.constant
        )

    def put(self, name: str, form: Linear) -> Linear:
        """Return this with a form in the place of a size.

        >>> str(Linear((("n", 2), ("m", 1))).put("m", Linear((("n", 1),), -3)))
        '3*n - 3'
        """
        factor = dict(self.terms).get(name, 0)
        rest = tuple((n, k) for n, k in self.terms if n != name)
        return Linear(rest, self.constant).minus(form.times(-factor))

    def __str__(self) -> str:
        text = ""
        for name, k in (*self.terms, ("", self.constant)):
            if k:
                size = abs(k)
                word = (
                    str(size) if not name else name if size == 1 else f"{size}*{name}"
                )
                sign = "-" if k < 0 else "+"
                text += f" {sign} {word}" if text else word if k > 0 else f"-{word}"
        return text or "0"


def _constant(values: tuple[int, ...]) -> int | None:
    return values[0] if len(set(values)) == 1 else None


def fitted(sizes: Sizes, symbols: Mapping[str, Sizes]) -> Linear | None:
    """Return the linear form of one or two symbols that some sizes are, or None."""
    rest = _constant(sizes)
    if rest is not None:
        return Linear((), rest)
    for factor in FACTORS:
        for name, values in symbols.items():
            rest = _constant(
                tuple(s - factor * v for s, v in zip(sizes, values, strict=True))
            )
            if rest is not None:
                return Linear(((name, factor),), rest)
    items = list(symbols.items())
    for one, first in items:
        for other, second in items:
            for k in (1, 2, 3, -1, -2, -3):
                if one == other:
                    continue
                rest = _constant(
                    tuple(
                        s - a - k * b
                        for s, a, b in zip(sizes, first, second, strict=True)
                    )
                )
                if rest is not None:
                    return Linear(((one, 1), (other, k)), rest)
    return None
