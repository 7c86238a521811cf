"""Sums into neighbouring elements: what a loop adds to a few elements on from its index is held in variables.

An iteration that adds to the elements i and i + 1 of an array of zeros ends the first of them: it is stored, once, and the
second is handed to the next iteration. So the array needs no zeros, and the compiler behind no proof that what it adds
to and what it reads are different memory.
"""

from __future__ import annotations

from . import ir
from .fuse import affine, static_range, sum_of
from .gather import arrays_of
from .ir import FLOAT, Array, Stmt, Var
from .statements import everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .fuse import Affine

# The most elements that are handed on.
MOST = 4


def windowed(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with such sums in variables."""
    return ir.Kernel(kernel.parameters, block_windowed(kernel.body), kernel.results)


def block_windowed(block: list[Stmt]) -> list[Stmt]:
    """A block in which the first loop that adds to an array of zeros may give it all its elements."""
    waiting = {s.array for s in block if s.__class__ is ir.Alloc and s.zero and s.array.kind == FLOAT}
    noted = {x for s in everything(block) if s.__class__ is ir.ReverseLoop for x, _ in s.restore}
    filled: set[Array] = set()
    found: list[Stmt] = []
    for s in block:
        touched = arrays_of([s]) & waiting if s.__class__ is not ir.Alloc else set()
        after: list[Stmt] = []
        if s.__class__ is ir.Loop:
            for array in sorted(touched - noted, key=id):
                made = window(s, array)
                if made is not None:
                    s, rest = made
                    after += rest
                    filled.add(array)
        waiting -= touched
        found.append(with_blocks(s, block_windowed))
        found += after
    return [ir.Alloc(s.array, False) if s.__class__ is ir.Alloc and s.array in filled else s for s in found]


def window(s: ir.Loop, array: Array) -> tuple[ir.Loop, list[Stmt]] | None:
    """A loop that stores each element when nothing more is added to it, and the stores of the last ones; None where
    the loop does not add to all elements of the array, neighbours in each iteration, or does anything else with it."""
    bounds = static_range(s)
    if bounds is None or s.stop_when is not None or s.index is None or array in s.stacks:
        return None
    offsets = places(s, array)
    if not offsets:
        return None
    least, most = min(offsets.values()), max(offsets.values())
    if most - least > MOST or bounds[0] + least != 0 or bounds[1] + most != array.size - 1:
        return None
    held = [Var(FLOAT, "c") for _ in range(most - least)]
    sums: list[Any] = [*held, None]
    first: Any = None
    body: list[Stmt] = []
    for inner in s.body:
        if getattr(inner, "array", None) is not array:
            body.append(inner)
            continue
        assert inner.__class__ is ir.AddTo
        offset = offsets[inner.index] - least
        first = inner.index if offset == 0 else first
        total, before = Var(FLOAT), sums[offset]
        # What is added may be a sum itself, and change.
        op, args = ("copy", (inner.value,)) if before is None else ("add", (before, inner.value))
        body.append(ir.Set(total, op, args, None, None))
        sums[offset] = total
    body.append(ir.Store(array, first, sums[0]))
    carried = [*s.carried, *[(phi, 0.0, following) for phi, following in zip(held, sums[1:])]]
    ends = [ir.Store(array, bounds[1] + least + k, phi) for k, phi in enumerate(held, 1)]
    return s.replace(body=body, carried=carried), list(ends)


def places(s: ir.Loop, array: Array) -> dict[Any, int]:
    """How far from the loop's index each place is that the body adds to; {} where it touches the array otherwise."""
    known: dict[Var, Affine] = {}
    found: dict[Any, int] = {}
    for inner in s.body:
        if inner.__class__ is ir.Set:
            place = sum_of(inner, known)
            if place is not None:
                known[inner.var] = place
        elif inner.__class__ is ir.AddTo and inner.array is array:
            place = {var: factor for var, factor in affine(inner.index, known).items() if factor and var is not None}
            if place != {s.index: 1}:
                return {}
            found[inner.index] = affine(inner.index, known).get(None, 0)
        elif array in arrays_of([inner]):
            return {}
    return found
