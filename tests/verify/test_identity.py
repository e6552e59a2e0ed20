"""The identity test proves what is true, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from symback.verify.concolic import Tape
from symback.verify.deadline import Clock
from symback.verify.identity import LIMIT, prove
from symback.verify.primes import draw

Maker = Callable[[Tape, Any, Any], tuple[Any, Any]]


def pair(make: Maker, x: float = 1.3, y: float = 0.7) -> Any:
    tape = Tape(40)
    return prove([make(tape, tape.input("x", x), tape.input("y", y))])[0]


def root(u: Any) -> Any:
    return u ** Fraction(1, 2)


TRUE: dict[str, Maker] = {
    "binomial": lambda t, x, y: ((x + y) ** 2, x * x + 2 * x * y + y * y),
    "fractions": lambda t, x, y: (1 / x + 1 / y, (x + y) / (x * y)),
    "exp of a sum": lambda t, x, y: (
        t.call("exp", x + y),
        t.call("exp", x) * t.call("exp", y),
    ),
    "exp of a half": lambda t, x, y: (t.call("exp", x / 2) ** 2, t.call("exp", x)),
    "log of a product": lambda t, x, y: (
        t.call("log", x * y),
        t.call("log", x) + t.call("log", y),
    ),
    "exp of log": lambda t, x, y: (t.call("exp", 3 * t.call("log", x)), x**3),
    "softplus": lambda t, x, y: (
        t.call("log", 1 + t.call("exp", -x)) + x,
        t.call("log", 1 + t.call("exp", x)),
    ),
    "log-sum-exp, shifted": lambda t, x, y: (
        t.call("log", t.call("exp", x) + t.call("exp", y)),
        x + t.call("log", 1 + t.call("exp", y - x)),
    ),
    "tanh": lambda t, x, y: (t.call("tanh", x), 1 - 2 / (1 + t.call("exp", 2 * x))),
    "circle": lambda t, x, y: (
        t.call("sin", x) ** 2 + t.call("cos", x) ** 2,
        t.lift(1),
    ),
    "addition theorem": lambda t, x, y: (
        t.call("sin", x + y),
        t.call("sin", x) * t.call("cos", y) + t.call("cos", x) * t.call("sin", y),
    ),
    "double angle": lambda t, x, y: (
        t.call("sin", 2 * x),
        2 * t.call("sin", x) * t.call("cos", x),
    ),
    "root": lambda t, x, y: (root(x + y) ** 2, x + y),
    "root in a divisor": lambda t, x, y: (1 / root(x + y), root(x + y) / (x + y)),
    "root of a half": lambda t, x, y: (
        root((x + y) / 2) * root(t.lift(2)),
        root(x + y),
    ),
    "odd function": lambda t, x, y: (t.call("erf", -x), -t.call("erf", x)),
    "scaled argument": lambda t, x, y: (
        t.call("exp", -((x / root(t.lift(2))) ** 2)),
        t.call("exp", -x * x / 2),
    ),
    "general power": lambda t, x, y: (x ** (y + 1), x**y * x),
}

FALSE: dict[str, Maker] = {
    "off by a millionth": lambda t, x, y: (x * 1.000001, x),
    "root of a square": lambda t, x, y: (root((x - y) ** 2 + 0 * x), y - x),
    "root of an expanded square": lambda t, x, y: (
        root(x * x - 2 * x * y + y * y),
        y - x,
    ),
    "sum of logs": lambda t, x, y: (
        t.call("log", x + y),
        t.call("log", x) + t.call("log", y),
    ),
    "sin for cos": lambda t, x, y: (t.call("sin", x), t.call("cos", x)),
    "exp of a product": lambda t, x, y: (
        t.call("exp", x * y),
        t.call("exp", x) * t.call("exp", y),
    ),
    "other functions": lambda t, x, y: (t.call("erf", x), t.call("tanh", x)),
    "wrong sign": lambda t, x, y: (t.call("atan", -x), t.call("atan", x)),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_identities_are_proved(name: str) -> None:
    found = pair(TRUE[name])
    assert found.proved
    assert found.error < LIMIT


@pytest.mark.parametrize("name", FALSE)
def test_false_identities_are_not(name: str) -> None:
    assert not pair(FALSE[name]).proved


def test_primes_are_as_described_and_not_the_same_twice() -> None:
    drawn = {draw(bits) for bits in (192, 192, 192, 640)}
    assert len(drawn) == 4
    for p in drawn:
        assert sp.isprime(p)
        assert p % 8 == 7
        for small in (2, 3, 5, 7, 11, 13):
            assert pow(small, (p - 1) // 2, p) == 1
            assert ((p - 1) // 2) % small


def test_roots_of_numbers_that_depend_on_one_another_prove_nothing() -> None:
    def made(t: Tape, x: Any, y: Any) -> Any:
        return root(t.lift(17)) * root(t.lift(19)) * x, root(t.lift(17 * 19)) * x

    assert not pair(made).proved


def test_signs_that_the_digits_decide_are_conditions() -> None:
    tape = Tape(40)
    x, y = tape.input("x", -1.5), tape.input("y", 2.0)
    found = prove([(root((x + y) ** 2), x + y), (root(x * x), -x)])
    assert [f.proved for f in found] == [True, True]
    assert found[0].assumed == {x.index, (x + y).index}
    assert not prove([(root(x * x + 1) ** 2, x * x + 1)])[0].assumed
    # Where the root is defined, x is positive.
    assert not prove([(root(x) ** 3, root(x) * x)])[0].assumed


def test_exponents_with_many_denominators_need_a_longer_prime() -> None:
    """x**0.1 has a denominator of 2**55: the bound counts it."""
    tape = Tape(40)
    x, y = tape.input("x", 1.5), tape.input("y", 2.0)
    for factor in (0.1, 1 / 3, 1e-3):
        a = x**factor * y**factor
        found = prove([(a * a, x ** (2 * factor) * y**factor * y**factor)])[0]
        assert found.proved
        assert found.error < LIMIT


def test_same_node_needs_no_luck() -> None:
    tape = Tape(30)
    x = tape.input("x", 1.0)
    found = prove([(x + 1, 1 + x)])[0]
    assert found.proved
    assert (found.error, found.trials) == (0.0, 0)


def test_nan_and_infinity_are_not_proved_but_spoil_nothing() -> None:
    tape = Tape(30)
    x = tape.input("x", 1.0)
    nan = tape.constant("nan")
    good, bad = prove([(x * x + x, x * (x + 1)), (nan + x, nan + x * 1 + 0 * x + nan)])
    assert good.proved
    assert not bad.proved


def test_deep_recurrences_use_the_larger_field() -> None:
    tape = Tape(30)
    x = tape.input("x", 0.3)
    a = b = x
    for _ in range(200):
        a = 3 * a * (1 - a)
        b = 3 * (b - b * b)
    found = prove([(a, b)])[0]
    assert found.proved == (found.error < LIMIT)


def test_time_is_kept() -> None:
    tape = Tape(30)
    x = tape.input("x", 0.3)
    assert not prove([((x + 1) ** 2, x * x + 2 * x + 1)], Clock(0.0))[0].proved
