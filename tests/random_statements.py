"""Templates of random programs.

Holes: {S} a float, {A} an array of floats, {V} with one axis, {M} two, {Z} none; {K}
integers, {B} a mask, {I} a Python integer, {L} a list, {T} a tuple, {D} a dict, {E} an
iterator; {c} a constant, {i} a small index, {N} a new name, {Q} a condition.
"""

from __future__ import annotations

__all__ = ["ARRAYS", "CONDITIONS", "HEADER", "LOOPS", "SCALARS", "STATEMENTS"]

HEADER = """\
import collections
import copy
import functools
import itertools
import math
import operator

import numpy as np

W = np.array([0.4, -0.3, 0.8])
ROWS = [(0.5, -0.2), (0.1, 0.9)]
RATE = 0.3
TABLE = {"k": 0.7, "v": np.array([0.2, -0.6])}
Pair = collections.namedtuple("Pair", "left right")


def bend(u, v=0.5):
    if u > v:
        return np.tanh(u - 0.5 * v)
    w = 0.7 * u
    return w * np.cos(v)


def spread(u, p):
    q = p * u
    q[0] = np.sin(u)
    return q


def total(p):
    t = 0.0
    for e in p:
        if e > 1.5:
            continue
        t = 0.8 * t + e
    return np.tanh(t)


def changed(p, u):
    p[-1] = u
    return p


"""

SCALARS = """
np.tanh({S} * {S})
math.sin({S})
{S} - 0.4 * {S}
0.5 * {S} * math.tanh({S})
np.exp(-({S} ** 2))
np.tanh({S}) / (1.5 + np.sin({S}))
{V}[{i}]
{M}[{i}, {i}]
{A}.flat[{i}]
{V}[{K}[{i}]]
float({S})
float({V}[{i}])
{Z} * {S}
{Z}[()]
{A}.sum() * 0.3
np.sum({A} * {A}) * 0.1
np.mean({A})
np.max({A})
{A}.min()
np.prod(np.cos({A}))
np.median({V})
np.var({A})
np.tanh({V} @ {V})
np.tanh(np.dot({V}, {V}))
np.linalg.norm({V}) * 0.2
np.hypot({S}, {S})
np.logaddexp({S}, {c})
np.linalg.slogdet({M} @ {M}.T + 2.0 * np.eye(len({M})))[1]
np.trace({M})
np.average({V}, weights=np.abs({V}) + 0.1)
np.einsum("i,i->", {V}, {V}) * 0.1
max({S}, {S})
min({S}, {c})
abs({S}) * 0.5
sum({V})
np.tanh(sum(e * {S} for e in {V} if e > {c}))
sum(map(lambda e: e * 0.5, {V}))
functools.reduce(lambda p, q: np.tanh(p + q), {V})
bend({S}, {S})
bend({S})
total({V})
total([{S}, {S}])
({S} if {Q} else {S})
np.where({S} > {c}, {S}, {c}) * 1.0
{S} ** 2 * 0.2
{S} ** {I} * 0.1
{L}[{i}]
{D}["c"]
TABLE["k"] * {S}
RATE * {S}
ROWS[{i}][{i}] * {S}
np.sum(W * {S})
len({V}) * {S} * 0.2
{V}.shape[0] * {S} * 0.1
{I} * {S} * 0.2
{K}.sum() * {S} * 0.1
({K} * {S})[{i}] * 0.3
np.count_nonzero({V} > {c}) * {S}
int({S} > {c}) * {S}
[{S}, {S}][int({S} > {c})]
{V}[np.argmax({V})]
{V}[int(np.argmin({V}))]
sorted({V})[{i}]
max({L}, key=np.sum)[0]
next(iter({V}))
next({E})
next({E}, 0.5)
{T}[{i}]
Pair({S}, {S}).left
operator.mul({S}, {S})
math.hypot({S}, {S})
math.sqrt({S} ** 2 + 0.5)
np.sqrt({S} * {S} + 0.1)
math.exp(-abs({S}))
np.float64({S}) * 0.5
{V}.item(0)
np.ptp({V})
np.sum({V}[{V} > {c}])
np.sum({V}[{B}])
np.trapezoid({V})
np.linalg.det({M}) * 0.3
np.interp({S}, [-2.0, 0.0, 2.0], [0.1, 0.5, -0.3])
np.clip({S}, -0.8, 0.8)
np.sum(np.triu({M}))
""".strip().split("\n")

ARRAYS = """
np.tanh({A} * {S})
{A} - 0.3 * {A}
{A} + {S}
0.6 * {A} * np.cos({A})
{A} * {A} * 0.3
np.where({A} > {c}, {A}, 0.5 * {A})
np.where({B}, {A}, {S})
np.sin({A} + {S})
np.maximum({A}, {c})
np.minimum({A}, {A})
np.clip({A}, -0.7, 0.7)
{A}
{A}.T
{A}[::-1]
{A}[1:]
{A}[:-1]
{A}[::2]
{A}[{i}]
{M}[:, {i}]
{M}[{i}]
{A}[None]
{A}[..., 0]
{A}[{K}]
{A}[{K} > 0]
{A}[{A} > {c}]
{A}[{B}]
{A}[[1, 0, 1]]
{A}[np.array([0, -1])]
{A}.reshape(-1)
np.reshape({A}, (1, -1))
{A}.reshape(2, -1)
{A}.reshape(-1, order="F")
{A}.ravel()
np.ravel({A}, order="F")
{A}.ravel("K")
{A}.flatten()
{A}.copy()
np.copy({A})
np.array({A})
np.asarray({A})
np.asarray({S})
np.array({S})
np.ascontiguousarray({A})
np.asfortranarray({A})
{A}.conj()
{A}.real
{M}.mT
{A}.squeeze()
{A}.swapaxes(0, -1)
np.concatenate([{V}, {V}])
np.concatenate([{V}, [{S}]])
np.append({V}, {S})
np.stack([{V}, {V}])
np.vstack([{V}, {V}])
np.hstack(({V}, {V}))
np.column_stack([{V}, {V}])
np.array([{S}, {S}, {S}])
np.array([{V}, {V}])
np.array([np.sin(e * {S}) for e in {V}])
np.array([e for e in {V} if e > {c}] + [0.1])
np.outer({V}, {V})
{M} @ {M} * 0.4
{M} @ {V}
{V} @ {M}
{M}.T @ {V}
np.dot({M}, {V})
np.matmul({M}, {M}.T) * 0.3
np.einsum("ij->ji", {M})
np.einsum("ii->i", {M})
np.einsum("ij,j->i", {M}, {V})
np.einsum("i,j->ij", {V}, {V})
np.cumsum({V}) * 0.5
np.cumprod(np.cos({V}))
np.sort({V})
np.diff({V})
np.roll({A}, 1)
np.flip({A})
np.diag({M})
np.diag({V})
np.repeat({V}, 2)
np.tile({V}, 2)
np.broadcast_to({V}, (2, len({V})))
np.expand_dims({A}, 0)
np.atleast_2d({A})
np.zeros_like({A})
np.ones_like({A}) * {S}
np.full_like({A}, {S})
np.full(3, {S})
np.zeros(3)
np.linspace(0.0, {S}, 3)
np.split({V}, [1])[1]
np.array_split({V}, 2)[0]
np.take({V}, [1, 0])
np.take_along_axis({V}, np.argsort({V}), 0)
np.linalg.solve(2.0 * np.eye(len({M})) + 0.1 * {M}, {V})
np.linalg.inv(2.0 * np.eye(len({M})) + 0.1 * {M})
np.convolve({V}, {V}) * 0.3
np.pad({V}, 1)
np.triu({M})
np.kron({V}, np.array([1.0, -0.5]))
np.select([{V} > 0.5, {V} < -0.5], [{V}, {S} * {V}], 0.1)
np.gradient({V})
{A}.astype(np.float64)
{A}.mean(axis=0)
{A}.sum(axis=-1, keepdims=True) * 0.3
{M}.max(axis=1)
np.std({M}, axis=0)
np.max({A}, axis=0)
np.add.reduce({M}) * 0.5
np.add.accumulate({V}) * 0.3
np.multiply.outer({V}, {V})
spread({S}, {V})
changed({V}, {S})
changed({V}.copy(), {S})
{L}[{i}]
{L}[int({S} > {c})]
({A} if {Q} else {A})
max({L}, key=np.sum)
{D}["w"]
{K} * {A}
{K} * {S}
{K} * 0.5
{A} ** {K} * 0.2
{A} ** 2 * 0.3
np.sqrt({A} ** 2 + 0.2)
np.abs({A}) * 0.5
np.arctan2({A}, 1.5)
np.exp(-{A} ** 2)
np.log1p({A} ** 2) * 0.5
W * {S}
W[:2] + {S}
TABLE["v"] * {S}
np.array(ROWS) * {S}
np.asarray([{S}, {S}])
np.array(list(map(math.sin, {V})))
np.cross(W, {V})
np.fft.irfft(np.fft.rfft({V}), len({V}))
copy.copy({A})
copy.deepcopy({A})
np.moveaxis({M}, 0, 1)
np.rot90({M})
np.meshgrid({V}, {V})[0]
np.delete({V}, 0)
np.insert({V}, 1, {S})
np.trim_zeros({V})
np.unique({V})
""".strip().split("\n")

CONDITIONS = """
{S} > {c}
{S} > {S}
-0.6 < {S} <= 0.8
{S} > {c} and not {S} < {c}
{S} > {c} or {S} > {S}
np.sum({A}) > {c}
np.any({A} > {c})
np.all({V} < 1.5)
len({V}) > 2
{V}[{i}] > {V}[{i}]
{A} is {A}
{I} > 2
""".strip().split("\n")

LOOPS = """
for {N} in range(3):
for {N} in range(len({V})):
for {N} in range(len({V}) - 1, -1, -1):
for {N} in {V}:
for {N} in {M}:
for {N} in {L}:
for {N}, {N} in enumerate({V}):
for {N}, {N} in zip({V}, {V}):
for {N} in reversed({V}):
for {N}, {N} in {D}.items():
for {N} in sorted({V}):
for {N}, {N} in itertools.product(range(2), {V}):
for {N}, {N} in ROWS:
for {N} in map(np.sin, {V}):
for {N} in {E}:
for {N} in ({S}, {S}):
for {N} in {K}:
""".strip().split("\n")

STATEMENTS = [
    text.strip("\n")
    for text in """
{S} += 0.3 * {S}
---
{A} += 0.3 * {A}
---
{A} *= np.cos({S})
---
{V} -= 0.2 * {V}
---
{V}[{i}] = {S}
---
{V}[{i}] += {S}
---
{M}[{i}] = {V}
---
{M}[:, {i}] *= np.cos({S})
---
{M}[{i}, {i}] = {S}
---
{M}[{i}][{i}] = {S}
---
{A}[1:] = {A}[:-1]
---
{A}[1:] *= {c}
---
{A}[::2] = {S}
---
{A}[...] = {A} * 0.5
---
{A}[:] = {S}
---
{V}[:2] = [{S}, {S}]
---
{V}[{K}] = {S}
---
{V}[{K}] += {S}
---
np.add.at({V}, {K}, {S})
---
np.add.at({V}, [0, 0, 1], {V}[:3])
---
{A}[{A} > {c}] = {S}
---
{A}[{A} > {c}] *= 0.5
---
{V}[{B}] = {S}
---
{V}[[2, 0]] = {V}[[0, 2]]
---
{A}.fill({S})
---
np.copyto({A}, {A} * 0.4)
---
np.copyto({A}, {S}, where={A} > {c})
---
np.tanh({A}, out={A})
---
np.multiply({A}, {S}, {A})
---
{A}.flat[{i}] = {S}
---
{V}.sort()
---
np.put({V}, [0, 1], [{S}, {S}])
---
np.putmask({A}, {A} > {c}, {c})
---
np.fill_diagonal({M}, {S})
---
{Z}[...] = {S}
---
{Z} += {S}
---
{N} = {A}
---
{N} = {A}[...]
---
{N} = {Z}
---
{N} = {A} if {Q} else {A}
---
{N} = {V}[1:]
{N} = {V}[::-1]
---
{V}, {V} = {V}, {V}
---
{S}, {S} = {S}, {S}
---
{V}[0], {V}[1] = {V}[1], {V}[0]
---
{N}, *{N} = {V}
---
{N}, {N} = {S}, {A}
---
{N} = [{S}, {S}]
---
{N} = [{V}, {V} * 0.5]
---
{N} = [{V}.copy() for _ in range(2)]
---
{N} = [np.zeros(2), np.zeros(2)]
---
{N} = [0.0] * 3
---
{N} = [e * {S} for e in {V}]
---
{L}.append({S})
---
{L}.append({V})
---
{L}[{i}] = {S}
---
{L}[{i}] = {V}
---
{L}[{i}] += {S}
---
{L}[int({S} > {c})] += {S}
---
{L}[int({S} > {c})] = {S}
---
{L}[{i}][{i}] = {S}
---
{L}[int({S} > {c})][0] = {S}
---
{L} += [{S}]
---
{L}.reverse()
---
{L}.insert(0, {S})
---
{N} = {L}.pop()
---
{N} = {L}
---
{N} = {L}[:]
---
{N} = {L} + [{S}]
---
{N} = sorted({L}, key=np.sum)
---
{N} = max({L}, key=np.sum)
---
{N} = {L}[int({S} > {c})]
{V}[0] = {S}
---
for {N} in {L}:
    {A} *= 0.9
---
{N} = {"k": {S}, "w": {V}}
---
{D}["k"] = {S}
---
{D}["w"] *= {S}
---
{D}["w"][{i}] = {S}
---
{D}["w"] = {V}
---
{D}.update(c={S})
---
{N} = {D}.get("c", 0.5)
---
{N} = {D}.pop("k", 0.1)
---
{D}.setdefault("q", {S})
---
{N} = {k: v * {S} for k, v in {D}.items()}
---
{N} = list({D}.values())
---
{N} = dict({D})
---
{N} = ({S}, {V})
---
{N} = Pair({S}, {V})
---
{N} = iter({V})
---
{N} = zip({V}, {V})
---
{N} = enumerate({V})
---
{N} = (e * {S} for e in {V})
---
{N} = map(lambda e: e * {S}, {V})
---
{N} = reversed({V})
---
{N} = filter(lambda e: e > {c}, {V})
---
{N} = list({E})
---
{N} = int({S} > {c}) + 1
---
{N} = len({V})
---
{N} = np.argsort({V})
---
{N} = {V} > {c}
---
{N} = {V} > {V}
---
{N} = np.array([0, 1, 1], dtype=np.int8)
---
{N} = {K} + 1
---
{N} = np.arange(len({V}))
---
try:
    {N} = {S} / {I}
except ZeroDivisionError:
    {N} = {S}
---
with np.errstate(divide="ignore"):
    {N} = np.log({S} ** 2 + 0.1)
---
assert {S} < 100.0, "large"
---
if {Q}:
    return 0.5 * np.sum({V})
---
def step(e):
    return np.tanh(e * {S})
{N} = step({S}) + step({S})
---
def push(e):
    {V}[0] = e
push({S})
---
twist = lambda e, f={S}: e * f
{N} = twist({S})
---
half = functools.partial(bend, v={S})
{N} = half({S})
---
{N} = np.empty(len({V}))
for i in range(len({V})):
    {V}[i] = np.sin({V}[i])
---
{N} = np.zeros(({I}, 2))
---
{N} = 0
while {S} > {c} and {I} < 3:
    {S} = {S} * 0.5 - 0.1
    {I} += 1
---
j = 0
while j < 3:
    {S} = np.tanh({S} + 0.1 * j)
    j += 1
---
j = 0
while True:
    {V}[j % 2] *= 0.9
    j += 1
    if j > 3 or {S} > {c}:
        break
""".split("---")
]
