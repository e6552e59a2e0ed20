"""Finite differences against a generated gradient.

Small inputs are checked number by number, large ones along a few random directions,
and only where one of these disagrees are the wrong numbers looked for.  A kink, where
the slopes to the left and to the right differ, is no error as long as the gradient lies
between them.

>>> found = check(abs, (0.0,), {}, wrt="x", gradient=lambda x: 0.0)
>>> found.ok, found.rows[0].kink, found.rows[0].slopes
(True, True, (-1.0, 1.0))
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .checked import TOLERANCE, CheckRow, GradientCheck, agree, relative
from .inputs import Inputs, Leaf
from .loaded import split
from .steps import Slope, first_step, slope
from .structure import index_name, leaves, rebuild

__all__ = ["CheckRow", "GradientCheck", "check"]

Array = np.ndarray[Any, Any]

FEW = 64
"""Numbers up to which each is checked by itself."""

SHOWN = 12
"""Wrong numbers that are looked for, a parameter, when a direction disagrees."""


def check(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    wrt: str | tuple[str, ...],
    gradient: Callable[..., Any],
    step: float | None = None,
    per_coordinate: bool | None = None,
    directions: int = 3,
    seed: int = 0,
    source: Callable[[], Any] | None = None,
) -> GradientCheck:
    """Compare a gradient with finite differences of the function.

    Args:
        fn: the function; its value must be one real number.
        args, kwargs: where.
        wrt: the parameters that `gradient` is taken by: one name (it returns one
            gradient) or a tuple of names (a tuple of them).
        gradient: a function of the same parameters.
        step: the step of the central differences; None to find one for each number.
        per_coordinate: True for a row for each number, False for directions; None for
            directions if there are more than 64 numbers.
        directions: how many random directions, for each parameter.
        seed: of the directions.
        source: gives the graphs of the function and of its gradient, as
            `symback.run.Source`, to find the culprit in.

    Raises:
        NotScalarError: the function returns more than one number.
    """
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    inputs = Inputs(fn, args, kwargs, names)
    given = gradient(
        *(rebuild(a, "", _same_draw) for a in args),
        **{k: rebuild(a, k, _same_draw) for k, a in kwargs.items()},
    )
    work = _Check(inputs, step, directions, seed)
    single = isinstance(wrt, str)
    said, given = split(given, inputs.arguments, names, single)
    work.read_gradient((given,) if single else given)
    value = inputs.value({})
    work.compare_value(said, value)
    if not math.isfinite(value):
        work.result.undefined = str(value)
        work.result.findings.append(
            f"the value of `{inputs.name}` is {value} here: "
            "no differences can be taken, and the gradient was not checked"
        )
    by_number = inputs.count <= FEW if per_coordinate is None else per_coordinate
    for number in range(len(inputs.leaves)):
        if number in work.gradients and by_number:
            work.add_numbers(number)
    if not by_number:
        for name in names:
            work.add_directions(name)
    from .meaning import explain

    explain(work.result, inputs, work.gradients)
    if not work.result.ok and not work.result.undefined:
        from .edges import find_culprit

        work.result.culprit = find_culprit(work.result, inputs, work.gradients, source)
    return work.result


def check_entries(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    wrt: tuple[str, ...],
) -> Callable[[str], Slope | None]:
    """Return a function of an entry's name that gives the slope by differences."""
    inputs = Inputs(fn, args, kwargs, wrt)
    work = _Check(inputs, None, 1, 0)
    places = {
        index_name(leaf.name, index): (number, index)
        for number, leaf in enumerate(inputs.leaves)
        if not leaf.is_complex
        for index in np.ndindex(*leaf.value.shape)
    }

    def slope_of(name: str) -> Slope | None:
        if name not in places:
            return None
        number, index = places[name]
        move = np.zeros_like(inputs.leaves[number].value)
        move[index] = 1.0
        at = float(inputs.leaves[number].value[index])
        return work.measure({number: move}, at)

    return slope_of


def _same_draw(_: str, x: Any) -> Any:
    """Return a generator of random numbers that leaves the caller's where it is."""
    if isinstance(x, np.random.Generator | np.random.RandomState | random.Random):
        return copy.deepcopy(x)
    return x


class _Check:
    """A check at work."""

    def __init__(
        self, inputs: Inputs, step: float | None, directions: int, seed: int
    ) -> None:
        self.inputs = inputs
        self.step = step
        self.directions = directions
        self.rng = np.random.default_rng(seed)
        self.result = GradientCheck(inputs.name)
        self.gradients: dict[int, Array] = {}
        self.analytic = True
        self.largest = 0.0

    def read_gradient(self, given: Any) -> None:
        """Take the gradient's leaves; one of a wrong form is a wrong row."""
        if not isinstance(given, (tuple, list)) or len(given) != len(self.inputs.wrt):
            given = ()  # then every part of it is missing
        found = {
            name: leaf
            for parameter, part in zip(self.inputs.wrt, given, strict=False)
            for name, leaf in leaves(part, parameter)
        }
        for number, leaf in enumerate(self.inputs.leaves):
            part = found.get(leaf.name)
            shape: tuple[int, ...] | None = None if part is None else np.shape(part)
            if shape == leaf.value.shape:
                dtype = np.complex128 if leaf.is_complex else np.float64
                if np.asarray(part).dtype.kind == "c" and not leaf.is_complex:
                    self._malformed(leaf, "is complex, the parameter is real")
                    continue
                self.gradients[number] = np.array(part, dtype=dtype)
                finite = np.abs(self.gradients[number])
                finite = finite[np.isfinite(finite)]
                self.largest = max(self.largest, float(np.max(finite, initial=0.0)))
            elif shape is None:
                self._malformed(
                    leaf, "is missing: its structure is not the parameter's"
                )
            else:
                text = f"has shape {shape}, the parameter {leaf.value.shape}"
                if shape == leaf.value.shape[::-1]:
                    text += ": it is transposed"
                self._malformed(leaf, text)

    def compare_value(self, said: Any, value: float) -> None:
        """Note where the value that came with the gradient is not the function's."""
        if said is None:
            return
        got = float(np.asarray(said).reshape(()))
        narrow = max((leaf.precision for leaf in self.inputs.leaves), default=0.0)
        if not math.isclose(got, value, rel_tol=max(TOLERANCE, 1e3 * narrow)) and (
            math.isfinite(value)
        ):
            nan = math.nan
            row = CheckRow("value", None, got, value, nan, False, (nan, nan), False)
            self.result.rows.append(row)
            self.result.findings.append(
                f"the value is {got:.12g}, that of the function {value:.12g}"
            )

    def _malformed(self, leaf: Leaf, text: str) -> None:
        nan = math.nan
        row = CheckRow(leaf.name, None, nan, nan, nan, False, (nan, nan), False)
        self.result.rows.append(row)
        self.result.findings.append(f"{leaf.name}: the gradient {text}")

    # Rows

    def add_numbers(self, number: int) -> None:
        """Add a row for each number of a leaf."""
        rows = []
        for index in np.ndindex(*self.inputs.leaves[number].value.shape):
            rows += self.number_rows(number, index)
        if not all(row.ok for row in rows) and self.is_symmetric(number):
            rows = self.symmetrised(number, rows)
        self.result.rows += rows

    def is_symmetric(self, number: int) -> bool:
        """Say whether a leaf and its gradient are symmetric matrices."""
        value, gradient = self.inputs.leaves[number].value, self.gradients[number]
        if value.ndim != 2 or value.shape[0] != value.shape[1] or len(value) < 2:
            return False
        return bool(
            np.array_equal(value, value.T)
            and np.allclose(gradient, gradient.T, 1e-9, 0)
        )

    def symmetrised(self, number: int, rows: list[CheckRow]) -> list[CheckRow]:
        """Return rows for moves that keep a symmetric matrix so, if these are right.

        `cholesky` and `eigh` read one half of their argument, so the derivative by one
        entry is nothing that a gradient could state; half of that by a pair is.
        """
        leaf = self.inputs.leaves[number]
        made = []
        for i, j in np.ndindex(*leaf.value.shape):
            move = np.zeros_like(leaf.value)
            move[i, j] += 0.5
            move[j, i] += 0.5
            at = float(np.real(leaf.value[i, j]))
            made.append(self.row({number: move}, at, leaf.name, index=(i, j)))
        if not all(row.ok for row in made):
            return rows
        self.result.findings.append(
            f"{leaf.name}: a symmetric matrix; its entries were moved in pairs, as the "
            "gradient is symmetrised"
        )
        return made

    def number_rows(self, number: int, index: tuple[int, ...]) -> list[CheckRow]:
        """Return the row of one number; two if it is complex."""
        leaf = self.inputs.leaves[number]
        units = [("", 1.0), (".imag", 1j)] if leaf.is_complex else [("", 1.0)]
        rows = []
        for part, unit in units:
            move = np.zeros_like(leaf.value)
            move[index] = unit
            x = leaf.value[index]
            at = float(x.imag if part else x.real)
            rows.append(self.row({number: move}, at, leaf.name, index=index, part=part))
        return rows

    def add_directions(self, parameter: str) -> None:
        """Add a row for each random direction; look for the numbers of a wrong one."""
        numbers = [
            k for k in self.gradients if self.inputs.leaves[k].parameter == parameter
        ]
        if not any(self.gradients[k].size for k in numbers):
            return
        wrong = False
        for direction in range(1, self.directions + 1):
            moves = {k: self.random_move(k) for k in numbers}
            row = self.row(moves, None, parameter, direction=direction)
            if not row.ok and any(self.is_symmetric(k) for k in numbers):
                moves = {
                    k: 0.5 * (m + m.T) if self.is_symmetric(k) else m
                    for k, m in moves.items()
                }
                row = self.row(moves, None, parameter, direction=direction)
            wrong |= not row.ok
            self.result.rows.append(row)
        if wrong and not self.result.undefined:
            self.locate(parameter, numbers)

    def random_move(self, number: int) -> Array:
        """Return random signs times a power of two that suits the leaf's numbers."""
        leaf = self.inputs.leaves[number]
        size = float(np.max(np.abs(leaf.value), initial=0.0))
        size = max(1.0, size) if math.isfinite(size) else 1.0
        size = 2.0 ** round(math.log2(size / math.sqrt(max(1, leaf.value.size))))
        signs = self.rng.choice([-1.0, 1.0], size=leaf.value.shape)
        if leaf.is_complex:
            return np.asarray(
                size * (signs + 1j * self.rng.choice([-1.0, 1.0], size=signs.shape))
            )
        return np.asarray(size * signs)

    def locate(self, parameter: str, numbers: list[int]) -> None:
        """Add rows for the wrong numbers of a parameter, found by halving."""
        found: list[CheckRow] = []
        stack = [(k, np.arange(self.gradients[k].size)) for k in reversed(numbers)]
        while stack and len(found) < SHOWN:
            number, places = stack.pop()
            shape = self.gradients[number].shape
            if len(places) <= 4:
                for place in places.tolist():
                    index = tuple(int(i) for i in np.unravel_index(place, shape))
                    found += [r for r in self.number_rows(number, index) if not r.ok]
                continue
            if all(self.agrees(number, places) for _ in range(2)):
                continue
            half = len(places) // 2
            stack += [(number, places[half:]), (number, places[:half])]
        self.result.rows.extend(found)
        directions = [
            r for r in self.result.rows if r.direction and r.name == parameter
        ]
        if not found and all(r.kink for r in directions if not r.ok):
            # Each number is right: several kinks meet at the point, and along a line
            # the gradient need not lie between the slopes then.
            self.result.rows = [
                replace(r, ok=True) if r in directions else r for r in self.result.rows
            ]

    def agrees(self, number: int, places: Array) -> bool:
        """Say whether the gradient is right along random signs at some places."""
        full = self.random_move(number)
        move = np.zeros_like(full)
        move.reshape(-1)[places] = full.reshape(-1)[places]
        return self.row({number: move}, None, "").ok

    # Derivatives

    def row(
        self,
        moves: dict[int, Array],
        at: float | None,
        name: str,
        index: tuple[int, ...] | None = None,
        direction: int = 0,
        part: str = "",
    ) -> CheckRow:
        """Compare the derivative along a move with the gradient's.

        at : the number that is moved, where it is one; steps suit it.
        """
        products = [
            np.real(self.gradients[k] * move)[move != 0] for k, move in moves.items()
        ]
        generated = float(sum(float(np.sum(p)) for p in products))
        measured = self.measure(moves, at)
        if at is None:
            size = max(float(np.max(np.abs(p), initial=0.0)) for p in products)
        else:
            size = max(float(np.max(np.abs(self.gradients[k]))) for k in moves)
        # Terms of all parameters may have cancelled in a small one.
        size = max(size, 1e-3 * self.largest)
        precision = max(self.inputs.leaves[k].precision for k in moves)
        fine = agree(generated, measured, size, precision)
        return CheckRow(
            name,
            index,
            generated,
            measured.value,
            relative(generated, measured.value),
            measured.kink,
            (measured.left, measured.right),
            fine,
            measured.error,
            direction,
            part,
        )

    def measure(self, moves: dict[int, Array], at: float | None) -> Slope:
        """Return the derivative along a move."""
        line = self.inputs.along(moves)
        start = None if at is None else first_step(at)
        # Below a few units in the last place of what is moved there are no more steps.
        smallest = 2.0**-40 if at is None else 16.0 * float(np.spacing(abs(at)))
        found = slope(line, 0.0, step=self.step, start=start, smallest=smallest)
        if self.step is None and self.analytic and not found.kink:
            sharp = self.inputs.complex_slope(moves)
            near = 1e-12 * abs(found.value) + 10.0 * found.error
            self.analytic = sharp is not None and abs(sharp - found.value) <= near
            if self.analytic and sharp is not None:
                return replace(found, value=sharp)
        return found
