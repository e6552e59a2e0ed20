"""The parts of a loop by name, instead of by position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .form import Arg, Block, Node, Value

__all__ = ["Loop"]


@dataclass(frozen=True)
class Loop:
    """A view of a ``for`` or ``while`` node; change parts with `replace`, then `node`.

    op : ``"for"`` or ``"while"``.
    bounds : start, stop and step; None of a ``while``.  index : its parameter.
    walked, walks : run-time lists in lock-step with the range, their parameters.
    inits, carried, nexts : what is carried: at first, as parameters, and next.
    finals : the outputs that carried values end as.
    items, lists : what is collected of each iteration, and the lists that result.
    stop : the flag that ends the loop, or None.
    reverse : the range and the lists are walked backwards.
    test : the condition block of a ``while``.  nodes : of the body.
    kwargs : of the node, what is said here apart.

    >>> i, s, t, y = (Value(n) for n in "isty")
    >>> body = Block((i, s), (Node("add", (s, i), outs=(t,)),), (t,))
    >>> loop = Loop.of(Node("for", ((0, 3, 1), (), (0.0,)), {}, (y,), (body,)))
    >>> loop.index is i, loop.carried == (s,), loop.finals == (y,), loop.stop
    (True, True, True, None)
    """

    op: str
    origin: Node
    bounds: tuple[Arg, Arg, Arg] | None
    index: Value | None
    walked: tuple[Arg, ...]
    walks: tuple[Value, ...]
    inits: tuple[Arg, ...]
    carried: tuple[Value, ...]
    nexts: tuple[Arg, ...]
    finals: tuple[Value, ...]
    items: tuple[Arg, ...]
    lists: tuple[Value, ...]
    stop: Arg | None
    reverse: bool
    test: Block | None
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, node: Node) -> Loop:
        """Return the parts of a node."""
        is_for = node.op == "for"
        body = node.blocks[-1]
        walked = tuple(node.args[1]) if is_for else ()
        inits = tuple(node.args[-1])
        lead, count = 1 if is_for else 0, len(inits)
        first = lead + len(walked)
        breaks = bool(node.kwargs.get("breaks"))
        results = body.results[1:] if breaks else body.results
        return cls(
            op=str(node.op),
            origin=node,
            bounds=node.args[0] if is_for else None,
            index=body.params[0] if is_for else None,
            walked=walked,
            walks=body.params[lead:first],
            inits=inits,
            carried=body.params[first:],
            nexts=results[:count],
            finals=node.outs[:count],
            items=results[count:],
            lists=node.outs[count:],
            stop=body.results[0] if breaks else None,
            reverse=bool(node.kwargs.get("reverse")),
            test=None if is_for else node.blocks[0],
            nodes=body.nodes,
        )

    @property
    def node(self) -> Node:
        """Return the node that has these parts."""
        flag = () if self.stop is None else (self.stop,)
        lead = () if self.index is None else (self.index,)
        body = Block(
            (*lead, *self.walks, *self.carried),
            self.nodes,
            (*flag, *self.nexts, *self.items),
        )
        kwargs: Mapping[str, Arg] = {"breaks": self.stop is not None}
        args: tuple[Arg, ...] = (self.inits,)
        blocks: tuple[Block, ...] = (body,)
        if self.bounds is not None:
            kwargs = {"reverse": self.reverse, **kwargs}
            args = (self.bounds, self.walked, self.inits)
        elif self.test is not None:
            blocks = (self.test, body)
        outs = (*self.finals, *self.lists)
        origin = self.origin
        return Node(origin.op, args, kwargs, outs, blocks, origin.span, origin.role)

    @property
    def body(self) -> Block:
        """Return the block that runs in each iteration."""
        return self.origin.blocks[-1]
