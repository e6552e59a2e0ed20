"""Containers of parameters as one vector, and back.

>>> params = {"w": np.ones((2, 2)), "b": 0.5}
>>> flat = Structure.of(params)
>>> flat.vector(params)
array([1. , 1. , 1. , 1. , 0.5])
>>> flat.rebuilt(np.arange(5.0))["b"]
4.0
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import NotDifferentiableError

__all__ = ["Structure", "fields_of", "mapped"]

Vector = NDArray[np.float64]


def fields_of(value: Any) -> list[tuple[str, Any]] | None:
    """Return a container's items with how each is reached; None for anything else.

    >>> fields_of({"a": 1.0}), fields_of([2.0]), fields_of(3.0)
    ([("['a']", 1.0)], [('[0]', 2.0)], None)
    """
    if isinstance(value, dict):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{n}", v) for n, v in zip(value._fields, value, strict=True)]
    if isinstance(value, tuple | list):
        return [(f"[{k}]", item) for k, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            (f".{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value)
        ]
    return None


def mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Rebuild a container with each leaf replaced, depth first, in order.

    An object is rebuilt without its constructor.

    >>> mapped({"a": (1.0, [2.0])}, lambda x: -x)
    {'a': (-1.0, [-2.0])}
    """
    items = fields_of(value)
    if items is None:
        return leaf(value)
    made = [mapped(item, leaf) for _, item in items]
    if isinstance(value, dict):
        copied = value.copy()
        copied.update(zip(value, made, strict=True))
        return copied
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*made)
    if isinstance(value, tuple | list):
        return type(value)(made)
    new = object.__new__(type(value))
    for field, item in zip(dataclasses.fields(value), made, strict=True):
        object.__setattr__(new, field.name, item)
    return new


@dataclass(frozen=True)
class Structure:
    """How the numbers of a container stand in one vector.

    like : the container.  names : its leaves, as ``['w']`` or ``.layers[0]``.
    """

    like: Any
    names: tuple[str, ...]

    @classmethod
    def of(cls, params: Any) -> Structure:
        """Read the structure of a container of numbers and arrays.

        Raises:
            NotDifferentiableError: a leaf is no real number or array of them.
        """
        names = []
        for name, leaf in _leaves(params, ""):
            dtype = np.asarray(leaf).dtype
            if dtype.kind not in "fiu":
                raise NotDifferentiableError(
                    f"`{name or 'the parameter'}` is no real number or array of them, "
                    f"but {type(leaf).__name__} ({dtype})"
                )
            names.append(name)
        return cls(params, tuple(names))

    @property
    def size(self) -> int:
        """Return how many numbers there are."""
        return sum(np.size(leaf) for _, leaf in _leaves(self.like, ""))

    def vector(self, params: Any) -> Vector:
        """Return the numbers of a container of this structure; shape (size,).

        Raises:
            ValueError: its leaves are not those of the structure.
        """
        found = list(_leaves(params, ""))
        if tuple(name for name, _ in found) != self.names:
            raise ValueError(
                f"the structure is {', '.join(self.names)}; "
                f"given is {', '.join(n for n, _ in found)}"
            )
        parts = [np.ravel(np.asarray(leaf, np.float64)) for _, leaf in found]
        return np.concatenate(parts) if parts else np.zeros(0)

    def rebuilt(self, vector: Vector) -> Any:
        """Return the container that a vector stands for: shapes and dtypes as before.

        Integers become float64, numbers Python's own.
        """
        at = 0

        def leaf(like: Any) -> Any:
            nonlocal at
            part = vector[at : at + np.size(like)]
            at += np.size(like)
            if not isinstance(like, np.ndarray):
                kept = type(like) if isinstance(like, np.floating) else float
                return kept(part[0])
            dtype = like.dtype if like.dtype.kind == "f" else np.float64
            return part.reshape(like.shape).astype(dtype)

        return mapped(self.like, leaf)

    def columns(self, parts: Any, rows: int) -> Vector:
        """Return derivatives of `rows` numbers by each leaf as one matrix.

        parts : a container of this structure whose leaves have shape (rows, *leaf).
        """
        found = [np.asarray(p, np.float64) for _, p in _leaves(parts, "")]
        return np.concatenate([p.reshape(rows, -1) for p in found], axis=1)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    items = fields_of(value)
    if items is None:
        yield name, value
        return
    for step, item in items:
        yield from _leaves(item, name + step)
