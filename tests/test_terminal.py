"""What a terminal shows, with rich and without it, in colour and without."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest import mock

import pytest

from symback.show.terminal import curve, print_source, progress

SOURCE = "def f(x):\n    return x + 1  # " + "a long comment " * 12 + "\n"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Screen(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Terminal(NamedTuple):
    out: Screen
    err: Screen


@contextmanager
def terminal() -> Iterator[Terminal]:
    """Show standard output and error on screens instead."""
    screens = Terminal(Screen(), Screen())
    with (
        mock.patch.object(sys, "stdout", screens.out),
        mock.patch.object(sys, "stderr", screens.err),
        mock.patch.dict(os.environ, TERM="xterm-256color", COLUMNS="80"),
    ):
        os.environ.pop("NO_COLOR", None)
        yield screens


@pytest.fixture
def no_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rich.console", "rich.syntax", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)


class TestSource:
    def test_into_a_pipe(self, capsys: pytest.CaptureFixture[str]):
        print_source(SOURCE)
        assert capsys.readouterr().out == SOURCE

    def test_in_colour(self):
        with terminal() as screens:
            print_source(SOURCE)
        out = screens.out.getvalue()
        assert "\x1b[" in out
        assert COLOURS.sub("", out) == SOURCE

    @pytest.mark.usefixtures("no_rich")
    def test_without_rich(self):
        with terminal() as screens:
            print_source(SOURCE)
        assert screens.out.getvalue() == SOURCE


class TestProgress:
    def run(self) -> None:
        with progress("counting", 4) as step:
            for i in range(4):
                step(f"at {i}")

    def test_into_a_pipe(self, capsys: pytest.CaptureFixture[str]):
        self.run()
        assert capsys.readouterr() == ("", "counting: 4/4 at 3\n")

    @pytest.mark.usefixtures("no_rich")
    def test_without_rich(self):
        with terminal() as screens:
            self.run()
        bars = screens.err.getvalue().split("\r")
        assert len(bars) == 5
        assert bars[-1].startswith(f"counting [{'#' * 30}] 4/4 at 3")

    def test_with_rich(self):
        with terminal() as screens:
            self.run()
        assert screens.out.getvalue() == ""
        assert "4/4" in COLOURS.sub("", screens.err.getvalue())

    def test_an_exception_passes_through(self):
        with pytest.raises(ZeroDivisionError), progress("counting", 4) as step:
            step(str(1 / 0))


class TestCurve:
    def test_has_the_size_asked_for(self):
        lines = curve([float(i) for i in range(100)], width=20, height=5).splitlines()
        assert len(lines) == 6
        assert max(map(len, lines)) == 7 + 20

    def test_rises_with_its_values(self):
        bottom = curve([0.0, 1.0, 2.0, 3.0, 4.0], height=1).splitlines()[0]
        assert bottom == " 4.00 ┤ ▂▄▆█"

    def test_zeros(self):
        assert curve([0.0, 0.0], height=1).splitlines()[0] == " 0.00 ┤"
