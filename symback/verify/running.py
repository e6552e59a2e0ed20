"""Sizes to compare at, and the program as it runs for the user."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np

from ..infer import silent
from .deadline import TimedOut
from .elements import SymbolicValueError
from .expressions import differentiable
from .held import Held
from .loaded import Loaded, load
from .paths import other_branch, path_of
from .points import same_point
from .precise import PreciseHome
from .program import CannotRunError
from .proving import Proving
from .result import Row
from .shrink import Shrunk, candidates, shrink_array
from .structure import entries, leaves

__all__ = ["Running"]

TABLE_LIMIT = 4_000
"""Entries beyond which a table of symbols is no longer built."""


PATH_SECONDS = 2.0
"""Spent at most on finding which branches a function takes at some sizes."""


def smaller(captured: dict[str, Any], shrunk: Shrunk) -> dict[int, Any]:
    """Return what stands in for captured arrays at smaller sizes, by identity."""
    if not shrunk.sizes:
        return {}
    return {id(v): shrink_array(v, shrunk.sizes) for v in captured.values()}


def _same(a: Any, b: Any) -> bool:
    """Return whether two results are the same to the last bit, NaN with NaN."""
    one, other = leaves(a, ""), leaves(b, "")
    if [n for n, _ in one] != [n for n, _ in other]:
        return False
    for (_, x), (_, y) in zip(one, other, strict=True):
        if not isinstance(x, (np.ndarray, float, int, complex, np.generic)):
            continue
        inexact = np.asarray(x).dtype.kind in "fc"
        if not np.array_equal(x, y, equal_nan=inexact):
            return False
    return True


class Running(Proving):
    """Runs the generated source in float64, and finds small sizes for the rest."""

    def float_run(self) -> None:
        """Run the judged program as it runs for the user, in float64, and twice."""
        for loaded in (self.real, *self.programs.others):
            if self.result.failure:
                return
            self.programs.loaded = loaded
            found = self.plain_run(loaded)
            if found is not None and loaded is self.real:
                self.float_value, self.float_gradient = found
            elif found is not None and loaded is not self.real:
                self.float_others.append(found)
        self.programs.loaded = self.real

    def plain_run(self, loaded: Loaded) -> tuple[Any, dict[str, float]] | None:
        """Return value and gradient by name; note what a run must not do."""
        programs = self.programs
        before = same_point(self.values)
        held = Held(loaded, programs.fn)
        runs: list[tuple[Any, Any, Any]] = []
        draws = np.random.get_state(), random.getstate()
        for _ in range(2):
            values = same_point(self.values)
            np.random.set_state(draws[0])  # both draw the same, if they draw at all
            random.setstate(draws[1])
            start = self.clock.elapsed
            try:
                with silent():
                    value, found = programs.call_judged(
                        loaded.function, values, loaded.captured
                    )
                self.plain_time = max(self.plain_time, self.clock.elapsed - start)
            except KeyboardInterrupt:
                raise
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                if self.out_of_range(error):
                    self.result.findings.append(
                        f"the source was not run in float64 at your point: {what}"
                    )
                else:
                    self.result.failure = f"{self.who} fails: {what}"
                return None
            if not runs:
                first = copy.deepcopy((value, found))
            runs.append((values, value, found))
        for p in before:
            for (name, a), (_, b) in zip(
                leaves(runs[0][0][p], p), leaves(before[p], p), strict=True
            ):
                if isinstance(a, np.ndarray) and not _same(a, b):
                    self.result.failure = f"{self.who} changes the argument {name}"
        changed = held.changed()
        if changed and changed.arrays:
            self.result.failure = f"{self.who} changes the array {changed.arrays[0]}"
        elif not _same(first, runs[0][1:]):
            self.result.failure = (
                f"a second run of {self.who} changes what the first one returned: "
                "both are the same memory"
            )
        elif not _same(runs[0][1:], runs[1][1:]):
            self.result.failure = (
                f"two runs of {self.who} give different gradients: it remembers"
            )
        elif changed:
            self.stateful = (
                f"{self.who} changes {changed.names[0]}: what later calls return is "
                "not shown"
            )
            self.result.findings.append(self.stateful)
        _, value, found = runs[0]
        self.note_memory(runs[0][0], found)
        gradient: dict[str, float] = {}
        parts = (found,) if programs.single else found
        if isinstance(parts, (tuple, list)):
            for p, part in zip(programs.wrt, parts, strict=False):
                for name, x in entries(part, p):
                    gradient[name] = float(np.real(x))
        return value, gradient

    def note_memory(self, values: dict[str, Any], found: Any) -> None:
        """Note where a gradient is the memory of an argument."""
        arrays = [
            (name, x)
            for p, v in values.items()
            for name, x in leaves(v, p)
            if isinstance(x, np.ndarray)
        ]
        for _, part in leaves(found, ""):
            for name, x in arrays:
                shared = isinstance(part, np.ndarray) and np.shares_memory(part, x)
                if shared and not self.result.failure:
                    text = f"a gradient shares memory with the argument {name}"
                    if self.real.given:
                        self.result.findings.append(text)
                    else:
                        self.result.failure = text

    def out_of_range(self, error: Exception) -> bool:
        """Return whether Python's numbers raise where NumPy's are infinite or NaN.

        The source for single numbers is run again with NumPy's then; the comparison
        goes by 50 digits, which have no such limits.
        """
        if isinstance(error, (ZeroDivisionError, OverflowError)):
            return True
        arrays = (
            isinstance(x, np.ndarray)
            for p, v in self.values.items()
            for _, x in leaves(v, p)
        )
        return isinstance(error, ValueError) and not any(arrays)

    def complex_parameter(self) -> str:
        """Return why complex parameters are not compared, "" where there are none."""
        for p in self.programs.wrt:
            for name, x in leaves(self.values[p], p):
                if np.iscomplexobj(x):
                    return f"{name} is complex: only real parameters are compared"
        return ""

    def list_rows(self, how: str) -> None:
        """Give every entry of the gradient a row, if there is none yet."""
        if self.rows:
            return
        for p in self.programs.wrt:
            for name, _ in entries(self.values[p], p):
                self.rows[name] = Row(name, how=how)
                self.checked[name] = 0
                if len(self.rows) >= TABLE_LIMIT:
                    return

    def choose_sizes(self) -> bool:
        """Find the smallest arrays on which both programs run on symbols."""
        captured = {
            k: v for k, v in self.real.captured.items() if isinstance(v, np.ndarray)
        }
        reasons: list[str] = []
        found: tuple[Shrunk, dict[int, Any], Loaded | None, int] | None = None
        for shrunk in candidates(self.values, captured):
            # The first run tells which lines compare numbers, not sizes.
            if found and self.other_branch(shrunk, captured) is not None:
                continue
            if self.programs_run(shrunk, captured, reasons):
                line = self.other_branch(shrunk, captured)
                if line is None:
                    self.use(shrunk)
                    return True
                kept = self.programs.replaced, self.programs.loaded
                found = found or (shrunk, *kept, line)
        entries_total = sum(
            1 for p in self.programs.wrt for _ in entries(self.values[p], p)
        )
        last = reasons[-1] if reasons else "there are no arrays to shrink"
        if entries_total <= TABLE_LIMIT // 10:
            reasons_before = list(reasons)
            whole = Shrunk(self.values, {}, follow=False)
            if self.programs_run(whole, captured, reasons):
                self.shrunk = whole
                self.detour = ""
                return True
            last = reasons[-1] if len(reasons) > len(reasons_before) else last
        if found is not None:
            shrunk, self.programs.replaced, self.programs.loaded, line = found
            self.use(shrunk)
            self.detour = f"the branch on line {line} goes otherwise at the small sizes"
            return True
        self.programs.replaced = {}
        self.programs.loaded = self.real
        self.reason = last
        self.result.findings.append(f"not compared on symbols: {last}")
        return False

    def use(self, shrunk: Shrunk) -> None:
        self.shrunk = shrunk
        self.result.sizes = str(shrunk)

    def other_branch(self, shrunk: Shrunk, captured: dict[str, Any]) -> int | None:
        """Return a line whose branch goes otherwise at smaller sizes, or None."""
        if not shrunk.sizes:
            return None
        programs = self.programs

        def plain(values: dict[str, Any]) -> Any:
            args, kwargs = self.call_with(same_point(values))
            return programs.fn(*args, **kwargs)

        def small() -> Any:
            if not captured:
                return plain(shrunk.values)
            # Captured arrays have their own size: only a copy of the function has both.
            home = PreciseHome(30, self.clock)
            before = programs.replaced
            programs.replaced = smaller(captured, shrunk)
            try:
                return programs.value(home, shrunk.values)
            finally:
                programs.replaced = before

        if not self.path_taken:
            limit = min(PATH_SECONDS, self.clock.left / 4)
            file = programs.user_file
            self.path_taken.append(path_of(lambda: plain(self.values), file, limit))
        real = self.path_taken[0]
        if real is not None:
            limit = min(PATH_SECONDS, self.clock.left / 4)
            path = path_of(small, programs.user_file, limit)
            if path is not None:
                self.unsure = ""
                return other_branch(real, path, self.asked)
        self.unsure = "it was not found whether branches go the same way there"
        return None

    def programs_run(
        self, shrunk: Shrunk, captured: dict[str, Any], reasons: list[str]
    ) -> bool:
        self.programs.replaced = smaller(captured, shrunk)
        self.programs.loaded = self.source_for(shrunk, captured)
        try:
            tape = self.tape(self.clock.share(self.seconds / 3))
            traced = self.programs.trace(tape, shrunk.values)
            differentiable(traced.loss)
            self.asked |= {
                (c.file, c.line) for c in traced.tape.conditions if c.side == "function"
            }
        except CannotRunError as error:
            who = "the function" if error.side == "function" else self.who
            reasons.append(f"{who} does not run on symbols: {error.reason}")
            return False
        except SymbolicValueError as error:
            reasons.append(f"the function cannot be differentiated by SymPy: {error}")
            return False
        except TimedOut:
            if self.clock.over:
                raise
            reasons.append("running the function on symbols takes too long")
            return False
        return bool(traced.names) or not shrunk.sizes

    def source_for(self, shrunk: Shrunk, captured: dict[str, Any]) -> Loaded:
        """Return the source for smaller arrays: the same, unless sizes are in it."""
        if not shrunk.sizes or captured or self.generate is None:
            # Captured arrays cannot be given to the generator at another size.
            return self.real
        try:
            found = self.generate(*self.call_with(same_point(shrunk.values)))
        except Exception:
            return self.real
        return load(found.source, found.name, found.captured)
