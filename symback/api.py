"""The decorator and the functional forms.

What generates sources, and the witnesses that check them, are imported where they are
first used: decorating a function costs nothing.

>>> @differentiable
... def loss(w):
...     return w * w
>>> loss(3.0), loss.grad_fn(3.0), loss.value_and_grad_fn(3.0)
(9.0, 6.0, (9.0, 6.0))
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import threading
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from .errors import NotDifferentiableError, SymbackError, UnsupportedSyntaxError
from .signature import exact_key, pattern_key

if TYPE_CHECKING:
    from .graph import Graph
    from .run import Source, Specialised
    from .verify import Comparison, Generated, SymbolicGradient
    from .verify.finite import GradientCheck

__all__ = ["DifferentiableFunction", "differentiable", "grad", "value_and_grad"]

P = ParamSpec("P")
R = TypeVar("R")

Wrt = str | int | tuple[str | int, ...]

GENERATING = threading.RLock()
"""Held while a source is generated: it sets Python's own limits and filters."""

MANY = 4096
"""Remembered signatures of one function; beyond it they are forgotten."""


class DifferentiableFunction(Generic[P, R]):
    """A function with its gradient; see `differentiable`."""

    def __init__(self, function: Callable[P, R], wrt: Wrt = 0) -> None:
        if not callable(function):
            raise NotDifferentiableError(f"{function!r} is not a function")
        if isinstance(function, types.FunctionType | types.MethodType | type):
            functools.update_wrapper(self, function)
        else:
            self.__wrapped__ = function
            self.__name__ = getattr(function, "__name__", type(function).__name__)
            self.__doc__ = getattr(function, "__doc__", None)
        call = inspect.getattr_static(type(function), "__call__", None)
        plain = (types.FunctionType, types.MethodType, functools.partial, type)
        if isinstance(call, types.FunctionType) and not isinstance(function, plain):
            # An object that can be called: its method is the function.
            function = types.MethodType(call, function)
        self._function = function
        self._wrt_given = wrt
        self._exact: dict[Any, Specialised] = {}
        self._patterns: dict[Any, Any] = {}
        self._fast: dict[Any, Any] = {}
        self._static: frozenset[str] = frozenset()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the user's own function."""
        return self._function(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an object when used as a method: `self` is closed over."""
        if instance is None:
            return self
        bound = types.MethodType(self._function, instance)
        return DifferentiableFunction(bound, self._wrt_given)

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
        return _unpickled, (module, name, self._wrt_given)

    # Signature

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        try:
            return inspect.signature(self._function)
        except ValueError:
            from .source import read_function

            read_function(self._function)  # says why it has no source either
            raise

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.__signature__.parameters)

    @property
    def _owner(self) -> Any:
        """Return the object that a method is bound to, or None."""
        return getattr(self._function, "__self__", None)

    @functools.cached_property
    def _attributes(self) -> tuple[str, ...]:
        """Return the names in `wrt` that are the object's attributes."""
        return tuple(n for n in self._wrt if n not in self._names)

    @functools.cached_property
    def _wrt(self) -> tuple[str, ...]:
        """Return the names of the parameters to differentiate by, checked."""
        given, names = self._wrt_given, self._names
        if given == "all":
            return names
        wanted = given if isinstance(given, tuple | list) else (given,)
        found = []
        for one in wanted:
            if isinstance(one, str):
                one = one.removeprefix("self.") if self._owner is not None else one
                if one not in names and not hasattr(self._owner, one):
                    raise NotDifferentiableError(
                        f"`{self.__name__}` has no parameter `{one}`",
                        self._span(),
                        f"its parameters are: {', '.join(names) or 'none'}.",
                    )
                found.append(one)
            elif isinstance(one, int) and not isinstance(one, bool):
                if not -len(names) <= one < len(names):
                    raise NotDifferentiableError(
                        f"`{self.__name__}` has {len(names)} parameters: "
                        f"there is none at position {one}",
                        self._span(),
                        f"its parameters are: {', '.join(names) or 'none'}.",
                    )
                found.append(names[one])
            else:
                raise NotDifferentiableError(
                    f"`wrt` takes names and positions, not {one!r}"
                )
        if not found:
            raise NotDifferentiableError(
                "`wrt` is empty", None, 'name a parameter: `wrt="x"`.'
            )
        return tuple(found)

    def _span(self) -> Any:
        """Return the place of the definition, or None if it cannot be read."""
        from .source import read_function

        try:
            source = read_function(self._function)
        except SymbackError:
            return None
        return source.span(source.node)

    @property
    def _single(self) -> bool:
        return (
            not isinstance(self._wrt_given, tuple | list) and self._wrt_given != "all"
        )

    def _bound(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Bind arguments as Python does, defaults filled in."""
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._with_attributes(dict(bound.arguments))

    def _with_attributes(self, bound: dict[str, Any]) -> dict[str, Any]:
        """Add the object's attributes that the gradient is taken by."""
        for name in self._attributes:
            bound[name] = getattr(self._owner, name)
        return bound

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

    def _entry(self, what: str, pick: str) -> Any:
        """Make the function that finds the specialised one for its arguments."""
        _ = self._wrt
        parameters = self.__signature__.parameters.values()
        plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        if plain:
            entry = self._positional_entry(pick)
        elif pick:

            def entry(*args: Any, **kwargs: Any) -> Any:
                return self._run(self._bound(args, kwargs))[1]
        else:

            def entry(*args: Any, **kwargs: Any) -> Any:
                return self._run(self._bound(args, kwargs))

        entry.__name__ = f"{self.__name__}_{what}"
        entry.__qualname__ = entry.__name__
        entry._is_gradient = True
        entry.__module__ = getattr(self, "__module__", __name__)
        entry.__signature__ = self.__signature__  # for help()
        entry.__doc__ = f"Return the {what.replace('_', ' ')} of `{self.__name__}`."
        return entry

    def _positional_entry(self, pick: str) -> Any:
        """Make a fast entry for plain parameters: scalars go by their classes."""
        from .run.load import load

        taken = set(self._names)
        table, slow, found = (_free(n, taken) for n in ("table", "slow", "found"))
        names = ", ".join(self._names)
        params, defaults = [], {}
        for name, p in self.__signature__.parameters.items():
            if p.default is p.empty:
                params.append(name)
            else:
                title = _free(f"default_{name}", taken)
                defaults[title] = p.default
                params.append(f"{name}={title}")
        classes = "".join(f"{n}.__class__, " for n in self._names)
        text = (
            f"def entry({', '.join(params)}):\n"
            f"    {found} = {table}.get(({classes}))\n"
            f"    if {found} is not None:\n"
            f"        try:\n"
            f"            return {found}({names}){pick}\n"
            f"        except (ArithmeticError, ValueError):\n"
            f"            pass\n"
            f"    return {slow}(({names}{',' if names else ''})){pick}\n"
        )
        namespace = {table: self._fast, slow: self._run_positional, **defaults}
        return load(text, "entry", f"<symback {self.__name__} entry>", namespace)

    def _run_positional(self, arguments: tuple[Any, ...]) -> Any:
        bound = dict(zip(self._names, arguments, strict=True))
        return self._run(self._with_attributes(bound))

    def _run(self, bound: dict[str, Any]) -> Any:
        """Return value and gradient, specialising if these arguments are new."""
        bound = self._floated(bound)
        arguments = tuple(bound.values())
        return self._specialised(bound, arguments).call(arguments)

    def _floated(self, bound: dict[str, Any]) -> dict[str, Any]:
        """Read integers given for differentiated parameters as floats."""
        for name in self._wrt:
            found = bound[name]
            if type(found) is float:
                continue
            if isinstance(found, np.ndarray) and found.dtype.kind == "O":
                raise NotDifferentiableError(
                    f"`{name}` is an array of objects: there is no gradient by it",
                    self._span(),
                    "make it an array of floats: `np.asarray(..., dtype=float)`.",
                )
            made = _as_float(found)
            if made is not found:
                bound = {**bound, name: made}
        return bound

    def _specialised(
        self, bound: dict[str, Any], arguments: tuple[Any, ...]
    ) -> Specialised:
        """Return the specialised function for bound arguments."""
        key = tuple(map(exact_key, arguments))
        found = self._exact.get(key)
        if found is not None and (not found.source.guards or found.source.holds()):
            captured = found.source.captured
            if not captured or self._captured_key(found) == found.captured_key:
                return found
        found = self._find(bound, arguments, key)
        if len(self._exact) > MANY:
            self._exact.clear()
        self._exact[key] = found
        scalars = all(k is float for k in key)
        plain = not found.source.captured and not self._attributes
        if scalars and plain and found.fast is not None and not found.source.guards:
            self._fast[tuple(type(a) for a in arguments)] = found.fast
        return found

    def _captured_key(self, found: Specialised) -> Any:
        return tuple(exact_key(path.get()) for _, path in found.source.captured)

    def _find(
        self, bound: dict[str, Any], arguments: tuple[Any, ...], key: Any
    ) -> Specialised:
        """Look a signature's pattern up, or generate its source."""
        from .run import build

        for _ in range(4):
            static = frozenset(
                k for k, n in enumerate(self._names) if n in self._static
            )
            pattern = pattern_key(arguments, static)
            candidates = self._patterns.setdefault(pattern, [])
            for one in candidates:
                if one.source.exact and one.exact_for != key:
                    continue
                if not one.source.holds():
                    continue
                if one.source.captured and self._captured_key(one) != one.captured_key:
                    continue
                return one  # type: ignore[no-any-return]  # a list of them
            source = self._source(bound)
            if source.static - self._static:
                self._static |= source.static
                continue
            made = build(source, self._function)
            made.exact_for = key
            made.captured_key = self._captured_key(made)
            self._patterns[pattern] = [*candidates, made][-64:]
            return made
        raise UnsupportedSyntaxError("the static arguments do not settle")

    def _source(self, bound: dict[str, Any]) -> Source:
        from .run import generate

        with GENERATING:
            return generate(self._function, bound, self._wrt, self._single)

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
        from .run import generate

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

    def _for(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialised:
        bound = self._floated(self._bound(args, kwargs))
        return self._specialised(bound, tuple(bound.values()))

    @property
    def graph(self) -> Graph:
        """The static computation graph of the function, for any shapes."""
        return self._generic.primal

    def graph_for(self, *args: P.args, **kwargs: P.kwargs) -> Graph:
        """Return the computation graph typed for these arguments."""
        return self._for(args, kwargs).source.primal

    # The witnesses

    def _generated(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Generated:
        from .verify import Generated

        source = self._for(args, kwargs).source
        return Generated(
            source.text,
            source.name,
            source.read_captured(),
            source.primal,
            source.joint,
        )

    @property
    def _wrt_result(self) -> Any:
        return self._wrt[0] if self._single else self._wrt

    def compare(
        self,
        *args: Any,
        points: int = 8,
        digits: int = 50,
        seconds: float = 30,
        **kwargs: Any,
    ) -> Comparison:
        """Compare SymPy's derivative with the generated one, entry by entry.

        points, digits : how many random points, to how many decimal digits.
        seconds : the limit of time in total.
        """
        from .verify import compare

        return compare(
            self._function,
            args,
            kwargs,
            wrt=self._wrt_result,
            generate=self._generated,
            points=points,
            digits=digits,
            seconds=seconds,
        )

    def symbolic(self, *args: P.args, **kwargs: P.kwargs) -> SymbolicGradient:
        """Return SymPy's loss and gradient expressions at these shapes."""
        from .verify import symbolic

        return symbolic(self._function, args, kwargs, wrt=self._wrt_result)

    def check(
        self,
        *args: Any,
        step: float | None = None,
        per_coordinate: bool | None = None,
        directions: int = 3,
        seed: int = 0,
        **kwargs: Any,
    ) -> GradientCheck:
        """Compare finite differences with the generated gradient.

        step : of the central differences; None to find one for each number.
        per_coordinate : True for a row for each number, False for random directions;
            None for directions where there are more than 64 numbers.
        directions, seed : how many directions for each parameter, and their seed.
        """
        from .verify.finite import check

        return check(
            self._function,
            args,
            kwargs,
            wrt=self._wrt_result,
            gradient=self.grad_fn,
            step=step,
            per_coordinate=per_coordinate,
            directions=directions,
            seed=seed,
            source=lambda: self._for(args, kwargs).source,
        )


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _as_float(thing: Any) -> Any:
    """Return a parameter with its integers as floats; itself if it has none."""
    if isinstance(thing, bool | str | None | float):
        return thing
    if isinstance(thing, int | np.integer):
        return float(thing)
    if isinstance(thing, np.ndarray):
        return thing.astype(np.float64) if thing.dtype.kind in "iub" else thing
    if isinstance(thing, tuple | list):
        items = [_as_float(t) for t in thing]
        if all(a is b for a, b in zip(items, thing, strict=True)):
            return thing
        if hasattr(thing, "_fields"):
            return type(thing)(*items)
        return type(thing)(items)
    if type(thing) is dict:
        held = {k: _as_float(t) for k, t in thing.items()}
        if all(held[k] is thing[k] for k in held):
            return thing
        return held
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
        made = {k: _as_float(v) for k, v in fields.items()}
        if all(made[k] is fields[k] for k in made):
            return thing
        return dataclasses.replace(thing, **made)
    return thing


def _unpickled(module: str, name: str, wrt: Wrt) -> Any:
    """Find a function by its qualified name; it may be the decorated one itself."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if isinstance(found, DifferentiableFunction):
        return found
    return DifferentiableFunction(found, wrt)


@overload
def differentiable(
    fn: Callable[P, R],
    *,
    wrt: Wrt = 0,
    backend: str = "numpy",
    threads: int | None = None,
) -> DifferentiableFunction[P, R]: ...


@overload
def differentiable(
    fn: None = None,
    *,
    wrt: Wrt = 0,
    backend: str = "numpy",
    threads: int | None = None,
) -> Callable[[Callable[P, R]], DifferentiableFunction[P, R]]: ...


def differentiable(
    fn: Any = None, *, wrt: Wrt = 0, backend: str = "numpy", threads: int | None = None
) -> Any:
    """Give a function its gradient.

    Nothing is read or generated before the first use, so helpers may be defined below.

    Args:
        fn: the function; left out when the decorator is called with arguments.
        wrt: the parameters to differentiate by: a name, a position, a tuple of either
            (then gradients are a tuple in its order), or ``"all"``.
        backend: ``"numpy"``.
        threads: None, for the calling one.

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
    if fn is None:
        return functools.partial(
            differentiable, wrt=wrt, backend=backend, threads=threads
        )
    if isinstance(fn, DifferentiableFunction):
        fn = fn.__wrapped__
    if getattr(fn, "_is_gradient", False):
        raise UnsupportedSyntaxError(
            f"`{fn.__name__}` is a gradient: second derivatives are not supported yet",
            None,
            "differentiate the loss once, and use differences of its gradient.",
        )
    return DifferentiableFunction(fn, wrt)


def grad(
    f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function of the same parameters that gives the gradient.

    >>> def f(x):
    ...     return np.sum(x**2)
    >>> grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _form(f, wrt, has_aux, "grad_fn")


def value_and_grad(
    f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function of the same parameters that gives ``(value, gradient)``."""
    return _form(f, wrt, has_aux, "value_and_grad_fn")


def _form(
    f: Callable[..., Any], wrt: Wrt, has_aux: bool, what: str
) -> Callable[..., Any]:
    if has_aux:
        raise SymbackError(
            "`has_aux=True` is not supported yet",
            None,
            "return the loss alone, and compute the rest in a function of its own.",
        )
    found = differentiable(f, wrt=wrt)
    made: Any = getattr(found, what)
    made.differentiable = found
    made.__wrapped__ = found.__wrapped__
    plain: Callable[..., Any] = made
    return plain
