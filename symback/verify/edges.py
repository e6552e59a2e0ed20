"""Which operation's derivative is wrong, found by differences of single operations.

Two ways, neither of which uses a rule:

- Where the generated graph is at hand, each of its cotangents is compared with what its
  consumers must send back: ``x_bar`` is the sum over the operations that read x of the slope
  of ``⟨out_bar, operation⟩`` by x, with the *generated* ``out_bar``.  A wrong derivative
  breaks this at one value only; upstream of it, all is consistent again.
- Where only a wrong gradient is at hand, or its graph is consistent, one edge of the user's
  graph after the other is scaled: the gradient is wrong by a multiple of what flows through
  the edge whose derivative is wrong by a factor.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Node, Value
from .interpret import Env, run_graph, run_node
from .meaning import factors, reading, same
from .result import Culprit
from .steps import Slope, slope

if TYPE_CHECKING:
    from .finite import GradientCheck
    from .inputs import Inputs

__all__ = ["find_culprit"]

Array = np.ndarray[Any, Any]

SECONDS = 5.0
"""The limit of the search."""

PROBES = 6
"""Random directions along which a larger value is moved."""

SMALL = 12
"""Entries up to which each is moved by itself."""

OFF = 1e-5
"""Relative differences beyond this are wrong, not noise."""
