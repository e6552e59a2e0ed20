"""Which operation's derivative is wrong, found by differences of single operations.

Two ways, neither of which uses a rule.  Where the generated graph is at hand, its
cotangents are compared with one another (`consistency`).  Where only a wrong gradient
is at hand, or its graph is consistent, the user's edges are tried (`flow`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .consistency import Local
from .flow import Flow
from .result import Culprit

if TYPE_CHECKING:
    from .finite import GradientCheck
    from .inputs import Inputs

__all__ = ["find_culprit"]

Array = np.ndarray[Any, Any]


def find_culprit(
    result: GradientCheck,
    inputs: Inputs,
    gradients: Mapping[int, Array],
    source: Callable[[], Any] | None,
) -> Culprit | None:
    """Return the operation whose derivative is wrong in a failed check, or None.

    source : gives the graphs, as `symback.run.Source`; None to read the function anew.
    """
    try:
        found = source() if source is not None else _read(inputs)
        with np.errstate(all="ignore"):
            if source is not None:
                search = Local(found, inputs)
                if search.made(gradients):
                    culprit = search.culprit()
                    if culprit is not None:
                        return culprit
            return Flow(found, inputs, result).culprit()
    except Exception:
        # A wrong gradient is reported with or without its place.  Functions that cannot
        # be read, or operations that fail on moved numbers, only cost the latter.
        return None


def _read(inputs: Inputs) -> Any:
    from ..run import generate

    return generate(inputs.fn, inputs.bound({}), inputs.wrt, False)
