"""Our versions of NumPy's functions where object arrays are not enough.

Each `@implements` registers one.  The many NumPy functions that are not here run as
they are, over object arrays.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from . import complexes
from . import functions as fn
from .arrays import (
    OVERRIDES,
    SymArray,
    as_array,
    elementwise,
    finish,
    has_elements,
    implements,
    kind_of,
    plain,
)
from .elements import Element, SymbolicValueError
from .functions import element, home
from .sizes import Size, counted
from .ufuncs import apply_ufunc

__all__ = ["filled", "into", "iscomplexobj", "where"]

Array = Any


def into(out: Any, result: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


def lifted(x: Any) -> Array:
    """Return an argument as a base-class object array of elements, 0-d for scalars."""
    return plain(as_array(x, home())).astype(object)


def real_valued(dtype: Any) -> bool:
    return kind_of(dtype) == "f"


# ---------------------------------------------------------------- creation


@implements(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.copy)
def array(x: Any, dtype: Any = None, copy: Any = True, **options: Any) -> Any:
    if not has_elements(x) and (dtype is None or not real_valued(dtype)):
        return np.array(x, dtype=dtype, **options)
    if dtype is not None and not real_valued(dtype):
        return as_array(x, home()).astype(dtype)
    if not has_elements(x):
        x = np.asarray(x, dtype=np.float64)
    made = as_array(x, home())
    ndmin = options.get("ndmin", 0)
    if made.ndim < ndmin:
        made = made.reshape((1,) * (ndmin - made.ndim) + made.shape)
    return made.copy() if copy else made


def _as_given(x: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(x, SymArray) and (dtype is None or real_valued(dtype)):
        return x
    if isinstance(x, np.ndarray) and not has_elements(x) and dtype is None:
        return x
    return array(x, dtype, copy=False, **options)


for _function in (np.asarray, np.asanyarray, np.ascontiguousarray):
    OVERRIDES[_function] = _as_given


def filled(shape: Any, value: Any) -> Any:
    made = np.empty(shape, dtype=object)
    flat = made.reshape(-1)
    for i in range(flat.size):
        flat[i] = value
    return made.view(SymArray)


def _creator(real: Any, value: Any) -> Callable[..., Any]:
    def create(shape: Any, dtype: Any = None, **options: Any) -> Any:
        if not real_valued(dtype):
            return real(shape, dtype=dtype)
        return filled(_shape(shape), element(value))

    return create


def _shape(shape: Any) -> Any:
    if isinstance(shape, (tuple, list, np.ndarray)) and np.ndim(shape):
        return tuple(int(s) for s in shape)
    return int(shape)


# An entry of `np.empty` that is read before it is written is not a number.
OVERRIDES[np.zeros] = _creator(np.zeros, 0.0)
OVERRIDES[np.ones] = _creator(np.ones, 1.0)
OVERRIDES[np.empty] = _creator(np.empty, math.nan)


def _like(real: Any, value: Any) -> Callable[..., Any]:
    def create(x: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
        wants_float = has_elements(x) if dtype is None else real_valued(dtype)
        if not wants_float:
            return real(plain(x), dtype=dtype, shape=shape)
        made = filled(np.shape(x) if shape is None else shape, element(value))
        return complexes.to_complex(made) if dtype is None and iscomplexobj(x) else made

    return create


OVERRIDES[np.zeros_like] = _like(np.zeros_like, 0.0)
OVERRIDES[np.ones_like] = _like(np.ones_like, 1.0)
OVERRIDES[np.empty_like] = _like(np.empty_like, math.nan)


@implements(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    floats = has_elements(fill_value) if dtype is None else real_valued(dtype)
    if not floats:
        return np.full(shape, plain(fill_value), dtype=dtype)
    made = filled(_shape(shape), element(0))
    made[...] = as_array(fill_value, home())
    return made


@implements(np.full_like)
def full_like(x: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    floats = has_elements(x) if dtype is None else real_valued(dtype)
    if not floats:
        return np.full_like(plain(x), plain(fill_value), dtype=dtype)
    return full(np.shape(x), fill_value, np.float64)


@implements(np.linspace)
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, **options: Any
) -> Any:
    start, stop = (as_array(i, home()) for i in (start, stop))
    steps = num - 1 if endpoint else num
    fractions = [element(k) / steps for k in range(num)] if steps else [element(0)]
    points = [start + (stop - start) * f for f in fractions]
    return np.stack(points, axis=options.get("axis", 0))


@implements(np.arange)
def arange(*args: Any, **options: Any) -> Any:
    args = tuple(int(a) if isinstance(a, Size) else a for a in args)
    if not any(isinstance(a, Element) for a in args):
        return finish(np.arange(*args, **options))
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    count = int(-(-(element(stop) - start) // step))
    return as_array([element(start) + k * element(step) for k in range(count)], home())


@implements(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    count = len(x) if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return as_array(x, home())[:, None] ** powers


# ---------------------------------------------------------------- choice


@implements(np.where)
def where(condition: Any, *choices: Any) -> Any:
    flags = plain(condition)
    if flags.dtype == object:
        flags = elementwise(bool, flags).astype(bool)
    if not choices:
        return np.where(flags)
    if not any(has_elements(c) for c in choices):
        return np.where(flags, *(plain(c) for c in choices))
    return as_array(np.where(flags, *(lifted(c) for c in choices)), home())


@implements(np.select)
def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        result = where(condition, choice, result)
    return result


@implements(np.clip)
def clip(
    x: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **o: Any
) -> Any:
    low = o.get("min", a_min)
    high = o.get("max", a_max)
    if not any(has_elements(i) for i in (x, low, high)):
        return np.clip(x, low, high, out=out)
    if low is not None:
        x = apply_ufunc(home(), np.maximum, "__call__", (x, low), {})
    if high is not None:
        x = apply_ufunc(home(), np.minimum, "__call__", (x, high), {})
    if out is not None:
        out[...] = x
        return out
    return x


@implements(np.round, np.around)
def round_(x: Any, decimals: int = 0, out: Any = None) -> Any:
    if not has_elements(x):
        return np.round(x, decimals)
    result = elementwise(lambda v: element(v).__round__(decimals), x)
    return finish(result)


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, **limits: Any) -> Any:
    top = limits.get("posinf") or np.finfo(np.float64).max
    bottom = limits.get("neginf") or np.finfo(np.float64).min

    def function(v: Any) -> Any:
        v = element(v)
        if fn.isfinite(v):
            return v
        return element(nan if fn.isnan(v) else top if v > 0 else bottom)

    return finish(elementwise(function, x))


@implements(np.interp)
def interp(x: Any, xp: Any, yp: Any, left: Any = None, right: Any = None) -> Any:
    knots, values = lifted(xp), lifted(yp)
    if any(a.value >= b.value for a, b in pairwise(knots)):
        raise ValueError("np.interp needs increasing points")

    def function(v: Any) -> Any:
        v = element(v)
        if v < knots[0]:
            return values[0] if left is None else element(left)
        if v > knots[-1]:
            return values[-1] if right is None else element(right)
        if len(knots) == 1:
            return values[0]
        k = builtins.max(0, builtins.sum(bool(v >= knot) for knot in knots[1:-1]))
        slope = (values[k + 1] - values[k]) / (knots[k + 1] - knots[k])
        return values[k] + slope * (v - knots[k])

    return finish(elementwise(function, x))


# ---------------------------------------------------------------- shapes


def on_plain(*names: str) -> None:
    """Run these NumPy functions on base-class object arrays: they look at dtypes."""
    for name in names:
        real = getattr(np, name)

        def function(*args: Any, _real: Any = real, **kwargs: Any) -> Any:
            call = getattr(_real, "_implementation", _real)
            return call(*map(_plain_nested, args), **kwargs)

        OVERRIDES[real] = function


def _plain_nested(x: Any) -> Any:
    if isinstance(x, SymArray):
        return x.view(np.ndarray)
    if isinstance(x, (list, tuple)) and any(isinstance(i, SymArray) for i in x):
        return type(x)(_plain_nested(i) for i in x)
    return plain(x) if isinstance(x, Element) else x


on_plain("insert", "delete", "diag", "diagflat", "cross", "convolve", "correlate")
on_plain("append", "trim_zeros", "ediff1d", "searchsorted", "digitize", "kron")


_pad: Callable[..., Any] = np.pad


@implements(np.pad)
def pad(x: Any, width: Any, mode: str = "constant", **options: Any) -> Any:
    if not has_elements(x):
        return _pad(plain(x), width, mode, **options)
    x = as_array(x, home())
    if mode in ("constant", "empty"):
        places = np.pad(np.arange(x.size).reshape(x.shape), width, constant_values=-1)
        value = options.get("constant_values", 0.0)
        if np.ndim(value):
            raise SymbolicValueError(
                "np.pad with several constants has no symbolic form"
            )
        flat = np.concatenate([lifted(x).reshape(-1), lifted(value).reshape(1)])
        return finish(flat[places])
    places = _pad(np.arange(x.size).reshape(x.shape), width, mode, **options)
    return finish(lifted(x).reshape(-1)[places])


# ---------------------------------------------------------------- products


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    if not (has_elements(a) or has_elements(b)):
        return np.dot(plain(a), plain(b), out=out)
    return into(out, finish(np.dot(lifted(a), lifted(b))))


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    left, right = lifted(a).reshape(-1), lifted(b).reshape(-1)
    return np.dot(elementwise(fn.conjugate, left), right)


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    return np.inner(lifted(a), lifted(b))


@implements(np.einsum)
def einsum(subscripts: Any, *operands: Any, out: Any = None, **options: Any) -> Any:
    if not isinstance(subscripts, str):
        raise SymbolicValueError(
            "np.einsum without a subscript string has no symbolic form"
        )
    return into(out, finish(np.einsum(subscripts, *(lifted(o) for o in operands))))


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return np.tensordot(lifted(a), lifted(b), axes)


# ---------------------------------------------------------------- parts and tests


@implements(np.real)
def real(x: Any) -> Any:
    if isinstance(x, Element):
        return x
    if not has_elements(x):
        return np.real(plain(x))
    return finish(elementwise(lambda v: getattr(v, "real", v), x))


@implements(np.imag)
def imag(x: Any) -> Any:
    if not has_elements(x):
        return np.imag(plain(x))
    return finish(elementwise(lambda v: element(getattr(v, "imag", 0)), x))


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    result = np.arctan2(imag(z), real(z))
    return result * 180 / fn.constant("pi") if deg else result


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    items = plain(x).reshape(-1)
    return any(fn.is_complex(i) for i in items) or items.dtype.kind == "c"


@implements(np.isclose)
def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    def close(x: Any, y: Any) -> bool:
        x, y = element(x), element(y)
        if not (fn.isfinite(x) and fn.isfinite(y)):
            return bool(x == y) or (equal_nan and fn.isnan(x) and fn.isnan(y))
        return bool(abs(x - y) <= atol + rtol * abs(y))

    found = elementwise(close, a, b)
    return found.astype(bool) if isinstance(found, np.ndarray) else found


@implements(np.allclose)
def allclose(a: Any, b: Any, *args: Any, **kwargs: Any) -> bool:
    return bool(np.all(isclose(a, b, *args, **kwargs)))


@implements(np.array_equal)
def array_equal(a: Any, b: Any, **options: Any) -> bool:
    return np.shape(a) == np.shape(b) and bool(np.all(as_array(a, home()) == b))


@implements(np.shape)
def shape(x: Any) -> Any:
    return () if isinstance(x, Element) else tuple(map(counted, np.shape(plain(x))))


@implements(np.ndim)
def ndim(x: Any) -> int:
    return len(shape(x))


@implements(np.size)
def size(x: Any, axis: int | None = None) -> int:
    dims = shape(x)
    found: int = counted(math.prod(dims)) if axis is None else dims[axis]
    return found


OVERRIDES[np.isscalar] = lambda x: isinstance(x, Element) or np.isscalar(x)
OVERRIDES[np.finfo] = lambda dtype: np.finfo(
    np.float64 if kind_of(getattr(dtype, "dtype", dtype)) == "f" else dtype
)


@implements(np.result_type, np.promote_types)
def result_type(*things: Any) -> Any:
    kinds = [
        np.dtype(np.float64)
        if has_elements(t) or t is OVERRIDES
        else np.dtype(t.dtype)
        if hasattr(t, "dtype")
        else t
        for t in things
    ]
    return np.result_type(*kinds)
