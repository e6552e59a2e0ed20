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
    **{
        f"scipy.special.{name}": spans
        for name, spans in {
            "logit": ((0.1, 0.9),),
            "log1p": ((-0.5, 2.0),),
            "cbrt": (POSITIVE,),
            "erfinv": ((-0.8, 0.8),),
            "erfcinv": ((0.3, 1.6),),
            "ndtri": ((0.2, 0.8),),
            "gamma": (POSITIVE,),
            "gammaln": (POSITIVE,),
            "loggamma": (POSITIVE,),
            "rgamma": (POSITIVE,),
            "digamma": (POSITIVE,),
            "psi": (POSITIVE,),
            "polygamma": (POSITIVE, POSITIVE),
            "multigammaln": ((1.5, 3.0), POSITIVE),
            "factorial": (POSITIVE,),
            "beta": (POSITIVE, POSITIVE),
            "betaln": (POSITIVE, POSITIVE),
            "binom": ((2.6, 4.0), POSITIVE),
            "comb": ((2.6, 4.0), POSITIVE),
            "poch": (POSITIVE, POSITIVE),
            "gammainc": (POSITIVE, POSITIVE),
            "gammaincc": (POSITIVE, POSITIVE),
            "gammaincinv": (POSITIVE, (0.2, 0.8)),
            "gammainccinv": (POSITIVE, (0.2, 0.8)),
            "betainc": (POSITIVE, POSITIVE, (0.2, 0.8)),
            "betaincc": (POSITIVE, POSITIVE, (0.2, 0.8)),
            "betaincinv": (POSITIVE, POSITIVE, (0.2, 0.8)),
            "zeta": ((1.5, 3.0), POSITIVE),
            "xlogy": (ANY, POSITIVE),
            "xlog1py": (ANY, (-0.5, 2.0)),
            "entr": (POSITIVE,),
            "rel_entr": (POSITIVE, POSITIVE),
            "kl_div": (POSITIVE, POSITIVE),
            "pseudo_huber": (POSITIVE, ANY),
            "boxcox": (POSITIVE, ANY),
            "boxcox1p": (POSITIVE, ANY),
            "inv_boxcox": ((-0.4, 1.0), (0.2, 1.0)),
            "y0": (POSITIVE,),
            "y1": (POSITIVE,),
            "k0": (POSITIVE,),
            "k1": (POSITIVE,),
            "k0e": (POSITIVE,),
            "k1e": (POSITIVE,),
            "exp1": (POSITIVE,),
            "expi": (POSITIVE,),
            "spence": (POSITIVE,),
            "lambertw": (POSITIVE,),
            "ellipk": ((0.1, 0.9),),
            "ellipe": ((0.1, 0.9),),
            "ellipkinc": ((-1.2, 1.2), (0.1, 0.9)),
            "ellipeinc": ((-1.2, 1.2), (0.1, 0.9)),
            "hyp1f1": (POSITIVE, POSITIVE, UNIT),
            "hyp2f1": (POSITIVE, POSITIVE, POSITIVE, (-0.6, 0.6)),
            "iv": (POSITIVE, POSITIVE),
            "ive": (POSITIVE, POSITIVE),
            "jv": (POSITIVE, POSITIVE),
            "yv": (POSITIVE, POSITIVE),
            "kv": (POSITIVE, POSITIVE),
            "kve": (POSITIVE, POSITIVE),
            "jn": (POSITIVE, POSITIVE),
            "yn": (POSITIVE, POSITIVE),
            "kn": (POSITIVE, POSITIVE),
            "spherical_jn": (POSITIVE, POSITIVE),
            "expn": (POSITIVE, POSITIVE),
            "stdtr": (POSITIVE, ANY),
            "chdtr": (POSITIVE, POSITIVE),
            "pdtr": (POSITIVE, POSITIVE),
            "eval_legendre": (POSITIVE, UNIT),
            "eval_chebyt": (POSITIVE, UNIT),
            "eval_chebyu": (POSITIVE, UNIT),
        }.items()
    },
    "math.gamma": (POSITIVE,),
}
"""Intervals of an elementwise rule's arguments; `ANY` if not named."""

INSIDE: dict[str, tuple[tuple[float, float], ...]] = {
    # x, then the shape parameters; loc and scale keep x inside the support.
    "norm": (ANY,),
    "expon": (POSITIVE,),
    "uniform": ((0.2, 0.8),),
    "laplace": (ANY,),
    "logistic": (ANY,),
    "cauchy": (ANY,),
    "halfnorm": (POSITIVE,),
    "halfcauchy": (POSITIVE,),
    "rayleigh": (POSITIVE,),
    "maxwell": (POSITIVE,),
    "arcsine": ((0.2, 0.8),),
    "gumbel_r": (ANY,),
    "gumbel_l": (ANY,),
    "t": (ANY, POSITIVE),
    "chi2": (POSITIVE, (1.2, 5.0)),
    "gamma": (POSITIVE, POSITIVE),
    "invgamma": (POSITIVE, POSITIVE),
    "loggamma": (ANY, POSITIVE),
    "beta": ((0.2, 0.8), POSITIVE, POSITIVE),
    "f": (POSITIVE, (1.2, 5.0), (1.2, 5.0)),
    "lognorm": (POSITIVE, (0.5, 1.5)),
    "weibull_min": (POSITIVE, (0.5, 2.0)),
    "pareto": ((1.5, 3.0), POSITIVE),
    "powerlaw": ((0.2, 0.8), POSITIVE),
    "fisk": (POSITIVE, (0.5, 2.0)),
    "genpareto": (POSITIVE, (0.2, 0.6)),
    "genextreme": ((-1.0, 1.0), (0.2, 0.6)),
    "invgauss": (POSITIVE, (0.5, 1.5)),
    "vonmises": (ANY, POSITIVE),
    "skewnorm": (ANY, ANY),
    "truncnorm": ((-0.8, 0.8), (-2.0, -1.0), (1.0, 2.0)),
    "gennorm": (POSITIVE, (1.2, 3.0)),
}
"""Where the standard density of each distribution is positive."""

INTEGER = {
    "np.ldexp": (1,),
    "math.ldexp": (1,),
    "scipy.special.multigammaln": (1,),
    "scipy.special.lambertw": (1, 2),
    **{
        f"scipy.special.{name}": (0,)
        for name in ("polygamma", "yn", "kn", "spherical_jn", "expn", "eval_hermite")
    },
    "scipy.special.eval_hermitenorm": (0,),
}
"""Positions of arguments that are integers."""

CONSTANT = {
    f"scipy.special.{name}": names
    for name, names in {
        "gammainc": ("a",),
        "gammaincc": ("a",),
        "gammaincinv": ("a",),
        "gammainccinv": ("a",),
        "betainc": ("a", "b"),
        "betaincc": ("a", "b"),
        "betaincinv": ("a", "b"),
        "zeta": ("x",),
        "iv": ("v",),
        "ive": ("v",),
        "jv": ("v",),
        "jn": ("v",),
        "yv": ("v",),
        "kv": ("v",),
        "kve": ("v",),
        "hyp1f1": ("a", "b"),
        "hyp2f1": ("a", "b", "c"),
        "stdtr": ("df",),
        "chdtr": ("v",),
        "pdtr": ("k",),
        "eval_legendre": ("n",),
        "eval_chebyt": ("n",),
        "eval_chebyu": ("n",),
    }.items()
}
"""Arguments whose derivative no function of SciPy gives: such calls are refused."""


def draw(rng: np.random.Generator, span: tuple[float, float], shape: Any) -> Any:
    """Return numbers from an interval that keep clear of kinks at 0.1 k."""
    low, high = span
    x = rng.uniform(low, high, shape)
    # Steps reach 0.006 to each side: nothing lies within 0.01 of a multiple of 0.1.
    return np.round(x - 0.05, 1) + 0.05 + rng.uniform(-0.03, 0.03, shape)
