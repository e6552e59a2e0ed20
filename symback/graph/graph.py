"""A whole function: its parameters, its block, and the checks of its form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InternalError, Span
from .form import Arg, Block, Node, Param, Value, leaves
from .text import read, written

__all__ = ["Graph"]


@dataclass(frozen=True, eq=False)
class Graph:
    """A function: parameters, one block, one result (a nested tuple of values).

    `block.results` has exactly one entry, the returned object.  `source` is the place
    of the user's function; `title` is the first comment line of the emitted text;
    `errstate` are the settings of `np.errstate` in which the text must run (empty:
    none).

    Two graphs are equal if their texts are, apart from the places of the user's lines.

    >>> text = "graph f(x: float):\\n  y: float = mul(x, 2.0)\\n  -> y"
    >>> graph = Graph.parse(text)
    >>> str(graph) == text, Graph.parse(str(graph)) == graph
    (True, True)
    """

    name: str
    params: tuple[Param, ...]
    block: Block
    source: Span | None = None
    title: str = ""
    errstate: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.block.nodes)

    @property
    def result(self) -> Arg:
        """Return the returned object."""
        return self.block.results[0]

    def giving(self, result: Arg) -> Graph:
        """Return the graph that returns something else that it computes."""
        return replace(self, block=replace(self.block, results=(result,)))

    def check(self) -> Graph:
        """Return self, or raise `InternalError` where the form is broken."""
        _check_block(self.block, {p.value for p in self.params}, self)
        return self

    @classmethod
    def parse(cls, text: str, objects: Mapping[str, Any] | None = None) -> Graph:
        """Read a graph from its text form; places are files and lines.

        objects : what is written ``<name>``, where it is not NumPy's or Python's.

        Raises:
            ValueError: the text is not that of a graph; it shows the place.
            InternalError: the graph is malformed.
        """
        name, params, block, title, errstate = read(text, objects)
        return cls(name, params, block, None, title, errstate).check()

    def written(self, places: bool = True) -> str:
        """Return the text form, with or without the places of the user's lines."""
        return written(
            self.name, self.params, self.block, self.title, self.errstate, places
        )

    def __str__(self) -> str:
        return self.written()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or self.written(places=False) == other.written(
            places=False
        )

    def __hash__(self) -> int:
        return hash(self.written(places=False))


def _check_block(block: Block, outside: set[Value], graph: Graph) -> None:
    known = outside | set(block.params)
    for node in block.nodes:
        for value in node.inputs:
            if value not in known:
                raise InternalError(
                    f"`{node.op}` reads {value!r} before it is defined\n{graph}"
                )
        for nested in node.blocks:
            _check_block(nested, known, graph)
        _check_node(node, graph)
        for value in node.outs:
            if value in known:
                raise InternalError(f"{value!r} is defined twice\n{graph}")
            known.add(value)
    for value in leaves(block.results):
        if isinstance(value, Value) and value not in known:
            raise InternalError(f"a result, {value!r}, is not defined\n{graph}")


def _check_node(node: Node, graph: Graph) -> None:
    """Check that the counts of parameters, results and outputs agree."""
    if node.op == "if":
        sizes = {len(b.results) for b in node.blocks} | {len(node.outs)}
        fine = len(sizes) == 1 and not any(b.params for b in node.blocks)
    elif node.op in ("for", "while"):
        inits = node.args[-1]
        body = node.blocks[-1]
        lead = 1 + len(node.args[1]) if node.op == "for" else 0
        flags = 1 if node.kwargs.get("breaks") else 0
        fine = (
            len(body.params) == lead + len(inits)
            and len(body.results) - flags == len(node.outs)
            and len(node.outs) >= len(inits)
        )
    else:
        fine = not node.blocks
    if not fine:
        raise InternalError(f"`{node.op}` is malformed\n{graph}")
