"""Special functions beside their zeros: to a few units in the last place of the value itself, not of its terms."""

import math
from collections.abc import Callable
from typing import Any

import adiff
import mpmath
import numpy as np
import pytest
from adiff.engine.ops import special_densities, special_quotients, special_values

ULP = 2.0**-52
STEPS = (0.0, 1e-15, 1e-11, 1e-7, 1e-4, 4e-3, 0.05)


def log_gamma(x: Any) -> Any:
    return mpmath.log(abs(mpmath.gamma(x)))


def sinc(x: Any) -> Any:
    return mpmath.sinpi(x) / (mpmath.pi * x)


# Name, function, its definition, zeros.
FUNCTIONS: list[tuple[str, Callable[[float], float], Callable[[Any], Any], tuple[float, ...]]] = [
    ("lgamma", special_values.log_gamma, log_gamma, (1.0, 2.0, *special_values.LOG_GAMMA_ZEROS)),
    ("digamma", special_values.digamma, mpmath.digamma, (special_values.DIGAMMA_ZERO, *special_values.DIGAMMA_ZEROS)),
    ("sinc", special_quotients.sinc, sinc, (1.0, -2.0, 3.0, 100.0)),
    ("expi", special_densities.expi, mpmath.ei, (special_densities.EXPI_ZERO,)),
]


def points(zero: float) -> list[float]:
    """A zero's neighbours, on both sides and without poles."""
    found = [zero + side * step for step in STEPS for side in (1, -1)]
    found += [math.nextafter(zero, math.inf), math.nextafter(zero, -math.inf)]
    return [x for x in dict.fromkeys(found) if x > 0.0 or x != math.floor(x)]


def error(found: float, x: float, definition: Callable[[Any], Any]) -> float:
    """Relative, in units in the last place."""
    with mpmath.workdps(60):
        expected = definition(mpmath.mpf(x))
        return 0.0 if found == expected else float(abs((found - expected) / expected)) / ULP


@pytest.mark.parametrize(
    ("name", "function", "definition", "zeros"), FUNCTIONS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_numbers_and_tensors(name: str, function: Any, definition: Any, zeros: tuple[float, ...]) -> None:
    made = adiff.program(f"{name}(x)")
    for zero in zeros:
        at = points(zero)
        tensor = made.evaluate("value", {"x": np.array(at)}, engine="tape").value
        for x, found in zip(at, tensor):
            # Further off, rounding errors of terms that are larger than their sum are few units again.
            assert error(float(found), x, definition) < 40, (name, x)
            assert error(function(x), x, definition) < 40, (name, x)


@pytest.mark.parametrize(("a", "units"), [(1.0, 2), (1.0 + 1e-9, 4), (1.5, 1000), (0.6, 1000)])
def test_beta_near_1(a: float, units: float) -> None:
    """Its logarithm is a few units of the terms that are left, which are small beside (1, 1)."""
    zero = float(mpmath.findroot(lambda b: mpmath.beta(a, b) - 1, 1 / a))
    b = [zero + step for step in (1e-9, -1e-5, 4e-3)]
    for x, found in zip(b, adiff.program("betaln(a, b)").value({"a": a, "b": np.array(b)})):
        for value in (found, special_densities.betaln(a, x)):
            scale = 1.0 if abs(a - 1.0) < 0.1 else 4e-3 / abs(x - zero)
            assert error(float(value), x, lambda t: mpmath.log(mpmath.beta(mpmath.mpf(a), t))) < units * scale


@pytest.mark.parametrize(
    ("a", "b"), [(5e-324, 5e-324), (1e-305, 3.0), (1e-305, 200.0), (1e-310, 1e-5), (2e-291, 1e-291)]
)
def test_beta_of_tiny_numbers(a: float, b: float) -> None:
    """Gamma is beyond the floats there, and the logarithm of beta is not."""
    made = adiff.program("betaln(a, b)")
    with mpmath.workdps(40):
        expected = float(mpmath.log(mpmath.beta(mpmath.mpf(a), mpmath.mpf(b))))
    for at in ({"a": a, "b": b}, {"a": np.array([b, a]), "b": np.array([a, b])}):
        assert made.evaluate("value", at, engine="tape").value == pytest.approx(
            np.full(np.shape(at["a"]), expected), rel=1e-15
        )
    assert special_densities.betaln(a, b) == pytest.approx(expected, rel=1e-15)


def test_infinities() -> None:
    x = np.array([-np.inf, np.inf, -3.0, 0.0])
    for engine in ("tape", "kernel"):
        assert np.all(adiff.program("lgamma(x)").evaluate("value", {"x": x}, engine=engine).value == np.inf)
    assert adiff.program("lgamma(x)").value({"x": -math.inf}) == math.inf
