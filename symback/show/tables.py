"""Tables of results for terminals and notebooks.

`table` draws one for a terminal, with rich where it is installed and the output is a
terminal, else with plain characters; long cells are cut so that a row is a line.

>>> print(table(("entry", "verdict"), [("w", "proved"), ("b", "agrees")], width=40))
entry  verdict
─────  ───────
w      proved
b      agrees
"""

from __future__ import annotations

import html
import shutil
from collections.abc import Sequence
from typing import Any

__all__ = ["comparison_html", "comparison_text", "table"]

ROWS = 40
"""Rows printed before the rest is summed up."""

MARKS = {"proved": "✓", "agrees": "≈", "refuted": "✗", "undecided": "?"}


def terminal_width() -> int:
    """Return the columns of the terminal, 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def cut(text: str, width: int) -> str:
    """Shorten a text to a width, with an ellipsis.

    >>> cut("abcdefgh", 5)
    'abcd…'
    """
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None
) -> str:
    """Return a table as text no wider than a terminal.

    Wide columns give way first, equally, down to ten characters.
    """
    limit = width or terminal_width()
    columns = [
        max([len(str(h)), *(len(str(row[i])) for row in rows)])
        for i, h in enumerate(head)
    ]
    room = limit - 2 * (len(columns) - 1)
    while sum(columns) > room and max(columns) > 10:
        widest = max(range(len(columns)), key=columns.__getitem__)
        columns[widest] -= min(
            columns[widest] - 10, max(1, sum(columns) - room) // 2 + 1
        )

    def line(cells: Sequence[str]) -> str:
        parts = [cut(str(c), w).ljust(w) for c, w in zip(cells, columns, strict=True)]
        return "  ".join(parts).rstrip()

    rule = "  ".join("─" * w for w in columns)
    return "\n".join([line(head), rule, *map(line, rows)])


def _number(x: float | None) -> str:
    return "" if x is None else "0" if x == 0 else f"{x:.0e}"


def _summary(found: Any) -> str:
    counts = {
        v: sum(r.verdict == v for r in found.rows)
        for v in ("proved", "agrees", "refuted", "undecided")
    }
    parts = [f"{n} {v}" for v, n in counts.items() if n]
    return f"{found.name}: {found.verdict} ({', '.join(parts) or 'no entries'})"


def _remarks(found: Any) -> list[str]:
    """Return what is said under the table, a line each."""
    lines = []
    if found.sizes:
        lines.append(f"sizes: {found.sizes}")
    if found.region:
        shown = ", ".join(found.region[:6])
        more = f" and {len(found.region) - 6} more" if len(found.region) > 6 else ""
        lines.append(f"region: {shown}{more}")
    lines.append(f"coverage: {found.coverage}")
    lines += [f"  {b}" for b in found.coverage.branches if len(b.seen) < 2]
    lines += [str(k) for k in found.kinks]
    for w in found.witnesses:
        word = "agrees" if w.agrees else "WRONG"
        lines.append(
            f"direction {w.direction} at the real sizes, 90 digits: {word}, "
            f"difference {_number(w.difference)}"
        )
    lines += found.findings
    if found.failure:
        lines.append(found.failure)
    if found.unfinished:
        lines.append(found.unfinished)
    if found.culprit is not None:
        lines.append(f"culprit: {found.culprit}")
    lines.append(f"{found.seconds:.2f} s")
    return lines


def comparison_text(found: Any, width: int | None = None) -> str:
    """Return a comparison as a table and remarks."""
    head = ("", "entry", "symbolic", "generated", "difference", "how")
    order = {"refuted": 0, "undecided": 1}
    rows = sorted(found.rows, key=lambda r: order.get(r.verdict, 2))
    cells = [
        (
            MARKS[r.verdict],
            r.name,
            _side(r, "symbolic", r.expected),
            _side(r, "generated", r.got),
            _number(r.difference),
            f"{r.verdict}: {r.how}",
        )
        for r in rows[:ROWS]
    ]
    lines = [_summary(found), table(head, cells, width)]
    if len(rows) > ROWS:
        lines.append(f"and {len(rows) - ROWS} more entries")
    return "\n".join([*lines, *_remarks(found)])


def _side(row: Any, name: str, number: float | None) -> str:
    text = str(getattr(row, f"{name}_text"))
    if row.verdict == "refuted" and number is not None:
        return f"{number:.6g}" if len(text) > 40 else f"{text} = {number:.6g}"
    return text


COLOURS = {
    "proved": "#1a7f37",
    "agrees": "#0969da",
    "refuted": "#cf222e",
    "undecided": "#9a6700",
}


def comparison_html(found: Any) -> str:
    """Return a comparison as an HTML table with typeset mathematics."""
    head = "".join(
        f"<th style='text-align:left'>{h}</th>"
        for h in ("entry", "symbolic", "generated", "verdict", "how")
    )
    body = []
    for row in found.rows[:200]:
        colour = COLOURS[row.verdict]
        cells = [
            f"<code>{html.escape(row.name)}</code>",
            _math(row.symbolic_text, row, "symbolic"),
            _math(row.generated_text, row, "generated"),
            f"<b style='color:{colour}'>{MARKS[row.verdict]} {row.verdict}</b>",
            html.escape(row.how),
        ]
        joined = "".join(f"<td style='text-align:left'>{c}</td>" for c in cells)
        body.append(f"<tr>{joined}</tr>")
    remarks = "".join(f"<li>{html.escape(line)}</li>" for line in _remarks(found))
    return (
        f"<p><b>{html.escape(_summary(found))}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f"<ul>{remarks}</ul>"
    )


def _math(text: str, row: Any, side: str) -> str:
    if text.startswith("(") and text.endswith(("operations)", "long)")):
        return html.escape(text)
    latex = getattr(row, f"{side}_latex")
    return f"$\\displaystyle {html.escape(latex)}$" if latex else html.escape(text)
