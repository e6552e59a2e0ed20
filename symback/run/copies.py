"""Copies of arguments that share memory with one another as the arguments do.

What a function does to its arguments depends on more than their numbers: which arrays
overlap, their strides, which containers are one.  A copy keeps all of that.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Uncopied", "alike", "arrays", "changed"]

Array = np.ndarray[Any, Any]

ATOMS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
"""Objects that stay themselves in a copy."""

PLAIN = (np.ndarray, np.matrix, np.memmap)
"""Classes of arrays that are nothing but memory and a form."""

LIMIT = 1 << 30
"""Bytes beyond which arguments are not copied."""


class Uncopied(Exception):  # noqa: N818 - says what is so, and is always caught
    """Something among the arguments cannot be copied."""


def parts(thing: Any) -> Iterator[Any]:
    """Yield what an object holds: items, fields, attributes; nothing of an array."""
    if isinstance(thing, tuple | list | set | frozenset):
        yield from thing
    elif isinstance(thing, dict):
        yield from thing.values()
    elif not isinstance(thing, (*ATOMS, np.ndarray, np.generic)):
        yield from getattr(thing, "__dict__", {}).values()
        for kind in type(thing).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                    yield getattr(thing, name)


def arrays(things: Any) -> list[Array]:
    """Return the arrays that objects hold, each once, in order.

    >>> x = np.zeros(2)
    >>> len(arrays(([x, x], {"a": np.ones(3)})))
    2
    """
    return [one for one in reached(things) if isinstance(one, np.ndarray)]


def reached(things: Any) -> Iterator[Any]:
    """Yield each object that can be reached, once."""
    seen: dict[int, Any] = {}
    todo = [things]
    while todo:
        one = todo.pop()
        if isinstance(one, float | int | str | bytes | None) or id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        todo += reversed(list(parts(one)))


def alike(things: Any) -> Any:
    """Return a copy of objects whose arrays overlap as those of the objects do.

    Raises:
        Uncopied: an object refuses to be copied, or they are too large.

    >>> x = np.arange(4.0)
    >>> a, (row, again) = alike((x, [x[1:], x]))
    >>> row[0] = 9.0
    >>> a, again is a, x
    (array([0., 9., 2., 3.]), True, array([0., 1., 2., 3.]))
    """
    memo: dict[int, Any] = {}
    plain: list[Array] = []
    kept = []
    for one in reached(things):
        if isinstance(one, np.ndarray):
            # Objects in arrays have identities of their own, which `deepcopy` keeps,
            # and so may subclasses have.
            if type(one) in PLAIN and not one.dtype.hasobject:
                plain.append(one)
        elif isinstance(one, ATOMS):
            memo[id(one)] = one
        kept.append(one)  # so that no number of `memo` is given to another object
    for group in overlapping(plain):
        memo.update(copied_group(group))
    try:
        return copy.deepcopy(things, memo)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as problem:
        raise Uncopied(str(problem)) from problem


def overlapping(found: list[Array]) -> list[list[Array]]:
    """Group arrays by the stretches of memory that they cover together."""
    spans = sorted(
        ((*np.lib.array_utils.byte_bounds(a), n) for n, a in enumerate(found)),
    )
    groups: list[list[Array]] = []
    end = -1
    total = 0
    for low, high, number in spans:
        if low >= end:
            groups.append([])
            end = low
        groups[-1].append(found[number])
        total += max(high - end, 0)
        end = max(end, high)
    if total > LIMIT:
        raise Uncopied(f"{total} bytes of arguments")
    return groups


def copied_group(group: list[Array]) -> dict[int, Array]:
    """Copy arrays that overlap, into one new stretch of memory."""
    bounds = [np.lib.array_utils.byte_bounds(a) for a in group]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    # The same alignment as before: what is fast or allowed depends on it.
    room = np.empty(high - low + 128, np.uint8)
    shift = (low - room.ctypes.data) % 64
    made = {}
    for one in group:
        plain = one.view(np.ndarray)
        offset = shift + plain.__array_interface__["data"][0] - low
        new: Array = np.ndarray(
            plain.shape, plain.dtype, room.data, offset, plain.strides
        )
        new[...] = plain
        if type(one) is not np.ndarray:
            new = new.view(type(one))
        new.flags.writeable = one.flags.writeable
        made[id(one)] = new
    return made


def changed(now: Any, before: Any, name: str) -> str | None:
    """Return the name of the first thing that is not what it was before; or None.

    before : what `alike` returned for it.
    """
    todo = [(now, before, name)]
    seen: set[int] = set()
    while todo:
        one, was, title = todo.pop()
        if isinstance(one, np.ndarray) and isinstance(was, np.ndarray):
            if not identical(one, was):
                return title
            continue
        if type(one) is not type(was):
            return title
        if isinstance(one, bool | int | str | bytes | float | complex | np.generic):
            if not (one == was or (one != one and was != was)):
                return title
            continue
        if id(one) in seen or isinstance(one, ATOMS):
            continue
        seen.add(id(one))
        if isinstance(one, dict):
            if list(one) != list(was):
                return title
            todo += [(v, was[k], f"{title}[{k!r}]") for k, v in one.items()]
        elif isinstance(one, tuple | list):
            if len(one) != len(was):
                return title
            pairs = zip(one, was, strict=True)
            todo += [(v, w, f"{title}[{k}]") for k, (v, w) in enumerate(pairs)]
        elif dataclasses.is_dataclass(one) or hasattr(one, "__dict__"):
            held, then = getattr(one, "__dict__", {}), getattr(was, "__dict__", {})
            if list(held) != list(then):
                return title
            todo += [(v, then[k], f"{title}.{k}") for k, v in held.items()]
    return None


def identical(one: Array, other: Array) -> bool:
    """Say whether two arrays are bit by bit the same, NaN and all."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.hasobject:
        return all(a is b or a == b for a, b in zip(one.flat, other.flat, strict=True))
    return one.tobytes() == other.tobytes()
