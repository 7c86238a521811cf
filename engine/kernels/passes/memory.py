"""Copy coalescing and dead-store elimination: arrays that are but copies of others, and stores that nothing reads.

The reverse sweep moves the cotangents of whole arrays: those that a loop carries are taken over, element by element, and
zeros put in their place. Where nothing reads the zeros they are not stored, and an array that takes over all of another
that nobody needs any more is that other array. This looks at the order of the statements, which dead_code.py does not.
"""

from __future__ import annotations

from .. import ir
from ..ir import INT, Array, Stmt, Var
from .code_motion import hoisted
from .dependence import static_range
from .fuse import fused
from .statements import arrays_of, constant_variables, everything, inside, outliving, with_arguments, with_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def settled(kernel: ir.Kernel) -> ir.Kernel:
    """The same kernel with fewer stores, copies and arrays."""
    noted = {s.array for s in everything(kernel.body) if isinstance(s, ir.Keep | ir.TakeBack | ir.Rewind | ir.OpenLog)}
    results = {r for r in kernel.results if r.__class__ is Array}
    memory = Memory(noted, results, constant_variables(kernel.body), outliving(kernel.body))
    body = memory.block(memory.joined(kernel.body), set(memory.results))
    body = memory.taken_over(body)
    return ir.Kernel(kernel.parameters, body, [memory.names.get(r, r) for r in kernel.results])


def reads(s: Stmt) -> set[Array]:
    """The arrays that a statement reads, inside it too."""
    found: set[Any] = set()
    for inner in inside(s):
        if isinstance(inner, ir.Load | ir.AddTo | ir.Keep | ir.TakeBack | ir.Rewind | ir.Mark | ir.OpenLog):
            found.add(inner.array)
        elif inner.__class__ is ir.Routine:
            found.add(inner.value)
        elif inner.__class__ is ir.Loop:
            found.update(x for x in inner.stacks if x.__class__ is Array)
        elif inner.__class__ is ir.ReverseLoop:
            found.update(x for x, _ in inner.restore if x.__class__ is Array)
    return found


def plain_loop(s: Any) -> bool:
    """Whether a loop goes through elements, and does nothing but loads, stores and what is between."""
    return through_elements(s) and not s.carried


def through_elements(s: Any) -> bool:
    """The same of a loop that may hand something on."""
    return (
        s.__class__ is ir.Loop and static_range(s) is not None and s.stop_when is None
        and all(inner.__class__ in (ir.Set, ir.Load, ir.Store, ir.AddTo, ir.Accumulate) for inner in s.body)
    )  # fmt: skip


def fills(s: Any, array: Array) -> bool:
    """Whether a plain loop stores in every element of an array, and reads none before it."""
    if not plain_loop(s) or static_range(s) != (0, array.size - 1):
        return False
    places = [inner for inner in s.body if getattr(inner, "array", None) is array]
    return places[0].__class__ is ir.Store and all(inner.index is s.index for inner in places)


def array_copy(s: Any) -> tuple[Array, Array] | None:
    """(source, target) of a loop that copies a whole array and does nothing else."""
    if not plain_loop(s) or len(s.body) != 2:
        return None
    load, store = s.body
    if load.__class__ is not ir.Load or store.__class__ is not ir.Store or store.value is not load.var:
        return None
    source, target = load.array, store.array
    whole = load.index is s.index and store.index is s.index and static_range(s) == (0, source.size - 1)
    return (source, target) if whole and source.size == target.size and source.kind == target.kind else None


class Memory:
    """What is known of a kernel's arrays: those with a log of what was overwritten, the results, and those that are touched
    outside the block that makes them."""

    def __init__(self, noted: set[Any], results: set[Any], constant: set[Var], outliving: set[Any]) -> None:
        self.noted = noted
        self.results = results
        self.constant = constant
        self.outliving = outliving
        self.names: dict[Any, Any] = {}

    # --- elements -----------------------------------------------------------------------------------------------------

    def joined(self, block: list[Stmt]) -> list[Stmt]:
        """Loops over one range as one, with what they hand to each other in variables."""
        counted = {s.trips: s for s in everything(block) if s.__class__ is ir.Loop}
        joined = [self.forwarded(s) for s in fused(hoisted(block, {}, {}), {}, {}, frozenset())]
        for s in everything(joined):
            if s.__class__ is ir.Loop:
                counted.pop(s.trips, None)
        return recounted(joined, counted) if counted else joined

    def forwarded(self, s: Stmt) -> Stmt:
        if not through_elements(s):
            return with_blocks(s, lambda inner: [self.forwarded(x) for x in inner])
        body = s.body  # type: ignore[attr-defined]
        alias: dict[Any, Any] = {}
        for _ in range(2):  # a store that is overwritten may have hidden one of what is there
            body = self.elements(body, alias)
        carried = []
        for phi, start, following in s.carried:  # type: ignore[attr-defined]
            while following.__class__ is Var and following in alias:
                following = alias[following]
            carried.append((phi, start, following))
        return s.replace(body=body, carried=carried)

    def elements(self, body: list[Stmt], alias: dict[Any, Any]) -> list[Stmt]:
        """The body of a loop over elements that loads nothing that it holds, and stores nothing twice; `alias` is told
        what stands for a variable that it need not set."""
        held: dict[tuple[Array, Any], Any] = {}  # what is in memory at a place
        changing: dict[tuple[Array, Any], Var] = {}  # the same, of variables that may change
        stored: dict[tuple[Array, Any], int] = {}  # by which statement, if nothing has read it since
        places: dict[Any, Var] = {}  # integers by what they are computed of
        found: list[Any] = []

        def new(x: Any) -> Any:
            return alias.get(x, x) if x.__class__ is Var else x

        for s in body:
            if isinstance(s, ir.Set | ir.Accumulate):
                changing = {place: x for place, x in changing.items() if x is not s.var}
            if s.__class__ is ir.Set:
                s = with_arguments(s, tuple(map(new, s.args)))
                if s.var.kind == INT and s.op in ("add", "subtract", "multiply") and s.var in self.constant:
                    known = places.setdefault((s.op, s.args), s.var)
                    if known is not s.var:
                        alias[s.var] = known
                        continue
                found.append(s)
                continue
            if s.__class__ is ir.Accumulate:
                found.append(ir.Accumulate(s.var, new(s.value)))
                continue
            array, index = s.array, new(s.index)  # type: ignore[attr-defined]
            place = (array, index)
            if s.__class__ is ir.Load:
                if place in held:
                    alias[s.var] = held[place]
                    continue
                if place in changing:
                    found.append(ir.Set(s.var, "copy", (changing[place],), None, None))
                    continue
                stored.pop(place, None)
                forget(stored, array, place)
                if s.var in self.constant:
                    held[place] = s.var
                found.append(ir.Load(s.var, array, index))
                continue
            value = new(s.value)  # type: ignore[attr-defined]
            add = s.__class__ is ir.AddTo
            if add and held.get(place).__class__ is float and held[place] == 0.0:
                add = False
            for memo in (held, changing, stored):
                forget(memo, array, place)
            changing.pop(place, None)
            if add:
                held.pop(place, None)
                stored.pop(place, None)
                found.append(ir.AddTo(array, index, value))
                continue
            if place in held and held[place] is value:
                continue
            if place in stored:
                found[stored[place]] = None
            held.pop(place, None)
            if value.__class__ is not Var or value in self.constant:
                held[place] = value
            else:
                changing[place] = value
            stored[place] = len(found)
            found.append(ir.Store(array, index, value))
        return [s for s in found if s is not None]

    # --- what nothing reads -------------------------------------------------------------------------------------------

    def block(self, block: list[Stmt], needed: set[Any]) -> list[Stmt]:
        """A block without stores that nothing reads; `needed` are the arrays that are read after it, and is updated to
        those that are read from its beginning on."""
        kept: list[Stmt] = []
        for s in reversed(block):
            if s.__class__ is ir.Store and s.array not in needed and s.array not in self.noted:
                continue
            if plain_loop(s):
                s = self.without_last_stores(s, needed)
                filled = [array for array in arrays_of([s]) if fills(s, array)]
                needed.difference_update(filled)
                needed |= reads(s) - set(filled)
            elif isinstance(s, ir.Loop | ir.ReverseLoop):
                again = needed | reads(s)
                needed |= again
                s = with_blocks(s, lambda inner, again=again: self.iteration(inner, again))
            elif s.__class__ is ir.If:
                sides = [set(needed), set(needed)]
                s = ir.If(s.condition, self.block(s.then, sides[0]), self.block(s.orelse, sides[1]), s.merges)
                needed |= sides[0] | sides[1]
            elif s.__class__ is ir.Alloc:
                needed.discard(s.array)
            else:
                needed |= reads(s)
            kept.append(s)
        return kept[::-1]

    def iteration(self, block: list[Stmt], again: set[Any]) -> list[Stmt]:
        """The body of a loop: at its end the next iteration's reads come, but not of what it takes the memory for."""
        made = {s.array for s in block if s.__class__ is ir.Alloc}
        return self.block(block, again - made)

    def without_last_stores(self, s: Any, needed: set[Any]) -> Stmt:
        """A loop over elements without the stores that neither it nor what follows reads."""
        body = list(s.body)
        for array in {x.array for x in body if x.__class__ is ir.Store} - needed - self.noted:
            places = [k for k, x in enumerate(body) if getattr(x, "array", None) is array]
            if any(body[k].__class__ is ir.AddTo or body[k].index is not s.index for k in places):
                continue
            last = max((k for k in places if body[k].__class__ is ir.Load), default=-1)
            body = [x for k, x in enumerate(body) if not (k > last and k in places)]
        return s.replace(body=body)  # type: ignore[no-any-return]

    # --- copies -------------------------------------------------------------------------------------------------------

    def taken_over(self, block: list[Stmt]) -> list[Stmt]:
        """A block in which an array that takes over another one, which nothing needs any more, is the other."""
        found: list[Stmt] = []
        made = {s.array for s in block if s.__class__ is ir.Alloc}
        for k, s in enumerate(block):
            pair = array_copy(s)
            if pair is not None:
                source, target = (self.names.get(x, x) for x in pair)
                if self.may_be_one(source, target, made, found, block[k + 1 :], pair[0]):
                    self.names[pair[1]] = source
                    found = [x for x in found if not (x.__class__ is ir.Alloc and x.array is target)]
                    found.append(s.replace(body=[]))  # others may count by it
                    continue
            found.append(self.renamed(with_blocks(s, self.taken_over)))
        return found

    def may_be_one(
        self, source: Any, target: Any, made: set[Any], before: list[Stmt], after: list[Stmt], name: Any
    ) -> bool:
        """Whether the target, made in this block and not touched before, may live where the source does, made here too."""
        return (
            target in made and source in made and not {source, target} & self.noted
            and not ({source, target} <= self.results) and source is not target and name not in self.outliving
            and not any(target in arrays_of([s]) for s in before if s.__class__ is not ir.Alloc)
            and not any(name in touched(s) or source in touched(s) for s in after) and source not in self.results
        )  # fmt: skip

    def renamed(self, s: Stmt) -> Stmt:
        """A statement that names arrays by what they are now."""
        if not self.names:
            return s
        s = with_blocks(s, lambda inner: [self.renamed(x) for x in inner])

        def new(x: Any) -> Any:
            return self.names.get(x, x)

        if s.__class__ is ir.Loop:
            return s.replace(stacks={new(x): stack for x, stack in s.stacks.items()})
        if s.__class__ is ir.ReverseLoop:
            restore = [(new(x), stack) for x, stack in s.restore]
            return s.replace(restore=restore)
        if s.__class__ is ir.Routine:
            return ir.Routine(new(s.array), 0, new(s.value), s.name, s.rows, s.columns)
        if getattr(s, "array", None) in self.names:
            return s.replace(array=new(s.array))  # type: ignore[attr-defined]
        return s


def recounted(block: list[Stmt], counted: dict[Var, Any]) -> list[Stmt]:
    """A block in which reverse loops find their number of iterations, though the loops that counted it are in others."""
    found: list[Stmt] = []
    for s in block:
        if s.__class__ is ir.ReverseLoop and s.trips in counted:
            found.append(counted[s.trips].replace(index=Var(ir.INT, "i"), body=[], carried=[], stacks={}))
        found.append(with_blocks(s, lambda inner: recounted(inner, counted)))
    return found


def forget(known: Any, array: Array, place: Any) -> None:
    """Other places of an array may be the same element."""
    for other in [other for other in known if other[0] is array and other != place]:
        del known[other]


def touched(s: Stmt) -> set[Any]:
    """The arrays that a statement names, inside it too."""
    return arrays_of([s]) | reads(s)
