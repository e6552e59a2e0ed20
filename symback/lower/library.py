"""Functions of NumPy, math and SciPy: a call becomes a node.

`out=` is mutation, `where=` a choice, and lists that stand for arrays become arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..graph import Value
from ..operations import REGISTRY
from .abstract import Array, Known, ListRef, RunList, Tup, View
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


class Library(Attributes):
    """Lower calls of libraries' functions."""

    def call_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function of NumPy, math or SciPy: append its node."""
        if op.startswith("np.random."):
            raise self.refuse(
                f"`{op}` draws random numbers from a hidden state",
                "pass a generator: `def loss(x, rng): ... rng.normal(size=3)`.",
            )
        handler = OPERATIONS.get(op)
        if handler is not None:
            found = handler(self, args, kwargs)
            if found is not NotImplemented:
                return found
        out = kwargs.pop("out", None)
        if isinstance(out, Tup) and len(out.items) == 1:
            out = out.items[0]
        if op in UFUNC_ARITY and len(args) == UFUNC_ARITY[op] + 1:
            # The argument after the operands is `out`.
            out = args.pop()
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

    def plain_op(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Append the node of a function call and wrap its outputs."""
        if op not in SEQUENCES:
            args = [self.as_array(op, k, a) for k, a in enumerate(args)]
        self.check_static_arguments(op, args, kwargs)
        for key in ARRAY_KEYWORDS & kwargs.keys():
            if isinstance(kwargs[key], ListRef):
                kwargs = {**kwargs, key: self.call_op("np.array", [kwargs[key]], {})}
        given = [self.operand(a) for a in args]
        named = {k: self.operand(a) for k, a in kwargs.items()}
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
                items = tuple(self.maybe_alias(i, *args) for i in items)
            fields = FIELDS.get(op, ())
            return Tup(items, None, fields if len(fields) == count else ())
        value = self.emit(op, *given, **named)
        if args and isinstance(args[0], Array | View) and value.type is not None:
            # NumPy decides on the samples whether this is a view of its argument.
            return self.view_of(args[0], given[0], value, op, given[1:], named)
        if value.type is None and op in MAYBE_VIEWS:
            return self.maybe_alias(self.wrap(value), *args)
        return self.wrap(value)

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

    def maybe_alias(self, item: Any, *others: Any) -> Any:
        """Note that an array may share memory with others: changing one spoils them."""
        cells = {self.root(other) for other in others} - {None}
        if isinstance(item, Array) and cells:
            near = (self.near(c, self.state) for c in cells if c is not None)
            self.state["m", item.cell] = frozenset().union(*near)
        return item

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
