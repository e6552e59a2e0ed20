"""Ufuncs and their methods on elements: call, reduce, accumulate, outer, at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .arrays import (
    SymArray,
    as_array,
    elementwise,
    has_elements,
    holds_objects,
    plain,
    plain_index,
    vectorised,
)
from .elements import Home, SymbolicValueError
from .functions import BOOLEAN, COMPARISONS, element, home
from .record import is_recording, recorded
from .sizes import Size
from .special import EVERYTHING

__all__ = ["apply_ufunc"]


def apply_ufunc(
    current: Home, ufunc: Any, method: str, inputs: Sequence[Any], kw: dict[str, Any]
) -> Any:
    """Run a ufunc or one of its methods on elements."""
    if not is_recording():
        return _apply_ufunc(current, ufunc, method, inputs, kw)

    def call(*operands: Any, **options: Any) -> Any:
        return _apply_ufunc(current, ufunc, method, operands, options)

    suffix = "" if method == "__call__" else f".{method}"
    return recorded(f"np.{ufunc.__name__}{suffix}", call, inputs, kw)


def _apply_ufunc(
    current: Home, ufunc: Any, method: str, inputs: Sequence[Any], kw: dict[str, Any]
) -> Any:
    name = ufunc.__name__
    inputs = [int(i) if isinstance(i, Size) else i for i in inputs]
    kw = {k: v for k, v in kw.items() if k not in ("casting", "order", "subok")}
    if method == "at":
        return _at(ufunc, *inputs)
    if not any(has_elements(i) for i in inputs):
        result = getattr(ufunc, method)(*map(_bare, inputs), **kw)
        kind = np.asarray(result).dtype.kind if not isinstance(result, tuple) else "f"
        if kind in "bi" and name not in ("sqrt", "exp"):
            return result
    if method == "__call__":
        return _call(ufunc, name, inputs, kw)
    if method == "outer":
        a, b = (plain(i) for i in inputs)
        spread = a.reshape(a.shape + (1,) * b.ndim)
        return _call(ufunc, name, (spread, b), kw)
    function = _function(name)
    array = plain(as_array(inputs[0], current)).astype(object)
    kw.pop("dtype", None)
    out = kw.pop("out", None)
    if method == "reduce":
        result = _reduce(ufunc, name, function, array, *inputs[1:], **kw)
    elif method == "accumulate":
        axis = kw.get("axis", inputs[1] if len(inputs) > 1 else 0)
        result = vectorised(function, 2).accumulate(array, axis=axis)
    elif method == "reduceat":
        axis = kw.get("axis", 0)
        result = vectorised(function, 2).reduceat(array, inputs[1], axis=axis)
    else:
        raise SymbolicValueError(f"np.{name}.{method} has no symbolic form")
    return _deliver(result, out, name in COMPARISONS or name in BOOLEAN)


SEVERAL = {
    "fresnel": ("fresnels", "fresnelc"),
    "sici": ("Si", "Ci"),
    "shichi": ("Shi", "Chi"),
    "airy": ("airyai", "airyaiprime", "airybi", "airybiprime"),
}
"""Ufuncs of SciPy with several outputs."""


def _elementary(name: str, x: Any) -> Any:
    return home().call(name, x)


def _bare(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, SymArray) else x


def _function(name: str) -> Callable[..., Any]:
    try:
        return EVERYTHING[name]
    except KeyError:
        raise SymbolicValueError(f"np.{name} has no symbolic form") from None


def _call(ufunc: Any, name: str, inputs: Sequence[Any], kw: dict[str, Any]) -> Any:
    where = kw.pop("where", True)
    out = kw.pop("out", None)
    kw.pop("dtype", None)
    if name in ("matmul", "vecdot", "matvec", "vecmat"):
        return _deliver(_matmul(name, *inputs), out, False)
    if name in ("divmod", "modf", "frexp"):
        return _pair(name, inputs)
    if name in SEVERAL:
        return tuple(
            _deliver(elementwise(partial(_elementary, part), *inputs), None, False)
            for part in SEVERAL[name]
        )
    function = _function(name)
    boolean = name in COMPARISONS or name in BOOLEAN
    if (
        where is True
        and out is None
        and not any(isinstance(i, (np.ndarray, list, tuple)) for i in inputs)
    ):
        result = function(*inputs)
        return np.bool_(result) if boolean else result
    arrays = [plain(i).astype(object) for i in inputs]
    if where is True:
        return _deliver(vectorised(function, len(arrays))(*arrays), out, boolean)
    return _masked(function, arrays, plain(where), out, boolean)


def _masked(
    function: Any, arrays: list[Any], where: Any, out: Any, boolean: bool
) -> Any:
    """Run a function only where a mask is true, as ufuncs do with `where=`."""
    arrays = list(np.broadcast_arrays(*arrays))
    shape = np.broadcast_shapes(arrays[0].shape, where.shape)
    arrays = [np.broadcast_to(a, shape) for a in arrays]
    mask = np.broadcast_to(where.astype(bool), shape)
    target = out[0] if isinstance(out, tuple) else out
    if target is None:
        # NumPy leaves the others uninitialised; nothing may depend on them.
        target = as_array(np.full(shape, np.nan), home())
    store = target.view(np.ndarray)
    for index in np.ndindex(*shape):
        if mask[index]:
            value = function(*(a[index] for a in arrays))
            store[index] = bool(value) if boolean else value
    return target


def _deliver(result: Any, out: Any, boolean: bool) -> Any:
    if isinstance(out, tuple):
        out = out[0]
    if boolean:
        if isinstance(result, np.ndarray):
            result = result.astype(bool)
        else:
            result = np.bool_(bool(result))
    elif isinstance(result, np.ndarray):
        result = as_array(result, home())
    if out is None:
        return result
    if not boolean and not holds_objects(out):
        raise SymbolicValueError("a symbolic value was written into a float64 array")
    out.view(np.ndarray)[...] = plain(result)
    return out


def _pair(name: str, inputs: Sequence[Any]) -> tuple[Any, Any]:
    if name == "divmod":
        return (
            _deliver(elementwise(EVERYTHING["floor_divide"], *inputs), None, False),
            _deliver(elementwise(EVERYTHING["remainder"], *inputs), None, False),
        )
    if name == "modf":
        whole = _deliver(elementwise(EVERYTHING["trunc"], *inputs), None, False)
        return inputs[0] - whole, whole
    exponents = elementwise(_exponent, *inputs)
    if isinstance(exponents, np.ndarray):
        exponents = exponents.astype(np.int32)
    two = as_array(2.0, home())[()]
    return inputs[0] / two**exponents, exponents


def _exponent(x: Any) -> int:
    """Return e with |x| = m·2^e, ½ ≤ m < 1, and note where that is so."""
    x = abs(element(x))
    power = int(np.frexp(float(x.value))[1])
    if x < element(2) ** power and x >= element(2) ** (power - 1):
        return power
    return 0


def _reduce(
    ufunc: Any,
    name: str,
    function: Callable[..., Any],
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    boolean = name in COMPARISONS or name in BOOLEAN
    if boolean:
        flags = elementwise(bool, array).astype(bool) if array.size else array
        return ufunc.reduce(flags, axis=axis, keepdims=keepdims, where=where)
    options: dict[str, Any] = {"keepdims": keepdims}
    if initial is not np._NoValue and initial is not None:
        options["initial"] = initial
    if where is not True:
        options["where"] = plain(where)
    if ufunc in (np.add, np.multiply):
        if "where" in options:
            options.setdefault("initial", 0 if ufunc is np.add else 1)
        result = ufunc.reduce(array, axis=axis, **options)
        return result if isinstance(result, np.ndarray) else element(result)
    if where is not True:
        low = options.get("initial")
        if low is None:
            raise ValueError(f"np.{name}.reduce with `where` needs `initial`")
        array = np.where(np.broadcast_to(options["where"], array.shape), array, low)
    axes = range(array.ndim) if axis is None else np.atleast_1d(axis)
    for one in sorted((int(a) % array.ndim for a in axes), reverse=True):
        array = vectorised(function, 2).reduce(
            np.asarray(array, dtype=object), axis=one, keepdims=keepdims
        )
    if "initial" in options:
        array = elementwise(function, options["initial"], array)
    return array


def _at(ufunc: Any, target: Any, index: Any, *values: Any) -> None:
    """Do `ufunc.at` with our function: repeated indices accumulate in order."""
    if not has_elements(target):
        if any(has_elements(v) for v in values):
            raise SymbolicValueError("a symbolic value was added into a float64 array")
        ufunc.at(target, index, *values)
        return
    if isinstance(target, np.ndarray) and not holds_objects(target):
        raise SymbolicValueError("a symbolic value was added into a float64 array")
    function = _function(ufunc.__name__)
    places = np.arange(target.size).reshape(target.shape)[plain_index(index)]
    arrays = [np.broadcast_to(plain(v), np.shape(places)) for v in values]
    base = target.view(np.ndarray)
    for position in np.ndindex(*np.shape(places)):
        at = np.unravel_index(int(np.asarray(places)[position]), target.shape)
        base[at] = function(base[at], *(a[position] for a in arrays))


def _matmul(name: str, a: Any, b: Any) -> Any:
    x, y = (plain(as_array(i, home())).astype(object) for i in (a, b))
    if name == "vecdot":
        return (x * y).sum(axis=-1)
    if name == "matvec":
        return np.matmul(x, y[..., None])[..., 0]
    if name == "vecmat":
        return np.matmul(x[..., None, :], y)[..., 0, :]
    result = np.matmul(x, y)
    return result if isinstance(result, np.ndarray) else element(result)
