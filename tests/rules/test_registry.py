"""Every rule of the registry against differences of the function itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from symback.operations import REGISTRY, Rule
from tests.rules.calls import CALLS, ELSEWHERE
from tests.rules.cases import ANY, CONSTANT, INTEGER, RANGES, draw
from tests.rules.evaluate import Flipped, check, function_of, pull

SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (4, 1, 3)),
    ((), (2,)),
    ((0,), (1,)),
]
"""Shapes of an elementwise rule's first and second argument."""


def known(kind: str) -> list[str]:
    """Return the operations of a kind that this NumPy and Python have."""
    return [
        op
        for op, rule in REGISTRY.items()
        # The distributions have a table and tests of their own.
        if kind in rule.kind and function_of(op) and not op.startswith("scipy.stats.")
    ]


ELEMENTWISE = [op for op in known("elementwise") + known("select") if op not in CALLS]
STRUCTURAL = [op for op in known("") if op in CALLS]


def arguments(rule: Rule, shapes: tuple[Any, ...], rng: Any) -> tuple[Any, ...]:
    """Return arguments of an elementwise rule from its ranges."""
    scalar = rule.op.startswith(("math.", "builtins."))
    spans = RANGES.get(rule.op, (ANY,) * len(rule.params))
    args = []
    for k, span in enumerate(spans[: len(rule.params)]):
        if k in INTEGER.get(rule.op, ()):
            args.append(2)
            continue
        x = draw(rng, span, () if scalar else shapes[min(k, len(shapes) - 1)])
        args.append(float(x) if np.ndim(x) == 0 else x)
    return tuple(args)


def test_no_rule_lacks_a_test() -> None:
    missing = [
        op
        for op in known("")
        if REGISTRY[op].kind != "zero"
        and op not in CALLS
        and op not in ELEMENTWISE
        and op not in ELSEWHERE
    ]
    assert not missing


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_elementwise_rule(op: str) -> None:
    rule = REGISTRY[op]
    shapes = SHAPES[:1] if op.startswith(("math.", "builtins.")) else SHAPES
    for number, pair in enumerate(shapes):
        args = arguments(rule, pair, np.random.default_rng([11, number]))
        if any(np.size(a) == 0 for a in args):
            bars = pull(rule, args, out_bar=function_of(op)(*args))  # type: ignore[misc]
            for name, x in zip(rule.params, args, strict=False):
                assert name not in bars or np.shape(bars[name]) == np.shape(x)
            continue
        faults = check(rule, *args, rtol=2e-8, skip=CONSTANT.get(op, ()))
        assert faults == [], f"{op} at {args}"


@pytest.mark.parametrize("op", STRUCTURAL)
def test_structural_rule(op: str) -> None:
    rule = REGISTRY[op]
    for args, kwargs in CALLS[op]:
        empty = any(np.size(a) == 0 for a in args if isinstance(a, np.ndarray))
        faults = check(rule, *args, **{"rtol": 2e-8, **kwargs})
        if empty:
            faults = [f for f in faults if "nothing" not in f]
        assert faults == [], f"{op}{args}{kwargs}"


X, POINT = 0.5 + np.arange(3.0), np.diag([1.0, 2.0, 4.0]) + 0.1
SEVERAL = {
    "np.modf": (7.3 * X,),
    "np.frexp": (7.3 * X,),
    "np.divmod": (7.3 * X, X),
    "builtins.divmod": (7.3, 2.1),
    "np.linalg.slogdet": (POINT,),
    "np.linalg.eigh": (POINT,),
    "np.linalg.eig": (POINT,),
    "np.linalg.svd": (POINT,),
    "np.linalg.qr": (POINT,),
    "np.linalg.lstsq": (POINT[:, :2], X),
    "np.histogram": (X, X, None, None, X),
    "scipy.special.fresnel": (X,),
    "scipy.special.sici": (X,),
    "scipy.special.shichi": (X,),
    "scipy.special.airy": (X,),
    "scipy.linalg.svd": (POINT,),
    "scipy.linalg.eigh": (POINT, POINT),
    "scipy.linalg.cho_factor": (POINT,),
}
"""A call of each operation with several outputs."""


def test_no_rule_with_several_outputs_lacks_a_call() -> None:
    assert set(SEVERAL) == {op for op, rule in REGISTRY.items() if len(rule.outs) > 1}


@pytest.mark.parametrize("op", list(SEVERAL))
def test_none_for_an_output_without_cotangent_is_as_good_as_zeros(op: str) -> None:
    rule = REGISTRY[op]
    outs = function_of(op)(*SEVERAL[op])  # type: ignore[misc]
    active = [k for k, out in enumerate(outs) if np.asarray(out).dtype.kind == "f"]
    for k in active:
        zeros = tuple(0.0 * out + (j == k) for j, out in enumerate(outs))
        nones = tuple(zeros[j] if j == k else None for j in range(len(outs)))
        want = pull(rule, SEVERAL[op], {}, zeros)
        got = pull(rule, SEVERAL[op], {}, nones, none=True)
        for name in want:
            np.testing.assert_allclose(got[name], want[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_float32_stays_float32(op: str) -> None:
    if op.startswith(("math.", "builtins.")):
        return
    rule = REGISTRY[op]
    rng = np.random.default_rng(5)
    args = tuple(
        np.float32(a) if isinstance(a, (float, np.ndarray)) else a
        for a in arguments(rule, ((2, 3), (3,)), rng)
    )
    out = function_of(op)(*args)  # type: ignore[misc]
    bars = pull(rule, args, out_bar=np.ones_like(out))
    wide = pull(
        rule,
        tuple(np.float64(a) if isinstance(a, np.ndarray) else a for a in args),
        out_bar=np.ones_like(out),
    )
    for name, x_bar in bars.items():
        assert np.asarray(x_bar).dtype == np.float32
        np.testing.assert_allclose(x_bar, wide[name], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("op", ELEMENTWISE + STRUCTURAL)
def test_a_flipped_sign_is_noticed(op: str) -> None:
    """Test the tests: a rule with every sign flipped must fail."""
    rule = REGISTRY[op]
    calls = CALLS.get(op) or [
        (
            arguments(rule, ((3,), (3,)), np.random.default_rng([11, 1])),
            {"skip": CONSTANT.get(op, ())},
        )
    ]
    wrong = replace(rule, texts=tuple(t and Flipped(t, rule.kind) for t in rule.texts))
    results = [
        check(wrong, *args, **{"rtol": 2e-8, **kwargs})
        for args, kwargs in calls
        if all(np.size(a) for a in args if isinstance(a, np.ndarray))
    ]
    assert any(results)


@pytest.mark.parametrize(
    ("op", "keywords", "message"),
    [
        ("np.pad", {"mode": "mean"}, "is not supported with `mode='mean'`"),
        ("np.quantile", {"method": "lower"}, "is not supported with `method='lower'`"),
        ("np.gradient", {"edge_order": 2}, "is not supported with `edge_order=`"),
        ("np.average", {"returned": True}, "is not supported with `returned=True`"),
    ],
)
def test_options_without_a_derivative_are_refused(
    op: str, keywords: dict[str, Any], message: str
) -> None:
    args = (X, 0.5) if op == "np.quantile" else (X,)
    if op == "np.pad":
        args = (X, 1)
    assert REGISTRY[op].bind(args, keywords) == message
