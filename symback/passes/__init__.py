"""Passes: each returns a graph that computes the same with less."""

from __future__ import annotations

from collections.abc import Callable

from .. import operations  # noqa: F401 - it fills the records that the passes ask
from ..graph import Graph
from .buffers import buffers
from .drop import drop
from .fold import fold
from .hoist import hoist
from .own import own
from .share import share

__all__ = [
    "PASSES",
    "buffers",
    "drop",
    "fold",
    "hoist",
    "own",
    "share",
    "tidied",
    "tidy",
]

PASSES: tuple[Callable[[Graph], Graph], ...] = (
    *(drop, fold, share, hoist, drop, buffers, own),
)
"""The passes over a joint graph in the order in which they run."""

PRIMAL: tuple[Callable[[Graph], Graph], ...] = (drop, share, hoist)
"""The passes over a primal graph before it is differentiated."""


def tidied(graph: Graph) -> Graph:
    """Run the passes for a primal graph."""
    for one in PRIMAL:
        graph = one(graph)
    return graph


def tidy(graph: Graph) -> Graph:
    """Run all passes."""
    for one in PASSES:
        graph = one(graph)
    return graph
