"""The one intermediate form, and the one way to build it.

`form` has the values, nodes and blocks, `graph` the whole function, `text` its form
for readers, which can be read back; `builder` appends nodes; `loop` names the parts of
loops, `structure` those of parameters, `shapes` the sums that undo broadcasting.
"""

from __future__ import annotations

from .builder import Builder, Fragment, Inference, Role, substitute
from .form import (
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
from .loop import Loop
from .retype import retype
from .shapes import unbroadcast
from .structure import Tree

__all__ = [
    "UNDEFINED",
    "Arg",
    "Block",
    "Builder",
    "Fragment",
    "Graph",
    "Inference",
    "Loop",
    "Node",
    "Param",
    "Role",
    "Tree",
    "Value",
    "leaves",
    "map_leaves",
    "replaced",
    "retype",
    "substitute",
    "unbroadcast",
]
