"""Epilogue: what a kernel does last with its gradients, while they are at hand.

Zeros lose their sign, and what is not finite is counted. The host would go through all elements twice for that, and alone;
of short arrays it is as soon done there.
"""

from __future__ import annotations

from .. import ir
from ..built import LONG
from ..ir import BOOL, FLOAT, INT, Array, Stmt, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def closed(block: list[Stmt], results: Iterable[Any]) -> tuple[list[Stmt], Var | None]:
    """A block with such loops over the long arrays of floats among `results` at its end; and how many elements are not
    finite, None where no array is long."""
    arrays = [x for x in dict.fromkeys(results) if x.__class__ is Array and x.kind == FLOAT and x.size >= LONG]
    if not arrays:
        return block, None
    count = Var(INT, "n")
    loops: list[Stmt] = [ir.Set(count, "copy", (0,), None, None)]
    for size in dict.fromkeys(x.size for x in arrays):
        index = Var(INT, "i")
        body = [s for x in arrays if x.size == size for s in closing(x, index, count)]
        loops.append(ir.Loop(index, 0, size, 1, None, None, [], body, None, {}, Var(INT, "t"), None))
    return [*block, *loops], count


def closing(array: Array, index: Var, count: Var) -> list[Stmt]:
    """What is done with an element."""
    found, kept, difference, differs = Var(FLOAT, "x"), Var(FLOAT), Var(FLOAT), Var(BOOL)
    return [
        ir.Load(found, array, index),
        ir.Set(kept, "add", (found, 0.0), None, None),
        ir.Store(array, index, kept),
        ir.Set(difference, "subtract", (kept, kept), None, None),
        ir.Set(differs, "not_equal", (difference, 0.0), None, None),
        ir.Accumulate(count, differs),
    ]
