"""Parallelisation: which loops of a kernel several cores may share, maps over many elements and sums of them.

The iterations of such a loop are independent of each other but for sums, so that any of them may run at any time on
any core. Emission writes it as `for i in prange(n)`.
"""

from __future__ import annotations

import os

from .. import ir
from ..ir import FLOAT, INT, Stmt, Var
from .dependence import Touched, follow, one_row_each, static_range
from .polls import weight
from .statements import blocks_of, operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

# Statements below which sharing is not worth it: a few milliseconds, so that other cores, when they are busy, cost little.
WORTHWHILE = 1e7
# Arrays of one iteration are on the stack of the core that runs it: longer ones are not.
SHORT = 32


def parallel_loops(kernel: ir.Kernel) -> set[Stmt]:
    """The outermost loops that may be shared and are worth it."""
    if os.name != "posix" or not any(work(s) >= WORTHWHILE for s in kernel.body):
        return set()  # other systems have other threads
    search = Search(kernel)
    search.walk(kernel.body)
    return search.found


def work(s: Stmt) -> float:
    """How many statements a statement takes, as far as that is known now."""
    inner = sum(work(x) for block in blocks_of(s) for x in block)
    bounds = static_range(s) if s.__class__ is ir.Loop else None
    return weight(s) + inner * (1 if bounds is None else bounds[1] - bounds[0] + 1)


class Uses:
    """How often each variable is read, and the statements that set it, in some statements and inside them."""

    def __init__(self, block: list[Stmt]) -> None:
        self.reads: dict[Any, int] = {}
        self.sets: dict[Var, list[Stmt]] = {}
        self.walk(block)

    def walk(self, block: list[Stmt]) -> None:
        for s in block:
            for x in operands(s):
                self.reads[x] = self.reads.get(x, 0) + 1
            made = [s.var] if isinstance(s, ir.Set | ir.Accumulate | ir.Load | ir.Mark) else []
            if s.__class__ is ir.Loop:
                made += [phi for phi, _, _ in s.carried]
            elif s.__class__ is ir.If:
                made += [var for var, _, _ in s.merges]
            for var in made:
                self.sets.setdefault(var, []).append(s)
            for inner in blocks_of(s):
                self.walk(inner)


class Search:
    """Goes through a kernel, and finds its loops to be shared."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.found: set[Stmt] = set()
        self.everywhere = Uses(kernel.body)
        self.results = {r for r in kernel.results if r.__class__ is Var}
        self.places: dict[Var, Affine] = {}
        self.ranges: dict[Var, tuple[int, int]] = {}

    def walk(self, block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is ir.Set:
                follow(s, self.places)
            if s.__class__ is ir.Loop and work(s) >= WORTHWHILE and self.independent(s):
                self.found.add(s)
                continue
            for inner in blocks_of(s):
                self.walk(inner)

    def independent(self, s: ir.Loop) -> bool:
        """Whether iterations have nothing in common but sums, and nothing that they compute is read afterwards."""
        plain = s.start == 0 and static_range(s) is not None and s.index is not None and s.stop_when is None
        if not plain or s.stacks or s.trips in self.everywhere.reads:
            return False
        touched = Touched([s], self.places, self.ranges)
        inside = Uses(s.body)
        if touched.special or touched.checks:
            return False
        sums = {phi for phi, _, following in s.carried if is_sum(phi, following, inside)}
        if len(sums) < len(s.carried) or (s.own and any(phi.kind == FLOAT for phi in sums)):
            return False  # the program says in which order it adds
        for var, setters in inside.sets.items():
            if all(x.__class__ is ir.Accumulate for x in setters):
                # It collects what all iterations add, and none looks at it: each accumulation reads it once.
                if var.kind not in (FLOAT, INT) or (s.own and var.kind == FLOAT) or inside.reads[var] != len(setters):
                    return False
            elif (
                len(self.everywhere.sets[var]) > len(setters) or var in self.results or self.read_after(s, var, inside)
            ):
                return False
        for array in touched.stores:
            if array in touched.defined:
                if array.size > SHORT:
                    return False
            elif not one_row_each(array, ((touched, s.index),), self.ranges):
                return False
        return True

    def read_after(self, s: ir.Loop, var: Var, inside: Uses) -> bool:
        """Whether a variable of the body is read outside it; what a sum takes of it is read by the loop itself."""
        handed_on = sum(following is var for _, _, following in s.carried)
        return self.everywhere.reads.get(var, 0) > inside.reads.get(var, 0) + handed_on


def is_sum(phi: Var, following: Any, inside: Uses) -> bool:
    """Whether a loop does nothing with what it carries but add to it."""
    setters = inside.sets.get(following, [])
    if phi.kind not in (FLOAT, INT) or len(setters) != 1 or inside.reads.get(phi) != 1 or following in inside.reads:
        return False
    (s,) = setters
    return s.__class__ is ir.Set and s.op == "add" and sum(x is phi for x in s.args) == 1


__all__ = ["parallel_loops"]
