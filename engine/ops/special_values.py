"""Functions of floats that SciPy has not, or not for kernels, in the Python that kernels compile: zeta, densities, differences.

The tape runs them on numbers and, by pointwise.py, on the elements of arrays.
"""

from __future__ import annotations

import math

from .scipy_functions import scipy_psi

LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# B(2k) for k = 1..10: DLMF 24.2(iv).
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
)  # fmt: skip


# --- zeta and the derivatives of the gamma function -----------------------------------------------------------------


def zeta(s: float, q: float) -> float:
    """The Hurwitz zeta function for s > 1, as SciPy has it: infinite at its poles, and for q < 0 of integers s alone."""
    if not s > 1.0:
        return math.inf if s == 1.0 else math.nan
    if not q <= 0.0:
        return zeta_derivative(s, q, 0)
    if q == math.floor(q):
        return math.inf
    if s != math.floor(s) or q < -1e6:
        return math.nan
    # The terms before q + k is positive, and one more, so that what is left is not near its pole.
    total, count = 0.0, math.floor(-q) + 2
    for k in range(int(count)):
        total += math.pow(q + k, -s)
    return total + zeta_derivative(s, q + count, 0)


def zeta_derivative(s: float, q: float, order: int) -> float:
    """The derivative of zeta by its exponent, of an order from 0 to 2, for s > 1 and q > 0: by the formula of Euler and
    Maclaurin, DLMF 25.11.5, term by term."""
    if not (s > 1.0 and q > 0.0):
        return math.nan
    total = 0.0
    for k in range(20):
        power = math.pow(q + k, -s)
        for _ in range(order):
            power *= -math.log(q + k)
        total += power
    # Power series in a step of s: first the bracket, then w**-s.
    w, over = q + 20.0, 1.0 / (s - 1.0)
    b0, b1, b2 = w * over + 0.5, -w * over * over, w * over * over * over
    r0, r1, r2 = s, 1.0, 0.0  # s (s + 1) ... (s + 2j)
    factor = 0.5 / w
    for j in range(10):
        bernoulli = BERNOULLI[j] * factor
        b0, b1, b2 = b0 + bernoulli * r0, b1 + bernoulli * r1, b2 + bernoulli * r2
        factor /= w * w * (2.0 * j + 3.0) * (2.0 * j + 4.0)
        for shift in range(2 * j + 1, 2 * j + 3):
            c = s + shift
            r0, r1, r2 = r0 * c, r1 * c + r0, r2 * c + r1
    log = -math.log(w)
    tail = b0
    if order == 1:
        tail = b0 * log + b1
    elif order == 2:
        tail = (b0 * log + 2.0 * b1) * log + 2.0 * b2
    return total + math.pow(w, -s) * tail


def digamma_difference(x: float, h: float) -> float:
    """digamma(x + h) - digamma(x); for positive x and x + h every term is a multiple of h, so that nothing cancels."""
    if not (0.0 < x < math.inf and 0.0 < x + h < math.inf):
        return scipy_psi(x + h) - scipy_psi(x)
    total = 0.0
    while x < 10.0 or x + h < 10.0:
        total += h / (x + h) / x
        x += 1.0
    ratio = math.log1p(h / x)
    total += ratio + 0.5 * (h / (x + h)) / x
    power = 1.0 / (x * x)
    factor = power
    for k in range(10):
        # x**-2m - (x + h)**-2m = -x**-2m expm1(-2m log1p(h/x))
        total -= BERNOULLI[k] / (2 * k + 2) * factor * math.expm1(-(2 * k + 2) * ratio)
        factor *= power
    return total


def polygamma(n: float, x: float) -> float:
    """The n-th derivative of digamma for whole n >= 0: DLMF 25.11.12. Infinite or nan at the poles."""
    if n == 0.0:
        return scipy_psi(x)
    if not (n > 0.0 and n == math.floor(n)):
        return math.nan
    factor = -1.0
    for k in range(1, int(n) + 1):
        factor *= -k
    return factor * zeta(n + 1.0, x) if x < math.inf else 0.0 * x


def polygamma_difference(x: float, h: float, order: int) -> float:
    """polygamma(order, x + h) - polygamma(order, x); for positive x and x + h no digits cancel."""
    if order == 0:
        return digamma_difference(x, h)
    if not (0.0 < x < math.inf and 0.0 < x + h < math.inf) or h < -0.5 * x:
        return polygamma(order, x + h) - polygamma(order, x)
    below = math.gamma(order)  # (order - 1)!
    total = 0.0
    while x < 12.0 + order or x + h < 12.0 + order:
        total += below * order * power_difference(x, h, order + 1.0)
        x += 1.0
    total += below * (power_difference(x, h, order) + 0.5 * order * power_difference(x, h, order + 1.0))
    for k in range(10):
        rising = math.gamma(2.0 * k + 2.0 + order) / math.gamma(2.0 * k + 3.0)
        total += BERNOULLI[k] * rising * power_difference(x, h, 2.0 * k + 2.0 + order)
    return total if order % 2 else -total


def power_difference(x: float, h: float, power: float) -> float:
    """(x + h)**-power - x**-power, a multiple of h."""
    return math.pow(x, -power) * math.expm1(-power * math.log1p(h / x))


# --- densities ------------------------------------------------------------------------------------------------------


def stirling_error(x: float) -> float:
    """log(gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi)/2: DLMF 5.11.1 from 10 on, by definition below."""
    if not x >= 10.0:
        return math.lgamma(x + 1.0) - (x + 0.5) * math.log(x) + x - LOG_SQRT_TWO_PI
    square = 1.0 / (x * x)
    tail = 0.0
    for k in range(7, -1, -1):
        tail = tail * square + BERNOULLI[k] / ((2 * k + 2) * (2 * k + 1))
    return tail / x


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
    """x**(a - 1) exp(-x)/gamma(a), in Loader's saddle point form."""
    if not (a >= 0.0 and x >= 0.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else (1.0 if a == 1.0 else 0.0)
    if a == 0.0 or x == math.inf or a == math.inf:
        return 0.0
    return math.exp(-stirling_error(a) - deviance(a, x)) / (2.0 * math.sqrt(0.5 * math.pi * a)) * (a / x)


def beta_density(a: float, b: float, x: float) -> float:
    """x**(a - 1) (1 - x)**(b - 1)/beta(a, b), in Loader's saddle point form."""
    if not (a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else (b if a == 1.0 else 0.0)
    if x == 1.0:
        return math.inf if b < 1.0 else (a if b == 1.0 else 0.0)
    n = a + b
    exponent = stirling_error(n) - stirling_error(a) - stirling_error(b)
    exponent = exponent - deviance(a, n * x) - deviance(b, n * (1.0 - x))
    return math.sqrt(a / (2.0 * math.pi * n) * b) * math.exp(exponent) / (x * (1.0 - x))
