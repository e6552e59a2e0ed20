"""Sizes that happen to be equal, or one: random programs of slices, windows and masks.

Each program is grown statement by statement beside plain NumPy, so that it runs; its
value and its gradient are compared with NumPy's and with central differences, for the
sizes that it was grown for and then, by the same decorated function, for others.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest

import symback

HEADER = "import numpy as np\n\ndef loss(x, y, A, k):\n"


def arguments(n: int, m: int, k: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=n),
        "y": rng.normal(size=m),
        "A": rng.normal(size=(n, m)),
        "k": k,
    }


def statement(rng: random.Random, vectors: list[str]) -> str:
    """Return an expression that gives a vector, if it runs."""
    v, w = rng.choice(vectors), rng.choice(vectors)
    c = rng.choice((1, 1, 2, 3, 5, 6, 7, 12))
    s = rng.choice((2, 3))
    forms = [
        f"{v}[{c}:]",
        f"{v}[:{c}]",
        f"{v}[-{c}:]",
        f"{v}[:-{c}]",
        f"{v}[{c}:{c + 1}]",
        f"{v}[::{s}]",
        f"{v}[{c}::{s}]",
        f"{v}[k:]",
        f"{v}[:k]",
        f"{v}[: len({w})]",
        f"{v}[len({w}) :]",
        f"{v}[: {v}.size // {s}]",
        f"{v}[{c}:] * {v}[:-{c}]",
        f"{v}[{c}:] - {w}",
        f"np.convolve({v}, np.ones({c}) / {c}, mode='{rng.choice(MODES)}')",
        f"np.convolve({v}, {w}, mode='{rng.choice(MODES)}')",
        f"np.diff({v})",
        f"np.pad({v}, ({c}, {s}))",
        f"np.repeat({v}, {s})",
        f"np.tile({v}, {s})",
        f"np.concatenate([{v}, {w}])",
        f"np.outer({v}, {w}).ravel()",
        f"({v}[:, None] - {w}).sum(axis=0)",
        f"({v}[:, None] * {w}).sum(axis=1)",
        f"{v}.reshape({s}, -1).sum(axis=0)",
        f"{v}.reshape(-1, {s}).sum(axis=0)",
        f"{v}[{v} > {rng.choice((-0.4, 0.0, 0.4, 1.2))}]",
        f"{w}[np.flatnonzero({v} > 0.2)[:1]]",
        f"np.array([np.sum({v}[i : i + {c}]) for i in range({s})])",
        f"np.diagonal(np.outer({v}, {w}))",
        f"np.sum({v}, keepdims=True)",
        "A.sum(axis=0)",
        "A[:, 0]",
        f"A[:{s}].ravel()",
        f"A @ {v}",
        f"{v} @ A",
        f"{v} * {w}",
        f"{v} + {w}",
        f"{v} / (2.0 + {w} ** 2)",
        f"{v} * {w}",
        f"{v} - {w}",
    ]
    return rng.choice(forms)


MODES = ("valid", "same", "full")


def grown(seed: int) -> tuple[str, dict[str, Any]]:
    """Return a program and the arguments that it was grown for."""
    rng = random.Random(seed)
    given = arguments(*(rng.randint(1, 13) for _ in "nm"), rng.randint(1, 4), seed)
    held: dict[str, Any] = dict(given)
    lines: list[str] = []
    vectors = ["x", "y"]
    while len(lines) < 7:
        text = statement(rng, vectors)
        try:
            made = eval(text, {"np": np, **held})
        except (ValueError, IndexError, TypeError):
            continue
        if not isinstance(made, np.ndarray) or made.ndim != 1 or made.size > 300:
            continue
        name = f"v{len(lines)}"
        held[name] = made
        vectors.append(name)
        lines.append(f"    {name} = {text}\n")
    used = [*rng.sample(vectors[2:], 3), vectors[-1]]
    terms = [f"np.sum(np.sin({v}) + 0.1 * {v})" for v in used]
    lines.append(f"    return {' + '.join(terms)} + np.sum(np.cos(x))\n")
    return HEADER + "".join(lines), given


def loaded(text: str, file: str) -> Any:
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    return names["loss"]


def by_differences(f: Any, given: dict[str, Any], name: str) -> np.ndarray:
    h = 1e-5
    slopes = np.zeros_like(given[name])
    for place in np.ndindex(slopes.shape):
        ends = []
        for step in (h, -h):
            moved = {k: np.array(v) if k != "k" else v for k, v in given.items()}
            moved[name][place] += step
            ends.append(f(**moved))
        slopes[place] = (ends[0] - ends[1]) / (2 * h)
    return slopes


def judge(f: Any, given: dict[str, Any], gradient: Any) -> None:
    """Compare value and gradient with NumPy's value and with its differences."""
    wanted = f(**given)
    value, slopes = gradient(**given)
    np.testing.assert_allclose(value, wanted, rtol=1e-10)
    for name, slope in zip("xyA", slopes, strict=True):
        assert slope.shape == given[name].shape
        # A central difference of order two with steps of 1e-5.
        expected = by_differences(f, given, name)
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(slope / scale, expected / scale, atol=2e-6)


@pytest.mark.parametrize("seed", range(60))
def test_random_program(seed: int) -> None:
    text, given = grown(seed)
    f = loaded(text, f"<sizes {seed}>")
    gradient = symback.value_and_grad(f, wrt=("x", "y", "A"))
    print(text, {k: np.shape(v) for k, v in given.items()})
    judge(f, given, gradient)
    rng = random.Random(seed + 1000)
    for _ in range(3):
        n, m = rng.randint(1, 16), rng.randint(1, 16)
        other = arguments(n, m, given["k"], seed)
        try:
            f(**other)
        except (ValueError, IndexError):
            continue
        print(n, m)
        judge(f, other, gradient)
