"""Linear algebra on elements: elimination in exact arithmetic, small sizes.

Pivots are chosen by the digits; the choice is not a branch, for the result is the same
rational function whatever the order.  What has no closed form (eigenvalues, singular
values) is computed for `Precise` elements by mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import functions as fn
from .arrays import as_array, finish, plain
from .elements import Element, SymbolicValueError
from .functions import element, home
from .precise import Precise

__all__ = ["FUNCTIONS", "SCIPY", "cofactors", "stacked"]

Array = Any

PINV_CUTOFF = 1e-15
"""Singular values below this times the largest are zero, as `np.linalg.pinv` has it."""


def matrix(a: Any) -> Array:
    """Return an argument as a base-class object array of elements."""
    array = plain(as_array(a, home())).astype(object)
    return np.frompyfunc(element, 1, 1)(array) if array.size else array


def stacked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a function of one matrix to a stack of matrices."""

    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        array = matrix(a)
        if array.ndim == 2:
            return function(array, *args, **kwargs)
        lead = array.shape[:-2]
        results = [
            function(m, *args, **kwargs) for m in array.reshape((-1, *array.shape[-2:]))
        ]
        if isinstance(results[0], tuple):
            return tuple(
                _stack([r[i] for r in results], lead) for i in range(len(results[0]))
            )
        return _stack(results, lead)

    return call


def _stack(results: list[Any], lead: tuple[int, ...]) -> Any:
    arrays = [plain(r) for r in results]
    return finish(np.stack(arrays).reshape(lead + arrays[0].shape))


def _pivot(rows: Array, k: int) -> int:
    sizes = [abs(rows[i, k].value) for i in range(k, len(rows))]
    return k + max(range(len(sizes)), key=sizes.__getitem__)


def eliminate(a: Array, b: Array) -> tuple[Array, Array, int]:
    """Bring a to upper triangular form, b along with it; count the row exchanges."""
    a, b = a.copy(), b.copy()
    swaps = 0
    for k in range(len(a)):
        p = _pivot(a, k)
        if p != k:
            a[[k, p]], b[[k, p]] = a[[p, k]], b[[p, k]]
            swaps += 1
        for i in range(k + 1, len(a)):
            factor = a[i, k] / a[k, k]
            a[i, k + 1 :] = a[i, k + 1 :] - factor * a[k, k + 1 :]
            a[i, k] = element(0)
            b[i] = b[i] - factor * b[k]
    return a, b, swaps


def back_substitute(u: Array, b: Array) -> Array:
    """Solve u x = b for upper triangular u."""
    x = b.copy()
    for i in reversed(range(len(u))):
        for j in range(i + 1, len(u)):
            x[i] = x[i] - u[i, j] * x[j]
        x[i] = x[i] / u[i, i]
    return x


def solve_matrix(a: Array, b: Array) -> Array:
    """Solve a x = b for one square matrix, b of one or two dimensions."""
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("the matrix is not square")
    return back_substitute(*eliminate(a, b)[:2])


def solve(a: Any, b: Any) -> Any:
    a, b = matrix(a), matrix(b)
    if a.ndim == 2 and b.ndim <= 2:
        return solve_matrix(a, b)
    vector = b.ndim == 1
    if vector:
        b = b[:, None]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, lead + a.shape[-2:]).reshape((-1, *a.shape[-2:]))
    b = np.broadcast_to(b, lead + b.shape[-2:]).reshape((-1, *b.shape[-2:]))
    result = _stack([solve_matrix(x, y) for x, y in zip(a, b, strict=True)], lead)
    return result[..., 0] if vector else result


def inv(a: Array) -> Array:
    identity = np.array(
        [[element(int(i == j)) for j in range(len(a))] for i in range(len(a))],
        dtype=object,
    )
    return solve_matrix(a, identity)


def det(a: Array) -> Any:
    if len(a) == 2:
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    if len(a) == 3:
        # By minors: no pivot need be different from zero.
        return sum((a[0, j] * c for j, c in enumerate(_row_cofactors(a))), element(0))
    upper, _, swaps = eliminate(a, a[:, :0])
    result = element(-1 if swaps % 2 else 1)
    for i in range(len(a)):
        result = result * upper[i, i]
    return result


def _row_cofactors(a: Array) -> list[Any]:
    minors = [np.delete(a[1:], j, axis=1) for j in range(a.shape[1])]
    return [det(m) if j % 2 == 0 else -det(m) for j, m in enumerate(minors)]


def cofactors(a: Array) -> Array:
    """Return the matrix of cofactors by minors."""
    n = len(a)
    if n == 1:
        return np.array([[element(1)]], dtype=object)
    result = np.empty((n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            minor = det(np.delete(np.delete(a, i, axis=0), j, axis=1))
            result[i, j] = minor if (i + j) % 2 == 0 else -minor
    return result


def mirrored(a: Array, lower: bool = True) -> Array:
    """Return the symmetric matrix that a function sees which reads one triangle."""
    made = a.copy()
    for i in range(len(a)):
        for j in range(i):
            made[i, j] = made[j, i] = a[i, j] if lower else a[j, i]
    return made


def slogdet(a: Array) -> tuple[Any, Any]:
    d = det(a)
    return fn.sign(d), fn.log(abs(d))


def cholesky(a: Array) -> Array:
    """Return L with L Lᵀ = a, of which the lower triangle is read."""
    n = len(a)
    result = np.array([[element(0)] * n for _ in range(n)], dtype=object)
    for j in range(n):
        rest = a[j, j] - sum((result[j, k] ** 2 for k in range(j)), element(0))
        result[j, j] = fn.sqrt(rest)
        for i in range(j + 1, n):
            rest = a[i, j] - sum(
                (result[i, k] * result[j, k] for k in range(j)), element(0)
            )
            result[i, j] = rest / result[j, j]
    return result


def qr(a: Array, mode: str = "reduced") -> tuple[Any, Any]:
    """Gram–Schmidt with the signs that LAPACK's reflections give."""
    rows, columns = a.shape
    if mode == "reduced" and rows < columns:
        q, r = qr(a[:, :rows])
        return q, np.concatenate([r, np.dot(q.T, a[:, rows:])], axis=1)
    if mode != "reduced":
        raise SymbolicValueError(
            f"np.linalg.qr of {rows}×{columns} has no symbolic form"
        )
    q = np.empty((rows, columns), dtype=object)
    r = np.array([[element(0)] * columns for _ in range(columns)], dtype=object)
    negative = _negative_diagonal(a)
    for j in range(columns):
        v = a[:, j]
        for k in range(j):
            r[k, j] = np.dot(q[:, k], a[:, j])
            v = v - r[k, j] * q[:, k]
        size = fn.sqrt(np.dot(v, v))
        r[j, j] = -size if negative[j] else size
        q[:, j] = v / r[j, j]
    return q, r


def _negative_diagonal(a: Array) -> list[bool]:
    """Return which diagonal entries of R LAPACK makes negative."""
    floats = np.array([[float(x.value) for x in row] for row in a])
    return [bool(d < 0) for d in np.diag(np.linalg.qr(floats)[1])]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    array = as_array(x, home())
    if axis is None and (ord is None or array.ndim == 1):
        flat = array.reshape(-1)
        result = _vector_norm(plain(flat), ord)
        return finish(plain(result).reshape((1,) * array.ndim)) if keepdims else result
    axes = tuple(range(array.ndim)) if axis is None else axis
    if isinstance(axes, tuple) and len(axes) == 2:
        result = _matrix_norm(array, ord, axes)
        if keepdims:
            for one in sorted(a % array.ndim for a in axes):
                result = np.expand_dims(result, one)
        return result
    one = axes[0] if isinstance(axes, tuple) else axes
    moved = plain(np.moveaxis(array, one, -1))
    result = np.empty(moved.shape[:-1], dtype=object)
    for index in np.ndindex(*result.shape):
        result[index] = _vector_norm(moved[index], ord)
    return finish(np.expand_dims(result, one) if keepdims else result)[()]


def _vector_norm(v: Array, ord: Any) -> Any:
    items = [element(i) for i in v]
    if ord is None or ord == 2:
        return fn.sqrt(sum((_square(i) for i in items), element(0)))
    sizes = [fn.absolute(i) for i in items]
    if ord == np.inf or ord == -np.inf:
        return _extreme(sizes, ord > 0)
    if ord == 0:
        return element(sum(int(bool(s != 0)) for s in sizes))
    if ord == 1:
        return sum(sizes, element(0))
    return fn.power(
        sum((fn.power(s, ord) for s in sizes), element(0)), 1 / element(ord)
    )


def _square(x: Any) -> Any:
    return (x * x.conjugate()).real if fn.is_complex(x) else x * x


def _extreme(items: list[Any], largest: bool) -> Any:
    result = items[0]
    for item in items[1:]:
        result = fn.maximum(result, item) if largest else fn.minimum(result, item)
    return result


def _matrix_norm(array: Array, ord: Any, axes: tuple[int, int]) -> Any:
    moved = np.moveaxis(array, axes, (-2, -1))
    if ord is None or ord == "fro":
        return norm(moved.reshape((*moved.shape[:-2], -1)), None, -1)
    if ord in (1, -1, np.inf, -np.inf):
        sums = np.sum(np.abs(moved), axis=-2 if abs(ord) == 1 else -1)
        return np.max(sums, axis=-1) if ord > 0 else np.min(sums, axis=-1)
    values = stacked(svd)(moved, compute_uv=False)
    if ord == "nuc":
        return np.sum(values, axis=-1)
    return values[..., 0] if ord == 2 else values[..., -1]


def matrix_power(a: Any, n: int) -> Any:
    a = matrix(a)
    if n < 0:
        return matrix_power(stacked(inv)(a), -n)
    result = None
    for _ in range(n):
        result = a if result is None else np.matmul(result, a)
    return finish(np.eye(a.shape[-1])) if result is None else result


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    result = matrix(arrays[0])
    for other in arrays[1:]:
        result = np.dot(result, matrix(other))
    return result


def pinv(a: Array, *args: Any, **kwargs: Any) -> Array:
    """Return the pseudo-inverse of a matrix of full rank."""
    rows, columns = a.shape
    floats = np.array([[float(x.value) for x in row] for row in a])
    if np.linalg.matrix_rank(floats) < min(rows, columns):
        u, s, v = svd(a, full_matrices=False)
        kept = [i for i, x in enumerate(s) if x.value > s[0].value * PINV_CUTOFF]
        return np.dot(v[kept].T / s[kept], u[:, kept].T)
    if rows == columns:
        return inv(a)
    if rows > columns:
        return solve_matrix(np.dot(a.T, a), a.T)
    return np.dot(a.T, inv(np.dot(a, a.T)))


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, int, Any]:
    a, b = matrix(a), matrix(b)
    x = np.dot(pinv(a), b)
    off = b - np.dot(a, x)
    residuals = np.sum(off * off, axis=0)
    return x, np.atleast_1d(residuals), min(a.shape), None


def mpmath_matrix(a: Array, title: str) -> Any:
    """Return an mpmath matrix, or say that there is no symbolic form."""
    first = a.reshape(-1)[0]
    if not isinstance(first, Precise):
        raise SymbolicValueError(f"{title} has no symbolic form here")
    context = first.home.reals.context
    return context, context.matrix([[x.value for x in row] for row in a])


def elements_of(m: Any) -> Array:
    return np.array(
        [[element_of(_real(m[i, j])) for j in range(m.cols)] for i in range(m.rows)],
        dtype=object,
    )


def _real(value: Any) -> Any:
    """Return a number that should be real, which a rounding has made complex."""
    if hasattr(value, "imag") and abs(value.imag) > abs(value) * 1e-40:
        raise SymbolicValueError("a complex matrix has no symbolic form here")
    return getattr(value, "real", value)


def element_of(value: Any) -> Element:
    """Return an mpf as an element of the current home."""
    return home().lift(value)


def eigh(a: Array, UPLO: str = "L") -> tuple[Any, Any]:
    full = mirrored(a, UPLO in ("L", "l"))
    context, m = mpmath_matrix(full, "np.linalg.eigh")
    values, vectors = context.eigsy(m)
    order = sorted(range(len(values)), key=lambda i: values[i])
    columns = elements_of(vectors)[:, order]
    # LAPACK's sign, so that a loss which depends on it still sees one function.
    floats = np.array([[float(x.value) for x in row] for row in full])
    theirs = np.linalg.eigh(floats)[1]
    ours = np.array([[float(x.value) for x in row] for row in columns])
    signs = np.where(np.sum(theirs * ours, axis=0) < 0, -1, 1)
    return np.array([element_of(values[i]) for i in order]), columns * signs


def cond(a: Array, p: Any = None) -> Any:
    if p is None or p == 2:
        values = svd(a, compute_uv=False)
        return values[0] / values[-1]
    return norm(a, p) * norm(finish(inv(a)), p)


def eigvals(a: Array) -> Any:
    """Return the eigenvalues in the order of LAPACK's, which only floats have."""
    context, m = mpmath_matrix(a, "np.linalg.eigvals")
    found = [context.mpc(v) for v in context.eig(m, left=False, right=False)]
    floats = np.array([[float(x.value) for x in row] for row in a])
    ordered = []
    for value in np.linalg.eigvals(floats):
        nearest = min(found, key=lambda v: abs(complex(v) - complex(value)))
        found.remove(nearest)
        ordered.append(nearest)
    if all(abs(v.imag) <= abs(v) * 1e-40 for v in ordered):
        return np.array([element_of(v.real) for v in ordered])
    from .complexes import ComplexElement

    made = np.empty(len(ordered), dtype=object)
    for i, v in enumerate(ordered):
        made[i] = ComplexElement(element_of(v.real), element_of(v.imag))
    return made


def eigvalsh(a: Array, UPLO: str = "L") -> Any:
    return eigh(a, UPLO)[0]


def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, **o: Any) -> Any:
    context, m = mpmath_matrix(a, "np.linalg.svd")
    if not compute_uv:
        return np.array([element_of(v) for v in context.svd_r(m, compute_uv=False)])
    if full_matrices and a.shape[0] != a.shape[1]:
        raise SymbolicValueError(
            "np.linalg.svd(full_matrices=True) has no symbolic form"
        )
    u, s, v = context.svd_r(m)
    u, v = elements_of(u), elements_of(v)
    theirs = np.linalg.svd(
        np.array([[float(x.value) for x in row] for row in a]), full_matrices=False
    )[0]
    ours = np.array([[float(x.value) for x in row] for row in u])
    signs = np.where(np.sum(theirs * ours, axis=0) < 0, -1, 1)
    return u * signs, np.array([element_of(x) for x in s]), v * signs[:, None]


def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    **options: Any,
) -> Any:
    a, b = matrix(a), matrix(b)
    part = np.tril(a) if lower else np.triu(a)
    part = np.frompyfunc(element, 1, 1)(part)
    if unit_diagonal:
        for i in range(len(part)):
            part[i, i] = element(1)
    if trans in (1, "T", 2, "C"):
        part, lower = part.T, not lower
    if lower:
        return back_substitute(part[::-1, ::-1], b[::-1])[::-1]
    return back_substitute(part, b)


def scipy_cholesky(a: Any, lower: bool = False, **options: Any) -> Any:
    a = matrix(a)
    # SciPy reads the triangle that it returns.
    return cholesky(a) if lower else cholesky(a.T).T


def cho_factor(a: Any, lower: bool = False, **options: Any) -> tuple[Any, bool]:
    return scipy_cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, **options: Any) -> Any:
    c, lower = c_and_lower
    first = solve_triangular(c, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(c, first, trans=1 if lower else 0, lower=lower)


def scipy_eigh(a: Any, b: Any = None, lower: bool = True, **options: Any) -> Any:
    if b is not None:
        raise SymbolicValueError("a generalised eigenproblem has no symbolic form here")
    return stacked(eigh)(a, "L" if lower else "U")


def block_diag(*arrays: Any) -> Any:
    parts = [np.atleast_2d(matrix(a)) for a in arrays]
    rows, columns = (sum(p.shape[i] for p in parts) for i in (0, 1))
    result = np.array([[element(0)] * columns for _ in range(rows)], dtype=object)
    i = j = 0
    for p in parts:
        result[i : i + p.shape[0], j : j + p.shape[1]] = p
        i, j = i + p.shape[0], j + p.shape[1]
    return result


def expm(a: Array) -> Any:
    context, m = mpmath_matrix(a, "scipy.linalg.expm")
    return elements_of(context.expm(m, method="taylor"))


def vector_norm(
    x: Any,
    /,
    *,
    axis: Any = None,
    keepdims: bool = False,
    ord: Any = 2,
) -> Any:
    if axis is None and not keepdims:
        return norm(as_array(x, home()).reshape(-1), ord)
    return norm(x, ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return np.trace(as_array(x, home()), offset, -2, -1)


def _same(name: str) -> Callable[..., Any]:
    return lambda *a, **kw: getattr(np, name)(*(as_array(i, home()) for i in a), **kw)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "inv": stacked(inv),
    "det": stacked(det),
    "slogdet": stacked(slogdet),
    "solve": solve,
    "cholesky": lambda a, *, upper=False: (
        stacked(cholesky)(a) if not upper else stacked(lambda m: cholesky(m.T).T)(a)
    ),
    "qr": stacked(qr),
    "norm": norm,
    "vector_norm": vector_norm,
    "matrix_norm": matrix_norm,
    "matrix_power": matrix_power,
    "multi_dot": multi_dot,
    "pinv": stacked(pinv),
    "lstsq": lstsq,
    "eigh": stacked(eigh),
    "eigvalsh": stacked(eigvalsh),
    "eigvals": stacked(eigvals),
    "cond": stacked(cond),
    "svd": stacked(svd),
    "svdvals": lambda a: stacked(svd)(a, compute_uv=False),
    "trace": trace,
    "outer": _same("outer"),
    "matmul": _same("matmul"),
    "matrix_transpose": _same("matrix_transpose"),
    "diagonal": lambda x, /, *, offset=0: np.diagonal(
        as_array(x, home()), offset, -2, -1
    ),
    "cross": lambda a, b, /, *, axis=-1: np.cross(
        as_array(a, home()), as_array(b, home()), axis=axis
    ),
    "tensordot": lambda a, b, /, *, axes=2: np.tensordot(
        as_array(a, home()), as_array(b, home()), axes
    ),
    "vecdot": lambda a, b, /, *, axis=-1: np.sum(
        as_array(a, home()) * as_array(b, home()), axis=axis
    ),
}
"""Versions of the functions of `np.linalg`."""

SCIPY: dict[str, Callable[..., Any]] = {
    "inv": lambda a, **o: stacked(inv)(a),
    "det": lambda a, **o: stacked(det)(a),
    "solve": lambda a, b, **o: solve(a, b),
    "solve_triangular": solve_triangular,
    "cholesky": scipy_cholesky,
    "cho_factor": cho_factor,
    "cho_solve": cho_solve,
    "block_diag": block_diag,
    "norm": norm,
    "eigh": scipy_eigh,
    "eigvalsh": lambda *a, **o: scipy_eigh(*a, **o)[0],
    "expm": stacked(expm),
    "svd": lambda a, full_matrices=True, compute_uv=True, **o: stacked(svd)(
        a, full_matrices, compute_uv
    ),
    "eigvals": lambda a, **o: stacked(eigvals)(a),
    "svdvals": lambda a, **o: stacked(svd)(a, compute_uv=False),
    "pinv": lambda a, **o: stacked(pinv)(a),
}
"""Versions of the functions of `scipy.linalg`."""
