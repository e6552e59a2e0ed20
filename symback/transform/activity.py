"""Activity: which values depend on the parameters that the gradient is taken by."""

from __future__ import annotations

from collections.abc import Callable

from ..graph import Block, Loop, Node, Value, leaves

__all__ = ["mentions", "varied_values"]


def varied_values(
    block: Block, roots: set[Value], stops: Callable[[Node], bool]
) -> set[Value]:
    """Return the values that depend on `roots` through operations with derivatives.

    `stops` says of a node without blocks that its derivative is zero.
    """
    varied = set(roots)

    def is_varied(arg: object) -> bool:
        return isinstance(arg, Value) and arg in varied

    def visit(nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            if node.op == "if":
                for nested in node.blocks:
                    visit(nested.nodes)
                for k, out in enumerate(node.outs):
                    if any(is_varied(b.results[k]) for b in node.blocks):
                        varied.add(out)
            elif node.op in ("for", "while"):
                _visit_loop(node, varied, visit)
            elif any(v in varied for v in node.inputs) and not stops(node):
                varied.update(o for o in node.outs if not _integral(o))

    visit(block.nodes)
    return varied


def _visit_loop(
    node: Node, varied: set[Value], visit: Callable[[tuple[Node, ...]], None]
) -> None:
    """Walk a loop's body until no more carried values turn out to vary."""
    loop = Loop.of(node)
    for items, walk in zip(loop.walked, loop.walks, strict=True):
        if mentions(items, varied):
            varied.add(walk)
    for init, param in zip(loop.inits, loop.carried, strict=True):
        if mentions(init, varied):
            varied.add(param)
    while True:
        before = len(varied)
        visit(loop.nodes)
        for following, param in zip(loop.nexts, loop.carried, strict=True):
            if mentions(following, varied) and not _integral(param):
                varied.add(param)
        if len(varied) == before:
            break
    carried = zip(loop.finals, loop.inits, loop.nexts, strict=True)
    varied.update(out for out, *parts in carried if mentions(parts, varied))
    collected = zip(loop.lists, loop.items, strict=True)
    varied.update(out for out, item in collected if mentions(item, varied))


def _integral(value: Value) -> bool:
    return (
        value.type is not None
        and value.type.is_integral
        and (value.type.kind != "list")
    )


def mentions(arg: object, varied: set[Value]) -> bool:
    """Say whether an argument holds a varied value."""
    return any(isinstance(a, Value) and a in varied for a in leaves(arg))
