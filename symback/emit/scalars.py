"""Calls on Python numbers without NumPy: `math.exp` costs a tenth of `np.exp`.

Each form gives what NumPy gives, NaNs included, wherever it raises no ArithmeticError
or ValueError; where it raises, the caller runs the text that uses NumPy.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..graph import Arg, Node, Value

if TYPE_CHECKING:
    from .expressions import Expressions

__all__ = ["scalar_call"]

FUNCTIONS = {
    "np." + name: "math." + (other or name)
    for name, other in {
        "exp": "",
        "exp2": "",
        "expm1": "",
        "log": "",
        "log2": "",
        "log10": "",
        "log1p": "",
        "sqrt": "",
        "cbrt": "",
        "sin": "",
        "cos": "",
        "tan": "",
        "sinh": "",
        "cosh": "",
        "tanh": "",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "arcsinh": "asinh",
        "arccosh": "acosh",
        "arctanh": "atanh",
        "hypot": "",
        "fabs": "",
        "degrees": "",
        "radians": "",
        "isnan": "",
        "isinf": "",
        "isfinite": "",
        "copysign": "",
    }.items()
}
OPERATORS: dict[str, Callable[[], ast.operator]] = {
    "np.add": ast.Add,
    "np.subtract": ast.Sub,
    "np.multiply": ast.Mult,
    "np.divide": ast.Div,
    "np.true_divide": ast.Div,
    "np.dot": ast.Mult,
    "np.vdot": ast.Mult,
    "np.inner": ast.Mult,
}
# What these give for one number is that number.
IDENTITIES = frozenset(
    "np.sum np.mean np.prod np.max np.min np.amax np.amin np.median np.asarray "
    "np.ravel np.squeeze np.transpose np.copy np.real np.positive".split()
)


def scalar_call(node: Node, build: Expressions) -> ast.expr | None:
    """Return the expression of a node over scalars, or None where it has no other."""
    op, args = node.op, node.args
    if node.kwargs or not args or not all(map(build.kinds.is_scalar, args)):
        return None
    if any(map(_is_complex, args)):
        return None
    if op in FUNCTIONS:
        return build.call(build.dotted(FUNCTIONS[op]), args, {})
    if op in OPERATORS and len(args) == 2:
        left, right = map(build.arg, args)
        return ast.BinOp(left, OPERATORS[op](), right)
    if op in IDENTITIES and len(args) == 1:
        return build.arg(args[0])
    form = FORMS.get(op)
    return form(build, args) if form else None


def _absolute(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    return build.call(build.names.builtin("abs"), args, {})


def _negative(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    return ast.UnaryOp(ast.USub(), build.arg(args[0]))


def _square(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    if _is_name(build, args[0]):
        return ast.BinOp(build.arg(args[0]), ast.Mult(), build.arg(args[0]))
    return ast.BinOp(build.arg(args[0]), ast.Pow(), ast.Constant(2))


def _reciprocal(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    if _is_float(args[0]):
        return ast.BinOp(ast.Constant(1.0), ast.Div(), build.arg(args[0]))
    return None


def _power(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    base, exponent = args
    if isinstance(exponent, int) and _is_float(base):
        return ast.BinOp(build.arg(base), ast.Pow(), build.arg(exponent))
    return None


def _extremum(word: str) -> Callable[[Expressions, tuple[Arg, ...]], ast.expr | None]:
    """Return the form of maximum or minimum.

    Python's ``max(a, b)`` is a unless b is larger, so that a NaN in a stays and one in
    b is lost: b must be a constant.
    """

    def form(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
        one, other = args
        if not isinstance(one, Value):
            one, other = other, one
        if not isinstance(other, Value):
            if math.isnan(other):
                return None
            return build.call(build.names.builtin(word), (one, other), {})
        if not (_is_name(build, one) and _is_name(build, other)):
            return None
        sign = ast.Gt() if word == "max" else ast.Lt()
        wins = ast.Compare(build.arg(one), [sign], [build.arg(other)])
        is_nan = ast.Compare(build.arg(one), [ast.NotEq()], [build.arg(one)])
        test = ast.BoolOp(ast.Or(), [wins, is_nan])
        return ast.IfExp(test, build.arg(one), build.arg(other))

    return form


def _where(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    if len(args) != 3:
        return None
    test, then, orelse = map(build.arg, args)
    return ast.IfExp(test, then, orelse)


def _clip(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
    if len(args) != 3:
        return None
    x, low, high = args
    if any(isinstance(a, Value) or math.isnan(a) for a in (low, high)) or low > high:
        return None
    raised = build.call(build.names.builtin("max"), (x, low), {})
    return ast.Call(build.names.builtin("min"), [raised, build.arg(high)], [])


def _filled(value: float) -> Callable[[Expressions, tuple[Arg, ...]], ast.expr | None]:
    def form(build: Expressions, args: tuple[Arg, ...]) -> ast.expr | None:
        return ast.Constant(value) if _is_float(args[0]) and len(args) == 1 else None

    return form


FORMS: dict[str, Callable[[Expressions, tuple[Arg, ...]], ast.expr | None]] = {
    "np.abs": _absolute,
    "np.absolute": _absolute,
    "np.negative": _negative,
    "np.square": _square,
    "np.reciprocal": _reciprocal,
    "np.power": _power,
    "np.maximum": _extremum("max"),
    "np.minimum": _extremum("min"),
    "np.where": _where,
    "np.clip": _clip,
    "np.zeros_like": _filled(0.0),
    "np.ones_like": _filled(1.0),
}


def _is_float(arg: Arg) -> bool:
    if isinstance(arg, Value):
        return arg.type is not None and arg.type.dtype.startswith("float")
    return isinstance(arg, float)


def _is_complex(arg: Arg) -> bool:
    if isinstance(arg, Value):
        return arg.type is not None and arg.type.dtype.startswith("complex")
    return isinstance(arg, complex)


def _is_name(build: Expressions, arg: Arg) -> bool:
    """Return whether printing an argument twice costs nothing."""
    arg = build.plan.resolve(arg)
    return not isinstance(arg, Value) or arg not in build.plan.inlined
