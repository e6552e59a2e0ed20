"""Functions that return their loss and something to carry along."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def loss(w: Any, x: Any) -> Any:
    scores = x @ w
    scores = np.tanh(scores)
    return np.sum(scores**2), {"scores": scores, "count": len(x), "name": "tanh"}


def test_value_aux_and_gradient() -> None:
    w = np.array([0.1, -0.2])
    (value, aux), gradient = symback.value_and_grad(loss, has_aux=True)(w, X)
    scores = np.tanh(X @ w)
    assert value == pytest.approx(np.sum(scores**2))
    np.testing.assert_allclose(aux["scores"], scores)
    assert (aux["count"], aux["name"]) == (3, "tanh")
    np.testing.assert_allclose(gradient, X.T @ (2 * scores * (1 - scores**2)))
    again, aux = symback.grad(loss, has_aux=True)(w, X)
    np.testing.assert_array_equal(again, gradient)
    np.testing.assert_allclose(aux["scores"], scores)


def test_aux_of_a_loop_is_that_of_its_end() -> None:
    def steps(x: Any) -> Any:
        seen = []
        for _ in range(3):
            x = np.sin(x)
            seen.append(x)
        return np.sum(x), (x, len(seen))

    gradient, (last, count) = symback.grad(steps, has_aux=True)(np.array([0.5, 1.0]))
    x = np.array([0.5, 1.0])
    slope = np.ones(2)
    for _ in range(3):
        slope *= np.cos(x)
        x = np.sin(x)
    np.testing.assert_allclose(gradient, slope)
    np.testing.assert_allclose(last, x)
    assert count == 3


def test_a_function_without_aux_is_refused() -> None:
    def alone(x: Any) -> Any:
        return np.sum(x)

    with pytest.raises(symback.NotScalarError, match="does not return a pair"):
        symback.grad(alone, has_aux=True)(np.ones(2))
