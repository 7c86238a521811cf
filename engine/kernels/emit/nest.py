"""One nest of loops over the indices of arrays: the elements that it computes, each once and as far out as it may stand."""

from __future__ import annotations

from ..ir import BOOL, FLOAT, INT, Unsupported, Var
from .memory import VIEWS, Ref, groups, size_of, source_index
from .scalars import BOUND, bound_of, converted, is_elementwise, kind_of, repeated, template
from .text import ZERO, Affine, is_atom, literal, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .code import Code
    from .memory import Shape

    Index = tuple[Affine, ...]
    # Source text, and the number of loops that it must stand in.
    Element = tuple[str, int]

AXES = "ijklmnpqrstuvw"


class Nest:
    """Loops over `shape`. A flat nest goes through arrays of one shape in their row-major order, with a single loop."""

    def __init__(self, code: Code, shape: Shape, flat: bool = False, members: dict[Var, None] | None = None) -> None:
        self.code = code
        self.flat = flat and len(shape) > 1
        self.shape = (size_of(shape),) if self.flat else shape
        if len(self.shape) > len(AXES):
            raise Unsupported("an array of so many dimensions")
        self.members = members or {}
        depth = len(self.shape)
        self.index: Index = tuple([ZERO if n == 1 else variable(AXES[k]) for k, n in enumerate(self.shape)])
        self.levels = {AXES[k]: k + 1 for k, n in enumerate(self.shape) if n != 1}
        self.lines: list[list[str]] = [[] for _ in range(depth + 1)]
        self.stores: list[list[str]] = [[] for _ in range(depth + 1)]
        self.after: list[list[str]] = [[] for _ in range(depth + 1)]
        self.memo: dict[tuple[Var, Index], Element] = {}
        self.written: set[str] = set()  # memory that this nest stores to
        self.failing = ""

    # --- elements ---------------------------------------------------------------------------------------------------

    def level(self, place: Affine) -> int:
        return max([self.levels.get(name, 0) for name, _ in place.terms], default=0)

    def element(self, x: Any, index: Index | None = None) -> Element:
        """An element of an operand: at the index of the nest, unless another one is given."""
        if x.__class__ is not Var:
            return literal(x, kind_of(x)), 0
        if not x.shape:
            found: Element | None = self.memo.get((x, ()))  # a number that this nest computes
            return found or (self.code.atom(x), 0)
        if index is None:
            index = self.fitted(x.shape, self.index)
        key = (x, index)
        found = self.memo.get(key)
        if found is None:
            found = self.load(x, index) if x in self.code.refs and x not in self.members else self.computed(x, index)
            if not is_atom(found[0]) and self.code.shared(x):
                found = self.bound(found, x)
            self.memo[key] = found
        return found

    def fitted(self, shape: Shape, index: Index) -> Index:
        """An index of a broadcast result as one of an operand of this shape."""
        if self.flat:
            return (ZERO,) if size_of(shape) == 1 else index
        return tuple([ZERO if n == 1 else i for i, n in zip(index[len(index) - len(shape) :], shape)])

    def load(self, x: Var, index: Index) -> Element:
        ref = self.code.refs[x]
        place = ref.flat(index[0]) if self.flat else ref.at(index)
        return f"{ref.buffer.name}[{place}]", self.level(place)

    def bound(self, element: Element, hint: Var | None = None) -> Element:
        """An element under a name, which may be repeated."""
        text, level = element
        if is_atom(text):
            return element
        name = self.code.new(hint)
        self.lines[level].append(f"{name} = {text}")
        self.levels[name] = level
        return name, level

    def computed(self, x: Var, index: Index) -> Element:
        stmt: Any = self.code.lazy[x]
        name: str = stmt.row.name
        attributes, inputs = stmt.attributes, stmt.inputs
        if is_elementwise(stmt.row):
            return self.row(
                stmt, x, [self.element(v, self.fitted(v.shape, index) if v.__class__ is Var else ()) for v in inputs]
            )
        given = inputs[0].shape if inputs[0].__class__ is Var else ()
        if name == "ramp":
            start, step = (self.element(v) for v in inputs)
            at = index[0].as_operand()
            if x.kind == FLOAT:
                return f"({self.float(inputs[0], start)} + float({at}) * {self.float(inputs[1], step)})", self.level(
                    index[0]
                )
            return f"({start[0]} + {at} * {step[0]})", self.level(index[0])
        if name == "take_rows":
            axis, rank = attributes["axis"], self.code.rank_of_indices(attributes["indices"])
            place = self.gathered(attributes["indices"], index[axis : axis + rank], given[axis])
            return self.element(inputs[0], (*index[:axis], place, *index[axis + rank :]))
        if not given:
            return self.element(inputs[0])
        if self.flat:
            return self.element(inputs[0], self.fitted(given, index))
        source = source_index(name, attributes, given, x.shape, index, self.code.place)
        if source is None:
            source = self.divided(given, x.shape, index)
        return self.element(inputs[0], source)

    def float(self, x: Any, element: Element) -> str:
        return converted(element[0], kind_of(x), FLOAT)

    def row(self, stmt: Any, x: Var, elements: list[Element]) -> Element:
        """An element of an element-wise row."""
        kinds = [kind_of(v) for v in stmt.inputs]
        text, wanted, refused, overflow = template(stmt.row.name, stmt.row, x.kind, kinds, stmt.attributes)
        if stmt.row.name == "power" and x.kind == INT and stmt.inputs[0] == 2 and self.code.bound(stmt.inputs[1]) < 62:
            text, refused = "(1 << {1})", "{1} < 0"
        if refused == "{1} == 0" and stmt.inputs[1].__class__ is int and stmt.inputs[1] != 0:
            refused = ""
        level = max([n for _, n in elements], default=0)
        if x.kind == INT and not x.shape:
            bounds = [self.code.bound(v) for v in stmt.inputs]
            bound = self.code.bounds[x] = min(BOUND, bound_of(stmt.row.name, bounds, stmt.inputs))
            if bound < BOUND:
                overflow = ""
                refused = "" if stmt.row.name == "multiply" else refused
        if stmt.row.name == "logical_and" and any(v is True for v in stmt.inputs):
            return elements[0 if stmt.inputs[1] is True else 1]
        often = set(range(len(elements))) if refused else repeated(text)
        texts = []
        for k, element in enumerate(elements):
            if k in often or element[1] < level or len(element[0]) > 100:
                element = self.bound(element)
            known = stmt.inputs[k]
            if known.__class__ is not Var:
                texts.append(literal(known, wanted[k]))
            else:
                texts.append(converted(element[0], kinds[k], wanted[k]))
        if refused:
            self.refuse(refused.format(*texts), level)
        found = text.format(*texts), level
        if overflow:
            found = self.bound(found, x)
            self.refuse(overflow.format(found[0]), level)
        return found

    def refuse(self, condition: str, level: int) -> None:
        """Stop the kernel if a condition holds anywhere."""
        if level == 0:
            self.lines[0] += [f"if {condition}:", "    return 1"]
            return
        if not self.failing:
            self.failing = self.code.new("bad")
            self.lines[0].insert(0, f"{self.failing} = False")
            self.after[0] += [f"if {self.failing}:", "    return 1"]
        self.lines[level].append(f"{self.failing} |= {condition}")

    def gathered(self, indices: Any, at: Index, size: int) -> Affine:
        """A place along an axis that an array of integers says. A known array has been checked."""
        if indices.__class__ is not Var:
            var = self.code.known_indices(indices, size)
            name, level = self.bound(self.element(var, at))
            return variable(name) if not name.isdigit() else Affine(int(name))
        given, level = self.element(indices, at)
        key = (indices, (*at, Affine(size)))
        if key not in self.memo:
            name = self.code.new("row")
            self.levels[name] = level
            self.lines[level] += [
                f"{name} = {given}", f"if not -{size} <= {name} < {size}:", "    return 1",
                f"{name} += {size} if {name} < 0 else 0",
            ]  # fmt: skip
            self.memo[key] = name, level
        return variable(self.memo[key][0])

    def divided(self, given: Shape, shape: Shape, index: Index) -> Index:
        """The index into `given` of an element of a reshape that joins axes."""
        found = [ZERO] * len(given)
        for axes, joined in groups(given, shape):
            place = ZERO
            for k in joined:
                place = place * shape[k] + index[k]
            if len(axes) == 1:
                found[axes[0]] = place
                continue
            whole, level = self.bound((str(place), self.level(place)))
            step = 1
            for k in reversed(axes):
                text = whole if step == 1 else f"({whole} // {step})"
                if k != axes[0]:
                    text = f"({text} % {given[k]})"
                name, _ = self.bound((text, level))
                found[k] = Affine(int(name)) if name.isdigit() else variable(name)
                step *= given[k]
        return tuple(found)

    # --- what is done with elements ---------------------------------------------------------------------------------

    def store(self, ref: Ref, element: Element, sign: str = "=", index: Index | None = None) -> None:
        """Write an element to memory at the end of the innermost iteration."""
        index = self.index if index is None else index
        text = self.settled(element)
        place = ref.flat(index[0]) if self.flat and index else ref.at(index)
        self.stores[-1].append(f"{ref.buffer.name}[{place}] {sign} {text}")
        self.written.add(ref.buffer.name)

    def settled(self, element: Element) -> str:
        """An element as text that may follow the stores so far: what it loads from their memory is loaded before them."""
        if any(f"{name}[" in element[0] for name in self.written):
            element = self.bound(element)
        return element[0]

    def innermost(self, element: Element) -> Element:
        """An element under a name or as text that stands in the innermost loop."""
        return self.bound(element) if element[1] < len(self.shape) else element

    def emit(self) -> None:
        """Write the nest to the code at hand."""
        out = self.code.lines
        depth = 0
        for level in range(len(self.shape) + 1):
            if level and self.shape[level - 1] != 1:
                out.add(f"for {AXES[level - 1]} in range({self.shape[level - 1]}):", depth)
                depth += 1
            for line in [*self.lines[level], *self.stores[level]]:
                out.add(line, depth)
            if depth and level == len(self.shape) and not self.lines[level] and not self.stores[level]:
                out.add("pass", depth)
        for level in range(len(self.shape), -1, -1):
            for line in self.after[level]:
                out.add(line, depth)
            if level and self.shape[level - 1] != 1:
                depth -= 1


__all__ = ["BOOL", "INT", "VIEWS", "Nest"]
