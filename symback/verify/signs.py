"""Signs that follow from the form of an expression, whatever its inputs are.

Only what a reader sees at once: squares, exponentials, sums and products of these.

>>> from symback.verify.concolic import Tape
>>> tape = Tape(30)
>>> x = tape.input("x", -0.5)
>>> sign_of(x * x + 1), sign_of(x * x), sign_of(tape.call("exp", x)), sign_of(x)
(2, 1, 2, 0)
"""

from __future__ import annotations

from .concolic import Concolic

__all__ = ["sign_of"]

POSITIVE, NOT_NEGATIVE, UNKNOWN, NOT_POSITIVE, NEGATIVE = 2, 1, 0, -1, -2

ALWAYS_POSITIVE = {"exp", "cosh", "erfc", "pi", "e", "euler_gamma", "gamma"}
ODD = {"sinh", "tanh", "asinh", "atan", "erf", "erfi", "asin", "atanh"}


def sign_of(node: Concolic) -> int:
    """Return 2 for positive, 1 for not negative, 0 for not known, and the opposites."""
    known = node.home.signs
    stack = [node]
    while stack:
        top = stack[-1]
        if top.index in known:
            stack.pop()
            continue
        open_args = [a for a in top.args if a.index not in known]
        if open_args:
            stack.extend(open_args)
            continue
        known[top.index] = _sign(top, [known[a.index] for a in top.args])
        stack.pop()
    return known[node.index]


def _sign(node: Concolic, args: list[int]) -> int:
    op = node.op
    if op == "const" or (node.constant and not args):
        return 2 if node.value > 0 else -2 if node.value < 0 else 1
    if op == "gamma":
        return POSITIVE if args[0] == POSITIVE else UNKNOWN
    if op in ALWAYS_POSITIVE:
        return POSITIVE
    if op in ODD or op in ("stop", "copy"):
        return args[0]
    if op in ("add", "sub"):
        return _sum(args[0], args[1] if op == "add" else -args[1])
    if op == "mul":
        if node.args[0] is node.args[1]:
            return POSITIVE if abs(args[0]) == POSITIVE else NOT_NEGATIVE
        return _product(*args)
    if op == "div":
        return _product(*args)
    if op == "pow":
        return _power(node, args)
    return UNKNOWN


def _sum(a: int, b: int) -> int:
    if a > 0 and b > 0:
        return max(a, b)
    if a < 0 and b < 0:
        return min(a, b)
    return UNKNOWN


def _product(a: int, b: int) -> int:
    if not a or not b:
        return UNKNOWN
    size = min(abs(a), abs(b))
    return size if (a > 0) == (b > 0) else -size


def _power(node: Concolic, args: list[int]) -> int:
    exponent = node.args[1]
    if exponent.op != "const" or exponent.payload.denominator != 1:
        # Not a whole power: the base is not negative, or there is no value.
        return POSITIVE if args[0] == POSITIVE else NOT_NEGATIVE
    if exponent.payload % 2 == 0:
        return POSITIVE if abs(args[0]) == POSITIVE else NOT_NEGATIVE
    return args[0]
