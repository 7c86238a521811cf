"""The helpers that the text of scalar rows and emitted code call, in the subset of Python that Numba compiles.

The functions of `math` and `np` in them are LLVM's and C's (numba_types.py).
"""

from __future__ import annotations

import math
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np


def _strong(g: float, p: float) -> float:
    return g * p if g != 0.0 else 0.0


def _sign(x: float) -> float:
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x + 0.0)


def _minimum(a: float, b: float) -> float:
    return a if a <= b or a != a else b


def _maximum(a: float, b: float) -> float:
    return a if a >= b or a != a else b


def _clip(x: float, low: float, high: float) -> float:
    x = low if x < low or low != low else x
    return high if x > high or high != high else x


def _round(x: float, decimals: int) -> float:
    if decimals == 0:
        return float(np.rint(x))
    scale = math.pow(10.0, float(abs(decimals)))
    return float(np.rint(x * scale)) / scale if decimals > 0 else float(np.rint(x / scale)) * scale


def _relu(x: float) -> float:
    return x if x > 0.0 or x != x else 0.0


def _floor_divide(a: float, b: float) -> float:
    if b == 0.0:
        return a / b
    rest = math.fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0.0 and (b < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient != 0.0:
        whole = float(np.floor(quotient))
        return whole + 1.0 if quotient - whole > 0.5 else whole
    return math.copysign(0.0, a / b)


def _mod(a: float, b: float) -> float:
    if b == 0.0:
        return math.nan
    rest = math.fmod(a, b)
    if rest != 0.0:
        return rest + b if (b < 0.0) != (rest < 0.0) else rest
    return rest if rest != rest else math.copysign(0.0, b)


def _log_cosh(x: float) -> float:
    size = abs(x)
    if size < 1.0:
        half = math.sinh(0.5 * size)
        return math.log1p(2.0 * half * half)
    return size - math.log(2.0) + math.log1p(math.exp(-2.0 * size))


def _shrink_series(x: float) -> float:
    """x cosh(x) - sinh(x), the sum of 2k/(2k + 1)! x**(2k + 1), k = 1, 2, ...: no term cancels another, as x and tanh(x) do."""
    term, total = x * x * x / 6.0, 0.0 * x
    for k in range(1, 10):
        total += 2.0 * k * term
        term *= x * x / ((2.0 * k + 2.0) * (2.0 * k + 3.0))
    return total


def _tanh_shrink(x: float) -> float:
    return _shrink_series(x) / math.cosh(x) if abs(x) < 1.0 else x - math.tanh(x)


def _sigmoid(x: float) -> float:
    decay = math.exp(-abs(x))
    return 1.0 / (1.0 + decay) if x >= 0.0 else decay / (1.0 + decay)


def _softplus(x: float) -> float:
    return (0.0 if x < 0.0 else x) + math.log1p(math.exp(-abs(x)))


def _logaddexp(a: float, b: float) -> float:
    if a == b:
        return a + 0.6931471805599453
    if a != a or b != b:
        return a + b
    return (b if b > a else a) + math.log1p(math.exp(-abs(a - b)))


def _isclose(a: float, b: float, rtol: float, atol: float, equal_nan: bool) -> bool:
    if a == b:
        return True
    if equal_nan and a != a and b != b:
        return True
    return abs(b) < math.inf and abs(a - b) <= atol + rtol * abs(b)


def _is_close_symmetric(a: float, b: float, rel_tol: float, abs_tol: float) -> bool:
    if a == b:
        return True
    if not (abs(a) < math.inf and abs(b) < math.inf):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def helper(name: str) -> Any:
    """The function, or constant, that a kernel may call by a name; None where there is none. Functions that are not here are
    those of ops/special_*.py, compiled from the same source that the tape runs."""
    found = HELPERS.get(name)
    for module in SPECIAL:
        if found is not None:
            break
        found = vars(import_module(module, __package__)).get(name)
    return found if found.__class__ in COMPILED else None


# What a helper may read: other functions, numbers and tuples of numbers.
COMPILED = (type(helper), float, int, tuple)
SPECIAL = (".special_values", ".special_parameters")
HELPERS: dict[str, Any] = {k: v for k, v in globals().items() if k[0] == "_" and v.__class__ is type(helper)}
