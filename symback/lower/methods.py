"""Methods of arrays, lists, dicts and tuples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Value
from ..noise import is_random
from .abstract import (
    Array,
    DictRef,
    DictView,
    Either,
    Iterable,
    Known,
    ListRef,
    Obj,
    Outer,
    RunList,
    Tup,
    View,
    Walker,
)
from .calls import Calls
from .operations import INTRINSICS, METHODS

__all__ = ["Methods"]


UNCHANGING = frozenset("copy count get index items keys values".split())
"""Methods of lists and dicts that only read."""


class Methods(Calls):
    """Lower calls of methods by what their object is."""

    def method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of an abstract value."""
        if isinstance(item, Walker) and name in ("__next__", "__iter__"):
            return self.first(item, None) if name == "__next__" else item
        if isinstance(item, Iterable):
            item = self.listed(item)
        if isinstance(item, Outer):
            return self.outer_method(item, name, args)
        if isinstance(item, Array | View | Value):
            return self.array_method(item, name, args, kwargs)
        if isinstance(item, Either):
            if name in UNCHANGING:
                return self.method(self.settled(item), name, args, kwargs)
            return self.dispatch(item, lambda one: self.method(one, name, args, kwargs))
        if isinstance(item, ListRef):
            return self.list_method(item, name, args, kwargs)
        if isinstance(item, DictRef):
            return self.dict_method(item, name, args, kwargs)
        if isinstance(item, Tup):
            return self.tuple_method(item, name, args, kwargs)
        if isinstance(item, Obj) and item.value is not None and is_random(item.actual):
            given = tuple(self.operand(a) for a in args)
            named = {k: self.operand(a) for k, a in kwargs.items()}
            return self.wrap(self.emit("method", item.value, name, given, named))
        return self.call_value(self.attribute(item, name), args, kwargs)

    def array_method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of an array or a number."""
        value = self.operand(item)
        if name == "reshape":
            if len(args) == 1:
                return self.plain_op("np.reshape", [item, args[0]], kwargs)
            return self.plain_op("np.reshape", [item, Tup(tuple(args))], kwargs)
        if name == "transpose":
            if not args or (isinstance(args[0], Known) and args[0].value is None):
                return self.view(item, "np.transpose")
            axes = args[0] if isinstance(args[0], Tup | ListRef) else Tup(tuple(args))
            return self.view(item, "np.transpose", self.operand(axes))
        if name == "flatten":
            order = [self.order(value, a) for a in (*args, *kwargs.values())]
            return self.wrap(self.emit("np.ravel", value, *order))
        if name in ("copy", "__copy__", "__deepcopy__"):
            order = [self.order(value, a) for a in (*args, *kwargs.values())]
            return self.wrap(self.copied(value, *(order or ["C" * (name == "copy")])))
        if name in ("conj", "conjugate") and not args:
            known = self.type_of(value)
            if known is not None and known.is_array and not known.is_complex:
                return item
        if name == "astype":
            kind = args[0] if args else kwargs["dtype"]
            kept = kwargs.get("copy")
            if isinstance(kept, Known) and not kept.value:
                known = self.type_of(value)
                if known is None:
                    made = self.emit("astype", value, self.operand(kind))
                    return self.maybe_view(item, value, made, "astype", kind)
                if isinstance(kind, Known) and np.dtype(kind.value) == known.dtype:
                    return item
            return self.wrap(self.emit("astype", value, self.operand(kind)))
        if name == "item":
            if args:
                flat = self.emit("np.ravel", value)
                place = [self.operand(a) for a in args]
                base = flat if len(place) == 1 else value
                value = self.emit(
                    "getitem", base, place[0] if len(place) == 1 else tuple(place)
                )
            return self.emit("item", value)
        if name == "tolist":
            return self.wrap(self.emit("tolist", value))
        if name in ("fill", "sort", "put", "itemset", "partition", "resize"):
            return self.mutating_method(item, name, args, kwargs)
        if name in METHODS:
            return self.call_op(METHODS[name], [item, *args], kwargs)
        if name in ("is_integer", "as_integer_ratio", "conjugate"):
            return self.emit(
                "method", value, name, tuple(self.operand(a) for a in args), {}
            )
        if self.type_of(value) is None:
            title = value.name if isinstance(value, Value) else None
            raise self.ask_arguments(title or "it", f"is asked for `.{name}()`")
        self.check_attribute(value, name)
        raise self.refuse(f"the array method `{name}` is not supported")

    def mutating_method(
        self, item: Any, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call an array method that changes the array."""
        if name == "fill":
            self.store(item, Known(Ellipsis), args[0])
        elif name == "put":
            self.put(item, args, kwargs)
        elif name == "sort":
            new = self.plain_op("np.sort", [item, *args], kwargs)
            self.write(item, self.read(new))
        else:
            raise self.refuse(f"the array method `{name}` is not supported")
        return Known(None)

    def put(self, item: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        """Do ``np.put``: values repeat until there is one for each place."""
        if len(args) > 2 or kwargs:
            raise self.refuse("`put` with `mode=` is not supported")
        places = self.operand(self.stored_array(args[0]))
        given = self.operand(self.stored_array(args[1]))
        known = self.type_of(given)
        if known is None or known.is_array:
            count, size = self.emit("np.size", places), self.emit("np.size", given)
            turn = self.emit("mod", self.emit("np.arange", count), size)
            given = self.emit("getitem", self.emit("np.ravel", given), turn)
            places = self.emit("np.ravel", places)
        flat = self.flat_view(item, self.operand(item))
        self.store(flat, self.as_item(places), self.as_item(given))

    def list_method(
        self, ref: ListRef, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of a list."""
        held = self.content(ref.cell)
        if name not in ("copy", "index", "count"):
            self.check_changeable(ref)
        if name == "append":
            self.list_append(ref, args[0])
            return Known(None)
        if name == "extend":
            self.list_extend(ref, args[0])
            return Known(None)
        if name == "copy":
            return self.copy_list(ref)
        if isinstance(held, RunList):
            if name == "pop" and not args and len(held.leaves) == 1:
                rest, last = self.emit_many("list_pop", 2, held.leaves[0])
                self.state["h", ref.cell] = RunList((rest,), held.shape)
                return self.wrap(last)
            first = args and isinstance(args[0], Known) and args[0].value == 0
            if name in ("pop", "popleft") and (first or name == "popleft"):
                item = self.run_item(held, Known(0))
                rests = [self.emit("getitem", r, slice(1, None)) for r in held.leaves]
                self.state["h", ref.cell] = RunList(tuple(rests), held.shape)
                return item
            if name == "reverse":
                new = tuple(self.emit("list_reverse", leaf) for leaf in held.leaves)
                self.state["h", ref.cell] = RunList(new, held.shape)
                return Known(None)
            raise self.refuse(
                f"`{name}` of a list with a run-time length is not supported"
            )
        items = list(held)
        if name == "popleft":
            found = items.pop(0)
            self.state["h", ref.cell] = tuple(items)
            return found
        if name == "pop":
            where = args[0].value if args else -1
            found = items.pop(where)
            self.state["h", ref.cell] = tuple(items)
            return found
        if name == "insert" and isinstance(args[0], Known):
            items.insert(args[0].value, args[1])
        elif name == "appendleft":
            items.insert(0, args[0])
        elif name == "extendleft":
            items[:0] = self.known_items(args[0])[::-1]
        elif name == "rotate" and all(isinstance(a, Known) for a in args) and items:
            turn = -(args[0].value if args else 1) % len(items)
            items = items[turn:] + items[:turn]
        elif name == "remove" and all(isinstance(i, Known) for i in items):
            with self.trying():
                del items[[i.value for i in items].index(self.key(args[0]))]
        elif name == "reverse":
            items.reverse()
        elif name == "clear":
            items.clear()
        elif name == "sort" and not kwargs:
            items = self.known_items(INTRINSICS[sorted](self, [ref], {}))
        elif name in ("index", "count") and all(isinstance(i, Known) for i in items):
            return Known(getattr([i.value for i in items], name)(args[0].value))
        else:
            raise self.refuse(f"the list method `{name}` is not supported here")
        self.state["h", ref.cell] = tuple(items)
        return Known(None)

    def list_extend(self, ref: ListRef, more: Any) -> None:
        if more == ref:
            more = self.copy_list(ref)
        self.walk(more, lambda item: self.list_append(ref, item))

    @abstractmethod
    def walk(
        self, item: Any, body: Callable[[Any], None], flags: Sequence[Any] = ()
    ) -> None:
        """Run a body for each item."""

    @abstractmethod
    def first(self, walker: Any, default: Any) -> Any:
        """Return the next item of an iterator."""

    @abstractmethod
    def loop(
        self,
        walked: Iterable,
        body: Callable[[Any], None],
        flags: Sequence[Any] = (),
    ) -> None:
        """Run a body for each item."""

    def dict_method(
        self, ref: DictRef, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of a dict."""
        held = dict(self.content(ref.cell))
        if name in ("items", "keys", "values"):
            return DictView(ref.cell, name)
        if name == "get":
            default = args[1] if len(args) > 1 else Known(None)
            return held.get(self.key(args[0]), default)
        if name == "copy":
            return self.new_dict(held)
        if name == "update":
            new = {**(self.content(args[0].cell) if args else {}), **kwargs}
            for key, item in new.items():
                self.store(ref, Known(key), item)
            return Known(None)
        if name == "setdefault" and self.key(args[0]) not in held:
            default = args[1] if len(args) > 1 else Known(None)
            self.store(ref, args[0], default)
            return default
        if name in ("pop", "popitem", "clear") and ref.cell in self.containers:
            raise self.refuse(f"a dict outside the function is changed by `{name}`")
        if name == "setdefault":
            return held[self.key(args[0])]
        if name == "pop":
            key = self.key(args[0])
            if key not in held and len(args) > 1:
                return args[1]
            found = held.pop(key)
            self.state["h", ref.cell] = held
            return found
        raise self.refuse(f"the dict method `{name}` is not supported")

    def key_item(self, key: Any) -> Any:
        """Return a dict key as an abstract value."""
        if isinstance(key, tuple):
            return Tup(tuple(map(self.key_item, key)))
        return Known(key)

    def tuple_method(
        self, item: Tup, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Call a method of a tuple or a named tuple."""
        if name == "_replace":
            items = [
                kwargs.get(field, old)
                for field, old in zip(item.names, item.items, strict=True)
            ]
            return Tup(tuple(items), item.like, item.names)
        if name == "_asdict":
            return self.new_dict(dict(zip(item.names, item.items, strict=True)))
        if name in ("index", "count") and all(isinstance(i, Known) for i in item.items):
            return Known(getattr([i.value for i in item.items], name)(args[0].value))
        if item.like is not None:
            return self.call_value(self.attribute(item, name), args, kwargs)
        raise self.refuse(f"the tuple method `{name}` is not supported here")
