"""Which values of a graph may share memory.

Every value has a class; values whose arrays (or lists) may be the same memory are in
one.  A class may have contents, the class of what a list or an object holds: appending
to a list changes the list, not its items.  The analysis ignores order: it may put too
much into one class, never too little.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..graph import Arg, Block, Graph, Node, Value, leaves

__all__ = ["INPLACE", "Aliases", "may_be_array", "may_be_list"]

INPLACE = frozenset({"setitem", "index_add", "list_append", "list_pop"})
"""Operations that the generated text performs on the memory of their first argument."""

VIEWS = frozenset(
    "np." + name
    for name in (
        "array_split asanyarray asarray asarray_chkfinite ascontiguousarray "
        "asfortranarray atleast_1d atleast_2d atleast_3d broadcast_arrays "
        "broadcast_to diag diagonal dsplit einsum expand_dims flip fliplr flipud "
        "hsplit imag ix_ linalg.diagonal linalg.matrix_transpose matrix_transpose "
        "moveaxis permute_dims ravel real real_if_close require reshape rollaxis "
        "rot90 split squeeze swapaxes transpose trim_zeros unstack vsplit"
    ).split()
)
"""NumPy functions whose result may be a view of their arguments, or hold such views."""

FRESH_BUILTINS = frozenset(
    "builtins." + name
    for name in (
        "abs all any bool complex divmod float hash int isinstance len pow print range "
        "repr round str type"
    ).split()
)

OPERATORS = frozenset(
    "add sub mul truediv floordiv mod pow matmul neg pos invert lt le gt ge eq ne "
    "and_ or_ xor lshift rshift not_ is_ is_not contains dim shape fstring "
    "list_zeros assert raise".split()
)


def may_be_list(value: Any) -> bool:
    """Return whether a value may be a run-time list or another container."""
    kind = getattr(getattr(value, "type", None), "kind", None)
    return kind in (None, "list", "tuple", "object")


def may_be_array(value: Any) -> bool:
    """Return whether a value may be memory that can be written to or viewed."""
    kind = getattr(getattr(value, "type", None), "kind", None)
    return kind in (None, "array", "object")


class Aliases:
    """The classes of all values of a graph.

    `external` are the classes that hold a caller's memory.
    """

    def __init__(self, graph: Graph) -> None:
        self._parent: dict[Any, Any] = {}
        self._content: dict[Any, Any] = {}
        for param in graph.params:
            # What a parameter holds may be the parameter: a list in a list, say.
            self._join(param.value, self.content(param.value))
        self._block(graph.block)
        self.external = {self.find(param.value) for param in graph.params}

    def find(self, value: Any) -> Any:
        """Return the class of a value."""
        parent = self._parent
        root = value
        while (above := parent.get(root, root)) is not root:
            root = above
        while value is not root:
            parent[value], value = root, parent.get(value, value)
        return root

    def content(self, value: Any) -> Any:
        """Return the class of what a value holds; it is made where there was none."""
        root = self.find(value)
        if root not in self._content:
            self._content[root] = _Content()
        return self.find(self._content[root])

    def reads(self, value: Value) -> Iterator[Any]:
        """Yield the classes that reading a value may touch."""
        seen = set()
        root = self.find(value)
        while root not in seen:
            seen.add(root)
            yield root
            if root in self._content:
                root = self.find(self._content[root])

    def mutated(self, node: Node) -> set[Any]:
        """Return the classes that a node writes to, those of nested blocks included."""
        return {self.find(n.args[0]) for n in node.walk() if n.op in INPLACE}

    def _join(self, one: Any, other: Any) -> None:
        """Make one class of two, and one of what they hold."""
        one, other = self.find(one), self.find(other)
        if one is other:
            return
        self._parent[other] = one
        held = self._content.pop(other, None)
        if held is not None:
            if self.find(one) in self._content:
                self._join(self._content[self.find(one)], held)
            else:
                self._content[self.find(one)] = held

    def _alias(self, one: Arg, other: Arg) -> None:
        """Note that one value may be the other, whatever of them are values."""
        if not isinstance(one, Value) or _is_scalar(one):
            return
        for leaf in leaves(other):
            if isinstance(leaf, Value) and not _is_scalar(leaf):
                self._join(one, leaf)
        if isinstance(other, (tuple, list, dict)):
            self._hold(one, other)

    def _hold(self, container: Arg, item: Arg) -> None:
        """Note that an item is put into a container."""
        if isinstance(container, Value):
            for leaf in leaves(item):
                if isinstance(leaf, Value) and not _is_scalar(leaf):
                    self._join(self.content(container), leaf)

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            self._node(node)
            for nested in node.blocks:
                self._block(nested)

    def _node(self, node: Node) -> None:
        op, args, outs = node.op, node.args, node.outs
        if op == "if":
            for position, out in enumerate(outs):
                for block in node.blocks:
                    self._alias(out, block.results[position])
        elif op in ("for", "while"):
            self._loop(node)
        elif op == "getitem":
            if may_be_list(args[0]):
                self._alias(outs[0], _known(self.content(args[0]), args[0]))
                self._take(outs[0], args[0])
            if may_be_array(args[0]) and not _copies(args[1]):
                self._alias(outs[0], args[0])
        elif op in ("setitem", "index_add"):
            self._alias(outs[0], args[0])
            if op == "setitem" and may_be_list(args[0]):
                self._hold(outs[0], args[2])
        elif op == "list":
            self._hold(outs[0], args)
        elif op == "list_append":
            self._alias(outs[0], args[0])
            self._hold(outs[0], args[1])
        elif op == "list_pop":
            self._alias(outs[0], args[0])
            self._take(outs[1], args[0])
        elif op in ("list_reverse", "builtins.list", "builtins.tuple") or op in (
            "builtins.sorted",
            "builtins.reversed",
        ):
            self._same_contents(outs[0], args[0])
        elif op in ("add", "mul"):
            for arg in args:
                if isinstance(arg, Value) and self.find(arg) in self._content:
                    self._same_contents(outs[0], arg)
        elif op == "struct":
            self._hold(outs[0], args[1])
        elif self._may_alias(node):
            for out in outs:
                for arg in (*args, dict(node.kwargs)):
                    for leaf in leaves(arg):
                        self._alias(out, leaf)
                        self._take(out, leaf)
                        self._hold(out, leaf)

    def _loop(self, node: Node) -> None:
        inits = node.args[-1]
        body = node.blocks[-1]
        lead = len(body.params) - len(inits)
        flags = 1 if node.kwargs.get("breaks") else 0
        for block in node.blocks:
            carried = block.params[len(block.params) - len(inits) :]
            for param, init in zip(carried, inits, strict=True):
                self._alias(param, init)
        for position, out in enumerate(node.outs):
            result = body.results[flags + position]
            if position < len(inits):
                self._alias(out, body.params[lead + position])
                self._alias(out, result)
                # Scalars of one type may be carried in a cell of another.
                self._alias(body.params[lead + position], result)
            else:
                self._hold(out, result)
        if node.op == "for":
            for param, walked in zip(body.params[1:lead], node.args[1], strict=True):
                self._take(param, walked)

    def _take(self, out: Value, container: Arg) -> None:
        """Note that a value was taken out of a container."""
        if isinstance(container, Value) and not _is_scalar(out):
            self._join(self.content(container), out)

    def _same_contents(self, out: Value, container: Arg) -> None:
        if isinstance(container, Value):
            self._join(self.content(out), self.content(container))
        else:
            self._hold(out, container)

    def _may_alias(self, node: Node) -> bool:
        op = node.op
        if op in VIEWS or op == "stop_gradient" or op.startswith("runtime."):
            return True
        if op in ("np.array", "np.astype"):
            return node.kwargs.get("copy", True) is not True
        if op in OPERATORS or op in FRESH_BUILTINS:
            return False
        return not op.startswith(("np.", "math.", "scipy.", "cmath."))


class _Content:
    """What a value holds, when no value stands for it."""


def _known(content: Any, value: Any) -> Any:
    return content if isinstance(content, Value) else None


def _is_scalar(value: Value) -> bool:
    return value.type is not None and value.type.is_scalar


def _copies(index: Arg) -> bool:
    """Return whether indexing with this certainly copies: with arrays or lists."""
    if isinstance(index, tuple):
        return any(_copies(i) for i in index)
    if isinstance(index, list):
        return True
    kind = index.type.kind if isinstance(index, Value) and index.type else ""
    return kind in ("array", "list")
