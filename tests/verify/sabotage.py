"""Rules made wrong on purpose: signs, factors, swapped and dropped partials."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symback.operations import REGISTRY, Rule

COUNTER = itertools.count()


@dataclass(frozen=True)
class Sabotage:
    """One rule with one text replaced."""

    op: str
    kind: str
    position: int
    rule: Rule


def scaled(text: Any, factor: str, folder: Path) -> Any:
    """Return a text that passes back `factor` times as much."""
    if isinstance(text, str):
        return f"{factor} * ({text})"
    return wrapped(text, factor, folder)


def wrapped(function: Callable[..., Any], factor: str, folder: Path) -> Any:
    """Return a pullback whose cotangents are multiplied; it is linear in them."""
    names = list(inspect.signature(function).parameters)
    call = ", ".join(
        f"{n}={factor} * {n}" if n.endswith("_bar") else f"{n}={n}" for n in names
    )
    number = next(COUNTER)
    path = folder / f"sabotage_{number}.py"
    path.write_text(
        f"from {function.__module__} import {function.__name__} as original\n\n\n"
        f"def {function.__name__}({', '.join(names)}):\n    return original({call})\n",
        encoding="utf-8",
    )
    spec = importlib.util.spec_from_file_location(f"symback_sabotage_{number}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, function.__name__)


def with_text(rule: Rule, position: int, text: Any) -> Rule:
    texts = list(rule.texts)
    texts[position] = text
    tie = list(rule.tie)
    if position < len(tie) and tie[position] is not None:
        tie[position] = text
    return replace(rule, texts=tuple(texts), tie=tuple(tie))


def sabotages(op: str, folder: Path) -> Iterator[Sabotage]:
    """Yield the rule of an operation, wrong in one way at a time."""
    rule = REGISTRY[op]
    active = [k for k, t in enumerate(rule.texts) if t is not None]
    for k in active:
        text = rule.texts[k]
        if rule.kind == "select":
            if isinstance(text, str):
                wrong = with_text(rule, k, f"np.logical_not({text})")
                yield Sabotage(op, "mask", k, wrong)
            continue
        for kind, factor in (("sign", "-1.0"), ("factor", "1.5"), ("dropped", "0.0")):
            yield Sabotage(
                op, kind, k, with_text(rule, k, scaled(text, factor, folder))
            )
    for a, b in itertools.pairwise(active):
        if rule.texts[a] != rule.texts[b] and rule.kind == "elementwise":
            texts = list(rule.texts)
            texts[a], texts[b] = texts[b], texts[a]
            yield Sabotage(op, "operands", a, replace(rule, texts=tuple(texts), tie=()))


@contextmanager
def sabotaged(one: Sabotage) -> Iterator[None]:
    """Put a wrong rule in the registry for a while."""
    right = REGISTRY[one.op]
    REGISTRY[one.op] = one.rule
    try:
        yield
    finally:
        REGISTRY[one.op] = right
