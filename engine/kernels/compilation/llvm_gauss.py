"""The error function and the normal distribution of many numbers: arithmetic that LLVM puts on vectors."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .llvm_arithmetic import Arithmetic

# (1 + 2z) exp(z**2) erfc(z) for z >= 0, a polynomial of (z - CENTRE) / (z + CENTRE), from the constant on. The form is
# Shepherd and Laframboise's, Chebyshev approximation of (1+2x) exp(x^2) erfc x (1981); the error is below 1e-17.
CENTRE = 3.75
TAIL = (
    1.2375126308378275, -0.14024059858554697, 0.003585415485463775, 0.08227673849014516, -0.10880393014171785,
    0.09230432116037876, -0.058693398590212366, 0.028362277418940665, -0.009746579552504244, 0.0017556258530017257,
    0.0002937136342850081, -0.0002901540809795271, 5.1649211390702855e-05, 2.2384240314224437e-05,
    -1.1444412439171722e-05, -9.735619015182663e-07, 1.752057970166318e-06, -5.721597255990987e-08,
    -2.591069687796658e-07, 2.3261913276696566e-08, 3.8965452548985966e-08, -3.743568033634583e-09,
    -5.28428697963142e-09, 3.110310719839165e-10, 4.434959070009628e-10,
)  # fmt: skip
# erf(z) / z for z**2 up to 0.85**2, a polynomial of z**2, likewise.
MIDDLE = (
    1.1283791670955126, -0.3761263890318335, 0.11283791670932594, -0.026866170640255645, 0.00522397757126982,
    -0.0008548323506677763, 0.00012055190337021296, -1.4921921653420798e-05, 1.6399123262977372e-06,
    -1.5697115571004142e-07, 1.0675693706713948e-08,
)  # fmt: skip
HALF_MIDDLE_OF_NORMAL = tuple(0.5 * c / math.sqrt(2.0) / 2.0**k for k, c in enumerate(MIDDLE))


def scaled_tail(f: Arithmetic, y: str, unit: float) -> str:
    """exp(z**2) erfc(z) for z = y / unit >= 0."""
    t = f.divide(f.subtract(y, CENTRE * unit), f.add(y, CENTRE * unit))
    # What is added last, to the largest number, rounds it once.
    constant, *others = TAIL
    found = f.multiply_add(f.polynomial(t, others), t, constant)
    return f.divide(found, f.multiply_add(2.0 / unit, y, 1.0))


def middle(f: Arithmetic, x: str, coefficients: Sequence[float]) -> str:
    """x times a polynomial of x**2."""
    square = f.multiply(x, x)
    constant, *others = coefficients
    return f.multiply(x, f.multiply_add(f.polynomial(square, others), square, constant))


def gaussian(f: Arithmetic, x: str, scale: float) -> str:
    """exp(-scale x**2), corrected for what rounding takes from the square in the exponent, as ops/special_scalar.py does."""
    square = f.multiply(x, x)
    rest = f.fused(x, x, f.negative(square))
    return f.multiply(f.called("exp_of_many", f.multiply(-scale, square)), f.subtract(1.0, f.multiply(scale, rest)))


def right_tail(f: Arithmetic, size: str) -> str:
    """erfc(size) for a positive number."""
    tail = f.multiply(gaussian(f, size, 1.0), scaled_tail(f, size, 1.0))
    return f.choose(f.holds("ogt", size, 28.0), 0.0, tail)


def normal_distribution(f: Arithmetic, x: str) -> str:
    """ndtr(x)."""
    size = f.size(x)
    tail = f.multiply(f.multiply(0.5, gaussian(f, x, 0.5)), scaled_tail(f, size, math.sqrt(2.0)))
    tail = f.choose(f.holds("ogt", size, 40.0), 0.0, tail)
    found = f.choose(f.holds("ogt", x, 0.0), f.subtract(1.0, tail), tail)
    near = f.add(0.5, middle(f, x, HALF_MIDDLE_OF_NORMAL))
    return f.choose(f.holds("olt", size, 0.64), near, found)


def error_complement(f: Arithmetic, x: str) -> str:
    """erfc(x)."""
    size = f.size(x)
    tail = right_tail(f, size)
    found = f.choose(f.holds("olt", x, 0.0), f.subtract(2.0, tail), tail)
    return f.choose(f.holds("olt", size, 0.45), f.subtract(1.0, middle(f, x, MIDDLE)), found)


def error_function(f: Arithmetic, x: str) -> str:
    """erf(x)."""
    size = f.size(x)
    far = f.with_sign(f.subtract(1.0, right_tail(f, size)), x)
    return f.choose(f.holds("olt", size, 0.85), middle(f, x, MIDDLE), far)
