"""Sums of products of two arrays: loops in an order in which memory is read along its rows."""

from __future__ import annotations

from .memory import Ref, size_of
from .scalars import BOUND, kind_of
from .text import Affine, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import Apply, Var
    from .fusion import Fusion

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Rows of the second factor that are added up at a time.
UNROLLED = 4
TINY = 256
# Rows that are shorter are added one at a time.
LONG = 16
# A product of more terms looks at the stop word.
LONG_WORK = 10_000_000


def contract(code: Fusion, stmt: Apply, out: Var) -> None:
    """The sum of products over the labels that the output does not have."""
    attributes = stmt.attributes
    labels = [list(attributes["first"]), list(attributes["second"])]
    output = list(attributes["output"])
    strong = attributes.get("strong", "")
    refs = [code.reference(x) for x in stmt.inputs]
    size = {n: k for x, own in zip(stmt.inputs, labels) for n, k in zip(own, x.shape)}
    summed = [n for n in dict.fromkeys(labels[0] + labels[1]) if n not in output]
    steps = [dict(zip(own, ref.strides)) for own, ref in zip(labels, refs)]
    last = output[-1] if output else None
    along = [k for k in (1, 0) if last is not None and steps[k].get(last) == 1 and size[last] > 1]
    if last is not None and not along and summed:
        # The sums would go down a column: a transposed copy of the factor that has the last label is read along its rows.
        k = 1 if last in labels[1] else 0
        if size_of(stmt.inputs[1 - k].shape) > size[summed[-1]] * 4 and stmt.inputs[k].size >= TINY:
            order = [n for n in labels[k] if n != last] + [last]
            refs[k] = transposed(code, refs[k], [labels[k].index(n) for n in order])
            labels[k] = order
            steps[k] = dict(zip(order, refs[k].strides))
            along = [k]
    ref = Ref(code.buffer(out), out.shape) if out.shape else None
    if ref is not None:
        code.refs[out] = ref
    if ref is not None:
        code.close_touching(ref.buffer)
    kinds = [kind_of(x) for x in stmt.inputs]
    Product(code, refs, steps, size, strong, out, ref, output, summed, along[0] if along else None, kinds).write()


def transposed(code: Fusion, ref: Ref, axes: list[int]) -> Ref:
    """A copy of an array in another order of its axes."""
    from ..ir import Var
    from .nest import Nest

    shape = tuple([ref.shape[k] for k in axes])
    made = Var(ref.buffer.kind, shape, "turned")
    target = Ref(code.buffer(made), shape)
    nest = Nest(code, shape)
    source = Ref(ref.buffer, shape, ref.offset, tuple([ref.strides[k] for k in axes]))
    nest.store(target, (f"{source.buffer.name}[{source.at(nest.index)}]", len(shape)))
    nest.emit()
    return target


class Product:
    def __init__(self, code: Fusion, refs: list[Ref], steps: list[dict[int, int]], size: dict[int, int], strong: str, out: Var,
                 ref: Ref | None, output: list[int], summed: list[int], along: int | None, kinds: list[str]) -> None:  # fmt: skip
        self.code, self.refs, self.steps, self.size, self.strong = code, refs, steps, size, strong
        self.out, self.ref, self.output, self.summed, self.along, self.kinds = out, ref, output, summed, along, kinds
        self.names = {n: LETTERS[8 + k] for k, n in enumerate(size)}
        self.depth = 0

    def line(self, text: str, more: int = 0) -> None:
        self.code.lines.add(text, self.depth + more)

    def loop(self, label: int) -> None:
        if self.size[label] != 1:
            self.line(f"for {self.names[label]} in range({self.size[label]}):")
            self.depth += 1
            if self.depth == 1 and size_of(tuple(self.size.values())) > LONG_WORK:
                self.line("poll(run)")

    def element(self, k: int, shift: tuple[int, int] | None = None) -> str:
        """An element of a factor, some steps further along a label."""
        place = self.refs[k].offset
        for n, step in self.steps[k].items():
            if self.size[n] != 1:
                place = place + variable(self.names[n]) * step
            if shift is not None and n == shift[0]:
                place = place + Affine(step * shift[1])
        text = f"{self.refs[k].buffer.name}[{place}]"
        return text if self.kinds[k] == self.out.kind else f"float({text})" if self.out.kind == "f" else f"int({text})"

    def place(self) -> str:
        assert self.ref is not None
        place = self.ref.offset
        for n, step in zip(self.output, self.ref.strides):
            if self.size[n] != 1:
                place = place + variable(self.names[n]) * step
        return f"{self.ref.buffer.name}[{place}]"

    def term(self, a: str, b: str) -> str:
        """A product in which zeros of the cotangents are strong; operands are names."""
        kept = [f"{x} != 0.0" for x, name in ((a, "a"), (b, "b")) if name in self.strong]
        zero = "0.0" if self.out.kind == "f" else "0"
        return f"({a} * {b} if {' and '.join(kept)} else {zero})" if kept else f"{a} * {b}"

    def write(self) -> None:
        if self.along is None or not self.summed:
            self.one_by_one()
        else:
            self.by_rows()
        self.depth = 0

    def one_by_one(self) -> None:
        """Each element of the output is a sum of its own."""
        zero = "0.0" if self.out.kind == "f" else "0"
        for n in self.output:
            self.loop(n)
        depth = self.depth
        total = self.code.new("s")
        self.line(f"{total} = {zero}")
        for n in self.summed:
            self.loop(n)
        a, b = self.element(0), self.element(1)
        if self.strong or self.out.kind == "i":
            left, right = self.code.new("a"), self.code.new("b")
            self.line(f"{left} = {a}")
            self.line(f"{right} = {b}")
            a, b = left, right
        if self.out.kind == "i":
            self.line(f"if abs(float({a}) * float({b})) > 4.6e18:")
            self.line("return 1", 1)
        self.line(f"{total} += {self.term(a, b)}")
        if self.out.kind == "i":
            self.line(f"if abs({total}) > {BOUND}:")
            self.line("return 1", 1)
        self.depth = depth
        if self.ref is None:
            self.code.texts[self.out] = total
        else:
            self.line(f"{self.place()} = {total}")

    def by_rows(self) -> None:
        """Rows of one factor, times elements of the other one, are added up to a row of the output."""
        along = self.along
        assert along is not None
        assert self.ref is not None
        other, last = 1 - along, self.output[-1]
        zero = "0.0" if self.out.kind == "f" else "0"
        invariant = last not in self.steps[other]
        self.code.lines.add(f"clear({self.ref.buffer.name}, {self.ref.buffer.size})")
        for n in self.output[:-1]:
            self.loop(n)
        *outer, inner = self.summed
        for n in outer:
            self.loop(n)
        whole = self.size[inner]
        plain = self.out.kind == "f" and invariant and "ab"[along] not in self.strong
        start = 0
        if plain and whole >= 2 * UNROLLED and self.size[last] >= LONG:
            start = whole - whole % UNROLLED
            self.several(inner, start, other, along, last)
        if start < whole:
            depth = self.depth
            if whole - start != 1:
                self.line(f"for {self.names[inner]} in range({f'{start}, ' if start else ''}{whole}):")
                self.depth += 1
            elif start or whole == 1:
                self.line(f"{self.names[inner]} = {start}")
            self.single(other, along, last, invariant, zero)
            self.depth = depth

    def several(self, inner: int, stop: int, other: int, along: int, last: int) -> None:
        """Four rows at a time, added in their order."""
        name = self.names[inner]
        depth = self.depth
        self.line(f"for {name} in range(0, {stop}, {UNROLLED}):")
        self.depth += 1
        factors = [f"x{k}" for k in range(UNROLLED)]
        for k, x in enumerate(factors):
            self.line(f"{x} = {self.element(other, (inner, k))}")
        strong = "ab"[other] in self.strong
        inside = self.depth
        if strong:
            self.line(f"if {' and '.join(f'{x} != 0.0' for x in factors)}:")
            self.depth += 1
        self.line(f"for {self.names[last]} in range({self.size[last]}):")
        terms = " + ".join(f"{x} * {self.element(along, (inner, k))}" for k, x in enumerate(factors))
        self.line(f"{self.place()} = {self.place()} + {terms}", 1)
        if strong:
            self.depth = inside
            self.line("else:")
            for k, x in enumerate(factors):
                self.line(f"if {x} != 0.0:", 1)
                self.line(f"for {self.names[last]} in range({self.size[last]}):", 2)
                self.line(f"{self.place()} += {x} * {self.element(along, (inner, k))}", 3)
        self.depth = depth

    def single(self, other: int, along: int, last: int, invariant: bool, zero: str) -> None:
        depth = self.depth
        integer = self.out.kind == "i"
        if invariant:
            self.line(f"x0 = {self.element(other)}")
            if "ab"[other] in self.strong:
                self.line("if x0 != 0.0:")
                self.depth += 1
        self.line(f"for {self.names[last]} in range({self.size[last]}):")
        self.depth += 1
        if not invariant:
            self.line(f"x0 = {self.element(other)}")
        self.line(f"x1 = {self.element(along)}")
        if integer:
            self.line(f"if abs(float(x0) * float(x1)) > 4.6e18 or abs({self.place()} + x0 * x1) > {BOUND}:")
            self.line("return 1", 1)
        kept = [
            f"{x} != 0.0"
            for x, k in (("x0", other), ("x1", along))
            if "ab"[k] in self.strong and not (x == "x0" and invariant)
        ]
        self.line(f"{self.place()} += " + (f"x0 * x1 if {' and '.join(kept)} else {zero}" if kept else "x0 * x1"))
        self.depth = depth
