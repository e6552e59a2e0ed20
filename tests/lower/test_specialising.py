"""When a source is generated anew: static integers, equal dimensions, exact shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symback
from symback import UnsupportedSyntaxError
from symback.lower.carried import Carried


def sources(f: Any, *calls: tuple[Any, ...]) -> list[str]:
    """Return the source that runs for each of some calls."""
    return [f.backward_source_for(*args) for args in calls]


class TestStatic:
    """An integer that decides the structure of the program is known by its value."""

    def test_the_number_of_items_of_a_list(self):
        @symback.differentiable
        def powers(x, n):
            parts = [x**k for k in range(1, n + 1)]
            first, *rest = parts
            return first + sum(rest)

        # 1 + 2x + 3x²
        assert powers.grad_fn(2.0, 3) == 17.0
        assert powers.grad_fn(2.0, 2) == 5.0
        assert powers.grad_fn(2.0, 3) == 17.0
        two, three, again = sources(powers, (2.0, 2), (2.0, 3), (5.0, 3))
        assert two != three
        assert three == again

    def test_an_index_into_functions(self):
        @symback.differentiable
        def chosen(x, which):
            shapes = (np.sin, np.exp)
            return shapes[which](x)

        assert chosen.grad_fn(0.0, 0) == 1.0
        assert chosen.grad_fn(2.0, 1) == pytest.approx(np.exp(2.0))
        assert chosen.grad_fn(0.5, 0) == pytest.approx(np.cos(0.5))
        first, second = sources(chosen, (1.0, 0), (1.0, 1))
        assert "math.cos" in first
        assert "math.exp" in second
        assert "math.cos" not in second

    def test_the_depth_of_a_recursion(self):
        def nested(x, depth):
            return x if depth == 0 else np.sin(nested(x, depth - 1))

        @symback.differentiable
        def deep(x, depth):
            return nested(x, depth)

        assert deep.grad_fn(0.0, 3) == 1.0
        assert deep.grad_fn(0.5, 1) == pytest.approx(np.cos(0.5))
        wanted = np.cos(0.5) * np.cos(np.sin(0.5))
        assert deep.grad_fn(0.5, 2) == pytest.approx(wanted)

    def test_an_integer_that_only_counts_is_not_static(self):
        @symback.differentiable
        def repeated(x, n):
            for _ in range(n):
                x = x * x
            return x

        # x⁸ and x⁴
        assert repeated.grad_fn(2.0, 3) == 8 * 2.0**7
        assert repeated.grad_fn(2.0, 2) == 4 * 2.0**3
        two, three = sources(repeated, (2.0, 2), (2.0, 3))
        assert two == three

    def test_what_depends_on_data_is_refused(self):
        @symback.differentiable
        def shaped(x):
            parts = [np.sin, np.cos]
            return parts[int(x)](x)

        with pytest.raises(UnsupportedSyntaxError, match="must be known without"):
            shaped.grad_fn(0.5)


class TestDimensions:
    """Dimensions stay symbols; which are equal or one belongs to the source."""

    def test_a_new_batch_size_runs_the_same_source(self):
        @symback.differentiable
        def loss(w, x):
            return np.sum(x @ w)

        five, nine = sources(
            loss, (np.ones(3), np.ones((5, 3))), (np.ones(4), np.ones((9, 4)))
        )
        assert five == nine
        assert "w: float64[n]  x: float64[d, n]" in five
        x = np.arange(6.0).reshape(2, 3)
        assert loss.grad_fn(np.ones(3), x).tolist() == [3.0, 5.0, 7.0]

    def test_dimensions_that_become_equal(self):
        @symback.differentiable
        def loss(a, b):
            return np.sum(a[:, None] * b)

        apart, equal = sources(loss, (np.ones(2), np.ones(3)), (np.ones(3), np.ones(3)))
        assert "a: float64[n]  b: float64[d]" in apart
        assert "a: float64[n]  b: float64[n]" in equal
        # Each entry of a meets all of b.
        assert loss.grad_fn(np.ones(2), np.array([1.0, 2.0, 3.0])).tolist() == [6, 6]
        assert loss.grad_fn(np.ones(3), np.array([1.0, 2.0, 3.0])).tolist() == [6] * 3

    def test_a_dimension_that_becomes_one_is_stretched(self):
        @symback.differentiable
        def loss(b, x):
            return np.sum(b * x)

        x = np.arange(6.0).reshape(2, 3)
        assert loss.grad_fn(np.ones((2, 3)), x).tolist() == x.tolist()
        assert loss.grad_fn(np.ones((2, 1)), x).tolist() == [[3.0], [12.0]]
        assert loss.grad_fn(np.ones((1, 3)), x).tolist() == [[3.0, 5.0, 7.0]]
        assert loss.grad_fn(np.ones((1, 1)), x).tolist() == [[15.0]]
        whole, column, row = sources(
            loss,
            (np.ones((2, 3)), x),
            (np.ones((2, 1)), x),
            (np.ones((1, 3)), x),
        )
        assert len({whole, column, row}) == 3
        assert "sum(axis" not in whole

    def test_the_length_of_an_unrolled_axis(self):
        @symback.differentiable
        def loss(x):
            first, second = x
            return first * second

        assert loss.grad_fn(np.array([2.0, 5.0])).tolist() == [5.0, 2.0]
        with pytest.raises((ValueError, UnsupportedSyntaxError)):
            loss.grad_fn(np.ones(3))

    def test_a_structure_that_a_shape_decides(self):
        @symback.differentiable
        def loss(x):
            rows = [row for row in x]
            return np.sum(rows[0] * rows[-1])

        x = np.arange(6.0).reshape(3, 2)
        wanted = [[4.0, 5.0], [0.0, 0.0], [0.0, 1.0]]
        assert loss.grad_fn(x).tolist() == wanted
        assert loss.grad_fn(x[:2]).tolist() == [[2.0, 3.0], [0.0, 1.0]]
        # One row is squared.
        assert loss.grad_fn(x[1:2]).tolist() == [[4.0, 6.0]]


class TestGuards:
    """What was taken as known is tested again: a change generates anew."""

    def test_a_switch_outside(self):
        options = {"square": True}

        @symback.differentiable
        def loss(x):
            return x * x if options["square"] else x

        assert loss.grad_fn(3.0) == 6.0
        options["square"] = False
        assert loss.grad_fn(3.0) == 1.0
        options["square"] = True
        assert loss.grad_fn(3.0) == 6.0

    def test_a_number_outside_is_read_anew_by_the_same_source(self):
        rate = 2.0

        @symback.differentiable
        def loss(x):
            return rate * x

        assert loss.grad_fn(1.0) == 2.0
        before = loss.backward_source_for(1.0)
        rate = 5.0
        assert loss.grad_fn(1.0) == 5.0
        assert loss.backward_source_for(1.0) == before

    def test_an_array_outside_of_another_shape(self):
        weights = np.ones(2)

        @symback.differentiable
        def loss(x):
            return np.sum(weights * x)

        assert loss.grad_fn(3.0) == 2.0
        weights = np.ones(5)
        assert loss.grad_fn(3.0) == 5.0
        weights = np.array(7.0)
        assert loss.grad_fn(3.0) == 7.0

    def test_a_helper_that_is_replaced(self):
        def shape(x):
            return np.sin(x)

        @symback.differentiable
        def loss(x):
            return shape(x)

        assert loss.grad_fn(0.0) == 1.0

        def shape(x):  # noqa: F811 - that is what is tested
            return x**2

        assert loss.grad_fn(3.0) == 6.0

    def test_a_list_outside_that_grows(self):
        factors = [2.0]

        @symback.differentiable
        def loss(x):
            return sum(f * x for f in factors)

        assert loss.grad_fn(1.0) == 2.0
        factors.append(3.0)
        assert loss.grad_fn(1.0) == 5.0
        factors.clear()
        factors.append(7.0)
        assert loss.grad_fn(1.0) == 7.0

    def test_a_function_given_as_an_argument(self):
        @symback.differentiable
        def loss(x, shape):
            return shape(x)

        assert loss.grad_fn(0.0, np.sin) == 1.0
        assert loss.grad_fn(0.0, np.exp) == 1.0
        assert loss.grad_fn(2.0, lambda x: x**3) == 12.0


class TestAssumptions:
    """A source takes no more for known than it must, and runs only where that holds."""

    def test_parts_of_a_gate_are_one_source_for_all_lengths(self):
        @symback.differentiable(wrt=("w", "u"))
        def cell(w, u, x, y):
            n, h, c, loss = u.shape[0], np.zeros(u.shape[0]), np.zeros(u.shape[0]), 0.0
            for t in range(len(x)):
                z = x[t] @ w + h @ u
                c = np.tanh(z[n : 2 * n]) * c + np.tanh(z[:n]) * np.tanh(z[3 * n :])
                h = np.tanh(z[2 * n : 3 * n]) * np.tanh(c)
                loss = loss + np.sum((h - y[t]) ** 2)
            return loss

        def given(steps, d, n):
            rng = np.random.default_rng(0)
            shapes = (d, 4 * n), (n, 4 * n), (steps, d), (steps, n)
            return tuple(rng.normal(size=shape) for shape in shapes)

        calls = [given(*s) for s in ((5, 3, 4), (11, 3, 4), (9, 2, 6), (20, 5, 7))]
        assert len(set(sources(cell, *calls))) == 1
        assert "u: float64[h, 4*h]" in sources(cell, calls[0])[0]

    def test_a_convolution_by_slices_is_one_source(self):
        @symback.differentiable
        def smooth(k, x, y):
            made = k[0] * x[:-2] + k[1] * x[1:-1] + k[2] * x[2:]
            return np.sum((made - y) ** 2)

        def given(n):
            return np.array([0.2, 0.5, 0.1]), np.linspace(0, 1, n), np.ones(n - 2)

        nine, twenty = sources(smooth, given(9), given(20))
        assert nine == twenty
        assert "y: float64[d - 2]" in nine

    def test_a_pair_that_contradicts_the_source_has_its_own(self):
        @symback.differentiable
        def loss(x, y):
            return np.sum((x[2:] - y) ** 2)

        # Where y has one entry it is stretched, where x[2:] has one, that is.
        for n, m in ((7, 5), (9, 7), (7, 1), (3, 5), (3, 1), (4, 2)):
            x, y = np.arange(1.0, n + 1), np.linspace(0.3, 0.8, m)
            wanted = np.zeros(n)
            apart = 2 * (x[2:] - y)
            wanted[2:] = apart if len(apart) == n - 2 else np.sum(apart)
            assert loss.grad_fn(x, y) == pytest.approx(wanted)

    def test_a_slice_that_is_empty_for_short_arrays(self):
        @symback.differentiable(wrt=("x", "y"))
        def loss(x, y):
            return np.sum((x[5:6][:, None] - y).sum(axis=0) ** 2) + np.sum(x)

        for n in (7, 5, 9, 6):
            x_bar, y_bar = loss.grad_fn(np.ones(n), np.zeros(3))
            wanted = np.ones(n)
            wanted[5:6] += 6.0
            assert x_bar.tolist() == wanted.tolist()
            assert y_bar.tolist() == ([-2.0] * 3 if n > 5 else [0.0] * 3)

    def test_a_slice_longer_than_any_sample(self):
        @symback.differentiable
        def loss(x, y):
            return np.sum(x[100:] * y[100:])

        apart = loss.grad_fn(np.ones(101), np.arange(103.0))
        assert apart[100] == 100.0 + 101.0 + 102.0
        assert loss.grad_fn(np.ones(103), np.arange(103.0))[-1] == 102.0

    def test_nothing_changes_where_a_length_passes_eight(self):
        @symback.differentiable
        def loss(x):
            values, total = [], 0.0
            for i in range(len(x)):
                values.append(np.sin(x[i]) * total)
                total = total + x[i] ** 2
            return sum(values)

        assert len(set(sources(loss, *((np.ones(n),) for n in (3, 8, 9, 30))))) == 1


def test_lowering_grows_with_the_depth_of_loops_and_not_faster(monkeypatch, tmp_path):
    attempts = [0]
    real = Carried.attempt

    def counted(self, *args):
        attempts[0] += 1
        return real(self, *args)

    monkeypatch.setattr(Carried, "attempt", counted)
    depth = 7
    lines = ["import numpy as np", "def loss(x):", "    s = 0.0"]
    lines += ["    " * (k + 1) + f"for i{k} in range(2):" for k in range(depth)]
    lines += ["    " * (depth + 1) + "s = s * 0.5 + np.sin(s + x)", "    return s"]
    path = tmp_path / "nested.py"
    path.write_text("\n".join(lines))
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    slope = symback.grad(names["loss"])(0.3)
    high, low = names["loss"](0.3 + 1e-6), names["loss"](0.3 - 1e-6)
    assert slope == pytest.approx((high - low) / 2e-6, rel=1e-6)
    # Each loop is lowered again with those around it: two times more at each level.
    assert attempts[0] <= depth * (depth + 2)


def test_arrays_are_found_by_dtype_shape_and_strides():
    @symback.differentiable(wrt="x")
    def loss(x, k):
        y = np.ravel(x * 1.0)
        return np.sum(y[k] ** 2)

    k = np.array([0, 1])
    square = np.arange(1.0, 5.0).reshape(2, 2)
    for _ in range(3):
        assert loss.grad_fn(square, k).tolist() == [[2.0, 4.0], [0.0, 0.0]]
        assert loss.grad_fn(square.T, k).tolist() == [[2.0, 6.0], [0.0, 0.0]]
        assert loss.grad_fn(np.arange(4), k).tolist() == [0.0, 2.0, 0.0, 0.0]
        small = loss.grad_fn(square.astype(np.float32), k)
        assert small.dtype == np.float32
        with pytest.raises(IndexError):
            loss.grad_fn(np.ones(1), k)


def test_arrays_that_shrink_in_a_loop_keep_their_types():
    @symback.differentiable(wrt=("p", "payoff"))
    def tree(p, payoff):
        values = payoff * 1.0
        for _ in range(len(payoff) - 1):
            values = p * values[1:] + (1 - p) * values[:-1]
        return values[0]

    p_bar, payoff_bar = tree.grad_fn(0.4, np.arange(5.0) ** 2)
    # The binomial distribution's mean of k**2: 4p(1 - p) + 16p**2, and its weights.
    assert p_bar == pytest.approx(4 - 8 * 0.4 + 32 * 0.4)
    wanted = [0.6**4, 4 * 0.4 * 0.6**3, 6 * 0.4**2 * 0.6**2, 4 * 0.4**3 * 0.6, 0.4**4]
    assert payoff_bar == pytest.approx(wanted)
    text = tree.backward_source_for(0.4, np.ones(5))
    assert "unbroadcast" not in text
    assert "broadcast_to" not in text


def test_a_branch_that_gives_one_entry_is_stretched_in_a_loop():
    @symback.differentiable
    def loss(x):
        v, total = x * 1.0, 0.0
        for i in range(3):
            w = v if i > 0 else x[:1]
            total = total + np.sum(w * v)
            v = v[1:]
        return total

    # x0 (x0 + x1 + x2 + x3), then x1² + x2² + x3², then x2² + x3².
    assert loss.grad_fn(np.arange(1.0, 5.0)) == pytest.approx([11, 5, 13, 17])
