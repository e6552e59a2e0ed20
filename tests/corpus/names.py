"""Whatever the user calls variables: np, sum, w_bar, out, t1, loss, non-ASCII names."""

from __future__ import annotations

import math

import numpy
import numpy as np
import numpy as xp
from numpy import exp, tanh
from numpy import sum as total

from tests.corpus import case, draw, names_left, names_right
from tests.corpus.names_left import shape_term
from tests.corpus.names_right import shape_term as other_term


@case(0.6, 1.1, wrt=("w_bar", "out"), kinds="names")
def names_of_cotangents(w_bar, out):
    w = w_bar * out
    w_bar_bar = w**2
    out_bar = w_bar_bar + out
    return out_bar * w_bar


@case(draw(3, seed=1), kinds="names")
def shadows_builtins(sum):
    max = sum * 2.0
    len = max[0]
    abs = max - len
    list = abs**2
    return list[1] + len


@case(draw(3, seed=2), kinds="names")
def shadows_np(x):
    np = x * 2.0
    math = np[0]
    return math * np[1] + numpy.sum(np**2)


@case(0.3, 0.7, wrt=("t1", "t2"), kinds="names")
def names_of_temporaries(t1, t2):
    t3 = t1 * t2
    t0 = t3 + t1
    v1 = t0 * t3
    _1 = v1 + 1.0
    tmp = _1 * t2
    return tmp


@case(0.4, kinds="names")
def names_of_the_generated(x):
    loss = x**2
    value = loss * x
    grad = value + loss
    result = grad * 2.0
    runtime = result + x
    return runtime


@case(0.4, 0.9, wrt=("α", "β"), kinds="names")
def names_in_greek(α, β):
    θ = α * β
    Δθ = np.sin(θ) - α
    é = Δθ**2
    return é + θ


@case(draw(3, seed=3), kinds="names")
def function_name_as_variable(x):
    function_name_as_variable = x**2
    return np.sum(function_name_as_variable)


@case(draw(3, seed=4), kinds="names imports")
def other_aliases(x):
    return total(exp(x)) + xp.sum(tanh(x)) + numpy.mean(x) + math.exp(float(x[0]))


@case(draw(3, seed=5), kinds="names imports")
def import_inside(x):
    from math import pi

    import numpy as onp

    return onp.sum(onp.sin(pi * x))


@case(0.6, kinds="names imports")
def helper_imported_inside(x):
    from tests.corpus import toolbox as tb

    return tb.sigmoid(x) * math.sqrt(x) + tb.EPS * x


@case(0.8, kinds="names same_name_helpers")
def same_named_helpers(x):
    return names_left.shape_term(x) * names_right.shape_term(x)


@case(1.3, kinds="names same_name_helpers")
def same_named_helpers_by_import(x):
    return shape_term(x) - other_term(x) ** 2


@case(0.5, kinds="names same_name_helpers")
def same_named_nested(x):
    def shape_term(v):
        return v + 1.0

    return shape_term(x) * other_term(x) * names_left.shape_term(x)


@case(draw(2, seed=6), kinds="names")
def names_with_underscores(_x):
    __y = _x * 2.0
    _ = __y**2
    x_ = _ + _x
    return np.sum(x_)


@case(0.7, kinds="names")
def soft_keywords(match):
    case_ = match**2
    type = case_ + match
    _ = type
    return type * case_


@case(0.2, 0.5, wrt=("x", "x_bar"), kinds="names")
def parameter_and_its_bar(x, x_bar):
    x_dot = x * x_bar
    x_bar_2 = x_dot**2
    return x_bar_2 + x_bar * x
