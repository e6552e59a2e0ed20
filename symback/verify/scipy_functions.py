"""Our versions of SciPy's functions of whole arrays, and a few of NumPy's.

Registered by full name in `SCALAR_FUNCTIONS`, as those of `libraries` are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import functions as fn
from . import linear, special
from .arrays import (
    OVERRIDES,
    SCALAR_FUNCTIONS,
    as_array,
    elementwise,
    finish,
    has_elements,
    implements,
)
from .elements import SymbolicValueError
from .functions import element, home

__all__ = ["MATRIX_FUNCTIONS"]

Array = Any


def scipy_function(*titles: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a version of the functions with these names below `scipy`."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        for title in titles:
            SCALAR_FUNCTIONS[f"scipy.{title}"] = ours
        return ours

    return register


def each(title: str, function: Callable[..., Any]) -> None:
    """Register a function of scalars that broadcasts."""
    SCALAR_FUNCTIONS[f"scipy.special.{title}"] = lambda *a, **kw: finish(
        elementwise(function, *a)
    )


# ---------------------------------------------------------------- NumPy


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    **options: Any,
) -> Any:
    steps = OVERRIDES[np.linspace](start, stop, num, endpoint, **options)
    return finish(elementwise(fn.power, base, steps))


@implements(np.geomspace)
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, **options: Any
) -> Any:
    start, stop = (elementwise(fn.log, as_array(i, home())) for i in (start, stop))
    steps = OVERRIDES[np.linspace](start, stop, num, endpoint, **options)
    return finish(elementwise(fn.exp, steps))


# ---------------------------------------------------------------- matrices


def by_mpmath(title: str, method: str) -> Callable[[Array], Array]:
    """Return a function of one matrix that mpmath has, for numbers with 90 digits."""

    def function(a: Array) -> Array:
        context, m = linear.mpmath_matrix(a, title)
        return linear.elements_of(getattr(context, method)(m))

    return function


_expm = linear.stacked(linear.expm)


def _half(sign: int) -> Callable[[Array], Array]:
    def function(a: Array) -> Array:
        up, down = (linear.matrix(_expm(m)) for m in (a, -a))
        return (up + sign * down) / element(2)

    return function


def _quotient(top: Callable[[Array], Array], bottom: Callable[[Array], Array]) -> Any:
    return lambda a: linear.solve_matrix(
        linear.matrix(bottom(a)), linear.matrix(top(a))
    )


_sinm = by_mpmath("scipy.linalg.sinm", "sinm")
_cosm = by_mpmath("scipy.linalg.cosm", "cosm")

MATRIX_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "logm": by_mpmath("scipy.linalg.logm", "logm"),
    "sqrtm": by_mpmath("scipy.linalg.sqrtm", "sqrtm"),
    "sinm": _sinm,
    "cosm": _cosm,
    "tanm": _quotient(_sinm, _cosm),
    "sinhm": _half(-1),
    "coshm": _half(1),
    "tanhm": _quotient(_half(-1), _half(1)),
}
"""Functions of one square matrix."""

for _name, _function in MATRIX_FUNCTIONS.items():
    SCALAR_FUNCTIONS[f"scipy.linalg.{_name}"] = linear.stacked(_function)


@scipy_function("linalg.toeplitz")
def toeplitz(c: Any, r: Any = None) -> Any:
    if not has_elements(c) and (r is None or not has_elements(r)):
        import scipy.linalg

        return scipy.linalg.toeplitz(c, r)  # of places, in generated source
    column = linear.matrix(c).reshape(-1)
    row = column if r is None else linear.matrix(r).reshape(-1)
    made = np.empty((len(column), len(row)), dtype=object)
    for i in range(len(column)):
        for j in range(len(row)):
            made[i, j] = column[i - j] if i >= j else row[j - i]
    return made


@scipy_function("linalg.solve_sylvester")
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """Solve a x + x b = q: row by row, (a ⊗ 1 + 1 ⊗ bᵀ) x = q."""
    a, b, q = (linear.matrix(m) for m in (a, b, q))
    big = np.kron(a, _identity(len(b))) + np.kron(_identity(len(a)), b.T)
    return linear.solve_matrix(big, q.reshape(-1)).reshape(q.shape)


@scipy_function("linalg.solve_continuous_lyapunov", "linalg.solve_lyapunov")
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    return solve_sylvester(a, linear.matrix(a).T, q)


@scipy_function("linalg.solve_discrete_lyapunov")
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """Solve a x aᵀ − x + q = 0."""
    a, q = linear.matrix(a), linear.matrix(q)
    big = _identity(len(a) ** 2) - np.kron(a, a)
    return linear.solve_matrix(big, q.reshape(-1)).reshape(q.shape)


def _identity(n: int) -> Array:
    return np.array([[element(int(i == j)) for j in range(n)] for i in range(n)])


# ---------------------------------------------------------------- integrals, signals


@scipy_function("integrate.trapezoid")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    return np.trapezoid(as_array(y, home()), x, dx, axis)


@scipy_function("integrate.cumulative_trapezoid")
def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    y = np.moveaxis(as_array(y, home()), axis, -1)
    steps: Any = dx
    if x is not None:
        x = as_array(x, home())
        steps = np.diff(x if x.ndim == 1 else np.moveaxis(x, axis, -1), axis=-1)
    sums = np.cumsum((y[..., 1:] + y[..., :-1]) * steps / 2, axis=-1)
    if initial is not None:
        first = np.full((*sums.shape[:-1], 1), initial)
        sums = np.concatenate([first, sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


@scipy_function("integrate.simpson")
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    y = np.moveaxis(as_array(y, home()), axis, -1)
    if x is not None or y.shape[-1] % 2 == 0:
        raise SymbolicValueError(
            "scipy.integrate.simpson at given points has no symbolic form"
        )
    ends = y[..., 0] + y[..., -1]
    odd, even = np.sum(y[..., 1:-1:2], axis=-1), np.sum(y[..., 2:-1:2], axis=-1)
    return (ends + 4 * odd + 2 * even) * dx / 3


@scipy_function("signal.convolve", "signal.fftconvolve")
def convolve(a: Any, b: Any, mode: str = "full", **options: Any) -> Any:
    a, b = (linear.matrix(i) for i in (a, b))
    shape = tuple(m + n - 1 for m, n in zip(a.shape, b.shape, strict=True))
    full = np.empty(shape, dtype=object)
    full[...] = element(0)
    for place in np.ndindex(*b.shape):
        block = tuple(slice(p, p + m) for p, m in zip(place, a.shape, strict=True))
        full[block] = full[block] + a * b[place]
    if mode == "full":
        return full
    sizes = (
        a.shape
        if mode == "same"
        else tuple(abs(m - n) + 1 for m, n in zip(a.shape, b.shape, strict=True))
    )
    starts = [(f - s) // 2 for f, s in zip(shape, sizes, strict=True)]
    return full[tuple(slice(p, p + s) for p, s in zip(starts, sizes, strict=True))]


@scipy_function("signal.correlate")
def correlate(a: Any, b: Any, mode: str = "full", **options: Any) -> Any:
    turned = np.flip(linear.matrix(b))
    return convolve(a, elementwise(fn.conjugate, turned), mode)


# ---------------------------------------------------------------- distances


def _distance(u: Array, v: Array, metric: str) -> Any:
    off = u - v
    if metric == "cityblock":
        return sum((abs(d) for d in off), element(0))
    square = sum((d * d for d in off), element(0))
    if metric == "sqeuclidean":
        return square
    if metric == "euclidean":
        return fn.sqrt(square)
    raise SymbolicValueError(f"the distance {metric!r} has no symbolic form")


@scipy_function("spatial.distance.cdist")
def cdist(a: Any, b: Any, metric: str = "euclidean", **options: Any) -> Any:
    a, b = linear.matrix(a), linear.matrix(b)
    made = np.empty((len(a), len(b)), dtype=object)
    for i, j in np.ndindex(*made.shape):
        made[i, j] = _distance(a[i], b[j], metric)
    return made


@scipy_function("spatial.distance.pdist")
def pdist(x: Any, metric: str = "euclidean", **options: Any) -> Any:
    x = linear.matrix(x)
    pairs = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x))]
    made = np.empty(len(pairs), dtype=object)
    for k, (i, j) in enumerate(pairs):
        made[k] = _distance(x[i], x[j], metric)
    return made


@scipy_function("spatial.distance.squareform")
def squareform(x: Any, *args: Any, **kwargs: Any) -> Any:
    x = linear.matrix(x)
    if x.ndim == 2:
        rows, columns = np.triu_indices(len(x), 1)
        return x[rows, columns]
    n = round((1 + (1 + 8 * len(x)) ** 0.5) / 2)
    made = np.empty((n, n), dtype=object)
    made[...] = element(0)
    rows, columns = np.triu_indices(n, 1)
    made[rows, columns] = x
    made[columns, rows] = x
    return made


# ---------------------------------------------------------------- special functions


def _comb(n: Any, k: Any, *args: Any) -> Any:
    return special.EVERYTHING["binom"](n, k)


def _spherical_jn(n: Any, x: Any, derivative: bool = False) -> Any:
    if derivative:
        return n * _spherical_jn(n, x) / x - _spherical_jn(n + 1, x)
    half = element(n) + element(1) / 2
    root = fn.sqrt(fn.constant("pi") / (2 * element(x)))
    return root * home().call("besselj", half, x)


def _recurrence(step: Callable[[int, Any, Any, Any], Any], first: Any) -> Any:
    """Return a family of polynomials by its three-term recurrence."""

    def function(n: Any, x: Any) -> Any:
        order = element(n)
        if not order.is_integer():
            raise SymbolicValueError("this order has no polynomial")
        x = element(x)
        before, now = element(1), first(x)
        if int(order) == 0:
            return before
        for k in range(1, int(order)):
            before, now = now, step(k, x, now, before)
        return now

    return function


def _stdtr(df: Any, t: Any) -> Any:
    df, t = element(df), element(t)
    tail = home().call("betainc", df / 2, element(1) / 2, df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


POLYNOMIALS: dict[str, Any] = {
    "eval_hermite": _recurrence(
        lambda k, x, now, before: 2 * x * now - 2 * k * before, lambda x: 2 * x
    ),
    "eval_hermitenorm": _recurrence(
        lambda k, x, now, before: x * now - k * before, lambda x: x
    ),
    "eval_legendre": _recurrence(
        lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
        lambda x: x,
    ),
    "eval_chebyt": _recurrence(
        lambda k, x, now, before: 2 * x * now - before, lambda x: x
    ),
    "eval_chebyu": _recurrence(
        lambda k, x, now, before: 2 * x * now - before, lambda x: 2 * x
    ),
}
"""Orthogonal polynomials of whole order."""

special.EVERYTHING.update(POLYNOMIALS)
special.EVERYTHING.update(
    {
        "stdtr": _stdtr,
        "chdtr": lambda v, x: special.EVERYTHING["gammainc"](
            element(v) / 2, element(x) / 2
        ),
        "pdtr": lambda k, m: special.EVERYTHING["gammaincc"](
            element(k).__floor__() + 1, m
        ),
        "betaincc": lambda a, b, x: 1 - special.EVERYTHING["betainc"](a, b, x),
        "expn": lambda n, x: home().call("expint", n, x),
        "ellipkinc": lambda phi, m: home().call("ellipf", phi, m),
        "ellipeinc": lambda phi, m: home().call("ellipeinc", phi, m),
    }
)
each("softplus", special.EVERYTHING["softplus"])
each("factorial", lambda x: special.EVERYTHING["gamma"](element(x) + 1))
each("comb", _comb)
each("spherical_jn", _spherical_jn)
