"""Assertions about gradients for other people's tests.

Both are importable, and fixtures of the same names once symback is installed::

    from symback.adapters.pytest_plugin import assert_gradient, assert_proved

    def test_loss(assert_gradient):
        assert_gradient(loss, w, b, X, y, wrt=("w", "b"))

Functions may be decorated or plain.  A failure shows the table and the operation whose
derivative is wrong.  symback itself is imported on the first use only, so that tests
without gradients start as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..verify.checked import GradientCheck
    from ..verify.result import Comparison

__all__ = ["assert_gradient", "assert_proved"]


def assert_gradient(
    f: Callable[..., Any],
    *args: Any,
    wrt: str | int | tuple[str | int, ...] | None = None,
    gradient: Callable[..., Any] | None = None,
    step: float | None = None,
    per_coordinate: bool | None = None,
    **kwargs: Any,
) -> GradientCheck:
    """Assert that the gradient of a function agrees with finite differences.

    Args:
        f: the function, decorated with `symback.differentiable` or plain.
        args, kwargs: its arguments.
        wrt: the parameters to differentiate by; None for those of a decorated function,
            or all parameters of a plain one that are floats or hold arrays of them.
        gradient: judge it instead of the generated one: a function of the same
            parameters that returns the gradient, or value and gradient.
        step: of the differences; None to find one.
        per_coordinate: True for a row for each number, False for random directions.

    Raises:
        AssertionError: the gradient is wrong; the message is the table.
    """
    __tracebackhide__ = True
    found: GradientCheck = _differentiable(f, args, kwargs, wrt).check(
        *args, gradient=gradient, step=step, per_coordinate=per_coordinate, **kwargs
    )
    if not found.ok:
        raise AssertionError(str(found))
    return found


def assert_proved(
    f: Callable[..., Any],
    *args: Any,
    wrt: str | int | tuple[str | int, ...] | None = None,
    gradient: Callable[..., Any] | None = None,
    points: int = 8,
    digits: int = 50,
    seconds: float = 30,
    **kwargs: Any,
) -> Comparison:
    """Assert that the gradient equals SymPy's derivative, proved.

    Args:
        f: the function, decorated with `symback.differentiable` or plain.
        args, kwargs: its arguments.
        wrt, gradient: as in `assert_gradient`.
        points, digits, seconds: as in `DifferentiableFunction.compare`.

    Raises:
        AssertionError: the verdict is "agrees", "undecided" or "refuted"; the message
            is the table.
    """
    __tracebackhide__ = True
    found: Comparison = _differentiable(f, args, kwargs, wrt).compare(
        *args,
        gradient=gradient,
        points=points,
        digits=digits,
        seconds=seconds,
        **kwargs,
    )
    if found.verdict != "proved":
        raise AssertionError(str(found))
    return found


def _differentiable(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Any
) -> Any:
    """Return the function with its gradient by the parameters that are asked for."""
    from ..api import DifferentiableFunction, differentiable

    if wrt is None:
        if isinstance(f, DifferentiableFunction):
            return f
        wrt = _float_parameters(f, args, kwargs)
    return differentiable(f, wrt=wrt)


def _float_parameters(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, ...]:
    """Return the names of the parameters that are floats, or hold any.

    Raises:
        NotDifferentiableError: there are none.
    """
    import inspect

    from ..errors import NotDifferentiableError
    from ..verify.structure import is_real, leaves

    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    found = tuple(
        name
        for name, value in bound.arguments.items()
        if any(is_real(leaf) for _, leaf in leaves(value, name))
    )
    if not found:
        name = getattr(f, "__name__", repr(f))
        raise NotDifferentiableError(
            f"no argument of `{name}` is a float or an array of floats",
            None,
            'name what to differentiate by: `wrt="x"`.',
        )
    return found


@pytest.fixture(name="assert_gradient", scope="session")
def _assert_gradient() -> Callable[..., GradientCheck]:
    """Assert that a generated gradient agrees with finite differences."""
    return assert_gradient


@pytest.fixture(name="assert_proved", scope="session")
def _assert_proved() -> Callable[..., Comparison]:
    """Assert that a generated gradient equals SymPy's derivative."""
    return assert_proved
