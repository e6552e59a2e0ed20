"""A residual network: blocks in a list, each adding to what passes through it.

Two interleaved half-circles, simulated with noise, are told apart.
"""

from __future__ import annotations

import numpy as np

import symback


@symback.differentiable(wrt=("first", "blocks", "last"))
def loss(first, blocks, last, X, y):
    h = X @ first
    for W, b in blocks:
        h = h + np.tanh(h @ W + b)
    z = h @ last
    # The logistic loss, safe for large z.
    return np.mean(np.maximum(z, 0.0) - y * z + np.log1p(np.exp(-np.abs(z))))


def two_moons(n, rng):
    angle = rng.uniform(0.0, np.pi, size=n)
    y = (np.arange(n) % 2).astype(float)
    upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lower = np.array([1.0, 0.5]) - upper
    X = np.where(y[:, None] == 1.0, upper, lower)
    return X + 0.1 * rng.normal(size=(n, 2)), y


def main() -> None:
    rng = np.random.default_rng(2)
    X, y = two_moons(200, rng)
    first = rng.normal(size=(2, 8))
    blocks = [(0.3 * rng.normal(size=(8, 8)), np.zeros(8)) for _ in range(3)]
    last = 0.1 * rng.normal(size=8)
    print(loss.backward_source_for(first, blocks, last, X, y))
    print(loss.check(first, blocks, last, X[:10], y[:10]))

    start = loss(first, blocks, last, X, y)
    for _ in range(400):
        value, (g_first, g_blocks, g_last) = loss.value_and_grad_fn(
            first, blocks, last, X, y
        )
        first -= 0.2 * g_first
        last -= 0.2 * g_last
        for (W, b), (gW, gb) in zip(blocks, g_blocks, strict=True):
            W -= 0.2 * gW
            b -= 0.2 * gb
    print(f"logistic loss {start:.3f} -> {value:.3f}")
    assert value < 0.1


if __name__ == "__main__":
    main()
