"""Rules of the user's own: for any function, by a line or by a pair of functions.

>>> import numpy as np
>>> def softplus(x):
...     return np.logaddexp(0.0, x)
>>> defrule(softplus, "1 / (1 + np.exp(-x))")
>>> @differentiable
... def loss(x):
...     return np.sum(softplus(x))
>>> loss.grad_fn(np.array([0.0, 2.0])).round(3)
array([0.5  , 0.881])
"""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from ..errors import NotDifferentiableError, RefutedError, ShapeError, SymbackError
from ..operation import REQUIRED, Rule, Text
from ..operations import own
from .cache import forget_all
from .forms import differentiable

__all__ = ["custom_vjp", "defrule", "differentiable"]

P = ParamSpec("P")
R = TypeVar("R")

RANGES = ((0.2, 0.9), (-0.9, -0.2), (1.2, 3.0))
"""Where points are drawn: within the domains of most functions, in turn."""

TOLERANCE = 1e-5
"""Of a rule against differences of order four, whose error is about 1e-9 here."""


def defrule(
    function: Callable[..., Any],
    *texts: Text,
    pullback: bool | None = None,
    outs: Sequence[str] = ("out",),
    call: str | None = None,
    like: Any = None,
    check: bool = True,
    points: Sequence[tuple[Any, ...]] | None = None,
    kink: str | None = None,
    domain: str | None = None,
    source: str | None = None,
) -> None:
    """Give a function a derivative, in the form that the built-in rules have.

    From then on generated sources call the function by its name wherever it is called,
    though its own source could be read, and use the rule in the backward.  A later rule
    for the same function replaces the earlier one, with a warning.

    Args:
        function: any function, of any library, compiled ones included.
        texts: for each parameter the partial derivative of an elementwise function, as
            ``"1 - out**2"``; or the pullback, as ``"out_bar @ b.T"``, which maps the
            cotangent of the result to the parameter's. ``"0"`` is a zero derivative,
            None (or no text) says that the parameter is constant. A text may use the
            parameters, ``out``, ``out_bar``, np, math, scipy and what the function's
            module defines; it may be a function of parameters with these names.
        pullback: whether the texts are pullbacks; by default, whether one uses
            ``out_bar``.
        outs: the names of the results, where the function returns a tuple.
        call: as ``"f(x, y)"``: names the parameters of a function without a signature.
        like: the parameter whose shape and dtype the result has (or a number); without
            it the shapes behind a pullback are known only when the text runs.
        check: compare the texts with finite differences now.
        points: arguments to compare at; drawn by default.
        kink, domain, source: notes for readers: where there is no derivative, where it
            holds, where it is from.

    Raises:
        SymbackError: a text is no expression, uses an unknown name, there are more
            texts than parameters, or the function cannot be run at drawn points.
        RefutedError: the texts contradict finite differences.
    """
    if isinstance(function, custom_vjp):
        raise SymbackError(f"`{own.title_of(function)}` has its rule by `custom_vjp`")
    function = getattr(function, "_function", function)
    signature = own.signature_of(function, call)
    title = own.title_of(function)
    if len(texts) > len(signature.params):
        raise SymbackError(
            f"`{title}` has {len(signature.params)} parameters, but {len(texts)} texts "
            "were given",
            None,
            f"give one for each of {', '.join(signature.params)}.",
        )
    if not texts:
        raise SymbackError(f"no text says what the derivative of `{title}` is")
    if pullback is None:
        bars = {f"{name}_bar" for name in outs}
        pullback = len(outs) > 1 or any(bars & _names(text) for text in texts)
    kind = "pullback" if pullback else "elementwise"
    before = own.own_operation(function)
    kept = None if before is None else before.rule
    record = own.add(
        function,
        signature,
        kind,
        texts,
        tuple(outs),
        like,
        kink=kink,
        domain=domain,
        source=source,
    )
    assert record.rule is not None
    try:
        if check:
            _check(function, title, record.rule, texts, points)
    except SymbackError:
        # A rule that is refused leaves things as they were.
        record.rule = kept
        if kept is None:
            own.forget(function)
        raise
    if kept is not None:
        warnings.warn(
            f"`{title}` has a rule already; the later one is used", stacklevel=2
        )
    forget_all()


def _names(text: Text) -> set[str]:
    """Return the names that a text or a function in its place reads."""
    if text is None:
        return set()
    if callable(text):
        return set(inspect.signature(text).parameters)
    try:
        return set(own.free_names(text))
    except SyntaxError:
        return set()  # said when it is compiled


# Checking


def _check(
    function: Callable[..., Any],
    title: str,
    rule: Rule,
    texts: tuple[Text, ...],
    points: Sequence[tuple[Any, ...]] | None,
) -> None:
    """Compare a rule with differences of order four.

    Raises:
        RefutedError, SymbackError: it contradicts them; nothing could be compared.
    """
    compared = 0
    for args in points if points is not None else _drawn(rule):
        if points is not None and len(args) != len(rule.params):
            args = (*args, *rule.defaults[len(args) :])
        with np.errstate(all="ignore"):
            try:
                out = function(*args)
            except Exception:
                if points is not None:
                    raise
                continue
            if not all(np.all(np.isfinite(o)) for o in _outs(out, rule)):
                continue
            for k, text in enumerate(texts):
                if text is not None and _is_real(args[k]):
                    compared += _compare(function, title, rule, text, args, out, k)
        if points is None and compared >= 3 * len(texts):
            break
    if not compared:
        raise SymbackError(
            f"the rule of `{title}` could not be compared with differences: the "
            "function does not run, or has no slope, at the points that were drawn",
            None,
            "give some: `points=[(...), (...)]`; or leave it out: `check=False`.",
        )


def _outs(out: Any, rule: Rule) -> tuple[Any, ...]:
    return tuple(out) if len(rule.outs) > 1 else (out,)


def _is_real(arg: Any) -> bool:
    if isinstance(arg, np.ndarray):
        return bool(arg.dtype.kind == "f")
    return isinstance(arg, float | np.floating)


def _drawn(rule: Rule) -> Iterator[tuple[Any, ...]]:
    """Draw arguments of several kinds for the parameters without defaults."""
    rng = np.random.default_rng(0)
    shapes: tuple[tuple[int, ...] | None, ...] = ((3,), None)
    if rule.kind == "pullback":
        shapes = ((3,), (3, 3), None)
    for shape, (low, high) in itertools.product(shapes, RANGES):
        yield tuple(
            default
            if default is not REQUIRED
            else float(rng.uniform(low, high))
            if shape is None
            else rng.uniform(low, high, shape)
            for default in rule.defaults
        )


def _compare(
    function: Callable[..., Any],
    title: str,
    rule: Rule,
    text: Text,
    args: tuple[Any, ...],
    out: Any,
    k: int,
) -> int:
    """Compare the text of one parameter at a point; return 1 if it could be."""
    rng = np.random.default_rng(k)
    direction: Any = np.ones(np.shape(args[k]))
    if rule.kind == "pullback":
        direction = rng.uniform(0.5, 1.5, np.shape(args[k]))
    found = rule.texts[k]
    assert callable(found)
    names = dict(zip(rule.params, args, strict=True))
    bars = []
    for name, one in zip(rule.outs, _outs(out, rule), strict=True):
        names[name] = one
        bar = rng.normal(size=np.shape(one))
        names[f"{name}_bar"] = bar if np.shape(one) else float(bar)
        bars.append(names[f"{name}_bar"])
    given = found(**{n: names[n] for n in inspect.signature(found).parameters})
    if rule.kind == "pullback":
        if np.shape(given) != np.shape(args[k]):
            raise ShapeError(
                f"the rule of `{title}` by `{rule.params[k]}` gives shape "
                f"{np.shape(given)}, the parameter has {np.shape(args[k])}"
            )
        slope: Any = np.sum(given * direction)
    else:
        slope = given * direction

    def at(step: float) -> Any:
        moved = list(args)
        moved[k] = args[k] + step * direction
        outs = _outs(function(*moved), rule)
        if rule.kind == "pullback":
            pairs = zip(bars, outs, strict=True)
            return sum(np.sum(bar * np.asarray(one)) for bar, one in pairs)
        return np.asarray(outs[0], float)

    try:
        near, far = (_difference(at, step) for step in (5e-4, 1e-3))
    except Exception:
        return 0  # a step left the domain
    scale = np.maximum(np.abs(far), np.max(np.abs(np.asarray(slope)), initial=0.0))
    settled = np.abs(near - far) <= 1e-6 * (scale + 1e-3)
    wrong = settled & ~(np.abs(slope - far) <= TOLERANCE * (scale + 1e-3))
    if np.any(wrong):
        place = np.unravel_index(np.argmax(wrong), np.shape(wrong))
        got = np.broadcast_to(slope, np.shape(wrong))[place]
        point = ", ".join(map("{}={!r}".format, rule.params, args))
        raise RefutedError(
            f"the rule of `{title}` by `{rule.params[k]}` is wrong: it gives the slope "
            f"{got:.10g}, finite differences give {np.asarray(far)[place]:.10g}, at "
            f"{point}",
            None,
            f"the rule is `{text}`." if isinstance(text, str) else None,
        )
    return int(np.any(settled))


def _difference(at: Callable[[float], Any], h: float) -> Any:
    """Return the central difference of order four."""
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


# A pair of functions


class custom_vjp(Generic[P, R]):  # noqa: N801 - used as a decorator
    """Give a function a forward and a pullback of its own, in Python.

    For what no formula expresses: an implicit function, a solver, compiled code.

    >>> import numpy as np
    >>> @custom_vjp
    ... def solve(a, b):
    ...     return np.linalg.solve(a, b)
    >>> def forward(a, b):
    ...     x = solve(a, b)
    ...     return x, (a, x)
    >>> def pullback(residuals, x_bar):
    ...     a, x = residuals
    ...     b_bar = np.linalg.solve(a.T, x_bar)
    ...     return -np.outer(b_bar, x), b_bar
    >>> solve.defvjp(forward, pullback)
    >>> @differentiable
    ... def loss(b):
    ...     return np.sum(solve(np.diag([2.0, 4.0]), b))
    >>> loss.grad_fn(np.ones(2))
    array([0.5 , 0.25])
    """

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = own.signature_of(function)
        self.forward: Callable[..., Any] | None = None
        self.pullback: Callable[..., Any] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function itself."""
        return self._function(*args, **kwargs)

    def defvjp(self, forward: Callable[..., Any], pullback: Callable[..., Any]) -> None:
        """Set the pair.

        Args:
            forward: takes the function's arguments and returns (result, residuals);
                residuals are anything that the pullback needs.
            pullback: takes the residuals and the cotangent of the result, and returns
                a tuple of the arguments' cotangents in their order, None for constants;
                for one argument, its cotangent.

        While generated source runs, a `NotDifferentiableError` says that the pullback
        gives another number of cotangents, or None for one that is needed; a
        `ShapeError` that one has not its argument's shape.
        """
        title, params = own.title_of(self._function), self._signature.params

        def kept(*args: Any, **kwargs: Any) -> Any:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
            bound.apply_defaults()
            found = forward(*bound.args, **bound.kwargs)
            if not isinstance(found, tuple) or len(found) != 2:
                raise NotDifferentiableError(
                    f"the forward of `{title}` returns {type(found).__name__}, not a "
                    "pair (result, residuals)"
                )
            shapes = tuple(map(_shape, bound.arguments.values()))
            return found[0], (found[1], shapes)

        def cotangents(residuals: Any, out_bar: Any) -> tuple[Any, ...]:
            given, shapes = residuals
            found = pullback(given, out_bar)
            if len(params) == 1 and not isinstance(found, tuple):
                found = (found,)
            if not isinstance(found, tuple) or len(found) != len(params):
                count = len(found) if isinstance(found, tuple) else 1
                raise NotDifferentiableError(
                    f"the pullback of `{title}` returns {count} cotangents for its "
                    f"{len(params)} parameters",
                    None,
                    f"return one for each of {', '.join(params)}; None for constants.",
                )
            return tuple(map(_checked, found, params, shapes, itertools.repeat(title)))

        kept.__name__, cotangents.__name__ = "forward", "pullback"
        self.forward, self.pullback = kept, cotangents
        own.add_pair(self, self._signature, kept, cotangents)
        forget_all()


def _shape(arg: Any) -> tuple[int, ...] | None:
    """Return the shape of a number or an array, None of anything else."""
    if isinstance(arg, np.ndarray | np.generic | float | int):
        return np.shape(arg)
    return None


def _checked(
    cotangent: Any, param: str, shape: tuple[int, ...] | None, title: str
) -> Any:
    """Return a cotangent of its argument's shape, or say what is wrong with it."""
    if cotangent is None or shape is None:
        return cotangent
    if np.shape(cotangent) != shape:
        raise ShapeError(
            f"the pullback of `{title}` gives `{param}` a cotangent of shape "
            f"{np.shape(cotangent)}; the argument has {shape}"
        )
    return cotangent
