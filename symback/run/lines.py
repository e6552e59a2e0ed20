"""Where two runs part: the first of the user's names whose values are not the same."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .agreement import same

__all__ = ["first_difference"]

MOST = 2000
"""Values that are noted in one run."""


@dataclass(frozen=True)
class Noted:
    """A number or array that a name had after a line."""

    line: int
    name: str
    value: Any


def noted(code: Any, call: Callable[[], Any]) -> list[Noted]:
    """Run a function and note what its names become, line by line."""
    found: list[Noted] = []
    last: dict[str, Any] = {}
    before = 0

    def note(frame: Any, event: str, _: Any) -> Any:
        nonlocal before
        if frame.f_code is not code:
            return None if event == "call" else note
        for name, value in frame.f_locals.items():
            number = isinstance(value, float | np.floating | np.ndarray)
            if not number or np.asarray(value).dtype.kind != "f" or len(found) > MOST:
                continue
            # In-place work makes no new object: the numbers are compared.
            if name in last and np.array_equal(last[name], value, equal_nan=True):
                continue
            last[name] = np.array(value)
            if event != "call":
                found.append(Noted(before, name, last[name]))
        before = frame.f_lineno
        return note

    sys.settrace(note)
    try:
        call()
    except Exception:
        pass  # what was noted until then is what is asked for
    finally:
        sys.settrace(None)
    return found


def first_difference(
    function: Any,
    run: Callable[[], Any],
    generated: Any,
    run_generated: Callable[[], Any],
    precision: float,
) -> str:
    """Say which of the user's names is the first to differ, and at which line.

    Empty if none is found, or if a debugger is at work.
    """
    function = getattr(function, "__func__", function)
    code, other = (getattr(f, "__code__", None) for f in (function, generated))
    if sys.gettrace() is not None or code is None or other is None:
        return ""
    theirs = noted(code, run)
    mine: dict[str, list[Any]] = {}
    for one in noted(other, run_generated):
        mine.setdefault(re.sub(r"_\d+$", "", one.name), []).append(one.value)
    for one in theirs:
        values = mine.get(one.name)
        if values and not any(same(v, one.value, precision) for v in values):
            file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
            return (
                f"`{one.name}` ({file}:{one.line}) is {brief(one.value)} in your "
                f"function and {brief(values[-1])} in the generated one"
            )
    return ""


def brief(value: Any) -> str:
    """Return a value in one line.

    >>> brief(np.zeros((30, 2)))
    'an array of shape (30, 2) that begins with 0.0'
    """
    if np.ndim(value) == 0:
        return f"{float(value):.9g}"
    if np.size(value) <= 6:
        return str([float(f"{v:.6g}") for v in np.ravel(value)])
    first = float(np.ravel(value)[0])
    return f"an array of shape {np.shape(value)} that begins with {first!r}"
