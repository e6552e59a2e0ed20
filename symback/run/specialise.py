"""From a live function and arguments to the text and the function that run for them."""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import __version__
from ..assumptions import Assumptions, Refine
from ..emit import emit
from ..errors import (
    NotDifferentiableError,
    NotScalarError,
    ShapeError,
    Span,
    UnsupportedSyntaxError,
)
from ..graph import Arg, Graph, Value, leaves
from ..infer import quiet, silent
from ..inference import SampledTypes
from ..lower import (
    Lowerer,
    NeedStatic,
    Path,
    Raises,
    RuleGraphs,
    Unassigned,
    Written,
)
from ..passes import tidied, tidy
from ..signature import exact_key, measure
from ..transform import Joint, differentiate, jvp
from .arguments import call_bound
from .load import load
from .orders import Gradient, derived, innermost
from .report import unforeseen

__all__ = ["Source", "Specialised", "build", "generate"]

MAX_REFINED = 60
"""Times that a function is lowered, each time with something more taken for known."""

MORE = "hint: more is known with arguments: `f.backward_source_for(...)`."

MANY = 4096
"""Witnessed signatures of one text; no more are remembered, nor witnessed."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Source:
    """Generated text and what is needed to run it.

    text : the module.  name : the function in it.  parameters : its positional
    parameters.  captured : its keyword parameters and where their values are read.
    guards : objects that were taken as known; the text holds while they are the same.
    untidied : the joint graph before the passes, which has all the `cotangents`.
    assumed : what of the arguments is taken for known.  sizes : the names of their
    lengths and integers, in order; actual : what they were.
    argument_changed : where an array among the arguments is written, if one is.
    loose : captured parameters of which only the type matters.
    """

    text: str
    name: str
    parameters: tuple[str, ...]
    captured: tuple[tuple[str, Path], ...]
    guards: Mapping[Path, Any]
    primal: Graph
    joint: Graph
    cotangents: Mapping[Value, Any] = field(default_factory=dict)
    assumed: Assumptions = field(default_factory=Assumptions)
    sizes: tuple[str, ...] = ()
    actual: Mapping[str, int] = field(default_factory=dict)
    scalar: bool = False
    untidied: Graph | None = None
    argument_changed: Span | None = None
    loose: frozenset[str] = frozenset()

    def fits(self, arguments: tuple[Any, ...]) -> bool:
        """Say whether the sizes of arguments of the same pattern are as assumed."""
        if not self.assumed.conditional:
            return True
        lengths, integers = measure(arguments)
        # Captured objects have the sizes that they had: their own key says so.
        found = dict(zip(self.sizes, (*lengths, *integers), strict=False))
        return self.assumed.fit({**self.actual, **found})

    def read_captured(self) -> dict[str, Any]:
        """Read the captured objects as they are now."""
        return {name: path.get() for name, path in self.captured}

    def captured_key(self) -> Any:
        """Return a key of what the text takes as known of the captured objects."""
        found = ((name, path.get()) for name, path in self.captured)
        return tuple(
            type(thing) if name in self.loose else exact_key(thing)
            for name, thing in found
        )

    def holds(self) -> bool:
        """Say whether everything taken as known is still the same."""
        return all(_unchanged(path, taken) for path, taken in self.guards.items())


@dataclass
class Specialised:
    """A source and what was loaded from it.

    function : computes with NumPy's numbers, and is always right.
    fast : where all values are single numbers, computes with Python's own, which raise
        where NumPy's are infinite.
    primal : the user's function.
    exact_for : the exact key of the arguments, for sources that hold for it alone.
    captured_key : the exact key of the captured objects.
    plain : the text of `function` where `fast` runs another.
    witnessed : the exact keys for which the user's function was run beside it.
    """

    source: Source
    function: Callable[..., Any]
    fast: Callable[..., Any] | None
    primal: Callable[..., Any]
    exact_for: Any = None
    captured_key: Any = None
    plain: str = ""
    witnessed: set[Any] = field(default_factory=set)

    def note_witnessed(self, key: Any) -> None:
        """Remember that nothing is wrong for an exact key."""
        if len(self.witnessed) < MANY:
            self.witnessed.add(key)

    def call(self, arguments: tuple[Any, ...]) -> Any:
        """Return value and gradient."""
        captured = self.source.read_captured()
        if self.source.argument_changed is not None:
            _separate(self.source.argument_changed, (arguments, captured))
        if self.fast is None:
            return self.function(*arguments, **captured)
        try:
            return self.fast(*arguments, **captured)
        except (ArithmeticError, ValueError):
            return self.careful(arguments, captured)

    def text_for(self, arguments: tuple[Any, ...]) -> str:
        """Return the text that runs for some arguments: Python numbers may overflow."""
        if self.fast is None:
            return self.source.text
        try:
            self.fast(*arguments, **self.source.read_captured())
        except (ArithmeticError, ValueError):
            return self.plain
        return self.source.text

    def careful(self, arguments: tuple[Any, ...], captured: dict[str, Any]) -> Any:
        """Return value and gradient where Python's own numbers overflow or divide by 0.

        What the user's function raises is raised; where it has a value, NumPy's
        numbers carry the infinities of its slopes.
        """
        try:
            return self.function(*arguments, **captured)
        except (ArithmeticError, ValueError):
            # A pullback's text takes a cotangent after the arguments.
            count = sum(p.kind != "captured" for p in self.source.primal.params)
            self.primal(*arguments[:count])
            return self.function(*map(np.float64, arguments), **captured)


def _separate(place: Span, items: Any) -> None:
    """Refuse arguments of which one is written while another shares its memory.

    The text works on copies of the arguments, where a write through one is not seen
    through the other.
    """
    arrays = [leaf for leaf in leaves(items) if isinstance(leaf, np.ndarray)]
    for one, other in itertools.combinations(arrays, 2):
        if np.shares_memory(one, other):
            raise UnsupportedSyntaxError(
                "an argument is changed in place that shares memory with another",
                place,
                "give copies: `f(x, x.copy())`.",
            )


def _unchanged(path: Path, expected: Any) -> bool:
    last = path.steps[-1] if path.steps else None
    try:
        if last is not None and last[0] in ("text", "has"):
            owner = Path(path.kind, path.root, path.name, path.steps[:-1]).get()
            if last[0] == "has":
                return hasattr(owner, last[1]) is expected
            code, defaults, named = expected
            return (
                owner.__code__ is code
                and owner.__defaults__ is defaults
                and owner.__kwdefaults__ is named
            )
        if last is not None and last[1] == "" and last[0] in ("len", "keys", "type"):
            owner = Path(path.kind, path.root, path.name, path.steps[:-1]).get()
            about: dict[str, Callable[[Any], Any]] = {
                "len": len,
                "keys": tuple,
                "type": type,
            }
            return bool(about[last[0]](owner) == expected)
        found = path.get()
    except (LookupError, ValueError, AttributeError, TypeError, StopIteration):
        return False
    if found is expected:
        return True
    plain = (bool, int, str, bytes, complex)
    return (
        isinstance(expected, plain)
        and type(found) is type(expected)
        and bool(found == expected)
    )


def generate(
    function: Any,
    arguments: dict[str, Any],
    wrt: tuple[str, ...],
    single: bool,
    generic: bool = False,
    seed: float | None = 1.0,
    forward: bool = False,
    has_aux: bool = False,
) -> Source:
    """Lower, differentiate and print a function for some arguments.

    Args:
        function: the user's function, or a gradient of it.
        arguments: bound arguments by name, in order; in a generic source, those without
            a default that decides something are `dataclasses.MISSING`.
        wrt: the parameters to differentiate by.
        single: give one gradient itself instead of a tuple.
        generic: for any shapes, before any call.
        seed: the cotangent of the result; None: the text takes it after the arguments.
        forward: the text gives the value and its tangent, and takes the tangents of
            `wrt` after the arguments.
        has_aux: the function returns a pair, the loss and what is carried along.

    Raises:
        UnsupportedSyntaxError, MissingRuleError, NotScalarError, ShapeError, ...
    """
    function, inner = innermost(function)
    form = Form(wrt, single, seed, inner, forward, has_aux)
    with unforeseen(function):
        return _settled(function, arguments, form, generic)


def _settled(
    function: Any, arguments: dict[str, Any], form: Form, generic: bool
) -> Source:
    """Generate again and again until nothing more of the arguments must be known."""
    assumed = Assumptions(generic=generic)
    problem: Exception | None = None
    written: frozenset[tuple[int, Any]] = frozenset()
    for _ in range(MAX_REFINED):
        low = Lowerer(assumed)
        low.written = written
        low.wrt = form.wrt
        try:
            with quiet(), _deep():
                source = _generate(low, function, arguments, form)
            if low.misfit is not None:
                _confirm(low.misfit, function, arguments)
            return source
        except Written as need:
            written |= {need.what}
        except Refine as need:
            # Where nothing more can be assumed, this is what is wrong.
            problem = need.problem or problem
            if need.refined == assumed:
                break
            assumed = need.refined
        except (Unassigned, Raises) as need:
            if generic:
                need.problem.add_note(MORE)
            raise need.problem from None
        except UnsupportedSyntaxError as refusal:
            if problem is not None:
                raise problem from None
            if generic and "backward_source_for" not in (refusal.hint or ""):
                refusal.add_note(MORE)
            raise
        except NeedStatic as need:
            refined = low.knowing(need)
            if refined is None:
                hint = "give arguments: `f.backward_source_for(...)`."
                raise UnsupportedSyntaxError(
                    f"{need.why.removesuffix(' without running')} without running the "
                    "function",
                    need.span,
                    hint if generic else None,
                ) from None
            assumed = refined
    raise problem or UnsupportedSyntaxError(
        "too much of this function depends on its arguments"
    )


@contextmanager
def _deep() -> Iterator[None]:
    """Let nested expressions and calls be lowered to any depth that symback allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 30_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _confirm(misfit: ShapeError, function: Any, arguments: dict[str, Any]) -> None:
    """Raise the error about shapes if the user's function fails on copies as well."""
    try:
        with silent():
            call_bound(function, copy.deepcopy(arguments))
    except ValueError as problem:
        raise misfit from problem


@dataclass(frozen=True)
class Form:
    """What is generated of a function.

    wrt, single, seed : of the last derivative; see `generate`.
    inner : the gradients that it is the derivative of.
    forward : it is the tangent, not the cotangents.
    has_aux : the function returns the loss and what is carried along.
    """

    wrt: tuple[str, ...]
    single: bool
    seed: float | None
    inner: tuple[Gradient, ...]
    forward: bool = False
    has_aux: bool = False


def _generate(
    low: Lowerer, function: Any, arguments: dict[str, Any], form: Form
) -> Source:
    title = getattr(function, "__name__", "loss")
    title = title if title.isidentifier() else "loss"
    primal = low.lower(function, arguments, title)
    wrt = form.wrt
    for names in (wrt, *(one.wrt for one in form.inner)):
        _check_wrt(low, names, primal.source)
    for one in form.inner:
        title += "_value_and_grad" if one.valued else "_grad"
    name = f"{title}_value_and_grad" if form.seed is not None else f"{title}_vjp"
    if form.forward:
        name = f"{title}_jvp"
    place = primal.source
    where = "" if place is None else f"{place.where.rsplit(':', 1)[0]}:"
    by = ", ".join(wrt)
    heading = (
        f"Generated by symback {__version__} from {where}{title}, "
        f"{'tangent' if form.forward else 'gradient'} of {title} by {by}."
    )
    primal = tidied(primal)
    types = SampledTypes(low.sampler, low.assumed)
    rules = RuleGraphs(types, low.complex_seen)
    sequences = frozenset(low.looped)
    primal = derived(primal, form.inner, low.trees, types, rules, sequences)
    primal = replace(primal, name=title)
    trees = [low.trees[w] for w in wrt]
    aux: Arg = None
    loss = primal
    if form.has_aux:
        loss, aux = _without_aux(primal)
    if form.forward:
        joint = Joint(jvp(primal, trees, types, rules))
    else:
        joint = differentiate(
            loss,
            trees,
            types,
            rules,
            seed=form.seed,
            single=form.single,
            sequences=sequences,
        )
    joint.graph = replace(joint.graph, title=heading)
    if form.has_aux:
        value, bars = joint.graph.result
        joint.graph = joint.graph.giving(((value, aux), bars))
    parameters = (
        *arguments,
        *(p.name for p in joint.graph.params[len(primal.params) :]),
    )
    return finish(low, primal, joint, name, parameters)


def _without_aux(primal: Graph) -> tuple[Graph, Arg]:
    """Return the graph of the loss alone, and what is carried along with it."""
    result = primal.result
    if not isinstance(result, tuple) or len(result) != 2:
        raise NotScalarError(
            f"`{primal.name}` does not return a pair, though `has_aux=True`",
            primal.source,
            "return the loss and what is carried along: `return loss, aux`.",
        )
    return primal.giving(result[0]), result[1]


def finish(
    low: Lowerer, primal: Graph, joint: Joint, name: str, parameters: tuple[str, ...]
) -> Source:
    """Tidy and print a joint graph."""
    graph = tidy(replace(joint.graph, name=name))
    used = {v for node in graph.block.walk() for v in node.uses}
    captured_used = tuple(
        (p.name, path)
        for p, path in zip(low.captured, low.capture_paths, strict=True)
        if p.value in used or _in_result(graph, p.value)
    )
    names = {n for n, _ in captured_used}
    params = tuple(p for p in graph.params if p.kind != "captured" or p.name in names)
    graph = replace(graph, params=params).check()
    start = next(
        (k for k, node in enumerate(graph.block.nodes) if node.role == "backward"),
        len(graph.block.nodes),
    )
    scalar = low.mode != "generic" and _all_scalar(graph)
    text = emit(graph, backward_from=start, scalars="math" if scalar else "numpy")
    return Source(
        text,
        name,
        parameters,
        captured_used,
        dict(low.guards),
        primal,
        graph,
        joint.cotangents,
        replace(low.assumed, bounds=tuple(low.sampler.bounds)),
        tuple(low.sampler.actual),
        dict(low.sampler.actual),
        scalar,
        joint.graph,
        low.argument_changed,
        frozenset(low.loose),
    )


def _in_result(graph: Graph, value: Value) -> bool:
    return any(leaf is value for leaf in leaves(graph.result))


def _all_scalar(graph: Graph) -> bool:
    """Say whether the whole graph computes with single numbers."""
    if any(n.op.acts or "catch" in n.kwargs for n in graph.block.walk()):
        return False
    values = [p.value for p in graph.params]
    values += [o for n in graph.block.walk() for o in n.outs]
    return all(v.type is not None and v.type.is_scalar for v in values)


def _check_wrt(low: Lowerer, wrt: tuple[str, ...], span: Span | None) -> None:
    for name in wrt:
        tree = low.trees[name]
        if tree.kind == "static":
            raise NotDifferentiableError(
                f"`{name}` is not a number or an array: there is no gradient by it",
                span,
                "name other parameters in `wrt`.",
            )


def build(source: Source, function: Any) -> Specialised:
    """Load a source's text."""
    with unforeseen(function):
        return _loaded(source, function)


def _loaded(source: Source, function: Any) -> Specialised:
    title = getattr(function, "__qualname__", "loss")
    filename = f"<symback {title} value_and_grad {next(_numbers)}>"
    loaded = load(source.text, source.name, filename)
    if not source.scalar:
        return Specialised(source, loaded, None, function)
    plain = emit(source.joint, backward_from=None, scalars="numpy")
    filename = f"<symback {title} value_and_grad {next(_numbers)}>"
    careful = load(plain, source.name, filename)
    return Specialised(source, careful, loaded, function, plain=plain)
