"""Stable forms: what the rewrites of program/rewrite.py put in the place of formulas that cancel or overflow.

Each is the same function as the formula it replaces, wherever that formula has a value; only the rounding differs.
"""

from __future__ import annotations

import math

from ..core.operands import as_operand, plain
from ..core.operation import Operation, Singular, composite, elementwise
from ..core.tensor import OPERATORS
from .activations import softmax
from .arithmetic import array_product, divide, everywhere, is_complex, multiply, power
from .exponential import exp, log, log_sigmoid, sigmoid, softplus, sqrt
from .linalg import det, slogdet
from .norms import norm
from .reductions import reduce_logsumexp as logsumexp
from .reductions import reduce_sum
from .special import lgamma, log_ndtr
from .structure import reshape
from .support import floating, is_symbol, leave_unless, shape_of
from .trigonometric import arccos, cosh, log_cosh, one_minus_square, sin, sin_quotient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# --- roots of sums of squares ---------------------------------------------------------------------------------------


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

# --- real functions in the place of compositions, which stay what they are for complex numbers -----------------------


def _real_form(stable: Callable[[Any], Any], plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def form(x: Any) -> Any:
        x = as_operand(x)
        return plain(x) if is_complex(x) else stable(x)

    return form


def _form(
    name: str, function: Any, replaces: str, doc: str, example: Any, signature: str = "x", domain: Any = None
) -> Operation:
    return composite(
        name, signature, function, domain=domain, internal=True, replaces=replaces, doc=doc, example=example
    )


log_of_sigmoid = _form(
    "log_of_sigmoid", _real_form(log_sigmoid, lambda x: log(sigmoid(x))), "log(sigmoid(x))", "log(sigmoid(x)) by log_sigmoid.",
    ("log_of_sigmoid(-1000.0)", -1000.0), domain=[(-5, 5)],
)  # fmt: skip
log_of_cosh = _form(
    "log_of_cosh", _real_form(log_cosh, lambda x: log(cosh(x))), "log(cosh(x))", "log(cosh(x)) by log_cosh.",
    ("log_of_cosh(0.0)", 0.0), domain=[(-5, 5)],
)  # fmt: skip
log_of_one_plus_exp = _form(
    "log_of_one_plus_exp", _real_form(softplus, lambda x: log(1.0 + exp(x))), "log(1 + exp(x))", "log(1 + exp(x)) by softplus.",
    ("log_of_one_plus_exp(1000.0)", 1000.0), domain=[(-5, 5)],
)  # fmt: skip


def _log_of_det(x: Any) -> Any:
    if is_symbol(x) or is_complex(as_operand(x)):  # a kernel is left where det is 0 or not finite
        return log(det(x))
    sign, size = slogdet(x)
    return OPERATORS.where(sign > 0, size, math.nan)


log_of_exp = _form(
    "log_of_exp", _real_form(lambda x: multiply(1.0, x), lambda x: log(exp(x))), "log(exp(x))", "log(exp(x)), which is x.",
    ("log_of_exp(1000.0)", 1000.0), domain=[(-5, 5)],
)  # fmt: skip
log_of_erfc = _form(
    "log_of_erfc", lambda x: log_ndtr(multiply(-math.sqrt(2.0), x)) + math.log(2.0), "log(erfc(x)); log(1 - erf(x))",
    "log(erfc(x)) without underflow.", ("log_of_erfc(0.0)", 0.0), domain=[(-3, 3)],
)  # fmt: skip
log_of_det = _form(
    "log_of_det", _log_of_det, "log(det(x))", "log(det(x)) without underflow or overflow.",
    ("log_of_det([[1e-200, 0.0], [0.0, 1e-200]])", -400 * math.log(10)),
)  # fmt: skip
log_of_sum_of_exp = _form(
    "log_of_sum_of_exp", _real_form(logsumexp, lambda x: log(reduce_sum(exp(x)))), "log(sum(exp(x)))",
    "log(sum(exp(x))) by logsumexp.", ("log_of_sum_of_exp([1000.0, -1000.0])", 1000.0),
)  # fmt: skip


def _normalised_exp(x: Any) -> Any:
    shape = shape_of(x)
    return reshape(softmax(reshape(x, shape=-1)), shape=shape) if shape else divide(exp(x), exp(x))


normalised_exp = _form(
    "normalised_exp", _real_form(_normalised_exp, lambda x: exp(x) / reduce_sum(exp(x))), "exp(x)/sum(exp(x))",
    "exp(x) / sum(exp(x)) without overflow.", ("normalised_exp([1000.0, 1000.0])", [0.5, 0.5]),
)  # fmt: skip


def _shares(a: Any, x: Any) -> Any:
    a, x = as_operand(a), as_operand(x)
    if is_complex(x):
        return exp(a) / reduce_sum(exp(x))
    top = OPERATORS.stop_gradient(OPERATORS.max(x))  # any number would do
    return exp(a - top) / reduce_sum(exp(x - top))


share_of_exp = _form(
    "share_of_exp", _shares, "exp(a)/sum(exp(x))", "exp(a) / sum(exp(x)) without overflow where a is about as large as x.",
    ("share_of_exp(1000.0, [1000.0, 1000.0])", 0.5), signature="a, x",
)  # fmt: skip
log_of_share = _form(
    "log_of_share", lambda a, x: a - log_of_sum_of_exp(x), "log(exp(a)/sum(exp(x)))",
    "log(exp(a) / sum(exp(x))) without overflow or underflow.", ("log_of_share(0.0, [1000.0, -1000.0])", -1000.0),
    signature="a, x",
)  # fmt: skip
share_of_two = _form(
    "share_of_two", lambda a, b: sigmoid(a - b), "exp(a)/(exp(a) + exp(b))", "exp(a) / (exp(a) + exp(b)) without overflow.",
    ("share_of_two(1000.0, 1000.0)", 0.5), signature="a, b", domain=[(-3, 3), (-3, 3)],
)  # fmt: skip


def _root_of_sum(x: Any) -> Any:
    value = plain(x)
    if is_symbol(value):  # a kernel, which is left at 0
        leave_unless(OPERATORS.any(OPERATORS.not_equal(x, 0.0)))
        return norm(x)
    if is_complex(x) or not (value.any() if hasattr(value, "any") else value):
        return sqrt(reduce_sum(power(x, 2)))  # at 0 the chain rule's nan, and the notice that names norm
    return norm(x)


root_of_sum_of_squares = _form(
    "root_of_sum_of_squares", lambda x: _root_of_sum(as_operand(x)), "sqrt(sum(x**2))",
    "sqrt(sum(x**2)) without overflow or underflow on the way.", ("root_of_sum_of_squares([3e200, 4e200])", 5e200),
)  # fmt: skip


def _square_of_norm(x: Any) -> Any:
    x = floating(x)
    return power(norm(x), 2) if is_complex(x) else reduce_sum(multiply(x, x))


square_of_norm = _form(
    "square_of_norm", _square_of_norm, "norm(x)**2", "norm(x)**2 as the sum of the squares, which is smooth at 0 too.",
    ("square_of_norm([3.0, 4.0])", 25.0),
)  # fmt: skip

# --- inverses of inverses, and roots that cancel ------------------------------------------------------------------------

inverse_of_inverse = elementwise(
    "inverse_of_inverse", "x", [1], scalar=lambda x: x, array=lambda np, x: np.asarray(x), dtype="float", domain=[(0.5, 4)],
    kernel="{0}", internal=True, replaces="1/(1/x); cbrt(x)**3", doc="1/(1/x): x itself, with the derivative 1 at 0 too.",
    example=("inverse_of_inverse(2.0)", 2.0),
)  # fmt: skip


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


def _difference_of_roots(x: Any, m: Any, n: Any) -> Any:
    first, second = sqrt(x + m), sqrt(x + n)
    return first - second if m == n else divide(m - n, first + second)


difference_of_roots = _form(
    "difference_of_roots", _difference_of_roots, "sqrt(x + m) - sqrt(x + n)",
    "sqrt(x + m) - sqrt(x + n) for numbers m and n, without cancellation.", ("difference_of_roots(9.0, m=7.0)", 1.0),
    signature="x | m=0, n=0",
)  # fmt: skip
difference_of_lgammas = _form(
    "difference_of_lgammas", lambda x, m, n: log(OPERATORS.abs(x + n)) if m - n == 1 else lgamma(x + m) - lgamma(x + n),
    "lgamma(x + m) - lgamma(x + n)",
    "lgamma(x + m) - lgamma(x + n) for numbers m and n, without cancellation for m = n + 1.",
    ("difference_of_lgammas(2.0, m=1)", math.log(2.0)), signature="x | m=0, n=0",
)  # fmt: skip

# --- cosines beside 1 ---------------------------------------------------------------------------------------------------

one_minus_cos = _form(
    "one_minus_cos", lambda x: multiply(2.0, power(sin(multiply(0.5, x)), 2)), "1 - cos(x)", "1 - cos(x) as 2 sin(x/2)**2.",
    ("one_minus_cos(0.0)", 0.0), domain=[(-3, 3)],
)  # fmt: skip
cos_quotient = _form(
    "cos_quotient", lambda x: multiply(0.5, power(sin_quotient(multiply(0.5, x)), 2)), "(1 - cos(x))/x**2",
    "(1 - cos(x))/x**2, 1/2 at 0.", ("cos_quotient(0.0)", 0.5), domain=[(-3, 3)],
)  # fmt: skip
