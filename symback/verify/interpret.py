"""Runs a graph node by node, and notes what every value was.

Nothing is changed in place, so a value that was noted stays as it was.  Any node can be
run again with other inputs: what a local derivative is measured on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InternalError
from ..graph import Arg, Block, Graph, Node, Value, map_leaves
from ..infer import resolve

__all__ = ["Env", "run_graph", "run_node"]

Env = dict[Value, Any]
"""What each value was, the last time that it was computed."""


def run_graph(graph: Graph, arguments: Mapping[str, Any]) -> Env:
    """Run a graph for arguments by the names of its parameters; return all its values.

    A parameter without an argument is one that nothing reads.

    >>> from symback.graph import Param
    >>> x, y = Value("x"), Value("y")
    >>> node = Node("mul", (x, 3.0), outs=(y,))
    >>> graph = Graph("f", (Param("x", x),), Block((), (node,), (y,)))
    >>> run_graph(graph, {"x": 2.0})[y]
    6.0
    """
    given = (p for p in graph.params if p.name in arguments)
    env: Env = {p.value: arguments[p.name] for p in given}
    run_block(graph.block, env)
    return env


def run_block(block: Block, env: Env) -> list[Any]:
    """Run a block's nodes, noting their outputs in env; return its results."""
    for node in block.nodes:
        env.update(zip(node.outs, run_node(node, env), strict=True))
    return [read(r, env) for r in block.results]


def read(arg: Arg, env: Mapping[Value, Any]) -> Any:
    """Return an argument with its values replaced by what they were."""
    return map_leaves(lambda leaf: env[leaf] if isinstance(leaf, Value) else leaf, arg)


def run_node(node: Node, env: Env) -> list[Any]:
    """Return what a node's outputs are, given what its inputs are.

    Values inside its blocks are noted in env; its outputs are not.
    """
    if node.op == "if":
        taken = node.blocks[0 if read(node.args[0], env) else 1]
        return run_block(taken, env)
    if node.op == "for":
        return _run_for(node, env)
    if node.op == "while":
        return _run_while(node, env)
    args, kwargs = read(node.args, env), read(dict(node.kwargs), env)
    made = _call(node.op, args, kwargs)
    if len(node.outs) == 1:
        return [made]
    return list(made) if node.outs else []


def _call(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if op == "list_pop":
        return args[0][:-1], args[0][-1]
    if op == "raise":
        raise args[0]
    if op == "assert":
        assert args[0], args[1] if len(args) > 1 else ""
        return None
    if op == "builtins.print":
        return None
    function = resolve(op)
    if not callable(function):
        return function
    return function(*args, **kwargs)


def _run_for(node: Node, env: Env) -> list[Any]:
    bounds, elements, inits = (read(a, env) for a in node.args)
    indices = list(range(*bounds))
    if node.kwargs.get("reverse"):
        # Lists that are walked backwards may be longer than a loop that broke off.
        order = range(len(indices) - 1, -1, -1)
    else:
        order = range(len(indices))
    body = node.blocks[0]
    carried = list(inits)
    lists: list[list[Any]] = [[] for _ in node.outs[len(carried) :]]
    for k in order:
        given = [indices[k], *(e[k] for e in elements), *carried]
        if _iterate(node, body, given, carried, lists, env):
            break
    return carried + lists


def _run_while(node: Node, env: Env) -> list[Any]:
    condition, body = node.blocks
    carried = list(read(node.args[0], env))
    lists: list[list[Any]] = [[] for _ in node.outs[len(carried) :]]
    while True:
        env.update(zip(condition.params, carried, strict=True))
        (goes_on,) = run_block(condition, env)
        if not goes_on or _iterate(node, body, list(carried), carried, lists, env):
            return carried + lists


def _iterate(
    node: Node,
    body: Block,
    given: list[Any],
    carried: list[Any],
    lists: list[list[Any]],
    env: Env,
) -> bool:
    """Run a loop's body once; return whether it breaks off."""
    if len(body.params) != len(given):
        raise InternalError(f"a `{node.op}` body takes {len(body.params)} values")
    env.update(zip(body.params, given, strict=True))
    results = run_block(body, env)
    stop = bool(results.pop(0)) if node.kwargs.get("breaks") else False
    carried[:] = results[: len(carried)]
    for collected, item in zip(lists, results[len(carried) :], strict=True):
        collected.append(item)
    return stop
