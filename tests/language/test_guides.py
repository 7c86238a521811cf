"""Patterns of TensorFlow's guides, and what TensorFlow prints for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Runner

# text -> its value, by closed forms and TensorFlow's documentation
VALUES = {
    "drawing": (
        """
import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib import pyplot

mpl.rcParams['figure.figsize'] = (8, 6)
figure, axes = plt.subplots(1, 2, figsize=(3, 4))
axes[0].plot([1, 2], label='y')
pyplot.gca().lines.thing = 3
_ = plt.title('h')
3
""",
        3,
    ),
    "the tangent of a loss": (
        """
x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
w = tf.Variable([[1.0], [2.0]])
with tf.autodiff.ForwardAccumulator(primals=w, tangents=tf.constant([[1.], [0.]])) as acc:
    loss = tf.reduce_sum((x @ w - [[1.], [-1.]]) ** 2.)
acc.jvp(loss)
""",
        48.0,
    ),
    "forward over reverse": (
        """
v = tf.Variable([1., 2.])
with tf.autodiff.ForwardAccumulator(v, tf.constant([1., 0.])) as acc:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v ** 3.)
    g = tape.gradient(y, v)
[acc.jvp(g), acc.jvp(tf.constant(1.)), acc.jvp(tf.constant(1.), unconnected_gradients='zero')]
""",
        [[6.0, 0.0], None, 0.0],
    ),
    "forward over forward": (
        """
x, z = tf.constant(2.), tf.constant(3.)
with tf.autodiff.ForwardAccumulator([x, z], [tf.constant(1.), tf.constant(10.)]) as outer:
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.)) as inner:
        y = x**3 * z
    d = inner.jvp(y)
[d, outer.jvp(d), outer.jvp([y, x])]
""",
        [36.0, 156.0, [116.0, 1.0]],
    ),
}


@pytest.mark.parametrize(("text", "expected"), VALUES.values(), ids=list(VALUES))
def test_value(run: Runner, text: str, expected: object) -> None:
    assert run(text) == expected
