"""The table of a finite-difference check, for terminals and notebooks."""

from __future__ import annotations

import html
import math
from typing import Any

from .tables import COLOURS, MARKS, ROWS, table

__all__ = ["check_html", "check_text"]

HEAD = ("", "entry", "generated", "differences", "relative", "")


def _value(x: float) -> str:
    return f"{x + 0.0:.9g}"


def _relative(row: Any) -> str:
    off = row.relative_difference
    if row.kink or math.isnan(off):
        return ""
    return "0" if off == 0 else f"{off:.0e}"


def _word(found: Any, row: Any) -> str:
    if found.unmeasured(row):
        return "no differences"
    if not row.kink:
        return "" if row.ok else "wrong"
    left, right = row.slopes
    word = "kink" if row.ok else "wrong at a kink"
    return f"{word}: {_value(left)} | {_value(right)}"


def _kind(found: Any, row: Any) -> str:
    if found.unmeasured(row):
        return "undecided"
    if not row.ok:
        return "refuted"
    return "undecided" if row.kink else "agrees"


def _mark(found: Any, row: Any) -> str:
    if found.unmeasured(row):
        return MARKS["undecided"]
    return {"refuted": MARKS["refuted"], "undecided": "∧"}.get(_kind(found, row), "✓")


def _summary(found: Any) -> str:
    without = sum(map(found.unmeasured, found.rows))
    wrong = sum(not r.ok for r in found.rows) - without
    kinks = sum(r.ok and r.kink for r in found.rows)
    fine = len(found.rows) - wrong - kinks - without
    counts = [
        (fine, "right"),
        (kinks, "at a kink"),
        (wrong, "wrong"),
        (without, "without differences"),
    ]
    parts = [f"{n} {word}" for n, word in counts if n]
    word = "gradient is right"
    if wrong:
        word = "gradient is WRONG"
    elif without:
        word = f"not checked, the value is {found.undefined}"
    return f"{found.name}: {word} ({', '.join(parts) or 'no entries'})"


def _remarks(found: Any) -> list[str]:
    lines = list(found.findings)
    if found.culprit is not None:
        lines.append(f"culprit: {found.culprit}")
    return lines


def _cells(found: Any, row: Any) -> tuple[str, ...]:
    return (
        _mark(found, row),
        row.label,
        _value(row.generated),
        _value(row.numeric),
        _relative(row),
        _word(found, row),
    )


def check_text(found: Any, width: int | None = None) -> str:
    """Return a check as a table and remarks, wrong rows first."""
    rows = sorted(found.rows, key=lambda r: (r.ok, not r.kink))
    cells = [_cells(found, r) for r in rows[:ROWS]]
    # The last column is for what is not plainly right.
    columns = len(HEAD) if any(c[-1] for c in cells) else len(HEAD) - 1
    shown = table(HEAD[:columns], [c[:columns] for c in cells], width)
    lines = [_summary(found), shown]
    if len(rows) > ROWS:
        lines.append(f"and {len(rows) - ROWS} more entries")
    return "\n".join([*lines, *_remarks(found)])


def check_html(found: Any) -> str:
    """Return a check as an HTML table, wrong rows first."""
    left = "style='text-align:left'"
    head = "".join(f"<th {left}>{h}</th>" for h in HEAD)
    rows = sorted(found.rows, key=lambda r: (r.ok, not r.kink))
    body = []
    for row in rows[:200]:
        kind = _kind(found, row)
        colour = COLOURS["proved" if kind == "agrees" else kind]
        mark, label, *rest = map(html.escape, _cells(found, row))
        cells = [
            f"<td {left}><b style='color:{colour}'>{mark}</b></td>",
            f"<td {left}><code>{label}</code></td>",
            *(f"<td {left}>{cell}</td>" for cell in rest),
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    remarks = "".join(
        f"<li style='white-space:pre-wrap'>{html.escape(line)}</li>"
        for line in _remarks(found)
    )
    return (
        f"<p><b>{html.escape(_summary(found))}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f"<ul>{remarks}</ul>"
    )
