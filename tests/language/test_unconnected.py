"""Sources that a target does not depend on: None or zeros, and the notice that says why."""

import pytest

from .conftest import Runner


@pytest.mark.parametrize("spelling", ["'zero'", "tf.UnconnectedGradients.ZERO", "'ZERO'"])
def test_unconnected_zero(run: Runner, spelling: str) -> None:
    text = (
        "x = constant([[1.0, 1.0], [1.0, 1.0]])\ny = constant(3.0)\nwith GradientTape() as t:\n    t.watch([x, y])\n    z = y * 2\n"
        f"t.gradient(z, [x, y], unconnected_gradients={spelling})"
    )
    assert run(text) == [[[0.0, 0.0], [0.0, 0.0]], 2.0]
    assert len(run.notices("N0502")) == 1


def test_unconnected_zero_keeps_the_dtype(run: Runner) -> None:
    text = "x = constant([1.0], dtype=float32)\nwith GradientTape() as t:\n    t.watch(x)\n    y = constant(1.0)\nt.gradient(y, x, unconnected_gradients='zero').dtype"
    assert run(text) == "float32"


def test_unconnected_none_is_the_default_and_anything_else_is_refused(run: Runner) -> None:
    tape = "x = constant(3.0)\nwith GradientTape() as t:\n    t.watch(x)\n    y = x * x\n"
    error = run.refused(tape + "t.gradient(y, x, unconnected_gradients='nothing')")
    assert error.code == "E0305"


FAILING_AFTER = {  # a program that fails for a gradient that is None -> why it is so, which the error's hint says
    "g * 2.0": "the source was not watched",
    "print(g.numpy())": "the source was not watched",
    "for q in g:\n    pass": "the source was not watched",
    "w = tf.Variable(1.0)\nw.assign_sub(0.1*g)": "the source was not watched",
}


@pytest.mark.parametrize("line", FAILING_AFTER)
def test_an_error_for_none_says_why_a_gradient_is_none(run: Runner, line: str) -> None:
    text = f"x = tf.constant(1.0)\nwith tf.GradientTape() as t:\n    y = x*x\ng = t.gradient(y, x)\n{line}"
    hint = run.refused(text).hint
    assert FAILING_AFTER[line] in hint
    assert hint.endswith("(in line 4)")
