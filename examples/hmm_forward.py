"""A hidden Markov model, its forward pass written with array assignment.

Two states with Poisson counts, fitted to a century of large earthquakes.
"""

from __future__ import annotations

import numpy as np
from data import EARTHQUAKES
from scipy.optimize import minimize

import symback


@symback.differentiable
def negative_log_likelihood(theta, counts):
    rate = np.exp(theta[:2])
    stay = 1.0 / (1.0 + np.exp(-theta[2:]))
    A = np.array([[stay[0], 1.0 - stay[0]], [1.0 - stay[1], stay[1]]])
    start = np.array([1.0 - stay[1], 1.0 - stay[0]]) / (2.0 - stay[0] - stay[1])

    T = len(counts)
    alpha = np.zeros((T, 2))
    log_likelihood = 0.0
    for t in range(T):
        # The counts' factorials do not depend on theta.
        emission = np.exp(counts[t] * np.log(rate) - rate - 45.0)
        if t == 0:
            alpha[t] = start * emission
        else:
            alpha[t] = (alpha[t - 1] @ A) * emission
        scale = np.sum(alpha[t])
        alpha[t] /= scale
        log_likelihood += np.log(scale)
    return -log_likelihood


def main() -> None:
    theta = np.array([np.log(15.0), np.log(25.0), 2.0, 2.0])
    print(negative_log_likelihood.backward_source_for(theta, EARTHQUAKES))
    print(negative_log_likelihood.check(theta, EARTHQUAKES))

    loss = negative_log_likelihood.value_and_grad_fn
    fit = minimize(loss, theta, args=(EARTHQUAKES,), jac=True, method="BFGS")
    low, high = np.exp(fit.x[:2])
    print(f"quiet years: {low:.2f} earthquakes, active years: {high:.2f}")
    # Zucchini and MacDonald find 15.47 and 26.13 (section 3.2).
    assert np.allclose([low, high], [15.47, 26.13], atol=0.02)


if __name__ == "__main__":
    main()
