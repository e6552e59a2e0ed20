"""NumPy and `math` for elements: what object arrays cannot do by themselves.

NumPy's own loops do most of the work, for they call Python's operators on each element.
`SymArray` is an object array that sends every ufunc and function here; `module` gives
stand-ins for whole modules, so that a program's `np.zeros(3)`, `math.exp(x)` or
`scipy.special.erf(x)` make and take elements too.

>>> from symback.verify.concolic import Tape
>>> with using(Tape(30)) as tape:
...     x = as_array([tape.input("a", 1.0), tape.input("b", 2.0)], tape)
...     np.sum(np.exp(x) * x).expr
a*exp(a) + b*exp(b)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .arrays import (
    OVERRIDES,
    SCALAR_FUNCTIONS,
    StandInFloat,
    as_array,
    contains_elements,
    finish,
    kind_of,
)
from .elements import Element, Home, SymbolicValueError
from .functions import home, inside_library, use_home
from .record import recorded
from .sizes import Size
from .ufuncs import apply_ufunc

__all__ = [
    "FLOAT_TYPES",
    "apply_function",
    "module",
    "recording_function",
    "scalar_method",
    "stand_in",
    "using",
]


@contextmanager
def using(current: Any) -> Iterator[Any]:
    """Make elements of this home wherever a constant is needed."""
    from . import libraries  # registers our versions of library functions

    assert libraries
    with use_home(current):
        yield current


def apply_function(current: Home, function: Any, args: Any, kwargs: Any) -> Any:
    """Run a NumPy function on elements: ours, or NumPy's own over object arrays."""
    return recorded(
        _title(function),
        lambda *a, **kw: _apply_function(function, a, kw),
        args,
        kwargs,
    )


def _apply_function(function: Any, args: Any, kwargs: Any) -> Any:
    ours = OVERRIDES.get(function)
    if ours is not None:
        return _in_library(ours, args, kwargs)
    package = getattr(function, "__module__", "") or ""
    if package.startswith(("numpy.linalg", "numpy.fft")):
        raise SymbolicValueError(f"{_title(function)} has no symbolic form")
    return _in_library(getattr(function, "_implementation", function), args, kwargs)


def _in_library(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run library code, or ours that stands in for it, and lift what it gives."""
    if function in (OVERRIDES[np.shape], OVERRIDES[np.size]):
        return function(*args, **kwargs)  # it is the program that asks for a size
    with inside_library():
        args = _plain_sizes(tuple(args))
        return finish(
            function(*args, **{k: _plain_sizes(v) for k, v in kwargs.items()})
        )


def _library(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _in_library(function, args, kwargs)


def _title(function: Any) -> str:
    package = (getattr(function, "__module__", "") or "").replace("numpy", "np")
    return f"{package}.{getattr(function, '__name__', function)}"


def scalar_method(x: Element, name: str) -> Callable[..., Any]:
    """Return a method that NumPy's scalars have, for an element."""

    def method(*args: Any, **kwargs: Any) -> Any:
        array = as_array(x, x.home)
        if name == "astype":
            return x if kind_of(args[0]) == "f" else array.astype(*args)[()]
        result = getattr(array, name)(*args, **kwargs)
        if isinstance(result, np.ndarray) and result.ndim == 0:
            return result.view(np.ndarray)[()]
        return result

    if not callable(getattr(np.ndarray, name, None)):
        raise AttributeError(name)
    return method


class StandIn:
    """A module whose functions make and take elements."""

    def __init__(self, real: ModuleType) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        value = stand_in(getattr(self._real, name), f"{self._real.__name__}.{name}")
        return value

    def __repr__(self) -> str:
        return f"<stand-in for {self._real.__name__}>"


class StandInUfunc:
    """A ufunc for elements, with its methods."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.__name__ = real.__name__

    def __call__(self, *inputs: Any, **kw: Any) -> Any:
        count = self._real.nin
        if len(inputs) > count:
            kw["out"] = inputs[count:]
        elif "out" in kw and not isinstance(kw["out"], tuple):
            kw["out"] = None if kw["out"] is None else (kw["out"],)
        return apply_ufunc(home(), self._real, "__call__", inputs[:count], kw)

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return lambda *a, **kw: finish(apply_ufunc(home(), self._real, name, a, kw))
        return getattr(self._real, name)


FLOAT_TYPES = {float, np.float64, np.float32, np.longdouble, np.float16}


CONSTANTS = {"pi": math.pi, "e": math.e, "euler_gamma": np.euler_gamma}


def stand_in(value: Any, title: str) -> Any:
    """Return the stand-in of a module's member, or the member where none is needed."""
    if isinstance(value, ModuleType):
        return module(value)
    if isinstance(value, type):
        return StandInFloat if value in FLOAT_TYPES else value
    if isinstance(value, np.ufunc):
        special = SCALAR_FUNCTIONS.get(title)
        if special is None:
            return _ufunc(value)
        return recording_function(_library(special), title)
    if isinstance(value, float):
        short = title.rpartition(".")[2]
        if CONSTANTS.get(short) == value:
            return home().constant(short) if home().exact else home().lift(value)
        if title.endswith(".tau"):
            return home().constant("pi") * 2
        return value
    if title in SCALAR_FUNCTIONS:
        return recording_function(_library(SCALAR_FUNCTIONS[title]), title)
    if title.startswith("scipy.stats") and hasattr(
        value, "logpdf" if hasattr(value, "logpdf") else "logpmf"
    ):
        from .distributions import StandInDistribution

        return StandInDistribution(title.rpartition(".")[2], value)
    if callable(value):
        return _wrapped(value, title)
    return value


_modules: dict[str, StandIn] = {}


def module(real: ModuleType) -> Any:
    """Return the stand-in of a module of NumPy, SciPy or `math`."""
    return _modules.setdefault(real.__name__, StandIn(real))


@cache
def _ufunc(value: Any) -> StandInUfunc:
    return StandInUfunc(value)


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _wrapped(value: Any, title: str) -> Any:
    from . import libraries

    ours = OVERRIDES.get(value) if _hashable(value) else None
    if ours is None and not inspect.isclass(value):
        ours = libraries.find(value, title)

    def run(*args: Any, **kwargs: Any) -> Any:
        if ours is not None:
            return _in_library(ours, args, kwargs)
        if title.startswith(libraries.NEEDS_FLOATS) and any(
            contains_elements(a) for a in (*args, *kwargs.values())
        ):
            raise SymbolicValueError(f"{title} has no symbolic form")
        return _in_library(value, args, kwargs)

    return recording_function(run, title)


def _plain_sizes(x: Any) -> Any:
    """Return an argument with each `Size` as an int: C code divides them."""
    if isinstance(x, Size):
        return int(x)
    if type(x) in (tuple, list):
        return type(x)(map(_plain_sizes, x))
    return x


def recording_function(run: Callable[..., Any], title: str) -> Callable[..., Any]:
    short = title.replace("numpy.", "np.")

    def function(*args: Any, **kwargs: Any) -> Any:
        return recorded(short, run, args, kwargs)

    function.__name__ = title.rpartition(".")[2]
    return function
