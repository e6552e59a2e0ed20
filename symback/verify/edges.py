"""Which operation's derivative is wrong, found by differences of single operations.

Two ways, neither of which uses a rule:

- Where the generated graph is at hand, each of its cotangents is compared with what its
  consumers must send back: ``x_bar`` is the sum over the operations that read x of the slope
  of ``⟨out_bar, operation⟩`` by x, with the *generated* ``out_bar``.  A wrong derivative
  breaks this at one value only; upstream of it, all is consistent again.
- Where only a wrong gradient is at hand, or its graph is consistent, one edge of the user's
  graph after the other is scaled: the gradient is wrong by a multiple of what flows through
  the edge whose derivative is wrong by a factor.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InternalError
from ..graph import Graph, Node, Value
from .interpret import Env, read, run_graph, run_node
from .meaning import factors, reading, same
from .result import Culprit
from .steps import Slope, slope
from .structure import leaves

if TYPE_CHECKING:
    from .finite import GradientCheck
    from .inputs import Inputs

__all__ = ["find_culprit"]

Array = np.ndarray[Any, Any]

SECONDS = 5.0
"""The limit of the search."""

PROBES = 6
"""Random directions along which a larger value is moved."""

SMALL = 12
"""Entries up to which each is moved by itself."""

DRAWS = (np.random.Generator, np.random.RandomState, random.Random)

OFF = 1e-5
"""Relative differences beyond this are wrong, not noise."""


def find_culprit(
    result: GradientCheck,
    inputs: Inputs,
    gradients: Mapping[int, Array],
    source: Callable[[], Any] | None,
) -> Culprit | None:
    """Return the operation whose derivative is wrong in a failed check, or None.

    source : gives the graphs, as `symback.run.Source`; None to read the function anew.
    """
    try:
        found = source() if source is not None else _read(inputs)
        with np.errstate(all="ignore"):
            if source is not None:
                search = _Local(found, inputs)
                if search.made(gradients):
                    culprit = search.culprit()
                    if culprit is not None:
                        return culprit
            return _Flow(found, inputs, result).culprit()
    except Exception:
        # A wrong gradient is reported with or without its place.  Functions that cannot
        # be read, or operations that fail on moved numbers, only cost the latter.
        return None


def _read(inputs: Inputs) -> Any:
    from ..run import generate

    return generate(inputs.fn, inputs.bound({}), inputs.wrt, False)


def is_real(x: Any) -> bool:
    """Return whether x can be moved: a real number, or an array of them."""
    if isinstance(x, np.ndarray):
        return bool(x.dtype.kind == "f")
    return isinstance(x, float | np.floating)


def is_movable(x: Any) -> bool:
    """Return whether x is real, or a list of real things."""
    return is_real(x) or (isinstance(x, list) and bool(x) and all(map(is_real, x)))


def inner(x_bar: Any, x: Any) -> float:
    """Return ⟨x_bar, x⟩."""
    if isinstance(x, list):
        return sum(inner(a, b) for a, b in zip(x_bar, x, strict=True))
    return float(np.sum(x_bar * x))


def moved(x: Any, move: Any, t: float) -> Any:
    """Return x + t·move, as the kind of object that x is."""
    if isinstance(x, list):
        return [moved(a, b, t) for a, b in zip(x, move, strict=True)]
    made = x + t * move
    plain = isinstance(x, float) and not isinstance(x, np.generic)
    return float(made) if plain else made


class _Program:
    """The user's graph, run once, with its values."""

    def __init__(self, source: Any, inputs: Inputs) -> None:
        self.source = source
        self.inputs = inputs
        self.captured = source.read_captured()
        self.nodes: tuple[Node, ...] = source.primal.block.nodes
        self.env = self.run({})
        self.loss = source.primal.result
        self.until = time.monotonic() + SECONDS
        if any(isinstance(x, DRAWS) for x in self.env.values()):
            raise InternalError("random draws cannot be repeated node by node")
        self.readers: dict[Value, list[int]] = {}
        for k, node in enumerate(self.nodes):
            for value in dict.fromkeys(node.uses):
                self.readers.setdefault(value, []).append(k)

    def run(self, values: Mapping[int, Array]) -> Env:
        """Return the values of the user's graph with some leaves replaced."""
        return run_graph(
            self.source.primal, self.inputs.bound(values) | self.captured
        )

    @property
    def late(self) -> bool:
        """Return whether the time is up."""
        return time.monotonic() > self.until

    def blamed(
        self, node: Node, value: Value, ratio: Array | None, cotangent: Any = None
    ) -> Culprit:
        """Return the culprit for a node's derivative by a value.

        ratio : what the gradient has of the derivative, entry by entry.
        """
        span = node.span
        name = value.name or _place(node, value)
        why = ""
        if ratio is not None and ratio.size and np.all(np.isfinite(ratio)):
            text = self._ratio_text(node, value, ratio)
            if text:
                why = f"what it sends back to {name} is {text}"
        line, emitted = _emitted(self.source.text, cotangent)
        return Culprit(
            node.op,
            span.file if span else "",
            span.line if span else 0,
            span.text.strip() if span else "",
            name,
            emitted,
            line,
            why,
        )

    def _ratio_text(self, node: Node, value: Value, ratio: Array) -> str | None:
        named = self.operands(node, value)
        first = float(ratio.reshape(-1)[0])
        if all(same(first, float(r)) for r in ratio.reshape(-1)):
            numbers = {n: float(x) for n, x in factors(named).items()}
            return reading(first, {**numbers, **factors(self._named())}, {})
        for name, other in named.items():
            array = np.asarray(other)
            if array.shape == ratio.shape and np.allclose(ratio * array, 1.0, OFF, OFF):
                return f"1/{name} of the slope: a factor {name} is missing"
        return None

    def operands(self, node: Node, value: Value) -> dict[str, Any]:
        """Return what a node reads besides a value: by name, or as it stands."""
        found: dict[str, Any] = {}
        for other in node.args:
            if isinstance(other, Value) and other is not value:
                if is_real(self.env[other]):
                    found[other.name or "its other argument"] = self.env[other]
            elif isinstance(other, int | float) and not isinstance(other, bool):
                found[repr(float(other))] = float(other)
        return found

    def _named(self) -> dict[str, Any]:
        return {v.name: x for v, x in self.env.items() if v.name and is_real(x)}


def _place(node: Node, value: Value) -> str:
    """Say which argument of a node a nameless value is."""
    words = ("first", "second", "third", "fourth")
    for k, arg in enumerate(node.args):
        if arg is value:
            return f"its {words[k]} argument" if k < len(words) else f"argument {k + 1}"
    return "its argument"


def _emitted(text: str, cotangent: Any) -> tuple[int, str]:
    """Return the line of generated source that makes a cotangent: its number and text."""
    name = getattr(cotangent, "name", None)
    found = (0, "")
    if name:
        for number, line in enumerate(text.splitlines(), 1):
            left, sign, _ = line.strip().partition(" ")
            if left == name and sign and "=" in line:
                found = (number, line.partition("  #")[0].strip())
    return found


@dataclass
class _Contribution:
    """The slope of what one operation sends back to a value, along some directions."""

    node: Node
    slopes: list[Slope]

    @property
    def values(self) -> Array:
        return np.array([s.value for s in self.slopes])


class _Local(_Program):
    """Compares each generated cotangent with what the value's readers must send back."""

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
        self.passed: set[Value] = set()
        self.cotangents: dict[Value, Any] = {}
        self.parameters = {p.value: p.name for p in source.primal.params}
        for value, x in self.env.items():
            found = self._cotangent(value)
            if found is not None and is_movable(x):
                self.cotangents[value] = found

    def _cotangent(self, value: Value) -> Any:
        """Return what the graph computes for the cotangent of a value, None if nothing."""
        x = self.env[value]
        if value is self.loss:
            return 1.0
        found = self.source.cotangents.get(value)
        place = getattr(found, "place", None)
        if place is not None:
            index = read(place, self.joint)[0]
            made = np.zeros(np.shape(x))
            np.add.at(made, index, self._read(found.value))
            return made
        if value in self.parameters:
            return _shaped(self.parts.get(self.parameters[value]), x)
        return _shaped(self._read(found), x)

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
        suspects: dict[Value, Culprit] = {}
        for value in order:
            if self.late:
                return None
            if value is self.loss or value not in self.readers:
                continue
            self.passed.clear()
            found = self.test(value)
            through = [v for v in suspects if v in self.passed]
            if found is not None:
                if through:
                    return suspects[through[0]]
                # Operations that were fused send cotangents past the values between
                # them: then what stands here is a part, and right further up.
                suspects[value] = found
                del self.cotangents[value]
                continue
            for v in through:
                del suspects[v]
        return next(iter(suspects.values()), None)

    def test(self, value: Value) -> Culprit | None:
        """Return the culprit among the readers of a value, None if they are consistent."""
        x, x_bar = self.env[value], self.cotangents[value]
        moves = list(_directions(x))
        if _symmetric(x) and _symmetric(x_bar):
            # Of a symmetric matrix only symmetric moves mean anything to `cholesky`.
            moves = [0.5 * (m + m.T) for m in moves]
        generated = np.array([inner(x_bar, m) for m in moves])
        sent = []
        for k in self.readers[value]:
            slopes = [self._slope(k, value, move) for move in moves]
            sent.append(_Contribution(self.nodes[k], slopes))
        wrong = [j for j in range(len(moves)) if _breaks(generated[j], sent, j)]
        if not wrong:
            return None
        contribution, ratio = self._whose(value, generated, sent)
        node = self._last(contribution.node)
        return self.blamed(node, value, ratio, self.source.cotangents.get(value))

    def _slope(self, k: int, value: Value, move: Array) -> Slope:
        """Return the slope of what node k sends back to a value, along a move."""
        size = _size(self.env[value], move)
        terms: list[float] = []
        self._sent(k, value, move, terms)(0.0)
        return slope(
            self._sent(k, value, move),
            0.0,
            start=2.0**-7 * size,
            smallest=2.0**-45 * size,
            scale=max(terms, default=0.0),
        )

    def _sent(
        self, k: int, value: Value, move: Array, terms: list[float] | None = None
    ) -> Callable[[float], float]:
        """Return Σ⟨u_bar, u⟩ where only node k sees the value moved by t·move.

        The u are the outputs of node k; where one has no cotangent in the graph (it
        is a list, or was fused with the next operation), those of what reads it.
        The sizes of the sums are appended to `terms`.
        """

        def function(t: float) -> float:
            local = dict(self.env)
            local[value] = moved(self.env[value], move, t)
            changed: set[Value] = set()
            total = 0.0
            for n in range(k, len(self.nodes)):
                node = self.nodes[n]
                if n > k:
                    local[value] = self.env[value]
                    if not changed.intersection(node.uses):
                        continue
                try:
                    made = run_node(node, local)
                except (ArithmeticError, ValueError):
                    return math.nan
                for out, new in zip(node.outs, made, strict=True):
                    if out in self.cotangents and is_movable(new):
                        off = moved(new, self.env[out], -1.0)
                        total += inner(self.cotangents[out], off)
                        if terms is not None:
                            terms.append(_magnitude(self.cotangents[out], new))
                    else:
                        local[out] = new
                        changed.add(out)
                        self.passed.add(out)
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
        all_sent = sum((c.values for c in sent), np.zeros(len(generated)))
        # The length of an array, say, sends nothing back.
        sent = [c for c in sent if np.any(c.values)] or sent
        off = generated - all_sent
        single = len(sent) == 1
        ranked = []
        for order, one in enumerate(sent):
            values = one.values
            weight = float(values @ values)
            factor = float(off @ values) / weight if weight else math.nan
            rest = float(np.linalg.norm(off - factor * values))
            size = float(np.linalg.norm(off))
            fits = rest <= 1e-4 * size
            named = factors(self.operands(one.node, value))
            rank = _rank(1.0 + factor, named) if fits else 9
            ranked.append((rank, rest if not fits else 0.0, order))
        best = sent[min(ranked)[2]]
        values = best.values
        ratio: Array = (off + values) / values
        x = self.env[value]
        whole = not isinstance(x, list) and np.size(x) == len(ratio)
        if whole and (single or min(ranked)[0] < 9):
            return best, ratio.reshape(np.shape(x))
        if all(same(float(ratio[0]), float(r)) for r in ratio):
            return best, ratio
        return best, None


def _rank(ratio: float, named: Mapping[str, float]) -> int:
    """Say how readily a factor is explained as a mistake; 0 is best."""
    if not math.isfinite(ratio):
        return 8
    if abs(ratio) < OFF:
        return 0
    if any(same(ratio * x, s) for x in named.values() for s in (1.0, -1.0)):
        return 1
    if same(ratio, -1.0):
        return 2
    if any(same(ratio, s * x) for x in named.values() for s in (1.0, -1.0)):
        return 3
    larger = ratio if abs(ratio) >= 1.0 else 1.0 / ratio
    if same(larger, round(larger)):
        return 4
    return 5 if any(same(larger * n, round(larger * n)) for n in range(2, 5)) else 6


def _magnitude(x_bar: Any, x: Any) -> float:
    """Return the sum of the sizes of the terms of ⟨x_bar, x⟩."""
    if isinstance(x, list):
        return sum(_magnitude(a, b) for a, b in zip(x_bar, x, strict=True))
    return float(np.sum(np.abs(x_bar * x)))


def _directions(x: Any) -> Iterator[Any]:
    """Yield moves of a value: each entry by itself, or random signs for all."""
    if isinstance(x, list):
        still = [np.zeros(np.shape(item)) for item in x]
        for k, item in enumerate(x[:SMALL]):
            for move in _directions(item):
                yield [*still[:k], move, *still[k + 1 :]]
        return
    shape, size = np.shape(x), np.size(x)
    if size <= SMALL:
        for index in np.ndindex(*shape):
            move = np.zeros(shape)
            move[index] = 1.0
            yield move
    else:
        rng = np.random.default_rng(0)
        for _ in range(PROBES):
            yield rng.choice([-1.0, 1.0], size=shape)


def _shaped(x_bar: Any, x: Any) -> Any:
    """Return a cotangent in its value's shape, None if it is no real one."""
    if isinstance(x, list):
        if not isinstance(x_bar, list) or len(x_bar) != len(x):
            return None
        items = [_shaped(a, b) for a, b in zip(x_bar, x, strict=True)]
        return None if any(i is None for i in items) else items
    found = np.asarray(x_bar)
    if x_bar is None or found.dtype.kind not in "fiub":
        return None
    return np.broadcast_to(found, np.shape(x))


def _symmetric(x: Any) -> bool:
    """Return whether x is a symmetric matrix, and not just a number."""
    shape: tuple[int, ...] = () if isinstance(x, list) else np.shape(x)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return False
    return bool(np.allclose(x, np.transpose(x), 1e-9, 0.0))


def _size(x: Any, move: Any) -> float:
    """Return the power of two at the size of what is moved, at least 1."""
    if isinstance(x, list):
        return max(_size(a, b) for a, b in zip(x, move, strict=True))
    size = float(np.max(np.abs(np.asarray(x))[np.asarray(move) != 0], initial=1.0))
    return float(2.0 ** math.ceil(math.log2(size))) if math.isfinite(size) else 1.0


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


class _Flow(_Program):
    """Finds the edge whose scaling explains a wrong gradient."""

    def __init__(self, source: Any, inputs: Inputs, result: GradientCheck) -> None:
        super().__init__(source, inputs)
        rows = [r for r in result.rows if r.index is not None and not r.kink and not r.part]
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
                rank = _rank(1.0 + factor, named)
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
        h = 2.0**-17 * _size(leaf.value, move)
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
        h = 2.0**-14 * _size(self.env[value], tangent) / largest
        return (self._loss(k, value, tangent, h) - self._loss(k, value, tangent, -h)) / (
            2.0 * h
        )

    def _loss(self, k: int, value: Value, move: Array, t: float) -> float:
        local = dict(self.env)
        changed: set[Value] = set()
        for n in range(k, len(self.nodes)):
            node = self.nodes[n]
            local[value] = moved(self.env[value], move, t) if n == k else self.env[value]
            if n > k and not changed.intersection(node.uses):
                continue
            local.update(zip(node.outs, run_node(node, local), strict=True))
            changed.update(node.outs)
        return float(np.asarray(local[self.loss]).reshape(()))
