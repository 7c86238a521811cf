"""Dependence analysis: affine indices, what statements touch, and whether two may touch one element.

An index is followed as a sum of variables and a constant. Two places are apart where their ranges are, as in Banerjee's
test (Allen and Kennedy, Optimizing compilers for modern architectures, 2001, chapter 3).
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt, Var
from .statements import blocks_of, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # A place as a sum: the constant (under None), and the factor of each variable.
    Affine = dict[Any, int]


def affine(x: Any, known: dict[Var, Affine]) -> Affine:
    """An integer operand as a sum of variables and a constant."""
    if x.__class__ is int:
        return {None: x}
    return known.get(x) or {x: 1, None: 0}


def sum_of(s: ir.Set, known: dict[Var, Affine]) -> Affine | None:
    """What an integer statement computes as such a sum."""
    if s.var.kind != ir.INT:
        return None
    if s.op == "copy":
        return affine(s.args[0], known)
    if s.op in ("add", "subtract"):
        a, b = (affine(x, known) for x in s.args)
        sign = 1 if s.op == "add" else -1
        return {key: a.get(key, 0) + sign * b.get(key, 0) for key in {**a, **b}}
    if s.op == "multiply":
        for x, y in (s.args, s.args[::-1]):
            if x.__class__ is int:
                return {key: x * factor for key, factor in affine(y, known).items()}
    return None


def follow(s: ir.Set, known: dict[Var, Affine]) -> None:
    """Know from here on what an integer statement computes, where that is such a sum."""
    place = sum_of(s, known)
    if place is not None:
        known[s.var] = place


def span(place: Affine, ranges: dict[Var, tuple[int, int]]) -> tuple[int, int] | None:
    """The least and the greatest value of a place; None if unknown."""
    low = high = 0
    for var, factor in place.items():
        if var is None:
            low, high = low + factor, high + factor
        elif factor:
            if var not in ranges:
                return None
            a, b = ranges[var]
            low, high = low + min(factor * a, factor * b), high + max(factor * a, factor * b)
    return low, high


def static_range(s: ir.Loop) -> tuple[int, int] | None:
    """The first and the last value of a loop's index, if it counts up by ones between known bounds."""
    if s.test is None and s.start.__class__ is int and s.stop.__class__ is int and s.step == 1 and s.start < s.stop:
        return s.start, s.stop - 1
    return None


class Touched:
    """The arrays that statements load from and store in, with the places; None for a place that is no such sum."""

    def __init__(self, block: list[Stmt], known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]) -> None:
        self.known = dict(known)
        self.ranges = dict(ranges)
        self.loads: dict[Array, list[Affine]] = {}
        self.stores: dict[Array, list[Affine]] = {}
        self.defined: set[Any] = set()
        self.read: set[Any] = set()
        # Logs, ends of loops and what is printed, which fusion leaves alone.
        self.special = False
        # Whether an index that is out of range is found here, and the kernel left.
        self.checks = False
        self.walk(block)

    def walk(self, block: list[Stmt]) -> None:
        for s in block:
            self.read.update(x for x in operands(s) if x.__class__ is Var)
            if s.__class__ is ir.Set:
                self.defined.add(s.var)
                follow(s, self.known)
            elif s.__class__ is ir.Load:
                self.defined.add(s.var)
                self.loads.setdefault(s.array, []).append(affine(s.index, self.known))
            elif s.__class__ is ir.Store:
                self.special |= s.array.role == "printed"
                self.stores.setdefault(s.array, []).append(affine(s.index, self.known))
            elif s.__class__ is ir.Routine:
                self.stores.setdefault(s.array, []).append({})
                self.loads.setdefault(s.value, []).append({})
                self.special = True
            elif s.__class__ is ir.AddTo:
                for found in (self.loads, self.stores):
                    found.setdefault(s.array, []).append(affine(s.index, self.known))
            elif s.__class__ is ir.Alloc:
                self.defined.add(s.array)
            elif s.__class__ is ir.Loop:
                self.defined.update([s.trips, *(phi for phi, _, _ in s.carried)])
                bounds = static_range(s)
                if bounds is not None and s.index is not None:
                    self.ranges[s.index] = bounds
            elif s.__class__ is ir.If:
                self.defined.update(var for var, _, _ in s.merges)
            elif s.__class__ is ir.Accumulate:
                self.defined.add(s.var)
            elif s.__class__ is ir.Check:
                self.checks = True
            else:
                self.special = True
            for inner in blocks_of(s):
                self.walk(inner)

    def within_bounds(self) -> bool:
        """Whether every place is one of the array's, whatever a check would find."""
        for places in (self.loads, self.stores):
            for array, found in places.items():
                for place in found:
                    bounds = span(place, self.ranges)
                    if bounds is None or not 0 <= bounds[0] <= bounds[1] < array.size:
                        return False
        return True


# --- statements apart -----------------------------------------------------------------------------------------------


def movable(s: Any) -> bool:
    """Whether a statement is arithmetic, or loads or stores a certain element."""
    if s.__class__ is ir.Set:
        return bool(s.op != "zero")
    at_once = s.__class__ in (ir.Load, ir.Store, ir.AddTo) and s.index.__class__ is int
    return at_once and s.array.role != "printed"


def apart(ours: Touched, theirs: Touched) -> bool:
    """Whether two statements may change places."""
    if theirs.special or theirs.checks or theirs.defined & (ours.read | ours.defined) or ours.defined & theirs.read:
        return False
    if any(x in theirs.defined for x in (*ours.loads, *ours.stores)):
        return False
    for mine, others in ((ours.stores, (theirs.stores, theirs.loads)), (ours.loads, (theirs.stores,))):
        for array, places in mine.items():
            for other in others:
                if not all(elsewhere(a, b, theirs.ranges) for a in places for b in other.get(array, ())):
                    return False
    return True


def elsewhere(place: Affine, other: Affine, ranges: dict[Var, tuple[int, int]]) -> bool:
    """Whether a certain place is none of the others."""
    bounds = span(other, ranges) if other else None
    at = place.get(None, 0)
    return bounds is not None and not bounds[0] <= at <= bounds[1]


def one_row_each(array: Array, sides: Any, outer: dict[Var, tuple[int, int]]) -> bool:
    """Whether every iteration keeps to a part of the array of its own, the same part on both sides."""
    rows = set()
    base: int | None = None
    for touched, index in sides:
        inside = {var: bounds for var, bounds in touched.ranges.items() if var not in outer and var is not index}
        for place in [*touched.loads.get(array, ()), *touched.stores.get(array, ())]:
            stride = place.get(index, 0)
            fixed = {
                var: factor
                for var, factor in place.items()
                if factor and var is not None and var is not index and var not in inside
            }
            if base is None:
                base = place.get(None, 0)
            within = {var: factor for var, factor in place.items() if var in inside}
            within[None] = place.get(None, 0) - base
            bounds = span(within, inside)
            if bounds is None or any(var in touched.defined for var in fixed):
                return False
            if not 0 <= bounds[0] <= bounds[1] < stride:
                return False
            rows.add((stride, frozenset(fixed.items())))
    return len(rows) == 1
