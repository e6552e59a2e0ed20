"""Copies of the user's functions in which NumPy, SciPy and `math` are stand-ins.

The function itself is never changed: its code runs with other globals and other closed
over values.  What it reaches (helpers in any module, methods of objects) is copied in
the same way when it is looked up.

>>> import numpy as np
>>> from symback.verify.concolic import Tape
>>> def f(x):
...     return np.tanh(x) ** 2
>>> with using(Tape(30)) as tape:
...     Rebinder()(f)(tape.input("x", 0.3)).expr
tanh(x)**2
"""

from __future__ import annotations

import builtins
import copy
import functools
import sys
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from .arrays import StandInFloat, as_array
from .elements import Element
from .functions import home
from .sizes import length
from .standin import (
    FLOAT_TYPES,
    module,
    recording_function,
    stand_in,
    using,
)

__all__ = ["Rebinder", "using"]

LIBRARIES = {"numpy", "scipy", "math"}
"""Packages that have stand-ins."""

KEPT = {"sympy", "mpmath", "pytest", "_pytest", "astor", "rich", "tqdm", "matplotlib"}
"""Packages whose functions run as they are."""


def top(name: str | None) -> str:
    return (name or "").partition(".")[0]


class _Globals(dict[str, Any]):
    """A function's globals, each rebound when it is first looked up."""

    def __init__(self, real: dict[str, Any], rebind: Rebinder) -> None:
        super().__init__()
        self._real = real
        self._rebind = rebind
        # Python takes builtins from here when a function is made.
        dict.__setitem__(self, "__builtins__", real.get("__builtins__", builtins))
        dict.__setitem__(self, "__name__", real.get("__name__"))

    def __missing__(self, name: str) -> Any:
        if name in self._real:
            value = self._rebind(self._real[name])
        elif name == "float":
            value = StandInFloat
        elif name == "sum":
            value = _sum
        elif name == "len":
            value = length
        elif name == "print":
            value = _silent
        elif name in ("max", "min"):
            value = recording_function(getattr(builtins, name), name)
        else:
            raise KeyError(name)
        dict.__setitem__(self, name, value)
        return value


def _code(code: types.CodeType, literals: bool) -> types.CodeType:
    """Return a copy of a function's code, its floats as elements where asked for."""
    if not literals:
        return code.replace()
    return code.replace(co_consts=tuple(map(_literal, code.co_consts)))


def _literal(x: Any) -> Any:
    if type(x) is float:
        return home().lift(x)
    if type(x) is tuple:
        return tuple(map(_literal, x))
    return _code(x, True) if isinstance(x, types.CodeType) else x


def _silent(*args: Any, **kwargs: Any) -> None:
    """Stand in for `print`: the program runs many times, and says it once by itself."""


def _sum(items: Any, /, start: Any = 0) -> Any:
    """Return Python's `sum`, which compensates floats but not elements."""
    total = start
    for item in items:
        total = total + item
    return total


class Rebinder:
    """Maps objects that a program reaches to what they are on elements.

    replaced : arrays (by identity) that stand in for the user's own, shrunk perhaps.
    literals : make the floats in the code elements too, so that arithmetic of constants
        is exact; else Python rounds it as it does when the program runs.
    """

    def __init__(
        self, replaced: Mapping[int, Any] | None = None, literals: bool = False
    ) -> None:
        self.replaced = dict(replaced or {})
        self.literals = literals
        self._memo: dict[int, Any] = {}
        self._kept: list[Any] = []  # an id is only good while its object lives

    def __call__(self, value: Any) -> Any:
        """Return the counterpart of any object; most are their own."""
        key = id(value)
        if key in self.replaced:
            return self.replaced[key]
        if key in self._memo:
            return self._memo[key]
        result = self._new(value)
        if key not in self._memo:
            self._remember(value, result)
        return result

    def _remember(self, value: Any, result: Any) -> None:
        self._memo[id(value)] = result
        self._kept.append(value)

    def _new(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.MethodType):
            return types.MethodType(self(value.__func__), self(value.__self__))
        if isinstance(value, functools.partial):
            keywords = {k: self(v) for k, v in value.keywords.items()}
            return functools.partial(
                self(value.func), *map(self, value.args), **keywords
            )
        if isinstance(value, np.ndarray):
            return as_array(value, home()) if value.dtype.kind in "fc" else value
        if isinstance(value, np.floating):
            return home().lift(value)
        if isinstance(value, (bool, int, float, complex, str, bytes, Element)):
            return value
        if type(value) in (list, tuple, dict, set):
            return self._container(value)
        kinds = (type(value).__module__, getattr(value, "__module__", None))
        if {top(k) for k in kinds if isinstance(k, str)} & LIBRARIES or isinstance(
            value, types.BuiltinFunctionType
        ):
            return self._library(value)
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType) and callable(value):
            return self(wrapped)
        return self._instance(value)

    def _module(self, value: types.ModuleType) -> Any:
        if top(value.__name__) in LIBRARIES:
            return module(value)
        if self._is_library(value.__name__):
            return value
        return _UserModule(value, self)

    def _is_library(self, name: str | None) -> bool:
        root = top(name)
        standard = root in sys.stdlib_module_names and root != "__main__"
        return standard or root in KEPT

    def _library(self, value: Any) -> Any:
        if isinstance(value, np.random.Generator):
            return copy.deepcopy(value)
        package = getattr(value, "__module__", None)
        if isinstance(value, np.ufunc):
            package = "numpy" if hasattr(np, value.__name__) else "scipy.special"
        name = getattr(value, "__name__", None)
        if not isinstance(package, str) or not isinstance(name, str):
            kind = type(value).__module__
            if kind.startswith("scipy.stats"):
                return stand_in(value, f"scipy.stats.{_distribution_name(value)}")
            return value
        if top(package) not in LIBRARIES:
            return value
        return stand_in(value, f"{package}.{name}")

    def _function(self, value: types.FunctionType) -> Any:
        package = value.__module__
        if top(package) in LIBRARIES:
            return stand_in(value, f"{package}.{value.__name__}")
        if package == "symback.runtime" or not self._is_library(package):
            from . import libraries

            ours = libraries.find(value, f"{package}.{value.__name__}")
            if ours is not None:
                return ours
            if (
                value.__name__ in ("stop_gradient", "checkpoint")
                and top(package) == "symback"
            ):
                return _stop if value.__name__ == "stop_gradient" else value
            wrapped = getattr(value, "__wrapped__", None)
            if isinstance(wrapped, types.FunctionType) and top(package) == "functools":
                return self(wrapped)
            return self._copied(value)
        return value

    def _copied(self, value: types.FunctionType) -> types.FunctionType:
        cells = tuple(types.CellType() for _ in value.__closure__ or ())
        # A code object of its own: Python specialises code for the globals it has seen.
        made = types.FunctionType(
            _code(value.__code__, self.literals),
            _Globals(value.__globals__, self),
            value.__name__,
            None,
            cells,
        )
        self._remember(value, made)
        for new, old in zip(cells, value.__closure__ or (), strict=True):
            try:
                new.cell_contents = self(old.cell_contents)
            except ValueError:
                pass  # a name that is not yet assigned, and must stay so
        if value.__defaults__ is not None:
            made.__defaults__ = tuple(map(self, value.__defaults__))
        if value.__kwdefaults__ is not None:
            made.__kwdefaults__ = {k: self(v) for k, v in value.__kwdefaults__.items()}
        made.__qualname__ = value.__qualname__
        made.__module__ = value.__module__
        made.__dict__.update(
            {k: v for k, v in value.__dict__.items() if k != "__wrapped__"}
        )
        return made

    def _container(self, value: Any) -> Any:
        if isinstance(value, list):
            made: Any = []
            self._remember(value, made)
            made.extend(map(self, value))
            return made
        if isinstance(value, dict):
            made = {}
            self._remember(value, made)
            made.update({k: self(v) for k, v in value.items()})
            return made
        items = [self(v) for v in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else type(value)(items)

    def _class(self, value: type) -> Any:
        if value in FLOAT_TYPES:
            return StandInFloat
        if top(value.__module__) in LIBRARIES or self._is_library(value.__module__):
            return value
        if value.__module__ == "builtins" or not self._has_functions(value):
            return value
        bases = tuple(self(b) for b in value.__bases__)
        made = type(value)(
            value.__name__, (value, *(b for b in bases if b not in value.__mro__)), {}
        )
        self._remember(value, made)
        for name, member in vars(value).items():
            rebound = self._member(member)
            if rebound is not member:
                setattr(made, name, rebound)
        return made

    def _has_functions(self, value: type) -> bool:
        """Return whether a class has methods that somebody wrote."""
        functions = (
            getattr(m, "__func__", getattr(m, "fget", m)) for m in vars(value).values()
        )
        return any(
            isinstance(f, types.FunctionType)
            and "<string>" not in f.__code__.co_filename
            for f in functions
        )

    def _member(self, member: Any) -> Any:
        if isinstance(member, types.FunctionType):
            if "<string>" in member.__code__.co_filename:
                return member  # written by `dataclass`: no mathematics in it
            return self._copied(member)
        if isinstance(member, (staticmethod, classmethod)):
            return type(member)(self._member(member.__func__))
        if isinstance(member, property) and member.fget is not None:
            return property(self._member(member.fget), member.fset, member.fdel)
        return member

    def _instance(self, value: Any) -> Any:
        kind = type(value)
        if self._is_library(kind.__module__) or kind.__module__ == "builtins":
            return value
        made_class = self._class_of(kind)
        fields = getattr(value, "__dict__", None)
        if isinstance(value, tuple):
            return kind(*map(self, value)) if hasattr(kind, "_fields") else value
        if fields is None:
            return value
        made = copy.copy(value)
        self._remember(value, made)
        if made_class is not kind:
            object.__setattr__(made, "__class__", made_class)
        for name, item in fields.items():
            rebound = self(item)
            if rebound is not item:
                made.__dict__[name] = rebound
        return made

    def _class_of(self, kind: type) -> type:
        made = self(kind)
        return made if isinstance(made, type) and made is not StandInFloat else kind


class _UserModule:
    """A module of the user's, whose members are rebound when asked for."""

    def __init__(self, real: types.ModuleType, rebind: Rebinder) -> None:
        self.__dict__["_real"] = real
        self.__dict__["_rebind"] = rebind

    def __getattr__(self, name: str) -> Any:
        return self._rebind(getattr(self._real, name))


def _stop(x: Any) -> Any:
    """Stand in for `stop_gradient`: the value stays, the derivative does not."""
    from .arrays import elementwise, finish

    h = home()
    return finish(
        elementwise(lambda v: h.stop(h.lift(v) if not isinstance(v, Element) else v), x)
    )


def _distribution_name(value: Any) -> str:
    """Return the name that `scipy.stats` gives a distribution."""
    named = getattr(value, "name", None)
    return named or type(value).__name__.removesuffix("_gen")
