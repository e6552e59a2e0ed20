"""Calls: the user's functions are written out, those of libraries become nodes."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from abc import abstractmethod
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Value
from ..rules import REGISTRY
from .abstract import (
    Array,
    DictRef,
    Function,
    Known,
    ListRef,
    Obj,
    Partial,
    Poison,
    RunList,
    Tup,
    View,
)
from .attributes import Attributes
from .names import Boxed, Path
from .operations import (
    ARRAY_KEYWORDS,
    FIELDS,
    INTRINSICS,
    MAYBE_VIEWS,
    OPERATIONS,
    OUTPUTS,
    PARTS,
    PRIVATE,
    PURE_BUILTINS,
    PYTHON_PARAMETERS,
    REDUCTIONS,
    SEQUENCES,
    SHAPED,
    STATIC_ARGUMENTS,
    TABULATED,
    UFUNC_ARITY,
    VIEWS,
    library_method,
    name_of,
    operation_name,
)

__all__ = ["Calls"]


class Calls(Attributes):
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
            return handler(self, *self.python_arguments(thing, args, kwargs))
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
            f"`{name_of(thing)}` is not a function whose source or derivative is known"
        )

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
        self.check_static_arguments(op, args, kwargs)
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

    def check_static_arguments(
        self, op: str, args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        """Ask for arguments that decide shapes, as `axis`, to be known."""
        if self.mode == "generic":
            return
        rule = REGISTRY.get(op)
        named = dict(kwargs)
        if rule is not None:
            named.update(zip(rule.params, args, strict=False))
        for key in STATIC_ARGUMENTS & named.keys():
            item = named[key]
            parts = item.items if isinstance(item, Tup) else (item,)
            for part in parts:
                if isinstance(part, Value | Array | View):
                    value = self.operand(part)
                    raise self.need_static(value, f"`{key}` must be known")

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
        if op in SHAPED:
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

    # Implemented further up

    @abstractmethod
    def method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of an abstract value."""

    @abstractmethod
    def store(self, target: Any, index: Any, item: Any) -> None:
        """Do ``target[index] = item``."""
