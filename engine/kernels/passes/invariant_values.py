"""Loop-invariant code motion out of the loop over directions: dear values that no direction changes.

Loops of tangents compute partials beside them. An exponential or a tangent among these, which is the same for every
direction, is stored by a copy of its loops before the first of them, and loaded where it was computed (what arrays hold
when they are complete is invariant_arrays.py's).
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .dead_code import without_dead_code
from .statements import everything, with_blocks
from .stored_intermediates import counts_from_zero, place_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Things = Callable[[Any], Iterable[Any]]

# Rows that cost many times what a load does.
DEAR = frozenset(
    "exp expm1 exp2 log log1p log2 log10 tanh sech sinh cosh sigmoid softplus sin cos tan asin acos atan atan2 asinh acosh "
    "atanh erf erfc lgamma gamma digamma cbrt hypot logaddexp".split()
)
# Elements that are kept so at most: 32 MiB.
MOST = 1 << 22


def invariant_values(block: list[Stmt], roots: set[Any], things: Things) -> tuple[list[Stmt], list[Stmt]]:
    """Statements to go before the directions, and the block, which loads what they store.

    `roots` is what a direction changes; `things` gives what a statement mentions.
    """
    if any(isinstance(s, ir.Keep | ir.TakeBack | ir.Rewind | ir.Region) for s in everything(block)):
        return [], block
    varying = changed_by(block, roots, things)
    trips = {s.trips: s.stop for s in everything(block) if s.__class__ is ir.Loop and counts_from_zero(s)}
    kept: dict[int, tuple[Array, list[Stmt], Any]] = {}
    total = 0

    def walk(inner: list[Stmt], nest: list[tuple[Var, int]]) -> None:
        nonlocal total
        size = 1
        for _, count in nest:
            size *= count
        for s in inner:
            if s.__class__ is ir.Loop and s.test is None and s.stop_when is None and counts_from_zero(s):
                assert s.index is not None
                if not varying.intersection([s.index]):
                    walk(s.body, [*nest, (s.index, s.stop)])
            elif s.__class__ is ir.ReverseLoop and s.trips in trips:
                walk(s.body, [*nest, (s.position, trips[s.trips])])
            elif s.__class__ is ir.Set and nest and s.op in DEAR and s.var.kind == FLOAT and s.var not in varying:
                if size <= MOST - total:
                    total += size
                    before: list[Stmt] = []
                    place = place_in(nest, before)
                    kept[id(s)] = Array(FLOAT, (size,)), before, place

    walk(block, [])
    if not kept:
        return [], block
    names = {x: renewed(x) for x in defined_in(block)}
    storing = [cloned(s, names) for s in rewritten(block, kept, True)]
    arrays = [array for array, _, _ in kept.values()]
    made = without_dead_code(ir.Kernel([], [*(ir.Alloc(array, False) for array in arrays), *storing], list(arrays)))
    return made.body, rewritten(block, kept, False)


def rewritten(block: list[Stmt], kept: dict[int, tuple[Array, list[Stmt], Any]], storing: bool) -> list[Stmt]:
    """The block with what is kept stored, and no index checked; or with what is kept loaded."""
    found: list[Stmt] = []
    for s in block:
        if id(s) in kept and s.__class__ is ir.Set:
            array, before, place = kept[id(s)]
            found += [*before, s, ir.Store(array, place, s.var)] if storing else [*before, ir.Load(s.var, array, place)]
        elif not storing or s.__class__ is not ir.Check:
            found.append(with_blocks(s, lambda inner: rewritten(inner, kept, storing)))
    return found


def changed_by(block: list[Stmt], roots: set[Any], things: Things) -> set[Any]:
    """Everything that may be another for other values of the roots."""
    found = set(roots)

    def walk(inner: list[Stmt], under: bool) -> None:
        for s in inner:
            if s.__class__ is ir.Loop:
                steered = under or any(x in found for x in (s.start, s.stop, s.step, s.condition, s.stop_when))
                if s.test is not None:
                    walk(s.test, steered)
                found.update(phi for phi, a, b in s.carried if steered or a in found or b in found)
                found.update(stack for phi, stack in s.stacks.items() if phi in found)
                if steered:
                    found.update((s.trips, s.index))
                walk(s.body, steered)
            elif s.__class__ is ir.ReverseLoop:
                steered = under or s.trips in found
                found.update(phi for phi, stack in s.restore if steered or stack in found)
                if steered:
                    found.update((s.position, s.index))
                walk(s.body, steered)
            elif s.__class__ is ir.If:
                steered = under or s.condition in found
                walk(s.then, steered)
                walk(s.orelse, steered)
                found.update(var for var, a, b in s.merges if steered or a in found or b in found)
            elif under or not found.isdisjoint(things(s)):
                written = getattr(s, "array", None)
                found.update(defined_in([s]), [written] if written.__class__ is Array else [])

    size = -1
    while size != len(found):
        size = len(found)
        walk(block, False)
    return found


__all__ = ["invariant_values"]
