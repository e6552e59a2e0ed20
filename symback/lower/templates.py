"""Templates: how an abstract value is taken apart into graph values, and rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..graph import Value, leaves, map_leaves

__all__ = ["HOLE", "Option", "Template", "fused", "width"]


class _Hole:
    """Stands in a view's index for what differs from path to path."""

    def __repr__(self) -> str:
        return "HOLE"


HOLE = _Hole()


@dataclass(frozen=True)
class Option:
    """One of the arrays that a name may be.

    kind : ``"cell"``, ``"view"`` of the option `base`, ``"own"`` (an array that nothing
        else refers to), ``"number"`` or ``"none"``.
    """

    kind: str
    cell: int = 0
    base: Option | None = None
    op: str = ""
    args: Any = ()
    kwargs: Any = ()

    @property
    def root(self) -> int | None:
        """Return the cell that the array finally lies in."""
        if self.base is not None:
            return self.base.root
        return self.cell if self.kind == "cell" else None

    def moved(self, moves: dict[int, int]) -> Option:
        """Return the option with its cell renamed."""
        if self.base is not None:
            return replace(self, base=self.base.moved(moves))
        return replace(self, cell=moves.get(self.cell, self.cell))

    def holes(self, other: Option | None = None) -> list[Any]:
        """Return what fills the holes: of this option, or as another fills them."""
        found = [] if self.base is None else self.base.holes(other and other.base)
        if self.kind == "view":
            mine = list(leaves((self.args, dict(self.kwargs))))
            theirs = mine
            if other is not None:
                theirs = list(leaves((other.args, dict(other.kwargs))))
            found += [t for m, t in zip(mine, theirs, strict=True) if m is HOLE]
        return found

    def fits(self, other: Option) -> bool:
        """Say whether another option is this one, its holes filled."""
        found = meet(self, other)
        return found is not None and found == self

    def filled(self, values: Iterator[Any]) -> Option:
        """Return the option with its holes filled."""
        base = None if self.base is None else self.base.filled(values)

        def fill(leaf: Any) -> Any:
            return next(values) if leaf is HOLE else leaf

        kwargs = tuple(map_leaves(fill, dict(self.kwargs)).items())
        return replace(self, base=base, args=map_leaves(fill, self.args), kwargs=kwargs)


def meet(a: Option, b: Option) -> Option | None:
    """Return the option that both are, with holes where they differ; None for none."""
    if a == b:
        return a
    if a.kind != b.kind or a.kind != "view" or a.op != b.op:
        return None
    assert a.base is not None
    assert b.base is not None
    base = meet(a.base, b.base)
    one, two = (a.args, dict(a.kwargs)), (b.args, dict(b.kwargs))
    if base is None or _form(one, a.op) != _form(two, a.op):
        return None
    differing = iter(
        [
            not (p is q or (type(p) is type(q) and not _free(p) and p == q))
            for p, q in zip(leaves(one), leaves(two), strict=True)
        ]
    )

    def mark(leaf: Any) -> Any:
        return HOLE if next(differing) else leaf

    args, kwargs = map_leaves(mark, one)
    return replace(a, base=base, args=args, kwargs=tuple(kwargs.items()))


def _form(args: Any, op: str) -> Any:
    """Return arguments without what may differ between views of one kind."""

    def plain(leaf: Any) -> Any:
        free = _free(leaf) or (op == "getitem" and type(leaf) is int)
        return "hole" if free else repr(leaf)

    return repr(map_leaves(plain, args))


def _free(leaf: Any) -> bool:
    return isinstance(leaf, Value) or leaf is HOLE


def fused(
    left: list[Option], right: list[Option], known: tuple[Option, ...] = ()
) -> tuple[Option, ...]:
    """Return options that cover those of two paths.

    A value that only one path's index has is a hole: the other path does not know it.
    """
    found = list(known)

    def add(option: Option) -> None:
        for k, one in enumerate(found):
            both = meet(one, option)
            if both is not None:
                found[k] = both
                return
        found.append(option)

    shared = set(_values(left)) & {*_values(right), *_values(known)}
    for option in (*left, *right):
        add(_opened(option, shared))
    return tuple(found)


def _values(options: Iterable[Option]) -> Iterator[Value]:
    for option in options:
        one: Option | None = option
        while one is not None:
            for leaf in leaves((one.args, dict(one.kwargs))):
                if isinstance(leaf, Value):
                    yield leaf
            one = one.base


def _opened(option: Option, shared: set[Value]) -> Option:
    """Return an option with holes for the values that only one path has."""

    def mark(leaf: Any) -> Any:
        return HOLE if isinstance(leaf, Value) and leaf not in shared else leaf

    base = None if option.base is None else _opened(option.base, shared)
    kwargs = tuple(map_leaves(mark, dict(option.kwargs)).items())
    return replace(option, base=base, args=map_leaves(mark, option.args), kwargs=kwargs)


@dataclass(frozen=True)
class Template:
    """How two abstract values that differ are carried as graph values.

    kind : ``"same"`` (nothing is carried), ``"leaf"``, ``"array"`` (one that nothing
        else refers to, or only the rest of its `group`, of which it is the first),
        ``"alias"`` (another of a group), ``"choice"`` (one of several arrays),
        ``"either"`` (of several lists or dicts), ``"tuple"``, ``"list"``, ``"dict"``,
        ``"object"``, ``"range"``, ``"poison"``, or of the content of a cell
        ``"items"``, ``"dictitems"``, ``"stream"`` or ``"runlist"``.
    test : the truth value that chooses the first of two options.
    marks : what is true of the memory: ``"argument"``, ``"listed"``.
    draft : whether a loop's body has not been lowered with this template yet.
    """

    kind: str
    parts: tuple[Template, ...] = ()
    like: Any = None
    names: tuple[Any, ...] = ()
    group: Any = None
    options: tuple[Option, ...] = ()
    test: Any = None
    marks: frozenset[str] = frozenset()
    draft: bool = field(default=False, compare=False)

    def place(self, option: Option) -> int | None:
        """Return the position of an option: its own, or that of what is not named."""
        for number, one in enumerate(self.options):
            if one.fits(option):
                return number
        own = [k for k, one in enumerate(self.options) if one.kind == "own"]
        return own[0] if own else None

    @property
    def tagged(self) -> bool:
        """Return whether an integer says which option it is."""
        return len(self.options) > 1 and self.test is None

    @property
    def made(self) -> bool:
        """Return whether the chosen array itself is carried."""
        if self.kind != "choice":
            return False
        return len(self.options) > 1 or self.options[0].kind != "cell"

    @property
    def width(self) -> int:
        """Return the number of graph values."""
        if self.kind in ("leaf", "array"):
            return 1
        if self.kind in ("choice", "either"):
            holes = sum(len(option.holes()) for option in self.options)
            return self.tagged + self.made + holes
        if self.kind == "runlist":
            return max(1, width(self.like))
        return sum(part.width for part in self.parts)


def width(shape: Any) -> int:
    """Return the number of graph values of a run-time list of a structure."""
    return sum(map(width, shape)) if isinstance(shape, tuple) else 1
