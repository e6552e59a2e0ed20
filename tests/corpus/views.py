"""Views and aliases: rows, transposes, reshapes, and two names for one array."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw


@case(draw(3, 3, seed=1), kinds="view_row", generic=False)
def scaled_row_changes_matrix(A):
    B = A.copy()
    row = B[1]
    row *= 2.0
    row[0] = 5.0
    return np.sum(B**2)


@case(draw(2, 4, seed=2), kinds="view_row", generic=False)
def rows_in_a_loop(A):
    B = A * 1.5
    for row in B:
        row -= row.mean()
        row /= np.sqrt(np.sum(row**2))
    return np.sum(B * np.arange(8.0).reshape(2, 4))


@case(draw(6, seed=3), kinds="view_slice", generic=False)
def slice_is_a_view(x):
    y = x**2
    left, right = y[:3], y[3:]
    left += right
    right *= left
    return np.sum(y)


@case(draw(6, seed=4), kinds="view_slice")
def view_of_view(x):
    y = x * 2.0
    a = y[1:]
    b = a[::2]
    b[:] = b**2
    a[0] += y[5]
    return np.sum(y * np.arange(6.0))


@case(draw(4, seed=5), kinds="view_slice", generic=False)
def view_sees_later_write(x):
    y = x.copy()
    tail = y[2:]
    y[3] = x[0] ** 2
    y *= x[1]
    return np.sum(tail**2)


@case(draw(2, 3, seed=6), kinds="view_transpose", generic=False)
def transpose_is_a_view(A):
    B = A + 1.0
    T = B.T
    T[0] *= 3.0
    T[2, 1] = A[0, 0]
    return np.sum(B**2)


@case(draw(3, 3, seed=7), kinds="view_transpose", generic=False)
def symmetrise_in_place(A):
    S = A.copy()
    S += S.T.copy()
    S.T[0] = S[1]
    return np.sum(S**3)


@case(draw(2, 3, 2, seed=19), kinds="view_transpose", generic=False)
def swapped_axes_are_views(T):
    S = T * 1.0
    U = np.swapaxes(S, 0, 2)
    U[0, 1] += T[0, 0, 0]
    np.moveaxis(S, 1, 0)[2] *= 0.5
    return np.sum(S**2)


@case(draw(6, seed=8), kinds="view_reshape", generic=False)
def reshape_is_a_view(x):
    y = x * 1.0
    M = y.reshape(2, 3)
    M[1] += M[0] ** 2
    flat = M.ravel()
    flat[0] = 2.0
    return np.sum(y * np.arange(6.0))


@case(draw(2, 2, seed=9), kinds="view_reshape", generic=False)
def reshaped_then_written(A):
    B = np.zeros((4, 1))
    B.reshape(2, 2)[:] = A @ A
    B[1:3] *= A[0, 0]
    return np.sum(B**2)


@case(draw(4, seed=10), kinds="view_reshape", generic=False)
def newaxis_view(x):
    y = x**2
    col = y[:, None]
    col *= 0.5
    col[2] = x[0]
    return np.sum(y * x)


@case(draw(3, seed=11), kinds="alias")
def two_names_for_one_array(x):
    a = x.copy()
    b = a
    b[0] = 4.0
    a[1] += b[2]
    return np.sum(a * b)


@case(draw(3, seed=12), kinds="alias")
def copy_is_not_an_alias(x):
    a = x * 2.0
    b = a.copy()
    c = np.array(a)
    a *= 10.0
    b[0] = a[1]
    return np.sum(a * b * c)


@case(draw(3, seed=13), kinds="alias")
def rebinding_breaks_the_alias(x):
    a = x * 2.0
    b = a
    a = a + 1.0
    a *= 3.0
    b *= b
    return np.sum(a * b)


@case(draw(3, seed=14), kinds="alias list", generic=False)
def alias_in_a_list(x):
    a = x * 1.0
    history = [a, a.copy()]
    a *= 2.0
    history[0][1] = 0.5
    return np.sum(history[0] * history[1]) + np.sum(a)


def double_in_place(v):
    v *= 2.0
    return v


@case(draw(3, seed=15), kinds="alias helper", generic=False)
def alias_through_helper(x):
    y = x**2
    z = double_in_place(y[:2])
    z[0] = x[2]
    return np.sum(y * np.array([1.0, 2.0, 3.0])) + z[1]


@case(draw(3, 3, seed=16), kinds="view_diagonal", generic=False)
def flat_and_diagonal(A):
    B = A.copy()
    B.flat[::4] += 1.0
    d = B.diagonal()
    s = np.sum(d**2)
    B[0, 0] = 0.0
    return s + d[0] * np.sum(B)


@case(draw(3, 4, seed=17), kinds="view_slice view_row", generic=False)
def shared_column(A):
    B = A * A
    col = B[:, 1]
    B[0] = 0.5
    col[2] = col[1] * 3.0
    return np.sum(B) + col[0] * A[0, 0]


@case(draw(4, seed=18), kinds="view_slice swap")
def swap_slices(x):
    y = x * 1.0
    y[:2], y[2:] = y[2:].copy(), y[:2].copy()
    return np.sum(y * np.arange(4.0))
