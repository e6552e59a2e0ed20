"""Derivatives from numbers with 90 digits: the witness that needs no SymPy.

With h = 10⁻³⁰ and 90 digits, a difference quotient has about 30 right digits, where
float64 has 8; and its one-sided forms tell a kink from a smooth point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .arrays import as_array
from .deadline import Clock
from .elements import Element
from .precise import Precise, PreciseHome
from .program import Programs, is_integral, is_symbolic
from .result import Witness
from .structure import entries, rebuild

__all__ = ["Line", "Slopes", "both_slopes", "directional", "precise_values"]

DIGITS = 90
STEP = 30
"""The step is 10**-STEP times the size of what is moved."""

EQUAL = 1e-12
"""Slopes that differ by less, relatively, are one derivative: h·f″ is about 1e-30."""

NEAR_STEP = 42
"""A smaller step: the error of a smooth function's quotients shrinks with it."""

PLANES = 5
"""Pairs of directions along which slopes add up where there is one plane."""

NEARBY = 12
"""Points next to a tie at which slopes are taken."""

TOLERANCE = 1e-20
"""The relative difference up to which a directional derivative agrees: the error of the
difference is about 1e-58 for central quotients."""


def precise_values(
    home: PreciseHome, values: Mapping[str, Any], wrt: tuple[str, ...]
) -> dict[str, Any]:
    """Return parameters with their real leaves as 90-digit elements."""

    def convert(p: str, name: str, x: Any) -> Any:
        if not (is_symbolic(x) or (p in wrt and is_integral(x))):
            return x
        if isinstance(x, np.ndarray):
            return inputs_of(x, home)
        return home.input(float(x))

    return {p: rebuild(v, p, partial(convert, p)) for p, v in values.items()}


def inputs_of(x: Any, home: PreciseHome) -> Any:
    """Return an array of numbers as elements that are inputs."""
    made = np.empty(x.shape, dtype=object)
    for index in np.ndindex(*x.shape):
        made[index] = home.input(float(x[index]))
    return as_array(made, home)


def moved(
    values: dict[str, Any], change: Callable[[str], Any], wrt: tuple[str, ...]
) -> dict[str, Any]:
    """Return values with change(entry name) added to the entries of wrt."""

    def leaf(name: str, x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            new = x.copy()
            plain = new.view(np.ndarray)
            for index in np.ndindex(*x.shape):
                from .structure import index_name

                step = change(index_name(name, index))
                if step is not None:
                    plain[index] = plain[index] + step
            return new
        if isinstance(x, Element):
            step = change(name)
            return x if step is None else x + step
        return x

    return {p: rebuild(v, p, leaf) if p in wrt else v for p, v in values.items()}


@dataclass(frozen=True)
class Slopes:
    """One-sided derivatives along a line; `smooth`: both are one finite number."""

    left: Any
    right: Any
    smooth: bool

    @property
    def low(self) -> Any:
        return min(self.left, self.right)

    @property
    def high(self) -> Any:
        return max(self.left, self.right)


class Line:
    """The function near a point, with 90 digits."""

    def __init__(
        self,
        programs: Programs,
        values: Mapping[str, Any],
        clock: Clock,
        limit: int = 0,
    ) -> None:
        self.programs = programs
        self.home = PreciseHome(DIGITS, clock)
        self.home.limit = limit
        self.base = precise_values(self.home, values, programs.wrt)
        self.middle = self.value({})
        self.home.limit = 0
        self.h = self.home.reals.context.mpf(10) ** -STEP
        self.near = self.home.reals.context.mpf(10) ** -NEAR_STEP

    def value(self, step: Mapping[str, Any]) -> Any:
        """Return the loss where some entries are moved by a step."""

        def change(name: str) -> Any:
            found = step.get(name)
            return None if not found else Precise(self.home, found, False)

        if not step:
            return self.programs.value(self.home, self.base)
        moved_values = moved(self.base, change, self.programs.wrt)
        return self.programs.value(self.home, moved_values)

    def along(self, direction: Mapping[str, Any], at: Mapping[str, Any]) -> Any:
        """Return the central quotient along a direction, offset from the point."""
        h = self.near
        up = {n: at.get(n, 0) + h * direction.get(n, 0) for n in {*at, *direction}}
        down = {n: at.get(n, 0) - h * direction.get(n, 0) for n in {*at, *direction}}
        return (self.value(up) - self.value(down)) / (2 * h)

    def slopes(self, direction: Mapping[str, Any]) -> Slopes:
        """Return the one-sided slopes along a direction, and whether they are one.

        The quotients of a smooth function draw together as the step shrinks, whatever
        its scale; those of a kink keep their distance.
        """
        left, right = self._quotients(direction, self.h)
        finite = self.home.reals.finite
        if not (finite(left) and finite(right)):
            return Slopes(left, right, False)
        gap = abs(left - right)
        if gap <= EQUAL * max(abs(left), abs(right)):
            return Slopes(left, right, True)
        nearer_left, nearer_right = self._quotients(direction, self.near)
        nearer = abs(nearer_left - nearer_right)
        smooth = bool(nearer <= 1e-3 * gap)
        return (
            Slopes(nearer_left, nearer_right, smooth)
            if smooth
            else Slopes(left, right, False)
        )

    def _quotients(self, direction: Mapping[str, Any], h: Any) -> tuple[Any, Any]:
        right = self.value({n: h * x for n, x in direction.items()})
        left = self.value({n: -h * x for n, x in direction.items()})
        return (self.middle - left) / h, (right - self.middle) / h

    def linear(self, names: list[str]) -> bool:
        """Return whether slopes along random directions add up, as those of a plane."""
        rng = np.random.default_rng(7)
        return all(self._adds_up(names, rng) for _ in range(PLANES))

    def _adds_up(self, names: list[str], rng: np.random.Generator) -> bool:
        first, other = (
            dict(zip(names, rng.normal(size=len(names)).tolist(), strict=True))
            for _ in range(2)
        )
        both = {n: first[n] + other[n] for n in names}
        slopes = [self.slopes(d) for d in (first, other, both)]
        if not all(s.smooth for s in slopes):
            return False
        one, two, total = (s.right for s in slopes)
        size = max(abs(one), abs(two), abs(total))
        return bool(abs(one + two - total) <= EQUAL * size)

    def nearby(self, name: str, names: list[str]) -> list[Any]:
        """Return the slopes by an entry at points so near that ties go either way."""
        rng = np.random.default_rng(11)
        tiny = self.home.reals.context.mpf(10) ** -(STEP // 2)
        found = []
        for _ in range(NEARBY):
            offset = {
                n: tiny * x
                for n, x in zip(
                    names, rng.normal(size=len(names)).tolist(), strict=True
                )
            }
            found.append(self.along({name: 1}, offset))
        return [s for s in found if self.home.reals.finite(s)]


def precise_gradient(
    programs: Programs,
    values: Mapping[str, Any],
    clock: Clock,
    precision: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the judged gradient where all inputs are moved by a rounding error."""
    home = PreciseHome(DIGITS, clock)

    def near(x: Any) -> Any:
        unit = home.reals.number(precision * float(rng.choice([-1.0, 1.0])))
        return Precise(home, home.reals.number(float(x)) * (1 + unit), False)

    def convert(p: str, name: str, x: Any) -> Any:
        if not is_symbolic(x):
            return x
        if isinstance(x, np.ndarray):
            made = np.empty(x.shape, dtype=object)
            for index in np.ndindex(*x.shape):
                made[index] = near(x[index])
            return as_array(made, home)
        return near(x)

    base = {p: rebuild(v, p, partial(convert, p)) for p, v in values.items()}
    _, found = programs.gradient(home, base)
    parts = (found,) if programs.single else found
    return {
        n: (x if isinstance(x, Element) else home.lift(x)).value
        for p, part in zip(programs.wrt, parts, strict=True)
        for n, x in entries(part, p)
    }


def both_slopes(
    programs: Programs, values: Mapping[str, Any], names: list[str], clock: Clock
) -> dict[str, Slopes]:
    """Return the slopes to the left and to the right of each named entry."""
    line = Line(programs, values, clock)
    return {name: line.slopes({name: 1}) for name in names}


def directional(
    programs: Programs, values: Mapping[str, Any], clock: Clock, limit: int = 0
) -> tuple[list[Witness], dict[str, Any], str]:
    """Compare ⟨gradient, v⟩ with a difference quotient along random directions v.

    One direction moves all entries alike, one lets each contribute alike, so that a
    large entry hides no small one.  limit : of the operations of one run.
    Returns the witnesses, the gradient with 90 digits, and why there are none.
    Raises `TimedOut` or `CannotRunError`.
    """
    line = Line(programs, values, clock, limit)
    home = line.home
    if not home.reals.finite(line.middle):
        return [], {}, "the value at the real sizes is not finite"
    _, found = programs.gradient(home, line.base)
    parts = (found,) if programs.single else found
    gradient = {
        n: (x if isinstance(x, Element) else home.lift(x)).value
        for p, part in zip(programs.wrt, parts, strict=True)
        for n, x in entries(part, p)
    }
    names = [
        n
        for p in programs.wrt
        for n, x in entries(line.base[p], p)
        if isinstance(x, Element) and home.reals.finite(x.value)
    ]
    rng = np.random.default_rng(20_250_101)
    witnesses: list[Witness] = []
    remark = ""
    for number in (1, 2):
        v = dict(zip(names, rng.normal(size=len(names)).tolist(), strict=True))
        if number == 2:
            v = _balanced(v, gradient)
        pair = line.slopes(v)
        terms = [gradient[n] * x for n, x in v.items() if n in gradient]
        got = sum(terms, home.reals.zero)
        if not pair.smooth:
            remark = "the point at the real sizes is a kink"
            outside = _outside(pair, got, home.reals)
            if outside:
                witnesses.append(
                    Witness(number, float(pair.left), float(got), math.inf, False)
                )
            continue
        made = _witness(number, line, v, pair, got, terms)
        if not made.agrees and not line.linear(names):
            # Ties of several values: smooth along each line, and no plane.
            remark = "the point at the real sizes is a kink"
            continue
        witnesses.append(made)
    return witnesses, gradient, remark


def _balanced(v: dict[str, float], gradient: Mapping[str, Any]) -> dict[str, Any]:
    """Return a direction along which all entries contribute alike."""
    sizes = [abs(g) for g in gradient.values() if g and g - g == 0]
    usual = sorted(sizes)[len(sizes) // 2] if sizes else 1
    made = {}
    for name, x in v.items():
        size = abs(gradient.get(name, 0))
        made[name] = x * usual / size if size and size - size == 0 else x
    return made


def _outside(pair: Slopes, got: Any, reals: Any) -> bool:
    """Return whether a slope is far outside the one-sided ones, or no number.

    Where several kinks meet, a subgradient may lie a little outside along a line.
    """
    if not (reals.finite(pair.left) and reals.finite(pair.right)):
        return False
    if not reals.finite(got):
        return True
    width = pair.high - pair.low
    return bool(got < pair.low - 2 * width or got > pair.high + 2 * width)


def _witness(
    number: int, line: Line, v: dict[str, Any], pair: Slopes, got: Any, terms: list[Any]
) -> Witness:
    expected = (pair.left + pair.right) / 2
    # Terms may cancel: what counts is the size of what was added.
    scale = max(abs(expected), abs(got), 1e-12 * sum(map(abs, terms)))
    off = abs(expected - got) / scale if scale else line.home.reals.zero
    agrees = bool(off <= TOLERANCE)
    if not agrees and line.home.reals.finite(got):
        # Where the slope is 0, the quotient is nothing but its error, as that of x³ at
        # 0; with another step it is quite another number.
        again = line.along(v, {})
        agrees = bool(abs(again - got) <= TOLERANCE * scale) or bool(
            abs(expected - got) <= 10 * abs(expected - again)
        )
        off = line.home.reals.zero if agrees else off
    return Witness(number, float(expected), float(got), float(off), agrees)
