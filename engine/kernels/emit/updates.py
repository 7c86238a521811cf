"""Arrays that change: updates of elements, slices that are added up, arrays that are joined."""

from __future__ import annotations

from ..ir import Apply, Check, Var
from .code import reads
from .fusion import Fusion, Reading
from .memory import Ref, selection_shape, size_of, view
from .nest import Nest
from .scalars import BOUND, kind_of
from .text import Affine, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ir import Stmt
    from .memory import Shape

LARGEST = literal(BOUND, "i")


class Updates(Fusion):
    def statement(self, stmt: Stmt) -> None:
        raise NotImplementedError

    def consume(self, stmt: Stmt) -> None:
        for v in reads(stmt):
            self.release(v)

    def prepared(self, values: list[Any]) -> None:
        for v in values:
            self.prepare(v, (), Reading(), False, {})

    def fill(self, ref: Ref, value: str) -> None:
        if value in ("0.0", "0", "False"):
            self.lines.add(f"clear({ref.buffer.name}, {ref.buffer.size})")
        else:
            self.lines.add(f"for i in range({ref.buffer.size}):")
            self.lines.add(f"{ref.buffer.name}[i] = {value}", 1)

    def update(self, stmt: Apply, out: Var) -> None:
        """x[index] = value, or += value, in the memory of x if nobody reads that any more."""
        x, value = stmt.inputs
        entries = stmt.attributes["index"]
        if out in self.collected:
            self.refs[out] = self.refs[x]
            self.lines.add(f"{self.collected[out]} += {self.text(value, out.kind)}")
            self.consume(stmt)
            return
        if stmt in self.useless:
            self.refs[out] = self.refs[x]
            self.consume(stmt)
            return
        self.read_ahead(x, stmt)
        self.prepared([entry for entry in entries if entry.__class__ is Var])
        if value.__class__ is Var and value.shape:
            self.prepare_value(value)
        ref = self.owned(x, out)
        self.refs[out] = ref
        target = view(ref, "index", {"index": entries}, selection_shape(x.shape, entries), self.place)
        assert target is not None
        self.assemble(stmt, out, value, target, stmt.row.name == "index_add")

    def read_ahead(self, x: Var, update: Apply) -> None:
        """Before an update: read the elements that later statements want of the array as it was, so that it needs no copy."""
        state = self.state
        if x not in state.own or state.left.get(x, 0) < 2:
            return
        later = state.block[state.block.index(update) + 1 :]
        found = []
        for stmt in later:
            if stmt.__class__ is Check:
                break
            if stmt not in state.done and x in reads(stmt):
                ready = (
                    stmt.__class__ is Apply
                    and stmt.row.name == "index"
                    and all(v in self.texts or v in self.refs or v in self.lazy for v in reads(stmt))
                )
                if not ready:
                    return
                found.append(stmt)
        waiting = sum(x in reads(self.lazy[v]) for v in state.lazies if v not in self.refs)
        if len(found) + waiting + sum(x in group.consumed for group in state.open.values()) != state.left[x] - 1:
            return
        for stmt in found:
            self.statement(stmt)
            state.done.add(stmt)

    def prepare_value(self, value: Var) -> None:
        """Store an operand whose element is read again and again."""
        group = self.pending.get(value)
        if group is not None and value not in group.members:
            self.close(group)

    def assemble(self, stmt: Apply, out: Var, value: Any, target: Ref, adding: bool) -> None:
        kind = target.buffer.kind

        def action(nest: Nest) -> None:
            element = nest.element(value)
            if kind_of(value) != kind:
                element = (f"float({element[0]})" if kind == "f" else f"int({element[0]})", element[1])
            if adding and kind == "i":
                text, _ = nest.bound(element)
                place = f"{target.buffer.name}[{target.at(nest.index)}]"
                nest.stores[-1] += [f"if abs({place} + {text}) > {LARGEST}:", "    return 1"]
            nest.store(target, element, "+=" if adding else "=")

        writes = (target.buffer,)
        self.add(target.shape, [value], action, (out,), writes=() if adding else writes, adds=writes if adding else (),
                 flat=target.contiguous and (value.__class__ is not Var or value.shape in ((), target.shape)),
                 consumed=reads(stmt))  # fmt: skip
        if not target.shape:
            self.settle(out)

    def put_rows(self, stmt: Apply, out: Var) -> None:
        """Slices added up at their places among zeros."""
        x, axis, size = stmt.inputs[0], stmt.attributes["axis"], stmt.attributes["size"]
        indices = stmt.attributes["indices"]
        rank = self.rank_of_indices(indices)
        ref = self.refs[out] = Ref(self.buffer(out), out.shape)
        self.fill(ref, "0")
        values = [x]
        if indices.__class__ is Var:
            self.force_costly(indices, True)
            self.prepared([indices])
            values.append(indices)
        else:
            self.known_indices(indices, size)
        shape = self.shape_of(x)

        def action(nest: Nest) -> None:
            index = nest.index
            place = nest.gathered(indices, index[axis : axis + rank], size)
            nest.store(ref, nest.innermost(nest.element(x)), "+=", (*index[:axis], place, *index[axis + rank :]))

        self.add(
            shape,
            [x],
            action,
            (out,),
            adds=(ref.buffer,),
            flat=False,
            consumed=[v for v in values if v.__class__ is Var],
        )

    @staticmethod
    def shape_of(x: Any) -> Shape:
        return x.shape if x.__class__ is Var else ()

    def joined(self, stmt: Apply, out: Var) -> None:
        """Arrays one after the other in new memory."""
        ref = self.refs[out] = Ref(self.buffer(out), out.shape)
        name = stmt.row.name
        if name == "pad_zeros":
            self.fill(ref, "0")
        axis = 0 if name == "pad_zeros" else stmt.attributes.get("axis", 0) % len(out.shape)
        start = 0
        targets = []
        for v in stmt.inputs:
            offset, shape, strides = ref.offset, self.shape_of(v), ref.strides
            if name == "stack":
                offset += Affine(start * strides[axis])
                strides = strides[:axis] + strides[axis + 1 :]
                start += 1
            elif name == "concat":
                offset += Affine(start * strides[axis])
                start += shape[axis]
            else:
                for (before, _), step in zip(stmt.attributes["pad_width"], strides):
                    offset += Affine(before * step)
            targets.append(Ref(ref.buffer, shape, offset, strides))
        rest = reads(stmt)
        for v, target in zip(stmt.inputs, targets):
            consumed = [v] if v.__class__ is Var and rest.pop(v, 0) is None else []
            if size_of(target.shape):
                self.store_part(v, target, out, consumed)
            else:
                for x in consumed:
                    self.release(x)
        self.close_writing(ref.buffer)

    def store_part(self, v: Any, target: Ref, out: Var, consumed: list[Any]) -> None:
        """Write one part of a joined array; parts do not overlap."""
        kind = out.kind

        def action(nest: Nest) -> None:
            text, level = nest.element(v)
            nest.store(
                target, (text if kind_of(v) == kind else f"float({text})" if kind == "f" else f"int({text})", level)
            )

        self.add(target.shape, [v], action, adds=(target.buffer,), flat=target.contiguous, consumed=consumed)
