"""Run the Python of a Markdown page, and compare what it prints with the page.

A page's ```python blocks are one script, in order, as a reader would paste them into
a file: `docs/errors.md` is run as `errors.py`, and a block that opens with a comment
like `# fit.py` begins a file of that name, alone with its names.  A block whose info
string ends in `output` holds what the blocks before it printed, and a block that is
marked ```python raises must raise: its output is the end of the traceback.  The
terminal has 100 columns, and blank lines at the end do not count.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
SECONDS = re.compile(r"^\d+\.\d+ s$", re.M)
ROUNDING = re.compile(r"(?<=\s)(0|\d(\.\d+)?e-(1[4-9]|[2-9]\d))(?=\s)")
WIDTH = 100
FILE_NAME = re.compile(r"# (?P<name>\w+\.py)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block: its info string, its text and where that stands in the page."""

    info: str
    body: str
    start: int
    end: int

    @property
    def is_output(self) -> bool:
        return self.info.split()[1:] == ["output"]

    @property
    def raises(self) -> bool:
        return self.info == "python raises"

    @property
    def is_code(self) -> bool:
        return self.info == "python" or self.raises


def blocks(text: str) -> list[Block]:
    return [
        Block(m["info"].strip(), m["body"], m.start("body"), m.end("body"))
        for m in FENCE.finditer(text)
    ]


class Script:
    """The file that a reader grows by pasting a page's blocks into it, one by one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = ""
        self.globals: dict[str, Any] = {"__name__": name.removesuffix(".py")}

    def run(self, block: Block) -> str:
        """Append the block, run it, and return what it printed."""
        before = self.text.count("\n")
        self.text += block.body
        lines = self.text.splitlines(keepends=True)
        # Without a time of change, linecache never looks for the file on disk.
        linecache.cache[self.name] = (len(self.text), None, lines, self.name)
        code = compile("\n" * before + block.body, self.name, "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block.raises:
                printed.write(self._error(code))
            else:
                exec(code, self.globals)
        return printed.getvalue()

    def _error(self, code: Any) -> str:
        try:
            exec(code, self.globals)
        except Exception as error:
            return "".join(traceback.format_exception_only(error))
        raise AssertionError(f"a block of {self.name} that is to raise did not")


def outputs(page: Path) -> Iterator[tuple[Block, str]]:
    """Run a page and give each output block with what was printed in its place."""
    with mock.patch.dict(os.environ, COLUMNS=str(WIDTH)):
        yield from _outputs(page)


def _outputs(page: Path) -> Iterator[tuple[Block, str]]:
    script = Script(page.stem.replace("-", "_").lower() + ".py")
    printed = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.is_code:
            assert not (block.raises and printed), "an output block is missing"
            name = FILE_NAME.match(block.body)
            if name:
                script = Script(name["name"])
            printed += script.run(block)
        elif block.is_output:
            yield block, printed.rstrip() + "\n"
            printed = ""
    assert printed == "", f"{page.name} does not show what its last block prints"


def timeless(text: str) -> str:
    """Return the text without what differs from run to run: seconds on their own line.

    >>> timeless("proved\\n0.25 s\\n")
    'proved\\n... s\\n'
    """
    return SECONDS.sub("... s", text)


def portable(text: str) -> str:
    """Return the text without what differs from machine to machine: float64's rounding.

    >>> portable("w  3e-16  0.25\\n─────\\n")
    'w tiny 0.25\\n─\\n'
    >>> portable("w  0      0.25\\n──\\n")
    'w tiny 0.25\\n─\\n'
    """
    text = ROUNDING.sub("tiny", timeless(text))
    return re.sub(r"([ ─])\1+", r"\1", text)


def rewritten(page: Path) -> str:
    """Return the page's text with its output blocks as they are printed now."""
    text = page.read_text(encoding="utf-8")
    for block, printed in reversed(list(outputs(page))):
        text = text[: block.start] + printed + text[block.end :]
    return text
