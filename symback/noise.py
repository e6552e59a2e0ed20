"""Random numbers that are the same in every run, without what `numpy.random` imports.

>>> Noise(1).uniform(0.0, 1.0, (2,)).round(3).tolist()
[0.274, 0.906]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

__all__ = ["Noise", "is_random"]


class Noise:
    """A sequence of numbers: SplitMix64 (Steele, Lea and Flood 2014) of a counter."""

    def __init__(self, seed: int) -> None:
        self.count = seed << 32

    def uniform(self, low: float, high: float, shape: tuple[int, ...] = ()) -> Any:
        """Return the next numbers between two bounds, as an array of a shape."""
        size = math.prod(shape)
        z = np.arange(self.count + 1, self.count + 1 + size, dtype=np.uint64)
        self.count += size
        z = z * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        unit = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return (low + (high - low) * unit).reshape(shape)


def is_random(thing: Any) -> bool:
    """Say whether an object is one of NumPy's random generators."""
    random = sys.modules.get("numpy.random")
    if random is None:
        # Nobody can have made one.
        return False
    return isinstance(thing, random.Generator | random.RandomState)
