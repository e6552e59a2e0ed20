"""Operations of the user's own: functions of any module that were given a rule.

They are looked up before a function's source is read, so the rule is used although the
source could be differentiated.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import linecache
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import own, runtime
from ..errors import SymbackError
from ..operation import FRESH, REQUIRED, UNKNOWN, Operation, Rule, Text, declare
from . import helpers

__all__ = [
    "Signature",
    "add",
    "add_pair",
    "forget",
    "free_names",
    "own_operation",
    "signature_of",
    "title_of",
]

_OWN: dict[int, tuple[Any, Operation]] = {}
"""By identity: the function, kept alive, and its record."""

_numbers = itertools.count(1)


def own_operation(function: Any) -> Operation | None:
    """Return the record of a function that was given a rule, or None."""
    found = _OWN.get(id(function))
    if found is None and hasattr(function, "__wrapped__"):
        found = _OWN.get(id(function.__wrapped__))
    return None if found is None else found[1]


@dataclass(frozen=True)
class Signature:
    """The parameters of a function, as a rule names them."""

    params: tuple[str, ...]
    defaults: tuple[Any, ...]


def signature_of(function: Callable[..., Any], call: str | None = None) -> Signature:
    """Read a function's parameters from itself, or from a call such as ``"f(x, y)"``.

    Raises:
        SymbackError: it has no signature, or takes any number of arguments.
    """
    if call is not None:
        tree = ast.parse(call, mode="eval").body
        if not isinstance(tree, ast.Call) or tree.keywords:
            raise SymbackError(f"`{call}` is not a call such as `f(x, y)`")
        names = tuple(ast.unparse(a) for a in tree.args)
        return Signature(names, (REQUIRED,) * len(names))
    if isinstance(function, np.ufunc):
        names = ("x",) if function.nin == 1 else tuple("xyzuvw"[: function.nin])
        return Signature(names, (REQUIRED,) * len(names))
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise SymbackError(
            f"`{title_of(function)}` has no signature that can be read",
            None,
            'name its parameters: `call="f(x, y)"`.',
        ) from None
    for p in found:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise SymbackError(
                f"`{title_of(function)}` takes any number of arguments, `{p}`",
                None,
                'name those that the rule is for: `call="f(x, y)"`.',
            )
    return Signature(
        tuple(p.name for p in found),
        tuple(REQUIRED if p.default is p.empty else p.default for p in found),
    )


def title_of(function: Any) -> str:
    """Return a function's name."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


def home_of(function: Any) -> tuple[str, str]:
    """Return the module that gives a function, and its name there.

    One that no module gives by its name is put into `symback.own`.
    """
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        title = title_of(function)
        for library in ("numpy", "scipy.special"):
            if getattr(sys.modules.get(library), title, None) is function:
                return library, title
    name = getattr(function, "__qualname__", title_of(function))
    given = getattr(sys.modules.get(module), name, None)
    if module not in ("", "__main__") and given is not None:
        if given is function or getattr(given, "__wrapped__", None) is function:
            return module, name
    base = title_of(function)
    base = base if base.isidentifier() else "function"
    name = base
    while getattr(own, name, function) is not function:
        name = f"{base}_{next(_numbers)}"
    setattr(own, name, function)
    return own.__name__, name


def text_function(
    text: str, names: tuple[str, ...], title: str, namespace: Mapping[str, Any]
) -> Callable[..., Any]:
    """Make a function of a rule's text: it can be lowered, run and shown in tracebacks.

    names : those of its names that are its parameters.  namespace : all others.
    """
    source = f"def {title}({', '.join(names)}):\n    return {text}\n"
    filename = f"<symback rule {title} {next(_numbers)}>"
    scope = dict(namespace)
    exec(compile(source, filename, "exec"), scope)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    made: Callable[..., Any] = scope[title]
    return made


def namespace_of(function: Any) -> dict[str, Any]:
    """Return the names that a rule's text may use beside the parameters."""
    common: dict[str, Any] = {"np": np, "math": math, "runtime": runtime}
    common.update({name: getattr(helpers, name) for name in helpers.__all__})
    scipy = sys.modules.get("scipy")
    if scipy is not None:
        common["scipy"] = scipy
    plain = inspect.unwrap(function) if callable(function) else function
    return {**common, **getattr(plain, "__globals__", {})}


def free_names(text: str) -> list[str]:
    """Return the names that a text reads, in order.

    >>> free_names("x * np.exp(-y) + x")
    ['x', 'np', 'y']

    Raises:
        SyntaxError: the text is no expression.
    """
    tree = ast.parse(text, mode="eval")
    lambdas = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]
    bound = {arg.arg for one in lambdas for arg in one.args.args}
    stored = {
        n.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    found = sorted(
        (n for n in ast.walk(tree) if isinstance(n, ast.Name)),
        key=lambda n: (n.lineno, n.col_offset),
    )
    return list(dict.fromkeys(n.id for n in found if n.id not in bound | stored))


def compiled(function: Any, text: Text, allowed: tuple[str, ...], what: str) -> Text:
    """Return a rule's text as a function of those names in it that the rule gives.

    Raises:
        SymbackError: the text is no expression, or uses a name that nothing gives.
    """
    if text is None:
        return None
    title = title_of(function)
    if callable(text):
        wanted = inspect.signature(text).parameters
        unknown = [name for name in wanted if name not in allowed]
    else:
        try:
            used = free_names(text)
        except SyntaxError as problem:
            raise SymbackError(
                f"the rule of `{title}` by `{what}` is no expression: {text!r}",
                None,
                f"{problem.msg}; write it as you would in Python.",
            ) from None
        namespace = namespace_of(function)
        known = {*allowed, *namespace, *dir(builtins)}
        unknown = [name for name in used if name not in known]
    if unknown:
        raise SymbackError(
            f"the rule of `{title}` by `{what}` uses `{unknown[0]}`, which is not "
            "defined",
            None,
            f"its names are {', '.join(allowed)}, np, math, scipy and those of the "
            "function's module.",
        )
    if callable(text):
        return text
    names = tuple(name for name in allowed if name in used)
    plain = title if title.isidentifier() else "function"
    return text_function(text, names, f"{plain}_{what}_rule", namespace)


def add(
    function: Any,
    signature: Signature,
    kind: str,
    texts: tuple[Text, ...],
    outs: tuple[str, ...] = ("out",),
    like: Any = None,
    **fields: Any,
) -> Operation:
    """Give a function a record with a rule, and return it.

    like : a parameter whose type the result has, or a number.  fields : of the rule.
    """
    module, name = home_of(function)
    op = f"{module}.{name}"
    params = signature.params
    lead = outs if kind != "pullback" else (*outs, *(f"{o}_bar" for o in outs))
    allowed = (*params, *lead)
    made = tuple(
        compiled(function, text, allowed, param)
        for param, text in zip(params, texts, strict=False)
    )
    made += (None,) * (len(params) - len(made))
    call = f"{name}({', '.join(params)})"
    rule = Rule(op, kind, params, made, signature.defaults, outs, call=call, **fields)
    record = declare(
        op,
        rule=rule,
        alias=FRESH if kind == "elementwise" else UNKNOWN,
        function=function,
        home=module,
        like=like,
    )
    _OWN[id(function)] = (function, record)
    return record


def add_pair(
    function: Any,
    signature: Signature,
    forward: Callable[..., Any],
    pullback: Callable[..., Any],
) -> Operation:
    """Give a function the pair of a forward and a pullback, and return its record.

    The operation is the forward, whose second result are the residuals.
    """
    module, name = home_of(function)
    params = signature.params
    scope = {"pullback": pullback}
    names = ("residuals", "out_bar")
    texts = tuple(
        text_function(f"pullback(residuals, out_bar)[{k}]", names, f"{p}_bar", scope)
        for k, p in enumerate(params)
    )
    op = f"{module}.{name}.forward"
    outs = ("out", "residuals")
    call = f"{name}({', '.join(params)})"
    rule = Rule(op, "pullback", params, texts, signature.defaults, outs, call=call)
    record = declare(
        op, rule=rule, alias=UNKNOWN, function=forward, home=module, keeps=True
    )
    _OWN[id(function)] = (function, record)
    back = declare(f"{module}.{name}.pullback", function=pullback, home=module)
    _OWN[id(pullback)] = (pullback, back)
    return record


def forget(function: Any) -> None:
    """Take the record of a function away."""
    _OWN.pop(id(function), None)
