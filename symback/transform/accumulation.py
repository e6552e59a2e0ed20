"""Accumulation: the cotangent of a value is the sum over all its uses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..graph import Node, Value
from .cotangents import Cotangent, Cotangents

__all__ = ["Accumulation"]


class Accumulation(Cotangents, ABC):
    """Add what each use of a value contributes."""

    varied: set[Value]

    @abstractmethod
    def sweep(
        self, nodes: tuple[Node, ...] | list[Node], cots: dict[Value, Cotangent]
    ) -> list[Node]:
        """Reverse some nodes; return them as the forward part needs them."""

    @contextmanager
    def placed(self, node: Node) -> Iterator[None]:
        """Give the nodes made inside the place of the primal node they reverse."""
        before, self.low.fixed_span = self.low.fixed_span, node.span
        try:
            yield
        finally:
            self.low.fixed_span = before

    def accumulate(
        self, primal: Value, cotangent: Cotangent, cots: dict[Value, Cotangent]
    ) -> None:
        """Add a contribution to the cotangent of a primal value."""
        if primal not in self.varied:
            return
        if (
            isinstance(cotangent.value, int | float)
            and cotangent.place is None
            and (cotangent.value == 0)
        ):
            return
        cotangent = self.real(primal, cotangent)
        cots[primal] = self.add(primal, cots.get(primal), cotangent)

    def real(self, primal: Value, cotangent: Cotangent) -> Cotangent:
        """Keep the real part of what a real value gets from complex ones."""
        found, want = self.low.type_of(cotangent.value), primal.type
        if found is None or want is None or not found.dtype.startswith("complex"):
            return cotangent
        if want.dtype.startswith("complex") or want.kind == "list":
            return cotangent
        return replace(cotangent, value=self.low.emit("np.real", cotangent.value))

    def named_bar(self, primal: Value) -> str | None:
        """Return the name of a cotangent."""
        return f"{primal.name}_bar" if primal.name else None
