"""What operations say of memory, against what NumPy and SciPy do with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from symback.operation import REQUIRED, UNKNOWN, Operation, operation, operations
from symback.operations import REGISTRY
from tests.rules.calls import CALLS, Call, call, complexes, numbers, regular
from tests.rules.evaluate import function_of
from tests.rules.test_registry import arguments

M, N = numbers(3, 4), numbers(4, 4)
POSITIVE = regular(3) @ regular(3).T
K = np.arange(12).reshape(3, 4)
B = K % 2 == 0

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda a: np.array(a, order="C"),
    "F": lambda a: np.array(a, order="F"),
    "strided": lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a.copy(),
    "reversed": lambda a: np.array(a[::-1])[::-1] if a.ndim else a.copy(),
    "transposed": lambda a: np.array(a.T).T,
    "first": lambda a: np.array([a, a])[0] if a.ndim else a.copy(),
}
"""Ways in which the same entries lie in memory."""

ODD: dict[str, list[Call]] = {
    "np.transpose": [call(np.array(1.0)), call(M[:1], (1, 0)), call(numbers(0, 3))],
    "np.reshape": [
        call(M, (4, 3)),
        call(M, (4, 3), order="F"),
        call(M, (4, 3), order="A"),
        call(M, -1),
        call(M, (3, 4)),
        call(np.array(2.0), ()),
        call(np.array(2.0), (1, 1)),
        call(M, (2, 2, 3), copy=False),
    ],
    "np.ravel": [call(M, order=o) for o in "CFAK"] + [call(np.array(1.0))],
    "np.squeeze": [call(M[:, :1]), call(M), call(np.ones((1, 1)))],
    "np.atleast_1d": [call(np.array(2.0)), call(M)],
    "np.atleast_2d": [call(np.array(2.0)), call(M[0]), call(M)],
    "np.atleast_3d": [call(np.array(2.0)), call(M[0]), call(M), call(numbers(2, 1, 2))],
    "np.asarray": [
        call(M),
        call(M, dtype=float),
        call(M, np.float32),
        call(M, order="F"),
        call(M, copy=True),
        call(np.array(1.0)),
        call([1.0, 2.0]),
    ],
    "np.asanyarray": [call(M), call(M, dtype=np.float32), call(np.array(1.0))],
    "np.ascontiguousarray": [call(M), call(np.array(1.0)), call(M, dtype=complex)],
    "np.asfortranarray": [call(M), call(np.array(1.0)), call(M, dtype=complex)],
    "np.asarray_chkfinite": [call(M), call(M, order="F")],
    "np.require": [call(M), call(M, None, ["C"]), call(M, float, ["F", "O"])],
    "np.array": [
        call(M),
        call(M, copy=None),
        call(M, copy=True),
        call(M, copy=None, order="F"),
        call(M, dtype=np.float32, copy=None),
        call([M, M]),
        call(np.array(1.0)),
    ],
    "np.copy": [call(M), call(M, order="C"), call(np.array(1.0))],
    "np.astype": [
        call(M, float),
        call(M, float, copy=False),
        call(M, np.float32, copy=False),
    ],
    "astype": [call(M, float), call(M, np.float32)],
    "np.float64": [call(M), call(K), call(2.0)],
    "np.float32": [call(M.astype(np.float32)), call(M)],
    "np.complex128": [call(complexes(3)), call(M)],
    "np.complex64": [call(complexes(3).astype(np.complex64)), call(M)],
    "np.int64": [call(K), call(M)],
    "np.int32": [call(K.astype(np.int32)), call(M)],
    "np.intp": [call(K), call(M)],
    "np.bool_": [call(B), call(M)],
    "np.bool": [call(B), call(M)],
    "np.real": [call(M), call(complexes(3)), call(np.array(1j)), call(K)],
    "np.imag": [call(M), call(complexes(3)), call(np.array(1j)), call(K)],
    "np.conj": [call(M), call(complexes(3)), call(np.array(1.0))],
    "np.conjugate": [call(M), call(complexes(3)), call(np.array(1.0))],
    "np.real_if_close": [call(M), call(M + 0j), call(complexes(3))],
    "np.nan_to_num": [call(M), call(K), call(complexes(3))],
    "np.positive": [call(M), call(K)],
    "pos": [call(M), call(K)],
    "np.einsum": [
        call("ij->ij", M),
        call("ij->ji", M),
        call("ii->i", N),
        call("ij->i", M),
        call("ij,jk->ik", M, N),
        call("...->...", M),
        call(M, [0, 1], [1, 0]),
        call("ij,->ij", M, 2.0),
    ],
    "np.diag": [call(M), call(M[0]), call(M, 1), call(M[0], -1)],
    "np.diagonal": [call(M), call(numbers(2, 3, 4), 1, 0, 2)],
    "np.linalg.diagonal": [call(M), call(numbers(2, 3, 4), offset=1)],
    "np.diff": [call(M, 0), call(M, n=0), call(M), call(M, 2, 0)],
    "np.trim_zeros": [call(np.array([0.0, 1.0, 2.0, 0.0])), call(M[0])],
    "np.split": [call(M, 3), call(M, [1]), call(M, 2, axis=1), call(M, [0, 0, 9])],
    "np.array_split": [call(M, 2), call(M, [2], axis=1)],
    "np.hsplit": [call(M, 2), call(M[0], 2)],
    "np.vsplit": [call(M, 3)],
    "np.dsplit": [call(numbers(2, 3, 4), 2)],
    "np.unstack": [call(M), call(M, axis=1)],
    "np.broadcast_arrays": [call(M, M[0]), call(M, N[:3]), call(M)],
    "np.broadcast_to": [call(M, (3, 4)), call(M[0], (2, 4)), call(np.array(1.0), (2,))],
    "np.meshgrid": [
        call(M[0], M[1]),
        call(M[0], M[1], copy=False),
        call(M[0], sparse=True, copy=False),
    ],
    "np.ix_": [call(K[0], K[1]), call(K[0]), call(B[0], K[0])],
    "np.linalg.matrix_power": [call(N, 1), call(N, 0), call(N, 3), call(N, -1)],
    "np.histogram": [call(M, np.arange(-3.0, 4.0)), call(M, 4)],
    "np.tile": [call(M, 1), call(M, (1, 1)), call(M, 2)],
    "np.repeat": [call(M, 1), call(M, 1, 0), call(M, 2)],
    "np.resize": [call(M, (3, 4)), call(M, 5)],
    "np.roll": [call(M, 0), call(M, 1, 0)],
    "np.pad": [call(M, 0), call(M, 1)],
    "np.rot90": [call(M, k) for k in range(5)],
    "np.rollaxis": [call(M, 0), call(M, 1), call(M, 1, 2)],
    "np.moveaxis": [call(M, 0, 0), call(M, 0, 1)],
    "np.swapaxes": [call(M, 0, 0), call(M, 0, 1)],
    "np.permute_dims": [call(M), call(M, (0, 1))],
    "np.flip": [call(M), call(M, 0), call(M, ())],
    "np.delete": [call(M, []), call(M, 0, 0)],
    "np.insert": [call(M, [], []), call(M, 0, 1.0)],
    "np.append": [call(M, []), call(M, M)],
    "np.concatenate": [call([M]), call([M, M], 1), call([M], axis=None)],
    "np.stack": [call([M]), call([M, M])],
    "np.vstack": [call([M])],
    "np.hstack": [call([M])],
    "np.dstack": [call([M])],
    "np.column_stack": [call([M])],
    "np.block": [call([M]), call([[M, M]]), call(M)],
    "np.tril": [call(M), call(M, 9)],
    "np.triu": [call(M), call(M, -9)],
    "np.take": [call(M, [0, 1]), call(M, 0, 0), call(M, [0, 1, 2], 0)],
    "np.compress": [call([True, True, True], M, 0)],
    "np.sort": [call(M), call(M, None), call(np.array([1.0]))],
    "np.partition": [call(M, 1)],
    "np.unique": [call(M), call(np.array([1.0, 2.0]))],
    "np.where": [call(B, M, M), call(B), call(True, M, 0.0)],
    "np.select": [call([B], [M]), call([B], [M], M)],
    "np.choose": [call(K % 2, [M, M])],
    "np.clip": [call(M, None, None), call(M, -1, 1), call(K, 0, 5)],
    "np.sum": [call(M, ()), call(M, 0), call(M[:1], 0)],
    "np.max": [call(M, ()), call(M[:1], 0)],
    "np.min": [call(M, ()), call(M[:1], 0)],
    "np.mean": [call(M, ()), call(M[:1], 0)],
    "np.median": [call(M[:1], 0), call(np.array([1.0]))],
    "np.cumsum": [call(M, 0), call(M[:1], 0)],
    "np.round": [call(M), call(K), call(K, 2)],
    "np.around": [call(M), call(K)],
    "np.fix": [call(M), call(K)],
    "np.unwrap": [call(M), call(np.array([1.0]))],
    "np.gradient": [call(M), call(M[0])],
    "np.trapezoid": [call(M)],
    "np.average": [call(M, 0), call(M, 0, weights=M)],
    "np.lib.stride_tricks.sliding_window_view": [call(M, (2, 2)), call(M[0], 3)],
    "np.linalg.multi_dot": [call([N, N]), call([N, N, N])],
    "np.linalg.matrix_transpose": [call(M)],
    "np.matrix_transpose": [call(M)],
    "np.fft.fftshift": [call(M), call(np.array([1.0]))],
    "np.fft.ifftshift": [call(M), call(np.array([1.0]))],
    "getitem": [
        call(M, 0),
        call(M, slice(1, None)),
        call(M, (0, Ellipsis)),
        call(M, ()),
        call(M, None),
        call(M, [0]),
        call(M, B),
    ],
    "unpack": [call(M)],
    "attr": [call(M, "T"), call(M, "flat"), call(complexes(3), "real")],
    "stop_gradient": [call(M)],
    "item": [call(np.array(1.0))],
    "tolist": [call(M)],
    "dim": [call(M, 0)],
    "shape": [call(M)],
    "builtins.max": [call(np.array(1.0), np.array(2.0)), call([np.array(1.0)])],
    "builtins.min": [call(np.array(1.0), np.array(2.0)), call([np.array(1.0)])],
    "builtins.sum": [call([M, M]), call([M]), call([], M)],
    "builtins.abs": [call(M), call(K)],
    "runtime.unbroadcast": [call(M, M), call(M, M[0]), call(M, 1.0), call(M + 0j, M)],
    "runtime.split_like": [call(M, [M[:1], M[1:]]), call(M, [M])],
    "runtime.owned": [call(M), call([M, M]), call(2.0)],
    "runtime.zeros_of": [call(M), call([M, M])],
    "runtime.add_lists": [call([M], [M]), call(M, M)],
    "runtime.list_add": [call([M, M], slice(0, 1), [M])],
    "runtime.winners": [call(np.array([0, 0]), M)],
    "list": [call(M, M)],
    "list_append": [call([M], M)],
    "list_pop": [call([M, M])],
    "list_zeros": [call([M, M])],
    "list_reverse": [call([M, M])],
    "setitem": [call(M, 0, M[1]), call([M], 0, M)],
    "index_add": [call(M, 0, M[1]), call([M], 0, M)],
    "add": [call(M, M), call([M], [M])],
    "mul": [call(M, M), call([M], 2)],
}
"""Calls in which whose memory a result is depends on the arguments."""

ELSEWHERE: dict[str, list[Call]] = {
    "np.unravel_index": [call(K[0], (3, 4))],
    "np.linalg.cholesky": [call(POSITIVE)],
    "np.linalg.eigh": [call(POSITIVE)],
    "np.linalg.eigvalsh": [call(POSITIVE)],
    "np.linalg.eig": [call(POSITIVE)],
    "np.fft.fftfreq": [call(4)],
    "np.fft.rfftfreq": [call(4)],
    "scipy.linalg.cholesky": [call(POSITIVE), call(POSITIVE, lower=True)],
    "scipy.linalg.cho_factor": [call(POSITIVE)],
    "scipy.linalg.eigh": [call(POSITIVE), call(POSITIVE, POSITIVE)],
    "scipy.linalg.eigvalsh": [call(POSITIVE)],
    "scipy.stats.multivariate_normal.logpdf": [call(M[0], M[1])],
    "scipy.stats.multivariate_normal.pdf": [call(M[0], M[1])],
    "scipy.stats.dirichlet.logpdf": [call(np.array([0.4, 0.6]), np.array([2.0, 3.0]))],
    "scipy.stats.dirichlet.pdf": [call(np.array([0.4, 0.6]), np.array([2.0, 3.0]))],
    "np.issubdtype": [call(float, float)],
    "builtins.isinstance": [call(M, np.ndarray)],
}
"""Calls of operations that take no array of any kind."""


def arrays(item: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in a nest."""
    if isinstance(item, np.ndarray):
        yield item
    elif isinstance(item, np.flatiter):
        yield item.base
    elif isinstance(item, (list, tuple)):
        for part in item:
            yield from arrays(part)


def laid(item: Any, layout: str) -> Any:
    """Return an argument with its arrays laid out anew."""
    if isinstance(item, np.ndarray):
        return np.asarray(LAYOUTS[layout](item))
    if isinstance(item, (list, tuple)) and any(True for _ in arrays(item)):
        return type(item)(laid(part, layout) for part in item)
    return item


def called(op: Operation) -> Callable[..., Any] | None:
    return op.function or function_of(op)


def calls_of(op: Operation) -> list[Call]:
    """Return calls of an operation: of its own, or with arrays of all kinds."""
    found = ODD.get(op, []) + CALLS.get(op, []) + ELSEWHERE.get(op, [])
    rule = op.rule
    if found or rule is None:
        return found
    if rule.kind != "zero":
        shapes = [((), ()), ((3,), (3,)), ((1,), (1,)), ((2, 3), (3,))]
        rng = np.random.default_rng(1)
        return [(arguments(rule, pair, rng), {}) for pair in shapes]
    needed = sum(default is REQUIRED for default in rule.defaults) or 1
    for shape in ((3, 3), (3,), (1,), (), (0,)):
        for kind in (float, int, bool, complex):
            found.append(((np.ones(shape, kind),) * needed, {}))
            found.append(((np.ones(shape, kind)[()],) * needed, {}))
    return found


def trials(op: Operation) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], Any]]:
    """Yield arguments, keywords and the result of each call that is one."""
    function = called(op)
    assert function is not None
    for args, kwargs in calls_of(op):
        for layout in LAYOUTS:
            given = tuple(laid(arg, layout) for arg in args)
            named = {
                key: laid(arg, layout)
                for key, arg in kwargs.items()
                if key not in ("rtol", "pick", "skip")
            }
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    result = function(*given, **named)
            except Exception:
                continue
            yield given, named, result


KNOWN = [
    op
    for op in operations()
    if called(op) and not op.acts and op.alias is not UNKNOWN and calls_of(op)
]


def shared(one: Any, other: Any) -> bool:
    """Say whether two nests share memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [(a, b) for a in arrays(one) for b in arrays(other)]
        return any(np.shares_memory(a, b) for a, b in pairs)


def faults(op: Operation) -> list[str]:
    """Return how trials contradict what an operation says of its memory."""
    found, tried = set(), 0
    for args, kwargs, result in trials(op):
        tried += 1
        sources = [id(source) for source in op.sources(args, kwargs)]
        for place, arg in (*enumerate(args), *kwargs.items()):
            if shared(result, arg) and id(arg) not in sources:
                found.add(f"shares the memory of {place}")
        always = op.alias.of or () if op.alias.always and not op.alias.writes else ()
        for place in always:
            # Its own entries, as a list of them is no array.
            arg = args[place] if place < len(args) else None
            if isinstance(arg, np.ndarray) and arg.size and not shared(result, arg):
                found.add(f"does not share the memory of {place}")
        if not op.alias.read_only:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                open_ = all(a.flags.writeable for a in arrays(result))
            found |= set() if open_ else {"cannot be written to"}
    return [*found, *([] if tried else ["no call succeeds"])]


@pytest.mark.parametrize("op", KNOWN)
def test_results_share_the_memory_that_the_record_says(op: str):
    assert faults(operation(op)) == []


@pytest.mark.parametrize("op", [op for op in KNOWN if not op.alias.writes])
def test_no_operation_writes_to_its_arguments(op: str):
    record = operation(op)
    for args, kwargs in calls_of(record):
        before = [np.copy(a) for a in arrays((*args, *kwargs.values()))]
        named = {k: v for k, v in kwargs.items() if k not in ("rtol", "pick", "skip")}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                called(record)(*args, **named)  # type: ignore[misc]
        except Exception:
            continue
        after = arrays((*args, *kwargs.values()))
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)


def test_every_rule_says_whose_memory_its_result_is():
    assert [op for op in REGISTRY if operation(op).alias is UNKNOWN] == []
    untried = [op for op in REGISTRY if function_of(op) and op not in set(KNOWN)]
    assert untried == ["builtins.print"]


def test_what_nobody_declared_may_be_anything():
    unknown = operation("np.no_such_function")
    x = np.zeros(2)
    assert unknown.sources((x,), {"key": x}) == [x, x]
    assert unknown.acts


@pytest.mark.parametrize("op", ["np.reshape", "np.diff", "np.float64", "np.einsum"])
def test_a_wrong_contract_would_be_found(op: str, monkeypatch: pytest.MonkeyPatch):
    record = operation(op)
    monkeypatch.setattr(record, "alias", operation("np.exp").alias)
    assert faults(record)
