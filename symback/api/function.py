"""A function with its gradient: the texts, the graphs and the witnesses.

The witnesses are imported where they are first used.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from ..errors import NotDifferentiableError, SymbackError, UnsupportedSyntaxError
from .binding import Wrt
from .cache import GENERATING, Cached

if TYPE_CHECKING:
    from ..graph import Graph
    from ..run import Mode, Source, Specialised
    from ..verify import Comparison, Generated, SymbolicGradient
    from ..verify.finite import GradientCheck

__all__ = ["DifferentiableFunction"]

P = ParamSpec("P")
R = TypeVar("R")


SEARCHED = 400
"""Numbers of an argument beyond which a wrong derivative is not looked for."""


class DifferentiableFunction(Cached[P, R]):
    """A function with its gradient; see `differentiable`."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an object when used as a method: `self` is closed over."""
        if instance is None:
            return self
        bound = types.MethodType(self._function, instance)
        return DifferentiableFunction(bound, self._wrt_given, self._witness)

    def __repr__(self) -> str:
        return f"<differentiable {self.__name__} by {', '.join(self._wrt)}>"

    def __reduce__(self) -> Any:
        """Pickle by the function's qualified name, as functions are."""
        name = getattr(self._function, "__qualname__", "")
        module = getattr(self._function, "__module__", "")
        if "<locals>" in name or "<lambda>" in name:
            raise TypeError(
                f"`{name}` cannot be pickled: it is not importable from its module"
            )
        return _unpickled, (module, name, self._wrt_given, self._witness)

    # The plain functions

    @functools.cached_property
    def value_and_grad_fn(self) -> Callable[P, tuple[R, Any]]:
        """A plain function of the same parameters: ``(value, gradient)``."""
        entry: Callable[P, tuple[R, Any]] = self._entry("value_and_grad", "")
        return entry

    @functools.cached_property
    def grad_fn(self) -> Callable[P, Any]:
        """A plain function of the same parameters: the gradient."""
        entry: Callable[P, Any] = self._entry("grad", "[1]")
        return entry

    # The texts

    @property
    def backward_source(self) -> str:
        """The generated module for any shapes, before any call.

        Raises:
            UnsupportedSyntaxError: the meaning depends on what a parameter is; the
                message names it, and `backward_source_for` has the answer.
        """
        return self._generic.text

    @functools.cached_property
    def _generic(self) -> Source:
        from ..run import generate

        bound: dict[str, Any] = {}
        for name, p in self.__signature__.parameters.items():
            if p.kind is p.VAR_POSITIONAL or p.kind is p.VAR_KEYWORD:
                star = "*" if p.kind is p.VAR_POSITIONAL else "**"
                raise UnsupportedSyntaxError(
                    f"`{star}{name}`: how many arguments it takes is not known",
                    self._span(),
                    "give arguments: `f.backward_source_for(...)`.",
                )
            function = callable(p.default) and p.default is not p.empty
            bound[name] = p.default if function else dataclasses.MISSING
        bound.update(dict.fromkeys(self._attributes, dataclasses.MISSING))
        with GENERATING:
            return generate(
                self._function, bound, self._wrt, self._single, generic=True
            )

    def backward_source_for(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Return the module that runs for these arguments' types and shapes."""
        bound = self._floated(self._bound(args, kwargs))
        arguments = tuple(bound.values())
        return self._specialised(bound, arguments).text_for(arguments)

    @property
    def graph(self) -> Graph:
        """The static computation graph of the function, for any shapes."""
        return self._generic.primal

    def graph_for(self, *args: P.args, **kwargs: P.kwargs) -> Graph:
        """Return the computation graph typed for these arguments."""
        return self._for(args, kwargs).source.primal

    # The witnesses

    def _generated(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Generated:
        from ..verify import Generated

        found = self._for(args, kwargs)
        source = found.source
        return Generated(
            source.text,
            source.name,
            source.read_captured(),
            (found.plain,) if found.plain else (),
            source.primal,
            source.joint,
            source,
        )

    def _refuse_clash(
        self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Refuse a parameter that a witness has an option of the same name for."""
        options = inspect.signature(getattr(type(self), method)).parameters
        clash = [n for n in self._names if n in options and n != "self"]
        if not clash:
            return
        bound = self.__signature__.bind_partial(*args, **kwargs).arguments
        for name in clash:
            if name not in bound:
                raise NotDifferentiableError(
                    f"`{name}` is a parameter of `{self.__name__}` and an option of "
                    f"`{method}`: `{name}=` means the option",
                    None,
                    f"give the parameter by its position: `f.{method}(...)`.",
                )

    def compare(
        self,
        *args: Any,
        gradient: Callable[..., Any] | None = None,
        points: int = 8,
        digits: int = 50,
        seconds: float = 30,
        **kwargs: Any,
    ) -> Comparison:
        """Compare SymPy's derivative with the generated one, entry by entry.

        gradient : judge it instead: any function of the same parameters that returns
            what `grad_fn` returns, or value and gradient.
        points, digits : how many random points, to how many decimal digits.
        seconds : the limit of time in total.
        """
        from ..verify import compare

        self._refuse_clash("compare", args, kwargs)
        return compare(
            self._function,
            args,
            kwargs,
            wrt=self._wrt_result,
            generate=self._generated,
            gradient=gradient,
            points=points,
            digits=digits,
            seconds=seconds,
        )

    def _unwitnessed(self, *args: Any, **kwargs: Any) -> Any:
        """Return the gradient as it is: `check` judges it, and does not raise."""
        bound = self._floated(self._bound(args, kwargs))
        arguments = tuple(bound.values())
        return self._specialised(bound, arguments).call(arguments)[1]

    def _culprit(self, found: Specialised, bound: dict[str, Any]) -> str:
        """Return the operation whose derivative is wrong, and its line."""
        from ..verify.finite import check

        if self._attributes or any(np.size(v) > SEARCHED for v in bound.values()):
            return ""
        named = dict.fromkeys(self.__signature__.parameters)
        given = inspect.BoundArguments(
            self.__signature__,
            {n: bound[n] for n in named if n in bound},
        )
        try:
            checked = check(
                self._function,
                given.args,
                given.kwargs,
                wrt=self._wrt_result,
                gradient=lambda *a, **k: found.call(tuple(bound.values()))[1],
                source=lambda: found.source,
            )
        except (SymbackError, ArithmeticError, ValueError, TypeError):
            return ""
        return "" if checked.culprit is None else str(checked.culprit)

    def symbolic(self, *args: P.args, **kwargs: P.kwargs) -> SymbolicGradient:
        """Return SymPy's loss and gradient expressions at these shapes."""
        from ..verify import symbolic

        return symbolic(self._function, args, kwargs, wrt=self._wrt_result)

    def check(
        self,
        *args: Any,
        gradient: Callable[..., Any] | None = None,
        step: float | None = None,
        per_coordinate: bool | None = None,
        directions: int = 3,
        seed: int = 0,
        **kwargs: Any,
    ) -> GradientCheck:
        """Compare finite differences with the generated gradient.

        gradient : check it instead: any function of the same parameters that returns
            what `grad_fn` returns, or value and gradient.
        step : of the central differences; None to find one for each number.
        per_coordinate : True for a row for each number, False for random directions;
            None for directions where there are more than 64 numbers.
        directions, seed : how many directions for each parameter, and their seed.
        """
        from ..verify.finite import check

        self._refuse_clash("check", args, kwargs)
        return check(
            self._function,
            args,
            kwargs,
            wrt=self._wrt_result,
            gradient=self._unwitnessed if gradient is None else gradient,
            step=step,
            per_coordinate=per_coordinate,
            directions=directions,
            seed=seed,
            source=None if gradient else lambda: self._for(args, kwargs).source,
        )


def _unpickled(module: str, name: str, wrt: Wrt, witness: Mode = "gradient") -> Any:
    """Find a function by its qualified name; it may be the decorated one itself."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if isinstance(found, DifferentiableFunction):
        return found
    return DifferentiableFunction(found, wrt, witness)
