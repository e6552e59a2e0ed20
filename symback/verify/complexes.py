"""Complex numbers whose parts are elements, for real losses with complex insides."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from . import functions as fn
from .arrays import (
    SymArray,
    as_array,
    elementwise,
    finish,
    plain,
)
from .elements import Element, SymbolicValueError, is_number
from .functions import element, home

__all__ = ["FFT", "ComplexElement", "call", "to_complex"]


class ComplexElement:
    """A pair of elements, real and imaginary part.

    >>> from symback.verify.concolic import Tape
    >>> from symback.verify.standin import using
    >>> with using(Tape(30)) as tape:
    ...     z = ComplexElement(tape.input("a", 3.0), tape.input("b", 4.0))
    ...     float(abs(z).value), (z * z).imag.expr
    (5.0, 2*a*b)
    """

    __slots__ = ("imag", "real")

    shape: tuple[()] = ()
    ndim = 0
    size = 1

    def __init__(self, real: Any, imag: Any) -> None:
        self.real = real
        self.imag = imag

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.complex128)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        from .ufuncs import apply_ufunc

        return apply_ufunc(home(), ufunc, method, inputs, kw)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        from .standin import apply_function

        return apply_function(home(), function, args, kwargs)

    def conjugate(self) -> ComplexElement:
        return ComplexElement(self.real, -self.imag)

    conj = conjugate

    def item(self) -> ComplexElement:
        return self

    def __add__(self, other: Any) -> Any:
        b = parts(other)
        if b is None:
            return NotImplemented
        return ComplexElement(self.real + b[0], self.imag + b[1])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        b = parts(other)
        if b is None:
            return NotImplemented
        return ComplexElement(self.real - b[0], self.imag - b[1])

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> ComplexElement:
        return ComplexElement(-self.real, -self.imag)

    def __pos__(self) -> ComplexElement:
        return self

    def __mul__(self, other: Any) -> Any:
        b = parts(other)
        if b is None:
            return NotImplemented
        return ComplexElement(
            self.real * b[0] - self.imag * b[1], self.real * b[1] + self.imag * b[0]
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        b = parts(other)
        if b is None:
            return NotImplemented
        size = b[0] * b[0] + b[1] * b[1]
        top = self * ComplexElement(b[0], -b[1])
        return ComplexElement(top.real / size, top.imag / size)

    def __rtruediv__(self, other: Any) -> Any:
        b = parts(other)
        return NotImplemented if b is None else ComplexElement(*b) / self

    def __pow__(self, other: Any) -> Any:
        return call("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return call("power", other, self)

    def __abs__(self) -> Any:
        return fn.sqrt(self.real * self.real + self.imag * self.imag)

    def __eq__(self, other: object) -> Any:
        b = parts(other)
        if b is None:
            return NotImplemented
        return bool(self.real == b[0]) and bool(self.imag == b[1])

    def __bool__(self) -> bool:
        return bool(self.real != 0) or bool(self.imag != 0)

    def __hash__(self) -> int:
        return id(self)


def parts(x: Any) -> tuple[Any, Any] | None:
    """Return real and imaginary part as elements, None for what is no number."""
    if isinstance(x, ComplexElement):
        return x.real, x.imag
    if isinstance(x, Element):
        return x, element(0)
    if isinstance(x, (complex, np.complexfloating)):
        return element(float(x.real)), element(float(x.imag))
    if is_number(x):
        return element(x), element(0)
    return None


def complex_of(x: Any) -> ComplexElement:
    """Return a number or an element as a pair."""
    found = parts(x)
    if found is None:
        raise SymbolicValueError(f"{type(x).__name__} is no complex number")
    return ComplexElement(*found)


def to_complex(x: Any) -> Any:
    """Return an array as one of pairs."""
    array = plain(x)
    made = np.empty(array.shape, dtype=object)
    flat = made.reshape(-1)
    for i, v in enumerate(array.reshape(-1).tolist()):
        flat[i] = complex_of(v)
    return made.view(SymArray)


def angle(z: ComplexElement) -> Any:
    return fn.arctan2(z.imag, z.real)


def call(name: str, *args: Any) -> Any:
    """Return an elementary function of complex arguments."""
    z = complex_of(args[0])
    if name == "exp":
        size = fn.exp(z.real)
        return ComplexElement(size * fn.cos(z.imag), size * fn.sin(z.imag))
    if name == "log":
        return ComplexElement(fn.log(abs(z)), angle(z))
    if name == "sqrt":
        return _polar(fn.sqrt(abs(z)), angle(z) / 2)
    if name == "power":
        return _power(z, args[1])
    if name in ("sin", "cos"):
        up = call("exp", ComplexElement(-z.imag, z.real))
        down = call("exp", ComplexElement(z.imag, -z.real))
        if name == "cos":
            return (up + down) / 2
        return (up - down) / ComplexElement(element(0), element(2))
    if name in ("sinh", "cosh", "tanh"):
        up, down = call("exp", z), call("exp", -z)
        if name == "tanh":
            return (up - down) / (up + down)
        return ((up + down) if name == "cosh" else (up - down)) / 2
    raise SymbolicValueError(f"{name} of complex numbers has no symbolic form")


def _polar(size: Any, turn: Any) -> ComplexElement:
    return ComplexElement(size * fn.cos(turn), size * fn.sin(turn))


def _power(z: ComplexElement, exponent: Any) -> Any:
    if isinstance(exponent, Element) and exponent.home.reals.context.isint(
        exponent.value
    ):
        exponent = int(exponent.value)
    if isinstance(exponent, float) and exponent.is_integer():
        exponent = int(exponent)
    if isinstance(exponent, (int, np.integer)):
        if exponent < 0:
            return 1 / _power(z, -exponent)
        result = ComplexElement(element(1), element(0))
        for _ in range(exponent):
            result = result * z
        return result
    return call("exp", call("log", z) * exponent)


# ---------------------------------------------------------------- Fourier transforms


def _cosine(k: int, n: int) -> Any:
    """cos(2πk/n), exact where it is rational."""
    exact = {0: 1, n: 1, n / 2: -1, n / 4: 0, 3 * n / 4: 0}.get(k % n)
    if exact is not None:
        return element(exact)
    return fn.cos(fn.constant("pi") * element(Fraction(2 * (k % n), n)))


def _sine(k: int, n: int) -> Any:
    exact = {0: 0, n / 2: 0, n / 4: 1, 3 * n / 4: -1}.get(k % n)
    if exact is not None:
        return element(exact)
    return fn.sin(fn.constant("pi") * element(Fraction(2 * (k % n), n)))


def _transform(x: Any, n: int | None, axis: int, norm: str | None, sign: int) -> Any:
    array = to_complex(np.moveaxis(as_array(x, home()), axis, -1))
    base = plain(array)
    size = int(base.shape[-1] if n is None else n)
    if base.shape[-1] < size:
        pad = [(0, 0)] * (base.ndim - 1) + [(0, size - base.shape[-1])]
        zero: Any = complex_of(0)
        base = np.pad(base, pad, constant_values=zero)
    base = base[..., :size]
    waves = np.empty((size, size), dtype=object)
    for j in range(size):
        for k in range(size):
            waves[j, k] = ComplexElement(
                _cosine(j * k, size), sign * _sine(j * k, size)
            )
    result = np.dot(base, waves)
    forward = sign < 0
    if norm == "ortho":
        result = result / fn.sqrt(element(size))
    elif (norm == "forward") == forward:
        result = result / element(size)
    return finish(np.moveaxis(result, -1, axis))


def fft(x: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    return _transform(x, n, axis, norm, -1)


def ifft(x: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    return _transform(x, n, axis, norm, 1)


def rfft(x: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    size = np.shape(x)[axis] if n is None else n
    full = np.moveaxis(fft(x, n, axis, norm), axis, -1)
    return np.moveaxis(full[..., : size // 2 + 1], -1, axis)


def irfft(x: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    half = np.moveaxis(to_complex(as_array(x, home())), axis, -1)
    size = int(2 * (half.shape[-1] - 1) if n is None else n)
    base = plain(half)[..., : size // 2 + 1]
    made = np.empty((*base.shape[:-1], size), dtype=object)
    made[...] = complex_of(0)
    made[..., : base.shape[-1]] = base
    # A real signal's transform is Hermitian; imaginary parts at 0 and n/2 are unused.
    for k in range(1, (size + 1) // 2):
        if k < base.shape[-1]:
            made[..., size - k] = elementwise(fn.conjugate, base[..., k])
    for k in {0, size // 2} if size % 2 == 0 else {0}:
        if k < base.shape[-1]:
            made[..., k] = elementwise(lambda z: complex_of(z.real), base[..., k])
    full = _transform(made.view(SymArray), size, -1, norm, 1)
    return np.moveaxis(np.real(full), -1, axis)


def _several(one: Any, axes_default: Any) -> Any:
    def function(
        x: Any, s: Any = None, axes: Any = axes_default, norm: Any = None
    ) -> Any:
        chosen = range(np.ndim(x)) if axes is None else axes
        sizes = [None] * len(list(chosen)) if s is None else s
        for axis, n in zip(list(chosen)[::-1], list(sizes)[::-1], strict=True):
            x = one(x, n, axis, norm)
        return x

    return function


def _real_several(axes_default: Any, inverse: bool) -> Any:
    """Return rfft2/rfftn or irfft2/irfftn: the last axis is the real one."""

    def function(
        x: Any, s: Any = None, axes: Any = axes_default, norm: Any = None
    ) -> Any:
        chosen = list(range(np.ndim(x))) if axes is None else list(axes)
        sizes = [None] * len(chosen) if s is None else list(s)
        others = list(zip(chosen[:-1], sizes[:-1], strict=True))
        if not inverse:
            x = rfft(x, sizes[-1], chosen[-1], norm)
        for axis, n in others:
            x = (ifft if inverse else fft)(x, n, axis, norm)
        return irfft(x, sizes[-1], chosen[-1], norm) if inverse else x

    return function


FFT = {
    "fft": fft,
    "ifft": ifft,
    "rfft": rfft,
    "irfft": irfft,
    "fft2": _several(fft, (-2, -1)),
    "ifft2": _several(ifft, (-2, -1)),
    "fftn": _several(fft, None),
    "ifftn": _several(ifft, None),
    "rfft2": _real_several((-2, -1), False),
    "rfftn": _real_several(None, False),
    "irfft2": _real_several((-2, -1), True),
    "irfftn": _real_several(None, True),
}
"""Versions of the functions of `np.fft`."""
