"""Loops of the reverse sweep as one would write them: forwards, and with their sums where they cost least.

A sum into one element of an array is collected in a variable and added once: the compiler behind cannot do this by
itself, for it does not know that two arrays are never the same memory. An array whose elements are all given by the
first loop that adds to them needs no zeros.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from .fuse import Touched, affine, one_row_each, static_range, sum_of
from .statements import blocks_of, changes, everything, operands, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .fuse import Affine

    Ranges = dict[Var, tuple[int, int]]


def gather(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with such loops."""
    reads = counted_reads(kernel.body)
    for r in kernel.results:
        reads[r] = reads.get(r, 0) + 1
    body = gathered(forwards(kernel.body, {}, {}, {}, reads))
    return ir.Kernel(kernel.parameters, given(body), kernel.results)


# --- order ----------------------------------------------------------------------------------------------------------


def forwards(
    block: list[Stmt], trips: dict[Var, int], known: dict[Var, Affine], outer: Ranges, reads: dict[Any, int]
) -> list[Stmt]:
    """Reverse loops of a known length, whose iterations do not depend on each other, as loops that count up."""
    trips, known = dict(trips), dict(known)
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.Set:
            place = sum_of(s, known)
            if place is not None:
                known[s.var] = place
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


# --- zeros ----------------------------------------------------------------------------------------------------------


def given(block: list[Stmt]) -> list[Stmt]:
    """Arrays of zeros to which a loop first adds, element by element, filled by that loop instead."""
    waiting = [s.array for s in block if s.__class__ is ir.Alloc and s.zero]
    filled: set[Array] = set()
    found: list[Stmt] = []
    for s in block:
        touched = among(waiting, s)
        if s.__class__ is ir.Loop:
            for array in touched:
                stored, zeros = storing(s, array, {}, {}), []  # type: ignore[var-annotated]
                if stored is None:
                    stored, zeros = storing_most(s, array)
                if stored is not None:
                    s = stored
                    found += zeros
                    filled.add(array)
        waiting = [array for array in waiting if array not in touched]
        found.append(with_blocks(s, given))
    return [ir.Alloc(s.array, False) if s.__class__ is ir.Alloc and s.array in filled else s for s in found]


def storing(s: ir.Loop, array: Array, known: dict[Var, Affine], sizes: dict[Var, int]) -> ir.Loop | None:
    """A nest of loops that adds once to each element of an array, storing instead; None for any other."""
    bounds = static_range(s)
    if bounds is None or bounds[0] != 0 or s.stop_when is not None or s.index is None:
        return None
    known, sizes = dict(known), {**sizes, s.index: bounds[1] + 1}
    body: list[Stmt] = []
    made = 0
    for inner in s.body:
        if inner.__class__ is ir.Set:
            place = sum_of(inner, known)
            if place is not None:
                known[inner.var] = place
        elif array in arrays_of([inner]):
            made += 1
            if inner.__class__ is ir.AddTo:
                if not whole(affine(inner.index, known), array.size, sizes):
                    return None
                inner = ir.Store(array, inner.index, inner.value)
            else:
                nest = storing(inner, array, known, sizes) if inner.__class__ is ir.Loop else None
                if nest is None:
                    return None
                inner = nest
        body.append(inner)
    return s.replace(body=body) if made == 1 else None


# So many elements of an array a loop may leave out that adds to the others.
MOST_LEFT = 3


def storing_most(s: ir.Loop, array: Array) -> tuple[ir.Loop | None, list[Stmt]]:
    """A loop that adds once to each element of an array but a few, storing instead; and the zeros of those."""
    bounds = static_range(s)
    if bounds is None or s.stop_when is not None or s.index is None or array in s.stacks:
        return None, []
    known: dict[Var, Affine] = {}
    body: list[Stmt] = []
    left: list[int] | None = None
    for x in s.body:
        inner: Any = x
        if inner.__class__ is ir.Set:
            place = sum_of(inner, known)
            if place is not None:
                known[inner.var] = place
        elif array in arrays_of([inner]):
            place = dict(affine(inner.index, known)) if inner.__class__ is ir.AddTo else {}
            first = place.pop(None, 0)
            if left is not None or {var: n for var, n in place.items() if n} != {s.index: 1}:
                return None, []
            low, high = bounds[0] + first, bounds[1] + first
            if low + array.size - 1 - high > MOST_LEFT:
                return None, []
            left = [*range(low), *range(high + 1, array.size)]
            inner = ir.Store(array, inner.index, inner.value)
        body.append(inner)
    if left is None:
        return None, []
    zeros: list[Stmt] = [ir.Store(array, k, 0.0) for k in left]
    return s.replace(body=body), zeros


def whole(place: Affine, size: int, sizes: dict[Var, int]) -> bool:
    """Whether a place takes every value below `size` once, as its variables run below theirs."""
    factors = {var: factor for var, factor in place.items() if var is not None and factor}
    if place.get(None, 0) != 0 or any(var not in sizes for var in factors):
        return False
    if any(n != 1 and var not in factors for var, n in sizes.items()):
        return False
    stride = 1
    for var in sorted(factors, key=lambda var: factors[var]):
        if factors[var] != stride:
            return False
        stride *= sizes[var]
    return stride == size


def arrays_of(block: list[Stmt]) -> set[Any]:
    """The arrays that a block touches."""
    found: set[Any] = set()
    for s in everything(block):
        if getattr(s, "array", None) is not None:
            found.add(s.array)
        if s.__class__ is ir.Routine:
            found.add(s.value)
    return found


def among(arrays: Sequence[Array], s: Stmt) -> list[Array]:
    """Those of arrays that a statement touches and does not allocate, in their order."""
    touched = arrays_of([s]) if arrays and s.__class__ is not ir.Alloc else ()
    return [array for array in arrays if array in touched]


# --- sums -----------------------------------------------------------------------------------------------------------


def gathered(block: list[Stmt]) -> list[Stmt]:
    found: list[Stmt] = []
    for s in block:
        s = with_blocks(s, gathered)
        if isinstance(s, ir.Loop | ir.ReverseLoop):
            found.extend(taken_out(s))
        else:
            found.append(s)
    return found


def taken_out(s: Any) -> list[Stmt]:
    """A loop with what it adds to fixed elements taken out of it."""
    candidates = [inner for inner in s.body if inner.__class__ is ir.AddTo]
    if not candidates:
        return [s]
    inside = changes(s) | {s.index, s.trips, getattr(s, "position", None)}
    other = otherwise_touched(s.body)
    sums: dict[tuple[Array, Any], Var] = {}
    body: list[Stmt] = []
    for inner in s.body:
        if inner.__class__ is ir.AddTo and inner.array not in other and inner.index not in inside:
            total = sums.setdefault((inner.array, inner.index), Var(inner.array.kind, "b"))
            inner = ir.Accumulate(total, inner.value)
        body.append(inner)
    if not sums:
        return [s]
    made = s.replace(body=body) if s.__class__ is ir.Loop else with_blocks(s, lambda _: body)
    found: list[Stmt] = []
    for total in sums.values():
        begun = ("zero", ()) if total.kind == FLOAT else ("copy", (0,))
        found.append(ir.Set(total, *begun, None, None))
    found.append(made)
    for (array, index), total in sums.items():
        # A loop without an iteration says nothing about its places.
        met = Var(ir.BOOL)
        found.append(ir.Set(met, "not_equal", (total, 0.0 if total.kind == FLOAT else 0), None, None))
        found.append(ir.If(met, [ir.AddTo(array, index, total)], [], []))
    return found


def otherwise_touched(block: list[Stmt]) -> set[Any]:
    """The arrays that a block reads, or writes otherwise than by adding."""
    found: set[Any] = set()
    for s in everything(block):
        if s.__class__ is not ir.AddTo and getattr(s, "array", None) is not None:
            found.add(s.array)
        if s.__class__ is ir.ReverseLoop:
            found.update(x for x, _ in s.restore)
    return found
