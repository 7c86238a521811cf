"""Which arrays are computed together: lazy arrays, and groups of what must be computed over one shape.

An array that element-wise rows and views make is not computed where it is defined, but where it is needed (`lazy`). What must
be computed (a `root`: a reduction, an update, a store) joins the open group of its shape; a group becomes one nest of loops
when one of its results is needed.
"""

from __future__ import annotations

from ..ir import Apply, Var
from .code import Code, reads
from .memory import VIEWS, Buffer, Ref, regrouped, size_of, view
from .nest import Nest
from .scalars import cost, is_elementwise, kind_of
from .text import ZERO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .memory import Shape

    Action = Callable[[Nest], None]

LAZY = VIEWS | {"ramp", "take_rows"}
# An element that costs no more than this is computed again rather than stored and loaded.
CHEAP = 5
# Trees of lazy arrays are walked by recursion.
DEEPEST = 60


class Group:
    """Roots over one shape that will be one nest of loops."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.roots: list[Action] = []
        self.consumed: list[Any] = []
        self.members: dict[Var, None] = {}  # lazy arrays that the group stores
        self.results: list[Var] = []
        self.reads: dict[Buffer, bool] = {}  # whether only at the index of the nest
        self.writes: set[Buffer] = set()
        self.adds: set[Buffer] = set()
        self.flat = True


class Reading:
    """What a root reads."""

    def __init__(self) -> None:
        self.reads: dict[Buffer, bool] = {}
        self.flat = True


def repeats(shape: Shape, result: Shape) -> bool:
    """Whether broadcasting goes through an array again and again, not through one element at a time."""
    padded = (1,) * (len(result) - len(shape)) + shape
    wide = [n == 1 != m for n, m in zip(padded, result)]
    return any(w and any(n != 1 for n in padded[k + 1 :]) for k, w in enumerate(wide))


class Fusion(Code):
    # --- lazy arrays ------------------------------------------------------------------------------------------------

    def define(self, x: Var, stmt: Apply) -> None:
        """A lazy array."""
        self.lazy[x] = stmt
        self.state.lazies[x] = None
        total, depth = cost(stmt.row.name) if is_elementwise(stmt.row) else 0, 0
        for v in stmt.inputs:
            below = self.costs.get(v) if v.__class__ is Var and v not in self.refs else None
            total += below[0] if below else 1 if v.__class__ is Var and v.shape else 0
            depth = max(depth, below[1] if below else 0)
        self.costs[x] = min(total, 1000), depth + 1
        if depth >= DEEPEST:
            self.force(x)

    def light(self, x: Var) -> bool:
        """Whether a lazy array is a view of memory, or one number."""
        if x in self.refs or not x.shape:
            return True
        stmt = self.lazy[x]
        if stmt.row.name not in VIEWS:
            return False
        v = stmt.inputs[0]
        return v.__class__ is not Var or self.light(v)

    def reference(self, x: Var) -> Ref:
        """Where an array is in memory; it is put there if it is not."""
        self.settle(x)
        if x not in self.refs:
            stmt = self.lazy[x]
            v = stmt.inputs[0]
            if stmt.row.name in VIEWS and v.__class__ is Var and v.shape and (self.light(v) or self.uses[v] > 1):
                found = view(self.reference(v), stmt.row.name, stmt.attributes, x.shape, self.place)
                if found is not None:
                    return found
            self.force(x)
            self.settle(x)
        return self.refs[x]

    def row_major(self, x: Any, kind: str = "f") -> str:
        """The name of the memory that holds an operand from its beginning on, in row-major order."""
        ref = self.reference(x)
        if not ref.contiguous or ref.offset != ZERO or ref.buffer.kind != kind:
            ref = self.copied(x, kind)
        return ref.buffer.name

    def copied(self, x: Var, kind: str | None = None) -> Ref:
        made = Var(kind or x.kind, x.shape, "a")
        ref = Ref(self.buffer(made), x.shape)
        self.store(x, ref)
        self.close_writing(ref.buffer)
        return ref

    def release(self, x: Any) -> None:
        """One statement less reads a variable."""
        if x.__class__ is not Var or x not in self.state.left:
            return
        self.state.left[x] -= 1
        if self.state.left[x] <= 0 and x in self.state.lazies:
            self.forget(x)

    def forget(self, x: Var) -> None:
        """A lazy array is not computed any more: it is in memory, or nobody reads it."""
        if x in self.state.lazies:
            del self.state.lazies[x]
            for v in reads(self.lazy[x]):
                self.release(v)

    # --- groups -----------------------------------------------------------------------------------------------------

    def settle(self, x: Any) -> None:
        """Compute a variable now, if an open group has it."""
        group = self.pending.get(x) if x.__class__ is Var else None
        if group is not None:
            self.close(group)

    def close_all(self) -> None:
        for group in list(self.state.open.values()):
            self.close(group)

    def close_writing(self, buffer: Buffer) -> None:
        for group in list(self.state.open.values()):
            if buffer in group.writes or buffer in group.adds:
                self.close(group)

    def close_touching(self, buffer: Buffer) -> None:
        """Before memory is written to at once."""
        for group in list(self.state.open.values()):
            if buffer in group.reads or buffer in group.writes or buffer in group.adds:
                self.close(group)

    def close(self, group: Group) -> None:
        """Write the nest of a group."""
        if self.state.open.get(group.shape) is not group:
            return
        del self.state.open[group.shape]
        nest = Nest(self, group.shape, group.flat, group.members)
        for root in group.roots:
            root(nest)
        for x in group.results:
            del self.pending[x]
        for x in group.consumed:
            self.release(x)
        for x in group.members:
            self.forget(x)
        for x, index in reversed(list(nest.memo)):
            if (
                x in self.state.lazies and x.shape == group.shape and index == nest.index
                and self.state.left.get(x, 0) > 0 and self.costs[x][0] > CHEAP
            ):  # fmt: skip
                ref = Ref(self.buffer(x), x.shape)
                nest.store(ref, nest.memo[x, index])
                self.refs[x] = ref
                self.forget(x)
        nest.emit()

    def add(
        self, shape: Shape, values: list[Any], action: Action, results: tuple[Var, ...] = (), members: tuple[Var, ...] = (),
        writes: tuple[Buffer, ...] = (), adds: tuple[Buffer, ...] = (), flat: bool = True, consumed: Iterable[Any] = (),
    ) -> None:  # fmt: skip
        """Let a root join the open group of its shape; groups that it conflicts with are closed before."""
        seen: dict[Any, None] = {}
        found = Reading()
        for v in values:
            self.prepare(v, shape, found, True, seen)
        flat = flat and found.flat
        for group in list(self.state.open.values()):
            same = group.shape == shape
            for b in (*writes, *adds):
                reading, writing = group.reads.get(b), b in group.writes
                if not (
                    (same and not writing and b not in group.adds and reading and b in writes)
                    or (same and not writing and reading is None and b in adds)
                ) and (reading is not None or writing or b in group.adds):
                    self.close(group)
            for b, identity in found.reads.items():
                if b in group.adds or (b in group.writes and not (same and identity)):
                    self.close(group)
        group = self.state.open.setdefault(shape, Group(shape))
        group.roots.append(action)
        group.flat = group.flat and flat
        group.writes.update(writes)
        group.adds.update(adds)
        for b, identity in found.reads.items():
            group.reads[b] = group.reads.get(b, True) and identity
        group.consumed += consumed
        group.results += results
        group.members.update(dict.fromkeys(members))
        for x in results:
            self.pending[x] = group

    def prepare(self, x: Any, shape: Shape, found: Reading, identity: bool, seen: dict[Any, None]) -> None:
        """Make an operand ready to be read in a nest over `shape`, and note what memory that reads.

        `identity` says whether it is read at the index of the nest. What is costly and would be computed often is stored.
        """
        if x.__class__ is not Var:
            return
        if (x, identity) in seen:
            return
        seen[x, identity] = None
        if not x.shape:
            self.settle(x)
            return
        group = self.pending.get(x)
        if group is not None:
            if identity and x in group.members and group is self.state.open.get(shape) and x.shape == shape:
                found.flat = found.flat and group.flat
                return
            self.close(group)
        if x in self.refs:
            ref = self.refs[x]
            at = identity and x.shape == shape and ref.whole
            found.reads[ref.buffer] = found.reads.get(ref.buffer, True) and at
            found.flat = found.flat and ref.contiguous and (x.shape == shape or x.size == 1 or x.size == size_of(shape))
            return
        stmt = self.lazy[x]
        if is_elementwise(stmt.row):
            for v in stmt.inputs:
                if v.__class__ is Var and v.shape:
                    same = v.shape == x.shape
                    if not same and repeats(v.shape, x.shape):
                        self.force_costly(v, True)
                    if not same and v.size != 1:
                        found.flat = False
                    self.prepare(v, shape, found, identity and same, seen)
                else:
                    self.prepare(v, shape, found, False, seen)
            return
        name = stmt.row.name
        if name == "take_rows":
            found.flat = False
            if stmt.attributes["indices"].__class__ is Var:
                self.force_costly(stmt.attributes["indices"], True)
                self.prepare(stmt.attributes["indices"], shape, found, False, seen)
            elif self.known_indices(stmt.attributes["indices"], stmt.inputs[0].shape[stmt.attributes["axis"]]):
                pass
        for entry in stmt.attributes.get("index", ()):
            self.prepare(entry, shape, found, False, seen)
        v = stmt.inputs[0]
        if v.__class__ is Var and v.shape:
            again = repeats(v.shape, x.shape) if name == "broadcast_to" else name == "take_rows"
            if not (name == "reshape" and identity and v.size == x.size and found.flat and self.flat_tree(v)):
                self.force_costly(v, again, 0 if self.divides(stmt, x) else CHEAP)
            if name != "reshape" and v.size != 1:
                found.flat = False
        elif name == "ramp":
            found.flat = found.flat and len(shape) == 1
            self.prepare(stmt.inputs[1], shape, found, False, seen)
        self.prepare(v, shape, found, False, seen)

    def flat_tree(self, x: Any) -> bool:
        """Whether an array is read in its row-major order only, all the way down."""
        if x.__class__ is not Var or x.size == 1:
            return True
        if x in self.refs:
            return self.refs[x].contiguous
        stmt = self.lazy[x]
        return is_elementwise(stmt.row) and all(
            v.__class__ is not Var or v.size == 1 or (v.shape == x.shape and self.flat_tree(v)) for v in stmt.inputs
        )

    def divides(self, stmt: Apply, x: Var) -> bool:
        """Whether a reshape joins axes, so that its index in the array before takes divisions."""
        return stmt.row.name == "reshape" and regrouped(stmt.inputs[0].shape, x.shape, (ZERO,) * len(x.shape)) is None

    def force_costly(self, v: Var, again: bool, least: int = CHEAP) -> None:
        """Store a lazy array that is not read in its order, if that saves work."""
        if v in self.refs or v not in self.state.lazies or self.light(v):
            return
        if self.costs[v][0] > least and (again or least < CHEAP or self.shared(v)):
            self.force(v)

    def force(self, x: Var, ref: Ref | None = None) -> None:
        """Put a lazy array into memory."""
        if x in self.refs:
            return
        ref = ref or Ref(self.buffer(x), x.shape)
        if self.cleared(x, ref):
            self.forget(x)
        else:
            self.store(x, ref, (x,), (x,))
        self.refs[x] = ref

    def cleared(self, x: Any, ref: Ref) -> bool:
        """Fill memory with zeros, if that is what a lazy array is."""
        stmt = self.lazy.get(x)
        zero = (
            stmt is not None
            and x not in self.refs
            and stmt.row.name == "broadcast_to"
            and stmt.inputs[0].__class__ is not Var
        )
        if not zero or not ref.whole or str(stmt.inputs[0]) not in ("0.0", "0", "False"):  # type: ignore[union-attr]
            return False
        self.close_touching(ref.buffer)
        self.lines.add(f"clear({ref.buffer.name}, {ref.buffer.size})")
        return True

    def store(
        self,
        x: Any,
        ref: Ref,
        results: tuple[Var, ...] = (),
        members: tuple[Var, ...] = (),
        consumed: Iterable[Any] = (),
    ) -> None:
        """Let an array be written to memory."""
        kind = ref.buffer.kind

        def action(nest: Nest) -> None:
            text, level = nest.element(x)
            if kind_of(x) != kind:
                text = f"float({text})" if kind == "f" else f"int({text})" if kind == "i" else f"({text} != 0)"
            nest.store(ref, (text, level))

        self.add(ref.shape, [x], action, results, members, writes=(ref.buffer,), flat=ref.contiguous, consumed=consumed)

    def touching(self, buffer: Buffer, but: Var | None = None) -> list[Var]:
        """The lazy arrays that are still to be read and read this memory."""
        memo: dict[Var, bool] = {}

        def touches(v: Any) -> bool:
            if v.__class__ is not Var or not v.shape:
                return False
            if v not in memo:
                if v in self.refs:
                    memo[v] = self.refs[v].buffer is buffer
                else:
                    memo[v] = v in self.lazy and any(map(touches, reads(self.lazy[v])))
            return memo[v]

        return [v for v in self.state.lazies if v is not but and v not in self.refs and touches(v)]

    def dies(self, x: Var, ref: Ref) -> bool:
        """Whether the statement at hand is the last one that needs the memory of an array, which may then be overwritten.

        Lazy arrays that are still to be read from it are stored before: they are parts of it, or cost no more than a copy.
        """
        if not (ref.buffer.writable and ref.whole and x in self.state.own):
            return False
        waiting = [v for v in self.state.lazies if v not in self.refs and x in reads(self.lazy[v])]
        running = sum(x in group.consumed for group in self.state.open.values())
        if self.state.left.get(x, 0) - len(waiting) - running != 1:
            return False
        for v in waiting:
            self.force(v)
        for v in self.touching(ref.buffer, x):
            self.force(v)
        return True

    def owned(self, x: Var, out: Var) -> Ref:
        """Memory that holds an array and may be overwritten: its own, if nobody reads it any more, else a copy's."""
        if x not in self.lazy or x in self.refs:
            ref = self.refs[x]
            if self.dies(x, ref):
                return ref
        ref = Ref(self.buffer(out), x.shape)
        if x not in self.refs and self.state.left.get(x, 0) == 1 and x in self.state.own:
            self.force(x, ref)
        elif not self.cleared(x, ref):
            self.store(x, ref)
        return ref
