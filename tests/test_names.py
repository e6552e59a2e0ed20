"""What names mean is read when the gradient is called; what they are never collides."""

from __future__ import annotations

import functools
import linecache
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symback
from tests.corpus import names_left, names_right

RATE = 2.0
DATA = np.array([1.0, 2.0, 3.0])
TABLE = {"scale": 0.5}
LEVELS = [1.0, 3.0]


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before = dict(globals())
    data, table, levels = DATA.copy(), dict(TABLE), list(LEVELS)
    yield
    globals().update({k: before[k] for k in ("RATE", "DATA", "TABLE", "LEVELS")})
    DATA[:] = data
    TABLE.clear()
    TABLE.update(table)
    LEVELS[:] = levels


@symback.differentiable
def uses_globals(w):
    return np.sum((w * DATA) ** 2) * RATE + TABLE["scale"] * w


def expected(w: float) -> float:
    return 2.0 * w * float(np.sum(DATA**2)) * RATE + TABLE["scale"]


class TestGlobalsAreReadAtTheCall:
    def test_rebound(self):
        global RATE, DATA
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)
        RATE = 7.0
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)
        DATA = np.array([1.0, -1.0])
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)

    def test_changed_in_place(self):
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)
        DATA[0] = 10.0
        TABLE["scale"] = -4.0
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)

    def test_another_type(self):
        global RATE
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)
        RATE = 3
        assert uses_globals.grad_fn(0.5) == pytest.approx(expected(0.5), rel=1e-14)

    def test_another_structure(self):
        @symback.differentiable
        def over_levels(w):
            total = 0.0
            for level in LEVELS:
                total += level * w**2
            return total

        assert over_levels.grad_fn(1.0) == 8.0
        LEVELS.append(6.0)
        assert over_levels.grad_fn(1.0) == 20.0

    def test_a_helper_that_is_replaced(self, monkeypatch: pytest.MonkeyPatch):
        @symback.differentiable
        def f(x):
            return names_left.shape_term(x)

        assert f.grad_fn(1.0) == 4.0
        monkeypatch.setattr(names_left, "shape_term", names_right.shape_term)
        assert f.grad_fn(1.0) == pytest.approx(0.5 * np.exp(0.5), rel=1e-14)

    def test_a_helpers_global(self, monkeypatch: pytest.MonkeyPatch):
        @symback.differentiable
        def f(x):
            return names_left.shape_term(x)

        assert f.grad_fn(1.0) == 4.0
        monkeypatch.setattr(names_left, "SCALE", 5.0)
        assert f.grad_fn(1.0) == 10.0


class TestClosuresAreReadAtTheCall:
    def test_rebound(self):
        rate = 1.0

        @symback.differentiable
        def f(x):
            return rate * x**2

        def change() -> None:
            nonlocal rate
            rate = 5.0

        assert f.grad_fn(1.0) == 2.0
        change()
        assert f.grad_fn(1.0) == 10.0

    def test_changed_in_place(self):
        weights = np.array([1.0, 2.0])
        options = {"p": 2}

        @symback.differentiable
        def f(x):
            return np.sum(weights * x ** options["p"])

        x = np.array([1.0, 1.0])
        np.testing.assert_array_equal(f.grad_fn(x), [2.0, 4.0])
        weights *= 2.0
        options["p"] = 3
        np.testing.assert_array_equal(f.grad_fn(x), [6.0, 12.0])

    def test_two_closures_of_one_function(self):
        def make(k):
            return symback.differentiable(lambda x: k * x)

        two, three = make(2.0), make(3.0)
        assert (two.grad_fn(1.0), three.grad_fn(1.0), two.grad_fn(1.0)) == (
            2.0,
            3.0,
            2.0,
        )

    def test_helpers_defined_below(self):
        @symback.differentiable
        def f(x):
            return below(x) * 2.0

        def below(x):
            return x**3

        assert f.grad_fn(1.0) == 6.0

    def test_attributes_of_self(self):
        class Model:
            def __init__(self):
                self.scale = 2.0

            @symback.differentiable(wrt="x")
            def loss(self, x):
                return self.scale * x**2

        model = Model()
        assert model.loss.grad_fn(1.0) == 4.0
        model.scale = 3.0
        assert model.loss.grad_fn(1.0) == 6.0


# fmt: off
first, second = (lambda x: x**2), (lambda x: x**3)
by_key = {"sin": lambda x: np.sin(x), "cos": lambda x: np.cos(x)}; spare = lambda y: y  # noqa: E702, E731
curried = lambda a: lambda x: a * x  # noqa: E731
# fmt: on


class TestLambdas:
    def test_two_on_a_line(self):
        assert symback.grad(first)(2.0) == 4.0
        assert symback.grad(second)(2.0) == 12.0

    def test_in_a_dict(self):
        assert symback.grad(by_key["sin"])(0.0) == 1.0
        assert symback.grad(by_key["cos"])(0.0) == 0.0
        assert symback.grad(spare)(3.0) == 1.0

    def test_nested(self):
        assert symback.grad(curried(4.0))(1.0) == 4.0

    def test_passed_straight_in(self):
        assert symback.grad(lambda x: x * 3.0)(1.0) == symback.grad(
            lambda x: x + 2.0 * x
        )(1.0)

    def test_as_a_default(self):
        def f(x, g=lambda v: v**2):
            return g(x)

        assert symback.grad(f)(3.0) == 6.0


def traced(fn: Any) -> Any:
    """Return a wrapper as people write them."""

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


class TestDecorators:
    def test_above_another(self):
        @symback.differentiable
        @traced
        def f(x):
            return x**2

        assert f(3.0) == 9.0
        assert f.grad_fn(3.0) == 6.0

    def test_metadata(self):
        @symback.differentiable
        def documented(x):
            """Return the square."""
            return x**2

        assert documented.__name__ == "documented"
        assert documented.__doc__ == "Return the square."
        assert documented.__wrapped__(2.0) == 4.0

    def test_a_cached_helper_of_constants(self):
        calls = []

        @functools.lru_cache
        def grid(n):
            calls.append(n)
            return np.linspace(0.0, 1.0, n)

        @symback.differentiable
        def f(x):
            return np.sum(grid(3) * x)

        assert f.grad_fn(2.0) == 1.5
        assert f.grad_fn(2.0) == 1.5
        assert len(calls) == 1

    def test_pickled(self):
        again = pickle.loads(pickle.dumps(uses_globals))
        assert again.grad_fn(0.5) == uses_globals.grad_fn(0.5)


class TestSources:
    """Notebook cells and other text that stands in linecache only."""

    def cell(self, text: str, name: str) -> dict[str, Any]:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        namespace: dict[str, Any] = {"np": np, "symback": symback}
        exec(compile(text, name, "exec"), namespace)
        return namespace

    def test_a_notebook_cell(self):
        name = "<ipython-input-3-5f2c1a9b7d10>"
        namespace = self.cell("def loss(w):\n    return np.sum(w**2)\n", name)
        gradient = symback.grad(namespace["loss"])(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(gradient, [2.0, 4.0])

    def test_a_cell_run_again(self):
        first = self.cell("def loss(w):\n    return w**2\n", "<ipython-input-4-a>")
        second = self.cell("def loss(w):\n    return w**3\n", "<ipython-input-5-b>")
        assert symback.grad(first["loss"])(2.0) == 4.0
        assert symback.grad(second["loss"])(2.0) == 12.0

    def test_a_decorated_cell(self):
        text = "@symback.differentiable\ndef f(w):\n    '''é'''\n    return 3 * w\n"
        assert self.cell(text, "<ipython-input-6-c>")["f"].grad_fn(1.0) == 3.0

    def test_no_source(self):
        namespace: dict[str, Any] = {}
        exec("def lost(x):\n    return x**2\n", namespace)
        with pytest.raises(symback.SourceUnavailableError):
            symback.grad(namespace["lost"])(1.0)
