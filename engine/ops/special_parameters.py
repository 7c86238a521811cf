"""Derivatives of incomplete gamma and beta functions by their parameters, and of scaled Bessel functions: of one float.

The formulas and the quadrature are those of special_derivatives.py, which has them for arrays: panels of 64 nodes,
followed until the integrand has fallen by exp(-DECAY). Orders up to 3; above, ValueError is raised, and the array path answers.
"""

from __future__ import annotations

import math

from .special_scalar import LOG_SQRT_TWO_PI, deviance, digamma, log_gamma, positive_polygamma, stirling_correction

DECAY = 50.0
# Where the derivatives of P(a, x) by a are taken from those of P(a + 1, x), and those of I_x(a, b) from I_x(a + 1, b): for
# small a, and x (or b) not FAR, beyond which more digits cancel there than by a*x < NEAR.
SMALL, FAR, NEAR = 0.1, 20.0, 0.1
# From where on P(a, x) has a series in 1/a and (x - a)/a up to a gap, and from where on the density is 0 farther off.
LARGE, GAP, VANISHING = 60.0, 0.2, 1e5
# Its coefficients: for the orders 1 to 3, and for each power of 1/a, those of 24, 21, ..., 3 powers of the gap, which in
# its range are what float64 holds. By the recurrence that `gamma_series` tells, in fractions.
GAMMA_SERIES = (
    1.0, 0.5, -0.16666666666666666, 0.08333333333333333, -0.05, 0.03333333333333333, -0.023809523809523808,
    0.017857142857142856, -0.013888888888888888, 0.011111111111111112, -0.00909090909090909, 0.007575757575757576,
    -0.00641025641025641, 0.005494505494505495, -0.004761904761904762, 0.004166666666666667, -0.003676470588235294,
    0.0032679738562091504, -0.0029239766081871343, 0.002631578947368421, -0.002380952380952381, 0.0021645021645021645,
    -0.001976284584980237, 0.0018115942028985507, 0.16666666666666666, 0.08333333333333333, -0.03333333333333333,
    0.016666666666666666, -0.009523809523809525, 0.005952380952380952, -0.003968253968253968, 0.002777777777777778,
    -0.00202020202020202, 0.0015151515151515152, -0.0011655011655011655, 0.0009157509157509158,
    -0.0007326007326007326, 0.0005952380952380953, -0.0004901960784313725, 0.0004084967320261438,
    -0.0003439972480220158, 0.00029239766081871346, -0.0002506265664160401, 0.00021645021645021645,
    -0.00018821757952192734, 0.016666666666666666, 0.016666666666666666, -0.004761904761904762, 0.0011904761904761906,
    0.0, -0.0003968253968253968, 0.000505050505050505, -0.000505050505050505, 0.0004662004662004662,
    -0.00041625041625041625, 0.0003663003663003663, -0.0003205128205128205, 0.00028011204481792715,
    -0.00024509803921568627, 0.0002149982800137599, -0.0001891984864121087, 0.0001670843776106934,
    -0.00014809751651856916, -0.009523809523809525, -0.0011904761904761906, 0.002380952380952381,
    -0.001984126984126984, 0.001443001443001443, -0.00101010101010101, 0.0006993006993006993, -0.00048285048285048285,
    0.000333000333000333, -0.00022893772893772894, 0.0001562163326869209, -0.0001050420168067227,
    6.879944960440316e-05, -4.299965600275198e-05, 2.4571232001572558e-05, -0.0035714285714285713,
    -0.0035714285714285713, 0.0018037518037518038, -0.0007215007215007215, 0.0001554001554001554,
    0.00011655011655011655, -0.0002331002331002331, 0.00027056277056277056, -0.0002693385046326223,
    0.0002504848093083387, -0.00022482677281438892, 0.0001977984176126591, 0.0036075036075036075,
    -0.00036075036075036075, -0.0008214008214008214, 0.001048951048951049, -0.0009324009324009324,
    0.0007284382284382285, -0.0005313314136843549, 0.0003689937513466925, -0.0002443892536771794,
    0.0023254523254523257, 0.0023254523254523257, -0.0016317016317016317, 0.000844988344988345,
    -0.0002742355683532154, -7.370080899492665e-05, -0.0032634032634032634, 0.0009032634032634033,
    0.0005930344165638283, 0.0, 1.0, 0.0, -0.08333333333333333, 0.08333333333333333, -0.07222222222222222,
    0.06111111111111111, -0.05178571428571429, 0.04424603174603175, -0.038174603174603174, 0.03325396825396825,
    -0.029226791726791726, 0.025895863395863396, -0.0231122052550624, 0.02076317862032148, -0.018763019388019386,
    0.01704580142080142, -0.015560320217182962, 0.014266389021290982, -0.013132147779980598, 0.012132093605446105,
    -0.01124562622140122, 0.010455963259931738, -0.009749323370352446, 0.0, 0.25, 0.0, -0.027777777777777776,
    0.027777777777777776, -0.02361111111111111, 0.019444444444444445, -0.01599206349206349, 0.013253968253968254,
    -0.011097883597883598, 0.009391534391534392, -0.008028413385556243, 0.006927781213495499, -0.006029463261606118,
    0.005288646538646539, -0.00467175571342238, 0.004153408320074986, -0.0037142206014755034, 0.0033392354610842006,
    -0.0030167931985812246, 0.0027377149095214313, -0.08333333333333333, 0.0, 0.027777777777777776,
    -0.020833333333333332, 0.013888888888888888, -0.009166666666666667, 0.006111111111111111, -0.004126984126984127,
    0.0028174603174603175, -0.001936885865457294, 0.0013340891912320483, -0.0009148027898027898,
    0.0006191163334020477, -0.0004081797831797832, 0.00025630233963567297, -0.00014618097951431285,
    6.596357786833977e-05, -7.4056252436695525e-06, -0.027777777777777776, -0.034722222222222224,
    0.013888888888888888, -0.004166666666666667, 0.0, 0.0016666666666666668, -0.0022222222222222222,
    0.002290249433106576, -0.0021541950113378684, 0.0019439720332577474, -0.0017186318972033257,
    0.0015039424860853433, -0.0013099246432579767, 0.0011392157225490558, -0.0009911164673069436,
    0.018055555555555554, -0.006944444444444444, -0.005555555555555556, 0.006944444444444444, -0.005833333333333334,
    0.004365079365079365, -0.0030952380952380953, 0.002118764172335601, -0.0014030612244897958, 0.0008904950869236583,
    -0.0005281557067271354, 0.0002743706910373577, 0.013888888888888888, 0.015277777777777777, -0.009444444444444445,
    0.004325396825396825, -0.0011111111111111111, -0.0006448412698412698, 0.001488095238095238,
    -0.0018069727891156463, 0.0018424036281179139, -0.01234126984126984, 0.0075, 0.0028835978835978836,
    -0.005896164021164021, 0.005952380952380952, -0.004943783068783069, -0.014074074074074074, -0.01480489417989418,
    0.012017195767195767, 0.0, 0.0, 1.0, -0.5, 0.25, -0.125, 0.058333333333333334, -0.020833333333333332,
    -0.0010582010582010583, 0.01412037037037037, -0.021964285714285714, 0.02661706349206349, -0.029266774891774892,
    0.030634920634920636, -0.03117270560127703, 0.03116921339242768, -0.03081336817943961, 0.030230627507413222,
    -0.0295053488567144, 0.02869477232423661, -0.027837957976211303, 0.026961610924571108, -0.02608394382957378,
    0.025217277251267434, -1.0, -0.5, 0.5, -0.25, 0.125, -0.0625, 0.02962962962962963, -0.011574074074074073,
    0.001355820105820106, 0.0045138888888888885, -0.007876984126984126, 0.009751984126984126, -0.010724266474266475,
    0.011141203703703704, -0.011214421160849732, 0.011075615852401566, -0.010808125406339693, 0.010465341701948844,
    -0.010081744331469222, 0.00967966935590235, -0.00927354820817469, -0.25, -0.375, 0.125, -0.020833333333333332,
    -0.013888888888888888, 0.024074074074074074, -0.02546296296296296, 0.023776455026455028, -0.021180555555555557,
    0.018501984126984127, -0.01603968253968254, 0.013880200817700817, -0.012025793650793652, 0.01044783226033226,
    -0.009109161341304198, 0.007973172991030134, -0.007007127438887643, 0.006183003680715266, 0.125, -0.0625,
    -0.05555555555555555, 0.05787037037037037, -0.04398148148148148, 0.030787037037037036, -0.020833333333333332,
    0.01378968253968254, -0.00890873015873016, 0.00554728835978836, -0.00323478835978836, 0.0016441498316498316,
    -0.0005517075517075517, -0.00019512894512894514, 0.0007008590426957774, 0.09722222222222222, 0.10347222222222222,
    -0.06365740740740741, 0.025810185185185186, -0.004976851851851852, -0.005138888888888889, 0.009444444444444445,
    -0.010768849206349206, 0.010634920634920634, -0.00984160052910053, 0.00880026455026455, -0.007716961279461279,
    -0.05856481481481481, 0.05127314814814815, 0.019212962962962963, -0.034375, 0.03236111111111111,
    -0.025659722222222223, 0.018680555555555554, -0.012790674603174602, 0.008228174603174604, -0.0755787037037037,
    -0.07409060846560847, 0.06138888888888889, -0.03255456349206349, 0.01064484126984127, 0.0028693783068783067,
    0.06176587301587302, -0.06603670634920634, -0.012609126984126985,
)  # fmt: skip
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
        if abs(gap) < GAP:
            return -gamma_density(a, x) * gamma_series(gap, 1.0 / a, order)
        if a >= VANISHING:
            return 0.0
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
    by each further order h becomes h (log(x) - psi(a)) + dh/da. Nothing of it cancels but at the zeros in the middle,
    where the integrals of both sides do.
    """
    if order > 3:
        raise ValueError("left to the array evaluation")
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
    # With t/(1 - t) = x/(1 - x) exp(-u): log(t) = log(x) - u - w, log(1 - t) = log(1 - x) - w, w = log(1 - x + x exp(-u)).
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
    centre = log_x - log_rest
    integral, low = 0.0, 0.0
    for k in range(6):
        distance = -24.0 if k == 0 else (-8.0 if k == 1 else (0.0 if k == 2 else (8.0 if k == 3 else 24.0)))
        high = min(max(centre + distance, 0.0), end) if k < 5 else end
        integral += beta_panel(low, high, a, b, x, rest, log_x, log_rest, order_a, order_b)
        low = high
    return x * rest * density * integral


def beta_weight(u: float, x: float, rest: float) -> float:
    """log(rest + x exp(-u)) for rest = 1 - x, which is exact where x is rounded to 1."""
    change = x * math.expm1(-u)
    return math.log1p(change) if change > -0.5 else math.log(rest + x * math.exp(-u))


def beta_panel(
    low: float,
    high: float,
    a: float,
    b: float,
    x: float,
    rest: float,
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
        w = beta_weight(u, x, rest)
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
