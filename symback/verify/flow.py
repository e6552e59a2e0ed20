"""The edge of the user's graph whose scaling explains a wrong gradient.

Where a derivative is wrong by a factor, the gradient is wrong by a multiple of what
flows to the loss through that one edge.  The graph of the gradient is not needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Value
from ..interpret import run_node
from .blame import Program, plausibility
from .meaning import factors
from .moves import SMALL, is_real, moved, size_of
from .result import Culprit

if TYPE_CHECKING:
    from .finite import GradientCheck
    from .inputs import Inputs

__all__ = ["Flow"]

Array = np.ndarray[Any, Any]


class Flow(Program):
    """Finds the edge whose scaling explains a wrong gradient."""

    def __init__(self, source: Any, inputs: Inputs, result: GradientCheck) -> None:
        super().__init__(source, inputs)
        rows = [
            r for r in result.rows if r.index is not None and not r.kink and not r.part
        ]
        rows.sort(key=lambda r: r.ok)
        self.rows = rows[: 2 * SMALL]
        self.off = np.array([r.generated - r.numeric for r in self.rows])
        self.reached: set[Value] = set()

    def culprit(self) -> Culprit | None:
        """Return the operation, or None if no single factor explains the rows."""
        if not isinstance(self.loss, Value) or not np.all(np.isfinite(self.off)):
            return None
        size = float(np.linalg.norm(self.off))
        if not self.rows or size == 0.0:
            return None
        tangents = [self.tangent(r.name, r.index or ()) for r in self.rows]
        best: tuple[Any, ...] = (9,)
        for k, node in enumerate(self.nodes):
            for value in dict.fromkeys(node.uses):
                if self.late:
                    return None
                if not any(np.any(t.get(value, 0.0)) for t in tangents):
                    continue
                flow = np.array([self.flow(k, value, t.get(value)) for t in tangents])
                weight = float(flow @ flow)
                if not math.isfinite(weight) or weight == 0.0:
                    continue
                factor = float(self.off @ flow) / weight
                if float(np.linalg.norm(self.off - factor * flow)) > 1e-4 * size:
                    continue
                named = factors(self.operands(node, value))
                rank = plausibility(1.0 + factor, named)
                plain = node.op in ("add", "sub", "getitem", "np.sum")
                # Of a chain without branches, the operation nearest to the loss that
                # does more than pass its cotangent on.
                key = (rank, plain, -k)
                if key < best[:3]:
                    best = (*key, node, value, 1.0 + factor)
        if len(best) == 1:
            return None
        node, value, ratio = best[3:]
        cotangent = self.source.cotangents.get(value)
        culprit = self.blamed(node, value, np.array([ratio]), cotangent)
        # The text at hand is not the one that was checked.
        return Culprit(
            culprit.op,
            culprit.file,
            culprit.line,
            culprit.code,
            culprit.argument,
            why=culprit.why,
        )

    def tangent(self, name: str, index: tuple[int, ...]) -> dict[Value, Array]:
        """Return how fast each value changes with one number of the parameters."""
        number = self.inputs.numbers[name]
        leaf = self.inputs.leaves[number]
        move = np.zeros_like(leaf.value)
        move[index] = 1.0
        h = 2.0**-17 * size_of(leaf.value, move)
        up, down = (self.run({number: leaf.value + s * move}) for s in (h, -h))
        return {
            v: (np.asarray(up[v]) - np.asarray(down[v])) / (2.0 * h)
            for v, x in self.env.items()
            if is_real(x) and v in up and np.shape(up[v]) == np.shape(down[v])
        }

    def flow(self, k: int, value: Value, tangent: Array | None) -> float:
        """Return the slope of the loss where only node k sees the value move."""
        if tangent is None or not np.any(tangent):
            return 0.0
        largest = float(np.max(np.abs(tangent)))
        h = 2.0**-14 * size_of(self.env[value], tangent) / largest
        return (
            self._loss(k, value, tangent, h) - self._loss(k, value, tangent, -h)
        ) / (2.0 * h)

    def _loss(self, k: int, value: Value, move: Array, t: float) -> float:
        local = dict(self.env)
        changed: set[Value] = set()
        for n in range(k, len(self.nodes)):
            node = self.nodes[n]
            local[value] = (
                moved(self.env[value], move, t) if n == k else self.env[value]
            )
            if n > k and not changed.intersection(node.uses):
                continue
            local.update(zip(node.outs, run_node(node, local), strict=True))
            changed.update(node.outs)
        return float(np.asarray(local[self.loss]).reshape(()))
