"""Signatures: which arguments run the same function."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from symback.signature import exact_key, layout, pattern_key


class Layer(NamedTuple):
    weight: Any
    bias: Any


class Model:
    def __init__(self, rate: Any) -> None:
        self.rate = rate


def pattern(*arguments: Any, static: tuple[int, ...] = ()) -> Any:
    return pattern_key(arguments, frozenset(static))


def zeros(*shape: int, dtype: str = "float64") -> np.ndarray:
    return np.zeros(shape, dtype)


ALIKE = {
    "a new batch": ((zeros(5, 2), zeros(5)), (zeros(9, 4), zeros(9))),
    "a new float": ((1.5,), (2.5,)),
    "a new integer": ((3,), (4,)),
    "a length and its integer": ((zeros(5), 5), (zeros(9), 9)),
    "containers": (([zeros(2), 1.0],), ([zeros(3), 2.0],)),
    "dicts": (({"a": 1.0},), ({"a": 2.0},)),
    "named tuples": ((Layer(zeros(2), 1.0),), (Layer(zeros(3), 2.0),)),
    "objects": ((Model(0.1),), (Model(0.2),)),
    "long lists of numbers": (([0.5] * 20,), ([0.5] * 30,)),
}
DIFFERENT = {
    "dimensions become equal": ((zeros(5, 2),), (zeros(4, 4),)),
    "a dimension becomes one": ((zeros(5, 2),), (zeros(5, 1),)),
    "a dimension becomes empty": ((zeros(5),), (zeros(0),)),
    "an equal one parts": ((zeros(5, 2), zeros(5)), (zeros(5, 2), zeros(6))),
    "ranks": ((zeros(5),), (zeros(5, 2),)),
    "dtypes": ((zeros(5),), (zeros(5, dtype="float32"),)),
    "layouts": ((zeros(5, 2),), (zeros(2, 5).T,)),
    "classes": ((1.0,), (np.float64(1.0),)),
    "an integer becomes a length": ((zeros(5), 4), (zeros(5), 5)),
    "integers become equal": ((2, 3), (2, 2)),
    "strings": (("mean",), ("sum",)),
    "switches": ((True,), (False,)),
    "None": ((None,), (1.0,)),
    "container lengths": (([1.0],), ([1.0, 2.0],)),
    "list and tuple": (([1.0],), ((1.0,),)),
    "keys": (({"a": 1.0},), ({"b": 1.0},)),
    "attributes": ((Model(0.1),), (Model("fast"),)),
    "functions": ((np.tanh,), (np.exp,)),
}


@pytest.mark.parametrize("name", ALIKE)
def test_alike(name: str):
    first, second = ALIKE[name]
    assert pattern(*first) == pattern(*second)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str):
    first, second = DIFFERENT[name]
    assert pattern(*first) != pattern(*second)
    assert tuple(map(exact_key, first)) != tuple(map(exact_key, second))


def test_a_static_integer_counts_by_its_value():
    assert pattern(3, static=(0,)) != pattern(4, static=(0,))
    assert pattern(3, static=(0,)) == pattern(3, static=(0,))


def test_the_exact_key_keeps_lengths_and_integers():
    assert exact_key(zeros(5)) == ("d", (5,))
    assert exact_key(zeros(5)) != exact_key(zeros(6))
    assert exact_key(3) != exact_key(4)
    assert exact_key(1.5) == exact_key(2.5)
    assert exact_key(1) != exact_key(True)


def test_keys_can_be_looked_up():
    every = [a for pair in (*ALIKE.values(), *DIFFERENT.values()) for a in pair]
    assert all(hash(pattern(*a)) == hash(pattern(*a)) for a in every)
    assert all(isinstance(hash(exact_key(a)), int) for one in every for a in one)


def test_layouts():
    x = np.zeros((4, 6))
    assert layout(x) == "C"
    assert layout(x.T) == "F"
    assert layout(x[:, ::2]) == "strided"
    # A vector is both: C comes first.
    assert layout(np.zeros(3)) == "C"
