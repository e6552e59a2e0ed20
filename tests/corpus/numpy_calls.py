"""Elementwise functions, reductions and array methods of NumPy in small losses."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(3, 2, seed=1), kinds="numpy")
def log_softmax_rows(z):
    m = z.max(axis=1, keepdims=True)
    lse = m + np.log(np.exp(z - m).sum(axis=1, keepdims=True))
    return -np.sum((z - lse)[:, 0])


@case(draw(4, seed=2), kinds="numpy where")
def where_of_expressions(x):
    return np.sum(np.where(x > 0, np.log1p(np.abs(x)), x**3))


@case(np.array([0.4, -1.2, 2.0]), kinds="numpy where")
def where_guards_log(x):
    safe = np.where(x > 0, x, 1.0)
    return np.sum(np.where(x > 0, np.log(safe), 2.0 * x))


@case(draw(5, seed=3), kinds="numpy")
def clip_and_sign(x):
    return np.sum(np.clip(x, -0.5, 0.7) ** 2 * np.sign(x)) + np.sum(np.minimum(x, 0.3))


@case(positive(3, 2, seed=4), kinds="numpy reductions")
def standardised_cubed(x):
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0, ddof=1)
    return np.sum(z**3) + np.var(x) + x.std()


@case(positive(2, 3, seed=5), kinds="numpy reductions")
def mixed_reductions(x):
    a = np.prod(x, axis=1)
    b = np.max(x, axis=0)
    c = x.min()
    return np.sum(a**2) + np.sum(b) * c + np.mean(x, axis=(0, 1))


@case(draw(6, seed=6), kinds="numpy cumulative")
def drawdown(r):
    wealth = np.cumprod(1.0 + 0.1 * r)
    peak = np.cumsum(np.abs(r))
    return np.sum(wealth * peak) + np.sum(np.diff(wealth) ** 2)


@case(draw(4, seed=7), draw(4, seed=8), wrt=("x", "y"), kinds="numpy")
def correlation(x, y):
    xc, yc = x - x.mean(), y - y.mean()
    return (xc @ yc) / np.sqrt((xc @ xc) * (yc @ yc))


@case(0.7, draw(3, seed=9), wrt=("a", "x"), kinds="numpy scalars")
def numpy_on_scalars(a, x):
    b = np.exp(a) + np.sqrt(np.abs(a))
    return np.log(b) * np.sum(np.square(x)) + np.tanh(a) ** 2


@case(draw(3, seed=10), kinds="numpy methods")
def array_methods(x):
    y = x.copy().reshape(3, 1).T
    return (y.dot(x)).sum() + x.mean() * x.clip(-0.2, 0.8).sum() + y.ravel().max()


@case(positive(3, seed=11), positive(3, seed=12), wrt=("p", "q"), kinds="numpy")
def kl_divergence(p, q):
    p = p / p.sum()
    q = q / q.sum()
    return np.sum(p * (np.log(p) - np.log(q)))


@case(positive(3, seed=13), kinds="numpy")
def powers(x):
    return np.sum(x**2) + np.sum(x**0.5) + np.sum(2.0**x) + np.sum(x**x) + np.sum(x**-1)


@case(draw(4, seed=14), kinds="numpy constants")
def with_constants(x):
    t = np.linspace(0.0, 1.0, 4)
    grid = np.arange(4) / 4.0
    return np.sum(x * t) ** 2 + x @ np.eye(4) @ grid + np.sum(np.ones_like(x) * x)


@case(
    np.array([0.5, -0.25, 1.5], dtype=np.float32),
    kinds="numpy float32",
    tol=1e-4,
    note="float32 in, float32 gradient out: rounding 6e-8 times a few",
)
def single_precision(x):
    return np.sum(np.tanh(x) ** 2)


@case(draw(2, 3, seed=15), kinds="numpy any_all")
def masks_combined(x):
    m = (x > -0.5) & ~(x > 1.0) | (np.abs(x) > 1.5)
    return np.sum(x[m] ** 2) / np.sum(m)


@case(0.4, kinds="numpy complex")
def complex_intermediate(x):
    z = np.exp(1j * x) / (1.0 + 0.5 * np.exp(-1j * x))
    return np.abs(z) ** 2 + np.real(z) * np.imag(z)


@case(draw(6, seed=16), kinds="numpy fft")
def spectral_energy(x):
    F = np.fft.rfft(x)
    return np.sum(np.abs(F) ** 2 * np.arange(4.0))


@case(draw(5, seed=17), kinds="numpy sort")
def sorted_weights(x):
    return np.sum(np.sort(x) * np.arange(5.0) ** 2) + np.median(x) ** 2
