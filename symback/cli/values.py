"""Read the values of a function's parameters from the command line.

`--at NAME=VALUE` gives a Python literal or the contents of a .npy or .csv file, and
`--shape NAME=64,784` normal random numbers.  Wrong usage is raised as
`argparse.ArgumentError`, whose message is for the person at the terminal.
"""

from __future__ import annotations

import ast
import inspect
from argparse import ArgumentError
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["call_arguments", "read"]

Parameter = inspect.Parameter


def read(at: Sequence[str], shape: Sequence[str], seed: int) -> dict[str, Any]:
    """Return parameter names with their values, in the order given.

    >>> read(["w=0.5", "x=[1, 2]"], ["X=2,3"], seed=0)["x"]
    array([1, 2])
    """
    values: dict[str, Any] = {}
    for text in at:
        name, value = _split(text, "--at", "w=0.5")
        values[name] = _value(name, value)
    rng = np.random.default_rng(seed)
    for text in shape:
        name, size = _split(text, "--shape", "X=64,784")
        if name in values:
            raise ArgumentError(None, f"'{name}' is given both a value and a shape")
        values[name] = rng.standard_normal(_dimensions(name, size))
    return values


def call_arguments(
    function: Any, values: dict[str, Any], target: str, command: str
) -> tuple[list[Any], dict[str, Any]]:
    """Arrange values as positional and keyword arguments of the function.

    Raises `ArgumentError` for a name that the function does not have, and for a
    parameter without a value, with a command to paste.
    """
    parameters = inspect.signature(function).parameters
    catch_all = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    label = target.rpartition(":")[2]
    for name in values:
        if name not in parameters and not catch_all:
            known = ", ".join(parameters)
            raise ArgumentError(
                None, f"{label} has no parameter '{name}'; it has {known}"
            )
    missing = [
        name
        for name, p in parameters.items()
        if name not in values
        and p.default is Parameter.empty
        and p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    ]
    if missing:
        raise ArgumentError(None, _suggestion(missing, values, target, command))

    rest = dict(values)
    positional: list[Any] = []
    for name, p in parameters.items():
        if p.kind is Parameter.VAR_POSITIONAL:
            positional.extend(rest.pop(name, ()))
        elif p.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
            break
        elif name in rest:
            positional.append(rest.pop(name))
        else:
            break
    for name, p in parameters.items():
        if p.kind is Parameter.VAR_KEYWORD and isinstance(rest.get(name), dict):
            rest.update(rest.pop(name))
    return positional, rest


def _split(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier() or not value.strip():
        raise ArgumentError(
            None, f"{option} takes NAME=VALUE, as in {option} {example}, not '{text}'"
        )
    return name.strip(), value.strip()


def _value(name: str, text: str) -> Any:
    suffix = Path(text).suffix.lower()
    if suffix in (".npy", ".csv"):
        return _file(name, Path(text), suffix)
    if text.lstrip("+-").lower() in ("inf", "nan"):
        return float(text)
    try:
        return _arrays(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ArgumentError(
            None,
            f"'{text}' for '{name}' is neither a Python literal nor a .npy or .csv "
            f"""file; a string is written --at "{name}='{text}'\"""",
        ) from None


def _file(name: str, path: Path, suffix: str) -> Any:
    try:
        if suffix == ".npy":
            return np.load(path, allow_pickle=False)
        lines = path.read_text(encoding="utf-8-sig").splitlines()
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        # A first line that holds no number is a header.
        head = 1 if lines and not _is_number(lines[0].split(",")[0]) else 0
        return np.loadtxt(lines[head:], delimiter=",")
    except (OSError, ValueError) as error:
        raise ArgumentError(
            None, f"cannot read '{name}' from {path}: {error}"
        ) from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _arrays(value: Any) -> Any:
    """Turn lists of numbers into arrays, inside tuples, lists and dicts too."""
    if isinstance(value, tuple):
        return tuple(_arrays(item) for item in value)
    if isinstance(value, dict):
        return {key: _arrays(item) for key, item in value.items()}
    if isinstance(value, list):
        try:
            array = np.array(value)
        except ValueError:  # rows of different lengths, or tuples among lists
            return [_arrays(item) for item in value]
        return (
            array if array.dtype.kind in "biufc" else [_arrays(item) for item in value]
        )
    return value


def _dimensions(name: str, text: str) -> tuple[int, ...]:
    parts = [part for part in text.strip("()").split(",") if part.strip()]
    if not all(part.strip().isdecimal() for part in parts):
        raise ArgumentError(
            None,
            f"'{text}' is no shape for '{name}': write its sizes, as in "
            f"--shape {name}=64,784",
        )
    return tuple(int(part) for part in parts)


def _suggestion(
    missing: list[str], values: dict[str, Any], target: str, command: str
) -> str:
    """Say what has no value, with a command that gives each one something."""
    shown = ", ".join(missing)
    words = [f"symback {command} {target}"]
    for name in [*values, *missing]:
        if name in missing:
            # Mathematicians write matrices in capitals.
            words.append(f"--shape {name}=3,2" if name[:1].isupper() else "")
            words[-1] = words[-1] or f"--at {name}=0.5"
        elif isinstance(values[name], np.ndarray):
            size = ",".join(str(n) for n in values[name].shape)
            words.append(f"--shape {name}={size}")
        else:
            words.append(f'--at "{name}={values[name]!r}"')
    return f"no value for {shown}; for instance\n  {' '.join(words)}"
