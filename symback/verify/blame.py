"""The user's graph at work, and the words for a fault in one of its operations."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InternalError
from ..graph import Node, Value
from ..interpret import Env, run_graph
from .meaning import factors, reading, same
from .moves import is_real
from .result import Culprit

if TYPE_CHECKING:
    from .inputs import Inputs

__all__ = ["OFF", "Program", "plausibility"]

Array = np.ndarray[Any, Any]

SECONDS = 5.0
"""The limit of the search."""

DRAWS = (np.random.Generator, np.random.RandomState, random.Random)

OFF = 1e-5
"""Relative differences beyond this are wrong, not noise."""


class Program:
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
        return run_graph(self.source.primal, self.inputs.bound(values) | self.captured)

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
        name = value.name or place_of(node, value)
        why = ""
        if ratio is not None and ratio.size and np.all(np.isfinite(ratio)):
            text = self._ratio_text(node, value, ratio)
            if text:
                why = f"what it sends back to {name} is {text}"
        line, emitted = emitted_line(self.source.text, cotangent)
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


def place_of(node: Node, value: Value) -> str:
    """Say which argument of a node a nameless value is."""
    words = ("first", "second", "third", "fourth")
    for k, arg in enumerate(node.args):
        if arg is value:
            return f"its {words[k]} argument" if k < len(words) else f"argument {k + 1}"
    return "its argument"


def emitted_line(text: str, cotangent: Any) -> tuple[int, str]:
    """Return the number and text of the generated line that makes a cotangent."""
    name = getattr(cotangent, "name", None)
    found = (0, "")
    if name:
        for number, line in enumerate(text.splitlines(), 1):
            left, sign, _ = line.strip().partition(" ")
            if left == name and sign and "=" in line:
                found = (number, line.partition("  #")[0].strip())
    return found


def plausibility(ratio: float, named: Mapping[str, float]) -> int:
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
