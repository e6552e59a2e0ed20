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
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ..errors import NotDifferentiableError
from ..infer import quiet
from . import Generated
from .arms import Reached
from .checked import GradientCheck, contradicts
from .concolic import Concolic, Condition
from .crossing import across
from .deadline import TimedOut, interrupting
from .expressions import chain_gradient_with_sizes
from .floats import judge_floats
from .judging import ROUNDING
from .loaded import Loaded, code_holder, load
from .paths import path_of
from .points import placed, random_point, same_point
from .program import CannotRunError, Traced
from .progress import Progress
from .proving import REGIONS
from .result import Comparison, Culprit, Witness
from .rounding import code_rounds, constants_of, rounds_constants
from .settling import Settling
from .slopes import directional
from .state import Region, Step

__all__ = ["bind", "run"]

WITNESS_LIMIT = 1_500_000
"""Operations with 90 digits that one run at the real sizes may take."""

CROSSINGS = 12
"""Lines whose other answer is looked for."""


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
    generate: Callable[[tuple[Any, ...], dict[str, Any]], Generated] | None,
    gradient: Callable[..., Any] | None = None,
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
    work = Work(fn, parameters, values, names, single, generate, digits, seconds)
    if gradient is not None:
        work.judge_given(gradient)
    work.run(points)
    return work.result


class Work(Settling):
    """The order of things."""

    def run(self, points: int) -> None:
        result = self.result
        try:
            with Progress("comparing", self.seconds) as step:
                self.steps(points, step)
        except KeyboardInterrupt:
            result.unfinished = "interrupted: "
        except TimedOut:
            result.unfinished = f"{self.seconds:g} s are over: "
        if result.unfinished:
            self.list_rows("the time was over" if self.clock.over else "interrupted")
        result.rows = list(self.rows.values())
        result.coverage = self.coverage()
        result.seconds = self.clock.elapsed
        if self.regions:
            result.region = self.describe(self.regions[0])
        self.settle()
        if result.unfinished:
            result.unfinished += self.open_rows()

    def steps(self, points: int, step: Step) -> None:
        generated = None
        if self.generate is not None:
            step("generating the source")
            generated = self.generate(*self.call())
            self.real = load(generated.source, generated.name, generated.captured)
            self.programs.others = [
                load(text, generated.name, generated.captured)
                for text in generated.others
            ]
        self.programs.loaded = self.real
        self.result.source = self.real.source
        step("running the gradient")
        self.float_run()
        reason = self.complex_parameter()
        if reason:
            if not self.result.failure:
                self.list_rows(reason)
            self.result.findings.append(reason)
            return
        step("choosing sizes")
        if not self.choose_sizes():
            self.by_numbers(points, step)
            self.real_sizes(step)
            judge_floats(self)
            return
        self.programs.reached = Reached()
        self.all_points(points, step)
        self.settle_rounding(points, step)
        self.real_sizes(step)
        self.prove_regions(step)
        step("what runs in float64")
        judge_floats(self)
        self.judge_arms()
        if self.result.verdict == "refuted" or self.refuted_rows():
            step("looking for the culprit")
            self.find_culprit(generated)

    def all_points(self, points: int, step: Step) -> None:
        self.point(same_point(self.shrunk.values), own=True)
        active = set(self.programs.wrt)
        for number in range(points):
            step(f"point {number + 1} of {points}")
            for weaker in (1.0, 0.3, 0.1, 0.01):
                values = random_point(self.shrunk.values, number, weaker, active)
                # Outside its domain a function may be NaN where a formula is not.
                # (With captured arrays shrunk, it cannot be run as it stands.)
                if not self.programs.replaced and not self.function_runs(values):
                    continue
                if self.point(values, own=False):
                    break
        if points:
            step("branches that no point has reached")
            self.other_branches()

    def other_branches(self) -> None:
        """Cross the comparisons that all points answered in one way."""
        tried = 0
        for answers, places in self.answers().values():
            if len(answers) > 1 or tried >= CROSSINGS:
                continue
            tried += 1
            for region, condition in places[:3]:
                numbers = across(condition, region.numbers)
                if numbers is not None and self.try_numbers(region, numbers):
                    break

    def answers(self) -> dict[Any, tuple[set[bool], list[tuple[Region, Condition]]]]:
        """Return how each line's comparisons were answered, and where."""
        found: dict[Any, tuple[set[bool], list[tuple[Region, Condition]]]] = {}
        for region in self.regions:
            for c in region.traced.tape.conditions:
                if c.line and c.relation in ("<", "<=", ">", ">="):
                    key = (c.side, c.file, c.line)
                    answers, where = found.setdefault(key, (set(), []))
                    answers.add(c.answer)
                    where.append((region, c))
        return found

    def try_numbers(self, region: Region, numbers: dict[str, float]) -> bool:
        """Compare at other inputs than random ones."""
        values = placed(self.shrunk.values, numbers)
        if not self.programs.replaced and not self.function_runs(values):
            return False
        count = len(self.regions)
        done = self.point(values, own=False)
        if self.proving:
            for new in self.regions[count:REGIONS]:
                self.prove_region(new)
        return done

    def point(self, values: dict[str, Any], own: bool) -> bool:
        """Compare at one point; False where the function is not defined there."""
        self.clock.check()
        self.current = values
        numbers = self.numbers(values)
        if not own:
            for region in self.regions:
                if region.holds(numbers):
                    return self.replayed(region, numbers)
        try:
            # A random point may make a loop endless; the caller's own does not.
            tape = self.tape()
            if not own:
                tape.patience = 20_000 + 10 * self.longest
            traced = self.programs.trace(tape, values)
            self.longest = max(self.longest, tape.steps) if own else self.longest
        except CannotRunError as error:
            if own:
                self.result.findings.append(error.reason)
            elif (
                error.side == "gradient"
                and not isinstance(error.__cause__, (ZeroDivisionError, OverflowError))
                and self.function_runs(values, finite=False)
            ):
                self.result.failure = f"{self.who} fails: {error.reason}"
            return False
        finite = traced.tape.reals.finite
        if traced.tape.undefined and not own:
            return False
        if not finite(traced.loss.value):
            if own:
                self.nowhere = f"the value at your point is {float(traced.loss.value)}"
                if self.nowhere not in self.result.findings:
                    self.result.findings.append(self.nowhere)
                self.make_rows(traced)
            return False
        if traced.problem:
            self.result.failure = traced.problem
            self.make_rows(traced)
            return True
        ties = [c for c in traced.tape.conditions if c.tie]
        symbolic, sizes = chain_gradient_with_sizes(traced.loss, traced.inputs)
        singular = [s for s in symbolic if not finite(s.value)]
        singular += [g for g in traced.gradient if not finite(g.value)]
        self.make_rows(traced)
        if ties or singular:
            if own:
                # By the convention of the judged gradient: is float64 near to it?
                self.note_truth(traced, traced.gradient, sizes)
            self.kinks(values, traced, symbolic, own, bool(ties))
            return True
        conditions = traced.tape.conditions
        region = Region(traced, symbolic, numbers, conditions, sizes)
        self.regions.append(region)
        if own:
            self.own = region
            self.note_truth(traced, symbolic, sizes)
        self.keep_expressions(region)
        tape_values = [n.value for n in traced.tape.nodes]
        self.judge(region, tape_values, numbers, traced.tape.reals)
        return True

    def note_truth(
        self, traced: Traced, gradient: list[Concolic], sizes: list[Any]
    ) -> None:
        """Keep what float64 is to be compared with, at the caller's own sizes."""
        if self.shrunk.sizes:
            return
        self.true_value = traced.loss.value
        self.true_gradient = {
            n: g.value for n, g in zip(traced.names, gradient, strict=True)
        }
        self.term_sizes = {
            n: abs(float(x)) if traced.tape.reals.finite(x) else 0.0
            for n, x in zip(traced.names, sizes, strict=True)
        }

    def judge_arms(self) -> None:
        """Note branches of the judged program that no compared point has reached."""
        reached = self.programs.reached
        self.programs.reached = None
        if reached is None or self.result.failure:
            return
        real = self.real
        args = same_point(self.values)

        def call() -> Any:
            self.programs.loaded, before = real, self.programs.loaded
            try:
                return self.programs.call_judged(real.function, args, real.captured)
            finally:
                self.programs.loaded = before

        path = path_of(call, real.file, max(2.0, self.clock.left))
        at_real = Reached()
        if path is not None:
            at_real.add(path)
        for arm in at_real.arms():
            if at_real.has(arm) and not reached.has(arm):
                self.real_only.append(str(arm))
        for arm in reached.missing():
            if not at_real.has(arm):
                self.unreached.append(str(arm))
        if self.real_only:
            self.result.findings.append(
                f"runs at your sizes only: {'; '.join(self.real_only[:4])}"
            )
        if self.unreached:
            self.result.findings.append(
                f"no point reached: {'; '.join(self.unreached[:4])}"
            )

    def replayed(self, region: Region, numbers: dict[str, float]) -> bool:
        traced = region.traced
        assert traced.value is not None
        roots = [traced.loss, traced.value, *region.symbolic, *traced.gradient]
        roots += [n for other in traced.others for n in other]
        values = traced.tape.replay(numbers, roots=roots)
        if not traced.tape.reals.finite(values[traced.loss.index]):
            return False
        self.judge(region, values, numbers, traced.tape.reals)
        return True

    def keep_expressions(self, region: Region) -> None:
        for name, s, g in zip(
            region.traced.names, region.symbolic, region.traced.gradient, strict=True
        ):
            row = self.rows[name]
            if row._symbolic is None or (row._symbolic.constant and not s.constant):
                row._symbolic, row._generated = s, g

    @cached_property
    def may_round(self) -> bool:
        """Return whether the generated source holds constants rounded to float64."""
        known: set[float] = set()
        code = getattr(code_holder(self.programs.fn), "__code__", None)
        if code is not None:
            known = constants_of(code)
        if self.real.given:
            return code_rounds(code_holder(self.real.function), known)
        return rounds_constants(self.programs.judged.source, known)

    def settle_rounding(self, points: int, step: Step) -> None:
        """Find a reading of constants in which nothing differs by their rounding.

        First with literals as exact numbers, then with functions of constants rounded
        as the program rounds them.  What still differs a little is wrong, unless the
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

    def real_sizes(self, step: Step) -> None:
        """Compare directional derivatives at the caller's sizes, without SymPy.

        With 90 digits where that is a matter of seconds, else in float64.
        """
        if self.result.failure:
            return
        step("the real sizes")
        programs = self.programs
        replaced, loaded = programs.replaced, programs.loaded
        programs.replaced, programs.loaded = {}, self.real
        reason = ""
        try:
            for values in (self.values, self.beside()):
                witnesses, gradient, reason = directional(
                    programs, values, self.clock.share(self.seconds, 0.7), WITNESS_LIMIT
                )
                if self.result.rounding or not programs.exact:
                    witnesses = [_allow(w, 10 * ROUNDING) for w in witnesses]
                self.result.witnesses += witnesses
                if values is self.values and self.shrunk.sizes:
                    self.true_gradient = gradient
                if witnesses or not reason:
                    self.witnessed = "90 digits"
                    break
        except TimedOut:
            self.clock.check()
            reason = "it takes too long"
        except CannotRunError as error:
            reason = error.reason
        finally:
            programs.replaced, programs.loaded = replaced, loaded
        if self.shrunk.sizes and not self.witnessed:
            self.result.findings.append(
                f"not run at the real sizes with 90 digits: {reason}"
            )
            self.real_differences()

    def beside(self) -> dict[str, Any]:
        """Return a point next to the caller's, where nothing is tied by chance."""
        return random_point(self.values, 1, 1e-3, set(self.programs.wrt))

    def real_differences(self) -> None:
        """Take directions in float64 at the real sizes, as `check` does.

        A clear contradiction refutes; one that is not clear leaves nothing proved.
        """
        args, kwargs = self.call_with(same_point(self.values))
        try:
            with interrupting(max(2.0, self.clock.left)):
                found = self.checked_by_differences(self.real, args, kwargs)
        except TimedOut:
            self.clock.check()
            return
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            self.result.findings.append(f"no differences at the real sizes: {text}")
            return
        if found.undefined:
            return
        clear = [r for r in found.rows if not r.ok and contradicts(r)]
        for row in clear:
            self.result.witnesses.append(
                Witness(
                    row.direction,
                    row.numeric,
                    row.generated,
                    row.relative_difference,
                    False,
                    0,
                    row.label,
                )
            )
        if clear:
            return
        if not found.ok:
            reason = "differences at the real sizes contradict the gradient"
            self.detour = f"{self.detour}; {reason}" if self.detour else reason
            self.result.findings.append(reason)
            return
        self.witnessed = "float64"
        for row in (r for r in found.rows if r.direction):
            self.result.witnesses.append(
                Witness(
                    row.direction,
                    row.numeric,
                    row.generated,
                    row.relative_difference,
                    True,
                    0,
                    row.label,
                )
            )

    def checked_by_differences(
        self,
        loaded: Loaded,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        source: Callable[[], Any] | None = None,
    ) -> GradientCheck:
        from .finite import check

        programs = self.programs

        def gradient(*a: Any, **k: Any) -> Any:
            bound, _ = bind(programs.fn, a, k)
            before, programs.loaded = programs.loaded, loaded
            try:
                call = programs.call_judged
                return call(loaded.function, bound, loaded.captured)[1]
            finally:
                programs.loaded = before

        wrt = programs.wrt[0] if programs.single else programs.wrt
        with quiet():
            return check(
                programs.fn, args, kwargs, wrt=wrt, gradient=gradient, source=source
            )

    def by_numbers(self, points: int, step: Step) -> None:
        """Compare where SymPy has no form: quotients of differences with 90 digits."""
        from .numeric import compare_by_numbers

        compare_by_numbers(self, points, step)

    def find_culprit(self, generated: Generated | None) -> None:
        from .culprit import find

        try:
            by_graph = None if generated is None else self.by_graph(generated)
            self.result.culprit = by_graph or find(self)
        except (TimedOut, CannotRunError):
            self.clock.check()

    def by_graph(self, generated: Generated) -> Culprit | None:
        """Return the culprit by the cotangents of the generated graph, or None.

        Surer than probes, which cannot tell which of two factors in one line is wrong.
        """
        if generated.origin is None or not self.refuting:
            return None
        # At a random point different things have different values.
        values = self.refuting[min(1, len(self.refuting) - 1)]
        if self.programs.replaced:
            values = self.values  # captured arrays have their own sizes only
        elif self.shrunk.sizes and self.generate is not None:
            generated = self.generate(*self.call_with(same_point(values)))
        loaded = load(generated.source, generated.name, generated.captured)
        args, kwargs = self.call_with(same_point(values))
        try:
            with interrupting(min(8.0, self.clock.left / 2)):
                return self.checked_by_differences(
                    loaded, args, kwargs, lambda: generated.origin
                ).culprit
        except Exception:  # TimedOut among them: then the probes are left
            return None


def _allow(witness: Any, limit: float) -> Any:
    from dataclasses import replace

    return replace(witness, agrees=witness.difference <= limit)
