"""Which arrays are computed together: lazy arrays, and groups of what must be computed over one shape.

An array that element-wise rows and views make is not computed where it is defined, but where it is needed (`lazy`). What must
be computed (a `root`: a reduction, an update, a store) joins the open group of its shape; a group becomes one nest of loops
when one of its results is needed.
"""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ..ir import Apply, Var
from .code import Code, reads
from .memory import VIEWS, Buffer, Ref, view
from .nest import Nest
from .scalars import converted, cost, is_elementwise, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .memory import Shape

    Action = Callable[[Nest], None]
    # The memory that a root reads, and whether it reads it only at the index of the nest.
    Reading = dict[Buffer, bool]

# An element that costs no more than this is computed again rather than stored and loaded.
CHEAP = 5
# One that costs more is stored: trees of lazy arrays are walked by recursion.
LARGE = 100


class Group:
    """Roots over one shape that will be one nest of loops."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.roots: list[Action] = []
        self.results: list[Var] = []
        self.reads: Reading = {}
        self.writes: dict[Buffer, bool] = {}  # whether by stores whose order does not matter

    def conflicts(self, shape: Shape, reading: Reading, target: Buffer | None, commutes: bool) -> bool:
        """Whether a root must come after this group."""
        same = shape == self.shape
        if target in self.reads or target in self.writes:
            assert target is not None
            fine = self.writes.get(target) if commutes else self.reads.get(target)
            if not (same and fine) or target in (self.reads if commutes else self.writes):
                return True
        return any(b in self.writes and not (same and at and not self.writes[b]) for b, at in reading.items())


class Fusion(Code):
    # --- lazy arrays ------------------------------------------------------------------------------------------------

    def define(self, x: Var, stmt: Apply) -> None:
        """A lazy array."""
        self.lazy[x] = stmt
        self.state.lazies[x] = None
        inputs = [v for v in stmt.inputs if v.__class__ is Var and v.shape]
        self.costs[x] = cost(stmt.row) + sum(1 if v in self.refs else self.costs[v] for v in inputs)
        if stmt.row.name == "reshape" and x.size != 1:
            self.force(stmt.inputs[0])  # a reshape is another view of memory in row-major order
        if self.costs[x] > LARGE and not self.light(x):
            self.force(x)

    def light(self, x: Any) -> bool:
        """Whether a lazy array is a view of memory, or one number."""
        if x.__class__ is not Var or x in self.refs or not x.shape:
            return True
        return self.lazy[x].row.name in VIEWS and self.light(self.lazy[x].inputs[0])

    def force(self, x: Var) -> Ref:
        """Put a lazy array into memory."""
        if x not in self.refs:
            self.refs[x] = self.copied(x, (x,))
            self.state.lazies.pop(x, None)
        return self.refs[x]

    def copied(self, x: Var, results: tuple[Var, ...] = ()) -> Ref:
        """New memory for the elements of an array."""
        ref = Ref(self.buffer(x), x.shape)
        if not self.cleared(x, ref):
            self.store(x, ref, results)
        return ref

    def strided(self, x: Any) -> Ref:
        """Where an array, or what it is a view of, is in memory; it is put there if it is not."""
        stmt = self.lazy.get(x)
        if x in self.refs or stmt is None or stmt.row.name not in VIEWS or not getattr(stmt.inputs[0], "shape", ()):
            return self.force(x)
        return view(self.strided(stmt.inputs[0]), stmt.row.name, stmt.attributes, x.shape, self.place)

    def force_costly(self, x: Var, again: bool) -> None:
        """Store a lazy array that is not read in its order, if that saves work."""
        if not self.light(x) and self.costs[x] > CHEAP and (again or self.shared(x)):
            self.force(x)

    def in_memory(self, x: Any, kind: str) -> Ref:
        """Memory that holds an operand, finished and in elements of a kind."""
        if kind_of(x) != kind:
            given, x = x, Var(kind, x.shape)
            self.define(x, Apply((x,), OPERATORS.cast, (given,), {}, None))
        ref = self.force(x)
        self.settle(x)
        return ref

    def cleared(self, x: Any, ref: Ref) -> bool:
        """Fill memory with zeros, if that is what a lazy array is."""
        stmt: Any = None if x in self.refs else self.lazy.get(x)
        if stmt is None or stmt.row.name != "broadcast_to" or str(stmt.inputs[0]) not in ("0.0", "0", "False"):
            return False
        if not ref.whole:
            return False
        self.close_touching(ref.buffer)
        self.add(f"clear({ref.buffer.name}, {ref.buffer.size})")
        return True

    def store(self, x: Any, ref: Ref, results: tuple[Var, ...] = (), commutes: bool = False) -> None:
        """Let an array be written to memory, which is its own one if it is a result."""

        def action(nest: Nest) -> None:
            text, level = nest.element(x)
            nest.store(ref.element(nest.index), (converted(text, kind_of(x), ref.buffer.kind), level))

        self.join(ref.shape, [x], action, results, ref.buffer, commutes)

    # --- groups -----------------------------------------------------------------------------------------------------

    def settle(self, x: Any) -> None:
        if x in self.pending:
            self.close(self.pending[x])

    def close_all(self) -> None:
        for group in list(self.state.open.values()):
            self.close(group)

    def close_touching(self, buffer: Buffer) -> None:
        for group in list(self.state.open.values()):
            if buffer in group.reads or buffer in group.writes:
                self.close(group)

    def close(self, group: Group) -> None:
        """Write the nest of a group."""
        if self.state.open.get(group.shape) is not group:
            return
        del self.state.open[group.shape]
        nest = Nest(self, group.shape)
        for root in group.roots:
            root(nest)
        for x in group.results:
            del self.pending[x]
        for x, *at in reversed(list(nest.memo)):
            # What has been computed by the way, and will be read, is kept.
            if x.shape == group.shape and at == [nest.index] and x in self.live() and self.costs[x] > CHEAP:
                ref = self.refs[x] = Ref(self.buffer(x), x.shape)
                nest.store(ref.element(nest.index), nest.memo[x, nest.index])
                del self.state.lazies[x]
        nest.emit()

    def join(
        self, shape: Shape, values: list[Any], action: Action, results: tuple[Var, ...] = (),
        target: Buffer | None = None, commutes: bool = False, in_order: bool = True,
    ) -> None:  # fmt: skip
        """Let a root join the open group of its shape; groups that it conflicts with are closed before.

        It stores to the memory `target`; `commutes` says that it may do so in any order with others of the kind.
        """
        reading: Reading = {}
        for v in values:
            self.prepare(v, shape, reading, in_order)
        for group in list(self.state.open.values()):
            if group.conflicts(shape, reading, target, commutes):
                self.close(group)
        group = self.state.open.setdefault(shape, Group(shape))
        group.roots.append(action)
        group.results += results
        self.pending.update(dict.fromkeys(results, group))
        if target is not None:
            group.writes[target] = commutes
        for b, at in reading.items():
            group.reads[b] = group.reads.get(b, True) and at

    def prepare(self, x: Any, shape: Shape, reading: Reading, in_order: bool, seen: set[Any] | None = None) -> None:
        """Make an operand ready to be read in a nest over `shape`, and note what memory that reads.

        `in_order` says whether it is read at the index of the nest. What is costly and would be computed often is stored.
        """
        seen = set() if seen is None else seen
        if x.__class__ is not Var or (x, in_order) in seen:
            return
        seen.add((x, in_order))
        in_order = in_order and x.shape == shape
        group = self.pending.get(x)
        if group is not None:
            if in_order and x in self.lazy and self.state.open.get(shape) is group:
                return
            self.close(group)
        if x in self.refs:
            ref = self.refs[x]
            reading[ref.buffer] = reading.get(ref.buffer, True) and in_order and ref.whole
        elif x.shape:
            stmt = self.lazy[x]
            plain = is_elementwise(stmt.row)
            for v in reads(stmt):
                same = plain and v.shape == x.shape
                if v.shape and not same:
                    self.force_costly(v, stmt.row.name == "take_rows" or v.size < x.size)
                self.prepare(v, shape, reading, in_order and same, seen)

    def prepared(self, *values: Any) -> None:
        """Make operands ready to be read in a nest of its own."""
        for v in values:
            self.prepare(v, (), {}, False)

    # --- memory that is written to again --------------------------------------------------------------------------------

    def dies(self, x: Var) -> bool:
        """Whether the statement at hand is the last one that needs the memory of an array, which may then be overwritten.

        Lazy arrays that are still to be read from it are stored before: they are parts of it, or cost no more than a copy.
        """
        ref, state = self.refs[x], self.state
        if not (ref.buffer.writable and ref.whole and x in state.own and state.last_read.get(x, -1) <= state.position):
            return False
        touching = {v for v in self.refs if self.refs[v].buffer is ref.buffer}
        for v in state.lazies:
            if not touching.isdisjoint(reads(self.lazy[v])):
                touching.add(v)
        for v in self.live():
            if v is not x and v in touching:
                self.force(v)
        return True

    def live(self) -> list[Var]:
        """The lazy arrays that will be read, the last one first."""
        state = self.state
        found: dict[Var, None] = {}
        for x in reversed(state.lazies):
            if x in found or state.last_read.get(x, -1) >= state.position:
                found[x] = None
                found.update(reads(self.lazy[x]))
        return [x for x in reversed(state.lazies) if x in found]

    def owned(self, x: Var) -> Ref:
        """Memory that holds an array and may be overwritten: its own, if nobody reads it any more, else a copy's."""
        if x in self.state.own and self.state.last_read.get(x, -1) <= self.state.position:
            self.force(x)
        if x in self.refs and self.dies(x):
            # Roots that joined a group while x was lazy compute it.
            return self.refs.pop(x) if x in self.lazy else self.refs[x]
        return self.copied(x)
