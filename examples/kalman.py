"""A Kalman filter's likelihood: how noisy is the Nile, and how fast does it drift?

The local level model of Durbin and Koopman (2001), section 2.2.
"""

from __future__ import annotations

import numpy as np
from data import NILE
from scipy.optimize import minimize

import symback


@symback.differentiable
def negative_log_likelihood(log_variances, flow):
    noise, drift = np.exp(log_variances)
    level = flow[0]
    variance = noise
    nll = 0.0
    for y in flow[1:]:
        variance += drift
        error = y - level
        total = variance + noise
        nll += 0.5 * (np.log(2.0 * np.pi * total) + error**2 / total)
        gain = variance / total
        level += gain * error
        variance *= 1.0 - gain
    return nll


def main() -> None:
    start = np.log(np.array([1e4, 1e4]))
    print(negative_log_likelihood.backward_source_for(start, NILE))
    print(negative_log_likelihood.check(start, NILE))

    loss = negative_log_likelihood.value_and_grad_fn
    fit = minimize(loss, start, args=(NILE,), jac=True, method="BFGS")
    noise, drift = np.exp(fit.x)
    print(f"variance of the noise {noise:.0f}, of the drift {drift:.1f}")
    # Durbin and Koopman report 15099 and 1469.1.
    assert np.allclose([noise, drift], [15099.0, 1469.1], rtol=5e-3)


if __name__ == "__main__":
    main()
