"""f(x)/x and its derivatives for f = sin, sinh, expm1 and log1p, without cancellation near 0.

The n-th derivative q(n) of f(x)/x obeys x q(n) + n q(n-1) = f(n), by which it is found away from 0; near 0 by series
whose terms have one sign, where there is such a series. The functions of one float are in the words of kernels, which
compile them from this text; `over` evaluates them for arrays, step by step the same.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def sin_quotient(x: float, order: int) -> float:
    """sin(x)/x: near 0 its Taylor series, the sum of (-1)**(k/2) x**(k-n) / ((k+1) (k-n)!) over even k from n on."""
    if order == 0:
        return 1.0 if x == 0.0 else math.sin(x) / x
    if abs(x) < max(2.0, float(order)):
        first = order + order % 2
        total, power = 0.0, x if order % 2 else 1.0
        for k in range(first, first + 40 + 2 * order, 2):
            total += (power if k % 4 == 0 else -power) / (k + 1.0)
            power *= x * x / ((k + 2.0 - order) * (k + 1.0 - order))
        return total
    sine, cosine = math.sin(x), math.cos(x)
    value = sine / x
    for n in range(1, order + 1):
        wave = sine if n % 2 == 0 else cosine
        value = ((wave if n % 4 < 2 else -wave) - n * value) / x
    return value


def sinh_quotient(x: float, order: int) -> float:
    """sinh(x)/x: near 0 its Taylor series, the sum of x**(k-n) / ((k+1) (k-n)!) over even k from n on."""
    if order == 0:
        return 1.0 if x == 0.0 else math.sinh(x) / x
    if abs(x) < max(2.0, float(order)):
        first = order + order % 2
        total, power = 0.0, x if order % 2 else 1.0
        for k in range(first, first + 40 + 2 * order, 2):
            total += power / (k + 1.0)
            power *= x * x / ((k + 2.0 - order) * (k + 1.0 - order))
        return total
    sine, cosine = math.sinh(x), math.cosh(x)
    value = sine / x
    for n in range(1, order + 1):
        value = ((sine if n % 2 == 0 else cosine) - n * value) / x
    return value


def expm1_quotient(x: float, order: int) -> float:
    """(exp(x) - 1)/x, whose n-th derivative is the integral of t**n exp(x t) over t from 0 to 1.

    Near 0 for x > 0 the sum of x**k / (k! (n+1+k)), for x < 0 exp(x)/(n+1) times that of (-x)**k / ((n+2) ... (n+1+k)),
    by Kummer's transformation (DLMF 13.2.39).
    """
    if order == 0:
        return 1.0 if x == 0.0 else math.expm1(x) / x
    if abs(x) < 2.0 * (order + 1.0):
        total, term = 0.0, 1.0
        for k in range(22 + 6 * order):
            if x > 0.0:
                total += term / (order + 1.0 + k)
                term *= x / (k + 1.0)
            else:
                total += term
                term *= -x / (order + 2.0 + k)
        return total if x > 0.0 else math.exp(x) * total / (order + 1.0)
    value = math.expm1(x) / x
    for n in range(1, order + 1):
        value = (math.exp(x) - n * value) / x
    return value


def log1p_quotient(x: float, order: int) -> float:
    """log(1 + x)/x, whose n-th derivative is (-1)**n n! times the integral of t**n / (1 + x t)**(n+1) over 0 < t < 1.

    Near 0 for x < 0 its Taylor series, the sum of (-x)**k (k+n)!/k!/(k+n+1); for x > 0 in w = x/(1+x), by Pfaff's
    transformation (DLMF 15.8.1), n!/(1+x)**(n+1) times the sum of w**k/(n+1+k); both with the sign (-1)**n.
    """
    if order == 0:
        return 1.0 if x == 0.0 else math.log1p(x) / x
    if -0.5 < x < (1.0 if order == 1 else 3.0):
        factor = 1.0
        for n in range(1, order + 1):
            factor *= -n
        total, term = 0.0, 1.0
        for k in range(64 if order == 1 else 140):
            total += term / (order + 1.0 + k)
            term *= x / (1.0 + x) if x > 0.0 else -x * (order + 1.0 + k) / (k + 1.0)
        if x > 0.0:
            for _ in range(order + 1):
                factor /= 1.0 + x
        return factor * total
    value, slope = math.log1p(x) / x, 1.0
    for n in range(1, order + 1):
        slope /= 1.0 + x
        value = (slope - n * value) / x
        slope *= -n
    return value


def over(np: Any, x: Any, kind: str, order: int) -> Any:
    """The function of a kind for an array: of float32 too in float64, as kernels compute it."""
    return ARRAYS[kind](np, np.asarray(x, dtype=np.float64), order)


def _waves(np: Any, x: Any, order: int, sine: Callable[[Any], Any], cosine: Callable[[Any], Any], sign: int) -> Any:
    """Quotients of sine-like functions; `sign` is that of their second derivatives."""
    if order == 0:
        return np.where(x == 0, 1, sine(x) / np.where(x == 0, 1, x))
    near = np.abs(x) < max(2, order)
    small, large = np.where(near, x, 0), np.where(near, 1, x)
    first = order + order % 2
    total, power = np.zeros_like(small), small if order % 2 else np.ones_like(small)
    for k in range(first, first + 40 + 2 * order, 2):
        total = total + (power if k % 4 == 0 or sign > 0 else -power) / (k + 1)
        power = power * (small * small / ((k + 2 - order) * (k + 1 - order)))
    s, c = sine(large), cosine(large)
    value = s / large
    for n in range(1, order + 1):
        wave = s if n % 2 == 0 else c
        value = ((wave if n % 4 < 2 or sign > 0 else -wave) - n * value) / large
    return np.where(near, total, value)


def _expm1(np: Any, x: Any, order: int) -> Any:
    if order == 0:
        return np.where(x == 0, 1, np.expm1(x) / np.where(x == 0, 1, x))
    near = np.abs(x) < 2 * (order + 1)
    rising, falling = np.where(near & (x > 0), x, 0), np.where(near & (x < 0), -x, 0)
    large = np.where(near, 1, x)
    up, down, a, b = np.zeros_like(large), np.zeros_like(large), np.ones_like(large), np.ones_like(large)
    for k in range(22 + 6 * order):
        up, down = up + a / (order + 1 + k), down + b
        a, b = a * (rising / (k + 1)), b * (falling / (order + 2 + k))
    value = np.expm1(large) / large
    for n in range(1, order + 1):
        value = (np.exp(large) - n * value) / large
    return np.where(near, np.where(x > 0, up, np.exp(-falling) * down / (order + 1)), value)


def _log1p(np: Any, x: Any, order: int) -> Any:
    if order == 0:
        return np.where(x == 0, 1, np.log1p(x) / np.where(x == 0, 1, x))
    near = (x > -0.5) & (x < (1 if order == 1 else 3))
    rising, falling = np.where(near & (x > 0), x, 0), np.where(near & (x < 0), -x, 0)
    large = np.where(near, 1, x)
    ratio = rising / (1 + rising)
    up, down, a, b = np.zeros_like(large), np.zeros_like(large), np.ones_like(large), np.ones_like(large)
    for k in range(64 if order == 1 else 140):
        up, down = up + a / (order + 1 + k), down + b / (order + 1 + k)
        a, b = a * ratio, b * (falling * (order + 1 + k) / (k + 1))
    factor = np.full_like(large, math.prod(-n for n in range(1, order + 1)))
    scaled = factor
    for _ in range(order + 1):
        scaled = scaled / (1 + rising)
    value, slope = np.log1p(large) / large, np.ones_like(large)
    for n in range(1, order + 1):
        slope = slope / (1 + large)
        value = (slope - n * value) / large
        slope = slope * -n
    return np.where(near, np.where(x > 0, scaled * up, factor * down), value)


ARRAYS: dict[str, Callable[[Any, Any, int], Any]] = {
    "sin": lambda np, x, order: _waves(np, x, order, np.sin, np.cos, -1),
    "sinh": lambda np, x, order: _waves(np, x, order, np.sinh, np.cosh, 1),
    "expm1": _expm1,
    "log1p": _log1p,
}
SCALARS = {"sin": sin_quotient, "sinh": sinh_quotient, "expm1": expm1_quotient, "log1p": log1p_quotient}

__all__ = ["ARRAYS", "SCALARS", "over"]
