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

__all__ = ["Slopes", "both_slopes", "directional", "precise_values"]

DIGITS = 90
STEP = 30
"""The step is 10**-STEP times the size of what is moved."""

EQUAL = 1e-12
"""Slopes that differ by less, relatively, are one derivative: h·f″ is about 1e-30."""

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
    """One-sided derivatives by one entry."""

    left: Any
    right: Any

    @property
    def smooth(self) -> bool:
        """Return whether both are one finite number."""
        left, right = float(self.left), float(self.right)
        if not (math.isfinite(left) and math.isfinite(right)):
            return False
        scale = max(abs(left), abs(right), 1e-12)
        return bool(abs(self.left - self.right) <= EQUAL * scale) and scale < 1e9


def both_slopes(
    programs: Programs, values: Mapping[str, Any], names: list[str], clock: Clock
) -> dict[str, Slopes]:
    """Return the slopes to the left and to the right of each named entry."""
    home = PreciseHome(DIGITS, clock)
    base = precise_values(home, values, programs.wrt)
    middle = programs.value(home, base)
    c = home.reals.context
    h = c.mpf(10) ** -STEP
    result: dict[str, Slopes] = {}
    for name in names:
        right = _value_at(programs, home, base, {name: h})
        left = _value_at(programs, home, base, {name: -h})
        result[name] = Slopes((middle - left) / h, (right - middle) / h)
    return result


def _value_at(
    programs: Programs, home: PreciseHome, base: dict[str, Any], step: dict[str, Any]
) -> Any:
    def change(name: str) -> Any:
        found = step.get(name)
        return None if found is None else Precise(home, found, False)

    return programs.value(home, moved(base, change, programs.wrt))


def _both_sides(
    programs: Programs,
    home: PreciseHome,
    base: dict[str, Any],
    direction: Mapping[str, float],
    h: Any,
) -> tuple[Any, Any]:
    """Return the values at h times a direction and at its opposite."""
    right = _value_at(programs, home, base, {n: h * x for n, x in direction.items()})
    left = _value_at(programs, home, base, {n: -h * x for n, x in direction.items()})
    return right, left


def smooth_along(
    programs: Programs, values: Mapping[str, Any], names: list[str], clock: Clock
) -> bool:
    """Return whether the function is differentiable in random directions, linearly."""
    home = PreciseHome(DIGITS, clock)
    base = precise_values(home, values, programs.wrt)
    middle = programs.value(home, base)
    h = home.reals.context.mpf(10) ** -STEP
    rng = np.random.default_rng(7)
    first = {
        n: float(v) for n, v in zip(names, rng.normal(size=len(names)), strict=True)
    }
    other = {
        n: float(v) for n, v in zip(names, rng.normal(size=len(names)), strict=True)
    }
    both = {n: first[n] + other[n] for n in names}
    slopes = []
    for direction in (first, other, both):
        right = _value_at(
            programs, home, base, {n: h * v for n, v in direction.items()}
        )
        left = _value_at(
            programs, home, base, {n: -h * v for n, v in direction.items()}
        )
        pair = Slopes((middle - left) / h, (right - middle) / h)
        if not pair.smooth:
            return False
        slopes.append(pair.right)
    return Slopes(slopes[0] + slopes[1], slopes[2]).smooth


def directional(
    programs: Programs, values: Mapping[str, Any], directions: int, clock: Clock
) -> tuple[list[Witness], str]:
    """Compare ⟨gradient, v⟩ with a central difference along random directions v.

    Returns the witnesses and a remark: why there are none, or the float64 error.
    Raises `TimedOut` or `CannotRunError`.
    """
    home = PreciseHome(DIGITS, clock)
    base = precise_values(home, values, programs.wrt)
    rng = np.random.default_rng(20_250_101)
    home.ties = 0
    middle = programs.value(home, base)
    if not home.reals.finite(middle):
        return [], "the value at the real sizes is not finite"
    _, found = programs.gradient(home, base)
    parts = (found,) if programs.single else found
    gradient = {
        n: x if isinstance(x, Element) else home.lift(x)
        for p, part in zip(programs.wrt, parts, strict=True)
        for n, x in entries(part, p)
    }
    names = [
        n
        for p in programs.wrt
        for n, x in entries(base[p], p)
        if isinstance(x, Element) and home.reals.finite(x.value)
    ]
    h = home.reals.context.mpf(10) ** -STEP
    witnesses: list[Witness] = []
    for number in range(1, directions + 1):
        v = dict(zip(names, rng.normal(size=len(names)).tolist(), strict=True))
        right, left = _both_sides(programs, home, base, v, h)
        pair = Slopes((middle - left) / h, (right - middle) / h)
        if not pair.smooth:
            return witnesses, "the point at the real sizes is a kink"
        expected = (right - left) / (2 * h)
        terms = [gradient[n].value * x for n, x in v.items() if n in gradient]
        got = sum(terms, home.reals.zero)
        # Terms may cancel: what counts is the size of what was added.
        scale = max(abs(expected), abs(got), 1e-12 * sum(map(abs, terms)), 1e-300)
        off = abs(expected - got) / scale
        agrees = bool(off <= TOLERANCE)
        if not agrees:
            # Where the slope is 0, the quotient is nothing but its error, as that of
            # x³ at 0; with another step it is quite another number.
            right, left = _both_sides(programs, home, base, v, 2 * h)
            error = abs((right - left) / (4 * h) - expected)
            agrees = bool(abs(expected - got) <= 10 * error)
            off = home.reals.zero if agrees else off
        witnesses.append(
            Witness(number, float(expected), float(got), float(off), agrees)
        )
    return witnesses, ""
