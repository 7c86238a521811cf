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
    from collections.abc import Callable, Iterable

    Slope = tuple[float, float]  # and how far from the truth it may be

EPSILON = 2.0**-52
# What the extrapolations begin with, in parts of the width, and each step in parts of the one before it.
STARTS = (1e-1, 1e-3, 1e-5, 1e-7)
FINER = (1e-9, 1e-11, 1e-13)
SHRINK = 1.4
STEPS = 12
# Steps of plain differences, in parts of the width, and how near they are to a slope that they attain.
PLAIN = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-4, 1e-3, 1e-2)
ATTAINED = 1e-2
# The relative error from which on smaller steps are not tried any more, and the difference of two that settles it.
SETTLED = 1e-7
AGREED = 1e-3
# Slopes that differ by so many times their errors contradict each other.
APART = 10
# The function is noisy where it changes over such a part of the width by more than a smooth one does.
NOISE = 2.0**-46
# What changes by more than this part of the values, over steps as short as these, is no noise.
MOST_NOISE = 1e-6
# Steps in parts of a width below this one are lost in rounding, or are no numbers.
NARROWEST = 1e-250


def derivative(f: Callable[[float], float], *widths: float, reach: float = math.inf, fine: bool = False) -> Slope:
    """f'(0), and an estimate of its error, infinite where there is none; f is known to vary over each of `widths`, and
    to be smooth within `reach` of 0. `fine` asks steps of all sizes.

    What converges to one slope over one of them and to another over another has no estimate.
    """
    noise = 0.0 if fine else noise_of(f, NOISE * min(*widths, reach / STARTS[0]))
    if noise > MOST_NOISE * max(abs(f(part * widths[-1])) for part in (-STARTS[1], 0.0, STARTS[1])):
        return math.nan, math.inf  # steps of any size pass over something
    found: list[Slope] = []
    for width in widths:
        starts = [start * width for start in (*STARTS, *(FINER if fine else ())) if start * width <= reach]
        if starts[:1] != [STARTS[0] * width]:
            starts = [start for start in (reach, 1e-1 * reach, 1e-2 * reach) if start <= STARTS[0] * width] + starts
        found += by_steps(f, starts, noise, fine)
    if not found:
        return math.nan, math.inf
    best, error = min(found, key=lambda pair: pair[1])
    # Steps too large for f seem to converge to anything: another slope, from steps of another size, says that they do.
    doubt = max(
        (abs(x - best) for x, u in found if u <= 1e-2 * abs(x) and abs(x - best) > APART * (error + u)), default=0.0
    )
    if fine:
        for step in (part * width for width in widths for part in FINER):
            slope, rounding = central(f, step)
            if abs(slope - best) > APART * (error + rounding):
                doubt = max(doubt, abs(slope - best))
    return best, max(error, doubt)


def by_steps(f: Callable[[float], float], starts: Iterable[float], noise: float, all_of_them: bool) -> list[Slope]:
    """f'(0) and an estimate of its error from each of `starts`, as far as it is worth while."""
    found: list[Slope] = []
    for start in starts:
        found.append(extrapolated(f, start, noise))
        best, error = min(found, key=lambda pair: pair[1])
        if not all_of_them and len(found) == 2 and error <= SETTLED * abs(best) and agree(*found):
            break
    return found


def agree(first: Slope, second: Slope) -> bool:
    return abs(first[0] - second[0]) <= AGREED * max(abs(first[0]), abs(second[0]))


def attained(f: Callable[[float], float], slope: float, width: float) -> bool:
    """Whether a plain difference is `slope`, of a step that rounding leaves enough of."""
    for part in PLAIN:
        found, rounding = central(f, part * width)
        if 4 * rounding <= ATTAINED * abs(slope) and abs(found - slope) <= ATTAINED * abs(slope):
            return True
    return False


def extrapolated(f: Callable[[float], float], start: float, noise: float = 0.0) -> Slope:
    """f'(0) from steps that shrink from `start`, and an estimate of its error."""
    best, error = math.nan, math.inf
    h = start
    table = [[central(f, h, noise)[0]]]
    for i in range(1, STEPS):
        h /= SHRINK
        slope, rounding = central(f, h, noise)
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


def central(f: Callable[[float], float], h: float, noise: float = 0.0) -> Slope:
    """The slope by two values, and what rounding and noise make of it at least."""
    above, below = f(h), f(-h)
    return (above - below) / (2 * h), (EPSILON * max(abs(above), abs(below)) + noise) / h


def noise_of(f: Callable[[float], float], step: float) -> float:
    """How much of a value is noise: what bends over steps so short that a smooth function has none to show."""
    here = f(0.0)
    bends = [abs(f(k * step) + f(-k * step) - 2.0 * here) for k in (1, 2, 3)]
    return max(bends) if all(bend - bend == 0 for bend in bends) else 0.0


__all__ = ["EPSILON", "attained", "derivative"]
