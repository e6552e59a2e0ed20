"""What all tests share: one BLAS thread, and files of expected text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

# Before NumPy is imported: tests run side by side, and results do not depend on it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the text that symback now emits over tests/golden, for review",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return `golden(name, text)`: text must be what tests/golden/<name> holds."""
    update: bool = request.config.getoption("--update-golden")

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no {path.name}: run pytest --update-golden and read it"
        assert text == path.read_text(encoding="utf-8")

    return compare
