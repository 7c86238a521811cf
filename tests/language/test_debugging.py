"""tf.debugging: what holds passes, what fails says where; and what TensorFlow asks of values."""

import pytest

from .conftest import Runner

X = "x = tf.constant([1.0, 2.0])\n"
# call -> a call of it that fails, and the end of its message
ASSERTIONS = [
    ("assert_equal(x, [1.0, 2.0])", "assert_equal(x, [1.0, 3.0])", "2.0 and 3.0 at [1]"),
    ("assert_none_equal(x, 5.0)", "assert_none_equal(x, 2.0)", "2.0 and 2.0 at [1]"),
    ("assert_near(x, x + 1e-7)", "assert_near(x, [1.1, 2.0])", "1.0 and 1.1 at [0]"),
    ("assert_greater(x, 0.5)", "assert_greater(x, 1.5)", "1.0 and 1.5 at [0]"),
    ("assert_less(x, 3.0)", "assert_less(x, 2.0, message='too large')", "too large: assert_less does not hold for 2.0 and 2.0 at [1]"),
    ("assert_non_negative(x)", "assert_non_negative(-x)", "-1.0 at [0]"),
    ("assert_positive(x)", "assert_positive(x - 1.0)", "0.0 at [0]"),
    ("assert_all_finite(x, 'm')", "assert_all_finite(1.0 / (x - 1.0), 'm')", "inf at [0]"),
    ("check_numerics(x, 'm')", "check_numerics(0.0 / (x - 1.0), 'm')", "nan at [0]"),
    ("assert_rank(x, 1)", "assert_rank(x, 2)", "the rank is 1, and not 2"),
    ("assert_rank_at_least(x, 1)", "assert_rank_at_least(x, 2)", "the rank is 1, and less than 2"),
    ("assert_shapes([(x, ('N',)), (tf.ones((2, 3)), ('N', None))])",
     "assert_shapes([(x, ('N',)), (tf.ones(3), ('N',))])", "a size of shape [3] is 3, and N is 2"),
    ("Assert(tf.reduce_all(x > 0.0), [x])", "Assert(1 > 2, [3])", "does not hold for 3"),
    ("Assert([True, True], ['x is', x])", "Assert(False, ['boo', 3], message='m')", "m: Assert does not hold for boo, 3"),
    ("Assert(True)", "Assert([True, False], [[1, 2, 3]])", "Assert does not hold for [1, 2, 3]"),
]  # fmt: skip


@pytest.mark.parametrize(("holds", "fails", "message"), ASSERTIONS, ids=[a[1] for a in ASSERTIONS])
def test_assertions(run: Runner, holds: str, fails: str, message: str) -> None:
    run(f"{X}tf.debugging.{holds}\nx")
    error = run.refused(f"{X}tf.debugging.{fails}\nx")
    assert (error.code, error.message[-len(message) :]) == ("E0406", message)


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
