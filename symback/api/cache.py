"""The cache: which specialised function runs for which arguments.

What generates sources is imported where it is first used: decorating costs nothing.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from ..errors import UnsupportedSyntaxError
from ..signature import exact_key, flat_key, pattern_key
from .binding import Binding, Wrt

if TYPE_CHECKING:
    from ..run import Mode, Source, Specialised

__all__ = ["GENERATING", "Cached", "forget_all"]

P = ParamSpec("P")
R = TypeVar("R")

GENERATING = threading.RLock()
"""Held while a source is generated: it sets Python's own limits and filters."""

if hasattr(os, "register_at_fork"):
    # A child has none of the parent's other threads: none may hold the lock then.
    os.register_at_fork(
        before=GENERATING.acquire,
        after_in_parent=GENERATING.release,
        after_in_child=GENERATING.release,
    )


_ALL: weakref.WeakSet[Any] = weakref.WeakSet()
"""Every function that remembers generated sources."""


def forget_all() -> None:
    """Let every function generate its sources anew: a rule has been added."""
    for one in list(_ALL):
        one.forget()


MANY = 4096
"""Remembered signatures of one function; beyond it they are forgotten."""


class Cached(Binding[P, R]):
    """Find the specialised function for arguments, or generate it."""

    def __init__(
        self, function: Callable[P, R], wrt: Wrt = 0, witness: Mode = "gradient"
    ) -> None:
        super().__init__(function, wrt)
        self._witness = witness
        self._exact: dict[Any, Specialised] = {}
        self._patterns: dict[Any, list[Specialised]] = {}
        self._fast: dict[Any, Any] = {}
        self._arrays: dict[Any, Any] = {}
        self._static: frozenset[str] = frozenset()
        _ALL.add(self)

    def forget(self) -> None:
        """Forget the generated sources."""
        self._exact.clear()
        self._patterns.clear()
        self._fast.clear()
        self._arrays.clear()
        self.__dict__.pop("_generic", None)

    def _entry(self, what: str, pick: str) -> Any:
        """Make the function that finds the specialised one for its arguments."""
        from ..run.orders import Gradient

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
        entry._symback_gradient = Gradient(
            entry, self._function, self._wrt, self._single, valued=not pick
        )
        entry.__module__ = getattr(self, "__module__", __name__)
        entry.__signature__ = self.__signature__  # for help()
        entry.__doc__ = f"Return the {what.replace('_', ' ')} of `{self.__name__}`."
        return entry

    def _positional_entry(self, pick: str) -> Any:
        """Make a fast entry for plain parameters: scalars go by their classes."""
        from ..run.load import load

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
        key = tuple(map(exact_key, arguments))
        found = self._exact.get(key)
        if found is not None and self._fits(found):
            return found.call(arguments)
        return self._first(bound, arguments, key)

    def _first(
        self, bound: dict[str, Any], arguments: tuple[Any, ...], key: Any
    ) -> Any:
        """Return value and gradient for arguments that are new, with a witness."""
        from ..run import Witness, current_mode, due

        found = self._find(bound, arguments, key)
        mode = due(found, key, current_mode(self._witness))
        if mode is None:
            result = found.call(arguments)
        else:
            result = Witness(
                self._function,
                found,
                bound,
                self._wrt,
                self._single,
                mode,
                self._owner,
                self._attributes,
                self.__name__,
                lambda: self._culprit(found, bound),
            ).run()
        # Only what was not contradicted is remembered as good.
        found.note_witnessed(key)
        self._remember(found, arguments, key)
        return result

    def _culprit(self, found: Specialised, bound: dict[str, Any]) -> str:
        """Say which derivative is wrong; empty here, where no witness is known."""
        return ""

    def _remember(
        self, found: Specialised, arguments: tuple[Any, ...], key: Any
    ) -> None:
        if len(self._exact) > MANY:
            self._exact.clear()
        self._exact[key] = found
        source = found.source
        if source.captured or source.guards or self._attributes:
            return
        kinds = tuple(type(a) for a in arguments)
        if all(k is float for k in key):
            if found.fast is not None:
                self._fast[kinds] = found.fast
        elif all(kind is float or kind is np.ndarray for kind in kinds):
            # What is written to, or was an integer, is looked at each time.
            looked_at = source.argument_changed is not None or found.fast is not None
            if not looked_at and self._floating(arguments):
                if len(self._arrays) > MANY:
                    self._arrays.clear()
                self._arrays[flat_key(arguments)] = found.function
                if kinds not in self._fast:
                    self._fast[kinds] = self._array_entry(kinds)

    def _floating(self, arguments: tuple[Any, ...]) -> bool:
        """Say whether no array was made of integers before the call."""
        given = zip(self._names, arguments, strict=True)
        return all(
            a.dtype.kind in "fc"
            for name, a in given
            if type(a) is np.ndarray and name in self._wrt
        )

    def _array_entry(self, kinds: tuple[type, ...]) -> Any:
        """Make the function that finds a text by its arrays' dtypes and layouts."""
        from ..run.load import load

        taken = set(self._names)
        table, slow, found = (_free(n, taken) for n in ("table", "slow", "found"))
        names = ", ".join(self._names)
        parts = "".join(
            f"{n}.dtype, {n}.shape, {n}.strides, "
            for n, kind in zip(self._names, kinds, strict=True)
            if kind is np.ndarray
        )
        text = (
            f"def entry({names}):\n"
            f"    {found} = {table}.get(({parts}))\n"
            f"    if {found} is None:\n"
            f"        return {slow}(({names},))\n"
            f"    return {found}({names})\n"
        )
        namespace = {table: self._arrays, slow: self._run_positional}
        return load(text, "entry", f"<symback {self.__name__} arrays>", namespace)

    def _specialised(
        self, bound: dict[str, Any], arguments: tuple[Any, ...]
    ) -> Specialised:
        """Return the specialised function for bound arguments, without running it."""
        key = tuple(map(exact_key, arguments))
        found = self._exact.get(key)
        if found is not None and self._fits(found):
            return found
        return self._find(bound, arguments, key)

    def _fits(self, found: Specialised) -> bool:
        """Say whether what a text takes for known is still so."""
        if found.source.guards and not found.source.holds():
            return False
        captured = found.source.captured
        return not captured or self._captured_key(found) == found.captured_key

    def _captured_key(self, found: Specialised) -> Any:
        return found.source.captured_key()

    def _find(
        self, bound: dict[str, Any], arguments: tuple[Any, ...], key: Any
    ) -> Specialised:
        """Look a signature's pattern up, or generate its source."""
        from ..run import build

        for _ in range(4):
            static = frozenset(
                k for k, n in enumerate(self._names) if n in self._static
            )
            pattern = pattern_key(arguments, static)
            candidates = self._patterns.setdefault(pattern, [])
            for one in candidates:
                if one.source.assumed.exact and one.exact_for != key:
                    continue
                if not one.source.fits(arguments):
                    continue
                if not one.source.holds():
                    continue
                if one.source.captured and self._captured_key(one) != one.captured_key:
                    continue
                return one
            source = self._source(bound)
            if source.assumed.static - self._static:
                self._static |= source.assumed.static
                continue
            made = build(source, self._function)
            made.exact_for = key
            made.captured_key = self._captured_key(made)
            self._patterns[pattern] = [*candidates, made][-64:]
            return made
        raise UnsupportedSyntaxError("the static arguments do not settle")

    def _source(self, bound: dict[str, Any]) -> Source:
        from ..run import generate

        with GENERATING:
            return generate(self._function, bound, self._wrt, self._single)

    def _for(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialised:
        bound = self._floated(self._bound(args, kwargs))
        return self._specialised(bound, tuple(bound.values()))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
