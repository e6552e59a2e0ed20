"""Random structured programs: loops, branches, swaps, lost copies, views, lists.

A `Program` keeps what a user's variables hold while it writes nodes, as lowering does:
names are rebound, loops carry what they change, and branches merge it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from symback.graph import UNDEFINED, Block, Graph, Node, Param, Value
from symback.types import Type

__all__ = ["ARGUMENTS", "random_graph"]

SIZE = 3
TYPES = {
    "f": Type("numpy", "float64"),
    "i": Type("python", "int"),
    "b": Type("python", "bool"),
    "a": Type("array", "float64", ("n",)),
    "m": Type("array", "float64", ("n", "n")),
    "l": Type("list"),
}
PARAMETERS = {"p": "f", "q": "f", "u": "a", "w": "a", "A": "m", "n": "i"}
ARGUMENTS: dict[str, Any] = {
    "p": np.float64(0.5),
    "q": np.float64(-1.25),
    "u": np.array([0.5, -0.25, 2.0]),
    "w": np.array([-1.0, 0.125, 0.75]),
    "A": np.arange(9.0).reshape(3, 3) / 8 - 0.5,
    "n": 2,
}
NAMES = ["x", "y", "z", "h", "t1", "x_1", "np", "range", "p", "u", "A"]


def random_graph(
    seed: int, *, typed: bool = True, mutation: bool = True, size: int = 12
) -> Graph:
    """Return a valid graph, the same for the same seed."""
    pick = random.Random(seed)
    program = _Program(pick, typed, mutation)
    params = tuple(
        Param(
            name, program.value(kind, name), "positional" if name != "n" else "keyword"
        )
        for name, kind in PARAMETERS.items()
    )
    for param in params:
        program.pool[PARAMETERS[param.name]].append(param.value)
        program.variables[param.name] = (PARAMETERS[param.name], param.value)
    program.write(size, depth=0)
    kinds = "faml"
    results = [pick.choice(program.pool[k]) for k in kinds if program.pool[k]]
    results += [v for k, v in program.variables.values() if pick.random() < 0.4]
    # Lists of arrays and arrays alike can be compared.
    block = Block((), tuple(program.nodes), (tuple(results),))
    return Graph("program", params, block).check()


class _Program:
    def __init__(self, pick: random.Random, typed: bool, mutation: bool) -> None:
        self.pick = pick
        self.typed = typed
        self.mutation = mutation
        self.nodes: list[Node] = []
        self.pool: dict[str, list[Value]] = {k: [] for k in TYPES}
        self.variables: dict[str, tuple[str, Value]] = {}
        self.filled: set[Value] = set()
        self.effects: list[Any] = []

    def value(self, kind: str, name: str | None = None) -> Value:
        return Value(name, TYPES[kind] if self.typed else None)

    def add(self, kind: str, op: str, *args: Any, name: str | None = None) -> Value:
        out = self.value(kind, name)
        self.nodes.append(Node(op, args, {}, (out,)))
        self.pool[kind].append(out)
        return out

    def get(self, kind: str) -> Value:
        """Return a value of a kind: what a variable holds, or any value in scope."""
        pick = self.pick
        held = [v for k, v in self.variables.values() if k == kind]
        if held and pick.random() < 0.7:
            return pick.choice(held)
        if self.pool[kind]:
            recent = self.pool[kind][-4:]
            return pick.choice(recent if pick.random() < 0.7 else self.pool[kind])
        return self.make(kind)

    def index(self) -> Any:
        """Return an index that is valid for arrays of length SIZE."""
        if self.pool["i"] and self.pick.random() < 0.5:
            base = self.pick.choice(self.pool["i"])
            return self.add("i", "mod", base, SIZE)
        return self.pick.randrange(SIZE)

    def number(self) -> Any:
        return self.get("f") if self.pick.random() < 0.7 else self.pick.choice([2, 0.5])

    def make(self, kind: str, name: str | None = None) -> Value:
        """Write the node of a new value."""
        pick, add, get = self.pick, self.add, self.get
        choices: list[Any]
        if kind == "f":
            choices = [
                lambda: add("f", "add", get("f"), self.number(), name=name),
                lambda: add("f", "mul", self.number(), get("f"), name=name),
                lambda: add("f", "np.tanh", get("f"), name=name),
                lambda: add("f", "np.sum", get("a"), name=name),
                lambda: add("f", "getitem", get("a"), self.index(), name=name),
                lambda: add("f", "stop_gradient", get("f"), name=name),
                lambda: self.ternary("f", name),
            ]
        elif kind == "a":
            choices = [
                lambda: add("a", "add", get("a"), get("a"), name=name),
                lambda: add("a", "mul", get("a"), self.number(), name=name),
                lambda: add("a", "np.tanh", get("a"), name=name),
                lambda: add("a", "np.zeros", SIZE, name=name),
                lambda: add("a", "getitem", get("m"), self.index(), name=name),
                lambda: add("a", "getitem", get("a"), slice(None, None, -1), name=name),
                lambda: add("a", "np.copy", get("a"), name=name),
                lambda: self.from_list(name),
                lambda: self.ternary("a", name),
            ]
            if self.mutation:
                choices += [
                    lambda: add(
                        "a", "setitem", get("a"), self.index(), self.number(), name=name
                    ),
                    lambda: add(
                        "a", "setitem", get("a"), slice(0, 2), get("f"), name=name
                    ),
                    lambda: add(
                        "a", "index_add", get("a"), [0, 0, 1], get("f"), name=name
                    ),
                    lambda: add(
                        "a", "index_add", get("a"), self.index(), get("f"), name=name
                    ),
                ] * 2
        elif kind == "m":
            choices = [
                lambda: add("m", "np.outer", get("a"), get("a"), name=name),
                lambda: add("m", "np.transpose", get("m"), name=name),
                lambda: add("m", "matmul", get("m"), get("m"), name=name),
                lambda: add("m", "np.reshape", get("m"), (SIZE, SIZE), name=name),
            ]
            if self.mutation:
                choices += [
                    lambda: add(
                        "m", "setitem", get("m"), self.index(), get("a"), name=name
                    ),
                    lambda: add(
                        "m",
                        "setitem",
                        get("m"),
                        (slice(None), self.index()),
                        get("a"),
                        name=name,
                    ),
                    lambda: add(
                        "m", "index_add", get("m"), self.index(), get("a"), name=name
                    ),
                ] * 2
        elif kind == "i":
            choices = [
                lambda: add("i", "add", get("i"), 1, name=name),
                lambda: add("i", "dim", get("m"), 0, name=name),
            ]
        else:
            choices = [lambda: self.new_list(name)]
            if self.mutation and self.lists():
                choices += [lambda: self.append(name)] * 3
                choices += [
                    lambda: self.keep(
                        add("l", "setitem", self.a_list(), 0, get("a"), name=name)
                    ),
                    lambda: self.keep(
                        add("l", "index_add", self.a_list(), 0, get("a"), name=name)
                    ),
                    lambda: self.pop(name),
                ]
            if self.lists():
                choices += [
                    lambda: self.keep(add("l", "list_zeros", self.a_list(), name=name)),
                    lambda: self.keep(
                        add("l", "list_reverse", self.a_list(), name=name)
                    ),
                ]
        made: Value = pick.choice(choices)()
        return made

    # Lists

    def lists(self) -> list[Value]:
        return [v for v in self.pool["l"] if v in self.filled]

    def a_list(self) -> Value:
        held = [v for k, v in self.variables.values() if k == "l" and v in self.filled]
        return self.pick.choice(held or self.lists())

    def keep(self, value: Value) -> Value:
        """Note that a list has items."""
        self.filled.add(value)
        return value

    def new_list(self, name: str | None) -> Value:
        items = [self.get("a") for _ in range(self.pick.randint(1, 2))]
        return self.keep(self.add("l", "list", *items, name=name))

    def append(self, name: str | None) -> Value:
        return self.keep(
            self.add("l", "list_append", self.a_list(), self.get("a"), name=name)
        )

    def pop(self, name: str | None) -> Value:
        longer = self.add("l", "list_append", self.a_list(), self.get("a"))
        rest, item = self.value("l", name), self.value("a")
        self.nodes.append(Node("list_pop", (longer,), {}, (rest, item)))
        self.pool["l"].append(rest)
        self.pool["a"].append(item)
        return self.keep(rest)

    def from_list(self, name: str | None) -> Value:
        if not self.lists():
            return self.add("a", "np.zeros", SIZE, name=name)
        return self.add("a", "getitem", self.a_list(), 0, name=name)

    # Control flow

    def condition(self) -> Value:
        return self.add("b", "gt", self.get("f"), self.pick.choice([0, 0.5, -1]))

    def inner(self) -> _Program:
        """Return a program for a nested block, which sees the values around it."""
        inner = _Program(self.pick, self.typed, self.mutation)
        inner.pool = {k: list(v) for k, v in self.pool.items()}
        inner.variables = dict(self.variables)
        inner.filled = self.filled
        return inner

    def ternary(self, kind: str, name: str | None) -> Value:
        test = self.condition()
        blocks = []
        for _ in range(2):
            inner = self.inner()
            result = inner.get(kind) if self.pick.random() < 0.5 else None
            if result is None:
                result = inner.add(kind, "mul", inner.get(kind), 0.5)
            blocks.append(Block((), tuple(inner.nodes), (result,)))
        out = self.value(kind, name)
        self.nodes.append(Node("if", (test,), {}, (out,), tuple(blocks)))
        self.pool[kind].append(out)
        return out

    def write(self, count: int, depth: int) -> None:
        """Write statements of the user's."""
        for _ in range(count):
            chance = self.pick.random()
            if chance < 0.12 and depth < 3:
                self.branch(depth)
            elif chance < 0.27 and depth < 3:
                self.loop(depth)
            elif chance < 0.33 and depth < 3:
                self.repeat(depth)
            elif chance < 0.4:
                self.swap()
            else:
                self.assign()

    def assign(self) -> None:
        kind = self.pick.choice("ffaaamml" if self.mutation else "ffffaam")
        name = self.pick.choice(NAMES)
        if self.pick.random() < 0.15:
            self.variables[name] = (kind, self.get(kind))
            return
        value = self.make(kind, name if self.pick.random() < 0.8 else None)
        self.variables[name] = (kind, value)

    def swap(self) -> None:
        names = [n for n, (k, _) in self.variables.items() if k in "fa"]
        if len(names) > 1:
            one, other = self.pick.sample(names, 2)
            held = self.variables
            held[one], held[other] = held[other], held[one]

    def branch(self, depth: int) -> None:
        test = self.condition()
        branches = [self.inner(), self.inner()]
        for inner in branches[: self.pick.randint(1, 2)]:
            inner.write(self.pick.randint(1, 4), depth + 1)
        changed = [
            name
            for name in {**branches[0].variables, **branches[1].variables}
            if branches[0].variables.get(name) != branches[1].variables.get(name)
        ]
        outs, results = [], []
        for name in changed:
            one, other = (b.variables.get(name) for b in branches)
            if one is None or other is None or one[0] != other[0]:
                if one is None or other is None:
                    self.undefined(name, one or other, one is None, outs, results)
                else:
                    self.variables.pop(name, None)
                continue
            out = self.value(one[0], name)
            outs.append((out, one[0], name))
            results.append((one[1], other[1]))
            if one[1] in self.filled and other[1] in self.filled:
                self.filled.add(out)
        blocks = tuple(
            Block((), tuple(b.nodes), tuple(r[k] for r in results))
            for k, b in enumerate(branches)
        )
        node = Node("if", (test,), {}, tuple(o for o, _, _ in outs), blocks)
        self.nodes.append(node)
        for out, kind, name in outs:
            if kind == "?":
                continue
            self.pool[kind].append(out)
            self.variables[name] = (kind, out)
        for out, kind, name in outs:
            if kind == "?" and self.pick.random() < 0.7:
                self.read_again(test, out, name)

    def undefined(
        self,
        name: str,
        held: Any,
        second: bool,
        outs: list[Any],
        results: list[Any],
    ) -> None:
        """Let a name be unset on one path."""
        kind, value = held
        self.variables.pop(name, None)
        if kind != "f" or second:
            return
        out = self.value(kind, name)
        outs.append((out, "?", name))
        results.append((value, UNDEFINED))

    def read_again(self, test: Value, out: Value, name: str) -> None:
        """Read a name that is unset on one path, on the other one."""
        inner = self.inner()
        made = inner.add("f", "mul", out, 2.0)
        result = self.value("f")
        blocks = (Block((), tuple(inner.nodes), (made,)), Block((), (), (0.25,)))
        self.nodes.append(Node("if", (test,), {}, (result,), blocks))
        self.pool["f"].append(result)

    def carried(self) -> list[str]:
        """Return the names that a loop carries."""
        return [n for n in self.variables if self.pick.random() < 0.6]

    def loop(self, depth: int) -> None:
        """Write a loop over a range or a list, and sometimes its reversal."""
        names = self.carried()
        inner = self.inner()
        index = self.value("i", self.pick.choice([None, "i", "t"]))
        params, inits = [], []
        for name in names:
            kind, value = self.variables[name]
            param = self.value(kind, name)
            params.append(param)
            inits.append(value)
            inner.variables[name] = (kind, param)
            inner.pool[kind].append(param)
            if value in self.filled:
                self.filled.add(param)
        elements, walked = [], []
        stop: Any = self.pick.choice([2, 3, 0, 1])
        if self.pick.random() < 0.3:
            stop = self.pick.choice(self.pool["i"])
            stop = self.add("i", "mod", stop, 4)
        if self.lists() and self.pick.random() < 0.5:
            elements.append(self.a_list())
            walked.append(self.value("a", self.pick.choice([None, "row"])))
            stop = self.add("i", "builtins.len", elements[0])
        inner.pool["i"].append(index)
        inner.pool["a"] += walked
        inner.write(self.pick.randint(1, 5), depth + 1)
        self.finish(
            inner, names, params, inits, (index, *walked), elements, stop, depth
        )

    def finish(
        self,
        inner: _Program,
        names: list[str],
        params: list[Value],
        inits: list[Value],
        lead: tuple[Value, ...],
        elements: list[Value],
        stop: Any,
        depth: int,
    ) -> None:
        nexts = self.nexts(inner, names, params)
        breaks = self.pick.random() < 0.25
        flag = (inner.condition(),) if breaks else ()
        kinds = [self.pick.choice("fa") for _ in range(self.pick.randint(0, 2))]
        items = [inner.get(k) for k in kinds]
        body = Block((*lead, *params), tuple(inner.nodes), (*flag, *nexts, *items))
        outs = [self.value(self.variables[n][0], n) for n in names]
        lists = [self.value("l") for _ in kinds]
        kwargs: dict[str, Any] = {"breaks": True} if breaks else {}
        if self.pick.random() < 0.3:
            kwargs["reverse"] = True
        self.nodes.append(
            Node(
                "for",
                ((0, stop, 1), tuple(elements), tuple(inits)),
                kwargs,
                (*outs, *lists),
                (body,),
            )
        )
        self.after(names, outs, params)
        for kind, collected in zip(kinds, lists, strict=True):
            self.backward(kind, collected)

    def nexts(
        self, inner: _Program, names: list[str], params: list[Value]
    ) -> list[Any]:
        found = []
        for name, param in zip(names, params, strict=True):
            kind, _ = self.variables[name]
            held = inner.variables.get(name)
            value = held[1] if held is not None and held[0] == kind else param
            if param in self.filled and value not in self.filled:
                value = param
            found.append(value)
        return found

    def after(self, names: list[str], outs: list[Value], params: list[Value]) -> None:
        for name, out, param in zip(names, outs, params, strict=True):
            kind, _ = self.variables[name]
            self.variables[name] = (kind, out)
            self.pool[kind].append(out)
            if param in self.filled:
                self.filled.add(out)

    def backward(self, kind: str, collected: Value) -> None:
        """Walk a collected list backwards, as a derivative does."""
        if self.pick.random() < 0.3:
            return
        index, item = self.value("i"), self.value(kind, "saved_item")
        total = self.value(kind, "x_bar")
        start = self.get(kind)
        inner = self.inner()
        inner.pool[kind] += [item, total]
        made = inner.add(kind, "mul", item, 0.5)
        if self.mutation and kind == "a" and self.pick.random() < 0.5:
            total_next = inner.add(kind, "setitem", total, 0, inner.get("f"))
            total_next = inner.add(kind, "add", total_next, made, name="x_bar")
        else:
            total_next = inner.add(kind, "add", made, total, name="x_bar")
        length = self.add("i", "builtins.len", collected)
        out = self.value(kind, "x_bar")
        self.nodes.append(
            Node(
                "for",
                ((0, length, 1), (collected,), (start,)),
                {"reverse": True},
                (out,),
                (Block((index, item, total), tuple(inner.nodes), (total_next,)),),
            )
        )
        self.pool[kind].append(out)
        self.variables["x_bar"] = (kind, out)

    def repeat(self, depth: int) -> None:
        """Write a ``while`` that counts, with whatever else its condition asks."""
        names = self.carried()
        inner, test = self.inner(), self.inner()
        outer = (inner, test)
        params: tuple[list[Value], list[Value]] = ([], [])
        counters = [self.value("i", "k") for _ in outer]
        inits: list[Any] = [0]
        for program, row, counter in zip(outer, params, counters, strict=True):
            program.pool["i"].append(counter)
            row.append(counter)
        for name in names:
            kind, value = self.variables[name]
            inits.append(value)
            for program, row in zip(outer, params, strict=True):
                param = self.value(kind, name)
                row.append(param)
                program.variables[name] = (kind, param)
                program.pool[kind].append(param)
                if value in self.filled:
                    self.filled.add(param)
        go = test.add("b", "lt", counters[1], self.pick.choice([1, 2, 3]))
        if self.pick.random() < 0.4:
            more = self.inner()
            more.pool = {k: list(v) for k, v in test.pool.items()}
            other = more.condition()
            both = self.value("b")
            blocks = (Block((), tuple(more.nodes), (other,)), Block((), (), (go,)))
            test.nodes.append(Node("if", (go,), {}, (both,), blocks))
            go = both
        elif self.pick.random() < 0.3:
            named = test.add("f", "np.tanh", test.get("f"), name="g")
            test.add("f", "add", named, named)
            both = test.add("b", "lt", named, 7.0)
            go = test.add("b", "and_", go, both)
        inner.write(self.pick.randint(1, 4), depth + 1)
        count = inner.add("i", "add", counters[0], 1, name="k")
        nexts = [count, *self.nexts(inner, names, params[0][1:])]
        breaks = self.pick.random() < 0.25
        flag = (inner.condition(),) if breaks else ()
        kinds = [self.pick.choice("fa") for _ in range(self.pick.randint(0, 1))]
        items = [inner.get(k) for k in kinds]
        outs = [self.value("i", "k")]
        outs += [self.value(self.variables[n][0], n) for n in names]
        lists = [self.value("l") for _ in kinds]
        body = Block(tuple(params[0]), tuple(inner.nodes), (*flag, *nexts, *items))
        condition = Block(tuple(params[1]), tuple(test.nodes), (go,))
        self.nodes.append(
            Node(
                "while",
                (tuple(inits),),
                {"breaks": True} if breaks else {},
                (*outs, *lists),
                (condition, body),
            )
        )
        self.pool["i"].append(outs[0])
        self.after(names, outs[1:], params[0][1:])
        for kind, collected in zip(kinds, lists, strict=True):
            self.backward(kind, collected)
