"""More whole models: attention, residual networks, physics, finance, geometry."""

from __future__ import annotations

import math

import numpy as np

from tests.corpus import case, draw


def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@case(
    draw(4, 3, seed=1),
    draw(3, 3, seed=2),
    draw(3, 3, seed=3),
    draw(3, 3, seed=4),
    wrt=("X", "Wq", "Wk", "Wv"),
    kinds="model helper",
)
def self_attention(X, Wq, Wk, Wv):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    A = softmax(Q @ K.T / math.sqrt(K.shape[1]))
    return np.sum((A @ V) ** 2)


@case(
    [
        {"W": draw(3, 3, seed=5), "b": draw(3, seed=6)},
        {"W": draw(3, 3, seed=7), "b": draw(3, seed=8)},
    ],
    draw(3, seed=9),
    wrt="blocks",
    kinds="model for_list",
    generic=False,
)
def residual_network(blocks, x):
    for block in blocks:
        x = x + np.maximum(block["W"] @ x + block["b"], 0.0)
    return 0.5 * np.sum(x**2)


@case(draw(4, 2, seed=10), kinds="model triangular")
def lennard_jones(X):
    energy = 0.0
    n = len(X)
    for i in range(n - 1):
        for j in range(i + 1, n):
            r2 = 0.5 + np.sum((X[i] - X[j]) ** 2)
            s6 = 1.0 / r2**3
            energy += 4.0 * (s6**2 - s6)
    return energy


@case(9.81, 1.2, 0.05, wrt=("g", "length", "damping"), kinds="model")
def pendulum_period_error(g, length, damping):
    angle, speed, dt = 0.5, 0.0, 0.02
    for _ in range(20):
        acceleration = -g / length * math.sin(angle) - damping * speed
        speed += dt * acceleration
        angle += dt * speed
    return (angle - 0.1) ** 2


@case(0.05, 0.2, 100.0, wrt=("r", "sigma", "s0"), kinds="model range_negative setitem")
def american_put_tree(r, sigma, s0):
    n, T, K = 6, 1.0, 105.0
    dt = T / n
    u = np.exp(sigma * np.sqrt(dt))
    d = 1.0 / u
    p = (np.exp(r * dt) - d) / (u - d)
    values = np.zeros(n + 1)
    for j in range(n + 1):
        values[j] = max(K - s0 * u**j * d ** (n - j), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            keep = np.exp(-r * dt) * (p * values[j + 1] + (1 - p) * values[j])
            exercise = K - s0 * u**j * d ** (i - j)
            values[j] = max(keep, exercise)
    return values[0]


@case(0.8, 0.3, draw(4, seed=11), wrt=("ell", "noise"), kinds="model linalg")
def gp_marginal_likelihood(ell, noise, y):
    x = np.linspace(0.0, 1.0, 4)
    K = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / ell**2) + noise**2 * np.eye(4)
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, y)
    return 0.5 * a @ a + np.sum(np.log(np.diag(L))) + 2.0 * np.log(2 * np.pi)


@case(
    draw(3, 3, seed=12),
    draw(3, seed=13),
    np.random.default_rng(4),
    wrt=("W", "b"),
    kinds="model random",
    generic=False,
)
def dropout_layer(W, b, rng):
    keep = rng.random(3) < 0.7
    noise = rng.normal(size=3)
    h = np.tanh(W @ (noise + b)) * keep / 0.7
    return np.sum(h**2)


@case(
    draw(2, 3, seed=14),
    draw(4, 3, seed=15),
    np.random.default_rng(5),
    wrt=("W", "X"),
    kinds="model random",
    generic=False,
)
def reparameterised_elbo(W, X, rng):
    mu = X @ W.T
    total = 0.0
    for k in range(2):
        eps = rng.standard_normal(mu.shape)
        z = mu + 0.1 * eps
        total += np.sum(np.log1p(np.exp(z)))
    return total / 2


@case(draw(6, 4, seed=16), np.array([[0, 1], [2, 3], [0, 3]]), wrt="E", kinds="model")
def skip_gram(E, edges):
    loss = 0.0
    for i, j in edges:
        score = E[i] @ E[j]
        loss += np.log1p(np.exp(-score))
        negative = (i + j) % len(E)
        loss += np.log1p(np.exp(E[i] @ E[negative]))
    return loss


@case(draw(3, 3, seed=17), kinds="model")
def ising_mean_field(J):
    m = np.full(3, 0.1)
    for _ in range(4):
        for i in range(3):
            m[i] = np.tanh(J[i] @ m - J[i, i] * m[i] + 0.2)
    return np.sum(m**2)


@case(draw(8, seed=18), 0.3, 0.4, wrt=("r", "alpha", "beta"), kinds="model setitem")
def garch_nll(r, alpha, beta):
    T = len(r)
    h = np.empty(T)
    h[0] = np.var(r)
    for t in range(1, T):
        h[t] = 0.1 + alpha * r[t - 1] ** 2 + beta * h[t - 1]
    return 0.5 * np.sum(np.log(h) + r**2 / h)


@case(draw(5, 3, seed=19), draw(3, seed=20), kinds="model", wrt=("log_em", "trans"))
def viterbi_score(log_em, trans):
    score = log_em[0]
    for t in range(1, len(log_em)):
        best = np.zeros(3)
        for s in range(3):
            best[s] = np.max(score - trans * abs(s - np.arange(3)))
        score = best + log_em[t]
    return np.max(score)


@case(draw(3, 3, seed=21), draw(3, seed=22), wrt=("A", "b"), kinds="model while")
def conjugate_gradient(A, b):
    A = A @ A.T + np.eye(3)
    x = np.zeros(3)
    r = b - A @ x
    p = r
    rs = r @ r
    while rs > 1e-16:
        Ap = A @ p
        step = rs / (p @ Ap)
        x = x + step * p
        r = r - step * Ap
        new = r @ r
        p = r + new / rs * p
        rs = new
    return np.sum(x**2)
