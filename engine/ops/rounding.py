"""Rounding, signs, extremes and tests of numbers: the piecewise rows, with their kinks and jumps."""

from __future__ import annotations

import math

from ..core.errors import failure
from ..core.operands import as_operand
from ..core.tensor import OPERATORS
from . import kernel_functions as floats
from .arithmetic import INF, array_quotient, at_multiple, choose, divide, equal, everywhere, is_complex, whole_quotient
from .operation import Operation, Singular, composite, elementwise, no_tangent, rule, zero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# --- rounding -------------------------------------------------------------------------------------------------------


def _rounding(name: str, doc: str, example: Any, **facts: Any) -> Operation:
    """A rounding that `math` and NumPy have, with the float result, the signed zero and the infinities of IEEE 754."""
    whole = getattr(math, name)
    edge = Singular(
        _is_whole, f"{name} jumps at integers", **everywhere(0.0), subgradients="the slopes between the jumps"
    )
    facts = {"singular": [edge], **facts}
    return zero(
        name, "x", scalar=lambda x: math.copysign(whole(x), x) if x - x == 0.0 else x, array=lambda np, x: getattr(np, name)(x),
        dtype="float", accepts="bif", domain=[(0.1, 0.9)], kernel=f"np.{name}({{0}})", doc=doc, example=example, **facts,
    )  # fmt: skip


def _is_whole(x: Any) -> Any:
    return x == x // 1


floor = _rounding("floor", "The largest integer not above x, as a float.", ("floor(2.7)", 2.0))
ceil = _rounding("ceil", "The smallest integer not below x, as a float.", ("ceil(2.1)", 3.0))
trunc = _rounding(
    "trunc", "The integer part of x, as a float.", ("trunc(-2.7)", -2.0), aliases="fix",
    singular=[Singular(lambda x: _is_whole(x) & (x != 0), "trunc jumps at integers", **everywhere(0.0),
    subgradients="the slopes between the jumps")],
)  # fmt: skip


def _round_scalar(x: Any, decimals: int) -> Any:
    if decimals:
        raise ValueError  # the array's way: scale, round half to even, scale back
    return x if x.__class__ is int or x - x != 0.0 else math.copysign(round(x), x)


def _halfway(x: Any) -> Any:
    return x - x // 1 == 0.5


round_half_even = zero(
    "round", "x | decimals=0", scalar=_round_scalar, array=lambda np, x, decimals: np.round(x, decimals), dtype="arithmetic",
    aliases="rint around", method=True, domain=[(0.1, 0.4)], kernel="_round({0}, {decimals})",
    singular=[
        Singular(
            lambda x: _halfway(x.real) | _halfway(x.imag) if is_complex(x) else _halfway(x), "round jumps halfway between integers",
            **everywhere(0.0), subgradients="the slopes between the jumps",
        )
    ],
    doc="x rounded to a number of decimals, halves to even, as NumPy and Python do.", example=("round(2.5)", 2.0),
)  # fmt: skip


# --- sign and size --------------------------------------------------------------------------------------------------


def _signum_scalar(x: Any) -> Any:
    if x.__class__ is float:
        return math.copysign(1.0, x) if x and x == x else x + 0.0
    return (x > 0) - (x < 0)


signum = zero(
    "signum", "x", scalar=_signum_scalar, array=lambda np, x: np.sign(x), dtype="arithmetic", accepts="bif", domain=[(0.5, 2)],
    kernel="_sign({0})",
    singular=[Singular(lambda x: x == 0, "sign jumps at 0", **everywhere(0.0), subgradients="the slopes beside the jump")],
    internal=True, analytic=False, doc="The sign of a real number: -1, 0 or 1.", example=("signum(-2.5)", -1.0),
)  # fmt: skip


def _unit_transpose(g: Any, y: Any, z: Any) -> Any:
    # y = exp(i*theta) moves along i*y only: with s = Im(g*conj(y)) the cotangent is i*s*y/|z|.
    along = OPERATORS.imag(g * OPERATORS.conj(y))
    # At 0, where the direction jumps, the slope is 0 as that of sign is, whatever meets it: so abs has the second
    # derivative 0 there.
    origin = equal(z, 0)
    slope = choose(origin, 0.0, divide(along, choose(origin, 1.0, absolute(choose(origin, 1.0, z)))))
    return OPERATORS.complex(0.0, slope) * y


unit = rule(
    "unit", "z", _unit_transpose,
    array=lambda np, z: np.where(np.equal(z, 0), 0, array_quotient(np, z, np.where(np.equal(z, 0), 1, np.abs(z)))),
    dtype="complex", internal=True, analytic=False, depends="elements",
    doc="z/abs(z), the point of the unit circle in the direction of a complex z; 0 at 0.",
    example=("unit(3 + 4j)", 0.6 + 0.8j),
)  # fmt: skip


def _sign(x: Any) -> Any:
    x = as_operand(x, signum)
    return unit(x) if is_complex(x) else signum(x)


sign = composite(
    "sign", "x", _sign, aliases="sgn", domain=[(0.5, 2)], singular=signum.singular, analytic=False,
    integer="((1 if {0} > 0 else 0) - (1 if {0} < 0 else 0))",
    doc="-1, 0 or 1 by the sign of x; for complex x the point x/abs(x) of the unit circle.", example=("sign(-2.5)", -1.0),
)  # fmt: skip


def _abs_slope(y: Any, x: Any) -> Any:
    # A real function of a complex z pulls back and pushes forward by d/dRe - i d/dIm: here conj(z)/|z|.
    return OPERATORS.conj(unit(x)) if is_complex(x) else signum(x)


absolute = elementwise(
    "abs", "x", [_abs_slope], scalar=abs, array=lambda np, x: np.abs(x), dtype="real", aliases="absolute fabs",
    domain=[(0.5, 5)], kernel="abs({0})",
    singular=[
        Singular(
            lambda x: x == 0, "abs is not differentiable at 0", adiff=0.0, tensorflow=0.0, jax=1.0, torch=0.0,
            subgradients="[-1, 1]",
        )
    ],
    analytic=False, keeps=True, doc="The absolute value; the modulus of a complex number.",
    example=("abs(-3)", 3),
)  # fmt: skip
copysign = elementwise(
    "copysign", "x, s", [lambda y, x, s: copysign(1.0, x) * copysign(1.0, s), lambda y, x, s: 0.0], scalar=math.copysign,
    array=lambda np, x, s: np.copysign(x, s), dtype="float", accepts="bif", kernel="math.copysign({0}, {1})",
    domain=[(0.5, 5), (0.5, 5)],
    singular=[
        Singular(lambda x, s: x == 0, "copysign is not differentiable at 0", **everywhere(0.0), subgradients="[-1, 1]"),
        Singular(
            lambda x, s: (s == 0) & (x != 0), "copysign jumps where the sign changes", **everywhere(0.0),
            subgradients="the slopes beside the jump", input=1,
        ),
    ],
    analytic=False, doc="The size of x with the sign of s.",
    example=("copysign(3, -0.0)", -3.0),
)  # fmt: skip
heaviside = elementwise(
    "heaviside", "x, h", [lambda y, x, h: 0.0, lambda y, x, h: choose(equal(x, 0), 1.0, 0.0)],
    scalar=lambda x, h: h if x == 0 else (1.0 if x > 0 else (0.0 if x < 0 else x)), array=lambda np, x, h: np.heaviside(x, h),
    dtype="float", accepts="bif", domain=[(0.5, 5), (0, 1)],
    kernel="({1} if {0} == 0.0 else (1.0 if {0} > 0.0 else (0.0 if {0} < 0.0 else {0})))",
    singular=[Singular(lambda x, h: x == 0, "heaviside jumps at 0", **everywhere(0.0), subgradients="the slopes beside the jump")],
    analytic=False, doc="0 for negative x, 1 for positive x, h at 0.", example=("heaviside(0, 0.5)", 0.5),
)  # fmt: skip


# --- extremes -------------------------------------------------------------------------------------------------------
#
# The first of equal numbers is taken, as Python's max and min do: 0.0 and -0.0 are equal. NumPy's maximum and minimum
# take the second, so they get their operands in the other order.


def _extreme(name: str, above: Any, doc: str, example: Any, **facts: Any) -> Operation:
    """`above(a, b)` says where a alone is taken."""
    ties = [
        Singular(
            lambda a, b: a == b, f"{name} has two slopes where its arguments are equal", adiff=0.5, tensorflow=1.0 - i,
            jax=0.5, torch=0.5, subgradients="[0, 1]", input=i,
        )
        for i in (0, 1)
    ]  # fmt: skip
    return elementwise(
        name, "a, b", [lambda y, a, b: choose(above(y, a, b), 1.0, 0.0), lambda y, a, b: choose(above(y, b, a), 1.0, 0.0)],
        dtype="arithmetic", accepts="bif", domain=[(0, 1), (2, 3)], singular=ties, analytic=False, keeps=True, doc=doc,
        example=example, **facts,
    )  # fmt: skip


maximum = _extreme(
    "maximum", lambda y, a, b: a > b, "The larger of a and b, element by element.", ("maximum(2, 3)", 3), scalar=floats._maximum,
    array=lambda np, a, b: np.maximum(b, a), kernel="_maximum({0}, {1})", aliases="jax.lax.max",
    integer="({0} if {0} >= {1} else {1})",
)  # fmt: skip
minimum = _extreme(
    "minimum", lambda y, a, b: a < b, "The smaller of a and b, element by element.", ("minimum(2, 3)", 2), scalar=floats._minimum,
    array=lambda np, a, b: np.minimum(b, a), kernel="_minimum({0}, {1})", aliases="jax.lax.min",
    integer="({0} if {0} <= {1} else {1})",
)  # fmt: skip
fmax = _extreme(
    "fmax", lambda y, a, b: equal(y, a), "The larger of a and b; a nan counts as missing.", ("fmax(2, nan)", 2.0),
    scalar=lambda a, b: b if a != a or b > a else a, array=lambda np, a, b: np.fmax(a, b),
    kernel="({1} if {0} != {0} or {1} > {0} else {0})", formula="maximum(a, b)",
)  # fmt: skip
fmin = _extreme(
    "fmin", lambda y, a, b: equal(y, a), "The smaller of a and b; a nan counts as missing.", ("fmin(2, nan)", 2.0),
    scalar=lambda a, b: b if a != a or b < a else a, array=lambda np, a, b: np.fmin(a, b),
    kernel="({1} if {0} != {0} or {1} < {0} else {0})", formula="minimum(a, b)",
)  # fmt: skip


def _inside(y: Any, x: Any, low: Any, high: Any) -> Any:
    return choose(x < low, 0.0, choose(x > high, 0.0, 1.0))


def _clip_edge(index: int, where: Any, tensorflow: float, jax: float) -> Singular:
    return Singular(
        where, "clip has two slopes at an edge", adiff=0.0, tensorflow=tensorflow, jax=jax, torch=0.0,
        subgradients="[0, 1]", input=index,
    )  # fmt: skip


clip_between = elementwise(
    "clip_between", "x, low, high",
    [
        _inside,
        lambda y, x, low, high: choose(x < low, choose(low > high, 0.0, 1.0), 0.0),
        lambda y, x, low, high: choose(x > high, 1.0, choose(low > high, 1.0, 0.0)),
    ],
    scalar=floats._clip, array=lambda np, x, low, high: np.minimum(high, np.maximum(low, x)), dtype="arithmetic", accepts="bif",
    domain=[(-1, 1), (-3, -2), (2, 3)], kernel="_clip({0}, {1}, {2})",
    singular=[
        _clip_edge(0, lambda x, low, high: (x == low) | (x == high), 1.0, 0.5),
        _clip_edge(1, lambda x, low, high: x == low, 0.0, 0.5),
        _clip_edge(2, lambda x, low, high: x == high, 0.0, 0.5),
    ],
    internal=True, analytic=False, keeps=True,
    doc="x kept between two bounds.", example=("clip_between(5, 0, 1)", 1), formula="minimum(maximum(x, low), high)",
)  # fmt: skip


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    if low is None and high is None:
        raise failure("E0305", "clip needs a lower or an upper bound", "write clip(x, low, high)")
    x = as_operand(x, clip_between)
    if low is None or high is None:
        dtype = getattr(x, "dtype", None)
        if x.__class__ in (int, bool) or (dtype is not None and dtype.kind in "bi"):
            return minimum(x, high) if low is None else maximum(x, low)
        low, high = (-INF if low is None else low), (INF if high is None else high)
    return clip_between(x, low, high)


clip = composite(
    "clip", "x, low=None, high=None", _clip, aliases="clip_by_value clamp", method=True, domain=[(-1, 1), (-3, -2), (2, 3)],
    accepts="bif", singular=clip_between.singular, doc="x kept between low and high; either may be left out.",
    example=("clip(5, 0, 1)", 1),
)  # fmt: skip


# --- remainders, neighbours -----------------------------------------------------------------------------------------


def _fmod_scalar(a: Any, b: Any) -> Any:
    if a.__class__ is float or b.__class__ is float:
        return math.fmod(a, b)
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


fmod = elementwise(
    "fmod", "a, b", [lambda y, a, b: 1.0, lambda y, a, b: -round_half_even(divide(a - y, b), decimals=0)], scalar=_fmod_scalar,
    array=whole_quotient("fmod"), dtype="arithmetic", accepts="bif", aliases="truncatemod",
    kernel="np.fmod({0}, {1})", domain=[(1.1, 1.9), (2.1, 3.4)],
    singular=[
        Singular(where, f"fmod {message}", **everywhere(value), input=i)
        for where, message, value in (
            (lambda a, b: (a != 0) & at_multiple(a, b), "jumps at multiples of b: the derivative between the jumps is taken", None),
            (lambda a, b: b == 0, "by zero is not defined", math.nan),
        )
        for i in (0, 1)
    ],
    analytic=False, integer="(abs({0}) % abs({1}) * (1 if {0} > 0 else -1))", refused="{1} == 0",
    doc="Remainder with the sign of a, as C's fmod: a - b*trunc(a/b).", example=("fmod(-7, 3)", -1),
)  # fmt: skip
nextafter = elementwise(
    "nextafter", "a, b", [lambda y, a, b: 1.0, lambda y, a, b: 0.0], scalar=math.nextafter,
    array=lambda np, a, b: np.nextafter(a, b), dtype="float", accepts="bif", domain=[(0.5, 1), (2, 3)],
    doc="The next floating-point number after a in the direction of b.", example=("nextafter(0, 1)", 5e-324),
)  # fmt: skip
# --- tests of numbers -----------------------------------------------------------------------------------------------


def _test(
    name: str, doc: str, scalar: Any, example: tuple[str, bool], kernel: str, accepts: str = "bifc", aliases: str = ""
) -> Operation:
    return no_tangent(
        name, "x", scalar=scalar, array=lambda np, x: getattr(np, name)(x), dtype="bool", accepts=accepts,
        kernel=kernel, aliases=aliases, doc=doc, example=example, reason="a test", domain=[(-1, 1)],
    )  # fmt: skip


isnan = _test("isnan", "Whether x is nan.", lambda x: x != x, ("isnan(nan)", True), "({0} != {0})", aliases="is_nan")
isinf = _test(
    "isinf", "Whether x is infinite.", lambda x: x in (INF, -INF), ("isinf(-inf)", True),
    "({0} == math.inf or {0} == -math.inf)", aliases="is_inf",
)  # fmt: skip
isfinite = _test(
    "isfinite", "Whether x is neither nan nor infinite.", lambda x: x - x == 0, ("isfinite(1.0)", True), "({0} - {0} == 0.0)",
    aliases="is_finite",
)  # fmt: skip
isposinf = _test(
    "isposinf", "Whether x is +inf.", lambda x: x == INF, ("isposinf(inf)", True), "({0} == math.inf)", "bif"
)
isneginf = _test(
    "isneginf", "Whether x is -inf.", lambda x: x == -INF, ("isneginf(-inf)", True), "({0} == -math.inf)", "bif"
)
signbit = _test(
    "signbit", "Whether x is negative, -0.0 included.", lambda x: math.copysign(1.0, x) < 0, ("signbit(-0.0)", True),
    "(math.copysign(1.0, {0}) < 0.0)", "bif",
)  # fmt: skip
isreal = no_tangent(
    "isreal", "x", array=lambda np, x: np.isreal(x), kernel="({0} == {0} or {0} != {0})", dtype="bool",
    doc="Whether the imaginary part of x is 0.", example=("isreal(1 + 0j)", True), reason="a test", domain=[(-1, 1)],
)  # fmt: skip


def _isclose(np: Any, a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    return np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


isclose = no_tangent(
    "isclose", "a, b | rtol=1e-5, atol=1e-8, equal_nan=False", array=_isclose, dtype="bool", aliases="is_close",
    kernel="_isclose({0}, {1}, {rtol}, {atol}, {equal_nan})", doc="Whether |a - b| <= atol + rtol*|b|, element by element.",
    example=("isclose(1.0, 1.0 + 1e-9)", True), reason="a test", domain=[(-1, 1), (-1, 1)],
)  # fmt: skip
allclose = no_tangent(
    "allclose", "a, b | rtol=1e-5, atol=1e-8, equal_nan=False",
    array=lambda np, a, b, **how: bool(_isclose(np, a, b, **how).all()), dtype="bool",
    kernel=lambda k, a, b, **how: OPERATORS.all(isclose(a, b, **how), axis=None, keepdims=False),
    doc="Whether all elements are close: |a - b| <= atol + rtol*|b|.", example=("allclose([1.0, 2.0], [1.0, 2.0])", True),
    reason="a test", domain=[(-1, 1), (-1, 1)],
)  # fmt: skip


def _math_isclose(np: Any, a: Any, b: Any, rel_tol: float, abs_tol: float) -> Any:
    near = np.abs(np.subtract(a, b)) <= np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
    return np.equal(a, b) | (near & np.isfinite(a) & np.isfinite(b))


isclose_of_math = no_tangent(
    "math.isclose", "a, b | rel_tol=1e-9, abs_tol=0.0", array=_math_isclose, dtype="bool",
    kernel="_is_close_symmetric({0}, {1}, {rel_tol}, {abs_tol})",
    doc="Python's math.isclose: whether |a - b| <= max(rel_tol*max(|a|, |b|), abs_tol).",
    example=("math.isclose(1.0, 1.0 + 1e-8)", False), reason="a test", domain=[(-1, 1), (-1, 1)],
)  # fmt: skip


def _integers(name: str, doc: str, scalar: Any, example: tuple[str, int]) -> Operation:
    return no_tangent(
        name, "a, b", scalar=scalar, array=lambda np, a, b: getattr(np, name)(a, b), dtype="arithmetic", accepts="bi",
        doc=doc, example=example, reason="integers",
    )  # fmt: skip


gcd = _integers("gcd", "The greatest common divisor of two integers.", math.gcd, ("gcd(12, 18)", 6))
lcm = _integers("lcm", "The least common multiple of two integers.", math.lcm, ("lcm(4, 6)", 12))


nan_to_num = elementwise(
    "nan_to_num", "x | nan=0.0, posinf=None, neginf=None", [lambda y, x, nan, posinf, neginf: choose(isfinite(x), 1.0, 0.0)],
    array=lambda np, x, **numbers: np.nan_to_num(x, **numbers), dtype="arithmetic", accepts="bif", domain=[(-1, 1)],
    doc="x with nan, inf and -inf replaced by numbers; the derivative is 0 there.", example=("nan_to_num(nan)", 0.0),
)  # fmt: skip
