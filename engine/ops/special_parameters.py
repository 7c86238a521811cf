"""Derivatives of incomplete gamma and beta functions by their parameters, and of scaled Bessel functions: of one float.

The formulas and the quadrature are those of special_values.py, which has them for arrays: panels of 64 nodes, followed
until the integrand has fallen by exp(-DECAY). Orders up to 3; above, ValueError is raised, and the array path answers.
"""

from __future__ import annotations

import math

from .special_scalar import LOG_SQRT_TWO_PI, deviance, digamma, log_gamma, positive_polygamma, stirling_correction

DECAY = 50.0
# Where the derivatives of P(a, x) by a are taken from those of P(a + 1, x), and those of I_x(a, b) from I_x(a + 1, b): for
# small a, and x (or b) not FAR, beyond which more digits cancel there than by a*x < NEAR.
SMALL, FAR, NEAR = 0.1, 20.0, 0.1
# From where on P(a, x) has a series in 1/a and (x - a)/a, and the gap from which on its density is 0 there.
LARGE, GAP = 1e6, 0.0625
# The positive zeros of the Legendre polynomial of degree 64, and Gauss' weights: DLMF 3.5(v).
LEGENDRE_NODES = (
    0.024350292663424433, 0.07299312178779904, 0.12146281929612056, 0.16964442042399283, 0.21742364374000708,
    0.2646871622087674, 0.31132287199021097, 0.3572201583376681, 0.4022701579639916, 0.4463660172534641,
    0.48940314570705296, 0.5312794640198946, 0.571895646202634, 0.6111553551723933, 0.6489654712546573,
    0.6852363130542333, 0.7198818501716109, 0.7528199072605319, 0.7839723589433414, 0.8132653151227975,
    0.8406292962525803, 0.8659993981540928, 0.8893154459951141, 0.9105221370785028, 0.9295691721319396,
    0.9464113748584028, 0.9610087996520538, 0.973326827789911, 0.983336253884626, 0.9910133714767443,
    0.9963401167719553, 0.9993050417357722,
)  # fmt: skip
LEGENDRE_WEIGHTS = (
    0.048690957009139724, 0.04857546744150343, 0.048344762234802954, 0.04799938859645831, 0.04754016571483031,
    0.04696818281621002, 0.046284796581314416, 0.04549162792741814, 0.044590558163756566, 0.04358372452932345,
    0.04247351512365359, 0.04126256324262353, 0.03995374113272034, 0.038550153178615626, 0.03705512854024005,
    0.035472213256882386, 0.033805161837141606, 0.03205792835485155, 0.030234657072402478, 0.028339672614259483,
    0.02637746971505466, 0.024352702568710874, 0.022270173808383253, 0.02013482315353021, 0.017951715775697343,
    0.015726030476024718, 0.013463047896718643, 0.011168139460131128, 0.008846759826363947, 0.006504457968978363,
    0.004147033260562468, 0.001783280721696433,
)  # fmt: skip


def bell(order: int, first: float, second: float, third: float) -> float:
    """The derivative of exp(f), divided by it, of an order up to 3, from those of f."""
    if order == 1:
        return first
    if order == 2:
        return first * first + second
    if order == 3:
        return first * (first * first + 3.0 * second) + third
    raise ValueError("left to the array evaluation")


# --- densities ------------------------------------------------------------------------------------------------------


def stirling_error(x: float) -> float:
    """log(gamma(x)) less Stirling's (x - 1/2) log(x) - x + log(2 pi)/2: DLMF 5.11.1 from 10 on, by definition below."""
    if x >= 10.0:
        return stirling_correction(x)
    return log_gamma(x + 1.0) - (x + 0.5) * math.log(x) + x - LOG_SQRT_TWO_PI


def gamma_density(a: float, x: float) -> float:
    """x**(a - 1) exp(-x)/gamma(a); Loader's saddle point form of it where that leaves the floats."""
    if not (a >= 0.0 and x >= 0.0):
        return math.nan
    if x == 0.0:
        return math.inf if a < 1.0 else (1.0 if a == 1.0 else 0.0)
    if a == 0.0 or x == math.inf or a == math.inf:
        return 0.0
    if a < 20.0 and x < 600.0:
        direct = math.pow(x, a - 1.0) * math.exp(-x) / math.gamma(a)
        if 1e-290 < direct < math.inf:
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
    if n < 40.0:
        small, large = (a, b) if a < b else (b, a)
        beta = math.gamma(small) * (math.gamma(large) / math.gamma(n))
        direct = math.pow(x, a - 1.0) * math.exp((b - 1.0) * math.log1p(-x)) / beta
        if 1e-290 < direct < math.inf:
            return direct
    exponent = stirling_error(n) - stirling_error(a) - stirling_error(b)
    exponent = exponent - deviance(a, n * x) - deviance(b, n * (1.0 - x))
    return math.sqrt(a / (2.0 * math.pi * n) * b) * math.exp(exponent) / (x * (1.0 - x))


# --- the incomplete gamma function by its parameter -----------------------------------------------------------------


def gammainc_derivative(a: float, x: float, order: int) -> float:
    """The derivative of P(a, x) by a; near a = 0 by P(a, x) = P(a + 1, x) + x**a exp(-x)/gamma(a + 1), DLMF 8.8.5."""
    if order <= 3 and LARGE <= a < math.inf and 0.0 < x < math.inf:
        gap = (x - a) / a
        # Farther off the density is 0.
        return -gamma_density(a, x) * gamma_series(gap, 1.0 / a, order) if abs(gap) < GAP else 0.0
    if not (order > 1 and 0.0 < a < SMALL and (0.0 < x <= FAR or 0.0 < a * x <= NEAR)):
        return gamma_integral(a, x, order)
    # log(t) - psi(a) is about 1/a there, and its square cancels with psi'(a).
    above = a + 1.0
    third = -positive_polygamma(2.0, above) if order > 2 else 0.0
    factor = bell(order, math.log(x) - digamma(above), -positive_polygamma(1.0, above), third)
    return gamma_integral(above, x, order) + math.pow(x, a) * math.exp(-x) / math.gamma(above) * factor


def gamma_series(gap: float, rate: float, order: int) -> float:
    """-dP/da over dP/dx, in powers of gap = (x - a)/a and rate = 1/a; by higher orders, their derivative over dP/dx.

    Where h is the quotient and f the density, P_ax = P_xa says h' f + h f' + df/da = 0: with x = a (1 + gap) that is
    gap h = rate ((1 + gap) h' - h) + (1 + gap) (log(x) - psi(a)), of which the series is the regular solution, and
    by each further order h becomes h (log(x) - psi(a)) + dh/da. Terms are kept down to gap**8, rate counting for two.
    """
    e, d = gap, rate
    if order == 1:
        far = 1 / 6 + e * (1 / 12 - e * (1 / 30 - e * (1 / 60 - e * (1 / 105 - e * (1 / 168 - e / 252)))))
        far = far + d * (1 / 60 + e * (1 / 60 - e * (1 / 210 - e / 840)) - d * (1 / 105 + e * (1 / 840 - e / 420)))
        near = 1 / 12 - e * (1 / 20 - e * (1 / 30 - e * (1 / 42 - e * (1 / 56 - e / 72))))
        return 1.0 + e * (1 / 2 - e * (1 / 6 - e * near)) + d * far
    if order == 2:
        far = 1 / 36 - e * (1 / 36 - e * (17 / 720 - e * (7 / 360)))
        far = e * (1 / 4 - e * e * far)
        far = far - d * (1 / 12 - e * e * (1 / 36 - e * (1 / 48 - e / 72)))
        far = far - d * d * (1 / 36 + e * (5 / 144 - e / 72) - d * (13 / 720))
        near = 1 / 12 - e * (1 / 12 - e * (13 / 180 - e * (11 / 180 - e * (29 / 560 - e * (223 / 5040)))))
        return e * (1.0 - e * e * near) + d * far
    if order == 3:
        far = 1 / 2 - e * (1 / 4 - e * (1 / 8 - e * (1 / 16 - e * (4 / 135))))
        far = -1.0 - e * (1 / 2 - e * far)
        far = far - d * (1 / 4 + e * (3 / 8 - e * (1 / 8 - e * (1 / 48 + e / 72))))
        far = far + d * d * (1 / 8 - e * (1 / 16 + e / 18) + d * (7 / 72))
        near = 1 / 2 - e * (1 / 4 - e * (1 / 8 - e * (7 / 120 - e * (1 / 48 + e / 945))))
        return e * e * (1.0 - e * near) + d * far
    raise ValueError("left to the array evaluation")


def gamma_integral(a: float, x: float, order: int) -> float:
    """The derivative of P(a, x) by a: over [0, x] below exp(psi(a)), over [x, inf] above, where no digits cancel."""
    if not (0.0 < a < math.inf and 0.0 < x < math.inf):
        return 0.0 if a > 0.0 and x >= 0.0 else math.nan
    log_x = math.log(x)
    centre = log_x - digamma(a)
    second = -positive_polygamma(1.0, a) if order > 1 else 0.0
    third = -positive_polygamma(2.0, a) if order > 2 else 0.0
    if centre <= 0.0:
        # t = x exp(-u)
        end = gamma_end(a, x, -1.0, (DECAY + x) / a)
        first = min(8.0, end)
        total = gamma_panel(0.0, first, -1.0, a, x, centre, second, third, order)
        total += gamma_panel(first, end, -1.0, a, x, centre, second, third, order)
        return x * gamma_density(a, x) * total
    # t = x exp(u)
    end = gamma_end(a, x, 1.0, math.log1p((DECAY + 3.0 * a + a * max(-log_x, 0.0)) / x) + 1.0)
    first, then = max(end - 16.0, 0.0), max(end - 6.0, 0.0)
    total = gamma_panel(0.0, first, 1.0, a, x, centre, second, third, order)
    total += gamma_panel(first, then, 1.0, a, x, centre, second, third, order)
    total += gamma_panel(then, end, 1.0, a, x, centre, second, third, order)
    return -x * gamma_density(a, x) * total


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


def gamma_panel(
    low: float, high: float, sign: float, a: float, x: float, centre: float, second: float, third: float, order: int
) -> float:
    """The integral of exp(a t - x (exp(t) - 1)), t = sign*u, times a Bell polynomial, over a panel."""
    half = 0.5 * (high - low)
    total = 0.0
    if half == 0.0:
        return total
    for k in range(64):
        node = LEGENDRE_NODES[k // 2] if k % 2 == 0 else -LEGENDRE_NODES[k // 2]
        t = sign * (low + half * (1.0 + node))
        weight = LEGENDRE_WEIGHTS[k // 2] * bell(order, centre + t, second, third)
        total += weight * math.exp(a * t - x * math.expm1(t))
    return half * total


# --- the incomplete beta function by its parameters -----------------------------------------------------------------


def betainc_derivative(a: float, b: float, x: float, order_a: int, order_b: int) -> float:
    """The derivative of I_x(a, b), `order_a` times by a and `order_b` times by b, not both 0; DLMF 8.17.1."""
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
    second = positive_polygamma(1.0, n) - positive_polygamma(1.0, above)
    third = positive_polygamma(2.0, n) - positive_polygamma(2.0, above) if order > 2 else 0.0
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
    found = positive_polygamma(n, a + b)
    if j == 0:
        found -= positive_polygamma(n, a)
    if i == 0:
        found -= positive_polygamma(n, b)
    return found


def beta_part(
    a: float, b: float, x: float, rest: float, log_x: float, log_rest: float, order_a: int, order_b: int
) -> float:
    """The integral from 0 to x; `rest` is 1 - x and the logarithms are theirs, exact on either side."""
    # With t/(1 - t) = x/(1 - x) exp(-u): log(t) = log(x) - u - w, log(1 - t) = log(1 - x) - w, w = log1p(x expm1(-u)).
    total = a + b
    density = beta_density(a, b, x) if x <= 0.5 else beta_density(b, a, rest)
    end = (DECAY - total * log_rest) / a
    for _ in range(60):
        decay = math.exp(-end)
        height = a * end + total * math.log1p(x * math.expm1(-end))
        step = (height - DECAY) / (a - total * x * decay / (rest + x * decay))
        if not abs(step) < math.inf:
            step = 0.0
        end -= step
        if abs(step) <= 1e-3 * end:
            break
    centre = log_x - log_rest
    integral, low = 0.0, 0.0
    for k in range(6):
        distance = -24.0 if k == 0 else (-8.0 if k == 1 else (0.0 if k == 2 else (8.0 if k == 3 else 24.0)))
        high = min(max(centre + distance, 0.0), end) if k < 5 else end
        integral += beta_panel(low, high, a, b, x, log_x, log_rest, order_a, order_b)
        low = high
    return x * rest * density * integral


def beta_panel(
    low: float,
    high: float,
    a: float,
    b: float,
    x: float,
    log_x: float,
    log_rest: float,
    order_a: int,
    order_b: int,
) -> float:
    """The integral over a panel of exp(-a u - (a + b) w) times a Bell polynomial in two variables."""
    half = 0.5 * (high - low)
    integral = 0.0
    if half == 0.0:
        return integral
    order = order_a + order_b
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
    for k in range(64):
        node = LEGENDRE_NODES[k // 2] if k % 2 == 0 else -LEGENDRE_NODES[k // 2]
        u = low + half * (1.0 + node)
        w = math.log1p(x * math.expm1(-u))
        by_a = mean_a + (log_x - u - w)
        by_b = mean_b + (log_rest - w)
        more, less = (by_a, by_b) if often_a else (by_b, by_a)
        if order_a == 0 or order_b == 0:
            polynomial = bell(order, more, pure, last)
        elif order == 2:
            polynomial = more * less + mixed
        elif order == 3:
            polynomial = (more * more + pure) * less + 2.0 * more * mixed + last
        else:
            raise ValueError("left to the array evaluation")
        integral += LEGENDRE_WEIGHTS[k // 2] * polynomial * math.exp(-a * u - (a + b) * w)
    return half * integral


# --- scaled Bessel functions ----------------------------------------------------------------------------------------


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
        node = LEGENDRE_NODES[k // 2] if k % 2 == 0 else -LEGENDRE_NODES[k // 2]
        root = math.sin(0.5 * half * (1.0 + node))
        versine = 2.0 * root * root
        power = 1.0 - versine if n else 1.0
        for _ in range(order):
            power *= -versine
        total += LEGENDRE_WEIGHTS[k // 2] * power * math.exp(-size * versine)
    found = half * total / math.pi
    return -found if x < 0.0 and (n + order) % 2 else found
