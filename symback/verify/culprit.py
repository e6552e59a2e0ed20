"""Which operation's local derivative is wrong.

The user's function is run once more with every operation recorded; SymPy's derivatives
of its definitions give what each operation must pass back to each of its arguments (an
edge).  Then the generated source is run with one value at a time replaced by what some
edge must pass back.  The first replacement that makes the whole gradient right names
the edge: it was computed wrongly there, and everything after it is right.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from .concolic import Concolic, Tape
from .deadline import Clock
from .expressions import adjoints, partials
from .points import same_point
from .probes import Probed, Reading
from .program import is_symbolic
from .record import Event, recording
from .result import Culprit
from .structure import entries, leaves

if TYPE_CHECKING:
    from .comparison import Work

__all__ = ["find"]

SECONDS = 6.0
"""Spent on the search at most."""

SAME = 1e-7
"""Relative difference of float64 numbers that mean the same."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Edge:
    """What an operation passes back to one argument.

    active : which entries of the argument depend on inputs; part : its contribution;
    total : the derivative of the loss by the argument, of all paths; reach : which
        entries of the gradient lie behind the argument, as bits.
    """

    event: Event
    number: int
    position: int
    active: Array
    part: Array
    total: Array
    reach: int


class _Truth:
    """All edges of the user's function at one point."""

    def __init__(self, work: Work, values: dict[str, Any]) -> None:
        tape = Tape(40, clock=work.clock)
        with recording(tape) as recorder:
            traced = work.programs.trace(tape, values, gradient=False)
        self.tape = tape
        self.names = traced.names
        found = adjoints(traced.loss)
        self.adjoint = {i: float(n.value) for i, n in found.items()}
        self.gradient = {
            n: self.adjoint.get(i.index, 0.0)
            for n, i in zip(traced.names, traced.inputs, strict=True)
        }
        self.bits = {i.index: 1 << k for k, i in enumerate(traced.inputs)}
        self.reach: dict[int, int] = {}
        self.slopes: dict[int, list[float]] = {}
        self.edges = [
            edge
            for number, event in enumerate(recorder.events)
            for edge in self.edges_of(event, number)
        ]

    def edges_of(self, event: Event, number: int) -> Iterator[Edge]:
        outputs = [n for n in event.output.reshape(-1) if isinstance(n, Concolic)]
        if not any(n.index in self.adjoint for n in outputs):
            return
        stops = {
            n.index
            for a in event.inputs
            for n in a.reshape(-1)
            if isinstance(n, Concolic)
        }
        passed = self.passed_back(outputs, stops)
        for position, a in enumerate(event.inputs):
            nodes = a.reshape(-1)
            if not any(isinstance(n, Concolic) and n.active for n in nodes):
                continue
            part = np.array([passed.get(_index(n), 0.0) for n in nodes])
            total = np.array([self.adjoint.get(_index(n), 0.0) for n in nodes])
            reach = 0
            for n in nodes:
                if isinstance(n, Concolic):
                    reach |= self.behind(n)
            yield Edge(
                event,
                number,
                position,
                np.array([isinstance(n, Concolic) and n.active for n in nodes]).reshape(
                    a.shape
                ),
                part.reshape(a.shape),
                total.reshape(a.shape),
                reach,
            )

    def maker(self, edge: Edge) -> Edge | None:
        """Return an edge of the operation that made the argument of another edge."""
        wanted = {_index(n) for n in edge.event.inputs[edge.position].reshape(-1)}
        for other in reversed(self.edges):
            if other.number < edge.number and any(
                _index(n) in wanted for n in other.event.output.reshape(-1)
            ):
                return other
        return None

    def passed_back(self, outputs: list[Concolic], stops: set[int]) -> dict[int, float]:
        """Return what flows from an operation's outputs to its inputs."""
        bar: dict[int, float] = {}
        pending = {n.index: n for n in outputs}
        for n in outputs:
            bar[n.index] = self.adjoint.get(n.index, 0.0)
        reached: dict[int, float] = {}
        while pending:
            index = max(pending)
            node = pending.pop(index)
            for argument, slope in zip(node.args, self.slopes_of(node), strict=True):
                if not argument.active:
                    continue
                flow = bar[index] * slope
                if argument.index in stops:
                    reached[argument.index] = reached.get(argument.index, 0.0) + flow
                else:
                    bar[argument.index] = bar.get(argument.index, 0.0) + flow
                    pending[argument.index] = argument
        return reached

    def slopes_of(self, node: Concolic) -> list[float]:
        found = self.slopes.get(node.index)
        if found is None:
            found = [float(p.value) for p in partials(node)] if node.args else []
            self.slopes[node.index] = found
        return found

    def behind(self, node: Concolic) -> int:
        """Return the inputs that a node is made of, as bits."""
        stack = [node]
        while stack:
            n = stack[-1]
            if n.index in self.reach:
                stack.pop()
                continue
            open_args = [a for a in n.args if a.active and a.index not in self.reach]
            if open_args:
                stack.extend(open_args)
                continue
            bits = self.bits.get(n.index, 0)
            for a in n.args:
                bits |= self.reach.get(a.index, 0) if a.active else 0
            self.reach[n.index] = bits
            stack.pop()
        return self.reach[node.index]


def _index(node: Any) -> int:
    return node.index if isinstance(node, Concolic) else -1


@dataclass(frozen=True)
class Success:
    """A replacement that makes the gradient right."""

    order: int
    probe: int
    edge: Edge
    kind: str
    put: list[Any]


class _Search:
    """Tries replacements in the generated source, in the order in which it computes."""

    def __init__(self, work: Work, truth: _Truth, values: dict[str, Any]) -> None:
        self.work = work
        self.truth = truth
        self.clock = Clock(min(SECONDS, work.clock.left))
        self.values = values
        loaded = work.programs.judged
        self.probed = Probed(loaded)
        self.captured = {
            k: work.programs.replaced.get(id(v), v) for k, v in loaded.captured.items()
        }
        self.scale = max(map(abs, truth.gradient.values()), default=1.0) or 1.0
        gradient = self.run({})
        self.readings: list[Reading] = list(self.probed.readings)
        self.wrong = 0
        for k, name in enumerate(truth.names):
            if not self.same(gradient.get(name), truth.gradient[name]):
                self.wrong |= 1 << k

    def run(self, put: dict[int, list[Any]]) -> dict[str, float]:
        programs = self.work.programs
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            found = self.probed.run(
                lambda function: programs.call_judged(
                    function, same_point(self.values), self.captured
                ),
                put,
            )
        parts = (found,) if programs.single else found
        return {
            n: float(x)
            for p, part in zip(programs.wrt, parts, strict=True)
            for n, x in entries(part, p)
        }

    def same(self, a: float | None, b: float) -> bool:
        return a is not None and abs(a - b) <= SAME * max(abs(b), 1e-3 * self.scale)

    def right(self, put: dict[int, list[Any]]) -> bool:
        try:
            gradient = self.run(put)
        except Exception:
            return False
        truth = self.truth.gradient
        return all(self.same(gradient.get(n), truth[n]) for n in truth)

    def by_probe(self) -> dict[int, list[Reading]]:
        """Return the readings of each probe, probes in the order of their first."""
        found: dict[int, list[Reading]] = {}
        for r in self.readings:
            found.setdefault(r.probe, []).append(r)
        return found

    def successes(self) -> list[Success]:
        found: list[Success] = []
        edges = [e for e in self.truth.edges if e.reach & self.wrong]
        sites: dict[Any, list[Edge]] = {}
        for e in edges:
            sites.setdefault((e.event.op, e.event.line, e.position), []).append(e)
        for order, (probe, readings) in enumerate(self.by_probe().items()):
            if found and order > found[0].order + 12:
                break
            for kind, edge, put in self.replacements(readings, edges, sites):
                if self.clock.over:
                    return found
                if self.right({probe: put}):
                    found.append(Success(order, probe, edge, kind, put))
        return found

    def replacements(
        self,
        readings: list[Reading],
        edges: list[Edge],
        sites: dict[Any, list[Edge]],
    ) -> Iterator[tuple[str, Edge, list[Any]]]:
        """Yield what could stand in place of the readings of one probe."""
        first = readings[0].value
        if len(readings) == 1:
            for edge in edges:
                for kind, value in (("part", edge.part), ("total", edge.total)):
                    new = _fitted(value, first)
                    if new is not None and not _close(new, first):
                        yield kind, edge, [new]
            return
        for group in sites.values():
            if len(group) != len(readings):
                continue
            for kind in ("part", "total"):
                values = [getattr(e, kind) for e in group]
                for ordered in (values[::-1], values):
                    news = [
                        _fitted(v, r.value)
                        for v, r in zip(ordered, readings, strict=True)
                    ]
                    if any(n is None for n in news):
                        continue
                    if not all(
                        _close(n, r.value) for n, r in zip(news, readings, strict=True)
                    ):
                        yield kind, group[-1], news

    def seen(self, edge: Edge) -> bool:
        """Return whether the source computes an edge's part somewhere already."""
        return any(
            r.value.shape == edge.part.shape and _close_at(edge, r.value)
            for r in self.readings
        )

    def seen_before(self, edge: Edge, order: int) -> bool:
        """Return whether an edge's part is an earlier value, or an argument."""
        given = [
            x for p, v in self.values.items() for _, x in leaves(v, p) if is_symbolic(x)
        ]
        earlier = [rs for k, rs in enumerate(self.by_probe().values()) if k < order]
        values = [*given, *(r.value for rs in earlier for r in rs)]
        return any(
            np.shape(v) == edge.part.shape and _close_at(edge, np.asarray(v))
            for v in values
        )


def _fitted(value: Array, like: Any) -> Any:
    """Return a value in the shape of a reading; None where that makes no sense."""
    if value.shape == like.shape:
        return value
    if like.shape == () and value.size and np.all(value == value.reshape(-1)[0]):
        return value.reshape(-1)[0]
    if value.size == like.size:
        return value.reshape(like.shape)
    return None


def _close_at(edge: Edge, value: Any) -> bool:
    """Return whether a value is an edge's part, where anything depends on inputs."""
    return _close(edge.part[edge.active], value[edge.active])


def _close(a: Any, b: Any) -> bool:
    size = float(np.max(np.abs(b), initial=0.0)) or 1.0
    return bool(np.all(np.abs(np.asarray(a) - b) <= 1e-9 * size))


def find(work: Work) -> Culprit | None:
    """Return the culprit of a refuted comparison, or None where it was not found."""
    if not work.refuting or work.result.failure:
        return None
    # At a random point different things have different values; at 0 and 1 they do not.
    values = work.refuting[min(1, len(work.refuting) - 1)]
    truth = _Truth(work, values)
    try:
        search = _Search(work, truth, values)
    except (SyntaxError, ValueError, TypeError, LookupError, NameError):
        return None
    except ArithmeticError:  # single numbers raise where arrays are infinite
        return None
    if not search.wrong:
        return None
    found = search.successes()
    if found:
        return _named(search, _best(search, found))
    return _guessed(search)


def _best(search: _Search, found: list[Success]) -> Success:
    probed = search.probed

    def rank(s: Success) -> tuple[Any, ...]:
        line = probed.places.get(probed.lines[s.probe])
        return (
            line is not None and line != s.edge.event.line,
            s.edge.reach != search.wrong,
            s.order,
            s.kind == "total",
            search.seen(s.edge),
            -s.edge.number,
        )

    return min(found, key=rank)


def _named(search: _Search, best: Success) -> Culprit:
    probed = search.probed
    line = probed.lines[best.probe]
    edge, why = best.edge, ""
    if best.kind == "total":
        edge, why = _missing(search, best)
    elif search.seen_before(edge, best.order):
        # Passed back rightly, and spoilt after: by what made the argument.
        maker = search.truth.maker(edge)
        if maker is not None:
            edge = maker
    text, number = probed.line(line)
    return _culprit(edge, text, number, why, probed.file)


def _missing(search: _Search, best: Success) -> tuple[Edge, str]:
    """Return the edge whose part lacks in a sum, if one does."""
    readings = [r for r in search.readings if r.probe == best.probe]
    for new, reading in zip(best.put, readings, strict=True):
        lacking = np.asarray(new) - reading.value
        if not np.any(lacking):
            continue
        for edge in reversed(search.truth.edges):
            part = _fitted(edge.part, lacking)
            if part is not None and np.any(part) and _close(part, lacking):
                return edge, "its contribution is missing"
    return best.edge, "a contribution is missing or counted twice"


def _guessed(search: _Search) -> Culprit | None:
    """Name the last operation whose part is nowhere, behind which all is wrong."""
    for exact in (True, False):
        for edge in reversed(search.truth.edges):
            fits = edge.reach == search.wrong if exact else edge.reach & search.wrong
            if fits and np.any(edge.part) and not search.seen(edge):
                return _culprit(edge, "", 0, "the most likely of several")
    return None


def _culprit(
    edge: Edge, emitted: str, emitted_line: int, why: str, judged: str = ""
) -> Culprit:
    event = edge.event
    nodes = [n for n in event.inputs[edge.position].reshape(-1)]
    names = [n.payload for n in nodes if isinstance(n, Concolic) and n.op == "input"]
    argument = names[0].partition("[")[0] if names else ""
    if not argument and len(event.inputs) > 1:
        argument = f"argument {edge.position + 1}"
    return Culprit(
        judged=judged,
        op=event.op,
        file=event.file,
        line=event.line,
        code=linecache.getline(event.file, event.line).strip(),
        argument=argument,
        emitted=emitted.partition("  #")[0].rstrip(),
        emitted_line=emitted_line,
        why=why,
    )
