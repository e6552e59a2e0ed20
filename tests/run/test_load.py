"""Generated text becomes a function with lines to show."""

from __future__ import annotations

import gc
import inspect
import linecache
import traceback

import pytest

from symback.errors import InternalError
from symback.run.load import load

TEXT = "import math\n\n\ndef f(x):\n    y = x / 0\n    return math.exp(y)\n"


def test_source_is_shown() -> None:
    f = load(TEXT, "f", "<symback f 1>")
    assert inspect.getsource(f) == TEXT.split("\n\n\n")[1]
    linecache.checkcache()
    with pytest.raises(ZeroDivisionError) as caught:
        f(1.0)
    lines = traceback.format_exception(caught.value)
    assert '  File "<symback f 1>", line 5, in f\n    y = x / 0\n' in "".join(lines)


def test_text_lives_as_long_as_the_function() -> None:
    f = load(TEXT, "f", "<symback f 2>")
    assert "<symback f 2>" in linecache.cache
    del f
    gc.collect()
    assert "<symback f 2>" not in linecache.cache


def test_older_text_does_not_take_the_newer_away() -> None:
    old = load(TEXT, "f", "<symback f 3>")
    new = load(TEXT.replace("/", "//"), "f", "<symback f 3>")
    del old
    gc.collect()
    assert "x // 0" in inspect.getsource(new)


def test_namespace_becomes_the_globals() -> None:
    names = {"k": 3}
    f = load("def f(x):\n    return k * x\n", "f", "<symback f 4>", names)
    assert f(2) == 6
    names["k"] = 4
    assert f(2) == 8


def test_text_without_the_function() -> None:
    with pytest.raises(InternalError, match="defines no function `g`"):
        load(TEXT, "g", "<symback f 5>")
