"""What must be known of a value's kind: an integer, a list, a scalar.

Types say it where they are known; elsewhere the way in which a value was made may.
"""

from __future__ import annotations

from ..graph import UNDEFINED, Arg, Block, Graph, Value

__all__ = ["Kinds"]

INTEGERS = frozenset({"dim", "builtins.len", "builtins.int", "builtins.round"})
ARITHMETIC = frozenset({"add", "sub", "mul", "floordiv", "mod", "neg", "pos"})
LISTS = frozenset(
    "list list_append list_zeros list_reverse builtins.list builtins.sorted".split()
)
SEVERAL = frozenset(
    "np.array_split np.atleast_1d np.atleast_2d np.atleast_3d np.broadcast_arrays "
    "np.dsplit np.hsplit np.ix_ np.meshgrid np.nonzero np.split np.unstack "
    "np.vsplit".split()
)
"""NumPy functions that may return several arrays in a list or tuple."""


class Kinds:
    """The kinds of all values of a graph.

    Where the type is unknown, the first operation that made it decides.
    """

    def __init__(self, graph: Graph) -> None:
        self._origin: dict[Value, tuple[str, Arg]] = {}
        self._block(graph.block)

    def is_integer(self, arg: Arg) -> bool:
        """Return whether an argument is certainly one integer."""
        if isinstance(arg, bool):
            return False
        if not isinstance(arg, Value):
            return isinstance(arg, int)
        if arg.type is not None:
            return arg.type.is_scalar and arg.type.dtype.startswith(("int", "uint"))
        origin, parts = self._origin.get(arg, ("", ()))
        if origin in INTEGERS or origin == "index":
            return origin != "builtins.round" or len(parts) == 1
        return origin in ARITHMETIC and all(map(self.is_integer, parts))

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
        kind = self._first(arg)
        return kind in LISTS or kind in ("list", "collected")

    def is_array(self, arg: Arg) -> bool:
        """Return whether an argument is certainly no container but an array."""
        kind = self._first(arg)
        return kind == "array" or (kind.startswith("np.") and kind not in SEVERAL)

    def _first(self, arg: Arg) -> str:
        """Return the kind of a value, or else the operation that made what it is."""
        seen: set[Value] = set()
        while isinstance(arg, Value) and arg not in seen:
            seen.add(arg)
            if arg.type is not None:
                return arg.type.kind
            origin, parts = self._origin.get(arg, ("", ()))
            if origin == "setitem" and isinstance(parts[1], tuple):
                return "array"
            if origin not in ("setitem", "index_add", "same", "list_pop"):
                return origin
            arg = parts[0]
        return "list" if isinstance(arg, list) else ""

    def is_scalar(self, arg: Arg) -> bool:
        """Return whether an argument is certainly one number."""
        if isinstance(arg, Value):
            if arg.type is not None:
                return arg.type.is_scalar
            return self.is_integer(arg)
        return isinstance(arg, (bool, int, float, complex))

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            if node.op == "if":
                for position, out in enumerate(node.outs):
                    results = [b.results[position] for b in node.blocks]
                    known = [r for r in results if r is not UNDEFINED]
                    self._origin[out] = ("same", tuple(known[:1] or [None]))
            elif node.op in ("for", "while"):
                inits = node.args[-1]
                for nested in node.blocks:
                    lead = len(nested.params) - len(inits)
                    for param, init in zip(nested.params[lead:], inits, strict=True):
                        self._origin[param] = ("same", (init,))
                if node.op == "for":
                    self._origin[node.blocks[0].params[0]] = ("index", ())
                for position, out in enumerate(node.outs):
                    if position < len(inits):
                        self._origin[out] = ("same", (inits[position],))
                    else:
                        self._origin[out] = ("collected", ())
            else:
                for out in node.outs[:1]:
                    self._origin[out] = (node.op, node.args)
            for nested in node.blocks:
                self._block(nested)
