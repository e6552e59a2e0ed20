"""Lowering: from the syntax tree of a user's function to a graph.

After it there are no names, no aliases, no mutation and no early exits: every node is
an operation on values, and calls of the user's own functions are written out in place.

>>> def f(x):
...     y = x
...     y *= 2.0
...     return y
>>> print(Lowerer("symbolic").lower(f, {"x": 3.0}, "f"))
graph f(x: float):
  y: float = mul(x, 2.0)  # ...
  -> y
"""

from __future__ import annotations

from . import intrinsics  # noqa: F401 - fills the tables of what functions mean
from .abstract import NeedStatic, Retry
from .core import Raises, Unassigned
from .names import Path
from .parameters import Lowerer, Tree

__all__ = ["Lowerer", "NeedStatic", "Path", "Raises", "Retry", "Tree", "Unassigned"]
