"""The chain rule: from a graph to the graph of its value and derivative.

>>> from symback.assumptions import Assumptions
>>> from symback.graph import Graph
>>> from symback.infer import Sampler
>>> from symback.inference import SampledTypes
>>> from symback.lower.rules import RuleGraphs
>>> graph = Graph.parse("graph f(x):\\n  y = np.tanh(x)\\n  -> y")
>>> types = SampledTypes(Sampler(), Assumptions(generic=True))
>>> joint = vjp(graph, ["x"], types, RuleGraphs(types))
>>> print(joint)
graph f(x):
  y = np.tanh(x)
  %1 <- pow(y, 2)
  %2 <- sub(1, %1)
  x_bar <- runtime.unbroadcast(%2, x)
  -> (y, (x_bar,))
"""

from __future__ import annotations

from .jvp import jvp
from .vjp import Joint, differentiate, vjp

__all__ = ["Joint", "differentiate", "jvp", "vjp"]
