"""The emitted text of 25 corpus functions, kept for people to read.

`pytest --update-golden` writes the files; a change of the text shows in the diff.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import symback
from tests.corpus import Case, all_cases

ROOT = Path(__file__).parents[1]

NAMES = """
scalars.tiny_network
scalars.black_scholes
control_flow.cubic_spline_kernel
control_flow.softabs_pair
loops.horner
loops.ar1_residuals
loops.pair_energy
loops.conv2d_valid
iteration.exponential_smoothing
iteration.mlp_layers
while_loops.babylonian_sqrt
while_loops.skip_negatives
returns.first_positive
returns.chebyshev_five
data.append_states
comprehensions.conditional_comprehension
mutation.recurrence_into_array
mutation.relu_by_mask
mutation.add_at
views.scaled_row_changes_matrix
broadcasting.bias_row
indexing.cross_entropy
linalg.gaussian_nll
models.two_layer_softmax
models.kalman_nll
""".split()

CASES = {case.id: case for case in all_cases()}


def emitted(case: Case) -> str:
    """Return the source that is specialised to a case's arguments."""
    args, kwargs = case.fresh()
    f = symback.differentiable(case.fn, wrt=case.wrt)
    return f.backward_source_for(*args, **kwargs)


def print_all() -> None:
    """Print the text of every golden function; run in fresh interpreters below."""
    for name in NAMES:
        print(emitted(CASES[name]))


def test_there_are_25():
    assert len(set(NAMES)) == 25


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, golden: Callable[[str, str], None]):
    golden(f"{CASES[name].fn.__name__}.py", emitted(CASES[name]))


def test_text_does_not_depend_on_the_run():
    """Byte for byte the same in two interpreters with different hash seeds."""
    texts = []
    for seed in ("1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", "from tests.test_golden import *; print_all()"],
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        )
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) > 250


def stores_and_loads(function: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield every local name of a function, and whether it is read there."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id, isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            # In place, through another name perhaps: not a dead store by itself.
            yield node.target.id, True


@pytest.mark.parametrize("name", NAMES)
def test_no_dead_lines(name: str):
    """Whatever a line computes is used by another."""
    tree = ast.parse(emitted(CASES[name]))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found = list(stores_and_loads(function))
            loaded = {key for key, is_load in found if is_load}
            dead = {key for key, is_load in found if not is_load} - loaded
            assert not {key for key in dead if not key.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_no_bare_copies(name: str):
    """No `a = b` where neither name is written to again."""
    tree = ast.parse(emitted(CASES[name]))
    written: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            written[node.id] = written.get(node.id, 0) + 1
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base = node.value
            if isinstance(base, ast.Name):
                written[base.id] = written.get(base.id, 0) + 1
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and isinstance(node.targets[0], ast.Name)
        ):
            pair = (node.targets[0].id, node.value.id)
            assert max(written.get(key, 0) for key in pair) > 1, ast.unparse(node)
