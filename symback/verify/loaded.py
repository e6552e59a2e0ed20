"""The program that is judged: a generated module, or any callable of the caller's.

Either is called with all parameters and gives a gradient; the caller's may give the
value with it.  Which of the two it gives is read off the structure: a gradient has that
of the parameters, and no structure is a part of itself.
"""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .structure import leaves

__all__ = ["Loaded", "given", "load", "split"]


@dataclass(frozen=True)
class Loaded:
    """A program to be judged.

    file : where its lines are; source : its text, "" where it cannot be read; first :
        the number of the text's first line in the file.
    given : whether it is the caller's own, called as the user's function is.
    captured : what a generated function takes as keywords.
    """

    function: Callable[..., Any]
    source: str
    file: str
    name: str
    captured: Mapping[str, Any]
    given: bool = False
    first: int = 1


def load(source: str, name: str, captured: Mapping[str, Any]) -> Loaded:
    """Execute a generated module and take its function."""
    file = f"<compared {name} {abs(hash(source)):x}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)
    namespace: dict[str, Any] = {"__name__": "symback_generated"}
    exec(compile(source, file, "exec"), namespace)
    return Loaded(namespace[name], source, file, name, captured)


def given(gradient: Callable[..., Any]) -> Loaded:
    """Return a callable of the caller's as a program to be judged.

    Raises `TypeError` where it cannot be called.
    """
    if not callable(gradient):
        raise TypeError(f"`gradient` is no function: {gradient!r}"[:200])
    inner = code_holder(gradient)
    code = getattr(inner, "__code__", None)
    source, first = "", 1
    if code is not None:
        try:
            lines, first = inspect.getsourcelines(inner)
            source = "".join(lines)
        except (OSError, TypeError):
            pass
    name = getattr(inner, "__name__", type(gradient).__name__)
    file = code.co_filename if code is not None else ""
    return Loaded(gradient, source, file, name, {}, True, max(1, first))


def code_holder(function: Callable[..., Any]) -> Any:
    """Return the Python function that a callable runs first."""
    while isinstance(function, functools.partial):
        function = function.func
    unwrapped = inspect.unwrap(function)
    held = getattr(unwrapped, "__func__", unwrapped)
    if not hasattr(held, "__code__") and not isinstance(held, type):
        method = inspect.getattr_static(type(held), "__call__", None)
        held = method if hasattr(method, "__code__") else held
    return held


def split(
    found: Any, values: Mapping[str, Any], wrt: tuple[str, ...], single: bool
) -> tuple[Any, Any]:
    """Return the value, None where there is none, and the gradient of what came back.

    >>> split((2.0, 4.0), {"x": 1.0}, ("x",), True)
    (2.0, 4.0)
    >>> split((2.0, 4.0), {"x": 1.0, "y": 1.0}, ("x", "y"), False)
    (None, (2.0, 4.0))
    """
    pair = isinstance(found, tuple) and type(found) is tuple and len(found) == 2
    if not pair or _fits(found, values, wrt, single):
        return None, found
    if _fits(found[1], values, wrt, single):
        return found[0], found[1]
    # Of a wrong form either way: what looks like a value is taken for one.
    parts = 1 if single else len(wrt)
    if np.size(found[0]) == 1 and not isinstance(found[0], (tuple, list, dict)):
        return (None, found) if parts == 2 else (found[0], found[1])
    return None, found


def _fits(
    found: Any, values: Mapping[str, Any], wrt: tuple[str, ...], single: bool
) -> bool:
    """Return whether something has the structure and shapes of the gradient."""
    parts = (found,) if single else found
    if not isinstance(parts, (tuple, list)) or len(parts) != len(wrt):
        return False
    return all(
        _form(part, p) == _form(values[p], p)
        for p, part in zip(wrt, parts, strict=True)
    )


def _form(x: Any, name: str) -> list[tuple[str, tuple[int, ...]]]:
    found = []
    for path, leaf in leaves(x, name):
        shape = getattr(leaf, "shape", ())
        found.append((path, tuple(map(int, shape)) if shape else ()))
    return found
