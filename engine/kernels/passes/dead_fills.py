"""Dead-store elimination of fills before all of an array is written anyway: `w = zeros(n)`, and then a loop that gives every
element its value.

What fills such an array is left out, where what follows writes each element before anything reads it: elements one after
the other from the first on, in loops that count up by ones and read none but those before.
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt
from .dependence import static_range
from .memory import fills, through_elements, touched
from .statements import everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def without_fills(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel without such fills."""
    noted = {s.array for s in everything(kernel.body) if isinstance(s, ir.Keep | ir.TakeBack | ir.Rewind | ir.OpenLog)}
    # What is a result may be read of a kernel that was stopped, up to where it had come.
    noted |= {s.array for s in everything(kernel.body) if s.__class__ is ir.Alloc and s.array in kernel.results}
    return ir.Kernel(kernel.parameters, block_without(kernel.body, noted), kernel.results)


def block_without(block: list[Stmt], noted: set[Any]) -> list[Stmt]:
    found: list[Stmt] = []
    places: dict[Any, list[int]] = {}

    def after(k: int, array: Array) -> list[Stmt]:
        if not places:
            places.update(touching(block))
        return [block[place] for place in places[array] if place > k]

    for k, s in enumerate(block):
        if s.__class__ is ir.Alloc and s.zero and s.array not in noted and overwritten(s.array, after(k, s.array)):
            found.append(ir.Alloc(s.array, False))
            continue
        array = filled(s)
        if array is not None and array not in noted and overwritten(array, after(k, array)):
            found.append(s.replace(body=[]))  # others may count by it
            continue
        found.append(with_blocks(s, lambda inner: block_without(inner, noted)))
    return found


def touching(block: list[Stmt]) -> dict[Any, list[int]]:
    """The places in a block, from the first on, of the statements that touch an array."""
    found: dict[Any, list[int]] = {}
    for k, s in enumerate(block):
        for array in touched(s):
            found.setdefault(array, []).append(k)
    return found


def filled(s: Any) -> Array | None:
    """The array in every element of which a loop stores one value, if it does nothing else."""
    if s.__class__ is not ir.Loop or len(s.body) != 1 or s.stacks or s.body[0].__class__ is not ir.Store:
        return None
    array = s.body[0].array
    return array if fills(s, array) else None


def overwritten(array: Array, block: list[Any]) -> bool:
    """Whether statements, all of which touch an array, write all of its elements, and read none before."""
    written = 0  # so many of the first ones
    for s in block:
        if s.__class__ is ir.Store and s.index.__class__ is int:
            if s.index > written:
                return False
            written = max(written, s.index + 1)
        elif s.__class__ is ir.Load and s.index.__class__ is int:
            if s.index >= written:
                return False
        elif in_order(s, array, written):
            written = max(written, s.stop)
        else:
            return False
        if written == array.size:
            return True
    return False


def in_order(s: Any, array: Array, written: int) -> bool:
    """Whether a loop writes the element of its index in each iteration, and reads none but that and those before it."""
    if not through_elements(s) or array in s.stacks or s.start > written:
        return False
    first, _ = static_range(s) or (0, 0)
    places: dict[Any, int] = {s.index: 0}
    stored = False
    for inner in s.body:
        if inner.__class__ is ir.Set and inner.op in ("add", "subtract") and inner.args[0] is s.index:
            by = inner.args[1]
            if by.__class__ is int:
                places[inner.var] = by if inner.op == "add" else -by
        if getattr(inner, "array", None) is not array:
            continue
        away = places.get(inner.index)
        if inner.__class__ is ir.Store and away == 0:
            stored = True
        elif (
            inner.__class__ is not ir.Load or away is None or away > 0 or first + away < 0 or (away == 0 and not stored)
        ):
            return False
    return stored


__all__ = ["without_fills"]
