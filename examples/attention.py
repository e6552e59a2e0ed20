"""Single-head attention learns to look things up.

Each simulated sequence holds four pairs of a key and a value, then a question that
repeats one of the keys; the answer is the value that came with it.
"""

from __future__ import annotations

import numpy as np

import symback


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@symback.differentiable(wrt=("Wq", "Wk", "Wv"))
def loss(Wq, Wk, Wv, pairs, question, answer):
    # pairs: (n, 4, 6)  question: (n, 1, 6)  answer: (n, 1)
    Q, K, V = question @ Wq, pairs @ Wk, pairs @ Wv
    scores = Q @ np.swapaxes(K, 1, 2) / np.sqrt(K.shape[-1])
    looked_up = softmax(scores) @ V
    return np.mean((looked_up[:, :, 0] - answer) ** 2)


def simulate(n, rng):
    keys = np.stack([rng.permutation(np.eye(5))[:4] for _ in range(n)])
    values = rng.normal(size=(n, 4, 1))
    pairs = np.concatenate([keys, values], axis=2)
    asked = rng.integers(4, size=n)
    rows = np.arange(n)
    question = np.concatenate([keys[rows, asked], np.zeros((n, 1))], axis=1)
    return pairs, question[:, None, :], values[rows, asked]


def main() -> None:
    rng = np.random.default_rng(3)
    weights = [0.5 * rng.normal(size=shape) for shape in ((6, 4), (6, 4), (6, 1))]
    data = simulate(100, rng)
    print(loss.backward_source_for(*weights, *data))
    print(loss.check(*weights, *(part[:5] for part in data)))

    start = loss(*weights, *data)
    velocity = [np.zeros_like(w) for w in weights]
    for _ in range(1000):
        value, gradient = loss.value_and_grad_fn(*weights, *data)
        for w, v, g in zip(weights, velocity, gradient, strict=True):
            v *= 0.9
            v -= 0.1 * g
            w += v
    print(f"mean squared error {start:.4f} -> {value:.6f}")
    assert value < 0.05 * start


if __name__ == "__main__":
    main()
