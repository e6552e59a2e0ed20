"""Python's own functions, and the few of NumPy's that lowering carries out itself.

Importing this package fills the tables `INTRINSICS` and `OPERATIONS`.
"""

from __future__ import annotations

from . import arrays, containers, iteration, numbers, objects, stopping

__all__ = ["FAMILIES"]

FAMILIES = (containers, iteration, numbers, objects, stopping, arrays)
"""The modules whose import filled the tables."""
