"""SymPy's loss and gradient for people: `symbolic`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from ..errors import NotDifferentiableError
from .comparison import bind
from .concolic import Tape
from .deadline import Clock
from .expressions import (
    SymbolicGradient,
    chain_gradient,
    symbol,
    to_sympy,
)
from .program import CannotRunError, Programs, is_integral, is_symbolic
from .structure import index_name, leaves, rebuild

__all__ = ["gradient_of"]

LIMIT = 200_000
"""Operations of an expression beyond which it is not written out."""


def gradient_of(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    wrt: tuple[str, ...] | str,
) -> SymbolicGradient:
    """Return SymPy's loss and gradient at the shapes of the arguments.

    Raises `NotDifferentiableError` where SymPy cannot run the function, with the line.
    """
    single = isinstance(wrt, str)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    values, parameters = bind(fn, args, kwargs)
    programs = Programs(fn, parameters, names, single)
    tape = Tape(50, clock=Clock(60.0))
    try:
        traced = programs.trace(tape, values, gradient=False)
    except CannotRunError as error:
        raise NotDifferentiableError(
            f"SymPy cannot run the function: {error.reason}"
        ) from error
    nodes = chain_gradient(traced.loss, traced.inputs)
    largest = max((n.size for n in nodes), default=0)
    if largest > LIMIT:
        raise NotDifferentiableError(
            f"the largest entry has {largest:,} operations when written out",
            hint="use smaller arrays: sizes of 2 or 3 show the same formula",
        )
    found = dict(zip(traced.names, map(to_sympy, nodes), strict=True))
    parts = tuple(rebuild(values[p], p, lambda n, x: _part(n, x, found)) for p in names)
    return SymbolicGradient(
        value=to_sympy(traced.loss),
        gradient=parts[0] if single else parts,
        names={
            p: rebuild(v, p, partial(_symbols, p in names)) for p, v in values.items()
        },
        entries=found,
        region=tuple(str(c) for c in tape.conditions if c.relation != "!="),
        _call=lambda compiled: _numeric(compiled, programs, values),
    )


def _part(name: str, x: Any, found: dict[str, Any]) -> Any:
    """Return the derivatives by one array as a matrix or an array of SymPy's."""
    if not isinstance(x, np.ndarray):
        return found.get(name, sp.Integer(0))
    items = [found[index_name(name, i)] for i in np.ndindex(*x.shape)]
    if x.ndim == 0:
        return items[0]
    if x.ndim == 2:
        return sp.ImmutableMatrix(*x.shape, items)
    return sp.ImmutableDenseNDimArray(items, x.shape)


def _symbols(active: bool, name: str, x: Any) -> Any:
    if not (is_symbolic(x) or (active and is_integral(x))):
        return None
    if not isinstance(x, np.ndarray):
        return symbol(name)
    made = np.empty(x.shape, dtype=object)
    for index in np.ndindex(*x.shape):
        made[index] = symbol(index_name(name, index))
    return made


def _numeric(
    compiled: Callable[..., Any], programs: Programs, values: dict[str, Any]
) -> Callable[..., Any]:
    """Return a function of the parameters from one of all entries."""

    def function(*args: Any, **kwargs: Any) -> Any:
        given, _ = bind(programs.fn, args, kwargs)
        flat: list[Any] = []
        for p, v in values.items():
            for (_, model), (_, x) in zip(
                leaves(v, p), leaves(given[p], p), strict=True
            ):
                if is_symbolic(model) or (p in programs.wrt and is_integral(model)):
                    flat.extend(np.asarray(x, dtype=np.float64).reshape(-1))
        value, *rest = compiled(*flat)
        position = 0

        def take(name: str, x: Any) -> Any:
            nonlocal position
            count = int(np.size(x))
            part = np.array(rest[position : position + count], dtype=np.float64)
            position += count
            return part.reshape(np.shape(x)) if isinstance(x, np.ndarray) else part[0]

        parts = tuple(rebuild(values[p], p, take) for p in programs.wrt)
        return value, parts[0] if programs.single else parts

    return function
