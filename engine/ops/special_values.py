"""Values of special functions on arrays, where SciPy has none or loses digits; derivatives: special_derivatives.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from .quadrature import elementwise, masked
from .special_integrals import EXPI_ZERO, expi_around_zero
from .special_scalar import (
    BERNOULLI,
    BESIDE_ZERO,
    LOG_SQRT_TWO_PI,
    SQRT_HALF,
    betaln_beside_zero,
    cotangent_derivative,
    log_gamma_around_2,
)
from .special_scalar import digamma as scalar_digamma
from .special_scalar import log_gamma as scalar_log_gamma

if TYPE_CHECKING:
    from collections.abc import Callable

Array = Any


# --- densities ------------------------------------------------------------------------------------------------------


def _deviance(x: Array, mean: Array) -> Array:
    """x*log(x/mean) + mean - x: Loader, Fast and accurate computation of binomial probabilities (2000), section 3."""
    gap = (x - mean) / (x + mean)
    near = np.abs(gap) < 0.1
    v = np.where(near, gap, 0.0)
    # x log(x/mean) = 2x artanh(v); the series in v after its first terms are combined with mean - x = -v(x + mean).
    total = (x - mean) * v
    power = 2.0 * x * v
    for k in range(1, 13):
        power = power * v * v
        total = total + power / (2 * k + 1)
    with np.errstate(all="ignore"):
        direct = x * np.log(x / mean) + mean - x
    return np.where(near, total, direct)


def _stirling_error(x: Array) -> Array:
    """log(gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi)/2: DLMF 5.11.1 from 10 on, by definition below."""
    large = x >= 10.0
    z = np.where(large, x, 10.0)
    square = 1.0 / (z * z)
    tail = np.zeros_like(z)
    for k in range(9, -1, -1):
        tail = tail * square + BERNOULLI[k] / ((2 * k + 2) * (2 * k + 1))
    w = np.where(large, 1.0, x)
    direct = special.gammaln(w + 1.0) - (w + 0.5) * np.log(w) + w - LOG_SQRT_TWO_PI
    return np.where(large, tail / z, direct)


def kl_div(x: Any, y: Any) -> Array:
    """x*log(x/y) - x + y, with its limits at 0; inf outside its domain, as SciPy has it."""
    with np.errstate(all="ignore"):
        inside = (x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)
        return np.where(inside, _deviance(np.where(inside, x, 1), np.where(inside, y, 1)), special.kl_div(x, y))


def gamma_density(a: Any, x: Any) -> Array:
    """x**(a - 1) exp(-x)/gamma(a), for a > 0 and x >= 0."""
    return elementwise(flat_gamma_density, a, x)


def flat_gamma_density(a: Array, x: Array) -> Array:
    with np.errstate(all="ignore"):
        small = (a < 20.0) & (x < 600.0)
        direct = np.where(small, np.power(x, np.where(small, a - 1.0, 0.0)) * np.exp(-x) / special.gamma(a), 0.0)
        usable = small & np.isfinite(direct) & (direct > 1e-290)
        # Loader's saddle point form of the Poisson probability of a, times a/x.
        saddle = np.exp(-_stirling_error(a) - _deviance(a, x)) / (2.0 * np.sqrt(0.5 * np.pi * a)) * (a / x)
        out = np.where(usable, direct, saddle)
        at_zero = np.where(a < 1.0, np.inf, np.where(a == 1.0, 1.0, 0.0))
        out = np.where(x == 0.0, at_zero, np.where((x == np.inf) | (a == np.inf), 0.0, out))
        out = np.where((a == 0.0) & (x > 0.0), 0.0, out)
        return np.where((a < 0.0) | (x < 0.0) | np.isnan(a) | np.isnan(x), np.nan, out)


def beta_density(a: Any, b: Any, x: Any) -> Array:
    """x**(a - 1) (1 - x)**(b - 1)/beta(a, b), for positive a and b and x in [0, 1]."""
    return elementwise(flat_beta_density, a, b, x)


def flat_beta_density(a: Array, b: Array, x: Array) -> Array:
    with np.errstate(all="ignore"):
        small = a + b < 40.0
        beta = special.gamma(np.minimum(a, b)) * (special.gamma(np.maximum(a, b)) / special.gamma(a + b))
        direct = np.where(small, np.power(x, a - 1.0) * np.exp((b - 1.0) * np.log1p(-x)) / beta, 0.0)
        usable = small & np.isfinite(direct) & (direct > 1e-290)
        # Loader's saddle point form of the binomial probability of a in n = a + b trials, times a*b/n.
        n = a + b
        exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
        exponent = exponent - _deviance(a, n * x) - _deviance(b, n * (1.0 - x))
        saddle = np.sqrt(a / (2.0 * np.pi * n) * b) * np.exp(exponent) / (x * (1.0 - x))
        out = np.where(usable, direct, saddle)
        left = np.where(a < 1.0, np.inf, np.where(a == 1.0, b, 0.0))
        right = np.where(b < 1.0, np.inf, np.where(b == 1.0, a, 0.0))
        out = np.where(x == 0.0, left, np.where(x == 1.0, right, out))
        return np.where((a <= 0.0) | (b <= 0.0) | (x < 0.0) | (x > 1.0) | np.isnan(a + b + x), np.nan, out)


# --- logarithm of gamma and its derivatives ---------------------------------------------------------------------------


def log_gamma(x: Any) -> Array:
    """log|gamma(x)|; see special_scalar.log_gamma."""
    x = np.asarray(x, dtype=np.float64)
    low = (x > 0.5) & (x < 1.5)
    high = (x >= 1.5) & (x < 2.5)
    z = np.where(low, x - 1.0, np.where(high, x - 2.0, 0.0))
    series = log_gamma_around_2(z)
    found = np.where(low, series - np.log1p(z), np.where(high, series, special.gammaln(x)))
    found = one_by_one(scalar_log_gamma, x, found, (np.abs(found) < 0.5) & (x > -18.0) & (x < -2.0))
    found = np.where(x == -np.inf, np.inf, found)
    # gamma(x) is 1/x for the numbers below the smallest normal one, where SciPy overflows.
    return np.where((np.abs(x) < 1e-300) & (x != 0), -np.log(np.abs(x)), found)


# The orders for which the reflection's polynomial is worked out: its coefficients are factorials.
LEFT_ORDERS = range(101)


def erfinv(x: Any) -> Array:
    """The inverse of erf, with the sign of its argument at 0."""
    return np.where(x == 0.0, x, special.erfinv(x))


def erfcinv(x: Any) -> Array:
    """The inverse of erfc; its 0 at 1 has no sign."""
    return special.erfcinv(x) + 0.0


def cotangents(x: Array) -> Array:
    """cot(pi*x) with the exact distance to the nearest integer; nan at integers."""
    fraction = x - np.floor(x + 0.5)
    near = np.where(np.abs(fraction) < 0.25, np.where(fraction == 0.0, np.nan, fraction), 0.25)
    far = np.copysign(np.tan(np.pi * (0.5 - np.abs(fraction))), fraction)
    return np.where(np.abs(fraction) < 0.25, 1.0 / np.tan(np.pi * near), far)


def digamma(x: Any) -> Array:
    """The logarithmic derivative of gamma; left of 0 by reflection (DLMF 5.5.4), where SciPy's loses digits near poles."""
    x = np.asarray(x, dtype=np.float64)
    reflected = (x < 0.0) & (x != np.floor(x))
    if not reflected.any():
        return special.digamma(x)
    found = np.where(
        reflected, special.digamma(np.where(reflected, 1.0 - x, 1.0)) - np.pi * cotangents(x), special.digamma(x)
    )
    return one_by_one(scalar_digamma, x, found, reflected & (np.abs(found) < 0.5) & (x > -20.0))


def one_by_one(function: Callable[[float], float], x: Array, found: Array, where: Array) -> Array:
    """What was found, with a function of one float applied to a few elements: those near zeros of it."""
    if where.any():
        found = np.array(found)
        found[where] = [function(one) for one in x[where].tolist()]
    return found


def polygamma(n: Any, x: Any) -> Array:
    """The n-th derivative of digamma; left of 0 by reflection (DLMF 5.15.6), where SciPy's sum loses digits."""
    n, x = np.broadcast_arrays(np.asarray(n, dtype=np.float64), np.asarray(x, dtype=np.float64))
    reflected = x <= 0.0
    value = np.where(n < 0.0, np.nan, special.polygamma(n, np.where(reflected, 1.0 - x, x)))
    if reflected.any():
        cotangent = cotangents(x)
        for order in np.unique(n[reflected]).tolist():
            here = reflected & (n == order)
            if order in LEFT_ORDERS:
                sign = -1.0 if order % 2 else 1.0
                value = np.where(here, sign * value - cotangent_derivative(cotangent, int(order)), value)
            else:
                value = np.where(here, np.nan, value)
    return value


# --- integrals ------------------------------------------------------------------------------------------------------


def expi(x: Any) -> Array:
    """The exponential integral Ei; beside its zero SciPy's has few digits."""
    x = np.asarray(x, dtype=np.float64)
    return one_by_one(expi_around_zero, x, special.expi(x), np.abs(x - EXPI_ZERO) < 0.2)


# --- differences of digamma -----------------------------------------------------------------------------------------


def polygamma_difference(x: Any, h: Any, order: int) -> Array:
    """psi^(order)(x + h) - psi^(order)(x) for positive x and x + h; every term carries the factor h."""
    return elementwise(lambda x, h: _polygamma_difference(x, h, order), x, h)


def _polygamma_difference(x: Array, h: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        valid = (x > 0.0) & (x + h > 0.0) & np.isfinite(x) & np.isfinite(h)
        plain = special.polygamma(order, x + h) - special.polygamma(order, x)
    return masked(lambda x, h: _positive_difference(x, h, order), valid, plain, x, h)


def _positive_difference(x: Array, h: Array, order: int) -> Array:
    sign = -1.0 if order % 2 == 0 else 1.0

    def term(power: float) -> Array:
        """(x + h)**-power - x**-power."""
        return x**-power * np.expm1(-power * np.log1p(h / x))

    # Up by recurrence, DLMF 5.15.5, until the expansion holds for both ends.
    total = np.zeros_like(x)
    while True:
        low = np.minimum(x, x + h) < 12.0 + order
        if not low.any():
            break
        total = np.where(low, total + sign * math.factorial(order) * term(order + 1.0), total)
        x = np.where(low, x + 1.0, x)
    # DLMF 5.11.2 for order 0, 5.15.9 otherwise.
    tail = np.log1p(h / x) if order == 0 else sign * math.factorial(order - 1) * term(order)
    tail = tail + sign * 0.5 * math.factorial(order) * term(order + 1.0)
    for k in range(10):
        factor = BERNOULLI[k] * math.factorial(2 * k + 1 + order) / math.factorial(2 * k + 2)
        tail = tail + sign * factor * term(2.0 * k + 2.0 + order)
    return total + tail


# --- logarithm of beta ----------------------------------------------------------------------------------------------


def beta(a: Any, b: Any) -> Array:
    """beta(a, b); see special_scalar.beta."""
    with np.errstate(all="ignore"):
        large = (a > 0) & (b > 0) & (a + b >= 160.0)
        found = np.where(large, np.exp(betaln(np.where(large, a, 80.0), np.where(large, b, 80.0))), special.beta(a, b))
        small, other = np.minimum(a, b), np.maximum(a, b)
        return np.where((small > 0.0) & (small < 1e-290) & (other < np.inf), 1.0 / small + 1.0 / other, found)


def betaln(a: Any, b: Any) -> Array:
    """log|beta(a, b)|; see special_scalar.betaln."""
    return elementwise(_betaln, a, b)


def _betaln(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        small, large = np.minimum(a, b), np.maximum(a, b)
        rough = special.betaln(a, b)
        both = small + large
        share = -np.log1p(large / small)
        rest = np.log1p(-small / both)
        difference = _stirling_error(large) - _stirling_error(both)
        two_large = (
            -0.5 * np.log(large)
            + LOG_SQRT_TWO_PI
            + _stirling_error(small)
            + difference
            + (small - 0.5) * share
            + large * rest
        )
        one_large = special.gammaln(small) + difference + small - small * np.log(both) + (large - 0.5) * rest
        near = np.log(special.gamma(small) * (special.gamma(large) / special.gamma(both)))
        positive = (small > 0.0) & np.isfinite(large)
        zero = positive & (large < 10.0) & (np.abs(near) < BESIDE_ZERO)
        if zero.any():
            near = np.array(near)
            near[zero] = [betaln_beside_zero(*pair) for pair in zip(a[zero].tolist(), b[zero].tolist())]
        found = np.where(large < 10.0, near, np.where(small >= 10.0, two_large, one_large))
        found = np.where(small < 1e-290, np.log1p(small / large) - np.log(small), found)
        return np.where(positive & np.isfinite(found), found, rough)


# --- binomial coefficients ------------------------------------------------------------------------------------------


def binomial(n: Any, k: Any) -> Array:
    """n!/(k!(n - k)!); see special_scalar.binomial. SciPy's loses digits from n = 1e5 on."""
    return elementwise(_binomial, n, k)


def _binomial(n: Array, k: Array) -> Array:
    with np.errstate(all="ignore"):
        near = (n > 0.5) & (n < 1e15) & (((k > 1e-100) & (k < 1e15)) | (k == 0.0))
        counted = near & (k < 20.0) & (k == np.floor(k))
        found = np.asarray(special.binom(n, k))
        found = masked(_falling_quotient, counted, found, n, k)
        return masked(_by_beta, near & ~counted & (n - k > -1.0), found, n, k)


def _falling_quotient(n: Array, k: Array) -> Array:
    """n (n - 1) ... (n - k + 1)/k!, for small integers k."""
    found = np.ones_like(n)
    for i in range(int(np.max(k, initial=0.0))):
        found = np.where(i < k, found * ((n - i) / (i + 1.0)), found)
    return found


def _by_beta(n: Array, k: Array) -> Array:
    return 1.0 / ((n + 1.0) * beta(1.0 + n - k, 1.0 + k))


# --- Gaussians and the error function -------------------------------------------------------------------------------


def gaussian(x: Any, scale: float = 1.0) -> Array:
    """exp(-scale*x**2) for scale 1 or 1/2; see special_scalar.gaussian."""
    x = np.clip(x, -64.0, 64.0)
    high = np.trunc(x * 16.0) / 16.0
    return np.exp(-scale * high * high) * np.exp(-scale * (x - high) * (x + high))


def normal_density(x: Any) -> Array:
    """exp(-x**2/2)/sqrt(2 pi)."""
    return gaussian(x, 0.5) / math.sqrt(2.0 * math.pi)


def erfc(x: Any) -> Array:
    """1 - erf(x). In the upper tail SciPy's loses two digits; the scaled function and an exact Gaussian do not."""
    tail = x > 1.0
    return np.where(tail, special.erfcx(np.where(tail, x, 1.0)) * gaussian(x), special.erfc(x))


def ndtr(x: Any) -> Array:
    """The normal distribution function, likewise."""
    tail = x < -1.0
    scaled = special.erfcx(np.where(tail, x, -1.0) * -SQRT_HALF)
    return 0.5 * np.where(tail, scaled * gaussian(x, 0.5), special.erfc(x * -SQRT_HALF))
