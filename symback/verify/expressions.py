"""SymPy's expressions and derivatives of what a tape has recorded.

Every recorded operation is one definition of one symbol (SSA); `sympy.diff` takes the
derivative of each definition, and the chain rule adds up the paths.  Nothing is ever
written out, so nothing swells, and nothing is simplified that holds for one sign only.

>>> from symback.verify.concolic import Tape
>>> tape = Tape(30)
>>> x = tape.input("x", 0.5)
>>> [str(g.expr) for g in chain_gradient(tape.call("sin", x * x), [x])]
['2*x*cos(x**2)']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from .concolic import Concolic, Tape, reachable
from .elements import SymbolicValueError

__all__ = [
    "SymbolicGradient",
    "chain_gradient",
    "from_sympy",
    "readable",
    "to_sympy",
]

SYMPY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": sp.exp,
    "log": sp.log,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "asin": sp.asin,
    "acos": sp.acos,
    "atan": sp.atan,
    "atan2": sp.atan2,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "asinh": sp.asinh,
    "acosh": sp.acosh,
    "atanh": sp.atanh,
    "erf": sp.erf,
    "erfc": sp.erfc,
    "erfi": sp.erfi,
    "erfinv": sp.erfinv,
    "gamma": sp.gamma,
    "loggamma": sp.loggamma,
    "polygamma": sp.polygamma,
    "besselj": sp.besselj,
    "bessely": sp.bessely,
    "besseli": sp.besseli,
    "besselk": sp.besselk,
    "expint1": lambda x: sp.expint(1, x),
    "expint": sp.expint,
    "ellipf": sp.elliptic_f,
    "airyai": sp.airyai,
    "airybi": sp.airybi,
    "airyaiprime": sp.airyaiprime,
    "airybiprime": sp.airybiprime,
    "Ei": sp.Ei,
    "Si": sp.Si,
    "Ci": sp.Ci,
    "Shi": sp.Shi,
    "Chi": sp.Chi,
    "lambertw": sp.LambertW,
    "zeta": sp.zeta,
    "ellipk": sp.elliptic_k,
    "ellipe": sp.elliptic_e,
    "ellipeinc": lambda phi, m: sp.elliptic_e(phi, m),
    "dilog": lambda x: sp.polylog(2, x),
    "lowergamma": sp.lowergamma,
    "uppergamma": sp.uppergamma,
    "fresnels": sp.fresnels,
    "fresnelc": sp.fresnelc,
    "hyp1f1": lambda a, b, x: sp.hyper((a,), (b,), x),
    "hyp2f1": lambda a, b, c, x: sp.hyper((a, b), (c,), x),
}

_FROM_SYMPY = {
    function: name
    for name, function in SYMPY_FUNCTIONS.items()
    if isinstance(function, type)
}

_CONSTANTS = {"pi": sp.pi, "e": sp.E, "euler_gamma": sp.EulerGamma, "nan": sp.nan}


@cache
def symbol(name: str) -> Any:
    """Return the real symbol of an input."""
    return sp.Symbol(name, real=True)


def rational(x: Fraction) -> Any:
    return sp.Rational(x.numerator, x.denominator)


def apply(op: str, args: Sequence[Any]) -> Any:
    """Return the SymPy expression of an operation."""
    if op == "add":
        return sp.Add(*args)
    if op == "sub":
        return sp.Add(args[0], -args[1])
    if op == "mul":
        return sp.Mul(*args)
    if op == "div":
        return sp.Mul(args[0], sp.Pow(args[1], -1))
    if op == "pow":
        return sp.Pow(*args)
    if op == "stop":
        return sp.Function("stop_gradient")(args[0])
    try:
        function = SYMPY_FUNCTIONS[op]
    except KeyError:
        raise SymbolicValueError(f"SymPy has no function for {op}") from None
    return function(*args)


def to_sympy(root: Concolic) -> Any:
    """Write a node out as one SymPy expression, keeping what is already written."""
    nodes = root.home.nodes
    for index in sorted(reachable([root])):
        node = nodes[index]
        if node._expr is not None:
            continue
        if node.op == "input":
            node._expr = symbol(node.payload)
        elif node.op == "const":
            node._expr = rational(node.payload)
        elif node.op == "inf":
            node._expr = sp.oo * node.payload
        elif node.op in _CONSTANTS:
            node._expr = _CONSTANTS[node.op]
        else:
            node._expr = apply(node.op, [a._expr for a in node.args])
    return root._expr


def from_sympy(expr: Any, tape: Tape, inputs: dict[Any, Concolic]) -> Concolic:
    """Record a SymPy expression on a tape; `inputs` gives the nodes of its symbols.

    |u| and sign u take the side that the digits of u choose, which becomes a condition.
    """
    memo: dict[Any, Concolic] = dict(inputs)
    stack: list[tuple[Any, bool]] = [(expr, False)]
    while stack:
        e, ready = stack.pop()
        if e in memo:
            continue
        if not ready and e.args and not e.is_Rational:
            stack.append((e, True))
            stack.extend((a, False) for a in e.args)
            continue
        memo[e] = _record(e, tape, memo)
    return memo[expr]


def _record(e: Any, tape: Tape, memo: dict[Any, Concolic]) -> Concolic:
    if e.is_Rational:
        return tape.lift(Fraction(int(e.p), int(e.q)))
    if e in (sp.oo, -sp.oo):
        return tape.lift(float("inf") if e is sp.oo else float("-inf"))
    if e is sp.zoo or e is sp.nan:
        return tape.constant("nan")
    for name, constant in _CONSTANTS.items():
        if e is constant:
            return tape.constant(name)
    args = [memo[a] for a in e.args]
    if isinstance(e, (sp.Add, sp.Mul)):
        op = "add" if isinstance(e, sp.Add) else "mul"
        result = args[0]
        for a in args[1:]:
            result = tape.operate(op, result, a)
        return result
    if isinstance(e, sp.Pow):
        if args[1].op == "const" and args[1].payload == -1:
            return tape.operate("div", tape.lift(1), args[0])
        return tape.operate("pow", args[0], args[1])
    if isinstance(e, sp.Abs):
        positive = tape.compare(args[0], ">=", tape.lift(0))
        return args[0] if positive else tape.operate("mul", tape.lift(-1), args[0])
    if isinstance(e, sp.sign):
        zero = tape.lift(0)
        if tape.compare(args[0], "==", zero):
            return zero
        return tape.lift(1 if tape.compare(args[0], ">", zero) else -1)
    if isinstance(e, sp.exp):
        return tape.call("exp", *args)
    if isinstance(e, sp.expint) and e.args[0] == 1:
        return tape.call("expint1", args[1])
    if isinstance(e, sp.elliptic_e) and len(args) == 2:
        return tape.call("ellipeinc", *args)
    if isinstance(e, sp.polylog) and e.args[0] in (1, 2):
        if e.args[0] == 2:
            return tape.call("dilog", args[1])
        return tape.operate("sub", tape.lift(0), tape.call("log", 1 - args[1]))
    if isinstance(e, sp.sec):
        return tape.operate("div", tape.lift(1), tape.call("cos", *args))
    if isinstance(e, sp.cot):
        return tape.operate("div", tape.lift(1), tape.call("tan", *args))
    found = _FROM_SYMPY.get(type(e))
    if found is None:
        raise SymbolicValueError(f"SymPy's {type(e).__name__} is not evaluated here")
    return tape.call(found, *args)


# ---------------------------------------------------------------- derivatives


@cache
def _template(op: str, count: int, constant: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the partial derivatives of one definition, by SymPy, and its symbols.

    constant : the rational values of arguments that are constants, else None; x**2 and
        x**y are differentiated differently.
    """
    symbols = sp.symbols(f"a:{count}", real=True)
    args = [
        s if c is None else rational(c) for s, c in zip(symbols, constant, strict=True)
    ]
    expr = apply(op, args)
    partials = tuple(
        sp.diff(expr, s) if c is None else sp.Integer(0)
        for s, c in zip(symbols, constant, strict=True)
    )
    return symbols, partials


def partials(node: Concolic) -> list[Concolic]:
    """Return the derivatives of one operation by its arguments, as SymPy has them."""
    if node.op in ("stop", "copy"):
        return [node.home.lift(0 if node.op == "stop" else 1)]
    fixed = tuple(
        a.payload if a.op == "const" and node.op in ("pow", "polygamma") else None
        for a in node.args
    )
    if node.args and len({a.index for a in node.args}) < len(node.args):
        fixed = tuple(None for _ in node.args)
    symbols, exprs = _template(node.op, len(node.args), fixed)
    tape = node.home
    inputs = dict(zip(symbols, node.args, strict=True))
    return [
        from_sympy(e, tape, inputs) if a.active else tape.lift(0)
        for e, a in zip(exprs, node.args, strict=True)
    ]


def differentiable(loss: Concolic) -> None:
    """Raise `SymbolicValueError` where SymPy cannot differentiate some definition."""
    seen: set[tuple[str, int]] = set()
    for index in reachable([loss]):
        node = loss.home.nodes[index]
        kind = (node.op, len(node.args))
        if node.active and node.args and kind not in seen:
            seen.add(kind)
            partials(node)


def chain_gradient(loss: Concolic, inputs: Sequence[Concolic]) -> list[Concolic]:
    """Return the gradient by SymPy's derivatives of definitions and the chain rule."""
    found = adjoints(loss)
    zero = loss.home.lift(0)
    return [found.get(i.index, zero) for i in inputs]


def chain_gradient_with_sizes(
    loss: Concolic, inputs: Sequence[Concolic]
) -> tuple[list[Concolic], list[Any]]:
    """Return the gradient, and the size of the terms that each entry is a sum of.

    Terms that cancel leave a small entry with the rounding errors of large ones.
    """
    sizes: dict[int, Any] = {}
    found = adjoints(loss, sizes)
    zero = loss.home.lift(0)
    return (
        [found.get(i.index, zero) for i in inputs],
        [sizes.get(i.index, zero.value) for i in inputs],
    )


def adjoints(
    loss: Concolic, sizes: dict[int, Any] | None = None
) -> dict[int, Concolic]:
    """Return the derivative of the loss by every recorded node, by node index."""
    tape = loss.home
    adjoint: dict[int, Concolic] = {loss.index: tape.lift(1)}
    order = sorted(reachable([loss]), reverse=True)
    if sizes is not None:
        sizes[loss.index] = tape.reals.one
    for index in order:
        node = tape.nodes[index]
        if index not in adjoint or not node.active or not node.args:
            continue
        bar = adjoint[index]
        for argument, partial in zip(node.args, partials(node), strict=True):
            if not argument.active:
                continue
            part = bar * partial
            old = adjoint.get(argument.index)
            adjoint[argument.index] = part if old is None else old + part
            if sizes is not None:
                size = sizes[index] * abs(partial.value)
                sizes[argument.index] = sizes.get(argument.index, 0) + size
    return adjoint


# ---------------------------------------------------------------- for reading


def _short_numbers(expr: Any) -> Any:
    """Print the rational that a float is as the float: 0.1, not its fraction."""
    long = [
        r
        for r in expr.atoms(sp.Rational)
        if r.q > 10_000 and Fraction(float(r)) == Fraction(int(r.p), int(r.q))
    ]
    return expr.xreplace({r: sp.Symbol(repr(float(r))) for r in long})


def readable(expr: Any) -> str:
    """Return an expression as text, floats as the user wrote them.

    >>> readable(sp.Rational(0.1) * sp.Symbol("x"))
    '0.1*x'
    """
    if isinstance(expr, sp.Symbol):
        return str(expr.name)
    return str(_short_numbers(sp.sympify(expr)))


def latex(expr: Any) -> str:
    """Return an expression as LaTeX; the entry W1[0,1] is typeset as W_{1}[0,1]."""
    expr = _short_numbers(sp.sympify(expr))
    names = {s: _latex_name(s.name) for s in expr.atoms(sp.Symbol)}
    return str(sp.latex(expr, symbol_names=names))


def _latex_name(name: str) -> str:
    head, bracket, index = name.partition("[")
    if head.replace(".", "").isdigit() or head[:1].isdigit() or head[:1] == "-":
        return name
    return str(sp.latex(sp.Symbol(head))) + bracket + index


@dataclass(repr=False)
class SymbolicGradient:
    """SymPy's own loss and gradient of the user's function, at the shapes of the call.

    value : the loss, an expression.
    gradient : expressions in the structure of the parameters; arrays are SymPy matrices
        (two dimensions) or arrays.
    names : the parameters of the function, in order, with the symbols of their entries.
    region : the comparisons in whose outcome the expressions are the function.
    """

    value: Any
    gradient: Any
    names: dict[str, Any]
    entries: dict[str, Any]
    region: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    _call: Any = field(default=None, repr=False)

    def latex(self) -> str:
        """Return loss and gradient as one aligned block of LaTeX.

        Long entries share their common parts, which are defined under it.
        """
        exprs = [self.value, *self.entries.values()]
        names = [
            "L",
            *(
                rf"\frac{{\partial L}}{{\partial {_latex_name(n)}}}"
                for n in self.entries
            ),
        ]
        where: list[tuple[Any, Any]] = []
        if sum(sp.count_ops(e) for e in exprs) > 60:
            numbers = sp.numbered_symbols("t_", real=True)
            where, exprs = sp.cse(exprs, symbols=numbers, order="none")
        lines = [rf"{n} &= {latex(e)}" for n, e in zip(names, exprs, strict=True)]
        lines += [rf"{latex(s)} &= {latex(e)}" for s, e in where]
        body = " \\\\\n".join(lines)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def lambdify(self) -> Callable[..., Any]:
        """Return a NumPy function: the parameters → (loss, gradient)."""
        symbols: list[Any] = []
        for part in self.names.values():
            symbols.extend(_flat(part))
        exprs = [self.value, *self.entries.values()]
        modules = ["scipy", "numpy"] if _has_scipy() else ["numpy"]
        compiled = sp.lambdify(symbols, exprs, modules=modules, cse=True)
        found: Callable[..., Any] = self._call(compiled)
        return found

    def __repr__(self) -> str:
        return str(self)  # a prompt shows the table

    def __str__(self) -> str:
        lines = [f"loss = {readable(self.value)}"]
        lines += [f"d/d{n} = {readable(e)}" for n, e in self.entries.items()]
        if self.region:
            lines.append("where " + ", ".join(self.region))
        lines += [f"({note})" for note in self.notes]
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def _flat(part: Any) -> list[Any]:
    if isinstance(part, np.ndarray):
        return list(part.reshape(-1))
    if isinstance(part, dict):
        return [s for p in part.values() for s in _flat(p)]
    if isinstance(part, (list, tuple)):
        return [s for p in part for s in _flat(p)]
    return [part] if isinstance(part, sp.Basic) else []


def _has_scipy() -> bool:
    from importlib.util import find_spec

    return find_spec("scipy") is not None
