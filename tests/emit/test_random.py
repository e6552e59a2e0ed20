"""Emitted text against the interpreter, on random programs of loops and branches."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from symback.emit import emit
from symback.graph import Graph
from symback.interpret import run
from symback.passes.buffers import buffers
from symback.passes.drop import drop
from symback.run.load import load
from tests.graph_programs import ARGUMENTS, random_graph


def same(one: Any, other: Any) -> bool:
    """Compare nested results bit by bit."""
    if isinstance(one, (tuple, list)):
        alike = type(one) is type(other) and len(one) == len(other)
        return alike and all(map(same, one, other))
    return np.array_equal(one, other, equal_nan=True)


def check(graph: Graph, expected: Any) -> None:
    text = emit(graph)
    function = load(text, "program", "<random program>")
    given = copy.deepcopy(ARGUMENTS)
    count = given.pop("n")
    with np.errstate(all="ignore"):
        found = function(*given.values(), n=count)
    assert same(found, expected), text
    for name, value in given.items():
        assert np.array_equal(value, ARGUMENTS[name]), f"{name} was changed\n{text}"
    assert emit(graph) == text
    assert all(len(line) <= 88 for line in text.splitlines()), text


@pytest.mark.parametrize("mutation", [False, True])
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed: int, typed: bool, mutation: bool) -> None:
    graph = random_graph(seed, typed=typed, mutation=mutation, size=4 + seed % 12)
    with np.errstate(all="ignore"):
        expected = run(graph, **ARGUMENTS)
    check(buffers(graph), expected)
    check(buffers(drop(graph)), expected)
