"""Independent values and derivatives of the element-wise rows: mpmath at 60 digits, by the rows' names.

mpmath differentiates numerically with a step of about 1e-63 and as many more digits, so its derivatives are good to
some 50 digits wherever the function is analytic; a derivative of ours that shares a wrong formula with the value
cannot hide behind them.
"""

from collections.abc import Callable
from typing import Any

import mpmath as mp
from mpmath.libmp import gammazeta

DIGITS = 50
mp.mp.dps = DIGITS
# Of more bits the gamma function is found by Stirling's series: to set up the other takes seconds.
gammazeta.MAX_GAMMA_TAYLOR_PREC = 500


def where(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def normal_cdf(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def lower_gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def upper_gamma(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def incomplete_beta(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def log_gamma(x: Any) -> Any:
    return mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x)


def inverse_normal(p: Any) -> Any:
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def selu(x: Any) -> Any:
    alpha, scale = mp.mpf("1.6732632423543772848170429916717"), mp.mpf("1.0507009873554804934193349852946")
    return scale * (x if x > 0 else alpha * mp.expm1(x))


def fmod(a: Any, b: Any) -> Any:
    quotient = a / b
    return a - b * (mp.floor(quotient) if quotient > 0 else mp.ceil(quotient))


# Rows whose functions mpmath has by the same name, and by another.
SAME = """exp expm1 log log1p sqrt sech tanh hypot sin cos tan sec csc cot sinh cosh csch coth floor ceil sign erf erfc
    erfinv digamma gamma factorial beta"""
OTHER = """root_of_squares hypot arcsin asin arccos acos arctan atan arctan2 atan2 arcsinh asinh arccosh acosh
    arctanh atanh round nint signum sign comb binomial expi ei exp1 e1 fresnel_sin fresnels
    fresnel_cos fresnelc jv besselj yv bessely iv besseli kv besselk"""
# One function of the inputs per row; static parameters have the rows' defaults unless they are named here.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(mp, name) for name in SAME.split()},
    **{name: getattr(mp, theirs) for name, theirs in zip(OTHER.split()[::2], OTHER.split()[1::2])},
    # arithmetic
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "strong_multiply": lambda a, b: a * b,
    "multiply_cotangents": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "mod": lambda a, b: a - b * mp.floor(a / b),
    "negative": lambda x: -x,
    "unsigned": lambda x: x,
    "positive": lambda x: +x,
    "power": lambda a, b: mp.power(a, b),
    # exponential
    "exp2": lambda x: mp.power(2, x),
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": lambda x: mp.log(x) / mp.log(10),
    "square": lambda x: x * x,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": sigmoid,
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "log_sigmoid": lambda x: -mp.log1p(mp.exp(-x)),
    "bernoulli_variance": lambda p: p * (1 - p),
    "logit": lambda p: mp.log(p / (1 - p)),
    "logaddexp": lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    "logaddexp2": lambda a, b: mp.log(mp.power(2, a) + mp.power(2, b)) / mp.log(2),
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "xdivy": lambda x, y: x / y,
    "divide_no_nan": lambda a, b: a / b,
    "multiply_no_nan": lambda a, b: a * b,
    "direction": lambda a, b: a / mp.hypot(a, b),
    "sinc": lambda x: mp.sincpi(x),
    # stable forms
    "square_of_root": lambda x: x,
    "inverse_of_inverse": lambda x: x,
    "arccos_quotient": lambda x: mp.re(mp.acos(x) / mp.sqrt(1 - mp.mpc(x) ** 2)),
    "square_of_arccos": lambda x: mp.acos(x) ** 2,
    "square_of_arccosh": lambda x: mp.acosh(x) ** 2,
    "sin_quotient": lambda x: mp.sin(x) / x,
    "sinh_quotient": lambda x: mp.sinh(x) / x,
    "log_to_base": lambda x, base: mp.log(x) / mp.log(base),
    "expm1_quotient": lambda x: mp.expm1(x) / x,
    "log1p_quotient": lambda x: mp.log1p(x) / x,
    # trigonometric
    "one_minus_square": lambda x: 1 - x * x,
    "log_cosh": lambda x: mp.log(mp.cosh(x)),
    # rounding
    "trunc": lambda x: mp.floor(x) if x > 0 else mp.ceil(x),
    "abs": abs,
    "copysign": lambda x, s: abs(x) * mp.sign(s),
    "heaviside": lambda x, h: where(x > 0, mp.mpf(1), mp.mpf(0)),
    "maximum": max,
    "minimum": min,
    "fmax": max,
    "fmin": min,
    "clip_between": lambda x, low, high: min(max(x, low), high),
    "fmod": fmod,
    "nextafter": lambda a, b: a,
    "nan_to_num": lambda x: x,
    "floor_divide": lambda a, b: mp.floor(a / b),
    # activations
    "relu": lambda x: max(x, mp.mpf(0)),
    "relu6": lambda x: min(max(x, mp.mpf(0)), mp.mpf(6)),
    "hard_tanh": lambda x: min(max(x, mp.mpf(-1)), mp.mpf(1)),
    "hard_sigmoid": lambda x: min(max(x + 3, mp.mpf(0)), mp.mpf(6)) / 6,
    "leaky_relu": lambda x: where(x > 0, x, mp.mpf(0.2) * x),
    "elu": lambda x: where(x > 0, x, mp.expm1(x)),
    "selu": selu,
    "softsign": lambda x: x / (1 + abs(x)),
    "silu": lambda x: x * sigmoid(x),
    "clip": lambda x, low, high: min(max(x, low), high),
    "tanh_shrink": lambda x: x - mp.tanh(x),
    # special
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "near_or_far": lambda x, near, far: near,
    "erfcinv": lambda x: mp.erfinv(1 - x),
    "ndtr": normal_cdf,
    "log_ndtr": lambda x: mp.log(normal_cdf(x)),
    "ndtri": inverse_normal,
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "lgamma": log_gamma,
    "polygamma": lambda n, x: mp.polygamma(int(n), x),
    "polygamma_difference": lambda x, h: mp.digamma(x + h) - mp.digamma(x),
    "betaln": lambda a, b: mp.log(mp.beta(a, b)),
    "gamma_density": lambda a, x: mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a)),
    "gammainc": lower_gamma,
    "gammaincc": upper_gamma,
    "gammainc_derivative": lambda a, x: derivative(lower_gamma, (a, x), (1, 0)),
    "beta_density": lambda a, b, x: mp.power(x, a - 1) * mp.power(1 - x, b - 1) / mp.beta(a, b),
    "betainc": incomplete_beta,
    "betainc_derivative": lambda a, b, x: derivative(incomplete_beta, (a, b, x), (1, 0, 0)),
    "zeta": lambda s, q: mp.zeta(s, q),
    "zeta_derivative": lambda s, q: mp.zeta(s, q, 1),
    "entr": lambda x: -x * mp.log(x),
    "rel_entr": lambda x, y: x * mp.log(x / y),
    "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "k0": lambda x: mp.besselk(0, x),
    "k1": lambda x: mp.besselk(1, x),
    "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "scaled_bessel_derivative": lambda x: mp.exp(-x) * (mp.besseli(1, x) - mp.besseli(0, x)),
    "k0e": lambda x: mp.exp(x) * mp.besselk(0, x),
    "k1e": lambda x: mp.exp(x) * mp.besselk(1, x),
}


def derivative(f: Callable[..., Any], point: tuple[Any, ...], orders: tuple[int, ...]) -> Any:
    """A partial derivative of given orders, with steps relative to tiny arguments."""
    active = [i for i, order in enumerate(orders) if order]
    if not active:
        return f(*point)
    scales = [abs(x) if x != 0 and abs(x) < 1e-3 else mp.mpf(1) for x in point]

    def along(*steps: Any) -> Any:
        moved = list(point)
        for i, step in zip(active, steps):
            moved[i] = moved[i] + step * scales[i]
        return f(*moved)

    counts = tuple(orders[i] for i in active)
    value = (
        mp.diff(along, tuple([mp.mpf(0)] * len(active)), counts) if len(active) > 1 else mp.diff(along, 0, counts[0])
    )
    for i, count in zip(active, counts):
        value = value / scales[i] ** count
    return value
