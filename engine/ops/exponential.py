"""Exponentials, logarithms, roots, and the combinations of them that stay exact where the plain formula does not.

Every partial is written so that it keeps its relative accuracy in the tails, and so that the derivative of the
formula does too: the slope of sigmoid is sech(x/2)**2/4 and not y*(1 - y), which is 0 from x = 37 on and whose own
derivative cancels at 0.
"""

from __future__ import annotations

import math

from . import kernel_functions as floats
from .arithmetic import INF, NAN, array_product, below, choose, divide, equal, everywhere, is_complex, multiply
from .operation import Singular, composite, elementwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def by_math(name: str, known: str = "") -> dict[str, Any]:
    """The evaluation of a function that `math`, where it may be `known` by another name, and NumPy have."""
    known = known or name
    return {
        "scalar": getattr(math, known),
        "array": lambda np, x: getattr(np, name)(x),
        "kernel": f"math.{known}({{0}})",
        "dtype": "float",
    }


# --- exponentials and logarithms ------------------------------------------------------------------------------------

exp = elementwise(
    "exp", "x", [lambda y, x: y], **by_math("exp"), domain=[(-5, 5)], doc="The exponential e**x.", example=("exp(0)", 1.0),
    formula="e**x",
)  # fmt: skip
exp2 = elementwise(
    "exp2", "x", [lambda y, x: y * LN2], **by_math("exp2"), domain=[(-5, 5)], doc="2**x.", example=("exp2(3)", 8.0),
    formula="2**x",
)  # fmt: skip


def _exact_near_zero(name: str) -> Any:
    """The evaluation of expm1 or log1p, of complex numbers by SciPy: NumPy's lose the digits of small ones."""

    def array(np: Any, x: Any) -> Any:
        if np.asarray(x).dtype.kind != "c":
            return getattr(np, name)(x)
        from scipy import special

        return getattr(special, name)(x)

    return array


expm1 = elementwise(
    "expm1", "x", [lambda y, x: exp(x)], scalar=math.expm1, array=_exact_near_zero("expm1"), dtype="float", domain=[(-3, 3)],
    kernel="math.expm1({0})", replaces="exp(x) - 1", doc="exp(x) - 1, exact for small x.", example=("expm1(1e-20)", 1e-20),
)  # fmt: skip


def _log_singular(message: str, end: float = 0.0) -> list[Singular]:
    return [
        Singular(lambda x: x == end, f"{message} has an infinite derivative at {end:g}", **everywhere(INF)),
        Singular(
            lambda x: below(x, end), f"{message} is not defined below {end:g}, and neither is its derivative",
            adiff=NAN, subgradients="no value",
        ),
    ]  # fmt: skip


log = elementwise(
    "log", "x", [lambda y, x: divide(1.0, x)], **by_math("log"), aliases="ln", domain=[(0.1, 10)],
    singular=_log_singular("log"), doc="The natural logarithm.", example=("log(e)", 1.0),
)  # fmt: skip
log_to_base = composite(
    "log_to_base", "x, base", lambda x, base: divide(log(x), log(base)), dtype="float", domain=[(0.1, 10), (2, 5)],
    internal=True,
    doc="The logarithm to a base: log(x, base).", example=("log_to_base(8.0, 2.0)", 3.0),
)  # fmt: skip
log.longer = log_to_base
log2 = elementwise(
    "log2", "x", [lambda y, x: divide(1.0 / LN2, x)], **by_math("log2"), domain=[(0.1, 10)], singular=_log_singular("log2"),
    doc="The logarithm to base 2.", example=("log2(8)", 3.0), formula="log(x)/log(2)",
)  # fmt: skip
log10 = elementwise(
    "log10", "x", [lambda y, x: divide(1.0 / LN10, x)], **by_math("log10"), domain=[(0.1, 10)], singular=_log_singular("log10"),
    doc="The logarithm to base 10.", example=("log10(1000)", 3.0), formula="log(x)/log(10)",
)  # fmt: skip


_log1p = _exact_near_zero("log1p")
log1p = elementwise(
    "log1p", "x", [lambda y, x: divide(1.0, 1.0 + x)], scalar=math.log1p, array=_log1p, dtype="float", domain=[(-0.9, 5)],
    kernel="math.log1p({0})", singular=_log_singular("log1p", -1.0), replaces="log(1 + x)",
    doc="log(1 + x), exact for small x.", example=("log1p(1e-20)", 1e-20),
)  # fmt: skip


# --- powers and roots -----------------------------------------------------------------------------------------------


def _square(np: Any, x: Any) -> Any:
    return array_product(np, x, x) if is_complex(x) else np.square(x)


square = elementwise(
    "square", "x", [lambda y, x: x * 2], scalar=lambda x: x * x, array=_square, dtype="arithmetic", domain=[(-10, 10)],
    kernel="({0} * {0})", integer="({0} * {0})", refused="abs({0}) > 2147483648", largest=lambda sizes, n: sizes[0] * sizes[0],
    doc="x squared.", example=("square(3)", 9),
)  # fmt: skip
sqrt = elementwise(
    "sqrt", "x", [lambda y, x: divide(0.5, y)], **by_math("sqrt"), domain=[(0.1, 10)],
    singular=[Singular(lambda x: x == 0, "sqrt has an infinite derivative at 0", **everywhere(INF))],
    doc="The square root.", example=("sqrt(9)", 3.0), formula="x**(1/2)",
)  # fmt: skip
rsqrt = elementwise(
    "rsqrt", "x", [lambda y, x: divide(-0.5 * y, x)], scalar=lambda x: 1.0 / math.sqrt(x), array=lambda np, x: 1 / np.sqrt(x),
    dtype="float", domain=[(0.1, 10)], kernel="(1.0 / math.sqrt({0}))",
    singular=[Singular(lambda x: x == 0, "rsqrt has an infinite derivative at 0", **everywhere(-INF))],
    doc="One over the square root.", example=("rsqrt(4)", 0.5),
)  # fmt: skip
cbrt = elementwise(
    "cbrt", "x", [lambda y, x: divide(1.0, 3.0 * (y * y))], scalar=math.cbrt, array=lambda np, x: np.cbrt(x), dtype="float",
    accepts="bif", domain=[(0.1, 10)], kernel="np.cbrt({0})",
    singular=[Singular(lambda x: x == 0, "cbrt has an infinite derivative at 0", **everywhere(INF))],
    doc="The real cube root, negative for negative x.", example=("cbrt(-8)", -2.0),
)  # fmt: skip


def _reciprocal(np: Any, x: Any) -> Any:
    # NumPy's own of a complex 0 has no infinite part, which the division has.
    return np.divide(1.0, x) if is_complex(x) else np.reciprocal(x)


reciprocal = elementwise(
    "reciprocal", "x", [lambda y, x: -(y * y)], scalar=lambda x: 1.0 / x, array=_reciprocal, dtype="float",
    kernel="(1.0 / {0})", domain=[(0.5, 10)],
    singular=[Singular(lambda x: x == 0, "reciprocal has an infinite derivative at 0", **everywhere(-INF))],
    doc="One over x.", example=("reciprocal(4)", 0.25),
)  # fmt: skip
# --- the hyperbolic secant: the slope of sigmoid and tanh -----------------------------------------------------------


def _sech(np: Any, x: Any) -> Any:
    if np.asarray(x).dtype.kind == "c":
        return 1 / np.cosh(x)
    decay = np.exp(-np.abs(x))
    return 2 * decay / (1 + decay * decay)


sech = elementwise(
    "sech", "x", [lambda y, x: -(y * tanh(x))], scalar=lambda x: 1.0 / math.cosh(x), array=_sech, dtype="float", domain=[(-3, 3)],
    kernel="(1.0 / math.cosh({0}))", doc="The hyperbolic secant, 1/cosh(x).", example=("sech(0)", 1.0),
)  # fmt: skip
tanh = elementwise(
    "tanh", "x", [lambda y, x: square(sech(x))], **by_math("tanh"), domain=[(-3, 3)], doc="The hyperbolic tangent.",
    example=("tanh(0)", 0.0),
)  # fmt: skip


# --- sigmoid and its relatives --------------------------------------------------------------------------------------


def _sigmoid_of_array(np: Any, x: Any) -> Any:
    if np.asarray(x).dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    decay = np.exp(-np.abs(x))
    return np.where(np.greater_equal(x, 0), 1, decay) / (1 + decay)


sigmoid = elementwise(
    "sigmoid", "x", [lambda y, x: multiply(0.25, square(sech(0.5 * x)))], scalar=floats._sigmoid, array=_sigmoid_of_array,
    dtype="float", aliases="expit logistic", domain=[(-5, 5)], kernel="_sigmoid({0})",
    replaces="1/(1 + exp(-x)); exp(x)/(1 + exp(x))", doc="The logistic function 1/(1 + exp(-x)).", example=("sigmoid(0)", 0.5),
    formula="1/(1 + exp(-x))",
)  # fmt: skip
softplus = elementwise(
    "softplus", "x", [lambda y, x: sigmoid(x)], scalar=floats._softplus,
    array=lambda np, x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), dtype="float", accepts="bif", kernel="_softplus({0})",
    domain=[(-5, 5)], doc="log(1 + exp(x)), without overflow.", example=("softplus(1000)", 1000.0), formula="log1p(exp(x))",
)  # fmt: skip
log_sigmoid = elementwise(
    "log_sigmoid", "x", [lambda y, x: sigmoid(-x)], scalar=lambda x: -floats._softplus(-x),
    array=lambda np, x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), dtype="float", accepts="bif",
    aliases="log_expit logsigmoid", domain=[(-5, 5)], kernel="(-_softplus(-{0}))", doc="log(sigmoid(x)), without underflow.",
    example=("log_sigmoid(-1000)", -1000.0), formula="-log1p(exp(-x))",
)  # fmt: skip
bernoulli_variance = elementwise(
    "bernoulli_variance", "p", [lambda y, p: 1.0 - 2.0 * p], scalar=lambda p: p * (1.0 - p),
    array=lambda np, p: array_product(np, p, 1 - p), dtype="float", domain=[(0.1, 0.9)], kernel="({0} * (1.0 - {0}))",
    internal=True, doc="p*(1 - p), the variance of a Bernoulli variable; its derivative 1 - 2*p does not cancel.",
    example=("bernoulli_variance(0.5)", 0.25),
)  # fmt: skip


def _logit_scalar(p: float) -> float:
    # Around 1/2 the two logarithms cancel; 2*p - 1 is exact there.
    return 2.0 * math.atanh(2.0 * p - 1.0) if 0.25 <= p <= 0.75 else math.log(p) - math.log1p(-p)


def _logit(np: Any, p: Any) -> Any:
    middle = np.greater_equal(p, 0.25) & np.less_equal(p, 0.75)
    return np.where(middle, 2 * np.arctanh(np.where(middle, 2 * p - 1, 0)), np.log(p) - np.log1p(np.negative(p)))


logit = elementwise(
    "logit", "p", [lambda y, p: divide(1.0, bernoulli_variance(p))], scalar=_logit_scalar, array=_logit, dtype="float",
    accepts="bif", domain=[(0.1, 0.9)],
    kernel="(2.0 * math.atanh(2.0 * {0} - 1.0) if 0.25 <= {0} <= 0.75 else math.log({0}) - math.log1p(-{0}))",
    singular=[
        Singular(lambda p: (p == 0) | (p == 1), "logit has an infinite derivative at 0 and 1", **everywhere(INF)),
        Singular(lambda p: (p < 0) | (p > 1), "logit is not defined outside [0, 1]", adiff=NAN, subgradients="no value"),
    ],
    doc="The inverse of sigmoid: log(p/(1 - p)).", example=("logit(0.5)", 0.0), formula="log(p/(1 - p))",
)  # fmt: skip


def _equal_infinities(a: Any, b: Any) -> Any:
    return (a == b) & ((a == INF) | (a == -INF))


LOGADDEXP_SINGULAR = [
    Singular(
        _equal_infinities, "logaddexp of two equal infinities weighs them as it likes",
        adiff=lambda a, b: choose(a > 0.0, 0.5, 0.0), subgradients="[0, 1]", input=i,
    )
    for i in (0, 1)
]  # fmt: skip
logaddexp = elementwise(
    "logaddexp", "a, b", [lambda y, a, b: sigmoid(a - b), lambda y, a, b: sigmoid(b - a)], scalar=floats._logaddexp,
    array=lambda np, a, b: np.logaddexp(a, b), dtype="float", accepts="bif", kernel="_logaddexp({0}, {1})",
    domain=[(-5, 5), (-5, 5)], singular=LOGADDEXP_SINGULAR, doc="log(exp(a) + exp(b)), without overflow.",
    example=("logaddexp(1000, 0)", 1000.0), formula="log(exp(a) + exp(b))",
)  # fmt: skip
logaddexp2 = elementwise(
    "logaddexp2", "a, b", [lambda y, a, b: sigmoid((a - b) * LN2), lambda y, a, b: sigmoid((b - a) * LN2)],
    array=lambda np, a, b: np.logaddexp2(a, b), dtype="float", accepts="bif",
    domain=[(-5, 5), (-5, 5)], singular=LOGADDEXP_SINGULAR, doc="log2(2**a + 2**b), without overflow.",
    example=("logaddexp2(3, 3)", 4.0),
)  # fmt: skip


# --- products that are 0 where their first factor is ----------------------------------------------------------------


def _where_zero(np: Any, x: Any, y: Any, product: Any) -> Any:
    return np.where(np.equal(x, 0) & ~np.isnan(y), 0, product)


def _xlog_singular(edge: float, name: str) -> list[Singular]:
    return [
        Singular(
            lambda x, y: y == edge, f"the derivative of {name} by x is a logarithm of 0", adiff=-INF,
            tensorflow=lambda x, y: choose(equal(x, 0), 0.0, -INF), torch=lambda x, y: choose(equal(x, 0), 0.0, -INF),
            subgradients="{-inf}",
        ),
        Singular(
            lambda x, y: (x == 0) & (y == edge), f"{name} jumps at x = 0 where the logarithm is infinite",
            adiff=0.0, tensorflow=0.0, jax=NAN, torch=NAN, subgradients="{0}", input=1,
        ),
        Singular(
            lambda x, y: below(y, edge) & (x != 0), f"{name} is not defined here, and neither is its derivative",
            adiff=NAN, subgradients="no value", input=1,
        ),
    ]  # fmt: skip


xlogy = elementwise(
    "xlogy", "x, y", [lambda z, x, y: log(y), lambda z, x, y: divide(x, y)],
    scalar=lambda x, y: x * math.log(y) if x or y != y else 0.0,
    array=lambda np, x, y: _where_zero(np, x, y, array_product(np, x, np.log(y))), dtype="float",
    kernel="({0} * math.log({1}) if {0} != 0.0 or {1} != {1} else 0.0)", domain=[(-3, 3), (0.1, 5)],
    singular=_xlog_singular(0.0, "xlogy"), doc="x*log(y), and 0 where x is 0.", example=("xlogy(0, 0)", 0.0),
    formula="x*log(y)",
)  # fmt: skip
xlog1py = elementwise(
    "xlog1py", "x, y", [lambda z, x, y: log1p(y), lambda z, x, y: divide(x, 1.0 + y)],
    scalar=lambda x, y: x * math.log1p(y) if x or y != y else 0.0,
    array=lambda np, x, y: _where_zero(np, x, y, array_product(np, x, _log1p(np, y))), dtype="float",
    kernel="({0} * math.log1p({1}) if {0} != 0.0 or {1} != {1} else 0.0)", domain=[(-3, 3), (-0.9, 5)],
    singular=_xlog_singular(-1.0, "xlog1py"), doc="x*log1p(y), and 0 where x is 0.", example=("xlog1py(0, -1)", 0.0),
    formula="x*log1p(y)",
)  # fmt: skip
xdivy = elementwise(
    "xdivy", "x, y", [lambda z, x, y: divide(1.0, y), lambda z, x, y: -xdivy(z, y)],
    scalar=lambda x, y: x / y if x or y != y else 0.0, array=lambda np, x, y: _where_zero(np, x, y, np.divide(x, y)),
    dtype="float", domain=[(-3, 3), (0.5, 5)], kernel="({0} / {1} if {0} != 0.0 or {1} != {1} else 0.0)",
    singular=[
        Singular(
            lambda x, y: y == 0, "division by zero: the derivative is infinite or undefined",
            tensorflow=lambda x, y: choose(equal(x, 0), 0.0, divide(1.0, y)),
        ),
        Singular(lambda x, y: (y == 0) & (x != 0), "division by zero: the derivative is infinite or undefined", input=1),
    ],
    doc="x/y, and 0 where x is 0.", example=("xdivy(0, 0)", 0.0), formula="x/y",
)  # fmt: skip


def _unless_zero(b: Any, a: Any) -> Any:
    """a, and 0 where it is infinite or nan and b is 0."""
    return choose(equal(b, 0), choose(equal(a - a, 0), a, 0.0), a)


divide_no_nan = elementwise(
    "divide_no_nan", "a, b", [lambda y, a, b: divide_no_nan(1.0, b), lambda y, a, b: divide_no_nan(-y, b)],
    scalar=lambda a, b: a / b if b else 0.0, array=lambda np, a, b: np.where(np.equal(b, 0), 0, np.divide(a, b)), dtype="float",
    aliases="div_no_nan", domain=[(-10, 10), (0.5, 10)], kernel="({0} / {1} if {1} != 0.0 else 0.0)",
    singular=[
        Singular(lambda a, b: b == 0, "divide_no_nan is 0 by definition where b is 0", **everywhere(0.0), subgradients="{0}", input=i)
        for i in (0, 1)
    ],
    doc="a/b, and 0 where b is 0.", example=("divide_no_nan(3, 0)", 0.0),
)  # fmt: skip
multiply_no_nan = elementwise(
    "multiply_no_nan", "a, b", [lambda y, a, b: b, lambda y, a, b: _unless_zero(b, a)],
    # Of integers an integer, also where it is 0; a float's 0 has no sign.
    scalar=lambda a, b: a * b if b or float not in (a.__class__, b.__class__) else 0.0,
    array=lambda np, a, b: np.where(np.equal(b, 0), 0, array_product(np, a, b)), kernel="({0} * {1} if {1} != 0.0 else 0.0)",
    dtype="arithmetic", domain=[(-10, 10), (-10, 10)], doc="a*b, and 0 where b is 0 even if a is infinite or nan.",
    example=("multiply_no_nan(inf, 0)", 0.0),
)  # fmt: skip
# --- the length of a vector -----------------------------------------------------------------------------------------


direction = elementwise(
    "direction", "a, b",
    [lambda y, a, b: divide(square(direction(b, a)), hypot(a, b)), lambda y, a, b: divide(-(y * direction(b, a)), hypot(a, b))],
    scalar=lambda a, b: a / math.hypot(a, b), array=lambda np, a, b: np.divide(a, np.hypot(a, b)), dtype="float", accepts="bif",
    kernel="({0} / math.hypot({0}, {1}))", domain=[(-5, 5), (0.5, 5)], internal=True,
    doc="a/hypot(a, b): the cosine of the angle between (a, b) and the first axis; its derivative does not cancel.",
    example=("direction(3, 4)", 0.6),
)  # fmt: skip
hypot = elementwise(
    "hypot", "a, b", [lambda y, a, b: direction(a, b), lambda y, a, b: direction(b, a)], scalar=math.hypot,
    array=lambda np, a, b: np.hypot(a, b), dtype="float", accepts="bif", kernel="math.hypot({0}, {1})",
    domain=[(-5, 5), (0.5, 5)],
    singular=[
        Singular(
            lambda a, b: (a == 0) & (b == 0), "hypot is not differentiable at (0, 0)", adiff=0.0, tensorflow=NAN, jax=0.5,
            torch=NAN, subgradients="the unit disc", input=i,
        )
        for i in (0, 1)
    ],
    analytic=False, doc="sqrt(a**2 + b**2), without overflow and underflow.",
    example=("hypot(3, 4)", 5.0), formula="sqrt(a**2 + b**2)",
)  # fmt: skip


# --- formulas without their overflow or singular points (program/rewrite.py) ----------------------------------------


def _scaled_root(np: Any, a: Any, b: Any) -> Any:
    """sqrt(a**2 + b**2) without overflow or underflow on the way."""
    if is_complex(a) or is_complex(b):
        return np.sqrt(array_product(np, a, a) + array_product(np, b, b))
    return np.hypot(a, b)


ROOT_AT_ZERO = (
    "sqrt of a sum of squares is not differentiable at 0: the chain rule gives 0 * inf; hypot and norm choose 0"
)
root_of_squares = elementwise(
    "root_of_squares", "a, b", [lambda y, a, b: divide(a, y), lambda y, a, b: divide(b, y)],
    scalar=math.hypot, array=_scaled_root, dtype="float", kernel="math.hypot({0}, {1})", domain=[(0.5, 3), (-3, -0.5)],
    singular=[Singular(lambda a, b: (a == 0) & (b == 0), ROOT_AT_ZERO, input=i) for i in (0, 1)],
    internal=True, replaces="sqrt(a**2 + b**2)",
    doc="sqrt(a**2 + b**2) without overflow or underflow on the way; hypot(a, b) with the chain rule's derivative at 0.",
    example=("root_of_squares(3.0, 4.0)", 5.0),
)  # fmt: skip


def _keep_domain(np: Any, x: Any) -> Any:
    x = np.asarray(x)
    return x if x.dtype.kind == "c" else np.where(x >= 0, x, np.nan)


square_of_root = elementwise(
    "square_of_root", "x", [lambda y, x: 1.0 if is_complex(x) else 1.0 + 0.0 * y], scalar=lambda x: x if x >= 0 else math.nan,
    array=_keep_domain, dtype="float", domain=[(0.2, 4)], kernel="({0} if {0} >= 0.0 else math.nan)", internal=True,
    replaces="sqrt(x)**2; exp(log(x))", doc="sqrt(x)**2: x itself where the root is real, with the derivative 1 at 0 too.",
    example=("square_of_root(2.0)", 2.0),
)  # fmt: skip
inverse_of_inverse = elementwise(
    "inverse_of_inverse", "x", [1], scalar=lambda x: x, array=lambda np, x: np.asarray(x), dtype="float", domain=[(0.5, 4)],
    kernel="{0}", internal=True, replaces="1/(1/x); cbrt(x)**3", doc="1/(1/x): x itself, with the derivative 1 at 0 too.",
    example=("inverse_of_inverse(2.0)", 2.0),
)  # fmt: skip
