"""Products and quotients that are 0 by definition where a factor is 0: derivatives of every order, against closed forms."""

import math
from typing import Any

import adiff
import numpy as np
import pytest

ENGINES = pytest.mark.parametrize("engine", ["tape", "kernel"])


@ENGINES
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xdivy(x, x + 2)", [0.0, 0.5, -0.5, 0.75]),  # x/(x + 2)
        ("multiply_no_nan(x, sin(x))", [0.0, 0.0, 2.0, 0.0]),
    ],
)
def test_derivatives_in_one_direction(text: str, expected: list[float], engine: str) -> None:
    found = adiff.program(text).evaluate("derivative", {"x": 0.0}, engine=engine, order=3)
    np.testing.assert_allclose([found.value, *found.derivatives], expected, rtol=1e-15)


@ENGINES
@pytest.mark.parametrize(
    ("text", "at", "hessian"),
    [
        ("xdivy(x, y)", (0.0, 2.0), [[0.0, -0.25], [-0.25, 0.0]]),
        ("multiply_no_nan(x, y)", (3.0, 0.0), [[0.0, 1.0], [1.0, 0.0]]),
        ("multiply_no_nan(x, y)", (0.0, 0.0), [[0.0, 1.0], [1.0, 0.0]]),
    ],
)
def test_products_with_a_hessian(text: str, at: tuple[float, float], hessian: list[list[float]], engine: str) -> None:
    program, point = adiff.program(text), dict(zip("xy", at))
    for direction, column in zip(np.eye(2), hessian):
        found = program.evaluate("hvp", point, engine=engine, vector=dict(zip("xy", direction.tolist()))).product
        assert [found["x"], found["y"]] == column
    table = program.rows({name: np.full(3, number) for name, number in point.items()}, engine=engine, order=2)
    assert [[table.hessian[a][b].tolist() for b in "xy"] for a in "xy"] == [[[z] * 3 for z in row] for row in hessian]


@ENGINES
@pytest.mark.parametrize(("x", "slope"), [(3.0, 3.0), (math.inf, 0.0), (math.nan, 0.0)])
def test_what_a_zero_multiplies(x: float, slope: float, engine: str) -> None:
    found = adiff.program("multiply_no_nan(x, y)").evaluate("grad", {"x": x, "y": 0.0}, engine=engine)
    assert (found.value, found.gradients) == (0.0, {"x": 0.0, "y": slope})


@ENGINES
@pytest.mark.parametrize(
    ("text", "at", "gradients"),
    [
        ("sum((-2.0)**v)", {"v": [1.0, 2.0]}, {"v": [math.nan] * 2}),
        ("sum(w**v)", {"w": -2.0, "v": [3.0, 2.0]}, {"w": 8.0, "v": [math.nan] * 2}),
    ],
)
def test_powers_of_one_negative_number(text: str, at: Any, gradients: Any, engine: str) -> None:
    found = adiff.program(text).evaluate("grad", {k: np.array(x) for k, x in at.items()}, engine=engine)
    for name, expected in gradients.items():
        np.testing.assert_array_equal(found.gradients[name], expected)
    assert found.notices[0].message == "a negative base has no real derivative by the exponent"
