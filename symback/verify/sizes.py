"""Numbers of entries whose quotients are exact.

A program that divides by `x.shape[0]` means a third where float64 says
0.333333333333333315; on elements it is a third.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import total_ordering
from typing import Any

import numpy as np

__all__ = ["Size", "counted", "length"]


def counted(n: int) -> Any:
    """Return a number of entries as a `Size`, or as an int where constants are rounded.

    >>> from symback.verify.concolic import Tape
    >>> from symback.verify.functions import use_home
    >>> with use_home(Tape(30)):
    ...     n = counted(3)
    ...     list(range(n)), n + 1 == 4, (1.0 / n).expr
    ([0, 1, 2], True, 1/3)
    """
    from .functions import is_exact

    return Size(n) if is_exact() else n


def length(x: Any) -> Any:
    """Return `len(x)`; that of arrays and lists is a `Size`."""
    return counted(len(x)) if isinstance(x, (np.ndarray, list)) else len(x)


@total_ordering
class Size:
    """An int in every respect but division and arithmetic with floats, which are exact.

    Not a subclass of int: Python would divide 1.0 by it without asking.
    """

    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = int(n)

    def __index__(self) -> int:
        return self.n

    def __int__(self) -> int:
        return self.n

    def __float__(self) -> float:
        return float(self.n)

    def __bool__(self) -> bool:
        return self.n != 0

    def __repr__(self) -> str:
        return repr(self.n)

    def __format__(self, spec: str) -> str:
        return format(self.n, spec)

    def __hash__(self) -> int:
        return hash(self.n)

    def __eq__(self, other: object) -> Any:
        return self.n == (other.n if isinstance(other, Size) else other)

    def __lt__(self, other: Any) -> Any:
        return self.n < (other.n if isinstance(other, Size) else other)

    def __neg__(self) -> Size:
        return Size(-self.n)

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Size:
        return Size(abs(self.n))


def _lift(n: int) -> Any:
    from .functions import home

    return home().lift(n)


def _operator(name: str, function: Callable[[Any, Any], Any], whole: bool) -> None:
    """Give `Size` an operator and its mirror image."""

    def apply(a: Any, b: Any) -> Any:
        if all(isinstance(i, (int, np.integer)) for i in (a, b)):
            if whole and not (name == "pow" and b < 0):
                return Size(function(int(a), int(b)))
            return function(_lift(int(a)), _lift(int(b)))
        sides = [_lift(i) if isinstance(i, int) else i for i in (a, b)]
        return function(*sides)

    def forward(self: Size, other: Any) -> Any:
        if isinstance(other, (list, tuple, str)):
            return function(self.n, other)
        return apply(self.n, other.n if isinstance(other, Size) else other)

    def backward(self: Size, other: Any) -> Any:
        if isinstance(other, (list, tuple, str)):
            return function(other, self.n)
        return apply(other, self.n)

    setattr(Size, f"__{name}__", forward)
    setattr(Size, f"__r{name}__", backward)


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow"):
    _operator(_name, getattr(operator, _name), whole=True)
_operator("truediv", operator.truediv, whole=False)
