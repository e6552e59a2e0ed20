"""What must be known of a value's kind: an integer, a scalar, an array, a list.

Types say it where they are known; elsewhere the way in which a value was made may:
``np.zeros((n, 3))[i, j]`` is a scalar whatever n is.

>>> from symback.graph import Param
>>> n, x, y = Value("n"), Value(), Value()
>>> nodes = (Node("np.zeros", (n,), outs=(x,)), Node("dim", (x, 0), outs=(y,)))
>>> kinds = Kinds(Graph("f", (Param("n", n),), Block((), nodes, (y,))))
>>> kinds.is_array(x), kinds.is_integer(y), kinds.is_integer(n)
(True, True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import UNDEFINED, Arg, Block, Graph, Node, Value

__all__ = ["Kinds"]


@dataclass(frozen=True)
class _Kind:
    """``"integer"``, ``"scalar"``, ``"array"`` or ``"list"``, perhaps of a known item.

    An array of unknown rank may turn out to be a scalar, but is no container.
    """

    word: str
    rank: int | None = None
    item: _Kind | None = None


INTEGER, SCALAR, LIST = _Kind("integer"), _Kind("scalar"), _Kind("list")
ARRAY = _Kind("array")

ARITHMETIC = frozenset({"add", "sub", "mul", "floordiv", "mod", "neg", "pos"})
OPERATORS = ARITHMETIC | frozenset(
    "truediv pow invert lt le gt ge eq ne and_ or_ xor lshift rshift".split()
)
LISTS = frozenset(
    "list list_append list_zeros list_reverse builtins.list builtins.sorted".split()
)
FILLED = frozenset("np." + name for name in ("zeros", "ones", "empty", "full"))
ALIKE = frozenset(
    "np." + name
    for name in ("zeros_like", "ones_like", "empty_like", "full_like", "copy")
)
NUMBERS = frozenset("builtins." + n for n in ("float", "bool", "complex", "hash"))
CHOICES = frozenset({"builtins.min", "builtins.max", "builtins.abs"})
SHAPED_AS = {
    "runtime.unbroadcast": 1,
    "runtime.zeros_of": 0,
    "runtime.matmul_pullback_a": 1,
    "runtime.matmul_pullback_b": 2,
    "runtime.dot_pullback_a": 1,
    "runtime.dot_pullback_b": 2,
}
"""Helpers whose result is of the kind of one of their arguments."""
SEVERAL = frozenset(
    "np.array_split np.atleast_1d np.atleast_2d np.atleast_3d np.broadcast_arrays "
    "np.dsplit np.hsplit np.ix_ np.meshgrid np.nonzero np.split np.unstack "
    "np.vsplit".split()
)
"""NumPy functions that may return several arrays in a list or tuple."""


class Kinds:
    """The kinds of all values of a graph, as far as they can be told."""

    def __init__(self, graph: Graph) -> None:
        self._known: dict[Value, _Kind | None] = {}
        self._block(graph.block)

    def is_integer(self, arg: Arg) -> bool:
        """Return whether an argument is certainly one integer."""
        return self._kind(arg) == INTEGER

    def is_basic(self, index: Arg) -> bool:
        """Return whether an index names no entry twice: integers and slices."""
        parts = index if isinstance(index, tuple) else (index,)
        return all(
            part is None
            or part is Ellipsis
            or isinstance(part, slice)
            or self.is_integer(part)
            for part in parts
        )

    def is_list(self, arg: Arg) -> bool:
        """Return whether an argument is certainly a run-time list."""
        kind = self._kind(arg)
        return kind is not None and kind.word == "list"

    def is_array(self, arg: Arg) -> bool:
        """Return whether an argument is certainly an array or a scalar."""
        kind = self._kind(arg)
        return kind is not None and kind.word == "array"

    def is_scalar(self, arg: Arg) -> bool:
        """Return whether an argument is certainly one number."""
        return self._kind(arg) in (INTEGER, SCALAR)

    def _kind(self, arg: Arg) -> _Kind | None:
        if isinstance(arg, Value):
            return self._known[arg] if arg in self._known else _of_type(arg)
        if isinstance(arg, (bool, float, complex, np.generic)):
            return SCALAR
        if isinstance(arg, int):
            return INTEGER
        if isinstance(arg, list):
            return LIST
        return _Kind("array", arg.ndim) if isinstance(arg, np.ndarray) else None

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            if node.op == "if":
                self._branches(node)
            elif node.op in ("for", "while"):
                self._loop(node)
            elif node.outs:
                self._know(node.outs[0], self._made(node))

    def _know(self, value: Value, kind: _Kind | None) -> None:
        self._known[value] = kind if value.type is None else _of_type(value)

    def _branches(self, node: Node) -> None:
        for block in node.blocks:
            self._block(block)
        for k, out in enumerate(node.outs):
            self._know(out, self._join([b.results[k] for b in node.blocks]))

    def _loop(self, node: Node) -> None:
        """Suppose that kinds stay as they begin, until a body says otherwise."""
        inits, body = node.args[-1], node.blocks[-1]
        flags = 1 if node.kwargs.get("breaks") else 0
        carried = [self._join([init]) for init in inits]
        if node.op == "for":
            self._know(body.params[0], INTEGER)
            for param, walked in zip(body.params[1:], node.args[1], strict=False):
                kind = self._kind(walked)
                self._know(param, kind.item if kind is not None else None)
        while True:
            for block in node.blocks:
                lead = len(block.params) - len(inits)
                for param, kind in zip(block.params[lead:], carried, strict=True):
                    self._know(param, kind)
                self._block(block)
            nexts = body.results[flags : flags + len(inits)]
            joined = [
                _joined(kind, self._kind(new)) if new is not UNDEFINED else kind
                for kind, new in zip(carried, nexts, strict=True)
            ]
            if joined == carried:
                break
            carried = joined
        for k, out in enumerate(node.outs):
            if k < len(inits):
                self._know(out, carried[k])
            else:
                item = self._kind(body.results[flags + k])
                self._known[out] = _Kind("list", item=item)

    def _join(self, args: list[Arg]) -> _Kind | None:
        kinds = [self._kind(a) for a in args if a is not UNDEFINED]
        if not kinds:
            return None
        kind = kinds[0]
        for other in kinds[1:]:
            kind = _joined(kind, other)
        return kind

    def _made(self, node: Node) -> _Kind | None:
        """Return the kind of what a node without blocks makes first."""
        op, args = node.op, node.args
        kinds = [self._kind(a) for a in args]
        if op in ("dim", "builtins.len", "builtins.int"):
            return INTEGER
        if op == "builtins.round":
            return INTEGER if len(args) == 1 else None
        if op == "list_append":
            return LIST if kinds[0] is None or kinds[0].item != kinds[1] else kinds[0]
        if op == "list_pop":
            return kinds[0] or LIST
        if op == "list":
            same = kinds and all(kind == kinds[0] for kind in kinds)
            return _Kind("list", item=kinds[0]) if same else LIST
        if op in ("list_reverse", "builtins.list"):
            return kinds[0] if kinds[0] and kinds[0].word == "list" else LIST
        if op in LISTS:
            return LIST
        if op in ("setitem", "index_add"):
            if kinds[0] is not None and kinds[0].word == "list":
                return kinds[0] if kinds[0].item == kinds[2] else LIST
            return (
                ARRAY if kinds[0] is None and isinstance(args[1], tuple) else kinds[0]
            )
        if op == "stop_gradient":
            return kinds[0]
        if op == "getitem":
            return self._item(kinds[0], args[1])
        if op in OPERATORS or op in CHOICES or _is_ufunc(op):
            return _combined(op, kinds)
        if op in SHAPED_AS:
            like = kinds[SHAPED_AS[op]]
            if like is not None and like.word != "array":
                return LIST if like.word == "list" else SCALAR
            return like
        if op in NUMBERS or op.startswith("math."):
            return SCALAR
        if op in FILLED:
            return self._filled(args[0] if args else None)
        if op in ALIKE:
            known = kinds[0] if kinds else None
            return known if known is not None and known.word == "array" else ARRAY
        if op.startswith("np.") and op not in SEVERAL:
            return ARRAY
        return None

    def _filled(self, shape: Arg) -> _Kind:
        if isinstance(shape, tuple):
            return _Kind("array", len(shape))
        return _Kind("array", 1) if self.is_integer(shape) else ARRAY

    def _item(self, base: _Kind | None, index: Arg) -> _Kind | None:
        """Return the kind of what an index reads."""
        if base is None or base.word != "array":
            return None
        parts = index if isinstance(index, tuple) else (index,)
        if base.rank is None or not self.is_basic(index):
            return ARRAY
        integers = sum(map(self.is_integer, parts))
        if integers == base.rank == len(parts):
            return SCALAR
        new = sum(part is None for part in parts)
        return _Kind("array", base.rank - integers + new)


def _of_type(value: Value) -> _Kind | None:
    kind = value.type
    if kind is None:
        return None
    if kind.is_scalar:
        return INTEGER if kind.dtype.startswith(("int", "uint")) else SCALAR
    if kind.is_array:
        return _Kind("array", kind.rank)
    return LIST if kind.kind == "list" else None


def _joined(one: _Kind | None, other: _Kind | None) -> _Kind | None:
    """Return the kind of what may be of either kind."""
    if one == other:
        return one
    words = {kind.word if kind is not None else "" for kind in (one, other)}
    if words <= {"integer", "scalar"}:
        return SCALAR
    if words == {"list"}:
        return LIST
    return ARRAY if words <= {"integer", "scalar", "array"} else None


def _combined(op: str, kinds: list[_Kind | None]) -> _Kind | None:
    """Return the kind of an elementwise operation's result."""
    words = {kind.word if kind is not None else "" for kind in kinds}
    if words <= {"integer"}:
        return INTEGER if op in ARITHMETIC or op in CHOICES else SCALAR
    if words <= {"integer", "scalar"}:
        return SCALAR
    if words <= {"integer", "scalar", "array"} and op not in CHOICES:
        ranks = [kind.rank if kind.word == "array" else 0 for kind in kinds if kind]
        known = [rank for rank in ranks if rank is not None]
        return _Kind("array", max(known)) if len(known) == len(ranks) else ARRAY
    if "list" in words and op in ("add", "mul"):
        return LIST
    return ARRAY if _is_ufunc(op) else None


def _is_ufunc(op: str) -> bool:
    made: Any = getattr(np, op[3:], None) if op.startswith("np.") else None
    return isinstance(made, np.ufunc)
