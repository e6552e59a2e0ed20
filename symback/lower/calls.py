"""Calls and attributes: NumPy, math, builtins, methods, and functions of the user's."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import math
import sys
import types
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Value
from ..rules import REGISTRY
from .abstract import (
    Array,
    DictRef,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Partial,
    Poison,
    RunList,
    Shape,
    Tup,
    View,
)
from .names import Boxed, Names, Path

__all__ = ["Calls"]

METHODS = {
    "sum": "np.sum",
    "mean": "np.mean",
    "prod": "np.prod",
    "max": "np.max",
    "min": "np.min",
    "std": "np.std",
    "var": "np.var",
    "dot": "np.dot",
    "ravel": "np.ravel",
    "cumsum": "np.cumsum",
    "cumprod": "np.cumprod",
    "clip": "np.clip",
    "argmax": "np.argmax",
    "argmin": "np.argmin",
    "argsort": "np.argsort",
    "trace": "np.trace",
    "diagonal": "np.diagonal",
    "take": "np.take",
    "repeat": "np.repeat",
    "squeeze": "np.squeeze",
    "swapaxes": "np.swapaxes",
    "round": "np.round",
    "conj": "np.conj",
    "conjugate": "np.conj",
    "any": "np.any",
    "all": "np.all",
    "nonzero": "np.nonzero",
    "searchsorted": "np.searchsorted",
    "compress": "np.compress",
    "choose": "np.choose",
    "ptp": "np.ptp",
}
"""Array methods that are NumPy functions of the same arguments."""

VIEWS = frozenset(
    {
        "np.transpose",
        "np.reshape",
        "np.ravel",
        "np.swapaxes",
        "np.moveaxis",
        "np.squeeze",
        "np.expand_dims",
        "np.diagonal",
        "np.flip",
    }
)
"""Functions whose result shares memory with their first argument (or may)."""

OUTPUTS = {
    "np.linalg.slogdet": 2,
    "np.linalg.eigh": 2,
    "np.linalg.eig": 2,
    "np.linalg.qr": 2,
    "np.linalg.svd": 3,
    "np.modf": 2,
    "np.frexp": 2,
    "np.divmod": 2,
    "builtins.divmod": 2,
    "np.triu_indices": 2,
    "np.tril_indices": 2,
    "np.diag_indices": 2,
}
"""Operations with several outputs whose number does not depend on shapes."""

FIELDS = {
    "np.linalg.slogdet": ("sign", "logabsdet"),
    "np.linalg.eigh": ("eigenvalues", "eigenvectors"),
    "np.linalg.eig": ("eigenvalues", "eigenvectors"),
    "np.linalg.qr": ("Q", "R"),
    "np.linalg.svd": ("U", "S", "Vh"),
}

NEUTRAL = frozenset({"errstate", "printoptions", "catch_warnings", "nullcontext"})

PARTS = frozenset(
    {
        "np.split",
        "np.array_split",
        "np.vsplit",
        "np.hsplit",
        "np.dsplit",
        "np.unstack",
        "np.broadcast_arrays",
    }
)
"""Functions that return several arrays that are views of their arguments."""

MAYBE_VIEWS = frozenset(
    f"np.{n}"
    for n in (
        "asarray asanyarray ascontiguousarray atleast_1d atleast_2d atleast_3d "
        "broadcast_to require real imag asfortranarray matrix_transpose rot90 fliplr "
        "flipud rollaxis diag"
    ).split()
)
"""Functions whose result may be a view of their first argument."""

PRIVATE = {"np.asarray", "np.asanyarray", "np.ascontiguousarray", "np.atleast_1d"}


class Calls(Names):
    """Lower calls and attribute access."""

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
        if isinstance(target, Known) and target.value is super:
            raise self.refuse("`super()` is not supported here")
        args, kwargs = self.arguments(node)
        with self.at(node):
            return self.call_value(target, args, kwargs)

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

    # Attributes

    def attribute(self, item: Any, name: str) -> Any:
        if isinstance(item, Known):
            return self.known_attribute(item, name)
        if isinstance(item, Array | View | Value):
            return self.array_attribute(item, name)
        if isinstance(item, Tup) and name in item.names:
            return item.items[item.names.index(name)]
        if isinstance(item, Tup) and item.like is not None:
            return self.class_attribute(item, item.like, name)
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
        if isinstance(thing, np.ufunc):
            return Known(getattr(thing, name))
        if isinstance(thing, types.ModuleType | type | types.FunctionType):
            if not hasattr(thing, name):
                near = difflib.get_close_matches(name, dir(thing), 1)
                hint = f"did you mean `{near[0]}`?" if near else None
                raise self.refuse(f"`{_title(thing)}` has no attribute `{name}`", hint)
            found = getattr(thing, name)
            constant = self.named_constant(thing, name, found)
            if constant is not None:
                return constant
            inner = item.path.step("attr", name) if item.path else None
            if (
                inner is not None
                and isinstance(found, types.FunctionType)
                and (_is_user(thing))
            ):
                return self.capture(found, inner)
            numeric = isinstance(
                found, float | np.ndarray | np.generic | int | list | dict
            )
            if numeric and not isinstance(found, bool) and _is_user(thing):
                return self.capture(
                    found, inner or Path("object", thing, "").step("attr", name)
                )
            return Known(found, inner)
        if isinstance(thing, str | bytes | int | float | complex | tuple | np.dtype):
            found = getattr(thing, name)
            return Known(found)
        if type(thing).__module__.startswith(("scipy.", "numpy.")):
            return Known(getattr(thing, name))
        # An object of the user's: its attributes are read anew at each call.
        static = inspect.getattr_static(thing, name, UNDEFINED)
        if static is UNDEFINED:
            raise self.refuse(f"`{type(thing).__name__}` has no attribute `{name}`")
        if isinstance(static, property) and static.fget is not None:
            return self.inline(self.live_function(static.fget), [item], {})
        if isinstance(static, types.FunctionType):
            return Partial(Known(static), (item,))
        path = item.path or Path("object", thing, type(thing).__name__.lower())
        return self.capture(getattr(thing, name), path.step("attr", name))

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
            return self.wrap(self.emit("np.matrix_transpose", value))
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
        if name in ("real", "imag"):
            return self.wrap(self.emit(f"np.{name}", value))
        if name == "flat":
            return self.view(item, "np.ravel")
        if name in METHODS or hasattr(np.ndarray, name) or hasattr(float, name):
            return Partial(("method", item, name))
        if known is None:
            title = value.name if isinstance(value, Value) else None
            raise self.ask_arguments(title or "it", f"is asked for `.{name}`")
        raise self.refuse(f"{self.describe(item)} has no attribute `{name}`")

    def shape_of(self, value: Any) -> Any:
        """Return an array's shape: a tuple of run-time integers for a known rank."""
        known = value.type if isinstance(value, Value) else None
        if known is None or known.kind not in ("array", "numpy", "python"):
            if self.mode != "generic" and known is not None and known.kind == "list":
                raise self.refuse("a list has no attribute `shape`")
            return Shape(self.emit("shape", value))
        dims: list[Any] = []
        for k in range(known.rank):
            if self.mode == "exact" and known.dims[k].isdigit():
                dims.append(Known(int(known.dims[k])))
            else:
                dims.append(self.emit("dim", value, k))
        return Tup(tuple(dims))

    def view(self, item: Any, op: str, *args: Any, **kwargs: Any) -> Any:
        """Return a view of an array (or the value, where it cannot be written)."""
        base = self.operand(item)
        value = self.emit(op, base, *args, **kwargs)
        return self.view_of(item, base, value, op, args, kwargs)

    def view_of(
        self, item: Any, base: Any, value: Value, op: str, args: Any, kwargs: Any
    ) -> Any:
        """Return a value as a view of an array, if it shares its memory."""
        if not isinstance(item, Array | View) or not isinstance(base, Value):
            return self.wrap(value)
        if value.type is not None:
            if not value.type.is_array:
                return self.wrap(value)
            known = () if base.type is None else base.type.samples
            if not known or not np.shares_memory(value.type.samples[0], known[0]):
                return self.wrap(value)
        else:
            self.uncertain.add(value)
        return View(item, op, tuple(args), value, base, tuple(kwargs.items()))

    # Calls

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
            return handler(self, args, kwargs)
        if getattr(thing, "_is_gradient", False):
            raise self.refuse(
                "a gradient is taken inside the function: second derivatives are not "
                "supported yet"
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
        if getattr(thing, "__module__", "") == "warnings":
            # What is warned of, and how, leaves every value alone.
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
            if pure and not any(k is UNDEFINED for k in known) and not kwargs:
                return self.from_python(thing(*known))
        if hasattr(type(thing), "__call__") and not isinstance(thing, type):  # noqa: B004
            static = inspect.getattr_static(type(thing), "__call__", None)
            if isinstance(static, types.FunctionType):
                return self.call_value(Known(static), [function, *args], kwargs)
        raise self.refuse(
            f"`{_title(thing)}` is not a function whose source or derivative is known"
        )

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
        if kind.__module__.split(".")[0] in ("numpy", "scipy"):
            raise self.refuse(
                f"`{_title(kind)}` objects are outside the language",
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
                default = (
                    field.default_factory()
                    if callable(field.default_factory)
                    else field.default
                )
                held[name] = self.capture(default, Path("object", default, name))
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

    def call_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function of NumPy, math or SciPy: append its node."""
        if op.startswith("np.random."):
            raise self.refuse(
                f"`{op}` draws random numbers from a hidden state",
                "pass a generator: `def loss(x, rng): ... rng.normal(size=3)`.",
            )
        handler = OPERATIONS.get(op)
        if handler is not None:
            found = handler(self, args, kwargs)
            if found is not NotImplemented:
                return found
        out = kwargs.pop("out", None)
        if isinstance(out, Tup) and len(out.items) == 1:
            out = out.items[0]
        if op in UFUNC_ARITY and len(args) == UFUNC_ARITY[op] + 1:
            # The argument after the operands is `out`.
            out = args.pop()
        where = kwargs.get("where") if op not in REDUCTIONS else None
        if where is not None:
            kwargs.pop("where")
        if isinstance(out, Known) and out.value is None:
            out = None
        result = self.plain_op(op, args, kwargs)
        if where is not None and not (isinstance(where, Known) and where.value is True):
            if out is None:
                raise self.refuse("`where=` needs `out=`: other entries are undefined")
            mask = self.operand(where)
            result = self.wrap(
                self.emit("np.where", mask, self.operand(result), self.operand(out))
            )
        if out is not None:
            self.store(out, Known(Ellipsis), result)
            return out
        return result

    def plain_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Append the node of a function call and wrap its outputs."""
        if op not in SEQUENCES:
            args = [self.as_array(op, k, a) for k, a in enumerate(args)]
        for key in ARRAY_KEYWORDS & kwargs.keys():
            if isinstance(kwargs[key], ListRef):
                kwargs = {**kwargs, key: self.call_op("np.array", [kwargs[key]], {})}
        given = [self.operand(a) for a in args]
        named = {k: self.operand(a) for k, a in kwargs.items()}
        if op in VIEWS and args and isinstance(args[0], Array | View):
            return self.view(args[0], op, *given[1:], **named)
        if (
            op in PRIVATE
            and len(args) == 1
            and not kwargs
            and isinstance(args[0], Array | View)
        ):
            known = given[0].type
            always = op in ("np.asarray", "np.asanyarray")
            if known is not None and known.is_array and (known.rank or always):
                if always or op == "np.atleast_1d":
                    return args[0]
        count = self.outputs(op, args, kwargs)
        if count is not None:
            if count == 1:
                whole = self.emit(op, *given, **named)
                outs = [self.emit("getitem", whole, 0)]
            else:
                outs = self.emit_many(op, count, *given, **named)
            items = tuple(self.wrap(o) for o in outs)
            if op in PARTS:
                items = tuple(self.maybe_alias(i, *args) for i in items)
            fields = FIELDS.get(op, ())
            return Tup(items, None, fields if len(fields) == count else ())
        value = self.emit(op, *given, **named)
        if args and isinstance(args[0], Array | View) and value.type is not None:
            # NumPy decides on the samples whether this is a view of its argument.
            return self.view_of(args[0], given[0], value, op, given[1:], named)
        if value.type is None and op in MAYBE_VIEWS:
            return self.maybe_alias(self.wrap(value), *args)
        return self.wrap(value)

    def maybe_alias(self, item: Any, *others: Any) -> Any:
        """Note that an array may share memory with others: changing one spoils them."""
        cells = {self.root(other) for other in others} - {None}
        if isinstance(item, Array) and cells:
            self.state["m", item.cell] = frozenset(c for c in cells if c is not None)
        return item

    def as_array(self, op: str, position: int, item: Any) -> Any:
        """Return a list or tuple that stands for an array as that array."""
        if not isinstance(item, ListRef | Tup):
            return item
        held = self.content(item.cell) if isinstance(item, ListRef) else item.items
        if isinstance(held, RunList):
            numbers = held.shape is None and op.startswith(("np.", "scipy."))
            return self.call_op("np.array", [item], {}) if numbers else item
        known = all(isinstance(i, Known) for i in held)
        nested = any(isinstance(i, ListRef | Tup) for i in held)
        if not op.startswith(("np.", "scipy.")) or not held:
            return item
        if known and not nested and op not in TABULATED and position:
            return item
        if known and isinstance(item, Tup) and op not in TABULATED:
            return item
        if op in SHAPED and (known or position):
            return item
        if not known and position and op not in TABULATED and not nested:
            numeric = any(isinstance(i, Array | View) for i in held)
            if not numeric:
                return item
        return self.call_op("np.array", [item], {})

    def outputs(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> int | None:
        """Return the number of outputs of an operation with several, or None."""
        if op == "np.linalg.svd":
            flag = kwargs.get("compute_uv")
            return (
                3 if flag is None or (isinstance(flag, Known) and flag.value) else None
            )
        if op == "np.linalg.qr":
            mode = kwargs.get("mode", args[1] if len(args) > 1 else None)
            return None if mode is not None and mode.value == "r" else 2
        if op in OUTPUTS:
            return OUTPUTS[op]
        if op in ("np.meshgrid", "np.broadcast_arrays", "np.ix_"):
            return len(args)
        if op in ("np.nonzero", "np.where", "np.atleast_1d", "np.atleast_2d") and (
            op == "np.nonzero" or len(args) == 1
        ):
            known = self.operand(args[0])
            if op in ("np.atleast_1d", "np.atleast_2d"):
                return None
            rank = known.type.rank if isinstance(known, Value) and known.type else 1
            return max(rank, 1)
        if op in ("np.split", "np.array_split", "np.vsplit", "np.hsplit", "np.dsplit"):
            where = args[1] if len(args) > 1 else kwargs.get("indices_or_sections")
            if isinstance(where, Known) and isinstance(where.value, int):
                return where.value
            if isinstance(where, Tup | ListRef):
                items = self.sequence_items(where)
                if items is not None:
                    return len(items) + 1
            raise self.need_static(
                self.operand(where), "the number of parts must be known"
            )
        if op == "np.unstack":
            known = self.operand(args[0])
            axis = kwargs.get("axis", Known(0)).value
            if (
                isinstance(known, Value)
                and known.type
                and known.type.dims[axis].isdigit()
            ):
                return int(known.type.dims[axis])
            raise self.need_static(known, "the number of parts must be known")
        rule = REGISTRY.get(op)
        if rule is not None and len(rule.outs) > 1:
            return len(rule.outs)
        return None

    # Stores

    @abstractmethod
    def store(self, target: Any, index: Any, item: Any) -> None:
        """Do ``target[index] = item``."""

    # Methods

    def method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of an abstract value."""
        if isinstance(item, Iterable):
            item = self.listed(item)
        if isinstance(item, Array | View | Value):
            return self.array_method(item, name, args, kwargs)
        if isinstance(item, ListRef):
            return self.list_method(item, name, args, kwargs)
        if isinstance(item, DictRef):
            return self.dict_method(item, name, args, kwargs)
        if isinstance(item, Tup):
            return self.tuple_method(item, name, args, kwargs)
        if (
            isinstance(item, Obj)
            and item.value is not None
            and _is_generator(item.actual)
        ):
            given = tuple(self.operand(a) for a in args)
            named = {k: self.operand(a) for k, a in kwargs.items()}
            return self.wrap(self.emit("method", item.value, name, given, named))
        return self.call_value(self.attribute(item, name), args, kwargs)

    def array_method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of an array or a number."""
        value = self.operand(item)
        if name == "reshape":
            if len(args) == 1:
                return self.plain_op("np.reshape", [item, args[0]], kwargs)
            return self.plain_op("np.reshape", [item, Tup(tuple(args))], kwargs)
        if name == "transpose":
            if not args or (isinstance(args[0], Known) and args[0].value is None):
                return self.view(item, "np.transpose")
            axes = args[0] if isinstance(args[0], Tup | ListRef) else Tup(tuple(args))
            return self.wrap(self.emit("np.transpose", value, self.operand(axes)))
        if name in ("copy", "flatten", "__copy__", "__deepcopy__"):
            if name == "flatten":
                flat = self.emit("np.ravel", value, *(self.operand(a) for a in args))
                return self.wrap(flat)
            return self.wrap(self.emit("np.copy", value))
        if name == "astype":
            kind = args[0] if args else kwargs["dtype"]
            kept = kwargs.get("copy")
            if isinstance(kept, Known) and not kept.value:
                known = self.type_of(value)
                if known is None:
                    return self.maybe_alias(
                        self.wrap(self.emit("astype", value, self.operand(kind))), item
                    )
                if isinstance(kind, Known) and np.dtype(kind.value) == known.dtype:
                    return item
            return self.wrap(self.emit("astype", value, self.operand(kind)))
        if name == "item":
            if args:
                flat = self.emit("np.ravel", value)
                place = [self.operand(a) for a in args]
                base = flat if len(place) == 1 else value
                value = self.emit(
                    "getitem", base, place[0] if len(place) == 1 else tuple(place)
                )
            return self.emit("item", value)
        if name == "tolist":
            return self.wrap(self.emit("tolist", value))
        if name in ("fill", "sort", "put", "itemset", "partition", "resize"):
            return self.mutating_method(item, name, args, kwargs)
        if name in METHODS:
            return self.call_op(METHODS[name], [item, *args], kwargs)
        if name in ("is_integer", "as_integer_ratio", "conjugate"):
            return self.emit(
                "method", value, name, tuple(self.operand(a) for a in args), {}
            )
        if self.type_of(value) is None:
            title = value.name if isinstance(value, Value) else None
            raise self.ask_arguments(title or "it", f"is asked for `.{name}()`")
        raise self.refuse(f"the array method `{name}` is not supported")

    def mutating_method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call an array method that changes the array."""
        if name == "fill":
            self.store(item, Known(Ellipsis), args[0])
        elif name == "put":
            flat = self.view(item, "np.ravel")
            if not isinstance(flat, View):
                raise self.refuse("`put` on this array is not supported")
            self.store(flat, args[0], args[1])
        elif name == "sort":
            new = self.plain_op("np.sort", [item, *args], kwargs)
            self.write(item, self.read(new))
        else:
            raise self.refuse(f"the array method `{name}` is not supported")
        return Known(None)

    def list_method(
        self, ref: ListRef, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of a list."""
        held = self.content(ref.cell)
        if name not in ("copy", "index", "count"):
            self.check_changeable(ref)
        if name == "append":
            self.list_append(ref, args[0])
            return Known(None)
        if name == "extend":
            self.list_extend(ref, args[0])
            return Known(None)
        if name == "copy":
            return self.copy_list(ref)
        if isinstance(held, RunList):
            if name == "pop" and not args and len(held.leaves) == 1:
                rest, last = self.emit_many("list_pop", 2, held.leaves[0])
                self.state["h", ref.cell] = RunList((rest,), held.shape)
                return self.wrap(last)
            first = args and isinstance(args[0], Known) and args[0].value == 0
            if name in ("pop", "popleft") and (first or name == "popleft"):
                item = self.run_item(held, Known(0))
                rests = [self.emit("getitem", r, slice(1, None)) for r in held.leaves]
                self.state["h", ref.cell] = RunList(tuple(rests), held.shape)
                return item
            if name == "reverse":
                new = tuple(self.emit("list_reverse", leaf) for leaf in held.leaves)
                self.state["h", ref.cell] = RunList(new, held.shape)
                return Known(None)
            raise self.refuse(
                f"`{name}` of a list with a run-time length is not supported"
            )
        items = list(held)
        if name == "popleft":
            found = items.pop(0)
            self.state["h", ref.cell] = tuple(items)
            return found
        if name == "pop":
            where = args[0].value if args else -1
            found = items.pop(where)
            self.state["h", ref.cell] = tuple(items)
            return found
        if name == "insert" and isinstance(args[0], Known):
            items.insert(args[0].value, args[1])
        elif name == "reverse":
            items.reverse()
        elif name == "clear":
            items.clear()
        elif name == "sort" and not kwargs:
            items = self.known_items(INTRINSICS[sorted](self, [ref], {}))
        elif name in ("index", "count") and all(isinstance(i, Known) for i in items):
            return Known(getattr([i.value for i in items], name)(args[0].value))
        else:
            raise self.refuse(f"the list method `{name}` is not supported here")
        self.state["h", ref.cell] = tuple(items)
        return Known(None)

    def list_extend(self, ref: ListRef, more: Any) -> None:
        walked = self.iterate(more)
        if walked.items is not None:
            for item in walked.items:
                self.list_append(ref, item)
            return
        self.loop(walked, lambda item: self.list_append(ref, item))

    @abstractmethod
    def loop(
        self,
        walked: Iterable,
        body: Callable[[Any], None],
        flags: Sequence[Any] = (),
    ) -> None:
        """Run a body for each item."""

    def dict_method(
        self, ref: DictRef, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of a dict."""
        held = dict(self.content(ref.cell))
        if name == "items":
            return Tup(tuple(Tup((self.key_item(k), v)) for k, v in held.items()))
        if name == "keys":
            return Tup(tuple(map(self.key_item, held)))
        if name == "values":
            return Tup(tuple(held.values()))
        if name == "get":
            default = args[1] if len(args) > 1 else Known(None)
            return held.get(self.key(args[0]), default)
        if name == "copy":
            return self.new_dict(held)
        if name == "update":
            held.update(self.content(args[0].cell) if args else {})
            held.update(kwargs)
            self.state["h", ref.cell] = held
            return Known(None)
        if name == "setdefault":
            found = held.setdefault(self.key(args[0]), args[1])
            self.state["h", ref.cell] = held
            return found
        if name == "pop":
            key = self.key(args[0])
            if key not in held and len(args) > 1:
                return args[1]
            found = held.pop(key)
            self.state["h", ref.cell] = held
            return found
        raise self.refuse(f"the dict method `{name}` is not supported")

    def key_item(self, key: Any) -> Any:
        """Return a dict key as an abstract value."""
        if isinstance(key, tuple):
            return Tup(tuple(map(self.key_item, key)))
        return Known(key)

    def tuple_method(
        self, item: Tup, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of a tuple or a named tuple."""
        if name == "_replace":
            items = [
                kwargs.get(field, old)
                for field, old in zip(item.names, item.items, strict=True)
            ]
            return Tup(tuple(items), item.like, item.names)
        if name == "_asdict":
            return self.new_dict(dict(zip(item.names, item.items, strict=True)))
        if name in ("index", "count") and all(isinstance(i, Known) for i in item.items):
            return Known(getattr([i.value for i in item.items], name)(args[0].value))
        if item.like is not None:
            return self.call_value(self.attribute(item, name), args, kwargs)
        raise self.refuse(f"the tuple method `{name}` is not supported here")


UFUNC_ARITY = {
    f"np.{name}": thing.nin
    for name, thing in vars(np).items()  # `getattr` would import NumPy's lazy parts
    if isinstance(thing, np.ufunc)
}
"""Numbers of operands of NumPy's elementwise functions."""

PURE_BUILTINS = frozenset({ord, chr, hash, id, bin, hex, oct, ascii, issubclass})
"""Functions of Python that depend on their arguments only."""

SEQUENCES = frozenset(
    f"np.{n}"
    for n in (
        "concatenate stack vstack hstack dstack column_stack block array asarray "
        "asanyarray ascontiguousarray select choose meshgrid einsum linalg.multi_dot "
        "piecewise ix_ broadcast_arrays append atleast_1d atleast_2d atleast_3d"
    ).split()
)
"""Functions that take a sequence of arrays, or make an array of one themselves."""

TABULATED = frozenset(
    f"np.{n}"
    for n in (
        "interp dot matmul outer inner vdot convolve correlate polyval maximum minimum "
        "where add subtract multiply divide power trapezoid average cross kron "
        "logaddexp arctan2 hypot linalg.solve"
    ).split()
)
"""Functions that take arrays in other places than the first, too."""

ARRAY_KEYWORDS = frozenset({"weights", "where", "x", "xp", "fp", "mean", "cov", "b"})
"""Keywords under which functions take arrays."""

SHAPED = frozenset(
    f"np.{n}"
    for n in "zeros ones empty full eye identity arange linspace reshape".split()
)
"""Functions whose lists are shapes."""

REDUCTIONS = frozenset(
    f"np.{n}"
    for n in (
        "sum mean prod max min var std any all amax amin nansum nanmean nanvar nanstd "
        "nanmax nanmin nanprod average median"
    ).split()
)
"""Functions whose `where=` chooses what is reduced."""

INTRINSICS: dict[Any, Callable[[Any, list[Any], dict[str, Any]], Any]] = {}
"""Functions of Python (and of symback's rules) that lowering itself carries out."""

OPERATIONS: dict[str, Callable[[Any, list[Any], dict[str, Any]], Any]] = {}
"""NumPy functions that lowering carries out itself, or only in some cases."""


def _title(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", getattr(thing, "__name__", thing)))


def _is_user(thing: Any) -> bool:
    """Say whether a module or class is the user's own, so its numbers may change."""
    name = thing.__name__ if isinstance(thing, types.ModuleType) else thing.__module__
    return name.split(".")[0] not in ("numpy", "math", "scipy", "builtins", "cmath")


def _is_generator(thing: Any) -> bool:
    return isinstance(thing, np.random.Generator | np.random.RandomState)


@lru_cache(maxsize=1)
def _numpy_names() -> dict[int, str]:
    """Return the name that each NumPy function goes by, preferring one with a rule."""
    found: dict[int, str] = {}
    for prefix, module in (
        ("np", np),
        ("np.linalg", np.linalg),
        ("np.fft", np.fft),
        ("np.random", np.random),
    ):
        for name, thing in vars(module).items():
            if name.startswith("_"):
                continue
            if not callable(thing) or isinstance(thing, type):
                continue
            title = f"{prefix}.{name}"
            known = found.get(id(thing))
            if known is None or (title in REGISTRY and known not in REGISTRY):
                found[id(thing)] = title
    return found


ALIASES = {
    "np.absolute": "np.abs",
    "np.amax": "np.max",
    "np.amin": "np.min",
    "np.concat": "np.concatenate",
    "np.asin": "np.arcsin",
    "np.acos": "np.arccos",
    "np.atan": "np.arctan",
    "np.asinh": "np.arcsinh",
    "np.acosh": "np.arccosh",
    "np.atanh": "np.arctanh",
    "np.atan2": "np.arctan2",
    "np.pow": "np.power",
    "np.true_divide": "np.divide",
    "np.conjugate": "np.conj",
    "np.around": "np.round",
    "np.row_stack": "np.vstack",
    "np.permute_dims": "np.transpose",
    "np.mod": "np.remainder",
}

AS_OPERATORS = {
    "np.add": "add",
    "np.subtract": "sub",
    "np.multiply": "mul",
    "np.divide": "truediv",
    "np.power": "pow",
    "np.negative": "neg",
    "np.positive": "pos",
    "np.matmul": "matmul",
    "np.remainder": "mod",
    "np.floor_divide": "floordiv",
    "np.less": "lt",
    "np.less_equal": "le",
    "np.greater": "gt",
    "np.greater_equal": "ge",
    "np.equal": "eq",
    "np.not_equal": "ne",
    "np.bitwise_and": "and_",
    "np.bitwise_or": "or_",
    "np.bitwise_xor": "xor",
    "np.invert": "invert",
}
"""NumPy functions of two arrays that mean the same as an operator."""


def library_method(thing: Any) -> str | None:
    """Return the operation that a method of a SciPy distribution is, or None."""
    owner = getattr(thing, "__self__", None)
    module = type(owner).__module__
    if not module.startswith("scipy.stats"):
        return None
    name = getattr(owner, "name", None)
    stats = sys.modules["scipy.stats"]
    if name is None or getattr(stats, name, None) is not owner:
        found = [n for n in vars(stats) if vars(stats)[n] is owner]
        name = found[0] if found else None
    return None if name is None else f"scipy.stats.{name}.{thing.__name__}"


def operation_name(thing: Any) -> str | None:
    """Return the name of the operation that a callable is, or None.

    >>> operation_name(np.absolute), operation_name(math.exp)
    ('np.abs', 'math.exp')
    """
    found = _numpy_names().get(id(thing))
    if found is not None:
        return ALIASES.get(found, found)
    module = getattr(thing, "__module__", None) or ""
    name = getattr(thing, "__name__", "")
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if isinstance(thing, np.ufunc):
        special = sys.modules.get("scipy.special")
        if special is not None and getattr(special, name, None) is thing:
            return f"scipy.special.{name}"
        return None
    if module == "math":
        return f"math.{name}"
    if module.startswith(("numpy.", "scipy.")) and isinstance(
        thing, types.FunctionType
    ):
        found_there = sys.modules.get(module)
        public = ".".join(module.split(".")[:2])
        if getattr(sys.modules.get(public), name, None) is thing:
            return f"{public}.{name}"
        if getattr(found_there, name, None) is thing:
            return f"{module}.{name}"
    if module.startswith("scipy."):
        parts = module.split(".")
        public = ".".join(parts[:2])
        home = sys.modules.get(public)
        if home is not None and getattr(home, name, None) is thing:
            return f"{public}.{name}"
    if module == "symback.runtime":
        return f"runtime.{name}"
    if module == "_operator":
        return f"operator.{name}"
    return None
