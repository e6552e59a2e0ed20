"""Generated text becomes a function that debuggers and tracebacks can show."""

from __future__ import annotations

import linecache
import types
import weakref
from typing import Any

from ..errors import InternalError

__all__ = ["load"]


def load(
    text: str, name: str, filename: str, namespace: dict[str, Any] | None = None
) -> types.FunctionType:
    """Compile and run a module's text and return the function `name` that it defines.

    The text is registered in `linecache` under `filename` for as long as the function
    lives: tracebacks, pdb and `inspect.getsource` show its lines.  `namespace` becomes
    the function's globals; by default it is a new one.

    >>> double = load("def double(x):\\n    return 2 * x\\n", "double", "<double 1>")
    >>> double(21)
    42
    """
    if namespace is None:
        namespace = {"__name__": "symback.generated"}
    exec(compile(text, filename, "exec"), namespace)
    function = namespace.get(name)
    if not isinstance(function, types.FunctionType):
        raise InternalError(f"the generated text defines no function `{name}`\n{text}")
    # Without a time stamp: `linecache.checkcache` drops entries whose file has gone.
    entry = (len(text), None, text.splitlines(keepends=True), filename)
    linecache.cache[filename] = entry
    weakref.finalize(function, _forget, filename, entry)
    return function


def _forget(filename: str, entry: tuple[Any, ...]) -> None:
    """Drop a text from `linecache`, unless another one took its name meanwhile."""
    if linecache.cache.get(filename) is entry:
        del linecache.cache[filename]
