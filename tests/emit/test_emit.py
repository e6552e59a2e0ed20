"""The text that graphs become: names, inlining, control flow, comments, imports."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from symback.emit import emit
from symback.errors import InternalError, Span
from symback.graph import UNDEFINED, Block, Graph, Node, Param, Value
from symback.interpret import run
from symback.passes.buffers import buffers
from symback.run.load import load
from symback.types import Type

ARRAY = Type("array", "float64", ("n",))
FLOAT = Type("python", "float")
INT = Type("python", "int")


class Make:
    """Collects the nodes of a graph."""

    def __init__(self, *params: str, **types: Type) -> None:
        self.values = {name: Value(name, types.get(name)) for name in params}
        self.nodes: list[Node] = []

    def __getattr__(self, name: str) -> Value:
        return self.values[name]

    def __call__(
        self,
        op: str,
        *args: Any,
        to: str | None = None,
        type: Type | None = None,
        line: str = "",
        **kwargs: Any,
    ) -> Value:
        out = Value(to, type)
        span = None
        if line:
            number, text = line.split(" ", 1)
            span = Span("/home/me/fit.py", int(number), 5, text="    " + text)
        self.nodes.append(Node(op, args, kwargs, (out,), (), span))
        return out

    def node(self, *args: Any, **kwargs: Any) -> tuple[Value, ...]:
        """Add a node with nested blocks and return its outputs."""
        self.nodes.append(Node(*args, **kwargs))
        return self.nodes[-1].outs

    def block(self, params: tuple[Value, ...], results: tuple[Any, ...]) -> Block:
        return Block(params, tuple(self.nodes), results)

    def graph(self, result: Any, **fields: Any) -> Graph:
        params = tuple(Param(n, v) for n, v in self.values.items())
        return Graph("f", params, self.block((), (result,)), **fields).check()


def text(graph: Graph, **options: Any) -> str:
    """Return the body of the emitted function, dedented."""
    source = emit(graph, **options)
    ast.parse(source)
    return textwrap.dedent(source.split(":\n", 1)[1])


def expect(found: str, wanted: str) -> None:
    assert found == textwrap.dedent(wanted).lstrip("\n")


def test_unnamed_values_are_printed_where_they_are_used() -> None:
    make = Make("x", "W", "b")
    z = make("add", make("matmul", make.x, make.W), make.b, to="z")
    make_h = make("np.maximum", z, 0.0, to="h")
    expect(
        text(make.graph((make_h, make("np.sum", make("pow", z, 2))))),
        """
        z = x @ W + b
        h = np.maximum(z, 0.0)
        return h, np.sum(z**2)
        """,
    )


def test_values_used_twice_get_names() -> None:
    make = Make("x")
    e = make("np.exp", make.x)
    expect(
        text(make.graph(make("truediv", e, make("add", e, 1)))),
        """
        t1 = np.exp(x)
        return t1 / (t1 + 1)
        """,
    )


def test_cheap_values_are_repeated() -> None:
    make = Make("x", "y")
    n = make("dim", make.x, 0)
    transposed = make("np.transpose", make.x)
    one = make("truediv", make("matmul", transposed, make.y), n, to="one")
    two = make("truediv", make("matmul", transposed, one), n, to="two")
    expect(
        text(make.graph(two)),
        """
        one = (x.T @ y) / np.shape(x)[0]
        two = (x.T @ one) / np.shape(x)[0]
        return two
        """,
    )


def test_long_expressions_are_divided() -> None:
    make = Make("first_operand", "second_operand")
    total = make("mul", make.first_operand, make.second_operand)
    for _ in range(6):
        total = make("add", total, make("mul", make.first_operand, 2.5))
    lines = text(make.graph(total)).splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 84 for line in lines)


def test_comments_stand_where_a_users_line_begins() -> None:
    make = Make("x", "W")
    z = make("matmul", make.x, make.W, to="z", line="9 z = x @ W")
    h = make("np.maximum", z, 0.0, to="h", line="10 h = np.maximum(z, 0.0)")
    h_bar = make("np.ones_like", h, to="h_bar", line="11 return h.sum()")
    z_bar = make("mul", h_bar, make("gt", z, 0.0), to="z_bar", line="10 h = ...")
    W_bar = make("matmul", make("np.transpose", make.x), z_bar, to="W_bar", line="9 z")
    expect(
        text(make.graph((h, W_bar)), backward_from=2),
        """
        # forward
        z = x @ W                  # fit.py:9   z = x @ W
        h = np.maximum(z, 0.0)     # fit.py:10  h = np.maximum(z, 0.0)

        # backward
        h_bar = np.ones_like(h)    # fit.py:11  return h.sum()
        z_bar = h_bar * (z > 0.0)  # fit.py:10
        W_bar = x.T @ z_bar        # fit.py:9
        return h, W_bar
        """,
    )


def test_head_of_the_module() -> None:
    make = Make("x", "n", x=ARRAY, n=INT)
    result = make("runtime.unbroadcast", make("np.exp", make.x), make.n)
    graph = make.graph(result, title="Made for the tests.")
    params = (graph.params[0], Param("n", make.n, "captured"))
    source = emit(Graph("f", params, graph.block, title=graph.title))
    assert source == (
        "# Made for the tests.\n"
        "# x: float64[n]  n: int\n"
        "import numpy as np\n"
        "\n"
        "from symback.runtime import unbroadcast\n"
        "\n"
        "\n"
        "def f(x, *, n):\n"
        "    return unbroadcast(np.exp(x), n)\n"
    )


def test_errstate_is_around_everything() -> None:
    make = Make("x")
    y = make("truediv", 1.0, make.x, to="y")
    graph = make.graph(y, errstate={"divide": "ignore", "invalid": "ignore"})
    expect(
        text(graph),
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            y = 1.0 / x
            return y
        """,
    )


# Names


def test_users_names_are_kept_apart() -> None:
    make = Make("x")
    one = make("mul", make.x, 2, to="y")
    two = make("add", one, 1, to="y")
    expect(
        text(make.graph((one, two))),
        """
        y = x * 2
        y_1 = y + 1
        return y, y_1
        """,
    )


def test_rebinding_shares_a_name() -> None:
    make = Make("x")
    y = make("mul", make.x, 2, to="x")
    y = make("np.tanh", y, to="x")
    expect(text(make.graph(y)), "x = x * 2\nx = np.tanh(x)\nreturn x\n")


def test_made_names_avoid_the_users() -> None:
    make = Make("t1", "x_1", "x")
    e = make("np.exp", make.t1)
    x = make("mul", e, e, to="x")
    y = make("mul", x, make.x, to="y")
    expect(
        text(make.graph((y, x, make.x_1, make.x))),
        """
        t2 = np.exp(t1)
        x_2 = t2 * t2
        y = x_2 * x
        return y, x_2, x_1, x
        """,
    )


def test_names_of_modules_and_builtins() -> None:
    make = Make("np", "max", "math")
    range_ = make("add", make.np, 1, to="range")
    scipy = make("scipy.special.erf", make("np.exp", range_), to="scipy")
    other = make("builtins.max", make("math.exp", make.math), make.max)
    (total,) = make.node(
        "for",
        ((0, 3, 1), (), (scipy,)),
        {},
        (Value("range"),),
        (
            Block(
                (Value(None), (v := Value("range"))),
                (Node("add", (v, range_), {}, (w := Value("range"),)),),
                (w,),
            ),
        ),
    )
    source = emit(make.graph((total, other)))
    expect(
        source,
        """
        import builtins
        import math as math_

        import numpy as np_
        import scipy.special


        def f(np, max, math):
            range_1 = np + 1
            scipy_1 = scipy.special.erf(np_.exp(range_1))
            range_2 = scipy_1
            for _ in range(3):
                range_2 = range_2 + range_1
            return range_2, builtins.max(math_.exp(math), max)
        """,
    )


def test_users_underscore() -> None:
    make = Make("x")
    under = make("mul", make.x, 2, to="_")
    _, logdet = make.node(
        "np.linalg.slogdet", (make.x,), {}, (Value(), Value("logdet"))
    )
    i, total, new = Value("_"), Value("total"), Value("total")
    body = Block((i, total), (Node("add", (total, logdet), {}, (new,)),), (new,))
    (total,) = make.node("for", ((0, 3, 1), (), (0.0,)), {}, (Value("total"),), (body,))
    expect(
        text(make.graph((under, total))),
        """
        _ = x * 2
        __, logdet = np.linalg.slogdet(x)
        total = 0.0
        for __ in range(3):
            total = total + logdet
        return _, total
        """,
    )


def test_text_does_not_depend_on_hashes() -> None:
    program = (
        "from tests.graph_programs import random_graph\n"
        "from symback.emit import emit\n"
        "from symback.passes.buffers import buffers\n"
        "print([emit(buffers(random_graph(s, size=9))) for s in range(6)])\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1


# Control flow


def test_branches() -> None:
    make = Make("x", "y")
    test = make("gt", make.x, 0)
    blocks = []
    for op in ("np.exp", "np.tanh"):
        z = Value("z")
        blocks.append(Block((), (Node(op, (make.y,), {}, (z,)),), (z,)))
    (z,) = make.node("if", (test,), {}, (Value("z"),), tuple(blocks))
    expect(
        text(make.graph(z)),
        """
        if x > 0:
            z = np.exp(y)
        else:
            z = np.tanh(y)
        return z
        """,
    )


def test_branch_that_leaves_a_name_alone() -> None:
    make = Make("x")
    y = make("mul", make.x, 2, to="y")
    test = make("lt", y, 0)
    new = Value("y")
    then = Block((), (Node("neg", (y,), {}, (new,)),), (new,))
    (y,) = make.node("if", (test,), {}, (Value("y"),), (then, Block((), (), (y,))))
    expect(text(make.graph(y)), "y = x * 2\nif y < 0:\n    y = -y\nreturn y\n")


def test_empty_then_is_turned_round() -> None:
    make = Make("x")
    test = make("lt", make.x, 0)
    new = Value("y")
    orelse = Block((), (Node("neg", (make.x,), {}, (new,)),), (new,))
    (y,) = make.node(
        "if", (test,), {}, (Value("y"),), (Block((), (), (UNDEFINED,)), orelse)
    )
    (z,) = make.node(
        "if",
        (test,),
        {},
        (Value("z"),),
        (
            Block((), (), (0.0,)),
            Block((), (Node("mul", (y, 2), {}, (w := Value("w"),)),), (w,)),
        ),
    )
    expect(
        text(make.graph(z)),
        """
        t1 = x < 0
        if not t1:
            y = -x
        if t1:
            z = 0.0
        else:
            w = y * 2
            z = w
        return z
        """,
    )


def test_elif() -> None:
    make = Make("x")
    one, two = make("gt", make.x, 1), Value()
    inner = []
    for op in ("np.exp", "np.sin"):
        y = Value("y")
        inner.append(Block((), (Node(op, (make.x,), {}, (y,)),), (y,)))
    y_inner, y_first = Value("y"), Value("y")
    orelse = Block(
        (),
        (
            Node("lt", (make.x, -1), {}, (two,)),
            Node("if", (two,), {}, (y_inner,), tuple(inner)),
        ),
        (y_inner,),
    )
    then = Block((), (Node("np.cos", (make.x,), {}, (y_first,)),), (y_first,))
    (y,) = make.node("if", (one,), {}, (Value("y"),), (then, orelse))
    expect(
        text(make.graph(y)),
        """
        if x > 1:
            y = np.cos(x)
        elif x < -1:
            y = np.exp(x)
        else:
            y = np.sin(x)
        return y
        """,
    )


def test_long_chain() -> None:
    """The work is in proportion to the length of the chain, the text is flat."""
    make = Make("x")
    result: Any = 0.0
    nodes: tuple[Node, ...] = ()
    for k in range(40, 0, -1):
        test, y, out = Value(), Value("y"), Value("y")
        then = Block((), (Node("mul", (make.x, k), {}, (y,)),), (y,))
        node = Node("if", (test,), {}, (out,), (then, Block((), nodes, (result,))))
        nodes = (Node("lt", (make.x, k), {}, (test,)), node)
        result = out
    make.nodes += nodes
    lines = text(make.graph(result)).splitlines()
    assert lines[:4] == ["if x < 1:", "    y = x * 1", "elif x < 2:", "    y = x * 2"]
    assert lines[-3:] == ["else:", "    y = 0.0", "return y"]
    assert len(lines) == 83


def test_ternary_and_boolean_operators() -> None:
    make = Make("x", "y")
    test = make("gt", make.x, 0)
    (both,) = make.node(
        "if",
        (test,),
        {},
        (Value(),),
        (
            Block((), (Node("lt", (make.y, 1), {}, (t := Value(),)),), (t,)),
            Block((), (), (test,)),
        ),
    )
    (z,) = make.node(
        "if",
        (both,),
        {},
        (Value("z"),),
        (Block((), (), (make.x,)), Block((), (), (0.5,))),
    )
    expect(text(make.graph(z)), "z = x if x > 0 and y < 1 else 0.5\nreturn z\n")


def test_loop_with_saved_values() -> None:
    make = Make("x", "n")
    t, h = Value("t"), Value("h")
    inner = Make()
    new = inner("np.tanh", inner("mul", h, make.x), to="h")
    body = inner.block((t, h), (new, h))
    out, saved = make.node(
        "for",
        ((1, make.n, 1), (), (0.5,)),
        {},
        (Value("h"), Value()),
        (body,),
    )
    t, h, h_bar = Value(), Value("h"), Value("h_bar")
    inner = Make()
    h_bar_next = inner("mul", h_bar, h, to="h_bar")
    (h_bar,) = make.node(
        "for",
        ((1, make.n, 1), (saved,), (1.0,)),
        {"reverse": True},
        (Value("h_bar"),),
        (inner.block((t, h, h_bar), (h_bar_next,)),),
    )
    expect(
        text(make.graph((out, h_bar))),
        """
        h = 0.5
        h_saved = []
        for _ in range(1, n):
            h_saved.append(h)
            h = np.tanh(h * x)
        h_bar = 1.0
        for h_1 in reversed(h_saved):
            h_bar = h_bar * h_1
        return h, h_bar
        """,
    )


def test_swap() -> None:
    make = Make("a", "b", "n")
    i, a, b = Value("i"), Value("a"), Value("b")
    a_out, b_out = make.node(
        "for",
        ((0, make.n, 1), (), (make.a, make.b)),
        {},
        (Value("a"), Value("b")),
        (Block((i, a, b), (), (b, a)),),
    )
    expect(
        text(make.graph((a_out, b_out))),
        """
        for _ in range(n):
            a, b = b, a
        return a, b
        """,
    )


def test_walking_an_array() -> None:
    make = Make("X", "w")
    length = make("dim", make.X, 0)
    i, total = Value("i"), Value("total")
    inner = Make()
    x = inner("getitem", make.X, i, to="x")
    new = inner("add", total, inner("mul", x, make.w), to="total")
    (total,) = make.node(
        "for",
        ((0, length, 1), (), (0.0,)),
        {},
        (Value("total"),),
        (inner.block((i, total), (new,)),),
    )
    expect(
        text(make.graph(total)),
        """
        total = 0.0
        for x in X:
            total = total + x * w
        return total
        """,
    )


def test_walking_an_array_with_its_index() -> None:
    make = Make("X")
    length = make("builtins.len", make.X)
    i, total = Value("i"), Value("total")
    inner = Make()
    x = inner("getitem", make.X, i, to="x")
    new = inner("add", total, inner("mul", x, i), to="total")
    (total,) = make.node(
        "for",
        ((0, length, 1), (), (0.0,)),
        {},
        (Value("total"),),
        (inner.block((i, total), (new,)),),
    )
    expect(
        text(make.graph(total)),
        """
        total = 0.0
        for i, x in enumerate(X):
            total = total + x * i
        return total
        """,
    )


def test_many_saved_values_share_a_list() -> None:
    make = Make("x", "n")
    t, h = Value("t"), Value("h")
    inner = Make()
    a = inner("np.sin", h, to="a")
    b = inner("np.cos", a, to="b")
    c = inner("mul", a, b, to="h")
    out, *saved = make.node(
        "for",
        ((0, make.n, 1), (), (make.x,)),
        {},
        (Value("h"), Value(), Value(), Value(), Value()),
        (inner.block((t, h), (c, a, b, c, a)),),
    )
    t, h_bar = Value("t"), Value("h_bar")
    walked = [Value("a"), Value("b"), Value("h"), Value("a")]
    inner = Make()
    new = inner("mul", h_bar, walked[0])
    new = inner("add", new, inner("mul", walked[1], walked[2]))
    new = inner("add", new, walked[3], to="h_bar")
    (h_bar,) = make.node(
        "for",
        ((0, make.n, 1), tuple(saved), (1.0,)),
        {"reverse": True},
        (Value("h_bar"),),
        (inner.block((t, *walked, h_bar), (new,)),),
    )
    graph = make.graph((out, h_bar))
    expect(
        text(graph),
        """
        h = x
        saved = []
        for _ in range(n):
            a = np.sin(h)
            b = np.cos(a)
            h = a * b
            saved.append((a, b, h))
        h_bar = 1.0
        for a, b, h_1 in reversed(saved):
            h_bar = h_bar * a + b * h_1 + a
        return h, h_bar
        """,
    )
    assert load(emit(graph), "f", "<f>")(0.5, 4) == run(graph, 0.5, 4)


def nested_scan(several: bool) -> Graph:
    """Two nested loops that save values, and two that walk back through them."""
    make = Make("x", "n")
    i, j = Value("i"), Value("j")
    h, h_in = Value("h"), Value("h")
    inner = Make()
    a = inner("np.sin", h_in, to="a")
    b = inner("np.cos", a, to="b")
    new = inner("mul", a, b, to="h")
    items = (a, b, h_in, a, new) if several else (a,)
    outs = (Value("h"), *(Value() for _ in items))
    nested = inner.block((j, h_in), (new, *items))
    loop = Node("for", ((0, make.n, 1), (), (h,)), {}, outs, (nested,))
    lists = tuple(Value() for _ in items)
    (out, *_) = make.node(
        "for",
        ((0, make.n, 1), (), (make.x,)),
        {},
        (Value("h"), *lists),
        (Block((i, h), (loop,), outs),),
    )
    i, j = Value("i"), Value("j")
    bar, bar_in = Value("h_bar"), Value("h_bar")
    walked, parts = [Value() for _ in items], [Value() for _ in items]
    inner = Make()
    new = bar_in
    for part in parts:
        new = inner("add", inner("mul", new, 0.5), part)
    nested = inner.block((j, *parts, bar_in), (new,))
    back = (Value("h_bar"),)
    loop = Node(
        "for",
        ((0, make.n, 1), tuple(walked), (bar,)),
        {"reverse": True},
        back,
        (nested,),
    )
    (h_bar,) = make.node(
        "for",
        ((0, make.n, 1), lists, (1.0,)),
        {"reverse": True},
        (Value("h_bar"),),
        (Block((i, *walked, bar), (loop,), back),),
    )
    return make.graph((out, h_bar))


def test_lists_of_lists() -> None:
    for several in (True, False):
        graph = nested_scan(several)
        assert load(emit(graph), "f", "<f>")(0.5, 3) == run(graph, 0.5, 3)
    expect(
        text(nested_scan(True)),
        """
        h = x
        saved = []
        saved_1 = []
        for _ in range(n):
            h_saved = []
            saved_2 = []
            for _ in range(n):
                h_saved.append(h)
                a = np.sin(h)
                b = np.cos(a)
                h = a * b
                saved_2.append((a, b, h))
            saved.append(saved_2)
            saved_1.append(h_saved)
        h_bar = 1.0
        for saved_2, h_saved in zip(reversed(saved), reversed(saved_1)):
            for (a, b, t1), t2 in zip(reversed(saved_2), reversed(h_saved)):
                t3 = ((h_bar * 0.5 + a) * 0.5 + b) * 0.5 + t2
                h_bar = (t3 * 0.5 + a) * 0.5 + t1
        return h, h_bar
        """,
    )


def test_while_and_break() -> None:
    make = Make("x", "n")
    k, x = Value("k"), Value("x")
    condition = Make()
    go = condition("lt", k, make.n)
    inner = Make()
    k_2, x_2 = Value("k"), Value("x")
    new = inner("np.sqrt", x_2, to="x")
    stop = inner("lt", new, 1.5)
    count = inner("add", k_2, 1, to="k", type=INT)
    _, out = make.node(
        "while",
        ((0, make.x),),
        {"breaks": True},
        (Value("k"), Value("x")),
        (
            condition.block((k, x), (go,)),
            inner.block((k_2, x_2), (stop, count, new)),
        ),
    )
    expect(
        text(make.graph(out)),
        """
        k = 0
        while k < n:
            x = np.sqrt(x)
            k += 1
            if x < 1.5:
                break
        return x
        """,
    )


def test_condition_that_needs_statements() -> None:
    make = Make("x")
    x = Value("x")
    condition = Make()
    y = condition("np.sin", x, to="y")
    go = condition("gt", condition("mul", y, y), 0.5)
    x_2 = Value("x")
    inner = Make()
    new = inner("mul", x_2, 0.5, to="x")
    (out,) = make.node(
        "while",
        ((make.x,),),
        {},
        (Value("x"),),
        (condition.block((x,), (go,)), inner.block((x_2,), (new,))),
    )
    expect(
        text(make.graph(out)),
        """
        while True:
            y = np.sin(x)
            if not y * y > 0.5:
                break
            x = x * 0.5
        return x
        """,
    )


def test_undefined_names_that_are_only_handed_on() -> None:
    make = Make("x", "n")
    i, y = Value("i"), Value("y")
    inner = Make()
    test = inner("gt", i, 1)
    new, merged = Value("y"), Value("y")
    inner.node(
        "if",
        (test,),
        {},
        (merged,),
        (
            Block((), (Node("mul", (make.x, i), {}, (new,)),), (new,)),
            Block((), (), (y,)),
        ),
    )
    out, kept = make.node(
        "for",
        ((0, make.n, 1), (), (UNDEFINED,)),
        {},
        (Value("y"), Value()),
        (inner.block((i, y), (merged, merged)),),
    )
    expect(
        text(make.graph((out, kept))),
        """
        y = None
        y_saved = []
        for i in range(n):
            if i > 1:
                y = x * i
            y_saved.append(y)
        return y, y_saved
        """,
    )


# Mutation


def test_mutation_in_place() -> None:
    make = Make("n", "v", "idx", n=INT, v=FLOAT)
    x = make("np.zeros", make.n, to="x")
    x = make("setitem", x, 0, 1.0, to="x")
    x = make("index_add", x, slice(1, None), make.v, to="x")
    x = make("index_add", x, make.idx, make.v, to="x")
    items = make("list", 1.0, make.v, to="items")
    items = make("list_append", items, 3.0, to="items")
    rest, last = make.node("list_pop", (items,), {}, (Value("items"), Value("last")))
    rest = make("index_add", rest, 0, x, to="items")
    expect(
        text(make.graph((x, rest, last))),
        """
        x = np.zeros(n)
        x[0] = 1.0
        x[1:] += v
        np.add.at(x, idx, v)
        items = [1.0, v]
        items.append(3.0)
        last = items.pop()
        items[0] = items[0] + x
        return x, items, last
        """,
    )


def test_reads_stay_before_the_mutation() -> None:
    make = Make("n", n=INT)
    x = make("np.ones", make.n, to="x", type=ARRAY)
    total = make("np.sum", x)
    x2 = make("setitem", x, 0, 5.0, to="x", type=ARRAY)
    graph = make.graph(make("mul", x2, total))
    expect(
        text(buffers(graph)),
        """
        x = np.ones(n)
        t1 = np.sum(x)
        x[0] = 5.0
        return x * t1
        """,
    )


def test_effects_keep_their_order() -> None:
    make = Make("f", "x")
    one = make("call", make.f, (make.x,), {})
    two = make("method", make.x, "sum", (), {"axis": 0})
    make.node("builtins.print", ("got", one), {}, (Value(),))
    make.node("assert", (make("gt", one, 0), "positive"), {}, ())
    error = make("builtins.ValueError", "too small")
    make.node("raise", (error,), {}, ())
    expect(
        text(make.graph(make("add", two, one))),
        """
        t1 = f(x)
        t2 = x.sum(axis=0)
        print("got", t1)
        assert t1 > 0, "positive"
        raise ValueError("too small")
        return t2 + t1
        """,
    )


def test_what_fits_in_an_fstring() -> None:
    make = Make("x", "d")
    item = make("getitem", make.d, "key")
    size = make("dim", make.x, 0)
    told = make("fstring", "d has ", (item, None, None), ", x ", (size, None, "d"))
    make.node("builtins.print", (told,), {}, (Value(),))
    expect(
        text(make.graph(None)),
        """
        t1 = d["key"]
        print(f"d has {t1}, x {np.shape(x)[0]:d}")
        return None
        """,
    )


# Expressions


@pytest.mark.parametrize(
    ("op", "args", "kwargs", "wanted"),
    [
        ("getitem", ("x", (0, slice(None), None)), {}, "x[0, :, None]"),
        ("getitem", ("x", (Ellipsis, slice(None, None, -1))), {}, "x[..., ::-1]"),
        ("getitem", ("x", [0, 2]), {}, "x[[0, 2]]"),
        ("getitem", ("x", (1,)), {}, "x[1,]"),
        ("getitem", (np.array([1.0, 2.0]), (1,)), {}, "np.array([1.0, 2.0])[1]"),
        ("getitem", ("x", ()), {}, "x[()]"),
        ("contains", ("x", 3), {}, "3 in x"),
        ("not_", ("x",), {}, "not x"),
        ("np.sum", ("x",), {"axis": (0, -1)}, "np.sum(x, axis=(0, -1))"),
        ("np.transpose", ("x", (1, 0)), {}, "np.transpose(x, (1, 0))"),
        ("np.full", (3, -np.inf), {}, "np.full(3, -np.inf)"),
        ("math.fmod", ("x", float("nan")), {}, "math.fmod(x, math.nan)"),
        ("np.zeros", (3, np.float32), {}, "np.zeros(3, np.float32)"),
        ("np.zeros", (3,), {"dtype": np.dtype("f4")}, "np.zeros(3, dtype=np.float32)"),
        ("np.zeros", (3, float), {}, "np.zeros(3, float)"),
        ("mul", ("x", np.float64(-2.5)), {}, "x * -2.5"),
        ("mul", ("x", np.float32(0.5)), {}, "x * np.float32(0.5)"),
        ("mul", ("x", 2j), {}, "x * 2.0j"),
        ("add", ("x", np.array([1.0, 2.0])), {}, "x + np.array([1.0, 2.0])"),
        ("pow", (-2, "x"), {}, "(-2)**x"),
        ("list_zeros", ("x",), {}, "[np.zeros_like(v) for v in x]"),
        ("list_reverse", ("x",), {}, "x[::-1]"),
        ("struct", ("x", {"w": 1.0}), {}, "type(x)(w=1.0)"),
        ("attr", ("x", "w"), {}, "x.w"),
        ("dim", ("x", 1), {}, "np.shape(x)[1]"),
        ("builtins.slice", (1, None), {}, "slice(1, None)"),
        (
            "fstring",
            ("x = ", ("x", "r", None), " {", ("x", None, ".3f"), "}"),
            {},
            'f"x = {x!r} {{{x:.3f}}}"',
        ),
    ],
)
def test_expressions(
    op: str, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: str
) -> None:
    make = Make("x")

    def value(arg: Any) -> Any:
        if isinstance(arg, tuple) and "x" in [a for a in arg if isinstance(a, str)]:
            return tuple(map(value, arg))
        return make.x if isinstance(arg, str) and arg == "x" else arg

    out = make(op, *map(value, args), **kwargs)
    found = text(make.graph(out))
    assert found == f"return {wanted}\n"


def test_objects_without_a_text() -> None:
    make = Make("x")
    with pytest.raises(InternalError, match="no text for the constant"):
        emit(make.graph(make("add", make.x, object())))
    make = Make("x")
    with pytest.raises(InternalError, match="no text for `unknown`"):
        emit(make.graph(make("unknown", make.x)))
