"""The inverse trigonometric functions of many numbers: arithmetic that LLVM puts on vectors."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .llvm_arithmetic import Arithmetic

# atan(t) for t up to 7/16 in size, from t**3 on, and asin(t) for t up to 1/2 as a quotient: Sun's (fdlibm, s_atan.c and
# e_asin.c, 1993).
ARC_TANGENT = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
ARC_SINE_ABOVE = (
    1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01, -4.00555345006794114027e-02,
    7.91534994289814532176e-04, 3.47933107596021167570e-05,
)  # fmt: skip
ARC_SINE_BELOW = (
    1.0, -2.40339491173441421878e00, 2.02094576023350569471e00, -6.88283971605453293030e-01, 7.70381505559019352791e-02,
)  # fmt: skip
# From where on an angle is measured from that of another tangent; atan of that one in two floats.
CENTRES = (
    (7 / 16, 0.5, 4.63647609000806093515e-01, 2.26987774529616870924e-17),
    (11 / 16, 1.0, 7.85398163397448278999e-01, 3.06161699786838301793e-17),
    (19 / 16, 1.5, 9.82793723247329054082e-01, 1.39033110312309984516e-17),
)
RIGHT_ANGLE = 1.57079632679489655800e00, 6.12323399573676603587e-17


def arc_tangent(f: Arithmetic, x: str) -> str:
    """atan(x)."""
    size = f.size(x)
    above: str | float = size
    below: str | float = 1.0
    high: str | float = 0.0
    low: str | float = 0.0
    for start, centre, angle, rest in CENTRES:
        beyond = f.holds("oge", size, start)
        above = f.choose(beyond, f.subtract(size, centre), above)
        below = f.choose(beyond, f.multiply_add(centre, size, 1.0), below)
        high, low = f.choose(beyond, angle, high), f.choose(beyond, rest, low)
    beyond = f.holds("oge", size, 39 / 16)
    above, below = f.choose(beyond, -1.0, above), f.choose(beyond, size, below)
    high, low = f.choose(beyond, RIGHT_ANGLE[0], high), f.choose(beyond, RIGHT_ANGLE[1], low)
    t = f.divide(above, below)
    z = f.multiply(t, t)
    series = f.multiply(f.multiply(t, z), f.polynomial(z, ARC_TANGENT))
    return f.with_sign(f.add(high, f.subtract(t, f.subtract(series, low))), x)


def arc_sine_series(f: Arithmetic, z: str) -> str:
    """asin(t) / t - 1 for t = sqrt(z) up to 1/2."""
    return f.divide(f.multiply(z, f.polynomial(z, ARC_SINE_ABOVE)), f.polynomial(z, ARC_SINE_BELOW))


def beside_one(f: Arithmetic, size: str) -> tuple[str, str, str]:
    """For t = sqrt((1 - size) / 2): t, what rounding took from it, and asin(t) / t - 1."""
    z = f.multiply(0.5, f.subtract(1.0, size))
    t = f.root(z)
    # Of 0 there is nothing left.
    left = f.divide(f.fused(f.negative(t), t, z), f.multiply(2.0, f.choose(f.holds("oeq", t, 0.0), 1.0, t)))
    return t, left, arc_sine_series(f, z)


def arc_sine(f: Arithmetic, x: str) -> str:
    """asin(x): beyond 1/2 pi/2 - 2 asin(t)."""
    size = f.size(x)
    small = f.multiply_add(size, arc_sine_series(f, f.multiply(size, size)), size)
    t, left, series = beside_one(f, size)
    right, rest = RIGHT_ANGLE
    half = f.add(t, f.subtract(f.multiply_add(t, series, left), 0.5 * rest))
    large = f.subtract(right, f.multiply(2.0, half))
    return f.with_sign(f.choose(f.holds("olt", size, 0.5), small, large), x)


def arc_cosine(f: Arithmetic, x: str) -> str:
    """acos(x): pi/2 - asin(x), beyond 1/2 twice asin(t), and below -1/2 pi less that."""
    size = f.size(x)
    right, rest = RIGHT_ANGLE
    series = f.multiply(x, arc_sine_series(f, f.multiply(x, x)))
    small = f.subtract(right, f.subtract(x, f.subtract(rest, series)))
    t, left, series = beside_one(f, size)
    last = f.multiply_add(t, series, left)
    positive = f.add(t, last)
    negative = f.subtract(right, f.add(t, f.subtract(last, rest)))
    large = f.multiply(2.0, f.choose(f.holds("olt", x, 0.0), negative, positive))
    return f.choose(f.holds("olt", size, 0.5), small, large)
