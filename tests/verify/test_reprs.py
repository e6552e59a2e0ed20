"""A prompt shows the tables of what witnesses found."""

from __future__ import annotations

import symback


def cube(x):
    return x**3


def test_prompts_show_tables() -> None:
    f = symback.differentiable(cube)
    compared, checked = repr(f.compare(2.0)), repr(f.check(2.0))
    # The time differs from run to run only.
    assert compared.startswith("cube: proved (1 proved)\n   entry  symbolic  generated")
    assert "✓  x      3*x**2    3*x**2" in compared
    assert checked.startswith("cube: gradient is right (1 right)\n")
    assert "x      12" in checked
    assert repr(f.symbolic(2.0)) == "loss = x**3\nd/dx = 3*x**2"
