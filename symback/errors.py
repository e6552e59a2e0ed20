"""Every exception that symback raises on purpose.

Each says what is wrong in the user's words, where (file, line, caret) and how to
cure it.  The place is a `Span`; Python itself draws the line and the caret for
`UnsupportedSyntaxError`, and the other classes append the same drawing to their
message, so that tracebacks and pytest show it alike.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "InternalError",
    "MissingRuleError",
    "NotDifferentiableError",
    "NotScalarError",
    "RefutedError",
    "ShapeError",
    "SourceUnavailableError",
    "Span",
    "SymbackError",
    "UnsupportedSyntaxError",
    "printable",
]


@dataclass(frozen=True)
class Span:
    """A place in the user's text: lines and columns count characters from 1.

    `text` is the line exactly as the user wrote it, without its newline.
    """

    file: str
    line: int
    column: int = 1
    end_line: int | None = None
    end_column: int | None = None
    text: str = ""
    function: str = ""

    @property
    def where(self) -> str:
        """Return `file:line` with the file's last path component.

        >>> Span("src/fit.py", 8).where
        'fit.py:8'
        """
        name = self.file.replace(chr(92), "/").rsplit("/", 1)[-1]
        return f"{printable(name)}:{self.line}"

    @property
    def code(self) -> str:
        """Return the spanned characters of the first line, or the whole line."""
        end = self.end_column if self.end_line in (None, self.line) else None
        piece = self.text[self.column - 1 : end - 1 if end else None].rstrip()
        return piece or self.text.strip()

    def drawing(self) -> str:
        """Return the line and a caret under the place, as Python draws them.

        >>> print(Span("fit.py", 8, 5, 8, 9, "x = open(p)").drawing())
          File "fit.py", line 8
            x = open(p)
                ^^^^
        """
        stripped = self.text.lstrip()
        lead = len(self.text) - len(stripped)
        end = self.end_column if self.end_line in (None, self.line) else None
        end = end or len(self.text) + 1
        start = max(self.column - 1 - lead, 0)
        width = max(1, min(end - 1, len(self.text.rstrip())) - lead - start)
        caret = " " * start + "^" * width
        return f'  File "{self.file}", line {self.line}\n    {stripped}\n    {caret}'


def printable(text: str) -> str:
    r"""Return a text that stays on its line: what does not print is escaped.

    >>> printable("a\nb.py")
    'a\\nb.py'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class SymbackError(Exception):
    """The base of everything that symback raises on purpose.

    `span` is the place in the user's text, or None; `hint` is the cure.
    """

    def __init__(
        self, message: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        self.message = message
        self.span = span
        self.hint = hint
        parts = [message]
        if span is not None:
            parts.append(span.drawing())
        if hint is not None:
            parts.append(f"hint: {hint}")
        super().__init__("\n".join(parts))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.span, self.hint)


class SourceUnavailableError(SymbackError, OSError):
    """The function's source cannot be read: it is built in or was typed at a prompt."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedSyntaxError(SymbackError, SyntaxError):
    """A statement or expression lies outside the language that symback lowers.

    Python prints the file, the line and the caret from the `SyntaxError` fields.
    """

    def __init__(
        self, message: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        self.message = message
        self.span = span
        self.hint = hint
        if span is None:
            SyntaxError.__init__(self, message)
        else:
            place = (
                span.file,
                span.line,
                span.column,
                span.text,
                span.end_line or span.line,
                span.end_column or 0,
            )
            SyntaxError.__init__(self, message, place)
        if hint is not None:
            self.add_note(f"hint: {hint}")


class MissingRuleError(SymbackError, NotImplementedError):
    """An operation without a derivative rule is on an active path."""


class NotScalarError(SymbackError, TypeError):
    """The loss is not a scalar; use `vjp` or `jacobian` for arrays."""


class NotDifferentiableError(SymbackError, TypeError):
    """`wrt` names an integer, a string or an unknown parameter."""


class ShapeError(SymbackError, ValueError):
    """Operands do not fit; the message prints both shapes."""


class RefutedError(SymbackError, AssertionError):
    """The generated gradient differs from the symbolic one."""


class InternalError(SymbackError, RuntimeError):
    """An invariant of symback itself is broken; please report what it prints."""
