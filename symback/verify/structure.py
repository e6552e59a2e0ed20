"""Parameters that are numbers, arrays or containers of them, entry by entry.

>>> import numpy as np
>>> [name for name, _ in entries({"W": np.ones((1, 2)), "b": 0.5}, "p")]
["p['W'][0,0]", "p['W'][0,1]", "p['b']"]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .elements import Element

__all__ = ["entries", "is_real", "leaves", "rebuild"]


def is_real(x: Any) -> bool:
    """Return whether x is a float, or an array of them: what a symbol stands for."""
    if isinstance(x, np.ndarray):
        return bool(x.dtype.kind == "f")
    return isinstance(x, (float, np.floating))


def rebuild(value: Any, name: str, function: Callable[[str, Any], Any]) -> Any:
    """Return the structure with each leaf replaced by function(name of it, leaf).

    Tuples, lists, dicts, NamedTuples and dataclasses are structure; all else is a leaf.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [
            rebuild(getattr(value, f), f"{name}.{f}", function) for f in value._fields
        ]
        return type(value)(*parts)
    if type(value) in (tuple, list):
        return type(value)(
            rebuild(v, f"{name}[{i}]", function) for i, v in enumerate(value)
        )
    if isinstance(value, dict):
        made = {k: rebuild(v, f"{name}[{k!r}]", function) for k, v in value.items()}
        return made if type(value) is dict else type(value)(made)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        import copy

        new = copy.copy(value)
        for f in dataclasses.fields(value):
            part = rebuild(getattr(value, f.name), f"{name}.{f.name}", function)
            object.__setattr__(new, f.name, part)
        return new
    return function(name, value)


def leaves(value: Any, name: str) -> list[tuple[str, Any]]:
    """Return the leaves of a structure with their names, in order."""
    found: list[tuple[str, Any]] = []

    def note(path: str, leaf: Any) -> Any:
        found.append((path, leaf))
        return leaf

    rebuild(value, name, note)
    return found


def index_name(name: str, index: tuple[int, ...]) -> str:
    """Return the name of one entry of an array."""
    return f"{name}[{','.join(map(str, index))}]" if index else name


def entries(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every number of a structure with its name, row by row."""
    for path, leaf in leaves(value, name):
        if isinstance(leaf, np.ndarray):
            plain = leaf.view(np.ndarray)
            for index in np.ndindex(*leaf.shape):
                yield index_name(path, index), plain[index]
        elif isinstance(leaf, (int, float, np.number, Element)) or hasattr(
            leaf, "imag"
        ):
            yield path, leaf
