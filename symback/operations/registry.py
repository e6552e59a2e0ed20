"""The table of derivatives and the five words that fill it.

Each word also says that the results are new memory, unless `alias` says whose they are:
a trial of every operation, with arguments of all layouts, checks it.

A rule is data: a call written as the user writes it, and one text per argument in the
same language.  In a text stand the call's own parameter names, ``out`` (or the names
after ``->`` for several outputs), for pullbacks ``out_bar`` (``<name>_bar``), ``np``,
``math``, ``scipy``, ``runtime``, and the functions of `symback.operations.helpers`.
Multiplying by the cotangent, unbroadcasting, accumulating and masking are the
transform's, never a rule's.

>>> rule = elementwise("np.example(x)", "1 - out**2", register=False)
>>> rule.op, rule.params, rule.texts
('np.example', ('x',), ('1 - out**2',))
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from ..errors import InternalError
from ..operation import (
    FRESH,
    REQUIRED,
    Operation,
    Rule,
    Text,
    declare,
    operation,
    operations,
)

__all__ = [
    "CLOSED",
    "OPERATORS",
    "REGISTRY",
    "Rule",
    "Text",
    "closed",
    "elementwise",
    "find",
    "pullback",
    "select",
    "zero",
]

OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "MatMult": "matmul",
    "USub": "neg",
    "UAdd": "pos",
    "Invert": "invert",
    "BitAnd": "and_",
    "BitOr": "or_",
    "BitXor": "xor",
    "LShift": "lshift",
    "RShift": "rshift",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
    "Eq": "eq",
    "NotEq": "ne",
    "Not": "not_",
    "Is": "is_",
    "IsNot": "is_not",
    "In": "contains",
}
"""Python's operator classes in `ast` and the names of their operations."""


class Rules(MutableMapping[str, Rule]):
    """The rules in the records of operations, by name."""

    def __getitem__(self, name: str) -> Rule:
        """Return the rule of an operation."""
        rule = operation(name).rule
        if rule is None:
            raise KeyError(name)
        return rule

    def __setitem__(self, name: str, rule: Rule) -> None:
        """Give an operation a rule."""
        declare(name, rule=rule)

    def __delitem__(self, name: str) -> None:
        """Take the rule of an operation away."""
        declare(name, rule=None)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of symback's own operations that have a rule."""
        return (op for op in operations() if op.rule is not None and not op.home)

    def __len__(self) -> int:
        """Return the number of rules."""
        return sum(1 for _ in self)


REGISTRY = Rules()
"""All rules by the name of their operation: a look into the records."""

CLOSED: list[Rule] = []
"""Composite expressions with a derivative in closed form; `call` is the pattern."""


def find(op: str) -> Rule | None:
    """Return the rule of an operation, or None."""
    return REGISTRY.get(op)


FACTS = Operation.__annotations__.keys() - Rule.__annotations__.keys()
"""What may be said of an operation beside its rule."""

CALL = re.compile(r"([\w.]+)\((.*)\)")
"""A call and its arguments."""

FREE = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.(])(?!\s*=)")
"""The free names of a pattern: neither functions, nor modules, nor keywords."""

LITERALS = {"None": None, "True": True, "False": False, "0": 0, "1": 1, "-1": -1}
"""The defaults that most parameters have, by their text."""


def _parse(call: str) -> tuple[str, tuple[str, ...], tuple[Any, ...], tuple[str, ...]]:
    """Split ``"np.sum(x, axis=None) -> out"`` into op, parameters, defaults, outputs.

    By hand, not by `ast`: there are many hundred rules, and every import reads them.
    """
    text, _, outs = call.partition("->")
    text = text.strip()
    names = tuple(n.strip() for n in outs.split(",")) if outs.strip() else ("out",)
    params: list[str] = []
    defaults: list[Any] = []
    found = CALL.fullmatch(text)
    if found is None:
        op, params = _parse_operator(text)
        return op, tuple(params), (REQUIRED,) * len(params), names
    op, inner = found.groups()
    for piece in _pieces(inner):
        name, equals, default = piece.partition("=")
        params.append(name)
        if not equals:
            defaults.append(() if name.startswith("*") else REQUIRED)
        elif default in LITERALS:
            defaults.append(LITERALS[default])
        else:
            defaults.append(ast.literal_eval(default))
    if "." not in op and op not in ("setitem", "dim"):
        op = f"builtins.{op}"
    return op, tuple(params), tuple(defaults), names


def _pieces(text: str) -> list[str]:
    """Split arguments at their commas, not at those inside brackets.

    >>> _pieces("a, axes=(0, 1), k=0")
    ['a', 'axes=(0, 1)', 'k=0']
    """
    pieces: list[str] = []
    for piece in text.split(","):
        if pieces and pieces[-1].count("(") > pieces[-1].count(")"):
            pieces[-1] += "," + piece
        else:
            pieces.append(piece.strip())
    return [piece for piece in pieces if piece]


def _parse_operator(text: str) -> tuple[str, list[str]]:
    """Split ``"x + y"`` into the operation and its operands."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.BinOp):
        kind: Any = node.op
        operands: list[ast.expr] = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        kind, operands = node.op, [node.operand]
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind, operands = node.ops[0], [node.left, node.comparators[0]]
    else:
        raise InternalError(f"a rule for `{text}` is not a call or an operator")
    return OPERATORS[type(kind).__name__], [ast.unparse(o) for o in operands]


def _make(
    kind: str, call: str, texts: tuple[Text, ...], register: bool, **fields: Any
) -> Rule:
    op, params, defaults, outs = _parse(call)
    if len(texts) > len(params):
        raise InternalError(f"the rule for `{call}` has more texts than parameters")
    texts = texts + (None,) * (len(params) - len(texts))
    facts = {fact: fields.pop(fact) for fact in FACTS & fields.keys()}
    rule = Rule(op, kind, params, texts, defaults, outs, call=call, **fields)
    if register:
        if op in REGISTRY:
            raise InternalError(f"`{op}` has two rules")
        known = operation(op)
        facts.setdefault("alias", known.alias if known.declared else FRESH)
        declare(op, rule=rule, **facts)
    return rule


def elementwise(
    call: str, *partials: Text, register: bool = True, **fields: Any
) -> Rule:
    """State ∂out/∂argument for each argument of an elementwise operation."""
    return _make("elementwise", call, partials, register, **fields)


def select(call: str, *masks: Text, register: bool = True, **fields: Any) -> Rule:
    """State for each argument the mask of entries that the output takes from it."""
    return _make("select", call, masks, register, **fields)


def pullback(call: str, *texts: Text, register: bool = True, **fields: Any) -> Rule:
    """State the map out_bar -> argument_bar for each argument of an operation.

    A text may be a function; it is called with the cotangents, the outputs and the
    call's arguments by name, as many of them as its own parameters name.
    """
    return _make("pullback", call, texts, register, **fields)


def zero(*calls: str, **facts: Any) -> None:
    """State that the derivative is mathematically zero for each of these calls."""
    for call in calls:
        _make("zero", call, (), True, **facts)


def closed(pattern: str, *texts: Text, pullback: bool = False, **fields: Any) -> Rule:
    """State the derivative of a composite expression by its free names, in order.

    The value is still computed as the user wrote it.  `pullback` says that the texts
    map ``out_bar``; otherwise they are partials.
    """
    found = FREE.findall(pattern)
    params = tuple(dict.fromkeys(n for n in found if n not in LITERALS))
    texts = texts + (None,) * (len(params) - len(texts))
    kind = "pullback" if pullback else "elementwise"
    rule = Rule(
        "closed", kind, params, texts, (REQUIRED,) * len(params), call=pattern, **fields
    )
    CLOSED.append(rule)
    return rule
