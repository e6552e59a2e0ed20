"""What a name can stand for while a function is lowered.

Lowering is partial evaluation: what is known without running is kept as itself, what
depends on a numeric argument is a graph `Value`, and whatever Python can mutate lives
in a cell of the `State`, so that two names for one array, list or dict stay two names
for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..graph import Value

__all__ = [
    "Array",
    "Choice",
    "DictRef",
    "DictView",
    "Either",
    "Function",
    "Iterable",
    "Known",
    "ListRef",
    "NeedStatic",
    "Obj",
    "Outer",
    "Partial",
    "Poison",
    "RunList",
    "Shape",
    "Stream",
    "Super",
    "Tup",
    "View",
    "Walker",
    "Written",
    "always",
    "is_number",
]


@dataclass(frozen=True)
class Known:
    """An object known without running: a number, string, module, function or class.

    `path` says where it was read from, if it came from the user's globals or closures.
    """

    value: Any
    path: Any = field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known) or type(self.value) is not type(other.value):
            return False
        if self.value is other.value:
            return True
        if isinstance(self.value, float):
            return repr(self.value) == repr(other.value)
        plain = (int, bool, str, complex, type(None), tuple, bytes)
        return isinstance(self.value, plain) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


@dataclass(frozen=True)
class Array:
    """A name for the array (or possible array) in a cell."""

    cell: int


@dataclass(frozen=True, eq=False)
class View:
    """A view of another array: writing through it writes into its base.

    op, args : the operation that makes the view from the base's value, as a node's.
    made, of : the value of the view when it was made, and of the cells below it then.
    """

    base: Any
    op: str
    args: tuple[Any, ...]
    made: Value
    of: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, eq=False)
class Choice(View):
    """One of several arrays: which one, only the run decides.

    Reading selects, writing dispatches.

    options : arrays, views of them, or numbers.
    tag : the position of the option, an integer; with `truth` it is a truth value, true
        for the first of two.
    """

    options: tuple[Any, ...] = ()
    tag: Value | None = None
    truth: bool = False


@dataclass(frozen=True, eq=False)
class Either:
    """One of several lists or dicts; `options`, `tag` and `truth` as in `Choice`."""

    options: tuple[ListRef | DictRef, ...]
    tag: Value
    truth: bool = False


@dataclass(frozen=True)
class Tup:
    """A tuple of known length; `like` is the value or class of a named tuple."""

    items: tuple[Any, ...]
    like: Any = field(default=None, compare=False)
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class ListRef:
    """A name for the list in a cell: a tuple of items, or a `RunList`."""

    cell: int


@dataclass(frozen=True)
class DictRef:
    """A name for the dict in a cell."""

    cell: int


@dataclass(frozen=True)
class DictView:
    """``d.keys()``, ``d.values()`` or ``d.items()``: a live view of a dict's cell."""

    cell: int
    kind: str


@dataclass(frozen=True)
class Walker:
    """An iterator: what it still gives is in its cell, a `Stream`."""

    cell: int


@dataclass(frozen=True, eq=False)
class Stream:
    """The state of an iterator.

    kind : ``"over"`` something, or the function of Python's that made it.
    parts : what it walks, which never changes.
    position : how far it has come: a number, or a graph value.
    """

    kind: str
    parts: tuple[Any, ...]
    position: Any


@dataclass(frozen=True, eq=False)
class Super:
    """``super()``: an object (or a class), read from what follows a class of its."""

    item: Any
    after: type


@dataclass(frozen=True)
class Outer:
    """A list outside the function that it writes to: it is asked when the text runs."""

    value: Value


@dataclass(frozen=True)
class RunList:
    """The content of a list whose length is known only at run time.

    `leaves` are list values walked in lock-step; `shape` rebuilds an item from one leaf
    of each: None is a plain leaf, a tuple of shapes is a tuple.
    """

    leaves: tuple[Value, ...]
    shape: Any = None


@dataclass(frozen=True)
class Obj:
    """An object of a known class of the user's; its attributes live in a cell.

    value : the object at run time, or None if the function itself makes it.
    actual : the object given when the lowering was asked for, or None.
    """

    value: Value | None
    actual: Any
    cell: int


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the user's: its source, the frame that defined it, its defaults."""

    source: Any
    node: Any
    frame: int | None
    defaults: tuple[Any, ...] = ()
    keyword_defaults: tuple[tuple[str, Any], ...] = ()
    live: Any = None
    bound: Any = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class Partial:
    """`functools.partial` of something callable, or a method bound to its object."""

    function: Any
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Shape:
    """The shape of an array of unknown rank, as a run-time tuple."""

    value: Value


@dataclass(frozen=True, eq=False)
class Iterable:
    """Something to loop over: known items, or a run-time length and items by index.

    items : the items, when their number is known.
    length : the number of items otherwise, an int or a `Value`.
    item : gives the item for an index value.
    range : (start, stop, step) when the items are those of a range.
    """

    items: tuple[Any, ...] | None = None
    length: Any = None
    item: Callable[[Any], Any] | None = None
    range: tuple[Any, Any, Any] | None = None


@dataclass(frozen=True, eq=False)
class Poison:
    """A name that must not be read: `reason` says why in the user's words."""

    reason: str
    hint: str = ""


def is_number(item: Any) -> bool:
    """Say whether an abstract value can be one graph value.

    >>> is_number(Known(2.0)), is_number(Tup(()))
    (True, False)
    """
    if isinstance(item, Known):
        return item.value is None or isinstance(
            item.value, bool | int | float | complex | str
        )
    return isinstance(item, Value | Array | View)


def always(item: Any) -> Callable[[], Any]:
    """Return a path of a branch on which nothing is done and `item` is the result.

    >>> always(Known(1))()
    Known(value=1, path=None)
    """
    return lambda: item


class NeedStatic(Exception):
    """A value must be known while lowering: unroll its loop or fix its argument."""

    def __init__(self, value: Any, why: str, span: Any = None) -> None:
        super().__init__(why)
        self.value = value
        self.why = why
        self.span = span


class Written(Exception):
    """Something outside is written: its identity, and the attribute or key, or None."""

    def __init__(self, what: tuple[int, Any]) -> None:
        super().__init__(what)
        self.what = what
