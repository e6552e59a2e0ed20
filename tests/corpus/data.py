"""Building lists, tuples and dicts; append, extend, pop; arrays from lists."""

from __future__ import annotations

from collections import defaultdict, namedtuple

import numpy as np

from tests.corpus import case, draw


@case(0.4, 1.1, wrt=("a", "b"), kinds="list")
def list_building(a, b):
    terms = [a, b, a * b]
    terms[1] = b**2
    terms += [a + b]
    return terms[0] * terms[1] + terms[-1] * terms[2]


@case(draw(3, seed=1), kinds="list")
def list_of_arrays(x):
    blocks = [x, x**2] + [np.sin(x)]
    blocks = blocks * 2
    return np.sum(blocks[1] * blocks[2]) + np.sum(blocks[4])


@case(0.5, kinds="list")
def nested_lists(x):
    grid = [[x, 1.0], [x**2, np.exp(x)]]
    grid[0][1] = x**3
    det = grid[0][0] * grid[1][1] - grid[0][1] * grid[1][0]
    return det


@case(0.9, -0.4, wrt=("x", "y"), kinds="tuple")
def tuple_swap(x, y):
    for _ in range(3):
        x, y = y + 0.1 * x, x * 0.5
    return x * y


@case(draw(3, seed=2), kinds="tuple")
def tuple_of_results(x):
    stats = (np.mean(x), np.max(x), np.sum(x**2))
    first, rest = stats[0], stats[1:]
    return first * rest[0] + rest[1]


@case(0.7, kinds="tuple")
def tuple_concatenation(x):
    t = (x, x * 2) + (x**2,)
    p = (*t, 5.0)
    return sum(p) * len(p) + t[2]


@case(draw(2, seed=3), kinds="dict")
def dict_building(x):
    d = {"a": x[0], "b": x[1]}
    d["c"] = d["a"] * d["b"]
    d["a"] = d["c"] ** 2
    d.update(e=x[0] - x[1])
    return d["a"] + d["b"] * d["e"]


@case(draw(3, seed=4), kinds="dict")
def dict_methods(x):
    state = dict(h=x, c=np.zeros(3))
    state["c"] = state["c"] + state["h"] ** 2
    extra = state.pop("h")
    bias = state.get("bias", 0.5)
    state.setdefault("gain", 2.0)
    return np.sum(state["c"] * extra) * bias * state["gain"]


@case(0.3, 0.6, wrt=("a", "b"), kinds="dict")
def dict_merge(a, b):
    base = {"p": a, "q": 1.0}
    full = base | {"q": b}
    other = {**full, "r": a * b}
    return full["p"] * full["q"] + other["r"]


@case(draw(4, seed=5), kinds="append")
def append_then_sum(x):
    squares = []
    for v in x:
        squares.append(v**2)
    return sum(squares) * squares[0]


@case(
    draw(2, 2, seed=6), draw(3, 2, seed=7), wrt=("W", "xs"), kinds="append stack_list"
)
def append_states(W, xs):
    h = np.zeros(2)
    hs = []
    for x in xs:
        h = np.tanh(W @ h + x)
        hs.append(h)
    H = np.stack(hs)
    return np.sum(H**2) + np.sum(hs[-1])


@case(0.8, kinds="append")
def append_and_pop(x):
    stack = [x]
    stack.append(x**2)
    stack.append(stack[-1] * x)
    top = stack.pop()
    bottom = stack.pop(0)
    return top * bottom + stack[0]


@case(draw(3, seed=8), kinds="extend")
def extend_list(x):
    out = []
    out.extend([x[0], x[1] * 2])
    out.extend(v**2 for v in x)
    return np.prod(np.array(out))


@case(draw(2, seed=9), kinds="extend")
def insert_and_extend(x):
    seq = [x[0]]
    seq.insert(0, x[1] ** 2)
    seq.extend(seq)
    return sum((i + 1) * v for i, v in enumerate(seq))


@case(draw(2, seed=10), 3, wrt="x", kinds="extend append")
def pad_list(x, n):
    values = list(x)
    values.extend([0.5] * n)
    values.append(x[0] * x[1])
    return np.sum(np.array(values) ** 2)


@case(0.4, 1.2, wrt=("t", "s"), kinds="array_of_scalars")
def rotation_matrix(t, s):
    R = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    v = R @ np.array([s, 1.0])
    return v[0] * v[1]


@case(draw(3, seed=11), kinds="array_of_scalars")
def array_of_elements(p):
    y = np.array([p[0] * p[1], p[1] - p[2], 1.0])
    return np.sum(y**3)


@case(draw(2, seed=12), 0.3, wrt=("x", "c"), kinds="array_of_scalars")
def array_of_arrays(x, c):
    A = np.array([x, x**2, [c, 2.0 * c]])
    return np.sum(A.T @ A)


@case(draw(3, seed=13), draw(3, seed=14), wrt=("a", "b"), kinds="stack_list")
def stack_columns(a, b):
    M = np.stack([a, b, a * b], axis=1)
    return np.sum(M @ M)


@case(draw(2, seed=15), kinds="stack_list")
def concatenate_list(x):
    parts = [x]
    for k in range(2, 4):
        parts.append(x**k)
    y = np.concatenate(parts)
    return np.sum(y * np.arange(6.0))


@case(0.6, kinds="dict defaultdict")
def default_dict(x):
    groups = defaultdict(float)
    for k, v in [("a", x), ("b", x**2), ("a", 3 * x)]:
        groups[k] += v
    return groups["a"] * groups["b"]


Point = namedtuple("Point", "x y")


@case(0.2, 0.9, wrt=("a", "b"), kinds="namedtuple tuple")
def collections_namedtuple(a, b):
    p = Point(a, y=b)
    q = p._replace(x=p.y**2)
    return q.x * p.x + q.y


@case([0.3, [0.5, (1.1, 0.2)]], wrt="tree", kinds="list tuple", generic=False)
def nested_parameter(tree):
    a, (b, (c, d)) = tree
    return a * b + c**d


@case(
    {"net": {"W": draw(2, 2, seed=16), "b": [0.1, -0.2]}, "lr": 0.5},
    wrt="p",
    kinds="dict",
    generic=False,
)
def nested_dict_parameter(p):
    z = p["net"]["W"] @ np.array(p["net"]["b"])
    return p["lr"] * np.sum(z**2)
