"""Judges what symback makes of a random program; symback's own checks are not used.

Kinds: ``right``; ``refused`` (by name); ``witness`` (the witness caught what is wrong);
``wrong`` (a wrong number, silently); ``alarm`` (the witness contradicts what is right);
``crash``; ``hang``; ``silent`` (plain Python raises, or differences say nothing).
"""

from __future__ import annotations

import copy
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import symback
from tests import oracle
from tests.random_programs import Program
from tests.standalone import run_generic

__all__ = ["Verdict", "judge", "still"]

SECONDS = 30.0
"""Processor time after which a program hangs."""

VARIANTS: tuple[dict[str, Any], ...] = (
    {"seed": 0},
    {"seed": 1},
    {"seed": 2, "grow": 1},
    {"seed": 3, "grow": 3},
    {"seed": 0, "dtype": np.float32},
    {"seed": 4},
)
"""Arguments of one function, one after the other: of other numbers, sizes, dtypes."""


@dataclass(frozen=True)
class Verdict:
    """The kind of a program, why, and how many entries differences judged."""

    kind: str
    why: str = ""
    checked: int = 0


class Hangs(BaseException):
    """Too much processor time was used."""


@contextmanager
def limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hangs

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(program: Program) -> Verdict:
    """Say what kind of program it is for symback.

    A program is what its worst call is: first with the witness, and where this speaks
    or the program is wrong, without.
    """
    with_witness = calls(program, "gradient")
    if with_witness.kind not in ("internal", "wrong"):
        return with_witness
    without = calls(program, None)
    if with_witness.kind == "wrong":
        return with_witness
    if without.kind in ("wrong", "crash"):
        return Verdict("witness", f"{with_witness.why}\n{without.why}")
    if without.kind == "internal":
        return Verdict("crash", without.why)
    return Verdict("alarm", with_witness.why)


def still(program: Program, verdict: Verdict) -> bool:
    """Say whether a shorter program shows the same fault, by as little as can be."""
    if verdict.kind == "alarm":
        return judge(program).kind == "alarm"
    found = calls(program, None)
    if found.kind not in ("wrong", "crash", "internal"):
        return False
    return bare(found.why) == bare(verdict.why.split("\n")[-1])


def bare(why: str) -> str:
    """Return a reason without its numbers and names of variables."""
    return re.sub(r"[\d.e+\-]+|np.float64|\{.*?\}|\w+ \(.*?\)", "_", why)[:40]


def calls(program: Program, witness: Any) -> Verdict:
    """Call one differentiable function with all variants of the arguments."""
    try:
        plain = program.load()
    except SyntaxError as problem:
        return Verdict("silent", str(problem))
    f = symback.differentiable(program.load(), wrt=program.wrt, witness=witness)
    checked = 0
    try:
        with limited():
            for number, variant in enumerate(VARIANTS):
                found = one_call(program, f, plain, variant, generic=number == 0)
                checked += found.checked
                if found.kind not in ("right", "silent"):
                    return Verdict(found.kind, f"{variant}: {found.why}", checked)
                if found.kind == "silent" and number == 0:
                    return found
    except Hangs:
        return Verdict("hang")
    return Verdict("right", "", checked)


def one_call(
    program: Program, f: Any, plain: Callable[..., Any], variant: Any, generic: bool
) -> Verdict:
    def fresh() -> list[Any]:
        return program.arguments(**variant)

    try:
        expected = plain(*fresh())
    except Exception as problem:
        return Verdict("silent", repr(problem))
    if not (isinstance(expected, float | np.floating) and np.isfinite(expected)):
        return Verdict("silent", "no finite number")
    args = fresh()
    single = variant.get("dtype") is not None
    try:
        value, gradient = f.value_and_grad_fn(*args)
        again = f.value_and_grad_fn(*args)
    except symback.InternalError as problem:
        return Verdict("internal", str(problem).splitlines()[0])
    except symback.SymbackError as problem:
        return Verdict("refused", str(problem).splitlines()[0])
    except Exception as problem:
        return Verdict("crash", f"{type(problem).__name__}: {problem}")
    tolerance = 1e-4 if single else 1e-10
    if not np.isclose(value, expected, rtol=tolerance, atol=tolerance):
        return Verdict("wrong", f"value {value!r}, not {expected!r}")
    if not oracle.unchanged(args, fresh()):
        return Verdict("wrong", "an argument was changed")
    if not (agree(again[0], value, 1e-12) and agree(again[1], gradient, 1e-12)):
        return Verdict("wrong", f"the second call gives {again!r}, not {gradient!r}")
    owned = not_owned(gradient, args, plain.__globals__)
    if owned:
        return Verdict("wrong", owned)
    for name, part, given in zip(
        program.wrt, gradient, chosen(program, args), strict=True
    ):
        faults = oracle.same_structure(part, given, name)
        if faults:
            return Verdict("wrong", faults[0])
    if not single:
        found = compared(program, plain, fresh, gradient)
        if found.kind != "right" or not generic:
            return found
        text = generic_fault(program, f, fresh, value, gradient)
        if text:
            return Verdict("wrong", text)
        return found
    return Verdict("right")


def chosen(program: Program, args: list[Any]) -> list[Any]:
    named = dict(zip(program.names, args, strict=True))
    return [named[n] for n in program.wrt]


def compared(
    program: Program,
    plain: Callable[..., Any],
    fresh: Callable[[], list[Any]],
    gradient: Any,
) -> Verdict:
    """Compare each entry with differences, where these are sure."""
    args = fresh()
    if program.shared:
        # Parameters are independent; where the plain function sees that they are one,
        # no difference can tell.
        apart = plain(*copy.deepcopy(args[:1]), *[copy.deepcopy(a) for a in args[1:]])
        if apart != plain(*fresh()):
            return Verdict("right")
    checked = 0
    for name, part in zip(program.wrt, gradient, strict=True):
        position = program.names.index(name)
        for entry in oracle.entries(args[position]):
            slope = sure_slope(partial(moved_value, plain, fresh, position, entry))
            if slope is None:
                continue
            checked += 1
            mine = oracle.get_entry(part, entry)
            if not abs(mine - slope) <= 1e-5 * max(abs(mine), abs(slope), 1.0):
                return Verdict(
                    "wrong", f"{name} {entry}: {mine!r}, differences {slope!r}"
                )
    return Verdict("right", "", checked)


def moved_value(
    plain: Callable[..., Any],
    fresh: Callable[[], list[Any]],
    position: int,
    entry: oracle.Entry,
    t: float,
) -> float:
    """Return the plain value with one number of one parameter moved by t."""
    moved = [copy.deepcopy(a) for a in fresh()]
    start = oracle.get_entry(moved[position], entry)
    moved[position] = oracle.set_entry(moved[position], entry, start + t)
    return float(plain(*moved))


def sure_slope(at: Callable[[float], float]) -> float | None:
    """Return the derivative at 0, or None where differences do not tell."""
    try:
        middle = at(0.0)
        slopes = []
        for h in (1e-5, 3e-6):
            right, left = at(h), at(-h)
            if abs((right - middle) - (middle - left)) > 2e-3 * h:
                return None
            slopes.append((right - left) / (2 * h))
        far = (at(1e-4) - at(-1e-4)) / 2e-4
    except Exception:
        return None
    if abs(slopes[0] - slopes[1]) > 1e-6 or not np.isfinite(slopes[0]):
        return None
    return slopes[0] if abs(far - slopes[0]) < 1e-4 else None


def generic_fault(
    program: Program, f: Any, fresh: Any, value: Any, gradient: Any
) -> str:
    """Compare the source that exists before any call; it may be refused."""
    try:
        other = run_generic(f, program.wrt, fresh(), {})
    except symback.SymbackError:
        return ""
    except Exception as problem:
        return f"generic: {type(problem).__name__}: {problem}"
    if not (agree(other[0], value, 1e-9) and agree(other[1], gradient, 1e-7)):
        return f"generic: {other!r}, not {(value, gradient)!r}"
    return ""


def agree(one: Any, other: Any, tolerance: float) -> bool:
    below = oracle.children(one)
    if below is not None:
        there = oracle.children(other)
        return (
            there is not None
            and len(below) == len(there)
            and all(
                agree(a, b, tolerance)
                for (_, a), (_, b) in zip(below, there, strict=True)
            )
        )
    if not isinstance(one, float | np.floating | np.ndarray):
        return True
    return bool(np.shape(one) == np.shape(other)) and bool(
        np.allclose(one, other, tolerance, tolerance, equal_nan=True)
    )


def arrays(thing: Any) -> list[Any]:
    if isinstance(thing, np.ndarray):
        return [thing]
    below = oracle.children(thing)
    return [] if below is None else [a for _, part in below for a in arrays(part)]


def not_owned(gradient: Any, args: Any, around: dict[str, Any]) -> str:
    """Say with what a gradient shares memory, or nothing."""
    mine = arrays(gradient)
    captured = [v for v in around.values() if isinstance(v, np.ndarray | dict | list)]
    others = arrays(args) + arrays(captured)
    for number, one in enumerate(mine):
        if any(np.shares_memory(one, other) for other in others):
            return "a gradient shares memory with an argument or a global"
        if any(np.shares_memory(one, other) for other in mine[:number]):
            return "two gradients share memory"
    return ""
