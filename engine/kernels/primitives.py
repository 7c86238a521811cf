"""Scalar primitives: for each row that a kernel computes directly, its source text.

`{0}`, `{1}`, ... stand for the operands and `{alpha}` for a static parameter; the kind of the result follows from the
row's dtype rule. The helpers (`_sigmoid`, ...) are defined in PRELUDE or taken from ops/special_scalar.py; they are
compiled into the kernel. The text gives what the row gives, for infinities, nan and signed zeros too.
"""

from __future__ import annotations

import math

from ..ops import special_scalar
from ..ops.registry import ROWS
from .ir import BOOL, FLOAT, INT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SELU = "{0} if {0} > 0.0 else 1.6732632423543772848170429916717 * math.expm1({0})"

TEXT: dict[str, str] = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "floor_divide": "_floor_divide({0}, {1})",
    "mod": "_mod({0}, {1})",
    "fmod": "np.fmod({0}, {1})",
    "negative": "(-{0})",
    "power": "math.pow({0}, {1})",
    "strong_multiply": "_strong({0}, {1})",
    "square": "({0} * {0})",
    "squared_difference": "_squared_difference({0}, {1})",
    "reciprocal": "(1.0 / {0})",
    "abs": "abs({0})",
    "signum": "_sign({0})",
    "copysign": "math.copysign({0}, {1})",
    "heaviside": "({1} if {0} == 0.0 else (1.0 if {0} > 0.0 else (0.0 if {0} < 0.0 else {0})))",
    "minimum": "_minimum({0}, {1})",
    "maximum": "_maximum({0}, {1})",
    "fmin": "_fmin({0}, {1})",
    "fmax": "_fmax({0}, {1})",
    "clip_between": "_clip({0}, {1}, {2})",
    "floor": "np.floor({0})",
    "ceil": "np.ceil({0})",
    "trunc": "np.trunc({0})",
    "round": "np.rint({0})",
    "sqrt": "math.sqrt({0})",
    "rsqrt": "(1.0 / math.sqrt({0}))",
    "cbrt": "np.cbrt({0})",
    "exp": "math.exp({0})",
    "exp2": "math.exp2({0})",
    "expm1": "math.expm1({0})",
    "log": "math.log({0})",
    "log1p": "math.log1p({0})",
    "log2": "math.log2({0})",
    "log10": "math.log10({0})",
    "sin": "math.sin({0})",
    "cos": "math.cos({0})",
    "tan": "math.tan({0})",
    "sec": "(1.0 / math.cos({0}))",
    "csc": "(1.0 / math.sin({0}))",
    "cot": "(1.0 / math.tan({0}))",
    "arcsin": "math.asin({0})",
    "arccos": "math.acos({0})",
    "arctan": "math.atan({0})",
    "arctan2": "math.atan2({0}, {1})",
    "one_minus_square": "((1.0 - {0}) * (1.0 + {0}))",
    "sinh": "math.sinh({0})",
    "cosh": "math.cosh({0})",
    "tanh": "math.tanh({0})",
    "sech": "_sech({0})",
    "csch": "(1.0 / math.sinh({0}))",
    "coth": "(1.0 / math.tanh({0}))",
    "log_cosh": "_log_cosh({0})",
    "arcsinh": "math.asinh({0})",
    "arccosh": "math.acosh({0})",
    "arctanh": "math.atanh({0})",
    "deg2rad": f"({{0}} * {math.pi / 180!r})",
    "rad2deg": f"({{0}} * {180 / math.pi!r})",
    "hypot": "math.hypot({0}, {1})",
    "direction": "({0} / math.hypot({0}, {1}))",
    "root_of_squares": "math.hypot({0}, {1})",
    "root_of_three_squares": "math.hypot(math.hypot({0}, {1}), {2})",
    "square_of_root": "({0} if {0} >= 0.0 else math.nan)",
    "xlogy": "({0} * math.log({1}) if {0} != 0.0 or {1} != {1} else 0.0)",
    "xlog1py": "({0} * math.log1p({1}) if {0} != 0.0 or {1} != {1} else 0.0)",
    "xdivy": "({0} / {1} if {0} != 0.0 or {1} != {1} else 0.0)",
    "divide_no_nan": "({0} / {1} if {1} != 0.0 else 0.0)",
    "multiply_no_nan": "({0} * {1} if {1} != 0.0 else 0.0)",
    "reciprocal_no_nan": "(1.0 / {0} if {0} != 0.0 else 0.0)",
    "sigmoid": "_sigmoid({0})",
    "softplus": "_softplus({0})",
    "log_sigmoid": "_log_sigmoid({0})",
    "bernoulli_variance": "({0} * (1.0 - {0}))",
    "logit": "_logit({0})",
    "logaddexp": "_logaddexp({0}, {1})",
    "relu": "_relu({0})",
    "relu6": "_clip({0}, 0.0, 6.0)",
    "hard_tanh": "_clip({0}, -1.0, 1.0)",
    "hard_sigmoid": "(_clip({0} + 3.0, 0.0, 6.0) / 6.0)",
    "leaky_relu": "({0} if {0} > 0.0 else {alpha} * {0})",
    "elu": "({0} if {0} > 0.0 else {alpha} * math.expm1({0}))",
    "selu": f"(1.0507009873554804934193349852946 * ({SELU}))",
    "softsign": "({0} / (1.0 + abs({0})))",
    "silu": "({0} * _sigmoid({0}))",
    "erf": "math.erf({0})",
    "erfc": "math.erfc({0})",
    "gaussian": "gaussian({0}, 1.0)",
    "normal_density": "normal_density({0})",
    "ndtr": "ndtr({0})",
    "gelu_exact": "({0} * ndtr({0}))",
    "gamma": "math.gamma({0})",
    "lgamma": "log_gamma({0})",
    "digamma": "digamma({0})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "greater": "({0} > {1})",
    "greater_equal": "({0} >= {1})",
    "equal": "({0} == {1})",
    "not_equal": "({0} != {1})",
    "logical_and": "({0} and {1})",
    "logical_or": "({0} or {1})",
    "logical_xor": "({0} != {1})",
    "logical_not": "(not {0})",
    "isnan": "({0} != {0})",
    "isinf": "({0} == math.inf or {0} == -math.inf)",
    "isfinite": "({0} - {0} == 0.0)",
    "isposinf": "({0} == math.inf)",
    "isneginf": "({0} == -math.inf)",
    "signbit": "(math.copysign(1.0, {0}) < 0.0)",
    "where_select": "({1} if {0} else {2})",
    # What is no row: conversions, integers (exact up to 2**53, or else the tape takes over) and cotangents.
    "to_float": "float({0})",
    "to_int": "_whole({0})",
    "int_of_bool": "int({0})",
    "int_add": "_int({0} + {1})",
    "int_subtract": "_int({0} - {1})",
    "int_multiply": "_int_multiply({0}, {1})",
    "int_floor_divide": "({0} // _divisor({1}))",
    "int_mod": "({0} % _divisor({1}))",
    "int_sign": "(({0} > 0) - ({0} < 0))",
    "int_power": "_int_power({0}, {1})",
    "copy": "{0}",
    "zero": "0.0",
}

# Rows whose text holds for integers too; the others compute in floats or leave integers to the tape.
FOR_INTEGERS = frozenset("abs minimum maximum fmin fmax clip_between".split())
LOGIC = frozenset("logical_and logical_or logical_xor logical_not".split())
# Integers stay where a float holds them exactly.
LIMIT = 2**53


def kind_of_row(name: str, joined: str) -> str:
    """The kind of a row's result for operands of a joined kind."""
    rule = ROWS[name].dtype
    if rule == "bool":
        return BOOL
    return FLOAT if rule == "float" else (INT if joined == BOOL else joined)


def attributes_covered(name: str, attributes: dict[str, Any]) -> bool:
    """Whether a row's text takes these static parameters."""
    if name == "round":
        return attributes == {"decimals": 0}
    return all(value.__class__ in (int, float) and f"{{{key}}}" in TEXT[name] for key, value in attributes.items())


PRELUDE = """
from __future__ import annotations

import math

import numpy as np
from numba import njit

inlined = njit(inline="always", error_model="numpy")
compiled = njit(error_model="numpy")


@inlined
def _strong(g, p):
    return g * p if g != 0.0 else 0.0


@inlined
def _sign(x):
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)


@inlined
def _squared_difference(a, b):
    return (a - b) * (a - b)


@inlined
def _minimum(a, b):
    return a if a < b or a != a else b


@inlined
def _maximum(a, b):
    return a if a > b or a != a else b


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
    if not abs(x) < 9007199254740992.0:
        raise OverflowError
    return int(x)


@inlined
def _int(x):
    if x > 9007199254740992 or x < -9007199254740992:
        raise OverflowError
    return x


@inlined
def _int_multiply(a, b):
    if abs(float(a) * float(b)) > 9007199254740992.0:
        raise OverflowError
    return a * b


@inlined
def _divisor(b):
    if b == 0:
        raise ZeroDivisionError
    return b


@compiled
def _int_power(a, b):
    if b < 0:
        raise OverflowError
    result = 1
    for _ in range(b if abs(a) > 1 else min(b, 2 - b % 2)):
        result = _int_multiply(result, a)
    return result


@compiled
def _grow(old):
    new = np.empty(2 * old.size, dtype=old.dtype)
    new[: old.size] = old
    return new

"""

# Functions that the rows themselves compute with, compiled from their own source.
BORROWED: tuple[Callable[..., Any], ...] = (
    special_scalar.gaussian,
    special_scalar.normal_density,
    special_scalar._square_error,
    special_scalar._two_product,
    special_scalar._split,
    special_scalar._erfc_corrected,
    special_scalar.ndtr,
    special_scalar.log_gamma_around_2,
    special_scalar.log_gamma,
    special_scalar.digamma_difference,
    special_scalar.cotangent_of_turns,
    special_scalar.digamma,
)


def helpers(compiler: Any) -> dict[str, Any]:
    """The namespace that emitted kernels run in; `compiler` stands for Numba's njit (tests run kernels without it)."""
    import inspect

    namespace: dict[str, Any] = {
        name: value for name, value in vars(special_scalar).items() if value.__class__ in (float, tuple)
    }
    borrowed = "\n\n".join("@compiled\n" + inspect.getsource(function) for function in BORROWED)
    text = PRELUDE.replace("from numba import njit\n", "") + borrowed
    namespace["njit"] = compiler
    # The source is ours throughout: nothing of any program's text is in it.
    exec(compile(text, "<kernel helpers>", "exec"), namespace)
    return namespace
