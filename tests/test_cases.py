"""Functions on which gradient tools are known to fail, with verified gradients.

`cases.json` holds values computed at 60 digits.  Where a function has no derivative
at the point, `grad` is what docs/conventions.md promises, and nothing else passes.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symback
from tests import oracle
from tests.standalone import run_generic, run_specialised

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads(Path(__file__).with_name("cases.json").read_text())
}

#: Where no convention decides, every answer that the file calls defensible passes:
#: the edge of a domain, and an angle at the origin.
UNDECIDED = {"sqrt_then_square_at_zero", "arctan2_origin"}

#: The file gives the symmetrised gradient first, and that of the triangle which NumPy
#: reads as another answer: the second one is the convention here.
ONE_TRIANGLE = {"cholesky_logdet_sym"}

#: The NumPy or SciPy function has no rule yet.  An id leaves this list with the rule.
WITHOUT_A_RULE: set[str] = set()

#: Recurses until a parameter ends: how often depends on what it is.
NEEDS_ARGUMENTS = {"recursion_helper"}


def argument(spec: dict[str, Any]) -> Any:
    """Return an argument: a Python number or a NumPy array."""
    if spec["kind"] == "scalar":
        return int(spec["value"]) if "int" in spec["dtype"] else float(spec["value"])
    return np.array(spec["value"], dtype=spec["dtype"])


@pytest.fixture(scope="session")
def function(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Return a function that imports the `f` of a case from a file of its own."""
    folder = tmp_path_factory.mktemp("cases")
    loaded: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in loaded:
            path = folder / f"{name}.py"
            path.write_text(CASES[name]["code"])
            spec = importlib.util.spec_from_file_location(f"case_{name}", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            loaded[name] = module.f
        return loaded[name]

    return get


def differentiable(case: dict[str, Any], fn: Any) -> Any:
    return symback.differentiable(fn, wrt=tuple(case["wrt"]))


def faults(case: dict[str, Any], gradient: Any, expected: list[Any]) -> list[str]:
    """Say where a gradient is not the expected one; NaN only where NaN is expected."""
    found = []
    assert len(gradient) == len(expected)
    for position, got, want in zip(case["wrt"], gradient, expected, strict=True):
        parameter = argument(case["args"][position])
        found += oracle.same_structure(got, parameter, f"argument {position}")
        want = np.array(want, dtype=float)
        if np.shape(got) != want.shape:
            found.append(f"argument {position}: shape {np.shape(got)}")
            continue
        close = np.isclose(
            got, want, rtol=case["rtol"], atol=case["atol"], equal_nan=False
        ) | (np.isnan(want) & np.isnan(got))
        if not np.all(close):
            found.append(f"argument {position}: {got!r}, expected {want!r}")
    return found


def assert_gradient(case: dict[str, Any], gradient: Any) -> None:
    accepted = [case["grad"]]
    if case["id"] in UNDECIDED:
        accepted += case["also_ok"]
    if case["id"] in ONE_TRIANGLE:
        accepted = case["also_ok"]
    results = [faults(case, gradient, expected) for expected in accepted]
    assert [] in results, "\n".join(results[0])


def assert_value(case: dict[str, Any], value: Any) -> None:
    assert np.isclose(value, case["value"], rtol=case["rtol"], atol=case["atol"])


def test_all_cases_are_here():
    assert len(CASES) == 91
    assert set(CASES) >= UNDECIDED | ONE_TRIANGLE | WITHOUT_A_RULE


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the user's own 1/0 and 0*inf
@pytest.mark.parametrize("name", [n for n in CASES if n not in WITHOUT_A_RULE])
class TestCase:
    def test_specialised(self, name: str, function: Callable[[str], Any]):
        case = CASES[name]
        f = differentiable(case, function(name))
        args = [argument(a) for a in case["args"]]
        value, gradient = f.value_and_grad_fn(*args)
        assert_value(case, value)
        assert_gradient(case, gradient)
        assert_gradient(case, f.grad_fn(*args))
        for spec, arg in zip(case["args"], args, strict=True):
            assert oracle.unchanged(arg, argument(spec))
        if "expect_dtype" in case:
            for part in gradient:
                assert np.asarray(part).dtype == case["expect_dtype"]

    def test_source(self, name: str, function: Callable[[str], Any]):
        case = CASES[name]
        f = differentiable(case, function(name))
        args = [argument(a) for a in case["args"]]
        value, gradient = run_specialised(f, tuple(case["wrt"]), args, {})
        assert_value(case, value)
        assert_gradient(case, gradient)

    def test_generic_source(self, name: str, function: Callable[[str], Any]):
        case = CASES[name]
        f = differentiable(case, function(name))
        args = [argument(a) for a in case["args"]]
        if name in NEEDS_ARGUMENTS:
            with pytest.raises(symback.UnsupportedSyntaxError) as refusal:
                f.backward_source  # noqa: B018 - a property that refuses
            assert "backward_source_for" in "".join(refusal.value.__notes__)
            return
        value, gradient = run_generic(f, tuple(case["wrt"]), args, {})
        assert_value(case, value)
        assert_gradient(case, gradient)


def test_without_a_rule(function: Callable[[str], Any]):
    for name in sorted(WITHOUT_A_RULE):
        case = CASES[name]
        f = differentiable(case, function(name))
        with pytest.raises(symback.MissingRuleError):
            f.grad_fn(*[argument(a) for a in case["args"]])
