"""The state of a lowering and what every part of it needs: places, nodes and types."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ..assumptions import Assumptions, Refine, names_in, pinning, sizes_of
from ..errors import ShapeError, Span, SymbackError, UnsupportedSyntaxError
from ..graph import Arg, Builder, Node, Param, Value, leaves
from ..infer import Sampler, interrupts
from ..inference import SampledTypes
from ..types import Type
from .abstract import NeedStatic, Written

__all__ = ["Core", "Frame", "Raises", "State", "Unassigned", "spoken"]

COMPLEX = frozenset({"np.conj", "np.real", "np.imag", "builtins.complex", "np.angle"})
"""Operations that show that complex numbers may be about."""


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
    consumer: Any = None
    globals: frozenset[str] = frozenset()


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
("d", 0) : whether the path has ended in `raise`;
("t", 0) : the result of a branch that is being lowered.
"""


class Core:
    """Places, nodes and their types; the parts of the language build on it.

    mode : ``"generic"`` (nothing is known of parameters), ``"symbolic"`` (dimensions
        are symbols) or ``"exact"`` (they are numbers).
    build, types : what appends nodes, and what types them.
    state : what is known on the path.
    defs : the node of each value.  indices : loops' indices, and whether the range is
        known.  roots : integers and the parameters that they are.
    frames, stack : activations of functions by number, and those being lowered.
    conditional : how many branches and loops are around.
    here, fixed_span : the place being lowered; in a rule, that of the user's node.
    captures, captured : objects from outside by path, and those read at each call.
    counter, outside_counter : the last number given to a cell or a frame, and to a
        cell from outside, which stays when a loop's body is lowered again.
    outside_cells : cells of containers from outside.
    argument_cells, argument_changed : cells of arrays from arguments, and where the
        first of them is written.
    active_loops, loops_met : indices of the loops around; how many loops there were.
    unroll_all : write out each loop of a known range.
    complex_seen : complex numbers may be about, though no type shows them.
    misfit : the first operation whose operands do not fit on the samples.
    """

    def __init__(self, assumed: Assumptions, sampler: Sampler | None = None) -> None:
        self.assumed = assumed
        self.mode = assumed.mode
        self.sampler = sampler or Sampler(assumed.exact)
        self.types = SampledTypes(self.sampler, assumed, self.sampling_failed)
        self.build = Builder(self.types)
        self.state: State = {}
        self.defs = self.types.defs
        self.indices: dict[Value, Any] = {}
        self.roots: dict[Value, str] = {}
        self.frames: dict[int, Frame] = {}
        self.stack: list[Frame] = []
        self.counter = 0
        self.outside_counter = 10**9
        self.conditional = 0
        self.here: ast.AST | None = None
        self.fixed_span: Span | None = None
        self.captures: dict[Any, Any] = {}
        self.captured: list[Param] = []
        self.errstate: dict[str, str] = {}
        self.active_loops: list[Value] = []
        self.complex_seen = False
        self.unroll_all = assumed.unrolled
        self.outside_cells: set[int] = set()
        self.argument_cells: set[int] = set()
        self.argument_changed: Span | None = None
        self.misfit: ShapeError | None = None
        self.loops_met = 0

    @property
    def are_numbers(self) -> bool:
        """Say whether sizes may be numbers that the text knows."""
        return self.assumed.exact or bool(self.assumed.pinned)

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

    @property
    def nodes(self) -> list[Node]:
        """Return the block being built."""
        return self.build.nodes

    @nodes.setter
    def nodes(self, nodes: list[Node]) -> None:
        self.build.nodes = nodes

    def emit(
        self, op: str, *args: Arg, name: str | None = None, **kwargs: Arg
    ) -> Value:
        """Append a node with one output and return the output, typed if possible."""
        if op in COMPLEX or op.startswith("np.fft."):
            self.complex_seen = True
        self.build.span = self.span()
        return self.build.emit(op, *args, name=name, **kwargs)

    def emit_many(self, op: str, count: int, *args: Arg, **kwargs: Arg) -> list[Value]:
        """Append a node with several outputs and return them."""
        self.build.span = self.span()
        return self.build.emit_many(op, count, *args, **kwargs)

    def effect(self, op: str, *args: Arg, **kwargs: Arg) -> None:
        """Append a node without outputs."""
        self.build.span = self.span()
        self.build.effect(op, *args, **kwargs)

    def append(self, node: Node) -> None:
        """Append a node to the block being built."""
        self.build.append(node)

    def sampling_failed(self, op: str, args: tuple[Arg, ...], why: Exception) -> None:
        """Decide what it means that an operation failed with all sizes known."""
        if self.conditional:
            return
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
        return self.types.type_of(arg)

    # Knowing and not knowing

    def need_static(self, value: Any, why: str) -> NeedStatic:
        """Return the exception that asks for a value to be known while lowering."""
        return NeedStatic(value, why, self.span())

    def knowing(self, need: NeedStatic) -> Assumptions | None:
        """Return assumptions by which a value is known, or None where none help."""
        assumed = self.assumed
        if assumed.generic:
            return None
        _, param = self.origin(need.value)
        if param not in (None, "shape", *assumed.static):
            return replace(assumed, static=assumed.static | {str(param)})
        if param == "shape" and not assumed.exact:
            return pinning(assumed, self.sampler, self._names(need.value))
        if self.loops_met and not assumed.unrolled:
            # How long a list is that a loop fills is known once it is written out.
            return replace(assumed, exact=True, unrolled=True)
        return None

    def _names(self, value: Any) -> set[str]:
        """Return the names of the arguments' sizes that a value comes from."""
        todo, seen = [value], set()
        names: set[str] = set()
        while todo:
            item = todo.pop()
            if not isinstance(item, Value) or item in seen:
                continue
            seen.add(item)
            known = item.type
            if known is not None and (known.is_array or known.is_integral):
                names |= names_in(self.sampler, sizes_of(known))
            node = self.defs.get(item)
            if node is not None and not (known is not None and known.is_array):
                todo += node.inputs
        return names

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
    def trying(self) -> Iterator[None]:
        """Do what Python does with known objects: what fails then fails in each run."""
        try:
            yield
        except (SymbackError, NeedStatic, Refine, Raises, Unassigned, Written):
            raise
        except Exception as problem:
            if interrupts(problem):
                raise
            what = f"{type(problem).__name__}: {problem}"
            failure = self.refuse(f"this fails whenever it runs: {what}")
            raise Raises(type(problem), failure) from problem

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
