"""Special functions: error functions, gamma and beta functions and their incomplete forms, zeta, Bessel functions.

Where a derivative is not an expression in rows that users know, it is a row of its own (`gammainc_derivative`,
`erfcx_derivative`, ...) that is closed under differentiation, so that every order is right. Values come from `math`
for scalars where that is exact enough, from SciPy, or from `special_values` and
`special_derivatives`, which are imported when they are needed.
"""

from __future__ import annotations

import math

from ..core import limits
from ..core.errors import failure
from ..core.operation import Operation, Singular, elementwise
from . import sides, special_scalar
from .arithmetic import INF, NAN, add, choose, divide, everywhere, multiply
from .exponential import exp, log, log1p, square
from .support import cases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)
SQRT_HALF = math.sqrt(0.5)


def _scipy(name: str) -> Callable[..., Any]:
    """The array evaluation by SciPy's function of this name, which is imported at the first use."""

    def array(np: Any, *values: Any) -> Any:
        from scipy import special

        return getattr(special, name)(*values)

    array.library = "scipy"  # type: ignore[attr-defined]
    return array


def _own(name: str) -> Callable[..., Any]:
    """The array evaluation by our own function of this name in `special_values`."""

    def array(np: Any, *values: Any, **static: Any) -> Any:
        from . import special_values

        return getattr(special_values, name)(*values, **static)

    array.library = "scipy"  # type: ignore[attr-defined]
    return array


def _derivative(name: str) -> Callable[..., Any]:
    """The array evaluation by our own function of this name in `special_derivatives`."""

    def array(np: Any, *values: Any, **static: Any) -> Any:
        from . import special_derivatives

        return getattr(special_derivatives, name)(*values, **static)

    array.library = "scipy"  # type: ignore[attr-defined]
    return array


def _at_poles(name: str, where: Any, choice: Any = None) -> list[Singular]:
    return [Singular(where, f"{name} has a pole here", adiff=choice)]


def _at_nonpositive_integers(x: Any) -> Any:
    return (x <= 0) & (x == x // 1)


# --- the error function and the normal distribution -----------------------------------------------------------------


def bounded(x: Any) -> Any:
    """x for a product with what is 0 long before x comes near the largest float: 2*x must not be infinite there."""
    return choose(x < 1e300, choose(x > -1e300, x, 0.0), 0.0)


gaussian = elementwise(
    "gaussian", "x", [lambda y, x: -2.0 * (bounded(x) * y)],
    scalar=special_scalar.gaussian, array=_own("gaussian"), dtype="float", accepts="bif", domain=[(-3, 3)],
    kernel="gaussian({0}, 1.0)",
    internal=True, doc="exp(-x**2), exact to the last digit for large x too.", example=("gaussian(0)", 1.0),
    formula="exp(-x**2)",
)  # fmt: skip
normal_density = elementwise(
    "normal_density", "x", [lambda y, x: -(x * y)],
    scalar=special_scalar.normal_density, array=_own("normal_density"), dtype="float", accepts="bif",
    kernel="normal_density({0})",
    domain=[(-3, 3)], internal=True, doc="The density exp(-x**2/2)/sqrt(2*pi) of the normal distribution.",
    example=("normal_density(0)", 1 / math.sqrt(2 * math.pi)),
    formula="exp(-x**2/2)/sqrt(2*pi)",
)  # fmt: skip
erf = elementwise(
    "erf", "x", [lambda y, x: TWO_OVER_SQRT_PI * gaussian(x)],
    scalar=math.erf, array=_scipy("erf"), dtype="float", accepts="bif", domain=[(-3, 3)],
    kernel="math.erf({0})",
    doc="The error function; DLMF 7.2.1.", example=("erf(0)", 0.0),
)  # fmt: skip
erfc = elementwise(
    "erfc", "x", [lambda y, x: -TWO_OVER_SQRT_PI * gaussian(x)],
    scalar=math.erfc, array=_own("erfc"), dtype="float", accepts="bif", domain=[(-3, 3)],
    kernel="math.erfc({0})",
    doc="1 - erf(x), exact for large x; DLMF 7.2.2.", example=("erfc(0)", 1.0),
)  # fmt: skip
erfcx_derivative = elementwise(
    "erfcx_derivative", "x | order=1", [lambda y, x, order: erfcx_derivative(x, order=order + 1)],
    kernel="erfcx_derivative({0}, {order})",
    array=_derivative("erfcx_derivative"), dtype="float", accepts="bif", domain=[(-2, 5)],
    internal=True, doc="The derivative of erfcx of a given order.", example=("erfcx_derivative(0)", -TWO_OVER_SQRT_PI),
)  # fmt: skip
erfcx = elementwise(
    "erfcx", "x", [lambda y, x: erfcx_derivative(x, order=1)],
    kernel="erfcx({0})", array=_scipy("erfcx"), dtype="float", accepts="bif", domain=[(-2, 5)],
    doc="exp(x**2)*erfc(x), without underflow for large x.", example=("erfcx(0)", 1.0),
)  # fmt: skip


def _inside(bound: float) -> Any:
    return lambda x: (x == bound) | (x == -bound)


erfinv = elementwise(
    "erfinv", "x", [lambda y, x: (1.0 / TWO_OVER_SQRT_PI) * exp(square(y))],
    kernel="erfinv({0})", array=_own("erfinv"), dtype="float", accepts="bif", domain=[(-0.95, 0.95)],
    singular=[Singular(_inside(1.0), "erfinv has an infinite derivative at 1 and -1", **everywhere(INF))],
    doc="The inverse of erf.", example=("erfinv(0)", 0.0),
)  # fmt: skip
erfcinv = elementwise(
    "erfcinv", "x", [lambda y, x: (-1.0 / TWO_OVER_SQRT_PI) * exp(square(y))],
    kernel="erfcinv({0})", array=_own("erfcinv"), dtype="float", accepts="bif", domain=[(0.05, 1.95)],
    singular=[
        Singular(lambda x: (x == 0) | (x == 2), "erfcinv has an infinite derivative at 0 and 2", **everywhere(-INF))
    ],
    doc="The inverse of erfc.", example=("erfcinv(1)", 0.0),
)  # fmt: skip
ndtr = elementwise(
    "ndtr", "x", [lambda y, x: normal_density(x)],
    scalar=special_scalar.ndtr, array=_own("ndtr"), dtype="float", accepts="bif", domain=[(-5, 5)],
    kernel="ndtr({0})",
    doc="The distribution function of the normal distribution.", example=("ndtr(0)", 0.5),
)  # fmt: skip


def _log_ndtr_slope(y: Any, x: Any) -> Any:
    # density/ndtr; in the lower tail both underflow and their ratio is sqrt(2/pi)/erfcx(-x/sqrt(2)).
    low = choose(x < 0, x, 0.0)
    high = choose(x < 0, 0.0, x)
    tail = divide(math.sqrt(2.0 / math.pi), erfcx(-SQRT_HALF * low))
    return choose(x < 0, tail, divide(normal_density(high), ndtr(high)))


log_ndtr = elementwise(
    "log_ndtr", "x", [_log_ndtr_slope],
    kernel="log_ndtr({0})", array=_scipy("log_ndtr"), dtype="float", accepts="bif", domain=[(-5, 5)],
    replaces="log(ndtr(x))",
    doc="log(ndtr(x)), without underflow in the lower tail.", example=("log_ndtr(0)", -math.log(2)),
    formula="log(ndtr(x))",
)  # fmt: skip
ndtri = elementwise(
    "ndtri", "p", [lambda y, p: math.sqrt(2 * math.pi) * exp(0.5 * square(y))],
    kernel="ndtri({0})", array=_scipy("ndtri"), dtype="float", accepts="bif", domain=[(0.05, 0.95)],
    singular=[Singular(lambda p: (p == 0) | (p == 1), "ndtri has an infinite derivative at 0 and 1",
    **everywhere(INF))],
    doc="The inverse of ndtr: the quantile of the normal distribution.", example=("ndtri(0.5)", 0.0),
)  # fmt: skip
dawsn_derivative = elementwise(
    "dawsn_derivative", "x | order=1", [lambda y, x, order: dawsn_derivative(x, order=order + 1)],
    kernel="dawsn_derivative({0}, {order})",
    array=_derivative("dawsn_derivative"), dtype="float", accepts="bif", domain=[(-3, 3)],
    internal=True, doc="The derivative of dawsn of a given order.", example=("dawsn_derivative(0)", 1.0),
)  # fmt: skip
dawsn = elementwise(
    "dawsn", "x", [lambda y, x: dawsn_derivative(x, order=1)],
    kernel="dawsn({0})", array=_scipy("dawsn"), dtype="float", accepts="bif", aliases="dawson", domain=[(-3, 3)],
    doc="Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x; DLMF 7.2.5.",
    example=("dawsn(0)", 0.0),
)  # fmt: skip


# --- the gamma function ---------------------------------------------------------------------------------------------


lgamma = elementwise(
    "lgamma", "x", [lambda y, x: digamma(x)],
    scalar=special_scalar.log_gamma, array=_own("log_gamma"), dtype="float", accepts="bif", aliases="gammaln",
    kernel="log_gamma({0})",
    domain=[(0.2, 6)],
    singular=_at_poles("lgamma", _at_nonpositive_integers, NAN),
    distance=sides.from_pole, doc="log(abs(gamma(x))).", example=("lgamma(1)", 0.0),
)  # fmt: skip
digamma = elementwise(
    "digamma", "x", [lambda y, x: polygamma(1, x)],
    scalar=special_scalar.digamma, array=_own("digamma"), dtype="float", accepts="bif", aliases="psi",
    kernel="digamma({0})",
    domain=[(0.2, 6)],
    singular=_at_poles("digamma", _at_nonpositive_integers, NAN),
    distance=sides.from_pole, doc="The derivative of lgamma; DLMF 5.2.2.", example=("digamma(1)", -0.5772156649015329),
)  # fmt: skip
polygamma = elementwise(
    "polygamma", "n, x", [None, lambda y, n, x: polygamma(n + 1, x)],
    scalar=special_scalar.polygamma, array=_own("polygamma"), dtype="float", accepts="bif",
    kernel="real_polygamma({0}, {1})",
    domain=[None, (0.2, 6)],
    singular=[Singular(lambda n, x: _at_nonpositive_integers(x), "polygamma has a pole here", adiff=NAN, input=1)],
    doc="The n-th derivative of digamma; DLMF 5.15.", example=("polygamma(1, 1)", math.pi**2 / 6),
)  # fmt: skip
polygamma_difference = elementwise(
    "polygamma_difference", "x, h | order=0",
    [
        lambda y, x, h, order: polygamma_difference(x, h, order=order + 1),
        lambda y, x, h, order: polygamma(order + 1, x + h),
    ],
    scalar=lambda x, h,
    order: special_scalar.digamma_difference(x, h) if order == 0 and x > 0.0 and x + h > 0.0 else _to_array(),
    kernel="real_polygamma_difference({0}, {1}, {order})",
    array=_own("polygamma_difference"), dtype="float", accepts="bif", domain=[(0.2, 6), (0.1, 3)],
    internal=True, doc="polygamma(order, x + h) - polygamma(order, x), without cancellation for small h or large x.",
    example=("polygamma_difference(1.0, 1.0)", 1.0),
    formula="digamma(x + h) - digamma(x) if order == 0 else polygamma(order, x + h) - polygamma(order, x)",
)  # fmt: skip


def _to_array() -> float:
    raise ValueError("left to the array evaluation")


gamma = elementwise(
    "gamma", "x", [lambda y, x: y * digamma(x)],
    scalar=math.gamma, array=_scipy("gamma"), dtype="float", accepts="bif", domain=[(0.2, 6)],
    kernel="math.gamma({0})",
    singular=_at_poles("gamma", _at_nonpositive_integers, NAN),
    distance=sides.from_pole, doc="The gamma function: gamma(n) is the factorial of n - 1.", example=("gamma(5)", 24.0),
)  # fmt: skip


def _factorial_scalar(x: Any) -> Any:
    if x.__class__ is float:
        return math.gamma(x + 1.0)
    if x < 0:
        raise failure("E0401", "factorial of a negative integer is not defined")
    if x > 3 and x * (math.log2(x) - 1.4427) > limits.MAX_INTEGER_BITS:
        raise failure("E0604", "this factorial has too many digits", "compute its logarithm: lgamma(x + 1)")
    return math.factorial(x)


def _factorial(np: Any, x: Any) -> Any:
    from scipy import special

    if np.asarray(x).dtype.kind in "iu":
        return special.factorial(x, exact=True)
    return special.gamma(x + 1)


factorial = elementwise(
    "factorial", "x", [lambda y, x: y * digamma(x + 1.0)],
    kernel="math.gamma({0} + 1.0)", scalar=_factorial_scalar, array=_factorial, library="scipy",
    dtype="arithmetic", accepts="bif", domain=[(0.2, 6)],
    singular=_at_poles("factorial", lambda x: _at_nonpositive_integers(x + 1), NAN),
    doc="n! for integers; gamma(x + 1) for floats.", example=("factorial(5)", 120),
)  # fmt: skip


def _comb_scalar(n: Any, k: Any) -> Any:
    if n.__class__ is float or k.__class__ is float:
        return special_scalar.binomial(float(n), float(k))
    if n < 0 or k < 0:
        return _to_array() if n < 0 else 0
    if min(k, n - k) * 2 * max(n.bit_length(), 1) > limits.MAX_INTEGER_BITS:
        raise failure("E0604", "this binomial coefficient has too many digits", "compute it with floats")
    return math.comb(n, k)


def _comb(np: Any, n: Any, k: Any) -> Any:
    from . import special_values

    found = special_values.binomial(n, k)
    return np.rint(found).astype(np.asarray(n).dtype) if np.asarray(n).dtype.kind in "iu" else found


comb = elementwise(
    "comb", "n, k",
    [
        lambda y, n, k: y * polygamma_difference(n - k + 1.0, k, order=0),
        lambda y, n, k: y * polygamma_difference(k + 1.0, n - 2 * k, order=0),
    ],
    kernel="binomial({0}, {1})",
    scalar=_comb_scalar, array=_comb, library="scipy", dtype="arithmetic", accepts="bif", aliases="binom", domain=[(5, 8), (1, 4)],
    doc="The number of ways to choose k of n: n!/(k!*(n - k)!).", example=("comb(5, 2)", 10),
)  # fmt: skip


# --- the beta function ----------------------------------------------------------------------------------------------


def _beta_slope(a: Any, b: Any) -> Any:
    """d/da log(beta(a, b)) = digamma(a) - digamma(a + b); DLMF 5.12.1."""
    return -polygamma_difference(a, b, order=0)


beta = elementwise(
    "beta", "a, b", [lambda y, a, b: y * _beta_slope(a, b), lambda y, a, b: y * _beta_slope(b, a)],
    kernel="beta({0}, {1})", scalar=special_scalar.beta, array=_own("beta"), dtype="float", accepts="bif", domain=[(0.3, 4), (0.3, 4)],
    doc="The beta function gamma(a)*gamma(b)/gamma(a + b).", example=("beta(2, 3)", 1 / 12),
)  # fmt: skip
betaln = elementwise(
    "betaln", "a, b", [lambda y, a, b: _beta_slope(a, b), lambda y, a, b: _beta_slope(b, a)],
    kernel="betaln({0}, {1})",
    scalar=special_scalar.betaln, array=_own("betaln"), dtype="float", accepts="bif", domain=[(0.3, 4), (0.3, 4)],
    doc="log(abs(beta(a, b))).", example=("betaln(2, 3)", -math.log(12)),
)  # fmt: skip


# --- incomplete gamma -----------------------------------------------------------------------------------------------

gamma_density = elementwise(
    "gamma_density", "a, x",
    [
        lambda y, a, x: y * (log(x) - digamma(a)),
        lambda y, a, x: y * (divide(a - 1.0, x) - 1.0),
    ],
    kernel="gamma_density({0}, {1})",
    array=_own("gamma_density"), dtype="float", accepts="bif", domain=[(0.3, 6), (0.2, 8)],
    internal=True, doc="x**(a - 1)*exp(-x)/gamma(a), the density of the gamma distribution.", example=("gamma_density(1.0, 0.0)", 1.0),
    formula="x**(a - 1)*exp(-x)/gamma(a)",
)  # fmt: skip


def _gamma_bell(a: Any, x: Any, order: int) -> Any:
    """The derivative of gamma_density by a, of an order from 1 on, divided by it: a complete Bell polynomial."""
    cumulants = [log(x) - digamma(a)] + [-polygamma(k, a) for k in range(1, order)]
    return _bell([[cumulants[k - 1] if k else 0.0] for k in range(order + 1)], order, 0)


def _bell(kappas: list[list[Any]], i: int, j: int) -> Any:
    """The derivative of exp(f) of orders i and j, divided by exp(f), from the derivatives `kappas` of f."""
    if i == j == 0:
        return 1.0
    total: Any = 0.0
    outer = range(i) if i else range(1)
    inner = range(j + 1) if i else range(j)
    for p in outer:
        for q in inner:
            count = math.comb(i - 1, p) * math.comb(j, q) if i else math.comb(j - 1, q)
            total = add(total, count * multiply(_bell(kappas, p, q), kappas[i - p][j - q]))
    return total


gammainc_derivative = elementwise(
    "gammainc_derivative", "a, x | order=1",
    [
        lambda y, a, x, order: gammainc_derivative(a, x, order=order + 1),
        lambda y, a, x, order: gamma_density(a, x) * _gamma_bell(a, x, order),
    ],
    kernel="gammainc_derivative({0}, {1}, {order})",
    array=_derivative("gammainc_derivative"), dtype="float", accepts="bif", domain=[(0.3, 6), (0.2, 8)],
    internal=True, doc="The derivative of gammainc by a, of a given order.", example=("gammainc_derivative(2.5, 0.0)", 0.0),
)  # fmt: skip
gammainc = elementwise(
    "gammainc", "a, x", [lambda y, a, x: gammainc_derivative(a, x, order=1), lambda y, a, x: gamma_density(a, x)],
    kernel="scipy_gammainc({0}, {1})",
    array=_scipy("gammainc"), dtype="float", accepts="bif", aliases="igamma", domain=[(0.3, 6), (0.2, 8)],
    doc="The regularised lower incomplete gamma function P(a, x); DLMF 8.2.4.", example=("gammainc(1, 0)", 0.0),
)  # fmt: skip
gammaincc = elementwise(
    "gammaincc", "a, x", [lambda y, a, x: -gammainc_derivative(a, x, order=1), lambda y, a, x: -gamma_density(a, x)],
    kernel="scipy_gammaincc({0}, {1})",
    array=_scipy("gammaincc"), dtype="float", accepts="bif", aliases="igammac", domain=[(0.3, 6), (0.2, 8)],
    doc="The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x).", example=("gammaincc(1, 0)", 1.0),
)  # fmt: skip


# --- incomplete beta ------------------------------------------------------------------------------------------------

beta_density = elementwise(
    "beta_density", "a, b, x",
    [
        lambda y, a, b, x: y * (log(x) + polygamma_difference(a, b, order=0)),
        lambda y, a, b, x: y * (log1p(-x) + polygamma_difference(b, a, order=0)),
        lambda y, a, b, x: y * (divide(a - 1.0, x) - divide(b - 1.0, 1.0 - x)),
    ],
    kernel="beta_density({0}, {1}, {2})",
    array=_own("beta_density"), dtype="float", accepts="bif", domain=[(0.3, 4), (0.3, 4), (0.1, 0.9)],
    internal=True, doc="x**(a - 1)*(1 - x)**(b - 1)/beta(a, b), the density of the beta distribution.",
    example=("beta_density(1.0, 1.0, 0.5)", 1.0),
    formula="x**(a - 1)*(1 - x)**(b - 1)/beta(a, b)",
)  # fmt: skip


def _beta_bell(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Any:
    """The derivative of beta_density by a and b, divided by it."""
    kappas: list[list[Any]] = []
    for i in range(order_a + 1):
        row: list[Any] = []
        for j in range(order_b + 1):
            k = i + j
            if k == 0:
                row.append(0.0)
            elif j == 0:
                shift = polygamma_difference(a, b, order=k - 1)
                row.append(log(x) + shift if k == 1 else shift)
            elif i == 0:
                shift = polygamma_difference(b, a, order=k - 1)
                row.append(log1p(-x) + shift if k == 1 else shift)
            else:
                row.append(polygamma(k - 1, a + b))
        kappas.append(row)
    return _bell(kappas, order_a, order_b)


def _beta_again(order_a: int, order_b: int, a: Any, b: Any, x: Any) -> Any:
    return betainc_derivative(a, b, x, order_a=order_a, order_b=order_b)


betainc_derivative = elementwise(
    "betainc_derivative", "a, b, x | order_a=1, order_b=0",
    [
        lambda y, a, b, x, order_a, order_b: _beta_again(order_a + 1, order_b, a, b, x),
        lambda y, a, b, x, order_a, order_b: _beta_again(order_a, order_b + 1, a, b, x),
        lambda y, a, b, x, order_a, order_b: beta_density(a, b, x) * _beta_bell(a, b, x, order_a, order_b),
    ],
    kernel="betainc_derivative({0}, {1}, {2}, {order_a}, {order_b})",
    array=_derivative("betainc_derivative"), dtype="float", accepts="bif", domain=[(0.3, 4), (0.3, 4), (0.1, 0.9)],
    internal=True, doc="The derivative of betainc by a and b, of given orders.", example=("betainc_derivative(2.0, 3.0, 1.0)", 0.0),
)  # fmt: skip
betainc = elementwise(
    "betainc", "a, b, x",
    [
        lambda y, a, b, x: _beta_again(1, 0, a, b, x),
        lambda y, a, b, x: _beta_again(0, 1, a, b, x),
        lambda y, a, b, x: beta_density(a, b, x),
    ],
    kernel="scipy_betainc({0}, {1}, {2})",
    array=_scipy("betainc"), dtype="float", accepts="bif", domain=[(0.3, 4), (0.3, 4), (0.1, 0.9)],
    doc="The regularised incomplete beta function I_x(a, b); DLMF 8.17.2.", example=("betainc(1, 1, 0.25)", 0.25),
)  # fmt: skip


# --- zeta -----------------------------------------------------------------------------------------------------------

zeta_derivative = elementwise(
    "zeta_derivative", "s, q | order=1",
    [
        lambda y, s, q, order: zeta_derivative(s, q, order=order + 1),
        lambda y, s, q, order: -(s * _zeta_of_order(s + 1.0, q, order) + order * _zeta_of_order(s + 1.0, q, order - 1)),
    ],
    kernel="zeta_derivative({0}, {1}, {order})",
    array=_derivative("zeta_derivative"), dtype="float", accepts="bif", domain=[(1.5, 6), (0.5, 4)],
    internal=True, doc="The derivative of the Hurwitz zeta function by its exponent, of a given order.",
    example=("zeta_derivative(2.0, 1.0)", -0.9375482543158438),
)  # fmt: skip


def _zeta_of_order(s: Any, q: Any, order: int) -> Any:
    return zeta(s, q) if order == 0 else zeta_derivative(s, q, order=order)


zeta = elementwise(
    "zeta", "s, q=1.0", [lambda y, s, q: zeta_derivative(s, q, order=1), lambda y, s, q: -(s * zeta(s + 1.0, q))],
    kernel="zeta({0}, {1})", array=_scipy("zeta"), dtype="float", accepts="bif", domain=[(1.5, 6), (0.5, 4)],
    singular=[Singular(lambda s, q: s == 1, "zeta has a pole at 1")],
    doc="The Hurwitz zeta function, the sum of (q + k)**-s; Riemann's for q = 1.", example=("zeta(2)", math.pi**2 / 6),
)  # fmt: skip


# --- entropies ------------------------------------------------------------------------------------------------------


def _entropy_scalar(x: float) -> float:
    return -x * math.log(x) if x else 0.0


entr = elementwise(
    "entr", "x", [lambda y, x: -1.0 - log(x)],
    scalar=_entropy_scalar, array=_scipy("entr"), dtype="float", accepts="bif", domain=[(0.1, 3)],
    singular=[
        Singular(lambda x: x == 0, "entr has an infinite derivative at 0", **everywhere(INF)),
        Singular(lambda x: x < 0, "entr is -inf below 0", **everywhere(NAN), subgradients="no value"),
    ],
    doc="The entropy -x*log(x), 0 at 0 and -inf below.", example=("entr(1)", 0.0),
    formula="-x*log(x)",
)  # fmt: skip
rel_entr = elementwise(
    "rel_entr", "x, y", [lambda z, x, y: 1.0 + log(divide(x, y)), lambda z, x, y: -divide(x, y)],
    array=_scipy("rel_entr"), dtype="float", accepts="bif", domain=[(0.1, 3), (0.1, 3)],
    singular=[Singular(lambda x, y: x == 0, "rel_entr has an infinite derivative at x = 0", **everywhere(-INF))],
    doc="x*log(x/y), 0 for x = 0: the terms of the relative entropy.", example=("rel_entr(1, 1)", 0.0),
)  # fmt: skip
kl_div = elementwise(
    "kl_div", "x, y", [lambda z, x, y: log(divide(x, y)), lambda z, x, y: divide(y - x, y)],
    kernel="kl_divergence({0}, {1})", array=_own("kl_div"), dtype="float", accepts="bif", domain=[(0.1, 3), (0.1, 3)],
    singular=[Singular(lambda x, y: x == 0, "kl_div has an infinite derivative at x = 0", **everywhere(-INF))],
    doc="x*log(x/y) - x + y, y for x = 0.", example=("kl_div(1, 1)", 0.0),
)  # fmt: skip


# --- integrals ------------------------------------------------------------------------------------------------------

expi = elementwise(
    "expi", "x", [lambda y, x: divide(exp(x), x)],
    kernel="expi({0})",
    array=_own("expi"), dtype="float", accepts="bif", domain=[(0.2, 4)], singular=_at_poles("expi", lambda x: x == 0),
    doc="The exponential integral Ei(x); DLMF 6.2.5.", example=("expi(-inf)", 0.0), aliases="expint",
)  # fmt: skip
exp1 = elementwise(
    "exp1", "x", [lambda y, x: -divide(exp(-x), x)],
    kernel="exp1({0})",
    array=_scipy("exp1"), dtype="float", accepts="bif", domain=[(0.2, 4)], singular=_at_poles("exp1", lambda x: x == 0),
    doc="The exponential integral E1(x); DLMF 6.2.1.", example=("exp1(inf)", 0.0),
)  # fmt: skip


def _fresnel(index: int) -> Callable[..., Any]:
    def array(np: Any, x: Any) -> Any:
        from scipy import special

        return np.copysign(special.fresnel(x)[index], x)  # both are odd

    return array


def _fresnel_slope(name: str) -> Callable[..., Any]:
    def slope(y: Any, x: Any) -> Any:
        from . import trigonometric

        return getattr(trigonometric, name)((0.5 * math.pi) * square(x))

    return slope


fresnel_sin = elementwise(
    "fresnel_sin", "x", [_fresnel_slope("sin")],
    kernel="fresnel_sin({0})", array=_fresnel(0), library="scipy", dtype="float", accepts="bif", domain=[(-2, 2)],
    doc="Fresnel's integral of sin(pi*t**2/2) from 0 to x; DLMF 7.2.8.", example=("fresnel_sin(0)", 0.0),
)  # fmt: skip
fresnel_cos = elementwise(
    "fresnel_cos", "x", [_fresnel_slope("cos")],
    kernel="fresnel_cos({0})", array=_fresnel(1), library="scipy", dtype="float", accepts="bif", domain=[(-2, 2)],
    doc="Fresnel's integral of cos(pi*t**2/2) from 0 to x; DLMF 7.2.7.", example=("fresnel_cos(0)", 0.0),
)  # fmt: skip


# --- Bessel functions -----------------------------------------------------------------------------------------------

NO_ORDER_DERIVATIVE = "the derivative of {} by its order is not available"


def _by_order(name: str) -> Callable[..., Any]:
    def refuse(y: Any, n: Any, x: Any) -> Any:
        raise failure("E0502", NO_ORDER_DERIVATIVE.format(name), "keep the order constant")

    return refuse


def _bessel_family(
    name: str, title: str, dlmf: str, sign: float, domain: tuple[float, float], aliases: str
) -> Operation:
    """A Bessel function of any real order, with d/dx = (previous + sign*next)/2 (DLMF 10.6.1 and 10.29.1)."""

    def slope(y: Any, n: Any, x: Any) -> Any:
        return (
            0.5 * (row(n - 1.0, x) + sign * row(n + 1.0, x))
            if name != "kv"
            else -0.5 * (row(n - 1.0, x) + row(n + 1.0, x))
        )

    row = elementwise(
        name, "n, x", [_by_order(name), slope], array=_scipy(name), dtype="float", accepts="bif",
        kernel=f"scipy_{name}({{0}}, {{1}})",
        aliases=aliases, domain=[None, domain], doc=f"{title} of order n; DLMF {dlmf}.", example=_BESSEL_EXAMPLES[name],
    )  # fmt: skip
    return row


_BESSEL_EXAMPLES = {
    "jv": ("jv(0, 0.0)", 1.0),
    "yv": ("yv(0, 1.0)", 0.08825696421567698),
    "iv": ("iv(0, 0.0)", 1.0),
    "kv": ("kv(0, inf)", 0.0),
}
jv = _bessel_family("jv", "The Bessel function of the first kind", "10.2.2", -1.0, (0.5, 8), "jn bessel_jn")
yv = _bessel_family("yv", "The Bessel function of the second kind", "10.2.3", -1.0, (0.5, 8), "yn")
iv = _bessel_family("iv", "The modified Bessel function of the first kind", "10.25.2", 1.0, (0.5, 5), "")
kv = _bessel_family("kv", "The modified Bessel function of the second kind", "10.25.3", 1.0, (0.5, 5), "kn")


def _bessel(name: str, slope: Any, doc: str, example: tuple[str, float], positive: bool = False) -> Operation:
    """A Bessel function of order 0 or 1, under the names of SciPy and TensorFlow."""
    singular = [Singular(lambda x: x == 0, f"{name} has a pole at 0", **everywhere(-INF))] if positive else []
    return elementwise(
        name, "x", [slope], array=_scipy(name), dtype="float", accepts="bif", aliases=f"bessel_{name}",
        kernel=f"scipy_{name}({{0}})",
        domain=[(0.5, 5) if positive else (-5, 5)], singular=singular, doc=doc, example=example,
    )  # fmt: skip


j0 = _bessel("j0", lambda y, x: -j1(x), "The Bessel function of the first kind of order 0.", ("j0(0)", 1.0))
j1 = _bessel(
    "j1", lambda y, x: 0.5 * (j0(x) - jv(2, x)), "The Bessel function of the first kind of order 1.", ("j1(0)", 0.0)
)
y0 = _bessel(
    "y0",
    lambda y, x: -y1(x),
    "The Bessel function of the second kind of order 0.",
    ("y0(1)", 0.08825696421567698),
    True,
)
y1 = _bessel(
    "y1",
    lambda y, x: 0.5 * (y0(x) - yv(2, x)),
    "The Bessel function of the second kind of order 1.",
    ("y1(1)", -0.7812128213002887),
    True,
)
i0 = _bessel("i0", lambda y, x: i1(x), "The modified Bessel function of the first kind of order 0.", ("i0(0)", 1.0))
i1 = _bessel(
    "i1",
    lambda y, x: 0.5 * (i0(x) + iv(2, x)),
    "The modified Bessel function of the first kind of order 1.",
    ("i1(0)", 0.0),
)
k0 = _bessel(
    "k0", lambda y, x: -k1(x), "The modified Bessel function of the second kind of order 0.", ("k0(inf)", 0.0), True
)
k1 = _bessel(
    "k1", lambda y, x: -0.5 * (k0(x) + kv(2, x)), "The modified Bessel function of the second kind of order 1.",
    ("k1(inf)", 0.0), True,
)  # fmt: skip
scaled_bessel_derivative = elementwise(
    "scaled_bessel_derivative", "x | n, order",
    [lambda y, x, n, order: scaled_bessel_derivative(x, n=n, order=order + 1)],
    kernel="scaled_bessel_derivative({0}, {n}, {order})",
    array=_derivative("scaled_bessel_derivative"), dtype="float", accepts="bif",
    domain=cases((([0.5, 2.0, 5.0],), {"n": 1, "order": 1}), (([0.5, 2.0, 5.0],), {"n": 0, "order": 1})),
    internal=True, doc="The derivative of exp(-abs(x))*iv(n, x) for n = 0 or 1, of a given order.",
    example=("scaled_bessel_derivative(1e300, 1, 1)", 0.0),
)  # fmt: skip
i0e = elementwise(
    "i0e", "x", [lambda y, x: scaled_bessel_derivative(x, n=0, order=1)],
    kernel="scipy_i0e({0})",
    array=_scipy("i0e"), dtype="float", accepts="bif", aliases="bessel_i0e", domain=[(0.5, 5)],
    singular=[
        Singular(lambda x: x == 0, "i0e is not differentiable at 0", **everywhere(0.0), subgradients="[-1, 1]")
    ],
    side=sides.of_zero, doc="exp(-abs(x))*i0(x), without overflow.", example=("i0e(0)", 1.0),
)  # fmt: skip
i1e = elementwise(
    "i1e", "x", [lambda y, x: scaled_bessel_derivative(x, n=1, order=1)],
    kernel="scipy_i1e({0})",
    array=_scipy("i1e"), dtype="float", accepts="bif", aliases="bessel_i1e", domain=[(0.5, 5)],
    doc="exp(-abs(x))*i1(x), without overflow.", example=("i1e(0)", 0.0),
)  # fmt: skip


def _scaled_k(name: str, slope: Any, order: int) -> Operation:
    return elementwise(
        name, "x", [slope], array=_scipy(name), dtype="float", accepts="bif", aliases=f"bessel_{name}",
        kernel=f"scipy_{name}({{0}})", domain=[(0.5, 5)],
        doc=f"exp(x)*k{order}(x), without underflow.", example=(f"{name}(inf)", 0.0),
    )  # fmt: skip


k0e = _scaled_k("k0e", lambda y, x: y - k1e(x), 0)
k1e = _scaled_k("k1e", lambda y, x: y - k0e(x) - divide(y, x), 1)
