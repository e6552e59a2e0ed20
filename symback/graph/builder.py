"""The builder: the one that appends nodes, for lowering, transforms, rules and passes.

Nodes are typed as they are appended, by what an `Inference` says; each has the place
and the role that the builder is set to.  A finished value never changes; while a graph
is built the builder owns the names that its values will have.

>>> build = Builder()
>>> x = Value("x")
>>> y = build.emit("np.tanh", x)
>>> build.christen(y, "y")
>>> block = build.finish(Block((x,), tuple(build.nodes), (y,)))
>>> block.nodes[0].op, block.results[0].name, y.name
('np.tanh', 'y', None)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ..errors import Span
from ..types import Type
from .form import Arg, Block, Node, Value, map_leaves, replaced

__all__ = ["Builder", "Fragment", "Inference", "Role", "substitute"]

Role = Literal["primal", "backward"]
"""Whether a node computes the function or its derivative."""


class Inference(Protocol):
    """What is known of the values that operations give.

    generic : nothing is known of parameters, nor of what is computed from them.
    defs : the node of each value.
    """

    generic: bool
    defs: dict[Value, Node]

    def output(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg]
    ) -> Type | None:
        """Return the type of a node's only output, None where nothing is known."""

    def outputs(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg], count: int
    ) -> list[Type | None]:
        """Return the types of the items of what an operation returns."""

    def type_of(self, arg: Arg) -> Type | None:
        """Return the type of a node's argument."""

    def join(self, a: Arg, b: Arg) -> Type | None:
        """Return a type that covers two arguments, or None."""

    def of_samples(self, samples: tuple[Any, ...]) -> Type | None:
        """Return the type that two stand-ins for a value show."""

    def integer(self) -> Type | None:
        """Return the type of an integer known only at run time, as a loop's index."""


@dataclass(frozen=True)
class Fragment:
    """A small graph to be inlined: the nodes of a rule, and what they give.

    inputs : what stands for the arguments.  result : a nested argument.
    """

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    result: Arg


class Untyped:
    """An `Inference` that knows nothing."""

    generic = True

    def __init__(self) -> None:
        self.defs: dict[Value, Node] = {}

    def output(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg]
    ) -> Type | None:
        return None

    def outputs(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg], count: int
    ) -> list[Type | None]:
        return [None] * count

    def type_of(self, arg: Arg) -> Type | None:
        return arg.type if isinstance(arg, Value) else None

    def join(self, a: Arg, b: Arg) -> Type | None:
        return None

    def of_samples(self, samples: tuple[Any, ...]) -> Type | None:
        return None

    def integer(self) -> Type | None:
        return None


class Builder:
    """Appends typed, named, placed nodes to the block that is being built.

    nodes : the block being built.  defs : the node of each value.
    span, role : of the nodes appended next.  names : of values that are not finished.
    """

    def __init__(self, types: Inference | None = None) -> None:
        self.types: Inference = types or Untyped()
        self.nodes: list[Node] = []
        self.defs = self.types.defs
        self.span: Span | None = None
        self.role: Role = "primal"
        self.names: dict[Value, str] = {}
        self.finished: dict[Value, Value] = {}

    # Nodes

    def append(self, node: Node) -> None:
        """Append a node to the block being built."""
        self.nodes.append(node)
        for out in node.outs:
            self.defs[out] = node

    def emit(
        self, op: str, *args: Arg, name: str | None = None, **kwargs: Arg
    ) -> Value:
        """Append a node with one output and return the output, typed if possible."""
        known = self.types.output(op, args, kwargs)
        return self.emit_as(known, op, *args, name=name, **kwargs)

    def emit_as(
        self,
        known: Type | None,
        op: str,
        *args: Arg,
        name: str | None = None,
        **kwargs: Arg,
    ) -> Value:
        """Append a node whose only output is of a type that is known otherwise."""
        value = Value(name, known)
        self.append(self._node(op, args, kwargs, (value,)))
        return value

    def emit_many(self, op: str, count: int, *args: Arg, **kwargs: Arg) -> list[Value]:
        """Append a node with several outputs and return them."""
        outs = [Value(None, t) for t in self.types.outputs(op, args, kwargs, count)]
        self.append(self._node(op, args, kwargs, tuple(outs)))
        return outs

    def effect(self, op: str, *args: Arg, **kwargs: Arg) -> None:
        """Append a node without outputs."""
        self.append(self._node(op, args, kwargs, ()))

    def control(
        self,
        op: str,
        args: tuple[Arg, ...],
        kwargs: Mapping[str, Arg],
        outs: tuple[Value, ...],
        blocks: tuple[Block, ...],
    ) -> Node:
        """Append a branch or a loop and return it."""
        node = self._node(op, args, kwargs, outs, blocks)
        self.append(node)
        return node

    def _node(
        self,
        op: str,
        args: tuple[Arg, ...],
        kwargs: Mapping[str, Arg],
        outs: tuple[Value, ...],
        blocks: tuple[Block, ...] = (),
    ) -> Node:
        return Node(op, args, kwargs, outs, blocks, self.span, self.role)

    def inline(self, fragment: Fragment, given: Sequence[Arg]) -> Arg:
        """Append a fragment's nodes, typed anew, and return its result.

        given : what stands for the fragment's inputs.
        """
        held: dict[Value, Arg] = dict(zip(fragment.inputs, given, strict=True))
        self._copy(fragment.nodes, held)
        return replaced(fragment.result, held)

    def _copy(self, nodes: tuple[Node, ...], held: dict[Value, Arg]) -> None:
        """Append copies of nodes; note in `held` what became of their values."""
        for node in nodes:
            args, kwargs = replaced(node.args, held), replaced(dict(node.kwargs), held)
            if node.blocks:
                blocks = tuple(self._copied(block, held) for block in node.blocks)
                outs = [Value(out.name, out.type) for out in node.outs]
                self.control(node.op, args, kwargs, tuple(outs), blocks)
            elif len(node.outs) == 1:
                outs = [self.emit(node.op, *args, name=node.outs[0].name, **kwargs)]
            elif node.outs:
                outs = self.emit_many(node.op, len(node.outs), *args, **kwargs)
            else:
                self.effect(node.op, *args, **kwargs)
                continue
            held.update(zip(node.outs, outs, strict=True))

    def _copied(self, block: Block, held: dict[Value, Arg]) -> Block:
        params = tuple(Value(p.name, p.type) for p in block.params)
        held.update(zip(block.params, params, strict=True))
        with self.nested() as nodes:
            self._copy(block.nodes, held)
        return Block(params, tuple(nodes), replaced(block.results, held))

    @contextmanager
    def nested(self) -> Iterator[list[Node]]:
        """Build a block of its own: give the list that its nodes are appended to."""
        outside, self.nodes = self.nodes, []
        try:
            yield self.nodes
        finally:
            self.nodes = outside

    @contextmanager
    def into(self, nodes: list[Node]) -> Iterator[None]:
        """Go on with the nodes of a block."""
        outside, self.nodes = self.nodes, nodes
        try:
            yield
        finally:
            self.nodes = outside

    @contextmanager
    def at(self, span: Span | None) -> Iterator[None]:
        """Give the nodes appended inside a place."""
        before, self.span = self.span, span
        try:
            yield
        finally:
            self.span = before

    # Types

    def type_of(self, arg: Arg) -> Type | None:
        """Return the type of a node's argument."""
        return self.types.type_of(arg)

    def same_shape(self, a: Arg, b: Arg) -> bool:
        """Say whether two arguments surely have one shape."""
        first, second = self.type_of(a), self.type_of(b)
        if first is None or second is None:
            return False
        return bool(first.dims == second.dims and "?" not in first.dims)

    # Names

    def name_of(self, value: Value) -> str | None:
        """Return the name that a value has or will have."""
        return value.name or self.names.get(value)

    def christen(self, value: Value, name: str) -> None:
        """Name a value that is being built, once."""
        if value.name is None:
            self.names.setdefault(value, name)

    def named(self) -> dict[Value, Value]:
        """Return for each value that was named while building the one to replace it."""
        for value, name in self.names.items():
            # One value for each, however often it is asked: graphs hold it.
            if value not in self.finished:
                self.finished[value] = Value(name, value.type)
        return dict(self.finished)

    def finish(self, block: Block) -> Block:
        """Return a block whose values have the names that they were given."""
        changed = self.named()
        return substitute(block, changed) if changed else block


def substitute(block: Block, changed: Mapping[Value, Arg]) -> Block:
    """Return a block with some values replaced, in nested blocks too.

    Where a value that is defined here is replaced, it is by another value.
    """

    def one(value: Value) -> Value:
        found = changed.get(value, value)
        return found if isinstance(found, Value) else value

    nodes = tuple(
        replace(
            node,
            args=replaced(node.args, changed),
            kwargs=replaced(dict(node.kwargs), changed),
            outs=tuple(map(one, node.outs)),
            blocks=tuple(substitute(b, changed) for b in node.blocks),
        )
        for node in block.nodes
    )
    results = map_leaves(
        lambda a: changed.get(a, a) if isinstance(a, Value) else a, block.results
    )
    return Block(tuple(map(one, block.params)), nodes, results)
