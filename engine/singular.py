"""Where a function of one number has a kink, a jump or a pole: places where it or its derivative does not change smoothly."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Point = tuple[float, float]  # value and derivative

STEPS = 60  # of a bisection
SUSPECT = 3.0  # times as much change as in the intervals around makes an interval worth a bisection
NEAR, NEARER = 1e-3, 1e-6  # of an interval: where a place is looked at from both sides
GROWS = 8.0  # times that a pole grows from near to nearer
LASTS = 0.5  # of a difference between the sides that is left nearer: it does not shrink


def marks(
    at: Callable[[float], Point], xs: Sequence[float], points: Sequence[Point], told: Sequence[float]
) -> list[tuple[str, float]]:
    """The kind and place of each kink, jump and pole between the first and the last of `xs`, where `at` has given `points`;
    `told` are those of which the program itself says that there is no derivative."""
    found: list[tuple[str, float]] = []
    step = max((b - a for a, b in pairwise(xs)), default=0.0)
    finite = [abs(y) for y, _ in points if isfinite(y)]
    size = sorted(finite)[len(finite) // 2] if finite else 0.0
    places = [*told, *(x for x, point in zip(xs, points) if not all(map(isfinite, point)))]
    for part in (0, 1):
        changes = [abs(b[part] - a[part]) for a, b in pairwise(points)]
        for i, change in enumerate(changes):
            around = max(
                [changes[k] for k in (i - 2, i + 2) if 0 <= k < len(changes) and isfinite(changes[k])], default=0.0
            )
            if isfinite(change) and change > SUSPECT * around + 1e-9 * size:
                places.append(bisected(at, xs[i], xs[i + 1], points[i], points[i + 1], part))
    for place in sorted(places):
        kind = kind_at(at, place, step, size) if xs[0] <= place <= xs[-1] else ""
        if kind and not (found and place - found[-1][1] < NEAR * step):
            found.append((kind, place))
    return found


def bisected(at: Callable[[float], Point], a: float, b: float, low: Point, high: Point, part: int) -> float:
    """The place between a and b where the value (part 0) or the derivative (1) changes most, as closely as floats tell."""
    for _ in range(STEPS):
        middle = a + (b - a) / 2
        if not a < middle < b:
            break
        found = at(middle)
        if not isfinite(found[part]):
            return middle
        if abs(found[part] - low[part]) >= abs(high[part] - found[part]):
            b, high = middle, found
        else:
            a, low = middle, found
    # A place that is exact in decimals is more likely meant than its neighbours.
    return min((round(b, 12), b), key=lambda x: not a - 4e-15 * abs(a) <= x <= b + 4e-15 * abs(b))


def kind_at(at: Callable[[float], Point], place: float, step: float, size: float) -> str:
    """What a place is, as its two sides show at two distances; nothing where the function is smooth."""
    (a, da), (b, db) = at(place - NEAR * step), at(place + NEAR * step)
    (c, dc), (d, dd) = at(place - NEARER * step), at(place + NEARER * step)
    if any(isfinite(far) and abs(near) > GROWS * abs(far) + size for far, near in ((a, c), (b, d))):
        return "pole"
    if not all(map(isfinite, (a, b, c, d))):
        return ""
    if abs(d - c) > LASTS * abs(b - a) and abs(d - c) > 1e-9 * (abs(c) + abs(d)):
        return "jump"
    return "kink" if abs(dd - dc) > LASTS * abs(db - da) and abs(dd - dc) > 1e-6 * (abs(dc) + abs(dd)) else ""
