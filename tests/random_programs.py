"""Random loss functions: loops, branches, mutation, views, lists and helpers, mixed.

`program(seed)` writes the text of a function `loss(x, a, b)` of a float and two arrays.
Every value stays bounded, so that differences of the function are accurate, and every
statement is one that the language of losses allows in that place.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["program"]

SIZE = 3

HEADER = """\
import math

import numpy as np


def bend(u, v):
    if u > v:
        return np.tanh(u - 0.5 * v)
    w = 0.7 * u
    return w * np.cos(v)


def spread(u, p):
    q = p * u
    q[0] = np.sin(u)
    return q


def total(p):
    t = 0.0
    for e in p:
        if e > 1.5:
            continue
        t = 0.8 * t + e
    return np.tanh(t)


"""


@dataclass
class Scope:
    """The names that exist at a place, by type; arrays with their lengths."""

    scalars: list[str] = field(default_factory=list)
    arrays: dict[str, int] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)
    #: Square matrices of `SIZE` rows, lists of arrays, dictionaries, inner functions.
    matrices: list[str] = field(default_factory=list)
    stacks: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    #: Loop counters that index the first `SIZE` entries.
    counters: list[str] = field(default_factory=list)

    def copy(self) -> Scope:
        return Scope(
            list(self.scalars),
            dict(self.arrays),
            list(self.lists),
            list(self.matrices),
            list(self.stacks),
            list(self.dicts),
            list(self.steps),
            list(self.counters),
        )


class Writer:
    """Writes one program from one stream of random numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.fresh = 0

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def constant(self) -> str:
        return repr(round(self.random.uniform(-1.2, 1.2), 2))

    def scalar(self, scope: Scope, depth: int = 2) -> str:
        """Return an expression for a bounded number."""
        r = self.random
        if depth == 0 or r.random() < 0.25:
            kind = r.randrange(5)
            if kind == 0 and scope.arrays:
                return self.element(scope)
            if kind == 1 and scope.counters:
                return f"0.3 * {r.choice(scope.counters)}"
            if kind == 2:
                return self.constant()
            return r.choice(scope.scalars)
        u, v = self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)
        array = self.array(scope, depth - 1, SIZE)
        richer = []
        if scope.matrices:
            M = r.choice(scope.matrices)
            richer += [
                f"np.tanh(np.trace({M}))",
                f"{M}[{self.index(scope, SIZE)}, {self.index(scope, SIZE)}]",
                f"np.tanh(np.sum({M} * {M}))",
            ]
        if scope.dicts:
            richer.append(f'{r.choice(scope.dicts)}["k"]')
        if scope.steps:
            richer.append(f"{r.choice(scope.steps)}({u})")
        if scope.stacks:
            richer.append(f"np.tanh(np.sum(np.stack({r.choice(scope.stacks)})))")
        if richer and r.random() < 0.4:
            return r.choice(richer)
        return r.choice(
            [
                f"np.tanh(sum(e * {v} for e in {array} if e > {self.constant()}))",
                f"np.tanh(max({u}, {v}) - min({v}, 0.2))",
                f"np.tanh({u} + {v})",
                f"np.sin({u})",
                f"math.cos({u} * 0.9)",
                f"0.5 * ({u}) * math.tanh({v})",
                f"({u} - 0.4 * ({v}))",
                f"np.exp(-(({u}) ** 2))",
                f"np.tanh({u}) / (1.5 + np.sin({v}))",
                f"bend({u}, {v})",
                f"np.tanh(np.sum({array}))",
                f"np.mean({array}) * 0.5",
                f"total({array})",
                f"(({u}) if ({v}) > 0.1 else math.sin({u}))",
                f"np.tanh(np.dot({array}, {self.array(scope, 0, SIZE)}))",
            ]
        )

    def element(self, scope: Scope) -> str:
        name, length = self.random.choice(list(scope.arrays.items()))
        return f"{name}[{self.index(scope, length)}]"

    def index(self, scope: Scope, length: int) -> str:
        if scope.counters and length >= SIZE and self.random.random() < 0.6:
            return self.random.choice(scope.counters)
        return str(self.random.randrange(-length, length))

    def array(self, scope: Scope, depth: int, length: int) -> str:
        """Return an expression for an array of bounded numbers."""
        r = self.random
        named = [n for n, size in scope.arrays.items() if size == length]
        if depth == 0 or r.random() < 0.25:
            return r.choice(named) if named else f"np.full({length}, 0.4)"
        p, q = self.array(scope, depth - 1, length), self.array(scope, 0, length)
        u = self.scalar(scope, depth - 1)
        forms = [
            f"np.tanh({p} * {u})",
            f"({p} - 0.3 * {q})",
            f"0.6 * ({p}) * np.cos({q})",
            f"np.where({p} > {self.constant()}, {q}, 0.5 * {p})",
            f"np.sin({p} + {u})",
            f"({p})[::-1]",
            f"np.maximum({p}, {self.constant()})",
        ]
        if length == SIZE and scope.matrices and r.random() < 0.4:
            M = r.choice(scope.matrices)
            return r.choice(
                [
                    f"np.tanh({M} @ {q})",
                    f"({M}.sum(axis={r.randrange(2)}) * 0.3)",
                    f"{M}[{self.index(scope, SIZE)}]",
                    f"(np.diag({M}) * 0.9)",
                    f"{M}[:, {r.randrange(SIZE)}]",
                ]
            )
        if length == SIZE:
            forms += [
                f"np.array([np.sin(e * {u}) for e in {p}])",
                f"spread({u}, {p})",
                f"np.array([{u}, {self.scalar(scope, 0)}, {self.scalar(scope, 0)}])",
                f"np.tanh(np.cumsum({p}))",
                f"({p})[[2, 0, 2]]",
            ]
        return r.choice(forms)

    def condition(self, scope: Scope) -> str:
        r = self.random
        simple = f"{self.scalar(scope, 1)} > {self.constant()}"
        if r.random() < 0.25:
            word = r.choice(["and", "or"])
            return f"{simple} {word} not {self.scalar(scope, 0)} < {self.constant()}"
        if r.random() < 0.15:
            return f"-0.6 < {self.scalar(scope, 0)} <= 0.8"
        return simple

    def statement(self, scope: Scope, depth: int, in_loop: bool) -> None:
        """Write one statement, which may define a name in `scope`."""
        r = self.random
        choice = r.random()
        nested = depth < 4
        if r.random() < 0.25:
            self.richer(scope, depth, in_loop)
        elif choice < 0.16:
            new = r.random() < 0.5
            name = self.name("s") if new else r.choice(scope.scalars)
            self.emit(depth, f"{name} = {self.scalar(scope)}")
            if new:
                scope.scalars.append(name)
        elif choice < 0.24:
            name = self.name("v")
            self.emit(depth, f"{name} = {self.array(scope, 2, SIZE)}")
            scope.arrays[name] = SIZE
        elif choice < 0.30:
            name = r.choice(scope.scalars)
            op = r.choice(["+=", "-=", "*="])
            self.emit(depth, f"{name} {op} {self.scalar(scope, 1)}")
            self.emit(depth, f"{name} = np.tanh({name})")
        elif choice < 0.44:
            self.write(scope, depth)
        elif choice < 0.52:
            self.alias(scope, depth)
        elif choice < 0.64 and nested:
            self.branch(scope, depth, in_loop)
        elif choice < 0.80 and nested:
            self.loop(scope, depth)
        elif choice < 0.86:
            if not scope.lists:
                name = self.name("items")
                self.emit(depth, f"{name} = [{self.scalar(scope, 1)}]")
                scope.lists.append(name)
            else:
                name = r.choice(scope.lists)
                self.emit(depth, f"{name}.append({self.scalar(scope, 1)})")
        elif choice < 0.90 and scope.lists:
            name = r.choice(scope.lists)
            target = r.choice(scope.scalars)
            form = r.choice(["sum({0}) / len({0})", "{0}[-1] * {0}[0]", "max({0})"])
            self.emit(depth, f"{target} = np.tanh({form.format(name)})")
        elif choice < 0.95 and in_loop:
            self.emit(depth, f"if {self.condition(scope)}:")
            self.emit(depth + 1, r.choice(["break", "continue"]))
        elif depth < 3 and r.random() < 0.3:
            self.emit(depth, f"if {self.scalar(scope, 1)} > 0.9:")
            self.emit(depth + 1, f"return {self.scalar(scope)}")
        else:
            name = self.name("s")
            self.emit(depth, f"{name} = {self.scalar(scope)}")
            scope.scalars.append(name)

    def richer(self, scope: Scope, depth: int, in_loop: bool) -> None:
        """Write a statement on matrices, containers, swaps or inner functions."""
        r = self.random
        u = self.scalar(scope, 1)
        p, q = self.array(scope, 1, SIZE), self.array(scope, 0, SIZE)
        kind = r.randrange(11)
        if kind == 0 or (kind < 4 and not scope.matrices):
            name = self.name("M")
            forms = [f"np.outer({p}, {q})", f"np.tanh(np.outer({p}, {q}) + {u})"]
            if scope.matrices:
                M, N = r.choice(scope.matrices), r.choice(scope.matrices)
                forms += [f"np.tanh({M} @ {N})", f"{M}.T", f"{M}", f"{M}.copy()"]
            self.emit(depth, f"{name} = {r.choice(forms)}")
            scope.matrices.append(name)
        elif kind < 3:
            M = r.choice(scope.matrices)
            i, j = self.index(scope, SIZE), self.index(scope, SIZE)
            forms = [
                f"{M}[{i}] = {p}",
                f"{M}[:, {j}] *= np.cos({u})",
                f"{M}[{i}, {j}] = {u}",
                f"{M}[{M} > 0.6] = {self.constant()}",
                f"{M} *= {q}",
                f"{M}[[2, 0]] = {M}[[0, 2]]",
                f"{M}[1:, :2] = np.cos({M}[:2, 1:])",
                f"np.tanh({M}, out={M})",
            ]
            self.emit(depth, r.choice(forms))
        elif kind == 3:
            M = r.choice(scope.matrices)
            if r.random() < 0.5 and depth < 4:
                row = self.name("row")
                self.emit(depth, f"for {row} in {M}:")
                inner = scope.copy()
                inner.arrays[row] = SIZE
                self.statement(inner, depth + 1, True)
                self.write(inner, depth + 1)
            else:
                name = self.name("w")
                view = r.choice([f"[{r.randrange(3)}]", "[:, 1]", ".T[0]"])
                self.emit(depth, f"{name} = {M}{view}")
                scope.arrays[name] = SIZE
        elif kind == 4 and len(scope.scalars) > 1:
            s, t = r.sample(scope.scalars, 2)
            self.emit(depth, f"{s}, {t} = {t}, {s}")
        elif kind == 5:
            named = [n for n, size in scope.arrays.items() if size == SIZE]
            if len(named) > 1:
                m, n = r.sample(named, 2)
                self.emit(depth, f"{m}, {n} = {n}, {m}")
            else:
                self.write(scope, depth)
        elif kind == 6:
            name = self.name("d")
            self.emit(depth, f'{name} = {{"k": {u}, "v": {p}}}')
            scope.dicts.append(name)
        elif kind == 7 and scope.dicts:
            d = r.choice(scope.dicts)
            forms = [
                f'{d}["k"] = {u}',
                f'{d}["k"] *= {u}',
                f'{d}["v"] = {p}',
                f'{d}["v"] *= {q}',
                f'{d}["v"][{self.index(scope, SIZE)}] = {u}',
            ]
            self.emit(depth, r.choice(forms))
        elif kind == 8 and depth == 1:
            name, state = self.name("step"), r.choice(scope.scalars)
            argument = self.name("u")
            self.emit(depth, f"def {name}({argument}):")
            if r.random() < 0.6 and state != "x":
                self.emit(depth + 1, f"nonlocal {state}")
                self.emit(depth + 1, f"{state} = np.tanh({state} + {argument})")
                self.emit(depth + 1, f"return 0.5 * {state}")
            else:
                self.emit(depth + 1, f"if {argument} > {self.constant()}:")
                self.emit(depth + 2, f"return np.sin({argument}) * {state}")
                self.emit(depth + 1, f"return np.tanh({argument})")
            scope.steps.append(name)
        elif kind == 9:
            if not scope.stacks:
                name = self.name("hs")
                self.emit(depth, f"{name} = [{p}]")
                scope.stacks.append(name)
            else:
                self.emit(depth, f"{r.choice(scope.stacks)}.append({p})")
        elif in_loop and depth < 4 and r.random() < 0.3:
            self.emit(depth, f"if {self.scalar(scope, 1)} > 0.95:")
            self.emit(depth + 1, f"return {self.scalar(scope)}")
        else:
            name = r.choice(scope.scalars)
            self.emit(depth, f"{name} = {self.scalar(scope)}")

    def write(self, scope: Scope, depth: int) -> None:
        """Write into an array, so that its entries stay bounded."""
        r = self.random
        name, length = r.choice(list(scope.arrays.items()))
        u = self.scalar(scope, 1)
        i = self.index(scope, length)
        p = self.array(scope, 1, length)
        part = self.array(scope, 0, length - 1) if length > 1 else u
        self.emit(
            depth,
            r.choice(
                [
                    f"{name}[{i}] = {u}",
                    f"{name}[{i}] *= np.tanh({u})",
                    f"{name}[1:] = {part}" if length > 1 else f"{name}[:] = {u}",
                    f"{name} *= np.cos({p})",
                    f"{name}[{name} > 0.5] = {self.constant()}",
                    f"{name}[[0, -1]] = {u}",
                    f"np.tanh({p}, out={name})",
                    f"{name}[::2] *= {self.constant()}",
                ]
            ),
        )

    def alias(self, scope: Scope, depth: int) -> None:
        r = self.random
        source, length = r.choice(list(scope.arrays.items()))
        name = self.name("w")
        forms = [(source, length), (f"{source}.copy()", length)]
        forms.append((f"{source}[::-1]", length))
        if length > 1:
            forms.append((f"{source}[1:]", length - 1))
            forms.append((f"{source}[:-1]", length - 1))
        text, size = r.choice(forms)
        self.emit(depth, f"{name} = {text}")
        scope.arrays[name] = size

    def block(self, scope: Scope, depth: int, in_loop: bool) -> None:
        """Write a block whose new names do not outlive it."""
        inner = scope.copy()
        for _ in range(self.random.randrange(1, 4)):
            self.statement(inner, depth, in_loop)

    def branch(self, scope: Scope, depth: int, in_loop: bool) -> None:
        r = self.random
        self.emit(depth, f"if {self.condition(scope)}:")
        self.block(scope, depth + 1, in_loop)
        if r.random() < 0.3:
            self.emit(depth, f"elif {self.condition(scope)}:")
            self.block(scope, depth + 1, in_loop)
        if r.random() < 0.6:
            self.emit(depth, "else:")
            self.block(scope, depth + 1, in_loop)

    def loop(self, scope: Scope, depth: int) -> None:
        r = self.random
        counter = self.name("i")
        inner = scope.copy()
        kind = r.randrange(5)
        if kind == 0:
            self.emit(depth, f"for {counter} in range({SIZE}):")
            inner.counters.append(counter)
        elif kind == 1:
            self.emit(depth, f"for {counter} in range(len(a) - 1, -1, -1):")
            inner.counters.append(counter)
        elif kind == 2:
            item = self.name("e")
            source = self.array(scope, 1, SIZE)
            self.emit(depth, f"for {counter}, {item} in enumerate({source}):")
            inner.counters.append(counter)
            inner.scalars.append(item)
        elif kind == 3:
            left, right = self.name("e"), self.name("e")
            self.emit(
                depth,
                f"for {left}, {right} in zip({self.array(scope, 1, SIZE)}, "
                f"{self.array(scope, 0, SIZE)}):",
            )
            inner.scalars += [left, right]
        else:
            state = r.choice(scope.scalars)
            self.emit(depth, f"{counter} = 0")
            limit = f"{counter} < {SIZE}"
            self.emit(depth, f"while {limit} and {state} > {self.constant()}:")
            self.emit(depth + 1, f"{counter} += 1")
            inner.counters.append(f"({counter} - 1)")
        for _ in range(r.randrange(1, 4)):
            self.statement(inner, depth + 1, True)

    def function(self) -> str:
        scope = Scope(["x"], {"a": SIZE, "b": SIZE})
        for _ in range(self.random.randrange(4, 10)):
            self.statement(scope, 1, False)
        result = " + ".join(
            [f"{0.3 + 0.1 * k:.1f} * {s}" for k, s in enumerate(scope.scalars)]
            + [f"np.sum({a} * {a}) * 0.2" for a in scope.arrays]
            + [f"sum({items}) * 0.1" for items in scope.lists]
            + [f"np.tanh(np.sum({M})) * 0.4" for M in scope.matrices]
            + [f"np.tanh(np.sum(np.stack({hs}) ** 2))" for hs in scope.stacks]
            + [f'{d}["k"] * np.sum({d}["v"]) * 0.3' for d in scope.dicts]
        )
        body = "\n".join(self.lines)
        return f"{HEADER}def loss(x, a, b):\n{body}\n    return {result}\n"


def program(seed: int) -> str:
    """Return the text of a module that defines `loss(x, a, b)`."""
    return Writer(seed).function()
