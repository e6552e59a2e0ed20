"""Which operation's local derivative is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import Generated
from .result import Culprit

if TYPE_CHECKING:
    from .comparison import _Work

__all__ = ["find"]


def find(work: _Work, generated: Generated) -> Culprit | None:
    """Return the culprit of a refuted comparison, or None."""
    return None
