"""Python's functions of any object: ``isinstance``, ``getattr``, ``print``."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...graph import Value
from ..abstract import Array, DictRef, Function, Known, ListRef, Obj, Partial, Tup, View
from .table import Args, Kwargs, intrinsic

__all__: list[str] = []


@intrinsic(isinstance)
def _isinstance(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item, kinds = args
    if isinstance(kinds, Tup):
        classes: Any = tuple(k.value for k in kinds.items)
    else:
        classes = kinds.value
    if isinstance(item, Known):
        return Known(isinstance(item.value, classes))
    samples: dict[type, Any] = {ListRef: [], DictRef: {}, Tup: ()}
    if isinstance(item, Tup) and item.like is not None:
        return Known(issubclass(item.like, classes))
    if type(item) in samples:
        return Known(isinstance(samples[type(item)], classes))
    if isinstance(item, Obj):
        return Known(issubclass(low.content(item.cell)["__class__"], classes))
    if isinstance(item, Function | Partial):
        return Known(isinstance(_isinstance, classes))
    value = low.operand(item)
    known = value.type if isinstance(value, Value) else None
    if known is None or not known.samples:
        if low.fixed_span is not None:
            # In a rule: what is a list or tuple is known as one.
            return Known(False)
        if low.mode == "generic":
            raise low.ask_arguments(value.name or "it", "is tested with `isinstance`")
        raise low.refuse("what this is cannot be told without running")
    return Known(isinstance(known.samples[0], classes))


@intrinsic(type)
def _type(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0]
    if isinstance(item, Known):
        return Known(type(item.value))
    if isinstance(item, Tup):
        return Known(item.like or tuple)
    if isinstance(item, Obj):
        return Known(low.content(item.cell)["__class__"])
    if isinstance(item, ListRef | DictRef):
        return Known(list if isinstance(item, ListRef) else dict)
    value = low.operand(item)
    if value.type is None or not value.type.samples:
        raise low.refuse("what this is cannot be told without running")
    return Known(type(value.type.samples[0]))


@intrinsic(hasattr)
def _hasattr(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item, name = args[0], args[1].value
    if isinstance(item, Known):
        return Known(hasattr(item.value, name))
    if isinstance(item, Obj):
        held = low.content(item.cell)
        return Known(name in held or hasattr(held["__class__"], name))
    if isinstance(item, Array | View | Value):
        value = low.operand(item)
        if value.type is not None and value.type.samples:
            return Known(hasattr(value.type.samples[0], name))
        raise low.ask_arguments(value.name or "it", "is asked for an attribute")
    samples: dict[type, Any] = {ListRef: [], DictRef: {}, Tup: ()}
    return Known(hasattr(samples.get(type(item)), name))


@intrinsic(getattr)
def _getattr(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if len(args) > 2:
        found = _hasattr(low, args[:2], {})
        if not found.value:
            return args[2]
    if not isinstance(args[1], Known):
        value = low.operand(args[1])
        raise low.ask_arguments(value.name or "it", "names an attribute")
    return low.attribute(args[0], args[1].value)


@intrinsic(callable)
def _callable(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0]
    known = isinstance(item, Known) and callable(item.value)
    return Known(known or isinstance(item, Function | Partial))


@intrinsic(print)
def _print(low: Any, args: Args, kwargs: Kwargs) -> Any:
    given = [low.operand(a) for a in args]
    kwargs = dict(kwargs)
    file = kwargs.get("file")
    if isinstance(file, Known) and file.value is not None:
        kwargs["file"] = low.opaque(file.value, "file")
    low.effect(
        "builtins.print", *given, **{k: low.operand(a) for k, a in kwargs.items()}
    )
    return Known(None)


@intrinsic(str, repr, format)
def _str(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if all(isinstance(a, Known) for a in args):
        return Known(str(*(a.value for a in args)))
    return low.emit("fstring", (low.operand(args[0]), None, None))


@intrinsic(slice)
def _slice(low: Any, args: Args, kwargs: Kwargs) -> Any:
    bounds = [None, args[0], None] if len(args) == 1 else [*args, None][:3]
    return slice(
        *(
            None if b is None or (isinstance(b, Known) and b.value is None) else b
            for b in bounds
        )
    )


@intrinsic(np.finfo, np.iinfo)
def _limits(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not isinstance(args[0], Known):
        raise low.refuse("the dtype must be known")
    return Known(np.finfo(args[0].value))


@intrinsic(dataclasses.replace)
def _replace(low: Any, args: Args, kwargs: Kwargs) -> Any:
    held = dict(low.content(args[0].cell))
    held.update(kwargs)
    return Obj(None, None, low.new_dict(held).cell)


@intrinsic(eval, exec, open, compile, input, __import__, globals, locals, vars)
def _forbidden(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse(
        "this reaches outside the function: files, input and evaluated text cannot be "
        "differentiated",
        "do it outside and pass the result as an argument.",
    )
