"""Programs and plain Python: the value is the function's, the gradient a difference."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symback

__all__ = ["Programs", "differences", "verify"]

STEP = 1e-3
"""The error of differences of order four is about STEP**4, their rounding 1e-13."""


def differences(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return the gradient by the first argument, by central differences of order four.

    It is made before symback sees the arguments, from fresh copies of them.
    """
    shape = np.shape(args[0])
    gradient = np.zeros(shape)
    for place in np.ndindex(shape):

        def at(step: float, place: Any = place) -> float:
            moved = list(copy.deepcopy(args))
            if shape:
                moved[0][place] += step
            else:
                moved[0] = type(moved[0])(moved[0] + step)
            return float(f(*moved))

        near, far = at(STEP) - at(-STEP), at(2 * STEP) - at(-2 * STEP)
        gradient[place] = (8 * near - far) / (12 * STEP)
    return gradient


def verify(f: Callable[..., Any], *args: Any) -> None:
    """Compare value and gradient by the first argument with plain Python's."""
    given = copy.deepcopy(args)
    value = f(*copy.deepcopy(args))
    expected = differences(f, args)
    for _ in range(2):  # the first call and one from the cache
        found, gradient = symback.value_and_grad(f)(*given)
        np.testing.assert_allclose(found, value, rtol=1e-12)
        assert np.shape(gradient) == np.shape(args[0])
        np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-9)
    for one, other in zip(given, args, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)


class Programs(list[Any]):
    """A list of functions with arguments, for `pytest.mark.parametrize`."""

    def at(self, *args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Note a function with arguments."""

        def note(f: Callable[..., Any]) -> Callable[..., Any]:
            self.append(pytest.param(f, args, id=f"{f.__name__}-{len(self)}"))
            return f

        return note
