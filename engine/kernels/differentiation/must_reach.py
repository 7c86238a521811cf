"""Must-analysis of activity: what a tape would follow whatever path a run takes through the program.

A list's element is connected to a source only if that element is; a tensor's if any is, until another tensor takes its
place. So it is doubtful of an array, of which a tape may follow some elements and not others, whether an element is
connected once another was stored that is not, until all of its elements have been stored anew.
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, Array, Stmt, Var
from ..passes.dependence import affine, follow, static_range
from ..passes.statements import everything
from .activity import arguments, carries, followed, region_carries
from .bodies import arrays_made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..passes.dependence import Affine


def must_reach(kernel: ir.Kernel, sources: Iterable[Any], running: Iterable[ir.Loop] = ()) -> set[Any]:
    """What every path through the program connects to one of the sources, after its loop.

    The loops in `running` are taken to run.
    """
    reached = Reached(set(sources), list(running))
    reached.beyond = None
    reached.walk(kernel.body)
    return reached.known


def surely_reached_inside(kernel: ir.Kernel, sources: Iterable[Any]) -> tuple[set[Any], dict[Any, set[Var]]]:
    """What every path through the program connects to one of the sources, inside its loop; and what is connected but for
    the first iteration of any one of several loops, which are named by the variables that count their trips.

    A carried variable that the first iteration connects is not connected in it.
    """
    reached = Reached(set(sources), [])
    reached.walk(kernel.body)
    return reached.known - reached.later, reached.beyond or {}


class Reached:
    """What is connected, so far as a program has been walked through."""

    def __init__(self, known: set[Any], running: list[ir.Loop]) -> None:
        self.known = known
        self.running = running
        # Arrays that hold elements which are not connected.
        self.doubtful: set[Array] = set()
        # Carried variables that the first iteration of their loop connects.
        self.later: set[Any] = set()
        # What is connected but for the first iteration of any one of these loops; None where nobody asks.
        self.beyond: dict[Any, set[Var]] | None = {}

    def has(self, x: Any) -> bool:
        return x.__class__ in (Var, Array) and x in self.known

    def gives(self, x: Any) -> bool:
        """Whether what is computed from a variable, or from any element of an array, is connected."""
        return self.has(x) and x not in self.doubtful

    def walk(self, block: list[Stmt]) -> None:
        renewed = Renewed()
        for s in block:
            if s.__class__ is ir.Set:
                if s.op != "unsure" and carries(s) and any(map(self.has, followed(s))):
                    self.known.add(s.var)
            elif s.__class__ is ir.Load:
                if self.gives(s.array):
                    self.known.add(s.var)
            elif isinstance(s, ir.Store | ir.AddTo):
                if self.has(s.value):
                    self.known.add(s.array)
                elif s.array.mixed:
                    self.doubtful.add(s.array)
            elif s.__class__ is ir.Region:
                if region_carries(s) and any(map(self.gives, arguments(s))):
                    self.known.update(x for x in s.results if x.kind == FLOAT)
            elif s.__class__ is ir.Loop:
                self.loop(s)
            elif s.__class__ is ir.If:
                self.branch(s)
            if self.doubtful:
                # Whatever paths lead through it, an array of which all elements are connected is.
                whole = renewed.after(s, self.has) & self.doubtful
                self.doubtful -= whole
                self.known |= whole

    def branch(self, s: ir.If) -> None:
        before = set(self.doubtful)
        self.side(s.then)
        then, self.doubtful = self.doubtful, before
        self.side(s.orelse)
        self.doubtful |= then
        self.known.update(var for var, a, b in s.merges if self.has(a) and self.has(b))

    def side(self, block: list[Stmt]) -> None:
        """A branch: an array that only one side fills is not sure to be connected."""
        arrays = self.arrays()
        self.walk(block)
        self.known -= self.arrays() - arrays

    def arrays(self) -> set[Any]:
        return {x for x in self.known if x.__class__ is Array}

    def loop(self, s: ir.Loop) -> None:
        runs = not s.own or any(s is other for other in self.running)
        if s.test is None and all(x.__class__ is int for x in (s.start, s.stop, s.step)):
            runs = runs or len(range(s.start, s.stop, s.step)) > 0
        candidates = [entry for entry in s.carried if self.has(entry[1])]
        arrays = self.arrays()
        at_head = set(self.doubtful)
        beyond = None if self.beyond is None else {x: set(loops) for x, loops in self.beyond.items()}
        while True:
            before = set(self.known)
            self.doubtful = set(at_head)
            self.known.update(phi for phi, _, _ in candidates)
            self.walk(s.body)
            kept = [entry for entry in candidates if self.has(entry[2])]
            if len(kept) == len(candidates) and self.doubtful <= at_head:
                break
            # The values that an iteration hands on decide about the next one.
            self.known = before
            self.beyond = None if beyond is None else {x: set(loops) for x, loops in beyond.items()}
            candidates = kept
            at_head |= self.doubtful
        if self.beyond is not None:
            for x in self.after_first(s) - self.known:
                self.beyond.setdefault(x, set()).add(s.trips)
        if runs:
            reached = {phi for phi, _, following in s.carried if self.has(following)}
            self.later |= reached - self.known
            self.known |= reached
        else:
            self.doubtful |= at_head
            self.known -= self.arrays() - arrays

    def after_first(self, s: ir.Loop) -> set[Any]:
        """What is connected in a loop from the second iteration on: one before it has stored and handed on what it does.

        Arrays that the loop makes are others in every iteration.
        """
        handed = {phi for phi, _, following in s.carried if self.has(following)}
        again = Reached((self.known | handed) - set(arrays_made(s.body)), self.running)
        again.doubtful = set(self.doubtful)
        again.beyond = None
        again.walk(s.body)
        return again.known - again.later


class Renewed:
    """The parts of arrays that the statements of one block, one after the other, have stored anew, all connected."""

    def __init__(self) -> None:
        self.parts: dict[Array, set[tuple[int, int]]] = {}

    def after(self, s: Stmt, has: Any) -> set[Array]:
        """The arrays of which all elements are connected after the next statement."""
        stores = [x for x in everything([s]) if isinstance(x, ir.Store | ir.AddTo) and x.array.mixed]
        for inner in stores:
            if not has(inner.value):
                self.parts.pop(inner.array, None)
        unconnected = {inner.array for inner in stores if not has(inner.value)}
        for array, part in stored_parts(s, {}, {}):
            if array.mixed and array not in unconnected:
                self.parts.setdefault(array, set()).add(part)
        return {array for array, parts in self.parts.items() if covered(parts, array.size)}


def stored_parts(
    s: Stmt, known: dict[Var, Affine], ranges: dict[Var, tuple[int, int]]
) -> Iterator[tuple[Array, tuple[int, int]]]:
    """The parts of arrays, from an element to before another, in which a statement surely stores."""
    if s.__class__ is ir.Store:
        part = part_of(affine(s.index, known), ranges)
        if part is not None:
            yield s.array, part
    elif s.__class__ is ir.Loop and s.index is not None and s.stop_when is None:
        bounds = static_range(s)
        if bounds is not None and bounds[0] == 0:
            known, ranges = dict(known), {**ranges, s.index: bounds}
            for inner in s.body:
                if inner.__class__ is ir.Set:
                    follow(inner, known)
                yield from stored_parts(inner, known, ranges)


def part_of(place: Affine, ranges: dict[Var, tuple[int, int]]) -> tuple[int, int] | None:
    """The neighbouring elements that a place goes through; None if it leaves any out."""
    size = 1
    steps = [(factor, var) for var, factor in place.items() if var is not None and factor]
    for factor, var in sorted(steps, key=lambda step: step[0]):
        if factor != size or var not in ranges:
            return None
        size *= ranges[var][1] + 1
    first = place.get(None, 0)
    return first, first + size


def covered(parts: Iterable[tuple[int, int]], size: int) -> bool:
    """Whether parts leave no element of `size` out."""
    reached = 0
    for start, end in sorted(parts):
        if start > reached:
            return False
        reached = max(reached, end)
    return reached >= size
