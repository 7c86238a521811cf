"""Special functions of one float in plain Python, so that a scalar program needs neither NumPy nor SciPy.

Each function raises ValueError or OverflowError where IEEE 754 has an infinity or a nan; the array path answers then.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SQRT_HALF = math.sqrt(0.5)
SQRT_TWO_PI = math.sqrt(2.0 * math.pi)
FOUR_OVER_PI = 4.0 / math.pi
LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
EULER_GAMMA = 0.57721566490153286061

# B(2k) for k = 1..10: DLMF 24.2(iv).
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
)  # fmt: skip


# --- Gaussians ------------------------------------------------------------------------------------------------------


def gaussian(x: float, scale: float = 1.0) -> float:
    """exp(-scale*x**2) for scale 1 or 1/2, corrected for what rounding takes from the square in the exponent."""
    if abs(x) > 64.0:
        return 0.0
    square = x * x
    return math.exp(-scale * square) * (1.0 - scale * _square_rest(x, square))


def normal_density(x: float) -> float:
    return gaussian(x, 0.5) / SQRT_TWO_PI


def ndtr(x: float) -> float:
    """The normal distribution function. erfc of x/sqrt(2) would feel the rounding of its argument in the lower tail."""
    argument = x * SQRT_HALF
    return 0.5 * math.erfc(-argument) if x > -1.0 else 0.5 * _erfc_corrected(-x)


def _erfc_corrected(x: float) -> float:
    """erfc(x/sqrt(2)) for x >= 1, corrected by its slope for the rounding of x/sqrt(2)."""
    if x > 40.0:
        return 0.0
    z = x * SQRT_HALF
    # At t = x/sqrt(2), erfc(t) = erfc(z) - (t - z) 2/sqrt(pi) exp(-z**2) with t - z = -(z**2 - x**2/2)/(2z); and
    # exp(-z**2)/(sqrt(pi) z erfc(z)) is nearly (1 + sqrt(1 + 4/(pi z**2)))/2, the bound of DLMF 7.8.2.
    zz, xx = z * z, x * x
    error = (zz - 0.5 * xx) + (_square_rest(z, zz) - 0.5 * _square_rest(x, xx))
    return math.erfc(z) * (1.0 + error * (0.5 + 0.5 * math.sqrt(1.0 + FOUR_OVER_PI / zz)))


def _square_rest(x: float, square: float) -> float:
    """x*x - square, exactly, for the rounded square: Dekker's product, as Python 3.11 has no fma."""
    high, low = _split(x)
    return ((high * high - square) + 2.0 * high * low) + low * low


def _split(a: float) -> tuple[float, float]:
    """Two halves of the digits: Dekker, A floating-point technique (1971)."""
    high = 134217729.0 * a
    high -= high - a
    return high, a - high


# --- the gamma function's derivatives -------------------------------------------------------------------------------

# The positive zero of digamma, as a sum of two floats.
DIGAMMA_ZERO = 1.4616321449683622
DIGAMMA_ZERO_LOW = 9.549995429965697e-17


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


def digamma(x: float) -> float:
    """The logarithmic derivative of gamma: recurrence (DLMF 5.5.2) up to 10, then its expansion (5.11.2)."""
    if x <= 0.0:
        if x == 0.0:
            return -math.copysign(math.inf, x)
        nearest = math.floor(x + 0.5)
        fraction = x - nearest
        if fraction == 0.0:
            return math.nan
        # Reflection, DLMF 5.5.4, with the exact distance to the nearest pole.
        reflected = digamma(1.0 - x) - math.pi * cotangent_of_turns(fraction)
        if abs(reflected) < 0.5 and x > -20.0:
            return digamma_around_negative_zero(x, nearest)
        return reflected
    if abs(x - DIGAMMA_ZERO) < 0.25:
        return digamma_difference(DIGAMMA_ZERO, (x - DIGAMMA_ZERO) - DIGAMMA_ZERO_LOW)
    if x == math.inf:
        return x
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    tail = 0.0
    for k in range(9, -1, -1):
        tail = tail * square + BERNOULLI[k] / (2 * k + 2)
    return total + (math.log(x) - 0.5 * inverse - tail * square)


def digamma_around_negative_zero(x: float, nearest: float) -> float:
    """digamma(x) as its difference to the zero beside x > -20, reflected: the difference of cotangents is
    cot(a) - cot(b) = sin(b - a)/(sin(a) sin(b))."""
    n = int(-x)
    zero = DIGAMMA_ZEROS[n]
    h = (x - zero) - DIGAMMA_ZEROS_LOW[n]
    sines = math.sin(math.pi * (x - nearest)) * math.sin(math.pi * (zero - nearest))
    return digamma_difference(1.0 - zero, -h) + math.pi * math.sin(math.pi * h) / sines


def digamma_difference(x: float, h: float) -> float:
    """digamma(x + h) - digamma(x) for positive x and x + h: every term is a multiple of h, so that nothing cancels."""
    if x == math.inf or h == math.inf:
        raise ValueError("left to the array evaluation")
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
    """The n-th derivative of digamma for an integer n and positive x; DLMF 5.15.5 and 5.15.9."""
    order = int(n)
    if order != n or order < 0 or order > 20 or x == math.inf:
        raise ValueError("left to SciPy")
    if order == 0:
        return digamma(x)
    if x <= 0.0:
        fraction = x - math.floor(x + 0.5)
        if fraction == 0.0:
            raise ValueError("a pole")
        # Reflection, DLMF 5.15.6, with the exact distance to the nearest pole.
        reflected = polygamma(n, 1.0 - x)
        poles: float = cotangent_derivative(cotangent_of_turns(fraction), order)
        return (-reflected if order % 2 else reflected) - poles
    total = 0.0
    while x < 12.0 + order:
        total += x ** -(order + 1.0)
        x += 1.0
    total *= math.factorial(order)
    inverse = 1.0 / x
    square = inverse * inverse
    tail = 0.0
    for k in range(9, -1, -1):
        # (2k + n - 1)!/(2k)! for 2k = 2, 4, ...
        tail = tail * square + BERNOULLI[k] * math.perm(2 * k + 1 + order, order - 1)
    leading = math.factorial(order - 1) + 0.5 * math.factorial(order) * inverse
    total += inverse**order * (leading + tail * square)
    return total if order % 2 else -total


def cotangent_of_turns(fraction: float) -> float:
    """cot(pi*fraction) for a nonzero fraction in [-1/2, 1/2], and exactly 0 at the ends."""
    if abs(fraction) < 0.25:
        return 1.0 / math.tan(math.pi * fraction)
    return math.copysign(math.tan(math.pi * (0.5 - abs(fraction))), fraction)


def cotangent_slope(coefficients: list[float]) -> list[float]:
    """The derivative of a polynomial in cot, the constant first: c' = -(1 + c**2)."""
    found = [0.0] * (len(coefficients) + 1)
    for k in range(1, len(coefficients)):
        found[k - 1] -= k * coefficients[k]
        found[k + 1] -= k * coefficients[k]
    return found


def cotangent_derivative(cotangent: Any, order: int) -> Any:
    """pi times the derivative of cot(pi*x) of an order, from cot(pi*x)."""
    coefficients = [0.0, 1.0]
    for _ in range(order):
        coefficients = cotangent_slope(coefficients)
    total: Any = 0.0
    for c in reversed(coefficients):
        total = total * cotangent + c
    return math.pi ** (order + 1) * total


# zeta(k) - 1 for k = 2..31, DLMF 25.2.1.
ZETA_LESS_ONE = (
    0.64493406684822643647, 0.2020569031595942854, 0.082323233711138191516, 0.036927755143369926331,
    0.017343061984449139715, 0.0083492773819228268398, 0.0040773561979443393787, 0.0020083928260822144179,
    0.00099457512781808533715, 0.0004941886041194645587, 0.00024608655330804829864, 0.00012271334757848914675,
    0.000061248135058704829259, 0.000030588236307020493552, 0.000015282259408651871733, 7.6371976378997622736e-6,
    3.8172932649998398565e-6, 1.9082127165539389257e-6, 9.5396203387279611315e-7, 4.7693298678780646312e-7,
    2.3845050272773299e-7, 1.1921992596531107307e-7, 5.9608189051259479612e-8, 2.9803503514652280186e-8,
    1.4901554828365041235e-8, 7.450711789835429492e-9, 3.7253340247884570548e-9, 1.8626597235130490064e-9,
    9.3132743241966818287e-10, 4.656629065033784073e-10,
)  # fmt: skip


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
    """log|gamma(x)|, around its zeros at 1 and 2 by DLMF 5.7.3: math.lgamma has no relative accuracy there."""
    if not 0.5 < x < 2.5:
        value = math.lgamma(x)
        if -18.0 < x < -2.0 and abs(value) < 0.5:
            return log_gamma_around_negative_zero(x)
        return value
    z = x - 1.0 if x < 1.5 else x - 2.0
    around_2: float = log_gamma_around_2(z)
    return around_2 - math.log1p(z) if x < 1.5 else around_2


def log_gamma_around_negative_zero(x: float) -> float:
    """log|gamma(x)| as its difference to the nearest zero: by recurrence (DLMF 5.5.1) up to 10, then by Stirling's series
    (5.11.1). Every term is a multiple of the distance."""
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
    """log(gamma(x + h)) - log(gamma(x)) for positive x and x + h: every term is a multiple of h."""
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


def log_gamma_around_2(z: Any) -> Any:
    """log(gamma(2 + z)) for |z| <= 1/2, floats and arrays."""
    total: Any = 0.0
    for k in range(31, 1, -1):
        total = (total + (ZETA_LESS_ONE[k - 2] / k if k % 2 == 0 else -ZETA_LESS_ONE[k - 2] / k)) * z
    return z * (1.0 - EULER_GAMMA + total)


# --- beta -----------------------------------------------------------------------------------------------------------


# Below this size the logarithm of beta is found without beta itself.
BESIDE_ZERO = 0.3


def stirling_correction(x: float) -> float:
    """log(gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi)/2, for x >= 10: DLMF 5.11.1."""
    square = 1.0 / (x * x)
    tail = 0.0
    for k in range(7, -1, -1):
        tail = tail * square + BERNOULLI[k] / ((2 * k + 2) * (2 * k + 1))
    return tail / x


def betaln(a: float, b: float) -> float:
    """log(abs(beta(a, b))), for positive a and b with Stirling's parts cancelled by hand where an argument is large."""
    small, large = (a, b) if a < b else (b, a)
    if gammas_are_finite(small, large):
        return math.log(abs(math.gamma(small) / math.gamma(small + large) * math.gamma(large)))
    if small == 0.0 and large == large:
        return math.inf
    if not small > 0.0 or large == math.inf:
        raise ValueError("left to SciPy")
    if small < 1e-290:  # gamma(small) may be beyond the floats; beta is 1/small + 1/large there
        return math.log1p(small / large) - math.log(small)
    if large < 10.0:
        found = math.log(math.gamma(small) * (math.gamma(large) / math.gamma(small + large)))
        return betaln_beside_zero(a, b) if abs(found) < BESIDE_ZERO else found
    share = -math.log1p(large / small)
    rest = math.log1p(-small / (small + large))
    difference = stirling_correction(large) - stirling_correction(small + large)
    if small >= 10.0:
        corrections = LOG_SQRT_TWO_PI + stirling_correction(small) + difference
        return corrections - 0.5 * math.log(large) + (small - 0.5) * share + large * rest
    return math.lgamma(small) + difference + small - small * math.log(small + large) + (large - 0.5) * rest


def gammas_are_finite(small: float, large: float) -> bool:
    """Whether beta of a negative number, and perhaps another one, is a quotient of gammas that floats hold, none at a pole."""
    total = small + large
    if not (
        -160.0 < small < 0.0 and large < 160.0 and total > -160.0 and min(abs(small), abs(large), abs(total)) > 1e-290
    ):
        return False
    if small == math.floor(small) or (large < 0.0 and large == math.floor(large)):
        return False
    return total > 0.0 or total != math.floor(total)


def betaln_beside_zero(a: float, b: float) -> float:
    """log(beta(a, b)) where it is small, without a quotient that is rounded beside 1: with e for the distance of one
    argument to 1 it is -log(b) + log(gamma(1 + e)) - (log(gamma(b + 1 + e)) - log(gamma(b + 1)))."""
    near, far = (a, b) if abs(a - 1.0) < abs(b - 1.0) else (b, a)
    found: float = log_gamma(near) - log_gamma_difference(far + 1.0, near - 1.0) - math.log(far)
    return found


def beta(a: float, b: float) -> float:
    if a > 0.0 and b > 0.0 and a + b < 160.0 and a > 1e-300 and b > 1e-300:
        small, large = (a, b) if a < b else (b, a)
        return math.gamma(small) * (math.gamma(large) / math.gamma(small + large))
    if 0.0 < min(a, b) < 1e-290 and max(a, b) < math.inf:
        return 1.0 / a + 1.0 / b
    small, large = (a, b) if a < b else (b, a)
    if gammas_are_finite(small, large):
        return math.gamma(small) / math.gamma(small + large) * math.gamma(large)
    return math.exp(betaln(a, b))


def binomial(n: float, k: float) -> float:
    """n!/(k!(n - k)!) for real arguments, by the product where k is a small integer; else by the beta function."""
    if not 0.5 < n < 1e15 or not (1e-100 < k < 1e15 or k == 0.0):
        raise ValueError("left to SciPy")
    if k < 20.0 and k == math.floor(k):
        found = 1.0
        for i in range(int(k)):
            found *= (n - i) / (i + 1.0)
        return found
    if not n - k > -1.0:
        raise ValueError("left to SciPy")
    return 1.0 / ((n + 1.0) * beta(1.0 + n - k, 1.0 + k))


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
    if x != x or y != y:
        return math.nan
    if x > 0.0 and y > 0.0:
        return deviance(x, y) if x < math.inf and y < math.inf else x * math.log(x / y) - x + y
    return y if x == 0.0 and y >= 0.0 else math.inf


# --- kernels of polygamma -------------------------------------------------------------------------------------------


def positive_polygamma(n: float, x: float) -> float:
    """The n-th derivative of digamma for x > 0, in floats alone: recurrence (DLMF 5.15.5), then 5.15.8."""
    order = int(n)
    if order != n or order < 0 or order > 20 or not 0.0 < x < math.inf:
        raise ValueError("left to the array evaluation")
    if order == 0:
        return digamma(x)
    factor = 1.0  # order!
    for k in range(2, order + 1):
        factor *= k
    total = 0.0
    while x < 12.0 + order:
        total += factor * math.pow(x, -(order + 1.0))
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    tail = 0.0
    for k in range(9, -1, -1):
        rising = 1.0  # (2k + order + 1)!/(2k + 2)!
        for m in range(2 * k + 3, 2 * k + 2 + order):
            rising *= m
        tail = tail * square + BERNOULLI[k] * rising
    total += math.pow(inverse, order) * (factor / order + 0.5 * factor * inverse + tail * square)
    return total if order % 2 else -total


def cotangent_table() -> tuple[float, ...]:
    """The derivatives of cot up to order 20 as polynomials in it, in rows of 22 coefficients: kernels hold no lists."""
    table: list[float] = []
    coefficients = [0.0, 1.0]
    for order in range(21):
        table += coefficients
        table += [0.0] * (20 - order)
        coefficients = cotangent_slope(coefficients)
    return tuple(table)


COTANGENT_COEFFICIENTS = cotangent_table()


def real_polygamma(n: float, x: float) -> float:
    """The n-th derivative of digamma, in floats alone; by reflection (DLMF 5.15.6) for x < 0, as `polygamma` has it."""
    if x > 0.0:
        return positive_polygamma(n, x)
    fraction = x - math.floor(x + 0.5) if x > -math.inf else 0.0
    if fraction == 0.0:
        raise ValueError("left to the array evaluation")
    reflected = positive_polygamma(n, 1.0 - x)
    order = int(n)
    if order == 0:
        return digamma(x)
    cotangent = cotangent_of_turns(fraction)
    poles = 0.0
    for k in range(order + 1, -1, -1):
        poles = poles * cotangent + COTANGENT_COEFFICIENTS[22 * order + k]
    poles *= math.pow(math.pi, order + 1.0)
    return (-reflected if order % 2 else reflected) - poles


def real_polygamma_difference(x: float, h: float, order: int) -> float:
    """polygamma(order, x + h) - polygamma(order, x); for positive x and x + h no digits cancel."""
    if not (x > 0.0 and x + h > 0.0):
        return real_polygamma(order, x + h) - real_polygamma(order, x)
    if order == 0:
        return digamma_difference(x, h)
    if order > 20 or x == math.inf or h == math.inf:
        raise ValueError("left to the array evaluation")
    if abs(h) >= 0.1 * x:
        return positive_polygamma(order, x + h) - positive_polygamma(order, x)
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
