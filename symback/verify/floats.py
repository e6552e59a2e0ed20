"""What runs for the user: float64 beside the numbers with many digits.

A gradient may be right as mathematics and wrong as a program: rounded to float16,
cancelled away, overflown.  Each entry is judged at its own scale.  What may excuse a
difference is the rounding of the terms that the entry is a sum of, and how much the
true gradient itself changes where inputs change by a rounding error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .deadline import TimedOut, interrupting
from .points import same_point
from .structure import leaves

if TYPE_CHECKING:
    from .comparison import Work

__all__ = ["judge_floats"]

CLOSE = 1e-11
"""Relative difference that needs no excuse in float64."""

ULPS = 1e3
"""Rounding errors, in units of the last place, that a sum of terms may have."""

SENSITIVE = 1e3
"""Rounding errors of the inputs that may have been made on the way."""

ARBITRATED = 12
"""Entries that differences of the function are asked about."""

CONTRADICTED = 1e-3
"""Relative difference between a slope and a gradient that is a clear contradiction."""


def judge_floats(work: Work) -> None:
    """Take back what float64 does not bear out; refute what differences contradict."""
    if work.result.failure or not work.true_gradient:
        return
    precision = _precision(work)
    texts = [(work.float_value, work.float_gradient), *work.float_others]
    sensitivity: dict[str, float] | None = None
    for value, gradient in texts:
        _judge_value(work, value, precision)
        doubtful = {}
        for name, truth in work.true_gradient.items():
            got = gradient.get(name)
            if got is None or name not in work.rows:
                continue
            if work.rows[name].verdict == "refuted":
                continue
            expected = _number(truth)
            if not _near(work, name, expected, got, precision):
                doubtful[name] = (expected, got)
        if doubtful and sensitivity is None:
            sensitivity = _sensitivity(work, precision)
        for name, (expected, got) in doubtful.items():
            excuse = SENSITIVE * (sensitivity or {}).get(name, 0.0)
            if not abs(expected - got) <= excuse:
                _doubt(work, name, expected, got)
    _arbitrate(work)


def _precision(work: Work) -> float:
    """Return the rounding error of the coarsest floats among the arguments."""
    found = 2.0**-52
    for p, v in work.values.items():
        for _, x in leaves(v, p):
            if isinstance(x, np.ndarray | np.floating) and x.dtype.kind == "f":
                found = max(found, float(np.finfo(x.dtype).eps))
    return found


def _near(work: Work, name: str, expected: float, got: float, precision: float) -> bool:
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected)
    if math.isinf(expected) or math.isinf(got):
        return expected == got or (math.isinf(got) and abs(expected) > 1e300)
    off = abs(expected - got)
    limit = max(CLOSE, ULPS * precision) * abs(expected)
    terms = work.term_sizes.get(name, 0.0)
    return off <= limit + ULPS * precision * terms or off < 1e-300


def _judge_value(work: Work, value: Any, precision: float) -> None:
    """Compare the value that came with a gradient with the function's."""
    if value is None or work.true_value is None:
        return
    expected, got = _number(work.true_value), float(np.real(value))
    args, kwargs = work.call_with(same_point(work.values))
    try:
        plain = float(np.real(work.programs.plain(args, kwargs)))
    except Exception:
        return
    if not math.isfinite(expected) or not math.isfinite(plain):
        return
    allowed = 1e3 * abs(plain - expected) + max(CLOSE, ULPS * precision) * abs(expected)
    if math.isnan(got) or abs(got - expected) > max(allowed, ULPS * precision):
        text = f"{work.who} returns {got:.12g} in float64 where the function is "
        text += f"{plain:.12g}"
        gap = abs(got - plain)
        if math.isnan(got) or gap > CONTRADICTED * max(abs(plain), abs(got)):
            work.result.failure = text
        else:
            work.result.findings.append(text)
            for row in work.rows.values():
                row.float_doubt = row.float_doubt or (0.0, got)


def _sensitivity(work: Work, precision: float) -> dict[str, float]:
    """Return how much the true entries change by rounding errors of all inputs."""
    region = work.own
    if region is None or work.shrunk.sizes:
        return _precise_sensitivity(work, precision)
    tape = region.traced.tape
    rng = np.random.default_rng(3)
    found: dict[str, float] = {}
    base = [n.value for n in region.symbolic]
    for _ in range(3):
        here = {
            n: tape.reals.number(x)
            * (1 + tape.reals.number(precision * float(rng.choice([-1.0, 1.0]))))
            for n, x in region.numbers.items()
        }
        values = tape.replay(here, roots=region.symbolic)
        for name, node, old in zip(
            region.traced.names, region.symbolic, base, strict=True
        ):
            moved = abs(_number(values[node.index] - old))
            found[name] = max(found.get(name, 0.0), moved)
    return found


def _precise_sensitivity(work: Work, precision: float) -> dict[str, float]:
    """Return the same at the real sizes, by the gradient that was witnessed."""
    from .program import CannotRunError
    from .slopes import precise_gradient

    rng = np.random.default_rng(3)
    found: dict[str, float] = {}
    try:
        for _ in range(2):
            moved = precise_gradient(
                work.programs, work.values, work.clock, precision, rng
            )
            for name, truth in work.true_gradient.items():
                off = abs(_number(moved[name] - truth)) if name in moved else 0.0
                found[name] = max(found.get(name, 0.0), off)
    except (CannotRunError, TimedOut):
        work.clock.check()
    return found


def _doubt(work: Work, name: str, expected: float, got: float) -> None:
    row = work.rows[name]
    if not math.isfinite(got) and math.isfinite(expected):
        args, kwargs = work.call_with(same_point(work.values))
        with np.errstate(all="ignore"):
            try:
                fine = bool(np.all(np.isfinite(work.programs.plain(args, kwargs))))
            except Exception:
                fine = False
        if fine:
            row.verdict, row.got, row.expected = "refuted", got, expected
            kind = "NaN" if math.isnan(got) else "infinite"
            row.how = f"{kind} in float64, where the function is finite"
            return
    row.float_doubt = (expected, got)


def _arbitrate(work: Work) -> None:
    """Ask differences of the plain function about entries that float64 gets wrong."""
    from .finite import check_entries

    names = [n for n, r in work.rows.items() if r.float_doubt and r.float_doubt[0]]
    names = [n for n in names if work.rows[n].verdict != "refuted"][:ARBITRATED]
    if not names:
        return
    args, kwargs = work.call_with(same_point(work.values))
    try:
        with interrupting(max(1.0, work.clock.left)):
            slopes = check_entries(work.programs.fn, args, kwargs, work.programs.wrt)
            for name in names:
                slope = slopes(name)
                if slope is None or slope.kink or not math.isfinite(slope.value):
                    continue
                row = work.rows[name]
                assert row.float_doubt is not None
                got = row.float_doubt[1]
                gap = abs(slope.value - got)
                size = max(abs(slope.value), abs(got))
                if gap > CONTRADICTED * size and gap > 100 * slope.error:
                    row.verdict, row.got, row.expected = "refuted", got, slope.value
                    row.how = "what runs in float64 is not the slope"
    except TimedOut:
        work.clock.check()
    except Exception:  # the plain function does not run there: then nobody is asked
        return


def _number(x: Any) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
