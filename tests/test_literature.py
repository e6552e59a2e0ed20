"""Numbers that textbooks and lectures work out by hand, as they print them."""

from __future__ import annotations

import numpy as np
import pytest

import symback

#: Exact, or to the rounding of a few operations.
NEAR = {"rtol": 1e-12, "atol": 1e-15}


@symback.differentiable(wrt=("w", "b", "v", "c"))
def tiny(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return 0.5 * (s - y) ** 2


class TestTinyNetwork:
    point = (0.5, 0.0, 3.0, -1.0, 2.0, 1.0)

    def test_loss_and_gradient(self):
        assert tiny(*self.point) == 0.5
        value, gradient = tiny.value_and_grad_fn(*self.point)
        assert value == 0.5
        assert gradient == (6.0, 3.0, 1.0, 1.0)
        assert tiny.grad_fn(*self.point) == (6.0, 3.0, 1.0, 1.0)

    def test_a_step_down_the_gradient(self):
        w, b, v, c, x, y = self.point
        dw, db, dv, dc = tiny.grad_fn(w, b, v, c, x, y)
        new = (w - 0.01 * dw, b - 0.01 * db, v - 0.01 * dv, c - 0.01 * dc)
        np.testing.assert_allclose(new, (0.44, -0.03, 2.99, -1.01), **NEAR)
        np.testing.assert_allclose(tiny(*new, x, y), 0.141246125, **NEAR)

    def test_a_dead_unit(self):
        value, gradient = tiny.value_and_grad_fn(-1.0, *self.point[1:])
        assert value == 2.0
        assert gradient == (0.0, 0.0, 0.0, -2.0)

    def test_the_kink(self):
        at = (0.0, *self.point[1:])
        assert tiny.grad_fn(*at)[0] == 0.0
        step = 1e-4
        difference = (tiny(step, *at[1:]) - tiny(-step, *at[1:])) / (2 * step)
        np.testing.assert_allclose(difference, -5.9991, rtol=1e-9)

    def test_the_check_reports_the_kink(self):
        check = tiny.check(0.0, *self.point[1:])
        assert check.ok
        row = next(r for r in check.rows if r.name == "w")
        assert row.generated == 0.0
        assert row.kink
        left, right = row.slopes
        # One-sided differences: their error is 18 h.
        np.testing.assert_allclose(left, 0.0, atol=1e-6)
        np.testing.assert_allclose(right, -12.0, rtol=1e-3)

    def test_the_check_with_the_books_step(self):
        check = tiny.check(0.0, *self.point[1:], step=1e-4)
        assert check.ok
        row = next(r for r in check.rows if r.name == "w")
        assert row.kink
        np.testing.assert_allclose(row.numeric, -5.9991, rtol=1e-6)


def test_a_variable_used_twice():
    assert symback.grad(lambda u: u**2 + u)(2.0) == 5.0
    assert symback.grad(lambda u: u * u + u)(2.0) == 5.0


def test_a_polynomial():
    assert symback.grad(lambda u: u**2 + 3 * u)(-1.0) == 1.0


@symback.differentiable(wrt=("w1", "b1", "w2", "b2"))
def two_layers(w1, b1, w2, b2, x, y):
    z = w1 * x + b1
    h = np.maximum(z, 0.0)
    y_hat = w2 * h + b2
    return (y_hat - y) ** 2


class TestTwoLayers:
    weights = (0.5, 0.5, 1.5, 0.2)

    def step(self, size: float) -> tuple[float, ...]:
        gradient = two_layers.grad_fn(*self.weights, 2.0, 3.0)
        return tuple(w - size * g for w, g in zip(self.weights, gradient, strict=True))

    def test_loss_and_gradient(self):
        value, gradient = two_layers.value_and_grad_fn(*self.weights, 2.0, 3.0)
        np.testing.assert_allclose(value, 0.3025, **NEAR)
        np.testing.assert_allclose(gradient, (-3.3, -1.65, -1.65, -1.1), **NEAR)

    def test_a_small_step_goes_down(self):
        new = self.step(0.05)
        np.testing.assert_allclose(new, (0.665, 0.5825, 1.5825, 0.255), **NEAR)
        assert two_layers(*new, 2.0, 3.0) == pytest.approx(0.079, abs=5e-4)

    def test_a_larger_step_overshoots(self):
        assert two_layers(*self.step(0.1), 2.0, 3.0) == pytest.approx(1.40, abs=5e-3)


@symback.differentiable
def ten_sigmoids(x, shift):
    h = x
    for _ in range(10):
        h = 1.0 / (1.0 + np.exp(-(h - shift)))
    return h


def test_sigmoids_shrink_a_gradient_at_most_to_a_quarter_a_layer():
    # At 0.5 with a shift of 0.5 each layer sits at its steepest point.
    np.testing.assert_allclose(ten_sigmoids.grad_fn(0.5, 0.5), 0.25**10, **NEAR)
    assert 0.25**10 == pytest.approx(9.5e-7, rel=5e-3)
    for x in (-2.0, 0.0, 0.3, 4.0):
        assert 0.0 < ten_sigmoids.grad_fn(x, 0.1) < 0.25**10
