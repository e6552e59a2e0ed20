"""Whole models as they are pasted: networks, filters, mixtures, survival."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammaln, logsumexp

from tests.corpus import case, draw, positive


@case(
    draw(3, 4, seed=1),
    draw(4, seed=2),
    draw(4, 2, seed=3),
    draw(2, seed=4),
    draw(5, 3, seed=5),
    np.array([0, 1, 1, 0, 1]),
    wrt=("W1", "b1", "W2", "b2"),
    kinds="model",
)
def two_layer_softmax(W1, b1, W2, b2, X, y):
    h = np.tanh(X @ W1 + b1)
    z = h @ W2 + b2
    z = z - z.max(axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(y)), y]) + 0.01 * (np.sum(W1**2) + np.sum(W2**2))


@case(
    draw(3, seed=6),
    draw(6, 3, seed=7),
    np.array([1.0, 0, 1, 1, 0, 0]),
    wrt="w",
    kinds="model",
)
def logistic_regression(w, X, y):
    z = X @ w
    return np.mean(np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0) - y * z)


@case(
    draw(3, 2, seed=8),
    draw(3, 3, seed=9),
    draw(3, seed=10),
    draw(1, 3, seed=11),
    draw(4, 2, seed=12),
    draw(4, seed=13),
    wrt=("Wx", "Wh", "b", "Wy"),
    kinds="model append",
)
def rnn_loss(Wx, Wh, b, Wy, xs, ys):
    h = np.zeros(3)
    outputs = []
    for x in xs:
        h = np.tanh(Wx @ x + Wh @ h + b)
        outputs.append(Wy @ h)
    preds = np.concatenate(outputs)
    return np.mean((preds - ys) ** 2)


@case(
    {
        "Wf": draw(2, 4, seed=14),
        "Wi": draw(2, 4, seed=15),
        "Wo": draw(2, 4, seed=16),
        "Wc": draw(2, 4, seed=17),
        "bf": np.ones(2),
        "bi": np.zeros(2),
        "bo": np.zeros(2),
        "bc": draw(2, seed=18),
    },
    draw(3, 2, seed=19),
    wrt="p",
    kinds="model dict",
    generic=False,
)
def lstm_dict(p, xs):
    h = np.zeros(2)
    c = np.zeros(2)
    for x in xs:
        v = np.concatenate([x, h])
        f = expit(p["Wf"] @ v + p["bf"])
        i = expit(p["Wi"] @ v + p["bi"])
        o = expit(p["Wo"] @ v + p["bo"])
        c = f * c + i * np.tanh(p["Wc"] @ v + p["bc"])
        h = o * np.tanh(c)
    return np.sum(h**2)


@case(
    np.array([[0.9, 0.1], [-0.1, 0.8]]),
    0.4,
    0.6,
    draw(5, 1, seed=20),
    wrt=("A", "q", "r"),
    kinds="model",
)
def kalman_nll(A, q, r, ys):
    H = np.array([[1.0, 0.5]])
    m, P = np.zeros(2), np.eye(2)
    nll = 0.0
    for y in ys:
        m = A @ m
        P = A @ P @ A.T + q**2 * np.eye(2)
        S = H @ P @ H.T + r**2
        e = y - H @ m
        K = P @ H.T / S
        nll += 0.5 * (e[0] ** 2 / S[0, 0] + np.log(2 * np.pi * S[0, 0]))
        m = m + K @ e
        P = P - K @ H @ P
    return nll


@case(
    draw(2, seed=21),
    draw(2, 2, seed=22),
    draw(2, 2, seed=23),
    draw(6, 2, seed=24),
    wrt=("logits", "mu", "log_sd"),
    kinds="model",
)
def gaussian_mixture(logits, mu, log_sd, X):
    logw = logits - logsumexp(logits)
    z = (X[:, None, :] - mu) / np.exp(log_sd)
    logp = np.sum(-0.5 * z**2 - log_sd - 0.5 * np.log(2 * np.pi), axis=2)
    return -np.sum(logsumexp(logp + logw, axis=1))


@case(np.array([1.2, 0.4]), positive(4, seed=25), wrt="theta", kinds="model nested_def")
def sir_fit(theta, observed):
    def rhs(s):
        S, I, R = s
        new = theta[0] * S * I
        return np.array([-new, new - theta[1] * I, theta[1] * I])

    s = np.array([0.99, 0.01, 0.0])
    h = 0.5
    sse = 0.0
    for y in observed:
        k1 = rhs(s)
        k2 = rhs(s + 0.5 * h * k1)
        k3 = rhs(s + 0.5 * h * k2)
        k4 = rhs(s + h * k3)
        s = s + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        sse += (s[1] - 0.05 * y) ** 2
    return sse


@case(
    positive(4, seed=26),
    positive(3, seed=27),
    0.5,
    wrt=("x", "y", "gamma"),
    kinds="model setitem",
)
def soft_dtw(x, y, gamma):
    n, m = len(x), len(y)
    R = np.full((n + 1, m + 1), 1e6)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]])
            low = np.min(r)
            soft = low - gamma * np.log(np.sum(np.exp(-(r - low) / gamma)))
            R[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return R[n, m]


@case(
    draw(2, seed=28),
    draw(5, 2, seed=29),
    np.array([1.0, 1.0, 0.0, 1.0, 0.0]),
    wrt="beta",
    kinds="model triangular",
)
def cox_partial_likelihood(beta, X, event):
    eta = X @ beta
    loglik = 0.0
    for i in range(len(eta)):
        if event[i]:
            risk = 0.0
            for j in range(i, len(eta)):
                risk += np.exp(eta[j])
            loglik += eta[i] - np.log(risk)
    return -loglik


@case(
    np.array([0.4, -0.3]),
    np.array([2.0, 0.0, 3.0, 1.0]),
    draw(4, 1, seed=30),
    wrt="theta",
    kinds="model",
)
def poisson_regression(theta, counts, x):
    rate = np.exp(theta[0] + theta[1] * x[:, 0])
    return -np.sum(counts * np.log(rate) - rate - gammaln(counts + 1.0))
