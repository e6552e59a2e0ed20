"""Fold, share, hoist and drop: small graphs before and after."""

from __future__ import annotations

from typing import Any

import pytest

from symback.graph import Block, Graph, Node, Param, Value
from symback.passes import drop, fold, hoist, share
from symback.types import Type

FLOAT = Type("python", "float")
INT = Type("python", "int")
MATRIX = Type("array", "float64", ("n", "d"))


def graph(params: tuple[Value, ...], nodes: list[Node], result: Any) -> Graph:
    """Return a checked graph."""
    block = Block((), tuple(nodes), (result,))
    named = tuple(Param(p.name or "p", p) for p in params)
    return Graph("f", named, block).check()


def ops(found: Graph | Block) -> list[str]:
    """Return the names of the operations, those of nested blocks in brackets."""
    block = found.block if isinstance(found, Graph) else found
    names = []
    for node in block.nodes:
        inside = [f"[{' '.join(ops(b))}]" for b in node.blocks]
        names.append("".join([node.op, *inside]))
    return names


def value(known: Type | None = FLOAT, name: str | None = None) -> Value:
    return Value(name, known)


def loop(index: Value, start: Any, carried: Value, body: list[Node], following: Any):
    """Return a loop of three iterations with one carried value, and its output."""
    out = value(carried.type, "out")
    block = Block((index, carried), tuple(body), (following,))
    return Node("for", ((0, 3, 1), (), (start,)), {}, (out,), (block,)), out


class TestFold:
    @pytest.mark.parametrize(
        ("op", "args", "known"),
        [
            ("mul", ("x", 1.0), FLOAT),
            ("mul", (1.0, "x"), FLOAT),
            ("mul", (1.0, "x"), MATRIX),
            ("truediv", ("x", 1), FLOAT),
            ("truediv", ("x", 1.0), MATRIX),
            ("stop_gradient", ("x",), MATRIX),
        ],
    )
    def test_gone(self, op: str, args: Any, known: Type):
        x, y = value(known, "x"), value(known)
        args = tuple(x if a == "x" else a for a in args)
        found = fold(graph((x,), [Node(op, args, {}, (y,))], y)).check()
        assert ops(found) == []
        assert found.result is x

    @pytest.mark.parametrize(
        ("op", "args", "known"),
        [
            # Their class or dtype would change: 2 * 1.0 is 2.0, 2 / 1 as well.
            ("mul", ("x", 1.0), INT),
            ("truediv", ("x", 1), INT),
            ("mul", ("x", 1.0), Type("array", "int64", ("n",))),
            ("mul", ("x", 1.0), None),
            # Shape, NaN and infinity would be lost.
            ("mul", ("x", 0.0), FLOAT),
            ("sub", ("x", "x"), FLOAT),
            # -0.0 + 0.0 is 0.0.
            ("add", ("x", 0.0), FLOAT),
        ],
    )
    def test_stays(self, op: str, args: Any, known: Type | None):
        x, y = value(known, "x"), value(None)
        args = tuple(x if a == "x" else a for a in args)
        before = graph((x,), [Node(op, args, {}, (y,))], y)
        assert ops(fold(before)) == [op]

    @pytest.mark.parametrize("op", ["neg", "np.transpose"])
    def test_done_twice_is_not_done(self, op: str):
        x, a, y = value(MATRIX, "x"), value(MATRIX), value(MATRIX)
        nodes = [Node(op, (x,), {}, (a,)), Node(op, (a,), {}, (y,))]
        found = drop(fold(graph((x,), nodes, y)))
        assert ops(found) == []
        assert found.result is x

    def test_a_transpose_with_axes_is_another(self):
        x, a, y = value(MATRIX, "x"), value(MATRIX), value(MATRIX)
        nodes = [
            Node("np.transpose", (x, (0, 1)), {}, (a,)),
            Node("np.transpose", (a,), {}, (y,)),
        ]
        assert len(ops(fold(graph((x,), nodes, y)))) == 2

    def test_within_blocks(self):
        x, i, s, t, u = value(name="x"), value(INT, "i"), value(), value(), value()
        body = [Node("mul", (s, 1.0), {}, (t,)), Node("add", (t, x), {}, (u,))]
        node, out = loop(i, 0.0, s, body, u)
        assert ops(fold(graph((x,), [node], out))) == ["for[add]"]


class TestShare:
    def test_one_of_two(self):
        x, a, b, y = value(name="x"), value(), value(), value(name="y")
        nodes = [
            Node("np.exp", (x,), {}, (a,)),
            Node("np.exp", (x,), {}, (b,)),
            Node("mul", (a, b), {}, (y,)),
        ]
        found = share(graph((x,), nodes, y)).check()
        assert ops(found) == ["np.exp", "mul"]
        assert found.block.nodes[1].args == (a, a)

    def test_chains(self):
        x, a, b, c, d, y = (value(name="x"), *(value() for _ in range(5)))
        nodes = [
            Node("np.exp", (x,), {}, (a,)),
            Node("neg", (a,), {}, (b,)),
            Node("np.exp", (x,), {}, (c,)),
            Node("neg", (c,), {}, (d,)),
            Node("add", (b, d), {}, (y,)),
        ]
        assert ops(share(graph((x,), nodes, y))) == ["np.exp", "neg", "add"]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (("x", 1), ("x", 1.0)),
            (("x", 1), ("x", True)),
            (("x", 0.0), ("x", -0.0)),
            (("x", 2.0), (2.0, "x")),
        ],
        ids=["int and float", "int and bool", "signs of zero", "order"],
    )
    def test_what_differs_is_not_shared(self, first: Any, second: Any):
        x, a, b, y = value(name="x"), value(), value(), value()

        def given(args: Any) -> tuple[Any, ...]:
            return tuple(x if one == "x" else one for one in args)

        nodes = [
            Node("mul", given(first), {}, (a,)),
            Node("mul", given(second), {}, (b,)),
            Node("add", (a, b), {}, (y,)),
        ]
        assert ops(share(graph((x,), nodes, y))) == ["mul", "mul", "add"]

    @pytest.mark.parametrize("op", ["np.zeros", "np.copy", "list"])
    def test_memory_of_ones_own_is_not_shared(self, op: str):
        x, a, b, y = value(name="x"), value(MATRIX), value(MATRIX), value()
        nodes = [
            Node(op, (x,), {}, (a,)),
            Node(op, (x,), {}, (b,)),
            Node("add", (a, b), {}, (y,)),
        ]
        assert ops(share(graph((x,), nodes, y))) == [op, op, "add"]

    def test_effects_happen_as_often_as_they_stand(self):
        x = value(name="x")
        nodes = [Node("builtins.print", (x,)), Node("builtins.print", (x,))]
        assert len(ops(share(graph((x,), nodes, x)))) == 2

    def test_a_block_sees_what_was_computed_before_it(self):
        x, i, s, a, b, r = value(name="x"), value(INT), *(value() for _ in range(4))
        body = [Node("np.exp", (x,), {}, (b,)), Node("add", (s, b), {}, (r,))]
        node, out = loop(i, 0.0, s, body, r)
        before = graph((x,), [Node("np.exp", (x,), {}, (a,)), node], (a, out))
        assert ops(share(before).check()) == ["np.exp", "for[add]"]

    def test_what_a_branch_computed_is_not_known_after_it(self):
        x, test, a, b, out = value(name="x"), *(value() for _ in range(4))
        then = Block((), (Node("np.exp", (x,), {}, (a,)),), (a,))
        nodes = [
            Node("gt", (x, 0.0), {}, (test,)),
            Node("if", (test,), {}, (out,), (then, Block((), (), (x,)))),
            Node("np.exp", (x,), {}, (b,)),
        ]
        found = share(graph((x,), nodes, (out, b))).check()
        assert ops(found) == ["gt", "if[np.exp][]", "np.exp"]

    def test_the_users_name_is_kept(self):
        x, a, b = value(name="x"), value(), value(name="scale")
        nodes = [Node("np.exp", (x,), {}, (a,)), Node("np.exp", (x,), {}, (b,))]
        found = share(graph((x,), nodes, (a, b)))
        assert found.block.nodes[0].out.name == "scale"


class TestHoist:
    def test_an_invariant_moves_in_front(self):
        x, i, s, t, r = value(name="x"), value(INT), *(value() for _ in range(3))
        body = [Node("np.exp", (x,), {}, (t,)), Node("add", (s, t), {}, (r,))]
        node, out = loop(i, 0.0, s, body, r)
        assert ops(hoist(graph((x,), [node], out)).check()) == ["np.exp", "for[add]"]

    @pytest.mark.parametrize(
        ("op", "known"),
        [("truediv", FLOAT), ("math.exp", FLOAT), ("mul", None)],
        ids=["may divide by zero", "may overflow", "may be anything"],
    )
    def test_what_may_fail_stays(self, op: str, known: Type | None):
        # A loop that never runs must not raise what its body would.
        x, i, s, r = value(known, "x"), value(INT), value(), value()
        t = value(known)
        args = (x,) if op == "math.exp" else (x, x)
        body = [Node(op, args, {}, (t,)), Node("add", (s, t), {}, (r,))]
        node, out = loop(i, 0.0, s, body, r)
        assert ops(hoist(graph((x,), [node], out))) == [f"for[{op} add]"]

    def test_what_the_index_enters_stays(self):
        x, i, s, t, r = value(name="x"), value(INT), *(value() for _ in range(3))
        body = [Node("mul", (x, i), {}, (t,)), Node("add", (s, t), {}, (r,))]
        node, out = loop(i, 0.0, s, body, r)
        assert ops(hoist(graph((x,), [node], out))) == ["for[mul add]"]

    def test_out_of_two_loops(self):
        x, i, j, s, r, t, u = value(name="x"), *(value(INT), value(INT)), *(
            value() for _ in range(4)
        )  # fmt: skip
        inner, inner_out = loop(
            j, s, r, [Node("np.exp", (x,), {}, (t,)), Node("add", (r, t), {}, (u,))], u
        )
        outer, out = loop(i, 0.0, s, [inner], inner_out)
        found = hoist(graph((x,), [outer], out)).check()
        assert ops(found) == ["np.exp", "for[for[add]]"]


class TestDrop:
    def test_chains_of_the_dead(self):
        x, a, b, y = value(name="x"), value(), value(), value()
        nodes = [
            Node("np.exp", (x,), {}, (a,)),
            Node("neg", (a,), {}, (b,)),
            Node("neg", (x,), {}, (y,)),
        ]
        assert ops(drop(graph((x,), nodes, y))) == ["neg"]

    @pytest.mark.parametrize("op", ["builtins.print", "assert", "raise", "method"])
    def test_effects_stay(self, op: str):
        x, a = value(name="x"), value()
        nodes = [Node("np.exp", (x,), {}, (a,)), Node(op, (a, None))]
        assert ops(drop(graph((x,), nodes, x))) == ["np.exp", op]

    def test_an_output_of_a_branch(self):
        x, test, a, b, one, two = value(name="x"), *(value() for _ in range(5))
        then = Block(
            (),
            (Node("np.exp", (x,), {}, (a,)), Node("np.log", (x,), {}, (b,))),
            (a, b),
        )
        nodes = [
            Node("gt", (x, 0.0), {}, (test,)),
            Node("if", (test,), {}, (one, two), (then, Block((), (), (x, x)))),
        ]
        found = drop(graph((x,), nodes, two)).check()
        assert ops(found) == ["gt", "if[np.log][]"]
        assert found.block.nodes[1].outs == (two,)

    def test_a_branch_that_nothing_needs(self):
        x, test, out = value(name="x"), value(), value()
        nodes = [
            Node("gt", (x, 0.0), {}, (test,)),
            Node(
                "if", (test,), {}, (out,), (Block((), (), (x,)), Block((), (), (1.0,)))
            ),
        ]
        assert ops(drop(graph((x,), nodes, x))) == []

    def test_what_a_loop_carries_in_vain(self):
        x, i, s, t, s2, t2 = value(name="x"), value(INT), *(value() for _ in range(4))
        total, unused = value(), value()
        body = Block(
            (i, s, t),
            (Node("add", (s, x), {}, (s2,)), Node("np.exp", (t,), {}, (t2,))),
            (s2, t2),
        )
        node = Node("for", ((0, 3, 1), (), (0.0, 1.0)), {}, (total, unused), (body,))
        found = drop(graph((x,), [node], total)).check()
        assert ops(found) == ["for[add]"]
        kept = found.block.nodes[0]
        assert kept.args == ((0, 3, 1), (), (0.0,))
        assert kept.blocks[0].params == (i, s)

    def test_a_carried_value_that_feeds_a_needed_one_stays(self):
        x, i, s, t, s2, t2 = value(name="x"), value(INT), *(value() for _ in range(4))
        total, other = value(), value()
        body = Block(
            (i, s, t),
            (Node("add", (s, t), {}, (s2,)), Node("np.exp", (t,), {}, (t2,))),
            (s2, t2),
        )
        node = Node("for", ((0, 3, 1), (), (0.0, 1.0)), {}, (total, other), (body,))
        found = drop(graph((x,), [node], total)).check()
        assert ops(found) == ["for[add np.exp]"]
        assert len(found.block.nodes[0].outs) == 2

    def test_the_test_of_a_while_keeps_what_it_reads(self):
        x, k, k1, test, s, s1, s2, k2 = value(name="x"), *(value() for _ in range(7))
        count, total = value(), value()
        first = Block((k1, s1), (Node("lt", (k1, 3), {}, (test,)),), (test,))
        body = Block(
            (k, s),
            (Node("add", (k, 1), {}, (k2,)), Node("mul", (s, x), {}, (s2,))),
            (k2, s2),
        )
        node = Node("while", ((0, 1.0),), {}, (count, total), (first, body))
        assert ops(drop(graph((x,), [node], total)).check()) == ["while[lt][add mul]"]
        # The product is not needed for the count, but the count is for the test.
        assert ops(drop(graph((x,), [node], count)).check()) == ["while[lt][add]"]
