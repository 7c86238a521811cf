"""Results that are integers on some paths and floats on others: `s = 0` before a loop that may not run.

A kernel computes them as floats. Beside the value it says whether the program's is an integer; where it cannot say so, and
the value is a whole number, the answer is the tape's to give.
"""

from __future__ import annotations

from .. import ir
from ..ir import BOOL, FLOAT, INT, Var
from .build import Builder
from .symbol import Sym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def note_loop(builder: Builder, phi: Var, initial: Any, following: Any, runs: bool) -> None:
    """Note that a variable begins as an integer and goes on as a float; `runs` says that the loop does so for certain."""
    if builder.may_be_whole(following):
        builder.doubtful.add(phi)
    elif runs:
        if phi in builder.doubtful:
            builder.begun.add(phi)
        builder.doubtful.discard(phi)
    elif builder.may_be_whole(initial):
        builder.widened[phi] = (initial,)


def note_branch(builder: Builder, var: Var, then: Any, orelse: Any) -> None:
    """Note that a variable is an integer after one side of a branch and a float after the other."""
    if builder.may_be_whole(then) or builder.may_be_whole(orelse):
        builder.widened[var] = (then, orelse)


def whole(builder: Builder, x: Any) -> Any:
    """Whether the program's value of `x` is an integer: a symbol, a bool that is known, or None in case of doubt."""
    if x.__class__ is not Sym:
        return x.__class__ is int
    if x.kind != FLOAT:
        return x.kind == INT
    origins = builder.widened.get(x.var)
    if origins is None:
        return None if x.var in builder.doubtful else False
    for s in builder.block:
        if s.__class__ is ir.Loop and len(origins) == 1 and any(phi is x.var for phi, _, _ in s.carried):
            before = whole(builder, origins[0])
            if before is False or before is None:
                return before
            idle = builder.emit("equal", (Sym(builder, s.trips), 0), BOOL)
            return idle if before is True else builder.emit("logical_and", (idle, before), BOOL)
        if s.__class__ is ir.If and len(origins) == 2 and any(var is x.var for var, _, _ in s.merges):
            condition = Sym(builder, s.condition)
            then, orelse = (whole(builder, origin) for origin in origins)
            if then is None or orelse is None:
                return None
            return builder.select(condition, then, orelse) if then is not orelse else then
    return None
