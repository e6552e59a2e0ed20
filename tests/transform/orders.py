"""Derivatives of gradients against central differences of the gradient.

A gradient g of a function is pulled back along a random cotangent v, and the result
compared along a random direction d with the differences of <g(x + h d), v>.
"""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import symback
from symback.api.pullbacks import Pulled

__all__ = ["assert_second_order"]

STEPS = (1e-3, 5e-4, 2.5e-4)


def drawn(tree: Any, rng: np.random.Generator) -> Any:
    """Return random numbers in the structure of a gradient."""
    if isinstance(tree, np.ndarray):
        return rng.standard_normal(tree.shape)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(drawn(t, rng) for t in tree))
    if isinstance(tree, list | tuple):
        return type(tree)(drawn(t, rng) for t in tree)
    if isinstance(tree, dict):
        return {k: drawn(t, rng) for k, t in tree.items()}
    return None if tree is None else float(rng.standard_normal())


def inner(a: Any, b: Any) -> float:
    """Return the inner product of two nested structures."""
    if a is None or b is None:
        return 0.0
    if isinstance(a, list | tuple):
        return sum(inner(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return sum(inner(a[k], b[k]) for k in a)
    return float(np.sum(np.asarray(a) * np.asarray(b)))


def moved(tree: Any, step: Any, h: float) -> Any:
    """Return a nested structure moved along another."""
    if step is None:
        return tree
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(moved(x, y, h) for x, y in zip(tree, step, strict=True)))
    if isinstance(tree, list | tuple):
        return type(tree)(moved(x, y, h) for x, y in zip(tree, step, strict=True))
    if isinstance(tree, dict):
        return {k: moved(tree[k], step[k], h) for k in tree}
    return tree + h * np.asarray(step)[()]


def assert_second_order(
    function: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[str, ...]
) -> None:
    """Assert that the gradient of a gradient agrees with differences.

    rtol=1e-6: differences of order four with steps of 1e-3, of a gradient right to
    1e-13.
    """
    gradient = symback.grad(function, wrt=wrt)
    rng = np.random.default_rng(0)
    base = gradient(*copy.deepcopy(args))
    v = drawn(base, rng)
    d = tuple(drawn(b, rng) for b in base)
    pulled = Pulled(gradient, wrt)
    bound = pulled._floated(pulled._bound(copy.deepcopy(args), {}))
    found = pulled._specialised(bound, tuple(bound.values()))
    bars = found.call((*bound.values(), v))[1]
    names = list(inspect.signature(function).parameters)

    def along(h: float) -> float:
        here = list(copy.deepcopy(args))
        for name, step in zip(wrt, d, strict=True):
            place = names.index(name)
            here[place] = moved(here[place], step, h)
        return inner(gradient(*here), v)

    slopes = [(along(h) - along(-h)) / (2 * h) for h in STEPS]
    better = [(4 * b - a) / 3 for a, b in itertools.pairwise(slopes)]
    error = abs(better[1] - better[0])
    got = inner(bars, d)
    assert abs(got - better[1]) <= 1e-6 * max(1.0, abs(got)) + 10 * error
