"""The witness of a first call: it fires on what is wrong, and on nothing else."""

from __future__ import annotations

import dataclasses
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symback
from symback import InternalError, infer, runtime
from symback.api import cache
from symback.graph import Graph, Node
from symback.lower import rules
from symback.operation import operation
from symback.operations import registry
from symback.run import specialise
from symback.run.copies import alike, changed
from symback.run.witness import Witness

X = np.array([0.3, -0.7, 1.1])


def values(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return symback.differentiable(f, **options).value_and_grad_fn(*args)


# Every stage, broken on purpose


def smooth(x):
    y = np.tanh(x) - 0.5 * x
    return np.sum(y * np.sin(x))


def broadcast(b, A):
    return np.sum((A * b) ** 2)


def convolved(x):
    return np.sum(np.kron(x, X) ** 2 * np.arange(9.0))


def with_nodes(graph: Graph, change: Callable[[Node], Node]) -> Graph:
    """Return a graph with its outermost nodes changed."""
    block = dataclasses.replace(
        graph.block, nodes=tuple(map(change, graph.block.nodes))
    )
    return dataclasses.replace(graph, block=block)


def broken_lowering(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(registry.OPERATORS, "Sub", "add")


def broken_rule(patch: pytest.MonkeyPatch) -> None:
    rule = registry.REGISTRY["np.tanh"]
    wrong = dataclasses.replace(rule, texts=("1 - out",))
    patch.setattr(operation("np.tanh"), "rule", wrong)


@pytest.fixture(autouse=True)
def nothing_broken_is_kept() -> Iterator[None]:
    """Forget the graphs of rules that were lowered while a stage was broken."""
    yield
    rules._fragments.clear()


def broken_types(patch: pytest.MonkeyPatch) -> None:
    """Every dimension is called `n`: nothing seems to be broadcast."""
    patch.setattr(infer.Sampler, "dim", lambda self, *sizes: "n")


def broken_transform(patch: pytest.MonkeyPatch) -> None:
    """Cotangents of several uses are subtracted."""
    real = specialise.differentiate

    def lossy(*args: Any, **kwargs: Any) -> Any:
        joint = real(*args, **kwargs)

        def change(node: Node) -> Node:
            if node.op == "add" and node.role == "backward":
                return dataclasses.replace(node, op=operation("sub"))
            return node

        return dataclasses.replace(joint, graph=with_nodes(joint.graph, change))

    patch.setattr(specialise, "differentiate", lossy)


def broken_pass(patch: pytest.MonkeyPatch) -> None:
    """One operand of a product is taken for the other."""
    real = specialise.tidy

    def change(node: Node) -> Node:
        if node.op == "mul":
            return dataclasses.replace(node, args=(node.args[0], node.args[0]))
        return node

    patch.setattr(specialise, "tidy", lambda g, *a: with_nodes(real(g, *a), change))


def broken_emission(patch: pytest.MonkeyPatch) -> None:
    real = specialise.emit

    def misprinted(*args: Any, **kwargs: Any) -> str:
        text: str = real(*args, **kwargs)
        return text.replace("np.cos", "np.sin")

    patch.setattr(specialise, "emit", misprinted)


def broken_loading(patch: pytest.MonkeyPatch) -> None:
    real = specialise.load

    def misread(text: str, *rest: Any) -> Any:
        return real(text.replace("np.sin", "np.cos"), *rest)

    patch.setattr(specialise, "load", misread)


def broken_runtime(patch: pytest.MonkeyPatch) -> None:
    """Of repeated places only the last is counted."""

    def last_only(out_bar: Any, places: Any, x: Any) -> Any:
        made = np.zeros_like(x)
        made.reshape(-1)[places] = out_bar
        return made

    last_only.__module__, last_only.__name__ = "symback.runtime", "gather_pullback"
    patch.setattr(runtime, "gather_pullback", last_only)


STAGES = [
    (broken_lowering, smooth, (X,)),
    (broken_rule, smooth, (X,)),
    (broken_types, broadcast, (X[None], np.ones((4, 3)))),
    (broken_transform, smooth, (X,)),
    (broken_pass, smooth, (X,)),
    (broken_emission, smooth, (X,)),
    (broken_loading, smooth, (X,)),
    (broken_runtime, convolved, (X,)),
]


@pytest.mark.parametrize(("sabotage", "f", "args"), STAGES)
def test_a_broken_stage_is_noticed(sabotage: Any, f: Any, args: Any, monkeypatch: Any):
    values(f, *args)
    sabotage(monkeypatch)
    with pytest.raises(InternalError) as caught:
        values(f, *args)
    text = str(caught.value)
    assert f"`{f.__name__}`" in text or "gradient of `" in text
    assert "graph " in text
    assert "NumPy" in text
    assert "witness=None" in text
    # Without the witness there would be a wrong number, or none.
    try:
        value, gradient = values(f, *args, witness=None)
    except (ValueError, TypeError):
        return
    assert (
        not np.isclose(value, f(*args))
        or np.shape(gradient) != args[0].shape
        or not (np.allclose(gradient, differences_of(f, args)))
    )


def differences_of(f: Any, args: Any) -> Any:
    x, *rest = args
    steps = 1e-6 * np.eye(len(x))
    return [(f(x + h, *rest) - f(x - h, *rest)) / 2e-6 for h in steps]


def test_the_wrong_derivative_is_named(monkeypatch: pytest.MonkeyPatch):
    broken_rule(monkeypatch)
    with pytest.raises(InternalError) as caught:
        values(smooth, X)
    assert "the derivative of np." in str(caught.value)
    assert "emitted line" in str(caught.value)


def test_the_first_name_that_differs_is_told(monkeypatch: pytest.MonkeyPatch):
    broken_lowering(monkeypatch)
    with pytest.raises(InternalError) as caught:
        values(smooth, X)
    line = smooth.__code__.co_firstlineno + 1
    assert f"`y` (test_witness.py:{line}) is [0.141" in str(caught.value)


def test_nothing_contradicted_is_remembered(monkeypatch: pytest.MonkeyPatch):
    broken_rule(monkeypatch)
    f = symback.differentiable(smooth)
    for _ in range(3):
        with pytest.raises(InternalError, match="slope"):
            f.grad_fn(X)


def test_what_the_value_alone_sees(monkeypatch: pytest.MonkeyPatch):
    broken_rule(monkeypatch)
    values(smooth, X, witness="value")
    broken_lowering(monkeypatch)
    with pytest.raises(InternalError, match="returns"):
        values(smooth, X, witness="value")
    values(smooth, X, witness=None)


@pytest.mark.parametrize("mode", ["gradient", "value", "none", ""])
def test_the_environment_decides(mode: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SYMBACK_WITNESS", mode)
    broken_rule(monkeypatch)
    if mode == "gradient":
        with pytest.raises(InternalError):
            values(smooth, X, witness=None)
    else:
        values(smooth, X, witness=None)
        if not mode:
            with pytest.raises(InternalError):
                symback.grad(smooth)(X)
        else:
            symback.grad(smooth)(X)


def test_modes_that_there_are_not(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(symback.SymbackError, match="witness='all'"):
        symback.differentiable(smooth, witness="all")  # type: ignore[call-overload]
    monkeypatch.setenv("SYMBACK_WITNESS", "everything")
    with pytest.raises(symback.SymbackError, match="SYMBACK_WITNESS='everything'"):
        symback.grad(smooth)(X)


def test_the_mode_is_kept():
    f = symback.differentiable(smooth, witness=None)
    assert pickle.loads(pickle.dumps(f))._witness is None
    assert symback.grad(f).differentiable._witness is None


# How often the user's function runs


def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each run of a user's function by the witness."""
    noted: list[str] = []
    real = Witness._theirs

    def theirs(self: Witness, bound: Any) -> Any:
        noted.append("value")
        return real(self, bound)

    real_at = Witness._value_at

    def value_at(self: Witness, *rest: Any) -> float:
        noted.append("slope")
        return real_at(self, *rest)

    monkeypatch.setattr(Witness, "_theirs", theirs)
    monkeypatch.setattr(Witness, "_value_at", value_at)
    return noted


def test_only_the_first_call_pays(monkeypatch: pytest.MonkeyPatch):
    noted = runs(monkeypatch)
    f = symback.differentiable(smooth)
    f.grad_fn(X)
    assert noted == ["value", *["slope"] * 4]
    for _ in range(5):
        f.grad_fn(X + 1)
        f.value_and_grad_fn(X)
    assert len(noted) == 5


def test_texts_alone_run_nothing(monkeypatch: pytest.MonkeyPatch):
    noted = runs(monkeypatch)
    f = symback.differentiable(smooth)
    f.backward_source_for(X)
    f.graph_for(X)
    assert noted == []
    f.grad_fn(X)
    assert noted[0] == "value"


def test_a_walk_through_sizes(monkeypatch: pytest.MonkeyPatch):
    noted = runs(monkeypatch)
    f = symback.differentiable(smooth)
    f.grad_fn(X)
    del noted[:]
    for size in range(4, 104):
        f.grad_fn(np.linspace(0.1, 0.9, size))
    assert set(noted) == {"value"}
    assert len(noted) <= 3 + 5
    # Lengths 0 and 1 are types of their own.
    del noted[:]
    f.grad_fn(np.ones(1))
    f.grad_fn(np.ones(0))
    assert noted.count("value") == 2


def test_a_slow_function_is_run_once(monkeypatch: pytest.MonkeyPatch):
    noted = runs(monkeypatch)
    monkeypatch.setattr("symback.run.witness.SLOW", 0.0)
    values(smooth, X)
    assert noted == ["value"]


def test_one_that_prints_is_not_run(capsys: pytest.CaptureFixture[str]):
    def loud(x):
        print("here", len(x))
        return np.sum(x**2)

    values(loud, X)
    assert capsys.readouterr().out == "here 3\n"


def test_draws_of_a_generator_are_the_same():
    def noisy(x, rng):
        return np.sum((x + rng.normal(size=3)) ** 2)

    rng = np.random.default_rng(3)
    value, gradient = values(noisy, X, rng)
    again = np.random.default_rng(3)
    expected = X + again.normal(size=3)
    assert np.isclose(value, np.sum(expected**2))
    assert np.allclose(gradient, 2 * expected)
    assert rng.normal() == again.normal()


# Arguments


def test_copies_share_memory_as_the_arguments_do():
    base = np.arange(24.0).reshape(4, 6)
    given = (base, base[1], base.T, [base[::-1, ::2]], {"a": base}, np.ones(3))
    copies = alike(given)
    assert copies[4]["a"] is copies[0]
    copies[0][...] += 1
    assert np.array_equal(copies[1], base[1] + 1)
    assert np.array_equal(copies[2], base.T + 1)
    assert np.array_equal(copies[3][0], base[::-1, ::2] + 1)
    assert copies[3][0].strides == given[3][0].strides  # type: ignore[attr-defined]
    assert np.array_equal(base, np.arange(24.0).reshape(4, 6))
    assert changed(given, copies, "x") is not None
    copies[0][...] -= 1
    assert changed(given, copies, "x") is None


def test_shared_containers_stay_shared():
    inner = [1.0]
    first, second = alike((inner, inner))
    first.append(2.0)
    assert second == [1.0, 2.0]
    assert inner == [1.0]


def test_odd_arrays_are_copied():
    frozen = np.broadcast_to(np.arange(3.0), (4, 3))
    (copied,) = alike((frozen,))
    assert not copied.flags.writeable
    assert copied.strides == frozen.strides
    (empty, scalar) = alike((np.zeros((0, 3)), np.array(2.0)))
    assert empty.shape == (0, 3)
    assert scalar.shape == ()
    records = np.zeros(2, dtype=[("a", float), ("b", int)])
    assert changed(records["a"], alike(records["a"]), "x") is None


def test_what_the_function_writes_stays_in_copies():
    def writes(x, A):
        A[0] = x**2
        x[1] = 0.0
        return np.sum(A) + np.sum(x)

    x, A = X.copy(), np.ones((2, 3))
    values(writes, x, A)
    assert np.array_equal(x, X)
    assert np.array_equal(A, np.ones((2, 3)))


@pytest.mark.filterwarnings("ignore")
def test_an_argument_that_is_changed_is_put_right(monkeypatch: pytest.MonkeyPatch):
    real = specialise.emit

    def writing(*args: Any, **kwargs: Any) -> str:
        text: str = real(*args, **kwargs)
        head, colon, body = text.partition("(x):\n")
        return head + colon + "    x[0] = 5.0\n" + body

    monkeypatch.setattr(specialise, "emit", writing)
    x = X.copy()
    with pytest.raises(InternalError, match="changed `x`"):
        values(smooth, x)
    assert np.array_equal(x, X)


def test_a_gradient_that_is_an_argument(monkeypatch: pytest.MonkeyPatch):
    real = specialise.load

    def lending(*args: Any) -> Any:
        f = real(*args)
        return lambda x: (f(x)[0], x)

    monkeypatch.setattr(specialise, "load", lending)
    with pytest.raises(InternalError, match="shares memory with an argument"):
        values(lambda x: np.sum(x**2) / 2, X)


# Exceptions


def test_both_raise():
    def checked(x):
        if x[0] > 0:
            raise ValueError("positive")
        return np.sum(x)

    with pytest.raises(ValueError, match="positive"):
        values(checked, X)


def test_only_one_raises(monkeypatch: pytest.MonkeyPatch):
    def checked(x):
        assert x[0] < 0
        return np.sum(np.sin(x))

    broken = specialise.load

    def unchecked(text: str, *rest: Any) -> Any:
        return broken(text.replace("assert x[0] < 0", "pass"), *rest)

    monkeypatch.setattr(specialise, "load", unchecked)
    with pytest.raises(InternalError, match="`checked` raises AssertionError"):
        values(checked, X)

    def failing(text: str, *rest: Any) -> Any:
        return broken(text.replace("np.sum", "np.no_such"), *rest)

    monkeypatch.setattr(specialise, "load", failing)
    with pytest.raises(InternalError, match="generated function raises AttributeErr"):
        values(checked, -np.abs(X))


# No false alarms


def chaotic(x):
    y = x
    for _ in range(90):
        y = 3.99 * y * (1 - y)
    return y


def cancels(x):
    return np.sum(x * x) - np.sum(x) ** 2 / len(x)


def absorbed(x):
    return 1e6 * (1 - 1 / (1 + math_exp(-40 * x)))


def math_exp(x):
    return np.exp(x)


def one_point(x):
    return np.sum(np.where(x == 0, 0.0, 2 * x))


def corner(x):
    return np.sum(np.abs(x)) + np.max(x)


def by_sign(x):
    return np.sum(np.sign(x) ** 2 * x)


def rounded(x):
    return np.sum(np.round(x * 1e3) / 1e3 * 1.0) + np.sum(x)


def edge(x):
    return np.sum(np.sqrt(x))


def single(x):
    return np.sum(np.exp(x) * x) / np.float32(3.0)


def remainders(x):
    return np.sum(x % 0.01)


def missing(x):
    return np.nansum(x**2)


def infinite(x):
    return np.sum(1 / x)


def huge(x):
    return np.sum(x**2) * 1e-300


RIGHT = [
    (chaotic, 0.3),
    (cancels, 1e8 + np.linspace(0, 1, 50)),
    (absorbed, 1.0),
    (one_point, np.zeros(3)),
    (one_point, np.array([0.0, 1.0, 2.0])),
    (corner, np.zeros(3)),
    (corner, np.ones(3)),
    (by_sign, np.zeros(3)),
    (rounded, X),
    (edge, np.array([0.0, 1.0])),
    (single, np.linspace(-2, 2, 40, dtype=np.float32)),
    (remainders, X),
    (missing, np.array([1.0, np.nan, 2.0])),
    (infinite, np.array([0.0, 1.0])),
    (huge, X * 1e150),
    (huge, X * 1e-150),
    (smooth, np.zeros(0)),
    (smooth, np.array([1e-200, 1.0, 1e200])),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "x"), RIGHT)
def test_no_false_alarm(f: Any, x: Any):
    with np.errstate(all="ignore"):
        value, _ = values(f, x)
        assert np.isclose(value, f(x), rtol=1e-5, equal_nan=True) or f is chaotic


def test_warnings_are_not_given_twice():
    def logs(x):
        return np.sum(np.log(x))

    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        values(logs, np.array([-1.0, 2.0]))
    assert len(given) <= 2
    assert all("symback" in str(w.filename) for w in given)


def test_the_callers_error_state_holds():
    def logs(x):
        return np.sum(np.log(x))

    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        values(logs, np.array([-1.0, 2.0]))


def test_threads_at_their_first_call():
    f = symback.differentiable(smooth)
    before = list(warnings.filters)
    results: list[Any] = []

    def work() -> None:
        results.append(f.grad_fn(X))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(results) == 8
    assert all(np.array_equal(r, results[0]) for r in results)
    assert list(warnings.filters) == before


@pytest.mark.parametrize(("f", "x"), [(lambda x: x * x, 2.0), (smooth, X)])
def test_later_calls_do_not_reach_the_witness(f: Any, x: Any, monkeypatch: Any):
    entry = symback.differentiable(f).value_and_grad_fn
    entry(x)
    monkeypatch.setattr(cache.Cached, "_first", None)
    entry(x)
