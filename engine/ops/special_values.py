"""Gaussians and the gamma function's relatives, of one float, where SciPy has none or loses digits, in the Python that kernels compile.

The tape runs them on numbers and, by special_arrays.py, on the elements of arrays.
"""

from __future__ import annotations

import math

from .scipy_functions import scipy_erfcx, scipy_psi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SQRT_HALF = math.sqrt(0.5)
SQRT_TWO_PI = math.sqrt(2.0 * math.pi)
LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
EULER_GAMMA = 0.57721566490153286061

# B(2k) for k = 1..10: DLMF 24.2(iv).
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
)  # fmt: skip


# --- Gaussians ------------------------------------------------------------------------------------------------------


def gaussian(x: float, scale: float = 1.0) -> float:
    """exp(-scale*x**2) for scale 1 or 1/2: the square of the leading digits is exact."""
    if not abs(x) <= 64.0:
        return 0.0 if x == x else x
    high = math.floor(x * 16.0) / 16.0
    return math.exp(-scale * high * high) * math.exp(-scale * (x - high) * (x + high))


def normal_density(x: float) -> float:
    return gaussian(x, 0.5) / SQRT_TWO_PI


def ndtr(x: float) -> float:
    """The normal distribution function. erfc of x/sqrt(2) would feel the rounding of its argument in the lower tail."""
    if x < -1.0:
        return 0.5 * scipy_erfcx(-x * SQRT_HALF) * gaussian(x, 0.5)
    return 0.5 * math.erfc(-x * SQRT_HALF)


# --- zeta and the derivatives of the gamma function -----------------------------------------------------------------


def zeta(s: float, q: float) -> float:
    """The Hurwitz zeta function for s > 1, as SciPy has it: infinite at its poles, and for q < 0 of integers s alone."""
    if not s > 1.0:
        return math.inf if s == 1.0 else math.nan
    if not q <= 0.0:
        return zeta_derivative(s, q, 0)
    if q < -1e15 or q == math.floor(q):
        return math.inf
    if s != math.floor(s) or q < -1e3:
        return math.nan
    # The terms before q + k is positive, and one more, so that what is left is not near its pole.
    total, count = 0.0, math.floor(-q) + 2
    for k in range(int(count)):
        total += math.pow(q + k, -s)
    return total + zeta_derivative(s, q + count, 0)


def zeta_derivative(s: float, q: float, order: int) -> float:
    """The derivative of zeta by its exponent, of an order from 0 to 3, for s > 1 and q > 0: by the formula of Euler and
    Maclaurin, DLMF 25.11.5, term by term."""
    if order > 3:
        raise ValueError("derivatives by a parameter are known up to order 3")
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
    tail = b0
    if order == 1:
        tail = b0 * log + b1
    elif order == 2:
        tail = (b0 * log + 2.0 * b1) * log + 2.0 * b2
    elif order == 3:
        tail = ((b0 * log + 3.0 * b1) * log + 6.0 * b2) * log + 6.0 * b3
    return total + math.pow(w, -s) * tail


# The negative zeros of digamma, by the interval (-n - 1, -n) that each is in, as sums of two floats: by mpmath.
DIGAMMA_ZEROS = (
    -0.5040830082644554, -1.5734984731623904, -2.6107208684441447, -3.635293366436901, -4.653237761743142,
    -5.6671624415568855, -6.678418213073427, -7.687788325031626, -8.695764163816401, -9.702672540001863,
    -10.708740838254144, -11.714133061228955, -12.718971025749207, -13.723347457363827, -14.727334416018529,
    -15.730988906332882, -16.734356723955734, -17.73747515997759, -18.7403749447801, -19.74308167259022,
)  # fmt: skip
DIGAMMA_ZEROS_LOW = (
    -8.15428206243813e-18, -1.574185691077347e-17, 9.881960746978353e-17, 5.454396163173039e-17,
    -2.5492686201468193e-16, -3.2153051074948335e-18, 3.470798723495241e-16, -1.351562494643672e-16,
    -3.2859903716289447e-16, -3.2563178405401477e-16, -6.287211750540301e-16, 8.598250154343834e-16,
    -4.752312432106917e-16, 4.528278691518058e-16, -3.6618399963139786e-17, 1.0551956373365842e-16,
    -1.2039501631800144e-15, -5.125776230727235e-16, 7.757330874026816e-16, 6.505672516695227e-16,
)  # fmt: skip
# The positive one, likewise.
DIGAMMA_ZERO, DIGAMMA_ZERO_LOW = 1.4616321449683622, 9.549995429965697e-17


def digamma(x: float) -> float:
    """The logarithmic derivative of gamma; left of 0 by reflection (DLMF 5.5.4), where SciPy's loses digits near poles."""
    if abs(x - DIGAMMA_ZERO) < 0.25:
        return digamma_difference(DIGAMMA_ZERO, (x - DIGAMMA_ZERO) - DIGAMMA_ZERO_LOW)
    if not x <= 0.0:
        return scipy_psi(x)
    if x == 0.0:
        return -math.copysign(math.inf, x)
    if x < -1e300:
        return math.nan
    nearest = math.floor(x + 0.5)
    fraction = x - nearest
    if fraction == 0.0:
        return math.nan
    reflected = scipy_psi(1.0 - x) - math.pi * cotangent_of_turns(fraction)
    if abs(reflected) >= 0.5 or x < -20.0:
        return reflected
    # As the difference to the zero beside x, reflected: cot(a) - cot(b) = sin(b - a)/(sin(a) sin(b)).
    n = int(-x)
    zero = DIGAMMA_ZEROS[n]
    h = (x - zero) - DIGAMMA_ZEROS_LOW[n]
    sines = math.sin(math.pi * fraction) * math.sin(math.pi * (zero - nearest))
    return digamma_difference(1.0 - zero, -h) + math.pi * math.sin(math.pi * h) / sines


def digamma_difference(x: float, h: float) -> float:
    """digamma(x + h) - digamma(x) for positive x and x + h: every term is a multiple of h, so that nothing cancels."""
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


def cotangent_of_turns(fraction: float) -> float:
    """cot(pi*fraction) for a nonzero fraction in [-1/2, 1/2], and exactly 0 at the ends."""
    if abs(fraction) < 0.25:
        return 1.0 / math.tan(math.pi * fraction)
    return math.copysign(math.tan(math.pi * (0.5 - abs(fraction))), fraction)


def cotangent_table() -> tuple[float, ...]:
    """The derivatives of cot up to order 20 as polynomials in it, in rows of 22 coefficients: c' = -(1 + c**2)."""
    table: list[float] = []
    row = [0.0, 1.0]
    for order in range(21):
        table += row + [0.0] * (20 - order)
        slope = [k * c for k, c in enumerate(row)][1:]
        row = [-(a + b) for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope])]
    return tuple(table)


COTANGENTS = cotangent_table()


def polygamma(n: float, x: float) -> float:
    """The n-th derivative of digamma: DLMF 25.11.12, and by reflection (5.15.6) for x < 0. Infinite or nan at the poles."""
    order = int(n)
    if order != n or order < 0 or order > 20:
        raise ValueError("it is known up to order 20")
    if order == 0:
        return digamma(x)
    factor = 1.0  # order!, with the sign of the result for positive x
    for k in range(1, order + 1):
        factor *= k
    factor = factor if order % 2 else -factor
    if not x <= 0.0:
        return factor * zeta_derivative(order + 1.0, x, 0) if x < math.inf else 0.0 * x
    fraction = x - math.floor(x + 0.5) if x > -1e300 else 0.0
    if fraction == 0.0:
        return math.nan
    cotangent = cotangent_of_turns(fraction)
    poles = 0.0
    for k in range(order + 1, -1, -1):
        poles = poles * cotangent + COTANGENTS[22 * order + k]
    reflected = factor * zeta_derivative(order + 1.0, 1.0 - x, 0)
    return (-reflected if order % 2 else reflected) - math.pow(math.pi, order + 1.0) * poles


def polygamma_difference(x: float, h: float, order: int) -> float:
    """polygamma(order, x + h) - polygamma(order, x); for positive x and x + h no digits cancel."""
    if not (0.0 < x < math.inf and 0.0 < x + h < math.inf) or (order > 0 and abs(h) >= 0.1 * x):
        return polygamma(order, x + h) - polygamma(order, x)
    if order == 0:
        return digamma_difference(x, h)
    below = 1.0  # (order - 1)!
    for k in range(2, order):
        below *= k
    factor = below * order
    total = 0.0
    while x < 12.0 + order or x + h < 12.0 + order:
        total += factor * power_difference(x, h, order + 1.0)
        x += 1.0
    total += below * power_difference(x, h, float(order)) + 0.5 * factor * power_difference(x, h, order + 1.0)
    for k in range(10):
        rising = 1.0  # (2k + order + 1)!/(2k + 2)!
        for m in range(2 * k + 3, 2 * k + 2 + order):
            rising *= m
        total += BERNOULLI[k] * rising * power_difference(x, h, 2.0 * k + 2.0 + order)
    return total if order % 2 else -total


def power_difference(x: float, h: float, power: float) -> float:
    """(x + h)**-power - x**-power, a multiple of h."""
    return math.pow(x, -power) * math.expm1(-power * math.log1p(h / x))


# --- the logarithm of gamma -----------------------------------------------------------------------------------------


# zeta(k) - 1 for k = 2..31.
ZETA_LESS_ONE = tuple([zeta_derivative(float(k), 2.0, 0) for k in range(2, 32)])

# The zeros of log|gamma(x)| between -18 and -2, as sums of two floats: by mpmath. Beyond, no float is near enough to one.
LOG_GAMMA_ZEROS = (
    -2.4570247382208006, -2.7476826467274127, -3.14358088834998, -3.955294284858598, -4.039361839740537,
    -4.991544640560048, -5.0082181683225935, -5.998607480080875, -6.001385294453155, -6.999801507890638,
    -7.000198333407325, -7.999975197095821, -8.000024800270682, -8.999997244250977, -9.000002755714823,
    -9.99999972442663, -10.000000275573013, -10.99999997494789, -11.000000025052106, -11.999999997912324,
    -12.000000002087676, -12.99999999983941, -13.00000000016059, -13.99999999998853, -14.00000000001147,
    -14.999999999999236, -15.000000000000764, -15.999999999999952, -16.000000000000046, -16.999999999999996,
    -17.000000000000004,
)  # fmt: skip
LOG_GAMMA_ZEROS_LOW = (
    -3.7075610815513266e-17, 9.055340329338315e-17, -2.1818179852331714e-16, -1.999428391746348e-17,
    2.1143995503980602e-16, 1.5174411760571722e-16, -4.3926353491015815e-17, -3.311862478893795e-16,
    6.415847287933042e-17, 1.0550130037400023e-17, 2.504354173632409e-16, -5.261737128572354e-17,
    -4.354586297860107e-16, -2.2185620509727132e-16, -9.491348611623208e-17, 4.883037618642443e-16,
    -3.4909708332642057e-16, 1.9843998306985407e-16, -6.850849812286175e-16, -1.0020693920103036e-16,
    1.2222548112048185e-16, 6.747262033096337e-16, -6.745919484964342e-16, 8.094860741926607e-16,
    -8.094853704222662e-16, 8.82932241476868e-16, -8.829322382710274e-16, -1.668613399265054e-16,
    -1.6094954994609367e-15, -7.412564244549576e-16, 7.412564244550028e-16,
)  # fmt: skip


def log_gamma(x: float) -> float:
    """log|gamma(x)|, around its zeros at 1 and 2 by DLMF 5.7.3: the C library's need have no relative accuracy there."""
    if not 0.5 < x < 2.5:
        value = math.lgamma(x)
        return around_negative_zero(x) if -18.0 < x < -2.0 and abs(value) < 0.5 else value
    found: float = log_gamma_around_2(x - 1.0) - math.log1p(x - 1.0) if x < 1.5 else log_gamma_around_2(x - 2.0)
    return found


def log_gamma_around_2(z: Any) -> Any:
    """log(gamma(2 + z)) for |z| <= 1/2, of arrays too."""
    total = 0.0 * z
    for k in range(31, 1, -1):
        total = (total + (ZETA_LESS_ONE[k - 2] / k if k % 2 == 0 else -ZETA_LESS_ONE[k - 2] / k)) * z
    return z * (1.0 - EULER_GAMMA + total)


def around_negative_zero(x: float) -> float:
    """log|gamma(x)| as its difference to the nearest zero, which recurrence (DLMF 5.5.1) makes positive."""
    nearest = 0
    for k in range(31):
        if abs(x - LOG_GAMMA_ZEROS[k]) < abs(x - LOG_GAMMA_ZEROS[nearest]):
            nearest = k
    zero, low = LOG_GAMMA_ZEROS[nearest], LOG_GAMMA_ZEROS_LOW[nearest]
    h = (x - zero) - low
    total = 0.0
    while zero < 10.0:
        total -= math.log1p(h / (zero + low))
        zero += 1.0
    return total + log_gamma_difference(zero, h)


def log_gamma_difference(x: float, h: float) -> float:
    """log(gamma(x + h)) - log(gamma(x)) for positive x and x + h: every term is a multiple of h. DLMF 5.11.1."""
    total = 0.0
    while x < 10.0 or x + h < 10.0:
        total -= math.log1p(h / x)
        x += 1.0
    ratio = math.log1p(h / x)
    total += (x - 0.5) * ratio + h * (math.log(x + h) - 1.0)
    power = 1.0 / x
    for k in range(8):
        total += BERNOULLI[k] / ((2 * k + 2) * (2 * k + 1)) * power * math.expm1(-(2 * k + 1) * ratio)
        power /= x * x
    return total


def stirling_error(x: float) -> float:
    """log(gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi)/2: DLMF 5.11.1 from 10 on, by definition below."""
    if not x >= 10.0:
        return log_gamma(x + 1.0) - (x + 0.5) * math.log(x) + x - LOG_SQRT_TWO_PI
    square = 1.0 / (x * x)
    tail = 0.0
    for k in range(7, -1, -1):
        tail = tail * square + BERNOULLI[k] / ((2 * k + 2) * (2 * k + 1))
    return tail / x
