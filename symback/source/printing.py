"""Printing: from a tree to text.

astor does it, with the parentheses that a reader wants around mixed ``@`` and ``*``;
what it printed is parsed again and compared with the tree, and on any difference or
exception `ast.unparse` prints instead.  This is the one file that imports astor.

>>> print_expression(ast.parse("(x @ W)*2 ** n", mode="eval").body)
'(x @ W) * 2**n'
"""

from __future__ import annotations

import ast
import functools
import math
import warnings
from typing import Any

__all__ = ["normalise", "print_expression", "print_statement", "same_tree"]


def print_expression(node: ast.expr) -> str:
    """Return an expression as one line of text.

    >>> print_expression(ast.parse("a*b@c", mode="eval").body)
    '(a * b) @ c'
    """
    return print_statement(ast.Expr(node))


def print_statement(node: ast.stmt) -> str:
    """Return a statement as text, without a newline at its end.

    >>> print_statement(ast.parse("x[1:,None]=-y**2").body[0])
    'x[1:, None] = -y**2'
    """
    tree = _Normalise().visit(node)
    assert isinstance(tree, ast.stmt)
    try:
        text = _with_astor(tree)
        if same_tree(text, ast.Module([tree], [])):
            return text
    except Exception:
        # astor is of 2019 and the trees are of today: whatever it trips over, the
        # standard library prints it.
        pass
    return ast.unparse(tree)


def same_tree(text: str, tree: ast.Module) -> bool:
    """Return whether the text is that tree, positions aside."""
    try:
        return _equal(ast.parse(text), tree)
    except (SyntaxError, ValueError):
        return False


def _equal(one: Any, other: Any) -> bool:
    """Say whether two trees are the same, positions aside."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is list:
        return len(one) == len(other) and all(map(_equal, one, other))
    if kind is str or one is None:
        return bool(one == other)
    if not isinstance(one, ast.AST):
        return repr(one) == repr(other)
    for name in one._fields:
        if not _equal(getattr(one, name, None), getattr(other, name, None)):
            return False
    return True


class _Normalise(ast.NodeTransformer):
    """Replace the constants that no printer prints truly, and add missing fields."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        made = _constant(node.value)
        same = isinstance(made, ast.Constant) and type(made.value) is type(node.value)
        return node if same else made

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = getattr(node, "keywords", [])
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.posonlyargs = getattr(node, "posonlyargs", [])
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for value in node.values:
            if not isinstance(value, ast.Constant):
                self.visit(value)
        return node


def normalise(tree: ast.AST) -> ast.AST:
    """Return the tree as a parser would have made it: no negative constants, say.

    >>> ast.dump(normalise(ast.Constant(-2)))
    'UnaryOp(op=USub(), operand=Constant(value=2))'
    """
    made: ast.AST = _Normalise().visit(tree)
    return ast.fix_missing_locations(made)


def _constant(value: Any) -> ast.expr:
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
        return ast.Constant(value)
    if isinstance(value, complex):
        imaginary = ast.Constant(complex(0.0, abs(value.imag)))
        negative = math.copysign(1.0, value.imag) < 0
        zero = value.real == 0
        if zero and math.copysign(1.0, value.real) > 0 and not negative:
            return imaginary
        if zero or not math.isfinite(value.imag) or not math.isfinite(value.real):
            # Adding the parts would lose the sign of a zero, or make NaNs.
            parts = [_constant(value.real), _constant(value.imag)]
            return ast.Call(ast.Name("complex", ast.Load()), parts, [])
        sign: ast.operator = ast.Sub() if negative else ast.Add()
        return ast.BinOp(_constant(value.real), sign, imaginary)
    if isinstance(value, float) and not math.isfinite(value):
        word = "nan" if math.isnan(value) else "inf"
        call = ast.Call(ast.Name("float", ast.Load()), [ast.Constant(word)], [])
        return ast.UnaryOp(ast.USub(), call) if value < 0 else call
    if value < 0 or (value == 0 and math.copysign(1.0, value) < 0):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _with_astor(tree: ast.stmt) -> str:
    generator = _generator_class()("    ")
    generator.visit(tree)
    return "".join(generator.result).strip("\n")


@functools.cache
def _generator_class() -> Any:
    """Return the subclass of astor's generator; astor is imported here, on first use.

    Raises ImportError where astor is not installed.
    """
    with warnings.catch_warnings():
        # astor 0.8.1 names node classes that Python has since deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from astor.code_gen import SourceGenerator, set_precedence
        from astor.op_util import Precedence

    products = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)

    class Generator(SourceGenerator):  # type: ignore[misc]  # astor has no types
        """astor's printer with clearer products, tighter powers and newer syntax."""

        def visit_BinOp(self, node: ast.BinOp) -> None:  # noqa: N802 - as ast names it
            if (
                isinstance(node.op, ast.Pow)
                and _plain(node.left)
                and _plain(node.right)
            ):
                with self.delimit(node, node.op):
                    set_precedence(Precedence.Pow + 1, node.left)
                    set_precedence(Precedence.PowRHS, node.right)
                    self.write(node.left, "**", node.right)
                return
            left = node.left
            if isinstance(left, ast.BinOp) and (
                (isinstance(node.op, ast.MatMult) and isinstance(left.op, products))
                or (isinstance(node.op, products) and isinstance(left.op, ast.MatMult))
            ):
                # `(x @ W) * m`: right without the parentheses, but misread.
                with self.delimit(node, node.op) as delimiters:
                    set_precedence(delimiters.p + 1, left, node.right)
                    symbol = {ast.MatMult: " @ ", ast.Mult: " * ", ast.Div: " / "}
                    text = symbol.get(type(node.op))
                    text = text or (" % " if isinstance(node.op, ast.Mod) else " // ")
                    self.write(left, text, node.right)
                return
            super().visit_BinOp(node)

        def visit_Lambda(self, node: ast.Lambda) -> None:  # noqa: N802 - as ast names it
            with self.delimit(node) as delimiters:
                set_precedence(delimiters.p, node.body)
                a = node.args
                some = a.posonlyargs or a.args or a.vararg or a.kwonlyargs or a.kwarg
                self.write("lambda " if some else "lambda")
                self.visit_arguments(a)
                self.write(": ", node.body)

        def visit_arguments(self, node: ast.arguments) -> None:
            if node.posonlyargs:
                self.write(ast.unparse(node))
            else:
                super().visit_arguments(node)

        def visit_JoinedStr(self, node: ast.JoinedStr) -> None:  # noqa: N802 - as ast names it
            text = _joined(node)
            quotes = '"' in text or "\\" in text
            self.write(ast.unparse(node) if quotes else f'f"{text}"')

        def visit_Constant(self, node: ast.Constant) -> None:  # noqa: N802 - as ast names it
            if isinstance(node.value, str):
                self.write(_quoted(node.value))
            else:
                super().visit_Constant(node)

    return Generator


def _plain(node: ast.expr) -> bool:
    """Return whether ``a**b`` reads well without spaces around the sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
        return isinstance(node, (ast.Name, ast.Constant))
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def _joined(node: ast.JoinedStr) -> str:
    """Return what stands between the quotes of an f-string."""
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            plain = repr(part.value)[1:-1]
            text += plain.replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            inner = print_expression(part.value)
            text += "{ " if inner.startswith("{") else "{"
            text += inner + (f"!{chr(part.conversion)}" if part.conversion > 0 else "")
            if isinstance(part.format_spec, ast.JoinedStr):
                text += ":" + _joined(part.format_spec)
            text += "}"
    return text


def _quoted(text: str) -> str:
    """Return a string literal in double quotes unless that needs more escapes."""
    plain = repr(text)
    if plain[0] == "'" and '"' not in text:
        return f'"{plain[1:-1]}"'
    return plain
