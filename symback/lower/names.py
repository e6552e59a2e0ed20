"""Names: locals, closures, globals and builtins, and what is captured from outside."""

from __future__ import annotations

import ast
import builtins
import types
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MissingRuleError
from ..graph import UNDEFINED, Param, Value
from ..types import Type
from .abstract import Array, DictRef, Known, ListRef, Poison, Tup, View
from .comparisons import Comparisons
from .core import Frame, Unassigned
from .subscripts import Subscripts

__all__ = ["Boxed", "Names", "Path", "is_callable_kind"]


class Boxed:
    """An object that a `Path` begins at, compared by identity."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing


@dataclass(frozen=True, eq=False)
class Path:
    """Where a captured object is read from at each call.

    kind : ``"global"``, ``"closure"`` or ``"default"``; `root` is the live function.
    steps : ``("attr", name)``, ``("item", key)`` and ``("static", name)`` from there.
    """

    kind: str
    root: Any
    name: str
    steps: tuple[tuple[str, Any], ...] = ()

    def _identity(self) -> tuple[Any, ...]:
        return self.kind, id(self.root), self.name, self.steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def get(self) -> Any:
        """Read the object as it is now."""
        if self.kind == "global":
            found = self.root.__globals__[self.name]
        elif self.kind == "closure":
            cells = dict(
                zip(
                    self.root.__code__.co_freevars,
                    self.root.__closure__ or (),
                    strict=True,
                )
            )
            found = cells[self.name].cell_contents
        elif self.kind == "default":
            found = self.root.__defaults__[int(self.name)]
        else:
            found = self.root.thing if isinstance(self.root, Boxed) else self.root
        for how, key in self.steps:
            if how == "attr":
                found = getattr(found, key)
            elif how == "static":
                # As the class has it: no method is bound, no property computed.
                found = next(vars(k)[key] for k in found.__mro__ if key in vars(k))
            else:
                found = found[key]
        return found

    def step(self, how: str, key: Any) -> Path:
        """Return the path of an attribute or an item of the object."""
        return Path(self.kind, self.root, self.name, (*self.steps, (how, key)))

    @property
    def label(self) -> str:
        """Return a name for the object: ``config_rate`` for ``config["rate"]``."""
        parts = [self.name, *(str(key) for _, key in self.steps)]
        text = "_".join(p for p in parts if p)
        return text if text.isidentifier() else "captured"


class Names(Comparisons, Subscripts):
    """Look names up, and capture what is outside."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.captured_cells: dict[Any, Any] = {}
        self.uncertain: set[Value] = set()
        self.guards: dict[Path, Any] = {}
        self.written: frozenset[tuple[int, Any]] = frozenset()
        self.written_cells: dict[int, int] = {}
        self.containers: dict[int, tuple[Any, Path]] = {}
        self.loose: set[str] = set()
        self.counting_outside = False
        self.taken: set[str] = set()

    # Looking up

    def lookup(self, name: str, node: ast.AST) -> Any:
        frame: Frame | None = self.frame
        while frame is not None:
            key = ("n", frame.number, name)
            if key in self.state:
                return self.state[key]
            if name in frame.locals and name not in frame.outer:
                problem = self.refuse(
                    f"`{name}` is read before it is assigned", None, node
                )
                if self.conditional:
                    raise Unassigned(frame.number, name, problem)
                raise problem
            live = frame.live
            if frame.parent is None:
                return self.outside(name, live, node)
            frame = self.frames[frame.parent]
        raise self.refuse(f"`{name}` is not defined", None, node)

    def outside(self, name: str, live: Any, node: ast.AST) -> Any:
        """Return a name that the function does not define itself."""
        if isinstance(live, dict):
            if name in live:
                return Known(live[name])
            if name == "scipy":
                return Known(self.scipy())
        else:
            if name in live.__code__.co_freevars:
                path = Path("closure", live, name)
                cell = closure_cell(live, name)
                held = self.written_part(cell, _cell_path(cell, name), "cell_contents")
                if held is not UNDEFINED:
                    return held
                try:
                    return self.capture(path.get(), path)
                except ValueError:
                    raise self.refuse(
                        f"`{name}` has no value yet in the enclosing function"
                    ) from None
            space = live.__globals__
            held = self.written_part(space, _space_path(space), name)
            if held is not UNDEFINED:
                return held
            if name in live.__globals__:
                path = Path("global", live, name)
                return self.capture(path.get(), path)
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        raise self.refuse(f"the name `{name}` is not defined", None, node)

    def scipy(self) -> Any:
        """Return SciPy, which some rules are written with."""
        try:
            import scipy.special
        except ImportError:
            raise MissingRuleError(
                "the derivative of this function needs SciPy",
                self.span(),
                "install it: `pip install scipy`.",
            ) from None
        return scipy

    def bind_name(self, name: str, item: Any) -> None:
        frame = self.frame
        number = frame.number
        if name in frame.globals:
            space = frame.live.__globals__
            self.write_outside(space, _space_path(space), name, item)
            return
        if name in frame.outer:
            owner: Frame | None = frame
            while owner is not None and (
                name not in owner.locals or name in owner.outer
            ):
                owner = None if owner.parent is None else self.frames[owner.parent]
            if owner is None:
                cell = closure_cell(frame.live, name)
                path = _cell_path(cell, name)
                self.write_outside(cell, path, "cell_contents", item)
                return
            number = owner.number
        self.state["n", number, name] = item
        self.christen(item, name)

    def christen(self, item: Any, name: str) -> None:
        """Give a graph value the user's name, if it has none and was just made."""
        if self.fixed_span is not None:
            # The names in a rule's own text are symback's, not the user's.
            return
        value: Any = item
        if isinstance(item, Array):
            value = self.state.get(("h", item.cell))
        elif isinstance(item, View):
            value = item.made
        elif isinstance(item, ListRef):
            held: Any = self.state.get(("h", item.cell))
            if hasattr(held, "leaves") and len(held.leaves) == 1:
                value = held.leaves[0]
        made = (
            value in self.defs or value in self.indices
            if isinstance(value, Value)
            else False
        )
        if made and value.name is None:
            # A value is named once, by the first assignment that holds it.
            object.__setattr__(value, "name", name)

    # Capturing

    def capture(self, thing: Any, path: Path) -> Any:
        """Return a global or closed-over object: known, or read anew at each call."""
        if path in self.captures:
            return self.captures[path]
        guards = dict(self.guards)
        with self.outside_numbers():
            item = self._captured(thing, path)
        if self.fixed_span is not None:
            # Inside a rule: its helpers are symback's own and do not change.
            self.guards = guards
        self.captures[path] = item
        return item

    @contextmanager
    def outside_numbers(self) -> Iterator[None]:
        """Number new cells apart from those of the function, which come and go."""
        if self.counting_outside:
            yield
            return
        self.counting_outside = True
        self.counter, inside = self.outside_counter, self.counter
        try:
            yield
        finally:
            self.outside_counter, self.counter = self.counter, inside
            self.counting_outside = False

    def _captured(self, thing: Any, path: Path) -> Any:
        if isinstance(thing, bool | int | str | bytes | None | complex) and not (
            isinstance(thing, np.generic)
        ):
            self.guards[path] = thing
            return Known(thing, path)
        if isinstance(thing, float | np.generic | np.ndarray):
            item = self.wrap(self.captured_value(thing, path))
            if isinstance(item, Array):
                # It is there on every path, wherever it is first read.
                key = ("h", item.cell)
                self.captured_cells[key] = self.state.pop(key)
                if isinstance(thing, np.ndarray):
                    self.outside_cells.add(item.cell)
            return item
        if isinstance(thing, tuple):
            self.guards[path.step("len", "")] = len(thing)
            items = tuple(
                self.capture(t, path.step("item", k)) for k, t in enumerate(thing)
            )
            names = getattr(thing, "_fields", ())
            return Tup(items, type(thing) if names else None, names)
        if isinstance(thing, list):
            self.guards[path.step("len", "")] = len(thing)
            items = tuple(
                self.capture(t, path.step("item", k)) for k, t in enumerate(thing)
            )
            ref = ListRef(self.fresh())
            self.captured_cells["h", ref.cell] = items
            self.containers[ref.cell] = (thing, path)
            return ref
        if type(thing) is dict:
            self.guards[path.step("keys", "")] = tuple(thing)
            held = {k: self.capture(t, path.step("item", k)) for k, t in thing.items()}
            cell = self.written_cell(thing, path)
            if cell is not None:
                written = self.captured_cells["h", cell]
                self.captured_cells["h", cell] = {**held, **written}
            else:
                cell = self.fresh()
                self.captured_cells["h", cell] = held
            self.containers[cell] = (thing, path)
            return DictRef(cell)
        if is_callable_kind(thing):
            if not isinstance(thing, types.ModuleType):
                self.guards[path] = thing
            return Known(thing, path)
        library = type(thing).__module__.startswith(("numpy", "scipy", "functools"))
        if library:
            # What it holds is read while lowering.
            self.guards[path] = thing
            return Known(thing, path)
        if hasattr(thing, "__dict__") or hasattr(type(thing), "__slots__"):
            self.guards[path.step("type", "")] = type(thing)
            return Known(thing, path)
        self.guards[path] = thing
        return Known(thing, path)

    def captured_value(self, thing: Any, path: Path) -> Value:
        """Make a captured number or array a parameter of the generated function."""
        name = path.label
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        value = Value(name, self.argument_type(thing))
        self.captured.append(Param(name, value, "captured"))
        self.capture_paths.append(path)
        return value

    capture_paths: list[Path]

    @abstractmethod
    def written_cell(self, thing: Any, path: Path) -> int | None:
        """Return the cell of what is written of an object, if anything is."""

    @abstractmethod
    def written_part(self, thing: Any, path: Path | None, name: Any) -> Any:
        """Return what an attribute that the function writes holds now, or UNDEFINED."""

    @abstractmethod
    def write_outside(self, thing: Any, path: Path, name: Any, item: Any) -> None:
        """Write an attribute of an object, or an item of a dict."""

    @abstractmethod
    def argument_type(self, thing: Any) -> Type | None:
        """Return the type of an argument or a captured object, from the object."""

    def content(self, cell: int) -> Any:
        if ("h", cell) not in self.state and ("h", cell) in self.captured_cells:
            return self.captured_cells["h", cell]
        return super().content(cell)

    def poison_name(self, name: str, reason: str) -> None:
        """Make a name unreadable."""
        self.state["n", self.frame.number, name] = Poison(reason)


def closure_cell(live: Any, name: str) -> Any:
    """Return the cell in which a function keeps a name of an enclosing one."""
    return live.__closure__[live.__code__.co_freevars.index(name)]


def _cell_path(cell: Any, name: str) -> Path:
    return Path("object", Boxed(cell), name)


def _space_path(space: Any) -> Path:
    return Path("object", Boxed(space), "module_globals")


def is_callable_kind(thing: Any) -> bool:
    """Say whether an object is a module, function or class: known by identity."""
    kinds = (
        types.ModuleType,
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
        np.ufunc,
        type,
        np.dtype,
    )
    return isinstance(thing, (*kinds, type(np.sum))) or (
        callable(thing) and not hasattr(thing, "__dict__")
    )
