"""The command `symback`: show, draw, compare and check the gradient of a function.

Exit status: 0 is fine, 1 is a refuted comparison or a failed check, 2 is wrong usage
or a function that symback does not support.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from symback.errors import InternalError, SymbackError, UnsupportedSyntaxError

__all__ = ["main"]

FINE, REFUTED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

Result = tuple[int, str | None, dict[str, Any]]
"""Exit status, text for a person (or None if printed), and the same for a machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # An old terminal shows ? for a sign that it lacks, rather than failing.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], Result] = options.run
    as_json: bool = getattr(options, "json", False)
    try:
        # With --json, whatever the user's function prints is no part of the result.
        with redirect_stdout(sys.stderr if as_json else sys.stdout):
            status, text, data = command(options)
        if as_json:
            print(json.dumps(_plain(data), indent=2, ensure_ascii=False))
        elif text is not None:
            print(text)
        sys.stdout.flush()
    except BrokenPipeError:  # as in `symback show ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        print("symback: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        return _report(error, as_json)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="symback",
        description="Gradients of NumPy functions as source that you can read and "
        "have proved. FILE:FUNCTION imports, hence runs, the file.",
        epilog="Exit status: 0 fine, 1 refuted or check failed, 2 wrong usage or "
        "unsupported function.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    show = _command(commands, "show", _show, "print the gradient's generated source")
    _add_target(show)
    show.epilog = "With values, the source is the one specialised to their shapes."

    graph = _command(commands, "graph", _graph, "print or write the static graph")
    _add_target(graph)
    graph.add_argument("-o", "--output", metavar="PATH", help="a .txt or .dot file")

    compare = _command(
        commands, "compare", _compare, "SymPy's derivative against a gradient"
    )
    _add_target(compare)
    _add_gradient(compare)
    compare.add_argument("--points", type=_count, default=8, help="random points (8)")
    compare.add_argument("--digits", type=_count, default=50, help="of precision (50)")
    compare.add_argument("--seconds", type=_above_0, default=30, help="budget (30)")

    check = _command(commands, "check", _check, "finite differences against a gradient")
    _add_target(check)
    _add_gradient(check)
    check.add_argument("--step", type=_above_0, help="of the differences (chosen)")

    _command(commands, "demo", _demo, "train a network on real data, and prove it")
    return parser


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], Result], purpose: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=purpose, description=purpose[0].upper() + purpose[1:] + "."
    )
    parser.set_defaults(run=run, command=name)
    return parser


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", help="FILE:FUNCTION or package.module:FUNCTION")
    parser.add_argument(
        "--wrt", metavar="NAMES", help="differentiate by these, as w,b or all"
    )
    parser.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter's value: a literal, or a .npy or .csv file",
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=N,M",
        help="random numbers of this shape",
    )
    parser.add_argument("--seed", type=int, default=0, help="of random numbers (0)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_gradient(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--gradient",
        metavar="FILE:GRAD",
        help="judge this function instead of the generated source: it takes the same "
        "parameters and returns the gradient, or value and gradient",
    )


def _given(options: argparse.Namespace) -> Any:
    from symback.cli.target import find

    return None if options.gradient is None else find(options.gradient)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _above_0(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return number


def _version() -> str:
    from symback import __version__

    return f"symback {__version__}"


def _function(options: argparse.Namespace) -> Any:
    from symback.cli.target import differentiable_function, find

    return differentiable_function(find(options.target), options.wrt)


def _arguments(
    options: argparse.Namespace, function: Any
) -> tuple[list[Any], dict[str, Any]]:
    from symback.cli.values import call_arguments, read

    values = read(options.at, options.shape, options.seed)
    return call_arguments(function, values, options.target, options.command)


@contextmanager
def _asking_for_values() -> Iterator[None]:
    """Say how values are given here, where a function means nothing without them."""
    try:
        yield
    except UnsupportedSyntaxError as error:
        if any(
            "backward_source_for" in note for note in getattr(error, "__notes__", ())
        ):
            error.add_note(
                "here: --at NAME=VALUE, or --shape NAME=N,M, for each of them."
            )
        raise


def _show(options: argparse.Namespace) -> Result:
    from symback.show.terminal import print_source

    function = _function(options)
    if options.at or options.shape:
        args, kwargs = _arguments(options, function)
        source = function.backward_source_for(*args, **kwargs)
    else:
        with _asking_for_values():
            source = function.backward_source
    if not options.json:
        print_source(source)
    return FINE, None, {"function": options.target, "source": source}


def _graph(options: argparse.Namespace) -> Result:
    function = _function(options)
    if options.at or options.shape:
        args, kwargs = _arguments(options, function)
        graph = function.graph_for(*args, **kwargs)
    else:
        with _asking_for_values():
            graph = function.graph
    text = str(graph)
    data = {"function": options.target, "graph": text}
    if options.output is None:
        return FINE, text, data
    path = Path(options.output)
    form = {".txt": "__str__", ".dot": "to_dot"}.get(path.suffix)
    if form is None or not hasattr(graph, form):
        raise argparse.ArgumentError(
            None, f"a graph is not written as '{path.suffix}' yet; name a .txt file"
        )
    drawing: str = getattr(graph, form)()
    try:
        path.write_text(drawing.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        raise argparse.ArgumentError(None, f"cannot write {path}: {error}") from error
    return FINE, f"wrote {path}", {**data, "output": str(path)}


def _compare(options: argparse.Namespace) -> Result:
    function = _function(options)
    args, kwargs = _arguments(options, function)
    result = function.compare(
        *args,
        gradient=_given(options),
        points=options.points,
        digits=options.digits,
        seconds=options.seconds,
        **kwargs,
    )
    columns = ("name", "symbolic", "generated", "verdict", "how", "difference")
    data = {
        "function": options.target,
        "verdict": result.verdict,
        "ok": result.ok,
        "rows": _rows(result.rows, columns),
        "coverage": result.coverage,
        "kinks": result.kinks,
        "culprit": result.culprit,
    }
    return (FINE if result.ok else REFUTED), str(result), data


def _check(options: argparse.Namespace) -> Result:
    function = _function(options)
    args, kwargs = _arguments(options, function)
    result = function.check(
        *args, gradient=_given(options), step=options.step, **kwargs
    )
    columns = (
        "name",
        "index",
        "generated",
        "numeric",
        "relative_difference",
        "kink",
        "slopes",
    )
    data = {
        "function": options.target,
        "ok": result.ok,
        "rows": _rows(result.rows, columns),
        "culprit": result.culprit,
    }
    return (FINE if result.ok else REFUTED), str(result), data


def _demo(options: argparse.Namespace) -> Result:
    from symback.demo.training import main as demo

    return demo(), None, {}


def _rows(rows: Any, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{name: getattr(row, name) for name in columns} for row in rows]


def _plain(value: Any) -> Any:
    """Return value as JSON can hold it: numbers, text, lists and dicts."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        # JSON has no infinity and no NaN.
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return _plain(value.tolist())
    if is_dataclass(value):
        shown = [f.name for f in fields(value) if f.repr]
        return {name: _plain(getattr(value, name)) for name in shown}
    return str(value)


def _report(error: Exception, as_json: bool) -> int:
    """Say what went wrong, without a traceback unless the fault is symback's own."""
    if isinstance(error, argparse.ArgumentError):
        kind, message = "usage", f"symback: {error}"
    elif isinstance(error, SymbackError) and not isinstance(error, InternalError):
        kind = type(error).__name__
        # For a SyntaxError, Python draws the line and the caret here.
        lines = "".join(traceback.format_exception_only(error)).rstrip("\n")
        message = lines.replace(f"{type(error).__module__}.{kind}", kind)
    elif place := _users_place(error):
        kind = type(error).__name__
        message = f"symback: the function raised {kind}: {error}\n  at {place}"
    else:
        traceback.print_exception(error)
        kind = type(error).__name__
        message = "symback: this is a fault in symback itself; please report the above"
    if as_json:
        print(json.dumps({"error": {"class": kind, "message": message}}, indent=2))
    print(message, file=sys.stderr)
    return WRONG_USAGE


def _users_place(error: Exception) -> str | None:
    """Return the place if the error arose in, or was called by, a user's line."""
    ours = str(Path(__file__).parents[1])
    demo = str(Path(ours, "demo"))
    libraries = (sysconfig.get_path("stdlib"), "<frozen")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        if file.startswith(ours) and not file.startswith(demo):
            return None
        if file.startswith("<symback "):
            # Generated: its comment names the user's line.
            return (frame.line or file).strip()
        if "site-packages" not in file and not file.startswith(libraries):
            return f"{file}:{frame.lineno}"
    return None
