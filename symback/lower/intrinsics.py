"""Python's own functions, and the few of NumPy's that lowering carries out itself."""

from __future__ import annotations

import builtins
import collections
import copy
import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import Value
from ..rules import helpers
from ..rules.registry import REGISTRY
from .abstract import (
    Array,
    DictRef,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Partial,
    RunList,
    Shape,
    Tup,
    View,
    is_number,
)
from .operations import AS_OPERATORS, INTRINSICS, OPERATIONS
from .shapes import unbroadcast

__all__: list[str] = []

Args = list[Any]
Kwargs = dict[str, Any]
Handler = Callable[[Any, Args, Kwargs], Any]


def intrinsic(*things: Any) -> Callable[[Handler], Handler]:
    """Register the lowering of calls of some Python objects."""

    def register(handler: Handler) -> Handler:
        for thing in things:
            INTRINSICS[thing] = handler
        return handler

    return register


def operation(*ops: str) -> Callable[[Handler], Handler]:
    """Register the lowering of calls of some NumPy functions."""

    def register(handler: Handler) -> Handler:
        for op in ops:
            OPERATIONS[op] = handler
        return handler

    return register


# Containers and iteration


@intrinsic(len)
def _len(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0]
    if isinstance(item, Iterable):
        item = low.listed(item)
    if isinstance(item, Tup):
        return Known(len(item.items))
    if isinstance(item, Known):
        return Known(len(item.value))
    if isinstance(item, ListRef | DictRef):
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


@intrinsic(range)
def _range(low: Any, args: Args, kwargs: Kwargs) -> Any:
    bounds = [low.operand(a) for a in args]
    if len(bounds) == 1:
        bounds = [0, bounds[0], 1]
    elif len(bounds) == 2:
        bounds.append(1)
    start, stop, step = bounds
    return Iterable(length=_count(low, start, stop, step), range=(start, stop, step))


def _count(low: Any, start: Any, stop: Any, step: Any) -> Any:
    """Return the length of a range where it is known or simple, else None."""
    if all(isinstance(b, int) for b in (start, stop, step)):
        return len(range(start, stop, step))
    return stop if (start, step) == (0, 1) else None


def _positional(low: Any, walked: Iterable) -> tuple[Any, Callable[[Any], Any]]:
    """Return the length of an iterable and the item at a position."""
    if walked.items is not None:
        items = walked.items

        def pick(i: Any) -> Any:
            if isinstance(i, Known):
                return items[i.value]
            return low.sequence_item(low.new_list(list(items)), i)

        return len(items), pick
    if walked.range is not None and walked.item is None:
        start, stop, step = walked.range

        def index(i: Any) -> Any:
            place = i if step == 1 else low.operate("mul", _item(step), i)
            return place if start == 0 else low.operate("add", _item(start), place)

        length = walked.length
        if length is None:
            length = low.emit(
                "builtins.len", low.emit("builtins.range", start, stop, step)
            )
        return length, index
    assert walked.item is not None
    return walked.length, walked.item


def _item(arg: Any) -> Any:
    """Return a node's argument as an abstract value."""
    return arg if isinstance(arg, Value) else Known(arg)


@intrinsic(enumerate)
def _enumerate(low: Any, args: Args, kwargs: Kwargs) -> Any:
    walked = low.iterate(args[0])
    start = args[1] if len(args) > 1 else kwargs.get("start", Known(0))
    if walked.items is not None and isinstance(start, Known):
        return Iterable(
            items=tuple(
                Tup((Known(start.value + k), item))
                for k, item in enumerate(walked.items)
            )
        )
    length, pick = _positional(low, walked)

    def item(i: Any) -> Any:
        number = i
        if not (isinstance(start, Known) and start.value == 0):
            number = low.operate("add", i, start)
        return Tup((number, pick(i)))

    return Iterable(length=length, item=item)


@intrinsic(zip)
def _zip(low: Any, args: Args, kwargs: Kwargs) -> Any:
    parts = [low.iterate(a) for a in args]
    if not parts:
        return Iterable(items=())
    if all(p.items is not None for p in parts):
        return Iterable(
            items=tuple(
                Tup(row) for row in zip(*(p.items for p in parts), strict=False)
            )
        )
    found = [_positional(low, p) for p in parts]
    known = [n for n, _ in found if isinstance(n, int)]
    picks = [pick for _, pick in found]
    if known:
        # A sequence of known length decides; a shorter array fails when it is read.
        shortest = min(known)
        if all(p.items is None or all(map(is_number, p.items)) for p in parts):
            others = list(
                {id(n): n for n, _ in found if not isinstance(n, int)}.values()
            )
            if not others:
                length: Any = shortest
            else:
                length = low.emit("builtins.min", shortest, *others)
            return Iterable(
                length=length, item=lambda i: Tup(tuple(p(i) for p in picks))
            )
        return Iterable(
            items=tuple(Tup(tuple(p(Known(k)) for p in picks)) for k in range(shortest))
        )
    lengths = list({_dim_key(low, n): n for n, _ in found}.values())
    length = lengths[0] if len(lengths) == 1 else low.emit("builtins.min", *lengths)
    return Iterable(length=length, item=lambda i: Tup(tuple(p(i) for p in picks)))


def _dim_key(low: Any, length: Any) -> Any:
    """Return a key that equal dimensions share."""
    kind = length.type
    node = low.defs.get(length)
    if node is not None and node.op == "dim" and kind is not None and kind.samples:
        return ("dim", kind.samples)
    return length


@intrinsic(reversed)
def _reversed(low: Any, args: Args, kwargs: Kwargs) -> Any:
    walked = low.iterate(args[0])
    if walked.items is not None:
        return Iterable(items=tuple(reversed(walked.items)))
    if walked.range is not None and walked.item is None:
        start, stop, step = walked.range
        if all(isinstance(b, int) for b in (start, stop, step)):
            back = range(start, stop, step)[::-1]
            bounds: tuple[Any, Any, Any] = (back.start, back.stop, back.step)
            return Iterable(length=walked.length, range=bounds)
        if step == 1:
            last = low.emit("sub", stop, 1)
            end = start - 1 if isinstance(start, int) else low.emit("sub", start, 1)
            return Iterable(length=walked.length, range=(last, end, -1))
    length, pick = _positional(low, walked)
    last = low.operate("sub", _item(length), Known(1))

    def item(i: Any) -> Any:
        return pick(low.operate("sub", last, i))

    return Iterable(length=length, item=item)


@intrinsic(map)
def _map(low: Any, args: Args, kwargs: Kwargs) -> Any:
    function = args[0]
    walked = low.iterate(args[1]) if len(args) == 2 else _zip(low, args[1:], {})

    def call(item: Any) -> Any:
        given = [item] if len(args) == 2 else list(item.items)
        return low.call_value(function, given, {})

    if walked.items is not None:
        return low.new_list([call(i) for i in walked.items])
    result = low.new_list([])
    low.loop(walked, lambda i: low.list_append(result, call(i)))
    return result


@intrinsic(filter)
def _filter(low: Any, args: Args, kwargs: Kwargs) -> Any:
    walked, result = low.iterate(args[1]), low.new_list([])

    def one(item: Any) -> None:
        none = isinstance(args[0], Known) and args[0].value is None
        found = item if none else low.call_value(args[0], [item], {})
        low.choose(
            low.truth(found), lambda: low.list_append(result, item), lambda: None
        )

    low.loop(walked, one)
    return result


@intrinsic(functools.reduce)
def _reduce(low: Any, args: Args, kwargs: Kwargs) -> Any:
    walked = low.iterate(args[1])
    if walked.items is not None:
        items = list(walked.items)
        total = args[2] if len(args) > 2 else items.pop(0)
        for item in items:
            total = low.call_value(args[0], [total, item], {})
        return total
    if len(args) < 3:
        length, pick = _positional(low, walked)
        start = pick(Known(0))
        rest = low.operate("sub", _item(length), Known(1))
        following = Iterable(
            length=low.operand(rest),
            item=lambda i: pick(low.operate("add", i, Known(1))),
        )
        return _accumulate(
            low, following, start, lambda a, b: low.call_value(args[0], [a, b], {})
        )
    return _accumulate(
        low, walked, args[2], lambda a, b: low.call_value(args[0], [a, b], {})
    )


def _accumulate(low: Any, walked: Iterable, start: Any, step: Any) -> Any:
    """Fold a run-time iterable in a loop."""
    key = ("n", low.frame.number, "total", low.fresh())
    low.state[key] = start

    def one(item: Any) -> None:
        low.state[key] = step(low.state[key], item)

    low.loop(walked, one)
    return low.state.pop(key)


@intrinsic(functools.partial)
def _partial(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Partial(args[0], tuple(args[1:]), tuple(kwargs.items()))


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
    items = low.known_items(args[0]) if args else []
    if not all(isinstance(i, Known) for i in items):
        raise low.refuse("a set of values known only at run time is not supported")
    return Known(frozenset(i.value for i in items))


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


def _known_lists(low: Any, args: Args) -> list[list[Any]]:
    return [low.known_items(a) for a in args]


def _combined(function: Any) -> Handler:
    """Return the lowering of one of `itertools`' functions of known sequences."""

    def handler(low: Any, args: Args, kwargs: Kwargs) -> Any:
        numbers = [
            a.value for a in args if isinstance(a, Known) and type(a.value) is int
        ]
        rest = [a for a in args if not (isinstance(a, Known) and type(a.value) is int)]
        named = {k: v.value for k, v in kwargs.items()}
        found = function(*_known_lists(low, rest), *numbers, **named)
        return Iterable(items=tuple(Tup(tuple(row)) for row in found))

    return handler


for _combine in (
    itertools.product,
    itertools.combinations,
    itertools.permutations,
    itertools.combinations_with_replacement,
    itertools.pairwise,
):
    INTRINSICS[_combine] = _combined(_combine)


@intrinsic(itertools.chain)
def _chain(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Iterable(items=tuple(i for part in _known_lists(low, args) for i in part))


@intrinsic(itertools.accumulate)
def _running(low: Any, args: Args, kwargs: Kwargs) -> Any:
    function = args[1] if len(args) > 1 else kwargs.get("func", Known(operator.add))
    items = low.known_items(args[0])
    if kwargs.get("initial") is not None:
        items.insert(0, kwargs["initial"])
    found = items[:1]
    for item in items[1:]:
        found.append(low.call_value(function, [found[-1], item], {}))
    return Iterable(items=tuple(found))


@intrinsic(np.ndindex)
def _ndindex(low: Any, args: Args, kwargs: Kwargs) -> Any:
    sizes = low.known_items(args[0]) if isinstance(args[0], Tup) else list(args)
    ranges = []
    for size in sizes:
        if not isinstance(size, Known):
            raise low.need_static(low.operand(size), "the shape to walk must be known")
        ranges.append(range(size.value))
    rows = itertools.product(*ranges)
    return Iterable(items=tuple(Tup(tuple(map(Known, row))) for row in rows))


@intrinsic(np.ndenumerate)
def _ndenumerate(low: Any, args: Args, kwargs: Kwargs) -> Any:
    shape = low.shape_of(low.operand(args[0]))
    places = _ndindex(low, [shape], {}).items
    return Iterable(
        items=tuple(Tup((place, low.array_item(args[0], place))) for place in places)
    )


# Numbers


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
        return _accumulate(low, walked, start, lambda a, b: low.operate("add", a, b))
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
        return _accumulate(low, walked, start, lambda a, b: low.operate("mul", a, b))
    total = start
    for one in walked.items:
        total = low.operate("mul", total, one)
    return total


@intrinsic(math.dist)
def _dist(low: Any, args: Args, kwargs: Kwargs) -> Any:
    pairs = low.known_items(_zip(low, args, {}))
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
for _scalar in (np.float64, np.float32, np.int64, np.int32, np.bool_):

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


@intrinsic(operator.itemgetter, operator.attrgetter)
def _getter(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse("`itemgetter` and `attrgetter` are not supported", "use a lambda.")


# Kinds and objects


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


@intrinsic(collections.defaultdict, collections.OrderedDict, collections.Counter)
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


@intrinsic(copy.copy, copy.deepcopy)
def _copy(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0]
    if isinstance(item, ListRef):
        return low.copy_list(item)
    if isinstance(item, DictRef):
        return low.new_dict(dict(low.content(item.cell)))
    if isinstance(item, Array | View):
        return low.wrap(low.emit("np.copy", low.operand(item)))
    return item


@intrinsic(eval, exec, open, compile, input, __import__, globals, locals, vars)
def _forbidden(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse(
        "this reaches outside the function: files, input and evaluated text cannot be "
        "differentiated",
        "do it outside and pass the result as an argument.",
    )


@intrinsic(iter)
def _iter(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.iterate(args[0])


@intrinsic(next)
def _next(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse("`next` is not supported", "use a `for` loop or an index.")


# NumPy where a plain node would not do


@operation("np.array", "np.asarray", "np.stack", "np.vstack", "np.concatenate")
def _array(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0] if args else None
    if isinstance(item, Iterable):
        item = low.listed(item)
        return low.call_op(_op_of(low, args), [item, *args[1:]], kwargs)
    if isinstance(item, ListRef):
        held = low.content(item.cell)
        if isinstance(held, RunList) and held.shape is not None:
            columns = [low.emit("np.array", leaf) for leaf in held.leaves]
            return low.wrap(low.emit("np.stack", columns, axis=1))
    return NotImplemented


def _op_of(low: Any, args: Args) -> str:
    return "np.array"


@operation("np.copy")
def _np_copy(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.wrap(low.emit("np.copy", low.operand(args[0])))


@operation("np.shape")
def _shape(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.shape_of(low.operand(args[0]))


@operation("np.ndim")
def _ndim(low: Any, args: Args, kwargs: Kwargs) -> Any:
    value = low.operand(args[0])
    known = low.type_of(value)
    return Known(known.rank) if known is not None else low.emit("np.ndim", value)


@operation("np.size")
def _size(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if len(args) > 1 and isinstance(args[1], Known):
        return low.emit("dim", low.operand(args[0]), args[1].value)
    return low.emit("np.size", low.operand(args[0]))


@operation("np.iscomplexobj", "np.isrealobj")
def _kind_test(low: Any, args: Args, kwargs: Kwargs) -> Any:
    known = low.type_of(low.operand(args[0]))
    if known is None:
        return NotImplemented
    test = np.iscomplexobj if low.last_function is np.iscomplexobj else np.isrealobj
    return Known(bool(test(known.samples[0])))


@operation("np.copyto")
def _copyto(low: Any, args: Args, kwargs: Kwargs) -> Any:
    where = kwargs.get("where")
    item = args[1]
    if where is not None:
        base = low.operand(args[0])
        item = low.emit("np.where", low.operand(where), low.operand(item), base)
    low.store(args[0], Known(Ellipsis), item)
    return Known(None)


@operation("np.put")
def _put(low: Any, args: Args, kwargs: Kwargs) -> Any:
    low.mutating_method(args[0], "put", args[1:], kwargs)
    return Known(None)


@operation("np.place", "np.putmask")
def _putmask(low: Any, args: Args, kwargs: Kwargs) -> Any:
    mask, value = low.operand(args[1]), low.operand(args[2])
    item, known = args[2], low.type_of(value)
    if known is None or known.is_array:
        if low.last_function is np.place:
            # It takes the first values, as many as there are places.
            count = low.emit("np.count_nonzero", mask)
            flat = low.emit("np.ravel", value)
            item = low.wrap(low.emit("getitem", flat, slice(None, count)))
        else:
            shape = low.emit("shape", low.operand(args[0]))
            wide = low.emit("np.broadcast_to", value, shape)
            item = low.wrap(low.emit("getitem", wide, mask))
    low.store(args[0], args[1], item)
    return Known(None)


@operation("np.fill_diagonal")
def _fill_diagonal(low: Any, args: Args, kwargs: Kwargs) -> Any:
    base = low.operand(args[0])
    rows = low.emit(
        "np.arange",
        low.emit("builtins.min", low.emit("dim", base, 0), low.emit("dim", base, 1)),
    )
    low.store(args[0], Tup((rows, rows)), args[1])
    return Known(None)


@operation("np.put_along_axis")
def _put_along_axis(low: Any, args: Args, kwargs: Kwargs) -> Any:
    ref, index, item = args[:3]
    axis = args[3] if len(args) > 3 else kwargs["axis"]
    base = low.operand(ref)
    known = low.type_of(base)
    if known is None or not isinstance(axis, Known):
        raise low.refuse("`np.put_along_axis` needs an array of known rank")
    places = []
    for k in range(known.rank):
        if k == axis.value % known.rank:
            places.append(low.operand(index))
            continue
        steps = low.emit("np.arange", low.emit("dim", base, k))
        shape = tuple(-1 if j == k else 1 for j in range(known.rank))
        places.append(low.emit("np.reshape", steps, shape))
    low.store(ref, Tup(tuple(low.wrap(p) for p in places)), item)
    return Known(None)


@operation("np.subtract.at")
def _subtract_at(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return _add_at(low, [args[0], args[1], low.operate("neg", args[2])], kwargs)


@operation(
    "np.multiply.at",
    "np.divide.at",
    "np.maximum.at",
    "np.minimum.at",
    "np.power.at",
    "np.random.shuffle",
    "np.resize",
    "np.save",
    "np.load",
    "np.savetxt",
    "np.loadtxt",
    "np.genfromtxt",
    "np.memmap",
    "np.fromfile",
)
def _mutating(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse("this function changes its argument or the world: not supported")


@operation(
    "np.add.reduce",
    "np.multiply.reduce",
    "np.maximum.reduce",
    "np.minimum.reduce",
    "np.logical_and.reduce",
    "np.logical_or.reduce",
)
def _reduction(low: Any, args: Args, kwargs: Kwargs) -> Any:
    names = {
        "add": "sum",
        "multiply": "prod",
        "maximum": "max",
        "minimum": "min",
        "logical_and": "all",
        "logical_or": "any",
    }
    owner = low.last_function.__self__.__name__
    if len(args) < 2 and "axis" not in kwargs:
        kwargs = {**kwargs, "axis": Known(0)}
    return low.call_op(f"np.{names[owner]}", args, kwargs)


@operation("np.add.accumulate", "np.multiply.accumulate")
def _accumulation(low: Any, args: Args, kwargs: Kwargs) -> Any:
    name = "cumsum" if low.last_function.__self__ is np.add else "cumprod"
    if len(args) < 2 and "axis" not in kwargs:
        kwargs = {**kwargs, "axis": Known(0)}
    return low.call_op(f"np.{name}", args, kwargs)


@operation("np.multiply.outer", "np.subtract.outer", "np.add.outer", "np.divide.outer")
def _outer(low: Any, args: Args, kwargs: Kwargs) -> Any:
    known = low.type_of(low.operand(args[1]))
    if known is None:
        raise low.refuse("`outer` needs arrays of known rank")
    places = Tup((Known(Ellipsis), *(Known(None) for _ in range(known.rank))))
    first = low.array_item(args[0], places) if known.rank else args[0]
    op = {"multiply": "mul", "subtract": "sub", "add": "add", "divide": "truediv"}
    return low.operate(op[low.last_function.__self__.__name__], first, args[1])


@operation("np.add.at")
def _add_at(low: Any, args: Args, kwargs: Kwargs) -> Any:
    ref, index, item = args
    value = low.read(ref)
    new = low.emit(
        "index_add", value, low.operand(index), low.operand(item), name=value.name
    )
    low.write(ref, new)
    return Known(None)


@operation(
    "np.apply_along_axis", "np.vectorize", "np.fromfunction", "np.apply_over_axes"
)
def _callback(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse("NumPy functions that call back are not supported", "use a loop.")


@operation("np.piecewise")
def _piecewise(low: Any, args: Args, kwargs: Kwargs) -> Any:
    x = args[0]
    tests = low.known_items(args[1])
    choices = low.known_items(args[2])
    masks = [low.operand(t) for t in tests]
    result: Any
    if len(choices) == len(masks) + 1:
        default = choices.pop()
        result = low.call_value(default, [x], {}) if _is_function(default) else default
    else:
        result = Known(0.0)
    for mask, choice in zip(masks, choices, strict=True):
        side = low.call_value(choice, [x], {}) if _is_function(choice) else choice
        result = low.wrap(
            low.emit("np.where", mask, low.operand(side), low.operand(result))
        )
    return result


def _is_function(item: Any) -> bool:
    return isinstance(item, Function | Partial) or (
        isinstance(item, Known) and callable(item.value)
    )


@operation("np.linalg.svd")
def _svd(low: Any, args: Args, kwargs: Kwargs) -> Any:
    flag = kwargs.get("compute_uv", args[2] if len(args) > 2 else Known(True))
    if isinstance(flag, Known) and not flag.value:
        return low.call_op("np.linalg.svdvals", args[:1], {})
    return NotImplemented


def _as_operator(op: str, sign: str) -> Handler:
    def handler(low: Any, args: Args, kwargs: Kwargs) -> Any:
        if kwargs or op in REGISTRY:
            return NotImplemented
        if not any(isinstance(a, Array | View | Value) for a in args):
            return NotImplemented
        values = [low.operand(a) for a in args]
        kinds = [low.type_of(v) for v in values]
        if low.mode == "generic" or any(
            k is not None and k.kind in ("array", "numpy") for k in kinds
        ):
            return low.wrap(low.emit(sign, *values))
        return NotImplemented

    return handler


for _op, _sign in AS_OPERATORS.items():
    OPERATIONS[_op] = _as_operator(_op, _sign)


# What rules ask


@operation("runtime.unbroadcast")
def _unbroadcast(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.wrap_arg(unbroadcast(low, low.operand(args[0]), low.operand(args[1])))


@intrinsic(helpers.known_rank)
def _known_rank(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Known(all(low.type_of(low.operand(a)) is not None for a in args))


@intrinsic(helpers.is_constant)
def _is_constant(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Known(all(isinstance(a, Known) for a in args))


@intrinsic(helpers.is_complex)
def _is_complex(low: Any, args: Args, kwargs: Kwargs) -> Any:
    value = low.operand(args[0])
    known = low.type_of(value)
    if known is None and low.complex_seen and isinstance(value, Value):
        return low.emit("np.iscomplexobj", value)
    return Known(known is not None and known.dtype.startswith("complex"))


@operation("np.issubdtype", "np.finfo", "np.iinfo", "np.result_type", "np.isscalar")
def _metadata(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not all(isinstance(a, Known) for a in args):
        return NotImplemented
    name = low.last_function
    return Known(name(*(a.value for a in args)))
