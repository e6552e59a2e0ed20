"""Time limits that end a computation without losing what came before it.

A `Clock` is asked by our own loops; `interrupting` stops code that never asks, such as
SymPy's, by raising `TimedOut` in the thread that runs it.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Clock", "TimedOut", "interrupting"]


class TimedOut(Exception):  # noqa: N818 - it is an answer, not an error, and stays inside
    """The time for one step of a comparison is over."""


class Clock:
    """A stop watch with a limit in seconds.

    >>> clock = Clock(0.0)
    >>> clock.over
    True
    """

    def __init__(self, seconds: float) -> None:
        self.start = time.perf_counter()
        self.end = self.start + seconds

    @property
    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        """Return the seconds until the end, at least zero."""
        return max(0.0, self.end - time.perf_counter())

    @property
    def over(self) -> bool:
        """Return whether the time is up."""
        return time.perf_counter() >= self.end

    def check(self) -> None:
        """Raise `TimedOut` when the time is up."""
        if self.over:
            raise TimedOut

    def share(self, seconds: float, fraction: float = 1.0) -> Clock:
        """Return a clock for one step: `seconds`, or a fraction of what is left."""
        return Clock(min(seconds, fraction * self.left))


@contextmanager
def interrupting(seconds: float) -> Iterator[None]:
    """Run a block of pure Python code for at most `seconds`, else raise `TimedOut`.

    Works on any thread: the exception is raised between two bytecodes of this one.
    """
    if seconds <= 0:
        raise TimedOut
    thread = threading.get_ident()
    lock = threading.Lock()
    running = True

    def stop() -> None:
        with lock:
            if running:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(TimedOut)
                )

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            running = False
        timer.cancel()
