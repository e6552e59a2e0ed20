"""The demo: its data, what its network learns, and what it prints in the end."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from symback.demo import network, training
from symback.demo.penguins import load


def test_data_are_the_published_measurements():
    penguins = load()
    assert penguins.species == ("Adelie", "Chinstrap", "Gentoo")
    y = np.concatenate([penguins.y_train, penguins.y_test])
    assert y.sum(axis=0).tolist() == [151, 68, 123]
    assert len(penguins.measurements) == penguins.x_train.shape[1] == 4
    np.testing.assert_allclose(penguins.x_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(penguins.x_train.std(axis=0), 1)


def test_training_and_held_birds_are_apart_and_repeatable():
    first, again, other = load(), load(), load(seed=1)
    assert np.array_equal(first.x_train, again.x_train)
    assert not np.array_equal(first.x_train, other.x_train)
    assert len(load(test=100).x_test) == 100


def test_gradient_is_that_of_the_hand_written_network():
    """Against the formula for softmax cross-entropy, (p - y)/n at the scores."""
    data = load()
    x, y = data.x_train[:20], data.y_train[:20]
    W1, b1, W2, b2 = training.start(4, 3, seed=3)
    h = np.tanh(x @ W1 + b1)
    e = np.exp(h @ W2 + b2)
    s_bar = (e / e.sum(axis=1, keepdims=True) - y) / len(x)
    z_bar = s_bar @ W2.T * (1 - h**2)
    expected = (x.T @ z_bar, z_bar.sum(axis=0), h.T @ s_bar, s_bar.sum(axis=0))
    gradient = network.loss.grad_fn(W1, b1, W2, b2, x, y)
    for got, want in zip(gradient, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


def test_network_learns(capsys: pytest.CaptureFixture[str]):
    data = load()
    parameters, losses = training.train(data)
    assert losses[-1] < 0.1 < 0.7 < losses[0]
    assert training.accuracy(parameters, data.x_train, data.y_train) > 0.98
    assert training.accuracy(parameters, data.x_test, data.y_test) > 0.95
    assert capsys.readouterr().err == f"training: 60/60 loss {losses[-1]:.4f}\n"


def test_demo_from_start_to_end(capsys: pytest.CaptureFixture[str]):
    began = time.perf_counter()
    assert training.main() == 0
    assert time.perf_counter() - began < 20
    out = capsys.readouterr().out
    assert "342 penguins, 4 measurements of each" in out
    assert re.search(r"on 86 birds not seen: (9\d\.\d|100\.0)%", out)
    assert "@symback.differentiable" in out
    assert "W1_bar = " in out
    assert "network.py:" in out
    assert "proved" in out
