"""Cotangents on their way: values, the masks they are still to be cleaned by, sums.

A cotangent is clean (a true number everywhere), or its masked entries are garbage that
`Cotangents.final` sets to a true zero: once, where the elementwise chain ends, so that
``np.where(x > 0, np.sqrt(x), 0.0)`` costs one mask and the branch not taken never
poisons.  It may be thin: of a shape that broadcasts to the primal's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Arg, Block, Builder, Node, Value, unbroadcast
from ..types import Type

__all__ = ["Cotangent", "Cotangents", "Mask"]


@dataclass(frozen=True, eq=False)
class Mask:
    """Entries that the program uses.

    make : builds the boolean array.  strong : the rest may hold anything; a weak mask
        only matters where an infinite partial is possible.
    """

    make: Callable[[], Arg]
    strong: bool = True
    key: Any = None
    parts: int = 1


@dataclass(frozen=True, eq=False)
class Cotangent:
    """A contribution to the cotangent of a primal value.

    value : its entries.  mask : the entries that are used, if known.
    state : ``"clean"``, ``"raw"`` (masked entries are finite garbage) or ``"dirty"``
        (they are anything).
    place : an index, if `value` belongs there and the rest is zero.
    thick : the value may still have axes along which the primal was stretched; where
        types are unknown the sum over them is left to the end of an elementwise chain.
    risky : the value may be infinite at finite points.
    """

    value: Arg
    mask: Mask | None = None
    state: str = "clean"
    place: tuple[Arg] | None = None
    thick: bool = False
    risky: bool = False


class Cotangents:
    """Arithmetic of cotangents, in the block that a builder is building.

    primal : the values of the graph that is differentiated.
    sequences : those that may be lists or tuples though no type says so.
    carried : what a loop's parameters begin with and are given next.
    guarded : infinite slopes were masked out.  overflowing : quotients by what may
        overflow are zeros.
    """

    def __init__(
        self, build: Builder, primal: set[Value], sequences: frozenset[Value]
    ) -> None:
        self.build = build
        self.primal = primal
        self.sequences = sequences
        self.guarded = False
        self.overflowing = False
        self.carried: dict[Value, tuple[Arg, Arg]] = {}

    def named(self, primal: Value) -> str | None:
        """Return the name of a cotangent."""
        return f"{primal.name}_bar" if primal.name else None

    # Shapes

    def known(self, value: Arg, primal: Value) -> bool:
        """Say whether both types are known."""
        return self.build.type_of(value) is not None and primal.type is not None

    def widen(self, value: Arg, primal: Value) -> Arg:
        """Give a thin cotangent its primal's shape."""
        if primal.type is None or primal.type.kind == "list":
            return value
        found = self.build.type_of(value)
        if found is None or not primal.type.rank or found.dims == primal.type.dims:
            return value
        if "?" in found.dims and found.rank == primal.type.rank:
            return value
        return self.build.emit(
            "np.broadcast_to", value, self.build.emit("shape", primal)
        )

    def unbroadcast(self, value: Arg, primal: Value) -> Arg:
        """Sum a cotangent over the axes along which its primal was stretched."""
        return unbroadcast(self.build, value, primal)

    # Arithmetic

    def times(self, value: Arg, partial: Arg) -> Arg:
        """Multiply a cotangent by a partial, written as an expert would."""
        build = self.build
        if (
            isinstance(value, int | float)
            and value == -1
            and isinstance(partial, Value)
        ):
            return self.negative(self.times(1.0, partial))
        if isinstance(partial, int | float) and not isinstance(partial, bool):
            if partial == 1:
                return value
            if partial == -1:
                return self.negative(value)
        node = build.defs.get(partial) if isinstance(partial, Value) else None
        if node is not None and build.name_of(partial) is not None:
            node = None
        if node is not None and node.role != "backward":
            # The program's own integers may have wrapped: they are not taken apart.
            known = node.outs[0].type
            if known is None or not known.dtype.startswith(("float", "complex")):
                node = None
        if node is not None and node.op == "neg":
            return self.negative(self.times(value, node.args[0]))
        if node is not None and node.op == "truediv" and _is_one(node.args[0]):
            return build.emit("truediv", value, node.args[1])
        if node is not None and node.op == "mul":
            for one, other in (node.args, node.args[::-1]):
                if type(one) not in (int, float):
                    continue
                if isinstance(value, int | float):
                    return self.times(value * one, other)
                if self.fresh(node, value):
                    return build.emit("mul", self.scaled(value, one), other)
        if node is not None and node.op == "truediv" and self.fresh(node, value):
            # Not value * (a / b): the quotient may overflow where the value is 0.
            top, below = node.args
            over = build.defs.get(top) if isinstance(top, Value) else None
            if over is not None and over.op == "neg" and over.role == "backward":
                top = self.times(value, over.args[0])
                return self.negative(build.emit("truediv", top, below))
            return build.emit("truediv", self.times(value, top), below)
        if _is_one(value) and isinstance(partial, Value) and self.is_float(partial):
            known = partial.type
            if known is None or known.rank or not known.is_array:
                # A product of an array without axes is a number, not that array.
                return partial
        if isinstance(value, int | float) and isinstance(partial, int | float):
            return value * partial
        return build.emit("mul", value, partial)

    def fresh(self, node: Node, value: Arg) -> bool:
        """Say whether a partial may be taken apart: it costs nothing more.

        The program's own values are not computed again, and a number is not multiplied
        with an array twice.
        """
        if node.role != "backward":
            return False
        known, partial = self.build.type_of(value), node.outs[0].type
        if known is None or partial is None:
            return True
        return known.is_scalar or not partial.is_scalar

    def scaled(self, value: Arg, factor: float) -> Arg:
        """Multiply a cotangent by a number, into the number that it may hold."""
        build = self.build
        node = build.defs.get(value) if isinstance(value, Value) else None
        if node is None or node.role != "backward" or build.name_of(value) is not None:
            return build.emit("mul", factor, value)
        if node.op == "neg":
            return self.scaled(node.args[0], -factor)
        if node.op in ("mul", "truediv") and type(node.args[0]) in (int, float):
            return build.emit(node.op, node.args[0] * factor, node.args[1])
        if node.op == "mul" and type(node.args[1]) in (int, float):
            factor = node.args[1] * factor
            return self.times(node.args[0], factor)
        return build.emit("mul", factor, value)

    def is_float(self, value: Value) -> bool:
        """Say whether a value is surely of a floating dtype."""
        found = value.type
        if found is None and self.build.types.generic:
            node = self.build.defs.get(value)
            return node is not None and node.op not in COMPARISONS
        return found is not None and found.dtype.startswith(("float", "complex"))

    def negative(self, value: Arg) -> Arg:
        """Negate a cotangent."""
        if isinstance(value, int | float):
            return -value
        node = self.build.defs.get(value)
        if node is not None and node.op == "neg" and self.build.name_of(value) is None:
            return node.args[0]
        return self.build.emit("neg", value)

    def final(self, primal: Value, cotangent: Cotangent) -> Arg:
        """Return a cotangent as a clean value of its primal's shape."""
        build = self.build
        if cotangent.place is not None:
            zeros = self.zeros(primal, read=True)
            return build.emit("index_add", zeros, cotangent.place[0], cotangent.value)
        value = self.clean(cotangent)
        if cotangent.thick and isinstance(value, Value):
            return self.build.emit("runtime.unbroadcast", value, primal)
        return self.widen(value, primal)

    def clean(self, cotangent: Cotangent) -> Arg:
        """Return a cotangent's value with garbage set to zero."""
        value = cotangent.value
        if cotangent.state == "clean" or cotangent.mask is None:
            return value
        mask = cotangent.mask.make()
        if cotangent.state == "raw" and self.is_boolean(mask):
            if isinstance(mask, bool):
                return value if mask else 0.0
            return self.build.emit("mul", value, mask)
        self.guarded = True
        known = self.build.type_of(value)
        if (
            known is not None
            and not known.is_array
            and _scalar(self.build.type_of(mask))
        ):
            return self.either(mask, value, 0.0)
        return self.build.emit("np.where", mask, value, 0.0)

    def chosen(self, mask: Arg, value: Arg) -> Arg:
        """Return a value where a mask is true, and zero elsewhere, whatever it is."""
        return self.clean(Cotangent(value, Mask(lambda: mask), "dirty"))

    def is_boolean(self, mask: Arg) -> bool:
        """Say whether a mask holds truth values, so that it can be multiplied with."""
        if not isinstance(mask, Value):
            return isinstance(mask, bool)
        if mask.type is not None:
            return mask.type.dtype.startswith("bool")
        node = self.build.defs.get(mask)
        return node is not None and node.op in COMPARISONS

    def either(self, test: Arg, value: Arg, other: Arg) -> Value:
        """Return one of two numbers."""
        out = Value(None, self.build.types.join(value, other))
        sides = (Block((), (), (value,)), Block((), (), (other,)))
        self.build.control("if", (test,), {}, (out,), sides)
        return out

    def solid(self, primal: Value, value: Arg, indexed: bool = False) -> Arg:
        """Return a cotangent that may be changed in place: not one stretched number.

        indexed : it is about to be indexed, so it is an array.
        """
        known = primal.type
        if not isinstance(value, Value):
            if self.may_lack(primal):
                # It has no shape where it has no value: see `shaped`.
                return value
            if (known is None and indexed) or (known is not None and known.is_array):
                return self.build.emit("np.full_like", primal, value)
            return value
        node = self.build.defs.get(value)
        if node is not None and node.op == "np.broadcast_to":
            one = self.build.type_of(node.args[0])
            if one is not None and one.is_scalar:
                return self.build.emit("np.full_like", primal, node.args[0])
            return self.build.emit("np.copy", value)
        return value

    def shaped(self, value: Arg, primal: Value) -> Arg:
        """Give a cotangent, which may be a plain zero on some path, its shape."""
        if self.may_lack(primal) and self.may_be_number(value):
            return self.stretched(value, primal)
        return value

    def stretched(self, value: Arg, primal: Value) -> Arg:
        """Stretch a cotangent that may be a plain zero to its primal's shape."""
        known = primal.type
        if known is None or not known.rank or not known.is_array:
            return value
        # `np.shape` has an answer for None as well: there, no one reads the result.
        shape = self.build.emit("np.shape", primal)
        return self.build.emit("np.broadcast_to", value, shape)

    def may_be_number(self, value: Arg) -> bool:
        """Say whether a cotangent may be a plain zero: on a path, or before a loop."""
        if not isinstance(value, Value):
            return isinstance(value, int | float)
        node = self.build.defs.get(value)
        if node is not None and node.op == "if":
            k = node.outs.index(value)
            return any(self.may_be_number(b.results[k]) for b in node.blocks)
        return node is None or bool(node.blocks)

    def may_lack(self, primal: Arg, seen: set[Value] | None = None) -> bool:
        """Say whether a name has no value on some path of a branch or a loop."""
        if primal is UNDEFINED:
            return True
        seen = set() if seen is None else seen
        if not isinstance(primal, Value) or primal in seen:
            return False
        seen.add(primal)
        if primal in self.carried:
            return any(self.may_lack(part, seen) for part in self.carried[primal])
        node = self.build.defs.get(primal)
        if node is None or not node.blocks:
            return False
        k = node.outs.index(primal)
        if node.op == "if":
            return any(self.may_lack(b.results[k], seen) for b in node.blocks)
        inits = node.args[-1]
        flags = 1 if node.kwargs.get("breaks") else 0
        parts = [node.blocks[-1].results[flags + k]]
        parts += [inits[k]] if k < len(inits) else []
        return any(self.may_lack(part, seen) for part in parts)

    def zeros(self, primal: Value, read: bool = False) -> Arg:
        """Return the zero cotangent of a value.

        read : the program reads the value here, so it has one.
        """
        known = primal.type
        if not read and self.may_lack(primal):
            # Where it has no value its cotangent is never read, only carried along.
            if known is not None and known.kind == "list":
                return self.build.emit("list")
            return 0.0
        if known is not None and known.kind == "list":
            return self.list_zeros(primal)
        if known is not None and known.is_scalar:
            return 0.0
        if primal in self.sequences:
            return self.build.emit("runtime.zeros_of", primal)
        zeros = self.build.emit("np.zeros_like", primal)
        if known is None:
            # Of a number this is a number, of an array the array.
            return self.build.emit("getitem", zeros, ())
        return zeros

    def list_zeros(self, primal: Value) -> Value:
        """Return a list of zeros shaped as a list's items."""
        known = primal.type
        samples = known.samples if known is not None else ()
        if samples and all(len(s) > 0 for s in samples):
            if all(isinstance(s[-1], int | float | np.generic) for s in samples):
                length = self.build.emit("builtins.len", primal)
                return self.build.emit("mul", [0.0], length)
            return self.build.emit("list_zeros", primal)
        return self.build.emit_as(Type("list"), "runtime.zeros_of", primal)

    def add(self, primal: Value, old: Cotangent | None, new: Cotangent) -> Cotangent:
        """Accumulate a contribution."""
        if old is None:
            return new
        build = self.build
        if new.place is not None:
            base = self.final(primal, old)
            base = self.solid(primal, base, indexed=True)
            value = build.emit("index_add", base, new.place[0], new.value)
            return Cotangent(value, self.union(old.mask, new.mask))
        if old.place is not None:
            old, new = new, old
            return self.add(primal, old, new)
        same = (
            old.mask is not None
            and new.mask is not None
            and (old.mask is new.mask or old.mask.key is new.mask.key is not None)
        )
        if same and old.state != "clean" and new.state != "clean":
            state = "raw" if old.state == new.state == "raw" else "dirty"
            if not old.thick and not new.thick:
                return Cotangent(self.sum(old.value, new.value), old.mask, state)
        if old.thick or new.thick:
            value = self.sum(self.final(primal, old), self.final(primal, new))
        elif primal in self.sequences or (
            primal.type is not None and primal.type.kind == "list"
        ):
            # What is no list for sure may as well be an array.
            is_list = primal.type is not None and primal.type.kind == "list"
            both = (old.value, new.value)
            if is_list:
                value = build.emit("runtime.add_lists", *both)
            else:
                value = build.emit_as(None, "runtime.add_lists", *both)
        else:
            value = self.sum(self.clean(old), self.clean(new))
        return Cotangent(value, old.mask if same else self.union(old.mask, new.mask))

    def sum(self, a: Arg, b: Arg) -> Arg:
        """Add two cotangents of one primal value."""
        if isinstance(a, int | float) and isinstance(b, int | float):
            return a + b
        if isinstance(a, int | float) and a == 0:
            return b
        if isinstance(b, int | float) and b == 0:
            return a
        node = self.build.defs.get(b) if isinstance(b, Value) else None
        if (
            node is not None
            and node.op == "neg"
            and isinstance(b, Value)
            and self.build.name_of(b) is None
        ):
            return self.build.emit("sub", a, node.args[0])
        node = self.build.defs.get(a) if isinstance(a, Value) else None
        if node is not None and node.op == "neg" and self.build.name_of(a) is None:
            return self.build.emit("sub", b, node.args[0])
        return self.build.emit("add", a, b)

    def union(self, a: Mask | None, b: Mask | None) -> Mask | None:
        """Return the mask of entries that either of two uses needs."""
        if a is None or b is None:
            return None
        first, second = a, b
        parts = first.parts + second.parts
        if parts > 2 and not (first.strong or second.strong):
            # Where many places are read, what is left out is seldom anything.
            return None
        return Mask(
            lambda: self.build.emit("or_", first.make(), second.make()),
            first.strong and second.strong,
            None,
            parts,
        )

    def like(self, primal: Value) -> Type | None:
        """Return the type of a value's cotangent."""
        known = primal.type
        if known is None or known.kind not in ("array", "numpy", "python"):
            return known
        if known.is_integral and known.samples:
            made = tuple(np.asarray(s, dtype=float)[()] for s in known.samples)
            return self.build.types.of_samples(made)
        return known


COMPARISONS = frozenset(
    {"lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "invert", "not_"}
)
"""Operations whose result is boolean."""


def _scalar(known: Type | None) -> bool:
    return known is not None and known.is_scalar


def _is_one(arg: Arg) -> bool:
    return isinstance(arg, int | float) and not isinstance(arg, bool) and arg == 1
