"""What the function raises and catches is raised and caught by the text alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symback
from tests.lower.plain import Programs, verify

X = np.array([0.5, 0.7, 0.9])
TABLE = {"a": 1.5}
PROGRAMS = Programs()


class Model:
    def __init__(self, w):
        if np.any(np.isnan(w)):
            raise ValueError("not a number")
        self.w = w


@PROGRAMS.at(2.0)
@PROGRAMS.at(-1.0)
def two_clauses(x):
    try:
        y = 1 / x  # noqa: F841 - it may raise
        z = math.log(x)
    except ZeroDivisionError:
        z = 5.0 + x
    except ValueError:
        z = 7.0 * x
    return z * 2


@PROGRAMS.at(2.0)
@PROGRAMS.at(-1.0)
def clauses_else_and_finally(x):
    try:
        z = math.log(x) / x
    except (ZeroDivisionError, TypeError):
        z = 5.0 + x
    except ValueError:
        return 7.0 * x
    else:
        z = z * 3
    finally:
        one = 1.0
    return z * 2 + one


@PROGRAMS.at(2.0)
def several_exceptions_in_one_clause(x):
    try:
        y = 1 / x
    except (ZeroDivisionError, ValueError):
        y = 0.0
    return y


@PROGRAMS.at(X)
def a_handler_that_is_never_reached(x):
    try:
        n = len(x)
    except TypeError:
        x = x.to_numpy()
        n = 1
    return np.sum(x) * n


@PROGRAMS.at(X, "A")
@PROGRAMS.at(X, "b")
def a_lookup_with_a_way_out(x, key):
    try:
        v = TABLE[key.lower()]
    except (AttributeError, KeyError):
        v = 3.0
    return np.sum(x) * v


@PROGRAMS.at(2.0, 1)
def a_method_that_is_missing(x, key):
    try:
        v = TABLE[key.lower()]
    except (AttributeError, KeyError):
        v = 3.0
    return x**2 * v


@PROGRAMS.at(np.eye(2))
@PROGRAMS.at(-np.eye(2))
def a_matrix_that_may_not_be_positive(a):
    try:
        factor = np.linalg.cholesky(a + a.T)
    except np.linalg.LinAlgError:
        factor = a * 2
    return np.trace(factor @ factor.T)


@PROGRAMS.at(X)
def a_constructor_that_may_raise(x):
    try:
        m = Model(x)
    except ValueError:
        return 0.0 * np.sum(x)
    return np.sum(m.w**2)


@PROGRAMS.at(2.0)
def assigned_before_it_may_raise(x):
    y = 0.0
    try:
        y = 2 * x
        z = 1 / x
    except ZeroDivisionError:
        z = 4.0 * x
    return y + z


@PROGRAMS.at(2.0)
@PROGRAMS.at(-2.0)
def caught_in_one_branch(x):
    if x < 0:
        try:
            return TABLE["missing"] * x
        except KeyError:
            return 3.0 * x
    return x * x


@PROGRAMS.at(2.5)
def a_number_that_does_not_parse(x):
    k = 2
    try:
        k = int("a")
    except ValueError:
        k = 3
    return x**k


@PROGRAMS.at(X)
def nested_in_a_loop(x):
    s = 0.0
    for i in range(3):
        try:
            try:
                s = s + math.log(x[i] - 0.6)
            except ZeroDivisionError:
                s = s - 1
        except ValueError:
            s = s + x[i] * 3
    return s


@PROGRAMS.at(4.0)
def a_handler_that_names_the_exception(x):
    try:
        y = math.sqrt(x)
    except ValueError as error:
        raise ValueError(f"bad: {error}") from error
    return y


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    verify(f, *args)


def test_what_may_raise_is_kept_though_unused():
    # At 0 the quotient raises first, so that z = 5 + x: twice it is 10.
    assert symback.value_and_grad(two_clauses)(0.0) == (10.0, 2.0)


def test_a_name_that_the_body_had_assigned():
    # y = 2 x is assigned before 1 / x raises.
    value, gradient = symback.value_and_grad(assigned_before_it_may_raise)(0.0)
    assert (value, gradient) == (0.0, 6.0)


def test_a_name_that_depends_on_where_the_body_raised_is_refused():
    def f(x):
        y = 0.0
        try:
            y = 1 / x
            z = math.log(x)
        except ValueError:
            z = 1.0
        return y + z

    with pytest.raises(symback.UnsupportedSyntaxError, match="where the body of `try`"):
        symback.value_and_grad(f)(-1.0)


def test_what_fails_on_one_path_fails_when_it_is_taken():
    def f(x):
        if x < 0:
            return TABLE["missing"] * x
        return x * x

    f = symback.differentiable(f)
    assert f.grad_fn(3.0) == 6.0
    with pytest.raises(KeyError):
        f.grad_fn(-3.0)


def test_a_branch_that_raises_leaves_nothing_to_join():
    def f(x):
        if x < 0:
            raise ValueError("negative")
        y = x * x
        return y * 3

    text = symback.differentiable(f).backward_source_for(2.0)
    assert "else" not in text
    assert symback.grad(f)(2.0) == 12.0
    with pytest.raises(ValueError, match="negative"):
        symback.grad(f)(-2.0)
