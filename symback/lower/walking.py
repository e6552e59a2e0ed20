"""Walking: each item is handed to a body, which may stop and change what is walked."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .abstract import (
    DictRef,
    DictView,
    Iterable,
    Known,
    ListRef,
    Obj,
    RunList,
    Stream,
    Tup,
    Walker,
    always,
)
from .core import Frame, Raises
from .iterators import ENDED, Body, Ended, Iterators

__all__ = ["Walking"]

MAX_PULLED = 2000
"""Items of one iterator that may be written out one after the other."""


class Walking(Iterators):
    """Run bodies for the items of lists, dicts and iterators."""

    @abstractmethod
    def flagged(self, flags: Sequence[Any]) -> Any:
        """Return whether one of some flags is set."""

    @abstractmethod
    def while_loop(
        self,
        test: Callable[[], Any],
        body: Callable[[], None],
        flags: Sequence[Any],
    ) -> None:
        """Run a body as long as a test holds."""

    def walk(self, item: Any, body: Body, flags: Sequence[Any] = ()) -> None:
        """Run a body for each item of what is walked, as long as no flag is set."""
        if isinstance(item, Obj):
            item = self.begin(item)
        if isinstance(item, ListRef):
            self.walk_list(item, body, flags)
        elif isinstance(item, DictRef | DictView):
            self.walk_dict(item, body, flags)
        elif isinstance(item, Walker):
            self.walk_stream(item, body, flags)
        else:
            self.loop(self.iterate(item), body, flags)

    def walk_list(self, ref: ListRef, body: Body, flags: Sequence[Any]) -> None:
        """Walk a list that the body may change."""
        if not isinstance(self.content(ref.cell), RunList):

            def take(number: int) -> Any:
                return self.item_at(ref, number)

            def more(number: int) -> bool:
                held = self.content(ref.cell)
                return not isinstance(held, tuple) or number < len(held)

            self.unroll_each(take, more, body, flags)
            return
        before, count = dict(self.state), len(self.nodes)
        grown = []

        def watched(item: Any) -> None:
            held = self.content(ref.cell)
            body(item)
            grown.append(self.content(ref.cell) is not held)

        self.loop(self.iterate(ref), watched, flags)
        if not any(grown):
            return
        del self.nodes[count:]
        self.state = before
        index = ("n", self.frame.number, f"index{self.fresh()}")
        self.state[index] = Known(0)

        def test() -> Any:
            length = self.emit("builtins.len", self.content(ref.cell).leaves[0])
            return self.emit("lt", self.operand(self.state[index]), length)

        def step() -> None:
            item = self.run_item(self.content(ref.cell), self.state[index])
            self.state[index] = self.operate("add", self.state[index], Known(1))
            body(item)

        self.while_loop(test, step, flags)
        self.state.pop(index, None)

    def walk_dict(self, item: Any, body: Body, flags: Sequence[Any]) -> None:
        """Walk a dict, which must keep its size meanwhile."""
        size = len(self.content(item.cell))

        def take(number: int) -> Any:
            items = self.sequence(item)
            assert items is not None
            if len(items) != size:
                problem = self.refuse("a dict changes its size while it is walked")
                raise Raises(RuntimeError, problem)
            if number >= size:
                raise Ended
            return items[number]

        def more(number: int) -> bool:
            return number < size or len(self.content(item.cell)) != size

        self.unroll_each(take, more, body, flags)

    def unroll_each(
        self,
        take: Callable[[int], Any],
        more: Callable[[int], bool],
        body: Body,
        flags: Sequence[Any],
    ) -> None:
        """Run a body for each known item, as long as no flag is set.

        take : gives the item of a number, or raises `Ended`.
        more : says whether there may be one.
        """

        def step(number: int) -> None:
            while True:
                try:
                    item = take(number)
                except Ended:
                    return
                if number >= MAX_PULLED:
                    raise self.refuse(
                        f"a loop of more than {MAX_PULLED} items would be written out"
                    )
                body(item)
                number += 1
                done = self.flagged(flags)
                if not isinstance(done, Known):
                    break
                if done.value:
                    return
            if more(number):
                self.choose(self.negate(done), partial(go_on, number), always(None))

        def go_on(number: int) -> None:
            self.state.update({k: Known(False) for k in flags if k in self.state})
            step(number)

        step(0)

    def walk_stream(self, walker: Walker, body: Body, flags: Sequence[Any]) -> None:
        walked = None if self.pushed(walker) else self.positional(walker)
        if walked is not None and walked.items is None:
            self.walk_positional(walker, walked, body, flags)
        elif self.pullable(walker):

            def take(_: int) -> Any:
                return self.pull(walker)

            def more(_: int) -> bool:
                return not self.spent(walker)

            self.unroll_each(take, more, body, flags)
        else:
            stream = self.content(walker.cell)
            push = getattr(self, f"push_{stream.kind}", None)
            if push is None:
                raise self.refuse("this iterator cannot be walked without running")
            push(walker, stream, body, flags)

    def walk_positional(
        self, walker: Walker, walked: Iterable, body: Body, flags: Sequence[Any]
    ) -> None:
        """Walk items by number in one loop, and note how far it came."""
        leaves = self.sources(walker)
        named = flags and any(map(self.is_named, leaves))

        def counted(item: Any) -> None:
            for leaf in leaves:
                place = self.content(leaf.cell).position
                self.move(leaf, self.operate("add", place, Known(1)))
            body(item)

        self.loop(walked, counted if named else body, flags)
        done = self.flagged(flags)
        if not named or (isinstance(done, Known) and not done.value):
            self.end(walker)

    def is_named(self, walker: Walker) -> bool:
        """Say whether a name or a container holds an iterator, or one that takes it."""

        def holds(item: Any) -> bool:
            if isinstance(item, Walker):
                return item == walker or any(
                    holds(p) for p in self.content(item.cell).parts
                )
            if isinstance(item, Tup):
                return any(map(holds, item.items))
            if isinstance(item, tuple):
                return any(map(holds, item))
            if isinstance(item, dict):
                return any(map(holds, item.values()))
            return False

        return any(holds(v) for k, v in self.state.items() if k[0] in ("n", "h"))

    def push_filter(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        function, inner = stream.parts

        def one(item: Any) -> None:
            test = self.passes(function, item)
            self.choose(test, partial(body, item), always(None))

        self.walk(inner, one, flags)

    def push_takewhile(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        function, inner = stream.parts
        flag = ("x", self.frame.number, f"brk{self.fresh()}")
        self.state[flag] = Known(False)

        def one(item: Any) -> None:
            test = self.passes(function, item)
            self.state[flag] = self.negate(test)
            self.choose(test, partial(body, item), always(None))

        self.walk(inner, one, [*flags, flag])
        self.state.pop(flag)

    def push_dropwhile(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        function, inner = stream.parts
        key = ("n", self.frame.number, f"dropping{self.fresh()}")
        self.state[key] = Known(True)

        def one(item: Any) -> None:
            still = partial(self.passes, function, item)
            drop = self.choose(self.state[key], still, always(Known(False)))
            self.state[key] = drop
            self.choose(drop, always(None), partial(body, item))

        self.walk(inner, one, flags)
        self.state.pop(key)

    def push_map(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        function, *inner = stream.parts
        if len(inner) > 1:
            self.walk(
                self.stream("zip", *inner),
                lambda row: body(self.call_value(function, list(row.items), {})),
                flags,
            )
            return
        self.walk(
            inner[0], lambda item: body(self.call_value(function, [item], {})), flags
        )

    def push_starmap(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        function, inner = stream.parts

        def one(row: Any) -> None:
            body(self.call_value(function, self.known_items(row), {}))

        self.walk(inner, one, flags)

    def push_enumerate(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        def one(item: Any) -> None:
            number = self.content(walker.cell).position
            self.move(walker, self.operate("add", number, Known(1)))
            body(Tup((number, item)))

        self.walk(stream.parts[0], one, flags)

    def push_zip(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        kept = [part for part in stream.parts if self.pushed(part)]
        if not kept:
            raise self.refuse("these iterators cannot be walked together here")
        for part in kept:
            self.keep(part)
        self.walk(walker, body, flags)

    def push_chain(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        def step(number: int) -> None:
            if number == len(stream.parts):
                return
            self.walk(stream.parts[number], body, flags)
            done = self.flagged(flags)
            if not isinstance(done, Known):
                rest = partial(go_on, number + 1)
                self.choose(self.negate(done), rest, always(None))
            elif not done.value:
                step(number + 1)

        def go_on(number: int) -> None:
            self.state.update({k: Known(False) for k in flags if k in self.state})
            step(number)

        step(0)

    def push_slice(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        self.keep(stream.parts[0])
        self.walk(walker, body, flags)

    def push_generated(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        frame, node, first = stream.parts
        stack = list(self.stack)

        def produce() -> None:
            self.handed(stack, body, self.value(node.elt))

        self.comprehend(node, produce, frame, first, flags)

    def handed(self, stack: list[Frame], body: Body, item: Any) -> None:
        """Run a body of another frame with an item."""
        inside, self.stack = self.stack, list(stack)
        try:
            body(item)
        finally:
            self.stack = inside

    def push_function(
        self, walker: Walker, stream: Stream, body: Body, flags: Sequence[Any]
    ) -> None:
        function, args, kwargs = stream.parts
        if stream.position == ENDED:
            return
        self.move(walker, ENDED)
        stack = list(self.stack)
        self.enter_frame(
            function,
            list(args),
            dict(kwargs),
            (partial(self.handed, stack, body), flags),
        )

    def on_Yield(self, node: ast.Yield) -> Any:
        item = Known(None) if node.value is None else self.value(node.value)
        self.yielded(item)
        return Known(None)

    def on_YieldFrom(self, node: ast.YieldFrom) -> Any:
        flag = ("x", self.frame.number, "ret")
        self.walk(self.value(node.value), self.yielded, [flag])
        return Known(None)

    def yielded(self, item: Any) -> None:
        """Hand an item to whoever walks the generator; it ends where they stop."""
        frame = self.frame
        assert frame.consumer is not None
        body, flags = frame.consumer
        body(item)
        done = self.flagged(flags)
        if not isinstance(done, Known) or done.value:
            self.state["x", frame.number, "ret"] = done
            self.state["x", frame.number, "val"] = Known(None)

    def first(self, walker: Walker, default: Any) -> Any:
        """Return ``next(walker, default)``; `default` is None where there is none."""
        if not self.pushed(walker):
            try:
                return self.pull(walker)
            except Ended:
                if default is not None:
                    return default
                raise Raises(
                    StopIteration, self.refuse("this iterator has ended")
                ) from None
        number = self.frame.number
        flag = ("x", number, f"brk{self.fresh()}")
        value = ("n", number, f"next{self.fresh()}")
        self.state[flag] = Known(False)
        if default is not None:
            self.state[value] = default

        def take(item: Any) -> None:
            self.state[value] = item
            self.state[flag] = Known(True)

        def body(item: Any) -> None:
            self.state[flag] = Known(False)
            take(item)

        self.walk(walker, body, [flag])
        found = self.state.pop(flag)
        result = self.state.pop(value, None)
        if default is None:
            if isinstance(found, Known) and not found.value:
                raise Raises(StopIteration, self.refuse("this iterator has ended"))
            if not isinstance(found, Known):
                message = "the iterator has ended"
                stop = self.emit("builtins.StopIteration", message)
                self.choose(found, always(None), lambda: self.effect("raise", stop))
        return result
