"""All that is known of an operation: one record each, asked by every stage.

`Node.op` is the record.  It compares, hashes and prints as the operation's full name,
so ``node.op == "np.tanh"`` holds.  The rooms of `symback.operations` fill the records;
what nobody has declared may share memory with anything and act on the world.

>>> unknown = operation("np.nobody_declared_this")
>>> unknown == "np.nobody_declared_this", unknown is operation(str(unknown))
(True, True)
>>> unknown.declared, unknown.acts, unknown.alias
(False, True, Alias(of=None))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "EVERY",
    "FRESH",
    "REQUIRED",
    "UNKNOWN",
    "Alias",
    "Operation",
    "Rule",
    "Text",
    "declare",
    "holds",
    "may_view",
    "operation",
    "operations",
    "view",
    "writes",
]

Text = str | Callable[..., Any] | None
"""One argument's rule: a text, a function in the same language, or None (none)."""

REQUIRED = object()
"""The default of a parameter that has none."""


@dataclass(frozen=True)
class Alias:
    """Whose memory a result may be.

    of : positions of the arguments whose memory it is, or may be; None: anything's.
    always : it is the argument's memory whenever that is an array.
    held : the result is a new container: of these arguments (``"items"``), of what
        they hold (``"contents"``), or of nothing that was there before (``"new"``).
        ``"lists"``: the contents of lists where it is a list, and fresh otherwise.
    writes : the arguments that the generated text writes to.
    unless : the argument `copy`, which makes the result fresh unless it is not True.
    read_only : NumPy may let nobody write to the result.
    """

    of: tuple[int, ...] | None = ()
    always: bool = field(default=False, repr=False)
    held: str = field(default="", repr=False)
    writes: tuple[int, ...] = field(default=(), repr=False)
    unless: str = field(default="", repr=False)
    read_only: bool = field(default=False, repr=False)


FRESH = Alias()
"""The result shares memory with nothing."""

EVERY = tuple(range(32))
"""All positions of a call."""

UNKNOWN = Alias(None)
"""Nobody has said: the result may share memory with anything it was given."""


def view(*of: int, read_only: bool = False) -> Alias:
    """Return the contract of a result that is always memory of an argument."""
    return Alias(of, always=True, read_only=read_only)


def may_view(*of: int, unless: str = "", read_only: bool = False) -> Alias:
    """Return the contract of a result that may be memory of some arguments."""
    return Alias(of, unless=unless, read_only=read_only)


def holds(*of: int, what: str = "items") -> Alias:
    """Return the contract of a new container of arguments or of their contents."""
    return Alias(of, held=what)


def writes(of: int, *keeps: int) -> Alias:
    """Return the contract of a result that is one argument, written to.

    If that is a list, it holds the arguments that it keeps from now on.
    """
    return Alias((of, *keeps), writes=(of,))


@dataclass(frozen=True)
class Rule:
    """The derivative of one operation.

    kind : ``"elementwise"`` (texts are partials), ``"select"`` (texts are masks: True
        where the argument is passed on), ``"pullback"`` (texts map the cotangent) or
        ``"zero"``.
    params, defaults : the signature; a parameter starting with ``*`` takes the rest.
    outs : names of the outputs.
    tie : texts used instead where two or more arguments are active.
    singular : whether a finite input can give an infinite value or partial.
    only : for some parameters, the values for which the rule holds; a call with another
        one is refused.
    """

    op: str
    kind: str
    params: tuple[str, ...]
    texts: tuple[Text, ...]
    defaults: tuple[Any, ...] = ()
    outs: tuple[str, ...] = ("out",)
    tie: tuple[Text, ...] = ()
    singular: bool = False
    only: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    domain: str | None = None
    kink: str | None = None
    source: str | None = None
    call: str = field(default="", compare=False)

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any] | str:
        """Return the arguments by parameter name, or say which one does not fit."""
        bound: dict[str, Any] = {}
        rest = list(args)
        for param in self.params:
            if param.startswith("*"):
                bound[param] = tuple(rest)
                rest = []
            elif rest:
                bound[param] = rest.pop(0)
        if rest:
            return f"takes {len(self.params)} arguments here, {len(args)} were given"
        for key, value in kwargs.items():
            if key in bound or key not in self.params:
                return f"is not supported with `{key}=`"
            bound[key] = value
        for param, default in zip(self.params, self.defaults, strict=True):
            if param not in bound:
                if default is REQUIRED:
                    return f"needs the argument `{param}`"
                bound[param] = default
        for param, values in self.only:
            if not any(bound[param] is v or bound[param] == v for v in values):
                return f"is not supported with `{param}={bound[param]!r}`"
        return bound


class Operation(str):
    """The record of one operation; `operation` gives the one of a name.

    declared : whether anybody has said anything of it.
    rule : its derivative, or None.
    alias : whose memory its result may be.
    acts : it acts on the world: kept in order, never shared, never dropped.
    function : what it does, where it is no function of that name.
    home : the module that gives it, if it is one of the user's own operations.
    like : the parameter whose type its result has, or a number of that type.
    keeps : its last result are residuals for the pullback, hidden from the user.
    """

    declared: bool = False
    rule: Rule | None = None
    alias: Alias = UNKNOWN
    acts: bool = True
    function: Callable[..., Any] | None = None
    home: str = ""
    like: Any = None
    keeps: bool = False

    def sources(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """Return the arguments whose memory a call's result may be, or may hold.

        >>> declare("np.maybe", alias=may_view(1, unless="copy"))
        'np.maybe'
        >>> operation("np.maybe").sources(("x", "y"), {})
        []
        >>> operation("np.maybe").sources(("x", "y"), {"copy": False})
        ['y']
        >>> unknown = operation("np.nobody_declared_this")
        >>> unknown.sources(("x", "y"), {"key": "z"})
        ['x', 'y', 'z']
        """
        alias = self.alias
        if alias.of is None:
            return [*args, *kwargs.values()]
        found = [kwargs["out"]] if kwargs.get("out") is not None else []
        if alias.unless and self._given(alias.unless, args, kwargs) is True:
            return found
        found += [args[k] for k in alias.of if k < len(args)]
        if alias.of and kwargs:
            given = [name for name in kwargs if name != alias.unless]
            if self.rule is not None:
                params = self.rule.params
                given = [params[k] for k in alias.of if k < len(params)]
            found += [kwargs[name] for name in given if name in kwargs]
        return found

    def _given(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        params = () if self.rule is None else self.rule.params
        place = params.index(name) if name in params else len(args)
        return args[place] if place < len(args) else kwargs.get(name, True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by name: there is one record a name."""
        return operation, (str(self),)


_RECORDS: dict[str, Operation] = {}


def operation(name: str) -> Operation:
    """Return the record of an operation, a closed one if nobody has declared it."""
    found = _RECORDS.get(name)
    if found is None:
        found = _RECORDS[str(name)] = Operation(name)
    return found


def operations() -> Iterator[Operation]:
    """Yield all records that somebody has declared."""
    return (op for op in tuple(_RECORDS.values()) if op.declared)


def declare(name: str, **facts: Any) -> Operation:
    """Write facts into the record of an operation and return it.

    An operation that is declared without more acts on nothing.
    """
    found = operation(name)
    if not found.declared:
        found.declared, found.acts = True, False
    for fact, value in facts.items():
        if fact not in Operation.__annotations__:
            raise TypeError(f"a record of an operation has no `{fact}`")
        setattr(found, fact, value)
    return found
