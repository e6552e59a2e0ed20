"""`match` on constants, and branches decided by integers and strings."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(4, seed=1), draw(4, seed=2), "huber", wrt="p", kinds="match string_option")
def regression_loss(p, y, kind):
    r = p - y
    match kind:
        case "l2":
            return np.mean(r**2)
        case "l1":
            return np.mean(np.abs(r))
        case "huber" | "smooth":
            return np.mean(np.sqrt(1.0 + r**2) - 1.0)
        case _:
            raise ValueError(f"unknown loss {kind!r}")


@case(positive(3, seed=3), 2, wrt="x", kinds="match")
def norm_of_order(x, order):
    match order:
        case 1:
            return np.sum(np.abs(x))
        case 2:
            return np.sqrt(np.sum(x**2))
        case 3 | 4:
            return np.sum(x**order) ** (1.0 / order)
    return np.max(x)


@case(positive(5, seed=4), kinds="match")
def step_by_phase(x):
    total = 0.0
    for i in range(len(x)):
        match i % 3:
            case 0:
                total += np.sin(x[i])
            case 1:
                total *= x[i]
            case _:
                total -= x[i] ** 2
    return total


@case(positive(3, seed=5), None, wrt="x", kinds="match is_none")
def match_none(x, weights):
    match weights:
        case None:
            w = np.ones(3) / 3.0
        case _:
            w = weights / np.sum(weights)
    return np.sum(w * np.log(x))


@case(positive(3, seed=6), 2, wrt="x", kinds="match")
def match_with_guard(x, k):
    match k:
        case 2 if x[0] > 10.0:
            return x[0]
        case 2:
            return np.prod(x)
        case _:
            return np.sum(x)
