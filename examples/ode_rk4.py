"""Fit predator and prey by differentiating through Runge-Kutta steps.

Hares and lynxes of the Hudson Bay, and the equations of Lotka and Volterra.
"""

from __future__ import annotations

import numpy as np
from data import HARES, LYNXES
from scipy.optimize import minimize

import symback


def rhs(state, a, b, c, d):
    hares, lynxes = state
    return np.array([(a - b * lynxes) * hares, (d * hares - c) * lynxes])


def rk4_step(state, h, *rates):
    k1 = rhs(state, *rates)
    k2 = rhs(state + 0.5 * h * k1, *rates)
    k3 = rhs(state + 0.5 * h * k2, *rates)
    k4 = rhs(state + h * k3, *rates)
    return state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@symback.differentiable
def misfit(theta, hares, lynxes, substeps=8):
    rates = np.exp(theta[:4])
    state = np.exp(theta[4:])
    sse = 0.0
    for year in range(len(hares)):
        if year > 0:
            for _ in range(substeps):
                state = rk4_step(state, 1.0 / substeps, *rates)
        seen = np.array([hares[year], lynxes[year]])
        sse += np.sum((np.log(state) - np.log(seen)) ** 2)
    return sse


def main() -> None:
    theta = np.log(np.array([0.5, 0.025, 0.8, 0.025, 30.0, 5.0]))
    print(misfit.backward_source_for(theta, HARES, LYNXES))
    print(misfit.check(theta, HARES, LYNXES))

    fit = minimize(misfit.value_and_grad_fn, theta, args=(HARES, LYNXES), jac=True)
    a, b, c, d = np.exp(fit.x[:4])
    print(f"misfit {misfit(theta, HARES, LYNXES):.3f} -> {fit.fun:.3f}")
    print(f"hares grow at {a:.3f} - {b:.4f} lynx, lynxes at {d:.4f} hare - {c:.3f}")
    # The posterior means of Carpenter's case study (2018): 0.55, 0.028, 0.80, 0.024.
    assert np.allclose([a, b, c, d], [0.55, 0.028, 0.80, 0.024], rtol=0.1)


if __name__ == "__main__":
    main()
