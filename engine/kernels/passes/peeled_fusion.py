"""Loop fusion with peeling: a loop over all elements as part of one before it that leaves out the first few.

`w[0] = x` and `for i in range(1, n): w[i] = f(w[i - 1])`, and then a loop over all of w: the first iteration of that comes
before both, and each of the others where its element is at hand. What such a loop finds for an element waits for the
element before it, so that the processor does the other's work meanwhile, and memory is gone through once less (Allen and
Kennedy, Optimizing compilers for modern architectures, 2001, chapter 8). What is more than it does meanwhile is done sooner
apart, on vectors, and what several cores may share is as well.
"""

from __future__ import annotations

from .. import ir
from ..ir import Array, Stmt
from .alignment import LEAST_TRIPS, places_in
from .cloning import cloned, renewed
from .dependence import Touched, affine, apart, movable
from .fuse import together
from .memory import through_elements
from .parallel_loops import parallel_loops
from .shifted_fusion import PLAIN
from .statements import operands, read_counts, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # By array, the distances of its places from the index; None for a place that is another.
    Places = dict[Array, set[int | None]]

# So many elements the first loop may leave out.
MOST_LEFT = 3
# So many statements a loop may have when another has become part of it: while a product and a sum wait for those before them,
# a processor does about as many.
MOST_TOGETHER = 16
# What takes so long that it had better be done on vectors, in a loop of its own.
LONG = frozenset(("divide", "sqrt"))


def fuse_peeled(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with such loops as one."""
    body = joined(kernel.body, read_counts(kernel.body), parallel_loops(kernel))
    return ir.Kernel(kernel.parameters, body, kernel.results)


def joined(block: list[Stmt], reads: dict[Any, int], shared: set[Stmt]) -> list[Stmt]:
    """A block with such loops as one, but those that are `shared` among cores; blocks inside likewise.

    `reads` says how often a variable is read anywhere.
    """
    found: list[Stmt] = []
    for s in block:
        at = place_for(s, found) if s not in shared and takes_part(s, reads) else None
        if at is None:
            found.append(with_blocks(s, lambda inner: joined(inner, reads, shared)))
            continue
        first: Any = found[at]
        made = [x for x in found[at + 1 :] if x.__class__ is ir.Alloc]
        rest = [x for x in found[at + 1 :] if x.__class__ is not ir.Alloc]
        before, second = peeled(s, first.start)
        found[at:] = [*made, before, together(first, second), *rest]
    return found


def takes_part(s: Any, reads: dict[Any, int]) -> bool:
    """Whether a loop is over all elements from the first on, of an array operation, and nothing in it takes long."""
    if not through_elements(s) or s.own or s.stacks or s.start != 0 or s.stop < LEAST_TRIPS or reads.get(s.trips):
        return False
    inside = sum(x is s.index for inner in s.body for x in operands(inner))
    quick = all(inner.op in PLAIN and inner.op not in LONG for inner in s.body if inner.__class__ is ir.Set)
    return quick and reads.get(s.index, 0) == inside


def place_for(s: Any, found: list[Stmt]) -> int | None:
    """The place of a loop before `s`, with nothing between them that `s` must come after, of which it may be part."""
    ours = Touched([s], {}, {})
    if ours.special or ours.checks:
        return None
    for at in reversed(range(len(found))):
        other: Any = found[at]
        if other.__class__ is ir.Alloc or (movable(other) and apart(Touched([other], {}, {}), ours)):
            continue
        return at if may_take(other, s, ours) else None
    return None


def may_take(first: Any, second: ir.Loop, ours: Touched) -> bool:
    """Whether each iteration of the second loop may come right after that of the first, and its first ones before both."""
    if not through_elements(first) or first.stop != second.stop or not 0 < first.start <= MOST_LEFT:
        return False
    if len(first.body) + len(second.body) > MOST_TOGETHER or any(x.__class__ is Array for x in first.stacks):
        return False
    theirs = Touched([first], {}, {})
    if theirs.special or theirs.defined & (ours.read | ours.defined) or ours.defined & theirs.read:
        return False
    (loads, stores), (read, written) = places_of(first), places_of(second)
    recurrent = first.carried or any(loads.get(array, set()) - places for array, places in stores.items())
    if not recurrent or not any(array in read for array in stores):
        return False
    return not (
        any(later(read.get(array, ()), places) for array, places in stores.items())
        or any(later(written.get(array, ()), places) for array, places in (*loads.items(), *stores.items()))
    )


def places_of(s: Any) -> tuple[Places, Places]:
    """What a loop loads and what it stores."""
    known = places_in(s)
    loads: Places = {}
    stores: Places = {}
    for inner in s.body:
        if inner.__class__ not in (ir.Load, ir.Store, ir.AddTo):
            continue
        place = {var: n for var, n in affine(inner.index, known).items() if n}
        distance = place.pop(None, 0)
        for kinds, places in (((ir.Load, ir.AddTo), loads), ((ir.Store, ir.AddTo), stores)):
            if inner.__class__ in kinds:
                places.setdefault(inner.array, set()).add(distance if place == {s.index: 1} else None)
    return loads, stores


def later(places: Any, others: set[int | None]) -> bool:
    """Whether an iteration may touch at one of its places what an iteration after it touches at one of the others."""
    return bool(places) and (None in places or None in others or max(places) > min(others))  # type: ignore[type-var]


def peeled(s: Any, first: int) -> tuple[ir.Loop, ir.Loop]:
    """The first iterations of a loop as one of its own, and the others."""
    own = {inner.var for inner in s.body if isinstance(inner, ir.Set | ir.Load)}
    names: dict[Any, Any] = {x: renewed(x) for x in (*own, s.trips, *(phi for phi, _, _ in s.carried))}
    names[s.index] = ir.Var(ir.INT, "i")
    before: ir.Loop = cloned(s, names)
    carried = [(phi, names[phi], following) for phi, _, following in s.carried]
    return before.replace(start=0, stop=first), s.replace(start=first, carried=carried)


__all__ = ["fuse_peeled"]
