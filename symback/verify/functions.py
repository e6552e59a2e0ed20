"""Functions of scalar elements, by the names of NumPy's and SciPy's ufuncs.

Each is written with arithmetic, comparisons and a dozen elementary functions that SymPy
knows; where a function has pieces, the digits choose one and the choice is noted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from .elements import Element, Home, SymbolicValueError, is_number

__all__ = ["BOOLEAN", "COMPARISONS", "TABLE", "element", "home", "use_home"]

_HOME: ContextVar[Home] = ContextVar("home")
HALF = Fraction(1, 2)

Scalar = Any
"""An element, a pair of elements (complex), or a plain number."""


def home() -> Home:
    """Return the home in which the running program makes its elements."""
    try:
        return _HOME.get()
    except LookupError:
        raise SymbolicValueError("no symbolic run is going on") from None


def is_exact() -> bool:
    """Return whether a run goes on whose constants are exact."""
    current = _HOME.get(None)
    return current is not None and current.exact and not current.inside


@contextmanager
def inside_library() -> Iterator[None]:
    """Let library code see plain numbers: it multiplies sizes and makes arrays of them."""
    current = home()
    current.inside += 1
    try:
        yield
    finally:
        current.inside -= 1


@contextmanager
def use_home(current: Home) -> Iterator[None]:
    """Make elements of this home within the block."""
    token = _HOME.set(current)
    try:
        yield
    finally:
        _HOME.reset(token)


def element(x: Scalar) -> Any:
    """Return a scalar as an element."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.view(np.ndarray)[()]
    return home().lift(x) if is_number(x) else x


def is_complex(x: Scalar) -> bool:
    """Return whether x is a complex number or a pair of elements."""
    return type(x).__name__ == "ComplexElement" or (
        isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float)
    )


def _constant(x: Any) -> bool:
    return is_number(x) or bool(getattr(x, "constant", False))


def _number(x: Any) -> float:
    return float(x.value) if isinstance(x, Element) else float(x)


def _call(name: str, *args: Scalar) -> Any:
    """Call an elementary function; constants are rounded where the home says so."""
    h = home()
    if is_complex(args[0]):
        from .complexes import call

        return call(name, *args)
    if not h.exact and all(_constant(a) for a in args):
        real = FOLDED.get(name)
        if real is not None:
            with np.errstate(all="ignore"):
                return h.lift(float(real(*map(_number, args))))
    return h.call(name, *args)


FOLDED: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def elementary(name: str) -> Callable[..., Any]:
    """Return a function of `reals.FUNCTIONS` for scalars."""

    def function(*args: Scalar) -> Any:
        return _call(name, *args)

    function.__name__ = name
    return function


exp = elementary("exp")
log = elementary("log")
sin = elementary("sin")
cos = elementary("cos")
tanh = elementary("tanh")
erf = elementary("erf")
erfc = elementary("erfc")
loggamma = elementary("loggamma")


def constant(name: str) -> Any:
    """Return pi or another constant, exact or rounded as the home says."""
    h = home()
    return h.constant(name) if h.exact else h.lift({"pi": np.pi, "e": np.e}[name])


def sqrt(x: Scalar) -> Any:
    if is_complex(x):
        return _call("sqrt", x)
    h = home()
    if not h.exact and _constant(x):
        with np.errstate(all="ignore"):
            return h.lift(float(np.sqrt(_number(x))))
    return element(x) ** HALF


def cbrt(x: Scalar) -> Any:
    x = element(x)
    third = Fraction(1, 3)
    return x**third if x >= 0 else -((-x) ** third)


def power(x: Scalar, y: Scalar) -> Any:
    if is_complex(x) or is_complex(y):
        return _call("power", x, y)
    return element(x) ** element(y)


def log1p(x: Scalar) -> Any:
    return log(element(x) + 1)


def expm1(x: Scalar) -> Any:
    return exp(x) - 1


def exp2(x: Scalar) -> Any:
    return element(2) ** element(x)


def exp10(x: Scalar) -> Any:
    return element(10) ** element(x)


def log_base(base: int) -> Callable[[Scalar], Any]:
    def function(x: Scalar) -> Any:
        return log(x) / log(base)

    return function


def absolute(x: Scalar) -> Any:
    return abs(x) if is_complex(x) else abs(element(x))


def maximum(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    if a != a or b != b:
        return a if a != a else b
    return a if a >= b else b


def minimum(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    if a != a or b != b:
        return a if a != a else b
    return a if a <= b else b


def fmax(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return b if a != a else a if b != b else maximum(a, b)


def fmin(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return b if a != a else a if b != b else minimum(a, b)


def clip(x: Scalar, low: Scalar = None, high: Scalar = None) -> Any:
    if low is not None:
        x = maximum(x, low)
    return x if high is None else minimum(x, high)


def sign(x: Scalar) -> Any:
    if is_complex(x):
        return x / abs(x) if x != 0 else x
    x = element(x)
    if x != x:
        return x
    return element(1 if x > 0 else -1 if x < 0 else 0)


def heaviside(x: Scalar, at_zero: Scalar) -> Any:
    x = element(x)
    return element(1) if x > 0 else element(0) if x < 0 else element(at_zero)


def copysign(x: Scalar, y: Scalar) -> Any:
    size = absolute(x)
    return size if element(y) >= 0 else -size


def floor_divide(a: Scalar, b: Scalar) -> Any:
    return element(a) // element(b)


def remainder(a: Scalar, b: Scalar) -> Any:
    return element(a) % element(b)


def fmod(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return a - b * (a / b).__trunc__()


def rint(x: Scalar) -> Any:
    return element(x).__round__(0)


def arctan2(y: Scalar, x: Scalar) -> Any:
    y, x = element(y), element(x)
    return _call("atan2", y, x)


def hypot(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return sqrt(a * a + b * b)


def logaddexp(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    if a.value == home().reals.inf or b.value == home().reals.inf:
        return maximum(a, b)
    return log(exp(a) + exp(b))


def logaddexp2(a: Scalar, b: Scalar) -> Any:
    return log(exp2(a) + exp2(b)) / log(2)


def sinc(x: Scalar) -> Any:
    """sin(πx)/(πx), 1 at 0 (NumPy's definition)."""
    x = element(x)
    if x == 0:
        return element(1)
    t = constant("pi") * x
    return sin(t) / t


def expit(x: Scalar) -> Any:
    return 1 / (1 + exp(-element(x)))


def logit(p: Scalar) -> Any:
    p = element(p)
    return log(p / (1 - p))


def log_expit(x: Scalar) -> Any:
    return -log(1 + exp(-element(x)))


def softplus(x: Scalar) -> Any:
    return log(1 + exp(x))


def ndtr(x: Scalar) -> Any:
    """Φ(x), the normal distribution function: erfc(−x/√2)/2."""
    return erfc(-element(x) / sqrt(2)) / 2


def log_ndtr(x: Scalar) -> Any:
    return log(ndtr(x))


def ndtri(p: Scalar) -> Any:
    return sqrt(2) * _call("erfinv", 2 * element(p) - 1)


def erfcinv(x: Scalar) -> Any:
    return _call("erfinv", 1 - element(x))


def erfcx(x: Scalar) -> Any:
    x = element(x)
    return exp(x * x) * erfc(x)


def dawsn(x: Scalar) -> Any:
    x = element(x)
    return sqrt(constant("pi")) / 2 * exp(-(x * x)) * _call("erfi", x)


def digamma(x: Scalar) -> Any:
    return _call("polygamma", 0, x)


def polygamma(n: Scalar, x: Scalar) -> Any:
    return _call("polygamma", n, x)


def xlogy(x: Scalar, y: Scalar) -> Any:
    x = element(x)
    return x * 0 if x == 0 else x * log(y)


def xlog1py(x: Scalar, y: Scalar) -> Any:
    return xlogy(x, 1 + element(y))


def entr(x: Scalar) -> Any:
    x = element(x)
    if x == 0:
        return element(0)
    return -x * log(x) if x > 0 else element(-np.inf)


def rel_entr(x: Scalar, y: Scalar) -> Any:
    x, y = element(x), element(y)
    return element(0) if x == 0 else x * log(x / y)


def kl_div(x: Scalar, y: Scalar) -> Any:
    return rel_entr(x, y) - element(x) + element(y)


def huber(delta: Scalar, r: Scalar) -> Any:
    delta, r = element(delta), element(r)
    if delta < 0:
        return element(np.inf)
    size = absolute(r)
    return r * r / 2 if size <= delta else delta * (size - delta / 2)


def pseudo_huber(delta: Scalar, r: Scalar) -> Any:
    delta, r = element(delta), element(r)
    return delta * delta * (sqrt(1 + (r / delta) ** 2) - 1)


def boxcox(x: Scalar, lam: Scalar) -> Any:
    x, lam = element(x), element(lam)
    return log(x) if lam == 0 else (x**lam - 1) / lam


def inv_boxcox(y: Scalar, lam: Scalar) -> Any:
    y, lam = element(y), element(lam)
    return exp(y) if lam == 0 else (lam * y + 1) ** (1 / lam)


def gamma(x: Scalar) -> Any:
    return _call("gamma", x)


def betaln(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def beta(a: Scalar, b: Scalar) -> Any:
    a, b = element(a), element(b)
    return gamma(a) * gamma(b) / gamma(a + b)


def binom(n: Scalar, k: Scalar) -> Any:
    n, k = element(n), element(k)
    return gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))


def poch(z: Scalar, m: Scalar) -> Any:
    z, m = element(z), element(m)
    return gamma(z + m) / gamma(z)


def gammainc(a: Scalar, x: Scalar) -> Any:
    return _call("lowergamma", a, x) / gamma(a)


def gammaincc(a: Scalar, x: Scalar) -> Any:
    return _call("uppergamma", a, x) / gamma(a)


def bessel(name: str, order: int | None = None, scaled: int = 0) -> Callable[..., Any]:
    def function(*args: Scalar) -> Any:
        n, x = (order, args[0]) if order is not None else args
        value = _call(name, n, x)
        if scaled:
            x = element(x)
            value = value * exp(x if scaled > 0 else -abs(x))
        return value

    return function


def exprel(x: Scalar) -> Any:
    x = element(x)
    return element(1) if x == 0 else (exp(x) - 1) / x


def cosm1(x: Scalar) -> Any:
    return cos(x) - 1


def spence(x: Scalar) -> Any:
    """∫ log t/(1 − t) dt from 1 to x, SciPy's sign of the dilogarithm."""
    return _call("dilog", 1 - element(x))


def degrees(x: Scalar) -> Any:
    return element(x) * 180 / constant("pi")


def radians(x: Scalar) -> Any:
    return element(x) * constant("pi") / 180


def in_degrees(function: Callable[..., Any]) -> Callable[[Scalar], Any]:
    return lambda x: function(radians(x))


def _infinite(sign_wanted: int) -> Callable[[Scalar], bool]:
    def function(x: Scalar) -> bool:
        value = element(x).value
        inf = home().reals.inf
        return bool(value == inf * sign_wanted) or (
            sign_wanted == 0 and bool(abs(value) == inf)
        )

    return function


def isnan(x: Scalar) -> bool:
    return bool(element(x).value != element(x).value)


def isinf(x: Scalar) -> bool:
    return bool(abs(element(x).value) == home().reals.inf)


def isfinite(x: Scalar) -> bool:
    return home().reals.finite(element(x).value)


def conjugate(x: Scalar) -> Any:
    return x.conjugate() if is_complex(x) else x


def _arithmetic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make operands elements first, so that two floats give an element too."""

    def operation(a: Scalar, b: Scalar) -> Any:
        # Both: a NumPy scalar would send the operation back here.
        return function(element(a), element(b))

    return operation


def _compared(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: bool(function(element(a), element(b)))


COMPARISONS: dict[str, Callable[..., Any]] = {
    "less": _compared(operator.lt),
    "less_equal": _compared(operator.le),
    "greater": _compared(operator.gt),
    "greater_equal": _compared(operator.ge),
    "equal": _compared(operator.eq),
    "not_equal": _compared(operator.ne),
}

BOOLEAN: dict[str, Callable[..., Any]] = {
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "signbit": lambda x: bool(element(x) < 0),
    "logical_not": lambda x: not bool(x),
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}

TABLE: dict[str, Callable[..., Any]] = {
    **COMPARISONS,
    **BOOLEAN,
    "add": _arithmetic(operator.add),
    "subtract": _arithmetic(operator.sub),
    "multiply": _arithmetic(operator.mul),
    "divide": _arithmetic(operator.truediv),
    "true_divide": _arithmetic(operator.truediv),
    "power": power,
    "pow": power,
    "float_power": power,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "mod": remainder,
    "fmod": fmod,
    "negative": lambda x: -element(x),
    "positive": element,
    "absolute": absolute,
    "fabs": absolute,
    "abs": absolute,
    "sign": sign,
    "exp": exp,
    "exp2": exp2,
    "exp10": exp10,
    "expm1": expm1,
    "log": log,
    "log2": log_base(2),
    "log10": log_base(10),
    "log1p": log1p,
    "sqrt": sqrt,
    "cbrt": cbrt,
    "square": lambda x: element(x) * element(x),
    "reciprocal": lambda x: 1 / element(x),
    "sin": sin,
    "cos": cos,
    "tan": elementary("tan"),
    "arcsin": elementary("asin"),
    "arccos": elementary("acos"),
    "arctan": elementary("atan"),
    "asin": elementary("asin"),
    "acos": elementary("acos"),
    "atan": elementary("atan"),
    "arctan2": arctan2,
    "atan2": arctan2,
    "sinh": elementary("sinh"),
    "cosh": elementary("cosh"),
    "tanh": tanh,
    "arcsinh": elementary("asinh"),
    "arccosh": elementary("acosh"),
    "arctanh": elementary("atanh"),
    "asinh": elementary("asinh"),
    "acosh": elementary("acosh"),
    "atanh": elementary("atanh"),
    "deg2rad": radians,
    "radians": radians,
    "rad2deg": degrees,
    "degrees": degrees,
    "hypot": hypot,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": fmax,
    "fmin": fmin,
    "clip": clip,
    "logaddexp": logaddexp,
    "logaddexp2": logaddexp2,
    "heaviside": heaviside,
    "copysign": copysign,
    "floor": lambda x: element(x).__floor__(),
    "ceil": lambda x: element(x).__ceil__(),
    "trunc": lambda x: element(x).__trunc__(),
    "fix": lambda x: element(x).__trunc__(),
    "rint": rint,
    "conjugate": conjugate,
    "conj": conjugate,
    "ldexp": lambda x, n: element(x) * element(2) ** n,
    "sinc": sinc,
    # scipy.special
    "erf": erf,
    "erfc": erfc,
    "erfi": elementary("erfi"),
    "erfinv": elementary("erfinv"),
    "erfcinv": erfcinv,
    "erfcx": erfcx,
    "dawsn": dawsn,
    "expit": expit,
    "logit": logit,
    "log_expit": log_expit,
    "softplus": softplus,
    "ndtr": ndtr,
    "log_ndtr": log_ndtr,
    "ndtri": ndtri,
    "gamma": gamma,
    "rgamma": lambda x: 1 / gamma(x),
    "gammaln": loggamma,
    "loggamma": loggamma,
    "lgamma": loggamma,
    "psi": digamma,
    "digamma": digamma,
    "polygamma": polygamma,
    "beta": beta,
    "betaln": betaln,
    "betainc": elementary("betainc"),
    "binom": binom,
    "poch": poch,
    "gammainc": gammainc,
    "gammaincc": gammaincc,
    "xlogy": xlogy,
    "xlog1py": xlog1py,
    "entr": entr,
    "rel_entr": rel_entr,
    "kl_div": kl_div,
    "huber": huber,
    "pseudo_huber": pseudo_huber,
    "boxcox": boxcox,
    "boxcox1p": lambda x, lam: boxcox(1 + element(x), lam),
    "inv_boxcox": inv_boxcox,
    "exprel": exprel,
    "cosm1": cosm1,
    "spence": spence,
    "exp1": elementary("expint1"),
    "expi": elementary("Ei"),
    "ellipk": elementary("ellipk"),
    "ellipe": elementary("ellipe"),
    "zeta": elementary("zeta"),
    "j0": bessel("besselj", 0),
    "j1": bessel("besselj", 1),
    "jv": bessel("besselj"),
    "jn": bessel("besselj"),
    "y0": bessel("bessely", 0),
    "y1": bessel("bessely", 1),
    "yv": bessel("bessely"),
    "yn": bessel("bessely"),
    "i0": bessel("besseli", 0),
    "i1": bessel("besseli", 1),
    "iv": bessel("besseli"),
    "i0e": bessel("besseli", 0, -1),
    "i1e": bessel("besseli", 1, -1),
    "ive": bessel("besseli", None, -1),
    "k0": bessel("besselk", 0),
    "k1": bessel("besselk", 1),
    "kv": bessel("besselk"),
    "kn": bessel("besselk"),
    "k0e": bessel("besselk", 0, 1),
    "k1e": bessel("besselk", 1, 1),
    "kve": bessel("besselk", None, 1),
    "sindg": in_degrees(sin),
    "cosdg": in_degrees(cos),
    "tandg": in_degrees(elementary("tan")),
    "hyp1f1": elementary("hyp1f1"),
    "hyp2f1": elementary("hyp2f1"),
    "wrightomega": lambda x: _call("lambertw", exp(x)),
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "invert": operator.invert,
}
"""Every function of scalars, by its ufunc's name."""
