"""What a text takes for known, and how it comes to take more.

A source is generated for symbols in place of sizes.  Where an operation does not fit on
the samples, or a slice is cut in them as it is not with the arguments, one exception
carries assumptions that are refined by as little as possible: that one size is a linear
form of others, that sizes keep their order, that some sizes are the numbers they are,
or, at last, that all are.  The text runs only for arguments that fit what it assumes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .graph import Arg, Value, leaves
from .infer import SAMPLES, Sampler
from .sizes import Linear, Sizes
from .types import Type

__all__ = [
    "Assumptions",
    "Refine",
    "cut",
    "fitting",
    "mention",
    "names_in",
    "pinning",
    "sampled",
    "sizes_of",
]

LONGEST = 600
"""The longest dimension that a sample is given so that a slice is not cut."""

STEPS: tuple[Sizes, ...] = (
    (0, 1, 3),
    (0, 4, 2),
    (0, 2, 7),
    (0, 7, 5),
    (0, 5, 1),
    (0, 3, 8),
    (0, 8, 6),
)
"""How far the samples of an integer argument are from its value."""

APART = 30
"""More than the sizes of two dimensions differ by in any sample."""


@dataclass(frozen=True)
class Assumptions:
    """What one text takes for known.

    generic : nothing is known of the parameters.
    exact : all sizes and integers are the numbers that they are.
    static : parameters whose values are known.
    pinned : sizes that are the numbers they are.
    related : sizes that are linear forms of the others.
    ordered : names of sizes, each smaller than the next.
    bounds : linear forms that are not negative.
    unrolled : loops are written out.
    least : how much longer than others the samples of some sizes are; no condition.
    """

    generic: bool = False
    exact: bool = False
    static: frozenset[str] = frozenset()
    pinned: tuple[tuple[str, int], ...] = ()
    related: tuple[tuple[str, Linear], ...] = ()
    ordered: tuple[str, ...] = ()
    bounds: tuple[Linear, ...] = ()
    unrolled: bool = False
    least: tuple[tuple[str, int], ...] = ()

    @property
    def mode(self) -> str:
        """Return ``"generic"``, ``"exact"`` or ``"symbolic"``."""
        return "generic" if self.generic else "exact" if self.exact else "symbolic"

    @property
    def conditional(self) -> bool:
        """Say whether there are sizes that this does not fit."""
        sizes = self.pinned or self.related or self.ordered or self.bounds
        return bool(sizes) and not self.exact

    def fit(self, sizes: Mapping[str, int]) -> bool:
        """Say whether sizes by name are as this takes them to be.

        >>> n, twice = Linear((("n", 1),)), Linear((("n", 2),))
        >>> assumed = Assumptions(related=(("m", twice),), bounds=(n.plus(-3),))
        >>> [assumed.fit({"n": size, "m": 8}) for size in (4, 5)]
        [True, False]
        """
        return (
            all(sizes[name] == size for name, size in self.pinned)
            and all(sizes[name] == form.at(sizes) for name, form in self.related)
            and all(
                sizes[one] < sizes[other]
                for one, other in zip(self.ordered, self.ordered[1:], strict=False)
            )
            and all(form.at(sizes) >= 0 for form in self.bounds)
        )


class Refine(Exception):  # noqa: N818 - nothing is wrong yet
    """What is assumed does not do: lower again with what is refined.

    problem : what to raise where nothing more can be assumed.
    """

    def __init__(self, refined: Assumptions, problem: Exception | None = None) -> None:
        super().__init__(refined)
        self.refined = refined
        self.problem = problem


def sampled(
    assumed: Assumptions,
    sampler: Sampler,
    actual: Mapping[str, int],
    integers: Collection[str] = (),
) -> None:
    """Give the sizes of arguments their samples, and name them.

    actual : the arguments' sizes by name, in order.
    integers : those that are no lengths, but integer arguments.
    """
    pinned, related = dict(assumed.pinned), dict(assumed.related)
    least = dict(assumed.least)
    sampler.actual.update(actual)
    for name in actual:
        if name in related and all(n in sampler.actual for n, _ in related[name].terms):
            continue
        if name in pinned:
            sampler.sizes[name] = (pinned[name],) * SAMPLES
            continue
        more = least.get(name, 0)
        if name in assumed.ordered:
            more += APART * assumed.ordered.index(name)
        if name in integers and name not in assumed.ordered:
            steps = STEPS[len(sampler.sizes) % len(STEPS)]
            sizes = tuple(actual[name] + step for step in steps)
        else:
            sizes = tuple(size + more for size in sampler.dimension())
        sampler.sizes[name] = sizes
        sampler.name(name, sizes)
    for name, form in assumed.related:
        if name in sampler.sizes or name not in sampler.actual:
            continue
        made = tuple(
            form.at({n: s[which] for n, s in sampler.sizes.items()})
            for which in range(SAMPLES)
        )
        if min(made) < 1:
            pins = [*(n for n, _ in form.terms), name]
            raise Refine(pinning(assumed, sampler, pins))
        sampler.sizes[name] = made


def pinning(
    assumed: Assumptions, sampler: Sampler, names: Iterable[str]
) -> Assumptions:
    """Return assumptions with more sizes pinned; where none is new, with all."""
    more = {n: sampler.actual[n] for n in names if n in sampler.actual}
    known = dict(assumed.pinned)
    if not more.keys() - known.keys():
        return replace(assumed, exact=True)
    known.update(more)
    # A size that was said to be a form of pinned ones is a number as well.
    related = []
    for name, form in assumed.related:
        if name not in known and any(n in known for n, _ in form.terms):
            known.update({n: sampler.actual[n] for n, _ in form.terms})
            known[name] = sampler.actual[name]
        elif name not in known:
            related.append((name, form))
    return replace(
        assumed,
        pinned=tuple(known.items()),
        related=tuple(related),
        ordered=tuple(n for n in assumed.ordered if n not in known),
    )


def fitting(assumed: Assumptions, sampler: Sampler, args: Arg) -> Assumptions:
    """Return the least that may make operands fit which do not on the samples."""
    operands = [sizes for sizes in map(_sizes, _operands(args)) if sizes]
    for one, other in _pairs(operands):
        first, second = sampler.form(one), sampler.form(other)
        if first is None or second is None or first == second:
            continue
        if first.at(sampler.actual) != second.at(sampler.actual):
            continue
        refined = _related(assumed, sampler, first.minus(second))
        if refined is not None:
            return refined
    found = [sizes for operand in operands for sizes in operand]
    names = names_in(sampler, found)
    if any(sampler.form(sizes) is None for sizes in found):
        refined = _ordered(assumed, sampler, names)
        if refined != assumed:
            return refined
    return pinning(assumed, sampler, names)


def names_in(sampler: Sampler, found: Iterable[Sizes]) -> set[str]:
    """Return the names of the arguments' sizes that some sizes come from."""
    names: set[str] = set()
    for sizes in found:
        form = sampler.form(sizes)
        if form is None:
            names |= sampler.mentions.get(sizes, frozenset())
        else:
            names |= {name for name, _ in form.terms}
    return names


def mention(sampler: Sampler, result: Type, args: Arg) -> None:
    """Note what the sizes of a result come from that have no linear form."""
    for sizes in sizes_of(result):
        if sizes not in sampler.mentions and sampler.form(sizes) is None:
            operands = (s for value in _operands(args) for s in _sizes(value))
            sampler.mentions[sizes] = frozenset(names_in(sampler, operands))


def _operands(args: Arg) -> Iterator[Value]:
    return (a for a in leaves(args) if isinstance(a, Value) and a.type is not None)


def _sizes(value: Value) -> list[Sizes]:
    """Return the sizes of an operand in the samples: of its axes, or of its value."""
    return [] if value.type is None else sizes_of(value.type)


def sizes_of(known: Type) -> list[Sizes]:
    """Return the sizes of an array's axes, or the values of an integer."""
    samples = known.samples
    if not samples:
        return []
    if isinstance(samples[0], np.ndarray):
        return list(zip(*(s.shape for s in samples), strict=True))
    if isinstance(samples[0], int | np.integer) and not isinstance(samples[0], bool):
        return [tuple(map(int, samples))]
    return []


def _pairs(operands: list[list[Sizes]]) -> Iterator[tuple[Sizes, Sizes]]:
    """Yield the pairs of sizes that may have to be equal, the likeliest first."""
    later: list[tuple[Sizes, Sizes]] = []
    for number, one in enumerate(operands):
        for other in operands[number + 1 :]:
            aligned = list(zip(one[::-1], other[::-1], strict=False))
            yield from aligned
            later += [(a, b) for a in one for b in other if (a, b) not in aligned]
    yield from later


def _related(
    assumed: Assumptions, sampler: Sampler, zero: Linear
) -> Assumptions | None:
    """Return assumptions by which a linear form is zero, solved for its last size."""
    order = list(sampler.actual)
    for name, factor in sorted(zero.terms, key=lambda term: -order.index(term[0])):
        if abs(factor) != 1:
            continue
        rest = [(n, -k * factor) for n, k in zero.terms if n != name]
        form = Linear(tuple(rest), -zero.constant * factor)
        if not rest:
            continue
        # Older forms that mention the size are written with the new one.
        related = [(n, f.put(name, form)) for n, f in assumed.related]
        return replace(
            assumed,
            related=(*related, (name, form)),
            ordered=tuple(n for n in assumed.ordered if n != name),
        )
    return None


def _ordered(assumed: Assumptions, sampler: Sampler, names: set[str]) -> Assumptions:
    """Return assumptions by which sizes keep the order that they have."""
    fixed = {n for n, _ in assumed.pinned} | {n for n, _ in assumed.related}
    names = {n for n in names | {*assumed.ordered} if n in sampler.actual} - fixed
    if len(names) < 2:
        return assumed
    order = sorted(names, key=lambda name: sampler.actual[name])
    return replace(assumed, ordered=tuple(order))


def cut(assumed: Assumptions, sampler: Sampler, args: tuple[Arg, ...]) -> None:
    """Note which slices are within their axes; have the samples cut them alike.

    Raises:
        Refine: a slice ends within its axis in some samples and not with the arguments.
    """
    base, index = args[0], args[1]
    if not isinstance(base, Value):
        return
    axes = _sizes(base) if base.type is not None and base.type.is_array else []
    for sizes, part in _slices(axes, index):
        for bound in (part.start, part.stop):
            if bound is None:
                continue
            if isinstance(bound, Value):
                found = _sizes(bound)
            else:
                found = [(bound,) * SAMPLES] if isinstance(bound, int) else []
            if found:
                _within(assumed, sampler, sizes, found[0])


def _slices(axes: list[Sizes], index: Arg) -> Iterator[tuple[Sizes, slice]]:
    """Yield the slices of an index, each with the sizes of the axis that it cuts."""
    parts: list[Any] = list(index) if isinstance(index, tuple) else [index]
    wide = [_width(p) for p in parts]
    if None in wide:
        return
    place = 0
    for part, width in zip(parts, wide, strict=True):
        if part is Ellipsis:
            place = len(axes) - sum(w or 0 for w in wide[parts.index(part) :])
        elif isinstance(part, slice) and place < len(axes):
            yield axes[place], part
        place += width or 0


def _width(part: Any) -> int | None:
    """Return how many axes a part of an index takes, None where that is unknown."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, Value):
        if part.type is None:
            return None
        return part.type.rank if part.type.dtype == "bool" else 1
    return 1


def _within(assumed: Assumptions, sampler: Sampler, sizes: Sizes, bound: Sizes) -> None:
    """Note that a bound is within an axis, or beyond; have it so in all samples."""
    size, place = sampler.form(sizes), sampler.form(bound)
    if size is None or place is None:
        return
    real_size, real = size.at(sampler.actual), place.at(sampler.actual)
    if any((b < 0) != (real < 0) for b in bound):
        return
    if real < 0:
        place, real, bound = place.times(-1), -real, tuple(-b for b in bound)
    inside = real <= real_size
    if all((b <= s) == inside for b, s in zip(bound, sizes, strict=True)):
        rest = size.minus(place) if inside else place.minus(size).plus(-1)
        if rest.terms:
            sampler.bounds.setdefault(rest)
        return
    names = {n for n, _ in (*size.terms, *place.terms)}
    if inside and not place.terms and len(size.terms) == 1:
        (name, factor), more = size.terms[0], 2 * real
        if factor > 0 and dict(assumed.least).get(name, 0) < more <= LONGEST:
            least = {**dict(assumed.least), name: more}
            raise Refine(replace(assumed, least=tuple(least.items())))
    refined = _ordered(assumed, sampler, names) if place.terms else assumed
    if refined == assumed and inside and len(size.terms) == len(place.terms) == 1:
        refined = _multiple(assumed, sampler, size.terms[0][0], place.terms[0][0])
    if refined == assumed:
        refined = pinning(assumed, sampler, names)
    raise Refine(refined)


def _multiple(
    assumed: Assumptions, sampler: Sampler, name: str, part: str
) -> Assumptions:
    """Return assumptions by which a size is the multiple of another that it is."""
    times, rest = divmod(sampler.actual[name], max(sampler.actual[part], 1))
    if rest or not 2 <= times <= 8:
        return assumed
    found = _related(assumed, sampler, Linear(((part, -times), (name, 1))))
    return assumed if found is None else found
