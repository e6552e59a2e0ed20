"""Train the network of `network.py` by the gradient that symback generates for it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symback.demo.network import loss, scores
from symback.demo.penguins import Penguins, load
from symback.show.terminal import curve, print_source, progress

__all__ = ["accuracy", "main", "train"]

Array = NDArray[np.float64]
Parameters = tuple[Array, Array, Array, Array]

HIDDEN = 6
EPOCHS = 60
BATCH = 32
RATE = 0.3  # of the gradient, subtracted at each step


def start(d: int, k: int, seed: int) -> Parameters:
    """Return random W1 (d, 6) and W2 (6, k), and zeros b1 (6,) and b2 (k,).

    Their scale keeps a layer's outputs near 1 where its inputs are near 1.
    """
    rng = np.random.default_rng(seed)
    W1 = rng.normal(size=(d, HIDDEN)) / np.sqrt(d)
    W2 = rng.normal(size=(HIDDEN, k)) / np.sqrt(HIDDEN)
    return W1, np.zeros(HIDDEN), W2, np.zeros(k)


def train(data: Penguins, seed: int = 0) -> tuple[Parameters, list[float]]:
    """Descend the gradient over mini-batches; return parameters and every loss."""
    n, d = data.x_train.shape
    parameters = start(d, data.y_train.shape[1], seed)
    rng = np.random.default_rng(seed)
    losses: list[float] = []
    with progress("training", EPOCHS) as step:
        for _ in range(EPOCHS):
            order = rng.permutation(n)
            for i in range(0, n, BATCH):
                batch = order[i : i + BATCH]
                x, y = data.x_train[batch], data.y_train[batch]
                value, gradient = loss.value_and_grad_fn(*parameters, x, y)
                W1, b1, W2, b2 = (
                    p - RATE * g for p, g in zip(parameters, gradient, strict=True)
                )
                parameters = W1, b1, W2, b2
                losses.append(float(value))
            step(f"loss {losses[-1]:.4f}")
    return parameters, losses


def accuracy(parameters: Parameters, x: Array, y: Array) -> float:
    """Return the share of birds, (n, d), whose highest score is their species'."""
    guessed = np.argmax(scores(*parameters, x), axis=1)
    return float(np.mean(guessed == np.argmax(y, axis=1)))


def main() -> int:
    """Train, and show the loss, the accuracy, the gradient's source and its proof.

    Returns 0, or 1 where the comparison refutes the gradient.
    """
    began = time.perf_counter()
    data = load()
    birds = len(data.x_train) + len(data.x_test)
    title(f"{birds} penguins, {len(data.measurements)} measurements of each")
    print(f"species:       {', '.join(data.species)}")
    print(f"measurements:  {', '.join(data.measurements)}")
    print("source:        Gorman, Williams and Fraser (2014), CC0")

    title("The loss that a person wrote (symback/demo/network.py)")
    written = Path(__file__).with_name("network.py").read_text(encoding="utf-8")
    print_source(written[written.index("def scores") :])

    title("Training by the gradient that symback generates")
    sys.stdout.flush()
    parameters, losses = train(data)
    print(curve(losses))
    print(f"{'':6} loss over {len(losses)} steps: {losses[0]:.3f} to {losses[-1]:.4f}")
    correct = accuracy(parameters, data.x_train, data.y_train)
    print(f"{'':6} accuracy on the {len(data.x_train)} training birds: {correct:.1%}")
    correct = accuracy(parameters, data.x_test, data.y_test)
    print(f"{'':6} accuracy on {len(data.x_test)} birds not seen: {correct:.1%}")

    title("The generated source")
    print_source(loss.backward_source_for(*parameters, data.x_train, data.y_train))

    title("Is it right? SymPy's derivative of the loss against the generated source")
    sys.stdout.flush()
    comparison = loss.compare(*parameters, data.x_train, data.y_train)
    print(comparison)
    print(f"\n{time.perf_counter() - began:.1f} seconds from start to end")
    return 0 if comparison.ok else 1


def title(text: str) -> None:
    """Print a heading with a line above and its own width of dashes below."""
    print(f"\n{text}\n{'-' * len(text)}")
