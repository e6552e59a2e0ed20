"""What one comparison knows while it is under way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..infer import silent
from . import Generated
from .concolic import Concolic, Condition, Tape
from .deadline import Clock, interrupting
from .loaded import Loaded, given
from .paths import Path, Place
from .points import same_point
from .program import Programs, Traced, is_integral, is_symbolic
from .result import Comparison, Row
from .shrink import Shrunk
from .structure import entries, leaves

__all__ = ["Region", "State", "Step"]

Step = Callable[[str], None]
"""Called with a word on what is done next."""

GUARD = 25
"""Digits carried beyond those that are compared."""


@dataclass
class Region:
    """The inputs at which the programs take the same branches as at one point.

    numbers : the inputs of that point; values: what they are part of.
    conditions : what holds in it: all that was compared, and the signs that proofs take
        from the digits.
    sizes : for each entry the size of the terms that it is a sum of, as logarithm.
    """

    traced: Traced
    symbolic: list[Concolic]
    numbers: dict[str, float]
    conditions: list[Condition]
    sizes: list[Any] = field(default_factory=list)
    points: int = 0
    proofs: list[str] = field(default_factory=list)
    visited: list[dict[str, float]] = field(default_factory=list)

    def holds(self, numbers: dict[str, float]) -> bool:
        """Return whether other inputs belong to the region."""
        tape = self.traced.tape
        if not tape.inputs.keys() <= numbers.keys():
            return False
        sides = [n for c in self.conditions for n in (c.left, c.right)]
        values = tape.replay(numbers, roots=sides)
        return all(c.holds(values) for c in self.conditions)


class State:
    """One comparison under way; `result` is always what is known so far."""

    def __init__(
        self,
        fn: Callable[..., Any],
        parameters: dict[str, inspect.Parameter],
        values: dict[str, Any],
        wrt: tuple[str, ...],
        single: bool,
        generate: Callable[[tuple[Any, ...], dict[str, Any]], Generated] | None,
        digits: int,
        seconds: float,
    ) -> None:
        self.clock = Clock(seconds)
        self.seconds = seconds
        self.digits = digits
        self.values = values
        self.parameters = parameters
        self.generate = generate
        self.who = "the generated source"
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
        self.plain_time = 0.0
        self.longest = 0
        self.proving = False
        self.real: Loaded
        # What runs in float64 at the caller's point; of other texts; what is true there
        # as far as it is known with many digits, and the sizes of its terms.
        self.float_value: Any = None
        self.float_gradient: dict[str, float] = {}
        self.float_others: list[tuple[Any, dict[str, float]]] = []
        self.true_value: Any = None
        self.true_gradient: dict[str, Any] = {}
        self.term_sizes: dict[str, float] = {}
        self.own: Region | None = None
        # Why later calls may return something else; what of the judged program has run.
        self.stateful = ""
        self.unreached: list[str] = []
        self.real_only: list[str] = []
        self.witnessed = ""
        self.current: dict[str, Any] | None = None
        self.refuting: list[dict[str, Any]] = []
        # Which way the function goes at the real sizes, once that was asked; where it
        # compares numbers; what is known of its branches at the small sizes.
        self.path_taken: list[Path | None] = []
        self.asked: set[Place] = set()
        self.detour = ""
        self.unsure = ""
        # Why the function has no value at the caller's point, if it has none.
        self.nowhere = ""

    def judge_given(self, gradient: Callable[..., Any]) -> None:
        """Judge a callable of the caller's in place of what is generated."""
        self.generate = None
        self.real = given(gradient)
        self.who = f"`{self.real.name}`"
        self.result.judged = self.real.name

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

    def tape(self, clock: Clock | None = None) -> Tape:
        return Tape(self.digits + GUARD, clock=clock or self.clock)

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

    def function_runs(self, values: dict[str, Any], finite: bool = True) -> bool:
        """Return whether the user's own function accepts a point, as plain NumPy.

        With `finite`, its value must be a number there.
        """
        args, kwargs = self.call_with(same_point(values))
        try:
            with silent():
                # At a random point a loop may be endless.
                with interrupting(max(2.0, min(20 * self.plain_time, self.clock.left))):
                    value = self.programs.fn(*args, **kwargs)
                return not finite or bool(np.all(np.isfinite(value)))
        except Exception:  # TimedOut among them
            return False

    def make_rows(self, traced: Traced) -> None:
        for name in traced.names:
            if name not in self.rows:
                self.rows[name] = Row(name)
                self.checked[name] = 0

    def refuted_rows(self) -> bool:
        return any(r.verdict == "refuted" for r in self.rows.values())

    def forget(self) -> None:
        self.regions, self.rows, self.checked, self.small = [], {}, {}, {}
        self.refuting = []
        self.tried = 0
