"""Elements of object arrays that stand for real numbers in the user's own program.

NumPy's loops over object arrays call Python's operators on each element, so a program
written for floats runs on these unchanged.  Two kinds: `Concolic` (in `concolic`)
records the expression, `Precise` (in `precise`) holds 90 digits and nothing else.  A
comparison is decided by the digits; each kind may note it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .reals import Reals
from .sizes import Size

__all__ = ["Element", "Home", "SymbolicValueError", "decide", "is_number"]


class SymbolicValueError(TypeError):
    """A program asked an element for something that only a float64 has."""


class Home:
    """Where elements of one kind come from: constants, functions, comparisons.

    exact : whether functions of plain numbers stay exact (√2) or are rounded to float64
        as the running program rounds them.
    """

    exact = True
    inside = 0
    reals: Reals

    def lift(self, x: Any) -> Element:
        """Return a plain number as an element."""
        raise SymbolicValueError(f"{type(self).__name__} makes no elements")

    def constant(self, name: str) -> Element:
        """Return pi, e or euler_gamma, to all digits."""
        raise SymbolicValueError(f"{type(self).__name__} has no {name}")

    def call(self, name: str, *args: Any) -> Element:
        """Return a function of `reals.FUNCTIONS`, args being elements or numbers."""
        raise SymbolicValueError(f"{type(self).__name__} has no {name}")

    def compare(self, a: Element, relation: str, b: Element) -> bool:
        """Decide `a relation b`; relation is one of < <= > >= == !=."""
        raise SymbolicValueError(f"{type(self).__name__} compares nothing")

    def ask(self, x: Element, state: str) -> bool:
        """Decide whether x "is finite" or "is nan"."""
        nan = self.reals.is_nan(x.value)
        return nan if state == "is nan" else self.reals.finite(x.value)

    def operate(self, op: str, a: Element, b: Element) -> Element:
        """Return add, sub, mul, div or pow of two elements."""
        raise SymbolicValueError(f"{type(self).__name__} has no {op}")

    def stop(self, x: Element) -> Element:
        """Return x as a value whose derivative is zero by decree."""
        return x


def is_number(x: Any) -> bool:
    """Return whether x is a plain real number: Python's, NumPy's or a Fraction."""
    kinds = (int, float, Fraction, Size, np.integer, np.floating, np.bool_)
    return isinstance(x, kinds)


class Element:
    """A real number that is more than a float64; see the module's words.

    Subclasses have `home` and `value` (an mpf); operators are the same for all.
    """

    __slots__ = ()
    home: Home
    value: Any
    constant: bool

    # What NumPy's scalars offer, so that `x.shape` or `x.sum()` work on them.
    shape: tuple[()] = ()
    ndim = 0
    size = 1
    imag = 0.0

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def T(self) -> Element:  # noqa: N802 - NumPy's name
        return self

    @property
    def real(self) -> Element:
        return self

    def item(self) -> Element:
        return self

    def copy(self) -> Element:
        return self

    def conjugate(self) -> Element:
        return self

    conj = conjugate

    def __deepcopy__(self, memo: Any) -> Element:
        return self

    def __copy__(self) -> Element:
        return self

    def __getattr__(self, name: str) -> Any:
        # Methods of NumPy scalars: sum, mean, max, clip, reshape, astype ...
        if name.startswith("__") or not hasattr(np.float64, name):
            raise AttributeError(name)
        from .standin import scalar_method

        return scalar_method(self, name)

    def __getitem__(self, index: Any) -> Any:
        from .arrays import as_array

        return as_array(self, self.home)[index]

    __iter__ = None  # an element is no sequence, whatever `__getitem__` allows

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        from .ufuncs import apply_ufunc

        return apply_ufunc(self.home, ufunc, method, inputs, kw)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        from .standin import apply_function

        return apply_function(self.home, function, args, kwargs)

    def _other(self, x: Any) -> Element | None:
        if isinstance(x, Element):
            return x
        if is_number(x):
            return self.home.lift(x)
        return None

    def _mixed(self, operator: str, other: Any) -> Any:
        """Return an operation with a complex number, or leave it to the other."""
        if not isinstance(other, (complex, np.complexfloating)):
            return NotImplemented
        from .complexes import complex_of

        return getattr(complex_of(self), operator)(other)

    def __add__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__add__", other)
        return self.home.operate("add", self, b)

    def __radd__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__radd__", other)
        return self.home.operate("add", b, self)

    def __sub__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__sub__", other)
        return self.home.operate("sub", self, b)

    def __rsub__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__rsub__", other)
        return self.home.operate("sub", b, self)

    def __mul__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__mul__", other)
        return self.home.operate("mul", self, b)

    def __rmul__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__rmul__", other)
        return self.home.operate("mul", b, self)

    def __truediv__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__truediv__", other)
        return self.home.operate("div", self, b)

    def __rtruediv__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__rtruediv__", other)
        return self.home.operate("div", b, self)

    def __pow__(self, other: Any, modulus: None = None) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__pow__", other)
        return self.home.operate("pow", self, b)

    def __rpow__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return self._mixed("__rpow__", other)
        return self.home.operate("pow", b, self)

    def __neg__(self) -> Any:
        return self.home.operate("mul", self.home.lift(-1), self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        zero = self.home.lift(0)
        # At a tie |x| is x * 0: value 0 and no side preferred.
        return self if self.home.compare(self, ">=", zero) else -self

    def __floordiv__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else (self / b).__floor__()

    def __rfloordiv__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else (b / self).__floor__()

    def __mod__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self - b * (self / b).__floor__()

    def __rmod__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else b.__mod__(self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def _whole(self, kind: str) -> int | None:
        """Return floor, ceil, trunc or round as an int, noting where that is constant.

        None for infinities and NaN.
        """
        home = self.home
        x = self.value
        low: Any
        high: Any
        if not home.reals.finite(x):
            return None
        c = home.reals.context
        if kind == "round":
            result = int(c.nint(x))
            low, high = Fraction(2 * result - 1, 2), Fraction(2 * result + 1, 2)
        else:
            down = kind == "floor" or (kind == "trunc" and x >= 0)
            result = int(c.floor(x)) if down else int(c.ceil(x))
            low, high = (result, result + 1) if down else (result - 1, result)
            if kind == "trunc" and result == 0:
                low, high = -1, 1
        home.compare(self, ">=", home.lift(low))
        home.compare(self, "<=", home.lift(high))
        return result

    def _rounded(self, kind: str) -> Any:
        whole = self._whole(kind)
        return self if whole is None else self.home.lift(whole)

    def __floor__(self) -> Any:
        return self._rounded("floor")

    def __ceil__(self) -> Any:
        return self._rounded("ceil")

    def __trunc__(self) -> Any:
        return self._rounded("trunc")

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits == 0:
            whole = self._whole("round")
            if digits is None:
                return whole
            return self if whole is None else self.home.lift(whole)
        scale = self.home.lift(Fraction(10) ** digits)
        return (self * scale)._rounded("round") / scale

    def __int__(self) -> int:
        whole = self._whole("trunc")
        if whole is None:
            raise ValueError("cannot convert infinity or NaN to an integer")
        return whole

    def __float__(self) -> float:
        if self.constant:
            # A constant is a number, whatever asks; what depends on inputs is not.
            return float(self.value)
        raise SymbolicValueError(
            "a symbolic value was forced to float64 (a buffer, `float`, `math` or "
            "`astype` that is not replaced)"
        )

    def __bool__(self) -> bool:
        return self.home.compare(self, "!=", self.home.lift(0))

    def __lt__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self.home.compare(self, "<", b)

    def __le__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self.home.compare(self, "<=", b)

    def __gt__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self.home.compare(self, ">", b)

    def __ge__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self.home.compare(self, ">=", b)

    def __eq__(self, other: object) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self.home.compare(self, "==", b)

    def __ne__(self, other: object) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self.home.compare(self, "!=", b)

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, spec: str) -> str:
        return format(float(self.value), spec)

    def is_integer(self) -> bool:
        """Return whether the digits are whole, as float's method of this name."""
        return bool(self.home.reals.context.isint(self.value))


def decide(a: Any, relation: str, b: Any) -> bool:
    """Decide a relation of two mpf values; NaN makes all but != false."""
    if relation == "<":
        return bool(a < b)
    if relation == "<=":
        return bool(a <= b)
    if relation == ">":
        return bool(a > b)
    if relation == ">=":
        return bool(a >= b)
    return bool(a == b) == (relation == "==")
