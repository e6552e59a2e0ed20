"""The one intermediate form, and the one way to build it.

`form` has the values, nodes and blocks, `graph` the whole function, `text` its form
for readers, which can be read back; `builder` appends nodes.
"""

from __future__ import annotations

from .builder import Builder, Inference
from .form import (
    EFFECTS,
    UNDEFINED,
    Arg,
    Block,
    Node,
    Param,
    Value,
    leaves,
    map_leaves,
    replaced,
)
from .graph import Graph

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
