"""The two tables' decorators: how a function is lowered in a way of its own.

A handler takes the lowerer, the abstract arguments and the abstract keyword arguments,
and returns the abstract result; of an operation it may return `NotImplemented`: then
the call becomes a node like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..operations import INTRINSICS, OPERATIONS

__all__ = ["Args", "Handler", "Kwargs", "intrinsic", "operation"]

Args = list[Any]
Kwargs = dict[str, Any]
Handler = Callable[[Any, Args, Kwargs], Any]


def intrinsic(*things: Any) -> Callable[[Handler], Handler]:
    """Register the lowering of calls of some Python objects."""

    def register(handler: Handler) -> Handler:
        for thing in things:
            INTRINSICS[thing] = handler
        return handler

    return register


def operation(*ops: str) -> Callable[[Handler], Handler]:
    """Register the lowering of calls of some NumPy functions."""

    def register(handler: Handler) -> Handler:
        for op in ops:
            OPERATIONS[op] = handler
        return handler

    return register
