"""Iterators as Python has them: lazy, walked by whoever asks, and ended once.

What an iterator still gives is in its cell, a `Stream`, so that paths and loops join it
as they join all that can change.  There are three ways to take its items:

- `pull`, one at a time, where what it walks is known while lowering;
- `positional`, as items by their number, for one loop at run time;
- `walk`, which hands each item to a body: always possible.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .abstract import (
    DictRef,
    DictView,
    Iterable,
    Known,
    ListRef,
    Obj,
    Stream,
    Tup,
    Walker,
    is_number,
)
from .core import Frame
from .iteration import Iteration

__all__ = ["ENDED", "Body", "Ended", "Iterators"]

ENDED = Known(-1)
"""The position of an iterator that has ended: it stays so, whatever its list does."""

PUSHED = ("filter", "function", "takewhile", "dropwhile")
"""Iterators that give their items in loops of their own."""

ENDLESS = frozenset({"count", "cycle", "repeat"})
"""Iterators that may give items for ever."""

Body = Callable[[Any], None]


class Ended(Exception):
    """An iterator has no more items."""


class Iterators(Iteration):
    """Make iterators and take their items."""

    def begin(self, item: Any) -> Walker:
        """Return ``iter(item)``."""
        if isinstance(item, Walker):
            return item
        if isinstance(item, Obj):
            method = self.attribute(item, "__iter__")
            return self.begin(self.call_value(method, [], {}))
        return self.stream("over", item)

    def stream(self, kind: str, *parts: Any, position: Any = None) -> Walker:
        """Return a new iterator."""
        cell = self.fresh()
        position = Known(0) if position is None else position
        self.state["h", cell] = Stream(kind, parts, position)
        return Walker(cell)

    def move(self, walker: Walker, position: Any) -> None:
        stream = self.content(walker.cell)
        self.state["h", walker.cell] = replace(stream, position=position)

    def end(self, walker: Walker) -> None:
        """Note that an iterator was walked to its end."""
        for leaf in self.sources(walker):
            self.move(leaf, ENDED)

    def sources(self, walker: Walker) -> list[Walker]:
        """Return the iterators from which one takes all it gives, perhaps itself."""
        stream = self.content(walker.cell)
        inner = [p for p in stream.parts if isinstance(p, Walker)]
        if not inner:
            return [walker]
        return [leaf for part in inner for leaf in self.sources(part)]

    # One item at a time

    def sequence(self, source: Any) -> Sequence[Any] | None:
        """Return the items that something known has now; None where the run decides."""
        if isinstance(source, Tup):
            return source.items
        if isinstance(source, ListRef):
            held = self.content(source.cell)
            return held if isinstance(held, tuple) else None
        if isinstance(source, DictRef | DictView):
            return self.iterate(source).items
        if isinstance(source, Known | Iterable):
            return self.iterate(source).items
        return None

    def pull(self, walker: Walker) -> Any:
        """Return the next item.

        Raises:
            Ended: there is none.
        """
        stream = self.content(walker.cell)
        if stream.kind in ("generated", *PUSHED[1:]) and not self.pulls(stream):
            self.keep(walker)
            stream = self.content(walker.cell)
        found = getattr(self, f"pull_{stream.kind}")(walker, stream)
        return found

    def pulls(self, stream: Stream) -> bool:
        return stream.kind == "generated" and len(stream.parts[1].generators) == 1

    def keep(self, walker: Walker) -> None:
        """Replace what an iterator walks by a list of all that it gives."""
        items = self.new_list([])
        self.walk(walker, lambda item: self.list_append(items, item))
        self.state["h", walker.cell] = Stream("over", (items,), Known(0))

    def place(self, stream: Stream) -> int:
        """Return the known position of an iterator."""
        if not isinstance(stream.position, Known):
            raise self.refuse(
                "how far this iterator has been walked is known only at run time",
                "walk it to its end, or use an index.",
            )
        place: int = stream.position.value
        if place < 0:
            raise Ended
        return place

    def pull_over(self, walker: Walker, stream: Stream) -> Any:
        place = self.place(stream)
        try:
            item = self.item_at(stream.parts[0], place)
        except Ended:
            self.move(walker, ENDED)
            raise
        self.move(walker, Known(place + 1))
        return item

    def item_at(self, source: Any, place: int) -> Any:
        items = self.sequence(source)
        if items is not None:
            if place >= len(items):
                raise Ended
            return items[place]
        walked = self.iterate(source)
        if isinstance(walked.length, int) and place >= walked.length:
            raise Ended
        return self.picker(walked)(Known(place))

    def pull_reversed(self, walker: Walker, stream: Stream) -> Any:
        place = self.place(stream)
        item = self.item_at(stream.parts[0], place)
        self.move(walker, Known(place - 1))
        return item

    def pull_map(self, walker: Walker, stream: Stream) -> Any:
        function, *inner = stream.parts
        return self.call_value(function, [self.pull(i) for i in inner], {})

    def pull_starmap(self, walker: Walker, stream: Stream) -> Any:
        function, inner = stream.parts
        return self.call_value(function, self.known_items(self.pull(inner)), {})

    def pull_filter(self, walker: Walker, stream: Stream) -> Any:
        function, inner = stream.parts
        while True:
            item = self.pull(inner)
            if self.decided(self.passes(function, item)):
                return item

    def passes(self, function: Any, item: Any) -> Any:
        """Return whether a filter lets an item pass."""
        none = isinstance(function, Known) and function.value is None
        return self.truth(item if none else self.call_value(function, [item], {}))

    def decided(self, test: Any) -> bool:
        if not isinstance(test, Known):
            raise self.refuse("which item comes next is known only at run time")
        return bool(test.value)

    def pull_zip(self, walker: Walker, stream: Stream) -> Any:
        return Tup(tuple(self.pull(part) for part in stream.parts))

    def pull_enumerate(self, walker: Walker, stream: Stream) -> Any:
        item = self.pull(stream.parts[0])
        self.move(walker, self.operate("add", stream.position, Known(1)))
        return Tup((stream.position, item))

    def pull_chain(self, walker: Walker, stream: Stream) -> Any:
        for part in stream.parts:
            try:
                return self.pull(part)
            except Ended:
                continue
        raise Ended

    def pull_slice(self, walker: Walker, stream: Stream) -> Any:
        inner, start, stop, step = stream.parts
        place = self.place(stream)
        wanted = start + step * -(-max(place - start, 0) // step)
        if stop is not None and wanted >= stop:
            raise Ended
        while place <= wanted:
            item = self.pull(inner)
            place += 1
        self.move(walker, Known(place))
        return item

    def pull_count(self, walker: Walker, stream: Stream) -> Any:
        self.move(walker, self.operate("add", stream.position, stream.parts[0]))
        return stream.position

    def pull_repeat(self, walker: Walker, stream: Stream) -> Any:
        item, times = stream.parts
        place = self.place(stream)
        if times is not None and place >= times:
            raise Ended
        self.move(walker, Known(place + 1))
        return item

    def pull_cycle(self, walker: Walker, stream: Stream) -> Any:
        place = self.place(stream)
        items = stream.parts[0].items
        if not items:
            raise Ended
        self.move(walker, Known(place + 1))
        return items[place % len(items)]

    def pull_generated(self, walker: Walker, stream: Stream) -> Any:
        frame, node, first = stream.parts
        one = node.generators[0]
        while True:
            item = self.pull(first)
            with self.inside(frame, one.target):
                self.assign_item(one.target, item)
                if all(self.decided(self.test(test)) for test in one.ifs):
                    return self.value(node.elt)

    @contextmanager
    def inside(self, frame: Frame, node: ast.AST) -> Any:
        """Lower in a comprehension's frame, whose names nobody else sees."""
        self.stack.append(frame)
        try:
            with self.at(node):
                yield
        finally:
            self.stack.pop()
            for name in frame.locals:
                self.state.pop(("n", frame.number, name), None)

    # All items, by their number

    def positional(self, walker: Walker) -> Iterable | None:
        """Return what an iterator still gives as items by number, if that can be."""
        stream = self.content(walker.cell)
        make = getattr(self, f"positional_{stream.kind}", None)
        found: Iterable | None = None if make is None else make(stream)
        return found

    def positional_over(self, stream: Stream) -> Iterable | None:
        base = self.iterate(stream.parts[0])
        position = stream.position
        if isinstance(position, Known):
            if position.value == 0:
                return base
            if position.value < 0:
                return Iterable(items=())
            if base.items is not None:
                return Iterable(items=base.items[position.value :])
        elif base.items is not None:
            return None
        pick = self.picker(base)
        place = self.operand(position)
        length = self.length_of(base)
        if isinstance(length, int) and isinstance(place, int):
            rest: Any = max(length - place, 0)
        else:
            rest = self.emit("builtins.max", self.emit("sub", length, place), 0)
        return Iterable(
            length=rest, item=lambda i: pick(self.operate("add", i, position))
        )

    def positional_reversed(self, stream: Stream) -> Iterable | None:
        if isinstance(stream.parts[0], Iterable) and stream.position == Known(0):
            return stream.parts[0]
        return None

    def positional_map(self, stream: Stream) -> Iterable | None:
        function, *inner = stream.parts
        if len(inner) > 1:
            both = self.together(inner)
            if both is None or both.items is not None:
                return None
            pick = self.picker(both)
            return replace(
                both,
                item=lambda i: self.call_value(function, list(pick(i).items), {}),
            )
        walked = self.positional(inner[0])
        if walked is None or walked.items is not None:
            return None
        make = walked.item or (lambda i: i)
        return replace(walked, item=lambda i: self.call_value(function, [make(i)], {}))

    def positional_zip(self, stream: Stream) -> Iterable | None:
        return self.together(stream.parts)

    def together(self, parts: Sequence[Walker]) -> Iterable | None:
        found = [
            None if self.content(p.cell).kind in ENDLESS else self.positional(p)
            for p in parts
        ]
        endless = [self.content(p.cell) for p in parts]
        if any(
            f is None and s.kind != "count" for f, s in zip(found, endless, strict=True)
        ):
            return None
        if not any(f is not None for f in found):
            return None
        walked = self.walk_together([f for f in found if f is not None])
        if walked is None or None not in found:
            return walked
        pick = self.picker(walked)

        def item(i: Any) -> Any:
            row = iter(pick(i).items)
            return Tup(
                tuple(
                    next(row)
                    if f is not None
                    else self.operate(
                        "add", s.position, self.operate("mul", i, s.parts[0])
                    )
                    for f, s in zip(found, endless, strict=True)
                )
            )

        if walked.items is not None:
            return None
        return Iterable(length=walked.length, item=item)

    def walk_together(self, parts: Sequence[Iterable]) -> Iterable | None:
        """Return the rows of several iterables; None to take them one by one."""
        if all(p.items is not None for p in parts):
            rows = zip(*(p.items or () for p in parts), strict=False)
            return Iterable(items=tuple(map(Tup, rows)))
        picks = [self.picker(p) for p in parts]
        lengths = [self.length_of(p) for p in parts]
        known = [n for n in lengths if isinstance(n, int)]
        if known:
            # A sequence of known length decides; a shorter array fails when it is read.
            if not all(p.items is None or all(map(is_number, p.items)) for p in parts):
                return None
            others = list(
                {id(n): n for n in lengths if not isinstance(n, int)}.values()
            )
            length: Any = min(known)
            if others:
                length = self.emit("builtins.min", length, *others)
        else:
            distinct = list({self.dim_key(n): n for n in lengths}.values())
            length = (
                distinct[0]
                if len(distinct) == 1
                else self.emit("builtins.min", *distinct)
            )
        return Iterable(length=length, item=lambda i: Tup(tuple(p(i) for p in picks)))

    def dim_key(self, length: Any) -> Any:
        """Return a key that equal dimensions share."""
        kind = length.type
        node = self.defs.get(length)
        if node is not None and node.op == "dim" and kind is not None and kind.samples:
            return ("dim", kind.samples)
        return length

    def positional_enumerate(self, stream: Stream) -> Iterable | None:
        walked = self.positional(stream.parts[0])
        if walked is None or walked.items is not None:
            return None
        pick = self.picker(walked)
        start = stream.position

        def item(i: Any) -> Any:
            zero = isinstance(start, Known) and start.value == 0
            number = i if zero else self.operate("add", i, start)
            return Tup((number, pick(i)))

        return Iterable(length=self.length_of(walked), item=item)

    def positional_generated(self, stream: Stream) -> Iterable | None:
        frame, node, first = stream.parts
        one = node.generators[0]
        if len(node.generators) > 1 or one.ifs:
            return None
        walked = self.positional(first)
        if walked is None or walked.items is not None:
            return None
        make = walked.item or (lambda i: i)

        def item(index: Any) -> Any:
            with self.inside(frame, one.target):
                self.assign_item(one.target, make(index))
                return self.value(node.elt)

        return Iterable(length=walked.length, item=item, range=walked.range)

    # What is known of an iterator

    def pullable(self, walker: Walker) -> bool:
        """Say whether what an iterator walks is known, item by item."""
        stream = self.content(walker.cell)
        inner = [p for p in stream.parts if isinstance(p, Walker)]
        if stream.kind in PUSHED:
            return False
        if stream.kind == "generated" and (
            len(stream.parts[1].generators) > 1 or stream.parts[1].generators[0].ifs
        ):
            return False
        if stream.kind in ENDLESS:
            return stream.kind == "repeat" and stream.parts[1] is not None
        if stream.kind == "zip" or (stream.kind == "map" and len(inner) > 1):
            some = any(map(self.pullable, inner))
            return some and not any(map(self.pushed, inner))
        if stream.kind == "slice" and stream.parts[2] is not None:
            return not self.pushed(inner[0])
        if inner:
            return all(map(self.pullable, inner))
        if not isinstance(stream.position, Known):
            return False
        if stream.position == ENDED:
            return True
        return self.sequence(stream.parts[0]) is not None

    def pushed(self, walker: Walker) -> bool:
        """Say whether an iterator gives its items in loops of its own."""
        stream = self.content(walker.cell)
        if stream.kind in PUSHED:
            return True
        if stream.kind == "generated" and (
            len(stream.parts[1].generators) > 1 or stream.parts[1].generators[0].ifs
        ):
            return True
        return any(self.pushed(p) for p in stream.parts if isinstance(p, Walker))

    def spent(self, walker: Walker) -> bool:
        """Say whether it is sure that an iterator has no more items."""
        stream = self.content(walker.cell)
        inner = [p for p in stream.parts if isinstance(p, Walker)]
        if stream.kind in ("chain", "slice"):
            return bool(inner) and all(map(self.spent, inner))
        if inner:
            return any(map(self.spent, inner))
        if stream.kind == "over" and isinstance(stream.position, Known):
            items = self.sequence(stream.parts[0])
            place = stream.position.value
            return bool(place < 0 or (items is not None and place >= len(items)))
        return bool(stream.position == ENDED)

    # What the parts have in common

    def picker(self, walked: Iterable) -> Callable[[Any], Any]:
        """Return what gives the item of a number, counted from 0."""
        if walked.items is not None:
            items = walked.items

            def pick(i: Any) -> Any:
                if isinstance(i, Known):
                    return items[i.value]
                return self.sequence_item(self.new_list(list(items)), i)

            return pick
        make = walked.item or (lambda i: i)
        if walked.range is None:
            return make
        start, _, step = walked.range

        def index(i: Any) -> Any:
            place = i if step == 1 else self.operate("mul", self.wrap_arg(step), i)
            if start == 0:
                return make(place)
            return make(self.operate("add", self.wrap_arg(start), place))

        return index

    def length_of(self, walked: Iterable) -> Any:
        """Return the number of items as a node's argument."""
        if walked.items is not None:
            return len(walked.items)
        if walked.length is None and walked.range is not None:
            return self.emit("builtins.len", self.emit("builtins.range", *walked.range))
        return walked.length
