"""Calls: the user's functions are written out, those of libraries become nodes."""

from __future__ import annotations

import ast
import bisect
import functools
import inspect
import logging
import time
import types
import warnings
from abc import abstractmethod
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Value
from ..infer import SAMPLES
from ..operation import Operation
from ..operations.own import own_operation
from ..types import Type
from .abstract import (
    Array,
    DictRef,
    Function,
    Known,
    ListRef,
    Obj,
    Partial,
    Poison,
    Super,
    Tup,
    View,
)
from .core import Frame
from .library import Library
from .names import Boxed, Path, closure_cell
from .operations import (
    GETTERS,
    INTRINSICS,
    PURE_BUILTINS,
    PYTHON_PARAMETERS,
    library_method,
    name_of,
    operation_name,
)

__all__ = ["Calls"]


BISECTIONS = {bisect.bisect_left: "left", bisect.bisect_right: "right"}
"""Functions of bisect, and the side of `np.searchsorted` that they are."""

BUILT_IN = types.BuiltinFunctionType

CLOCKS = {
    getattr(time, name): f"time.{name}"
    for name in (
        "time perf_counter monotonic process_time time_ns perf_counter_ns sleep".split()
    )
}
"""Functions of the time module: called when the text runs, once each."""


class Calls(Library):
    """Lower calls of functions and classes."""

    def on_Call(self, node: ast.Call) -> Any:
        function = node.func
        receiver: Any = None
        if isinstance(function, ast.Attribute):
            receiver = self.value(function.value)
        if receiver is not None and not isinstance(receiver, Known):
            assert isinstance(function, ast.Attribute)
            args, kwargs = self.arguments(node)
            with self.at(node):
                return self.method(receiver, function.attr, args, kwargs)
        if receiver is not None:
            assert isinstance(function, ast.Attribute)
            with self.at(function):
                target = self.attribute(receiver, function.attr)
        else:
            target = self.value(function)
        args, kwargs = self.arguments(node)
        if isinstance(target, Known) and target.value is super:
            with self.at(node):
                return self.super_of(args)
        with self.at(node):
            return self.call_value(target, args, kwargs)

    def super_of(self, args: list[Any]) -> Super:
        """Return what ``super()`` gives, with its arguments or without."""
        if len(args) == 2 and isinstance(args[0], Known):
            return Super(args[1], args[0].value)
        frame: Frame | None = self.frame
        while frame is not None and "__class__" not in frame.live.__code__.co_freevars:
            frame = None if frame.parent is None else self.frames[frame.parent]
        if args or frame is None:
            raise self.refuse("`super` is used outside a method")
        names = frame.live.__code__.co_varnames
        item = self.state["n", frame.number, names[0]]
        return Super(item, closure_cell(frame.live, "__class__").cell_contents)

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """Return the abstract arguments of a call, spreading stars."""
        args = self.items(node.args)
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            item = self.value(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = item
            elif isinstance(item, DictRef):
                kwargs.update(self.content(item.cell))
            else:
                raise self.refuse("only a dict can be spread with `**`")
        return args, kwargs

    def call_value(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if isinstance(function, Function):
            return self.inline(function, args, kwargs)
        if isinstance(function, Partial):
            inner = function.function
            if isinstance(inner, tuple):
                return self.method(inner[1], inner[2], args, kwargs)
            merged = {**dict(function.kwargs), **kwargs}
            return self.call_value(inner, [*function.args, *args], merged)
        if isinstance(function, Known):
            return self.call_known(function, args, kwargs)
        if isinstance(function, Obj):
            method = self.attribute(function, "__call__")
            return self.call_value(method, args, kwargs)
        if isinstance(function, Poison):
            raise self.refuse(function.reason, function.hint or None)
        if isinstance(function, Array | View) and self.mode == "generic":
            name = self.read(function).name
            raise self.ask_arguments(name or "it", "is called")
        raise self.refuse(f"{self.describe(function)} cannot be called here")

    def call_known(
        self, function: Known, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call an object of the real world."""
        thing = function.value
        try:
            handler = INTRINSICS.get(thing)
        except TypeError:
            handler = None
        if handler is not None:
            args = [self.settled(a) for a in args]
            return handler(self, *self.python_arguments(thing, args, kwargs))
        own = own_operation(thing)
        if own is not None:
            return self.call_own(own, args, kwargs)
        if hasattr(thing, "_symback_gradient"):
            raise self.refuse(
                "a gradient is taken inside the function",
                "take it outside, and of the whole: `symback.grad(symback.grad(f))`.",
            )
        unwrapped = self.differentiable(thing)
        if unwrapped is not None:
            thing = unwrapped
        if isinstance(thing, functools.partial):
            inner = Known(thing.func)
            made = [self.capture(a, Path("object", a, "partial")) for a in thing.args]
            more = {
                k: self.capture(a, Path("object", a, k))
                for k, a in thing.keywords.items()
            }
            return self.call_value(inner, [*made, *args], {**more, **kwargs})
        if type(thing) in GETTERS:
            keys = tuple(self.from_python(k) for k in thing.__reduce__()[1])
            return self.call_value(Known(GETTERS[type(thing)]), [*keys, *args], {})
        clock = CLOCKS.get(thing) if isinstance(thing, BUILT_IN) else None
        if clock is not None:
            return self.timed(clock, args)
        if thing is warnings.warn:
            given = tuple(self.operand(a) for a in args)
            named = {k: self.operand(a) for k, a in kwargs.items()}
            self.effect("warnings.warn", *given, **named)
            return Known(None)
        if getattr(thing, "__module__", "") == "warnings":
            # How it is warned leaves every value alone.
            return Known(None)
        if isinstance(thing, functools._lru_cache_wrapper) and all(
            isinstance(a, Known) for a in (*args, *kwargs.values())
        ):
            found = thing(
                *(a.value for a in args), **{k: a.value for k, a in kwargs.items()}
            )
            return self.capture(found, Path("cached", Boxed(found), thing.__name__))
        if isinstance(thing, np.vectorize):
            raise self.refuse(
                "`np.vectorize` is not supported", "call the function itself."
            )
        op = operation_name(thing)
        if op is not None:
            self.last_function = thing
            return self.call_op(op, args, kwargs)
        owner = args[0].value if args and isinstance(args[0], Known) else None
        if isinstance(owner, logging.Logger):
            path = args[0].path or self.path_of(owner)
            given = tuple(self.operand(a) for a in args[1:])
            named = {k: self.operand(a) for k, a in kwargs.items()}
            logger = self.holder(owner, path)
            return self.emit("method", logger, thing.__name__, given, named)
        if getattr(thing, "__module__", "") == "logging":
            # What is logged leaves values alone, and is logged when the text runs.
            logger = self.opaque(thing, f"log_{thing.__name__}")
            given = tuple(self.operand(a) for a in args)
            self.effect(
                "call", logger, given, {k: self.operand(a) for k, a in kwargs.items()}
            )
            return Known(None)
        if type(thing).__module__.startswith("scipy.stats"):
            raise self.refuse(
                "a distribution with fixed parameters is not supported",
                "give them to the method: `scipy.stats.norm.logpdf(x, loc, scale)`.",
            )
        library = library_method(thing)
        if library is not None:
            return self.call_op(library, args, kwargs)
        if isinstance(thing, types.MethodType):
            bound = Known(thing.__self__, Path("object", thing.__self__, ""))
            return self.call_value(Known(thing.__func__), [bound, *args], kwargs)
        if isinstance(thing, type):
            return self.construct(thing, args, kwargs)
        if isinstance(thing, types.FunctionType) or hasattr(thing, "__wrapped__"):
            return self.inline(self.live_function(thing), args, kwargs)
        if isinstance(thing, types.BuiltinFunctionType | types.MethodDescriptorType):
            known = [self.python_value(a) for a in args]
            owner = getattr(thing, "__self__", None)
            plain = isinstance(owner, str | bytes | int | float | tuple)
            pure = plain or thing in PURE_BUILTINS
            named = {k: self.python_value(v) for k, v in kwargs.items()}
            if pure and not any(k is UNDEFINED for k in (*known, *named.values())):
                with self.trying():
                    return self.from_python(thing(*known, **named))
            if isinstance(owner, str) and thing.__name__ == "format":
                given = tuple(self.operand(a) for a in args)
                texts = {k: self.operand(a) for k, a in kwargs.items()}
                return self.emit("method", owner, "format", given, texts)
            if thing in BISECTIONS and not kwargs and len(args) == 2:
                table = self.call_op("np.array", [args[0]], {})
                side = {"side": Known(BISECTIONS[thing])}
                return self.call_op("np.searchsorted", [table, args[1]], side)
        static = inspect.getattr_static(type(thing), "__call__", None)
        if isinstance(static, types.FunctionType):
            return self.call_value(Known(static), [function, *args], kwargs)
        raise self.refuse(
            f"`{name_of(thing)}` is not a function whose source or derivative is known"
        )

    def call_own(self, op: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function that was given a rule of its own."""
        given = [self.operand(a) for a in args]
        named = {k: self.operand(a) for k, a in kwargs.items()}
        count = 1 if op.rule is None else len(op.rule.outs)
        if count == 1:
            return self.wrap(self.emit(op, *given, **named))
        outs = [self.wrap(out) for out in self.emit_many(op, count, *given, **named)]
        if op.keeps:
            outs.pop()
        return outs[0] if len(outs) == 1 else Tup(tuple(outs))

    def timed(self, clock: str, args: list[Any]) -> Any:
        """Ask a clock when the text runs: a number, of which nothing depends."""
        value = self.emit(clock, *(self.operand(a) for a in args))
        kind = int if clock.endswith("_ns") else float
        if clock == "time.sleep" or self.mode == "generic":
            return Known(None) if clock == "time.sleep" else value
        known = Type("python", kind.__name__, (), (kind(2), kind(3), kind(5))[:SAMPLES])
        object.__setattr__(value, "type", known)
        return value

    def made_anew(self, thing: Any, name: str) -> Any:
        """Return what a factory has made: a list or dict of the program's own."""
        path = Path("object", Boxed(thing), name)
        if type(thing) is list:
            return self.new_list(
                [self.capture(t, path.step("item", k)) for k, t in enumerate(thing)]
            )
        if type(thing) is dict:
            return self.new_dict(
                {k: self.capture(t, path.step("item", k)) for k, t in thing.items()}
            )
        return self.capture(thing, path)

    def python_arguments(
        self, thing: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of one of Python's functions in their places."""
        names = PYTHON_PARAMETERS.get(thing)
        if names is None or not kwargs:
            return args, kwargs
        args, kwargs = list(args), dict(kwargs)
        for name in names[len(args) :]:
            if name not in kwargs:
                break
            args.append(kwargs.pop(name))
        if kwargs:
            raise self.refuse(
                f"`{name_of(thing)}` with `{next(iter(kwargs))}=` is not supported"
            )
        return args, kwargs

    def python_value(self, item: Any) -> Any:
        """Return a wholly known abstract value as a Python object, else UNDEFINED."""
        if isinstance(item, Known):
            return item.value
        if isinstance(item, Tup | ListRef):
            items = self.sequence_items(item)
            parts = [self.python_value(i) for i in items] if items is not None else None
            if parts is None or any(p is UNDEFINED for p in parts):
                return UNDEFINED
            return tuple(parts) if isinstance(item, Tup) else parts
        return UNDEFINED

    def from_python(self, thing: Any) -> Any:
        """Return a Python object as an abstract value."""
        if isinstance(thing, list):
            return self.new_list([self.from_python(t) for t in thing])
        if isinstance(thing, tuple):
            return Tup(tuple(map(self.from_python, thing)))
        return Known(thing)

    last_function: Any = None

    def wrap_arg(self, arg: Any) -> Any:
        """Return a node's argument as an abstract value."""
        return self.wrap(arg) if isinstance(arg, Value) else Known(arg)

    def differentiable(self, thing: Any) -> Any:
        """Return the user's function inside a decorated one."""
        return (
            getattr(thing, "__wrapped__", None)
            if hasattr(type(thing), "grad_fn")
            else None
        )

    def construct(self, kind: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Make an object of a user's class."""
        if kind is np.ndarray and not kwargs.keys() - {"shape", "dtype"}:
            return self.call_op("np.empty", args, kwargs)
        if kind is np.random.RandomState:
            return self.call_op("np.random.RandomState", args, kwargs)
        if kind.__module__.split(".")[0] in ("numpy", "scipy"):
            raise self.refuse(
                f"`{name_of(kind)}` objects are outside the language",
                "call the function on each item, or use array operations.",
            )
        if issubclass(kind, BaseException):
            return self.emit_exception(kind, args)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            fields: tuple[str, ...] = kind._fields
            defaults = getattr(kind, "_field_defaults", {})
            bound = dict(zip(fields, args, strict=False)) | kwargs
            items = [
                bound[f]
                if f in bound
                else self.capture(defaults[f], Path("object", defaults[f], f))
                for f in fields
            ]
            return Tup(tuple(items), kind, fields)
        cell = self.fresh()
        self.state["h", cell] = {"__class__": kind}
        made = Obj(None, None, cell)
        fields_ = getattr(kind, "__dataclass_fields__", None)
        if fields_ is not None and "__init__" in vars(kind):
            held = dict(self.content(cell))
            names = [n for n, f in fields_.items() if f.init]
            bound = dict(zip(names, args, strict=False)) | kwargs
            for name in names:
                if name in bound:
                    held[name] = bound[name]
                    continue
                field = fields_[name]
                if callable(field.default_factory):
                    held[name] = self.made_anew(field.default_factory(), name)
                    continue
                default = field.default
                held[name] = self.capture(default, Path("object", Boxed(default), name))
            self.state["h", cell] = held
            post = getattr(kind, "__post_init__", None)
            if post is not None:
                self.call_value(Known(post), [made], {})
            return made
        init: Any = inspect.getattr_static(kind, "__init__")
        if isinstance(init, types.FunctionType):
            self.call_value(Known(init), [made, *args], kwargs)
            return made
        if init is object.__init__ and not args and not kwargs:
            return made
        raise self.refuse(f"`{kind.__name__}(...)` is outside the language")

    def emit_exception(self, kind: type, args: list[Any]) -> Any:
        """Make an exception object to raise."""
        if getattr(kind, "__module__", "") != "builtins":
            value = self.opaque(kind, kind.__name__)
            return self.emit("call", value, tuple(self.operand(a) for a in args), {})
        return self.emit(f"builtins.{kind.__name__}", *(self.operand(a) for a in args))

    def opaque(self, thing: Any, name: str) -> Value:
        """Pass an object to the generated function as it is."""
        path = Path("object", thing, name)
        key = ("opaque", id(thing))
        if key not in self.captures:
            self.captures[key] = self.captured_value(thing, path)
        value: Value = self.captures[key]
        return value

    # Implemented further up

    @abstractmethod
    def method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of an abstract value."""
