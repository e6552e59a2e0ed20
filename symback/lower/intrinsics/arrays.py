"""NumPy's functions where a plain node would not do, and what rules ask."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from ...graph import Value, unbroadcast
from ...operations import helpers
from ...operations.registry import REGISTRY
from ..abstract import (
    Array,
    DictView,
    Function,
    Iterable,
    Known,
    ListRef,
    Partial,
    RunList,
    Tup,
    View,
    Walker,
)
from ..operations import AS_OPERATORS, OPERATIONS
from .table import Args, Handler, Kwargs, intrinsic, operation

__all__: list[str] = []


@operation("np.array", "np.asarray", "np.stack", "np.vstack", "np.concatenate")
def _array(low: Any, args: Args, kwargs: Kwargs) -> Any:
    item = args[0] if args else None
    if isinstance(item, Walker | DictView):
        raise low.refuse(
            "NumPy makes no array of an iterator, or one of objects",
            "make it a list first: `np.array(list(...))`.",
        )
    if isinstance(item, Iterable):
        item = low.listed(item)
        return low.call_op(_op_of(low, args), [item, *args[1:]], kwargs)
    if isinstance(item, ListRef):
        held = low.content(item.cell)
        if isinstance(held, RunList) and held.shape is not None:
            columns = [low.emit("np.array", leaf) for leaf in held.leaves]
            return low.wrap(low.emit("np.stack", columns, axis=1))
    return NotImplemented


def _op_of(low: Any, args: Args) -> str:
    return "np.array"


@operation("np.einsum")
def _einsum(low: Any, args: Args, kwargs: Kwargs) -> Any:
    """Write subscripts that are lists of numbers as the letters that they mean."""
    if not args or (isinstance(args[0], Known) and isinstance(args[0].value, str)):
        return NotImplemented

    def letters(item: Any) -> str:
        found = ""
        for one in low.known_items(item):
            if not isinstance(one, Known):
                raise low.need_static(low.operand(one), "subscripts must be known")
            place = one.value
            found += "..." if place is Ellipsis else string.ascii_letters[place - 26]
        return found

    operands, subscripts = args[0::2], args[1::2]
    output = ""
    if len(operands) > len(subscripts):
        output = "->" + letters(operands[-1])
        operands = operands[:-1]
    text = ",".join(map(letters, subscripts)) + output
    return low.call_op("np.einsum", [Known(text), *operands], kwargs)


@operation("np.copy")
def _np_copy(low: Any, args: Args, kwargs: Kwargs) -> Any:
    value = low.operand(low.stored_array(args[0]))
    order = [low.order(value, a) for a in (*args[1:], *kwargs.values())]
    return low.wrap(low.copied(value, *order[:1]))


@operation("np.shape")
def _shape(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return low.shape_of(low.operand(args[0]))


@operation("np.ndim")
def _ndim(low: Any, args: Args, kwargs: Kwargs) -> Any:
    value = low.operand(args[0])
    known = low.type_of(value)
    return Known(known.rank) if known is not None else low.emit("np.ndim", value)


@operation("np.size")
def _size(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if len(args) > 1 and isinstance(args[1], Known):
        return low.emit("dim", low.operand(args[0]), args[1].value)
    return low.emit("np.size", low.operand(args[0]))


@operation("np.iscomplexobj", "np.isrealobj")
def _kind_test(low: Any, args: Args, kwargs: Kwargs) -> Any:
    known = low.type_of(low.operand(args[0]))
    if known is None:
        return NotImplemented
    test = np.iscomplexobj if low.last_function is np.iscomplexobj else np.isrealobj
    return Known(bool(test(known.samples[0])))


@operation("np.copyto")
def _copyto(low: Any, args: Args, kwargs: Kwargs) -> Any:
    where = kwargs.get("where")
    item = args[1]
    if where is not None:
        base = low.operand(args[0])
        given = low.stored(item)
        item = low.emit("np.where", low.operand(where), given, base)
    low.store(args[0], Known(Ellipsis), item)
    return Known(None)


@operation("np.put")
def _put(low: Any, args: Args, kwargs: Kwargs) -> Any:
    low.mutating_method(args[0], "put", args[1:], kwargs)
    return Known(None)


@operation("np.place", "np.putmask")
def _putmask(low: Any, args: Args, kwargs: Kwargs) -> Any:
    mask, value = low.stored(args[1]), low.stored(args[2])
    item, known = low.as_item(value), low.type_of(value)
    if known is None or known.is_array:
        flat, size = low.emit("np.ravel", value), low.emit("np.size", value)
        if low.last_function is np.place:
            # It takes the first values, as many as there are places, and repeats them.
            count = low.emit("np.count_nonzero", mask)
            turn = low.emit("np.arange", count)
        else:
            # It takes the values that stand at the places, and repeats them.
            turn = low.emit("np.flatnonzero", mask)
        turn = low.emit("mod", turn, size)
        item = low.wrap(low.emit("getitem", flat, turn))
    low.store(args[0], low.as_item(mask), item)
    return Known(None)


@operation("np.fill_diagonal")
def _fill_diagonal(low: Any, args: Args, kwargs: Kwargs) -> Any:
    base = low.operand(args[0])
    rows = low.emit(
        "np.arange",
        low.emit("builtins.min", low.emit("dim", base, 0), low.emit("dim", base, 1)),
    )
    low.store(args[0], Tup((rows, rows)), args[1])
    return Known(None)


@operation("np.put_along_axis")
def _put_along_axis(low: Any, args: Args, kwargs: Kwargs) -> Any:
    ref, index, item = args[:3]
    axis = args[3] if len(args) > 3 else kwargs["axis"]
    base = low.operand(ref)
    known = low.type_of(base)
    if known is None or not isinstance(axis, Known):
        raise low.refuse("`np.put_along_axis` needs an array of known rank")
    places = []
    for k in range(known.rank):
        if k == axis.value % known.rank:
            places.append(low.operand(index))
            continue
        steps = low.emit("np.arange", low.emit("dim", base, k))
        shape = tuple(-1 if j == k else 1 for j in range(known.rank))
        places.append(low.emit("np.reshape", steps, shape))
    low.store(ref, Tup(tuple(low.wrap(p) for p in places)), item)
    return Known(None)


@operation("np.subtract.at")
def _subtract_at(low: Any, args: Args, kwargs: Kwargs) -> Any:
    less = low.operate("neg", low.stored_array(args[2]))
    return _add_at(low, [args[0], args[1], less], kwargs)


@operation(
    "np.multiply.at",
    "np.divide.at",
    "np.maximum.at",
    "np.minimum.at",
    "np.power.at",
    "np.random.shuffle",
    "np.resize",
    "np.save",
    "np.load",
    "np.savetxt",
    "np.loadtxt",
    "np.genfromtxt",
    "np.memmap",
    "np.fromfile",
)
def _mutating(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse("this function changes its argument or the world: not supported")


@operation(
    "np.add.reduce",
    "np.multiply.reduce",
    "np.maximum.reduce",
    "np.minimum.reduce",
    "np.logical_and.reduce",
    "np.logical_or.reduce",
)
def _reduction(low: Any, args: Args, kwargs: Kwargs) -> Any:
    names = {
        "add": "sum",
        "multiply": "prod",
        "maximum": "max",
        "minimum": "min",
        "logical_and": "all",
        "logical_or": "any",
    }
    owner = low.last_function.__self__.__name__
    if len(args) < 2 and "axis" not in kwargs:
        kwargs = {**kwargs, "axis": Known(0)}
    return low.call_op(f"np.{names[owner]}", args, kwargs)


@operation("np.add.accumulate", "np.multiply.accumulate")
def _accumulation(low: Any, args: Args, kwargs: Kwargs) -> Any:
    name = "cumsum" if low.last_function.__self__ is np.add else "cumprod"
    if len(args) < 2 and "axis" not in kwargs:
        kwargs = {**kwargs, "axis": Known(0)}
    return low.call_op(f"np.{name}", args, kwargs)


@operation("np.multiply.outer", "np.subtract.outer", "np.add.outer", "np.divide.outer")
def _outer(low: Any, args: Args, kwargs: Kwargs) -> Any:
    known = low.type_of(low.operand(args[1]))
    if known is None:
        raise low.refuse("`outer` needs arrays of known rank")
    places = Tup((Known(Ellipsis), *(Known(None) for _ in range(known.rank))))
    arrays = isinstance(args[0], Array | View | Value)
    first = low.array_item(args[0], places) if known.rank and arrays else args[0]
    op = {"multiply": "mul", "subtract": "sub", "add": "add", "divide": "truediv"}
    return low.operate(op[low.last_function.__self__.__name__], first, args[1])


@operation("np.add.at")
def _add_at(low: Any, args: Args, kwargs: Kwargs) -> Any:
    ref, index, item = args
    place, given = low.operand(index), low.stored(item)

    def add(one: Any) -> None:
        value = low.read(one)
        new = low.emit("index_add", value, place, given, name=value.name)
        low.write(one, new)

    low.dispatch(ref, add)
    return Known(None)


@operation(
    "np.apply_along_axis", "np.vectorize", "np.fromfunction", "np.apply_over_axes"
)
def _callback(low: Any, args: Args, kwargs: Kwargs) -> Any:
    raise low.refuse("NumPy functions that call back are not supported", "use a loop.")


@operation("np.piecewise")
def _piecewise(low: Any, args: Args, kwargs: Kwargs) -> Any:
    x = args[0]
    tests = low.known_items(args[1])
    choices = low.known_items(args[2])
    masks = [low.operand(t) for t in tests]
    result: Any
    if len(choices) == len(masks) + 1:
        default = choices.pop()
        result = low.call_value(default, [x], {}) if _is_function(default) else default
    else:
        result = Known(0.0)
    for mask, choice in zip(masks, choices, strict=True):
        side = low.call_value(choice, [x], {}) if _is_function(choice) else choice
        result = low.wrap(
            low.emit("np.where", mask, low.operand(side), low.operand(result))
        )
    return result


def _is_function(item: Any) -> bool:
    return isinstance(item, Function | Partial) or (
        isinstance(item, Known) and callable(item.value)
    )


@operation("np.expand_dims")
def _expand_dims(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if low.fixed_span is not None and isinstance(args[0], Known):
        # In a rule: a number broadcasts as it is.
        return args[0]
    return NotImplemented


@operation("np.where")
def _where(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if len(args) != 3:
        return NotImplemented
    test = low.operand(args[0])
    known = low.type_of(test)
    node = low.defs.get(test) if isinstance(test, Value) else None
    boolean = known is not None and known.dtype.startswith("bool")
    if boolean or (node is not None and node.op in TRUTHS):
        return NotImplemented
    # A number counts as true unless it is zero.
    truth = low.wrap(low.emit("ne", test, 0))
    return low.plain_op("np.where", [truth, *args[1:]], kwargs)


TRUTHS = frozenset(
    "lt le gt ge eq ne and_ or_ invert not_ np.isnan np.isfinite np.isinf "
    "np.logical_not np.logical_and np.logical_or np.isin".split()
)
"""Operations whose results are truth values."""


@operation("np.linalg.svd")
def _svd(low: Any, args: Args, kwargs: Kwargs) -> Any:
    flag = kwargs.get("compute_uv", args[2] if len(args) > 2 else Known(True))
    if isinstance(flag, Known) and not flag.value:
        return low.call_op("np.linalg.svdvals", args[:1], {})
    return NotImplemented


def _as_operator(op: str, sign: str) -> Handler:
    def handler(low: Any, args: Args, kwargs: Kwargs) -> Any:
        if kwargs or op in REGISTRY:
            return NotImplemented
        if not any(isinstance(a, Array | View | Value) for a in args):
            return NotImplemented
        values = [low.operand(a) for a in args]
        kinds = [low.type_of(v) for v in values]
        if low.mode == "generic" or any(
            k is not None and k.kind in ("array", "numpy") for k in kinds
        ):
            return low.wrap(low.emit(sign, *values))
        return NotImplemented

    return handler


for _op, _sign in AS_OPERATORS.items():
    OPERATIONS[_op] = _as_operator(_op, _sign)


# What rules ask


@operation("runtime.unbroadcast")
def _unbroadcast(low: Any, args: Args, kwargs: Kwargs) -> Any:
    value, primal = low.operand(args[0]), low.operand(args[1])
    low.build.span = low.span()
    return low.wrap_arg(unbroadcast(low.build, value, primal))


@intrinsic(helpers.known_rank)
def _known_rank(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Known(all(low.type_of(low.operand(a)) is not None for a in args))


@intrinsic(helpers.is_constant)
def _is_constant(low: Any, args: Args, kwargs: Kwargs) -> Any:
    return Known(all(isinstance(a, Known) for a in args))


@intrinsic(helpers.is_complex)
def _is_complex(low: Any, args: Args, kwargs: Kwargs) -> Any:
    value = low.operand(args[0])
    known = low.type_of(value)
    if known is None and low.complex_seen and isinstance(value, Value):
        return low.emit("np.iscomplexobj", value)
    return Known(known is not None and known.dtype.startswith("complex"))


@operation("np.issubdtype", "np.finfo", "np.iinfo", "np.result_type", "np.isscalar")
def _metadata(low: Any, args: Args, kwargs: Kwargs) -> Any:
    if not all(isinstance(a, Known) for a in args):
        return NotImplemented
    name = low.last_function
    return Known(name(*(a.value for a in args)))
