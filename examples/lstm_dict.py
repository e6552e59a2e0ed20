"""An LSTM whose parameters are a dictionary; so is its gradient."""

from __future__ import annotations

import numpy as np
from data import SUNSPOTS

import symback


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def lstm_step(p, x, h, c):
    v = np.concatenate([np.array([x, 1.0]), h])
    forget = sigmoid(p["forget"] @ v)
    write = sigmoid(p["write"] @ v)
    read = sigmoid(p["read"] @ v)
    c = forget * c + write * np.tanh(p["new"] @ v)
    return read * np.tanh(c), c


@symback.differentiable(wrt="p")
def loss(p, series):
    h = np.zeros(p["new"].shape[0])
    c = np.zeros_like(h)
    total = 0.0
    for t in range(len(series) - 1):
        h, c = lstm_step(p, series[t], h, c)
        total += (p["out"] @ h - series[t + 1]) ** 2
    return total / (len(series) - 1)


def main() -> None:
    rng = np.random.default_rng(1)
    n = 6
    gates = ("forget", "write", "read", "new")
    p = {gate: rng.normal(size=(n, n + 2)) * 0.4 for gate in gates}
    p["out"] = rng.normal(size=n) * 0.4
    series = SUNSPOTS / 100.0
    print(loss.backward_source_for(p, series))
    print(loss.check(p, series[:10]))

    start = loss(p, series)
    velocity = {name: np.zeros_like(w) for name, w in p.items()}
    for _ in range(300):
        value, gradient = loss.value_and_grad_fn(p, series)
        for name in p:
            velocity[name] = 0.9 * velocity[name] - 0.1 * gradient[name]
            p[name] = p[name] + velocity[name]
    print(f"mean squared error {start:.4f} -> {value:.4f}")
    assert value < 0.5 * np.mean((series[1:] - series[:-1]) ** 2)


if __name__ == "__main__":
    main()
