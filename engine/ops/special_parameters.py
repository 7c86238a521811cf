"""Derivatives by parameters, and those of which SciPy has no function, of one float.

Most are integrals whose integrand keeps its sign over the range that is chosen, so that no digit cancels, by panels of 64
nodes, followed until the integrand has fallen by exp(-DECAY). Derivatives by parameters are known up to the order 3.
"""

from __future__ import annotations

import math

from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

from .scipy_functions import scipy_dawsn, scipy_erfcx
from .special_densities import beta_density, gamma_density
from .special_values import BERNOULLI, digamma, polygamma

DECAY = 50.0
# Where the derivatives of P(a, x) by a are taken from those of P(a + 1, x), and those of I_x(a, b) from I_x(a + 1, b): for
# small a, and x (or b) not FAR, beyond which more digits cancel there than by a*x < NEAR.
SMALL, FAR, NEAR = 0.1, 20.0, 0.1
# From where on P(a, x) has a series in 1/a and (x - a)/a up to a gap, and from where on the density is 0 farther off.
LARGE, GAP, VANISHING = 60.0, 0.2, 1e5
NODES, WEIGHTS = (tuple(values.tolist()) for values in leggauss(64))


def bell(order: int, first: float, second: float, third: float) -> float:
    """The derivative of exp(f), divided by it, of an order up to 3, from those of f."""
    if order == 1:
        return first
    if order == 2:
        return first * first + second
    return first * (first * first + 3.0 * second) + third


# --- the incomplete gamma function by its parameter -----------------------------------------------------------------


def gammainc_derivative(a: float, x: float, order: int) -> float:
    """The derivative of P(a, x) by a; near a = 0 by P(a, x) = P(a + 1, x) + x**a exp(-x)/gamma(a + 1), DLMF 8.8.5."""
    if order > 3:
        raise ValueError("derivatives by a parameter are known up to order 3")
    if LARGE <= a < math.inf and 0.0 < x < math.inf:
        gap = (x - a) / a
        if abs(gap) < GAP:
            return -gamma_density(a, x) * gamma_series(gap, 1.0 / a, order)
        if a >= VANISHING:
            return 0.0
    if not (order > 1 and 0.0 < a < SMALL and (0.0 < x <= FAR or 0.0 < a * x <= NEAR)):
        return gamma_integral(a, x, order)
    # log(t) - psi(a) is about 1/a there, and its square cancels with psi'(a).
    above = a + 1.0
    third = -polygamma(2.0, above) if order > 2 else 0.0
    factor = bell(order, math.log(x) - digamma(above), -polygamma(1.0, above), third)
    return gamma_integral(above, x, order) + math.pow(x, a) * math.exp(-x) / math.gamma(above) * factor


def gamma_series(gap: float, rate: float, order: int) -> float:
    """-dP/da over dP/dx, in powers of gap = (x - a)/a and rate = 1/a; by higher orders, their derivative over dP/dx."""
    total = 0.0
    start = 108 * order
    for k in range(7, -1, -1):
        terms = 24 - 3 * k
        start -= terms
        row = 0.0
        for j in range(terms - 1, -1, -1):
            row = row * gap + GAMMA_SERIES[start + j]
        total = total * rate + row
    return total


def gamma_coefficients() -> tuple[float, ...]:
    """For the orders 1 to 3, and for each power of 1/a, those of 24, 21, ..., 3 powers of the gap.

    Where h is the quotient and f the density, P_ax = P_xa says h' f + h f' + df/da = 0: with x = a (1 + gap) that is
    gap h = rate ((1 + gap) h' - h) + (1 + gap) (log(x) - psi(a)), of which the series is the regular solution, and
    by each further order h becomes h (log(x) - psi(a)) + dh/da. Nothing of it cancels but at the zeros in the middle,
    where the integrals of both sides do.
    """
    ratio = Polynomial([1.0, 1.0])  # x/a
    logs = [Polynomial([0.0] + [-((-1.0) ** j) / j for j in range(1, 48)]), Polynomial([0.5])]  # log(x) - psi(a)
    logs += [Polynomial([0.0 if k % 2 else BERNOULLI[k // 2 - 1] / k]) for k in range(2, 8)]
    rows, h = [], Polynomial([0.0])
    for k in range(8):
        h = Polynomial((ratio * (h.deriv() + logs[k]) - h).coef[1 : 48 - 2 * k])
        rows.append(h)
    table: list[float] = []
    for _ in range(3):
        for k in range(8):
            table += rows[k].coef[: 24 - 3 * k].tolist()
        found = []
        for k in range(8):
            h = sum((rows[i] * logs[k - i] for i in range(k + 1)), Polynomial([0.0]))
            found.append(h - ratio * rows[k - 1].deriv() - (k - 1) * rows[k - 1] if k else h)
        rows = found
    return tuple(table)


GAMMA_SERIES = gamma_coefficients()


def gamma_integral(a: float, x: float, order: int) -> float:
    """The derivative of P(a, x) by a: over [0, x] below exp(psi(a)), over [x, inf] above, where no digits cancel. The
    integrand is exp(a t - x (exp(t) - 1)) times a Bell polynomial, by t = log of the variable less that of x."""
    if not (0.0 < a < math.inf and 0.0 < x < math.inf):
        return 0.0 if a > 0.0 and x >= 0.0 else math.nan
    centre = math.log(x) - digamma(a)
    second = -polygamma(1.0, a) if order > 1 else 0.0
    third = -polygamma(2.0, a) if order > 2 else 0.0
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
            total += WEIGHTS[k] * bell(order, centre + t, second, third) * math.exp(a * t - x * math.expm1(t))
        integral += half * total
        low = high
    return -sign * x * gamma_density(a, x) * integral


def gamma_end(a: float, x: float, sign: float, u: float) -> float:
    """Where x (exp(t) - 1) - a t reaches DECAY, for t = sign*u: by Newton's method from a point beyond it."""
    for _ in range(60):
        t = sign * u
        step = (x * math.expm1(t) - a * t - DECAY) / (sign * (x * math.exp(t) - a))
        if not abs(step) < math.inf:
            step = 0.0
        u -= step
        if abs(step) <= 1e-3 * u:
            break
    return u


# --- the incomplete beta function by its parameters -----------------------------------------------------------------


def betainc_derivative(a: float, b: float, x: float, order_a: int, order_b: int) -> float:
    """The derivative of I_x(a, b), `order_a` times by a and `order_b` times by b, not both 0; DLMF 8.17.1."""
    if order_a + order_b > 3:
        raise ValueError("derivatives by a parameter are known up to order 3")
    if not (0.0 < a < math.inf and 0.0 < b < math.inf and 0.0 < x < 1.0):
        return 0.0 if a > 0.0 and b > 0.0 and 0.0 <= x <= 1.0 else math.nan
    log_x, log_rest = math.log(x), math.log1p(-x)
    if order_b == 0 and order_a > 1 and near_zero(a, b):
        above = beta_integral(a + 1.0, b, x, log_x, log_rest, order_a, 0)
        return above + beta_term(a, b, x, 1.0 - x, log_x, order_a)
    if order_a == 0 and order_b > 1 and near_zero(b, a):
        above = beta_integral(a, b + 1.0, x, log_x, log_rest, 0, order_b)
        return above - beta_term(b, a, 1.0 - x, x, log_rest, order_b)
    return beta_integral(a, b, x, log_x, log_rest, order_a, order_b)


def near_zero(a: float, b: float) -> bool:
    """Whether log(t) - psi(a) + psi(a + b) is so large that its square cancels."""
    return a < SMALL and (b <= FAR or a * b <= NEAR)


def beta_term(a: float, b: float, x: float, rest: float, log_x: float, order: int) -> float:
    """The derivative by a of x**a (1 - x)**b/(a beta(a, b)), which is I_x(a, b) - I_x(a + 1, b): DLMF 8.17.20."""
    density = beta_density(a, b, x) if x <= 0.5 else beta_density(b, a, rest)
    n, above = a + b, a + 1.0
    second = polygamma(1.0, n) - polygamma(1.0, above)
    third = polygamma(2.0, n) - polygamma(2.0, above) if order > 2 else 0.0
    return x * rest * density / a * bell(order, log_x + (digamma(n) - digamma(above)), second, third)


def beta_integral(a: float, b: float, x: float, log_x: float, log_rest: float, order_a: int, order_b: int) -> float:
    """The derivative by integrals from the side where no digits cancel."""
    if order_b == 0:
        lower = log_x <= digamma(a) - digamma(a + b)
    elif order_a == 0:
        lower = log_rest >= digamma(b) - digamma(a + b)
    else:
        lower = x <= a / (a + b)
    if lower:
        return beta_part(a, b, x, 1.0 - x, log_x, log_rest, order_a, order_b)
    return -beta_part(b, a, 1.0 - x, x, log_rest, log_x, order_b, order_a)


def beta_cumulant(a: float, b: float, i: int, j: int) -> float:
    """The derivative of -log(beta(a, b)), i times by a and j times by b."""
    n = float(i + j - 1)
    found = polygamma(n, a + b)
    if j == 0:
        found -= polygamma(n, a)
    if i == 0:
        found -= polygamma(n, b)
    return found


def beta_weight(u: float, x: float, rest: float) -> float:
    """log(rest + x exp(-u)) for rest = 1 - x, which is exact where x is rounded to 1."""
    change = x * math.expm1(-u)
    return math.log1p(change) if change > -0.5 else math.log(rest + x * math.exp(-u))


def beta_part(
    a: float, b: float, x: float, rest: float, log_x: float, log_rest: float, order_a: int, order_b: int
) -> float:
    """The integral from 0 to x; `rest` is 1 - x and the logarithms are theirs, exact on either side."""
    # With t/(1 - t) = x/(1 - x) exp(-u): log(t) = log(x) - u - w, log(1 - t) = log(1 - x) - w, w = log(1 - x + x exp(-u)),
    # and the integrand is exp(-a u - (a + b) w) times a Bell polynomial in two variables.
    total, order = a + b, order_a + order_b
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
    mean_a = beta_cumulant(a, b, 1, 0) if order_a else 0.0
    mean_b = beta_cumulant(a, b, 0, 1) if order_b else 0.0
    # The cumulants of the last order, and of order 2 where that is 3: pure in the parameter that is derived more often.
    often_a = order_a >= order_b
    pure, mixed, last = 0.0, 0.0, 0.0
    if order > 1:
        pure = beta_cumulant(a, b, 2, 0) if often_a else beta_cumulant(a, b, 0, 2)
        mixed = beta_cumulant(a, b, 1, 1)
    if order > 2:
        last = beta_cumulant(a, b, order_a, order_b)
    integral, low = 0.0, 0.0
    for panel in range(6):
        distance = (
            -24.0 if panel == 0 else (-8.0 if panel == 1 else (0.0 if panel == 2 else (8.0 if panel == 3 else 24.0)))
        )
        high = min(max(log_x - log_rest + distance, 0.0), end) if panel < 5 else end
        half, part = 0.5 * (high - low), 0.0
        for k in range(64 if half > 0.0 else 0):
            u = low + half * (1.0 + NODES[k])
            w = beta_weight(u, x, rest)
            by_a = mean_a + (log_x - u - w)
            by_b = mean_b + (log_rest - w)
            more, less = (by_a, by_b) if often_a else (by_b, by_a)
            if order_a == 0 or order_b == 0:
                polynomial = bell(order, more, pure, last)
            elif order == 2:
                polynomial = more * less + mixed
            else:
                polynomial = (more * more + pure) * less + 2.0 * more * mixed + last
            part += WEIGHTS[k] * polynomial * math.exp(-a * u - total * w)
        integral += half * part
        low = high
    return x * rest * density * integral


# --- the error function, Dawson's integral and scaled Bessel functions, by their argument ----------------------------


def repeated_integral_ratio(x: float, order: int) -> float:
    """i^n erfc(x) / i^(n-1) erfc(x) for n = order and x >= 1/2: a continued fraction, DLMF 7.18.13, from behind."""
    found = x
    for k in range(850 if x < 0.7 else 400 if x < 2.0 else 120, 0, -1):
        found = x + (order + k) * 0.5 / found
    return 0.5 / found


def erfcx_derivative(x: float, order: int) -> float:
    """(-2)**n n! exp(x**2) i^n erfc(x); below 1/2 from the value by y' = 2 x y - 2/sqrt(pi)."""
    found = scipy_erfcx(x)
    if x >= 0.5:
        for n in range(1, order + 1):
            found *= -2.0 * n * repeated_integral_ratio(x, n)
        return found
    before, found = found, 2.0 * x * found - 1.1283791670955126
    for n in range(1, order):
        before, found = found, 2.0 * x * found + 2.0 * n * before
    return found


def dawsn_derivative(x: float, order: int) -> float:
    """The derivative of Dawson's integral, of an order from 1 on.

    By D' = 1 - 2 x D and its derivatives (DLMF 7.10.2 and 7.10.3, for the imaginary part of w) up to 8; their terms
    cancel for large x, where the asymptotic series serves: the sum of (2k - 1)!!/(2**(k + 1) x**(2k + 1)), the
    counterpart of DLMF 7.12.1.
    """
    if not abs(x) > 8.0:
        before, found = scipy_dawsn(x), 1.0 - 2.0 * x * scipy_dawsn(x)
        for n in range(1, order):
            before, found = found, -2.0 * x * found - 2.0 * n * before
        return found
    term = 0.5 / x
    for n in range(1, order + 1):
        term *= -n / x
    total = 0.0
    for k in range(40):
        total += term
        # The next double factorial, and the next falling product of the derived power.
        term *= 0.5 * (2 * k + 1 + order) / x * (2 * k + 2 + order) / (2 * k + 2) / x
    return total


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
