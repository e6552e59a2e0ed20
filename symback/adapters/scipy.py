"""SciPy's optimisers on any container of parameters, with exact derivatives.

>>> def misfit(p, x, y):
...     return np.mean((p["a"] * np.exp(-p["k"] * x) - y) ** 2)
>>> x = np.linspace(0.0, 2.0, 9)
>>> found = minimize(misfit, {"a": 1.0, "k": 1.0}, (x, 2.0 * np.exp(-0.5 * x)))
>>> {name: round(float(value), 4) for name, value in found.params.items()}
{'a': 2.0, 'k': 0.5}
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.optimize

from ..api import DifferentiableFunction, differentiable
from ..structure import Structure, Vector, fields_of

__all__ = ["minimize"]

BY_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
"""Methods of `scipy.optimize.minimize` that use products with the Hessian."""

_scipy_minimize: Any = scipy.optimize.minimize
"""Without its overloads, which know methods and callbacks by literal types only."""

Callback = Callable[[Any], Any]


class Problem:
    """A function of a vector, for SciPy, made from one of a container of parameters.

    names : the parameters that the container stands for; several of them where the
        function is differentiated by a tuple.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        params: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any] | None,
    ) -> None:
        self.f = f if isinstance(f, DifferentiableFunction) else differentiable(f)
        self.names = self.f._wrt
        self.single = self.f._single
        if not self.single and len(params) != len(self.names):
            raise ValueError(
                f"`{self.f.__name__}` is differentiated by {', '.join(self.names)}: "
                f"give as many parameters, not {len(params)}"
            )
        self.structure = Structure.of(params)
        rest = [
            p.name
            for p in inspect.signature(self.f).parameters.values()
            if p.name not in self.names
        ]
        if len(args) > len(rest):
            raise TypeError(
                f"`{self.f.__name__}` takes {len(rest)} arguments beside "
                f"{', '.join(self.names)}; {len(args)} were given in `args`"
            )
        self.fixed = {**dict(zip(rest, args, strict=False)), **(kwargs or {})}

    def arguments(self, vector: Vector) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the function's arguments at a vector of parameters."""
        params = self.structure.rebuilt(vector)
        if self.single:
            moved = {self.names[0]: params}
        else:
            items = [item for _, item in fields_of(params) or []]
            moved = dict(zip(self.names, items, strict=True))
        bound = inspect.BoundArguments(inspect.signature(self.f), {})
        given = {**self.fixed, **moved}
        for name in bound.signature.parameters:
            if name in given:
                bound.arguments[name] = given[name]
        return bound.args, bound.kwargs

    def value_and_grad(self, vector: Vector) -> tuple[float, Vector]:
        """Return the value and the gradient; shape (n,)."""
        args, kwargs = self.arguments(vector)
        value, gradient = self.f.value_and_grad_fn(*args, **kwargs)
        return float(value), self.structure.vector(
            _alike(self.structure.like, gradient)
        )

    def limits(self, bounds: Any) -> scipy.optimize.Bounds | None:
        """Return bounds of the vector from bounds of the container's leaves.

        bounds : None, SciPy's own, or the container's structure with a pair (low, high)
            at each leaf; either may be None, a number or an array of the leaf's shape.
        """
        if bounds is None or isinstance(bounds, scipy.optimize.Bounds):
            return bounds
        low: list[Vector] = []
        high: list[Vector] = []
        for leaf, pair in _pairs(self.structure.like, bounds, "bounds"):
            for side, found, open_end in zip(
                (low, high), pair, (-np.inf, np.inf), strict=True
            ):
                limit = open_end if found is None else found
                side.append(
                    np.broadcast_to(limit, np.shape(leaf)).ravel().astype(float)
                )
        return scipy.optimize.Bounds(np.concatenate(low), np.concatenate(high))


def _alike(like: Any, gradient: Any) -> Any:
    """Return a tuple of gradients in the container that the parameters came in."""
    if isinstance(like, dict) and isinstance(gradient, tuple):
        return dict(zip(like, gradient, strict=True))
    if isinstance(like, list) and isinstance(gradient, tuple):
        return list(gradient)
    return gradient


def _pairs(like: Any, bounds: Any, name: str) -> Iterator[tuple[Any, tuple[Any, Any]]]:
    """Yield each leaf with its limits."""
    items = fields_of(like)
    if items is None:
        if bounds is None:
            yield like, (None, None)
            return
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise ValueError(f"{name} is {bounds!r}, not a pair (low, high) or None")
        yield like, (bounds[0], bounds[1])
        return
    inner = None if bounds is None else fields_of(bounds)
    if bounds is not None and [s for s, _ in inner or []] != [s for s, _ in items]:
        raise ValueError(
            f"{name} has not the structure of the parameters: "
            f"{', '.join(s for s, _ in items)}"
        )
    for k, (step, item) in enumerate(items):
        yield from _pairs(item, None if inner is None else inner[k][1], name + step)


@contextlib.contextmanager
def _told(callback: Callback | None, problem: Problem, progress: bool) -> Iterator[Any]:
    """Give SciPy's callback: it hands containers to the user's and shows progress."""
    if not progress:
        yield callback and (lambda x, *_: callback(problem.structure.rebuilt(x)))
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:.0f} iterations  {task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=None)

        def tell(x: Vector, *_: Any) -> Any:
            value, gradient = problem.value_and_grad(np.asarray(x))
            size = np.linalg.norm(gradient)
            bar.update(
                task, advance=1, description=f"{value:.8g}  |gradient| {size:.2e}"
            )
            return callback and callback(problem.structure.rebuilt(x))

        yield tell


def minimize(
    f: Callable[..., Any],
    params: Any,
    args: tuple[Any, ...] = (),
    *,
    kwargs: Mapping[str, Any] | None = None,
    method: str | None = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callback | None = None,
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> Any:
    """Minimise a loss over a container of parameters, by its exact gradient.

    Args:
        f: the loss; differentiated by its first parameter unless it is decorated.
        params: where to start: a number, an array, or a tuple, list, dict, named tuple
            or dataclass of them, nested as you like; where `f` is decorated with a
            tuple `wrt`, its members in that order.
        args, kwargs: the other arguments of `f`.
        method, constraints, tol, options: as in `scipy.optimize.minimize`; methods that
            use products with the Hessian get exact ones.
        bounds: the structure of `params` with (low, high) at each leaf; None is open.
        callback: called with the parameters after each iteration; to stop, it raises
            StopIteration.
        progress: show iterations, value and size of the gradient (needs rich).

    Returns:
        SciPy's `OptimizeResult` with `params`, the found parameters in their structure.

    Raises:
        NotDifferentiableError: a parameter is no real number or array.
        ValueError: `bounds` have not the structure of `params`.
    """
    problem = Problem(f, params, args, kwargs)
    with _told(callback, problem, progress) as tell:
        found = _scipy_minimize(
            problem.value_and_grad,
            problem.structure.vector(params),
            jac=True,
            method=method,
            bounds=problem.limits(bounds),
            constraints=constraints,
            tol=tol,
            callback=tell,
            options=dict(options or {}) or None,
        )
    found.params = problem.structure.rebuilt(found.x)
    return found
