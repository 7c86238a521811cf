"""`derivative` by kernels: against closed forms, and against the tape."""

from __future__ import annotations

from math import cos, exp, factorial, sin
from typing import Any

import adiff
import pytest
from agreement import agree

LOOP = "y = x\nfor i in range(100):\n    if y > 1:\n        y = y*0.5\n    y = y + 0.01*sin(y)*y\ny"

PROGRAMS = {
    "tan(x)": 6,
    "erf(x)*sinh(x)/x*lgamma(x)": 8,
    "exp(x)*log(x)": 5,
    "x**5": 6,
    "lgamma(x)": 3,
    "sigmoid(x) + softplus(x)": 5,
    "y = [x, x**2]\nsum([exp(a) for a in y])": 4,
    "y = x\nwhile y < 100:\n    y = y*y*1.1 + x\ny": 3,
    LOOP: 6,
    "def f(t, k):\n    if k == 0:\n        return t\n    return f(t*sin(t), k - 1)\nf(x, 5)": 5,
    "v = [x, x*x, 1.0]\nfor i in range(5):\n    v[i % 3] = v[(i + 1) % 3]*exp(-v[i % 3]) + x\nsum(v)": 5,
    "v = array([x, x*x, 1.0])\nfor i in range(5):\n    v[i % 3] = v[(i + 1) % 3]*exp(-v[i % 3]) + x\nsum(v*v)": 5,
    "a = array([[x, 1.0], [0.5, x*x]])\nsum(inv(a) @ a.T) + det(a)": 4,
    "s = x\nfor i in range(6):\n    if s > 2:\n        break\n    t = s\n    for j in range(3):\n        t = t*0.5 + s/t\n    s = t*x\ns": 5,
}
CLOSED: dict[str, Any] = {
    "sin(x)": [sin, cos, lambda x: -sin(x), lambda x: -cos(x), sin, cos],
    "1/(1-x)": [lambda x, k=k: factorial(k) / (1 - x) ** (k + 1) for k in range(6)],
    "exp(2*x)": [lambda x, k=k: 2**k * exp(2 * x) for k in range(6)],
}


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", PROGRAMS)
def test_like_the_tape(text: str) -> None:
    for order in sorted({1, 2, PROGRAMS[text]}):
        assert agree(text, {"x": 1.3}, command="derivative", order=order, tolerance=1e-11) == ""


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize("text", CLOSED)
def test_closed_form(text: str) -> None:
    value, *others = (f(0.4) for f in CLOSED[text])
    found = adiff.program(text).evaluate("derivative", {"x": 0.4}, engine="kernel", order=5)
    assert found.engine == "kernel"
    assert found.value == pytest.approx(value, rel=1e-14)
    assert found.derivatives == pytest.approx(others, rel=1e-12)


@pytest.mark.usefixtures("interpret")
def test_statements_grow_with_a_power_of_the_order() -> None:
    text = (
        "y = x\nfor i in range(3):\n    if y > 1:\n        y = y*0.5 + sin(y)\n    else:\n        y = y + x*exp(-y)\ny"
    )
    program, sizes = adiff.program(text), []
    for order in (4, 8):
        found = program.evaluate("derivative", {"x": 0.4}, engine="kernel", order=order)
        assert found.engine == "kernel"
        sizes.append(len(found.kernel.source.splitlines()))
    assert sizes[1] < 6 * sizes[0]


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "at"), [("abs(x)", 0.0), ("x**2*[1.0, 2.0]", 1.5)])
def test_left_to_the_tape(text: str, at: float) -> None:
    """A singular point, and what is an error."""
    assert agree(text, {"x": at}, command="derivative", order=8) != ""


def test_auto_compiles_what_repays_it() -> None:
    program = adiff.program("y = x\nfor i in range(n):\n    y = y + 0.001*sin(y)*y\ny")
    found = program.evaluate("derivative", {"x": 0.3, "n": 200_000}, ["x"], order=2)
    assert found.engine == "kernel"
    assert program.evaluate("derivative", {"x": 0.3, "n": 10}, ["x"], order=2, engine="tape").engine == "tape"


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(
    "text", ["abs(x)**3", "x**2*abs(x)", "x**1.5", "maximum(x, 0)*x*x", "where(x > 0, log(x), 0.0)*x"]
)
def test_singular_points_of_any_order_are_noticed(text: str) -> None:
    for order in (1, 3):
        agree(text, {"x": 0.0}, command="derivative", order=order)
