"""Runs the rules as plain Python on numbers, and differentiates by differences.

Nothing here reads a rule's text to know what is right: the witness is a sixth-order
central difference of the function itself.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats

from symback import runtime
from symback.operations import helpers
from symback.operations.registry import Rule, find

NAMESPACE: dict[str, Any] = {
    "np": np,
    "math": math,
    "scipy": scipy,
    "runtime": runtime,
    **{name: getattr(helpers, name) for name in helpers.__all__},
}
"""What a text may name besides its rule's own parameters and outputs."""

STENCIL = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
"""Offsets and weights of the sixth-order central difference."""


def function_of(op: str) -> Callable[..., Any] | None:
    """Return the function that an operation names, or None if this NumPy lacks it."""
    place: Any
    head, *path = op.split(".")
    if not path:
        return getattr(operator, head if head != "invert" else "invert", None)
    place: Any = {"builtins": builtins, **NAMESPACE}.get(head)
    for name in path:
        place = getattr(place, name, None)
    return place


@dataclass(frozen=True)
class Flipped:
    """A text whose sign, or whose mask's truth, is wrong: to test the tests."""

    text: Any
    kind: str


def negative(x: Any) -> Any:
    """Return a cotangent, or nested ones, with the sign flipped."""
    if isinstance(x, (list, tuple)):
        return [negative(item) for item in x]
    return None if x is None else -1.0 * x


def call_text(text: Any, names: Mapping[str, Any]) -> Any:
    """Evaluate a rule's text, or call its function with the names that it asks for."""
    if isinstance(text, Flipped):
        value = call_text(text.text, names)
        return np.logical_not(value) if text.kind == "select" else negative(value)
    if isinstance(text, str):
        return eval(text, dict(NAMESPACE), dict(names))
    wanted = inspect.signature(text).parameters
    return text(**{name: names[name] for name in wanted})


def zeros_of(out: Any) -> Any:
    """Return a zero cotangent of an output."""
    return np.zeros_like(out)[()]


def pull(
    rule: Rule,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    out_bar: Any = None,
    active: int = 1,
    function: Callable[..., Any] | None = None,
    none: bool = False,
) -> dict[str, Any]:
    """Return the cotangent of each argument that has a text, by parameter name.

    `out_bar` is one cotangent or, for several outputs, a tuple with None for zero;
    with `none` the texts see that None.
    `active` of 2 or more uses the rule's `tie` texts.
    """
    kwargs = kwargs or {}
    function = function or function_of(rule.op)
    assert function is not None
    bound = rule.bind(args, kwargs)
    assert isinstance(bound, dict), f"{rule.op} {bound}"
    out = function(*args, **kwargs)
    names = {key.lstrip("*"): value for key, value in bound.items()}
    if rule.outs[0].startswith("*"):
        title = rule.outs[0][1:]
        names[title], names[f"{title}_bar"] = out, out_bar
    elif len(rule.outs) > 1:
        bars = out_bar
        for name, value, bar in zip(rule.outs, out, bars, strict=True):
            names[name] = value
            names[f"{name}_bar"] = zeros_of(value) if bar is None and not none else bar
    else:
        names[rule.outs[0]] = out
        names[f"{rule.outs[0]}_bar"] = out_bar
    texts = rule.tie if rule.tie and active > 1 else rule.texts
    found: dict[str, Any] = {}
    for param, text in zip(rule.params, texts, strict=False):
        key = param.lstrip("*")
        if text is None or (key in names and names[key] is None):
            continue
        value = call_text(text, names)
        if rule.kind == "pullback":
            found[key] = value
            continue
        if rule.kind == "select" and texts is rule.texts:
            x_bar = np.where(value, out_bar, 0.0)
        else:
            x_bar = out_bar * value
        found[key] = runtime.unbroadcast(x_bar, names[key])
    return found


def entries(value: Any) -> list[tuple[Any, ...]]:
    """Return the paths to the float leaves of nested lists."""
    if isinstance(value, (list, tuple)):
        return [(k, *rest) for k, v in enumerate(value) for rest in entries(v)]
    if isinstance(value, (bool, str, type(None), type, range)):
        return []
    if np.asarray(value).dtype.kind in "fc":
        return [()]
    return []


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the leaf at a path."""
    for key in path:
        value = value[key]
    return value


def put(value: Any, path: tuple[Any, ...], leaf: Any) -> Any:
    """Return the structure with the leaf at a path replaced."""
    if not path:
        return leaf
    items = list(value)
    items[path[0]] = put(items[path[0]], path[1:], leaf)
    return type(value)(items) if type(value) in (list, tuple) else items


def numeric(loss: Callable[[Any], float], x: Any, step: float = 2e-3) -> Any:
    """Return the gradient of a scalar function of one array by central differences."""
    base = np.asarray(x, dtype=np.result_type(x, np.float64))
    grad = np.zeros(base.shape, base.dtype)
    for place in np.ndindex(base.shape):
        for unit in (1.0, 1j) if base.dtype.kind == "c" else (1.0,):
            slope = 0.0
            for offset, weight in STENCIL:
                for sign in (1, -1):
                    moved = base.copy()
                    moved[place] += sign * offset * step * unit
                    value = moved if isinstance(x, np.ndarray) else moved[()].item()
                    slope += sign * weight * loss(value)
            # dL = Re(x_bar dx): the imaginary part of x_bar has the other sign.
            grad[place] += slope / step / unit if unit == 1.0 else -1j * slope / step
    return grad if isinstance(x, np.ndarray) else grad[()]


def outputs_of(rule: Rule, out: Any) -> tuple[Any, ...]:
    """Return the outputs as a tuple; an output that is a list, as its items."""
    listed = len(rule.outs) > 1 or isinstance(out, (list, tuple))
    return tuple(out) if listed else (out,)


def weigh(outs: tuple[Any, ...], weights: tuple[Any, ...]) -> float:
    """Return Re(sum of weights times outputs)."""
    total = 0.0
    for out, weight in zip(outs, weights, strict=True):
        if weight is not None:
            total += float(np.real(np.sum(np.asarray(weight) * out)))
    return total


def random_like(out: Any, rng: np.random.Generator) -> Any:
    """Return random weights shaped as an output, Python scalars for scalars."""
    if np.asarray(out).dtype.kind not in "fc":
        return None
    weights = rng.uniform(0.5, 1.5, np.shape(out))
    if np.iscomplexobj(out):
        weights = weights + 1j * rng.uniform(0.5, 1.5, np.shape(out))
    if isinstance(out, (float, complex)) and not isinstance(out, np.generic):
        return weights.item() if np.ndim(weights) == 0 else weights
    return np.asarray(weights).astype(np.asarray(out).dtype)[()]


def check(
    rule: Rule,
    *args: Any,
    rtol: float = 1e-8,
    step: float = 2e-3,
    pick: tuple[int, ...] | None = None,
    skip: tuple[str, ...] = (),
    function: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> list[str]:
    """Compare a rule with differences for every float argument; return what differs.

    `pick` names the outputs that the loss reads, `skip` the arguments held constant.
    """
    rng = np.random.default_rng(7)
    function = function or function_of(rule.op)
    assert function is not None
    outs = outputs_of(rule, function(*args, **kwargs))
    weights = tuple(
        random_like(out, rng) if pick is None or k in pick else None
        for k, out in enumerate(outs)
    )
    several = len(rule.outs) > 1 or len(outs) > 1 or rule.outs[0].startswith("*")
    bar: Any = weights if several else weights[0]
    if isinstance(bar, tuple) and len(rule.outs) == 1:
        bar = list(bar)
    if bar is None:
        return ["the output is not a float"]
    bound = rule.bind(args, kwargs)
    assert isinstance(bound, dict), f"{rule.op} {bound}"
    bars = pull(rule, args, kwargs, bar, function=function)
    faults = []
    tested = 0
    for param, value in bound.items():
        key = param.lstrip("*")
        if key in skip:
            continue
        for path in entries(value):
            x = at(value, path)

            def loss(moved: Any, param: str = param, path: Any = path) -> float:
                new_args, new_kwargs = list(args), dict(kwargs)
                value = put(bound[param], path, moved)
                if param.startswith("*"):
                    first = rule.params.index(param)
                    new_args[first:] = value
                elif param in new_kwargs:
                    new_kwargs[param] = value
                elif rule.params.index(param) < len(new_args):
                    new_args[rule.params.index(param)] = value
                else:
                    return 0.0
                out = function(*new_args, **new_kwargs)
                return weigh(outputs_of(rule, out), weights)

            if param not in kwargs and rule.params.index(param) >= len(args):
                continue
            want = numeric(loss, x, step)
            name = key + "".join(f"[{k}]" for k in path)
            if key not in bars:
                if np.any(want != 0):
                    faults.append(f"{name}: no text, but the slope is {want}")
                continue
            tested += 1
            got = at(bars[key], path)
            if not np.iscomplexobj(x):
                # The transform keeps the real part for what is real.
                got = np.real(got)
            if isinstance(got, float) and got == 0.0:
                # The transform drops it.
                got = np.zeros(np.shape(x))
            if np.shape(got) != np.shape(x):
                faults.append(f"{name}: shape {np.shape(got)}, not {np.shape(x)}")
            elif not np.allclose(got, want, rtol=rtol, atol=rtol, equal_nan=False):
                faults.append(f"{name}: {got}, not {want}")
    if not tested:
        faults.append("nothing was tested")
    return faults


def rule_of(op: str) -> Rule:
    """Return the rule of an operation that has one."""
    rule = find(op)
    assert rule is not None, f"no rule for {op}"
    return rule
