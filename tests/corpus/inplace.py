"""Augmented assignment, out=, fill, copyto, put, and writing into an argument."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(3, seed=1), draw(3, seed=2), wrt=("x", "y"), kinds="augassign_array")
def augmented_array(x, y):
    z = x * y
    z += x
    z *= y
    z -= 0.5
    z /= 2.0 + y**2
    return np.sum(z**2)


@case(draw(3, seed=3), kinds="augassign_array alias", generic=False)
def augmented_alias(x):
    a = x * 2.0
    b = a
    b += 1.0
    a *= b
    return np.sum(a * b)


@case(0.6, kinds="augassign_float", generic=False)
def augmented_float_rebinds(x):
    a = x * 2.0
    b = a
    b += 1.0
    a *= b
    return a * b


@case(0.9, 1.4, wrt=("x", "y"), kinds="augassign_float", generic=False)
def augmented_powers(x, y):
    s = x
    s **= 2
    s += y
    s /= x
    t = 3.0
    t -= s
    t *= t
    return t


@case(draw(4, seed=4), kinds="augassign_float")
def augmented_accumulators(x):
    s = p = 1.0
    for v in x:
        s += v
        p *= v
    return s * p


@case(draw(3, seed=5), kinds="augassign_array write_argument")
def augmented_parameter(x):
    x *= 2.0
    x += 1.0
    return np.sum(x**3)


@case(draw(3, seed=6), kinds="write_argument")
def write_into_argument(x):
    x[0] = x[1] * x[2]
    x[2] = 5.0
    return np.sum(x**2)


@case(draw(2, 2, seed=7), draw(2, seed=8), wrt=("A", "v"), kinds="write_argument")
def write_rows_of_argument(A, v):
    A[0] += v
    v[:] = A[0] * A[1]
    return np.sum(A * v)


def normalise_in_place(a):
    a -= np.mean(a)
    a /= np.sqrt(np.sum(a**2))


@case(draw(4, seed=9), kinds="write_argument helper", generic=False)
def helper_writes_into_argument(x):
    y = x**2
    normalise_in_place(y)
    return np.sum(y * np.arange(4.0))


@case(draw(4, seed=10), draw(4, seed=11), wrt=("x", "y"), kinds="out")
def out_argument(x, y):
    buf = np.empty(4)
    np.multiply(x, y, out=buf)
    np.add(buf, x, out=buf)
    np.tanh(buf, out=buf)
    return np.sum(buf**2)


@case(draw(2, 3, seed=12), draw(3, 2, seed=13), wrt=("A", "B"), kinds="out")
def out_of_matmul(A, B):
    C = np.zeros((2, 2))
    np.matmul(A, B, out=C)
    s = np.zeros(2)
    np.sum(C, axis=0, out=s)
    return s @ s


@case(draw(4, seed=14), kinds="out")
def out_into_view(x):
    y = np.ones(6)
    np.exp(x, out=y[1:5])
    np.maximum(y, 0.9, out=y)
    return np.sum(y * np.arange(6.0))


@case(0.7, kinds="fill")
def fill_with_value(x):
    a = np.ones(3)
    a.fill(x)
    b = a * np.arange(3.0)
    a.fill(2.0)
    return np.sum(b**2) + np.sum(a)


@case(draw(2, seed=15), kinds="fill")
def fill_rows(x):
    M = np.zeros((2, 3))
    for i in range(2):
        M[i].fill(x[i] ** 2)
    np.fill_diagonal(M, x[0])
    return np.sum(M**2)


@case(0.3, 4, wrt="c", kinds="fill")
def fill_runtime_size(c, n):
    y = np.empty(n)
    y.fill(c)
    y[n // 2 :] *= c
    return np.sum(y)


@case(draw(4, seed=16), draw(4, seed=17), wrt=("x", "y"), kinds="copyto")
def copy_to(x, y):
    a = np.zeros(4)
    np.copyto(a, x)
    a[0] = y[1]
    b = np.zeros((2, 4))
    np.copyto(b, a * y)
    return np.sum(b**2)


@case(draw(5, seed=18), kinds="copyto")
def copy_to_where(x):
    y = x**2
    np.copyto(y, x, where=x > 0)
    return np.sum(y * np.arange(1.0, 6.0))


@case(draw(3, seed=19), kinds="copyto")
def copy_scalar_into_view(x):
    A = np.outer(x, x)
    np.copyto(A[1], x[0])
    return np.sum(A**2)


@case(draw(3, seed=20), kinds="put", generic=False)
def put_values(x):
    y = np.ones(5)
    np.put(y, [0, 3], x[:2])
    y.put([1], x[2] ** 2)
    return np.sum(y**3)


@case(draw(4, seed=21), kinds="put", generic=False)
def put_in_matrix(x):
    A = np.zeros((3, 3))
    np.put(A, [0, 4, 8, 2], x)
    return np.sum((A @ A) * np.arange(9.0).reshape(3, 3))


@case(draw(2, 3, seed=22), kinds="put", generic=False)
def put_along_axis(A):
    B = A**2
    i = np.argmax(A, axis=1)[:, None]
    np.put_along_axis(B, i, 0.0, axis=1)
    return np.sum(B * np.array([1.0, 2.0, 3.0]))


@case(positive(5, seed=23), kinds="put set_mask")
def put_mask_and_place(x):
    y = x * 1.0
    np.putmask(y, y > 1.0, x**2)
    np.place(y, y < 0.6, [0.25])
    return np.sum(y**2)


@case(draw(3, seed=24), kinds="swap", generic=False)
def swap_elements(x):
    y = x.copy()
    y[0], y[2] = y[2], y[0]
    return np.sum(y * np.array([1.0, 10.0, 100.0]))


@case(draw(4, 2, seed=25), kinds="swap")
def swap_rows(A):
    B = A * A
    B[[0, 3]] = B[[3, 0]]
    B[1], B[2] = B[2].copy(), B[1].copy()
    return np.sum(B * np.arange(8.0).reshape(4, 2))


@case(positive(5, seed=26), kinds="swap nested_loops", generic=False)
def bubble_sort(x):
    a = x.copy()
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return np.sum(a * np.arange(1.0, 6.0) ** 2)


@case(
    draw(3, 3, seed=27),
    draw(3, seed=28),
    wrt=("A", "b"),
    kinds="swap nested_loops setitem",
)
def gauss_with_pivoting(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x**2)


@case(draw(3, seed=29), draw(3, seed=30), wrt=("x", "y"), kinds="overwrite_name")
def overwrite_argument_names(x, y):
    x = x * y
    y = x + y
    x = np.sin(x)
    return np.sum(x * y)


@case(draw(4, seed=31), kinds="overwrite_name")
def parameter_becomes_scalar(x):
    x = np.sum(x**2)
    x = np.sqrt(x)
    return x * 2.0


@case(0.4, [1.0, 2.0], wrt="x", kinds="overwrite_name")
def parameter_becomes_other_type(x, grid):
    grid = np.asarray(grid)
    for x in [x * grid[0], x**2 * grid[1]]:
        grid = grid + x
    return np.sum(grid) * x
