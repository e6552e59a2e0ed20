"""A Gaussian mixture fitted by its gradient: two kinds of waiting at Old Faithful."""

from __future__ import annotations

import numpy as np
from data import WAITING
from scipy.optimize import minimize

import symback


def log_sum_exp(a):
    m = np.max(a, axis=1, keepdims=True)
    return (m + np.log(np.sum(np.exp(a - m), axis=1, keepdims=True)))[:, 0]


@symback.differentiable
def negative_log_likelihood(theta, x):
    logits, mu, log_sd = np.split(theta, 3)
    log_weight = logits - np.log(np.sum(np.exp(logits)))
    z = (x[:, None] - mu) / np.exp(log_sd)
    log_density = -0.5 * z**2 - log_sd - 0.5 * np.log(2.0 * np.pi)
    return -np.sum(log_sum_exp(log_density + log_weight))


def expectation_maximisation(x, steps=500):
    """Return the means by the classical algorithm, which needs no gradient."""
    weight, mu, sd = np.full(2, 0.5), np.array([50.0, 80.0]), np.full(2, 8.0)
    for _ in range(steps):
        density = weight / sd * np.exp(-0.5 * ((x[:, None] - mu) / sd) ** 2)
        share = density / density.sum(axis=1, keepdims=True)
        weight = share.mean(axis=0)
        mu = (share * x[:, None]).sum(axis=0) / share.sum(axis=0)
        spread = (share * (x[:, None] - mu) ** 2).sum(axis=0)
        sd = np.sqrt(spread / share.sum(axis=0))
    return mu


def main() -> None:
    theta = np.array([0.0, 0.0, 50.0, 80.0, 2.0, 2.0])
    print(negative_log_likelihood.backward_source_for(theta, WAITING))
    print(negative_log_likelihood.check(theta, WAITING))

    loss = negative_log_likelihood.value_and_grad_fn
    fit = minimize(loss, theta, args=(WAITING,), jac=True, method="BFGS")
    mu = fit.x[2:4]
    print(f"short waits {mu[0]:.2f} minutes, long waits {mu[1]:.2f}")
    assert np.allclose(mu, expectation_maximisation(WAITING), atol=1e-2)


if __name__ == "__main__":
    main()
