"""Templates: how an abstract value is taken apart into graph values, and rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Template", "grown", "width"]


@dataclass(frozen=True)
class Template:
    """How two abstract values that differ are carried as graph values.

    kind : ``"same"`` (nothing is carried), ``"leaf"``, ``"array"``, ``"tuple"``,
        ``"list"``, ``"dict"``, ``"object"``, ``"poison"``, or of the content of a cell
        ``"items"``, ``"dictitems"`` or ``"runlist"``.
    """

    kind: str
    parts: tuple[Template, ...] = ()
    like: Any = None
    names: tuple[Any, ...] = ()
    cells: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """Return the number of graph values."""
        if self.kind in ("leaf", "array"):
            return 1
        if self.kind == "runlist":
            return max(1, width(self.like))
        return sum(part.width for part in self.parts)


def grown(template: Template, extra: Iterator[frozenset[int]]) -> Template:
    """Return a template whose new cells may be more of the cells there are."""
    cells = template.cells
    if template.kind in ("array", "list", "dict", "object"):
        cells = cells | next(extra)
    parts = tuple(grown(part, extra) for part in template.parts)
    return replace(template, cells=cells, parts=parts)


def width(shape: Any) -> int:
    """Return the number of graph values of a run-time list of a structure."""
    return sum(map(width, shape)) if isinstance(shape, tuple) else 1
