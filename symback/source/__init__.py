"""Text and syntax tree: the user's source with true positions, and printing."""

from __future__ import annotations

from .printing import normalise, print_expression, print_statement, same_tree
from .reading import FunctionSource, read_function, read_rule

__all__ = [
    "FunctionSource",
    "normalise",
    "print_expression",
    "print_statement",
    "read_function",
    "read_rule",
    "same_tree",
]
