"""What a function reaches beside its arguments: closures, globals and defaults."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .loaded import Loaded, code_holder

__all__ = ["Changed", "Held"]


@dataclass(frozen=True)
class Changed:
    """Names of what a run has changed; `arrays` are those that hold data."""

    names: list[str]
    arrays: list[str]


class Held:
    """The objects that a judged program and the user's function hold, as they were."""

    def __init__(self, loaded: Loaded, fn: Callable[..., Any]) -> None:
        self.loaded = loaded
        self.fn = fn
        self.before = {name: _copied(x) for name, x in self.now()}

    def now(self) -> Iterator[tuple[str, Any]]:
        """Yield what is held, by name."""
        yield from self.loaded.captured.items()
        if self.loaded.given:
            yield from _held(code_holder(self.loaded.function), set())
            owner = getattr(self.loaded.function, "__self__", None)
            if owner is not None and not isinstance(owner, types.ModuleType):
                yield "its object", getattr(owner, "__dict__", {})
        yield from _held(code_holder(self.fn), set())

    def changed(self) -> Changed | None:
        """Return what is not as it was, None if all is."""
        names, arrays = [], []
        for name, x in self.now():
            if name not in self.before:
                names.append(f"`{name}`")
            elif not _equal(self.before[name], x):
                names.append(f"`{name}`")
                if isinstance(x, np.ndarray):
                    arrays.append(f"`{name}`")
        return Changed(names, arrays) if names else None


def _held(function: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    code = getattr(function, "__code__", None)
    if code is None or id(function) in seen:
        return
    seen.add(id(function))
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            x = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
        yield from _object(name, x, seen)
    for name in code.co_names:
        if name in function.__globals__:
            yield from _object(name, function.__globals__[name], seen)
    for k, x in enumerate(function.__defaults__ or ()):
        yield from _object(f"default {k + 1}", x, seen)
    for name, x in vars(function).items():
        if name != "__wrapped__":
            yield f"{function.__name__}.{name}", x


def _object(name: str, x: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(x, types.FunctionType):
        if x.__module__ and not x.__module__.startswith(("numpy", "scipy", "symback")):
            yield from _held(x, seen)
    elif isinstance(x, types.ModuleType | type) or callable(x):
        return
    else:
        yield name, x


def _copied(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, list | dict | set | tuple | Mapping):
        try:
            return copy.deepcopy(x)
        except Exception:  # what cannot be copied is not watched
            return x
    return x


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        inexact = np.asarray(a).dtype.kind in "fc"
        return bool(np.array_equal(a, b, equal_nan=inexact))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    try:
        return bool(a == b)
    except Exception:  # no equality: it is not watched
        return True
