"""Functions of complex numbers as formulas in real symbols, by the rows whose values they are.

Formulas: W. Kahan, "Branch cuts for complex elementary functions" (1987), and NumPy's npy_math_complex for products and
quotients (R. L. Smith, Algorithm 116, 1962).
"""

from __future__ import annotations

import math

from ...ops.registry import ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Parts = tuple[Any, ...]

LN2, LN10 = math.log(2.0), math.log(10.0)
# Whole exponents up to this one are products, as NumPy computes them.
WHOLE_POWERS = 100
# Beyond it tanh is 1 to the last digit, and sinh still far from overflow.
FLAT = 300.0
# Beyond it exp may overflow where a part of the complex one does not.
STEEP = 709.0
E_STEEP = math.exp(STEEP)
# Beyond it 1/z**2 is nothing beside 1, and a square would overflow.
FAR = 1e150
# Where the square root scales, so that the modulus neither overflows nor is a denormal number.
LARGE, TINY = 2.0**1020, 2.0**-960


def of(name: str, *args: Any, **static: Any) -> Any:
    """A real row on symbols and numbers."""
    found = ROWS[name](*args, **static)
    return float(found) if found.__class__ is int else found


def choose(condition: Any, a: Any, b: Any) -> Any:
    if condition.__class__ is bool:
        return a if condition else b
    return of("where_select", condition, a, b)


def either(condition: Any, a: Parts, b: Parts) -> Parts:
    return choose(condition, a[0], b[0]), choose(condition, a[1], b[1])


# --- values ---------------------------------------------------------------------------------------------------------


def product(a: Parts, b: Parts) -> Parts:
    """a*b; a real factor, which has one part, multiplies both parts of the other."""
    if len(a) == 1 or len(b) == 1:
        return (a[0] * b[0], a[0] * b[1]) if len(a) == 1 else (a[0] * b[0], a[1] * b[0])
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def plus(a: Parts, b: Parts) -> Parts:
    return a[0] + b[0], a[1] + b[1]


def minus(a: Parts, b: Parts) -> Parts:
    return a[0] - b[0], a[1] - b[1]


def opposite(z: Parts) -> Parts:
    return -z[0], -z[1]


def quotient(a: Parts, b: Parts) -> Parts:
    """a/b by Smith's method: the smaller part of b over the larger one; both parts of a over a real b."""
    if len(b) == 1:
        return of("divide", a[0], b[0]), of("divide", a[1], b[0])
    wide = of("greater_equal", of("abs", b[0]), of("abs", b[1]))
    large, small = choose(wide, b[0], b[1]), choose(wide, b[1], b[0])
    ratio = of("divide", small, large)
    scale = of("divide", 1.0, large + small * ratio)
    re = choose(wide, a[0] + a[1] * ratio, a[0] * ratio + a[1]) * scale
    im = choose(wide, a[1] - a[0] * ratio, a[1] * ratio - a[0]) * scale
    size = of("abs", b[0])
    return either(of("equal", large, 0.0), (of("divide", a[0], size), of("divide", a[1], size)), (re, im))


def modulus(z: Parts) -> Any:
    return of("hypot", *z)


def exponential(z: Parts) -> Parts:
    """C99 has 0, and inf + nan i, at the two ends whose direction is not a finite angle.

    Beyond `STEEP` in two factors: a part may be within the floats where the modulus is not.
    """
    steep = of("greater", z[0], STEEP)
    size, rest = of("exp", z[0] - choose(steep, STEEP, 0.0)), choose(steep, E_STEEP, 1.0)
    end = of("logical_and", of("isinf", z[0]), of("logical_not", of("isfinite", z[1])))
    re = choose(end, size, size * (of("cos", z[1]) * rest))
    none = of("logical_and", end, of("equal", size, 0.0))
    im = choose(none, of("copysign", size, z[1]), size * (of("sin", z[1]) * rest))
    return re, choose(of("equal", z[1], 0.0), z[1], im)


def logarithm(z: Parts) -> Parts:
    """log|z| and the angle; near the unit circle by log1p(|z|**2 - 1)/2, which keeps what is small there."""
    sizes = of("abs", z[0]), of("abs", z[1])
    large, small = of("maximum", *sizes), of("minimum", *sizes)
    near = of("logical_and", of("greater", large, 0.5), of("less", large, 1.5))
    rest = choose(near, (large - 1.0) * (large + 1.0) + small * small, 0.0)
    over, under = of("greater", large, LARGE), of("less", large, TINY)
    scale, back = choose(over, 0.25, choose(under, 2.0**120, 1.0)), choose(over, 2.0, choose(under, -120.0, 0.0))
    size = of("log", of("hypot", sizes[0] * scale, sizes[1] * scale)) + back * LN2
    return choose(near, 0.5 * of("log1p", rest), size), of("arctan2", z[1], z[0])


def root(z: Parts) -> Parts:
    """The square root with a real part that is not negative, as C has it: no digit cancels."""
    right, below = of("greater_equal", z[0], 0.0), of("signbit", z[1])
    size, height = of("abs", z[0]), of("abs", z[1])
    over, under = of("greater", of("maximum", size, height), LARGE), of("less", of("maximum", size, height), TINY)
    scale, back = choose(over, 0.25, choose(under, 2.0**120, 1.0)), choose(over, 2.0, choose(under, 2.0**-60, 1.0))
    size, height = size * scale, height * scale
    large = of("sqrt", 0.5 * (of("hypot", size, height) + size))
    small = choose(of("equal", large, 0.0), height, of("divide", 0.5 * height, large))
    large, small = large * back, small * back
    re = choose(of("isinf", height), height, choose(right, large, small))
    im = choose(of("isinf", height), height, choose(right, small, large))
    return re, choose(below, -im, im)


def power(a: Parts, b: Parts) -> Parts:
    """Products for small whole exponents, else exp(b*log(a)), where a real b multiplies both parts."""
    real, height = b[0], 0.0 if len(b) == 1 else b[1]
    known = real.__class__ in (int, float)
    off_axis = height.__class__ in (int, float) and height != 0
    if known and not off_axis and height.__class__ is float and abs(real) < WHOLE_POWERS and real == int(real):
        return whole_power(a, int(real))
    log = logarithm(a)
    along = real * log[0], real * log[1]
    found = exponential(either(of("equal", height, 0.0), along, product((real, height), log)))
    at_zero = either(of("greater", real, 0.0), (0.0, 0.0), (math.nan, math.nan))
    found = either(is_zero(a), at_zero, found)
    if off_axis or (known and height.__class__ is float):
        return found
    found = either(whole_exponent((real, height)), small_whole_power(a, real), found)
    return either(is_zero((real, height)), (1.0, 0.0), found)


def whole_power(a: Parts, n: int) -> Parts:
    """Products of squares."""
    found: Parts | None = None
    rest, factor = abs(n), a
    while rest:
        if rest & 1:
            found = factor if found is None else product(found, factor)
        rest >>= 1
        if rest:
            factor = product(factor, factor)
    if found is None:
        return 1.0, 0.0
    if n > 0:
        return found
    return one_over_power(a, found)


def whole_exponent(b: Parts) -> Any:
    """Whether an exponent is a whole number for which NumPy multiplies."""
    few = of("logical_and", of("less", of("abs", b[0]), float(WHOLE_POWERS)), of("equal", b[1], 0.0))
    return of("logical_and", of("equal", b[0], of("floor", b[0])), few)


def small_whole_power(a: Parts, n: Any) -> Parts:
    """`whole_power` for an exponent that is known when the kernel runs: all squares, of which the bits choose."""
    rest, factor = of("minimum", of("abs", n), float(WHOLE_POWERS)), a
    found: Parts = (1.0, 0.0)
    begun: Any = False
    for bit in range(WHOLE_POWERS.bit_length()):
        half = of("floor", 0.5 * rest)
        odd = of("not_equal", rest, 2.0 * half)
        found = either(odd, either(begun, product(found, factor), factor) if bit else factor, found)
        begun = of("logical_or", begun, odd) if bit else odd
        rest, factor = half, product(factor, factor)
    return either(of("less", n, 0.0), one_over_power(a, found), found)


def one_over_power(a: Parts, found: Parts) -> Parts:
    """One over a power of a; nan at 0."""
    return either(is_zero(a), (math.nan, math.nan), quotient((1.0, 0.0), found))


def times(a: Any, b: Any) -> Any:
    """a*b, where a zero stays one beside what is not finite: what is 0 on an axis is so up to its end."""
    lone = of("logical_and", of("equal", a, 0.0), of("logical_not", of("isfinite", b)))
    return choose(lone, a * choose(of("isinf", b), of("copysign", 1.0, b), 1.0), a * b)


def growing(x: Any) -> tuple[Any, Any, Any]:
    """cosh(x) and sinh(x) but for a factor, which takes what is beyond `STEEP` apart: there they are 2*cosh(x/2)**2."""
    size = of("abs", x)
    steep = of("logical_and", of("greater", size, STEEP), of("less", size, 2.0 * STEEP))
    part = choose(steep, 0.5 * x, x)
    over, under = of("cosh", part), of("sinh", part)
    return over, under, choose(steep, 2.0 * over, 1.0)


def at_end(size: Any, angle: Any, found: Any) -> Any:
    """inf for a function that grows along an axis, at its end and at no finite angle; else what is found."""
    return choose(of("logical_and", of("isinf", size), of("logical_not", of("isfinite", angle))), math.inf, found)


def sine(z: Parts) -> Parts:
    over, under, rest = growing(z[1])
    re, im = times(of("sin", z[0]) * rest, over), times(under, of("cos", z[0]) * rest)
    return re, at_end(z[1], z[0], im)


def cosine(z: Parts) -> Parts:
    return hyperbolic_cosine((-z[1], z[0]))


def hyperbolic_sine(z: Parts) -> Parts:
    over, under, rest = growing(z[0])
    re, im = times(under, of("cos", z[1]) * rest), times(of("sin", z[1]) * rest, over)
    return at_end(z[0], z[1], re), im


def hyperbolic_cosine(z: Parts) -> Parts:
    """Where the imaginary part is 0 beside nan, C99 leaves its sign open, and this is glibc's."""
    over, under, rest = growing(z[0])
    slope = of("sin", z[1]) * rest
    flat = choose(of("isfinite", slope), under * slope, 0.0)
    im = choose(of("equal", under, 0.0), flat, times(slope, under))
    return at_end(z[0], z[1], of("cos", z[1]) * rest * over), im


def hyperbolic_tangent(z: Parts) -> Parts:
    x = of("maximum", of("minimum", z[0], FLAT), -FLAT)
    s, c = of("sinh", x), of("cos", z[1])
    scale = s * s + c * c
    half, decay = of("sin", z[1]) * c, of("exp", -of("abs", z[0]))
    flat = of("greater", of("abs", z[0]), FLAT)
    im = choose(flat, 4.0 * (half * decay) * decay, of("divide", half, scale))
    re = of("divide", s * of("cosh", x), scale)
    # At the ends of the real axis it is 1 or -1 whatever z[1] is: C99 G.6.2.6, with glibc's signs of the zero.
    end = of("isinf", z[0])
    turning = of("logical_and", of("isfinite", z[1]), of("greater", of("abs", z[1]), 1.0))
    re = choose(end, of("copysign", 1.0, z[0]), re)
    im = choose(end, of("copysign", 0.0, choose(turning, half, z[1])), im)
    return choose(of("equal", z[0], 0.0), z[0], re), choose(of("equal", z[1], 0.0), z[1], im)


def turned(function: Callable[[Parts], Parts]) -> Callable[[Parts], Parts]:
    """z -> -i f(i z): the circular function of a hyperbolic one, and the other way."""

    def back(z: Parts) -> Parts:
        re, im = function((-z[1], z[0]))
        return im, -re

    return back


def one_over(function: Callable[[Parts], Parts]) -> Callable[[Parts], Parts]:
    return lambda z: quotient((1.0, 0.0), function(z))


def far(z: Parts) -> Any:
    return of("logical_or", of("greater", of("abs", z[0]), FAR), of("greater", of("abs", z[1]), FAR))


def twice_far(z: Parts) -> Any:
    """log(2|z|) for large z: what the inverse functions tend to."""
    return of("log", of("hypot", 0.5 * z[0], 0.5 * z[1])) + 2.0 * LN2


def beside_zero(z: Parts) -> Any:
    """Where the inverse functions are as 0 is, but for z: half of a part may be too small for the floats."""
    return of("less", of("maximum", of("abs", z[0]), of("abs", z[1])), 1.0 / FAR)


def inverse_sine(z: Parts) -> Parts:
    p, q = root((1.0 - z[0], -z[1])), root((1.0 + z[0], z[1]))
    near = of("arctan2", z[0], p[0] * q[0] - p[1] * q[1]), of("arcsinh", p[0] * q[1] - p[1] * q[0])
    limit = of("arctan2", z[0], of("abs", z[1])), of("copysign", twice_far(z), z[1])
    re, im = either(far(z), limit, near)
    return choose(of("equal", z[0], 0.0), z[0], re), choose(beside_zero(z), z[1], im)


def inverse_cosine(z: Parts) -> Parts:
    p, q = root((1.0 - z[0], -z[1])), root((1.0 + z[0], z[1]))
    near = 2.0 * of("arctan2", p[0], q[0]), of("arcsinh", q[0] * p[1] - q[1] * p[0])
    limit = of("arctan2", of("abs", z[1]), z[0]), -of("copysign", twice_far(z), z[1])
    re, im = either(far(z), limit, near)
    return choose(of("equal", z[0], 0.0), 0.5 * math.pi, re), choose(beside_zero(z), -z[1], im)


def inverse_hyperbolic_cosine(z: Parts) -> Parts:
    p, q = root((z[0] - 1.0, z[1])), root((z[0] + 1.0, z[1]))
    near = of("arcsinh", p[0] * q[0] + p[1] * q[1]), 2.0 * of("arctan2", p[1], q[0])
    re, im = either(far(z), (twice_far(z), of("arctan2", z[1], z[0])), near)
    upright = of("logical_and", of("equal", z[0], 0.0), of("isnan", z[1]))
    return choose(beside_zero(z), of("abs", z[1]), re), choose(upright, 0.5 * math.pi, im)


def inverse_hyperbolic_tangent(z: Parts) -> Parts:
    """In the right half plane, where the argument of log1p is positive: the function is odd."""
    x, y = of("abs", z[0]), z[1]
    apart = (1.0 - x) * (1.0 - x) + y * y
    beside = of("logical_and", of("equal", x, 1.0), of("less", of("abs", y), 1.0 / FAR))
    at_one = 0.5 * (LN2 - of("log", of("abs", y)))
    size = of("hypot", x, y)
    far_off = choose(of("isinf", size), 0.0, of("divide", of("divide", x, size), size))
    # 1/z, of which the square is nothing beside 1 long before it overflows.
    distant = far(z)
    re = choose(beside, at_one, 0.25 * of("log1p", of("divide", 4.0 * x, apart)))
    im = 0.5 * of("arctan2", 2.0 * y, (1.0 - x) * (1.0 + x) - y * y)
    unknown = of("logical_or", of("isnan", y), of("isnan", size))
    upright = choose(unknown, math.nan, of("copysign", 0.5 * math.pi, y))
    found = either(distant, (far_off, upright), (re, im))
    return choose(of("equal", z[0], 0.0), z[0], of("copysign", found[0], z[0])), found[1]


def expm1(z: Parts) -> Parts:
    half = of("sin", 0.5 * z[1])
    re = of("expm1", z[0]) * of("cos", z[1]) - 2.0 * (half * half)
    return re, of("exp", z[0]) * of("sin", z[1])


def log1p(z: Parts) -> Parts:
    u, v = z
    near = of("logical_and", of("less", of("abs", u), 0.5), of("less", of("abs", v), 0.5))
    rest = choose(near, u * (2.0 + u) + v * v, 0.0)
    return choose(near, 0.5 * of("log1p", rest), of("log", of("hypot", 1.0 + u, v))), of("arctan2", v, 1.0 + u)


def unit(z: Parts) -> Parts:
    zero = of("logical_and", of("equal", z[0], 0.0), of("equal", z[1], 0.0))
    return either(zero, (0.0, 0.0), quotient(z, (choose(zero, 1.0, modulus(z)),)))


def strong(g: Any, p: Any) -> Any:
    """A part of a strong product."""
    return 0.0 if g.__class__ is float and g == 0.0 else of("strong_multiply", g, p)


def strong_product(g: Parts, p: Parts) -> Parts:
    """g*p, in which a part of g that is 0 takes no part."""
    if len(g) == 1 or len(p) == 1:
        return (strong(g[0], p[0]), strong(g[0], p[1])) if len(g) == 1 else (strong(g[0], p[0]), strong(g[1], p[0]))
    return strong(g[0], p[0]) - strong(g[1], p[1]), strong(g[0], p[1]) + strong(g[1], p[0])


def close(a: Parts, b: Parts, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Whether |a - b| <= atol + rtol*|b|, for a finite b; else whether they are the same."""
    near = of("less_equal", modulus(minus(a, b)), atol + rtol * modulus(b))
    finite = of("logical_and", of("isfinite", b[0]), of("isfinite", b[1]))
    found = of("logical_or", of("logical_and", near, finite), same(a, b))
    if not equal_nan:
        return found
    unknown = [of("logical_or", of("isnan", z[0]), of("isnan", z[1])) for z in (a, b)]
    return of("logical_or", found, of("logical_and", *unknown))


def is_zero(z: Parts) -> Any:
    return of("logical_and", of("equal", z[0], 0.0), of("equal", z[1], 0.0))


def unless_zero(a: Parts, b: Parts, found: Callable[[], Parts]) -> Parts:
    """0 where a is 0 and b a number; else what is found."""
    whole = of("logical_and", of("equal", b[0], b[0]), of("equal", b[1], b[1]))
    return either(of("logical_and", is_zero(a), whole), (0.0, 0.0), found())


def sinc(z: Parts) -> Parts:
    """sin(pi z)/(pi z), and 1 at 0."""
    scaled_up = scaled(z, math.pi)
    return either(is_zero(z), (1.0, 0.0), quotient(sine(scaled_up), scaled_up))


def same(a: Parts, b: Parts) -> Any:
    return of("logical_and", of("equal", a[0], b[0]), of("equal", a[1], b[1]))


def angle(z: Parts, deg: bool = False) -> Any:
    found = of("arctan2", z[1], z[0])
    return found * (180.0 / math.pi) if deg else found


def scaled(z: Parts, factor: float) -> Parts:
    return z[0] * factor, z[1] * factor


def logistic(z: Parts) -> Parts:
    e = exponential(opposite(z))
    return quotient((1.0, 0.0), (1.0 + e[0], e[1]))


def root_of_squares(*parts: Parts) -> Parts:
    """sqrt(a**2 + b**2 + ...)."""
    total = product(parts[0], parts[0])
    for part in parts[1:]:
        total = plus(total, product(part, part))
    return root(total)


# Whose real statements have the derivative of the row.
SMOOTH: dict[str, Callable[..., Any]] = {
    "add": plus,
    "subtract": minus,
    "negative": opposite,
    "positive": lambda z: z,
    "multiply": product,
    "strong_multiply": strong_product,
    "square": lambda z: product(z, z),
    "square_of_root": lambda z: z,
    "conj": lambda z: (z[0], -z[1]),
    "real": lambda z: z[0],
    "imag": lambda z: z[1],
    "complex": lambda re, im: (re[0], im[0]),
    "equal": same,
    "not_equal": lambda a, b: of("logical_not", same(a, b)),
    "isnan": lambda z: of("logical_or", of("isnan", z[0]), of("isnan", z[1])),
    "isinf": lambda z: of("logical_or", of("isinf", z[0]), of("isinf", z[1])),
    "isfinite": lambda z: of("logical_and", of("isfinite", z[0]), of("isfinite", z[1])),
    "isclose": close,
    "isreal": lambda z: of("equal", z[1], 0.0),
    "bernoulli_variance": lambda z: product(z, minus((1.0, 0.0), z)),
    "one_minus_square": lambda z: product(minus((1.0, 0.0), z), plus((1.0, 0.0), z)),
    "stop_gradient": lambda z: (of("stop_gradient", z[0]), of("stop_gradient", z[1])),
    "round": lambda z, **options: (of("round", z[0], **options), of("round", z[1], **options)),
}
# Whose adjoint is the row's own.
RULED: dict[str, Callable[..., Any]] = {
    "divide": quotient,
    "power": power,
    "abs": modulus,
    "angle": angle,
    "unit": unit,
    "reciprocal": lambda z: quotient((1.0, 0.0), z),
    "sqrt": root,
    "root_of_squares": root_of_squares,
    "root_of_three_squares": root_of_squares,
    "rsqrt": lambda z: quotient((1.0, 0.0), root(z)),
    "exp": exponential,
    "exp2": lambda z: exponential(scaled(z, LN2)),
    "expm1": expm1,
    "log": logarithm,
    "log2": lambda z: scaled(logarithm(z), 1.0 / LN2),
    "log10": lambda z: scaled(logarithm(z), 1.0 / LN10),
    "log1p": log1p,
    "sin": sine,
    "cos": cosine,
    "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine,
    "tan": turned(hyperbolic_tangent),
    "tanh": hyperbolic_tangent,
    "sech": one_over(hyperbolic_cosine),
    "sec": one_over(cosine),
    "csc": one_over(sine),
    "csch": one_over(hyperbolic_sine),
    "cot": one_over(turned(hyperbolic_tangent)),
    "coth": one_over(hyperbolic_tangent),
    "sigmoid": logistic,
    "xlogy": lambda a, b: unless_zero(a, b, lambda: product(a, logarithm(b))),
    "xlog1py": lambda a, b: unless_zero(a, b, lambda: product(a, log1p(b))),
    "xdivy": lambda a, b: unless_zero(a, b, lambda: quotient(a, b)),
    "divide_no_nan": lambda a, b: either(is_zero(b), (0.0, 0.0), quotient(a, b)),
    "multiply_no_nan": lambda a, b: either(is_zero(b), (0.0, 0.0), product(a, b)),
    "reciprocal_no_nan": lambda z: either(is_zero(z), (0.0, 0.0), quotient((1.0, 0.0), z)),
    "sinc": sinc,
    "tanh_shrink": lambda z: minus(z, hyperbolic_tangent(z)),
    "arcsin": inverse_sine,
    "arccos": inverse_cosine,
    "arcsinh": turned(inverse_sine),
    "arccosh": inverse_hyperbolic_cosine,
    "arctanh": inverse_hyperbolic_tangent,
    "arctan": turned(inverse_hyperbolic_tangent),
}
REAL = frozenset(("abs", "angle", "real", "imag"))
TRUTH = frozenset(("equal", "not_equal", "isnan", "isinf", "isfinite", "isreal", "isclose"))
# The operands of rows that have one part where they are real: what is infinite in one part of the other stays there.
OF_REAL = {"multiply": (0, 1), "strong_multiply": (0, 1), "divide": (1,), "power": (1,)}
# Rows with parameters.
STATIC = frozenset(("round", "isclose", "angle"))
