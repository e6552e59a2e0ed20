"""The losses that people come with, compared with gradients written by hand."""

from __future__ import annotations

import time

import pytest

import symback
from tests.verify.models import MODELS, compared


@pytest.mark.parametrize("name", MODELS)
def test_hand_written_gradient_is_proved(name: str) -> None:
    found = compared(MODELS[name])
    assert found.verdict == "proved", str(found)
    assert found.complete
    assert not found.kinks
    assert found.witnesses
    assert all(w.agrees for w in found.witnesses)
    assert all(r.difference is not None and r.difference < 1e-50 for r in found.rows)


@pytest.mark.parametrize("name", MODELS)
def test_generated_gradient_is_proved(name: str) -> None:
    model = MODELS[name]
    found = symback.differentiable(model.loss, wrt=model.wrt).compare(*model.args)
    assert found.verdict == "proved", str(found)


def test_limits_of_time() -> None:
    limits = {"tiny": 1.0, "cross_entropy": 3.0, "recurrent": 15.0}
    compared(MODELS["tiny"])  # SymPy is imported once
    for name, seconds in limits.items():
        start = time.perf_counter()
        compared(MODELS[name])
        assert time.perf_counter() - start < seconds
