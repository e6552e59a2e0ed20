"""Sums over the axes along which a value was broadcast, where its type tells them."""

from __future__ import annotations

from ..types import Type
from .builder import Builder
from .form import Arg, Value

__all__ = ["unbroadcast"]


def unbroadcast(build: Builder, value: Arg, primal: Arg) -> Arg:
    """Return a cotangent summed over the axes along which its primal was stretched.

    Where both types are known this is nothing, or one or two sums; where they are not,
    a call of `runtime.unbroadcast`.
    """
    found, want = build.type_of(value), build.type_of(primal)
    if found is None or want is None:
        if not isinstance(value, Value):
            return value
        return build.emit("runtime.unbroadcast", value, primal)
    if found.rank < want.rank:
        return value
    if found.rank and not want.rank:
        return build.emit("np.sum", value)
    lead = found.rank - want.rank
    ones: list[int] = []
    unsure = False
    for k in range(want.rank):
        have, need = found.dims[lead + k], want.dims[k]
        if need == "1":
            if have != "1":
                ones.append(lead + k)
        elif have == "1":
            continue
        elif have != need or have == "?":
            unsure = unsure or not _alike(found, want, lead + k, k)
    if unsure:
        return build.emit("runtime.unbroadcast", value, primal)
    if lead:
        axes: int | tuple[int, ...] = 0 if lead == 1 else tuple(range(lead))
        value = build.emit("np.sum", value, axis=axes)
        ones = [k - lead for k in ones]
    if ones:
        axes = ones[0] if len(ones) == 1 else tuple(ones)
        value = build.emit("np.sum", value, axis=axes, keepdims=True)
    return value


def _alike(found: Type, want: Type, i: int, j: int) -> bool:
    """Say whether two dimensions without names have equal sizes in all samples."""
    if not found.samples or not want.samples:
        return False
    sizes = [
        (a.shape[i], b.shape[j])
        for a, b in zip(found.samples, want.samples, strict=True)
    ]
    return all(a == b for a, b in sizes) and len({a for a, _ in sizes}) > 1
