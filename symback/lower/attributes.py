"""Attributes: of modules, classes, objects and arrays, and views of arrays."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import types
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Value
from .abstract import (
    Array,
    DictRef,
    Function,
    Known,
    ListRef,
    Obj,
    Partial,
    Shape,
    Super,
    Tup,
    View,
)
from .core import Raises
from .functions import Functions
from .names import Boxed, Path
from .operations import METHODS, is_users, name_of

__all__ = ["Attributes"]


class Attributes(Functions):
    """Lower attribute access."""

    def attribute(self, item: Any, name: str) -> Any:
        if isinstance(item, Known):
            return self.known_attribute(item, name)
        if isinstance(item, Array | View | Value):
            return self.array_attribute(item, name)
        if isinstance(item, Tup) and name in item.names:
            return item.items[item.names.index(name)]
        if isinstance(item, Tup) and item.like is not None:
            return self.class_attribute(item, item.like, name)
        if isinstance(item, Super):
            return self.super_attribute(item, name)
        if isinstance(item, Obj):
            return self.object_attribute(item, name)
        if isinstance(item, Shape | Tup | ListRef | DictRef):
            return Partial(("method", item, name))
        if isinstance(item, Function) and name == "__name__":
            return Known(item.name)
        raise self.refuse(f"{self.describe(item)} has no attribute `{name}` here")

    def known_attribute(self, item: Known, name: str) -> Any:
        """Read an attribute of a module, class or object outside the function."""
        thing = item.value
        held = self.written_part(thing, item.path or self.path_of(thing), name)
        if held is not UNDEFINED:
            return held
        if isinstance(thing, np.ufunc):
            return Known(getattr(thing, name))
        if isinstance(thing, types.ModuleType | type | types.FunctionType):
            if not hasattr(thing, name):
                near = difflib.get_close_matches(name, dir(thing), 1)
                hint = f"did you mean `{near[0]}`?" if near else None
                raise self.refuse(f"`{name_of(thing)}` has no attribute `{name}`", hint)
            found = getattr(thing, name)
            constant = self.named_constant(thing, name, found)
            if constant is not None:
                return constant
            inner = item.path.step("attr", name) if item.path else None
            if (
                inner is not None
                and isinstance(found, types.FunctionType)
                and (is_users(thing))
            ):
                return self.capture(found, inner)
            numeric = isinstance(
                found, float | np.ndarray | np.generic | int | list | dict
            )
            if numeric and not isinstance(found, bool) and is_users(thing):
                return self.capture(
                    found, inner or Path("object", thing, "").step("attr", name)
                )
            return Known(found, inner)
        if isinstance(thing, set | frozenset) and not hasattr(frozenset, name):
            raise self.refuse(
                f"a set is changed by `{name}`", "make a new one: `seen = seen | {k}`."
            )
        if isinstance(thing, str | bytes | int | float | complex | tuple | np.dtype):
            with self.trying():
                return Known(getattr(thing, name))
        if type(thing).__module__.startswith(("scipy.", "numpy.")):
            return Known(getattr(thing, name))
        # An object of the user's: its attributes are read anew at each call.
        static = inspect.getattr_static(thing, name, UNDEFINED)
        if static is UNDEFINED:
            raise self.refuse(f"`{type(thing).__name__}` has no attribute `{name}`")
        path = item.path or self.path_of(thing)
        if name in getattr(thing, "__dict__", ()) and not hasattr(static, "__set__"):
            # A function in the object's own dict does not bind it.
            return self.capture(getattr(thing, name), path.step("attr", name))
        if isinstance(
            static, property | types.FunctionType | classmethod | staticmethod
        ):
            self.guard_class(type(thing), name, static)
        if isinstance(static, property) and static.fget is not None:
            return self.inline(self.live_function(static.fget), [item], {})
        if isinstance(static, types.FunctionType):
            return Partial(Known(static), (item,))
        return self.capture(getattr(thing, name), path.step("attr", name))

    def path_of(self, thing: Any) -> Path:
        """Return a path that begins at an object itself."""
        return Path("object", Boxed(thing), type(thing).__name__.lower())

    def guard_class(self, kind: type, name: str, static: Any) -> None:
        """Take what a class has by a name as known."""
        if self.fixed_span is None and is_users(kind):
            path = Path("object", kind, kind.__name__).step("static", name)
            self.guards[path] = static

    def named_constant(self, module: Any, name: str, found: Any) -> Any:
        """Return pi and e as their names, so that the text shows them."""
        if type(found) is float and math.isfinite(found):
            if module is np and name in ("pi", "e", "euler_gamma"):
                return self.emit(f"np.{name}")
            if module is math and name in ("pi", "e", "tau"):
                return self.emit(f"math.{name}")
        return None

    def class_attribute(self, item: Any, kind: type, name: str) -> Any:
        """Read a method, property or class attribute of an object of a known class."""
        static = inspect.getattr_static(kind, name, UNDEFINED)
        if static is UNDEFINED:
            raise self.refuse(f"`{kind.__name__}` has no attribute `{name}`")
        self.guard_class(kind, name, static)
        if isinstance(static, property) and static.fget is not None:
            return self.inline(self.live_function(static.fget), [item], {})
        if isinstance(static, functools.cached_property):
            return self.inline(self.live_function(static.func), [item], {})
        if isinstance(static, staticmethod):
            return Known(static.__func__)
        if isinstance(static, classmethod):
            return Partial(Known(static.__func__), (Known(kind),))
        if isinstance(static, types.FunctionType):
            return Partial(Known(static), (item,))
        if isinstance(item, Tup):
            return Partial(("method", item, name))
        return self.capture(
            static, Path("object", kind, kind.__name__).step("attr", name)
        )

    def super_attribute(self, item: Super, name: str) -> Any:
        """Read a method or property of what follows a class in an object's order."""
        if isinstance(item.item, Known):
            thing = item.item.value
            kind = thing if isinstance(thing, type) else type(thing)
        else:
            kind = self.content(item.item.cell)["__class__"]
        order = kind.__mro__[kind.__mro__.index(item.after) + 1 :]
        owner = next((k for k in order if name in vars(k)), None)
        if owner is None:
            problem = self.refuse(f"`super` object has no attribute `{name}`")
            raise Raises(AttributeError, problem)
        if owner is object:
            return Partial(Known(_nothing))
        return self.class_attribute(item.item, owner, name)

    def object_attribute(self, item: Obj, name: str) -> Any:
        """Read an attribute of a parameter, or of an object made in the function."""
        held = self.content(item.cell)
        if name in held:
            return held[name]
        kind = held["__class__"]
        return self.class_attribute(item, kind, name)

    def array_attribute(self, item: Any, name: str) -> Any:
        """Read an attribute of an array or a number."""
        value = self.operand(item)
        known = value.type if isinstance(value, Value) else None
        if name == "T":
            return self.view(item, "np.transpose")
        if name == "mT":
            return self.view(item, "np.matrix_transpose")
        if name == "shape":
            return self.shape_of(value)
        if name == "ndim":
            return Known(known.rank) if known else self.emit("np.ndim", value)
        if name == "size":
            return self.emit("np.size", value)
        if name == "dtype":
            if known is not None:
                return Known(np.dtype(known.dtype))
            return self.emit("attr", value, "dtype")
        if name == "real" and known is not None and known.dtype.startswith("float"):
            return item
        if name in ("real", "imag") and isinstance(item, Array | View):
            return self.view(item, f"np.{name}")
        if name in ("real", "imag"):
            return self.wrap(self.emit(f"np.{name}", value))
        if name == "flat":
            return self.flat_view(item, value)
        if name in METHODS or hasattr(np.ndarray, name) or hasattr(float, name):
            return Partial(("method", item, name))
        if known is None:
            title = value.name if isinstance(value, Value) else None
            raise self.ask_arguments(title or "it", f"is asked for `.{name}`")
        self.check_attribute(value, name)
        raise self.refuse(f"the attribute `{name}` of an array is not supported")

    def check_attribute(self, value: Any, name: str) -> None:
        """Raise where a number or an array has no such attribute in Python either."""
        known = self.type_of(value)
        if known is not None and known.samples:
            if not hasattr(known.samples[0], name):
                what = type(known.samples[0]).__name__
                problem = self.refuse(f"`{what}` has no attribute `{name}`")
                raise Raises(AttributeError, problem)

    def shape_of(self, value: Any) -> Any:
        """Return an array's shape: a tuple of run-time integers for a known rank."""
        known = value.type if isinstance(value, Value) else None
        if known is None or known.kind not in ("array", "numpy", "python"):
            if self.mode != "generic" and known is not None and known.kind == "list":
                raise self.refuse("a list has no attribute `shape`")
            return Shape(self.emit("shape", value))
        dims: list[Any] = []
        for k in range(known.rank):
            if self.are_numbers and known.dims[k].isdigit():
                dims.append(Known(int(known.dims[k])))
            else:
                dims.append(self.emit("dim", value, k))
        return Tup(tuple(dims))

    def view(self, item: Any, op: str, *args: Any, **kwargs: Any) -> Any:
        """Return a view of an array (or the value, where it cannot be written)."""
        base = self.operand(item)
        value = self.emit(op, base, *args, **kwargs)
        return self.view_of(item, base, value, op, args, kwargs)

    def laid_out_at_random(self, base: Value, op: str) -> bool:
        """Say whether sizes decide if an array with gaps is copied when reshaped."""
        known = base.type
        if op not in ("np.reshape", "np.ravel") or known is None or self.assumed.exact:
            return False
        if not known.is_array or known.rank < 2:
            return False
        flags = known.samples[0].flags
        return not (flags.c_contiguous or flags.f_contiguous)

    def flat_view(self, item: Any, value: Any) -> Any:
        """Return an array's entries in C order; writing to them always writes to it."""
        flat = self.emit("np.ravel", value)
        if not isinstance(item, Array | View):
            return self.wrap(flat)
        return View(item, "np.ravel", (), flat, self.contents(item))

    def maybe_view(
        self, item: Any, base: Any, value: Value, op: str, *args: Any
    ) -> Any:
        """Return what may be a view of an array of which nothing is known yet."""
        if value.type is not None or not isinstance(item, Array | View):
            return self.wrap(value)
        self.uncertain.add(value)
        return View(item, op, args, value, self.contents(item))

    def view_of(
        self, item: Any, base: Any, value: Value, op: str, args: Any, kwargs: Any
    ) -> Any:
        """Return a value as a view of an array, if it shares its memory."""
        if not isinstance(item, Array | View) or not isinstance(base, Value):
            return self.wrap(value)
        if self.laid_out_at_random(base, op):
            # Whether this copies depends on the sizes, and so on the call.
            self.uncertain.add(value)
        elif value.type is not None:
            if not value.type.is_array:
                return self.wrap(value)
            known = () if base.type is None else base.type.samples
            if not known or not np.shares_memory(value.type.samples[0], known[0]):
                return self.wrap(value)
        else:
            self.uncertain.add(value)
        return View(
            item, op, tuple(args), value, self.contents(item), tuple(kwargs.items())
        )


def _nothing() -> None:
    """Do what the methods of `object` do to an object that is made."""
