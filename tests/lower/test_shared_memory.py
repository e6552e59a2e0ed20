"""Arrays of which only the run decides whether they are one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback


def swapped_in_a_branch(x, a, b):
    w = b[:-1]
    if x > -5.0:
        for _ in range(3):
            a, b = b, a
    a[::2] *= 0.5
    return np.sum(w**2) + np.sum(b**3)


def swapped_at_run_time(x, a, b):
    w = b[:-1]
    k = 0
    while k < 3 and x > -1.0:
        k += 1
        a, b = b, a
        x = x - 0.3
    a[::2] *= 0.1
    return np.sum(w**2) + np.sum(a**3) + x


def slope(fn: Any, at: Any, name: str) -> np.ndarray:
    """Return central differences of order two by one argument, h = 1e-5.

    The functions here are smooth where they are tried: right to about 1e-8.
    """

    def shifted(k: Any, step: float) -> Any:
        given = at()
        if k == ():
            given[name] = given[name] + step
        else:
            given[name][k] += step
        return fn(**given)

    shape = np.shape(at()[name])
    made = np.zeros(shape)
    for k in np.ndindex(shape):
        made[k] = (shifted(k, 1e-5) - shifted(k, -1e-5)) / 2e-5
    return made


def check(fn: Any, at: Any, *names: str) -> None:
    f = symback.differentiable(fn, wrt=names)
    value, gradients = f.value_and_grad_fn(**at())
    assert value == pytest.approx(fn(**at()), rel=1e-13)
    for name, gradient in zip(names, gradients, strict=True):
        expected = slope(fn, at, name)
        assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("fn", [swapped_in_a_branch, swapped_at_run_time])
@pytest.mark.parametrize("x", [0.4, -0.5, -7.0])
def test_what_only_the_run_decides_is_right(fn: Any, x: float):
    check(fn, lambda: {"x": x, "a": np.arange(3.0), "b": np.arange(3.0)}, "a", "b")


def one_on_both_paths(x):
    a = x * 1
    if x[0] > 0:
        b = a
    else:
        a = a + 1
        b = a
    a[0] = 5.0
    return np.sum(b**2)


def kept_in_a_list(x):
    history, now = [], x * 1
    for t in range(3):
        now = now * 0.9 + t
        history.append(now)
        last = now
    last[0] = 7.0
    return np.sum(np.stack(history) ** 2) + np.sum(now)


@pytest.mark.parametrize("fn", [one_on_both_paths, kept_in_a_list])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_names_of_one_array_stay_names_of_one_array(fn: Any, sign: float):
    x = sign * np.array([1.5, -0.4, 0.7])
    value, gradient = symback.value_and_grad(fn)(x.copy())
    assert value == pytest.approx(fn(x.copy()), rel=1e-14)
    # Central differences with h = 1e-6 of polynomials of degree two are right to 1e-9.
    for k in range(3):
        e = np.eye(3)[k] * 1e-6
        assert gradient[k] == pytest.approx((fn(x + e) - fn(x - e)) / 2e-6, abs=1e-7)


def one_of_two_twice(x, a, b, c):
    p = a if x > 0 else b
    q = a if x > -1 else c
    p[0] = x * 2
    return np.sum(q * q)


def a_list_bound_on_one_path(x, a, b, c):
    items = [x, x * x]
    if x > 0.5:
        same = items
    items.append(x**4)
    if x > 0.5:
        same[0] = x**5
    return sum(items)


def an_array_bound_on_one_path(x, a, b, c):
    p = a if x > 0 else b
    if x > 0.1:
        v = p
    a[0] = x * 3
    return np.sum(v * v) if x > 0.1 else np.sum(b)


def one_after_two_iterations(x, a, b, c):
    k = 0
    while k < 3 and x < 9:
        k += 1
        a, b = b, c
        a[0] = a[0] * x
    return x + np.sum(c * c)


@pytest.mark.parametrize(
    "fn",
    [
        one_of_two_twice,
        a_list_bound_on_one_path,
        an_array_bound_on_one_path,
        one_after_two_iterations,
    ],
)
@pytest.mark.parametrize("x", [0.7, -0.7, -2.0, 0.3])
def test_what_may_be_one_through_a_third_name_is_one(fn: Any, x: float):
    def at() -> dict[str, Any]:
        a, b, c = (np.array([1.1, 2.2, 3.3]) + k for k in range(3))
        return {"x": x, "a": a, "b": b, "c": c}

    check(fn, at, "x")


def swapped_or_not(x, a, b):
    if x > 0.1:
        a, b = b, a
    a[0] = x * 3
    return np.sum(a * a * a) + np.sum(b * b)


def swapped_in_some_iterations(x, a, b):
    for i in range(3):
        if x > i:
            continue
        a, b = b, a
    a[0] = x * 3
    return np.sum(a * a * a) + np.sum(b * b)


def swapped_in_all_iterations(x, a, b):
    for _ in range(5):
        a, b = b, a
        a[0] = x * a[0]
        b[1] = b[1] * a[0]
    return np.sum(a * a * a) + np.sum(b * b)


def listed_on_one_path(x, a, b):
    if x > 5:
        return x
    if x > 0:
        kept = [b]  # noqa: F841
    else:
        x = x * 2
    b[0] = x * x
    return np.sum(b * b)


@pytest.mark.parametrize(
    "fn",
    [
        swapped_or_not,
        swapped_in_some_iterations,
        swapped_in_all_iterations,
        listed_on_one_path,
    ],
)
@pytest.mark.parametrize("x", [0.7, 0.05, 1.6])
def test_two_names_that_are_never_one_may_be_written(fn: Any, x: float):
    def at(x: float) -> Any:
        return (x, np.array([1.1, 1.2, 0.3]), np.array([0.4, 1.5, 0.6]))

    gradient = symback.differentiable(fn, wrt="x").grad_fn(*at(x))
    # Central differences with h = 1e-5 are right to about 1e-8 of the third derivative.
    expected = (fn(*at(x + 1e-5)) - fn(*at(x - 1e-5))) / 2e-5
    assert gradient == pytest.approx(expected, rel=1e-6)


def first_changed(x, y):
    x[0] = 5.0
    return np.sum(y * y) * np.sum(x)


def first_of_a_list_changed(arrays):
    arrays[0][0] = 5.0
    return np.sum(arrays[1] * arrays[1])


SHARED = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (first_changed, (SHARED, SHARED)),
        (first_changed, (SHARED[:2], SHARED[1:])),
        (first_of_a_list_changed, ([SHARED, SHARED],)),
    ],
)
def test_arguments_that_share_memory_are_not_written(fn: Any, args: Any):
    with pytest.raises(symback.UnsupportedSyntaxError) as refusal:
        symback.value_and_grad(fn)(*args)
    assert str(refusal.value).startswith(
        "an argument is changed in place that shares memory with another"
    )
    assert SHARED.tolist() == [1.0, 2.0, 3.0]


def copy_changed(x, y):
    z = x.copy()
    z[0] = 5.0
    return np.sum(z * y)


def test_one_array_may_be_two_arguments():
    # By hand: z = (5, y1, y2), so the slope by x is (0, y1, y2).
    value, gradient = symback.value_and_grad(copy_changed)(SHARED, SHARED)
    assert value == 18.0
    assert gradient.tolist() == [0.0, 2.0, 3.0]


def test_columns_of_one_matrix_may_be_two_arguments():
    m = np.ones((3, 2))
    value, gradient = symback.value_and_grad(first_changed)(m[:, 0], m[:, 1])
    # By hand: sum(y * y) = 3 and sum(x) = 5 + 1 + 1.
    assert value == 21.0
    assert gradient.tolist() == [0.0, 3.0, 3.0]


def appended_and_kept_on_one_path(x, a):
    items, now = [], a
    for i in range(3):
        items.append(now)
        if x > i * 0.5:
            now = now * x
    now[0] = x
    return sum(np.sum(item) for item in items)


@pytest.mark.parametrize("x", [0.03, 0.7, 1.2])
def test_an_item_of_a_list_is_written_after_the_loop(x: float):
    check(
        appended_and_kept_on_one_path,
        lambda: {"x": x, "a": np.array([1.1, 2.2, 3.3])},
        "x",
        "a",
    )
