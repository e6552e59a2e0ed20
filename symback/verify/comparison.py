"""The comparison: refute first, in milliseconds; prove second, under deadlines.

1. Both programs run on symbols at the caller's point and at random ones, until every
   branch was seen or the points are used up; 50 digits decide what is wrong.
2. At the caller's real sizes, directional derivatives with 90 digits.
3. What was not refuted is proved, region by region: same expression, identity test,
   expanded numerator of the difference.
4. What is wrong is traced to the operation that makes it wrong.
"""

from __future__ import annotations

import inspect
import linecache
import math
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError
from . import Generated
from .concolic import Concolic, Tape
from .deadline import Clock, TimedOut, interrupting
from .elements import SymbolicValueError
from .identity import prove
from .points import random_point, same_point
from .program import (
    CannotRunError,
    Loaded,
    Programs,
    Traced,
    is_integral,
    is_symbolic,
    load,
)
from .progress import Progress
from .reals import Reals
from .result import Branch, Comparison, Coverage, Kink, Row
from .rounding import constants_of, rounds_constants
from .shrink import Shrunk, candidates, shrink_array
from .slopes import both_slopes, directional, smooth_along
from .structure import entries, leaves

__all__ = ["bind", "run"]

GUARD = 25
"""Digits carried beyond those that are compared."""

REGIONS = 12
"""Regions proved at most; further points are compared by digits only."""

DIRECT_REGIONS = 2
"""Regions in which the loss is written out and differentiated as a whole."""

ROUNDING = 1e-13
"""Relative differences up to this may be constants that were rounded to float64."""

STATEMENTS = ", statement by statement"
"""Said of proofs whose derivative was taken definition by definition."""

EXPAND_LIMIT = 600
"""Operations of a difference up to which its numerator is expanded."""

TABLE_LIMIT = 4_000
"""Entries beyond which a table of symbols is no longer built."""


@dataclass
class Region:
    """The set of inputs on which the programs take the same branches as at one point."""

    traced: Traced
    symbolic: list[Concolic]
    way: str
    points: int = 0
    proofs: list[str] = field(default_factory=list)


def bind(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, inspect.Parameter]]:
    """Return the value of every parameter, defaults filled in, and the parameters."""
    signature = inspect.signature(fn)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments), dict(signature.parameters)


def run(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    wrt: tuple[str, ...] | str,
    generate: Callable[[tuple[Any, ...], dict[str, Any]], Generated],
    points: int = 8,
    digits: int = 50,
    seconds: float = 30.0,
) -> Comparison:
    """Compare; see `symback.verify.compare`."""
    single = isinstance(wrt, str)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    values, parameters = bind(fn, args, kwargs)
    for name in names:
        if name not in values:
            known = ", ".join(values)
            raise NotDifferentiableError(
                f"`{name}` is no parameter of the function", hint=f"it has {known}"
            )
    work = _Work(fn, parameters, values, names, single, generate, digits, seconds)
    work.run(points)
    return work.result


class _Work:
    """One comparison under way; `result` is always what is known so far."""

    def __init__(
        self,
        fn: Callable[..., Any],
        parameters: dict[str, inspect.Parameter],
        values: dict[str, Any],
        wrt: tuple[str, ...],
        single: bool,
        generate: Callable[[tuple[Any, ...], dict[str, Any]], Generated],
        digits: int,
        seconds: float,
    ) -> None:
        self.clock = Clock(seconds)
        self.seconds = seconds
        self.digits = digits
        self.values = values
        self.parameters = parameters
        self.generate = generate
        self.programs = Programs(fn, parameters, wrt, single)
        self.result = Comparison(getattr(fn, "__name__", "the function"))
        self.shrunk = Shrunk(values, {}, follow=False)
        self.regions: list[Region] = []
        self.rows: dict[str, Row] = {}
        self.checked: dict[str, int] = {}
        self.small: dict[str, tuple[Any, ...]] = {}
        self.tried = 0
        self.kinks_only: set[str] = set()
        self.reason = ""
        self.tracing = 0.0
        self.current: dict[str, Any] | None = None
        self.refuting: list[dict[str, Any]] = []

    # -------------------------------------------------- the order of things

    def run(self, points: int) -> None:
        result = self.result
        try:
            with Progress("comparing", self.seconds) as step:
                self.steps(points, step)
        except KeyboardInterrupt:
            result.unfinished = "interrupted: " + self.open_rows()
        except TimedOut:
            result.unfinished = f"{self.seconds:g} s are over: " + self.open_rows()
        result.rows = list(self.rows.values())
        result.coverage = self.coverage()
        result.seconds = self.clock.elapsed
        if self.regions:
            result.region = self.describe(self.regions[0])
        self.settle()

    def steps(self, points: int, step: Callable[[str], None]) -> None:
        step("generating the source")
        generated = self.generate(*self.call())
        self.real = load(generated.source, generated.name, generated.captured)
        self.programs.loaded = self.real
        self.result.source = generated.source
        step("running the source")
        self.float_run()
        step("choosing sizes")
        if not self.choose_sizes():
            self.by_numbers(points, step)
            self.real_sizes(step)
            return
        self.all_points(points, step)
        self.settle_rounding(points, step)
        self.real_sizes(step)
        self.prove_regions(step)
        if self.result.verdict == "refuted" or self.refuted_rows():
            step("looking for the culprit")
            self.find_culprit(generated)

    def call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the caller's arguments as (args, kwargs)."""
        return self.call_with(self.values)

    def call_with(
        self, values: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for p, parameter in self.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                args.extend(values[p])
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs.update(values[p])
            elif parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[p] = values[p]
            else:
                args.append(values[p])
        return tuple(args), kwargs

    def open_rows(self) -> str:
        proved = sum(r.verdict == "proved" for r in self.rows.values())
        return f"{proved} of {len(self.rows)} entries proved"

    # -------------------------------------------------- the running program

    def float_run(self) -> None:
        """Run the generated source once as it runs for the user, in float64."""
        values = same_point(self.values)
        before = same_point(self.values)
        programs = self.programs
        self.float_gradient: dict[str, float] = {}
        try:
            with (
                np.errstate(all="ignore"),
                warnings.catch_warnings(),
                redirect_stdout(StringIO()),
            ):
                warnings.simplefilter("ignore")
                _, found = programs.call_generated(
                    programs.generated.function, values, programs.generated.captured
                )
        except KeyboardInterrupt:
            raise
        except Exception as error:
            self.result.failure = (
                f"the generated source fails: {type(error).__name__}: {error}"
            )
            return
        for p in values:
            for (name, a), (_, b) in zip(
                leaves(values[p], p), leaves(before[p], p), strict=True
            ):
                if isinstance(a, np.ndarray) and not np.array_equal(
                    a, b, equal_nan=a.dtype.kind in "fc"
                ):
                    self.result.failure = (
                        f"the generated source changes the argument {name}"
                    )
        parts = (found,) if programs.single else found
        if isinstance(parts, (tuple, list)):
            for p, part in zip(programs.wrt, parts, strict=False):
                for name, x in entries(part, p):
                    self.float_gradient[name] = float(np.real(x))

    # -------------------------------------------------- sizes

    def choose_sizes(self) -> bool:
        """Find the smallest arrays on which both programs run on symbols."""
        captured = {
            k: v for k, v in self.real.captured.items() if isinstance(v, np.ndarray)
        }
        reasons: list[str] = []
        for shrunk in candidates(self.values, captured):
            if self.programs_run(shrunk, captured, reasons):
                self.shrunk = shrunk
                self.result.sizes = str(shrunk)
                return True
        entries_total = sum(
            1 for p in self.programs.wrt for _ in entries(self.values[p], p)
        )
        last = reasons[-1] if reasons else "there are no arrays to shrink"
        if entries_total <= TABLE_LIMIT // 10:
            reasons_before = list(reasons)
            whole = Shrunk(self.values, {}, follow=False)
            if self.programs_run(whole, captured, reasons):
                self.shrunk = whole
                return True
            last = reasons[-1] if len(reasons) > len(reasons_before) else last
        self.programs.replaced = {}
        self.programs.loaded = self.real
        self.reason = last
        self.result.findings.append(f"not compared on symbols: {last}")
        return False

    def programs_run(
        self, shrunk: Shrunk, captured: dict[str, Any], reasons: list[str]
    ) -> bool:
        self.programs.replaced = (
            {id(v): shrink_array(v, shrunk.sizes) for v in captured.values()}
            if shrunk.sizes
            else {}
        )
        self.programs.loaded = self.source_for(shrunk, captured)
        try:
            tape = self.tape(self.clock.share(self.seconds / 3))
            traced = self.programs.trace(tape, shrunk.values)
        except CannotRunError as error:
            who = "the function" if error.side == "function" else "the generated source"
            reasons.append(f"{who} does not run on symbols: {error.reason}")
            return False
        except TimedOut:
            if self.clock.over:
                raise
            reasons.append("running the function on symbols takes too long")
            return False
        return bool(traced.names) or not shrunk.sizes

    def source_for(self, shrunk: Shrunk, captured: dict[str, Any]) -> Loaded:
        """Return the source for smaller arrays: the same text, unless sizes are in it."""
        if not shrunk.sizes or captured:
            # Captured arrays cannot be given to the generator at another size.
            return self.real
        try:
            found = self.generate(*self.call_with(same_point(shrunk.values)))
        except Exception:
            return self.real
        return load(found.source, found.name, found.captured)

    def tape(self, clock: Clock | None = None) -> Tape:
        return Tape(self.digits + GUARD, clock=clock or self.clock)

    # -------------------------------------------------- points

    def all_points(self, points: int, step: Callable[[str], None]) -> None:
        self.point(same_point(self.shrunk.values), own=True)
        active = set(self.programs.wrt)
        for number in range(points):
            step(f"point {number + 1} of {points}")
            for weaker in (1.0, 0.3, 0.1, 0.01):
                values = random_point(self.shrunk.values, number, weaker, active)
                if self.point(values, own=False):
                    break

    def point(self, values: dict[str, Any], own: bool) -> bool:
        """Compare at one point; False where the function is not defined there."""
        self.clock.check()
        self.current = values
        numbers = self.numbers(values)
        if not own:
            for region in self.regions:
                if self.in_region(region, numbers):
                    return self.replayed(region, numbers)
        try:
            # A random point may make a loop endless; the caller's own does not.
            patience = self.seconds if own else max(0.5, 10 * self.tracing)
            start = self.clock.elapsed
            traced = self.programs.trace(self.tape(self.clock.share(patience)), values)
            traced.tape.clock = self.clock
            self.tracing = max(self.tracing, self.clock.elapsed - start)
        except TimedOut:
            self.clock.check()
            return False
        except CannotRunError as error:
            if own:
                self.result.findings.append(error.reason)
            elif error.side == "gradient" and self.function_runs(values):
                self.result.failure = f"the generated source fails: {error.reason}"
            return False
        finite = traced.tape.reals.finite
        if traced.tape.undefined and not own:
            return False
        if not finite(traced.loss.value):
            if own:
                self.result.findings.append(
                    f"the value at your point is {float(traced.loss.value)}"
                )
                self.make_rows(traced)
            return False
        if traced.problem:
            self.result.failure = traced.problem
            self.make_rows(traced)
            return True
        ties = [c for c in traced.tape.conditions if c.tie]
        symbolic, way = self.derivatives(traced)
        singular = [
            n
            for n, s, g in zip(traced.names, symbolic, traced.gradient, strict=True)
            if not (finite(s.value) and finite(g.value))
        ]
        self.make_rows(traced)
        if ties or singular:
            self.kinks(values, traced, symbolic, own, bool(ties))
            return True
        region = Region(traced, symbolic, way)
        self.regions.append(region)
        self.keep_expressions(region)
        tape_values = [n.value for n in traced.tape.nodes]
        self.judge(region, tape_values, numbers, traced.tape.reals)
        return True

    def function_runs(self, values: dict[str, Any]) -> bool:
        """Return whether the user's own function accepts a point, as plain NumPy."""
        args, kwargs = self.call_with(same_point(values))
        try:
            with np.errstate(all="ignore"), redirect_stdout(StringIO()):
                self.programs.fn(*args, **kwargs)
        except Exception:
            return False
        return True

    def numbers(self, values: dict[str, Any]) -> dict[str, float]:
        """Return the value of every input by its name."""
        found: dict[str, float] = {}
        for p, v in values.items():
            for path, leaf in leaves(v, p):
                wanted = is_symbolic(leaf) or (
                    p in self.programs.wrt and is_integral(leaf)
                )
                if wanted:
                    found.update({n: float(x) for n, x in entries(leaf, path)})
        return found

    def in_region(self, region: Region, numbers: dict[str, float]) -> bool:
        tape = region.traced.tape
        if not tape.inputs.keys() <= numbers.keys():
            return False
        sides = [n for c in tape.conditions for n in (c.left, c.right)]
        values = tape.replay(numbers, roots=sides)
        return all(c.holds(values) for c in tape.conditions)

    def replayed(self, region: Region, numbers: dict[str, float]) -> bool:
        traced = region.traced
        assert traced.value is not None
        roots = [traced.loss, traced.value, *region.symbolic, *traced.gradient]
        values = traced.tape.replay(numbers, roots=roots)
        if not traced.tape.reals.finite(values[traced.loss.index]):
            return False
        self.judge(region, values, numbers, traced.tape.reals)
        return True

    def derivatives(self, traced: Traced) -> tuple[list[Concolic], str]:
        """Return SymPy's gradient, written out or statement by statement."""
        from .expressions import chain_gradient, direct_gradient, is_cheap

        if len(self.regions) < DIRECT_REGIONS and is_cheap(
            traced.loss, len(traced.inputs)
        ):
            try:
                with interrupting(min(5.0, self.clock.left / 3)):
                    return direct_gradient(traced.loss, traced.inputs), ""
            except (TimedOut, SymbolicValueError, RecursionError):
                self.clock.check()
        return chain_gradient(traced.loss, traced.inputs), STATEMENTS

    def make_rows(self, traced: Traced) -> None:
        for name in traced.names:
            if name not in self.rows:
                self.rows[name] = Row(name)
                self.checked[name] = 0

    def keep_expressions(self, region: Region) -> None:
        for name, s, g in zip(
            region.traced.names, region.symbolic, region.traced.gradient, strict=True
        ):
            row = self.rows[name]
            if row._symbolic is None or (row._symbolic.constant and not s.constant):
                row._symbolic, row._generated = s, g

    # -------------------------------------------------- judging one point

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
        scale = max((abs(values[s.index]) for _, s, _ in doubtful), default=reals.zero)
        for name, s, g in doubtful:
            expected, got = values[s.index], values[g.index]
            off = _relative(reals, expected, got)
            if off is not None and (off <= tolerance or abs(expected - got) <= tiny):
                self.note(name, 0.0 if off > tolerance else off)
            else:
                self.disagree(name, expected, got, off, numbers, scale)

    def disagree(
        self,
        name: str,
        expected: Any,
        got: Any,
        off: Any,
        numbers: dict[str, float],
        scale: Any,
    ) -> None:
        if off is not None and abs(expected - got) <= ROUNDING * scale:
            # Perhaps a constant that one of the two has rounded: decided later.
            relative = float(abs(expected - got) / scale)
            if relative >= self.small.get(name, (0.0,))[0]:
                self.small[name] = (relative, expected, got, numbers)
            return
        self.refute(name, expected, got, off, numbers)

    def refute(
        self, name: str, expected: Any, got: Any, off: Any, numbers: dict[str, float]
    ) -> None:
        if name == "the value":
            self.result.failure = self.result.failure or (
                f"the generated source returns {float(got):.12g} where the function "
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
            row.how = f"the generated source gives {float(got)} at point {self.tried}"
        row.point, row.expected, row.got = dict(numbers), float(expected), float(got)

    # -------------------------------------------------- kinks and singular points

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
            slopes = both_slopes(self.programs, values, names, clock)
            smooth = all(s.smooth for s in slopes.values()) and smooth_along(
                self.programs, values, names, clock
            )
        except (TimedOut, CannotRunError):
            self.clock.check()
            self.result.findings.append(
                "your point is a kink; its slopes were not found"
            )
            return
        self.tried += 1
        where = _tie_places(traced)
        finite = [abs(s.right) for s in slopes.values() if s.smooth]
        scale = max(finite, default=traced.tape.reals.zero)
        for name, g in zip(traced.names, traced.gradient, strict=True):
            if name not in slopes:
                continue
            pair = slopes[name]
            got = g.value
            if pair.smooth:
                off = _relative(traced.tape.reals, pair.right, got)
                if off is not None and (off <= 1e-15 or abs(pair.right - got) < 1e-25):
                    self.checked[name] += 1
                    continue
                if smooth:
                    numbers = self.numbers(values)
                    self.disagree(name, pair.right, got, off, numbers, scale)
                    if self.rows[name].verdict == "refuted":
                        self.rows[name].how = "the slopes at a removable singularity"
                    continue
            if own:
                self.result.kinks.append(_kink(name, pair, got, where, ties))

    # -------------------------------------------------- rounded constants

    @cached_property
    def may_round(self) -> bool:
        """Return whether the generated source holds constants rounded to float64."""
        known: set[float] = set()
        code = getattr(inspect.unwrap(self.programs.fn), "__code__", None)
        if code is not None:
            known = constants_of(code)
        return rounds_constants(self.programs.generated.source, known)

    def settle_rounding(self, points: int, step: Callable[[str], None]) -> None:
        """Find a reading of constants in which nothing differs by their rounding.

        First with literals as exact numbers, then with functions of constants rounded as
        the program rounds them.  What still differs a little is wrong, unless the
        generated source shows a rounded constant.
        """
        result = self.result
        for exact, literals in ((True, True), (False, False)):
            if not self.small or self.refuted_rows():
                break
            kinks, findings = list(result.kinks), list(result.findings)
            self.programs.exact, self.programs.literals = exact, literals
            self.forget()
            self.all_points(points, step)
            result.kinks, result.findings = kinks, findings
        if not self.small:
            return
        if self.may_round:
            result.rounding = max(s[0] for s in self.small.values())
            return
        for name, (relative, expected, got, numbers) in self.small.items():
            self.refute(name, expected, got, relative, numbers)
        self.small = {}

    def refuted_rows(self) -> bool:
        return any(r.verdict == "refuted" for r in self.rows.values())

    def forget(self) -> None:
        self.regions, self.rows, self.checked, self.small = [], {}, {}, {}
        self.refuting = []
        self.tried = 0

    # -------------------------------------------------- the other witness

    def real_sizes(self, step: Callable[[str], None]) -> None:
        """Compare directional derivatives at the caller's sizes, without SymPy."""
        if self.result.failure:
            return
        step("the real sizes")
        programs = self.programs
        replaced, loaded = programs.replaced, programs.loaded
        programs.replaced, programs.loaded = {}, self.real
        limit = min(8.0, 0.3 * self.seconds)
        try:
            witnesses, remark = directional(
                self.programs, self.values, 2, self.clock.share(limit, 0.5)
            )
            if self.result.rounding or not self.programs.exact:
                witnesses = [_allow(w, 10 * ROUNDING) for w in witnesses]
            self.result.witnesses = witnesses
            if remark and self.shrunk.sizes:
                self.result.findings.append(remark)
        except TimedOut:
            self.clock.check()
            if self.shrunk.sizes:
                self.result.findings.append(
                    f"not run at the real sizes in high precision: more than {limit:g} s"
                )
        except CannotRunError as error:
            if self.shrunk.sizes:
                self.result.findings.append(
                    f"not run at the real sizes in high precision: {error.reason}"
                )
        finally:
            programs.replaced, programs.loaded = replaced, loaded

    # -------------------------------------------------- proof

    def prove_regions(self, step: Callable[[str], None]) -> None:
        for number, region in enumerate(self.regions[:REGIONS], 1):
            step(f"proving region {number} of {len(self.regions)}")
            self.prove_region(region)

    def prove_region(self, region: Region) -> None:
        open_rows = [
            i
            for i, n in enumerate(region.traced.names)
            if self.rows[n].verdict != "refuted" and n not in self.small
        ]
        region.proofs = [""] * len(region.traced.names)
        pairs = [(region.symbolic[i], region.traced.gradient[i]) for i in open_rows]
        if not pairs or self.result.failure:
            return
        self.identities(region, open_rows, pairs, region.way)
        rest = [i for i in open_rows if not region.proofs[i]]
        if rest and not region.way:
            # Written out, SymPy has moved things around; definitions stay as they are.
            from .expressions import chain_gradient

            traced = region.traced
            chain = chain_gradient(traced.loss, traced.inputs)
            pairs_left = [(chain[i], traced.gradient[i]) for i in rest]
            self.identities(region, rest, pairs_left, STATEMENTS)
        for i, (s, g) in zip(open_rows, pairs, strict=True):
            self.clock.check()
            if not region.proofs[i] and s.size + g.size <= EXPAND_LIMIT:
                region.proofs[i] = _expanded(s, g, min(5.0, self.clock.left / 2))

    def identities(
        self,
        region: Region,
        which: list[int],
        pairs: list[tuple[Concolic, Concolic]],
        way: str,
    ) -> None:
        """Note which entries the identity test proves."""
        found = prove(pairs, self.clock.share(10.0, 0.6))
        for i, identity in zip(which, found, strict=True):
            if identity.proved and identity.trials == 0:
                region.proofs[i] = "the same expression" + way
            elif identity.proved:
                error = max(identity.error, 1e-300)
                region.proofs[i] = f"identity test, error < {error:.0e}" + way

    # -------------------------------------------------- without symbols

    def by_numbers(self, points: int, step: Callable[[str], None]) -> None:
        """Compare where SymPy has no form: quotients of differences with 90 digits."""
        from .numeric import compare_by_numbers

        compare_by_numbers(self, points, step)

    # -------------------------------------------------- the end

    def settle(self) -> None:
        """Give every row its verdict from what was found."""
        for name, row in self.rows.items():
            if row.verdict == "refuted":
                continue
            self.float_finding(name, row)
            if row.verdict == "refuted":
                continue
            count = self.checked.get(name, 0)
            proofs = self.proofs_of(name)
            if name in self.small:
                row.verdict = "agrees"
                row.difference = self.small[name][0]
                row.how = (
                    f"{count or self.tried} points; constants differ by rounding only "
                    f"({self.small[name][0]:.0e})"
                )
            elif proofs and all(proofs) and len(self.regions) <= REGIONS:
                row.verdict = "proved"
                row.how = max(proofs, key=len)
                if len(proofs) > 1:
                    row.how += f", in {len(proofs)} regions"
            elif count:
                row.verdict = "agrees"
                row.how = row.how or f"{self.digits} digits at {count} points"
                done = sum(map(bool, proofs))
                if done:
                    row.how += f"; proved in {done} of {len(self.regions)} regions"
            elif not row.how:
                row.how = self.reason or "no point could be compared"

    def proofs_of(self, name: str) -> list[str]:
        found = []
        for region in self.regions:
            if name in region.traced.names:
                i = region.traced.names.index(name)
                found.append(region.proofs[i] if region.proofs else "")
        return found

    def float_finding(self, name: str, row: Row) -> None:
        """Refute an entry whose float64 run gives NaN where the truth is a number."""
        if self.shrunk.sizes:
            return
        got = self.float_gradient.get(name)
        if got is None or not math.isnan(got):
            return
        if any(k.name == name for k in self.result.kinks):
            return
        if not self.function_is_finite():
            self.result.findings.append(
                f"{name}: NaN in float64, as the value of the function itself"
            )
            return
        row.verdict, row.got = "refuted", got
        row.how = "NaN in float64, where the function is finite"

    def function_is_finite(self) -> bool:
        args, kwargs = self.call_with(same_point(self.values))
        try:
            with np.errstate(all="ignore"), redirect_stdout(StringIO()):
                return bool(np.all(np.isfinite(self.programs.fn(*args, **kwargs))))
        except Exception:
            return False

    def coverage(self) -> Coverage:
        """Return which of the user's comparisons were seen which way."""
        seen: dict[tuple[str, int], set[bool]] = {}
        for region in self.regions:
            for c in region.traced.tape.conditions:
                if c.side == "function" and c.asked not in ("==", "!="):
                    seen.setdefault((c.file, c.line), set()).add(c.answer)
        branches = tuple(
            Branch(file, line, linecache.getline(file, line).strip(), tuple(sorted(v)))
            for (file, line), v in sorted(seen.items())
        )
        return Coverage(branches, self.tried, len(self.regions))

    def describe(self, region: Region) -> tuple[str, ...]:
        """Return the conditions of a region as text, the user's first."""
        texts: dict[str, None] = {}
        for c in region.traced.tape.conditions:
            if c.side == "function" and c.relation != "!=":
                texts.setdefault(c.text())
            if len(texts) >= 40:
                break
        return tuple(texts)

    def find_culprit(self, generated: Generated) -> None:
        from .culprit import find

        try:
            self.result.culprit = find(self, generated)
        except (TimedOut, CannotRunError):
            self.clock.check()


def _relative(reals: Reals, expected: Any, got: Any) -> Any:
    """Return |expected − got| / max, 0 for equal, None where either is no number."""
    if not (reals.finite(expected) and reals.finite(got)):
        return None
    if expected == got:
        return reals.zero
    return abs(expected - got) / max(abs(expected), abs(got))


def _allow(witness: Any, limit: float) -> Any:
    from dataclasses import replace

    return replace(witness, agrees=witness.difference <= limit)


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


def _expanded(s: Concolic, g: Concolic, seconds: float) -> str:
    """Prove a difference zero by expanding its numerator, under a deadline."""
    import sympy as sp

    try:
        with interrupting(seconds):
            difference = s.expr - g.expr
            if difference == 0:
                return "the same expression"
            if sp.expand(sp.numer(sp.together(difference))) == 0:
                return "expanded numerator"
    except (TimedOut, SymbolicValueError, RecursionError, ValueError, TypeError):
        return ""
    return ""
