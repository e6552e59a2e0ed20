"""What users call: the decorator, its functional forms and the function it makes."""

from __future__ import annotations

from .forms import differentiable, grad, value_and_grad
from .function import DifferentiableFunction

__all__ = ["DifferentiableFunction", "differentiable", "grad", "value_and_grad"]
