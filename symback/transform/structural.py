"""Indexing, mutation, lists and casts in reverse: what moves numbers about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..graph import Arg, Builder, Node, Value, leaves
from .activity import mentions
from .context import Context, Cots
from .cotangents import Cotangent, Mask

__all__ = ["STRUCTURAL"]

Handler = Callable[[Context, Node, Cots, Cots], bool]

STRUCTURAL: dict[str, Handler] = {}
"""Handlers by operation; each returns whether it has done the node."""


def handles(*ops: str) -> Callable[[Handler], Handler]:
    """Register the reverse of some operations."""

    def register(handler: Handler) -> Handler:
        for op in ops:
            STRUCTURAL[op] = handler
        return handler

    return register


def _only(context: Context, node: Node, outs: Cots) -> Arg:
    """Return the clean cotangent of a node's only output."""
    return context.bars.final(node.outs[0], outs[node.outs[0]])


def _is_list(value: Arg) -> bool:
    return (
        isinstance(value, Value)
        and value.type is not None
        and value.type.kind == "list"
    )


def _bool_mask(index: Arg) -> bool:
    known = index.type if isinstance(index, Value) else None
    return known is not None and known.is_array and known.dtype == "bool"


@handles("getitem")
def _getitem(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    x, index = node.args
    if not isinstance(x, Value):
        return False
    value = _only(context, node, outs)
    build = context.build
    if _is_list(x) and isinstance(index, slice):
        base = context.bars.final(x, cots[x]) if x in cots else context.bars.zeros(x)
        cots[x] = Cotangent(build.emit("runtime.list_add", base, index, value))
        return True
    if _is_list(x):
        context.accumulate(x, Cotangent(value, None, "clean", (index,)), cots)
        return True
    if x.type is not None and not x.type.rank and x.type.kind != "list":
        # All that an index can read of a number is the number, or nothing.
        if x.type.is_scalar or x.type.is_array:
            context.accumulate(x, Cotangent(build.emit("np.sum", value)), cots)
            return True
    if _bool_mask(index) and x.type is not None and index.type.rank == x.type.rank:
        mask = Mask(lambda: index, True, index)
    else:
        mask = Mask(lambda: _read_mask(build, x, index), _has_mask(index))
    context.accumulate(x, Cotangent(value, mask, "clean", (index,)), cots)
    return True


def _has_mask(index: Arg) -> bool:
    return any(_bool_mask(leaf) for leaf in leaves(index))


def _read_mask(build: Builder, x: Value, index: Arg) -> Arg:
    """Return the mask of the entries that an index reads."""
    empty = build.emit("np.zeros", build.emit("shape", x), dtype=bool)
    return build.emit("setitem", empty, index, True)


@handles("setitem")
def _setitem(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    x, index, value = node.args
    build = context.build
    bar = context.bars.solid(node.outs[0], _only(context, node, outs), indexed=True)
    if isinstance(value, Value) and value in context.varied:
        part = build.emit("getitem", bar, index)
        if _may_repeat(context, index) and not _is_list(x):
            wins = build.emit("runtime.winners", index, node.outs[0])
            part = build.emit("np.where", wins, part, 0.0)
        whole = _is_list(x) or _same_place(build, part, value)
        made = part if whole else context.bars.unbroadcast(part, value)
        context.accumulate(value, Cotangent(made), cots)
    if isinstance(x, Value) and x in context.varied:
        zero: Arg = 0.0
        if _is_list(x):
            zero = build.emit("np.zeros_like", build.emit("getitem", x, index))
        rest = build.emit("setitem", bar, index, zero)
        if _bool_mask(index):
            mask: Mask | None = Mask(lambda: build.emit("invert", index))
        elif _is_list(x):
            mask = None
        else:
            mask = Mask(lambda: _unwritten(build, x, index), _has_mask(index))
        context.accumulate(x, Cotangent(rest, mask), cots)
    return True


def _same_place(build: Builder, part: Arg, value: Value) -> bool:
    known = build.type_of(part)
    return (
        known is not None
        and value.type is not None
        and known.dims == value.type.dims
        and "?" not in known.dims
    )


def _unwritten(build: Builder, x: Value, index: Arg) -> Arg:
    """Return the mask of the entries that an assignment leaves alone."""
    full = build.emit("np.ones", build.emit("shape", x), dtype=bool)
    return build.emit("setitem", full, index, False)


def _may_repeat(context: Context, index: Arg) -> bool:
    """Say whether an index may name an entry twice: it holds integer arrays."""
    if not _kinds_known(context, index):
        return True
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, list):
            entries = list(leaves(part))
            if all(isinstance(i, bool) for i in entries) or len(entries) < 2:
                continue
            if not all(type(i) is int for i in entries):
                return True
            # Of two signs, two may be one place: it depends on the length.
            signs = {i < 0 for i in entries}
            if len(signs) > 1 or len(set(entries)) < len(entries):
                return True
        if isinstance(part, Value):
            known = part.type
            if known is not None and known.is_array and known.dtype != "bool":
                return True
    return False


def _kinds_known(context: Context, index: Arg) -> bool:
    """Say whether each part of an index is known to be a number or an array.

    Without types these are slices, loops' indices and what is computed from lengths.
    """
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, slice | list):
            continue
        for leaf in leaves(part):
            if not isinstance(leaf, Value) or leaf.type is not None:
                continue
            if not _counts(context, leaf):
                return False
    return True


def _counts(context: Context, value: Value) -> bool:
    """Say whether a value is computed from a loop's index or a length."""
    todo, seen = [value], set()
    while todo:
        item = todo.pop()
        if item in context.indices:
            return True
        if item in seen:
            continue
        seen.add(item)
        node = context.build.defs.get(item)
        if node is not None:
            if node.op in ("dim", "builtins.len", "shape"):
                return True
            todo += node.inputs
    return False


@handles("index_add")
def _index_add(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    x, index, value = node.args
    build = context.build
    cot = outs[node.outs[0]]
    bar = context.bars.final(node.outs[0], cot)
    if isinstance(value, Value) and value in context.varied:
        part = build.emit("getitem", bar, index)
        made = (
            part
            if _same_place(build, part, value) or _is_list(x)
            else (context.bars.unbroadcast(part, value))
        )
        context.accumulate(value, Cotangent(made), cots)
    if isinstance(x, Value):
        context.accumulate(x, Cotangent(bar, cot.mask), cots)
    return True


# Lists


@handles("list")
def _list(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    bar = _only(context, node, outs)
    for k, item in enumerate(node.args):
        if isinstance(item, Value) and item in context.varied:
            context.accumulate(
                item, Cotangent(context.build.emit("getitem", bar, k)), cots
            )
    return True


@handles("list_append")
def _list_append(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    items, item = node.args
    bar = _only(context, node, outs)
    build = context.build
    kinds = build.types.outputs("list_pop", (bar,), {}, 2)
    if isinstance(item, Value):
        kinds[1] = kinds[1] or context.bars.like(item)
    name = build.name_of(bar) if isinstance(bar, Value) else None
    rest, last = Value(name, kinds[0]), Value(None, kinds[1])
    build.control("list_pop", (bar,), {}, (rest, last), ())
    if isinstance(item, Value):
        context.accumulate(item, Cotangent(last), cots)
    if isinstance(items, Value):
        context.accumulate(items, Cotangent(rest), cots)
    return True


@handles("list_pop")
def _list_pop(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    rest, last = node.outs
    build = context.build
    base = (
        context.bars.final(rest, outs[rest])
        if rest in outs
        else context.bars.zeros(rest)
    )
    item = (
        context.bars.final(last, outs[last])
        if last in outs
        else context.bars.zeros(last)
    )
    context.accumulate(
        node.args[0], Cotangent(build.emit("list_append", base, item)), cots
    )
    return True


@handles("list_reverse")
def _list_reverse(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    bar = _only(context, node, outs)
    made = context.build.emit("list_reverse", bar)
    context.accumulate(node.args[0], Cotangent(made), cots)
    return True


@handles("list_zeros")
def _list_zeros(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    return True


@handles("np.array", "np.stack", "np.asarray", "np.vstack")
def _stacked(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    if not node.args or not _is_list(node.args[0]):
        return False
    bar = _only(context, node, outs)
    axis = node.kwargs.get("axis", node.args[1] if len(node.args) > 1 else 0)
    if node.op in ("np.stack",) and axis != 0:
        bar = context.build.emit("np.moveaxis", bar, axis, 0)
    made = context.build.emit("builtins.list", bar)
    context.accumulate(node.args[0], Cotangent(made), cots)
    return True


@handles("np.concatenate", "np.hstack")
def _concatenated(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    if not _is_list(node.args[0]):
        return False
    bar = _only(context, node, outs)
    axis = node.kwargs.get("axis", node.args[1] if len(node.args) > 1 else 0)
    made = context.build.emit("runtime.split_like", bar, node.args[0], axis)
    context.accumulate(node.args[0], Cotangent(made), cots)
    return True


@handles("mul")
def _repeated(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    if not isinstance(node.args[0], list):
        return False
    bar = _only(context, node, outs)
    item = node.args[0][0]
    if isinstance(item, Value):
        stacked = context.build.emit("np.array", bar)
        made = context.build.emit("np.sum", stacked, axis=0)
        context.accumulate(item, Cotangent(made), cots)
    return True


@handles("builtins.list", "tolist")
def _listed(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    bar = _only(context, node, outs)
    x = node.args[0]
    op = "builtins.list" if _is_list(x) else "np.array"
    context.accumulate(x, Cotangent(context.build.emit(op, bar)), cots)
    return True


@handles("struct", "runtime.structure")
def _struct(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    bar = outs[node.out].value
    for field, part in node.args[1].items():
        if isinstance(part, Value) and part in context.varied:
            known = context.bars.like(part)
            piece = context.build.emit_as(known, "attr", bar, field)
            context.accumulate(part, Cotangent(piece), cots)
        elif mentions(part, context.varied):
            return False
    return True


# Casts and copies


@handles("builtins.float", "np.copy", "item", "astype", "builtins.complex")
def _passed(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    x = node.args[0]
    out = node.outs[0]
    cot = outs[out]
    known = x.type
    value = context.bars.final(out, cot)
    if known is not None and known.rank and node.op in ("item", "builtins.float"):
        value = context.build.emit("np.full_like", x, value)
    if node.op == "astype" and known is not None and isinstance(value, Value):
        found = value.type
        if found is not None and found.dtype != known.dtype and not known.is_integral:
            if np.dtype(found.dtype).kind == "c" and np.dtype(known.dtype).kind == "f":
                value = context.build.emit("np.real", value)
            if known.is_array:
                value = context.build.emit("astype", value, np.dtype(known.dtype).type)
    keep = node.op in ("np.copy", "astype")
    context.accumulate(x, Cotangent(value, cot.mask if keep else None), cots)
    return True


@handles("np.array", "np.asarray", "np.asanyarray", "np.ascontiguousarray")
def _as_array(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    if not isinstance(node.args[0], Value):
        return False
    if _is_list(node.args[0]):
        return _stacked(context, node, outs, cots)
    kind = node.kwargs.get("dtype", node.args[1] if len(node.args) > 1 else None)
    if kind is not None:
        return False
    value = _only(context, node, outs)
    known = node.args[0].type
    if known is not None and not known.is_array and known.rank == 0:
        found = context.build.type_of(value)
        if found is not None and found.is_array:
            value = context.build.emit("getitem", value, ())
    context.accumulate(node.args[0], Cotangent(value), cots)
    return True


# Several arrays from one


@handles(
    "np.split", "np.array_split", "np.vsplit", "np.hsplit", "np.dsplit", "np.unstack"
)
def _split(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    x = node.args[0]
    axis = node.kwargs.get("axis", node.args[2] if len(node.args) > 2 else 0)
    if node.op == "np.hsplit":
        axis = 0 if x.type is not None and x.type.rank == 1 else 1
    elif node.op == "np.dsplit":
        axis = 2
    bars = [
        context.bars.final(out, outs[out]) if out in outs else context.bars.zeros(out)
        for out in node.outs
    ]
    op = "np.stack" if node.op == "np.unstack" else "np.concatenate"
    made = context.build.emit(op, bars, axis=axis)
    context.accumulate(x, Cotangent(made), cots)
    return True


@handles("unpack")
def _unpack(context: Context, node: Node, outs: Cots, cots: Cots) -> bool:
    x = node.args[0]
    for k, out in reversed(list(enumerate(node.outs))):
        if out in outs:
            value = context.bars.final(out, outs[out])
            context.accumulate(x, Cotangent(value, None, "clean", (k,)), cots)
    return True
