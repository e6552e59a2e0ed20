"""assert, raise, pass, del, docstrings, print, f-strings, errstate, try/except."""

from __future__ import annotations

import warnings

import numpy as np

from tests.corpus import case, draw, positive


@case(
    positive(4, seed=1),
    kinds="assert",
    fails=[((np.array([1.0, -1.0]),), AssertionError, "positive")],
)
def geometric_mean(x):
    assert np.all(x > 0), "x must be positive"
    return np.exp(np.mean(np.log(x)))


@case(draw(3, 2, seed=2), draw(2, seed=3), wrt=("X", "w"), kinds="assert")
def assert_shapes(X, w):
    n, d = X.shape
    assert w.shape == (d,)
    assert X.ndim == 2, f"X has {X.ndim} dimensions"
    z = X @ w
    assert z.shape == (n,)
    return np.sum(np.log1p(np.exp(z)))


@case(0.3, kinds="assert", fails=[((1.5,), AssertionError, "")])
def assert_in_loop(p):
    s = 0.0
    for k in range(1, 5):
        assert 0 < p < 1
        s += p**k / k
    return s


@case(
    1.5,
    0.5,
    wrt=("x", "s"),
    kinds="raise",
    fails=[((1.0, -2.0), ValueError, "scale is -2.0")],
)
def normal_logpdf(x, s):
    if s <= 0:
        raise ValueError(f"scale is {s}")
    return -0.5 * (x / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi)


@case(
    draw(2, 2, seed=4), kinds="raise", fails=[((np.ones((2, 3)),), TypeError, "square")]
)
def trace_of_square(A):
    if A.shape[0] != A.shape[1]:
        raise TypeError("A must be square")
    return np.trace(A @ A)


class DivergedError(Exception):
    """Raised by `bounded_iteration` when its iterates leave the region."""


@case(0.4, kinds="raise", fails=[((3.0,), DivergedError, "step")])
def bounded_iteration(x):
    for i in range(10):
        x = x**2 + 0.1
        if x > 10:
            raise DivergedError("step", i)
    return x


@case(draw(5, seed=5), kinds="pass")
def pass_in_branches(x):
    y = np.sum(x)
    if y > 1000:
        pass
    elif y > 0:
        y = y**2
    else:
        pass
    for _ in range(3):
        pass
    return y * x[0]


@case(1.2, kinds="pass")
def ellipsis_body(x):
    def hook(v): ...

    hook(x)
    if x < 0:
        ...
    return x**3


@case(0.6, kinds="pass while")
def pass_in_while(x):
    k = 0
    while k < 3:
        k += 1
        if k == 2:
            pass
        else:
            x = x * (1 + x)
    return x


@case(draw(4, seed=6), kinds="del")
def delete_temporaries(x):
    a = np.exp(x)
    b = a * x
    del a
    c = np.sum(b)
    del b, x
    return c**2


@case(draw(3, seed=7), kinds="del")
def delete_and_rebind(x):
    y = x**2
    z = np.sum(y)
    del y
    y = z * x
    return np.sum(y)


@case(0.3, 0.9, wrt=("a", "b"), kinds="del")
def delete_from_containers(a, b):
    values = [a, b, a * b, a - b]
    del values[1]
    table = {"u": a, "v": b * b}
    del table["u"]
    return sum(values) * table["v"]


@case(draw(3, seed=8), kinds="docstring")
def documented(x):
    """Return half the squared length.

    x : (n,) float array
    """
    return 0.5 * np.dot(x, x)


def softplus(z):
    """log(1 + exp(z)), without overflow."""
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


@case(draw(4, seed=9), kinds="docstring helper")
def documented_helper(z):
    "One line."
    return np.sum(softplus(z))


@case(1.1, kinds="docstring")
def bare_strings(x):
    """Text."""
    y = x**2
    """Some people comment like this."""
    return y + x


@case(draw(3, seed=10), kinds="print")
def prints_progress(x):
    s = 0.0
    for i, v in enumerate(x):
        s += v**2
        print("step", i, "sum", round(s, 3))
    return s


@case(0.7, kinds="print fstring")
def prints_fstring(x):
    y = np.sin(x)
    print(f"y = {y:.4f} at x = {x!r}")
    return y * x


@case(draw(2, seed=11), True, wrt="x", kinds="print fstring")
def verbose_flag(x, verbose):
    loss = np.sum(x**4)
    if verbose:
        print(f"loss {loss:8.3f}", end="\n\n")
    return loss


@case(0.2, kinds="fstring")
def fstring_as_key(x):
    layers = {"w0": x, "w1": x**2, "w2": 3.0}
    total = 0.0
    for k in range(3):
        name = f"w{k}"
        total += layers[name] * (k + 1)
    return total


@case(
    np.array([0.5, 0.0, 2.0]),
    kinds="errstate",
    note="the entry at 0 is masked: its slope is a true zero",
)
def xlogx_quiet(p):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(p > 0.1, p * np.log(p), 0.0)
    return np.sum(y)


@case(draw(3, seed=12), kinds="errstate")
def errstate_over_loop(x):
    s = 0.0
    with np.errstate(all="raise"):
        for v in x:
            s += np.exp(v)
    return np.log(s)


@case(positive(3, seed=13), kinds="errstate")
def catch_warnings_block(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x / np.sum(x)
    return np.sum(y**2)


@case(1.4, kinds="errstate")
def printoptions_block(x):
    with np.printoptions(precision=3), np.errstate(over="ignore"):
        y = np.exp(x)
        print(np.array([y, 2.0]))
    return y


@case(2.0, kinds="try")
def try_without_exception(x):
    try:
        y = np.log(x)
    except ValueError:
        y = x
    return y * x


@case(3.0, 0, wrt="x", kinds="try")
def try_divides_by_zero(x, n):
    try:
        y = x / n
    except ZeroDivisionError:
        y = x**2
    return y + 1.0


@case(1.5, {}, wrt="x", kinds="try", generic=False)
def try_missing_key(x, options):
    try:
        power = options["power"]
    except KeyError:
        power = 3
    return x**power


@case(draw(3, seed=14), kinds="try")
def try_finally(x):
    try:
        y = np.sum(x**2)
    finally:
        z = x[0]
    return y * z
