"""Lists grown in loops of run-time length, and indexed by run-time integers."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw


@case(0.4, 6, wrt="x", kinds="runtime_list")
def grown_by_range(x, n):
    values = [x]
    for _ in range(n):
        values.append(np.sin(values[-1]) + x)
    return np.sum(np.array(values) ** 2)


@case(0.9, kinds="runtime_list while")
def grown_by_while(x):
    trail = []
    while x > 0.05:
        trail.append(x)
        x = x * 0.6
    return sum(t**2 for t in trail) + len(trail) * x


@case(draw(7, seed=1), kinds="runtime_list")
def grown_conditionally(x):
    picked = []
    for v in x:
        if v > 0:
            picked.append(v)
    return np.mean(np.array(picked) ** 2)


@case(draw(5, seed=2), kinds="list_runtime_index")
def list_by_runtime_index(x):
    values = [v**2 for v in x]
    k = int(np.argmax(x))
    return values[k] * values[0]


@case(draw(6, seed=3), np.array([3, 0, 3, 5]), wrt="x", kinds="list_runtime_index")
def list_by_array_of_indices(x, order):
    cache = []
    for v in x:
        cache.append(np.exp(v))
    total = 0.0
    for i in order:
        total += cache[i] ** 2
    return total


@case(0.3, 7, wrt="x", kinds="list_runtime_index runtime_list")
def fibonacci_like(x, n):
    f = [1.0, x]
    for k in range(2, n):
        f.append(x * f[k - 1] + 0.5 * f[k - 2])
    return f[n - 1] + f[n // 2]


@case(
    draw(4, 2, seed=4),
    draw(2, 2, seed=5),
    wrt=("xs", "U"),
    kinds="runtime_list stack_list",
)
def states_then_backwards(xs, U):
    hs = []
    h = np.zeros(2)
    for x in xs:
        h = np.tanh(U @ h + x)
        hs.append(h)
    total = 0.0
    for h in reversed(hs):
        total = 0.5 * total + np.sum(h * h)
    return total


@case(draw(6, seed=6), kinds="runtime_list")
def two_lists_together(x):
    ups, downs = [], []
    for i in range(1, len(x)):
        d = x[i] - x[i - 1]
        if d > 0:
            ups.append(d)
        else:
            downs.append(-d)
    gain = sum(ups) / len(x)
    loss = sum(downs) / len(x)
    return gain / (gain + loss)


@case(draw(5, seed=7), kinds="runtime_list list")
def overwrite_list_items(x):
    a = [v for v in x]
    for i in range(1, len(a)):
        a[i] = a[i] + 0.5 * a[i - 1] ** 2
    return a[-1] * a[1]


@case(draw(3, 3, seed=8), kinds="runtime_list stack_list")
def list_of_rows(A):
    rows = []
    for i in range(A.shape[0]):
        r = A[i] - A[0] * 0.5
        rows.append(r / (1.0 + np.sum(r**2)))
    return np.sum(np.vstack(rows) ** 3)


@case(0.5, 5, wrt="x", kinds="runtime_list zip")
def zip_grown_lists(x, n):
    xs, ys = [], []
    for k in range(n):
        xs.append(x * k)
        ys.append(np.cos(x * k))
    return sum(a * b for a, b in zip(xs, ys))


@case(draw(4, seed=9), kinds="runtime_list list")
def two_names_for_one_list(x):
    a = []
    b = a
    for v in x:
        a.append(v)
        b.append(v**2)
    return a[0] + a[1] * b[3] + a[-1]


@case(1.1, kinds="runtime_list")
def list_of_pairs(x):
    path = [(0.0, x)]
    for k in range(4):
        t, y = path[-1]
        path.append((t + 0.1, y - 0.1 * y**2))
    return sum(t * y for t, y in path)
