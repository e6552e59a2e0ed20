"""Finite differences: steps, kinks, containers, what a mismatch means, the culprit."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import symback
from symback.errors import NotScalarError, RefutedError
from symback.operations import REGISTRY
from symback.verify.consistency import Local
from symback.verify.finite import GradientCheck, check
from symback.verify.inputs import Inputs
from symback.verify.steps import slope
from tests.corpus import all_cases


@symback.differentiable(wrt=("w", "b", "v", "c"))
def tiny(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return (s - y) ** 2 / 2


POINT = (0.5, 0.0, 3.0, -1.0, 2.0, 1.0)
# h = 1, s = 2, s − y = 1: c_bar = 1, v_bar = h, b_bar = v, w_bar = v x.
GRADIENT = (6.0, 3.0, 1.0, 1.0)


def row_of(found: GradientCheck, label: str) -> Any:
    return next(row for row in found.rows if row.label == label)


def plain_check(
    fn: Callable[..., Any], *args: Any, wrt: Any, gradient: Any, **options: Any
) -> GradientCheck:
    """Check a gradient that was not generated: a value, or a function."""
    made = gradient if callable(gradient) else lambda *_: gradient
    return check(fn, args, {}, wrt=wrt, gradient=made, **options)


class TestTinyNetwork:
    def test_right(self):
        found = tiny.check(*POINT)
        assert found.ok
        assert found.culprit is None
        assert [row.label for row in found.rows] == ["w", "b", "v", "c"]
        assert tuple(row.generated for row in found.rows) == GRADIENT
        np.testing.assert_allclose(
            [row.numeric for row in found.rows], GRADIENT, rtol=1e-12
        )

    def test_text(self):
        assert str(tiny.check(*POINT)) == (
            "tiny: gradient is right (4 right)\n"
            "   entry  generated  differences  relative\n"
            "─  ─────  ─────────  ───────────  ────────\n"
            "✓  w      6          6            0\n"
            "✓  b      3          3            0\n"
            "✓  v      1          1            0\n"
            "✓  c      1          1            0"
        )

    def test_kink(self):
        found = tiny.check(0.0, *POINT[1:])
        assert found.ok
        row = row_of(found, "w")
        assert row.kink
        assert row.generated == 0.0
        # On the right z = 2w and s − y = 6w − 2, so the slope is −2 · 3 · 2.
        np.testing.assert_allclose(row.slopes, (0.0, -12.0), atol=1e-6)
        assert found.findings[0] == (
            "w: a kink, slopes 0 (left) and -12 (right); "
            "the gradient 0 lies between them"
        )

    def test_kink_with_a_step(self):
        row = row_of(tiny.check(0.0, *POINT[1:], step=1e-4), "w")
        # ((6h − 2)² / 2 − 2) / 2h = −6 + 9h.
        assert row.numeric == pytest.approx(-5.9991, rel=1e-9)
        np.testing.assert_allclose(row.slopes, (0.0, -12.0), atol=1e-6)
        assert row.ok

    @pytest.mark.parametrize("wrong", [1.0, -12.1, math.nan])
    def test_outside_the_slopes_of_a_kink(self, wrong: float):
        given = (wrong, 0.0, 0.0, -2.0)
        at = (0.0, *POINT[1:])
        found = plain_check(tiny, *at, wrt=("w", "b", "v", "c"), gradient=given)
        assert [row.ok for row in found.rows] == [False, True, True, True]

    def test_between_the_slopes_of_a_kink(self):
        given = (-6.0, -6.0, 0.0, -2.0)
        at = (0.0, *POINT[1:])
        found = plain_check(tiny, *at, wrt=("w", "b", "v", "c"), gradient=given)
        assert found.ok


def with_rule(op: str, *texts: str) -> Any:
    """Return a context in which an operation has these partials."""
    patch = pytest.MonkeyPatch()
    patch.setitem(REGISTRY, op, dataclasses.replace(REGISTRY[op], texts=texts))
    return patch


class TestCulprit:
    def test_broken_rule(self):
        """A product that forgets its first factor when it goes back to its second."""
        fresh = symback.differentiable(tiny.__wrapped__, wrt=("w", "b", "v", "c"))
        patch = with_rule("mul", "y", "1.0")
        try:
            found = fresh.check(*POINT)
        finally:
            patch.undo()
        assert [row.generated for row in found.rows] == [2.0, 1.0, 1.0, 1.0]
        assert [row.ok for row in found.rows] == [False, False, True, True]
        culprit = found.culprit
        assert culprit.op == "mul"
        assert culprit.code == "s = v * h + c"
        assert culprit.argument == "h"
        assert culprit.why == (
            "what it sends back to h is 1/v of the slope, v = 3: a factor v is missing"
        )

    def test_wrong_function(self):
        """The same fault in a gradient of which nothing but its numbers is known."""
        given = (2.0, 1.0, 1.0, 1.0)
        names = ("w", "b", "v", "c")
        found = plain_check(tiny.__wrapped__, *POINT, wrt=names, gradient=given)
        assert found.findings == [
            "w, b: the gradient is 1/v of the slope, v = 3: a factor v is missing"
        ]
        assert found.culprit.op == "mul"
        assert found.culprit.code == "s = v * h + c"
        assert found.culprit.argument == "h"

    def test_text(self):
        given = (2.0, 1.0, 1.0, 1.0)
        names = ("w", "b", "v", "c")
        found = plain_check(tiny.__wrapped__, *POINT, wrt=names, gradient=given)
        line = tiny.__wrapped__.__code__.co_firstlineno + 4
        assert str(found) == (
            "tiny: gradient is WRONG (2 right, 2 wrong)\n"
            "   entry  generated  differences  relative\n"
            "─  ─────  ─────────  ───────────  ────────  ─────\n"
            "✗  w      2          6            7e-01     wrong\n"
            "✗  b      1          3            7e-01     wrong\n"
            "✓  v      1          1            0\n"
            "✓  c      1          1            0\n"
            "w, b: the gradient is 1/v of the slope, v = 3: a factor v is missing\n"
            f"culprit: test_finite.py:{line}  s = v * h + c\n"
            "  the derivative of mul by h is wrong\n"
            "  what it sends back to h is 1/v of the slope, v = 3: "
            "a factor v is missing"
        )

    def test_right_function_of_a_broken_graph(self):
        """What ran is judged, not what would have been generated."""
        found = plain_check(
            tiny.__wrapped__, *POINT, wrt=("w", "b", "v", "c"), gradient=GRADIENT
        )
        assert found.ok

    def test_function_that_cannot_be_read(self):
        found = plain_check(math.exp, 0.0, wrt="x", gradient=2.0)
        assert not found.ok
        assert found.culprit is None


def network(W: Any, b: Any, v: Any, X: Any, y: Any) -> Any:
    h = np.tanh(X @ W + b)
    s = np.sum(h * v, axis=1)
    return np.mean((s - y) ** 2)


def chain(x: Any) -> Any:
    # The sigmoid is differentiated as a whole, past u.
    u = np.exp(-x)
    v = np.sin(u) + 2.0
    w = np.sqrt(v)
    return np.sum(w / (1.0 + u))


def looped(x: Any, r: float) -> Any:
    t = 1.0
    for i in range(len(x)):
        t = np.sin(t * x[i]) + r
    return np.log(t) * 2.0


RNG = np.random.default_rng(5)
SABOTAGED = {
    "network": (
        network,
        tuple(RNG.normal(size=s) for s in ((3, 2), 2, 2, (4, 3), 4)),
        ("W", "b", "v"),
        ("add", "mul", "sub", "pow", "np.tanh"),
    ),
    "chain": (
        chain,
        (RNG.normal(size=3),),
        "x",
        ("np.exp", "np.sin", "np.sqrt", "neg", "add"),
    ),
    "looped": (looped, (RNG.normal(size=3), 1.5), ("x", "r"), ("np.log", "np.sin")),
}


@pytest.mark.parametrize(
    ("name", "op"), [(n, op) for n, (*_, ops) in SABOTAGED.items() for op in ops]
)
def test_sabotaged_rules_are_seen_and_named(name: str, op: str):
    function, args, wrt, _ = SABOTAGED[name]
    rule = REGISTRY[op]
    seen = 0
    for position, text in enumerate(rule.texts):
        for how in ("-({})", "1.5 * ({})"):
            texts = list(rule.texts)
            if not isinstance(text, str):
                continue
            texts[position] = how.format(text)
            right = symback.differentiable(function, wrt=wrt).grad_fn(*args)
            patch = with_rule(op, *texts)
            try:
                broken = symback.differentiable(function, wrt=wrt, witness=None)
                unchanged = repr(broken.grad_fn(*args)) == repr(right)
                found = broken.check(*args)
            finally:
                patch.undo()
            assert found.ok == unchanged
            if not unchanged:
                seen += 1
                inside = "for" if (name, op) == ("looped", "np.sin") else op
                assert found.culprit is not None
                assert found.culprit.op == inside, str(found)
    assert seen or op == "pow"


class TestSteps:
    @pytest.mark.parametrize(
        ("function", "x", "expected"),
        [
            (math.exp, 3.0, math.exp(3.0)),
            (lambda x: math.log(x) if x > 0 else math.nan, 1e-12, 1e12),
            (math.sin, 1e6, math.cos(1e6)),
            (math.tan, 1.5, 1 / math.cos(1.5) ** 2),
            (lambda x: math.exp(-x * x / 2e-8), 1e-4, -1e4 * math.exp(-0.5)),
            (abs, 1e-5, 1.0),
            (lambda x: max(x - 1e-5, 0.0), 0.0, 0.0),
            (lambda x: (x - 1.0) ** 4, 1.0, 0.0),
            (lambda x: 7.0, 2.0, 0.0),
        ],
    )
    def test_found_for_the_function(
        self, function: Callable[[float], float], x: float, expected: float
    ):
        found = slope(function, x)
        # Differences of float64: 1e-11 where the step can be chosen freely.
        assert found.value == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert not found.kink

    def test_a_step_below_the_resolution_is_not_believed(self):
        found = slope(lambda x: (x + 1e8) - 1e8, 0.3)
        # Rounding of 1e8 is 1.5e-8, which the step of 8e-3 divides.
        assert found.value == pytest.approx(1.0, abs=1e-5)
        assert abs(found.value - 1.0) < 10.0 * found.error

    def test_infinite_slopes(self):
        root = slope(lambda x: math.sqrt(x) if x >= 0 else math.nan, 0.0)
        assert math.isnan(root.left)
        assert root.right == math.inf
        cusp = slope(lambda x: math.sqrt(abs(x)), 0.0)
        assert (cusp.left, cusp.right) == (-math.inf, math.inf)

    def test_complex_step_is_exact(self):
        found = plain_check(lambda x: x**3 * np.exp(x), 1.5, wrt="x", gradient=np.nan)
        expected = (3 * 1.5**2 + 1.5**3) * math.exp(1.5)
        assert found.rows[0].numeric == pytest.approx(expected, rel=1e-15)

    def test_complex_step_is_dropped_where_it_lies(self):
        # np.abs of a complex number is real: the complex step sees x alone.
        found = plain_check(lambda x: x + np.abs(x), 2.0, wrt="x", gradient=2.0)
        assert found.ok
        assert found.rows[0].numeric == pytest.approx(2.0, rel=1e-10)


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Layer:
    W: Any
    b: Any


class TestParameters:
    def test_containers(self):
        def energy(p):
            layer, pair, rest = p["layer"], p["pair"], p["rest"]
            total = np.sum(layer.W**2) * layer.b + pair.a * pair.b
            return total + rest[0] ** 3 + rest[1][0]

        p = {
            "layer": Layer(np.array([1.0, 2.0]), 3.0),
            "pair": Pair(4.0, 5.0),
            "rest": [2.0, (6.0,)],
            "kind": "quadratic",
        }
        given = {
            "layer": Layer(np.array([6.0, 12.0]), 5.0),
            "pair": Pair(5.0, 4.0),
            "rest": [12.0, (1.0,)],
            "kind": None,
        }
        found = plain_check(energy, p, wrt="p", gradient=given)
        assert found.ok
        assert {row.label: row.generated for row in found.rows} == {
            "p['layer'].W[0]": 6.0,
            "p['layer'].W[1]": 12.0,
            "p['layer'].b": 5.0,
            "p['pair'].a": 5.0,
            "p['pair'].b": 4.0,
            "p['rest'][0]": 12.0,
            "p['rest'][1][0]": 1.0,
        }

    def test_missing_leaf(self):
        found = plain_check(
            lambda p: p["a"] * p["b"],
            {"a": 1.0, "b": 2.0},
            wrt="p",
            gradient={"a": 2.0},
        )
        assert not found.ok
        assert found.findings == [
            "p['b']: the gradient is missing: its structure is not the parameter's"
        ]

    def test_float32_has_the_digits_of_float64(self):
        def energy(x, y):
            return np.sum((x - y) ** 2)

        x, y = np.float32([1.1, 2.3]), np.float32([0.7, -0.4])
        found = symback.differentiable(energy).check(x, y)
        assert found.ok
        # The numbers that float32 holds, computed on in float64.
        exact = 2.0 * (x.astype(np.float64) - y.astype(np.float64))
        np.testing.assert_allclose(
            [row.numeric for row in found.rows], exact, rtol=1e-12
        )

    def test_float32_error_is_seen(self):
        x = np.float32([1.1, 2.3])
        found = plain_check(
            lambda x: np.sum(x**2), x, wrt="x", gradient=lambda x: 2.01 * x
        )
        assert [row.ok for row in found.rows] == [False, False]

    def test_complex_parameter(self):
        # ∂/∂Re − i ∂/∂Im of |z|² is 2 conj(z).
        z = 1.0 + 2.0j
        found = plain_check(
            lambda z: abs(z) ** 2, z, wrt="z", gradient=lambda z: 2 * np.conj(z)
        )
        assert found.ok
        assert [row.label for row in found.rows] == ["z", "z.imag"]
        wrong = plain_check(lambda z: abs(z) ** 2, z, wrt="z", gradient=lambda z: 2 * z)
        assert [row.ok for row in wrong.rows] == [True, False]

    def test_symmetric_matrix(self):
        def logdet(S):
            return 2.0 * np.sum(np.log(np.diag(np.linalg.cholesky(S))))

        S = np.array([[2.0, 0.5], [0.5, 1.0]])
        found = plain_check(logdet, S, wrt="S", gradient=np.linalg.inv)
        assert found.ok
        assert found.findings == [
            "S: a symmetric matrix; its entries were moved in pairs, as the gradient "
            "is symmetrised"
        ]
        # The inverse of S is ((1, −0.5), (−0.5, 2)) / 1.75.
        np.testing.assert_allclose(row_of(found, "S[0,1]").numeric, -0.5 / 1.75)

    def test_empty(self):
        found = plain_check(np.sum, np.zeros(0), wrt="a", gradient=np.zeros(0))
        assert found.ok
        assert found.rows == []
        assert found.worst is None

    def test_arguments_and_draws_stay_as_they_are(self, capsys: Any):
        def noisy(x, rng):
            print("called")
            noise = rng.normal(size=3)
            x += 1.0
            return np.sum(x * noise)

        x, rng = np.arange(3.0), np.random.default_rng(3)
        expected = np.random.default_rng(3).normal(size=3)
        found = plain_check(noisy, x, rng, wrt="x", gradient=expected)
        assert found.ok
        assert x.tolist() == [0.0, 1.0, 2.0]
        assert rng.normal() == expected[0]
        assert capsys.readouterr().out == ""


class TestLargeInputs:
    X = np.random.default_rng(0).normal(size=(20, 12))
    w = np.random.default_rng(1).normal(size=120).reshape(12, 10)

    @staticmethod
    def loss(w: Any, X: Any) -> Any:
        return np.sum(np.tanh(X @ w))

    @staticmethod
    def right(w: Any, X: Any) -> Any:
        return X.T @ (1.0 - np.tanh(X @ w) ** 2)

    def spoiled(self, w: Any, X: Any) -> Any:
        found = self.right(w, X)
        found[3, 4] *= 2.0
        found[11, 0] = 0.0
        return found

    def test_directions(self):
        found = plain_check(self.loss, self.w, self.X, wrt="w", gradient=self.right)
        assert found.ok
        assert [row.label for row in found.rows] == [
            "w direction 1",
            "w direction 2",
            "w direction 3",
        ]
        assert all(row.index is None for row in found.rows)

    def test_directions_are_reproducible(self):
        def numbers(seed: int) -> list[float]:
            found = plain_check(
                self.loss, self.w, self.X, wrt="w", gradient=self.right, seed=seed
            )
            return [row.generated for row in found.rows]

        assert numbers(0) == numbers(0)
        assert numbers(0) != numbers(1)

    def test_wrong_numbers_are_found(self):
        found = plain_check(self.loss, self.w, self.X, wrt="w", gradient=self.spoiled)
        wrong = [row.label for row in found.rows if row.index is not None]
        assert wrong == ["w[3,4]", "w[11,0]"]
        assert not found.ok
        assert found.worst is not None
        assert found.worst.label in ("w[11,0]", "w direction 1", "w direction 2")

    def test_number_by_number_on_request(self):
        found = plain_check(
            self.loss,
            self.w,
            self.X,
            wrt="w",
            gradient=self.spoiled,
            per_coordinate=True,
        )
        assert len(found.rows) == 120
        assert [r.label for r in found.rows if not r.ok] == ["w[3,4]", "w[11,0]"]
        text = str(found)
        assert text.splitlines()[0] == (
            "spoiled: gradient is WRONG (118 right, 2 wrong)"
        ).replace("spoiled", "loss")
        assert "and 80 more entries" in text

    def test_kinks_along_a_direction(self):
        # At 0 each of 100 numbers is at a kink, of either sign.
        signs = np.where(np.arange(100) % 2, 1.0, -1.0)
        found = plain_check(
            lambda x: np.sum(signs * np.abs(x)),
            np.zeros(100),
            wrt="x",
            gradient=np.zeros(100),
        )
        assert found.ok


class TestMeaning:
    def findings(self, fn: Any, *args: Any, gradient: Any, wrt: Any = "x") -> list[str]:
        return plain_check(fn, *args, wrt=wrt, gradient=gradient).findings

    def test_missing_path(self):
        assert self.findings(lambda x: x**2, 3.0, gradient=0.0) == [
            "x: the gradient is 0 where the function has a slope: "
            "a path to the loss is missing"
        ]

    def test_one_of_two_paths(self):
        # Of x² + x at 2 the first term alone has 4 of the slope of 5.
        assert self.findings(lambda x: x * x + x, 2.0, gradient=4.0) == [
            "x: the gradient is 0.8 of the slope: "
            "a factor or one of several paths to the loss is missing"
        ]

    def test_sign(self):
        assert self.findings(lambda x: x**2, 3.0, gradient=-6.0) == [
            "x: the gradient is the slope with the wrong sign"
        ]

    def test_factor_of_an_argument(self):
        assert self.findings(lambda x, k: k * x, 3.0, 2.5, gradient=1.0) == [
            "x: the gradient is 1/k of the slope, k = 2.5: a factor k is missing"
        ]
        assert self.findings(lambda x, k: k * x, 3.0, 2.5, gradient=-6.25) == [
            "x: the gradient is k times the slope, k = 2.5: a factor k too many, "
            "and the sign is wrong"
        ]

    def test_averaging(self):
        def total(x, y):
            return np.sum((x - y) ** 2)

        y = np.array([1.0, 2.0, 4.0, 8.0])
        assert self.findings(total, 0.0, y, gradient=-7.5) == [
            "x: the gradient is 1/4 of the slope, and 4 is y.shape[0]: "
            "a mean where the loss has a sum"
        ]
        assert self.findings(lambda x, y: total(x, y) / 4, 0.0, y, gradient=-30.0) == [
            "x: the gradient is 4 times the slope, and 4 is y.shape[0]: "
            "a sum where the loss has a mean"
        ]

    def test_transposed_square(self):
        A = np.array([[1.0, 2.0], [3.0, 4.0]])
        c = np.array([[1.0, 5.0], [7.0, 1.0]])
        assert self.findings(lambda x: np.sum(c * x), A, gradient=c.T) == [
            "x: the gradient is the transpose of the slopes"
        ]

    def test_transposed_shape(self):
        found = plain_check(np.sum, np.ones((2, 3)), wrt="a", gradient=np.ones((3, 2)))
        assert not found.ok
        assert found.findings == [
            "a: the gradient has shape (3, 2), the parameter (2, 3): it is transposed"
        ]

    def test_several_factors(self):
        x = np.array([1.0, 2.0])
        assert self.findings(
            lambda x: np.sum(x**2), x, gradient=np.array([3.0, 2.0])
        ) == [
            "x: the gradient is 0.5 to 1.5 times the slope: no one factor explains it"
        ]

    def test_nan_is_never_right(self):
        found = plain_check(lambda x: x * math.nan, 1.0, wrt="x", gradient=math.nan)
        assert not found.ok
        assert found.findings == [
            "the value of `<lambda>` is nan here: no differences can be taken, and "
            "the gradient was not checked",
            "x: the gradient is NaN",
        ]

    def test_zero_is_zero(self):
        found = plain_check(lambda x: 5.0, 1.0, wrt="x", gradient=0.0)
        assert found.ok
        assert found.rows[0].relative_difference == 0.0


def test_raise_if_wrong():
    found = plain_check(lambda x: x**2, 3.0, wrt="x", gradient=0.0)
    with pytest.raises(RefutedError, match="gradient is WRONG"):
        found.raise_if_wrong()
    right = plain_check(lambda x: x**2, 3.0, wrt="x", gradient=6.0)
    assert right.raise_if_wrong() is right


def test_an_array_is_no_loss():
    with pytest.raises(
        NotScalarError,
        match=r"`<lambda>` returns an array of shape \(2,\), not a real number",
    ):
        plain_check(lambda x: x * np.ones(2), 1.0, wrt="x", gradient=1.0)


def test_notebooks_show_a_table():
    html = tiny.check(0.0, *POINT[1:])._repr_html_()
    assert "<code>w</code>" in html
    assert "kink: 0 | -12" in html
    assert "gradient is right (2 right, 2 at a kink)" in html


def masked(g: Any, X: Any) -> Any:
    centred = X - np.mean(X)
    return np.sum((g * centred / 3.0)[:, 0] ** 3)


@pytest.mark.parametrize("op", ["mul", "truediv"])
def test_operations_before_a_read_of_some_entries_are_named(op: str):
    """Their cotangents hold anything in the entries that are not read."""
    args = (RNG.normal(size=2), RNG.normal(size=(3, 2)))
    rule = REGISTRY[op]
    patch = with_rule(op, f"-({rule.texts[0]})", *rule.texts[1:])
    try:
        found = symback.differentiable(masked, wrt=("g", "X")).check(*args)
    finally:
        patch.undo()
    assert not found.ok
    assert found.culprit is not None
    assert found.culprit.op == op


EVERY_TENTH = [case for k, case in enumerate(all_cases()) if k % 10 == 0]


@pytest.mark.parametrize("case", EVERY_TENTH, ids=lambda case: case.id)
def test_right_gradients_are_right_and_have_no_culprit(case: Any):
    function = symback.differentiable(case.fn, wrt=case.wrt)
    args, kwargs = case.fresh()
    found = function.check(*args, **kwargs)
    assert found.ok, str(found)
    inputs = Inputs(case.fn, args, kwargs, function._wrt)
    search = Local(function._for(args, kwargs).source, inputs)
    with np.errstate(all="ignore"):
        assert search.culprit() is None
