"""Points at which programs are compared: the caller's, and random ones around it.

Random points keep what a function is likely to rely on (a symmetric matrix stays
symmetric, labels that are floats stay labels) and move away in steps of different
kinds, so that both sides of most branches are seen.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .structure import index_name, is_real, rebuild

__all__ = ["placed", "random_point", "same_point"]

Array = np.ndarray[Any, Any]


def _stretch(x: Array, rng: np.random.Generator, scale: float, reach: float) -> Array:
    """Keep signs: multiply by a factor near one; zeros move a little."""
    moved = x * np.exp(reach * rng.normal(size=x.shape))
    return np.where(x == 0, 0.3 * reach * scale * rng.normal(size=x.shape), moved)


def _shift(x: Array, rng: np.random.Generator, scale: float, reach: float) -> Array:
    return x + reach * scale * rng.normal(size=x.shape)


def _mirror(x: Array, rng: np.random.Generator, scale: float, reach: float) -> Array:
    """Turn signs around, near −x."""
    return -x + 0.3 * reach * scale * rng.normal(size=x.shape)


def _fresh(x: Array, rng: np.random.Generator, scale: float, reach: float) -> Array:
    return (1 - reach) * x + reach * scale * rng.normal(size=x.shape)


MOVES: tuple[tuple[Callable[..., Array], float], ...] = (
    (_stretch, 0.2),
    (_shift, 1.0),
    (_fresh, 1.0),
    (_mirror, 1.0),
    (_shift, 3.0),
    (_stretch, 1.0),
    (_fresh, 0.5),
)


def _discrete(x: Array) -> bool:
    """Return whether floats are labels or masks: whole numbers, few of them."""
    kinds = len(np.unique(x))
    return bool(np.all(x == np.round(x))) and 2 <= kinds <= max(2, x.size // 4)


def _symmetric(x: Array) -> bool:
    return x.ndim == 2 and x.shape[0] == x.shape[1] > 1 and bool(np.all(x == x.T))


def _moved(
    x: Any, rng: np.random.Generator, number: int, weaker: float, active: bool
) -> Any:
    array = np.asarray(x, dtype=np.float64)
    finite = np.isfinite(array)
    if not np.any(finite):
        return x
    if not active and array.ndim and array.size > 1 and _discrete(array):
        return rng.permutation(array.reshape(-1)).reshape(array.shape)
    scale = float(np.sqrt(np.mean(array[finite] ** 2))) or 1.0
    move, reach = MOVES[number % len(MOVES)]
    with np.errstate(all="ignore"):
        result = move(np.where(finite, array, 0.0), rng, scale, reach * weaker)
    if _symmetric(array):
        result = (result + result.T) / 2
    result = np.where(finite, result, array)
    # Few digits keep the constants of expressions short.
    rounded = np.round(result, 6)
    result = np.where(rounded == 0, result, rounded)
    return result if isinstance(x, np.ndarray) else float(result)


def random_point(
    values: dict[str, Any], number: int, weaker: float, active: set[str]
) -> dict[str, Any]:
    """Return the number-th random point around the values of all parameters.

    weaker : 1 for the full step, less where the full one left the function's domain.
    """
    rng = np.random.default_rng([20_250_101, number, round(1000 * weaker)])

    def move(parameter: str, name: str, leaf: Any) -> Any:
        if not is_real(leaf):
            return leaf
        return _moved(leaf, rng, number, weaker, parameter in active)

    return {p: rebuild(v, p, partial(move, p)) for p, v in values.items()}


def placed(values: dict[str, Any], numbers: Mapping[str, float]) -> dict[str, Any]:
    """Return values with entries replaced by numbers, by their names."""

    def move(name: str, leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            made = leaf.astype(np.float64) if leaf.dtype.kind != "f" else leaf.copy()
            plain = made.view(np.ndarray)
            hit = False
            for index in np.ndindex(*leaf.shape):
                found = numbers.get(index_name(name, index))
                if found is not None:
                    plain[index], hit = found, True
            return made if hit else leaf.copy()
        found = numbers.get(name)
        return leaf if found is None else float(found)

    return {p: rebuild(v, p, move) for p, v in values.items()}


def same_point(values: dict[str, Any]) -> dict[str, Any]:
    """Return the caller's own point, arrays and generators of numbers copied."""

    def copied(_: str, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return x.copy()
        if isinstance(x, np.random.Generator | np.random.RandomState | random.Random):
            return copy.deepcopy(x)
        return x

    return {p: rebuild(v, p, copied) for p, v in values.items()}
