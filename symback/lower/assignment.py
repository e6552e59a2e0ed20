"""Assignment and mutation: names, items, attributes, and views of arrays.

In the graph a write makes a new value, and the cell of the array holds that value from
then on; whether it is done in place again is decided by the pass for buffers.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ..assumptions import Refine
from ..graph import Value
from ..operations.registry import OPERATORS
from .abstract import (
    Array,
    Choice,
    DictRef,
    Either,
    Iterable,
    Known,
    ListRef,
    Obj,
    Outer,
    RunList,
    Shape,
    Tup,
    View,
    Walker,
    always,
    is_number,
)
from .cells import mentions
from .methods import Methods
from .names import Boxed, Path
from .operations import is_users

__all__ = ["Assignment"]


class Assignment(Methods):
    """Lower ``=`` and ``+=`` to any target."""

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
        if isinstance(owner, Known) and is_users(type(owner.value)):
            thing = owner.value
            name = type(thing).__name__.lower()
            path = owner.path or Path("object", Boxed(thing), name)
            self.write_outside(thing, path, target.attr, item)
            self.christen(item, target.attr)
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
            items = self.known_items(item)
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
                if value in self.parameters:
                    # A tuple or a list will do as well as an array.
                    self.looped.add(value)
                elif owner is not None and owner in self.wrt:
                    raise self.ask_arguments(owner, "is unpacked", node)
            known = self.type_of(value)
            if count > 1 and (known is None or known.rank == 1):
                # Python checks the number of items, and says so as the user expects.
                outs = self.emit_many("unpack", count, value)
                return [
                    self.maybe_view(item, value, out, "getitem", k)
                    for k, out in enumerate(outs)
                ]
            return [self.array_item(item, Known(k)) for k in range(count)]
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, RunList):
                return [self.run_item(held, Known(k)) for k in range(count)]
        if isinstance(item, Walker) and not self.pullable(item):
            item = self.iterate(item)
        if isinstance(item, Iterable) and item.items is None and item.item is not None:
            return [item.item(Known(k)) for k in range(count)]
        return self.known_items(item)

    def parameter_of(self, value: Value) -> str | None:
        """Return the parameter of unknown kind that a value is, or is an item of."""
        if self.mode != "generic":
            return None
        while value not in self.parameters:
            node = self.defs.get(value)
            if node is None or node.op not in ("getitem", "unpack"):
                return None
            value = node.args[0]
        return value.name or ""

    parameters: set[Value]
    wrt: tuple[str, ...]

    @abstractmethod
    def pullable(self, walker: Walker) -> bool:
        """Say whether what an iterator walks is known, item by item."""

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
        if isinstance(current, ListRef | Either) and op == "add":
            self.dispatch(current, lambda one: self.list_extend(one, item))
        elif isinstance(current, Outer) and op == "add":
            self.outer_method(current, "extend", [item])
        elif isinstance(current, Array | View):
            self.augment_array(current, op, item, target)
        else:
            self.bind_name(target.id, self.operate(op, current, item))

    def augment_array(self, ref: Any, op: str, item: Any, target: ast.expr) -> None:
        """Do ``array += item`` in place, visible through every alias."""
        if self.mode != "generic" and self.chooses(ref):
            given = self.stored(item)
            self.dispatch(
                ref, lambda one: self.augment_one(one, op, self.as_item(given), target)
            )
            return
        self.augment_one(ref, op, item, target)

    def augment_one(self, ref: Any, op: str, item: Any, target: ast.expr) -> None:
        """Do ``array += item`` for one of the arrays that a name may be."""
        if not isinstance(ref, Array | View):
            self.assign(target, self.operate(op, ref, item))
            return
        value = self.read(ref)
        name = target.id if isinstance(target, ast.Name) else None
        if value.type is None and self.unsettled:
            # The body is lowered again when it is known what this is.
            self.write(ref, self.emit(op, value, self.stored(item), name=value.name))
            return
        if value.type is None and self.shared(ref):
            if self.mode == "generic":
                raise self.ask_arguments(
                    name or "it", "is changed in place while it has another name"
                )
            raise self.refuse(
                f"whether `{name}` is an array, and changed in place, cannot be told",
                f"write `{name} = {name} ...` or take a copy first.",
            )
        if value.type is None or not value.type.is_array:
            result = self.operate(op, ref, item)
            if name is not None:
                self.bind_name(name, result)
            else:
                self.assign(target, result)
            return
        result = self.emit(op, value, self.stored(item), name=value.name or name)
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
        if isinstance(ref, View) and not isinstance(ref, Choice):
            return True
        known = self.tally(self.state)
        cells = list(mentions(ref))
        return any(
            known[c] > 1 or ("ro", c) in self.state or c in self.outside_cells
            for c in cells
        )

    def augment_item(self, container: Any, index: Any, op: str, item: Any) -> None:
        """Do ``container[index] += item``."""
        if self.chooses(container):
            self.dispatch(
                container, lambda one: self.augment_item(one, index, op, item)
            )
            return
        if not isinstance(container, Array | View):
            current = self.getitem(container, index)
            if isinstance(current, Array | View):
                if self.mode != "generic" and self.chooses(current):
                    given = self.as_item(self.operand(item))
                    self.dispatch(
                        current,
                        lambda one: self.augment_found(
                            one, container, index, op, given
                        ),
                    )
                    return
                value = self.read(current)
                if value.type is not None and value.type.is_array:
                    self.augment_array(current, op, item, ast.Constant(None))
                    return
                if value.type is None and self.shared(current):
                    raise self.uncertain_item(value)
            self.store(container, index, self.operate(op, current, item))
            return
        place = self.operand(index)
        if op in ("add", "sub") and self.adds_once(place):
            value = self.read(container)
            added = self.stored(item)
            if op == "sub":
                added = (
                    -added
                    if isinstance(added, int | float)
                    else self.emit("neg", added)
                )
            new = self.emit("index_add", value, place, added, name=value.name)
            self.write(container, new)
            return
        current = self.wrap(self.emit("getitem", self.read(container), place))
        given = self.stored_array(item)
        self.store(container, index, self.operate(op, current, given))

    def augment_found(
        self, one: Any, container: Any, index: Any, op: str, item: Any
    ) -> None:
        """Do ``container[index] += item`` for one of the items that it may be."""
        value = self.loaded(one)
        known = self.type_of(value)
        if isinstance(one, Array | View) and known is not None and known.is_array:
            self.augment_array(one, op, item, ast.Constant(None))
        else:
            self.store(container, index, self.operate(op, one, item))

    def chooses(self, ref: Any) -> bool:
        """Say whether only the run decides what a reference refers to."""
        while isinstance(ref, View) and not isinstance(ref, Choice):
            ref = ref.base
        return isinstance(ref, Choice | Either)

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
        if self.chooses(target):
            given = item
            if isinstance(target, View):
                given = self.as_item(self.stored(item))
            self.dispatch(target, lambda one: self.store(one, index, given))
            return
        if isinstance(target, DictRef):
            self.check_inside(target)
            if target.cell in self.containers:
                thing, path = self.containers[target.cell]
                self.write_outside(thing, path, self.key(index), item)
                return
            held = dict(self.content(target.cell))
            if self.runtime_key(index):
                self.store_picked(target, held, index, item)
                return
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
        elif isinstance(target, Outer):
            given = (self.operand(index), self.given_away(item))
            self.effect("method", target.value, "__setitem__", given, {})
        elif isinstance(target, Obj):
            self.call_value(self.attribute(target, "__setitem__"), [index, item], {})
        elif isinstance(target, Tup):
            raise self.written_out(
                self.refuse(
                    "an item of a tuple, or of a list kept at run time, is assigned",
                    "use a list of known length, or an array.",
                )
            )
        elif self.dispatching and is_number(target):
            self.fail("TypeError", "a number has no items to assign")
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
        refusal = self.refuse(
            "whether this is a view of another array cannot be told",
            "take a copy first.",
        )
        if value.type is not None and not self.assumed.exact:
            # For sizes that are known, NumPy tells.
            return Refine(replace(self.assumed, exact=True), refusal)
        return refusal

    def stored(self, item: Any) -> Any:
        """Return a value to store into an array."""
        return self.operand(self.stored_array(item))

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
        if isinstance(held, tuple) and (
            self.picks(held, item) or self.picked_kind(held)
        ):
            numbers = dict(enumerate(held))
            self.store_picked(ref, numbers, self.tag_of(place, len(held)), item)
            return
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

    def store_picked(self, ref: Any, held: Any, key: Any, item: Any) -> None:
        """Do ``items[key] = item`` where only the run decides which item it is."""
        found = {}
        for one, old in held.items():
            same = self.compare(ast.Eq(), key, Known(one))
            found[one] = self.choose(self.truth(same), always(item), always(old))
        content = tuple(found.values()) if isinstance(ref, ListRef) else found
        self.state["h", ref.cell] = content


def _dtype(name: str) -> Any:
    return np.dtype(name).type
