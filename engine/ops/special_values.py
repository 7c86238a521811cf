"""Values of special functions and of their derivatives by a parameter, on arrays, where SciPy has none or loses digits.

The derivatives by a parameter are integrals whose integrand keeps its sign over the range that is chosen, so that no
digit cancels; Gauss-Legendre panels of 64 nodes reach the last digits because the integrands are analytic in a wide
neighbourhood of each panel.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from .special_integrals import EXPI_ZERO, expi_around_zero
from .special_parameters import GAP, LARGE, VANISHING, gamma_series
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

NODES = 64
# Integrands are followed until they have fallen by exp(-DECAY).
DECAY = 50.0
# Where the derivatives of P(a, x) by a are taken from those of P(a + 1, x).
SMALL, FAR, NEAR = 0.1, 20.0, 0.1
CHUNK = 4096


# --- quadrature -----------------------------------------------------------------------------------------------------


@cache
def _legendre() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(NODES)


def _panels(integrand: Any, end: Array, breaks: list[Array]) -> Array:
    """The integral of `integrand(u)` over [0, end] by panels that meet at the breaks; all are flat arrays."""
    nodes, weights = _legendre()
    points = [np.zeros_like(end), *(np.clip(b, 0.0, end) for b in breaks), end]
    total = np.zeros_like(end)
    for low, high in pairwise(points):
        half = 0.5 * (high - low)
        if not half.any():
            continue
        u = low[:, None] + half[:, None] * (1.0 + nodes)
        total += half * (integrand(u) @ weights)
    return total


def _elementwise(function: Any, *inputs: Any) -> Array:
    """`function` on flat float64 arrays of equal size, in chunks that bound the memory for nodes."""
    arrays = np.broadcast_arrays(*[np.asarray(x, dtype=np.float64) for x in inputs])
    shape = arrays[0].shape
    flat = [a.ravel() for a in arrays]
    parts = [function(*(f[i : i + CHUNK] for f in flat)) for i in range(0, flat[0].size, CHUNK)]
    return (np.concatenate(parts) if parts else np.zeros(0)).reshape(shape)


def _masked(function: Any, valid: Array, fill: Array, *inputs: Array) -> Array:
    """`function` where `valid`, `fill` elsewhere."""
    out = np.array(np.broadcast_to(fill, valid.shape), dtype=np.float64)
    if valid.any():
        out[valid] = function(*(x[valid] for x in inputs))
    return out


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
    return _elementwise(_gamma_density, a, x)


def _gamma_density(a: Array, x: Array) -> Array:
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
    return _elementwise(_beta_density, a, b, x)


def _beta_density(a: Array, b: Array, x: Array) -> Array:
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


# --- the incomplete gamma function by its parameter -----------------------------------------------------------------


def _decay_end(height: Any, slope: Any, start: Array) -> Array:
    """Where a convex `height` reaches DECAY, by Newton's method from a point beyond it."""
    u = start
    for _ in range(60):
        step = (height(u) - DECAY) / slope(u)
        step = np.where(np.isfinite(step), step, 0.0)
        u = u - step
        if (np.abs(step) <= 1e-3 * u).all():
            break
    return u


def gammainc_derivative(a: Any, x: Any, order: int) -> Array:
    """The derivative of P(a, x) by a, of an order from 1 on.

    d^n/da^n of t**(a - 1)/gamma(a) is that times a Bell polynomial in log(t) - psi(a), -psi'(a), ...; it is
    integrated from 0 to x (DLMF 8.2.1) below exp(psi(a)), where log(t) - psi(a) changes sign, and from x to infinity
    above. Near a = 0 these cancel: there P(a, x) = P(a + 1, x) + x**a exp(-x)/gamma(a + 1), DLMF 8.8.5. Of large a it
    is the density times a series, up to order 3.
    """
    return _elementwise(lambda a, x: _gamma_of_any_size(a, x, order), a, x)


def _gamma_of_any_size(a: Array, x: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        large = (order <= 3) & (a >= LARGE) & (a < np.inf) & (x > 0.0) & (x < np.inf)
        large &= (np.abs((x - a) / a) < GAP) | (a >= VANISHING)
    if not large.any():
        return _near_zero(a, x, order)
    out = _masked(lambda a, x: _near_zero(a, x, order), ~large, np.zeros(a.shape), a, x)
    return _masked(lambda a, x: _gamma_far(a, x, order), large, out, a, x)


def _gamma_far(a: Array, x: Array, order: int) -> Array:
    with np.errstate(over="ignore"):
        gap = (x - a) / a
    near = np.abs(gap) < GAP
    series: Any = gamma_series  # Of arrays element by element, too.
    return np.where(near, -_gamma_density(a, x) * series(np.where(near, gap, 0.0), 1.0 / a, order), 0.0)


def _near_zero(a: Array, x: Array, order: int) -> Array:
    near = (order > 1) & (a > 0.0) & (a < SMALL) & (x > 0.0) & ((x <= FAR) | (a * x <= NEAR))
    out = _gammainc_derivative(np.where(near, a + 1.0, a), x, order)
    return out + _masked(lambda a, x: _gamma_term(a, x, order), near, np.zeros(a.shape), a, x)


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
    out = _masked(lambda a, x, p: _gamma_lower(a, x, p, order), lower, fill, a, x, psi)
    return _masked(lambda a, x, p: -_gamma_upper(a, x, p, order), upper, out, a, x, psi)


def _gamma_weight(a: Array, psi: Array, log_x: Array, order: int) -> Any:
    cumulants = [-special.polygamma(k, a)[:, None] for k in range(1, order)]

    def weight(shift: Array) -> Array:
        centred = (log_x - psi)[:, None] + shift
        return _bell([[0.0], [centred], *([c] for c in cumulants)])

    return weight


def _gamma_lower(a: Array, x: Array, psi: Array, order: int) -> Array:
    # t = x exp(-u): the integrand falls as exp(-a u + x(1 - exp(-u))), log-concave.
    weight = _gamma_weight(a, psi, np.log(x), order)
    end = _decay_end(lambda u: a * u + x * np.expm1(-u), lambda u: a - x * np.exp(-u), (DECAY + x) / a)
    integral = _panels(
        lambda u: np.exp(-a[:, None] * u - x[:, None] * np.expm1(-u)) * weight(-u), end, [np.minimum(8.0, end)]
    )
    return x * _gamma_density(a, x) * integral


def _gamma_upper(a: Array, x: Array, psi: Array, order: int) -> Array:
    # t = x exp(u): exp(a u - x(exp(u) - 1)) falls doubly exponentially near the end, which has a panel of its own.
    weight = _gamma_weight(a, psi, np.log(x), order)
    start = np.log1p((DECAY + 3.0 * a + a * np.maximum(-np.log(x), 0.0)) / x) + 1.0
    end = _decay_end(lambda u: x * np.expm1(u) - a * u, lambda u: x * np.exp(u) - a, start)
    integral = _panels(
        lambda u: np.exp(a[:, None] * u - x[:, None] * np.expm1(u)) * weight(u), end, [end - 16.0, end - 6.0]
    )
    return x * _gamma_density(a, x) * integral


# --- the incomplete beta function by its parameters -----------------------------------------------------------------


def betainc_derivative(a: Any, b: Any, x: Any, order_a: int, order_b: int) -> Array:
    """The derivative of I_x(a, b), `order_a` times by a and `order_b` times by b, not both 0; DLMF 8.17.1.

    Near a = 0 those by a alone come from I_x(a + 1, b), near b = 0 those by b from I_x(a, b + 1).
    """
    if order_b == 0 and order_a > 1:
        return _elementwise(lambda a, b, x: _beta_near_zero(a, b, x, order_a, 0), a, b, x)
    if order_a == 0 and order_b > 1:
        return _elementwise(lambda a, b, x: _beta_near_zero(a, b, x, 0, order_b), a, b, x)
    return _elementwise(lambda a, b, x: _betainc_derivative(a, b, x, order_a, order_b), a, b, x)


def _beta_near_zero(a: Array, b: Array, x: Array, order_a: int, order_b: int) -> Array:
    small, other = (a, b) if order_a else (b, a)
    near = (small > 0.0) & (small < SMALL) & ((other <= FAR) | (small * other <= NEAR))
    near &= (other > 0.0) & (x > 0.0) & (x < 1.0)
    up = np.where(near, 1.0, 0.0)
    if order_a:
        out = _betainc_derivative(a + up, b, x, order_a, 0)
        return out + _masked(
            lambda a, b, x: _beta_term(a, b, x, 1.0 - x, np.log(x), order_a), near, np.zeros(a.shape), a, b, x
        )
    out = _betainc_derivative(a, b + up, x, 0, order_b)
    return out - _masked(
        lambda a, b, x: _beta_term(b, a, 1.0 - x, x, np.log1p(-x), order_b), near, np.zeros(a.shape), a, b, x
    )


def _beta_term(a: Array, b: Array, x: Array, rest: Array, log_x: Array, order: int) -> Array:
    """The derivative by a of x**a (1 - x)**b/(a beta(a, b)), which is I_x(a, b) - I_x(a + 1, b): DLMF 8.17.20."""
    density = np.where(x <= 0.5, _beta_density(a, b, x), _beta_density(b, a, rest))
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
    out = _masked(
        lambda a, b, x: _beta_part(a, b, x, 1.0 - x, np.log(x), np.log1p(-x), order_a, order_b), lower, fill, a, b, x
    )
    return _masked(
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
    density = np.where(x <= 0.5, _beta_density(a, b, x), _beta_density(b, a, rest))
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

    end = _decay_end(height, slope, (DECAY - total * log_rest) / a)
    centre = log_x - log_rest
    integral = _panels(integrand, end, [centre - 24.0, centre - 8.0, centre, centre + 8.0, centre + 24.0])
    return x * rest * density * integral


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
    return _elementwise(lambda x, h: _polygamma_difference(x, h, order), x, h)


def _polygamma_difference(x: Array, h: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        valid = (x > 0.0) & (x + h > 0.0) & np.isfinite(x) & np.isfinite(h)
        plain = special.polygamma(order, x + h) - special.polygamma(order, x)
    return _masked(lambda x, h: _positive_difference(x, h, order), valid, plain, x, h)


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
    return _elementwise(_betaln, a, b)


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
    return _elementwise(_binomial, n, k)


def _binomial(n: Array, k: Array) -> Array:
    with np.errstate(all="ignore"):
        near = (n > 0.5) & (n < 1e15) & (((k > 1e-100) & (k < 1e15)) | (k == 0.0))
        counted = near & (k < 20.0) & (k == np.floor(k))
        found = np.asarray(special.binom(n, k))
        found = _masked(_falling_quotient, counted, found, n, k)
        return _masked(_by_beta, near & ~counted & (n - k > -1.0), found, n, k)


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


def erfc(x: Any) -> Array:
    """1 - erf(x). In the upper tail SciPy's loses two digits; the scaled function and an exact Gaussian do not."""
    tail = x > 1.0
    return np.where(tail, special.erfcx(np.where(tail, x, 1.0)) * gaussian(x), special.erfc(x))


def ndtr(x: Any) -> Array:
    """The normal distribution function, likewise."""
    tail = x < -1.0
    scaled = special.erfcx(np.where(tail, x, -1.0) * -SQRT_HALF)
    return 0.5 * np.where(tail, scaled * gaussian(x, 0.5), special.erfc(x * -SQRT_HALF))


def erfcx_derivative(x: Any, order: int) -> Array:
    """The derivative of exp(x**2) erfc(x), of an order from 1 on.

    For x > 0 from 2/sqrt(pi) times the integral of exp(-t**2 - 2 x t) over t > 0, which is DLMF 7.2.2 with x + t for
    t; for x < 0 by the recurrence y'' = 2 x y' + 2 y (DLMF 7.10.3), whose terms have one sign there.
    """
    return _elementwise(lambda x: _erfcx_derivative(x, order), x)


def _erfcx_derivative(x: Array, order: int) -> Array:
    with np.errstate(all="ignore"):
        previous, value = special.erfcx(x), 2.0 * x * special.erfcx(x) - 2.0 / math.sqrt(math.pi)
        for n in range(1, order):
            previous, value = value, 2.0 * x * value + 2.0 * n * previous
    return _masked(lambda x: _erfcx_integral(x, order), (x > 0.0) & (x < np.inf), np.where(x == np.inf, 0.0, value), x)


def _erfcx_integral(x: Array, order: int) -> Array:
    near = np.minimum(x, 1e8)
    end = DECAY / (near + np.sqrt(near * near + DECAY))
    integral = _panels(lambda t: t**order * np.exp(-t * (t + 2.0 * near[:, None])), end, [])
    # Farther off the square of t does not matter.
    far = (-1.0) ** order * math.factorial(order) / math.sqrt(math.pi) * x ** -(order + 1.0)
    return np.where(x > 1e8, far, (-2.0) ** order * (2.0 / math.sqrt(math.pi)) * integral)


def dawsn_derivative(x: Any, order: int) -> Array:
    """The derivative of Dawson's integral, of an order from 1 on.

    By D' = 1 - 2 x D and its derivatives (DLMF 7.10.2 and 7.10.3, for the imaginary part of w) up to 8; their terms
    cancel for large x, where the asymptotic series serves: the sum of (2k - 1)!!/(2**(k + 1) x**(2k + 1)), the
    counterpart of DLMF 7.12.1.
    """
    return _elementwise(lambda x: _dawsn_derivative(x, order), x)


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
    return _elementwise(lambda s, q: _zeta_derivative(s, q, order), s, q)


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
    return _elementwise(lambda x: _scaled_bessel_derivative(x, n, order), x)


def _scaled_bessel_derivative(x: Array, n: int, order: int) -> Array:
    size = np.abs(x)
    valid = np.isfinite(size)
    value = _masked(
        lambda size: _scaled_bessel_integral(size, n, order), valid, np.where(np.isnan(x), np.nan, 0.0), size
    )
    return np.where(x < 0.0, (-1.0) ** (n + order), 1.0) * value


def _scaled_bessel_integral(x: Array, n: int, order: int) -> Array:
    with np.errstate(all="ignore"):
        end = 2.0 * np.arcsin(np.minimum(1.0, np.sqrt(0.5 * DECAY / x)))

    def integrand(v: Array) -> Array:
        versine = 2.0 * np.sin(0.5 * v) ** 2
        return np.exp(-x[:, None] * versine) * (-versine) ** order * (1.0 - versine if n else 1.0)

    return _panels(integrand, end, []) / math.pi


def normal_density(x: Any) -> Array:
    """exp(-x**2/2)/sqrt(2 pi)."""
    return gaussian(x, 0.5) / math.sqrt(2.0 * math.pi)
