"""The witnesses are independent: whichever rule is made wrong, they say so.

Every built-in rule is sabotaged in turn (sign, factor, dropped contribution, mask,
swapped operands), the gradient generated again, and compared.  The comparison must
refute at least 99% of what changes the gradient, never call it proved, and name the
operation in at least 95% of the cases in which one operation is wrong.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symback
from symback.operations import REGISTRY
from symback.verify import Generated, compare
from symback.verify.result import Comparison
from tests.verify.models import MODELS
from tests.verify.rule_losses import Loss, losses
from tests.verify.sabotage import Sabotage, sabotaged, sabotages

ALIASES = {
    "truediv": "divide",
    "true_divide": "divide",
    "sub": "subtract",
    "mul": "multiply",
    "neg": "negative",
    "mod": "remainder",
    "pow": "power",
    "float_power": "power",
    "conj": "conjugate",
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "permute_dims": "transpose",
    "linspace": "linspace",
}
"""What NumPy's own ufuncs are called where rules use another name."""


def flat(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, (list, tuple)):
        return np.concatenate([flat(i) for i in x]) if x else np.zeros(0)
    return np.ravel(np.asarray(x, dtype=float))


def name_of(op: str) -> str:
    last = op.rpartition(".")[2]
    return ALIASES.get(last, last)


def attempt(loss: Loss, one: Sabotage, right: Any, source: str) -> Comparison | None:
    """Compare a sabotaged gradient; None where the sabotage changes nothing."""
    with sabotaged(one):
        wrong = symback.differentiable(loss.function, wrt=loss.wrt, witness=None)
        try:
            if wrong.backward_source_for(*loss.args) == source:
                return None
        except symback.SymbackError:
            return None  # so wrong that nothing can be generated
        found = wrong.compare(*loss.args, seconds=10)
        try:
            same = np.allclose(flat(wrong.grad_fn(*loss.args)), flat(right), rtol=1e-12)
        except (ValueError, TypeError):
            same = False
    return None if same else found


def chosen(loss: Loss, number: int, folder: Path) -> list[Sabotage]:
    """Return one sabotage of a rule, another kind each time; all would take long."""
    every = list(sabotages(loss.op, folder))
    return [every[number % len(every)]] if every else []


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """Return (operation, kind, verdict, culprit) of one sabotage for each rule."""
    folder = tmp_path_factory.mktemp("rules")
    done: list[tuple[Any, ...]] = []
    for number, loss in enumerate(losses(folder, 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plain = symback.differentiable(loss.function, wrt=loss.wrt)
                source = plain.backward_source_for(*loss.args)
                right = plain.grad_fn(*loss.args)
            except symback.SymbackError:
                continue  # not a real loss, a complex result for example
            for one in chosen(loss, number, folder):
                found = attempt(loss, one, right, source)
                if found is not None:
                    culprit = found.culprit.op if found.culprit else ""
                    by_symbols = not any("not compared on" in f for f in found.findings)
                    done.append((one.op, one.kind, found.verdict, culprit, by_symbols))
    return done


def test_sabotaged_rules_are_refuted(attempts: list[tuple[Any, ...]]) -> None:
    assert len(attempts) > 200
    # What no witness can run is undecided, and says so; it never counts as right.
    decided = [a for a in attempts if a[2] != "undecided"]
    missed = [a for a in decided if a[2] != "refuted"]
    assert len(missed) <= 0.01 * len(decided), missed
    assert not [a for a in attempts if a[2] == "proved"]
    assert len(decided) > 0.8 * len(attempts)


def test_culprits_are_named(attempts: list[tuple[Any, ...]]) -> None:
    single = [a for a in attempts if a[2] == "refuted" and a[1] != "operands" and a[4]]
    right = [a for a in single if name_of(a[3]) == name_of(a[0])]
    wrong = [a for a in single if a not in right]
    assert len(right) >= 0.95 * len(single), wrong


def test_registry_is_as_before() -> None:
    assert all(rule.op == op for op, rule in REGISTRY.items())


# ---------------------------------------------------------------- what rules do not do


def without_sum(text: str) -> str:
    """Leave out an unbroadcast: np.sum(x, axis=0) becomes x."""
    return re.sub(r"np\.sum\(([\w.]+), axis=0\)", r"\1", text, count=1)


def forward_order(text: str) -> str:
    """Walk saved values in the wrong direction: each is stale."""
    return re.sub(r"reversed\((\w*saved\w*)\)", r"\1", text)


def one_path(text: str) -> str:
    """Drop a contribution: the second of two sums into one cotangent."""
    lines = text.splitlines(keepends=True)
    sums = [k for k, line in enumerate(lines) if re.match(r" +\w+_bar\S* \+= ", line)]
    return "".join(line for k, line in enumerate(lines) if k != sums[-1])


def edited(name: str, edit: Callable[[str], str]) -> Comparison:
    model = MODELS[name]
    plain = symback.differentiable(model.loss, wrt=model.wrt)

    def generate(args: Any, kwargs: Any) -> Generated:
        found = plain._generated(args, kwargs)
        wrong = edit(found.source)
        assert wrong != found.source, found.source
        return Generated(wrong, found.name, found.captured)

    return compare(model.loss, model.args, {}, wrt=model.wrt, generate=generate)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("network", without_sum),
        ("recurrent", forward_order),
        ("recurrent", one_path),
        ("rosenbrock", one_path),
    ],
)
def test_sabotaged_transform_is_refuted(name: str, edit: Callable[[str], str]) -> None:
    assert edited(name, edit).verdict == "refuted"
