"""Derivatives of quotients in loops whose iterations hand on one number: infinite, undefined and tiny divisors among them."""

from __future__ import annotations

import math

import adiff
import mpmath
import pytest
from agreement import agree

NEWTON = "z = x\nfor i in range(n):\n    z = z - (z * z - a) / (2 * z)\nz"
STEEP = {
    "newton": NEWTON,
    "until it is small": (
        "z = x\nk = 0\nwhile k < n:\n    d = (z * z - a) / (2 * z)\n    z = z - d\n    if abs(d) < 1e-9:\n        break\n    k += 1\nz"
    ),
    "0 above": "z = x\nfor i in range(n):\n    z = (z * a - z * a) / (z * z) + 0.5 * z\nz",
    "the cotangent is 0": "z = x\nfor i in range(n):\n    z = z * a / (z * z - a) + z\n0 * z + x",
    "a quotient of quotients": "z = x\nfor i in range(n):\n    z = (a / z - z / a) / (z + a / (z * z))\nz",
}
# 1/0, 0*inf, subnormal divisors, and those whose reciprocals overflow or lose digits.
POINTS = [
    (1.5, 2.0), (0.0, 2.0), (-0.0, 2.0), (0.0, 0.0), (2.0, 0.0), (1.0, 1.0), (1.0, 0.5), (5e-324, 1.0), (1e-310, 5e-324),
    (-1e-310, 0.0), (1e-308, 0.0), (1e-305, 1e-308), (1e-160, 1e-320), (1e154, 2.0), (1e155, -1.0), (8e307, 1.0),
    (1e308, 1e308),
]  # fmt: skip
INFINITE = [(math.inf, 2.0), (2.0, math.inf), (-math.inf, math.inf), (math.nan, 1.0), (2.0, math.nan)]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", STEEP.values(), ids=STEEP)
def test_an_iteration_at_a_singular_point(text: str) -> None:
    for x, a in POINTS if "while" in text else POINTS + INFINITE:
        assert agree(text, {"x": x, "a": a, "n": 1}, ["x", "a"]) == "", (x, a)


def test_one_division_serves_both_derivatives() -> None:
    found = adiff.program(STEEP["until it is small"]).evaluate(
        "tape", {"x": 1.5, "a": 2.0, "n": 2}, ["x", "a"], emit=True
    )
    assert found.emitted is not None
    back = found.emitted[found.emitted.index("-1, -1") :]
    assert back.count(" / ") == 2, "the quotient again, and one by the divisor"
    assert "_strong(" not in back


@pytest.mark.parametrize("name", ["until it is small", "the cotangent is 0"])
def test_compiled_iterations(name: str) -> None:
    for x, a in POINTS:
        assert agree(STEEP[name], {"x": x, "a": a, "n": 2}, ["x", "a"]) == "", (x, a)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    ("x", "a"), [(1.5, 2.0), (2.0, 0.0), (1.0, 0.5), (1e-305, 1e-308), (1e-300, 1e-300), (1e150, 2.0)]
)
def test_derivatives_of_newtons_iteration(x: float, a: float, engine: str) -> None:
    """z/2 + a/(2z), whose derivatives are 1/2 - a/(2z^2) and 1/(2z), in numbers that do not overflow."""
    found = adiff.program(NEWTON).evaluate("grad", {"x": x, "a": a, "n": 2}, ["x", "a"], engine=engine)
    assert (found.engine, found.gradients is not None) == (engine, True)
    with mpmath.workdps(700):
        z, by_x, by_a, target = mpmath.mpf(x), mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(a)
        for _ in range(2):
            slope = mpmath.mpf(1) / 2 - target / (2 * z * z)
            by_x, by_a = slope * by_x, slope * by_a + 1 / (2 * z)
            z = z / 2 + target / (2 * z)
        assert found.gradients["x"] == pytest.approx(float(by_x), rel=1e-13)
        assert found.gradients["a"] == pytest.approx(float(by_a), rel=1e-13)
