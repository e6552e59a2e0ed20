"""Globals and closures, read when the gradient is called."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw

TEMPERATURE = 0.8
X = draw(4, 3, seed=1)
y = draw(4, seed=2)
CONFIG = {"l2": 0.1, "power": 2}
LEVELS = [0.5, 1.0, 2.0]


@case(draw(3, seed=3), kinds="globals")
def global_data(w):
    return np.mean((X @ w - y) ** 2)


@case(draw(3, seed=4), kinds="globals")
def global_scalar(w):
    z = w / TEMPERATURE
    return TEMPERATURE * np.log(np.sum(np.exp(z)))


@case(draw(3, seed=5), kinds="globals")
def global_containers(w):
    reg = CONFIG["l2"] * np.sum(w ** CONFIG["power"])
    for level in LEVELS:
        reg += level * w[0] ** 2
    return reg


@case(0.7, kinds="globals")
def constants_of_numpy(x):
    return np.sin(np.pi * x) * np.e + np.log(x + np.finfo(float).eps)


def dependent_helper(w):
    return np.sum(w * LEVELS[1]) * TEMPERATURE


@case(draw(3, seed=6), kinds="globals helper")
def global_in_helper(w):
    return dependent_helper(w) ** 2


def over(data, strength):
    """Return a loss that closes over its data."""

    def loss_over_data(w):
        return np.mean((data @ w) ** 2) + strength * np.sum(w**2)

    return loss_over_data


loss_over_data = case(draw(3, seed=7), kinds="globals closure")(over(X, 0.3))
