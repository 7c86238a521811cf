"""Width guards: of results that are a float32 on some paths only, a kernel is left where they are bare.

`s = 0.0`, and a loop over float32 that adds to it and may not run; `v if v > 1 else 2.0`. What the tape gives is a bare
float64 on the one path and a float32 on the other. The kernel has one kind of result, a float32, so it is left before it
takes the other path.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, LIMIT, Array, Stmt, Var
from .statements import blocks_of
from .widths import SINGLE, WIDTHS, Levels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def of_one_width(kernel: ir.Kernel, levels: Levels) -> None:
    """Put checks into a kernel, with which its result is a float32 or a bare float on every path that is left."""
    Result(kernel, levels).require(kernel.results[0])


class Result:
    """Where the variables of a kernel are set, and which of them are a float32 on every path."""

    def __init__(self, kernel: ir.Kernel, levels: Levels) -> None:
        self.levels = levels
        self.sure = {x for x in levels.singles() if x.__class__ is Var}
        self.places: dict[Var, tuple[Stmt, list[Stmt]]] = {}
        parameters = set(kernel.parameters)
        self.asked: set[Var] = set()
        self.repeated: set[Var] = set()  # what is set in a loop: an iteration before the last does not matter
        # What arrays are given that is a float32, and the outermost loop of the program's, with its block, that may not run
        # and gives it; () where there is none.
        self.given: dict[Array, list[tuple[Any, Any]]] = {}
        self.collect(kernel.body, False)
        changed = True
        while changed:
            doubtful = {x for x in self.sure if x in self.places and x not in parameters and not self.is_sure(x)}
            self.sure -= doubtful
            changed = bool(doubtful)

    def collect(self, block: list[Stmt], inside: bool, around: Any = ()) -> None:
        for s in block:
            if isinstance(s, ir.Store | ir.AddTo) and self.levels.of(s.value) == SINGLE:
                self.given.setdefault(s.array, []).append((s.value, around))
            if isinstance(s, ir.Set | ir.Load | ir.Accumulate):
                self.places.setdefault(s.var, (s, block))
            elif s.__class__ is ir.Loop:
                self.places.update((phi, (s, block)) for phi, _, _ in s.carried)
            elif s.__class__ is ir.If:
                self.places.update((var, (s, block)) for var, _, _ in s.merges)
                if inside:
                    self.repeated.update(var for var, _, _ in s.merges)
            for inner in blocks_of(s):
                outermost = s.__class__ is ir.Loop and s.own and not around and not surely_runs(s)
                self.collect(inner, inside or isinstance(s, ir.Loop), (s, block) if outermost else around)

    def is_sure(self, x: Var) -> bool:
        s, _ = self.places[x]
        if s.__class__ is ir.Set:
            return WIDTHS[s.op] == SINGLE if s.op in WIDTHS else any(a in self.sure for a in self.floats(s))
        if s.__class__ in (ir.Loop, ir.If):
            return all(side in self.sure for side in self.sides(s, x))
        return not (s.__class__ is ir.Load and self.may_be_bare(s.array))

    def may_be_bare(self, array: Array) -> bool:
        """Whether an array has a float32 only where loops run."""
        found = self.given.get(array, [])
        return bool(found) and not any(around == () and self.is_single(x) for x, around in found)

    def is_single(self, x: Any) -> bool:
        return x.__class__ is not Var or x in self.sure or x not in self.places

    def floats(self, s: ir.Set) -> list[Any]:
        return [a for a in s.args if a.__class__ is Var and a.kind == FLOAT]

    def sides(self, s: Any, x: Var) -> tuple[Any, Any]:
        """What a variable may be at the end of a loop or a branch."""
        return next((a, b) for var, a, b in (s.carried if s.__class__ is ir.Loop else s.merges) if var is x)

    def require(self, x: Any) -> None:
        """Leave the kernel on the paths on which a variable or an array that may be a float32 is none."""
        if x.__class__ is Array and self.may_be_bare(x):
            value, around = self.given[x][0]
            self.given[x] = []  # it is asked for
            if around:
                self.check(*around)
            self.require(value)
        if x.__class__ is not Var or self.levels.of(x) != SINGLE or x in self.sure or x not in self.places:
            return
        self.sure.add(x)
        self.asked.add(x)
        s, block = self.places[x]
        if s.__class__ is ir.Set:
            self.require(next(iter(self.deciding([a for a in self.floats(s) if self.may(a)])), None))
        elif s.__class__ is ir.Loop:
            initial, following = self.sides(s, x)
            self.require(following)
            # What an array operation adds up has its dtype.
            if initial not in self.sure and s.own and not surely_runs(s):
                self.check(s, block)
        elif s.__class__ is ir.Load:
            self.require(s.array)
        elif s.__class__ is ir.If and x not in self.repeated:
            for side, inner in zip(self.sides(s, x), (s.then, s.orelse)):
                if self.may(side):
                    self.require(side)
                else:
                    inner.append(ir.Check(0, 1, 1, None))

    def deciding(self, operands: list[Any]) -> list[Any]:
        """Operands that make a float32 of what an operation gives: elements of an array that may be bare, and else not what
        a reduction has added up so far, which is asked for already."""
        places = [self.places.get(a, (None, None))[0] for a in operands]
        held = [a for a, s in zip(operands, places) if s.__class__ is ir.Load and self.may_be_bare(s.array)]
        reduction = [s.__class__ is ir.Loop and not s.own and a in self.asked for a, s in zip(operands, places)]
        return held or [a for a, apart in zip(operands, reduction) if not apart]

    def check(self, s: ir.Loop, block: list[Stmt]) -> None:
        """Leave the kernel where a loop does not run."""
        at = next(k for k, other in enumerate(block) if other is s)
        block.insert(at + 1, ir.Check(s.trips, 1, LIMIT + 1, s.site))

    def may(self, x: Any) -> bool:
        return self.levels.of(x) == SINGLE


def surely_runs(s: ir.Loop) -> bool:
    """Whether a loop has an iteration whatever the data are."""
    bounds = (s.start, s.stop, s.step)
    return s.test is None and all(x.__class__ is int for x in bounds) and bool(range(*bounds))
