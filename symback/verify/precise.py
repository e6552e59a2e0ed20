"""Elements that hold 90 digits and nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .deadline import Clock, TimedOut
from .elements import Element, Home, SymbolicValueError, decide
from .reals import Reals
from .sizes import Size

__all__ = ["Precise", "PreciseHome"]


class PreciseHome(Home):
    """The home of numbers with many digits; `clock` ends what takes too long."""

    def __init__(
        self, digits: int = 90, clock: Clock | None = None, exact: bool = True
    ) -> None:
        self.reals = Reals(digits)
        self.clock = clock or Clock(math.inf)
        self.exact = exact
        self.ties = 0
        self._ticks = 0
        self.limit = 0  # of the operations of a run; 0 for none

    def lift(self, x: Any) -> Precise:
        if isinstance(x, np.generic):
            x = x.item()
        if isinstance(x, Size):
            x = int(x)
        return Precise(self, self.reals.number(x), True)

    def input(self, x: Any) -> Precise:
        """Return a number that the program may not take for a constant."""
        return Precise(self, self.reals.number(x), False)

    def constant(self, name: str) -> Precise:
        c = self.reals.context
        value = +{"pi": c.pi, "e": c.e, "euler_gamma": c.euler}[name]
        return Precise(self, value, True)

    def call(self, name: str, *args: Any) -> Precise:
        self._tick()
        values = [
            a.value if isinstance(a, Element) else self.reals.number(a) for a in args
        ]
        constant = all(getattr(a, "constant", True) for a in args)
        return Precise(self, self.reals.call(name, *values), constant)

    def compare(self, a: Element, relation: str, b: Element) -> bool:
        if a.value == b.value and a is not b:
            self.ties += 1
        return decide(a.value, relation, b.value)

    def operate(self, op: str, a: Element, b: Element) -> Precise:
        self._tick()
        x, y = a.value, b.value
        constant = a.constant and b.constant
        if op == "add":
            return Precise(self, x + y, constant)
        if op == "mul":
            return Precise(self, x * y, constant)
        if op == "sub":
            return Precise(self, x - y, constant)
        if op == "div":
            return Precise(self, self.reals.divide(x, y), constant)
        return Precise(self, self.reals.power(x, y), constant)

    def _tick(self) -> None:
        self._ticks += 1
        if self._ticks % 1024 == 0:
            if self.clock.over:
                raise TimedOut
            if self.limit and self._ticks > self.limit:
                raise SymbolicValueError(
                    f"more than {self.limit:,} operations with many digits"
                )


class Precise(Element):
    """A number with many digits and no history but whether it is a constant.

    >>> x = PreciseHome(30).lift(2.0)
    >>> (x / 3).value
    mpf('0.666666666666666666666666666666634')
    """

    __slots__ = ("constant", "home", "value")

    def __init__(self, home: PreciseHome, value: Any, constant: bool) -> None:
        self.home = home
        self.value = value
        self.constant = constant

    def __repr__(self) -> str:
        return str(self.home.reals.context.nstr(self.value, 12))

    __hash__ = Element.__hash__
