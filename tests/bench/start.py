"""Measure what a user waits for: importing, decorating, the first gradient, a call.

    python tests/bench/start.py

Each figure is a median with its smallest and largest value; the ones that need a new
Python start one for each run.  BLAS runs on one thread, which the first line states.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"

import linecache
import platform
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
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

TINY = """
import numpy as np
def loss(w, b, v, c, x, y):
    z = w * x + b
    h = np.maximum(z, 0.0)
    s = v * h + c
    return 0.5 * (s - y) ** 2
"""

FIRST_OF_A_FILE = """
import importlib.util, symback, sys, time
symback.differentiable
spec = importlib.util.spec_from_file_location("users", sys.argv[1])
users = importlib.util.module_from_spec(spec)
spec.loader.exec_module(users)
f = symback.differentiable(users.loss, wrt=("w", "b", "v", "c"))
began = time.perf_counter()
f.value_and_grad_fn(0.5, 0.0, 3.0, -1.0, 2.0, 1.0)
print(time.perf_counter() - began)
"""

LSTM = """
def lstm(W, U, b, x, y):
    n, loss = U.shape[0], 0.0
    h, c = np.zeros(n), np.zeros(n)
    for t in range(len(x)):
        z = x[t] @ W + h @ U + b
        i, f = 1 / (1 + np.exp(-z[:n])), 1 / (1 + np.exp(-z[n : 2 * n]))
        o, g = 1 / (1 + np.exp(-z[2 * n : 3 * n])), np.tanh(z[3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
        loss = loss + np.sum((h - y[t]) ** 2)
    return loss
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


def in_new_pythons(*codes: str, given: str = "") -> list[list[float]]:
    """Run each code `RUNS` times, in turns, and return the seconds that it prints."""
    seconds: list[list[float]] = [[] for _ in codes]
    # As on a user's machine, the first run leaves compiled modules to the others.
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    for turn in range(RUNS + 1):
        for code, column in zip(codes, seconds, strict=True):
            done = subprocess.run(
                [sys.executable, "-c", code, given],
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            )
            if turn:  # the first turn compiles and fills the disk's cache
                column.append(float(done.stdout))
    return seconds


def generating(text: str, name: str, wrt: object, *args: object) -> list[float]:
    """Return the seconds that it takes to generate a function anew, once warm."""
    file = f"<bench {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, object] = {"np": np}
    exec(compile(text, file, "exec"), names)
    seconds = []
    for turn in range(6):
        began = time.perf_counter()
        symback.differentiable(names[name], wrt=wrt).backward_source_for(*args)
        if turn:
            seconds.append(time.perf_counter() - began)
    return seconds


def generations() -> None:
    """Measure how long generating takes, cold and warm."""
    with tempfile.TemporaryDirectory() as folder:
        for count in (8, 8000):
            path = Path(folder) / f"users{count}.py"
            more = "".join(
                f"def other{k}(x): return x + {k}\n" for k in range(8, count)
            )
            path.write_text(TINY + more)
            (seconds,) = in_new_pythons(FIRST_OF_A_FILE, given=str(path))
            title = f"first gradient, in a file of {count} lines"
            row(title, seconds, "ms", "bound 50 ms")
    scalars = (0.5, 0.0, 3.0, -1.0, 2.0, 1.0)
    row(
        "generating the scalar network",
        generating(TINY, "loss", ("w", "b", "v", "c"), *scalars),
        "ms",
        "bound 10 ms",
    )
    rng = np.random.default_rng(0)
    shapes = (3, 16), (4, 16), (16,), (5, 3), (5, 4)
    row(
        "generating a recurrent network with gates",
        generating(
            LSTM, "lstm", ("W", "U", "b"), *(rng.normal(size=s) for s in shapes)
        ),
        "ms",
        "bound 100 ms",
    )
    for count in (100, 1000):
        lines = "".join(f"    y = np.tanh(y * 0.5 + {k}.0)\n" for k in range(count))
        text = f"def chain(x):\n    y = x\n{lines}    return np.sum(y)\n"
        bound = "" if count == 100 else "bound 3000 ms"
        seconds = generating(text, "chain", 0, np.ones(4))
        row(f"generating a chain of {count} layers", seconds, "ms", bound)


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
    generations()
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
