"""No wrong gradient is proved or agrees, whoever wrote it; no right one is refuted."""

from __future__ import annotations

import pytest

import symback
from symback.verify.result import Comparison
from tests.verify.by_hand import RIGHT, WRONG, Judged


def compared(one: Judged) -> Comparison:
    f = symback.differentiable(one.loss, wrt=one.wrt)
    return f.compare(*one.args, gradient=one.gradient)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_gradients_are_never_believed(name: str) -> None:
    found = compared(WRONG[name])
    assert found.verdict not in ("proved", "agrees"), str(found)


@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_are_never_refuted(name: str) -> None:
    found = compared(RIGHT[name])
    assert found.verdict != "refuted", str(found)


def test_there_are_enough() -> None:
    assert len(WRONG) >= 40
    assert len(RIGHT) >= 40
