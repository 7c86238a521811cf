"""Arrays that a loop replaces, kept whole at the head of each iteration.

The adjoint notes every element that is overwritten, which suits loops that change a few elements of a large array. Where
an iteration overwrites about all of them, their copy at its head takes less memory and less time than a log with places,
and the reverse sweep need not take back element by element.
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Loop, ReverseLoop, Stack, Stmt, Var
from ..passes.statements import everything, operands, with_blocks
from .checkpoint import without_logs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Operations by which the end of a loop is reckoned from the counter of one around it.
SUMS = frozenset(
    "add subtract int_add int_subtract multiply int_multiply maximum minimum copy to_int where_select".split()
)


class Whole:
    """An array to be kept whole, in the place of the heads in which the length of its log was."""

    __slots__ = ("array", "heads")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.heads = Stack(array.kind, width=array.size)


def snapshots(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with copies in the place of logs that are not shorter."""
    forward: dict[Stack, list[Loop]] = {}
    for s in everything(kernel.body):
        if s.__class__ is Loop:
            for stack in s.stacks.values():
                forward.setdefault(stack, []).append(s)
    chosen: dict[Stack, Whole] = {}
    for s in everything(kernel.body):
        if s.__class__ is ReverseLoop:
            for r, stack in s.restore:
                array = rewound(s, r)
                loops = forward.get(stack, [])
                if array is not None and len(loops) == 1 and replaced(loops[0], stack, array):
                    chosen[stack] = Whole(array)
    return ir.Kernel(kernel.parameters, rewritten(kernel.body, chosen), kernel.results) if chosen else kernel


def rewound(s: ReverseLoop, r: Any) -> Array | None:
    """The array that is rewound to the length `r` at the head of an iteration in reverse, which is all that `r` is for."""
    found = None
    for inner in everything(s.body):
        if inner.__class__ is ir.Rewind and inner.value is r and found is None:
            found = inner.array
        elif any(x is r for x in operands(inner)):
            return None
    return found if any(x.__class__ is ir.Rewind and x.value is r for x in s.body) else None


def replaced(s: Loop, stack: Stack, array: Array) -> bool:
    """Whether the iterations of a loop, of which `stack` keeps the lengths of the array's log, overwrite most of it."""
    phi = next(phi for phi, heads in s.stacks.items() if heads is stack)
    if any(isinstance(x, ir.TakeBack | ir.Rewind) and x.array is array for x in everything(s.body)):
        return False
    if any(x is phi for inner in everything(s.body) for x in operands(inner)):
        return False
    # A note takes two words, and an element of a copy one.
    return 2 * overwritten(s.body, array, definitions(s.body)) >= array.size


def definitions(block: list[Stmt]) -> dict[Any, Any]:
    """The statement that sets each variable of a block."""
    return {s.var: s for s in everything(block) if s.__class__ in (ir.Set, ir.Load)}


def overwritten(block: list[Stmt], array: Array, made: dict[Any, Any]) -> int:
    """About how many elements of an array a block notes; of loops whose length is computed otherwise than by counting on
    rather few: a log is never much longer than their work, and copies may be."""
    total = 0
    for s in block:
        if s.__class__ is ir.Keep and s.array is array:
            total += 1
        elif s.__class__ is Loop:
            bounds = (s.start, s.stop, s.step)
            if all(x.__class__ is int for x in bounds):
                trips = len(range(*bounds))
            else:
                trips = array.size if s.test is None and all(counts_on(x, made) for x in bounds) else 1
            total += overwritten(s.body, array, made) * trips
        elif s.__class__ is ir.If:
            total += max(overwritten(s.then, array, made), overwritten(s.orelse, array, made))
    return total


def counts_on(x: Any, made: dict[Any, Any]) -> bool:
    """Whether a bound is reckoned from numbers that loops around count, or that are known before them, by sums."""
    pending = [x]
    while pending:
        s = made.get(pending.pop())
        if s is not None:
            if s.__class__ is not ir.Set or s.op not in SUMS:
                return False
            pending.extend(s.args)
    return True


def rewritten(block: list[Stmt], chosen: dict[Stack, Whole]) -> list[Stmt]:
    """A block that keeps and restores such arrays whole."""
    found: list[Stmt] = []
    for s in block:
        s = with_blocks(s, lambda inner: rewritten(inner, chosen))
        if s.__class__ is Loop:
            s = keeping_whole(s, chosen)
        elif s.__class__ is ReverseLoop:
            restore: list[Any] = []
            lengths: set[Any] = set()
            for phi, stack in s.restore:
                whole = chosen.get(stack)
                restore.append((phi, stack) if whole is None else (whole.array, whole.heads))
                if whole is not None:
                    lengths.add(phi)
            body = [x for x in s.body if not (x.__class__ is ir.Rewind and x.value in lengths)]
            s = ReverseLoop(s.trips, s.position, s.index, s.start, s.step, restore, body)
        found.append(s)
    return found


def keeping_whole(s: Loop, chosen: dict[Stack, Whole]) -> Loop:
    """A loop that keeps some arrays whole at its heads."""
    stacks: dict[Any, Stack] = {}
    dropped: set[Var] = set()
    arrays: set[Array] = set()
    for phi, stack in s.stacks.items():
        whole = chosen.get(stack)
        if whole is None:
            stacks[phi] = stack
        else:
            stacks[whole.array] = whole.heads
            arrays.add(whole.array)
            dropped.add(phi)
    if not arrays:
        return s
    carried = [entry for entry in s.carried if entry[0] not in dropped]
    return s.replace(carried=carried, stacks=stacks, body=without_logs(s.body, arrays))
