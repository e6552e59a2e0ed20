"""Python's functions of numbers: ``sum``, ``max``, ``float``, ``all``, operators."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy as np

from ...graph import Value
from ..abstract import Array, Known, ListRef, Partial, Tup, View, Walker
from ..iterators import Ended
from ..operations import GETTERS, INTRINSICS
from .iteration import accumulate, walk_together
from .table import Args, Handler, Kwargs, intrinsic

__all__: list[str] = []


@intrinsic(sum)
def _sum(low: Any, args: Args, kwargs: Kwargs) -> Any:
    start = args[1] if len(args) > 1 else kwargs.get("start", Known(0))
    item = args[0]
    zero = (
        isinstance(start, Known) and isinstance(start.value, int) and start.value == 0
    )
    if isinstance(item, Array | View | Value):
        value = low.operand(item)
        if isinstance(value, Value) and (value.type is None or value.type.rank >= 1):
            total = low.wrap(low.emit("np.sum", value, axis=0))
            return total if zero else low.operate("add", start, total)
    walked = low.iterate(item)
    if walked.items is None:
        return accumulate(low, walked, start, lambda a, b: low.operate("add", a, b))
    items = list(walked.items)
    total = (
        items.pop(0) if zero and items and not isinstance(items[0], Known) else start
    )
    for one in items:
        total = low.operate("add", total, one)
    return total


@intrinsic(math.fsum)
def _fsum(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return _sum(low, [args[0], Known(0.0)], {})


@intrinsic(math.prod)
def _prod(low: Any, args: Args, kwargs: Kwargs) -> Any:
    start = kwargs.get("start", Known(1))
    walked = low.iterate(args[0])
    if walked.items is None:
        return accumulate(low, walked, start, lambda a, b: low.operate("mul", a, b))
    total = start
    for one in walked.items:
        total = low.operate("mul", total, one)
    return total


@intrinsic(math.dist)
def _dist(low: Any, args: Args, kwargs: Kwargs) -> Any:
    pairs = low.known_items(walk_together(low, args, {}))
    squares = [
        low.operate("pow", low.operate("sub", *pair.items), Known(2)) for pair in pairs
    ]
    total = _sum(low, [low.new_list(squares)], {})
    return low.call_op("math.sqrt", [total], {})


def _extreme(name: str) -> Handler:
    def handler(low: Any, args: Args, kwargs: Kwargs) -> Any:
        default = kwargs.pop("default", None)
        key = kwargs.pop("key", None)
        if key is not None:
            return _extreme_by(low, name, args, key)
        if len(args) == 1:
            item = args[0]
            if isinstance(item, Array | View | Value):
                return low.wrap(low.emit(f"np.{name}", low.operand(item)))
            walked = low.iterate(item)
            if walked.items is None:
                listed = item if isinstance(item, ListRef) else low.listed(walked)
                array = low.emit("np.array", low.operand(listed))
                return low.wrap(low.emit(f"np.{name}", array))
            args = list(walked.items)
            if not args:
                if default is not None:
                    return default
                raise low.refuse(f"`{name}` of nothing")
        if len(args) > 1 and all(isinstance(a, Known) for a in args):
            return Known(getattr(builtins, name)(*(a.value for a in args)))
        result = args[0]
        for one in args[1:]:
            result = low.wrap(
                low.emit(f"builtins.{name}", low.operand(result), low.operand(one))
            )
        return result

    return handler


def _extreme_by(low: Any, name: str, args: Args, key: Any) -> Any:
    """Lower `max` and `min` with a key: the first of the items with the extreme key."""
    items = low.known_items(args[0]) if len(args) == 1 else args
    best, best_key = items[0], low.call_value(key, [items[0]], {})
    op = "gt" if name == "max" else "lt"
    for one in items[1:]:
        one_key = low.call_value(key, [one], {})
        better = low.truth(low.operate(op, one_key, best_key))
        pair = low.choose(
            better,
            lambda a=one, b=one_key: Tup((a, b)),
            lambda a=best, b=best_key: Tup((a, b)),
        )
        best, best_key = pair.items
    return best


INTRINSICS[max] = _extreme("max")
INTRINSICS[min] = _extreme("min")


@intrinsic(abs)
def _abs(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if isinstance(args[0], Known):
        return Known(abs(args[0].value))
    return low.wrap(low.emit("np.abs", low.operand(args[0])))


def _convert(kind: type) -> Handler:
    def handler(low: Any, args: Args, kwargs: Kwargs) -> Any:
        if not args:
            return Known(kind())
        item = args[0]
        if kind is complex and len(args) == 2:
            imaginary = low.operate("mul", args[1], Known(1j))
            return low.operate("add", item, imaginary)
        if isinstance(item, Known):
            with low.trying():
                return Known(kind(item.value, *(a.value for a in args[1:])))
        if kind is bool:
            truth = low.truth(item)
            return (
                truth if isinstance(truth, Known) else low.emit("builtins.bool", truth)
            )
        value = low.operand(item)
        known = value.type if isinstance(value, Value) else None
        if (
            known is not None
            and known.kind == "python"
            and known.dtype == kind.__name__
        ):
            return value
        return low.emit(f"builtins.{kind.__name__}", value)

    return handler


for _kind in (float, int, bool, complex):
    INTRINSICS[_kind] = _convert(_kind)
for _scalar in (
    np.float64,
    np.float32,
    np.complex128,
    np.complex64,
    np.int64,
    np.int32,
    np.int16,
    np.int8,
    np.uint64,
    np.uint32,
    np.uint16,
    np.uint8,
    np.float16,
    np.bool_,
):

    def _numpy_scalar(low: Any, args: Args, kwargs: Kwargs, kind: Any = _scalar) -> Any:
        return low.wrap(low.emit("astype", _as_array(low, args[0]), kind))

    INTRINSICS[_scalar] = _numpy_scalar


def _as_array(low: Any, item: Any) -> Any:
    value = low.operand(item)
    known = low.type_of(value)
    if known is not None and known.kind in ("array", "numpy"):
        return value
    return low.emit("np.asarray", value)


@intrinsic(round)
def _round(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if all(isinstance(a, Known) for a in args):
        return Known(round(*(a.value for a in args)))
    return low.emit("builtins.round", *(low.operand(a) for a in args))


@intrinsic(pow)
def _pow(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.operate("pow", args[0], args[1])


@intrinsic(divmod)
def _divmod(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Tup((low.operate("floordiv", *args), low.operate("mod", *args)))


def _all_any(both: bool) -> Handler:
    def handler(low: Any, args: Args, kwargs: Kwargs) -> Any:
        item = args[0]
        if isinstance(item, Array | View | Value):
            return low.emit("np.all" if both else "np.any", low.operand(item))
        if isinstance(item, Walker) and not low.pullable(item):
            return _first_of(low, item, both)
        if isinstance(item, Walker):

            def step() -> Any:
                try:
                    truth = low.truth(low.pull(item))
                except Ended:
                    return Known(both)
                if both:
                    return low.choose(truth, step, lambda: Known(False))
                return low.choose(truth, lambda: Known(True), step)

            return step()
        walked = low.iterate(item)
        if walked.items is None:
            listed = item if isinstance(item, ListRef) else low.listed(walked)
            array = low.emit("np.array", low.operand(listed))
            return low.emit("np.all" if both else "np.any", array)
        result: Any = Known(both)
        for one in walked.items:
            truth, so_far = low.truth(one), result
            if both:
                result = low.choose(truth, lambda s=so_far: s, lambda: Known(False))
            else:
                result = low.choose(truth, lambda: Known(True), lambda s=so_far: s)
        return result

    return handler


def _first_of(low: Any, item: Any, both: bool) -> Any:
    """Walk a run-time iterator until an item decides."""
    flag = ("x", low.frame.number, f"brk{low.fresh()}")
    low.state[flag] = Known(False)

    def body(one: Any) -> None:
        truth = low.truth(one)
        low.state[flag] = low.negate(truth) if both else truth

    low.walk(item, body, [flag])
    found = low.state.pop(flag)
    return low.negate(found) if both else found


INTRINSICS[all] = _all_any(True)
INTRINSICS[any] = _all_any(False)

for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "pow",
    "matmul",
    "neg",
    "floordiv",
    "mod",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
):

    def _operator(low: Any, args: Args, kwargs: Kwargs, op: str = _name) -> Any:
        return low.operate(op, *args)

    INTRINSICS[getattr(operator, _name)] = _operator


def _read(low: Any, item: Any, key: Any, kind: type) -> Any:
    """Read what `itemgetter` or `attrgetter` reads by one of its keys."""
    if kind is operator.itemgetter:
        return low.getitem(item, key)
    for name in key.value.split("."):
        item = low.attribute(item, name)
    return item


def _getter(kind: type) -> None:
    """Register `itemgetter` or `attrgetter`: what it makes keeps its keys."""

    def read(*_args: Any) -> None:
        """Stand for what the getter does when it is called."""

    @intrinsic(read)
    def _called(low: Any, args: Args, kwargs: Kwargs) -> Any:
        *keys, item = args
        found = tuple(_read(low, item, key, kind) for key in keys)
        return found[0] if len(keys) == 1 else Tup(found)

    @intrinsic(kind)
    def _made(low: Any, args: Args, kwargs: Kwargs) -> Any:
        return Partial(Known(read), tuple(args))

    GETTERS[kind] = read


for _kind_of_getter in (operator.itemgetter, operator.attrgetter):
    _getter(_kind_of_getter)
