"""Smaller arrays that exercise the same program: 784 columns become 3.

Equal sizes stay equal and 1 stays 1, so that a program written for symbolic sizes means
the same.  Sizes that differ by one or two, or are multiples of one another, keep that
relation where possible.  Labels follow the size that they index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .structure import leaves, rebuild

__all__ = ["Shrunk", "candidates", "shrink_array", "total_entries"]

KEEP = 4
"""Sizes up to this are left as they are."""

SMALL = 24
"""Numbers up to which nothing is shrunk at all."""


class Shrunk:
    """Values at smaller sizes.

    sizes : the old size and the new one of each dimension that changed.
    follow : whether integers equal to an old size follow it.
    """

    def __init__(
        self, values: dict[str, Any], sizes: Mapping[int, int], follow: bool
    ) -> None:
        self.sizes = {a: b for a, b in sizes.items() if a != b}
        self.follow = follow
        self.values = {
            p: rebuild(v, p, lambda n, x: self.leaf(x)) for p, v in values.items()
        }

    def leaf(self, x: Any) -> Any:
        """Return one array or number at the new sizes."""
        if isinstance(x, np.ndarray):
            return shrink_array(x, self.sizes)
        if self.follow and type(x) is int and x in self.sizes:
            return self.sizes[x]
        return x

    def __str__(self) -> str:
        return ", ".join(f"{a} → {b}" for a, b in sorted(self.sizes.items()))


def total_entries(values: Mapping[str, Any]) -> int:
    """Return how many numbers the arrays of all parameters hold."""
    return sum(
        x.size
        for p, v in values.items()
        for _, x in leaves(v, p)
        if isinstance(x, np.ndarray) and x.dtype.kind == "f"
    )


def all_sizes(values: Mapping[str, Any]) -> list[int]:
    """Return the different sizes of all dimensions of all arrays, small ones first."""
    return sorted(
        {
            d
            for p, v in values.items()
            for _, x in leaves(v, p)
            if isinstance(x, np.ndarray)
            for d in x.shape
        }
    )


def shrink_array(x: np.ndarray[Any, Any], sizes: Mapping[int, int]) -> Any:
    """Return the leading block of an array; labels are mapped into their new range."""
    block = x[tuple(slice(0, sizes.get(d, d)) for d in x.shape)].copy()
    if x.dtype.kind not in "iu" or not x.size:
        return block
    if x.ndim == 1 and np.array_equal(np.sort(x), np.arange(x.size)):
        return np.argsort(np.argsort(block)).astype(x.dtype)
    top = int(x.max())
    above = [d for d in sizes if d > top]
    if not above or block.max(initial=0) < sizes[min(above)]:
        return block
    old, new = min(above), sizes[min(above)]
    # Scaled, not wrapped around: sorted labels stay sorted.
    return np.where(block >= 0, block * new // old, block).astype(x.dtype)


def _related(sizes: list[int]) -> dict[int, int]:
    """Map sizes to small ones, keeping differences of 1 or 2 and small multiples."""
    kept = [s for s in sizes if s <= KEEP]
    pool = [s for s in (3, 2, 4, 5) if s not in kept] or [3, 2, 4]
    result = {s: s for s in kept}
    taken = 0
    for size in (s for s in sizes if s > KEEP):
        new = _from_others(size, result, kept)
        if new is None:
            new = pool[taken % len(pool)]
            taken += 1
        result[size] = new
    return result


def _from_others(size: int, known: dict[int, int], kept: list[int]) -> int | None:
    large = [s for s in known if s not in kept]
    for step in (1, 2):
        if size - step in large:
            return known[size - step] + step
    for other in large:
        if size % other == 0 and 2 <= size // other <= KEEP:
            return known[other] * (size // other)
    for other in large:
        for second in known:
            if second > 1 and other * second == size:
                return known[other] * known[second]
    return None


def _plain(sizes: list[int]) -> dict[int, int]:
    kept = [s for s in sizes if s <= KEEP]
    pool = [s for s in (3, 2, 4) if s not in kept] or [3, 2, 4]
    large = [s for s in sizes if s > KEEP]
    return {s: s for s in kept} | {s: pool[i % len(pool)] for i, s in enumerate(large)}


def candidates(values: dict[str, Any], extra: Mapping[str, Any]) -> Iterator[Shrunk]:
    """Yield ever less shrunk values; `extra` are captured arrays that shrink along."""
    everything = {**values, **{f" {k}": v for k, v in extra.items()}}
    sizes = all_sizes(everything)
    if total_entries(everything) <= SMALL or not any(s > KEEP for s in sizes):
        yield Shrunk(values, {}, follow=False)
        return
    maps = [_related(sizes), _plain(sizes)]
    maps += [{s: min(s, top) for s in sizes} for top in (4, 6, 8, 12)]
    tried: list[dict[int, int]] = []
    for one in maps:
        if one in tried:
            continue
        tried.append(one)
        integers = {
            x for p, v in values.items() for _, x in leaves(v, p) if type(x) is int
        }
        if integers & {a for a, b in one.items() if a != b}:
            yield Shrunk(values, one, follow=True)
        yield Shrunk(values, one, follow=False)
