"""Functions of scalar elements, by the names of NumPy's and SciPy's ufuncs.

Each is written with arithmetic, comparisons and a dozen elementary functions that SymPy
knows; where a function has pieces, the digits choose one and the choice is noted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from .elements import Element, Home, SymbolicValueError, is_number

__all__ = ["BOOLEAN", "COMPARISONS", "TABLE", "element", "home", "use_home"]

_HOME: ContextVar[Home] = ContextVar("home")
HALF = Fraction(1, 2)

Scalar = Any
"""An element, a pair of elements (complex), or a plain number."""


def home() -> Home:
    """Return the home in which the running program makes its elements."""
    try:
        return _HOME.get()
    except LookupError:
        raise SymbolicValueError("no symbolic run is going on") from None


def is_exact() -> bool:
    """Return whether a run goes on whose constants are exact."""
    current = _HOME.get(None)
    return current is not None and current.exact and not current.inside


@contextmanager
def inside_library() -> Iterator[None]:
    """Let library code see plain sizes: it multiplies them, and makes arrays."""
    current = home()
    current.inside += 1
    try:
        yield
    finally:
        current.inside -= 1


@contextmanager
def use_home(current: Home) -> Iterator[None]:
    """Make elements of this home within the block."""
    token = _HOME.set(current)
    try:
        yield
    finally:
        _HOME.reset(token)


def element(x: Scalar) -> Any:
    """Return a scalar as an element."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.view(np.ndarray)[()]
    return home().lift(x) if is_number(x) else x


def is_complex(x: Scalar) -> bool:
    """Return whether x is a complex number or a pair of elements."""
    return type(x).__name__ == "ComplexElement" or (
        isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float)
    )


def _constant(x: Any) -> bool:
    return is_number(x) or bool(getattr(x, "constant", False))


def number(x: Any) -> float:
    return float(x.value) if isinstance(x, Element) else float(x)


def call(name: str, *args: Scalar) -> Any:
    """Call an elementary function; constants are rounded where the home says so."""
    h = home()
    if is_complex(args[0]):
        from .complexes import call as complex_call

        return complex_call(name, *args)
    if not h.exact and all(_constant(a) for a in args):
        real = FOLDED.get(name)
        if real is not None:
            with np.errstate(all="ignore"):
                return h.lift(float(real(*map(number, args))))
    return h.call(name, *args)


FOLDED: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def elementary(name: str) -> Callable[..., Any]:
    """Return a function of `reals.FUNCTIONS` for scalars."""

    def function(*args: Scalar) -> Any:
        return call(name, *args)

    function.__name__ = name
    return function


exp = elementary("exp")
log = elementary("log")
sin = elementary("sin")
cos = elementary("cos")
tanh = elementary("tanh")
erf = elementary("erf")
erfc = elementary("erfc")
loggamma = elementary("loggamma")


def constant(name: str) -> Any:
    """Return pi or another constant, exact or rounded as the home says."""
    h = home()
    return h.constant(name) if h.exact else h.lift({"pi": np.pi, "e": np.e}[name])


def sqrt(x: Scalar) -> Any:
    if is_complex(x):
        return call("sqrt", x)
    h = home()
    if not h.exact and _constant(x):
        with np.errstate(all="ignore"):
            return h.lift(float(np.sqrt(number(x))))
    return element(x) ** HALF


def cbrt(x: Scalar) -> Any:
    x = element(x)
    third = Fraction(1, 3)
    return x**third if x >= 0 else -((-x) ** third)


def power(x: Scalar, y: Scalar) -> Any:
    if is_complex(x) or is_complex(y):
        return call("power", x, y)
    return element(x) ** element(y)


def log1p(x: Scalar) -> Any:
    return log(element(x) + 1)


def expm1(x: Scalar) -> Any:
    return exp(x) - 1


def exp2(x: Scalar) -> Any:
    return element(2) ** element(x)


def exp10(x: Scalar) -> Any:
    return element(10) ** element(x)


def log_base(base: int) -> Callable[[Scalar], Any]:
    def function(x: Scalar) -> Any:
        return log(x) / log(base)

    return function


def absolute(x: Scalar) -> Any:
    return abs(x) if is_complex(x) else abs(element(x))


def maximum(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    if a != a or b != b:
        return a if a != a else b
    return a if a >= b else b


def minimum(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    if a != a or b != b:
        return a if a != a else b
    return a if a <= b else b


def fmax(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return b if a != a else a if b != b else maximum(a, b)


def fmin(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return b if a != a else a if b != b else minimum(a, b)


def clip(x: Scalar, low: Scalar = None, high: Scalar = None) -> Any:
    if low is not None:
        x = maximum(x, low)
    return x if high is None else minimum(x, high)


def sign(x: Scalar) -> Any:
    if is_complex(x):
        return x / abs(x) if x != 0 else x
    x = element(x)
    if x != x:
        return x
    return element(1 if x > 0 else -1 if x < 0 else 0)


def heaviside(x: Scalar, at_zero: Scalar) -> Any:
    x = element(x)
    return element(1) if x > 0 else element(0) if x < 0 else element(at_zero)


def copysign(x: Scalar, y: Scalar) -> Any:
    size = absolute(x)
    return size if element(y) >= 0 else -size


def floor_divide(a: Scalar, b: Scalar) -> Any:
    return element(a) // element(b)


def remainder(a: Scalar, b: Scalar) -> Any:
    return element(a) % element(b)


def fmod(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return a - b * (a / b).__trunc__()


def rint(x: Scalar) -> Any:
    return element(x).__round__(0)


def arctan2(y: Scalar, x: Scalar) -> Any:
    y, x = element(y), element(x)
    return call("atan2", y, x)


def hypot(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return sqrt(a * a + b * b)


def logaddexp(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    if a.value == home().reals.inf or b.value == home().reals.inf:
        return maximum(a, b)
    return log(exp(a) + exp(b))


def logaddexp2(a: Scalar, b: Scalar) -> Any:
    return log(exp2(a) + exp2(b)) / log(2)


def sinc(x: Scalar) -> Any:
    """sin(πx)/(πx), 1 at 0 (NumPy's definition)."""
    x = element(x)
    if x == 0:
        return element(1)
    t = constant("pi") * x
    return sin(t) / t


def degrees(x: Scalar) -> Any:
    return element(x) * 180 / constant("pi")


def radians(x: Scalar) -> Any:
    return element(x) * constant("pi") / 180


def isnan(x: Scalar) -> bool:
    return home().ask(element(x), "is nan")


def isinf(x: Scalar) -> bool:
    return not home().ask(element(x), "is finite") and not isnan(x)


def isfinite(x: Scalar) -> bool:
    return home().ask(element(x), "is finite")


def conjugate(x: Scalar) -> Any:
    return x.conjugate() if is_complex(x) else x


def _arithmetic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make operands elements first, so that two floats give an element too."""

    def operation(a: Scalar, b: Scalar) -> Any:
        # Both: a NumPy scalar would send the operation back here.
        return function(element(a), element(b))

    return operation


def _compared(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: bool(function(element(a), element(b)))


COMPARISONS: dict[str, Callable[..., Any]] = {
    "less": _compared(operator.lt),
    "less_equal": _compared(operator.le),
    "greater": _compared(operator.gt),
    "greater_equal": _compared(operator.ge),
    "equal": _compared(operator.eq),
    "not_equal": _compared(operator.ne),
}

BOOLEAN: dict[str, Callable[..., Any]] = {
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "signbit": lambda x: bool(element(x) < 0),
    "logical_not": lambda x: not bool(x),
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}

TABLE: dict[str, Callable[..., Any]] = {
    **COMPARISONS,
    **BOOLEAN,
    "add": _arithmetic(operator.add),
    "subtract": _arithmetic(operator.sub),
    "multiply": _arithmetic(operator.mul),
    "divide": _arithmetic(operator.truediv),
    "true_divide": _arithmetic(operator.truediv),
    "power": power,
    "pow": power,
    "float_power": power,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "mod": remainder,
    "fmod": fmod,
    "negative": lambda x: -element(x),
    "positive": element,
    "absolute": absolute,
    "fabs": absolute,
    "abs": absolute,
    "sign": sign,
    "exp": exp,
    "exp2": exp2,
    "exp10": exp10,
    "expm1": expm1,
    "log": log,
    "log2": log_base(2),
    "log10": log_base(10),
    "log1p": log1p,
    "sqrt": sqrt,
    "cbrt": cbrt,
    "square": lambda x: element(x) * element(x),
    "reciprocal": lambda x: 1 / element(x),
    "sin": sin,
    "cos": cos,
    "tan": elementary("tan"),
    "arcsin": elementary("asin"),
    "arccos": elementary("acos"),
    "arctan": elementary("atan"),
    "asin": elementary("asin"),
    "acos": elementary("acos"),
    "atan": elementary("atan"),
    "arctan2": arctan2,
    "atan2": arctan2,
    "sinh": elementary("sinh"),
    "cosh": elementary("cosh"),
    "tanh": tanh,
    "arcsinh": elementary("asinh"),
    "arccosh": elementary("acosh"),
    "arctanh": elementary("atanh"),
    "asinh": elementary("asinh"),
    "acosh": elementary("acosh"),
    "atanh": elementary("atanh"),
    "deg2rad": radians,
    "radians": radians,
    "rad2deg": degrees,
    "degrees": degrees,
    "hypot": hypot,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": fmax,
    "fmin": fmin,
    "clip": clip,
    "logaddexp": logaddexp,
    "logaddexp2": logaddexp2,
    "heaviside": heaviside,
    "copysign": copysign,
    "floor": lambda x: element(x).__floor__(),
    "ceil": lambda x: element(x).__ceil__(),
    "trunc": lambda x: element(x).__trunc__(),
    "fix": lambda x: element(x).__trunc__(),
    "rint": rint,
    "conjugate": conjugate,
    "conj": conjugate,
    "ldexp": lambda x, n: element(x) * element(2) ** n,
    "sinc": sinc,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "invert": operator.invert,
}
"""Functions of scalars, by their ufuncs' names; `special` adds those of SciPy."""
