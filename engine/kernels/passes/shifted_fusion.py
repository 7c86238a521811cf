"""Loop fusion with shifting and peeling: loops over one range as one, each so many iterations behind the first as it must.

A loop over elements may read what the one before it has stored a place further on, or be about to overwrite what that one
reads. Some iterations behind it is as if that one had ended, so that both can be one loop, which hands the elements between
them on in variables (shifted_loop.py) and leaves out of memory what only its own loops read (Manjikian and Abdelrahman,
Fusion of loops for parallelism and locality, IEEE Transactions on Parallel and Distributed Systems 1997).
"""

from __future__ import annotations

from itertools import pairwise

from .. import ir
from ..ir import FLOAT, Array, Stmt
from .alignment import LEAST_TRIPS, places_in
from .dependence import Touched, affine, apart, movable, static_range
from .memory import plain_loop
from .shifted_loop import written
from .statements import everything, operands, outliving, read_counts, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# So many iterations one loop may be behind another, so many elements wait in variables, and so many loops become one.
FARTHEST, MOST_WAITING, MOST_LOOPS = 8, 32, 12
# What is computed on vectors whatever stands beside it.
PLAIN = frozenset(
    "copy zero add subtract multiply strong_multiply divide negative square sqrt where_select weight "
    "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_not".split()
)


def fuse_shifted(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with such loops as one."""
    reads = read_counts(kernel.body)
    for r in kernel.results:
        reads[r] = reads.get(r, 0) + 1
    needed = {r for r in kernel.results if r.__class__ is Array} | outliving(kernel.body)
    for s in everything(kernel.body):
        needed.update(x for x, _ in getattr(s, "restore", ()))
        needed.update(getattr(s, "stacks", ()))
        if isinstance(s, ir.Keep | ir.TakeBack | ir.Rewind | ir.OpenLog | ir.Mark):
            needed.add(s.array)
    return ir.Kernel(kernel.parameters, block_behind(kernel.body, reads, needed), kernel.results)


def block_behind(block: list[Stmt], reads: dict[Any, int], needed: set[Any]) -> list[Stmt]:
    """A block whose neighbouring loops are one where they hand elements to each other; blocks inside likewise.

    `reads` says how often a variable is read anywhere, and `needed` are the arrays that outlive their block.
    """
    own = {s.array for s in block if s.__class__ is ir.Alloc} - needed
    found: list[Stmt] = []
    group: Group | None = None
    after: list[Stmt] = []

    def close(rest: list[Stmt]) -> None:
        nonlocal group
        if group is not None:
            found.extend(group.loops(own, [*after, *rest]))
            found.extend(after)
            after.clear()
        group = None

    for k, s in enumerate(block):
        member = member_of(s, reads)
        if member is not None:
            passed = group is not None and all(apart(Touched([x], {}, {}), Touched([s], {}, {})) for x in after)
            if group is None or not passed or not group.takes(member):
                close(block[k:])
                group = Group(member)
        elif group is not None and s.__class__ is ir.Alloc:
            found.append(s)
        elif group is not None and movable(s):
            after.append(s)
        else:
            close(block[k:])
            found.append(with_blocks(s, lambda inner: block_behind(inner, reads, needed)))
    close([])
    return found


# --- loops ------------------------------------------------------------------------------------------------------------


class Member:
    """A loop over elements. `places` gives the place of each load and store (by id) as a distance from the index, None where
    it is another; `loads` and `stores` the distances by array, and `delay` how many iterations the loop is behind."""

    def __init__(self, loop: ir.Loop, trips: int) -> None:
        self.loop = loop
        self.trips = trips
        self.delay = 0
        self.places: dict[int, int | None] = {}
        self.loads: dict[Array, set[int | None]] = {}
        self.stores: dict[Array, set[int | None]] = {}

    def note(self, s: Any, place: int | None) -> None:
        self.places[id(s)] = place
        if s.__class__ is not ir.Store:
            self.loads.setdefault(s.array, set()).add(place)
        if s.__class__ is not ir.Load:
            self.stores.setdefault(s.array, set()).add(place)

    @property
    def whole(self) -> bool:
        """Whether each array that is stored in is touched at one place alone."""
        return all(
            len(places | self.loads.get(array, set())) == 1 and None not in places
            for array, places in self.stores.items()
        )


def member_of(s: Any, reads: dict[Any, int]) -> Member | None:
    """A loop that may be one with others: it goes through elements, and nothing but arrays keeps what it computes."""
    if s.__class__ is not ir.Loop or not plain_loop(s) or s.own or s.start != 0 or s.index is None:
        return None
    bounds = static_range(s)
    if bounds is None or bounds[1] + 1 < LEAST_TRIPS or reads.get(s.trips):
        return None
    inside: dict[Any, int] = {}
    for each in s.body:
        for x in operands(each):
            inside[x] = inside.get(x, 0) + 1
    found = Member(s, bounds[1] + 1)
    known = places_in(s)
    made: set[Any] = set()
    for each in s.body:
        inner: Any = each
        if inner.__class__ is ir.Set:
            if inner.op not in PLAIN:
                return None
        elif inner.__class__ is ir.Accumulate:
            if inner.var not in made or inner.var.kind != FLOAT:
                return None
            continue
        else:
            place = {var: n for var, n in affine(inner.index, known).items() if n}
            distance = place.pop(None, 0)
            found.note(inner, distance if place == {s.index: 1} else None)
            if inner.__class__ is not ir.Load:
                if getattr(inner.value, "kind", inner.array.kind) != inner.array.kind:
                    return None
                continue
        if reads.get(inner.var, 0) > inside.get(inner.var, 0):
            return None  # read after the loop
        made.add(inner.var)
    return found if found.whole and found.stores else None


# --- groups -----------------------------------------------------------------------------------------------------------


class Version:
    """What an array's elements are from a loop on: that of the loop `member`, which stores each at a distance of `place`;
    None for what they were before. `loads` are the loops that read it, with the distances."""

    def __init__(self, member: Member | None, place: int = 0) -> None:
        self.member = member
        self.place = place
        self.loads: list[tuple[Member, int]] = []

    @property
    def lead(self) -> int:
        """How far the index of the first loop is from an element when this version of it is there."""
        if self.member is not None:
            return self.member.delay - self.place
        return min(member.delay - place for member, place in self.loads)


class Group:
    """Loops that are to be one."""

    def __init__(self, first: Member) -> None:
        self.members: list[Member] = []
        self.versions: dict[Array, list[Version]] = {}
        self.add(first)

    def add(self, member: Member) -> None:
        self.members.append(member)
        for array, places in member.loads.items():
            version = self.versions.setdefault(array, [Version(None)])[-1]
            version.loads += [(member, place) for place in sorted(places, key=str)]  # type: ignore[misc]
        for array, places in member.stores.items():
            (place,) = places
            assert place is not None
            self.versions.setdefault(array, [Version(None)]).append(Version(member, place))

    def takes(self, member: Member) -> bool:
        """Add a loop, if it may be one with the others and reads what they store."""
        if member.trips != self.members[0].trips or len(self.members) >= MOST_LOOPS:
            return False
        least = self.least_delay(member)
        if least is None or not 0 <= least <= FARTHEST:
            return False
        member.delay = least
        if not any(
            len(self.versions.get(array, ())) > 1 and array in member.loads for array in (*member.loads, *member.stores)
        ):
            return False
        if self.waiting(member) > MOST_WAITING:
            return False
        self.add(member)
        return True

    def least_delay(self, member: Member) -> int | None:
        """How many iterations a loop must be behind to find all as it would after the others; None if that is never so."""
        least = 0
        for array, places in member.loads.items():
            version = self.versions.get(array, [Version(None)])[-1]
            if version.member is None:
                continue
            if None in places:
                return None
            least = max(least, *(version.lead + place for place in places if place is not None))
        for array, places in member.stores.items():
            version = self.versions.get(array, [Version(None)])[-1]
            (place,) = places
            assert place is not None
            if any(distance is None for _, distance in version.loads):
                return None
            if version.member is not None:
                least = max(least, version.lead + place)
            for other, distance in version.loads:
                # What it was before any loop may be handed on from where it was read first, by loops that no others are
                # ahead of.
                if version.member is not None or other.delay or other.delay - distance == version.lead:
                    least = max(least, other.delay - distance + place)
        return least

    def waiting(self, member: Member) -> int:
        """How many elements wait in variables if a loop is added, at most."""
        total = 0
        for array, versions in self.versions.items():
            leads = [version.lead for version in versions if version.member is not None]
            last = [member.delay - place for place in member.loads.get(array, ()) if place is not None]
            if leads:
                total += max([*leads, *last]) - leads[0]
        return total

    def loops(self, own: set[Array], rest: list[Stmt]) -> list[Stmt]:
        """The group as one loop, with what goes before and after it. `own` are the arrays that end with the block, and
        `rest` the statements after the group."""
        if len(self.members) == 1:
            return [self.members[0].loop]
        trips = self.members[0].trips
        start = max(member.delay for member in self.members)
        kept: set[Array] = set()
        for array, versions in self.versions.items():
            for version, following in pairwise(versions[1:]):
                # Elements that only the first of both stores.
                start = max(start, version.lead + following.place)
            if len(versions) > 1:
                read = read_later(array, rest) if array in own else None
                # Single elements that are read later: those before `start` are in memory.
                last = versions[-1]
                first = [last.lead + place + 1 for place in read or () if 0 <= place - last.place < trips]
                if read is None or max(first, default=0) > FARTHEST:
                    kept.add(array)
                else:
                    start = max([start, *first])
        if start > FARTHEST or trips < LEAST_TRIPS + 2 * FARTHEST:
            return [member.loop for member in self.members]
        return written(self.members, self.versions, start, kept)


def read_later(array: Array, rest: list[Stmt]) -> list[int] | None:
    """The elements of an array that later statements load, each a certain one; None if they touch it otherwise."""
    found: list[int] = []
    for s in rest:
        for inner in everything([s]):
            if getattr(inner, "array", None) is array or getattr(inner, "value", None) is array:
                if inner.__class__ is not ir.Load or inner.index.__class__ is not int:
                    return None
                found.append(inner.index)
            elif inner.__class__ is ir.Region and array in (*inner.operands, *inner.results):
                return None
    return found
