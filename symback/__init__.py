"""Readable, provable gradients of NumPy functions.

The public names are imported when they are first used: the pytest plugin of the package
must not make every test run import NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import (
        DifferentiableFunction,
        custom_vjp,
        defrule,
        differentiable,
        grad,
        hessian,
        hvp,
        jacobian,
        jvp,
        stop_gradient,
        value_and_grad,
        vjp,
    )
    from .errors import (
        InternalError,
        MissingRuleError,
        NotDifferentiableError,
        NotScalarError,
        RefutedError,
        ShapeError,
        SourceUnavailableError,
        SymbackError,
        UnsupportedSyntaxError,
    )

__version__ = "0.1.0"

__all__ = [
    "DifferentiableFunction",
    "InternalError",
    "MissingRuleError",
    "NotDifferentiableError",
    "NotScalarError",
    "RefutedError",
    "ShapeError",
    "SourceUnavailableError",
    "SymbackError",
    "UnsupportedSyntaxError",
    "__version__",
    "custom_vjp",
    "defrule",
    "differentiable",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]

_API = frozenset(
    {
        "DifferentiableFunction",
        "custom_vjp",
        "defrule",
        "differentiable",
        "grad",
        "hessian",
        "hvp",
        "jacobian",
        "jvp",
        "stop_gradient",
        "value_and_grad",
        "vjp",
    }
)


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name not in __all__:
        raise AttributeError(f"module 'symback' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(
        import_module(".api" if name in _API else ".errors", __name__), name
    )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
