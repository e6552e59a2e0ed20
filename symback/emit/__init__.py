"""A graph becomes the text of a module that an expert would have written by hand.

Nodes become statements, or parts of statements where a value has no name and one use;
SSA values become variables with the user's names; and beside the first statement of
each of the user's lines stands that line.
"""

from __future__ import annotations

from ..graph import Graph
from ..passes.aliases import Aliases, has_inplace
from ..passes.kinds import Kinds
from .inline import plan
from .layout import comments, paragraph, wrap
from .lines import Line, Lines
from .liveness import Interference, coalesce
from .names import name_everything
from .statements import Builder
from .walk import simpler_loops

__all__ = ["emit"]


def emit(
    graph: Graph, *, scalars: str = "numpy", backward_from: int | None = None
) -> str:
    """Return the text of a module that defines the function `graph.name`.

    The graph must have been through the `buffers` pass: what it mutates is mutated in
    place.  ``scalars="math"`` computes Python numbers without NumPy.  `backward_from`
    is the index of the first top-level node of the backward part; with it, the two
    parts get their headings.

    >>> from symback.graph import Block, Graph, Node, Param, Value
    >>> x, y, z = Value("x"), Value(), Value("z")
    >>> nodes = (Node("np.tanh", (x,), outs=(y,)), Node("mul", (y, 2), outs=(z,)))
    >>> block = Block((), nodes, (z,))
    >>> graph = Graph("f", (Param("x", x),), block, title="Twice tanh.")
    >>> print(emit(graph), end="")
    # Twice tanh.
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def f(x):
        z = np.tanh(x) * 2
        return z
    """
    aliases = Aliases(graph) if has_inplace(graph) else None
    loops = simpler_loops(graph, aliases)
    builder = Builder(loops, plan(loops, aliases), Kinds(graph), scalars)
    errstate = {k: builder.expressions.constant(v) for k, v in graph.errstate.items()}
    if errstate:
        builder.names.outer("np")
    builder.build()
    statements, names = builder.statements, builder.names
    parameters = list(range(len(graph.params)))
    interference = Interference(statements, names, parameters)
    classes = coalesce(statements, builder.variables, interference)
    imports, blank = name_everything(graph, statements, names, classes)
    printer = Lines(names, interference.kept, statements, blank)
    depth = 2 if errstate else 1
    lines: list[Line] = []
    sections: dict[int, str] = {}
    border = None if backward_from is None else builder.starts[backward_from]
    for number, statement in enumerate(statements):
        made = printer.lines([statement], depth)
        if border is not None and made:
            if number < border:
                sections.setdefault(0, "forward")
            elif "backward" not in sections.values():
                sections[len(lines)] = "backward"
        lines += made
    if len(sections) < 2:
        sections.clear()
    head = _head(graph, imports)
    if errstate:
        np = next(n.id for n, key in names.globals.items() if key == "np")
        given = ", ".join(f'{k}="{v}"' for k, v in graph.errstate.items())
        head += wrap(f"with {np}.errstate({given}):", 1)
    return "\n".join(head + comments(lines, sections)) + "\n"


def _head(graph: Graph, imports: list[str]) -> list[str]:
    """Return everything above the function's body."""
    lines = paragraph(graph.title.split(), " ") if graph.title else []
    typed = [f"{p.name}: {p.value.type}" for p in graph.params if p.value.type]
    lines += paragraph(typed, "  ")
    lines += imports
    if lines:
        lines += ["", ""]
    plain = [p.name for p in graph.params if p.kind == "positional"]
    named = [p.name for p in graph.params if p.kind != "positional"]
    signature = ", ".join([*plain, *(["*", *named] if named else [])])
    return lines + wrap(f"def {graph.name}({signature}):", 0)
