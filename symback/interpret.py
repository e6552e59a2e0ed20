"""Runs a graph node by node, and notes what every value was.

Nothing is changed in place, so a value that was noted stays as it was.  Any node can be
run again with other inputs: what a local derivative is measured on.  It shares nothing
with emission, so that the two can be compared.

>>> from symback.graph import Graph
>>> graph = Graph.parse("graph f(x):\\n  y = mul(x, 3.0)\\n  -> y")
>>> run(graph, 2.0)
6.0
"""

from __future__ import annotations

import builtins
import copy
from collections.abc import Mapping
from typing import Any

from .errors import InternalError
from .graph import UNDEFINED, Arg, Block, Graph, Loop, Node, Value, map_leaves
from .infer import resolve

__all__ = ["Env", "read", "run", "run_graph", "run_node"]

Env = dict[Value, Any]
"""What each value was, the last time that it was computed."""


def run(graph: Graph, *args: Any, **kwargs: Any) -> Any:
    """Return what a graph returns for arguments, which are left alone."""
    given = dict(zip((p.name for p in graph.params), args, strict=False)) | kwargs
    env = run_graph(graph, copy.deepcopy(given))
    return read(graph.result, env)


def run_graph(graph: Graph, arguments: Mapping[str, Any]) -> Env:
    """Run a graph for arguments by the names of its parameters; return all its values.

    A parameter without an argument is one that nothing reads.
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

    Raises:
        InternalError: it reads a value that the path taken has not.
    """
    if node.op == "if":
        return _branch(node, env)
    if node.op in ("for", "while"):
        return _loop(Loop.of(node), env)
    args, kwargs = read(node.args, env), read(dict(node.kwargs), env)
    if any(arg is UNDEFINED for arg in args):
        raise InternalError(f"`{node.op}` reads what has no value on this path")
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


def _branch(node: Node, env: Env) -> list[Any]:
    """Run the block that the condition chooses, or the second if the first raises."""
    first, second = node.blocks
    if "catch" not in node.kwargs:
        return run_block(first if read(node.args[0], env) else second, env)
    caught = tuple(getattr(builtins, str(name)) for name in node.kwargs["catch"])
    try:
        return run_block(first, env)
    except caught:
        return run_block(second, env)


def _loop(loop: Loop, env: Env) -> list[Any]:
    """Run a loop; return the final carried values and the collected lists."""
    carried = list(read(loop.inits, env))
    lists: list[list[Any]] = [[] for _ in loop.items]
    if loop.bounds is None:
        assert loop.test is not None
        while True:
            env.update(zip(loop.test.params, carried, strict=True))
            (goes_on,) = run_block(loop.test, env)
            if not goes_on or _iteration(loop, carried, lists, env):
                return carried + lists
    assert loop.index is not None
    indices = range(*read(loop.bounds, env))
    walked = read(loop.walked, env)
    # Lists that are walked backwards may be longer than a loop that broke off.
    order = range(len(indices))[::-1] if loop.reverse else range(len(indices))
    for k in order:
        env[loop.index] = indices[k]
        env.update(zip(loop.walks, (items[k] for items in walked), strict=True))
        if _iteration(loop, carried, lists, env):
            break
    return carried + lists


def _iteration(
    loop: Loop, carried: list[Any], lists: list[list[Any]], env: Env
) -> bool:
    """Run a loop's body once; return whether it breaks off."""
    env.update(zip(loop.carried, carried, strict=True))
    body = Block((), loop.nodes, (loop.stop, *loop.nexts, *loop.items))
    stop, *results = run_block(body, env)
    carried[:] = results[: len(carried)]
    for collected, item in zip(lists, results[len(carried) :], strict=True):
        collected.append(item)
    return bool(stop)
