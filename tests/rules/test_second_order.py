"""Every operation with a rule can be differentiated twice, elementwise ones thrice."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import symback
from symback.errors import SymbackError
from symback.operations import REGISTRY
from tests.rules.cases import ANY, CONSTANT, INTEGER, RANGES
from tests.transform.orders import assert_second_order
from tests.verify.rule_losses import losses

PARTS = 8
"""Tests that share the losses of all rules."""

SINGLE = {"np.float16", "np.float32", "np.half", "np.single"}
"""Casts whose gradient is too coarse for differences."""


@pytest.mark.parametrize("part", range(PARTS))
def test_second_order_of_every_rule(part: int, tmp_path: Path) -> None:
    tried = 0
    for number, loss in enumerate(losses(tmp_path, 1)):
        if number % PARTS != part or loss.op in SINGLE or "runtime." in loss.op:
            continue
        try:
            symback.grad(loss.function, wrt=loss.wrt)(*loss.args)
        except SymbackError:
            continue  # a loss that the first order refuses is tested elsewhere
        tried += 1
        with np.errstate(all="ignore"):
            assert_second_order(loss.function, loss.args, loss.wrt)
    assert tried > 15


ELEMENTWISE = [
    op
    for op, rule in REGISTRY.items()
    if rule.kind == "elementwise"
    and len(rule.params) == 1
    and op.startswith("np.")
    and op not in SINGLE
    and op not in CONSTANT
    and op not in INTEGER
]


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_third_order_of_elementwise_rules(op: str, tmp_path: Path) -> None:
    """Third derivatives are the differences of the second ones."""
    low, high = RANGES.get(op, (ANY,))[0]
    x = low + 0.4 * (high - low)
    path = tmp_path / "third.py"
    path.write_text(f"import numpy as np\n\n\ndef f(x):\n    return {op}(x)\n")
    spec = importlib.util.spec_from_file_location("third", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    second = symback.grad(symback.grad(module.f))
    third = symback.grad(second)(x)
    slopes = [(second(x + h) - second(x - h)) / (2 * h) for h in (1e-3, 5e-4)]
    # rtol=1e-6: differences of order four with steps of 1e-3.
    assert third == pytest.approx((4 * slopes[1] - slopes[0]) / 3, rel=1e-6, abs=1e-6)
