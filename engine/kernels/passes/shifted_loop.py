"""The one loop that shifted fusion makes (shifted_fusion.py), with what is peeled off before and after it.

The first iterations of the first loops and the last of the others are loops of their own, before and after it. What one
loop hands to another some iterations behind is carried in as many variables; what is in flight at the end is stored: a
loop's prologue, its rotating registers and its epilogue.
"""

from __future__ import annotations

from .. import ir
from ..ir import INT, Array, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .dependence import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine
    from .shifted_fusion import Member, Version


def written(members: list[Member], versions: dict[Array, list[Version]], start: int, kept: set[Array]) -> list[Stmt]:
    """The loop, which begins with iteration `start` of the first of `members`, and what goes before and after it.

    Of the arrays that they store in, those in `kept` are read later.
    """
    trips = members[0].trips
    stored = {array for array, found in versions.items() if len(found) > 1}
    together = Together(versions, start, stored, kept)
    together.delayed = any(member.delay for member in members)
    for member in members:
        together.take(member)
    before = [s for member in members for s in part(member.loop, 0, start - member.delay)]
    after = [s for member in members for s in part(member.loop, trips - member.delay, trips)]
    in_flight = together.end(trips)
    loop = ir.Loop(
        together.index, start, trips, 1, None, None, together.carried, [*together.body, *together.stores], None, {},
        Var(INT, "t"), None,
    )  # fmt: skip
    return [*together.first, *before, *together.start_values, loop, *in_flight, *after]


def part(s: ir.Loop, start: int, stop: int) -> list[Stmt]:
    """The iterations of a loop from `start` to before `stop`."""
    if start >= stop:
        return []
    names: dict[Any, Any] = {x: renewed(x) for x in (*defined_in(s.body), s.index, s.trips)}
    made: ir.Loop = cloned(s, names)
    return [made.replace(start=start, stop=stop)]


class Together:
    """The loop as it is written."""

    def __init__(self, versions: dict[Array, list[Version]], start: int, stored: set[Array], kept: set[Array]) -> None:
        self.versions = versions
        self.start = start
        self.stored = stored
        self.kept = kept
        self.index = Var(INT, "i")
        self.body: list[Stmt] = []
        self.stores: list[Stmt] = []
        self.carried: list[tuple[Var, Any, Any]] = []
        # Loads of what elements are before all loops, and before this one.
        self.first: list[Stmt] = []
        self.start_values: list[Stmt] = []
        # By version: what this iteration has made it, and the variables of the iterations before, the latest first.
        self.values: dict[Version, Var] = {}
        self.waiting: dict[Version, list[Var]] = {}
        # What was loaded at a distance from the index.
        self.loaded: dict[tuple[Array, int], Var] = {}
        self.integers: dict[Any, Var] = {}
        self.known: dict[Var, Affine] = {}
        # Whether loops come after this one that read what is in flight.
        self.delayed = False

    def take(self, member: Member) -> None:
        """Append the statements of one of the loops."""
        index = self.place(-member.delay)
        names: dict[Any, Any] = {member.loop.index: index}
        held: dict[Array, Any] = {}
        for each in member.loop.body:
            s: Any = each
            array: Any = getattr(s, "array", None)
            if s.__class__ is ir.Set:
                args = tuple(cloned(x, names) for x in s.args)
                made = ir.Set(Var(s.var.kind), s.op, args, s.site, s.attributes)
                names[s.var] = made.var if s.var.kind != INT else self.integer(made)
                if s.var.kind != INT:
                    self.body.append(made)
            elif s.__class__ is ir.Accumulate:
                names[s.var] = self.sum(names[s.var], cloned(s.value, names))
            elif s.__class__ is ir.Load:
                place = cloned(s.index, names)
                names[s.var] = held[array] if array in held else self.element(member, array, s, place)
            else:
                value = cloned(s.value, names)
                if s.__class__ is ir.AddTo:
                    place = cloned(s.index, names)
                    value = self.sum(held[array] if array in held else self.element(member, array, s, place), value)
                elif value.__class__ is not Var:
                    value = self.constant(array.kind, value)
                held[array] = value
        for array, value in held.items():
            self.store(member, array, value)

    def sum(self, a: Any, b: Any) -> Var:
        found = Var(a.kind)
        self.body.append(ir.Set(found, "add", (a, b), None, None))
        return found

    def constant(self, kind: str, value: Any) -> Var:
        found = Var(kind)
        self.body.append(ir.Set(found, "copy", (value,), None, None))
        return found

    def store(self, member: Member, array: Array, value: Var) -> None:
        """Note what a loop has made of an element; the last loop that stores in an array does it."""
        version = next(version for version in self.versions[array] if version.member is member)
        self.values[version] = value
        if version is self.versions[array][-1] and array in self.kept:
            self.stores.append(ir.Store(array, self.place(-version.lead), value))

    def place(self, distance: int) -> Var:
        """The index and so many places on."""
        if not distance:
            return self.index
        return self.integer(ir.Set(Var(INT), "add", (self.index, distance), None, None))

    def integer(self, s: ir.Set) -> Var:
        """What a statement computes, once."""
        place = sum_of(s, self.known)
        if place is not None:
            self.known[s.var] = place
            distance = place.get(None, 0)
            if place == {self.index: 1, None: distance} and s.args != (self.index, distance):
                return self.place(distance)
        known = self.integers.setdefault((s.op, s.args), s.var)
        if known is s.var:
            self.body.append(s)
        return known

    def element(self, member: Member, array: Array, s: Any, place: Any) -> Var:
        """What a loop finds at a place that it loads from, or adds to."""
        if array not in self.stored:
            found = Var(array.kind, "x")
            self.body.append(ir.Load(found, array, place))
            return found
        distance = member.places[id(s)]
        assert distance is not None
        versions = self.versions[array]
        version, following = versions[0], versions[1]
        for k, other in enumerate(versions):
            if (member, distance) in other.loads:
                version, following = other, versions[k + 1] if k + 1 < len(versions) else other
        lead = member.delay - distance
        if version.member is not None or lead > following.lead:
            return self.waited(version, lead - version.lead)
        return self.load(array, lead, place)

    def load(self, array: Array, lead: int, place: Any) -> Var:
        """What an element was before the loops."""
        if (array, lead) not in self.loaded:
            found = self.loaded[array, lead] = Var(array.kind, "x")
            self.body.append(ir.Load(found, array, place))
        return self.loaded[array, lead]

    def waited(self, version: Version, iterations: int) -> Var:
        """What a version of an element was so many iterations ago."""
        if not iterations:
            return self.values[version]
        waiting = self.waiting.setdefault(version, [])
        array = next(array for array, versions in self.versions.items() if version in versions)
        while len(waiting) < iterations:
            waiting.append(Var(array.kind, "p"))
        return waiting[iterations - 1]

    def end(self, trips: int) -> list[Stmt]:
        """Carry what waits; the stores of what is in flight after the last iteration."""
        stores: list[Stmt] = []
        for array, versions in self.versions.items():
            for version, following in zip(versions[1:], [*versions[2:], None]):
                if following is not None:
                    self.waited(version, following.lead - version.lead)
            for version in versions:
                waiting = self.waiting.get(version)
                if not waiting:
                    continue
                before = version.member is None
                value = self.load(array, version.lead, None) if before else self.values[version]
                for k, phi in enumerate(waiting, 1):
                    start = Var(array.kind)
                    (self.first if before else self.start_values).append(
                        ir.Load(start, array, self.start - k - version.lead)
                    )
                    self.carried.append((phi, start, value))
                    value = phi
                    last = version is versions[-1]
                    if not before and (self.delayed if last and array not in self.kept else not last):
                        stores.append(ir.Store(array, trips - k - version.lead, phi))
        return stores
