"""functools.partial and reduce, map, filter, sorted, and functions as values."""

from __future__ import annotations

import functools
import operator
from functools import partial, reduce

import numpy as np

from tests.corpus import case, draw, positive


def kernel(x, y, ell, sigma):
    return sigma**2 * np.exp(-0.5 * (x - y) ** 2 / ell**2)


@case(draw(3, seed=1), 0.7, wrt=("x", "ell"), kinds="partial")
def partial_kernel(x, ell):
    k = partial(kernel, ell=ell, sigma=1.2)
    return k(x[0], x[1]) + k(x[1], x[2])


unit_kernel = functools.partial(kernel, sigma=1.0, ell=0.5)


@case(0.3, -0.2, wrt=("a", "b"), kinds="partial")
def module_level_partial(a, b):
    return unit_kernel(a, b) * unit_kernel(a, 0.0)


@case(0.3, kinds="partial")
def partial_positional(x):
    def power(n, v):
        return v**n

    cube = partial(power, 3)
    return cube(x) + partial(power, 2)(cube(x))


@case(draw(3, 2, 2, seed=2), kinds="reduce")
def reduce_matmul(Ms):
    P = reduce(np.matmul, [Ms[0], Ms[1], Ms[2]])
    return np.sum(P**2)


@case(positive(4, seed=3), kinds="reduce")
def reduce_lambda(x):
    return functools.reduce(lambda acc, v: acc * 0.5 + v**2, x, 1.0)


@case(0.6, 1.1, wrt=("a", "b"), kinds="reduce")
def reduce_operator(a, b):
    return reduce(operator.mul, [a, b, a + b, 2.0])


@case(draw(4, seed=4), kinds="map")
def map_lambda(x):
    return sum(map(lambda v: v**3, x))


@case(draw(3, seed=5), draw(3, seed=6), wrt=("x", "y"), kinds="map")
def map_two(x, y):
    products = list(map(operator.mul, x, y))
    return np.sum(np.array(products) ** 2)


@case((0.2, 0.5, -0.4), wrt="p", kinds="map")
def map_unpacked(p):
    a, b, c = map(np.exp, p)
    return a * b - c


@case(draw(6, seed=7), kinds="filter")
def filter_positive(x):
    return sum(filter(lambda v: v > 0, x))


@case(draw(5, seed=8), kinds="filter map")
def filter_then_map(x):
    kept = filter(lambda v: abs(v) < 1.0, x)
    return sum(map(lambda v: v * v, kept))


@case(0.5, kinds="filter")
def filter_none(x):
    terms = [x, None, x**2, None]
    return sum(filter(lambda t: t is not None, terms))


@case(draw(5, seed=9), kinds="sorted", generic=False)
def sorted_scalars(x):
    s = sorted(x)
    return s[0] * 1.0 + s[1] * 2.0 + s[-1] ** 2


@case(draw(4, seed=10), kinds="sorted")
def sorted_by_key(x):
    s = sorted([x[0], x[1], x[2], x[3]], key=lambda v: -abs(v))
    return s[0] ** 2 + s[1] * s[2]


@case({"b": 0.4, "a": 1.3}, wrt="p", kinds="sorted dict_items", generic=False)
def sorted_keys(p):
    total = 0.0
    for i, k in enumerate(sorted(p)):
        total += (i + 1) * p[k] ** 2
    return total


@case(draw(4, seed=11), kinds="sorted", generic=False)
def sorted_reverse(x):
    top = sorted(x, reverse=True)[:2]
    return np.sum(np.array(top) ** 3)


ACTIVATIONS = {"tanh": np.tanh, "softsign": lambda v: v / (1.0 + abs(v))}


@case(
    draw(3, seed=12),
    "softsign",
    wrt="x",
    kinds="function_table string_option",
    generic=False,
)
def function_from_table(x, name):
    act = ACTIVATIONS[name]
    return np.sum(act(x) ** 2)


@case(0.3, kinds="function_table")
def compose(x):
    def chain(*fs):
        def run(v):
            for f in fs:
                v = f(v)
            return v

        return run

    return chain(np.sin, np.exp, lambda v: v**2)(x)


@case(1.2, kinds="function_table")
def numpy_function_as_argument(x):
    def apply_twice(f, v):
        return f(f(v))

    return apply_twice(np.log1p, x) + apply_twice(np.tanh, x)
