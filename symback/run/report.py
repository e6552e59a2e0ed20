"""What nobody foresaw becomes one error that says where it happened, with a report."""

from __future__ import annotations

import inspect
import platform
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InternalError, SymbackError
from ..infer import interrupts

__all__ = ["unforeseen"]

ROOMS = {
    "lower": "while lowering",
    "transform": "while differentiating",
    "passes": "while tidying",
    "emit": "while printing",
    "rules": "in a rule of",
    "operations": "in a rule of",
}
"""What the innermost file of symback's in a traceback was doing."""


@contextmanager
def unforeseen(function: Any) -> Iterator[None]:
    """Raise `InternalError` for what symback itself raises by mistake.

    Errors that it raises on purpose, interrupts and what a signal's handler raises pass
    as they are.
    """
    try:
        yield
    except (SymbackError, MemoryError):
        raise
    except Exception as problem:
        if interrupts(problem):
            raise
        raise InternalError(_report(problem, function)) from problem


def _report(problem: Exception, function: Any) -> str:
    name = getattr(function, "__name__", "the function")
    frames = traceback.extract_tb(problem.__traceback__)
    rooms = [
        room
        for f in frames
        for room in ROOMS
        if f"/symback/{room}/" in f.filename.replace("\\", "/")
    ]
    stage = ROOMS[rooms[-1]] if rooms else "while working on"
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = "(its source cannot be read)\n"
    last = frames[-1]
    return (
        f"symback failed {stage} `{name}`: {type(problem).__name__}: {problem}\n"
        f"  at {last.name}, line {last.lineno} of {last.filename}\n"
        f"  symback {__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, {sys.platform}\n{text}"
        "hint: this is a fault of symback's: please report it with this text."
    )
