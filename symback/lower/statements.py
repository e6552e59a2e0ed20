"""Statements: early exits, contexts, imports and definitions."""

from __future__ import annotations

import ast
import importlib
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..graph import UNDEFINED, Node
from .abstract import DictRef, Function, Known, ListRef, always
from .assignment import Assignment
from .core import Frame

__all__ = ["Statements"]

NEUTRAL = frozenset({"errstate", "printoptions", "catch_warnings", "nullcontext"})
"""Context managers that leave values alone."""


class Statements(Assignment):
    """Lower statements; branches and loops are in the classes that build on this."""

    # Exits: `return`, `break` and `continue` are flags in the state

    def run_body(self, function: Function, frame: Frame) -> Any:
        ret, val = ("x", frame.number, "ret"), ("x", frame.number, "val")
        if isinstance(function.node, ast.Lambda):
            return self.value(function.node.body)
        self.state[ret] = Known(False)
        frame.exits = [ret]
        self.run(function.node.body)
        done = self.state.pop(ret)
        result = self.state.pop(val, Known(None))
        result = Known(None) if result is UNDEFINED else result
        if isinstance(done, Known):
            return result if done.value else Known(None)
        self.state[val] = result
        result = self.choose(done, lambda: self.state[val], lambda: Known(None))
        self.state.pop(val, None)
        return result

    def exited(self) -> Any:
        """Return whether this path has left the block: known, or a graph value."""
        flags = [self.state[key] for key in self.frame.exits]
        if any(isinstance(f, Known) and f.value for f in flags):
            return Known(True)
        open_flags = [f for f in flags if not isinstance(f, Known)]
        if not open_flags:
            return Known(False)
        result = open_flags[0]
        for flag in open_flags[1:]:
            result = self.emit("or_", result, flag)
        return result

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements in order, guarding what follows a possible exit."""
        for number, statement in enumerate(body):
            rest = list(body[number + 1 :])
            with self.at(statement):
                if self.statement(statement, rest):
                    return
                done = self.exited()
                if isinstance(done, Known):
                    if done.value:
                        return
                    continue
                if rest:
                    self.choose(
                        self.negate(done), partial(self.go_on, rest), always(None)
                    )
                return

    def go_on(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements on the path on which no exit has been taken."""
        for key in self.frame.exits:
            self.state[key] = Known(False)
        self.run(body)

    def statement(self, node: ast.stmt, rest: list[ast.stmt]) -> bool:
        """Lower one statement; return whether it has lowered `rest` as well."""
        if isinstance(node, ast.If):
            return self.on_If(node, rest)
        if isinstance(node, ast.Match):
            return self.on_Match(node, rest)
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise self.refuse(_refusal(node), _cure(node), node)
        method(node)
        return False

    @abstractmethod
    def on_If(self, node: ast.If, rest: list[ast.stmt]) -> bool:
        """Lower a branch; return whether it has lowered `rest` as well."""

    @abstractmethod
    def on_Match(self, node: ast.Match, rest: list[ast.stmt]) -> bool:
        """Lower a choice by patterns."""

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Pass(self, node: ast.Pass) -> None:
        return None

    def do_Return(self, node: ast.Return) -> None:
        number = self.frame.number
        item = Known(None) if node.value is None else self.value(node.value)
        self.state["x", number, "val"] = item
        self.state["x", number, "ret"] = Known(True)

    def do_Break(self, node: ast.Break) -> None:
        self.state[self.frame.exits[-2]] = Known(True)

    def do_Continue(self, node: ast.Continue) -> None:
        self.state[self.frame.exits[-1]] = Known(True)

    def do_Raise(self, node: ast.Raise) -> None:
        if node.exc is None:
            raise self.refuse("a bare `raise` is not supported", None, node)
        item = self.value(node.exc)
        if isinstance(item, Known) and isinstance(item.value, type):
            item = self.emit_exception(item.value, [])
        self.leave(self.operand(item))

    def leave(self, exception: Any) -> None:
        """Raise an exception, which ends this path."""
        self.effect("raise", exception)
        self.state["d", 0] = True
        self.state["x", self.frame.number, "ret"] = Known(True)
        self.state["x", self.frame.number, "val"] = UNDEFINED

    def do_Assert(self, node: ast.Assert) -> None:
        test = self.test(node.test)
        if isinstance(test, Known) and test.value:
            return
        message: Any = None
        if node.msg is not None:
            message = self.operand(self.value(node.msg))
        self.effect("assert", self.operand(test), message)

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                key = ("n", self.frame.number, target.id)
                if self.state.pop(key, None) is None:
                    raise self.refuse(f"`{target.id}` is not defined", None, target)
            elif isinstance(target, ast.Subscript):
                item, index = self.value(target.value), self.index(target.slice)
                self.delete_item(item, index, target)
            else:
                raise self.refuse("only names and items can be deleted", None, target)

    def delete_item(self, item: Any, index: Any, node: ast.AST) -> None:
        """Do ``del item[index]`` for a list or dict of known structure."""
        if isinstance(item, DictRef):
            held = dict(self.content(item.cell))
            del held[self.key(index)]
            self.state["h", item.cell] = held
            return
        items = self.sequence_items(item) if isinstance(item, ListRef) else None
        if items is None or not isinstance(index, Known):
            raise self.refuse("only items of known lists can be deleted", None, node)
        del items[index.value]
        self.state["h", item.cell] = tuple(items)

    def do_Global(self, node: ast.Global) -> None:
        return None

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        return None

    def do_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = importlib.import_module(alias.name)
            if alias.asname is None:
                module = importlib.import_module(alias.name.split(".")[0])
            name = alias.asname or alias.name.split(".")[0]
            self.bind_name(name, Known(module))

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:
            raise self.refuse(
                "a relative import inside the function is not supported",
                "move the import to the top of the file.",
                node,
            )
        module = importlib.import_module(str(node.module))
        for alias in node.names:
            try:
                thing = getattr(module, alias.name)
            except AttributeError:
                thing = importlib.import_module(f"{node.module}.{alias.name}")
            self.bind_name(alias.asname or alias.name, Known(thing))

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.refuse(
                "a decorated nested function is not supported",
                "define it without the decorator.",
                node.decorator_list[0],
            )
        self.bind_name(node.name, self.function_value(node, node.name))

    def opened(self, call: Any) -> Any:
        """Enter a context that matters to what is printed inside it."""
        context = self.operand(self.value(call))
        self.append(
            Node("method", (context, "__enter__", (), {}), {}, (), (), self.span())
        )
        return context

    def do_With(self, node: ast.With) -> None:
        opened: list[Any] = []
        for item in node.items:
            call = item.context_expr
            name = ""
            if isinstance(call, ast.Call):
                target = call.func
                name = (
                    target.attr
                    if isinstance(target, ast.Attribute)
                    else getattr(target, "id", "")
                )
            if name not in NEUTRAL or item.optional_vars is not None:
                raise self.refuse(
                    "only context managers that leave values alone can be "
                    "differentiated (np.errstate, warnings.catch_warnings)",
                    "do this outside the function and pass the result as an argument.",
                    item.context_expr,
                )
            if name == "printoptions":
                opened.append(self.opened(call))
            if name == "errstate" and isinstance(call, ast.Call):
                for keyword in call.keywords:
                    how = self.value(keyword.value)
                    if keyword.arg and isinstance(how, Known):
                        self.errstate[keyword.arg] = how.value
        self.run(node.body)
        for context in reversed(opened):
            args: Any = (context, "__exit__", (None, None, None), {})
            self.append(Node("method", args, {}, (), (), self.span()))


def _refusal(node: ast.stmt) -> str:
    words = {
        "TryStar": "`try` is outside the language that can be differentiated",
        "AsyncFor": "async code is outside the language that can be differentiated",
        "AsyncWith": "async code is outside the language that can be differentiated",
        "AsyncFunctionDef": "async code is outside the language that can be "
        "differentiated",
        "ClassDef": "a class defined inside the function is outside the language",
    }
    name = type(node).__name__
    return words.get(name, f"`{name.lower()}` is outside the language")


def _cure(node: ast.stmt) -> str | None:
    cures = {
        "ClassDef": "define the class at the top of the file.",
    }
    return cures.get(type(node).__name__)
