"""NumPy and `math` for elements: what object arrays cannot do by themselves.

NumPy's own loops do most of the work, for they call Python's operators on each element.
`SymArray` is an object array that sends every ufunc and function here; `module` gives
stand-ins for whole modules, so that a program's `np.zeros(3)`, `math.exp(x)` or
`scipy.special.erf(x)` make and take elements too.

>>> from symback.verify.concolic import Tape
>>> with using(Tape(30)) as tape:
...     x = as_array([tape.input("a", 1.0), tape.input("b", 2.0)], tape)
...     np.sum(np.exp(x) * x).expr
a*exp(a) + b*exp(b)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .elements import Element, Home, SymbolicValueError
from .functions import (
    BOOLEAN,
    COMPARISONS,
    TABLE,
    element,
    home,
    inside_library,
    use_home,
)
from .record import is_recording, recorded
from .sizes import Size, counted

__all__ = [
    "SymArray",
    "apply_function",
    "apply_ufunc",
    "as_array",
    "module",
    "scalar_method",
    "using",
]

OVERRIDES: dict[Any, Callable[..., Any]] = {}
"""Our versions of library functions, by the function they stand for."""

_REAL_DTYPE = np.ndarray.dtype.__get__  # type: ignore[attr-defined] # a C descriptor

_REAL_SHAPE = np.ndarray.shape.__get__  # type: ignore[attr-defined] # a C descriptor


@contextmanager
def using(current: Any) -> Iterator[Any]:
    """Make elements of this home wherever a constant is needed."""
    from . import libraries  # registers our versions of library functions

    assert libraries
    with use_home(current):
        yield current


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register an override for library functions."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            OVERRIDES[function] = ours
        return ours

    return register


# ---------------------------------------------------------------- arrays


class SymArray(np.ndarray[Any, Any]):
    """An object array of elements that says its dtype is float64."""

    @property
    def shape(self) -> Any:
        return tuple(map(counted, _REAL_SHAPE(self)))

    @shape.setter
    def shape(self, shape: Any) -> None:
        np.ndarray.shape.__set__(self, shape)  # type: ignore[attr-defined]

    @property
    def size(self) -> Any:
        return counted(math.prod(_REAL_SHAPE(self)))

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        real = _REAL_DTYPE(self)
        return np.dtype(np.float64) if real == object else real

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        return apply_ufunc(home(), ufunc, method, inputs, kw)

    def __array_function__(self, function: Any, types: Any, args: Any, kw: Any) -> Any:
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
        index = _index(index)
        if not is_recording():
            return super().__getitem__(index)
        return recorded("getitem", lambda x: _read(x, index), (self,), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        value = recorded("setitem", _stored, (value,), {})
        if _holds_complex(value) and not _holds_complex(self):
            value = OVERRIDES[np.real](value)  # as NumPy casts into a real array
        super().__setitem__(_index(index), value)

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

    @property
    def real(self) -> Any:  # type: ignore[override]
        return OVERRIDES[np.real](self)

    @property
    def imag(self) -> Any:  # type: ignore[override]
        return OVERRIDES[np.imag](self)

    def conj(self) -> Any:
        return apply_ufunc(home(), np.conjugate, "__call__", (self,), {})

    conjugate = conj  # type: ignore[assignment]


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
    return isinstance(x, SymArray) and bool(_REAL_DTYPE(x) == object)


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
    return {"u": "i", "O": "f"}.get(kind, kind)


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
            if type(v) is float or isinstance(v, np.floating):
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
    ufunc = _vectorised(function, len(inputs))
    return ufunc(*(plain(i).astype(object) for i in inputs))


@cache
def _vectorised(function: Callable[..., Any], count: int) -> Any:
    return np.frompyfunc(function, count, 1)


# ---------------------------------------------------------------- ufuncs


def has_elements(x: Any) -> bool:
    """Return whether x holds floats or elements, as opposed to integers only."""
    if isinstance(x, SymArray):
        return _REAL_DTYPE(x) == object
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fcO"
    if isinstance(x, (list, tuple)):
        return any(has_elements(i) for i in x)
    return isinstance(x, (Element, float, complex, np.floating)) or is_complex_element(
        x
    )


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
        result = _vectorised(function, 2).accumulate(array, axis=axis)
    elif method == "reduceat":
        axis = kw.get("axis", 0)
        result = _vectorised(function, 2).reduceat(array, inputs[1], axis=axis)
    else:
        raise SymbolicValueError(f"np.{name}.{method} has no symbolic form")
    return _deliver(result, out, name in COMPARISONS or name in BOOLEAN)


def _bare(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, SymArray) else x


def _function(name: str) -> Callable[..., Any]:
    try:
        return TABLE[name]
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
        return _deliver(_vectorised(function, len(arrays))(*arrays), out, boolean)
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
    if not boolean and _REAL_DTYPE(out) != object:
        raise SymbolicValueError("a symbolic value was written into a float64 array")
    out.view(np.ndarray)[...] = plain(result)
    return out


def _pair(name: str, inputs: Sequence[Any]) -> tuple[Any, Any]:
    if name == "divmod":
        return (
            _deliver(elementwise(TABLE["floor_divide"], *inputs), None, False),
            _deliver(elementwise(TABLE["remainder"], *inputs), None, False),
        )
    if name == "modf":
        whole = _deliver(elementwise(TABLE["trunc"], *inputs), None, False)
        return inputs[0] - whole, whole
    raise SymbolicValueError(f"np.{name} has no symbolic form")


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
        array = _vectorised(function, 2).reduce(
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
    if isinstance(target, np.ndarray) and _REAL_DTYPE(target) != object:
        raise SymbolicValueError("a symbolic value was added into a float64 array")
    function = _function(ufunc.__name__)
    places = np.arange(target.size).reshape(target.shape)[_index(index)]
    arrays = [np.broadcast_to(plain(v), np.shape(places)) for v in values]
    base = target.view(np.ndarray)
    for position in np.ndindex(*np.shape(places)):
        at = np.unravel_index(int(np.asarray(places)[position]), target.shape)
        base[at] = function(base[at], *(a[position] for a in arrays))


def _index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(_index(i) for i in index)
    if isinstance(index, Element):
        return int(index)
    return plain(index) if isinstance(index, SymArray) else index


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


# ---------------------------------------------------------------- functions


def apply_function(current: Home, function: Any, args: Any, kwargs: Any) -> Any:
    """Run a NumPy function on elements: ours, or NumPy's own over object arrays."""
    return recorded(
        _title(function),
        lambda *a, **kw: _apply_function(function, a, kw),
        args,
        kwargs,
    )


def _apply_function(function: Any, args: Any, kwargs: Any) -> Any:
    ours = OVERRIDES.get(function)
    if ours is not None:
        return _in_library(ours, args, kwargs)
    package = getattr(function, "__module__", "") or ""
    if package.startswith(("numpy.linalg", "numpy.fft")):
        raise SymbolicValueError(f"{_title(function)} has no symbolic form")
    return _in_library(getattr(function, "_implementation", function), args, kwargs)


def _in_library(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run library code, or ours that stands in for it, and lift what it gives."""
    if function in (OVERRIDES[np.shape], OVERRIDES[np.size]):
        return function(*args, **kwargs)  # it is the program that asks for a size
    with inside_library():
        args = _plain_sizes(tuple(args))
        return finish(
            function(*args, **{k: _plain_sizes(v) for k, v in kwargs.items()})
        )


def _library(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _in_library(function, args, kwargs)


def _title(function: Any) -> str:
    package = (getattr(function, "__module__", "") or "").replace("numpy", "np")
    return f"{package}.{getattr(function, '__name__', function)}"


def scalar_method(x: Element, name: str) -> Callable[..., Any]:
    """Return a method that NumPy's scalars have, for an element."""

    def method(*args: Any, **kwargs: Any) -> Any:
        array = as_array(x, x.home)
        if name == "astype":
            return x if kind_of(args[0]) == "f" else array.astype(*args)[()]
        result = getattr(array, name)(*args, **kwargs)
        if isinstance(result, np.ndarray) and result.ndim == 0:
            return result.view(np.ndarray)[()]
        return result

    if not callable(getattr(np.ndarray, name, None)):
        raise AttributeError(name)
    return method


# ---------------------------------------------------------------- modules


class _FloatMeta(type):
    """Lets a stand-in for `float` be called, asked with isinstance and given as dtype."""

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


class StandIn:
    """A module whose functions make and take elements."""

    def __init__(self, real: ModuleType) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        value = stand_in(getattr(self._real, name), f"{self._real.__name__}.{name}")
        return value

    def __repr__(self) -> str:
        return f"<stand-in for {self._real.__name__}>"


class StandInUfunc:
    """A ufunc for elements, with its methods."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.__name__ = real.__name__

    def __call__(self, *inputs: Any, **kw: Any) -> Any:
        count = self._real.nin
        if len(inputs) > count:
            kw["out"] = inputs[count:]
        elif "out" in kw and not isinstance(kw["out"], tuple):
            kw["out"] = None if kw["out"] is None else (kw["out"],)
        return apply_ufunc(home(), self._real, "__call__", inputs[:count], kw)

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return lambda *a, **kw: finish(apply_ufunc(home(), self._real, name, a, kw))
        return getattr(self._real, name)


FLOAT_TYPES = {float, np.float64, np.float32, np.longdouble, np.float16}
CONSTANTS = {"pi": math.pi, "e": math.e, "euler_gamma": np.euler_gamma}

SCALAR_FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions of scalars or arrays that replace those of `math` and `scipy`, by full name."""


def stand_in(value: Any, title: str) -> Any:
    """Return the stand-in of a module's member, or the member where none is needed."""
    if isinstance(value, ModuleType):
        return module(value)
    if isinstance(value, type):
        return StandInFloat if value in FLOAT_TYPES else value
    if isinstance(value, np.ufunc):
        special = SCALAR_FUNCTIONS.get(title)
        if special is None:
            return _ufunc(value)
        return _recording_function(_library(special), title)
    if isinstance(value, float):
        short = title.rpartition(".")[2]
        if CONSTANTS.get(short) == value:
            return home().constant(short) if home().exact else home().lift(value)
        if title.endswith(".tau"):
            return home().constant("pi") * 2
        return value
    if title in SCALAR_FUNCTIONS:
        return _recording_function(_library(SCALAR_FUNCTIONS[title]), title)
    if title.startswith("scipy.stats") and hasattr(
        value, "logpdf" if hasattr(value, "logpdf") else "logpmf"
    ):
        from .distributions import StandInDistribution

        return StandInDistribution(title.rpartition(".")[2], value)
    if callable(value):
        return _wrapped(value, title)
    return value


_modules: dict[str, StandIn] = {}


def module(real: ModuleType) -> Any:
    """Return the stand-in of a module of NumPy, SciPy or `math`."""
    return _modules.setdefault(real.__name__, StandIn(real))


@cache
def _ufunc(value: Any) -> StandInUfunc:
    return StandInUfunc(value)


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _wrapped(value: Any, title: str) -> Any:
    from . import libraries

    ours = OVERRIDES.get(value) if _hashable(value) else None
    if ours is None and not inspect.isclass(value):
        ours = libraries.find(value, title)

    def run(*args: Any, **kwargs: Any) -> Any:
        if ours is not None:
            return _in_library(ours, args, kwargs)
        if title.startswith(libraries.NEEDS_FLOATS) and any(
            contains_elements(a) for a in (*args, *kwargs.values())
        ):
            raise SymbolicValueError(f"{title} has no symbolic form")
        return _in_library(value, args, kwargs)

    return _recording_function(run, title)


def _plain_sizes(x: Any) -> Any:
    """Return an argument with each `Size` as an int: C code divides them."""
    if isinstance(x, Size):
        return int(x)
    if type(x) in (tuple, list):
        return type(x)(map(_plain_sizes, x))
    return x


def _recording_function(run: Callable[..., Any], title: str) -> Callable[..., Any]:
    short = title.replace("numpy.", "np.")

    def function(*args: Any, **kwargs: Any) -> Any:
        return recorded(short, run, args, kwargs)

    function.__name__ = title.rpartition(".")[2]
    return function


def contains_elements(x: Any) -> bool:
    """Return whether an argument holds an element anywhere."""
    if isinstance(x, np.ndarray):
        return _REAL_DTYPE(x) == object
    if isinstance(x, (list, tuple)):
        return any(contains_elements(i) for i in x)
    if isinstance(x, dict):
        return any(contains_elements(i) for i in x.values())
    return isinstance(x, Element) or is_complex_element(x)
