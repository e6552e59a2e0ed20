"""The matrix identities that backpropagation is taught by, shapes included."""

from __future__ import annotations

import numpy as np

import symback
from tests.corpus import draw

#: Products of a few numbers in another order.
NEAR = {"rtol": 1e-13, "atol": 1e-14}


def same(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, **NEAR)


@symback.differentiable(wrt=("W", "x", "b"))
def linear(W, x, b, g):
    return np.sum(g * (W @ x + b))


class TestLinearLayer:
    """W_bar = g x', b_bar = g, x_bar = W' g."""

    W = draw(3, 2, seed=1)

    def test_vectors(self):
        x, b, g = draw(2, seed=2), draw(3, seed=3), draw(3, seed=4)
        W_bar, x_bar, b_bar = linear.grad_fn(self.W, x, b, g)
        same(W_bar, np.outer(g, x))
        same(x_bar, self.W.T @ g)
        same(b_bar, g)

    def test_column_vectors(self):
        x, b, g = draw(2, 1, seed=5), draw(3, 1, seed=6), draw(3, 1, seed=7)
        W_bar, x_bar, b_bar = linear.grad_fn(self.W, x, b, g)
        same(W_bar, g @ x.T)
        same(x_bar, self.W.T @ g)
        same(b_bar, g)

    def test_a_batch_of_columns(self):
        x, b, g = draw(2, 5, seed=8), draw(3, 1, seed=9), draw(3, 5, seed=10)
        W_bar, x_bar, b_bar = linear.grad_fn(self.W, x, b, g)
        same(W_bar, g @ x.T)
        same(x_bar, self.W.T @ g)
        same(b_bar, g.sum(axis=1, keepdims=True))

    def test_a_batch_of_rows(self):
        @symback.differentiable(wrt=("W", "X", "b"))
        def rows(W, X, b, G):
            return np.sum(G * (X @ W.T + b))

        X, b, G = draw(5, 2, seed=11), draw(3, seed=12), draw(5, 3, seed=13)
        W_bar, X_bar, b_bar = rows.grad_fn(self.W, X, b, G)
        same(W_bar, G.T @ X)
        same(X_bar, G @ self.W)
        same(b_bar, G.sum(axis=0))


@symback.differentiable(wrt=("W", "b"))
def mean_loss(W, b, X, Y):
    H = np.tanh(X @ W + b)
    return np.mean(np.sum((H - Y) ** 2, axis=1))


def test_the_batch_gradient_is_the_mean_of_the_examples():
    W, b = draw(3, 2, seed=14), draw(2, seed=15)
    X, Y = draw(4, 3, seed=16), draw(4, 2, seed=17)
    W_bar, b_bar = mean_loss.grad_fn(W, b, X, Y)
    each = [mean_loss.grad_fn(W, b, X[i : i + 1], Y[i : i + 1]) for i in range(4)]
    same(W_bar, np.mean([w for w, _ in each], axis=0))
    same(b_bar, np.mean([v for _, v in each], axis=0))


def block(x, W):
    return np.maximum(W @ x, 0.0) * 0.5


def plain_loss(x, W, g):
    return np.sum(g * block(x, W))


def residual_loss(x, W, g):
    return np.sum(g * (block(x, W) + x))


def test_a_skip_adds_exactly_the_cotangent():
    x, W, g = draw(4, seed=18), draw(4, 4, seed=19), draw(4, seed=20)
    through = symback.grad(plain_loss)(x, W, g)
    around = symback.grad(residual_loss)(x, W, g)
    # The addition itself rounds, so the sum is compared, not the difference.
    np.testing.assert_array_equal(around, g + through)


def test_a_skip_around_a_dead_block_is_the_identity():
    x, W, g = draw(4, seed=21), np.zeros((4, 4)), draw(4, seed=22)
    np.testing.assert_array_equal(symback.grad(residual_loss)(x, W, g), g)


def attention(q, k, v, g):
    z = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return np.sum(g * ((e / e.sum(axis=1, keepdims=True)) @ v))


def self_attention(x, g):
    return attention(x, x, x, g)


def test_a_variable_as_query_key_and_value_collects_all_three():
    x, g = draw(4, 3, seed=23), draw(4, 3, seed=24)
    parts = symback.grad(attention, wrt=("q", "k", "v"))(x, x.copy(), x.copy(), g)
    assert all(np.max(np.abs(part)) > 0.05 for part in parts)
    same(symback.grad(self_attention)(x, g), sum(parts))


def chain(x, W1, W2, W3, g):
    return g @ (W3 @ (W2 @ (W1 @ x)))


def test_a_chain_of_layers_is_the_product_of_transposes():
    x, g = draw(2, seed=25), draw(2, seed=26)
    W1, W2, W3 = draw(3, 2, seed=27), draw(4, 3, seed=28), draw(2, 4, seed=29)
    x_bar, W2_bar = symback.grad(chain, wrt=("x", "W2"))(x, W1, W2, W3, g)
    same(x_bar, W1.T @ (W2.T @ (W3.T @ g)))
    same(W2_bar, np.outer(W3.T @ g, W1 @ x))


def softmax_cross_entropy(z, target):
    shifted = z - np.max(z)
    return -np.sum(target * (shifted - np.log(np.sum(np.exp(shifted)))))


def test_softmax_cross_entropy_is_prediction_minus_target():
    z, target = draw(5, seed=30), np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    p = np.exp(z) / np.sum(np.exp(z))
    same(symback.grad(softmax_cross_entropy)(z, target), p - target)


def shared_weight(w, x):
    return np.sum(np.tanh(w * np.tanh(w * x)))


def test_shared_weights_add_their_gradients():
    def apart(w1, w2, x):
        return np.sum(np.tanh(w2 * np.tanh(w1 * x)))

    w, x = 0.7, draw(3, seed=31)
    first, second = symback.grad(apart, wrt=("w1", "w2"))(w, w, x)
    np.testing.assert_allclose(
        symback.grad(shared_weight)(w, x), first + second, **NEAR
    )
