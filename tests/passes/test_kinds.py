"""What can be told of a value without its type."""

from __future__ import annotations

from typing import Any

import pytest

from symback.graph import Block, Graph, Node, Param, Value
from symback.passes.kinds import Kinds

N, X = Value("n"), Value("x")


def kinds(nodes: list[Node]) -> Kinds:
    params = (Param("n", N), Param("x", X))
    return Kinds(Graph("f", params, Block((), tuple(nodes), (None,))).check())


def words(found: Kinds, value: Value) -> str:
    """Return all that is certain of a value."""
    every = {
        "integer": found.is_integer,
        "scalar": found.is_scalar,
        "array": found.is_array,
        "list": found.is_list,
    }
    return " ".join(word for word, says in every.items() if says(value))


A, L, K, S = Value("A"), Value("l"), Value("i"), Value("s")
GIVEN = [
    Node("np.zeros", ((N, 3),), {}, (A,)),
    Node("list", (1.0, 2.0), {}, (L,)),
    Node("dim", (X, 0), {}, (K,)),
    Node("math.exp", (X,), {}, (S,)),
]


@pytest.mark.parametrize(
    ("op", "args", "wanted"),
    [
        ("add", (K, 1), "integer scalar"),
        ("truediv", (K, 2), "scalar"),
        ("add", (K, S), "scalar"),
        ("add", (X, 1), ""),
        ("gt", (S, 0.0), "scalar"),
        ("np.exp", (S,), "scalar"),
        ("np.exp", (X,), "array"),
        ("np.exp", (A,), "array"),
        ("getitem", (A, (K, 0)), "scalar"),
        ("getitem", (A, K), "array"),
        ("getitem", (A, (K, slice(None))), "array"),
        ("getitem", (A, (K, 0, None)), "array"),
        ("getitem", (A, (Ellipsis, K, 0)), "array"),
        ("getitem", (A, X), "array"),
        ("getitem", (X, K), ""),
        ("getitem", (L, 0), ""),
        ("setitem", (A, X, S), "array"),
        ("setitem", (X, (K, 0), S), "array"),
        ("setitem", (X, K, S), ""),
        ("index_add", (L, 0, S), "list"),
        ("list_append", (L, A), "list"),
        ("list_reverse", (L,), "list"),
        ("builtins.list", (A,), "list"),
        ("add", (L, L), "list"),
        ("np.split", (A, 3), ""),
        ("np.zeros_like", (A,), "array"),
        ("np.zeros_like", (L,), "array"),
        ("builtins.max", (S, K), "scalar"),
        ("builtins.max", (A, S), ""),
        ("builtins.int", (X,), "integer scalar"),
        ("builtins.round", (X,), "integer scalar"),
        ("builtins.round", (X, 2), ""),
        ("builtins.float", (X,), "scalar"),
        ("np.sum", (A,), "array"),
        ("call", (X, ()), ""),
        ("stop_gradient", (S,), "scalar"),
        ("runtime.unbroadcast", (X, S), "scalar"),
        ("runtime.unbroadcast", (X, K), "scalar"),
        ("runtime.unbroadcast", (S, A), "array"),
        ("runtime.unbroadcast", (S, X), ""),
        ("runtime.zeros_of", (L,), "list"),
    ],
)
def test_operations(op: str, args: tuple[Any, ...], wanted: str) -> None:
    out = Value()
    assert words(kinds([*GIVEN, Node(op, args, {}, (out,))]), out) == wanted


def loop(begin: Any, step: list[Node], param: Value, new: Value) -> tuple[Node, Value]:
    out = Value()
    body = Block((Value("t"), param), tuple(step), (new,))
    return Node("for", ((0, N, 1), (), (begin,)), {}, (out,), (body,)), out


@pytest.mark.parametrize(
    ("begin", "other", "wanted"),
    [(0.0, S, "scalar"), (0, 1, "integer scalar"), (0.0, A, "array"), (0.0, X, "")],
)
def test_carried_values(begin: Any, other: Any, wanted: str) -> None:
    """A loop may turn what begins as a number into something else."""
    param, new = Value(), Value()
    node, out = loop(begin, [Node("add", (param, other), {}, (new,))], param, new)
    found = kinds([*GIVEN, node])
    assert words(found, out) == wanted
    assert words(found, param) == wanted


def test_items_of_collected_lists() -> None:
    index, item, bar = Value(), Value(), Value()
    saved, walked = Value(), Value()
    body = Block((index,), (Node("sub", (index, 1), {}, (item,)),), (item,))
    collect = Node("for", ((0, N, 1), (), ()), {}, (saved,), (body,))
    back = Block((Value(), walked, bar), (), (bar,))
    walk = Node("for", ((0, N, 1), (saved,), (0.0,)), {}, (Value(),), (back,))
    found = kinds([collect, walk])
    assert words(found, saved) == "list"
    assert words(found, walked) == "integer scalar"


def test_indices() -> None:
    found = kinds(GIVEN)
    assert found.is_basic((K, slice(X, None), None, Ellipsis, 2))
    assert found.is_basic(K)
    assert not found.is_basic(X)
    assert not found.is_basic([0, 0])
    assert not found.is_basic(True)
