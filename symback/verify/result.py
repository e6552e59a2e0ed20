"""What a comparison found: rows, kinks, coverage, verdict; how it prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import RefutedError

__all__ = [
    "Branch",
    "Comparison",
    "Coverage",
    "Culprit",
    "Kink",
    "Row",
    "Witness",
    "weakest",
]

ORDER = ("refuted", "undecided", "agrees", "proved")

READABLE = 60
"""Operations up to which an expression is written out in a table."""

EXPRESSION_LIMIT = 20_000
"""Operations beyond which writing an expression out would take minutes."""


def weakest(verdicts: list[str]) -> str:
    """Return the weakest of some verdicts.

    >>> weakest(["proved", "agrees"])
    'agrees'
    """
    return min(verdicts, key=ORDER.index) if verdicts else "undecided"


@dataclass
class Row:
    """One entry of the gradient.

    how : by what the verdict was reached.  difference : the largest relative difference
        between the two sides at the points tried, None where there is no number.
    point, expected, got : where the two sides differ, if they do.
    float_doubt : what is true and what float64 gives, where that is too far off.
    """

    name: str
    verdict: str = "undecided"
    how: str = ""
    difference: float | None = None
    point: dict[str, float] = field(default_factory=dict, repr=False)
    expected: float | None = None
    got: float | None = None
    float_doubt: tuple[float, float] | None = field(default=None, repr=False)
    _symbolic: Any = field(default=None, repr=False)
    _generated: Any = field(default=None, repr=False)

    @property
    def symbolic(self) -> Any:
        """Return SymPy's derivative; None where it is too long to write out."""
        return _expression(self._symbolic)

    @property
    def generated(self) -> Any:
        """Return what the generated source computes, as a SymPy expression, or None."""
        return _expression(self._generated)

    @property
    def symbolic_text(self) -> str:
        """Return the derivative as text, or the number of its operations."""
        return _short(self._symbolic)

    @property
    def generated_text(self) -> str:
        """Return the generated expression as text, or the number of its operations."""
        return _short(self._generated)

    @property
    def symbolic_latex(self) -> str:
        """Return the derivative as LaTeX, "" where it is long."""
        return _latex(self._symbolic)

    @property
    def generated_latex(self) -> str:
        """Return the generated expression as LaTeX, "" where it is long."""
        return _latex(self._generated)


def _latex(node: Any) -> str:
    if node is None or node.size > READABLE:
        return ""
    from .expressions import latex

    return latex(node.expr)


def _expression(node: Any) -> Any:
    if node is None or node.size > EXPRESSION_LIMIT:
        return None
    return node.expr


def _short(node: Any) -> str:
    if node is None:
        return "—"
    if node.size > READABLE:
        return f"({node.size:,} operations)" if node.size < 10**9 else "(very long)"
    from .expressions import readable

    return readable(node.expr)


@dataclass(frozen=True)
class Kink:
    """An entry at which the function has no derivative at the caller's point.

    left, right : the one-sided slopes; generated : what the generated source returns,
    by the convention named.
    """

    name: str
    left: float
    right: float
    generated: float
    convention: str
    where: str = ""

    def __str__(self) -> str:
        return (
            f"kink at {self.name}: slopes {_number(self.left)} (left) and "
            f"{_number(self.right)} (right); the gradient is {_number(self.generated)} "
            f"({self.convention})" + (f", {self.where}" if self.where else "")
        )


@dataclass(frozen=True)
class Branch:
    """One comparison in the user's program and the answers that the points gave it."""

    file: str
    line: int
    code: str
    seen: tuple[bool, ...]

    def __str__(self) -> str:
        name = self.file.replace("\\", "/").rpartition("/")[2]
        answers = (
            "both ways"
            if len(self.seen) > 1
            else "only true"
            if self.seen[0]
            else "only false"
        )
        return f"{name}:{self.line} {self.code}: {answers} seen"


@dataclass(frozen=True)
class Coverage:
    """Which branches the points reached.

    points : compared; regions : different sets of outcomes among them.
    """

    branches: tuple[Branch, ...] = ()
    points: int = 0
    regions: int = 0

    @property
    def complete(self) -> bool:
        """Return whether every comparison was seen both ways."""
        return all(len(b.seen) > 1 for b in self.branches)

    def __str__(self) -> str:
        head = f"{self.points} points in {self.regions} regions"
        both = sum(len(b.seen) > 1 for b in self.branches)
        if not self.branches:
            return f"{head}; no branches"
        return f"{head}; {both} of {len(self.branches)} branching lines seen both ways"


@dataclass(frozen=True)
class Witness:
    """The directional derivative at the caller's real sizes.

    digits : 90, or 0 for differences in float64; name : of the parameter moved, if one.
    """

    direction: int
    expected: float
    got: float
    difference: float
    agrees: bool
    digits: int = 90
    name: str = ""


@dataclass(frozen=True)
class Culprit:
    """The operation whose local derivative is wrong.

    op : the operation, as `np.tanh`; file, line, code : the user's; argument : by which
    argument the derivative is wrong; emitted : the line of the gradient's source.
    judged : the file of a gradient that was given, "" for the generated source.
    """

    op: str
    file: str
    line: int
    code: str
    argument: str = ""
    emitted: str = ""
    emitted_line: int = 0
    why: str = ""
    judged: str = ""

    def __str__(self) -> str:
        name = self.file.replace("\\", "/").rpartition("/")[2]
        by = f" by {self.argument}" if self.argument else ""
        text = f"{name}:{self.line}  {self.code}"
        text += f"\n  the derivative of {self.op}{by} is wrong"
        if self.emitted:
            short = self.judged.replace("\\", "/").rpartition("/")[2]
            where = f"{short}:" if short else "emitted line "
            text += f"\n  {where}{self.emitted_line}: {self.emitted}"
        return text + (f"\n  {self.why}" if self.why else "")


@dataclass(repr=False)
class Comparison:
    """Symbolic against generated, entry by entry.

    verdict : the weakest of the rows' and of the real-size witnesses'.
    findings : what a person should know besides, NaNs for example.
    sizes : how arrays were shrunk, or ""; source : the generated source compared.
    judged : the name of the gradient that was given to be judged, "" for the generated.
    complete : False where time or Ctrl-C ended it early; see `unfinished`.
    """

    name: str
    rows: list[Row] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    kinks: list[Kink] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    culprit: Culprit | None = None
    findings: list[str] = field(default_factory=list)
    region: tuple[str, ...] = ()
    sizes: str = ""
    source: str = field(default="", repr=False)
    seconds: float = 0.0
    unfinished: str = ""
    rounding: float | None = None
    failure: str = ""
    judged: str = ""

    @property
    def verdict(self) -> str:
        """Return proved, agrees, refuted or undecided."""
        if self.failure or any(not w.agrees for w in self.witnesses):
            return "refuted"
        return weakest([r.verdict for r in self.rows])

    @property
    def ok(self) -> bool:
        """Return whether the gradient was proved or agrees."""
        return self.verdict in ("proved", "agrees")

    @property
    def complete(self) -> bool:
        """Return whether nothing was cut short."""
        return not self.unfinished

    def raise_if_refuted(self) -> Comparison:
        """Return self, or raise `RefutedError` with arguments, values and line."""
        if self.verdict != "refuted":
            return self
        lines = [f"the generated gradient of {self.name} is wrong"]
        if self.judged:
            lines = [f"`{self.judged}` is no gradient of {self.name}"]
        wrong = [r for r in self.rows if r.verdict == "refuted"]
        for row in wrong[:3]:
            lines.append(
                f"by {row.name}: expected {_number(row.expected)}, "
                f"got {_number(row.got)} ({row.how})"
            )
        if len(wrong) > 3:
            lines.append(f"and {len(wrong) - 3} more entries")
        if wrong and wrong[0].point:
            shown = list(wrong[0].point.items())[:8]
            lines.append("at " + ", ".join(f"{n} = {v:.6g}" for n, v in shown))
        if self.failure:
            lines.append(self.failure)
        for w in self.witnesses:
            if not w.agrees:
                lines.append(
                    f"along random direction {w.direction} at the real sizes: expected "
                    f"{_number(w.expected)}, got {_number(w.got)}"
                )
        if self.culprit is not None:
            lines.append(str(self.culprit))
        raise RefutedError("\n".join(lines))

    def __repr__(self) -> str:
        return str(self)  # a prompt shows the table

    def __str__(self) -> str:
        from ..show.tables import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from ..show.tables import comparison_html

        return comparison_html(self)


def _number(x: float | None) -> str:
    if x is None:
        return "—"
    return f"{x:.12g}"


Step = Callable[[str], None]
"""Called with a word on what is being done."""
