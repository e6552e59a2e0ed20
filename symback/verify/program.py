"""The two programs that are compared, and how they run on elements.

`Programs` holds the user's function and the generated one; `trace` runs both on symbols
at a point, `precise` on numbers with 90 digits, `value` the user's alone.
"""

from __future__ import annotations

import inspect
import linecache
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..errors import NotScalarError
from ..infer import silent
from .arms import Reached
from .arrays import SymArray, as_array, has_elements
from .concolic import Concolic, Tape
from .deadline import TimedOut
from .elements import Element, Home, SymbolicValueError
from .functions import is_complex
from .loaded import Loaded, code_holder, split
from .paths import Path, followed
from .precise import PreciseHome
from .rebind import Rebinder
from .standin import using
from .structure import entries, index_name, rebuild

__all__ = ["CannotRunError", "Programs", "Traced"]


class CannotRunError(Exception):
    """A program does not run on elements.

    side : "function" or "gradient"; reason : what failed, with the line.
    """

    def __init__(self, side: str, reason: str, symbolic: bool) -> None:
        super().__init__(reason)
        self.side = side
        self.reason = reason
        self.symbolic = symbolic


@dataclass
class Traced:
    """Both programs on symbols at one point.

    loss : of the user's function; value, gradient : of the generated one, the
        gradient in the order of `names`; problem : why a part of it cannot be read.
    others : the gradients of other texts of the same gradient.
    """

    tape: Tape
    names: list[str]
    inputs: list[Concolic]
    loss: Concolic
    value: Concolic | None = None
    gradient: list[Concolic] = field(default_factory=list)
    problem: str = ""
    others: list[list[Concolic]] = field(default_factory=list)


class Programs:
    """The user's function and the generated source of its gradient."""

    def __init__(
        self,
        fn: Callable[..., Any],
        parameters: Mapping[str, inspect.Parameter],
        wrt: tuple[str, ...],
        single: bool,
        exact: bool = True,
    ) -> None:
        self.fn = fn
        self.parameters = parameters
        self.wrt = wrt
        self.single = single
        self.exact = exact
        self.literals = False
        self.loaded: Loaded | None = None
        self.others: list[Loaded] = []
        self.reached: Reached | None = None
        self.replaced: dict[int, Any] = {}
        code = getattr(code_holder(fn), "__code__", None)
        self.user_file = code.co_filename if code else ""

    @property
    def judged(self) -> Loaded:
        """Return the program that is judged now: generated, or the caller's own."""
        assert self.loaded is not None
        return self.loaded

    # -------------------------------------------------- arguments

    def arguments(
        self, values: Mapping[str, Any], convert: Callable[[str, str, Any], Any]
    ) -> dict[str, Any]:
        """Return all parameters with their leaves converted."""
        return {p: rebuild(v, p, partial(convert, p)) for p, v in values.items()}

    def _call(
        self,
        function: Callable[..., Any],
        values: Mapping[str, Any],
        rebind: Rebinder | None,
    ) -> Any:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for p, parameter in self.parameters.items():
            value = values[p] if rebind is None else _with_classes(values[p], rebind)
            if parameter.kind is parameter.VAR_POSITIONAL:
                args.extend(value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs.update(value)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[p] = value
            else:
                args.append(value)
        return function(*args, **kwargs)

    def on_elements(self, home: Home, values: Mapping[str, Any], side: str) -> Any:
        """Run one program with elements as arguments; returns what it returns."""
        rebind = Rebinder(self.replaced, self.literals)
        target = self.fn if side == "function" else self.judged.function
        home.exact = self.exact
        with using(home), np.errstate(all="ignore"):
            try:
                function = rebind(target)
                if side == "gradient":
                    captured = {k: rebind(v) for k, v in self.judged.captured.items()}
                    path = Path(self.judged.file)
                    with followed(path) if self.reached else nullcontext():
                        found = self.call_judged(function, values, captured, rebind)
                    if self.reached:
                        self.reached.add(path)
                    return found
                return self._call(function, values, rebind)
            except (TimedOut, KeyboardInterrupt, CannotRunError):
                raise
            except RecursionError as error:
                raise CannotRunError(side, "the recursion is too deep", True) from error
            except Exception as error:
                raise self._cannot(side, error) from error

    def call_judged(
        self,
        function: Callable[..., Any],
        values: Mapping[str, Any],
        captured: Mapping[str, Any],
        rebind: Rebinder | None = None,
    ) -> tuple[Any, Any]:
        """Call the judged function; return the value (None: it gives none), gradient.

        A generated one takes the parameters in order, each as one argument.
        """
        if self.judged.given:
            found = self._call(function, values, rebind)
            return split(found, values, self.wrt, self.single)
        keyword_only = {
            n
            for n, p in inspect.signature(function).parameters.items()
            if p.kind is p.KEYWORD_ONLY
        }
        args: list[Any] = []
        kwargs: dict[str, Any] = dict(captured)
        for p in self.parameters:
            value = values[p] if rebind is None else _with_classes(values[p], rebind)
            if p in keyword_only:
                kwargs[p] = value
            else:
                args.append(value)
        value, gradient = function(*args, **kwargs)
        return value, gradient

    def _cannot(self, side: str, error: Exception) -> CannotRunError:
        file = self.user_file if side == "function" else self.judged.file
        frames = traceback.extract_tb(error.__traceback__)
        mine = [f for f in frames if f.filename == file]
        symbolic = isinstance(error, SymbolicValueError)
        if mine:
            last = mine[-1]
            short = last.filename.replace("\\", "/").rpartition("/")[2]
            code = (last.line or linecache.getline(file, last.lineno or 0)).strip()
            where = f"line {last.lineno} of {short}, `{code}`"
        else:
            where = "a function that it calls"
        text = str(error) or type(error).__name__
        if not symbolic:
            text = f"{type(error).__name__}: {text}"
        return CannotRunError(side, f"{text} (in {where})", symbolic)

    # -------------------------------------------------- runs

    def trace(
        self, tape: Tape, values: Mapping[str, Any], gradient: bool = True
    ) -> Traced:
        """Run both programs on symbols whose digits are the values."""
        names: list[str] = []
        inputs: list[Concolic] = []
        nodes: dict[str, Concolic] = {}

        def symbols(p: str, name: str, x: Any) -> Any:
            active = p in self.wrt
            if not (is_symbolic(x) or (active and is_integral(x))):
                return x.copy() if isinstance(x, np.ndarray) else x
            if not isinstance(x, np.ndarray):
                return symbol(name, x, active)
            made = np.empty(x.shape, dtype=object)
            for index in np.ndindex(*x.shape):
                made[index] = symbol(index_name(name, index), x[index], active)
            return as_array(made, tape)

        def symbol(name: str, x: Any, active: bool) -> Concolic:
            if not np.isfinite(x):
                return tape.lift(float(x))
            if name not in nodes:
                nodes[name] = tape.input(name, float(x), active)
                if active:
                    names.append(name)
                    inputs.append(nodes[name])
            return nodes[name]

        tape.watch.files = {self.user_file: "function"}
        if self.loaded is not None:
            tape.watch.files[self.loaded.file] = "gradient"
        tape.watch.side = "function"
        loss = self.scalar(
            self.on_elements(tape, self.arguments(values, symbols), "function"), tape
        )
        traced = Traced(tape, names, inputs, loss)
        if not gradient:
            return traced
        tape.watch.side = "gradient"
        result = self.on_elements(tape, self.arguments(values, symbols), "gradient")
        value, found = result
        traced.value = loss if value is None else self.scalar(value, tape)
        traced.gradient, traced.problem = self.read(found, values, tape, names)
        first = self.loaded
        for other in self.others:
            self.loaded = other
            try:
                again = self.arguments(values, symbols)
                _, found = self.on_elements(tape, again, "gradient")
                more, problem = self.read(found, values, tape, names)
                traced.problem = traced.problem or problem
                traced.others.append(more)
            finally:
                self.loaded = first
        return traced

    def scalar(self, x: Any, home: Home) -> Any:
        """Return a loss as one element."""
        if isinstance(x, np.ndarray):
            if x.size != 1:
                raise NotScalarError(
                    f"the function returns an array of shape {x.shape}, not a scalar",
                    hint="compare a sum or a mean of it, or use `vjp` or `jacobian`",
                )
            x = x.view(np.ndarray).reshape(-1)[0]
        return x if isinstance(x, Element) else home.lift(x)

    def read(
        self, found: Any, values: Mapping[str, Any], home: Home, names: list[str]
    ) -> tuple[list[Any], str]:
        """Return the entries of a gradient in the order of names, and what is wrong."""
        parts = (found,) if self.single else found
        if not isinstance(parts, (tuple, list)) or len(parts) != len(self.wrt):
            return [], f"the gradient has {_describe(found)}, not {len(self.wrt)} parts"
        read: dict[str, Any] = {}
        for p, part in zip(self.wrt, parts, strict=True):
            problem = _shape_problem(p, part, values[p])
            if problem:
                return [], problem
            for name, x in entries(part, p):
                if is_complex(x):
                    return [], f"the gradient of {name} is a complex number"
                read[name] = x if isinstance(x, Element) else home.lift(x)
        missing = [n for n in names if n not in read]
        if missing:
            return [], f"the gradient has no entry {missing[0]}"
        return [read[n] for n in names], ""

    def plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the user's own function as it is, silently."""
        with silent():
            return self.fn(*args, **kwargs)

    def value(self, home: PreciseHome, values: Mapping[str, Any]) -> Any:
        """Return the loss with many digits, as an mpf."""
        args = self.arguments(values, _precise(home, self.wrt))
        return self.scalar(self.on_elements(home, args, "function"), home).value

    def gradient(self, home: PreciseHome, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return what the generated function gives with many digits, as elements."""
        args = self.arguments(values, _precise(home, self.wrt))
        value, found = self.on_elements(home, args, "gradient")
        return value if value is None else self.scalar(value, home), found


def is_symbolic(x: Any) -> bool:
    """Return whether x becomes symbols: floats and arrays of them."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f" and has_elements(x)
    return isinstance(x, (float, np.floating))


def is_integral(x: Any) -> bool:
    """Return whether x is an integer or an array of integers."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iu"
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _precise(home: PreciseHome, wrt: tuple[str, ...]) -> Callable[[str, str, Any], Any]:
    def convert(p: str, name: str, x: Any) -> Any:
        if isinstance(x, SymArray):
            return x.copy()
        if isinstance(x, Element):
            return x
        if is_symbolic(x) or (p in wrt and is_integral(x)):
            from .slopes import inputs_of

            if isinstance(x, np.ndarray):
                return inputs_of(x, home)
            return home.input(float(x))
        return x.copy() if isinstance(x, np.ndarray) else x

    return convert


def _with_classes(value: Any, rebind: Rebinder) -> Any:
    """Let objects with methods of the user's see the stand-ins; arrays stay."""
    if isinstance(value, (np.ndarray, Element, int, float, str, type(None))):
        return value
    if type(value) in (tuple, list):
        return type(value)(_with_classes(v, rebind) for v in value)
    if type(value) is dict:
        return {k: _with_classes(v, rebind) for k, v in value.items()}
    return rebind(value)


def _describe(x: Any) -> str:
    if isinstance(x, (tuple, list)):
        return f"{len(x)} parts"
    if isinstance(x, np.ndarray):
        return f"the shape {tuple(map(int, x.shape))}"
    return f"the type {'float' if isinstance(x, Element) else type(x).__name__}"


def _shape_problem(p: str, part: Any, value: Any) -> str:
    from .structure import leaves

    wanted, given = leaves(value, p), leaves(part, p)
    names = {n for n, _ in given}
    for name, x in wanted:
        if not (is_symbolic(x) or is_integral(x)):
            continue
        if name not in names:
            return f"the gradient has no part {name}"
        shape = getattr(x, "shape", ())
        got = next(g for n, g in given if n == name)
        found = getattr(got, "shape", ())
        if found != shape:
            return f"the gradient of {name} has shape {found}, not {shape}"
    return ""
