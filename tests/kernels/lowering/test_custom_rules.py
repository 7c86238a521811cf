"""`custom_gradient` in kernels: the rule in every mode, as on the tape."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

STABLE = (
    "@custom_gradient\ndef f(u):\n    e = exp(u)\n    def rule(g):\n        return g * (1 - 1 / (1 + e))\n"
    "    return log(1 + e), rule\n"
)
TWO = "@custom_gradient\ndef f(a, b):\n    return a*b, lambda g: (g*b*3, -g*a)\n"
CLIPPED = "@custom_gradient\ndef f(u):\n    return u*1.0, lambda g: clip(g, -1.0, 1.0)\n"
STRAIGHT = "@custom_gradient\ndef f(u):\n    return round(u), lambda g: g\n"
POINT: dict[str, Any] = {"x": 1.3, "y": 2.0, "v": np.array([1.0, 2.3, -0.4])}
FIRST = ("value", "grad", "vjp")
MODES = (*FIRST, "hessian", "jvp", "hvp")
ONE_WAY = "a tangent through a custom_gradient whose rule"

# A program; the commands that kernels answer, and those that they leave, for a reason.
PROGRAMS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "number": (STABLE + "f(x)", MODES, ()),
    "inside": (STABLE + "f(x*x)*x", MODES, ()),
    "two arguments": (TWO + "f(x, y)**2", MODES, ()),
    "a constant argument": (TWO + "f(x, 2.0)**2", MODES, ()),
    "in a loop": (STABLE + "s = 0.0\nfor i in range(70):\n    s = s*0.5 + 0.3*f(s + x)\ns", MODES, ()),
    "singular where the rule is not": (
        "@custom_gradient\ndef f(u):\n    return abs(u), lambda g: g*0.5\nf(x - 1.3)", ("value", "grad", "jvp"), ()
    ),
    "tensor": (STABLE + "sum(f(v)*v)", FIRST, ("hessian", "jvp", "hvp")),
    "tensor in a loop": (STABLE + "s = zeros(3)\nfor i in range(70):\n    s = s*0.5 + f(s + v)\nsum(s)", FIRST, ("jvp",)),
    "straight through": (STRAIGHT + "sum(f(v)**2)", FIRST, ("hessian", "jvp")),
    "not linear": (CLIPPED + "f(x)**2", FIRST, ("hessian", "jvp")),
    "not linear, tensor": (CLIPPED + "sum(f(v)**2)", FIRST, ("hessian",)),
    "a branch in the rule": (
        "@custom_gradient\ndef f(u):\n    return sin(u), lambda g: g*cos(u) if u > 0 else g\nf(x) + x", FIRST, ("jvp",)
    ),
    "two results": (
        "@custom_gradient\ndef f(u):\n    return (u*2, u*3), lambda g, h: g + h*u\na, b = f(x)\na*b", FIRST, ("jvp",)
    ),
    "inside grad": (TWO + "grad(lambda a: f(a, y)**2)(x)", ("value", "grad"), ()),
    "inside a tape": (
        TWO + "u = x*1\nwith GradientTape() as t:\n    t.watch(u)\n    z = f(u, y)**2\nt.gradient(z, u)", ("value", "grad"), ()
    ),
}  # fmt: skip

LEFT = {
    "c = x*2\n@custom_gradient\ndef f(u):\n    return u*c, lambda g: g\nf(x)": "a value from outside",
    "c = x*2\n@custom_gradient\ndef f(u):\n    return u*2, lambda g: g*c\nf(x)": "a value from outside",
    "@custom_gradient\ndef f(u):\n    return u*2, lambda g: None\nf(x) + x": "no number for an argument",
}


def evaluated(text: str, command: str) -> str:
    at = {name: POINT[name] for name in adiff.program(text).inputs}
    direction = {name: np.full(np.shape(value), 0.7) if np.ndim(value) else 0.7 for name, value in at.items()}
    options = {"jvp": {"tangent": direction}, "hvp": {"vector": direction}}.get(command, {})
    return agree(text, at, command=command, tolerance=1e-13 if command in FIRST else 1e-11, **options)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("text", "command", "reason"),
    [
        pytest.param(text, command, "" if command in taken else ONE_WAY, id=f"{name} {command}")
        for name, (text, taken, left) in PROGRAMS.items()
        for command in (*taken, *left)
    ],
)
def test_rule(text: str, command: str, reason: str) -> None:
    found = evaluated(text, command)
    assert found == reason or (reason and reason in found)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", LEFT)
def test_left_to_the_tape(text: str) -> None:
    assert LEFT[text] in evaluated(text, "grad")


BESIDE = """@custom_gradient
def f(p):
    return tanh(p), lambda g: clip(g, -0.5, 0.5)
u = sin(v)
with GradientTape() as t:
    t.watch(u)
    s = f(x * x)
    z = sum(u * u)
q = t.gradient(z, u)
s * 2"""


@pytest.mark.usefixtures("interpret")
def test_a_rule_beside_what_a_tape_inside_differentiates() -> None:
    """The rule of what the tape records, and does not differentiate by, is that of the gradient around it."""
    at = {"x": 0.7, "v": np.array([1.0, 2.3, -0.4])}
    assert agree(BESIDE, at, ["x"]) == ""
    found = adiff.program(BESIDE).evaluate("grad", at, ["x"], engine="kernel").gradients["x"]
    assert np.isclose(found, 0.5 * 2 * 0.7, rtol=1e-15)


def test_compiled() -> None:
    """Where exp overflows, the rule has the derivative that the formula has not."""
    found = adiff.program(STABLE + "f(x)").evaluate("hessian", {"x": 30.0}, engine="kernel")
    assert found.engine == "kernel"
    e = np.exp(30.0)
    assert np.isclose(found.gradients["x"], e / (1 + e), rtol=1e-14)
    assert np.isclose(found.hessian["x"]["x"], e / (1 + e) ** 2, rtol=1e-12)


OF_NOTHING = "@custom_gradient\ndef f(u):\n    return u*u, lambda g: g*7 + 1\n"
# What a rule that makes something of a cotangent of zero gives: nothing, where the path does not have its value.
BY_PATH = {
    "f(x) and y": (None, 1.0),
    "f(x) and x*y": (3.0, 2.0),
    "f(x) or y": (8.0, None),
    "z = f(x)\nz + y if y > 0 else x*y": (8.0, 1.0),
    "z = f(x)\nz + y if y < 0 else x*y": (3.0, 2.0),
    "where(y < 0, f(x), y)*x": (3.0 + 1.0, 2.0),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", BY_PATH)
def test_a_rule_that_makes_something_of_nothing(text: str) -> None:
    at = {"x": 2.0, "y": 3.0}
    agree(OF_NOTHING + text, at)
    found = adiff.program(OF_NOTHING + text).evaluate("grad", at, engine="kernel").gradients
    assert (found["x"], found["y"]) == BY_PATH[text]
