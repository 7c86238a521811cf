"""Scalar primitives: for each row that a kernel computes directly, its source text and the kind of its result.

`{0}`, `{1}`, ... stand for the operands. The helpers (`_sigmoid`, ...) are defined in PRELUDE and compiled into the
kernel; they mirror the rows' own scalar forms. `bounded` rows have partials that are always finite, so that the
product with a zero cotangent needs no care.
"""

from __future__ import annotations

from .ir import BOOL, FLOAT, INT

# name: (text, kind of the result; "=" for that of the operands)
TEXT: dict[str, tuple[str, str]] = {
    "add": ("({0} + {1})", "="),
    "subtract": ("({0} - {1})", "="),
    "multiply": ("({0} * {1})", "="),
    "divide": ("({0} / {1})", FLOAT),
    "floor_divide": ("({0} // {1})", "="),
    "mod": ("({0} % {1})", "="),
    "negative": ("(-{0})", "="),
    "power": ("({0} ** {1})", "="),
    "strong_multiply": ("_strong({0}, {1})", FLOAT),
    "square": ("({0} * {0})", "="),
    "reciprocal": ("(1.0 / {0})", FLOAT),
    "abs": ("abs({0})", "="),
    "sign": ("_sign({0})", "="),
    "minimum": ("_minimum({0}, {1})", "="),
    "maximum": ("_maximum({0}, {1})", "="),
    "floor": ("math.floor({0})", FLOAT),
    "ceil": ("math.ceil({0})", FLOAT),
    "trunc": ("math.trunc({0})", FLOAT),
    "sqrt": ("math.sqrt({0})", FLOAT),
    "exp": ("math.exp({0})", FLOAT),
    "expm1": ("math.expm1({0})", FLOAT),
    "log": ("math.log({0})", FLOAT),
    "log1p": ("math.log1p({0})", FLOAT),
    "log2": ("math.log2({0})", FLOAT),
    "log10": ("math.log10({0})", FLOAT),
    "sin": ("math.sin({0})", FLOAT),
    "cos": ("math.cos({0})", FLOAT),
    "tan": ("math.tan({0})", FLOAT),
    "arcsin": ("math.asin({0})", FLOAT),
    "arccos": ("math.acos({0})", FLOAT),
    "arctan": ("math.atan({0})", FLOAT),
    "arctan2": ("math.atan2({0}, {1})", FLOAT),
    "sinh": ("math.sinh({0})", FLOAT),
    "cosh": ("math.cosh({0})", FLOAT),
    "tanh": ("math.tanh({0})", FLOAT),
    "arcsinh": ("math.asinh({0})", FLOAT),
    "arccosh": ("math.acosh({0})", FLOAT),
    "arctanh": ("math.atanh({0})", FLOAT),
    "hypot": ("math.hypot({0}, {1})", FLOAT),
    "erf": ("math.erf({0})", FLOAT),
    "erfc": ("math.erfc({0})", FLOAT),
    "lgamma": ("math.lgamma({0})", FLOAT),
    "sigmoid": ("_sigmoid({0})", FLOAT),
    "softplus": ("_softplus({0})", FLOAT),
    "relu": ("_relu({0})", "="),
    "less": ("({0} < {1})", BOOL),
    "less_equal": ("({0} <= {1})", BOOL),
    "greater": ("({0} > {1})", BOOL),
    "greater_equal": ("({0} >= {1})", BOOL),
    "equal": ("({0} == {1})", BOOL),
    "not_equal": ("({0} != {1})", BOOL),
    "logical_and": ("({0} and {1})", BOOL),
    "logical_or": ("({0} or {1})", BOOL),
    "logical_not": ("(not {0})", BOOL),
    "isnan": ("({0} != {0})", BOOL),
    "where_select": ("({1} if {0} else {2})", "="),
    "to_float": ("float({0})", FLOAT),
    "to_int": ("int({0})", INT),
    "copy": ("{0}", "="),
    "zero": ("0.0", FLOAT),
}

PRELUDE = """
@njit(inline="always")
def _strong(g, p):
    return g * p if g != 0.0 else 0.0 * g

@njit(inline="always")
def _sign(x):
    return (1.0 if x > 0 else (-1.0 if x < 0 else x * 0.0))

@njit(inline="always")
def _minimum(a, b):
    return a if (a < b or a != a) else b

@njit(inline="always")
def _maximum(a, b):
    return a if (a > b or a != a) else b

@njit(inline="always")
def _relu(x):
    return x if (x > 0.0 or x != x) else 0.0 * x

@njit(inline="always")
def _sigmoid(x):
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)

@njit(inline="always")
def _softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
"""

# Rows whose partials are finite for finite operands.
BOUNDED = frozenset("add subtract negative sin cos tanh arctan sigmoid softplus relu abs sign copy to_float".split())
