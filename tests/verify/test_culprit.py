"""A wrong gradient is traced to the operation whose derivative is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import symback
from symback.operations import REGISTRY
from tests.verify.models import MODELS, compared

EDITS = [
    ("tiny", "h_bar = s_bar * v", "h_bar = s_bar", "s = v * h + c", "mul"),
    ("tiny", "c_bar = s_bar", "c_bar = 2 * s_bar", "s = v * h + c", "add"),
    ("tiny", "(z > 0.0)", "(z < 0.0)", "h = np.maximum(z, 0.0)", "np.maximum"),
    ("network", "1.0 - h**2", "1.0 + h**2", "h = np.tanh(h @ W + b)", "np.tanh"),
    ("network", "2.0 / e.size", "1.0 / e.size", "return np.mean(e**2)", ""),
    (
        "recurrent",
        "(1.0 - h**2)",
        "(1.0 - h)",
        "h = np.tanh(W @ h + U @ xs[t])",
        "np.tanh",
    ),
    (
        "recurrent",
        "np.outer(z_bar, xs[t])",
        "np.outer(xs[t], z_bar)",
        "h = np.tanh(W @ h + U @ xs[t])",
        "np.matmul",
    ),
    ("log_det", "inv(A).T", "inv(A)", "return np.linalg.slogdet(A)[1]", ""),
    (
        "gaussian",
        "-np.outer(off_bar, z)",
        "np.outer(off_bar, z)",
        "z = np.linalg.solve(L, x - m)",
        "np.linalg.solve",
    ),
    (
        "huber",
        "np.where(small, r,",
        "np.where(small, 2 * r,",
        "return np.sum(np.where(small",
        "",
    ),
]


@pytest.mark.parametrize(("name", "right", "wrong", "code", "op"), EDITS)
def test_culprit(name: str, right: str, wrong: str, code: str, op: str) -> None:
    model = MODELS[name]
    assert right in model.source
    found = compared(model, model.source.replace(right, wrong))
    assert found.verdict == "refuted"
    assert found.culprit is not None
    assert found.culprit.code.startswith(code)
    assert found.culprit.file.endswith("models.py")
    if op:
        assert found.culprit.op == op
        assert wrong in found.culprit.emitted or not found.culprit.emitted


def test_missing_path_is_called_missing() -> None:
    model = MODELS["recurrent"]
    wrong = model.source.replace("h_bar = h_bar + 2.0 * h", "h_bar = 2.0 * h")
    found = compared(model, wrong)
    assert found.verdict == "refuted"
    assert found.culprit is not None
    assert found.culprit.why == "its contribution is missing"
    assert found.culprit.op == "np.matmul"
    assert found.culprit.code == "h = np.tanh(W @ h + U @ xs[t])"


def test_terms_that_cancel_are_no_error() -> None:
    """S·n(d₁) = K·exp(−rT)·n(d₂): this path carries nothing, and no digit says so."""
    model = MODELS["black_scholes"]
    line = "    r_bar = r_bar + d1_bar * T / (sigma * root)\n"
    assert compared(model, model.source.replace(line, "")).verdict == "agrees"


def test_right_gradient_has_no_culprit() -> None:
    assert compared(MODELS["tiny"]).culprit is None


def loss_of_product(w, x):
    y = w * x
    return np.sum(np.sin(y))


def test_a_rule_is_the_culprit_where_a_product_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of what sin sends back to y is wrong at sin, not at what made y."""
    wrong = replace(REGISTRY["np.sin"], texts=("np.cos(x) / 2",), tie=())
    monkeypatch.setitem(REGISTRY, "np.sin", wrong)
    for wrt in ("w", ("w", "x")):
        f = symback.differentiable(loss_of_product, wrt=wrt)
        found = f.compare(1.0, np.arange(3.0))
        assert found.verdict == "refuted"
        assert found.culprit is not None
        assert found.culprit.op == "np.sin"
        assert found.culprit.code == "return np.sum(np.sin(y))"
