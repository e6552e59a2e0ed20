"""The one intermediate form: a static computation graph in structured SSA.

The user's function, its backward, its tangent and its Hessian are all `Graph`s.
A `Node` is a literal call (`op`, `args`, `kwargs`) whose arguments are nested
tuples, lists, dicts and slices with `Value`s and Python constants at the leaves,
so a node can be printed, run on numbers or run on symbols as it stands.

Names of operations
-------------------
- ``add sub mul truediv floordiv mod pow matmul neg pos invert lt le gt ge eq ne
  and_ or_ xor lshift rshift getitem not_ is_ is_not contains``: Python's operators,
  as the module `operator` names them (`not_` is Python's ``not``);
- ``np.tanh``, ``np.linalg.inv``, ``math.exp``, ``scipy.special.erf``: functions;
- ``builtins.float``, ``builtins.len``, ``builtins.max``, ``builtins.print`` ...;
- ``runtime.unbroadcast`` ...: helpers of `symback.runtime`;
- ``dim`` (array, k): ``x.shape[k]``; ``shape`` (array): ``x.shape``;
- ``setitem`` (x, index, v): x with ``x[index] = v`` done; x itself is unchanged;
- ``index_add`` (x, index, v): x with v added at index, repeated indices accumulating;
  x may be an array or a list;
- ``list`` (item, ...): a run-time list; ``list_append`` (l, v): l with v appended;
  ``list_pop`` (l) has two outputs: l without its last item, and that item;
  ``list_zeros`` (l): a list of zeros shaped as l's items; ``list_reverse`` (l);
- ``struct`` (like, {field: value}): ``type(like)(field=value, ...)``;
- ``call`` (f, args, kwargs): a call of an object known only at run time;
- ``method`` (object, "name", args, kwargs): ``object.name(*args, **kwargs)``;
- ``set_attribute`` (object, "name", v), ``set_item`` (dict, key, v): effects outside;
- ``attr`` (object, "name"): ``object.name``;
- ``fstring`` (part, ...): strings and (value, conversion, format) triples joined;
- ``assert`` (condition, message), ``raise`` (exception): effects without outputs;
- ``unpack`` (x): the items of x, one for each output: ``a, b = x``;
- ``stop_gradient`` (x): x.

Control flow
------------
``if``     args ``(condition,)``; blocks ``(then, else)`` without parameters; the
           outputs are the results of the block that ran.  kwargs ``catch`` (names of
           exception classes): the first block runs, and the second one if it raises
           one of them.
``for``    args ``((start, stop, step), elements, inits)``: runs its body for each
           index of the range.  `elements` are run-time lists walked in lock-step with
           it.  Body parameters: ``(index, *one per list, *carried)``.  Body results:
           ``([stop flag] if breaks) + next carried + collected items``.  Outputs: the
           final carried values, then one run-time list per collected item.
           kwargs: ``reverse`` walks range and lists backwards; ``breaks``: a true stop
           flag ends the loop after that iteration (its carried values and items count).
``while``  args ``(inits,)``; blocks ``(condition, body)``, both with the carried
           values as parameters; the condition block has one result.  Body results and
           outputs as in ``for``; kwargs ``breaks``.

Blocks see the values of the blocks around them.  A result may be `UNDEFINED`: the name
has no value on that path, and nothing on that path reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InternalError, Span
from ..operation import Operation, operation
from ..types import Type

__all__ = [
    "UNDEFINED",
    "Arg",
    "Block",
    "Node",
    "Param",
    "Value",
    "leaves",
    "map_leaves",
    "replaced",
]

Arg = Any
"""A `Value`, a constant, or a tuple, list, dict or slice of them."""


class _Undefined:
    """The value of a name that the path taken did not assign."""

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = _Undefined()


@dataclass(frozen=True, eq=False)
class Value:
    """One SSA value: compared by identity.

    `name` is the user's variable (or ``x_bar`` for the cotangent of x) when it has one.
    """

    name: str | None = None
    type: Type | None = None

    def __repr__(self) -> str:
        return f"%{self.name or ''}{id(self) % 9973}"


@dataclass(frozen=True, eq=False)
class Node:
    """One operation, its arguments, outputs, nested blocks and the user's line.

    op : the record of the operation; a name given for it is looked up.
    role : whether it computes the function or its derivative.
    """

    op: Operation
    args: tuple[Arg, ...] = ()
    kwargs: Mapping[str, Arg] = field(default_factory=dict)
    outs: tuple[Value, ...] = ()
    blocks: tuple[Block, ...] = ()
    span: Span | None = None
    role: Literal["primal", "backward"] = "primal"

    if TYPE_CHECKING:

        def __init__(
            self,
            op: str,
            args: tuple[Arg, ...] = ...,
            kwargs: Mapping[str, Arg] = ...,
            outs: tuple[Value, ...] = ...,
            blocks: tuple[Block, ...] = ...,
            span: Span | None = ...,
            role: Literal["primal", "backward"] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if type(self.op) is not Operation:
            object.__setattr__(self, "op", operation(self.op))

    @cached_property
    def inputs(self) -> tuple[Value, ...]:
        """Return the values that the arguments mention, in order, with repeats.

        Values that nested blocks take from outside are not among them: see
        `Block.free`.
        """
        found: list[Any] = []
        _gather(self.args, found)
        for item in self.kwargs.values():
            _gather(item, found)
        return tuple([a for a in found if isinstance(a, Value)])

    @cached_property
    def uses(self) -> tuple[Value, ...]:
        """Return `inputs` and what nested blocks take from outside."""
        if not self.blocks:
            return self.inputs
        return self.inputs + tuple(v for b in self.blocks for v in b.free())

    @property
    def out(self) -> Value:
        """Return the only output."""
        if len(self.outs) != 1:
            raise InternalError(f"`{self.op}` has {len(self.outs)} outputs, not one")
        return self.outs[0]

    def walk(self) -> Iterator[Node]:
        """Yield this node and all nodes nested in it."""
        yield self
        for block in self.blocks:
            yield from block.walk()


@dataclass(frozen=True, eq=False)
class Block:
    """A straight list of nodes with parameters and results."""

    params: tuple[Value, ...] = ()
    nodes: tuple[Node, ...] = ()
    results: tuple[Arg, ...] = ()

    def walk(self) -> Iterator[Node]:
        """Yield every node, nested ones included."""
        for node in self.nodes:
            yield from node.walk()

    def free(self) -> tuple[Value, ...]:
        """Return the values used here but defined outside, each once, in order."""
        known = set(self.params)
        found: dict[Value, None] = {}
        for node in self.nodes:
            for value in node.uses:
                if value not in known:
                    found.setdefault(value)
            known.update(node.outs)
        for value in leaves(self.results):
            if isinstance(value, Value) and value not in known:
                found.setdefault(value)
        return tuple(found)


@dataclass(frozen=True)
class Param:
    """A parameter of the function.

    kind : ``"positional"`` or ``"keyword"`` as the user declared it, or
        ``"captured"``: a global or closed-over object of the user's, passed by keyword
        and read anew at each call.
    """

    name: str
    value: Value
    kind: str = "positional"


def leaves(arg: Arg) -> Iterator[Any]:
    """Yield the leaves of a nested argument, constants included.

    >>> list(leaves((1, [2, slice(3, None)], {"a": 4})))
    [1, 2, 3, None, None, 4]
    """
    found: list[Any] = []
    _gather(arg, found)
    return iter(found)


def _gather(arg: Arg, found: list[Any]) -> None:
    kind = type(arg)
    if kind is Value:
        found.append(arg)
    elif kind is tuple or isinstance(arg, (tuple, list)):
        for item in arg:
            if type(item) is Value:
                found.append(item)
            else:
                _gather(item, found)
    elif isinstance(arg, dict):
        for item in arg.values():
            _gather(item, found)
    elif isinstance(arg, slice):
        _gather((arg.start, arg.stop, arg.step), found)
    else:
        found.append(arg)


def map_leaves(function: Callable[[Any], Any], arg: Arg) -> Arg:
    """Rebuild a nested argument with each leaf replaced.

    >>> map_leaves(lambda a: a * 10, (1, [2], {"a": 4}))
    (10, [20], {'a': 40})
    """
    kind = type(arg)
    if kind is Value:
        return function(arg)
    if kind is tuple:
        return tuple(
            [
                function(item) if type(item) is Value else map_leaves(function, item)
                for item in arg
            ]
        )
    if isinstance(arg, list):
        return [map_leaves(function, item) for item in arg]
    if isinstance(arg, dict):
        return {key: map_leaves(function, item) for key, item in arg.items()}
    if isinstance(arg, slice):
        return slice(
            *(map_leaves(function, item) for item in (arg.start, arg.stop, arg.step))
        )
    return function(arg)


def replaced(arg: Arg, changed: Mapping[Value, Any]) -> Arg:
    """Return a nested argument with some of its values replaced.

    >>> x, y = Value("x"), Value("y")
    >>> replaced([x, 2], {x: y})[0] is y
    True
    """
    kind = type(arg)
    if kind is Value:
        return changed.get(arg, arg)
    if kind is tuple:
        return tuple([replaced(item, changed) for item in arg])
    return map_leaves(
        lambda leaf: changed.get(leaf, leaf) if isinstance(leaf, Value) else leaf, arg
    )
