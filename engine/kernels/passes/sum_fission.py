"""Loop fission of sums: loops that add to several places of one array, as a loop for each place.

What an iteration has just added to, the next would add to again, so that no vector could hold several of them. Each
element gets its terms in the order in which it got them.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, Array, Stmt, Var
from .alignment import LEAST_TRIPS, places_in
from .cloning import cloned, defined_in, renewed
from .dependence import affine, static_range
from .memory import plain_loop
from .statements import with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a value may take to be computed once more: loads and operations.
CHEAP = 4


def sums_apart(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with such loops apart."""
    return ir.Kernel(kernel.parameters, block_apart(kernel.body), kernel.results)


def block_apart(block: list[Stmt]) -> list[Stmt]:
    found: list[Stmt] = []
    for each in block:
        s: Any = each
        if plain_loop(s) and (static_range(s) or (0, 0))[1] >= LEAST_TRIPS:
            found += loops_apart(s)
        else:
            found.append(with_blocks(s, block_apart))
    return found


def loops_apart(s: ir.Loop) -> list[Stmt]:
    known = places_in(s)
    changed = {inner.array for inner in s.body if isinstance(inner, ir.Store | ir.AddTo)}
    offsets: dict[Array, set[int]] = {}
    for inner in s.body:
        if inner.__class__ is ir.AddTo:
            place = dict(affine(inner.index, known))
            first = place.pop(None, 0)
            if {var: n for var, n in place.items() if n} == {s.index: 1}:
                offsets.setdefault(inner.array, set()).add(first)
    before: list[Stmt] = []
    body = s.body
    for array, places in offsets.items():
        if len(places) != 2 or any(x.__class__ is not ir.AddTo for x in body if getattr(x, "array", None) is array):
            continue
        # The greater place is added to in an earlier iteration: a loop of its own comes before.
        ahead = max(places)
        sums = [x for x in body if x.__class__ is ir.AddTo and x.array is array
                and affine(x.index, known).get(None, 0) == ahead]  # fmt: skip
        needed = [slice_of(x, body, changed) for x in sums]
        if any(part is None for part in needed):
            continue
        ids = {id(x) for part in needed for x in part or ()} | {id(x) for x in sums}
        own = [x for x in body if id(x) in ids]
        names = {x: renewed(x) for x in defined_in(own)}
        index = Var(INT, "i")
        names[s.index] = index
        before.append(s.replace(index=index, body=[cloned(x, names) for x in own], trips=Var(INT, "t")))
        taken = {id(x) for x in sums}
        body = [x for x in body if id(x) not in taken]
    return [*before, s.replace(body=body)] if before else [s]


def slice_of(s: Any, body: list[Stmt], changed: set[Array]) -> list[Stmt] | None:
    """What computes the value that is added, if that is little and does not change in the loop."""
    makers: dict[Any, Any] = {}
    for each in body:
        if isinstance(each, ir.Set | ir.Load | ir.Accumulate):
            # What is set or added to again has no one maker.
            makers[each.var] = None if each.var in makers or each.__class__ is ir.Accumulate else each
    found: list[Any] = []
    pending = [s.value, s.index]
    while pending:
        name = pending.pop()
        x = makers.get(name)
        if x is None and name in makers:
            return None
        if x is None or x in found:
            continue
        found.append(x)
        if x.__class__ is ir.Load:
            if x.array in changed:
                return None
            pending.append(x.index)
        else:
            pending += x.args
    return found if sum(x.__class__ is ir.Load or x.var.kind == FLOAT for x in found) <= CHEAP else None
