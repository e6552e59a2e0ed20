"""The arguments of a check: parameters that can be moved, and the function at them.

Float32 and narrower parameters are read as float64, so that differences have digits.
The caller's arguments are never modified, whatever the function does to its own.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import math
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import NotScalarError
from .structure import leaves, rebuild

__all__ = ["Inputs", "Leaf", "is_number"]

Array = np.ndarray[Any, Any]
Moves = Mapping[int, Array]
"""Directions by the numbers of leaves."""

PRECISION = 2.0**-52
"""The relative rounding error of float64."""

TINY = 2.0**-100
"""The complex step: its square is nothing beside 1."""


def is_number(x: Any) -> bool:
    """Return whether x is a number or an array of them that a gradient is taken by."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fciu"
    if isinstance(x, bool | np.bool_):
        return False
    return isinstance(x, int | float | complex | np.number)


@dataclass(frozen=True)
class Leaf:
    """A number or array in a parameter.

    name : as ``p['W']``.  parameter : the one that holds it.  value : float64 or
    complex128 of the leaf's shape.  precision : of the type that the caller gave.
    """

    name: str
    parameter: str
    value: Array
    precision: float
    kind: type

    @property
    def is_complex(self) -> bool:
        """Return whether its entries have an imaginary part to move."""
        return bool(self.value.dtype.kind == "c")

    def restore(self, value: Array) -> Any:
        """Return moved entries as the kind of object that the caller gave."""
        if self.kind is np.ndarray:
            return value
        if self.kind is np.generic:
            return value[()]
        return value.item()


class Inputs:
    """A function and its bound arguments, some of which are to be moved.

    >>> inputs = Inputs(lambda p, k: k * p["a"] ** 2, ({"a": 3.0}, 2.0), {}, ("p",))
    >>> [leaf.name for leaf in inputs.leaves], inputs.value({})
    (["p['a']"], 18.0)
    >>> inputs.along({0: np.array(1.0)})(1.0)
    32.0
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        wrt: tuple[str, ...],
    ) -> None:
        self.fn = fn
        self.signature = inspect.signature(fn)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.wrt = wrt
        self.leaves: list[Leaf] = []
        self.numbers: dict[str, int] = {}
        for parameter in wrt:
            for name, leaf in leaves(bound.arguments[parameter], parameter):
                if is_number(leaf):
                    self.numbers[name] = len(self.leaves)
                    self.leaves.append(_leaf(name, parameter, leaf))
        narrow = any(leaf.precision > PRECISION for leaf in self.leaves)
        # Data of the same narrow type would spoil the digits of the differences.
        self.arguments: dict[str, Any] = {
            name: value
            if name in wrt or not narrow
            else rebuild(value, name, lambda _, x: _widened(x))
            for name, value in bound.arguments.items()
        }

    @property
    def name(self) -> str:
        """Return the function's name."""
        return str(getattr(self.fn, "__name__", type(self.fn).__name__))

    @property
    def count(self) -> int:
        """Return how many numbers can be moved; complex ones count twice."""
        return sum(x.value.size * (2 if x.is_complex else 1) for x in self.leaves)

    def bound(self, values: Mapping[int, Array]) -> dict[str, Any]:
        """Return all arguments by name, copied, with some leaves replaced."""

        def replaced(name: str, old: Any) -> Any:
            number = self.numbers.get(name)
            if number is None:
                return old
            leaf = self.leaves[number]
            found = values.get(number)
            return leaf.restore(leaf.value.copy() if found is None else found)

        made = {}
        for name, value in self.arguments.items():
            with contextlib.suppress(Exception):  # what cannot be copied is shared
                value = copy.deepcopy(value)
            made[name] = rebuild(value, name, replaced) if name in self.wrt else value
        return made

    def call(self, values: Mapping[int, Array]) -> Any:
        """Run the function with some leaves replaced, silently."""
        bound = inspect.BoundArguments(self.signature, OrderedDict(self.bound(values)))
        with (
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            return self.fn(*bound.args, **bound.kwargs)

    def value(self, values: Mapping[int, Array]) -> float:
        """Return the loss as a float, NaN where it has none.

        Raises:
            NotScalarError: the function returns more than one number.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = self.call(values)
        except (ArithmeticError, ValueError):
            return math.nan
        found = np.asarray(result)
        if found.size != 1 or found.dtype.kind not in "fiub":
            raise NotScalarError(
                f"`{self.name}` returns {_spoken(result)}, not a real number"
            )
        return float(found.reshape(()))

    def along(self, moves: Moves) -> Callable[[float], float]:
        """Return the loss on a line through the point, as a function of one number."""

        def on_line(t: float) -> float:
            return self.value(
                {k: self.leaves[k].value + t * move for k, move in moves.items()}
            )

        return on_line

    def complex_slope(self, moves: Moves) -> float | None:
        """Return the derivative by a complex step, or None if the function has none.

        Where the function is analytic and takes complex numbers,
        f(x + ih) = f(x) + ihf′(x), and no digit cancels (Squire and Trapp 1998,
        doi:10.1137/S003614459631241X).  Functions that drop the imaginary part warn or
        give a real result; those that mistreat it (``np.abs``) give a wrong slope, so
        the caller compares.
        """
        if any(leaf.is_complex for leaf in self.leaves):
            return None
        values = {k: self.leaves[k].value + 1j * TINY * m for k, m in moves.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                found = np.asarray(self.call(values))
        except Exception:
            # Whatever it is: the function was not written for complex numbers.
            return None
        if found.size != 1 or found.dtype.kind != "c":
            return None
        slope = float(found.reshape(()).imag) / TINY
        return slope if math.isfinite(slope) else None


def _leaf(name: str, parameter: str, given: Any) -> Leaf:
    value = np.asarray(given)
    is_complex = value.dtype.kind == "c"
    kind: type = float
    if isinstance(given, np.ndarray):
        kind = np.ndarray
    elif isinstance(given, np.generic):
        kind = np.generic
    precision = PRECISION
    if value.dtype.kind in "fc":
        precision = max(PRECISION, float(np.finfo(value.dtype).eps))
    wide = np.array(value, dtype=np.complex128 if is_complex else np.float64)
    return Leaf(name, parameter, wide, precision, kind)


def _widened(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc":
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        if x.dtype.itemsize < np.dtype(wide).itemsize:
            return x.astype(wide)
    return x


def _spoken(result: Any) -> str:
    if isinstance(result, np.ndarray):
        return f"an array of shape {result.shape}"
    return f"{type(result).__name__} {result!r}"[:60]
