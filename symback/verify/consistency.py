"""The cotangents of a generated graph against what each value's readers send back.

``x_bar`` must be the sum, over the operations that read x, of the slope of
``⟨out_bar, operation⟩`` by x, where ``out_bar`` is the generated one.  A wrong
derivative breaks this at one value only; upstream of it all is consistent again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph, Node, Value
from ..interpret import read, run_graph, run_node
from .blame import OFF, Program, plausibility
from .meaning import factors, same
from .moves import (
    SMALL,
    directions,
    inner,
    is_movable,
    magnitude,
    moved,
    shaped,
    size_of,
    symmetric,
)
from .result import Culprit
from .steps import Slope, slope
from .structure import leaves

if TYPE_CHECKING:
    from .inputs import Inputs

__all__ = ["Local"]

Array = np.ndarray[Any, Any]

UNEXPLAINED = 9
"""Worse than any plausibility."""


@dataclass
class _Contribution:
    """The slope of what one operation sends back to a value, along some directions."""

    node: Node
    slopes: list[Slope]

    @property
    def values(self) -> Array:
        return np.array([s.value for s in self.slopes])


class Local(Program):
    """Compares each generated cotangent with what readers must send back."""

    def __init__(self, source: Any, inputs: Inputs) -> None:
        super().__init__(source, inputs)
        # Sharing equal computations drops some cotangents from the tidied graph.
        self.graph: Graph = source.untidied or source.joint
        self.joint = run_graph(self.graph, inputs.bound({}) | self.captured)
        self.parts = self._gradient()
        # What stands in a loop or a branch is a part of a cotangent, or its last item.
        nodes = self.graph.block.nodes
        self.final = {p.value for p in self.graph.params}
        self.final.update(out for node in nodes for out in node.outs)
        self.past: dict[Value, set[int]] = {}
        self.suspects: dict[Value, Culprit] = {}
        self.passed: set[Value] = set()
        self.masked: set[Value] = set()
        self.cotangents: dict[Value, Any] = {}
        self.parameters = {p.value: p.name for p in source.primal.params}
        for value, x in self.env.items():
            found = self._cotangent(value)
            if found is not None and is_movable(x):
                self.cotangents[value] = found

    def _cotangent(self, value: Value) -> Any:
        """Return the cotangent that the graph computes for a value, or None."""
        x = self.env[value]
        if value is self.loss:
            return 1.0
        found = self.source.cotangents.get(value)
        place = getattr(found, "place", None)
        if getattr(found, "state", "clean") != "clean":
            if place is not None or isinstance(x, list) or np.size(x) > SMALL:
                return None
            self.masked.add(value)
            return shaped(self._read(found.value), x)
        if place is not None:
            index = read(place, self.joint)[0]
            made = np.zeros(np.shape(x))
            np.add.at(made, index, self._read(found.value))
            return made
        if value in self.parameters:
            return shaped(self.parts.get(self.parameters[value]), x)
        return shaped(self._read(found), x)

    def _read(self, found: Any) -> Any:
        if isinstance(found, Value):
            return self.joint[found] if found in self.final else None
        return found

    def _gradient(self) -> dict[str, Any]:
        """Return the gradient that the graph gives, by the names of the leaves."""
        given = read(self.graph.result, self.joint)[1]
        wrt = self.inputs.wrt
        # One name may have been given alone, for one gradient, or in a tuple.
        for parts in [given] if len(wrt) > 1 else [(given,), given]:
            if not isinstance(parts, tuple) or len(parts) != len(wrt):
                continue
            found = {
                name: leaf
                for parameter, part in zip(wrt, parts, strict=True)
                for name, leaf in leaves(part, parameter)
            }
            if all(leaf.name in found for leaf in self.inputs.leaves):
                return found
        return {}

    def made(self, gradients: Mapping[int, Array]) -> bool:
        """Say whether the graph gives the gradient that was checked."""
        for number, gradient in gradients.items():
            mine = self.parts.get(self.inputs.leaves[number].name)
            if mine is None or np.shape(mine) != gradient.shape:
                return False
            if not np.allclose(mine, gradient, 1e-6, 1e-300, equal_nan=True):
                return False
        return True

    def culprit(self) -> Culprit | None:
        """Return the operation nearest to the loss that breaks the chain."""
        made = {out: k for k, node in enumerate(self.nodes) for out in node.outs}
        order = sorted(self.cotangents, key=lambda v: made.get(v, -1), reverse=True)
        for value in order:
            if self.late:
                return None
            if value is self.loss or value not in self.readers:
                continue
            found = self.test(value)
            if found is not None:
                return found
        return next(iter(self.suspects.values()), None)

    def test(self, value: Value) -> Culprit | None:
        """Return the culprit among the readers of a value, None if all are right.

        Operations that were fused send cotangents past the values between them.  So
        where just what some readers send is missing, it may have gone further up: the
        value is a suspect until it has turned up there.
        """
        x, x_bar = self.env[value], self.cotangents[value]
        moves = list(directions(x))
        if symmetric(x) and symmetric(x_bar):
            # Of a symmetric matrix only symmetric moves mean anything to `cholesky`.
            moves = [0.5 * (m + m.T) for m in moves]
        self.passed.clear()
        sent = self._all_sent(value, moves, past=True)
        if value in self.masked:
            # Entries that nothing depends on are not cleared until the end.
            used = np.any([c.values != 0.0 for c in sent], axis=0)
            x_bar = np.where(used.reshape(np.shape(x)), x_bar, 0.0)
            self.cotangents[value] = x_bar
        generated = np.array([inner(x_bar, m) for m in moves])
        passed = self.passed & self.suspects.keys()
        if _consistent(generated, sent):
            for v in passed:
                del self.suspects[v]
            return None
        if passed:
            full, sent = sent, self._all_sent(value, moves, past=False)
            if _consistent(generated, sent):
                pairs = zip(self.readers[value], full, sent, strict=True)
                self.past[value] = {
                    k for k, a, b in pairs if not np.allclose(a.values, b.values, OFF)
                }
                return None
        one, ratio = self._whose(value, generated, sent)
        cotangent = self.source.cotangents.get(value)
        found = self.blamed(self._last(one.node), value, ratio, cotangent)
        numbers = range(len(sent))
        for size in range(1, min(len(sent), 4) + 1):
            for missing in combinations(numbers, size):
                rest = [c for n, c in enumerate(sent) if n not in missing]
                if _consistent(generated, rest):
                    self.past[value] = {self.readers[value][n] for n in missing}
                    self.suspects[value] = found
                    return None
        return found

    def _all_sent(
        self, value: Value, moves: list[Any], past: bool
    ) -> list[_Contribution]:
        return [
            _Contribution(
                self.nodes[k], [self._slope(k, value, move, past) for move in moves]
            )
            for k in self.readers[value]
        ]

    def _slope(self, k: int, value: Value, move: Any, past: bool) -> Slope:
        """Return the slope of what node k sends back to a value, along a move."""
        size = size_of(self.env[value], move)
        terms: list[float] = []
        self._sent(k, value, move, past, terms)(0.0)
        return slope(
            self._sent(k, value, move, past),
            0.0,
            start=2.0**-7 * size,
            smallest=2.0**-45 * size,
            scale=max(terms, default=0.0),
        )

    def _sent(
        self,
        k: int,
        value: Value,
        move: Any,
        past: bool,
        terms: list[float] | None = None,
    ) -> Callable[[float], float]:
        """Return Σ⟨u_bar, u⟩ where only node k sees the value moved by t·move.

        The u are the outputs of node k; where one has no cotangent in the graph (it
        was fused with the next operation), those of what reads it.  With `past`, what
        readers sent past a value counts as well.  The sizes of the sums are appended to
        `terms`.
        """

        def function(t: float) -> float:
            local = dict(self.env)
            local[value] = moved(self.env[value], move, t)
            changed: set[Value] = set()
            held: dict[Value, Any] = {}
            total = 0.0
            for n in range(k, len(self.nodes)):
                node = self.nodes[n]
                if n > k:
                    local[value] = self.env[value]
                    seen = [v for v in held if n in self.past[v]]
                    if not seen and not changed.intersection(node.uses):
                        continue
                    local.update((v, held[v]) for v in seen)
                try:
                    made = run_node(node, local)
                except (ArithmeticError, ValueError):
                    return math.nan
                local.update((v, self.env[v]) for v in held)
                for out, new in zip(node.outs, made, strict=True):
                    if out in self.cotangents and is_movable(new):
                        if np.shape(new) != np.shape(self.env[out]):
                            return math.nan
                        off = moved(new, self.env[out], -1.0)
                        total += inner(self.cotangents[out], off)
                        if terms is not None:
                            terms.append(magnitude(self.cotangents[out], new))
                        if past and out in self.past:
                            held[out] = new
                            self.passed.add(out)
                    else:
                        local[out] = new
                        changed.add(out)
            return total

        return function

    def _last(self, node: Node) -> Node:
        """Return the last of the operations from a node on that pass no cotangent on.

        A loop or branch among them is it: the others do one thing each.
        """
        while len(node.outs) == 1 and node.out not in self.cotangents:
            readers = self.readers.get(node.out, [])
            if len(readers) != 1 or node.blocks:
                break
            node = self.nodes[readers[0]]
        return node

    def _whose(
        self, value: Value, generated: Array, sent: list[_Contribution]
    ) -> tuple[_Contribution, Array | None]:
        """Return the contribution that is wrong, and what the gradient has of it."""
        # The length of an array, say, sends nothing back.
        sent = [c for c in sent if np.any(c.values)] or sent
        rank, one, off = self._best(value, generated, sent)
        if rank == UNEXPLAINED:
            # One is wrong, and what others sent went past this value.
            for missing in range(1, min(len(sent), 4)):
                for rest in combinations(sent, len(sent) - missing):
                    found = self._best(value, generated, list(rest))
                    if found[0] < rank:
                        rank, one, off = found
        ratio: Array = (off + one.values) / one.values
        x = self.env[value]
        whole = not isinstance(x, list) and np.size(x) == len(ratio)
        if whole and (len(sent) == 1 or rank < UNEXPLAINED):
            return one, ratio.reshape(np.shape(x))
        if all(same(float(ratio[0]), float(r)) for r in ratio):
            return one, ratio
        return one, None

    def _best(
        self, value: Value, generated: Array, sent: list[_Contribution]
    ) -> tuple[int, _Contribution, Array]:
        """Return the contribution whose scaling explains a cotangent best.

        With it, how readily (0 is best) and what the cotangent is off by.
        """
        off = generated - sum((c.values for c in sent), np.zeros(len(generated)))
        size = float(np.linalg.norm(off))
        ranked = []
        for order, one in enumerate(sent):
            values = one.values
            weight = float(values @ values)
            factor = float(off @ values) / weight if weight else math.nan
            rest = float(np.linalg.norm(off - factor * values))
            if rest <= 1e-4 * size:
                named = factors(self.operands(one.node, value))
                ranked.append((plausibility(1.0 + factor, named), 0.0, order))
            else:
                ranked.append((UNEXPLAINED, rest, order))
        rank, _, order = min(ranked)
        return rank, sent[order], off


def _consistent(generated: Array, sent: list[_Contribution]) -> bool:
    """Say whether a cotangent is the sum of what was sent, along each move."""
    return not any(_breaks(g, sent, j) for j, g in enumerate(generated))


def _breaks(generated: float, sent: list[_Contribution], j: int) -> bool:
    """Say whether a cotangent differs from what was sent along direction j."""
    slopes = [c.slopes[j] for c in sent]
    sizes = [abs(s.value) for s in slopes] + [abs(generated)]
    error = 20.0 * sum(s.error for s in slopes)
    total = sum(s.value for s in slopes)
    if any(s.kink for s in slopes):
        low = sum(min(s.left, s.right) for s in slopes)
        high = sum(max(s.left, s.right) for s in slopes)
        slack = 1e-3 * max([*sizes, abs(low), abs(high)])
        return not (low - slack <= generated <= high + slack) and not math.isnan(low)
    if not math.isfinite(total):
        return False
    if math.isnan(generated):
        return True
    return abs(generated - total) > OFF * max(sizes) + error
