"""A record of the operations of one run: what went in, what came out, on which line.

Only used to find a culprit.  Each result is made of new nodes (`copy`), so that the
adjoint of every value in the program is separate from that of what it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from .concolic import Concolic, Tape
from .elements import Element

__all__ = ["Event", "Recorder", "recorded", "recording"]

_RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@dataclass(frozen=True)
class Event:
    """One operation: name, line, inputs and output as object arrays of nodes."""

    op: str
    file: str
    line: int
    inputs: tuple[Any, ...]
    output: Any


class Recorder:
    """The events of a run, in order; nested calls belong to the outermost one."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.depth = 0
        self.events: list[Event] = []

    def run(self, op: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a function and note it."""
        inputs = [snapshot(a) for a in _operands((*args, *kwargs.values()))]
        self.depth += 1
        try:
            result = function(*args, **kwargs)
        finally:
            self.depth -= 1
        if not inputs:
            return result
        return self.note(op, tuple(inputs), result, args, kwargs)

    def note(
        self, op: str, inputs: tuple[Any, ...], result: Any, args: Any, kwargs: Any
    ) -> Any:
        if type(result) in (tuple, list):
            parts = [self.note(op, inputs, r, args, kwargs) for r in result]
            return type(result)(parts)
        if isinstance(result, Concolic):
            if result.constant:
                return result
            copied = self.copy(result)
            self.add(op, inputs, snapshot(copied))
            return copied
        from .arrays import SymArray, is_symbolic_array

        if not is_symbolic_array(result):
            return result
        made = snapshot(result)
        flat = made.reshape(-1)
        for i, node in enumerate(flat):
            if isinstance(node, Concolic) and not node.constant:
                flat[i] = self.copy(node)
        self.add(op, inputs, made.copy())
        given = [*args, *kwargs.values()]
        if any(result is a or _holds(a, result) for a in given):
            result.view(np.ndarray)[...] = made
            return result
        return made.view(SymArray)

    def copy(self, node: Concolic) -> Concolic:
        return self.tape._add("copy", (node,), None, node.value)

    def add(self, op: str, inputs: tuple[Any, ...], output: Any) -> None:
        file, line = self.tape.watch.place()
        self.events.append(Event(op, file, line, inputs, output))


def _holds(x: Any, result: Any) -> bool:
    """Return whether a tuple (of `out=`) holds this very array."""
    return type(x) is tuple and any(result is i for i in x)


def _operands(args: Any) -> Iterator[Any]:
    from .arrays import is_symbolic_array

    for a in args:
        if isinstance(a, Concolic):
            if not a.constant:
                yield a
        elif is_symbolic_array(a):
            yield a
        elif type(a) in (list, tuple):
            yield from _operands(a)


def snapshot(x: Any) -> Any:
    """Return an element or an array of them as a new base-class object array."""
    if isinstance(x, Element):
        box = np.empty((), dtype=object)
        box[()] = x
        return box
    return x.view(np.ndarray).copy()


def recorded(op: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function; note it where a recording goes on and nothing encloses it."""
    recorder = _RECORDER.get()
    if recorder is None or recorder.depth:
        return function(*args, **kwargs)
    return recorder.run(op, function, args, kwargs)


def is_recording() -> bool:
    """Return whether the next operation would be noted."""
    recorder = _RECORDER.get()
    return recorder is not None and not recorder.depth


@contextmanager
def recording(tape: Tape) -> Iterator[Recorder]:
    """Record what a program does with elements of a tape."""
    recorder = Recorder(tape)
    tape.recorder = recorder
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        tape.recorder = None
        _RECORDER.reset(token)
