"""Rules as graphs: a rule's text is lowered once for each kind of arguments.

What the transform gets is a `Fragment`, which its builder inlines and types anew; so a
text that was lowered for one function serves all others that use it alike.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .. import runtime
from ..errors import InternalError, Span
from ..graph import Arg, Block, Fragment, Value, leaves, map_leaves
from ..inference import SampledTypes
from ..operation import Text
from ..operations import helpers
from ..types import Type
from .abstract import Known, ListRef, NeedStatic, RunList, Tup
from .core import COMPLEX
from .parameters import Lowerer

__all__ = ["RuleGraphs", "shows_complex"]

RULE_NAMES: dict[str, Any] = {
    **{name: getattr(helpers, name) for name in helpers.__all__},
    "np": np,
    "math": math,
    "runtime": runtime,
}
"""The names that rule texts may use; the lowering knows SciPy's."""

MAX_KEPT = 20_000
"""Fragments that are kept before all are forgotten."""

SIMPLE = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.dtype)
"""Types of constants that tell everything of themselves when they are printed."""

_fragments: dict[Any, Fragment] = {}


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[ast.expr, frozenset[str]]:
    """Return a rule's text as a tree, and the names in it."""
    tree = ast.parse(text, mode="eval").body
    return tree, frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))


@lru_cache(maxsize=4096)
def _wanted(function: Any) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


class RuleGraphs:
    """Gives the graphs of rules to the transforms.

    types : what types the graph that is differentiated.
    complex_seen : complex numbers may be about, though no type shows them.
    """

    def __init__(self, types: SampledTypes, complex_seen: bool = False) -> None:
        self.types = types
        self.complex_seen = complex_seen

    def fragment(
        self, text: Text, names: Mapping[str, Arg], span: Span | None
    ) -> tuple[Fragment, list[Arg]]:
        """Return the graph of a rule's text, and what its inputs stand for.

        names : what the rule's names stand for.  span : the place of the user's node.
        """
        tree: Any = text
        if isinstance(text, str):
            tree, wanted = _parsed(text)
        else:
            wanted = _wanted(text)
        names = {name: names[name] for name in sorted(wanted & names.keys())}
        found: dict[Value, Value] = {}
        for leaf in leaves(names):
            if isinstance(leaf, Value) and leaf not in found:
                found[leaf] = Value(None, leaf.type)
        key = self._key(text, names, found)
        fragment = _fragments.get(key) if key is not None else None
        if fragment is None:
            fragment = self._lowered(tree, names, found, span)
            if key is not None:
                if len(_fragments) > MAX_KEPT:
                    _fragments.clear()
                _fragments[key] = fragment
        return fragment, list(found)

    def _lowered(
        self,
        tree: Any,
        names: Mapping[str, Arg],
        found: dict[Value, Value],
        span: Span | None,
    ) -> Fragment:
        low = Lowerer(self.types.assumed)
        low.sampler = low.types.sampler = self.types.sampler
        low.complex_seen = self.complex_seen
        # What fails on samples here may be all right with the user's numbers.
        low.conditional = 1
        given = {
            name.lstrip("*"): _abstract(low, _placed(arg, found))
            for name, arg in names.items()
        }
        try:
            result = low.operand(low.rule_text(tree, given, RULE_NAMES, span))
        except NeedStatic as need:
            back = {new: old for old, new in found.items()}
            raise NeedStatic(_source(low, need.value, back), need.why, span) from None
        if low.captured:
            raise InternalError(f"a rule reads `{low.captured[0].name}` from outside")
        return Fragment(tuple(found.values()), tuple(low.nodes), result)

    def _key(
        self, text: Text, names: Mapping[str, Arg], found: Mapping[Value, Value]
    ) -> Any:
        """Return what a fragment depends on, or None if that cannot be said."""
        places = {value: place for place, value in enumerate(found)}

        def key(arg: Arg) -> Any:
            if isinstance(arg, Value):
                return places[arg], _kind(arg.type)
            if isinstance(arg, (tuple, list)):
                return type(arg).__name__, *map(key, arg)
            if isinstance(arg, slice):
                return "slice", key(arg.start), key(arg.stop), key(arg.step)
            if isinstance(arg, type):
                return arg
            if isinstance(arg, SIMPLE):
                return type(arg).__name__, repr(arg)
            raise TypeError

        try:
            parts = tuple((name, key(arg)) for name, arg in names.items())
        except TypeError:
            return None
        assumed = self.types.assumed
        mode = assumed.mode, bool(assumed.pinned)
        return text, mode, self.complex_seen, parts


def _kind(known: Type | None) -> Any:
    """Return what of a type lowering may depend on."""
    if known is None:
        return None
    shapes = tuple(_shape(sample) for sample in known.samples)
    return known.kind, known.dtype, known.dims, shapes


def _shape(sample: Any) -> Any:
    if isinstance(sample, np.ndarray):
        return sample.shape, sample.flags.c_contiguous, sample.flags.f_contiguous
    if isinstance(sample, (list, tuple)):
        return type(sample).__name__, *map(_shape, sample)
    if isinstance(sample, (bool, int, str)):
        return sample
    return type(sample).__name__


def _placed(arg: Arg, found: Mapping[Value, Value]) -> Arg:
    return map_leaves(lambda a: found[a] if isinstance(a, Value) else a, arg)


def _abstract(low: Lowerer, arg: Arg) -> Any:
    """Return a node's argument as an abstract value."""
    if isinstance(arg, Value):
        if arg.type is not None and arg.type.kind == "list":
            cell = low.fresh()
            low.state["h", cell] = RunList((arg,))
            return ListRef(cell)
        return arg
    if isinstance(arg, tuple):
        return Tup(tuple(_abstract(low, a) for a in arg))
    if isinstance(arg, list):
        return low.new_list([_abstract(low, a) for a in arg])
    if isinstance(arg, slice) and any(isinstance(a, Value) for a in leaves(arg)):
        parts = (arg.start, arg.stop, arg.step)
        return slice(*(None if p is None else _abstract(low, p) for p in parts))
    return Known(arg)


def _source(low: Lowerer, value: Any, back: Mapping[Value, Value]) -> Any:
    """Return the value outside that a value of a rule comes from."""
    todo, seen = [value], set()
    while todo:
        item = todo.pop()
        if not isinstance(item, Value) or item in seen:
            continue
        seen.add(item)
        if item in back:
            return back[item]
        node = low.defs.get(item)
        if node is not None:
            todo += node.inputs
    return value


def shows_complex(block: Block) -> bool:
    """Say whether complex numbers may be about in a graph without types."""
    return any(
        node.op in COMPLEX
        or node.op.startswith("np.fft.")
        or any(isinstance(a, complex) for a in leaves(node.args))
        for node in block.walk()
    )
