"""Names: locals, closures, globals and builtins, and the functions they stand for."""

from __future__ import annotations

import ast
import builtins
import types
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import MissingRuleError, SourceUnavailableError, UnsupportedSyntaxError
from ..graph import Param, Value
from ..source import read_function, read_rule
from ..types import Type
from .abstract import (
    Array,
    DictRef,
    Function,
    Known,
    ListRef,
    Poison,
    Tup,
    View,
)
from .core import Frame, Unassigned
from .expressions import Expressions

__all__ = ["Boxed", "Names", "Path", "assigned_names"]

MAX_DEPTH = 120
"""Nested calls while lowering: beyond it, recursion does not end without running."""


class Boxed:
    """An object that a `Path` begins at, compared by identity."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing


@dataclass(frozen=True)
class Path:
    """Where a captured object is read from at each call.

    kind : ``"global"``, ``"closure"`` or ``"default"``; `root` is the live function.
    steps : ``("attr", name)`` and ``("item", key)`` from there.
    """

    kind: str
    root: Any
    name: str
    steps: tuple[tuple[str, Any], ...] = ()

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
            found = getattr(found, key) if how == "attr" else found[key]
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


class Names(Expressions):
    """Look names up, capture what is outside, inline functions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.captured_cells: dict[Any, Any] = {}
        self.uncertain: set[Value] = set()
        self.guards: dict[Path, Any] = {}
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
                try:
                    return self.capture(path.get(), path)
                except ValueError:
                    raise self.refuse(
                        f"`{name}` has no value yet in the enclosing function"
                    ) from None
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
        if name in frame.outer:
            owner: Frame | None = frame
            while owner is not None and (
                name not in owner.locals or name in owner.outer
            ):
                owner = None if owner.parent is None else self.frames[owner.parent]
            if owner is None:
                raise self.refuse(
                    f"`{name}` of an enclosing function cannot be changed"
                )
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
        item = self._captured(thing, path)
        if self.fixed_span is not None:
            # Inside a rule: its helpers are symback's own and do not change.
            self.guards = guards
        self.captures[path] = item
        return item

    def _captured(self, thing: Any, path: Path) -> Any:
        if isinstance(thing, bool | int | str | bytes | None | complex) and not (
            isinstance(thing, np.generic)
        ):
            self.guards[path] = thing
            return Known(thing, path)
        if isinstance(thing, float | np.generic | np.ndarray):
            item = self.wrap(self.captured_value(thing, path))
            if isinstance(item, Array) and isinstance(thing, np.ndarray):
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
            return ref
        if type(thing) is dict:
            self.guards[path.step("keys", "")] = tuple(thing)
            held = {k: self.capture(t, path.step("item", k)) for k, t in thing.items()}
            ref_ = DictRef(self.fresh())
            self.captured_cells["h", ref_.cell] = held
            return ref_
        if is_callable_kind(thing):
            if not isinstance(thing, types.ModuleType | np.ufunc):
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
    def argument_type(self, thing: Any) -> Type | None:
        """Return the type of an argument or a captured object, from the object."""

    def content(self, cell: int) -> Any:
        if ("h", cell) not in self.state and ("h", cell) in self.captured_cells:
            return self.captured_cells["h", cell]
        return super().content(cell)

    # Functions

    def lambda_value(self, node: ast.Lambda) -> Any:
        return self.function_value(node, "<lambda>")

    def function_value(self, node: Any, name: str) -> Function:
        """Return a nested definition or lambda as an abstract function."""
        frame = self.frame
        frame.closures = True
        args = node.args
        defaults = tuple(self.value(d) for d in args.defaults)
        keyword = tuple(
            (a.arg, self.value(d))
            for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)
            if d is not None
        )
        return Function(
            frame.source, node, frame.number, defaults, keyword, frame.live, name=name
        )

    def live_function(self, function: Any) -> Function:
        """Return a live Python function as an abstract one."""
        try:
            read = read_function if self.fixed_span is None else read_rule
            source = read(function)
        except SourceUnavailableError as problem:
            raise SourceUnavailableError(
                problem.message, self.span(), problem.hint
            ) from None
        live = source.function
        positional = live.__code__.co_varnames[: live.__code__.co_argcount]
        given = live.__defaults__ or ()
        titles = positional[len(positional) - len(given) :]
        defaults = tuple(
            Known(d)
            if type(d) is float
            else self.capture(d, Path("object", Boxed(d), title))
            for title, d in zip(titles, given, strict=True)
        )
        keyword = tuple(
            (
                k,
                Known(d)
                if type(d) is float
                else self.capture(d, Path("object", Boxed(d), k)),
            )
            for k, d in (live.__kwdefaults__ or {}).items()
        )
        name = getattr(live, "__name__", "")
        return Function(source, source.node, None, defaults, keyword, live, name=name)

    def inline(
        self, function: Function, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Lower a call of a user's function in place and return its result."""
        node = function.node
        if isinstance(node, ast.AsyncFunctionDef):
            raise UnsupportedSyntaxError(
                "async functions are outside the language", function.source.span(node)
            )
        generator = generates(node)
        if generator is not None:
            raise UnsupportedSyntaxError(
                f"`{function.name}` is a generator: `yield` is outside the language",
                function.source.span(generator),
                "return a list instead.",
            )
        self.check_recursion(function, args, kwargs)
        names = assigned_names(node)
        frame = Frame(
            self.fresh(),
            function.source,
            function.live,
            function.frame,
            names.locals,
            names.outer,
            definition=node,
        )
        if names.writes_global:
            raise self.refuse(
                f"`{function.name}` writes a global name",
                "return the value instead.",
                names.writes_global,
            )
        self.frames[frame.number] = frame
        bound = self.bind_arguments(function, args, kwargs)
        for name, item in bound.items():
            self.state["n", frame.number, name] = item
        self.stack.append(frame)
        try:
            return self.run_body(function, frame)
        finally:
            self.stack.pop()
            if not frame.closures:
                for key in [
                    k for k in self.state if k[0] in "nx" and k[1] == frame.number
                ]:
                    del self.state[key]

    @abstractmethod
    def run_body(self, function: Function, frame: Frame) -> Any:
        """Lower the body of a function and return what it returns."""

    def check_recursion(
        self, function: Function, args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        """Ask for static arguments where a function calls itself."""
        if self.fixed_span is not None:
            return
        depth = sum(1 for f in self.stack if f.definition is function.node)
        if depth and self.conditional and self.mode == "generic":
            raise self.ask_arguments(function.name, "calls itself")
        if depth and self.conditional:
            for item in (*args, *kwargs.values()):
                value = (
                    self.state.get(("h", item.cell))
                    if isinstance(item, Array)
                    else item
                )
                if isinstance(value, Value):
                    found, param = self.origin(value)
                    if found is not None or param is not None:
                        raise self.need_static(value, "recursion depends on it")
        if len(self.stack) > MAX_DEPTH:
            raise self.refuse(
                f"`{function.name}` calls itself to a depth that is not known without "
                "running",
                "write it as a loop, or let the depth depend on an integer argument.",
            )

    def bind_arguments(
        self, function: Function, args: list[Any], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """Bind abstract arguments to parameters as Python does."""
        a = function.node.args
        given = list(args)
        if function.bound is not None:
            given.insert(0, function.bound)
        named = [*a.posonlyargs, *a.args]
        bound: dict[str, Any] = {}
        for parameter, item in zip(named, given, strict=False):
            bound[parameter.arg] = item
        extra = given[len(named) :]
        if a.vararg is not None:
            bound[a.vararg.arg] = Tup(tuple(extra))
        elif extra:
            raise self.refuse(
                f"`{function.name}` takes {len(named)} arguments, "
                f"{len(given)} are given"
            )
        rest = dict(kwargs)
        for parameter in (*a.args, *a.kwonlyargs):
            if parameter.arg in rest:
                if parameter.arg in bound:
                    raise self.refuse(f"`{function.name}` gets `{parameter.arg}` twice")
                bound[parameter.arg] = rest.pop(parameter.arg)
        if a.kwarg is not None:
            bound[a.kwarg.arg] = self.new_dict(rest)
        elif rest:
            raise self.refuse(
                f"`{function.name}` has no parameter `{next(iter(rest))}`"
            )
        first_default = len(named) - len(function.defaults)
        for number, default in enumerate(function.defaults):
            bound.setdefault(named[first_default + number].arg, default)
        for name, default in function.keyword_defaults:
            bound.setdefault(name, default)
        for parameter in (*named, *a.kwonlyargs):
            if parameter.arg not in bound:
                raise self.refuse(
                    f"`{function.name}` needs the argument `{parameter.arg}`"
                )
        return bound

    def poison_name(self, name: str, reason: str) -> None:
        """Make a name unreadable."""
        self.state["n", self.frame.number, name] = Poison(reason)


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
    return isinstance(thing, kinds) or (
        callable(thing) and not hasattr(thing, "__dict__")
    )


@dataclass(frozen=True)
class Assigned:
    """The names that a function assigns, and those it takes from outside to assign."""

    locals: frozenset[str]
    outer: frozenset[str]
    writes_global: ast.AST | None


@lru_cache(maxsize=4096)
def assigned_names(node: Any) -> Assigned:
    """Return the local names of a definition or lambda, as Python's compiler does."""
    a = node.args
    found = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    found |= {p.arg for p in (a.vararg, a.kwarg) if p is not None}
    outer: set[str] = set()
    globals_: ast.AST | None = None
    body = node.body if isinstance(node.body, list) else [node.body]
    todo: list[Any] = list(body)
    while todo:
        item = todo.pop()
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(item.name)
            todo += item.decorator_list
            continue
        if isinstance(item, ast.Lambda):
            continue
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store | ast.Del):
            found.add(item.id)
        if isinstance(item, ast.comprehension):
            # Its targets are names of the comprehension's own.
            todo += [item.iter, *item.ifs]
            continue
        if isinstance(item, ast.Nonlocal):
            outer.update(item.names)
        if isinstance(item, ast.Global):
            globals_ = item
        if isinstance(item, ast.Import | ast.ImportFrom):
            for alias in item.names:
                found.add((alias.asname or alias.name).split(".")[0])
        if isinstance(item, ast.MatchAs | ast.MatchStar) and item.name:
            found.add(item.name)
        if isinstance(item, ast.ExceptHandler) and item.name:
            found.add(item.name)
        todo += ast.iter_child_nodes(item)
    return Assigned(frozenset(found), frozenset(outer), globals_)


@lru_cache(maxsize=4096)
def generates(node: Any) -> ast.AST | None:
    """Return the first `yield` of a function itself, if it has one."""
    body = node.body if isinstance(node.body, list) else [node.body]
    todo: list[Any] = list(body)
    while todo:
        item = todo.pop()
        if isinstance(item, ast.Yield | ast.YieldFrom):
            return item
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(item)
    return None
