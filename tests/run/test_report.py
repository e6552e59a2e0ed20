"""What nobody foresaw is one error with a report; interrupts pass through."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import symback
from symback import infer
from symback.run import specialise


def loss(x):
    y = np.sin(x)
    return np.sum(np.cos(y) * y)


def test_a_fault_of_symbacks_own(monkeypatch):
    def broken(*args):
        raise KeyError("oops")

    monkeypatch.setattr(specialise, "tidy", broken)
    with pytest.raises(symback.InternalError) as found:
        symback.grad(loss)(np.ones(3))
    assert isinstance(found.value.__cause__, KeyError)
    for part in ("KeyError: 'oops'", symback.__version__, "NumPy", "y = np.sin(x)"):
        assert part in str(found.value)


class LateError(Exception):
    """What a handler raises that stops what takes too long."""


def ring(*_):
    raise LateError


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_time_out_is_not_swallowed(monkeypatch):
    evaluate = infer.evaluate

    def slow(*args):
        time.sleep(0.05)
        return evaluate(*args)

    monkeypatch.setattr(infer, "evaluate", slow)
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.08)
    try:
        with pytest.raises(LateError):
            symback.grad(loss)(np.ones(3))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside a thread
def test_a_fork_while_another_thread_generates(monkeypatch):
    evaluate = infer.evaluate
    begun = threading.Event()

    def slow(*args):
        begun.set()
        time.sleep(0.02)
        return evaluate(*args)

    monkeypatch.setattr(infer, "evaluate", slow)
    thread = threading.Thread(target=symback.grad(loss), args=(np.ones(3),))
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        # Were the lock held for ever, the alarm would end the child.
        signal.alarm(10)
        monkeypatch.undo()
        symback.grad(lambda x: np.sum(x**2))(np.ones(3))
        os._exit(0)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_name_of_two_lines(tmp_path):
    file = tmp_path / "two\nlines.py"
    file.write_text("import numpy as np\n\ndef f(x):\n    return np.sum(x**2)\n")
    namespace: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    value, gradient = symback.value_and_grad(namespace["f"])(np.array([1.0, 2.0]))
    assert value == 5.0
    np.testing.assert_array_equal(gradient, [2.0, 4.0])


def doubled_often(x):
    y = x
    for _ in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20):
        y = y * y - 0.5 * y
    return np.sum(y[y > 0.0]) + np.sum(y[y > 0.0] ** 2)


def test_a_mask_after_many_lines_is_soon_made():
    # Each value is used thrice: as a tree the graph would have 3**20 nodes.
    begun = time.perf_counter()
    symback.grad(doubled_often)(np.array([0.1, 0.2, -0.4]))
    assert time.perf_counter() - begun < 20
