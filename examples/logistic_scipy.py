"""Logistic regression with scipy.optimize.minimize(jac=True).

Which penguins are chinstraps, told by their bills, flippers and weight?
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import symback
from symback.demo import penguins


@symback.differentiable
def loss(w, X, y, ridge=1e-3):
    z = X @ w[:-1] + w[-1]
    likelihood = np.mean(np.logaddexp(0.0, z) - y * z)
    return likelihood + 0.5 * ridge * np.sum(w[:-1] ** 2)


def main() -> None:
    birds = penguins.load()
    chinstrap = birds.species.index("Chinstrap")
    X, y = birds.x_train, birds.y_train[:, chinstrap]
    w = np.zeros(X.shape[1] + 1)
    print(loss.backward_source_for(w, X, y))
    print(loss.check(w, X, y))

    # One function gives value and gradient: SciPy differentiates nothing itself.
    fit = minimize(loss.value_and_grad_fn, w, args=(X, y), jac=True, method="BFGS")
    for name, weight in zip((*birds.measurements, "intercept"), fit.x, strict=True):
        print(f"{name:20} {weight:8.3f}")
    told = birds.x_test @ fit.x[:-1] + fit.x[-1] > 0.0
    right = np.mean(told == (birds.y_test[:, chinstrap] == 1.0))
    print(f"{fit.nfev} calls, {100.0 * right:.1f}% of the other birds told right")
    assert fit.success
    assert right > 0.95


if __name__ == "__main__":
    main()
