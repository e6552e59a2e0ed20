"""Losses with gradients written by hand, in the style of generated source."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erf, logsumexp

from symback.verify import Generated, compare
from symback.verify.result import Comparison

RNG = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape).round(3)


@dataclass(frozen=True)
class Model:
    loss: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: tuple[str, ...] | str
    source: str


def generated(source: str, **captured: object) -> Callable[..., Generated]:
    """Return what `generate` is for a fixed source whose function is `g`."""
    head = "import math\nimport numpy as np\nfrom scipy.special import erf\n"
    return lambda args, kwargs: Generated(head + source, "g", captured)


def compared(model: Model, source: str | None = None, **options: Any) -> Comparison:
    """Compare a model with its source, or with another one."""
    return compare(
        model.loss,
        model.args,
        {},
        wrt=model.wrt,
        generate=generated(model.source if source is None else source),
        **options,
    )


def tiny(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return 0.5 * (s - y) ** 2


TINY = Model(
    tiny,
    (0.5, 0.0, 3.0, -1.0, 2.0, 1.0),
    ("w", "b", "v", "c"),
    """
def g(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    loss = 0.5 * (s - y) ** 2
    s_bar = s - y
    v_bar = s_bar * h
    c_bar = s_bar
    h_bar = s_bar * v
    z_bar = h_bar * (z > 0.0)
    w_bar = z_bar * x
    b_bar = z_bar
    return loss, (w_bar, b_bar, v_bar, c_bar)
""",
)


def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


CROSS_ENTROPY = Model(
    cross_entropy,
    (normal(2, 3), np.array([2, 0])),
    "logits",
    """
def g(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    total = np.sum(e, axis=1, keepdims=True)
    rows = np.arange(len(labels))
    log_p = shifted - np.log(total)
    loss = -np.mean(log_p[rows, labels])
    logits_bar = e / total
    logits_bar[rows, labels] -= 1.0
    logits_bar /= len(labels)
    return loss, logits_bar
""",
)


def layer_norm(x, gain, t):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return np.sum((gain * (x - mean) / np.sqrt(var + 1e-5)) * t)


LAYER_NORM = Model(
    layer_norm,
    (normal(1, 4), normal(4), normal(1, 4)),
    ("x", "gain"),
    """
def g(x, gain, t):
    n = x.shape[-1]
    off = x - x.mean(axis=-1, keepdims=True)
    var = np.sum(off * off, axis=-1, keepdims=True) / n
    r = 1.0 / np.sqrt(var + 1e-5)
    u = off * r
    loss = np.sum(gain * u * t)
    gain_bar = np.sum(u * t, axis=0)
    u_bar = gain * t
    x_bar = u_bar - u_bar.mean(axis=-1, keepdims=True)
    x_bar -= u * np.mean(u_bar * u, axis=-1, keepdims=True)
    x_bar *= r
    return loss, (x_bar, gain_bar)
""",
)


def network(params, x, y):
    h = x
    for W, b in params["hidden"]:
        h = np.tanh(h @ W + b)
    e = h @ params["out"] - y
    return np.mean(e**2)


NETWORK = Model(
    network,
    (
        {"hidden": [(normal(2, 3), normal(3))], "out": normal(3, 1)},
        normal(3, 2),
        normal(3, 1),
    ),
    "params",
    """
def g(params, x, y):
    W, b = params["hidden"][0]
    out = params["out"]
    h = np.tanh(x @ W + b)
    e = h @ out - y
    loss = np.vdot(e, e) / e.size
    e_bar = e * (2.0 / e.size)
    out_bar = h.T @ e_bar
    z_bar = e_bar @ out.T
    z_bar *= 1.0 - h**2
    return loss, {"hidden": [(x.T @ z_bar, z_bar.sum(axis=0))], "out": out_bar}
""",
)


def log_sum_exp(x):
    return logsumexp(x)


LOG_SUM_EXP = Model(
    log_sum_exp,
    (normal(4),),
    "x",
    """
def g(x):
    m = np.max(x)
    e = np.exp(x - m)
    total = np.sum(e)
    return m + np.log(total), e / total
""",
)


def recurrent(W, U, h0, xs):
    h = h0
    loss = 0.0
    for t in range(len(xs)):
        h = np.tanh(W @ h + U @ xs[t])
        loss = loss + np.sum(h**2)
    return loss


RECURRENT = Model(
    recurrent,
    (normal(2, 2), normal(2, 2), normal(2), normal(3, 2)),
    ("W", "U"),
    """
def g(W, U, h0, xs):
    hs = [h0]
    loss = 0.0
    for t in range(len(xs)):
        hs.append(np.tanh(W @ hs[-1] + U @ xs[t]))
        loss += np.sum(hs[-1] ** 2)
    W_bar = np.zeros_like(W)
    U_bar = np.zeros_like(U)
    h_bar = np.zeros(len(h0))
    for t in reversed(range(len(xs))):
        h = hs.pop()
        h_bar = h_bar + 2.0 * h
        z_bar = h_bar * (1.0 - h**2)
        W_bar += np.outer(z_bar, hs[-1])
        U_bar += np.outer(z_bar, xs[t])
        h_bar = W.T @ z_bar
    return loss, (W_bar, U_bar)
""",
)


def inverse(A, C):
    return np.sum(np.linalg.inv(A) * C)


INVERSE = Model(
    inverse,
    (normal(3, 3) + 2 * np.eye(3), normal(3, 3)),
    "A",
    """
def g(A, C):
    inv = np.linalg.inv(A)
    return np.sum(inv * C), -inv.T @ C @ inv.T
""",
)


def log_det(A):
    return np.linalg.slogdet(A)[1]


LOG_DET = Model(
    log_det,
    (normal(3, 3) + 2 * np.eye(3),),
    "A",
    "def g(A):\n    return np.linalg.slogdet(A)[1], np.linalg.inv(A).T\n",
)


def black_scholes(S, K, r, sigma, T):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)

    def cdf(x):
        return 0.5 * (1 + erf(x / math.sqrt(2)))

    return S * cdf(d1) - K * math.exp(-r * T) * cdf(d2)


BLACK_SCHOLES = Model(
    black_scholes,
    (100.0, 95.0, 0.03, 0.25, 0.5),
    ("S", "r", "sigma"),
    """
def g(S, K, r, sigma, T):
    root = math.sqrt(T)
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * root)
    d2 = d1 - sigma * root
    n1 = 0.5 * (1 + erf(d1 / math.sqrt(2)))
    n2 = 0.5 * (1 + erf(d2 / math.sqrt(2)))
    discount = math.exp(-r * T)
    value = S * n1 - K * discount * n2
    d1_bar = S * math.exp(-d1 * d1 / 2) / math.sqrt(2 * math.pi)
    d2_bar = -K * discount * math.exp(-d2 * d2 / 2) / math.sqrt(2 * math.pi)
    r_bar = K * discount * n2 * T
    sigma_bar = -d2_bar * root
    d1_bar = d1_bar + d2_bar
    S_bar = n1 + d1_bar / (S * sigma * root)
    r_bar = r_bar + d1_bar * T / (sigma * root)
    sigma_bar = sigma_bar + d1_bar * (sigma * T / (sigma * root) - d1 / sigma)
    return value, (S_bar, r_bar, sigma_bar)
""",
)


def mixture(logits, mean, log_s, x):
    weights = logits - logsumexp(logits)
    z = (x[:, None] - mean) / np.exp(log_s)
    terms = weights - 0.5 * z**2 - log_s - 0.5 * np.log(2 * np.pi)
    return -np.sum(logsumexp(terms, axis=1))


MIXTURE = Model(
    mixture,
    (normal(2), normal(2), normal(2), normal(2)),
    ("logits", "mean", "log_s"),
    """
def g(logits, mean, log_s, x):
    e = np.exp(logits - logits.max())
    p = e / e.sum()
    s = np.exp(log_s)
    z = (x[:, None] - mean) / s
    terms = np.log(p) - 0.5 * z**2 - log_s - 0.5 * np.log(2 * np.pi)
    top = terms.max(axis=1, keepdims=True)
    e = np.exp(terms - top)
    total = e.sum(axis=1, keepdims=True)
    loss = -np.sum(top + np.log(total))
    terms_bar = -e / total
    logits_bar = terms_bar.sum(axis=0) - p * terms_bar.sum()
    mean_bar = np.sum(terms_bar * z / s, axis=0)
    log_s_bar = np.sum(terms_bar * (z**2 - 1.0), axis=0)
    return loss, (logits_bar, mean_bar, log_s_bar)
""",
)


def attention(Q, K, V):
    s = Q @ K.T / np.sqrt(Q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return np.sum((p @ V) ** 2)


ATTENTION = Model(
    attention,
    (normal(1, 2), normal(3, 2), normal(3, 2)),
    ("Q", "K", "V"),
    """
def g(Q, K, V):
    scale = 1.0 / np.sqrt(Q.shape[1])
    s = Q @ K.T * scale
    e = np.exp(s - s.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    o = p @ V
    loss = np.sum(o**2)
    o_bar = 2.0 * o
    V_bar = p.T @ o_bar
    p_bar = o_bar @ V.T
    s_bar = p * (p_bar - np.sum(p_bar * p, axis=1, keepdims=True))
    s_bar *= scale
    return loss, (s_bar @ K, s_bar.T @ Q, V_bar)
""",
)


def huber(w, X, y, delta):
    r = X @ w - y
    small = np.abs(r) <= delta
    return np.sum(np.where(small, 0.5 * r**2, delta * (np.abs(r) - 0.5 * delta)))


HUBER = Model(
    huber,
    (normal(2), normal(4, 2), normal(4), 0.7),
    "w",
    """
def g(w, X, y, delta):
    r = X @ w - y
    small = np.abs(r) <= delta
    loss = np.sum(np.where(small, 0.5 * r**2, delta * (np.abs(r) - 0.5 * delta)))
    r_bar = np.where(small, r, delta * np.sign(r))
    return loss, X.T @ r_bar
""",
)


def cosine(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


COSINE = Model(
    cosine,
    (normal(3), normal(3)),
    ("a", "b"),
    """
def g(a, b):
    na = np.linalg.norm(a)
    nb = np.linalg.norm(b)
    c = a @ b / (na * nb)
    return c, (b / (na * nb) - c * a / na**2, a / (na * nb) - c * b / nb**2)
""",
)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


ROSENBROCK = Model(
    rosenbrock,
    (normal(3),),
    "x",
    """
def g(x):
    d = x[1:] - x[:-1] ** 2
    loss = np.sum(100.0 * d**2 + (1 - x[:-1]) ** 2)
    x_bar = np.zeros_like(x)
    x_bar[1:] += 200.0 * d
    x_bar[:-1] += -400.0 * d * x[:-1] - 2.0 * (1 - x[:-1])
    return loss, x_bar
""",
)


def logistic(w, X, t):
    p = 1 / (1 + np.exp(-(X @ w)))
    return -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p))


LOGISTIC = Model(
    logistic,
    (normal(2), normal(3, 2), np.array([0.0, 1.0, 1.0])),
    "w",
    """
def g(w, X, t):
    p = 1 / (1 + np.exp(-(X @ w)))
    loss = -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p))
    return loss, X.T @ (p - t)
""",
)


def gaussian(m, L, x):
    z = np.linalg.solve(L, x - m)
    return 0.5 * z @ z + np.sum(np.log(np.diag(L)))


GAUSSIAN = Model(
    gaussian,
    (normal(2), np.array([[1.2, 0.0], [0.4, 0.8]]), normal(2)),
    ("m", "L"),
    """
def g(m, L, x):
    z = np.linalg.solve(L, x - m)
    loss = 0.5 * z @ z + np.sum(np.log(np.diag(L)))
    off_bar = np.linalg.solve(L.T, z)
    L_bar = -np.outer(off_bar, z) + np.diag(1.0 / np.diag(L))
    return loss, (-off_bar, L_bar)
""",
)

MODELS = {
    name.lower(): value
    for name, value in list(globals().items())
    if isinstance(value, Model)
}
"""All models by name."""
