"""Types by trial: run an operation on small stand-ins and read what NumPy says.

Every typed value carries `SAMPLES` samples.  An operation is typed by running it on
each of them, so shapes, dtypes and promotion are NumPy's own, for any function, and no
shape rule is written down here.  Two dimensions are equal, or one, only if they are so
in every sample: their sizes are generic, so that no offset, multiple, sum, product or
quotient of some dimensions is another in all samples unless it always is.
"""

from __future__ import annotations

import builtins
import importlib
import math
import operator
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import lru_cache
from io import StringIO
from typing import Any

import numpy as np

from . import runtime
from .graph import UNDEFINED, Arg, Value, map_leaves
from .operation import Operation, operation
from .sizes import Linear, Sizes, fitted
from .types import Type

__all__ = [
    "DIMENSIONS",
    "SAMPLES",
    "Sampler",
    "Unsampled",
    "evaluate",
    "interrupts",
    "quiet",
    "resolve",
    "silent",
]

SAMPLES = 3
"""Stand-ins of every value: two decide, and the third confirms."""

DIMENSIONS: tuple[Sizes, ...] = (
    (36, 25, 40),
    (37, 33, 17),
    (31, 41, 24),
    (20, 28, 32),
    (41, 29, 22),
    (17, 23, 41),
    (33, 36, 28),
    (26, 38, 27),
)
"""Sizes of the first dimensions: generic, and no one is always the longer of two.

Found by trial: no combination of up to three of them with small factors, no quotient by
2, 3 or 4 and no product of two, with any constant added, meets another in all samples.
"""

MORE: tuple[Sizes, ...] = (
    (57, 26, 61),
    (51, 42, 19),
    (32, 55, 39),
    (44, 40, 26),
    (27, 50, 46),
    (48, 61, 37),
    (47, 34, 35),
    (28, 57, 48),
    (54, 17, 47),
    (50, 27, 29),
    (61, 22, 59),
    (19, 47, 31),
    (53, 58, 51),
    (18, 37, 36),
    (35, 48, 55),
    (60, 54, 25),
)
"""Sizes as generic as `DIMENSIONS`, of further dimensions and of counts of entries."""

INTEGERS: tuple[Sizes, ...] = (
    (8, 2, 4),
    (6, 3, 7),
    (1, 6, 7),
    (5, 8, 3),
    (4, 2, 3),
    (8, 5, 3),
    (1, 2, 4),
    (2, 7, 3),
)
"""Values of integers known only at run time: within every sampled dimension."""

SMALL: tuple[Sizes, ...] = (
    (1, 2, 0),
    (2, 3, 1),
    (1, 3, 2),
    (3, 1, 2),
    (2, 1, 3),
    (3, 2, 4),
)
"""The same where dimensions have their true sizes, which may be small."""


class Unsampled(Exception):
    """An operand has no samples: nothing can be tried."""


def more_sizes() -> Iterator[Sizes]:
    """Yield sizes that differ from one another, without end."""
    yield from MORE
    state, met = 1, {*DIMENSIONS, *MORE}
    while True:
        found = []
        for _ in range(SAMPLES):
            state = (state * 1103515245 + 12345) % 2**31
            found.append(17 + (state >> 8) % 80)
        sizes = tuple(found)
        if len(set(sizes)) == SAMPLES and sizes not in met:
            met.add(sizes)
            yield sizes


@lru_cache(maxsize=4096)
def resolve(op: str) -> Callable[..., Any]:
    """Return the Python function that an operation is.

    >>> resolve("np.tanh")(0.0)
    np.float64(0.0)
    """
    function = operation(op).function
    if function is not None:
        return function
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
    """Makes samples and names dimensions; one for each lowering.

    exact : dimensions have their true sizes, which may be small.
    symbols : sizes of the arguments by name that are free, `sizes` : all of them, and
    `actual` : what they are.
    mentions : the names of the sizes that a size without a linear form comes from.
    varying : lengths that differ from path to path, or from iteration to iteration.
    bounds : forms that are not negative with the arguments, nor in any sample.
    names : of dimensions by their sizes; what has no form is ``"?1"``, ``"?2"``, ...
    """

    def __init__(self, exact: bool = False) -> None:
        self.exact = exact
        self.symbols: dict[str, Sizes] = {}
        self.sizes: dict[str, Sizes] = {}
        self.actual: dict[str, int] = {}
        self.mentions: dict[Sizes, frozenset[str]] = {}
        self.bounds: dict[Linear, None] = {}
        self.names: dict[Sizes, str] = {}
        self.forms: dict[Sizes, Linear | None] = {}
        self.first = iter(DIMENSIONS)
        self.more = more_sizes()
        self.integers = 0
        self.places: set[Sizes] = set()
        self.by_key: dict[Any, Sizes] = {}
        self.varying: set[Sizes] = set()

    def dimension(self) -> Sizes:
        """Return sizes for one more dimension of the arguments."""
        return next(self.first, None) or next(self.more)

    def fresh(self, key: Any = None) -> Sizes:
        """Return sizes for a length known only at run time; the same for one key."""
        if key is not None and key in self.by_key:
            return self.by_key[key]
        sizes = next(self.more)
        if key is not None:
            self.by_key[key] = sizes
        return sizes

    def integer(self) -> Type:
        """Return the type of an integer known only at run time, as a loop's index."""
        table = SMALL if self.exact else INTEGERS
        values = table[self.integers % len(table)]
        self.integers += 1
        return Type("python", "int", (), values)

    def index(self, walks: Sequence[range]) -> Type:
        """Return the type of a loop's index, which walks a range in each sample.

        Its samples lie in the ranges.  They differ where it has more than one value,
        and from those of other indices as far as they can.
        """
        best: Sizes = ()
        for wish in (*INTEGERS, *SMALL):
            places = tuple(
                walk[k % len(walk)] if walk else max(walk.stop - 1, 0)
                for walk, k in zip(walks, wish, strict=True)
            )
            if places not in self.places and len(set(places)) > 1:
                best = places
                break
            if len(set(places)) > len(set(best)):
                best = places
        self.places.add(best)
        return Type("python", "int", (), best)

    def type_of(self, samples: tuple[Any, ...]) -> Type | None:
        """Return the type that the samples show, or None if they disagree."""
        first = samples[0]
        if any(type(other) is not type(first) for other in samples):
            return None
        if isinstance(first, np.ndarray):
            if any(s.dtype != first.dtype or s.ndim != first.ndim for s in samples):
                return None
            dims = tuple(map(self.dim, zip(*(s.shape for s in samples), strict=True)))
            return Type("array", str(first.dtype), dims, samples)
        if isinstance(first, np.generic):
            return Type("numpy", str(first.dtype), (), samples)
        if isinstance(first, bool | int | float | complex | str | None):
            return Type("python", type(first).__name__, (), samples)
        if isinstance(first, list | tuple | range):
            return Type(type(first).__name__, "", (), samples)
        return Type("object", type(first).__name__, (), samples)

    def dim(self, sizes: Sizes) -> str:
        """Name a dimension by its sizes in the samples."""
        found = self.names.get(sizes)
        if found is None:
            form = self.form(sizes)
            found = f"?{len(self.names)}" if form is None else str(form)
            self.names[sizes] = found
        return found

    def name(self, name: str, sizes: Sizes) -> None:
        """Name a dimension or an integer of the arguments."""
        self.symbols[name] = sizes
        self.names[sizes] = name

    def form(self, sizes: Sizes) -> Linear | None:
        """Return the linear form of the arguments' sizes that some sizes are."""
        if sizes not in self.forms:
            self.forms[sizes] = fitted(sizes, self.symbols)
        return self.forms[sizes]

    def infer(
        self, op: str, args: tuple[Arg, ...], kwargs: dict[str, Arg]
    ) -> tuple[Any, ...]:
        """Return the results on the samples.

        Raises:
            Unsampled: an operand has no samples.
            Exception: whatever NumPy raises where the operation fails on them.
        """
        known = operation(op)
        if known.home and (known.rule is None or known.rule.kind != "elementwise"):
            return _like(known, args, kwargs)
        return tuple(evaluate(op, args, kwargs, which) for which in range(SAMPLES))


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


def _like(
    op: Operation, args: tuple[Arg, ...], kwargs: Mapping[str, Arg]
) -> tuple[Any, ...]:
    """Return samples of what one of the user's own operations gives.

    It is not run on samples: a solver need not end on numbers that mean nothing.
    """
    if op.rule is None or op.like is None:
        raise Unsampled
    if not isinstance(op.like, str):
        return (op.like,) * SAMPLES
    bound = op.rule.bind(args, dict(kwargs))
    found = bound.get(op.like) if isinstance(bound, dict) else None
    if not isinstance(found, Value) or found.type is None or not found.type.samples:
        raise Unsampled
    return tuple(found.type.samples)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence NumPy while samples run: their values mean nothing."""
    with _UNSEEN, np.errstate(all="ignore"):
        yield


class _Unseen:
    """Silences warnings from the first that enters to the last that leaves.

    The filters are the whole process's: threads that each put back what they found
    would leave it silent for good.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.before = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                self.before = warnings.catch_warnings()
                self.before.__enter__()
                warnings.simplefilter("ignore")
            self.inside += 1

    def __exit__(self, *problem: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.before.__exit__(None, None, None)

    def after_fork(self) -> None:
        """Forget the parent's other threads, which a child has not."""
        self.lock = threading.Lock()
        if self.inside:
            self.before.__exit__(None, None, None)
            self.inside = 0


_UNSEEN = _Unseen()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_UNSEEN.after_fork)


@contextmanager
def silent() -> Iterator[None]:
    """Silence NumPy, and what the user's function prints, while it runs for symback."""
    with quiet(), redirect_stdout(StringIO()):
        yield
