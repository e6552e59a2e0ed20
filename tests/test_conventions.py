"""Each row of the tables in docs/conventions.md is what the gradient is."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symback

PAGE = Path(__file__).parents[1] / "docs" / "conventions.md"
ROW = re.compile(r"^\| `(.+)` \| `(.+)` \| `(.+)` \|$", re.M)
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


def values(text: str) -> dict[str, Any]:
    """Return the variables of `x = [1.0, 2.0]; y = 1.0`, lists as arrays."""
    found: dict[str, Any] = {}
    exec(text, {}, found)
    return {k: np.array(v) if isinstance(v, list) else v for k, v in found.items()}


def written(text: str, names: list[str]) -> Any:
    """Return a function of the names that returns the text."""
    source = f"def loss({', '.join(names)}):\n    return {text}\n"
    file = f"<convention {text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["loss"]


@pytest.mark.parametrize(("text", "at", "gradient"), ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the user's own overflow
@pytest.mark.parametrize("generic", [False, True], ids=["specialised", "generic"])
def test_row(text: str, at: str, gradient: str, generic: bool):
    point = values(at)
    loss = symback.differentiable(written(text, list(point)), wrt="all")
    if generic:
        # Python's own numbers raise where NumPy's divide by zero or overflow.
        arguments = [np.float64(v) if np.ndim(v) == 0 else v for v in point.values()]
        namespace: dict[str, Any] = {}
        exec(loss.backward_source, namespace)
        found = namespace["loss_value_and_grad"](*arguments)[1]
    else:
        found = loss.grad_fn(*point.values())
    expected = eval(gradient, {"inf": np.inf})
    if len(point) == 1:
        found = found if not isinstance(found, tuple) else found[0]
        found, expected = (found,), (expected,)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, np.array(want))


def test_the_tables_are_found():
    assert len(ROWS) > 25
