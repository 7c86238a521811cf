"""Derivatives of the incomplete gamma and beta functions by their parameters, of one float, up to order 2, and of the scaled
Bessel functions.

They are integrals whose integrand, at order 1, keeps its sign over the range that is chosen, so that no digit cancels, by
panels of 64 nodes, followed until the integrand has fallen by exp(-DECAY).
"""

from __future__ import annotations

import math

from numpy.polynomial.legendre import leggauss

from .scipy_functions import scipy_psi
from .special_values import beta_density, digamma_difference, gamma_density, polygamma, polygamma_difference

DECAY = 50.0
NODES, WEIGHTS = (tuple(values.tolist()) for values in leggauss(64))


def gammainc_derivative(a: float, x: float, order: int) -> float:
    """The derivative of P(a, x) by a: over [0, x] below exp(psi(a)), over [x, inf] above. The integrand is
    exp(-height(t)) times a polynomial, by t = log of the variable less that of x."""
    if not (0.0 < a < math.inf and 0.0 < x < math.inf):
        return 0.0 if a > 0.0 and x >= 0.0 else math.nan
    centre = math.log(x) - scipy_psi(a)
    curve = polygamma(1.0, a) if order > 1 else 0.0
    if centre <= 0.0:
        sign = -1.0
        end = gamma_end(a, x, sign, (DECAY + x) / a)
        first, then = min(8.0, end), end
    else:
        sign = 1.0  # where the integrand falls doubly exponentially near the end
        end = gamma_end(a, x, sign, math.log1p((DECAY + 3.0 * a + a * max(-math.log(x), 0.0)) / x) + 1.0)
        first, then = max(end - 16.0, 0.0), max(end - 6.0, 0.0)
    integral, low = 0.0, 0.0
    for panel in range(3):
        high = first if panel == 0 else (then if panel == 1 else end)
        half, total = 0.5 * (high - low), 0.0
        for k in range(64 if half > 0.0 else 0):
            t = sign * (low + half * (1.0 + NODES[k]))
            log = centre + t
            total += WEIGHTS[k] * (log * log - curve if order > 1 else log) * math.exp(-gamma_height(a, x, t))
        integral += half * total
        low = high
    return -sign * x * gamma_density(a, x) * integral


def gamma_height(a: float, x: float, t: float) -> float:
    """x (exp(t) - 1) - a t, in the form that keeps its digits for a large a and x."""
    return x * (math.expm1(t) - t) + (x - a) * t


def gamma_end(a: float, x: float, sign: float, u: float) -> float:
    """Where the height reaches DECAY, for t = sign*u: by Newton's method from a point beyond it."""
    for _ in range(60):
        t = sign * u
        step = (gamma_height(a, x, t) - DECAY) / (sign * (x * math.expm1(t) + (x - a)))
        if not abs(step) < math.inf:
            step = 0.0
        u -= step
        if abs(step) <= 1e-3 * u:
            break
    return u


def betainc_derivative(a: float, b: float, x: float, order_a: int, order_b: int) -> float:
    """The derivative of I_x(a, b), `order_a` times by a and `order_b` times by b, not both 0; DLMF 8.17.1."""
    if not (0.0 < a < math.inf and 0.0 < b < math.inf and 0.0 < x < 1.0):
        return 0.0 if a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0 else math.nan
    log_x, log_rest = math.log(x), math.log1p(-x)
    if order_b == 0:
        lower = log_x <= -digamma_difference(a, b)
    elif order_a == 0:
        lower = log_rest >= -digamma_difference(b, a)
    else:
        lower = x <= a / (a + b)
    if lower:
        return beta_part(a, b, x, 1.0 - x, log_x, log_rest, order_a, order_b)
    return -beta_part(b, a, 1.0 - x, x, log_rest, log_x, order_b, order_a)


def beta_cumulant(a: float, b: float, i: int, j: int) -> float:
    """The derivative of -log(beta(a, b)), i times by a and j times by b, of an order 1 or 2."""
    if i == j:
        return polygamma(1.0, a + b)
    return polygamma_difference(a, b, i - 1) if i else polygamma_difference(b, a, j - 1)


def beta_weight(u: float, x: float, rest: float) -> float:
    """log(rest + x exp(-u)) for rest = 1 - x, which is exact where x is rounded to 1."""
    change = x * math.expm1(-u)
    return math.log1p(change) if change > -0.5 else math.log(rest + x * math.exp(-u))


# The ends of the panels, from where x exp(-u) = 1 - x.
PANELS = (-24.0, -8.0, 0.0, 8.0, 24.0, math.inf)


def beta_part(
    a: float, b: float, x: float, rest: float, log_x: float, log_rest: float, order_a: int, order_b: int
) -> float:
    """The integral from 0 to x; `rest` is 1 - x and the logarithms are theirs, exact on either side."""
    # With t/(1 - t) = x/(1 - x) exp(-u): log(t) = log(x) - u - w, log(1 - t) = log(1 - x) - w, w = log(1 - x + x exp(-u)),
    # and the integrand is exp(-a u - (a + b) w) times a polynomial.
    total = a + b
    density = beta_density(a, b, x) if x <= 0.5 else beta_density(b, a, rest)
    end = (DECAY - total * log_rest) / a
    for _ in range(60):
        decay = math.exp(-end)
        height = a * end + total * beta_weight(end, x, rest)
        step = (height - DECAY) / (a - total * x * decay / (rest + x * decay))
        if not abs(step) < math.inf:
            step = 0.0
        end -= step
        if abs(step) <= 1e-3 * end:
            break
    mean_a, mean_b = beta_cumulant(a, b, 1, 0), beta_cumulant(a, b, 0, 1)
    curve = beta_cumulant(a, b, order_a, order_b) if order_a + order_b > 1 else 0.0
    integral, low = 0.0, 0.0
    for panel in range(6):
        high = min(max(log_x - log_rest + PANELS[panel], 0.0), end)
        half, part = 0.5 * (high - low), 0.0
        for k in range(64 if half > 0.0 else 0):
            u = low + half * (1.0 + NODES[k])
            w = beta_weight(u, x, rest)
            by_a, by_b = mean_a + (log_x - u - w), mean_b + (log_rest - w)
            first, last = by_a if order_a > 0 else by_b, by_b if order_b > 0 else by_a
            part += (
                WEIGHTS[k] * (first * last + curve if order_a + order_b > 1 else first) * math.exp(-a * u - total * w)
            )
        integral += half * part
        low = high
    return x * rest * density * integral


def scaled_bessel_derivative(x: float, n: int, order: int) -> float:
    """The derivative of exp(-|x|) I_n(x) for n = 0 or 1, from the right at 0: by DLMF 10.32.3."""
    if x != x:
        return x
    size = abs(x)
    if size == math.inf:
        return 0.0
    half = math.asin(math.sqrt(0.5 * DECAY / size)) if size > 0.5 * DECAY else 0.5 * math.pi
    total = 0.0
    for k in range(64):
        root = math.sin(0.5 * half * (1.0 + NODES[k]))
        versine = 2.0 * root * root
        power = 1.0 - versine if n else 1.0
        for _ in range(order):
            power *= -versine
        total += WEIGHTS[k] * power * math.exp(-size * versine)
    found = half * total / math.pi
    return -found if x < 0.0 and (n + order) % 2 else found
