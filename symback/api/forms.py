"""The decorator and the functional forms.

>>> @differentiable
... def loss(w):
...     return w * w
>>> loss(3.0), loss.grad_fn(3.0), loss.value_and_grad_fn(3.0)
(9.0, 6.0, (9.0, 6.0))
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from ..errors import SymbackError
from ..run.orders import gradient_of
from .binding import Wrt
from .cache import GENERATING
from .function import DifferentiableFunction

if TYPE_CHECKING:
    from ..run import Mode

__all__ = ["differentiable", "grad", "value_and_grad"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def differentiable(
    fn: Callable[P, R],
    *,
    wrt: Wrt = 0,
    backend: str = "numpy",
    threads: int | None = None,
    witness: Mode = "gradient",
) -> DifferentiableFunction[P, R]: ...


@overload
def differentiable(
    fn: None = None,
    *,
    wrt: Wrt = 0,
    backend: str = "numpy",
    threads: int | None = None,
    witness: Mode = "gradient",
) -> Callable[[Callable[P, R]], DifferentiableFunction[P, R]]: ...


def differentiable(
    fn: Any = None,
    *,
    wrt: Wrt = 0,
    backend: str = "numpy",
    threads: int | None = None,
    witness: Mode = "gradient",
) -> Any:
    """Give a function its gradient.

    Nothing is read or generated before the first use, so helpers may be defined below.

    Args:
        fn: the function; left out when the decorator is called with arguments.
        wrt: the parameters to differentiate by: a name, a position, a tuple of either
            (then gradients are a tuple in its order), or ``"all"``.
        backend: ``"numpy"``.
        threads: None, for the calling one.
        witness: what the first call of each signature is checked for against the
            function itself: ``"gradient"`` (value and one slope; the value alone where
            the function takes longer than 0.2 s), ``"value"``, or None.  The variable
            ``SYMBACK_WITNESS`` of the environment overrides it.

    Raises:
        NotDifferentiableError: on first use, if `wrt` names no parameter.
    """
    if backend != "numpy":
        raise SymbackError(
            f"the backend {backend!r} is not available", None, 'use `backend="numpy"`.'
        )
    if threads not in (None, 1):
        raise SymbackError(
            f"`threads={threads}` is not available yet", None, "leave it out."
        )
    if witness not in ("gradient", "value", None):
        raise SymbackError(
            f"`witness={witness!r}` is unknown",
            None,
            'use `"gradient"`, `"value"` or `None`.',
        )
    if fn is None:
        return functools.partial(
            differentiable,
            wrt=wrt,
            backend=backend,
            threads=threads,
            witness=witness,
        )
    if isinstance(fn, DifferentiableFunction):
        fn = fn.__wrapped__
    return DifferentiableFunction(fn, wrt, witness)


def grad(
    f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function of the same parameters that gives the gradient.

    has_aux : `f` returns a pair, the loss and anything to carry along; the result is
        ``(gradient, aux)``.

    >>> import numpy as np
    >>> def f(x):
    ...     return np.sum(x**2)
    >>> grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _form(f, wrt, has_aux, "grad_fn")


def value_and_grad(
    f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function of the same parameters that gives ``(value, gradient)``.

    has_aux : `f` returns a pair, the loss and anything to carry along; the result is
        ``((value, aux), gradient)``.

    >>> value_and_grad(lambda x: (x**2, {"twice": 2 * x}), has_aux=True)(3.0)
    ((9.0, {'twice': 6.0}), 6.0)
    """
    return _form(f, wrt, has_aux, "value_and_grad_fn")


class WithAux(DifferentiableFunction[..., Any]):
    """A function that returns its loss and something to carry along."""

    def _source(self, bound: dict[str, Any]) -> Any:
        from ..run import generate

        with GENERATING:
            return generate(
                self._function, bound, self._wrt, self._single, has_aux=True
            )


def _with_aux(f: Any, wrt: Wrt, what: str) -> Callable[..., Any]:
    if isinstance(f, DifferentiableFunction):
        f = f.__wrapped__
    # The slope of the loss alone cannot be told from the pair.
    both = WithAux(f, wrt, "value").value_and_grad_fn

    @functools.wraps(f)
    def entry(*args: Any, **kwargs: Any) -> Any:
        (value, aux), gradient = both(*args, **kwargs)
        return (gradient, aux) if what == "grad_fn" else ((value, aux), gradient)

    return entry


def _form(
    f: Callable[..., Any], wrt: Wrt, has_aux: bool, what: str
) -> Callable[..., Any]:
    if has_aux:
        return _with_aux(f, wrt, what)
    witness = f._witness if isinstance(f, DifferentiableFunction) else "gradient"
    return GradientFunction(differentiable(f, wrt=wrt, witness=witness), what)


class GradientFunction:
    """A gradient as a function of its own, with its texts; it has a gradient itself."""

    def __init__(self, of: DifferentiableFunction[..., Any], what: str) -> None:
        self._entry: Callable[..., Any] = getattr(of, what)
        functools.update_wrapper(self, self._entry)
        self.__wrapped__ = of.__wrapped__
        self.differentiable = of
        mark = gradient_of(self._entry)
        assert mark is not None
        self._symback_gradient = replace(mark, entry=self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the gradient, or the value and the gradient."""
        return self._entry(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{self._entry.__name__}>"

    def __reduce__(self) -> Any:
        """Pickle as the function and what is taken of it."""
        valued = self._symback_gradient.valued
        what = "value_and_grad_fn" if valued else "grad_fn"
        return GradientFunction, (self.differentiable, what)

    @property
    def backward_source(self) -> str:
        """The generated module for any shapes, before any call."""
        return self.differentiable.backward_source

    def backward_source_for(self, *args: Any, **kwargs: Any) -> str:
        """Return the module that runs for these arguments' types and shapes."""
        return self.differentiable.backward_source_for(*args, **kwargs)
