"""Cells of notebooks on gradient tapes, pasted as they are, and with their numbers as inputs: answered by kernels."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

FLOW = """
def f(x, y):
    output = 1.0
    for i in range(y):
        if i > 1 and i < 5:
            output = tf.multiply(output, x)
    return output
def grad(x, y):
    with tf.GradientTape() as t:
        t.watch(x)
        out = f(x, y)
    return t.gradient(out, x)
"""
# A constant that goes by the name of a parameter too.
GLOBAL = """
c = tf.constant(2.0)
def f(c):
    with tf.GradientTape() as t:
        t.watch(c)
        y = c**3
    return t.gradient(y, c)
"""
ASSIGNED = """
variable.assign(2 * variable)
variable[0, 1].assign(42)
variable[:, 2].assign([0., 1.])
variable.scatter_nd_update(indices=[[0, 0], [1, 2]], updates=[100., 200.])
"""
# The pattern of the function factory around L-BFGS: a vector taken apart into the parameters of a model.
FACTORY = """
part = concat([zeros(4, dtype='int32'), ones(3, dtype='int32')], 0)
def loss(params):
    a, b = tf.dynamic_partition(params, part, 2)
    W = tf.reshape(a, (2, 2))
    return sum((W @ x - 1.0) ** 2) + sum(tanh(b) ** 2)
loss(params)"""
CELLS: list[tuple[str, dict[str, Any]]] = [
    ("x = tf.constant(2.0)\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n    y = x**2\nprint(y.numpy())\ntape.gradient(y, x)", {}),
    ("tf.dynamic_stitch([tf.constant([0, 2]), tf.constant([1, 3])], [tf.constant([10, 20]), tf.constant([30, 40])])", {}),
    ("tf.dynamic_partition(tf.constant([10, 20, 30, 40, 50]), tf.constant([0, 1, 1, 0, 2]), 3)", {}),
    ("x = tf.Variable(3.0)\nwith tf.GradientTape() as tape:\n    y = x**2\ndy_dx = tape.gradient(y, x)\nprint(dy_dx.numpy())\ndy_dx", {}),
    (FLOW + "assert grad(tf.convert_to_tensor(2.0), 6).numpy() == 12.0\ngrad(tf.constant(2.0), 5)", {}),
    (FLOW + "grad(x, n)", {"x": 2.0, "n": 6}),
    ("x = tf.constant(2.0)" + FLOW + "grad(x, 6) + grad(x, 5) * z + grad(x, 4)", {"z": 1.5}),
    (GLOBAL + "f(c) * c * z", {"z": 1.5}),
    (GLOBAL + "for i in range(5):\n    c = c - 0.1 * f(c)\nc * z", {"z": 1.5}),
    (FLOW + "x = 2.0 * z\ngrad(x, 5) + grad(x, n) * z", {"z": 2.0, "n": 4}),
    ("t = tf.constant([[1., 2., 3.], [4., 5., 6.]])\ns = tf.constant(50)\nt @ tf.transpose(t) + tf.square(t[..., 1, tf.newaxis])", {}),
    ("s = tf.constant(3)\nm = tf.constant([1, 2]) * s\nsum(t[0] * cast(m, float64)[0]) + len(range(s))", {"t": np.array([[1.0, 2.0]])}),
    ("variable = tf.Variable([[1., 2., 3.], [4., 5., 6.]])" + ASSIGNED + "variable", {}),
    ("variable = tf.Variable(x * 1.0)" + ASSIGNED + "sum(variable * x)", {"x": np.arange(6.0).reshape(2, 3)}),
    ("v = tf.Variable(x * 1.0)\nfor k in range(70):\n    v[k % 3].assign(v[(k + 1) % 3] * 0.9)\n    v[:1].assign([0.5])\nsum(v * x)", {"x": np.arange(3.0)}),
    (FACTORY, {"params": np.linspace(-1.0, 1.0, 7), "x": np.array([0.5, 0.2])}),
]  # fmt: skip


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["value", "grad", "hessian", "jvp"])
@pytest.mark.parametrize(("text", "at"), CELLS)
def test_cell(text: str, at: dict[str, Any], command: str) -> None:
    wrt = [name for name in at if name != "n"]
    if command == "value" or wrt:
        given = {"tangent": {name: np.full(np.shape(at[name]), 0.3) for name in wrt}} if command == "jvp" else {}
        assert agree(text, at, wrt if command != "value" else None, command, 1e-12, **given) == ""


@pytest.mark.usefixtures("interpret")
def test_a_constant_with_two_names() -> None:
    """A tensor that is a parameter, and has a name outside of the function."""
    text = (
        "x = tf.convert_to_tensor(2.0)\nassert grad(x, 6).numpy() == 12.0\nassert grad(x, 4).numpy() == 4.0\ngrad(x, 5)"
    )
    assert agree(FLOW + text, {}, None, "value") == ""
    assert adiff.program(FLOW + text).evaluate("value", {}).value == 12.0


def test_closed_forms() -> None:
    """d(x**3)/dx at 2 in machine code, by the sixth and the fifth iteration."""
    from adiff import Program

    found = Program(FLOW + "grad(x, n)").evaluate("grad", {"x": 2.0, "n": 6}, ["x"], engine="kernel")
    assert (found.engine, found.value, found.gradients["x"]) == ("kernel", 12.0, 12.0)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "n"), [(FLOW + "grad(x, n)", 1), (FLOW + "grad(x, n)", 70), (FLOW + "grad(x, int(2 * x))", 1)]
)
def test_what_only_some_paths_lead_from(text: str, n: int) -> None:
    """A gradient that is None, a loop too long to be written out, and one of a length that data decides."""
    at = {"x": 2.0, "n": n}
    assert (
        agree(text, {name: at[name] for name in at if name != "n" or ("n)" in text and "int" not in text)}, ["x"]) != ""
    )


# What is read by another name is followed as well, on either tier: by the value, from the formula.
SHARED = [
    ("d = c\nwith tf.GradientTape() as t:\n    t.watch(c)\n    y = sum(d**3 * c * z)\nsum(t.gradient(y, c))", lambda c: 4 * c**3),
    ("def g():\n    return c**2\ndef f(x):\n    with tf.GradientTape() as t:\n        t.watch(x)\n        y = sum(x**3 * g())\n"
     "    return sum(t.gradient(y, x))\nf(c) * z", lambda c: 5 * c**4),
]  # fmt: skip


@pytest.mark.parametrize("constant", [[2.0], [1.0, 2.0]])
@pytest.mark.parametrize(("text", "derivative"), SHARED)
def test_a_constant_of_several_names(text: str, derivative: Any, constant: list[float]) -> None:
    given = str(constant[0] if len(constant) == 1 else constant)
    for engine in ("tape", "kernel"):
        found = adiff.program(f"c = tf.constant({given})\n{text}").value({"z": 1.5}, engine=engine)
        assert np.isclose(found, 1.5 * sum(map(derivative, constant)), rtol=1e-14)
