"""Reading the user's functions where they stand, and printing trees as text."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import math
import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symback.errors import SourceUnavailableError
from symback.source import (
    FunctionSource,
    normalise,
    print_expression,
    print_statement,
    printing,
    read_function,
    reading,
    same_tree,
)

Load = Callable[[str], types.ModuleType]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Write text to a file, import it, and forget it afterwards."""
    made: list[str] = []

    def importer(text: str) -> types.ModuleType:
        name = f"made_{len(made)}_{tmp_path.name}"
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        made.append(name)
        spec.loader.exec_module(module)
        return module

    yield importer
    for name in made:
        del sys.modules[name]


def body(found: FunctionSource) -> str:
    node = found.node
    if isinstance(node, ast.Lambda):
        return ast.unparse(node.body)
    return "\n".join(ast.unparse(s) for s in node.body)


def test_plain_function() -> None:
    def loss(w: float) -> float:
        return w * w

    found = read_function(loss)
    assert found.name == "loss"
    assert found.file == __file__
    assert body(found) == "return w * w"
    span = found.span(found.node)
    assert span.text == "    def loss(w: float) -> float:"
    assert span.code == "def loss(w: float) -> float:"
    assert span.line == loss.__code__.co_firstlineno
    assert span.function == "loss"


def test_columns_are_characters(load: Load) -> None:
    module = load("def f(αβ, x):\n    return αβ * 'é' + x\n")
    found = read_function(module.f)
    result = found.node.body[0].value  # type: ignore[union-attr]
    span = found.span(result.right)
    assert (span.line, span.column, span.end_column) == (2, 23, 24)
    assert span.code == "x"
    assert span.text == "    return αβ * 'é' + x"


def test_node_without_a_position(load: Load) -> None:
    found = read_function(load("def f(x):\n    return x + 1\n").f)
    assert found.span(found.node.args).code == "x"
    assert found.span(ast.Add()).line == 1


def test_node_over_several_lines(load: Load) -> None:
    found = read_function(load("def f(x):\n    return (x +\n        1)\n").f)
    span = found.span(found.node.body[0])  # type: ignore[index]
    assert (span.line, span.end_line) == (2, 3)
    assert span.code == "return (x +"


def test_decorated(load: Load) -> None:
    module = load(
        "import functools\n"
        "def wrap(f):\n"
        "    @functools.wraps(f)\n"
        "    def g(*args):\n"
        "        return f(*args)\n"
        "    return g\n"
        "\n"
        "@functools.lru_cache\n"
        "@wrap\n"
        "def loss(x):\n"
        "    return x ** 2\n"
    )
    # The cache adds nothing to the function; the wrapper is one of its own.
    found = read_function(module.loss)
    assert body(found) == "return f(*args)"
    assert found.span(found.node).line == 4
    inner = read_function(module.loss.__wrapped__.__wrapped__)
    assert body(inner) == "return x ** 2"
    assert inner.span(inner.node).line == 10


def test_methods(load: Load) -> None:
    module = load(
        "class Net:\n"
        "    def loss(self, x):\n"
        "        return self.w * x\n"
        "    @classmethod\n"
        "    def make(cls, x):\n"
        "        return cls\n"
        "    @staticmethod\n"
        "    def plain(x):\n"
        "        return -x\n"
    )
    assert body(read_function(module.Net.loss)) == "return self.w * x"
    assert body(read_function(module.Net().loss)) == "return self.w * x"
    assert body(read_function(module.Net.make)) == "return cls"
    assert body(read_function(module.Net.plain)) == "return -x"


def test_lambdas_on_one_line(load: Load) -> None:
    module = load(
        "a, b = lambda x: x + 1, lambda x: x * 2\n"
        "c = lambda x: lambda x: x - 3\n"
        "d = [lambda x, y=(lambda x: x / 4): x + 5, lambda y: y]\n"
        "e = lambda x: (\n    x ** 6)\n"
        "f, g = lambda: 1, lambda: 2\n"
        "@(lambda h: h)\n"
        "def h(h): return h, (lambda h: h)\n"
    )
    assert body(read_function(module.a)) == "x + 1"
    assert body(read_function(module.b)) == "x * 2"
    assert body(read_function(module.c)) == "lambda x: x - 3"
    assert body(read_function(module.c(1))) == "x - 3"
    assert body(read_function(module.d[0])) == "x + 5"
    assert body(read_function(module.d[0].__defaults__[0])) == "x / 4"
    assert body(read_function(module.d[1])) == "y"
    assert body(read_function(module.e)) == "x ** 6"
    assert body(read_function(module.f)) == "1"
    assert body(read_function(module.g)) == "2"
    assert body(read_function(module.h)) == "return (h, lambda h: h)"


def test_nested_functions_of_one_name(load: Load) -> None:
    module = load(
        "def make(flag):\n"
        "    if flag:\n"
        "        def f(x): return x\n"
        "    else:\n"
        "        def f(x): return -x\n"
        "    return f\n"
    )
    assert body(read_function(module.make(True))) == "return x"
    assert body(read_function(module.make(False))) == "return -x"


def test_every_kind_of_parameter(load: Load) -> None:
    module = load("def f(a, /, b, *c, d=1, **e):\n    return a\n")
    assert body(read_function(module.f)) == "return a"


def test_notebook_cell() -> None:
    text = "def cell_loss(x):\n    return x + 1\n"
    file = "<ipython-input-7-abc>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    try:
        found = read_function(names["cell_loss"])
        assert body(found) == "return x + 1"
        assert found.span(found.node).where == "<ipython-input-7-abc>:1"
    finally:
        del linecache.cache[file]


def test_only_the_block_is_parsed_and_once(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = "".join(f"def other{k}(x): return x\n" for k in range(500))
    module = load(f"def f(x):\n    return x\nclass C:\n    def g(x): return x\n{rest}")
    parsed: list[str] = []
    parse = reading._parse
    monkeypatch.setattr(
        reading,
        "_parse",
        lambda text, file: (parsed.append(text), parse(text, file))[1],
    )
    first = read_function(module.f)
    assert parsed == ["def f(x):\n    return x\n"]
    assert read_function(module.f).node is first.node
    method = read_function(module.C.g)
    assert parsed[1:] == ["if 1:\n    def g(x): return x\n"]
    assert (method.node.lineno, method.node.col_offset) == (4, 4)


def test_blocks_with_text_at_the_margin(load: Load) -> None:
    module = load(
        "class C:\n"
        "    def f(x):\n"
        '        s = """\n'
        "at the margin\n"
        '"""\n'
        "        return (x\n"
        "+ len(s))\n"
        "# a comment\n"
        "    g = staticmethod(\n"
        "        lambda x: x * 3,\n"
        "    )\n"
        "    def h(x): return x\n"
    )
    found = read_function(module.C.f)
    assert body(found).endswith("return x + len(s)")
    assert found.span(found.node.body[-1]).line == 6  # type: ignore[index]
    assert body(read_function(module.C.g)) == "x * 3"
    assert body(read_function(module.C.h)) == "return x"


def test_edited_file(load: Load) -> None:
    module = load("def f(x):\n    return x\n")
    read_function(module.f)
    path = Path(module.__file__ or "")
    path.write_text("\n\n\ndef f(x):\n    return x\n")
    with pytest.raises(SourceUnavailableError) as caught:
        read_function(module.f)
    assert str(caught.value) == (
        f"`f` is not at line 1 of {path}: the file has changed since it was imported\n"
        "hint: reload the module or restart Python."
    )
    path.write_text("def f(x:\n")
    with pytest.raises(SourceUnavailableError, match="is not Python any more"):
        read_function(module.f)
    path.unlink()
    with pytest.raises(SourceUnavailableError, match="there is no text for"):
        read_function(module.f)


def test_prompt_and_exec() -> None:
    names: dict[str, Any] = {}
    exec("def f(x): return x", names)
    with pytest.raises(SourceUnavailableError) as caught:
        read_function(names["f"])
    assert str(caught.value) == (
        "the source of `f` cannot be read: it was typed at a prompt or made by exec\n"
        "hint: put the function in a file and import it, or use a notebook."
    )
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            math.exp,
            "`exp` is built in or compiled: it has no Python source\n"
            "hint: call it in a function of your own: `def f(x): return exp(x)`.",
        ),
        (
            np.tanh,
            "`tanh` is built in or compiled: it has no Python source\n"
            "hint: call it in a function of your own: `def f(x): return tanh(x)`.",
        ),
        (
            dict,
            "`dict` is a class, not a function\nhint: give one of its methods.",
        ),
        (
            functools.partial(read_function),
            "`partial` is a partial\nhint: give the function inside it.",
        ),
        (3, "`3` is not a function\nhint: give a function."),
    ],
)
def test_no_python_function(given: Any, message: str) -> None:
    with pytest.raises(SourceUnavailableError) as caught:
        read_function(given)
    assert str(caught.value) == message


def test_callable_object() -> None:
    class Net:
        def __call__(self, x: float) -> float:
            return x

    with pytest.raises(SourceUnavailableError, match="callable object"):
        read_function(Net())
    assert body(read_function(Net().__call__)) == "return x"


@pytest.mark.parametrize(
    "text",
    [
        "x[1:, :, None] = -y**2",
        "z = ((a @ b) * c / d) @ e",
        "z = a * (b @ c)",
        "x = 2 ** -n.size",
        "f(a, *b, c=1, **d)",
        'x = f"{a!r:>{w}} {{}} {b}"',
        "a, b = b, a",
        "x = a if b else c",
        "x = lambda a, /, b=2: a",
        "x = lambda: 1",
        "x = 1e-05",
        'raise ValueError("x") from e',
        "assert a, 'say \"b\"'",
        "x[..., ::2] += v",
        "for t, h in zip(reversed(range(n)), hs):\n    x += 1",
        "match x:\n    case 1:\n        pass",
    ],
)
def test_statements_print_as_written(text: str) -> None:
    assert print_statement(ast.parse(text).body[0]) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1.5, "-1.5"),
        (math.inf, 'float("inf")'),
        (-math.inf, '-float("inf")'),
        (math.nan, 'float("nan")'),
        (np.float64(2.5), "2.5"),
        (np.int64(-3), "-3"),
        (True, "True"),
        (2j, "2.0j"),
        (1 - 2j, "1.0 - 2.0j"),
        (complex(-0.0, 1), "complex(-0.0, 1.0)"),
        (-0.0, "-0.0"),
    ],
)
def test_constants(value: Any, text: str) -> None:
    printed = print_expression(ast.Constant(value))
    assert printed == text
    again = eval(printed)
    assert repr(again) == repr(value.item() if hasattr(value, "item") else value)


def test_negative_base() -> None:
    tree = ast.BinOp(ast.Constant(-2.5), ast.Pow(), ast.Constant(-2))
    assert print_expression(tree) == "(-2.5)**-2"


def random_expression(pick: random.Random, depth: int) -> ast.expr:
    """Return a tree that a machine might make, negative constants included."""
    if depth == 0 or pick.random() < 0.2:
        name = ast.Name(pick.choice("abc"), ast.Load())
        return pick.choice([name, ast.Constant(pick.choice([1, -2, 0.5, -0.5, 3j]))])

    def sub() -> ast.expr:
        return random_expression(pick, depth - 1)

    operators = [
        ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.Mod,
        ast.FloorDiv, ast.BitAnd, ast.LShift,
    ]  # fmt: skip
    kind = pick.randrange(9)
    if kind < 4:
        return ast.BinOp(sub(), pick.choice(operators)(), sub())
    if kind == 4:
        return ast.UnaryOp(pick.choice([ast.USub, ast.Not, ast.Invert])(), sub())
    if kind == 5:
        return ast.IfExp(sub(), sub(), sub())
    if kind == 6:
        return ast.Compare(sub(), [pick.choice([ast.Lt, ast.In, ast.Is])()], [sub()])
    if kind == 7:
        items = ast.Tuple([ast.Slice(sub(), None, sub()), sub()], ast.Load())
        return ast.Subscript(sub(), items, ast.Load())
    return ast.Call(ast.Attribute(sub(), "f", ast.Load()), [sub()], [])


def test_machine_made_trees_survive() -> None:
    pick = random.Random(5)
    for _ in range(500):
        tree = normalise(ast.Expr(random_expression(pick, 4)))
        assert isinstance(tree, ast.Expr)
        text = print_statement(tree)
        assert same_tree(text, ast.Module([tree], [])), text


def test_library_survives() -> None:
    """Print a few files of the standard library, statement by statement."""
    for module in (ast, functools, random, linecache):
        text = Path(module.__file__ or "").read_text()
        for statement in ast.parse(text).body:
            printed = print_statement(statement)
            assert ast.dump(ast.parse(printed).body[0]) == ast.dump(statement)


def test_without_astor(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError("astor")

    monkeypatch.setattr(printing, "_generator_class", missing)
    assert print_expression(ast.parse("x ** -1", mode="eval").body) == "x ** (-1)"


def test_lambdas_without_positions(load: Load) -> None:
    module = load("f, g, h = lambda x=print: 1, lambda x=2: 2, lambda x=3: (x, 3)\n")
    for name, text in (("f", "1"), ("g", "2"), ("h", "(x, 3)")):
        code = getattr(module, name).__code__
        function = types.FunctionType(code.replace(co_linetable=b""), {})
        assert body(read_function(function)) == text
    same = load("f, g = lambda x: x, lambda x: x\n")
    bare = types.FunctionType(same.f.__code__.replace(co_linetable=b""), {})
    with pytest.raises(SourceUnavailableError, match="cannot be told"):
        read_function(bare)


def test_a_text_edited_after_import_is_refused(load: Load, tmp_path: Path) -> None:
    module = load("def f(x):\n    return x * 2\n\n\ndef g(x):\n    return x\n")
    file = Path(module.__file__)
    assert read_function(module.f).name == "f"
    file.write_text("def f(x):\n    return x * 3\n\n\ndef g(x):\n    return x\n")
    with pytest.raises(SourceUnavailableError, match="has changed since"):
        read_function(module.f)
    assert read_function(module.g).name == "g"
