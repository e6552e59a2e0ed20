"""A loss for each built-in rule: the operation, times weights, summed.

The text of each loss is written to a file, for its source must be readable.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symback.operations import REGISTRY, Rule
from tests.rules.calls import CALLS, ELSEWHERE
from tests.rules.cases import ANY, CONSTANT, INTEGER, RANGES, draw
from tests.rules.evaluate import function_of

SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
}
PYTHON = ("math.", "builtins.")
MODULES = ("integrate", "linalg", "spatial.distance", "special", "stats")
COUNTER = itertools.count()


@dataclass(frozen=True)
class Loss:
    """A function, its arguments and the parameters that are differentiated."""

    op: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[str, ...]
    text: str


def real(x: Any) -> bool:
    """Return whether x is a float or holds floats."""
    if isinstance(x, (list, tuple)):
        return bool(x) and all(real(i) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f"
    return isinstance(x, float)


def expression(op: str, args: list[str], kwargs: dict[str, str]) -> str:
    """Return a call as text."""
    if op in SYMBOLS:
        return f"{args[0]} {SYMBOLS[op]} {args[1]}"
    if op == "neg":
        return f"-{args[0]}"
    if op == "getitem":
        return f"{args[0]}[{args[1]}]"
    name = op.removeprefix("builtins.")
    parts = [*args, *(f"{k}={v}" for k, v in kwargs.items())]
    return f"{name}({', '.join(parts)})"


def built(op: str, args: tuple[Any, ...], kwargs: dict[str, Any], folder: Path) -> Loss:
    """Write the loss of one call to a file and import it."""
    rule = REGISTRY[op]
    pick = kwargs.get("pick")
    fixed = {*kwargs.get("skip", ()), *CONSTANT.get(op, ())}
    kwargs = {
        k: v for k, v in kwargs.items() if k not in ("rtol", "pick", "skip", "step")
    }
    params: dict[str, Any] = {}
    wrt: list[str] = []
    bound = [*rule.params] + [rule.params[-1]] * len(args)

    def name_of(value: Any, parameter: str) -> str:
        parameter = parameter.lstrip("*")
        if isinstance(value, np.ndarray) or real(value):
            name = f"a{len(params)}"
            params[name] = value
            if real(value) and parameter not in fixed:
                wrt.append(name)
            return name
        if isinstance(value, type):
            return f"np.{value.__name__}" if value is not float else "float"
        return repr(value)

    texts = [name_of(a, p) for a, p in zip(args, bound, strict=False)]
    named = {k: name_of(v, k) for k, v in kwargs.items()}
    out = function_of(op)(*args, **kwargs)  # type: ignore[misc]
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    chosen = range(len(outs)) if pick is None else pick
    terms = []
    rng = np.random.default_rng(5)
    for k in chosen:
        if np.asarray(outs[k]).dtype.kind != "f":
            continue
        params[f"k{k}"] = np.asarray(rng.uniform(0.5, 1.5, np.shape(outs[k])))[()]
        if isinstance(params[f"k{k}"], np.floating) and op.startswith(PYTHON):
            params[f"k{k}"] = float(params[f"k{k}"])
        part = "out" if not isinstance(out, (tuple, list)) else f"out[{k}]"
        # Weighted by another operation than the one tested.
        if np.ndim(outs[k]) == 0:
            terms.append(f"{part} / k{k}" if op == "mul" else f"{part} * k{k}")
        elif op == "np.vdot":
            terms.append(f"np.sum({part} * k{k})")
        else:
            terms.append(f"np.vdot({part}, k{k})")
    text = (
        "import builtins\nimport math\nimport operator\n\nimport numpy as np\n"
        + ("".join(f"import scipy.{m}\n" for m in MODULES) if "scipy" in op else "")
        + f"\n\ndef loss({', '.join(params)}):\n"
        f"    out = {expression(op, texts, named)}\n"
        f"    return {' + '.join(terms)}\n"
    )
    number = next(COUNTER)
    path = folder / f"rule_{number}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"symback_rule_{number}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return Loss(op, module.loss, tuple(params.values()), tuple(wrt), text)


def elementwise_args(
    rule: Rule, shapes: tuple[tuple[int, ...], ...]
) -> tuple[Any, ...]:
    """Return arguments of an elementwise rule within its ranges."""
    rng = np.random.default_rng(11)
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


def losses(folder: Path, most: int = 100) -> Iterator[Loss]:
    """Yield losses for all rules that have derivatives, at most `most` a rule."""
    for op, rule in REGISTRY.items():
        if rule.kind == "zero" or op.startswith("scipy.stats.") or not function_of(op):
            continue
        if op in CALLS:
            calls = CALLS[op]
        elif op in ELSEWHERE or rule.kind not in ("elementwise", "select"):
            continue
        else:
            shapes = ((2, 2), (2,), (2,), (2,)) if len(rule.params) > 1 else ((2,),)
            calls = [(elementwise_args(rule, shapes), {})]
        count = 0
        for args, kwargs in calls:
            if count >= most or not fits(args, kwargs):
                continue
            made = built(op, args, kwargs, folder)
            if made.wrt:
                count += 1
                yield made


def fits(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a call is real and can be written as text."""
    for x in [*args, *kwargs.values()]:
        for leaf in x if isinstance(x, (list, tuple)) else [x]:
            if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "c":
                return False
            if isinstance(leaf, (complex, range)) or callable(leaf):
                return False
            if isinstance(leaf, (list, tuple)) and any(
                isinstance(i, np.ndarray) for i in leaf
            ):
                return False
    return True
