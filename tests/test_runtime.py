"""The helpers that generated code calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symback import runtime

ONES = np.ones((2, 3, 4))


@pytest.mark.parametrize(
    "shape",
    [(2, 3, 4), (3, 4), (4,), (1,), (), (3, 1), (1, 1, 1), (2, 1, 4), (1, 4)],
)
def test_unbroadcast_sums_what_was_stretched(shape: tuple[int, ...]) -> None:
    x_bar = np.arange(24.0).reshape(2, 3, 4)
    got = runtime.unbroadcast(x_bar, np.zeros(shape))
    assert isinstance(got, np.ndarray)
    assert got.shape == shape
    assert got.sum() == x_bar.sum()
    # The transpose of broadcasting: <x_bar, broadcast(y)> = <unbroadcast(x_bar), y>.
    y = np.random.default_rng(0).normal(size=shape)
    paired = np.sum(x_bar * np.broadcast_to(y, x_bar.shape))
    np.testing.assert_allclose(np.sum(got * y), paired, rtol=1e-13)


@pytest.mark.parametrize(
    ("x_bar", "x", "kind"),
    [
        (2.0, 3.0, float),
        (np.float64(2.0), 3.0, float),
        (np.ones(2), 3.0, float),
        (2.0, np.float64(3.0), np.float64),
        (2.0, np.float32(3.0), np.float32),
        (np.ones(2), np.float32(3.0), np.float32),
        (2.0 + 1j, 3.0, float),
        (np.full(2, 1 + 1j), np.float64(3.0), np.float64),
        (np.ones(2), 3, float),
        (np.ones(2), np.int64(3), np.float64),
    ],
)
def test_unbroadcast_of_scalars(x_bar: Any, x: Any, kind: type) -> None:
    got = runtime.unbroadcast(x_bar, x)
    assert type(got) is kind
    assert got == 2.0


@pytest.mark.parametrize(
    ("dtype", "want"),
    [("float32", "float32"), ("float64", "float64"), ("int64", "float64")],
)
def test_unbroadcast_keeps_the_precision(dtype: str, want: str) -> None:
    assert runtime.unbroadcast(ONES, np.zeros(4, dtype)).dtype == want
    assert runtime.unbroadcast(ONES + 1j, np.zeros((2, 3, 4), dtype)).dtype == want


def test_unbroadcast_of_complex_parameters() -> None:
    got = runtime.unbroadcast(ONES * 1j, np.zeros(4, complex))
    np.testing.assert_array_equal(got, np.full(4, 6j))
    assert runtime.unbroadcast(np.full(2, 1j), 1j) == 2j


def test_unbroadcast_repeats_what_is_too_small() -> None:
    np.testing.assert_array_equal(
        runtime.unbroadcast(np.ones((1, 3)), np.zeros((2, 3))), np.ones((2, 3))
    )
    np.testing.assert_array_equal(
        runtime.unbroadcast(2.0, np.zeros(3)), np.full(3, 2.0)
    )


def test_unbroadcast_of_empty_arrays() -> None:
    got = runtime.unbroadcast(np.zeros((0, 3)), np.zeros(3))
    np.testing.assert_array_equal(got, np.zeros(3))
    assert runtime.unbroadcast(np.zeros((2, 0)), np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (np.array([0, 0, 2]), (3,)),
        (np.array([2, 1, 2, 2, 0]), (3, 2)),
        ((np.array([0, 1, 0]), np.array([1, 1, 1])), (2, 2)),
        ((slice(None), np.array([1, 1])), (2, 3)),
        (np.array([[0, 1], [1, 0]]), (2,)),
        (1, (3,)),
        (slice(0, 2), (3,)),
        (np.array([-1, 2]), (3,)),
        (np.array([True, False, True]), (3,)),
    ],
)
def test_winners_are_what_numpy_keeps(index: Any, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape)
    v = 1.0 + np.arange(np.size(x[index])).reshape(np.shape(x[index]))
    x[index] = v
    wins = runtime.winners(index, x)
    assert np.shape(wins) == np.shape(v)
    np.testing.assert_array_equal(wins, x[index] == v)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 65])
def test_scan_against_the_loop(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n, 3))
    want, state = [], np.zeros(3)
    for i in range(n):
        state = b[i] + a[i] * state
        want.append(state)
    got = runtime.scan(a, b)
    np.testing.assert_allclose(got, np.reshape(want, (n, 3)), rtol=1e-12, atol=1e-12)
    along = runtime.scan(a.T, b.T, axis=1)
    np.testing.assert_allclose(along, got.T, rtol=1e-12, atol=1e-12)
    assert runtime.scan(np.float32(a), np.float32(b)).dtype == np.float32


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_cofactors_by_minors(n: int) -> None:
    """Each cofactor is a signed minor, for regular and for singular matrices."""
    rng = np.random.default_rng(n)
    regular = rng.normal(size=(n, n))
    flat = regular.copy()
    flat[-1] = flat[0] if n > 1 else 0.0
    for a in (regular, flat, np.zeros((n, n)), 1e-9 * regular, regular + 1j * flat):
        minors = [
            [
                (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
                for j in range(n)
            ]
            for i in range(n)
        ]
        size = max(np.abs(a).max() ** (n - 1), 1e-300)
        np.testing.assert_allclose(
            runtime.cofactor(a), minors, rtol=1e-9, atol=1e-13 * size
        )


def test_cofactors_of_stacks_and_of_nothing() -> None:
    a = np.random.default_rng(1).normal(size=(2, 3, 3))
    a[1, 2] = a[1, 0]
    got = runtime.cofactor(a)
    np.testing.assert_allclose(got[0], runtime.cofactor(a[0]), rtol=1e-10)
    np.testing.assert_allclose(got[1], runtime.cofactor(a[1]), rtol=1e-10)
    assert runtime.cofactor(np.zeros((0, 0))).shape == (0, 0)
    assert runtime.cofactor(np.float32(a)).dtype == np.float32


def test_gather_pullback_of_complex_numbers() -> None:
    got = runtime.gather_pullback(
        np.array([1.0, 2j, 4.0]), np.array([0, 0, 1]), np.zeros(3, complex)
    )
    np.testing.assert_array_equal(got, [1 + 2j, 4.0, 0.0])


def test_lists() -> None:
    parts = runtime.split_like(np.arange(4.0), [np.zeros((1, 2)), 0.0, 0.0], None)
    assert [np.shape(p) for p in parts] == [(1, 2), (), ()]
    items = [1.0, 2.0]
    assert runtime.list_add(items, slice(None, None, -1), [10.0, 20.0]) == [21.0, 12.0]
    assert items == [1.0, 2.0]
