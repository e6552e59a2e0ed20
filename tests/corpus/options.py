"""isinstance, `is None`, and string, bool and None options decided by the signature."""

from __future__ import annotations

import numpy as np

from tests.corpus import case, draw, positive


@case(0.7, kinds="isinstance", generic=False)
def scalar_or_array(x):
    if isinstance(x, np.ndarray):
        return np.sum(x**2)
    return x**3


@case([draw(2, seed=1), 0.5], wrt="parts", kinds="isinstance", generic=False)
def mixed_list(parts):
    total = 0.0
    for p in parts:
        if isinstance(p, (int, float)):
            total += p**2
        else:
            total += np.sum(np.sin(p))
    return total


def tree_norm(tree):
    if isinstance(tree, dict):
        return sum(tree_norm(v) for v in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(tree_norm(v) for v in tree)
    return np.sum(tree**2)


@case(
    {"enc": [draw(2, 2, seed=2), draw(2, seed=3)], "dec": (draw(1, 2, seed=4), 0.3)},
    wrt="params",
    kinds="isinstance recursion",
    generic=False,
)
def norm_of_any_tree(params):
    return np.sqrt(tree_norm(params))


@case(draw(3, seed=5), None, wrt="x", kinds="is_none")
def optional_mask(x, mask=None):
    if mask is None:
        return np.mean(x**2)
    return np.sum(mask * x**2) / np.sum(mask)


@case(draw(3, seed=6), np.array([1.0, 0.0, 1.0]), wrt="x", kinds="is_none")
def optional_mask_given(x, mask=None):
    w = mask if mask is not None else np.ones_like(x)
    return np.sum(w * x**2) / np.sum(w)


@case(0.4, kinds="is_none")
def best_so_far(x):
    best = None
    for c in [0.5, 1.5, -0.3]:
        value = (x - c) ** 2
        if best is None or value < best:
            best = value
    return best


@case(draw(4, seed=7), draw(4, seed=8), wrt="p", kinds="string_option")
def reduction_option(p, y, reduction="mean"):
    e = (p - y) ** 2
    if reduction == "mean":
        return e.mean()
    elif reduction == "sum":
        return e.sum()
    raise ValueError(reduction)


@case(draw(3, seed=9), "Tanh", wrt="x", kinds="string_option", generic=False)
def string_methods(x, act):
    if act.lower().startswith("tanh"):
        h = np.tanh(x)
    else:
        h = np.exp(x)
    return np.sum(h)


@case(
    positive(3, seed=10), "sum", wrt="x", kinds="string_option getattr", generic=False
)
def numpy_function_by_name(x, name):
    return getattr(np, name)(x**2)


@case(draw(3, 2, seed=11), True, wrt="X", kinds="bool_option")
def centred_option(X, centre):
    if centre:
        X = X - X.mean(axis=0)
    return np.sum(X**4)


@case(positive(4, seed=12), wrt="x", kinds="bool_option defaults")
def log_option(x, log=False, unbiased=True):
    v = np.log(x) if log else x
    n = len(v) - 1 if unbiased else len(v)
    return np.sum((v - v.mean()) ** 2) / n


@case(draw(3, seed=13), False, wrt="x", kinds="bool_option")
def bool_in_arithmetic(x, flag):
    return np.sum(x**2) * (1 + flag) + (not flag) * x[0]


@case(draw(3, seed=14), kinds="none_option")
def none_axis(x, axis=None, dtype=None):
    return np.sum(x**2, axis=axis, dtype=dtype)


@case(
    draw(2, 3, seed=15),
    {"axis": 1, "keepdims": True},
    wrt="x",
    kinds="none_option dict",
    generic=False,
)
def options_dict(x, options):
    m = np.max(x, **options)
    return np.sum(np.exp(x - m))


@case(draw(3, seed=16), None, 2.0, wrt="x", kinds="none_option is_none")
def several_optionals(x, low, high):
    y = x**3
    if low is not None:
        y = np.maximum(y, low)
    if high is not None:
        y = np.minimum(y, high)
    return np.sum(y)


@case(draw(3, seed=17), kinds="hasattr getattr", generic=False)
def duck_typing(x):
    n = len(x) if hasattr(x, "__len__") else 1
    shape = getattr(x, "shape", ())
    return np.sum(x**2) / n * len(shape)
