"""Run emitted source as a reader would: as a module of its own, away from symback."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["captured", "load", "run_source"]


def load(text: str, name: str) -> Callable[..., Any]:
    """Execute a generated module and return its value-and-gradient function."""
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, f"<generated {name}>", "exec"), namespace)
    wanted = f"{name}_value_and_grad"
    if wanted in namespace:
        return namespace[wanted]
    # A lambda, or a name that the user's own names have taken.
    found = [
        value
        for key, value in namespace.items()
        if callable(value) and key.rstrip("_0123456789").endswith("_value_and_grad")
    ]
    assert len(found) == 1, f"no single {wanted} in\n{text}"
    return found[0]


def captured(fn: Callable[..., Any], generated: Callable[..., Any]) -> dict[str, Any]:
    """Return the globals and closed-over values that the generated function asks for.

    They are its keyword-only parameters without a default that the user's function
    does not have.
    """
    own = inspect.signature(fn).parameters
    nonlocals, names, _, _ = inspect.getclosurevars(inspect.unwrap(fn))
    return {
        parameter.name: nonlocals.get(parameter.name, names.get(parameter.name))
        for parameter in inspect.signature(generated).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        and parameter.default is inspect.Parameter.empty
        and parameter.name not in own
    }


def run_source(
    text: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Return (value, gradient) of the generated text at the arguments."""
    generated = load(text, fn.__name__)
    return generated(*args, **kwargs, **captured(fn, generated))
