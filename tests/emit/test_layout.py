"""Lines that fit: wrapping and comments."""

from __future__ import annotations

import ast

import pytest

from symback.emit.layout import comments, paragraph, wrap
from symback.emit.lines import Line
from symback.errors import Span

NAME = "quite_a_long_name_for_a_variable"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = f(a)", ["x = f(a)"]),
        (
            f"x = f({NAME}, {NAME}, {NAME})",
            ["x = f(", *[f"    {NAME},"] * 3, ")"],
        ),
        (
            f"return {NAME}, (a, {NAME}, {NAME})",
            [f"return {NAME}, (", f"    a, {NAME}, {NAME}", ")"],
        ),
        (
            f"x = {NAME} * {NAME} + {NAME} * a - b",
            ["x = (", f"    {NAME} * {NAME}", f"    + {NAME} * a", "    - b", ")"],
        ),
        (
            f"if {NAME} > 0 and {NAME} < 1 or {NAME} == 2:",
            ["if (", f"    {NAME} > 0 and {NAME} < 1", f"    or {NAME} == 2", "):"],
        ),
        (
            f"def f({NAME}, {NAME}_1, {NAME}_2):",
            ["def f(", f"    {NAME},", f"    {NAME}_1,", f"    {NAME}_2,", "):"],
        ),
        (
            f"for {NAME}, {NAME}_1, {NAME}_2 in reversed(saved):",
            [
                "for (",
                f"    {NAME},",
                f"    {NAME}_1,",
                f"    {NAME}_2,",
                ") in reversed(saved):",
            ],
        ),
        (f"x = '{'long text ' * 10}'", [f"x = '{'long text ' * 10}'"]),
    ],
)
def test_wrap(text: str, wanted: list[str]) -> None:
    assert wrap(text, 0) == wanted


def test_wrapped_lines_mean_the_same() -> None:
    inner = f"g({NAME}, [{NAME}, -{NAME} ** 2], k={NAME})"
    text = f"x[{NAME}, 1:] = f({inner}, {inner} if {NAME} else -1, lambda a: {inner})"
    lines = wrap(text, 2)
    assert all(len(line) <= 88 for line in lines)
    joined = "\n".join(lines).strip()
    assert ast.dump(ast.parse(joined)) == ast.dump(ast.parse(text))


def span(line: int, text: str) -> Span:
    return Span("/far/away/fit.py", line, text=text)


def test_comment_above_a_line_without_room() -> None:
    lines = [
        Line(1, "x = 1", span(3, "    x = 1")),
        Line(1, f"y = {NAME} + {NAME}", span(4, "    y = something rather long")),
        Line(1, "z = 2", span(4, "    y = something rather long")),
        Line(1, "x = 3", span(3, "    x = 1")),
        Line(1, f"y = {NAME} - {NAME} + abc", span(12, "    the end of it all, maybe")),
    ]
    assert comments(lines, {}) == [
        "    x = 1  # fit.py:3   x = 1",
        "    # fit.py:4   y = something rather long",
        f"    y = {NAME} + {NAME}",
        "    z = 2",
        "    x = 3  # fit.py:3",
        "    # fit.py:12  the end of it all, maybe",
        f"    y = {NAME} - {NAME} + abc",
    ]


def test_users_line_is_cut() -> None:
    (line,) = comments([Line(1, "x = 1", span(3, "x = " + "1 + " * 40))], {})
    assert len(line) <= 88
    assert line.endswith("+ 1 ...")


def test_paragraph() -> None:
    parts = [f"x{k}: float64[n]" for k in range(12)]
    lines = paragraph(parts, "  ")
    assert all(line.startswith("# x") and len(line) <= 88 for line in lines)
    assert " ".join(lines).replace("# ", "").split() == " ".join(parts).split()
