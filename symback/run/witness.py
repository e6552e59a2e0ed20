"""The witness of a first call: the user's own function beside the generated one.

The first time that arguments of some signature come, the user's function runs once on
copies of them, and its value, its exceptions and what the generated function left of
the caller's arguments are compared.  Then finite differences along a random direction
judge the gradient, where they can be trusted.  A contradiction is an `InternalError`:
a wrong gradient is never returned.
"""

from __future__ import annotations

import itertools
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .. import __version__
from ..errors import InternalError, SymbackError
from ..graph import Graph, Node, Value
from ..infer import interrupts, quiet
from ..noise import Noise, is_random
from .agreement import misfit, same, same_form, unmovable
from .arguments import call_bound
from .copies import Uncopied, alike, arrays, changed
from .differences import STEP, Direction, Slope, moved, numbers, slope_along
from .lines import first_difference
from .specialise import Specialised

__all__ = ["Mode", "Witness", "current_mode", "due"]

Mode = Literal["gradient", "value"] | None

VARIABLE = "SYMBACK_WITNESS"
"""The variable of the environment that says what is witnessed."""

SLOW = 0.2
"""Seconds beyond which the user's function is not run for differences."""

QUICK = 0.01
"""Seconds beyond which it is not run again and again to find the wrong derivative."""

FEW = 4
"""New sizes of a text that are all witnessed; after them, ever fewer are."""

INCONCLUSIVE = (Warning, FloatingPointError, MemoryError, RecursionError)
"""Exceptions that the caller's settings cause, and that say nothing."""

CURE = (
    "this is a fault in symback: please report it with the lines above. "
    'Without the witness (`witness=None`, or SYMBACK_WITNESS="none") the result is '
    "returned as it is."
)


def current_mode(given: Mode) -> Mode:
    """Return the mode that holds now: the environment's, if it says one."""
    text = os.environ.get(VARIABLE, "").strip().lower()
    if not text:
        return given
    if text in ("none", "off", "0"):
        return None
    if text in ("gradient", "value"):
        return "gradient" if text == "gradient" else "value"
    raise SymbackError(
        f"{VARIABLE}={text!r} is unknown", None, "use gradient, value or none."
    )


def due(found: Specialised, key: Any, mode: Mode) -> Mode:
    """Return what is to be witnessed for arguments that a text is new to.

    The first ones are witnessed in full.  Of other sizes the value is: of the first
    few, and then whenever their count doubles, so that walking through many sizes costs
    next to nothing.
    """
    seen = found.witnessed
    if mode is None or key in seen:
        return None
    count = len(seen)
    if count == 0:
        return mode
    return "value" if count < FEW or count & (count - 1) == 0 else None


_active = threading.local()


@contextmanager
def _once(owner: Any) -> Iterator[bool]:
    """Say whether a witness of this function is not at work already, up the stack."""
    held: set[int] = _active.__dict__.setdefault("held", set())
    if id(owner) in held:
        yield False
        return
    held.add(id(owner))
    try:
        yield True
    finally:
        held.discard(id(owner))


@dataclass
class Witness:
    """One comparison of a generated function with the user's own.

    function : the user's.  bound : its arguments by name, and attributes of `owner`
    among `wrt`.  wrt : the names that the gradient is taken by; single : it is one
    gradient, not a tuple.  culprit : says which derivative is wrong, if it finds it.
    """

    function: Callable[..., Any]
    found: Specialised
    bound: dict[str, Any]
    wrt: tuple[str, ...]
    single: bool
    mode: Mode
    owner: Any = None
    attributes: tuple[str, ...] = ()
    title: str = "the function"
    culprit: Callable[[], str] = str
    took: float = field(default=0.0, init=False)
    kept: bool = field(default=True, init=False)

    def run(self) -> Any:
        """Return what the generated function returns, or raise a contradiction."""
        with _once(self.found) as first:
            if not first or self.mode is None or self.acts():
                return self.call(self.bound)
            captured = self.found.source.read_captured()
            try:
                copies, held = alike((self.bound, captured))
            except Uncopied:
                return self.call(self.bound)
            return self._compared(copies, captured, held)

    def call(self, bound: dict[str, Any]) -> Any:
        """Return what the generated function returns for arguments."""
        return self.found.call(tuple(bound.values()))

    def acts(self) -> bool:
        """Say whether the user's function may act on the world when it runs."""
        return any(
            node.op.acts
            and node.op not in ("assert", "raise")
            and not self._draws(node)
            for node in self.nodes()
        )

    def own(self) -> bool:
        """Say whether a derivative is the user's own: it need not be the slope."""
        return any(n.op == "stop_gradient" or n.op.home for n in self.nodes())

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes of the user's function."""
        return self.found.source.primal.block.walk()

    def _draws(self, node: Node) -> bool:
        """Say whether a node draws from a generator that is an argument."""
        if node.op != "method" or not isinstance(node.args[0], Value):
            return False
        for param in self.found.source.primal.params:
            if param.value is node.args[0] and param.kind != "captured":
                given = self.bound.get(param.name)
                return is_random(given)
        return False

    # The generated function, then the user's

    def _compared(self, copies: Any, captured: Any, held: Any) -> Any:
        try:
            result = self.call(self.bound)
        except (SymbackError, *INCONCLUSIVE):
            raise
        except Exception as problem:
            if not interrupts(problem):
                self._also_raises(copies, problem)
            raise
        draws = any(map(self._draws, self.nodes()))
        if not draws:
            self._arguments_kept(copies, captured, held)
        self._owned(result, captured)
        self._formed(result)
        try:
            theirs = self._theirs(copies)
        except InconclusiveError:
            return result
        except Exception as problem:
            if interrupts(problem):
                raise
            raise self.contradiction(
                f"`{self.title}` raises {type(problem).__name__} for these arguments, "
                f"and the generated function returns {result[0]!r}",
            ) from problem
        # What the user's function wrote into its copies is known now.
        self.kept = changed(self.bound, copies, "") is None
        self._captured_kept(captured, held)
        self._same_value(result[0], theirs)
        if self.mode == "gradient" and self.took < SLOW and not (draws or self.own()):
            self._slopes(result)
        return result

    def _theirs(self, bound: dict[str, Any]) -> Any:
        """Run the user's function, its warnings unseen."""
        raised = [kind for kind, how in np.geterr().items() if how == "raise"]
        start = time.perf_counter()
        try:
            with quiet(), np.errstate(**dict.fromkeys(raised, "raise")):  # type: ignore[arg-type]
                return call_bound(self.function, bound)
        except INCONCLUSIVE as problem:
            raise InconclusiveError from problem
        finally:
            self.took = time.perf_counter() - start

    def _also_raises(self, copies: dict[str, Any], problem: Exception) -> None:
        """Raise a contradiction unless the user's function raises as well."""
        try:
            theirs = self._theirs(copies)
        except InconclusiveError:
            return
        except Exception as own:
            if interrupts(own):
                raise
            alike = isinstance(problem, type(own)) or isinstance(own, type(problem))
            if alike:
                return
            raise own from problem
        raise self.contradiction(
            f"the generated function raises {type(problem).__name__} ({problem}), "
            f"and `{self.title}` returns {theirs!r}"
        ) from problem

    # What is left of the arguments

    def _arguments_kept(self, copies: Any, captured: Any, held: Any) -> None:
        for name, one in [*self.bound.items(), *captured.items()]:
            was = copies[name] if name in copies else held[name]
            where = changed(one, was, name)
            if where is not None:
                self._restore((self.bound, captured), (copies, held))
                raise self.contradiction(f"the generated function changed `{where}`")

    def _captured_kept(self, captured: Any, held: Any) -> None:
        """Undo what the user's function did to arrays around it."""
        if changed(captured, held, "") is not None:
            self._restore(captured, held)

    def _restore(self, now: Any, before: Any) -> None:
        for one, was in zip(arrays(now), arrays(before), strict=False):
            if one.flags.writeable and one.shape == was.shape:
                one[...] = was

    # The form and the memory of the gradient

    def gradients(self, result: Any) -> dict[str, Any]:
        """Return the gradients by name."""
        given = (result[1],) if self.single else result[1]
        return dict(zip(self.wrt, given, strict=True))

    def _owned(self, result: Any, captured: Any) -> None:
        """Check that each gradient has memory of its own, which can be written."""
        mine = arrays(result[1])
        others = [*arrays((self.bound, captured)), *arrays(result[0])]
        for one in mine:
            repeats = any(
                step == 0 and length > 1
                for step, length in zip(one.strides, one.shape, strict=True)
            )
            if (repeats and one.size) or not one.flags.writeable:
                raise self.contradiction("a gradient does not own its memory")
            for other in others:
                if np.may_share_memory(one, other) and np.shares_memory(one, other):
                    raise self.contradiction(
                        "a gradient shares memory with an argument, a global or the "
                        "value"
                    )
        for one, other in itertools.combinations(mine[:64], 2):
            if np.may_share_memory(one, other) and np.shares_memory(one, other):
                raise self.contradiction("two gradients share memory")

    def _formed(self, result: Any) -> None:
        """Check that each gradient has its parameter's structure, shape and dtype."""
        for name, gradient in self.gradients(result).items():
            where = misfit(gradient, self.bound[name], name)
            if where is not None:
                raise self.contradiction(f"the gradient of {where}")

    # The value

    def _same_value(self, mine: Any, theirs: Any) -> None:
        if same(mine, theirs, self.precision()):
            return
        if same_form(mine, theirs) and self._is_noise(mine, theirs):
            return
        raise self.contradiction(
            f"the generated function's value is {mine!r}, and `{self.title}` returns "
            f"{theirs!r}",
            self._first_difference(),
        )

    def _first_difference(self) -> str:
        """Say where the two runs part, if that can be seen."""
        try:
            theirs, mine = alike(self.bound), alike(self.bound)
        except Uncopied:
            return ""
        generated = self.found.fast or self.found.function
        with quiet():
            return first_difference(
                self.function,
                lambda: call_bound(self.function, theirs),
                generated,
                lambda: self.call(mine),
                self.precision(),
            )

    def precision(self) -> float:
        """Return the relative rounding of the least precise numbers that are met."""
        sizes = [8]
        for _, leaf in numbers(self.bound, ""):
            if isinstance(leaf, np.ndarray | np.generic):
                sizes.append(leaf.real.dtype.itemsize)
        for node in self.nodes():
            for out in node.outs:
                name = "" if out.type is None else out.type.dtype
                sizes += [4] * (name in ("float32", "complex64"))
                sizes += [2] * (name == "float16")
        return {8: 2.3e-16, 4: 1.2e-7, 2: 1e-3}[min(sizes)]

    def _is_noise(self, mine: Any, theirs: Any) -> bool:
        """Say whether rounding of the arguments moves the value as far.

        Values that cannot be compared, as those of a function that is not the same
        twice, are taken for noise.
        """
        precision = self.precision()
        noise = Noise(11)
        low, high = np.array(theirs, complex), np.array(theirs, complex)
        low, high = low.real, high.real
        for size in (0.0, 1.0, 1.0, 4.0, 4.0, 16.0, 64.0):

            def nudge(_: str, leaf: Any, size: float = size) -> Any:
                if isinstance(leaf, np.ndarray):
                    moves = 1 + size * precision * noise.uniform(-1, 1, leaf.shape)
                    with np.errstate(all="ignore"):
                        return (leaf * moves).astype(leaf.dtype)
                return type(leaf)(
                    leaf * (1 + size * precision * float(noise.uniform(-1, 1)))
                )

            try:
                near = {n: moved(v, n, nudge) for n, v in alike(self.bound).items()}
                value = np.asarray(self._theirs(near), complex).real
            except Exception as problem:
                if interrupts(problem):
                    raise
                return True
            if np.shape(value) != np.shape(low):
                return True
            if np.any(np.isfinite(value) != np.isfinite(low)):
                return True
            low, high = np.fmin(low, value), np.fmax(high, value)
        found = np.asarray(mine, complex).real
        wanted = np.asarray(theirs, complex).real
        if np.any(np.isfinite(found) != np.isfinite(wanted)):
            return False
        with np.errstate(all="ignore"):
            gap = np.abs(found - wanted)
            spread = high - low
            floor = 64 * precision * self._largest()
            fine = (gap <= 50 * spread + floor) | ~np.isfinite(wanted)
        return bool(np.all(fine))

    def _largest(self) -> float:
        found = 0.0
        for _, leaf in numbers((self.bound, self.found.source.read_captured()), ""):
            part = np.abs(np.asarray(leaf))
            part = part[np.isfinite(part)]
            found = max(found, float(np.max(part, initial=0.0)) * max(part.size, 1))
        return found

    # The gradient

    def _slopes(self, result: Any) -> None:
        """Raise a contradiction if differences along two directions agree on one."""
        if not self._can_be_moved() or not np.all(np.isfinite(result[0])):
            return
        alarm = self._alarm(self.bound, result, 101)
        if alarm is None:
            return
        # Once more along another direction, and with nothing but the same function.
        again = self._alarm(self.bound, result, 202, careful=True)
        if again is None or not self._is_steady(result):
            return
        if self._decides() and not self._also_nearby():
            return
        slope, differences = again
        raise self.contradiction(
            f"the gradient gives the slope {slope:.9g} along a random direction, and "
            f"finite differences of `{self.title}` give {differences.value:.9g} "
            f"(within {differences.error:.1g})",
            self.culprit() if self.took < QUICK else "",
        )

    def _can_be_moved(self) -> bool:
        if any(node.op == "stop_gradient" for node in self.nodes()):
            return False
        if any(True for name in self.wrt for _ in unmovable(self.bound[name])):
            return False
        if self.kept:
            return True
        # Where arrays overlap and one is written, moving one alone is not possible.
        found = arrays(self.bound)
        return not any(
            np.may_share_memory(a, b) for a, b in itertools.combinations(found, 2)
        )

    def _alarm(
        self, bound: dict[str, Any], result: Any, seed: int, careful: bool = False
    ) -> tuple[float, Slope] | None:
        """Return both slopes where they contradict each other, else None."""
        items = {name: bound[name] for name in self.wrt}
        gradient = self.gradients(result)
        precision = self.precision()
        size = {2.3e-16: 8, 1.2e-7: 4}.get(precision, 2)
        middle = float(np.real(result[0]))
        for floor, times in ((0.1, 1.0), (0.0, 1 / 30)):
            direction = Direction(items, seed, floor)

            def value(t: float, direction: Direction = direction) -> float:
                return self._value_at(bound, direction, t)

            found = slope_along(value, middle, STEP[size] * times, precision, careful)
            slope = direction.slope(items, gradient)
            if found.contradicts(slope):
                return slope, found
            if found.is_sure:
                return None
        return None

    def _value_at(self, bound: dict[str, Any], direction: Direction, t: float) -> float:
        try:
            held = alike({n: v for n, v in bound.items() if n not in self.wrt})
            there = {
                n: direction.at(v, n, t) if n in self.wrt else held[n]
                for n, v in bound.items()
            }
            with quiet():
                found = call_bound(*self._moved_owner(there))
            return float(np.real(found)) if np.ndim(found) == 0 else np.nan
        except Exception as problem:
            if interrupts(problem):
                raise
            return float("nan")

    def _moved_owner(self, bound: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the function, a method of a copy with other attributes, if any are."""
        if not self.attributes:
            return self.function, bound
        import copy
        import types

        owner = copy.copy(self.owner)
        for name in self.attributes:
            object.__setattr__(owner, name, bound[name])
        method: Any = self.function
        bare = {n: v for n, v in bound.items() if n not in self.attributes}
        return types.MethodType(method.__func__, owner), bare

    def _is_steady(self, result: Any) -> bool:
        """Say whether the function gives the same value once more."""
        still = Direction({name: self.bound[name] for name in self.wrt}, 1)
        one, two = (self._value_at(self.bound, still, 0.0) for _ in range(2))
        return one == two and same(one, result[0], self.precision())

    def _decides(self) -> bool:
        """Say whether anything is decided by numbers, so that one point may be odd."""
        for node in self.nodes():
            if node.op in ("if", "while"):
                return True
            rule = node.op.rule
            if rule is not None and rule.kind == "zero":
                return True
            if any(o.type is None or o.type.is_integral for o in node.outs):
                return True
        return False

    def _also_nearby(self) -> bool:
        """Say whether the gradient is contradicted at a point close by as well.

        A branch that one point alone takes (`np.where(x == 0, ...)`) is followed as the
        program says; nowhere else may the gradient differ.
        """
        items = {name: self.bound[name] for name in self.wrt}
        there = Direction(items, 303)
        near = {
            n: there.at(v, n, 1e-3) if n in self.wrt else v
            for n, v in self.bound.items()
        }
        try:
            with quiet():
                result = self.call(near)
        except Exception as problem:
            if interrupts(problem):
                raise
            return False
        return self._alarm(near, result, 404, careful=True) is not None

    # The report

    def contradiction(self, fact: str, where: str = "") -> InternalError:
        """Return the error that reports a contradiction."""
        primal = self.found.source.primal
        text = "\n".join(filter(None, (fact, where, described(primal))))
        return InternalError(text, primal.source, CURE)


class InconclusiveError(Exception):
    """The user's function could not be run as the caller's settings are."""


def described(graph: Graph, most: int = 60) -> str:
    """Return the versions and the graph, its middle left out if it is long."""
    lines = str(graph).splitlines()
    if len(lines) > most:
        hidden = len(lines) - most
        lines[most // 2 : -most // 2] = [f"  ... {hidden} more lines ..."]
    versions = (
        f"symback {__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}"
    )
    return "\n".join([versions, *lines])
