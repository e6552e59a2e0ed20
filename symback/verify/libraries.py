"""Our versions of library functions by their full names: `math`, SciPy, linear algebra.

Imported once, on the first symbolic run.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import (
    complexes,
    linear,
    numpy_functions,
    scipy_functions,  # both register theirs
    special,
)
from . import functions as fn
from .arrays import (
    OVERRIDES,
    SCALAR_FUNCTIONS,
    as_array,
    elementwise,
    finish,
)
from .functions import element, home
from .reductions import summed
from .special import EVERYTHING

__all__ = ["NEEDS_FLOATS", "find"]

NEEDS_FLOATS = ("numpy.linalg.", "numpy.fft.", "scipy.", "math.", "numpy.lib.")
"""Where a function that we do not know would force elements to float64."""

assert numpy_functions
assert scipy_functions

# ---------------------------------------------------------------- linear algebra

for _name, _ours in linear.FUNCTIONS.items():
    OVERRIDES[getattr(np.linalg, _name)] = _ours


for _name, _ours in complexes.FFT.items():
    OVERRIDES[getattr(np.fft, _name)] = _ours
for _shuffle in (np.fft.fftshift, np.fft.ifftshift):
    OVERRIDES[_shuffle] = getattr(_shuffle, "_implementation", _shuffle)


# ---------------------------------------------------------------- math and SciPy


def _elementwise_title(title: str, function: Callable[..., Any]) -> None:
    def call(*args: Any) -> Any:
        return finish(elementwise(function, *args))

    call.__name__ = title
    SCALAR_FUNCTIONS[title] = call


def _math(name: str, function: Callable[..., Any]) -> None:
    real_function = getattr(math, name)

    def call(*args: Any) -> Any:
        scalars = [
            a[()] if isinstance(a, np.ndarray) and a.size == 1 else a for a in args
        ]
        scalars = [s.item() if isinstance(s, np.ndarray) else s for s in scalars]
        return function(*scalars)

    call.__name__ = name
    call.__doc__ = real_function.__doc__
    SCALAR_FUNCTIONS[f"math.{name}"] = call


def _math_log(x: Any, base: Any = None) -> Any:
    return fn.log(x) if base is None else fn.log(x) / fn.log(base)


for _name in (
    "exp expm1 exp2 log2 log10 log1p sqrt cbrt sin cos tan asin acos atan atan2 sinh "
    "cosh tanh asinh acosh atanh erf erfc gamma lgamma copysign fmod fabs degrees "
    "radians pow isnan isinf isfinite"
).split():
    _math(_name, EVERYTHING[_name])
_math("log", _math_log)
_math("remainder", lambda x, y: x - y * (element(x) / y).__round__(0))
_math("floor", math.floor)
_math("ceil", math.ceil)
_math("trunc", math.trunc)
_math("hypot", lambda *xs: fn.sqrt(builtins.sum(element(x) * x for x in xs)))
SCALAR_FUNCTIONS["math.fsum"] = lambda xs: builtins.sum(xs, start=element(0))
SCALAR_FUNCTIONS["math.prod"] = lambda xs, start=1: math.prod(xs, start=start)
SCALAR_FUNCTIONS["math.sumprod"] = lambda p, q: builtins.sum(
    a * b for a, b in zip(p, q, strict=True)
)
SCALAR_FUNCTIONS["math.dist"] = lambda p, q: fn.sqrt(
    builtins.sum((element(a) - b) ** 2 for a, b in zip(p, q, strict=True))
)


def _math_isclose(
    a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0
) -> bool:
    a, b = element(a), element(b)
    if not (fn.isfinite(a) and fn.isfinite(b)):
        return bool(a == b)
    size = builtins.max(abs(a), abs(b))
    return bool(abs(a - b) <= builtins.max(rel_tol * size, element(abs_tol)))


SCALAR_FUNCTIONS["math.isclose"] = _math_isclose
SCALAR_FUNCTIONS["math.ldexp"] = lambda x, n: element(x) * element(2) ** n

_elementwise_title("numpy.sinc", fn.sinc)
_elementwise_title("numpy.i0", EVERYTHING["i0"])
_elementwise_title("numpy.fix", EVERYTHING["fix"])
_elementwise_title("scipy.special.sinc", fn.sinc)
_elementwise_title("scipy.special.polygamma", special.polygamma)
_elementwise_title("scipy.special.zeta", lambda s, a=1: EVERYTHING["zeta"](s, a))
_elementwise_title("scipy.special.kn", EVERYTHING["kn"])
_elementwise_title("scipy.special.multigammaln", lambda a, d: _multigammaln(a, d))


def _multigammaln(a: Any, d: int) -> Any:
    total = fn.log(fn.constant("pi")) * d * (d - 1) / 4
    for j in range(d):
        total = total + fn.loggamma(element(a) - element(j) / 2)
    return total


def _logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, **options: Any
) -> Any:
    terms = np.exp(as_array(a, home()))
    if b is not None:
        terms = terms * b
    return np.log(summed(terms, axis, keepdims))


def _softmax(x: Any, axis: Any = None) -> Any:
    e = np.exp(as_array(x, home()))
    return e / summed(e, axis, True)


def _log_softmax(x: Any, axis: Any = None) -> Any:
    x = as_array(x, home())
    return x - _logsumexp(x, axis, keepdims=True)


SCALAR_FUNCTIONS["scipy.special.logsumexp"] = _logsumexp
SCALAR_FUNCTIONS["scipy.special.softmax"] = _softmax
SCALAR_FUNCTIONS["scipy.special.log_softmax"] = _log_softmax
for _name, _ours in linear.SCIPY.items():
    SCALAR_FUNCTIONS[f"scipy.linalg.{_name}"] = _ours


def cofactor(a: Any) -> Any:
    """Stand in for `symback.runtime.cofactor`: minors, exactly."""
    return finish(linear.stacked(linear.cofactors)(a))


SCALAR_FUNCTIONS["symback.runtime.cofactor"] = cofactor


def find(value: Any, title: str) -> Callable[..., Any] | None:
    """Return our version of a library's function by its full name, if there is one."""
    for name in (
        title,
        f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', '')}",
    ):
        public = ".".join(p for p in name.split(".") if not p.startswith("_"))
        ours = SCALAR_FUNCTIONS.get(public)
        if ours is not None:
            return ours
    return None
