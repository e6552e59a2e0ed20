"""A typed graph is typed again for other arguments, without its text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symback.assumptions import Assumptions
from symback.graph import Graph, retype
from symback.inference import SampledTypes
from symback.interpret import run
from symback.lower import Lowerer, RuleGraphs
from symback.passes import tidied
from symback.transform import vjp


def smooth(x, a):
    return np.sum(np.tanh(x * a) ** 2)


def looped(x, a):
    level = x[0]
    total = 0.0
    kept = []
    for k in range(len(x)):
        if k > 1:
            level = a * x[k] + (1 - a) * level
        else:
            level = x[k]
        kept.append(level)
        total = total + level**2
    for item in kept:
        total = total + item
    return total


def counted(x, a):
    y = a
    while y < 20.0:
        y = y * 1.5 + np.sum(x**2)
    return y


def lowered(f: Any, *args: Any) -> tuple[Lowerer, Graph]:
    low = Lowerer(Assumptions())
    graph = low.lower(f, dict(zip("xa", args, strict=True)), f.__name__)
    return low, tidied(graph)


@pytest.mark.parametrize("f", [smooth, looped, counted])
def test_the_types_of_other_arguments(f: Any):
    """Typed again it is the graph that the other arguments would have given."""
    vector = (np.array([0.5, -0.3, 0.2]), 0.4)
    single = (np.array([0.5, -0.3, 0.2], dtype=np.float32), np.float32(0.4))
    _, graph = lowered(f, *vector)
    other, expected = lowered(f, *single)
    types = SampledTypes(other.sampler, other.assumed)
    given = {
        old.value: new.value.type
        for old, new in zip(graph.params, expected.params, strict=True)
    }
    again = retype(graph, types, given)
    assert [str(p.value.type) for p in again.params] == ["float32[n]", "float32"]
    assert str(again) == str(expected)
    assert run(again, *single) == f(*single)


@pytest.mark.parametrize("f", [smooth, looped, counted])
def test_the_graph_of_a_gradient(f: Any):
    low, graph = lowered(f, np.array([0.5, -0.3, 0.2]), 0.4)
    types = SampledTypes(low.sampler, low.assumed)
    joint = vjp(graph, ["x", "a"], types, RuleGraphs(types))
    given = {p.value: p.value.type for p in joint.params}
    again = retype(joint, SampledTypes(low.sampler, low.assumed), given)
    args = (np.array([0.1, 0.2, 0.7]), 0.3)
    value, bars = run(joint, *args)
    value_again, bars_again = run(again, *args)
    assert value == value_again
    for bar, bar_again in zip(bars, bars_again, strict=True):
        assert np.array_equal(bar, bar_again)
