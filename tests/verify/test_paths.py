"""A comparison at small sizes says nothing of branches that only large ones take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import symback
from symback.operations import REGISTRY
from symback.verify.paths import other_branch, path_of


@pytest.fixture
def wrong_sine() -> Iterator[None]:
    right = REGISTRY["np.sin"]
    REGISTRY["np.sin"] = replace(right, texts=("np.cos(x) / 2",), tie=())
    yield
    REGISTRY["np.sin"] = right


def sine_if_long(x):
    if len(x) > 10:
        return np.sum(np.sin(x))
    return np.sum(x)


def sine_if_very_long(x):
    return np.sum(np.sin(x)) if x.shape[0] > 100 else np.sum(x)


def by_number(x):
    if np.sum(x) > 10.0:
        return np.sum(np.sin(x))
    return np.sum(x**2)


def sine_of_the_rest(x):
    return np.sum(np.sin(x[: max(len(x) - 50, 0)])) + np.sum(x)


@pytest.mark.usefixtures("wrong_sine")
def test_sizes_are_shrunk_to_the_same_branch() -> None:
    f = symback.differentiable(sine_if_long)
    found = f.compare(np.linspace(0, 1, 20000), seconds=15)
    assert found.verdict == "refuted"
    assert found.sizes == "20000 → 12"


@pytest.mark.usefixtures("wrong_sine")
def test_small_enough_sizes_are_compared_as_they_are() -> None:
    found = symback.differentiable(sine_if_very_long).compare(np.linspace(0, 1, 110))
    assert found.verdict == "refuted"
    assert found.sizes == ""


@pytest.mark.usefixtures("wrong_sine")
def test_another_branch_at_small_sizes_is_no_proof() -> None:
    f = symback.differentiable(sine_if_very_long)
    found = f.compare(np.linspace(0, 1, 20000), seconds=4)
    assert found.verdict in ("undecided", "refuted")
    line = sine_if_very_long.__code__.co_firstlineno + 1
    if found.verdict == "undecided":
        assert f"the branch on line {line} goes otherwise" in found.rows[0].how


@pytest.mark.usefixtures("wrong_sine")
def test_differences_contradict_what_no_branch_shows() -> None:
    """At three entries there is no sine: its slope is wrong from entry 51 on."""
    f = symback.differentiable(sine_of_the_rest)
    found = f.compare(np.linspace(0, 1, 20000), seconds=6)
    assert found.verdict in ("undecided", "refuted")


def test_without_the_wrong_rule_it_is_proved() -> None:
    f = symback.differentiable(sine_of_the_rest)
    assert f.compare(np.linspace(0, 1, 60)).verdict == "proved"


def test_branches_by_numbers_are_still_proved() -> None:
    found = symback.differentiable(by_number).compare(np.linspace(0, 1, 50))
    assert found.verdict == "proved"
    assert found.sizes


@pytest.mark.parametrize("fn", [sine_if_long, sine_if_very_long, by_number])
def test_the_line_of_the_other_branch(fn: Any) -> None:
    file, line = fn.__code__.co_filename, fn.__code__.co_firstlineno + 1
    real = path_of(lambda: fn(np.ones(200)), file, 5.0)
    small = path_of(lambda: fn(np.ones(3)), file, 5.0)
    same = path_of(lambda: fn(np.ones(150)), file, 5.0)
    assert real is not None
    assert small is not None
    assert same is not None
    assert other_branch(real, same, set()) is None
    assert other_branch(real, small, set()) == line
    assert other_branch(real, small, {(file, line)}) is None


def test_a_call_that_fails_has_no_path() -> None:
    assert path_of(lambda: 1 // 0, __file__, 1.0) is None
