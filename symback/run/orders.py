"""Gradients of gradients: which function a gradient is of, and its graph.

``grad(grad(f))`` lowers f once; each gradient in between is a transform of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import NotDifferentiableError
from ..graph import Graph, Inference, Tree, Value
from ..passes import tidied
from ..transform import vjp
from ..transform.context import Rules

__all__ = ["Gradient", "derived", "gradient_of", "innermost"]

MARK = "_symback_gradient"
"""The attribute by which a gradient knows its `Gradient`."""


@dataclass(frozen=True)
class Gradient:
    """What a function that is a gradient is the gradient of.

    entry : the gradient itself: what wraps it copies its attributes.
    wrt : the parameters it is taken by.  single : it is not a tuple of one.
    valued : the function returns the value, too.
    """

    entry: Any
    function: Any
    wrt: tuple[str, ...]
    single: bool
    valued: bool


def gradient_of(function: Any) -> Gradient | None:
    """Return of what a function is the gradient, None of any other function."""
    found = getattr(function, MARK, None)
    known = isinstance(found, Gradient) and found.entry is function
    return found if known else None


def innermost(function: Any) -> tuple[Any, tuple[Gradient, ...]]:
    """Return the user's function below some gradients, and these, the first one first.

    >>> innermost(len)
    (<built-in function len>, ())
    """
    found: list[Gradient] = []
    while (one := gradient_of(function)) is not None:
        found.append(one)
        function = one.function
    return function, tuple(reversed(found))


def derived(
    graph: Graph,
    gradients: Sequence[Gradient],
    trees: Mapping[str, Tree],
    types: Inference,
    rules: Rules,
    sequences: frozenset[Value],
) -> Graph:
    """Return the graph of a gradient of a gradient ... of a graph."""
    for one in gradients:
        missing = [name for name in one.wrt if name not in trees]
        if missing:
            raise NotDifferentiableError(
                f"a gradient by the attribute `{missing[0]}` is differentiated again",
                graph.source,
                "write the function with that attribute as a parameter.",
            )
        wrt = [trees[name] for name in one.wrt]
        graph = vjp(graph, wrt, types, rules, single=one.single, sequences=sequences)
        graph = tidied(graph if one.valued else graph.giving(graph.result[1]))
    return graph
