"""Where NumPy's memory surprises people, and a gradient must follow it all the same."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(2, 3, seed=1), kinds="swap view_row", generic=False)
def rows_swapped_through_views(A):
    B = A * 1.0
    B[0], B[1] = B[1], B[0]  # both rows become the second one
    return np.sum(B * np.arange(6.0).reshape(2, 3))


@case(draw(3, seed=2), kinds="alias", generic=False)
def chained_assignment(x):
    a = b = x * 2.0
    a[0] = 1.0
    b *= 3.0
    return np.sum(a * b)


@case(draw(3, seed=3), kinds="alias augassign_array")
def alias_then_out_of_place(x):
    a = x**2
    b = a
    a = a * 2.0
    b += a
    return np.sum(a * b)


@case(draw(3, 2, seed=4), kinds="view_row alias", generic=False)
def list_of_views(A):
    B = A + 0.0
    rows = [B[i] for i in range(3)]
    rows[0][:] = rows[2] * 2.0
    rows[1] *= rows[0]
    return np.sum(B**2)


@case(draw(4, seed=5), kinds="alias setitem", generic=False)
def same_buffer_every_time(x):
    buf = np.zeros(2)
    kept = []
    for v in x:
        buf[0] = v
        buf[1] = v**2
        kept.append(buf)
    return np.sum(np.array(kept) ** 2)


@case(draw(4, seed=6), kinds="setitem append")
def copied_every_time(x):
    buf = np.zeros(2)
    kept = []
    for v in x:
        buf[0] += v
        buf[1] = v**2 * buf[0]
        kept.append(buf.copy())
    return np.sum(np.stack(kept) ** 2)


@case(draw(3, seed=7), kinds="alias setitem while", generic=False)
def alias_swapped_in_a_loop(x):
    old = x * 1.0
    new = np.zeros(3)
    for _ in range(4):
        for i in range(3):
            new[i] = 0.5 * old[i] + 0.25 * old[(i + 1) % 3] ** 2
        old, new = new, old
    return np.sum(old**2) + np.sum(new)


@case(draw(2, 2, seed=8), kinds="alias dict", generic=False)
def array_in_a_dict(A):
    state = {"A": A * 1.0, "n": 0}
    B = state["A"]
    state["A"] += 1.0
    state["A"][0] *= 2.0
    state["n"] += 1
    return np.sum(B**2) * state["n"]


class Box:
    def __init__(self, data):
        self.data = data

    def scale(self, k):
        self.data *= k


@case(draw(3, seed=9), kinds="alias object_mutation", generic=False)
def array_in_an_object(x):
    y = x**2
    box = Box(y)
    box.scale(2.0)
    box.data[0] = 5.0
    box.data = box.data + 1.0
    box.scale(3.0)
    return np.sum(y * box.data)


@case(draw(5, seed=10), kinds="set_slice runtime_index")
def slices_with_runtime_bounds(x):
    y = np.zeros(5)
    for i in range(1, 5):
        y[i - 1 : i + 1] += x[i] * x[:2]
        y[:i] *= 1.1
    return np.sum(y**2)


@case(draw(5, seed=11), kinds="set_slice")
def negative_steps(x):
    y = x * 1.0
    y[::-2] = x[:3] ** 2
    z = y[::-1]
    z[0] += x[1]
    return np.sum(y * np.arange(5.0))


@case(draw(2, 3, seed=12), kinds="view_reshape", generic=False)
def reshape_of_transpose_copies(A):
    B = A * 1.0
    flat = B.T.reshape(-1)  # a copy: the transpose is not contiguous
    flat *= 10.0
    view = B.reshape(-1)
    view[1] = 2.0
    return np.sum(B**2) + np.sum(flat)


@case(draw(4, seed=13), kinds="set_fancy", generic=False)
def fancy_read_is_a_copy(x):
    y = x * 1.0
    part = y[[0, 1]]
    part *= 5.0
    mask = y[y < 10.0]
    mask[:] = 0.0
    return np.sum(y**2) + np.sum(part)


@case(draw(3, seed=14), kinds="augassign_array")
def broadcast_in_place(x):
    M = np.ones((2, 3))
    M *= x
    M += x[0]
    M -= np.sum(x)
    row = M.sum(axis=0)
    row /= x**2 + 1.0
    return np.sum(row * M[0])


@case(draw(2, 2, seed=15), draw(2, seed=16), wrt=("A", "v"), kinds="augassign_array")
def matmul_in_place(A, v):
    B = A.copy()
    B @= A
    w = B @ v
    w += v
    return np.sum(w**3)


@case(draw(3, seed=17), kinds="overwritten while")
def overwritten_in_a_while(x):
    y = x.copy()
    k = 0
    while np.sum(y**2) > 0.05:
        y[k % 3] = y[k % 3] ** 2 * 0.5
        y *= 0.9
        k += 1
    return np.sum(y) * 10.0


@case(draw(6, seed=18), kinds="setitem")
def prefix_sums_in_place(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] += y[i - 1]
    for i in range(len(y) - 2, -1, -1):
        y[i] *= y[i + 1]
    return np.sum(y)


@case(
    draw(4, seed=19),
    draw(2, seed=20),
    wrt=("state", "gains"),
    kinds="write_argument helper",
)
def helper_updates_state(state, gains):
    def advance(s, g):
        s[0] += g * s[1]
        s[1:] -= 0.1 * s[:-1] ** 2

    for g in gains:
        advance(state, g)
    return np.sum(state**2)


@case(positive(3, 3, seed=21), kinds="setitem nested_loops")
def lu_in_place(A):
    LU = A + 3.0 * np.eye(3)
    n = len(LU)
    for k in range(n):
        for i in range(k + 1, n):
            LU[i, k] /= LU[k, k]
            LU[i, k + 1 :] -= LU[i, k] * LU[k, k + 1 :]
    return np.sum(np.log(np.diag(LU))) + LU[2, 0]


@case(positive(3, 3, seed=22), kinds="setitem triangular")
def cholesky_by_hand(X):
    A = X @ X.T + np.eye(3)
    L = np.zeros_like(A)
    for j in range(3):
        s = A[j, j] - np.dot(L[j, :j], L[j, :j])
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, 3):
            L[i, j] = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    return np.sum(L**2 * np.arange(9.0).reshape(3, 3))


@case(draw(3, seed=23), kinds="out alias")
def ufunc_out_returns_the_buffer(x):
    buf = np.empty(3)
    y = np.exp(x, out=buf)
    y[0] = x[1]
    z = np.multiply(buf, x, buf)
    return np.sum(y * z)


@case(draw(4, seed=24), kinds="set_mask overwritten")
def masked_division(x):
    d = np.array([2.0, 0.0, -1.0, 0.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / d
    y[d == 0] = 0.0
    return np.sum(y**2) + np.sum(x)


@case(draw(4, seed=25), kinds="out set_mask")
def ufunc_where(x):
    y = np.zeros(4)
    np.sqrt(x, out=y, where=x > 0)
    np.divide(y, x, out=y, where=x < -0.5)
    return np.sum(y) + np.sum(x**2, where=x > 0)


@case(draw(2, 3, seed=26), kinds="view_row for_array", generic=False)
def rows_hold_views_after_the_loop(A):
    B = A * 1.0
    for row in B:
        row[0] = row[1] * row[2]
    row[2] = 7.0
    return np.sum(B**2)


@case(draw(3, seed=27), kinds="fill setitem")
def zeros_like_of_integers(x):
    y = np.zeros(3)
    counts = np.zeros(3, dtype=int)
    for i in range(6):
        j = (i * i) % 3
        y[j] += x[j] ** (i + 1)
        counts[j] += 1
    return np.sum(y * counts)


@case(draw(3, seed=28), kinds="alias tuple", generic=False)
def unpacked_rows_are_views(x):
    M = np.outer(x, x)
    a, b, c = M
    a += b
    c[1] = 2.0 * a[0]
    return np.sum(M**2)


@case(
    draw(3, seed=29),
    draw(3, seed=30),
    wrt=("a", "b"),
    kinds="view_diagonal",
    generic=False,
)
def diagonal_is_a_view(a, b):
    M = np.outer(a, b)
    d = np.diag(M)
    M[1] = 0.5
    return np.sum(d**2)


@case(draw(3, seed=31), kinds="setitem", generic=False)
def entry_is_not_a_view(a):
    s = a[1]
    y = np.tanh(a)
    a[1] = 0.5
    return s * np.sum(y * a)


@case(
    draw(3, seed=32),
    draw(3, seed=33),
    wrt=("a", "b"),
    generic=False,
    kinds="alias view_slice swap",
)
def view_of_a_swapped_name(a, b):
    w = b[:-1]
    for i in range(3):
        a, b = b, a
        a[0] *= 0.5
    return np.sum(w**2) + np.sum(a**3) + np.sum(b**3)
