"""Types by trial: what the samples show, and what they do not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from symback.graph import UNDEFINED, Value
from symback.infer import DIMENSIONS, Sampler, Unsampled, evaluate, resolve
from symback.types import Type

N, D = DIMENSIONS[:2]
"""The sizes of two dimensions in the samples."""


@pytest.fixture
def sampler() -> Sampler:
    made = Sampler()
    made.name("n", N)
    made.name("d", D)
    return made


def array(sampler: Sampler, *dims: tuple[int, ...], dtype: str = "float64") -> Value:
    """Return a value that is an array of some dimensions."""
    samples = tuple(np.ones([sizes[k] for sizes in dims], dtype) for k in (0, 1, 2))
    return Value("x", sampler.type_of(samples))


def result(sampler: Sampler, op: str, *args: Any, **kwargs: Any) -> str:
    """Return the type of an operation's result as the header shows it."""
    return str(sampler.type_of(sampler.infer(op, args, kwargs)))


def test_dimensions_keep_their_names(sampler: Sampler):
    x, w = array(sampler, N, D), array(sampler, D)
    assert result(sampler, "matmul", x, w) == "float64[n]"
    assert result(sampler, "np.transpose", x) == "float64[d, n]"
    assert result(sampler, "np.sum", x) == "float64"


def test_a_dimension_of_one_stretches(sampler: Sampler):
    column = array(sampler, N, (1, 1, 1))
    assert str(column.type) == "float64[n, 1]"
    assert result(sampler, "add", column, array(sampler, D)) == "float64[n, d]"


def test_equal_dimensions_are_one_name(sampler: Sampler):
    square = array(sampler, N, N)
    assert str(square.type) == "float64[n, n]"
    assert result(sampler, "np.diagonal", square) == "float64[n]"
    # The diagonal of n x d is as long as the shorter, and neither always is.
    rest = result(sampler, "np.diagonal", array(sampler, N, D))
    assert rest not in ("float64[n]", "float64[d]")


def test_a_size_in_all_samples_is_a_number(sampler: Sampler):
    assert result(sampler, "np.zeros", 3) == "float64[3]"
    assert result(sampler, "getitem", array(sampler, N), slice(0, 2)) == "float64[2]"


def test_sizes_are_linear_forms_of_the_arguments(sampler: Sampler):
    x, y = array(sampler, N), array(sampler, D)
    assert result(sampler, "getitem", x, slice(6, None)) == "float64[n - 6]"
    assert result(sampler, "np.concatenate", [x, x]) == "float64[2*n]"
    assert result(sampler, "np.concatenate", [x, y, (0.0,)]) == "float64[n + d + 1]"


def test_a_size_of_no_form_is_its_own(sampler: Sampler):
    x, y = array(sampler, N), array(sampler, D)
    half = result(sampler, "getitem", x, slice(None, None, 2))
    assert half.startswith("float64[?")
    assert result(sampler, "getitem", x, slice(None, None, 2)) == half
    assert result(sampler, "getitem", y, slice(None, None, 2)) != half


def test_promotion_is_numpys(sampler: Sampler):
    half, whole = array(sampler, N, dtype="float32"), array(sampler, N, dtype="int64")
    assert result(sampler, "mul", half, 2.0) == "float32[n]"
    assert result(sampler, "add", half, whole) == "float64[n]"
    assert result(sampler, "gt", half, 0.0) == "bool[n]"


def test_kinds_of_scalars(sampler: Sampler):
    def kind(*samples: Any) -> tuple[str, str]:
        found = sampler.type_of(samples)
        assert found is not None
        return found.kind, found.dtype

    assert kind(0.5, 0.7, 0.6) == ("python", "float")
    assert kind(2, 3) == ("python", "int")
    assert kind(np.float32(1), np.float32(2)) == ("numpy", "float32")
    assert kind(None, None) == ("python", "NoneType")
    assert kind([1.0], [1.0, 2.0]) == ("list", "")


@pytest.mark.parametrize(
    "samples",
    [(1.0, 2), (np.zeros(2), np.zeros((2, 2))), (np.zeros(2), np.zeros(2, int))],
    ids=["classes", "ranks", "dtypes"],
)
def test_samples_that_disagree_tell_nothing(sampler: Sampler, samples: Any):
    assert sampler.type_of(samples) is None


def test_what_has_no_samples_cannot_be_tried():
    with pytest.raises(Unsampled):
        evaluate("neg", (Value("x"),), {}, 0)
    with pytest.raises(Unsampled):
        evaluate("neg", (Value("x", Type("array", "float64", ("n",))),), {}, 0)
    with pytest.raises(Unsampled):
        evaluate("neg", (UNDEFINED,), {}, 0)


def test_what_numpy_refuses_is_refused(sampler: Sampler):
    with pytest.raises(ValueError, match="broadcast"):
        sampler.infer("add", (array(sampler, N), array(sampler, D)), {})


def lengths(count: int) -> list[tuple[int, ...]]:
    sampler = Sampler()
    dims = [sampler.dimension() for _ in range(8)]
    return dims + [sampler.fresh() for _ in range(count)]


def test_sizes_differ():
    found = lengths(200)
    assert len(set(found)) == len(found)
    assert all(len(set(sizes)) == 3 for sizes in found)
    assert len({Sampler().integer().samples for _ in range(3)}) == 1


def differences(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """Return how many values the difference of two sizes has in the samples."""
    return len({a - b for a, b in zip(first, second, strict=True)})


def test_sizes_never_meet_by_chance():
    """No offset, multiple, sum, quotient or product of some sizes is another's."""
    found = lengths(12)
    for a in found:
        for k in (2, 3, 4, 5, 6):
            multiple = tuple(k * p for p in a)
            assert all(differences(multiple, b) > 1 for b in found)
        for k, shift in itertools.product((2, 3, 4), range(-6, 7)):
            quotient = tuple((p + shift) // k for p in a)
            assert all(differences(quotient, b) > 1 for b in found)
    for a, b in itertools.product(found, found):
        assert (differences(a, b) == 1) == (a is b)
        made = [tuple(p * q for p, q in zip(a, b, strict=True))]
        if a is not b:
            made += [
                tuple(p + k * q for p, q in zip(a, b, strict=True)) for k in (1, 2, -2)
            ]
        for one, c in itertools.product(made, found):
            if c is not a and c is not b:
                assert differences(one, c) > 1


def test_no_dimension_is_always_the_longer():
    for a in DIMENSIONS:
        for b in DIMENSIONS:
            if a is not b:
                assert len({p < q for p, q in zip(a, b, strict=True)}) == 2


def test_a_key_has_one_length(sampler: Sampler):
    first = sampler.fresh("mask")
    assert sampler.fresh("mask") == first
    assert sampler.fresh("other") != first


@pytest.mark.parametrize("count", [2, 3, 5, 40])
def test_an_index_is_no_constant(sampler: Sampler, count: int):
    found = [sampler.index([range(count)] * 3).samples for _ in range(3)]
    assert all(len(set(places)) > 1 for places in found)
    assert len(set(found)) == 3
    assert all(0 <= k < count for places in found for k in places)


@pytest.mark.parametrize(
    ("op", "args", "wanted"),
    [
        ("add", (2, 3), 5),
        ("dim", (np.zeros((2, 3)), 1), 3),
        ("setitem", ([1, 2], 0, 5), [5, 2]),
        ("list_append", ([1], 2), [1, 2]),
        ("list_pop", ([1, 2],), ([1], 2)),
        ("fstring", ("a", "b"), "ab"),
        ("math.floor", (2.5,), 2),
        ("builtins.max", (1, 2), 2),
        ("attr", (3 + 4j, "imag"), 4.0),
        ("method", ("ab", "upper", (), {}), "AB"),
    ],
)
def test_an_operation_is_a_python_function(op: str, args: Any, wanted: Any):
    assert resolve(op)(*args) == wanted


def test_functional_writes_leave_their_argument_alone():
    x = np.zeros(3)
    written = resolve("setitem")(x, 1, 5.0)
    added = resolve("index_add")(x, np.array([0, 0]), 1.0)
    assert x.tolist() == [0, 0, 0]
    assert written.tolist() == [0, 5, 0]
    assert added.tolist() == [2, 0, 0]
