"""What users call: the decorator, its functional forms and the function it makes."""

from __future__ import annotations

from ..stop import stop_gradient
from .forms import differentiable, grad, value_and_grad
from .function import DifferentiableFunction
from .pullbacks import Pullback, vjp
from .rules import custom_vjp, defrule
from .tangents import hessian, hvp, jacobian, jvp

__all__ = [
    "DifferentiableFunction",
    "Pullback",
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
