"""Reverse mode: what the backward computes, and what it keeps of the forward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback
from symback.graph import Block, Node, Value
from symback.transform.activity import varied_values
from symback.types import Type


def gradient(f: Any, *args: Any, wrt: Any = 0) -> Any:
    return symback.grad(f, wrt=wrt)(*args)


def backward(f: Any, *args: Any) -> str:
    """Return the part of a source that comes after the forward's."""
    text = symback.differentiable(f).backward_source_for(*args)
    return text.partition("# backward")[2]


class TestAccumulation:
    def test_a_value_used_twice(self):
        def f(x):
            y = x * x
            return y + y * x

        # x² + x³: 2x + 3x²
        assert gradient(f, 2.0) == 16.0

    def test_a_parameter_that_is_not_used(self):
        def f(x, y):
            return x * x

        assert gradient(f, 3.0, 1.0, wrt=("x", "y")) == (6.0, 0.0)
        x, y = gradient(f, 3.0, np.ones((2, 3)), wrt=("x", "y"))
        assert x == 6.0
        assert y.tolist() == [[0.0] * 3] * 2

    def test_a_parameter_given_back(self):
        def f(x):
            return x

        assert gradient(f, 3.0) == 1.0

    def test_the_same_argument_on_both_sides(self):
        def f(x):
            return np.sum(x @ x.T)

        # d/dx sum_ij sum_k x_ik x_jk: twice the column sums, in every row.
        x = np.arange(4.0).reshape(2, 2)
        assert gradient(f, x).tolist() == [[4.0, 8.0], [4.0, 8.0]]

    def test_a_constant_has_no_slope(self):
        def f(x):
            return 0.0 * x + 5.0

        assert gradient(f, np.float64(3.0)) == 0.0


class TestWithoutTypes:
    """The source for any shapes sums over what was broadcast."""

    def test_an_exponent_that_was_stretched(self):
        def softmax(z):
            e = np.exp(z - z.max(axis=-1, keepdims=True))
            return e / e.sum(axis=-1, keepdims=True)

        def f(x, scale, w):
            return np.sum(softmax(x / np.sqrt(scale)) * w)

        space: dict[str, Any] = {}
        exec(symback.differentiable(f).backward_source, space)
        # p = (1, 3) / 4 and (3, 1) / 4: the slope by z is p (w - p · w).
        x = 2.0 * np.log(np.array([[1.0, 3.0], [3.0, 1.0]]))
        _, x_bar = space["f_value_and_grad"](x, 4.0, np.array([1.0, 2.0]))
        expected = np.array([[-0.1875, 0.1875]] * 2) / 2.0
        assert x_bar == pytest.approx(expected, rel=1e-12)


class TestStops:
    """Some paths carry no derivative, mathematically."""

    @pytest.mark.parametrize(
        "stop",
        [np.floor, np.sign, np.round, lambda x: np.argmax(x), lambda x: x.shape[0]],
        ids=["floor", "sign", "round", "argmax", "shape"],
    )
    def test_beside_an_active_path(self, stop: Any):
        def f(x):
            return np.sum(x * x) + np.sum(stop(x))

        assert gradient(f, np.array([1.5, -2.5])).tolist() == [3.0, -5.0]

    def test_an_entry_that_is_overwritten(self):
        def f(x):
            y = x * x
            y[0] = 7.0
            return np.sum(y)

        assert gradient(f, np.array([3.0, 4.0])).tolist() == [0.0, 8.0]

    def test_a_branch_not_taken_never_poisons(self):
        def f(x):
            return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

        with np.errstate(all="ignore"):
            assert gradient(f, np.array([4.0, -1.0, 0.0])).tolist() == [0.25, 0.0, 0.0]


class TestBranches:
    def test_each_side(self):
        def f(x):
            if x > 1:
                y = x * x
            else:
                y = 3.0 * x
            return y + x

        assert gradient(f, 2.0) == 5.0
        assert gradient(f, 0.5) == 4.0

    def test_a_name_assigned_on_one_side(self):
        def f(x):
            y = x
            if x > 1:
                y = y * x
            return y

        assert gradient(f, 3.0) == 6.0
        assert gradient(f, 0.5) == 1.0

    def test_nested(self):
        def f(x, k):
            if k > 0:
                if x > 1:
                    return x**3
                return x**2
            return -x

        assert gradient(f, 2.0, 1.0) == 12.0
        assert gradient(f, 0.5, 1.0) == 1.0
        assert gradient(f, 2.0, -1.0) == -1.0

    def test_the_condition_is_not_computed_again(self):
        def f(x):
            if np.sin(x) > 0:
                return np.exp(x)
            return x

        assert "sin" not in backward(f, 1.0)


class TestLoops:
    def test_a_power(self):
        def f(x, n):
            p = 1.0
            for _ in range(n):
                p = p * x
            return p

        assert gradient(f, 2.0, 5) == 80.0
        assert gradient(f, 2.0, 1) == 1.0
        # No iteration: the product is 1, whatever x is.
        assert gradient(f, 2.0, 0) == 0.0

    def test_left_early(self):
        def f(x):
            total = 0.0
            for k in range(10):
                if total > 5:
                    break
                total = total + x * k
            return total

        # 0 + 2 + 4 = 6 > 5 after k = 2: x (0 + 1 + 2)
        assert gradient(f, 2.0) == 3.0

    def test_a_while(self):
        def f(x):
            t = 1.0
            while t < 100:
                t = t * x
            return t

        # 3⁵ = 243: 5 · 3⁴
        assert gradient(f, 3.0) == 405.0
        assert gradient(f, 200.0) == 1.0

    def test_within_a_loop(self):
        def f(x, n):
            s = 0.0
            for i in range(n):
                for j in range(i):
                    s = s + x * x * j
            return s

        # The sum of j < i < 4 is 0 + 0 + 1 + 3: 8x
        assert gradient(f, 3.0, 4) == 24.0

    def test_two_carried_values(self):
        def fibonacci(x, n):
            a, b = 1.0, x
            for _ in range(n):
                a, b = b, a + b
            return a

        # After six: 5 + 8x
        assert gradient(fibonacci, 1.0, 6) == 8.0

    def test_what_is_linear_keeps_nothing(self):
        def f(x, n):
            s = 0.0
            for i in range(n):
                s = s + 2.0 * i * x
            return s

        assert gradient(f, 1.0, 4) == 12.0
        text = symback.differentiable(f).backward_source_for(1.0, 4)
        assert "append" not in text

    def test_what_is_not_linear_is_kept_once_an_iteration(self):
        def f(x, n):
            for _ in range(n):
                x = x * x
            return x

        assert gradient(f, 2.0, 2) == 32.0
        text = symback.differentiable(f).backward_source_for(2.0, 2)
        assert text.count("append") == 1

    def test_written_entries_cost_no_copies(self):
        def f(x, n):
            y = np.zeros(n)
            for t in range(1, n):
                y[t] = y[t - 1] * 0.5 + x
            return y[n - 1]

        # 1 + 1/2 + 1/4
        assert gradient(f, 3.0, 4) == 1.75
        text = symback.differentiable(f).backward_source_for(3.0, 4)
        assert "copy" not in text


class TestShapes:
    """A gradient has exactly its parameter's shape, dtype and structure."""

    def test_broadcast_axes_are_summed(self):
        def f(b, x):
            return np.sum(x * b)

        x = np.arange(6.0).reshape(2, 3)
        assert gradient(f, np.ones(3), x).tolist() == [3.0, 5.0, 7.0]
        assert gradient(f, np.ones((2, 1)), x).tolist() == [[3.0], [12.0]]
        assert gradient(f, 2.0, x) == 15.0

    def test_float32_stays(self):
        def f(x):
            return np.sum(x * x)

        found = gradient(f, np.array([1.0, 2.0], np.float32))
        assert found.dtype == np.float32
        assert found.tolist() == [2.0, 4.0]

    def test_containers(self):
        def f(params):
            (w, b), scale = params["layer"], params["scale"]
            return scale * np.sum(w) + b

        found = gradient(f, {"layer": (np.ones(2), 3.0), "scale": 4.0})
        assert list(found) == ["layer", "scale"]
        assert found["layer"][0].tolist() == [4.0, 4.0]
        assert found["layer"][1] == 1.0
        assert found["scale"] == 2.0

    def test_a_gradient_has_memory_of_its_own(self):
        def f(x, y):
            return np.sum(x * y)

        x, y = np.ones(3), np.arange(3.0)
        found = gradient(f, x, y)
        found[0] = 99.0
        assert y[0] == 0.0


FLOAT = Type("python", "float")


class TestActivity:
    """Which values depend on the parameters, as far as derivatives go."""

    @staticmethod
    def names(block: Block, *roots: Value) -> set[str | None]:
        found = varied_values(block, set(roots), lambda node: node.op == "np.floor")
        return {value.name for value in found}

    def test_a_chain(self):
        x, c, a, b, z = (Value(n, FLOAT) for n in "xcabz")
        nodes = (
            Node("np.exp", (x,), outs=(a,)),
            Node("np.floor", (a,), outs=(z,)),
            Node("mul", (c, c), outs=(b,)),
        )
        assert self.names(Block((), nodes, (b,)), x) == {"x", "a"}

    def test_integers_carry_nothing(self):
        x = Value("x", FLOAT)
        k = Value("k", Type("python", "int"))
        nodes = (Node("np.argmax", (x,), outs=(k,)),)
        assert self.names(Block((), nodes, (k,)), x) == {"x"}

    def test_an_output_of_either_side_of_a_branch(self):
        x, test, a, out, other = (Value(n, FLOAT) for n in ("x", "t", "a", "o", "p"))
        then = Block((), (Node("np.exp", (x,), outs=(a,)),), (a, 1.0))
        node = Node(
            "if", (test,), outs=(out, other), blocks=(then, Block((), (), (2.0, 3.0)))
        )
        assert self.names(Block((), (node,), (out,)), x) == {"x", "a", "o"}

    def test_what_a_later_iteration_makes_active(self):
        # b takes x in the second iteration only: by way of a.
        x, a, b, a2, b2 = (Value(n, FLOAT) for n in ("x", "a", "b", "a2", "b2"))
        i, last, final = Value("i", Type("python", "int")), Value("l"), Value("f")
        nodes = (
            Node("mul", (a, 1.0), outs=(b2,)),
            Node("mul", (x, 2.0), outs=(a2,)),
        )
        body = Block((i, a, b), nodes, (a2, b2))
        loop = Node(
            "for", ((0, 3, 1), (), (0.0, 0.0)), outs=(last, final), blocks=(body,)
        )
        found = self.names(Block((), (loop,), (final,)), x)
        assert found == {"x", "a", "a2", "b", "b2", "l", "f"}
