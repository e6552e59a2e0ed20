"""Object arrays of elements, which send what they cannot do themselves to our versions.

>>> from symback.verify.concolic import Tape
>>> from symback.verify.functions import use_home
>>> with use_home(Tape(30)) as _:
...     as_array([1.0, 2.0], home()).dtype
dtype('float64')
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .elements import Element, Home
from .functions import home
from .record import is_recording, recorded
from .sizes import Size, counted

__all__ = [
    "OVERRIDES",
    "SCALAR_FUNCTIONS",
    "StandInFloat",
    "SymArray",
    "as_array",
    "contains_elements",
    "elementwise",
    "finish",
    "has_elements",
    "implements",
    "is_complex_element",
    "is_symbolic_array",
    "kind_of",
    "plain",
]

REAL_DTYPE = np.ndarray.dtype.__get__


REAL_SHAPE = np.ndarray.shape.__get__


OVERRIDES: dict[Any, Callable[..., Any]] = {}
"""Our versions of library functions, by the function they stand for."""


SCALAR_FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions that replace those of `math` and `scipy`, by their full names."""


def holds_objects(array: Any) -> bool:
    """Return whether an array really holds objects, whatever its dtype says."""
    return bool(REAL_DTYPE(array).kind == "O")


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register an override for library functions."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            OVERRIDES[function] = ours
        return ours

    return register


class _FloatMeta(type):
    """Lets a stand-in for `float` be called, be a dtype, and know its instances."""

    def __call__(cls, x: Any = 0.0) -> Any:
        if isinstance(x, np.ndarray) and not isinstance(x, SymArray):
            return finish(np.asarray(x, dtype=np.float64))
        if isinstance(x, SymArray):
            return x if x.ndim else x.view(np.ndarray)[()]
        if isinstance(x, Element):
            return x
        if isinstance(x, Size):
            return home().lift(int(x)) if home().exact else float(x)
        # Python's own floats stay: what a program does with them alone is float64.
        return float(x)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, (Element, float))

    def __subclasscheck__(cls, other: Any) -> bool:
        return type.__subclasscheck__(cls, other) or issubclass(other, float)


class StandInFloat(metaclass=_FloatMeta):
    """What `float` and `np.float64` are to a program that runs on elements."""

    dtype = np.dtype(np.float64)


class SymArray(np.ndarray[Any, Any]):
    """An object array of elements that says its dtype is float64."""

    @property
    def shape(self) -> Any:
        return tuple(map(counted, REAL_SHAPE(self)))

    @shape.setter
    def shape(self, shape: Any) -> None:
        np.ndarray.shape.__set__(self, shape)  # type: ignore[attr-defined] # a slot

    @property
    def size(self) -> Any:
        return counted(math.prod(REAL_SHAPE(self)))

    @property
    def dtype(self) -> Any:
        real = REAL_DTYPE(self)
        return np.dtype(np.float64) if real.kind == "O" else real

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        from .ufuncs import apply_ufunc

        return apply_ufunc(home(), ufunc, method, inputs, kw)

    def __array_function__(self, function: Any, types: Any, args: Any, kw: Any) -> Any:
        from .standin import apply_function

        return apply_function(home(), function, args, kw)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        kind = kind_of(dtype)
        if kind == "f":
            return self.copy()
        if kind == "c":
            from .complexes import to_complex

            return to_complex(self)
        return elementwise(bool if kind == "b" else int, self).astype(dtype)

    def __getitem__(self, index: Any) -> Any:
        index = plain_index(index)
        if not is_recording():
            return super().__getitem__(index)
        return recorded("getitem", lambda x: _read(x, index), (self,), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        value = recorded("setitem", _stored, (value,), {})
        if _holds_complex(value) and not _holds_complex(self):
            value = OVERRIDES[np.real](value)  # as NumPy casts into a real array
        super().__setitem__(plain_index(index), value)

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        return recorded("transpose", lambda x: np.ndarray.transpose(x), (self,), {})

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        return plain(self).argsort(*args, **kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        return plain(self).argmax(*args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        return plain(self).argmin(*args, **kwargs)

    def tolist(self) -> Any:
        return plain(self).tolist()

    @property  # type: ignore[misc] # read only, as NumPy's is in use
    def real(self) -> Any:
        return OVERRIDES[np.real](self)

    @property  # type: ignore[misc] # as `real`
    def imag(self) -> Any:
        return OVERRIDES[np.imag](self)

    def conj(self) -> Any:
        from .ufuncs import apply_ufunc

        return apply_ufunc(home(), np.conjugate, "__call__", (self,), {})

    conjugate = conj


def _read(x: Any, index: Any) -> Any:
    return np.ndarray.__getitem__(x, index)


def _holds_complex(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return any(is_complex_element(i) for i in x.view(np.ndarray).flat)
    return is_complex_element(x)


def _stored(value: Any) -> Any:
    """Return what is written into an array of elements."""
    if isinstance(value, (float, np.floating)):
        return home().lift(value)
    if isinstance(value, np.ndarray) and not isinstance(value, SymArray):
        return as_array(value, home())
    return value


OURS = ("mean", "var", "std", "round", "clip", "dot")


NATIVE = (
    "sum prod max min cumsum cumprod reshape transpose ravel flatten swapaxes squeeze "
    "repeat take diagonal trace"
).split()


def _add_method(name: str) -> None:
    native = getattr(np.ndarray, name)

    def method(self: SymArray, *args: Any, **kwargs: Any) -> Any:
        function = OVERRIDES[getattr(np, name)] if name in OURS else native
        return recorded(f"np.{name}", function, (self, *args), kwargs)

    method.__name__ = name
    setattr(SymArray, name, method)


for _name in (*OURS, *NATIVE):
    _add_method(_name)


def is_symbolic_array(x: Any) -> bool:
    """Return whether x is an array of elements."""
    return isinstance(x, SymArray) and holds_objects(x)


def plain(x: Any) -> Any:
    """Return an array as a base-class array, or a scalar as a 0-d object array."""
    if isinstance(x, np.ndarray):
        return x.view(np.ndarray)
    if isinstance(x, Element) or is_complex_element(x):
        box = np.empty((), dtype=object)
        box[()] = x
        return box
    if isinstance(x, (list, tuple)):
        return plain(as_array(x, home()))
    return np.asarray(x)


def is_complex_element(x: Any) -> bool:
    """Return whether x is a pair of elements, real and imaginary part."""
    return type(x).__name__ == "ComplexElement"


def kind_of(dtype: Any) -> str:
    """Return f, i, b, c or another kind of dtype; None means float."""
    if dtype is None:
        return "f"
    if isinstance(dtype, type) and issubclass(dtype, StandInFloat):
        return "f"
    kind = np.dtype(dtype).kind
    return {"u": "i", "O": "f"}.get(kind, str(kind))


def as_array(x: Any, current: Home) -> Any:
    """Return x as a `SymArray` of elements; integers and booleans stay as they are."""
    if isinstance(x, SymArray):
        return x
    if isinstance(x, Element) or is_complex_element(x):
        return plain(x).view(SymArray)
    if isinstance(x, (list, tuple)):
        x = _from_nested(x)
    array = np.asarray(x)
    if array.dtype.kind == "f":
        lifted = np.empty(array.shape, dtype=object)
        flat = lifted.reshape(-1)
        for i, v in enumerate(array.reshape(-1).tolist()):
            flat[i] = current.lift(v)
        return lifted.view(SymArray)
    if array.dtype.kind == "c":
        from .complexes import to_complex

        return to_complex(array)
    if array.dtype == object:
        for i, v in enumerate(array.flat):
            if type(v) in (float, int) or isinstance(v, np.floating):
                array.flat[i] = current.lift(v)
        return array.view(SymArray)
    return array


def _from_nested(x: Any) -> Any:
    """Stack nested sequences of numbers, elements and arrays, as `np.array` does."""
    items = [
        _from_nested(i)
        if isinstance(i, (list, tuple))
        else plain(i)
        if isinstance(i, (np.ndarray, Element)) or is_complex_element(i)
        else np.asarray(i)
        for i in x
    ]
    if not items:
        return np.zeros(0)
    if len({i.shape for i in items}) > 1:
        raise ValueError("the items of an array have different shapes")
    return np.stack(items)


def finish(result: Any) -> Any:
    """Turn what a library function gave into elements where it is real-valued."""
    if isinstance(result, SymArray):
        return result
    if isinstance(result, np.ndarray):
        if result.dtype.kind in "fc" or result.dtype == object:
            return as_array(result, home())
        return result
    if isinstance(result, (float, np.floating)):
        return home().lift(result)
    if type(result) in (tuple, list):
        return type(result)(finish(r) for r in result)
    return result


def elementwise(function: Callable[..., Any], *inputs: Any) -> Any:
    """Apply a function of scalars with broadcasting; returns a base-class array."""
    if not any(isinstance(i, (np.ndarray, list, tuple)) for i in inputs):
        return function(*inputs)
    ufunc = vectorised(function, len(inputs))
    return ufunc(*(plain(i).astype(object) for i in inputs))


@cache
def vectorised(function: Callable[..., Any], count: int) -> Any:
    return np.frompyfunc(function, count, 1)


def has_elements(x: Any) -> bool:
    """Return whether x holds floats or elements, as opposed to integers only."""
    if isinstance(x, SymArray):
        return holds_objects(x)
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fcO"
    if isinstance(x, (list, tuple)):
        return any(has_elements(i) for i in x)
    return isinstance(x, (Element, float, complex, np.floating)) or is_complex_element(
        x
    )


def contains_elements(x: Any) -> bool:
    """Return whether an argument holds an element anywhere."""
    if isinstance(x, np.ndarray):
        return holds_objects(x)
    if isinstance(x, (list, tuple)):
        return any(contains_elements(i) for i in x)
    if isinstance(x, dict):
        return any(contains_elements(i) for i in x.values())
    return isinstance(x, Element) or is_complex_element(x)


def plain_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(plain_index(i) for i in index)
    if isinstance(index, Element):
        return int(index)
    return plain(index) if isinstance(index, SymArray) else index
