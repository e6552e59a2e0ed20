"""Objects, patterns, lists and draws as people write them around the mathematics."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import enum

import numpy as np
import pytest

import symback
from tests.lower.plain import Programs, verify

X = np.array([0.5, 0.7, 0.9])
A = np.arange(1.0, 7.0).reshape(3, 2) / 7
W = np.array([1.0, 2.0, 3.0])
PROGRAMS = Programs()


class Base:
    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return np.sum(x**2) * self.k


class Sub(Base):
    def __init__(self, k):
        super().__init__(k)
        self.j = 3.0

    def loss(self, x):
        return super().loss(x) + self.j * np.sum(x)


SUB = Sub(2.0)


@PROGRAMS.at(X)
def sup(x):
    return SUB.loss(x)


@PROGRAMS.at(X)
def sup2(x):
    return Sub(x[0]).loss(x)


class Kind(enum.Enum):
    A = 1
    B = 2


@PROGRAMS.at(X, Kind.A)
@PROGRAMS.at(X, Kind.B)
def enums(x, kind):
    if kind is Kind.A:
        return np.sum(x)
    return np.sum(x**kind.value) if kind == Kind.B else 0.0


@PROGRAMS.at(X, {1, 2})
def sets(x, keep):
    return sum(v for i, v in enumerate(x) if i in keep) + len(keep)


@PROGRAMS.at(X, range(1, 3))
def ranges(x, rows):
    return sum(x[i] ** 2 for i in rows) + len(rows)


@PROGRAMS.at(X, collections.defaultdict(float, a=2.0))
def ddict(x, d):
    return np.sum(x) * d["a"] + d["zz"]


@PROGRAMS.at(X, [1, 2])
def patterns(x, p):
    match p:
        case [a, b]:
            return x[0] * a + x[1] * b
    return x[2]


@PROGRAMS.at(X, {"op": "sq", "k": 2.0})
@PROGRAMS.at(X, {"op": "other"})
def mapping(x, p):
    match p:
        case {"op": "sq", "k": k}:
            return np.sum(x**2) * k
        case {"op": name, **rest}:
            return np.sum(x) * len(name) + len(rest)
    return x[2]


@dataclasses.dataclass
class P:
    a: float
    b: float


@PROGRAMS.at(X)
def classpat(x):
    p = P(x[0], x[1])
    match p:
        case P(a=u, b=v):
            return u * v
    return 0.0 * x[0]


@PROGRAMS.at(X)
def strformat(x):
    name = "{}-{}".format("a", 1)
    key = f"a-{1}"
    d = {"a-1": x[0]}
    return d[name] * 2 + d[key]


@PROGRAMS.at(2.0, 3)
def rec(x, n):
    def p(k):
        return 1.0 if k == 0 else x * p(k - 1)

    return p(n)


@PROGRAMS.at(0.7)
def recnum(x):
    def f(y, d):
        if d <= 0:
            return y
        return f(y * x, d - 1)

    return f(x, 4)


@PROGRAMS.at(X, 2)
@PROGRAMS.at(X, 1)
def ords(x, o):
    return np.linalg.norm(x, ord=o)


@PROGRAMS.at(X)
def seeded(x):
    return np.sum(x * np.random.default_rng(0).normal(size=3))


@PROGRAMS.at(X)
def seeded2(x):
    rng = np.random.default_rng(42)
    noise = rng.standard_normal(3)
    z = rng.uniform(0, 1)
    return np.sum((x + noise) ** 2) * z


@PROGRAMS.at(X)
def seeded3(x):
    rng = np.random.RandomState(3)
    s = 0.0
    for i in range(3):
        s = s + x[i] * rng.rand()
    return s


@PROGRAMS.at(X)
def rc(x):
    return np.sum(np.r_[x, 1:4] ** 2)


@PROGRAMS.at(X)
def rc2(x):
    return np.sum(np.r_[[x[0], 2.0], x, 0:1:3j] ** 2) + np.sum(
        np.c_[x, [1.0, x[1], 2.0]] ** 2
    )


@PROGRAMS.at(X)
def lists(x):
    return (
        np.sum(np.concatenate(([x[0]], x)) ** 2)
        + np.sum(np.hstack([[x[0], x[1]], x]) ** 2)
        + np.sum(np.stack([[x[0], x[1]], [x[1], 1.0]]) ** 2)
        + np.sum(np.append(x, [x[0] * 2]) ** 2)
        + np.sum(np.append([x[0]], 3.0) ** 2)
        + np.sum(np.vstack(([x[0], x[1], 1.0], x)) ** 2)
    )


@PROGRAMS.at(A)
def ein(a):
    return np.sum(np.einsum(a, [0, 1], [1, 0]) * W) + np.einsum(a, [0, 1], a, [0, 1])


@PROGRAMS.at(X)
def ndarr(x):
    y = np.ndarray((3,))
    y[:] = x * 2
    k = np.uint8(2)
    return np.sum(y) * k


@PROGRAMS.at(0.7)
def bis(x):
    i = bisect.bisect([0.0, 1.0, 2.0], 1.5)
    return x * i


@PROGRAMS.at(X)
def shape1(x):
    return np.sum(x) if x.shape == (3,) and x.shape != 1 else 0.0


@PROGRAMS.at(A)
def nestidx(a):
    return np.sum(a[[[0, 1], [2, 0]], [[0, 1], [1, 0]]] ** 2)


@PROGRAMS.at(A)
def putfew(a):
    y = a * 1.0
    np.put(y, [0, 1, 2], [5.0, a[0, 0]])
    return np.sum(y**2)


@PROGRAMS.at(X)
def placefew(x):
    y = x * 1.0
    np.place(y, y > 0.6, [x[0]])
    return np.sum(y**2)


@PROGRAMS.at(X)
def masknum(x):
    s = np.sum(x)
    return np.sum(s[s > 0] ** 2) + np.sum(s[None] ** 2) + np.sum(s[np.newaxis, ...] * 2)


def helper(f, x, *a, **k):
    return f(x, *a, **k)


@PROGRAMS.at(A)
def npfun(a, red=np.sum):
    return (
        red(helper(np.exp, a))
        + helper(np.mean, a, axis=0)[1]
        + (lambda f=np.max: f(a))()
    )


@PROGRAMS.at(X)
def npr(x):
    np.random.normal(size=3)
    return np.sum(x**2)


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    verify(f, *args)


def test_a_member_of_an_enumeration_and_a_set_make_texts_of_their_own():
    class Power(enum.Enum):
        TWO = 2
        THREE = 3

    def f(x, power, keep):
        return sum(v**power.value for k, v in enumerate(x) if k in keep)

    grad = symback.grad(f)
    np.testing.assert_allclose(grad(X, Power.TWO, {0}), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(grad(X, Power.THREE, {0}), [0.75, 0.0, 0.0])
    np.testing.assert_allclose(grad(X, Power.THREE, {1, 2}), 3 * X**2 * [0, 1, 1])


def test_draws_from_a_hidden_state_reach_no_loss():
    def f(x):
        return np.sum(x * np.random.normal(size=3))

    with pytest.raises(symback.UnsupportedSyntaxError, match="hidden state"):
        symback.grad(f)(X)


def test_a_sparse_matrix_is_refused_by_name():
    sparse = pytest.importorskip("scipy.sparse")

    def f(x):
        return np.sum(sparse.csr_matrix(np.eye(3)).dot(x) ** 2)

    with pytest.raises(symback.UnsupportedSyntaxError, match="sparse matrix"):
        symback.grad(f)(X)


class Layer:
    def __init__(self, size):
        self.w, self.b = np.ones(size), 0.5

    @property
    def total(self):
        return np.sum(self.w) + self.b


@dataclasses.dataclass
class Checked:
    w: np.ndarray
    b: float

    def __post_init__(self):
        if self.b < 0:
            raise ValueError("negative")


@pytest.mark.parametrize("layer", [Layer(3), Checked(np.ones(3), 0.5)])
def test_the_gradient_of_an_object_is_made_without_its_constructor(layer):
    def loss(p, x):
        return np.sum((p.w * x) ** 2) - 3 * p.b

    gradient = symback.grad(loss)(layer, X)
    assert type(gradient) is type(layer)
    np.testing.assert_allclose(gradient.w, 2 * X**2)
    assert gradient.b == -3.0


def test_what_is_computed_is_no_parameter():
    layer = Layer(3)

    class Loss:
        def __init__(self):
            self.k = 1.0

        @property
        def twice(self):
            return 2 * self.k

        def of(self, x):
            return layer.total * self.twice * np.sum(x)

    with pytest.raises(symback.NotDifferentiableError, match="computed"):
        symback.differentiable(Loss().of, wrt="twice").grad_fn(X)


def test_a_gradient_that_is_permuted_owns_its_memory():
    def f(a, w):
        return np.sum(np.einsum(a, [0, 1], [1, 0]) * w)

    w = np.array([1.0, 2.0, 3.0])
    gradient = symback.grad(f)(A, w)
    np.testing.assert_array_equal(gradient, np.outer(w, np.ones(2)))
    assert not np.shares_memory(gradient, w)
    gradient[0] = 0.0  # it can be written
