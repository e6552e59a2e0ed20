"""The one intermediate form, and the one way to build it.

`form` has the values, nodes, blocks and graphs; `builder` appends nodes to them.
"""

from __future__ import annotations

from .builder import Builder, Inference
from .form import (
    EFFECTS,
    UNDEFINED,
    Arg,
    Block,
    Graph,
    Node,
    Param,
    Value,
    leaves,
    map_leaves,
    replaced,
)

__all__ = [
    "EFFECTS",
    "UNDEFINED",
    "Arg",
    "Block",
    "Builder",
    "Graph",
    "Inference",
    "Node",
    "Param",
    "Value",
    "leaves",
    "map_leaves",
    "replaced",
]
