"""Whole calls at which the structural rules are tested, by operation."""

from __future__ import annotations

from typing import Any

import numpy as np

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments and keywords; `rtol`, `pick` and `skip` are for `evaluate.check`."""


def call(*args: Any, **kwargs: Any) -> Call:
    """Write a call as it is written in Python."""
    return args, kwargs


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Return normal numbers, all different."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def spaced(*shape: int, seed: int = 0) -> np.ndarray:
    """Return numbers that differ by at least 0.1 from one another and from 0."""
    rng = np.random.default_rng([seed, *shape])
    size = int(np.prod(shape))
    steps = np.concatenate([np.arange(1, size + 1), -np.arange(1, size + 1)])
    return rng.permutation(steps)[:size].reshape(shape) * 0.1 + 0.03


def complexes(*shape: int) -> np.ndarray:
    """Return complex numbers."""
    return numbers(*shape) + 1j * numbers(*shape, seed=1)


def regular(n: int, *batch: int) -> np.ndarray:
    """Return well-conditioned matrices."""
    return 0.4 * numbers(*batch, n, n) + 2.0 * np.eye(n)


V, W = numbers(3), numbers(3, seed=1)
M, N = numbers(2, 3), numbers(3, 4)
T, U = numbers(2, 3, 4), numbers(2, 4, 3)
S = spaced(3, 4)
MASK = np.array([[True, False, True, True], [False] * 3 + [True], [True] * 4])

AXES: list[dict[str, Any]] = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 2)},
    {"axis": (-1, 0), "keepdims": True},
    {"keepdims": True},
    {"axis": ()},
]


def reductions(*more: Call) -> list[Call]:
    """Return a reduction's calls over all kinds of axes."""
    some = [call(spaced(2, 3, 4), **axes) for axes in AXES]
    return [*some, call(spaced(5)), call(spaced(3, 1), axis=1), *more]


WHERE = [
    call(S, where=MASK),
    call(S, axis=1, where=MASK),
    call(S, axis=1, keepdims=True, where=MASK),
    call(S, axis=0, where=np.array([[True], [True], [False]])),
]
PRODUCTS = [
    call(V, W),
    call(V, N),
    call(M, V),
    call(M, N),
]
BATCHES = [
    call(T, U),
    call(T, numbers(4, 2)),
    call(numbers(5, 3), T),
    call(T, numbers(4)),
    call(V, T),
    call(numbers(3, 1, 2, 4), U),
    call(numbers(1, 3, 4), U),
    call(numbers(0, 3), N),
    call(numbers(2, 0), numbers(0, 3)),
]
EXTREME = [
    call(S, where=MASK, initial=-9.0),
    call(S, where=MASK, axis=0, initial=-9.0),
    call(S, axis=1, initial=0.4),
]

CALLS: dict[str, list[Call]] = {
    "np.sum": reductions(
        *WHERE, call(S, initial=2.0), call(S, axis=0, dtype=float), call(numbers(0, 3))
    ),
    "np.mean": reductions(*WHERE, call(numbers(3, 0), axis=0)),
    "np.prod": reductions(
        *WHERE,
        call(S, initial=2.0),
        call(S, axis=0, initial=2.0, keepdims=True, where=MASK),
        call(np.array([2.0, 0.0, 3.0])),
        call(np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]]), axis=1),
        call(numbers(0)),
        call(numbers(3, 0), axis=1),
    ),
    "np.var": reductions(
        *WHERE,
        call(S, ddof=1),
        call(S, axis=0, ddof=1, keepdims=True),
        call(S, axis=1, correction=1),
        call(S, axis=1, mean=np.mean(S, axis=1, keepdims=True)),
        call(S, mean=np.array(0.3)),
        call(complexes(4)),
        call(complexes(2, 3), axis=1),
    ),
    "np.std": [
        c
        for c in reductions(*WHERE, call(S, axis=0, ddof=1))
        if c[1].get("axis") != () and c[0][0].shape != (3, 1)
    ]
    + [call(complexes(4))],
    "np.max": reductions(*EXTREME),
    "np.min": reductions(
        call(S, where=MASK, initial=9.0), call(S, axis=1, initial=-0.4)
    ),
    "np.ptp": reductions(),
    "np.cumsum": [call(T), call(V), call(T, axis=0), call(T, axis=-2), call(T, 1)],
    "np.cumprod": [
        call(T),
        call(V),
        call(T, axis=0),
        call(T, axis=-1),
        call(np.array([2.0, 0.0, 3.0, 5.0])),
        call(np.array([[2.0, 0.0, 3.0, 0.0], [0.0, 1.5, 4.0, 1.0]]), axis=1),
        call(numbers(0)),
    ],
    "runtime.scan": [call(V, W), call(T, T + 1.0, 1), call(T, T + 1.0, -1)],
    "matmul": PRODUCTS + BATCHES,
    "np.dot": [
        *PRODUCTS,
        call(T, numbers(4)),
        call(T, numbers(4, 2)),
        call(numbers(4), U),
        call(T, U),
        call(2.0, V),
        call(V, 2.0),
        call(numbers(5, 4), U),
        call(np.array(2.0), np.array(3.0)),
        call(numbers(0), numbers(0)),
        call(numbers(2, 0), numbers(0)),
        call(numbers(2, 0), numbers(0, 3)),
    ],
    "np.outer": [call(V, W), call(V, numbers(2)), call(M, V), call(2.0, V)],
    "np.inner": [
        call(V, W),
        call(M, V),
        call(V, M),
        call(M, M + 1.0),
        call(2.0, M),
        call(T, numbers(4)),
        call(T, numbers(5, 4)),
        call(numbers(4), T),
    ],
    "np.vdot": [
        call(V, W),
        call(M, M + 1.0),
        call(complexes(3), complexes(3) + 1.0),
        call(complexes(3), V),
        call(V, complexes(3)),
    ],
    "np.linalg.inv": [call(regular(3)), call(regular(2, 4)), call(regular(1))],
    "np.linalg.det": [
        call(regular(3)),
        call(regular(2, 4)),
        call(np.zeros((3, 3))),
        call(np.zeros((1, 1))),
        call(np.array([[1.0, 2.0], [2.0, 4.0]])),
        call(np.diag([2.0, 3.0, 0.0])),
        call(numbers(4, 2) @ numbers(2, 4)),
        call(np.stack([np.ones((2, 2)), np.eye(2)])),
    ],
    "runtime.cofactor": [
        call(regular(3)),
        call(regular(2, 4)),
        call(regular(1)),
        call(np.zeros((3, 3))),
        call(np.zeros((2, 2))),
        call(np.diag([2.0, 3.0, 0.0])),
        call(np.diag([2.0, 0.0, 0.0])),
        call(numbers(4, 3) @ numbers(3, 4)),
        call(np.stack([np.ones((2, 2)), np.eye(2)])),
        call(regular(3) + 1j * numbers(3, 3)),
    ],
    "runtime.cofactor_pullback": [
        call(numbers(3, 3), regular(3)),
        call(numbers(2, 3, 3), regular(3, 2)),
    ],
    "np.linalg.slogdet": [call(regular(3), pick=(1,)), call(-regular(3, 2), pick=(1,))],
    "np.linalg.solve": [
        call(regular(3), V),
        call(regular(3), N),
        call(regular(3, 2), numbers(2, 3, 1)),
        call(regular(3, 2), N),
        call(regular(3), numbers(2, 3, 4)),
        call(regular(3, 2), V),
        call(regular(1), numbers(1)),
    ],
    "np.linalg.norm": [
        call(V),
        call(M),
        call(T),
        call(T, axis=1),
        call(T, axis=-1, keepdims=True),
        call(T, axis=(0, 2)),
        call(T, keepdims=True),
        call(2.0 * V, 2),
        call(V, 1),
        call(V, np.inf, skip=("ord",)),
        call(V, -np.inf, skip=("ord",)),
        call(V, 3),
        call(V, 1.5, skip=("ord",)),
        call(V, -1),
        call(V, 0.5, skip=("ord",)),
        call(T, 1, axis=1),
        call(T, np.inf, axis=0, keepdims=True, skip=("ord",)),
        call(M, "fro"),
        call(T, "fro", axis=(1, 2)),
        call(M, 1),
        call(M, -1),
        call(M, np.inf, skip=("ord",)),
        call(M, -np.inf, skip=("ord",)),
        call(M, 2),
        call(M, -2),
        call(M, "nuc"),
        call(T, 2, axis=(0, 2)),
        call(T, "nuc", axis=(2, 0), keepdims=True),
        call(T, 1, axis=(2, 1)),
        call(T, np.inf, axis=(-1, 0), keepdims=True, skip=("ord",)),
        call(complexes(3)),
        call(complexes(2, 3), axis=0),
        call(complexes(2, 3), 2),
        call(complexes(3), 1),
    ],
    "runtime.matmul_pullback_a": [
        call(a @ b, a, b) for (a, b), _ in PRODUCTS + BATCHES[:-1] if a.size
    ],
    "runtime.dot_pullback_a": [
        call(np.dot(a, b), a, b)
        for (a, b), _ in [
            *PRODUCTS,
            call(T, numbers(4)),
            call(T, U),
            call(V, 2.0),
            call(numbers(0), numbers(0)),
            call(numbers(2, 0), numbers(0)),
            call(numbers(2, 0), numbers(4, 0, 3)),
        ]
    ],
    "runtime.unbroadcast": [
        call(T, numbers(3, 1)),
        call(T, numbers(2, 3, 4)),
        call(T, numbers()),
    ],
    "np.reshape": [call(T, (6, 4)), call(T, -1), call(T, (4, -1), order="F")],
    "np.ravel": [call(T), call(T, order="F"), call(numbers())],
    "np.squeeze": [call(numbers(1, 3, 1)), call(numbers(1, 3, 1), axis=-1)],
    "np.expand_dims": [call(M, 0), call(M, (0, -1))],
    "np.atleast_1d": [call(numbers()), call(M)],
    "np.atleast_2d": [call(V), call(T)],
    "np.atleast_3d": [call(V), call(M)],
    "np.transpose": [call(T), call(T, (1, 2, 0)), call(T, axes=(-1, 0, 1)), call(V)],
    "np.matrix_transpose": [call(M), call(T)],
    "np.swapaxes": [call(T, 0, -1)],
    "np.moveaxis": [call(T, 0, -1), call(T, (0, 1), (-1, 0))],
    "np.broadcast_to": [call(V, (2, 3)), call(numbers(2, 1), (4, 2, 3)), call(V, (3,))],
    "np.concatenate": [
        call([V, W]),
        call((M, M + 1.0)),
        call([M, numbers(2, 1), M], axis=1),
        call([T, T], axis=-1),
        call([T, T], axis=-2),
        call([M, V], axis=None),
        call([V, numbers(0)]),
    ],
    "np.stack": [
        call([V, W]),
        call([M, M], axis=1),
        call([M, M], axis=-1),
        call([M, M], axis=-2),
        call([1.5, 2.5]),
    ],
    "np.vstack": [call([V, W]), call([M, V]), call([M, M])],
    "np.hstack": [call([V, numbers(2)]), call([M, M]), call([T, T]), call([1.5, V])],
    "np.dstack": [call([V, W]), call([M, M]), call([T, T])],
    "np.column_stack": [call([V, W]), call([V, numbers(3, 2)])],
    "np.block": [
        call([V, W]),
        call([[M, numbers(2, 1)], [numbers(1, 3), numbers(1, 1)]]),
        call([[M], [M]]),
        call([1.5, V]),
    ],
    "np.append": [call(V, W), call(M, V), call(M, M, axis=0), call(M, M, axis=1)],
    "np.array": [
        call([1.5, 2.5]),
        call([[1.5, 2.5], [0.5, -1.0]]),
        call([V, W]),
        call((V, [1.5, 2.5, 3.5])),
        call(M),
        call(M, dtype=float),
    ],
    "np.copy": [call(M)],
    "np.astype": [call(M, float), call(M, complex)],
    "np.float64": [call(1.5), call(M)],
    "np.complex128": [call(1.5), call(M)],
    "np.flip": [call(M), call(M, 0), call(T, axis=(0, -1))],
    "np.fliplr": [call(M)],
    "np.flipud": [call(M)],
    "np.rot90": [call(M), call(M, 3), call(T, k=-1, axes=(0, 2))],
    "np.roll": [
        call(M, 1),
        call(M, -2, axis=1),
        call(M, (1, 2), axis=(0, 1)),
        call(M, 1, axis=(0, 1)),
    ],
    "np.tile": [
        call(V, 2),
        call(M, 3),
        call(V, (2, 2)),
        call(M, (2, 1, 2)),
        call(T, (2,)),
        call(M, [2, 2]),
        call(V, 0),
    ],
    "np.repeat": [
        call(M, 2),
        call(V, [1, 0, 3]),
        call(M, 2, axis=0),
        call(M, [1, 2, 0], axis=-1),
        call(1.5, 3),
        call(V, 0),
    ],
    "np.pad": [
        call(V, 1),
        call(M, ((1, 0), (2, 1))),
        call(M, (1, 2), mode="edge"),
        call(M, 1, mode="reflect"),
        call(M, 2, mode="wrap"),
        call(M, 2, mode="symmetric"),
        call(V, 1, constant_values=3.0),
    ],
    "np.delete": [call(V, 1), call(M, [0, 2], axis=1), call(M, slice(0, 2))],
    "np.full": [call((2, 3), 1.5), call((2, 3), V)],
    "np.full_like": [call(M, 1.5), call(M, V)],
    "np.linspace": [
        call(1.0, 2.5),
        call(1.0, 2.5, 4),
        call(1.0, 2.5, num=4, endpoint=False),
        call(V, 2.0, 3),
        call(V, W, 3, axis=-1),
        call(V, M, 4),
    ],
    "np.arange": [call(1.03, 2.5, 0.3), call(2.05), call(0.5, 3.1)],
    "np.divmod": [call(7.3 * V, np.abs(W) + 1.0), call(7.3, 2.1)],
    "builtins.divmod": [call(7.3, 2.1), call(-7.3, 2.1)],
    "builtins.sum": [call([1.5, 2.5], 3.5), call([V, W]), call(M), call([V, 1.5], 2.5)],
    "math.hypot": [call(1.5, 2.5), call(1.5, -2.0, 0.5)],
    "np.select": [
        call([S > 0.5, S > 0], [S, S**2], 1.5),
        call([S > 0.5, S > 0], [V[:, None], 2.5]),
    ],
    "np.choose": [
        call(np.array([0, 1, 1]), [V, W]),
        call(np.array([0, 1]), [1.5, 2.5]),
    ],
    "np.where": [
        call(S > 0, S, S + 1.0),
        call(S > 0, 1.5, S),
        call(S > 0, S[0], S[:, :1]),
        call(S, S, 2.5, skip=("condition",)),
        call(True, 1.5, 2.5),
    ],
    "np.clip": [
        call(S, -0.4, 0.5),
        call(S, S - 1.0, S + 1.0),
        call(S, None, 0.5),
        call(S, -0.4, None),
        call(S, min=-0.4, max=0.5),
        call(S, max=numbers(4)),
        call(0.5, 1.0, 2.0),
        call(S, 0.5, -0.4),
        call(S, None, None),
    ],
    "np.real": [call(complexes(3)), call(V)],
    "np.imag": [call(complexes(3))],
    "np.abs": [call(S), call(0.5), call(complexes(3)), call(1.5 - 0.5j)],
    "np.conj": [call(complexes(3)), call(V)],
    "np.angle": [call(complexes(3)), call(complexes(3), deg=True)],
    "np.nan_to_num": [call(V)],
    "np.copysign": [call(V, W), call(V, -1.0)],
    "math.copysign": [call(1.5, -0.5), call(-1.5, -0.5)],
    "builtins.complex": [call(1.5), call(1.5, 2.5)],
}

EINSUMS = [
    ("ij,jk->ik", M, N),
    ("ij,jk", M, N),
    ("ij->ji", M),
    ("ij->", M),
    ("ij->i", M),
    ("ii->", numbers(3, 3)),
    ("ii->i", numbers(3, 3)),
    ("ii", numbers(3, 3)),
    ("nd,nn->d", numbers(3, 2), numbers(3, 3)),
    ("iij->j", numbers(3, 3, 2)),
    ("iii->i", numbers(3, 3, 3)),
    ("i,i", V, numbers(1)),
    ("i,j->ij", V, W),
    ("i,i->", V, W),
    ("b...,b...->...", T, T + 1.0),
    ("...ij,...jk->...ik", T, U),
    ("...ij,jk->...ik", T, numbers(4, 2)),
    ("ij,...j->...i", M, numbers(4, 3)),
    ("i...,i->...", M, numbers(2)),
    ("i...,i...->i...", M, numbers(2, 4, 3)),
    ("ijk, kl , l -> ij", T, numbers(4, 2), numbers(2)),
    ("i,i,i->i", V, W, V + 1.0),
    ("i,->i", V, 2.5),
]
CALLS |= {
    "np.einsum": [call(*arguments) for arguments in EINSUMS]
    + [call("ij,jk,kl->il", M, N, numbers(4, 2), optimize=True)],
    "np.tensordot": [
        call(T, numbers(3, 4, 2)),
        call(M, N, 1),
        call(V, W, 0),
        call(T, U, axes=(1, 2)),
        call(T, U, axes=([1, 2], [2, 1])),
        call(T, U, axes=((0, -1), (0, 1))),
        call(V, W, axes=1),
    ],
    "np.linalg.tensordot": [call(M, N, axes=1)],
    "np.kron": [call(M, N), call(V, W), call(M, V), call(2.5, V), call(T, M)],
    "np.cross": [
        call(V, W),
        call(numbers(2, 3), V),
        call(numbers(3, 2), numbers(2, 3), axisa=0),
        call(numbers(3, 2), numbers(3, 2) + 1.0, axis=0),
        call(numbers(2, 3), numbers(3, 2), axisb=0, axisc=0),
    ],
    "np.linalg.multi_dot": [
        call([M, N]),
        call([V, N, numbers(4, 2), numbers(2)]),
        call([M, N, numbers(4, 2)]),
    ],
    "np.linalg.matrix_power": [
        call(regular(3), 1),
        call(regular(3), 2),
        call(regular(3), 5),
        call(regular(3), -2),
        call(regular(2, 3), 3),
        call(regular(3), 0),
    ],
}

PAIRS = [(numbers(6), V), (V, numbers(6)), (numbers(6), W[:2]), (V, W)]
NANS = np.where(MASK, S, np.nan)
Q = np.array([0.2, 0.75])
GATHERED = np.array([[2, 0, 0], [1, 2, 1]])
CALLS |= {
    "np.nansum": [call(S), call(S, axis=1, keepdims=True)],
    "np.nanmean": [call(S), call(S, axis=0)],
    "np.nanprod": [call(S), call(S, axis=0)],
    "np.nanvar": [call(S), call(S, axis=0, ddof=1)],
    "np.nanstd": [call(S), call(S, axis=0, ddof=1)],
    "np.nanmax": [call(S), call(S, axis=0)],
    "np.nanmin": [call(S), call(S, axis=-1, keepdims=True)],
    "np.nancumsum": [call(S), call(S, axis=1)],
    "np.nancumprod": [call(S), call(S, axis=1)],
    "np.average": [
        call(M),
        call(M, axis=0),
        call(M, weights=np.abs(M)),
        call(M, axis=1, weights=np.abs(V)),
        call(M, axis=0, weights=np.array([0.5, 1.5]), keepdims=True),
        call(V, weights=V**2),
    ],
    "np.take": [
        call(V, [0, 2, 2]),
        call(M, GATHERED, axis=1),
        call(M, 4),
        call(M, -1, axis=0),
        call(M, [5, 1], axis=1, mode="wrap"),
    ],
    "np.take_along_axis": [
        call(M, np.array([[0, 2], [1, 1]]), axis=1),
        call(M, np.array([[0, 0, 1]]), 0),
    ],
    "np.compress": [call([True, False, True], V), call([True, False], M, axis=0)],
    "np.extract": [call(M > 0, M)],
    "runtime.gather_pullback": [
        call(numbers(2, 3), GATHERED, V),
        call(2.5, GATHERED, V),
    ],
    "np.diag": [call(V), call(V, 1), call(M), call(M, k=1), call(M, -1)],
    "np.diagflat": [call(V), call(M, 1)],
    "np.diagonal": [call(M), call(M, 1), call(T, -1, 2, 0), call(T, axis1=1, axis2=2)],
    "np.trace": [
        call(M),
        call(M, 1),
        call(M, -1, 1, 0),
        call(T),
        call(T, offset=1, axis1=2, axis2=1),
    ],
    "np.linalg.diagonal": [call(T), call(M, offset=1)],
    "np.linalg.trace": [call(T), call(M, offset=1)],
    "np.tril": [call(M), call(T, 1)],
    "np.triu": [call(M), call(T, k=-1)],
    "np.sort": [call(S), call(S, axis=0), call(S, axis=None), call(spaced(2, 3, 2), 1)],
    "np.partition": [call(S, 2), call(S, 1, axis=0), call(S, 4, axis=None)],
    "np.median": [
        call(S),
        call(S, axis=0),
        call(S, axis=1, keepdims=True),
        call(spaced(5)),
        call(S, keepdims=True),
        call(spaced(2, 3, 2), axis=(0, 2)),
        call(spaced(2, 3, 3), axis=(-1, 0), keepdims=True),
    ],
    "np.quantile": [
        call(S, 0.3, skip=("q",)),
        call(S, 1.0, axis=0, skip=("q",)),
        call(S, 0.4, axis=1, keepdims=True, skip=("q",)),
        call(S, [0.2, 0.7], axis=1, skip=("q",)),
        call(S, Q, skip=("q",)),
        call(S, Q, axis=0, keepdims=True, skip=("q",)),
        call(spaced(2, 3, 2), 0.3, axis=(0, 2), skip=("q",)),
    ],
    "np.percentile": [
        call(S, 30.0, axis=0, skip=("q",)),
        call(S, [20, 75], axis=1),
        call(S, 100 * Q, skip=("q",)),
    ],
    "np.diff": [
        call(V),
        call(M),
        call(M, axis=0),
        call(T, 2, axis=1),
        call(numbers(5), n=3),
        call(numbers(1)),
        call(V, prepend=0.5),
        call(M, prepend=0.5, append=numbers(2, 2)),
        call(M, axis=0, append=numbers(1, 3)),
        call(numbers(5), n=2, prepend=1.5, append=2.5),
        call(M, 0),
        call(numbers(1), n=2),
        call(numbers(2, 1), 3),
    ],
    "np.ediff1d": [call(V), call(M)],
    "np.trapezoid": [
        call(V),
        call(V, dx=0.5),
        call(V, np.array([0.5, 1.0, 2.5])),
        call(M, V),
        call(T, axis=1),
        call(T, spaced(3), axis=1),
        call(M, numbers(2, 3), axis=0),
    ],
    "np.gradient": [
        call(V, skip=("varargs",)),
        call(numbers(5), 0.5, skip=("varargs",)),
        call(numbers(2)),
        call(T, axis=1),
        call(numbers(4, 3), 0.5, axis=0, skip=("varargs",)),
        call(numbers(5), np.array([0.0, 0.5, 2.0, 2.5, 4.0]), skip=("varargs",)),
        call(T, np.array([0.0, 0.5, 2.0]), axis=1, skip=("varargs",)),
    ],
    "np.interp": [
        call(np.array([0.3, 1.7, -1.5, 2.2, 5.5]), np.arange(4.0), numbers(4)),
        call(1.3, np.array([0.0, 0.5, 2.0]), numbers(3)),
        call(numbers(2, 2), np.array([0.0, 0.5, 2.0]), numbers(3)),
        call(V, np.array([0.5]), np.array([1.5])),
    ],
    "np.convolve": [
        call(a, b, mode=mode)
        for mode in ("full", "same", "valid")
        for a, b in [*PAIRS, (complexes(4), complexes(3))]
    ],
    "np.correlate": [
        call(a, b, mode)
        for mode in ("full", "same", "valid")
        for a, b in [*PAIRS, (complexes(4), complexes(3))]
    ],
    "np.bincount": [
        call(np.array([0, 2, 2]), V),
        call(np.array([0, 2, 2]), weights=V, minlength=5),
    ],
    "np.histogram": [
        call(S, bins=3, weights=S**2, skip=("a",), pick=(0,)),
        call(
            S, np.array([-0.5, 0.0, S.max()]), weights=S, skip=("a", "bins"), pick=(0,)
        ),
    ],
    "np.unwrap": [call(10.0 * V)],
}


def positive(n: int, *batch: int) -> np.ndarray:
    """Return positive definite matrices."""
    a = numbers(*batch, n, n)
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


# Symmetric arguments and choices of sign are tested in test_decompositions.py.
CALLS |= {
    "np.linalg.eigvals": [call(np.diag([1.0, 2.0, 4.0]) + 0.1 * numbers(3, 3))],
    "np.linalg.svdvals": [call(M), call(T), call(N.T)],
    "np.linalg.svd": [
        call(regular(3)),
        call(N, full_matrices=False),
        call(N.T, full_matrices=False),
        call(regular(3, 2)),
        call(N, pick=(1,)),
        call(N.T, pick=(1,)),
    ],
    "np.linalg.qr": [call(regular(3)), call(N), call(N.T), call(regular(3, 2))],
    "np.linalg.pinv": [
        call(regular(3)),
        call(N),
        call(N.T),
        call(T),
    ],
    "np.linalg.lstsq": [
        call(N.T, numbers(4), pick=(0,), rcond=None),
        call(N.T, numbers(4), pick=(0, 1), rcond=None),
        call(N.T, numbers(4, 2), pick=(0, 1), rcond=None),
        call(N, numbers(3, 2), pick=(0,), rcond=None),
    ],
    "np.linalg.vector_norm": [
        call(T),
        call(T, axis=1, ord=1),
        call(T, axis=(0, 1), ord=3, keepdims=True),
        call(V, ord=np.inf, skip=("ord",)),
    ],
    "np.linalg.matrix_norm": [
        call(T),
        call(T, ord="nuc"),
        call(T, ord=2, keepdims=True),
        call(M, ord=1),
    ],
}
SP = "scipy.special"
CALLS |= {
    f"{SP}.logsumexp": [
        call(M),
        call(T, axis=1),
        call(T, axis=(0, 2), keepdims=True),
        call(M, b=np.abs(M)),
        call(M, axis=1, b=np.abs(V)),
        call(V, 0),
    ],
    f"{SP}.huber": [call(1.0, S * 3), call(np.array([0.5, 1.0, 1.5, 2.0]), S * 3)],
    f"{SP}.softmax": [call(M), call(T, axis=1), call(T, axis=(0, 2))],
    f"{SP}.log_softmax": [call(M), call(T, axis=1)],
    f"{SP}.multigammaln": [call(3.5, 2), call(V + 6.0, 3)],
    f"{SP}.fresnel": [call(V), call(1.3)],
    f"{SP}.sici": [call(V**2 + 0.5)],
    f"{SP}.shichi": [call(V**2 + 0.5)],
    f"{SP}.airy": [call(V)],
    f"{SP}.wofz": [call(complexes(3))],
}
CALLS |= {
    "runtime.split_like": [
        call(numbers(5), [V, W[:2]], skip=("arrays",)),
        call(M, [M[:, :1], M[:, 1:]], 1, skip=("arrays",)),
    ],
    "runtime.add_lists": [call([1.5, 2.5], [0.5, 0.25])],
    "runtime.list_add": [call([1.5, 2.5, 3.5], slice(1, 3), [0.5, 0.25])],
    "runtime.owned": [call(M), call([1.5, M])],
}
CALLS |= {
    "np.add.reduce": [call(T), call(T, axis=(0, 2), keepdims=True), call(T, None)],
    "np.multiply.reduce": [call(T), call(T, 1)],
    "np.maximum.reduce": [call(S), call(S, axis=None), call(S, 1, keepdims=True)],
    "np.minimum.reduce": [call(S), call(S, -1)],
    "np.maximum.accumulate": [call(S), call(S, axis=1), call(spaced(6))],
    "np.minimum.accumulate": [call(S), call(S, axis=-1)],
    "np.logaddexp.reduce": [call(T), call(T, axis=1), call(V)],
    "np.logaddexp.accumulate": [call(T), call(T, axis=1), call(V), call(100.0 * V)],
    "np.add.accumulate": [call(T), call(T, 1)],
    "np.multiply.accumulate": [call(T), call(T, 1)],
    "np.add.outer": [call(V, M), call(2.5, V)],
    "np.subtract.outer": [call(V, M), call(M, 2.5)],
    "np.multiply.outer": [call(V, M), call(M, W)],
    "np.unique": [call(spaced(5)), call(S)],
}
FFTS = [
    call(numbers(4)),
    call(numbers(5), norm="ortho"),
    call(complexes(2, 5), axis=0, norm="forward"),
    call(numbers(5), 8),
    call(numbers(2, 5), n=3, axis=1),
    call(complexes(5, 2), n=7, axis=0),
]
FFTNS = [
    call(numbers(2, 3)),
    call(complexes(2, 3), norm="ortho"),
    call(T, axes=(0, 2)),
    call(numbers(2, 3), (4, 2), (0, 1)),
    call(numbers(2, 3), s=(1, 5), axes=(1, 0)),
]
CALLS |= {
    "np.fft.fft": FFTS,
    "np.fft.ifft": FFTS,
    "np.fft.rfft": [c for c in FFTS if not np.iscomplexobj(c[0][0])]
    + [call(numbers(6, 2), axis=0)],
    "np.fft.irfft": [*FFTS, call(complexes(4), 7), call(complexes(4), 6), call(V, 9)],
    "np.fft.fft2": FFTNS,
    "np.fft.ifft2": FFTNS,
    "np.fft.fftn": [*FFTNS, call(T)],
    "np.fft.ifftn": [*FFTNS, call(T)],
    "np.fft.rfft2": [call(M), call(T), call(T, axes=(2, 0), norm="ortho")],
    "np.fft.rfftn": [call(M), call(T), call(T, axes=(2, 0), norm="forward")],
    "np.fft.irfft2": [call(M), call(complexes(2, 3)), call(T, axes=(2, 1))],
    "np.fft.irfftn": [call(M), call(T), call(complexes(2, 3), norm="ortho")],
    "np.fft.fftshift": [call(numbers(5)), call(M, axes=1)],
    "np.fft.ifftshift": [call(numbers(5)), call(M, axes=(0, 1))],
}
CALLS |= {
    "np.cumulative_sum": [
        call(V),
        call(M, axis=1),
        call(M, axis=0, include_initial=True),
    ],
    "np.cumulative_prod": [
        call(V),
        call(M, axis=1),
        call(M, axis=0, include_initial=True),
    ],
    "np.nanmedian": [call(S), call(S, axis=1, keepdims=True)],
    "np.modf": [call(7.3 * S, pick=(0,)), call(7.35, pick=(0,))],
    "np.frexp": [call(7.3 * S, pick=(0,))],
    "np.logspace": [
        call(0.2, 1.5, 4),
        call(V, 1.5, num=3, base=2.0, skip=("base",)),
        call(0.2, 1.5, 4, endpoint=False),
    ],
    "np.geomspace": [call(0.5, 3.0, 4), call(V**2 + 0.5, 3.0, 3, axis=-1)],
    "np.insert": [
        call(V, 1, 2.5),
        call(V, [0, 3], W[:2]),
        call(M, 1, 0.5, axis=1),
        call(M, 1, numbers(2), axis=1),
        call(M, [0, 2], numbers(2, 3), 0),
        call(M, 1, W),
    ],
    "np.resize": [call(V, (2, 4)), call(M, 4)],
    "np.rollaxis": [call(T, 2), call(T, 0, 3), call(T, 1, 1)],
    "np.split": [
        call(numbers(6), 3),
        call(M, [1], axis=1),
        call(T, (1, 2), axis=-1),
    ],
    "np.array_split": [call(numbers(5), 3), call(M, 2, axis=1)],
    "np.hsplit": [call(numbers(6), 3), call(numbers(2, 4), 2)],
    "np.vsplit": [call(M, 2)],
    "np.dsplit": [call(T, 2)],
    "np.unstack": [call(M), call(T, axis=1)],
    "np.meshgrid": [
        call(V, numbers(2)),
        call(V, numbers(2), indexing="ij"),
        call(V, numbers(2), numbers(4)),
        call(V),
    ],
    "np.broadcast_arrays": [call(V, M), call(M[:, :1], V, 2.5)],
    "np.vecdot": [
        call(V, W),
        call(M, V),
        call(T, numbers(1, 3, 1), axis=1),
        call(complexes(3), complexes(3) + 1.0),
    ],
    "np.matvec": [
        call(M, V),
        call(T, numbers(4)),
        call(numbers(2, 1, 3, 4), numbers(5, 4)),
    ],
    "np.vecmat": [call(V, N), call(V, T), call(complexes(3), complexes(3, 2))],
    "np.linalg.cross": [call(V, W), call(numbers(3, 2), numbers(3, 2) + 1.0, axis=0)],
    "np.linalg.cond": [call(regular(3)), call(N), call(T)],
    "np.cov": [
        call(M),
        call(V),
        call(numbers(4, 2), rowvar=False),
        call(M, numbers(2, 3, seed=1)),
        call(V, W, bias=True),
        call(M, ddof=0),
        call(numbers(4, 2), numbers(4, seed=1)[:, None], rowvar=False),
    ],
    "np.corrcoef": [call(numbers(2, 4)), call(V, W), call(numbers(4, 2), rowvar=False)],
    "np.polyval": [call(V, 1.5), call(V, M)],
    "np.polyder": [call(V)],
    "np.vander": [call(V), call(V, 2), call(V, 4, increasing=True)],
}
SL = "scipy.linalg"
FACTOR = np.linalg.cholesky(positive(3))
CALLS |= {
    f"{SL}.solve_triangular": [
        call(FACTOR, V, lower=True),
        call(FACTOR, N, lower=True),
        call(FACTOR.T, V),
        call(FACTOR.T, N, trans=1),
        call(FACTOR, V, trans="T", lower=True),
        call(FACTOR, N, lower=True, unit_diagonal=True),
    ],
    f"{SL}.cho_solve": [
        call((FACTOR, True), V, skip=("c_and_lower",)),
        call((FACTOR.T, False), N, skip=("c_and_lower",)),
    ],
    f"{SL}.solve": [
        call(regular(3), V),
        call(regular(3), N),
        call(regular(3), N, assume_a="gen"),
    ],
    f"{SL}.inv": [call(regular(3))],
    f"{SL}.det": [call(regular(3)), call(np.zeros((2, 2)))],
    f"{SL}.pinv": [call(N)],
    f"{SL}.norm": [call(N), call(N, 1), call(V, axis=0)],
    f"{SL}.svd": [call(regular(3)), call(N, full_matrices=False)],
    f"{SL}.svdvals": [call(N)],
    **{
        f"{SL}.{name}": [call(0.3 * numbers(3, 3))]
        for name in ("expm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
    },
    f"{SL}.logm": [call(regular(3))],
    f"{SL}.sqrtm": [call(regular(3))],
    f"{SL}.fractional_matrix_power": [call(regular(3), 0.3, skip=("t",))],
    f"{SL}.block_diag": [call(M, V, 2.5), call(M)],
    f"{SL}.toeplitz": [call(V), call(V, numbers(4))],
    f"{SL}.solve_sylvester": [call(regular(3), regular(2), numbers(3, 2))],
    f"{SL}.solve_continuous_lyapunov": [call(regular(3), numbers(3, 3))],
    f"{SL}.solve_discrete_lyapunov": [call(0.3 * regular(3), numbers(3, 3))],
    "scipy.integrate.trapezoid": [call(V), call(M, V), call(T, dx=0.5, axis=1)],
    "scipy.integrate.cumulative_trapezoid": [
        call(V),
        call(M, dx=0.5),
        call(T, axis=1, initial=0),
        call(M, np.array([0.5, 1.5, 2.0]), skip=("x",)),
    ],
    "scipy.integrate.simpson": [
        call(numbers(5)),
        call(numbers(2, 4), dx=0.5, skip=("dx",)),
        call(T, x=np.array([0.5, 1.5, 2.0]), axis=1, skip=("x",)),
    ],
    "scipy.spatial.distance.pdist": [
        call(numbers(4, 2)),
        call(numbers(4, 2), "sqeuclidean"),
    ],
    "runtime.whole_convolution": [
        call(numbers(4), V, W[:2], "full"),
        call(V, V, W[:2], "same"),
        call(numbers(2, 2), numbers(3, 4), numbers(2, 3), "valid"),
    ],
    "scipy.spatial.distance.squareform": [call(numbers(6)), call(numbers(3))],
    **{
        f"scipy.signal.{name}": [
            call(a, b, mode=mode)
            for mode in ("full", "same", "valid")
            for a, b in [
                (numbers(6), V),
                (numbers(5), W[:2]),
                (numbers(4, 5), numbers(2, 3)),
                (complexes(4), complexes(3)),
            ]
        ]
        for name in ("convolve", "fftconvolve", "correlate")
    },
    "scipy.spatial.distance.cdist": [
        call(numbers(3, 2), numbers(4, 2)),
        call(numbers(3, 2), numbers(4, 2), "sqeuclidean"),
    ],
}
ELSEWHERE = {
    "np.linalg.cholesky",
    "np.linalg.eigh",
    "np.linalg.eigvalsh",
    "np.linalg.eig",
    f"{SL}.cholesky",
    f"{SL}.cho_factor",
    f"{SL}.eigh",
    f"{SL}.eigvalsh",
}
"""Operations whose tests need more than a call."""

SAME = {
    "np.trapz": "np.trapezoid",
    "np.amax": "np.max",
    "np.amin": "np.min",
    "np.matmul": "matmul",
    "np.linalg.matmul": "matmul",
    "runtime.matmul_pullback_b": "runtime.matmul_pullback_a",
    "runtime.dot_pullback_b": "runtime.dot_pullback_a",
    "np.linalg.outer": "",
    "np.permute_dims": "np.transpose",
    "np.linalg.matrix_transpose": "np.matrix_transpose",
    "np.concat": "np.concatenate",
    "np.linalg.vecdot": "np.vecdot",
    "np.asarray": "np.array",
    "np.asanyarray": "np.array",
    "np.ascontiguousarray": "np.array",
    "np.float32": "",
    "np.complex64": "",
    "np.conjugate": "np.conj",
}
"""Operations that are tested at the calls of another; "" where `CALLS` adds some."""

CALLS["np.linalg.outer"] = [call(V, W)]
CALLS["np.float32"] = [call(1.5, rtol=1e-3)]
CALLS["np.complex64"] = [call(1.5, rtol=1e-3)]
for name, other in SAME.items():
    if other:
        CALLS[name] = CALLS[other]
