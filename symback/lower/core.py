"""The state of a lowering and what every part of it needs: places, nodes and types."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..errors import ShapeError, Span, UnsupportedSyntaxError
from ..graph import UNDEFINED, Arg, Node, Param, Value, leaves, map_leaves
from ..infer import Sampler, Unsampled
from ..types import Type
from .abstract import NeedStatic, Retry

__all__ = ["Core", "Frame", "Raises", "State", "Unassigned", "spoken"]

DATA_INTEGERS = frozenset(
    {
        "builtins.int",
        "builtins.round",
        "np.argmax",
        "np.argmin",
        "np.count_nonzero",
        "np.searchsorted",
        "np.sum",
        "np.max",
        "np.min",
        "getitem",
        "math.floor",
        "math.ceil",
        "math.trunc",
    }
)
"""Operations whose integer result may depend on data, not only on shapes."""

COMPLEX = frozenset({"np.conj", "np.real", "np.imag", "builtins.complex", "np.angle"})
"""Operations that show that complex numbers may be about."""

MAX_TRIED = 8
"""Iterations of loops that are written out to learn what their lists hold."""

LISTS = frozenset(
    {
        "list",
        "list_append",
        "list_reverse",
        "list_zeros",
        "builtins.list",
        "tolist",
        "runtime.split_like",
        "runtime.list_add",
        "runtime.add_lists",
    }
)
"""Operations whose result is a run-time list whatever is known of the items."""

COUNTED = frozenset({"np.nonzero", "np.flatnonzero", "np.argwhere", "np.unique"})
"""Operations whose result has a length that depends on data."""


@dataclass
class Frame:
    """One activation of a function that is being lowered."""

    number: int
    source: Any
    live: Any
    parent: int | None
    locals: frozenset[str]
    outer: frozenset[str] = frozenset()
    exits: list[tuple[Any, ...]] = field(default_factory=list)
    closures: bool = False
    definition: Any = None


class Raises(Exception):
    """What is being lowered raises `kind` whenever it runs; `problem` says so."""

    def __init__(self, kind: type, problem: Exception) -> None:
        super().__init__(kind)
        self.kind = kind
        self.problem = problem


class Unassigned(Exception):
    """A local name is read where no path has assigned it yet."""

    def __init__(self, frame: int, name: str, problem: Exception) -> None:
        super().__init__(name)
        self.frame = frame
        self.name = name
        self.problem = problem


State = dict[tuple[Any, ...], Any]
"""What is known on the path being lowered.  The keys:

("n", frame, name) : what a name stands for;
("x", frame, exit) : whether the path has left by `return`, `break` or `continue`, and
    with what;
("h", cell) : what a cell holds;
("m", cell) : the cells with which it may share memory;
("ro", cell) : why it must not be written to, and what to do instead;
("f", cell) : what makes the missing items of a dict;
("t", 0) : the result of a branch that is being lowered.
"""


class Core:
    """Places, nodes and their types; the parts of the language build on it.

    mode : ``"generic"`` (nothing is known of parameters), ``"symbolic"`` (dimensions
        are symbols) or ``"exact"`` (they are numbers).
    nodes, state : the block being built, and what is known on the path.
    defs : the node of each value.  indices : loops' indices, and whether the range is
        known.  roots : integers and the parameters that they are.
    frames, stack : activations of functions by number, and those being lowered.
    conditional : how many branches and loops are around.
    here, fixed_span : the place being lowered; in a rule, that of the user's node.
    captures, captured : objects from outside by path, and those read at each call.
    outside_cells : cells of containers from outside.
    argument_cells, argument_changed : cells of arrays from arguments, and where the
        first of them is written.
    active_loops, loops_met, longest_loop : indices of the loops around; how many loops
        there were, and how many iterations the longest has.
    unroll_all : write out each loop of a known range.
    complex_seen : complex numbers may be about, though no type shows them.
    misfit : the first operation whose operands do not fit on the samples.
    """

    def __init__(self, mode: str, sampler: Sampler | None = None) -> None:
        self.mode = mode
        self.sampler = sampler or Sampler()
        self.nodes: list[Node] = []
        self.state: State = {}
        self.defs: dict[Value, Node] = {}
        self.indices: dict[Value, Any] = {}
        self.roots: dict[Value, str] = {}
        self.frames: dict[int, Frame] = {}
        self.stack: list[Frame] = []
        self.counter = 0
        self.conditional = 0
        self.here: ast.AST | None = None
        self.fixed_span: Span | None = None
        self.captures: dict[Any, Any] = {}
        self.captured: list[Param] = []
        self.errstate: dict[str, str] = {}
        self.active_loops: list[Value] = []
        self.complex_seen = False
        self.unroll_all = False
        self.outside_cells: set[int] = set()
        self.argument_cells: set[int] = set()
        self.argument_changed: Span | None = None
        self.misfit: ShapeError | None = None
        self.loops_met = 0
        self.longest_loop = 0

    # Places

    @property
    def frame(self) -> Frame:
        """Return the innermost frame."""
        return self.stack[-1]

    def span(self, node: ast.AST | None = None) -> Span | None:
        """Return the place of a syntax node, by default the one being lowered."""
        if self.fixed_span is not None:
            return self.fixed_span
        node = node or self.here
        if node is None or not self.stack:
            return None
        return cast("Span", self.frame.source.span(node))

    def refuse(
        self, message: str, hint: str | None = None, node: ast.AST | None = None
    ) -> UnsupportedSyntaxError:
        """Return the error that says what is not supported, with its place."""
        return UnsupportedSyntaxError(message, self.span(node), hint)

    def fresh(self) -> int:
        """Return a new number for a cell or a frame."""
        self.counter += 1
        return self.counter

    # Nodes

    def emit(
        self,
        op: str,
        *args: Arg,
        name: str | None = None,
        **kwargs: Arg,
    ) -> Value:
        """Append a node with one output and return the output, typed if possible."""
        if op in COMPLEX or op.startswith("np.fft."):
            self.complex_seen = True
        value = Value(name, self.type_node(op, args, kwargs))
        self.append(Node(op, args, kwargs, (value,), (), self.span()))
        return value

    def emit_many(self, op: str, count: int, *args: Arg, **kwargs: Arg) -> list[Value]:
        """Append a node with several outputs and return them."""
        types: list[Type | None] = [None] * count
        pair = None if op == "unpack" else self.samples(op, args, kwargs)
        if op == "unpack" and isinstance(args[0], Value) and args[0].type is not None:
            if args[0].type.samples and self.mode != "generic":
                parts = tuple(s[0] for s in args[0].type.samples)
                types = [self.sampler.type_of(parts)] * count
        if pair is not None:
            first, last = (tuple(p) for p in pair)
            if len(first) == len(last) == count:
                types = [self.sampler.type_of(p) for p in zip(first, last, strict=True)]
        if op == "list_pop" and types[0] is None:
            types[0] = Type("list")
        outs = tuple(Value(None, t) for t in types)
        self.append(Node(op, args, kwargs, outs, (), self.span()))
        return list(outs)

    def effect(self, op: str, *args: Arg, **kwargs: Arg) -> None:
        """Append a node without outputs."""
        self.append(Node(op, args, kwargs, (), (), self.span()))

    def append(self, node: Node) -> None:
        """Append a node to the block being built."""
        self.nodes.append(node)
        for out in node.outs:
            self.defs[out] = node

    def samples(
        self, op: str, args: tuple[Arg, ...], kwargs: dict[str, Arg]
    ) -> tuple[Any, Any] | None:
        """Run an operation on its samples; None where that tells nothing."""
        if self.mode == "generic":
            return None
        try:
            pair: tuple[Any, Any] = self.sampler.infer(
                op, self._masked(op, args), kwargs
            )
            return pair
        except Unsampled:
            return None
        except Exception as problem:
            self.sampling_failed(op, args, problem)
            return None

    def type_node(
        self, op: str, args: tuple[Arg, ...], kwargs: dict[str, Arg]
    ) -> Type | None:
        """Return the type of a node's only output."""
        if op == "stop_gradient" and isinstance(args[0], Value):
            return args[0].type
        pair = self.samples(op, args, kwargs)
        if pair is None:
            if op in ("setitem", "index_add") and isinstance(args[0], Value):
                return args[0].type
            if op in LISTS or (op == "mul" and isinstance(args[0], list)):
                return Type("list")
            if op == "getitem" and isinstance(args[1], slice):
                known = args[0].type if isinstance(args[0], Value) else None
                return known if known is not None and known.kind == "list" else None
            return None
        if op in COUNTED and len(args) == 1 and not kwargs:
            pair = self._counted(op, args, pair)
        found = self.sampler.type_of(pair)
        if found is None or found.rank or not found.is_integral:
            return found
        if op in DATA_INTEGERS and found.kind in ("python", "numpy"):
            if found.dtype.startswith("bool") or not self._from_data(args):
                return found
            small = self.sampler.integer().samples
            kind = type(found.samples[0])
            return Type(found.kind, found.dtype, (), tuple(kind(s) for s in small))
        return found

    def _from_data(self, args: tuple[Arg, ...]) -> bool:
        """Say whether an operand is an array or a float: data, not a shape."""
        types = [a.type for a in leaves(args) if isinstance(a, Value)]
        return any(t is None or t.kind == "array" or not t.is_integral for t in types)

    def _counted(self, op: str, args: tuple[Arg, ...], pair: Any) -> Any:
        """Give a result whose length depends on data a length of its own."""
        sizes = self.sampler.fresh_pair((op, args[0]))

        def resized(sample: Any, size: int) -> Any:
            if isinstance(sample, tuple):
                return tuple(resized(s, size) for s in sample)
            return np.zeros((size, *sample.shape[1:]), sample.dtype)

        return tuple(resized(p, s) for p, s in zip(pair, sizes, strict=True))

    def _masked(self, op: str, args: tuple[Arg, ...]) -> tuple[Arg, ...]:
        """Give boolean masks that index a count of true entries of their own."""
        if not op.startswith("list"):
            args = map_leaves(self._lengthened, args)
        elif op in ("list", "list_append"):
            lead = 0 if op == "list" else 1
            args = args[:lead] + tuple(map(self._lengthened, args[lead:]))
        if op not in ("getitem", "setitem", "index_add"):
            return args
        index = args[1]
        masks = [
            (leaf, leaf.type)
            for leaf in leaves(index)
            if isinstance(leaf, Value)
            and leaf.type is not None
            and leaf.type.is_array
            and leaf.type.dtype == "bool"
        ]
        if not masks:
            return args
        changed: dict[Value, Value] = {}
        for mask, known in masks:
            counts = self.sampler.fresh_pair(self._mask_key(mask))
            made = []
            for sample, count in zip(known.samples, counts, strict=True):
                flat = np.zeros(sample.size, bool)
                flat[: 1 + count % max(1, sample.size - 1)] = True
                made.append(flat.reshape(sample.shape))
            changed[mask] = Value(None, Type("array", "bool", known.dims, tuple(made)))
        new = map_leaves(
            lambda a: changed.get(a, a) if isinstance(a, Value) else a, index
        )
        return (args[0], new, *args[2:])

    def _lengthened(self, leaf: Any) -> Any:
        """Give the sample of a run-time list a length of its own."""
        if not isinstance(leaf, Value) or leaf.type is None or leaf.type.kind != "list":
            return leaf
        if not leaf.type.samples or not leaf.type.samples[0]:
            # The items of a list that is still empty are not known.
            return Value(leaf.name, Type("list"))
        sizes = self.sampler.fresh_pair(("length", leaf))
        made = tuple(
            [sample[-1]] * size if sample else sample
            for sample, size in zip(leaf.type.samples, sizes, strict=True)
        )
        return Value(leaf.name, Type("list", "", (), made))

    def _mask_key(self, mask: Value) -> Any:
        """Return a key that two computations of the same mask share."""
        node = self.defs.get(mask)
        if node is None or node.op in ("for", "while", "if"):
            return mask
        parts = tuple(
            self._mask_key(a) if isinstance(a, Value) else repr(a)
            for a in leaves(node.args)
        )
        return (node.op, parts)

    def sampling_failed(self, op: str, args: tuple[Arg, ...], why: Exception) -> None:
        """Decide what it means that an operation failed on its samples."""
        if self.mode == "symbolic":
            raise Retry("exact", op, why)
        if self.conditional:
            return
        short = self.loops_met and self.longest_loop <= MAX_TRIED
        if short and not self.unroll_all and self.mode == "exact":
            # Written out, its lists have lengths.
            raise Retry("unroll")
        text = str(why)
        words = ("shape", "broadcast", "dimension", "mismatch", "size", "axis")
        if isinstance(why, ValueError) and any(w in text for w in words):
            # An error only if the user's function fails as well: see `misfit`.
            message = self._misfit(op, args, text)
            self.misfit = self.misfit or ShapeError(message, self.span(), _fit_hint(op))

    def _misfit(self, op: str, args: tuple[Arg, ...], text: str) -> str:
        parts = []
        for leaf in leaves(args):
            if isinstance(leaf, Value) and leaf.type is not None and leaf.type.samples:
                shape = np.shape(leaf.type.samples[0])
                parts.append(f"{leaf.name or 'an operand'} has shape {shape}")
        return f"operands of `{spoken(op)}` do not fit: {', '.join(parts) or text}"

    def type_of(self, arg: Arg) -> Type | None:
        """Return the type of a node's argument."""
        if isinstance(arg, Value):
            return arg.type
        if self.mode == "generic" or arg is UNDEFINED:
            return None
        return self.sampler.type_of((arg, arg))

    # Knowing and not knowing

    def need_static(self, value: Any, why: str) -> NeedStatic:
        """Return the exception that asks for a value to be known while lowering."""
        return NeedStatic(value, why, self.span())

    def origin(self, value: Any) -> tuple[Value | None, str | None]:
        """Return the loop index, or the parameter, that an integer value comes from."""
        todo, seen = [value], set()
        param = None
        while todo:
            item = todo.pop()
            if not isinstance(item, Value) or item in seen:
                continue
            seen.add(item)
            if item in self.indices:
                return item, None
            if item in self.roots:
                param = self.roots[item]
            node = self.defs.get(item)
            if node is not None:
                if node.op in ("dim", "builtins.len", "shape"):
                    param = "shape"
                todo += node.inputs
        return None, param

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Lower something at a place."""
        before, self.here = self.here, node
        try:
            yield
        finally:
            self.here = before

    def nested(self, thunk: Callable[[], Any]) -> tuple[list[Node], State, Any]:
        """Lower a part into a block of its own; the state stays as it leaves it."""
        outside, self.nodes = self.nodes, []
        try:
            result = thunk()
            return self.nodes, self.state, result
        finally:
            self.nodes = outside


def spoken(op: str) -> str:
    """Return an operation as the user would write it."""
    signs = {
        "add": "+",
        "sub": "-",
        "mul": "*",
        "truediv": "/",
        "pow": "**",
        "matmul": "@",
        "getitem": "[]",
        "setitem": "[] =",
        "floordiv": "//",
        "mod": "%",
    }
    return signs.get(op, op.removeprefix("builtins."))


def _fit_hint(op: str) -> str:
    if op == "matmul" or op.endswith("dot"):
        return (
            "the last axis of the first must be as long as the second's last but one."
        )
    return "make the shapes equal, or 1 where they should be stretched."
