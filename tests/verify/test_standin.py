"""The stand-in computes what NumPy, `math` and SciPy compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

from symback.verify.concolic import Concolic, Tape
from symback.verify.elements import Element, SymbolicValueError
from symback.verify.precise import PreciseHome
from symback.verify.rebind import Rebinder, using
from symback.verify.slopes import inputs_of
from symback.verify.standin import as_array

RNG = np.random.default_rng(5)
V = RNG.uniform(0.2, 0.9, size=4)
W = RNG.normal(size=4)
M = RNG.normal(size=(3, 4))
S = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])
I = np.array([2, 0, 2])  # noqa: E741 - the name of index arrays

CALLS: dict[str, Callable[[], Any]] = {}


def call(text: str, *args: Any) -> None:
    names = ", ".join("xyz"[: len(args)])
    scope = {"np": np, "math": math, "scipy": scipy, "I": I}
    function = eval(f"lambda {names}: {text}", scope)
    CALLS[f"{text} {len(CALLS)}"] = lambda: (function, args)


for _name in (
    "exp expm1 exp2 log log2 log10 log1p sqrt cbrt square reciprocal sin cos tan "
    "arcsin arccos arctan sinh cosh tanh arcsinh arctanh sign floor ceil trunc rint "
    "abs fabs negative deg2rad rad2deg sinc i0 isnan isfinite signbit"
).split():
    call(f"np.{_name}(x)", V)
for _name in (
    "maximum minimum fmax fmin hypot arctan2 logaddexp logaddexp2 copysign power mod "
    "fmod floor_divide add subtract multiply divide heaviside greater equal"
).split():
    call(f"np.{_name}(x, y)", V, np.abs(W))
for _text in (
    "x.sum()",
    "x.sum(axis=0, keepdims=True)",
    "x.mean(axis=1)",
    "x.var(ddof=1)",
    "x.std(axis=0)",
    "x.max(axis=1)",
    "x.min()",
    "x.prod(axis=0)",
    "x.argmax(axis=1)",
    "np.argsort(x, axis=0)",
    "np.sort(x, axis=1)",
    "np.median(x)",
    "np.median(x, axis=0)",
    "np.percentile(x, 30, axis=1)",
    "np.quantile(x, [0.2, 0.7])",
    "np.cumsum(x, axis=1)",
    "np.cumprod(x)",
    "np.ptp(x, axis=0)",
    "np.average(x, axis=1, weights=[1.0, 2.0, 0.5, 1.0])",
    "np.diff(x, axis=1)",
    "np.gradient(x[0])",
    "np.trapezoid(x, axis=1)",
    "np.linalg.norm(x)",
    "np.linalg.norm(x, axis=1)",
    "np.linalg.norm(x[0], 3)",
    "np.linalg.norm(x, np.inf)",
    "np.where(x > 0, x, -2 * x)",
    "np.clip(x, -0.5, 0.5)",
    "np.round(x, 1)",
    "x.T @ x",
    "np.einsum('ij,kj->ik', x, x)",
    "np.tensordot(x, x, axes=([1], [1]))",
    "np.kron(x[:2], x[1:])",
    "np.outer(x[0], x[1])",
    "np.vdot(x, x)",
    "np.concatenate([x, x[:1]], axis=0)",
    "np.stack([x[0], x[1]], axis=1)",
    "np.tile(x, (2, 1))",
    "np.repeat(x, 2, axis=0)",
    "np.roll(x, 1, axis=1)",
    "np.flip(x, 0)",
    "np.pad(x, 1)",
    "np.pad(x, ((0, 1), (2, 0)), mode='edge')",
    "np.tril(x)",
    "np.diag(x[0])",
    "np.trace(x)",
    "np.take(x, I, axis=1)",
    "x[:, I]",
    "x[x > 0]",
    "np.insert(x[0], 1, 5.0)",
    "np.delete(x, 1, axis=1)",
    "np.convolve(x[0], x[1])",
    "np.interp(0.3, [0.0, 0.5, 1.0], x[0, :3])",
    "np.vander(x[0], 3)",
    "np.cov(x)",
    "np.corrcoef(x)",
    "np.select([x > 1, x > 0], [x, x**2], 0.5)",
    "np.bincount(I, weights=x[:, 0])",
    "np.nan_to_num(x)",
    "np.nansum(np.where(x > 0, x, np.nan), axis=0)",
    "np.nanmean(np.where(x > 0, x, np.nan))",
    "np.add.reduce(x, axis=1)",
    "np.multiply.outer(x[0], x[1])",
    "np.maximum.accumulate(x, axis=1)",
    "np.linspace(x[0, 0], x[0, 1], 4)",
    "np.full((2, 2), x[0, 0])",
    "np.zeros_like(x) + np.ones(4) + np.eye(3, 4)",
    "np.cross(x[0, :3], x[1, :3])",
    "np.meshgrid(x[0], x[1])[0]",
    "np.broadcast_to(x[0], (2, 4))",
    "np.apply_along_axis(lambda r: r.sum(), 1, x)",
    "abs(np.fft.fft(x[0])) ** 2",
    "np.fft.irfft(np.fft.rfft(x[0]))",
    "np.real(np.exp(1j * x))",
):
    call(_text, M)
for _text in (
    "np.linalg.inv(x)",
    "np.linalg.det(x)",
    "np.linalg.slogdet(x)[1]",
    "np.linalg.solve(x, x[0])",
    "np.linalg.solve(x, x)",
    "np.linalg.cholesky(x)",
    "np.linalg.qr(x)[0]",
    "np.linalg.qr(x)[1]",
    "np.linalg.matrix_power(x, 3)",
    "np.linalg.pinv(x[:, :2])",
    "np.linalg.multi_dot([x, x, x[0]])",
    "np.linalg.inv(np.stack([x, 2 * x]))",
    "scipy.linalg.solve_triangular(x, x[0], lower=True)",
    "scipy.linalg.cho_solve(scipy.linalg.cho_factor(x), x[0])",
    "scipy.stats.multivariate_normal.logpdf(x[0], x[1], x)",
):
    call(_text, S)
for _text in (
    "erf erfc expit logit gammaln gamma psi ndtr log_ndtr ndtri entr j0 j1 i0 k0 i0e "
    "expm1 log1p erfinv exprel dawsn erfcx ellipk spence"
).split():
    call(f"scipy.special.{_text}(x)", V)
call("scipy.special.xlogy(x, y)", V, np.abs(W))
call("scipy.special.logsumexp(x, axis=1)", M)
call("scipy.special.softmax(x, axis=0)", M)
call("scipy.special.log_softmax(x, axis=1)", M)
for _name, _shapes in {
    "norm": "",
    "expon": "",
    "logistic": "",
    "laplace": "",
    "cauchy": "",
    "gumbel_r": "",
    "t": "3.5,",
    "gamma": "2.2,",
    "beta": "1.5, 2.5,",
    "chi2": "3.0,",
    "lognorm": "0.7,",
    "weibull_min": "1.4,",
    "invgamma": "1.8,",
}.items():
    call(f"scipy.stats.{_name}.logpdf(x, {_shapes} -0.1, 1.3)", V)
call("scipy.stats.norm.cdf(x, 0.1, 2.0)", V)
call("scipy.stats.norm.ppf(x)", V)
call("scipy.stats.poisson.logpmf(I, x)", 1.7)
call("scipy.stats.binom.logpmf(I, 3, x)", 0.4)
for _text in (
    "math.exp(x) + math.log(x, 3) + math.sqrt(x)",
    "math.atan2(x, 2) + math.hypot(x, 1.5, 2)",
    "math.erf(x) + math.lgamma(x) + math.gamma(x)",
    "math.fsum([x, x * x]) + math.prod([x, 3]) + math.copysign(2, -x)",
    "max(x, 0.3) + min(x, 2) + abs(-x) + x // 0.3 + x % 0.3 + round(x, 1)",
    "int(10 * x) + float(x) + math.floor(5 * x) + sum([x, x])",
):
    call(_text, 0.62)


def floats(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.frompyfunc(floats, 1, 1)(x.view(np.ndarray)).astype(float)
    return float(x.value) if isinstance(x, Element) else float(x)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["symbols", "digits"])
def test_same_value_as_numpy(name: str, kind: str) -> None:
    function, args = CALLS[name]()
    expected = function(*args)
    home: Any = Tape(40) if kind == "symbols" else PreciseHome(40)

    def symbols(x: Any, letter: str) -> Any:
        if kind == "digits":
            return inputs_of(x, home) if np.ndim(x) else home.input(x)
        if not np.ndim(x):
            return home.input(letter, x)
        made = np.empty(x.shape, dtype=object)
        for i in np.ndindex(*x.shape):
            made[i] = home.input(f"{letter}{i}", x[i])
        return as_array(made, home)

    with using(home):
        found = Rebinder()(function)(
            *(symbols(a, n) for a, n in zip(args, "xyz", strict=False))
        )
    assert getattr(found, "shape", ()) == np.shape(expected)
    assert np.allclose(floats(found), expected, rtol=1e-12, atol=1e-13)
    if np.asarray(expected).dtype.kind == "f" and kind == "symbols":
        items = found.view(np.ndarray).flat if np.ndim(expected) else [found]
        assert all(isinstance(i, Concolic) for i in items)


def test_what_has_no_form_says_so() -> None:
    tape = Tape(30)
    x = as_array([[tape.input("a", 2.0), 0.1], [0.1, tape.input("b", 3.0)]], tape)
    with using(tape), pytest.raises(SymbolicValueError, match="eigh has no symbolic"):
        np.linalg.eigh(x)
    with using(tape), pytest.raises(SymbolicValueError, match="forced to float64"):
        float(x[0, 0])


def test_comparisons_are_noted_once_with_their_answer() -> None:
    tape = Tape(30)
    x = tape.input("x", 2.0)
    assert x > 1
    assert not x < 1
    assert x > 1
    assert [str(c) for c in tape.conditions] == ["x > 1", "x >= 1"]
    tie = Tape(30)
    y = tie.input("y", 1.0)
    assert y >= 1
    assert tie.conditions[0].tie


def test_constants_are_exact() -> None:
    with using(Tape(30)):
        np_ = Rebinder()(np)
        assert str((np_.sqrt(2) * np_.pi).expr) == "sqrt(2)*pi"
        assert str(np_.mean(np_.ones(3)).expr) == "1"
    rounded = Tape(30)
    rounded.exact = False
    with using(rounded):
        assert float(Rebinder()(np).sqrt(2).payload) == math.sqrt(2)


def test_user_objects_are_followed_and_left_alone() -> None:
    class Layer:
        def __init__(self, W: Any) -> None:
            self.W = W

        def __call__(self, x: Any) -> Any:
            return np.tanh(self.W @ x)

        @property
        def size(self) -> Any:
            return np.sum(self.W**2)

    layer = Layer(M[:, :3])

    def f(x: Any) -> Any:
        made = Layer(np.eye(3))
        return np.sum(layer(x)) + layer.size + np.sum(made(x))

    tape = Tape(30)
    x = as_array([tape.input(f"x{i}", 0.1 * i) for i in range(3)], tape)
    with using(tape):
        found = Rebinder()(f)(x)
    assert np.isclose(float(found.value), f(np.array([0.0, 0.1, 0.2])))
    assert type(layer) is Layer
    assert layer.W.dtype == float
