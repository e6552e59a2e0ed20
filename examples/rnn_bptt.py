"""Backpropagation through time, the network written as a plain loop with a list.

A small recurrent network learns to foretell next year's sunspots.
"""

from __future__ import annotations

import numpy as np
from data import SUNSPOTS

import symback


@symback.differentiable(wrt=("Wx", "Wh", "b", "Wy"))
def loss(Wx, Wh, b, Wy, series):
    h = np.zeros(len(b))
    predictions = []
    for x in series[:-1]:
        h = np.tanh(Wx * x + Wh @ h + b)
        predictions.append(Wy @ h)
    return np.mean((np.array(predictions) - series[1:]) ** 2)


def main() -> None:
    rng = np.random.default_rng(0)
    n = 8
    weights = [
        rng.normal(size=n) * 0.5,
        rng.normal(size=(n, n)) * 0.5 / np.sqrt(n),
        np.zeros(n),
        rng.normal(size=n) / np.sqrt(n),
    ]
    series = SUNSPOTS / 100.0
    print(loss.backward_source_for(*weights, series))
    print(loss.check(*weights, series[:12]))

    # Adam, as Kingma and Ba (2015) write it.
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    start = loss(*weights, series)
    for step in range(1, 301):
        value, gradient = loss.value_and_grad_fn(*weights, series)
        for w, g, m, v in zip(weights, gradient, first, second, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g**2 - v)
            scale = 0.01 / (1.0 - 0.9**step) * np.sqrt(1.0 - 0.999**step)
            w -= scale * m / (np.sqrt(v) + 1e-8)
    print(f"mean squared error {start:.4f} -> {value:.4f}")
    persistence = np.mean((series[1:] - series[:-1]) ** 2)
    print(f"saying 'as this year' every year: {persistence:.4f}")
    assert value < 0.5 * persistence


if __name__ == "__main__":
    main()
