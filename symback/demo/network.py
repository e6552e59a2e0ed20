"""The network of the demo: the only file that a user of symback would write.

W1 is (d, h), b1 (h,), W2 (h, k) and b2 (k,); x holds n birds' d measurements, (n, d),
and y a 1 in the column of each bird's species, (n, k).
"""

import numpy as np

import symback


def scores(W1, b1, W2, b2, x):
    h = np.tanh(x @ W1 + b1)
    return h @ W2 + b2


@symback.differentiable(wrt=("W1", "b1", "W2", "b2"))
def loss(W1, b1, W2, b2, x, y):
    s = scores(W1, b1, W2, b2, x)
    log_total = np.log(np.sum(np.exp(s), axis=1))
    return np.mean(log_total - np.sum(y * s, axis=1))
