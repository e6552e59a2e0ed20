"""Composite expressions whose derivative has a closed form.

The value is computed as the user wrote it; only the derivative is replaced, because the
product of the parts' derivatives overflows, cancels or is 0 · ∞ where the truth is
finite: log(1 + exp(x)) at 800, sqrt(x²) and norm(x)² at 0.

The first pattern that fits counts, so special ones stand before general ones.  Sums and
products fit in either order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .helpers import count, is_complex, safe, softmax, unreduce
from .linalg import dot_a, dot_b, inner_a, inner_b, matmul_a, matmul_b
from .reductions import std_of
from .registry import closed

Array = Any


def twice(x: Array) -> Array:
    """Return the slope of |x|**2."""
    if is_complex(x):
        return 2 * np.conj(x)
    return 2 * x


def squared_norm(out_bar: Array, x: Array) -> Array:
    """Return the cotangent of ``np.linalg.norm(x) ** 2``, 2 x at 0 too."""
    return out_bar * twice(x)


def squared_norm_axis(out_bar: Array, x: Array, axis: Any) -> Array:
    """Return the cotangent of squared norms along `axis`."""
    return unreduce(out_bar, axis, False) * twice(x)


def length(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the square root of a sum of squares; 0 at the origin."""
    return x * (out_bar / safe(out))


def length_product(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the root of ``x @ x``: a length if x is a vector."""
    if np.ndim(x) == 1:
        return length(out_bar, out, x)
    half = 0.5 * out_bar / out
    return matmul_a(half, x, x) + matmul_b(half, x, x)


def length_dot(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the root of ``np.dot(x, x)``."""
    if np.ndim(x) == 1:
        return length(out_bar, out, x)
    half = 0.5 * out_bar / out
    return dot_a(half, x, x) + dot_b(half, x, x)


def length_inner(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the root of ``np.inner(x, x)``."""
    if np.ndim(x) == 1:
        return length(out_bar, out, x)
    half = 0.5 * out_bar / out
    return inner_a(half, x, x) + inner_b(half, x, x)


def length_vdot(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the root of ``np.vdot(x, x)``, a length of any rank."""
    if is_complex(x):
        return np.conj(x) * (np.real(out_bar) / safe(np.real(out)))
    return length(out_bar, out, x)


def root_of_square(x: Array, out: Array) -> Array:
    """Return the slope of sqrt(x**2): the sign of a real x."""
    if is_complex(x):
        return x / safe(out)
    return np.sign(x)


def length_axis(out_bar: Array, out: Array, x: Array, axis: Any) -> Array:
    """Return the same along `axis`."""
    return x * unreduce(out_bar / safe(out), axis, False)


def rms(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of the root of the mean square; 0 at the origin."""
    return x * (out_bar / (np.size(x) * safe(out)))


def rms_axis(out_bar: Array, out: Array, x: Array, axis: Any) -> Array:
    """Return the same along `axis`."""
    return x * unreduce(out_bar / (count(x, axis) * safe(out)), axis, False)


def root_var(out_bar: Array, out: Array, x: Array) -> Array:
    """Return the cotangent of ``np.sqrt(np.var(x))``; 0 where all are equal."""
    return std_of(out_bar, out, x, None, None, 0, False, True, None, None)


def root_var_axis(out_bar: Array, out: Array, x: Array, axis: Any) -> Array:
    """Return the same along `axis`."""
    return std_of(out_bar, out, x, axis, None, 0, False, True, None, None)


def log_sum_exp(out_bar: Array, x: Array) -> Array:
    """Return softmax(x) times the cotangent."""
    return out_bar * softmax(x, None)


def log_sum_exp_axis(out_bar: Array, x: Array, axis: Any) -> Array:
    """Return the same along `axis`."""
    return unreduce(out_bar, axis, False) * softmax(x, axis)


def log_sum_exp_kept(out_bar: Array, x: Array, axis: Any) -> Array:
    """Return the same along `axis`, which was kept."""
    return out_bar * softmax(x, axis)


SQUARES = ("{x} ** 2", "np.square({x})", "{x} * {x}", "np.power({x}, 2)")
"""The ways to write a square."""


def squares(x: str) -> list[str]:
    """Return the squares of an expression.

    >>> squares("abs(x)")[:2]
    ['abs(x) ** 2', 'np.square(abs(x))']
    """
    return [square.format(x=x) for square in SQUARES]


# The logistic function and its relatives.
for lib in ("np", "math"):
    exp, log = f"{lib}.exp", f"{lib}.log"
    plus, minus = f"{exp}(x)", f"{exp}(-x)"
    up, down = f"1 / (1 + {minus})", f"1 / (1 + {plus})"
    if lib == "np":
        # What `math` computes has not overflowed; the graph's exponentials will do.
        closed(f"{log}({up})", down)
        closed(f"{log}(1 - {up})", f"-{up}")
        for inner, partial in ((minus, f"-{down}"), (plus, up)):
            closed(f"{log}(1 + {inner})", partial)
            closed(f"{lib}.log1p({inner})", partial)
        closed(
            f"{log}({exp}(x) + {exp}(y))",
            f"1 / (1 + {exp}(y - x))",
            f"1 / (1 + {exp}(x - y))",
        )
        closed(f"c / (1 + {minus})", up, f"out / (1 + {plus})")
        closed(f"c / (1 + {plus})", down, f"-out / (1 + {minus})")
    closed(up, "out * (1 - out)")
    closed(down, "-out * (1 - out)")
    closed(f"{log}({lib}.cosh(x))", f"{lib}.tanh(x)")
    closed(f"{log}({exp}(x))", "1")
    closed(f"{exp}({log}(x))", "1")

closed("np.log(np.sum(np.exp(x)))", log_sum_exp, pullback=True)
closed("np.log(np.sum(np.exp(x), axis=axis))", log_sum_exp_axis, pullback=True)
closed(
    "np.log(np.sum(np.exp(x), axis=axis, keepdims=True))",
    log_sum_exp_kept,
    pullback=True,
)

# Roots of squares and squares of roots.
for root in ("np.sqrt({})", "({}) ** 0.5"):
    for square in squares("x"):
        if "power" not in square:
            closed(root.format(square), root_of_square, kink="x == 0: 0")
for square in squares("np.sqrt(x)")[:3]:
    closed(square, "1", domain="x >= 0")
closed("x * np.sqrt(x)", "1.5 * np.sqrt(x)", domain="x >= 0")
closed("1 / (1 / x)", "1")
for square in squares("np.abs(x)")[:3]:
    closed(square, twice)

# Lengths: the norm's derivative is 0 at the origin, its square's is smooth there.
for square in squares("np.linalg.norm(x)")[:3]:
    closed(square, squared_norm, pullback=True)
for square in squares("np.linalg.norm(x, axis=axis)")[:3]:
    closed(square, squared_norm_axis, pullback=True)
closed("np.linalg.norm(x, axis=axis, keepdims=True) ** 2", squared_norm, pullback=True)
for square in squares("x"):
    closed(f"np.sqrt(np.sum({square}))", length, pullback=True, kink="x == 0: 0")
    closed(
        f"np.sqrt(np.sum({square}, axis=axis))",
        length_axis,
        pullback=True,
        kink="x == 0: 0",
    )
    closed(
        f"np.sqrt(np.sum({square}, axis=axis, keepdims=True))",
        length,
        pullback=True,
        kink="x == 0: 0",
    )
    closed(f"np.sqrt(np.mean({square}))", rms, pullback=True, kink="x == 0: 0")
    closed(
        f"np.sqrt(np.mean({square}, axis=axis))",
        rms_axis,
        pullback=True,
        kink="x == 0: 0",
    )
for product, pulled in (
    ("x @ x", length_product),
    ("np.dot(x, x)", length_dot),
    ("np.inner(x, x)", length_inner),
    ("np.vdot(x, x)", length_vdot),
):
    closed(f"np.sqrt({product})", pulled, pullback=True, kink="x == 0: 0")
closed("np.sum(x ** 2) ** 0.5", length, pullback=True, kink="x == 0: 0")
closed("np.sqrt(np.var(x))", root_var, pullback=True, kink="all are equal: 0")
closed(
    "np.sqrt(np.var(x, axis=axis))",
    root_var_axis,
    pullback=True,
    kink="all are equal: 0",
)
for lib in ("np", "math"):
    for x2, y2, z2 in (("x ** 2", "y ** 2", "z ** 2"), ("x * x", "y * y", "z * z")):
        closed(
            f"{lib}.sqrt({x2} + {y2} + {z2})",
            *(f"{name} / safe(out)" for name in "xyz"),
            kink="the origin: 0",
        )
        closed(
            f"{lib}.sqrt({x2} + {y2})",
            *(f"{name} / safe(out)" for name in "xy"),
            kink="the origin: 0",
        )

# Saturating functions of an exponential.
closed("np.arctan(np.exp(x))", "0.5 / np.cosh(x)")
closed("math.atan(math.exp(x))", "0.5 / np.cosh(x)")
closed(
    "np.tanh(np.exp(x))",
    "4 * np.exp(x - 2 * np.exp(x)) / (1 + np.exp(-2 * np.exp(x))) ** 2",
)
