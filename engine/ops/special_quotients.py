"""f(x)/x and its derivatives for f = sin, sinh, expm1 and log1p, without cancellation near 0.

The n-th derivative q(n) of f(x)/x obeys x q(n) + n q(n-1) = f(n), by which it is found away from 0; near 0 by series
whose terms have one sign, where there is such a series. The functions are in the words of kernels.
"""

from __future__ import annotations

import math

from .scipy_functions import scipy_hyp1f1, scipy_hyp2f1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def wave_quotient(x: float, order: int, sine: float, cosine: float, sign: float) -> Any:
    """A derivative of sin(x)/x for the sign -1, of sinh(x)/x for 1."""
    if abs(x) < max(2.0, float(order)):
        return wave_series(x, order, sign)
    return wave_recurrence(x, order, sine, cosine, sign)


def wave_series(x: Any, order: int, sign: float) -> Any:
    """Taylor's series: the sum of sign**(k/2) x**(k-n) / ((k+1) (k-n)!) over even k from n on. Of arrays too."""
    first = order + order % 2
    total, power = 0.0 * x, x if order % 2 else 1.0
    for k in range(first, first + 40 + 2 * order, 2):
        total = total + (power if k % 4 == 0 else sign * power) / (k + 1.0)
        power = power * (x * x / ((k + 2.0 - order) * (k + 1.0 - order)))
    return total


def wave_recurrence(x: Any, order: int, sine: Any, cosine: Any, sign: float) -> Any:
    value = sine / x
    for n in range(1, order + 1):
        wave = sine if n % 2 == 0 else cosine
        value = ((wave if n % 4 < 2 else sign * wave) - n * value) / x
    return value


def sin_quotient(x: float, order: int) -> float:
    if order == 0:
        return 1.0 if x == 0.0 else math.sin(x) / x
    found: float = wave_quotient(x, order, math.sin(x), math.cos(x), -1.0)
    return found


def sinh_quotient(x: float, order: int) -> float:
    if order == 0:
        return 1.0 if x == 0.0 else math.sinh(x) / x
    found: float = wave_quotient(x, order, math.sinh(x), math.cosh(x), 1.0)
    return found


def sinc(x: float) -> float:
    """sin(pi*x)/(pi*x), with x reduced exactly."""
    return 1.0 if x == 0.0 else sine_of_turns(x, 0) / (math.pi * x)


def sinc_derivative(x: float, order: int) -> float:
    t = math.pi * abs(x)
    if t == math.inf:
        return 0.0
    found = wave_quotient(t, order, sine_of_turns(abs(x), 0), sine_of_turns(abs(x), 1), -1.0)
    scaled: float = math.pow(math.pi, float(order)) * (-found if x < 0.0 and order % 2 else found)
    return scaled


def sine_of_turns(x: float, quarter: int) -> float:
    """sin(pi*x), or for quarter 1 cos(pi*x)."""
    if not abs(x) < 9e15:  # all numbers are even there
        return 0.0 * x + quarter
    nearest = math.floor(x + 0.5)
    turn = x - nearest
    if quarter == 0:
        found = math.sin(math.pi * turn)
    elif abs(turn) > 0.25:
        found = math.sin(math.pi * (0.5 - abs(turn)))
    else:
        found = math.cos(math.pi * turn)
    return 0.0 - found if nearest != 2.0 * math.floor(0.5 * nearest) else found


def expm1_quotient(x: float, order: int) -> float:
    """(exp(x) - 1)/x, whose n-th derivative is the integral of t**n exp(x t) over t from 0 to 1: near 0 that is
    1F1(n + 1; n + 2; x)/(n + 1), DLMF 13.4.1."""
    if order and abs(x) < 2.0 * (order + 1.0):
        return scipy_hyp1f1(order + 1.0, order + 2.0, x) / (order + 1.0)
    value = math.expm1(x) / x if x != 0.0 else 1.0
    for n in range(1, order + 1):
        value = (math.exp(x) - n * value) / x
    return value


def log1p_quotient(x: float, order: int) -> float:
    """log(1 + x)/x, whose n-th derivative is (-1)**n n! times the integral of t**n / (1 + x t)**(n+1) over 0 < t < 1: near 0
    that is 2F1(n + 1, n + 1; n + 2; -x)/(n + 1), DLMF 15.6.1."""
    factor = 1.0
    for n in range(1, order + 1):
        factor *= -n
    if order and -0.5 < x < (1.0 if order == 1 else 3.0):
        return factor * scipy_hyp2f1(order + 1.0, order + 1.0, order + 2.0, -x) / (order + 1.0)
    value, slope = math.log1p(x) / x if x != 0.0 else 1.0, 1.0
    for n in range(1, order + 1):
        slope /= 1.0 + x
        value = (slope - n * value) / x
        slope *= -n
    return value


def on_arrays(np: Any, x: Any, kind: str, order: int) -> Any:
    """The function of a kind for an array: of float32 too in float64, as kernels compute it."""
    x = np.asarray(x, dtype=np.float64)
    if order == 0:
        return np.where(x == 0, 1, getattr(np, kind)(x) / np.where(x == 0, 1, x))
    if kind not in ("sin", "sinh"):
        from .pointwise import map_floats

        return map_floats(f"{kind}_quotient", x, order=order)
    sign, cosine = (-1.0, np.cos) if kind == "sin" else (1.0, np.cosh)
    near = np.abs(x) < max(2.0, order)
    small, large = np.where(near, x, 0.0), np.where(near, 1.0, x)
    far = wave_recurrence(large, order, getattr(np, kind)(large), cosine(large), sign)
    return np.where(near, wave_series(small, order, sign), far)


SCALARS: dict[str, Callable[[float, int], float]] = {
    "sin": sin_quotient,
    "sinh": sinh_quotient,
    "expm1": expm1_quotient,
    "log1p": log1p_quotient,
}
