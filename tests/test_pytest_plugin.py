"""The pytest plugin, as other people's tests use it."""

from __future__ import annotations

import importlib.metadata
import textwrap

import numpy as np
import pytest

import symback
from symback.adapters.pytest_plugin import assert_gradient, assert_proved

pytest_plugins = ["pytester"]

INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="symback"))


def energy(w: float, x: np.ndarray, n: int) -> float:
    """Return n times the sum of squares of w x."""
    return n * np.sum((w * x) ** 2)


def one_factor_short(w: float) -> float:
    return 3.0 * w**2


class TestGradient:
    def test_plain_function_by_all_its_floats(self):
        found = assert_gradient(energy, 2.0, np.array([1.0, -3.0]), 2)
        # 2 n w x·x = 80, 2 n w² x = (16, −48); n is an integer, and no parameter.
        labels = [row.label for row in found.rows]
        assert labels == ["w", "x[0]", "x[1]"]
        assert [row.generated for row in found.rows] == [80.0, 16.0, -48.0]

    def test_some_parameters(self):
        found = assert_gradient(energy, 2.0, np.array([1.0, -3.0]), n=2, wrt="x")
        assert [row.label for row in found.rows] == ["x[0]", "x[1]"]

    def test_decorated_function_by_its_own_parameters(self):
        decorated = symback.differentiable(energy, wrt="w")
        found = assert_gradient(decorated, 2.0, np.array([1.0, -3.0]), 2)
        assert [row.label for row in found.rows] == ["w"]

    def test_options_of_the_check(self):
        found = assert_gradient(
            energy, 2.0, np.ones(3), 1, wrt="x", step=1e-3, per_coordinate=False
        )
        assert [row.direction for row in found.rows] == [1, 2, 3]

    def test_no_floats(self):
        with pytest.raises(
            symback.NotDifferentiableError,
            match="no argument of `energy` is a float or an array of floats",
        ):
            assert_gradient(energy, 1, np.arange(3), 1)


class TestProved:
    def test_proved(self):
        assert assert_proved(one_factor_short, 2.0).verdict == "proved"

    def test_less_than_proved_fails(self, monkeypatch: pytest.MonkeyPatch):
        class Agrees:
            verdict = "agrees"

            def __str__(self) -> str:
                return "the table"

        monkeypatch.setattr(
            symback.DifferentiableFunction, "compare", lambda *a, **k: Agrees()
        )
        with pytest.raises(AssertionError, match=r"\Athe table\Z"):
            assert_proved(one_factor_short, 2.0)


BREAK_THE_RULE_OF_SIN = """
    import dataclasses

    from symback.operations import REGISTRY

    REGISTRY["np.sin"] = dataclasses.replace(
        REGISTRY["np.sin"], texts=("2 * np.cos(x)",)
    )
"""


def run(pytester: pytest.Pytester, test: str, conftest: str = "") -> pytest.RunResult:
    """Run a test file in a project of its own, which knows of symback by its plugin."""
    pytester.makeconftest(textwrap.dedent(conftest))
    pytester.makepyfile(textwrap.dedent(test))
    loaded = [] if INSTALLED else ["-p", "symback.adapters.pytest_plugin"]
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *loaded)


class TestInAProject:
    def test_fixtures(self, pytester: pytest.Pytester):
        result = run(
            pytester,
            """
            def cube(x):
                return x**3

            def test_gradient(assert_gradient):
                assert_gradient(cube, 2.0)

            def test_proof(assert_proved):
                assert_proved(cube, 2.0)
            """,
        )
        result.assert_outcomes(passed=2)

    def test_a_failure_is_the_table_and_the_culprit(self, pytester: pytest.Pytester):
        result = run(
            pytester,
            """
            import numpy as np

            from symback.adapters.pytest_plugin import assert_gradient

            def wave(x):
                return np.sin(x)

            def test_gradient():
                assert_gradient(wave, 0.0)
            """,
            BREAK_THE_RULE_OF_SIN,
        )
        result.assert_outcomes(failed=1)
        lines = [line[8:] for line in result.outlines if line.startswith("E ")]
        (emitted,) = (line for line in lines if "emitted line" in line)
        assert emitted.endswith(": x_bar = 2.0 * math.cos(x)")
        lines.remove(emitted)
        file = "test_a_failure_is_the_table_and_the_culprit.py"
        # The slope of sin at 0 is 1; the rule gives twice that.
        assert lines == [
            "AssertionError: wave: gradient is WRONG (1 wrong)",
            "   entry  generated  differences  relative",
            "─  ─────  ─────────  ───────────  ────────  ─────",
            "✗  x      2          1            5e-01     wrong",
            "x: the gradient is 2 times the slope: a factor 2 too many",
            f"culprit: {file}:6  return np.sin(x)",
            "  the derivative of np.sin by x is wrong",
            "  what it sends back to x is 2 times the slope: a factor 2 too many",
        ]
        # The traceback ends at the test: nothing of symback's is shown.
        assert not any("pytest_plugin.py" in line for line in result.outlines)
        assert any(line.endswith(": AssertionError") for line in result.outlines)

    def test_a_failed_proof_is_the_table(self, pytester: pytest.Pytester):
        result = run(
            pytester,
            """
            import numpy as np

            def wave(x):
                return np.sin(x)

            def test_proof(assert_proved):
                assert_proved(wave, 0.0)
            """,
            BREAK_THE_RULE_OF_SIN,
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["E*AssertionError: wave: refuted (1 refuted)"])
        assert not any("pytest_plugin.py" in line for line in result.outlines)
