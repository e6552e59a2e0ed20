"""What a check by finite differences found, and when two derivatives agree."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .result import Culprit
from .steps import Slope
from .structure import index_name

__all__ = ["CheckRow", "GradientCheck", "agree", "contradicts", "relative"]

TOLERANCE = 1e-6
"""The relative difference up to which a float64 gradient is right: differences are good
to about 1e-10, and the gradient of a well-conditioned function to 1e-13."""

ROUNDING = 1e-10
"""A gradient's own rounding error, relative to the largest of its parameter's entries:
what is left where contributions cancel."""


@dataclass(frozen=True)
class CheckRow:
    """One number of the gradient, or one random direction.

    name : of the parameter or, in a container, of the array: ``p['W']``.
    index : in the array; ``()`` for a number; None for a direction.
    generated, numeric : the derivative by the gradient, and by differences.
    slopes : to the left and to the right.  kink : whether they differ.
    ok : whether the derivatives agree or, at a kink, the generated one lies between.
    error : the estimated error of `numeric`.
    """

    name: str
    index: tuple[int, ...] | None
    generated: float
    numeric: float
    relative_difference: float
    kink: bool
    slopes: tuple[float, float]
    ok: bool
    error: float = 0.0
    direction: int = 0
    part: str = ""

    @property
    def label(self) -> str:
        """Return the name with its index, as ``W[0,1]``."""
        if self.index is None:
            return (
                f"{self.name} direction {self.direction}"
                if self.direction
                else self.name
            )
        return index_name(self.name, self.index) + self.part


@dataclass(repr=False)
class GradientCheck:
    """Finite differences against a gradient.

    rows : a number or a random direction each.  findings : what a mismatch usually
    means, and the kinks.  culprit : the operation whose derivative is wrong, if the
    gradient is and the place could be found.  undefined : the function's value here,
    "inf" or "nan", where it is no number, so that no differences can be taken.
    """

    name: str
    rows: list[CheckRow] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    culprit: Culprit | None = None
    undefined: str = ""

    @property
    def ok(self) -> bool:
        """Return whether every row is; False where no differences can be taken."""
        return all(row.ok for row in self.rows)

    def unmeasured(self, row: CheckRow) -> bool:
        """Return whether a row is not ok only for want of differences.

        A gradient of a wrong shape is wrong all the same.
        """
        measured = row.index is not None or bool(row.direction)
        return bool(self.undefined) and measured and not row.ok

    @property
    def worst(self) -> CheckRow | None:
        """Return the row that is furthest off: a wrong one if there is any.

        None if there are no rows.
        """

        def badness(row: CheckRow) -> tuple[bool, float]:
            off = row.relative_difference
            if row.ok and row.kink:
                off = 0.0
            return not row.ok, math.inf if math.isnan(off) else off

        return max(self.rows, key=badness, default=None)

    def raise_if_wrong(self) -> GradientCheck:
        """Return self, or raise `RefutedError` with the table if a row is wrong."""
        if self.ok:
            return self
        from ..errors import RefutedError

        raise RefutedError(str(self))

    def __repr__(self) -> str:
        return str(self)  # a prompt shows the table

    def __str__(self) -> str:
        from ..show.checks import check_text

        return check_text(self)

    def _repr_html_(self) -> str:
        from ..show.checks import check_html

        return check_html(self)


def contradicts(row: CheckRow) -> bool:
    """Return whether a row's two numbers differ by far more than any error."""
    if math.isnan(row.numeric) or row.kink:
        return False
    if math.isnan(row.generated):
        return True
    gap = abs(row.generated - row.numeric)
    size = max(abs(row.generated), abs(row.numeric))
    return gap > 1e-3 * size and gap > 100 * row.error


def relative(a: float, b: float) -> float:
    """Return the difference of two numbers relative to the larger one.

    >>> relative(0.0, 0.0), relative(1.0, 0.5), relative(0.0, float("nan"))
    (0.0, 0.5, nan)
    """
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if math.isinf(a) or math.isinf(b):
        return math.nan if a == b else math.inf
    size = max(abs(a), abs(b))
    return abs(a - b) / size if size else 0.0


def agree(generated: float, found: Slope, size: float, precision: float) -> bool:
    """Say whether a derivative is what was measured.

    size : of the gradient's numbers, which its rounding error is relative to.
    precision : of the parameter's type.
    """
    if math.isnan(generated):
        return False
    tolerance = min(max(TOLERANCE, 8e3 * precision), 0.05)
    rounding = max(ROUNDING, 1e2 * precision) * (size if math.isfinite(size) else 0.0)
    if not found.kink:
        if not math.isfinite(found.value) or not math.isfinite(generated):
            return False
        limit = tolerance * max(abs(generated), abs(found.value))
        # The estimated error excuses a tenth at most, or a slope lost in the noise.
        doubt = 10.0 * found.error
        if abs(found.value) > doubt:
            doubt = min(doubt, 0.1 * abs(found.value))
        return abs(generated - found.value) <= limit + doubt + rounding
    sides = [s for s in (found.left, found.right) if not math.isnan(s)]
    low, high = min(sides), max(sides)
    if math.isinf(generated):
        return generated in (low, high)
    if low == high:  # both infinite
        return False
    finite = [abs(s) for s in sides if math.isfinite(s)]
    slack = 1e-4 * max([*finite, abs(generated)]) + rounding
    return low - slack <= generated <= high + slack
