"""Each optimiser's steps against the formulas of its paper and of Keras' documentation, computed in NumPy."""

from collections.abc import Callable
from typing import Any

import adiff
import numpy as np
import pytest

START = np.array([1.0, -2.0, 0.5])
STEPS = 5
# The gradients that the steps are given: of varying signs and sizes.
GRADIENTS = [np.array([0.3, -1.2, 2.0]) * (1 + k) * (-1) ** k for k in range(STEPS)]


def run(make: str) -> Any:
    lines = [f"opt = tf.keras.optimizers.{make}", f"v = tf.Variable({START.tolist()})"]
    lines += [f"opt.apply_gradients([(tf.constant({g.tolist()}), v)])" for g in GRADIENTS]
    return adiff.program("\n".join([*lines, "v.numpy()"])).value(dtype="float64")


def sgd(momentum: float = 0.0, nesterov: bool = False) -> Any:
    x, velocity = START.copy(), np.zeros(3)
    for g in GRADIENTS:
        velocity = momentum * velocity - 0.1 * g
        x = x + (momentum * velocity - 0.1 * g if nesterov else velocity)
    return x


def adam(decay: float = 0.0, amsgrad: bool = False) -> Any:
    # Kingma & Ba, algorithm 1 with the step of their section 2, and epsilon as Keras has it.
    x, m, v, top = START.copy(), np.zeros(3), np.zeros(3), np.zeros(3)
    for t, g in enumerate(GRADIENTS, 1):
        x = x - 0.1 * decay * x
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        top = np.maximum(top, v)
        x = x - 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(top if amsgrad else v) + 1e-7)
    return x


def adamax() -> Any:
    x, m, u = START.copy(), np.zeros(3), np.zeros(3)
    for t, g in enumerate(GRADIENTS, 1):
        m = 0.9 * m + 0.1 * g
        u = np.maximum(0.999 * u, abs(g))
        x = x - 0.1 / (1 - 0.9**t) * m / (u + 1e-7)
    return x


def rmsprop(momentum: float = 0.0, centered: bool = False) -> Any:
    x, v, mean, moved = START.copy(), np.zeros(3), np.zeros(3), np.zeros(3)
    for g in GRADIENTS:
        v = 0.9 * v + 0.1 * g**2
        mean = 0.9 * mean + 0.1 * g
        moved = momentum * moved + 0.1 * g / np.sqrt((v - mean**2 if centered else v) + 1e-7)
        x = x - moved
    return x


def adagrad() -> Any:
    x, total = START.copy(), np.full(3, 0.1)
    for g in GRADIENTS:
        total = total + g**2
        x = x - 0.1 * g / np.sqrt(total + 1e-7)
    return x


def adadelta() -> Any:
    x, squares, steps = START.copy(), np.zeros(3), np.zeros(3)
    for g in GRADIENTS:
        squares = 0.95 * squares + 0.05 * g**2
        delta = -np.sqrt(steps + 1e-7) / np.sqrt(squares + 1e-7) * g
        steps = 0.95 * steps + 0.05 * delta**2
        x = x + 0.1 * delta
    return x


def nadam() -> Any:
    # Dozat, with the schedule of momenta of Keras: u(t) = beta_1 (1 - 0.96^t / 2).
    x, m, v, product = START.copy(), np.zeros(3), np.zeros(3), 1.0
    for t, g in enumerate(GRADIENTS, 1):
        now, later = (0.9 * (1 - 0.5 * 0.96**k) for k in (t, t + 1))
        product *= now
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        ahead = later * m / (1 - product * later) + (1 - now) * g / (1 - product)
        x = x - 0.1 * ahead / (np.sqrt(v / (1 - 0.999**t)) + 1e-7)
    return x


def clipped(how: Callable[[Any], Any]) -> Any:
    x = START.copy()
    for g in GRADIENTS:
        x = x - 0.1 * how(g)
    return x


def lion() -> Any:
    # Chen et al. (2023), algorithm 2.
    x, m = START.copy(), np.zeros(3)
    for g in GRADIENTS:
        x = x - 0.1 * np.sign(0.9 * m + 0.1 * g)
        m = 0.99 * m + 0.01 * g
    return x


def ftrl() -> Any:
    # McMahan et al. (2013), algorithm 1, with beta = 0, and Keras' twice the l2.
    x, n, z = START.copy(), np.full(3, 0.1), np.zeros(3)
    for g in GRADIENTS:
        sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / 0.1
        z, n = z + g - sigma * x, n + g**2
        x = np.where(abs(z) <= 0.01, 0.0, -(z - np.sign(z) * 0.01) / (np.sqrt(n) / 0.1 + 2 * 0.05))
    return x


CASES = [
    ("Lion(0.1)", lion()),
    ("Ftrl(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.05)", ftrl()),
    ("SGD(0.1)", sgd()),
    ("SGD(0.1, momentum=0.9)", sgd(0.9)),
    ("SGD(0.1, momentum=0.9, nesterov=True)", sgd(0.9, True)),
    ("Adam(0.1)", adam()),
    ("Adam(0.1, amsgrad=True)", adam(amsgrad=True)),
    ("AdamW(0.1)", adam(decay=0.004)),
    ("Adamax(0.1)", adamax()),
    ("RMSprop(0.1)", rmsprop()),
    ("RMSprop(0.1, momentum=0.5, centered=True)", rmsprop(0.5, True)),
    ("Adagrad(0.1)", adagrad()),
    ("Adadelta(0.1)", adadelta()),
    ("Nadam(0.1)", nadam()),
    ("SGD(0.1, clipvalue=0.5)", clipped(lambda g: np.clip(g, -0.5, 0.5))),
    ("SGD(0.1, clipnorm=1.0)", clipped(lambda g: g / max(1.0, np.linalg.norm(g)))),
    ("SGD(0.1, global_clipnorm=1.0)", clipped(lambda g: g / max(1.0, np.linalg.norm(g)))),
]


@pytest.mark.parametrize(("make", "expected"), CASES, ids=[make for make, _ in CASES])
def test_steps(make: str, expected: Any) -> None:
    np.testing.assert_allclose(run(make), expected, rtol=1e-12)


SCHEDULES = [
    ("ExponentialDecay(0.1, 10, 0.5)", 5, 0.1 * 0.5**0.5),
    ("ExponentialDecay(0.1, 10, 0.5, staircase=True)", 15, 0.05),
    ("InverseTimeDecay(0.1, 10, 0.5)", 20, 0.05),
    ("PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.1])", 10, 1.0),
    ("PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.1])", 11, 0.5),
    ("PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.1])", 21, 0.1),
    ("PolynomialDecay(0.1, 10, 0.02, power=2.0)", 5, 0.08 * 0.25 + 0.02),
    ("PolynomialDecay(0.1, 10, 0.02, cycle=True)", 15, 0.08 * 0.25 + 0.02),
    ("CosineDecay(0.1, 10, alpha=0.2)", 5, 0.1 * (0.8 * 0.5 + 0.2)),
    ("CosineDecayRestarts(0.1, 2)", 1, 0.05),
    ("CosineDecayRestarts(0.1, 2, m_mul=0.5)", 4, 0.1 * 0.5 * 0.5),
    ("CosineDecay(0.0, 10, warmup_target=0.1, warmup_steps=4)", 2, 0.05),
]


@pytest.mark.parametrize(("make", "step", "expected"), SCHEDULES)
def test_schedules(make: str, step: int, expected: float) -> None:
    found = adiff.program(f"tf.keras.optimizers.schedules.{make}(tf.constant({step}))").value(dtype="float64")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_an_optimiser_of_a_part_and_a_transformed_gradient() -> None:
    found = adiff.program(
        "a = tf.Variable([1.0, 2.0])\nb = tf.Variable([3.0])\n"
        "first, second = tf.keras.optimizers.SGD(0.5), tf.keras.optimizers.SGD(0.1)\n"
        "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(a*a) + tf.reduce_sum(b*b)\n"
        "ga, gb = tape.gradient(loss, [a, b])\n"
        "first.apply_gradients([(ga/tf.norm(ga), a)])\nsecond.apply_gradients([(-gb, b)])\n"
        "[a.numpy(), b.numpy(), first.iterations.numpy()]"
    ).value(dtype="float64")  # fmt: skip
    np.testing.assert_allclose(found[0], np.array([1.0, 2.0]) * (1 - 0.5 / np.sqrt(5)), rtol=1e-12)
    assert (found[1].tolist(), found[2]) == ([3.0 + 0.6], 1)
