"""What a loop costs: time and memory of one iteration, from a thousand to a million.

Run it alone on one core, with one BLAS thread:

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 taskset -c 1 python tests/bench/loops.py

For each loop it prints the time of value and gradient an iteration, its ratio to the
user's own function in the same process, and the peak of allocated memory an iteration.
All three must not grow with the number of iterations.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import symback


@symback.differentiable
def recurrence(a, n):
    h = 0.5
    for _ in range(n):
        h = np.tanh(a * h + 0.1)
    return h


@symback.differentiable
def filled(a, x):
    alpha = np.zeros(len(x))
    alpha[0] = x[0]
    for t in range(1, len(x)):
        alpha[t] = alpha[t - 1] * a + x[t]
    return np.sum(alpha**2)


@symback.differentiable
def appended(a, x):
    h, hs = 0.0, []
    for v in x:
        h = np.tanh(a * h + v)
        hs.append(h)
    return np.sum(np.array(hs) ** 2)


@symback.differentiable
def read(x, a):
    s = 0.0
    for t in range(len(x)):
        s = s * a + x[t] ** 2
    return s


@symback.differentiable
def until(a, limit):
    t, y = 0, 0.1
    while t < limit:
        y = y + 1e-7 * a * y
        t += 1
    return y


def loops(count: int) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the functions with arguments for `count` iterations."""
    x = np.random.default_rng(0).normal(size=count)
    return [
        (recurrence, (0.3, count)),
        (filled, (0.3, x)),
        (appended, (0.3, x)),
        (read, (x, 0.9)),
        (until, (0.3, count)),
    ]


def seconds(function: Callable[[], Any], repeats: int) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def peak(function: Callable[[], Any]) -> int:
    """Return the peak of memory allocated during a call, in bytes."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=10**6)
    largest = parser.parse_args().largest
    threads = {n: os.environ.get(n, "unset") for n in
               ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}  # fmt: skip
    print(f"NumPy {np.__version__}, {threads}")
    print(f"{'loop':12}{'iterations':>12}{'ns/iteration':>14}{'/ plain':>9}"
          f"{'bytes/iteration':>17}")  # fmt: skip
    count = 1000
    while count <= largest:
        for function, args in loops(count):
            call = function.value_and_grad_fn
            call(*args)
            repeats = max(3, 30_000 // count)
            both = seconds(lambda c=call, a=args: c(*a), repeats)
            plain = seconds(lambda f=function, a=args: f(*a), repeats)
            memory = peak(lambda c=call, a=args: c(*a))
            print(
                f"{function.__name__:12}{count:>12}{both / count * 1e9:>14.0f}"
                f"{both / plain:>9.2f}{memory / count:>17.1f}"
            )
        count *= 10


if __name__ == "__main__":
    main()
