"""What every part of the chain rule needs: the builder, the rules, what is active."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..errors import Span
from ..graph import Arg, Builder, Fragment, Node, Value
from ..operation import Rule, Text
from .cotangents import Cotangent, Cotangents

__all__ = ["Context", "Cots", "Rules"]

Cots = dict[Value, Cotangent]
"""The cotangents of primal values that are still to be sent on."""


class Rules(Protocol):
    """Gives the small graph that a rule's text is for some kind of arguments."""

    def fragment(
        self, text: Text, names: Mapping[str, Arg], span: Span | None
    ) -> tuple[Fragment, list[Arg]]:
        """Return the graph, and what its inputs stand for."""


@dataclass
class Context(ABC):
    """One differentiation of a graph.

    build : appends the backward's nodes.  rules : graphs of rules.
    bars : arithmetic of cotangents.
    varied : the values that depend on the parameters; risky : those that may be
        infinite at finite points.
    sided : rules of nodes that take their slopes at a kink from one side.
    roots : the leaves of the parameters.  indices : those of loops.
    found : the final cotangents of primal values, as far as they are made; a
        `Cotangent` stands for one that is zero except at its place, or holds anything
        where the program does not use the value.
    loops : the carried cotangents of a loop, and the values outside that it adds to.
    """

    build: Builder
    rules: Rules
    bars: Cotangents
    roots: set[Value]
    indices: set[Value]
    varied: set[Value] = field(default_factory=set)
    risky: set[Value] = field(default_factory=set)
    sided: dict[Node, Rule] = field(default_factory=dict)
    found: dict[Value, Arg | Cotangent] = field(default_factory=dict)
    loops: dict[Node, tuple[list[int], list[Value]]] = field(default_factory=dict)

    @abstractmethod
    def sweep(self, nodes: Iterable[Node], cots: Cots) -> list[Node]:
        """Reverse some nodes; return them as the forward part needs them."""

    def accumulate(self, primal: Value, cotangent: Cotangent, cots: Cots) -> None:
        """Add a contribution to the cotangent of a primal value."""
        if primal not in self.varied:
            return
        if (
            isinstance(cotangent.value, int | float)
            and cotangent.place is None
            and cotangent.value == 0
        ):
            return
        cotangent = self.real(primal, cotangent)
        cots[primal] = self.bars.add(primal, cots.get(primal), cotangent)

    def real(self, primal: Value, cotangent: Cotangent) -> Cotangent:
        """Keep the real part of what a real value gets from complex ones."""
        found, want = self.build.type_of(cotangent.value), primal.type
        if found is None or want is None or not found.dtype.startswith("complex"):
            return cotangent
        if want.dtype.startswith("complex") or want.kind == "list":
            return cotangent
        return replace(cotangent, value=self.build.emit("np.real", cotangent.value))

    def own_name(self, value: Arg, name: str | None) -> None:
        """Name a value that the backward made; primal values keep their names."""
        if name and isinstance(value, Value) and value in self.build.defs:
            if value not in self.bars.primal:
                self.build.christen(value, f"{name}_bar")
