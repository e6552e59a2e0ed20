"""The structure of a parameter: which of its parts are numbers and arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .form import Node, Value

__all__ = ["Tree"]


@dataclass(frozen=True)
class Tree:
    """The structure of a parameter, with a graph value at each leaf.

    kind : ``"leaf"``, ``"tuple"``, ``"list"``, ``"dict"``, ``"struct"`` or
        ``"static"``.
    keys : of a dict, or the fields of a struct.
    made : whether a struct's class makes one of its fields, checking nothing.
    """

    kind: str
    value: Value | None = None
    items: tuple[Tree, ...] = ()
    keys: tuple[Any, ...] = ()
    made: bool = True

    def leaf_values(self) -> list[Value]:
        """Return the values of the leaves in order."""
        if self.kind == "leaf":
            assert self.value is not None
            return [self.value]
        return [v for item in self.items for v in item.leaf_values()]

    def readers(self) -> dict[Value, Node]:
        """Return the nodes that read the parts, by what they read.

        >>> p, x = Value("p"), Value("x")
        >>> tree = Tree("dict", p, (Tree("leaf", x),), ("x",))
        >>> tree.readers()[x].args[1]
        'x'
        """
        found: dict[Value, Node] = {}
        for place, item in enumerate(self.items):
            if item.value is None:
                continue
            key = self.keys[place] if self.keys else place
            op = "attr" if self.kind == "struct" else "getitem"
            found[item.value] = Node(op, (self.value, key), {}, (item.value,))
            found.update(item.readers())
        return found
