"""The exponential of many numbers: arithmetic that LLVM puts on vectors, in the place of a call for each of them.

exp(x) = 2**n exp(r) with n the integer nearest to x / log(2) and r what is left, at most log(2) / 2 in size; exp(r) is
1 + r + r**2 q(r), q the polynomial whose greatest relative error there is least (5e-20, by Remez' algorithm). The product
with 2**n is taken in two steps, so that exponents beyond those of float64 do not overflow. The error is below 0.7 units
in the last place, 0.8 where the result is subnormal. Where exponentials come one at a time, the C library's is as quick.
"""

from __future__ import annotations

import math

from .llvm_writer import float_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_arithmetic import Arithmetic

# q, from the constant on.
COEFFICIENTS = (
    0.5, 0.16666666666666682, 0.041666666666666095, 0.008333333333316982, 0.0013888888889116355,
    0.00019841269896515596, 2.4801586925731813e-05, 2.75572347274011e-06, 2.755758227017098e-07,
    2.5112084638646683e-08, 2.0826586278037133e-09,
)  # fmt: skip
# log(2) in two parts, of which the first has so few digits that its product with n is exact.
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Beyond these, exp is 0 and infinity.
LEAST, MOST = -750.0, 720.0
# A float64 this large has integers in its last bits.
SHIFTER = 1.5 * 2.0**52


def exponential(f: Arithmetic, x: str) -> str:
    """exp(x)."""
    first, rest, a, b = exponential_in_parts(f, x)
    return f.multiply(f.multiply(f.add(first, rest), a), b)


def exponential_in_parts(f: Arithmetic, x: str, more: str | None = None) -> tuple[str, str, str, str]:
    """exp(r) in two parts, and two factors whose product is 2**n; of x + `more`, where the sum needs more digits."""
    x = f.choose(f.holds("ogt", x, MOST), MOST, x)
    x = f.choose(f.holds("olt", x, LEAST), LEAST, x)
    shifted = f.add(f.multiply(x, 1 / math.log(2)), SHIFTER)
    n = f.subtract(shifted, SHIFTER)
    exponent = f.whole("sub", f.bits(shifted), int(float_text(SHIFTER), 16))
    above = f.subtract(x, f.multiply(n, LOG2_HIGH))
    below = f.multiply(n, LOG2_LOW)
    r = f.subtract(above, below)
    rest = f.subtract(f.subtract(above, r), below)
    # 1 + r as what it is rounded to, and what that leaves.
    first = f.add(1.0, r)
    rest = f.add(rest, f.add(f.subtract(1.0, first), r))
    q = f.polynomial(r, COEFFICIENTS)
    rest = f.multiply_add(q, f.multiply(r, r), rest)
    if more is not None:
        rest = f.multiply_add(more, f.add(first, rest), rest)
    half = f.whole("sub", f.whole("lshr", f.whole("add", exponent, 4096), 1), 2048)
    return first, rest, power(f, half), power(f, f.whole("sub", exponent, half))


def power(f: Arithmetic, exponent: str) -> str:
    """2**exponent."""
    return f.float_of_bits(f.whole("shl", f.whole("add", exponent, 1023), 52))
