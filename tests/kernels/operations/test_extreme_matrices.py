"""Functions of matrices of the largest and the smallest numbers: those of ordinary ones, times a power of two."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

A = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 1.5]])
B = np.array([1.0, 2.0, -1.0])
# Functions, and with which power of a factor of A they grow.
GROWTH = [
    ("inv(A)", -1), ("cholesky(A)", 0.5), ("eigvalsh(A)", 1), ("svdvals(A)", 1), ("qr(A)[1]", 1), ("solve(A, b)", -1),
    ("det(A)", 3), ("pinv(A)", -1), ("sqrtm(A)", 0.5), ("max(real(eigvals(A)))", 1),
]  # fmt: skip
INSIDE = 1020


@pytest.mark.usefixtures("interpret")
@pytest.mark.parametrize(("text", "growth"), GROWTH)
def test_values_and_gradients(text: str, growth: float) -> None:
    made = adiff.program(f"sum({text})")
    at: dict[str, Any] = {"A": A, "b": B}
    ordinary = made.evaluate("grad", {name: at[name] for name in made.inputs}, ["A"], engine="tape")
    for power in (-1060, -600, -330, 330, 1018):
        at["A"] = np.ldexp(A, power)
        agree(made, {name: at[name] for name in made.inputs}, ["A"])
        found = made.evaluate("grad", {name: at[name] for name in made.inputs}, ["A"], engine="tape")
        if abs(power * growth) < INSIDE:
            assert found.value == pytest.approx(np.ldexp(ordinary.value, int(power * growth)), rel=1e-13)
        if abs(power * growth) < INSIDE and abs(power * (growth - 1)) < INSIDE:
            expected = np.ldexp(ordinary.gradients["A"], int(power * (growth - 1)))
            np.testing.assert_allclose(found.gradients["A"], expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max())


def test_logarithms_of_determinants() -> None:
    made = adiff.program("slogdet(A)[1]")
    ordinary = made.evaluate("value", {"A": A}).value
    for power in (-1060, -600, 1018):
        agree(made, {"A": np.ldexp(A, power)})
        found = made.evaluate("value", {"A": np.ldexp(A, power)}, engine="tape").value
        assert found == pytest.approx(ordinary + 3 * power * np.log(2.0), rel=1e-15)


def test_logarithms_of_matrices() -> None:
    made, weights = adiff.program("sum(logm(A) * w)"), np.array([[1.0, 2.0, 3.0], [-1.0, 4.0, 2.0], [0.5, 0.1, 1.0]])
    ordinary = made.evaluate("grad", {"A": A, "w": weights}, ["A"])
    for power in (-1000, -600, 1018):
        at = {"A": np.ldexp(A, power), "w": weights}
        agree(made, at, ["A"])
        found = made.evaluate("grad", at, ["A"], engine="tape")
        assert found.value == pytest.approx(ordinary.value + power * np.log(2.0) * np.trace(weights), rel=1e-14)
        np.testing.assert_allclose(np.ldexp(found.gradients["A"], power), ordinary.gradients["A"], rtol=1e-12)


def test_large_right_sides() -> None:
    """A partial sum of 3.2e308 on the way to 1e307."""
    at = {"A": np.array([[1.0, 1.0], [1.0, -1.0]]), "b": np.array([1.7e308, -1.5e308])}
    agree("sum(solve(A, b))", at)
    found = adiff.program("solve(A, b)").evaluate("value", at, engine="tape").value
    np.testing.assert_allclose(found, [1e307, 1.6e308], rtol=1e-13)


def test_a_matrix_of_both_is_factored_as_it_is() -> None:
    at = {"A": np.diag([1e308, 1.1e-300])}
    np.testing.assert_allclose(adiff.program("inv(A)").value(at), np.diag([1e-308, 1e300 / 1.1]), rtol=1e-15)


def test_what_does_not_matter_passes_nothing_on() -> None:
    """A power that an infinite cotangent reaches is of one end alone."""
    at = {"a": 0.0, "b": 308.0}
    agree("sum(logspace(a, b, 4))", at)
    found = adiff.program("sum(logspace(a, b, 4))").evaluate("grad", at, engine="tape").gradients
    powers = [1.0, 10.0 ** (308 / 3), 10.0 ** (616 / 3)]
    expected = np.log(10.0) * sum(share * y for share, y in zip((1.0, 2 / 3, 1 / 3), powers))
    assert found["a"] == pytest.approx(expected, rel=1e-12)
    assert found["b"] == np.inf


def test_no_vectors_are_asked_for() -> None:
    """The gap between eigenvalues has no inverse there, and is not needed."""
    a = np.array([[2.0, 1.0], [1.0, 3.0]]) * 1e-320
    found = adiff.program("sum(eigvalsh(A))").evaluate("grad", {"A": a}).gradients["A"]
    np.testing.assert_allclose(found, np.eye(2), atol=1e-12)


def test_infinities_in_a_triangular_system() -> None:
    """Which of inf and nan they become depends on the order of operations: there is one."""
    a = np.array([[1e-308, 1e-17, np.inf], [1e16, 1e-17, 1e154], [-5e-324, 1.0, 1e5]])
    agree("sum(solve_triangular(a, b))", {"a": a, "b": np.array([-750.0, 10.0, -0.0])})


def test_an_infinite_filling() -> None:
    at = {"x": np.array([-2.0, -3.0]), "fill": np.inf}
    agree("dynamic_stitch([[0, 2]], [x], fill)", at, command="value")
    found = adiff.program("dynamic_stitch([[0, 2]], [x], fill)").evaluate("value", at, engine="tape").value
    np.testing.assert_array_equal(found, [-2.0, np.inf, -3.0])
