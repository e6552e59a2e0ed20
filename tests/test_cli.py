"""The command line: results, exit statuses, and what wrong usage is told."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentError
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from symback.cli import main
from symback.cli.target import find
from symback.cli.values import call_arguments, read

TINY = """\
import numpy as np
import symback


@symback.differentiable(wrt=("w", "b", "v", "c"))
def loss(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return 0.5 * (s - y) ** 2


def plain(w, x):
    return np.sum((w * x) ** 2)


def scaled(w, *, scale=2.0):
    return w * w * scale


def vector(w):
    return w * np.array([1.0, 2.0])


def opened(w):
    with open("x.txt") as f:
        return w * float(f.read())


def clumsy(w, x):
    print("a word from the user")
    if x.shape != (3,):
        raise ValueError("x must have three entries")
    return np.sum(w * x)


def structured(params, x):
    return np.sum(params["w"] * x) + params["b"]


half = 0.5
"""

AT = "--at w=0.5 --at b=0 --at v=3 --at c=-1 --at x=2 --at y=1".split()


class Done(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's folder with one module; what the command imports is forgotten."""
    (tmp_path / "tiny.py").write_text(TINY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path / "tiny.py"
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def run(tiny: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    def call(*arguments: str) -> Done:
        status = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(status, out, err)

    return call


class TestShow:
    def test_prints_the_generic_source(self, run: Callable[..., Done]):
        loss = find("tiny.py:loss")
        done = run("show", "tiny.py:loss")
        assert done == (0, loss.backward_source, "")

    def test_prints_the_source_for_values(self, run: Callable[..., Done]):
        loss = find("tiny.py:loss")
        done = run("show", "tiny.py:loss", *AT)
        expected = loss.backward_source_for(0.5, 0, 3, -1, 2, 1)
        assert done == (0, expected, "")

    def test_decorates_a_plain_function(self, run: Callable[..., Done]):
        assert "w_bar" in run("show", "tiny:plain").out
        assert "x_bar" in run("show", "tiny:plain", "--wrt", "x").out
        both = run("show", "tiny:plain", "--wrt", "w,x").out
        assert "w_bar" in both
        assert "x_bar" in both

    def test_asks_for_values_where_the_source_depends_on_them(
        self, run: Callable[..., Done]
    ):
        done = run("show", "tiny.py:structured")
        assert done.status == 2
        assert "depends on what `params` is" in done.err
        assert "\nhere: --at NAME=VALUE, or --shape NAME=N,M" in done.err
        values = ("--at", "params={'w': [1.0, 2.0], 'b': 0.5}", "--shape", "x=2")
        done = run("show", "tiny.py:structured", *values)
        assert done.status == 0
        assert "params['w']" in done.out or 'params["w"]' in done.out

    def test_wrt_overrides_the_decorator(self, run: Callable[..., Done]):
        assert "b_bar" not in run("show", "tiny.py:loss", "--wrt", "c").out

    def test_json(self, run: Callable[..., Done]):
        done = run("show", "tiny.py:plain", "--json")
        data = json.loads(done.out)
        assert data["function"] == "tiny.py:plain"
        assert "w_bar" in data["source"]


class TestGraph:
    def test_prints_the_graph(self, run: Callable[..., Done]):
        loss = find("tiny.py:loss")
        assert run("graph", "tiny.py:loss").out == f"{loss.graph}\n"

    def test_writes_the_graph(self, run: Callable[..., Done], tmp_path: Path):
        loss = find("tiny.py:loss")
        done = run("graph", "tiny.py:loss", "-o", "g.txt")
        assert done == (0, "wrote g.txt\n", "")
        written = (tmp_path / "g.txt").read_text(encoding="utf-8")
        assert written == f"{loss.graph}\n"

    def test_unknown_form(self, run: Callable[..., Done]):
        done = run("graph", "tiny.py:loss", "-o", "g.gif")
        assert done.status == 2
        assert "a graph is not written as '.gif'" in done.err

    def test_nowhere_to_write(self, run: Callable[..., Done]):
        done = run("graph", "tiny.py:loss", "-o", "no/such/g.txt")
        assert done.status == 2
        assert "cannot write no" in done.err


class TestCompareAndCheck:
    def test_compare(self, run: Callable[..., Done]):
        done = run("compare", "tiny.py:loss", *AT)
        assert done.status == 0
        assert "proved" in done.out

    def test_compare_json(self, run: Callable[..., Done]):
        data = json.loads(run("compare", "tiny.py:loss", *AT, "--json").out)
        assert data["verdict"] == "proved"
        assert data["ok"] is True
        assert [row["name"] for row in data["rows"]] == ["w", "b", "v", "c"]
        assert data["culprit"] is None

    def test_check(self, run: Callable[..., Done]):
        done = run("check", "tiny.py:plain", "--shape", "w=3", "--at", "x=[1, 2, 3]")
        assert done.status == 0
        assert done.out

    def test_check_json(self, run: Callable[..., Done]):
        data = json.loads(run("check", "tiny.py:loss", *AT, "--json").out)
        assert data["ok"] is True
        assert data["rows"][0]["generated"] == 6.0

    def test_a_wrong_gradient_is_status_1(
        self, run: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
    ):
        loss = find("tiny.py:loss")

        class Wrong:
            ok, verdict, rows = False, "refuted", ()
            coverage = kinks = ()
            culprit = "s = v * h + c"

        monkeypatch.setattr(type(loss), "compare", lambda *a, **k: Wrong())
        monkeypatch.setattr(type(loss), "check", lambda *a, **k: Wrong())
        assert run("compare", "tiny.py:loss", *AT).status == 1
        assert run("check", "tiny.py:loss", *AT).status == 1
        data = json.loads(run("check", "tiny.py:loss", *AT, "--json").out)
        assert data["culprit"] == "s = v * h + c"

    def test_keyword_only_and_default(self, run: Callable[..., Done]):
        assert run("check", "tiny.py:scaled", "--at", "w=3.0").status == 0
        done = run("check", "tiny.py:scaled", "--at", "w=3.0", "--at", "scale=4.0")
        assert done.status == 0

    def test_missing_values_come_with_a_command_to_paste(
        self, run: Callable[..., Done]
    ):
        done = run("compare", "tiny.py:loss", "--at", "w=0.5")
        assert done == (
            2,
            "",
            "symback: no value for b, v, c, x, y; for instance\n"
            '  symback compare tiny.py:loss --at "w=0.5" --at b=0.5 --at v=0.5 '
            "--at c=0.5 --at x=0.5 --at y=0.5\n",
        )

    def test_output_of_the_user_is_no_part_of_json(self, run: Callable[..., Done]):
        shapes = ("--shape", "w=3", "--shape", "x=3")
        done = run("check", "tiny.py:clumsy", *shapes, "--json")
        assert json.loads(done.out)["ok"] is True
        assert "a word from the user" in done.err

    def test_an_error_is_json_too(self, run: Callable[..., Done]):
        done = run("check", "tiny.py:opened", "--at", "w=1.0", "--json")
        assert done.status == 2
        error = json.loads(done.out)["error"]
        assert error["class"] == "UnsupportedSyntaxError"
        assert "open(" in error["message"]

    def test_an_exception_of_the_user_names_its_line(self, run: Callable[..., Done]):
        done = run("check", "tiny.py:clumsy", "--shape", "w=2", "--shape", "x=2")
        assert done.status == 2
        assert "the function raised ValueError: x must have three entries" in done.err
        assert "tiny.py:" in done.err


WRONG = {
    ("show", "tiny.py"): (
        "'tiny.py' names no function: write FILE:FUNCTION, as in fit.py:loss, "
        "or package.module:FUNCTION"
    ),
    ("show", "other.py:loss"): "there is no file other.py",
    ("show", "other:loss"): "there is no module other; a file is named other.py",
    ("show", "tiny.py:los"): ("there is no 'los' in tiny.py; did you mean 'loss'?"),
    ("show", "tiny.py:zzz"): (
        "there is no 'zzz' in tiny.py; it has loss, plain, scaled, "
        "vector, opened, clumsy, structured"
    ),
    ("show", "tiny.py:half"): "'half' in tiny.py is no function but: float",
    ("check", "tiny.py:plain", "--at", "w"): (
        "--at takes NAME=VALUE, as in --at w=0.5, not 'w'"
    ),
    ("check", "tiny.py:plain", "--at", "w=mean"): (
        "'mean' for 'w' is neither a Python literal nor a .npy or .csv file; "
        """a string is written --at "w='mean'\""""
    ),
    ("check", "tiny.py:plain", "--at", "q=1"): (
        "plain has no parameter 'q'; it has w, x"
    ),
    ("check", "tiny.py:plain", "--shape", "w=a"): (
        "'a' is no shape for 'w': write its sizes, as in --shape w=64,784"
    ),
    ("check", "tiny.py:plain", "--at", "w=1", "--shape", "w=2"): (
        "'w' is given both a value and a shape"
    ),
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_says_what_is_right(
    arguments: tuple[str, ...], run: Callable[..., Done]
):
    assert run(*arguments) == (2, "", f"symback: {WRONG[arguments]}\n")


class TestUnsupported:
    def test_syntax_is_drawn_with_its_caret(self, run: Callable[..., Done]):
        done = run("show", "tiny.py:opened")
        assert done.status == 2
        assert '    with open("x.txt") as f:\n' in done.err
        assert "^^^^" in done.err
        assert "\nUnsupportedSyntaxError: " in done.err

    def test_array_loss(self, run: Callable[..., Done]):
        done = run("check", "tiny.py:vector", "--at", "w=1.0")
        assert done.status == 2
        assert done.err.startswith("NotScalarError: ")

    def test_unknown_wrt(self, run: Callable[..., Done]):
        done = run("show", "tiny.py:plain", "--wrt", "q")
        assert done.status == 2
        assert done.err.startswith("NotDifferentiableError: ")

    def test_builtin(self, run: Callable[..., Done]):
        done = run("show", "math:hypot")
        assert done.status == 2
        assert done.err.startswith("SourceUnavailableError: ")


class TestTarget:
    def test_a_module_that_fails_says_where(self, run: Callable[..., Done]):
        Path("broken.py").write_text("x = 1\ny = x / 0\n", encoding="utf-8")
        done = run("show", "broken.py:f")
        assert done.status == 2
        assert "importing broken.py failed: ZeroDivisionError: division" in done.err
        assert "broken.py:2" in done.err

    def test_a_module_with_a_syntax_error_says_where(self, run: Callable[..., Done]):
        Path("torn.py").write_text("x = (1\n", encoding="utf-8")
        done = run("show", "torn.py:f")
        assert done.status == 2
        assert "importing torn.py failed: SyntaxError: '(' was never closed" in done.err
        assert "torn.py:1" in done.err

    def test_a_module_that_prints_leaves_the_output_alone(
        self, run: Callable[..., Done]
    ):
        Path("loud.py").write_text("print('hello')\ndef f(x):\n    return x * x\n")
        done = run("show", "loud.py:f", "--json")
        assert json.loads(done.out)["function"] == "loud.py:f"
        assert done.err == "hello\n"

    def test_a_file_of_a_package(self, tiny: Path):
        package = tiny.parent / "some_package"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "parts.py").write_text("half = float\n")
        (package / "model.py").write_text("from .parts import half as loss\n")
        assert find("some_package/model.py:loss") is float

    def test_a_file_named_like_a_library(self, tiny: Path):
        Path("json.py").write_text("def loss(x):\n    return x * x\n")
        assert find("json.py:loss")(3) == 9
        assert sys.modules["json"] is json

    def test_a_name_inside_a_class(self, tiny: Path):
        Path("model.py").write_text("class M:\n    @staticmethod\n    def f(x): ...\n")
        assert find("model.py:M.f").__name__ == "f"


class TestValues:
    def test_literals(self):
        values = read(
            ["a=0.5", "b=[1, 2]", "c=([1.0], [[1.0, 2.0]])", "d={'k': [1]}", "e='s'"],
            [],
            0,
        )
        assert values["a"] == 0.5
        assert values["b"].dtype == int
        assert [type(v) for v in values["c"]] == [np.ndarray, np.ndarray]
        assert isinstance(values["d"]["k"], np.ndarray)
        assert values["e"] == "s"
        assert read(["a=-inf"], [], 0)["a"] == -np.inf

    def test_files(self, tmp_path: Path):
        np.save(tmp_path / "x.npy", np.arange(3.0))
        (tmp_path / "y.csv").write_text("# from somewhere\na,b\n1,2\n3,4\n")
        values = read([f"x={tmp_path / 'x.npy'}", f"y={tmp_path / 'y.csv'}"], [], 0)
        assert values["x"].tolist() == [0, 1, 2]
        assert values["y"].tolist() == [[1, 2], [3, 4]]

    def test_a_file_that_cannot_be_read(self, tmp_path: Path):
        with pytest.raises(ArgumentError, match=r"cannot read 'x' from nowhere\.npy"):
            read(["x=nowhere.npy"], [], 0)

    def test_shapes_are_repeatable(self):
        first, again, other = (read([], ["X=2,3", "s=()"], seed) for seed in (1, 1, 2))
        assert first["X"].shape == (2, 3)
        assert np.ndim(first["s"]) == 0
        assert np.array_equal(first["X"], again["X"])
        assert not np.array_equal(first["X"], other["X"])

    def test_arrangement(self):
        def f(a: Any, b: Any = 1, *rest: Any, c: Any = 2, **more: Any) -> None: ...

        def arranged(**values: Any) -> Any:
            return call_arguments(f, values, "x.py:f", "check")

        assert arranged(a=1) == ([1], {})
        assert arranged(a=1, c=3) == ([1], {"c": 3})
        assert arranged(a=1, b=2, rest=(3, 4)) == ([1, 2, 3, 4], {})
        assert arranged(a=1, more={"k": 5}) == ([1], {"k": 5})
        assert arranged(a=1, z=5) == ([1], {"z": 5})

    def test_suggestion_gives_matrices_shapes(self):
        def f(W: Any, b: Any, X: Any) -> None: ...

        with pytest.raises(ArgumentError) as caught:
            call_arguments(f, {"X": np.ones((4, 2))}, "x.py:f", "check")
        assert str(caught.value) == (
            "no value for W, b; for instance\n"
            "  symback check x.py:f --shape X=4,2 --shape W=3,2 --at b=0.5"
        )


class TestProgram:
    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "symback", *arguments],
            capture_output=True,
            text=True,
        )

    def test_version(self):
        import symback

        done = self.call("--version")
        assert (done.returncode, done.stdout) == (0, f"symback {symback.__version__}\n")

    def test_wrong_command(self):
        done = self.call("frobnicate")
        assert done.returncode == 2
        assert "invalid choice: 'frobnicate'" in done.stderr

    @pytest.mark.parametrize("option", ["--points=0", "--seconds=0", "--digits=x"])
    def test_numbers_that_make_no_sense(self, option: str):
        done = self.call("compare", "x.py:f", option)
        assert done.returncode == 2
        assert f"argument {option.partition('=')[0]}: " in done.stderr

    def test_no_command(self):
        assert self.call().returncode == 2
