"""Iterators are lazy, stateful and ended once, as Python has them."""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import pytest

import symback
from tests.lower.plain import Programs, verify

X = np.array([0.5, 0.7, 0.9])
A = np.arange(1.0, 7.0).reshape(3, 2) / 7
PROGRAMS = Programs()


@PROGRAMS.at(X)
def a_generator_ends(x):
    g = (t * 2 for t in x)
    return sum(g) + 100 * sum(g)


@PROGRAMS.at(X)
def a_generator_of_a_list_ends(x):
    g = (t * 2 for t in [x[0], x[1]])
    first = next(g)
    return first**2 + sum(g) + 100 * sum(g)


@PROGRAMS.at(X)
def a_map_is_lazy(x):
    y = x * 1.0
    m = map(lambda t: t * 2, y)
    y[0] = 9 * x[1]
    return sum(m)


@PROGRAMS.at(X)
def a_generator_reads_names_when_it_is_walked(x):
    scale = 2.0
    g = (t * scale for t in x)
    scale = x[0]
    return sum(g)


@PROGRAMS.at(X)
def a_list_grows_while_it_is_walked(x):
    items, s = [x[0], x[1]], 0.0
    for v in items:
        if len(items) < 5:
            items.append(v * 0.5)
        s = s + v * v
    return s


@PROGRAMS.at(X)
def a_run_time_list_grows_while_it_is_walked(x):
    items, s = [], 0.0
    for v in x:
        if v > 0.6:
            items.append(v)
    for v in items:
        if len(items) < 6:
            items.append(v * 0.5)
        s = s + v * v
    return s


@PROGRAMS.at(X)
def views_of_a_dict_are_live(x):
    d = {"a": x[0]}
    values, keys, items = d.values(), d.keys(), d.items()
    d["b"] = x[1] * 2
    s = sum(values) + len(keys)
    for key, v in items:
        s = s + (v if key in keys else 0.0)
    return s


@PROGRAMS.at(X)
def next_of_a_list(x):
    rows = iter([x * 1.0, x * 2.0])
    first = next(rows)
    return np.sum(first**2) + np.sum(next(rows)) + next(rows, 5.0)


@PROGRAMS.at(A)
def next_of_an_array_and_the_rest(a):
    rows = iter(a)
    s = np.sum(next(rows))
    for row in rows:
        s = s * np.sum(row**2)
    for row in rows:
        s = s + 1000 * np.sum(row)
    return s


@PROGRAMS.at(X)
def the_rest_after_a_break(x):
    it = iter(x)
    s = 0.0
    for v in it:
        s = s + v
        if v > 0.6:
            break
    for v in it:
        s = s + v**3
    return s


@PROGRAMS.at(X)
@PROGRAMS.at(-X)
def the_first_that_passes(x):
    return next((v**2 for v in x if v > 0.6), x[0] * 5)


@PROGRAMS.at(X)
def zip_of_one_iterator_twice(x):
    it = iter([x[0], x[1], x[2], x[0] * x[1]])
    return sum(a * b for a, b in zip(it, it, strict=False))


@PROGRAMS.at(X)
def zip_takes_of_what_it_ends_with(x):
    it = iter([x[0], x[1], x[2]])
    s = sum(a * b for a, b in zip(it, [2.0], strict=False))
    # The second item was taken when the list had ended.
    return s + 10 * sum(it)


@PROGRAMS.at(X)
def enumerate_goes_on(x):
    e = enumerate([x[0], x[1], x[2]], 1)
    k, v = next(e)
    return k * v + sum(k * v for k, v in e)


@PROGRAMS.at(X)
def filter_with_a_run_time_test(x):
    big = filter(lambda v: v > 0.6, x)
    return sum(v**2 for v in big) + sum(big)


@PROGRAMS.at(X)
def filter_is_lazy(x):
    items = [x[0], x[1]]
    f = filter(None, items)
    items.append(x[2] * 2)
    return sum(f)


@PROGRAMS.at(X)
def reversed_is_once(x):
    r = reversed([x[0], x[1], x[2]])
    first = next(r)
    return first**3 + sum(r) + sum(r)


@PROGRAMS.at(X)
def any_stops_at_the_first(x):
    it = iter([x[0], x[1], x[2]])
    found = any(v is not None for v in it)
    return sum(it) * (2.0 if found else 1.0)


@PROGRAMS.at(X)
def all_of_a_generator(x):
    if all(v > 0 for v in x) and not any(v > 0.8 for v in x[:2]):
        return np.sum(x**2)
    return np.sum(x)


def halves(v, n):
    for _ in range(n):
        yield v
        v = v * 0.5
    yield v * 10


@PROGRAMS.at(0.7)
def a_generator_function(a):
    s = 0.0
    for v in halves(a, 3):
        s = s + v**2
    return s + sum(halves(a, 2)) + max(list(halves(a, 1)))


@PROGRAMS.at(0.7)
def a_generator_function_left_early(a):
    s = 0.0
    for k, v in enumerate(halves(a, 6)):
        s = s + v**2
        if k == 2 or v < 0.2:
            break
    return s


def both(x):
    yield from x
    yield from (v * 2 for v in x)


@PROGRAMS.at(X)
def a_generator_that_delegates(x):
    return sum(v**2 for v in both(x))


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        for r in self.rows:
            yield r * 2


@PROGRAMS.at(A)
def an_object_that_can_be_walked(a):
    s = 0.0
    for r in Rows(a):
        s = s + np.sum(r) ** 2
    return s


@PROGRAMS.at(X)
def of_itertools(x):
    s = 0.0
    for k, v in zip(itertools.count(1), x, strict=False):
        s = s + k * v
    for v in itertools.chain(x[:1], [x[1] * 2], (v**2 for v in x)):
        s = s + v
    items = [x[0], x[1], x[2], x[0] * 2]
    s = s + sum(itertools.islice(items, 1, None, 2))
    for v, w in zip(items, itertools.cycle([1.0, 2.0]), strict=False):
        s = s + v * w
    for v, w in itertools.pairwise(items):
        s = s + v * w
    s = s + sum(itertools.starmap(operator.mul, zip(x, x[::-1], strict=True)))
    return s + sum(itertools.accumulate(items)) + sum(itertools.repeat(x[0], 3))


@PROGRAMS.at(X)
def sorted_by_an_item(x):
    d = {"b": x[0], "a": x[1] ** 2}
    rows = sorted(d.items(), key=operator.itemgetter(0))
    return sum(k * v for k, (_, v) in enumerate(rows, 1))


@PROGRAMS.at(X, 1)
@PROGRAMS.at(X, 0)
def a_range_of_a_branch(x, window):
    rows = range(3)
    if window > 0:
        rows = range(1, 3)
    return sum(x[i] ** 2 for i in rows)


@PROGRAMS.at(X)
def names_of_a_comprehension_are_its_own(x):
    t = x[2]
    parts = [t * 2 for t in x]
    pairs = {k: t for k, t in enumerate(x)}
    g = sum(t * v for v in parts for t in [v, 2.0])
    return t * parts[0] + pairs[1] + g


@PROGRAMS.at(X)
def lambdas_of_a_comprehension_share_its_name(x):
    fs = [lambda: t * 2 for t in [x[0], x[1]]]  # noqa: B023
    return fs[0]() + 10 * fs[1]()


@PROGRAMS.at(X)
def a_generator_that_outlives_its_function(x):
    def scaled(by):
        return (v * by for v in x)

    g = scaled(x[0])
    return sum(g)


@PROGRAMS.at(X)
def reduced(x):
    both = functools.reduce(lambda a, b: a * b, (v + 1 for v in x))
    return both + functools.reduce(operator.add, map(np.sin, x), 0.0)


@PROGRAMS.at(X)
def unpacked(x):
    a, b = (v**2 for v in [x[0], x[1]])
    c, *d = map(np.exp, [x[0], x[1], x[2]])
    e, f, g = map(np.sin, x)
    return a * b + c * sum(d) + e * f * g


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    verify(f, *args)


def test_a_dict_that_grows_while_it_is_walked():
    def f(x):
        d = {"a": x[0]}
        s = 0.0
        for key in d:
            d[key + "b"] = x[1]
            s = s + d[key]
        return s

    with pytest.raises(symback.UnsupportedSyntaxError, match="changes its size"):
        symback.grad(f)(X)


def test_an_iterator_that_has_ended():
    def f(x):
        it = iter([x[0]])
        return next(it) + next(it)

    with pytest.raises(symback.UnsupportedSyntaxError, match="has ended"):
        symback.grad(f)(X)


def test_no_item_passes():
    def f(x):
        return next(v for v in x if v > 0.8)

    np.testing.assert_array_equal(symback.grad(f)(X), [0.0, 0.0, 1.0])
    with pytest.raises(StopIteration):
        symback.grad(f)(-X)


SECOND = operator.itemgetter(1)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def test_getters():
    def f(x):
        pairs = [(x[0], 2.0), (x[1], 1.0)]
        points = [Point(x[0], x[1]), Point(x[2], x[0])]
        low = min(pairs, key=SECOND)
        xs, ys = zip(*map(operator.attrgetter("x", "y"), points), strict=True)
        return low[0] ** 2 + xs[0] * ys[1] + sum(xs)

    verify(f, X)
