"""Parameters: from actual arguments (or none) to abstract values and types."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import sys
import types
from typing import Any

import numpy as np

from ..assumptions import Assumptions, sampled
from ..errors import NotDifferentiableError, Span, UnsupportedSyntaxError
from ..graph import Block, Graph, Node, Param, Tree, Value
from ..infer import SAMPLES
from ..noise import Noise, is_random
from ..signature import layout, measure
from ..sizes import Sizes
from ..types import Type
from .abstract import Array, DictRef, Known, ListRef, Obj, RunList, Tup
from .core import Frame
from .functions import generates
from .loops import Loops
from .names import Boxed, Path, is_callable_kind

__all__ = ["Lowerer", "Tree", "is_plain_list"]

DIMENSION_NAMES = "n d h k m p q r s u v a b c e f g".split()
"""Names of the symbolic dimensions, in the order in which they appear."""

PLAIN_LIST = 16
"""Lists of more numbers than this stay lists at run time instead of being unrolled."""


def is_plain_list(thing: Any) -> bool:
    """Say whether a list argument is kept as a run-time list of numbers."""
    return (
        type(thing) is list
        and len(thing) > PLAIN_LIST
        and all(isinstance(t, float | int) for t in thing)
    )


def _is_masked(actual: Any) -> bool:
    """Say whether an object is a masked array: of a module that may not be loaded."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(actual, masked.MaskedArray)


class Lowerer(Loops):
    """Lower one function for given arguments, or for none."""

    def __init__(self, assumed: Assumptions | None = None) -> None:
        super().__init__(assumed or Assumptions())
        self.static = self.assumed.static
        self.parameters: set[Value] = set()
        self.capture_paths: list[Path] = []
        self.sizes: dict[int, str] = {}
        self.integers: dict[int, str] = {}
        self.random = Noise(7)
        self.trees: dict[str, Tree] = {}
        self.wrt: tuple[str, ...] = ()
        self.looped: set[Value] = set()
        self.prefix: list[Any] = []

    # Types of arguments

    def argument_type(self, thing: Any) -> Type | None:
        if self.mode == "generic":
            return None
        if self.mode == "exact":
            return self.sampler.type_of((thing,) * SAMPLES)
        return self.sampler.type_of(
            tuple(self.sample(thing, which) for which in range(SAMPLES))
        )

    def measured(self, arguments: dict[str, Any]) -> None:
        """Name the lengths and integers of the arguments and give them samples."""
        if self.mode != "symbolic":
            return
        lengths, integers = measure(tuple(arguments.values()))
        for length in lengths:
            self.sizes[length] = self.dimension_name()
        titles = {v: k for k, v in reversed(arguments.items()) if type(v) is int}
        for number in integers:
            name = titles.get(number, f"int{number}")
            while name in DIMENSION_NAMES:
                name += "_"
            self.integers[number] = name
        names = {name: length for length, name in self.sizes.items()}
        names |= {name: number for number, name in self.integers.items()}
        sampled(self.assumed, self.sampler, names, self.integers.values())

    def dimension_name(self) -> str:
        number = len(self.sizes)
        if number < len(DIMENSION_NAMES):
            return DIMENSION_NAMES[number]
        return f"n{number}"

    def size(self, length: int) -> Sizes:
        """Return the sampled sizes of a dimension: equal ones for equal lengths."""
        if length < 2:
            return (length,) * SAMPLES
        if length not in self.sizes:
            self.sizes[length] = name = self.dimension_name()
            sampled(self.assumed, self.sampler, {name: length})
        return self.sampler.sizes[self.sizes[length]]

    def is_pinned(self, number: int) -> bool:
        """Say whether an integer argument is taken to be the number that it is."""
        name = self.sizes.get(number, self.integers.get(number))
        return name is not None and name in dict(self.assumed.pinned)

    def sample(self, thing: Any, which: int) -> Any:
        """Return a stand-in for an argument."""
        if isinstance(thing, bool | str | None):
            return thing
        if isinstance(thing, np.ndarray):
            return self.sample_array(thing, which)
        if isinstance(thing, np.bool_):
            return np.bool_(which == 1)
        if isinstance(thing, int | np.integer):
            number = int(thing)
            name = self.sizes.get(number, self.integers.get(number))
            if name is None or number < 2:
                return thing
            return type(thing)(self.sampler.sizes[name][which])
        if isinstance(thing, float | np.floating):
            return type(thing)((0.61, 0.73, 0.67)[which])
        if isinstance(thing, complex | np.complexfloating):
            return type(thing)((0.6 + 0.2j, 0.7 + 0.1j, 0.65 + 0.3j)[which])
        if is_plain_list(thing):
            return [0.5]
        return thing

    def sample_array(self, thing: np.ndarray, which: int) -> Any:
        """Return an array of sampled sizes and harmless entries, laid out alike."""
        made = self.sample_entries(thing, which)
        how = layout(thing)
        if how == "F":
            return np.asfortranarray(made)
        if how == "strided" and made.ndim:
            wide = np.repeat(made, 2, axis=-1)
            return wide[..., ::2]
        return made

    def sample_entries(self, thing: np.ndarray, which: int) -> Any:
        """Return a contiguous array of sampled sizes with harmless entries."""
        shape = tuple(self.size(n)[which] for n in thing.shape)
        kind = thing.dtype.kind
        if kind == "f":
            return self.random.uniform(0.3, 0.9, shape).astype(thing.dtype)
        if kind == "c":
            parts = self.random.uniform(0.3, 0.9, (2, *shape))
            return (parts[0] + 1j * parts[1]).astype(thing.dtype)
        if kind == "b":
            return self.random.uniform(0, 1, shape) > 0.5
        return np.zeros(shape, thing.dtype)

    # Arguments as abstract values

    def lift(self, value: Value, actual: Any, depth: int = 0) -> tuple[Any, Tree]:
        """Return an argument as an abstract value, and its structure."""
        if self.mode == "generic" and actual is dataclasses.MISSING:
            self.parameters.add(value)
            return self.wrap(value), Tree("leaf", value)
        if isinstance(actual, np.matrix) or _is_masked(actual):
            raise NotDifferentiableError(
                f"`{value.name}` is a {type(actual).__name__}, whose operators are not "
                "an array's",
                None,
                "pass `np.asarray(...)` of it.",
            )
        if isinstance(actual, bool | str | bytes | type | None):
            return Known(actual), Tree("static", value)
        if isinstance(actual, int | float | complex | np.generic | np.ndarray):
            inside = self.mode == "exact" and depth > 0
            if isinstance(actual, int | np.integer) and (
                inside or value.name in self.static or self.is_pinned(int(actual))
            ):
                return Known(int(actual)), Tree("static", value)
            if value not in self.defs:
                self.parameters.add(value)
                if isinstance(actual, int | np.integer):
                    self.roots[value] = value.name or ""
            item = self.wrap(value)
            if isinstance(item, Array):
                self.argument_cells.add(item.cell)
            return item, Tree("leaf", value)
        if is_plain_list(actual):
            cell = self.fresh()
            self.state["h", cell] = RunList((value,))
            return ListRef(cell), Tree("leaf", value)
        if depth > 8:
            return Known(actual), Tree("static", value)
        return self.lift_container(value, actual, depth)

    def part(self, value: Value, op: str, key: Any, name: str, actual: Any) -> Value:
        """Read a part of a container argument."""
        known = (
            self.argument_type(actual)
            if isinstance(actual, int | float | complex | np.generic | np.ndarray)
            or is_plain_list(actual)
            else None
        )
        found = Value(name, known)
        self.append(Node(op, (value, key), {}, (found,), (), None))
        if isinstance(actual, int | np.integer) and not isinstance(actual, bool):
            self.roots[found] = "shape"
        return found

    def lift_container(self, value: Value, actual: Any, depth: int) -> tuple[Any, Tree]:
        """Return a container or object argument."""
        base = value.name or "part"
        if isinstance(actual, tuple | list):
            fields = getattr(actual, "_fields", None)
            items, trees = [], []
            for k, one in enumerate(actual):
                name = fields[k] if fields else f"{base}_{k}"
                piece = (
                    self.part(value, "attr", name, name, one)
                    if fields
                    else self.part(value, "getitem", k, name, one)
                )
                item, tree = self.lift(piece, one, depth + 1)
                items.append(item)
                trees.append(tree)
            if fields:
                made = Tree("struct", value, tuple(trees), tuple(fields))
                return Tup(tuple(items), type(actual), tuple(fields)), made
            if isinstance(actual, tuple):
                return Tup(tuple(items)), Tree("tuple", value, tuple(trees))
            return self.new_list(items), Tree("list", value, tuple(trees))
        if isinstance(actual, dict):
            held: dict[Any, Any] = {}
            trees = []
            for key, one in actual.items():
                text = str(key)
                name = text if text.isidentifier() else f"{base}_{text}"
                name = name if name.isidentifier() else f"{base}_{len(held)}"
                piece = self.part(value, "getitem", key, name, one)
                held[key], tree = self.lift(piece, one, depth + 1)
                trees.append(tree)
            keys = tuple(actual)
            ref = self.new_dict(held)
            factory = getattr(actual, "default_factory", None)
            if factory is not None:
                self.state["f", ref.cell] = Known(factory)
            return ref, Tree("dict", value, tuple(trees), keys)
        return self.lift_object(value, actual, depth)

    def lift_object(self, value: Value, actual: Any, depth: int) -> tuple[Any, Tree]:
        """Return an object of the user's, or something callable."""
        if is_callable_kind(actual):
            return Known(actual), Tree("static", value)
        if isinstance(actual, enum.Enum | set | frozenset | range):
            return Known(actual), Tree("static", value)
        cell = self.fresh()
        held: dict[str, Any] = {"__class__": type(actual)}
        trees, names = [], []
        attributes = getattr(actual, "__dict__", None)
        if attributes is None:
            slots = getattr(type(actual), "__slots__", ())
            attributes = {s: getattr(actual, s) for s in slots if hasattr(actual, s)}
        if not is_random(actual):
            for name, one in attributes.items():
                piece = self.part(value, "attr", name, name, one)
                held[name], tree = self.lift(piece, one, depth + 1)
                trees.append(tree)
                names.append(name)
        self.state["h", cell] = held
        made = _makes(type(actual), names)
        tree = Tree("struct", value, tuple(trees), tuple(names), made)
        return Obj(value, actual, cell), tree

    # The whole function

    def lower(self, function: Any, arguments: dict[str, Any], name: str) -> Graph:
        """Lower a live function; `arguments` are its bound arguments by name.

        In generic mode an argument is `dataclasses.MISSING` unless its default is a
        function.
        """
        self.prefix = []
        self.measured(arguments)
        inner = function
        if isinstance(function, functools.partial):
            # Its keywords are parameters with defaults; its first arguments are fixed.
            inner = function.func
            self.prefix = [
                self.capture(a, Path("object", Boxed(a), f"argument{k}"))
                for k, a in enumerate(function.args)
            ]
        lowered = self.live_function(inner)
        params: list[Param] = []
        given: dict[str, Any] = {}
        owner: Path | None = None
        if isinstance(function, types.MethodType):
            owner = Path("object", Boxed(function.__self__), "self")
            bound = Known(function.__self__, owner)
            lowered = dataclasses.replace(lowered, bound=bound)
        self.taken |= set(arguments)
        for title, actual in arguments.items():
            typed = is_plain_list(actual) or (
                isinstance(actual, int | float | complex | np.generic | np.ndarray)
                and not isinstance(actual, bool)
            )
            value = Value(title, self.argument_type(actual) if typed else None)
            given[title], self.trees[title] = self.lift(value, actual)
            params.append(Param(title, value))
            if (
                owner is not None
                and title not in inspect.signature(function).parameters
            ):
                # An attribute of the object that the gradient is taken by.
                self.captures[owner.step("attr", title)] = given[title]
        result = self.enter(lowered, given)
        flat = self.result_arg(result)
        block = Block((), tuple(self.nodes), (flat,))
        span = lowered.source.span(lowered.node)
        return Graph(
            name,
            (*params, *self.captured),
            block,
            span,
            errstate=dict(self.errstate),
        )

    def enter(self, function: Any, given: dict[str, Any]) -> Any:
        """Lower the function's body with its parameters bound."""
        a = function.node.args
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        if function.bound is not None:
            names = names[1:]
        names = names[len(self.prefix) :]
        if any(n not in given for n in names) or (
            a.vararg is not None and a.vararg.arg not in given
        ):
            # A decorator's wrapper: it takes what the decorated function takes.
            return self.entered(function, [*self.prefix, *given.values()], {})
        args = [*self.prefix, *(given[n] for n in names)]
        if a.vararg is not None:
            args += self.known_items(given[a.vararg.arg])
        kwargs = {p.arg: given[p.arg] for p in a.kwonlyargs}
        if a.kwarg is not None:
            kwargs.update(self.content(given[a.kwarg.arg].cell))
        return self.entered(function, args, kwargs)

    def entered(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Lower a call of the function from outside."""
        generator = generates(function.node)
        if generator is not None:
            raise UnsupportedSyntaxError(
                f"`{function.name}` is a generator: it returns no number",
                function.source.span(generator),
                "sum what it yields in another function.",
            )
        frame = Frame(0, function.source, function.live, None, frozenset())
        self.frames[0] = frame
        self.stack.append(frame)
        with self.at(function.node):
            result = self.inline(function, args, kwargs)
        self.here = function.node
        return result

    def result_arg(self, result: Any) -> Any:
        """Return what the function returns as a node's argument."""
        if isinstance(result, Known | Value) or not isinstance(
            result, Tup | ListRef | DictRef
        ):
            return self.operand(result)
        if isinstance(result, Tup):
            return tuple(self.result_arg(i) for i in result.items)
        if isinstance(result, DictRef):
            held = self.content(result.cell)
            return {k: self.result_arg(v) for k, v in held.items()}
        held = self.content(result.cell)
        if isinstance(held, tuple):
            return [self.result_arg(i) for i in held]
        return self.operand(result)

    # Rule texts

    def rule_text(
        self,
        text: Any,
        names: dict[str, Any],
        namespace: dict[str, Any],
        span: Span | None,
    ) -> Any:
        """Lower a rule's text (an expression) or function with its names bound."""
        frame = Frame(self.fresh(), None, namespace, None, frozenset(names))
        self.frames[frame.number] = frame
        for key, item in names.items():
            self.state["n", frame.number, key] = item
        before, self.fixed_span = self.fixed_span, span or Span("symback", 0)
        self.stack.append(frame)
        try:
            if isinstance(text, ast.expr):
                return self.value(text)
            function = self.live_function(text)
            a = function.node.args
            wanted = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
            given = {k: v for k, v in names.items() if k in wanted}
            return self.inline(function, [], given)
        finally:
            self.stack.pop()
            self.fixed_span = before
            for key in names:
                self.state.pop(("n", frame.number, key), None)


def _makes(kind: type, names: list[str]) -> bool:
    """Say whether a class makes an object of its fields and checks nothing."""
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is None or hasattr(kind, "__post_init__"):
        return False
    init = vars(kind).get("__init__")
    # A constructor that `dataclasses` generated has no file.
    generated = getattr(getattr(init, "__code__", None), "co_filename", "")
    return generated == "<string>" and names == [
        name for name, field in fields.items() if field.init
    ]
