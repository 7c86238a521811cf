"""Scalar replacement: sums into neighbouring elements, a few on from a loop's index, are held in variables between iterations.

An iteration that adds to the elements i and i + 1 of an array of zeros ends the first of them: it is stored, once, and the
second is handed to the next iteration. So the array needs no zeros, and the compiler behind no proof that what it adds
to and what it reads are different memory (Callahan, Carr and Kennedy, Improving register allocation for subscripted
variables, PLDI 1990).
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from .dependence import affine, follow, static_range
from .first_stores import among
from .statements import arrays_of, everything, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

# The most elements that are handed on; and in all lanes.
MOST = 4
MOST_IN_LANES = 16


def scalar_replaced(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with such sums in variables."""
    return ir.Kernel(kernel.parameters, block_windowed(kernel.body), kernel.results)


def block_windowed(block: list[Stmt]) -> list[Stmt]:
    """A block in which the first loop that adds to an array of zeros may give it all its elements."""
    waiting = [s.array for s in block if s.__class__ is ir.Alloc and s.zero and s.array.kind == FLOAT]
    noted = {x for s in everything(block) if s.__class__ is ir.ReverseLoop for x, _ in s.restore}
    filled: set[Array] = set()
    found: list[Stmt] = []
    for s in block:
        touched = among(waiting, s)
        after: list[Stmt] = []
        if s.__class__ is ir.Loop:
            for array in touched:
                made = None if array in noted else window(s, array)
                if made is not None:
                    s, rest = made
                    after += rest
                    filled.add(array)
        waiting = [array for array in waiting if array not in touched]
        found.append(with_blocks(s, block_windowed))
        found += after
    return [ir.Alloc(s.array, False) if s.__class__ is ir.Alloc and s.array in filled else s for s in found]


def window(s: ir.Loop, array: Array) -> tuple[ir.Loop, list[Stmt]] | None:
    """A loop that stores each element when nothing more is added to it, and the stores of the last ones; None where
    the loop does not add to all elements of the array, neighbours in each iteration, or does anything else with it.

    The elements may be of several lanes, one beside the other: each lane has neighbours of its own.
    """
    bounds = static_range(s)
    if bounds is None or s.stop_when is not None or s.index is None or array in s.stacks:
        return None
    offsets, lanes = places(s, array)
    if not offsets:
        return None
    least, most = (min(offsets.values())[0], max(offsets.values())[0])
    ends = {(k, lane) for k in (least, most) for lane in range(lanes)}
    if most - least > MOST or (most - least) * lanes > MOST_IN_LANES or not ends.issubset(offsets.values()):
        return None
    if bounds[0] + least != 0 or (bounds[1] + most + 1) * lanes != array.size:
        return None
    held = [[Var(FLOAT, "c") for _ in range(most - least)] for _ in range(lanes)]
    sums: list[list[Any]] = [[*each, None] for each in held]
    first: dict[int, Any] = {}
    body: list[Stmt] = []
    for inner in s.body:
        if getattr(inner, "array", None) is not array:
            body.append(inner)
            continue
        assert inner.__class__ is ir.AddTo
        k, lane = offsets[inner.index]
        if k == least:
            first[lane] = inner.index
        total, before = Var(FLOAT), sums[lane][k - least]
        # What is added may be a sum itself, and change.
        op, args = ("copy", (inner.value,)) if before is None else ("add", (before, inner.value))
        body.append(ir.Set(total, op, args, None, None))
        sums[lane][k - least] = total
    body += [ir.Store(array, first[lane], sums[lane][0]) for lane in range(lanes)]
    following = [(phi, 0.0, x) for each, found in zip(held, sums) for phi, x in zip(each, found[1:])]
    last = (bounds[1] + least) * lanes
    stores = [
        ir.Store(array, last + k * lanes + lane, phi) for lane, each in enumerate(held) for k, phi in enumerate(each, 1)
    ]
    return s.replace(body=body, carried=[*s.carried, *following]), list(stores)


def places(s: ir.Loop, array: Array) -> tuple[dict[Any, tuple[int, int]], int]:
    """How far from the loop's index each place is that the body adds to, and its lane, and how many lanes there are;
    {} where it touches the array otherwise."""
    known: dict[Var, Affine] = {}
    found: dict[Any, Affine] = {}
    for inner in s.body:
        if inner.__class__ is ir.Set:
            follow(inner, known)
        elif inner.__class__ is ir.AddTo and inner.array is array:
            found[inner.index] = {x: factor for x, factor in affine(inner.index, known).items() if factor}
        elif array in arrays_of([inner]):
            return {}, 0
    lanes = next((place.get(s.index, 0) for place in found.values()), 0)
    if lanes < 1 or any({**place, None: 0} != {s.index: lanes, None: 0} for place in found.values()):
        return {}, 0
    return {index: divmod(place.get(None, 0), lanes) for index, place in found.items()}, lanes
