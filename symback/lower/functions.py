"""Functions of the user's: a call is written out in place, in a frame of its own."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..errors import SourceUnavailableError, UnsupportedSyntaxError
from ..graph import Value
from ..source import read_function, read_rule
from .abstract import Array, Function, Known, Tup
from .core import Frame
from .names import Boxed, Path
from .outside import Outside

__all__ = ["Functions", "assigned_names", "generates"]

MAX_DEPTH = 120
"""Nested calls while lowering: beyond it, recursion does not end without running."""


class Functions(Outside):
    """Bind arguments and lower the bodies of functions."""

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
            module = getattr(function, "__module__", None) or ""
            ours = self.fixed_span is not None and module.startswith("symback.")
            read = read_rule if ours else read_function
            source = read(function)
        except SourceUnavailableError as problem:
            raise SourceUnavailableError(
                problem.message, self.span(), problem.hint
            ) from None
        live = source.function
        if self.stack and self.fixed_span is None:
            # A helper's text and defaults may be changed between calls.
            about = (live.__code__, live.__defaults__, live.__kwdefaults__)
            self.guards[Path("object", live, "").step("text", "")] = about
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
        if generates(node) is not None:
            self.bind_arguments(function, args, kwargs)
            return self.stream("function", function, tuple(args), dict(kwargs))
        return self.enter_frame(function, args, kwargs)

    @abstractmethod
    def stream(self, kind: str, *parts: Any, position: Any = None) -> Any:
        """Return a new iterator."""

    def enter_frame(
        self,
        function: Function,
        args: list[Any],
        kwargs: dict[str, Any],
        consumer: Any = None,
    ) -> Any:
        """Lower the body of a function in a frame of its own.

        consumer : what a generator hands its items to, and the flags that end it.
        """
        node = function.node
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
            consumer=consumer,
            globals=names.globals,
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


@dataclass(frozen=True)
class Assigned:
    """The names that a function assigns, and those it takes from outside to assign."""

    locals: frozenset[str]
    outer: frozenset[str]
    globals: frozenset[str]


@lru_cache(maxsize=4096)
def assigned_names(node: Any) -> Assigned:
    """Return the local names of a definition or lambda, as Python's compiler does."""
    a = node.args
    found = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    found |= {p.arg for p in (a.vararg, a.kwarg) if p is not None}
    outer: set[str] = set()
    globals_: set[str] = set()
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
            globals_.update(item.names)
        if isinstance(item, ast.Import | ast.ImportFrom):
            for alias in item.names:
                found.add((alias.asname or alias.name).split(".")[0])
        if isinstance(item, ast.MatchAs | ast.MatchStar) and item.name:
            found.add(item.name)
        if isinstance(item, ast.ExceptHandler) and item.name:
            found.add(item.name)
        todo += ast.iter_child_nodes(item)
    return Assigned(frozenset(found - globals_), frozenset(outer), frozenset(globals_))


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
