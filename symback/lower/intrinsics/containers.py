"""Python's containers: lists, tuples, dicts and sets from iterables, and sorting."""

from __future__ import annotations

import collections
import copy
from dataclasses import replace
from typing import Any

from ...graph import UNDEFINED, Value
from ..abstract import (
    Array,
    DictRef,
    DictView,
    Iterable,
    Known,
    ListRef,
    Obj,
    Outer,
    RunList,
    Shape,
    Tup,
    View,
    Walker,
    is_number,
)
from ..core import Raises
from ..names import is_callable_kind
from ..operations import is_users
from .table import Args, Kwargs, intrinsic

__all__: list[str] = []


@intrinsic(len)
def _len(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0]
    if isinstance(item, Iterable):
        length = low.length_of(item)
        return Known(length) if isinstance(length, int) else length
    if isinstance(item, Tup):
        return Known(len(item.items))
    if isinstance(item, Known):
        return Known(len(item.value))
    if isinstance(item, Outer):
        return low.outer_call(item, len)
    if isinstance(item, Walker):
        raise Raises(TypeError, low.refuse("an iterator has no length"))
    if isinstance(item, ListRef | DictRef | DictView):
        held = low.content(item.cell)
        if isinstance(held, RunList):
            return low.emit("builtins.len", held.leaves[0])
        return Known(len(held))
    if isinstance(item, Shape):
        return low.emit("np.ndim", low.defs[item.value].args[0])
    if isinstance(item, Obj):
        return low.call_value(low.attribute(item, "__len__"), [], {})
    value = low.operand(item)
    known = value.type if isinstance(value, Value) else None
    if known is not None and known.is_array:
        return low.shape_of(value).items[0]
    return low.emit("builtins.len", value)


@intrinsic(list)
def _list(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not args:
        return low.new_list([])
    walked = low.iterate(args[0])
    if walked.items is not None:
        return low.new_list(list(walked.items))
    if isinstance(args[0], ListRef):
        return low.copy_list(args[0])
    return low.listed(walked)


@intrinsic(tuple)
def _tuple(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not args:
        return Tup(())
    walked = low.iterate(args[0])
    if walked.items is not None:
        return Tup(walked.items)
    made = _list(low, args, kwargs)
    held = low.content(made.cell)
    return Tup(held) if isinstance(held, tuple) else made


@intrinsic(dict)
def _dict(low: Any, args: Args, kwargs: Kwargs) -> Any:
    held: dict[Any, Any] = {}
    if args:
        if isinstance(args[0], DictRef):
            held.update(low.content(args[0].cell))
        else:
            for pair in low.known_items(args[0]):
                key, item = low.known_items(pair)
                held[low.key(key)] = item
    held.update(kwargs)
    return low.new_dict(held)


@intrinsic(set, frozenset)
def _set(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.new_set(low.known_items(args[0]) if args else [])


@intrinsic(sorted)
def _sorted(low: Any, args: Args, kwargs: Kwargs) -> Any:
    walked = low.iterate(args[0])
    backwards = kwargs.get("reverse")
    if backwards is not None and not isinstance(backwards, Known):
        raise low.refuse("`reverse=` must be known")
    items = walked.items
    if items is not None and all(isinstance(i, Known) for i in items):
        key = kwargs.get("key")
        if key is None:
            values = sorted(
                (i.value for i in items), reverse=bool(backwards and backwards.value)
            )
            return low.new_list([Known(v) for v in values])
    if kwargs.get("key") is not None:
        return _sorted_by(low, low.known_items(args[0]), kwargs["key"], backwards)
    if (
        items is None
        and isinstance(args[0], Array | View)
        and (low.mode == "generic" and low.operand(args[0]) in low.parameters)
    ):
        raise low.ask_arguments(low.operand(args[0]).name, "is sorted")
    source = low.operand(args[0] if items is None else low.new_list(list(items)))
    array = (
        source
        if items is None and not _is_list(source)
        else low.emit("np.array", source)
    )
    found = low.emit("np.sort", array)
    if backwards is not None and backwards.value:
        found = low.emit("getitem", found, slice(None, None, -1))
    if items is None:
        return low.wrap(found)
    return low.new_list(
        [low.wrap(low.emit("getitem", found, k)) for k in range(len(items))]
    )


def _sorted_by(low: Any, items: Args, key: Any, backwards: Any) -> Any:
    """Lower `sorted` with a key: numbers are picked in the order of their keys."""
    keys = [low.call_value(key, [i], {}) for i in items]
    if all(isinstance(k, Known) for k in keys):
        order = sorted(range(len(items)), key=lambda n: keys[n].value)
        order = order[::-1] if backwards is not None and backwards.value else order
        return low.new_list([items[n] for n in order])
    if not all(map(is_number, items)):
        raise low.refuse("sorting by a key known only at run time needs numbers")
    ranks = low.emit("np.array", [low.operand(k) for k in keys])
    if backwards is not None and backwards.value:
        ranks = low.emit("neg", ranks)
    order = low.emit("np.argsort", ranks, kind="stable")
    if low.picks(items):
        places = [low.emit("getitem", order, k) for k in range(len(items))]
        return low.new_list([low.picked(tuple(items), place) for place in places])
    array = low.emit("np.array", [low.operand(i) for i in items])
    found = low.emit("getitem", array, order)
    return low.new_list(
        [low.wrap(low.emit("getitem", found, k)) for k in range(len(items))]
    )


def _is_list(value: Any) -> bool:
    return (
        isinstance(value, Value)
        and value.type is not None
        and value.type.kind == "list"
    )


@intrinsic(collections.Counter)
def _counter(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if args and isinstance(args[0], DictRef):
        made = _dict(low, args, kwargs)
    else:
        counts = collections.Counter(
            map(low.key, low.known_items(args[0]) if args else [])
        )
        made = low.new_dict({k: Known(n) for k, n in counts.items()} | kwargs)
    low.state["f", made.cell] = Known(int)
    return made


@intrinsic(collections.defaultdict, collections.OrderedDict)
def _named_dict(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if args and isinstance(args[0], Known) and callable(args[0].value):
        made = low.new_dict({})
        low.state["f", made.cell] = args[0]
        return made
    return _dict(low, args, kwargs)


@intrinsic(collections.deque)
def _deque(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if kwargs or len(args) > 1:
        raise low.refuse("a deque of limited length is not supported")
    return _list(low, args, kwargs)


@intrinsic(copy.copy)
def _copy(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return _copied(low, args[0], lambda part: part)


@intrinsic(copy.deepcopy)
def _deep_copy(low: Any, args: Args, kwargs: Kwargs) -> Any:
    known: dict[Any, Any] = {}

    def deep(item: Any) -> Any:
        # What is there twice is copied once.
        key = item if isinstance(item, Array | ListRef | DictRef | Obj) else None
        if key is None:
            return _copied(low, item, deep)
        if key not in known:
            known[key] = _copied(low, item, deep)
        return known[key]

    return deep(args[0])


def _copied(low: Any, item: Any, part: Any) -> Any:
    """Return a copy of a container, an array or an object, and of its parts."""
    if isinstance(item, Walker | DictView | Outer):
        raise low.refuse(f"a copy of {low.describe(item)} is not supported")
    if isinstance(item, ListRef):
        held = low.content(item.cell)
        if isinstance(held, RunList):
            return low.copy_list(item)
        return low.new_list(list(map(part, held)))
    if isinstance(item, DictRef):
        held = low.content(item.cell)
        made = low.new_dict({k: part(v) for k, v in held.items()})
        if ("f", item.cell) in low.state:
            low.state["f", made.cell] = low.state["f", item.cell]
        return made
    if isinstance(item, Tup):
        return replace(item, items=tuple(map(part, item.items)))
    if isinstance(item, Array | View):
        return low.wrap(low.emit("np.copy", low.operand(item)))
    if isinstance(item, Obj):
        held = low.content(item.cell)
    elif isinstance(item, Known) and _is_plain_object(item.value):
        path = item.path or low.path_of(item.value)
        held = {"__class__": type(item.value)}
        for name, thing in vars(item.value).items():
            now = low.written_part(item.value, path, name)
            step = path.step("attr", name)
            held[name] = low.capture(thing, step) if now is UNDEFINED else now
    else:
        return item
    kind = held["__class__"]
    if {"__copy__", "__deepcopy__", "__getstate__"} & _own_names(kind):
        raise low.refuse(f"`{kind.__name__}` objects are copied in a way of their own")
    fields = {k: v if k == "__class__" else part(v) for k, v in held.items()}
    return Obj(None, None, low.new_dict(fields).cell)


def _own_names(kind: type) -> set[str]:
    return {name for k in kind.__mro__[:-1] for name in vars(k)}


def _is_plain_object(thing: Any) -> bool:
    return (
        hasattr(thing, "__dict__")
        and not isinstance(thing, type)
        and not is_callable_kind(thing)
        and is_users(type(thing))
    )
