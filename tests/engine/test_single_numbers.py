"""float32 numbers on the tape: rounded as float32 is, and not much slower than float64."""

import warnings
from fractions import Fraction

import adiff
import numpy as np
import pytest

RANDOM = np.random.default_rng(5)
LARGEST = float(np.finfo(np.float32).max)


def nearest(exact: Fraction) -> np.float32:
    """The float32 next to a number, that with an even last digit of two: no float64 on the way."""
    first = np.float32(float(exact))
    around = [np.nextafter(first, np.float32(-np.inf)), first, np.nextafter(first, np.float32(np.inf))]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.int32)) & 1))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_arithmetic_is_rounded_once(symbol):
    program = adiff.program(f"x {symbol} y")
    for x, y in RANDOM.uniform(-3, 3, (200, 2)).astype(np.float32):
        a, b = Fraction(float(x)), Fraction(float(y))
        exact = {"+": a + b, "-": a - b, "*": a * b, "/": a / b}[symbol]
        found = program.evaluate("value", {"x": x, "y": y}, engine="tape").value
        assert found.dtype == np.float32
        assert found == nearest(exact)


def test_overflow_and_undefined_results_are_quiet_and_ieee():
    before = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        at = {"x": np.float32(LARGEST), "y": np.float32(0)}
        assert adiff.program("x*x").evaluate("value", at, engine="tape").value == np.inf
        assert adiff.program("exp(x)").evaluate("value", at, engine="tape").value == np.inf
        assert adiff.program("x/y").evaluate("value", at, engine="tape").value == np.inf
        assert np.isnan(adiff.program("y/y").evaluate("value", at, engine="tape").value)
        assert adiff.program("x > 1e30").evaluate("value", at, engine="tape").value is True
    assert np.geterr() == before


def test_default_float32_and_mixed_numbers():
    assert adiff.program("x*3 + 0.1").evaluate("value", {"x": 0.1}, dtype="float32", engine="tape").value == np.float32(
        0.1
    ) * np.float32(3) + np.float32(0.1)
    with pytest.raises(adiff.AdiffError, match="dtypes do not mix"):
        adiff.program("x + cast(1.0, float64)").evaluate("value", {"x": np.float32(1)}, engine="tape")
