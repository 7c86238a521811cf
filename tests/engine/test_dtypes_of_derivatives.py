"""Derivatives of float32 values are float32, zeros and those by bare numbers too."""

from typing import Any

import adiff
import numpy as np
import pytest

X, Y, Z, V = np.float32(2), np.float32(1), np.ones(2, np.float32), np.float32(0.7)
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("x**2 + sum(z)", {"x": X, "z": Z}, "hessian", {}),
    ("sum(z) * x", {"x": 2.0, "z": Z}, "hessian", {}),
    ("sum(z) + x", {"x": 2.0, "z": Z}, "grad", {}),
    ("x + floor(y)", {"x": X, "y": Y}, "jvp", {"tangent": {"y": Y}}),
    ("x + stop_gradient(y)", {"x": X, "y": Y}, "jvp", {"tangent": {"y": Y}}),
    ("x + x * cast(1.0, float32)", {"x": 2.0}, "derivative", {"order": 3}),
]


def dtypes(x: Any) -> set[str]:
    if isinstance(x, dict):
        return {name for part in x.values() for name in dtypes(part)}
    if isinstance(x, list):
        return {name for part in x for name in dtypes(part)}
    return set() if x is None else {str(getattr(x, "dtype", type(x)))}


@pytest.mark.parametrize(("text", "at", "command", "options"), CASES)
def test_float32(text: str, at: dict[str, Any], command: str, options: dict[str, Any]) -> None:
    found = adiff.program(text).evaluate(command, at, engine="tape", **options)
    for part in ("gradients", "hessian", "tangent", "derivatives"):
        assert dtypes(getattr(found, part)) <= {"float32"}, part


# What is differentiated, and whether it is a float32: `t` is a bare number or list, `v` a float32.
OF_BARE = [
    ("t * t + 0 * v", True),
    ("stop_gradient(t) * v", True),
    ("cast(t, float32) * t", True),
    ("[t * v, t * t][1]", False),
    ("cast(cast(t, float32) * t, float64)", False),
    ("cast(t * v, float64) * t", False),
]
OPERATORS = [
    "grad(f)(x)", "jacobian(f)(x)", "hessian(f)(x)", "hvp(f, x, 1.0)", "jvp(f, x, 1.0)[1]", "vjp(f, x)[1](1.0)[0]",
]  # fmt: skip
TAPE = "with GradientTape() as tape:\n    tape.watch(x)\n    y = f(x)\ntape.gradient(y, x)"


@pytest.mark.parametrize(("value", "single"), OF_BARE)
def test_derivatives_by_bare_numbers_inside_programs(value: str, single: bool) -> None:
    for last in OPERATORS + [TAPE] * ("stop" not in value):
        program = adiff.program(f"f = lambda t: {value}\n{last}")
        found = program.value({name: {"x": 2.0, "v": V}[name] for name in program.inputs})
        assert dtypes(found) == {"float32" if single else "<class 'float'>"}, last


# Of rows: the value, whether it and its derivative by x are float32, and the derivative; x is 0.3 and v 0.7.
CUBE = "f = lambda t: t * t * t + 0 * v\n"
WIDE = "f = lambda t: cast(t * t * v, float64)\n"
OF_ROWS: list[tuple[str, float, bool, float]] = [
    ("x * v", 0.21, True, 0.7),
    (CUBE + "grad(f)(x)", 0.27, True, 1.8),
    (CUBE + "jacobian(f)(x)", 0.27, True, 1.8),
    (CUBE + "hessian(f)(x)", 1.8, True, 6.0),
    (CUBE + "hvp(f, x, 0.3)", 0.54, True, 1.8),
    (CUBE + "jvp(f, x, 0.3)[1]", 0.081, True, 0.54),
    (CUBE + "vjp(f, x)[1](0.3)[0]", 0.081, True, 0.54),
    ("with GradientTape() as t:\n    t.watch(x)\n    y = x * x * x + 0 * v\nt.gradient(y, x)", 0.27, True, 1.8),
    (WIDE + "grad(f)(x) / 3", 0.14, False, 1.4 / 3),
    (WIDE + "jacobian(f)(x) / 3", 0.14, False, 1.4 / 3),
    (WIDE + "vjp(f, x)[1](0.3)[0] / 3", 0.042, False, 0.14),
]


@pytest.mark.parametrize(("text", "value", "single", "slope"), OF_ROWS)
def test_rows(text: str, value: float, single: bool, slope: float) -> None:
    found = adiff.program(text).rows({"x": [0.3, 0.3]}, at={"v": V})
    for got, expected in ((found.value, value), (found.gradients["x"], slope)):
        assert str(got.dtype) == ("float32" if single else "float64")
        np.testing.assert_allclose(got, expected, rtol=3e-7)
    if not single:  # the third of a float64 is none of a float32
        assert found.value[0] != np.float32(found.value[0])


MIXED = [
    "hvp(lambda t: sum(t**3), %s, %s)",
    "jvp(lambda t: t**3, %s, %s)[1]",
    "vjp(lambda t: t**3, %s)[1](%s)[0]",
    "with GradientTape() as t:\n    t.watch(%s)\n    y = a**3\nt.gradient(y, a, output_gradients=%s)",
]


@pytest.mark.parametrize("form", MIXED)
def test_directions_do_not_mix_dtypes(form: str) -> None:
    single, double, bare = np.float32([0.5, 0.25]), np.array([1.0, 0.5]), [1.0, 0.5]
    at: dict[str, Any]
    for at in ({"a": single, "b": double}, {"a": double, "b": single}):
        with pytest.raises(adiff.AdiffError) as told:
            adiff.program(form % ("a", "b")).evaluate("value", at)
        assert told.value.code == "E0301"
    for a, b in ((single, bare), (double, bare), (bare, single)):
        found = adiff.program(form % ("a", "b")).value({"a": a, "b": b})
        slope = 6 * np.array(a) if form.startswith("hvp") else 3 * np.array(a) ** 2
        np.testing.assert_allclose(found, slope * np.array(b), rtol=1e-6)
        assert dtypes(found) == {"float32" if a is single else "float64"}
