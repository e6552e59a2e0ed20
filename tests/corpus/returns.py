"""Early returns anywhere, and recursion with a decreasing argument."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(2.3, kinds="early_return")
def three_returns(x):
    if x < 0:
        return -x
    y = x**2
    if y > 100:
        return y
    return np.log(y) * x


@case(draw(6, seed=1), kinds="early_return return_in_loop")
def first_positive(x):
    for v in x:
        if v > 0.3:
            return v**2
    return np.sum(x)


@case(draw(3, 3, seed=2), 0.4, wrt=("A", "t"), kinds="return_in_loop")
def return_from_nested_loop(A, t):
    s = 0.0
    for i in range(3):
        for j in range(3):
            s += A[i, j] * t
            if s > 0.9 and i > 0:
                return s**2 + A[0, 0]
    return s


@case(1.9, kinds="return_in_loop while")
def return_from_while(a):
    x = a
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            return new
        x = new


@case(0.4, 2.0, wrt=("x", "y"), kinds="early_return")
def return_in_else(x, y):
    if x > y:
        z = x - y
    else:
        return x * y**2
    z = z * 2.0
    return z


def sign_of(v):
    if v > 0:
        return 1.0
    if v < 0:
        return -1.0
    return 0.0


def clipped_log(v):
    if v < 1e-3:
        return np.log(1e-3) + (v - 1e-3) * 1e3
    return np.log(v)


@case(positive(3, seed=3), kinds="early_return helper")
def helper_with_returns(x):
    total = 0.0
    for v in x:
        total += clipped_log(v) * sign_of(v - 0.8)
    return total


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@case(1.3, kinds="recursion")
def recursive_power(x):
    return power(x, 5) + power(x, 2)


def chebyshev(n, x):
    if n == 0:
        return 1.0
    if n == 1:
        return x
    return 2 * x * chebyshev(n - 1, x) - chebyshev(n - 2, x)


@case(0.37, kinds="recursion")
def chebyshev_five(x):
    return chebyshev(5, x) ** 2


@case(0.8, 4, wrt="x", kinds="recursion", generic=False)
def continued_fraction(x, depth):
    if depth == 0:
        return 1.0
    return 1.0 + x / continued_fraction(x, depth - 1)


def tree_sum(x):
    n = len(x)
    if n == 1:
        return x[0]
    half = n // 2
    return np.tanh(tree_sum(x[:half]) * 0.7 + tree_sum(x[half:]))


@case(draw(5, seed=4), kinds="recursion", generic=False)
def recursive_tree(x):
    return tree_sum(x) ** 2


def bessel_ratio(x, k):
    return 0.0 if k > 12 else x / (2 * k + x * bessel_ratio(x, k + 1))


@case(0.9, kinds="recursion")
def recursion_in_ternary(x):
    return bessel_ratio(x, 1)


@case(0.25, kinds="early_return")
def return_ternary_of_helper(x):
    return clipped_log(x) if x > 0.1 else clipped_log(0.1) * x


@case(0.4, draw(3, seed=5), draw(3, seed=6), wrt=("x", "b"), kinds="early_return")
def returns_at_two_depths(x, a, b):
    if a[1] > -5.0:
        if np.tanh(np.sum(b)) > 0.9:
            return x
    elif x > 2.0:
        return b[0]
    return 0.3 * x * b[1]
