"""Beta functions, densities, entropies and integrals of floats: see special_values.py."""

from __future__ import annotations

import math

from .scipy_functions import scipy_beta, scipy_betaln, scipy_binom, scipy_expi
from .special_values import LOG_SQRT_TWO_PI, log_gamma, log_gamma_difference, stirling_error

# --- beta and binomial coefficients -----------------------------------------------------------------------------------


def beta(a: float, b: float) -> float:
    """SciPy's loses digits for large arguments, and gamma of tiny ones may be beyond the floats."""
    small, large = (a, b) if a < b else (b, a)
    if 0.0 < small < 1e-290 and large < math.inf:
        return 1.0 / small + 1.0 / large
    return math.exp(betaln(a, b)) if small > 0.0 and a + b >= 160.0 else scipy_beta(a, b)


def betaln(a: float, b: float) -> float:
    """log|beta(a, b)|, for positive a and b with Stirling's parts cancelled by hand where an argument is large."""
    small, large = (a, b) if a < b else (b, a)
    if not (small > 0.0 and large < math.inf):
        return scipy_betaln(a, b)
    if small < 1e-290:
        return math.log1p(small / large) - math.log(small)
    if large < 10.0:
        found = math.log(math.gamma(small) * (math.gamma(large) / math.gamma(small + large)))
        if abs(found) > 0.3:
            return found
        # log(gamma(1 + e)) - (log(gamma(b + 1 + e)) - log(gamma(b + 1))) - log(b), for the distance e of one to 1.
        near, far = (a, b) if abs(a - 1.0) < abs(b - 1.0) else (b, a)
        return log_gamma(near) - log_gamma_difference(far + 1.0, near - 1.0) - math.log(far)
    share = -math.log1p(large / small)
    rest = math.log1p(-small / (small + large))
    difference = stirling_error(large) - stirling_error(small + large)
    if small >= 10.0:
        corrections = LOG_SQRT_TWO_PI + stirling_error(small) + difference
        return corrections - 0.5 * math.log(large) + (small - 0.5) * share + large * rest
    return math.lgamma(small) + difference + small - small * math.log(small + large) + (large - 0.5) * rest


def binomial(n: float, k: float) -> float:
    """n!/(k!(n - k)!) for real arguments, by the product where k is a small integer; SciPy's loses digits for large n."""
    if not (0.5 < n < 1e15 and 0.0 <= k < 1e15) or 0.0 < k < 1e-100 or not n - k > -1.0:
        return scipy_binom(n, k)
    if k >= 20.0 or k != math.floor(k):
        return 1.0 / ((n + 1.0) * beta(1.0 + n - k, 1.0 + k))
    found = 1.0
    for i in range(int(k)):
        found *= (n - i) / (i + 1.0)
    return found


# --- entropies and densities ----------------------------------------------------------------------------------------


def deviance(x: float, mean: float) -> float:
    """x*log(x/mean) + mean - x for positive numbers: Loader, Fast and accurate computation of binomial probabilities."""
    v = (x - mean) / (x + mean)
    if not abs(v) < 0.1:
        return x * math.log(x / mean) + mean - x
    total = (x - mean) * v
    power = 2.0 * x * v
    for k in range(1, 13):
        power *= v * v
        total += power / (2 * k + 1)
    return total


def kl_divergence(x: float, y: float) -> float:
    """x*log(x/y) - x + y, with its limits at 0; inf outside its domain."""
    if x > 0.0 and y > 0.0:
        return deviance(x, y) if x < math.inf and y < math.inf else math.nan
    if x != x or y != y:
        return math.nan
    return y if x == 0.0 and y >= 0.0 else math.inf


def gamma_density(a: float, x: float) -> float:
    """x**(a - 1) exp(-x)/gamma(a); Loader's saddle point form of it where that leaves the floats."""
    if not (a >= 0.0 and x >= 0.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else (1.0 if a == 1.0 else 0.0)
    if a == 0.0 or x == math.inf or a == math.inf:
        return 0.0
    if 1e-300 < a < 20.0 and 1e-300 < x < 600.0:
        direct = math.pow(x, a - 1.0) * math.exp(-x) / math.gamma(a)
        if direct > 1e-290:
            return direct
    return math.exp(-stirling_error(a) - deviance(a, x)) / (2.0 * math.sqrt(0.5 * math.pi * a)) * (a / x)


def beta_density(a: float, b: float, x: float) -> float:
    """x**(a - 1) (1 - x)**(b - 1)/beta(a, b); Loader's saddle point form of it where that leaves the floats."""
    if not (a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else (b if a == 1.0 else 0.0)
    if x == 1.0:
        return math.inf if b < 1.0 else (a if b == 1.0 else 0.0)
    n = a + b
    if n < 40.0 and min(a, b, x) > 1e-300:
        direct = math.pow(x, a - 1.0) * math.exp((b - 1.0) * math.log1p(-x)) / beta(a, b)
        if 1e-290 < direct < math.inf:
            return direct
    exponent = stirling_error(n) - stirling_error(a) - stirling_error(b)
    exponent = exponent - deviance(a, n * x) - deviance(b, n * (1.0 - x))
    return math.sqrt(a / (2.0 * math.pi * n) * b) * math.exp(exponent) / (x * (1.0 - x))


# --- integrals ------------------------------------------------------------------------------------------------------


# The zero of Ei, as a sum of two floats: by mpmath.
EXPI_ZERO, EXPI_ZERO_LOW = 0.3725074107813666, 1.3140183414386028e-17


def expi(x: float) -> float:
    """The exponential integral Ei; beside its zero, where SciPy's has few digits, by its series (DLMF 6.6.2) less that of
    the zero, term by term."""
    if not abs(x - EXPI_ZERO) < 0.2:
        return scipy_expi(x)
    h = (x - EXPI_ZERO) - EXPI_ZERO_LOW
    total = math.log1p(h / EXPI_ZERO)
    difference, power = h, EXPI_ZERO  # (x**k - z**k)/k! and z**k/k!
    for k in range(1, 18):
        total += difference / k
        difference = (x * difference + h * power) / (k + 1.0)
        power *= EXPI_ZERO / (k + 1.0)
    return total


def fresnel_sin(x: float) -> float:
    return _fresnel(x, 1)


def fresnel_cos(x: float) -> float:
    return _fresnel(x, 0)


def _fresnel(x: float, sine: int) -> float:
    """Fresnel's integrals: power series up to 1.6, then the auxiliary f and g by the continued fraction of erfc."""
    size = abs(x)
    if size != size:
        return x
    angle = 0.5 * math.pi * size * size
    if size < 1.6:
        term, total = size, 0.0  # size * angle**k / k!, of alternating sign at every other k
        for k in range(60):
            if k:
                term *= angle / k
            if k % 2 == sine:
                total += (term if k % 4 < 2 else -term) / (2 * k + 1)
        return math.copysign(total, x)
    if angle == math.inf:
        return math.copysign(0.5, x) if size == math.inf else math.nan
    if size > 1e8:
        return math.copysign(0.5, x)
    # erfc(z) exp(z**2) sqrt(pi) for z = sqrt(pi)/2 (1 - i) size: 1/(z + (1/2)/(z + 1/(z + (3/2)/(z + ...)))).
    re, im = 0.8862269254527580 * size, -0.8862269254527580 * size
    a, b = re, im
    for k in range(160, 0, -1):
        scale = 0.5 * k / (a * a + b * b)
        a, b = re + scale * a, im - scale * b
    square = a * a + b * b
    a, b = a / square, -b / square
    # C + i S = (1 + i)/2 (1 - exp(i angle) (a + i b)/sqrt(pi)).
    turns = 0.25 * size * size - math.floor(0.25 * size * size)
    c, s = math.cos(2.0 * math.pi * turns), math.sin(2.0 * math.pi * turns)
    p = 1.0 - (c * a - s * b) * 0.5641895835477563
    q = -(s * a + c * b) * 0.5641895835477563
    return math.copysign(0.5 * (p + q) if sine else 0.5 * (p - q), x)
