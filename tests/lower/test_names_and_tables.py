"""Names, tables from outside and early returns, as people write them."""

from __future__ import annotations

import linecache
import math

import numpy as np
import pytest

from tests.lower.plain import Programs, verify

X = np.array([0.5, 0.7, 0.9])
A = np.arange(1.0, 7.0).reshape(3, 2) / 7
PROGRAMS = Programs()


SCALES = [1.0, 2.0, 3.0]
CONF = {"lr": 0.5, "w": np.ones(3), "nest": {"k": [np.arange(3.0), 2.0]}}
TABLE = [(np.arange(3.0), 2.0), (np.arange(3.0) + 1, 3.0)]


@PROGRAMS.at(0.7, 2)
def table(x, n):
    s = 0.0
    for i in range(n):
        values, weight = TABLE[i]
        s += np.sum(values * x) * weight
    return s


@PROGRAMS.at(X)
def conf(x):
    s = 0.0
    for k in range(3):
        s = s + x[k] * SCALES[k] * CONF["lr"] + np.sum(CONF["nest"]["k"][0]) * x[0]
    return s


@PROGRAMS.at(X)
def glob_in_branch(x):
    if x[0] > 0.1:
        return np.sum(x * CONF["w"])
    return x[0] * CONF["lr"]


@PROGRAMS.at(X)
def firstloop(x):
    for k in range(3):
        y = np.stack([x, x * k])
    return np.sum(y**2)


@PROGRAMS.at(X)
def firstloop2(x):
    for v in x:
        if v > 0.6:
            z = v * 2
    return z**2


@PROGRAMS.at(X, 1.0)
@PROGRAMS.at(X, -1.0)
def onebranch(x, c):
    if c > 0:
        a = x * 2.0
    else:
        b = x * 3.0
    z = np.sum(x)
    return np.sum(np.sin(a)) * z if c > 0 else np.sum(b * b) * z


@PROGRAMS.at(X)
def depth(x):
    if x[0] > 0.1:
        if x[1] > 5.0:
            return np.sum(x)
        v = x * 3.0
    else:
        v = x * 2.0
    return np.sum(v)


@PROGRAMS.at(X)
def loopret(x):
    for i in range(3):
        for j in range(3):
            if x[i] * x[j] > 0.6:
                return x[i] * x[j]
    return x[0]


@PROGRAMS.at(X)
def readfirst(x):
    for i in range(3):
        if i > 0:
            s = prev * x[i]  # noqa: F821
        else:
            s = x[0]
        prev = s + 1
    return prev


@PROGRAMS.at(X)
def whileassign(x):
    i = 0
    while i < 3:
        t = x[i] ** 2 if i == 0 else t + x[i]  # noqa: F821
        i += 1
    return t


@PROGRAMS.at(X)
def edots(x):
    y = np.zeros(3)
    for i in range(2):
        y[...] = y + x * i
    return np.sum(y**2)


@PROGRAMS.at(0.3)
def edge2(x):
    return math.acos(1 - x) + math.atanh(x) + math.hypot(x, 0.0)


@PROGRAMS.at(X)
def boolidx(x):
    m = [True, False, True]
    return np.sum(x[m] ** 2) + np.sum(x[[0, 2]]) + x[-1]


@PROGRAMS.at(X)
def strparam(x, how="mean"):
    return getattr(np, how)(x)


@PROGRAMS.at(X, np.mean)
def fnparam(x, f):
    return f(x**2)


@PROGRAMS.at(X)
def lookupfn(x):
    return {"sq": lambda v: v**2, "id": lambda v: v}["sq"](x).sum()


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    verify(f, *args)


def test_many_early_returns():
    lines = [
        f"    if y > 1.{k}: return y * {k}\n    y = y * 1.01\n" for k in range(10, 35)
    ]
    text = "def f(x):\n    y = x\n" + "".join(lines) + "    return y\n"
    file = "<many early returns>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {}
    exec(compile(text, file, "exec"), namespace)
    verify(namespace["f"], 0.3)
    verify(namespace["f"], 1.05)
