"""Every corpus function, three ways, against finite differences of the plain one.

The specialised function as it is called, its source as a module of its own, and the
source that exists before any call must all give the plain function's value and a
gradient that central differences confirm, and must leave the arguments alone.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
from typing import Any

import numpy as np
import pytest

import symback
from tests import oracle
from tests.corpus import Case, all_cases
from tests.standalone import run_generic, run_specialised

CASES = {case.id: case for case in all_cases()}

#: The kinds of language that losses are written in; each has at least three
#: functions here.
KINDS = """
if elif ternary and_or_not chained in walrus match
range_static range_runtime range_step range_negative nested_loops triangular
for_array for_list zip enumerate reversed dict_items
while break continue loop_else early_return return_in_loop recursion
assert raise pass del docstring print fstring errstate try
helper nested_def closure mutable_closure nonlocal lambda defaults kw_only
star_args star_kwargs star_unpack unpack
partial reduce map filter sorted sum min_max abs len round float int item
method object property dataclass namedtuple isinstance is_none
string_option bool_option none_option
list tuple dict append extend comprehension comprehension_if comprehension_nested
comprehension_dict generator array_of_scalars stack_list runtime_list
list_runtime_index
setitem overwritten set_slice set_mask set_fancy augadd_fancy add_at
augassign_array augassign_float out fill copyto put view_row view_slice
view_transpose view_reshape alias swap overwrite_name write_argument
names imports same_name_helpers globals
shape broadcast index fancy linalg scalar math model
""".split()

every = pytest.mark.parametrize("name", list(CASES))


@functools.cache
def differentiable(name: str) -> Any:
    """Return the decorated function, shared by the tests so that it is lowered once."""
    case = CASES[name]
    return symback.differentiable(case.fn, wrt=case.wrt)


@functools.cache
def numeric(name: str) -> dict[str, dict[oracle.Entry, oracle.Estimate]]:
    """Return the differences by every parameter named in `wrt`."""
    case = CASES[name]
    args, kwargs = case.fresh()
    names, _ = oracle.wrt_names(case.fn, case.wrt)
    with contextlib.redirect_stdout(io.StringIO()):
        return {
            parameter: oracle.numeric_gradient(case.fn, args, kwargs, parameter)
            for parameter in names
        }


def parameters(case: Case) -> dict[str, Any]:
    """Return the values of the parameters, defaults included."""
    args, kwargs = case.fresh()
    bound, _ = oracle.bind(case.fn, args, kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def assert_gradient(case: Case, gradient: Any) -> None:
    """Assert the structure, the dtype and every number of a gradient."""
    names, single = oracle.wrt_names(case.fn, case.wrt)
    gradients = (gradient,) if single else gradient
    assert len(gradients) == len(names)
    values = parameters(case)
    with contextlib.redirect_stdout(io.StringIO()):
        scale = float(case.value())
    faults = []
    for parameter, part in zip(names, gradients, strict=True):
        faults += oracle.same_structure(part, values[parameter], parameter)
        differences = numeric(case.id)[parameter]
        faults += [
            f"{parameter} {fault}"
            for fault in oracle.mismatches(part, differences, case.tol, scale)
        ]
    assert not faults, "\n".join(faults)


def assert_value(case: Case, value: Any) -> None:
    """Assert a value against the plain function's, to rounding."""
    with contextlib.redirect_stdout(io.StringIO()):
        expected = case.value()
    assert np.shape(value) == np.shape(expected)
    # A fused forward may add in another order; float32 rounds at 6e-8.
    rtol = 1e-12 if np.asarray(expected).dtype != np.float32 else 1e-6
    np.testing.assert_allclose(value, expected, rtol=rtol, atol=1e-15)


def assert_untouched(case: Case, args: Any, kwargs: Any) -> None:
    """Assert that the arguments are what they were."""
    before_args, before_kwargs = case.fresh()
    assert oracle.unchanged(args, before_args)
    assert oracle.unchanged(kwargs, before_kwargs)


@every
def test_gradient(name: str):
    case = CASES[name]
    args, kwargs = case.fresh()
    with contextlib.redirect_stdout(io.StringIO()):
        gradient = differentiable(name).grad_fn(*args, **kwargs)
    assert_untouched(case, args, kwargs)
    assert_gradient(case, gradient)


@every
def test_value_and_gradient(name: str):
    case = CASES[name]
    args, kwargs = case.fresh()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        value, gradient = differentiable(name).value_and_grad_fn(*args, **kwargs)
    with contextlib.redirect_stdout(io.StringIO()) as expected:
        case.value()
    assert printed.getvalue() == expected.getvalue(), "printed once, as the user does"
    assert_untouched(case, args, kwargs)
    assert_value(case, value)
    assert_gradient(case, gradient)


@every
def test_specialised_source(name: str):
    case = CASES[name]
    args, kwargs = case.fresh()
    with contextlib.redirect_stdout(io.StringIO()):
        value, gradient = run_specialised(differentiable(name), case.wrt, args, kwargs)
    assert_untouched(case, args, kwargs)
    assert_value(case, value)
    assert_gradient(case, gradient)


@every
def test_generic_source(name: str):
    case = CASES[name]
    f = symback.differentiable(case.fn, wrt=case.wrt)
    try:
        f.backward_source  # noqa: B018 - a property that refuses
    except symback.UnsupportedSyntaxError as refusal:
        notes = "\n".join([str(refusal), *getattr(refusal, "__notes__", ())])
        assert "backward_source_for" in notes
        assert not case.generic, f"generic source exists for this one: {notes}"
        return
    args, kwargs = case.fresh()
    with contextlib.redirect_stdout(io.StringIO()):
        value, gradient = run_generic(f, case.wrt, args, kwargs)
    assert_untouched(case, args, kwargs)
    assert_value(case, value)
    assert_gradient(case, gradient)


@pytest.mark.parametrize(
    ("name", "failure"),
    [(case.id, failure) for case in CASES.values() for failure in case.fails],
)
@pytest.mark.parametrize("member", ["grad_fn", "value_and_grad_fn"])
def test_the_users_exception(name: str, failure: Any, member: str):
    args, kind, pattern = failure
    with pytest.raises(kind) as plain:
        CASES[name].fn(*args)
    with pytest.raises(kind) as ours:
        getattr(differentiable(name), member)(*args)
    assert type(ours.value) is type(plain.value)
    assert ours.value.args == plain.value.args
    assert re.search(pattern, str(ours.value))


# The corpus itself.


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_three_functions(kind: str):
    having = [case.id for case in CASES.values() if kind in case.kinds]
    assert len(having) >= 3, having


@every
def test_the_differences_mean_something(name: str):
    """The point is smooth, and some entry of the gradient is not zero."""
    case = CASES[name]
    with contextlib.redirect_stdout(io.StringIO()):
        value = case.value()
    assert np.shape(value) == ()
    assert np.isfinite(value)
    estimates = [e for found in numeric(name).values() for e in found.values()]
    scale = max(abs(e.value) for e in estimates)
    assert 0.0 < scale < 1e4
    # Two extrapolations agree far within the tolerance of the comparison.
    worst = max(e.error for e in estimates)
    assert worst <= 1e-8 * max(1.0, scale, abs(float(value)))


# The tests themselves: a wrong gradient does not pass.

WEIGHTS = np.array([[0.5, -1.0], [2.0, 0.3]])
POINT = np.array([0.7, -0.4])


def bilinear(W: np.ndarray, x: np.ndarray) -> Any:
    return np.sum(np.tanh(W @ x)) + x[0]


def right() -> tuple[np.ndarray, np.ndarray]:
    s = 1.0 - np.tanh(WEIGHTS @ POINT) ** 2
    return np.outer(s, POINT), WEIGHTS.T @ s + np.array([1.0, 0.0])


BROKEN = {
    "sign": lambda W, x: (-W, x),
    "factor": lambda W, x: (2.0 * W, x),
    "transposed": lambda W, x: (W.T, x),
    "dropped contribution": lambda W, x: (W, x - np.array([1.0, 0.0])),
    "zero": lambda W, x: (W, 0.0 * x),
    "one small slip": lambda W, x: (W * (1.0 + 1e-5), x),
    "nan": lambda W, x: (W, np.array([np.nan, x[1]])),
    "infinite": lambda W, x: (np.full((2, 2), np.inf), x),
    "swapped": lambda W, x: (x, W),
    "one too few": lambda W, x: (W,),
    "column": lambda W, x: (W, x[:, None]),
    "broadcast": lambda W, x: (W, x[:1]),
    "single precision": lambda W, x: (W.astype(np.float32), x),
    "list": lambda W, x: (W, list(x)),
}

SAMPLE = Case(bilinear, (WEIGHTS, POINT), ("W", "x"))


def test_the_right_gradient_passes():
    CASES[SAMPLE.id] = SAMPLE
    assert_gradient(SAMPLE, right())


@pytest.mark.parametrize("how", list(BROKEN))
def test_a_wrong_gradient_fails(how: str):
    CASES[SAMPLE.id] = SAMPLE
    with pytest.raises(AssertionError):
        assert_gradient(SAMPLE, BROKEN[how](*right()))


def test_a_wrong_value_fails():
    with pytest.raises(AssertionError):
        assert_value(SAMPLE, bilinear(WEIGHTS, POINT) * (1 + 1e-10))


def test_a_modified_argument_fails():
    args, kwargs = SAMPLE.fresh()
    args[0][0, 0] += 1e-16 + 1.0
    with pytest.raises(AssertionError):
        assert_untouched(SAMPLE, args, kwargs)
