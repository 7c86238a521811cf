"""Arithmetic, powers, comparisons and logic: the rows behind Python's operators."""

from __future__ import annotations

import math
import operator

from ..core import limits
from ..core.errors import failure
from ..core.tensor import OPERATORS, conjugate
from ..core.tensor import is_complex as is_complex
from .operation import Operation, Singular, composite, elementwise, linear, no_tangent, zero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def number(x: Any) -> bool:
    return x.__class__ is float or x.__class__ is int


def choose(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`: for rules, where a scalar condition is a plain bool."""
    if condition.__class__ is bool:
        return a if condition else b
    return where_select(condition, a, b)


def below(x: Any, bound: float) -> Any:
    """The mask of real elements below a bound: the complex plane has no order, and no end of the domain there."""
    return False if is_complex(x) else x < bound


def above(x: Any, bound: float) -> Any:
    """The mask of real elements above a bound."""
    return False if is_complex(x) else x > bound


def both(mask: Any, condition: Any) -> Any:
    """`mask & condition`: for a number beside an array NumPy takes ten times as long as for two arrays."""
    for one, other in ((mask, condition), (condition, mask)):
        if other.__class__ is bool and hasattr(one, "nbytes"):
            return one if other else one ^ one
    return mask & condition


NAN = math.nan
INF = math.inf


def everywhere(value: Any) -> dict[str, Any]:
    """The choices of a singular point on which all policies agree."""
    return {"adiff": value, "tensorflow": value, "jax": value, "torch": value}


# The product of two integers beyond which kernels are left: near the end of 64 bits.
TOO_LARGE = "abs(float({0}) * float({1})) > 4.6e18"


def power_bound(base: float, exponent: float) -> float:
    try:
        return float(max(base, 1.0) ** exponent)
    except OverflowError:
        return float("inf")


add = elementwise(
    "add", "a, b", [1, 1],
    scalar=operator.add, array=lambda np, a, b: np.add(a, b), dtype="arithmetic",
    aliases="tf.math.add", accepts="bifcs", domain=[(-10, 10), (-10, 10)],
    kernel="({0} + {1})",
    symbol="+", largest=lambda sizes, n: sizes[0] + sizes[1],
    doc="Sum of two numbers or tensors: a + b.", example=("add(2, 3)", 5),
)  # fmt: skip
subtract = elementwise(
    "subtract", "a, b", [1, -1],
    scalar=operator.sub, array=lambda np, a, b: np.subtract(a, b), dtype="arithmetic",
    aliases="sub", domain=[(-10, 10), (-10, 10)],
    kernel="({0} - {1})",
    symbol="-", largest=lambda sizes, n: sizes[0] + sizes[1], doc="Difference: a - b.", example=("subtract(2, 3)", -1),
)  # fmt: skip


def of_parts(np: Any, re: Any, im: Any, dtype: Any) -> Any:
    """The complex array of two parts, which `re + 1j*im` would mix where one is not finite, and which lose their signs in it."""
    found = np.empty(np.shape(re), dtype)
    found.real, found.imag = re, im
    return found


def array_product(np: Any, a: Any, b: Any) -> Any:
    if is_complex(a) or is_complex(b):
        from .complex import product

        return product(np, a, b)
    return np.multiply(a, b)


multiply = elementwise(
    "multiply", "a, b", [lambda y, a, b: b, lambda y, a, b: a],
    scalar=operator.mul, array=array_product, dtype="arithmetic",
    aliases="mul", domain=[(-10, 10), (-10, 10)],
    kernel="({0} * {1})",
    symbol="*", real_beside=(0, 1), integer="({0} * {1})", refused=TOO_LARGE, largest=lambda sizes, n: sizes[0] * sizes[1],
    doc="Element-wise product: a * b.", example=("multiply(2, 3)", 6),
)  # fmt: skip


def _strong(np: Any, g: Any, p: Any) -> Any:
    if is_complex(g) or is_complex(p):
        from .complex import strong_product

        return strong_product(np, g, p)
    product = np.multiply(g, p)
    if not np.isfinite(p).all():
        product = np.where(np.equal(g, 0) & ~np.isfinite(p), 0, product)
    return product


strong_multiply = elementwise(
    "strong_multiply", "g, p", [lambda y, g, p: p, lambda y, g, p: g],
    # By the second factor both are cotangents, and the zero of either is strong.
    transpose=lambda c, y, g, p: (
        lambda: strong_multiply(c, conjugate(p)), lambda: multiply_cotangents(conjugate(g), c)
    ),
    scalar=lambda g, p: g * p if g != 0 else 0.0 * g, array=_strong, dtype="arithmetic", domain=[(-10, 10), (-10, 10)],
    kernel="_strong({0}, {1})",
    internal=True, real_beside=(0, 1), integer="({0} * {1})", refused=TOO_LARGE,
    largest=lambda sizes, n: sizes[0] * sizes[1],
    doc="Product in which a zero first factor stays zero even beside inf or nan: the product of the chain rule.",
    example=("strong_multiply(0, inf)", 0.0),
    formula="g*p",
)  # fmt: skip


def _strong_on_both_sides(np: Any, g: Any, c: Any) -> Any:
    if is_complex(g) or is_complex(c):
        from .complex import strong_product

        return strong_product(np, g, c, True)
    product = np.multiply(g, c)
    undefined = np.isnan(product)
    if undefined.any():
        product = np.where(undefined & (np.equal(g, 0) | np.equal(c, 0)), 0, product)
    return product


multiply_cotangents: Operation = elementwise(
    "multiply_cotangents", "g, c", [lambda y, g, c: c, lambda y, g, c: g],
    transpose=lambda d, y, g, c: (
        lambda: multiply_cotangents(d, conjugate(c)), lambda: multiply_cotangents(conjugate(g), d)
    ),
    scalar=lambda g, c: g * c if g != 0 and c != 0 else 0.0, array=_strong_on_both_sides, dtype="arithmetic",
    domain=[(-10, 10), (-10, 10)], kernel="(_strong({0}, {1}) if {1} != 0.0 else 0.0)",
    internal=True, real_beside=(0, 1),
    doc="Product in which a zero on either side stays zero even beside inf or nan: of two cotangents.",
    example=("multiply_cotangents(inf, 0)", 0.0),
    formula="g*c",
)  # fmt: skip


# Products of arrays, by which of the factors `a` and `b` are cotangents.
PRODUCTS: dict[str, Any] = {
    "": array_product,
    "a": _strong,
    "b": lambda np, p, g: _strong(np, g, p),
    "ab": _strong_on_both_sides,
}


def array_quotient(np: Any, a: Any, b: Any) -> Any:
    if is_complex(a) and not is_complex(b):
        return of_parts(np, a.real / b, a.imag / b, np.result_type(a, b))
    return np.divide(a, b)


divide = elementwise(
    "divide", "a, b", [lambda y, a, b: divide(1.0, b), lambda y, a, b: divide(-y, b)],
    scalar=operator.truediv, array=array_quotient, dtype="float",
    aliases="div truediv true_divide realdiv", domain=[(-10, 10), (0.5, 10)],
    kernel="({0} / {1})",
    singular=[
        Singular(lambda a, b: b == 0, "division by zero: the derivative is infinite or undefined", input=place)
        for place in (0, 1)
    ],
    symbol="/", real_beside=(1,),
    doc="Quotient: a / b. Integers divide to a float.", example=("divide(1, 4)", 0.25),
)  # fmt: skip


def whole_quotient(ufunc: str) -> Any:
    """A division with a whole quotient, which NumPy only warns of where integers are divided by 0."""

    def array(np: Any, a: Any, b: Any) -> Any:
        if np.asarray(a).dtype.kind in "iu" and not np.all(b):
            raise failure("E0402", "integer division by zero", "divide floats for inf: write 1.0 / 0")
        return getattr(np, ufunc)(a, b)

    return array


def _one(y: Any, *inputs: Any) -> float:
    """A partial of 1 at which singular points are looked for (a bare 1 in a row says that there are none)."""
    return 1.0


def at_multiple(a: Any, b: Any) -> Any:
    """Where a is a multiple of a nonzero b; the divisor is kept from 0, which Python's % refuses."""
    return (b != 0) & (a % (b + (b == 0)) == 0)


floor_divide = zero(
    "floor_divide", "a, b",
    scalar=operator.floordiv, array=whole_quotient("floor_divide"), dtype="arithmetic", accepts="bif",
    aliases="floordiv", domain=[(1.1, 9.7), (2.1, 3.4)],
    kernel="_floor_divide({0}, {1})",
    singular=[Singular(at_multiple, "floor_divide jumps at multiples of b", **everywhere(0.0))],
    symbol="//", integer="({0} // {1})", refused="{1} == 0", keeps=True,
    doc="Quotient rounded down: a // b. Its derivative is 0 wherever it exists.", example=("floor_divide(7, 2)", 3),
)  # fmt: skip
mod = elementwise(
    "mod", "a, b", [_one, lambda y, a, b: -floor_divide(a, b)],
    scalar=operator.mod, array=whole_quotient("mod"), dtype="arithmetic", accepts="bif",
    aliases="remainder floormod floor_mod", domain=[(1.1, 1.9), (2.1, 3.4)],
    kernel="_mod({0}, {1})",
    singular=[
        Singular(lambda a, b: b == 0, "mod by zero is not defined", **everywhere(NAN)),
        Singular(lambda a, b: b == 0, "mod by zero is not defined", **everywhere(NAN), input=1),
        Singular(at_multiple, "mod jumps at multiples of b: the derivative between the jumps is taken"),
        Singular(at_multiple, "mod jumps at multiples of b: the derivative between the jumps is taken", input=1),
    ],
    analytic=False, symbol="%", integer="({0} % {1})", refused="{1} == 0", keeps=True,
    doc="Remainder with the sign of b, as Python's %: a - b*floor(a/b).", example=("mod(-7, 3)", 2),
)  # fmt: skip
negative = elementwise(
    "negative", "x", [-1],
    scalar=operator.neg, array=lambda np, x: np.negative(x), dtype="arithmetic",
    kernel="(-{0})",
    aliases="neg", domain=[(-10, 10)], symbol="-", keeps=True, doc="Minus x.", example=("negative(2)", -2),
)  # fmt: skip
positive = elementwise(
    "positive", "x", [1],
    kernel=lambda k, x: x, scalar=operator.pos, array=lambda np, x: np.positive(x), dtype="arithmetic",
    domain=[(-10, 10)], symbol="+", keeps=True, doc="Plus x: x itself.", example=("positive(2)", 2),
    formula="x",
)  # fmt: skip


unsigned = elementwise(
    "unsigned", "x", [1],
    scalar=lambda x: x + 0.0 if x.__class__ is not complex else complex(x.real + 0.0, x.imag + 0.0),
    array=lambda np, x: np.add(x, 0.0), dtype="first", accepts="fc", domain=[(-10, 10)], kernel="({0} + 0.0)",
    internal=True, doc="x with 0.0 for -0.0: a derivative as a program gets it.", example=("unsigned(-2.5)", -2.5),
)  # fmt: skip


def _power(a: Any, b: Any) -> Any:
    if a.__class__ is float or b.__class__ is float:
        return math.pow(a, b)
    if a.__class__ is int and b.__class__ is int:
        if b < 0:
            return math.pow(a, b)  # a float, as in Python; `dispatch` refuses it to integer tensors
        if b.bit_length() > 60 or a.bit_length() * b > limits.MAX_INTEGER_BITS:
            if a in (-1, 0, 1):
                return a**b
            raise failure("E0604", "this integer power has too many digits", "compute it as a float: 10.0**x")
        return a**b
    return a**b


def _power_array(np: Any, a: Any, b: Any) -> Any:
    if np.asarray(a).dtype.kind in "iu" and np.asarray(b).dtype.kind in "iu" and np.any(np.less(b, 0)):
        if np.ndim(a) == np.ndim(b) == 0:
            # Tensors without axes come here too, and 0 of Python's integers, whose other negative powers are floats.
            base = "0" if a == 0 else "an integer"
            hint = "write a float for inf: 0.0**x" if a == 0 else "write cast(x, float64)"
            raise failure("E0401", f"{base} cannot be raised to a negative power", hint)
        raise failure("E0401", "an integer tensor cannot be raised to a negative power", "write cast(x, float64)")
    found = np.power(a, b)
    if np.ndim(b) == 0 and b == 0.5 and found.dtype.kind == "f":
        # NumPy takes the square root, which has other values at -0 and -inf than a power has.
        return np.where(a == -np.inf, np.abs(a), found + found.dtype.type(0))[()]
    return found


def _power_da(y: Any, a: Any, b: Any) -> Any:
    if number(b):
        if b == 0:
            return 0.0 if a.__class__ is float else 0.0 * OPERATORS.ones_like(a)  # of nan too
        if b == 1:
            return _one(y) if number(a) else OPERATORS.ones_like(a)
        return a * 2 if b == 2 else multiply(b, power(a, b - 1))
    # b = 0 decides, whatever a is: the derivative of nan**0 is 0.
    slope = strong_multiply(b, power(a, b - 1))
    # 0 * 0**-1 is 0 then, but has derivatives of its own, which that of a**0 has not.
    return choose(logical_and(equal(a, 0), equal(b, 0)), 0.0, slope)


def _power_db(y: Any, a: Any, b: Any) -> Any:
    # A negative base has a complex logarithm beside a complex exponent.
    return y * OPERATORS.log(OPERATORS.complex(a, 0.0) if is_complex(y) and not is_complex(a) else a)


def _zero_base(a: Any, b: Any) -> Any:
    return both(a == 0, b > 0) if not is_complex(b) and not is_complex(a) else a == 0


power = elementwise(
    "power", "a, b", [_power_da, _power_db],
    scalar=_power, array=_power_array, dtype="arithmetic",
    aliases="pow", domain=[(0.2, 3), (-3, 3)],
    kernel="math.pow({0}, {1})",
    singular=[
        Singular(
            lambda a, b: both(a == 0, below(b, 1) & (b != 0)),
            "power has an infinite derivative at base 0 for exponents below 1"
        ),
        Singular(
            lambda a, b: both(a == 0, b == 0), "0**0 jumps: its derivative by the base is 0 where the exponent stays 0",
            adiff=0.0, tensorflow=NAN, jax=lambda a, b: 0.0 if b.__class__ is int else NAN, torch=0.0,
            subgradients="{0}",
        ),
        Singular(
            _zero_base, "the logarithm of base 0 in the derivative by the exponent: its limit is 0",
            **everywhere(0.0), subgradients="the limit", input=1,
        ),
        Singular(
            lambda a, b: both(a == 0, b == 0), "0**0 jumps: its derivative by the exponent is -inf", adiff=-INF,
            tensorflow=0.0, jax=0.0, torch=0.0, subgradients="{-inf}", input=1,
        ),
        Singular(
            lambda a, b: both(below(a, 0), not is_complex(b)), "a negative base has no real derivative by the exponent",
            adiff=NAN, tensorflow=0.0, subgradients="no value", input=1,
        ),
    ],
    symbol="**", largest=lambda sizes, n: power_bound(sizes[0], sizes[1]),
    doc="a to the power b: a ** b. A negative base with a broken exponent has no real value.",
    example=("power(2, 10)", 1024),
)  # fmt: skip


def _compare(name: str, sign: str, function: Any, aliases: str = "", accepts: str = "bifs") -> Operation:
    return no_tangent(
        name, "a, b", scalar=function, array=lambda np, a, b: function(a, b), dtype="bool", accepts=accepts,
        aliases=aliases, doc=f"Whether a {sign} b, element by element.", example=(f"{name}(1, 2)", function(1, 2)),
        symbol=sign, kernel=f"({{0}} {sign} {{1}})", reason="a comparison", domain=[(-1, 1), (-1, 1)],
    )  # fmt: skip


less = _compare("less", "<", operator.lt)
less_equal = _compare("less_equal", "<=", operator.le)
greater = _compare("greater", ">", operator.gt)
greater_equal = _compare("greater_equal", ">=", operator.ge)
equal = _compare("equal", "==", operator.eq, accepts="bifcs")
not_equal = _compare("not_equal", "!=", operator.ne, accepts="bifcs")


def _logical(name: str, doc: str, scalar: Any, example: bool, kernel: str, truth: str) -> Operation:
    return no_tangent(
        name, "a, b", scalar=scalar, array=lambda np, a, b: getattr(np, name)(a, b), dtype="bool", accepts="bif",
        kernel=kernel, truth=truth, doc=doc, example=(f"{name}(True, False)", example), reason="logic", domain=[(-1, 1), (-1, 1)],
    )  # fmt: skip


logical_and = _logical(
    "logical_and", "Whether both are true.", lambda a, b: bool(a) and bool(b), False, "({0} and {1})", "({0} & {1})"
)
logical_or = _logical(
    "logical_or", "Whether either is true.", lambda a, b: bool(a) or bool(b), True, "({0} or {1})", "({0} | {1})"
)
logical_xor = _logical(
    "logical_xor", "Whether exactly one is true.", lambda a, b: bool(a) != bool(b), True, "({0} != {1})", "({0} != {1})"
)
logical_not = no_tangent(
    "logical_not", "x", scalar=operator.not_, array=lambda np, x: np.logical_not(x), dtype="bool", accepts="bif",
    kernel="(not {0})",
    truth="(not {0})", doc="Whether x is false.", example=("logical_not(True)", False), reason="logic", domain=[(-1, 1)],
)  # fmt: skip


def _bitwise(name: str, sign: str, function: Any, example: int) -> Operation:
    return no_tangent(
        name, "a, b", scalar=function, array=lambda np, a, b: function(a, b), dtype="promote", accepts="bi",
        symbol=sign, kernel=f"({{0}} {sign} {{1}})", integer=f"({{0}} {sign} {{1}})",
        truth=f"({{0}} {'!=' if sign == '^' else sign} {{1}})", doc=f"Bitwise a {sign} b on integers; logical on booleans.",
        example=(f"{name}(6, 3)", example), reason="bits",
    )  # fmt: skip


bitwise_and = _bitwise("bitwise_and", "&", operator.and_, 2)
bitwise_or = _bitwise("bitwise_or", "|", operator.or_, 7)
bitwise_xor = _bitwise("bitwise_xor", "^", operator.xor, 5)


def _shift(a: int, b: int) -> int:
    if a.__class__ is float or b.__class__ is float:
        raise TypeError  # the general way says it in the user's words
    if b < 0:
        raise failure("E0401", "a shift by a negative number of bits")
    if b > limits.MAX_INTEGER_BITS:
        raise failure("E0604", "this integer has too many digits")
    return a << b


left_shift = no_tangent(
    "left_shift", "a, b", scalar=_shift, array=lambda np, a, b: np.left_shift(a, b), accepts="bi", kernel="({0} << {1})",
    symbol="<<", integer="({0} << {1})",
    refused="not (0 <= {1} < 62 and abs({0}) <= (4611686018427387904 >> {1}))",
    doc="a << b on integers.", example=("left_shift(3, 2)", 12), reason="bits",
)  # fmt: skip
right_shift = no_tangent(
    "right_shift", "a, b", scalar=operator.rshift, array=lambda np, a, b: np.right_shift(a, b), accepts="bi",
    kernel="({0} >> {1})",
    symbol=">>", integer="({0} >> ({1} if {1} < 63 else 63))", refused="{1} < 0",
    doc="a >> b on integers.", example=("right_shift(12, 2)", 3), reason="bits",
)  # fmt: skip
invert = no_tangent(
    "invert", "x", scalar=lambda x: (not x) if x.__class__ is bool else ~x, array=lambda np, x: np.invert(x),
    accepts="bi", kernel="(-1 - {0})",
    aliases="bitwise_not", symbol="~", integer="(-1 - {0})", truth="(not {0})",
    doc="Bitwise not on integers; logical not on booleans: ~x.", example=("invert(5)", -6),
    reason="bits",
)  # fmt: skip

where_select = linear(
    "where_select", "condition, a, b",
    lambda g, y, condition, a, b: (None, where_select(condition, g, 0.0), where_select(condition, 0.0, g)),
    scalar=lambda c, a, b: a if c else b, array=lambda np, c, a, b: np.where(c, a, b), dtype="arithmetic", skip=1,
    accepts="bifcs",
    kernel="({1} if {0} else {2})",
    internal=True, keeps=True, depends="elements",
    doc="Choose element by element; `where` with three arguments.", example=("where_select(True, 1, 2)", 1),
)  # fmt: skip


def _where(condition: Any, a: Any = None, b: Any = None) -> Any:
    if a is None and b is None:
        return OPERATORS.nonzero(condition)
    if a is None or b is None:
        raise failure("E0305", "where takes a condition alone, or a condition and two values")
    return where_select(condition, a, b)


where = composite(
    "where", "condition, a=None, b=None", _where,
    aliases="select", doc="a where the condition holds, else b. Only the side that is taken is differentiated.",
    example=("where(2 > 1, 10, 20)", 10),
)  # fmt: skip

# In rules both values are there.
OPERATORS["where"] = where_select
