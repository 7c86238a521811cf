"""Outer-loop vectorisation: short sums, one for each row of an array, as many at a time as a vector holds.

    for j in range(k):                          for j in range(k):
        s = 0.0                                     s = 0.0
        for c in range(d):               =>         for c in range(d):
            s = s + (x[c] - y[j*d + c])**2              s = s + (x[c] - turned[c*k + j])**2
        ...                                         sums[j] = s
                                                for j in range(k):
                                                    ... sums[j]

Each sum is added up in its order, so that no vector can hold its terms; but the sums of neighbouring rows do not depend on
each other. Where that happens again and again, in a loop of the program around it, the array is turned before that loop,
and the sums are found before what is made of them. Longer sums are added up in parts, each short enough for the compiler
behind to write out (Nuzman and Zaks, Outer-loop vectorization, PACT 2008).
"""

from __future__ import annotations

from .. import ir
from ..ir import FLOAT, INT, Array, Stmt, Var
from .cloning import cloned, defined_in, renewed
from .dependence import affine, follow, span, static_range
from .parallel_loops import SHORT
from .polls import CHEAP
from .statements import arrays_named, changes, everything, mentions, operands, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dependence import Affine

# So many rows fill a vector, and so often must they be gone through to be worth their turning.
LEAST_ROWS, LEAST_TIMES = 8, 8
# The longest sum that LLVM writes out (compilation/native.py).
PART = 16
# Elements that a kernel turns, and sums that it holds, at most: 2 MiB, which is little beside any limit on memory.
MOST = 1 << 18
# Loops over rows that a kernel parts so at most: what is written out takes the compiler behind its time.
MOST_PARTED = 8
# What vectors compute as well as numbers.
ON_VECTORS = CHEAP | {"divide", "reciprocal", "sqrt"}
# The roles of arrays whose elements are all there from the first on.
STEADY = frozenset(("input", "local", "updated", "overwritten", "constant"))
# Rows of elements that are as far apart as pages compete for one place in the cache.
PAGE, BESIDE = 512, 8


def outer_vectorised(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel, with such sums beside each other."""
    counted = {s.trips for s in everything(kernel.body) if s.__class__ is ir.ReverseLoop}
    parameters = {x for x in kernel.parameters if x.__class__ is Array}
    room = [MOST, MOST_PARTED]
    return ir.Kernel(kernel.parameters, rows_abreast(kernel.body, [], parameters, counted, room), kernel.results)


class Around:
    """A loop around: what is to stand before it, the arrays that are there by then, and those that it writes in."""

    def __init__(self, s: Stmt, known: set[Any]) -> None:
        self.before: list[Stmt] = []
        self.known = known
        self.written = written_in([s])
        bounds = static_range(s) if s.__class__ is ir.Loop else None
        # A loop that nobody can count is taken to run often enough: turning costs no more than going through the rows once.
        self.times = bounds[1] - bounds[0] + 1 if bounds else LEAST_TIMES
        self.turned: dict[Any, Array] = {}


def written_in(block: list[Stmt]) -> set[Any]:
    """The arrays that statements do more with than read an element."""
    return {x for s in everything(block) if s.__class__ is not ir.Load for x in arrays_named(s)}


def rows_abreast(
    block: list[Stmt], around: list[Around], known: set[Any], counted: set[Any], room: list[int]
) -> list[Stmt]:
    """The same block; `around` are the loops that it runs in, each time that they run. `counted` are the trips that other
    loops go back through, and `room` has the elements that are left, and the loops."""
    known = set(known)
    found: list[Stmt] = []
    for s in block:
        if isinstance(s, ir.Alloc | ir.Constant):
            known.add(s.array)
        if s.__class__ is ir.Loop and s.own:
            sums = Sums.of(s, around, counted, room)
            while sums is not None:
                found += sums.apart
                s = sums.rest
                sums = Sums.of(s, around, counted, room)
        if s.__class__ is ir.ReverseLoop or (s.__class__ is ir.Loop and s.own):
            here = Around(s, known)
            s = with_blocks(s, lambda inner, here=here: rows_abreast(inner, [*around, here], known, counted, room))
            found += here.before
        elif s.__class__ is ir.If:
            # Nobody knows how often it comes to that.
            s = with_blocks(s, lambda inner: rows_abreast(inner, [], known, counted, room))
        found.append(s)
    return found


class Sums:
    """A loop over rows in two: `apart` finds the sums, `rest` does what the loop does with them."""

    def __init__(self, apart: list[Stmt], rest: ir.Loop) -> None:
        self.apart = apart
        self.rest = rest

    @classmethod
    def of(cls, rows: ir.Loop, around: list[Around], counted: set[Any], room: list[int]) -> Sums | None:
        """None for a loop that has no such sums."""
        bounds = static_range(rows)
        if not around or not bounds or bounds[0] != 0 or bounds[1] + 1 < LEAST_ROWS or rows.stop_when is not None:
            return None
        for place, s in enumerate(rows.body):
            if s.__class__ is ir.Loop and s.trips not in counted and adds_up(s):
                made = _Parting(rows, place, s, around, room).made()
                if made is not None:
                    return made
        return None


def adds_up(s: ir.Loop) -> bool:
    """Whether a loop of known length does nothing but add up numbers."""
    return (
        static_range(s) is not None and s.stop_when is None and not s.stacks and bool(s.carried)
        and all(phi.kind == FLOAT for phi, _, _ in s.carried)
        and all(inner.__class__ is ir.Load or (inner.__class__ is ir.Set and on_vectors(inner)) for inner in s.body)
    )  # fmt: skip


def on_vectors(s: ir.Set) -> bool:
    return s.op in ON_VECTORS or (s.op == "power" and s.args[1].__class__ is int and s.args[1] == 2)


class _Parting:
    """The work of it: `sums` is the statement at a place of the loop `rows`."""

    def __init__(self, rows: ir.Loop, place: int, sums: ir.Loop, around: list[Around], room: list[int]) -> None:
        assert rows.index is not None
        assert sums.index is not None
        self.rows, self.place, self.sums, self.around, self.room = rows, place, sums, around, room
        self.row: Var = rows.index
        self.term: Var = sums.index
        self.count: int = rows.stop
        self.first, self.length = sums.start, sums.stop - sums.start

    def made(self) -> Sums | None:
        before = self.needed()
        if before is None:
            return None
        places = self.places(before)
        if places is None:
            return None
        wanted = [self.before_which(load.array, place) for load, place in places]
        steps = [(place.get(self.row, 0), place.get(self.term, 0), place.get(None, 0)) for _, place in places]
        width = self.count + (BESIDE if self.count % PAGE == 0 else 0)
        elements = len(places) * width * self.length + len(self.sums.carried) * self.count
        if None in wanted or elements > self.room[0] or not self.room[1]:
            return None
        self.room[0] -= elements
        self.room[1] -= 1
        turned = {
            id(load): self.turned(loop, load.array, by, width)
            for (load, _), loop, by in zip(places, wanted, steps)
            if loop is not None
        }
        kept = [Array(FLOAT, (self.count,)) for _ in self.sums.carried]
        allocs: list[Stmt] = [ir.Alloc(array, False) for array in kept]
        if self.count > SHORT:
            self.around[0].before += allocs
            allocs = []  # short ones are each iteration's own: cores may have it
        loads = [ir.Load(phi, array, self.row) for (phi, _, _), array in zip(self.sums.carried, kept)]
        body = self.rows.body
        rest = self.rows.replace(body=[*body[: self.place], *loads, *body[self.place + 1 :]])
        return Sums([*allocs, *self.parts(before, turned, kept)], rest)

    def needed(self) -> list[Stmt] | None:
        """What a row computes before its sums for them; None where that is no plain arithmetic, where a row has it from
        another, or where an index is checked first, for what is loaded after that."""
        body = self.rows.body
        if any(s.__class__ is ir.Check for s in everything(body[: self.place])):
            return None
        others = [s for k, s in enumerate(body) if k != self.place]
        inside = {x for s in self.sums.body for x in changes(s)}
        if any(mentions(s, x) for s in others for x in inside):
            return None
        makers: dict[Any, Any] = {}
        for k, s in enumerate(others):
            for x in changes(s):
                early = k < self.place and (s.__class__ is ir.Load or (s.__class__ is ir.Set and on_vectors(s)))
                makers[x] = s if early and x not in makers else None
        for phi, _, _ in self.rows.carried:
            makers[phi] = None
        found: set[int] = set()
        pending = [x for s in self.sums.body for x in operands(s)]
        pending += [x for _, *handed in self.sums.carried for x in handed]
        while pending:
            x = pending.pop()
            if x.__class__ is not Var or x not in makers:
                continue
            maker = makers[x]
            if maker is None:
                return None
            if id(maker) not in found:
                found.add(id(maker))
                pending += operands(maker)
        before = [s for s in others if id(s) in found]
        written = written_in(body)
        if any(s.__class__ is ir.Load and s.array in written for s in [*before, *self.sums.body]):
            return None
        return before

    def places(self, before: list[Stmt]) -> list[tuple[ir.Load, Affine]] | None:
        """The loads from rows, and where; None where there are none, or not all are from places in a row."""
        known: dict[Var, Affine] = {}
        found = []
        depends = {self.row}
        for s in [*before, *self.sums.body]:
            if s.__class__ is ir.Set:
                follow(s, known)
                if not depends.isdisjoint(operands(s)):
                    depends.add(s.var)
            elif s.__class__ is ir.Load and s.index in depends:
                depends.add(s.var)
                place = {var: n for var, n in affine(s.index, known).items() if n or var is None}
                if s.array.kind != FLOAT or not place.keys() <= {self.row, self.term, None}:
                    return None
                if place.get(self.row) != 1:
                    found.append((s, place))
        inner = {id(s) for s in self.sums.body}
        return found if found and all(id(s) in inner for s, _ in found) else None

    def before_which(self, array: Array, place: Affine) -> Around | None:
        """The loop before which the rows of an array are turned; None where the loops around write in the array or do not
        run often enough, or where it may not have all that the rows would read."""
        times = 1
        outermost: Around | None = None
        for each in reversed(self.around):
            if array in each.written or array not in each.known:
                break
            times *= each.times
            outermost = each
        bounds = span(place, {self.row: (0, self.count - 1), self.term: (self.first, self.first + self.length - 1)})
        there = array.role in STEADY and bounds is not None and bounds[0] >= 0 and bounds[1] < array.size
        return outermost if there and times >= LEAST_TIMES else None

    def turned(self, loop: Around, array: Array, steps: tuple[int, int, int], width: int) -> Array:
        """The elements that the sums read of an array, those of one term beside each other."""
        key = array, steps, self.first, self.length, width
        if key not in loop.turned:
            loop.turned[key] = Array(FLOAT, (self.length, width))
            loop.before += [ir.Alloc(loop.turned[key], False), self.turning(array, steps, loop.turned[key], width)]
        return loop.turned[key]

    def turning(self, array: Array, steps: tuple[int, int, int], result: Array, width: int) -> Stmt:
        row, term, value = Var(INT, "i"), Var(INT, "i"), Var(FLOAT, "x")
        by_row, by_term, first = steps
        body: list[Stmt] = []
        source = place_of([(row, by_row), (term, by_term)], first + by_term * self.first, body)
        body.append(ir.Load(value, array, source))
        body.append(ir.Store(result, place_of([(term, width), (row, 1)], 0, body), value))
        return counted_loop(term, self.length, [counted_loop(row, self.count, body)])

    def parts(self, before: list[Stmt], turned: dict[int, Array], kept: list[Array]) -> list[Stmt]:
        """The sums of all rows, part after part."""
        parts: list[Stmt] = [self.part(before, turned, kept, 0, min(self.length, PART))]
        whole, last = divmod(self.length, PART)
        if whole > 1:
            number, first = Var(INT, "i"), Var(INT)
            steps: list[Stmt] = [ir.Set(first, "multiply", (number, PART), None, None)]
            again = self.part(before, turned, kept, first, PART)
            parts.append(counted_loop(number, whole, [*steps, again], start=1))
        if whole and last:
            parts.append(self.part(before, turned, kept, whole * PART, last))
        return parts

    def part(
        self, before: list[Stmt], turned: dict[int, Array], kept: list[Array], first: Any, length: int
    ) -> Stmt:  # fmt: skip
        """One part of the sums of all rows: `length` terms from the `first` on."""
        names: dict[Any, Any] = {x: renewed(x) for x in defined_in([*before, self.sums])}
        row, term = Var(INT, "i"), Var(INT, "i")
        names[self.row] = row
        body: list[Stmt] = [cloned(s, names) for s in before]
        carried = []
        for (phi, initial, following), array in zip(self.sums.carried, kept):
            if first.__class__ is int and first == 0:
                start = cloned(initial, names)
            else:
                start = Var(FLOAT, "x")
                body.append(ir.Load(start, array, row))
            carried.append((names[phi], start, cloned(following, names)))
        terms: list[Stmt] = []
        count = place_of([(term, 1)], first, terms)  # of the terms from the sum's first on
        names[self.term] = place_of([(count, 1)], self.first, terms)
        for s in self.sums.body:
            beside = turned.get(id(s))
            if beside is None:
                terms.append(cloned(s, names))
            else:
                index = place_of([(count, beside.shape[1]), (row, 1)], 0, terms)
                terms.append(ir.Load(names[s.var], beside, index))  # type: ignore[attr-defined]
        body.append(self.sums.replace(
            index=term, start=0, stop=length, carried=carried, body=terms, trips=Var(INT, "t"), stacks={},
        ))  # fmt: skip
        body += [ir.Store(array, row, names[phi]) for (phi, _, _), array in zip(self.sums.carried, kept)]
        return counted_loop(row, self.count, body)


def counted_loop(index: Var, stop: int, body: list[Stmt], start: int = 0) -> ir.Loop:
    return ir.Loop(index, start, stop, 1, None, None, [], body, None, {}, Var(INT, "t"), None)


def place_of(steps: list[tuple[Var, int]], first: Any, block: list[Stmt]) -> Any:
    """A sum of multiples of variables and a number or variable, computed by statements appended to a block."""
    total: Any = first if first.__class__ is Var or first else None
    for var, step in steps:
        if not step:
            continue
        term = var
        if step != 1:
            term = Var(INT)
            block.append(ir.Set(term, "multiply", (var, step), None, None))
        if total is None:
            total = term
        else:
            added = Var(INT)
            block.append(ir.Set(added, "add", (term, total), None, None))
            total = added
    return 0 if total is None else total
