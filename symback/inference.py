"""Typing a graph: what each operation gives, asked of NumPy on the arguments' samples.

`infer` has the samples and runs operations on them; here is what is made of it where an
operation fails on them, where a length depends on data, and where two paths meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .assumptions import Assumptions, Refine, cut, fitting, mention
from .graph import UNDEFINED, Arg, Node, Value, leaves, map_leaves
from .infer import SAMPLES, Sampler, Unsampled, interrupts
from .sizes import Sizes
from .types import Type

__all__ = ["SampledTypes"]

SHAPE_INTEGERS = frozenset(
    {"dim", "shape", "builtins.len", "np.size", "np.ndim", "np.shape"}
)
"""Operations of arrays whose integer result depends on their shapes only."""

LISTS = frozenset(
    {
        "list",
        "list_append",
        "list_reverse",
        "list_zeros",
        "builtins.list",
        "tolist",
        "runtime.split_like",
        "runtime.list_add",
        "runtime.add_lists",
    }
)
"""Operations whose result is a run-time list whatever is known of the items."""

COUNTED = frozenset(
    f"np.{name}"
    for name in (
        "nonzero flatnonzero argwhere unique unique_values unique_counts unique_all "
        "unique_inverse compress extract trim_zeros bincount union1d intersect1d "
        "setdiff1d setxor1d roots histogram_bin_edges"
    ).split()
)
"""Operations whose result has a length that depends on data."""

Failed = Callable[[str, tuple[Arg, ...], Exception], None]
"""Told of an operation that failed on its samples; may raise."""


def _ignore(op: str, args: tuple[Arg, ...], problem: Exception) -> None:
    """Leave a value without a type."""


def _acts(op: str, args: tuple[Arg, ...]) -> bool:
    """Say whether trying an operation would do something outside."""
    if op == "call" or op.startswith(("time.", "warnings.", "np.random.")):
        return True
    owner = args[0] if op == "method" else None
    known = owner.type if isinstance(owner, Value) else None
    return known is not None and known.kind not in ("array", "numpy", "python")


class SampledTypes:
    """An `Inference` by trial.

    mode : ``"generic"`` (nothing is known), ``"symbolic"`` or ``"exact"``.
    defs : the node of each value.
    alike, numbered : the first value that is computed in the same way, by value and
        by operation.
    failed : what is done where an operation fails on its samples.
    unset : values that stand for none: what a loop carries that has no value before it.
    """

    def __init__(
        self, sampler: Sampler, assumed: Assumptions, failed: Failed = _ignore
    ) -> None:
        self.sampler = sampler
        self.assumed = assumed
        self.mode = assumed.mode
        self.generic = assumed.generic
        self.failed = failed
        self.defs: dict[Value, Node] = {}
        self.alike: dict[Value, Value] = {}
        self.numbered: dict[Any, Value] = {}
        self.unset: set[Value] = set()

    def outputs(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg], count: int
    ) -> list[Type | None]:
        """Return the types of the items of what an operation returns."""
        types: list[Type | None] = [None] * count
        tried = None if op == "unpack" else self.samples(op, args, kwargs)
        if op == "unpack" and isinstance(args[0], Value) and args[0].type is not None:
            if args[0].type.samples and self.mode != "generic":
                parts = tuple(s[0] for s in args[0].type.samples)
                types = [self.sampler.type_of(parts)] * count
        if tried is not None and all(len(tuple(t)) == count for t in tried):
            tried = self._counted(op, args, kwargs, tried)
            types = [self.sampler.type_of(p) for p in zip(*tried, strict=True)]
        if op == "list_pop" and types[0] is None:
            types[0] = Type("list")
        return types

    def type_of(self, arg: Arg) -> Type | None:
        """Return the type of a node's argument."""
        if isinstance(arg, Value):
            return arg.type
        if self.mode == "generic" or arg is UNDEFINED:
            return None
        return self.sampler.type_of((arg,) * SAMPLES)

    def samples(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg]
    ) -> tuple[Any, ...] | None:
        """Run an operation on its samples; None where that tells nothing."""
        if self.mode == "generic" or _acts(op, args):
            return None
        symbolic = not self.assumed.exact
        if symbolic and op in ("getitem", "setitem", "index_add"):
            cut(self.assumed, self.sampler, args)
        try:
            return self.sampler.infer(op, self._masked(op, args), dict(kwargs))
        except Unsampled:
            return None
        except Exception as problem:
            if interrupts(problem):
                raise
            if symbolic:
                operands = args, dict(kwargs)
                refined = fitting(self.assumed, self.sampler, operands)
                raise Refine(refined) from problem
            self.failed(op, args, problem)
            return None

    def output(
        self, op: str, args: tuple[Arg, ...], kwargs: Mapping[str, Arg]
    ) -> Type | None:
        """Return the type of a node's only output, None where nothing is known."""
        if op == "stop_gradient" and isinstance(args[0], Value):
            return args[0].type
        tried = self.samples(op, args, kwargs)
        if tried is None:
            if op in ("setitem", "index_add") and isinstance(args[0], Value):
                return args[0].type
            if op in LISTS or (op == "mul" and isinstance(args[0], list)):
                return Type("list")
            if op == "getitem" and isinstance(args[1], slice):
                known = args[0].type if isinstance(args[0], Value) else None
                return known if known is not None and known.kind == "list" else None
            return None
        found = self.sampler.type_of(self._counted(op, args, kwargs, tried))
        if found is not None and "?" in "".join(found.dims):
            mention(self.sampler, found, (args, dict(kwargs)))
        if found is None or found.rank or not found.is_integral:
            return found
        if found.dtype.startswith("bool") or found.kind not in ("python", "numpy"):
            return found
        if op not in SHAPE_INTEGERS and self._from_data(args):
            kind = type(found.samples[0])
            values = self.sampler.integer().samples
            return Type(found.kind, found.dtype, (), tuple(map(kind, values)))
        return found

    def _from_data(self, args: tuple[Arg, ...]) -> bool:
        """Say whether an operand is an array or a float: data, not a shape."""
        types = [a.type for a in leaves(args) if isinstance(a, Value)]
        return any(t is None or t.kind == "array" or not t.is_integral for t in types)

    def _counted(
        self,
        op: str,
        args: tuple[Arg, ...],
        kwargs: Mapping[str, Arg],
        tried: tuple[Any, ...],
    ) -> tuple[Any, ...]:
        """Give a result whose length depends on data a length of its own."""
        if op in COUNTED or (op == "np.where" and len(args) == 1):
            axis = kwargs.get("axis")
        elif op == "np.arange":
            if not self._from_data((args, dict(kwargs))):
                return tried
            axis = None
        elif op in ("np.repeat", "np.delete"):
            which = kwargs.get("repeats", kwargs.get("obj", [*args, None][1]))
            if not any(np.ndim(s) for s in self._sampled(which)):
                return tried
            axis = kwargs.get("axis", [*args, None, None][2])
        else:
            return tried
        if op in _TRUE:
            key = "true", self._key(args[0])
        else:
            key = op, self._key((args, dict(kwargs)))
        sizes = self.sampler.fresh(key)
        place = axis if isinstance(axis, int) else 0

        def resized(sample: Any, size: int) -> Any:
            if isinstance(sample, tuple):
                return tuple(resized(s, size) for s in sample)
            shape = list(np.shape(sample))
            if shape:
                shape[place] = size
            return np.zeros(shape, sample.dtype)

        return tuple(resized(t, s) for t, s in zip(tried, sizes, strict=True))

    def _sampled(self, arg: Arg) -> tuple[Any, ...]:
        known = self.type_of(arg)
        return () if known is None else known.samples

    def _masked(self, op: str, args: tuple[Arg, ...]) -> tuple[Arg, ...]:
        """Give boolean masks that index a count of true entries of their own."""
        if not op.startswith("list"):
            args = map_leaves(self._lengthened, args)
        elif op in ("list", "list_append"):
            lead = 0 if op == "list" else 1
            args = args[:lead] + tuple(map(self._lengthened, args[lead:]))
        if op not in ("getitem", "setitem", "index_add"):
            return args
        index = args[1] if isinstance(args[1], tuple) else (args[1],)
        if not any(map(_is_mask, index)):
            return args
        places: list[Arg] = []
        for part in index:
            places += self._places(part) if _is_mask(part) else [part]
        return (args[0], tuple(places), *args[2:])

    def _places(self, mask: Value) -> list[Value]:
        """Return arrays of as many places as a mask has true entries."""
        assert mask.type is not None
        if not mask.type.rank:
            # A mask of a number makes a new axis: no arrays of places say so.
            raise Unsampled
        counts = self.sampler.fresh(("true", self._key(mask)))
        samples = tuple(
            np.zeros(count if sample.size else 0, int)
            for sample, count in zip(mask.type.samples, counts, strict=True)
        )
        kind = Type("array", "int64", ("?",), samples)
        return [Value(None, kind) for _ in range(mask.type.rank)]

    def _lengthened(self, leaf: Any) -> Any:
        """Give the sample of a run-time list a length of its own."""
        if not isinstance(leaf, Value) or leaf.type is None or leaf.type.kind != "list":
            return leaf
        if not leaf.type.samples or not leaf.type.samples[0]:
            # The items of a list that is still empty are not known.
            return Value(leaf.name, Type("list"))
        sizes = self.sampler.fresh(("length", leaf))
        made = tuple(
            [sample[-1]] * size if sample else sample
            for sample, size in zip(leaf.type.samples, sizes, strict=True)
        )
        return Value(leaf.name, Type("list", "", (), made))

    def _mask_key(self, mask: Value) -> Any:
        """Return a key that two computations of the same mask share.

        Each value is numbered once: a graph whose parts are used twice is no tree.
        """
        todo = [mask]
        while todo:
            value = todo[-1]
            node = self.defs.get(value)
            if value in self.alike:
                todo.pop()
            elif node is None or node.blocks or node.op.acts:
                self.alike[todo.pop()] = value
            else:
                inputs = [v for v in node.inputs if v not in self.alike]
                if inputs:
                    todo += inputs
                    continue
                parts = tuple(
                    self.alike[a] if isinstance(a, Value) else repr(a)
                    for a in leaves((node.args, dict(node.kwargs)))
                )
                key = (str(node.op), parts, node.outs.index(value))
                self.alike[todo.pop()] = self.numbered.setdefault(key, value)
        return self.alike[mask]

    def _key(self, arg: Arg) -> Any:
        """Return a key that two computations of the same arguments share."""
        return tuple(
            self._mask_key(a) if isinstance(a, Value) else (type(a), repr(a))
            for a in leaves(arg)
        )

    def of_samples(self, samples: tuple[Any, ...]) -> Type | None:
        """Return the type that two stand-ins for a value show."""
        return None if self.generic else self.sampler.type_of(samples)

    def integer(self) -> Type | None:
        """Return the type of an integer known only at run time, as a loop's index."""
        return None if self.generic else self.sampler.integer()

    # Where paths meet

    def join(self, a: Arg, b: Arg, carried: bool = False) -> Type | None:
        """Return a type that covers two arguments, or None.

        carried : b is what an iteration makes of a, whose lengths may be any.
        """
        first, second = self.type_of(a), self.type_of(b)
        if a is UNDEFINED or (isinstance(a, Value) and a in self.unset):
            return second
        if b is UNDEFINED or (isinstance(b, Value) and b in self.unset):
            return first
        if first is None or second is None:
            return None
        if first.kind == second.kind == "list":
            # Types of lists are compared by their items.
            return second if second.samples and second.samples[0] else first
        if first == second:
            return first
        if first.is_scalar and second.is_scalar:
            return self._join_scalars(first, second)
        if first.kind == second.kind == "array" and first.rank == second.rank:
            return self._join_arrays(first, second, carried)
        return None

    def _join_scalars(self, first: Type, second: Type) -> Type | None:
        with_samples = tuple(
            np.add(p, q) for p, q in zip(first.samples, second.samples, strict=True)
        )
        if first.is_integral and second.is_integral:
            return second if first.kind == "python" else first
        joined = self.sampler.type_of(with_samples)
        return (
            joined
            if joined is None or "numpy" in (first.kind, second.kind)
            else (
                Type("python", "float", (), tuple(map(float, with_samples)))
                if joined.dtype == "float64"
                else joined
            )
        )

    def _join_arrays(self, first: Type, second: Type, carried: bool) -> Type | None:
        shapes: list[Sizes] = []
        for k in range(first.rank):
            one, other = (tuple(s.shape[k] for s in t.samples) for t in (first, second))
            if one != other and not (carried and one in self.sampler.varying):
                one = self.sampler.fresh()
                self.sampler.varying.add(one)
            shapes.append(one)
        dtype = np.result_type(first.dtype, second.dtype)
        made = tuple(
            np.full(tuple(s[which] for s in shapes), 0.5).astype(dtype)
            for which in range(SAMPLES)
        )
        return self.sampler.type_of(made)


_TRUE = frozenset({"np.nonzero", "np.flatnonzero", "np.where"})
"""Operations that find as many places as a mask has true entries."""


def _is_mask(part: Arg) -> bool:
    """Say whether a part of an index is a mask."""
    return (
        isinstance(part, Value)
        and part.type is not None
        and part.type.kind in ("array", "numpy", "python")
        and part.type.dtype == "bool"
    )
