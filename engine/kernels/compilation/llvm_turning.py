"""Sine, cosine and tangent of many numbers: arithmetic that LLVM puts on vectors, for angles up to FAR in size.

x = n pi/2 + r with n the integer nearest to 2 x / pi, r in two parts: what pi/2 is in three floats is taken away in
turn, the first product without rounding (Cody and Waite, Software manual for the elementary functions, 1980).
"""

from __future__ import annotations

import math

from .llvm_exp import SHIFTER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_arithmetic import Arithmetic

# Beyond this angle what is left of it is not exact enough.
FAR = 2.0**40
# pi/2 as the sum of three floats.
FIRST, SECOND, THIRD = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
# sin(r) and cos(r) for r up to pi/4 in size, from r**3 and r**4 on: Sun's (fdlibm, k_sin.c and k_cos.c, 1993).
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def parts(f: Arithmetic, x: str) -> tuple[str, str, str]:
    """The sine and cosine of what is left of an angle, and how many quarter turns were taken away."""
    shifted = f.add(f.multiply(x, 2.0 / math.pi), SHIFTER)
    n = f.subtract(shifted, SHIFTER)
    quarters = f.bits(shifted)
    left = f.fused(f.negative(n), FIRST, x)
    product = f.multiply(n, SECOND)
    rest = f.fused(n, SECOND, f.negative(product))
    r = f.subtract(left, product)
    # What the difference lost: Knuth's sum, for either may be the larger one.
    other = f.subtract(left, r)
    lost = f.add(f.subtract(left, f.add(r, other)), f.subtract(other, product))
    low = f.subtract(f.subtract(lost, rest), f.multiply(n, THIRD))
    z = f.multiply(r, r)
    cube = f.multiply(z, r)
    third, *others = SINE
    tail = f.multiply(cube, f.polynomial(z, others))
    inner = f.subtract(f.multiply(z, f.subtract(f.multiply(0.5, low), tail)), low)
    sine = f.subtract(r, f.subtract(inner, f.multiply(cube, third)))
    half = f.multiply(0.5, z)
    near = f.subtract(1.0, half)
    tail = f.multiply(f.multiply(z, z), f.polynomial(z, COSINE))
    tail = f.subtract(tail, f.multiply(r, low))
    cosine = f.add(near, f.add(f.subtract(f.subtract(1.0, near), half), tail))
    return sine, cosine, quarters


def sine(f: Arithmetic, x: str) -> str:
    """sin(x)."""
    even, odd, quarters = parts(f, x)
    found = f.choose(f.bit(quarters, 0), odd, even)
    found = f.choose(f.bit(quarters, 1), f.negative(found), found)
    return f.choose(f.holds("oeq", x, 0.0), x, found)


def cosine(f: Arithmetic, x: str) -> str:
    """cos(x)."""
    odd, even, quarters = parts(f, x)
    found = f.choose(f.bit(quarters, 0), odd, even)
    return f.choose(f.bit(f.whole("add", quarters, 1), 1), f.negative(found), found)


def tangent(f: Arithmetic, x: str) -> str:
    """tan(x)."""
    sine, cosine, quarters = parts(f, x)
    odd = f.bit(quarters, 0)
    quotient = f.divide(f.choose(odd, f.negative(cosine), sine), f.choose(odd, sine, cosine))
    return f.choose(f.holds("oeq", x, 0.0), x, quotient)
