"""Powers and hypotenuses of many numbers: arithmetic that LLVM puts on vectors.

x**y is exp(y log(x)), the logarithm in two parts, with an error of some 2**-64 of it: integers below 2**53 that are powers
of integers come out exactly.
"""

from __future__ import annotations

import math

from .llvm_exp import LOG2_HIGH, LOG2_LOW, exponential_in_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_arithmetic import Arithmetic

# log(1 + f) = 2s + 2/3 s**3 + s**5 times this polynomial of s**2, with s = f / (2 + f) up to 0.172 in size: its series.
SERIES = tuple(2.0 / k for k in range(5, 27, 2))
# 2/3 in two parts.
THIRDS, THIRDS_LOW = 2.0 / 3.0, 2.0**-54 * 2.0 / 3.0
# The bits of sqrt(1/2), at which numbers are taken apart, and of 1.
HALF_ROOT, ONE = 0x3FE6A09E00000000, 0x3FF0000000000000
# Integers beyond are even.
EVEN = 2.0**53


def taken_apart(f: Arithmetic, x: str) -> tuple[str, str]:
    """k and r for x = 2**k (1 + r) > 0 with 1 + r from sqrt(1/2) to sqrt(2)."""
    tiny = f.holds("olt", x, 2.0**-1022)
    bits = f.bits(f.choose(tiny, f.multiply(x, 2.0**54), x))
    shifted = f.whole("add", bits, ONE - HALF_ROOT)
    exponent = f.whole("sub", f.whole("lshr", shifted, 52), 1023)
    mantissa = f.whole("add", f.whole("and", shifted, 2**52 - 1), HALF_ROOT)
    k = f.subtract(f.float_of_integer(exponent), f.choose(tiny, 54.0, 0.0))
    return k, f.subtract(f.float_of_bits(mantissa), 1.0)


def sum_of(f: Arithmetic, a: str, b: str) -> tuple[str, str]:
    """a + b and what rounding took from it, for the larger one first (Dekker)."""
    total = f.add(a, b)
    return total, f.subtract(b, f.subtract(total, a))


def logarithm_in_parts(f: Arithmetic, x: str) -> tuple[str, str]:
    """log(x) for finite x > 0."""
    k, r = taken_apart(f, x)
    below = f.add(2.0, r)
    rest = f.subtract(r, f.subtract(below, 2.0))
    s = f.divide(r, below)
    left = f.fused(f.negative(s), below, r)
    s_low = f.divide(f.subtract(left, f.multiply(s, rest)), below)
    # 2/3 s**3, the next of the series, in two parts as well.
    z = f.multiply(s, s)
    z_low = f.multiply_add(f.multiply(2.0, s), s_low, f.fused(s, s, f.negative(z)))
    cube = f.multiply(z, s)
    cube_low = f.multiply_add(z_low, s, f.multiply_add(z, s_low, f.fused(z, s, f.negative(cube))))
    term = f.multiply(THIRDS, cube)
    term_low = f.multiply_add(
        THIRDS, cube_low, f.multiply_add(THIRDS_LOW, cube, f.fused(THIRDS, cube, f.negative(term)))
    )
    # What is small: the rest of the series, what was left of s, and the second part of k log(2).
    small = f.multiply_add(f.multiply(z, cube), f.polynomial(z, SERIES), term_low)
    small = f.multiply_add(2.0, s_low, small)
    high, low = sum_of(f, f.multiply(k, LOG2_HIGH), f.multiply(2.0, s))
    high, lower = sum_of(f, high, term)
    low = f.add(f.add(low, lower), f.multiply_add(k, LOG2_LOW, small))
    return sum_of(f, high, low)


def power(f: Arithmetic, x: str, y: str) -> str:
    """x**y as C's pow has it."""
    size = f.size(x)
    proper = f.both(f.holds("ogt", size, 0.0), f.holds("olt", size, math.inf))
    high, low = logarithm_in_parts(f, f.choose(proper, size, 1.0))
    product = f.multiply(y, high)
    rest = f.multiply_add(y, low, f.fused(y, high, f.negative(product)))
    # Where the product is infinite, or so large that the power is, its rest may be no number.
    within = f.holds("olt", f.size(product), 760.0)
    first, small, a, b = exponential_in_parts(f, product, f.choose(within, rest, 0.0))
    # Rounded once: powers that are integers come out as such.
    found = f.multiply(f.multiply(f.add(first, small), a), b)
    grows = f.holds("ogt", f.multiply(y, f.choose(f.holds("oeq", size, 0.0), -1.0, 1.0)), 0.0)
    found = f.choose(proper, found, f.choose(grows, math.inf, 0.0))
    # Signs of powers of negative numbers: of -0.0 too.
    whole = f.holds("oeq", f.rounded("trunc", y), y)
    half = f.multiply(0.5, y)
    odd = f.both(whole, f.both(f.holds("une", f.rounded("trunc", half), half), f.holds("olt", f.size(y), EVEN)))
    found = f.choose(odd, f.with_sign(found, x), found)
    root = f.both(f.holds("olt", x, 0.0), f.both(proper, f.holds("une", f.rounded("trunc", y), y)))
    found = f.choose(root, math.nan, found)
    found = f.choose(f.both(f.holds("oeq", size, 1.0), f.holds("oeq", f.size(y), math.inf)), 1.0, found)
    found = f.choose(f.holds("uno", x, y), math.nan, found)
    found = f.choose(f.holds("oeq", y, 0.0), 1.0, found)
    return f.choose(f.holds("oeq", x, 1.0), 1.0, found)


def hypotenuse(f: Arithmetic, x: str, y: str) -> str:
    """hypot(x, y): numbers whose squares are beyond float64's range are scaled first."""
    a, b = f.size(x), f.size(y)
    most = f.choose(f.holds("olt", a, b), b, a)
    up = f.choose(f.holds("olt", most, 2.0**-500), 2.0**600, 1.0)
    scale = f.choose(f.holds("ogt", most, 2.0**500), 2.0**-600, up)
    a, b = f.multiply(a, scale), f.multiply(b, scale)
    back = f.choose(f.holds("ogt", most, 2.0**500), 2.0**600, f.choose(f.holds("oeq", up, 1.0), 1.0, 2.0**-600))
    found = f.multiply(f.root(f.multiply_add(a, a, f.multiply(b, b))), back)
    found = f.choose(f.holds("oeq", f.size(x), math.inf), math.inf, found)
    return f.choose(f.holds("oeq", f.size(y), math.inf), math.inf, found)
