"""Passes: each returns a graph that computes the same with less."""

from __future__ import annotations

from collections.abc import Callable

from ..graph import Graph
from .buffers import buffers
from .drop import drop
from .fold import fold
from .share import share

__all__ = ["PASSES", "buffers", "drop", "fold", "share", "tidy"]

PASSES: tuple[Callable[[Graph], Graph], ...] = (drop, fold, share, drop, buffers)
"""The passes in the order in which they run."""


def tidy(graph: Graph) -> Graph:
    """Run all passes."""
    for one in PASSES:
        graph = one(graph)
    return graph
