"""Activity: which values depend on the parameters that the gradient is taken by."""

from __future__ import annotations

from collections.abc import Callable

from ..graph import Block, Node, Value, leaves

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
    body = node.blocks[-1]
    inits = node.args[-1]
    lead = 0
    if node.op == "for":
        elements = node.args[1]
        lead = 1 + len(elements)
        for element, param in zip(elements, body.params[1:lead], strict=True):
            if element in varied:
                varied.add(param)
    flags = 1 if node.kwargs.get("breaks") else 0
    carried = body.params[lead:]
    for init, param in zip(inits, carried, strict=True):
        if isinstance(init, Value) and init in varied:
            varied.add(param)
    while True:
        before = len(varied)
        visit(body.nodes)
        for result, param in zip(body.results[flags:], carried, strict=False):
            if isinstance(result, Value) and result in varied and not _integral(param):
                varied.add(param)
        if len(varied) == before:
            break
    for k, out in enumerate(node.outs):
        result = body.results[flags + k]
        init = inits[k] if k < len(inits) else None
        if any(isinstance(a, Value) and a in varied for a in (result, init)):
            varied.add(out)


def _integral(value: Value) -> bool:
    return (
        value.type is not None
        and value.type.is_integral
        and (value.type.kind != "list")
    )


def mentions(arg: object, varied: set[Value]) -> bool:
    """Say whether an argument holds a varied value."""
    return any(isinstance(a, Value) and a in varied for a in leaves(arg))
