"""A progress bar that appears only where something takes longer than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType

__all__ = ["Progress"]

PATIENCE = 1.0
"""Seconds without a bar."""


class Progress:
    """Shows how much of the time limit is used and what is being done."""

    def __init__(self, label: str, seconds: float) -> None:
        self.label = label
        self.seconds = seconds
        self.start = time.perf_counter()
        self.live = sys.stderr.isatty()
        self.shown = False

    def __enter__(self) -> Progress:
        return self

    def __call__(self, word: str) -> None:
        """Note what is done next."""
        used = time.perf_counter() - self.start
        if not self.live or used < PATIENCE:
            return
        self.shown = True
        filled = min(20, round(20 * used / self.seconds))
        bar = "━" * filled + " " * (20 - filled)
        text = f"\r{self.label} {bar} {used:4.0f} s  {word}"
        print(text.ljust(78)[:78], end="", file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.shown:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)
