"""Whether a text is what a live function was compiled from, by compiling it again."""

from __future__ import annotations

import __future__

import ast
import functools
import types
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["compiled_alike"]

FUTURE = functools.reduce(
    int.__or__,
    (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names),
)
"""The flags of a code object that say how it was compiled."""


@functools.lru_cache(maxsize=4096)
def compiled_alike(definition: Any, code: types.CodeType) -> bool:
    """Say whether a definition's text compiles to a function's code.

    It is put into a function that has its free variables and, for ``super()``, a class.
    With ``assert`` in it the answer is yes: pytest compiles those in its own way.

    >>> function = lambda x: 2 * x
    >>> [compiled_alike(ast.parse(f"lambda x: {text}").body[0].value, function.__code__)
    ...  for text in ("2 * x", "3 * x")]
    [True, False]
    """
    if any(isinstance(n, ast.Assert) for n in ast.walk(definition)):
        return True
    statement: ast.stmt = (
        ast.Expr(definition) if isinstance(definition, ast.Lambda) else definition
    )
    if "__class__" in code.co_freevars:
        names: list[Any] = [ast.Name("object", ast.Load())]
        statement = ast.ClassDef("A", names, [], [statement], [])
        if "type_params" in ast.ClassDef._fields:
            statement.type_params = []  # type: ignore[attr-defined]  # from 3.12 on
    free = [n for n in code.co_freevars if n != "__class__"]
    head = ast.parse(f"def outer({', '.join(free)}): pass")
    outer = head.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [statement]
    ast.fix_missing_locations(head)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = code.co_flags & FUTURE
            made = compile(head, code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return True
    wanted = _essence(code)
    return any(
        _essence(one) == wanted for one in _inside(made) if one.co_name == code.co_name
    )


def _inside(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inside(constant)


def _essence(code: types.CodeType) -> tuple[Any, ...]:
    """Return what a code object does, whatever its place and the names around it."""
    constants = tuple(
        _essence(c) if isinstance(c, types.CodeType) else (type(c), repr(c))
        for c in code.co_consts
    )
    return (
        code.co_code,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
    )
