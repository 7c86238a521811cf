"""The helpers that the text of scalar rows calls, in the subset of Python that kernels are written in.

`@inlined` ones are part of what calls them, whatever their size; `@compiled` ones are functions of their own (helpers.py).
"""

PRELUDE = """
@inlined
def _strong(g, p):
    return g * p if g != 0.0 else 0.0


@inlined
def _divisor_unit(b):
    return 1.0 if abs(b) >= 1e-300 else 18446744073709551616.0


@inlined
def _sign(x):
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x + 0.0)


@inlined
def _squared_difference(a, b):
    return (a - b) * (a - b)


@inlined
def _minimum(a, b):
    return a if a <= b or a != a else b


@inlined
def _maximum(a, b):
    return a if a >= b or a != a else b


@inlined
def _fmin(a, b):
    return b if a != a else (a if b != b or not b < a else b)


@inlined
def _fmax(a, b):
    return b if a != a else (a if b != b or not b > a else b)


@inlined
def _clip(x, low, high):
    x = low if x < low or low != low else x
    return high if x > high or high != high else x


@compiled
def _binary_unit(x):
    if not 0.0 < abs(x) < math.inf:
        return 1.0
    exponent = math.floor(math.log2(abs(x))) + 1.0
    half = math.floor(0.5 * exponent)
    part = abs(x) * math.pow(2.0, -half) * math.pow(2.0, half - exponent)
    if part >= 1.0:
        exponent += 1.0
    elif part < 0.5:
        exponent -= 1.0
    return math.pow(2.0, max(-1000.0, min(-exponent, 1000.0)))


@compiled
def _rotation_tangent(a, d, b):
    theta = (d - a) / (2.0 * b)
    return 1.0 / (theta + math.copysign(math.hypot(theta, 1.0), theta))


@inlined
def _round(x, decimals):
    if decimals == 0:
        return np.rint(x)
    scale = math.pow(10.0, float(abs(decimals)))
    return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


@compiled
def _next_after(a, b):
    # Rump, Zimmermann, Boldo and Melquiond, Computing predecessor and successor in rounding to nearest (2009).
    if a != a or b != b:
        return math.nan
    if a == b:
        return b
    if a == 0.0:
        return math.copysign(5e-324, b)
    size = abs(a)
    step = 1.1102230246251568e-16
    if size == math.inf:
        moved = 1.7976931348623157e308
    elif size >= 2.004168360008973e-292:
        step = step * size
        moved = size + step if (b > a) == (a > 0.0) else size - step
    elif size < 4.450147717014403e-308:
        moved = size + 5e-324 if (b > a) == (a > 0.0) else size - 5e-324
    else:
        large = 9007199254740992.0 * size
        step = step * large
        moved = large + step if (b > a) == (a > 0.0) else large - step
        moved = moved * 1.1102230246251565e-16
    return math.copysign(moved, a)


@inlined
def _relu(x):
    return x if x > 0.0 or x != x else 0.0


@compiled
def _floor_divide(a, b):
    if b == 0.0:
        return a / b
    rest = np.fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0.0 and (b < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient != 0.0:
        whole = np.floor(quotient)
        return whole + 1.0 if quotient - whole > 0.5 else whole
    return math.copysign(0.0, a / b)


@compiled
def _mod(a, b):
    if b == 0.0:
        return math.nan
    rest = np.fmod(a, b)
    if rest != 0.0:
        return rest + b if (b < 0.0) != (rest < 0.0) else rest
    return rest if rest != rest else math.copysign(0.0, b)


@inlined
def _sech(x):
    decay = math.exp(-abs(x))
    return 2.0 * decay / (1.0 + decay * decay)


@compiled
def _log_cosh(x):
    size = abs(x)
    if size < 1.0:
        half = math.sinh(0.5 * size)
        return math.log1p(2.0 * half * half)
    return size - math.log(2.0) + math.log1p(math.exp(-2.0 * size))


@inlined
def _sigmoid(x):
    decay = math.exp(-abs(x))
    return 1.0 / (1.0 + decay) if x >= 0.0 else decay / (1.0 + decay)


@inlined
def _softplus(x):
    return (0.0 if x < 0.0 else x) + math.log1p(math.exp(-abs(x)))


@inlined
def _log_sigmoid(x):
    return (0.0 if x > 0.0 else x) - math.log1p(math.exp(-abs(x)))


@compiled
def _logit(p):
    return 2.0 * math.atanh(2.0 * p - 1.0) if 0.25 <= p <= 0.75 else math.log(p) - math.log1p(-p)


@compiled
def _logaddexp(a, b):
    if a == b:
        return a + 0.6931471805599453
    if a != a or b != b:
        return a + b
    return (b if b > a else a) + math.log1p(math.exp(-abs(a - b)))


@inlined
def _whole(x):
    if not abs(x) < 9223372036854775808.0:
        raise OverflowError
    return int(x)


# Arithmetic of integers that may leave 64 bits: LLVM has instructions for it (llvm_operators.py), Numba rounds.
@inlined
def _int_add(a, b):
    if abs(float(a) + float(b)) > 9223372036854774784.0:
        raise OverflowError
    return a + b


@inlined
def _int_subtract(a, b):
    if abs(float(a) - float(b)) > 9223372036854774784.0:
        raise OverflowError
    return a - b


@inlined
def _int_multiply(a, b):
    if abs(float(a) * float(b)) > 9223372036854774784.0:
        raise OverflowError
    return a * b


@inlined
def _divisor(b):
    if b == 0:
        raise ZeroDivisionError
    return b


# The gamma function as CPython has it (Modules/mathmodule.c): Lanczos' approximation with N = 13 and the same rounding,
# so that both tiers give the same digits, whichever compiler makes the kernel.
LANCZOS_G = 6.024680040776729583740234375
LANCZOS_NUMERATOR = (
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
)
LANCZOS_DENOMINATOR = (
    0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0,
    1925.0, 66.0, 1.0,
)


@compiled
def _lanczos_sum(x):
    above, below = 0.0, 0.0
    if x < 5.0:
        for k in range(12, -1, -1):
            above = above * x + LANCZOS_NUMERATOR[k]
            below = below * x + LANCZOS_DENOMINATOR[k]
    else:
        for k in range(13):
            above = above / x + LANCZOS_NUMERATOR[k]
            below = below / x + LANCZOS_DENOMINATOR[k]
    return above / below


@compiled
def _sin_of_half_turns(x):
    y = np.fmod(abs(x), 2.0)
    n = int(np.rint(2.0 * y))
    if n == 0:
        r = math.sin(math.pi * y)
    elif n == 1:
        r = math.cos(math.pi * (y - 0.5))
    elif n == 2:
        r = math.sin(math.pi * (1.0 - y))
    elif n == 3:
        r = -math.cos(math.pi * (y - 1.5))
    else:
        r = math.sin(math.pi * (y - 2.0))
    return math.copysign(1.0, x) * r


@compiled
def _gamma(x):
    if x != x or x == math.inf:
        return x
    if x == -math.inf:
        return math.nan
    if x == 0.0:
        return math.copysign(math.inf, x)
    if x == np.floor(x):
        if x < 0.0:
            return math.nan
        if x <= 23.0:
            product = 1.0
            for k in range(2, int(x)):
                product *= k
            return product
    size = abs(x)
    if size < 1e-20:
        return 1.0 / x
    if size > 200.0:
        return 0.0 / _sin_of_half_turns(x) if x < 0.0 else math.inf
    y = size + (LANCZOS_G - 0.5)
    if size > LANCZOS_G - 0.5:
        z = (y - size) - (LANCZOS_G - 0.5)
    else:
        z = (y - (LANCZOS_G - 0.5)) - size
    z = z * LANCZOS_G / y
    if x < 0.0:
        r = -math.pi / _sin_of_half_turns(size) / size * math.exp(y) / _lanczos_sum(size)
        r -= z * r
        if size < 140.0:
            return r / math.pow(y, size - 0.5)
        root = math.pow(y, size / 2.0 - 0.25)
        return r / root / root
    r = _lanczos_sum(size) / math.exp(y)
    r += z * r
    if size < 140.0:
        return r * math.pow(y, size - 0.5)
    root = math.pow(y, size / 2.0 - 0.25)
    return r * root * root


@compiled
def _logaddexp2(a, b):
    if a == b:
        return a + 1.0
    if a != a or b != b:
        return a + b
    return (b if b > a else a) + math.log1p(math.exp2(-abs(a - b))) * 1.4426950408889634


@compiled
def _nan_to_num(x, nan, posinf, neginf):
    if x != x:
        return float(nan)
    if x == math.inf:
        return 1.7976931348623157e308 if posinf is None else float(posinf)
    if x == -math.inf:
        return -1.7976931348623157e308 if neginf is None else float(neginf)
    return x


@compiled
def _nan_to_num_single(x, nan, posinf, neginf):
    if x != x:
        return float(nan)
    if x == math.inf:
        return 3.4028234663852886e38 if posinf is None else float(posinf)
    if x == -math.inf:
        return -3.4028234663852886e38 if neginf is None else float(neginf)
    return x


@compiled
def _next_after_single(a, b):
    # In float64, and what comes of it rounded: five eighths of a last place are nearest to the next number, or, where
    # numbers begin to lie closer, five quarters of one.
    if a != a or b != b:
        return math.nan
    if a == b:
        return b
    if a == 0.0:
        return math.copysign(1.401298464324817e-45, b)
    size = abs(a)
    if size == math.inf:
        return math.copysign(3.4028234663852886e38, a)
    step = 1.401298464324817e-45 if size < 2.350988701644575e-38 else size * 7.450580596923828e-08
    return math.copysign(size + step if (b > a) == (a > 0.0) else size - step, a)


@compiled
def _binary_unit_single(x):
    return max(8.507059173023462e-38, min(_binary_unit(x), 4.253529586511731e37))


@inlined
def _divisor_unit_single(b):
    return 1.0 if abs(b) >= 1.1754943508222875e-37 else 16777216.0


@compiled
def _isclose(a, b, rtol, atol, equal_nan):
    if a == b:
        return True
    if equal_nan and a != a and b != b:
        return True
    return abs(b) < math.inf and abs(a - b) <= atol + rtol * abs(b)


@compiled
def _is_close_symmetric(a, b, rel_tol, abs_tol):
    if a == b:
        return True
    if not (abs(a) < math.inf and abs(b) < math.inf):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@compiled
def _entr(x):
    if x > 0.0:
        return -x * math.log(x)
    return 0.0 if x == 0.0 else (x if x != x else -math.inf)


@compiled
def _rel_entr(x, y):
    if x != x or y != y:
        return math.nan
    if x > 0.0 and y > 0.0:
        ratio = x / y
        return x * (math.log(ratio) if 1e-300 < ratio < math.inf else math.log(x) - math.log(y))
    return 0.0 if x == 0.0 and y >= 0.0 else math.inf


@compiled
def _int_power(a, b):
    if b < 0:
        raise OverflowError
    result = 1
    for _ in range(b if abs(a) > 1 else min(b, 2 - b % 2)):
        result = _int_multiply(result, a)
    return result


@compiled
def _int_factorial(n):
    if n < 0:
        raise OverflowError
    result = 1
    for k in range(2, n + 1):
        result = _int_multiply(result, k)
    return result


@compiled
def _int_gcd(a, b):
    while b != 0:
        rest = a % b
        a = b
        b = rest
    return a


@compiled
def _int_lcm(a, b):
    common = _int_gcd(a, b)
    return 0 if common == 0 else _int_multiply(a // common, b)


@compiled
def _int_comb(n, k):
    if n < 0 or k < 0:
        raise OverflowError
    result = 1
    if k > n:
        result = 0
    else:
        for i in range(min(k, n - k)):
            result = _int_multiply(result, n - i) // (i + 1)
    return result
"""
