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
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

from ..api import DifferentiableFunction, differentiable, hvp, jacobian
from ..structure import Structure, Vector, fields_of

__all__ = ["Fit", "curve_fit", "least_squares", "minimize"]

BY_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
"""Methods of `scipy.optimize.minimize` that use products with the Hessian."""

_scipy: Any = scipy.optimize
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

    def product(self, vector: Vector, direction: Vector) -> Vector:
        """Return the Hessian times a direction; shape (n,)."""
        args, kwargs = self.arguments(vector)
        of = self._product.of
        bound = of.bound(args, kwargs)
        along = self.structure.rebuilt(direction)
        if not self.single:
            along = tuple(item for _, item in fields_of(along) or [])
        return self.structure.vector(
            _alike(self.structure.like, of.along(bound, along))
        )

    @functools.cached_property
    def _product(self) -> Any:
        return hvp(self.f, self.f._wrt_given)

    def value(self, vector: Vector) -> Vector:
        """Return the residuals; shape (m,)."""
        args, kwargs = self.arguments(vector)
        return np.atleast_1d(np.asarray(self.f(*args, **kwargs), float)).ravel()

    def slopes(self, vector: Vector) -> Vector:
        """Return the exact Jacobian of the residuals; shape (m, n)."""
        args, kwargs = self.arguments(vector)
        found = self._jacobian(*args, **kwargs)
        rows = self.value(vector).size
        return self.structure.columns(_alike(self.structure.like, found), rows)

    @functools.cached_property
    def _jacobian(self) -> Any:
        return jacobian(self.f, self.f._wrt_given)

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
    products = (method or "").lower() in BY_PRODUCTS
    with _told(callback, problem, progress) as tell:
        found = _scipy.minimize(
            problem.value_and_grad,
            problem.structure.vector(params),
            jac=True,
            hessp=problem.product if products else None,
            method=method,
            bounds=problem.limits(bounds),
            constraints=constraints,
            tol=tol,
            callback=tell,
            options=dict(options or {}) or None,
        )
    found.params = problem.structure.rebuilt(found.x)
    return found


def least_squares(
    f: Callable[..., Any],
    params: Any,
    args: tuple[Any, ...] = (),
    *,
    kwargs: Mapping[str, Any] | None = None,
    bounds: Any = None,
    **options: Any,
) -> Any:
    """Minimise a sum of squared residuals, by their exact Jacobian.

    Args:
        f: returns the residuals, an array of any shape.
        params, args, kwargs, bounds: as of `minimize`.
        options: of `scipy.optimize.least_squares`: `method`, `loss`, `xtol`, ...

    Returns:
        SciPy's `OptimizeResult` with `params`, the found parameters in their structure.

    >>> found = least_squares(lambda p: p["a"] * np.arange(3.0) - 2.0, {"a": 0.0})
    >>> round(float(found.params["a"]), 6)
    1.2
    """
    problem = Problem(f, params, args, kwargs)
    limits = problem.limits(bounds)
    found = _scipy.least_squares(
        problem.value,
        problem.structure.vector(params),
        jac=problem.slopes,
        bounds=(-np.inf, np.inf) if limits is None else (limits.lb, limits.ub),
        **options,
    )
    found.params = problem.structure.rebuilt(found.x)
    return found


class Fit(NamedTuple):
    """Fitted parameters.

    params, errors : in the structure of the start: the parameters and their standard
        errors, in the same units.  covariance : of the parameters as one vector, shape
        (n, n).  result : SciPy's.
    """

    params: Any
    covariance: Vector
    errors: Any
    result: Any


def curve_fit(
    f: Callable[..., Any],
    x: Any,
    y: Any,
    params: Any,
    *,
    sigma: Any = None,
    absolute_sigma: bool = False,
    bounds: Any = None,
    **options: Any,
) -> Fit:
    """Fit a curve ``f(params, x)`` to data, with standard errors.

    The covariance is the inverse of JᵀJ of the exact Jacobian at the optimum (Seber and
    Wild, Nonlinear Regression, 1989, section 2.1), scaled by the variance of the
    residuals unless `absolute_sigma`.

    Args:
        f: the curve; its first parameter is any container of parameters.
        x, y: the data; `y` has the shape of ``f(params, x)``.
        params: where to start.
        sigma: standard deviations of `y`, of its shape or one number, in its units.
        absolute_sigma: `sigma` is known absolutely, not only up to a factor.
        bounds, options: as of `least_squares`.

    Raises:
        numpy.linalg.LinAlgError: the data do not determine the parameters.

    >>> x = np.linspace(0.0, 1.0, 5)
    >>> fit = curve_fit(lambda p, x: p[0] + p[1] * x, x, 1.0 + 2.0 * x, [0.0, 0.0])
    >>> [round(float(p), 6) for p in fit.params]
    [1.0, 2.0]
    """
    scale = np.ones_like(np.asarray(y, float)) if sigma is None else np.asarray(sigma)
    curve = Problem(f, params, (x,), None)
    weights = np.broadcast_to(1.0 / scale, np.shape(y)).ravel()
    target = np.asarray(y, float).ravel()
    limits = curve.limits(bounds)
    found = _scipy.least_squares(
        lambda v: (curve.value(v) - target) * weights,
        curve.structure.vector(params),
        jac=lambda v: curve.slopes(v) * weights[:, None],
        bounds=(-np.inf, np.inf) if limits is None else (limits.lb, limits.ub),
        **{"xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-12, **options},
    )
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    freedom = target.size - found.x.size
    if not absolute_sigma:
        variance = 2 * found.cost / freedom if freedom > 0 else np.inf
        covariance = covariance * variance
    rebuilt = curve.structure.rebuilt
    errors = rebuilt(np.sqrt(np.diag(covariance)))
    return Fit(rebuilt(found.x), covariance, errors, found)
