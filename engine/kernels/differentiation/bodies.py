"""Uses and definitions of whole blocks, as the reverse sweep asks for them."""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt, Var
from ..passes.statements import everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
