"""Python's functions of iterables: ``zip``, ``map``, ``reduce``, those of itertools."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph import Value
from ..abstract import Iterable, Known, Partial, Tup, is_number
from ..operations import INTRINSICS
from .table import Args, Handler, Kwargs, intrinsic

__all__ = ["accumulate", "walk_together"]


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
def walk_together(low: Any, args: Args, kwargs: Kwargs) -> Any:
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
    walked = (
        low.iterate(args[1]) if len(args) == 2 else walk_together(low, args[1:], {})
    )

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
        return accumulate(
            low, following, start, lambda a, b: low.call_value(args[0], [a, b], {})
        )
    return accumulate(
        low, walked, args[2], lambda a, b: low.call_value(args[0], [a, b], {})
    )


def accumulate(low: Any, walked: Iterable, start: Any, step: Any) -> Any:
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
