"""Entry by entry without SymPy, for functions that have no symbolic form.

The generated source runs with 90 digits and is compared with differences of the user's
function, also with 90 digits.  This can refute; agreement is "agrees", never proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .deadline import TimedOut
from .elements import Element
from .points import random_point, same_point
from .precise import PreciseHome
from .program import CannotRunError
from .result import Kink, Row
from .shrink import candidates
from .slopes import DIGITS, both_slopes, precise_values
from .structure import entries

if TYPE_CHECKING:
    from .comparison import Work

__all__ = ["compare_by_numbers"]

SAME = 1e-18
"""Relative difference up to which a slope with 30 right digits agrees."""

ENTRIES = 60
"""Entries compared one by one; more are covered by the directional derivatives."""


def compare_by_numbers(work: Work, points: int, step: Callable[[str], None]) -> None:
    """Give `work` a row for each entry, from numbers alone."""
    chosen = _sizes(work)
    if chosen is None:
        return
    active = set(work.programs.wrt)
    if not _point(work, same_point(chosen), own=True):
        work.result.findings.append(f"your point could not be compared: {work.reason}")
    for number in range(min(points, 3)):
        step(f"point {number + 1} of {points}")
        for weaker in (1.0, 0.3, 0.1, 0.01):
            if _point(work, random_point(chosen, number, weaker, active), own=False):
                break


def _sizes(work: Work) -> dict[str, Any] | None:
    """Return the smallest values on which both programs run with 90 digits."""
    for shrunk in candidates(work.values, {}):
        try:
            _gradient(work, shrunk.values)
        except TimedOut:
            work.clock.check()
            continue
        except CannotRunError as error:
            work.reason = error.reason
            continue
        work.shrunk = shrunk
        work.result.sizes = str(shrunk)
        return shrunk.values
    work.result.findings.append(f"not compared with 90 digits: {work.reason}")
    for p in work.programs.wrt:
        for name, _ in entries(work.values[p], p):
            work.rows[name] = Row(name, how=work.reason)
            if len(work.rows) >= ENTRIES:
                return None
    return None


def _gradient(work: Work, values: dict[str, Any]) -> dict[str, Any]:
    home = PreciseHome(DIGITS, work.clock.share(work.seconds / 4))
    base = precise_values(home, values, work.programs.wrt)
    _, found = work.programs.gradient(home, base)
    parts = (found,) if work.programs.single else found
    return {
        n: (x if isinstance(x, Element) else home.lift(x)).value
        for p, part in zip(work.programs.wrt, parts, strict=True)
        for n, x in entries(part, p)
    }


def _point(work: Work, values: dict[str, Any], own: bool) -> bool:
    try:
        gradient = _gradient(work, values)
        names = list(gradient)[:ENTRIES]
        slopes = both_slopes(
            work.programs, values, names, work.clock.share(work.seconds / 4)
        )
    except CannotRunError as error:
        work.reason = error.reason
        return False
    except TimedOut:
        work.clock.check()
        return False
    if any(pair.left != pair.left for pair in slopes.values()) and not own:
        return False
    work.tried += 1
    numbers = work.numbers(values)
    for name in names:
        row = work.rows.setdefault(name, Row(name))
        work.checked.setdefault(name, 0)
        pair, got = slopes[name], gradient[name]
        if not pair.smooth:
            if own:
                work.result.kinks.append(
                    Kink(
                        name, float(pair.left), float(pair.right), float(got), "a kink"
                    )
                )
            continue
        middle = (pair.left + pair.right) / 2
        size = max(abs(middle), abs(got))
        off = abs(middle - got) / size if size else size
        if got == got and (off <= SAME or abs(middle - got) <= 1e-25):
            work.checked[name] += 1
            row.difference = max(row.difference or 0.0, float(off))
            row.how = f"differences with {DIGITS} digits at {work.checked[name]} points"
        elif row.verdict != "refuted":
            row.verdict = "refuted"
            row.how = f"differences with {DIGITS} digits"
            row.difference = float(off)
            row.point, row.expected, row.got = numbers, float(middle), float(got)
    return True
