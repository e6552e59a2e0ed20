"""The state of a lowering and what every part of it needs: nodes, cells and joins."""

from __future__ import annotations

import ast
from abc import ABC
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..errors import (
    InternalError,
    ShapeError,
    Span,
    UnsupportedSyntaxError,
)
from ..graph import UNDEFINED, Arg, Node, Param, Value, leaves, map_leaves
from ..infer import Sampler, Unsampled
from ..types import Type
from .abstract import (
    Array,
    DictRef,
    Function,
    Iterable,
    Known,
    ListRef,
    NeedStatic,
    Obj,
    Partial,
    Poison,
    Retry,
    RunList,
    Shape,
    Tup,
    View,
    is_number,
)

__all__ = ["Core", "Frame", "Raises", "Template", "Unassigned"]

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


@dataclass(frozen=True)
class Template:
    """How two abstract values that differ are carried as graph values.

    kind : ``"same"`` (nothing is carried), ``"leaf"``, ``"array"``, ``"tuple"``,
        ``"list"``, ``"dict"``, ``"poison"``, or of the content of a cell ``"items"``,
        ``"dictitems"`` or ``"runlist"``.
    """

    kind: str
    parts: tuple[Template, ...] = ()
    like: Any = None
    names: tuple[Any, ...] = ()
    cells: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """Return the number of graph values."""
        if self.kind in ("leaf", "array"):
            return 1
        if self.kind == "runlist":
            return max(1, _width(self.like))
        return sum(part.width for part in self.parts)


def _width(shape: Any) -> int:
    return sum(map(_width, shape)) if isinstance(shape, tuple) else 1


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


class Core(ABC):
    """Nodes, types, cells, joins; the parts of the language build on it."""

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

    # Reading and writing what mutates

    def wrap(self, value: Value) -> Any:
        """Give a fresh value a cell if it can be mutated."""
        kind = value.type.kind if value.type is not None else "unknown"
        if kind in ("array", "unknown"):
            cell = self.fresh()
            self.state["h", cell] = value
            return Array(cell)
        if kind == "list":
            cell = self.fresh()
            self.state["h", cell] = RunList((value,))
            return ListRef(cell)
        return value

    def content(self, cell: int) -> Any:
        """Return what a cell holds, or refuse to read a poisoned one."""
        found = self.state["h", cell]
        if isinstance(found, Poison):
            raise self.written_out(self.refuse(found.reason, found.hint or None))
        return found

    def written_out(self, problem: Exception) -> Exception:
        """Return the exception to raise: first try again with the loops written out."""
        if self.mode == "generic" or self.unroll_all or not self.loops_met:
            return problem
        return Retry("unroll", "", problem)

    def read(self, ref: Array | View) -> Value:
        """Return the current value of an array or a view."""
        if isinstance(ref, Array):
            return cast("Value", self.content(ref.cell))
        base = self.read(ref.base)
        if base is ref.of:
            return ref.made
        if ref.made.type is None and ref.op == "getitem" and _entry(ref.args[0]):
            # An entry of a vector is a number of its own; a row of a matrix changes.
            raise self.uncertain_view(ref.made)
        return self.emit(ref.op, base, *ref.args, **dict(ref.kwargs))

    def uncertain_view(self, value: Value) -> Exception:
        """Return the error for a view that may not be one."""
        return self.refuse(
            "whether this is a view of an array that was changed cannot be told",
            "take a copy first.",
        )

    def root(self, ref: Any) -> int | None:
        """Return the cell that a reference finally points into."""
        while isinstance(ref, View):
            ref = ref.base
        return ref.cell if isinstance(ref, Array | ListRef | DictRef) else None

    def write(self, ref: Array | View, value: Value) -> None:
        """Make `value` the content of an array, through its views if it is one."""
        if isinstance(ref, View):
            self.write(ref.base, self._written_back(ref, value))
            return
        if ref.cell in self.outside_cells:
            raise self.refuse(
                "an array outside the function is changed",
                "work on a copy: `x = X.copy()`.",
            )
        reason = self.state.get(("ro", ref.cell))
        if reason:
            raise self.written_out(self.refuse(reason[0], reason[1]))
        self._poison_aliases(ref.cell)
        self.state["h", ref.cell] = value

    def _written_back(self, ref: View, value: Value) -> Value:
        base = self.read(ref.base)
        if ref.op == "getitem":
            return self.emit("setitem", base, ref.args[0], value)
        kwargs = dict(ref.kwargs)
        if ref.op == "np.transpose" and not ref.args and not kwargs:
            return self.emit("np.transpose", value)
        if ref.op == "np.swapaxes":
            return self.emit("np.swapaxes", value, *ref.args, **kwargs)
        if ref.op in RESHAPING and kwargs.get("order", "C") == "C":
            return self.emit("np.reshape", value, self.emit("shape", base))
        if ref.op == "np.moveaxis" and not kwargs:
            return self.emit("np.moveaxis", value, ref.args[1], ref.args[0])
        if ref.op == "np.flip":
            return self.emit("np.flip", value, *ref.args, **kwargs)
        if ref.op == "np.diagonal" and not ref.args and not kwargs:
            places = self.emit("np.arange", self.emit("dim", value, 0))
            return self.emit("setitem", base, (places, places), value)
        raise self.refuse(
            f"assignment through a view made by `{spoken(ref.op)}` is not supported",
            "assign into the array itself, or into a copy.",
        )

    def _poison_aliases(self, cell: int) -> None:
        """Forbid later reads of names that may or may not share this cell's memory."""
        mine = self.state.get(("m", cell), frozenset())
        poison = Poison(
            "this array may share memory with another that was changed in place, "
            "depending on the path taken",
            "use `.copy()` where the two names are made.",
        )
        for key, value in list(self.state.items()):
            if key[0] == "m" and key[1] != cell and cell in value:
                self.state["h", key[1]] = poison
        for other in mine:
            if ("h", other) in self.state and other != cell:
                self.state["h", other] = poison

    def operand(self, item: Any) -> Arg:
        """Return an abstract value as an argument of a node."""
        if isinstance(item, Value):
            return item
        if isinstance(item, Known):
            return self.constant(item)
        if isinstance(item, Array | View):
            return self.read(item)
        if isinstance(item, Tup):
            return tuple(self.operand(i) for i in item.items)
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, RunList):
                if len(held.leaves) != 1 or held.shape is not None:
                    raise self.refuse(
                        "a list of tuples with a length known only at run time "
                        "cannot be used here",
                        "append to one list for each member.",
                    )
                return held.leaves[0]
            return [self.operand(i) for i in held]
        if isinstance(item, Shape):
            return item.value
        if isinstance(item, DictRef):
            held = self.content(item.cell)
            return {k: self.operand(v) for k, v in held.items()}
        if isinstance(item, Obj) and item.value is not None:
            return item.value
        if isinstance(item, Poison):
            raise self.refuse(item.reason, item.hint or None)
        if isinstance(item, slice):
            return slice(
                *(
                    None if p is None else self.operand(p)
                    for p in (item.start, item.stop, item.step)
                )
            )
        if isinstance(item, Iterable):
            return self.operand(self.listed(item))
        if isinstance(item, Function | Partial):
            raise self.refuse("a function cannot be an operand here")
        raise self.refuse(f"{type(item).__name__} cannot be an operand here")

    def listed(self, item: Iterable) -> Any:
        """Return an iterable as a list; the loops do it for run-time lengths."""
        raise self.refuse("this iterable cannot be an operand here")

    def constant(self, item: Known) -> Arg:
        """Return a known object as a constant that can be printed, or refuse it."""
        value = item.value
        if value is None or value is Ellipsis:
            return value
        self.complex_seen = self.complex_seen or type(value) is complex
        if isinstance(value, bool | int | float | complex | str) and type(value) in (
            bool,
            int,
            float,
            complex,
            str,
        ):
            return value
        if isinstance(value, np.dtype | slice | range):
            return value
        if isinstance(value, type) and (
            value in (float, int, bool, complex, object)
            or issubclass(value, np.generic)
        ):
            return value
        if isinstance(value, tuple | frozenset) and all(
            isinstance(v, int | float | str | bool | None) for v in value
        ):
            return tuple(value)
        raise self.refuse(
            f"{type(item.value).__name__} objects cannot be used in a differentiated "
            "function"
        )

    # Joining two states

    def describe(self, item: Any) -> str:
        """Say in a word what an abstract value is."""
        words = {
            Tup: "a tuple",
            ListRef: "a list",
            DictRef: "a dict",
            Function: "a function",
            Partial: "a function",
            Array: "an array",
            View: "an array",
            Value: "a number",
            Obj: "an object",
            Iterable: "an iterator",
        }
        if isinstance(item, Known):
            if item.value is None:
                return "None"
            kinds = (bool, int, float, complex)
            known = isinstance(item.value, kinds)
            return "a number" if known else f"a {type(item.value).__name__}"
        return words.get(type(item), type(item).__name__)

    def same(self, a: Any, b: Any) -> bool:
        """Say whether two abstract values are surely one."""
        if a is b:
            return True
        if type(a) is not type(b) or isinstance(a, Poison):
            return False
        if isinstance(a, tuple):
            return len(a) == len(b) and all(map(self.same, a, b))
        if isinstance(a, dict):
            return list(a) == list(b) and all(self.same(a[k], b[k]) for k in a)
        if isinstance(a, Tup):
            return self.same(a.items, b.items)
        if isinstance(a, RunList):
            return a.shape == b.shape and self.same(a.leaves, b.leaves)
        if isinstance(a, Known | Array | ListRef | DictRef):
            return bool(a == b)
        if isinstance(a, Obj):
            return bool(a.cell == b.cell)
        if isinstance(a, View):
            alike = a.op == b.op and a.made is b.made
            return bool(alike and self.same(a.base, b.base))
        return False

    def join(self, a: Any, b: Any) -> Template:
        """Return how two abstract values (or contents of cells) become one."""
        if self.same(a, b):
            return Template("same", like=a)
        for item, state in ((a, self.left), (b, self.right)):
            held = self.poison_of(item, state)
            if held is not None:
                return Template("poison", like=held)
        if a is UNDEFINED:
            return self.join_undefined(b)
        if b is UNDEFINED:
            return self.join_undefined(a)
        if is_number(a) and is_number(b):
            if isinstance(a, Array | View) or isinstance(b, Array | View):
                cells = frozenset(
                    c for c in (self.root(a), self.root(b)) if c is not None
                )
                more = [self.state.get(("m", c), frozenset()) for c in cells]
                return Template("array", cells=cells.union(*more))
            return Template("leaf")
        if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
            parts = tuple(map(self.join, a.items, b.items))
            return Template("tuple", parts, a.like, a.names)
        return self._join_containers(a, b)

    def _join_containers(self, a: Any, b: Any) -> Template:
        if isinstance(a, ListRef) and isinstance(b, ListRef):
            # Each side's content is read in its own state, when it is flattened.
            part = self.join(self.held_a(a), self.held_b(b))
            return Template("list", (part,))
        if isinstance(a, DictRef) and isinstance(b, DictRef):
            return Template("dict", (self.join(self.held_a(a), self.held_b(b)),))
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return Template("items", tuple(map(self.join, a, b)))
        if isinstance(a, tuple | RunList) and isinstance(b, tuple | RunList):
            return Template("runlist", like=self.run_shape(a, b))
        if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
            parts = tuple(self.join(a[k], b[k]) for k in a)
            return Template("dictitems", parts, names=tuple(a))
        return Template(
            "poison",
            like=Poison(
                f"a name is {self.describe(a)} on one path and {self.describe(b)} on "
                "another",
                "give it the same structure on both.",
            ),
        )

    def poison_of(self, item: Any, state: State) -> Poison | None:
        """Return the poison that a name holds or points at, if there is one."""
        if isinstance(item, Poison):
            return item
        cell = self.root(item)
        found = None if cell is None else state.get(("h", cell))
        return found if isinstance(found, Poison) else None

    left: State
    right: State

    def held_a(self, ref: Any) -> Any:
        """Return a container's content in the first of the states being joined."""
        return self.left.get(("h", ref.cell), UNDEFINED)

    def held_b(self, ref: Any) -> Any:
        """Return a container's content in the second of the states being joined."""
        return self.right.get(("h", ref.cell), UNDEFINED)

    def join_undefined(self, item: Any) -> Template:
        """Return the template of a name that has a value on one path only."""
        if isinstance(item, Tup):
            parts = tuple(map(self.join_undefined, item.items))
            return Template("tuple", parts, item.like, item.names)
        if isinstance(item, Array | View):
            cell = self.root(item)
            cells = frozenset() if cell is None else frozenset({cell})
            return Template("array", cells=cells)
        if is_number(item):
            return Template("leaf")
        if isinstance(item, ListRef):
            held = self.left.get(("h", item.cell), self.right.get(("h", item.cell)))
            if isinstance(held, RunList):
                return Template("list", (Template("runlist", like=held.shape),))
            if isinstance(held, tuple):
                parts = tuple(map(self.join_undefined, held))
                return Template("list", (Template("items", parts),))
        if isinstance(item, DictRef):
            held = self.left.get(("h", item.cell), self.right.get(("h", item.cell)))
            if isinstance(held, dict):
                parts = tuple(map(self.join_undefined, held.values()))
                return Template(
                    "dict", (Template("dictitems", parts, names=tuple(held)),)
                )
        if isinstance(item, Known | Function | Partial):
            return Template("same", like=item)
        return Template(
            "poison", like=Poison("a name has a value on one of the paths only")
        )

    def run_shape(self, a: Any, b: Any) -> Any:
        """Return the common structure of the items of two lists."""
        shapes: list[Any] = []
        for held in (a, b):
            if isinstance(held, RunList):
                shapes.append(held.shape)
            else:
                shapes.extend(self.item_shape(i) for i in held)
        if not shapes:
            return None
        # An empty run-time list has no structure of its own yet.
        first = max(shapes, key=_width)
        if any(s != first for s in shapes if s is not None or first is None):
            raise self.refuse(
                "the items of a list with a run-time length differ in structure",
                "append items of one kind: all numbers, or tuples of one length.",
            )
        return first

    def item_shape(self, item: Any) -> Any:
        """Return the structure of one item of a run-time list."""
        if isinstance(item, Tup):
            return tuple(map(self.item_shape, item.items))
        if isinstance(item, ListRef):
            held = self.state.get(("h", item.cell))
            if isinstance(held, RunList):
                return None
            if isinstance(held, tuple) and all(map(is_number, held)):
                if held:
                    return tuple(map(self.item_shape, held))
                return self._item_without_shape(item)
        if is_number(item):
            return None
        return self._item_without_shape(item)

    def _item_without_shape(self, item: Any) -> Any:
        """Ask for known items where an item cannot be kept in a run-time list."""
        if self.active_loops:
            # Written out iteration by iteration, the list's items are known.
            raise self.need_static(
                self.active_loops[-1], "the items of this list must be known"
            )
        raise self.refuse(
            f"{self.describe(item)} cannot be kept in a list whose length is known "
            "only at run time",
            "append numbers, arrays or tuples of them.",
        )

    def flatten(self, template: Template, item: Any) -> list[Arg]:
        """Return an abstract value as the graph values of a template."""
        if template.kind in ("same", "poison"):
            return []
        if item is UNDEFINED:
            if template.kind == "runlist":
                return [self.emit("list") for _ in range(template.width)]
            return [UNDEFINED] * template.width
        if template.kind in ("leaf", "array"):
            return [self.operand(item)]
        if template.kind == "tuple":
            items = item.items
        elif template.kind in ("list", "dict"):
            return self.flatten(template.parts[0], self.content(item.cell))
        elif template.kind == "items":
            items = item
        elif template.kind == "dictitems":
            items = tuple(item.values())
        elif template.kind == "runlist":
            return list(self.run_list(item, template.like).leaves)
        else:
            raise InternalError(f"cannot flatten {template.kind}")
        found: list[Arg] = []
        for part, one in zip(template.parts, items, strict=True):
            found += self.flatten(part, one)
        return found

    def instantiate(self, template: Template, values: Iterator[Value]) -> Any:
        """Rebuild an abstract value, or a cell's content, from graph values."""
        kind = template.kind
        if kind in ("same", "poison"):
            return template.like
        if kind == "leaf":
            value = next(values)
            return value
        if kind == "array":
            cell = self.fresh()
            self.state["h", cell] = next(values)
            if template.cells:
                self.state["m", cell] = template.cells
            return Array(cell)
        if kind == "tuple":
            items = tuple(self.instantiate(p, values) for p in template.parts)
            return Tup(items, template.like, template.names)
        if kind in ("list", "dict"):
            cell = self.fresh()
            self.state["h", cell] = self.instantiate(template.parts[0], values)
            return ListRef(cell) if kind == "list" else DictRef(cell)
        if kind == "items":
            return tuple(self.instantiate(p, values) for p in template.parts)
        if kind == "dictitems":
            return {
                k: self.instantiate(p, values)
                for k, p in zip(template.names, template.parts, strict=True)
            }
        if kind == "runlist":
            count = max(1, _width(template.like))
            return RunList(tuple(next(values) for _ in range(count)), template.like)
        raise InternalError(f"cannot rebuild {kind}")

    def run_list(self, held: Any, shape: Any) -> RunList:
        """Return a list's content as a run-time list of the given structure."""
        count = max(1, _width(shape))
        if isinstance(held, RunList):
            if held.shape == shape:
                return held
            # An empty list begun without structure.
            return RunList(tuple(self.emit("list") for _ in range(count)), shape)
        columns: list[list[Arg]] = [[] for _ in range(count)]
        for item in held:
            for column, leaf in zip(columns, self.item_leaves(item), strict=True):
                column.append(leaf)
        return RunList(tuple(self.emit("list", *c) for c in columns), shape)

    def item_leaves(self, item: Any) -> list[Arg]:
        """Return the graph values of one item of a run-time list."""
        if isinstance(item, Tup):
            return [leaf for i in item.items for leaf in self.item_leaves(i)]
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, tuple):
                self.state["ro", item.cell] = _IN_LIST
                return [leaf for i in held for leaf in self.item_leaves(i)]
        if isinstance(item, Array | View):
            cell = self.root(item)
            self.state["ro", cell] = _IN_LIST
        return [self.operand(item)]

    # Types where paths meet

    def join_types(self, a: Arg, b: Arg) -> Type | None:
        """Return a type that covers two arguments, or None."""
        first, second = self.type_of(a), self.type_of(b)
        if a is UNDEFINED:
            return second
        if b is UNDEFINED:
            return first
        if first is None or second is None:
            return None
        if first.kind == second.kind == "list":
            # Types of lists are compared by their items.
            return second if second.samples and second.samples[0] else first
        if first == second:
            return first
        if first.is_scalar and second.is_scalar:
            return self._join_scalars(first, second)
        if first.kind == second.kind == "array" and first.rank == second.rank:
            return self._join_arrays(first, second)
        return None

    def _join_scalars(self, first: Type, second: Type) -> Type | None:
        with_samples = tuple(
            np.add(p, q) for p, q in zip(first.samples, second.samples, strict=True)
        )
        if first.is_integral and second.is_integral:
            return second if first.kind == "python" else first
        joined = self.sampler.type_of(with_samples)
        return (
            joined
            if joined is None or "numpy" in (first.kind, second.kind)
            else (
                Type("python", "float", (), tuple(map(float, with_samples)))
                if joined.dtype == "float64"
                else joined
            )
        )

    def _join_arrays(self, first: Type, second: Type) -> Type | None:
        shapes: list[tuple[int, int]] = []
        for k in range(first.rank):
            sizes = [
                (t.samples[0].shape[k], t.samples[1].shape[k]) for t in (first, second)
            ]
            same = sizes[0] == sizes[1]
            shapes.append(sizes[0] if same else self.sampler.fresh_pair())
        dtype = np.result_type(first.dtype, second.dtype)
        made = tuple(
            np.full(tuple(s[which] for s in shapes), 0.5).astype(dtype)
            for which in (0, 1)
        )
        return self.sampler.type_of(made)

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


_IN_LIST = (
    "an array that is an item of a list with a run-time length is changed in place",
    "append a copy (`items.append(x.copy())`), or write `x = x + ...`.",
)


def _entry(index: Arg) -> bool:
    """Say whether an index may name one entry: it has no slice, None or Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(p is None or p is Ellipsis or isinstance(p, slice) for p in parts)


RESHAPING = frozenset(
    {
        "np.reshape",
        "np.ravel",
        "np.squeeze",
        "np.expand_dims",
        "np.atleast_1d",
        "np.atleast_2d",
        "np.atleast_3d",
    }
)
"""Views with the same entries in the same order."""


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
