"""Values of a graph that can be moved: numbers, arrays and lists of them.

>>> moved([1.0, np.zeros(2)], [1.0, np.ones(2)], 0.5)
[1.5, array([0.5, 0.5])]
>>> inner([2.0], [3.0])
6.0
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = [
    "SMALL",
    "directions",
    "inner",
    "is_movable",
    "is_real",
    "magnitude",
    "moved",
    "shaped",
    "size_of",
    "symmetric",
]

PROBES = 6
"""Random directions along which a larger value is moved."""

SMALL = 12
"""Entries up to which each is moved by itself."""


def is_real(x: Any) -> bool:
    """Return whether x can be moved: a real number, or an array of them."""
    if isinstance(x, np.ndarray):
        return bool(x.dtype.kind == "f")
    return isinstance(x, float | np.floating)


def is_movable(x: Any) -> bool:
    """Return whether x is real, or a list of real things."""
    return is_real(x) or (isinstance(x, list) and bool(x) and all(map(is_real, x)))


def inner(x_bar: Any, x: Any) -> float:
    """Return ⟨x_bar, x⟩."""
    if isinstance(x, list):
        return sum(inner(a, b) for a, b in zip(x_bar, x, strict=True))
    return float(np.sum(x_bar * x))


def moved(x: Any, move: Any, t: float) -> Any:
    """Return x + t·move, as the kind of object that x is."""
    if isinstance(x, list):
        return [moved(a, b, t) for a, b in zip(x, move, strict=True)]
    made = x + t * move
    plain = isinstance(x, float) and not isinstance(x, np.generic)
    return float(made) if plain else made


def magnitude(x_bar: Any, x: Any) -> float:
    """Return the sum of the sizes of the terms of ⟨x_bar, x⟩."""
    if isinstance(x, list):
        return sum(magnitude(a, b) for a, b in zip(x_bar, x, strict=True))
    return float(np.sum(np.abs(x_bar * x)))


def directions(x: Any) -> Iterator[Any]:
    """Yield moves of a value: each entry by itself, or random signs for all."""
    if isinstance(x, list):
        still = [np.zeros(np.shape(item)) for item in x]
        for k, item in enumerate(x[:SMALL]):
            for move in directions(item):
                yield [*still[:k], move, *still[k + 1 :]]
        return
    shape, size = np.shape(x), np.size(x)
    if size <= SMALL:
        for index in np.ndindex(*shape):
            move = np.zeros(shape)
            move[index] = 1.0
            yield move
    else:
        rng = np.random.default_rng(0)
        for _ in range(PROBES):
            yield rng.choice([-1.0, 1.0], size=shape)


def shaped(x_bar: Any, x: Any) -> Any:
    """Return a cotangent in its value's shape, None if it is no real one."""
    if isinstance(x, list):
        if not isinstance(x_bar, list) or len(x_bar) != len(x):
            return None
        items = [shaped(a, b) for a, b in zip(x_bar, x, strict=True)]
        return None if any(i is None for i in items) else items
    found = np.asarray(x_bar)
    if x_bar is None or found.dtype.kind not in "fiub":
        return None
    try:
        return np.broadcast_to(found, np.shape(x))
    except ValueError:
        return None


def symmetric(x: Any) -> bool:
    """Return whether x is a symmetric matrix, and not just a number."""
    shape: tuple[int, ...] = () if isinstance(x, list) else np.shape(x)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return False
    return bool(np.allclose(x, np.transpose(x), 1e-9, 0.0))


def size_of(x: Any, move: Any) -> float:
    """Return the power of two at the size of what is moved, at least 1."""
    if isinstance(x, list):
        return max(size_of(a, b) for a, b in zip(x, move, strict=True))
    size = float(np.max(np.abs(np.asarray(x))[np.asarray(move) != 0], initial=1.0))
    return float(2.0 ** math.ceil(math.log2(size))) if math.isfinite(size) else 1.0
