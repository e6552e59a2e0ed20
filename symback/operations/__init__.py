"""The derivatives, one line an operation, a file a family."""

from __future__ import annotations

from . import (
    arithmetic,
    closed,
    comparison,
    creation,
    decompositions,
    exponential,
    fft,
    indexing,
    language,
    linalg,
    lists,
    products,
    reductions,
    rounding,
    scalar,
    scipy_linalg,
    shape,
    special,
    statistics,
    stats,
    tables,
    trigonometric,
    ufuncs,
    weighted,
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
    decompositions,
    products,
    shape,
    indexing,
    language,
    creation,
    scalar,
    special,
    fft,
    scipy_linalg,
    statistics,
    stats,
    ufuncs,
    tables,
    weighted,
    lists,
    closed,
)
"""The modules whose import filled `REGISTRY`."""
