"""Find the function that a command names, and make it differentiable.

A target is `FILE:FUNCTION` or `package.module:FUNCTION`.  Its module is imported, hence
run, as `python FILE` would run it, but not as `__main__`.  Wrong usage is raised as
`argparse.ArgumentError`, whose message is for the person at the terminal.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import traceback
from argparse import ArgumentError
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["differentiable_function", "find", "last_place"]


def find(target: str) -> Any:
    """Import the target's module and return what the target names in it."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise ArgumentError(
            None,
            f"'{target}' names no function: write FILE:FUNCTION, as in fit.py:loss, "
            "or package.module:FUNCTION",
        )
    sys.path.insert(0, "")
    # What the module prints on import is no result of the command.
    with redirect_stdout(sys.stderr):
        module = _import(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ArgumentError(None, _missing(place, part, found))
        found = getattr(found, part)
    if not callable(found):
        kind = type(found).__name__
        raise ArgumentError(None, f"'{name}' in {place} is no function but: {kind}")
    return found


def differentiable_function(found: Any, wrt: str | None) -> Any:
    """Return `found` if it is decorated and `wrt` is None; else decorate it.

    `wrt` is as on the command line: `all`, or names or positions between commas.
    """
    from symback.api import DifferentiableFunction, differentiable

    if isinstance(found, DifferentiableFunction):
        if wrt is None:
            return found
        found = found.__wrapped__
    if wrt is None:
        return differentiable(found)
    parts = [int(part) if part.isdecimal() else part for part in wrt.split(",")]
    return differentiable(found, wrt=parts[0] if len(parts) == 1 else tuple(parts))


def last_place(error: BaseException, inside: str | None = None) -> str | None:
    """Return `file:line` where the error arose, of the deepest frame in `inside`."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if inside is None or frame.filename == inside:
            return f"{frame.filename}:{frame.lineno}"
    return None


def _import(place: str) -> ModuleType:
    path = Path(place)
    is_file = path.suffix == ".py" or path.is_file()
    if is_file and not path.is_file():
        raise ArgumentError(None, f"there is no file {place}")
    try:
        return _import_file(path) if is_file else importlib.import_module(place)
    except ModuleNotFoundError as error:
        if not is_file and error.name and place.startswith(error.name):
            raise ArgumentError(
                None, f"there is no module {error.name}; a file is named {place}.py"
            ) from error
        raise ArgumentError(None, f"importing {place} failed: {error}") from error
    except (Exception, SystemExit) as error:
        where = f" ({last_place(error)})"
        if isinstance(error, SyntaxError) and error.lineno is not None:
            where = f" ({error.filename}:{error.lineno})"
            error = SyntaxError(error.msg)
        raise ArgumentError(
            None, f"importing {place} failed: {type(error).__name__}: {error}{where}"
        ) from error


def _import_file(path: Path) -> ModuleType:
    """Import a file under the name it has in its package, or under its own."""
    path = path.resolve()
    parts = [path.stem]
    root = path.parent
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    sys.path.insert(0, str(root))
    found = sys.modules.get(path.stem)
    if len(parts) > 1:
        found = importlib.import_module(".".join(parts))
    if found and found.__file__ and path == Path(found.__file__).resolve():
        return found
    # A name that is taken, as in a user's random.py, must go on meaning what it did.
    name = path.stem if path.stem not in sys.modules else f"{path.stem} of the target"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ArgumentError(None, f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _missing(place: str, name: str, found: Any) -> str:
    message = f"there is no '{name}' in {place}"
    names = [n for n, value in vars(found).items() if callable(value)]
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"{message}; did you mean '{close[0]}'?"
    home = getattr(found, "__name__", None)
    own = [n for n in names if getattr(vars(found)[n], "__module__", None) == home]
    return f"{message}; it has {', '.join(own[:8])}" if own else message
