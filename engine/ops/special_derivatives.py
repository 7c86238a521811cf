"""Derivatives of special functions that are rows of their own, on arrays: by a parameter, and of any order.

Most are integrals whose integrand keeps its sign over the range that is chosen, so that no digit cancels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from .quadrature import DECAY, by_panels, decay_end, elementwise, masked
from .special_parameters import GAP, LARGE, VANISHING, gamma_series
from .special_scalar import BERNOULLI
from .special_values import flat_beta_density, flat_gamma_density

Array = Any

# Where the derivatives of P(a, x) by a are taken from those of P(a + 1, x).
SMALL, FAR, NEAR = 0.1, 20.0, 0.1


def _bell(kappas: list[list[Array]]) -> Array:
    """The derivative of exp(f) of orders n and m, divided by exp(f): a Bell polynomial in `kappas`, those of f."""
    n, m = len(kappas) - 1, len(kappas[0]) - 1
    table: list[list[Any]] = [[0.0] * (m + 1) for _ in range(n + 1)]
    table[0][0] = 1.0
    for i in range(n + 1):
        for j in range(m + 1):
            if i == j == 0:
                continue
            total: Any = 0.0
            # Derive f' exp(f) by Leibniz' rule, taking the last derivative in a where there is one.
            if i:
                for p in range(i):
                    for q in range(j + 1):
                        total = total + math.comb(i - 1, p) * math.comb(j, q) * table[p][q] * kappas[i - p][j - q]
            else:
                for q in range(j):
                    total = total + math.comb(j - 1, q) * table[0][q] * kappas[0][j - q]
            table[i][j] = total
    return table[n][m]


# --- the incomplete gamma function by its parameter -----------------------------------------------------------------


def gammainc_derivative(a: Any, x: Any, order: int) -> Array:
    """The derivative of P(a, x) by a, of an order from 1 on.

    d^n/da^n of t**(a - 1)/gamma(a) is that times a Bell polynomial in log(t) - psi(a), -psi'(a), ...; it is
    integrated from 0 to x (DLMF 8.2.1) below exp(psi(a)), where log(t) - psi(a) changes sign, and from x to infinity
    above. Near a = 0 these cancel: there P(a, x) = P(a + 1, x) + x**a exp(-x)/gamma(a + 1), DLMF 8.8.5. Of large a it
    is the density times a series, up to order 3.
    """
    return elementwise(lambda a, x: _gamma_of_any_size(a, x, order), a, x)


def _gamma_of_any_size(a: Array, x: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        large = (order <= 3) & (a >= LARGE) & (a < np.inf) & (x > 0.0) & (x < np.inf)
        large &= (np.abs((x - a) / a) < GAP) | (a >= VANISHING)
    if not large.any():
        return _near_zero(a, x, order)
    out = masked(lambda a, x: _near_zero(a, x, order), ~large, np.zeros(a.shape), a, x)
    return masked(lambda a, x: _gamma_far(a, x, order), large, out, a, x)


def _gamma_far(a: Array, x: Array, order: int) -> Array:
    with np.errstate(over="ignore"):
        gap = (x - a) / a
    near = np.abs(gap) < GAP
    series: Any = gamma_series  # Of arrays element by element, too.
    return np.where(near, -flat_gamma_density(a, x) * series(np.where(near, gap, 0.0), 1.0 / a, order), 0.0)


def _near_zero(a: Array, x: Array, order: int) -> Array:
    near = (order > 1) & (a > 0.0) & (a < SMALL) & (x > 0.0) & ((x <= FAR) | (a * x <= NEAR))
    out = _gammainc_derivative(np.where(near, a + 1.0, a), x, order)
    return out + masked(lambda a, x: _gamma_term(a, x, order), near, np.zeros(a.shape), a, x)


def _gamma_term(a: Array, x: Array, order: int) -> Array:
    """The derivative of x**a exp(-x)/gamma(a + 1) by a."""
    above = a + 1.0
    weight = _gamma_weight(above, special.digamma(above), np.log(x), order)
    return np.power(x, a) * np.exp(-x) / special.gamma(above) * weight(np.zeros((a.size, 1)))[:, 0]


def _gammainc_derivative(a: Array, x: Array, order: int) -> Array:
    valid = (a > 0.0) & (x > 0.0) & np.isfinite(a) & np.isfinite(x)
    fill = np.where((a > 0.0) & (x >= 0.0), 0.0, np.nan)
    psi = special.digamma(np.where(valid, a, 1.0))
    with np.errstate(all="ignore"):
        lower = valid & (np.log(x) <= psi)
    upper = valid & ~lower
    out = masked(lambda a, x, p: _gamma_lower(a, x, p, order), lower, fill, a, x, psi)
    return masked(lambda a, x, p: -_gamma_upper(a, x, p, order), upper, out, a, x, psi)


def _gamma_weight(a: Array, psi: Array, log_x: Array, order: int) -> Any:
    cumulants = [-special.polygamma(k, a)[:, None] for k in range(1, order)]

    def weight(shift: Array) -> Array:
        centred = (log_x - psi)[:, None] + shift
        return _bell([[0.0], [centred], *([c] for c in cumulants)])

    return weight


def _gamma_lower(a: Array, x: Array, psi: Array, order: int) -> Array:
    # t = x exp(-u): the integrand falls as exp(-a u + x(1 - exp(-u))), log-concave.
    weight = _gamma_weight(a, psi, np.log(x), order)
    end = decay_end(lambda u: a * u + x * np.expm1(-u), lambda u: a - x * np.exp(-u), (DECAY + x) / a)
    integral = by_panels(
        lambda u: np.exp(-a[:, None] * u - x[:, None] * np.expm1(-u)) * weight(-u), end, [np.minimum(8.0, end)]
    )
    return x * flat_gamma_density(a, x) * integral


def _gamma_upper(a: Array, x: Array, psi: Array, order: int) -> Array:
    # t = x exp(u): exp(a u - x(exp(u) - 1)) falls doubly exponentially near the end, which has a panel of its own.
    weight = _gamma_weight(a, psi, np.log(x), order)
    start = np.log1p((DECAY + 3.0 * a + a * np.maximum(-np.log(x), 0.0)) / x) + 1.0
    end = decay_end(lambda u: x * np.expm1(u) - a * u, lambda u: x * np.exp(u) - a, start)
    integral = by_panels(
        lambda u: np.exp(a[:, None] * u - x[:, None] * np.expm1(u)) * weight(u), end, [end - 16.0, end - 6.0]
    )
    return x * flat_gamma_density(a, x) * integral


# --- the incomplete beta function by its parameters -----------------------------------------------------------------


def betainc_derivative(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Array:
    """The derivative of I_x(a, b), `order_a` times by a and `order_b` times by b, not both 0; DLMF 8.17.1.

    Near a = 0 those by a alone come from I_x(a + 1, b), near b = 0 those by b from I_x(a, b + 1).
    """
    if order_b == 0 and order_a > 1:
        return elementwise(lambda a, b, x: _beta_near_zero(a, b, x, order_a, 0), a, b, x)
    if order_a == 0 and order_b > 1:
        return elementwise(lambda a, b, x: _beta_near_zero(a, b, x, 0, order_b), a, b, x)
    return elementwise(lambda a, b, x: _betainc_derivative(a, b, x, order_a, order_b), a, b, x)


def _beta_near_zero(a: Array, b: Array, x: Array, order_a: int, order_b: int) -> Array:
    small, other = (a, b) if order_a else (b, a)
    near = (small > 0.0) & (small < SMALL) & ((other <= FAR) | (small * other <= NEAR))
    near &= (other > 0.0) & (x > 0.0) & (x < 1.0)
    up = np.where(near, 1.0, 0.0)
    if order_a:
        out = _betainc_derivative(a + up, b, x, order_a, 0)
        return out + masked(
            lambda a, b, x: _beta_term(a, b, x, 1.0 - x, np.log(x), order_a), near, np.zeros(a.shape), a, b, x
        )
    out = _betainc_derivative(a, b + up, x, 0, order_b)
    return out - masked(
        lambda a, b, x: _beta_term(b, a, 1.0 - x, x, np.log1p(-x), order_b), near, np.zeros(a.shape), a, b, x
    )


def _beta_term(a: Array, b: Array, x: Array, rest: Array, log_x: Array, order: int) -> Array:
    """The derivative by a of x**a (1 - x)**b/(a beta(a, b)), which is I_x(a, b) - I_x(a + 1, b): DLMF 8.17.20."""
    density = np.where(x <= 0.5, flat_beta_density(a, b, x), flat_beta_density(b, a, rest))
    n, above = a + b, a + 1.0
    cumulants = [special.polygamma(k, n) - special.polygamma(k, above) for k in range(1, order)]
    first = log_x + (special.digamma(n) - special.digamma(above))
    return x * rest * density / a * _bell([[0.0], [first], *([c] for c in cumulants)])


def _betainc_derivative(a: Array, b: Array, x: Array, order_a: int, order_b: int) -> Array:
    valid = (a > 0.0) & (b > 0.0) & (x > 0.0) & (x < 1.0) & np.isfinite(a) & np.isfinite(b)
    fill = np.where((a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0), 0.0, np.nan)
    with np.errstate(all="ignore"):
        both = special.digamma(a + b)
        mean_a = special.digamma(a) - both
        mean_b = special.digamma(b) - both
        if order_b == 0:
            turn = np.log(x) <= mean_a
        elif order_a == 0:
            turn = np.log1p(-x) >= mean_b
        else:
            turn = x <= a / (a + b)
    lower = valid & turn
    upper = valid & ~turn
    out = masked(
        lambda a, b, x: _beta_part(a, b, x, 1.0 - x, np.log(x), np.log1p(-x), order_a, order_b), lower, fill, a, b, x
    )
    return masked(
        lambda a, b, x: -_beta_part(b, a, 1.0 - x, x, np.log1p(-x), np.log(x), order_b, order_a), upper, out, a, b, x
    )


def _beta_weight(u: Array, x: Array, rest: Array) -> Array:
    """log(rest + x exp(-u)) for rest = 1 - x, which is exact where x is rounded to 1."""
    change = x * np.expm1(-u)
    return np.where(change > -0.5, np.log1p(np.maximum(change, -0.5)), np.log(rest + x * np.exp(-u)))


def _beta_part(
    a: Array, b: Array, x: Array, rest: Array, log_x: Array, log_rest: Array, order_a: int, order_b: int
) -> Array:
    """The integral from 0 to x; `rest` is 1 - x and the logarithms are theirs, exact on either side."""
    # With t/(1 - t) = x/(1 - x) exp(-u): log(t) = log(x) - u - w, log(1 - t) = log(1 - x) - w, w = log(1 - x + x exp(-u)).
    total = a + b
    # The density is symmetric: its accurate side is the one that has x and 1 - x as given.
    density = np.where(x <= 0.5, flat_beta_density(a, b, x), flat_beta_density(b, a, rest))
    kappas: list[list[Any]] = []
    for i in range(order_a + 1):
        row: list[Any] = []
        for j in range(order_b + 1):
            k = i + j
            value: Any = 0.0
            if k:
                value = special.polygamma(k - 1, total)
                if j == 0:
                    value = value - special.polygamma(k - 1, a)
                if i == 0:
                    value = value - special.polygamma(k - 1, b)
                value = value[:, None]
            row.append(value)
        kappas.append(row)

    def integrand(u: Array) -> Array:
        w = _beta_weight(u, x[:, None], rest[:, None])
        local = [list(row) for row in kappas]
        if order_a:
            local[1][0] = local[1][0] + (log_x[:, None] - u - w)
        if order_b:
            local[0][1] = local[0][1] + (log_rest[:, None] - w)
        return np.exp(-a[:, None] * u - total[:, None] * w) * _bell(local)

    def height(u: Array) -> Array:
        return a * u + total * _beta_weight(u, x, rest)

    def slope(u: Array) -> Array:
        decay = np.exp(-u)
        return a - total * x * decay / (rest + x * decay)

    end = decay_end(height, slope, (DECAY - total * log_rest) / a)
    centre = log_x - log_rest
    integral = by_panels(integrand, end, [centre - 24.0, centre - 8.0, centre, centre + 8.0, centre + 24.0])
    return x * rest * density * integral


# --- the error function and Dawson's integral ------------------------------------------------------------------------


def erfcx_derivative(x: Any, order: int) -> Array:
    """The derivative of exp(x**2) erfc(x), of an order from 1 on.

    For x > 0 from 2/sqrt(pi) times the integral of exp(-t**2 - 2 x t) over t > 0, which is DLMF 7.2.2 with x + t for
    t; for x < 0 by the recurrence y'' = 2 x y' + 2 y (DLMF 7.10.3), whose terms have one sign there.
    """
    return elementwise(lambda x: _erfcx_derivative(x, order), x)


def _erfcx_derivative(x: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        previous, value = special.erfcx(x), 2.0 * x * special.erfcx(x) - 2.0 / math.sqrt(math.pi)
        for n in range(1, order):
            previous, value = value, 2.0 * x * value + 2.0 * n * previous
    return masked(lambda x: _erfcx_integral(x, order), (x > 0.0) & (x < np.inf), np.where(x == np.inf, 0.0, value), x)


def _erfcx_integral(x: Array, order: int) -> Array:
    near = np.minimum(x, 1e8)
    end = DECAY / (near + np.sqrt(near * near + DECAY))
    integral = by_panels(lambda t: t**order * np.exp(-t * (t + 2.0 * near[:, None])), end, [])
    # Farther off the square of t does not matter.
    far = (-1.0) ** order * math.factorial(order) / math.sqrt(math.pi) * x ** -(order + 1.0)
    return np.where(x > 1e8, far, (-2.0) ** order * (2.0 / math.sqrt(math.pi)) * integral)


def dawsn_derivative(x: Any, order: int) -> Array:
    """The derivative of Dawson's integral, of an order from 1 on.

    By D' = 1 - 2 x D and its derivatives (DLMF 7.10.2 and 7.10.3, for the imaginary part of w) up to 8; their terms
    cancel for large x, where the asymptotic series serves: the sum of (2k - 1)!!/(2**(k + 1) x**(2k + 1)), the
    counterpart of DLMF 7.12.1.
    """
    return elementwise(lambda x: _dawsn_derivative(x, order), x)


def _dawsn_derivative(x: Array, order: int) -> Array:
    far = np.abs(x) > 8.0
    near = np.where(far, 0.0, x)
    previous, value = special.dawsn(near), 1.0 - 2.0 * near * special.dawsn(near)
    for n in range(1, order):
        previous, value = value, -2.0 * near * value - 2.0 * n * previous
    z = np.where(far, x, 8.0)
    term = 0.5 * (-1.0) ** order * math.factorial(order) * z ** -(order + 1.0)
    series = np.zeros_like(z)
    for k in range(40):
        series += term
        # The next double factorial, and the next falling product of the derived power.
        term = term * (2 * k + 1) * (2 * k + 1 + order) * (2 * k + 2 + order) / (2 * (2 * k + 1) * (2 * k + 2) * z * z)
    return np.where(far, series, value)


# --- the Hurwitz zeta function by its exponent ----------------------------------------------------------------------


def zeta_derivative(s: Any, q: Any, order: int) -> Array:
    """The derivative of zeta(s, q) by s, for s > 1 and q > 0: Euler-Maclaurin (DLMF 25.11(iii)), term by term."""
    return elementwise(lambda s, q: _zeta_derivative(s, q, order), s, q)


def _zeta_derivative(s: Array, q: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        total = np.zeros_like(s)
        for k in range(20):
            total += (-np.log(q + k)) ** order * (q + k) ** -s
        w = q + 20.0
        # Power series in the step of s: first the bracket, then w**-s.
        bracket = [w * (-1.0) ** k / (s - 1.0) ** (k + 1) for k in range(order + 1)]
        bracket[0] = bracket[0] + 0.5
        rising = [s] + [np.ones_like(s) if k == 1 else np.zeros_like(s) for k in range(1, order + 1)]
        for j in range(10):
            factor = BERNOULLI[j] / math.factorial(2 * j + 2) * w ** -(2.0 * j + 1.0)
            bracket = [old + factor * c for old, c in zip(bracket, rising)]
            for shift in (2.0 * j + 1.0, 2.0 * j + 2.0):
                rising = [c * (s + shift) + (rising[k - 1] if k else 0.0) for k, c in enumerate(rising)]
        logs = [(-np.log(w)) ** k / math.factorial(k) for k in range(order + 1)]
        tail = sum(bracket[k] * logs[order - k] for k in range(order + 1))
        total = total + math.factorial(order) * w**-s * tail
        return np.where((s > 1.0) & (q > 0.0), total, np.nan)


# --- scaled Bessel functions ----------------------------------------------------------------------------------------


def scaled_bessel_derivative(x: Any, n: int, order: int) -> Array:
    """The derivative of exp(-|x|) I_n(x) for n = 0 or 1, from the right at 0.

    I_n(x) is the mean of exp(x cos(v)) cos(n v) over v (DLMF 10.32.3); each derivative takes a factor cos(v) - 1.
    """
    return elementwise(lambda x: _scaled_bessel_derivative(x, n, order), x)


def _scaled_bessel_derivative(x: Array, n: int, order: int) -> Array:
    size = np.abs(x)
    valid = np.isfinite(size)
    value = masked(
        lambda size: _scaled_bessel_integral(size, n, order), valid, np.where(np.isnan(x), np.nan, 0.0), size
    )
    return np.where(x < 0.0, (-1.0) ** (n + order), 1.0) * value


def _scaled_bessel_integral(x: Array, n: int, order: int) -> Array:
    with np.errstate(all="ignore"):
        end = 2.0 * np.arcsin(np.minimum(1.0, np.sqrt(0.5 * DECAY / x)))

    def integrand(v: Array) -> Array:
        versine = 2.0 * np.sin(0.5 * v) ** 2
        return np.exp(-x[:, None] * versine) * (-versine) ** order * (1.0 - versine if n else 1.0)

    return by_panels(integrand, end, []) / math.pi
