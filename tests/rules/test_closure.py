"""Every operation that a rule uses has a rule itself."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import pytest

from symback import runtime
from symback.operations import CLOSED, REGISTRY, Rule
from symback.operations.helpers import STATIC
from symback.operations.registry import OPERATORS, Text
from symback.transform.structural import STRUCTURAL
from tests.rules.evaluate import NAMESPACE

KNOWN = {
    "known_rank",
    "is_constant",
    "is_complex",
    "is_sequence",
    "isinstance",
    "tuple",
    "list",
    "range",
    "len",
    "zip",
    "enumerate",
    "slice",
    "reversed",
    "sorted",
    "str",
}
"""Names that lowering evaluates itself."""

METHODS = {"append", "index", "count", "insert", "astype", "isalpha", "split", "join"}
"""Methods of lists, strings and arrays that lowering knows."""

CONSTANTS = {"np.pi", "np.inf", "np.newaxis", "np.inexact", "math.pi", "math.inf"}


def body_of(text: Text) -> tuple[ast.AST, dict[str, Any]]:
    """Return a text's tree and the names that it sees."""
    if isinstance(text, str):
        return ast.parse(text, mode="eval"), dict(NAMESPACE)
    assert isinstance(text, FunctionType)
    source = textwrap.dedent(inspect.getsource(text))
    return ast.parse(source), text.__globals__


def operations(text: Text, seen: set[Any]) -> Iterator[str]:
    """Yield the operations of a text and of the helpers that it calls."""
    tree, names = body_of(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            yield OPERATORS[type(node.op).__name__]
        elif isinstance(node, ast.Compare):
            yield from (OPERATORS[type(op).__name__] for op in node.ops)
        elif isinstance(node, ast.Call):
            yield from called(node.func, names, seen)
        elif isinstance(node, ast.Attribute):
            full = ast.unparse(node)
            if full.startswith(("np.", "math.")) and full in CONSTANTS:
                continue


def called(func: ast.expr, names: dict[str, Any], seen: set[Any]) -> Iterator[str]:
    """Yield the operation that a call names, or those of the helper that it calls."""
    name = ast.unparse(func)
    if isinstance(func, ast.Name):
        if name in KNOWN:
            return
        target = names.get(name)
        if isinstance(target, FunctionType):
            if target not in seen | STATIC:
                seen.add(target)
                yield from operations(target, seen)
            return
        yield f"builtins.{name}"
    elif name.startswith(("np.", "math.", "scipy.", "runtime.")):
        yield name
    else:
        assert isinstance(func, ast.Attribute)
        assert func.attr in METHODS, f"the method {name}"


def texts_of(rule: Rule) -> list[Text]:
    """Return all of a rule's texts."""
    return [text for text in (*rule.texts, *rule.tie) if text is not None]


ALL = {**REGISTRY, **{f"closed: {rule.call}": rule for rule in CLOSED}}


@pytest.mark.parametrize("op", [op for op, rule in ALL.items() if rule.texts])
def test_what_a_rule_uses_has_a_rule(op: str) -> None:
    for text in texts_of(ALL[op]):
        missing = {name for name in operations(text, set()) if name not in REGISTRY}
        assert not missing


def test_runtime_functions_have_rules() -> None:
    without = {"winners"}
    # The mask of a fancy assignment is a constant of the derivative.
    for name in set(runtime.__all__) - without:
        assert f"runtime.{name}" in REGISTRY or f"runtime.{name}" in STRUCTURAL


@pytest.mark.parametrize("op", [op for op, rule in ALL.items() if rule.texts])
def test_functions_name_only_arguments_of_the_call(op: str) -> None:
    rule = ALL[op]
    outs = {out.lstrip("*") for out in rule.outs}
    allowed = {param.lstrip("*") for param in rule.params} | outs
    allowed |= {f"{out}_bar" for out in outs}
    for text in texts_of(rule):
        if isinstance(text, str):
            tree = ast.parse(text, mode="eval")
            used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            assert used <= allowed | set(NAMESPACE) | KNOWN | {"round"}
        else:
            assert callable(text)
            assert set(inspect.signature(text).parameters) <= allowed
