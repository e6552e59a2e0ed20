"""Arguments: bound to parameters as Python does, and what `wrt` names among them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from ..errors import NotDifferentiableError, SymbackError

__all__ = ["Binding", "Wrt"]

P = ParamSpec("P")
R = TypeVar("R")

Wrt = str | int | tuple[str | int, ...]


class Binding(Generic[P, R]):
    """A function, its parameters, and those that it is differentiated by."""

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
        is_gradient = hasattr(function, "_symback_gradient")
        if is_gradient and not isinstance(function, plain):
            functools.update_wrapper(self, function, updated=())
        elif isinstance(call, types.FunctionType) and not isinstance(function, plain):
            # An object that can be called: its method is the function.
            function = types.MethodType(call, function)
        self._function = function
        self._wrt_given = wrt

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the user's own function."""
        return self._function(*args, **kwargs)

    # Signature

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        try:
            return inspect.signature(self._function)
        except ValueError:
            from ..source import read_function

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
                kind = type(self._owner)
                static = inspect.getattr_static(kind, one, None)
                if one not in names and hasattr(type(static), "__get__"):
                    if not isinstance(static, types.MemberDescriptorType):
                        raise NotDifferentiableError(
                            f"`{one}` of `{kind.__name__}` is computed: it is no place",
                            self._span(),
                            "name the attribute that it is computed from.",
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
        from ..run.orders import innermost
        from ..source import read_function

        try:
            source = read_function(innermost(self._function)[0])
        except SymbackError:
            return None
        return source.span(source.node)

    @functools.cached_property
    def _floats(self) -> tuple[str, ...]:
        """Return the parameters that this and the gradients below are taken by."""
        from ..run.orders import innermost

        _, inner = innermost(self._function)
        below = (name for one in inner for name in one.wrt if name in self._names)
        return tuple(dict.fromkeys((*self._wrt, *below)))

    @property
    def _single(self) -> bool:
        return (
            not isinstance(self._wrt_given, tuple | list) and self._wrt_given != "all"
        )

    @property
    def _wrt_result(self) -> Any:
        return self._wrt[0] if self._single else self._wrt

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

    def _floated(self, bound: dict[str, Any]) -> dict[str, Any]:
        """Read integers given for differentiated parameters as floats."""
        for name in self._floats:
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
