"""Functions of NumPy, math and SciPy: a call becomes a node.

`out=` is mutation, `where=` a choice, and lists that stand for arrays become arrays.
"""

from __future__ import annotations

import inspect
import itertools
from abc import abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np

from ..graph import Value
from ..infer import resolve
from ..operation import operation
from ..operations import REGISTRY
from .abstract import (
    Array,
    Known,
    ListRef,
    Obj,
    Poison,
    RunList,
    Tup,
    View,
)
from .attributes import Attributes
from .operations import (
    ARRAY_KEYWORDS,
    FACTORED,
    FIELDS,
    MAYBE_VIEWS,
    OPERATIONS,
    OUTPUTS,
    PARTS,
    PRIVATE,
    REDUCTIONS,
    SEQUENCES,
    SHAPED,
    STATIC_ARGUMENTS,
    TABULATED,
    UFUNC_ARITY,
    VIEWS,
)

__all__ = ["Library"]

JOINING = frozenset(
    f"np.{n}"
    for n in "concatenate stack vstack hstack dstack column_stack append".split()
)
"""Functions that make arrays of the lists among what they join."""

ORDERED = frozenset({"np.ravel", "np.reshape", "np.copy"})
"""Functions that may be asked for the memory order that an array has."""


@lru_cache(maxsize=1024)
def parameters_of(op: str) -> tuple[str, ...]:
    """Return the names of a function's parameters in places, as far as it tells."""
    try:
        known = inspect.signature(resolve(op)).parameters.values()
    except (TypeError, ValueError, AttributeError, ImportError):
        return ()
    placed = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return tuple(p.name for p in known if p.kind in placed)


def out_position(op: str) -> int | None:
    """Return the place of `out` among the positional arguments of a function.

    >>> out_position("np.clip"), out_position("np.tile")
    (3, None)
    """
    names = parameters_of(op) if op.startswith("np.") else ()
    return names.index("out") if "out" in names else None


def after_out(op: str) -> tuple[str, ...]:
    """Return the names of the parameters after `out`."""
    place = out_position(op)
    return () if place is None else parameters_of(op)[place + 1 :]


class Library(Attributes):
    """Lower calls of libraries' functions."""

    def call_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function of NumPy, math or SciPy: append its node."""
        args = [self.settled(a) for a in args]
        if op.startswith("scipy.sparse.") and op not in REGISTRY:
            raise self.refuse(
                f"`{op}` makes a sparse matrix, which is no array",
                "use a dense array: `S.toarray()`.",
            )
        if op.startswith("np.random."):
            return self.random_op(op, args, kwargs)
        handler = OPERATIONS.get(op)
        if handler is not None:
            found = handler(self, args, kwargs)
            if found is not NotImplemented:
                return found
        out = kwargs.pop("out", None)
        if isinstance(out, Tup) and len(out.items) == 1:
            out = out.items[0]
        place = UFUNC_ARITY.get(op, out_position(op))
        if place is not None and len(args) > place:
            # The argument after the operands is `out`.
            out = args.pop(place)
            for name, late in zip(after_out(op), args[place:], strict=False):
                kwargs[name] = late
            del args[place:]
        where = kwargs.get("where") if op not in REDUCTIONS else None
        if where is not None:
            kwargs.pop("where")
        if isinstance(out, Known) and out.value is None:
            out = None
        result = self.plain_op(op, args, kwargs)
        if where is not None and not (isinstance(where, Known) and where.value is True):
            if out is None:
                raise self.refuse("`where=` needs `out=`: other entries are undefined")
            mask = self.operand(where)
            result = self.wrap(
                self.emit("np.where", mask, self.operand(result), self.operand(out))
            )
        if out is not None:
            self.store(out, Known(Ellipsis), result)
            return out
        return result

    def random_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Make a seeded generator, or draw what nothing may depend on."""
        given = [self.operand(a) for a in args]
        named = {k: self.operand(a) for k, a in kwargs.items()}
        if op in ("np.random.default_rng", "np.random.RandomState"):
            seeded = [*given, *named.values()]
            if seeded and seeded[0] is not None:
                made = self.emit(op, *given, **named)
                cell = self.fresh()
                self.state["h", cell] = {"__class__": np.random.Generator}
                return Obj(made, np.random.default_rng(0), cell)
        reason = f"`{op}` draws random numbers from a hidden state"
        hint = "pass a generator: `def loss(x, rng): ... rng.normal(size=3)`."
        if not operation(op).declared:
            raise self.refuse(reason, hint)
        self.effect(op, *given, **named)
        if op == "np.random.seed":
            return Known(None)
        return Poison(reason, hint)

    def plain_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Append the node of a function call and wrap its outputs."""
        if op in JOINING and args:
            args = self.joined_lists(op, args)
        if op not in SEQUENCES:
            args = [self.as_array(op, k, a) for k, a in enumerate(args)]
        self.check_static_arguments(op, args, kwargs)
        for key in ARRAY_KEYWORDS & kwargs.keys():
            if isinstance(kwargs[key], ListRef):
                kwargs = {**kwargs, key: self.call_op("np.array", [kwargs[key]], {})}
        given = [self.operand(a) for a in args]
        named = {k: self.operand(a) for k, a in kwargs.items()}
        if op in ORDERED:
            given[1:] = [self.order(given[0], a) for a in args[1:]]
            named = {k: self.order(given[0], a) for k, a in kwargs.items()}
        if op in VIEWS and args and isinstance(args[0], Array | View):
            return self.view(args[0], op, *given[1:], **named)
        if (
            op in PRIVATE
            and len(args) == 1
            and not kwargs
            and isinstance(args[0], Array | View)
        ):
            known = given[0].type
            always = op in ("np.asarray", "np.asanyarray")
            if known is not None and known.is_array and (known.rank or always):
                if always or op == "np.atleast_1d":
                    return args[0]
        count = self.outputs(op, args, kwargs)
        if count is not None:
            if count == 1:
                whole = self.emit(op, *given, **named)
                outs = [self.emit("getitem", whole, 0)]
            else:
                outs = self.emit_many(op, count, *given, **named)
            items = tuple(self.wrap(o) for o in outs)
            if op in PARTS:
                items = self.parts(op, args, given, named, outs)
            fields = FIELDS.get(op, ())
            return Tup(items, None, fields if len(fields) == count else ())
        value = self.emit(op, *given, **named)
        if args and isinstance(args[0], Array | View) and value.type is not None:
            # NumPy decides on the samples whether this is a view of its argument.
            return self.view_of(args[0], given[0], value, op, given[1:], named)
        if op == "np.einsum" and len(args) == 2 and value.type is not None:
            return self.view_of(args[1], given[1], value, op, given[:1], named)
        if value.type is None and op in MAYBE_VIEWS:
            return self.maybe_view(args[0], given[0], value, op, *given[1:])
        return self.wrap(value)

    def order(self, value: Any, item: Any) -> Any:
        """Return an argument; a memory order that NumPy finds out is the one found."""
        if isinstance(item, Known) and item.value in ("A", "K"):
            known = self.type_of(value)
            if known is None:
                return item.value
            flags = known.samples[0].flags if known.is_array else None
            if flags is None or flags.c_contiguous:
                return "C"
            if flags.f_contiguous:
                return "F"
            if item.value == "K":
                raise self.refuse(
                    "which order of memory this array has depends on how it was made",
                    'say which one is meant: `order="C"`.',
                )
            return "C"
        return self.operand(item)

    def copied(self, value: Any, order: str = "") -> Any:
        """Copy an array in an order of memory, which only matters where it differs."""
        known = self.type_of(value)
        if order in ("C", "F") and known is not None and known.is_array:
            flags = known.samples[0].flags
            if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
                return self.emit("np.copy", value, order=order)
        return self.emit("np.copy", value)

    def parts(
        self, op: str, args: Any, given: Any, named: Any, outs: Any
    ) -> tuple[Any, ...]:
        """Return the parts of an array as views of it."""
        item, base = args[0], given[0]
        known = self.type_of(base)
        if op == "np.broadcast_arrays" or not isinstance(item, Array | View):
            return tuple(self.wrap(o) for o in outs)
        if known is None:
            return tuple(
                self.maybe_view(item, base, o, "getitem", k) for k, o in enumerate(outs)
            )
        axis = named.get("axis", given[2] if len(given) > 2 else 0)
        axis = {"np.vsplit": 0, "np.dsplit": 2}.get(op, axis)
        if op == "np.hsplit":
            axis = 0 if known.rank == 1 else 1
        if op == "np.unstack":
            places: list[Any] = list(range(len(outs)))
        else:
            places = self.bounds(op, base, given, named, axis, len(outs))
        lead = (slice(None),) * (axis % known.rank)
        of = self.contents(item)
        return tuple(
            View(item, "getitem", ((*lead, p) if lead else p,), o, of)
            for p, o in zip(places, outs, strict=True)
        )

    def bounds(
        self, op: str, base: Any, given: Any, named: Any, axis: int, count: int
    ) -> list[slice]:
        """Return the slices of the parts that `np.split` and its like make."""
        where = named.get("indices_or_sections", given[1] if len(given) > 1 else None)
        if isinstance(where, tuple | list):
            return [
                slice(a, b) for a, b in zip([None, *where], [*where, None], strict=True)
            ]
        size = self.emit("dim", base, axis)
        whole = self.emit("floordiv", size, count)
        rest = self.emit("mod", size, count) if op == "np.array_split" else 0
        ends: list[Any] = [0]
        for _ in range(count):
            ends.append(self.emit("add", ends[-1], whole))
            if op == "np.array_split":
                more = self.emit("lt", len(ends) - 2, rest)
                ends[-1] = self.emit("add", ends[-1], more)
        return [slice(a, b) for a, b in itertools.pairwise(ends)]

    def joined_lists(self, op: str, args: list[Any]) -> list[Any]:
        """Return arguments whose lists of numbers are arrays, as NumPy makes them."""

        def made(item: Any) -> Any:
            plain = isinstance(item, ListRef | Tup)
            return self.call_op("np.array", [item], {}) if plain else item

        if op == "np.append":
            return [made(a) for a in args[:2]] + args[2:]
        items = (
            self.sequence_items(args[0]) if isinstance(args[0], ListRef | Tup) else None
        )
        if items is None or not any(isinstance(i, ListRef | Tup) for i in items):
            return args
        return [Tup(tuple(map(made, items))), *args[1:]]

    def check_static_arguments(
        self, op: str, args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        """Ask for arguments that decide shapes, as `axis`, to be known."""
        if self.mode == "generic":
            return
        rule = REGISTRY.get(op)
        named = dict(kwargs)
        if rule is not None:
            named.update(zip(rule.params, args, strict=False))
        for key in STATIC_ARGUMENTS & named.keys():
            item = named[key]
            parts = item.items if isinstance(item, Tup) else (item,)
            for part in parts:
                if isinstance(part, Value | Array | View):
                    value = self.operand(part)
                    raise self.need_static(value, f"`{key}` must be known")

    def as_array(self, op: str, position: int, item: Any) -> Any:
        """Return a list or tuple that stands for an array as that array."""
        if not isinstance(item, ListRef | Tup) or (op in FACTORED and not position):
            return item
        held = self.content(item.cell) if isinstance(item, ListRef) else item.items
        if isinstance(held, RunList):
            numbers = held.shape is None and op.startswith(("np.", "scipy."))
            return self.call_op("np.array", [item], {}) if numbers else item
        known = all(isinstance(i, Known) for i in held)
        nested = any(isinstance(i, ListRef | Tup) for i in held)
        if not op.startswith(("np.", "scipy.")) or not held:
            return item
        if known and not nested and op not in TABULATED and position:
            return item
        if known and isinstance(item, Tup) and op not in TABULATED:
            return item
        if op in SHAPED:
            return item
        if not known and position and op not in TABULATED and not nested:
            numeric = any(isinstance(i, Array | View) for i in held)
            if not numeric:
                return item
        return self.call_op("np.array", [item], {})

    def outputs(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> int | None:
        """Return the number of outputs of an operation with several, or None."""
        if op == "np.linalg.svd":
            flag = kwargs.get("compute_uv")
            return (
                3 if flag is None or (isinstance(flag, Known) and flag.value) else None
            )
        if op == "np.linalg.qr":
            mode = kwargs.get("mode", args[1] if len(args) > 1 else None)
            return None if mode is not None and mode.value == "r" else 2
        if op in OUTPUTS:
            return OUTPUTS[op]
        if op in ("np.meshgrid", "np.broadcast_arrays", "np.ix_"):
            return len(args)
        if op in ("np.nonzero", "np.where", "np.atleast_1d", "np.atleast_2d") and (
            op == "np.nonzero" or len(args) == 1
        ):
            known = self.operand(args[0])
            if op in ("np.atleast_1d", "np.atleast_2d"):
                return None
            rank = known.type.rank if isinstance(known, Value) and known.type else 1
            return max(rank, 1)
        if op in ("np.split", "np.array_split", "np.vsplit", "np.hsplit", "np.dsplit"):
            where = args[1] if len(args) > 1 else kwargs.get("indices_or_sections")
            if isinstance(where, Known) and isinstance(where.value, int):
                return where.value
            if isinstance(where, Tup | ListRef):
                items = self.sequence_items(where)
                if items is not None:
                    return len(items) + 1
            raise self.need_static(
                self.operand(where), "the number of parts must be known"
            )
        if op == "np.unstack":
            known = self.operand(args[0])
            axis = kwargs.get("axis", Known(0)).value
            if (
                isinstance(known, Value)
                and known.type
                and known.type.dims[axis].isdigit()
            ):
                return int(known.type.dims[axis])
            raise self.need_static(known, "the number of parts must be known")
        rule = REGISTRY.get(op)
        if rule is not None and len(rule.outs) > 1:
            return len(rule.outs)
        return None

    @abstractmethod
    def store(self, target: Any, index: Any, item: Any) -> None:
        """Do ``target[index] = item``."""
