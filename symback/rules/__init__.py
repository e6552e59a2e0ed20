"""The derivatives, one line an operation, a file a family."""

from __future__ import annotations

from .registry import CLOSED, REGISTRY, Rule, find

__all__ = ["CLOSED", "REGISTRY", "Rule", "find"]
