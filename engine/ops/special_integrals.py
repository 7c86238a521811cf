"""Special functions of one float that kernels call: relatives of the error function, integrals, sinc and zeta.

The tape takes SciPy's functions for arrays and scalars alike; these give the same numbers in plain Python, which the
kernels compile. ValueError is raised where they do not, and the tape answers.
"""

from __future__ import annotations

import math

from .special_scalar import BERNOULLI, EULER_GAMMA, SQRT_HALF, ndtr

# --- the error function's relatives ---------------------------------------------------------------------------------


def erfcx(x: float) -> float:
    """exp(x**2)*erfc(x): by its definition, the square's rounding error taken along, and by the continued fraction."""
    if x < 2.0:
        return math.exp(x * x) * (1.0 + square_error(x)) * math.erfc(x) if x > -26.7 else math.inf
    return repeated_integral_ratio(x, 0) * 1.1283791670955126


def square_error(x: float) -> float:
    """What the rounding of x*x takes away: Dekker, A floating-point technique for extending the precision (1971)."""
    high = 134217729.0 * x
    high -= high - x
    low = x - high
    return ((high * high - x * x) + 2.0 * high * low) + low * low


def repeated_integral_ratio(x: float, order: int) -> float:
    """i^n erfc(x) / i^(n-1) erfc(x) for n = order and x >= 1/2: a continued fraction, DLMF 7.18.13, from behind."""
    found = x
    for k in range(850 if x < 0.7 else 400 if x < 2.0 else 120, 0, -1):
        found = x + (order + k) * 0.5 / found
    return 0.5 / found


def erfcx_derivative(x: float, order: int) -> float:
    """(-2)**n n! exp(x**2) i^n erfc(x); below 1/2 from the value by y' = 2 x y - 2/sqrt(pi)."""
    if x != x:
        return x
    if x >= 0.5:
        found = erfcx(x)
        for n in range(1, order + 1):
            found *= -2.0 * n * repeated_integral_ratio(x, n)
        return found
    before, found = erfcx(x), 2.0 * x * erfcx(x) - 1.1283791670955126
    for n in range(1, order):
        before, found = found, 2.0 * x * found + 2.0 * n * before
    return found


def erfinv(x: float) -> float:
    """The inverse of erf: Winitzki's approximation, made exact by Halley's steps on erf, or on erfc in the tails."""
    if not -1.0 < x < 1.0:
        return math.inf if x == 1.0 else (-math.inf if x == -1.0 else math.nan)
    if x == 0.0 or abs(x) < 1e-150:
        return 0.8862269254527580 * x
    size = abs(x)
    return math.copysign(_inverse_of_erfc(1.0 - size, size), x)


def erfcinv(x: float) -> float:
    """The inverse of erfc."""
    if not 0.0 < x < 2.0:
        return math.inf if x == 0.0 else (-math.inf if x == 2.0 else math.nan)
    if x < 1e-300:
        raise ValueError("left to SciPy")
    if x <= 1.0:
        return _inverse_of_erfc(x, 1.0 - x)
    return -_inverse_of_erfc(2.0 - x, x - 1.0)


def _inverse_of_erfc(tail: float, rest: float) -> float:
    """The t >= 0 with erfc(t) = tail and erf(t) = rest = 1 - tail."""
    if rest == 0.0:
        return 0.0
    log = math.log(tail) + math.log1p(rest)
    half = 4.330746750799873 + 0.5 * log
    t = math.sqrt(max(math.sqrt(half * half - log / 0.147) - half, 0.0))
    for _ in range(4):
        # Newton's step over the logarithm of a tail, or over erf itself, with Halley's correction.
        gap = math.erf(t) - rest if rest < 0.5 else tail - math.erfc(t)
        slope = 1.1283791670955126 * math.exp(-t * t)
        if slope == 0.0:
            break
        step = gap / slope
        t -= step / (1.0 + t * step)
    return t


def ndtri(p: float) -> float:
    """The inverse of the normal distribution function."""
    return 0.0 - 1.4142135623730951 * erfcinv(2.0 * p)  # 0 at 1/2 has no sign


def log_ndtr(x: float) -> float:
    """The logarithm of the normal distribution function, by erfcx in the lower tail."""
    if x > 5.0:
        return math.log1p(-ndtr(-x))
    if x > -1.0:
        return math.log(ndtr(x))
    return math.log(0.5 * erfcx(-x * SQRT_HALF)) - 0.5 * x * x


def dawsn(x: float) -> float:
    """Dawson's integral: its series near 0, the trapezoidal sum of Rybicki (1989) of spacing 0.2, then 7.12.1 of DLMF."""
    size = abs(x)
    if size == 0.0:
        return x
    if size < 0.2:
        square, term, total = x * x, x, x
        for k in range(1, 14):
            term *= -2.0 * square / (2.0 * k + 1.0)
            total += term
        return total
    if size > 25.0:
        return 0.5 / x * dawsn_tail(x)
    nearest = 2.0 * math.floor(0.5 * size / 0.2 + 0.5)
    total = 0.0
    for k in range(-37, 38, 2):
        n = nearest + k
        distance = size - 0.2 * n
        total += math.exp(-distance * distance) / n
    return math.copysign(total * 0.5641895835477563, x)


def dawsn_tail(x: float) -> float:
    """2 x F(x) for large x: 1 + 1/(2x**2) + 3/(2x**2)**2 + ..."""
    term, total = 1.0, 1.0
    for k in range(1, 20):
        term *= (2.0 * k - 1.0) / (2.0 * x * x)
        total += term
    return total


def dawsn_derivative(x: float, order: int) -> float:
    """F' = 1 - 2 x F and F^(n+1) = -2 x F^(n) - 2 n F^(n-1), as far as their digits do not cancel."""
    if abs(x) > 7.0:
        raise ValueError("left to the array evaluation")
    before, found = dawsn(x), 1.0 - 2.0 * x * dawsn(x)
    for n in range(1, order):
        before, found = found, -2.0 * x * found - 2.0 * n * before
    return found


# --- integrals ------------------------------------------------------------------------------------------------------


# The zero of Ei, as a sum of two floats: by mpmath.
EXPI_ZERO, EXPI_ZERO_LOW = 0.3725074107813666, 1.3140183414386028e-17


def expi_around_zero(x: float) -> float:
    """Ei(x) as its difference to the zero: by the series term by term, each a multiple of the distance."""
    h = (x - EXPI_ZERO) - EXPI_ZERO_LOW
    total = math.log1p(h / EXPI_ZERO)
    difference, power = h, EXPI_ZERO  # (x**k - z**k)/k! and z**k/k!
    for k in range(1, 18):
        total += difference / k
        difference = (x * difference + h * power) / (k + 1.0)
        power *= EXPI_ZERO / (k + 1.0)
    return total


def expi(x: float) -> float:
    """The exponential integral Ei: its series (DLMF 6.6.2), for large x the divergent one (6.12.2) up to its end."""
    if abs(x - EXPI_ZERO) < 0.2:
        return expi_around_zero(x)
    if x < 0.0:
        return -exp1(-x)
    if x == 0.0:
        return -math.inf
    if x > 40.0:
        if x > 700.0:
            raise ValueError("left to SciPy")
        term, total = 1.0, 1.0
        for k in range(1, 40):
            term *= k / x
            total += term
        return math.exp(x) / x * total
    term, total = 1.0, 0.0
    for k in range(1, 140):
        term *= x / k
        total += term / k
    return EULER_GAMMA + math.log(x) + total


def exp1(x: float) -> float:
    """The exponential integral E1: its series up to 1, then its continued fraction, DLMF 6.9.1, from behind."""
    if not x > 0.0:
        return math.inf if x == 0.0 else math.nan
    if x <= 1.0:
        term, total = -1.0, 0.0
        for k in range(1, 26):
            term *= -x / k
            total += term / k
        return total - EULER_GAMMA - math.log(x)
    found = x
    for k in range(120, 0, -1):
        found = x + k / (1.0 + k / found)
    return math.exp(-x) / found


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


# --- sinc -----------------------------------------------------------------------------------------------------------


def sinc(x: float) -> float:
    """sin(pi*x)/(pi*x), with x reduced exactly."""
    return 1.0 if x == 0.0 else sine_of_turns(x, 0) / (math.pi * x)


def sine_of_turns(x: float, quarter: int) -> float:
    """sin(pi*x), or for quarter 1 cos(pi*x)."""
    nearest = math.floor(x + 0.5)
    turn = x - nearest if abs(x) < 9e15 else 0.0 * x  # exactly; beyond, all numbers are even
    odd = abs(x) < 9e15 and nearest != 2.0 * math.floor(0.5 * nearest)
    if quarter == 0:
        found = math.sin(math.pi * turn)
    elif abs(turn) > 0.25:
        found = math.sin(math.pi * (0.5 - abs(turn)))
    else:
        found = math.cos(math.pi * turn)
    return 0.0 - found if odd else found


def sinc_derivative(x: float, order: int) -> float:
    """For f(t) = sin(t)/t, t f^(n) + n f^(n-1) = sin^(n)(t); Taylor's series for small t."""
    t = math.pi * abs(x)
    scale = math.pow(math.pi, float(order))
    if x < 0.0 and order % 2:
        scale = -scale
    if t < max(2.0, float(order)):
        total, k = 0.0, order + order % 2
        power = t if k > order else 1.0
        for _ in range(20 + order):
            total += (power if k % 4 == 0 else -power) / (k + 1)
            k += 2
            power *= t * t / ((k - order) * (k - order - 1))
        return scale * total
    if t == math.inf:
        return 0.0
    sine, cosine = sine_of_turns(abs(x), 0), sine_of_turns(abs(x), 1)
    value = sine / t
    for n in range(1, order + 1):
        wave = sine if n % 2 == 0 else cosine
        value = ((wave if n % 4 < 2 else -wave) - n * value) / t
    return scale * value


# --- zeta -----------------------------------------------------------------------------------------------------------


def zeta(s: float, q: float) -> float:
    """The Hurwitz zeta function for s > 1: twelve terms and the Euler-Maclaurin formula, DLMF 25.11.5.

    Infinite at its poles, s = 1 and the integers q <= 0; nan for smaller s, and for q < 0 unless s is an integer, as in SciPy.
    """
    if s <= 1.0:
        return math.inf if s == 1.0 else math.nan
    if -1e15 < q <= 0.0 and q == math.floor(q):
        return math.inf
    if -1e3 < q < 0.0:
        if s != math.floor(s):
            return math.nan
        # The terms before q + k is positive, and one more, so that what is left is not near its pole.
        total, count = 0.0, math.floor(-q) + 2
        for k in range(int(count)):
            total += math.pow(q + k, -s)
        return total + _zeta_sum(s, q + count, 0)
    return _zeta_sum(s, q, 0)


def zeta_derivative(s: float, q: float, order: int) -> float:
    """The derivative of zeta by its exponent, of an order up to 3, term by term; of negative numbers there is none."""
    if s > 1.0 and -1e15 < q < 0.0 and q != math.floor(q):
        return math.nan
    if order == 1:
        return _zeta_sum(s, q, 1)
    if order > 3 or not (1.0 < s < 1e3 and 1e-3 < q < 1e15):
        raise ValueError("left to the array evaluation")
    total = 0.0
    for k in range(20):
        log = -math.log(q + k)
        total += (log * log if order == 2 else log * log * log) * math.pow(q + k, -s)
    # Euler and Maclaurin's formula (DLMF 25.11.5) as power series in a step of s: first the bracket, then w**-s.
    w, over = q + 20.0, 1.0 / (s - 1.0)
    b0, b1, b2, b3 = w * over + 0.5, -w * over * over, w * over * over * over, -w * over * over * over * over
    r0, r1, r2, r3 = s, 1.0, 0.0, 0.0  # s (s + 1) ... (s + 2j)
    factor = 0.5 / w
    for j in range(10):
        bernoulli = BERNOULLI[j] * factor
        b0, b1, b2, b3 = b0 + bernoulli * r0, b1 + bernoulli * r1, b2 + bernoulli * r2, b3 + bernoulli * r3
        factor /= w * w * (2.0 * j + 3.0) * (2.0 * j + 4.0)
        for shift in range(2 * j + 1, 2 * j + 3):
            c = s + shift
            r0, r1, r2, r3 = r0 * c, r1 * c + r0, r2 * c + r1, r3 * c + r2
    log = -math.log(w)
    if order == 2:
        tail = b0 * log * log + 2.0 * b1 * log + 2.0 * b2
    else:
        tail = ((b0 * log + 3.0 * b1) * log + 6.0 * b2) * log + 6.0 * b3
    return total + math.pow(w, -s) * tail


def _zeta_sum(s: float, q: float, order: int) -> float:
    if not (1.0 < s < 1e3 and 1e-3 < q < 1e15):
        raise ValueError("left to SciPy")
    total = 0.0
    for k in range(12):
        term = math.pow(q + k, -s)
        total += -term * math.log(q + k) if order else term
    a = q + 12.0
    log = math.log(a) if order else 0.0
    head, half = math.pow(a, 1.0 - s) / (s - 1.0), 0.5 * math.pow(a, -s)
    total += -head * (log + 1.0 / (s - 1.0)) - half * log if order else head + half
    factor = s * math.pow(a, -s - 1.0) / 2.0  # s (s + 1) ... (s + 2j - 2) a**(-s - 2j + 1) / (2j)!
    slope = 1.0 / s
    for j in range(1, 11):
        term = BERNOULLI[j - 1] * factor
        total += term * (slope - log) if order else term
        first, second = s + 2.0 * j - 1.0, s + 2.0 * j
        factor *= first * second / (a * a * (2.0 * j + 1.0) * (2.0 * j + 2.0))
        slope += 1.0 / first + 1.0 / second
    return total
