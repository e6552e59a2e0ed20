"""Arrays of which only the run decides whether they are one: refused, never guessed."""

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


@pytest.mark.parametrize("fn", [swapped_in_a_branch, swapped_at_run_time])
def test_what_only_the_run_decides_is_refused(fn: Any):
    f = symback.differentiable(fn, wrt=("a", "b"))
    with pytest.raises(symback.UnsupportedSyntaxError) as refusal:
        f.grad_fn(0.4, np.arange(3.0), np.arange(3.0))
    assert "may share memory with another that was changed in place" in str(
        refusal.value
    )


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
