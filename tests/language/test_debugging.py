"""tf.debugging: what holds passes, what fails says where; and what TensorFlow asks of values."""

from .conftest import Runner

X = "x = tf.constant([1.0, 2.0])\n"


def test_gradients_pass_a_check(run: Runner) -> None:
    assert run.refused(f"{X}tf.Assert(x > 1.0, ['x is', x])").message.endswith("for x is, [1. 2.]")
    text = (
        "with tf.GradientTape() as t:\n    t.watch(x)\n    y = tf.debugging.check_numerics(x**2, '')\nt.gradient(y, x)"
    )
    assert run(X + text) == [2.0, 4.0]


def test_what_is_a_tensor(run: Runner) -> None:
    assert run(X + "[tf.is_tensor(v) for v in (x, tf.Variable(1.0), 1.0, [1.0], 'a')]") == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_signatures_are_accepted(run: Runner) -> None:
    text = "@tf.function(input_signature=[tf.TensorSpec(shape=[None], dtype=tf.float32)])\ndef f(x):\n    return x * 2\nf(x)"
    assert run(X + text) == [2.0, 4.0]
