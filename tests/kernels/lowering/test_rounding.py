"""Python's `round` in kernels: an integer of a bare number, a float of one that is differentiated, and digits."""

from __future__ import annotations

import adiff
import numpy as np
import pytest
from agreement import agree

PROGRAMS = {
    "an integer in a product": "round(x) * y + round(x * 100) / 100",
    "of complex numbers": "real((x + 1j) * round(x))",
    "digits": "round(x, 2) * y + round(y, 0) + round(123.0 * x, -1)",
    "an integer and its float": "int(round(x * 3)) * y + float(round(y))",
    "in a loop": "s = 0.0\nfor k in range(70):\n    s += round(x * k, 1) * y + round(y * k) * 0.5\ns",
}
# A zero of an integer has no sign, and 0.125 and 2.675 are (nearly) as far from two numbers of two digits.
LEFT = {"x * round(x - 0.2)": (0.1,), "round(x, 2) * x": (0.125, 2.675, 1.005)}


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
