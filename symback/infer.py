"""Types by trial: run an operation on two small stand-ins and read what NumPy says.

Every typed value carries two samples whose dimensions are different numbers wherever
the user's dimensions may differ.  An operation is typed by running it on both; two
dimensions are equal (or one) only if they are so in both samples.  So shapes, dtypes
and promotion are NumPy's own, for any function, and no shape rule is written down here.
"""

from __future__ import annotations

import builtins
import importlib
import math
import operator
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import lru_cache
from io import StringIO
from typing import Any

import numpy as np

from . import runtime
from .graph import UNDEFINED, Arg, Value, map_leaves
from .types import Type

__all__ = [
    "Sampler",
    "Unsampled",
    "evaluate",
    "interrupts",
    "quiet",
    "resolve",
    "sample_pairs",
    "silent",
]

PAIRS = [(5, 7), (7, 11), (11, 13), (13, 5), (17, 19), (19, 23), (23, 17), (29, 31)]
"""Sizes of the first symbolic dimensions in the two samples; pairwise different."""

SMALL = [(1, 2), (2, 3), (1, 3), (2, 4), (3, 4), (2, 1), (3, 1), (3, 2), (4, 2), (4, 3)]
"""Values of integers known only at run time: within every sampled dimension."""


class Unsampled(Exception):
    """An operand has no samples: nothing can be tried."""


def sample_pairs(count: int) -> Iterator[tuple[int, int]]:
    """Yield the sizes of `count` symbolic dimensions."""
    for number in range(count):
        if number < len(PAIRS):
            yield PAIRS[number]
        else:
            yield 31 + 2 * number, 33 + 4 * number


def _setitem(x: Any, index: Any, value: Any) -> Any:
    if isinstance(x, dict | list):
        copied: Any = x.copy()
        copied[index] = value
        return copied
    x = np.array(x)
    x[index] = value
    return x


def _index_add(x: Any, index: Any, value: Any) -> Any:
    if isinstance(x, list):
        x = list(x)
        x[index] = x[index] + value
        return x
    x = np.array(x)
    np.add.at(x, index, value)
    return x


def _fstring(*parts: Any) -> str:
    return "".join(p if isinstance(p, str) else str(p) for p in parts)


def _assert(*_args: Any) -> None:
    return None


SPECIAL: dict[str, Callable[..., Any]] = {
    "dim": lambda x, k: x.shape[k],
    "shape": lambda x: x.shape,
    "setitem": _setitem,
    "index_add": _index_add,
    "list": lambda *items: list(items),
    "list_append": lambda items, item: [*items, item],
    # A sample list has one item, and stands for a list of any length.
    "list_pop": lambda items: (items[:-1] or items, items[-1]),
    "list_zeros": lambda items: [np.zeros_like(v) for v in items],
    "list_reverse": lambda items: items[::-1],
    "stop_gradient": lambda x: x,
    "fstring": _fstring,
    "assert": _assert,
    "raise": _assert,
    "builtins.print": _assert,
    "attr": getattr,
    "struct": lambda like, fields: type(like)(**fields),
    "call": lambda f, args, kwargs: f(*args, **kwargs),
    "method": lambda o, name, args, kwargs: getattr(o, name)(*args, **kwargs),
    "astype": lambda x, dtype: np.asarray(x).astype(dtype)[()],
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "unpack": tuple,
    "contains": lambda item, container: item in container,
}


@lru_cache(maxsize=4096)
def resolve(op: str) -> Callable[..., Any]:
    """Return the Python function that an operation is.

    >>> resolve("np.tanh")(0.0)
    np.float64(0.0)
    >>> resolve("setitem")(np.zeros(2), 1, 5.0)
    array([0., 5.])
    """
    if op in SPECIAL:
        return SPECIAL[op]
    head, _, rest = op.partition(".")
    if not rest:
        found: Callable[..., Any] = getattr(operator, op)
        return found
    roots: dict[str, Any] = {
        "np": np,
        "math": math,
        "builtins": builtins,
        "runtime": runtime,
    }
    if head in roots:
        target = roots[head]
        for part in rest.split("."):
            target = getattr(target, part)
    else:
        module, _, name = op.rpartition(".")
        try:
            target = getattr(importlib.import_module(module), name)
        except ModuleNotFoundError:
            # A method of an object in a module: ``scipy.stats.norm.cdf``.
            outer, _, middle = module.rpartition(".")
            target = getattr(getattr(importlib.import_module(outer), middle), name)
    result: Callable[..., Any] = target
    return result


def evaluate(op: str, args: tuple[Arg, ...], kwargs: dict[str, Arg], which: int) -> Any:
    """Run an operation on the samples number `which` of its arguments."""

    def sample(leaf: Any) -> Any:
        if leaf is UNDEFINED:
            raise Unsampled
        if not isinstance(leaf, Value):
            return leaf
        if leaf.type is None or not leaf.type.samples:
            raise Unsampled
        return leaf.type.samples[which]

    args = map_leaves(sample, args)
    kwargs = map_leaves(sample, kwargs)
    if op in ("np.linalg.cholesky", "np.linalg.eigh", "np.linalg.eigvalsh"):
        matrix = np.asarray(args[0])
        if matrix.ndim >= 2 and matrix.shape[-1] == matrix.shape[-2]:
            # Any positive definite matrix of the shape will do; the sample's entries
            # need not be one.
            eye = np.eye(matrix.shape[-1], dtype=matrix.dtype)
            args = (np.broadcast_to(eye, matrix.shape), *args[1:])
    function = resolve(op)
    return function(*args, **kwargs) if callable(function) else function


class Sampler:
    """Makes samples and names dimensions; one for each lowering."""

    def __init__(self) -> None:
        self.names: dict[tuple[int, int], str] = {}
        self.fresh = 0
        self.small = 0
        self.by_key: dict[Any, tuple[int, int]] = {}

    def fresh_pair(self, key: Any = None) -> tuple[int, int]:
        """Return sizes for a dimension known only at run time; the same for one key."""
        if key is not None and key in self.by_key:
            return self.by_key[key]
        pair = (6 + 4 * self.fresh % 40, 9 + 6 * self.fresh % 60)
        self.fresh += 1
        if key is not None:
            self.by_key[key] = pair
        return pair

    def integer(self) -> Type:
        """Return the type of an integer known only at run time, as a loop's index."""
        pair = SMALL[self.small % len(SMALL)]
        self.small += 1
        return Type("python", "int", (), pair)

    def type_of(self, samples: tuple[Any, ...]) -> Type | None:
        """Return the type that the samples show, or None if they disagree."""
        first, last = samples[0], samples[-1]
        if type(first) is not type(last):
            return None
        if isinstance(first, np.ndarray):
            if first.dtype != last.dtype or first.ndim != last.ndim:
                return None
            dims = tuple(
                self.dim(a, b) for a, b in zip(first.shape, last.shape, strict=True)
            )
            return Type("array", str(first.dtype), dims, samples)
        if isinstance(first, np.generic):
            return Type("numpy", str(first.dtype), (), samples)
        if isinstance(first, bool | int | float | complex | str | None):
            return Type("python", type(first).__name__, (), samples)
        if isinstance(first, list | tuple | range):
            return Type(type(first).__name__, "", (), samples)
        return Type("object", type(first).__name__, (), samples)

    def dim(self, a: int, b: int) -> str:
        """Name a dimension by its sizes in the two samples."""
        if a == b == 1:
            return "1"
        if (a, b) in self.names:
            return self.names[a, b]
        return str(a) if a == b else "?"

    def infer(self, op: str, args: tuple[Arg, ...], kwargs: dict[str, Arg]) -> Any:
        """Return the pair of results on the samples.

        Raises:
            Unsampled: an operand has no samples.
            Exception: whatever NumPy raises where the operation fails on them.
        """
        return evaluate(op, args, kwargs, 0), evaluate(op, args, kwargs, 1)


def interrupts(problem: BaseException) -> bool:
    """Say whether the handler of a signal raised this: a time-out or an interrupt."""
    if not isinstance(problem, Exception):
        return True
    handlers = {
        getattr(getattr(h, "__func__", h), "__code__", None)
        for h in map(signal.getsignal, signal.valid_signals())
        if callable(h)
    }
    trace = problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


@contextmanager
def quiet() -> Iterator[None]:
    """Silence NumPy while samples run: their values mean nothing."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def silent() -> Iterator[None]:
    """Silence NumPy, and what the user's function prints, while it runs for symback."""
    with quiet(), redirect_stdout(StringIO()):
        yield
