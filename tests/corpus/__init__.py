"""A corpus of small functions as people write them, each with a point to test at.

Every module holds functions of one subject, registered by `case`.  The decorator
returns the function untouched, so that symback sees exactly what a user would paste.
Whatever a test needs to know beside the text stands in the decorator: the arguments,
the parameters to differentiate, the kinds of language that the function stands for,
and whether source can exist without knowing what the parameters are.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["MODULES", "Case", "all_cases", "case", "draw", "positive", "spd"]

MODULES = (
    "control_flow",
    "matching",
    "loops",
    "iteration",
    "while_loops",
    "returns",
    "statements",
    "functions",
    "closures",
    "functional",
    "builtin_calls",
    "objects",
    "options",
    "data",
    "comprehensions",
    "grown_lists",
    "mutation",
    "inplace",
    "views",
    "names",
    "names_globals",
    "numpy_calls",
    "shapes",
    "broadcasting",
    "indexing",
    "linalg",
    "scalars",
    "models",
    "more_models",
    "subtle_memory",
    "subtle_flow",
)

Wrt = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class Case:
    """A corpus function with a point at which its gradient is checked."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: Wrt
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    #: Relative tolerance of the gradient; Richardson's differences reach about 1e-10.
    tol: float = 1e-6
    #: True: generic source must exist.  False: it may be refused by name.
    generic: bool = True
    #: Arguments for which the function raises: (arguments, exception, pattern).
    fails: tuple[tuple[tuple[Any, ...], type[Exception], str], ...] = ()
    note: str = ""

    @property
    def id(self) -> str:
        """Return `module.function`."""
        return f"{self.fn.__module__.rsplit('.', 1)[-1]}.{self.fn.__name__}"

    def fresh(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return deep copies of the arguments, in case the function writes to them."""
        return copy.deepcopy(self.args), copy.deepcopy(dict(self.kwargs))

    def value(self) -> Any:
        """Return what the plain function returns at the point."""
        args, kwargs = self.fresh()
        return self.fn(*args, **kwargs)


_CASES: dict[str, Case] = {}


def case(
    *args: Any,
    wrt: Wrt = 0,
    kwargs: Mapping[str, Any] | None = None,
    kinds: str | Sequence[str] = (),
    tol: float = 1e-6,
    generic: bool = True,
    fails: Sequence[tuple[tuple[Any, ...], type[Exception], str]] = (),
    note: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function with the arguments to test it at; return it untouched."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        entry = Case(
            fn=fn,
            args=args,
            wrt=wrt,
            kwargs=dict(kwargs or {}),
            kinds=tuple(kinds.split()) if isinstance(kinds, str) else tuple(kinds),
            tol=tol,
            generic=generic,
            fails=tuple(fails),
            note=note,
        )
        if entry.id in _CASES:
            raise ValueError(f"two corpus functions are called {entry.id}")
        _CASES[entry.id] = entry
        return fn

    return register


def all_cases() -> list[Case]:
    """Import every module of the corpus and return its cases in a fixed order."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")
    return list(_CASES.values())


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    """Return fixed normal numbers of the shape, rounded so that they print short."""
    return np.round(np.random.default_rng(seed).normal(size=shape), 3)


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    """Return fixed numbers in [0.3, 1.8]."""
    return np.round(np.random.default_rng(seed).uniform(0.3, 1.8, size=shape), 3)


def spd(n: int, seed: int = 0) -> np.ndarray:
    """Return a fixed, well-conditioned symmetric positive definite n x n matrix."""
    a = draw(n, n, seed=seed)
    return np.round(a @ a.T, 3) + n * np.eye(n)
