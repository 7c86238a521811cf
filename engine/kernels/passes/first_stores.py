"""Elimination of zeros: an array of zeros to which a loop first adds, once to each element, is filled by that loop instead."""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt, Var
from .dependence import affine, follow, static_range
from .statements import arrays_of, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .dependence import Affine

# So many elements of an array a loop may leave out that adds to the others.
MOST_LEFT = 3


def stored_first(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, in which such loops store."""
    return ir.Kernel(kernel.parameters, given(kernel.body), kernel.results)


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
            follow(inner, known)
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
            follow(inner, known)
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


def among(arrays: Sequence[Array], s: Stmt) -> list[Array]:
    """Those of arrays that a statement touches and does not allocate, in their order."""
    touched = arrays_of([s]) if arrays and s.__class__ is not ir.Alloc else ()
    return [array for array in arrays if array in touched]
