"""The text form of graphs: written for readers, and read back without loss.

A line is a node; ``<-`` stands for ``=`` where it belongs to the backward.  A second
value of one name is ``x.2``, a value without a name ``%1``.  Objects that are no
plain constants are written ``<name>``: NumPy's and Python's types are found by it,
others are given to `read`.

>>> text = '''
... graph f(x: float64[n]):
...   y: float64[n] = np.tanh(x)
...   %1: float64 = np.sum(y, axis=0)
...   y_bar: float64[n] <- np.ones_like(y)
...   -> (%1, y_bar)
... '''
>>> written(*read(text)) == text.strip()
True
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from ..errors import Span
from ..types import Type
from .form import UNDEFINED, Arg, Block, Node, Param, Value

__all__ = ["read", "title_of", "written"]

HEADS = {"if": ("then", "else"), "while": ("while", "do")}
"""What the blocks of a node are called; those of others are ``do``."""

WORDS = {
    "None": None,
    "True": True,
    "False": False,
    "...": Ellipsis,
    "inf": float("inf"),
    "nan": float("nan"),
    "UNDEFINED": UNDEFINED,
}
"""The constants that are written as words."""

CALLS: dict[str, Callable[..., Any]] = {
    "complex": complex,
    "dtype": np.dtype,
    "range": range,
    "frozenset": frozenset,
    "set": set,
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bool_": np.bool_,
    **{
        f"{u}int{bits}": getattr(np, f"{u}int{bits}")
        for u in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}
"""The constants that are written as calls."""

KINDS = ("array", "list", "tuple", "range", "object")

Header = tuple[str, tuple[Param, ...], Block, str, Mapping[str, str]]
"""Name, parameters, block, title and `np.errstate` settings of a graph."""


# Writing


class _Names:
    """What each value is called: no two alike."""

    def __init__(self) -> None:
        self.known: dict[Value, str] = {}
        self.counts: dict[str, int] = {}

    def __call__(self, value: Value) -> str:
        found = self.known.get(value)
        if found is None:
            base = value.name or "%"
            number = self.counts.get(base, 0) + 1
            self.counts[base] = number
            plain = number == 1 and base != "%" and base not in WORDS
            dot = "" if base == "%" else "."
            found = self.known[value] = base if plain else f"{base}{dot}{number}"
        return found


def _constant(item: Any) -> str:
    """Write a constant so that it can be told from the name of a value."""
    if isinstance(item, complex) and type(item) is complex:
        return f"complex({_constant(item.real)}, {_constant(item.imag)})"
    if item is Ellipsis:
        return "..."
    if (
        item is None
        or item is UNDEFINED
        or type(item) in (bool, int, float, str, bytes)
    ):
        return repr(item)
    if isinstance(item, np.dtype):
        return f"dtype({item.str!r})"
    if isinstance(item, np.generic) and type(item).__name__ in CALLS:
        return f"{type(item).__name__}({item!s})"
    if isinstance(item, range):
        return f"range({item.start}, {item.stop}, {item.step})"
    if isinstance(item, frozenset | set):
        inside = ", ".join(sorted(map(_constant, item)))
        return f"{type(item).__name__}([{inside}])"
    return f"<{title_of(item)}>"


def title_of(item: Any) -> str:
    """Return the full name of an object, or its class's."""
    named = item if hasattr(item, "__qualname__") else type(item)
    module = getattr(named, "__module__", "")
    lead = {"builtins": "", "numpy": "np."}.get(module, f"{module}.")
    return f"{lead}{named.__qualname__}"


def written(
    name: str,
    params: tuple[Param, ...],
    block: Block,
    title: str = "",
    errstate: Mapping[str, str] | None = None,
    places: bool = True,
) -> str:
    """Return a graph as text.

    places : end each line with the place of the user's line.
    """
    names = _Names()
    lines = [f"# {title}"] if title else []

    def arg(item: Arg) -> str:
        if isinstance(item, Value):
            return names(item)
        if type(item) is tuple:
            return f"({', '.join(map(arg, item))}{',' if len(item) == 1 else ''})"
        if type(item) is list:
            return f"[{', '.join(map(arg, item))}]"
        if isinstance(item, dict):
            return f"{{{', '.join(f'{arg(k)}: {arg(v)}' for k, v in item.items())}}}"
        if isinstance(item, slice):
            parts = ["" if p is None else arg(p) for p in (item.start, item.stop)]
            return ":".join(parts + ([] if item.step is None else [arg(item.step)]))
        return _constant(item)

    def typed(value: Value) -> str:
        return f"{names(value)}: {value.type}" if value.type else names(value)

    def add(body: Block, depth: int, head: str) -> None:
        pad = "  " * depth
        lines.append(f"{pad}{head}:")
        for node in body.nodes:
            left = ", ".join(map(typed, node.outs))
            parts = [arg(a) for a in node.args]
            parts += [f"{k}={arg(v)}" for k, v in node.kwargs.items()]
            sign = "<- " if node.role == "backward" else "= " if left else ""
            text = f"{left}{' ' if left else ''}{sign}{node.op}({', '.join(parts)})"
            where = f"  # {node.span.where}" if places and node.span else ""
            lines.append(f"{pad}  {text}{where}")
            heads = HEADS.get(str(node.op), ("do",))
            for title, nested in zip(heads, node.blocks, strict=False):
                given = ", ".join(map(typed, nested.params))
                add(nested, depth + 2, f"{title} ({given})" if given else title)
        lines.append(f"{pad}  -> {', '.join(map(arg, body.results))}")

    def given(param: Param) -> str:
        lead = "" if param.kind == "positional" else f"{param.kind} "
        own = "" if param.name == param.value.name else f"{param.name} as "
        return f"{lead}{own}{typed(param.value)}"

    head = f"graph {name}({', '.join(map(given, params))})"
    if errstate:
        head += f" under ({', '.join(f'{k}={v}' for k, v in errstate.items())})"
    add(block, 0, head)
    return "\n".join(lines)


# Reading

VALUE = re.compile(r"%\d+|[^\W\d]\w*(?:\.\d+)?")
NAME = re.compile(r"[^\W\d]\w*")
OP = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
NUMBER = re.compile(r"-?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?!\w)")
STRING = re.compile(r"b?'(?:[^'\\]|\\.)*'|b?\"(?:[^\"\\]|\\.)*\"")
OBJECT = re.compile(r"<([^<>]*(?:<[^<>]*>[^<>]*)*)>")


class _Reader:
    """Reads one line; `values` are those of the graph so far, as they are written."""

    def __init__(self, line: str, values: dict[str, Value], objects: Mapping[str, Any]):
        self.line = line
        self.at = 0
        self.values = values
        self.objects = objects

    def fail(self, what: str) -> ValueError:
        """Return the error that shows where the text cannot be read."""
        return ValueError(f"{what} expected\n  {self.line}\n  {' ' * self.at}^")

    def skip(self) -> None:
        while self.line.startswith(" ", self.at):
            self.at += 1

    def take(self, token: str) -> bool:
        """Step over a token if it comes next."""
        self.skip()
        if not self.line.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def need(self, token: str) -> None:
        if not self.take(token):
            raise self.fail(f"`{token}`")

    def match(self, pattern: re.Pattern[str], what: str = "") -> str:
        """Return what a pattern matches here; "" if nothing is needed and none does."""
        self.skip()
        found = pattern.match(self.line, self.at)
        if found is None:
            if what:
                raise self.fail(what)
            return ""
        self.at = found.end()
        return found.group()

    def many(self, one: Callable[[], Any], end: str) -> list[Any]:
        """Read items parted by commas up to the closing token."""
        found = []
        while not self.take(end):
            found.append(one())
            if not self.take(","):
                self.need(end)
                break
        return found

    # Arguments

    def arg(self) -> Arg:
        """Read an argument: a value, a constant, a container or a slice of them."""
        self.skip()
        start = None if self.line.startswith(":", self.at) else self.item()
        if not self.take(":"):
            return start
        stop, step = self.bound(), None
        if self.take(":"):
            step = self.bound()
        return slice(start, stop, step)

    def bound(self) -> Arg:
        self.skip()
        ends = self.line[self.at : self.at + 1]
        return None if ends in ("", ":", ",", ")", "]", "}") else self.item()

    def item(self) -> Arg:
        if self.take("..."):
            return Ellipsis
        if self.take("("):
            return self.items()
        if self.take("["):
            return self.many(self.arg, "]")
        if self.take("{"):
            return dict(self.many(self.pair, "}"))
        if text := self.match(STRING):
            return ast.literal_eval(text)
        if text := self.match(NUMBER):
            words = text.lstrip("-") in ("inf", "nan")
            return float(text) if words else ast.literal_eval(text)
        if text := self.match(OBJECT):
            return self.found(text[1:-1])
        return self.named()

    def items(self) -> tuple[Arg, ...]:
        """Read a tuple's items; the parenthesis is open."""
        found = []
        while not self.take(")"):
            found.append(self.arg())
            if not self.take(","):
                self.need(")")
                break
        return tuple(found)

    def pair(self) -> tuple[Any, Arg]:
        key = self.item()
        self.need(":")
        return key, self.arg()

    def named(self) -> Arg:
        name = self.match(VALUE, "an argument")
        if name in self.values:
            return self.values[name]
        if name in WORDS:
            return WORDS[name]
        if name in CALLS and self.take("("):
            return CALLS[name](*self.many(self.arg, ")"))
        raise self.fail(f"a value: `{name}` is not defined; one that is")

    def found(self, name: str) -> Any:
        """Return the object of a name."""
        if name in self.objects:
            return self.objects[name]
        lead, _, last = name.rpartition(".")
        home = {"": builtins, "np": np}.get(lead)
        if home is None or not hasattr(home, last):
            raise ValueError(
                f"which object is <{name}>? Give it: objects={{{name!r}: ...}}"
            )
        return getattr(home, last)

    # Values

    def value(self) -> Value:
        """Read the name and type of a new value."""
        text = self.match(VALUE, "a name")
        kind = self.type() if self.take(":") else None
        base = text.rpartition(".")[0] or text
        made = Value(None if text.startswith("%") else base, kind)
        self.values[text] = made
        return made

    def type(self) -> Type:
        """Read a type, whose dimensions may be expressions."""
        word = self.match(NAME, "a type")
        if self.line.startswith("[", self.at):
            end = self.line.index("]", self.at)
            inside = self.line[self.at + 1 : end]
            self.at = end + 1
            return Type("array", word, tuple(d.strip() for d in inside.split(",") if d))
        if word in KINDS:
            return Type(word)
        if word == "bool_":
            return Type("numpy", "bool")
        python = word in ("float", "int", "bool", "complex", "str", "NoneType")
        return Type("python" if python else "numpy", word)

    def where(self) -> Span | None:
        """Read the place at the end of a line."""
        if not self.take("#"):
            return None
        file, _, line = self.line[self.at :].strip().rpartition(":")
        self.at = len(self.line)
        return Span(file, int(line))


def read(text: str, objects: Mapping[str, Any] | None = None) -> Header:
    """Return the parts of the graph that a text stands for.

    objects : what is written ``<name>``, by name, where it is not NumPy's or Python's.

    Raises:
        ValueError: the text is not that of a graph; it shows the place.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    title = ""
    if lines and lines[0].startswith("#"):
        title = lines.pop(0)[1:].strip()
    if not lines:
        raise ValueError("the text of a graph expected, this is empty")
    return _Graph(lines, objects or {}).header(title)


class _Graph:
    """Reads the lines of a graph."""

    def __init__(self, lines: list[str], objects: Mapping[str, Any]) -> None:
        self.lines = lines
        self.at = 0
        self.values: dict[str, Value] = {}
        self.objects = objects

    def reader(self) -> _Reader:
        """Step to the next line."""
        if self.at == len(self.lines):
            raise ValueError(f"the text ends before `->`\n  {self.lines[-1]}")
        self.at += 1
        return _Reader(self.lines[self.at - 1], self.values, self.objects)

    def depth(self) -> int:
        """Return the indentation of the next line, -1 at the end."""
        if self.at == len(self.lines):
            return -1
        line = self.lines[self.at]
        return len(line) - len(line.lstrip())

    def header(self, title: str) -> Header:
        head = self.reader()
        head.need("graph ")
        name = head.match(NAME, "a name")
        head.need("(")
        params = tuple(head.many(lambda: _param(head), ")"))
        errstate: dict[str, str] = {}
        if head.take("under ("):
            errstate = dict(head.many(lambda: _setting(head), ")"))
        head.need(":")
        block = self.block((), 0)
        if self.at != len(self.lines):
            raise self.reader().fail("the end of the text")
        return name, params, block, title, errstate

    def block(self, params: tuple[Value, ...], depth: int) -> Block:
        """Read the lines of a block whose head stands at a depth."""
        nodes: list[Node] = []
        while True:
            line = self.reader()
            if line.take("->"):
                return Block(params, tuple(nodes), _results(line))
            nodes.append(self.node(line, depth + 2))

    def node(self, line: _Reader, depth: int) -> Node:
        left, sign = self.left(line)
        op = line.match(OP, "an operation")
        line.need("(")
        args: list[Arg] = []
        kwargs: dict[str, Arg] = {}
        for key, item in line.many(lambda: _argument(line), ")"):
            if key:
                kwargs[key] = item
            else:
                args.append(item)
        outs = tuple(_Reader(v, self.values, self.objects).value() for v in left)
        span = line.where()
        blocks = tuple(self.nested(depth))
        role: Literal["primal", "backward"] = "backward" if sign == "<-" else "primal"
        return Node(op, tuple(args), kwargs, outs, blocks, span, role)

    @staticmethod
    def left(line: _Reader) -> tuple[list[str], str]:
        """Return the texts of a node's outputs and the sign after them."""
        sign = SIGN.match(line.line)
        if sign is None:
            return [], "="
        line.at = sign.end()
        return OUT.findall(sign.group(1)), sign.group(2)

    def nested(self, depth: int) -> Iterator[Block]:
        """Read the blocks of a node, whose heads stand deeper than the node."""
        while self.depth() == depth + 2:
            head = self.reader()
            head.match(NAME, "`then`, `else`, `while` or `do`")
            params: tuple[Value, ...] = ()
            if head.take("("):
                params = tuple(head.many(head.value, ")"))
            head.need(":")
            yield self.block(params, depth + 2)


ONE_OUT = r"(?:%\d+|[^\W\d]\w*(?:\.\d+)?)(?:: \w+(?:\[[^\]]*\])?)?"
OUT = re.compile(ONE_OUT)
SIGN = re.compile(rf"\s*((?:{ONE_OUT}(?:, {ONE_OUT})*)? ?)(=|<-) ")
"""The outputs of a node and its sign."""


def _param(line: _Reader) -> Param:
    kind, own = "positional", ""
    for word in ("keyword", "captured"):
        if line.take(f"{word} "):
            kind = word
    before = line.at
    own = line.match(NAME, "a parameter")
    if not line.take("as "):
        line.at, own = before, ""
    value = line.value()
    return Param(own or value.name or "", value, kind)


def _results(line: _Reader) -> tuple[Arg, ...]:
    """Read what a block gives, to the end of the line."""
    found = []
    line.skip()
    while line.at < len(line.line):
        found.append(line.arg())
        if not line.take(","):
            break
    return tuple(found)


def _setting(line: _Reader) -> tuple[str, str]:
    key = line.match(NAME, "a setting")
    line.need("=")
    return key, line.match(NAME, "a word")


def _argument(line: _Reader) -> tuple[str, Arg]:
    """Read an argument of a node and its keyword, if it has one."""
    line.skip()
    key = KEYWORD.match(line.line, line.at)
    if key is not None:
        line.at = key.end()
    return (key.group(1) if key else ""), line.arg()


KEYWORD = re.compile(r"([^\W\d]\w*)=")
