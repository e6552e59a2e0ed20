"""Hand-worked values where there is no derivative, and where formulas would break."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.rules.evaluate import call_text, function_of, pull, rule_of

INF, NAN = np.inf, np.nan


def bars(op: str, *args: Any, active: int = 1, **kwargs: Any) -> dict[str, Any]:
    """Return the cotangents of a call, for a cotangent of ones."""
    function = function_of(op)
    assert function is not None
    out = function(*args, **kwargs)
    one = 1.0 if np.ndim(out) == 0 else np.ones_like(out)
    return pull(rule_of(op), args, kwargs, one, active)


@pytest.mark.parametrize(
    ("op", "args", "want"),
    [
        # A tie with a constant goes to the constant.
        ("np.maximum", (0.0, 0.0), {"x": 0.0, "y": 0.0}),
        ("np.minimum", (0.0, 0.0), {"x": 0.0, "y": 0.0}),
        ("builtins.max", (0.0, 0.0), {"x": 0.0, "y": 0.0}),
        ("np.fmax", (1.0, NAN), {"x": 1.0, "y": 0.0}),
        ("np.fmin", (NAN, 1.0), {"x": 0.0, "y": 1.0}),
        ("np.abs", (0.0,), {"x": 0.0}),
        ("builtins.abs", (0.0,), {"x": 0.0}),
        ("math.fabs", (0.0,), {"x": 0.0}),
        ("np.hypot", (0.0, 0.0), {"x": 0.0, "y": 0.0}),
        ("math.hypot", (0.0, 0.0), {"coordinates": [0.0, 0.0]}),
        # Powers: constants at 0 and 1, negative bases with whole exponents.
        ("pow", (0.0, 0), {"x": 0.0, "y": 0.0}),
        ("pow", (0.0, 1), {"x": 1.0, "y": 0.0}),
        ("pow", (0.0, 2), {"x": 0.0, "y": 0.0}),
        ("pow", (0.0, 1.5), {"x": 0.0, "y": 0.0}),
        ("pow", (3.0, 2), {"x": 6.0, "y": 9.0 * math.log(3.0)}),
        ("pow", (4.0, 0.5), {"x": 0.25, "y": 2.0 * math.log(4.0)}),
        ("pow", (4.0, -1), {"x": -0.0625, "y": 0.25 * math.log(4.0)}),
        ("np.sinc", (0.0,), {"x": 0.0}),
        ("np.logaddexp", (-INF, -INF), {"x": 0.5, "y": 0.5}),
        ("np.logaddexp", (-INF, 1.0), {"x": 0.0, "y": 1.0}),
        ("np.logaddexp", (2.0, 2.0), {"x": 0.5, "y": 0.5}),
        ("scipy.special.xlogy", (0.0, 2.0), {"x": math.log(2.0), "y": 0.0}),
        ("scipy.special.xlogy", (0.0, 0.0), {"x": -INF, "y": 0.0}),
        ("scipy.special.xlog1py", (0.0, -1.0), {"x": -INF, "y": 0.0}),
        ("scipy.special.entr", (0.0,), {"x": INF}),
        ("scipy.special.huber", (1.0, 1.0), {"delta": 0.0, "r": 1.0}),
        ("np.copysign", (0.0, -1.0), {"x": 0.0}),
        ("np.nan_to_num", (NAN,), {"x": 0.0}),
        ("np.nan_to_num", (INF,), {"x": 0.0}),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # log(0)
def test_scalar(op: str, args: tuple[Any, ...], want: dict[str, Any]) -> None:
    got = bars(op, *args)
    assert {name: got[name] for name in want} == want


@pytest.mark.parametrize("op", ["np.maximum", "np.minimum", "builtins.max", "np.fmin"])
def test_two_active_values_share_a_tie(op: str) -> None:
    assert bars(op, 1.0, 1.0, active=2) == {"x": 0.5, "y": 0.5}
    assert bars(op, 1.0, 1.0, active=2) == {"x": 0.5, "y": 0.5}
    largest = "max" in op
    assert bars(op, 2.0, 1.0, active=2)["x"] == float(largest)
    assert bars(op, 2.0, 1.0, active=2)["y"] == float(not largest)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the log of a negative base
def test_exponents_that_are_arrays() -> None:
    """The basis x**[0, 1, 2, 3] at 0 has the slopes 0, 1, 0, 0."""
    rule = rule_of("pow")
    k = np.array([0.0, 1.0, 2.0, 3.0])
    weights = np.array([5.0, 7.0, 11.0, 13.0])
    assert pull(rule, (0.0, k), {}, weights)["x"] == 7.0
    x = np.array([-2.0, -0.5, 1.5])
    got = pull(rule, (x, np.full(3, 2.0)), {}, np.ones(3))["x"]
    np.testing.assert_array_equal(got, 2 * x)
    got = pull(rule, (x, np.zeros(3)), {}, np.ones(3))["x"]
    np.testing.assert_array_equal(got, 0.0)


@pytest.mark.parametrize("x", [1e-300, 1e-8, 1e-6, 1e-3, 0.029, 0.031, 0.5, -1e-6])
def test_sinc_near_zero(x: float) -> None:
    """Against the series -pi² x / 3 + pi⁴ x³ / 30 - ..., to 1e-12 of the slope."""
    u = math.pi * x
    want, term = 0.0, u / 6
    for k in range(1, 12):
        want += (-1) ** k * 2 * k * term
        term *= u * u / ((2 * k + 2) * (2 * k + 3))
    np.testing.assert_allclose(bars("np.sinc", x)["x"], math.pi * want, rtol=1e-12)


def test_clip() -> None:
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    got = bars("np.clip", x, -1.0, 1.0)
    np.testing.assert_array_equal(got["a"], [0.0, 0.0, 1.0, 0.0, 0.0])
    assert got["a_min"] == 1.0
    assert got["a_max"] == 1.0


def test_ties_in_reductions_share_equally() -> None:
    got = bars("np.max", np.array([1.0, 3.0, 3.0]))["a"]
    np.testing.assert_array_equal(got, [0.0, 0.5, 0.5])
    x = np.array([[1.0, 5.0], [1.0, 3.0], [2.0, 9.0]])
    got = bars("np.min", x, axis=0)["a"]
    np.testing.assert_array_equal(got, [[0.5, 0.0], [0.5, 1.0], [0.0, 0.0]])
    got = bars("np.max", np.full(2, -INF))["a"]
    np.testing.assert_array_equal(got, [0.5, 0.5])


def test_products_with_zeros() -> None:
    x = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [1.0, 2.0, 3.0]])
    got = bars("np.prod", x, axis=1)["a"]
    want = [[0.0, 6.0, 0.0], [0.0, 0.0, 0.0], [6.0, 3.0, 2.0]]
    np.testing.assert_array_equal(got, want)
    got = bars("np.cumprod", np.array([2.0, 0.0, 5.0, 0.0]))["a"]
    np.testing.assert_array_equal(got, [1.0, 2.0 + 10.0, 0.0, 0.0])


def test_spread_of_equal_entries() -> None:
    got = bars("np.std", np.ones((2, 3)), axis=1)["a"]
    np.testing.assert_array_equal(got, np.zeros((2, 3)))


@pytest.mark.parametrize("order", [None, 1, 2, np.inf, 3])
def test_norm_at_the_origin(order: Any) -> None:
    np.testing.assert_array_equal(bars("np.linalg.norm", np.zeros(3), order)["x"], 0.0)


def test_norm_of_a_zero_row() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    got = bars("np.linalg.norm", x, axis=1, keepdims=True)["x"]
    np.testing.assert_allclose(got, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-15)


@pytest.mark.parametrize("order", ["fro", "nuc", 2])
def test_matrix_norm_at_the_origin(order: Any) -> None:
    got = bars("np.linalg.norm", np.zeros((2, 3)), order)["x"]
    np.testing.assert_array_equal(got, 0.0)


def test_determinant_of_singular_matrices() -> None:
    np.testing.assert_array_equal(bars("np.linalg.det", np.zeros((3, 3)))["a"], 0.0)
    np.testing.assert_array_equal(bars("np.linalg.det", np.zeros((1, 1)))["a"], 1.0)
    got = bars("np.linalg.det", np.diag([2.0, 3.0, 0.0]))["a"]
    np.testing.assert_allclose(got, np.diag([0.0, 0.0, 6.0]), atol=1e-15)


def test_nan_entries_are_not_used() -> None:
    x = np.array([NAN, 1.0, 2.0, 4.0])
    got = bars("np.nansum", x)["a"]
    np.testing.assert_array_equal(got, [0.0, 1.0, 1.0, 1.0])
    got = bars("np.nanmean", x)["a"]
    np.testing.assert_array_equal(got, [0.0, 1 / 3, 1 / 3, 1 / 3])
    got = bars("np.nanprod", x)["a"]
    np.testing.assert_array_equal(got, [0.0, 8.0, 4.0, 2.0])
    got = bars("np.nanmax", x)["a"]
    np.testing.assert_array_equal(got, [0.0, 0.0, 0.0, 1.0])
    got = bars("np.nanvar", x)["a"]
    mean = 7 / 3
    want = [0.0, *(2 / 3 * (v - mean) for v in (1, 2, 4))]
    np.testing.assert_allclose(got, want, rtol=1e-14)
    got = bars("np.nancumsum", x)["a"]
    np.testing.assert_array_equal(got, [0.0, 3.0, 2.0, 1.0])


def test_masked_entries_are_not_used() -> None:
    x = np.array([1.0, NAN, 3.0])
    there = ~np.isnan(x)
    for op in ("np.sum", "np.mean", "np.prod", "np.var", "np.std"):
        got = bars(op, x, where=there)["a"]
        assert got[1] == 0.0
        assert np.isfinite(got).all()


def test_median_and_sort_follow_the_permutation() -> None:
    got = bars("np.median", np.array([5.0, 1.0, 4.0, 2.0]))["a"]
    np.testing.assert_array_equal(got, [0.0, 0.0, 0.5, 0.5])
    weights = np.array([1.0, 10.0, 100.0])
    got = pull(rule_of("np.sort"), (np.array([3.0, 1.0, 2.0]),), {}, weights)["a"]
    np.testing.assert_array_equal(got, [100.0, 1.0, 10.0])


def test_repeated_indices_add() -> None:
    got = bars("np.take", np.array([1.0, 2.0, 3.0]), [0, 0, 2])["a"]
    np.testing.assert_array_equal(got, [2.0, 0.0, 1.0])


def test_interp_outside_the_table() -> None:
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, -2.0])
    got = bars("np.interp", np.array([-1.0, 0.5, 2.0, 4.0]), xp, fp)
    np.testing.assert_array_equal(got["x"], [0.0, 1.0, -2.0, 0.0])
    np.testing.assert_array_equal(got["fp"], [1.5, 1.0, 1.5])


def test_logsumexp_of_impossible_entries() -> None:
    got = bars("scipy.special.logsumexp", np.array([-INF, 0.0, 0.0]))["a"]
    np.testing.assert_allclose(got, [0.0, 0.5, 0.5], rtol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # log(0)
def test_logsumexp_of_nothing_possible() -> None:
    got = bars("scipy.special.logsumexp", np.full(2, -INF))["a"]
    np.testing.assert_array_equal(got, [0.0, 0.0])


def test_casts_to_integers_cut() -> None:
    x = np.array([0.5, 1.5])
    text = rule_of("np.astype").texts[0]
    got = call_text(text, {"out_bar": np.ones(2), "x": x, "dtype": int})
    np.testing.assert_array_equal(got, [0.0, 0.0])
    got = call_text(text, {"out_bar": np.ones(2), "x": np.float32(x), "dtype": float})
    assert got.dtype == np.float32


def test_equal_entries_share_a_unique_value() -> None:
    x = np.array([3.0, 1.0, 3.0])
    got = pull(rule_of("np.unique"), (x,), {}, np.array([10.0, 4.0]))["ar"]
    np.testing.assert_array_equal(got, [2.0, 10.0, 2.0])


def test_running_maximum_goes_to_the_first() -> None:
    got = bars("np.maximum.accumulate", np.array([1.0, 3.0, 3.0, 2.0]))["a"]
    np.testing.assert_array_equal(got, [1.0, 3.0, 0.0, 0.0])


def test_running_log_sums_from_impossible_entries() -> None:
    got = bars("np.logaddexp.accumulate", np.array([-INF, 0.0, 0.0]))["a"]
    np.testing.assert_allclose(got[1:], [1.5, 0.5], rtol=1e-15)
