"""Values through which no derivative passes."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .structure import mapped

__all__ = ["stop_gradient"]

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """Return the same numbers, in memory of their own, as constants of the gradient.

    Args:
        x: a number, an array, or a tuple, list, dict, named tuple or dataclass of them.

    >>> import symback
    >>> symback.grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """

    def stopped(leaf: Any) -> Any:
        return np.array(leaf) if isinstance(leaf, np.ndarray) else leaf

    made: T = mapped(x, stopped)
    return made
