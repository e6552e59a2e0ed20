"""Methods and attributes of user objects, properties, dataclasses, NamedTuples."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.corpus import case, draw


class Linear:
    """A layer with its arrays as attributes."""

    gain = 1.5

    def __init__(self, W, b):
        self.W = W
        self.b = b

    def __call__(self, x):
        return self.gain * (self.W @ x + self.b)

    def penalty(self, strength=0.1):
        return strength * np.sum(self.W**2)

    @property
    def rows(self):
        return self.W.shape[0]

    @property
    def normalised(self):
        return self.W / np.sqrt(np.sum(self.W**2))

    @staticmethod
    def activate(z):
        return np.tanh(z)

    @classmethod
    def scale(cls, z):
        return cls.gain * z


layer = Linear(draw(2, 3, seed=1), draw(2, seed=2))


@case(draw(3, seed=3), layer, wrt="x", kinds="method object", generic=False)
def object_as_argument(x, model):
    return np.sum(model(x) ** 2) + model.penalty() * x[0]


@case(draw(3, seed=4), kinds="method object")
def global_object(x):
    return np.sum(layer.activate(layer(x))) / layer.rows


@case(
    draw(2, 3, seed=5),
    draw(2, seed=6),
    draw(3, seed=7),
    wrt=("W", "b", "x"),
    kinds="method object",
)
def object_built_inside(W, b, x):
    model = Linear(W, b)
    h = model.activate(model(x))
    return np.sum(h) + model.penalty(0.5) + Linear.scale(h[0])


@case(draw(3, seed=8), kinds="property")
def property_of_global(x):
    return np.sum((layer.normalised @ x) ** 2)


@case(draw(2, 3, seed=9), kinds="property")
def property_of_local(W):
    model = Linear(W, 0.0)
    return np.sum(model.normalised**3) * model.rows


class Circle:
    def __init__(self, radius):
        self.radius = radius

    @property
    def area(self):
        return np.pi * self.radius**2

    def grow(self, factor):
        self.radius = self.radius * factor
        return self


@case(1.5, kinds="property object_mutation")
def object_that_changes(r):
    c = Circle(r)
    before = c.area
    c.grow(r).grow(2.0)
    c.radius += 1.0
    return c.area - before


@dataclass
class Gaussian:
    mu: np.ndarray
    log_sd: float = 0.0

    def logpdf(self, x):
        z = (x - self.mu) / np.exp(self.log_sd)
        return np.sum(-0.5 * z**2 - self.log_sd)


@case(
    Gaussian(draw(3, seed=10), 0.3),
    draw(3, seed=11),
    wrt="q",
    kinds="dataclass",
    generic=False,
)
def dataclass_parameter(q, x):
    return -q.logpdf(x) + q.log_sd**2


@case(draw(2, seed=12), 0.2, wrt=("m", "s"), kinds="dataclass")
def dataclass_inside(m, s):
    q = Gaussian(m, log_sd=s)
    p = replace(q, log_sd=2.0 * s)
    return q.logpdf(np.ones(2)) * p.logpdf(np.zeros(2))


@dataclass(frozen=True)
class Config:
    width: float = 0.5
    steps: int = 3
    offsets: list = field(default_factory=lambda: [0.1, 0.2, 0.3])


@case(0.6, Config(), wrt="x", kinds="dataclass", generic=False)
def dataclass_of_options(x, config):
    s = 0.0
    for k in range(config.steps):
        s += np.exp(-((x - config.offsets[k]) ** 2) / config.width)
    return s


class State(NamedTuple):
    pos: np.ndarray
    vel: np.ndarray


class Params(NamedTuple):
    W: np.ndarray
    b: np.ndarray
    scale: float = 1.0


@case(
    State(draw(2, seed=13), draw(2, seed=14)),
    0.1,
    wrt=("s", "dt"),
    kinds="namedtuple",
    generic=False,
)
def leapfrog(s, dt):
    for _ in range(4):
        vel = s.vel - dt * s.pos
        s = State(s.pos + dt * vel, vel)
    return 0.5 * np.sum(s.pos**2) + 0.5 * np.sum(s.vel**2)


@case(
    Params(draw(2, 3, seed=15), draw(2, seed=16), 0.7),
    draw(3, seed=17),
    wrt="p",
    kinds="namedtuple",
    generic=False,
)
def namedtuple_parameter(p, x):
    W, b, scale = p
    y = p._replace(scale=2.0 * scale)
    return np.sum((W @ x + b) ** 2) * y.scale + p[2]


@case(0.4, 1.2, wrt=("x", "v"), kinds="namedtuple")
def namedtuple_inside(x, v):
    s = State(pos=x, vel=v)
    t = State(s.vel, s.pos * 2.0)
    a, b = t
    return a * b + t.pos


class Oscillator:
    """A model that steps itself."""

    def __init__(self, omega):
        self.omega = omega
        self.trace = []

    def force(self, x):
        return -(self.omega**2) * x

    def run(self, x, v, dt, n):
        for _ in range(n):
            v = v + dt * self.force(x)
            x = x + dt * v
            self.trace.append(x)
        return x


@case(1.3, 0.5, wrt=("omega", "x0"), kinds="method object object_mutation")
def simulate_object(omega, x0):
    osc = Oscillator(omega)
    end = osc.run(x0, 0.0, 0.1, 5)
    return end**2 + osc.trace[2]


class Vector:
    """Operators defined by the user."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@case(0.3, 0.8, wrt=("a", "b"), kinds="operator_overload object")
def overloaded_operators(a, b):
    u = Vector(a, b)
    w = u * a + Vector(1.0, b)
    return w.dot(u)
