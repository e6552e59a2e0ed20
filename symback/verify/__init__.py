"""Witnesses of a gradient that know none of the rules it was made by.

`compare` puts SymPy's derivative of the user's own function beside what the generated
source computes; `symbolic` gives SymPy's expressions.  Nothing here imports the rules
or the transform, and SymPy is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .expressions import SymbolicGradient
    from .result import Comparison

__all__ = ["Comparison", "Generated", "SymbolicGradient", "compare", "symbolic"]


@dataclass(frozen=True)
class Generated:
    """A generated gradient, ready to be compared.

    source : the text of a module; name : the function in it, called with the
        arguments of the user's function in its order, defaults filled in, and
        `captured` as keywords; it returns (value, gradient).
    captured : the values of the user's numeric globals and closures, read now.
    others : other texts of the same function, which may run in its place.
    primal, joint : the graphs of the user's function and of the generated one.
    origin : all graphs and the cotangents in them, as `symback.run.Source`, to find the
        culprit of a wrong gradient in; without it, the source is probed.
    """

    source: str
    name: str
    captured: Mapping[str, object] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    primal: object = None
    joint: object = None
    origin: object = None


def compare(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    wrt: tuple[str, ...] | str,
    generate: Callable[[tuple[Any, ...], dict[str, Any]], Generated] | None = None,
    gradient: Callable[..., Any] | None = None,
    points: int = 8,
    digits: int = 50,
    seconds: float = 30,
) -> Comparison:
    """Compare SymPy's derivative of `fn` with a gradient, entry by entry.

    wrt : one name (a single gradient) or a tuple of names (a tuple of gradients).
    generate : gives the source specialised to some arguments; called with the caller's,
        or with smaller ones.
    gradient : judged in its place: a function of the same parameters that returns the
        gradient, or value and gradient.
    points, digits, seconds : random points, decimal digits, and the limit of time.
    """
    from .comparison import run

    return run(
        fn,
        args,
        dict(kwargs),
        wrt=wrt,
        generate=generate,
        gradient=gradient,
        points=points,
        digits=digits,
        seconds=seconds,
    )


def symbolic(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    wrt: tuple[str, ...] | str,
) -> SymbolicGradient:
    """Return SymPy's loss and gradient of `fn` at the shapes of the arguments."""
    from .reading import gradient_of

    return gradient_of(fn, args, dict(kwargs), wrt=wrt)


def __getattr__(name: str) -> Any:
    if name == "Comparison":
        from .result import Comparison

        return Comparison
    if name == "SymbolicGradient":
        from .expressions import SymbolicGradient

        return SymbolicGradient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
