"""Python's functions of iterables: ``zip``, ``map``, ``reduce``, those of itertools."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from ..abstract import Iterable, Known, Obj, Partial, Tup, Walker
from ..core import Raises
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


@intrinsic(iter)
def _iter(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if len(args) > 1:
        raise low.refuse("`iter` of a function is not supported", "use a loop.")
    return low.begin(args[0])


@intrinsic(next)
def _next(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not isinstance(args[0], Walker):
        method = low.attribute(args[0], "__next__")
        return low.call_value(method, [], {})
    return low.first(args[0], args[1] if len(args) > 1 else None)


@intrinsic(enumerate)
def _enumerate(low: Any, args: Args, kwargs: Kwargs) -> Any:
    start = args[1] if len(args) > 1 else kwargs.get("start", Known(0))
    return low.stream("enumerate", low.begin(args[0]), position=start)


@intrinsic(zip)
def walk_together(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not args:
        return low.begin(Tup(()))
    return low.stream("zip", *map(low.begin, args))


@intrinsic(reversed)
def _reversed(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0]
    if isinstance(item, Obj):
        return low.begin(low.call_value(low.attribute(item, "__reversed__"), [], {}))
    if isinstance(item, Walker):
        raise Raises(TypeError, low.refuse("an iterator cannot be reversed"))
    held = low.sequence(item)
    if held is not None:
        return low.stream("reversed", item, position=Known(len(held) - 1))
    return low.stream("reversed", _backwards(low, low.iterate(item)))


def _backwards(low: Any, walked: Iterable) -> Iterable:
    """Return the items of a run-time iterable from the last to the first."""
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
    length, pick = low.length_of(walked), low.picker(walked)
    last = low.operate("sub", low.wrap_arg(length), Known(1))
    return Iterable(length=length, item=lambda i: pick(low.operate("sub", last, i)))


@intrinsic(map)
def _map(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("map", args[0], *map(low.begin, args[1:]))


@intrinsic(filter)
def _filter(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("filter", args[0], low.begin(args[1]))


@intrinsic(itertools.takewhile)
def _takewhile(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("takewhile", args[0], low.begin(args[1]))


@intrinsic(itertools.dropwhile)
def _dropwhile(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("dropwhile", args[0], low.begin(args[1]))


@intrinsic(itertools.zip_longest)
def _zip_longest(low: Any, args: Args, kwargs: Kwargs) -> Any:
    fill = kwargs.get("fillvalue", Known(None))
    columns = [low.known_items(a) for a in args]
    rows = itertools.zip_longest(*columns, fillvalue=fill)
    return low.begin(Tup(tuple(map(Tup, rows))))


@intrinsic(itertools.groupby)
def _groupby(low: Any, args: Args, kwargs: Kwargs) -> Any:
    function = args[1] if len(args) > 1 else kwargs.get("key", Known(None))
    plain = isinstance(function, Known) and function.value is None
    groups: list[tuple[Any, list[Any]]] = []
    for item in low.known_items(args[0]):
        key = item if plain else low.call_value(function, [item], {})
        if not groups or low.key(key) != low.key(groups[-1][0]):
            groups.append((key, []))
        groups[-1][1].append(item)
    rows = [Tup((key, low.begin(Tup(tuple(items))))) for key, items in groups]
    return low.begin(Tup(tuple(rows)))


@intrinsic(itertools.starmap)
def _starmap(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("starmap", args[0], low.begin(args[1]))


@intrinsic(itertools.chain)
def _chain(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("chain", *map(low.begin, args))


@intrinsic(itertools.chain.from_iterable)
def _flat(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("chain", *map(low.begin, low.known_items(args[0])))


@intrinsic(itertools.islice)
def _islice(low: Any, args: Args, kwargs: Kwargs) -> Any:
    bounds = low.known_slice(_slice_of(args[1:]))
    inner = low.begin(args[0])
    return low.stream("slice", inner, bounds.start or 0, bounds.stop, bounds.step or 1)


def _slice_of(bounds: Args) -> slice:
    parts = [None, bounds[0], None] if len(bounds) == 1 else [*bounds, None][:3]
    none = [
        None if p is None or (isinstance(p, Known) and p.value is None) else p
        for p in parts
    ]
    return slice(*none)


@intrinsic(itertools.count)
def _counting(low: Any, args: Args, kwargs: Kwargs) -> Any:
    start = args[0] if args else kwargs.get("start", Known(0))
    step = args[1] if len(args) > 1 else kwargs.get("step", Known(1))
    return low.stream("count", step, position=start)


@intrinsic(itertools.repeat)
def _repeat(low: Any, args: Args, kwargs: Kwargs) -> Any:
    times = args[1] if len(args) > 1 else kwargs.get("times")
    if times is not None and not isinstance(times, Known):
        raise low.need_static(low.operand(times), "how often this repeats")
    return low.stream("repeat", args[0], None if times is None else times.value)


@intrinsic(itertools.cycle)
def _cycle(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.stream("cycle", Tup(tuple(low.known_items(args[0]))))


@intrinsic(functools.reduce)
def _reduce(low: Any, args: Args, kwargs: Kwargs) -> Any:
    def step(a: Any, b: Any) -> Any:
        return low.call_value(args[0], [a, b], {})

    walked = low.iterate(args[1])
    if walked.items is not None:
        items = list(walked.items)
        total = args[2] if len(args) > 2 else items.pop(0)
        for item in items:
            total = step(total, item)
        return total
    if len(args) > 2:
        return accumulate(low, walked, args[2], step)
    length, pick = low.length_of(walked), low.picker(walked)
    start = pick(Known(0))
    rest = low.operate("sub", low.wrap_arg(length), Known(1))
    following = Iterable(
        length=low.operand(rest), item=lambda i: pick(low.operate("add", i, Known(1)))
    )
    return accumulate(low, following, start, step)


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
        return low.begin(Tup(tuple(Tup(tuple(row)) for row in found)))

    return handler


for _combine in (
    itertools.product,
    itertools.combinations,
    itertools.permutations,
    itertools.combinations_with_replacement,
    itertools.pairwise,
):
    INTRINSICS[_combine] = _combined(_combine)


@intrinsic(itertools.accumulate)
def _running(low: Any, args: Args, kwargs: Kwargs) -> Any:
    function = args[1] if len(args) > 1 else kwargs.get("func", Known(operator.add))
    items = low.known_items(args[0])
    if kwargs.get("initial") is not None:
        items.insert(0, kwargs["initial"])
    found = items[:1]
    for item in items[1:]:
        found.append(low.call_value(function, [found[-1], item], {}))
    return low.begin(Tup(tuple(found)))


@intrinsic(np.ndindex)
def _ndindex(low: Any, args: Args, kwargs: Kwargs) -> Any:
    sizes = low.known_items(args[0]) if isinstance(args[0], Tup) else list(args)
    ranges = []
    for size in sizes:
        if not isinstance(size, Known):
            raise low.need_static(low.operand(size), "the shape to walk must be known")
        ranges.append(range(size.value))
    rows = itertools.product(*ranges)
    return low.begin(Tup(tuple(Tup(tuple(map(Known, row))) for row in rows)))


@intrinsic(np.ndenumerate)
def _ndenumerate(low: Any, args: Args, kwargs: Kwargs) -> Any:
    shape = low.shape_of(low.operand(args[0]))
    places = low.known_items(_ndindex(low, [shape], {}))
    pairs = [Tup((place, low.array_item(args[0], place))) for place in places]
    return low.begin(Tup(tuple(pairs)))
