"""Derivatives from function values: the step is found, not given.

A difference quotient with a large step has a truncation error, one with a small step a
rounding error.  Quotients at steps that shrink by 4 are extrapolated to a step of 0
(Richardson 1911, as arranged by Ridders 1982, doi:10.1016/S0141-1195(82)80057-0), and
of all extrapolations the one with the smallest estimated error is taken.  The same
function values give the slopes to the left and to the right, which tell a kink from a
smooth point.

>>> import math
>>> found = slope(math.exp, 0.0)
>>> abs(found.value - 1.0) < 1e-10, found.kink
(True, False)
>>> corner = slope(abs, 0.0)
>>> corner.kink, corner.left, corner.right
(True, -1.0, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Slope", "first_step", "slope"]

RATIO = 4.0
"""Between one step and the next.  A power of two, so that x + h is exact for more h."""

FEWEST = 4
"""Steps tried at least: fewer may agree by accident."""

MOST = 26
"""Steps tried at most: from 1e-2 to 1e-17."""

DEEPEST = 4
"""Extrapolations on top of one another; more amplify rounding for nothing."""

PRECISE = 1e-11
"""The relative error at which a derivative is good enough."""

NOISY = 1e-9
"""What rounding inside a function may do to its value, relative to the largest value:
more would need an ill-conditioned function."""

CONFLICT = 30.0
"""Estimates further apart than so many of their errors contradict each other."""

UNEQUAL = 1e-4
"""One-sided slopes that differ relatively by less are taken for one."""


@dataclass(frozen=True)
class Slope:
    """A derivative along a line, and the one-sided ones.

    value : the central difference, extrapolated (or at the given step); NaN if there
    is none.  error : its estimated error.  left, right : the one-sided slopes, NaN on a
    side where the function has no value, infinite where quotients grow without bound.
    kink : whether the two differ by more than their errors.
    """

    value: float
    error: float
    left: float
    right: float
    kink: bool


@dataclass
class _Tableau:
    """Neville's tableau of quotients whose error is a series in powers of `factor`."""

    factor: float
    row: list[float] = field(default_factory=list)
    count: int = 0
    value: float = math.nan
    error: float = math.inf
    quotients: list[float] = field(default_factory=list)
    worse: int = 0
    lost: bool = False

    def add(self, quotient: float, h: float, noise: float, size: float) -> None:
        """Take the quotient at step h.

        noise : its rounding error at least.  size : of the function's values.
        """
        if not math.isfinite(quotient) or self.lost:
            self.row = []
            return
        if quotient == 0.0 and 0.0 < h * abs(self.value) < 1e-7 * size:
            # The values are equal because the step is below their resolution.
            self.lost = True
            return
        self.quotients.append(quotient)
        old, new = self.row, [quotient]
        power = 1.0
        least = math.inf
        for previous in old[:DEEPEST]:
            power *= self.factor
            better = new[-1] + (new[-1] - previous) / (power - 1.0)
            new.append(better)
            error = max(abs(better - new[-2]), abs(better - previous)) + noise
            least = min(least, error)
            # A large step can look past a feature of the function altogether: what
            # smaller ones agree on, they have from nearer.
            gap = abs(better - self.value)
            if error < self.error or gap > CONFLICT * (error + self.error):
                self.value, self.error = better, error
        self.row = new
        self.count += 1
        # In the noise, errors grow with each step; where the function has a feature
        # nearby they do so too, but by more than rounding could.
        noisy = least > 2.0 * self.error and least * h <= NOISY * size
        self.worse = self.worse + 1 if noisy else 0
        self.lost = self.worse >= 3

    @property
    def diverges(self) -> float:
        """Return the infinity that the quotients grow to, or 0."""
        last = self.quotients[-6:]
        if len(last) < 6 or self.error < 1e-3 * abs(self.value):
            return 0.0
        pairs = pairwise(last)
        # The quotients of a square root at 0 double from step to step.
        if all(b * a > 0 and abs(b) > 1.4 * abs(a) for a, b in pairs):
            return math.copysign(math.inf, last[-1])
        return 0.0

    def settled(self, size: float) -> bool:
        return self.count >= FEWEST and self.error <= PRECISE * max(
            abs(self.value), size
        )


def first_step(x: float) -> float:
    """Return the largest step at x: a power of two near max(1, abs(x)) / 100.

    >>> first_step(0.3), first_step(1000.0)
    (0.0078125, 8.0)
    """
    size = max(1.0, abs(x)) if math.isfinite(x) else 1.0
    return float(2.0 ** (math.ceil(math.log2(size)) - 7))


def slope(
    f: Callable[[float], float],
    x: float,
    *,
    step: float | None = None,
    start: float | None = None,
    smallest: float = 0.0,
    precision: float = 2.0**-52,
    scale: float = 0.0,
) -> Slope:
    """Return the derivative of a function of one number at x.

    Args:
        f: the function; NaN where it has no value.
        step: use the central difference at this step as it is; the one-sided slopes are
            extrapolated from it on.
        start, smallest: the largest and the smallest step to try.
        precision: the relative rounding error of the function's values.
        scale: the size of the terms that the values are sums of, if it is larger.
    """
    h = step or start or first_step(x)
    middle = f(x)
    central, left, right = _Tableau(RATIO**2), _Tableau(RATIO), _Tableau(RATIO)
    plain = math.nan
    largest = 0.0
    for number in range(MOST):
        above, below = f(x + h), f(x - h)
        size = max(
            [scale, *(abs(y) for y in (above, below, middle) if math.isfinite(y))]
        )
        noise = precision * size / h
        largest = max(largest, size)
        central.add((above - below) / (2.0 * h), h, noise, largest)
        right.add((above - middle) / h, h, 2.0 * noise, largest)
        left.add((middle - below) / h, h, 2.0 * noise, largest)
        if number == 0:
            plain = central.quotients[0] if central.quotients else math.nan
        h /= RATIO
        # What a quotient of this size is made of: a slope of 0 is settled by it.
        floor = precision * largest * 1e4
        if all(t.settled(floor) or t.lost for t in (central, left, right)):
            break
        worst = max(t.error for t in (central, left, right))
        drowned = number >= 2 * FEWEST and noise > worst
        if drowned or h < smallest or x + h == x:
            break
    return _slope(central, left, right, plain, step)


def _slope(
    central: _Tableau,
    left: _Tableau,
    right: _Tableau,
    plain: float,
    step: float | None,
) -> Slope:
    """Read three tableaus."""
    ends = [t.diverges or t.value for t in (left, right)]
    value, error = central.value, central.error
    if math.isinf(ends[0]) or math.isinf(ends[1]):
        kink = True
    elif math.isnan(ends[0]) or math.isnan(ends[1]):
        # The edge of the function's domain: there is a slope on one side.
        kink = False
        if math.isnan(value):
            value = ends[1] if math.isnan(ends[0]) else ends[0]
            error = right.error if math.isnan(ends[0]) else left.error
    else:
        gap = abs(ends[1] - ends[0])
        size = max(abs(ends[0]), abs(ends[1]))
        kink = gap > UNEQUAL * size + 20.0 * (left.error + right.error)
    if step is not None and math.isfinite(plain):
        error = error + abs(plain - value) if math.isfinite(value) else math.inf
        value = plain
    return Slope(value, error, ends[0], ends[1], kink)
