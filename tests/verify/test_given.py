"""Gradients that a person wrote, judged in place of the generated one."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symback
from symback.adapters.pytest_plugin import assert_gradient, assert_proved
from symback.cli import main

RNG = np.random.default_rng(0)
W, X, Y = RNG.normal(size=3), RNG.normal(size=(5, 3)), RNG.normal(size=5)


def loss(w, b, x, y):
    z = np.tanh(x @ w + b)
    return np.mean((z - y) ** 2)


def by_hand(w, b, x, y):
    z = np.tanh(x @ w + b)
    d = 2 * (z - y) / len(y) * (1 - z**2)
    return x.T @ d, d.sum()


def with_value(w, b, x, y):
    return loss(w, b, x, y), by_hand(w, b, x, y)


def wrong(w, b, x, y):
    z = np.tanh(x @ w + b)
    d = 2 * (z - y) / len(y) * (1 + z**2)
    return x.T @ d, d.sum()


class Model:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def gradient(self, w, b, x, y):
        d_w, d_b = by_hand(w, b, x, y)
        return self.factor * d_w, self.factor * d_b

    def __call__(self, w, b, x, y):
        return self.gradient(w, b, x, y)


def scaled(factor, w, b, x, y):
    return Model(factor)(w, b, x, y)


F = symback.differentiable(loss, wrt=("w", "b"))
ARGS = (W, 0.3, X, Y)


@pytest.mark.parametrize(
    "gradient",
    [
        by_hand,
        with_value,
        lambda w, b, x, y: by_hand(w, b, x, y),
        Model(1.0),
        Model(1.0).gradient,
        functools.partial(scaled, 1.0),
    ],
)
def test_right_ones_are_proved(gradient: Any) -> None:
    assert F.compare(*ARGS, gradient=gradient).verdict == "proved"
    assert F.check(*ARGS, gradient=gradient).ok


@pytest.mark.parametrize(
    "gradient",
    [
        wrong,
        Model(1.001),
        Model(1.001).gradient,
        functools.partial(scaled, -1.0),
        lambda w, b, x, y: w,
        lambda w, b, x, y: (w, b, x),
        lambda w, b, x, y: (w[:2], b),
        lambda w, b, x, y: None,
    ],
)
def test_wrong_ones_are_refuted(gradient: Any) -> None:
    assert F.compare(*ARGS, gradient=gradient).verdict == "refuted"
    assert not F.check(*ARGS, gradient=gradient).ok


def test_a_wrong_value_is_refuted() -> None:
    def halved(w, b, x, y):
        return 0.5 * loss(w, b, x, y), by_hand(w, b, x, y)

    found = F.compare(*ARGS, gradient=halved)
    assert found.verdict == "refuted"
    assert "`halved` returns" in found.failure
    assert not F.check(*ARGS, gradient=halved).ok


def test_the_culprit_names_the_line_of_the_gradient() -> None:
    found = F.compare(*ARGS, gradient=wrong)
    assert found.culprit is not None
    assert found.culprit.code == "z = np.tanh(x @ w + b)"
    assert found.culprit.emitted == "d = 2 * (z - y) / len(y) * (1 + z**2)"
    line = found.culprit.emitted_line
    assert "(1 + z**2)" in Path(__file__).read_text().splitlines()[line - 1]
    assert f"test_given.py:{line}: d = " in str(found)
    with pytest.raises(symback.RefutedError, match="`wrong` is no gradient of loss"):
        found.raise_if_refuted()


def test_pairs_are_told_from_value_and_gradient() -> None:
    def product(p, q):
        return p * q

    two = symback.differentiable(product, wrt=("p", "q"))
    assert two.compare(2.0, 3.0, gradient=lambda p, q: (q, p)).verdict == "proved"
    valued = two.compare(2.0, 3.0, gradient=lambda p, q: (p * q, (q, p)))
    assert valued.verdict == "proved"
    one = symback.differentiable(lambda p: p[0] * p[1])
    held = one.compare((2.0, 3.0), gradient=lambda p: (p[1], p[0]))
    assert held.verdict == "proved"


def test_helpers_of_tests_take_a_gradient() -> None:
    assert_gradient(loss, *ARGS, wrt=("w", "b"), gradient=by_hand)
    assert_proved(loss, *ARGS, wrt=("w", "b"), gradient=by_hand)
    with pytest.raises(AssertionError):
        assert_gradient(loss, *ARGS, wrt=("w", "b"), gradient=wrong)
    with pytest.raises(AssertionError):
        assert_proved(loss, *ARGS, wrt=("w", "b"), gradient=wrong)


def test_the_command_takes_a_gradient(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "judged_by_command.py"
    file.write_text(
        "import numpy as np\n\n\n"
        "def f(x):\n    return np.sin(x) * x\n\n\n"
        "def good(x):\n    return np.sin(x) + x * np.cos(x)\n\n\n"
        "def bad(x):\n    return np.sin(x) - x * np.cos(x)\n"
    )
    for command in ("compare", "check"):
        for name, status in (("good", 0), ("bad", 1)):
            call = [command, f"{file}:f", "--at", "x=0.7"]
            assert main([*call, "--gradient", f"{file}:{name}"]) == status
            assert "f: " in capsys.readouterr().out


def test_options_with_the_names_of_parameters_are_refused() -> None:
    @symback.differentiable
    def f(x, points, seed=2.0):
        return x * points * seed

    assert f.compare(1.0, 2.0, 3.0).ok
    assert f.check(1.0, 2.0, 3.0).ok
    with pytest.raises(symback.NotDifferentiableError, match="`points` is a parameter"):
        f.compare(1.0, points=2)
    with pytest.raises(symback.NotDifferentiableError, match="`seed` is a parameter"):
        f.check(1.0, 2.0, seed=3)
