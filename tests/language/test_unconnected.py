"""Sources that a target does not depend on: None or zeros, and the notice that says why."""

import pytest

from .conftest import Runner

BREAKS = {
    "integer cast": ("y = cast(x, int64) * 2", "the cast to int64", "cast(x, int64)"),
    "int()": ("y = float(int(x))", "int()", "int(x)"),
    "stop_gradient": ("y = stop_gradient(x * 2) + 1", "stop_gradient", "stop_gradient(x * 2)"),
    "argmax": ("y = cast(argmax(stack([x, 2.0])), float64)", "argmax", "argmax(stack([x, 2.0]))"),
    "comparison": ("y = cast(x > 2, float64)", "greater", "x > 2"),
    "assigned Variable": ("v.assign(x * 2)\n    y = v * 1.0", "the assignment to a Variable", "v.assign(x * 2)"),
    "a new Variable": ("w = Variable(x)\n    y = w * 1.0", "the assignment to a Variable", "Variable(x)"),
    "truth": ("y = 2.0 * v if x else v", "the truth of a condition", "x"),
    "item": ("y = x.numpy() * 2.0", "numpy()", "x.numpy()"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_the_notice_says_where_the_path_broke(run: Runner, name: str) -> None:
    body, reason, place = BREAKS[name]
    text = f"x = constant(3.0)\nv = Variable(1.0)\nwith GradientTape() as t:\n    t.watch(x)\n    {body}\nprint(t.gradient(y, x))"
    run(text)
    assert run.printed == "None\n"
    [(message, shown)] = run.notices("N0502")
    assert reason in message
    assert shown == place


REASONS = {
    "never used": ("x = constant(3.0)\nz = constant(1.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    y = z * 2", "never used"),
    "used for something else": (
        "x = constant(3.0)\nz = constant(1.0)\nwith GradientTape() as t:\n    t.watch([x, z])\n    w = x * x\n    y = z * 2",
        "does not depend on the source",
    ),
    "not watched": ("x = constant(3.0)\nwith GradientTape() as t:\n    y = x * x", "not watched"),
    "a number that was never watched": ("x = 3.0\nwith GradientTape() as t:\n    y = x * x", "never watched"),
    "not trainable": ("x = Variable(3.0, trainable=False)\nwith GradientTape() as t:\n    y = x * x", "not trainable"),
    "integers": ("x = Variable(3)\nwith GradientTape() as t:\n    y = x * x", "int64"),
    "read outside the tape": ("x = Variable(3.0)\nz = x * 1.0\nwith GradientTape() as t:\n    y = z * z", "not read while the tape recorded"),
    "strings": ("x = constant('a')\nwith GradientTape() as t:\n    y = constant(2.0)", "string"),
    "watching switched off": ("x = Variable(3.0)\nwith GradientTape(watch_accessed_variables=False) as t:\n    y = x * x", "watch_accessed_variables=False"),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_the_notice_says_why(run: Runner, name: str) -> None:
    text, reason = REASONS[name]
    run(text + "\nprint(t.gradient(y, x))")
    assert run.printed == "None\n"
    [(message, place)] = run.notices("N0502")
    assert reason in message
    assert place == "t.gradient(y, x)"


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
