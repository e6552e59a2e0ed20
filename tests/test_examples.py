"""Every example runs as a reader would run it, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*.py") if path.name != "data.py"
)

#: A fit of a network in plain NumPy takes about two seconds.
PATIENCE = 120


def test_the_examples_are_found():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path):
    # The checkout's symback, whether or not one is installed.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "_value_and_grad(" in done.stdout, "prints its generated source"
    assert "_bar" in done.stdout
    source, _, rest = done.stdout.partition("return ")
    assert source
    assert len(rest.splitlines()) > 4, "prints the check and the result"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
