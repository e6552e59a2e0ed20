"""Which way a function goes at some arguments: the jumps that its code makes.

At smaller sizes a function may take another branch, as `if len(x) > 10` does; what was
found out there is then about another program.  The jumps of a plain run at the caller's
sizes and of one at the small sizes tell.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..infer import silent
from .deadline import interrupting

__all__ = ["Path", "Place", "followed", "other_branch", "path_of"]

Code = tuple[str, int, str]
"""File, first line and name: copies of a function have these in common."""

Place = tuple[str, int]
"""File and line."""

LIBRARIES = ("numpy", "scipy", "symback", "mpmath", "sympy")
"""Packages whose functions are not followed: they are called, not written, by users."""


class Path:
    """The jumps that a run made between the instructions of the user's functions.

    jumps : by function and instruction, to which instructions it led.
    places : the lines of an instruction, and the line of the user's file it is run by.
    """

    def __init__(self, user_file: str) -> None:
        self.user_file = user_file
        self.jumps: dict[tuple[Code, int], set[int]] = {}
        self.places: dict[tuple[Code, int], tuple[range, Place]] = {}
        self.positions: dict[Code, list[Any]] = {}
        self._followed: dict[str, bool] = {}

    def follows(self, file: str) -> bool:
        """Return whether a file is the user's."""
        if file not in self._followed:
            parts = file.replace("\\", "/").split("/")
            standard = file.startswith(_STANDARD) and "site-packages" not in parts
            library = any(file.startswith(folder) for folder in _folders())
            self._followed[file] = file == self.user_file or not (
                file.startswith("<frozen") or standard or library
            )
        return self._followed[file]

    def enter(self, frame: types.FrameType, event: str, _: Any) -> Any:
        """Follow a call, as `sys.settrace` wants it."""
        code = frame.f_code
        if event != "call" or not self.follows(code.co_filename):
            return None
        frame.f_trace_lines = False
        key = (code.co_filename, code.co_firstlineno, code.co_name)
        positions = self.positions.get(key)
        if positions is None:
            positions = self.positions[key] = list(code.co_positions())
        caller: types.FrameType | None = frame
        while caller is not None and caller.f_code.co_filename != self.user_file:
            caller = caller.f_back
        outer = (self.user_file, caller.f_lineno or 0) if caller else ("", 0)
        last = -1

        def step(frame: types.FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "opcode":
                now = frame.f_lasti
                known = self.jumps.get((key, last))
                if known is None:
                    known = self.jumps[key, last] = set()
                    first, end, _column, _end = (
                        positions[last // 2] if last >= 0 else (0, 0, 0, 0)
                    )
                    lines = range(first or 0, (end or first or 0) + 1)
                    self.places[key, last] = (lines, outer)
                known.add(now)
                last = now
            return step

        # Python 3.13 looks for the function of the frame when it is asked for opcodes.
        frame.f_trace = step
        frame.f_trace_opcodes = True
        return step


_STANDARD = sysconfig.get_paths()["stdlib"] + os.sep


def _folders() -> list[str]:
    modules = [sys.modules.get(name) for name in LIBRARIES]
    return [
        os.path.dirname(m.__file__) + os.sep
        for m in modules
        if m is not None and m.__file__
    ]


@contextmanager
def followed(path: Path) -> Iterator[None]:
    """Note in a path which way the functions of the user's go."""
    before = sys.gettrace()
    # Python 3.12 asks whether any frame wants opcodes when tracing starts.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(path.enter)
    try:
        yield
    finally:
        sys.settrace(before)


def path_of(call: Callable[[], Any], user_file: str, seconds: float) -> Path | None:
    """Return the way a call goes; None if it fails or takes longer than `seconds`."""
    path = Path(user_file)
    try:
        with silent(), interrupting(seconds), followed(path):
            call()
    except Exception:  # TimedOut among them
        return None
    return path


def other_branch(real: Path, small: Path, asked: set[Place]) -> int | None:
    """Return a line whose branch goes otherwise in one of two runs, or None.

    asked : where the function compares numbers that depend on its inputs.  Random
        points and regions cover these.
    """
    for key in sorted(real.jumps.keys() & small.jumps.keys()):
        if real.jumps[key] == small.jumps[key]:
            continue
        (file, _, _), _ = key
        lines, outer = real.places[key]
        if outer in asked or any((file, line) in asked for line in lines):
            continue
        return lines[0]
    return None
