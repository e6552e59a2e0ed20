"""What a comparison says of right, wrong, kinked, undefined and endless things."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symback
from symback.verify import Generated, compare
from symback.verify.program import Programs
from tests.verify.models import (
    BLACK_SCHOLES,
    CROSS_ENTROPY,
    NETWORK,
    RECURRENT,
    TINY,
    compared,
    generated,
)

X3 = np.array([0.3, -1.2, 0.8])


def run(fn: Any, source: str, *args: Any, wrt: Any = "x", **options: Any) -> Any:
    return compare(fn, args, {}, wrt=wrt, generate=generated(source), **options)


# ---------------------------------------------------------------- verdicts


def test_tiny_network_row_by_row() -> None:
    found = compared(TINY)
    assert [r.name for r in found.rows] == ["w", "b", "v", "c"]
    assert found.ok
    assert found.coverage.complete
    assert found.coverage.regions == 2
    w = found.rows[0]
    names = {s.name: s for s in w.symbolic.free_symbols}
    at = dict(zip("wbvcxy", (0.5, 0.0, 3.0, -1.0, 2.0, 1.0), strict=True))
    assert float(w.symbolic.subs({names[n]: at[n] for n in names})) == 6.0
    assert (w.symbolic - w.generated).expand() == 0
    assert "error" in w.how
    assert found.raise_if_refuted() is found


def test_forgotten_factor_is_refuted_with_all_that_one_needs() -> None:
    wrong = TINY.source.replace("h_bar = s_bar * v", "h_bar = s_bar")
    found = compared(TINY, wrong)
    verdicts = {r.name: r.verdict for r in found.rows}
    assert verdicts == {"w": "refuted", "b": "refuted", "v": "proved", "c": "proved"}
    row = found.rows[0]
    assert (row.expected, row.got) == (6.0, 2.0)
    assert row.point["w"] == 0.5
    with pytest.raises(symback.RefutedError) as caught:
        found.raise_if_refuted()
    text = str(caught.value)
    pieces = ("by w: expected 6, got 2", "w = 0.5", "h_bar = s_bar", "s = v * h + c")
    for piece in pieces:
        assert piece in text


def test_small_errors_are_found() -> None:
    wrong = NETWORK.source.replace("2.0 / e.size", "2.0000000001 / e.size")
    assert compared(NETWORK, wrong).verdict == "refuted"


def test_wrong_value_is_refuted() -> None:
    found = compared(TINY, TINY.source.replace("0.5 * (s - y)", "0.25 * (s - y)"))
    assert found.verdict == "refuted"
    assert "returns 0.25 where the function is 0.5" in found.failure


def test_wrong_shape_is_refuted() -> None:
    def loss(x):
        return np.sum(x**2)

    source = "def g(x):\n    return np.sum(x**2), np.sum(2 * x)"
    found = run(loss, source, X3)
    assert found.verdict == "refuted"
    assert "shape (), not (3,)" in found.failure


def test_changed_argument_is_refuted() -> None:
    def loss(x):
        return np.sum(x**2)

    source = "def g(x):\n    v = np.sum(x**2)\n    x *= 2\n    return v, x"
    assert "changes the argument x" in run(loss, source, X3).failure


def test_failing_source_is_refuted() -> None:
    def loss(x):
        return np.sum(x**2)

    found = run(loss, "def g(x):\n    return np.sum(x**2), nothing", X3)
    assert found.verdict == "refuted"
    assert "NameError" in found.failure


def test_rounded_constant_agrees_but_is_not_proved() -> None:
    source = BLACK_SCHOLES.source.replace(
        "/ math.sqrt(2 * math.pi)", "* 0.3989422804014327"
    )
    found = compared(BLACK_SCHOLES, source)
    assert found.verdict == "agrees"
    assert "rounding" in found.rows[0].how


def test_small_difference_without_a_constant_is_refuted() -> None:
    def loss(x):
        return np.sin(x)

    source = "def g(x):\n    return np.sin(x), np.cos(x) + np.exp(-50 * x * x - 40)"
    assert run(loss, source, 0.5).verdict == "refuted"


def test_nan_is_never_equality() -> None:
    def loss(x):
        return np.sum(x**2)

    source = "def g(x):\n    return np.sum(x**2), 2 * x + 0 / (x - x)"
    assert run(loss, source, X3).verdict == "refuted"


def test_nan_of_the_function_is_a_finding() -> None:
    def loss(x):
        return np.log(x)

    found = run(loss, "def g(x):\n    return np.log(x), 1 / x", -1.0, points=2)
    assert "the value at your point is nan" in found.findings


# ---------------------------------------------------------------- kinks and branches


def test_kink_is_no_false_alarm() -> None:
    args = (0.0, 0.0, 3.0, -1.0, 2.0, 1.0)
    found = compare(TINY.loss, args, {}, wrt=TINY.wrt, generate=generated(TINY.source))
    assert found.verdict == "proved"
    w, b = found.kinks
    assert (w.name, w.left, w.right, w.generated) == ("w", 0.0, -12.0, 0.0)
    assert (b.name, b.left, b.right) == ("b", 0.0, -6.0)
    assert "slopes 0 (left) and -12 (right)" in str(found)


def test_removable_singularity_is_a_limit() -> None:
    def loss(x):
        return np.linalg.norm(x) ** 2

    good = "def g(x):\n    return np.linalg.norm(x) ** 2, 2 * x"
    bad = "def g(x):\n    return np.linalg.norm(x) ** 2, 2 * x + 1"
    zero = np.zeros(2)
    assert run(loss, good, zero).verdict == "proved"
    assert run(loss, good, zero).kinks == []
    assert run(loss, bad, zero).verdict == "refuted"


def test_every_branch_is_tried() -> None:
    def loss(x):
        if x > 0:
            return x**2
        return -3 * x

    wrong_elsewhere = "def g(x):\n    return (x**2, 2 * x) if x > 0 else (-3 * x, 3.0)"
    found = run(loss, wrong_elsewhere, 1.5)
    assert found.verdict == "refuted"
    assert found.coverage.complete
    one_sided = run(loss, wrong_elsewhere, 1.5, points=0)
    assert one_sided.verdict == "agrees"
    assert "a branch of the gradient was not reached" in one_sided.rows[0].how
    assert not one_sided.coverage.complete
    assert "only true seen" in str(one_sided)
    assert one_sided.region == ("x > 0",)


# ---------------------------------------------------------------- sizes and containers


def test_large_arrays_are_shrunk_and_checked_at_their_sizes() -> None:
    rng = np.random.default_rng(0)

    def loss(W, b, x, labels):
        z = np.tanh(x @ W + b)
        shifted = z - z.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
        return -np.mean(log_p[np.arange(len(labels)), labels])

    args = (
        rng.normal(size=(50, 10)),
        rng.normal(size=10),
        rng.normal(size=(20, 50)),
        rng.integers(0, 10, size=20),
    )
    found = symback.differentiable(loss, wrt=("W", "b")).compare(*args)
    assert found.verdict == "proved"
    assert len(found.rows) < 40
    assert "50 →" in found.sizes
    assert len(found.witnesses) == 2


def test_what_cannot_be_shrunk_says_why() -> None:
    def loss(x):
        return np.sum(x.reshape(40, 25) ** 2) + np.linalg.eigvalsh(np.outer(x, x))[0]

    def generate(args: Any, kwargs: Any) -> Generated:
        return Generated("def g(x):\n    return 0.0, x * 2", "g")

    found = compare(
        loss, (np.arange(1000.0),), {}, wrt="x", generate=generate, seconds=3
    )
    assert any("reshape" in f for f in found.findings)


def test_containers_keep_their_structure() -> None:
    Pair = namedtuple("Pair", "a b")

    @dataclass
    class Layer:
        W: Any
        scale: float

    def loss(p, layer):
        return np.sum((layer.W @ p.a) ** 2) * layer.scale + p.b

    source = """
def g(p, layer):
    t = layer.W @ p.a
    s = np.sum(t**2)
    t_bar = 2 * t * layer.scale
    a = layer.W.T @ t_bar
    layer_bar = type(layer)(np.outer(t_bar, p.a), s)
    return s * layer.scale + p.b, (type(p)(a, 1.0), layer_bar)
"""
    args = (Pair(X3, 2.0), Layer(np.array([[1.0, 2.0, -1.0]]), 0.5))
    found = run(loss, source, *args, wrt=("p", "layer"))
    assert found.verdict == "proved", str(found)
    names = [r.name for r in found.rows]
    assert names[:4] == ["p.a[0]", "p.a[1]", "p.a[2]", "p.b"]
    assert names[-1] == "layer.scale"


SCALE = 2.5
MATRIX = np.arange(12.0).reshape(4, 3)


def test_globals_and_helpers_are_followed() -> None:
    def helper(x):
        return math.exp(SCALE * x)

    def loss(x):
        return np.sum(MATRIX @ x) + sum(helper(v) for v in x)

    source = """
def g(x, MATRIX, SCALE):
    e = np.exp(SCALE * x)
    return np.sum(MATRIX @ x) + np.sum(e), MATRIX.sum(axis=0) + SCALE * e
"""
    found = compare(
        loss,
        (X3,),
        {},
        wrt="x",
        generate=generated(source, MATRIX=MATRIX, SCALE=SCALE),
    )
    assert found.verdict == "proved", str(found)


# ---------------------------------------------------------------- limits


def test_endless_loops_at_random_points_are_left() -> None:
    def loss(a):
        x = a
        while abs(x * x - a) > 1e-9:
            x = 0.5 * (x + a / x)
        return x

    f = symback.differentiable(loss)
    found = f.compare(2.0, seconds=20)
    assert found.verdict == "proved", str(found)
    assert found.seconds < 20


def test_time_out_says_what_was_proved() -> None:
    found = compared(RECURRENT, seconds=0.0)
    assert not found.complete
    assert "0 s are over" in found.unfinished


def test_interrupt_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from symback.verify import proving

    def interrupt(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(proving, "prove", interrupt)
    found = compared(TINY)
    assert found.unfinished.startswith("interrupted")
    assert found.verdict == "agrees"
    assert len(found.rows) == 4


def test_function_without_symbolic_form_is_compared_by_digits() -> None:
    def loss(A):
        w, _ = np.linalg.eigh(A + A.T)
        return np.sum(w**3)

    source = """
def g(A):
    w, v = np.linalg.eigh(A + A.T)
    s_bar = v @ np.diag(3 * w**2) @ v.T
    return np.sum(w**3), s_bar + s_bar.T
"""
    A = np.array([[1.0, 0.3], [0.1, -0.7]])
    found = run(loss, source, A, wrt="A")
    assert found.verdict == "agrees"
    assert any("np.linalg.eigh has no symbolic form" in f for f in found.findings)
    assert any("w, _ = np.linalg.eigh" in f for f in found.findings)
    wrong = run(loss, source.replace("3 * w**2", "2 * w**2"), A, wrt="A")
    assert wrong.verdict == "refuted"


def test_array_result_is_refused() -> None:
    def loss(x):
        return x * 2

    with pytest.raises(symback.NotScalarError, match=r"array of shape \(3,\)"):
        run(loss, "def g(x):\n    return x * 2, x", X3)


def test_unknown_parameter_is_refused() -> None:
    with pytest.raises(symback.NotDifferentiableError, match="`q`"):
        run(lambda x: x, "def g(x):\n    return x, 1.0", 1.0, wrt="q")


def test_caller_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    x = X3.copy()

    def loss(x):
        print("running")
        x *= 2
        return np.sum(x)

    run(loss, "def g(x):\n    return np.sum(2 * x), np.full_like(x, 2.0)", x)
    assert np.array_equal(x, X3)
    assert capsys.readouterr().out == ""


def test_programs_are_the_users_own() -> None:
    """The symbolic side runs the function's own code, with other globals."""
    found = compared(CROSS_ENTROPY)
    assert found.verdict == "proved"
    assert Programs.on_elements.__module__ == "symback.verify.program"


# ---------------------------------------------------------------- printing


def test_table_fits_a_terminal() -> None:
    from symback.show.tables import comparison_text

    found = compared(NETWORK, NETWORK.source.replace("1.0 - h**2", "1.0 + h**2"))
    text = comparison_text(found, width=80)
    table = text.splitlines()[1 : 2 + len(found.rows)]
    assert max(map(len, table)) <= 80
    assert text.startswith("network: refuted")
    assert "culprit:" in text


def test_notebook_typesets_mathematics() -> None:
    html = compared(TINY)._repr_html_()
    assert html.count("<tr>") == 5
    assert "\\displaystyle" in html
    assert "proved" in html
