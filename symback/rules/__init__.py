"""The derivatives, one line an operation, a file a family."""

from __future__ import annotations

from . import (
    arithmetic,
    comparison,
    creation,
    exponential,
    linalg,
    reductions,
    rounding,
    scalar,
    shape,
    trigonometric,
)
from .registry import CLOSED, REGISTRY, Rule, find

__all__ = ["CLOSED", "FAMILIES", "REGISTRY", "Rule", "find"]

FAMILIES = (
    arithmetic,
    exponential,
    trigonometric,
    rounding,
    comparison,
    reductions,
    linalg,
    shape,
    creation,
    scalar,
)
"""The modules whose import filled `REGISTRY`."""
