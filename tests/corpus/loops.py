"""`for` over ranges: static, with run-time bounds, steps, backwards, nested."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(1.3, kinds="range_static")
def taylor_exp(x):
    term = 1.0
    total = 1.0
    for k in range(1, 12):
        term = term * x / k
        total = total + term
    return total


@case(draw(2, 2, seed=1), draw(2, seed=2), wrt=("A", "v"), kinds="range_static")
def power_iteration(A, v):
    for _ in range(6):
        v = A @ v
        v = v / np.sqrt(np.sum(v**2))
    return v @ A @ v


@case(0.37, 3.3, wrt=("x", "r"), kinds="range_static")
def logistic_map(x, r):
    for i in range(8):
        x = r * x * (1 - x)
    return x


@case(draw(7, seed=3), 0.6, wrt=("x", "phi"), kinds="range_runtime")
def ar1_residuals(x, phi):
    sse = 0.0
    for t in range(1, len(x)):
        e = x[t] - phi * x[t - 1]
        sse += e**2
    return sse / (len(x) - 1)


@case(positive(4, seed=4), 5, wrt="x", kinds="range_runtime")
def repeated_smoothing(x, n):
    for _ in range(n):
        x = 0.5 * x + 0.25 * (np.roll(x, 1) + np.roll(x, -1))
    return np.sum(x**3)


@case(draw(3, 4, seed=5), kinds="range_runtime nested_loops")
def frobenius_by_loops(A):
    total = 0.0
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            total += (i + 1) * A[i, j] ** 2
    return np.sqrt(total)


@case(draw(9, seed=6), kinds="range_step")
def every_third(x):
    s = 0.0
    for i in range(0, len(x), 3):
        s += np.exp(x[i]) * (i + 1)
    return s


@case(draw(8, seed=7), 2, wrt="x", kinds="range_step")
def haar_details(x, step):
    energy = 0.0
    for i in range(0, x.shape[0] - 1, step):
        d = (x[i] - x[i + 1]) / np.sqrt(2.0)
        energy += d * d
    return energy


@case(positive(7, seed=8), kinds="range_step")
def simpson_by_loop(y):
    total = y[0] + y[-1]
    for i in range(1, len(y) - 1, 2):
        total += 4 * y[i]
    for i in range(2, len(y) - 1, 2):
        total += 2 * y[i]
    return total**2 / 9.0


@case(0.7, draw(5, seed=9), wrt=("x", "c"), kinds="range_negative")
def horner(x, c):
    p = 0.0
    for k in range(len(c) - 1, -1, -1):
        p = p * x + c[k]
    return p


@case(
    positive(5, seed=10),
    draw(5, seed=11),
    draw(5, seed=12),
    wrt=("d", "u", "b"),
    kinds="range_negative setitem",
)
def back_substitution(d, u, b):
    n = len(b)
    x = np.zeros(n)
    x[n - 1] = b[n - 1] / d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (b[i] - u[i] * x[i + 1]) / d[i]
    return np.sum(x**2)


@case(draw(6, seed=13), 0.9, wrt=("r", "gamma"), kinds="range_negative setitem")
def discounted_returns(r, gamma):
    G = np.zeros_like(r)
    running = 0.0
    for t in range(len(r) - 1, -1, -1):
        running = r[t] + gamma * running
        G[t] = running
    return np.mean(G**2)


@case(draw(4, 4, seed=14), kinds="triangular")
def lower_triangle_sum(A):
    s = 0.0
    for i in range(A.shape[0]):
        for j in range(i + 1):
            s += A[i, j] ** 2 * (j + 1)
    return s


@case(draw(4, 2, seed=15), 0.8, wrt=("X", "eps"), kinds="triangular")
def pair_energy(X, eps):
    e = 0.0
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            d = X[i] - X[j]
            e += eps / (0.1 + np.dot(d, d))
    return e


@case(positive(5, seed=16), kinds="triangular")
def autocovariances(x):
    total = 0.0
    for lag in range(len(x)):
        c = 0.0
        for t in range(len(x) - lag):
            c += x[t] * x[t + lag]
        total += c / (lag + 1)
    return total


@case(
    draw(3, 3, seed=17),
    draw(3, 3, seed=18),
    wrt=("A", "B"),
    kinds="nested_loops setitem",
)
def matmul_by_hand(A, B):
    n = A.shape[0]
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]
    return np.sum(np.sin(C))


@case(
    draw(6, 5, seed=19),
    draw(3, 2, seed=20),
    wrt=("img", "k"),
    kinds="nested_loops setitem",
)
def conv2d_valid(img, k):
    H, W = img.shape
    h, w = k.shape
    out = np.empty((H - h + 1, W - w + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(img[i : i + h, j : j + w] * k)
    return np.mean(np.maximum(out, 0.1) ** 2)


@case(0.5, 3, 4, wrt="x", kinds="nested_loops range_runtime")
def loop_counters_in_formula(x, n, m):
    acc = 0.0
    for i in range(n):
        row = 0.0
        for j in range(m):
            row = row + x ** (i + j + 1) / (i + j + 1)
        acc += row * (i + 1)
    return acc


@case(draw(4, seed=21), 0, wrt="x", kinds="range_runtime", note="no trip at all")
def empty_range(x, n):
    y = np.sum(x**2)
    for _ in range(n):
        y = y * 100.0
    return y


@case(draw(5, seed=22), kinds="range_runtime")
def loop_variable_after_loop(x):
    for i in range(len(x) - 1):
        y = x[i] * x[i + 1]
    return y**2 + x[i]
