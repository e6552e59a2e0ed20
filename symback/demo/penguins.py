"""The measurements that the demo learns from, as arrays for training and testing."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["Penguins", "load"]


@dataclass(frozen=True)
class Penguins:
    """Standardised measurements and one-hot species, split at random.

    `x_train` is (n, 4) and `x_test` (m, 4): bill length, bill depth and flipper length
    (mm) and body mass (g), less the training birds' mean, over their standard
    deviation. `y_train` is (n, 3) and `y_test` (m, 3): 1 in the species' column.
    """

    species: tuple[str, ...]
    measurements: tuple[str, ...]
    x_train: NDArray[np.float64]
    y_train: NDArray[np.float64]
    x_test: NDArray[np.float64]
    y_test: NDArray[np.float64]


def load(test: int = 86, seed: int = 0) -> Penguins:
    """Read penguins.csv and set `test` birds aside, chosen at random by `seed`.

    >>> penguins = load()
    >>> penguins.x_train.shape, penguins.y_test.shape, penguins.species
    ((256, 4), (86, 3), ('Adelie', 'Chinstrap', 'Gentoo'))
    """
    text = files("symback.demo").joinpath("penguins.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    header, *rows = csv.reader(lines)
    species = tuple(sorted({row[0] for row in rows}))
    x = np.array([[float(cell) for cell in row[1:]] for row in rows])
    y = np.array([[float(row[0] == name) for name in species] for row in rows])

    order = np.random.default_rng(seed).permutation(len(rows))
    held, kept = order[:test], order[test:]
    x = (x - x[kept].mean(axis=0)) / x[kept].std(axis=0)
    return Penguins(species, tuple(header[1:]), x[kept], y[kept], x[held], y[held])
