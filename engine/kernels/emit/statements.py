"""The statements of a block but loops and branches: what each row becomes."""

from __future__ import annotations

from math import prod

from ...core.tensor import OPERATORS
from ..ir import Apply, Check, Constant, Flag, Get, Put, Unsupported, Var, index_shape
from .code import LAZY
from .memory import Affine, Ref, view
from .nest import Nest, stop_if
from .reductions import Reductions
from .scalars import BOUND, converted, is_elementwise, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Statements(Reductions):
    def apply(self, stmt: Apply) -> None:
        name, out = stmt.row.name, stmt.outs[0]
        if name == "take_rows":
            attributes = {**stmt.attributes, "indices": self.indices(stmt.attributes["indices"])}
            stmt = Apply(stmt.outs, stmt.row, stmt.inputs, attributes, stmt.site)
        plain = is_elementwise(stmt.row)
        if out.shape and (plain or name in LAZY):
            self.define(out, stmt)
        elif plain:
            self.number(stmt, out)
        elif stmt.row.code:
            getattr(self, stmt.row.code)(stmt, out)
        else:
            raise Unsupported(f"the operation {name}", stmt.site)

    # --- numbers ----------------------------------------------------------------------------------------------------

    def number(self, stmt: Apply, out: Var) -> None:
        """An element-wise row of numbers: a line, or a part of the one line that reads it."""
        nest = Nest(self, ())
        text, _ = nest.row(stmt, out, [(self.text(v), 0) for v in stmt.inputs])
        place = self.summed(stmt) if out.kind == "i" and self.bounds[out] < BOUND else None
        nest.emit()
        if place is not None:
            self.places[out], self.texts[out] = place, place.as_operand()
        elif out in self.inline and len(text) < 90:
            self.texts[out] = text
        else:
            self.assign(out, text)

    def summed(self, stmt: Apply) -> Affine | None:
        """A sum of integers, which becomes a part of indices without a line of its own."""
        row = stmt.row
        sums = (OPERATORS.add, OPERATORS.subtract, OPERATORS.multiply)
        if row not in sums or any(kind_of(v) != "i" for v in stmt.inputs):
            return None
        left, right = map(self.place, stmt.inputs)
        if row is not OPERATORS.multiply:
            return left + (right if row is OPERATORS.add else right * -1)
        if left.terms and right.terms:
            return None
        return left * right.constant if left.terms else right * left.constant

    def element(self, stmt: Apply, out: Var) -> None:
        """A number that is read from an array."""
        v = stmt.inputs[0]
        self.lazy[out] = stmt
        if v.__class__ is Var and v.shape:
            self.force_costly(v, False)
        self.prepared(*stmt.inputs, *[x for x in stmt.attributes.values() if x.__class__ is Var])
        nest = Nest(self, ())
        text, _ = nest.computed(out, ())
        nest.emit()
        self.assign(out, text)

    # --- updates ------------------------------------------------------------------------------------------------------

    def update(self, stmt: Apply, out: Var) -> None:
        """x[index] = value, or += value, in the memory of x if nobody reads that any more."""
        x, value = stmt.inputs
        entries = stmt.attributes["index"]
        adding = stmt.row is OPERATORS.index_add
        if adding and out.kind != "f":
            raise Unsupported("adding to elements of an array of integers", stmt.site)
        if stmt in self.collected:
            self.add(f"{self.collected[stmt]} += {self.text(value, out.kind)}")
            self.refs[out] = self.refs[x]
            return
        ref = self.refs[out] = self.owned(x)
        target = view(ref, "index", {"index": entries}, index_shape(x.shape, entries), self.place)
        if not adding and not target.whole:
            self.close_all()

        def action(nest: Nest) -> None:
            text, level = nest.element(value)
            place = target.element(nest.index)
            nest.store(place, (converted(text, kind_of(value), out.kind), level), "+=" if adding else "=")

        self.join(target.shape, [value], action, (out,), target.buffer, adding)
        if not target.shape:
            self.settle(out)

    def put_rows(self, stmt: Apply, out: Var) -> None:
        """Slices added up at their places among zeros."""
        x, axis, size = stmt.inputs[0], stmt.attributes["axis"], stmt.attributes["size"]
        indices = self.indices(stmt.attributes["indices"])
        end = axis + len(indices.shape)
        ref = self.refs[out] = Ref(self.buffer(out), out.shape)
        self.fill(ref, "0")

        def action(nest: Nest) -> None:
            index = nest.index
            place = nest.gathered(indices, index[axis:end], size)
            nest.store(ref.element((*index[:axis], place, *index[end:])), nest.element(x), "+=")

        self.force_costly(indices, True)
        self.join(x.shape, [x, indices], action, (out,), ref.buffer, True)

    def joined(self, stmt: Apply, out: Var) -> None:
        """Arrays one after the other in new memory."""
        ref = self.refs[out] = Ref(self.buffer(out), out.shape)
        row, attributes = stmt.row, stmt.attributes
        axis, start = attributes.get("axis", 0), 0
        for v in stmt.inputs:
            strides, shape = ref.strides, getattr(v, "shape", ())
            offset = Affine(start * strides[axis])
            if row is OPERATORS.pad_zeros:
                self.fill(ref, "0")
                offset = Affine(sum(before * step for (before, _), step in zip(attributes["pad_width"], strides)))
            elif row is OPERATORS.stack:
                start, strides = start + 1, strides[:axis] + strides[axis + 1 :]
            else:
                start += shape[axis]
            self.store(v, Ref(ref.buffer, shape, offset, strides), commutes=True)
        self.close_touching(ref.buffer)

    # --- conditions and stacks ----------------------------------------------------------------------------------------

    def condition(self, stmt: Any) -> None:
        """What stops the kernel, or sets a flag."""
        x = stmt.condition
        number = stmt.number if stmt.__class__ is Flag else None
        # A flag is written to the record at the end: stores would slow loops down.
        hit = "" if number is None else self.hits.setdefault(number, f"hit_{number}")
        if x.__class__ is not Var or not x.shape:
            text = self.text(x, "b")
            self.add(*([f"{hit} |= {text}"] if hit else stop_if(f"not {text}")))
            return

        def action(nest: Nest) -> None:
            text = nest.settled(nest.element(x))
            lines = [f"{hit} |= {text}"] if hit else stop_if(f"not {text}")
            nest.stores += [line for line in lines if line not in nest.stores] if hit else lines

        self.join(x.shape, [x], action)

    def put(self, stmt: Put) -> None:
        stack, buffer, place = stmt.stack, self.stacks[stmt.stack], self.place(stmt.position)
        if stack.shape:
            self.store(stmt.value, Ref(buffer, stack.shape, place * prod(stack.shape)))
        else:
            self.add(f"{buffer.name}[{place}] = {self.text(stmt.value, stack.kind)}")

    def get(self, stmt: Get) -> None:
        out, buffer, place = stmt.out, self.stacks[stmt.stack], self.place(stmt.position)
        if out.shape:
            self.refs[out] = Ref(buffer, out.shape, place * out.size)
        else:
            self.assign(out, f"{buffer.name}[{place}]")


STATEMENTS: dict[Any, Callable[[Any, Any], None]] = {
    Apply: Statements.apply, Constant: lambda code, stmt: code.constant(stmt.out, stmt.values), Check: Statements.condition,
    Flag: Statements.condition, Put: Statements.put, Get: Statements.get,
}  # fmt: skip
