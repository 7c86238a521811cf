"""Safepoints: which loops ask, at each iteration, whether the run is to stop.

They are so few that it costs nothing, and so many that a kernel leaves within a second when it is told to.
"""

from __future__ import annotations

import math

from .. import ir
from ..ir import Stmt, Var
from .dependence import affine, follow, span
from .statements import blocks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

# What may pass between two questions, in statements like an addition: a few tenths of a second.
PATIENCE = 2e8
# And where an iteration takes so many that a question costs it nothing: LLVM makes no vectors of such.
LONG, PATIENCE_OF_LONG = 20.0, 1e7
# How many of those an operation takes. What is not named is taken for a slow function.
CHEAP = frozenset(
    "add subtract multiply negative abs square minimum maximum fmin fmax less less_equal greater greater_equal equal "
    "not_equal logical_and logical_or logical_xor logical_not where_select strong_multiply copy zero to_float "
    "to_single narrow rounded to_double strong widen shorten weaken strengthen int_of_bool isnan isinf isfinite signum relu "
    "stop_gradient".split()
)
MODERATE = {
    "divide": 6.0,
    "reciprocal": 6.0,
    "sqrt": 6.0,
    "exp": 15.0,
    "log": 15.0,
    "sin": 20.0,
    "cos": 20.0,
    "tanh": 25.0,
}
SLOW = 100.0
# Quadratures, and functions of libraries: a call takes microseconds.
SLOWER = {
    "gammainc_derivative": 5e3,
    "betainc_derivative": 3e4,
    "scaled_bessel_derivative": 2e3,
    **dict.fromkeys("jv yv iv kv gammainc gammaincc betainc".split(), 2e3),
}
# A routine on a whole matrix, and what it takes for each of n**3 multiplications.
CALL, CUBE = 1e5, 20.0


def weight(s: Stmt) -> float:
    """What a statement takes, the blocks inside it apart."""
    if s.__class__ is ir.Routine:
        return CALL + CUBE * float(max(s.rows, s.columns)) ** 3
    if s.__class__ is not ir.Set or s.op in CHEAP:
        return 1.0
    if s.op == "power" and s.args[1] == 2:
        return 1.0  # a square
    return MODERATE.get(s.op) or SLOWER.get(s.op, SLOW)


def asking(kernel: ir.Kernel) -> tuple[set[Stmt], float, float]:
    """The loops that ask: those whose iterations nobody can count now, and those that would take long without.

    With them comes the most statements that one iteration of theirs may take: 0 where no loop asks, infinity where one
    is long for certain; and about how many a whole run takes, where a loop that nobody can count has one iteration.
    """
    counts: dict[Var, int] = {}
    places: dict[Var, Affine] = {}
    ranges: dict[Var, tuple[int, int]] = {}
    found: set[Stmt] = set()
    heaviest = 0.0

    def bounds(x: Any) -> tuple[int, int] | None:
        """The least and the greatest value of a bound of a loop."""
        return span(affine(x, places), ranges)

    def trips(s: Any) -> int | None:
        """The most iterations of a loop, where they are known now."""
        if s.__class__ is ir.ReverseLoop:
            number = counts.get(s.trips)
            if number:
                ranges[s.position] = (0, number - 1)
            if number and s.index is not None and s.step.__class__ is int:
                reached = affine(s.start, places)
                places[s.index] = {**reached, s.position: s.step}
            return number
        start, stop = bounds(s.start), bounds(s.stop)
        if s.test is not None or start is None or stop is None or s.step.__class__ is not int or not s.step:
            return None
        ends = (start[0], stop[1]) if s.step > 0 else (start[1], stop[0])
        number = len(range(*ends, s.step))
        if number:
            ranges[s.index] = (ends[0], ends[1] - 1) if s.step > 0 else (ends[1] + 1, ends[0])
            counts[s.trips] = number
        return number

    def work(block: list[Stmt]) -> tuple[float, float]:
        """What may pass between two questions in a block, and in all of it."""
        nonlocal heaviest
        between = whole = 0.0
        for s in block:
            if s.__class__ is ir.Set:
                follow(s, places)
            number = trips(s) if isinstance(s, ir.Loop | ir.ReverseLoop) else None
            parts = [work(inside) for inside in blocks_of(s)]
            inner, all_of_it = sum(part for part, _ in parts), sum(part for _, part in parts)
            if isinstance(s, ir.Loop | ir.ReverseLoop):
                all_of_it = (1 if number is None else number) * (all_of_it + 1.0)
                patience = PATIENCE_OF_LONG if inner >= LONG else PATIENCE
                if number is None or number * (inner + 1.0) > patience:
                    found.add(s)
                    heaviest = max(heaviest, inner + 1.0 if number is None else math.inf)
                else:
                    inner = number * (inner + 1.0)
            between += weight(s) + inner
            whole += weight(s) + all_of_it
        return between, whole

    _, whole = work(kernel.body)
    return found, heaviest, whole
