"""Runs a graph node by node, functionally: nothing is ever changed in place.

It shares nothing with the printer, so that the two can be compared.
"""

from __future__ import annotations

import builtins
import copy
import math
import operator
from typing import Any

import numpy as np

from symback.graph import UNDEFINED, Block, Graph, Node, Value, map_leaves

__all__ = ["run"]


def run(graph: Graph, *args: Any, **kwargs: Any) -> Any:
    """Return what a graph returns for arguments, which are left alone."""
    given = dict(zip((p.name for p in graph.params), args, strict=False)) | kwargs
    env = {p.value: copy.deepcopy(given[p.name]) for p in graph.params}
    return _block(graph.block, env)[0]


def _block(block: Block, env: dict[Value, Any]) -> list[Any]:
    for node in block.nodes:
        _node(node, env)
    return [_arg(r, env) for r in block.results]


def _arg(arg: Any, env: dict[Value, Any]) -> Any:
    return map_leaves(lambda leaf: env[leaf] if isinstance(leaf, Value) else leaf, arg)


def _node(node: Node, env: dict[Value, Any]) -> None:
    if node.op == "if":
        (test,) = _args(node, env)
        results = _block(node.blocks[0 if test else 1], env)
    elif node.op == "for":
        results = _for(node, env)
    elif node.op == "while":
        results = _while(node, env)
    else:
        made = _call(node, env)
        results = [made] if len(node.outs) == 1 else list(made or ())
    env.update(zip(node.outs, results, strict=True))


def _args(node: Node, env: dict[Value, Any]) -> list[Any]:
    args = [_arg(a, env) for a in node.args]
    for leaf in args:
        assert leaf is not UNDEFINED, f"{node.op} reads an undefined value"
    return args


def _for(node: Node, env: dict[Value, Any]) -> list[Any]:
    (start, stop, step), elements, inits = (_arg(a, env) for a in node.args)
    indices = list(range(start, stop, step))
    assert all(len(e) == len(indices) for e in elements) or not node.kwargs.get(
        "reverse"
    )
    order = range(len(indices))
    if node.kwargs.get("reverse"):
        order = order[::-1]
    body = node.blocks[0]
    carried = list(inits)
    lists: list[list[Any]] = [[] for _ in node.outs[len(carried) :]]
    for k in order:
        given = [indices[k], *(e[k] for e in elements), *carried]
        if _iterate(node, body, given, carried, lists, env):
            break
    return carried + lists


def _while(node: Node, env: dict[Value, Any]) -> list[Any]:
    condition, body = node.blocks
    carried = list(_arg(node.args[0], env))
    lists: list[list[Any]] = [[] for _ in node.outs[len(carried) :]]
    while True:
        env.update(zip(condition.params, carried, strict=True))
        (test,) = _block(condition, env)
        if not test or _iterate(node, body, list(carried), carried, lists, env):
            return carried + lists


def _iterate(
    node: Node,
    body: Block,
    given: list[Any],
    carried: list[Any],
    lists: list[list[Any]],
    env: dict[Value, Any],
) -> bool:
    env.update(zip(body.params, given, strict=True))
    results = _block(body, env)
    stop = bool(results.pop(0)) if node.kwargs.get("breaks") else False
    carried[:] = results[: len(carried)]
    for collected, item in zip(lists, results[len(carried) :], strict=True):
        collected.append(item)
    return stop


def _call(node: Node, env: dict[Value, Any]) -> Any:
    op, args = node.op, _args(node, env)
    kwargs = _arg(dict(node.kwargs), env)
    if op in SPECIAL:
        return SPECIAL[op](*args, **kwargs)
    if op.startswith("builtins."):
        return getattr(builtins, op[9:])(*args, **kwargs)
    if "." in op:
        target: Any = {"np": np, "math": math}[op.split(".")[0]]
        for part in op.split(".")[1:]:
            target = getattr(target, part)
        return target(*args, **kwargs)
    return getattr(operator, op)(*args)


def _setitem(x: Any, index: Any, v: Any) -> Any:
    x = list(x) if isinstance(x, list) else x.copy()
    x[index] = v
    return x


def _index_add(x: Any, index: Any, v: Any) -> Any:
    if isinstance(x, list):
        return _setitem(x, index, x[index] + v)
    x = x.copy()
    np.add.at(x, index, v)
    return x


def _assert(condition: Any, message: Any) -> None:
    assert condition, message


def _raise(exception: Any) -> None:
    raise exception


SPECIAL: dict[str, Any] = {
    "setitem": _setitem,
    "index_add": _index_add,
    "dim": lambda x, k: x.shape[k],
    "shape": lambda x: x.shape,
    "list": lambda *items: list(items),
    "list_append": lambda items, v: [*items, v],
    "list_pop": lambda items: (items[:-1], items[-1]),
    "list_zeros": lambda items: [np.zeros_like(v) for v in items],
    "list_reverse": lambda items: items[::-1],
    "struct": lambda like, fields: type(like)(**fields),
    "call": lambda f, args=(), kwargs=None: f(*args, **(kwargs or {})),
    "method": lambda o, n, args=(), kwargs=None: getattr(o, n)(*args, **(kwargs or {})),
    "attr": getattr,
    "assert": _assert,
    "raise": _raise,
    "stop_gradient": lambda x: x,
}
