"""Arguments at which each rule is tested, by operation.

Elementwise rules have a range for each argument; the others have whole calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

UNIT = (-0.9, 0.9)
POSITIVE = (0.3, 2.5)
ANY = (-2.0, 2.0)

RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "pow": (POSITIVE, ANY),
    "np.power": (POSITIVE, ANY),
    "np.pow": (POSITIVE, ANY),
    "np.float_power": (POSITIVE, ANY),
    "math.pow": (POSITIVE, ANY),
    "builtins.pow": (POSITIVE, ANY),
    "truediv": (ANY, POSITIVE),
    "np.divide": (ANY, POSITIVE),
    "np.true_divide": (ANY, POSITIVE),
    "mod": (ANY, (0.8, 2.5)),
    "np.mod": (ANY, (0.8, 2.5)),
    "np.remainder": (ANY, (0.8, 2.5)),
    "np.fmod": (ANY, (0.8, 2.5)),
    "math.fmod": (ANY, (0.8, 2.5)),
    "math.remainder": (ANY, (0.8, 2.5)),
    "np.reciprocal": (POSITIVE,),
    "np.sqrt": (POSITIVE,),
    "np.cbrt": (POSITIVE,),
    "np.log": (POSITIVE,),
    "np.log2": (POSITIVE,),
    "np.log10": (POSITIVE,),
    "np.log1p": ((-0.5, 2.0),),
    "np.abs": (POSITIVE,),
    "np.arcsin": (UNIT,),
    "np.arccos": (UNIT,),
    "np.asin": (UNIT,),
    "np.acos": (UNIT,),
    "np.arctanh": (UNIT,),
    "np.atanh": (UNIT,),
    "np.arccosh": ((1.3, 3.0),),
    "np.acosh": ((1.3, 3.0),),
    "np.tan": (UNIT,),
    "math.log": (POSITIVE, (1.5, 3.0)),
    "math.log2": (POSITIVE,),
    "math.log10": (POSITIVE,),
    "math.log1p": ((-0.5, 2.0),),
    "math.sqrt": (POSITIVE,),
    "math.cbrt": (POSITIVE,),
    "math.asin": (UNIT,),
    "math.acos": (UNIT,),
    "math.atanh": (UNIT,),
    "math.acosh": ((1.3, 3.0),),
    "math.tan": (UNIT,),
    "math.lgamma": (POSITIVE,),
    "math.gamma": (POSITIVE,),
}
"""Intervals of an elementwise rule's arguments; `ANY` if not named."""

INTEGER = {"np.ldexp": (1,), "math.ldexp": (1,)}
"""Positions of arguments that are integers."""


def draw(rng: np.random.Generator, span: tuple[float, float], shape: Any) -> Any:
    """Return numbers from an interval that keep clear of kinks at 0.1 k."""
    low, high = span
    x = rng.uniform(low, high, shape)
    # Steps reach 0.006 to each side: nothing lies within 0.01 of a multiple of 0.1.
    return np.round(x - 0.05, 1) + 0.05 + rng.uniform(-0.03, 0.03, shape)
