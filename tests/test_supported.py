"""Each row of the tables in docs/supported.md is supported, or refused, as it says."""

from __future__ import annotations

import linecache
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symback

PAGE = (Path(__file__).parents[1] / "docs" / "supported.md").read_text(encoding="utf-8")
LANGUAGE, _, REFUSALS = PAGE.partition("## What is refused")
ROW = re.compile(r"^\| (?P<what>.+) \| (?P<other>`.+`) \|$", re.M)
CODE = re.compile(r"(`+)(.+?)\1")

POINT = (np.array([0.5, 1.5, 2.5]), 0.7)


def code(cell: str) -> list[str]:
    """Return the lines of code in a cell, where `<br>` ends a line."""
    return [m[2].replace(r"\|", "|") for m in CODE.finditer(cell)]


def function(lines: list[str]) -> Any:
    """Return `def loss(x, p)` with these lines as its body."""
    body = "".join(f"    {line}\n" for line in lines)
    source = f"def loss(x, p):\n{body}"
    file = f"supported_{abs(hash(source))}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np, "math": math, "symback": symback}
    exec(compile(source, file, "exec"), namespace)
    return namespace["loss"]


SUPPORTED = [(m["what"], code(m["other"])) for m in ROW.finditer(LANGUAGE)]
REFUSED = [(code(m["what"]), code(m["other"])) for m in ROW.finditer(REFUSALS)]


@pytest.mark.parametrize(("what", "lines"), SUPPORTED, ids=[w for w, _ in SUPPORTED])
def test_supported(what: str, lines: list[str]):
    plain = function(lines)
    loss = symback.differentiable(plain, wrt=("x", "p"))
    value, gradient = loss.value_and_grad_fn(*POINT)
    assert value == plain(*POINT)
    for got, want in zip(gradient, differences(plain), strict=True):
        # Central differences with a step of eps**(1/3) are right to about 1e-9.
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8)


def differences(f: Any) -> tuple[np.ndarray, float]:
    """Return central differences of f at `POINT`, by x and by p."""
    x, p = POINT
    h = np.finfo(float).eps ** (1 / 3)
    by_x = [(f(x + h * e, p) - f(x - h * e, p)) / (2 * h) for e in np.eye(len(x))]
    return np.array(by_x), (f(x, p + h) - f(x, p - h)) / (2 * h)


@pytest.mark.parametrize(
    ("lines", "message"), REFUSED, ids=["; ".join(lines) for lines, _ in REFUSED]
)
def test_refused(lines: list[str], message: list[str]):
    loss = symback.differentiable(function(lines), wrt=("x", "p"))
    with pytest.raises(symback.SymbackError) as caught:
        loss.value_and_grad_fn(*POINT)
    error = caught.value
    first = f"{type(error).__name__}: {error.message}".splitlines()[0]
    assert first == message[0]
    assert error.span is not None
    assert error.span.file.startswith("supported_")


def test_the_tables_are_found():
    assert len(SUPPORTED) > 10
    assert len(REFUSED) > 10
