"""Lowering: from the syntax tree of a user's function to a graph.

>>> from symback.lower import Lowerer
>>> def f(x):
...     return x * x
"""

from __future__ import annotations

from . import intrinsics as _intrinsics  # registers Python's own functions
from .abstract import NeedStatic, Retry
from .core import Raises, Unassigned
from .names import Path
from .parameters import Lowerer, Tree

__all__ = ["Lowerer", "NeedStatic", "Path", "Raises", "Retry", "Tree", "Unassigned"]

assert _intrinsics is not None
