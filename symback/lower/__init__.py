"""Lowering: from the syntax tree of a user's function to a graph.

After it there are no names, no aliases, no mutation and no early exits: every node is
an operation on values, and calls of the user's own functions are written out in place.

`Lowerer` is one class built in steps.  Each file needs only those above it:

- `abstract`: what a name can stand for;
- `core`: places, nodes and their types;
- `cells`, `joins`, `branches`: memory, and where paths part and meet;
- `expressions`, `comparisons`, `subscripts`: values of syntax;
- `names`, `functions`, `attributes`: what names stand for, and what they are read from;
- `library`, `calls`, `methods`: calls; `operations` has the names, `intrinsics` the
  functions that are lowered in a way of their own;
- `assignment`, `statements`, `conditions`, `iteration`, `iterators`,
  `walking`, `carried`, `loops`: statements;
- `parameters`: arguments, and the whole function.

>>> def f(x):
...     y = x
...     y *= 2.0
...     return y
>>> print(Lowerer().lower(f, {"x": 3.0}, "f"))
graph f(x: float):
  y: float = mul(x, 2.0)  # ...
  -> y
"""

from __future__ import annotations

from . import intrinsics  # noqa: F401 - fills the tables of what functions mean
from .abstract import NeedStatic, Written
from .core import Raises, Unassigned
from .names import Path
from .parameters import Lowerer
from .rules import RuleGraphs, shows_complex

__all__ = [
    "Lowerer",
    "NeedStatic",
    "Path",
    "Raises",
    "RuleGraphs",
    "Unassigned",
    "Written",
    "shows_complex",
]
