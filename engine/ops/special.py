"""Special functions: error functions, gamma and beta functions, entropies, integrals; also incomplete.py and bessel.py.

Values are SciPy's. Derivatives that are no expression in rows that users know (`gammainc_derivative`, ...) are rows of
their own, and functions of floats in special_values.py and special_parameters.py. Both are imported when they are needed.
"""

from __future__ import annotations

import math

from ..core import limits
from ..core.errors import failure
from .arithmetic import INF, NAN, choose, divide, everywhere
from .exponential import exp, log, square
from .operation import Operation, Singular, elementwise
from .support import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)
SQRT_HALF = math.sqrt(0.5)


def by_scipy(name: str) -> Callable[..., Any]:
    """The array evaluation by SciPy's function of this name."""

    def array(np: Any, *values: Any) -> Any:
        from scipy import special

        return getattr(special, name)(*values)

    array.library = "scipy"  # type: ignore[attr-defined]
    return array


def _own(name: str) -> Callable[..., Any]:
    """The array evaluation by our own function of floats of this name."""

    def array(np: Any, *values: Any, **static: Any) -> Any:
        from .pointwise import map_floats

        return map_floats(name, *values, **{key: whole(name, key, x, 0) for key, x in static.items()})

    array.library = "scipy"  # type: ignore[attr-defined]
    return array


def _number_by(name: str) -> Callable[..., Any]:
    """The evaluation of numbers by it."""

    def scalar(*values: Any, **static: Any) -> Any:
        from .kernel_functions import helper

        return helper(name)(*values, **static)

    return scalar


def special_row(
    name: str, signature: str, partials: Sequence[Any], doc: str, example: Any, own: str = "", **facts: Any
) -> Operation:
    """A row of floats that is SciPy's function of its name, or our `own` one of floats."""
    inputs, _, statics = signature.partition("|")
    places = [f"{{{i}}}" for i in range(inputs.count(",") + 1)]
    places += [f"{{{item.partition('=')[0].strip()}}}" for item in statics.split(",") if item]
    values = {"array": _own(own), "scalar": _number_by(own)} if own else {"array": by_scipy(name)}
    kernel = f"{own or 'scipy_' + name}({', '.join(places)})"
    facts = {"kernel": kernel, **values, "dtype": "float", "accepts": "bif", "doc": doc, "example": example, **facts}
    return elementwise(name, signature, partials, **facts)


def pole(message: str, where: Any, choice: Any = None, **more: Any) -> list[Singular]:
    return [Singular(where, message, **everywhere(choice), **more)]


def _at_nonpositive_integers(x: Any) -> Any:
    return (x <= 0) & (x == x // 1)


def _gamma_poles(name: str) -> dict[str, Any]:
    return {
        "singular": [Singular(_at_nonpositive_integers, f"{name} has a pole here", adiff=NAN)],
        "domain": [(0.2, 6)],
    }


# --- the error function and the normal distribution -----------------------------------------------------------------


def normal_density(x: Any) -> Any:
    return (1.0 / math.sqrt(math.tau)) * exp(divide(square(x), -2.0))


# Where a differential equation cancels, the asymptotic series stands in its place, and not in what `derive` writes.
near_or_far = elementwise(
    "near_or_far", "x, near, far",
    [0.0, lambda y, x, near, far: choose(x > 10.0, 0.0, 1.0), lambda y, x, near, far: choose(x > 10.0, 1.0, 0.0)],
    scalar=lambda x, near, far: far if x > 10.0 else near, array=lambda np, x, near, far: np.where(x > 10.0, far, near),
    dtype="float", accepts="bif", kernel="({2} if {0} > 10.0 else {1})", domain=[(1, 9), (-3, 3), (-3, 3)], internal=True,
    doc="far where x > 10, else near.", example=("near_or_far(11, 1, 2)", 2.0), formula="near",
)  # fmt: skip
# (2*k - 1)!! for k = 1..15.
DOUBLE_FACTORIALS = [float(math.prod(range(1, 2 * k, 2))) for k in range(1, 16)]


def _far_slope(size: Any, x: Any, sign: float) -> Any:
    """The derivative of Dawson's integral for the sign 1, of -sqrt(pi)/2*erfcx for -1, for x of a size beyond 10: DLMF 7.12.1."""
    t = divide(sign * 0.5, square(near_or_far(size, 10.0, x)))
    total: Any = 0.0
    for factor in reversed(DOUBLE_FACTORIALS):
        total = t * (factor + total)
    return -sign * total


erf = special_row(
    "erf", "x", [lambda y, x: TWO_OVER_SQRT_PI * exp(-square(x))], "The error function; DLMF 7.2.1.", ("erf(0)", 0.0),
    scalar=math.erf, kernel="math.erf({0})", domain=[(-3, 3)],
)  # fmt: skip
erfc = special_row(
    "erfc", "x", [lambda y, x: -TWO_OVER_SQRT_PI * exp(-square(x))], "1 - erf(x), exact for large x; DLMF 7.2.2.",
    ("erfc(0)", 1.0), scalar=math.erfc, kernel="math.erfc({0})", domain=[(-3, 3)],
)  # fmt: skip


def _erfcx_slope(y: Any, x: Any) -> Any:
    near = 2.0 * (near_or_far(x, x, 0.0) * y) - TWO_OVER_SQRT_PI
    return near_or_far(x, near, TWO_OVER_SQRT_PI * _far_slope(x, x, -1.0))


erfcx = special_row(
    "erfcx", "x", [_erfcx_slope], "exp(x**2)*erfc(x), without underflow for large x.",
    ("erfcx(0)", 1.0), domain=[(-2, 5)],
)  # fmt: skip
erfinv = special_row(
    "erfinv", "x", [lambda y, x: (1.0 / TWO_OVER_SQRT_PI) * exp(square(y))], "The inverse of erf.", ("erfinv(0)", 0.0),
    domain=[(-0.95, 0.95)],
    singular=pole("erfinv has an infinite derivative at 1 and -1", lambda x: (x == 1) | (x == -1), INF),
)  # fmt: skip
erfcinv = special_row(
    "erfcinv", "x", [lambda y, x: (-1.0 / TWO_OVER_SQRT_PI) * exp(square(y))], "The inverse of erfc.", ("erfcinv(1)", 0.0),
    domain=[(0.05, 1.95)],
    singular=pole("erfcinv has an infinite derivative at 0 and 2", lambda x: (x == 0) | (x == 2), -INF),
)  # fmt: skip
ndtr = special_row(
    "ndtr", "x", [lambda y, x: normal_density(x)], "The distribution function of the normal distribution.", ("ndtr(0)", 0.5),
    domain=[(-5, 5)],
)  # fmt: skip


def _log_ndtr_slope(y: Any, x: Any) -> Any:
    # density/ndtr; in the lower tail both underflow and their ratio is sqrt(2/pi)/erfcx(-x/sqrt(2)).
    low = choose(x < 0, x, 0.0)
    high = choose(x < 0, 0.0, x)
    tail = divide(math.sqrt(2.0 / math.pi), erfcx(-SQRT_HALF * low))
    return choose(x < 0, tail, divide(normal_density(high), ndtr(high)))


log_ndtr = special_row(
    "log_ndtr", "x", [_log_ndtr_slope], "log(ndtr(x)), without underflow in the lower tail.", ("log_ndtr(0)", -math.log(2)),
    domain=[(-5, 5)], replaces="log(ndtr(x))", formula="log(ndtr(x))",
)  # fmt: skip
ndtri = special_row(
    "ndtri", "p", [lambda y, p: math.sqrt(2 * math.pi) * exp(0.5 * square(y))],
    "The inverse of ndtr: the quantile of the normal distribution.", ("ndtri(0.5)", 0.0), domain=[(0.05, 0.95)],
    singular=pole("ndtri has an infinite derivative at 0 and 1", lambda p: (p == 0) | (p == 1), INF),
)  # fmt: skip


def _dawsn_slope(y: Any, x: Any) -> Any:
    size = 0.1 * square(x)
    return near_or_far(size, 1.0 - 2.0 * (near_or_far(size, x, 0.0) * y), _far_slope(size, x, 1.0))


dawsn = special_row(
    "dawsn", "x", [_dawsn_slope],
    "Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x; DLMF 7.2.5.", ("dawsn(0)", 0.0),
    aliases="dawson", domain=[(-3, 3)],
)  # fmt: skip


# --- the gamma function ---------------------------------------------------------------------------------------------


lgamma = special_row(
    "lgamma", "x", [lambda y, x: digamma(x)], "log(abs(gamma(x))).", ("lgamma(1)", 0.0), array=by_scipy("gammaln"),
    kernel="scipy_gammaln({0})", aliases="gammaln",
    **_gamma_poles("lgamma"),
)  # fmt: skip
digamma = special_row(
    "digamma", "x", [lambda y, x: polygamma(1, x)], "The derivative of lgamma; DLMF 5.2.2.",
    ("digamma(1)", -0.5772156649015329), array=by_scipy("psi"), kernel="scipy_psi({0})", aliases="psi", **_gamma_poles("digamma"),
)  # fmt: skip
polygamma = special_row(
    "polygamma", "n, x", [None, lambda y, n, x: polygamma(n + 1, x)], "The n-th derivative of digamma; DLMF 5.15.",
    ("polygamma(1, 1)", math.pi**2 / 6), kernel="polygamma({0}, {1})", domain=[None, (0.2, 6)],
    singular=[Singular(lambda n, x: _at_nonpositive_integers(x), "polygamma has a pole here", adiff=NAN, input=1)],
)  # fmt: skip
polygamma_difference = special_row(
    "polygamma_difference", "x, h | order=0",
    [
        lambda y, x, h, order: polygamma_difference(x, h, order=order + 1),
        lambda y, x, h, order: polygamma(order + 1, x + h),
    ],
    "polygamma(order, x + h) - polygamma(order, x), without cancellation for small h or large x.",
    ("polygamma_difference(1.0, 1.0)", 1.0), own="polygamma_difference", domain=[(0.2, 6), (0.1, 3)], internal=True,
    formula="digamma(x + h) - digamma(x) if order == 0 else polygamma(order, x + h) - polygamma(order, x)",
)  # fmt: skip
gamma = special_row(
    "gamma", "x", [lambda y, x: y * digamma(x)], "The gamma function: gamma(n) is the factorial of n - 1.", ("gamma(5)", 24.0),
    scalar=math.gamma, kernel="math.gamma({0})", **_gamma_poles("gamma"),
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

    return special.factorial(x, exact=True) if np.asarray(x).dtype.kind in "iu" else special.gamma(x + 1)


factorial = special_row(
    "factorial", "x", [lambda y, x: y * digamma(x + 1.0)], "n! for integers; gamma(x + 1) for floats.", ("factorial(5)", 120),
    kernel="math.gamma({0} + 1.0)", scalar=_factorial_scalar, array=_factorial, library="scipy", dtype="arithmetic",
    domain=[(0.2, 6)], singular=[Singular(lambda x: _at_nonpositive_integers(x + 1), "factorial has a pole here", adiff=NAN)],
)  # fmt: skip


def _comb_scalar(n: Any, k: Any) -> Any:
    if n.__class__ is float or k.__class__ is float or n < 0:
        raise ValueError("left to the array evaluation")
    if k < 0:
        return 0
    if min(k, n - k) * 2 * max(n.bit_length(), 1) > limits.MAX_INTEGER_BITS:
        raise failure("E0604", "this binomial coefficient has too many digits", "compute it with floats")
    return math.comb(n, k)


def _comb(np: Any, n: Any, k: Any) -> Any:
    from scipy import special

    found = special.binom(n, k)
    return np.rint(found).astype(np.asarray(n).dtype) if np.asarray(n).dtype.kind in "iu" else found


comb = special_row(
    "comb", "n, k",
    [
        lambda y, n, k: y * polygamma_difference(n - k + 1.0, k),
        lambda y, n, k: y * polygamma_difference(k + 1.0, n - 2 * k),
    ],
    "The number of ways to choose k of n: n!/(k!*(n - k)!).", ("comb(5, 2)", 10), kernel="scipy_binom({0}, {1})",
    scalar=_comb_scalar, array=_comb, library="scipy", dtype="arithmetic", aliases="binom", domain=[(5, 8), (1, 4)],
)  # fmt: skip


# --- the beta function ----------------------------------------------------------------------------------------------


def _beta_slope(a: Any, b: Any) -> Any:
    """d/da log(beta(a, b)) = digamma(a) - digamma(a + b); DLMF 5.12.1."""
    return -polygamma_difference(a, b)


beta = special_row(
    "beta", "a, b", [lambda y, a, b: y * _beta_slope(a, b), lambda y, a, b: y * _beta_slope(b, a)],
    "The beta function gamma(a)*gamma(b)/gamma(a + b).", ("beta(2, 3)", 1 / 12), domain=[(0.3, 4), (0.3, 4)],
)  # fmt: skip
betaln = special_row(
    "betaln", "a, b", [lambda y, a, b: _beta_slope(a, b), lambda y, a, b: _beta_slope(b, a)], "log(abs(beta(a, b))).",
    ("betaln(2, 3)", -math.log(12)), domain=[(0.3, 4), (0.3, 4)],
)  # fmt: skip


# --- entropies ------------------------------------------------------------------------------------------------------


entr = special_row(
    "entr", "x", [lambda y, x: -1.0 - log(x)], "The entropy -x*log(x), 0 at 0 and -inf below.", ("entr(1)", 0.0),
    scalar=lambda x: -x * math.log(x) if x else 0.0, kernel=None, domain=[(0.1, 3)],
    singular=[
        Singular(lambda x: x == 0, "entr has an infinite derivative at 0", **everywhere(INF)),
        Singular(lambda x: x < 0, "entr is -inf below 0", **everywhere(NAN), subgradients="no value"),
    ],
    formula="-x*log(x)",
)  # fmt: skip
rel_entr = special_row(
    "rel_entr", "x, y", [lambda z, x, y: 1.0 + log(divide(x, y)), lambda z, x, y: -divide(x, y)],
    "x*log(x/y), 0 for x = 0: the terms of the relative entropy.", ("rel_entr(1, 1)", 0.0), kernel=None,
    domain=[(0.1, 3), (0.1, 3)], singular=pole("rel_entr has an infinite derivative at x = 0", lambda x, y: x == 0, -INF),
)  # fmt: skip
kl_div = special_row(
    "kl_div", "x, y", [lambda z, x, y: log(divide(x, y)), lambda z, x, y: divide(y - x, y)], "x*log(x/y) - x + y, y for x = 0.",
    ("kl_div(1, 1)", 0.0), own="kl_divergence", domain=[(0.1, 3), (0.1, 3)],
    singular=pole("kl_div has an infinite derivative at x = 0", lambda x, y: x == 0, -INF),
)  # fmt: skip


# --- integrals ------------------------------------------------------------------------------------------------------

expi = special_row(
    "expi", "x", [lambda y, x: divide(exp(x), x)], "The exponential integral Ei(x); DLMF 6.2.5.", ("expi(-inf)", 0.0),
    domain=[(0.2, 4)], singular=[Singular(lambda x: x == 0, "expi has a pole here")], aliases="expint",
)  # fmt: skip
exp1 = special_row(
    "exp1", "x", [lambda y, x: -divide(exp(-x), x)], "The exponential integral E1(x); DLMF 6.2.1.", ("exp1(inf)", 0.0),
    domain=[(0.2, 4)], singular=[Singular(lambda x: x == 0, "exp1 has a pole here")],
)  # fmt: skip


def _fresnel(wave: str, index: int, dlmf: str) -> Operation:
    def array(np: Any, x: Any) -> Any:
        from scipy import special

        return special.fresnel(x)[index]

    def slope(y: Any, x: Any) -> Any:
        from . import trigonometric

        return getattr(trigonometric, wave)((0.5 * math.pi) * square(x))

    return special_row(
        f"fresnel_{wave}", "x", [slope], f"Fresnel's integral of {wave}(pi*t**2/2) from 0 to x; DLMF {dlmf}.",
        (f"fresnel_{wave}(0)", 0.0), kernel=None, array=array, library="scipy", domain=[(-2, 2)],
    )  # fmt: skip


fresnel_sin = _fresnel("sin", 0, "7.2.8")
fresnel_cos = _fresnel("cos", 1, "7.2.7")
