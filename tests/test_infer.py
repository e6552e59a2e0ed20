"""Types by trial: what two samples show, and what they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symback.graph import UNDEFINED, Value
from symback.infer import PAIRS, Sampler, Unsampled, evaluate, resolve, sample_pairs
from symback.types import Type

N, D = (5, 7), (7, 11)
"""The sizes of two dimensions in the two samples."""


@pytest.fixture
def sampler() -> Sampler:
    made = Sampler()
    made.names.update({N: "n", D: "d"})
    return made


def array(sampler: Sampler, *dims: tuple[int, int], dtype: str = "float64") -> Value:
    """Return a value that is an array of some dimensions."""
    samples = tuple(np.ones([pair[k] for pair in dims], dtype) for k in (0, 1))
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
    column = array(sampler, N, (1, 1))
    assert str(column.type) == "float64[n, 1]"
    assert result(sampler, "add", column, array(sampler, D)) == "float64[n, d]"


def test_equal_dimensions_are_one_name(sampler: Sampler):
    square = array(sampler, N, N)
    assert str(square.type) == "float64[n, n]"
    assert result(sampler, "np.diagonal", square) == "float64[n]"
    # The diagonal of n x d is as long as the shorter: n in both samples.
    assert result(sampler, "np.diagonal", array(sampler, N, D)) == "float64[n]"


def test_a_size_in_both_samples_is_a_number(sampler: Sampler):
    assert result(sampler, "np.zeros", 3) == "float64[3]"
    assert result(sampler, "getitem", array(sampler, N), slice(0, 2)) == "float64[2]"


def test_a_size_of_no_name_is_unknown(sampler: Sampler):
    x = array(sampler, N)
    assert result(sampler, "getitem", x, slice(None, None, 2)) == "float64[?]"
    assert result(sampler, "np.concatenate", [x, x]) == "float64[?]"


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

    assert kind(0.5, 0.7) == ("python", "float")
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


def test_sizes_never_meet_by_chance():
    pairs = list(sample_pairs(60))
    assert pairs[: len(PAIRS)] == PAIRS
    assert len(set(pairs)) == 60
    assert all(a != b for a, b in pairs)


def test_a_key_has_one_length(sampler: Sampler):
    first = sampler.fresh_pair("mask")
    assert sampler.fresh_pair("mask") == first
    assert sampler.fresh_pair("other") != first


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
