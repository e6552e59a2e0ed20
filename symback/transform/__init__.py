"""The chain rule: from a primal graph to the graph of its value and gradient."""

from __future__ import annotations

from .reverse import Joint, reverse

__all__ = ["Joint", "reverse"]
