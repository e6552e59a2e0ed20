"""Python's operators and functions without a rule, and the graph's own operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..operation import (
    EVERY,
    FRESH,
    UNKNOWN,
    Alias,
    declare,
    holds,
    may_view,
    view,
    writes,
)


def _setitem(x: Any, index: Any, value: Any) -> Any:
    if isinstance(x, dict | list):
        copied: Any = x.copy()
        copied[index] = value
        return copied
    x = np.array(x)
    x[index] = value
    return x


def _index_add(x: Any, index: Any, value: Any) -> Any:
    if isinstance(x, list):
        x = list(x)
        x[index] = x[index] + value
        return x
    x = np.array(x)
    np.add.at(x, index, value)
    return x


def _fstring(*parts: Any) -> str:
    return "".join(p if isinstance(p, str) else str(p) for p in parts)


def _nothing(*_args: Any) -> None:
    return None


# Control flow, whose outputs the stages follow through the blocks.
declare("if", alias=UNKNOWN)
declare("for", alias=UNKNOWN)
declare("while", alias=UNKNOWN)

# What acts on the world, or may.
declare("assert", alias=FRESH, acts=True, function=_nothing)
declare("raise", alias=FRESH, acts=True, function=_nothing)
declare("builtins.print", alias=FRESH, acts=True, function=_nothing)
declare(
    "call",
    alias=UNKNOWN,
    acts=True,
    function=lambda f, args, kwargs: f(*args, **kwargs),
)
declare(
    "method",
    alias=UNKNOWN,
    acts=True,
    function=lambda o, name, args, kwargs: getattr(o, name)(*args, **kwargs),
)
declare("set_attribute", alias=UNKNOWN, acts=True)
declare("set_item", alias=UNKNOWN, acts=True)
for name in (
    "warnings.warn time.time time.perf_counter time.monotonic time.process_time "
    "time.time_ns time.perf_counter_ns time.sleep np.random.default_rng "
    "np.random.RandomState np.random.seed np.random.normal np.random.uniform "
    "np.random.rand np.random.randn np.random.randint np.random.random "
    "np.random.standard_normal np.random.choice np.random.permutation"
).split():
    declare(name, alias=FRESH, acts=True)

# Arrays.
declare("dim", alias=FRESH, function=lambda x, k: x.shape[k])
declare("shape", alias=FRESH, function=lambda x: x.shape)
declare("setitem", alias=writes(0, 2), function=_setitem)
declare("index_add", alias=writes(0), function=_index_add)
declare("getitem", alias=may_view(0))
declare("unpack", alias=may_view(0), function=tuple)
declare("attr", alias=may_view(0), function=getattr)
declare("stop_gradient", alias=view(0), function=lambda x: x)
declare("item", alias=FRESH, function=lambda x: x.item())
declare("tolist", alias=FRESH, function=lambda x: x.tolist())
declare(
    "astype",
    alias=may_view(0, unless="copy"),
    function=lambda x, dtype: np.asarray(x).astype(dtype)[()],
)

# Lists and structures.
declare("list", alias=holds(*EVERY), function=lambda *items: list(items))
declare("list_append", alias=writes(0, 1), function=lambda items, item: [*items, item])
declare(
    "list_pop",
    alias=writes(0),
    # A sample list has one item, and stands for a list of any length.
    function=lambda items: (items[:-1] or items, items[-1]),
)
declare(
    "list_zeros",
    alias=holds(what="new"),
    function=lambda items: [np.zeros_like(v) for v in items],
)
declare(
    "list_reverse", alias=holds(0, what="contents"), function=lambda items: items[::-1]
)
# The fields are held, what they are like is only asked for its class.
declare("runtime.structure", alias=holds(1))
declare(
    "struct",
    alias=holds(1),
    function=lambda like, fields: type(like)(**fields),
)
for name in "list tuple sorted reversed enumerate zip".split():
    declare(f"builtins.{name}", alias=holds(*EVERY, what="contents"))
declare("runtime.zeros_of", alias=holds(what="new"))
declare("runtime.add_lists", alias=holds(what="new"))

# Strings, and what else Python answers with a number or a word.
declare("fstring", alias=FRESH, function=_fstring)
declare("contains", alias=FRESH)
for name in "ord chr bin hex oct ascii issubclass".split():
    declare(f"builtins.{name}", alias=FRESH)

# Where the operands are lists, these give a new list that holds what they hold.
for name in ("add", "mul"):
    declare(name, alias=Alias((0, 1), held="lists"))

# Constants.
for name in "math.pi math.e math.tau np.pi np.e np.euler_gamma".split():
    declare(name, alias=FRESH)
