"""A loop over basis directions around a kernel, and what such a loop need not repeat."""

from __future__ import annotations

from .. import ir
from ..differentiation.activity import empty, may_reach
from ..inputs import IMAGINARY, source_of
from ..ir import BOOL, FLOAT, INT, Array, Stack, Stmt, Var
from ..passes.dead_code import without_dead_code
from ..passes.invariant_arrays import invariant_arrays
from ..passes.invariant_values import invariant_values
from ..passes.statements import everything
from ..passes.zero_rows import skip_zero_rows
from ..symbols.build import Builder
from ..symbols.symbol import Sym, raw
from .construct import Lowered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


def count(shape: tuple[int, ...]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


class Sources:
    """The sources that a result depends on, or may if they had elements, as one flat vector of `total` elements.

    A complex source counts as two, unless `real` says that directions along the real axis are enough.
    """

    def __init__(self, lowered: Lowered, result: Any, real: bool = False) -> None:
        reaching = {
            source_of(part) for part, x in lowered.targets.items() if empty(x) or may_reach(lowered.kernel, x, result)
        }
        self.names = [
            part for part in lowered.targets if source_of(part) in reaching and not (real and part.endswith(IMAGINARY))
        ]
        self.targets = [lowered.targets[name] for name in self.names]
        self.sizes = [x.size if x.__class__ is Array else 1 for x in self.targets]
        self.offsets = [sum(self.sizes[:k]) for k in range(len(self.sizes))]
        self.total = sum(self.sizes)

    def seeds(self, lanes: int) -> dict[Any, Any]:
        """Variables and arrays for the tangents of the sources."""
        found: dict[Any, Any] = {}
        for x in self.targets:
            if x.__class__ is Array:
                found[x] = Array(FLOAT, x.shape if lanes == 1 else (*x.shape, lanes), "da", "input")
            else:
                found[x] = [Var(FLOAT, "d") for _ in range(lanes)]
        return found


class Directions:
    """A loop over the basis directions of the sources, `lanes` at a time, around a kernel."""

    def __init__(
        self, lowered: Lowered, sources: Sources, seeds: dict[Any, Any], lanes: int, kept: list[Any], flags: list[Any]
    ) -> None:
        self.sources = sources
        self.seeds = seeds
        self.lanes = lanes
        self.kept = kept
        self.flags = flags

    def kernel(
        self, parameters: list[Any], primal: list[Stmt], body: list[Stmt], tables: list[Array],
        collect: Callable[[Builder, Any], None], read: Sequence[Any],
    ) -> ir.Kernel:  # fmt: skip
        """The whole kernel: results are what is kept, the tables that `collect` fills, and the flags.

        `body` is `primal` with the tangents. `collect` reads the operands in `read` after each pass; where one of them
        is None, the tables have zeros in its place.
        """
        flat: list[Any] = []
        for x in self.seeds.values():
            flat.extend([x] if x.__class__ is Array else x)
        wanted = [x for group in read for x in (group if group.__class__ is list else [group]) if x is not None]
        trips = -(-self.sources.total // self.lanes)
        results = [*self.kept, *wanted, *self.flags]
        made: list[Stmt] = []
        kept = self.kept
        if trips > 1:
            made, body, numbers = invariant_arrays(parameters + flat, primal, body, self.kept, self.flags, wanted)
            kept = [numbers.get(x, x) for x in kept]
            results = [x for x in results if x not in numbers]
        ready = [s.array for s in made if s.__class__ is ir.Alloc]
        inner = without_dead_code(ir.Kernel(parameters + flat + ready, body, results))
        invariant, inside = split(inner.body, set(flat), set(self.flags))
        moving = defined(inside) | {x for x in flat if x.__class__ is Array}
        finite, inside = skip_zero_rows(inside, moving)
        stored: list[Stmt] = []
        if trips > 1:
            stored, inside = invariant_values(inside, set(flat), things)
        before = made + invariant + finite + stored
        builder = Builder()
        index = Var(INT, "i")
        builder.ranges[index] = (0, trips - 1)
        block: list[Stmt] = [ir.Alloc(x, any(x is None for x in read)) for x in tables]
        block += [ir.Alloc(x, True) for x in self.flags]
        known = defined(before) | set(parameters)
        given: list[Any] = []
        exports: list[tuple[Any, Array]] = []
        for x in kept:
            if x.__class__ not in (Var, Array) or x in known:
                given.append(x)
                continue
            out = Array(x.kind, x.shape if x.__class__ is Array else (1,), "a")
            block.append(ir.Alloc(out, False))
            exports.append((x, out))
            given.append(out)

        def one_pass() -> None:
            direction = builder.integer("multiply", Sym(builder, index), self.lanes)
            self.seed(builder, direction)
            builder.block.extend(inside)
            for x, out in exports:
                store_lane(builder, out, 0, x if x.__class__ is Array else [x], out.size, 0, 1, x.__class__ is Array)
            collect(builder, direction)

        loop_body, _ = builder.nested(one_pass)
        loop = ir.Loop(index, 0, trips, 1, None, None, [], loop_body, None, {}, Var(INT, "t"), None)
        return ir.Kernel(parameters, [*block, *before, loop], [*given, *tables, *self.flags])

    def seed(self, builder: Builder, direction: Any) -> None:
        """The basis directions from `direction` on, as the tangents of the sources."""
        lanes = self.lanes
        for x, offset, size in zip(self.sources.targets, self.sources.offsets, self.sources.sizes):
            seeds = self.seeds[x]
            if x.__class__ is Var:
                for lane, var in enumerate(seeds):
                    chosen = builder.emit("equal", (direction, offset - lane), BOOL)
                    builder.append(ir.Set(var, "where_select", (chosen.var, 1.0, 0.0), None, None))
                continue
            builder.append(ir.Alloc(seeds, True))
            for lane in range(lanes):
                place = builder.integer("add", direction, lane - offset)

                def one(place: Any = place, lane: int = lane, seeds: Array = seeds) -> None:
                    at = builder.integer("add", builder.integer("multiply", place, lanes), lane)
                    builder.append(ir.Store(seeds, at.var if at.__class__ is Sym else at, 1.0))

                low = builder.emit("greater_equal", (place, 0), BOOL)
                high = builder.emit("less", (place, size), BOOL)
                both = builder.emit("logical_and", (low, high), BOOL)
                builder.append(ir.If(both.var, builder.nested(one)[0], [], []))


def within(builder: Builder, direction: Any, lane: int, lanes: int, total: int, run: Callable[[], None]) -> None:
    """Run for a lane whose direction exists: the last pass may have fewer."""
    if total % lanes == 0 or lane == 0:
        run()
        return
    exists = builder.emit("less", (direction, total - lane), BOOL)
    builder.append(ir.If(exists.var, builder.nested(run)[0], [], []))


def store_lane(
    builder: Builder, table: Array, place: Any, source: Any, size: int, lane: int, lanes: int, is_array: bool
) -> None:
    """Store the elements of one lane of `source`, an array or a list of variables, in a table from `place` on."""
    if not is_array:
        builder.append(ir.Store(table, raw(place), source[lane]))
        return

    def one(i: Sym) -> None:
        at = builder.integer("add", builder.integer("multiply", i, lanes), lane)
        x = Var(table.kind, "x")
        builder.append(ir.Load(x, source, raw(at)))
        builder.append(ir.Store(table, raw(builder.integer("add", place, i)), x))

    builder.count(size, one)


def beside(
    builder: Builder, table: Array, row: int, width: int, column: Any, source: Any, size: int, lanes: int,
    chosen: Sequence[int], is_array: bool,
) -> None:  # fmt: skip
    """Store the `chosen` lanes of `source`, an array or a list of variables, one beside the other from `column` on in
    the rows of a table from `row` on. An element of -0.0 becomes 0.0."""

    def one(i: Any) -> None:
        start = builder.integer("add", builder.integer("multiply", builder.integer("add", i, row), width), column)
        for lane in chosen:
            x, positive = Var(table.kind, "x"), Var(table.kind, "x")
            if is_array:
                at = builder.integer("add", builder.integer("multiply", i, lanes), lane)
                builder.append(ir.Load(x, source, raw(at)))
            builder.append(ir.Set(positive, "add", (x if is_array else source[lane], 0.0), None, None))
            builder.append(ir.Store(table, raw(builder.integer("add", start, lane)), positive))

    if is_array:
        builder.count(size, one)
    else:
        one(0)


# --- what does not depend on the direction ----------------------------------------------------------------------------


def things(x: Any) -> Iterator[Any]:
    """The variables, arrays and heads in a statement, a list or an operand."""
    if x.__class__ in (Var, Array, Stack):
        yield x
    elif isinstance(x, Stmt):
        for name in x.__slots__:
            if name not in ("site", "attributes", "op"):
                yield from things(getattr(x, name))
    elif x.__class__ in (list, tuple):
        for item in x:
            yield from things(item)
    elif x.__class__ is dict:
        for key, value in x.items():
            yield from things(key)
            yield from things(value)


def defined(block: list[Stmt]) -> set[Any]:
    """What statements define or change, inside them too."""
    found: set[Any] = set()
    for s in everything(block):
        if isinstance(s, ir.Set | ir.Load | ir.Accumulate | ir.Mark):
            found.add(s.var)
        elif s.__class__ is ir.Loop:
            found.update([*(phi for phi, _, _ in s.carried), *s.stacks.values(), s.trips])
        elif s.__class__ is ir.ReverseLoop:
            found.update(phi for phi, _ in s.restore)
        elif s.__class__ is ir.If:
            found.update(var for var, _, _ in s.merges)
        elif s.__class__ is ir.Region:
            found.update(s.results)
        elif s.__class__ is not ir.Check:
            found.add(s.array)
    return found


def split(block: list[Stmt], roots: set[Any], flags: set[Any]) -> tuple[list[Stmt], list[Stmt]]:
    """The statements that need nothing of `roots`, and those that do; the allocation of the flags is neither."""
    statements = [s for s in block if not (s.__class__ is ir.Alloc and s.array in flags)]
    mentioned = [set(things(s)) - flags for s in statements]
    written = [defined([s]) - flags for s in statements]
    variant = set(roots)
    chosen = [False] * len(statements)
    settled = False
    while not settled:
        settled = True
        for k in range(len(statements)):
            if not chosen[k] and not variant.isdisjoint(mentioned[k]):
                chosen[k] = True
                variant |= written[k]
                settled = False
    before = [s for s, inside in zip(statements, chosen) if not inside]
    return before, [s for s, inside in zip(statements, chosen) if inside]
