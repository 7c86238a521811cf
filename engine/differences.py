"""Derivatives by differences, with what is known of their errors. No rule of the table takes part.

Differences with shrinking steps, extrapolated to step 0 with an estimate of the error: Ridders, Advances in Engineering
Software 4 (1982). Which steps are small enough for a function is not known beforehand, so several sizes are taken, and
those believed where the extrapolation converges.
"""

from __future__ import annotations

import math
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Slope = tuple[float, float]  # and how far from the truth it may be

EPSILON = 2.0**-52
# What the extrapolations begin with, in parts of the width, and each step in parts of the one before it.
STARTS = (1e-1, 1e-3, 1e-5, 1e-7, 1e-8)
SHRINK = 1.4
STEPS = 12
# Slopes that differ by so many times their errors contradict each other.
APART = 10
# The relative error from which on smaller steps are not tried any more.
SETTLED = 1e-7


def derivative(f: Callable[[float], float], *widths: float, reach: float = math.inf) -> Slope:
    """f'(0) by central differences, and an estimate of its error, infinite where there is none; f is known to vary over
    each of `widths`, and to be smooth within `reach` of 0."""
    found: list[Slope] = []
    for width in widths:
        starts = [start * width for start in STARTS if start * width <= reach]
        if len(starts) < len(STARTS):
            starts = [reach, 0.7 * reach, reach / 100, *starts]
        found += extrapolations(central(f), starts, 2)
    return best_of(found)


def one_sided(f: Callable[[float], float], width: float) -> Slope:
    """The slope at 0 on the side to which the steps of `width` go; infinite over a jump, where half a step changes as much."""
    here = f(0.0)

    def quotient(h: float) -> Slope:
        there = f(h)
        return (there - here) / h, EPSILON * max(abs(there), abs(here)) / abs(h)

    whole, half = quotient(width)[0], quotient(width / 2)[0]
    if half and abs(half - 2 * whole) <= 1e-3 * abs(half):
        return math.copysign(math.inf, half), 0.0
    return best_of(extrapolations(quotient, [width, width / 2, width / 4], 1))


def central(f: Callable[[float], float]) -> Callable[[float], Slope]:
    """The slope by two values, and what rounding makes of it at least."""

    def quotient(h: float) -> Slope:
        above, below = f(h), f(-h)
        return (above - below) / (2 * h), EPSILON * max(abs(above), abs(below)) / h

    return quotient


def extrapolations(quotient: Callable[[float], Slope], starts: Iterable[float], order: int) -> list[Slope]:
    """The slope from each of `starts`, until two of them agree."""
    found: list[Slope] = []
    for start in starts:
        found.append(extrapolated(quotient, start, SHRINK**order))
        if len(found) > 1:
            slope, error = best_of(found)
            if error <= SETTLED * abs(slope):
                break
    return found


def best_of(found: list[Slope]) -> Slope:
    """The slope on which steps of two sizes agree best: it is known no better than they do, or than another allows that
    seems known and contradicts it."""
    pairs = [(a, b) if a[1] <= b[1] else (b, a) for a, b in pairwise(found)]
    known = [(a[0], max(a[1], abs(a[0] - b[0]))) for a, b in pairs if math.isfinite(a[1] + b[1])]
    if not known:
        return math.nan, math.inf
    best, error = min(known, key=lambda pair: pair[1])
    for slope, uncertainty in known:
        if uncertainty <= 1e-2 * abs(slope) and abs(slope - best) > APART * (error + uncertainty):
            error = max(error, abs(slope - best))
    return best, error


def extrapolated(quotient: Callable[[float], Slope], start: float, power: float) -> Slope:
    """The slope from steps that shrink from `start`, and an estimate of its error; the errors of the quotients are a
    series in powers of the step, of which one falls by `power` a step more than the one before it."""
    best, error = math.nan, math.inf
    h = start
    table = [[quotient(h)[0]]]
    for i in range(1, STEPS):
        h /= SHRINK
        slope, rounding = quotient(h)
        row = [slope]
        factor = power
        for j in range(i):
            row.append((row[j] * factor - table[i - 1][j]) / (factor - 1))
            factor *= power
            spread = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - table[i - 1][j]), rounding)
            if spread <= error:
                best, error = row[j + 1], spread
        table.append(row)
        if abs(row[i] - table[i - 1][i - 1]) >= 2 * error:
            break
    return best, error


__all__ = ["STARTS", "derivative", "one_sided"]
