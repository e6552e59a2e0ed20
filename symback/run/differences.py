"""Finite differences along random directions, and how far they can be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..noise import Noise
from ..structure import fields_of, mapped

__all__ = ["Direction", "Slope", "numbers", "slope_along"]

STEP = {8: 4e-5, 4: 2e-2, 2: 1e-1}
"""The first relative step, by the bytes of the least precise float that is met."""

TIMES = 4.0
"""How much smaller the second step is."""


@dataclass(frozen=True)
class Slope:
    """What differences say about a directional derivative.

    value : the central difference of the smaller step.
    error : how far it can be off; NaN where the differences say nothing.
    smooth : whether the differences go on as those of a smooth function do.
    """

    value: float
    error: float
    smooth: bool = False

    @property
    def is_sure(self) -> bool:
        """Say whether the error is small beside the slope."""
        return self.error <= 1e-3 * abs(self.value)

    def contradicts(self, slope: float) -> bool:
        """Say whether another number is far outside the error."""
        if not (self.smooth or self.is_sure):
            return False
        if not math.isfinite(slope):
            return self.is_sure
        size = max(abs(self.value), abs(slope))
        return abs(self.value - slope) > 10 * self.error + 1e-5 * size


def numbers(thing: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the real and complex leaves of a structure with their paths.

    >>> [path for path, _ in numbers({"w": np.ones(2), "n": 3, "b": [0.5]}, "p")]
    ["p['w']", "p['b'][0]"]
    """
    if is_number(thing):
        yield path, thing
    for key, part in fields_of(thing) or ():
        yield from numbers(part, path + key)


def is_number(thing: Any) -> bool:
    """Say whether a leaf can be moved: a real or complex number or array."""
    if isinstance(thing, np.ndarray | np.generic):
        return thing.dtype.kind in "fc"
    return isinstance(thing, float | complex)


def moved(thing: Any, path: str, change: Callable[[str, Any], Any]) -> Any:
    """Return a structure with each of its numbers replaced, anything else as it is."""
    paths = iter([found for found, _ in numbers(thing, path)])
    return mapped(thing, lambda x: change(next(paths), x) if is_number(x) else x)


class Direction:
    """Random relative moves of all the numbers of some arguments."""

    def __init__(self, items: dict[str, Any], seed: int, floor: float = 0.1) -> None:
        """Choose moves.

        items : the arguments by name.
        floor : the least move of an entry, in parts of its array's size.
        """
        noise = Noise(seed)
        self.moves: dict[str, Any] = {}
        for name, item in items.items():
            for path, leaf in numbers(item, name):
                self.moves[path] = self._move(np.asarray(leaf), noise, floor)

    def _move(self, leaf: Any, noise: Noise, floor: float) -> Any:
        sizes = np.abs(leaf).astype(np.float64)
        finite = np.isfinite(sizes)
        sizes = np.where(finite, sizes, 0.0)
        largest = float(np.max(sizes, initial=0.0))
        scale = np.ones(leaf.shape)
        if largest:
            usual = largest * math.sqrt(float(np.mean((sizes / largest) ** 2)))
            scale = np.maximum(sizes, floor * usual)
        chosen = noise.uniform(0.5, 1.5, (2, *leaf.shape))
        chosen *= np.sign(noise.uniform(-1.0, 1.0, (2, *leaf.shape)))
        move = chosen[0] + 1j * chosen[1] if leaf.dtype.kind == "c" else chosen[0]
        return np.where(finite, move * scale, 0.0)

    def at(self, item: Any, name: str, t: float) -> Any:
        """Return one argument moved by `t`; it shares no numbers with what it was."""

        def change(path: str, leaf: Any) -> Any:
            move = self.moves[path]
            if isinstance(leaf, np.ndarray):
                new = _laid_out_like(leaf)
                with np.errstate(all="ignore"):
                    new[...] = leaf + (t * move).astype(leaf.dtype)
                new.flags.writeable = leaf.flags.writeable
                return new
            return type(leaf)(leaf + t * move[()])

        return moved(item, name, change)

    def slope(self, items: dict[str, Any], gradient: dict[str, Any]) -> float:
        """Return the derivative along the direction that a gradient states."""
        total = 0.0
        for name, item in items.items():
            found = dict(numbers(gradient[name], name))
            for path, _ in numbers(item, name):
                move, part = self.moves[path], np.asarray(found[path])
                with np.errstate(all="ignore"):
                    product = np.where(move != 0, part * move, 0.0)
                    total += float(np.sum(product.real, dtype=np.float64))
        return total


def _laid_out_like(leaf: Any) -> Any:
    """Return new room for an array, with its strides where these make sense."""
    flags = leaf.flags
    if flags.c_contiguous or flags.f_contiguous or not leaf.ndim or not leaf.size:
        made: Any = np.empty_like(leaf, order="K", subok=False)
        return made.view(type(leaf))
    # No view of whole memory, as the user's is none.
    wide = np.empty_like(np.repeat(leaf, 2, axis=-1), order="K", subok=False)
    return wide[..., ::2].view(type(leaf))


def slope_along(
    value: Callable[[float], float],
    middle: float,
    step: float,
    precision: float,
    careful: bool = False,
) -> Slope:
    """Take differences at two steps.

    value : the function along the direction.
    middle : its value at 0.
    precision : the relative rounding of the value.
    careful : see by some more values how far rounding moves them.
    """
    sizes, central, jumps = [abs(middle)], [], []
    for h in (step, step / TIMES):
        right, left = value(h), value(-h)
        if not (math.isfinite(right) and math.isfinite(left)):
            return Slope(math.nan, math.nan)
        central.append((right - left) / (2 * h))
        # Where the slopes to both sides differ there is no derivative.
        jumps.append(abs((right - middle) / h - (middle - left) / h))
        sizes += [abs(right), abs(left)]
    rounding = 16 * precision * max(sizes)
    if careful:
        near = [value(k * precision) for k in (-9.0, -4.0, 4.0, 9.0)]
        rounding += 4 * max(abs(one - middle) for one in near)
    noise = rounding * TIMES / step
    if not any(central) and not any(jumps):
        # All is one number: what is lost in rounding, as beyond a saturated function,
        # cannot be told from what has no slope, unless this would have been seen.
        noise += 1e-6 * max(1.0, abs(middle))
    gap = abs(central[0] - central[1])
    # A curve's slopes come together as the step shrinks, and its central ones faster.
    smooth = jumps[1] <= 0.4 * jumps[0] + noise and gap <= 0.1 * jumps[0] + noise
    return Slope(central[1], gap + jumps[1] + noise, smooth)
