"""Dynamic time warping with a soft minimum, and an average of series under it.

Soft-DTW is due to Cuturi and Blondel (2017).  The series are cycles of the Sun's
activity, which last from nine to eleven years: their mean must stretch them.
"""

from __future__ import annotations

import numpy as np
from data import SUNSPOTS

import symback


def soft_min(a, b, c, gamma):
    low = min(a, b, c)
    weights = np.exp((low - a) / gamma) + np.exp((low - b) / gamma)
    return low - gamma * np.log(weights + np.exp((low - c) / gamma))


@symback.differentiable
def soft_dtw(x, y, gamma=0.05):
    n, m = len(x), len(y)
    R = np.full((n + 1, m + 1), 1e6)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            best = soft_min(R[i - 1, j - 1], R[i - 1, j], R[i, j - 1], gamma)
            R[i, j] = cost + best
    return R[n, m]


def main() -> None:
    # From minimum to minimum: 1712, 1723, 1733, ...
    cycles = np.split(SUNSPOTS / 100.0, [12, 23, 33, 45, 55, 66, 75])[1:-1]
    print(soft_dtw.backward_source_for(cycles[0], cycles[1]))
    print(soft_dtw.check(cycles[0], cycles[1]))

    template = np.mean([c[:9] for c in cycles], axis=0)
    history = []
    for _ in range(60):
        results = [soft_dtw.value_and_grad_fn(template, c) for c in cycles]
        history.append(sum(value for value, _ in results))
        template = template - 0.02 * sum(gradient for _, gradient in results)
    print("the average cycle:", np.round(100.0 * template))
    print(f"distance to the cycles {history[0]:.3f} -> {history[-1]:.3f}")
    assert history[-1] < history[0]


if __name__ == "__main__":
    main()
