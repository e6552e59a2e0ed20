"""Is it right at this point?  By digits, and by slopes where there is no derivative."""

from __future__ import annotations

import math
from typing import Any

from .concolic import Concolic
from .deadline import TimedOut
from .program import CannotRunError, Traced
from .reals import Reals
from .result import Kink
from .slopes import Line, Slopes
from .state import GUARD, Region, State

__all__ = ["ROUNDING", "Judging"]

ROUNDING = 1e-12
"""What constants rounded to float64 may do to an entry, relative to itself."""


class Judging(State):
    """Compares both sides at one point."""

    def judge(
        self,
        region: Region,
        values: list[Any],
        numbers: dict[str, float],
        reals: Reals,
    ) -> None:
        """Compare all entries of a region at one point by their digits."""
        traced = region.traced
        assert traced.value is not None
        region.points += 1
        region.visited.append(numbers)
        self.tried += 1
        tolerance = reals.context.mpf(10) ** -self.digits
        sides = [("the value", traced.loss, traced.value)]
        sides += list(zip(traced.names, region.symbolic, traced.gradient, strict=True))
        doubtful = []
        for name, s, g in sides:
            off = _relative(reals, values[s.index], values[g.index])
            if off is not None and off <= tolerance:
                self.note(name, off)
            else:
                doubtful.append((name, s, g))
        for other in traced.others:
            for name, s, g in zip(traced.names, region.symbolic, other, strict=True):
                off = _relative(reals, values[s.index], values[g.index])
                if off is None or off > tolerance:
                    doubtful.append((name, s, g))
        if doubtful:
            self.second_look(region, doubtful, numbers)

    def note(self, name: str, off: Any) -> None:
        if name in self.rows:
            row = self.rows[name]
            self.checked[name] += 1
            row.difference = max(row.difference or 0.0, float(off))

    def second_look(
        self,
        region: Region,
        doubtful: list[tuple[str, Concolic, Concolic]],
        numbers: dict[str, float],
    ) -> None:
        """Compare again with twice the digits: true zeros shrink, differences stay."""
        reals = Reals(2 * (self.digits + GUARD))
        tape = region.traced.tape
        roots = [n for _, s, g in doubtful for n in (s, g)]
        values = tape.replay(numbers, reals, roots)
        tiny = reals.context.mpf(10) ** -(2 * self.digits)
        tolerance = reals.context.mpf(10) ** -self.digits
        for name, s, g in doubtful:
            expected, got = values[s.index], values[g.index]
            off = _relative(reals, expected, got)
            if off is not None and (off <= tolerance or abs(expected - got) <= tiny):
                self.note(name, 0.0 if off > tolerance else off)
            else:
                self.disagree(name, expected, got, off, numbers)

    def disagree(
        self,
        name: str,
        expected: Any,
        got: Any,
        off: Any,
        numbers: dict[str, float],
    ) -> None:
        if off is not None and off <= ROUNDING:
            # Perhaps a constant that one of the two has rounded: decided later.
            if off >= self.small.get(name, (0.0,))[0]:
                self.small[name] = (float(off), expected, got, numbers)
            return
        self.refute(name, expected, got, off, numbers)

    def refute(
        self, name: str, expected: Any, got: Any, off: Any, numbers: dict[str, float]
    ) -> None:
        if name == "the value":
            self.result.failure = self.result.failure or (
                f"{self.who} returns {float(got):.12g} where the function "
                f"is {float(expected):.12g}"
            )
            return
        row = self.rows[name]
        if self.current is not None and all(
            p is not self.current for p in self.refuting
        ):
            self.refuting.append(self.current)
        self.checked[name] += 1
        row.difference = max(
            row.difference or 0.0, math.inf if off is None else float(off)
        )
        if row.verdict == "refuted":
            return
        row.verdict = "refuted"
        row.how = f"{self.digits} digits at point {self.tried}"
        if off is None:
            row.how = f"{self.who} gives {float(got)} at point {self.tried}"
        row.point, row.expected, row.got = dict(numbers), float(expected), float(got)

    def kinks(
        self,
        values: dict[str, Any],
        traced: Traced,
        symbolic: list[Concolic],
        own: bool,
        ties: bool,
    ) -> None:
        """Judge a point where the function may have no derivative, by its slopes."""
        names = traced.names[:200]
        clock = self.clock.share(self.seconds / 5)
        try:
            line = Line(self.programs, values, clock)
            slopes = {name: line.slopes({name: 1}) for name in names}
            smooth = all(s.smooth for s in slopes.values()) and line.linear(names)
        except (TimedOut, CannotRunError):
            self.clock.check()
            self.result.findings.append(
                "your point is a kink; its slopes were not found"
            )
            return
        self.tried += 1
        where = _tie_places(traced)
        narrow = any(
            c.tie and c.asked in ("==", "!=") and c.side == "function"
            for c in traced.tape.conditions
        )
        for name, s, g in zip(traced.names, symbolic, traced.gradient, strict=True):
            if name not in slopes:
                continue
            pair = slopes[name]
            got = g.value
            if narrow and _relative(traced.tape.reals, s.value, got) == 0:
                # The branch of this one point: its slope is the program's.
                self.checked[name] += 1
                continue
            if pair.smooth:
                off = _relative(traced.tape.reals, pair.right, got)
                if off is not None and (off <= 1e-15 or abs(pair.right - got) < 1e-25):
                    self.checked[name] += 1
                    continue
                if smooth:
                    numbers = self.numbers(values)
                    self.disagree(name, pair.right, got, off, numbers)
                    if self.rows[name].verdict == "refuted":
                        self.rows[name].how = "the slopes at a removable singularity"
                    continue
            if own:
                try:
                    allowed = self.between(line, name, names, pair, got)
                except (TimedOut, CannotRunError):
                    self.clock.check()
                    allowed = True
                self.result.kinks.append(_kink(name, pair, got, where, ties))
                if not allowed:
                    numbers = self.numbers(values)
                    self.refute(name, pair.left, got, None, numbers)
                    low, high = float(pair.low), float(pair.high)
                    self.rows[
                        name
                    ].how = f"outside the one-sided slopes, {low:.6g} and {high:.6g}"

    def between(
        self, line: Line, name: str, names: list[str], pair: Slopes, got: Any
    ) -> bool:
        """Return whether an entry lies between the slopes at a kink, and next to it.

        Where several values are tied, as in a median, those next to the point tell.
        """
        reals = line.home.reals
        both = [x for x in (pair.left, pair.right) if reals.finite(x)]
        if not reals.finite(got):
            return len(both) < 2 and not reals.is_nan(got)
        if len(both) < 2:
            return True  # the edge of the domain, or an infinite slope
        for near in (False, True):
            both += line.nearby(name, names) if near else []
            slack = 1e-12 * max(map(abs, [*both, got])) + reals.number(1e-30)
            if min(both) - slack <= got <= max(both) + slack:
                return True
        return False


def _relative(reals: Reals, expected: Any, got: Any) -> Any:
    """Return |expected − got| / max, 0 for equal, None where either is no number."""
    if not (reals.finite(expected) and reals.finite(got)):
        return None
    if expected == got:
        return reals.zero
    return abs(expected - got) / max(abs(expected), abs(got))


def _tie_places(traced: Traced) -> str:
    lines = sorted(
        {
            c.line
            for c in traced.tape.conditions
            if c.tie and c.line and c.side == "function"
        }
    )
    return "line " + ", ".join(map(str, lines)) if lines else ""


def _kink(name: str, pair: Any, got: Any, where: str, ties: bool) -> Kink:
    left, right, value = float(pair.left), float(pair.right), float(got)
    if math.isclose(value, left, rel_tol=1e-9, abs_tol=1e-12) and left != right:
        convention = "the left slope"
    elif math.isclose(value, right, rel_tol=1e-9, abs_tol=1e-12):
        convention = "the right slope"
    elif math.isclose(value, (left + right) / 2, rel_tol=1e-9, abs_tol=1e-12):
        convention = "the mean of the slopes"
    elif min(left, right) <= value <= max(left, right):
        convention = "between the slopes"
    elif value == 0:
        convention = "zero by convention"
    else:
        convention = "outside the slopes" if ties else "at the edge of the domain"
    return Kink(name, left, right, value, convention, where)
