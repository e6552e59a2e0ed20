"""A check where the function has no value says so, instead of calling things wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback
from symback.verify.finite import check


def softplus(x):
    return np.log(1 + np.exp(x))


def logarithms(x):
    return np.sum(np.log(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("fn", "x", "value", "count"),
    [
        (softplus, 800.0, "inf", 1),
        (logarithms, np.array([-1.0, 2.0]), "nan", 2),
        (logarithms, np.full(100, -1.0), "nan", 3),
    ],
)
def test_no_differences(fn: Any, x: Any, value: str, count: int) -> None:
    found = symback.differentiable(fn).check(x)
    assert not found.ok
    head = f"not checked, the value is {value} ({count} without differences)"
    lines = str(found).splitlines()
    assert lines[0] == f"{fn.__name__}: {head}"
    assert "wrong" not in str(found).lower()
    assert "no differences can be taken" in lines[-1]
    assert head in found._repr_html_()


def test_a_wrong_shape_is_wrong_without_a_value() -> None:
    found = check(
        logarithms, (-np.ones(2),), {}, wrt="x", gradient=lambda x: np.ones(3)
    )
    assert "gradient is WRONG (1 wrong)" in str(found)
