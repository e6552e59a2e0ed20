"""Names of operations: what the functions of libraries are called in a graph.

The tables here say what is true of a function whatever its arguments; `INTRINSICS` and
`OPERATIONS` are filled by the modules that lower some functions in a way of their own.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..operations import REGISTRY

__all__ = [
    "ALIASES",
    "ARRAY_KEYWORDS",
    "AS_OPERATORS",
    "FACTORED",
    "FIELDS",
    "GETTERS",
    "INTRINSICS",
    "MAYBE_VIEWS",
    "METHODS",
    "OPERATIONS",
    "OUTPUTS",
    "PARTS",
    "PRIVATE",
    "PURE_BUILTINS",
    "PYTHON_PARAMETERS",
    "REDUCTIONS",
    "SEQUENCES",
    "SHAPED",
    "STATIC_ARGUMENTS",
    "TABULATED",
    "UFUNC_ARITY",
    "VIEWS",
    "is_users",
    "library_method",
    "name_of",
    "operation_name",
]

METHODS = {
    "sum": "np.sum",
    "mean": "np.mean",
    "prod": "np.prod",
    "max": "np.max",
    "min": "np.min",
    "std": "np.std",
    "var": "np.var",
    "dot": "np.dot",
    "ravel": "np.ravel",
    "cumsum": "np.cumsum",
    "cumprod": "np.cumprod",
    "clip": "np.clip",
    "argmax": "np.argmax",
    "argmin": "np.argmin",
    "argsort": "np.argsort",
    "trace": "np.trace",
    "diagonal": "np.diagonal",
    "take": "np.take",
    "repeat": "np.repeat",
    "squeeze": "np.squeeze",
    "swapaxes": "np.swapaxes",
    "round": "np.round",
    "conj": "np.conj",
    "conjugate": "np.conj",
    "any": "np.any",
    "all": "np.all",
    "nonzero": "np.nonzero",
    "searchsorted": "np.searchsorted",
    "compress": "np.compress",
    "choose": "np.choose",
    "ptp": "np.ptp",
}
"""Array methods that are NumPy functions of the same arguments."""

VIEWS = frozenset(
    {
        "np.transpose",
        "np.reshape",
        "np.ravel",
        "np.swapaxes",
        "np.moveaxis",
        "np.squeeze",
        "np.expand_dims",
        "np.diagonal",
        "np.flip",
    }
)
"""Functions whose result shares memory with their first argument (or may)."""

OUTPUTS = {
    "np.linalg.slogdet": 2,
    "np.linalg.eigh": 2,
    "np.linalg.eig": 2,
    "np.linalg.qr": 2,
    "np.linalg.svd": 3,
    "np.modf": 2,
    "np.frexp": 2,
    "np.divmod": 2,
    "builtins.divmod": 2,
    "np.triu_indices": 2,
    "np.tril_indices": 2,
    "np.diag_indices": 2,
}
"""Operations with several outputs whose number does not depend on shapes."""

FIELDS = {
    "np.linalg.slogdet": ("sign", "logabsdet"),
    "np.linalg.eigh": ("eigenvalues", "eigenvectors"),
    "np.linalg.eig": ("eigenvalues", "eigenvectors"),
    "np.linalg.qr": ("Q", "R"),
    "np.linalg.svd": ("U", "S", "Vh"),
}
"""The names of the members where the outputs are a named tuple."""

PARTS = frozenset(
    {
        "np.split",
        "np.array_split",
        "np.vsplit",
        "np.hsplit",
        "np.dsplit",
        "np.unstack",
        "np.broadcast_arrays",
    }
)
"""Functions that return several arrays that are views of their arguments."""

MAYBE_VIEWS = frozenset(
    f"np.{n}"
    for n in (
        "asarray asanyarray ascontiguousarray atleast_1d atleast_2d atleast_3d "
        "broadcast_to require real imag asfortranarray matrix_transpose rot90 fliplr "
        "flipud rollaxis diag"
    ).split()
)
"""Functions whose result may be a view of their first argument."""

PRIVATE = {"np.asarray", "np.asanyarray", "np.ascontiguousarray", "np.atleast_1d"}
"""Functions that give an array itself where it is already as they want it."""


UFUNC_ARITY = {
    f"np.{name}": thing.nin
    for name, thing in vars(np).items()  # `getattr` would import NumPy's lazy parts
    if isinstance(thing, np.ufunc)
}
"""Numbers of operands of NumPy's elementwise functions."""

PYTHON_PARAMETERS: dict[Any, tuple[str, ...]] = {
    round: ("number", "ndigits"),
    pow: ("base", "exp"),
    complex: ("real", "imag"),
    int: ("x", "base"),
    float: ("x",),
    bool: ("x",),
    abs: ("x",),
    len: ("obj",),
    divmod: ("x", "y"),
    reversed: ("sequence",),
    isinstance: (),
    range: (),
    map: (),
    filter: (),
    getattr: (),
    hasattr: (),
}
"""The parameters of Python's functions, which may be named in a call."""

PURE_BUILTINS = frozenset({ord, chr, hash, id, bin, hex, oct, ascii, issubclass})
"""Functions of Python that depend on their arguments only."""

SEQUENCES = frozenset(
    f"np.{n}"
    for n in (
        "concatenate stack vstack hstack dstack column_stack block array asarray "
        "asanyarray ascontiguousarray select choose meshgrid einsum linalg.multi_dot "
        "piecewise ix_ broadcast_arrays append atleast_1d atleast_2d atleast_3d"
    ).split()
)
"""Functions that take a sequence of arrays, or make an array of one themselves."""

FACTORED = frozenset({"scipy.linalg.cho_solve"})
"""Functions whose first argument is a factor and what is known of it, as a tuple."""

TABULATED = frozenset(
    f"np.{n}"
    for n in (
        "interp dot matmul outer inner vdot convolve correlate polyval maximum minimum "
        "where add subtract multiply divide power trapezoid average cross kron "
        "logaddexp arctan2 hypot linalg.solve"
    ).split()
)
"""Functions that take arrays in other places than the first, too."""

STATIC_ARGUMENTS = frozenset({"axis", "axes", "keepdims", "ord"})
"""Arguments that the derivative must know to be written."""

ARRAY_KEYWORDS = frozenset({"weights", "where", "x", "xp", "fp", "mean", "cov", "b"})
"""Keywords under which functions take arrays."""

SHAPED = frozenset(
    f"np.{n}"
    for n in "zeros ones empty full eye identity arange linspace reshape".split()
)
"""Functions whose lists are shapes."""

REDUCTIONS = frozenset(
    f"np.{n}"
    for n in (
        "sum mean prod max min var std any all amax amin nansum nanmean nanvar nanstd "
        "nanmax nanmin nanprod average median"
    ).split()
)
"""Functions whose `where=` chooses what is reduced."""

INTRINSICS: dict[Any, Callable[[Any, list[Any], dict[str, Any]], Any]] = {}
"""Functions of Python (and of symback's rules) that lowering itself carries out."""

GETTERS: dict[type, Callable[..., Any]] = {}
"""What stands for a call of an `itemgetter` or `attrgetter`."""

OPERATIONS: dict[str, Callable[[Any, list[Any], dict[str, Any]], Any]] = {}
"""NumPy functions that lowering carries out itself, or only in some cases."""


ALIASES = {
    "np.absolute": "np.abs",
    "np.amax": "np.max",
    "np.amin": "np.min",
    "np.concat": "np.concatenate",
    "np.asin": "np.arcsin",
    "np.acos": "np.arccos",
    "np.atan": "np.arctan",
    "np.asinh": "np.arcsinh",
    "np.acosh": "np.arccosh",
    "np.atanh": "np.arctanh",
    "np.atan2": "np.arctan2",
    "np.pow": "np.power",
    "np.true_divide": "np.divide",
    "np.conjugate": "np.conj",
    "np.around": "np.round",
    "np.row_stack": "np.vstack",
    "np.permute_dims": "np.transpose",
    "np.mod": "np.remainder",
}
"""Second names of functions."""

AS_OPERATORS = {
    "np.add": "add",
    "np.subtract": "sub",
    "np.multiply": "mul",
    "np.divide": "truediv",
    "np.power": "pow",
    "np.negative": "neg",
    "np.positive": "pos",
    "np.matmul": "matmul",
    "np.remainder": "mod",
    "np.floor_divide": "floordiv",
    "np.less": "lt",
    "np.less_equal": "le",
    "np.greater": "gt",
    "np.greater_equal": "ge",
    "np.equal": "eq",
    "np.not_equal": "ne",
    "np.bitwise_and": "and_",
    "np.bitwise_or": "or_",
    "np.bitwise_xor": "xor",
    "np.invert": "invert",
}
"""NumPy functions of two arrays that mean the same as an operator."""


def name_of(thing: Any) -> str:
    """Return what a module, function or class is called in messages."""
    return str(getattr(thing, "__qualname__", getattr(thing, "__name__", thing)))


def is_users(thing: Any) -> bool:
    """Say whether a module or class is the user's own, so its numbers may change."""
    name = thing.__name__ if isinstance(thing, types.ModuleType) else thing.__module__
    return name.split(".")[0] not in ("numpy", "math", "scipy", "builtins", "cmath")


def _numpy_names() -> dict[int, str]:
    """Return the name that each NumPy function goes by, preferring one with a rule."""
    loaded = tuple(name for name in ("fft", "random") if f"numpy.{name}" in sys.modules)
    return _names_in(("linalg", *loaded))


@lru_cache(maxsize=4)
def _names_in(rooms: tuple[str, ...]) -> dict[int, str]:
    found: dict[int, str] = {}
    modules = {"np": np} | {f"np.{room}": getattr(np, room) for room in rooms}
    for prefix, module in modules.items():
        for name, thing in vars(module).items():
            if name.startswith("_"):
                continue
            if not callable(thing) or isinstance(thing, type):
                continue
            title = f"{prefix}.{name}"
            known = found.get(id(thing))
            if known is None or (title in REGISTRY and known not in REGISTRY):
                found[id(thing)] = title
    return found


def library_method(thing: Any) -> str | None:
    """Return the operation that a method of a SciPy distribution is, or None."""
    owner = getattr(thing, "__self__", None)
    module = type(owner).__module__
    if not module.startswith("scipy.stats"):
        return None
    name = getattr(owner, "name", None)
    stats = sys.modules["scipy.stats"]
    if name is None or getattr(stats, name, None) is not owner:
        found = [n for n in vars(stats) if vars(stats)[n] is owner]
        name = found[0] if found else None
    return None if name is None else f"scipy.stats.{name}.{thing.__name__}"


def operation_name(thing: Any) -> str | None:
    """Return the name of the operation that a callable is, or None.

    >>> operation_name(np.absolute), operation_name(np.linalg.inv)
    ('np.abs', 'np.linalg.inv')
    """
    found = _numpy_names().get(id(thing))
    if found is not None:
        return ALIASES.get(found, found)
    module = getattr(thing, "__module__", None) or ""
    name = getattr(thing, "__name__", "")
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    if isinstance(thing, np.ufunc):
        special = sys.modules.get("scipy.special")
        if special is not None and getattr(special, name, None) is thing:
            return f"scipy.special.{name}"
        return None
    if module == "math":
        return f"math.{name}"
    if module.startswith(("numpy.", "scipy.")) and isinstance(
        thing, types.FunctionType
    ):
        found_there = sys.modules.get(module)
        public = ".".join(module.split(".")[:2])
        if getattr(sys.modules.get(public), name, None) is thing:
            return f"{public}.{name}"
        if getattr(found_there, name, None) is thing:
            return f"{module}.{name}"
    if module.startswith("scipy."):
        parts = module.split(".")
        public = ".".join(parts[:2])
        home = sys.modules.get(public)
        if home is not None and getattr(home, name, None) is thing:
            return f"{public}.{name}"
    if module == "symback.runtime":
        return f"runtime.{name}"
    if module == "_operator":
        return f"operator.{name}"
    return None
