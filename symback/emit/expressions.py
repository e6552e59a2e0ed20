"""A node of the graph as a Python expression."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import InternalError
from ..graph import UNDEFINED, Arg, Node, Value
from ..operation import operation
from ..passes.kinds import Kinds
from .inline import Plan, boolean
from .scalars import scalar_call
from .tree import Names

__all__ = ["BINARY", "Expressions"]

BINARY: dict[str, Callable[[], ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "matmul": ast.MatMult,
    "and_": ast.BitAnd,
    "or_": ast.BitOr,
    "xor": ast.BitXor,
    "lshift": ast.LShift,
    "rshift": ast.RShift,
}
UNARY: dict[str, Callable[[], ast.unaryop]] = {
    "neg": ast.USub,
    "pos": ast.UAdd,
    "invert": ast.Invert,
    "not_": ast.Not,
}
COMPARE: dict[str, Callable[[], ast.cmpop]] = {
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "is_": ast.Is,
    "is_not": ast.IsNot,
}

CONSTANTS = frozenset("math.pi math.e math.tau np.pi np.e np.euler_gamma".split())


class Expressions:
    """Builds trees; `variable` gives the number of the variable that holds a value."""

    def __init__(
        self,
        names: Names,
        plan: Plan,
        kinds: Kinds,
        variable: Callable[[Value], int],
        scalars: str,
    ) -> None:
        self.names = names
        self.plan = plan
        self.kinds = kinds
        self.variable = variable
        self.scalars = scalars

    def arg(self, arg: Arg) -> ast.expr:
        """Return the expression for an argument: a value, a constant or a nest."""
        if isinstance(arg, Value):
            arg = self.plan.resolve(arg)
        if isinstance(arg, Value):
            if arg in self.plan.inlined:
                return self.node(self.plan.nodes[arg])
            return self.names.variable(self.variable(arg))
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            raise InternalError(f"a NamedTuple among arguments: {arg!r}")
        if isinstance(arg, tuple):
            return ast.Tuple([self.arg(a) for a in arg], ast.Load())
        if isinstance(arg, list):
            return ast.List([self.arg(a) for a in arg], ast.Load())
        if isinstance(arg, dict):
            keys = [self.constant(k) for k in arg]
            return ast.Dict([*keys], [self.arg(v) for v in arg.values()])
        if isinstance(arg, slice):
            parts = [self.arg(a) for a in (arg.start, arg.stop, arg.step)]
            if arg.step is None:
                parts = parts[1:2] if arg.start is None else parts[:2]
            return ast.Call(self.names.builtin("slice"), parts, [])
        return self.constant(arg)

    def node(self, node: Node) -> ast.expr:
        """Return the expression for a node with one output."""
        if self.scalars == "math":
            made = scalar_call(node, self)
            if made is not None:
                return made
        return self._node(node)

    def _node(self, node: Node) -> ast.expr:
        op, args = node.op, node.args
        if op in BINARY:
            left, right = map(self.arg, args)
            return ast.BinOp(left, BINARY[op](), right)
        if op in UNARY:
            return ast.UnaryOp(UNARY[op](), self.arg(args[0]))
        if op in COMPARE:
            left, right = map(self.arg, args)
            return ast.Compare(left, [COMPARE[op]()], [right])
        if op == "contains":
            container, item = map(self.arg, args)
            return ast.Compare(item, [ast.In()], [container])
        if op == "getitem":
            return self.subscript(self.arg(args[0]), self.index(*args[:2]))
        if op == "if":
            return self._choice(node)
        if (
            op == "np.transpose"
            and len(args) == 1
            and not node.kwargs
            and not self.kinds.is_scalar(args[0])
        ):
            return ast.Attribute(self.arg(args[0]), "T", ast.Load())
        if op in SPECIAL:
            return SPECIAL[op](self, node)
        if op.startswith("builtins."):
            return self.call(self.names.builtin(op[9:]), args, node.kwargs)
        if op in CONSTANTS and not args:
            return self.dotted(op)
        if "." in op:
            return self.call(self.dotted(op), args, node.kwargs)
        raise InternalError(f"there is no text for `{op}`")

    def call(
        self, function: ast.expr, args: Iterable[Arg], kwargs: Mapping[str, Arg]
    ) -> ast.expr:
        """Return a call."""
        named = [ast.keyword(key, self.arg(value)) for key, value in kwargs.items()]
        return ast.Call(function, [self.arg(a) for a in args], named)

    def dotted(self, name: str) -> ast.expr:
        """Return ``np.linalg.inv`` as a tree and note that it must be imported."""
        root, _, rest = name.partition(".")
        home = operation(name).home
        if home:
            tree: ast.expr = self.names.outer(home)
            for part in name[len(home) + 1 :].split("."):
                tree = ast.Attribute(tree, part, ast.Load())
            return tree
        if root == "runtime":
            return self.names.outer(name)
        if root in ("np", "math"):
            tree = self.names.outer(root)
        else:
            module, _, rest = name.rpartition(".")
            if root == "scipy" and module.count(".") > 1:
                # A method of an object in a module: scipy.stats.norm.cdf.
                module = ".".join(name.split(".")[:2])
                rest = name[len(module) + 1 :]
            tree = self.names.outer(module)
        for part in rest.split("."):
            tree = ast.Attribute(tree, part, ast.Load())
        return tree

    def index(self, base: Arg, index: Arg) -> Arg:
        """Return an index without a tuple around one item, where that is the same."""
        if isinstance(index, tuple) and len(index) == 1 and self.kinds.is_array(base):
            (item,) = index
            return item if self.kinds.is_basic(item) or item is None else index
        return index

    def subscript(
        self, base: ast.expr, index: Arg, context: ast.expr_context | None = None
    ) -> ast.Subscript:
        """Return ``base[index]``."""
        return ast.Subscript(base, self._index(index), context or ast.Load())

    def _index(self, index: Arg) -> ast.expr:
        index = self.plan.resolve(index)
        if isinstance(index, slice):
            parts = [
                None if part is None else self.arg(part)
                for part in (index.start, index.stop, index.step)
            ]
            return ast.Slice(*parts)
        if isinstance(index, tuple) and any(isinstance(i, slice) for i in index):
            return ast.Tuple([self._index(i) for i in index], ast.Load())
        return self.arg(index)

    def _choice(self, node: Node) -> ast.expr:
        results = [self.arg(b.results[0]) for b in node.blocks]
        test = self.arg(node.args[0])
        word = boolean(node)
        if word == "and":
            return ast.BoolOp(ast.And(), [test, results[0]])
        if word == "or":
            return ast.BoolOp(ast.Or(), [test, results[1]])
        return ast.IfExp(test, *results)

    def constant(self, value: Any) -> ast.expr:
        """Return a constant that Python or NumPy has a text for.

        Raises InternalError for an object without one: it must be a parameter.
        """
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            return self._numpy_scalar(value)
        if isinstance(value, float) and not math.isfinite(value):
            word = "nan" if math.isnan(value) else "inf"
            tree: ast.expr = ast.Attribute(
                self.names.outer("np|math"), word, ast.Load()
            )
            return ast.UnaryOp(ast.USub(), tree) if value < 0 else tree
        if value is UNDEFINED:
            return ast.Constant(None)
        if value is None or value is Ellipsis:
            return ast.Constant(value)
        if isinstance(value, (bool, int, float, complex, str, bytes)):
            return ast.Constant(value)
        if isinstance(value, (tuple, list, dict, slice)):
            return self.arg(value)
        if isinstance(value, range):
            parts = (value.start, value.stop, value.step)
            return self.call(self.names.builtin("range"), parts, {})
        if isinstance(value, np.ndarray):
            dtype = {} if value.dtype == np.array(value.tolist()).dtype else value.dtype
            given = {"dtype": dtype} if dtype != {} else {}
            return self.call(self.dotted("np.array"), (value.tolist(),), given)
        if isinstance(value, np.dtype):
            name = value.name
            if getattr(np, name, None) is value.type:
                return self.dotted(f"np.{name}")
            return self.call(self.dotted("np.dtype"), (value.str,), {})
        return self._object(value)

    def _numpy_scalar(self, value: np.generic) -> ast.expr:
        plain = value.item()
        if isinstance(value, (np.float64, np.bool_, np.complex128, np.str_)):
            return self.constant(plain)
        return self.call(self.dotted(f"np.{value.dtype.name}"), (plain,), {})

    def _object(self, value: Any) -> ast.expr:
        name = getattr(value, "__name__", "")
        if name and getattr(builtins, name, None) is value:
            return self.names.builtin(name)
        for module, root in ((np, "np"), (math, "math")):
            if name and getattr(module, name, None) is value:
                return self.dotted(f"{root}.{name}")
        if value is type(None):
            return self.call(self.names.builtin("type"), (None,), {})
        raise InternalError(f"there is no text for the constant {value!r}")


def _has_shape(self: Expressions, arg: Arg) -> bool:
    """Return whether a value is an array, and no number of Python's without a shape."""
    if isinstance(arg, Value) and arg.type is not None:
        return arg.type.kind in ("array", "numpy")
    return self.kinds.is_array(arg)


def _dim(self: Expressions, node: Node) -> ast.expr:
    if not _has_shape(self, node.args[0]):
        shape = self.call(self.dotted("np.shape"), node.args[:1], {})
        return self.subscript(shape, node.args[1])
    shape = ast.Attribute(self.arg(node.args[0]), "shape", ast.Load())
    return self.subscript(shape, node.args[1])


def _shape(self: Expressions, node: Node) -> ast.expr:
    if not _has_shape(self, node.args[0]):
        return self.call(self.dotted("np.shape"), node.args, {})
    return ast.Attribute(self.arg(node.args[0]), "shape", ast.Load())


def _list(self: Expressions, node: Node) -> ast.expr:
    return ast.List([self.arg(a) for a in node.args], ast.Load())


def _list_zeros(self: Expressions, node: Node) -> ast.expr:
    # A name in a comprehension has a scope of its own: it collides with nothing.
    zeros = ast.Call(self.dotted("np.zeros_like"), [ast.Name("v", ast.Load())], [])
    walk = ast.comprehension(
        ast.Name("v", ast.Store()), self.arg(node.args[0]), [], is_async=0
    )
    return ast.ListComp(zeros, [walk])


def _list_reverse(self: Expressions, node: Node) -> ast.expr:
    return self.subscript(self.arg(node.args[0]), slice(None, None, -1))


def _struct(self: Expressions, node: Node) -> ast.expr:
    like, fields = node.args
    kind: ast.expr
    if isinstance(like, Value):
        kind = ast.Call(self.names.builtin("type"), [self.arg(like)], [])
    else:
        kind = self.constant(like)
    return self.call(kind, (), fields)


def _call(self: Expressions, node: Node) -> ast.expr:
    function, *rest = node.args
    args, kwargs = (*rest, (), {})[:2] if len(rest) < 2 else rest
    return self.call(self.arg(function), args, kwargs)


def _method(self: Expressions, node: Node) -> ast.expr:
    base, name, *rest = node.args
    args, kwargs = (*rest, (), {})[:2] if len(rest) < 2 else rest
    return self.call(ast.Attribute(self.arg(base), name, ast.Load()), args, kwargs)


def _attr(self: Expressions, node: Node) -> ast.expr:
    return ast.Attribute(self.arg(node.args[0]), node.args[1], ast.Load())


def _fstring(self: Expressions, node: Node) -> ast.expr:
    return ast.JoinedStr([_part(self, part) for part in node.args])


def _part(self: Expressions, part: Arg) -> ast.expr:
    if isinstance(part, str):
        return ast.Constant(part)
    value, conversion, form = part
    if isinstance(conversion, str):
        conversion = ord(conversion)
    spec = None
    if isinstance(form, str):
        spec = ast.JoinedStr([ast.Constant(form)])
    elif form is not None:
        parts = form if isinstance(form, (tuple, list)) else (form,)
        spec = ast.JoinedStr([_part(self, p) for p in parts])
    code = -1 if conversion is None else conversion
    return ast.FormattedValue(self.arg(value), code, spec)


def _same(self: Expressions, node: Node) -> ast.expr:
    return self.arg(node.args[0])


def _cast(self: Expressions, node: Node) -> ast.expr:
    function = ast.Attribute(self.arg(node.args[0]), "astype", ast.Load())
    return ast.Call(function, [self.arg(node.args[1])], [])


def _of_array(self: Expressions, node: Node) -> ast.expr:
    function = ast.Attribute(self.arg(node.args[0]), node.op, ast.Load())
    return ast.Call(function, [], [])


SPECIAL: dict[str, Callable[[Expressions, Node], ast.expr]] = {
    "dim": _dim,
    "shape": _shape,
    "list": _list,
    "list_zeros": _list_zeros,
    "list_reverse": _list_reverse,
    "struct": _struct,
    "call": _call,
    "method": _method,
    "attr": _attr,
    "fstring": _fstring,
    "stop_gradient": _same,
    "unpack": _same,
    "astype": _cast,
    "item": _of_array,
    "tolist": _of_array,
}
