"""Operations by their first name: ``np.power(s, 0.5)`` is ``s ** 0.5``.

What is recognised in a graph should not depend on which of several spellings was used.
"""

from __future__ import annotations

from ..graph import Arg, Node

__all__ = ["spelled"]

SAME = {
    "np.add": "add",
    "np.subtract": "sub",
    "np.multiply": "mul",
    "np.divide": "truediv",
    "np.true_divide": "truediv",
    "np.negative": "neg",
    "np.power": "pow",
    "np.pow": "pow",
    "np.float_power": "pow",
    "math.pow": "pow",
    "builtins.pow": "pow",
    "np.absolute": "np.abs",
    "builtins.abs": "np.abs",
    "scipy.special.expm1": "np.expm1",
    "scipy.special.log1p": "np.log1p",
}
POWERS = {"np.square": 2, "np.sqrt": 0.5, "math.sqrt": 0.5, "np.reciprocal": -1}


def spelled(node: Node) -> tuple[str, tuple[Arg, ...]]:
    """Return a node's operation and arguments in the spelling that patterns use.

    Roots, squares and reciprocals are powers.  What has keywords keeps its own name.
    """
    if node.kwargs or len(node.outs) != 1:
        return node.op, node.args
    power = POWERS.get(node.op)
    if power is not None and len(node.args) == 1:
        return "pow", (node.args[0], power)
    op = SAME.get(node.op, node.op)
    if op == "mul" and node.args[0] is node.args[1]:
        return "pow", (node.args[0], 2)
    return op, node.args
