"""One of two modules whose helpers have the same names."""

from __future__ import annotations

SCALE = 2.0


def shape_term(x):
    return SCALE * x**2
