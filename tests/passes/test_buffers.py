"""Where copies are made so that text may work in place, and that they are few."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from symback.emit import emit
from symback.graph import UNDEFINED, Block, Graph, Node, Param, Value
from symback.interpret import run
from symback.passes.buffers import buffers
from symback.run.load import load
from symback.types import Type

ROWS = Type("array", "float64", ("n", "k"))
ROW = Type("array", "float64", ("k",))
FLOAT = Type("numpy", "float64")
INT = Type("python", "int")
LIST = Type("list")


def node(op: str, *args: Any, out: Value, **kwargs: Any) -> Node:
    return Node(op, args, kwargs, (out,))


def graph(params: list[Value], nodes: list[Node], result: Any) -> Graph:
    named = tuple(Param(p.name or "", p) for p in params)
    return Graph("f", named, Block((), tuple(nodes), (result,))).check()


def copies(made: Graph) -> Counter[str]:
    """Return how many copies there are at which depth: ``"1"`` is in one loop."""
    found: Counter[str] = Counter()

    def block(body: Block, depth: int) -> None:
        for inner in body.nodes:
            found[str(depth)] += inner.op in ("np.copy", "builtins.list")
            for nested in inner.blocks:
                block(nested, depth + (inner.op in ("for", "while")))

    block(made.block, 0)
    return +found


def agrees(given: Graph, *args: Any) -> str:
    """Compare the text with the interpreter, and return it."""
    expected = run(given, *args)
    text = emit(buffers(given))
    before = [np.copy(a) for a in args]
    found = load(text, "f", "<f>")(*args)
    np.testing.assert_equal(found, expected, err_msg=text)
    for one, other in zip(before, args, strict=True):
        np.testing.assert_equal(one, other)
    return text


def test_own_memory_needs_no_copy() -> None:
    x = Value("x", ROW)
    y, z = Value("y", ROW), Value("y", ROW)
    made = graph(
        [x], [node("mul", x, 2.0, out=y), node("setitem", y, 0, 1.0, out=z)], z
    )
    assert buffers(made).block.nodes == made.block.nodes
    agrees(made, np.ones(3))


def test_without_mutation_nothing_changes() -> None:
    x, y = Value("x"), Value("y")
    made = graph([x], [node("np.exp", x, out=y)], y)
    assert buffers(made) is made


def test_callers_memory_is_copied_once() -> None:
    x = Value("x", ROW)
    y, z = Value("x", ROW), Value("x", ROW)
    made = graph(
        [x],
        [node("setitem", x, 0, 1.0, out=y), node("setitem", y, 1, 2.0, out=z)],
        z,
    )
    assert copies(buffers(made)) == {"0": 1}
    assert "x = np.copy(x)" in agrees(made, np.zeros(3))


def test_view_of_callers_memory_is_copied_small() -> None:
    A = Value("A", ROWS)
    row, new = Value("row", ROW), Value("row", ROW)
    made = graph(
        [A],
        [node("getitem", A, 0, out=row), node("setitem", row, 0, 1.0, out=new)],
        (A, new),
    )
    text = agrees(made, np.zeros((2, 3)))
    assert "row = np.copy(A[0])" in text


def test_old_contents_that_are_needed() -> None:
    n = Value("n", INT)
    x, y, z = Value("x", ROW), Value("y", ROW), Value("z", ROW)
    made = graph(
        [n],
        [
            node("np.ones", n, out=x),
            node("setitem", x, 0, 5.0, out=y),
            node("mul", x, y, out=z),
        ],
        z,
    )
    assert copies(buffers(made)) == {"0": 1}
    agrees(made, 3)


def test_array_for_the_loop_is_copied_before_it() -> None:
    """The caller's array, changed in a loop in a loop: one copy before both."""
    A, n = Value("A", ROW), Value("n", INT)
    i, j = Value("i", INT), Value("j", INT)
    outer, inner = Value("A", ROW), Value("A", ROW)
    new, inner_out, out = Value("A", ROW), Value("A", ROW), Value("A", ROW)
    nested = Block((j, inner), (node("index_add", inner, j, 1.0, out=new),), (new,))
    body = Block(
        (i, outer),
        (Node("for", ((0, n, 1), (), (outer,)), {}, (inner_out,), (nested,)),),
        (inner_out,),
    )
    made = graph(
        [A, n],
        [Node("for", ((0, n, 1), (), (A,)), {}, (out,), (body,))],
        (out, A),
    )
    assert copies(buffers(made)) == {"0": 1}
    agrees(made, np.zeros(4), 3)


def test_array_that_is_needed_after_the_loop() -> None:
    n = Value("n", INT)
    start, out = Value("x", ROW), Value("y", ROW)
    i, y, new = Value("i", INT), Value("y", ROW), Value("y", ROW)
    body = Block((i, y), (node("setitem", y, i, 1.0, out=new),), (new,))
    made = graph(
        [n],
        [
            node("np.zeros", n, out=start),
            Node("for", ((0, n, 1), (), (start,)), {}, (out,), (body,)),
        ],
        (start, out),
    )
    assert copies(buffers(made)) == {"0": 1}
    agrees(made, 3)


def test_each_iteration_begins_anew() -> None:
    """A copy of the caller's array in each iteration, as the program asks for."""
    A, n = Value("A", ROW), Value("n", INT)
    i, total = Value("i", INT), Value("total", FLOAT)
    new, part, added = Value("x", ROW), Value(None, FLOAT), Value("total", FLOAT)
    body = Block(
        (i, total),
        (
            node("setitem", A, i, 7.0, out=new),
            node("np.sum", new, out=part),
            node("add", total, part, out=added),
        ),
        (added,),
    )
    out = Value("total", FLOAT)
    made = graph(
        [A, n], [Node("for", ((0, n, 1), (), (0.0,)), {}, (out,), (body,))], out
    )
    assert copies(buffers(made)) == {"1": 1}
    agrees(made, np.arange(3.0), 3)


def scan(typed: bool) -> Graph:
    """Fill ``alpha[t] = alpha[t - 1] * a`` and walk back through it.

    ``alpha`` is (n, k), a (k,); the result is the last row's sum and its derivative.
    """

    def of(kind: Type) -> Type | None:
        return kind if typed else None

    def v(name: str | None, kind: Type) -> Value:
        return Value(name, of(kind))

    a, n = v("a", ROW), v("n", INT)
    alpha, first = v("alpha", ROWS), v("alpha", ROWS)
    t, held, prev, new = v("t", INT), v("alpha", ROWS), v("prev", ROW), v("alpha", ROWS)
    before, product = v(None, INT), v(None, ROW)
    forward = Block(
        (t, held),
        (
            node("sub", t, 1, out=before),
            node("getitem", held, before, out=prev),
            node("mul", prev, a, out=product),
            node("setitem", held, t, product, out=new),
        ),
        (new, prev),
    )
    full, saved = v("alpha", ROWS), v(None, LIST)
    last, loss = v(None, ROW), v("loss", FLOAT)
    begin, bar = v("alpha_bar", ROWS), v("alpha_bar", ROWS)
    t2, prev2, held2, a_bar = (
        v("t", INT),
        v("prev", ROW),
        v("alpha_bar", ROWS),
        v("a_bar", ROW),
    )
    row_bar, cleared, prev_bar = v("row_bar", ROW), v("alpha_bar", ROWS), v(None, ROW)
    before2, more, term = v(None, INT), v("alpha_bar", ROWS), v(None, ROW)
    a_bar_new = v("a_bar", ROW)
    backward = Block(
        (t2, prev2, held2, a_bar),
        (
            node("getitem", held2, t2, out=row_bar),
            node("setitem", held2, t2, 0.0, out=cleared),
            node("mul", row_bar, a, out=prev_bar),
            node("sub", t2, 1, out=before2),
            node("index_add", cleared, before2, prev_bar, out=more),
            node("mul", row_bar, prev2, out=term),
            node("add", a_bar, term, out=a_bar_new),
        ),
        (more, a_bar_new),
    )
    ends = (v("alpha_bar", ROWS), v("a_bar", ROW))
    zero = v("a_bar", ROW)
    return graph(
        [a, n],
        [
            node("np.zeros", (n, 3), out=alpha),
            node("setitem", alpha, 0, 1.0, out=first),
            Node("for", ((1, n, 1), (), (first,)), {}, (full, saved), (forward,)),
            node("getitem", full, -1, out=last),
            node("np.sum", last, out=loss),
            node("np.zeros_like", full, out=begin),
            node("index_add", begin, -1, 1.0, out=bar),
            node("np.zeros_like", a, out=zero),
            Node(
                "for",
                ((1, n, 1), (saved,), (bar, zero)),
                {"reverse": True},
                ends,
                (backward,),
            ),
        ],
        (loss, ends[1]),
    )


@pytest.mark.parametrize("typed", [True, False])
def test_scan_copies_rows_only(typed: bool) -> None:
    made = scan(typed)
    a = np.array([0.5, 1.0, 1.5])
    text = agrees(made, a, 6)
    assert "prev = np.copy(alpha[t - 1])" in text
    assert "row_bar = np.copy(alpha_bar[t])" in text
    assert copies(buffers(made)) == {"1": 2}
    _, a_bar = load(text, "f", "<f>")(a, 6)
    np.testing.assert_allclose(a_bar, 5 * a**4)


def test_scan_allocates_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entries copied grow with n, not with its square."""
    function = load(emit(buffers(scan(True))), "f", "<f>")
    counted: list[int] = []
    plain = np.copy

    def counting(x: Any) -> Any:
        counted.append(np.size(x))
        return plain(x)

    monkeypatch.setattr(np, "copy", counting)
    sizes = []
    for n in (100, 200):
        counted.clear()
        function(np.full(3, 0.9), n)
        sizes.append(sum(counted))
    assert sizes == [2 * 3 * 99, 2 * 3 * 199]


def test_appending_copies_nothing() -> None:
    """A list that grows in a loop, of rows that nobody changes."""
    n = Value("n", INT)
    i, held, h = Value("i", INT), Value("hs", LIST), Value("h", ROW)
    new, longer = Value("h", ROW), Value("hs", LIST)
    body = Block(
        (i, held, h),
        (node("mul", h, 0.5, out=new), node("list_append", held, new, out=longer)),
        (longer, new),
    )
    empty, start = Value("hs", LIST), Value("h", ROW)
    outs = (Value("hs", LIST), Value("h", ROW))
    made = graph(
        [n],
        [
            node("list", out=empty),
            node("np.ones", n, out=start),
            Node("for", ((0, n, 1), (), (empty, start)), {}, outs, (body,)),
        ],
        outs,
    )
    assert copies(buffers(made)) == {}
    agrees(made, 3)


def test_row_changed_after_it_was_appended() -> None:
    """The list keeps what it was given."""
    n = Value("n", INT)
    h, hs = Value("h", ROW), Value("hs", LIST)
    empty, new = Value("hs", LIST), Value("h", ROW)
    made = graph(
        [n],
        [
            node("list", out=empty),
            node("np.ones", n, out=h),
            node("list_append", empty, h, out=hs),
            node("setitem", h, 0, 9.0, out=new),
        ],
        (hs, new),
    )
    agrees(made, 3)


def test_list_of_the_callers() -> None:
    items = Value("items", LIST)
    longer, rest, last = Value("items", LIST), Value("items", LIST), Value("last", ROW)
    made = graph(
        [items],
        [
            node("list_append", items, 4.0, out=longer),
            Node("list_pop", (longer,), {}, (rest, last)),
        ],
        (rest, last),
    )
    text = emit(buffers(made))
    given = [1.0, 2.0]
    assert load(text, "f", "<f>")(given) == ([1.0, 2.0], 4.0)
    assert given == [1.0, 2.0]
    assert "items = list(items)" in text


def test_swapped_arrays() -> None:
    """Two arrays that change places while one of them is written to."""
    n = Value("n", INT)
    i, a, b = Value("i", INT), Value("a", ROW), Value("b", ROW)
    new = Value("a", ROW)
    body = Block((i, a, b), (node("setitem", a, 0, i, out=new),), (b, new))
    one, two = Value("a", ROW), Value("b", ROW)
    outs = (Value("a", ROW), Value("b", ROW))
    made = graph(
        [n],
        [
            node("np.zeros", n, out=one),
            node("np.ones", n, out=two),
            Node("for", ((0, n, 1), (), (one, two)), {}, outs, (body,)),
        ],
        outs,
    )
    agrees(made, 4)


def test_transposed_view() -> None:
    A = Value("A", ROWS)
    own, view, new = Value("B", ROWS), Value("T", ROWS), Value("B", ROWS)
    made = graph(
        [A],
        [
            node("mul", A, 1.0, out=own),
            node("np.transpose", own, out=view),
            node("setitem", own, (0, 1), 5.0, out=new),
        ],
        (view, new),
    )
    agrees(made, np.arange(4.0).reshape(2, 2))


def test_what_a_call_keeps() -> None:
    """A function of the user's may hold on to what it was given."""
    f, n = Value("f"), Value("n", INT)
    x, kept, new = Value("x", ROW), Value("kept"), Value("x", ROW)
    made = graph(
        [f, n],
        [
            node("np.ones", n, out=x),
            node("call", f, (x,), {}, out=kept),
            node("setitem", x, 0, 3.0, out=new),
        ],
        (kept, new),
    )
    text = emit(buffers(made))
    kept_value, new_value = load(text, "f", "<f>")(lambda x: x, 2)
    assert kept_value.tolist() == [1, 1]
    assert new_value.tolist() == [3, 1]


def test_read_only_view_is_copied() -> None:
    """NumPy lets nobody write to what `broadcast_to` returns."""
    n = Value("n", INT)
    x, y = Value("x", ROW), Value("x", ROW)
    made = graph(
        [n],
        [node("np.broadcast_to", 1.0, (n,), out=x), node("setitem", x, 0, 2.0, out=y)],
        y,
    )
    assert copies(buffers(made)) == {"0": 1}
    agrees(made, 3)


def test_list_that_one_path_leaves_undefined() -> None:
    """What is collected is copied where it exists: there is no copy of nothing."""
    n = Value("n", INT)
    i, held, test = (
        Value("i", INT),
        Value("hs", LIST),
        Value(None, Type("python", "bool")),
    )
    longer, kept, again = Value("hs", LIST), Value("hs", LIST), Value("hs", LIST)
    branch = Block((), (node("list_append", held, i, out=longer),), (longer, longer))
    merged = Value("hs", LIST)
    body = Block(
        (i, held),
        (
            node("gt", i, 0, out=test),
            Node(
                "if",
                (test,),
                {},
                (merged, kept),
                (branch, Block((), (), (held, UNDEFINED))),
            ),
            node("list_append", merged, -1, out=again),
        ),
        (again, kept),
    )
    empty, out, saved = Value("hs", LIST), Value("hs", LIST), Value("kept", LIST)
    made = graph(
        [n],
        [
            node("list", out=empty),
            Node("for", ((0, n, 1), (), (empty,)), {}, (out, saved), (body,)),
        ],
        (out, saved),
    )
    found, rest = load(emit(buffers(made)), "f", "<f>")(3)
    assert found == [-1, 1, -1, 2, -1]
    assert rest == [None, [-1, 1], [-1, 1, -1, 2]]


def test_list_of_each_iteration_is_not_copied() -> None:
    """A list that an outer iteration begins and an inner loop fills is its own."""
    n = Value("n", INT)
    i, j = Value("i", INT), Value("j", INT)
    empty, held, longer = Value("row", LIST), Value("row", LIST), Value("row", LIST)
    full, saved = Value("row", LIST), Value("rows", LIST)
    inner = Block((j, held), (node("list_append", held, j, out=longer),), (longer,))
    body = Block(
        (i,),
        (
            node("list", out=empty),
            Node("for", ((0, i, 1), (), (empty,)), {}, (full,), (inner,)),
        ),
        (full,),
    )
    made = graph([n], [Node("for", ((0, n, 1), (), ()), {}, (saved,), (body,))], saved)
    assert copies(buffers(made)) == {}
    agrees(made, 4)


# Sums that grow


def growing(begin: Node, uses_old: bool = False) -> Graph:
    """Return a loop that adds rows to what another node begins."""
    X, n = Value("X", ROWS), Value("n", INT)
    i, total = Value("i", INT), Value("total", ROW)
    row, new, kept = Value("row", ROW), Value("total", ROW), Value(None, ROW)
    body = Block(
        (i, total),
        (
            node("getitem", X, i, out=row),
            node("add", total, row, out=new),
            node("mul", total, new, out=kept),
        ),
        (new, kept if uses_old else new),
    )
    out, saved = Value("total", ROW), Value(None, LIST)
    walk = Node("for", ((0, n, 1), (), (begin.out,)), {}, (out, saved), (body,))
    last = Value(None, ROW)
    return graph(
        [X, n], [begin, walk, node("getitem", saved, -1, out=last)], (out, last)
    )


def test_array_of_the_loop_grows_in_place() -> None:
    X, n = Value("X", ROWS), Value("n", INT)
    i, total = Value("i", INT), Value("total", ROW)
    row, new = Value(None, ROW), Value(None, ROW)
    body = Block(
        (i, total),
        (node("getitem", X, i, out=row), node("add", total, row, out=new)),
        (new,),
    )
    zero, out = Value("total", ROW), Value("total", ROW)
    made = graph(
        [X, n],
        [
            node("np.zeros", 3, out=zero),
            Node("for", ((0, n, 1), (), (zero,)), {}, (out,), (body,)),
        ],
        out,
    )
    text = agrees(made, np.arange(6.0).reshape(2, 3), 2)
    assert "total += X[i]" in text


@pytest.mark.parametrize("uses_old", [False, True])
def test_array_that_others_hold_does_not(uses_old: bool) -> None:
    made = growing(node("np.zeros", 3, out=Value("total", ROW)), uses_old)
    text = agrees(made, np.arange(6.0).reshape(2, 3), 2)
    assert "total += " not in text


def test_array_of_the_callers_does_not() -> None:
    X, n = Value("X", ROW), Value("n", INT)
    i, total, new = Value("i", INT), Value("X", ROW), Value("X", ROW)
    body = Block((i, total), (node("add", total, 1.0, out=new),), (new,))
    out = Value("X", ROW)
    made = graph([X, n], [Node("for", ((0, n, 1), (), (X,)), {}, (out,), (body,))], out)
    text = agrees(made, np.arange(3.0), 2)
    assert "X = X + 1.0" in text
    assert "copy" not in text


@pytest.mark.parametrize("kind", [FLOAT, None, Type("array", "float64", ("?",))])
def test_array_of_unknown_shape_does_not(kind: Type | None) -> None:
    n = Value("n", INT)
    i, total, new = Value("i", INT), Value("total", kind), Value("total", kind)
    body = Block((i, total), (node("add", total, 1.0, out=new),), (new,))
    zero, out = Value("total", kind), Value("total", kind)
    made = graph(
        [n],
        [
            node("np.float64", 0.0, out=zero),
            Node("for", ((0, n, 1), (), (zero,)), {}, (out,), (body,)),
        ],
        out,
    )
    assert not any(inner.op == "index_add" for inner in buffers(made).block.walk())
    agrees(made, 3)


def test_handler_finds_its_values_as_they_were() -> None:
    """A mutation in a ``try`` must not show where an exception leads."""
    n = Value("n", INT)
    x, new, bad, total = (
        Value("x", ROW),
        Value("x", ROW),
        Value(None, ROW),
        Value(None, FLOAT),
    )
    then = Block(
        (),
        (
            node("setitem", x, 0, 9.0, out=new),
            node("getitem", new, 7, out=bad),
            node("np.sum", bad, out=total),
        ),
        (total,),
    )
    old = Value(None, FLOAT)
    orelse = Block((), (node("np.sum", x, out=old),), (old,))
    out = Value("y", FLOAT)
    made = graph(
        [n],
        [
            node("np.zeros", n, out=x),
            Node(
                "if",
                (True,),
                {"catch": ("builtins.IndexError",)},
                (out,),
                (then, orelse),
            ),
        ],
        out,
    )
    assert copies(buffers(made)) == {"0": 1}
