"""Whether a text is what a live function was compiled from, by compiling it again."""

from __future__ import annotations
import __future__

import ast
import builtins
import dis
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

BETWEEN = frozenset({"PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG", "NOP"})
"""Instructions that prepare others."""


@functools.lru_cache(maxsize=4096)
def compiled_alike(definition: Any, code: types.CodeType) -> bool:
    """Say whether a definition's text compiles to a function's code.

    It is put into a class, in a function that has its free variables.
    With ``assert`` in it the answer is yes: pytest compiles those in its own way; so it
    is with ``super``, which depends on the class.

    >>> function = lambda x: 2 * x
    >>> [compiled_alike(ast.parse(f"lambda x: {text}").body[0].value, function.__code__)
    ...  for text in ("2 * x", "3 * x")]
    [True, False]
    """
    strange = any(
        isinstance(n, ast.Assert | ast.ClassDef) for n in ast.walk(definition)
    )
    if strange or "super" in code.co_names:
        return True
    statement: ast.stmt = (
        ast.Expr(definition) if isinstance(definition, ast.Lambda) else definition
    )
    name = getattr(definition, "name", "")
    if name not in code.co_freevars:
        # In a class: what the definition itself calls its name is a global.
        # One of underscores alone leaves private names as they are.
        statement = ast.ClassDef("_", [], [], [statement], [])
        if "type_params" in ast.ClassDef._fields:
            statement.type_params = []  # type: ignore[attr-defined]  # from 3.12 on
    free = [n for n in code.co_freevars if n != "__class__"]
    head = ast.parse(f"def outer({', '.join(free)}): pass")
    outer = head.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [statement]
    if not all(hasattr(builtins, n) for n in code.co_names):
        # How an attribute is called depends on whether its object was imported.
        names = [ast.alias(n) for n in code.co_names if not hasattr(builtins, n)]
        head.body.append(ast.Import(names))
    ast.fix_missing_locations(head)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = code.co_flags & FUTURE
            made = compile(head, code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return True
    alike = [one for one in _inside(made) if one.co_name == code.co_name]
    if any(_exactly(one) == _exactly(code) for one in alike):
        return True
    wanted = _essence(code)
    return any(_essence(one) == wanted for one in alike)


def _inside(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inside(constant)


def _exactly(code: types.CodeType) -> tuple[Any, ...]:
    """Return all that a code object does."""
    constants = [
        _exactly(c) if isinstance(c, types.CodeType) else _constant(c)
        for c in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _essence(code: types.CodeType) -> tuple[Any, ...]:
    """Return what a code object does, whatever its place and the names around it.

    How a method is called depends on what the module imports, and so do the distances
    of jumps: neither counts.
    """
    steps = []
    for step in dis.get_instructions(code):
        name = "LOAD_ATTR" if step.opname == "LOAD_METHOD" else step.opname
        if name in BETWEEN:
            continue
        what = step.argval
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            what = None
        elif isinstance(what, types.CodeType):
            what = _essence(what)
        else:
            what = _constant(what)
        steps.append((name, what))
    return (tuple(steps), code.co_varnames[: code.co_argcount], code.co_freevars)


def _constant(value: Any) -> Any:
    """Return a constant as something that equal constants of one type share."""
    if isinstance(value, frozenset):
        return frozenset, frozenset(map(_constant, value))
    if isinstance(value, tuple):
        return tuple, tuple(map(_constant, value))
    return type(value), repr(value)
