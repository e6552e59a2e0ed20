"""Everyday Python around the mathematics: caches, sets, queues, endless generators."""

from __future__ import annotations

import collections
import functools
import math
import sys

import numpy as np
import pytest

from tests.lower.plain import Programs, verify

X = np.array([0.5, 0.7, 0.9])
A = np.arange(1.0, 7.0).reshape(3, 2) / 7
PROGRAMS = Programs()


class Cfg:
    def __init__(self):
        self.scale = 2.0
        self._cache = {}
        self.n = 3

    @property
    def twice(self):
        return self.scale * 2

    @staticmethod
    def sq(x):
        return x**2

    @classmethod
    def make(cls):
        c = cls()
        c.scale = 4.0
        return c

    def f(self, x):
        return self.sq(x) * self.twice


CFG = Cfg()


@PROGRAMS.at(X)
def clsm(x):
    return np.sum(Cfg.make().f(x)) + np.sum(CFG.f(x))


@PROGRAMS.at(X)
def cached(x):
    key = "a"
    if key not in CFG._cache:
        CFG._cache[key] = 2.0
    return np.sum(x) * CFG._cache[key]


class Opt:
    def __init__(self):
        self.nfev = 0
        self.fglob = 0.0

    def fun(self, x, *args):
        self.nfev = self.nfev + 1
        return sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


BENCH = Opt()


@PROGRAMS.at(X)
def bench(x):
    return BENCH.fun(x)


@PROGRAMS.at(X)
def accum(x):
    out = []
    acc = 0.0
    for v in x:
        acc = acc + v
        out.append(acc)
    return sum(a * b for a, b in zip(out, reversed(out), strict=False))


@PROGRAMS.at(X)
def dictcomp(x):
    d = {str(i): x[i] for i in range(3)}
    return sum(v * int(k) for k, v in d.items())


@PROGRAMS.at(A)
def nestedgen(a):
    return sum(v**2 for row in a for v in row if v > 0.3)


@PROGRAMS.at(A)
def maxgen(a):
    return max(np.sum(r) for r in a) * min((v for v in a[0]), default=1.0)


@PROGRAMS.at(X)
def whilenext(x):
    it = iter([x[0], x[1], x[2]])
    s = 0.0
    while True:
        v = next(it, None)
        if v is None:
            break
        s = s + v**2
    return s


@PROGRAMS.at(X)
def trynext(x):
    it = iter([x[0], x[1]])
    s = 0.0
    while True:
        try:
            v = next(it)
        except StopIteration:
            break
        s = s + v**2
    return s


@PROGRAMS.at(X)
def ordered(x):
    d = collections.OrderedDict()
    d["a"] = x[0]
    d["b"] = x[1]
    return sum(i * v for i, v in enumerate(d.values()))


@PROGRAMS.at(X)
def deque(x):
    q = collections.deque([x[0]])
    q.append(x[1])
    q.appendleft(x[2])
    return q[0] * 2 + q.pop() + q.popleft() ** 2


@PROGRAMS.at(X)
def star(x):
    a, *b = (v * 2 for v in x)
    return a * b[0] + b[-1]


@PROGRAMS.at(X)
def gen_in_call(x):
    return (
        np.sum(np.array([v**2 for v in x]))
        + math.fsum(v for v in x)
        + math.prod(v for v in x)
    )


@PROGRAMS.at(X)
def keysops(x):
    d = {"a": x[0], "b": x[1]}
    e = {"b": x[2]}
    return sum(d[k] * e[k] for k in d.keys() & e.keys()) + sum(
        d[k] for k in sorted(d.keys() - e.keys())
    )


@PROGRAMS.at(X)
def setlit(x):
    s = {1, 2}
    t = s | {0}
    return sum(x[i] for i in t) * len(s)


@PROGRAMS.at(X)
def sortedlam(x):
    rows = sorted([(2, x[0]), (1, x[1])], key=lambda r: r[0])
    return rows[0][1] * 2 + rows[1][1]


@functools.lru_cache
def fact(n):
    return 1 if n < 2 else n * fact(n - 1)


@PROGRAMS.at(X)
def lru(x):
    return sum(v**k / fact(k) for k, v in enumerate(x))


@PROGRAMS.at(X)
def printing(x):
    print("loss", x[0], file=sys.stderr) if x[0] > 5 else None
    return np.sum(x)


@PROGRAMS.at(X)
def withgen(x):
    def pairs(v):
        for i in range(len(v) - 1):
            if v[i] > 100:
                return
            yield i, v[i] * v[i + 1]

    return sum((i + 1) * p for i, p in pairs(x))


@PROGRAMS.at(X)
def genloopbreak(x):
    def nat():
        k = 0
        while True:
            yield k
            k += 1

    s = 0.0
    for k in nat():
        if k >= 3:
            break
        s = s + x[k] * k
    return s


@PROGRAMS.at(0.7)
def convergence(a):
    def newton(y):
        while True:
            y = 0.5 * (y + a / y)
            yield y

    prev = 1.0
    for y in newton(prev):
        if abs(y - prev) < 1e-12:
            break
        prev = y
    return y


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    verify(f, *args)
