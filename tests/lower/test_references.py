"""References: names that share arrays and containers, as in Python and NumPy.

Each function is tried at a point where it is smooth: its value and arguments against
plain Python, its gradient against central differences of order four with h = 1e-4,
whose error is below 1e-9 of the fifth derivative.
"""

# Programs as people write them, not as a linter would.

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symback

A = np.arange(1.0, 10.0).reshape(3, 3) / 9
X = np.array([0.5, 0.7, 0.9])
TRIED: list[tuple[Callable[..., Any], np.ndarray]] = []


def tried(at: np.ndarray) -> Callable[[Any], Any]:
    """Note a function and the point where it is tried."""

    def note(function: Any) -> Any:
        TRIED.append((function, at))
        return function

    return note


@tried(X)
def optional_buffer(x):
    buf = None
    if x[0] > 0.1:
        buf = x * 2.0
    if buf is not None:
        buf[0] = x[1] ** 2
        return np.sum(buf**2)
    return np.sum(x)


@tried(A)
def best_row(x):
    M = x * 1.0
    best = M[0]
    for row in M:
        if np.sum(row) > np.sum(best):
            best = row
    best[1] = x[0, 0] ** 2
    best *= 2
    return np.sum(M**2)


@tried(A)
def best_index(x):
    M = x * 1.0
    k, top = 0, -1.0
    for i in range(3):
        s = np.sum(M[i])
        if s > top:
            k, top = i, s
    row = M[k]
    row += 1.0
    return np.sum(M**2)


@tried(A)
def matrix_transpose_written(x):
    y = x * 1.0
    z = y.mT
    z[0] *= 3.0
    return np.sum(y**2 * x)


@tried(A)
def flat_written(x):
    y = x.T * 1.0
    y.flat[1] = 5 * x[0, 0]
    y.flat[[2, 3]] = x[1, 1]
    return np.sum(y**2 * x)


@tried(A)
def ravel_of_transposed_is_a_copy(x):
    y = (x * 1.0).T
    v = y.ravel()
    v[1] = 5.0
    return np.sum(y**2 * x) + np.sum(v**2)


@tried(A)
def ravel_a(x):
    y = (x * 1.0).T
    v = y.ravel("A")
    v[1] = 5.0 * x[0, 0]
    return np.sum(y**2 * x) + np.sum(v * np.arange(9))


@tried(A)
def ravel_f(x):
    y = (x * 1.0).T
    v = y.ravel(order="F")
    v[1] = 5.0 * x[0, 0]
    return np.sum(y**2 * x)


@tried(A)
def np_copy_keeps(x):
    y = np.copy((x * 1.0).T)
    v = y.reshape(-1)
    v[1] = 5.0
    return np.sum(y**2 * x)


@tried(A)
def transpose_axes_written(x):
    y = x * 1.0
    z = y.transpose(1, 0)
    z[0, 2] = x[0, 0] ** 2
    return np.sum(y**2 * x)


@tried(A)
def swapped_slice(x):
    y = x * 1.0
    z = np.swapaxes(y, 0, 1)[1:, ::2]
    z += z**2
    return np.sum(y**2 * x)


@tried(A)
def einsum_permutes(x):
    y = x * 1.0
    z = np.einsum("ij->ji", y)
    z[0] = x[:, 1] ** 2
    return np.sum(y**2 * x)


@tried(A)
def moved(x):
    y = x * 1.0
    z = np.moveaxis(y, 0, 1)
    z[1] *= 2
    w = np.rot90(y)
    w[0] = x[0] ** 2
    q = np.flipud(y)
    q[0, 0] = x[1, 1] ** 2
    return np.sum(y**2 * x)


@tried(A)
def strided_argument(x):
    y = x * 1.0
    z = y[:, ::2].reshape(-1)
    z[0] = 7.0 * x[0, 0]
    return np.sum(y**2) + np.sum(z**2)


@tried(A.T)
def fortran_argument(x):
    y = x.copy()
    z = y.ravel()
    z[1] = x[0, 0] ** 2
    w = x * 1.0
    u = w.ravel()
    u[1] = x[1, 1] ** 2
    return np.sum(y**2 * x) + np.sum(w**2 * x) + np.sum(u)


@tried(X)
def puts(x):
    y = np.zeros(4)
    np.put(y, [0, 2], [x[0], x[1] ** 2])
    np.put(y, [1, 3], x[2])
    z = x * 1.0
    np.place(z, z > 0.6, [x[0] ** 2, x[1]])
    w = x * 1.0
    np.putmask(w, w > 0.6, x**2)
    np.copyto(w[:2], [x[2], 2 * x[1]])
    return np.sum(y**2) + np.sum(z**2) + np.sum(w**2 * x)


@tried(X)
def fewer_values(x):
    y = x * 1.0
    np.put(y, [0, 1, 2], [x[1], x[0] ** 2])
    z = np.zeros(5)
    np.place(z, np.array([1, 0, 1, 1, 1], bool), x)
    np.place(z, z > 0.6, [x[0] ** 2])
    return np.sum(y**2) + np.sum(z**3)


@tried(X)
def lists_assigned(x):
    y = np.zeros((2, 2))
    y[:] = [[x[0], 2.0], (x[1], x[2] ** 2)]
    y[0] += [x[1], x[2]]
    y[1] *= (2.0, x[0])
    y += [x[0], x[1]]
    np.add.at(y, [0, 0], [[x[0], x[1]], [x[2], 1.0]])
    np.subtract.at(y, ([0, 1], [1, 1]), [x[0], x[1]])
    return np.sum(y**2)


@tried(X)
def repeats(x):
    y = x * 1.0
    y[[0, -3]] = y[[0, -3]] * 3
    y[[[0, 1], [1, 2]]] = x[0]
    i = [2, -1]
    y[i] = [x[1], x[0] ** 2]
    return np.sum(y**2 * x)


@tried(X)
def outs(x):
    y = x * 1.0
    np.add(y, x, y)
    np.clip(y, 0.6, 1.2, out=y)
    np.multiply(y, 2.0, out=y)
    z = np.zeros(3)
    np.cumsum(y, 0, None, z)
    s = np.zeros(())
    np.sum(z, None, None, s)
    m = np.zeros((3, 3))
    np.outer(x, y, m)
    np.matmul(m, m, m.copy())
    return np.sum(y**2) + np.sum(z**2) + s * x[0] + np.sum(m**2)


@tried(np.array(0.7))
def zero_d(x):
    y = np.asarray(x * 1.0)
    z = y
    z += x
    y[...] = y * x
    w = x.copy()
    w *= 2.0
    v = np.array(x)
    v[()] = v * x
    return y * z + w * v + x


@tried(np.array(0.7))
def zero_d_loop(x):
    s = np.array(1.0)
    t = s
    for _ in range(3):
        s *= x
    return t * x


@tried(X)
def zero_d_of_many(x):
    s = np.zeros(())
    for v in x:
        s += v**2
    r = s
    s = s * 2
    return r * s


@tried(X)
def deep(x):
    d = {"a": x * 1.0, "l": [x * 2.0]}
    e = copy.copy(d)
    e["a"][0] = x[1] ** 2
    e["b"] = x
    f = [x * 3.0]
    g = f.copy()
    g[0][1] = x[0]
    g[0] = x
    return np.sum(d["a"] ** 2) + np.sum(f[0] ** 2) + np.sum(e["b"])


@tried(X)
def deeply(x):
    d = {"a": x * 1.0, "t": (x * 2.0, [x * 3.0])}
    d["b"] = d["a"]
    e = copy.deepcopy(d)
    d["a"][0] = x[1] * 5
    e["b"][1] = x[2] ** 2
    e["t"][1][0] *= x
    e["t"][1].append(x)
    rest = np.sum(d["t"][0]) + np.sum(d["t"][1][0] ** 2) + sum(map(np.sum, e["t"][1]))
    return np.sum(d["b"]) + np.sum(e["a"] ** 2) + rest


@tried(X)
def identity(x):
    a, b = x * 1.0, x * 2.0
    c = a if x[0] > 0.1 else b
    s = 0.0
    if c is a:
        s = s + np.sum(a**2)
    if c is b:
        s = s + 5 * np.sum(b)
    if c is not b:
        s = s + x[0]
    return s


@tried(X)
def dict_at_run_time(x):
    d = {0: x * 1.0, 1: x * 2.0}
    key = int(x[1] > 0.6)
    d[key][0] = x[2] ** 2
    d[1 - key] *= x[1]
    d[key] = d[key] * 2
    return np.sum(d[0] ** 2) + np.sum(d[1] ** 3)


@tried(X)
def counts_in_a_dict(x):
    d = {"low": 0.0, "high": 0.0}
    for v in x:
        d["high" if v > 0.6 else "low"] += v**2
    return d["low"] * 2 + d["high"]


@tried(X)
def list_of_lists(x):
    rows = [[x[0]], [x[1]]]
    r = rows[int(x[2] > 0.5)]
    r.append(x[2] ** 2)
    return sum(rows[0]) + 2 * sum(rows[1])


@tried(X)
def sorted_rows_written(x):
    rows = [x * 3.0, x * 1.0, x * 2.0]
    s = sorted(rows, key=lambda r: r[0])
    s[0][1] = x[0] ** 2
    return sum(i * np.sum(r**2) for i, r in enumerate(rows, 1))


@tried(X)
def min_written(x):
    rows = [x * 3.0, x * 1.0]
    m = min(rows, key=np.sum)
    m += 1
    return np.sum(rows[0] ** 2) + 2 * np.sum(rows[1] ** 2)


@tried(X)
def either_list(x):
    p, q = [x[0]], [x[1], x[2]]
    c = p if x[0] > 0.1 else q
    c.append(x[1] ** 2)
    c[0] = x[2] ** 2
    return sum(p) + 3 * sum(q)


@tried(X)
def or_default(x):
    out = None
    buf = out if out is not None else np.zeros(3)
    buf[1] = x[0] ** 2
    return np.sum(buf + x)


@tried(X)
def double_buffer(x):
    u, v = x * 1.0, np.zeros(3)
    for _ in range(4):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        v[0], v[-1] = u[0], u[-1]
        u, v = v, u
    return np.sum(u**2) + np.sum(v)


@tried(A)
def rows_swapped(x):
    M = x * 1.0
    i = int(np.argmax(np.abs(M[:, 0])))
    M[[0, i]] = M[[i, 0]]
    t = M[1].copy()
    M[1] = M[2]
    M[2] = t
    return np.sum(M[0] * x[1]) + np.sum(M[1] ** 2)


@tried(X)
def named_in_a_while(x):
    i = 0
    while i < 3:
        if i > 0:
            w = w * x[i]  # noqa: F821 - assigned in the first iteration
        else:
            w = x * 2.0
        i += 1
    w[0] = x[1]
    return np.sum(w**2)


@tried(X)
def whole_in_a_loop(x):
    y = x * 1.0
    z = y
    for k in range(3):
        y[...] = y * x + k
        y[:] = np.sin(y)
    return np.sum(z**2)


@tried(A)
def split_parts(x):
    y = x * 1.0
    a, b = np.split(y, [1], axis=1)
    a *= 3.0
    b[0] = x[0, 0] ** 2
    p, q = np.array_split(y, 2)
    q += p[0] ** 2
    h = np.hsplit(y, 3)
    h[2][:] = x[:, :1]
    r = np.vsplit(y, 3)
    r[0] += 1
    return np.sum(y**2)


@tried(A)
def unpacked_rows(x):
    y = x * 1.0
    a, b, c = y
    b += a**2
    a, c = c, a
    a[0] = x[1, 1] ** 2
    for r in y:
        r *= 0.5
    for i, r in enumerate(y):
        r[i] = x[0, i] ** 2
    return np.sum(y**2)


@tried(X)
def three_ways(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    for i in range(3):
        p = a if i == 0 else b if i == 1 else c
        q = [a, b, c][(i + 1) % 3]
        p[i] = q[0] ** 2
        q -= 0.1 * p
    return np.sum(a**2) + np.sum(b**3) + np.sum(c)


@tried(X)
def helper_returns_its_argument(x):
    def pick(p, q):
        return p if p[0] > 0.6 else q

    a, b = x * 1.0, x * 2.0
    r = pick(a, b)
    r += 1
    pick(b, a)[1] = x[0] ** 2
    return np.sum(a**2) + np.sum(b**2)


@tried(A)
def real_of_real(x):
    y = x * 1.0
    y.real[0] = x[1] ** 2
    z = x + 1j * x**2
    z.imag[0] = x[1]
    z.real *= 2.0
    return np.sum(y**2) + np.sum(np.abs(z) ** 2)


@tried(X)
def item_in_loop(x):
    rows = [x * 1.0, x * 2.0, x * 3.0]
    for i in range(3):
        rows[i][i] = x[0] ** 2
        rows[i] *= 2
        rows[-i - 1][0] += x[1]
        rows[(i + 1) % 3] = rows[i] * 0.5
    return sum(np.sum(r**2) for r in rows)


@tried(X)
def buckets(x):
    sums = [np.zeros(2), np.zeros(2)]
    for v in x:
        sums[int(v > 0.6)] += v**2
    return np.sum(sums[0]) + 2 * np.sum(sums[1])


@tried(X)
def either_name_written(x):
    a, b = x * 1.0, x * 2.0
    c = a if x[0] > 0.1 else b
    c[0] = x[1] ** 2
    return np.sum(a**2) + np.sum(b**2)


@tried(A)
def copy_is_in_c_order(x):
    y = x.T.copy()
    y.ravel()[1] = 5.0
    return np.sum(y**2 * x)


@tried(A)
def diagonal_by_einsum_is_a_view(x):
    y = x * 1.0
    d = np.einsum("ii->i", y)
    d *= 2.0
    return np.sum(y**2)


@tried(A)
def conjugate_of_real_is_itself(x):
    y = x * 1.0
    z = y.conj()
    z[0] *= 2.0
    return np.sum(y**2)


@tried(np.array(0.7))
def number_of_an_array_without_axes(x):
    s = float(x)
    for _ in range(3):
        s *= 0.5
    return s * x


@tried(X)
def first_assigned_in_a_loop(x):
    for k in range(3):
        y = np.stack([x, x * k])
    return np.sum(y**2)


@tried(X)
def name_of_one_branch(x):
    if x[0] > 0.1:
        a = x * 2.0
    else:
        b = x * 3.0
    z = np.sum(x)
    return np.sum(np.sin(a)) * z if x[0] > 0.1 else np.sum(b * b) * z


WEIGHTS = np.array([1.0, 2.0, 3.0])


@tried(X)
def global_first_read_in_a_loop(x):
    for k in range(3):
        if x[k] > 0.6:
            return np.sum(x * WEIGHTS)
    return x[0]


def slope(fn: Any, at: np.ndarray) -> np.ndarray:
    """Return central differences of order four."""
    found = np.zeros(at.shape)

    def value(place: Any, step: float) -> float:
        moved = np.array(at, order="K")
        moved[place] += step
        return float(np.real(fn(moved)))

    for place in np.ndindex(at.shape):
        near = value(place, 1e-4) - value(place, -1e-4)
        far = value(place, 2e-4) - value(place, -2e-4)
        found[place] = (8 * near - far) / 12e-4
    return found


@pytest.mark.parametrize(("fn", "at"), TRIED, ids=lambda p: getattr(p, "__name__", ""))
def test_names_share_as_in_numpy(fn: Any, at: np.ndarray):
    given = np.array(at, order="K")
    value, gradient = symback.value_and_grad(fn)(given)
    assert value == pytest.approx(
        float(np.real(fn(np.array(at, order="K")))), rel=1e-12
    )
    assert np.shape(gradient) == at.shape
    assert gradient == pytest.approx(slope(fn, at), rel=1e-6, abs=1e-7)
    assert np.array_equal(given, at)
    assert not np.shares_memory(gradient, given)


def of_nine(x):
    arrays = [x * 1.0, x * 2.0, x * 3.0, x * 4.0, x * 5.0]
    more = [x * 6.0, x * 7.0, x * 8.0, x * 9.0]
    k = int(x[0] > 0.6)
    c = arrays[k] if x[1] > 0 else more[k]
    c[0] = 1.0
    return sum(np.sum(a) for a in arrays + more)


def test_more_than_eight_are_refused_by_name():
    with pytest.raises(symback.UnsupportedSyntaxError) as refusal:
        symback.grad(of_nine)(X)
    assert "at most 8 can be told apart" in str(refusal.value)


def read_only(x):
    y = np.outer(x, x)
    d = np.diagonal(y)
    d[0] = 3.0
    return np.sum(y)


def test_what_numpy_does_not_let_be_written_is_refused():
    with pytest.raises(ValueError, match="read-only"):
        read_only(X)
    with pytest.raises(symback.SymbackError, match="read-only"):
        symback.grad(read_only)(X)
