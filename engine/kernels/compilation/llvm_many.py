"""Functions of many numbers: arithmetic that LLVM puts on vectors, in the place of a call of the C library for each.

Each gives what the C library's does, for infinities, nan and signed zeros too, up to the last digit or two: most are within
a unit in the last place (pow too, and exactly where its result is an integer below 2**53), tan, erf and log1p within 2,
tanh, erfc and ndtr within 4. Angles beyond FAR are for the C library (llvm_vectors.py).
"""

from __future__ import annotations

import math

from ..ir import BOOL, FLOAT, INT
from . import llvm_gauss, llvm_inverse, llvm_turning
from .llvm_arithmetic import function
from .llvm_exp import LOG2_HIGH, LOG2_LOW, exponential, exponential_in_parts
from .llvm_power import hypotenuse, power, taken_apart
from .llvm_writer import float_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .llvm_arithmetic import Arithmetic
    from .llvm_writer import Value, Writer

# log(1 + f) with s = f / (2 + f): what remains of it is s times this polynomial of s**2, from its square on. Sun's
# (fdlibm, e_log.c, 1993).
LOGARITHM = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip


def logarithm(f: Arithmetic, x: str) -> str:
    """log(x)."""
    k, r = taken_apart(f, x)
    s = f.divide(r, f.add(2.0, r))
    z = f.multiply(s, s)
    rest = f.multiply(z, f.polynomial(z, LOGARITHM))
    half = f.multiply(f.multiply(0.5, r), r)
    low = f.multiply_add(s, f.add(half, rest), f.multiply(k, LOG2_LOW))
    found = f.add(f.add(f.subtract(low, half), r), f.multiply(k, LOG2_HIGH))
    # Infinity and nan are their own logarithms.
    found = f.choose(f.holds("olt", x, math.inf), found, x)
    found = f.choose(f.holds("oeq", x, 0.0), -math.inf, found)
    return f.choose(f.holds("olt", x, 0.0), math.nan, found)


def logarithm_beside_one(f: Arithmetic, x: str) -> str:
    """log1p(x): log(1 + x), and by its slope what rounding took from 1 + x."""
    u = f.add(1.0, x)
    lost = f.subtract(x, f.subtract(u, 1.0))
    found = f.called("log_of_many", u)
    # Where the logarithm is infinite there is no slope.
    corrected = f.add(found, f.divide(lost, u))
    found = f.choose(f.holds("olt", f.size(found), math.inf), corrected, found)
    return f.choose(f.holds("oeq", u, 1.0), x, found)


def exponential_less_one(f: Arithmetic, x: str) -> str:
    """expm1(x)."""
    first, rest, a, b = exponential_in_parts(f, x)
    high = f.multiply(f.multiply(first, a), b)
    low = f.multiply(f.multiply(rest, a), b)
    found = f.add(f.subtract(high, 1.0), low)
    found = f.choose(f.holds("ogt", high, 1.7976931348623157e308), math.inf, found)
    return f.choose(f.holds("oeq", x, 0.0), x, found)


def hyperbolic_tangent(f: Arithmetic, x: str) -> str:
    """tanh(x): for small x by expm1(-2x), and else what is left of 1 by expm1(2x)."""
    size = f.size(x)
    large = f.holds("oge", size, 0.55)
    more = f.called("expm1_of_many", f.multiply(f.choose(large, 2.0, -2.0), size))
    found = f.divide(f.choose(large, 2.0, f.negative(more)), f.add(2.0, more))
    return f.with_sign(f.choose(large, f.subtract(1.0, found), found), x)


# By what emitted source calls them: how they are written, and which others they call.
MANY: dict[str, tuple[Callable[..., str], tuple[str, ...]]] = {
    "math.exp": (exponential, ()),
    "math.log": (logarithm, ()),
    "math.log1p": (logarithm_beside_one, ("math.log",)),
    "math.expm1": (exponential_less_one, ()),
    "math.tanh": (hyperbolic_tangent, ("math.expm1",)),
    "math.erf": (llvm_gauss.error_function, ("math.exp",)),
    "math.erfc": (llvm_gauss.error_complement, ("math.exp",)),
    "ndtr": (llvm_gauss.normal_distribution, ("math.exp",)),
    "math.atan": (llvm_inverse.arc_tangent, ()),
    "math.asin": (llvm_inverse.arc_sine, ()),
    "math.acos": (llvm_inverse.arc_cosine, ()),
    "math.sin": (llvm_turning.sine, ()),
    "math.cos": (llvm_turning.cosine, ()),
    "math.tan": (llvm_turning.tangent, ()),
    "math.pow": (power, ()),
    "math.hypot": (hypotenuse, ()),
}
OPERANDS = {"math.pow": ("%x", "%y"), "math.hypot": ("%x", "%y")}
# Those that need a product and a sum rounded once.
FUSED = frozenset("math.erf math.erfc ndtr math.asin math.acos math.sin math.cos math.tan math.pow".split())
# Those whose operand may be too large for them.
TURNING = frozenset(("math.sin", "math.cos", "math.tan"))
USED = (
    "double @llvm.fmuladd.f64(double, double, double)",
    "double @llvm.fma.f64(double, double, double)",
    "double @llvm.fabs.f64(double)",
    "double @llvm.sqrt.f64(double)",
    "double @llvm.copysign.f64(double, double)",
    "double @llvm.trunc.f64(double)",
)


def of_many(w: Writer, name: str, operands: list[str]) -> Value:
    """A function of numbers, in a loop over many."""
    if name in TURNING:
        note_far(w, operands[0])
    for each in (*MANY[name][1], name):
        w.module.define(
            symbol_of(each),
            lambda each=each: function(symbol_of(each), MANY[each][0], OPERANDS.get(each, ("%x",))),  # type: ignore[misc]
        )
    for signature in USED:
        w.module.declare(signature)
    listed = ", ".join(f"double {x}" for x in operands)
    return w.value(FLOAT, f"call double @{symbol_of(name)}({listed})")


def note_far(w: Writer, angle: str) -> None:
    """Note whether an angle is beyond what the loop computes with."""
    w.module.declare("double @llvm.fabs.f64(double)")
    size = w.value(FLOAT, f"call double @llvm.fabs.f64(double {angle})")[1]
    far = w.to(INT, w.value(BOOL, f"fcmp ogt double {size}, {float_text(llvm_turning.FAR)}"))[1]
    before = w.value(INT, f"load i64, ptr {w.far}")[1]
    w.line(f"store i64 {w.value(INT, f'or i64 {before}, {far}')[1]}, ptr {w.far}")


def symbol_of(name: str) -> str:
    return f"{name.split('.')[-1]}_of_many"
