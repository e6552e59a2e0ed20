"""What a terminal shows: highlighted source, a bar that fills, a curve of numbers.

Everything works without rich and without colours; where rich is installed and the
output is a terminal, source is highlighted and the bar is rich's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

__all__ = ["curve", "print_source", "progress"]

BLOCKS = " ▁▂▃▄▅▆▇█"


def print_source(text: str) -> None:
    """Print Python source, highlighted where it is a terminal that rich can colour."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.syntax import Syntax
        except ImportError:
            pass
        else:
            syntax = Syntax("", "python", theme="ansi_dark")
            # Neither cropped nor padded to the width: it can be copied as it is.
            Console(soft_wrap=True).print(syntax.highlight(text), end="")
            return
    print(text, end="" if text.endswith("\n") else "\n")


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[str], None]]:
    """Give a function to be called after each of `total` steps with a word on it.

    The bar goes to standard error, so that standard output holds results only;
    where that is no terminal, a line at the end says what was done.

    >>> with progress("counting", 3) as step:
    ...     for i in range(3):
    ...         step(f"at {i}")
    """
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        with _plain_progress(label, total) as step:
            yield step
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        with _plain_progress(label, total) as step:
            yield step
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[word]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(label, total=total, word="")
        yield lambda word: bar.update(task, advance=1, word=word)


@contextmanager
def _plain_progress(label: str, total: int) -> Iterator[Callable[[str], None]]:
    live = sys.stderr.isatty()
    done = 0
    last = ""

    def step(word: str) -> None:
        nonlocal done, last
        done += 1
        last = word
        # A hundredth of the whole is the smallest change that a bar can show.
        if live and (done == total or done % max(1, total // 100) == 0):
            filled = 30 * done // total
            bar = "#" * filled + "-" * (30 - filled)
            print(f"\r{label} [{bar}] {done}/{total} {word} ", end="", file=sys.stderr)

    try:
        yield step
    finally:
        if live:
            print(file=sys.stderr)
        else:
            print(f"{label}: {done}/{total} {last}".rstrip(), file=sys.stderr)


def curve(values: Sequence[float], width: int = 60, height: int = 8) -> str:
    """Draw values over their index as an area that fits `width` by `height` cells.

    More values than cells are averaged; the axis starts at zero.

    >>> print(curve([8.0, 4.0, 2.0, 1.0], width=4, height=2))
     8.00 ┤█
     4.00 ┤██▄▂
          └────
    """
    cells = min(width, len(values))
    edges = [len(values) * i // cells for i in range(cells + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    top = max(means)
    eighths = [round(8 * height * value / top) if top > 0 else 0 for value in means]
    rows = []
    for row in range(height, 0, -1):
        line = "".join(BLOCKS[min(8, max(0, e - 8 * (row - 1)))] for e in eighths)
        rows.append(f"{top * row / height:5.2f} ┤{line}".rstrip())
    return "\n".join([*rows, " " * 6 + "└" + "─" * cells])
