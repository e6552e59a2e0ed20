"""What a terminal shows, with rich and without it, in colour and without."""

from __future__ import annotations

import io
import re
import sys
from typing import NamedTuple

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


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Show standard output and error on screens instead."""
    screens = Terminal(Screen(), Screen())
    monkeypatch.setattr(sys, "stdout", screens.out)
    monkeypatch.setattr(sys, "stderr", screens.err)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return screens


@pytest.fixture
def no_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rich.console", "rich.syntax", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)


class TestSource:
    def test_into_a_pipe(self, capsys: pytest.CaptureFixture[str]):
        print_source(SOURCE)
        assert capsys.readouterr().out == SOURCE

    def test_in_colour(self, terminal: Terminal):
        print_source(SOURCE)
        out = terminal.out.getvalue()
        assert "\x1b[" in out
        assert COLOURS.sub("", out) == SOURCE

    @pytest.mark.usefixtures("no_rich")
    def test_without_rich(self, terminal: Terminal):
        print_source(SOURCE)
        assert terminal.out.getvalue() == SOURCE


class TestProgress:
    def run(self) -> None:
        with progress("counting", 4) as step:
            for i in range(4):
                step(f"at {i}")

    def test_into_a_pipe(self, capsys: pytest.CaptureFixture[str]):
        self.run()
        assert capsys.readouterr() == ("", "counting: 4/4 at 3\n")

    @pytest.mark.usefixtures("no_rich")
    def test_without_rich(self, terminal: Terminal):
        self.run()
        bars = terminal.err.getvalue().split("\r")
        assert len(bars) == 5
        assert bars[-1].startswith(f"counting [{'#' * 30}] 4/4 at 3")

    def test_with_rich(self, terminal: Terminal):
        self.run()
        assert terminal.out.getvalue() == ""
        assert "4/4" in COLOURS.sub("", terminal.err.getvalue())

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
