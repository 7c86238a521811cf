"""What blocks read, write and define, as the reverse sweep asks."""

from __future__ import annotations

import math

from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from ..passes.statements import everything, with_blocks
from .products import CONVERSE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# From so many operations on, one after the other, it is sooner to find an iteration's slope first.
STEEP = 3


class Slopes:
    """Whether iterations may find their slope first (`allowed`), and whether any does (`used`).

    With c the cotangent, (c * p) * q and c * (p * q) differ beyond rounding where a factor or a product is not finite: zero
    times infinity may be in one and not in the other. Such results are computed anew without slopes.
    """

    __slots__ = ("allowed", "used")

    def __init__(self, allowed: bool = True) -> None:
        self.allowed = allowed
        self.used = False


def worth_a_slope(s: ir.Loop, phi: Var) -> bool:
    """Whether an iteration that hands on one number had better find its slope first, and then multiply: only the product
    waits for the iteration after it, and the processor computes the slopes of several iterations at once."""
    depths: dict[Any, int] = {phi: 0}

    def walk(block: list[Stmt]) -> float:
        """How often a block reads the number."""
        uses: float = 0
        for inner in block:
            if inner.__class__ is ir.Set and inner.op in CONVERSE:
                return -math.inf  # the cotangent is rounded on its way
            if inner.__class__ is ir.Set and inner.var.kind == FLOAT:
                uses += inner.args.count(phi)
                before = [depths[a] for a in inner.args if a.__class__ is Var and a in depths]
                if before:
                    depths[inner.var] = max(before) + (inner.op not in ("add", "subtract", "negative", "copy"))
            elif inner.__class__ is ir.If:
                sides = walk(inner.then), walk(inner.orelse)
                uses += max(sides) if min(sides) >= 0 else -math.inf
                for var, a, b in inner.merges:
                    found = [depths[x] for x in (a, b) if x.__class__ is Var and x in depths]
                    if found:
                        depths[var] = max(found)
            elif not isinstance(inner, ir.Set | ir.Load | ir.Check):
                return -math.inf
        return uses

    following = next(f for carried, _, f in s.carried if carried is phi)
    uses = walk(s.body)
    return following in depths and depths[following] + uses - 1 >= STEEP


def touched_arrays(block: list[Stmt]) -> list[Any]:
    """The arrays that a block reads or writes."""
    found: list[Any] = []
    for s in everything(block):
        if isinstance(s, ir.Store | ir.AddTo | ir.Load):
            found.append(s.array)
            if s.__class__ is ir.Routine:
                found.append(s.value)
        elif s.__class__ is ir.Region:
            found.extend(x for x in s.operands if x.__class__ is Array)
    return found


def read_from_outside(block: list[Stmt]) -> list[Any]:
    """The scalar operands of a block."""
    found: list[Any] = []
    for s in everything(block):
        if s.__class__ is ir.Set:
            found.extend(s.args)
        elif s.__class__ is ir.Region:
            found.extend(s.operands)
        elif isinstance(s, ir.Store | ir.AddTo):
            found.append(s.value)
        elif s.__class__ is ir.If:
            found.extend(x for _, a, b in s.merges for x in (a, b))
        elif s.__class__ is ir.Loop:
            found.extend(x for _, a, b in s.carried for x in (a, b))
    return found


def arrays_made(block: list[Stmt]) -> set[Any]:
    return {s.array for s in everything(block) if s.__class__ is ir.Alloc}


def marks(s: ir.Loop) -> list[tuple[Var, Array]]:
    """The carried variables that hold the length of an array's log, with the array."""
    ends = {inner.var: inner.array for inner in s.body if inner.__class__ is ir.Mark}
    return [(phi, ends[following]) for phi, _, following in s.carried if following in ends]


def stored_arrays(block: list[Stmt]) -> set[Any]:
    """The arrays in which a block stores."""
    return {s.array for s in everything(block) if isinstance(s, ir.Store | ir.AddTo | ir.Keep)}


def without_stores(block: list[Stmt], foreign: set[Any]) -> list[Stmt]:
    """A block that stores nothing in the arrays in `foreign`."""
    if not foreign:
        return block
    kept: list[Stmt] = []
    for s in block:
        if isinstance(s, ir.Store | ir.AddTo | ir.Keep) and s.array in foreign:
            continue
        if s.__class__ in (ir.Loop, ir.If):
            s = with_blocks(s, lambda inner: without_stores(inner, foreign))
        kept.append(s)
    return kept


def changed_in_place(block: list[Stmt]) -> list[Array]:
    """The arrays from outside a block that it changes."""
    made: set[Array] = set()
    found: dict[Array, None] = {}

    for s in everything(block):
        if s.__class__ is ir.Alloc:
            made.add(s.array)
        elif s.__class__ is ir.Keep:
            found[s.array] = None
    return [array for array in found if array not in made]
