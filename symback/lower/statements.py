"""Statements: assignment, mutation, branches and early exits."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Node, Value
from ..rules.registry import OPERATORS
from .abstract import (
    Array,
    DictRef,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    RunList,
    Shape,
    Tup,
    View,
    always,
)
from .core import Frame, Raises
from .methods import Methods

__all__ = ["Statements"]

NEUTRAL = frozenset({"errstate", "printoptions", "catch_warnings", "nullcontext"})
"""Context managers that leave values alone."""


class Statements(Methods):
    """Lower statements; loops are in the class that builds on this one."""

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
        self.effect("raise", self.operand(item))
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
        raise self.refuse("a global name is written", "return the value instead.", node)

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

    def do_Try(self, node: ast.Try) -> None:
        if len(node.handlers) > 1:
            raise self.refuse("`try` with several `except` clauses is not supported")
        if not node.handlers:
            self.run(node.body)
            self.run(node.finalbody)
            return
        handler = node.handlers[0]
        names, classes = self.caught(handler)
        before, count = dict(self.state), len(self.nodes)
        mark = len(self.stack)

        def body() -> Any:
            self.run(node.body)
            changed = [
                k for k in before if k[0] == "h" and self.state.get(k) is not before[k]
            ]
            if changed:
                raise self.refuse(
                    "an array or list is changed inside `try`",
                    "work on a copy made inside, and assign it at the end.",
                )
            return Known(True)

        def other() -> Any:
            if handler.name:
                self.poison_name(handler.name, f"`{handler.name}` cannot be used here")
            self.run(handler.body)
            return Known(False)

        try:
            with self.at(node):
                fine = self.choose(True, body, other, names)
        except Raises as known:
            if not issubclass(known.kind, classes):
                raise
            # It raises whenever it runs: the handler is what happens.
            del self.nodes[count:], self.stack[mark:]
            self.state = before
            other()
            fine = Known(False)
        if node.orelse:
            self.choose(self.truth(fine), lambda: self.run(node.orelse), lambda: None)
        self.run(node.finalbody)

    def caught(self, handler: ast.ExceptHandler) -> tuple[Any, tuple[type, ...]]:
        """Return the exceptions of an ``except`` clause: their names and classes."""
        kinds: list[Any] = [Known(Exception)]
        if handler.type is not None:
            found = self.value(handler.type)
            kinds = list(found.items) if isinstance(found, Tup) else [found]
        names = []
        for kind in kinds:
            thing = kind.value if isinstance(kind, Known) else None
            if not isinstance(thing, type):
                raise self.refuse("which exceptions are caught must be known")
            if thing.__module__ == "builtins":
                names.append(f"builtins.{thing.__name__}")
            elif thing is np.linalg.LinAlgError:
                names.append("np.linalg.LinAlgError")
            else:
                raise self.refuse("only Python's and NumPy's exceptions can be caught")
        return tuple(names), tuple(k.value for k in kinds)

    # Assignment

    def do_Assign(self, node: ast.Assign) -> None:
        item = self.value(node.value)
        for target in node.targets:
            self.assign(target, item)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def assign(self, target: ast.expr, item: Any) -> None:
        """Assign an abstract value to a target."""
        if isinstance(target, ast.Name):
            self.bind_name(target.id, item)
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, item)
        elif isinstance(target, ast.Subscript):
            container = self.value(target.value)
            index = self.index(target.slice)
            with self.at(target):
                self.store(container, index, item)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, item)
        else:
            raise self.refuse("this target is not supported", None, target)

    def assign_attribute(self, target: ast.Attribute, item: Any) -> None:
        """Do ``object.name = item`` for objects that live in a cell."""
        owner = self.value(target.value)
        if isinstance(owner, Obj):
            held = dict(self.content(owner.cell))
            held[target.attr] = item
            self.state["h", owner.cell] = held
            self.christen(item, target.attr)
            return
        if isinstance(owner, Array | View) and target.attr == "flat":
            self.store(owner, Known(Ellipsis), item)
            return
        raise self.refuse(
            "an object outside the function is changed",
            "return the value instead.",
            target,
        )

    def unpack(self, target: ast.Tuple | ast.List, item: Any) -> None:
        """Assign the items of an iterable to several targets."""
        count = len(target.elts)
        stars = [k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        if stars:
            items = self.known_items(item, target)
        else:
            items = self.unpacked(item, count, target)
        if stars:
            star = stars[0]
            after = count - star - 1
            if len(items) < count - 1:
                raise self.refuse(
                    f"{len(items)} items cannot be unpacked into {count} names"
                )
            middle = items[star : len(items) - after]
            items = [*items[:star], self.new_list(middle), *items[len(items) - after :]]
        if len(items) != count:
            raise self.refuse(
                f"{len(items)} items cannot be unpacked into {count} names",
                None,
                target,
            )
        for one, part in zip(target.elts, items, strict=True):
            inner = one.value if isinstance(one, ast.Starred) else one
            self.assign(inner, part)

    def unpacked(self, item: Any, count: int, node: ast.AST) -> list[Any]:
        """Return the items to unpack; an array of unknown length is trusted to fit."""
        if isinstance(item, Shape):
            return [self.emit("getitem", item.value, k) for k in range(count)]
        if isinstance(item, Array | View | Value):
            value = self.operand(item)
            if isinstance(value, Value) and value.type is None:
                owner = self.parameter_of(value)
                if owner is not None and owner in self.wrt:
                    raise self.ask_arguments(owner, "is unpacked", node)
            known = self.type_of(value)
            if count > 1 and (known is None or known.rank == 1):
                # Python checks the number of items, and says so as the user expects.
                outs = self.emit_many("unpack", count, value)
                return [self.maybe_alias(self.wrap(out), item) for out in outs]
            return [self.array_item(item, Known(k)) for k in range(count)]
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, RunList):
                return [self.run_item(held, Known(k)) for k in range(count)]
        if isinstance(item, Iterable) and item.items is None and item.item is not None:
            return [item.item(Known(k)) for k in range(count)]
        return self.known_items(item, node)

    def parameter_of(self, value: Value) -> str | None:
        """Return the parameter of unknown kind that a value is, or is an item of."""
        if self.mode != "generic":
            return None
        while value not in self.parameters:
            node = self.defs.get(value)
            if node is None or node.op != "getitem":
                return None
            value = node.args[0]
        return value.name or ""

    parameters: set[Value]
    wrt: tuple[str, ...]

    def ask_arguments(self, name: str, why: str, node: ast.AST | None = None) -> Any:
        """Return the error that asks for arguments before the source can be written."""
        return self.refuse(
            f"`{name}` {why}: what that means depends on what `{name}` is",
            "give arguments: `f.backward_source_for(...)`.",
            node,
        )

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        op = OPERATORS[type(node.op).__name__]
        target = node.target
        if isinstance(target, ast.Name):
            current = self.value(
                ast.copy_location(ast.Name(target.id, ast.Load()), target)
            )
            item = self.value(node.value)
            with self.at(node):
                self.augment_name(target, op, current, item)
        elif isinstance(target, ast.Subscript):
            container = self.value(target.value)
            index = self.index(target.slice)
            item = self.value(node.value)
            with self.at(node):
                self.augment_item(container, index, op, item)
        else:
            load = ast.copy_location(
                ast.Attribute(target.value, target.attr, ast.Load()), target
            )
            current = self.value(load)
            item = self.value(node.value)
            with self.at(node):
                if isinstance(current, Array | View):
                    self.augment_array(current, op, item, target)
                else:
                    self.assign(target, self.operate(op, current, item))

    def augment_name(self, target: ast.Name, op: str, current: Any, item: Any) -> None:
        """Do ``name += item``: in place for arrays and lists, else rebinding."""
        if isinstance(current, ListRef) and op == "add":
            self.list_extend(current, item)
        elif isinstance(current, Array | View):
            self.augment_array(current, op, item, target)
        else:
            self.bind_name(target.id, self.operate(op, current, item))

    def augment_array(self, ref: Any, op: str, item: Any, target: ast.expr) -> None:
        """Do ``array += item`` in place, visible through every alias."""
        value = self.read(ref)
        name = target.id if isinstance(target, ast.Name) else None
        if value.type is None:
            if self.shared(ref):
                if self.mode == "generic":
                    raise self.ask_arguments(
                        name or "it", "is changed in place while it has another name"
                    )
                raise self.refuse(
                    f"whether `{name}` is an array, and changed in place, "
                    "cannot be told",
                    f"write `{name} = {name} ...` or take a copy first.",
                )
            result = self.operate(op, ref, item)
            if name is not None:
                self.bind_name(name, result)
            else:
                self.assign(target, result)
            return
        if not value.type.is_array:
            result = self.operate(op, ref, item)
            if name is not None:
                self.bind_name(name, result)
            else:
                self.assign(target, result)
            return
        result = self.emit(op, value, self.operand(item), name=value.name or name)
        if result.type is not None and not result.type.is_array:
            # In place, an array without axes stays an array.
            result = self.emit("np.asarray", result)
        known = result.type
        if known is not None and known.dtype != value.type.dtype:
            result = self.emit("astype", result, _dtype(value.type.dtype))
        if known is not None and known.dims != value.type.dims:
            result = self.emit("setitem", value, Ellipsis, result)
        self.write(ref, result)

    def shared(self, ref: Array | View) -> bool:
        """Say whether changing an array in place may be seen elsewhere."""
        root = self.root(ref)
        if isinstance(ref, View) or ("ro", root) in self.state:
            return True
        others = {
            key[1]
            for key, cells in self.state.items()
            if key[0] == "m" and root in cells
        }
        others |= self.state.get(("m", root), frozenset())
        return self.mentions({root}) > 1 or (
            bool(others) and self.mentions(others - {root}) > 0
        )

    def mentions(self, cells: set[Any]) -> int:
        """Count the names and containers that hold an array of one of these cells."""

        def count(item: Any) -> int:
            if isinstance(item, Array | View):
                return int(self.root(item) in cells)
            if isinstance(item, Tup):
                return sum(map(count, item.items))
            if isinstance(item, tuple):
                return sum(map(count, item))
            if isinstance(item, dict):
                return sum(map(count, item.values()))
            return 0

        held = (v for k, v in self.state.items() if k[0] in ("n", "h"))
        return sum(map(count, held))

    def augment_item(self, container: Any, index: Any, op: str, item: Any) -> None:
        """Do ``container[index] += item``."""
        if not isinstance(container, Array | View):
            current = self.getitem(container, index)
            if isinstance(current, Array | View):
                value = self.read(current)
                if value.type is not None and value.type.is_array:
                    result = self.emit(op, value, self.operand(item))
                    self.write(current, result)
                    return
                if value.type is None and self.shared(current):
                    raise self.uncertain_item(value)
            self.store(container, index, self.operate(op, current, item))
            return
        place = self.operand(index)
        if op in ("add", "sub") and self.adds_once(place):
            value = self.read(container)
            added = self.operand(item)
            if op == "sub":
                added = (
                    -added
                    if isinstance(added, int | float)
                    else self.emit("neg", added)
                )
            new = self.emit("index_add", value, place, added, name=value.name)
            self.write(container, new)
            return
        current = self.emit("getitem", self.read(container), place)
        self.store(container, index, self.operate(op, current, item))

    def uncertain_item(self, value: Value) -> Exception:
        """Return the error for ``items[k] += ...`` of what may be a shared array."""
        if self.mode == "generic":
            found: Exception = self.ask_arguments(
                value.name or "it", "is changed in place while it has another name"
            )
            return found
        return self.refuse(
            "whether this item is an array, and changed in place, cannot be told",
            "take a copy first.",
        )

    def adds_once(self, place: Any) -> bool:
        """Say whether an index names each entry at most once: then += accumulates."""
        return self.basic_index(place) is True

    def store(self, target: Any, index: Any, item: Any) -> None:
        if isinstance(target, DictRef):
            self.check_inside(target)
            held = dict(self.content(target.cell))
            held[self.key(index)] = item
            self.state["h", target.cell] = held
            title = str(self.key(index))
            if title.isidentifier():
                self.christen(item, title)
        elif isinstance(target, ListRef):
            self.store_in_list(target, index, item)
        elif isinstance(target, Array | View):
            base = self.read(target)
            place = self.operand(index)
            if isinstance(target, View) and target.made in self.uncertain:
                raise self.ask_or_refuse(target.made)
            merged = self.merged_index(target, place)
            if merged is not None:
                outer, joined = merged
                value = self.read(outer)
                new = self.emit(
                    "setitem", value, joined, self.stored(item), name=value.name
                )
                self.write(outer, new)
                return
            new = self.emit("setitem", base, place, self.stored(item), name=base.name)
            self.write(target, new)
        elif isinstance(target, Obj):
            self.call_value(self.attribute(target, "__setitem__"), [index, item], {})
        elif isinstance(target, Tup):
            raise self.written_out(
                self.refuse(
                    "an item of a tuple, or of a list kept at run time, is assigned",
                    "use a list of known length, or an array.",
                )
            )
        else:
            raise self.refuse(f"{self.describe(target)} cannot be changed in place")

    def uncertain_view(self, value: Value) -> Exception:
        if self.mode == "generic":
            owner = value
            while owner not in self.parameters:
                node = self.defs.get(owner)
                if node is None or not node.inputs:
                    break
                owner = node.inputs[0]
            name = owner.name or value.name or "it"
            found: Exception = self.ask_arguments(
                name, "is changed in place while an entry of it is in use"
            )
            return found
        return super().uncertain_view(value)

    def ask_or_refuse(self, value: Value) -> Any:
        """Return the error for a write through what may or may not be a view."""
        if self.mode == "generic":
            return self.ask_arguments(
                value.name or "it", "may be a view of another array"
            )
        return self.refuse(
            "whether this is a view of another array cannot be told",
            "take a copy first.",
        )

    def stored(self, item: Any) -> Any:
        """Return a value to store into an array."""
        return self.operand(item)

    def merged_index(self, target: Any, place: Any) -> Any:
        """Return the base and one index for ``base[i][j]`` with an integer ``i``."""
        if not isinstance(target, View) or target.op != "getitem":
            return None
        first = target.args[0]
        if isinstance(first, int) and not isinstance(first, bool):
            plain = True
        else:
            plain = (
                isinstance(first, Value)
                and first.type is not None
                and first.type.is_integral
                and not first.type.is_array
            )
        if not plain or self.basic_index(place) is not True or target.base is None:
            return None
        rest = place if isinstance(place, tuple) else (place,)
        return target.base, (first, *rest)

    def store_in_list(self, ref: ListRef, index: Any, item: Any) -> None:
        """Do ``items[index] = item`` for a list."""
        self.check_changeable(ref)
        held = self.content(ref.cell)
        if isinstance(held, tuple) and isinstance(index, Known):
            items = list(held)
            items[index.value] = item
            self.state["h", ref.cell] = tuple(items)
            return
        if isinstance(index, slice) and isinstance(held, tuple):
            items = list(held)
            items[self.known_slice(index)] = self.known_items(item)
            self.state["h", ref.cell] = tuple(items)
            return
        if isinstance(index, slice):
            raise self.written_out(
                self.refuse("a slice of a list with a run-time length is assigned")
            )
        place = self.operand(index)
        if isinstance(held, tuple):
            found, param = self.origin(place)
            if found is not None and self.indices[found]:
                raise self.need_static(place, "an index into a list must be known")
            if param not in (None, "shape"):
                raise self.need_static(place, "an index into a list must be known")
        shape = self.run_shape(held, (item,))
        made = self.run_list(held, shape)
        new = tuple(
            self.emit("setitem", column, place, leaf, name=column.name)
            for column, leaf in zip(made.leaves, self.item_leaves(item), strict=True)
        )
        self.state["h", ref.cell] = RunList(new, shape)

    # Branches

    def on_If(self, node: ast.If, rest: list[ast.stmt]) -> bool:
        test = self.test(node.test)
        return self.branch(
            test,
            lambda: self.run(node.body),
            lambda: self.run(node.orelse),
            rest,
            _exits(node.body),
            _exits(node.orelse),
        )

    def branch(
        self,
        test: Any,
        then: Callable[[], None],
        other: Callable[[], None],
        rest: list[ast.stmt],
        then_exits: bool,
        other_exits: bool,
    ) -> bool:
        """Lower two branches; what follows goes into the one that does not exit."""
        if isinstance(test, Known):
            (then if test.value else other)()
            return False
        if then_exits and rest and not other_exits:
            self.choose(test, then, lambda: self.then_rest(other, rest))
            return True
        if other_exits and rest and not then_exits:
            self.choose(test, lambda: self.then_rest(then, rest), other)
            return True
        self.choose(test, then, other)
        return False

    def then_rest(self, part: Callable[[], None], rest: list[ast.stmt]) -> None:
        """Run a branch and then what follows, unless the branch has exited."""
        part()
        done = self.exited()
        if isinstance(done, Known):
            if not done.value:
                self.run(rest)
            return
        self.choose(self.negate(done), lambda: self.go_on(rest), lambda: None)

    def on_Match(self, node: ast.Match, rest: list[ast.stmt]) -> bool:
        subject = self.value(node.subject)

        def case(number: int) -> None:
            if number == len(node.cases):
                return
            one = node.cases[number]
            test = self.matches(one.pattern, subject)
            if one.guard is not None:
                guard = one.guard
                test = self.choose(
                    test, lambda: self.truth(self.value(guard)), lambda: Known(False)
                )
            if isinstance(test, Known):
                if test.value:
                    self.run(one.body)
                else:
                    case(number + 1)
                return
            self.choose(test, lambda: self.run(one.body), lambda: case(number + 1))

        case(0)
        return False

    def matches(self, pattern: ast.pattern, subject: Any) -> Any:
        """Return whether a pattern matches; only constants, names and ``|``."""
        if isinstance(pattern, ast.MatchValue):
            value = self.value(pattern.value)
            return self.truth(self.compare(ast.Eq(), subject, value))
        if isinstance(pattern, ast.MatchSingleton):
            return self.identical(subject, Known(pattern.value), True)
        if isinstance(pattern, ast.MatchOr):
            result: Any = Known(False)
            for one in pattern.patterns:
                found = self.matches(one, subject)
                result = self.choose(found, always(Known(True)), always(result))
            return result
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                found = self.matches(pattern.pattern, subject)
            else:
                found = Known(True)
            if pattern.name is not None:
                self.bind_name(pattern.name, subject)
            return found
        if isinstance(pattern, ast.MatchSequence) and isinstance(subject, Tup):
            if len(pattern.patterns) != len(subject.items):
                return Known(False)
            result = Known(True)
            for one, item in zip(pattern.patterns, subject.items, strict=True):
                result = self.choose(
                    result, partial(self.matches, one, item), always(Known(False))
                )
            return result
        raise self.refuse(
            "only constants, names and `|` are supported in a pattern", None, pattern
        )


def _exits(body: Sequence[ast.stmt]) -> bool:
    """Say whether a block ends in return, raise, break or continue on every path."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return True
    if isinstance(last, ast.If):
        return _exits(last.body) and _exits(last.orelse)
    return False


def _dtype(name: str) -> Any:
    return np.dtype(name).type


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
