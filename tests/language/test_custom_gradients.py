"""Functions with derivatives of the program's own."""

import math

import pytest

from .conftest import Runner

CUSTOM = "@custom_gradient\ndef twice(x):\n    def rule(upstream):\n        return 2.0 * upstream\n    return x, rule\n"


def test_custom_gradient_in_forward_mode(run: Runner) -> None:
    assert run(CUSTOM + "twice(x) * 3.0", {"x": 1.0}, "jvp", tangent={"x": 1.0}) == 3.0
    assert run.outcome.tangent == 6.0
    assert run(CUSTOM + "jvp(lambda v: twice(v) ** 2, (3.0,), (1.0,))") == (9.0, 12.0)


def test_custom_gradient_of_second_order(run: Runner) -> None:
    """The rule d/dx = cos(x) is differentiated again: -sin(x)."""
    text = "@custom_gradient\ndef f(x):\n    return sin(x), lambda g: g * cos(x)\ngrad(grad(f))(0.5)"
    assert run(text) == pytest.approx(-math.sin(0.5), rel=1e-15)
    assert run(
        "@custom_gradient\ndef f(x):\n    return sin(x), lambda g: g * cos(x)\nf(x)", {"x": 0.5}, "hessian"
    ) == math.sin(0.5)
    assert run.outcome.hessian is not None
    assert run.outcome.hessian["x"]["x"] == pytest.approx(-math.sin(0.5), rel=1e-15)


def test_custom_gradient_stable_log1pexp(run: Runner) -> None:
    text = (
        "@tf.custom_gradient\ndef log1pexp(x):\n    e = tf.exp(x)\n    def grad(upstream):\n"
        "        return upstream * (1 - 1 / (1 + e))\n    return tf.math.log(1 + e), grad\n"
        "x = tf.constant(100.0)\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    y = log1pexp(x)\ntape.gradient(y, x).numpy()"
    )
    assert run(text) == 1.0


def test_custom_gradient_of_several_arguments(run: Runner) -> None:
    text = "@custom_gradient\ndef f(a, b):\n    def rule(g):\n        return g * b, g * 100.0\n    return a * b, rule\ngrad(f, argnums=(0, 1))(2.0, 3.0)"
    assert run(text) == (3.0, 100.0)


def test_custom_gradient_with_variables(run: Runner) -> None:
    """A rule with a parameter `variables` gets the Variables that were read, and gives their gradients: here ten times x."""
    text = (
        "v = tf.Variable(2.0)\nw = tf.Variable(1.0)\n@tf.custom_gradient\ndef f(x):\n    def rule(g, variables=None):\n"
        "        assert len(variables) == 1 and variables[0] is v\n        return g * v, [g * x * 10.0]\n    return x * v, rule\n"
        "x = tf.constant(3.0)\nwith tf.GradientTape() as t:\n    t.watch(x)\n    y = f(x) * w\n"
        "[g.numpy() for g in t.gradient(y, [x, v, w])]"
    )
    assert run(text) == [2.0, 30.0, 6.0]
    assert not run.notices("N0506")


@pytest.mark.parametrize(
    "text",
    [
        "@custom_gradient\ndef f(x):\n    return x\nf(1.0)",
        "@custom_gradient\ndef f(a, b):\n    return a * b, lambda g: g\ngrad(f)(1.0, 2.0)",
        "custom_gradient(3.0)",
    ],
)
def test_custom_gradient_that_is_wrong(run: Runner, text: str) -> None:
    assert run.refused(text).code in ("E0509", "E0304")
