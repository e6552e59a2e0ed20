"""Measure what a user waits for: importing, decorating, the first gradient, a call.

    python tests/bench/start.py

Each figure is a median with its smallest and largest value; the ones that need a new
Python start one for each run.  BLAS runs on one thread, which the first line states.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"

import platform
import subprocess
import sys
import timeit
from collections.abc import Callable
from statistics import median

import numpy as np

import symback

RUNS = 15

DECORATE = """
import time, symback
def f(x): return x * x
symback.differentiable(f)
began = time.perf_counter()
symback.differentiable(f, wrt="x")
print(time.perf_counter() - began)
"""

FIRST_GRADIENT = """
import time
from symback.demo.network import loss
from symback.demo.penguins import load
from symback.demo.training import start
data = load()
parameters = start(4, 3, seed=0)
began = time.perf_counter()
loss.value_and_grad_fn(*parameters, data.x_train, data.y_train)
print(time.perf_counter() - began)
"""


def timed_import(statement: str) -> str:
    return (
        f"import time; began = time.perf_counter(); {statement}; "
        "print(time.perf_counter() - began)"
    )


def in_new_pythons(*codes: str) -> list[list[float]]:
    """Run each code `RUNS` times, in turns, and return the seconds that it prints."""
    seconds: list[list[float]] = [[] for _ in codes]
    # As on a user's machine, the first run leaves compiled modules to the others.
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    for turn in range(RUNS + 1):
        for code, column in zip(codes, seconds, strict=True):
            done = subprocess.run(
                [sys.executable, "-c", code],
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            )
            if turn:  # the first turn compiles and fills the disk's cache
                column.append(float(done.stdout))
    return seconds


def per_call(function: Callable[..., object], *args: object) -> list[float]:
    """Return seconds a call, of `RUNS` rounds of 20,000 calls."""
    timer = timeit.Timer(lambda: function(*args))
    empty = min(timeit.repeat(lambda: None, number=20_000, repeat=RUNS))
    return [(t - empty) / 20_000 for t in timer.repeat(RUNS, 20_000)]


def row(name: str, seconds: list[float], unit: str, bound: str) -> None:
    scale = {"ms": 1e3, "µs": 1e6}[unit]
    low, middle, high = (f(seconds) * scale for f in (min, median, max))
    print(f"{name:<44}{middle:8.2f} {unit}  ({low:.2f} to {high:.2f})  {bound}")


@symback.differentiable(wrt=("w", "b", "v", "c"))
def scalar_network(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return 0.5 * (s - y) ** 2


def main() -> None:
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, symback "
        f"{symback.__version__}, OPENBLAS_NUM_THREADS=1, OMP_NUM_THREADS=1; "
        f"medians of {RUNS}"
    )
    numpy_s, symback_s = in_new_pythons(
        timed_import("import numpy"),
        # The public names are imported when they are first used.
        timed_import("import symback; symback.differentiable"),
    )
    row("import numpy", numpy_s, "ms", "")
    row("import symback", symback_s, "ms", "")
    ratio = median(symback_s) / median(numpy_s)
    print(f"{'import symback / import numpy':<44}{ratio:8.2f}     bound 1.30")
    decorate_s, first_s = in_new_pythons(DECORATE, FIRST_GRADIENT)
    row("decorating a function", decorate_s, "ms", "bound 1 ms")
    row("first gradient of the demo's network", first_s, "ms", "bound 100 ms")
    arguments = (0.5, 0.0, 3.0, -1.0, 2.0, 1.0)
    value_and_grad = scalar_network.value_and_grad_fn
    row(
        "value and gradient of the scalar network",
        per_call(value_and_grad, *arguments),
        "µs",
        "bound 3 µs",
    )
    row(
        "gradient of the scalar network",
        per_call(scalar_network.grad_fn, *arguments),
        "µs",
        "bound 3 µs",
    )
    row(
        "its value, by the user's own function",
        per_call(scalar_network.__wrapped__, *arguments),
        "µs",
        "",
    )


if __name__ == "__main__":
    main()
