"""What a mismatch between a gradient and finite differences usually means.

>>> sizes = {"rows of X": 8}
>>> reading(1 / 8, {"v": 3.0}, sizes)
'1/8 of the slope, and 8 is rows of X: a mean where the loss has a sum'
>>> reading(1 / 3, {"v": 3.0}, sizes)
'1/v of the slope, v = 3: a factor v is missing'
>>> reading(-1.0, {}, {})
'the slope with the wrong sign'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .structure import leaves

if TYPE_CHECKING:
    from .finite import CheckRow, GradientCheck
    from .inputs import Inputs

__all__ = ["explain", "factors", "reading", "same"]

CLOSE = 1e-5
"""Ratios of derivatives are as good as the differences."""


def same(a: float, b: float) -> bool:
    """Return whether two ratios are one, to the accuracy of differences."""
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))


def reading(
    ratio: float, named: Mapping[str, float], sizes: Mapping[str, int]
) -> str | None:
    """Say what a gradient that is `ratio` times the slope has got wrong.

    named : numbers that the function computes with.  sizes : lengths of its arrays.
    None if the ratio says nothing.
    """
    if ratio == 0.0:
        return "0 where the function has a slope: a path to the loss is missing"
    if same(ratio, -1.0):
        return "the slope with the wrong sign"
    for name, number in sizes.items():
        if number > 1 and same(ratio * number, 1.0):
            return (
                f"1/{number} of the slope, and {number} is {name}: "
                "a mean where the loss has a sum"
            )
        if number > 1 and same(ratio, number):
            return (
                f"{number} times the slope, and {number} is {name}: "
                "a sum where the loss has a mean"
            )
    for name, value in named.items():
        for sign, word in ((1.0, ""), (-1.0, ", and the sign is wrong")):
            if same(ratio * value, sign):
                return (
                    f"1/{name} of the slope{_where(name, value)}: "
                    f"a factor {name} is missing{word}"
                )
            if same(ratio, sign * value):
                return (
                    f"{name} times the slope{_where(name, value)}: "
                    f"a factor {name} too many{word}"
                )
    whole = round(ratio)
    if abs(whole) > 1 and same(ratio, whole):
        return f"{whole} times the slope: a factor {whole} too many"
    if same(ratio * round(1.0 / ratio), 1.0) and abs(round(1.0 / ratio)) > 1:
        return (
            f"1/{round(1.0 / ratio)} of the slope: a factor {round(1.0 / ratio)} or "
            "one of several paths to the loss is missing"
        )
    if 0.0 < ratio < 1.0:
        return (
            f"{ratio:.6g} of the slope: a factor or one of several paths to the loss "
            "is missing"
        )
    return f"{ratio:.6g} times the slope"


def _where(name: str, value: float) -> str:
    """Return the value of a name, nothing for a number that is its own name."""
    return "" if name == repr(value) else f", {name} = {value:.6g}"


def factors(arguments: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers among some named objects, and arrays of one number repeated.

    >>> factors({"v": 3.0, "x": np.full(2, 5.0), "y": np.arange(2.0), "one": 1.0})
    {'v': 3.0, 'x': 5.0}
    """
    found = {}
    for parameter, value in arguments.items():
        for name, leaf in leaves(value, parameter):
            if isinstance(leaf, bool | np.bool_) or not isinstance(
                leaf, int | float | np.number | np.ndarray
            ):
                continue
            array = np.asarray(leaf)
            if array.dtype.kind not in "fiu" or not array.size:
                continue
            number = float(array.reshape(-1)[0])
            if np.all(array == number) and number not in (0.0, 1.0, -1.0):
                found[name] = number
    return found


def sizes_of(arguments: Mapping[str, Any]) -> dict[str, int]:
    """Return the lengths of the arrays among the arguments, by words for them."""
    found: dict[str, int] = {}
    for parameter, value in arguments.items():
        for name, leaf in leaves(value, parameter):
            shape = leaf.shape if isinstance(leaf, np.ndarray) else ()
            for axis, size in enumerate(shape):
                found[f"{name}.shape[{axis}]"] = size
            if len(shape) > 1:
                found[f"{name}.size"] = math.prod(shape)
    return found


def explain(
    result: GradientCheck, inputs: Inputs, gradients: Mapping[int, Any]
) -> None:
    """Add to a check's findings what its wrong rows and its kinks mean."""
    arguments = inputs.bound({})
    named, sizes = factors(arguments), sizes_of(arguments)
    by_name: dict[str, list[CheckRow]] = {}
    for row in result.rows:
        if row.index is not None:
            by_name.setdefault(row.name, []).append(row)
    said: dict[str, list[str]] = {}
    for name, rows in by_name.items():
        wrong = [r for r in rows if not r.ok and not r.kink]
        if not wrong:
            continue
        if any(math.isnan(r.generated) for r in wrong):
            text = "NaN"
        elif result.undefined:
            continue  # there is no slope to be wrong about
        elif _transposed(rows, gradients[inputs.numbers[name]]):
            text = "the transpose of the slopes"
        else:
            text = _by_ratio(wrong, named, sizes)
        said.setdefault(text, []).append(name)
    for text, names in said.items():
        result.findings.append(f"{', '.join(names)}: the gradient is {text}")
    result.findings += _kinks(result)


def _by_ratio(
    wrong: list[CheckRow], named: Mapping[str, float], sizes: Mapping[str, int]
) -> str:
    with np.errstate(all="ignore"):
        ratios = np.divide([r.generated for r in wrong], [r.numeric for r in wrong])
    if not np.all(np.isfinite(ratios)):
        if all(r.numeric == 0.0 for r in wrong):
            return "not 0 where the function has no slope: a path too many"
        return "different from the slope"
    first = float(ratios[0])
    if all(same(first, float(r)) for r in ratios):
        return reading(first, named, sizes) or "different from the slope"
    if np.all(np.abs(ratios) < 1e-12):
        return str(reading(0.0, named, sizes))
    low, high = float(np.min(ratios)) + 0.0, float(np.max(ratios)) + 0.0
    return f"{low:.3g} to {high:.3g} times the slope: no one factor explains it"


def _transposed(rows: list[CheckRow], gradient: Any) -> bool:
    """Say whether the gradient of a square matrix is right when transposed."""
    square = gradient.ndim == 2 and gradient.shape[0] == gradient.shape[1]
    if not square or len(rows) != gradient.size:
        return False
    return all(
        r.index is not None
        and abs(gradient[r.index[::-1]] - r.numeric)
        <= CLOSE * max(abs(r.numeric), abs(gradient[r.index[::-1]]))
        for r in rows
    )


def _kinks(result: GradientCheck) -> list[str]:
    kinks = [r for r in result.rows if r.kink]
    lines = []
    for row in kinks[:6]:
        left, right = row.slopes
        place = "lies between them" if row.ok else "lies outside them"
        lines.append(
            f"{row.label}: a kink, slopes {left:.6g} (left) and {right:.6g} (right); "
            f"the gradient {row.generated:.6g} {place}"
        )
    if len(kinks) > 6:
        lines.append(f"and {len(kinks) - 6} more kinks")
    return lines
