"""The statements of a block but loops and branches: what each row becomes."""

from __future__ import annotations

from ..ir import Apply, Check, Constant, Flag, Get, Put, Unsupported, Var
from .fusion import LAZY
from .memory import Ref, size_of
from .nest import Nest
from .products import contract
from .routines import ROUTINES
from .scalars import BOUND, is_elementwise, kind_of
from .text import is_atom
from .updates import LARGEST, Updates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ir import Stmt

# The first value of an accumulator, and its next one for an element {1}, by kind.
REDUCTIONS = {
    "sum": ({"f": "0.0", "i": "0"}, "{0} + {1}"),
    "prod": ({"f": "1.0", "i": "1"}, "{0} * {1}"),
    "max": ({"f": "-math.inf", "i": f"-{LARGEST}", "b": "False"}, "{1} if {1} > {0} or {1} != {1} else {0}"),
    "min": ({"f": "math.inf", "i": LARGEST, "b": "True"}, "{1} if {1} < {0} or {1} != {1} else {0}"),
    "any": ({"b": "False"}, "{0} | {1}"),
    "all": ({"b": "True"}, "{0} & {1}"),
}


class Statements(Updates):
    inline: set[Var]

    def statement(self, stmt: Stmt) -> None:
        kind = stmt.__class__
        if kind is Apply:
            self.apply(stmt)  # type: ignore[arg-type]
        elif kind is Constant:
            self.constant(stmt.out, stmt.values)  # type: ignore[attr-defined]
        elif kind is Check or kind is Flag:
            self.condition(stmt)
        elif kind is Put:
            self.put(stmt.stack, stmt.position, stmt.value)  # type: ignore[attr-defined]
        elif kind is Get:
            self.get(stmt.out, stmt.stack, stmt.position)  # type: ignore[attr-defined]
        else:
            raise AssertionError(kind)

    def apply(self, stmt: Apply) -> None:
        name, out = stmt.row.name, stmt.outs[0]
        if is_elementwise(stmt.row):
            self.define(out, stmt) if out.shape else self.number(stmt, out)
        elif name in LAZY:
            self.define(out, stmt) if out.shape else self.element(stmt, out)
        elif name in REDUCTIONS:
            self.reduction(stmt, out)
        elif name in ("argmax", "argmin"):
            self.place_of_extremum(stmt, out)
        elif name in ("index_update", "index_add"):
            self.update(stmt, out)
        elif name == "put_rows":
            self.put_rows(stmt, out)
        elif name in ("concat", "stack", "pad_zeros"):
            self.joined(stmt, out)
        elif name == "contract":
            contract(self, stmt, out)
            self.consume(stmt)
        elif name in ROUTINES:
            ROUTINES[name](self, stmt)
            self.consume(stmt)
        else:
            raise Unsupported(f"the operation {name}", stmt.site)

    # --- numbers ----------------------------------------------------------------------------------------------------

    def number(self, stmt: Apply, out: Var) -> None:
        """An element-wise row of numbers: a line, or a part of the one line that reads it."""
        if self.counted(stmt, out):
            self.consume(stmt)
            return
        nest = Nest(self, ())
        elements = [(self.text(v), 0) if v.__class__ is Var else nest.element(v) for v in stmt.inputs]
        text, _ = nest.row(stmt, out, elements)
        nest.emit()
        if is_atom(text) or (out in self.inline and len(text) < 90):
            self.texts[out] = text
        else:
            self.assign(out, text)
        self.consume(stmt)

    def assign(self, out: Var, text: str) -> None:
        self.lines.add(f"{self.name(out)} = {text}")

    def counted(self, stmt: Apply, out: Var) -> bool:
        """Sums of integers that are small for certain: they become parts of indices, without a line of their own."""
        name = stmt.row.name
        if (
            out.kind != "i"
            or name not in ("add", "subtract", "multiply")
            or any(kind_of(v) == "b" for v in stmt.inputs)
        ):
            return False
        a, b = stmt.inputs
        sizes = [self.bound(a), self.bound(b)]
        bound = sizes[0] * sizes[1] if name == "multiply" else sizes[0] + sizes[1]
        if bound > BOUND or BOUND in sizes:
            return False
        self.bounds[out] = bound
        left, right = self.place(a), self.place(b)
        if name == "multiply":
            if left.terms and right.terms:
                return False
            place = left * right.constant if not right.terms else right * left.constant
        else:
            place = left + (right if name == "add" else right * -1)
        self.places[out] = place
        self.texts[out] = place.as_operand()
        return True

    def element(self, stmt: Apply, out: Var) -> None:
        """A number that is read from an array."""
        v = stmt.inputs[0]
        nest = Nest(self, ())
        self.lazy[out] = stmt
        self.prepared([*stmt.inputs, *[stmt.attributes.get("indices")], *stmt.attributes.get("index", ())])
        self.force_costly(v, False) if v.__class__ is Var and v.shape else None
        self.settle(v)
        text, _ = nest.computed(out, ())
        nest.emit()
        if is_atom(text):
            self.texts[out] = text
        else:
            self.assign(out, text)
        self.consume(stmt)

    # --- reductions ---------------------------------------------------------------------------------------------------

    def reduction(self, stmt: Apply, out: Var) -> None:
        x, name = stmt.inputs[0], stmt.row.name
        shape, kind = x.shape, out.kind
        axes = stmt.attributes["axis"]
        axes = set(range(len(shape))) if axes is None else {axes} if axes.__class__ is int else set(axes)
        first, after = REDUCTIONS[name]
        if kind not in first:
            raise Unsupported(f"{name} of such elements", stmt.site)
        last = len(shape)
        while last and last - 1 in axes:
            last -= 1
        ref = Ref(self.buffer(out), out.shape) if out.shape else None
        partial = any(axis < last for axis in axes)
        if ref is None:
            self.texts[out] = self.new(out)
        else:
            self.refs[out] = ref
        if partial and ref is not None:
            self.fill(ref, first[kind])
        check = kind == "i" and name in ("sum", "prod") and kind_of(x) != "b"

        def action(nest: Nest) -> None:
            level = 0 if nest.flat else last
            element = nest.element(x)
            text = nest.settled(element)
            if kind_of(x) != kind:
                text = f"int({text})" if kind == "i" else f"float({text})" if kind == "f" else f"({text} != 0)"
            if name in ("max", "min") or check:
                text = nest.bound((text, element[1]))[0]
            place = (
                f"{ref.buffer.name}[{ref.at(tuple([i for k, i in enumerate(nest.index) if k not in axes]))}]"
                if ref
                else ""
            )
            if ref is not None:
                nest.written.add(ref.buffer.name)
            if level == len(nest.shape):
                target = place
            else:
                target = self.texts[out] if ref is None else self.new("s")
                nest.lines[level].append(f"{target} = {first[kind]}")
            if check and name == "prod":
                nest.stores[-1] += [f"if abs(float({target}) * float({text})) > 4.6e18:", "    return 1"]
            nest.stores[-1].append(combined(after, target, text))
            if check:
                nest.stores[-1] += [f"if abs({target}) > {LARGEST}:", "    return 1"]
            if ref is not None and target != place:
                nest.after[level].append(combined(after, place, target) if partial else f"{place} = {target}")

        writes = (ref.buffer,) if ref is not None else ()
        self.add(shape, [x], action, (out,), writes=() if partial else writes, adds=writes if partial else (),
                 flat=out.shape == (), consumed=[x])  # fmt: skip

    def place_of_extremum(self, stmt: Apply, out: Var) -> None:
        x, axis = stmt.inputs[0], stmt.attributes["axis"]
        if axis is None:
            raise Unsupported(f"the operation {stmt.row.name} of a whole array", stmt.site)
        axis %= len(x.shape)
        rest = x.shape[:axis] + x.shape[axis + 1 :]
        shape = (*rest, x.shape[axis])
        sign = ">" if stmt.row.name == "argmax" else "<"
        self.prepared([x])
        if not self.light(x):
            self.force_costly(x, axis != len(rest), 0)
        nest = Nest(self, shape)
        self.prepared([x])
        at = nest.index[-1]
        text, _ = nest.bound(nest.element(x, (*nest.index[:axis], at, *nest.index[axis:-1])))
        best, place = self.new("best"), self.new("place")
        nest.lines[-2] += [f"{best} = {text_of_first(sign, kind_of(x))}", f"{place} = 0"]
        nest.stores[-1] += [f"if {text} {sign} {best} or ({text} != {text} and {best} == {best}):"]
        nest.stores[-1] += [f"    {best} = {text}", f"    {place} = {at}"]
        if out.shape:
            ref = self.refs[out] = Ref(self.buffer(out), out.shape)
            nest.after[-2].append(
                f"{ref.buffer.name}[{ref.at(nest.index[:-1] if out.shape == rest else nest.index)}] = {place}"
            )
        else:
            self.texts[out] = place
        nest.emit()
        self.consume(stmt)

    # --- conditions and stacks ----------------------------------------------------------------------------------------

    def condition(self, stmt: Any) -> None:
        """What stops the kernel, or sets a flag."""
        x = stmt.condition
        number = stmt.number if stmt.__class__ is Flag else None
        if (x, number) in self.state.met:
            self.consume(stmt)
            return
        self.state.met.add((x, number))
        if x.__class__ is not Var or not x.shape:
            text = self.text(x, "b")
            if number is None:
                self.lines.add(f"if not {text}:")
                self.lines.add("return 1", 1)
            else:
                self.lines.add(f"{self.hit(number)} |= {text}")
            self.consume(stmt)
            return

        def action(nest: Nest) -> None:
            element = nest.element(x)
            if number is None:
                nest.refuse(f"(not {element[0]})", len(nest.shape))
                return
            nest.stores[-1].append(f"{self.hit(number)} |= {nest.settled(element)}")

        self.add(x.shape, [x], action, consumed=[x])

    def hit(self, number: int) -> str:
        """The variable that says whether a flag was met. It is written to the record at the end: stores would slow loops down."""
        name = f"hit_{number}"
        self.hits[number] = name
        return name

    def put(self, stack: Any, position: Any, value: Any) -> None:
        buffer = self.stacks[stack]
        if not stack.shape:
            text = self.text(value, stack.kind)
            self.lines.add(f"{buffer.name}[{self.place(position)}] = {text}")
        else:
            target = Ref(buffer, stack.shape, self.place(position) * size_of(stack.shape))
            self.store(value, target, consumed=[value])
            return
        for v in {position, value}:
            self.release(v)

    def get(self, out: Var, stack: Any, position: Any) -> None:
        buffer = self.stacks[stack]
        if out.shape:
            self.refs[out] = Ref(buffer, out.shape, self.place(position) * size_of(out.shape))
        else:
            self.assign(out, f"{buffer.name}[{self.place(position)}]")
            if out.kind == "i":
                self.bounds[out] = BOUND
        self.release(position)


def combined(after: str, target: str, text: str) -> str:
    """One step of an accumulator."""
    if after in ("{0} + {1}", "{0} * {1}", "{0} | {1}", "{0} & {1}"):
        return f"{target} {after[4]}= {text}"
    return f"{target} = {after.format(target, text)}"


def text_of_first(sign: str, kind: str) -> str:
    first = REDUCTIONS["max" if sign == ">" else "min"][0]
    return first[kind]
