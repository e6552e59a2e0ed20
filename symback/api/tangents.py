"""Forward mode, and what is built of tangents and cotangents of every order.

>>> import numpy as np
>>> def f(x):
...     return x * x, np.sum(x)
>>> jvp(f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
((array([1., 4.]), np.float64(3.0)), (array([2., 0.]), np.float64(1.0)))
>>> def loss(x):
...     return x[0] ** 2 * x[1]
>>> hvp(loss)(np.array([1.0, 3.0]), np.array([1.0, 0.0]))
array([6., 2.])
>>> hessian(loss)(np.array([1.0, 3.0]))
array([[6., 2.],
       [2., 0.]])
>>> def square(x):
...     return x**2
>>> jacobian(square)(np.array([1.0, 3.0]))
array([[2., 0.],
       [0., 6.]])
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..errors import NotDifferentiableError, ShapeError
from ..run import Source
from ..structure import Structure, mapped
from .binding import Wrt
from .cache import GENERATING, Cached
from .forms import GradientFunction, grad
from .function import DifferentiableFunction
from .pullbacks import fitting, pulled

__all__ = ["hessian", "hvp", "jacobian", "jvp"]

Mode = Literal["auto", "forward", "reverse"]


class Pushed(Cached[..., Any]):
    """A function with the generated functions that push tangents forward."""

    def _source(self, bound: dict[str, Any]) -> Source:
        from ..run import generate

        with GENERATING:
            return generate(self._function, bound, self._wrt, False, forward=True)

    def push(self, bound: dict[str, Any], tangents: Sequence[Any]) -> Any:
        """Return the value and its tangent."""
        found = self._specialised(bound, tuple(bound.values()))
        return found.call((*bound.values(), *tangents))

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, integers that are differentiated as floats."""
        return self._floated(self._bound(args, kwargs))

    def point(self, bound: dict[str, Any]) -> Any:
        """Return the parameters that the derivative is by: one, or a tuple of them."""
        if self._single:
            return bound[self._wrt[0]]
        return tuple(bound[name] for name in self._wrt)

    def along(self, bound: dict[str, Any], tangent: Any) -> Any:
        """Return the tangent of the value along one of the structure of `point`."""
        return self.push(bound, [tangent] if self._single else list(tangent))[1]

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the module that runs for some arguments."""
        return self._for(args, kwargs).source.text


def pushed(f: Any, wrt: Wrt) -> Pushed:
    """Return what pushes the tangents of a function; the same for the same."""
    if isinstance(f, DifferentiableFunction):
        f = f.__wrapped__
    try:
        return _remembered(f, wrt)
    except TypeError:  # it has no hash
        return Pushed(f, wrt)


@lru_cache(maxsize=512)
def _remembered(f: Any, wrt: Wrt) -> Pushed:
    return Pushed(f, wrt)


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """Return ``f(*primals)`` and its tangent, by forward mode.

    Args:
        f: any function of the supported language; its result may be of any structure.
        primals: its arguments.
        tangents: a tangent for each, of its structure and shapes; None for one that
            does not move.

    Raises:
        ShapeError: there are more or fewer tangents than primals, or one does not fit.
        NotDifferentiableError: nothing moves.
    """
    if len(primals) != len(tangents):
        raise ShapeError(
            f"`jvp` was given {len(primals)} primals and {len(tangents)} tangents"
        )
    wrt = tuple(k for k, tangent in enumerate(tangents) if tangent is not None)
    if not wrt:
        raise NotDifferentiableError("all tangents are None: nothing moves")
    of = pushed(f, wrt)
    bound = of.bound(tuple(primals), {})
    names = list(bound)
    given = [
        fitting(tangents[k], bound[names[k]], f"tangents[{k}]", "primal") for k in wrt
    ]
    value, dot = of.push(bound, given)
    return value, dot


def hvp(f: Callable[..., Any], wrt: Wrt = 0) -> HessianProduct:
    """Return a function ``(*args, v)`` that gives the Hessian times `v`.

    The tangent of the gradient along `v`, in one generated function: no Hessian is
    formed.  `v` has the structure of the gradient; so has the result.
    """
    return HessianProduct(f, wrt)


class HessianProduct:
    """The product of a Hessian with a vector; see `hvp`."""

    def __init__(self, f: Callable[..., Any], wrt: Wrt) -> None:
        made = grad(f, wrt)
        assert isinstance(made, GradientFunction)
        self.gradient = made
        self.of = pushed(made, wrt)
        functools.update_wrapper(self, made.__wrapped__)

    def __repr__(self) -> str:
        return f"<hvp of {getattr(self, '__name__', 'f')}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the Hessian at the arguments times the last one.

        Raises:
            ShapeError: it has not the structure and shapes of the parameters.
        """
        *primals, v = args
        bound = self.of.bound(tuple(primals), kwargs)
        v = fitting(v, self.of.point(bound), "v", "parameter")
        return self.of.along(bound, v)

    def backward_source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the module that runs for these arguments (without `v`)."""
        return self.of.source_for(*args, **kwargs)


def jacobian(f: Callable[..., Any], wrt: Wrt = 0, mode: Mode = "auto") -> Jacobian:
    """Return a function of the same parameters that gives the Jacobian.

    For an array `x` and an array result it has shape ``(*result, *x)``; a container of
    parameters gives its structure, with such an array at each leaf.

    Args:
        f: returns a number or an array.
        wrt: the parameters to differentiate by.
        mode: ``"forward"``, one tangent for each number of the parameters;
            ``"reverse"``, one cotangent for each number of the result; ``"auto"``, the
            fewer ones.
    """
    return Jacobian(f, wrt, mode)


class Jacobian:
    """The Jacobian of a function as a function; see `jacobian`."""

    def __init__(self, f: Callable[..., Any], wrt: Wrt, mode: Mode) -> None:
        if mode not in ("auto", "forward", "reverse"):
            raise NotDifferentiableError(
                f"`mode={mode!r}` is unknown",
                None,
                'use `"auto"`, `"forward"` or `"reverse"`.',
            )
        if isinstance(f, DifferentiableFunction):
            f = f.__wrapped__
        self._f, self._mode = f, mode
        self.of = pushed(f, wrt)
        functools.update_wrapper(self, f)
        self.__signature__ = inspect.signature(f)

    def __repr__(self) -> str:
        return f"<jacobian of {getattr(self, '__name__', 'f')}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the Jacobian at the arguments.

        Raises:
            NotDifferentiableError: the function returns a container.
        """
        bound = self.of.bound(args, kwargs)
        at = self.of.point(bound)
        form = Structure.of(at)
        value = self._f(*args, **kwargs)
        if not isinstance(value, np.ndarray | np.generic | float | int):
            raise NotDifferentiableError(
                f"`{self.of.__name__}` returns {type(value).__name__}, not an array",
                None,
                "take the Jacobian of each part.",
            )
        forward = self._mode == "forward"
        if self._mode == "auto":
            forward = form.size <= np.size(value)
        if forward:
            matrix = self._by_tangents(bound, form, np.size(value))
        else:
            matrix = self._by_cotangents(args, kwargs, form, value)
        return _split(matrix, at, np.shape(value))

    def _by_tangents(self, bound: dict[str, Any], form: Structure, rows: int) -> Any:
        matrix = np.empty((rows, form.size))
        for k, direction in enumerate(_directions(form)):
            matrix[:, k] = np.ravel(self.of.along(bound, direction))
        return matrix

    def _by_cotangents(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], form: Structure, value: Any
    ) -> Any:
        pull = pulled(self._f, self.of._wrt)
        matrix = np.empty((np.size(value), form.size))
        basis = np.zeros(np.shape(value))
        for k in range(basis.size):
            basis.flat[k] = 1.0
            bar = basis.copy() if isinstance(value, np.ndarray) else 1.0
            bars = pull.pull_wrt(args, kwargs, bar)
            basis.flat[k] = 0.0
            matrix[k] = form.vector(bars[0] if self.of._single else bars)
        return matrix

    def backward_source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the module that gives one column for these arguments."""
        return self.of.source_for(*args, **kwargs)


def _directions(form: Structure) -> Any:
    """Yield for each number of a container the container in which it alone moves."""
    for k in range(form.size):
        basis = np.zeros(form.size)
        basis[k] = 1.0
        yield form.rebuilt(basis)


def _split(matrix: Any, at: Any, lead: tuple[int, ...]) -> Any:
    """Return the columns of a matrix in the structure of the parameters."""
    start = 0

    def leaf(like: Any) -> Any:
        nonlocal start
        size = np.size(like)
        part = matrix[:, start : start + size]
        start += size
        shaped = part.reshape((*lead, *np.shape(like)))
        return shaped.copy() if shaped.shape else float(shaped)

    return mapped(at, leaf)


def hessian(f: Callable[..., Any], wrt: Wrt = 0) -> Hessian:
    """Return a function of the same parameters that gives the Hessian.

    For an array `x` it has shape ``(*x, *x)``; for a container its structure twice: at
    each leaf stands the derivative of that leaf's gradient by the container.
    """
    return Hessian(f, wrt)


class Hessian:
    """The Hessian of a loss as a function; see `hessian`."""

    def __init__(self, f: Callable[..., Any], wrt: Wrt) -> None:
        self.product = HessianProduct(f, wrt)
        functools.update_wrapper(self, self.product.gradient.__wrapped__)
        self.__signature__ = inspect.signature(self.product.gradient)

    def __repr__(self) -> str:
        return f"<hessian of {getattr(self, '__name__', 'f')}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the Hessian at the arguments, symmetric to the last bit."""
        of = self.product.of
        bound = of.bound(args, kwargs)
        at = of.point(bound)
        form = Structure.of(at)
        matrix = np.empty((form.size, form.size))
        for k, direction in enumerate(_directions(form)):
            matrix[:, k] = form.vector(of.along(bound, direction))
        matrix = (matrix + matrix.T) / 2
        start = 0

        def rows(like: Any) -> Any:
            nonlocal start
            part = matrix[start : start + np.size(like)]
            start += np.size(like)
            return _split(part, at, np.shape(like))

        return mapped(at, rows)

    def backward_source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the module that gives one column for these arguments."""
        return self.product.backward_source_for(*args, **kwargs)
