"""Everyday Python around the mathematics: caches, sets, queues, endless generators."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import math
import operator
import sys
import warnings

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


@dataclasses.dataclass(frozen=True)
class Par:
    a: float
    b: np.ndarray

    def norm(self):
        return np.sum(self.b**2) * self.a


@PROGRAMS.at(X)
def frozen(x):
    p = Par(x[0], x)
    q = dataclasses.replace(p, a=x[1])
    return p.norm() + q.norm()


class Slots:
    __slots__ = ("k", "w")

    def __init__(self, w):
        self.w = w
        self.k = 2

    def __call__(self, x):
        return np.sum(self.w * x) * self.k

    def __add__(self, o):
        return Slots(self.w + o.w)

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return self.w[i]


SLOTS = Slots(np.ones(3))


@PROGRAMS.at(X)
def slots(x):
    return SLOTS(x) + Slots(x)(x) + (Slots(x) + SLOTS)[1] * len(SLOTS)


@PROGRAMS.at(X)
def slots2(x):
    SLOTS.k += 0
    return SLOTS(x)


class Acc:
    total = np.zeros(3)

    def __init__(self):
        self.sum = 0.0
        self.log = {}
        self.names = []

    def add(self, x, name="a"):
        self.sum = self.sum + float(np.sum(x))
        self.log[name] = self.log.get(name, 0) + 1
        self.names += [name]
        return np.sum(x**2)


ACC = Acc()


@PROGRAMS.at(X)
def accs(x):
    s = 0.0
    for n in ("a", "b", "a"):
        s = s + ACC.add(x, n)
    return s


@PROGRAMS.at(X)
def accloop(x):
    s = 0.0
    for i in range(3):
        s = s + ACC.add(x * i)
    return s


@PROGRAMS.at(X)
def errst(x):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sum(np.log(x))


@PROGRAMS.at(X)
def rangestep(x):
    r = range(len(x) - 1, -1, -1)
    return sum((k + 1) * x[i] for k, i in enumerate(r)) + (1 if 2 in r else 0) + r[0]


@PROGRAMS.at(X)
def zl(x):
    return sum(
        a * b for a, b in itertools.zip_longest([x[0], x[1]], [2.0], fillvalue=3.0)
    )


@PROGRAMS.at(X)
def gb(x):
    rows = [("a", x[0]), ("a", x[1]), ("b", x[2])]
    return sum(
        sum(v for _, v in g) ** 2
        for k, g in itertools.groupby(rows, key=lambda r: r[0])
    )


@PROGRAMS.at(X)
def tw(x):
    return sum(itertools.takewhile(lambda v: v < 0.8, x)) + sum(
        itertools.dropwhile(lambda v: v < 0.6, [x[0], x[1], x[2]])
    )


@PROGRAMS.at(X)
def partials(x):
    f = functools.partial(np.sum, axis=0)
    g = functools.partial(operator.mul, 2.0)
    return f(x) + g(x[0])


def kw(*, a, b=2.0, **rest):
    return a * b + sum(rest.values())


@PROGRAMS.at(X)
def kws(x):
    return kw(a=x[0], **{"c": x[1], "d": x[2]})


@PROGRAMS.at(X)
def fstr(x):
    name = f"k{len(x)}"
    d = {"k3": x[0]}
    msg = f"{x[0]:.2f} {name!r:>5}"  # noqa: F841
    return d[name] * 2


@PROGRAMS.at(X)
def walrus(x):
    return sum(y for v in x if (y := v**2) > 0.3)


@PROGRAMS.at(X)
def condimport(x):
    from math import sqrt as r

    import numpy.linalg as la

    return r(x[0]) + la.norm(x)


@PROGRAMS.at(X)
def typ(x):
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    if type(x) is np.ndarray and x.ndim == 1:
        return np.sum(x) * x.ndim
    return 0.0


@PROGRAMS.at(X)
def unp(x):
    (a, b), c = (x[0], x[1]), x[2]
    a, b = b, a
    d = [*x]
    e = {**{"q": a}, "r": b}
    return a * 2 + b * 3 + c * 4 + d[0] * e["q"]


@PROGRAMS.at(X)
def lcn(x):
    m = [[v * w for w in x] for v in x]
    return (
        sum(m[i][i] for i in range(3))
        + sum(map(sum, m))
        + sum(a for row in zip(*m, strict=True) for a in row)
    )


@PROGRAMS.at(X)
def strk(x):
    s = "abc"
    return sum(x[i] * (ord(c) - 96) for i, c in enumerate(s)) * ("b" in s) + len(
        s.split("b")
    )


@PROGRAMS.at(X)
def whileelse(x):
    i = 0
    s = 0.0
    while i < 3:
        if x[i] > 5:
            break
        s += x[i]
        i += 1
    else:
        s *= 2
    return s


@PROGRAMS.at(X)
def ternchain(x):
    return (
        max(x[0], x[1], x[2])
        + min([x[0], x[1]], key=lambda v: -v)
        + abs(min(x))
        + round(2.6) * x[0]
        + divmod(7, 2)[1] * x[1]
    )


@PROGRAMS.at(X)
def nested_fn(x):
    def outer():
        t = x[0]

        def inner():
            nonlocal t
            t = t * 2
            return t

        return inner

    f = outer()
    return f() + f()


@PROGRAMS.at(X)
def gl(x):
    d = collections.defaultdict(list)
    for i, v in enumerate([x[0], x[1], x[2]]):
        d[i % 2].append(v)
    return sum(sum(v) ** 2 for v in d.values())


@PROGRAMS.at(X)
def cnt(x):
    c = collections.Counter("aab")
    return sum(c[k] * x[i] for i, k in enumerate(c))


@PROGRAMS.at(X)
def asrt(x):
    assert len(x) == 3 and x.shape == (3,), "bad"  # noqa: PT018
    assert isinstance(x, np.ndarray)
    return np.sum(x)


@PROGRAMS.at(X)
def delt(x):
    d = {"a": x[0], "b": x[1]}
    del d["a"]
    y = x * 2
    del y
    return sum(d.values())


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    verify(f, *args)
