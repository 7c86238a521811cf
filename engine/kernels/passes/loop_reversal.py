"""Loop reversal: loops of the reverse sweep that may as well count up, do.

A reverse sweep goes through the iterations of a loop backwards. Where they only add to what comes from outside, no
iteration depends on another, and a loop forwards can be fused with others and is what processors fetch ahead for.
"""

from __future__ import annotations

from .. import ir
from ..ir import Stmt, Var
from .dependence import Touched, follow, one_row_each, static_range
from .statements import blocks_of, changes, everything, operands, otherwise_touched, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

    Ranges = dict[Var, tuple[int, int]]


def loops_forwards(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with such loops forwards."""
    reads = counted_reads(kernel.body)
    for r in kernel.results:
        reads[r] = reads.get(r, 0) + 1
    return ir.Kernel(kernel.parameters, forwards(kernel.body, {}, {}, {}, reads), kernel.results)


def forwards(
    block: list[Stmt], trips: dict[Var, int], known: dict[Var, Affine], outer: Ranges, reads: dict[Any, int]
) -> list[Stmt]:
    """Reverse loops of a known length, whose iterations do not depend on each other, as loops that count up."""
    trips, known = dict(trips), dict(known)
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Set:
            follow(s, known)
        elif s.__class__ is ir.Loop and s.stop_when is None:
            bounds = static_range(s)
            if bounds is not None:
                trips[s.trips] = bounds[1] - bounds[0] + 1
        if (
            s.__class__ is ir.ReverseLoop
            and s.trips in trips
            and s.index is None
            and independent(s, known, outer, reads)
        ):
            s = ir.Loop(
                s.position, 0, trips[s.trips], 1, None, None, [], s.body, None, {}, Var(ir.INT, "t"), None
            )  # fmt: skip
        inside = outer
        if s.__class__ is ir.Loop and s.index is not None:
            bounds = static_range(s)
            inside = outer if bounds is None else {**outer, s.index: bounds}
        found.append(with_blocks(s, lambda inner, inside=inside: forwards(inner, trips, known, inside, reads)))
    return found


def independent(s: ir.ReverseLoop, known: dict[Var, Affine], outer: Ranges, reads: dict[Any, int]) -> bool:
    """Whether the iterations of a loop may run in any order: they only add to what comes from outside.

    `reads` says how often the whole kernel reads a variable.
    """
    if s.restore:
        return False
    changed = changes(s)
    summed: set[Var] = set()
    started: set[Any] = {s.position}

    def read(x: Any) -> bool:
        return x.__class__ is not Var or x not in changed or x in started

    def walk(block: list[Stmt]) -> bool:
        for inner in block:
            if inner.__class__ is ir.Accumulate:
                if inner.var not in started:
                    summed.add(inner.var)
                if not read(inner.value):
                    return False
                continue
            if inner.__class__ is ir.Loop:
                if not all(read(initial) for _, initial, _ in inner.carried):
                    return False
                started.update([inner.index, inner.trips, *(phi for phi, _, _ in inner.carried)])
            elif inner.__class__ is ir.ReverseLoop:
                started.update([inner.index, inner.position, *(phi for phi, _ in inner.restore)])
            if not all(walk(deeper) for deeper in blocks_of(inner)) or not all(map(read, operands(inner))):
                return False
            if inner.__class__ is ir.If:
                started.update(var for var, _, _ in inner.merges)
            elif isinstance(inner, ir.Set | ir.Load | ir.Mark):
                started.add(inner.var)
        return True

    if not walk(s.body) or summed & started:
        return False
    inside = counted_reads(s.body)
    if any(reads.get(x, 0) > inside.get(x, 0) for x in changed if x not in summed) or any(x in inside for x in summed):
        return False
    ends = {s.position: (0, 1 << 40)}
    touched = Touched(s.body, known, {**outer, **ends})
    if touched.special:
        return False
    other = otherwise_touched(s.body)
    return all(
        one_row_each(array, ((touched, s.position),), {**outer, **ends})
        for array in touched.stores
        if array in other and array not in touched.defined
    )


def counted_reads(block: list[Stmt]) -> dict[Any, int]:
    """How often a block reads each variable; what it adds to is not read by that."""
    found: dict[Any, int] = {}

    for s in everything(block):
        for x in (s.value,) if s.__class__ is ir.Accumulate else operands(s):
            found[x] = found.get(x, 0) + 1
    return found
