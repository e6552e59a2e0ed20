"""Random numbers of our own: evenly spread, and the same in each run."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from symback.noise import Noise, is_random

LOADED = """
import sys, tempfile, pathlib, importlib.util, numpy as np, symback
path = pathlib.Path(sys.argv[1])
path.write_text("import numpy as np\\ndef f(x): return np.sum(np.sin(x) * x)\\n")
spec = importlib.util.spec_from_file_location("users", path)
users = importlib.util.module_from_spec(spec)
spec.loader.exec_module(users)
symback.grad(users.f)(np.ones(3))
print([m for m in ("numpy.random", "numpy.ma", "numpy.fft") if m in sys.modules])
"""


def test_spread():
    found = Noise(3).uniform(2.0, 4.0, (100, 200))
    assert found.shape == (100, 200)
    assert 2.0 <= found.min() < 2.001
    assert 3.999 < found.max() < 4.0
    # The mean and variance of 20,000 numbers: within five deviations of 3 and 1/3.
    assert abs(found.mean() - 3.0) < 5 * np.sqrt(1 / 3 / found.size)
    assert abs(found.var() - 1 / 3) < 0.01
    assert np.linalg.matrix_rank(found) == 100
    assert abs(np.corrcoef(found.ravel()[1:], found.ravel()[:-1])[0, 1]) < 0.04


def test_each_run_and_each_draw():
    one, other = Noise(5), Noise(5)
    first = one.uniform(0, 1, (3,))
    assert first.tolist() == other.uniform(0, 1, (3,)).tolist()
    assert not set(first) & set(one.uniform(0, 1, (3,)))
    assert float(Noise(6).uniform(0, 1)) != float(Noise(5).uniform(0, 1))


def test_generators():
    assert is_random(np.random.default_rng(0))
    assert is_random(np.random.RandomState(0))
    assert not is_random(np.ones(2))


def test_a_gradient_loads_nothing_that_it_does_not_use(tmp_path):
    path = str(tmp_path / "users.py")
    done = subprocess.run(
        [sys.executable, "-c", LOADED, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
