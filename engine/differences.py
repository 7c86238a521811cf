"""Derivatives by differences, with what is known of their errors. No rule of the table takes part.

Central differences with shrinking steps, extrapolated to step 0 with an estimate of the error: Ridders, Advances in
Engineering Software 4 (1982). Which steps are small enough for a function is not known beforehand (one that oscillates
10^5 times over the width of its input wants small ones, one of large values that hardly changes wants large ones), so
steps of several sizes are taken, and those believed where the extrapolation converges.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

EPSILON = 2.0**-52
# What the extrapolations begin with, in parts of the width, and each step in parts of the one before it.
STARTS = (1e-1, 1e-3, 1e-5, 1e-7)
SHRINK = 1.4
STEPS = 12
# The relative error from which on smaller steps are not tried any more.
SETTLED = 1e-7
# Steps of the plain differences that confirm a slope, in parts of the width, and the relative difference that does.
PLAIN = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-4, 1e-3, 1e-2)
CONFIRMED = 1e-3
# Slopes that differ by less than this part of the value over the width are the same: rounding leaves no more of them where
# the step is the first of PLAIN.
FLOOR = 1e-10
# Steps in parts of a width below this one are lost in rounding, or are no numbers.
NARROWEST = 1e-250


def derivative(f: Callable[[float], float], *widths: float) -> tuple[float, float]:
    """f'(0), and an estimate of its error, infinite where there is none; f is known to vary over each of `widths`.

    What converges to one slope over one of them and to another over another has no estimate.
    """
    found = [pair for width in widths for pair in by_steps(f, width)]
    best, error = min(found, key=lambda pair: pair[1])
    for other, uncertainty in found:
        # One that has converged elsewhere: steps too large for f seem to converge to anything.
        if uncertainty <= 1e-2 * abs(other) and abs(other - best) > 10 * (error + uncertainty):
            error = abs(other - best)
    return best, error


def by_steps(f: Callable[[float], float], width: float) -> list[tuple[float, float]]:
    """f'(0) and an estimate of its error from each of STARTS, as far as it is worth while."""
    found: list[tuple[float, float]] = []
    for start in STARTS:
        found.append(extrapolated(f, start * width))
        best, error = min(found, key=lambda pair: pair[1])
        if len(found) == 2 and error <= SETTLED * abs(best) and agree(*found):
            break
    return found


def agree(first: tuple[float, float], second: tuple[float, float]) -> bool:
    return abs(first[0] - second[0]) <= CONFIRMED * max(abs(first[0]), abs(second[0]))


def extrapolated(f: Callable[[float], float], start: float) -> tuple[float, float]:
    """f'(0) from steps that shrink from `start`, and an estimate of its error."""
    best, error = math.nan, math.inf
    h = start
    table = [[central(f, h)[0]]]
    for i in range(1, STEPS):
        h /= SHRINK
        slope, rounding = central(f, h)
        row = [slope]
        factor = SHRINK * SHRINK
        for j in range(i):
            row.append((row[j] * factor - table[i - 1][j]) / (factor - 1))
            factor *= SHRINK * SHRINK
            spread = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - table[i - 1][j]), rounding)
            if spread <= error:
                best, error = row[j + 1], spread
        table.append(row)
        if abs(row[i] - table[i - 1][i - 1]) >= 2 * error:
            break
    return best, error


def central(f: Callable[[float], float], h: float) -> tuple[float, float]:
    """The slope by two values, and what rounding of the values makes of it at least."""
    above, below = f(h), f(-h)
    return (above - below) / (2 * h), EPSILON * max(abs(above), abs(below)) / h


def confirms(f: Callable[[float], float], slope: float, *widths: float) -> bool:
    """Whether a plain difference is `slope`, in parts of the first of `widths` that tells."""
    for width in widths:
        found = confirmed(f, width, slope)
        if found is not None:
            return found
    return False


def confirmed(f: Callable[[float], float], width: float, slope: float) -> bool | None:
    """Whether a plain difference, of a step that rounding leaves enough of, is `slope`; None where none tells."""
    last = math.nan
    for part in PLAIN:
        h = part * width
        found, rounding = central(f, h)
        floor = FLOOR / EPSILON * rounding * part  # FLOOR of the value over the width
        allowed = max(CONFIRMED * max(abs(found), abs(slope)), floor)
        if 4 * rounding <= allowed:
            if abs(found - slope) <= allowed:
                return True
            if abs(found - last) <= CONFIRMED * allowed:
                return False  # it has converged, to something else
            last = found
    return None


__all__ = ["EPSILON", "confirms", "derivative"]
