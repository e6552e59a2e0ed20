"""Bound arguments given to a function as Python would."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["call_bound"]


def call_bound(function: Callable[..., Any], bound: Mapping[str, Any]) -> Any:
    """Call a function with its arguments by name; names it lacks are left out.

    >>> def f(a, /, *rest, b=0, **more):
    ...     return a, rest, b, more
    >>> call_bound(f, {"a": 1, "rest": (2, 3), "b": 4, "more": {"c": 5}})
    (1, (2, 3), 4, {'c': 5})
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in bound:
            continue
        found = bound[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += found
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs.update(found)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[name] = found
        else:
            args.append(found)
    return function(*args, **kwargs)
