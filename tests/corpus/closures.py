"""Closures, also over loop variables and mutable containers, and `nonlocal`."""

from __future__ import annotations

import functools

import numpy as np

from tests.corpus import case, draw, positive


@case(draw(3, seed=1), 0.5, wrt=("x", "a"), kinds="closure")
def closure_over_local(x, a):
    scale = a**2

    def model(t):
        return scale * np.sin(a * t)

    return np.sum(model(x) ** 2)


@case(0.7, kinds="closure")
def closure_sees_rebinding(x):
    k = 1.0

    def f(v):
        return k * v

    first = f(x)
    k = x
    return first + f(x)


@case(draw(4, seed=2), kinds="closure")
def closure_over_loop_variable(x):
    fs = []
    for i in range(4):
        fs.append(lambda v: v * (i + 1))
    return sum(f(x[j]) for j, f in enumerate(fs))


@case(draw(4, seed=3), kinds="closure defaults")
def loop_variable_frozen_by_default(x):
    fs = []
    for i in range(4):
        fs.append(lambda v, i=i: v ** (i + 1))
    total = 0.0
    for j in range(4):
        total += fs[j](x[j])
    return total


@case(0.9, kinds="closure mutable_closure")
def closure_over_list(x):
    log = []

    def record(v):
        log.append(v)
        return 2.0 * v

    y = record(x)
    z = record(y * x)
    return z * log[0] + log[1]


@case(draw(3, seed=4), kinds="closure mutable_closure")
def closure_over_dict(x):
    cache = {}

    def squared(i):
        if i not in cache:
            cache[i] = x[i] ** 2
        return cache[i]

    return squared(0) * squared(1) + squared(0)


@case(draw(3, seed=5), kinds="closure mutable_closure setitem")
def closure_over_array(x):
    buffer = np.zeros(3)

    def put(i, v):
        buffer[i] = v

    for i in range(3):
        put(i, x[i] ** 2)
    put(0, x[1] * x[2])
    return np.sum(buffer * np.array([1.0, 2.0, 3.0]))


@case(0.4, kinds="nonlocal")
def counter(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    add(x)
    add(x**2)
    add(np.sin(x))
    return total * x


@case(draw(4, seed=6), kinds="nonlocal")
def nonlocal_state_machine(xs):
    h = 0.0
    seen = 0

    def step(x):
        nonlocal h, seen
        h = np.tanh(0.5 * h + x)
        seen += 1
        return h

    loss = 0.0
    for x in xs:
        loss += step(x) ** 2
    return loss / seen


@case(1.3, kinds="nonlocal nested_def")
def nonlocal_two_levels(x):
    a = x

    def outer():
        b = a * 2.0

        def inner():
            nonlocal a, b
            a = a * x
            b = b + a

        inner()
        inner()
        return b

    return outer() + a


def make_model(scale, offset):
    def model(w, x):
        return scale * np.tanh(w * x) + offset

    return model


_model = make_model(1.7, 0.2)


@case(0.8, 1.1, wrt=("w", "x"), kinds="closure factory")
def calls_module_level_closure(w, x):
    return _model(w, x) ** 2


@functools.lru_cache(maxsize=None)
def nodes(n):
    return np.polynomial.legendre.leggauss(n)


@case(0.5, kinds="closure cached_helper")
def cached_constant_helper(a):
    x, w = nodes(5)
    return np.sum(w * np.exp(a * x))


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@logged
def decorated_helper(x, power=2):
    return x**power


@case(positive(3, seed=7), kinds="decorated_helper helper")
def calls_decorated_helper(x):
    return np.sum(decorated_helper(x) + decorated_helper(x, power=3))


@case(draw(3, seed=8), draw(3, seed=9), wrt="w", kinds="closure decorated_helper")
@logged
def decorated_itself(w, x):
    return np.sum((w * x - 1.0) ** 2)
