"""Programs that nobody thought of, against finite differences of themselves."""

from __future__ import annotations

import functools
import linecache
from typing import Any

import numpy as np
import pytest

import symback
from tests import oracle
from tests.random_programs import program
from tests.standalone import run_generic, run_specialised

NAMES = ("x", "a", "b")
SEEDS = range(120)
#: Programs of which a branch flips within the largest step of the differences, or
#: that raise in plain Python, say nothing; there are few.
ACCURATE = 1e-9


def point(seed: int) -> tuple[Any, ...]:
    """Return fresh arguments for a seed."""
    rng = np.random.default_rng(seed)
    return float(rng.normal()), rng.normal(size=3), rng.normal(size=3)


def load(seed: int) -> Any:
    """Return the function of a seed, its text where `inspect` finds it."""
    text = program(seed)
    file = f"<random program {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {}
    exec(compile(text, file, "exec"), namespace)
    return namespace["loss"]


@functools.cache
def reference(seed: int) -> tuple[float, dict[str, Any]] | None:
    """Return value and differences, or None where they say nothing."""
    fn = load(seed)
    with np.errstate(all="raise"):
        try:
            value = float(fn(*point(seed)))
            found = {n: oracle.numeric_gradient(fn, point(seed), {}, n) for n in NAMES}
        except (ArithmeticError, TypeError, ValueError):
            return None
    errors = [e.error for part in found.values() for e in part.values()]
    if not (np.isfinite(value) and max(errors) < ACCURATE):
        return None
    return value, found


def assert_right(seed: int, value: Any, gradient: Any) -> None:
    """Assert value and gradient, with the program in the message."""
    expected = reference(seed)
    assert expected is not None
    faults = []
    if not np.isclose(value, expected[0], rtol=1e-12, atol=1e-14):
        faults.append(f"value {value!r}, not {expected[0]!r}")
    for name, part, parameter in zip(NAMES, gradient, point(seed), strict=True):
        faults += oracle.same_structure(part, parameter, name)
        faults += oracle.mismatches(part, expected[1][name], 1e-6, expected[0])
    assert not faults, "\n".join([*faults, program(seed)])


@functools.cache
def refused(seed: int) -> bool:
    """Return whether the program is refused by name, for the one known reason.

    Two names may share memory on one path and not on another.
    """
    try:
        symback.differentiable(load(seed), wrt="all").backward_source_for(*point(seed))
    except symback.UnsupportedSyntaxError as refusal:
        if "may share memory" not in str(refusal):
            raise
        return True
    return False


@pytest.mark.parametrize("seed", SEEDS)
def test_specialised(seed: int):
    if reference(seed) is None:
        return
    args = point(seed)
    f = symback.differentiable(load(seed), wrt="all")
    if refused(seed):
        return
    value, gradient = f.value_and_grad_fn(*args)
    assert_right(seed, value, gradient)
    assert oracle.unchanged(args, point(seed))
    assert_right(seed, *run_specialised(f, "all", point(seed), {}))


@pytest.mark.parametrize("seed", SEEDS)
def test_generic(seed: int):
    if reference(seed) is None:
        return
    f = symback.differentiable(load(seed), wrt="all")
    try:
        f.backward_source  # noqa: B018 - a property that refuses
    except symback.UnsupportedSyntaxError as refusal:
        notes = "\n".join([str(refusal), *getattr(refusal, "__notes__", ())])
        assert "backward_source_for" in notes or refused(seed)
        return
    assert_right(seed, *run_generic(f, "all", point(seed), {}))


def test_most_programs_say_something():
    silent = [seed for seed in SEEDS if reference(seed) is None]
    assert len(silent) < 0.05 * len(SEEDS), silent
    assert sum(map(refused, SEEDS)) < 0.05 * len(SEEDS)
