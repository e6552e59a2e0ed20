"""Readable, provable gradients of NumPy functions."""

from __future__ import annotations

from .api import DifferentiableFunction, differentiable, grad, value_and_grad
from .errors import (
    InternalError,
    MissingRuleError,
    NotDifferentiableError,
    NotScalarError,
    RefutedError,
    ShapeError,
    SourceUnavailableError,
    SymbackError,
    UnsupportedSyntaxError,
)

__version__ = "0.1.0"

__all__ = [
    "DifferentiableFunction",
    "InternalError",
    "MissingRuleError",
    "NotDifferentiableError",
    "NotScalarError",
    "RefutedError",
    "ShapeError",
    "SourceUnavailableError",
    "SymbackError",
    "UnsupportedSyntaxError",
    "__version__",
    "differentiable",
    "grad",
    "value_and_grad",
]
