"""Calls of user functions: helpers, defaults, keyword-only, *args, **kwargs, stars."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, toolbox
from tests.corpus.toolbox import rbf, sigmoid
from tests.corpus.toolbox import standardise as std


@case(draw(4, seed=1), kinds="helper")
def imported_helper(z):
    return np.sum(sigmoid(z) ** 2)


@case(draw(3, 2, seed=2), kinds="helper")
def imported_under_another_name(X):
    Z = std(X)
    return np.sum(Z**3)


@case(draw(3, seed=3), draw(3, seed=4), 0.8, wrt=("x", "y", "ell"), kinds="helper")
def module_attribute_helper(x, y, ell):
    return toolbox.rbf(x, y, ell) + rbf(y, y * 0.5, 2.0 * ell)


def affine(W, x, b):
    return W @ x + b


def hidden(W, x, b):
    return np.tanh(affine(W, x, b))


@case(
    draw(3, 2, seed=5),
    draw(3, seed=6),
    draw(2, seed=7),
    wrt=("W", "b", "x"),
    kinds="helper",
)
def helper_of_helper(W, b, x):
    h = hidden(W, x, b)
    return np.sum(affine(W.T, h, x))


def split_mean(x):
    m = np.mean(x)
    return m, x - m


@case(draw(5, seed=8), kinds="helper tuple_return")
def helper_returns_tuple(x):
    m, c = split_mean(x)
    return m**2 + np.sum(c**3)


@case(draw(3, seed=9), kinds="nested_def")
def nested_def(x):
    def square(v):
        return v * v

    def bump(v, width):
        return np.exp(-square(v) / width)

    return np.sum(bump(x, 2.0)) + square(x[0])


@case(0.6, kinds="nested_def")
def nested_called_in_loop(x):
    def step(y, k):
        if k % 2:
            return y * x
        return y + x

    y = 1.0
    for k in range(5):
        y = step(y, k)
    return y


@case(1.1, kinds="nested_def")
def function_returning_function(x):
    def scaler(a):
        def apply(v):
            return a * v

        return apply

    double = scaler(2.0)
    by_x = scaler(x)
    return by_x(double(x))


@case(draw(3, seed=10), kinds="lambda")
def lambda_local(x):
    square = lambda v: v * v  # noqa: E731 - people write this
    return np.sum(square(x) + square(2.0 * x))


@case(0.9, kinds="lambda")
def lambda_argument(x):
    def integrate(g, a, n):
        h = a / n
        total = 0.0
        for i in range(n):
            total += h * g((i + 0.5) * h)
        return total

    return integrate(lambda t: np.exp(-t * t), x, 8)


@case(draw(3, seed=11), kinds="lambda")
def lambda_table(x):
    layers = [lambda v: np.tanh(v), lambda v: v**2, lambda v: v * x]
    h = x
    for f in layers:
        h = f(h)
    return np.sum(h)


def elastic(w, l1=0.1, l2=0.01):
    return l1 * np.sum(np.abs(w)) + l2 * np.sum(w**2)


@case(draw(3, seed=12), kinds="defaults")
def defaults_of_helper(w):
    return elastic(w) + elastic(w, 0.5) + elastic(w, l2=2.0)


@case(draw(3, seed=13), kinds="defaults")
def own_default(x, power=3, weights=np.array([1.0, 2.0, 3.0])):
    return np.sum(weights * x**power)


@case(0.5, wrt=("x", "s"), kinds="defaults")
def differentiated_default(x, s=1.5):
    return np.exp(-s * x) * s


def gaussian(x, *, mu=0.0, sigma):
    return np.exp(-0.5 * ((x - mu) / sigma) ** 2) / sigma


@case(draw(3, seed=14), 0.7, wrt=("x", "s"), kinds="kw_only")
def keyword_only_helper(x, s):
    return np.sum(gaussian(x, sigma=s) * gaussian(x, mu=0.5, sigma=2.0))


@case(draw(3, seed=15), kwargs={"scale": 0.4}, wrt=("x", "scale"), kinds="kw_only")
def keyword_only_parameter(x, *, scale, shift=0.25):
    return np.sum(np.tanh(x * scale + shift))


@case(draw(2, seed=16), kwargs={"beta": 1.5}, wrt="x", kinds="kw_only")
def keyword_only_constant(x, /, *, beta=1.0):
    return np.log(np.sum(np.exp(beta * x))) / beta


def total(*terms):
    s = 0.0
    for t in terms:
        s = s + t
    return s


@case(0.3, 0.4, 0.5, wrt=("a", "b", "c"), kinds="star_args")
def helper_with_star_args(a, b, c):
    return total(a * b, b * c, c * a) * total(a)


@case(1.0, 0.5, 0.25, wrt="x", kinds="star_args", generic=False)
def own_star_args(x, *coefficients):
    p = 0.0
    for c in coefficients:
        p = p * x + c
    return p**2


@case(0.3, -0.8, 1.9, wrt="values", kinds="star_args", generic=False)
def all_in_star_args(*values):
    return sum(v**2 for v in values) * values[0]


def weighted(x, **options):
    y = x * options.get("gain", 1.0)
    if "bias" in options:
        y = y + options["bias"]
    return y


@case(0.8, kinds="star_kwargs")
def helper_with_kwargs(x):
    return weighted(x, gain=x) * weighted(x, bias=2.0) + weighted(x)


@case(1.2, kwargs={"a": 0.5, "b": 2.0}, wrt="x", kinds="star_kwargs", generic=False)
def own_kwargs(x, **weights):
    s = 0.0
    for name, w in weights.items():
        s += w * x ** len(name)
    return s * x


def forwarding(x, *args, **kwargs):
    return gaussian(x, *args, **kwargs)


@case(0.4, 0.9, wrt=("x", "s"), kinds="star_kwargs star_args")
def forwarded_arguments(x, s):
    return forwarding(x, mu=0.1, sigma=s)


@case([0.5, -0.2, 1.5], wrt="p", kinds="star_unpack unpack", generic=False)
def star_in_call(p):
    return total(*p) * affine(np.eye(1) * p[0], np.ones(1), p[1])[0]


@case(draw(5, seed=17), kinds="star_unpack unpack", generic=False)
def star_in_assignment(x):
    first, *middle, last = x
    return first * last + sum(m**2 for m in middle)


@case(draw(3, seed=18), kinds="star_unpack")
def star_in_list(x):
    left = [x[0], x[1] ** 2]
    both = [*left, x[2], *left]
    options = {"mu": x[1], **{"sigma": 1.5}}
    return np.prod(np.array(both)) + gaussian(x[0], **options)


@case((0.4, 1.2), wrt="pair", kinds="unpack tuple_return", generic=False)
def unpack_parameter(pair):
    a, b = pair
    (c, d), e = (a * b, a - b), b
    return c * d + e**2
