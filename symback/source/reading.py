"""Reading: the tree of a function exactly where it stands in the user's file.

So every message can point at the line and the characters.  Only the block of lines that
holds a function is parsed, so a long file costs no more than a short one; where the
block cannot be told, the file is, once for each of its contents.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import SourceUnavailableError, Span
from .compiled import compiled_alike

__all__ = ["FunctionSource", "read_function", "read_rule"]

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class FunctionSource:
    """A function's tree, whose positions are those of the user's file.

    `node` is the definition or the lambda; `lines` are all lines of `file`, without
    their newlines; `function` is the live function that was asked for, unwrapped.
    """

    node: Definition
    file: str
    lines: Sequence[str] = field(repr=False)
    function: types.FunctionType = field(repr=False)

    @property
    def name(self) -> str:
        """Return the name in the definition, ``<lambda>`` for a lambda."""
        return getattr(self.node, "name", "<lambda>")

    def span(self, node: ast.AST) -> Span:
        """Return where a node of the tree stands, in characters counted from 1.

        A definition's span is its first line; a node without a position of its own (an
        operator, a list of arguments) has that of its first part, or the function's.
        """
        placed = next((n for n in _outside_in(node) if hasattr(n, "lineno")), self.node)
        line = int(getattr(placed, "lineno", 1))
        end_line: int = getattr(placed, "end_lineno", None) or line
        column = self._column(line, getattr(placed, "col_offset", 0))
        if isinstance(placed, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            end_line, end_column = line, len(self._line(line).rstrip()) + 1
        else:
            end_column = self._column(end_line, getattr(placed, "end_col_offset", 0))
        return Span(
            self.file, line, column, end_line, end_column, self._line(line), self.name
        )

    def _line(self, line: int) -> str:
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def _column(self, line: int, offset: int) -> int:
        """Convert an offset in UTF-8 bytes from 0 to characters from 1."""
        text = self._line(line)
        if text.isascii():
            return offset + 1
        return len(text.encode()[:offset].decode(errors="ignore")) + 1


def read_function(fn: Callable[..., Any]) -> FunctionSource:
    """Return the source of a function, a lambda or a method.

    What `functools.lru_cache` and symback itself wrap is looked into; a wrapper written
    in Python, `functools.wraps` or not, is a function like any other.

    Raises:
        SourceUnavailableError: `fn` is built in, no function, typed at a prompt or made
            by ``exec``, or its file has gone or changed since it was imported.
    """
    function = _plain_function(fn)
    code = function.__code__
    file, name = code.co_filename, function.__qualname__
    if file in ("<stdin>", "<string>"):
        raise SourceUnavailableError(
            f"the source of `{name}` cannot be read: it was typed at a prompt or "
            "made by exec",
            hint="put the function in a file and import it, or use a notebook.",
        )
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise SourceUnavailableError(
            f"the source of `{name}` cannot be read: there is no text for {file}",
            hint="import the function from a .py file that is still in its place.",
        )
    return _read(file, lines, function)


def _read(file: str, raw: list[str], function: types.FunctionType) -> FunctionSource:
    """Find a function in its block of lines, or else in its file."""
    first = function.__code__.co_firstlineno
    definitions = _block(file, raw, first, _last_line(function.__code__))
    lines = _Lines(raw)
    try:
        return FunctionSource(_choose(definitions, function), file, lines, function)
    except SourceUnavailableError:
        definitions = _parsed(file, raw).get(first, ())
        return FunctionSource(_choose(definitions, function), file, lines, function)


class _Lines(Sequence[str]):
    """The lines of a file without their newlines, made when they are asked for."""

    def __init__(self, raw: list[str]) -> None:
        self.raw = raw

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [line.rstrip("\r\n") for line in self.raw[place]]
        return self.raw[place].rstrip("\r\n")


@functools.lru_cache(maxsize=1024)
def read_rule(function: types.FunctionType) -> FunctionSource:
    """Return the source of one of symback's own top-level functions.

    Only its own lines are parsed, not its file: a rule is read when it is first needed.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    first = code.co_firstlineno - 1
    last = first
    while lines[last].startswith("@"):
        last += 1
    last += 1
    while last < len(lines) and (not lines[last].strip() or lines[last][0] in " )"):
        last += 1
    tree = ast.parse("".join(lines[first:last]))
    ast.increment_lineno(tree, first)
    node = tree.body[0] if tree.body else None
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return read_function(function)
    return FunctionSource(node, code.co_filename, lines, function)


def _plain_function(fn: Any) -> types.FunctionType:
    """Look through wrappers and methods; raise where no Python function is inside."""
    found = fn
    seen: set[int] = set()
    while id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, types.MethodType):
            found = found.__func__
        elif not isinstance(found, types.FunctionType):
            # A wrapper written in Python is a function of its own: it may do more.
            found = getattr(found, "__wrapped__", found)
    if isinstance(found, types.FunctionType):
        return found
    name = getattr(found, "__qualname__", None) or getattr(found, "__name__", None)
    if isinstance(found, functools.partial):
        what, hint = "is a partial", "give the function inside it."
    elif isinstance(found, type):
        what, hint = "is a class, not a function", "give one of its methods."
    elif callable(found) and not name:
        name, what = type(found).__qualname__, "is a callable object, not a function"
        hint = "give its method `__call__`."
    elif callable(found):
        what = "is built in or compiled: it has no Python source"
        hint = f"call it in a function of your own: `def f(x): return {name}(x)`."
    else:
        name, what = repr(found), "is not a function"
        hint = "give a function."
    raise SourceUnavailableError(f"`{name or 'partial'}` {what}", hint=hint)


Definitions = dict[int, list[Definition]]
"""Definitions by the line that their code objects name first."""

_files: dict[str, tuple[list[str], Definitions]] = {}
_blocks: dict[tuple[str, int], tuple[list[str], Definitions]] = {}

LINES_TRIED = 40
"""Lines above a lambda at which its statement may begin, and ends that are tried."""


def _block(file: str, raw: list[str], first: int, last: int) -> Sequence[Definition]:
    """Return the definitions at a line, parsed from the block of lines around them.

    A block ends before a line that is indented no deeper than its first; inside strings
    and brackets such a line ends nothing, and what is before it does not parse.
    """
    known = _blocks.get((file, first))
    if known is not None and raw[first - 1 : first - 1 + len(known[0])] == known[0]:
        return known[1].get(first, ())
    head = raw[first - 1].lstrip() if first <= len(raw) else ""
    above = 1 if head.startswith(("@", "def ", "async ")) else LINES_TRIED
    for start in range(first, max(first - above, 0), -1):
        text = raw[start - 1] if start <= len(raw) else ""
        indent = len(text) - len(text.lstrip())
        for end in _ends(raw, start, max(first, last), indent):
            found = _parsed_block(raw[start - 1 : end], start, bool(indent))
            if found is not None and first in found:
                if start == first:
                    _blocks[file, first] = raw[start - 1 : end], found
                return found[first]
    return ()


def _ends(raw: list[str], start: int, last: int, indent: int) -> Iterator[int]:
    """Yield the last lines, counted from 1, that a block may have, nearest first."""
    tried = 0
    for number in range(last, len(raw)):
        line = raw[number]
        text = line.lstrip()
        if number >= start and text and len(line) - len(text) <= indent:
            yield number
            tried += 1
            if tried == LINES_TRIED:
                return
    yield len(raw)


def _parsed_block(lines: list[str], first: int, indented: bool) -> Definitions | None:
    """Parse lines by themselves; positions are those of their file."""
    try:
        # An indented block stands where it stood, below a line of its own.
        tree = _parse("if 1:\n" * indented + "".join(lines), "<block>")
    except (SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, first - 1 - indented)
    return _definitions(tree)


def _parse(text: str, file: str) -> ast.Module:
    with warnings.catch_warnings():
        # The user has already seen what Python says about this file.
        warnings.simplefilter("ignore")
        return ast.parse(text, file)


def _definitions(tree: ast.Module) -> Definitions:
    definitions: Definitions = {}
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            decorators = getattr(node, "decorator_list", ())
            first = min(n.lineno for n in (node, *decorators))
            definitions.setdefault(first, []).append(node)
    return definitions


def _parsed(file: str, raw: list[str]) -> Definitions:
    """Parse a file, or return what an earlier call parsed from the same lines."""
    known = _files.get(file)
    if known is not None and (known[0] is raw or known[0] == raw):
        return known[1]
    try:
        tree = _parse("".join(raw), file)
    except (SyntaxError, ValueError) as error:
        raise SourceUnavailableError(
            f"{file} is not Python any more: {error}",
            hint="undo the edit, or restart Python.",
        ) from error
    definitions = _definitions(tree)
    _files[file] = raw, definitions
    return definitions


def _mangle(node: ast.AST, owner: str, outermost: bool = True) -> None:
    """Give private names inside classes the names that Python's compiler gives them.

    >>> tree = ast.parse("def f(self): return self.__x")
    >>> _mangle(tree, "A")
    >>> "self._A__x" in ast.unparse(tree)
    True
    """
    if not owner:
        return
    if isinstance(node, ast.ClassDef):
        owner = node.name.lstrip("_")
    else:
        fields = () if isinstance(node, ast.keyword) else node._fields
        names = {"id", "attr", "arg", "asname"}
        if not outermost and isinstance(node, ast.FunctionDef):
            names.add("name")
        for name in names.intersection(fields):
            found = getattr(node, name)
            private = isinstance(found, str) and found.startswith("__")
            if private and not found.endswith("__"):
                setattr(node, name, f"_{owner}{found}")
    for child in ast.iter_child_nodes(node):
        _mangle(child, owner, False)


def _owner(function: types.FunctionType) -> str:
    """Return the class in which a function is defined, without leading underscores."""
    names = function.__qualname__.split(".")
    inside = [
        name
        for name, following in itertools.pairwise(names)
        if "<locals>" not in (name, following)
    ]
    return inside[-1].lstrip("_") if inside else ""


def _choose(
    definitions: Sequence[Definition], function: types.FunctionType
) -> Definition:
    """Return the definition that a function was compiled from.

    Several may begin on one line: names and parameters decide, then the positions of
    the instructions, which lie inside the right body and as tightly as can be.
    """
    code = function.__code__
    for definition in definitions:
        _mangle(definition, _owner(function))
    alike = [d for d in definitions if _signature(d) == _code_signature(code)]
    if len(alike) > 1:
        alike = _tightest(alike, code)
    if len(alike) == 1 and _last_line(code) <= (alike[0].end_lineno or 0):
        if compiled_alike(alike[0], code):
            return alike[0]
        alike = []
    if alike[1:]:
        raise SourceUnavailableError(
            f"which lambda of {code.co_filename}, line {code.co_firstlineno}, is meant "
            "cannot be told",
            hint="write each lambda on a line of its own.",
        )
    raise SourceUnavailableError(
        f"`{function.__qualname__}` is not at line {code.co_firstlineno} of "
        f"{code.co_filename}: the file has changed since it was imported",
        hint="reload the module or restart Python.",
    )


def _signature(node: Definition) -> tuple[str, ...]:
    """Return the name and the parameters, in the order of `co_varnames`."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return (getattr(node, "name", "<lambda>"), *names)


def _code_signature(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS)
    count += bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return (code.co_name, *code.co_varnames[:count])


def _last_line(code: types.CodeType) -> int:
    return max((line for *_, line in code.co_lines() if line), default=0)


def _tightest(
    definitions: Sequence[Definition], code: types.CodeType
) -> list[Definition]:
    """Keep the definitions whose extent fits the instructions' positions best."""
    places = [
        ((start, column), (end, end_column))
        for start, end, column, end_column in code.co_positions()
        if None not in (start, end, column, end_column) and end_column
    ]
    if not places:
        # 3.12 places nothing of `lambda: 1`; `-X no_debug_ranges`, nothing at all.
        return [
            d for d in definitions if _body_code(d) == (code.co_code, code.co_consts)
        ]
    first = min(begin for begin, _ in places)
    last = max(end for _, end in places)

    def extent(node: Definition) -> tuple[tuple[int, int], tuple[int, int]]:
        inside = node.body if isinstance(node, ast.Lambda) else node
        begin = (inside.lineno, inside.col_offset)
        return begin, (inside.end_lineno or 0, inside.end_col_offset or 0)

    around = [d for d in definitions if extent(d)[0] <= first and last <= extent(d)[1]]
    # Nested lambdas begin later than the ones around them: the innermost fits best.
    around.sort(key=lambda d: extent(d)[0])
    return around[-1:]


def _body_code(node: Definition) -> tuple[bytes, tuple[Any, ...]] | None:
    """Compile a lambda by itself and return its instructions and constants."""
    if not isinstance(node, ast.Lambda):
        return None
    bare = ast.arguments(
        node.args.posonlyargs, node.args.args, node.args.vararg,
        node.args.kwonlyargs, [None] * len(node.args.kwonlyargs), node.args.kwarg, [],
    )  # fmt: skip
    alone = ast.copy_location(ast.Lambda(bare, node.body), node)
    for made in compile(ast.Expression(alone), "<lambda>", "eval").co_consts:
        if isinstance(made, types.CodeType):
            return made.co_code, made.co_consts
    return None


def _outside_in(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside_in(child)
