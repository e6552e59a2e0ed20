"""What may be one array where paths meet, pair by pair and path by path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..graph import UNDEFINED
from .abstract import Tup
from .cells import Cells
from .core import State
from .templates import Template

__all__ = ["Shares", "Sharing"]


@dataclass(frozen=True)
class Sharing:
    """What is known of the values that get new cells, by number.

    pairs : which two may be the same memory.
    unwritable : which may not be written, with the reasons.
    """

    pairs: frozenset[tuple[int, int]] = frozenset()
    unwritable: Mapping[int, Any] = field(default_factory=dict)

    def __or__(self, other: Sharing) -> Sharing:
        """Return what holds if either may."""
        return Sharing(
            self.pairs | other.pairs, {**other.unwritable, **self.unwritable}
        )

    def covers(self, other: Sharing) -> bool:
        """Say whether nothing is new in another."""
        known = self.unwritable.keys()
        return other.pairs <= self.pairs and other.unwritable.keys() <= known


class Shares(Cells):
    """Find what the values of two paths share."""

    left: State
    right: State

    def memory(self, *items: Any) -> frozenset[int]:
        """Return the cells whose memory one of some references may be, on any path."""
        cells = {self.root(item) for item in items} - {None}
        near = (
            self.near(c, state)
            for c in cells
            if c is not None
            for state in (self.left, self.right)
        )
        return frozenset().union(*near)

    def places(self, template: Template, item: Any, state: State) -> list[int | None]:
        """Return the cells of an abstract value that get new cells, in that order."""
        kind = template.kind
        if kind == "array":
            return [None if item is UNDEFINED else self.root(item)]
        if kind in ("list", "dict", "object"):
            cell = None if item is UNDEFINED else item.cell
            held = UNDEFINED if cell is None else self.held(state, ("h", cell))
            return [cell, *self.places(template.parts[0], held, state)]
        items: Any = [UNDEFINED] * len(template.parts)
        if template.parts and item is not UNDEFINED:
            held = item.items if isinstance(item, Tup) else item
            items = list(held.values()) if isinstance(held, dict) else held
        return [
            place
            for part, one in zip(template.parts, items, strict=True)
            for place in self.places(part, one, state)
        ]

    def sharing(self, templates: dict[Any, Template], state: State) -> Sharing:
        """Return what the values that get new cells share in a state."""
        cells = [
            place
            for key, template in templates.items()
            for place in self.places(template, self.held(state, key), state)
        ]
        near = [frozenset() if c is None else self.near(c, state) for c in cells]
        return Sharing(
            frozenset(
                (i, j)
                for j, cell in enumerate(cells)
                for i in range(j)
                if cell in near[i]
            ),
            {
                number: state["ro", cell]
                for number, known in enumerate(near)
                for cell in known
                if ("ro", cell) in state
            },
        )
