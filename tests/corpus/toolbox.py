"""Helpers that corpus functions import, as from a user's own package."""

from __future__ import annotations

import numpy as np

EPS = 1e-3


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def standardise(X):
    centred = X - X.mean(axis=0)
    return centred / np.sqrt(centred.var(axis=0) + EPS)


def rbf(x, y, ell=1.0):
    d = x - y
    return np.exp(-0.5 * np.sum(d * d) / ell**2)
