"""When two values agree, and when a gradient has its parameter's form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..structure import fields_of

__all__ = ["misfit", "same", "same_form", "unmovable"]


def unmovable(thing: Any) -> Iterator[Any]:
    """Yield what a parameter holds that can neither be moved nor left alone."""
    if isinstance(thing, np.ndarray):
        if thing.dtype.kind not in "fciub":
            yield thing
    elif isinstance(thing, float | complex | int | str | bytes | np.generic | None):
        return
    elif fields_of(thing) is not None:
        for _, part in fields_of(thing) or ():
            yield from unmovable(part)
    elif not callable(thing):
        yield thing


def misfit(gradient: Any, parameter: Any, name: str) -> str | None:
    """Say how a gradient's form differs from its parameter's, or return None."""
    if isinstance(parameter, np.ndarray | np.generic):
        if parameter.dtype.kind not in "fc":
            return None
        if np.shape(gradient) != parameter.shape:
            return f"`{name}` has shape {np.shape(gradient)}, not {parameter.shape}"
        dtype = getattr(gradient, "dtype", np.dtype(type(gradient)))
        if isinstance(parameter, np.ndarray) and dtype != parameter.dtype:
            return f"`{name}` has dtype {dtype}, not {parameter.dtype}"
        return None
    if isinstance(parameter, float):
        if isinstance(gradient, float | np.floating) or _is_real_0d(gradient):
            return None
        return f"`{name}` is {gradient!r}, not a number"
    if isinstance(parameter, complex | str | bytes | int | None):
        return None
    below = fields_of(parameter) or []
    found = dict(fields_of(gradient) or ())
    if below and list(found) != [key for key, _ in below]:
        return f"`{name}` has not its parameter's structure"
    for key, part in below:
        where = misfit(found[key], part, f"{name}{key}")
        if where is not None:
            return where
    return None


def _is_real_0d(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.ndim == 0 and thing.dtype.kind == "f"


def same_form(mine: Any, theirs: Any) -> bool:
    """Say whether two values are of one shape, and both real or both complex."""
    if not (np.shape(mine) == np.shape(theirs)):
        return False
    kinds = {_kind(mine), _kind(theirs)}
    # A count of zero or one number too many is the same value as a float.
    return len(kinds) == 1 or kinds == {"f", "i"}


def _kind(thing: Any) -> str:
    if isinstance(thing, bool | np.bool_ | str | bytes | None):
        return type(thing).__name__
    kind = np.asarray(thing).dtype.kind
    return "i" if kind == "u" else kind


def same(mine: Any, theirs: Any, precision: float) -> bool:
    """Say whether two values agree to rounding, NaN with NaN.

    >>> same(1.0, 1.0 + 1e-14, 2e-16), same(np.nan, np.nan, 2e-16), same(1, 2, 2e-16)
    (True, True, False)
    """
    if isinstance(theirs, tuple | list | dict):
        here, there = fields_of(mine) or [], fields_of(theirs) or []
        return [k for k, _ in here] == [k for k, _ in there] and all(
            same(a, b, precision) for (_, a), (_, b) in zip(here, there, strict=True)
        )
    if not same_form(mine, theirs):
        return False
    if isinstance(mine, str | bytes | None):
        return bool(mine == theirs)
    one, other = np.asarray(mine), np.asarray(theirs)
    if one.dtype.kind == "f" and other.dtype.kind == "f":
        # A Python number is of any precision.
        typed = isinstance(mine, np.ndarray | np.generic) and isinstance(
            theirs, np.ndarray | np.generic
        )
        if typed and one.dtype != other.dtype:
            return False
    with np.errstate(all="ignore"):
        return bool(np.allclose(one, other, 4e6 * precision, 0, equal_nan=True))
