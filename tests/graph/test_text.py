"""The text form of graphs is read back without loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback
from symback.errors import InternalError, Span
from symback.graph import UNDEFINED, Block, Graph, Node, Param, Value, leaves
from symback.graph.text import title_of
from symback.types import Type
from tests import corpus

CASES = {case.id: case for case in corpus.all_cases()}


def objects(graph: Graph) -> dict[str, Any]:
    """Return the objects of a graph that are no plain constants, by their names."""
    found = [
        leaf
        for node in graph.block.walk()
        for leaf in leaves((node.args, dict(node.kwargs)))
    ]
    plain = Value | bool | int | float | str | None
    return {title_of(o): o for o in found if not isinstance(o, plain)}


@pytest.mark.parametrize("name", CASES)
def test_graphs_of_the_corpus_are_read_back(name: str) -> None:
    case = CASES[name]
    args, kwargs = case.fresh()
    f = symback.differentiable(case.fn, wrt=case.wrt)
    source = f._for(args, kwargs).source
    for graph in (source.primal, source.joint):
        again = Graph.parse(str(graph), objects(graph))
        assert str(again) == str(graph)
        assert again == graph
        assert [n.op for n in again.block.walk()] == [n.op for n in graph.block.walk()]


def around(arg: Any) -> Graph:
    x, y = Value("x", Type("array", "float64", ("n", "1"))), Value("y")
    node = Node("np.f", (x, arg), {"axis": arg}, (y,), (), Span("a.py", 3))
    return Graph("f", (Param("x", x),), Block((), (node,), (y,)))


@pytest.mark.parametrize(
    "constant",
    [
        0,
        -2,
        1e300,
        -0.0,
        float("inf"),
        float("-inf"),
        True,
        None,
        ...,
        UNDEFINED,
        'it\'s: a # "string", (no) [value] -> x',
        b"bytes",
        1 - 2j,
        (),
        (1,),
        [1, (2, [3.5])],
        {"a": 1, 2: [None]},
        slice(None),
        slice(1, None, -1),
        (slice(None, 3), None, ..., 0),
        np.float32(1.5),
        np.int8(-3),
        np.dtype("f4"),
        range(1, 9, 2),
        frozenset({1, 2}),
        float,
        np.float64,
        np.linalg.LinAlgError,
    ],
    ids=repr,
)
def test_constants_are_read_back(constant: Any) -> None:
    graph = around(constant)
    again = Graph.parse(str(graph), {"numpy.linalg.LinAlgError": constant})
    node = again.block.nodes[0]
    assert (type(node.args[1]), node.args[1]) == (type(constant), constant)
    assert repr(node.kwargs["axis"]) == repr(constant)
    assert again == graph


def test_a_nan_is_read_back() -> None:
    node = Graph.parse(str(around(float("nan")))).block.nodes[0]
    assert np.isnan(node.args[1])


def test_values_of_one_name_stay_two() -> None:
    graph = Graph.parse("graph f(x):\n  x.2 = neg(x)\n  %1 <- sub(x, x.2)\n  -> %1")
    first, second = graph.block.nodes
    assert first.out.name == "x"
    assert first.out is not graph.params[0].value
    assert second.args == (graph.params[0].value, first.out)
    assert (second.role, second.out.name) == ("backward", None)


def test_graphs_differ_by_an_argument_a_type_or_a_role() -> None:
    text = "graph f(x: float64[n]):\n  y: float64[n] = mul(x, 2.0)\n  -> y"
    same = Graph.parse(text)
    assert same == Graph.parse(text)
    for other in ("mul(x, 2)", "mul(x, 3.0)", "add(x, 2.0)"):
        assert same != Graph.parse(text.replace("mul(x, 2.0)", other))
    assert same != Graph.parse(text.replace("float64[n] =", "float32[n] ="))
    assert same != Graph.parse(text.replace("y: float64[n] =", "y: float64[n] <-"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("graph f(x):\n  y = neg(x)", "ends before `->`"),
        ("graph f(x):\n  y = neg(z)\n  -> y", "`z` is not defined"),
        ("graph f(x):\n  y = neg(x\n  -> y", "`\\)` expected"),
        ("graph f(x):\n  y = neg(<no.Such>)\n  -> y", "no.Such"),
        ("graph f(x):\n  -> x\n  y = neg(x)", "the end of the text"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Graph.parse(text)


BRANCH = """graph f(x):
  y = if(x)
    then:
      -> x
    else:
      -> 1
  -> y"""


def test_a_malformed_graph_is_refused() -> None:
    assert len(Graph.parse(BRANCH).block.nodes[0].blocks) == 2
    with pytest.raises(InternalError):
        Graph.parse(BRANCH.replace("-> 1", "-> 1, x"))
