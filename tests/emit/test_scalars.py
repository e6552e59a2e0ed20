"""Python numbers without NumPy: the same numbers, NaNs included, or an exception."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from symback.emit import emit
from symback.emit.scalars import FORMS, FUNCTIONS, IDENTITIES, OPERATORS
from symback.graph import Block, Graph, Node, Param, Value
from symback.run.load import load
from symback.types import Type

FLOAT = Type("python", "float")
NUMBERS = [0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -800.0, 800.0, math.inf, -math.inf, math.nan]


def function(op: str, args: tuple[Any, ...], **options: Any) -> tuple[str, Any]:
    """Return the text of a call, where a string stands for a parameter, and run it."""
    names = sorted({a for a in args if isinstance(a, str)})
    values = {name: Value(name, FLOAT) for name in names}
    out = Value(None, FLOAT)
    given = tuple(values.get(a, a) if isinstance(a, str) else a for a in args)
    params = tuple(Param(n, v) for n, v in values.items())
    graph = Graph("f", params, Block((), (Node(op, given, {}, (out,)),), (out,)))
    text = emit(graph, **options)
    return text.splitlines()[-1].removeprefix("    return "), load(text, "f", "<f>")


CALLS = [
    *((op, ("x", "y")[: 2 if op[3:] in ("arctan2", "hypot", "copysign") else 1])
      for op in FUNCTIONS),
    *((op, ("x", "y")) for op in OPERATORS),
    *((op, ("x",)) for op in sorted(IDENTITIES)),
    ("np.abs", ("x",)),
    ("np.absolute", ("x",)),
    ("np.negative", ("x",)),
    ("np.square", ("x",)),
    ("np.reciprocal", ("x",)),
    ("np.power", ("x", 3)),
    ("np.maximum", ("x", 0.25)),
    ("np.maximum", (0.25, "x")),
    ("np.maximum", ("x", "y")),
    ("np.minimum", ("x", 0.25)),
    ("np.minimum", (0.25, "x")),
    ("np.minimum", ("x", "y")),
    ("np.where", ("x", "y", 0.5)),
    ("np.clip", ("x", -1.0, 0.75)),
    ("np.zeros_like", ("x",)),
    ("np.ones_like", ("x",)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "args"), CALLS)
def test_agrees_with_numpy(op: str, args: tuple[Any, ...]) -> None:
    text, fast = function(op, args, scalars="math")
    assert "np." not in text
    _, plain = function(op, args)
    count = len({a for a in args if isinstance(a, str)})
    for numbers in itertools.product(NUMBERS, repeat=count):
        try:
            found = fast(*numbers)
        except (ArithmeticError, ValueError):
            continue
        with np.errstate(all="ignore"):
            expected = plain(*numbers)
        np.testing.assert_allclose(
            found, np.float64(expected), rtol=4e-16, err_msg=f"{text} at {numbers}"
        )


def test_every_form_is_tested() -> None:
    assert {*FUNCTIONS, *OPERATORS, *IDENTITIES, *FORMS} == {op for op, _ in CALLS}


@pytest.mark.parametrize(
    ("op", "args", "wanted"),
    [
        ("np.exp", ("x",), "math.exp(x)"),
        ("np.arctan2", ("x", "y"), "math.atan2(x, y)"),
        ("np.square", ("x",), "x * x"),
        ("np.maximum", (0.0, "x"), "max(x, 0.0)"),
        ("np.maximum", ("x", "y"), "x if x > y or x != x else y"),
        ("np.where", ("x", "y", 0.5), "y if x else 0.5"),
        ("np.clip", ("x", -1.0, 1.0), "min(max(x, -1.0), 1.0)"),
        ("np.sum", ("x",), "x"),
        # What has no scalar form stays as it is.
        ("np.sinc", ("x",), "np.sinc(x)"),
        ("np.maximum", ("x", math.nan), "np.maximum(x, np.nan)"),
        ("np.exp", (1j,), "np.exp(1.0j)"),
    ],
)
def test_forms(op: str, args: tuple[Any, ...], wanted: str) -> None:
    text, _ = function(op, args, scalars="math")
    assert text == wanted
