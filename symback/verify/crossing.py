"""Points on the other side of a comparison: the branch that no point has reached.

The tape knows how both sides of a comparison depend on the inputs, so that a few steps
of Newton's method cross it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .concolic import Concolic, Condition, reachable

__all__ = ["across"]

STEPS = 12

LIMIT = 20_000
"""Operations of the two sides beyond which crossing is not tried."""

BEYOND = 0.3
"""How far to go past the tie, relative to the distance from it."""


def across(
    condition: Condition, numbers: Mapping[str, float]
) -> dict[str, float] | None:
    """Return inputs near `numbers` at which a comparison goes otherwise, or None."""
    from .expressions import adjoints

    tape = condition.left.home
    if condition.relation not in ("<", "<=", ">", ">=") or not (
        condition.left.active or condition.right.active
    ):
        return None
    if len(reachable([condition.left, condition.right])) > LIMIT:
        return None
    gap = tape.operate("sub", condition.left, condition.right)
    if gap.constant:
        return None
    slopes = adjoints(gap)
    moved = [
        (name, slopes[node.index])
        for name, node in tape.inputs.items()
        if node.index in slopes and name in numbers
    ]
    roots: list[Concolic] = [gap, *(s for _, s in moved)]
    start: float | None = None
    here = dict(numbers)
    for _ in range(STEPS):
        values = tape.replay(here, roots=roots)
        distance = _number(values[gap.index])
        steepness = [_number(values[s.index]) for _, s in moved]
        square = sum(s * s for s in steepness)
        if not (math.isfinite(distance) and 0.0 < square < math.inf):
            return None
        if start is None:
            start = distance or 1e-3
        elif distance and (distance > 0) != (start > 0):
            return here
        goal = -math.copysign(BEYOND * max(abs(start), 1e-9), start)
        factor = (goal - distance) / square
        for (name, _), slope in zip(moved, steepness, strict=True):
            here[name] = float(f"{here[name] + factor * slope:.9g}")
    return None


def _number(x: Any) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf
