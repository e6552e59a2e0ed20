"""Run emitted source as a reader would: as a module of its own, away from symback."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.oracle import wrt_names

__all__ = ["load", "run_generic", "run_specialised"]


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


def floated(thing: Any) -> Any:
    """Return a differentiated parameter with an integer read as a float."""
    if isinstance(thing, int) and not isinstance(thing, bool):
        return float(thing)
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "iu":
        return thing.astype(np.float64)
    return thing


def run_source(
    text: str,
    captured: Mapping[str, Any],
    fn: Callable[..., Any],
    wrt: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[Any, Any]:
    """Return (value, gradient) of a text at the arguments.

    The generated function takes the user's parameters by position, `*args` as one
    tuple and `**kwargs` as one dictionary, and what it captures by keyword.
    """
    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    given = dict(bound.arguments)
    for name in wrt_names(fn, wrt)[0]:
        given[name] = floated(given[name])
    return load(text, fn.__name__)(*given.values(), **captured)


def run_specialised(
    f: Any, wrt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return (value, gradient) of the text that is specialised to the arguments."""
    text = f.backward_source_for(*args, **kwargs)
    captured = f._for(args, kwargs).source.read_captured()
    return run_source(text, captured, f.__wrapped__, wrt, args, kwargs)


def run_generic(
    f: Any, wrt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return (value, gradient) of the text that exists before any call."""
    text = f.backward_source
    captured = f._generic.read_captured()
    return run_source(text, captured, f.__wrapped__, wrt, args, kwargs)
