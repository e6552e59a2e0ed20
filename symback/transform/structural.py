"""Indexing, mutation, lists and casts in reverse: what moves numbers about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import Arg, Node, Value, leaves
from .cotangents import Cotangent, Mask

__all__ = ["STRUCTURAL"]

Handler = Callable[[Any, Node, dict[Value, Cotangent], dict[Value, Cotangent]], bool]

STRUCTURAL: dict[str, Handler] = {}
"""Handlers by operation; each returns whether it has done the node."""


def handles(*ops: str) -> Callable[[Handler], Handler]:
    """Register the reverse of some operations."""

    def register(handler: Handler) -> Handler:
        for op in ops:
            STRUCTURAL[op] = handler
        return handler

    return register


def _only(sweep: Any, node: Node, outs: dict[Value, Cotangent]) -> Arg:
    """Return the clean cotangent of a node's only output."""
    return sweep.final(node.outs[0], outs[node.outs[0]])


def _is_list(value: Any) -> bool:
    return (
        isinstance(value, Value)
        and value.type is not None
        and value.type.kind == "list"
    )


def _bool_mask(index: Arg) -> bool:
    known = index.type if isinstance(index, Value) else None
    return known is not None and known.is_array and known.dtype == "bool"


@handles("getitem")
def _getitem(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    x, index = node.args
    if not isinstance(x, Value):
        return False
    value = _only(sweep, node, outs)
    low = sweep.low
    if _is_list(x) and isinstance(index, slice):
        base = sweep.final(x, cots[x]) if x in cots else sweep.zeros(x)
        cots[x] = Cotangent(low.emit("runtime.list_add", base, index, value))
        return True
    if _is_list(x):
        sweep.accumulate(x, Cotangent(value, None, "clean", (index,)), cots)
        return True
    if _bool_mask(index) and x.type is not None and index.type.rank == x.type.rank:
        mask = Mask(lambda: index, True, index)
    else:
        mask = Mask(lambda: _read_mask(low, x, index), _has_mask(index))
    sweep.accumulate(x, Cotangent(value, mask, "clean", (index,)), cots)
    return True


def _has_mask(index: Arg) -> bool:
    return any(_bool_mask(leaf) for leaf in leaves(index))


def _read_mask(low: Any, x: Value, index: Arg) -> Arg:
    """Return the mask of the entries that an index reads."""
    empty = low.emit("np.zeros", low.emit("shape", x), dtype=bool)
    return low.emit("setitem", empty, index, True)


@handles("setitem")
def _setitem(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    x, index, value = node.args
    low = sweep.low
    bar = sweep.solid(node.outs[0], _only(sweep, node, outs), indexed=True)
    if isinstance(value, Value) and value in sweep.varied:
        part = low.emit("getitem", bar, index)
        if _may_repeat(low, index) and not _is_list(x):
            wins = low.emit("runtime.winners", index, node.outs[0])
            part = low.emit("np.where", wins, part, 0.0)
        whole = _is_list(x) or _same_place(low, part, value)
        made = part if whole else sweep.unbroadcast(part, value)
        sweep.accumulate(value, Cotangent(made), cots)
    if isinstance(x, Value) and x in sweep.varied:
        zero: Arg = 0.0
        if _is_list(x):
            zero = low.emit("np.zeros_like", low.emit("getitem", x, index))
        rest = low.emit("setitem", bar, index, zero)
        if _bool_mask(index):
            mask: Mask | None = Mask(lambda: low.emit("invert", index))
        elif _is_list(x):
            mask = None
        else:
            mask = Mask(lambda: _unwritten(low, x, index), _has_mask(index))
        sweep.accumulate(x, Cotangent(rest, mask), cots)
    return True


def _same_place(low: Any, part: Arg, value: Value) -> bool:
    known = low.type_of(part)
    return (
        known is not None
        and value.type is not None
        and known.dims == value.type.dims
        and "?" not in known.dims
    )


def _unwritten(low: Any, x: Value, index: Arg) -> Arg:
    """Return the mask of the entries that an assignment leaves alone."""
    full = low.emit("np.ones", low.emit("shape", x), dtype=bool)
    return low.emit("setitem", full, index, False)


def _may_repeat(low: Any, index: Arg) -> bool:
    """Say whether an index may name an entry twice: it holds integer arrays."""
    if low.basic_index(index) is None:
        return True
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, list):
            return not all(isinstance(i, bool) for i in part) and len(set(part)) < len(
                part
            )
        if isinstance(part, Value):
            known = part.type
            if known is not None and known.is_array and known.dtype != "bool":
                return True
    return False


@handles("index_add")
def _index_add(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    x, index, value = node.args
    low = sweep.low
    cot = outs[node.outs[0]]
    bar = sweep.final(node.outs[0], cot)
    if isinstance(value, Value) and value in sweep.varied:
        part = low.emit("getitem", bar, index)
        made = (
            part
            if _same_place(low, part, value) or _is_list(x)
            else (sweep.unbroadcast(part, value))
        )
        sweep.accumulate(value, Cotangent(made), cots)
    if isinstance(x, Value):
        sweep.accumulate(x, Cotangent(bar, cot.mask), cots)
    return True


# Lists


@handles("list")
def _list(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    bar = _only(sweep, node, outs)
    for k, item in enumerate(node.args):
        if isinstance(item, Value) and item in sweep.varied:
            sweep.accumulate(item, Cotangent(sweep.low.emit("getitem", bar, k)), cots)
    return True


@handles("list_append")
def _list_append(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    items, item = node.args
    bar = _only(sweep, node, outs)
    rest, last = sweep.low.emit_many("list_pop", 2, bar)
    if isinstance(bar, Value) and bar.name:
        object.__setattr__(rest, "name", bar.name)
    if last.type is None and isinstance(item, Value):
        object.__setattr__(last, "type", sweep.like(item))
    if isinstance(item, Value):
        sweep.accumulate(item, Cotangent(last), cots)
    if isinstance(items, Value):
        sweep.accumulate(items, Cotangent(rest), cots)
    return True


@handles("list_pop")
def _list_pop(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    rest, last = node.outs
    low = sweep.low
    base = sweep.final(rest, outs[rest]) if rest in outs else sweep.zeros(rest)
    item = sweep.final(last, outs[last]) if last in outs else sweep.zeros(last)
    sweep.accumulate(node.args[0], Cotangent(low.emit("list_append", base, item)), cots)
    return True


@handles("list_reverse")
def _list_reverse(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    bar = _only(sweep, node, outs)
    made = sweep.low.emit("list_reverse", bar)
    sweep.accumulate(node.args[0], Cotangent(made), cots)
    return True


@handles("list_zeros")
def _list_zeros(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    return True


@handles("np.array", "np.stack", "np.asarray", "np.vstack")
def _stacked(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    if not node.args or not _is_list(node.args[0]):
        return False
    bar = _only(sweep, node, outs)
    axis = node.kwargs.get("axis", node.args[1] if len(node.args) > 1 else 0)
    if node.op in ("np.stack",) and axis != 0:
        bar = sweep.low.emit("np.moveaxis", bar, axis, 0)
    made = sweep.low.emit("builtins.list", bar)
    sweep.accumulate(node.args[0], Cotangent(made), cots)
    return True


@handles("np.concatenate", "np.hstack")
def _concatenated(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    if not _is_list(node.args[0]):
        return False
    bar = _only(sweep, node, outs)
    axis = node.kwargs.get("axis", node.args[1] if len(node.args) > 1 else 0)
    made = sweep.low.emit("runtime.split_like", bar, node.args[0], axis)
    sweep.accumulate(node.args[0], Cotangent(made), cots)
    return True


@handles("mul")
def _repeated(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    if not isinstance(node.args[0], list):
        return False
    bar = _only(sweep, node, outs)
    item = node.args[0][0]
    if isinstance(item, Value):
        stacked = sweep.low.emit("np.array", bar)
        made = sweep.low.emit("np.sum", stacked, axis=0)
        sweep.accumulate(item, Cotangent(made), cots)
    return True


@handles("builtins.list", "tolist")
def _listed(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    bar = _only(sweep, node, outs)
    x = node.args[0]
    op = "builtins.list" if _is_list(x) else "np.array"
    sweep.accumulate(x, Cotangent(sweep.low.emit(op, bar)), cots)
    return True


# Casts and copies


@handles("builtins.float", "np.copy", "item", "astype", "builtins.complex")
def _passed(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    x = node.args[0]
    out = node.outs[0]
    cot = outs[out]
    known = x.type
    value = sweep.final(out, cot)
    if known is not None and known.rank and node.op in ("item", "builtins.float"):
        value = sweep.low.emit("np.full_like", x, value)
    if node.op == "astype" and known is not None and isinstance(value, Value):
        found = value.type
        if found is not None and found.dtype != known.dtype and not known.is_integral:
            if np.dtype(found.dtype).kind == "c" and np.dtype(known.dtype).kind == "f":
                value = sweep.low.emit("np.real", value)
            if known.is_array:
                value = sweep.low.emit("astype", value, np.dtype(known.dtype).type)
    keep = node.op in ("np.copy", "astype")
    sweep.accumulate(x, Cotangent(value, cot.mask if keep else None), cots)
    return True


@handles("np.array", "np.asarray", "np.asanyarray", "np.ascontiguousarray")
def _as_array(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    if not isinstance(node.args[0], Value):
        return False
    if _is_list(node.args[0]):
        return _stacked(sweep, node, outs, cots)
    kind = node.kwargs.get("dtype", node.args[1] if len(node.args) > 1 else None)
    if kind is not None:
        return False
    value = _only(sweep, node, outs)
    known = node.args[0].type
    if known is not None and not known.is_array and known.rank == 0:
        found = sweep.low.type_of(value)
        if found is not None and found.is_array:
            value = sweep.low.emit("getitem", value, ())
    sweep.accumulate(node.args[0], Cotangent(value), cots)
    return True


# Several arrays from one


@handles(
    "np.split", "np.array_split", "np.vsplit", "np.hsplit", "np.dsplit", "np.unstack"
)
def _split(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    x = node.args[0]
    axis = node.kwargs.get("axis", node.args[2] if len(node.args) > 2 else 0)
    if node.op == "np.hsplit":
        axis = 0 if x.type is not None and x.type.rank == 1 else 1
    elif node.op == "np.dsplit":
        axis = 2
    bars = [
        sweep.final(out, outs[out]) if out in outs else sweep.zeros(out)
        for out in node.outs
    ]
    op = "np.stack" if node.op == "np.unstack" else "np.concatenate"
    made = sweep.low.emit(op, bars, axis=axis)
    sweep.accumulate(x, Cotangent(made), cots)
    return True


@handles("unpack")
def _unpack(sweep: Any, node: Node, outs: Any, cots: Any) -> bool:
    x = node.args[0]
    for k, out in reversed(list(enumerate(node.outs))):
        if out in outs:
            value = sweep.final(out, outs[out])
            sweep.accumulate(x, Cotangent(value, None, "clean", (k,)), cots)
    return True
