"""Where paths meet: how two states become one.

A name that differs on two paths becomes a graph value (or several, for a tuple, a list
or a dict), an output of the branch or a parameter of the loop; a `Template` says how
the abstract value is taken apart and rebuilt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InternalError
from ..graph import UNDEFINED, Arg, Value
from ..types import Type
from .abstract import (
    Array,
    Choice,
    DictRef,
    DictView,
    Either,
    Function,
    Iterable,
    Known,
    ListRef,
    Obj,
    Outer,
    Partial,
    Poison,
    RunList,
    Stream,
    Tup,
    View,
    Walker,
    is_number,
)
from .cells import Cells, mentions
from .core import State
from .templates import Option, Template, fused, width

__all__ = ["Joins", "Meeting"]


@dataclass
class Meeting:
    """Two states that meet.

    tallies : how often each mentions its cells.
    pairs : how often names that refer to one cell in the left state refer to another in
        the right one.
    test : what decided between the states, if it chose one of two.
    grouped : the groups that have their first position.
    moves : new numbers of cells of the right state.
    slots : what a loop carries of objects that several names may refer to.
    """

    left: State
    right: State
    tallies: tuple[Counter[int], Counter[int]]
    pairs: Counter[tuple[int, int]]
    test: Any = None
    grouped: set[Any] = field(default_factory=set)
    moves: dict[int, int] = field(default_factory=dict)
    slots: list[int] | None = None


class Joins(Cells):
    """Join abstract values and types; `met` are the states that meet."""

    met: Meeting

    def meet(self, left: State, right: State, test: Any = None) -> None:
        """Begin to join two states."""
        tallies = (self.tally(left), self.tally(right))
        self.met = Meeting(left, right, tallies, Counter(), test)
        seen: set[Any] = set()
        for key in left.keys() & right.keys():
            if key[0] in ("n", "x", "t", "h") and left[key] is not right[key]:
                self.pair(left[key], right[key], seen)

    def pair(self, a: Any, b: Any, seen: set[Any]) -> None:
        """Count the pairs of cells that one name refers to in the two states."""
        if isinstance(a, Tup) and isinstance(b, Tup):
            a, b = a.items, b.items
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b):
                return
            a, b = tuple(a.values()), tuple(b.values())
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) == len(b):
                for one, other in zip(a, b, strict=True):
                    self.pair(one, other, seen)
            return
        if type(a) is type(b) and isinstance(a, Array | ListRef | DictRef | Obj):
            pair = (a.cell, b.cell)
            if a.cell == b.cell:
                return
            self.met.pairs[pair] += 1
            if not isinstance(a, Array) and pair not in seen:
                seen.add(pair)
                self.pair(self.held_a(a), self.held_b(b), seen)

    def same(self, a: Any, b: Any) -> bool:
        """Say whether two abstract values are surely one."""
        if a is b:
            return True
        if type(a) is not type(b) or isinstance(a, Poison):
            return False
        if isinstance(a, tuple):
            return len(a) == len(b) and all(map(self.same, a, b))
        if isinstance(a, dict):
            return list(a) == list(b) and all(self.same(a[k], b[k]) for k in a)
        if isinstance(a, Tup):
            return self.same(a.items, b.items)
        if isinstance(a, RunList):
            return a.shape == b.shape and self.same(a.leaves, b.leaves)
        if isinstance(a, Known | Array | ListRef | DictRef | DictView | Outer | Walker):
            return bool(a == b)
        if isinstance(a, Stream):
            return self.one_stream(a, b) and self.same(a.position, b.position)
        if isinstance(a, Obj):
            return bool(a.cell == b.cell)
        if isinstance(a, Choice | Either):
            alike = a.tag is b.tag and len(a.options) == len(b.options)
            return alike and all(map(self.same, a.options, b.options))
        if isinstance(a, View):
            alike = a.op == b.op and a.made is b.made
            return bool(alike and self.same(a.base, b.base))
        return False

    def one_stream(self, a: Stream, b: Stream) -> bool:
        """Say whether two states are of one iterator."""
        alike = a.kind == b.kind and len(a.parts) == len(b.parts)
        return alike and all(
            x is y or self.same(x, y) for x, y in zip(a.parts, b.parts, strict=True)
        )

    def join(self, a: Any, b: Any) -> Template:
        """Return how two abstract values (or contents of cells) become one."""
        if self.same(a, b):
            return Template("same", like=a)
        for item in (a, b):
            if isinstance(item, Poison):
                return Template("poison", like=item)
        if a is UNDEFINED:
            return self.join_undefined(b, 1)
        if b is UNDEFINED:
            return self.join_undefined(a, 0)
        if is_number(a) and is_number(b):
            if isinstance(a, Array | View) or isinstance(b, Array | View):
                return self.join_arrays(a, b)
            return Template("leaf")
        if isinstance(a, Stream) and isinstance(b, Stream) and self.one_stream(a, b):
            part = self.join(a.position, b.position)
            return Template("stream", (part,), like=a)
        if isinstance(a, Iterable) and isinstance(b, Iterable):
            if a.range and b.range and not (a.item or b.item):
                ends = zip(a.range, b.range, strict=True)
                parts = tuple(self.join(_bound(x), _bound(y)) for x, y in ends)
                return Template("range", parts)
        if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
            parts = tuple(map(self.join, a.items, b.items))
            return Template("tuple", parts, a.like, a.names)
        return self._join_containers(a, b)

    # One of several arrays

    def alone(self, item: Any, side: int) -> bool:
        """Say whether nothing else refers to what an abstract value refers to."""
        known = self.met.tallies[side]
        own = Counter(mentions(item))
        return all(
            known[c] <= n and c not in self.outside_cells for c, n in own.items()
        )

    def partners(self, a: Any, b: Any) -> bool:
        """Say whether all names of one object are names of one object on both sides."""
        if type(a) is not type(b) or not isinstance(a, Array | ListRef | DictRef | Obj):
            return False
        if {a.cell, b.cell} & self.outside_cells:
            return False
        count = self.met.pairs[a.cell, b.cell]
        return count == self.met.tallies[0][a.cell] == self.met.tallies[1][b.cell]

    def marks(self, *sides: tuple[Any, State]) -> frozenset[str]:
        """Return what is true of the memory that nothing else refers to."""
        found = set()
        for item, state in sides:
            for cell in mentions(item):
                if cell in self.argument_cells:
                    found.add("argument")
                if ("ro", cell) in state:
                    found.add("listed")
        return frozenset(found)

    def join_arrays(self, a: Any, b: Any) -> Template:
        """Return how two array references become one."""
        marks = self.marks((a, self.met.left), (b, self.met.right))
        if self.partners(a, b):
            return self.grouped_template("array", a, marks)
        if self.alone(a, 0) and self.alone(b, 1):
            return Template("array", marks=marks)
        return self.choice_template("choice", a, b)

    def grouped_template(
        self, kind: str, a: Any, marks: frozenset[str], parts: Any = ()
    ) -> Template:
        """Return the template of a name of an object that may have other names."""
        if self.met.tallies[0][a.cell] == 1:
            return Template(kind, parts, marks=marks)
        if a.cell in self.met.grouped:
            return Template("alias", group=a.cell)
        self.met.grouped.add(a.cell)
        return Template(kind, parts, marks=marks, group=a.cell)

    def choice_template(self, kind: str, a: Any, b: Any) -> Template:
        """Return the template of one of several arrays, lists or dicts."""
        left = self.options(a, 0)
        right = self.options(b, 1)
        options = fused(left, right)
        self.too_many(len(options))
        marks: set[str] = set()
        for side, item in ((0, a), (1, b)):
            if any(o.kind == "own" for o in (left, right)[side]):
                marks |= self.marks((item, (self.met.left, self.met.right)[side]))
        template = Template(kind, options=options, marks=frozenset(marks))
        plain = isinstance(self.met.test, Value) and len(options) == 2
        if plain and [template.place(o) for o in left] == [0]:
            if [template.place(o) for o in right] == [1]:
                return replace(template, test=self.met.test)
        return template

    def options(self, item: Any, side: int) -> list[Option]:
        """Return the options of an abstract value in one of the states that meet."""
        known = self.met.tallies[side]
        own = Counter(mentions(item))
        found = []
        for option in self.leaf_options(item):
            root = option.root
            if root is not None and root not in self.outside_cells:
                if known[root] <= own[root] and not isinstance(item, Either | ListRef):
                    option = Option("own")
                elif side and self.met.slots is not None and not self.is_outer(root):
                    option = option.moved({root: self.slot(root)})
            found.append(option)
        return found

    def is_outer(self, cell: int) -> bool:
        """Say whether a cell was there before the loop that is being joined."""
        return self.held(self.met.left, ("h", cell)) is not UNDEFINED

    def slot(self, cell: int) -> int:
        """Return the cell that holds, before an iteration, what this one holds after.

        Only what several names may refer to has one.
        """
        slots, moves = self.met.slots, self.met.moves
        assert slots is not None
        if cell not in moves:
            if cell in slots:
                moves[cell] = cell
            else:
                alive = self.met.tallies[1]
                taken = set(moves.values())
                free = [s for s in slots if s not in taken and not alive[s]]
                if not free:
                    free = [self.fresh()]
                    slots.append(free[0])
                moves[cell] = free[0]
        return moves[cell]

    def leaf_options(self, item: Any) -> list[Option]:
        """Return the options of an abstract value, in the order of a `pick`."""
        if isinstance(item, Array | ListRef | DictRef):
            return [Option("cell", item.cell)]
        if isinstance(item, Choice | Either):
            return [o for one in item.options for o in self.leaf_options(one)]
        if isinstance(item, View):
            return [
                Option("view", 0, base, item.op, item.args, item.kwargs)
                for base in self.leaf_options(item.base)
            ]
        none = isinstance(item, Known) and item.value is None
        return [] if item is UNDEFINED else [Option("none" if none else "number")]

    def flatten_choice(self, template: Template, item: Any) -> list[Arg]:
        """Return which option a reference is, its array, and what fills the holes."""
        options = [o.moved(self.met.moves) for o in self.leaf_options(item)]
        places = [template.place(o) for o in options]
        if None in places:
            raise InternalError("an option of a reference was forgotten")
        found: list[Arg] = []
        if template.tagged:
            found.append(self.operand(self.placed(item, iter(places))))
        if template.made:
            found.append(self.operand(item))
        for number, option in enumerate(template.options):
            count = len(option.holes())
            mine = [
                option.holes(o)
                for o, p in zip(options, places, strict=True)
                if p == number
            ]
            if not mine:
                found += [UNDEFINED] * count
            elif len(mine) == 1:
                found += mine[0]
            else:
                rows = [
                    option.holes(o) if p == number else mine[0]
                    for o, p in zip(options, places, strict=True)
                ]
                for k in range(count):
                    column = (self.as_item(row[k]) for row in rows)
                    found.append(self.operand(self.placed(item, column)))
        return found

    def as_item(self, arg: Arg) -> Any:
        """Return a node's plain argument as an abstract value."""
        return arg if isinstance(arg, Value) else Known(arg)

    def placed(self, item: Any, values: Iterator[Any]) -> Any:
        """Return the one of some values that stands where the chosen option does."""
        choice = item
        while isinstance(choice, View) and not isinstance(choice, Choice):
            choice = choice.base
        if not isinstance(choice, Choice | Either):
            found = next(values)
            return found if isinstance(found, Value | Known) else Known(found)
        given = iter([self.placed(o, values) for o in choice.options])
        chosen = [next(given) for _ in choice.options]
        numbers = [c.value if isinstance(c, Known) else None for c in chosen]
        if numbers == list(range(len(chosen))) and not choice.truth:
            return choice.tag
        by_option = {id(o): c for o, c in zip(choice.options, chosen, strict=True)}
        return self.pick(choice, lambda option: by_option[id(option)])

    def rebuild_choice(self, template: Template, values: Iterator[Value]) -> Any:
        """Rebuild one of several arrays, lists or dicts from graph values."""
        tag = next(values) if template.tagged else template.test
        made = next(values) if template.made else None
        options = [o.filled(values) for o in template.options]
        refs = tuple(self.rebuild_option(template, o, made) for o in options)
        if len(refs) == 1:
            ref = refs[0]
            if isinstance(ref, View):
                self.fresh_refs.append(ref)
            return ref
        truth = template.test is not None
        if template.kind == "either":
            return Either(refs, tag, truth)
        assert made is not None
        choice = Choice(None, "choose", (), made, (), (), refs, tag, truth)
        self.fresh_refs.append(choice)
        return choice

    fresh_refs: list[Any]

    def rebuild_option(self, template: Template, option: Option, made: Any) -> Any:
        """Rebuild one of the arrays that a reference may be."""
        if option.kind == "cell":
            kinds = {"list": ListRef, "dict": DictRef}
            return kinds.get(template.like, Array)(option.cell)
        if option.kind == "view":
            assert option.base is not None
            base = self.rebuild_option(template, option.base, made)
            return View(base, option.op, option.args, made, (), option.kwargs)
        if option.kind == "own":
            return Array(self.new_cell(template, made))
        return Known(None) if option.kind == "none" else made

    def new_cell(self, template: Template, content: Any) -> int:
        """Return a new cell for what nothing else refers to."""
        cell = self.fresh()
        self.state["h", cell] = content
        if "argument" in template.marks:
            self.argument_cells.add(cell)
        if "listed" in template.marks:
            self.state["ro", cell] = _IN_LIST
        if template.group is not None:
            self.group_cells[template.group] = cell
        return cell

    group_cells: dict[Any, int]

    def rebuild(self, templates: dict[Any, Template], values: Iterator[Value]) -> None:
        """Set all keys of the state that have templates."""
        self.fresh_refs, self.group_cells = [], {}
        for key, template in templates.items():
            self.state[key] = self.instantiate(template, values)
        for ref in self.fresh_refs:
            self.current(ref)

    # Containers

    def _join_containers(self, a: Any, b: Any) -> Template:
        for kind, word in ((ListRef, "list"), (DictRef, "dict")):
            if isinstance(a, kind) and isinstance(b, kind):
                lone = self.alone(a, 0) and self.alone(b, 1)
                if self.partners(a, b) or lone:
                    # Each side's content is read in its own state, when flattened.
                    if a.cell in self.met.grouped:
                        return Template("alias", group=a.cell, like=word)
                    part = self.join(self.held_a(a), self.held_b(b))
                    return self.grouped_template(word, a, frozenset(), (part,))
            options = [*self.leaf_options_of(a, kind), *self.leaf_options_of(b, kind)]
            if all(o is not None for o in options):
                return replace(self.choice_template("either", a, b), like=word)
        if isinstance(a, Obj) and isinstance(b, Obj) and a.value is b.value:
            return self.join_objects(a, b)
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return Template("items", tuple(map(self.join, a, b)))
        if isinstance(a, tuple | RunList) and isinstance(b, tuple | RunList):
            return Template("runlist", like=self.run_shape(a, b))
        if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
            parts = tuple(self.join(a[k], b[k]) for k in a)
            return Template("dictitems", parts, names=tuple(a))
        return Template(
            "poison",
            like=Poison(
                f"a name is {self.describe(a)} on one path and {self.describe(b)} on "
                "another",
                "give it the same structure on both.",
            ),
        )

    def join_objects(self, a: Obj, b: Obj) -> Template:
        """Return how two objects that have no other names become one."""
        if self.partners(a, b) or (self.alone(a, 0) and self.alone(b, 1)):
            if a.cell in self.met.grouped:
                return Template("alias", group=a.cell, like=a)
            part = self.join(self.held_a(a), self.held_b(b))
            if part.kind == "poison":
                return part
            found = self.grouped_template("object", a, frozenset(), (part,))
            return replace(found, like=a)
        return Template(
            "poison",
            like=Poison(
                "a name is one object on one path and another object on another",
                "choose between their attributes.",
            ),
        )

    def leaf_options_of(self, item: Any, kind: Any) -> list[Any]:
        """Return the options of a container of a kind; [None] if it is another."""
        if isinstance(item, Either):
            return [o if isinstance(o, kind) else None for o in item.options]
        return [item if isinstance(item, kind) else None]

    def held_a(self, ref: Any) -> Any:
        """Return a container's content in the first of the states being joined."""
        return self.held(self.met.left, ("h", ref.cell))

    def held_b(self, ref: Any) -> Any:
        """Return a container's content in the second of the states being joined."""
        return self.held(self.met.right, ("h", ref.cell))

    def join_undefined(self, item: Any, side: int) -> Template:
        """Return the template of a name that has a value on one path only."""
        if isinstance(item, Poison):
            return Template("poison", like=item)
        if isinstance(item, Tup):
            parts = tuple(self.join_undefined(i, side) for i in item.items)
            return Template("tuple", parts, item.like, item.names)
        state = (self.met.left, self.met.right)[side]
        if isinstance(item, Array | View):
            if self.alone(item, side):
                return Template("array", marks=self.marks((item, state)))
            return self.one_sided("choice", item, side)
        if is_number(item) and not isinstance(item, Known):
            return Template("leaf")
        if isinstance(item, tuple):
            parts = tuple(self.join_undefined(i, side) for i in item)
            return Template("items", parts)
        if isinstance(item, RunList):
            return Template("runlist", like=item.shape)
        if isinstance(item, dict):
            parts = tuple(self.join_undefined(i, side) for i in item.values())
            return Template("dictitems", parts, names=tuple(item))
        for kind, word in ((ListRef, "list"), (DictRef, "dict")):
            if isinstance(item, kind):
                held = self.held(state, ("h", item.cell))
                if self.alone(item, side) and held is not UNDEFINED:
                    return Template(word, (self.join_undefined(held, side),))
                return replace(self.one_sided("either", item, side), like=word)
        if isinstance(item, Either):
            word = "list" if isinstance(item.options[0], ListRef) else "dict"
            return replace(self.one_sided("either", item, side), like=word)
        if isinstance(item, Obj):
            held = self.held(state, ("h", item.cell))
            if self.alone(item, side) and isinstance(held, dict):
                part = self.join_undefined(held, side)
                return Template("object", (part,), like=item)
        if isinstance(item, Known | Function | Partial | Iterable | Walker | type):
            return Template("same", like=item)
        return Template(
            "poison", like=Poison("a name has a value on one of the paths only")
        )

    def one_sided(self, kind: str, item: Any, side: int) -> Template:
        """Return the template of a reference that only one path has."""
        pair = (item, UNDEFINED) if side == 0 else (UNDEFINED, item)
        return self.choice_template(kind, *pair)

    def run_shape(self, a: Any, b: Any) -> Any:
        """Return the common structure of the items of two lists."""
        shapes: list[Any] = []
        for held in (a, b):
            if isinstance(held, RunList):
                shapes.append(held.shape)
            else:
                shapes.extend(self.item_shape(i) for i in held)
        if not shapes:
            return None
        # An empty run-time list has no structure of its own yet.
        first = max(shapes, key=width)
        if any(s != first for s in shapes if s is not None or first is None):
            raise self.refuse(
                "the items of a list with a run-time length differ in structure",
                "append items of one kind: all numbers, or tuples of one length.",
            )
        return first

    def item_shape(self, item: Any) -> Any:
        """Return the structure of one item of a run-time list."""
        if isinstance(item, Tup):
            return tuple(map(self.item_shape, item.items))
        if isinstance(item, ListRef):
            held = self.state.get(("h", item.cell))
            if isinstance(held, RunList):
                return None
            if isinstance(held, tuple) and all(map(is_number, held)):
                if held:
                    return tuple(map(self.item_shape, held))
                return self._item_without_shape(item)
        if is_number(item):
            return None
        return self._item_without_shape(item)

    def _item_without_shape(self, item: Any) -> Any:
        """Ask for known items where an item cannot be kept in a run-time list."""
        if self.active_loops:
            # Written out iteration by iteration, the list's items are known.
            raise self.need_static(
                self.active_loops[-1], "the items of this list must be known"
            )
        raise self.refuse(
            f"{self.describe(item)} cannot be kept in a list whose length is known "
            "only at run time",
            "append numbers, arrays or tuples of them.",
        )

    def flatten(self, template: Template, item: Any) -> list[Arg]:
        """Return an abstract value as the graph values of a template."""
        if template.kind in ("same", "poison", "alias"):
            return []
        if item is UNDEFINED:
            if template.kind == "runlist":
                return [self.emit("list") for _ in range(template.width)]
            return [UNDEFINED] * template.width
        if template.kind in ("leaf", "array"):
            return [self.operand(item)]
        if template.kind in ("choice", "either"):
            return self.flatten_choice(template, item)
        if template.kind == "stream":
            return self.flatten(template.parts[0], item.position)
        if template.kind == "tuple":
            items = item.items
        elif template.kind == "range":
            items = tuple(map(_bound, item.range))
        elif template.kind in ("list", "dict", "object"):
            return self.flatten(template.parts[0], self.content(item.cell))
        elif template.kind == "items":
            items = item
        elif template.kind == "dictitems":
            items = tuple(item.values())
        elif template.kind == "runlist":
            return list(self.run_list(item, template.like).leaves)
        else:
            raise InternalError(f"cannot flatten {template.kind}")
        found: list[Arg] = []
        for part, one in zip(template.parts, items, strict=True):
            found += self.flatten(part, one)
        return found

    def instantiate(self, template: Template, values: Iterator[Value]) -> Any:
        """Rebuild an abstract value, or a cell's content, from graph values."""
        kind = template.kind
        if kind in ("same", "poison"):
            return template.like
        if kind == "leaf":
            value = next(values)
            return value
        if kind == "array":
            return Array(self.new_cell(template, next(values)))
        if kind == "alias" and isinstance(template.like, Obj):
            return replace(template.like, cell=self.group_cells[template.group])
        if kind == "alias":
            kinds = {"list": ListRef, "dict": DictRef}
            return kinds.get(template.like, Array)(self.group_cells[template.group])
        if kind in ("choice", "either"):
            return self.rebuild_choice(template, values)
        if kind == "tuple":
            items = tuple(self.instantiate(p, values) for p in template.parts)
            return Tup(items, template.like, template.names)
        if kind in ("list", "dict"):
            cell = self.new_cell(template, UNDEFINED)
            self.state["h", cell] = self.instantiate(template.parts[0], values)
            return ListRef(cell) if kind == "list" else DictRef(cell)
        if kind == "object":
            cell = self.new_cell(template, UNDEFINED)
            self.state["h", cell] = self.instantiate(template.parts[0], values)
            return replace(template.like, cell=cell)
        if kind == "stream":
            position = self.instantiate(template.parts[0], values)
            return replace(template.like, position=position)
        if kind == "range":
            ends = [self.instantiate(p, values) for p in template.parts]
            start, stop, step = (e.value if isinstance(e, Known) else e for e in ends)
            length = stop if (start, step) == (0, 1) else None
            return Iterable(length=length, range=(start, stop, step))
        if kind == "items":
            return tuple(self.instantiate(p, values) for p in template.parts)
        if kind == "dictitems":
            return {
                k: self.instantiate(p, values)
                for k, p in zip(template.names, template.parts, strict=True)
            }
        if kind == "runlist":
            count = max(1, width(template.like))
            return RunList(tuple(next(values) for _ in range(count)), template.like)
        raise InternalError(f"cannot rebuild {kind}")

    def run_list(self, held: Any, shape: Any) -> RunList:
        """Return a list's content as a run-time list of the given structure."""
        count = max(1, width(shape))
        if isinstance(held, RunList):
            if held.shape == shape:
                return held
            # An empty list begun without structure.
            return RunList(tuple(self.emit("list") for _ in range(count)), shape)
        columns: list[list[Arg]] = [[] for _ in range(count)]
        for item in held:
            for column, leaf in zip(columns, self.item_leaves(item), strict=True):
                column.append(leaf)
        return RunList(tuple(self.emit("list", *c) for c in columns), shape)

    def item_leaves(self, item: Any) -> list[Arg]:
        """Return the graph values of one item of a run-time list."""
        if isinstance(item, Tup):
            return [leaf for i in item.items for leaf in self.item_leaves(i)]
        if isinstance(item, ListRef):
            held = self.content(item.cell)
            if isinstance(held, tuple):
                self.state["ro", item.cell] = _IN_LIST
                return [leaf for i in held for leaf in self.item_leaves(i)]
        if isinstance(item, Array | View):
            for cell in mentions(item):
                self.state["ro", cell] = _IN_LIST
        return [self.operand(item)]

    # Types where paths meet

    def join_types(self, a: Arg, b: Arg) -> Type | None:
        """Return a type that covers two arguments, or None."""
        return self.types.join(a, b)


def _bound(arg: Any) -> Any:
    """Return a bound of a range as an abstract value."""
    return arg if isinstance(arg, Value) else Known(arg)


_IN_LIST = (
    "an array that is an item of a list with a run-time length is changed in place",
    "append a copy (`items.append(x.copy())`), or write `x = x + ...`.",
)
