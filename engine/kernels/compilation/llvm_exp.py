"""The exponential of many numbers: arithmetic that LLVM puts on vectors, in the place of a call for each of them.

exp(x) = 2**n exp(r) with n the integer nearest to x / log(2) and r what is left, at most log(2) / 2 in size; exp(r) is
1 + r + r**2 q(r), q the polynomial whose greatest relative error there is least (5e-20, by Remez' algorithm). The product
with 2**n is taken in two steps, so that exponents beyond those of float64 do not overflow. The error is below 0.7 units
in the last place, 0.8 where the result is subnormal. Where exponentials come one at a time, the C library's is as quick.
"""

from __future__ import annotations

import ast
import math

from ..ir import FLOAT
from .llvm_writer import float_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_writer import Value, Writer

SYMBOL = "exp_of_many"
# Shorter loops are not worth more code.
LEAST_TRIPS = 16
# What a loop on vectors may call beside the exponential: instructions, and functions that become part of the loop.
ON_VECTORS = frozenset(("math.exp", "math.sqrt", "math.fabs", "abs", "float", "_strong"))

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


def definition() -> str:
    """The function in LLVM's intermediate representation."""
    lines: list[str] = []
    counter = 0

    def value(text: str) -> str:
        nonlocal counter
        counter += 1
        lines.append(f"  %v{counter} = {text}")
        return f"%v{counter}"

    def of(operator: str, a: str, b: str) -> str:
        return value(f"{operator} double {a}, {b}")

    def summed(a: str, b: str, c: str) -> str:
        return value(f"call double @llvm.fmuladd.f64(double {a}, double {b}, double {c})")

    def whole(operator: str, a: str, b: int | str) -> str:
        return value(f"{operator} i64 {a}, {b}")

    def power(exponent: str) -> str:
        bits = whole("shl", whole("add", exponent, 1023), 52)
        return value(f"bitcast i64 {bits} to double")

    high = value(f"fcmp ogt double %x, {float_text(MOST)}")
    least = value(f"select i1 {high}, double {float_text(MOST)}, double %x")
    low = value(f"fcmp olt double {least}, {float_text(LEAST)}")
    x = value(f"select i1 {low}, double {float_text(LEAST)}, double {least}")
    shifted = of("fadd", of("fmul", x, float_text(1 / math.log(2))), float_text(SHIFTER))
    n = of("fsub", shifted, float_text(SHIFTER))
    bits = value(f"bitcast double {shifted} to i64")
    exponent = whole("sub", bits, int(float_text(SHIFTER), 16))
    above = of("fsub", x, of("fmul", n, float_text(LOG2_HIGH)))
    below = of("fmul", n, float_text(LOG2_LOW))
    r = of("fsub", above, below)
    rest = of("fsub", of("fsub", above, r), below)
    # 1 + r as what it is rounded to, and what that leaves.
    first = of("fadd", float_text(1.0), r)
    rest = of("fadd", rest, of("fadd", of("fsub", float_text(1.0), first), r))
    square = of("fmul", r, r)
    # Even and odd powers apart, so that they need not wait for each other.
    sides = []
    for start in (0, 1):
        *others, found = (float_text(c) for c in COEFFICIENTS[start::2])
        for c in reversed(others):
            found = summed(found, square, c)
        sides.append(found)
    q = summed(sides[1], r, sides[0])
    mantissa = of("fadd", first, summed(q, square, rest))
    half = whole("sub", whole("lshr", whole("add", exponent, 4096), 1), 2048)
    answer = of("fmul", of("fmul", mantissa, power(half)), power(whole("sub", exponent, half)))
    body = "\n".join(lines)
    return f"define internal double @{SYMBOL}(double %x) nounwind alwaysinline {{\n{body}\n  ret double {answer}\n}}"


def on_vectors(over: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether a loop over a range, or over blocks of it, is long and its body is arithmetic with exponentials, without
    branches or other loops."""
    match over:
        case ast.Call(args=[ast.Constant(value=int(trips))]) if trips >= LEAST_TRIPS:
            pass
        case _:
            return False
    if not all(isinstance(s, ast.Assign | ast.AugAssign) for s in body):
        return False
    called = [ast.unparse(inner.func) for s in body for inner in ast.walk(s) if isinstance(inner, ast.Call)]
    return "math.exp" in called and ON_VECTORS.issuperset(called)


def exponential(w: Writer, x: str) -> Value:
    """exp(x) in such a loop."""
    w.module.define(SYMBOL, definition)
    w.module.declare("double @llvm.fmuladd.f64(double, double, double)")
    return w.value(FLOAT, f"call double @{SYMBOL}(double {x})")
