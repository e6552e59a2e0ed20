"""The network of the demo: the only file that a user of symback would write."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import symback

Array = NDArray[np.float64]


def scores(W1: Array, b1: Array, W2: Array, b2: Array, x: Array) -> Array:
    """Return (n, k) scores of n birds for k species, from (n, d) measurements."""
    h = np.tanh(x @ W1 + b1)
    return h @ W2 + b2


@symback.differentiable(wrt=("W1", "b1", "W2", "b2"))
def loss(W1: Array, b1: Array, W2: Array, b2: Array, x: Array, y: Array) -> np.float64:
    """Return the mean cross-entropy of softmax scores with (n, k) one-hot species."""
    s = scores(W1, b1, W2, b2, x)
    log_total = np.log(np.sum(np.exp(s), axis=1))
    return np.mean(log_total - np.sum(y * s, axis=1))
