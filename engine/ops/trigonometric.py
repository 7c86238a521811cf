"""Trigonometric and hyperbolic functions and their inverses.

Slopes are products of factors that do not cancel: (1 - x)*(1 + x) and not 1 - x*x, hypot(1, x) and not
sqrt(1 + x*x), sech(x)**2 and not 1 - tanh(x)**2. Derivatives of inverses: DLMF 4.24 and 4.38.
"""

from __future__ import annotations

import math
from functools import cache

from . import kernel_functions as floats
from .arithmetic import (
    INF,
    NAN,
    above,
    array_product,
    below,
    choose,
    divide,
    everywhere,
    is_complex,
    logical_and,
    multiply,
)
from .exponential import by_math, direction, exp, expm1, hypot, log1p, reciprocal, rsqrt, sqrt, square, tanh
from .operation import Operation, Singular, elementwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sin = elementwise(
    "sin", "x", [lambda y, x: cos(x)], **by_math("sin"), domain=[(-6, 6)], doc="The sine of x radians.",
    example=("sin(0)", 0.0),
)  # fmt: skip
cos = elementwise(
    "cos", "x", [lambda y, x: -sin(x)], **by_math("cos"), domain=[(-6, 6)], doc="The cosine of x radians.",
    example=("cos(0)", 1.0),
)  # fmt: skip
tan = elementwise(
    "tan", "x", [lambda y, x: square(sec(x)) if is_complex(x) else 1.0 + y * y], **by_math("tan"), domain=[(-1.4, 1.4)],
    doc="The tangent of x radians.", example=("tan(0)", 0.0),
)  # fmt: skip
sec = elementwise(
    "sec", "x", [lambda y, x: y * tan(x)], scalar=lambda x: 1.0 / math.cos(x), array=lambda np, x: 1 / np.cos(x), dtype="float",
    domain=[(-1.4, 1.4)], kernel="(1.0 / math.cos({0}))", doc="The secant, 1/cos(x).", example=("sec(0)", 1.0),
)  # fmt: skip
csc = elementwise(
    "csc", "x", [lambda y, x: -(y * cot(x))], scalar=lambda x: 1.0 / math.sin(x), array=lambda np, x: 1 / np.sin(x),
    dtype="float", domain=[(0.2, 2.9)], aliases="cosec", singular=[Singular(lambda x: x == 0, "csc has a pole at 0")],
    kernel="(1.0 / math.sin({0}))", doc="The cosecant, 1/sin(x).", example=("csc(pi/2)", 1.0),
)  # fmt: skip
cot = elementwise(
    "cot", "x", [lambda y, x: -square(csc(x))], scalar=lambda x: 1.0 / math.tan(x), array=lambda np, x: 1 / np.tan(x),
    dtype="float", domain=[(0.2, 2.9)], kernel="(1.0 / math.tan({0}))",
    singular=[Singular(lambda x: x == 0, "cot has a pole at 0")], doc="The cotangent, 1/tan(x).", example=("cot(pi/4)", 1.0),
)  # fmt: skip


# --- inverses -------------------------------------------------------------------------------------------------------

one_minus_square = elementwise(
    "one_minus_square", "x", [lambda y, x: -2.0 * x], scalar=lambda x: (1.0 - x) * (1.0 + x),
    array=lambda np, x: array_product(np, 1 - x, 1 + x), dtype="float", domain=[(-3, 3)], kernel="((1.0 - {0}) * (1.0 + {0}))",
    internal=True, doc="1 - x**2 as (1 - x)*(1 + x), exact near 1 and -1.", example=("one_minus_square(0.5)", 0.75),
    formula="1 - x**2",
)  # fmt: skip


def _at_ends(name: str, choice: float) -> list[Singular]:
    return [
        Singular(lambda x: (x == 1) | (x == -1), f"{name} has an infinite derivative at 1 and -1", **everywhere(choice))
    ]


arcsin = elementwise(
    "arcsin", "x", [lambda y, x: rsqrt(one_minus_square(x))], **by_math("arcsin", "asin"), aliases="asin", domain=[(-0.9, 0.9)],
    singular=_at_ends("arcsin", INF), doc="The angle in [-pi/2, pi/2] whose sine is x.", example=("arcsin(0)", 0.0),
)  # fmt: skip
arccos = elementwise(
    "arccos", "x", [lambda y, x: -rsqrt(one_minus_square(x))], **by_math("arccos", "acos"), aliases="acos", domain=[(-0.9, 0.9)],
    singular=_at_ends("arccos", -INF), doc="The angle in [0, pi] whose cosine is x.", example=("arccos(1)", 0.0),
)  # fmt: skip


def _atan_slope(y: Any, x: Any) -> Any:
    # 1/(1 + x**2) as a square: its own derivative would underflow from 1e77 on.
    return reciprocal(1.0 + square(x)) if is_complex(x) else square(reciprocal(hypot(1.0, x)))


arctan = elementwise(
    "arctan", "x", [_atan_slope], **by_math("arctan", "atan"), aliases="atan", domain=[(-5, 5)],
    doc="The angle in [-pi/2, pi/2] whose tangent is x.", example=("arctan(0)", 0.0),
)  # fmt: skip
# d/dy atan2(y, x) = x/r**2 as (x/r)/r: r**2 underflows at 1e-200 and overflows at 1e200.
arctan2 = elementwise(
    "arctan2", "y, x",
    [lambda z, y, x: divide(direction(x, y), hypot(x, y)), lambda z, y, x: divide(-direction(y, x), hypot(x, y))],
    scalar=math.atan2, array=lambda np, y, x: np.arctan2(y, x), dtype="float", accepts="bif", aliases="atan2",
    kernel="math.atan2({0}, {1})", domain=[(-5, 5), (0.5, 5)],
    singular=[
        Singular(
            lambda y, x: (y == 0) & (x == 0), "atan2 is not differentiable at (0, 0)", adiff=0.0, tensorflow=NAN,
            jax=NAN,
            torch=0.0, subgradients="no limit", input=i,
        )
        for i in (0, 1)
    ],
    doc="The angle in [-pi, pi] of the point (x, y).", example=("arctan2(0, 1)", 0.0),
)  # fmt: skip


# --- hyperbolic -----------------------------------------------------------------------------------------------------

sinh = elementwise(
    "sinh", "x", [lambda y, x: cosh(x)], **by_math("sinh"), domain=[(-3, 3)], doc="The hyperbolic sine.",
    example=("sinh(0)", 0.0),
)  # fmt: skip
cosh = elementwise(
    "cosh", "x", [lambda y, x: sinh(x)], **by_math("cosh"), domain=[(-3, 3)], doc="The hyperbolic cosine.",
    example=("cosh(0)", 1.0),
)  # fmt: skip


def _log_cosh(np: Any, x: Any) -> Any:
    # log1p(2 sinh(x/2)**2) keeps small x; |x| + log((1 + exp(-2|x|))/2) keeps large x.
    size = np.abs(x)
    half = np.sinh(0.5 * np.minimum(size, 1))
    return np.where(size < 1, np.log1p(2 * half * half), size - math.log(2.0) + np.log1p(np.exp(-2 * size)))


log_cosh = elementwise(
    "log_cosh", "x", [lambda y, x: tanh(x)], scalar=floats._log_cosh, array=_log_cosh, dtype="float", accepts="bif",
    aliases="logcosh", domain=[(-5, 5)], kernel="_log_cosh({0})", doc="log(cosh(x)), without overflow.",
    example=("log_cosh(0)", 0.0), formula="log(cosh(x))",
)  # fmt: skip
csch = elementwise(
    "csch", "x", [lambda y, x: -(y * coth(x))], scalar=lambda x: 1.0 / math.sinh(x), array=lambda np, x: 1 / np.sinh(x),
    dtype="float", domain=[(0.2, 3)], kernel="(1.0 / math.sinh({0}))",
    singular=[Singular(lambda x: x == 0, "csch has a pole at 0")], doc="The hyperbolic cosecant, 1/sinh(x).",
    example=("csch(inf)", 0.0),
)  # fmt: skip
coth = elementwise(
    "coth", "x", [lambda y, x: -square(csch(x))], scalar=lambda x: 1.0 / math.tanh(x), array=lambda np, x: 1 / np.tanh(x),
    dtype="float", domain=[(0.2, 3)], kernel="(1.0 / math.tanh({0}))",
    singular=[Singular(lambda x: x == 0, "coth has a pole at 0")], doc="The hyperbolic cotangent, 1/tanh(x).",
    example=("coth(inf)", 1.0),
)  # fmt: skip
arcsinh = elementwise(
    "arcsinh", "x", [lambda y, x: rsqrt(1.0 + square(x)) if is_complex(x) else reciprocal(hypot(1.0, x))],
    **by_math("arcsinh", "asinh"), aliases="asinh", domain=[(-5, 5)], doc="The inverse hyperbolic sine.", example=("arcsinh(0)", 0.0),
)  # fmt: skip


def _acosh_slope(y: Any, x: Any) -> Any:
    # The factors apart: x**2 - 1 overflows at 1e300 and cancels at 1.
    return multiply(rsqrt(x - 1.0), rsqrt(x + 1.0))


arccosh = elementwise(
    "arccosh", "x", [_acosh_slope], **by_math("arccosh", "acosh"), aliases="acosh", domain=[(1.1, 5)],
    singular=[
        Singular(lambda x: x == 1, "arccosh has an infinite derivative at 1", **everywhere(INF)),
        Singular(
            lambda x: below(x, 1), "arccosh is not defined below 1, and neither is its derivative", **everywhere(NAN),
            subgradients="no value",
        ),
    ],
    doc="The inverse hyperbolic cosine, for x from 1 on.", example=("arccosh(1)", 0.0),
)  # fmt: skip
arctanh = elementwise(
    "arctanh", "x", [lambda y, x: reciprocal(one_minus_square(x))], **by_math("arctanh", "atanh"), aliases="atanh",
    domain=[(-0.9, 0.9)],
    singular=[
        *_at_ends("arctanh", INF),
        Singular(
            lambda x: above(x, 1) | below(x, -1),
            "arctanh is not defined outside [-1, 1], and neither is its derivative",
            adiff=NAN, subgradients="no value",
        ),
    ],
    doc="The inverse hyperbolic tangent, for x in [-1, 1].", example=("arctanh(0)", 0.0),
)  # fmt: skip


# --- f(x)/x -----------------------------------------------------------------------------------------------------------


@cache
def _gauss() -> list[tuple[float, float]]:
    """The nodes and weights of Gauss' rule for the integral over [0, 1]."""
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(12)
    return list(zip((0.5 + 0.5 * nodes).tolist(), (0.5 * weights).tolist()))


def _quotient_of(row: Operation, first: Any, second: Any, replaces: str) -> Operation:
    """The row of f(x)/x for a function with f(0) = 0, of its derivatives."""

    def slope(y: Any, x: Any) -> Any:
        if is_complex(x):
            return divide(first(x) - y, x)
        # Near 0 the quotient cancels; there it is the integral of t*f''(t*x) over 0 < t < 1.
        near = logical_and(x > -0.5, x < 1.0)
        inside = choose(near, x, 0.0)
        terms = [weight * t * second(t * inside) for t, weight in _gauss()]
        return choose(near, sum(terms[1:], terms[0]), divide(first(x) - y, choose(near, 1.0, x)))

    def array(np: Any, x: Any) -> Any:
        zero = np.equal(x, 0)
        return np.where(zero, 1, row.array(np, x) / np.where(zero, 1, x))  # type: ignore[misc]

    return elementwise(
        f"{row.name}_quotient", "x", [slope], scalar=lambda x: row.scalar(x) / x if x else 1.0, array=array, dtype="float",  # type: ignore[misc]
        kernel=f"({row.kernel} / {{0}} if {{0}} != 0.0 else 1.0)", domain=[(-0.9, 3)], internal=True, replaces=replaces,
        doc=f"{row.name}(x)/x, 1 at 0.", example=(f"{row.name}_quotient(0.0)", 1.0), formula=f"{row.name}(x)/x",
    )  # fmt: skip


sin_quotient = _quotient_of(sin, cos, lambda x: -sin(x), "sin(x)/x")
sinh_quotient = _quotient_of(sinh, cosh, sinh, "sinh(x)/x")
expm1_quotient = _quotient_of(expm1, exp, exp, "expm1(x)/x; (exp(x) - 1)/x")
log1p_quotient = _quotient_of(
    log1p, lambda x: divide(1.0, 1.0 + x), lambda x: -square(divide(1.0, 1.0 + x)), "log1p(x)/x; log(1 + x)/x"
)


# --- squares of inverses ----------------------------------------------------------------------------------------------


def _arccos_quotient(np: Any, x: Any, order: int) -> Any:
    from scipy.special import hyp2f1, poch

    factor = (-0.5) ** order * poch(1.0, order) ** 2 / poch(1.5, order)
    return factor * hyp2f1(1.0 + order, 1.0 + order, 1.5 + order, 0.5 * (1.0 - x))


# arccos(x)/sqrt(1 - x**2) = arccosh(x)/sqrt(x**2 - 1) = 2F1(1, 1; 3/2; (1 - x)/2): DLMF 15.4.4, derivatives 15.5.2.
arccos_quotient: Operation = elementwise(
    "arccos_quotient", "x | order=0", [lambda y, x, order: arccos_quotient(x, order=order + 1)], array=_arccos_quotient,
    library="scipy", dtype="float", accepts="bif", domain=[(-0.9, 3)], internal=True,
    doc="The derivative of arccos(x)/sqrt(1 - x**2) of a given order, with its limit at 1.",
    example=("arccos_quotient(1.0)", 1.0),
)  # fmt: skip


def _arccos_over_root(x: Any) -> Any:
    return divide(arccos(x), sqrt(one_minus_square(x))) if is_complex(x) else arccos_quotient(x, order=0)


square_of_arccos = elementwise(
    "square_of_arccos", "x", [lambda y, x: -2.0 * _arccos_over_root(x)], scalar=lambda x: math.acos(x) ** 2,
    array=lambda np, x: np.arccos(x) ** 2, dtype="float", domain=[(-0.9, 0.9)],
    singular=[Singular(lambda x: x == -1, "arccos(x)**2 has an infinite derivative at -1", **everywhere(-math.inf))],
    internal=True, replaces="arccos(x)**2", doc="arccos(x)**2, with the derivative -2 at 1.",
    example=("square_of_arccos(1.0)", 0.0),
)  # fmt: skip
square_of_arccosh = elementwise(
    "square_of_arccosh", "x", [lambda y, x: 2.0 * _arccos_over_root(x)], scalar=lambda x: math.acosh(x) ** 2,
    array=lambda np, x: np.arccosh(x) ** 2, dtype="float", domain=[(1.1, 3)], internal=True, replaces="arccosh(x)**2",
    doc="arccosh(x)**2, with the derivative 2 at 1.", example=("square_of_arccosh(1.0)", 0.0),
)  # fmt: skip
