"""Random loss functions, written by running plain NumPy statement by statement.

Any text may be tried: a statement stays if the program so far still runs and its
numbers stay small.  So programs need no knowledge of what is allowed where, and cover
what people write: views of views, memory order, numbers without axes, items picked at
run time, iterators, shared arguments, small integers, masks, dicts, lists, loops,
branches, helpers and linear algebra.
"""

from __future__ import annotations

import dataclasses
import functools
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.random_statements import (
    ARRAYS,
    CONDITIONS,
    HEADER,
    LOOPS,
    SCALARS,
    STATEMENTS,
)

__all__ = ["Program", "program"]

LARGEST = 30.0
"""Numbers beyond which a statement is dropped: differences would not be accurate."""

MOST = 40
"""Entries that an array may have."""

PARAMETERS = {
    "x": lambda r, n: float(r.normal()),
    "u": lambda r, n: np.float64(r.normal()),
    "a": lambda r, n: r.normal(size=n),
    "b": lambda r, n: r.normal(size=n),
    "A": lambda r, n: r.normal(size=(n, 2)),
    "F": lambda r, n: np.asfortranarray(r.normal(size=(n, n))),
    "s": lambda r, n: r.normal(size=2 * n)[::2],
    "z": lambda r, n: np.array(r.normal()),
    "k": lambda r, n: np.arange(n, dtype=np.uint8) % 3,
    "m": lambda r, n: r.normal(size=n) > 0.0,
    "n": lambda r, n: n,
    "L": lambda r, n: [r.normal(size=n), r.normal(size=n), r.normal(size=n)],
    "d": lambda r, n: {"w": r.normal(size=n), "c": float(r.normal())},
    "t": lambda r, n: (float(r.normal()), r.normal(size=n)),
}
"""Parameters by name: each a function of a generator and a size."""

NUMBER = "0.5 * np.tanh({V}[0]) + 0.1"
"""What an early return gives, which may never run while it is written."""

OTHERS = "kmn"
"""Parameters that no gradient is taken by."""


@dataclass(frozen=True)
class Program:
    """The text of a module that defines `loss`, and its parameters.

    shared : two parameters that are given the same object, or nothing.
    """

    text: str
    names: tuple[str, ...]
    size: int
    shared: tuple[str, ...] = ()
    seed: int = 0

    @property
    def wrt(self) -> tuple[str, ...]:
        """Return the parameters that the gradient is taken by."""
        return tuple(n for n in self.names if n not in OTHERS)

    def arguments(self, seed: int = 0, grow: int = 0, dtype: Any = None) -> list[Any]:
        """Return fresh arguments: of other numbers, other sizes or another dtype."""
        rng = np.random.default_rng([self.seed, seed])
        made = {n: PARAMETERS[n](rng, self.size + grow) for n in self.names}
        if self.shared:
            made[self.shared[1]] = made[self.shared[0]]
        if dtype is not None:
            made = {
                n: v.astype(dtype)
                if isinstance(v, np.ndarray) and v.dtype.kind == "f"
                else v
                for n, v in made.items()
            }
        return list(made.values())

    def load(self, name: str = "random program") -> Callable[..., Any]:
        """Return the function, its text where `inspect` finds it."""
        import linecache

        file = f"<{name} {self.seed}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(True), file)
        namespace: dict[str, Any] = {"__name__": "random_program"}
        exec(compile(self.text, file, "exec"), namespace)
        found: Callable[..., Any] = namespace["loss"]
        return found


class UnfillableError(Exception):
    """Nothing lives here that fits a hole."""


class Reached(BaseException):
    """Ends a trial where the next statement would stand; has the names of there."""


@functools.cache
def compiled_header() -> Any:
    return compile(HEADER, "<header>", "exec")


def _probe(names: dict[str, Any]) -> None:
    raise Reached(names)


LINES = 20_000
"""Lines that a program may run while it is written."""


@contextmanager
def bounded() -> Iterator[None]:
    """Raise where more lines run than a program that ends would: no clock decides."""
    count = 0

    def step(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        if count > LINES:
            raise RuntimeError("the program does not end")
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        yield
    finally:
        sys.settrace(before)


class Writer:
    """Writes one program from one stream of random numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.fresh = 0
        self.trials = 0
        r = self.random
        chosen = [n for n in PARAMETERS if r.random() < 0.4]
        if not set(chosen) - set(OTHERS):
            chosen = ["x", "a"]
        self.names = tuple(chosen)
        self.size = r.choice([2, 3, 3, 4])
        pairs = [("a", "b"), ("a", "s")]
        fit = [p for p in pairs if set(p) <= set(chosen)]
        self.shared = r.choice(fit) if fit and r.random() < 0.2 else ()

    def function(self, lines: list[str]) -> str:
        body = "\n".join(lines)
        return f"def loss({', '.join(self.names)}):\n{body}\n"

    def made(self, lines: list[str]) -> Program:
        text = HEADER + self.function(lines)
        return Program(text, self.names, self.size, self.shared, self.seed)

    def reached(self, lines: list[str], depth: int) -> dict[str, Any] | None:
        """Return the names that live at the end of some lines, or None if they fail."""
        self.trials += 1
        body = [*lines, "    " * depth + "_probe(locals())"]
        tried = Program(self.function(body), self.names, self.size, self.shared)
        tried = dataclasses.replace(tried, seed=self.seed)
        namespace: dict[str, Any] = {"_probe": _probe}
        try:
            with np.errstate(all="raise", under="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compiled_header(), namespace)
                exec(compile(tried.text, "<trial>", "exec"), namespace)
                with bounded():
                    namespace["loss"](*tried.arguments())
        except Reached as there:
            found: dict[str, Any] = there.args[0]
            if all(map(is_small, found.values())):
                return found
        except Exception:
            return None
        return None

    def write(self) -> Program:
        """Write the whole program."""
        known = self.reached([], 1)
        assert known is not None
        self.block(known, 1, self.random.randrange(5, 14))
        names = self.reached(self.lines, 1)
        assert names is not None
        self.lines.append(f"    return {self.result(names)}")
        return self.made(self.lines)

    def block(self, known: dict[str, Any], depth: int, count: int) -> None:
        """Append statements at a depth, each tried; what lives there is known."""
        for _ in range(count):
            for _ in range(8):
                before = len(self.lines)
                try:
                    self.statement(known, depth)
                    after = self.reached(self.lines, depth)
                except UnfillableError:
                    after = None
                if after is not None:
                    known = after
                    break
                del self.lines[before:]

    def statement(self, known: dict[str, Any], depth: int) -> None:
        r = self.random
        pad = "    " * depth
        kind = r.random()
        if depth < 4 and kind < 0.12:
            self.branch(known, depth)
        elif depth < 4 and kind < 0.26:
            self.loop(known, depth)
        elif kind < 0.46:
            self.lines.append(f"{pad}{self.target(known, 'S')} = {self.scalar(known)}")
        elif kind < 0.66:
            self.lines.append(f"{pad}{self.target(known, 'A')} = {self.array(known)}")
        else:
            text = self.filled(r.choice(STATEMENTS), known)
            self.lines += [pad + line for line in text.split("\n")]

    def branch(self, known: dict[str, Any], depth: int) -> None:
        """Write an `if`; while its blocks are written, each is the one that runs."""
        r, pad = self.random, "    " * depth
        place = len(self.lines)
        condition = self.filled(r.choice(CONDITIONS), known)
        self.lines.append(f"{pad}if True:")
        self.block(known, depth + 1, r.randrange(1, 4))
        if len(self.lines) == place + 1:
            self.lines.append(f"{pad}    pass")
        if depth > 1 and r.random() < 0.15:
            self.lines.append(f"{pad}    return {self.filled(NUMBER, known)}")
        if r.random() < 0.6:
            self.lines[place] = f"{pad}if False:"
            self.lines.append(f"{pad}else:")
            start = len(self.lines)
            self.block(known, depth + 1, r.randrange(1, 3))
            if len(self.lines) == start:
                self.lines.append(f"{pad}    pass")
        self.lines[place] = f"{pad}if {condition}:"

    def loop(self, known: dict[str, Any], depth: int) -> None:
        r, pad = self.random, "    " * depth
        header = self.filled(r.choice(LOOPS), known)
        self.lines += [pad + line for line in header.split("\n")]
        inside = self.reached(self.lines, depth + 1)
        if inside is None:
            self.lines.append(pad + "    pass")
            return
        start = len(self.lines)
        self.block(inside, depth + 1, r.randrange(1, 4))
        if r.random() < 0.2:
            condition = self.filled(r.choice(CONDITIONS), inside)
            word = r.choice(["break", "continue", "break"])
            line = f"{pad}    if {condition}:\n{pad}        {word}"
            where = r.choice([start, len(self.lines)])
            self.lines[where:where] = line.split("\n")
        if len(self.lines) == start:
            self.lines.append(f"{pad}    pass")

    # Text

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def target(self, known: dict[str, Any], kind: str) -> str:
        found = [n for n, v in known.items() if is_kind(v, kind) and n[-1].isdigit()]
        if found and self.random.random() < 0.35:
            return self.random.choice(found)
        return self.name("p" if kind == "S" else "v")

    def scalar(self, known: dict[str, Any]) -> str:
        return self.filled(self.random.choice(SCALARS), known)

    def array(self, known: dict[str, Any]) -> str:
        return self.filled(self.random.choice(ARRAYS), known)

    def filled(self, template: str, known: dict[str, Any], depth: int = 0) -> str:
        """Return a template with its holes filled by names, numbers and more texts."""
        r = self.random

        def hole(match: re.Match[str]) -> str:
            kind = match.group(1)
            if kind == "c":
                return repr(round(r.uniform(-1.2, 1.2), 2))
            if kind == "i":
                return str(r.choice([0, 0, 1, 1, -1, -1, 2, -2]))
            if kind == "N":
                return self.name("w")
            if kind == "Q":
                return self.filled(r.choice(CONDITIONS), known, depth + 1)
            if depth < 2 and kind in "SAV" and r.random() < 0.3:
                table = SCALARS if kind == "S" else ARRAYS
                return f"({self.filled(r.choice(table), known, depth + 1)})"
            found = [n for n, v in known.items() if is_kind(v, kind)]
            if found:
                return r.choice(found[-6:] if r.random() < 0.6 else found)
            if kind not in "SI":
                raise UnfillableError
            return {"S": "0.7", "I": "1"}[kind]

        return re.sub(r"\{(\w)\}", hole, template)

    def result(self, names: dict[str, Any]) -> str:
        """Return an expression to which everything that lives contributes."""
        terms = []
        for number, (name, value) in enumerate(names.items()):
            weight = round(0.3 + 0.1 * (number % 9), 1)
            terms += [f"{weight} * {term}" for term in contributions(name, value)]
        return "(\n        " + "\n        + ".join(terms or ["0.0"]) + "\n    )"


def contributions(name: str, value: Any) -> list[str]:
    if is_kind(value, "S"):
        return [name]
    if is_kind(value, "A"):
        return [f"np.sum(np.sin({name}))"]
    if isinstance(value, list | tuple):
        return [
            term
            for k, item in enumerate(value)
            for term in contributions(f"{name}[{k}]", item)
        ]
    if isinstance(value, dict):
        return [
            term
            for k, item in value.items()
            for term in contributions(f"{name}[{k!r}]", item)
        ]
    return []


def is_kind(value: Any, kind: str) -> bool:
    """Say whether a value fits a hole: see `random_statements`."""
    array = isinstance(value, np.ndarray)
    if kind == "S":
        return isinstance(value, float | np.floating)
    if kind == "I":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in "AVMZ":
        dims = {"V": 1, "M": 2, "Z": 0}.get(kind)
        return array and value.dtype.kind == "f" and dims in (None, value.ndim)
    if kind == "K":
        return array and value.dtype.kind in "iu"
    if kind == "B":
        return array and value.dtype.kind == "b"
    if kind == "L":
        return isinstance(value, list) and bool(value)
    if kind == "T":
        return isinstance(value, tuple)
    if kind == "D":
        return isinstance(value, dict) and bool(value)
    return kind == "E" and hasattr(value, "__next__")


def is_small(value: Any) -> bool:
    """Say whether a value and all that it holds is finite and bounded."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "c" or value.size > MOST or value.dtype.hasobject:
            return False
        return value.dtype.kind != "f" or bool(np.all(np.abs(value) < LARGEST))
    if isinstance(value, complex | np.complexfloating) and not isinstance(value, float):
        return isinstance(value, np.floating)
    if isinstance(value, float | np.floating | int | np.integer):
        return bool(abs(value) < LARGEST)
    if isinstance(value, list | tuple):
        return len(value) < 16 and all(map(is_small, value))
    if isinstance(value, dict):
        return all(map(is_small, value.values()))
    return True


def program(seed: int) -> Program:
    """Return a program that plain Python runs."""
    return Writer(seed).write()
