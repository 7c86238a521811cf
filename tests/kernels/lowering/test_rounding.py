"""Python's `round` in kernels: an integer of a bare number, a float of one that is differentiated, and digits."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

PROGRAMS = {
    "an integer in a product": "round(x) * y + round(x * 100) / 100",
    "of complex numbers": "real((x + 1j) * round(x))",
    "digits": "round(x, 2) * y + round(y, 0) + round(123.0 * x, -1)",
    "an integer and its float": "int(round(x * 3)) * y + float(round(y))",
    "of numbers that are known": "round(1.25, 1) * x + round(1234.5, -2) * y + round(-0.04, 1) * x",
    "in a loop": "s = 0.0\nfor k in range(70):\n    s += round(x * k, 1) * y + round(y * k) * 0.5\ns",
}
# A zero of an integer has no sign, and 0.125 and 2.675 are (nearly) as far from two numbers of two digits.
LEFT = {"x * round(x - 0.2)": (0.1,), "round(x, 2) * x": (0.125, 2.675, 1.005)}

# Integers of the program, which are carried as floats: their zeros have no sign, and they have more digits.
INTEGERS: dict[str, tuple[str, dict[str, Any]]] = {
    "a zero of a negative zero": ("1.0/(round(x)*y)", {"x": -0.0, "y": 2.0}),
    "its side of a branch cut": ("atan2(1.0*round(x), -1.0)", {"x": -0.0}),
    "zero times a negative": ("1.0/(round(x)*-5)", {"x": 0.0}),
    "a negative times zero": ("1.0/(round(x)*0)", {"x": -3.2}),
    "zero times what is negated": ("y/(0*-round(x))", {"x": 1.0, "y": 1.5}),
    "zero divided by a negative": ("1.0/(round(x)//-2)", {"x": 0.2}),
    "a remainder of zero": ("1.0/(round(x) % -2)", {"x": 4.2}),
    "a remainder of a number that is known": ("1.0/(4 % round(x))", {"x": -2.2}),
    "of what is chosen": ("1.0/(max(0, x)*-3)", {"x": -1.5}),
    "times a truth value": ("round(x)*f", {"x": 2.6, "f": True}),
    "and a truth value": ("round(x) + True", {"x": 2.2}),
    "of more digits than floats have": ("(round(y) - (round(x) + 1))/y", {"x": 2.0**53, "y": 1.2}),
    "in a tensor": ("prod([round(x), -5])", {"x": 2.6}),
    "in a tensor that is stacked": ("sum(stack([round(x), round(y)]))", {"x": 2.6, "y": -0.7}),
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("name", INTEGERS)
def test_integers_carried_as_floats(name: str) -> None:
    text, at = INTEGERS[name]
    program = adiff.program(text)
    tape, kernel = (program.evaluate("value", at, engine=engine) for engine in ("tape", "kernel"))
    assert repr(kernel.value) == repr(tape.value)
    assert "only the tape takes" in kernel.reason or "whether it is an integer" in kernel.reason


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["sum(stack([max(0, x), max(0, y)]))", "-max(0, x)*3 + max(0, y)*2"])
def test_floats_that_might_be_integers_are_the_kernels(text: str) -> None:
    assert agree(text, {"x": 0.7, "y": 1.3}, None, "value") == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("command", ["value", "grad", "hessian"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_agreement(text: str, command: str) -> None:
    at = {name: value for name, value in {"x": 1.7, "y": 0.83}.items() if name in adiff.program(text).inputs}
    assert agree(text, at, None if command == "value" else list(at), command) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", LEFT)
@pytest.mark.parametrize("command", ["value", "grad"])
def test_left_to_the_tape(text: str, command: str) -> None:
    for x in LEFT[text]:
        assert "only the tape takes" in agree(text, {"x": x}, None if command == "value" else ["x"], command)


@pytest.mark.usefixtures("interpret")
def test_digits_are_those_of_both_ways() -> None:
    """Against Python's own rounding of bare numbers, at points that are no ties."""
    program = adiff.program("round(x, 3) * 1.0")
    for x in np.random.default_rng(1).uniform(-50.0, 50.0, 200):
        found = program.evaluate("value", {"x": float(x)}, engine="kernel")
        assert found.engine == "kernel"
        assert found.value == round(float(x), 3)


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", ["max(x[i], 0)*-2", "-3*max(0, x[i])", "min(x[i], 0)*-1"])
def test_what_is_chosen_of_elements_is_a_float(text: str) -> None:
    """A zero with a sign is the tape's too: no loop leaves its kernel for one."""
    x = np.array([0.3, -1.2, 0.0, 2.2])
    assert agree(f"y = 0.0\nfor i in range(4):\n    y = y + atan2({text}, -1.0)\ny", {"x": x}) == ""
