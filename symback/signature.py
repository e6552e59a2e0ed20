"""Signatures: what of the arguments decides which specialised function runs.

`exact_key` names types, dtypes, shapes and integers as they are, and is cheap.
`pattern_key` forgets how long dimensions are and keeps which are equal or one, so that
a new batch size is no new signature.
"""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np

from .noise import is_random

__all__ = ["exact_key", "flat_key", "layout", "measure", "pattern_key"]

IDENTITIES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    type,
    np.ufunc,
)
"""Kinds of objects that are known by identity."""


def exact_key(argument: Any) -> Any:
    """Return a hashable key of an argument's type, dtype, shape and structure.

    >>> exact_key(1.5), exact_key(np.zeros((2, 3)))
    (<class 'float'>, ('d', (2, 3)))
    """
    kind = type(argument)
    if kind is float:
        return kind
    if kind is np.ndarray:
        if argument.flags.c_contiguous:
            return argument.dtype.char, argument.shape
        return argument.dtype.char, argument.shape, layout(argument)
    if kind in (int, bool, str, bytes, type(None), complex):
        return kind, argument if kind is not complex else None
    if isinstance(argument, np.generic):
        return kind, int(argument) if isinstance(argument, np.integer) else None
    if isinstance(argument, tuple | list):
        if _is_numbers(argument):
            return list, "numbers"
        return kind, tuple(map(exact_key, argument))
    if isinstance(argument, dict):
        return kind, tuple((k, exact_key(a)) for k, a in argument.items())
    return _object_key(argument, exact_key)


def flat_key(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the dtype, shape and strides of all arrays, in one tuple.

    >>> flat_key((0.5, np.zeros((2, 3))))
    (dtype('float64'), (2, 3), (24, 8))
    """
    found: list[Any] = []
    for argument in arguments:
        if type(argument) is np.ndarray:
            found += argument.dtype, argument.shape, argument.strides
    return tuple(found)


def layout(array: np.ndarray) -> str:
    """Return how an array lies in memory: NumPy's views and copies depend on it.

    >>> layout(np.zeros((2, 3))), layout(np.zeros((2, 3)).T), layout(np.zeros(4)[::2])
    ('C', 'F', 'strided')
    """
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else "strided"


def _object_key(argument: Any, key: Any) -> Any:
    """Return a key of anything else: its identity, or its class and attributes."""
    if isinstance(argument, enum.Enum):
        return argument
    if isinstance(argument, set | frozenset):
        return type(argument), frozenset((type(a), a) for a in argument)
    if isinstance(argument, range):
        return range, argument.start, argument.stop, argument.step
    if isinstance(argument, IDENTITIES):
        return argument
    if is_random(argument):
        return type(argument)
    if isinstance(argument, np.ndarray):
        return type(argument), argument.dtype.char, argument.shape
    return type(argument), tuple(
        (name, key(item)) for name, item in _attributes(argument).items()
    )


def _attributes(argument: Any) -> dict[str, Any]:
    """Return the attributes of an object by name."""
    if is_random(argument):
        return {}
    found: dict[str, Any] | None = getattr(argument, "__dict__", None)
    if found is None:
        slots = getattr(type(argument), "__slots__", ())
        found = {s: getattr(argument, s) for s in slots if hasattr(argument, s)}
    return dict(found)


def _is_numbers(argument: Any) -> bool:
    """Say whether an argument is a long list of numbers."""
    return (
        type(argument) is list
        and len(argument) > 16
        and all(isinstance(item, float | int) for item in argument)
    )


def measure(arguments: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lengths in arguments, and the integers that are no length.

    Each stands once, where it is first met; those below two are part of a pattern.

    >>> measure((np.zeros((5, 2)), 7, [np.zeros(5), 2, np.zeros((1, 3))]))
    ((5, 2, 3), (7,))
    """
    lengths: dict[int, None] = {}
    integers: dict[int, None] = {}
    seen: set[int] = set()

    def walk(argument: Any) -> None:
        if isinstance(argument, np.ndarray):
            lengths.update(dict.fromkeys(n for n in argument.shape if n > 1))
        elif isinstance(argument, bool | float | complex | str | bytes | None):
            pass
        elif isinstance(argument, int | np.integer):
            if argument > 1:
                integers.setdefault(int(argument))
        elif isinstance(argument, tuple | list):
            if not _is_numbers(argument):
                for item in argument:
                    walk(item)
        elif isinstance(argument, dict):
            for item in argument.values():
                walk(item)
        elif not isinstance(argument, IDENTITIES) and id(argument) not in seen:
            seen.add(id(argument))
            for item in _attributes(argument).values():
                walk(item)

    walk(arguments)
    return tuple(lengths), tuple(n for n in integers if n not in lengths)


def pattern_key(arguments: tuple[Any, ...], static: frozenset[int]) -> Any:
    """Return a key of all arguments that forgets lengths but not which are equal.

    static : positions of integer arguments whose value matters.

    >>> a = pattern_key((np.zeros((5, 2)), np.zeros(5)), frozenset())
    >>> b = pattern_key((np.zeros((9, 4)), np.zeros(9)), frozenset())
    >>> a == b
    True
    """
    lengths, integers = measure(arguments)
    sizes = {length: place for place, length in enumerate(lengths)}
    numbers = {number: place for place, number in enumerate(integers)}

    def length(size: int) -> Any:
        return size if size < 2 else ("d", sizes[size])

    def key(argument: Any) -> Any:
        kind = type(argument)
        if isinstance(argument, np.ndarray):
            lengths = tuple(map(length, argument.shape))
            return kind, argument.dtype.char, lengths, layout(argument)
        if isinstance(argument, int | np.integer) and not isinstance(argument, bool):
            number = int(argument)
            if number < 2:
                return kind, number
            if number in sizes:
                return kind, "d", sizes[number]
            return kind, "i", numbers.get(number)
        if isinstance(argument, tuple | list) and exact_key(argument) != (
            list,
            "numbers",
        ):
            return kind, tuple(map(key, argument))
        if isinstance(argument, dict):
            return kind, tuple((k, key(a)) for k, a in argument.items())
        found = exact_key(argument)
        if isinstance(found, tuple) and len(found) == 2 and found[0] is kind:
            if hasattr(argument, "__dict__") or hasattr(kind, "__slots__"):
                return _object_key(argument, key) if not _plain(argument) else found
        return found

    return tuple(
        (argument, type(argument)) if k in static else key(argument)
        for k, argument in enumerate(arguments)
    )


def _plain(argument: Any) -> bool:
    return isinstance(
        argument, str | bytes | bool | float | complex | None | np.generic
    )
