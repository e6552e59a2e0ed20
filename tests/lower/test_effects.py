"""What is done outside the function is done once, in order, in the forward part."""

from __future__ import annotations

import copy
import logging
import time
import warnings

import numpy as np
import pytest

import symback
from tests.lower.plain import differences, verify

X = np.array([0.5, 0.7, 0.9])


class Counted:
    def __init__(self):
        self.calls = 0
        self.history = []
        self.best = None
        self.__scale = 2.0

    def __square(self, x):
        return self.__scale * x**2

    def loss(self, x):
        self.calls += 1
        value = np.sum(self.__square(x))
        if self.best is None or value < self.best:
            self.best = float(value)
        self.history.append(float(value))
        return value * self.calls


def test_counters_histories_and_private_methods():
    made, plain = Counted(), Counted()
    f = symback.differentiable(made.loss)
    for k, x in enumerate((X, X / 2, X * 3), 1):
        value, gradient = f.value_and_grad_fn(x)
        assert value == plain.loss(x)
        np.testing.assert_allclose(gradient, 4 * k * x)
    assert vars(made) == vars(plain)
    assert len(f._patterns) <= 2


COUNTS = {"calls": 0, "mean": 0.0}
TRACE = []


def running(x):
    COUNTS["calls"] += 1
    value = np.sum(x**3)
    COUNTS["mean"] += (float(value) - COUNTS["mean"]) / COUNTS["calls"]
    for k in range(3):
        if x[k] > 0.6:
            TRACE.append(x[k] * 2)
    return value + COUNTS["mean"] * 0.0


def test_running_statistics_and_writes_in_loops():
    COUNTS.update(calls=0, mean=0.0)
    TRACE.clear()
    f = symback.differentiable(running)
    for x in (X, 2 * X):
        np.testing.assert_allclose(f.grad_fn(x), 3 * x**2)
    assert COUNTS["calls"] == 2
    assert COUNTS["mean"] == pytest.approx(4.5 * np.sum(X**3))
    np.testing.assert_allclose(TRACE, [1.4, 1.8, 2.0, 2.8, 3.6])


TOTAL = 0


def counts_in_a_global(x):
    global TOTAL
    TOTAL += 1
    return np.sum(x**2) * TOTAL


def test_a_global_and_an_enclosing_name():
    global TOTAL
    TOTAL = 0
    calls = 0

    def inner(x):
        nonlocal calls
        calls += 2
        return np.sum(x**2) + calls

    f, g = map(symback.value_and_grad, (counts_in_a_global, inner))
    for k in (1, 2, 3):
        np.testing.assert_allclose(f(X)[1], 2 * k * X)
        assert g(X)[0] == np.sum(X**2) + 2 * k
    assert (TOTAL, calls) == (3, 6)


class Kept:
    last = None

    def loss(self, x):
        self.last = x * 2
        return np.sum(self.last**2)


def test_what_was_kept_is_read_with_its_gradient():
    kept = Kept()
    np.testing.assert_allclose(symback.grad(kept.loss)(X), 8 * X)
    np.testing.assert_array_equal(kept.last, 2 * X)


def test_an_array_that_is_kept_is_its_own():
    kept = []

    def f(x):
        y = x * 2
        kept.append(y)
        z = y * y
        z *= 3
        return np.sum(z)

    np.testing.assert_allclose(symback.grad(f)(X), 24 * X)
    np.testing.assert_array_equal(kept[0], 2 * X)


LOG = logging.getLogger("symback.tests")


def noisy(x):
    start = time.perf_counter()
    value = np.sum(x**2)
    if value > 1:
        warnings.warn("large", stacklevel=1)
        LOG.warning("value %s", value)
    return value + 0.0 * (time.perf_counter() - start)


def test_warnings_logs_and_clocks(caplog):
    f = symback.differentiable(noisy)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.testing.assert_allclose(f.grad_fn(X), 2 * X)
    assert [str(w.message) for w in caught] == ["large"]
    assert len(caplog.records) == 1
    np.testing.assert_allclose(f.grad_fn(X / 3), 2 * X / 3)
    assert len(caplog.records) == 1


SCALE = np.exp


def scaled(x):
    return np.sum(SCALE(x))


def helper(x, by=2.0):
    return x * by


def helped(x):
    return np.sum(helper(x) ** 2)


class Shape:
    def __init__(self):
        self.map = lambda x: x**2

    def area(self, x):
        return np.sum(self.map(x))


def test_what_changes_between_calls_makes_a_new_text(monkeypatch):
    f = symback.grad(scaled)
    np.testing.assert_allclose(f(X), np.exp(X))
    monkeypatch.setitem(globals(), "SCALE", np.sin)
    np.testing.assert_allclose(f(X), np.cos(X))
    g = symback.grad(helped)
    np.testing.assert_allclose(g(X), 8 * X)
    monkeypatch.setattr(helper, "__defaults__", (3.0,))
    np.testing.assert_allclose(g(X), 18 * X)
    shape = Shape()
    h = symback.grad(shape.area)
    np.testing.assert_allclose(h(X), 2 * X)
    shape.map = lambda x: x**3
    np.testing.assert_allclose(h(X), 3 * X**2)
    np.testing.assert_allclose(differences(shape.area, (X,)), 3 * X**2, rtol=1e-8)


class Model:
    def __init__(self, w):
        self.w = w
        self.parts = [w, {"b": w * 2}]

    def loss(self, x):
        return np.sum((self.w * x) ** 2) + np.sum(self.parts[1]["b"])


MODEL = Model(np.ones(3))


def test_copies_of_objects_are_changed_alone():
    def f(w):
        m = copy.deepcopy(MODEL)
        m.w = w
        m.parts[1]["b"] = w * 3
        n = copy.copy(m)
        n.w = w * 2
        d = {"a": w.copy()}
        e = copy.deepcopy(d)
        d["a"][0] = w[1] * 5
        return m.loss(X) + n.loss(X) + np.sum(d["a"]) + np.sum(e["a"] ** 2)

    verify(f, X)
    np.testing.assert_array_equal(MODEL.w, np.ones(3))
    np.testing.assert_array_equal(MODEL.parts[1]["b"], 2 * np.ones(3))
