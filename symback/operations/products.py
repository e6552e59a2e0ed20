"""Products with their own index notation: einsum, tensordot, kron, cross, chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import runtime
from ..operation import may_view
from .helpers import STATIC, is_complex, positions, swap
from .linalg import matmul_a, matmul_b
from .registry import pullback

Array = Any


def einsum_plan(subscripts: str, k: int) -> tuple[str, bool, tuple[int, ...], int, int]:
    """Plan the einsum whose result is the cotangent of operand `k`.

    Returns its subscripts, whether it needs ones shaped as the operand (for letters
    that only the operand has), the axes of the operand that repeat a letter (each is
    multiplied by an identity), and the numbers of letters before and after
    its ellipsis.

    >>> einsum_plan("ij,jk->ik", 0)
    ('ik,jk->ij', False, (), 0, 2)
    >>> einsum_plan("ii->", 0)
    (',ia->ia', False, (1,), 0, 2)
    >>> einsum_plan("ij->i", 0)
    ('i,ij->ij', True, (), 0, 2)
    """
    subscripts = subscripts.replace(" ", "")
    left, arrow, right = subscripts.partition("->")
    inputs = left.split(",")
    letters = left.replace(",", "").replace(".", "")
    if not arrow:
        right = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        right = "..." + right if "..." in left else right
    mine = inputs[k]
    before, _, after = mine.partition("...") if "..." in mine else ("", "", mine)
    others = [inputs[j] for j in range(len(inputs)) if j != k]
    unused = [c for c in "abcdefghijklmnopqrstuvwxyz" if c not in letters]
    target, eyes, axes = "", [], []
    plain = mine.replace("...", "")
    for place, c in enumerate(plain):
        if c in target:
            fresh = unused.pop(0)
            eyes.append(c + fresh)
            # Axes after the ellipsis are counted from the end.
            from_end = "..." in mine and place >= len(before)
            axes.append(place - len(plain) if from_end else place)
            target += fresh
        else:
            target += c
    have = set("".join([right, *others, *eyes]))
    lonely = any(c not in have for c in plain)
    factors = [right, *others, *([mine] if lonely else []), *eyes]
    dots = "..." if "..." in left else ""
    return (
        f"{','.join(factors)}->{dots}{target}",
        lonely,
        tuple(axes),
        len(before),
        len(after),
    )


def einsum_operand(out_bar: Array, subscripts: Any, operands: Any, k: int) -> Array:
    """Return the cotangent of one operand: an einsum of the others and `out_bar`."""
    text, lonely, axes, before, after = einsum_plan(subscripts, k)
    x = operands[k]
    factors = [out_bar] + [operands[j] for j in range(len(operands)) if j != k]
    if lonely:
        factors = [*factors, np.ones_like(x)]
    factors = factors + [np.eye(np.shape(x)[axis], dtype=x.dtype) for axis in axes]
    if len(factors) > 2:
        x_bar = np.einsum(text, *factors, optimize=True)
    else:
        x_bar = np.einsum(text, *factors)
    if before == 0:
        return runtime.unbroadcast(x_bar, x)
    # The plan's result has the ellipsis first: bring the operand to that order.
    first = tuple(range(before))
    last = tuple(range(-before - after, -after))
    moved = runtime.unbroadcast(x_bar, np.moveaxis(x, first, last))
    return np.moveaxis(moved, last, first)


def einsum_of(out_bar: Array, subscripts: Any, operands: Any) -> Any:
    """Return the cotangents of all operands."""
    return [
        einsum_operand(out_bar, subscripts, operands, k) for k in range(len(operands))
    ]


def contracted(axes: Any) -> int:
    """Return how many axes ``np.tensordot`` sums over."""
    if isinstance(axes, int):
        return axes
    return 1 if isinstance(axes[0], int) else len(axes[0])


def tensordot_matrices(a: Array, b: Array, axes: Any) -> tuple[Array, Array]:
    """Return both arrays as matrices with the summed index last and first."""
    n = contracted(axes)
    if not isinstance(axes, int):
        a = np.moveaxis(a, axes[0], -1 if n == 1 else tuple(range(-n, 0)))
        b = np.moveaxis(b, axes[1], 0 if n == 1 else tuple(range(n)))
    size = 1
    for k in range(n):
        size = size * np.shape(b)[k]
    return np.reshape(a, (-1, size)), np.reshape(b, (size, -1))


def tensordot_a(out_bar: Array, a: Array, b: Array, axes: Any) -> Array:
    """Return the cotangent of the first factor of ``np.tensordot``."""
    n = contracted(axes)
    _, right = tensordot_matrices(a, b, axes)
    flat = np.reshape(out_bar, (-1, np.shape(right)[1])) @ right.T
    if isinstance(axes, int):
        return np.reshape(flat, np.shape(a))
    place = -1 if n == 1 else tuple(range(-n, 0))
    moved = np.reshape(flat, np.shape(np.moveaxis(a, axes[0], place)))
    return np.moveaxis(moved, place, axes[0])


def tensordot_b(out_bar: Array, a: Array, b: Array, axes: Any) -> Array:
    """Return the cotangent of the second factor of ``np.tensordot``."""
    n = contracted(axes)
    left, _ = tensordot_matrices(a, b, axes)
    flat = left.T @ np.reshape(out_bar, (np.shape(left)[0], -1))
    if isinstance(axes, int):
        return np.reshape(flat, np.shape(b))
    place = 0 if n == 1 else tuple(range(n))
    moved = np.reshape(flat, np.shape(np.moveaxis(b, axes[1], place)))
    return np.moveaxis(moved, place, axes[1])


def kron_a(out_bar: Array, a: Array, b: Array) -> Array:
    """Add up, for each entry of `a`, its block of the cotangent times `b`."""
    places = np.kron(positions(a), np.ones(np.shape(b), dtype=int))
    return runtime.gather_pullback(out_bar * np.kron(np.ones_like(a), b), places, a)


def kron_b(out_bar: Array, a: Array, b: Array) -> Array:
    """Add up, for each entry of `b`, its copies of the cotangent times `a`."""
    places = np.kron(np.ones(np.shape(a), dtype=int), positions(b))
    return runtime.gather_pullback(out_bar * np.kron(a, np.ones_like(b)), places, b)


def cross_a(
    out_bar: Array, a: Array, b: Array, axisa: Any, axisb: Any, axisc: Any, axis: Any
) -> Array:
    """Return b × out_bar, by the triple product's cyclic symmetry."""
    if axis is not None:
        return runtime.unbroadcast(np.cross(b, out_bar, axis=axis), a)
    return runtime.unbroadcast(np.cross(b, out_bar, axisb, axisc, axisa), a)


def cross_b(
    out_bar: Array, a: Array, b: Array, axisa: Any, axisb: Any, axisc: Any, axis: Any
) -> Array:
    """Return out_bar × a, by the triple product's cyclic symmetry."""
    if axis is not None:
        return runtime.unbroadcast(np.cross(out_bar, a, axis=axis), b)
    return runtime.unbroadcast(np.cross(out_bar, a, axisc, axisa, axisb), b)


def multi_dot_of(out_bar: Array, arrays: Any) -> Any:
    """Walk the chain of products back from its end."""
    heads = [arrays[0]]
    for k in range(1, len(arrays) - 1):
        heads = [*heads, heads[-1] @ arrays[k]]
    bars: list[Array] = []
    rest = out_bar
    for k in range(len(arrays) - 1, 0, -1):
        bars = [matmul_b(rest, heads[k - 1], arrays[k]), *bars]
        rest = matmul_a(rest, heads[k - 1], arrays[k])
    return [rest, *bars]


def power_terms(out_bar: Array, a: Array, n: int) -> Array:
    """Return the sum of (a^i)ᵀ out_bar (a^(n-1-i))ᵀ over i < n."""
    t = swap(a)
    total = out_bar
    left = out_bar
    # Horner: total collects left-multiplied and right-multiplied factors in turn.
    for _ in range(n - 1):
        left = t @ left
        total = total @ t + left
    return total


def matrix_power_of(out_bar: Array, out: Array, a: Array, n: Any) -> Array:
    """Return the cotangent of ``np.linalg.matrix_power``, negative powers too."""
    if n == 0:
        return np.zeros_like(a)
    if n > 0:
        return power_terms(out_bar, a, n)
    inverse = np.linalg.inv(a)
    return -swap(inverse) @ power_terms(out_bar, inverse, -n) @ swap(inverse)


def vecdot_a(out_bar: Array, x1: Array, x2: Array, axis: Any) -> Array:
    """Return the cotangent of the conjugated factor of ``np.vecdot``."""
    g = np.expand_dims(out_bar, axis) * x2
    if is_complex(g):
        return runtime.unbroadcast(np.conj(g), x1)
    return runtime.unbroadcast(g, x1)


def vecdot_b(out_bar: Array, x1: Array, x2: Array, axis: Any) -> Array:
    """Return the cotangent of the plain factor of ``np.vecdot``."""
    left = np.conj(x1) if is_complex(x1) else x1
    return runtime.unbroadcast(np.expand_dims(out_bar, axis) * left, x2)


def matvec_a(out_bar: Array, x1: Array, x2: Array) -> Array:
    """Return the outer products with the vectors."""
    g = np.expand_dims(out_bar, -1) * np.expand_dims(x2, -2)
    return runtime.unbroadcast(g, x1)


def matvec_b(out_bar: Array, x1: Array, x2: Array) -> Array:
    """Multiply by the transposed matrices."""
    g = swap(x1) @ np.expand_dims(out_bar, -1)
    return runtime.unbroadcast(np.squeeze(g, -1), x2)


def vecmat_a(out_bar: Array, x1: Array, x2: Array) -> Array:
    """Multiply by the matrices; the vector was conjugated."""
    g = np.squeeze(x2 @ np.expand_dims(out_bar, -1), -1)
    return runtime.unbroadcast(np.conj(g) if is_complex(g) else g, x1)


def vecmat_b(out_bar: Array, x1: Array, x2: Array) -> Array:
    """Return the outer products with the conjugated vectors."""
    left = np.conj(x1) if is_complex(x1) else x1
    g = np.expand_dims(left, -1) * np.expand_dims(out_bar, -2)
    return runtime.unbroadcast(g, x2)


def linalg_cross_a(out_bar: Array, x1: Array, x2: Array, axis: Any) -> Array:
    """Return x2 × out_bar."""
    return runtime.unbroadcast(np.cross(x2, out_bar, axis=axis), x1)


def linalg_cross_b(out_bar: Array, x1: Array, x2: Array, axis: Any) -> Array:
    """Return out_bar × x1."""
    return runtime.unbroadcast(np.cross(out_bar, x1, axis=axis), x2)


STATIC.update({einsum_plan, contracted})

pullback("np.vecdot(x1, x2, axis=-1)", vecdot_a, vecdot_b)
pullback("np.linalg.vecdot(x1, x2, axis=-1)", vecdot_a, vecdot_b)
pullback("np.matvec(x1, x2)", matvec_a, matvec_b)
pullback("np.vecmat(x1, x2)", vecmat_a, vecmat_b)
pullback("np.linalg.cross(x1, x2, axis=-1)", linalg_cross_a, linalg_cross_b)
pullback(
    "np.einsum(subscripts, *operands, optimize=False)",
    None,
    einsum_of,
    # One operand whose axes are only permuted, or its diagonals.
    alias=may_view(0, 1),
)
for name in ("np.tensordot", "np.linalg.tensordot"):
    pullback(f"{name}(a, b, axes=2)", tensordot_a, tensordot_b)
pullback("np.kron(a, b)", kron_a, kron_b)
pullback("np.cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)", cross_a, cross_b)
pullback("np.linalg.multi_dot(arrays)", multi_dot_of)
pullback("np.linalg.matrix_power(a, n)", matrix_power_of, alias=may_view(0))
