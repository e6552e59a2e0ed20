"""Gradients by finite differences of the plain function, on nested arguments.

The oracle knows nothing of symback: it walks a parameter's structure (floats, arrays,
lists, tuples, dicts, NamedTuples, dataclasses), moves one entry at a time, runs the
user's own function, and extrapolates central differences by Richardson's scheme.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "Estimate",
    "bind",
    "entries",
    "get_entry",
    "mismatches",
    "numeric_gradient",
    "same_structure",
    "set_entry",
    "unchanged",
    "wrt_names",
]

#: A path into nested containers, then an index into an array (or None at a float).
Entry = tuple[tuple[Any, ...], tuple[int, ...] | None]

#: Steps h, h/2, ... of the tableau.  The largest keeps rounding at about 1e-13 |f|;
#: its h**2 error is removed by the extrapolation.
FIRST_STEP = 2e-3
LEVELS = 6


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A derivative by one entry and how far two extrapolations of it differ."""

    value: float
    error: float


def is_named_tuple(tree: Any) -> bool:
    """Return whether `tree` is an instance of a NamedTuple."""
    return isinstance(tree, tuple) and hasattr(tree, "_fields")


def children(tree: Any) -> list[tuple[Any, Any]] | None:
    """Return (key, child) pairs of a container, or None at a leaf."""
    if is_named_tuple(tree):
        return [(name, getattr(tree, name)) for name in tree._fields]
    if isinstance(tree, list | tuple):
        return list(enumerate(tree))
    if isinstance(tree, Mapping):
        return list(tree.items())
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [(f.name, getattr(tree, f.name)) for f in dataclasses.fields(tree)]
    return None


def is_number(leaf: Any) -> bool:
    """Return whether a leaf can be differentiated by: a real number or array."""
    if isinstance(leaf, bool | np.bool_):
        return False
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind in "fiu"
    return isinstance(leaf, int | float | np.integer | np.floating)


def entries(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[Entry]:
    """Yield every number of a nested parameter as (path, index)."""
    below = children(tree)
    if below is not None:
        for key, child in below:
            yield from entries(child, (*path, key))
    elif isinstance(tree, np.ndarray) and is_number(tree):
        for index in np.ndindex(tree.shape):
            yield path, index
    elif is_number(tree):
        yield path, None


def child(tree: Any, key: Any) -> Any:
    """Return one child of a container by its key."""
    if is_named_tuple(tree) or dataclasses.is_dataclass(tree):
        return getattr(tree, key)
    return tree[key]


def get_entry(tree: Any, entry: Entry) -> float:
    """Return the number at an entry; a missing place is an error, not a zero."""
    path, index = entry
    for key in path:
        tree = child(tree, key)
    if index is None:
        return float(tree)
    return float(np.asarray(tree)[index])


def set_entry(tree: Any, entry: Entry, number: float) -> Any:
    """Return a copy of the tree with one number replaced, integers made floats."""
    path, index = entry
    if path:
        key, rest = path[0], (path[1:], index)
        new = set_entry(child(tree, key), rest, number)
        if is_named_tuple(tree):
            return tree._replace(**{key: new})
        if isinstance(tree, tuple):
            return tuple(new if i == key else x for i, x in enumerate(tree))
        result = copy.copy(tree)
        if dataclasses.is_dataclass(tree):
            object.__setattr__(result, key, new)
        else:
            result[key] = new
        return result
    if index is None:
        return float(number)
    array = np.array(tree, dtype=np.float64)
    array[index] = number
    return array


def widen(tree: Any) -> Any:
    """Return the tree with float32 and float16 made float64, for exact differences."""
    if isinstance(tree, np.ndarray) and tree.dtype.kind == "f":
        return tree.astype(np.float64)
    if isinstance(tree, np.floating):
        return np.float64(tree)
    if is_named_tuple(tree):
        return type(tree)(*map(widen, tree))
    if isinstance(tree, list | tuple):
        return type(tree)(map(widen, tree))
    if isinstance(tree, dict):
        return {key: widen(value) for key, value in tree.items()}
    return tree


def bind(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[inspect.BoundArguments, tuple[str, ...]]:
    """Bind the arguments and return them with the names of the parameters."""
    signature = inspect.signature(fn)
    return signature.bind(*args, **kwargs), tuple(signature.parameters)


def wrt_names(fn: Callable[..., Any], wrt: Any) -> tuple[tuple[str, ...], bool]:
    """Return the names that `wrt` means, and whether one gradient is expected."""
    parameters = tuple(inspect.signature(fn).parameters)
    if wrt == "all":
        return parameters, False
    single = not isinstance(wrt, tuple)
    chosen = (wrt,) if single else wrt
    names = tuple(parameters[w] if isinstance(w, int) else w for w in chosen)
    return names, single


def differentiate(along: Callable[[float], float], scale: float) -> Estimate:
    """Return d along/dt at t = 0 by Richardson's extrapolation.

    Each row halves the step, each column removes one even power of it.  The entry
    whose neighbours agree best is returned: where a branch or a kink lies inside the
    first steps, that is an entry built from smaller ones only.
    """
    step = FIRST_STEP * scale
    rows: list[list[float]] = []
    best = Estimate(np.nan, np.inf)
    for level in range(LEVELS):
        h = step / 2**level
        row = [(along(h) - along(-h)) / (2 * h)]
        for column in range(1, level + 1):
            factor = 4.0**column
            before = rows[-1][column - 1]
            row.append(row[-1] + (row[-1] - before) / (factor - 1))
            error = max(abs(row[-1] - row[-2]), abs(row[-1] - before))
            if error < best.error:
                best = Estimate(row[-1], error)
        rows.append(row)
    return best


def numeric_gradient(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    name: str,
) -> dict[Entry, Estimate]:
    """Return the derivative of `fn` by every number of the parameter `name`."""
    bound, _ = bind(fn, args, kwargs)
    bound.apply_defaults()
    point = {key: widen(value) for key, value in bound.arguments.items()}

    def at(entry: Entry, number: float) -> float:
        moved = copy.deepcopy(point)
        moved[name] = set_entry(moved[name], entry, number)
        call = inspect.BoundArguments(bound.signature, moved)  # type: ignore[arg-type]
        return float(fn(*call.args, **call.kwargs))

    result = {}
    for entry in entries(point[name]):
        start = get_entry(point[name], entry)

        def along(t: float, entry: Entry = entry, start: float = start) -> float:
            return at(entry, start + t)

        result[entry] = differentiate(along, max(1.0, abs(start)))
    return result


def same_structure(gradient: Any, parameter: Any, where: str = "") -> list[str]:
    """Say where a gradient's structure, shape or dtype is not the parameter's."""
    below = children(parameter)
    if below is not None:
        if type(gradient) is not type(parameter):
            return [f"{where}: {type(gradient).__name__} for {type(parameter)}"]
        mine = children(gradient)
        assert mine is not None
        if [key for key, _ in mine] != [key for key, _ in below]:
            return [f"{where}: keys {[k for k, _ in mine]}, not {below}"]
        return [
            fault
            for (key, part), (_, whole) in zip(mine, below, strict=True)
            for fault in same_structure(part, whole, f"{where}[{key!r}]")
        ]
    if not is_number(parameter):
        return []
    faults = []
    if np.shape(gradient) != np.shape(parameter):
        faults.append(f"{where}: shape {np.shape(gradient)}, not {np.shape(parameter)}")
    if isinstance(parameter, np.ndarray):
        expected = parameter.dtype if parameter.dtype.kind == "f" else np.float64
        actual = getattr(gradient, "dtype", type(gradient))
        if actual != expected:
            faults.append(f"{where}: dtype {actual}, not {expected}")
        if parameter.ndim and not isinstance(gradient, np.ndarray):
            faults.append(f"{where}: {type(gradient).__name__}, not an array")
    elif not isinstance(gradient, float | np.floating):
        faults.append(f"{where}: {type(gradient).__name__}, not a float")
    return faults


def mismatches(
    gradient: Any, numeric: Mapping[Entry, Estimate], rtol: float, value: float
) -> list[str]:
    """Say which entries of a gradient are not the numeric ones; NaN equals nothing.

    The absolute part is the rounding of the differences: about eps |f| / h at the
    smaller steps, which 2e-9 |f| covers ten times over.
    """
    faults = []
    floor = 2e-9 * max(1.0, abs(value))
    for entry, estimate in numeric.items():
        try:
            mine = get_entry(gradient, entry)
        except (TypeError, IndexError, KeyError, AttributeError) as error:
            faults.append(f"{entry}: no such entry in the gradient ({error})")
            continue
        allowed = rtol * max(abs(mine), abs(estimate.value)) + floor
        # An infinite entry would allow itself any difference.
        if not (np.isfinite(mine) and abs(mine - estimate.value) <= allowed):
            faults.append(f"{entry}: {mine!r}, differences say {estimate.value!r}")
    return faults


def unchanged(after: Any, before: Any) -> bool:
    """Return whether an argument is bit for bit what it was, NaNs included."""
    if type(after) is not type(before):
        return False
    below = children(before)
    if below is not None:
        mine = children(after)
        assert mine is not None
        return [k for k, _ in mine] == [k for k, _ in below] and all(
            unchanged(a, b) for (_, a), (_, b) in zip(mine, below, strict=True)
        )
    if isinstance(before, np.ndarray):
        return (
            after.dtype == before.dtype
            and after.shape == before.shape
            and after.tobytes() == before.tobytes()
        )
    if isinstance(before, float) and before != before:
        return bool(after != after)
    if isinstance(before, int | float | complex | str | bool | type(None)):
        return bool(after == before)
    if hasattr(before, "__dict__") and not callable(before):
        return unchanged(vars(after), vars(before))
    return True
