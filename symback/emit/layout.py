"""Lines of code become a module: comments in a column, nothing beyond 88 characters."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence

from ..errors import Span
from .lines import Line

__all__ = ["comments", "paragraph", "wrap"]

WIDTH = 88
COLUMN = 44
"""The rightmost column at which comments are aligned."""
SHOWN = 10
"""Characters of the user's line that must fit beside a statement to be shown there."""


def comments(lines: Sequence[Line], sections: dict[int, str]) -> list[str]:
    """Return the text of a function's body with its comments.

    At the first of the lines that come from one line of the user's stands its place,
    and its text when it is mentioned first.  `sections` maps indices of lines to the
    comment above them.
    """
    texts = [wrap(line.text, line.depth) for line in lines]
    notes = _notes(lines, sections)
    fitting = [
        len(text[0])
        for text, note in zip(texts, notes, strict=True)
        if note and len(text) == 1 and len(text[0]) + 2 <= COLUMN
    ]
    column = max(fitting, default=0) + 2
    out: list[str] = []
    for number, (text, note) in enumerate(zip(texts, notes, strict=True)):
        pad = text[0][: len(text[0]) - len(text[0].lstrip())]
        if number in sections:
            out += [""] * bool(out) + [f"{pad}# {sections[number]}"]
        if note:
            place, code = note
            start = max(column, len(text[0]) + 2)
            room = WIDTH - start - len(place) - 4
            if len(text) > 1 or room < min(len(code), SHOWN) - (not code) * 2:
                out.append(_cut(f"{pad}# {place}  {code}".rstrip()))
            else:
                text = [_cut(f"{text[0]:{start}}# {place}  {code}".rstrip())]
        out += text
    return out


def _notes(
    lines: Sequence[Line], sections: dict[int, str]
) -> list[tuple[str, str] | None]:
    """Return the place and the code to show beside each line."""
    found: list[tuple[str, str] | None] = []
    shown: set[tuple[str, int]] = set()
    last: tuple[str, int] | None = None
    width = max((len(s.where) for s in _spans(lines)), default=0)
    for number, line in enumerate(lines):
        span = line.span
        last = None if number in sections else last
        if span is None or (span.file, span.line) == last:
            found.append(None)
            continue
        last = (span.file, span.line)
        code = "" if last in shown else " ".join(span.text.split())
        shown.add(last)
        found.append((f"{span.where:{width}}" if code else span.where, code))
    return found


def _spans(lines: Iterable[Line]) -> list[Span]:
    return [line.span for line in lines if line.span is not None]


def _cut(text: str) -> str:
    """Shorten a comment to fit; one that begins too far right stays whole."""
    if len(text) <= WIDTH or text.find("# ") > WIDTH - SHOWN:
        return text
    return text[: WIDTH - 4].rstrip() + " ..."


def paragraph(parts: Sequence[str], separator: str) -> list[str]:
    """Return parts joined into comment lines that fit.

    >>> paragraph(["x: float", "y: int"], "  ")
    ['# x: float  y: int']
    """
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(separator) + len(part) <= WIDTH:
            lines[-1] += separator + part
        else:
            lines.append(f"# {part}")
    return lines


# Long lines


def wrap(text: str, depth: int) -> list[str]:
    """Return a statement, or the head of a compound one, in lines that fit.

    >>> for line in wrap("y = " + "f(" * 20 + "x" + ", 1000000)" * 20, 0)[:2]:
    ...     print(line)
    y = f(
        f(
    """
    pad = "    " * depth
    if len(pad) + len(text) <= WIDTH and "\n" not in text:
        return [pad + text]
    if "\n" in text:
        return [pad + line for line in text.split("\n")]
    lines = _split(text, depth)
    if max(map(len, lines)) > max(WIDTH, len(text) - 16):
        return [pad + text]
    return lines if _same(text, lines) else [pad + text]


def _same(text: str, lines: list[str]) -> bool:
    """Return whether wrapped lines mean what the one line does."""
    tail = " pass" if text.endswith(":") else ""
    head = "if a: pass\n" if text.startswith("elif ") else ""
    joined = "\n".join(lines)
    joined = joined[len(joined) - len(joined.lstrip()) :]
    try:
        one, other = (ast.parse(head + t + tail) for t in (text, joined))
    except SyntaxError:
        return False
    return ast.dump(one) == ast.dump(other)


def _split(text: str, depth: int, comma: str = "") -> list[str]:
    """Break a piece of text at its last bracket, or put brackets around it."""
    pad = "    " * depth
    whole = pad + text + comma
    if len(whole) <= WIDTH:
        return [whole]
    for start, end in reversed(_brackets(text)):
        head, inner, tail = text[: start + 1], text[start + 1 : end], text[end:]
        room = WIDTH if text.startswith("for ") else 24
        if not inner or len(pad) + len(head) > WIDTH or len(tail) > room:
            continue
        return [pad + head, *_inside(inner, depth + 1, text, start), pad + tail + comma]
    prefix, wide, suffix = _statement_parts(text)
    if wide is not None:
        body = _inside(wide, depth + 1, "(", 0)
        return [f"{pad}{prefix}(", *body, f"{pad}){suffix}{comma}"]
    parts = _operands(text)
    if len(parts) > 1:
        lines = [line for part in parts for line in _split(part, depth)]
        lines[-1] += comma
        return lines
    return [whole]


def _inside(inner: str, depth: int, text: str, start: int) -> list[str]:
    """Return what stands between brackets, in one line or an item a line."""
    pad = "    " * depth
    if len(pad) + len(inner) <= WIDTH:
        return [pad + inner]
    items = _items(inner)
    called = text[start] == "(" and start > 0 and (text[start - 1] not in " ([{,")
    if len(items) == 1 and not called:
        return _split(inner, depth)
    if len(items) == 1 and " for " in inner:
        return _split(inner, depth)
    return [line for item in items for line in _split(item, depth, ",")]


def _statement_parts(text: str) -> tuple[str, str | None, str]:
    """Return what comes before and after the expression of a statement."""
    suffix = ":" if text.endswith(":") else ""
    body = text[: len(text) - len(suffix)]
    for word in ("return ", "if ", "elif ", "while ", "assert ", "raise "):
        if body.startswith(word):
            return word, body[len(word) :], suffix
    if body.startswith("for "):
        targets, _, walked = body[4:].partition(" in ")
        return "for ", targets, f" in {walked}:"
    depth = 0
    for kind, string, column in _tokens(body):
        depth += (string in "([{") - (string in ")]}") if kind == tokenize.OP else 0
        if depth == 0 and kind == tokenize.OP and string.endswith("="):
            if string not in ("==", "!=", "<=", ">="):
                end = column + len(string) + 1
                return body[:end], body[end:], suffix
    return "", None, ""


def _tokens(text: str) -> list[tuple[int, str, int]]:
    """Return kind, text and column of the tokens of a line, as far as they go."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string:
                found.append((token.type, token.string, token.start[1]))
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def _brackets(text: str) -> list[tuple[int, int]]:
    """Return the columns of the outermost pairs of brackets."""
    found, stack = [], []
    for kind, string, column in _tokens(text):
        if kind == tokenize.OP and string in "([{":
            stack.append(column)
        elif kind == tokenize.OP and string in ")]}" and stack:
            start = stack.pop()
            if not stack:
                found.append((start, column))
    return found


def _items(text: str) -> list[str]:
    """Return the parts between the outermost commas."""
    return _cut_at(text, (",",), 1)


OPERATORS = (("if", "else"), ("or",), ("and",), ("+", "-"), ("*", "/", "@", "%"))
UNARY_AFTER = frozenset("( [ { , = + - * / // % @ ** < > <= >= == != : not in".split())


def _operands(text: str) -> list[str]:
    """Return the parts at the loosest binary operator, which begins all but the first.

    >>> _operands("a * b + c")
    ['a * b', '+ c']
    """
    for group in OPERATORS:
        parts = _cut_at(text, group, 0)
        if len(parts) > 1:
            return parts
    return [text]


def _cut_at(text: str, words: tuple[str, ...], drop: int) -> list[str]:
    """Cut at words outside brackets, where they stand between two operands."""
    parts, start, depth, before = [], 0, 0, "("
    for kind, string, column in _tokens(text):
        if kind == tokenize.OP and string in ")]}":
            depth -= 1
        if string in words and depth == 0 and before not in UNARY_AFTER:
            parts.append(text[start:column].strip())
            start = column + drop
        if kind == tokenize.OP and string in "([{":
            depth += 1
        before = string
    parts.append(text[start:].strip())
    return [part for part in parts if part]
