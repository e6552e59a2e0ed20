"""`vjp`: the value of any function, and the map from its cotangent to its arguments'.

>>> import numpy as np
>>> def f(x, y):
...     return x * y, np.sum(x)
>>> value, pullback = vjp(f, np.array([1.0, 2.0]), 3.0)
>>> x_bar, y_bar = pullback((np.array([1.0, 1.0]), 10.0))
>>> x_bar.tolist(), float(y_bar)
([13.0, 13.0], 3.0)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..run import Source
from .cache import GENERATING, Cached
from .function import DifferentiableFunction

__all__ = ["Pullback", "fitting", "pulled", "vjp"]


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Pullback]:
    """Return ``f(*primals)`` and its pullback.

    ``pullback(out_bar)`` takes a cotangent with the value's structure and returns a
    tuple of the primals' cotangents, None for a string or None.  The pullback runs the
    forward part anew: it is one generated function, `pullback.source`.
    """
    wrt = tuple(k for k, primal in enumerate(primals) if not _is_static(primal))
    found = pulled(f, wrt)
    value = found(*primals)
    return value, Pullback(found, primals, value)


class Pullback:
    """The map from the cotangent of a value to those of the arguments."""

    def __init__(self, of: Pulled, primals: tuple[Any, ...], value: Any) -> None:
        self._of = of
        self._primals = primals
        self._value = value

    def __repr__(self) -> str:
        return f"<pullback of {self._of.__name__}>"

    def __call__(self, out_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the primals.

        Raises:
            ShapeError: the cotangent has not the structure and shape of the value.
        """
        return self._of.pull(self._primals, fitting(out_bar, self._value, "out_bar"))

    @property
    def source(self) -> str:
        """The generated module: it takes the primals and the cotangent."""
        return self._of.source_for(self._primals)


class Pulled(Cached[..., Any]):
    """A function with the generated functions that pull its cotangents back."""

    def _source(self, bound: dict[str, Any]) -> Source:
        from ..run import generate

        with GENERATING:
            return generate(self._function, bound, self._wrt, False, seed=None)

    def pull(self, primals: tuple[Any, ...], out_bar: Any) -> tuple[Any, ...]:
        """Return the cotangents of the primals for one of the value."""
        bound = self._floated(self._bound(primals, {}))
        found = self._specialised(bound, tuple(bound.values()))
        wrt = {self._names.index(name) for name in self._wrt}
        bars = iter(found.call((*bound.values(), out_bar))[1])
        return tuple(next(bars) if k in wrt else None for k in range(len(primals)))

    def pull_wrt(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], out_bar: Any
    ) -> tuple[Any, ...]:
        """Return the cotangents of `wrt` for one of the value."""
        bound = self._floated(self._bound(args, kwargs))
        found = self._specialised(bound, tuple(bound.values()))
        bars: tuple[Any, ...] = found.call((*bound.values(), out_bar))[1]
        return bars

    def source_for(self, primals: tuple[Any, ...]) -> str:
        """Return the module that runs for these primals."""
        return self._for(primals, {}).source.text


def pulled(f: Any, wrt: tuple[int | str, ...]) -> Pulled:
    """Return what pulls back the cotangents of a function; the same for the same."""
    if isinstance(f, DifferentiableFunction):
        f = f.__wrapped__
    try:
        return _remembered(f, wrt)
    except TypeError:  # it has no hash
        return Pulled(f, wrt)


@lru_cache(maxsize=512)
def _remembered(f: Any, wrt: tuple[int | str, ...]) -> Pulled:
    return Pulled(f, wrt)


def _is_static(primal: Any) -> bool:
    """Say whether an argument is nothing that has a cotangent."""
    return isinstance(primal, bool | str | bytes | None) or callable(primal)


def fitting(bar: Any, value: Any, name: str, of: str = "value") -> Any:
    """Return a cotangent (or tangent) as the generated function takes it, or refuse it.

    of : what it must have the structure of, in a word.
    """
    if isinstance(value, tuple | list):
        if not isinstance(bar, tuple | list) or len(bar) != len(value):
            raise ShapeError(
                f"`{name}` must be a {type(value).__name__} of {len(value)} cotangents"
            )
        pairs = zip(bar, value, strict=True)
        made = [fitting(b, v, f"{name}[{k}]", of) for k, (b, v) in enumerate(pairs)]
        return type(value)(*made) if hasattr(value, "_fields") else made
    if isinstance(value, dict):
        if not isinstance(bar, dict) or bar.keys() != value.keys():
            raise ShapeError(f"`{name}` must be a dict of the keys {[*value]}")
        return {k: fitting(bar[k], v, f"{name}[{k!r}]", of) for k, v in value.items()}
    if np.shape(bar) != np.shape(value):
        raise ShapeError(
            f"`{name}` has shape {np.shape(bar)}, but the {of} has {np.shape(value)}"
        )
    if isinstance(value, np.ndarray):
        kind = value.dtype if value.dtype.kind in "fc" else np.dtype(float)
        return np.asarray(bar, dtype=kind)
    return bar
