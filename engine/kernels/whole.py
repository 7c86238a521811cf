"""Results that are integers on some paths and floats on others: `s = 0` before a loop that may not run.

A kernel computes them as floats. Beside the value it says whether the program's is an integer.
"""

from __future__ import annotations

from . import ir
from .build import Builder, Sym, kind_of
from .ir import BOOL, FLOAT, INT, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def may_be_whole(builder: Builder, x: Any) -> bool:
    """Whether an operand that becomes a float may have been an integer."""
    return kind_of(x) == INT or (x.__class__ is Sym and x.var in builder.widened)


def note_loop(builder: Builder, phi: Var, initial: Any, following: Any) -> None:
    """Note that a variable begins as an integer and goes on as a float."""
    if may_be_whole(builder, initial) and not may_be_whole(builder, following):
        builder.widened[phi] = (initial,)


def note_branch(builder: Builder, var: Var, then: Any, orelse: Any) -> None:
    """Note that a variable is an integer after one side of a branch and a float after the other."""
    if may_be_whole(builder, then) or may_be_whole(builder, orelse):
        builder.widened[var] = (then, orelse)


def whole(builder: Builder, x: Any) -> Any:
    """Whether the program's value of `x` is an integer: a symbol, or a bool that is known, False in case of doubt."""
    if x.__class__ is not Sym:
        return x.__class__ is int
    if x.kind != FLOAT:
        return x.kind == INT
    origins = builder.widened.get(x.var)
    if origins is None:
        return False
    for s in builder.block:
        if s.__class__ is ir.Loop and len(origins) == 1 and any(phi is x.var for phi, _, _ in s.carried):
            before = whole(builder, origins[0])
            if before is False:
                return False
            idle = builder.emit("equal", (Sym(builder, s.trips), 0), BOOL)
            return idle if before is True else builder.emit("logical_and", (idle, before), BOOL)
        if s.__class__ is ir.If and len(origins) == 2 and any(var is x.var for var, _, _ in s.merges):
            condition = Sym(builder, s.condition)
            then, orelse = (whole(builder, origin) for origin in origins)
            return builder.select(condition, then, orelse) if then is not orelse else then
    return False
