"""Rows that go along axes of arrays: reductions, sums of products, places of extrema, scans."""

from __future__ import annotations

from ...core.tensor import OPERATORS
from ..ir import BOOL, FLOAT, INT, PRODUCTS, Apply, Unsupported, Var
from .fusion import Fusion
from .memory import Affine, Ref, fitted
from .nest import Nest, stop_if
from .scalars import BOUND, converted, kind_of, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .memory import Index, Shape
    from .nest import Element

LARGEST = literal(BOUND, "i")
# The first value of an accumulator, by kind, and the assignment of its next one for an element {1}.
REDUCTIONS = {
    "sum": ({"f": "0.0", "i": "0"}, "{0} += {1}"),
    "prod": ({"f": "1.0"}, "{0} *= {1}"),
    "max": ({"f": "-math.inf", "i": f"-{LARGEST}", "b": "False"}, "{0} = {1} if {1} > {0} or {1} != {1} else {0}"),
    "min": ({"f": "math.inf", "i": LARGEST, "b": "True"}, "{0} = {1} if {1} < {0} or {1} != {1} else {0}"),
    "any": ({"b": "False"}, "{0} |= {1}"),
    "all": ({"b": "True"}, "{0} &= {1}"),
}
# A factor of fewer elements is not copied to be read along its rows.
TINY = 256


class Reductions(Fusion):
    def fill(self, ref: Ref, value: str) -> None:
        """Set all elements of new memory."""
        buffer = ref.buffer
        if value in ("0.0", "0", "False"):
            self.add(f"clear({buffer.name}, {buffer.size})")
        else:
            self.add(f"for i in range({buffer.size}):", f"    {buffer.name}[i] = {value}")

    def reduction(self, stmt: Apply, out: Var) -> None:
        x = stmt.inputs[0]
        self.accumulate(
            stmt.row.name, out, x.shape, set(stmt.attributes["axis"]), [x], lambda nest: nest.element(x), kind_of(x)
        )

    def accumulate(
        self, name: str, out: Var, shape: Shape, axes: set[int], values: list[Any], element: Callable[[Nest], Element],
        given: str, in_order: bool = True,
    ) -> None:  # fmt: skip
        """A reduction of elements over some axes of `shape`.

        Over the last axes the accumulator is a number. Over other axes the elements of the result are accumulators.
        """
        kind = out.kind
        first, following = REDUCTIONS[name]
        if kind not in first:
            raise Unsupported(f"{name} of such elements")
        level = len(shape)
        while level and level - 1 in axes:
            level -= 1
        within = level == len(shape) or any(axis < level for axis in axes)
        ref = Ref(self.buffer(out), out.shape) if out.shape else None
        if ref is None:
            self.texts[out] = self.new(out)
        else:
            self.refs[out] = ref
            if within:
                self.fill(ref, first[kind])
        check = kind == INT and name == "sum" and given != BOOL

        def action(nest: Nest) -> None:
            found = element(nest)
            text = converted(nest.settled(found), given, kind)
            if check or following.count("{1}") > 1:
                text, _ = nest.bound((text, found[1]))
            place = ""
            if ref is not None:
                place = ref.element(tuple([i for k, i in enumerate(nest.index) if k not in axes]))
                nest.written.add(ref.buffer.name)
            total = place
            if level < len(shape):
                total = self.texts[out] if ref is None else self.new("s")
                nest.lines[level].append(f"{total} = {first[kind]}")
                if ref is not None:
                    nest.after[level].append(following.format(place, total) if within else f"{place} = {total}")
            nest.stores.append(following.format(total, text))
            if check:
                nest.stores += stop_if(f"abs({total}) > {LARGEST}")

        self.join(shape, values, action, (out,), None if ref is None else ref.buffer, within, in_order)

    # --- sums of products -------------------------------------------------------------------------------------------

    def contract(self, stmt: Apply, out: Var) -> None:
        """The sum of products over the labels that the output does not have, in an order in which memory is read along rows."""
        attributes, factors = stmt.attributes, list(stmt.inputs)
        labels = [tuple(attributes["first"]), tuple(attributes["second"])]
        output, strong = tuple(attributes["output"]), attributes.get("strong", "")
        sizes = {n: k for x, own in zip(factors, labels) for n, k in zip(own, x.shape)}
        summed = tuple([n for n in sizes if n not in output])
        refs = [self.strided(x) for x in factors]
        steps = [dict(zip(own, ref.strides)) for own, ref in zip(labels, refs)]
        by_rows = bool(output) and 1 in (steps[0].get(output[-1]), steps[1].get(output[-1]))
        if output and summed and not by_rows:
            # The sums would go down columns: a transposed copy of the factor that has the last label is read along its rows.
            k = 1 if output[-1] in labels[1] else 0
            if factors[1 - k].size > sizes[summed[-1]] * 4 and factors[k].size >= TINY:
                order = (*[n for n in labels[k] if n != output[-1]], output[-1])
                factors[k] = self.transposed(factors[k], tuple([labels[k].index(n) for n in order]))
                labels[k] = order
                refs[k] = self.force(factors[k])
                by_rows = True
        order = (*output[:-1], *summed, output[-1]) if by_rows else (*output, *summed)
        self.narrow |= by_rows and bool(summed) and 2 < sizes[output[-1]] < 16
        product = Var(out.kind)
        turn = -1 if strong == "b" else 1
        row = Apply((product,), OPERATORS[PRODUCTS[strong]], tuple(factors[::turn]), {}, None)

        def element(nest: Nest) -> Element:
            at = dict(zip(order, nest.index))
            found = [nest.load(ref, tuple([at[n] for n in own])) for ref, own in zip(refs, labels)]
            return nest.row(row, product, found[::turn])

        axes = {k for k, n in enumerate(order) if n in summed}
        self.accumulate("sum", out, tuple([sizes[n] for n in order]), axes, factors, element, out.kind, False)

    def transposed(self, x: Var, axes: tuple[int, ...]) -> Var:
        """A lazy array with the axes in another order."""
        made = Var(x.kind, tuple([x.shape[k] for k in axes]))
        self.define(made, Apply((made,), OPERATORS.transpose, (x,), {"axes": axes}, None))
        return made

    # --- along one axis -----------------------------------------------------------------------------------------------

    def place_of_extremum(self, stmt: Apply, out: Var) -> None:
        x, axis, name = stmt.inputs[0], stmt.attributes["axis"], stmt.row.name[3:]
        sign, kind = ">" if name == "max" else "<", kind_of(stmt.inputs[0])
        nest, index = self.lines_along(x.shape, axis, x)
        text, _ = nest.bound(nest.element(x, index))
        best, place = self.new("best"), self.new("place")
        nest.lines[-2] += [f"{best} = {REDUCTIONS[name][0][kind]}", f"{place} = 0"]
        nest.stores += [f"if {text} {sign} {best} or ({text} != {text} and {best} == {best}):"]
        nest.stores += [f"    {best} = {text}", f"    {place} = {index[axis]}"]
        if out.shape:
            ref = self.refs[out] = Ref(self.buffer(out), out.shape)
            nest.after[-2].append(f"{ref.element(nest.index[:-1])} = {place}")
        else:
            self.texts[out] = place
        nest.emit()

    def lines_along(self, shape: Shape, axis: int, *values: Var, reverse: bool = False) -> tuple[Nest, Index]:
        """A nest whose innermost loop goes along an axis, and the index of an element in it."""
        for x in values:
            self.strided(x)
        self.prepared(*values)
        nest = Nest(self, (*shape[:axis], *shape[axis + 1 :], shape[axis]))
        at = Affine(shape[axis] - 1) + nest.index[-1] * -1 if reverse else nest.index[-1]
        return nest, (*nest.index[:axis], at, *nest.index[axis:-1])

    def scan(self, stmt: Apply, out: Var) -> None:
        """Running sums and products, and the states of a linear recurrence."""
        name, attributes = stmt.row.name, stmt.attributes
        product, linear = name == "cumprod_along", name == "linear_recurrence"
        if out.kind != FLOAT and (product or linear):
            raise Unsupported(f"{name} of integers", stmt.site)
        axis = 0 if linear else attributes["axis"]
        nest, index = self.lines_along(out.shape, axis, *stmt.inputs, reverse=bool(attributes.get("reverse")))
        ref = self.refs[out] = Ref(self.buffer(out), out.shape)
        texts = [converted(nest.element(x, index)[0], kind_of(x), out.kind) for x in stmt.inputs]
        total, place = self.new("s"), ref.element(index)
        nest.lines[-2].append(f"{total} = {'1.0' if product else '0.0' if out.kind == FLOAT else '0'}")
        step = f"{total} *= {texts[0]}" if product else f"{total} += {texts[0]}"
        if linear:
            before = f"_strong({total}, {texts[0]})" if attributes.get("strong") else f"{texts[0]} * {total}"
            step = f"{total} = {texts[1]} + {before} if {nest.index[-1]} > 0 else {texts[1]}"
        steps = [step, *(stop_if(f"abs({total}) > {LARGEST}") if out.kind == INT else ())]
        store = f"{place} = {total}"
        nest.stores += [store, *steps] if attributes.get("exclusive") else [*steps, store]
        nest.emit()

    # --- systems ------------------------------------------------------------------------------------------------------

    def solve(self, stmt: Apply, out: Var) -> None:
        """Solve a system for each matrix of a batch: the arguments are places of the result and operands, memory to work in, sizes."""
        (n, _), columns = stmt.inputs[0].shape[-2:], out.shape[-1]
        refs = [self.in_memory(x, FLOAT) for x in stmt.inputs]
        made = self.refs[out] = Ref(self.buffer(out), out.shape)
        nest = Nest(self, out.shape[:-2])
        places = [f"{made.buffer.name}, {made.at(nest.index)}"]
        for x, ref in zip(stmt.inputs, refs):
            places.append(f"{ref.buffer.name}, {ref.at(fitted(x.shape[:-2], nest.index))}")
        table = self.buffer(Var(FLOAT, (n, n + columns))).name
        nest.stores += stop_if(f"linear_solution({', '.join(places)}, {table}, {n}, {columns}) != 0")
        nest.emit()


# Functions that are put before a kernel that calls them. Arrays are pointers to memory in row-major order. A function that may have
# to stop the kernel returns 1 for that, and else 0.
SOURCES: dict[str, str] = {
    # The result is out of bounds where the exact one is. Exponents from 64 on matter where the base is -1, 0 or 1 alone.
    "integer_power": """
def integer_power(a, b):
    result = 1
    for _ in range(min(b, 64 + b % 2)):
        if abs(float(result) * float(a)) > 4.6e18:
            return 4611686018427387905
        result = result * a
    return result
""",
    "linear_solution": """
def linear_solution(out, o, a, p, b, q, table, n, m):
    width = n + m
    for i in range(n):
        for j in range(n):
            table[i * width + j] = a[p + i * n + j]
        for j in range(m):
            table[i * width + n + j] = b[q + i * m + j]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(table[i * width + k]) > abs(table[best * width + k]):
                best = i
        for j in range(width):
            kept = table[k * width + j]
            table[k * width + j] = table[best * width + j]
            table[best * width + j] = kept
        if table[k * width + k] == 0.0:
            return 1
        for i in range(k + 1, n):
            factor = table[i * width + k] / table[k * width + k]
            for j in range(k + 1, width):
                table[i * width + j] -= factor * table[k * width + j]
    for t in range(n):
        i = n - 1 - t
        for j in range(m):
            total = table[i * width + n + j]
            for k in range(i + 1, n):
                total -= table[i * width + k] * out[o + k * m + j]
            out[o + i * m + j] = total / table[i * width + i]
            if not abs(out[o + i * m + j]) < math.inf:
                return 1
    return 0
""",
}


def sources(text: str) -> list[str]:
    """The functions of this module that a text calls."""
    return [source.strip() + "\n\n" for name, source in SOURCES.items() if f"{name}(" in text]
